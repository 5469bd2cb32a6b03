// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Buffer objects and their mappings into the process.
 *
 * Each buffer has a place in one sparse file of 64 GiB, so that a backend sees the memory of
 * all buffers with one mapping. Places are given first-fit from a list in order of offsets.
 * Buffers that are private to an address space live there. The others have files of their
 * own, which other processes can map; these are mapped over their places with MAP_FIXED once
 * a backend has mapped the sparse file. Memory that is released becomes zero for the next
 * buffer: a hole is punched, or the sparse file is mapped there again.
 *
 * A mapping into the process keeps its buffer alive, as in the kernel. The mappings are a list
 * of address ranges, out of which munmap() and mmap() with MAP_FIXED cut what they replace.
 *
 * Everything is protected by shim_lock, which the functions for mmap() and munmap() take
 * themselves. Since munmap() is called often and by every thread, it first looks whether
 * there is any mapping, in an atomic variable.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <agx/agx_uat.h>

#include "shim.h"

#define MEMORY_SIZE	(UINT64_C(64) << 30)

/* Added to offsets for mmap(), so that a program that passes another offset gets an error */
#define MMAP_BASE	(UINT64_C(1) << 40)

/* Noise is written in pieces, and to the beginning of a buffer: large ones are heaps. */
#define NOISE_SIZE	UINT32_C(4096)
#define NOISE_END	(UINT64_C(4) << 20)

static int gem_memory_fd = -1;
/* Where a backend has mapped it, or NULL */
static uint8_t *gem_memory_map;
/*
 * For each page of that memory, how many of its bytes belong to its buffer if not all do, else 0.
 * NULL until there is such a page. Written with shim_lock, read by the GPU's threads without.
 */
static _Atomic uint16_t *gem_tails;
static struct shim_bo *gem_bos;
static unsigned int gem_bo_count;

/* Where buffers are mapped into the process. */
struct cpu_map {
	uintptr_t start;
	uintptr_t end;
	struct shim_bo *bo;
	struct cpu_map *next;
};

static struct cpu_map *gem_cpu_maps;
static unsigned int gem_cpu_map_count;
static atomic_bool gem_any_cpu_map;

int shim_bo_begin(void)
{
	if (gem_memory_fd >= 0)
		return 0;
	gem_memory_fd = shim_fd_try_token("asahi-shim-memory", MEMORY_SIZE);
	if (gem_memory_fd < 0)
		return errno;
	shim_fd_keep(&gem_memory_fd);
	return 0;
}

int asahi_shim_memory(uint64_t *size)
{
	int err;

	pthread_mutex_lock(&shim_lock);
	err = shim_bo_begin();
	pthread_mutex_unlock(&shim_lock);
	*size = MEMORY_SIZE;
	if (err)
		errno = err;
	return gem_memory_fd;
}

/*
 * A core dump with all of the backend's 64 GiB would take minutes, and a child that is forked
 * has no backend.
 */
static void gem_advise(void *map, uint64_t size)
{
	madvise(map, size, MADV_DONTDUMP);
	madvise(map, size, MADV_DONTFORK);
}

/* Maps a part of a file over a buffer's place in the backend's mapping, if there is one. */
static void gem_show(const struct shim_bo *bo, int fd, uint64_t offset)
{
	uint8_t *place;

	if (!gem_memory_map)
		return;
	place = gem_memory_map + bo->offset;
	if (shim_libc()->mmap(place, bo->size, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_NORESERVE | MAP_FIXED, fd, offset) == MAP_FAILED) {
		perror("asahi_shim: mmap");
		abort();
	}
	gem_advise(place, bo->size);
}

void asahi_shim_memory_mapped(void *map)
{
	const struct shim_bo *bo;

	pthread_mutex_lock(&shim_lock);
	if (map)
		gem_advise(map, MEMORY_SIZE);
	gem_memory_map = map;
	for (bo = gem_bos; bo; bo = bo->next)
		if (bo->fd >= 0)
			gem_show(bo, bo->fd, 0);
	pthread_mutex_unlock(&shim_lock);
}

/* Return: a new buffer of @size bytes in the first gap that is large enough, or NULL. */
static struct shim_bo *gem_bo_new(uint64_t size)
{
	struct shim_bo **link = &gem_bos, *bo;
	uint64_t start = 0;

	if (shim_bo_begin())
		return NULL;
	while (*link && (*link)->offset - start < size) {
		start = (*link)->offset + (*link)->size;
		link = &(*link)->next;
	}
	if (size > MEMORY_SIZE - start)
		return NULL;
	bo = shim_alloc(sizeof(*bo));
	*bo = (struct shim_bo){
		.refs = 1,
		.offset = start,
		.size = size,
		.fd = -1,
		.next = *link,
	};
	*link = bo;
	gem_bo_count++;
	return bo;
}

struct shim_bo *shim_bo_new_shared(int fd, uint64_t size)
{
	struct shim_bo *bo;
	struct stat st;

	if (!size || size & AGX_PAGE_MASK || shim_libc()->fstat(fd, &st))
		return NULL;
	bo = gem_bo_new(size);
	if (!bo)
		return NULL;
	bo->fd = fd;
	shim_fd_keep(&bo->fd);
	bo->dev = st.st_dev;
	bo->ino = st.st_ino;
	gem_show(bo, fd, 0);
	return bo;
}

struct shim_bo *shim_bo_find_memory(const struct stat *st)
{
	struct shim_bo *bo = gem_bos;

	while (bo && (bo->fd < 0 || bo->ino != st->st_ino || bo->dev != st->st_dev))
		bo = bo->next;
	return bo;
}

struct shim_bo *shim_bo_get(struct shim_bo *bo)
{
	bo->refs++;
	return bo;
}

/* Notes how many bytes of a buffer's last page are its own: all, if @bytes is 0 */
static void gem_set_tail(const struct shim_bo *bo, uint16_t bytes)
{
	const size_t size = MEMORY_SIZE / AGX_PAGE_SIZE * sizeof(*gem_tails);
	void *map;

	if (!gem_tails && bytes) {
		map = shim_libc()->mmap(NULL, size, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		gem_tails = map == MAP_FAILED ? NULL : map;
	}
	if (gem_tails)
		atomic_store(&gem_tails[(bo->offset + bo->size) / AGX_PAGE_SIZE - 1], bytes);
}

unsigned int asahi_shim_page_bytes(uint64_t offset)
{
	uint16_t bytes = 0;

	if (gem_tails && offset < MEMORY_SIZE)
		bytes = atomic_load(&gem_tails[offset / AGX_PAGE_SIZE]);
	return bytes ? bytes : AGX_PAGE_SIZE;
}

void shim_bo_put(struct shim_bo *bo)
{
	struct shim_bo **link = &gem_bos;

	if (--bo->refs)
		return;
	gem_set_tail(bo, 0);
	/* The next buffer there has to begin with zeros. */
	if (bo->fd >= 0) {
		gem_show(bo, gem_memory_fd, bo->offset);
		shim_fd_drop(&bo->fd);
	} else if (fallocate(gem_memory_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, bo->offset,
			     bo->size)) {
		perror("asahi_shim: fallocate");
		abort();
	}
	while (*link != bo)
		link = &(*link)->next;
	*link = bo->next;
	gem_bo_count--;
	free(bo);
}

/* Turns *offset from one in the buffer into one in a file. Return: that file. */
static int gem_file_of(const struct shim_bo *bo, uint64_t *offset)
{
	if (bo->fd >= 0)
		return bo->fd;
	*offset += bo->offset;
	return gem_memory_fd;
}

void shim_bo_write(const struct shim_bo *bo, uint64_t offset, const void *data, size_t size)
{
	int fd = gem_file_of(bo, &offset);

	if (pwrite(fd, data, size, offset) != (ssize_t)size) {
		perror("asahi_shim: pwrite");
		abort();
	}
}

/*
 * Fills a new buffer with noise. A test that expects zeros, or the same in two places, finds them
 * by the GPU's work then, and not in memory that nobody has written to.
 */
static void gem_make_noise(const struct shim_bo *bo)
{
	uint32_t noise[NOISE_SIZE / sizeof(uint32_t)];
	uint32_t word = bo->offset / AGX_PAGE_SIZE * 2 + 1;
	uint64_t offset;
	size_t i;

	for (offset = 0; offset < bo->size && offset < NOISE_END; offset += sizeof(noise)) {
		for (i = 0; i < sizeof(noise) / sizeof(*noise); i++) {
			word = word * 1664525 + 1013904223;
			noise[i] = word ^ word >> 16;
		}
		shim_bo_write(bo, offset, noise, sizeof(noise));
	}
}

unsigned int shim_bo_count(void)
{
	return gem_bo_count;
}

static struct shim_bo *gem_bo_create(uint64_t size, bool is_private)
{
	struct shim_bo *bo;
	int fd;

	if (is_private)
		return gem_bo_new(size);
	fd = shim_dma_buf_memory(size);
	if (fd < 0)
		return NULL;
	bo = shim_bo_new_shared(fd, size);
	if (!bo)
		shim_libc()->close(fd);
	return bo;
}

int shim_gem_create(struct shim_file *file, union asahi_shim_args *all, struct shim_call *call)
{
	struct drm_asahi_gem_create *args = &all->gem_create;
	bool is_private = args->flags & DRM_ASAHI_GEM_VM_PRIVATE;
	struct shim_vm *vm = NULL;
	struct shim_bo *bo;

	if (args->pad || (args->flags & ~(DRM_ASAHI_GEM_WRITEBACK | DRM_ASAHI_GEM_VM_PRIVATE)) ||
	    (!is_private && args->vm_id) || !args->size ||
	    args->size > AGX_VA_USER_END - AGX_VA_USER_START)
		return EINVAL;
	if (args->size > MEMORY_SIZE)
		return ENOMEM;
	if (is_private) {
		vm = shim_table_get(&file->vms, args->vm_id);
		if (!vm)
			return ENOENT;
	}
	bo = gem_bo_create((args->size + AGX_PAGE_MASK) & ~AGX_PAGE_MASK, is_private);
	if (!bo)
		return ENOMEM;
	gem_set_tail(bo, args->size & AGX_PAGE_MASK);
	if (getenv("ASAHI_SHIM_NOISE"))
		gem_make_noise(bo);
	bo->vm = vm ? vm->id : 0;
	args->handle = shim_table_add(&file->handles, bo, UINT32_MAX);
	return 0;
}

int shim_gem_mmap_offset(struct shim_file *file, union asahi_shim_args *all,
			 struct shim_call *call)
{
	struct drm_asahi_gem_mmap_offset *args = &all->gem_mmap_offset;
	struct shim_bo *bo = shim_table_get(&file->handles, args->handle);

	if (args->flags)
		return EINVAL;
	if (!bo)
		return ENOENT;
	args->offset = MMAP_BASE + bo->offset;
	return 0;
}

int shim_gem_close(struct shim_file *file, union asahi_shim_args *all, struct shim_call *call)
{
	struct shim_bo *bo = shim_table_remove(&file->handles, all->gem_close.handle);

	if (!bo)
		return EINVAL;
	shim_vm_close_bo(file->id, bo);
	shim_bo_put(bo);
	return 0;
}

/* Mappings into the process */

/*
 * Finds the buffer that mmap() asks for: by its offset on the node, where *offset becomes 0,
 * or by the descriptor of a DMA buffer. Return: the buffer, no reference, or NULL with errno.
 */
static struct shim_bo *gem_find_mapped(int fd, uint64_t *offset)
{
	const struct shim_file *file = shim_fd_find(fd, SHIM_FD_FILE);
	struct shim_bo *bo = gem_bos;

	errno = EINVAL;
	if (!file)
		return shim_fd_find(fd, SHIM_FD_DMA_BUF);
	while (bo && MMAP_BASE + bo->offset != *offset)
		bo = bo->next;
	*offset = 0;
	if (!bo || shim_table_find(&file->handles, bo))
		return bo;
	/* It is a buffer of another open file. */
	errno = EACCES;
	return NULL;
}

static void gem_cpu_map_add(uintptr_t start, uintptr_t end, struct shim_bo *bo)
{
	struct cpu_map *map = shim_alloc(sizeof(*map));

	*map = (struct cpu_map){ start, end, shim_bo_get(bo), gem_cpu_maps };
	gem_cpu_maps = map;
	gem_cpu_map_count++;
	atomic_store_explicit(&gem_any_cpu_map, true, memory_order_release);
}

/* Takes an address range out of all mappings; one around it is split in two. */
static void gem_cpu_map_cut(uintptr_t start, uintptr_t end)
{
	struct cpu_map **link = &gem_cpu_maps, *map;

	while ((map = *link)) {
		if (map->end <= start || map->start >= end) {
			link = &map->next;
			continue;
		}
		*link = map->next;
		gem_cpu_map_count--;
		/* The remains go to the front of the list and lie outside the range. */
		if (map->start < start)
			gem_cpu_map_add(map->start, start, map->bo);
		if (map->end > end)
			gem_cpu_map_add(end, map->end, map->bo);
		shim_bo_put(map->bo);
		free(map);
	}
}

static void *gem_mmap_locked(void *addr, size_t size, int prot, int flags, int fd, uint64_t offset)
{
	struct shim_bo *bo = gem_find_mapped(fd, &offset);
	uint8_t *map;

	if (!bo)
		return MAP_FAILED;
	if ((flags & MAP_TYPE) == MAP_PRIVATE || !size || offset > bo->size ||
	    size > bo->size - offset) {
		errno = EINVAL;
		return MAP_FAILED;
	}
	if ((prot & PROT_WRITE) && (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY) {
		errno = EACCES;
		return MAP_FAILED;
	}
	fd = gem_file_of(bo, &offset);
	map = shim_libc()->mmap(addr, size, prot, flags, fd, offset);
	if (map == MAP_FAILED)
		return map;
	/* mmap() has mapped whole pages */
	size = (size + sysconf(_SC_PAGESIZE) - 1) & ~(sysconf(_SC_PAGESIZE) - 1);
	gem_cpu_map_cut((uintptr_t)map, (uintptr_t)map + size);
	gem_cpu_map_add((uintptr_t)map, (uintptr_t)map + size, bo);
	return map;
}

void *shim_bo_mmap(void *addr, size_t size, int prot, int flags, int fd, off_t offset)
{
	void *map;

	pthread_mutex_lock(&shim_lock);
	map = gem_mmap_locked(addr, size, prot, flags, fd, offset);
	pthread_mutex_unlock(&shim_lock);
	return map;
}

void shim_bo_unmapped(void *addr, size_t size)
{
	if (!atomic_load_explicit(&gem_any_cpu_map, memory_order_acquire) || !shim_is_owner())
		return;
	pthread_mutex_lock(&shim_lock);
	gem_cpu_map_cut((uintptr_t)addr, (uintptr_t)addr + size);
	pthread_mutex_unlock(&shim_lock);
}

unsigned int shim_bo_mapping_count(void)
{
	return gem_cpu_map_count;
}

/* The program's mappings of buffers stay, and show the parent's memory. */
void shim_bo_forget(void)
{
	gem_memory_fd = -1;
	gem_memory_map = NULL;
	gem_bos = NULL;
	gem_bo_count = 0;
	gem_cpu_maps = NULL;
	gem_cpu_map_count = 0;
	atomic_store_explicit(&gem_any_cpu_map, false, memory_order_release);
}
