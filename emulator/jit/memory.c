// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Which loads and stores can be done for whole simdgroups, and functions that do so on any
 * processor: where all lanes stay within a page of device memory or within shared memory, and
 * elements are integers. Addresses are computed in loops that the compiler makes vectors of; one
 * translation serves all lanes. Everything else, faults among it, is left to the interpreter's
 * functions (gpu/core_mem.c) before anything has happened. avx512_memory.c is faster where it runs.
 *
 * Elements are read and written by the host's ordinary loads and stores, which are atomic for
 * aligned elements, also in vectors.
 */
#include "memory.h"

/* An access, checked and translated */
struct memory_access {
	/* the lanes that take part: at least one */
	uint32_t exec;
	/* components of a lane, one behind the other */
	unsigned int count;
	/* where offset 0 is */
	uint8_t *host;
	/* bytes from there, for each lane */
	struct lanes offset;
};

/* Lanes whose offset is above @limit, as a mask */
INLINE uint32_t memory_above(const struct lanes *offset, uint32_t limit)
{
	uint32_t above = 0;
	unsigned int i;

	for (i = 0; i < LANES; i++)
		above |= offset->v[i] > limit ? lane_bits.v[i] : 0;
	return above;
}

/* Finds the page of device memory that all lanes are in. Return: false for the interpreter. */
INLINE bool memory_find_page(struct simdgroup *sg, const struct op *op, bool is_store,
			     unsigned int log2_size, struct memory_access *a)
{
	const struct agx_operand *base = &op->src[is_store], *index = base + 1;
	unsigned int shift = log2_size + memory_shift(op), i;
	uint64_t align = ~(uint64_t)0 << log2_size, page;
	struct wide_lanes va, offset;

	read_wide_lanes(sg, base, &va);
	read_wide_lanes(sg, index, &offset);
	for (i = 0; index->type == AGX_OPERAND_IMM && i < LANES; i++)
		offset.v[i] = (uint64_t)(int64_t)index->value;
	for (i = 0; i < LANES; i++)
		va.v[i] = (va.v[i] + (offset.v[i] << shift)) & align;
	page = va.v[__builtin_ctz(a->exec)] & ~(uint64_t)VAGX_UAT_PAGE_MASK;
	for (i = 0; i < LANES; i++) {
		uint64_t distance = va.v[i] - page;

		/* lanes that are far away are behind every page */
		a->offset.v[i] = distance >> 32 ? UINT32_MAX : (uint32_t)distance;
	}
	if (memory_above(&a->offset, VAGX_UAT_PAGE_SIZE - (a->count << log2_size)) & a->exec)
		return false;
	a->host = vagx_tlb_ptr(sg->core->config.tlb, page, VAGX_UAT_PAGE_SIZE,
			       is_store ? VAGX_WRITE : VAGX_READ, &sg->core->fault);
	return a->host;
}

/* Checks the addresses in shared memory. Return: false for the interpreter. */
INLINE bool memory_find_shared(struct simdgroup *sg, const struct op *op, bool is_store,
			       unsigned int log2_size, struct memory_access *a)
{
	const struct agx_operand *base = &op->src[is_store];
	uint32_t bound = sg->core->launch->shared_size, size = a->count << log2_size;
	struct lanes first, second;
	const uint32_t *start, *index;
	unsigned int i;

	if (bound < size)
		return false;
	start = base->type == AGX_OPERAND_NONE ? splat(&first, 0) :
		read_extended(sg, base, false, &first);
	index = read_extended(sg, base + 1, false, &second);
	/* negative addresses are large unsigned ones */
	for (i = 0; i < LANES; i++)
		a->offset.v[i] = (start[i] + (index[i] << log2_size)) & ~0u << log2_size;
	a->host = sg->core->shared;
	return !(memory_above(&a->offset, bound - size) & a->exec);
}

/* Whether the lanes' words follow each other, of all components */
INLINE bool memory_is_row(const struct memory_access *a)
{
	uint32_t apart = 0;
	unsigned int i;

	for (i = 0; i < LANES; i++)
		apart |= a->offset.v[i] ^ (a->offset.v[0] + i * 4 * a->count);
	return a->exec == ALL_LANES && !apart;
}

/* Whether all lanes that take part have the same address: @offset */
INLINE bool memory_is_same(const struct simdgroup *sg, const struct memory_access *a,
			   uint32_t offset)
{
	uint32_t apart = 0;
	unsigned int i;

	/* a store's lanes are fewer than the active ones; then it has none of its own here */
	for (i = 0; i < LANES; i++)
		apart |= (a->offset.v[i] ^ offset) & sg->mask.v[i];
	return !apart;
}

/* The part of a destination for component @n */
INLINE struct agx_operand memory_component(const struct agx_operand *o, unsigned int n)
{
	struct agx_operand part = *o;

	part.value += (int32_t)(n * (o->size / 16u));
	part.count = 1;
	return part;
}

INLINE void memory_load(struct simdgroup *sg, const struct memory_access *a,
			const struct agx_operand *o, unsigned int log2_size)
{
	uint32_t first = a->offset.v[__builtin_ctz(a->exec)], left;
	bool same = memory_is_same(sg, a, first), row;
	unsigned int n, i;

	row = !same && log2_size == 2 && o->size == 32 && memory_is_row(a);
	for (n = 0; n < a->count; n++) {
		const struct agx_operand part = memory_component(o, n);
		const uint8_t *host = a->host + (n << log2_size);
		struct lanes v;

		if (same) {
			splat(&v, memory_read(host + first, log2_size));
		} else if (row) {
			const uint32_t *words = (const void *)(host + first);

			for (i = 0; i < LANES; i++)
				v.v[i] = words[i * a->count];
		} else {
			for (left = a->exec; left; left &= left - 1) {
				i = (unsigned int)__builtin_ctz(left);
				v.v[i] = memory_read(host + a->offset.v[i], log2_size);
			}
		}
		write_lanes(sg, &part, v.v);
	}
}

/* Stores rows of words */
INLINE void memory_store_row(const struct simdgroup *sg, const struct memory_access *a,
			     const struct agx_operand *o)
{
	const struct lanes *reg = &sg->reg[(unsigned int)o->value / 2];
	uint32_t *words = (void *)(a->host + a->offset.v[0]);
	unsigned int n, i;

	for (n = 0; n < a->count; n++) {
		for (i = 0; i < LANES; i++)
			words[i * a->count + n] = reg[n].v[i];
	}
}

/* Lanes store in their order: the last one's value stays where several have one address */
INLINE void memory_store(struct simdgroup *sg, const struct memory_access *a,
			 const struct agx_operand *o, unsigned int log2_size)
{
	uint32_t left = a->exec;
	unsigned int n, i;

	if (log2_size == 2 && o->size == 32 && memory_is_row(a)) {
		memory_store_row(sg, a, o);
		return;
	}
	for (; left; left &= left - 1) {
		i = (unsigned int)__builtin_ctz(left);
		for (n = 0; n < a->count; n++) {
			unsigned int half = (unsigned int)o->value + n * (o->size / 16u);
			uint32_t value = sg->reg[half / 2].v[i];

			if (o->size == 16)
				value >>= half % 2 * 16;
			memory_write(a->host + a->offset.v[i] + (n << log2_size), log2_size, value);
		}
	}
}

INLINE void memory_count(struct simdgroup *sg, const struct memory_access *a, bool is_store,
			 unsigned int log2_size)
{
	struct vagx_core_stats *stats = &sg->core->stats;
	uint64_t bytes = (uint64_t)((unsigned int)__builtin_popcount(a->exec) * a->count) <<
			 log2_size;

	if (is_store)
		stats->stored += bytes;
	else
		stats->loaded += bytes;
}

INLINE void memory_run(struct simdgroup *sg, const struct op *op, enum memory_space space,
		       bool is_store, unsigned int log2_size)
{
	struct memory_access a = {
		.exec = sg->exec,
		.count = (unsigned int)__builtin_popcount(op->mod[AGX_MOD_MASK]),
	};
	bool found;

	if (is_store && space == MEMORY_DEVICE && sg->core->fragments)
		a.exec = vagx_stage_storing(sg);
	if (!a.exec)
		return;
	if (space == MEMORY_DEVICE)
		found = memory_find_page(sg, op, is_store, log2_size, &a);
	else
		found = memory_find_shared(sg, op, is_store, log2_size, &a);
	if (!found) {
		op->run(sg, op);
		return;
	}
	if (space == MEMORY_DEVICE)
		memory_count(sg, &a, is_store, log2_size);
	if (is_store)
		memory_store(sg, &a, &op->src[0], log2_size);
	else
		memory_load(sg, &a, &op->dst, log2_size);
}

/* A function for each space, direction and size of elements */
#define MEMORY_FN(name, space, is_store, log2_size)					\
CLONES static void name(struct simdgroup *sg, const struct op *op)			\
{											\
	memory_run(sg, op, space, is_store, log2_size);					\
}
MEMORY_FN(memory_load8, MEMORY_DEVICE, false, 0)
MEMORY_FN(memory_load16, MEMORY_DEVICE, false, 1)
MEMORY_FN(memory_load32, MEMORY_DEVICE, false, 2)
MEMORY_FN(memory_store8, MEMORY_DEVICE, true, 0)
MEMORY_FN(memory_store16, MEMORY_DEVICE, true, 1)
MEMORY_FN(memory_store32, MEMORY_DEVICE, true, 2)
MEMORY_FN(memory_local_load8, MEMORY_SHARED, false, 0)
MEMORY_FN(memory_local_load16, MEMORY_SHARED, false, 1)
MEMORY_FN(memory_local_load32, MEMORY_SHARED, false, 2)
MEMORY_FN(memory_local_store8, MEMORY_SHARED, true, 0)
MEMORY_FN(memory_local_store16, MEMORY_SHARED, true, 1)
MEMORY_FN(memory_local_store32, MEMORY_SHARED, true, 2)

/* Whether an instruction's components and registers are such that the functions above are right */
static bool memory_is_simple(const struct op *op, bool is_store)
{
	const struct agx_operand *o = is_store ? &op->src[0] : &op->dst;
	unsigned int mask = op->mod[AGX_MOD_MASK], count = (unsigned int)__builtin_popcount(mask);

	return op->mod[AGX_MOD_FORMAT] <= AGX_FORMAT_I32 && o->type == AGX_OPERAND_REG &&
	       o->size <= 32 && mask && !(mask & (mask + 1)) &&
	       (o->size == 16 || !(o->value % 2)) &&
	       (unsigned int)o->value + count * (o->size / 16u) <= AGX_ISA_REGISTERS;
}

static bool memory_is_device(const struct op *op, bool is_store)
{
	const struct agx_operand *base = &op->src[is_store], *index = base + 1;

	return base->size == 64 && (index->type == AGX_OPERAND_IMM || index->size == 32);
}

static bool memory_is_shared(const struct op *op, bool is_store)
{
	const struct agx_operand *base = &op->src[is_store], *index = base + 1;

	return (base->type == AGX_OPERAND_NONE || (base->size == 16 && !base->sign_extend)) &&
	       (index->type == AGX_OPERAND_IMM || (index->size == 16 && !index->sign_extend));
}

vagx_exec_fn *vagx_memory_choose(const vagx_memory_fns *fns, const struct op *op)
{
	bool is_store = op->run == vagx_exec_store || op->run == vagx_exec_local_store;
	enum memory_space space;

	if (op->run == vagx_exec_load || op->run == vagx_exec_store)
		space = MEMORY_DEVICE;
	else if (op->run == vagx_exec_local_load || op->run == vagx_exec_local_store)
		space = MEMORY_SHARED;
	else
		return NULL;
	if (!memory_is_simple(op, is_store) ||
	    !(space == MEMORY_DEVICE ? memory_is_device(op, is_store) :
				       memory_is_shared(op, is_store)))
		return NULL;
	/* formats 0 to 2 are integers of 1 << format bytes */
	return (*fns)[space][is_store][op->mod[AGX_MOD_FORMAT]];
}

vagx_exec_fn *vagx_memory_find(const struct op *op)
{
	static const vagx_memory_fns fns = {
		[MEMORY_DEVICE] = {
			{ memory_load8, memory_load16, memory_load32 },
			{ memory_store8, memory_store16, memory_store32 },
		},
		[MEMORY_SHARED] = {
			{ memory_local_load8, memory_local_load16, memory_local_load32 },
			{ memory_local_store8, memory_local_store16, memory_local_store32 },
		},
	};

	return vagx_memory_choose(&fns, op);
}
