// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Registers of AGX in vectors, and segments. Within a segment a register is loaded at its first use
 * and stored at the segment's end. When all vectors are taken, that of the least recently used
 * register with no newer value than memory's is taken; if there is none, the segment has to end
 * first.
 *
 * Halves that instructions of floats read and write are cached as floats, beside the word that they
 * are a part of. They are converted back when something else reads the word ("settled"), and at the
 * segment's end.
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

struct value vagx_build_row(struct build *b, const uint32_t *words, unsigned int count)
{
	unsigned int i = b->pool_count > RECENT ? b->pool_count - RECENT : 0, n;

	while (i + count <= b->pool_count && memcmp(&b->pool[i], words, count * sizeof(*words)))
		i++;
	for (n = 0; i + count > b->pool_count && n < count; n++) {
		unsigned int at = cache_add_constant(b, words[n]);

		i = n ? i : at;
	}
	return (struct value){
		.is_scalar = true,
		.base = GPR_POOL,
		.disp = (int32_t)(i * sizeof(*words)),
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

static struct cached *cache_find(struct build *b, unsigned int reg, enum part part)
{
	unsigned int i;

	for (i = 0; i < b->vectors->cached; i++) {
		if (b->cache[i].reg == (int)reg && b->cache[i].part == part)
			return &b->cache[i];
	}
	return NULL;
}

/*
 * The vector to take for another register: an empty one, or the least recently used clean one; none
 * that the instruction has used
 */
static struct cached *cache_victim(struct build *b)
{
	struct cached *best = NULL;
	unsigned int i;

	for (i = 0; i < b->vectors->cached; i++) {
		struct cached *c = &b->cache[i];

		if (c->used == b->clock)
			continue;
		if (c->reg < 0)
			return c;
		if (!c->dirty && (!best || c->used < best->used))
			best = c;
	}
	return best;
}

static unsigned int cache_vector(const struct build *b, const struct cached *c)
{
	return VEC_CACHE + (unsigned int)(c - b->cache);
}

/* The entry of a part of a register. If there was none, it is new, and nothing is in its vector. */
static struct cached *cache_take(struct build *b, unsigned int reg, enum part part, bool *is_new)
{
	struct cached *c = cache_find(b, reg, part);

	*is_new = !c;
	if (!c) {
		c = cache_victim(b);
		if (!c) {
			b->code.failed = true;
			c = &b->cache[0];
		}
		*c = (struct cached){ .reg = (int)reg, .part = part };
	}
	c->used = b->clock;
	return c;
}

/* A register's word, in which halves may be old */
static struct cached *cache_get_word(struct build *b, unsigned int reg)
{
	bool is_new;
	struct cached *c = cache_take(b, reg, PART_WORD, &is_new);

	if (is_new)
		b->vectors->load(b, cache_vector(b, c), reg);
	return c;
}

static void cache_make_canonical(struct build *b, struct cached *c)
{
	if (c->raw)
		b->vectors->replace_nans(b, cache_vector(b, c));
	c->raw = false;
}

/* @t = a half in its place in words. Return: the bits that it has there. */
static uint32_t cache_place_half(struct build *b, unsigned int t, struct cached *half)
{
	struct value v = vagx_build_vector(t);

	b->vectors->float_to_half(b, t, cache_vector(b, half));
	half->dirty = false;
	if (half->part == PART_LOW)
		return 0xffff;
	b->vectors->op_imm(b, VECTOR_SHL_IMM, MASK_ALL, t, 0, v, 16);
	return 0xffff0000;
}

/* Puts a half into its word, if it is newer */
static void cache_settle_half(struct build *b, struct cached *word, enum part part)
{
	struct cached *half = cache_find(b, (unsigned int)word->reg, part);
	uint32_t bits;

	if (!half || !half->dirty)
		return;
	cache_make_canonical(b, word);
	bits = cache_place_half(b, VEC_SCRATCH, half);
	b->vectors->insert(b, MASK_EXEC, cache_vector(b, word), VEC_SCRATCH, bits);
	word->dirty = true;
}

/* A register's word */
static struct cached *cache_get(struct build *b, unsigned int reg)
{
	struct cached *c = cache_get_word(b, reg);

	cache_settle_half(b, c, PART_LOW);
	cache_settle_half(b, c, PART_HIGH);
	return c;
}

/* Puts the halves of a register into its word, if they are newer */
static void cache_settle_word(struct build *b, unsigned int reg)
{
	struct cached *low = cache_find(b, reg, PART_LOW), *high = cache_find(b, reg, PART_HIGH);

	if ((low && low->dirty) || (high && high->dirty))
		cache_get(b, reg);
}

/* Forgets a half, whose word is written. The instruction may have it as a source. */
static void cache_drop_half(struct build *b, unsigned int reg, enum part part)
{
	struct cached *half = cache_find(b, reg, part);

	if (half) {
		half->reg = -1;
		half->dirty = false;
	}
}

static void cache_drop_halves(struct build *b, unsigned int reg)
{
	cache_drop_half(b, reg, PART_LOW);
	cache_drop_half(b, reg, PART_HIGH);
}

unsigned int vagx_build_register(struct build *b, unsigned int reg)
{
	return cache_vector(b, cache_get(b, reg));
}

static enum part cache_part(unsigned int half)
{
	return half % 2 ? PART_HIGH : PART_LOW;
}

unsigned int vagx_build_half(struct build *b, unsigned int half)
{
	struct cached *word = cache_find(b, half / 2, PART_WORD), *c;
	bool is_new;

	c = cache_take(b, half / 2, cache_part(half), &is_new);
	if (!is_new)
		return cache_vector(b, c);
	/* it may be what the half replaces */
	if (!word)
		b->vectors->load(b, cache_vector(b, c), half / 2);
	else if (word != c)
		cache_make_canonical(b, word);
	b->vectors->half_to_float(b, cache_vector(b, c), cache_vector(b, word ? word : c),
				  half % 2);
	return cache_vector(b, c);
}

int32_t vagx_build_register_disp(unsigned int reg)
{
	return (int32_t)(offsetof(struct simdgroup, reg) + reg * sizeof(struct lanes));
}

unsigned int vagx_build_canonical(struct build *b, unsigned int reg)
{
	struct cached *c = cache_get(b, reg);

	cache_make_canonical(b, c);
	return cache_vector(b, c);
}

unsigned int vagx_build_destination(struct build *b, const struct agx_operand *o, bool raw)
{
	unsigned int reg = (unsigned int)o->value / 2;
	struct cached *c = cache_get_word(b, reg);

	cache_drop_halves(b, reg);
	c->raw = raw && !b->vectors->one_nan;
	c->dirty = true;
	return cache_vector(b, c);
}

/* Writes to a half of a register's word */
static void cache_write_upper_or_lower(struct build *b, unsigned int half, struct value v)
{
	struct cached *c = cache_get_word(b, half / 2);
	bool upper = half % 2;

	cache_drop_half(b, half / 2, cache_part(half));
	c->dirty = true;
	/* the other half is read as a part of a word from now on */
	cache_make_canonical(b, c);
	if (upper)
		b->vectors->op_imm(b, VECTOR_SHL_IMM, MASK_ALL, v.vec, 0, v, 16);
	b->vectors->insert(b, MASK_EXEC, cache_vector(b, c), v.vec, upper ? 0xffff0000 : 0xffff);
}

void vagx_build_write(struct build *b, const struct agx_operand *o, struct value v, bool raw)
{
	if (o->size == 16)
		cache_write_upper_or_lower(b, (unsigned int)o->value, v);
	else
		b->vectors->copy(b, MASK_EXEC, vagx_build_destination(b, o, raw), v);
}

unsigned int vagx_build_half_destination(struct build *b, const struct agx_operand *o)
{
	unsigned int half = (unsigned int)o->value;
	bool is_new;
	struct cached *c = cache_take(b, half / 2, cache_part(half), &is_new);

	c->dirty = true;
	return cache_vector(b, c);
}

/* Writes the halves of a register that are newer, which is not cached as a word */
static void cache_store_halves(struct build *b, unsigned int reg)
{
	enum { WORD, PLACED, OTHER };
	struct cached *low = cache_find(b, reg, PART_LOW), *high = cache_find(b, reg, PART_HIGH);
	bool has_low = low && low->dirty, has_high = high && high->dirty;
	uint32_t bits = cache_place_half(b, PLACED, has_low ? low : high);

	b->vectors->load(b, WORD, reg);
	if (has_low && has_high) {
		cache_place_half(b, OTHER, high);
		b->vectors->op(b, VECTOR_OR, MASK_ALL, PLACED, PLACED, vagx_build_vector(OTHER));
		b->vectors->copy(b, MASK_EXEC, WORD, vagx_build_vector(PLACED));
	} else {
		b->vectors->insert(b, MASK_EXEC, WORD, PLACED, bits);
	}
	b->vectors->store(b, WORD, reg);
}

void vagx_build_settle(struct build *b)
{
	unsigned int i;

	for (i = 0; i < b->vectors->cached; i++) {
		struct cached *c = &b->cache[i], *word;

		if (c->reg < 0 || c->part == PART_WORD || !c->dirty)
			continue;
		word = cache_find(b, (unsigned int)c->reg, PART_WORD);
		if (word)
			cache_settle_half(b, word, c->part);
		else
			cache_store_halves(b, (unsigned int)c->reg);
	}
}

/* Forgets halves, which are right in lanes only that have been active */
static void cache_drop_all_halves(struct build *b)
{
	unsigned int i;

	for (i = 0; i < b->vectors->cached; i++) {
		if (b->cache[i].part != PART_WORD)
			b->cache[i].reg = -1;
	}
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

/* Sources of an instruction, from the first one on, that are read as floats */
static unsigned int cache_float_sources(const struct op *op)
{
	switch (op->opcode) {
	case AGX_OP_FFMA:
	case AGX_OP_HFMA:
		return 3;
	case AGX_OP_FADD:
	case AGX_OP_FMUL:
	case AGX_OP_HADD:
	case AGX_OP_HMUL:
	case AGX_OP_FCSEL:
	case AGX_OP_IF_FCMP:
	case AGX_OP_ELSE_FCMP:
	case AGX_OP_WHILE_FCMP:
	case AGX_OP_FCMP_BALLOT:
		return 2;
	case AGX_OP_RINT:
	case AGX_OP_FLOOR:
	case AGX_OP_CEIL:
	case AGX_OP_TRUNC:
	case AGX_OP_RCP:
	case AGX_OP_RSQRT:
	case AGX_OP_RSQRTS:
	case AGX_OP_LOG2:
	case AGX_OP_EXP2:
	case AGX_OP_SINR:
	case AGX_OP_SINC:
	case AGX_OP_F_TO_U16:
	case AGX_OP_F_TO_S16:
	case AGX_OP_F_TO_U32:
	case AGX_OP_F_TO_S32:
		return 1;
	default:
		return 0;
	}
}

/* Whether its result is a float; comparisons and selections have none */
static bool cache_writes_float(const struct op *op)
{
	switch (op->opcode) {
	case AGX_OP_FCSEL:
	case AGX_OP_FCMP_BALLOT:
	case AGX_OP_F_TO_U16:
	case AGX_OP_F_TO_S16:
	case AGX_OP_F_TO_U32:
	case AGX_OP_F_TO_S32:
		return false;
	case AGX_OP_DFDX:
	case AGX_OP_DFDY:
	case AGX_OP_ITER:
	case AGX_OP_ITER_PROJECTED:
		return true;
	default:
		return cache_float_sources(op);
	}
}

/* Most elements of a destination that one instruction writes */
#define MAX_ELEMENTS	4

/* What an instruction has in the cache, each once */
struct cache_needs {
	struct cached entry[2 * MAX_SRCS + MAX_ELEMENTS];
	unsigned int count;
};

static bool cache_needs_entry(const struct cache_needs *needs, const struct cached *c)
{
	unsigned int i;

	for (i = 0; i < needs->count; i++) {
		if (needs->entry[i].reg == c->reg && needs->entry[i].part == c->part)
			return true;
	}
	return false;
}

static void cache_add_need(struct cache_needs *needs, const struct agx_operand *o, bool is_float)
{
	unsigned int words = o->type != AGX_OPERAND_REG ? 0 : o->size == 64 ? 2 : 1, w;

	for (w = 0; w < words; w++) {
		struct cached c = { .reg = o->value / 2 + (int)w };

		if (is_float && o->size == 16)
			c.part = cache_part((unsigned int)o->value);
		if (!cache_needs_entry(needs, &c))
			needs->entry[needs->count++] = c;
	}
}

/* The elements of a destination; what has more of them is C's */
static void cache_add_elements(struct cache_needs *needs, const struct op *op)
{
	struct agx_operand one = op->dst;
	unsigned int i;

	for (i = 0; i < MAX_ELEMENTS && (!i || i < op->dst.count); i++) {
		cache_add_need(needs, &one, cache_writes_float(op));
		one.value += op->dst.size / 16;
	}
}

void vagx_build_settle_sources(struct build *b, const struct op *op)
{
	unsigned int floats = cache_float_sources(op), i, w;

	for (i = 0; i < MAX_SRCS; i++) {
		const struct agx_operand *o = &op->src[i];
		unsigned int words = o->type != AGX_OPERAND_REG ? 0 : o->size == 64 ? 2 : 1;

		for (w = 0; w < words && (i >= floats || o->size != 16); w++)
			cache_settle_word(b, (unsigned int)o->value / 2 + w);
	}
}

bool vagx_build_has_room(const struct build *b, const struct op *op)
{
	unsigned int floats = cache_float_sources(op), taken = 0, i;
	struct cache_needs needs = { .count = 0 };

	for (i = 0; i < MAX_SRCS; i++)
		cache_add_need(&needs, &op->src[i], i < floats);
	cache_add_elements(&needs, op);
	for (i = 0; i < b->vectors->cached; i++) {
		const struct cached *c = &b->cache[i];

		/* it cannot be replaced, and is not one of the instruction's */
		taken += c->reg >= 0 && c->dirty && !cache_needs_entry(&needs, c);
	}
	return taken + needs.count <= b->vectors->cached;
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

void vagx_build_require(struct build *b, const struct op *op, uint32_t offset, uint32_t value,
			enum host_condition bad)
{
	vagx_host_compare_field(b, offset, value);
	vagx_build_add_fixup(b, (struct fixup){
		.kind = FIXUP_REPLAY,
		.at = (uint32_t)vagx_host_jump_if(b, bad),
		.pc = b->segment,
		.count = (uint32_t)(op - b->program->op) + 1 - b->segment,
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
	if (b->exec_changed) {
		b->vectors->set_active(b);
		cache_drop_all_halves(b);
	}
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
