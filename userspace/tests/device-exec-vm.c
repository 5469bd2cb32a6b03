// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What VM_BIND maps, as shaders see it: they read a word of each page of a
 * range, and pages carry words that say where they come from.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xf86drm.h>

#include "compute.h"

#define PAGE		UINT64_C(0x4000)
#define MIB		(UINT64_C(1) << 20)
#define GIB		(UINT64_C(1) << 30)
#define BLOCK		(32 * MIB)
#define PAGES		16
#define MAX_PEEK	64

#define READ		DRM_ASAHI_BIND_READ
#define WRITE		DRM_ASAHI_BIND_WRITE
#define RW		(READ | WRITE)
#define SINGLE		DRM_ASAHI_BIND_SINGLE_PAGE
#define UNBIND		DRM_ASAHI_BIND_UNBIND

/* The word in page n of buffer b. */
#define A(n)		(0xa0000000u + (n))
#define B(n)		(0xb0000000u + (n))

/**
 * struct rig - what each test starts with
 * @gpu: device, with an address space and a queue of its own
 * @peek: shader that reads
 * @poke: shader that writes
 * @out: where @peek puts what it has read
 * @a: buffer of PAGES pages, the first words of which are A(page)
 * @b: the same with B(page)
 * @va: addresses for the test, @size bytes, a multiple of BLOCK
 * @size: how many
 */
struct rig {
	struct compute gpu;
	struct compute_program peek;
	struct compute_program poke;
	struct compute_buffer out;
	struct asahi_bo *a;
	struct asahi_bo *b;
	uint64_t va;
	uint64_t size;
};

static struct drm_asahi_gem_bind_op bind_op(struct asahi_bo *bo, uint32_t flags,
					    uint64_t offset, uint64_t range,
					    uint64_t addr)
{
	return (struct drm_asahi_gem_bind_op){
		.flags = flags,
		.handle = bo ? asahi_bo_handle(bo) : 0,
		.offset = offset,
		.range = range,
		.addr = addr,
	};
}

static int bind(struct rig *rig, struct asahi_bo *bo, uint32_t flags,
		uint64_t page, uint64_t pages, uint64_t addr)
{
	struct drm_asahi_gem_bind_op op =
		bind_op(bo, flags, page * PAGE, pages * PAGE, addr);

	return asahi_vm_bind(rig->gpu.vm, &op, 1);
}

static int unbind(struct rig *rig, uint64_t addr, uint64_t size)
{
	struct drm_asahi_gem_bind_op op = bind_op(NULL, UNBIND, 0, size, addr);

	return asahi_vm_bind(rig->gpu.vm, &op, 1);
}

static int run(struct rig *rig, const struct compute_program *program,
	       const void *uniforms, size_t bytes, uint32_t threads)
{
	const struct compute_dispatch dispatch = {
		.program = program,
		.uniforms = uniforms,
		.uniform_bytes = bytes,
		.global = { threads, 1, 1 },
		.local = { 32, 1, 1 },
	};
	struct compute_stream stream;
	int err = compute_stream_new(&rig->gpu, &stream);

	if (err)
		return err;
	compute_stream_dispatch(&stream, &dispatch);
	err = compute_stream_run(&stream);
	compute_stream_free(&stream);
	return err;
}

static int peek(struct rig *rig, uint64_t addr, uint32_t pages)
{
	const uint64_t uniforms[] = { addr, rig->out.addr };

	memset(rig->out.map, 0x5a, MAX_PEEK * 4);
	return run(rig, &rig->peek, uniforms, sizeof(uniforms), pages);
}

static int poke(struct rig *rig, uint64_t addr, uint32_t pages, uint32_t word)
{
	const struct {
		uint64_t dst;
		uint32_t word;
	} uniforms = { addr, word };

	return run(rig, &rig->poke, &uniforms, sizeof(uniforms), pages);
}

static int check(struct rig *rig, uint64_t addr, const uint32_t *expected,
		 uint32_t pages)
{
	const uint32_t *got = rig->out.map;
	int err = peek(rig, addr, pages);
	uint32_t i;

	if (err) {
		fprintf(stderr, "reading at 0x%" PRIx64 ": %s\n", addr,
			strerror(-err));
		return err;
	}
	for (i = 0; i < pages; i++) {
		if (got[i] == expected[i])
			continue;
		fprintf(stderr, "page 0x%" PRIx64 " shows %08x, not %08x\n",
			addr + i * PAGE, got[i], expected[i]);
		return -EILSEQ;
	}
	return 0;
}

#define CHECK(rig, addr, ...)						\
	check(rig, addr, (const uint32_t[]){ __VA_ARGS__ },		\
	      sizeof((const uint32_t[]){ __VA_ARGS__ }) / 4)

/* The last thing that a test can do: it spoils the queue. */
static int faults(int err)
{
	if (err == -EIO)
		return 0;
	fprintf(stderr, "an access that must fault ended with %s\n",
		err ? strerror(-err) : "success");
	return -EILSEQ;
}

static int expect_error(int err, int expected)
{
	if (err == expected)
		return 0;
	fprintf(stderr, "%s, not %s\n", strerror(-err), strerror(-expected));
	return -EILSEQ;
}

static int test_offset(struct rig *rig)
{
	int err = bind(rig, rig->a, READ, 5, 3, rig->va);

	return err ? err : CHECK(rig, rig->va, A(5), A(6), A(7));
}

static int test_aliases(struct rig *rig)
{
	int err = bind(rig, rig->a, RW, 0, 4, rig->va);

	if (!err)
		err = bind(rig, rig->a, READ, 2, 2, rig->va + BLOCK);
	if (!err)
		err = poke(rig, rig->va, 4, 0x1000);
	if (!err)
		err = CHECK(rig, rig->va + BLOCK, 0x1002, 0x1003);
	/* and what remains when one of the two goes */
	if (!err)
		err = unbind(rig, rig->va, 4 * PAGE);
	return err ? err : CHECK(rig, rig->va + BLOCK, 0x1002, 0x1003);
}

static int test_replace_middle(struct rig *rig)
{
	int err = bind(rig, rig->a, READ, 0, 6, rig->va);

	if (!err)
		err = CHECK(rig, rig->va, A(0), A(1), A(2), A(3), A(4), A(5));
	if (!err)
		err = bind(rig, rig->b, READ, 8, 2, rig->va + 2 * PAGE);
	return err ? err :
		     CHECK(rig, rig->va, A(0), A(1), B(8), B(9), A(4), A(5));
}

static int test_replace_across(struct rig *rig)
{
	int err = bind(rig, rig->a, READ, 0, 3, rig->va);

	if (!err)
		err = bind(rig, rig->a, READ, 8, 3, rig->va + 3 * PAGE);
	if (!err)
		err = bind(rig, rig->b, READ, 1, 4, rig->va + PAGE);
	return err ? err :
		     CHECK(rig, rig->va, A(0), B(1), B(2), B(3), B(4), A(10));
}

/* Over the border of a table, in pieces of memory that are not contiguous. */
static int test_block_border(struct rig *rig)
{
	uint64_t va = rig->va + BLOCK - 3 * PAGE;
	int err = bind(rig, rig->a, READ, 0, 6, va);

	if (!err)
		err = bind(rig, rig->b, READ, 0, 2, va + 2 * PAGE);
	return err ? err : CHECK(rig, va, A(0), A(1), B(0), B(1), A(4), A(5));
}

static int test_single(struct rig *rig)
{
	int err = bind(rig, rig->a, READ | SINGLE, 7, 6, rig->va);

	if (!err)
		err = CHECK(rig, rig->va, A(7), A(7), A(7), A(7), A(7), A(7));
	/* what is left on both sides still shows page 7 */
	if (!err)
		err = bind(rig, rig->b, READ, 1, 1, rig->va + 2 * PAGE);
	if (!err)
		err = CHECK(rig, rig->va, A(7), A(7), B(1), A(7), A(7), A(7));
	/* and so does what is left of that, whose offset was restored */
	if (!err)
		err = bind(rig, rig->b, READ, 2, 1, rig->va + 4 * PAGE);
	return err ? err :
		     CHECK(rig, rig->va, A(7), A(7), B(1), A(7), B(2), A(7));
}

static int test_single_large(struct rig *rig)
{
	const uint64_t size = rig->size;
	struct drm_asahi_gem_bind_op ops[] = {
		bind_op(rig->a, READ | SINGLE, 3 * PAGE, size, rig->va),
		bind_op(rig->b, READ, 0, 2 * PAGE, rig->va + size / 2 - PAGE),
		bind_op(rig->b, READ | SINGLE, 4 * PAGE, 3 * BLOCK,
			rig->va + size / 4 + PAGE),
	};
	int err = asahi_vm_bind(rig->gpu.vm, ops, 3);

	if (!err)
		err = CHECK(rig, rig->va, A(3), A(3));
	if (!err)
		err = CHECK(rig, rig->va + size - 2 * PAGE, A(3), A(3));
	if (!err)
		err = CHECK(rig, rig->va + size / 2 - 2 * PAGE, A(3), B(0), B(1),
			    A(3));
	if (!err)
		err = CHECK(rig, rig->va + size / 4, A(3), B(4));
	if (!err)
		err = CHECK(rig, rig->va + size / 4 + 2 * BLOCK, B(4), B(4));
	return err ? err :
		     CHECK(rig, rig->va + size / 4 + 3 * BLOCK, B(4), A(3));
}

/* A page of a large range changes, then the range is taken down around it. */
static int test_single_unbind(struct rig *rig)
{
	uint64_t page = rig->va + 5 * BLOCK + 9 * PAGE;
	int err = bind(rig, rig->a, READ | SINGLE, 3, rig->size / PAGE, rig->va);

	if (!err)
		err = unbind(rig, rig->va, page - rig->va);
	if (!err)
		err = unbind(rig, page + 2 * PAGE,
			     rig->va + rig->size - page - 2 * PAGE);
	if (!err)
		err = CHECK(rig, page, A(3), A(3));
	return err ? err : faults(peek(rig, page + PAGE, 2));
}

static int test_order(struct rig *rig)
{
	struct drm_asahi_gem_bind_op ops[] = {
		bind_op(rig->a, READ, 0, 8 * PAGE, rig->va),
		bind_op(rig->b, READ, 0, 4 * PAGE, rig->va + 2 * PAGE),
		bind_op(NULL, UNBIND, 0, 16 * PAGE, rig->va + 3 * PAGE),
		bind_op(rig->a, READ | SINGLE, 15 * PAGE, 2 * PAGE,
			rig->va + 3 * PAGE),
		bind_op(rig->b, READ, 7 * PAGE, PAGE, rig->va + 4 * PAGE),
	};
	int err = asahi_vm_bind(rig->gpu.vm, ops, 5);

	if (!err)
		err = CHECK(rig, rig->va, A(0), A(1), B(0), A(15), B(7));
	return err ? err : faults(peek(rig, rig->va + 4 * PAGE, 2));
}

static int test_all_or_nothing(struct rig *rig)
{
	struct drm_asahi_gem_bind_op ops[] = {
		bind_op(rig->b, READ, 0, 4 * PAGE, rig->va),
		bind_op(NULL, UNBIND, 0, PAGE, rig->va + 4 * PAGE),
		bind_op(rig->b, READ | SINGLE, 0, rig->size, rig->va),
		bind_op(rig->b, READ, PAGES * PAGE, PAGE, rig->va),
	};
	int err = bind(rig, rig->a, READ, 0, 6, rig->va);

	if (!err)
		err = expect_error(asahi_vm_bind(rig->gpu.vm, ops, 4), -EINVAL);
	if (!err)
		err = CHECK(rig, rig->va, A(0), A(1), A(2), A(3), A(4), A(5));
	return err ? err : faults(peek(rig, rig->va + 6 * PAGE, 1));
}

/* The GPU has used the old translation, so it may have it in its TLB. */
static int test_stale(struct rig *rig)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < 20 && !err; i++) {
		err = bind(rig, i % 2 ? rig->a : rig->b, READ, i % PAGES, 1,
			   rig->va);
		if (!err)
			err = CHECK(rig, rig->va,
				    i % 2 ? A(i % PAGES) : B(i % PAGES));
	}
	if (!err)
		err = unbind(rig, rig->va, PAGE);
	return err ? err : faults(peek(rig, rig->va, 1));
}

static int test_read_only(struct rig *rig)
{
	int err = bind(rig, rig->a, READ, 0, 1, rig->va);

	if (!err)
		err = CHECK(rig, rig->va, A(0));
	return err ? err : faults(poke(rig, rig->va, 1, 1));
}

static int test_write_only(struct rig *rig)
{
	uint32_t *map;
	int err = asahi_bo_map(rig->a, (void **)&map);

	if (!err)
		err = bind(rig, rig->a, WRITE, 0, 1, rig->va);
	if (!err)
		err = poke(rig, rig->va, 1, 0x77);
	if (!err && map[0] != 0x77)
		err = -EILSEQ;
	return err ? err : faults(peek(rig, rig->va, 1));
}

static int close_handle(struct rig *rig, uint32_t handle)
{
	return drmCloseBufferHandle(asahi_device_fd(rig->gpu.dev), handle);
}

static int new_handle(struct rig *rig, uint32_t *handle)
{
	struct drm_asahi_gem_create create = { .size = PAGES * PAGE };
	int err = drmIoctl(asahi_device_fd(rig->gpu.dev),
			   DRM_IOCTL_ASAHI_GEM_CREATE, &create);

	*handle = create.handle;
	return err ? -errno : 0;
}

static int test_close(struct rig *rig)
{
	struct drm_asahi_gem_bind_op ops[] = {
		bind_op(NULL, READ, 0, PAGES * PAGE, rig->va),
		bind_op(NULL, READ | SINGLE, 0, rig->size / 2,
			rig->va + rig->size / 2),
		bind_op(rig->a, READ, 0, PAGE, rig->va + PAGE),
	};
	int err = new_handle(rig, &ops[0].handle);

	if (err)
		return err;
	ops[1].handle = ops[0].handle;
	err = asahi_vm_bind(rig->gpu.vm, ops, 3);
	if (!err)
		err = CHECK(rig, rig->va, 0, A(0), 0);
	if (!err)
		err = CHECK(rig, rig->va + rig->size - PAGE, 0);
	close_handle(rig, ops[0].handle);
	/* others stay */
	if (!err)
		err = CHECK(rig, rig->va + PAGE, A(0));
	return err ? err : faults(peek(rig, rig->va + rig->size - PAGE, 1));
}

/* Memory of one file in the address space of another. */
static int test_import(struct rig *rig)
{
	struct asahi_device *other;
	struct asahi_bo *imported;
	int fd = -1;
	int err = asahi_bo_export(rig->b, &fd);

	if (err)
		return err;
	err = asahi_device_open(NULL, &other);
	if (!err) {
		/* through the other file and back, so that handles differ */
		err = asahi_bo_import(other, fd, &imported);
		if (!err)
			asahi_bo_unref(imported);
		asahi_device_unref(other);
	}
	if (!err)
		err = asahi_bo_import(rig->gpu.dev, fd, &imported);
	close(fd);
	if (err)
		return err;
	err = bind(rig, imported, READ, 4, 2, rig->va);
	if (!err)
		err = CHECK(rig, rig->va, B(4), B(5));
	asahi_bo_unref(imported);
	return err;
}

static int test_private(struct rig *rig)
{
	struct asahi_bo *bo;
	uint32_t *map;
	int err = asahi_bo_new(rig->gpu.dev, PAGE, 0, rig->gpu.vm, &bo);

	if (err)
		return err;
	err = asahi_bo_map(bo, (void **)&map);
	if (!err) {
		map[0] = 0x4711;
		err = bind(rig, bo, READ, 0, 1, rig->va);
	}
	if (!err)
		err = CHECK(rig, rig->va, 0x4711);
	asahi_bo_unref(bo);
	return err;
}

/* A queue keeps its address space, whatever its owner does to it. */
static int test_destroyed(struct rig *rig)
{
	const uint64_t uniforms[] = { rig->va, rig->out.addr };
	const struct compute_dispatch dispatch = {
		.program = &rig->peek,
		.uniforms = uniforms,
		.uniform_bytes = sizeof(uniforms),
		.global = { 4, 1, 1 },
		.local = { 32, 1, 1 },
	};
	const struct drm_asahi_vm_destroy destroy = {
		.vm_id = asahi_vm_id(rig->gpu.vm),
	};
	const uint32_t *got = rig->out.map;
	struct compute_stream stream;
	int err = bind(rig, rig->a, READ, 9, 4, rig->va);

	if (!err)
		err = compute_stream_new(&rig->gpu, &stream);
	if (err)
		return err;
	compute_stream_dispatch(&stream, &dispatch);
	if (drmIoctl(asahi_device_fd(rig->gpu.dev), DRM_IOCTL_ASAHI_VM_DESTROY,
		     (void *)&destroy))
		err = -errno;
	if (!err)
		err = expect_error(unbind(rig, rig->va, PAGE), -ENOENT);
	if (!err)
		err = compute_stream_run(&stream);
	if (!err && (got[0] != A(9) || got[3] != A(12)))
		err = -EILSEQ;
	compute_stream_free(&stream);
	return err;
}

/* The most that one call takes, from two buffers in turn. */
static int test_many(struct rig *rig)
{
	const uint32_t count = 65536;
	struct drm_asahi_gem_bind_op *ops = calloc(count, sizeof(*ops));
	uint64_t va = rig->va;
	uint32_t i;
	int err;

	if (!ops)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		ops[i] = bind_op(i % 2 ? rig->a : rig->b, READ,
				 i % PAGES * PAGE, PAGE, va + i * PAGE);
	err = asahi_vm_bind(rig->gpu.vm, ops, count);
	free(ops);
	if (!err)
		err = CHECK(rig, va, B(0), A(1), B(2), A(3));
	return err ? err :
		     CHECK(rig, va + (count - 2) * PAGE, B(14), A(15));
}

/*
 * Random binds against an array that says what each page shows. Pages where
 * nothing should be are not looked at: a fault would end it.
 */
#define RANDOM_PAGES	40

static void random_change(struct rig *rig, struct drm_asahi_gem_bind_op *op,
			  uint32_t *model)
{
	uint32_t first = rand() % RANDOM_PAGES;
	uint32_t count = 1 + rand() % (RANDOM_PAGES - first);
	uint32_t page = rand() % PAGES;
	bool second = rand() % 2;
	uint32_t kind = rand() % 3;
	uint32_t i;

	if (kind == 0 && count > PAGES - page)
		count = PAGES - page;
	*op = bind_op(second ? rig->b : rig->a,
		      kind == 1 ? READ | SINGLE : READ, page * PAGE,
		      count * PAGE, rig->va + BLOCK - 20 * PAGE + first * PAGE);
	if (kind == 2)
		*op = bind_op(NULL, UNBIND, 0, count * PAGE, op->addr);
	for (i = 0; i < count; i++) {
		uint32_t n = page + (kind == 1 ? 0 : i);

		model[first + i] = kind == 2 ? 0 : second ? B(n) : A(n);
	}
}

static int check_model(struct rig *rig, const uint32_t *model)
{
	uint64_t va = rig->va + BLOCK - 20 * PAGE;
	uint32_t first, end;
	int err = 0;

	for (first = 0; first < RANDOM_PAGES && !err; first = end + 1) {
		end = first;
		while (end < RANDOM_PAGES && model[end])
			end++;
		if (end > first)
			err = check(rig, va + first * PAGE, model + first,
				    end - first);
	}
	return err;
}

static int test_random(struct rig *rig)
{
	uint32_t model[RANDOM_PAGES] = { 0 };
	struct drm_asahi_gem_bind_op ops[5];
	unsigned int round, i, count;
	int err = 0;

	srand(29);
	for (round = 0; round < 40 && !err; round++) {
		count = 1 + rand() % 5;
		for (i = 0; i < count; i++)
			random_change(rig, &ops[i], model);
		err = asahi_vm_bind(rig->gpu.vm, ops, count);
		if (!err)
			err = check_model(rig, model);
	}
	return err;
}

static const struct {
	const char *name;
	int (*run)(struct rig *rig);
} tests[] = {
	{ "offset", test_offset },
	{ "aliases", test_aliases },
	{ "replace-middle", test_replace_middle },
	{ "replace-across", test_replace_across },
	{ "block-border", test_block_border },
	{ "single-page", test_single },
	{ "single-page-large", test_single_large },
	{ "single-page-unbind", test_single_unbind },
	{ "order", test_order },
	{ "all-or-nothing", test_all_or_nothing },
	{ "stale-translation", test_stale },
	{ "read-only", test_read_only },
	{ "write-only", test_write_only },
	{ "close", test_close },
	{ "import", test_import },
	{ "private", test_private },
	{ "destroyed", test_destroyed },
	{ "many", test_many },
	{ "random", test_random },
};

static int new_pages(struct rig *rig, uint32_t word, struct asahi_bo **bo)
{
	uint32_t *map;
	unsigned int i;
	int err = asahi_bo_new(rig->gpu.dev, PAGES * PAGE, 0, NULL, bo);

	if (!err)
		err = asahi_bo_map(*bo, (void **)&map);
	if (err)
		return err;
	for (i = 0; i < PAGES; i++)
		map[i * PAGE / 4] = word + i;
	return 0;
}

static int rig_open(struct rig *rig)
{
	int err = compute_program_load(&rig->gpu, "peek", &rig->peek);

	if (!err)
		err = compute_program_load(&rig->gpu, "poke", &rig->poke);
	if (!err)
		err = compute_buffer_new(&rig->gpu, MAX_PEEK * 4, &rig->out);
	if (!err)
		err = new_pages(rig, A(0), &rig->a);
	if (!err)
		err = new_pages(rig, B(0), &rig->b);
	rig->size = 16 * GIB;
	if (!err)
		err = asahi_vm_alloc(rig->gpu.vm, ASAHI_HEAP_MAIN, rig->size,
				     BLOCK, &rig->va);
	return err;
}

static int run_test(int (*test)(struct rig *rig))
{
	struct rig rig = { .size = 0 };
	int err = compute_open(&rig.gpu, NULL);

	if (err)
		return err;
	err = rig_open(&rig);
	if (!err)
		err = test(&rig);
	asahi_bo_unref(rig.a);
	asahi_bo_unref(rig.b);
	compute_buffer_free(&rig.gpu, &rig.out);
	compute_close(&rig.gpu);
	return err;
}

int main(void)
{
	const unsigned int count = sizeof(tests) / sizeof(tests[0]);
	unsigned int i, bad = 0;

	printf("1..%u\n", count);
	for (i = 0; i < count; i++) {
		int err = run_test(tests[i].run);

		printf("%sok %u - vm %s\n", err ? "not " : "", i + 1,
		       tests[i].name);
		if (err && err != -EILSEQ)
			printf("# %s\n", strerror(-err));
		fflush(stdout);
		bad += !!err;
	}
	return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
