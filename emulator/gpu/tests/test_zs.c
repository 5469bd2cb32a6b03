// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Depth and stencil: what is tested, loaded and stored for many pixels at once is
 * the same as one after the other.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agx_float.h"
#include "gpu/fragment.h"

#define MEMORY_SIZE	0x40000
#define METADATA	0x30000
#define SIZE		100

static uint8_t memory[MEMORY_SIZE];
/* Only one sample, or one block's metadata, is found at a time */
static bool no_blocks;
static unsigned int blocks_found;
/* address of a page that is not mapped, or 1 */
static uint64_t hole = 1;

void *vagx_tlb_ptr_slow(struct vagx_tlb *tlb, uint64_t va, size_t len, enum vagx_access access,
			struct vagx_uat_fault *fault)
{
	bool is_block = len > 8;

	if (va + len > MEMORY_SIZE || (is_block && no_blocks) ||
	    (va & ~(uint64_t)VAGX_UAT_PAGE_MASK) == hole ||
	    (va & VAGX_UAT_PAGE_MASK) + len > VAGX_UAT_PAGE_SIZE) {
		*fault = (struct vagx_uat_fault){ .va = va, .access = access };
		return NULL;
	}
	blocks_found += is_block;
	return memory + va;
}

void *fragment_ptr(struct fragment_worker *w, uint64_t va, size_t bytes, enum vagx_access access,
		   unsigned int unit)
{
	return vagx_tlb_ptr_slow(NULL, va, bytes, access, &w->failure.fault);
}

int gpu_failure_at(struct gpu_failure *failure, const struct vagx_uat_fault *fault,
		   unsigned int unit)
{
	return -EFAULT;
}

void gpu_failure_violates(struct gpu_failure *failure, enum vagx_rule rule, uint64_t va,
			  const char *packet, const char *format, ...)
{
}

static unsigned int pick(unsigned int count)
{
	return (unsigned int)rand() % count;
}

struct zs_case {
	struct fragment_worker *w[2];
	struct fragment_job job;
	struct fragment_state state;
	struct fragment_draw draw;
	struct vagx_fragment_registers registers;
	struct agx_scissor scissor;
};

static int setup(void **state)
{
	struct zs_case *c = calloc(1, sizeof(*c));
	unsigned int i;

	for (i = 0; i < 2; i++) {
		c->w[i] = calloc(1, sizeof(*c->w[i]));
		c->w[i]->job = &c->job;
		c->w[i]->core = calloc(1, sizeof(*c->w[i]->core));
		c->draw.state = &c->state;
		c->w[i]->primitive.draw = &c->draw;
		c->w[i]->primitive.scissor = &c->scissor;
	}
	c->job.registers = &c->registers;
	hole = 1;
	*state = c;
	return 0;
}

static int teardown(void **state)
{
	struct zs_case *c = *state;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		free(c->w[i]->core);
		free(c->w[i]);
	}
	free(c);
	return 0;
}

static float any_float(void)
{
	static const uint32_t special[] = { 0x7fc00000, 0x7f800000, 0xff800000, 0x80000000, 1 };

	return pick(40) ? (float)pick(1 << 16) / (1 << 15) - 0.5f : bits_float(special[pick(5)]);
}

static void make_test(struct zs_case *c)
{
	const struct vagx_tile tile = {
		.x = 32 * pick(100), .y = 32 * pick(100), .width = 32, .height = 32,
		.samples = pick(2) ? 1 : 1u << pick(3), .sample_positions = (uint32_t)rand(),
	};
	const struct zs_face face = {
		.reference = (uint8_t)rand(), .write_mask = (uint8_t)rand(),
		.read_mask = (uint8_t)rand(), .stencil_compare = pick(8), .pass = pick(8),
		.depth_fail = pick(8), .stencil_fail = pick(8), .depth_func = pick(8),
		.depth_write = pick(2), .stencil_test = !pick(4),
	};
	struct fragment_primitive *p = &c->w[0]->primitive;
	unsigned int i, s;

	c->state.face[0] = c->state.face[1] = face;
	c->job.quantise = pick(2);
	c->scissor.min_z = pick(4) ? 0 : pick(4) ? any_float() : -0.0f;
	c->scissor.max_z = pick(4) ? 1 : any_float();
	c->w[0]->tile = tile;
	p->z = (struct setup_plane){ any_float() / 64, any_float() / 64,
				     any_float() - tile.x / 128.0 };
	/* parallel to an axis of the screen, or to the screen */
	p->z.a = pick(3) ? p->z.a : 0;
	p->z.b = pick(3) ? p->z.b : -0.0;
	p->z_bias = pick(2) ? 0 : any_float();
	p->setup.back = pick(2);
	for (i = 0; i < FRAGMENT_TILE_PIXELS * VAGX_MAX_SAMPLES; i++) {
		c->w[0]->depth[i] = any_float();
		c->w[0]->stencil[i] = (uint8_t)rand();
	}
	/* some that are equal */
	for (i = 0; i < FRAGMENT_TILE_PIXELS; i += 1 + pick(3)) {
		for (s = 0; s < tile.samples; s++)
			c->w[0]->depth[i * tile.samples + s] =
				zs_depth(c->w[0], &p->z, p->z_bias, &c->scissor, i % 32, i / 32, s);
	}
}

static void copy_worker(struct zs_case *c)
{
	struct gpu_core *core = c->w[1]->core;

	memcpy(c->w[1], c->w[0], sizeof(*c->w[1]));
	c->w[1]->core = core;
}

/* What a pixel of a block has left */
static unsigned int test_one(struct fragment_worker *w, unsigned int x, unsigned int y,
			     unsigned int samples)
{
	const struct fragment_primitive *p = &w->primitive;
	float z[VAGX_MAX_SAMPLES];
	unsigned int s;

	for (s = 0; s < w->tile.samples; s++)
		z[s] = zs_depth(w, &p->z, p->z_bias, p->scissor, x, y, s);
	return zs_test(w, p->draw->state, p->setup.back, x, y, samples, z, NULL);
}

static unsigned int samples_of(const uint64_t *live, unsigned int samples, unsigned int bit)
{
	unsigned int s, all = 0;

	for (s = 0; s < samples; s++)
		all |= (live[s] >> bit & 1) << s;
	return all;
}

static void assert_same_tile(const struct zs_case *c)
{
	assert_memory_equal(c->w[0]->depth, c->w[1]->depth, sizeof(c->w[0]->depth));
	assert_memory_equal(c->w[0]->stencil, c->w[1]->stencil, sizeof(c->w[0]->stencil));
}

static void random_tests(void **state)
{
	uint64_t before[VAGX_MAX_SAMPLES] = { 0 }, live[VAGX_MAX_SAMPLES];
	struct zs_case *c = *state;
	unsigned int round, bit, s, x, y, passed = 0, failed = 0;

	srand(8);
	for (round = 0; round < 3000; round++) {
		make_test(c);
		copy_worker(c);
		x = 8 * pick(4);
		y = 8 * pick(4);
		for (s = 0; s < VAGX_MAX_SAMPLES; s++)
			before[s] = live[s] = pick(3) ? (uint64_t)rand() << 33 ^ (uint64_t)rand() :
							-1ULL;
		zs_test_block(c->w[0], x, y, live);
		for (bit = 0; bit < 64; bit++) {
			const unsigned int count = c->w[0]->tile.samples;
			unsigned int was = samples_of(before, count, bit);
			unsigned int is = samples_of(live, count, bit);

			assert_int_equal(is, test_one(c->w[1], x + bit % 8, y + bit / 8, was));
			passed += is != 0;
			failed += is != was;
		}
		assert_same_tile(c);
	}
	assert_true(passed > 10000 && failed > 10000);
}

/* Planes in memory, for depth and stencil */

static void make_plane(struct zs_case *c, struct vagx_image *image, bool is_stencil)
{
	const struct agx_layout layout = {
		.kind = AGX_IMAGE_LAYOUT_GPU,
		.width = pick(8) ? 40 + pick(SIZE - 40) : 1 + pick(12),
		.height = pick(8) ? 40 + pick(SIZE - 40) : 1 + pick(12), .layers = 1, .levels = 1,
		.samples = pick(2) ? 1 : 1u << pick(3), .compressed = pick(2),
		.element_bytes = is_stencil ? 1 : c->job.quantise ? 2 : 4,
	};

	*image = (struct vagx_image){ .address = 128, .metadata = METADATA, .layout = layout };
	assert_null(agx_layout_init(&image->layout));
	image->address = 128 * (1 + pick(pick(2) ? 4 : 200)) + (is_stencil ? 0x18000 : 0);
	c->w[0]->tile = (struct vagx_tile){
		.x = 32 * pick(3), .y = 32 * pick(3), .width = 32, .height = 32,
		.samples = image->layout.samples,
	};
}

/* Pixels are many, and rand() has a lock: this is Marsaglia's xorshift. */
static void fill_by_chance(uint8_t *bytes, size_t size)
{
	uint64_t state = (uint64_t)rand() << 1 | 1;
	size_t i;

	for (i = 0; i < size; i += sizeof(state)) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		memcpy(bytes + i, &state, sizeof(state));
	}
}

/* Blocks are raw, of one colour, of memory that nobody has written, or anything */
static void make_memory(const struct vagx_image *image)
{
	const uint8_t codes[] = {
		agx_layout_raw_code(&image->layout), agx_layout_solid_code(&image->layout), 0, 0x55,
	};
	unsigned int i;

	fill_by_chance(memory, METADATA);
	for (i = METADATA; i < MEMORY_SIZE; i += 8)
		memset(memory + i, codes[pick(4)], 8);
	hole = pick(2) ? 1 : pick(MEMORY_SIZE / VAGX_UAT_PAGE_SIZE) * VAGX_UAT_PAGE_SIZE;
}

static struct vagx_image *make_case(struct zs_case *c, bool store)
{
	const bool is_stencil = pick(2);
	struct vagx_image *image;

	c->job.quantise = pick(2);
	memset(c->job.zs_load, 0, sizeof(c->job.zs_load));
	memset(c->job.zs_store, 0, sizeof(c->job.zs_store));
	image = store ? &c->job.zs_store[is_stencil] : &c->job.zs_load[is_stencil];
	make_plane(c, image, is_stencil);
	make_memory(image);
	copy_worker(c);
	return image;
}

static void random_loads(void **state)
{
	struct zs_case *c = *state;
	unsigned int round, failed = 0;
	int err;

	srand(9);
	blocks_found = 0;
	for (round = 0; round < 3000; round++) {
		make_case(c, false);
		no_blocks = false;
		err = zs_load_tile(c->w[0]);
		no_blocks = true;
		assert_int_equal(zs_load_tile(c->w[1]), err);
		if (!err)
			assert_same_tile(c);
		else
			assert_int_equal(c->w[0]->failure.fault.va, c->w[1]->failure.fault.va);
		failed += err != 0;
	}
	assert_true(blocks_found > 10000 && failed > 50);
}

static void random_stores(void **state)
{
	static uint8_t before[MEMORY_SIZE], after[MEMORY_SIZE];
	struct zs_case *c = *state;
	unsigned int round, i, failed = 0;
	int err;

	srand(10);
	blocks_found = 0;
	for (round = 0; round < 3000; round++) {
		for (i = 0; i < FRAGMENT_TILE_PIXELS * VAGX_MAX_SAMPLES; i++) {
			c->w[0]->depth[i] = (float)pick(65536) / 65535;
			c->w[0]->stencil[i] = (uint8_t)rand();
		}
		make_case(c, true);
		memcpy(before, memory, sizeof(before));
		no_blocks = false;
		err = zs_store_tile(c->w[0]);
		memcpy(after, memory, sizeof(after));
		memcpy(memory, before, sizeof(before));
		no_blocks = true;
		assert_int_equal(zs_store_tile(c->w[1]), err);
		assert_memory_equal(memory, after, sizeof(after));
		if (err)
			assert_int_equal(c->w[0]->failure.fault.va, c->w[1]->failure.fault.va);
		failed += err != 0;
	}
	assert_true(blocks_found > 10000 && failed > 50);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(random_tests, setup, teardown),
		cmocka_unit_test_setup_teardown(random_loads, setup, teardown),
		cmocka_unit_test_setup_teardown(random_stores, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
