// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "asahi/asahi_compute.h"
#include "igt.h"
#include "igt_syncobj.h"

/**
 * TEST: asahi exec vm
 * Description: Mappings of VM_BIND, as shaders see them: they read a word of each page
 *	of a range, and pages carry words that say where they come from.
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: VM_BIND
 * Test category: functionality test
 *
 * SUBTEST: offset
 * Description: A range begins in the middle of an object.
 *
 * SUBTEST: aliases
 * Description: An object is mapped twice; one of the two goes.
 *
 * SUBTEST: replace-middle
 * Description: Another object replaces the middle of a range.
 *
 * SUBTEST: replace-across
 * Description: Another object replaces the border of two ranges.
 *
 * SUBTEST: block-border
 * Description: Ranges cross the border of a page table.
 *
 * SUBTEST: single-page
 * Description: One page shows in all of a range, and in what is left of it.
 *
 * SUBTEST: single-page-large
 * Description: The same for 16 GiB.
 *
 * SUBTEST: single-page-unbind
 * Description: Such a range is taken down around two pages.
 *
 * SUBTEST: order
 * Description: Operations of an array take effect in order.
 *
 * SUBTEST: all-or-nothing
 * Description: An array with a bad operation changes nothing.
 *
 * SUBTEST: stale-translation
 * Description: No old translation is used, also where the GPU has seen one.
 *
 * SUBTEST: read-only
 * Description: Memory that may only be read.
 *
 * SUBTEST: write-only
 * Description: Memory that may only be written.
 *
 * SUBTEST: close
 * Description: Closing a handle unmaps what it was mapped to, and nothing else.
 *
 * SUBTEST: import
 * Description: Memory of another file.
 *
 * SUBTEST: private
 * Description: Memory that belongs to the address space.
 *
 * SUBTEST: destroyed
 * Description: A queue keeps its address space.
 *
 * SUBTEST: many
 * Description: The most operations that one call takes.
 *
 * SUBTEST: random
 * Description: Random binds against an array that says what each page shows.
 */

#define PAGE		IGT_ASAHI_PAGE
#define BLOCK		(32ULL << 20)
#define PAGES		16
#define MAX_PEEK	64
#define MAX_BINDS	65536

#define READ		DRM_ASAHI_BIND_READ
#define WRITE		DRM_ASAHI_BIND_WRITE
#define RW		(READ | WRITE)
#define SINGLE		DRM_ASAHI_BIND_SINGLE_PAGE
#define UNBIND		DRM_ASAHI_BIND_UNBIND

/* Addresses for the test. */
#define VA		ASAHI_FREE_START
#define SIZE		ASAHI_FREE_SIZE

/* The word in page n of object a or b. */
#define A(n)		(0xa0000000u + (n))
#define B(n)		(0xb0000000u + (n))

/**
 * struct rig - what each test starts with
 * @client: the client
 * @out: where a shader puts what it has read
 * @a: object of PAGES pages, the first words of which are A(page)
 * @b: the same with B(page)
 * @map_a: @a for the CPU
 */
struct rig {
	struct asahi_client *client;
	struct asahi_bo out;
	uint32_t a;
	uint32_t b;
	uint32_t *map_a;
};

static uint32_t *exec_vm_new_pages(int fd, uint32_t word, uint32_t *handle)
{
	uint32_t *map;
	unsigned int i;

	*handle = igt_asahi_gem_create(fd, PAGES * PAGE, 0, 0, 0);
	map = igt_asahi_gem_mmap(fd, *handle, PAGES * PAGE);
	for (i = 0; i < PAGES; i++)
		map[i * PAGE / 4] = word + i;
	return map;
}

static struct drm_asahi_gem_bind_op exec_vm_bind_op(uint32_t handle, uint32_t flags,
						    uint64_t offset, uint64_t range, uint64_t addr)
{
	return (struct drm_asahi_gem_bind_op){
		.flags = flags,
		.handle = handle,
		.offset = offset,
		.range = range,
		.addr = addr,
	};
}

static void exec_vm_bind(struct rig *rig, uint32_t handle, uint32_t flags, uint64_t page,
			 uint64_t pages, uint64_t addr)
{
	igt_asahi_vm_bind_one(rig->client->fd, rig->client->vm, flags, handle, page * PAGE,
			      pages * PAGE, addr, 0);
}

static void exec_vm_unbind(struct rig *rig, uint64_t addr, uint64_t size)
{
	igt_asahi_vm_bind_one(rig->client->fd, rig->client->vm, UNBIND, 0, 0, size, addr, 0);
}

static void exec_vm_bind_array(struct rig *rig, const struct drm_asahi_gem_bind_op *ops,
			       uint32_t count)
{
	igt_asahi_vm_bind(rig->client->fd, rig->client->vm, ops, count, 0);
}

static struct asahi_command exec_vm_peek_command(struct rig *rig, uint64_t addr, uint32_t pages)
{
	const uint64_t uniforms[] = { addr, rig->out.addr };
	const struct asahi_dispatch dispatch = {
		.shader = IGT_ASAHI_SHADER_PEEK,
		.uniforms = uniforms,
		.uniform_bytes = sizeof(uniforms),
		.global = { pages, 1, 1 },
		.local = { 32, 1, 1 },
	};

	memset(rig->out.map, 0x5a, MAX_PEEK * 4);
	return igt_asahi_command(rig->client, &dispatch, 1);
}

static int exec_vm_peek(struct rig *rig, uint64_t addr, uint32_t pages)
{
	const struct asahi_command command = exec_vm_peek_command(rig, addr, pages);

	return igt_asahi_run(rig->client, &command);
}

static int exec_vm_poke(struct rig *rig, uint64_t addr, uint32_t pages, uint32_t word)
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
	const struct asahi_command command = igt_asahi_command(rig->client, &dispatch, 1);

	return igt_asahi_run(rig->client, &command);
}

static void exec_vm_check(struct rig *rig, uint64_t addr, const uint32_t *expected, uint32_t pages)
{
	const uint32_t *got = rig->out.map;
	uint32_t i;

	igt_assert_eq(exec_vm_peek(rig, addr, pages), 0);
	for (i = 0; i < pages; i++)
		igt_assert_f(got[i] == expected[i], "page 0x%llx shows %08x, not %08x\n",
			     (unsigned long long)(addr + i * PAGE), got[i], expected[i]);
}

#define CHECK(rig, addr, ...)						\
	exec_vm_check(rig, addr, (const uint32_t[]){ __VA_ARGS__ },		\
		      ARRAY_SIZE(((const uint32_t[]){ __VA_ARGS__ })))

static void exec_vm_test_offset(struct rig *rig)
{
	exec_vm_bind(rig, rig->a, READ, 5, 3, VA);
	CHECK(rig, VA, A(5), A(6), A(7));
}

static void exec_vm_test_aliases(struct rig *rig)
{
	exec_vm_bind(rig, rig->a, RW, 0, 4, VA);
	exec_vm_bind(rig, rig->a, READ, 2, 2, VA + BLOCK);
	igt_assert_eq(exec_vm_poke(rig, VA, 4, 0x1000), 0);
	CHECK(rig, VA + BLOCK, 0x1002, 0x1003);
	exec_vm_unbind(rig, VA, 4 * PAGE);
	CHECK(rig, VA + BLOCK, 0x1002, 0x1003);
}

static void exec_vm_test_replace_middle(struct rig *rig)
{
	exec_vm_bind(rig, rig->a, READ, 0, 6, VA);
	CHECK(rig, VA, A(0), A(1), A(2), A(3), A(4), A(5));
	exec_vm_bind(rig, rig->b, READ, 8, 2, VA + 2 * PAGE);
	CHECK(rig, VA, A(0), A(1), B(8), B(9), A(4), A(5));
}

static void exec_vm_test_replace_across(struct rig *rig)
{
	exec_vm_bind(rig, rig->a, READ, 0, 3, VA);
	exec_vm_bind(rig, rig->a, READ, 8, 3, VA + 3 * PAGE);
	exec_vm_bind(rig, rig->b, READ, 1, 4, VA + PAGE);
	CHECK(rig, VA, A(0), B(1), B(2), B(3), B(4), A(10));
}

static void exec_vm_test_block_border(struct rig *rig)
{
	const uint64_t va = VA + BLOCK - 3 * PAGE;

	exec_vm_bind(rig, rig->a, READ, 0, 6, va);
	exec_vm_bind(rig, rig->b, READ, 0, 2, va + 2 * PAGE);
	CHECK(rig, va, A(0), A(1), B(0), B(1), A(4), A(5));
}

static void exec_vm_test_single_page(struct rig *rig)
{
	exec_vm_bind(rig, rig->a, READ | SINGLE, 7, 6, VA);
	CHECK(rig, VA, A(7), A(7), A(7), A(7), A(7), A(7));
	/* The pages on both sides still show page 7. */
	exec_vm_bind(rig, rig->b, READ, 1, 1, VA + 2 * PAGE);
	CHECK(rig, VA, A(7), A(7), B(1), A(7), A(7), A(7));
	/* And so does what is left of that, whose offset was restored. */
	exec_vm_bind(rig, rig->b, READ, 2, 1, VA + 4 * PAGE);
	CHECK(rig, VA, A(7), A(7), B(1), A(7), B(2), A(7));
}

static void exec_vm_test_single_page_large(struct rig *rig)
{
	const struct drm_asahi_gem_bind_op ops[] = {
		exec_vm_bind_op(rig->a, READ | SINGLE, 3 * PAGE, SIZE, VA),
		exec_vm_bind_op(rig->b, READ, 0, 2 * PAGE, VA + SIZE / 2 - PAGE),
		exec_vm_bind_op(rig->b, READ | SINGLE, 4 * PAGE, 3 * BLOCK, VA + SIZE / 4 + PAGE),
	};

	exec_vm_bind_array(rig, ops, ARRAY_SIZE(ops));
	CHECK(rig, VA, A(3), A(3));
	CHECK(rig, VA + SIZE - 2 * PAGE, A(3), A(3));
	CHECK(rig, VA + SIZE / 2 - 2 * PAGE, A(3), B(0), B(1), A(3));
	CHECK(rig, VA + SIZE / 4, A(3), B(4));
	CHECK(rig, VA + SIZE / 4 + 2 * BLOCK, B(4), B(4));
	CHECK(rig, VA + SIZE / 4 + 3 * BLOCK, B(4), A(3));
}

static void exec_vm_test_single_page_unbind(struct rig *rig)
{
	const uint64_t page = VA + 5 * BLOCK + 9 * PAGE;

	exec_vm_bind(rig, rig->a, READ | SINGLE, 3, SIZE / PAGE, VA);
	exec_vm_unbind(rig, VA, page - VA);
	exec_vm_unbind(rig, page + 2 * PAGE, VA + SIZE - page - 2 * PAGE);
	CHECK(rig, page, A(3), A(3));
	igt_assert_eq(exec_vm_peek(rig, page + PAGE, 2), -EIO);
}

static void exec_vm_test_order(struct rig *rig)
{
	const struct drm_asahi_gem_bind_op ops[] = {
		exec_vm_bind_op(rig->a, READ, 0, 8 * PAGE, VA),
		exec_vm_bind_op(rig->b, READ, 0, 4 * PAGE, VA + 2 * PAGE),
		exec_vm_bind_op(0, UNBIND, 0, 16 * PAGE, VA + 3 * PAGE),
		exec_vm_bind_op(rig->a, READ | SINGLE, 15 * PAGE, 2 * PAGE, VA + 3 * PAGE),
		exec_vm_bind_op(rig->b, READ, 7 * PAGE, PAGE, VA + 4 * PAGE),
	};

	exec_vm_bind_array(rig, ops, ARRAY_SIZE(ops));
	CHECK(rig, VA, A(0), A(1), B(0), A(15), B(7));
	igt_assert_eq(exec_vm_peek(rig, VA + 4 * PAGE, 2), -EIO);
}

static void exec_vm_test_all_or_nothing(struct rig *rig)
{
	const struct drm_asahi_gem_bind_op ops[] = {
		exec_vm_bind_op(rig->b, READ, 0, 4 * PAGE, VA),
		exec_vm_bind_op(0, UNBIND, 0, PAGE, VA + 4 * PAGE),
		exec_vm_bind_op(rig->b, READ | SINGLE, 0, SIZE, VA),
		exec_vm_bind_op(rig->b, READ, PAGES * PAGE, PAGE, VA),
	};

	exec_vm_bind(rig, rig->a, READ, 0, 6, VA);
	igt_asahi_vm_bind(rig->client->fd, rig->client->vm, ops, ARRAY_SIZE(ops), EINVAL);
	CHECK(rig, VA, A(0), A(1), A(2), A(3), A(4), A(5));
	igt_assert_eq(exec_vm_peek(rig, VA + 6 * PAGE, 1), -EIO);
}

/* The GPU has used the old translation, so it may have it in its TLB. */
static void exec_vm_test_stale_translation(struct rig *rig)
{
	unsigned int i;

	for (i = 0; i < 20; i++) {
		exec_vm_bind(rig, i % 2 ? rig->a : rig->b, READ, i % PAGES, 1, VA);
		CHECK(rig, VA, i % 2 ? A(i % PAGES) : B(i % PAGES));
	}
	exec_vm_unbind(rig, VA, PAGE);
	igt_assert_eq(exec_vm_peek(rig, VA, 1), -EIO);
}

static void exec_vm_test_read_only(struct rig *rig)
{
	exec_vm_bind(rig, rig->a, READ, 0, 1, VA);
	CHECK(rig, VA, A(0));
	igt_assert_eq(exec_vm_poke(rig, VA, 1, 1), -EIO);
	igt_assert_eq_u32(rig->map_a[0], A(0));
}

static void exec_vm_test_write_only(struct rig *rig)
{
	exec_vm_bind(rig, rig->a, WRITE, 0, 1, VA);
	igt_assert_eq(exec_vm_poke(rig, VA, 1, 0x77), 0);
	igt_assert_eq_u32(rig->map_a[0], 0x77);
	igt_assert_eq(exec_vm_peek(rig, VA, 1), -EIO);
}

static void exec_vm_test_close(struct rig *rig)
{
	const uint32_t handle = igt_asahi_gem_create(rig->client->fd, PAGES * PAGE, 0, 0, 0);
	const struct drm_asahi_gem_bind_op ops[] = {
		exec_vm_bind_op(handle, READ, 0, PAGES * PAGE, VA),
		exec_vm_bind_op(handle, READ | SINGLE, 0, SIZE / 2, VA + SIZE / 2),
		exec_vm_bind_op(rig->a, READ, 0, PAGE, VA + PAGE),
	};

	exec_vm_bind_array(rig, ops, ARRAY_SIZE(ops));
	CHECK(rig, VA, 0, A(0), 0);
	CHECK(rig, VA + SIZE - PAGE, 0);
	gem_close(rig->client->fd, handle);
	/* Others stay. */
	CHECK(rig, VA + PAGE, A(0));
	igt_assert_eq(exec_vm_peek(rig, VA + SIZE - PAGE, 1), -EIO);
}

/* Memory of one file in the address space of another. */
static void exec_vm_test_import(struct rig *rig)
{
	int other = drm_reopen_driver(rig->client->fd);
	uint32_t handle, imported;
	int dmabuf;

	munmap(exec_vm_new_pages(other, B(0), &handle), PAGES * PAGE);
	dmabuf = prime_handle_to_fd(other, handle);
	imported = prime_fd_to_handle(rig->client->fd, dmabuf);
	close(dmabuf);
	drm_close_driver(other);
	exec_vm_bind(rig, imported, READ, 4, 2, VA);
	CHECK(rig, VA, B(4), B(5));
}

static void exec_vm_test_private(struct rig *rig)
{
	const uint32_t handle = igt_asahi_gem_create(rig->client->fd, PAGE,
						     DRM_ASAHI_GEM_VM_PRIVATE, rig->client->vm, 0);
	uint32_t *map = igt_asahi_gem_mmap(rig->client->fd, handle, PAGE);

	map[0] = 0x4711;
	exec_vm_bind(rig, handle, READ, 0, 1, VA);
	CHECK(rig, VA, 0x4711);
	munmap(map, PAGE);
}

/* Whatever its owner does to it. */
static void exec_vm_test_destroyed(struct rig *rig)
{
	const uint32_t *got = rig->out.map;
	struct asahi_command command;

	exec_vm_bind(rig, rig->a, READ, 9, 4, VA);
	command = exec_vm_peek_command(rig, VA, 4);
	igt_asahi_vm_destroy(rig->client->fd, rig->client->vm, 0);
	igt_asahi_vm_bind_one(rig->client->fd, rig->client->vm, UNBIND, 0, 0, PAGE, VA, ENOENT);
	igt_assert_eq(igt_asahi_run(rig->client, &command), 0);
	igt_assert_eq_u32(got[0], A(9));
	igt_assert_eq_u32(got[3], A(12));
}

static void exec_vm_test_many(struct rig *rig)
{
	struct drm_asahi_gem_bind_op *ops = calloc(MAX_BINDS, sizeof(*ops));
	uint32_t i;

	igt_assert(ops);
	for (i = 0; i < MAX_BINDS; i++)
		ops[i] = exec_vm_bind_op(i % 2 ? rig->a : rig->b, READ, i % PAGES * PAGE, PAGE,
					 VA + i * PAGE);
	exec_vm_bind_array(rig, ops, MAX_BINDS);
	free(ops);
	CHECK(rig, VA, B(0), A(1), B(2), A(3));
	CHECK(rig, VA + (MAX_BINDS - 2) * PAGE, B(14), A(15));
}

/* Pages where nothing should be are not looked at: a fault would end it. */
#define RANDOM_PAGES	40
#define RANDOM_VA	(VA + BLOCK - 20 * PAGE)

static struct drm_asahi_gem_bind_op exec_vm_random_change(struct rig *rig, uint32_t *model)
{
	uint32_t first = rand() % RANDOM_PAGES;
	uint32_t count = 1 + rand() % (RANDOM_PAGES - first);
	uint32_t page = rand() % PAGES;
	bool second = rand() % 2;
	uint32_t kind = rand() % 3;
	uint64_t addr = RANDOM_VA + first * PAGE;
	uint32_t i;

	if (kind == 0 && count > PAGES - page)
		count = PAGES - page;
	for (i = 0; i < count; i++) {
		uint32_t n = page + (kind == 1 ? 0 : i);

		model[first + i] = kind == 2 ? 0 : second ? B(n) : A(n);
	}
	if (kind == 2)
		return exec_vm_bind_op(0, UNBIND, 0, count * PAGE, addr);
	return exec_vm_bind_op(second ? rig->b : rig->a, kind == 1 ? READ | SINGLE : READ,
			       page * PAGE, count * PAGE, addr);
}

static void exec_vm_check_model(struct rig *rig, const uint32_t *model)
{
	uint32_t first, end;

	for (first = 0; first < RANDOM_PAGES; first = end + 1) {
		end = first;
		while (end < RANDOM_PAGES && model[end])
			end++;
		if (end > first)
			exec_vm_check(rig, RANDOM_VA + first * PAGE, model + first, end - first);
	}
}

static void exec_vm_test_random(struct rig *rig)
{
	uint32_t model[RANDOM_PAGES] = { 0 };
	struct drm_asahi_gem_bind_op ops[5];
	unsigned int round, i, count;

	srand(29);
	for (round = 0; round < 40; round++) {
		count = 1 + rand() % ARRAY_SIZE(ops);
		for (i = 0; i < count; i++)
			ops[i] = exec_vm_random_change(rig, model);
		exec_vm_bind_array(rig, ops, count);
		exec_vm_check_model(rig, model);
	}
}

static const struct {
	const char *name;
	const char *text;
	void (*run)(struct rig *rig);
} exec_vm_tests[] = {
	{ "offset", "A range begins in the middle of an object.", exec_vm_test_offset },
	{ "aliases", "An object is mapped twice; one of the two goes.", exec_vm_test_aliases },
	{ "replace-middle", "Another object replaces the middle.", exec_vm_test_replace_middle },
	{ "replace-across", "Another object replaces a border.", exec_vm_test_replace_across },
	{ "block-border", "Ranges cross the border of a table.", exec_vm_test_block_border },
	{ "single-page", "One page shows in all of a range.", exec_vm_test_single_page },
	{ "single-page-large", "The same for 16 GiB.", exec_vm_test_single_page_large },
	{ "single-page-unbind", "Such a range is taken down.", exec_vm_test_single_page_unbind },
	{ "order", "Operations take effect in order.", exec_vm_test_order },
	{ "all-or-nothing", "A bad operation changes nothing.", exec_vm_test_all_or_nothing },
	{ "stale-translation", "No old translation is used.", exec_vm_test_stale_translation },
	{ "read-only", "Memory that may only be read.", exec_vm_test_read_only },
	{ "write-only", "Memory that may only be written.", exec_vm_test_write_only },
	{ "close", "Closing a handle unmaps its memory only.", exec_vm_test_close },
	{ "import", "Memory of another file.", exec_vm_test_import },
	{ "private", "Memory that belongs to the address space.", exec_vm_test_private },
	{ "destroyed", "A queue keeps its address space.", exec_vm_test_destroyed },
	{ "many", "The most operations that one call takes.", exec_vm_test_many },
	{ "random", "Random binds against a model.", exec_vm_test_random },
};

static void exec_vm_run(int fd, void (*test)(struct rig *rig))
{
	struct rig rig = { .client = igt_asahi_client_open(fd) };

	rig.out = igt_asahi_bo_create(rig.client, MAX_PEEK * 4);
	rig.map_a = exec_vm_new_pages(rig.client->fd, A(0), &rig.a);
	munmap(exec_vm_new_pages(rig.client->fd, B(0), &rig.b), PAGES * PAGE);
	test(&rig);
	munmap(rig.map_a, PAGES * PAGE);
	munmap(rig.out.map, rig.out.size);
}

int igt_main()
{
	unsigned int i;
	int fd;

	igt_fixture() {
		fd = drm_open_driver_render(DRIVER_ASAHI);
	}

	for (i = 0; i < ARRAY_SIZE(exec_vm_tests); i++) {
		igt_describe(exec_vm_tests[i].text);
		igt_subtest(exec_vm_tests[i].name) {
			exec_vm_run(fd, exec_vm_tests[i].run);
		}
		igt_fixture() {
			igt_asahi_clients_close();
		}
	}

	igt_fixture() {
		drm_close_driver(fd);
	}
}
