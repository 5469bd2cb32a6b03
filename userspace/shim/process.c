// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The shim's life in a process: its start, and forks.
 *
 * The library has no constructor. A process that opens no GPU has its code, and functions that
 * compare a path or a descriptor before they call the libc's: no thread, no memory and no
 * descriptor. The first open of the device reads the environment and starts the backend, in
 * shim_process_open(). If that fails, the open fails with a line on the standard error, and the
 * next open tries again. What was read from the environment and opened stays.
 *
 * A child that is forked has the memory of its parent, none of the threads, and locks that these
 * may have held. It begins like a new process: each file of the shim forgets its objects. The
 * device's descriptors and sync files that the child has inherited are taken in like those that
 * another process sends over a socket, when they are used (shim_file_take(),
 * shim_sync_file_find()): the file of the device is empty, and belongs to the child's own GPU.
 * Mappings of buffers remain the parent's memory, as on the device.
 *
 * Handlers of pthread_atfork() do this. They also wait until no other thread has shim_lock, so
 * that the table of the shim's own descriptors is whole in the child, which closes them. A
 * process that is cloned without the libc's fork(), as Chromium's zygote does, runs no handlers;
 * for it there is a page of memory that the kernel clears in a child. shim_process_look() looks
 * at that before a lock is taken. In a child of vfork() the page is as it was, since memory is
 * shared; shim_is_owner() tells such a child, which must not let go of anything.
 *
 * process_lock protects the start, and is taken before shim_lock. process_mark changes once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "shim.h"

static pthread_mutex_t process_lock = PTHREAD_MUTEX_INITIALIZER;
static bool process_has_begun;
static bool process_has_files;
static bool process_is_open;
/* This process has forgotten what its parent had with the GPU open, and not yet said so. */
static atomic_bool process_is_child;
/* In memory that the kernel clears in a child: not 0 in the process that has begun; or NULL */
static atomic_int *_Atomic process_mark;

/* Forks */

static void process_forget(void)
{
	atomic_int *mark = atomic_load(&process_mark);

	shim_fd_forget();
	shim_copy_forget();
	shim_bo_forget();
	shim_object_forget();
	shim_vm_forget();
	shim_fence_forget();
	shim_watch_forget();
	shim_syncobj_forget();
	shim_queue_forget();
	shim_record_forget();
	shim_report_forget();
	shim_vagx_forget();
	if (process_is_open)
		atomic_store(&process_is_child, true);
	process_has_begun = false;
	process_has_files = false;
	process_is_open = false;
	if (mark)
		atomic_store(mark, 1);
}

static void process_before_fork(void)
{
	pthread_mutex_lock(&process_lock);
	pthread_mutex_lock(&shim_lock);
}

static void process_after_fork(void)
{
	pthread_mutex_unlock(&shim_lock);
	pthread_mutex_unlock(&process_lock);
}

static void process_in_child(void)
{
	process_forget();
	process_after_fork();
}

void shim_process_look(void)
{
	const atomic_int *mark = atomic_load(&process_mark);

	if (!mark || atomic_load(mark))
		return;
	/* Threads that are not there may have them. */
	shim_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	process_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	process_forget();
}

bool shim_process_says_child(void)
{
	return atomic_exchange(&process_is_child, false);
}

/* The beginning */

/* Without such memory, as before Linux 4.14, handlers are all that tells of forks. */
static void process_make_mark(void)
{
	size_t size = sysconf(_SC_PAGESIZE);
	atomic_int *mark = shim_libc()->mmap(NULL, size, PROT_READ | PROT_WRITE,
					     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mark == MAP_FAILED)
		return;
	if (madvise(mark, size, MADV_WIPEONFORK)) {
		shim_libc()->munmap(mark, size);
		return;
	}
	atomic_store(mark, 1);
	atomic_store(&process_mark, mark);
}

/* With process_lock held. */
static void process_begin(void)
{
	/* A child inherits these two. */
	static bool has_handlers;

	if (process_has_begun)
		return;
	if (!has_handlers) {
		has_handlers = true;
		pthread_atfork(process_before_fork, process_after_fork, process_in_child);
		process_make_mark();
	}
	pthread_mutex_lock(&shim_lock);
	shim_fd_begin();
	shim_watch_begin(shim_queue_run_all);
	shim_copy_fd = shim_fd_try_token("asahi-shim-copies", SHIM_COPY_BYTES);
	if (shim_copy_fd >= 0) {
		shim_fd_keep(&shim_copy_fd);
		shim_copy_begin();
	}
	pthread_mutex_unlock(&shim_lock);
	process_has_begun = true;
}

void shim_process_begin(void)
{
	shim_process_look();
	pthread_mutex_lock(&process_lock);
	process_begin();
	pthread_mutex_unlock(&process_lock);
}

/* Opens the file that a variable names. A failure is reported, and the program goes on. */
static void process_open_file(const char *name, int (*open_path)(const char *path))
{
	const char *path = getenv(name);
	int err = path && *path ? open_path(path) : 0;

	if (err)
		fprintf(stderr, "asahi_shim: %s=%s: %s\n", name, path, strerror(err));
}

/* Return: 0 or an errno value. */
static int process_start_backend(void)
{
	const char *backend = getenv("ASAHI_SHIM_BACKEND");

	if (!backend || !*backend || !strcmp(backend, "none") || shim_queue_has_backend())
		return 0;
	if (!strcmp(backend, "vagx"))
		return shim_vagx_start();
	fprintf(stderr, "asahi_shim: ASAHI_SHIM_BACKEND=%s: expected none or vagx\n", backend);
	return ENODEV;
}

/* Return: which limit of the process is the reason for an error, or an empty text. */
static const char *process_limit(int err)
{
	struct rlimit limit;

	switch (err) {
	case ENOMEM:
		if (!getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY)
			return "; it takes 75 GiB of addresses, few of which are used: ulimit -v";
		return "";
	case EFBIG:
		return "; its memory is a file of 64 GiB, most of it empty: ulimit -f";
	case EAGAIN:
		return "; it takes a thread for each core: ulimit -u";
	default:
		return "";
	}
}

/* Says once why there is no GPU. Return: the errno value that the program gets. */
static int process_refuse(int err)
{
	static bool said;

	if (!said)
		fprintf(stderr, "asahi_shim: " ASAHI_SHIM_NODE " cannot be opened: %s%s\n",
			strerror(err), process_limit(err));
	said = true;
	/* from threads that cannot be started, and from a file that is too large */
	return err == EAGAIN || err == EFBIG ? ENOMEM : err;
}

/* With process_lock held. Return: 0 or an errno value. */
static int process_open(void)
{
	int err;

	if (!process_has_files) {
		process_open_file("ASAHI_SHIM_LOG", shim_record_log);
		process_open_file("ASAHI_SHIM_REPORT", shim_report_open);
		process_has_files = true;
	}
	pthread_mutex_lock(&shim_lock);
	err = shim_bo_begin();
	pthread_mutex_unlock(&shim_lock);
	if (!err)
		err = process_start_backend();
	return err ? process_refuse(err) : 0;
}

int shim_process_open(void)
{
	int err = 0;

	shim_process_look();
	pthread_mutex_lock(&process_lock);
	process_begin();
	if (!process_is_open)
		err = process_open();
	process_is_open = !err;
	pthread_mutex_unlock(&process_lock);
	return err;
}
