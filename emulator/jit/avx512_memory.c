// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Loads and stores of whole simdgroups with AVX-512, where all lanes stay within a page of device
 * memory or within shared memory, and elements are integers: addresses are computed and checked in
 * vectors, and one translation serves all lanes. Everything else, faults among it, is left
 * to the interpreter's functions (gpu/core_mem.c) before anything has happened.
 *
 * Elements are read and written by the host's ordinary loads and stores, which are atomic for
 * aligned elements, also in vectors.
 */
#include <immintrin.h>

#include "memory.h"

#define VECTORS		__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
/* An inline function of these */
#define VECTOR_INLINE	static inline VECTORS __attribute__((always_inline))

/* Lanes of half @h as the host's mask */
#define HALF_OF(exec, h)	((__mmask16)((exec) >> 16 * (h)))

/* An access, checked and translated */
struct memory_access {
	/* the lanes that take part: at least one */
	uint32_t exec;
	/* components of a lane, one behind the other */
	unsigned int count;
	/* where offset 0 is */
	uint8_t *host;
	/* bytes from there, for each lane */
	__m512i offset[2];
};

/* The register operand that is loaded or stored */
VECTOR_INLINE const struct agx_operand *memory_data(const struct op *op, bool is_store)
{
	return is_store ? &op->src[0] : &op->dst;
}

/* A source of 32 bits: eight lanes, as 64 bits */
VECTOR_INLINE __m512i memory_extend(const uint32_t *lanes, bool sign_extend)
{
	__m256i v = _mm256_load_si256((const __m256i *)lanes);

	return sign_extend ? _mm512_cvtepi32_epi64(v) : _mm512_cvtepu32_epi64(v);
}

/* The base address of device memory: eight lanes from @lane on */
VECTOR_INLINE __m512i memory_base(const struct simdgroup *sg, const struct agx_operand *o,
				  unsigned int lane)
{
	unsigned int number = (unsigned int)o->value;
	__m512i low, high;

	if (o->type == AGX_OPERAND_UNIFORM)
		return _mm512_set1_epi64((int64_t)(read_uniform(sg, number, 32) |
			(uint64_t)read_uniform(sg, number + 2, 32) << 32));
	low = memory_extend(&sg->reg[number / 2].v[lane], false);
	high = memory_extend(&sg->reg[number / 2 + 1].v[lane], false);
	return _mm512_or_si512(low, _mm512_slli_epi64(high, 32));
}

/* The index, which counts units of 1 << @shift bytes: eight lanes from @lane on */
VECTOR_INLINE __m512i memory_index(const struct simdgroup *sg, const struct agx_operand *o,
				   unsigned int lane, unsigned int shift)
{
	__m512i v;

	if (o->type == AGX_OPERAND_IMM)
		v = _mm512_set1_epi64(o->value);
	else
		v = memory_extend(&sg->reg[o->value / 2].v[lane], o->sign_extend);
	return _mm512_sll_epi64(v, _mm_cvtsi32_si128((int)shift));
}

/*
 * The same for one base address and an index in a register, with 32 bits: what the indices are
 * apart from that of the first lane is so little that nothing is lost.
 */
VECTOR_INLINE bool memory_find_near(struct simdgroup *sg, const struct op *op, bool is_store,
				    unsigned int log2_size, struct memory_access *a)
{
	const struct agx_operand *base = &op->src[is_store], *index = base + 1;
	unsigned int shift = log2_size + memory_shift(op), h;
	const uint32_t *reg = sg->reg[index->value / 2].v;
	uint32_t first = reg[__builtin_ctz(a->exec)], outside = 0;
	uint64_t va = read_uniform(sg, (unsigned int)base->value, 32) |
		      (uint64_t)read_uniform(sg, (unsigned int)base->value + 2, 32) << 32;

	va += (index->sign_extend ? (uint64_t)(int32_t)first : first) << shift;
	for (h = 0; h < 2; h++) {
		__m512i v = _mm512_load_si512(&reg[16 * h]), apart;
		__m512i sign = _mm512_xor_si512(v, _mm512_set1_epi32((int)first));

		/* differences of less than 2^31 in 33 bits, which are in a page */
		apart = _mm512_sub_epi32(v, _mm512_set1_epi32((int)first));
		outside |= (uint32_t)_mm512_movepi32_mask(sign) << 16 * h;
		outside |= (uint32_t)_mm512_cmpgt_epu32_mask(
			_mm512_add_epi32(apart, _mm512_set1_epi32(VAGX_UAT_PAGE_SIZE)),
			_mm512_set1_epi32(2 * VAGX_UAT_PAGE_SIZE)) << 16 * h;
		apart = _mm512_sll_epi32(apart, _mm_cvtsi32_si128((int)shift));
		apart = _mm512_add_epi32(apart, _mm512_set1_epi32((int)(va & VAGX_UAT_PAGE_MASK)));
		a->offset[h] = _mm512_and_si512(apart, _mm512_set1_epi32(-(1 << log2_size)));
		outside |= (uint32_t)_mm512_cmpgt_epu32_mask(
			a->offset[h], _mm512_set1_epi32((int)(VAGX_UAT_PAGE_SIZE -
							      (a->count << log2_size)))) << 16 * h;
	}
	if (outside & a->exec)
		return false;
	a->host = vagx_tlb_ptr(sg->core->config.tlb, va & ~(uint64_t)VAGX_UAT_PAGE_MASK,
			       VAGX_UAT_PAGE_SIZE, is_store ? VAGX_WRITE : VAGX_READ,
			       &sg->core->fault);
	return a->host;
}

/* Finds the page of device memory that all lanes are in. Return: false for the interpreter. */
VECTOR_INLINE bool memory_find_page(struct simdgroup *sg, const struct op *op, bool is_store,
				    unsigned int log2_size, struct memory_access *a)
{
	const struct agx_operand *base = &op->src[is_store];
	unsigned int shift = log2_size + memory_shift(op), q;
	__m512i align = _mm512_set1_epi64(-(1LL << log2_size));
	__m512i limit = _mm512_set1_epi64(VAGX_UAT_PAGE_SIZE - (a->count << log2_size));
	uint64_t va[LANES] __attribute__((aligned(64))), page;
	__m512i address[4];
	uint32_t outside = 0;

	if (base->type == AGX_OPERAND_UNIFORM && base[1].type == AGX_OPERAND_REG)
		return memory_find_near(sg, op, is_store, log2_size, a);
	for (q = 0; q < 4; q++) {
		address[q] = _mm512_add_epi64(memory_base(sg, base, 8 * q),
					      memory_index(sg, base + 1, 8 * q, shift));
		address[q] = _mm512_and_si512(address[q], align);
		_mm512_store_si512(&va[8 * q], address[q]);
	}
	page = va[__builtin_ctz(a->exec)] & ~(uint64_t)VAGX_UAT_PAGE_MASK;
	for (q = 0; q < 4; q++) {
		address[q] = _mm512_sub_epi64(address[q], _mm512_set1_epi64((int64_t)page));
		outside |= (uint32_t)_mm512_cmpgt_epu64_mask(address[q], limit) << 8 * q;
	}
	if (outside & a->exec)
		return false;
	for (q = 0; q < 2; q++)
		a->offset[q] = _mm512_inserti64x4(
			_mm512_castsi256_si512(_mm512_cvtepi64_epi32(address[2 * q])),
			_mm512_cvtepi64_epi32(address[2 * q + 1]), 1);
	a->host = vagx_tlb_ptr(sg->core->config.tlb, page, VAGX_UAT_PAGE_SIZE,
			       is_store ? VAGX_WRITE : VAGX_READ, &sg->core->fault);
	return a->host;
}

/* A part of an address in shared memory, of 16 bits: half @h of the lanes */
VECTOR_INLINE __m512i memory_shared_part(const struct simdgroup *sg, const struct agx_operand *o,
					 unsigned int h)
{
	__m512i v;

	switch (o->type) {
	case AGX_OPERAND_NONE:
		return _mm512_setzero_si512();
	case AGX_OPERAND_REG:
		v = _mm512_load_si512(&sg->reg[o->value / 2].v[16 * h]);
		return o->value % 2 ? _mm512_srli_epi32(v, 16) :
		       _mm512_and_si512(v, _mm512_set1_epi32(0xffff));
	case AGX_OPERAND_UNIFORM:
		return _mm512_set1_epi32((int)read_uniform(sg, (unsigned int)o->value, 16));
	default:
		return _mm512_set1_epi32(o->value);
	}
}

/* Checks the addresses in shared memory. Return: false for the interpreter. */
VECTOR_INLINE bool memory_find_shared(struct simdgroup *sg, const struct op *op, bool is_store,
				      unsigned int log2_size, struct memory_access *a)
{
	const struct agx_operand *base = &op->src[is_store];
	uint32_t bound = sg->core->launch->shared_size, size = a->count << log2_size;
	__m512i align = _mm512_set1_epi32(-(1 << log2_size));
	uint32_t outside = 0;
	unsigned int h;

	if (bound < size)
		return false;
	for (h = 0; h < 2; h++) {
		__m512i index = memory_shared_part(sg, base + 1, h);

		index = _mm512_sll_epi32(index, _mm_cvtsi32_si128((int)log2_size));
		a->offset[h] = _mm512_and_si512(
			_mm512_add_epi32(memory_shared_part(sg, base, h), index), align);
		/* negative addresses are large unsigned ones */
		outside |= (uint32_t)_mm512_cmpgt_epu32_mask(
			a->offset[h], _mm512_set1_epi32((int)(bound - size))) << 16 * h;
	}
	a->host = sg->core->shared;
	return !(outside & a->exec);
}

/* Whether the lanes' words follow each other, of all @count components */
VECTOR_INLINE bool memory_is_row(const struct memory_access *a, unsigned int count)
{
	const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
	__m512i first = _mm512_broadcastd_epi32(_mm512_castsi512_si128(a->offset[0]));
	__m512i apart = _mm512_set1_epi32(4 * (int)count);
	__m512i row = _mm512_add_epi32(first, _mm512_mullo_epi32(lane, apart));

	return a->exec == ALL_LANES && !_mm512_cmpneq_epi32_mask(a->offset[0], row) &&
	       !_mm512_cmpneq_epi32_mask(a->offset[1],
					 _mm512_add_epi32(row, _mm512_slli_epi32(apart, 4)));
}

/* A row of words of 16 lanes from @host on: component @n of @count, 2 or 4 */
VECTOR_INLINE __m512i memory_row_component(const uint8_t *host, unsigned int count, unsigned int n)
{
	const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
	/* where the component is in two vectors, of the first lanes that they have */
	__m512i at = _mm512_add_epi32(_mm512_mullo_epi32(lane, _mm512_set1_epi32((int)count)),
				      _mm512_set1_epi32((int)n));
	__m512i low, high;

	low = _mm512_permutex2var_epi32(_mm512_loadu_si512(host), at,
					_mm512_loadu_si512(host + 64));
	if (count == 2)
		return low;
	/* vectors have half of the lanes: only the lowest five bits of an index count */
	high = _mm512_permutex2var_epi32(_mm512_loadu_si512(host + 128), at,
					 _mm512_loadu_si512(host + 192));
	return _mm512_mask_blend_epi32(0xff00, low, high);
}

/* The words of a row: vector @q of those of 16 lanes, whose components are at @reg */
VECTOR_INLINE __m512i memory_row_words(const struct lanes *reg, unsigned int h, unsigned int count,
				       unsigned int q)
{
	const __m512i word = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
	__m512i lane, at, low, high;

	lane = _mm512_add_epi32(_mm512_srli_epi32(word, count == 2 ? 1 : 2),
				_mm512_set1_epi32((int)(q * 16 / count)));
	/* odd words are from the second of two vectors */
	at = _mm512_or_si512(lane, _mm512_slli_epi32(_mm512_and_si512(word, _mm512_set1_epi32(1)),
						     4));
	low = _mm512_permutex2var_epi32(_mm512_load_si512(&reg[0].v[16 * h]), at,
					_mm512_load_si512(&reg[1].v[16 * h]));
	if (count == 2)
		return low;
	high = _mm512_permutex2var_epi32(_mm512_load_si512(&reg[2].v[16 * h]), at,
					 _mm512_load_si512(&reg[3].v[16 * h]));
	return _mm512_mask_blend_epi32(0xcccc, low, high);
}

/* The offset of lane 0 */
VECTOR_INLINE uint32_t memory_first(const struct memory_access *a)
{
	return (uint32_t)_mm_cvtsi128_si32(_mm512_castsi512_si128(a->offset[0]));
}

/* How the addresses of 16 lanes go together */
enum memory_pattern {
	MEMORY_NONE,
	/* all lanes that take part have the same */
	MEMORY_SAME,
	/* all lanes take part, and elements follow each other */
	MEMORY_ROW,
	MEMORY_OTHER,
};

/* Finds how those of half @h do, and the offset of its first lane that takes part */
VECTOR_INLINE enum memory_pattern memory_find_pattern(const struct memory_access *a,
						      unsigned int h, unsigned int log2_size,
						      uint32_t *first)
{
	const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
	__mmask16 k = HALF_OF(a->exec, h);
	__m512i begin;

	if (!k)
		return MEMORY_NONE;
	*first = (uint32_t)_mm_cvtsi128_si32(_mm512_castsi512_si128(
		_mm512_maskz_compress_epi32(k, a->offset[h])));
	begin = _mm512_set1_epi32((int)*first);
	if (!_mm512_mask_cmpneq_epi32_mask(k, a->offset[h], begin))
		return MEMORY_SAME;
	begin = _mm512_add_epi32(begin, _mm512_slli_epi32(lane, log2_size));
	if (k == 0xffff && !_mm512_cmpneq_epi32_mask(a->offset[h], begin))
		return MEMORY_ROW;
	return MEMORY_OTHER;
}

/* Writes to the lanes that take part of register @half; @v: words, or halves in words */
VECTOR_INLINE void memory_set(struct simdgroup *sg, const struct memory_access *a,
			      const struct agx_operand *o, unsigned int n, unsigned int h, __m512i v)
{
	unsigned int half = (unsigned int)o->value + n * (o->size / 16u);
	uint32_t *reg = &sg->reg[half / 2].v[16 * h];
	__mmask16 k = HALF_OF(a->exec, h);
	__m512i old, mask;

	if (o->size != 16) {
		_mm512_mask_store_epi32(reg, k, v);
		return;
	}
	old = _mm512_load_si512(reg);
	mask = _mm512_maskz_set1_epi32(k, half % 2 ? (int)0xffff0000 : 0xffff);
	v = half % 2 ? _mm512_slli_epi32(v, 16) : v;
	_mm512_store_si512(reg, _mm512_ternarylogic_epi32(old, v, mask, 0xd8));
}

/* The elements of half @h, from @host on, in lanes that take part */
VECTOR_INLINE __m512i memory_gather(const struct memory_access *a, const uint8_t *host,
				    unsigned int log2_size, unsigned int h)
{
	__mmask16 k = HALF_OF(a->exec, h);
	__m512i v, at = _mm512_add_epi32(a->offset[h],
					 _mm512_set1_epi32((int)((uintptr_t)host & 3)));

	/* of the aligned word that an element is in, which is in the same page */
	v = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), k,
					_mm512_and_si512(at, _mm512_set1_epi32(-4)),
					host - ((uintptr_t)host & 3), 1);
	if (log2_size == 2)
		return v;
	at = _mm512_slli_epi32(_mm512_and_si512(at, _mm512_set1_epi32(3)), 3);
	return _mm512_and_si512(_mm512_srlv_epi32(v, at),
				_mm512_set1_epi32(log2_size ? 0xffff : 0xff));
}

/* 16 elements that follow each other */
VECTOR_INLINE __m512i memory_row(const uint8_t *host, unsigned int log2_size)
{
	switch (log2_size) {
	case 0:
		return _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)host));
	case 1:
		return _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)host));
	default:
		return _mm512_loadu_si512(host);
	}
}

/* Loads rows of words of @count components, which is known when this is compiled */
VECTOR_INLINE bool memory_load_rows(struct simdgroup *sg, const struct memory_access *a,
				    const struct agx_operand *o, unsigned int count)
{
	struct lanes *reg = &sg->reg[(unsigned int)o->value / 2];
	const uint8_t *host;
	unsigned int n, h;

	if (!memory_is_row(a, count))
		return false;
	host = a->host + memory_first(a);
	memory_prefetch(host, 4 * LANES * count, false);
	for (h = 0; h < 2; h++) {
		for (n = 0; n < count; n++)
			_mm512_store_si512(&reg[n].v[16 * h],
					   memory_row_component(host + 64 * h * count, count, n));
	}
	return true;
}

/* Loads rows of words, if the lanes' are. Return: false if they are not. */
VECTOR_INLINE bool memory_load_row(struct simdgroup *sg, const struct memory_access *a,
				   const struct agx_operand *o)
{
	switch (a->count) {
	case 2:
		return memory_load_rows(sg, a, o, 2);
	case 4:
		return memory_load_rows(sg, a, o, 4);
	default:
		return false;
	}
}

VECTOR_INLINE void memory_load_half(struct simdgroup *sg, const struct memory_access *a,
				    const struct agx_operand *o, unsigned int log2_size,
				    unsigned int h)
{
	uint32_t first = 0;
	enum memory_pattern pattern = memory_find_pattern(a, h, log2_size, &first);
	unsigned int n;

	for (n = 0; pattern != MEMORY_NONE && n < a->count; n++) {
		const uint8_t *host = a->host + (n << log2_size);
		__m512i v;

		if (pattern == MEMORY_SAME)
			v = _mm512_set1_epi32((int)memory_read(host + first, log2_size));
		else if (pattern == MEMORY_ROW)
			v = memory_row(host + first, log2_size);
		else
			v = memory_gather(a, host, log2_size, h);
		memory_set(sg, a, o, n, h, v);
	}
}

VECTOR_INLINE void memory_load(struct simdgroup *sg, const struct memory_access *a,
			       const struct agx_operand *o, unsigned int log2_size)
{
	if (log2_size == 2 && o->size == 32 && a->count != 1 && memory_load_row(sg, a, o))
		return;
	memory_load_half(sg, a, o, log2_size, 0);
	memory_load_half(sg, a, o, log2_size, 1);
}

/* Stores rows of words of @count components, which is known when this is compiled */
VECTOR_INLINE bool memory_store_rows(const struct simdgroup *sg, const struct memory_access *a,
				     const struct agx_operand *o, unsigned int count)
{
	const struct lanes *reg = &sg->reg[(unsigned int)o->value / 2];
	unsigned int q, h;
	uint8_t *host;

	if (!memory_is_row(a, count))
		return false;
	host = a->host + memory_first(a);
	memory_prefetch(host, 4 * LANES * count, true);
	for (h = 0; h < 2; h++) {
		for (q = 0; q < count; q++, host += 64)
			_mm512_storeu_si512(host, memory_row_words(reg, h, count, q));
	}
	return true;
}

/* Stores rows of words, if the lanes' are. Return: false if they are not. */
VECTOR_INLINE bool memory_store_row(const struct simdgroup *sg, const struct memory_access *a,
				    const struct agx_operand *o)
{
	switch (a->count) {
	case 2:
		return memory_store_rows(sg, a, o, 2);
	case 4:
		return memory_store_rows(sg, a, o, 4);
	default:
		return false;
	}
}

/* The values that are stored of half @h */
VECTOR_INLINE __m512i memory_get(const struct simdgroup *sg, const struct agx_operand *o,
				 unsigned int n, unsigned int h)
{
	unsigned int half = (unsigned int)o->value + n * (o->size / 16u);
	__m512i v = _mm512_load_si512(&sg->reg[half / 2].v[16 * h]);

	if (o->size != 16)
		return v;
	return half % 2 ? _mm512_srli_epi32(v, 16) : _mm512_and_si512(v, _mm512_set1_epi32(0xffff));
}

VECTOR_INLINE void memory_write_row(uint8_t *host, unsigned int log2_size, __m512i v)
{
	switch (log2_size) {
	case 0:
		_mm_storeu_si128((__m128i *)host, _mm512_cvtepi32_epi8(v));
		break;
	case 1:
		_mm256_storeu_si256((__m256i *)host, _mm512_cvtepi32_epi16(v));
		break;
	default:
		_mm512_storeu_si512(host, v);
	}
}

/* Lanes store in their order: the last one's value stays where several have one address */
VECTOR_INLINE void memory_store_half(const struct simdgroup *sg, const struct memory_access *a,
				     const struct agx_operand *o, unsigned int log2_size,
				     unsigned int h)
{
	uint32_t left = HALF_OF(a->exec, h), first = 0;
	struct lanes offset, value[4];
	unsigned int n;

	if (a->count == 1 && memory_find_pattern(a, h, log2_size, &first) == MEMORY_ROW) {
		memory_write_row(a->host + first, log2_size, memory_get(sg, o, 0, h));
		return;
	}
	_mm512_store_si512(offset.v, a->offset[h]);
	for (n = 0; n < a->count; n++)
		_mm512_store_si512(value[n].v, memory_get(sg, o, n, h));
	for (; left; left &= left - 1) {
		unsigned int lane = (unsigned int)__builtin_ctz(left);

		for (n = 0; n < a->count; n++)
			memory_write(a->host + offset.v[lane] + (n << log2_size), log2_size,
				     value[n].v[lane]);
	}
}

VECTOR_INLINE void memory_store(struct simdgroup *sg, const struct memory_access *a,
				const struct agx_operand *o, unsigned int log2_size)
{
	if (log2_size == 2 && o->size == 32 && a->count != 1 && memory_store_row(sg, a, o))
		return;
	memory_store_half(sg, a, o, log2_size, 0);
	memory_store_half(sg, a, o, log2_size, 1);
}

VECTOR_INLINE void memory_count(struct simdgroup *sg, const struct memory_access *a, bool is_store,
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

VECTOR_INLINE void memory_run(struct simdgroup *sg, const struct op *op, enum memory_space space,
			      bool is_store, unsigned int log2_size)
{
	const struct agx_operand *o = memory_data(op, is_store);
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
		memory_store(sg, &a, o, log2_size);
	else
		memory_load(sg, &a, o, log2_size);
}

/* A function for each space, direction and size of elements */
#define MEMORY_FN(name, space, is_store, log2_size)					\
VECTORS static void name(struct simdgroup *sg, const struct op *op)			\
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

vagx_exec_fn *vagx_memory_find_avx512(const struct op *op)
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
