// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Open files of the device, and closing them.
 *
 * An open file has a table for each kind of object that has IDs of its own. A descriptor that
 * another process has opened and passed on, to a child or over a socket, becomes one without
 * objects, when the first ioctl is made on it: each process has a GPU of its own. It is closed
 * when no descriptor leads to it and no ioctl is under way on it, first its queues: their
 * jobs refer to everything else. This file is on top of the files for objects, because
 * closing releases all kinds of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shim.h"

/* Makes a descriptor an open file without objects, unless it is one. */
static void file_add(int fd)
{
	static uint64_t last_id;
	struct shim_file *file;

	pthread_mutex_lock(&shim_lock);
	if (!shim_fd_find(fd, SHIM_FD_FILE)) {
		file = shim_alloc(sizeof(*file));
		file->refs = 1;
		file->id = ++last_id;
		shim_fd_add(fd, SHIM_FD_FILE, file);
	}
	pthread_mutex_unlock(&shim_lock);
	shim_report_use(SHIM_USE_OPEN);
}

/* Return: a descriptor of a new file that all processes know as the device's, or -1. */
static int file_token(void)
{
	int fd = shim_fd_try_token("asahi-shim-node", 0);
	int err;

	if (fd < 0 || !fchmod(fd, SHIM_NODE_MODE))
		return fd;
	err = errno;
	shim_libc()->close(fd);
	errno = err;
	return -1;
}

int shim_file_open(int flags)
{
	int err = shim_process_open();
	int fd;

	if (err) {
		errno = err;
		return -1;
	}
	fd = file_token();
	if (fd < 0)
		return -1;
	if (!(flags & O_CLOEXEC))
		fcntl(fd, F_SETFD, 0);
	file_add(fd);
	return fd;
}

/* Objects that the parent has made are not there: the program may not expect that. */
static void file_tell_child(void)
{
	char text[512];

	if (!shim_process_says_child())
		return;
	/* in one write: fprintf() makes several, and children may say so at once */
	snprintf(text, sizeof(text),
		 "asahi_shim: process %d (%s) was forked with the GPU open, and uses the descriptor: it has a GPU of its own, without the parent's buffers, queues and sync objects\n",
		 getpid(), program_invocation_short_name);
	fputs(text, stderr);
}

int shim_file_take(int fd)
{
	struct stat st;
	int err;

	if (shim_libc()->fstat(fd, &st) || !shim_fd_is_node(&st))
		return ENOTTY;
	err = shim_process_open();
	if (err)
		return err;
	file_tell_child();
	file_add(fd);
	return 0;
}

/*
 * Releases all objects of a file. Waits for at most one second, for all queues together,
 * until jobs have ended; the lock is dropped meanwhile.
 */
static void file_close(struct shim_file *file)
{
	int64_t deadline = shim_now_ns() + INT64_C(1000000000);
	void *object;
	uint32_t i;

	for (i = 1; i <= file->queues.size; i++) {
		object = shim_table_remove(&file->queues, i);
		if (object)
			shim_queue_close(object, deadline);
	}
	for (i = 1; i <= file->vms.size; i++) {
		object = shim_table_remove(&file->vms, i);
		if (object)
			shim_vm_put(object);
	}
	for (i = 1; i <= file->handles.size; i++) {
		object = shim_table_remove(&file->handles, i);
		if (object)
			shim_bo_put(object);
	}
	for (i = 1; i <= file->objects.size; i++) {
		object = shim_table_remove(&file->objects, i);
		if (object)
			shim_object_put(object);
	}
	for (i = 1; i <= file->syncobjs.size; i++) {
		object = shim_table_remove(&file->syncobjs, i);
		if (object)
			shim_syncobj_put(object);
	}
}

void shim_file_put(struct shim_file *file)
{
	if (--file->refs)
		return;
	file_close(file);
	shim_table_fini(&file->queues);
	shim_table_fini(&file->vms);
	shim_table_fini(&file->objects);
	shim_table_fini(&file->handles);
	shim_table_fini(&file->syncobjs);
	free(file);
}

/* Gives back the reference that a descriptor had to an object. */
static void file_release(enum shim_fd_kind kind, void *object)
{
	switch (kind) {
	case SHIM_FD_FILE:
		shim_file_put(object);
		break;
	case SHIM_FD_DMA_BUF:
		shim_bo_put(object);
		break;
	case SHIM_FD_SYNCOBJ:
		shim_syncobj_put(object);
		break;
	case SHIM_FD_SYNC_FILE:
		shim_sync_file_free(object);
		break;
	default:
		break;
	}
}

/*
 * Says so if something is left although no descriptor leads to anything and no job runs: each
 * object belongs to one of them, or to memory that the process has mapped.
 */
static void file_check_rest(void)
{
	unsigned int jobs, queues = shim_queue_count(&jobs);
	unsigned int vms = shim_vm_count(), objects = shim_object_count();
	unsigned int fences = shim_fence_count();
	unsigned int buffers = shim_bo_mapping_count() ? 0 : shim_bo_count();

	/* Fences of other processes end when these say so. */
	if (shim_fd_any() || jobs || shim_watch_any() || !(queues + vms + objects + fences + buffers))
		return;
	shim_report("asahi_shim: not at rest when the device is closed: %u queues, %u address spaces, %u timestamp objects, %u fences, %u buffers are left",
		    queues, vms, objects, fences, buffers);
	if (getenv("ASAHI_SHIM_AT_REST"))
		abort();
}

void shim_file_collect(void)
{
	enum shim_fd_kind kind;
	void *object;

	/* Without /proc it is unknown what is open, and everything stays. */
	if (!shim_fd_look())
		return;
	while ((object = shim_fd_take_unseen(&kind)))
		file_release(kind, object);
	file_check_rest();
}
