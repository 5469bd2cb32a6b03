// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The functions that take the libc's place. Each asks whether a path or a descriptor is the
 * shim's, and calls the libc's own function if it is not. Both names of a function, with and
 * without 64, are taken, and those that _FORTIFY_SOURCE makes of calls in other programs.
 *
 * Any thread of the program is here, often, and before the first descriptor of the shim
 * exists: shim_fd_any() and shim_fd_has_begun() are asked first, which take no lock. Then
 * shim_process_look() makes a child that was cloned forget what its parent had, and shim_lock is
 * taken for the question alone. It is given back before the libc or a handler is called.
 *
 * A program that closes descriptors by their numbers finds those of the shim closed already
 * (EBADF), and they stay. dup2() to such a number moves the shim's descriptor to another.
 *
 * Compiled without _FILE_OFFSET_BITS and _FORTIFY_SOURCE, which give these names
 * other meanings. On 64-bit machines the structures of both forms are the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <linux/sync_file.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim.h"

_Static_assert(sizeof(off_t) == sizeof(off64_t), "32-bit programs are not served");
_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "unlike structures");
_Static_assert(sizeof(struct dirent) == sizeof(struct dirent64), "unlike structures");

/* Opening */

static int libc_shim_open(int dir, const char *path, int flags, mode_t mode)
{
	bool found;
	int fd;

	fd = shim_node_open(path, flags, &found);
	return found ? fd : shim_libc()->openat(dir, path, flags, mode);
}

#define OPEN_MODE(flags, mode)						\
	do {								\
		va_list ap;						\
									\
		va_start(ap, flags);					\
		if ((flags) & (O_CREAT | __O_TMPFILE))			\
			mode = va_arg(ap, mode_t);			\
		va_end(ap);						\
	} while (0)

int open(const char *path, int flags, ...)
{
	mode_t mode = 0;

	OPEN_MODE(flags, mode);
	return libc_shim_open(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
	mode_t mode = 0;

	OPEN_MODE(flags, mode);
	return libc_shim_open(AT_FDCWD, path, flags, mode);
}

int openat(int dir, const char *path, int flags, ...)
{
	mode_t mode = 0;

	OPEN_MODE(flags, mode);
	return libc_shim_open(dir, path, flags, mode);
}

int openat64(int dir, const char *path, int flags, ...)
{
	mode_t mode = 0;

	OPEN_MODE(flags, mode);
	return libc_shim_open(dir, path, flags, mode);
}

/* Names that _FORTIFY_SOURCE gives to these functions in programs that are built with it */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dir, const char *path, int flags);
int __openat64_2(int dir, const char *path, int flags);
ssize_t __readlink_chk(const char *path, char *buf, size_t size, size_t room);

int __open_2(const char *path, int flags)
{
	return libc_shim_open(AT_FDCWD, path, flags, 0);
}

int __open64_2(const char *path, int flags)
{
	return libc_shim_open(AT_FDCWD, path, flags, 0);
}

int __openat_2(int dir, const char *path, int flags)
{
	return libc_shim_open(dir, path, flags, 0);
}

int __openat64_2(int dir, const char *path, int flags)
{
	return libc_shim_open(dir, path, flags, 0);
}

FILE *fopen(const char *path, const char *mode)
{
	bool found;
	FILE *file;

	file = shim_node_fopen(path, mode, &found);
	return found ? file : shim_libc()->fopen(path, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
	return fopen(path, mode);
}

/* Attributes and folders */

int stat(const char *path, struct stat *st)
{
	bool found;
	int ret;

	ret = shim_node_stat(path, st, &found);
	return found ? ret : shim_libc()->stat(path, st);
}

int stat64(const char *path, struct stat64 *st)
{
	return stat(path, (struct stat *)st);
}

/* Links are not told from what they lead to: no program looks at one of these paths so. */
int lstat(const char *path, struct stat *st)
{
	bool found;
	int ret;

	ret = shim_node_stat(path, st, &found);
	return found ? ret : shim_libc()->lstat(path, st);
}

int lstat64(const char *path, struct stat64 *st)
{
	return lstat(path, (struct stat *)st);
}

int fstat(int fd, struct stat *st)
{
	int ret = shim_libc()->fstat(fd, st);

	if (!ret && shim_fd_is_node(st))
		shim_node_stat_device(st);
	return ret;
}

int fstat64(int fd, struct stat64 *st)
{
	return fstat(fd, (struct stat *)st);
}

int fstatat(int dir, const char *path, struct stat *st, int flags)
{
	bool found;
	int ret;

	if ((flags & AT_EMPTY_PATH) && !*path)
		return fstat(dir, st);
	ret = shim_node_stat(path, st, &found);
	return found ? ret : shim_libc()->fstatat(dir, path, st, flags);
}

int fstatat64(int dir, const char *path, struct stat64 *st, int flags)
{
	return fstatat(dir, path, (struct stat *)st, flags);
}

int access(const char *path, int mode)
{
	bool found;
	int ret;

	ret = shim_node_access(path, mode, &found);
	return found ? ret : shim_libc()->access(path, mode);
}

ssize_t readlink(const char *path, char *buf, size_t size)
{
	bool found;
	ssize_t ret;

	ret = shim_node_readlink(path, buf, size, &found);
	return found ? ret : shim_libc()->readlink(path, buf, size);
}

ssize_t __readlink_chk(const char *path, char *buf, size_t size, size_t room)
{
	if (size > room)
		abort();
	return readlink(path, buf, size);
}

DIR *opendir(const char *path)
{
	bool found;
	DIR *dir;

	dir = shim_node_opendir(path, &found);
	return found ? dir : shim_libc()->opendir(path);
}

struct dirent *readdir(DIR *dir)
{
	struct dirent *entry;
	bool found;

	entry = shim_node_readdir(dir, &found);
	return found ? entry : shim_libc()->readdir(dir);
}

struct dirent64 *readdir64(DIR *dir)
{
	return (struct dirent64 *)readdir(dir);
}

int closedir(DIR *dir)
{
	return shim_node_closedir(dir) ? 0 : shim_libc()->closedir(dir);
}

/* Descriptors */

static bool libc_is_ours(int fd)
{
	bool ours;

	if (fd < 0 || !shim_fd_any())
		return false;
	shim_process_look();
	pthread_mutex_lock(&shim_lock);
	ours = shim_fd_is_ours(fd);
	pthread_mutex_unlock(&shim_lock);
	return ours;
}

/* Return: whether descriptors that this process closes may be the shim's. */
static bool libc_may_close_ours(void)
{
	if (!shim_fd_has_begun())
		return false;
	shim_process_look();
	return shim_is_owner();
}

/* Lets go of what descriptors led to that were closed; errno stays. */
static void libc_collect(void)
{
	int saved = errno;

	pthread_mutex_lock(&shim_lock);
	shim_file_collect();
	pthread_mutex_unlock(&shim_lock);
	errno = saved;
}

int close(int fd)
{
	bool kept, ours;
	int ret;

	if (!libc_may_close_ours())
		return shim_libc()->close(fd);
	pthread_mutex_lock(&shim_lock);
	kept = shim_fd_is_kept(fd);
	ours = !kept && shim_fd_is_ours(fd);
	pthread_mutex_unlock(&shim_lock);
	if (kept) {
		errno = EBADF;
		return -1;
	}
	ret = shim_libc()->close(fd);
	if (ours)
		libc_collect();
	return ret;
}

/* Not in each glibc that the shim runs with */
static int libc_close_range(unsigned int first, unsigned int last, int flags)
{
	return syscall(SYS_close_range, first, last, flags);
}

/* Closes a range without the shim's descriptors. With the lock held. */
static int libc_close_around(unsigned int first, unsigned int last, int flags)
{
	unsigned long from, kept;

	for (from = first; from <= last; from = kept + 1) {
		kept = shim_fd_next_kept(from);
		if (kept > last)
			return libc_close_range(from, last, flags);
		if (kept > from && libc_close_range(from, kept - 1, flags))
			return -1;
	}
	return 0;
}

int close_range(unsigned int first, unsigned int last, int flags)
{
	int ret;

	/* All of the shim's have the flag that is set by CLOSE_RANGE_CLOEXEC. */
	if (first > last || (flags & CLOSE_RANGE_CLOEXEC) || !libc_may_close_ours())
		return libc_close_range(first, last, flags);
	pthread_mutex_lock(&shim_lock);
	ret = libc_close_around(first, last, flags);
	pthread_mutex_unlock(&shim_lock);
	libc_collect();
	return ret;
}

void closefrom(int low)
{
	int fd, most;

	low = low < 0 ? 0 : low;
	if (!close_range(low, UINT_MAX, 0))
		return;
	/* Linux before 5.9, or a sandbox */
	most = sysconf(_SC_OPEN_MAX);
	for (fd = low; fd < most; fd++)
		close(fd);
}

/* Makes way for a descriptor that gets a certain number. Return: whether that number is ours. */
static bool libc_make_way(int fd)
{
	bool ours = false;

	pthread_mutex_lock(&shim_lock);
	if (shim_fd_is_kept(fd))
		shim_fd_move(fd);
	else
		ours = shim_fd_is_ours(fd);
	pthread_mutex_unlock(&shim_lock);
	return ours;
}

int dup2(int from, int to)
{
	bool ours = from != to && libc_may_close_ours() && libc_make_way(to);
	int ret = shim_libc()->dup2(from, to);

	if (ours)
		libc_collect();
	return ret;
}

int dup3(int from, int to, int flags)
{
	bool ours = from != to && libc_may_close_ours() && libc_make_way(to);
	int ret = shim_libc()->dup3(from, to, flags);

	if (ours)
		libc_collect();
	return ret;
}

/*
 * Takes a descriptor in that another process with the shim has made.
 * Return: 0, ENOTTY if it is no such descriptor, or another errno value.
 */
static int libc_take(int fd, unsigned int type)
{
	bool taken;

	if (type == DRM_IOCTL_BASE)
		return shim_file_take(fd);
	if (type != '>' || !shim_sync_file_is_one(fd))
		return ENOTTY;
	shim_process_begin();
	pthread_mutex_lock(&shim_lock);
	taken = shim_sync_file_find(fd);
	pthread_mutex_unlock(&shim_lock);
	return taken ? 0 : ENOMEM;
}

int ioctl(int fd, unsigned long request, ...)
{
	unsigned int type = _IOC_TYPE(request);
	va_list ap;
	void *arg;
	int err;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (type != DRM_IOCTL_BASE && type != '>' && type != DMA_BUF_BASE)
		return shim_libc()->ioctl(fd, request, arg);
	err = libc_is_ours(fd) ? 0 : libc_take(fd, type);
	if (err == ENOTTY)
		return shim_libc()->ioctl(fd, request, arg);
	if (!err)
		return shim_drm_ioctl(fd, request, arg);
	errno = err;
	return -1;
}

static void libc_unmapped(void *addr, size_t size)
{
	shim_process_look();
	shim_bo_unmapped(addr, size);
}

void *mmap(void *addr, size_t size, int prot, int flags, int fd, off_t offset)
{
	if (!(flags & MAP_ANONYMOUS) && libc_is_ours(fd))
		return shim_bo_mmap(addr, size, prot, flags, fd, offset);
	if (flags & MAP_FIXED)
		libc_unmapped(addr, size);
	return shim_libc()->mmap(addr, size, prot, flags, fd, offset);
}

void *mmap64(void *addr, size_t size, int prot, int flags, int fd, off64_t offset)
{
	return mmap(addr, size, prot, flags, fd, offset);
}

int munmap(void *addr, size_t size)
{
	int ret = shim_libc()->munmap(addr, size);

	if (!ret)
		libc_unmapped(addr, size);
	return ret;
}
