// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Depth and stencil of whole renders, after the rules of the Vulkan specification ("Depth Test",
 * "Stencil Test"): functions, operations, masks, references, faces, what passes and what is
 * written, for each sample. A render draws small rectangles, each with a state of its own, over
 * values of depth and stencil that differ from pixel to pixel and were loaded from memory.
 * Colours, depth, stencil and occlusion counters are compared with a reference that has nothing
 * of vagx but the names of functions and operations. All is by chance, and counters say that
 * each pair that matters came up.
 *
 * The specifications leave ties of 16-bit depth open, and what hardware does is unknown: 0.5 is
 * rounded to 32768 here, to even. NaN as a depth in memory is open, too, and left out.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agx_float.h"
#include "agx_layout.h"
#include "chance.h"
#include "scene_builder.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
/* Pixels of the image, and of the cell of a draw, in x and y */
#define SIDE		128
#define CELL		4
#define CELLS		(SIDE / CELL)
#define MAX_SAMPLES	4
#define QUERIES		61
#define MAX_DRAWS	(3 * CELLS * CELLS)
/* What scene_begin() clears colours to */
#define CLEAR_COLOUR	0xff000000u

/* Before the shader, by the shader without values, with those that it has */
enum when { EARLY, LATE, EMITTED, WHENS };

static const char *const shaders[WHENS] = {
	[EARLY] = "ldcf r12_r13_r14, cf3\n"
		  "st_tile r12, 0, 255, 0, i32, x\n"
		  "stop\n",
	[LATE] = "ldcf r12_r13_r14, cf3\n"
		 "sample_mask 255, 255\n"
		 "st_tile r12, 0, 255, 0, i32, x\n"
		 "stop\n",
	[EMITTED] = "ldcf r12_r13_r14, cf3\n"
		    "ldcf r8_r9_r10, cf2\n"
		    "ldcf r4_r5_r6, cf1\n"
		    "mov r5, r8\n"
		    "zs_emit 255, r4l_r4h_r5l\n"
		    "st_tile r12, 0, 255, 0, i32, x\n"
		    "stop\n",
};

/* State of a face */
struct face {
	unsigned int depth_func, stencil_func;
	/* if stencil fails, if depth fails, if both pass */
	unsigned int op[3];
	uint8_t reference, read_mask, write_mask;
	bool depth_write;
};

struct draw {
	unsigned int cell_x, cell_y;
	enum when when;
	bool is_back, is_two_sided, tests_stencil;
	struct face face[2];
	float z, emitted_z;
	uint8_t emitted_reference;
	uint32_t number;
};

/* A sample of the image */
struct sample {
	/* a float, or 16 bits */
	double depth;
	uint8_t stencil;
	uint32_t colour;
};

enum outcome { STENCIL_FAILS, DEPTH_FAILS, PASSES, OUTCOMES };

static struct sample image[SIDE][SIDE][MAX_SAMPLES];
static struct draw draws[MAX_DRAWS];
static uint64_t counted[QUERIES];

/* What came up, by face */
static struct {
	unsigned int depth[2][8][3];
	unsigned int stencil[2][8][3];
	unsigned int functions[2][8][8];
	/* by the old value: 0, 255, any */
	unsigned int op[2][OUTCOMES][8][3];
	unsigned int write[2][OUTCOMES][2][WHENS];
} seen;

/* The reference */

static bool reference_compares(unsigned int func, double value, double with)
{
	switch (func) {
	case AGX_ZS_FUNC_NEVER:
		return false;
	case AGX_ZS_FUNC_LESS:
		return value < with;
	case AGX_ZS_FUNC_EQUAL:
		return value == with;
	case AGX_ZS_FUNC_LEQUAL:
		return value <= with;
	case AGX_ZS_FUNC_GREATER:
		return value > with;
	case AGX_ZS_FUNC_NOT_EQUAL:
		return value != with;
	case AGX_ZS_FUNC_GEQUAL:
		return value >= with;
	default:
		return true;
	}
}

static int reference_operates(unsigned int op, int old, int reference)
{
	switch (op) {
	case AGX_STENCIL_OP_ZERO:
		return 0;
	case AGX_STENCIL_OP_REPLACE:
		return reference;
	case AGX_STENCIL_OP_INCR_SAT:
		return old == 255 ? 255 : old + 1;
	case AGX_STENCIL_OP_DECR_SAT:
		return old == 0 ? 0 : old - 1;
	case AGX_STENCIL_OP_INVERT:
		return 255 - old;
	case AGX_STENCIL_OP_INCR_WRAP:
		return (old + 1) % 256;
	case AGX_STENCIL_OP_DECR_WRAP:
		return (old + 255) % 256;
	default:
		return old;
	}
}

static unsigned int relation(double value, double with)
{
	return value < with ? 0 : value == with ? 1 : 2;
}

/* Depth as it is compared and kept: clamped to the viewport's range, and in the format's units */
static double reference_depth(float z, bool is_16)
{
	double depth = z < 0 ? 0 : z > 1 ? 1 : z;

	return is_16 ? nearbyint(depth * 65535) : depth;
}

static void count_seen(const struct draw *d, const struct face *f, const struct sample *was,
		       double z, uint8_t reference, enum outcome outcome)
{
	const unsigned int back = d->is_back;

	seen.depth[back][f->depth_func][relation(z, was->depth)]++;
	seen.write[back][outcome][f->depth_write][d->when]++;
	if (!d->tests_stencil)
		return;
	seen.stencil[back][f->stencil_func][relation(reference & f->read_mask,
						     was->stencil & f->read_mask)]++;
	seen.functions[back][f->depth_func][f->stencil_func]++;
	seen.op[back][outcome][f->op[outcome]][was->stencil == 0 ? 0 : was->stencil == 255 ? 1 : 2]++;
}

/* Draws to a sample */
static enum outcome reference_draw(const struct draw *d, bool is_16, struct sample *s)
{
	const unsigned int stencil_face = d->is_back && d->is_two_sided;
	struct face f = d->face[d->is_back];
	const double z = reference_depth(d->when == EMITTED ? d->emitted_z : d->z, is_16);
	bool stencil_passes = true, depth_passes;
	enum outcome outcome;
	uint8_t reference;
	int now;

	/* stencil of back faces is their own if it is two-sided */
	f.stencil_func = d->face[stencil_face].stencil_func;
	memcpy(f.op, d->face[stencil_face].op, sizeof(f.op));
	f.read_mask = d->face[stencil_face].read_mask;
	f.write_mask = d->face[stencil_face].write_mask;
	reference = d->when == EMITTED ? d->emitted_reference : d->face[stencil_face].reference;

	if (d->tests_stencil)
		stencil_passes = reference_compares(f.stencil_func, reference & f.read_mask,
						    s->stencil & f.read_mask);
	depth_passes = reference_compares(f.depth_func, z, s->depth);
	outcome = !stencil_passes ? STENCIL_FAILS : !depth_passes ? DEPTH_FAILS : PASSES;
	count_seen(d, &f, s, z, reference, outcome);
	if (d->tests_stencil) {
		now = reference_operates(f.op[outcome], s->stencil, reference);
		s->stencil = (s->stencil & ~f.write_mask) | (now & f.write_mask);
	}
	if (outcome == PASSES && f.depth_write)
		s->depth = z;
	if (outcome == PASSES)
		s->colour = d->number;
	return outcome;
}

/* Chance */

static uint8_t any_stencil(struct chance *c)
{
	static const uint8_t special[] = { 0, 1, 0x7f, 0x80, 0xfe, 0xff, 0, 0xff };

	return chance_pick(c, 3) ? special[chance_pick(c, COUNT(special))] :
				   (uint8_t)chance_bits(c);
}

static uint8_t any_mask(struct chance *c)
{
	return chance_pick(c, 2) ? 0xff : any_stencil(c);
}

static float any_depth(struct chance *c)
{
	static const float special[] = { 0, 1, 0.5f, 0x1p-126f, 0x1.fffffep-1f };

	return chance_pick(c, 4) ? (float)chance_fraction(c) :
				   special[chance_pick(c, COUNT(special))];
}

static struct face any_face(struct chance *c)
{
	struct face f = {
		.depth_func = chance_pick(c, 8), .stencil_func = chance_pick(c, 8),
		.op = { chance_pick(c, 8), chance_pick(c, 8), chance_pick(c, 8) },
		.reference = any_stencil(c), .read_mask = any_mask(c), .write_mask = any_mask(c),
		.depth_write = chance_pick(c, 2),
	};

	return f;
}

static void make_draw(struct chance *c, struct draw *d, unsigned int cell, enum when when,
		      uint32_t number)
{
	*d = (struct draw){
		.cell_x = cell % CELLS, .cell_y = cell / CELLS, .when = when, .number = number,
		.is_back = chance_pick(c, 2), .is_two_sided = chance_pick(c, 3),
		.tests_stencil = chance_pick(c, 5), .face = { any_face(c), any_face(c) },
		.z = any_depth(c), .emitted_reference = any_stencil(c),
	};
	d->emitted_z = chance_pick(c, 4) ? any_depth(c) : 3 * any_depth(c) - 1;
}

/* A depth that is near to what a draw of the cell has, on either side, or any */
static double old_depth(struct chance *c, float z, bool is_16)
{
	const double step = is_16 ? 1 : 0x1p-24, most = is_16 ? 65535 : 1;
	double depth = reference_depth(chance_pick(c, 4) ? z : any_depth(c), is_16) +
		       step * ((int)chance_pick(c, 3) - 1);

	/* as memory has it */
	return depth < 0 ? 0 : depth > most ? most : is_16 ? depth : (float)depth;
}

/* Memory */

static void *sample_at(uint64_t va, unsigned int bytes, unsigned int samples, unsigned int x,
		       unsigned int y, unsigned int s)
{
	struct agx_layout layout = {
		.kind = AGX_IMAGE_LAYOUT_GPU, .width = SIDE, .height = SIDE, .layers = 1,
		.levels = 1, .samples = samples, .element_bytes = bytes,
	};
	const struct agx_texel at = { .x = x, .y = y, .sample = s };

	assert_null(agx_layout_init(&layout));
	return render_at(va + agx_layout_offset(&layout, &at));
}

static double get_depth(const void *p, bool is_16)
{
	uint16_t half;
	float number;

	memcpy(&half, p, sizeof(half));
	if (is_16)
		return half;
	memcpy(&number, p, sizeof(number));
	return number;
}

static void put_depth(void *p, bool is_16, double depth)
{
	const uint16_t half = (uint16_t)depth;
	const float number = (float)depth;

	if (is_16)
		memcpy(p, &half, sizeof(half));
	else
		memcpy(p, &number, sizeof(number));
}

/* Puts an image to memory that has much in common with the draws of its cells */
static void make_image(struct chance *c, unsigned int samples, bool is_16, unsigned int count)
{
	static const struct draw *of[CELLS][CELLS];
	unsigned int x, y, s, i;

	for (i = 0; i < count; i++) {
		if (!of[draws[i].cell_y][draws[i].cell_x] || chance_pick(c, 2))
			of[draws[i].cell_y][draws[i].cell_x] = &draws[i];
	}
	for (i = 0; i < SIDE * SIDE * samples; i++) {
		x = i / samples % SIDE;
		y = i / samples / SIDE;
		s = i % samples;
		const struct draw *d = of[y / CELL][x / CELL];
		struct sample *to = &image[y][x][s];

		to->depth = old_depth(c, d->when == EMITTED ? d->emitted_z : d->z, is_16);
		to->stencil = chance_pick(c, 3) ? any_stencil(c) : d->face[d->is_back].reference;
		to->colour = CLEAR_COLOUR;
		put_depth(sample_at(DEPTH_VA, is_16 ? 2 : 4, samples, x, y, s), is_16, to->depth);
		*(uint8_t *)sample_at(STENCIL_VA, 1, samples, x, y, s) = to->stencil;
	}
}

/* The render */

static void put_state(struct scene *s, const struct draw *d)
{
	struct agx_writer *w = &s->state;
	const uint64_t va = STATE_VA + w->used;
	const size_t begin = w->used;
	const struct face *front = &d->face[0], *back = &d->face[1];

	agx_put(w, ppp_header, .fragment_control = true, .front_face = true,
		.front_stencil = true, .back_face = true, .back_stencil = true,
		.occlusion_query = true);
	agx_put(w, ppp_fragment_control, .scissor_enable = true,
		.visibility = AGX_VISIBILITY_COUNTING, .stencil_test_enable = d->tests_stencil,
		.two_sided_stencil = d->is_two_sided,
		.pass_type = d->when == EARLY ? AGX_PASS_TYPE_OPAQUE :
						AGX_PASS_TYPE_PUNCH_THROUGH);
	agx_put(w, ppp_front_face, .stencil_reference = front->reference,
		.depth_write_disable = !front->depth_write, .depth_func = front->depth_func);
	agx_put(w, ppp_front_stencil, .write_mask = front->write_mask,
		.read_mask = front->read_mask, .stencil_fail = front->op[0],
		.depth_fail = front->op[1], .depth_pass = front->op[2],
		.compare = front->stencil_func);
	agx_put(w, ppp_back_face, .stencil_reference = back->reference,
		.depth_write_disable = !back->depth_write, .depth_func = back->depth_func);
	agx_put(w, ppp_back_stencil, .write_mask = back->write_mask, .read_mask = back->read_mask,
		.stencil_fail = back->op[0], .depth_fail = back->op[1],
		.depth_pass = back->op[2], .compare = back->stencil_func);
	agx_put(w, ppp_occlusion_query, .index = d->number % QUERIES);
	agx_put(&s->stream, vdm_ppp_state, .address = va, .words = (w->used - begin) / 4);
}

/* A rectangle over the cell, clockwise if it is a front face */
static void put_cell(struct scene *s, const struct draw *d)
{
	const float left = d->cell_x * 2.0f / CELLS - 1, top = d->cell_y * 2.0f / CELLS - 1;
	const float right = left + 2.0f / CELLS, bottom = top + 2.0f / CELLS;
	const float corner[4][2] = {
		{ d->is_back ? right : left, top }, { d->is_back ? left : right, top },
		{ d->is_back ? right : left, bottom }, { d->is_back ? left : right, bottom },
	};
	float v[4][SCENE_VERTEX_WORDS];
	unsigned int i;

	for (i = 0; i < 4; i++) {
		const float vertex[] = {
			corner[i][0], corner[i][1], d->z, 1, d->emitted_z,
			bits_float(d->emitted_reference), bits_float(d->number), 0,
		};

		memcpy(v[i], vertex, sizeof(vertex));
	}
	scene_draw(s, AGX_PRIMITIVE_TRIANGLE_STRIP, scene_vertices(s, (const void *)v, 4), 4);
}

static unsigned int make_draws(struct chance *c)
{
	unsigned int when, cell, count = 0;

	for (when = 0; when < WHENS; when++) {
		for (cell = 0; cell < CELLS * CELLS; cell++) {
			/* each cell has one at least */
			if (when < EMITTED && !chance_pick(c, 3))
				continue;
			make_draw(c, &draws[count], cell, when, count + 1);
			count++;
		}
	}
	return count;
}

static void set_planes(struct render_fixture *f, bool is_16)
{
	struct agx_zls_control control = agx_zls_control_default();

	control.z_load = control.s_load = control.z_store = control.s_store = true;
	control.z_format = is_16 ? AGX_ZLS_FORMAT_16 : AGX_ZLS_FORMAT_32F;
	agx_packet_pack(AGX_PACKET_zls_control, (uint8_t *)&f->fragment.zls_control, &control, NULL);
	f->fragment.depth.load.base = f->fragment.depth.store.base = DEPTH_VA;
	f->fragment.stencil.load.base = f->fragment.stencil.store.base = STENCIL_VA;
}

static void run_render(struct render_fixture *f, unsigned int count)
{
	enum when when = WHENS;
	struct scene_state t;
	struct scene s;
	unsigned int i;

	t = scene_default(f);
	t.shade = AGX_SHADE_MODEL_FLAT_VERTEX_0;
	scene_begin(&s, f);
	for (i = 0; i < count; i++) {
		if (draws[i].when != when) {
			when = draws[i].when;
			t.fragment_shader = shaders[when];
			t.early_z = when == EARLY;
			scene_set(&s, &t);
		}
		put_state(&s, &draws[i]);
		put_cell(&s, &draws[i]);
	}
	scene_run(&s);
}

static void say_draw(const struct draw *d)
{
	static const char *const whens[] = { "early", "late", "emitted" };
	unsigned int i;

	print_error("draw %u: %s, z %a, emitted %a and %#x, %s face, stencil test %u, two-sided %u\n",
		    d->number, whens[d->when], d->z, d->emitted_z, d->emitted_reference,
		    d->is_back ? "back" : "front", d->tests_stencil, d->is_two_sided);
	for (i = 0; i < 2; i++)
		print_error("  %s: depth func %u, write %u; stencil func %u, ops %u %u %u, "
			    "reference %#x, masks %#x %#x\n", i ? "back" : "front",
			    d->face[i].depth_func, d->face[i].depth_write, d->face[i].stencil_func,
			    d->face[i].op[0], d->face[i].op[1], d->face[i].op[2],
			    d->face[i].reference, d->face[i].read_mask, d->face[i].write_mask);
}

static void check_sample(struct render_fixture *f, const struct chance *c, bool is_16,
			 unsigned int count, unsigned int x, unsigned int y, unsigned int s)
{
	const unsigned int samples = f->vertex.geometry.samples;
	const struct sample *want = &image[y][x][s];
	const double depth = get_depth(sample_at(DEPTH_VA, is_16 ? 2 : 4, samples, x, y, s), is_16);
	const uint8_t stencil = *(uint8_t *)sample_at(STENCIL_VA, 1, samples, x, y, s);
	unsigned int i;
	uint32_t colour;

	memcpy(&colour, (const uint8_t *)scene_pixel_at(f, x, y, 0) + 4 * s, sizeof(colour));
	if (depth == want->depth && stencil == want->stencil && colour == want->colour)
		return;
	for (i = 0; i < count; i++) {
		if (draws[i].cell_x == x / CELL && draws[i].cell_y == y / CELL)
			say_draw(&draws[i]);
	}
	fail_msg("seed %llu, pixel (%u, %u), sample %u of %u: depth %.9g, stencil %#x, colour %#x, "
		 "not %.9g, %#x, %#x", (unsigned long long)c->seed, x, y, s, samples, depth, stencil,
		 colour, want->depth, want->stencil, want->colour);
}

static void check_render(struct render_fixture *f, uint64_t stream, unsigned int samples, bool is_16)
{
	struct chance c = chance_begin(stream);
	unsigned int count, i, x, y, s;

	render_size(f, SIDE, SIDE, 1, samples);
	f->vertex.ppp_multisample = f->fragment.ppp_multisample =
		samples == 4 ? 0xeaa26e26 : samples == 2 ? 0x44cc : 0x88;
	set_planes(f, is_16);
	memset(counted, 0, sizeof(counted));
	count = make_draws(&c);
	make_image(&c, samples, is_16, count);
	run_render(f, count);
	for (i = 0; i < count * CELL * CELL * samples; i++) {
		const struct draw *d = &draws[i / samples / (CELL * CELL)];

		x = d->cell_x * CELL + i / samples % CELL;
		y = d->cell_y * CELL + i / samples / CELL % CELL;
		counted[d->number % QUERIES] +=
			reference_draw(d, is_16, &image[y][x][i % samples]) == PASSES;
	}
	for (i = 0; i < SIDE * SIDE * samples; i++) {
		x = i / samples % SIDE;
		y = i / samples / SIDE;
		s = i % samples;
		check_sample(f, &c, is_16, count, x, y, s);
	}
	for (i = 0; i < QUERIES; i++) {
		if (scene_query(i) != counted[i])
			fail_msg("seed %llu, counter %u: %llu samples, not %llu",
				 (unsigned long long)c.seed, i, (unsigned long long)scene_query(i),
				 (unsigned long long)counted[i]);
	}
}

static void test_samples_1(void **state)
{
	check_render(*state, 10, 1, false);
	check_render(*state, 11, 1, false);
	check_render(*state, 12, 1, true);
}

static void test_samples_2(void **state)
{
	check_render(*state, 20, 2, false);
	check_render(*state, 21, 2, true);
}

static void test_samples_4(void **state)
{
	check_render(*state, 40, 4, false);
	check_render(*state, 41, 4, true);
}

static void assert_seen(const char *what, const unsigned int *counts, unsigned int number)
{
	unsigned int i;

	for (i = 0; i < number; i++) {
		if (!counts[i])
			fail_msg("%s: number %u of %u did not come up", what, i, number);
	}
}

#define ASSERT_SEEN(what)							\
	assert_seen(#what, (const unsigned int *)seen.what, sizeof(seen.what) / sizeof(unsigned int))

/* After all of the others */
static void test_all_came_up(void **state)
{
	ASSERT_SEEN(depth);
	ASSERT_SEEN(stencil);
	ASSERT_SEEN(functions);
	ASSERT_SEEN(op);
	ASSERT_SEEN(write);
}

#define ZS_TEST(test) cmocka_unit_test_setup_teardown(test, render_setup, render_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ZS_TEST(test_samples_1),
		ZS_TEST(test_samples_2),
		ZS_TEST(test_samples_4),
		cmocka_unit_test(test_all_came_up),
	};

	return cmocka_run_group_tests_name("zs_table", tests, NULL, NULL);
}
