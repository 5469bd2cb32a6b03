// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Loads and stores of private memory for whole simdgroups, of integers: spilled registers, whose
 * address is the same in all lanes, are rows (private_element()); elements of arrays are not.
 * Everything else, failures and the first use of an address among it, is left to the interpreter's
 * functions (gpu/core_mem.c) before anything has happened.
 */
#include "memory.h"

/* An access, checked */
struct stack_access {
	/* components of a lane, one behind the other */
	unsigned int count;
	/* all active lanes have the address of @first */
	bool is_row;
	uint32_t first;
	/* of the first component, for each lane */
	struct lanes address;
};

/* The index in all lanes, extended; it counts bytes, shifted as the instruction says */
INLINE void stack_read_index(const struct simdgroup *sg, const struct op *op,
			     const struct agx_operand *index, struct wide_lanes *offset)
{
	unsigned int shift = memory_shift(op), i;

	read_wide_lanes(sg, index, offset);
	for (i = 0; i < LANES; i++) {
		if (index->type == AGX_OPERAND_IMM)
			offset->v[i] = (uint64_t)(int64_t)index->value;
		offset->v[i] = (offset->v[i] << shift) + (uint64_t)(int64_t)sg->stack_pointer;
	}
}

/* Finds addresses. Return: false if one has not been used so far, or cannot be. */
INLINE bool stack_find(const struct simdgroup *sg, const struct op *op,
		       const struct agx_operand *index, unsigned int log2_size,
		       struct stack_access *a)
{
	uint32_t size = a->count << log2_size, outside = 0, apart = 0;
	struct wide_lanes wide;
	unsigned int i;

	if (sg->private_size < size)
		return false;
	stack_read_index(sg, op, index, &wide);
	for (i = 0; i < LANES; i++) {
		uint64_t address = wide.v[i] & ~(uint64_t)0 << log2_size;

		outside |= address > sg->private_size - size ? lane_bits.v[i] : 0;
		a->address.v[i] = (uint32_t)address;
	}
	a->first = a->address.v[__builtin_ctz(sg->exec)];
	for (i = 0; i < LANES; i++)
		apart |= (a->address.v[i] ^ a->first) & sg->mask.v[i];
	a->is_row = !apart;
	return !(outside & sg->exec);
}

/* Writes component @n of a destination to the active lanes */
INLINE void stack_set(struct simdgroup *sg, const struct agx_operand *o, unsigned int n,
		      const struct lanes *value)
{
	unsigned int half = (unsigned int)o->value + n * (o->size / 16u);

	if (o->size == 16)
		write_half(sg, half, value->v);
	else
		write_register(sg, half / 2, value->v);
}

INLINE void stack_load(struct simdgroup *sg, const struct op *op, unsigned int log2_size)
{
	const uint32_t bits = log2_size == 2 ? ~0u : (1u << (8 << log2_size)) - 1;
	struct stack_access a = { .count = (unsigned int)__builtin_popcount(op->mod[AGX_MOD_MASK]) };
	unsigned int n, i;
	struct lanes value;

	if (!sg->exec)
		return;
	if (!stack_find(sg, op, &op->src[0], log2_size, &a)) {
		op->run(sg, op);
		return;
	}
	for (n = 0; n < a.count; n++) {
		uint32_t at = n << log2_size, shift = (a.first + at) % 4 * 8;

		if (a.is_row) {
			memcpy(&value, private_element(sg, 0, (a.first + at) & ~3u), sizeof(value));
			for (i = 0; log2_size < 2 && i < LANES; i++)
				value.v[i] = value.v[i] >> shift & bits;
		} else {
			for (i = 0; i < LANES; i++)
				value.v[i] = sg->exec & lane_bits.v[i] ?
					memory_read(private_element(sg, i, a.address.v[i] + at),
						    log2_size) : 0;
		}
		stack_set(sg, &op->dst, n, &value);
	}
}

/* Stores a component of all lanes in a row of words */
INLINE void stack_store_row(struct simdgroup *sg, uint32_t address, unsigned int log2_size,
			    const struct lanes *value)
{
	const uint32_t bits = log2_size == 2 ? ~0u : ((1u << (8 << log2_size)) - 1);
	uint8_t *row = private_element(sg, 0, address & ~3u);
	unsigned int shift = address % 4 * 8, i;
	struct lanes old;

	memcpy(&old, row, sizeof(old));
	for (i = 0; i < LANES; i++) {
		uint32_t mask = sg->mask.v[i] & bits << shift;

		old.v[i] = (value->v[i] << shift & mask) | (old.v[i] & ~mask);
	}
	memcpy(row, &old, sizeof(old));
}

INLINE void stack_store(struct simdgroup *sg, const struct op *op, unsigned int log2_size)
{
	struct stack_access a = { .count = (unsigned int)__builtin_popcount(op->mod[AGX_MOD_MASK]) };
	const struct agx_operand *o = &op->src[0];
	unsigned int n, i;

	if (!sg->exec)
		return;
	if (!stack_find(sg, op, &op->src[1], log2_size, &a)) {
		op->run(sg, op);
		return;
	}
	for (n = 0; n < a.count; n++) {
		unsigned int half = (unsigned int)o->value + n * (o->size / 16u);
		struct lanes value = sg->reg[half / 2];

		for (i = 0; o->size == 16 && i < LANES; i++)
			value.v[i] = value.v[i] >> half % 2 * 16 & 0xffff;
		if (a.is_row) {
			stack_store_row(sg, a.first + (n << log2_size), log2_size, &value);
			continue;
		}
		for (i = 0; i < LANES; i++) {
			if (sg->exec & lane_bits.v[i])
				memory_write(private_element(sg, i,
							     a.address.v[i] + (n << log2_size)),
					     log2_size, value.v[i]);
		}
	}
}

/* A function for each direction and size of elements */
#define STACK_FN(name, what, log2_size)							\
CLONES static void name(struct simdgroup *sg, const struct op *op)			\
{											\
	what(sg, op, log2_size);							\
}
STACK_FN(stack_load8, stack_load, 0)
STACK_FN(stack_load16, stack_load, 1)
STACK_FN(stack_load32, stack_load, 2)
STACK_FN(stack_store8, stack_store, 0)
STACK_FN(stack_store16, stack_store, 1)
STACK_FN(stack_store32, stack_store, 2)

/* A function for an access to private memory; NULL if there is none */
static vagx_exec_fn *stack_find_fn(const struct op *op)
{
	static vagx_exec_fn *const fns[2][3] = {
		{ stack_load8, stack_load16, stack_load32 },
		{ stack_store8, stack_store16, stack_store32 },
	};
	bool is_store = op->run == vagx_exec_stack_store;

	if ((!is_store && op->run != vagx_exec_stack_load) || !vagx_memory_is_simple(op, is_store))
		return NULL;
	return fns[is_store][op->mod[AGX_MOD_FORMAT]];
}

vagx_exec_fn *vagx_stack_find_any(const struct op *op, vagx_jit_memory_fn *find)
{
	vagx_exec_fn *fn = find(op);

	return fn ? fn : stack_find_fn(op);
}
