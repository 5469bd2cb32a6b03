// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Loads from the tile buffer (applegpu "applegpu.py", ld_tile), as blending needs them. Where no
 * lane can fail, words of the tile are gathered for all lanes, and each component is converted
 * in one loop; else lane after lane loads. Runs on the thread of the core that executes the
 * instruction; the tile belongs to it.
 */
#include "core_float.h"
#include "core_tile.h"
#include "gpu/format.h"

/* The register of the value's element @n. Return: false if the thread does not have it. */
static bool tile_load_find_register(const struct tile_access *a, unsigned int n,
				    struct agx_operand *one)
{
	*one = *a->value;
	one->value += n * (one->size / 16);
	return (unsigned int)one->value < a->sg->core->register_halves;
}

/* Lane after lane */

static void tile_load_set_register(struct tile_access *a, unsigned int n, unsigned int lane,
				   uint32_t bits)
{
	struct agx_operand one;
	unsigned int shift;
	uint32_t *reg;

	if (!tile_load_find_register(a, n, &one))
		return;
	reg = &a->sg->reg[one.value / 2].v[lane];
	shift = (unsigned int)one.value % 2 * 16;
	if (one.size == 16)
		*reg = (*reg & ~(0xffffu << shift)) | (bits & 0xffff) << shift;
	else
		*reg = bits;
}

static uint32_t tile_load_component(const struct tile_access *a, unsigned int i, uint32_t bits)
{
	float value;

	if (vagx_format_to_float(a->format, i, bits, &value))
		return register_from_float(a->value->size, value);
	if (a->format == AGX_FORMAT_F16 && a->value->size == 32)
		return float_bits(float_from_half(bits));
	return bits;
}

static void tile_load_sample(struct tile_access *a, unsigned int lane, const uint8_t *p)
{
	unsigned int mask = a->op->mod[AGX_MOD_MASK], i, n = 0, size = 1u << a->log2_size;
	float value[4];
	uint32_t bits = 0;

	if (vagx_format_is_packed(a->format)) {
		memcpy(&bits, p, 4);
		n = vagx_format_unpack(a->format, bits, value);
		for (i = 0; i < n; i++)
			tile_load_set_register(a, i, lane,
					       register_from_float(a->value->size, value[i]));
		return;
	}
	for (i = 0; i < 4; i++) {
		if (!(mask >> i & 1))
			continue;
		bits = 0;
		memcpy(&bits, p + i * size, size);
		tile_load_set_register(a, n++, lane, tile_load_component(a, i, bits));
	}
}

/* Loads lane by lane, until one fails */
static void tile_load_each(struct tile_access *a)
{
	uint32_t left;

	vagx_tile_read_lanes(a);
	for (left = a->sg->exec; left; left &= left - 1) {
		unsigned int lane = __builtin_ctz(left), samples = a->samples.v[lane];
		uint8_t *p = vagx_tile_sample_at(a, lane, samples ? __builtin_ctz(samples) : 0);

		if (a->sg->state == SIMDGROUP_FAILED)
			return;
		if (p)
			tile_load_sample(a, lane, p);
	}
}

/* All lanes at once */

/* The number of the lowest sample in a mask, 0 without one; from 4 on they are all the same */
INLINE uint32_t tile_load_first_sample(uint32_t samples)
{
	_Static_assert(VAGX_MAX_SAMPLES == 4, "four samples are told apart");
	return samples & 1 ? 0 : samples & 2 ? 1 : samples & 4 ? 2 : samples & 8 ? 3 :
	       samples ? 4 : 0;
}

/* As tile_load_find(), where lanes load from their own pixels */
static bool tile_load_find_own(const struct tile_access *a, struct lanes *at)
{
	const uint32_t sample = tile_load_first_sample(a->named);

	return sample < a->tile->samples && !(~vagx_tile_find_own(a, sample, at) & a->sg->exec);
}

/*
 * Finds the first sample of each lane, in a tile that is whole. @at: its offset in the tile's
 * memory. Return: whether all active lanes have one.
 */
CLONES static bool tile_load_find(const struct tile_access *a, struct lanes *at)
{
	const uint32_t width = a->tile->width, height = a->tile->height;
	const uint32_t count = a->tile->samples, stride = a->stride, offset = a->offset;
	uint32_t missing = 0;
	unsigned int i;

	for (i = 0; i < LANES; i++) {
		const uint32_t x = a->x.v[i], y = a->y.v[i];
		const uint32_t sample = tile_load_first_sample(a->samples.v[i]);
		const bool is_there = x < width && y < height && sample < count;
		const uint32_t pixel = y * width + x;

		at->v[i] = is_there ? (pixel * count + sample) * stride + offset : 0;
		missing |= is_there ? 0 : lane_bits.v[i];
	}
	return !(missing & a->sg->exec);
}

/* Gathers the words that are @offset bytes behind the samples; reads up to VAGX_TILE_SLACK */
static void tile_load_words(const struct tile_access *a, const struct lanes *at,
			    unsigned int offset, struct lanes *word)
{
	const uint8_t *memory = a->tile->memory + offset;
	unsigned int i;

	for (i = 0; i < LANES; i++)
		memcpy(&word->v[i], memory + at->v[i], 4);
}

/* Cuts an element of @bits bits out of words */
INLINE void tile_load_cut(const struct lanes *word, unsigned int shift, unsigned int bits,
			  struct lanes *element)
{
	const uint32_t mask = bits == 32 ? ALL_LANES : (1u << bits) - 1;
	unsigned int i;

	for (i = 0; i < LANES; i++)
		element->v[i] = word->v[i] >> shift & mask;
}

/* Writes floats to element @n of the value */
CLONES static void tile_load_set_floats(const struct tile_access *a, unsigned int n,
					const struct float_lanes *value)
{
	struct agx_operand one;
	struct lanes bits;
	unsigned int i;

	if (!tile_load_find_register(a, n, &one))
		return;
	for (i = 0; one.size == 16 && i < LANES; i++)
		bits.v[i] = register_from_float(16, value->v[i]);
	for (i = 0; one.size != 16 && i < LANES; i++)
		bits.v[i] = register_from_float(32, value->v[i]);
	write_lanes(a->sg, &one, bits.v);
}

/* Writes elements that are no scaled numbers; halves become floats in registers of 32 bits */
CLONES static void tile_load_set_bits(const struct tile_access *a, unsigned int n,
				      struct lanes *bits)
{
	struct agx_operand one;
	unsigned int i;

	if (!tile_load_find_register(a, n, &one))
		return;
	if (a->format == AGX_FORMAT_F16 && one.size == 32) {
		for (i = 0; i < LANES; i++)
			bits->v[i] = float_bits(float_from_half(bits->v[i]));
	}
	write_lanes(a->sg, &one, bits->v);
}

/* Cuts component @i out of the words that have it, and writes it to element @n of the value */
CLONES static void tile_load_convert(const struct tile_access *a, unsigned int i, unsigned int n,
				     const struct lanes *word)
{
	const unsigned int bits = 8u << a->log2_size;
	struct float_lanes value;
	struct lanes element;

	tile_load_cut(word, i * bits % 32, bits, &element);
	if (a->is_scaled) {
		vagx_format_to_floats(a->format, i, &element, &value);
		tile_load_set_floats(a, n, &value);
	} else {
		tile_load_set_bits(a, n, &element);
	}
}

/* Converts the bytes of words to the components of a mask, in one loop each */
CLONES static void tile_load_unorm8(const struct tile_access *a, const struct lanes *word,
				    unsigned int mask)
{
	struct agx_operand one;
	struct lanes bits;
	unsigned int n, i;

	for (n = 0; mask; n++, mask &= mask - 1) {
		const unsigned int shift = 8 * (unsigned int)__builtin_ctz(mask);

		if (!tile_load_find_register(a, n, &one))
			return;
		for (i = 0; i < LANES; i++)
			bits.v[i] = float_bits(vagx_format_unorm8_to_float(word->v[i] >> shift &
									   0xff));
		/* These are neither denormal nor NaN, which registers do not hold. */
		for (i = 0; one.size == 16 && i < LANES; i++)
			bits.v[i] = half_from_float(bits_float(bits.v[i]));
		write_lanes(a->sg, &one, bits.v);
	}
}

static void tile_load_packed(const struct tile_access *a, const struct lanes *at)
{
	struct float_lanes value[4];
	unsigned int lane, i, n = 0;
	struct lanes word;

	tile_load_words(a, at, 0, &word);
	for (lane = 0; lane < LANES; lane++) {
		float numbers[4];

		n = vagx_format_unpack(a->format, word.v[lane], numbers);
		for (i = 0; i < n; i++)
			value[i].v[lane] = numbers[i];
	}
	for (i = 0; i < n; i++)
		tile_load_set_floats(a, i, &value[i]);
}

static void tile_load_lanes(const struct tile_access *a, const struct lanes *at)
{
	const unsigned int mask = a->op->mod[AGX_MOD_MASK];
	unsigned int i, n = 0, has = ~0u;
	struct lanes word;

	if (a->format == AGX_FORMAT_U8NORM) {
		tile_load_words(a, at, 0, &word);
		tile_load_unorm8(a, &word, mask);
		return;
	}
	for (i = 0; i < 4; i++) {
		const unsigned int offset = (i << a->log2_size) & ~3u;

		if (!(mask >> i & 1))
			continue;
		if (offset != has)
			tile_load_words(a, at, offset, &word);
		has = offset;
		tile_load_convert(a, i, n++, &word);
	}
}

/* Loads from the first of the samples that are named */
void vagx_exec_ld_tile(struct simdgroup *sg, const struct op *op)
{
	struct tile_access a;
	struct lanes at;
	bool found;

	if (vagx_tile_load_unorm8(sg, op) || !vagx_tile_begin(&a, sg, op, &op->dst, &op->src[0]))
		return;
	a.bytes = vagx_tile_part_bytes(&a, op->mod[AGX_MOD_MASK]);
	found = vagx_tile_is_whole(&a) &&
		(a.is_own ? tile_load_find_own(&a, &at) : tile_load_find(&a, &at));
	if (!found)
		tile_load_each(&a);
	else if (vagx_format_is_packed(a.format))
		tile_load_packed(&a, &at);
	else
		tile_load_lanes(&a, &at);
}
