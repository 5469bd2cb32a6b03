// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The compiler of shader cores: random programs of fragments, which interpolate varyings of several
 * primitives and compute with the results. They have to leave the same memory as with the
 * interpreter. Where the processor has no native code these have nothing to compare.
 *
 * VAGX_SEED gives other programs.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chance.h"
#include "core_fixture.h"
#include "core_internal.h"
#include "jit/jit.h"
#include "jit_fixture.h"

#define PROGRAMS	300
#define PRIMITIVES	3
#define PLANES		6
/* Registers of random values, and words that a lane has of them in memory */
#define FIRST_REG	2
#define REGS		12
#define ROW		16

static const char *const modes[] = { "all", "check", "all,avx2", "check,avx2" };

/* Fragments and their program */
struct stage_case {
	struct vagx_tile tile;
	struct vagx_fragments fragments;
	struct vagx_plane planes[PRIMITIVES][PLANES];
	uint32_t words[LANES * ROW];
	char text[8192];
	size_t length;
};

struct text {
	struct stage_case *c;
	struct chance chance;
};

__attribute__((format(printf, 2, 3)))
static void put(struct stage_case *c, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(c->text + c->length, sizeof(c->text) - c->length, format, args);
	va_end(args);
	assert_true(n >= 0 && (size_t)n < sizeof(c->text) - c->length);
	c->length += (size_t)n;
}

static unsigned int any_reg(struct text *t)
{
	return FIRST_REG + chance_pick(&t->chance, REGS);
}

/* The registers of @count elements from one on: words, or halves */
static void put_registers(struct text *t, unsigned int count)
{
	bool halves = !chance_pick(&t->chance, 3);
	unsigned int reg = FIRST_REG + chance_pick(&t->chance, REGS - count + 1);
	unsigned int first = chance_pick(&t->chance, 2), i;

	for (i = 0; i < count; i++) {
		put(t->c, i ? "_" : "");
		if (halves)
			put(t->c, "r%u%c", reg + (first + i) / 2, "lh"[(first + i) % 2]);
		else
			put(t->c, "r%u", reg + i);
	}
}

/* Interpolation of one to four components; by numbers in registers now and then */
static void put_iter(struct text *t)
{
	static const char *const places[] = { "", "", "", "", ", 1, sample", ", centroid" };
	unsigned int count = 1 + chance_pick(&t->chance, 4);

	put(t->c, "iter ");
	put_registers(t, count);
	if (chance_pick(&t->chance, 8)) {
		put(t->c, ", cf%u", chance_pick(&t->chance, PLANES - count + 1));
	} else {
		put(t->c, ", r14l");
	}
	if (chance_pick(&t->chance, 2))
		put(t->c, ", cf%u", chance_pick(&t->chance, PLANES));
	put(t->c, "%s\n", places[chance_pick(&t->chance, 6)]);
}

static void put_ldcf(struct text *t)
{
	put(t->c, "ldcf ");
	put_registers(t, 3);
	put(t->c, ", cf%u\n", chance_pick(&t->chance, PLANES));
}

static void put_float(struct text *t)
{
	static const char *const names[] = { "fadd", "fmul", "ffma", "iadd", "xor", "fadd" };
	static const char *const halves[] = { "", "", "l", "h" };
	unsigned int kind = chance_pick(&t->chance, 6), i;

	put(t->c, "%s r%u%s", names[kind], any_reg(t), halves[chance_pick(&t->chance, 4)]);
	for (i = 0; i < (kind == 2 ? 3 : 2); i++)
		put(t->c, ", r%u%s", any_reg(t), halves[chance_pick(&t->chance, 4)]);
	put(t->c, "\n");
}

static void put_instructions(struct text *t, unsigned int count, bool branches)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		switch (chance_pick(&t->chance, 10)) {
		case 0:
		case 1:
		case 2:
			put_iter(t);
			break;
		case 3:
			put_ldcf(t);
			break;
		case 4:
			put(t->c, "mov r%u%s, thread_in_grid_%c\n", any_reg(t),
			    chance_pick(&t->chance, 3) ? "" : "h",
			    "xy"[chance_pick(&t->chance, 2)]);
			break;
		case 5:
			if (!branches)
				break;
			put(t->c, "if r%u, r%u, 1, ult\n", any_reg(t), any_reg(t));
			put_instructions(t, 4, false);
			put(t->c, "pop_exec 1\n");
			break;
		case 6:
			put(t->c, "dfd%c r%u%s, r%u%s\n", "xy"[chance_pick(&t->chance, 2)],
			    any_reg(t), chance_pick(&t->chance, 3) ? "" : "h", any_reg(t),
			    chance_pick(&t->chance, 3) ? "" : "l");
			break;
		default:
			put_float(t);
		}
	}
}

/* The rows of registers that a lane has in memory */
static void put_rows(struct text *t, const char *name)
{
	unsigned int reg;

	for (reg = FIRST_REG; reg < FIRST_REG + REGS; reg += 4)
		put(t->c, "iadd r20, r1, %u\n%s r%u_r%u_r%u_r%u, du0, r20, i32, xyzw, a\nwait a\n",
		    reg - FIRST_REG, name, reg, reg + 1, reg + 2, reg + 3);
}

/* Coefficients are mostly near 1, and now and then so small that results are tiny, or no numbers */
static uint32_t any_coefficient(struct chance *c)
{
	static const uint32_t words[] = {
		0, 0x80000000, 0x3f800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7fa00001,
		0x00800000, 0x80800000, 0x00400000, 0x80000001, 0x007fffff, 0x00ffffff, 0x7f7fffff,
	};

	switch (chance_pick(c, 6)) {
	case 0:
		return words[chance_pick(c, sizeof(words) / sizeof(words[0]))];
	case 1:
		return (chance_bits(c) & 0x80ffffff) + 0x00200000;
	default:
		return (chance_bits(c) & 0x83ffffff) + 0x3d000000;
	}
}

/* Coefficients about the smallest normal number, whose sums and quotients are often tiny */
static uint32_t tiny_coefficient(struct chance *c)
{
	return chance_pick(c, 4) ? (chance_bits(c) & 0x80ffffff) + 0x00800000 :
				   (chance_bits(c) & 0x80ffffff) + 0x3f000000;
}

static uint32_t plane_coefficient(struct chance *c, bool is_tiny)
{
	return is_tiny ? tiny_coefficient(c) : any_coefficient(c);
}

/* What is the same everywhere: quotients of these can be next to the smallest normal number */
static struct vagx_plane flat_plane(struct chance *c)
{
	static const uint32_t words[] = { 0x00ffffff, 0x80ffffff, 0x40000000, 0xc0000000 };

	return (struct vagx_plane){ .c = words[chance_pick(c, 4)] };
}

static void make_planes(struct stage_case *c, struct chance *chance)
{
	bool is_tiny = !chance_pick(chance, 3);
	unsigned int i, n;

	for (i = 0; i < PRIMITIVES; i++) {
		for (n = 0; n < PLANES; n++)
			c->planes[i][n] = is_tiny && chance_pick(chance, 2) ?
				flat_plane(chance) : (struct vagx_plane){
				plane_coefficient(chance, is_tiny),
				plane_coefficient(chance, is_tiny),
				plane_coefficient(chance, is_tiny),
			};
	}
}

static void make_fragments(struct stage_case *c, struct chance *chance)
{
	unsigned int primitives = 1 + chance_pick(chance, PRIMITIVES), i;

	c->tile = (struct vagx_tile){
		.x = 64, .y = 32, .width = 32, .height = 32, .samples = 2,
		.sample_positions = 0xaa44,
	};
	c->fragments = (struct vagx_fragments){ .num_planes = PLANES, .tested = true };
	for (i = 0; i < LANES; i++) {
		c->fragments.x[i] = (uint16_t)(64 + chance_pick(chance, 32));
		c->fragments.y[i] = (uint16_t)(32 + chance_pick(chance, 32));
		c->fragments.live[i] = 3;
		c->fragments.input[i] = (uint8_t)chance_pick(chance, 4);
	}
	for (i = 0; i < LANES / 4; i++) {
		c->fragments.planes[i] = c->planes[chance_pick(chance, primitives)];
		if (chance_pick(chance, 4))
			c->fragments.exists |= 15u << 4 * i;
		else
			c->fragments.planes[i] = NULL;
	}
	if (chance_pick(chance, 2) || !c->fragments.exists)
		c->fragments.exists = 0xfu << 4 * chance_pick(chance, 8);
	for (i = 0; i < LANES / 4 && chance_pick(chance, 2); i++) {
		c->fragments.exists |= 15u << 4 * i;
		c->fragments.planes[i] = c->planes[chance_pick(chance, primitives)];
	}
	for (i = 0; i < LANES / 4; i++) {
		if (c->fragments.exists >> 4 * i & 15 && !c->fragments.planes[i])
			c->fragments.planes[i] = c->planes[0];
	}
}

static void make_case(struct stage_case *c, unsigned int number)
{
	struct text t = { .c = c, .chance = chance_begin(number) };
	unsigned int i;

	memset(c, 0, sizeof(*c));
	make_planes(c, &t.chance);
	make_fragments(c, &t.chance);
	for (i = 0; i < LANES * ROW; i++)
		c->words[i] = any_coefficient(&t.chance);
	put(c, "mov r1, thread_index_in_simdgroup\nand r14, r1, 1\nshl r1, r1, 4\nldimm r0l, 0\n");
	put_rows(&t, "load");
	put_instructions(&t, 16, true);
	put_rows(&t, "store");
	put(c, "stop\n");
}

/* Return: what vagx_core_run_fragments() returns; memory has the registers then */
static int run_case(struct fixture *f, struct stage_case *c)
{
	memcpy(fixture_words(), c->words, sizeof(c->words));
	fixture_code(f, c->text);
	return vagx_core_run_fragments(f->core, &f->launch, &c->tile, &c->fragments, &f->fault);
}

static void compare_case(struct stage_case *c, const char *mode)
{
	static uint32_t wanted[LANES * ROW];
	struct fixture *f = jit_begin("off");
	unsigned int i;
	int err;

	assert_int_equal(run_case(f, c), 0);
	memcpy(wanted, fixture_words(), sizeof(wanted));
	jit_end(f);
	f = jit_begin(mode);
	err = run_case(f, c);
	if (err)
		fail_msg("%s\n%s: %s", c->text, mode, vagx_core_error(f->core));
	for (i = 0; i < LANES * ROW; i++) {
		if (fixture_words()[i] != wanted[i])
			fail_msg("%s\n%s: register %u of lane %u is 0x%x, not 0x%x", c->text, mode,
				 FIRST_REG + i % ROW, i / ROW, fixture_words()[i], wanted[i]);
	}
	jit_end(f);
}

static void random_fragments_agree(void **state)
{
	static struct stage_case c;
	unsigned int i, mode;

	for (i = 0; i < PROGRAMS; i++) {
		make_case(&c, i);
		for (mode = 0; mode < sizeof(modes) / sizeof(modes[0]); mode++) {
			if (jit_has_mode(modes[mode]))
				compare_case(&c, modes[mode]);
		}
	}
}

/* Interpolation calls nothing, whatever its destination is */
static void interpolation_is_native(void **state)
{
	static struct stage_case c;
	unsigned int i;

	for (i = 0; i < 4; i += 2) {
		struct fixture *f = jit_begin(jit_has_mode(modes[i]) ? modes[i] : modes[0]);

		if (!f->config.jit)
			skip();
		make_case(&c, 0);
		c.length = 0;
		put(&c, "iter r2_r3_r4_r5, cf1, cf0\niter r6, cf0\niter r7l_r7h, cf2, cf1\n"
			"ldcf r8_r9_r10, cf3\nldcf r11l_r11h_r12l, cf4\n"
			"mov r13, thread_in_grid_x\nmov r13l, thread_in_grid_y\nstop\n");
		assert_int_equal(run_case(f, &c), 0);
		assert_int_equal(jit_stats(f).instructions, 8);
		assert_int_equal(jit_stats(f).native, 7);
		jit_end(f);
	}
}

/*
 * A program of fragments that vertices, too, run, or ends of tiles: the code is of one of them. And
 * with fewer coefficient registers than it wants it fails, as it does when it is interpreted.
 */
static void code_is_for_its_stage(void **state)
{
	static struct stage_case c;
	static uint32_t out[LANES];
	struct vagx_vertices vertices = { .count = 32, .words = 1, .out = out };
	unsigned int i;

	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		struct fixture *f;

		if (!jit_has_mode(modes[i]))
			continue;
		f = jit_begin(modes[i]);
		make_case(&c, 1);
		c.length = 0;
		put(&c, "fadd r2, r2, 1.0\niter r2_r3_r4, cf1\nfadd r5, r2, r2\nstop\n");
		assert_int_equal(run_case(f, &c), 0);
		assert_int_equal(vagx_core_run_vertices(f->core, &f->launch, &vertices, &f->fault),
				 -EILSEQ);
		assert_int_equal(vagx_core_run_tile(f->core, &f->launch, &c.tile, &f->fault),
				 -EILSEQ);
		assert_int_equal(vagx_core_run_fragments(f->core, &f->launch, &c.tile,
							 &c.fragments, &f->fault), 0);
		c.fragments.num_planes = 3;
		assert_int_equal(vagx_core_run_fragments(f->core, &f->launch, &c.tile,
							 &c.fragments, &f->fault), -ERANGE);
		assert_non_null(strstr(vagx_core_error(f->core), "coefficient register 3 of 3"));
		jit_end(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_fragments_agree),
		cmocka_unit_test(interpolation_is_native),
		cmocka_unit_test(code_is_for_its_stage),
	};

	return cmocka_run_group_tests_name("jit_stage", tests, NULL, NULL);
}
