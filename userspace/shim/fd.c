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
 * The shim has descriptors of its own in the same process. A program that closes all that it
 * does not know must not take them away: a number that is free goes to the next file that is
 * opened, and the shim would write into that. So the place where the shim keeps each number is
 * noted in a table by numbers. libc.c leaves these out when it closes, and moves one away whose
 * number the program chooses for dup2(). System calls that are made without the libc are not
 * seen.
 *
 * Everything is called with shim_lock held, but shim_fd_token() and shim_fd_stream(), which
 * create files only, and shim_fd_any() and shim_is_owner(), through which every close() of a
 * program with the GPU comes.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
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
static atomic_bool fd_has_begun;
static pid_t fd_owner;

/* Where the number of each of the shim's own descriptors is kept, by number; or NULL */
static int **fd_kept;
static size_t fd_num_kept;

/*
 * A child of vfork() has the memory of its parent, and descriptors of its own. It closes them
 * before it executes another program; that must not give anything back.
 */
bool shim_is_owner(void)
{
	return fd_owner == getpid();
}

bool shim_fd_any(void)
{
	return atomic_load_explicit(&fd_any, memory_order_acquire);
}

bool shim_fd_has_begun(void)
{
	return atomic_load_explicit(&fd_has_begun, memory_order_acquire);
}

bool shim_fd_is_node(const struct stat *st)
{
	return !st->st_nlink && st->st_mode == (S_IFREG | SHIM_NODE_MODE);
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

int shim_fd_try_token(const char *name, uint64_t size)
{
	struct rlimit limit;
	int fd, err;

	/* A file that is larger than this would end the process by a signal. */
	if (!getrlimit(RLIMIT_FSIZE, &limit) && size > limit.rlim_cur) {
		errno = EFBIG;
		return -1;
	}
	fd = fd_token(name);
	if (fd < 0 || !ftruncate(fd, size))
		return fd;
	err = errno;
	shim_libc()->close(fd);
	errno = err;
	return -1;
}

int shim_fd_token(const char *name, uint64_t size)
{
	int fd = shim_fd_try_token(name, size);

	if (fd < 0) {
		perror("asahi_shim: memfd");
		abort();
	}
	return fd;
}

/* The shim's own descriptors */

/* Makes the table large enough for a number. */
static void fd_kept_grow(int fd)
{
	size_t size = fd_num_kept ? fd_num_kept : 64;
	int **kept;

	while ((size_t)fd >= size)
		size *= 2;
	if (size == fd_num_kept)
		return;
	kept = shim_alloc(size * sizeof(*kept));
	if (fd_num_kept)
		memcpy(kept, fd_kept, fd_num_kept * sizeof(*kept));
	free(fd_kept);
	fd_kept = kept;
	fd_num_kept = size;
}

void shim_fd_keep(int *fd)
{
	fd_kept_grow(*fd);
	fd_kept[*fd] = fd;
}

void shim_fd_drop(int *fd)
{
	if (*fd < 0)
		return;
	fd_kept[*fd] = NULL;
	shim_libc()->close(*fd);
	*fd = -1;
}

bool shim_fd_is_kept(int fd)
{
	return fd >= 0 && (size_t)fd < fd_num_kept && fd_kept[fd];
}

unsigned long shim_fd_next_kept(unsigned int fd)
{
	while (fd < fd_num_kept && !fd_kept[fd])
		fd++;
	return fd < fd_num_kept ? fd : ULONG_MAX;
}

int shim_fd_move(int fd)
{
	int *place = fd_kept[fd];
	int other = fcntl(fd, F_DUPFD_CLOEXEC, fd + 1);

	if (other < 0)
		return errno;
	fd_kept[fd] = NULL;
	/* A stream may read it in another thread. */
	__atomic_store_n(place, other, __ATOMIC_RELEASE);
	shim_fd_keep(place);
	shim_libc()->close(fd);
	return 0;
}

static ssize_t fd_stream_write(void *place, const char *data, size_t size)
{
	ssize_t n = write(__atomic_load_n((int *)place, __ATOMIC_ACQUIRE), data, size);

	return n < 0 ? 0 : n;
}

static int fd_stream_close(void *place)
{
	pthread_mutex_lock(&shim_lock);
	shim_fd_drop(place);
	pthread_mutex_unlock(&shim_lock);
	free(place);
	return 0;
}

FILE *shim_fd_stream(const char *path, int flags)
{
	static const cookie_io_functions_t functions = {
		.write = fd_stream_write,
		.close = fd_stream_close,
	};
	int fd = shim_libc()->open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
	int *place;
	FILE *file;

	if (fd < 0)
		return NULL;
	place = shim_alloc(sizeof(*place));
	*place = fd;
	pthread_mutex_lock(&shim_lock);
	shim_fd_keep(place);
	pthread_mutex_unlock(&shim_lock);
	file = fopencookie(place, "a", functions);
	if (!file)
		fd_stream_close(place);
	return file;
}

/* Descriptors of the program */

void shim_fd_add(int fd, enum shim_fd_kind kind, void *object)
{
	struct fd_entry *entry = shim_alloc(sizeof(*entry));
	struct stat st;

	if (shim_libc()->fstat(fd, &st))
		abort();
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

		/* Both ends of a pipe have one inode, and so have a buffer and its memory. */
		if (shim_fd_is_kept(fd))
			continue;
		entry = fd_find_entry(fd);
		if (entry)
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

void shim_fd_begin(void)
{
	fd_owner = getpid();
	atomic_store_explicit(&fd_has_begun, true, memory_order_release);
}

void shim_fd_forget(void)
{
	size_t fd;

	for (fd = 0; fd < fd_num_kept; fd++)
		if (fd_kept[fd])
			shim_libc()->close(fd);
	fd_kept = NULL;
	fd_num_kept = 0;
	fd_entries = NULL;
	memset(fd_counts, 0, sizeof(fd_counts));
	atomic_store_explicit(&fd_any, false, memory_order_release);
	atomic_store_explicit(&fd_has_begun, false, memory_order_release);
}
