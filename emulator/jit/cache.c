// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Registers of AGX in vector registers of the host, and segments. Within a segment a register is
 * loaded at its first use and stored at the segment's end. When all pairs are taken, that of the
 * least recently used register with no newer value than memory's is taken; if there is none, the
 * segment has to end first.
 */
#include <stdlib.h>

#include "build.h"

#define OFFSET_OF(field)	((int32_t)offsetof(struct simdgroup, field))

void vagx_build_op_masked(struct build *b, enum x86_vector op, unsigned int k, unsigned int dst,
			  unsigned int a, struct value v)
{
	unsigned int h;

	for (h = 0; h < 2; h++)
		vagx_x86_vector(&b->code, op, 2 * dst + h, 2 * a + h, vagx_build_rm(v, h),
				X86_MASKED(k ? k + h : 0));
}

void vagx_build_op(struct build *b, enum x86_vector op, unsigned int dst, unsigned int a,
		   struct value v)
{
	vagx_build_op_masked(b, op, 0, dst, a, v);
}

void vagx_build_op_imm_masked(struct build *b, enum x86_vector op, unsigned int k,
			      unsigned int dst, unsigned int a, struct value v, unsigned int imm)
{
	unsigned int h;

	for (h = 0; h < 2; h++)
		vagx_x86_vector_imm(&b->code, op, 2 * dst + h, 2 * a + h, vagx_build_rm(v, h),
				    X86_MASKED(k ? k + h : 0), imm);
}

void vagx_build_op_imm(struct build *b, enum x86_vector op, unsigned int dst, unsigned int a,
		       struct value v, unsigned int imm)
{
	vagx_build_op_imm_masked(b, op, 0, dst, a, v, imm);
}

void vagx_build_compare(struct build *b, enum x86_vector op, unsigned int k, unsigned int a,
			struct value v, unsigned int predicate)
{
	unsigned int h;

	for (h = 0; h < 2; h++)
		vagx_x86_vector_imm(&b->code, op, k + h, 2 * a + h, vagx_build_rm(v, h),
				    X86_ALL_LANES, predicate);
}

/* How many of the last constants are searched for an equal one, so that it takes bounded time */
#define RECENT	128

/* The place of a constant in the pool */
static unsigned int cache_find_constant(struct build *b, uint32_t bits)
{
	unsigned int i, capacity;
	uint32_t *pool;

	for (i = b->pool_count > RECENT ? b->pool_count - RECENT : 0; i < b->pool_count; i++) {
		if (b->pool[i] == bits)
			return i;
	}
	if (b->pool_count == b->pool_capacity) {
		capacity = b->pool_capacity ? b->pool_capacity * 2 : 64;
		pool = realloc(b->pool, capacity * sizeof(*pool));
		if (!pool) {
			b->code.failed = true;
			return 0;
		}
		b->pool = pool;
		b->pool_capacity = capacity;
	}
	b->pool[b->pool_count] = bits;
	return b->pool_count++;
}

struct value vagx_build_constant(struct build *b, uint32_t bits)
{
	return (struct value){
		.is_scalar = true,
		.base = GPR_POOL,
		.disp = (int32_t)(cache_find_constant(b, bits) * sizeof(bits)),
	};
}

unsigned int vagx_build_temp(struct build *b)
{
	/* instructions are written such that TEMPS are enough; too many spoil the code, not memory */
	if (b->temps == TEMPS)
		b->code.failed = true;
	return b->temps < TEMPS ? b->temps++ : 0;
}

struct value vagx_build_in_pair(struct build *b, struct value v)
{
	unsigned int pair;

	if (!v.is_scalar)
		return v;
	pair = vagx_build_temp(b);
	vagx_x86_vector(&b->code, X86_BROADCAST, 2 * pair, 0, X86_MEMORY(v.base, v.disp),
			X86_ALL_LANES);
	vagx_x86_vector(&b->code, X86_LOAD, 2 * pair + 1, 0, X86_REG(2 * pair), X86_ALL_LANES);
	return vagx_build_pair(pair);
}

static struct cached *cache_find(struct build *b, int reg)
{
	unsigned int i;

	for (i = 0; i < CACHED; i++) {
		if (b->cache[i].reg == reg)
			return &b->cache[i];
	}
	return NULL;
}

/* The pair to take for another register: an empty one, or the least recently used clean one */
static struct cached *cache_victim(struct build *b)
{
	struct cached *best = NULL;
	unsigned int i;

	for (i = 0; i < CACHED; i++) {
		struct cached *c = &b->cache[i];

		if (c->reg < 0)
			return c;
		if (c->dirty || c->used == b->clock)
			continue;
		if (!best || c->used < best->used)
			best = c;
	}
	return best;
}

static void cache_move(struct build *b, enum x86_vector op, unsigned int pair, unsigned int reg)
{
	int32_t disp = OFFSET_OF(reg) + (int32_t)(reg * sizeof(struct lanes));

	vagx_x86_vector(&b->code, op, 2 * pair, 0, X86_MEMORY(GPR_SG, disp), X86_ALL_LANES);
	vagx_x86_vector(&b->code, op, 2 * pair + 1, 0, X86_MEMORY(GPR_SG, disp + 64),
			X86_ALL_LANES);
}

static unsigned int cache_pair(const struct build *b, const struct cached *c)
{
	return PAIR_CACHE + (unsigned int)(c - b->cache);
}

static struct cached *cache_get(struct build *b, unsigned int reg)
{
	struct cached *c = cache_find(b, (int)reg);

	if (!c) {
		c = cache_victim(b);
		if (!c) {
			b->code.failed = true;
			return &b->cache[0];
		}
		*c = (struct cached){ .reg = (int)reg };
		cache_move(b, X86_LOAD, cache_pair(b, c), reg);
	}
	c->used = b->clock;
	return c;
}

unsigned int vagx_build_register(struct build *b, unsigned int reg)
{
	return cache_pair(b, cache_get(b, reg));
}

/* Replaces NaNs in the active lanes of a pair: others can be integers. Changes K_TEMP. */
static void cache_replace_nans(struct build *b, unsigned int pair)
{
	struct value nan = vagx_build_constant(b, 0x7fc00000);
	unsigned int h;

	for (h = 0; h < 2; h++) {
		unsigned int reg = 2 * pair + h;

		vagx_x86_vector_imm(&b->code, X86_CMP_FLOAT, K_TEMP, reg, X86_REG(reg),
				    X86_MASKED(K_EXEC + h), X86_FLOAT_UNORDERED);
		vagx_x86_vector(&b->code, X86_BROADCAST, reg, 0, X86_MEMORY(nan.base, nan.disp),
				X86_MASKED(K_TEMP));
	}
}

static void cache_make_canonical(struct build *b, struct cached *c)
{
	if (c->raw)
		cache_replace_nans(b, cache_pair(b, c));
	c->raw = false;
}

unsigned int vagx_build_canonical(struct build *b, unsigned int reg)
{
	struct cached *c = cache_get(b, reg);

	cache_make_canonical(b, c);
	return cache_pair(b, c);
}

/* Replaces a half of the active lanes' words by the lower half of @pair's, which changes */
static void cache_write_half(struct build *b, const struct agx_operand *o, unsigned int dst,
			     unsigned int pair)
{
	bool upper = o->value % 2;
	struct value mask = vagx_build_constant(b, upper ? 0xffff0000 : 0xffff);
	unsigned int h;

	if (upper)
		vagx_build_op_imm(b, X86_SHL_IMM, pair, 0, vagx_build_pair(pair), 16);
	/* where the mask's bit is set the value's, else the destination's: truth table of d, v, m */
	for (h = 0; h < 2; h++)
		vagx_x86_vector_imm(&b->code, X86_TERNARY, 2 * dst + h, 2 * pair + h,
				    vagx_build_rm(mask, h), X86_MASKED(K_EXEC + h), 0xd8);
}

unsigned int vagx_build_destination(struct build *b, const struct agx_operand *o, bool raw)
{
	struct cached *c = cache_get(b, (unsigned int)o->value / 2);

	c->raw = raw;
	c->dirty = true;
	return cache_pair(b, c);
}

void vagx_build_write(struct build *b, const struct agx_operand *o, struct value v, bool raw)
{
	struct cached *c = cache_get(b, (unsigned int)o->value / 2);
	unsigned int dst = cache_pair(b, c);

	if (o->size == 16) {
		/* the other half is read as a part of a word from now on */
		cache_make_canonical(b, c);
		cache_write_half(b, o, dst, v.pair);
	} else {
		vagx_build_op_masked(b, X86_BLEND, K_EXEC, dst, dst, v);
		c->raw = raw;
	}
	c->dirty = true;
}

void vagx_build_watch(struct build *b, unsigned int pair)
{
	/* the sign is shifted out */
	struct value smallest = vagx_build_constant(b, 0x00800000u << 1);
	unsigned int h;

	for (h = 0; h < 2; h++) {
		if (!b->watching)
			vagx_x86_mask(&b->code, X86_KXNOR, K_USUAL + h, K_USUAL + h, K_USUAL + h);
		vagx_x86_vector(&b->code, X86_ADD, 2 * PAIR_SCRATCH + h, 2 * pair + h,
				X86_REG(2 * pair + h), X86_ALL_LANES);
		vagx_x86_vector_imm(&b->code, X86_CMP, K_USUAL + h, 2 * PAIR_SCRATCH + h,
				    vagx_build_rm(smallest, h), X86_MASKED(K_USUAL + h),
				    X86_CMP_NE);
	}
	b->watching = true;
}

/* Registers of an instruction, each once. Return: how many there are. */
static unsigned int cache_registers_of(const struct op *op, int reg[MAX_SRCS + 1])
{
	unsigned int count = 0, i, n;

	for (i = 0; i <= MAX_SRCS; i++) {
		const struct agx_operand *o = i < MAX_SRCS ? &op->src[i] : &op->dst;
		unsigned int words = o->type != AGX_OPERAND_REG ? 0 : o->size == 64 ? 2 : 1, w;

		for (w = 0; w < words && count <= MAX_SRCS; w++) {
			int number = o->value / 2 + (int)w;

			for (n = 0; n < count && reg[n] != number; n++)
				;
			if (n == count)
				reg[count++] = number;
		}
	}
	return count;
}

bool vagx_build_has_room(const struct build *b, const struct op *op)
{
	int reg[MAX_SRCS + 1];
	unsigned int count = cache_registers_of(op, reg), taken = 0, i, n;

	for (i = 0; i < CACHED; i++) {
		for (n = 0; n < count && b->cache[i].reg != reg[n]; n++)
			;
		/* it cannot be replaced, and is not one of the instruction's */
		taken += n == count && b->cache[i].reg >= 0 && b->cache[i].dirty;
	}
	return taken + count <= CACHED;
}

static bool cache_add_fixup(struct build *b, struct fixup fixup)
{
	if (b->fixup_count == b->fixup_capacity) {
		unsigned int capacity = b->fixup_capacity ? b->fixup_capacity * 2 : 64;
		struct fixup *more = realloc(b->fixups, capacity * sizeof(*more));

		if (!more) {
			b->code.failed = true;
			return false;
		}
		b->fixups = more;
		b->fixup_capacity = capacity;
	}
	b->fixups[b->fixup_count++] = fixup;
	return true;
}

void vagx_build_jump_to(struct build *b, size_t at, uint32_t pc)
{
	cache_add_fixup(b, (struct fixup){ .kind = FIXUP_JUMP, .at = (uint32_t)at, .pc = pc });
}

/* If a lane had a special result the interpreter does the segment again */
static void cache_test_special(struct build *b, uint32_t next)
{
	size_t at;

	vagx_x86_mask(&b->code, X86_KAND, K_TEMP, K_USUAL, K_USUAL + 1);
	vagx_x86_mask_test(&b->code, K_TEMP, K_TEMP);
	at = vagx_x86_jump_if(&b->code, X86_NOT_CARRY);
	cache_add_fixup(b, (struct fixup){
		.kind = FIXUP_REPLAY,
		.at = (uint32_t)at,
		.pc = b->segment,
		.count = next - b->segment,
	});
}

/* Counts instructions: so many of the slice, and each once for each active lane */
static void cache_count(struct build *b, uint32_t count)
{
	vagx_x86_bytes(&b->code, "\x49\x81\x2f", 3);	/* sub qword [r15], count */
	vagx_x86_word(&b->code, count);
	vagx_x86_bytes(&b->code, "\x48\x69\xc5", 3);	/* imul rax, rbp, count */
	vagx_x86_word(&b->code, count);
	vagx_x86_bytes(&b->code, "\x49\x01\xc4", 3);	/* add r12, rax */
}

/* Pairs that may have other NaNs than registers, as a mask; none has afterwards */
static uint32_t cache_take_raw(struct build *b)
{
	uint32_t pairs = 0;
	unsigned int i;

	for (i = 0; i < CACHED; i++) {
		if (b->cache[i].reg >= 0 && b->cache[i].raw)
			pairs |= 1u << (PAIR_CACHE + i);
		b->cache[i].raw = false;
	}
	return pairs;
}

/* The lowest pair of a mask, which loses it */
static unsigned int cache_next_pair(uint32_t *pairs)
{
	unsigned int pair = (unsigned int)__builtin_ctz(*pairs);

	*pairs &= *pairs - 1;
	return pair;
}

/*
 * Replaces NaNs before registers are stored. There are hardly ever any, so all pairs are looked at
 * together, two by each comparison, and code elsewhere does it.
 */
static void cache_canonicalize(struct build *b)
{
	uint32_t pairs = cache_take_raw(b), left = pairs;
	unsigned int k[2] = { K_EXEC, K_EXEC + 1 }, h, x, y;
	size_t at;

	if (!pairs)
		return;
	while (left) {
		x = cache_next_pair(&left);
		y = left ? cache_next_pair(&left) : x;
		for (h = 0; h < 2; h++) {
			/* in K_COND: the active lanes that have been numbers so far */
			vagx_x86_vector_imm(&b->code, X86_CMP_FLOAT, K_COND + h, 2 * x + h,
					    X86_REG(2 * y + h), X86_MASKED(k[h]),
					    X86_FLOAT_ORDERED);
			k[h] = K_COND + h;
		}
	}
	for (h = 0; h < 2; h++)
		vagx_x86_mask(&b->code, X86_KXOR, K_COND + h, K_COND + h, K_EXEC + h);
	vagx_x86_mask_test(&b->code, K_COND, K_COND + 1);
	at = vagx_x86_jump_if(&b->code, X86_NOT_EQUAL);
	cache_add_fixup(b, (struct fixup){
		.kind = FIXUP_NANS,
		.at = (uint32_t)at,
		.pairs = pairs,
	});
}

void vagx_build_replace_nans(struct build *b, const struct fixup *fixup)
{
	uint32_t pairs = fixup->pairs;

	while (pairs)
		cache_replace_nans(b, cache_next_pair(&pairs));
	vagx_x86_set_target(&b->code, vagx_x86_jump(&b->code), fixup->at + 4);
}

void vagx_build_commit(struct build *b, uint32_t next)
{
	unsigned int i;

	if (b->watching)
		cache_test_special(b, next);
	cache_canonicalize(b);
	for (i = 0; i < CACHED; i++) {
		struct cached *c = &b->cache[i];

		if (c->reg < 0 || !c->dirty)
			continue;
		cache_move(b, X86_STORE, PAIR_CACHE + i, (unsigned int)c->reg);
		c->dirty = false;
	}
	cache_count(b, next - b->segment);
	if (b->exec_changed)
		vagx_build_set_exec(b);
	b->exec_changed = false;
	b->watching = false;
	b->segment = next;
}

void vagx_build_end_segment(struct build *b, uint32_t next)
{
	if (next == b->segment)
		return;
	vagx_build_commit(b, next);
	if (!b->segmented)
		return;
	vagx_build_leave(b, next);
	vagx_build_forget(b);
	b->entry[next] = (uint32_t)b->code.length;
}

void vagx_build_forget(struct build *b)
{
	unsigned int i;

	for (i = 0; i < CACHED; i++)
		b->cache[i] = (struct cached){ .reg = -1 };
}
