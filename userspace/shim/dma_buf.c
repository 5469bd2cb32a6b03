// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * DMA buffers. A buffer that other processes may share has an unlinked file of its own for
 * its memory, and a DMA buffer is that file, opened once more through /proc. So each process
 * that gets the descriptor maps the same memory, with the shim or without it. A process with
 * the shim recognises such a file by its name and its seals, and a buffer that it has already
 * by the file's inode.
 *
 * Everything is called with shim_lock held; only the import of a sync file waits, with the
 * lock dropped.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim.h"

#define NAME	"asahi-shim-dma-buf"
/* what a link in /proc/self/fd says of such a file, with " (deleted)" behind it */
#define LINK	"/memfd:" NAME

/* The size cannot change: a process that has mapped the file would be killed. */
#define SEALS	(F_SEAL_SHRINK | F_SEAL_GROW)

int shim_dma_buf_memory(uint64_t size)
{
	int fd = shim_fd_try_token(NAME, size);

	if (fd < 0 || !fcntl(fd, F_ADD_SEALS, SEALS))
		return fd;
	shim_libc()->close(fd);
	return -1;
}

static int dma_buf_open_again(int fd, int flags)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return shim_libc()->open(path, flags);
}

/* Return: whether a descriptor is that of a buffer's memory, of this or another process. */
static bool dma_buf_is_memory(int fd)
{
	char path[32], target[sizeof(LINK)];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return shim_libc()->readlink(path, target, sizeof(target)) == sizeof(target) &&
	       !memcmp(target, LINK " ", sizeof(target)) &&
	       (fcntl(fd, F_GET_SEALS) & SEALS) == SEALS;
}

int shim_prime_handle_to_fd(struct shim_file *file, union asahi_shim_args *all,
			    struct shim_call *call)
{
	struct drm_prime_handle *args = &all->prime_handle;
	struct shim_bo *bo = shim_table_get(&file->handles, args->handle);
	int fd;

	if (args->flags & ~(DRM_CLOEXEC | DRM_RDWR))
		return EINVAL;
	if (!bo)
		return ENOENT;
	if (bo->vm)
		return EINVAL;
	fd = dma_buf_open_again(bo->fd, args->flags & (O_CLOEXEC | O_ACCMODE));
	if (fd < 0)
		return errno;
	if (!shim_fd_find(fd, SHIM_FD_DMA_BUF))
		shim_fd_add(fd, SHIM_FD_DMA_BUF, shim_bo_get(bo));
	args->fd = fd;
	return 0;
}

/* Finds or makes the buffer for a file. Return: 0 and a reference, or an errno value. */
static int dma_buf_import(int fd, struct shim_bo **bo)
{
	struct stat st;
	int own;

	if (shim_libc()->fstat(fd, &st))
		return errno;
	if (!dma_buf_is_memory(fd))
		return EINVAL;
	*bo = shim_bo_find_memory(&st);
	if (*bo) {
		shim_bo_get(*bo);
		return 0;
	}
	own = dma_buf_open_again(fd, O_RDWR | O_CLOEXEC);
	if (own < 0)
		return errno;
	*bo = shim_bo_new_shared(own, st.st_size);
	if (*bo)
		return 0;
	shim_libc()->close(own);
	return EINVAL;
}

int shim_prime_fd_to_handle(struct shim_file *file, union asahi_shim_args *all,
			    struct shim_call *call)
{
	struct drm_prime_handle *args = &all->prime_handle;
	struct shim_bo *bo = shim_fd_find(args->fd, SHIM_FD_DMA_BUF);
	int err;

	if (bo) {
		shim_bo_get(bo);
	} else {
		err = dma_buf_import(args->fd, &bo);
		if (err)
			return err;
		shim_fd_add(args->fd, SHIM_FD_DMA_BUF, shim_bo_get(bo));
	}
	args->handle = shim_table_find(&file->handles, bo);
	if (args->handle)
		shim_bo_put(bo);
	else
		args->handle = shim_table_add(&file->handles, bo, UINT32_MAX);
	return 0;
}

/*
 * Implicit synchronisation. A fence that is attached to a buffer is waited for at once, so
 * that no fences have to be kept or told to other processes: all are signalled.
 */

/* Does nothing, since memory is coherent. */
int shim_dma_buf_sync(struct shim_file *file, union asahi_shim_args *all, struct shim_call *call)
{
	return 0;
}

static bool dma_buf_has_access(uint32_t flags)
{
	return (flags & DMA_BUF_SYNC_RW) && !(flags & ~DMA_BUF_SYNC_RW);
}

int shim_dma_buf_export_sync_file(struct shim_file *file, union asahi_shim_args *all,
				  struct shim_call *call)
{
	struct dma_buf_export_sync_file *args = &all->export_sync_file;
	struct shim_fence *fence;
	int err;

	if (!dma_buf_has_access(args->flags))
		return EINVAL;
	fence = shim_fence_new_signaled();
	args->fd = shim_sync_file_new(fence);
	err = args->fd < 0 ? errno : 0;
	shim_fence_put(fence);
	return err;
}

int shim_dma_buf_import_sync_file(struct shim_file *file, union asahi_shim_args *all,
				  struct shim_call *call)
{
	const struct dma_buf_import_sync_file *args = &all->import_sync_file;
	struct shim_sync_file *sync_file;
	struct shim_fence *fence;

	if (!dma_buf_has_access(args->flags))
		return EINVAL;
	sync_file = shim_sync_file_find(args->fd);
	if (!sync_file)
		return EINVAL;
	/* Another thread may close the descriptor during the wait. */
	fence = shim_fence_get(sync_file->fence);
	while (!shim_fence_is_signaled(fence))
		shim_wait_change(INT64_MAX);
	shim_fence_put(fence);
	return 0;
}
