// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Registers of AGX in vectors, and segments. Within a segment a register is loaded at its first use
 * and stored at the segment's end. When all vectors are taken, that of the least recently used
 * register with no newer value than memory's is taken; if there is none, the segment has to end
 * first.
 */
#include <stdlib.h>

#include "build.h"

/* How many of the last constants are searched for an equal one, so that it takes bounded time */
#define RECENT	128

/* Adds a constant to the pool. Return: its place. */
static unsigned int cache_add_constant(struct build *b, uint32_t bits)
{
	unsigned int capacity;
	uint32_t *pool;

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

/* The place of a constant in the pool */
static unsigned int cache_find_constant(struct build *b, uint32_t bits)
{
	unsigned int i;

	for (i = b->pool_count > RECENT ? b->pool_count - RECENT : 0; i < b->pool_count; i++) {
		if (b->pool[i] == bits)
			return i;
	}
	return cache_add_constant(b, bits);
}

struct value vagx_build_constant(struct build *b, uint32_t bits)
{
	return (struct value){
		.is_scalar = true,
		.base = GPR_POOL,
		.disp = (int32_t)(cache_find_constant(b, bits) * sizeof(bits)),
	};
}

struct value vagx_build_constant64(struct build *b, uint64_t bits)
{
	const uint32_t low = (uint32_t)bits, high = bits >> 32;
	unsigned int i = b->pool_count > RECENT ? b->pool_count - RECENT : 0;

	while (i + 1 < b->pool_count && (b->pool[i] != low || b->pool[i + 1] != high))
		i++;
	if (i + 1 >= b->pool_count) {
		i = cache_add_constant(b, low);
		cache_add_constant(b, high);
	}
	return (struct value){
		.is_scalar = true,
		.base = GPR_POOL,
		.disp = (int32_t)(i * sizeof(low)),
	};
}

unsigned int vagx_build_temp(struct build *b)
{
	/* instructions are written such that TEMPS are enough; too many spoil the code, not memory */
	if (b->temps == TEMPS)
		b->code.failed = true;
	return b->temps < TEMPS ? b->temps++ : 0;
}

struct value vagx_build_in_vector(struct build *b, struct value v)
{
	unsigned int t;

	if (!v.is_scalar)
		return v;
	t = vagx_build_temp(b);
	b->vectors->copy(b, MASK_ALL, t, v);
	return vagx_build_vector(t);
}

static struct cached *cache_find(struct build *b, int reg)
{
	unsigned int i;

	for (i = 0; i < b->vectors->cached; i++) {
		if (b->cache[i].reg == reg)
			return &b->cache[i];
	}
	return NULL;
}

/* The vector to take for another register: an empty one, or the least recently used clean one */
static struct cached *cache_victim(struct build *b)
{
	struct cached *best = NULL;
	unsigned int i;

	for (i = 0; i < b->vectors->cached; i++) {
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

static unsigned int cache_vector(const struct build *b, const struct cached *c)
{
	return VEC_CACHE + (unsigned int)(c - b->cache);
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
		b->vectors->load(b, cache_vector(b, c), reg);
	}
	c->used = b->clock;
	return c;
}

unsigned int vagx_build_register(struct build *b, unsigned int reg)
{
	return cache_vector(b, cache_get(b, reg));
}

int32_t vagx_build_register_disp(unsigned int reg)
{
	return (int32_t)(offsetof(struct simdgroup, reg) + reg * sizeof(struct lanes));
}

static void cache_make_canonical(struct build *b, struct cached *c)
{
	if (c->raw)
		b->vectors->replace_nans(b, cache_vector(b, c));
	c->raw = false;
}

unsigned int vagx_build_canonical(struct build *b, unsigned int reg)
{
	struct cached *c = cache_get(b, reg);

	cache_make_canonical(b, c);
	return cache_vector(b, c);
}

unsigned int vagx_build_destination(struct build *b, const struct agx_operand *o, bool raw)
{
	struct cached *c = cache_get(b, (unsigned int)o->value / 2);

	c->raw = raw && !b->vectors->one_nan;
	c->dirty = true;
	return cache_vector(b, c);
}

void vagx_build_write(struct build *b, const struct agx_operand *o, struct value v, bool raw)
{
	struct cached *c = cache_get(b, (unsigned int)o->value / 2);
	bool upper = o->value % 2;

	c->dirty = true;
	if (o->size != 16) {
		b->vectors->copy(b, MASK_EXEC, cache_vector(b, c), v);
		c->raw = raw && !b->vectors->one_nan;
		return;
	}
	/* the other half is read as a part of a word from now on */
	cache_make_canonical(b, c);
	if (upper)
		b->vectors->op_imm(b, VECTOR_SHL_IMM, MASK_ALL, v.vec, 0, v, 16);
	b->vectors->insert(b, MASK_EXEC, cache_vector(b, c), v.vec, upper ? 0xffff0000 : 0xffff);
}

uint32_t vagx_build_take_raw(struct build *b)
{
	uint32_t vectors = 0;
	unsigned int i;

	for (i = 0; i < b->vectors->cached; i++) {
		if (b->cache[i].reg >= 0 && b->cache[i].raw)
			vectors |= 1u << (VEC_CACHE + i);
		b->cache[i].raw = false;
	}
	return vectors;
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

	for (i = 0; i < b->vectors->cached; i++) {
		for (n = 0; n < count && b->cache[i].reg != reg[n]; n++)
			;
		/* it cannot be replaced, and is not one of the instruction's */
		taken += n == count && b->cache[i].reg >= 0 && b->cache[i].dirty;
	}
	return taken + count <= b->vectors->cached;
}

void vagx_build_add_fixup(struct build *b, struct fixup fixup)
{
	if (b->fixup_count == b->fixup_capacity) {
		unsigned int capacity = b->fixup_capacity ? b->fixup_capacity * 2 : 64;
		struct fixup *more = realloc(b->fixups, capacity * sizeof(*more));

		if (!more) {
			b->code.failed = true;
			return;
		}
		b->fixups = more;
		b->fixup_capacity = capacity;
	}
	b->fixups[b->fixup_count++] = fixup;
}

void vagx_build_jump_to(struct build *b, size_t at, enum version version, uint32_t pc)
{
	vagx_build_add_fixup(b, (struct fixup){
		.kind = FIXUP_JUMP,
		.at = (uint32_t)at,
		.version = version,
		.pc = pc,
	});
}

void vagx_build_begin(struct build *b)
{
	if (b->open)
		return;
	vagx_build_native_mode(b);
	b->vectors->begin(b);
	b->open = true;
}

void vagx_build_commit(struct build *b, uint32_t next)
{
	unsigned int i;

	if (next == b->segment)
		return;
	/* the lanes that were active in it are counted, those that are now are set behind that */
	if (b->open)
		b->vectors->end(b, next);
	vagx_host_count(b, next - b->segment);
	if (b->exec_changed)
		b->vectors->set_active(b);
	for (i = 0; i < b->vectors->cached; i++)
		b->cache[i].dirty = false;
	if (!b->vectors->keeps_cache)
		vagx_build_forget(b);
	b->exec_changed = false;
	b->watching = false;
	b->open = false;
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
	b->entry[b->version][next] = (uint32_t)b->code.length;
}

void vagx_build_forget(struct build *b)
{
	unsigned int i;

	for (i = 0; i < MAX_CACHED; i++)
		b->cache[i] = (struct cached){ .reg = -1 };
	b->open = false;
}
