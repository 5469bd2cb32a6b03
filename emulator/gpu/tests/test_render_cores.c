// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Work on several cores: whatever their number, all that is left in memory is the
 * same, byte for byte, and so is the way in which a render fails.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "agx_isa.h"
#include "scene_builder.h"

/* How often a race has the chance to show */
#define ROUNDS		4
#define TRIANGLES	400
#define PART_SIZE	0x200000

static const unsigned int core_counts[] = { 1, 2, 4, 7 };
#define COUNTS	(sizeof(core_counts) / sizeof(core_counts[0]))

/* Whoever comes later counts for more: the order shows in the picture */
static const char blending_shader[] =
	"iter r8_r9_r10_r11, cf1, cf0\n"
	"ld_tile r4_r5_r6_r7, 0, 255, 0, u8norm, xyzw\n"
	"mov r12, u0\n"
	"fmul r4, r4, r12\n"
	"fmul r5, r5, r12\n"
	"fmul r6, r6, r12\n"
	"fadd r4, r4, r8\n"
	"fadd r5, r5, r9\n"
	"fadd r6, r6, r10\n"
	"sample_mask 255, 255\n"
	"st_tile r4_r5_r6_r7, 0, 255, 0, u8norm, xyzw\n"
	"stop\n";

static const char endless_shader[] =
	"again: iadd r4, r4, 1\n"
	"jmp_any again\n"
	"stop\n";

static float some(unsigned int n)
{
	return (float)(random() % n);
}

/* Triangles with corners within @size of each other, times the image's */
static void put_triangles(struct scene *s, unsigned int count, float size)
{
	float (*v)[SCENE_VERTEX_WORDS] = calloc(3 * count, sizeof(*v));
	uint16_t *indices = calloc(3 * count, sizeof(*indices));
	unsigned int i, n;
	float x = 0, y = 0;
	uint32_t first;

	assert_true(v && indices);
	for (i = 0; i < 3 * count; i++) {
		float w = 1 + some(3);

		if (i % 3 == 0) {
			x = some(2400) / 1000 - 1.2f;
			y = some(2400) / 1000 - 1.2f;
		}
		v[i][0] = w * (x + size * (some(2000) / 1000 - 1));
		v[i][1] = w * (y + size * (some(2000) / 1000 - 1));
		v[i][2] = w * some(1000) / 1000;
		v[i][3] = w;
		for (n = 4; n < 8; n++)
			v[i][n] = some(256) / 512;
		/* every vertex, and those of others now and then */
		indices[i] = random() % 50 ? i : random() % (3 * count);
	}
	first = scene_vertices(s, (const float (*)[SCENE_VERTEX_WORDS])v, 3 * count);
	scene_draw_indexed(s, AGX_PRIMITIVE_TRIANGLES, AGX_INDEX_SIZE_U16,
			   scene_indices(s, indices, 3 * count * sizeof(*indices)),
			   3 * count * sizeof(*indices), 3 * count, first, false);
	free(indices);
	free(v);
}

static void big_scene(struct scene *s, struct render_fixture *f, const char *shader)
{
	struct scene_state t = scene_default(f);
	unsigned int i;

	f->fragment.depth.store.base = DEPTH_VA;
	f->fragment.stencil.store.base = STENCIL_VA;
	f->fragment.zls_control = 1ULL << 18 | 1ULL << 19;
	f->fragment.isp_bgobjdepth = 0x3f800000;
	t.face.depth_func = AGX_ZS_FUNC_LEQUAL;
	t.face.depth_write_disable = false;
	t.control.stencil_test_enable = true;
	t.stencil.compare = AGX_ZS_FUNC_ALWAYS;
	t.stencil.write_mask = 0xff;
	t.stencil.depth_pass = AGX_STENCIL_OP_INCR_WRAP;
	t.back_stencil = (struct agx_ppp_back_stencil){
		.compare = AGX_ZS_FUNC_ALWAYS,
		.write_mask = 0xff,
	};
	t.control.visibility = AGX_VISIBILITY_COUNTING;
	t.fragment_shader = shader;
	t.constant = 0.5;
	t.early_z = true;
	scene_begin(s, f);
	scene_linear(s);
	srandom(7);
	for (i = 0; i < 8; i++) {
		t.query.index = i % 3;
		t.early_z = i % 2;
		scene_set(s, &t);
		/* the first has vertices for several runs */
		if (i)
			put_triangles(s, 12, 1);
		else
			put_triangles(s, TRIANGLES, 0.05f);
	}
	scene_end(s);
}

/* What vertex work and fragment work have left */
struct result {
	uint8_t *pages;
	uint8_t *image;
	uint8_t *depth;
	uint8_t *stencil;
	uint64_t query[3];
};

static uint8_t *keep(uint64_t va)
{
	uint8_t *bytes = malloc(PART_SIZE);

	assert_non_null(bytes);
	memcpy(bytes, render_at(va), PART_SIZE);
	return bytes;
}

static void free_result(struct result *r)
{
	free(r->pages);
	free(r->image);
	free(r->depth);
	free(r->stencil);
}

static void draw(unsigned int cores, unsigned int pages, struct result *result)
{
	struct render_fixture *f;
	unsigned int i;
	struct scene s;
	void *state;

	assert_int_equal(render_setup_cores(&state, cores), 0);
	f = state;
	f->limit = pages;
	big_scene(&s, f, blending_shader);
	assert_int_equal(render_vertex(f), VAGX_GPU_DONE);
	assert_int_equal(f->overflows > 0, pages < MAX_PAGES);
	result->pages = keep(PAGES_VA);
	assert_int_equal(render_fragment(f, VAGX_FRAGMENT_FINAL), VAGX_GPU_DONE);
	result->image = keep(IMAGE_VA);
	result->depth = keep(DEPTH_VA);
	result->stencil = keep(STENCIL_VA);
	for (i = 0; i < 3; i++)
		result->query[i] = scene_query(i);
	render_teardown(&state);
}

static void expect_same(const struct result *a, const struct result *b)
{
	assert_memory_equal(a->image, b->image, PART_SIZE);
	assert_memory_equal(a->depth, b->depth, PART_SIZE);
	assert_memory_equal(a->stencil, b->stencil, PART_SIZE);
	assert_memory_equal(a->query, b->query, sizeof(a->query));
	assert_memory_equal(a->pages, b->pages, PART_SIZE);
}

static void test_same_bytes(void **state)
{
	struct result one, other;
	unsigned int i;

	draw(1, MAX_PAGES, &one);
	assert_true(one.query[0] > 5000 && one.query[1] > 1000 && one.query[2] > 1000);
	for (i = 1; i < COUNTS; i++) {
		draw(core_counts[i], MAX_PAGES, &other);
		expect_same(&one, &other);
		free_result(&other);
	}
	free_result(&one);
}

static void test_same_bytes_in_parts(void **state)
{
	struct result one, other;

	draw(1, 1, &one);
	draw(4, 1, &other);
	expect_same(&one, &other);
	free_result(&one);
	free_result(&other);
}

/* All tiles of a row cannot be written: the first one is how it ends */
static void test_first_tile_fails(void **state)
{
	unsigned int round;

	for (round = 0; round < ROUNDS; round++) {
		struct render_fixture *f;
		struct scene s;
		void *own;

		assert_int_equal(render_setup_cores(&own, 4), 0);
		f = own;
		big_scene(&s, f, blending_shader);
		assert_int_equal(render_vertex(f), VAGX_GPU_DONE);
		render_hole = IMAGE_VA + 64 * 4096;
		assert_int_equal(render_fragment(f, VAGX_FRAGMENT_FINAL), VAGX_GPU_FAULT);
		assert_int_equal(f->unit, VAGX_GPU_UNIT_USC);
		assert_int_equal(f->fault.va, render_hole);
		render_teardown(&own);
	}
}

/* Many vertices cannot be read: the first one is how it ends */
static void test_first_vertex_fails(void **state)
{
	unsigned int round;

	for (round = 0; round < ROUNDS; round++) {
		const float v[1024][SCENE_VERTEX_WORDS] = { 0 };
		struct scene_state t;
		struct scene s;
		void *own;

		assert_int_equal(render_setup_cores(&own, 4), 0);
		t = scene_default(own);
		scene_begin(&s, own);
		scene_set(&s, &t);
		scene_draw(&s, AGX_PRIMITIVE_TRIANGLES, scene_vertices(&s, v, 1024), 1024);
		scene_end(&s);
		render_hole = DATA_VA;
		assert_int_equal(render_vertex(own), VAGX_GPU_FAULT);
		assert_int_equal(((struct render_fixture *)own)->unit, VAGX_GPU_UNIT_USC);
		assert_int_equal(((struct render_fixture *)own)->fault.va, DATA_VA);
		render_teardown(&own);
	}
}

/* Every tile's shader is wrong: that is said once */
static void test_fails_once(void **state)
{
	struct render_fixture *f;
	struct scene s;
	void *own;

	assert_int_equal(render_setup_cores(&own, 4), 0);
	f = own;
	big_scene(&s, f, "trap\n");
	assert_int_equal(render_vertex(f), VAGX_GPU_DONE);
	assert_int_equal(render_fragment(f, VAGX_FRAGMENT_FINAL), VAGX_GPU_FAULT);
	assert_int_equal(vagx_report_count(f->report, VAGX_RULE_USC_SHADER_FAILED), 1);
	render_teardown(&own);
}

/* Threadgroups that add to each other's sums, and share memory within each */
static const char adding_groups[] =
	"mov r2, thread_in_grid_x\n"
	"mov r3l, thread_index_in_threadgroup\n"
	"imul r4, r2, r2\n"
	"shl r5l, r3l, 2\n"
	"lstore r4, r5l, 0, i32, x\n"
	"barrier\n"
	"xor r5l, r5l, 252\n"
	"lload r6, r5l, 0, i32, x\n"
	"store r6, du0, r2, i32, x, a\n"
	"atomic _, r4, du2, 0, add, a\n"
	"stop\n";

#define GROUPS		500
#define GROUP_SIZE	64

static void run_compute(struct render_fixture *f)
{
	const uint64_t buffers[2] = { DATA_VA, STATE_VA };
	struct vagx_compute_registers registers = { .cdm_base = STREAM_VA, .usc_base = USC_VA };
	struct agx_writer stream, words;
	struct agx_program program;
	struct vagx_job *job = vagx_job_new(f->gpu, SLOT);

	assert_non_null(job);
	assert_int_equal(agx_isa_assemble(adding_groups, "program", &program, stderr), 0);
	memcpy(render_at(USC_VA + 0x1000), program.code, program.size);
	free(program.code);
	memset(render_at(STATE_VA), 0, 4);
	memcpy(render_at(STATE_VA + 0x100), buffers, sizeof(buffers));
	agx_writer_init(&words, render_at(USC_VA + 0x40), 0x400);
	agx_put(&words, usc_uniform, .start = 0, .size = 8, .buffer = STATE_VA + 0x100);
	agx_put(&words, usc_shared, .uses_shared_memory = true,
		.layout = AGX_SHARED_LAYOUT_VERTEX_COMPUTE, .bytes_per_threadgroup = 256);
	agx_put(&words, usc_shader, .code = 0x1000);
	agx_put(&words, usc_registers, .register_count = 24);
	agx_put(&words, usc_no_preshader);
	agx_writer_init(&stream, render_at(STREAM_VA), 0x1000);
	agx_put(&stream, cdm_launch, .mode = AGX_CDM_MODE_DIRECT, .pipeline = 0x40);
	agx_put(&stream, cdm_global_size, .x = GROUPS * GROUP_SIZE, .y = 1, .z = 1);
	agx_put(&stream, cdm_local_size, .x = GROUP_SIZE, .y = 1, .z = 1);
	agx_put(&stream, cdm_stream_terminate);
	registers.cdm_end = STREAM_VA + stream.used;
	assert_int_equal(vagx_job_compute(job, &registers, &f->fault, &f->unit), VAGX_GPU_DONE);
	vagx_job_free(job);
}

static void test_compute(void **state)
{
	unsigned int round, i;

	for (round = 0; round < COUNTS; round++) {
		const uint32_t *got;
		uint32_t sum = 0;
		void *own;

		assert_int_equal(render_setup_cores(&own, core_counts[round]), 0);
		run_compute(own);
		got = render_at(DATA_VA);
		for (i = 0; i < GROUPS * GROUP_SIZE; i++) {
			uint32_t other = i ^ (GROUP_SIZE - 1);

			assert_int_equal(got[i], other * other);
			sum += i * i;
		}
		assert_int_equal(*(uint32_t *)render_at(STATE_VA), sum);
		render_teardown(&own);
	}
}

/* A shader that never ends, in all tiles, is cancelled on all cores */

struct runner {
	struct render_fixture *f;
	struct vagx_job *job;
	enum vagx_gpu_status status;
};

static void *run_fragment(void *arg)
{
	struct runner *r = arg;
	struct vagx_tvb_pages pages = render_pages(r->f);

	r->status = vagx_job_fragment(r->job, &r->f->fragment, &pages, VAGX_FRAGMENT_FINAL,
				      &r->f->fault, &r->f->unit);
	return NULL;
}

static void test_cancel(void **state)
{
	struct runner runner;
	pthread_t thread;
	struct scene s;
	void *own;

	assert_int_equal(render_setup_cores(&own, 4), 0);
	runner.f = own;
	big_scene(&s, own, endless_shader);
	assert_int_equal(render_vertex(own), VAGX_GPU_DONE);
	runner.job = vagx_job_new(runner.f->gpu, SLOT);
	assert_non_null(runner.job);
	assert_int_equal(pthread_create(&thread, NULL, run_fragment, &runner), 0);
	while (vagx_job_cpu_ns(runner.job) < 20000000)
		usleep(1000);
	vagx_job_cancel(runner.job);
	pthread_join(thread, NULL);
	assert_int_equal(runner.status, VAGX_GPU_CANCELLED);
	vagx_job_free(runner.job);
	/* pages come back all the same */
	assert_int_equal(render_pages_taken(own), 0);
	render_teardown(&own);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compute),
		cmocka_unit_test(test_same_bytes),
		cmocka_unit_test(test_same_bytes_in_parts),
		cmocka_unit_test(test_first_tile_fails),
		cmocka_unit_test(test_first_vertex_fails),
		cmocka_unit_test(test_fails_once),
		cmocka_unit_test(test_cancel),
	};

	return cmocka_run_group_tests_name("render_cores", tests, NULL, NULL);
}
