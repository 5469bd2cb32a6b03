// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Which loads and stores can be done for whole simdgroups, and functions that do so on any
 * processor: where all lanes stay within a page of device memory or within shared memory, and
 * elements are integers. Addresses are computed in loops that the compiler makes vectors of; one
 * translation serves all lanes. Everything else, faults among it, is left to the interpreter's
 * functions (gpu/core_mem.c) before anything has happened. avx512_memory.c is faster where it runs.
 * Atomics of lanes that have one address are combined in one.
 *
 * Elements are read and written by the host's ordinary loads and stores, which are atomic for
 * aligned elements, also in vectors.
 */
#include "gpu/core_atomic.h"
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

/* Lanes whose addresses are looked at together: a vector, and the width of many groups */
#define MEMORY_LANES	8

typedef uint32_t memory_vector __attribute__((vector_size(4 * MEMORY_LANES)));

INLINE bool memory_is_zero(const memory_vector *v)
{
	uint64_t part[sizeof(*v) / sizeof(uint64_t)];

	memcpy(part, v, sizeof(*v));
	return !(part[0] | part[1] | part[2] | part[3]);
}

/* Clears those of @v from @lane on that a mask does not have */
INLINE void memory_clear_inactive(memory_vector *v, uint32_t exec, unsigned int lane)
{
	const memory_vector bits = { 1, 2, 4, 8, 16, 32, 64, 128 };

	*v &= (memory_vector)((bits & exec >> lane) != 0);
}

/* Lanes whose offset is above @limit, as a mask */
INLINE uint32_t memory_above(const struct lanes *offset, uint32_t limit)
{
	uint32_t above = 0;
	unsigned int i;

	for (i = 0; i < LANES; i++)
		above |= offset->v[i] > limit ? lane_bits.v[i] : 0;
	return above;
}

/* Translates the page that lanes are in. Return: false for the interpreter. */
INLINE bool memory_translate(struct simdgroup *sg, uint64_t va, bool is_store,
			     struct memory_access *a)
{
	a->host = vagx_tlb_ptr(sg->core->config.tlb, va & ~(uint64_t)VAGX_UAT_PAGE_MASK,
			       VAGX_UAT_PAGE_SIZE, is_store ? VAGX_WRITE : VAGX_READ,
			       &sg->core->fault);
	return a->host;
}

/*
 * Finds the page of one base address and an index in a register, with 32 bits: what the indices
 * are apart from that of the first lane is so little that nothing is lost.
 */
INLINE bool memory_find_near(struct simdgroup *sg, const struct op *op, bool is_store,
			     unsigned int log2_size, struct memory_access *a)
{
	const struct agx_operand *base = &op->src[is_store], *index = base + 1;
	const uint32_t limit = VAGX_UAT_PAGE_SIZE - (a->count << log2_size);
	const uint32_t *reg = sg->reg[index->value / 2].v;
	uint32_t first = reg[__builtin_ctz(a->exec)];
	unsigned int shift = log2_size + memory_shift(op), i;
	uint64_t va = read_uniform(sg, (unsigned int)base->value, 32) |
		      (uint64_t)read_uniform(sg, (unsigned int)base->value + 2, 32) << 32;
	memory_vector outside = { 0 };

	va += (index->sign_extend ? (uint64_t)(int32_t)first : first) << shift;
	for (i = 0; i < LANES; i += MEMORY_LANES) {
		memory_vector v, apart, offset;

		memcpy(&v, reg + i, sizeof(v));
		apart = v - first;
		/* differences of less than 2^31 in 33 bits, which are in a page */
		offset = (apart << shift) + (uint32_t)(va & VAGX_UAT_PAGE_MASK);
		offset &= ~0u << log2_size;
		apart = (memory_vector)(apart + VAGX_UAT_PAGE_SIZE > 2 * VAGX_UAT_PAGE_SIZE) |
			(memory_vector)(offset > limit) | (v ^ first) >> 31;
		memory_clear_inactive(&apart, a->exec, i);
		outside |= apart;
		memcpy(&a->offset.v[i], &offset, sizeof(offset));
	}
	return memory_is_zero(&outside) && memory_translate(sg, va, is_store, a);
}

/* Finds the page of device memory that all lanes are in. Return: false for the interpreter. */
INLINE bool memory_find_page(struct simdgroup *sg, const struct op *op, bool is_store,
			     unsigned int log2_size, struct memory_access *a)
{
	const struct agx_operand *base = &op->src[is_store], *index = base + 1;
	unsigned int shift = log2_size + memory_shift(op), i;
	uint64_t align = ~(uint64_t)0 << log2_size, page;
	struct wide_lanes va, offset;

	if (base->type == AGX_OPERAND_UNIFORM && index->type == AGX_OPERAND_REG)
		return memory_find_near(sg, op, is_store, log2_size, a);
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
	return memory_translate(sg, page, is_store, a);
}

/* A part of an address in shared memory, of 16 bits: those from @lane on */
INLINE void memory_shared_part(const struct simdgroup *sg, const struct agx_operand *o,
			       unsigned int lane, memory_vector *v)
{
	if (o->type != AGX_OPERAND_REG) {
		*v = (memory_vector){ 0 };
		if (o->type != AGX_OPERAND_NONE)
			*v += read_scalar(sg, o, false);
		return;
	}
	memcpy(v, &sg->reg[o->value / 2].v[lane], sizeof(*v));
	*v = *v >> o->value % 2 * 16 & 0xffff;
}

/* Checks the addresses in shared memory. Return: false for the interpreter. */
INLINE bool memory_find_shared(struct simdgroup *sg, const struct op *op, bool is_store,
			       unsigned int log2_size, struct memory_access *a)
{
	const struct agx_operand *base = &op->src[is_store];
	uint32_t bound = sg->core->launch->shared_size, size = a->count << log2_size;
	memory_vector outside = { 0 };
	unsigned int i;

	if (bound < size)
		return false;
	/* negative addresses are large unsigned ones */
	for (i = 0; i < LANES; i += MEMORY_LANES) {
		memory_vector offset, index, above;

		memory_shared_part(sg, base, i, &offset);
		memory_shared_part(sg, base + 1, i, &index);
		offset = (offset + (index << log2_size)) & ~0u << log2_size;
		above = (memory_vector)(offset > bound - size);
		memory_clear_inactive(&above, a->exec, i);
		outside |= above;
		memcpy(&a->offset.v[i], &offset, sizeof(offset));
	}
	a->host = sg->core->shared;
	return memory_is_zero(&outside);
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

/* How the addresses of these go together */
enum memory_pattern {
	MEMORY_NONE,
	/* all lanes that take part have the same */
	MEMORY_SAME,
	/* all lanes take part, and elements follow each other */
	MEMORY_ROW,
	MEMORY_OTHER,
};

/* Finds how those from @lane on do, and the offset of the first one that takes part */
INLINE enum memory_pattern memory_find_pattern(const struct memory_access *a, unsigned int lane,
					       unsigned int log2_size, uint32_t *first)
{
	const memory_vector number = { 0, 1, 2, 3, 4, 5, 6, 7 };
	const uint32_t all = (1u << MEMORY_LANES) - 1, exec = a->exec >> lane & all;
	memory_vector offset, apart;

	if (!exec)
		return MEMORY_NONE;
	memcpy(&offset, &a->offset.v[lane], sizeof(offset));
	*first = a->offset.v[lane + (unsigned int)__builtin_ctz(exec)];
	apart = offset ^ *first;
	memory_clear_inactive(&apart, exec, 0);
	if (memory_is_zero(&apart))
		return MEMORY_SAME;
	apart = offset ^ (*first + (number << log2_size));
	return exec == all && memory_is_zero(&apart) ? MEMORY_ROW : MEMORY_OTHER;
}

/* Elements that follow each other */
INLINE void memory_read_row(const uint8_t *host, unsigned int log2_size, memory_vector *v)
{
	uint8_t bytes __attribute__((vector_size(MEMORY_LANES)));
	uint16_t halves __attribute__((vector_size(2 * MEMORY_LANES)));

	switch (log2_size) {
	case 0:
		memcpy(&bytes, host, sizeof(bytes));
		*v = __builtin_convertvector(bytes, memory_vector);
		break;
	case 1:
		memcpy(&halves, host, sizeof(halves));
		*v = __builtin_convertvector(halves, memory_vector);
		break;
	default:
		memcpy(v, host, sizeof(*v));
	}
}

/* The elements of MEMORY_LANES lanes, from @host on: of those that take part, one at least */
INLINE void memory_read_lanes(const struct memory_access *a, const uint8_t *host,
			      unsigned int log2_size, unsigned int lane,
			      enum memory_pattern pattern, uint32_t first, memory_vector *v)
{
	uint32_t left = a->exec >> lane & ((1u << MEMORY_LANES) - 1), i;
	uint32_t other[MEMORY_LANES] = { 0 };

	*v = (memory_vector){ 0 };
	if (pattern == MEMORY_SAME) {
		*v += memory_read(host + first, log2_size);
		return;
	}
	if (pattern == MEMORY_ROW) {
		memory_read_row(host + first, log2_size, v);
		return;
	}
	for (; left; left &= left - 1) {
		i = (uint32_t)__builtin_ctz(left);
		other[i] = memory_read(host + a->offset.v[lane + i], log2_size);
	}
	memcpy(v, other, sizeof(*v));
}

/* Writes to component @n of a destination, in the lanes from @lane on that take part */
INLINE void memory_set_lanes(struct simdgroup *sg, const struct memory_access *a,
			     const struct agx_operand *o, unsigned int n, unsigned int lane,
			     memory_vector *v)
{
	unsigned int half = (unsigned int)o->value + n * (o->size / 16u);
	uint32_t *reg = &sg->reg[half / 2].v[lane];
	memory_vector mask = ~(memory_vector){ 0 }, old;

	if (o->size == 16) {
		mask = mask >> 16 << half % 2 * 16;
		*v <<= half % 2 * 16;
	}
	memory_clear_inactive(&mask, a->exec, lane);
	/* in pieces as native code has them, so that it need not wait for what is written here */
	memcpy(&old, reg, sizeof(old));
	*v = (*v & mask) | (old & ~mask);
	memcpy(reg, v, sizeof(*v));
}

/* Loads rows of words of @count components, which is known when this is compiled */
INLINE void memory_load_rows(struct simdgroup *sg, const struct memory_access *a,
			     const struct agx_operand *o, unsigned int count)
{
	struct lanes *reg = &sg->reg[(unsigned int)o->value / 2];
	const uint32_t *words = (const void *)(a->host + a->offset.v[0]);
	unsigned int n, i;

	memory_prefetch((const void *)words, 4 * LANES * count, false);
#pragma GCC ivdep
	for (i = 0; i < LANES; i++) {
		for (n = 0; n < count; n++)
			reg[n].v[i] = words[i * count + n];
	}
}

/* Whether words are loaded to, or stored from, whole registers, in rows of all lanes */
INLINE bool memory_has_rows(const struct memory_access *a, const struct agx_operand *o,
			    unsigned int log2_size)
{
	return (a->count == 2 || a->count == 4) && log2_size == 2 && o->size == 32 &&
	       memory_is_row(a);
}

INLINE void memory_load(struct simdgroup *sg, const struct memory_access *a,
			const struct agx_operand *o, unsigned int log2_size)
{
	enum memory_pattern pattern;
	uint32_t first = 0;
	unsigned int n, i;
	memory_vector v;

	if (memory_has_rows(a, o, log2_size)) {
		if (a->count == 2)
			memory_load_rows(sg, a, o, 2);
		else
			memory_load_rows(sg, a, o, 4);
		return;
	}
	for (i = 0; i < LANES; i += MEMORY_LANES) {
		pattern = memory_find_pattern(a, i, log2_size, &first);
		for (n = 0; pattern != MEMORY_NONE && n < a->count; n++) {
			memory_read_lanes(a, a->host + (n << log2_size), log2_size, i, pattern,
					  first, &v);
			memory_set_lanes(sg, a, o, n, i, &v);
		}
	}
}

/* Stores rows of words of @count components, which is known when this is compiled */
INLINE void memory_store_rows(const struct simdgroup *sg, const struct memory_access *a,
			      const struct agx_operand *o, unsigned int count)
{
	const struct lanes *reg = &sg->reg[(unsigned int)o->value / 2];
	uint32_t *words = (void *)(a->host + a->offset.v[0]);
	unsigned int n, i;

	memory_prefetch((const void *)words, 4 * LANES * count, true);
#pragma GCC ivdep
	for (i = 0; i < LANES; i++) {
		for (n = 0; n < count; n++)
			words[i * count + n] = reg[n].v[i];
	}
}

/* Elements that follow each other, of the lower bits of words */
INLINE void memory_write_row(uint8_t *host, unsigned int log2_size, const memory_vector *v)
{
	uint8_t bytes __attribute__((vector_size(MEMORY_LANES)));
	uint16_t halves __attribute__((vector_size(2 * MEMORY_LANES)));

	switch (log2_size) {
	case 0:
		bytes = __builtin_convertvector(*v, __typeof__(bytes));
		memcpy(host, &bytes, sizeof(bytes));
		break;
	case 1:
		halves = __builtin_convertvector(*v, __typeof__(halves));
		memcpy(host, &halves, sizeof(halves));
		break;
	default:
		memcpy(host, v, sizeof(*v));
	}
}

/*
 * Stores the values of MEMORY_LANES lanes. They do so in their order: the last one's value stays
 * where several have one address.
 */
INLINE void memory_store_lanes(const struct simdgroup *sg, const struct memory_access *a,
			       const struct agx_operand *o, unsigned int log2_size,
			       unsigned int lane)
{
	uint32_t left = a->exec >> lane & ((1u << MEMORY_LANES) - 1), first = 0;
	unsigned int n, i;

	if (a->count == 1 && memory_find_pattern(a, lane, log2_size, &first) == MEMORY_ROW) {
		memory_vector v;

		memcpy(&v, &sg->reg[o->value / 2].v[lane], sizeof(v));
		if (o->size == 16)
			v = v >> o->value % 2 * 16 & 0xffff;
		memory_write_row(a->host + first, log2_size, &v);
		return;
	}
	for (; left; left &= left - 1) {
		i = lane + (unsigned int)__builtin_ctz(left);
		for (n = 0; n < a->count; n++) {
			unsigned int half = (unsigned int)o->value + n * (o->size / 16u);
			uint32_t value = sg->reg[half / 2].v[i];

			if (o->size == 16)
				value = value >> half % 2 * 16 & 0xffff;
			memory_write(a->host + a->offset.v[i] + (n << log2_size), log2_size, value);
		}
	}
}

INLINE void memory_store(struct simdgroup *sg, const struct memory_access *a,
			 const struct agx_operand *o, unsigned int log2_size)
{
	unsigned int lane;

	if (memory_has_rows(a, o, log2_size)) {
		if (a->count == 2)
			memory_store_rows(sg, a, o, 2);
		else
			memory_store_rows(sg, a, o, 4);
		return;
	}
	for (lane = 0; lane < LANES; lane += MEMORY_LANES)
		memory_store_lanes(sg, a, o, log2_size, lane);
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

bool vagx_memory_is_simple(const struct op *op, bool is_store)
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
	if (!vagx_memory_is_simple(op, is_store) ||
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

/* Atomics */

/* What two values are together for one atomic; of differences it is the sum that is subtracted */
INLINE uint32_t memory_combine(unsigned int kind, uint32_t a, uint32_t b)
{
	return atomic_result(kind == AGX_ATOMIC_SUB ? AGX_ATOMIC_ADD : kind, a, b, 0);
}

/* What is in memory afterwards */
INLINE uint32_t memory_apply(unsigned int kind, uint32_t old, uint32_t value)
{
	return atomic_result(kind, old, value, 0);
}

static uint32_t memory_do_atomic(uint32_t *p, unsigned int kind, uint32_t value)
{
	uint32_t old;

	if (kind == AGX_ATOMIC_ADD)
		return __atomic_fetch_add(p, value, __ATOMIC_SEQ_CST);
	old = __atomic_load_n(p, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(p, &old, memory_apply(kind, old, value), true,
					    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		;
	return old;
}

/*
 * One atomic for all lanes of a mask, which have one address: as if they came one after the other,
 * and nothing in between. Each lane's result is what those before it have left.
 */
INLINE void memory_combine_lanes(uint32_t *p, unsigned int kind, uint32_t lanes,
				 const uint32_t *value, struct lanes *result)
{
	uint32_t left = lanes & (lanes - 1), old, sum = value[__builtin_ctz(lanes)];
	unsigned int i;

	for (; left; left &= left - 1) {
		i = (unsigned int)__builtin_ctz(left);
		result->v[i] = sum;
		sum = memory_combine(kind, sum, value[i]);
	}
	old = memory_do_atomic(p, kind, sum);
	result->v[__builtin_ctz(lanes)] = old;
	for (left = lanes & (lanes - 1); left; left &= left - 1) {
		i = (unsigned int)__builtin_ctz(left);
		result->v[i] = memory_apply(kind, old, result->v[i]);
	}
}

/* Lanes of a mask that have an offset */
INLINE uint32_t memory_lanes_at(const struct lanes *offset, uint32_t at, uint32_t lanes)
{
	uint32_t same = 0;
	unsigned int i;

	for (i = 0; i < LANES; i++)
		same |= offset->v[i] == at ? lane_bits.v[i] : 0;
	return same & lanes;
}

/* Looks for lanes of one address until one lane is alone; the others come one after the other */
INLINE void memory_run_atomics(const struct memory_access *a, unsigned int kind,
			       const uint32_t *value, struct lanes *result)
{
	uint32_t left = a->exec, lanes;
	bool alone = false;

	while (left) {
		uint32_t at = a->offset.v[__builtin_ctz(left)];

		lanes = alone ? left & -left : memory_lanes_at(&a->offset, at, left);
		alone = !(lanes & (lanes - 1));
		memory_combine_lanes((uint32_t *)(void *)(a->host + at), kind, lanes, value,
				     result);
		left &= ~lanes;
	}
}

INLINE void memory_atomic(struct simdgroup *sg, const struct op *op, enum memory_space space)
{
	struct memory_access a = { .exec = sg->exec, .count = 1 };
	struct lanes result;
	bool found;

	if (!a.exec)
		return;
	if (space == MEMORY_DEVICE)
		found = memory_find_page(sg, op, true, 2, &a);
	else
		found = memory_find_shared(sg, op, true, 2, &a);
	if (!found) {
		op->run(sg, op);
		return;
	}
	memory_run_atomics(&a, op->mod[AGX_MOD_OP], sg->reg[op->src[0].value / 2].v, &result);
	if (op->dst.type == AGX_OPERAND_REG)
		write_lanes(sg, &op->dst, result.v);
}

CLONES static void memory_device_atomic(struct simdgroup *sg, const struct op *op)
{
	memory_atomic(sg, op, MEMORY_DEVICE);
}

CLONES static void memory_local_atomic(struct simdgroup *sg, const struct op *op)
{
	memory_atomic(sg, op, MEMORY_SHARED);
}

vagx_exec_fn *vagx_memory_find_atomic(const struct op *op)
{
	bool is_device = op->run == vagx_exec_atomic;

	if (!is_device && op->run != vagx_exec_local_atomic)
		return NULL;
	/* what is compared has to be done by each lane; there is no shift of the index */
	if (op->mod[AGX_MOD_OP] == AGX_ATOMIC_CMPXCHG || op->mod[AGX_MOD_SHIFT] ||
	    op->src[0].type != AGX_OPERAND_REG || op->src[0].size != 32 || op->src[0].value % 2 ||
	    (op->dst.type == AGX_OPERAND_REG && (op->dst.size != 32 || op->dst.value % 2)) ||
	    !(is_device ? memory_is_device(op, true) : memory_is_shared(op, true)))
		return NULL;
	return is_device ? memory_device_atomic : memory_local_atomic;
}
