// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The ground that all other files of the shim stand on, and that uses none of them: the
 * lock, the libc's own functions, memory of the shim and of its callers, tables of handles,
 * and the parameters of the device.
 *
 * A table is an array of pointers; the ID of an object is its index plus one. Adding looks
 * for the first gap from the beginning, so that IDs stay small and are used again, as the
 * kernel's are. A table that is full is replaced by one twice as large.
 *
 * Any thread may call what is here. Tables have no lock: they belong to an open file, and
 * that is protected by shim_lock, and so is the file through which the kernel copies.
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <agx/agx_uat.h>

#include "shim.h"

pthread_mutex_t shim_lock = PTHREAD_MUTEX_INITIALIZER;

/* The libc */

static struct shim_libc core_libc;
static pthread_once_t core_libc_once = PTHREAD_ONCE_INIT;

static void core_libc_find(void)
{
	static const struct {
		const char *name;
		void *where;
	} functions[] = {
		{ "open", &core_libc.open },
		{ "openat", &core_libc.openat },
		{ "fopen", &core_libc.fopen },
		{ "close", &core_libc.close },
		{ "dup2", &core_libc.dup2 },
		{ "dup3", &core_libc.dup3 },
		{ "ioctl", &core_libc.ioctl },
		{ "mmap", &core_libc.mmap },
		{ "munmap", &core_libc.munmap },
		{ "stat", &core_libc.stat },
		{ "lstat", &core_libc.lstat },
		{ "fstat", &core_libc.fstat },
		{ "fstatat", &core_libc.fstatat },
		{ "access", &core_libc.access },
		{ "readlink", &core_libc.readlink },
		{ "opendir", &core_libc.opendir },
		{ "readdir", &core_libc.readdir },
		{ "closedir", &core_libc.closedir },
	};
	size_t i;

	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *function = dlsym(RTLD_NEXT, functions[i].name);

		if (!function) {
			fprintf(stderr, "asahi_shim: the libc has no %s()\n", functions[i].name);
			abort();
		}
		/* Unlike a cast, this is no conversion to a function. */
		memcpy(functions[i].where, &function, sizeof(function));
	}
}

const struct shim_libc *shim_libc(void)
{
	pthread_once(&core_libc_once, core_libc_find);
	return &core_libc;
}

/* Threads */

int shim_thread_start(pthread_t *thread, void *(*fn)(void *), void *arg)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(thread, NULL, fn, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return err;
}

/* Memory */

void *shim_alloc(size_t size)
{
	void *memory = calloc(1, size ? size : 1);

	if (!memory) {
		fprintf(stderr, "asahi_shim: no memory for %zu bytes\n", size);
		abort();
	}
	return memory;
}

/*
 * The kernel copies between the caller's memory and a file: it answers EFAULT where memcpy()
 * would be the end. Sandboxes that forbid process_vm_readv() allow this.
 */
int shim_copy_fd = -1;
static uint8_t *core_copy_map;

void shim_copy_begin(void)
{
	void *map = shim_libc()->mmap(NULL, SHIM_COPY_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
				      shim_copy_fd, 0);

	if (map == MAP_FAILED)
		return;
	/* A child would share it with its parent. */
	madvise(map, SHIM_COPY_BYTES, MADV_DONTFORK);
	core_copy_map = map;
}

void shim_copy_forget(void)
{
	shim_copy_fd = -1;
	core_copy_map = NULL;
}

/*
 * Copies through the file. The system calls are made without the libc's functions, of which a
 * sanitizer would look at the caller's memory first. Return: 0 or EFAULT.
 */
static int core_copy_by_file(uint8_t *to, const uint8_t *from, size_t size, bool in)
{
	size_t n, at;
	ssize_t done;

	for (at = 0; at < size; at += n) {
		n = size - at < SHIM_COPY_BYTES ? size - at : SHIM_COPY_BYTES;
		if (in) {
			done = syscall(SYS_pwrite64, shim_copy_fd, from + at, n, 0L);
			memcpy(to + at, core_copy_map, n);
		} else {
			memcpy(core_copy_map, from + at, n);
			done = syscall(SYS_pread64, shim_copy_fd, to + at, n, 0L);
		}
		if (done != (ssize_t)n)
			return EFAULT;
	}
	return 0;
}

/* Copies where there is no file, before a process has opened the device. */
static int core_copy_by_process(struct iovec *ours, struct iovec *theirs, bool in)
{
	size_t size = ours->iov_len;
	ssize_t done;

	if (!size)
		return 0;
	done = in ? process_vm_readv(getpid(), ours, 1, theirs, 1, 0) :
		    process_vm_writev(getpid(), ours, 1, theirs, 1, 0);
	if (done == (ssize_t)size)
		return 0;
	if (done >= 0 || errno == EFAULT)
		return EFAULT;
	/* Some sandboxes forbid it. */
	memcpy(in ? ours->iov_base : theirs->iov_base, in ? theirs->iov_base : ours->iov_base,
	       size);
	return 0;
}

int shim_copy_in(void *to, uint64_t from, size_t size)
{
	struct iovec ours = { to, size };
	struct iovec theirs = { (void *)(uintptr_t)from, size };

	if (core_copy_map)
		return core_copy_by_file(to, theirs.iov_base, size, true);
	return core_copy_by_process(&ours, &theirs, true);
}

int shim_copy_out(uint64_t to, const void *from, size_t size)
{
	struct iovec ours = { (void *)from, size };
	struct iovec theirs = { (void *)(uintptr_t)to, size };

	if (core_copy_map)
		return core_copy_by_file(theirs.iov_base, from, size, false);
	return core_copy_by_process(&ours, &theirs, false);
}

int shim_read_array(uint64_t user, size_t count, size_t size, void *array)
{
	void *copy = shim_alloc(count * size);

	memcpy(array, &copy, sizeof(copy));
	return shim_copy_in(copy, user, count * size);
}

/* Tables */

uint32_t shim_table_add(struct shim_table *table, void *object, uint32_t max)
{
	uint32_t i, grown;

	if (table->used == max)
		return 0;
	if (table->used == table->size) {
		void **slots;

		grown = table->size ? 2 * table->size : 16;
		slots = shim_alloc(grown * sizeof(*slots));
		if (table->size)
			memcpy(slots, table->slots, table->size * sizeof(*slots));
		free(table->slots);
		table->slots = slots;
		table->size = grown;
	}
	for (i = 0; table->slots[i]; i++)
		;
	table->slots[i] = object;
	table->used++;
	return i + 1;
}

void *shim_table_get(const struct shim_table *table, uint32_t id)
{
	return id && id <= table->size ? table->slots[id - 1] : NULL;
}

void *shim_table_remove(struct shim_table *table, uint32_t id)
{
	void *object = shim_table_get(table, id);

	if (object) {
		table->slots[id - 1] = NULL;
		table->used--;
	}
	return object;
}

uint32_t shim_table_find(const struct shim_table *table, const void *object)
{
	uint32_t i;

	for (i = 0; i < table->size; i++)
		if (table->slots[i] == object)
			return i + 1;
	return 0;
}

void shim_table_fini(struct shim_table *table)
{
	free(table->slots);
	*table = (struct shim_table){ NULL, 0, 0 };
}

/* The device */

static struct drm_asahi_params_global core_params = {
	.gpu_generation = 13,
	.gpu_variant = 'G',
	.gpu_revision = 0x11,
	.chip_id = 0x8103,
	.num_dies = 1,
	.num_clusters_total = 1,
	.num_cores_per_cluster = 8,
	.max_frequency_khz = 1278000,
	.core_masks = { 0xff },
	.vm_start = AGX_VA_USER_START,
	.vm_end = AGX_VA_USER_END,
	.vm_kernel_min_size = AGX_VM_KERNEL_MIN_SIZE,
	.max_commands_per_submission = 64,
	.max_attachments = 16,
	.command_timestamp_frequency_hz = 1000000000,
};

struct drm_asahi_params_global *asahi_shim_params(void)
{
	return &core_params;
}
