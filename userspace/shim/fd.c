// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Which file descriptors of the process lead to which objects of the shim.
 *
 * A descriptor can be duplicated, passed on and closed in ways that the shim does not see:
 * by dup2(), by a message over a socket, by close_range(). So each object has an inode of
 * its own, an unlinked file's or a pipe's, and a descriptor is recognised by the inode that
 * fstat() tells. The table is a list with an entry for each such inode.
 *
 * Objects are let go by marking and sweeping: shim_fd_look() marks each entry to which an
 * open descriptor leads, by reading /proc/self/fd, and shim_fd_take_unseen() takes out the
 * others one by one. Their objects are for the caller to release, shim_file_collect(): that
 * may close queues and wait for jobs with the lock dropped, during which entries are added.
 * They are marked from the beginning.
 *
 * Everything is called with shim_lock held, but shim_fd_token(), which creates files only,
 * and shim_fd_any() and shim_is_owner(), through which every close() of the program comes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "shim.h"

struct fd_entry {
	enum shim_fd_kind kind;
	dev_t dev;
	ino_t ino;
	void *object;
	bool seen;
	struct fd_entry *next;
};

static struct fd_entry *fd_entries;
static unsigned int fd_counts[SHIM_FD_KINDS];
static atomic_bool fd_any;
static pid_t fd_owner;

/*
 * A child shares the buffers' file with its parent, which goes on to use it. Many close all
 * descriptors before they execute another program; that must not give anything back.
 */
bool shim_is_owner(void)
{
	return fd_owner == getpid();
}

bool shim_fd_any(void)
{
	return atomic_load_explicit(&fd_any, memory_order_acquire);
}

/*
 * Creates an unlinked file, if need be after raising the limit of descriptors as far as the
 * process may: a program has one for each buffer that can be shared.
 */
static int fd_token(const char *name)
{
	struct rlimit limit;
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd >= 0 || errno != EMFILE || getrlimit(RLIMIT_NOFILE, &limit))
		return fd;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	return memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

int shim_fd_token(const char *name, uint64_t size)
{
	int fd = fd_token(name);

	if (fd < 0 || ftruncate(fd, size)) {
		perror("asahi_shim: memfd");
		abort();
	}
	return fd;
}

void shim_fd_add(int fd, enum shim_fd_kind kind, void *object)
{
	struct fd_entry *entry = shim_alloc(sizeof(*entry));
	struct stat st;

	if (shim_libc()->fstat(fd, &st))
		abort();
	if (!fd_entries)
		fd_owner = getpid();
	*entry = (struct fd_entry){
		.kind = kind,
		.dev = st.st_dev,
		.ino = st.st_ino,
		.object = object,
		/* a collection may be under way that waits for jobs */
		.seen = true,
		.next = fd_entries,
	};
	fd_entries = entry;
	fd_counts[kind]++;
	atomic_store_explicit(&fd_any, true, memory_order_release);
}

/* Return: the entry with the inode of a descriptor, or NULL; other descriptors are fine. */
static struct fd_entry *fd_find_entry(int fd)
{
	struct fd_entry *entry = fd_entries;
	struct stat st;

	if (!entry || fd < 0 || shim_libc()->fstat(fd, &st))
		return NULL;
	while (entry && (entry->ino != st.st_ino || entry->dev != st.st_dev))
		entry = entry->next;
	return entry;
}

void *shim_fd_find(int fd, enum shim_fd_kind kind)
{
	struct fd_entry *entry = fd_find_entry(fd);

	return entry && entry->kind == kind ? entry->object : NULL;
}

bool shim_fd_is_ours(int fd)
{
	return fd_find_entry(fd);
}

unsigned int shim_fd_count(enum shim_fd_kind kind)
{
	return fd_counts[kind];
}

void shim_fd_count_handles(unsigned int *buffers, unsigned int *syncobjs)
{
	const struct fd_entry *entry;

	*buffers = 0;
	*syncobjs = 0;
	for (entry = fd_entries; entry; entry = entry->next) {
		const struct shim_file *file = entry->object;

		if (entry->kind != SHIM_FD_FILE)
			continue;
		*buffers += file->handles.used;
		*syncobjs += file->syncobjs.used;
	}
}

/*
 * Tells the shim's own descriptor from those that the program has. Both ends of a sync
 * file's pipe have the same inode, and the writing end was never handed out; nor was the
 * descriptor by which a buffer holds its memory.
 */
static bool fd_is_inner_end(const struct fd_entry *entry, int fd)
{
	const struct shim_sync_file *sync_file = entry->object;
	const struct shim_bo *bo = entry->object;

	if (entry->kind == SHIM_FD_DMA_BUF)
		return bo->fd == fd;
	return entry->kind == SHIM_FD_SYNC_FILE && sync_file->fd == fd;
}


bool shim_fd_look(void)
{
	const struct shim_libc *libc = shim_libc();
	DIR *dir = libc->opendir("/proc/self/fd");
	struct fd_entry *entry;
	struct dirent *dirent;

	if (!dir)
		return false;
	for (entry = fd_entries; entry; entry = entry->next)
		entry->seen = false;
	while ((dirent = libc->readdir(dir))) {
		int fd = *dirent->d_name == '.' ? -1 : atoi(dirent->d_name);

		entry = fd_find_entry(fd);
		if (entry && !fd_is_inner_end(entry, fd))
			entry->seen = true;
	}
	libc->closedir(dir);
	return true;
}

void *shim_fd_take_unseen(enum shim_fd_kind *kind)
{
	struct fd_entry **link, *entry;
	void *object;

	for (link = &fd_entries; *link; link = &(*link)->next) {
		entry = *link;
		if (entry->seen)
			continue;
		*link = entry->next;
		fd_counts[entry->kind]--;
		if (!fd_entries)
			atomic_store_explicit(&fd_any, false, memory_order_release);
		*kind = entry->kind;
		object = entry->object;
		free(entry);
		return object;
	}
	return NULL;
}
