// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "asahi/asahi_compute.h"
#include "igt.h"
#include "igt_syncobj.h"

/**
 * TEST: asahi exec bind
 * Description: Mappings that VM_BIND splits, joins and replaces, seen by shaders:
 * each page that is mapped shows its word, and what is not mapped faults.
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: VM_BIND
 * Test category: functionality test
 *
 * SUBTEST: unbind-%s
 * Description: Of a range of pages, %arg[1] is unbound.
 *
 * SUBTEST: replace-%s
 * Description: Of a range of pages, %arg[1] shows another object.
 *
 * SUBTEST: read-only-%s
 * Description: Of a range of pages, %arg[1] can be written no more.
 *
 * SUBTEST: sparse-%s
 * Description: Of a range that shows one page again and again, %arg[1] is unbound.
 * arg[1]:
 * @start: its start
 * @middle: its middle
 * @end: its end
 * @page: one page
 * @all-but-first: all but the first page
 * @all-but-last: all but the last page
 * @block-start: its start, up to the border of a page table
 * @block-end: its end, from there on
 *
 * SUBTEST: beyond
 * Description: More is unbound than was mapped, on either side.
 *
 * SUBTEST: merge
 * Description: Ranges that are bound piece by piece are one: a bind across all pieces
 *	replaces just what it covers.
 *
 * SUBTEST: large
 * Description: An object of more than two page tables; the middle one goes.
 *
 * SUBTEST: array-fails-%s
 * Description: An array with a bad operation, which is %arg[1], changes nothing,
 *	wherever it stands.
 * arg[1]:
 * @unaligned: at an unaligned address
 * @unknown-handle: of an object that there is not
 * @beyond-object: behind the end of its object
 * @kernel-range: in the kernel's range
 * @unknown-flag: of an unknown kind
 *
 * SUBTEST: array-places
 * Description: An array replaces and unbinds pages in a few places, in no order.
 *
 * SUBTEST: array-many-places
 * Description: An array replaces every other page of a range, in many places.
 *
 * SUBTEST: array-overlaps
 * Description: Binds of an array overlap: the later one counts.
 *
 * SUBTEST: array-sparse
 * Description: Arrays put pages into a range of one repeated page, replace them, and give
 *	them back; then the whole range goes.
 *
 * SUBTEST: threads
 * Description: Threads bind neighbouring ranges of one address space, and each sees its own.
 *
 * SUBTEST: running-beside
 * Description: Neighbours of what a running job uses come and go.
 *
 * SUBTEST: running-replaced
 * Description: Memory that a running job is going to write to is replaced: it writes to
 *	the new object, and leaves the old one alone.
 *
 * SUBTEST: running-unbound
 * Description: Memory that a running job is going to write to is unbound: it faults.
 */

#define PAGE		IGT_ASAHI_PAGE
#define BLOCK		(32ULL << 20)
#define PAGES		16
#define MAX_PEEK	64
#define THREADS		4
#define THREAD_ROUNDS	30

#define READ		DRM_ASAHI_BIND_READ
#define WRITE		DRM_ASAHI_BIND_WRITE
#define RW		(READ | WRITE)
#define SINGLE		DRM_ASAHI_BIND_SINGLE_PAGE
#define UNBIND		DRM_ASAHI_BIND_UNBIND

/* Half of the pages are in front of the border of a page table, half behind it. */
#define VA		(ASAHI_FREE_START + BLOCK - PAGES / 2 * PAGE)

/* The word in page n of object a or b */
#define A(n)		(0xa0000000u + (n))
#define B(n)		(0xb0000000u + (n))

/**
 * struct rig - what each test starts with
 * @client: the client
 * @out: where shaders put what they have read
 * @a: object of PAGES pages, the first words of which are A(page)
 * @b: the same with B(page)
 * @map_a: @a for the CPU
 * @map_b: @b for the CPU
 */
struct rig {
	struct asahi_client *client;
	struct asahi_bo out;
	uint32_t a;
	uint32_t b;
	uint32_t *map_a;
	uint32_t *map_b;
};

static uint32_t *exec_bind_new_pages(int fd, uint32_t word, unsigned int pages, uint32_t *handle)
{
	uint32_t *map;
	unsigned int i;

	*handle = igt_asahi_gem_create(fd, pages * PAGE, 0, 0, 0);
	map = igt_asahi_gem_mmap(fd, *handle, pages * PAGE);
	for (i = 0; i < pages; i++)
		map[i * PAGE / 4] = word + i;
	return map;
}

static void exec_bind(struct rig *rig, uint32_t handle, uint32_t flags, uint64_t page,
		      uint64_t pages, uint64_t addr)
{
	igt_asahi_vm_bind_one(rig->client->fd, rig->client->vm, flags, handle, page * PAGE,
			      pages * PAGE, addr, 0);
}

static void exec_bind_unbind(struct rig *rig, uint64_t addr, uint64_t pages)
{
	exec_bind(rig, 0, UNBIND, 0, pages, addr);
}

static struct asahi_command exec_bind_peek_command(struct rig *rig, uint64_t addr, uint64_t out,
						   uint32_t pages)
{
	const uint64_t uniforms[] = { addr, out };
	const struct asahi_dispatch dispatch = {
		.shader = IGT_ASAHI_SHADER_PEEK,
		.uniforms = uniforms,
		.uniform_bytes = sizeof(uniforms),
		.global = { pages, 1, 1 },
		.local = { 32, 1, 1 },
	};

	return igt_asahi_command(rig->client, &dispatch, 1);
}

static struct asahi_command exec_bind_poke_command(struct rig *rig, uint64_t addr, uint32_t pages,
						   uint32_t word)
{
	const struct {
		uint64_t dst;
		uint32_t word;
	} uniforms = { addr, word };
	const struct asahi_dispatch dispatch = {
		.shader = IGT_ASAHI_SHADER_POKE,
		.uniforms = &uniforms,
		.uniform_bytes = sizeof(uniforms),
		.global = { pages, 1, 1 },
		.local = { 32, 1, 1 },
	};

	return igt_asahi_command(rig->client, &dispatch, 1);
}

/* Pages that are mapped show these words. */
static void exec_bind_shows(struct rig *rig, uint64_t addr, const uint32_t *expected,
			    uint32_t pages)
{
	const struct asahi_command command =
		exec_bind_peek_command(rig, addr, rig->out.addr, pages);
	const uint32_t *got = rig->out.map;
	uint32_t i;

	memset(rig->out.map, 0x5a, MAX_PEEK * 4);
	igt_assert_eq(igt_asahi_run(rig->client, &command), 0);
	for (i = 0; i < pages; i++)
		igt_assert_f(got[i] == expected[i], "page 0x%llx shows %08x, not %08x\n",
			     (unsigned long long)(addr + i * PAGE), got[i], expected[i]);
}

/* How a command ends in a queue of its own, which a fault takes with it */
static int exec_bind_run_alone(struct rig *rig, const struct asahi_command *command)
{
	const int fd = rig->client->fd;
	const uint32_t queue = igt_asahi_queue_create(fd, rig->client->vm,
						      DRM_ASAHI_PRIORITY_MEDIUM, 0);
	const struct asahi_sync sync = { .out = syncobj_create(fd, 0) };
	int err;

	igt_asahi_submit(fd, queue, command, 1, &sync);
	err = igt_asahi_wait(fd, sync.out);
	syncobj_destroy(fd, sync.out);
	igt_asahi_queue_destroy(fd, queue, 0);
	return err;
}

static void exec_bind_faults(struct rig *rig, uint64_t addr)
{
	const struct asahi_command command = exec_bind_peek_command(rig, addr, rig->out.addr, 1);

	igt_assert_f(exec_bind_run_alone(rig, &command) == -EIO, "page 0x%llx is mapped\n",
		     (unsigned long long)addr);
}

/**
 * exec_bind_check_range - look at all pages of a range
 * @rig: rig
 * @words: what its PAGES pages show, 0 where nothing is mapped
 *
 * Of several pages beside each other that are not mapped, the first and the last are
 * asked to fault.
 */
static void exec_bind_check_range(struct rig *rig, const uint32_t *words)
{
	unsigned int first, end;

	for (first = 0; first < PAGES; first = end) {
		end = first + 1;
		while (end < PAGES && !words[end] == !words[first])
			end++;
		if (words[first]) {
			exec_bind_shows(rig, VA + first * PAGE, words + first, end - first);
			continue;
		}
		exec_bind_faults(rig, VA + first * PAGE);
		if (end - first > 1)
			exec_bind_faults(rig, VA + (end - 1) * PAGE);
	}
}

/* Parts of PAGES pages */

static const struct part {
	const char *name;
	unsigned int first;
	unsigned int count;
} exec_bind_parts[] = {
	{ "start", 0, 3 },
	{ "middle", 6, 4 },
	{ "end", PAGES - 3, 3 },
	{ "page", 4, 1 },
	{ "all-but-first", 1, PAGES - 1 },
	{ "all-but-last", 0, PAGES - 1 },
	{ "block-start", 0, PAGES / 2 },
	{ "block-end", PAGES / 2, PAGES / 2 },
};

static bool exec_bind_is_in(const struct part *part, unsigned int page)
{
	return page >= part->first && page - part->first < part->count;
}

static void exec_bind_test_unbind(struct rig *rig, const struct part *part)
{
	uint32_t words[PAGES];
	unsigned int i;

	for (i = 0; i < PAGES; i++)
		words[i] = exec_bind_is_in(part, i) ? 0 : A(i);
	exec_bind(rig, rig->a, READ, 0, PAGES, VA);
	exec_bind_unbind(rig, VA + part->first * PAGE, part->count);
	exec_bind_check_range(rig, words);
}

static void exec_bind_test_replace(struct rig *rig, const struct part *part)
{
	uint32_t words[PAGES];
	unsigned int i;

	for (i = 0; i < PAGES; i++)
		words[i] = exec_bind_is_in(part, i) ? B(i - part->first) : A(i);
	exec_bind(rig, rig->a, READ, 0, PAGES, VA);
	exec_bind(rig, rig->b, READ, 0, part->count, VA + part->first * PAGE);
	exec_bind_check_range(rig, words);
	/* The mapping that was split is whole again. */
	for (i = 0; i < PAGES; i++)
		words[i] = A(i);
	exec_bind(rig, rig->a, READ, 0, PAGES, VA);
	exec_bind_check_range(rig, words);
}

static void exec_bind_test_sparse(struct rig *rig, const struct part *part)
{
	uint32_t words[PAGES];
	unsigned int i;

	for (i = 0; i < PAGES; i++)
		words[i] = exec_bind_is_in(part, i) ? 0 : A(9);
	exec_bind(rig, rig->a, READ | SINGLE, 9, PAGES, VA);
	exec_bind_unbind(rig, VA + part->first * PAGE, part->count);
	exec_bind_check_range(rig, words);
}

/* One page is tried at a time: a job that faults may have written some of its pages. */
static void exec_bind_test_read_only(struct rig *rig, const struct part *part)
{
	unsigned int i;

	exec_bind(rig, rig->a, RW, 0, PAGES, VA);
	exec_bind(rig, rig->a, READ, part->first, part->count, VA + part->first * PAGE);
	for (i = 0; i < PAGES; i++) {
		const struct asahi_command poke =
			exec_bind_poke_command(rig, VA + i * PAGE, 1, 0x1000 + i);
		const bool edge = i == part->first || i == part->first + part->count - 1;

		if (exec_bind_is_in(part, i) && !edge)
			continue;
		igt_assert_eq(exec_bind_run_alone(rig, &poke), exec_bind_is_in(part, i) ? -EIO : 0);
		igt_assert_eq_u32(rig->map_a[i * PAGE / 4],
				  exec_bind_is_in(part, i) ? A(i) : 0x1000 + i);
	}
}

static const struct {
	const char *name;
	void (*run)(struct rig *rig, const struct part *part);
} exec_bind_part_tests[] = {
	{ "unbind", exec_bind_test_unbind },
	{ "replace", exec_bind_test_replace },
	{ "read-only", exec_bind_test_read_only },
	{ "sparse", exec_bind_test_sparse },
};

static void exec_bind_test_beyond(struct rig *rig)
{
	uint32_t words[PAGES] = { 0 };
	unsigned int i;

	for (i = 4; i < 8; i++)
		words[i] = A(i);
	exec_bind(rig, rig->a, READ, 2, 10, VA + 2 * PAGE);
	exec_bind_unbind(rig, VA - PAGE, 5);
	exec_bind_unbind(rig, VA + 8 * PAGE, BLOCK / PAGE);
	exec_bind_check_range(rig, words);
}

static void exec_bind_test_merge(struct rig *rig)
{
	static const unsigned int order[] = { 5, 0, 7, 2, 6, 1, 4, 3 };
	uint32_t words[PAGES];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(order); i++)
		exec_bind(rig, rig->a, READ, 2 * order[i], 2, VA + 2 * order[i] * PAGE);
	for (i = 0; i < PAGES; i++)
		words[i] = A(i);
	exec_bind_check_range(rig, words);

	exec_bind(rig, rig->b, READ, 0, 9, VA + 3 * PAGE);
	for (i = 3; i < 12; i++)
		words[i] = B(i - 3);
	exec_bind_check_range(rig, words);
	exec_bind_unbind(rig, VA + PAGE, PAGES - 2);
	memset(words + 1, 0, (PAGES - 2) * sizeof(words[0]));
	exec_bind_check_range(rig, words);
}

static void exec_bind_test_large(struct rig *rig)
{
	const unsigned int block = BLOCK / PAGE, pages = 2 * block + 8;
	const uint64_t start = ASAHI_FREE_START + BLOCK - 4 * PAGE;
	const uint64_t border = ASAHI_FREE_START + BLOCK;
	uint32_t handle;
	uint32_t *map = exec_bind_new_pages(rig->client->fd, 0xc0000000, pages, &handle);
	uint32_t expected[8];
	unsigned int i;

	exec_bind(rig, handle, READ, 0, pages, start);
	for (i = 0; i < 8; i++)
		expected[i] = 0xc0000000 + i;
	exec_bind_shows(rig, start, expected, 8);
	exec_bind_unbind(rig, border, block);
	exec_bind_shows(rig, start, expected, 4);
	exec_bind_faults(rig, border);
	exec_bind_faults(rig, border + BLOCK - PAGE);
	for (i = 0; i < 8; i++)
		expected[i] = 0xc0000000 + block + 4 + i;
	exec_bind_shows(rig, border + BLOCK, expected, 8);
	for (i = 0; i < 4; i++)
		expected[i] = 0xc0000000 + pages - 4 + i;
	exec_bind_shows(rig, start + (pages - 4) * PAGE, expected, 4);
	munmap(map, pages * PAGE);
}

/* Arrays */

#define OP(rig, object, first, count, at) {					\
	.flags = READ, .handle = (rig)->object, .offset = (first) * PAGE,	\
	.range = (count) * PAGE, .addr = VA + (at) * PAGE }
#define NO_OP(count, at) {							\
	.flags = UNBIND, .range = (count) * PAGE, .addr = VA + (at) * PAGE }

static void exec_bind_array(struct rig *rig, const struct drm_asahi_gem_bind_op *ops,
			    unsigned int count)
{
	igt_asahi_vm_bind(rig->client->fd, rig->client->vm, ops, count, 0);
}

/* So that TLBs have what it shows. */
static void exec_bind_show_all_a(struct rig *rig, uint32_t *words)
{
	unsigned int i;

	for (i = 0; i < PAGES; i++)
		words[i] = A(i);
	exec_bind(rig, rig->a, READ, 0, PAGES, VA);
	exec_bind_check_range(rig, words);
}

static void exec_bind_test_array_places(struct rig *rig)
{
	const struct drm_asahi_gem_bind_op ops[] = {
		OP(rig, b, 3, 1, 12), NO_OP(2, 4), OP(rig, b, 0, 2, 1), OP(rig, a, 7, 1, 9),
	};
	uint32_t words[PAGES];

	exec_bind_show_all_a(rig, words);
	exec_bind_array(rig, ops, ARRAY_SIZE(ops));
	words[12] = B(3);
	words[4] = 0;
	words[5] = 0;
	words[1] = B(0);
	words[2] = B(1);
	words[9] = A(7);
	exec_bind_check_range(rig, words);
}

/* Neighbours of a page that is replaced show what they did. */
static void exec_bind_test_array_many_places(struct rig *rig)
{
	const unsigned int places = MAX_PEEK / 2;
	struct drm_asahi_gem_bind_op ops[MAX_PEEK / 2];
	uint32_t words[MAX_PEEK];
	unsigned int i;

	for (i = 0; i < MAX_PEEK; i++) {
		exec_bind(rig, rig->a, READ, i % PAGES, 1, VA + i * PAGE);
		words[i] = A(i % PAGES);
	}
	exec_bind_shows(rig, VA, words, MAX_PEEK);
	for (i = 0; i < places; i++) {
		ops[i] = (struct drm_asahi_gem_bind_op)OP(rig, b, i % PAGES, 1, 2 * i);
		words[2 * i] = B(i % PAGES);
	}
	exec_bind_array(rig, ops, places);
	exec_bind_shows(rig, VA, words, MAX_PEEK);
}

static void exec_bind_test_array_overlaps(struct rig *rig)
{
	const struct drm_asahi_gem_bind_op ops[] = {
		OP(rig, b, 0, 8, 2), NO_OP(3, 4), OP(rig, a, 0, 1, 5), OP(rig, b, 9, 3, 8),
		OP(rig, a, 1, 1, 9), NO_OP(2, 12), NO_OP(1, 1), OP(rig, b, 8, 1, 1),
	};
	uint32_t words[PAGES];

	exec_bind_show_all_a(rig, words);
	exec_bind_array(rig, ops, ARRAY_SIZE(ops));
	words[1] = B(8);
	words[2] = B(0);
	words[3] = B(1);
	words[4] = 0;
	words[5] = A(0);
	words[6] = 0;
	words[7] = B(5);
	words[8] = B(9);
	words[9] = A(1);
	words[10] = B(11);
	words[12] = 0;
	words[13] = 0;
	exec_bind_check_range(rig, words);
}

#define TILES		20

static void exec_bind_check_tiles(struct rig *rig, const uint32_t *words)
{
	const uint32_t zero[] = { A(9), A(9) };
	unsigned int i;

	for (i = 0; i < TILES; i++) {
		exec_bind_shows(rig, VA + i * BLOCK, words + i, 1);
		exec_bind_shows(rig, VA + i * BLOCK + PAGE, zero, 2);
	}
}

static void exec_bind_test_array_sparse(struct rig *rig)
{
	static const uint32_t flags[] = { READ, READ, READ | SINGLE };
	struct drm_asahi_gem_bind_op ops[TILES];
	uint32_t words[TILES];
	unsigned int round, i;

	exec_bind(rig, rig->a, READ | SINGLE, 9, 2 * TILES * BLOCK / PAGE, VA - PAGE);
	for (round = 0; round < ARRAY_SIZE(flags); round++) {
		for (i = 0; i < TILES; i++) {
			const unsigned int page = round == 2 ? 9 : (round + i) % PAGES;

			ops[i] = (struct drm_asahi_gem_bind_op){
				.flags = flags[round],
				.handle = round == 1 ? rig->b : rig->a,
				.offset = page * PAGE,
				.range = PAGE,
				.addr = VA + i * BLOCK,
			};
			words[i] = round == 1 ? B(page) : A(page);
		}
		exec_bind_array(rig, ops, TILES);
		exec_bind_check_tiles(rig, words);
	}
	exec_bind_unbind(rig, VA - PAGE, 2 * TILES * BLOCK / PAGE);
	for (i = 0; i < TILES; i += 5)
		exec_bind_faults(rig, VA + i * BLOCK);
	exec_bind_faults(rig, VA - PAGE);
	exec_bind_faults(rig, VA + TILES * BLOCK);
}

/* Arrays that fail */

static const struct bad_op {
	const char *name;
	struct drm_asahi_gem_bind_op op;
	int err;
} exec_bind_bad_ops[] = {
	{ "unaligned", { .flags = READ, .range = PAGE, .addr = VA + 1 }, EINVAL },
	{ "unknown-handle", { .flags = READ, .handle = 0x7fffffff, .range = PAGE, .addr = VA },
	  ENOENT },
	{ "beyond-object", { .flags = READ, .offset = PAGES * PAGE, .range = PAGE, .addr = VA },
	  EINVAL },
	{ "kernel-range", { .flags = READ, .range = PAGE, .addr = UINT64_MAX }, EINVAL },
	{ "unknown-flag", { .flags = READ | 1 << 4, .range = PAGE, .addr = VA }, EINVAL },
};

static struct drm_asahi_gem_bind_op exec_bind_bad_op(struct rig *rig, const struct bad_op *bad)
{
	struct drm_asahi_gem_bind_op op = bad->op;
	struct drm_asahi_params_global params;

	if (!op.handle)
		op.handle = rig->b;
	if (op.addr == UINT64_MAX) {
		igt_asahi_get_params(rig->client->fd, 0, &params, sizeof(params), 0);
		op.addr = params.vm_end - PAGE;
	}
	return op;
}

static void exec_bind_test_array_fails(struct rig *rig, const struct bad_op *bad)
{
	const struct drm_asahi_gem_bind_op good[] = {
		{ .flags = READ, .handle = rig->b, .range = 4 * PAGE, .addr = VA },
		{ .flags = UNBIND, .range = 2 * PAGE, .addr = VA + 5 * PAGE },
		{ .flags = READ | SINGLE, .handle = rig->b, .range = BLOCK, .addr = VA + 8 * PAGE },
	};
	struct drm_asahi_gem_bind_op ops[ARRAY_SIZE(good) + 1];
	uint32_t words[PAGES] = { 0 };
	unsigned int i, position;

	for (i = 0; i < 8; i++)
		words[i] = A(i);
	exec_bind(rig, rig->a, READ, 0, 8, VA);
	for (position = 0; position < ARRAY_SIZE(ops); position++) {
		for (i = 0; i < ARRAY_SIZE(ops); i++)
			ops[i] = i == position ? exec_bind_bad_op(rig, bad)
					       : good[i - (i > position)];
		igt_asahi_vm_bind(rig->client->fd, rig->client->vm, ops, ARRAY_SIZE(ops),
				  bad->err);
		exec_bind_check_range(rig, words);
	}
}

/* Threads, which share an address space and have a queue and two pages each */

struct thread {
	pthread_t id;
	int fd;
	uint32_t vm;
	uint32_t queue;
	uint32_t syncobj;
	uint32_t handles[2];
	uint64_t addr;
	struct asahi_command command;
	const volatile uint32_t *got;
	int err;
	unsigned int wrong;
};

static int exec_bind_thread_round(struct thread *thread, unsigned int round)
{
	const uint32_t first = round % (PAGES - 1);
	const struct drm_asahi_gem_bind_op op = {
		.flags = READ,
		.handle = thread->handles[round % 2],
		.offset = first * PAGE,
		.range = 2 * PAGE,
		.addr = thread->addr,
	};
	struct drm_asahi_vm_bind args = {
		.vm_id = thread->vm,
		.num_binds = 1,
		.stride = sizeof(op),
		.userptr = (uintptr_t)&op,
	};
	const struct asahi_sync sync = { .out = thread->syncobj };
	const uint32_t word = round % 2 ? B(first) : A(first);
	int err;

	if (drmIoctl(thread->fd, DRM_IOCTL_ASAHI_VM_BIND, &args))
		return -errno;
	err = __igt_asahi_submit(thread->fd, thread->queue, &thread->command, 1, &sync);
	if (!err)
		err = igt_asahi_wait(thread->fd, thread->syncobj);
	thread->wrong += thread->got[0] != word || thread->got[1] != word + 1;
	return err;
}

static void *exec_bind_thread_main(void *data)
{
	struct thread *thread = data;
	unsigned int i;

	for (i = 0; i < THREAD_ROUNDS && !thread->err; i++)
		thread->err = exec_bind_thread_round(thread, i);
	return NULL;
}

static void exec_bind_test_threads(struct rig *rig)
{
	struct thread threads[THREADS];
	unsigned int i;

	for (i = 0; i < THREADS; i++) {
		/* Beside each other, with the border of a table among them */
		const uint64_t addr = VA + (PAGES / 2 - THREADS + 2 * i) * PAGE;

		threads[i] = (struct thread) {
			.fd = rig->client->fd,
			.vm = rig->client->vm,
			.queue = igt_asahi_queue_create(rig->client->fd, rig->client->vm,
							DRM_ASAHI_PRIORITY_MEDIUM, 0),
			.syncobj = syncobj_create(rig->client->fd, 0),
			.handles = { rig->a, rig->b },
			.addr = addr,
			.command = exec_bind_peek_command(rig, addr, rig->out.addr + i * 64, 2),
			.got = (uint32_t *)rig->out.map + i * 16,
		};
	}
	for (i = 0; i < THREADS; i++)
		igt_assert_eq(
			pthread_create(&threads[i].id, NULL, exec_bind_thread_main, &threads[i]),
			0);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i].id, NULL);
	for (i = 0; i < THREADS; i++) {
		igt_assert_eq(threads[i].err, 0);
		igt_assert_eq(threads[i].wrong, 0);
	}
}

/* Under a job that is running: it waits at the gate, then writes to VA. */

#define WRITTEN	0x600d

static uint32_t exec_bind_start_job(struct rig *rig)
{
	struct asahi_command commands[] = {
		igt_asahi_store_word(rig->client, ASAHI_RESULT, 1),
		igt_asahi_gate_at(rig->client, igt_asahi_word_addr(rig->client, ASAHI_GATE), VA,
				  WRITTEN),
	};
	const struct asahi_sync sync = { .out = syncobj_create(rig->client->fd, 0) };

	commands[1] = igt_asahi_after(commands[1], 1);
	igt_asahi_submit(rig->client->fd, rig->client->queue, commands, 2, &sync);
	/* So it has begun, or is about to. */
	igt_assert(igt_asahi_word_becomes(rig->client, ASAHI_RESULT, 1));
	return sync.out;
}

static int exec_bind_end_job(struct rig *rig, uint32_t syncobj)
{
	igt_assert(!igt_asahi_signalled(rig->client->fd, syncobj));
	rig->client->words[ASAHI_GATE] = 1;
	return igt_asahi_wait(rig->client->fd, syncobj);
}

static void exec_bind_test_running_beside(struct rig *rig)
{
	uint32_t syncobj;
	unsigned int i;

	exec_bind(rig, rig->a, RW, 0, PAGES, VA);
	syncobj = exec_bind_start_job(rig);
	for (i = 0; i < 50; i++) {
		exec_bind_unbind(rig, VA + PAGE, PAGES - 1);
		exec_bind_unbind(rig, VA - 4 * PAGE, 4);
		exec_bind(rig, rig->b, RW, 0, 4, VA - 4 * PAGE);
		exec_bind(rig, rig->b, RW, 1, PAGES - 1, VA + PAGE);
	}
	igt_assert_eq(exec_bind_end_job(rig, syncobj), 0);
	igt_assert_eq_u32(rig->map_a[0], WRITTEN);
	igt_assert_eq_u32(rig->map_b[0], B(0));
}

static void exec_bind_test_running_replaced(struct rig *rig)
{
	uint32_t syncobj;

	exec_bind(rig, rig->a, RW, 0, 1, VA);
	syncobj = exec_bind_start_job(rig);
	exec_bind(rig, rig->b, RW, 3, 1, VA);
	igt_assert_eq(exec_bind_end_job(rig, syncobj), 0);
	igt_assert_eq_u32(rig->map_a[0], A(0));
	igt_assert_eq_u32(rig->map_b[3 * PAGE / 4], WRITTEN);
}

static void exec_bind_test_running_unbound(struct rig *rig)
{
	uint32_t syncobj;

	exec_bind(rig, rig->a, RW, 0, 1, VA);
	syncobj = exec_bind_start_job(rig);
	exec_bind_unbind(rig, VA, 1);
	igt_assert_eq(exec_bind_end_job(rig, syncobj), -EIO);
	igt_assert_eq_u32(rig->map_a[0], A(0));
}

static const struct {
	const char *name;
	const char *text;
	void (*run)(struct rig *rig);
} exec_bind_tests[] = {
	{"beyond", "More is unbound than was mapped.", exec_bind_test_beyond},
	{"merge", "Pieces that are bound one by one.", exec_bind_test_merge},
	{"large", "More than two page tables.", exec_bind_test_large},
	{"array-places", "An array changes a few places.", exec_bind_test_array_places},
	{"array-many-places", "An array changes many places.", exec_bind_test_array_many_places},
	{"array-overlaps", "Binds of an array overlap.", exec_bind_test_array_overlaps},
	{"array-sparse", "Arrays of tiles in a sparse range.", exec_bind_test_array_sparse},
	{"threads", "Threads bind neighbouring ranges.", exec_bind_test_threads},
	{"running-beside", "Beside what a running job uses.", exec_bind_test_running_beside},
	{"running-replaced", "A running job's memory is replaced.",
	 exec_bind_test_running_replaced},
	{"running-unbound", "A running job's memory goes.", exec_bind_test_running_unbound},
};

static void exec_bind_rig_init(struct rig *rig, int fd)
{
	rig->client = igt_asahi_client_open(fd);
	rig->out = igt_asahi_bo_create(rig->client, PAGE);
	rig->map_a = exec_bind_new_pages(rig->client->fd, A(0), PAGES, &rig->a);
	rig->map_b = exec_bind_new_pages(rig->client->fd, B(0), PAGES, &rig->b);
}

/* Also after a test that has failed */
static void exec_bind_rig_fini(struct rig *rig)
{
	if (rig->map_a)
		munmap(rig->map_a, PAGES * PAGE);
	if (rig->map_b)
		munmap(rig->map_b, PAGES * PAGE);
	if (rig->out.map)
		munmap(rig->out.map, rig->out.size);
	memset(rig, 0, sizeof(*rig));
	igt_asahi_clients_close();
}

int igt_main()
{
	static struct rig rig;
	unsigned int i, j;
	int fd;

	igt_fixture() {
		fd = drm_open_driver_render(DRIVER_ASAHI);
	}

	igt_describe("Parts of a range of pages.");
	for (i = 0; i < ARRAY_SIZE(exec_bind_part_tests); i++) {
		for (j = 0; j < ARRAY_SIZE(exec_bind_parts); j++) {
			igt_subtest_f("%s-%s", exec_bind_part_tests[i].name,
				      exec_bind_parts[j].name)
			{
				exec_bind_rig_init(&rig, fd);
				exec_bind_part_tests[i].run(&rig, &exec_bind_parts[j]);
			}
			igt_fixture() {
				exec_bind_rig_fini(&rig);
			}
		}
	}

	igt_describe("Arrays with a bad operation change nothing.");
	for (i = 0; i < ARRAY_SIZE(exec_bind_bad_ops); i++) {
		igt_subtest_f("array-fails-%s", exec_bind_bad_ops[i].name) {
			exec_bind_rig_init(&rig, fd);
			exec_bind_test_array_fails(&rig, &exec_bind_bad_ops[i]);
		}
		igt_fixture() {
			exec_bind_rig_fini(&rig);
		}
	}

	for (i = 0; i < ARRAY_SIZE(exec_bind_tests); i++) {
		igt_describe(exec_bind_tests[i].text);
		igt_subtest(exec_bind_tests[i].name) {
			exec_bind_rig_init(&rig, fd);
			exec_bind_tests[i].run(&rig);
		}
		igt_fixture() {
			exec_bind_rig_fini(&rig);
		}
	}

	igt_fixture() {
		drm_close_driver(fd);
	}
}
