// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "asahi/asahi_compute.h"
#include "asahi/asahi_render.h"
#include "igt.h"
#include "igt_syncobj.h"
#include "sw_sync.h"

/**
 * TEST: asahi evict
 * Description: Buffers lose their memory, as when the system is short of it, and get it
 *	back when CPU or GPU need it. What is evicted is asked for in debugfs.
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management
 * Functionality: eviction
 * Test category: functionality test
 *
 * SUBTEST: untouched
 * Description: A mapping takes no memory before it is used, and only that of its buffer
 *	then.
 *
 * SUBTEST: cpu-mappings
 * Description: Mappings of each kind, of the device and of an exported buffer, show the
 *	same after the memory was away.
 *
 * SUBTEST: cut-mapping
 * Description: So does what is left of a mapping that was cut.
 *
 * SUBTEST: two-mappings
 * Description: Of a buffer that is mapped twice, one mapping is used while the other one's
 *	pages are away: they come back one by one, and both show the same at any time.
 *
 * SUBTEST: gpu-contents
 * Description: What the GPU has written is there after the memory was away, for the CPU
 *	and for the GPU.
 *
 * SUBTEST: mappings
 * Description: Several mappings of a buffer, one that repeats a page among them, come back
 *	as they were.
 *
 * SUBTEST: blocks
 * Description: Memory that is mapped by entries of 32 MiB goes and comes back, and a part of
 *	it is replaced.
 *
 * SUBTEST: bind-evicted
 * Description: Mappings that are made and cut while a buffer is away are right afterwards.
 *
 * SUBTEST: shared
 * Description: A buffer in two address spaces: each gets it back, and both see the same.
 *
 * SUBTEST: busy
 * Description: What waits to run keeps its address space, while another one's memory goes,
 *	and nobody waits for long.
 *
 * SUBTEST: pinned
 * Description: Memory for timestamps stays.
 *
 * SUBTEST: allocations-fail
 * Description: Each allocation of a SUBMIT that restores fails in turn: it succeeds, or says
 *	so, and the next one is right.
 *
 * SUBTEST: shrink-allocations-fail
 * Description: Memory is taken away while allocations fail, since that makes none.
 *
 * SUBTEST: access-allocations-fail
 * Description: Each allocation of an access that gets memory back fails in turn: the access
 *	is repeated, and right.
 *
 * SUBTEST: race
 * Description: Clients work, bind and unbind while memory is taken away all the time.
 *
 * SUBTEST: killed
 * Description: So do clients that are killed at any moment.
 */

#define PAGE		IGT_ASAHI_PAGE
#define MB		(1ULL << 20)
#define BLOCK		(32 * MB)
#define BLOCKS		3
#define VA		ASAHI_FREE_START
#define RW		(DRM_ASAHI_BIND_READ | DRM_ASAHI_BIND_WRITE)
#define ALL_PAGES	"1000000000"
#define TRIES		50
#define CHILDREN	3
#define RACE_ROUNDS	40
#define KILLS		10
#define EXCHANGES	200

static void evict_path(int fd, char *path, size_t size)
{
	struct stat st;

	igt_assert_eq(fstat(fd, &st), 0);
	snprintf(path, size, "/sys/kernel/debug/dri/%u/shrink", minor(st.st_rdev));
}

static void evict_shrink(int fd)
{
	char path[64];
	int shrink;

	evict_path(fd, path, sizeof(path));
	shrink = open(path, O_WRONLY | O_CLOEXEC);
	igt_require_f(shrink >= 0, "%s\n", path);
	igt_assert_eq(write(shrink, ALL_PAGES, strlen(ALL_PAGES)), (ssize_t)strlen(ALL_PAGES));
	close(shrink);
}

static uint64_t evict_resident(int fd)
{
	return igt_asahi_memory(fd, "drm-resident-memory");
}

/* Somebody else may look at a buffer just when it is its turn. */
static void evict_to(int fd, uint64_t left)
{
	unsigned int i;

	for (i = 0; i < TRIES; i++) {
		evict_shrink(fd);
		if (evict_resident(fd) == left)
			return;
		usleep(10000);
	}
	igt_assert_eq_u64(evict_resident(fd), left);
}

static uint32_t evict_pattern(uint64_t index)
{
	return (uint32_t)(index * 2654435761U + 12345);
}

static void evict_fill(volatile uint32_t *map, uint64_t pages)
{
	for (uint64_t i = 0; i < pages; i++)
		map[i * PAGE / 4 + i % 16] = evict_pattern(i);
}

/* From a page of the buffer on. */
static void evict_check(volatile uint32_t *map, uint64_t first, uint64_t pages)
{
	for (uint64_t i = first; i < first + pages; i++)
		igt_assert_eq_u32(map[(i - first) * PAGE / 4 + i % 16], evict_pattern(i));
}

static void evict_test_untouched(struct asahi_client *client)
{
	const uint64_t size = 64 * MB, before = evict_resident(client->fd);
	uint32_t handle = igt_asahi_gem_create(client->fd, size, 0, 0, 0);
	volatile uint8_t *map = igt_asahi_gem_mmap(client->fd, handle, size);

	igt_assert_eq_u64(evict_resident(client->fd), before);
	igt_assert_eq(map[size - 1], 0);
	igt_assert_eq_u64(evict_resident(client->fd), before + size);
	munmap((void *)map, size);
	evict_to(client->fd, 0);
	gem_close(client->fd, handle);
}

static void evict_cpu_mappings(struct asahi_client *client, uint32_t flags, bool exported)
{
	const uint64_t pages = 40, size = pages * PAGE;
	uint32_t handle = igt_asahi_gem_create(client->fd, size, flags,
					       flags & DRM_ASAHI_GEM_VM_PRIVATE ? client->vm : 0, 0);
	void *map = igt_asahi_gem_mmap(client->fd, handle, size), *other = map;
	int dma_buf = -1;

	if (exported) {
		dma_buf = prime_handle_to_fd_for_mmap(client->fd, handle);
		other = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, dma_buf, 0);
		igt_assert(other != MAP_FAILED);
	}
	evict_fill(map, pages);
	evict_check(other, 0, pages);
	evict_to(client->fd, 0);
	evict_check(other, 0, pages);
	evict_check(map, 0, pages);
	/* What is written to a page that came back is not lost, either. */
	((uint32_t *)other)[100] = 0x1234;
	evict_to(client->fd, 0);
	igt_assert_eq_u32(((volatile uint32_t *)map)[100], 0x1234);
	munmap(map, size);
	if (exported) {
		munmap(other, size);
		close(dma_buf);
	}
	gem_close(client->fd, handle);
}

static void evict_test_cpu_mappings(struct asahi_client *client)
{
	evict_cpu_mappings(client, 0, false);
	evict_cpu_mappings(client, 0, true);
	evict_cpu_mappings(client, DRM_ASAHI_GEM_WRITEBACK, true);
	evict_cpu_mappings(client, DRM_ASAHI_GEM_VM_PRIVATE, false);
	evict_cpu_mappings(client, DRM_ASAHI_GEM_VM_PRIVATE | DRM_ASAHI_GEM_WRITEBACK, false);
}

/* Also 32 MiB that could be in one piece, of which the middle goes. */
static void evict_test_cut_mapping(struct asahi_client *client)
{
	const uint64_t pages = 64 * MB / PAGE, first = 5, last = pages - 3;
	uint32_t handle = igt_asahi_gem_create(client->fd, pages * PAGE, 0, 0, 0);
	uint8_t *map = igt_asahi_gem_mmap(client->fd, handle, pages * PAGE);

	evict_fill((uint32_t *)map, pages);
	munmap(map, first * PAGE);
	munmap(map + 10 * PAGE, 7 * PAGE);
	evict_to(client->fd, 0);
	evict_check((uint32_t *)(map + first * PAGE), first, 5);
	evict_check((uint32_t *)(map + 17 * PAGE), 17, last - 17);
	igt_assert_eq(mprotect(map + 20 * PAGE, PAGE, PROT_READ), 0);
	evict_to(client->fd, 0);
	evict_check((uint32_t *)(map + 17 * PAGE), 17, last - 17);
	munmap(map + 17 * PAGE, (pages - 17) * PAGE);
	munmap(map + first * PAGE, 5 * PAGE);
	gem_close(client->fd, handle);
}

/* Pages of a mapping that were not there before they are read. */
static long evict_faults(volatile uint32_t *map, uint64_t pages)
{
	struct rusage before, after;

	getrusage(RUSAGE_SELF, &before);
	for (uint64_t i = 0; i < pages; i++)
		(void)map[i * PAGE / 4];
	getrusage(RUSAGE_SELF, &after);
	return after.ru_minflt + after.ru_majflt - before.ru_minflt - before.ru_majflt;
}

/* Answers each number that appears in one mapping, in the other one. */
static void evict_answer(volatile uint32_t *map)
{
	for (uint32_t i = 1; i <= EXCHANGES; i++) {
		while (map[0] != i)
			sched_yield();
		map[2 * PAGE / 4] = i;
	}
}

static void evict_ask(volatile uint32_t *map)
{
	for (uint32_t i = 1; i <= EXCHANGES; i++) {
		map[0] = i;
		while (map[2 * PAGE / 4] != i)
			sched_yield();
	}
}

static void evict_shrink_for_ever(int fd)
{
	for (;;)
		evict_shrink(fd);
}

static void evict_exchange(struct asahi_client *client, volatile uint32_t *map,
			   volatile uint32_t *other)
{
	struct igt_helper_process shrinker = {};

	igt_fork_helper(&shrinker)
		evict_shrink_for_ever(client->fd);
	igt_fork(child, 1)
		evict_answer(other);
	evict_ask(map);
	igt_waitchildren();
	igt_stop_helper(&shrinker);
}

static void evict_test_two_mappings(struct asahi_client *client)
{
	const uint64_t pages = 4;
	uint32_t handle = igt_asahi_gem_create(client->fd, pages * PAGE, 0, 0, 0);
	volatile uint32_t *map = igt_asahi_gem_mmap(client->fd, handle, pages * PAGE);
	volatile uint32_t *other = igt_asahi_gem_mmap(client->fd, handle, pages * PAGE);

	igt_assert_eq(evict_faults(map, pages), pages);
	igt_assert_eq(evict_faults(map, pages), 0);
	igt_assert_eq(evict_faults(other, pages), pages);
	evict_to(client->fd, 0);
	/* The one gets its pages back, of the other one none. */
	map[PAGE / 4] = 0x1111;
	igt_assert_eq(evict_faults(map, 2), 1);
	igt_assert_eq(evict_faults(map, 2), 0);
	igt_assert_eq(evict_faults(other, pages), pages);
	igt_assert_eq_u32(other[PAGE / 4], 0x1111);
	evict_to(client->fd, 0);
	other[PAGE / 4] = 0x2222;
	igt_assert_eq(evict_faults(map, pages), pages);
	igt_assert_eq_u32(map[PAGE / 4], 0x2222);
	evict_exchange(client, map, other);
	igt_assert_eq_u32(map[PAGE / 4], 0x2222);
	munmap((void *)map, pages * PAGE);
	munmap((void *)other, pages * PAGE);
	gem_close(client->fd, handle);
}

static void evict_gpu_store(struct asahi_client *client, uint64_t addr, uint32_t value)
{
	struct asahi_command command = igt_asahi_store(client, addr, value);

	igt_assert_eq(igt_asahi_run(client, &command), 0);
}

static uint32_t evict_gpu_load(struct asahi_client *client, uint64_t addr)
{
	const uint64_t uniforms[] = { addr, igt_asahi_word_addr(client, ASAHI_RESULT) };
	const struct asahi_dispatch dispatch = {
		.shader = IGT_ASAHI_SHADER_PEEK,
		.uniforms = uniforms,
		.uniform_bytes = sizeof(uniforms),
		.global = { 1, 1, 1 },
		.local = { 32, 1, 1 },
	};
	struct asahi_command command = igt_asahi_command(client, &dispatch, 1);

	client->words[ASAHI_RESULT] = ~0U;
	igt_assert_eq(igt_asahi_run(client, &command), 0);
	return client->words[ASAHI_RESULT];
}

static void evict_test_gpu_contents(struct asahi_client *client)
{
	struct asahi_bo bo[3];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bo); i++) {
		bo[i] = igt_asahi_bo_create(client, 8 * MB);
		evict_gpu_store(client, bo[i].addr + i * PAGE, evict_pattern(i));
		evict_gpu_store(client, bo[i].addr + bo[i].size - 4, evict_pattern(i + 10));
	}
	evict_to(client->fd, 0);
	for (i = 0; i < ARRAY_SIZE(bo); i++) {
		volatile uint32_t *map = bo[i].map;

		igt_assert_eq_u32(map[i * PAGE / 4], evict_pattern(i));
		igt_assert_eq_u32(map[bo[i].size / 4 - 1], evict_pattern(i + 10));
	}
	evict_to(client->fd, 0);
	for (i = 0; i < ARRAY_SIZE(bo); i++) {
		igt_assert_eq_u32(evict_gpu_load(client, bo[i].addr + i * PAGE), evict_pattern(i));
		igt_assert_eq_u32(evict_gpu_load(client, bo[i].addr + bo[i].size - 4),
				  evict_pattern(i + 10));
	}
	/* All of the address space is there again. */
	igt_assert_lte_u64(3 * 8 * MB, evict_resident(client->fd));
	for (i = 0; i < ARRAY_SIZE(bo); i++)
		igt_asahi_bo_destroy(client, &bo[i]);
}

static void evict_test_mappings(struct asahi_client *client)
{
	const uint64_t twice = VA + 32 * MB, repeated = VA + 64 * MB, copies = 3000;
	uint32_t handle = igt_asahi_gem_create(client->fd, 4 * PAGE, 0, 0, 0);
	volatile uint32_t *map = igt_asahi_gem_mmap(client->fd, handle, 4 * PAGE);

	igt_asahi_vm_bind_one(client->fd, client->vm, RW, handle, 0, 4 * PAGE, VA, 0);
	igt_asahi_vm_bind_one(client->fd, client->vm, DRM_ASAHI_BIND_READ, handle, PAGE, 2 * PAGE,
			      twice, 0);
	igt_asahi_vm_bind_one(client->fd, client->vm, RW | DRM_ASAHI_BIND_SINGLE_PAGE, handle,
			      2 * PAGE, copies * PAGE, repeated, 0);
	evict_gpu_store(client, VA + PAGE, 0x111);
	evict_gpu_store(client, VA + 3 * PAGE, 0x333);
	evict_to(client->fd, 0);
	evict_gpu_store(client, repeated + (copies - 1) * PAGE + 4, 0x222);
	igt_assert_eq_u32(evict_gpu_load(client, VA + 2 * PAGE + 4), 0x222);
	igt_assert_eq_u32(evict_gpu_load(client, twice), 0x111);
	igt_assert_eq_u32(evict_gpu_load(client, twice + PAGE + 4), 0x222);
	igt_assert_eq_u32(evict_gpu_load(client, repeated + 4), 0x222);
	igt_assert_eq_u32(evict_gpu_load(client, VA + 3 * PAGE), 0x333);
	evict_to(client->fd, 0);
	igt_assert_eq_u32(map[2 * PAGE / 4 + 1], 0x222);
	munmap((void *)map, 4 * PAGE);
	gem_close(client->fd, handle);
}

static void evict_test_bind_evicted(struct asahi_client *client)
{
	const uint64_t pages = 16, late = VA + 32 * MB;
	uint32_t handle = igt_asahi_gem_create(client->fd, pages * PAGE, 0, 0, 0);
	uint32_t other = igt_asahi_gem_create(client->fd, PAGE, 0, 0, 0);
	uint32_t *map = igt_asahi_gem_mmap(client->fd, handle, pages * PAGE);

	evict_fill(map, pages);
	igt_asahi_vm_bind_one(client->fd, client->vm, RW, handle, 0, pages * PAGE, VA, 0);
	evict_to(client->fd, 0);
	/* A new mapping, a hole in the old one, and another buffer in its middle */
	igt_asahi_vm_bind_one(client->fd, client->vm, RW, handle, 3 * PAGE, 4 * PAGE, late, 0);
	igt_asahi_vm_bind_one(client->fd, client->vm, DRM_ASAHI_BIND_UNBIND, 0, 0, PAGE,
			      VA + 5 * PAGE, 0);
	igt_asahi_vm_bind_one(client->fd, client->vm, RW, other, 0, PAGE, VA + 8 * PAGE, 0);
	evict_gpu_store(client, VA + 8 * PAGE, 0x888);
	igt_assert_eq_u32(evict_gpu_load(client, VA + 4 * PAGE + 4 * 4), evict_pattern(4));
	igt_assert_eq_u32(evict_gpu_load(client, VA + 6 * PAGE + 4 * 6), evict_pattern(6));
	igt_assert_eq_u32(evict_gpu_load(client, VA + 15 * PAGE + 4 * 15), evict_pattern(15));
	igt_assert_eq_u32(evict_gpu_load(client, late + PAGE + 4 * 4), evict_pattern(4));
	igt_assert_eq_u32(evict_gpu_load(client, VA + 8 * PAGE), 0x888);
	evict_to(client->fd, 0);
	evict_check(map, 0, pages);
	gem_close(client->fd, other);
	igt_assert_eq_u32(evict_gpu_load(client, late + PAGE + 4 * 4), evict_pattern(4));
	munmap(map, pages * PAGE);
	gem_close(client->fd, handle);
}

static void evict_test_shared(struct asahi_client *client)
{
	struct asahi_client *second = igt_asahi_client_open(client->fd);
	uint32_t handle = igt_asahi_gem_create(client->fd, MB, 0, 0, 0);
	int dma_buf = prime_handle_to_fd(client->fd, handle);
	uint32_t imported = prime_fd_to_handle(second->fd, dma_buf);

	close(dma_buf);
	igt_asahi_vm_bind_one(client->fd, client->vm, RW, handle, 0, MB, VA, 0);
	igt_asahi_vm_bind_one(second->fd, second->vm, RW, imported, 0, MB, VA, 0);
	evict_gpu_store(client, VA + 4, 0x1111);
	evict_to(client->fd, 0);
	evict_to(second->fd, 0);
	igt_assert_eq_u32(evict_gpu_load(second, VA + 4), 0x1111);
	/* It has memory again, and the first one does not see it yet. */
	evict_gpu_store(second, VA + PAGE, 0x2222);
	igt_assert_eq_u32(evict_gpu_load(client, VA + PAGE), 0x2222);
	evict_to(second->fd, 0);
	igt_assert_eq_u32(evict_gpu_load(client, VA + PAGE), 0x2222);
	gem_close(second->fd, imported);
	evict_to(client->fd, 0);
	igt_assert_eq_u32(evict_gpu_load(client, VA + 4), 0x1111);
	gem_close(client->fd, handle);
	igt_asahi_client_close(second);
}

static void evict_test_busy(struct asahi_client *client)
{
	struct asahi_client *idle = igt_asahi_client_open(client->fd);
	const int timeline = sw_sync_timeline_create();
	struct asahi_bo bo = igt_asahi_bo_create(client, 4 * MB);
	struct asahi_command command = igt_asahi_store(client, bo.addr, 0x4242);
	struct asahi_sync sync = {
		.in = igt_asahi_late_fence(client->fd, timeline),
		.out = syncobj_create(client->fd, 0),
	};
	struct timespec start = { 0 };
	uint64_t resident;

	igt_asahi_submit(client->fd, client->queue, &command, 1, &sync);
	resident = evict_resident(client->fd);
	igt_assert_lte_u64(4 * MB, resident);
	igt_nsec_elapsed(&start);
	evict_shrink(client->fd);
	/* It waits three times for 10 ms; the rest is for a machine that is slow. */
	igt_assert(igt_nsec_elapsed(&start) < 2000000000ULL);
	evict_to(idle->fd, 0);
	igt_assert_eq_u64(evict_resident(client->fd), resident);
	sw_sync_timeline_inc(timeline, 1);
	igt_assert_eq(igt_asahi_wait(client->fd, sync.out), 0);
	igt_assert_eq_u32(*(volatile uint32_t *)bo.map, 0x4242);
	evict_to(client->fd, 0);
	igt_assert_eq_u32(*(volatile uint32_t *)bo.map, 0x4242);
	syncobj_destroy(client->fd, sync.in);
	syncobj_destroy(client->fd, sync.out);
	close(timeline);
	igt_asahi_bo_destroy(client, &bo);
	igt_asahi_client_close(idle);
}

static void evict_test_pinned(struct asahi_client *client)
{
	igt_asahi_times_create(client);
	evict_to(client->fd, PAGE);
}

/* Two mappings of a buffer that others could have, and one that repeats a page. */
static uint32_t evict_bind_shared(struct asahi_client *client)
{
	uint32_t handle = igt_asahi_gem_create(client->fd, MB, 0, 0, 0);

	igt_asahi_vm_bind_one(client->fd, client->vm, RW, handle, 0, MB, VA, 0);
	igt_asahi_vm_bind_one(client->fd, client->vm, RW, handle, 0, PAGE, VA + 64 * MB, 0);
	igt_asahi_vm_bind_one(client->fd, client->vm, RW | DRM_ASAHI_BIND_SINGLE_PAGE, handle,
			      PAGE, 3000 * PAGE, VA + 128 * MB, 0);
	return handle;
}

/* Return: whether an allocation has failed; the work is done then, or SUBMIT has said so. */
static bool evict_fail_submit(struct asahi_client *client, const struct asahi_command *command,
			      unsigned int nth)
{
	const struct drm_asahi_sync sync = { .handle = syncobj_create(client->fd, 0) };
	struct drm_asahi_submit args = {
		.syncs = (uintptr_t)&sync,
		.out_sync_count = 1,
		.cmdbuf = (uintptr_t)command,
		.cmdbuf_size = sizeof(*command),
		.queue_id = client->queue,
	};
	bool failed;
	int ret, err;

	igt_asahi_fail_nth(nth);
	ret = ioctl(client->fd, DRM_IOCTL_ASAHI_SUBMIT, &args);
	err = errno;
	failed = igt_asahi_has_failed();
	if (!ret)
		igt_assert_eq(igt_asahi_wait(client->fd, sync.handle), 0);
	else
		igt_assert_f(err == ENOMEM || err == EFAULT, "%s at %u\n", strerror(err), nth);
	syncobj_destroy(client->fd, sync.handle);
	return failed;
}

/* Each SUBMIT begins with nothing, also after one that has got all back and failed later. */
static void evict_test_allocations_fail(struct asahi_client *client)
{
	struct asahi_bo bo = igt_asahi_bo_create(client, MB);
	uint32_t handle = evict_bind_shared(client);
	struct asahi_command command = igt_asahi_store(client, bo.addr, 0x77);
	volatile uint32_t *word = bo.map;
	unsigned int nth = 0;
	int tables;
	bool failed;

	/* The first one allocates what stays. */
	evict_gpu_store(client, VA + 128 * MB, 0x66);
	evict_to(client->fd, 0);
	tables = igt_asahi_objects("page-tables");
	do {
		igt_assert_lte(igt_asahi_objects("page-tables"), tables);
		failed = evict_fail_submit(client, &command, ++nth);
		evict_to(client->fd, 0);
	} while (failed);
	igt_info("%u failures\n", nth - 1);
	igt_assert_lt(10, nth);
	igt_assert_eq_u32(*word, 0x77);
	igt_assert_eq_u32(evict_gpu_load(client, VA + PAGE), 0x66);
	gem_close(client->fd, handle);
	igt_asahi_bo_destroy(client, &bo);
}

static void evict_test_shrink_allocations_fail(struct asahi_client *client)
{
	struct asahi_bo bo = igt_asahi_bo_create(client, MB);
	uint32_t handle = igt_asahi_gem_create(client->fd, MB, 0, 0, 0);
	volatile uint32_t *map = igt_asahi_gem_mmap(client->fd, handle, MB);
	unsigned int nth = 0;
	char path[64];
	int shrink;

	evict_path(client->fd, path, sizeof(path));
	shrink = open(path, O_WRONLY | O_CLOEXEC);
	igt_require_f(shrink >= 0, "%s\n", path);
	evict_fill(map, MB / PAGE);
	evict_gpu_store(client, bo.addr, 0x99);
	do {
		evict_check(map, 0, MB / PAGE);
		igt_asahi_fail_nth(++nth);
		/* Its number is copied before anything is done. */
		if (write(shrink, ALL_PAGES, strlen(ALL_PAGES)) < 0)
			igt_assert_eq(errno, EFAULT);
	} while (igt_asahi_has_failed());
	igt_info("%u failures\n", nth - 1);
	igt_assert_eq_u64(evict_resident(client->fd), 0);
	/* It is one copy at most. */
	igt_assert_lte(nth, 2);
	igt_assert_eq_u32(evict_gpu_load(client, bo.addr), 0x99);
	evict_check(map, 0, MB / PAGE);
	close(shrink);
	munmap((void *)map, MB);
	gem_close(client->fd, handle);
	igt_asahi_bo_destroy(client, &bo);
}

static void evict_test_access_allocations_fail(struct asahi_client *client)
{
	const uint64_t pages = 20;
	uint32_t handle = igt_asahi_gem_create(client->fd, pages * PAGE, 0, 0, 0);
	volatile uint32_t *map = igt_asahi_gem_mmap(client->fd, handle, pages * PAGE);
	unsigned int nth = 0;
	uint32_t word;
	bool failed;

	evict_fill(map, pages);
	do {
		evict_to(client->fd, 0);
		igt_asahi_fail_nth(++nth);
		word = map[7 * PAGE / 4 + 7];
		failed = igt_asahi_has_failed();
		igt_assert_eq_u32(word, evict_pattern(7));
		evict_check(map, 0, pages);
	} while (failed);
	igt_info("%u failures\n", nth - 1);
	igt_assert_lt(1, nth);
	munmap((void *)map, pages * PAGE);
	gem_close(client->fd, handle);
}

/* Binds what it uses, uses it, and unbinds it in one of two ways. */
static void evict_work(struct asahi_client *client, unsigned int round)
{
	const uint64_t size = (1 + round % 5) * MB;
	uint32_t handle = igt_asahi_gem_create(client->fd, size, 0, 0, 0);
	volatile uint32_t *map = igt_asahi_gem_mmap(client->fd, handle, size);

	map[PAGE / 4] = evict_pattern(round);
	igt_asahi_vm_bind_one(client->fd, client->vm, RW, handle, 0, size, VA, 0);
	igt_assert_eq_u32(evict_gpu_load(client, VA + PAGE), evict_pattern(round));
	evict_gpu_store(client, VA + size - 4, evict_pattern(round + 1));
	if (round % 2)
		igt_asahi_vm_bind_one(client->fd, client->vm, DRM_ASAHI_BIND_UNBIND, 0, 0, size,
				      VA, 0);
	igt_assert_eq_u32(map[size / 4 - 1], evict_pattern(round + 1));
	munmap((void *)map, size);
	gem_close(client->fd, handle);
}

static void evict_test_race(struct asahi_client *client)
{
	struct igt_helper_process shrinker = {};

	evict_shrink(client->fd);
	igt_fork_helper(&shrinker)
		evict_shrink_for_ever(client->fd);
	igt_fork(child, CHILDREN) {
		struct asahi_client *own = igt_asahi_client_open(client->fd);

		for (unsigned int i = 0; i < RACE_ROUNDS; i++)
			evict_work(own, i + 7 * child);
		igt_asahi_client_close(own);
	}
	igt_waitchildren();
	igt_stop_helper(&shrinker);
	evict_work(client, 0);
}

static void evict_work_for_ever(int fd)
{
	struct asahi_client *own = igt_asahi_client_open(fd);

	for (unsigned int i = 0;; i++)
		evict_work(own, i);
}

static void evict_test_killed(struct asahi_client *client)
{
	struct igt_helper_process shrinker = {};

	evict_shrink(client->fd);
	igt_fork_helper(&shrinker)
		evict_shrink_for_ever(client->fd);
	for (unsigned int i = 0; i < KILLS; i++) {
		struct igt_helper_process worker = { .use_SIGKILL = true };

		igt_fork_helper(&worker)
			evict_work_for_ever(client->fd);
		usleep(150000 + 17000 * i);
		igt_stop_helper(&worker);
	}
	igt_stop_helper(&shrinker);
	evict_work(client, 1);
}

/* Of each block the first word and the last one. */
static void evict_store_blocks(struct asahi_client *client, uint64_t va)
{
	for (uint64_t i = 0; i < BLOCKS; i++) {
		evict_gpu_store(client, va + i * BLOCK, evict_pattern(i));
		evict_gpu_store(client, va + (i + 1) * BLOCK - 4, evict_pattern(i + BLOCKS));
	}
}

static void evict_check_blocks(struct asahi_client *client, uint64_t va)
{
	for (uint64_t i = 0; i < BLOCKS; i++) {
		igt_assert_eq_u32(evict_gpu_load(client, va + i * BLOCK), evict_pattern(i));
		igt_assert_eq_u32(evict_gpu_load(client, va + (i + 1) * BLOCK - 4),
				  evict_pattern(i + BLOCKS));
	}
}

static void evict_test_blocks(struct asahi_client *client)
{
	const uint64_t size = BLOCKS * BLOCK, va = (VA + BLOCK - 1) / BLOCK * BLOCK;
	const uint64_t cut = va + BLOCK + BLOCK / 2;
	struct asahi_bo bo = igt_asahi_bo_create(client, PAGE);
	uint32_t handle = igt_asahi_gem_create(client->fd, size, 0, 0, 0);
	int blocks = igt_asahi_objects("page-table-blocks");

	igt_require(igt_asahi_allows("blocks"));
	igt_asahi_vm_bind_one(client->fd, client->vm, RW, handle, 0, size, va, 0);
	igt_require(igt_asahi_objects("page-table-blocks") > blocks);
	evict_store_blocks(client, va);
	evict_check_blocks(client, va);
	evict_to(client->fd, 0);
	igt_assert_eq(igt_asahi_objects("page-table-blocks"), blocks);
	evict_check_blocks(client, va);

	/* Something else comes into the middle, and goes. */
	*(volatile uint32_t *)bo.map = 0x5678;
	igt_asahi_vm_bind_one(client->fd, client->vm, RW, bo.handle, 0, PAGE, cut, 0);
	igt_assert_eq_u32(evict_gpu_load(client, cut), 0x5678);
	evict_check_blocks(client, va);
	evict_to(client->fd, 0);
	evict_check_blocks(client, va);
	igt_assert_eq_u32(evict_gpu_load(client, cut), 0x5678);
	igt_asahi_bo_destroy(client, &bo);
	igt_asahi_vm_bind_one(client->fd, client->vm, RW, handle, 0, size, va, 0);
	evict_check_blocks(client, va);
	gem_close(client->fd, handle);
	igt_assert_eq(igt_asahi_objects("page-table-blocks"), blocks);
}

static const struct asahi_client_test evict_tests[] = {
	{ "untouched", "A mapping takes no memory before it is used.", evict_test_untouched },
	{ "cpu-mappings", "Mappings of the CPU show the same.", evict_test_cpu_mappings },
	{ "cut-mapping", "So do those that were cut.", evict_test_cut_mapping },
	{ "two-mappings", "One mapping is used while the other one's pages are away.",
	  evict_test_two_mappings },
	{ "gpu-contents", "What the GPU has written comes back.", evict_test_gpu_contents },
	{ "mappings", "Several mappings of a buffer come back.", evict_test_mappings },
	{ "blocks", "Memory that is mapped by entries of 32 MiB.", evict_test_blocks },
	{ "bind-evicted", "Mappings change while the memory is away.", evict_test_bind_evicted },
	{ "shared", "A buffer in two address spaces.", evict_test_shared },
	{ "busy", "Work keeps its address space.", evict_test_busy },
	{ "pinned", "Memory for timestamps stays.", evict_test_pinned },
	{ "allocations-fail", "Allocations of a SUBMIT that restores fail.",
	  evict_test_allocations_fail },
	{ "shrink-allocations-fail", "Memory is taken away without an allocation.",
	  evict_test_shrink_allocations_fail },
	{ "access-allocations-fail", "Allocations of an access of the CPU fail.",
	  evict_test_access_allocations_fail },
	{ "race", "Clients work while memory is taken away.", evict_test_race },
	{ "killed", "Clients are killed meanwhile.", evict_test_killed },
};

int igt_main()
{
	igt_asahi_client_tests(evict_tests, ARRAY_SIZE(evict_tests));
}
