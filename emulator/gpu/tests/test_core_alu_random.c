// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Random arithmetic instructions, in all the forms that the table of instructions
 * allows, on operands that are likely to go wrong, against alu_reference.c.
 *
 *   ALU_SEED=N ALU_ROUNDS=N test-core_alu_random
 *
 * gives another seed, or goes on for longer. What differs is printed with the
 * instruction, the thread's operands, both results and the seed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alu_reference.h"
#include "core_fixture.h"

#define SEED		1
#define ROUNDS		400
/* Instructions of a program; each has the same sources in all of them */
#define INSTRUCTIONS	16
#define GROUPS		8
#define THREADS		(GROUPS * ALU_LANES)
/* Sources are r8 to r15, loaded as two vectors. r16 and r17 are the result */
#define FIRST_SOURCE	8
#define SOURCES		8
#define RESULT		16
#define FIRST_UNIFORM	32
#define UNIFORMS	64
#define OUT		0x8000

static uint64_t state_of_random;

static uint32_t random_bits(void)
{
	state_of_random = state_of_random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(state_of_random >> 32);
}

static unsigned int below(unsigned int n)
{
	return (unsigned int)((uint64_t)random_bits() * n >> 32);
}

static uint32_t special_word(void)
{
	static const uint32_t words[] = {
		/* integers: ends of the ranges of 8, 16 and 32 bits */
		0, 1, 2, 3, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x10000,
		0x7ffffffe, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff,
		0xffff0000, 0xffff8000, 0x00ffffff, 0x01000001,
		/* shifts: at and behind the widths */
		15, 16, 17, 31, 32, 33, 63, 64, 65, 95, 96, 126, 127, 128, 255,
		/* floats: zeros, denormals, ends of the normal range, infinities, NaNs */
		0x80000000, 0x00000001, 0x807fffff, 0x007fffff, 0x00400000, 0x00800000,
		0x80800000, 0x00800001, 0x00ffffff, 0x01000000, 0x7f7fffff, 0xff7fffff,
		0x7f7ffffe, 0x7f000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000,
		0x7f800001, 0xffffffff, 0x7fbfffff,
		/* next to one, a half, two, and to where integers end */
		0x3f800000, 0xbf800000, 0x3f800001, 0x3f7fffff, 0x3f000000, 0x3effffff,
		0x3f000001, 0x40000000, 0x3fffffff, 0xc0200000, 0x40200000, 0x3fc00000,
		0x4b000000, 0x4b000001, 0x4b7fffff, 0x4b800000, 0x4effffff, 0x4f000000,
		0xcf000000, 0xcf000001, 0x4f7fffff, 0x4f800000, 0x5f000000, 0x477fffff,
		0x47800000, 0x46fffe00, 0x47000000, 0xc7000000, 0xc7000100,
		/* where 32-bit floats become halves: the last that fit, and denormals */
		0x477fe000, 0x477fefff, 0x477ff000, 0x38800000, 0x387fc000, 0x33800000,
		0x33000000, 0x33000001, 0x337fffff, 0xb8000000,
		/* two halves each */
		0x3c00bc00, 0x7c00fc00, 0x7e007c01, 0xfe00ffff, 0x04000400, 0x03ff83ff,
		0x00010001, 0x80018000, 0x7bff7bff, 0xfbff3800, 0x3bff3c01, 0x38013800,
		0x78007800, 0x14001400, 0x64006401, 0x0c000bff,
	};

	return words[below(sizeof(words) / sizeof(words[0]))];
}

static uint32_t random_word(void)
{
	switch (below(8)) {
	case 0:
		return random_bits();
	case 1:
		/* floats that are not far from one, and such halves */
		return 0x38000000 + below(0x10000000);
	case 2:
		return below(2) ? below(256) : -below(256);
	case 3:
		/* the neighbours of special ones */
		return special_word() + below(3) - 1;
	case 4:
		return special_word() ^ (below(2) ? 0x80000000 : 0x8000);
	default:
		return special_word();
	}
}

static uint32_t bits_of_float(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

/*
 * Sources of which each odd one times each even one is next to the smallest
 * normal number, and two to be added to it: what is tiny before it is rounded
 * shows nowhere else.
 */
static void tiny_products(uint32_t *word)
{
	float x = 1.0f + (float)below(1 << 23) * 0x1p-23f;
	unsigned int i;

	for (i = 0; i < SOURCES - 2; i++)
		word[i] = bits_of_float(i % 2 ? x * 0x1p-63f : 0x1p-63f / x) + below(3) - 1;
	/* of which a product is far less than the smallest normal number's last place */
	word[0] = 0x0d800000 + below(3);
	word[1] = 0x8d800000 + below(3);
	word[SOURCES - 2] = below(2) ? 0x80000000 : 0x00800000 + below(3);
	word[SOURCES - 1] = below(2) ? 0x81000000 : 0x80800000 + below(3);
}

/* Neither a float nor two halves that anything could go wrong with */
static uint32_t tame_word(void)
{
	uint32_t high = 0x2c00 + below(0x2000), low = 0x2c00 + below(0x2000);

	return (high << 16 | low) ^ (random_bits() & 0x80008000);
}

/*
 * Operands of all threads. What one thread has can decide how its whole simdgroup is run: in
 * half of the groups all threads are tame, or all but one.
 */
static void random_operands(uint32_t *word)
{
	unsigned int i, group;

	for (i = 0; i < THREADS * SOURCES; i++)
		word[i] = i / SOURCES / ALU_LANES % 2 ? tame_word() : random_word();
	for (i = 0; i < THREADS; i += 5) {
		if (i / ALU_LANES % 2 == 0)
			tiny_products(word + i * SOURCES);
	}
	for (group = 3; group < GROUPS; group += 4) {
		unsigned int thread = group * ALU_LANES + below(ALU_LANES);

		tiny_products(word + thread * SOURCES);
		for (i = below(2) * SOURCES; i < SOURCES; i++)
			word[thread * SOURCES + i] = random_word();
	}
}

/* In each group one thread whose products of odd and even sources round to the smallest number */
static void lone_products(uint32_t *word)
{
	unsigned int i, group;

	for (i = 0; i < THREADS * SOURCES; i++)
		word[i] = tame_word();
	for (group = 0; group < GROUPS; group++) {
		uint32_t *lone = word + (group * ALU_LANES + below(ALU_LANES)) * SOURCES;
		float x = 1.0f + (float)below(1 << 23) * 0x1p-23f;

		for (i = 0; i < SOURCES - 2; i++)
			lone[i] = bits_of_float(i % 2 ? x * 0x1p-63f : 0x1p-63f / x);
		lone[SOURCES - 2] = 0;
		lone[SOURCES - 1] = 0x80000000;
	}
}

/* A random operand: what can't be encoded is found out later */
static struct agx_operand random_operand(bool is_dst)
{
	static const uint8_t sizes[] = { 16, 32, 32, 64 };
	struct agx_operand o = {
		.type = AGX_OPERAND_REG,
		.size = sizes[below(4)],
		.count = 1,
	};
	unsigned int halves;

	if (is_dst) {
		o.value = RESULT * 2 + (o.size == 16 ? below(2) : 0);
		return o;
	}
	switch (below(8)) {
	case 0:
		o.type = AGX_OPERAND_UNIFORM;
		break;
	case 1:
		o.type = AGX_OPERAND_IMM;
		break;
	case 2:
		o.type = AGX_OPERAND_FIMM;
		break;
	}
	o.absolute = below(4) == 0;
	o.negate = below(4) == 0;
	o.sign_extend = below(3) == 0;
	if (o.type == AGX_OPERAND_IMM || o.type == AGX_OPERAND_FIMM) {
		o.size = 16;
		o.value = below(256);
		return o;
	}
	halves = o.size / 16;
	if (o.type == AGX_OPERAND_UNIFORM)
		o.value = FIRST_UNIFORM + below(UNIFORMS / halves) * halves;
	else
		o.value = FIRST_SOURCE * 2 + below(SOURCES * 2 / halves) * halves;
	return o;
}

static void random_modifier(struct agx_instr *instr)
{
	static const struct {
		enum agx_modifier mod;
		unsigned int values;
	} mods[] = {
		{ AGX_MOD_SATURATE, 2 }, { AGX_MOD_SHIFT, 5 }, { AGX_MOD_COND, 16 },
		{ AGX_MOD_ROUND, 2 }, { AGX_MOD_BITMASK, 32 }, { AGX_MOD_OP, 32 },
		{ AGX_MOD_QUAD, 2 }, { AGX_MOD_ROTATE, 2 }, { AGX_MOD_PREFIX, 2 },
	};
	unsigned int i = below(sizeof(mods) / sizeof(mods[0]) + 1);

	if (i == sizeof(mods) / sizeof(mods[0]))
		instr->mod[AGX_MOD_IMM] = random_word() & (below(2) ? 0xffff : 0xffffffff);
	else
		instr->mod[mods[i].mod] = below(mods[i].values);
}

static bool can_be_encoded(const struct agx_instr *instr)
{
	uint8_t code[AGX_ISA_MAX_LENGTH];

	return agx_isa_encode(instr, code) > 0;
}

/* Some form that can be encoded: what it has none of must be 0 */
static void any_form(enum agx_opcode op, struct agx_instr *instr)
{
	unsigned int tries, sources, i;

	for (tries = 0; tries < 1000000; tries++) {
		*instr = (struct agx_instr){ .op = op, .dst = random_operand(true) };
		sources = below(AGX_ISA_MAX_SRCS - 1);
		for (i = 0; i < sources; i++)
			instr->src[i] = random_operand(false);
		random_modifier(instr);
		if (can_be_encoded(instr))
			return;
	}
	fail_msg("%s: no form of it can be encoded", agx_isa_op_name(op));
}

static void change(struct agx_instr *instr)
{
	unsigned int i = below(8);

	if (i < 4 && instr->src[i].type != AGX_OPERAND_NONE)
		instr->src[i] = random_operand(false);
	else if (i == 4)
		instr->dst = random_operand(true);
	else if (i > 4)
		random_modifier(instr);
}

/*
 * From a form that is always the same, so that the seed of a round says it all,
 * many changes, each of which is kept if it can be encoded.
 */
static void random_instruction(enum agx_opcode op, struct agx_instr *instr)
{
	static struct agx_instr forms[AGX_OP_COUNT];
	uint64_t saved = state_of_random;
	uint8_t code[AGX_ISA_MAX_LENGTH];
	struct agx_instr next;
	unsigned int i;
	int length;

	if (forms[op].dst.type == AGX_OPERAND_NONE) {
		state_of_random = op;
		any_form(op, &forms[op]);
		state_of_random = saved;
	}
	*instr = forms[op];
	for (i = 0; i < 60; i++) {
		next = *instr;
		change(&next);
		if (can_be_encoded(&next))
			*instr = next;
	}
	/* An alias comes back as what it is an alias of */
	length = agx_isa_encode(instr, code);
	assert_int_equal(agx_isa_decode(code, length, instr), length);
	assert_true(alu_is_covered(instr->op));
}

/* The bits of an operand in a thread: from what was loaded */
static uint64_t bits_of(const struct fixture *f, const struct agx_operand *o, unsigned int thread)
{
	const uint16_t *from = f->launch.uniforms;
	unsigned int first = o->value, i;
	uint64_t bits = 0;

	if (o->type == AGX_OPERAND_IMM || o->type == AGX_OPERAND_FIMM)
		return o->value;
	if (o->type == AGX_OPERAND_REG) {
		from = (const uint16_t *)(const void *)(fixture_words() + thread * SOURCES);
		first -= FIRST_SOURCE * 2;
	}
	for (i = 0; i < o->size / 16u; i++)
		bits |= (uint64_t)from[first + i] << 16 * i;
	return bits;
}

static void describe(const struct fixture *f, const struct agx_instr *instr, unsigned int group,
		     struct alu_question *q)
{
	unsigned int i, lane;

	*q = (struct alu_question){
		.op = instr->op,
		.dst_size = instr->dst.size,
		.active = ~0u,
		.saturate = instr->mod[AGX_MOD_SATURATE],
		.rotate = instr->mod[AGX_MOD_ROTATE],
		.shift = instr->mod[AGX_MOD_SHIFT],
		.cond = instr->mod[AGX_MOD_COND],
		.round = instr->mod[AGX_MOD_ROUND],
		.bitmask = instr->mod[AGX_MOD_BITMASK],
		.kind = instr->mod[AGX_MOD_OP],
		.quad = instr->mod[AGX_MOD_QUAD] == AGX_WIDTH_QUAD &&
			instr->op != AGX_OP_BALLOT_ACTIVE,
		.prefix = instr->mod[AGX_MOD_PREFIX],
		.immediate = instr->mod[AGX_MOD_IMM],
	};
	for (i = 0; i < 4; i++) {
		const struct agx_operand *o = &instr->src[i];
		struct alu_source *s = &q->src[i];

		if (o->type == AGX_OPERAND_NONE)
			continue;
		s->size = o->type == AGX_OPERAND_REG || o->type == AGX_OPERAND_UNIFORM ?
			  o->size : 8;
		s->small_float = o->type == AGX_OPERAND_FIMM;
		s->absolute = o->absolute;
		s->negate = o->negate;
		s->sign_extend = o->sign_extend;
		for (lane = 0; lane < ALU_LANES; lane++)
			s->bits[lane] = bits_of(f, o, group * ALU_LANES + lane);
	}
}

/* Of a float: both zeros are apart, and there is one NaN */
static bool is_close(uint64_t got, uint64_t want, const struct alu_answer *answer)
{
	uint64_t apart = got > want ? got - want : want - got;

	if (got == want)
		return true;
	/* A number is not close to a zero of another sign, nor to a NaN */
	return answer->is_float && apart <= answer->ulps && got && want;
}

/* The result's register before, in every thread the same, which other halves keep */
static const uint32_t before[2] = { 0x13579bdf, 0x2468ace0 };

static uint64_t merged(const struct agx_instr *instr, uint64_t value)
{
	uint64_t old = before[0] | (uint64_t)before[1] << 32;
	unsigned int at = instr->dst.value % 2 * 16;
	uint64_t mask = instr->dst.size == 64 ? ~0ull : ((1ull << instr->dst.size) - 1) << at;

	return (old & ~mask) | (value << at & mask);
}

static void report(const struct alu_question *q, const struct agx_instr *instr, unsigned int lane,
		   uint64_t got, uint64_t want, uint64_t seed)
{
	char text[AGX_ISA_MAX_TEXT];
	unsigned int i;

	agx_isa_print(instr, text, sizeof(text));
	printf("# seed %llu: %s: lane %u of 0x%08x", (unsigned long long)seed, text, lane,
	       q->active);
	for (i = 0; i < 4 && q->src[i].size; i++)
		printf("%s 0x%llx", i ? "," : ", sources", (unsigned long long)q->src[i].bits[lane]);
	printf(": got 0x%016llx, expected 0x%016llx\n", (unsigned long long)got,
	       (unsigned long long)want);
}

/* The first thread that differs is reported. Return: whether none did */
static bool check_instruction(const struct fixture *f, const struct agx_instr *instr,
			      const uint64_t *out, uint32_t active, uint64_t seed, bool *known)
{
	struct alu_question q;
	struct alu_answer answer;
	unsigned int group, lane;

	for (group = 0; group < GROUPS; group++) {
		describe(f, instr, group, &q);
		q.active = active;
		*known = alu_reference(&q, &answer);
		for (lane = 0; *known && lane < ALU_LANES; lane++) {
			bool runs = active >> lane & 1;
			uint64_t got = out[group * ALU_LANES + lane], want;
			unsigned int at = instr->dst.value % 2 * 16;
			uint64_t mask = merged(instr, ~0ull) ^ merged(instr, 0);

			want = runs ? merged(instr, answer.bits[lane]) : merged(instr,
				(before[0] | (uint64_t)before[1] << 32) >> at);
			if ((got & ~mask) == (want & ~mask) &&
			    is_close((got & mask) >> at, (want & mask) >> at, &answer))
				continue;
			report(&q, instr, lane, got, want, seed);
			return false;
		}
	}
	return true;
}

/* A program: every instruction runs in the threads of @active */
static void make_text(const struct agx_instr *instr, unsigned int count, uint32_t active,
		      char *text, size_t size)
{
	char one[AGX_ISA_MAX_TEXT];
	size_t used;
	unsigned int i;

	used = snprintf(text, size,
			"ldimm r0l, 0\n"
			"mov r1, thread_in_grid_x\n"
			"shl r2, r1, 1\n"
			"load r8_r9_r10_r11, du0, r2, lsl 2, i32, xyzw, a\n"
			"iadd r3, r2, 1\n"
			"load r12_r13_r14_r15, du0, r3, lsl 2, i32, xyzw, a\n"
			"wait a\n"
			"mov r3l, thread_index_in_simdgroup\n"
			"ldimm r5, %d\n"
			"ldimm r4, %u\n"
			"shr r4, r4, r3l\n"
			"and r4, r4, 1\n", THREADS, active);
	for (i = 0; i < count; i++) {
		agx_isa_print(&instr[i], one, sizeof(one));
		used += snprintf(text + used, size - used,
				 "ldimm r16, %u\nldimm r17, %u\n"
				 "if r4, 1, 1, ieq\n%s\npop_exec 1\n"
				 "store r16_r17, du4, r1, lsl 1, i32, xy, a\n"
				 "iadd r1, r1, r5\n",
				 before[0], before[1], one);
		assert_true(used < size);
	}
	snprintf(text + used, size - used, "stop\n");
}

struct counts {
	unsigned int checked[AGX_OP_COUNT];
	unsigned int wrong;
};

/* Runs instructions on random operands, and has a look at what comes of them */
static void run_program(struct fixture *f, void make_operands(uint32_t *word),
			const struct agx_instr *instr, uint32_t active, uint64_t seed,
			struct counts *counts)
{
	static char text[INSTRUCTIONS * 512 + 1024];
	const uint64_t *out = (const uint64_t *)(const void *)(fixture_data + OUT);
	bool known, tame = below(2);
	unsigned int i;

	make_operands(fixture_words());
	for (i = 0; i < UNIFORMS; i += 2) {
		uint32_t word = tame ? tame_word() : random_word();

		memcpy(&f->launch.uniforms[FIRST_UNIFORM + i], &word, sizeof(word));
	}
	make_text(instr, INSTRUCTIONS, active, text, sizeof(text));
	/* results of an instruction are behind those of the one before */
	fixture_uniform64(f, 8, DATA_VA + OUT);
	assert_int_equal(fixture_run(f, text, THREADS), 0);
	for (i = 0; i < INSTRUCTIONS; i++) {
		if (!check_instruction(f, &instr[i], out + i * THREADS, active, seed, &known))
			counts->wrong++;
		counts->checked[instr[i].op] += known;
	}
}

static void run_round(struct fixture *f, uint64_t seed, struct counts *counts)
{
	enum agx_opcode op = seed * INSTRUCTIONS % AGX_OP_COUNT;
	struct agx_instr instr[INSTRUCTIONS];
	uint32_t active;
	unsigned int i;

	state_of_random = seed;
	active = below(2) ? ~0u : random_bits() | 1;
	for (i = 0; i < INSTRUCTIONS; i++) {
		do {
			op = (op + 1) % AGX_OP_COUNT;
		} while (!alu_is_covered(op));
		random_instruction(op, &instr[i]);
	}
	run_program(f, random_operands, instr, active, seed, counts);
}

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
	const char *value = getenv(name);

	return value ? strtoull(value, NULL, 0) : otherwise;
}

static void random_instructions(void **state)
{
	uint64_t seed = from_environment("ALU_SEED", SEED);
	uint64_t rounds = from_environment("ALU_ROUNDS", ROUNDS), round;
	static struct counts counts;
	unsigned int op, kinds = 0, total = 0;

	for (round = 0; round < rounds && counts.wrong < 20; round++)
		run_round(*state, seed + round, &counts);
	for (op = 0; op < AGX_OP_COUNT; op++) {
		total += counts.checked[op];
		kinds += counts.checked[op] > 0;
		if (alu_is_covered(op) && !counts.checked[op] && rounds >= ROUNDS)
			fail_msg("%s was not checked", agx_isa_op_name(op));
	}
	printf("# seed %llu: %u instructions of %u kinds, %d results each\n",
	       (unsigned long long)seed, total, kinds, THREADS);
	assert_int_equal(counts.wrong, 0);
}

/* A source in a register, in a half of one, in a uniform, or an immediate, without modifiers */
static bool give_shape(struct agx_operand *o, unsigned int shape)
{
	if (o->type == AGX_OPERAND_NONE)
		return shape == 0;
	o->absolute = false;
	o->negate = false;
	o->type = shape < 2 ? AGX_OPERAND_REG : AGX_OPERAND_UNIFORM;
	o->size = shape % 2 ? 16 : 32;
	o->value = shape < 2 ? FIRST_SOURCE * 2 + below(SOURCES) * 2 + (shape % 2 && below(2)) :
		   FIRST_UNIFORM + below(UNIFORMS / 2) * 2;
	return true;
}

/* Without modifiers, and with the sources' shapes; whether that can be encoded */
static bool shaped_instruction(enum agx_opcode op, unsigned int shapes, unsigned int dst_size,
			       struct agx_instr *instr)
{
	unsigned int i;

	random_instruction(op, instr);
	instr->mod[AGX_MOD_SATURATE] = instr->mod[AGX_MOD_SHIFT] = 0;
	instr->dst.size = dst_size;
	instr->dst.value = RESULT * 2 + (dst_size == 16 && below(2));
	for (i = 0; i < 3; i++, shapes /= 4) {
		if (!give_shape(&instr->src[i], shapes % 4))
			return false;
	}
	return instr->op == op && can_be_encoded(instr);
}

/*
 * Where sources and results are decides which function runs an instruction, and so does
 * whether all threads are active: each combination of these is run.
 */
static void all_shapes(void **state)
{
	struct agx_instr instr[INSTRUCTIONS];
	static struct counts counts;
	unsigned int n, filled = 0, total = 0;

	state_of_random = from_environment("ALU_SEED", SEED);
	for (n = 0; n < AGX_OP_COUNT * 64 * 2 && counts.wrong < 20; n++) {
		enum agx_opcode op = n / 128;

		if (!alu_is_covered(op) ||
		    !shaped_instruction(op, n / 2 % 64, n % 2 ? 16 : 32, &instr[filled]))
			continue;
		if (++filled < INSTRUCTIONS)
			continue;
		run_program(*state, random_operands, instr, ~0u, n, &counts);
		run_program(*state, random_operands, instr, random_bits() | 1, n, &counts);
		total += filled;
		filled = 0;
	}
	printf("# %u instructions of all shapes\n", total);
	assert_int_equal(counts.wrong, 0);
}

/* Of the results of a simdgroup at most one has to be flushed though it is not tiny */
static void lone_smallest_results(void **state)
{
	const struct agx_operand word = {
		.value = RESULT * 2,
		.type = AGX_OPERAND_REG,
		.size = 32,
		.count = 1,
	};
	struct agx_instr instr[INSTRUCTIONS];
	static struct counts counts;
	unsigned int round, i, n;

	state_of_random = from_environment("ALU_SEED", SEED);
	for (round = 0; round < 32; round++) {
		for (i = 0; i < INSTRUCTIONS; i++) {
			instr[i] = (struct agx_instr){ .op = i % 2 ? AGX_OP_FMUL : AGX_OP_FFMA };
			instr[i].dst = word;
			for (n = 0; n < 3 - i % 2; n++)
				instr[i].src[n] = word;
			instr[i].src[0].value = (FIRST_SOURCE + below(3) * 2) * 2;
			instr[i].src[1].value = (FIRST_SOURCE + below(3) * 2 + 1) * 2;
			if (n == 3)
				instr[i].src[2].value = (FIRST_SOURCE + SOURCES - 1 - below(2)) * 2;
		}
		run_program(*state, lone_products, instr, ~0u, round, &counts);
	}
	assert_int_equal(counts.wrong, 0);
}

/* Names of what the interpreter runs */
static const char *const semantics[] = {
#define AGX_INSTRUCTION(id, name, short_length, long_length, length_bit,	\
			fixed, fields, semantics_)				\
	[AGX_OP_##id] = #semantics_,
#include "agx_isa.def"
};

/* What is no arithmetic, or is tested elsewhere */
static const char *const others[] = {
	/* test_core.c */
	"get_sr", "stop", "jmp_reg", "call_reg", "jmp_any", "call", "jmp_none", "pop_exec",
	"if_icmp", "else_icmp", "while_icmp", "update_exec", "if_fcmp", "else_fcmp",
	"while_fcmp", "nothing", "trap", "unsupported", "load", "store", "uniform_store",
	"atomic", "local_atomic", "local_load", "local_store", "stack_load", "stack_adjust",
	"stack_store", "barrier", "memory_barrier",
	/* test_core_texture.c, test_render.c */
	"texture_state", "sampler_state", "texture_sample", "texture_load", "image_write",
	"image_write_block", "st_var", "ld_tile", "st_tile", "sample_mask", "zs_emit", "iter",
	"iter_projected", "ldcf",
};

static bool is_other(enum agx_opcode op)
{
	unsigned int i;

	/* half of a sine each: test_core_alu.c has the product */
	if (op == AGX_OP_SINR || op == AGX_OP_SINC)
		return true;
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (!strcmp(others[i], semantics[op]))
			return true;
	}
	return false;
}

/* A new instruction is one or the other */
static void no_instruction_is_forgotten(void **state)
{
	unsigned int op;

	for (op = 0; op < AGX_OP_COUNT; op++) {
		if (alu_is_covered(op) == is_other(op))
			fail_msg("%s: not in alu_reference.c, nor named as something else",
				 agx_isa_op_name(op));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_instruction_is_forgotten),
		cmocka_unit_test_setup_teardown(random_instructions, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(all_shapes, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(lone_smallest_results, fixture_setup,
						fixture_teardown),
	};

	return cmocka_run_group_tests_name("core_alu_random", tests, NULL, NULL);
}
