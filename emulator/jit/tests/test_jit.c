// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The compiler of shader cores: memory for its code, what it refuses, and programs that are made
 * of random arithmetic, branches, loops and accesses, which have to leave the same memory and
 * counters as with the interpreter. Where the processor has no native code these have nothing
 * to compare. The tests of the cores run with native code, too (gpu/tests/meson.build).
 *
 * VAGX_SEED gives other programs.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agx_isa.h"
#include "chance.h"
#include "code.h"
#include "core_fixture.h"
#include "core_internal.h"
#include "jit/jit.h"
#include "jit_fixture.h"

#define PROGRAMS	300
/* The last simdgroup has lanes without a thread */
#define THREADS		90
/* Words of memory that a program changes: a row for each thread, and some that all can write */
#define WORDS		(DATA_SIZE / 4)
/* Registers of random values */
#define FIRST_REG	2
#define REGS		12

/* Memory for code */

static void arena_keeps_code(void **state)
{
	static const uint8_t returns_42[] = { 0xb8, 42, 0, 0, 0, 0xc3 };
	struct vagx_arena *arena = vagx_arena_new(0);
	struct vagx_code code[2];

	assert_non_null(arena);
	assert_int_equal(vagx_arena_add(arena, returns_42, sizeof(returns_42), &code[0]), 0);
	assert_int_equal(vagx_arena_add(arena, returns_42, sizeof(returns_42), &code[1]), 0);
	assert_ptr_not_equal(code[0].run, code[1].run);
	assert_memory_equal(code[1].run, returns_42, sizeof(returns_42));
	vagx_arena_remove(arena, &code[0]);
	vagx_arena_remove(arena, &code[1]);
	vagx_arena_free(arena);
}

#if defined(__x86_64__) || defined(__aarch64__)
/* Code that returns @value, which is below 256 */
static void make_returning(uint8_t bytes[8], uint8_t value)
{
#ifdef __x86_64__
	/* mov eax, value; ret */
	const uint8_t made[8] = { 0xb8, value, 0, 0, 0, 0xc3 };
#else
	/* movz w0, value; ret */
	const uint32_t made[2] = { 0x52800000 | (uint32_t)value << 5, 0xd65f03c0 };
#endif

	memcpy(bytes, made, 8);
}

/* What is executed is what was written last, where other code was before */
static void code_is_executed(void **state)
{
	struct vagx_arena *arena = vagx_arena_new(0);
	const void *first = NULL, *run;
	struct vagx_code code;
	uint8_t bytes[8];
	int (*fn)(void);
	unsigned int i;

	assert_non_null(arena);
	for (i = 0; i < 200; i++) {
		make_returning(bytes, (uint8_t)i);
		assert_int_equal(vagx_arena_add(arena, bytes, sizeof(bytes), &code), 0);
		vagx_code_see();
		run = code.run;
		first = first ? first : run;
		assert_ptr_equal(run, first);
		memcpy(&fn, &run, sizeof(fn));
		assert_int_equal(fn(), i);
		vagx_arena_remove(arena, &code);
	}
	vagx_arena_free(arena);
}
#endif

/* No address of the process can be written and executed */
static void no_page_is_written_and_run(void **state)
{
	struct vagx_arena *arena = vagx_arena_new(0);
	char line[512], access[8];
	struct vagx_code code;
	FILE *maps;

	assert_int_equal(vagx_arena_add(arena, "\xc3", 1, &code), 0);
	maps = fopen("/proc/self/maps", "r");
	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		assert_int_equal(sscanf(line, "%*s %7s", access), 1);
		assert_false(access[1] == 'w' && access[2] == 'x');
	}
	fclose(maps);
	vagx_arena_remove(arena, &code);
	vagx_arena_free(arena);
}

/* A full arena says so, and has room again for what is given back */
static void arena_is_bounded(void **state)
{
	enum { SIZE = 700000, MOST = VAGX_ARENA_MAX / SIZE + 1 };
	static struct vagx_code code[MOST];
	static uint8_t bytes[SIZE];
	struct vagx_arena *arena = vagx_arena_new(0);
	unsigned int count = 0, round, i;
	int err = 0;

	for (round = 0; round < 2; round++) {
		for (count = 0; count < MOST && !err; count += !err)
			err = vagx_arena_add(arena, bytes, SIZE, &code[count]);
		assert_int_equal(err, -ENOSPC);
		/* a chunk of 1 MiB has room for one only */
		assert_int_equal(count, VAGX_ARENA_MAX >> 20);
		for (i = 0; i < count; i++)
			vagx_arena_remove(arena, &code[i]);
		err = 0;
	}
	assert_int_equal(vagx_arena_add(arena, bytes, VAGX_ARENA_MAX + 1, &code[0]), -ENOSPC);
	vagx_arena_free(arena);
}

static void *add_and_remove(void *arena)
{
	struct vagx_code code[8];
	uint8_t bytes[2000];
	unsigned int i, n;

	memset(bytes, (int)(uintptr_t)&code & 0xff, sizeof(bytes));
	for (i = 0; i < 2000; i++) {
		for (n = 0; n < 8; n++) {
			if (vagx_arena_add(arena, bytes, sizeof(bytes), &code[n]))
				return arena;
		}
		for (n = 0; n < 8; n++) {
			if (memcmp(code[n].run, bytes, sizeof(bytes)))
				return arena;
			vagx_arena_remove(arena, &code[n]);
		}
	}
	return NULL;
}

static void threads_share_an_arena(void **state)
{
	struct vagx_arena *arena = vagx_arena_new(0);
	pthread_t thread;
	void *failed;

	assert_int_equal(pthread_create(&thread, NULL, add_and_remove, arena), 0);
	assert_null(add_and_remove(arena));
	pthread_join(thread, &failed);
	assert_null(failed);
	vagx_arena_free(arena);
}

/* Programs */

/* Where the processor can run native code there is some: else most tests compare nothing */
static void compiler_is_there(void **state)
{
	struct fixture *f;

#ifdef __x86_64__
	if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
		skip();
#elif !defined(__aarch64__)
	skip();
#endif
	f = jit_begin("all");
	assert_non_null(f->config.jit);
	jit_end(f);
	f = jit_begin(jit_has_mode("check,avx2") ? "check,avx2" : "check");
	assert_non_null(f->config.jit);
	jit_end(f);
}

struct text {
	char *at;
	size_t left;
	struct chance chance;
	/* loops and branches around what is written now */
	unsigned int depth;
};

__attribute__((format(printf, 2, 3)))
static void put(struct text *t, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(t->at, t->left, format, args);
	va_end(args);
	assert_true(n >= 0 && (size_t)n < t->left);
	t->at += n;
	t->left -= (size_t)n;
}

static unsigned int any_reg(struct text *t)
{
	return FIRST_REG + chance_pick(&t->chance, REGS);
}

/* Any source of 16 or 32 bits: a register, a half, a uniform, or an immediate that all take */
static const char *any_source(struct text *t, char text[16], bool is_float)
{
	switch (chance_pick(&t->chance, 6)) {
	case 0:
		snprintf(text, 16, "r%u%c", any_reg(t), chance_pick(&t->chance, 2) ? 'h' : 'l');
		break;
	case 1:
		snprintf(text, 16, "u%u", 16 + chance_pick(&t->chance, 8));
		break;
	case 2:
		snprintf(text, 16, is_float ? "1.5" : "%u", chance_pick(&t->chance, 40));
		break;
	default:
		snprintf(text, 16, "r%u", any_reg(t));
	}
	return text;
}

static void put_float(struct text *t)
{
	static const char *const names[] = { "fadd", "fmul", "ffma" };
	static const char *const modifiers[] = { "", "", "", ".abs", ".neg" };
	unsigned int kind = chance_pick(&t->chance, 3), i;
	char source[16];

	put(t, "%s r%u%s", names[kind], any_reg(t),
	    chance_pick(&t->chance, 4) ? "" : chance_pick(&t->chance, 2) ? "l" : "h");
	for (i = 0; i < (kind == 2 ? 3 : 2); i++)
		put(t, ", %s%s", any_source(t, source, true),
		    modifiers[chance_pick(&t->chance, 5)]);
	put(t, chance_pick(&t->chance, 4) ? "\n" : ", sat\n");
}

static void put_half(struct text *t)
{
	static const char *const names[] = { "hadd", "hmul", "hfma" };
	unsigned int kind = chance_pick(&t->chance, 3), i;

	put(t, "%s r%u%s", names[kind], any_reg(t), chance_pick(&t->chance, 2) ? "l" : "h");
	for (i = 0; i < (kind == 2 ? 3 : 2); i++)
		put(t, ", r%u%s", any_reg(t), chance_pick(&t->chance, 2) ? "l" : "h");
	put(t, "\n");
}

static void put_integer(struct text *t)
{
	static const char *const names[] = {
		"iadd", "isub", "imul", "and", "or", "xor", "andn1", "orn2", "shl", "shr", "asr",
	};
	unsigned int kind = chance_pick(&t->chance, 11);
	char a[16], b[16];

	put(t, "%s r%u, %s, %s%s\n", names[kind], any_reg(t), any_source(t, a, false),
	    any_source(t, b, false), kind == 10 ? ", 0, 0" : "");
}

static void put_other(struct text *t)
{
	static const char *const conversions[] = {
		"s32_to_f", "u32_to_f", "f_to_s32", "f_to_u32", "f_to_s16", "f_to_u16",
	};
	static const char *const roundings[] = { "floor", "ceil", "trunc", "rint", "rcp" };
	unsigned int r = any_reg(t), a = any_reg(t), b = any_reg(t);
	char source[16];

	switch (chance_pick(&t->chance, 6)) {
	case 0:
		put(t, "csel r%u, r%u, r%u, r%u, r%u, %s\n", r, a, b, any_reg(t), any_reg(t),
		    chance_pick(&t->chance, 2) ? "flt" : "slt");
		break;
	case 1:
		put(t, "%s r%u%s, %s, %s\n", conversions[chance_pick(&t->chance, 6)], r,
		    chance_pick(&t->chance, 4) ? "" : "h", any_source(t, source, false),
		    chance_pick(&t->chance, 4) ? "rte" : "rtz");
		break;
	case 2:
		put(t, "%s r%u, r%u\n", roundings[chance_pick(&t->chance, 5)], r, a);
		break;
	case 3:
		put(t, "%s dr%u, dr%u, %s%s\n", chance_pick(&t->chance, 2) ? "iadd" : "isub",
		    2 + 2 * (r % 4), 2 + 2 * (a % 4), any_source(t, source, false),
		    chance_pick(&t->chance, 2) ? "" : ", lsl 2");
		break;
	case 4:
		put(t, "bfi r%u, r%u, r%u, %u, %u\n", r, a, b, chance_pick(&t->chance, 32),
		    1 + chance_pick(&t->chance, 20));
		break;
	default:
		put(t, "imadd r%u, r%u, r%u, r%u\n", r, a, b, any_reg(t));
	}
}

/* Special functions, of words that are mostly near 1, as those of shaders are */
static void put_special(struct text *t)
{
	static const char *const names[] = { "rsqrt", "rsqrts", "log2", "exp2", "sinr", "sinc" };
	static const char *const modifiers[] = { "", "", ".abs", ".neg" };
	char source[16];

	put(t, "%s r%u%s, %s%s%s\n", names[chance_pick(&t->chance, 6)], any_reg(t),
	    chance_pick(&t->chance, 4) ? "" : "l", any_source(t, source, true),
	    modifiers[chance_pick(&t->chance, 4)], chance_pick(&t->chance, 4) ? "" : ", sat");
}

/* Bits that are counted, turned round, spread or shifted between words */
static void put_bits(struct text *t)
{
	static const char *const names[] = { "bitrev", "popcnt", "ffs", "intl", "extr" };
	unsigned int kind = chance_pick(&t->chance, 5);
	char a[16], b[16], c[16];

	put(t, "%s r%u%s, %s", names[kind], any_reg(t), chance_pick(&t->chance, 4) ? "" : "h",
	    any_source(t, a, false));
	if (kind > 2)
		put(t, ", %s", any_source(t, b, false));
	if (kind == 4)
		put(t, ", %s, %u", any_source(t, c, false), chance_pick(&t->chance, 20));
	put(t, "\n");
}

/* A source of a product, extended either way, or what is added, which can have 64 bits */
static const char *wide_source(struct text *t, char text[16], bool is_added)
{
	switch (chance_pick(&t->chance, 6)) {
	case 0:
		snprintf(text, 16, is_added ? "dr%u" : "r%u",
			 2 + 2 * chance_pick(&t->chance, 4));
		break;
	case 1:
		snprintf(text, 16, "r%u%c.sx", any_reg(t), chance_pick(&t->chance, 2) ? 'h' : 'l');
		break;
	case 2:
		snprintf(text, 16, "r%u.sx", any_reg(t));
		break;
	default:
		any_source(t, text, false);
	}
	return text;
}

/* Products of 64 bits, and sums that saturate */
static void put_wide(struct text *t)
{
	static const char *const products[] = { "imul", "imadd", "imsub" };
	unsigned int kind = chance_pick(&t->chance, 6);
	char a[16], b[16], c[16];

	if (kind < 3) {
		put(t, "%s dr%u, %s, %s", products[kind], 2 + 2 * chance_pick(&t->chance, 4),
		    wide_source(t, a, false), wide_source(t, b, false));
		if (kind)
			put(t, ", %s", wide_source(t, c, true));
		put(t, "\n");
		return;
	}
	snprintf(a, sizeof(a), "%s", kind == 3 ? ".sx" : "");
	put(t, "%s r%u, r%u%s, r%u%s, sat\n", chance_pick(&t->chance, 2) ? "iadd" : "isub",
	    any_reg(t), any_reg(t), a, any_reg(t), a);
}

/* An access of so many words from word r20 on */
static void put_memory(struct text *t, const char *name, unsigned int reg, unsigned int count)
{
	static const char *const masks[] = { "", "x", "xy", "xyz", "xyzw" };
	unsigned int i;

	put(t, "%s ", name);
	for (i = 0; i < count; i++)
		put(t, "%sr%u", i ? "_" : "", reg + i);
	put(t, ", du0, r20, i32, %s, a\n", masks[count]);
}

/* An access of the thread's own row of sixteen words, r1 words from the beginning */
static void put_access(struct text *t)
{
	unsigned int r = FIRST_REG + chance_pick(&t->chance, REGS - 4);
	unsigned int at = chance_pick(&t->chance, 12), count = chance_pick(&t->chance, 4);
	bool loads = chance_pick(&t->chance, 2);

	put(t, "iadd r20, r1, %u\n", at);
	put_memory(t, loads ? "load" : "store", r, count + 1);
	if (loads)
		put(t, "wait a\n");
}

/*
 * An atomic on one or several words of the simdgroup, which are those of its first thread's row, or
 * in shared memory: which simdgroup comes first depends on the mode
 */
static void put_atomic(struct text *t)
{
	static const char *const kinds[] = {
		"add", "sub", "xchg", "cmpxchg", "umin", "imin", "umax", "imax", "and", "or", "xor",
	};
	static const unsigned int words[] = { 0, 0, 1, 3, 31 };
	const char *kind = kinds[chance_pick(&t->chance, 11)];
	unsigned int r = any_reg(t), value = FIRST_REG + chance_pick(&t->chance, REGS - 1);
	bool is_shared = chance_pick(&t->chance, 2), returns = chance_pick(&t->chance, 3);
	unsigned int mask = words[chance_pick(&t->chance, is_shared ? 5 : 4)];
	char result[8] = "_", source[16];

	put(t, "shr r20, r1, 9\nshl r20, r20, %u\nshr r24, r1, 4\nand r24, r24, %u\n",
	    is_shared ? 5 : 9, mask);
	put(t, "iadd r20, r20, r24\n");
	if (returns)
		snprintf(result, sizeof(result), "r%u", r);
	snprintf(source, sizeof(source), strcmp(kind, "cmpxchg") ? "r%u" : "r%u_r%u", value,
		 value + 1);
	if (is_shared)
		put(t, "shl r20, r20, 2\nlatomic %s, %s, r20l, 0, %s\n", result, source, kind);
	else
		put(t, "atomic %s, %s, du0, r20, %s, a\nwait a\n", result, source, kind);
}

/* An access to private memory: of all threads at one address, or of each at its own */
static void put_stack(struct text *t)
{
	static const char *const formats[] = { "i8", "i16", "i32" };
	static const char *const masks[] = { "x", "xy", "xyz" };
	unsigned int r = FIRST_REG + chance_pick(&t->chance, REGS - 3);
	unsigned int count = chance_pick(&t->chance, 3), i;
	bool loads = chance_pick(&t->chance, 2), halves = !chance_pick(&t->chance, 4);

	if (chance_pick(&t->chance, 3))
		put(t, "ldimm r20, %u\n", chance_pick(&t->chance, 600));
	else
		put(t, "and r20, r%u, 0x7f\n", any_reg(t));
	put(t, "%s ", loads ? "stack_load" : "stack_store");
	for (i = 0; i <= count; i++)
		put(t, halves ? "%sr%u%c" : "%sr%u", i ? "_" : "", halves ? r + i / 2 : r + i,
		    "lh"[i % 2]);
	put(t, ", r20, %s, %s, a\n", formats[chance_pick(&t->chance, 3)], masks[count]);
	if (loads)
		put(t, "wait a\n");
}

/* The place of a thread */
static void put_place(struct text *t)
{
	static const char *const registers[] = {
		"thread_in_threadgroup_x", "thread_in_threadgroup_y",
		"thread_in_threadgroup_z", "thread_in_grid_x",
		"thread_in_grid_y", "thread_in_grid_z",
		"threadgroup_in_grid_x", "threadgroup_in_grid_y",
		"threadgroup_in_grid_z", "thread_index_in_threadgroup",
		"thread_index_in_simdgroup", "simdgroup_index_in_threadgroup",
	};

	put(t, "mov r%u%s, %s\n", any_reg(t), chance_pick(&t->chance, 3) ? "" : "l",
	    registers[chance_pick(&t->chance, sizeof(registers) / sizeof(registers[0]))]);
}

/* The other threads of a simdgroup or quad: shuffles, by a number or by registers */
static void put_shuffle(struct text *t)
{
	static const char *const kinds[] = { "", ", xor", ", up", ", down" };
	char value[16], index[16];

	if (chance_pick(&t->chance, 2)) {
		snprintf(index, sizeof(index), "%u", chance_pick(&t->chance, 34));
	} else {
		/* mostly a lane */
		if (chance_pick(&t->chance, 4))
			put(t, "and r20, r%u, %u\n", any_reg(t), chance_pick(&t->chance, 2) ? 31 : 3);
		snprintf(index, sizeof(index), chance_pick(&t->chance, 2) ? "r20l" : "r20");
	}
	put(t, "shuffle r%u%s, %s, %s%s%s%s\n", any_reg(t), chance_pick(&t->chance, 4) ? "" : "h",
	    any_source(t, value, false), index, chance_pick(&t->chance, 2) ? "" : ", quad",
	    chance_pick(&t->chance, 3) ? "" : ", rotate", kinds[chance_pick(&t->chance, 4)]);
}

/* Ballots, derivatives and reductions */
static void put_votes(struct text *t)
{
	static const char *const kinds[] = {
		"and", "or", "xor", "iadd", "fadd", "fmul", "smin", "smax", "umin", "umax", "fmin",
		"fmax",
	};
	const char *width = chance_pick(&t->chance, 2) ? ", quad" : "";
	const char *half = chance_pick(&t->chance, 4) ? "" : "l";
	char a[16], b[16];

	switch (chance_pick(&t->chance, 5)) {
	case 0:
		put(t, "ballot r%u%s\n", any_reg(t), half);
		break;
	case 1:
		put(t, "ballot r%u%s, %s, %s%s, %s\n", any_reg(t), half, any_source(t, a, false),
		    any_source(t, b, false), width, chance_pick(&t->chance, 2) ? "ult" : "sgte");
		break;
	case 2:
		put(t, "ballot r%u%s, %s, %s%s, %s\n", any_reg(t), half, any_source(t, a, true),
		    any_source(t, b, true), width, chance_pick(&t->chance, 2) ? "flt" : "fneq");
		break;
	case 3:
		put(t, "%s r%u%s, %s%s\n", chance_pick(&t->chance, 2) ? "dfdx" : "dfdy",
		    any_reg(t), half, any_source(t, a, true),
		    chance_pick(&t->chance, 3) ? "" : ".neg");
		break;
	default:
		put(t, "%s r%u%s, r%u%s%s, %s\n", chance_pick(&t->chance, 2) ? "simd" : "quad",
		    any_reg(t), half, any_reg(t), chance_pick(&t->chance, 3) ? "" : "h",
		    chance_pick(&t->chance, 2) ? "" : ", prefix",
		    kinds[chance_pick(&t->chance, 12)]);
	}
}

static void put_block(struct text *t, unsigned int instructions);

static void put_branch(struct text *t)
{
	static const char *const floats[] = {
		"feq", "flt", "fgt", "fltn", "fgte", "flte", "fgtn", "fneq", "fnlt", "fngtn",
	};
	static const char *const ints[] = {
		"ieq", "ult", "ugt", "slt", "sgt", "ine", "ugte", "ulte", "sgte", "slte",
	};
	bool is_float = chance_pick(&t->chance, 2);
	unsigned int kind = chance_pick(&t->chance, 10);
	const char *cond = is_float ? floats[kind] : ints[kind];

	t->depth++;
	put(t, "if r%u, r%u, 1, %s\n", any_reg(t), any_reg(t), cond);
	put_block(t, 4);
	if (chance_pick(&t->chance, 2)) {
		put(t, "else 0, 0, 1, ieq\n");
		put_block(t, 3);
	}
	put(t, "pop_exec 1\n");
	t->depth--;
}

/* A loop of a few rounds, whose counter is in a register of its own */
static void put_loop(struct text *t)
{
	static unsigned int labels;
	unsigned int counter = 21 + t->depth, label = labels++;

	t->depth++;
	put(t, "ldimm r%u, %u\nif 0, 0, 2, ieq\nagain%u:\n", counter,
	    1 + chance_pick(&t->chance, 5), label);
	put_block(t, 5);
	put(t, "isub r%u, r%u, 1\nwhile r%u, 0, 2, ine\njmp_any again%u\npop_exec 2\n", counter,
	    counter, counter, label);
	t->depth--;
}

static void put_block(struct text *t, unsigned int instructions)
{
	unsigned int i;

	for (i = 0; i < instructions; i++) {
		switch (chance_pick(&t->chance, 25)) {
		case 0:
			if (t->depth < 3)
				put_branch(t);
			break;
		case 1:
			if (t->depth < 2)
				put_loop(t);
			break;
		case 2:
		case 3:
			put_access(t);
			break;
		case 4:
		case 5:
			put_half(t);
			break;
		case 6:
		case 7:
			put_other(t);
			break;
		case 8:
		case 9:
		case 10:
			put_integer(t);
			break;
		case 11:
			put_bits(t);
			break;
		case 12:
			put_wide(t);
			break;
		case 13:
			put_special(t);
			break;
		case 14:
			put_atomic(t);
			break;
		case 15:
			put_place(t);
			break;
		case 16:
		case 17:
			put_stack(t);
			break;
		case 18:
			put_shuffle(t);
			break;
		case 19:
		case 20:
			put_votes(t);
			break;
		default:
			put_float(t);
		}
	}
}

/* A program that loads random registers, and stores them in the end */
static void make_program(char *buffer, size_t size, unsigned int number)
{
	struct text t = { .at = buffer, .left = size, .chance = chance_begin(number) };
	unsigned int i;

	put(&t, "mov r1, thread_index_in_threadgroup\nshl r1, r1, 4\nldimm r0l, 0\n");
	for (i = 0; i < REGS; i += 4) {
		put(&t, "iadd r20, r1, %u\n", i);
		put_memory(&t, "load", FIRST_REG + i, 4);
	}
	put(&t, "wait a\n");
	put_block(&t, 20);
	for (i = 0; i < REGS; i += 4) {
		put(&t, "iadd r20, r1, %u\n", i);
		put_memory(&t, "store", FIRST_REG + i, 4);
	}
	put(&t, "stop\n");
}

/* Words that floats and integers are likely to be: zeros, small numbers, NaNs, denormals */
static uint32_t any_word(struct chance *c)
{
	static const uint32_t words[] = {
		0, 1, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000,
		0x7fa00001, 0xffffffff, 0x00800000, 0x80800000, 0x00400000, 0x00ffffff, 0x7f7fffff,
		0x3c003c00, 0x7e017c00, 0x00010400, 0xffff8000, 0x4f000000, 0xcf000001,
	};

	switch (chance_pick(c, 3)) {
	case 0:
		return words[chance_pick(c, sizeof(words) / sizeof(words[0]))];
	case 1:
		/* a float about 1 */
		return 0x3d000000 + (chance_bits(c) >> 6);
	default:
		return chance_bits(c);
	}
}

struct outcome {
	uint32_t words[WORDS];
	struct vagx_core_stats stats;
	int err;
};

static void run_program(struct fixture *f, const char *text, unsigned int number,
			struct outcome *outcome)
{
	struct chance c = chance_begin(number + 1000000);
	struct vagx_core_stats before;
	unsigned int i;

	for (i = 0; i < WORDS; i++)
		fixture_words()[i] = any_word(&c);
	for (i = 16; i < 24; i += 4)
		fixture_uniform64(f, 2 * i, (uint64_t)any_word(&c) << 32 | any_word(&c));
	f->launch.shared_size = 4 * THREADS;
	vagx_core_get_stats(f->core, &before);
	outcome->err = fixture_run(f, text, THREADS);
	vagx_core_get_stats(f->core, &outcome->stats);
	outcome->stats.instructions -= before.instructions;
	outcome->stats.thread_instructions -= before.thread_instructions;
	outcome->stats.groups -= before.groups;
	outcome->stats.loaded -= before.loaded;
	outcome->stats.stored -= before.stored;
	memcpy(outcome->words, fixture_data, sizeof(outcome->words));
}

static void compare_outcomes(const struct outcome *wanted, const struct outcome *got,
			     struct fixture *f, const char *text)
{
	unsigned int i;

	if (got->err != wanted->err)
		fail_msg("%s\nthe error is %d, not %d: %s", text, got->err, wanted->err,
			 vagx_core_error(f->core));
	for (i = 0; i < WORDS; i++) {
		if (got->words[i] != wanted->words[i])
			fail_msg("%s\nregister %u of thread %u is 0x%x, not 0x%x", text,
				 FIRST_REG + i % 16, i / 16, got->words[i], wanted->words[i]);
	}
	assert_memory_equal(&got->stats, &wanted->stats, sizeof(got->stats));
}

static void compare_modes(const char *mode)
{
	static struct outcome wanted, got;
	static char text[65536];
	struct fixture *f;
	unsigned int i;

	for (i = 0; jit_has_mode(mode) && i < PROGRAMS; i++) {
		make_program(text, sizeof(text), i);
		f = jit_begin("off");
		run_program(f, text, i, &wanted);
		jit_end(f);
		assert_int_equal(wanted.err, 0);
		f = jit_begin(mode);
		run_program(f, text, i, &got);
		compare_outcomes(&wanted, &got, f, text);
		if (f->config.jit)
			assert_int_equal(jit_stats(f).programs, 1);
		jit_end(f);
	}
}

static void random_programs_agree(void **state)
{
	compare_modes("all");
	compare_modes("all,avx2");
}

static void check_finds_no_difference(void **state)
{
	compare_modes("check");
	compare_modes("check,avx2");
}

/* What a group of 32 threads does with @count words of each, from byte @first of memory on */
static void access_words(struct fixture *f, const char *name, unsigned int first,
			 unsigned int count, struct outcome *outcome)
{
	static char text[512];
	struct text t = { .at = text, .left = sizeof(text) };
	unsigned int i;

	put(&t, "mov r1, thread_index_in_threadgroup\nimul r20, r1, %u\n", count);
	put(&t, "ldimm r21, %u\niadd r20, r20, r21\n", first / 4);
	for (i = 0; i < 4; i++)
		put(&t, "ldimm r%u, %u\n", 2 + i, 1000 + i);
	put_memory(&t, name, 2, count);
	/* results go where nothing else does */
	put(&t, "wait a\nshl r20, r1, 2\nstore r2_r3_r4_r5, du0, r20, i32, xyzw, a\nstop\n");
	for (i = 0; i < WORDS; i++)
		fixture_words()[i] = i;
	outcome->err = fixture_run(f, text, 32);
	vagx_core_get_stats(f->core, &outcome->stats);
	memcpy(outcome->words, fixture_data, sizeof(outcome->words));
}

/* Rows of words across the border of a page, behind which there is another one or none */
static void borders_of_pages(void **state)
{
	static const char *const modes[] = { "off", "all", "check", "all,avx2" };
	static struct outcome wanted, got;
	struct fixture *f;
	unsigned int i;

	for (i = 0; i < 2 * 2 * 2 * 4 * 9; i++) {
		const char *name = i & 1 ? "load" : "store";
		bool soft = i & 2, hole = i & 4;
		unsigned int count = 1 + i / 8 % 4, words = i / 32;
		unsigned int first = 2 * VAGX_UAT_PAGE_SIZE - 4 * (32 * count + 4) + 4 * words;
		unsigned int mode;

		for (mode = 0; mode < sizeof(modes) / sizeof(modes[0]); mode++) {
			if (!jit_has_mode(modes[mode]))
				continue;
			f = jit_begin(modes[mode]);
			f->launch.soft_faults = soft;
			fixture_hole = hole ? DATA_VA + 2 * VAGX_UAT_PAGE_SIZE : 0;
			access_words(f, name, first, count, mode ? &got : &wanted);
			if (mode)
				compare_outcomes(&wanted, &got, f, name);
			assert_int_equal(f->fault.va, wanted.err ? fixture_hole : 0);
			jit_end(f);
		}
	}
}

/* The description of a failure: the instructions of the segment, and its code, are to be in it */
static void describes_segment(struct fixture *f, const char *const *lines, unsigned int count)
{
	const struct core_segment *s = &f->core->failure.segment[0];
	char text[16384], byte[4];
	unsigned int i;
	const char *at;
	FILE *file;

	file = fmemopen(text, sizeof(text), "w");
	vagx_core_describe_failure(f->core, &f->launch, file);
	fclose(file);
	for (i = 0; i < count; i++) {
		if (!strstr(text, lines[i]))
			fail_msg("no \"%s\" in%s", lines[i], text);
	}
	at = strstr(text, "native code, ");
	assert_non_null(at);
	assert_int_equal(strtoul(at + strlen("native code, "), NULL, 10), s->size);
	assert_true(s->size > 16);
	at = strchr(at, ':');
	for (i = 0; i < s->size; i++) {
		at += strcspn(at, "0123456789abcdef");
		snprintf(byte, sizeof(byte), "%02x", s->code[i]);
		assert_memory_equal(at, byte, 2);
		at += 2;
	}
}

/* What was compiled is not what is interpreted: as if the compiler had made a mistake */
static void differences_are_found(void **state)
{
	static const char *const modes[] = { "check", "check,avx2" };
	static const char *const lines[] = {
		"r2 of lane 0 is 0x5, not 0x6", "0, 0, 0 of threadgroup 0, 0, 0",
		"\n  -> 0x1100000000: 620507000000", "\n  -> 0x1100000006: ", "ldimm    r2, 5",
		"\n     0x110000000c: 8800",
	};
	static const char *const jump[] = {
		"-> 0x1100000000: ", "-> 0x1100000006: ", "\n native code, ",
	};
	struct fixture *f;
	unsigned int i;

	for (i = 0; i < 2 && jit_has_mode(modes[i]); i++) {
		f = jit_begin(modes[i]);
		if (!f->config.jit)
			skip();
		assert_int_equal(fixture_run(f, "ldimm r1, 7\nldimm r2, 5\nstop\n", 32), 0);
		f->core->held->program->op[1].imm = 6;
		assert_int_equal(fixture_run_again(f, 32), -EPROTO);
		assert_non_null(strstr(vagx_core_error(f->core), "r2 of lane 0 is 0x5, not 0x6"));
		describes_segment(f, lines, sizeof(lines) / sizeof(lines[0]));
		/* another lane is active */
		assert_int_equal(fixture_run(f, "mov r1, thread_index_in_threadgroup\n"
						"ldimm r0l, 0\nif r1, 1, 1, ult\nldimm r2, 5\n"
						"pop_exec 1\nstop\n", 32), 0);
		f->core->held->program->op[2].src[1].value = 2;
		assert_int_equal(fixture_run_again(f, 32), -EPROTO);
		assert_non_null(strstr(vagx_core_error(f->core), "active 0x1"));
		/* behind a jump */
		assert_int_equal(fixture_run(f, "ldimm r1, 7\njmp_any next\nstop\n"
						"next: ldimm r2, 5\nstop\n", 32), 0);
		f->core->held->program->op[0].imm = 6;
		assert_int_equal(fixture_run_again(f, 32), -EPROTO);
		describes_segment(f, jump, sizeof(jump) / sizeof(jump[0]));
		assert_non_null(f->core->failure.segment[1].code);
		jit_end(f);
	}
}

/*
 * One thread exists. Threads that do not exist have registers of another program: with those of
 * the second turn of AVX2, the interpreter would have to do the segment again, for no thread.
 */
static void results_of_no_thread(void **state)
{
	static const char *const modes[] = { "all", "check", "all,avx2", "check,avx2" };
	static const char *const jumps[] = { "jmp_any", "jmp_none" };
	char text[256];
	struct fixture *f;
	unsigned int i;

	for (i = 0; i < 8; i++) {
		if (!jit_has_mode(modes[i / 2]))
			continue;
		f = jit_begin(modes[i / 2]);
		assert_int_equal(fixture_run(f, "mov r1, thread_index_in_threadgroup\n"
						"ldimm r0l, 0\nldimm r2, 0\nif r1, 7, 1, ugt\n"
						"ldimm r2, 0x800000\npop_exec 1\nstop\n", 32), 0);
		fixture_words()[0] = 0x3f800000;
		snprintf(text, sizeof(text), "ldimm r2, 0\nldimm r3, 1\nldimm r4, 0\n"
			 "load r2, du0, r4, i32, x, a\nwait a\nffma r2, r2, r2, r2\n%s end\nldimm r3, 2\n"
			 "end: store r2_r3, du0, r4, i32, xy, a\nstop\n", jumps[i % 2]);
		assert_int_equal(fixture_run(f, text, 1), 0);
		assert_int_equal(fixture_words()[0], 0x40000000);
		assert_int_equal(fixture_words()[1], 1 + i % 2);
		jit_end(f);
	}
}

/* A program is compiled when it has run for a while, once for all cores */
static void compiles_what_runs_often(void **state)
{
	struct fixture *f = jit_begin("on");
	unsigned int i;

	if (!f->config.jit)
		skip();
	fixture_code(f, "mov r1, thread_index_in_threadgroup\nstop\n");
	assert_int_equal(fixture_run_again(f, 32), 0);
	assert_int_equal(jit_stats(f).programs, 0);
	for (i = 0; i < 100; i++)
		assert_int_equal(fixture_run_again(f, 32), 0);
	assert_int_equal(jit_stats(f).programs, 1);
	assert_true(jit_stats(f).bytes > 0);
	jit_end(f);
}

/* A program that is too long is interpreted, and one that is as long as can be is not */
static void long_programs(void **state)
{
	static const char *const add = "fadd r2, r2, 1.0\n";
	enum { LONGEST = 32768 };
	struct fixture *f = jit_begin("all");
	struct agx_program one;
	unsigned int length, i;
	static uint8_t bytes[CODE_SIZE];

	if (!f->config.jit)
		skip();
	assert_int_equal(agx_isa_assemble(add, "add", &one, stderr), 0);
	for (length = LONGEST; length <= LONGEST + 1; length++) {
		/* the last one is the stop */
		for (i = 0; i + 1 < length; i++)
			memcpy(bytes + i * one.size, one.code, one.size);
		memcpy(bytes + i * one.size, "\x88\x00", 2);
		fixture_bytes(f, bytes, i * one.size + 2);
		assert_int_equal(fixture_run_again(f, 32), 0);
	}
	assert_int_equal(jit_stats(f).programs, 1);
	assert_int_equal(jit_stats(f).refused, 1);
	free(one.code);
	jit_end(f);
}

/* Programs that take each other's place, as in a client with many shaders */
static void programs_come_and_go(void **state)
{
	struct fixture *f = jit_begin("all");
	unsigned int i, round;
	char text[128];

	if (!f->config.jit)
		skip();
	for (round = 0; round < 3; round++) {
		for (i = 0; i < 200; i++) {
			snprintf(text, sizeof(text),
				 "mov r1, thread_index_in_threadgroup\nldimm r2, %u\n"
				 "store r2, du0, r1, i32, x, a\nstop\n", i);
			assert_int_equal(fixture_run(f, text, 32), 0);
			assert_int_equal(fixture_words()[31], i);
		}
	}
	/* those of the first round are found in the cache again */
	assert_int_equal(jit_stats(f).programs, 200);
	jit_end(f);
}

static void modes_have_names(void **state)
{
	struct vagx_jit_config c = { .mode = VAGX_JIT_ON };

	assert_true(vagx_jit_parse("off", &c) && c.mode == VAGX_JIT_OFF && !c.avx2);
	assert_true(vagx_jit_parse("on", &c) && c.mode == VAGX_JIT_ON && !c.avx2);
#ifdef __x86_64__
	assert_true(vagx_jit_parse("all,avx2", &c) && c.mode == VAGX_JIT_ALL && c.avx2);
#else
	assert_false(vagx_jit_parse("all,avx2", &c));
#endif
	assert_true(vagx_jit_parse("check", &c) && c.mode == VAGX_JIT_CHECK && !c.avx2);
	assert_false(vagx_jit_parse("", &c) || vagx_jit_parse("onn", &c) ||
		     vagx_jit_parse("on,avx", &c));
	assert_int_equal(c.mode, VAGX_JIT_CHECK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arena_keeps_code),
#if defined(__x86_64__) || defined(__aarch64__)
		cmocka_unit_test(code_is_executed),
#endif
		cmocka_unit_test(no_page_is_written_and_run),
		cmocka_unit_test(arena_is_bounded),
		cmocka_unit_test(threads_share_an_arena),
		cmocka_unit_test(modes_have_names),
		cmocka_unit_test(compiler_is_there),
		cmocka_unit_test(random_programs_agree),
		cmocka_unit_test(check_finds_no_difference),
		cmocka_unit_test(borders_of_pages),
		cmocka_unit_test(differences_are_found),
		cmocka_unit_test(results_of_no_thread),
		cmocka_unit_test(compiles_what_runs_often),
		cmocka_unit_test(long_programs),
		cmocka_unit_test(programs_come_and_go),
	};

	return cmocka_run_group_tests_name("jit", tests, NULL, NULL);
}
