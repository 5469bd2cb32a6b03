// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Loads, stores and atomics on device, shared and private memory.
 *
 * An access has up to four components: those that the mask names, counted in
 * elements of the format from base plus index; the registers are consecutive
 * all the same. Addresses are rounded down to the element. (applegpu
 * "applegpu.py", device_load)
 */
#include <errno.h>
#include <stdlib.h>

#include "core_atomic.h"
#include "core_float.h"
#include "core_internal.h"
#include "format.h"
#include "gpu/pattern.h"
#include "sanitizer/reach.h"

/* An access of one instruction by all of its threads */
struct access {
	struct simdgroup *sg;
	const struct op *op;
	enum space space;
	bool is_store;
	/* element's size in bytes, as a power of two */
	unsigned int log2_size;
	/* address of the element at index 0, for each lane */
	struct wide_lanes address;
	/* the last page that was translated */
	uint64_t page;
	uint8_t *host;
	bool failed;
	/* the core keeps what it stores there */
	bool is_late;
};

static void *mem_find_device(struct access *a, unsigned int lane, uint64_t va, unsigned int size)
{
	uint64_t page = va & ~(uint64_t)VAGX_UAT_PAGE_MASK;
	enum vagx_access kind = a->is_store ? VAGX_WRITE : VAGX_READ;
	struct vagx_core *core = a->sg->core;

	if (a->host && a->page == page)
		return a->host + (va - page);

	/* Elements are aligned: none crosses a page */
	a->host = vagx_tlb_ptr(core->config.tlb, page, VAGX_UAT_PAGE_SIZE, kind,
			       &core->fault);
	if (a->host) {
		a->page = page;
		return a->host + (va - page);
	}
	if (!core->launch->soft_faults) {
		core->fault.va = va;
		a->failed = true;
		a->sg->failed_lane = lane;
		vagx_core_fail(a->sg, a->op, -EFAULT, "%s of %u bytes at 0x%llx",
			       a->is_store ? "store" : "load", size,
			       (unsigned long long)va);
	}
	return NULL;
}

static void *mem_translate_device(struct access *a, unsigned int lane, uint64_t va,
				  unsigned int size)
{
	void *p = mem_find_device(a, lane, va, size);

	return p && a->is_late ? vagx_shadow_reach(a->sg, a->op, p, size, a->is_store) : p;
}

static void *mem_outside(struct access *a, unsigned int lane, uint64_t address, uint32_t bound)
{
	a->failed = true;
	a->sg->failed_lane = lane;
	vagx_core_fail(a->sg, a->op, -ERANGE,
		       "access at 0x%llx, outside of 0x%x bytes of %s memory",
		       (unsigned long long)address, bound,
		       a->space == SPACE_SHARED ? "shared" : "private");
	return NULL;
}

/* Private memory is allocated as far as it is used, and begins as garbage: an address's in a row */
static bool mem_grow_private(struct simdgroup *sg, uint32_t size)
{
	uint32_t new_size = sg->private_size ? sg->private_size : 256, word;
	struct lanes *row;

	while (new_size < size)
		new_size *= 2;
	row = aligned_alloc(_Alignof(struct lanes), (size_t)LANES * new_size);
	if (!row)
		return false;
	if (sg->private_memory)
		memcpy(row, sg->private_memory, (size_t)LANES * sg->private_size);
	for (word = sg->private_size / 4; word < new_size / 4; word++)
		splat(&row[word], vagx_pattern(sg->core->config.seed, VAGX_PATTERN_PRIVATE,
					       word % (VAGX_PATTERN_LINE / 4)));
	free(sg->private_memory);
	sg->private_memory = (uint8_t *)row;
	sg->private_size = new_size;
	return true;
}

static void *mem_translate_private(struct access *a, unsigned int lane,
				   uint64_t address, unsigned int size)
{
	struct simdgroup *sg = a->sg;

	if (address > MAX_PRIVATE - size)
		return mem_outside(a, lane, address, MAX_PRIVATE);
	if (address + size > sg->private_size &&
	    !mem_grow_private(sg, address + size)) {
		a->failed = true;
		vagx_core_fail(sg, a->op, -ENOMEM, "no private memory");
		return NULL;
	}
	return private_element(sg, lane, (uint32_t)address);
}

/*
 * Translates the address of an element. Return: NULL where nothing is read or written, or after a
 * failure.
 */
static void *mem_translate(struct access *a, unsigned int lane, uint64_t address)
{
	unsigned int size = 1u << a->log2_size;
	uint32_t bound;

	address &= ~(uint64_t)(size - 1);
	switch (a->space) {
	case SPACE_DEVICE:
		return mem_translate_device(a, lane, address, size);
	case SPACE_SHARED:
		/* negative addresses are large unsigned ones */
		bound = a->sg->core->launch->shared_size;
		if (address >= bound || size > bound - address)
			return mem_outside(a, lane, address, bound);
		return a->sg->core->shared + address;
	default:
		return mem_translate_private(a, lane, address, size);
	}
}

/* Loads an element. Other cores may store there meanwhile, so the access is atomic. */
static uint32_t mem_get_element(const void *p, unsigned int log2_size)
{
	switch (log2_size) {
	case 0:
		return __atomic_load_n((const uint8_t *)p, __ATOMIC_RELAXED);
	case 1:
		return __atomic_load_n((const uint16_t *)p, __ATOMIC_RELAXED);
	default:
		return __atomic_load_n((const uint32_t *)p, __ATOMIC_RELAXED);
	}
}

static void mem_put_element(void *p, unsigned int log2_size, uint32_t value)
{
	switch (log2_size) {
	case 0:
		__atomic_store_n((uint8_t *)p, (uint8_t)value, __ATOMIC_RELAXED);
		break;
	case 1:
		__atomic_store_n((uint16_t *)p, (uint16_t)value,
				 __ATOMIC_RELAXED);
		break;
	default:
		__atomic_store_n((uint32_t *)p, value, __ATOMIC_RELAXED);
	}
}

static uint32_t mem_get_component(const struct simdgroup *sg,
				  const struct agx_operand *o, unsigned int n,
				  unsigned int lane)
{
	unsigned int half = o->value + n * (o->size / 16);

	if (half >= AGX_ISA_REGISTERS)
		return 0;
	if (o->size == 16)
		return sg->reg[half / 2].v[lane] >> half % 2 * 16 & 0xffff;
	return sg->reg[half / 2].v[lane];
}

static void mem_set_component(struct simdgroup *sg, const struct agx_operand *o,
			      unsigned int n, unsigned int lane, uint32_t value)
{
	unsigned int half = o->value + n * (o->size / 16);
	unsigned int shift = half % 2 * 16;
	uint32_t *reg;

	/* Packed formats have more components than the mask says */
	if (half >= sg->core->register_halves)
		return;
	reg = &sg->reg[half / 2].v[lane];
	if (o->size == 16)
		*reg = (*reg & ~(0xffffu << shift)) | (value & 0xffff) << shift;
	else
		*reg = value;
}

static void mem_load_packed(struct access *a, unsigned int lane)
{
	const struct agx_operand *o = &a->op->dst;
	void *p = mem_translate(a, lane, a->address.v[lane]);
	unsigned int i, count;
	float value[4];

	if (a->failed)
		return;
	count = vagx_format_unpack(a->op->mod[AGX_MOD_FORMAT],
		       p ? mem_get_element(p, a->log2_size) : 0, value);
	for (i = 0; i < count; i++)
		mem_set_component(a->sg, o, i, lane,
				  register_from_float(o->size, value[i]));
}

static void mem_store_packed(struct access *a, unsigned int lane)
{
	const struct agx_operand *o = &a->op->src[0];
	void *p = mem_translate(a, lane, a->address.v[lane]);
	float value[4];
	unsigned int i;

	if (!p)
		return;
	for (i = 0; i < 4; i++)
		value[i] = float_from_register(o->size, mem_get_component(a->sg, o, i, lane));
	mem_put_element(p, a->log2_size, vagx_format_pack(a->op->mod[AGX_MOD_FORMAT], value));
}

static void mem_load_lane(struct access *a, unsigned int lane)
{
	unsigned int format = a->op->mod[AGX_MOD_FORMAT];
	unsigned int mask = a->op->mod[AGX_MOD_MASK];
	const struct agx_operand *o = &a->op->dst;
	unsigned int i, n = 0;
	float value;

	for (i = 0; i < 4; i++) {
		uint32_t bits = 0;
		void *p;

		if (!(mask >> i & 1))
			continue;
		p = mem_translate(a, lane, a->address.v[lane] + (i << a->log2_size));
		if (a->failed)
			return;
		if (p)
			bits = mem_get_element(p, a->log2_size);
		if (vagx_format_load(format, i, bits, &value))
			bits = register_from_float(o->size, value);
		mem_set_component(a->sg, o, n++, lane, bits);
	}
}

static void mem_store_lane(struct access *a, unsigned int lane)
{
	unsigned int format = a->op->mod[AGX_MOD_FORMAT];
	unsigned int mask = a->op->mod[AGX_MOD_MASK];
	const struct agx_operand *o = &a->op->src[0];
	unsigned int i, n = 0;

	for (i = 0; i < 4; i++) {
		uint32_t bits;
		void *p;

		if (!(mask >> i & 1))
			continue;
		p = mem_translate(a, lane, a->address.v[lane] + (i << a->log2_size));
		if (a->failed)
			return;
		bits = mem_get_component(a->sg, o, n++, lane);
		if (format >= AGX_FORMAT_U8NORM)
			bits = vagx_format_from_float(format, i,
						float_from_register(o->size, bits));
		if (p)
			mem_put_element(p, a->log2_size, bits);
	}
}

/* Counts bytes of device memory for the trace, also those that could not be reached */
static void mem_count_bytes(const struct access *a, bool packed, unsigned int lanes)
{
	struct vagx_core_stats *stats = &a->sg->core->stats;
	unsigned int elements = packed ? 1 : __builtin_popcount(a->op->mod[AGX_MOD_MASK]);
	uint64_t bytes = (uint64_t)(lanes * elements) << a->log2_size;

	if (a->space != SPACE_DEVICE)
		return;
	if (a->is_store)
		stats->stored += bytes;
	else
		stats->loaded += bytes;
}

/*
 * Whether the words of a lane can be translated together, as in most accesses: 32-bit elements
 * in consecutive 32-bit registers. Return: how many words there are; 0 if they cannot.
 */
static unsigned int mem_count_words(const struct access *a, const struct agx_operand *o)
{
	unsigned int mask = a->op->mod[AGX_MOD_MASK], count = __builtin_popcount(mask);

	if (a->space != SPACE_DEVICE || a->op->mod[AGX_MOD_FORMAT] != AGX_FORMAT_I32 ||
	    (a->is_late && a->op->mod[AGX_MOD_COHERENCY]) || o->type != AGX_OPERAND_REG ||
	    o->size != 32 || mask & (mask + 1) ||
	    o->value / 2 + count > a->sg->core->register_halves / 2)
		return 0;
	return count;
}

/*
 * Translates a lane's words. Return: NULL if they cross a page or cannot be reached: each is
 * accessed by itself then.
 */
static uint32_t *mem_find_words(struct access *a, unsigned int lane, unsigned int count)
{
	uint64_t va = a->address.v[lane] & ~(uint64_t)3;

	if ((va & VAGX_UAT_PAGE_MASK) > VAGX_UAT_PAGE_SIZE - 4 * count)
		return NULL;
	return mem_find_device(a, lane, va, 4);
}

static bool mem_load_words(struct access *a, unsigned int lane, unsigned int count)
{
	const uint32_t *p = count ? mem_find_words(a, lane, count) : NULL;
	struct lanes *reg = &a->sg->reg[a->op->dst.value / 2];
	unsigned int i;

	if (p && a->is_late)
		p = vagx_shadow_load(a->sg, p, 4 * count);
	for (i = 0; p && i < count; i++)
		reg[i].v[lane] = __atomic_load_n(&p[i], __ATOMIC_RELAXED);
	return p;
}

static bool mem_store_words(struct access *a, unsigned int lane, unsigned int count)
{
	uint32_t *p = count ? mem_find_words(a, lane, count) : NULL;
	const struct lanes *reg = &a->sg->reg[a->op->src[0].value / 2];
	uint32_t words[4];
	unsigned int i;

	for (i = 0; p && !a->is_late && i < count; i++)
		__atomic_store_n(&p[i], reg[i].v[lane], __ATOMIC_RELAXED);
	for (i = 0; a->is_late && i < count; i++)
		words[i] = reg[i].v[lane];
	if (p && a->is_late)
		vagx_shadow_store(a->sg, a->op, p, words, 4 * count);
	return p;
}

/* Stores a row on a core that keeps it */
static void mem_store_late_row(struct access *a, uint32_t *p, const struct lanes *reg,
			       unsigned int count)
{
	uint32_t words[4 * LANES];
	unsigned int i, lane;

	for (lane = 0; lane < LANES; lane++) {
		for (i = 0; i < count; i++)
			words[lane * count + i] = reg[i].v[lane];
	}
	vagx_shadow_store(a->sg, a->op, p, words, 4 * LANES * count);
}

/*
 * The access of all lanes at once, if their words are consecutive in a page. Return: true if it
 * is done or has failed; false if it is no such access.
 */
static bool mem_access_row(struct access *a, unsigned int count)
{
	uint64_t va = a->address.v[0] & ~(uint64_t)3, apart = 0;
	const uint32_t *from;
	struct lanes *reg;
	unsigned int i, lane;
	uint32_t *p;

	if (!count || (va & VAGX_UAT_PAGE_MASK) > VAGX_UAT_PAGE_SIZE - LANES * 4 * count)
		return false;
	for (i = 0; i < LANES; i++)
		apart |= (a->address.v[i] & ~(uint64_t)3) ^ (va + i * 4 * count);
	if (apart)
		return false;
	p = mem_find_device(a, 0, va, 4);
	if (!p)
		return a->failed;

	reg = &a->sg->reg[(a->is_store ? a->op->src[0].value : a->op->dst.value) / 2];
	if (a->is_store && a->is_late) {
		mem_store_late_row(a, p, reg, count);
		return true;
	}
	from = a->is_late ? vagx_shadow_load(a->sg, p, 4 * LANES * count) : p;
	for (lane = 0; a->is_store && lane < LANES; lane++, p += count) {
		for (i = 0; i < count; i++)
			__atomic_store_n(&p[i], reg[i].v[lane], __ATOMIC_RELAXED);
	}
	for (lane = 0; !a->is_store && lane < LANES; lane++, from += count) {
		for (i = 0; i < count; i++)
			reg[i].v[lane] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
	}
	return true;
}

static uint32_t mem_access_lanes(const struct access *a)
{
	bool visible = a->is_store && a->space == SPACE_DEVICE;

	return visible ? vagx_stage_storing(a->sg) : a->sg->exec;
}

static void mem_run_access(struct access *a)
{
	bool packed = vagx_format_is_packed(a->op->mod[AGX_MOD_FORMAT]);
	unsigned int words = mem_count_words(a, a->is_store ? &a->op->src[0] : &a->op->dst);
	uint32_t left = mem_access_lanes(a);

	mem_count_bytes(a, packed, __builtin_popcount(left));
	if (left == ALL_LANES && mem_access_row(a, words))
		return;
	for (; left && !a->failed; left &= left - 1) {
		unsigned int lane = __builtin_ctz(left);

		if (a->is_store ? mem_store_words(a, lane, words) : mem_load_words(a, lane, words))
			continue;
		if (a->is_store && packed)
			mem_store_packed(a, lane);
		else if (a->is_store)
			mem_store_lane(a, lane);
		else if (packed)
			mem_load_packed(a, lane);
		else
			mem_load_lane(a, lane);
	}
}

/* Adds the index to the base address, in elements of 1 << @log2_scale bytes */
static void mem_add_index(struct access *a, const struct agx_operand *index,
			  unsigned int log2_scale)
{
	struct wide_lanes offset;
	unsigned int i;

	read_wide_lanes(a->sg, index, &offset);
	if (index->type == AGX_OPERAND_IMM) {
		for (i = 0; i < LANES; i++)
			offset.v[i] = (int64_t)index->value;
	}
	for (i = 0; i < LANES; i++)
		a->address.v[i] += offset.v[i] << log2_scale;
}

static unsigned int mem_index_shift(const struct op *op)
{
	unsigned int shift = op->mod[AGX_MOD_SHIFT];

	/* Packed formats ignore the shift; 3 does what 2 does */
	if (vagx_format_is_packed(op->mod[AGX_MOD_FORMAT]))
		return 0;
	return shift < 3 ? shift : 2;
}

/* Begins an access: each of these sets where it goes, for the instruction and all lanes of @a */

static void mem_begin_device(struct access *a, bool is_store)
{
	const struct agx_operand *base = &a->op->src[is_store];

	a->space = SPACE_DEVICE;
	a->is_store = is_store;
	a->is_late = a->sg->core->keeps_stores;
	a->log2_size = vagx_format_log2_size(a->op->mod[AGX_MOD_FORMAT]);
	read_wide_lanes(a->sg, base, &a->address);
	mem_add_index(a, base + 1, a->log2_size + mem_index_shift(a->op));
}

/* The base address in shared memory; an operand that is left out is 0 */
static void mem_shared_address(struct access *a, const struct agx_operand *base)
{
	memset(&a->address, 0, sizeof(a->address));
	if (base->type != AGX_OPERAND_NONE)
		read_wide_lanes(a->sg, base, &a->address);
	mem_add_index(a, base + 1, a->log2_size);
}

static void mem_begin_shared(struct access *a, bool is_store)
{
	a->space = SPACE_SHARED;
	a->is_store = is_store;
	a->log2_size = vagx_format_log2_size(a->op->mod[AGX_MOD_FORMAT]);
	mem_shared_address(a, &a->op->src[is_store]);
}

/* Private memory: the index counts bytes from the stack pointer */
static void mem_begin_private(struct access *a, bool is_store)
{
	unsigned int i;

	a->space = SPACE_PRIVATE;
	a->is_store = is_store;
	a->log2_size = vagx_format_log2_size(a->op->mod[AGX_MOD_FORMAT]);
	for (i = 0; i < LANES; i++)
		a->address.v[i] = (int64_t)a->sg->stack_pointer;
	mem_add_index(a, &a->op->src[is_store], mem_index_shift(a->op));
}

static void mem_begin_atomic(struct access *a, enum space space)
{
	a->space = space;
	a->is_store = true;
	a->log2_size = 2;
	if (space == SPACE_SHARED) {
		mem_shared_address(a, &a->op->src[1]);
		return;
	}
	a->is_late = a->sg->core->keeps_stores;
	read_wide_lanes(a->sg, &a->op->src[1], &a->address);
	mem_add_index(a, &a->op->src[2], a->log2_size);
}

void vagx_exec_load(struct simdgroup *sg, const struct op *op)
{
	struct access a = { .sg = sg, .op = op };

	mem_begin_device(&a, false);
	mem_run_access(&a);
}

void vagx_exec_store(struct simdgroup *sg, const struct op *op)
{
	struct access a = { .sg = sg, .op = op };

	mem_begin_device(&a, true);
	mem_run_access(&a);
}

void vagx_exec_local_load(struct simdgroup *sg, const struct op *op)
{
	struct access a = { .sg = sg, .op = op };

	mem_begin_shared(&a, false);
	mem_run_access(&a);
}

void vagx_exec_local_store(struct simdgroup *sg, const struct op *op)
{
	struct access a = { .sg = sg, .op = op };

	mem_begin_shared(&a, true);
	mem_run_access(&a);
}

void vagx_exec_stack_load(struct simdgroup *sg, const struct op *op)
{
	struct access a = { .sg = sg, .op = op };

	mem_begin_private(&a, false);
	mem_run_access(&a);
}

void vagx_exec_stack_store(struct simdgroup *sg, const struct op *op)
{
	struct access a = { .sg = sg, .op = op };

	mem_begin_private(&a, true);
	mem_run_access(&a);
}

/* Moves the stack pointer, which all threads of a simdgroup share, by words */
void vagx_exec_stack_adjust(struct simdgroup *sg, const struct op *op)
{
	struct lanes tmp;
	const uint32_t *words = read_lanes(sg, &op->src[0], &tmp);
	unsigned int lane = sg->exec ? __builtin_ctz(sg->exec) : 0;
	int64_t pointer = sg->stack_pointer + (int64_t)(int32_t)words[lane] * 4;

	if (pointer < 0 || pointer > MAX_PRIVATE) {
		vagx_core_fail(sg, op, -ERANGE, "stack pointer would be %lld",
			       (long long)pointer);
		return;
	}
	sg->stack_pointer = pointer;
}

static uint32_t mem_run_atomic(uint32_t *p, unsigned int kind, uint32_t value,
			       uint32_t expected)
{
	uint32_t old = __atomic_load_n(p, __ATOMIC_RELAXED);

	while (!__atomic_compare_exchange_n(p, &old,
					    atomic_result(kind, old, value, expected),
					    true, __ATOMIC_SEQ_CST,
					    __ATOMIC_RELAXED))
		;
	return old;
}

/* Atomics. Of a compare and exchange the sources are the new value, then the expected one. */
static void mem_run_atomics(struct access *a)
{
	const struct op *op = a->op;
	unsigned int kind = op->mod[AGX_MOD_OP];
	uint32_t left = a->sg->exec;

	for (; left && !a->failed; left &= left - 1) {
		unsigned int lane = __builtin_ctz(left);
		uint32_t *p = mem_translate(a, lane, a->address.v[lane]);
		uint32_t value = mem_get_component(a->sg, &op->src[0], 0, lane);
		uint32_t other = mem_get_component(a->sg, &op->src[0], 1, lane);
		uint32_t old = 0;

		if (a->failed)
			return;
		if (p)
			old = mem_run_atomic(p, kind, value, other);
		if (op->dst.type != AGX_OPERAND_NONE)
			mem_set_component(a->sg, &op->dst, 0, lane, old);
	}
}

void vagx_exec_atomic(struct simdgroup *sg, const struct op *op)
{
	struct access a = { .sg = sg, .op = op };

	mem_begin_atomic(&a, SPACE_DEVICE);
	mem_run_atomics(&a);
}

void vagx_exec_local_atomic(struct simdgroup *sg, const struct op *op)
{
	struct access a = { .sg = sg, .op = op };

	mem_begin_atomic(&a, SPACE_SHARED);
	mem_run_atomics(&a);
}

static bool mem_begin(struct access *a)
{
	switch (a->op->opcode) {
	case AGX_OP_LOAD:
	case AGX_OP_STORE:
		mem_begin_device(a, a->op->opcode == AGX_OP_STORE);
		return true;
	case AGX_OP_LOCAL_LOAD:
	case AGX_OP_LOCAL_STORE:
		mem_begin_shared(a, a->op->opcode == AGX_OP_LOCAL_STORE);
		return true;
	case AGX_OP_STACK_LOAD:
	case AGX_OP_STACK_STORE:
		mem_begin_private(a, a->op->opcode == AGX_OP_STACK_STORE);
		return true;
	case AGX_OP_ATOMIC:
		mem_begin_atomic(a, SPACE_DEVICE);
		return true;
	case AGX_OP_LOCAL_ATOMIC:
		mem_begin_atomic(a, SPACE_SHARED);
		return true;
	default:
		return false;
	}
}

bool vagx_mem_find_elements(struct simdgroup *sg, const struct op *op, struct elements *e)
{
	struct access a;
	unsigned int i;

	a.sg = sg;
	a.op = op;
	if (!mem_begin(&a))
		return false;
	e->space = a.space;
	e->is_atomic = op->opcode == AGX_OP_ATOMIC || op->opcode == AGX_OP_LOCAL_ATOMIC;
	e->is_store = a.is_store;
	e->size = 1u << a.log2_size;
	e->mask = e->is_atomic || vagx_format_is_packed(op->mod[AGX_MOD_FORMAT]) ?
		  1 : op->mod[AGX_MOD_MASK];
	e->lanes = e->is_atomic ? sg->exec : mem_access_lanes(&a);
	for (i = 0; i < LANES; i++)
		e->address.v[i] = a.address.v[i] & ~(uint64_t)(e->size - 1);
	return true;
}

/* Stores uniforms, which all threads share: only a preshader may */
void vagx_exec_uniform_store(struct simdgroup *sg, const struct op *op)
{
	const struct agx_operand *d = &op->dst, *s = &op->src[0];
	unsigned int halves = d->count * d->size / 16, i;
	unsigned int lane;

	if (!sg->core->uniforms_out) {
		vagx_core_fail(sg, op, -EILSEQ,
			       "uniform store outside of a preshader");
		return;
	}
	if (!sg->exec)
		return;
	lane = __builtin_ctz(sg->exec);
	vagx_launch_set_uniforms(sg->core->preshader_of, (unsigned int)d->value, halves);
	for (i = 0; i < halves; i++) {
		unsigned int half = s->value + i;

		sg->core->uniforms_out[d->value + i] =
			sg->reg[half / 2].v[lane] >> half % 2 * 16;
	}
}
