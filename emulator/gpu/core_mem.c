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

#include "core_float.h"
#include "core_internal.h"
#include "format.h"

/* Where an access goes */
enum space {
	SPACE_DEVICE,
	SPACE_SHARED,
	SPACE_PRIVATE,
};

/* An access of one instruction by all of its threads */
struct access {
	struct simdgroup *sg;
	const struct op *op;
	enum space space;
	bool is_store;
	/* element's size in bytes, as a power of two */
	unsigned int log2_size;
	/* of the element at index 0, for each lane */
	struct wide_lanes address;
	/* the last page that was translated */
	uint64_t page;
	uint8_t *host;
	bool failed;
};

static void *translate_device(struct access *a, unsigned int lane, uint64_t va, unsigned int size)
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

static void *outside(struct access *a, unsigned int lane, uint64_t address, uint32_t bound)
{
	a->failed = true;
	a->sg->failed_lane = lane;
	vagx_core_fail(a->sg, a->op, -ERANGE,
		       "access at 0x%llx, outside of 0x%x bytes of %s memory",
		       (unsigned long long)address, bound,
		       a->space == SPACE_SHARED ? "shared" : "private");
	return NULL;
}

/* Private memory comes into being where it is used */
static bool grow_private(struct simdgroup *sg, uint32_t size)
{
	uint32_t new_size = sg->private_size ? sg->private_size : 256;
	uint8_t *memory;
	unsigned int i;

	while (new_size < size)
		new_size *= 2;
	memory = calloc(LANES, new_size);
	if (!memory)
		return false;
	for (i = 0; sg->private_memory && i < LANES; i++)
		memcpy(memory + (size_t)i * new_size,
		       sg->private_memory + (size_t)i * sg->private_size,
		       sg->private_size);
	free(sg->private_memory);
	sg->private_memory = memory;
	sg->private_size = new_size;
	return true;
}

static void *translate_private(struct access *a, unsigned int lane,
			       uint64_t address, unsigned int size)
{
	struct simdgroup *sg = a->sg;

	if (address > MAX_PRIVATE - size)
		return outside(a, lane, address, MAX_PRIVATE);
	if (address + size > sg->private_size &&
	    !grow_private(sg, address + size)) {
		a->failed = true;
		vagx_core_fail(sg, a->op, -ENOMEM, "no private memory");
		return NULL;
	}
	return sg->private_memory + (size_t)lane * sg->private_size + address;
}

/* Return: where an element is; NULL if it isn't, or if the access failed */
static void *translate(struct access *a, unsigned int lane, uint64_t address)
{
	unsigned int size = 1u << a->log2_size;
	uint32_t bound;

	address &= ~(uint64_t)(size - 1);
	switch (a->space) {
	case SPACE_DEVICE:
		return translate_device(a, lane, address, size);
	case SPACE_SHARED:
		/* Addresses may be negative, which is a lot */
		bound = a->sg->core->launch->shared_size;
		if (address >= bound || size > bound - address)
			return outside(a, lane, address, bound);
		return a->sg->core->shared + address;
	default:
		return translate_private(a, lane, address, size);
	}
}

/* Other threads may be at the same place at the same time */
static uint32_t get_element(const void *p, unsigned int log2_size)
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

static void put_element(void *p, unsigned int log2_size, uint32_t value)
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

static uint32_t get_component(const struct simdgroup *sg,
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

static void set_component(struct simdgroup *sg, const struct agx_operand *o,
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

static void load_packed(struct access *a, unsigned int lane)
{
	const struct agx_operand *o = &a->op->dst;
	void *p = translate(a, lane, a->address.v[lane]);
	unsigned int i, count;
	float value[4];

	if (a->failed)
		return;
	count = vagx_format_unpack(a->op->mod[AGX_MOD_FORMAT],
		       p ? get_element(p, a->log2_size) : 0, value);
	for (i = 0; i < count; i++)
		set_component(a->sg, o, i, lane,
			      register_from_float(o->size, value[i]));
}

static void store_packed(struct access *a, unsigned int lane)
{
	const struct agx_operand *o = &a->op->src[0];
	void *p = translate(a, lane, a->address.v[lane]);
	float value[4];
	unsigned int i;

	if (!p)
		return;
	for (i = 0; i < 4; i++)
		value[i] = float_from_register(o->size, get_component(a->sg, o, i, lane));
	put_element(p, a->log2_size, vagx_format_pack(a->op->mod[AGX_MOD_FORMAT], value));
}

static void load_lane(struct access *a, unsigned int lane)
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
		p = translate(a, lane, a->address.v[lane] + (i << a->log2_size));
		if (a->failed)
			return;
		if (p)
			bits = get_element(p, a->log2_size);
		if (vagx_format_to_float(format, i, bits, &value))
			bits = register_from_float(o->size, value);
		set_component(a->sg, o, n++, lane, bits);
	}
}

static void store_lane(struct access *a, unsigned int lane)
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
		p = translate(a, lane, a->address.v[lane] + (i << a->log2_size));
		if (a->failed)
			return;
		bits = get_component(a->sg, o, n++, lane);
		if (format >= AGX_FORMAT_U8NORM)
			bits = vagx_format_from_float(format, i,
						float_from_register(o->size, bits));
		if (p)
			put_element(p, a->log2_size, bits);
	}
}

/* Of device memory, whether or not all of it could be reached */
static void count_bytes(const struct access *a, bool packed, unsigned int lanes)
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
 * Most accesses are of whole words and registers of as many bits: a lane's words are looked
 * up together then. Return: how many there are; 0 if it is another access.
 */
static unsigned int count_words(const struct access *a, const struct agx_operand *o)
{
	unsigned int mask = a->op->mod[AGX_MOD_MASK], count = __builtin_popcount(mask);

	if (a->space != SPACE_DEVICE || a->op->mod[AGX_MOD_FORMAT] != AGX_FORMAT_I32 ||
	    o->type != AGX_OPERAND_REG || o->size != 32 || mask & (mask + 1) ||
	    o->value / 2 + count > a->sg->core->register_halves / 2)
		return 0;
	return count;
}

/* NULL if they are in two pages, or cannot be reached: they are done one by one then */
static uint32_t *find_words(struct access *a, unsigned int lane, unsigned int count)
{
	uint64_t va = a->address.v[lane] & ~(uint64_t)3;

	if ((va & VAGX_UAT_PAGE_MASK) > VAGX_UAT_PAGE_SIZE - 4 * count)
		return NULL;
	return translate_device(a, lane, va, 4);
}

static bool load_words(struct access *a, unsigned int lane, unsigned int count)
{
	const uint32_t *p = count ? find_words(a, lane, count) : NULL;
	struct lanes *reg = &a->sg->reg[a->op->dst.value / 2];
	unsigned int i;

	for (i = 0; p && i < count; i++)
		reg[i].v[lane] = __atomic_load_n(&p[i], __ATOMIC_RELAXED);
	return p;
}

static bool store_words(struct access *a, unsigned int lane, unsigned int count)
{
	uint32_t *p = count ? find_words(a, lane, count) : NULL;
	const struct lanes *reg = &a->sg->reg[a->op->src[0].value / 2];
	unsigned int i;

	for (i = 0; p && i < count; i++)
		__atomic_store_n(&p[i], reg[i].v[lane], __ATOMIC_RELAXED);
	return p;
}

/*
 * All lanes, if their words lie one after the other in a page. Return: whether they are done,
 * or the first one has failed; else it is another access.
 */
static bool access_row(struct access *a, unsigned int count)
{
	uint64_t va = a->address.v[0] & ~(uint64_t)3, apart = 0;
	struct lanes *reg;
	unsigned int i, lane;
	uint32_t *p;

	if (!count || (va & VAGX_UAT_PAGE_MASK) > VAGX_UAT_PAGE_SIZE - LANES * 4 * count)
		return false;
	for (i = 0; i < LANES; i++)
		apart |= (a->address.v[i] & ~(uint64_t)3) ^ (va + i * 4 * count);
	if (apart)
		return false;
	p = translate_device(a, 0, va, 4);
	if (!p)
		return a->failed;

	reg = &a->sg->reg[(a->is_store ? a->op->src[0].value : a->op->dst.value) / 2];
	for (lane = 0; a->is_store && lane < LANES; lane++, p += count) {
		for (i = 0; i < count; i++)
			__atomic_store_n(&p[i], reg[i].v[lane], __ATOMIC_RELAXED);
	}
	for (lane = 0; !a->is_store && lane < LANES; lane++, p += count) {
		for (i = 0; i < count; i++)
			reg[i].v[lane] = __atomic_load_n(&p[i], __ATOMIC_RELAXED);
	}
	return true;
}

static uint32_t access_lanes(const struct access *a)
{
	bool visible = a->is_store && a->space == SPACE_DEVICE;

	return visible ? vagx_stage_storing(a->sg) : a->sg->exec;
}

static void run_access(struct access *a)
{
	bool packed = vagx_format_is_packed(a->op->mod[AGX_MOD_FORMAT]);
	unsigned int words = count_words(a, a->is_store ? &a->op->src[0] : &a->op->dst);
	uint32_t left = access_lanes(a);

	count_bytes(a, packed, __builtin_popcount(left));
	if (left == ALL_LANES && access_row(a, words))
		return;
	for (; left && !a->failed; left &= left - 1) {
		unsigned int lane = __builtin_ctz(left);

		if (a->is_store ? store_words(a, lane, words) : load_words(a, lane, words))
			continue;
		if (a->is_store && packed)
			store_packed(a, lane);
		else if (a->is_store)
			store_lane(a, lane);
		else if (packed)
			load_packed(a, lane);
		else
			load_lane(a, lane);
	}
}

/* Base plus index; the index counts elements of @log2_scale */
static void add_index(struct access *a, const struct agx_operand *index,
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

static unsigned int index_shift(const struct op *op)
{
	unsigned int shift = op->mod[AGX_MOD_SHIFT];

	/* Packed formats ignore the shift; 3 does what 2 does */
	if (vagx_format_is_packed(op->mod[AGX_MOD_FORMAT]))
		return 0;
	return shift < 3 ? shift : 2;
}

static void device_access(struct simdgroup *sg, const struct op *op,
			  bool is_store)
{
	struct access a = {
		.sg = sg,
		.op = op,
		.space = SPACE_DEVICE,
		.is_store = is_store,
		.log2_size = vagx_format_log2_size(op->mod[AGX_MOD_FORMAT]),
	};
	const struct agx_operand *base = &op->src[is_store];

	read_wide_lanes(sg, base, &a.address);
	add_index(&a, base + 1, a.log2_size + index_shift(op));
	run_access(&a);
}

void vagx_exec_load(struct simdgroup *sg, const struct op *op)
{
	device_access(sg, op, false);
}

void vagx_exec_store(struct simdgroup *sg, const struct op *op)
{
	device_access(sg, op, true);
}

/* A base that is left out is 0 */
static void shared_address(struct access *a, const struct agx_operand *base)
{
	memset(&a->address, 0, sizeof(a->address));
	if (base->type != AGX_OPERAND_NONE)
		read_wide_lanes(a->sg, base, &a->address);
	add_index(a, base + 1, a->log2_size);
}

static void shared_access(struct simdgroup *sg, const struct op *op,
			  bool is_store)
{
	struct access a = {
		.sg = sg,
		.op = op,
		.space = SPACE_SHARED,
		.is_store = is_store,
		.log2_size = vagx_format_log2_size(op->mod[AGX_MOD_FORMAT]),
	};

	shared_address(&a, &op->src[is_store]);
	run_access(&a);
}

void vagx_exec_local_load(struct simdgroup *sg, const struct op *op)
{
	shared_access(sg, op, false);
}

void vagx_exec_local_store(struct simdgroup *sg, const struct op *op)
{
	shared_access(sg, op, true);
}

/* The index counts bytes from the stack pointer */
static void private_access(struct simdgroup *sg, const struct op *op,
			   bool is_store)
{
	struct access a = {
		.sg = sg,
		.op = op,
		.space = SPACE_PRIVATE,
		.is_store = is_store,
		.log2_size = vagx_format_log2_size(op->mod[AGX_MOD_FORMAT]),
	};
	unsigned int i;

	for (i = 0; i < LANES; i++)
		a.address.v[i] = (int64_t)sg->stack_pointer;
	add_index(&a, &op->src[is_store], index_shift(op));
	run_access(&a);
}

void vagx_exec_stack_load(struct simdgroup *sg, const struct op *op)
{
	private_access(sg, op, false);
}

void vagx_exec_stack_store(struct simdgroup *sg, const struct op *op)
{
	private_access(sg, op, true);
}

/* Counts words. The pointer is that of the whole simdgroup */
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

static uint32_t atomic_result(unsigned int kind, uint32_t old, uint32_t value,
			      uint32_t expected)
{
	switch (kind) {
	case AGX_ATOMIC_ADD:
		return old + value;
	case AGX_ATOMIC_SUB:
		return old - value;
	case AGX_ATOMIC_XCHG:
		return value;
	case AGX_ATOMIC_CMPXCHG:
		return old == expected ? value : old;
	case AGX_ATOMIC_UMIN:
		return value < old ? value : old;
	case AGX_ATOMIC_IMIN:
		return (int32_t)value < (int32_t)old ? value : old;
	case AGX_ATOMIC_UMAX:
		return value > old ? value : old;
	case AGX_ATOMIC_IMAX:
		return (int32_t)value > (int32_t)old ? value : old;
	case AGX_ATOMIC_AND:
		return old & value;
	case AGX_ATOMIC_OR:
		return old | value;
	default:
		return old ^ value;
	}
}

static uint32_t run_atomic(uint32_t *p, unsigned int kind, uint32_t value,
			   uint32_t expected)
{
	uint32_t old = __atomic_load_n(p, __ATOMIC_RELAXED);

	while (!__atomic_compare_exchange_n(p, &old,
					    atomic_result(kind, old, value,
							  expected),
					    true, __ATOMIC_SEQ_CST,
					    __ATOMIC_RELAXED))
		;
	return old;
}

/* A comparison's sources are the new value, then the one to expect */
static void run_atomics(struct access *a)
{
	const struct op *op = a->op;
	unsigned int kind = op->mod[AGX_MOD_OP];
	uint32_t left = a->sg->exec;

	for (; left && !a->failed; left &= left - 1) {
		unsigned int lane = __builtin_ctz(left);
		uint32_t *p = translate(a, lane, a->address.v[lane]);
		uint32_t value = get_component(a->sg, &op->src[0], 0, lane);
		uint32_t other = get_component(a->sg, &op->src[0], 1, lane);
		uint32_t old = 0;

		if (a->failed)
			return;
		if (p)
			old = run_atomic(p, kind, value, other);
		if (op->dst.type != AGX_OPERAND_NONE)
			set_component(a->sg, &op->dst, 0, lane, old);
	}
}

void vagx_exec_atomic(struct simdgroup *sg, const struct op *op)
{
	struct access a = {
		.sg = sg,
		.op = op,
		.space = SPACE_DEVICE,
		.is_store = true,
		.log2_size = 2,
	};

	read_wide_lanes(sg, &op->src[1], &a.address);
	add_index(&a, &op->src[2], a.log2_size);
	run_atomics(&a);
}

void vagx_exec_local_atomic(struct simdgroup *sg, const struct op *op)
{
	struct access a = {
		.sg = sg,
		.op = op,
		.space = SPACE_SHARED,
		.is_store = true,
		.log2_size = 2,
	};

	shared_address(&a, &op->src[1]);
	run_atomics(&a);
}

/* Only a preshader may: the uniforms are those of all threads */
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
	for (i = 0; i < halves; i++) {
		unsigned int half = s->value + i;

		sg->core->uniforms_out[d->value + i] =
			sg->reg[half / 2].v[lane] >> half % 2 * 16;
	}
}
