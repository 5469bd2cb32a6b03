// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Stores to the tile buffer (applegpu "applegpu.py", st_tile), and what they share with loads
 * (core_tile_load.c): where a pixel's sample is. Stores convert all lanes of a component in one
 * loop, then write sample by sample. A value that all lanes share, as in clears, is converted
 * once. Runs on the thread of the core that executes the instruction; the tile belongs to it.
 */
#include <errno.h>

#include "core_float.h"
#include "core_tile.h"
#include "gpu/format.h"

/* The pixel of each fragment; the first pixel of the tile outside of fragment shaders */
INLINE void tile_find_own(struct tile_access *a)
{
	const struct vagx_fragments *f = a->sg->core->fragments;
	const uint32_t x = a->tile->x, y = a->tile->y;
	unsigned int i;

	if (!f) {
		splat(&a->x, 0);
		splat(&a->y, 0);
		return;
	}
	for (i = 0; i < LANES; i++)
		a->x.v[i] = f->x[i] - x;
	for (i = 0; i < LANES; i++)
		a->y.v[i] = f->y[i] - y;
}

INLINE void tile_copy_operand(const struct simdgroup *sg, const struct agx_operand *o,
			      struct lanes *to)
{
	struct lanes tmp;
	const uint32_t *from = read_lanes(sg, o, &tmp);
	unsigned int i;

	for (i = 0; i < LANES; i++)
		to->v[i] = from[i];
}

/* In a function with clones, so that stores are as wide as the loads of those that read them */
CLONES void vagx_tile_read_lanes(struct tile_access *a)
{
	const struct agx_operand *at = a->at;
	struct agx_operand second = *at;

	tile_copy_operand(a->sg, at + 1, &a->samples);
	if (at->type != AGX_OPERAND_REG) {
		tile_find_own(a);
		return;
	}
	second.value++;
	tile_copy_operand(a->sg, at, &a->x);
	tile_copy_operand(a->sg, &second, &a->y);
}

bool vagx_tile_begin(struct tile_access *a, struct simdgroup *sg, const struct op *op,
		     const struct agx_operand *value, const struct agx_operand *at)
{
	float unused;

	a->sg = sg;
	a->op = op;
	a->tile = find_tile(sg);
	a->value = value;
	a->format = op->mod[AGX_MOD_FORMAT];
	a->log2_size = vagx_format_log2_size(a->format);
	a->is_scaled = vagx_format_to_float(a->format, 0, 0, &unused);
	if (!a->tile) {
		vagx_core_fail(sg, op, -EILSEQ, "outside of a tile");
		return false;
	}
	a->limit = tile_bytes(a->sg);
	a->stride = a->sg->core->launch->sample_stride;
	a->offset = op->mod[AGX_MOD_OFFSET];
	a->at = at;
	a->is_own = at[0].type != AGX_OPERAND_REG && at[1].type != AGX_OPERAND_REG &&
		    sg->core->fragments;
	if (a->is_own)
		a->named = read_scalar(sg, &at[1], at[1].sign_extend);
	else
		vagx_tile_read_lanes(a);
	return true;
}

CLONES uint32_t vagx_tile_find_own(const struct tile_access *a, unsigned int sample,
				   struct lanes *at)
{
	const struct vagx_fragments *f = a->sg->core->fragments;
	const struct vagx_tile *tile = a->tile;
	const uint32_t left = tile->x, top = tile->y, width = tile->width, height = tile->height;
	const uint32_t pixel = tile->samples * a->stride, row = width * pixel;
	const uint32_t first = sample * a->stride + a->offset;
	uint32_t outside = 0;
	unsigned int i;

	for (i = 0; i < LANES; i++) {
		const uint32_t x = f->x[i] - left, y = f->y[i] - top;
		const bool is_inside = (x < width) & (y < height);

		at->v[i] = is_inside ? y * row + x * pixel + first : 0;
		outside |= is_inside ? 0 : lane_bits.v[i];
	}
	return ~outside;
}

uint8_t *vagx_tile_sample_at(struct tile_access *a, unsigned int lane, unsigned int sample)
{
	const struct vagx_tile *tile = a->tile;
	uint32_t x = a->x.v[lane], y = a->y.v[lane];
	uint64_t at;

	if (x >= tile->width || y >= tile->height || sample >= tile->samples)
		return NULL;
	at = ((uint64_t)(y * tile->width + x) * tile->samples + sample) * a->stride + a->offset;
	if (a->offset + a->bytes > a->stride || at + a->bytes > a->limit) {
		vagx_core_fail(a->sg, a->op, -ERANGE,
			       "bytes %u to %u of a sample that has %u", a->offset,
			       a->offset + a->bytes - 1, a->stride);
		return NULL;
	}
	return tile->memory + at;
}

unsigned int vagx_tile_part_bytes(const struct tile_access *a, unsigned int mask)
{
	if (vagx_format_is_packed(a->format))
		return 4;
	return mask ? (32 - __builtin_clz(mask)) << a->log2_size : 0;
}

bool vagx_tile_is_whole(const struct tile_access *a)
{
	const struct vagx_tile *tile = a->tile;

	return a->offset + a->bytes <= a->stride &&
	       (uint64_t)tile->width * tile->height * tile->samples * a->stride <= a->limit;
}

/*
 * Mesa's kernels that copy images store four components whatever a sample has
 * room for (src/asahi/vulkan/hk_cmd_meta.c): those behind its end are dropped,
 * or a pixel would lose what its neighbour stored. Fragment shaders store what
 * they mean.
 */
static unsigned int tile_stored_mask(const struct tile_access *a)
{
	uint32_t stride = a->sg->core->launch->sample_stride;
	uint32_t offset = a->op->mod[AGX_MOD_OFFSET];
	unsigned int mask = a->op->mod[AGX_MOD_MASK], room;

	if (a->sg->core->tile || vagx_format_is_packed(a->format) || offset >= stride)
		return mask;
	room = (stride - offset) >> a->log2_size;
	return room < 4 ? mask & ((1u << room) - 1) : mask;
}

static bool tile_has_register(const struct tile_access *a, const struct agx_operand *o)
{
	return (unsigned int)o->value < a->sg->core->register_halves;
}

/* Register @n of the value, of all lanes */
static inline const uint32_t *tile_find_register(const struct tile_access *a, unsigned int n,
						 struct lanes *tmp)
{
	struct agx_operand one = *a->value;

	one.value += n * (one.size / 16);
	one.sign_extend = false;
	return tile_has_register(a, &one) ? read_lanes(a->sg, &one, tmp) : splat(tmp, 0);
}

/*
 * Copies register @n of all lanes. It has clones because the functions that read the copy have: a
 * vector load of what narrower stores have just written stalls the processor.
 */
CLONES static void tile_get_register(const struct tile_access *a, unsigned int n,
				     struct lanes *bits)
{
	struct lanes tmp;
	const uint32_t *value = tile_find_register(a, n, &tmp);
	unsigned int i;

	for (i = 0; i < LANES; i++)
		bits->v[i] = value[i];
}

/* Converts register @n of all lanes to floats */
CLONES static void tile_get_floats(const struct tile_access *a, unsigned int n,
				   struct float_lanes *value)
{
	const unsigned int size = a->value->size;
	struct lanes tmp;
	const uint32_t *bits = tile_find_register(a, n, &tmp);
	unsigned int i;

	for (i = 0; size == 16 && i < LANES; i++)
		value->v[i] = float_from_register(16, bits[i]);
	for (i = 0; size != 16 && i < LANES; i++)
		value->v[i] = float_from_register(32, bits[i]);
}

/* Converts register @n of the value to component @i, in all lanes */
static void tile_component_store(const struct tile_access *a, unsigned int i, unsigned int n,
				 struct lanes *bits)
{
	struct float_lanes value;
	unsigned int lane;

	if (a->is_scaled) {
		tile_get_floats(a, n, &value);
		vagx_format_from_floats(a->format, i, &value, bits);
		return;
	}
	tile_get_register(a, n, bits);
	if (a->format == AGX_FORMAT_F16 && a->value->size == 32) {
		for (lane = 0; lane < LANES; lane++)
			bits->v[lane] = half_from_float(bits_float(bits->v[lane]));
	}
}

/* Converted values: for each lane four elements of @bytes bytes, of which @mask is stored */
struct stored {
	struct lanes element[4];
	unsigned int mask, bytes;
};

/* Packs the values of all lanes to a packed format */
static void tile_pack_lanes(const struct tile_access *a, struct stored *s)
{
	struct float_lanes component[4];
	unsigned int lane, i;

	for (i = 0; i < 4; i++)
		tile_get_floats(a, i, &component[i]);
	s->mask = 1;
	s->bytes = 4;
	for (lane = 0; lane < LANES; lane++) {
		float value[4];

		for (i = 0; i < 4; i++)
			value[i] = component[i].v[lane];
		s->element[0].v[lane] = vagx_format_pack(a->format, value);
	}
}

/* Joins neighbouring 8-bit and 16-bit elements of the first @lanes lanes to words */
static inline void tile_join(struct stored *s, unsigned int lanes)
{
	struct lanes *e = s->element;
	unsigned int i;

	if (s->mask == 15 && s->bytes == 1) {
		for (i = 0; i < lanes; i++)
			e[0].v[i] = (e[0].v[i] & 0xff) | (e[1].v[i] & 0xff) << 8 |
				    (e[2].v[i] & 0xff) << 16 | e[3].v[i] << 24;
		s->mask = 1;
	} else if (s->mask == 15 && s->bytes == 2) {
		for (i = 0; i < lanes; i++)
			e[0].v[i] = (e[0].v[i] & 0xffff) | e[1].v[i] << 16;
		for (i = 0; i < lanes; i++)
			e[1].v[i] = (e[2].v[i] & 0xffff) | e[3].v[i] << 16;
		s->mask = 3;
	} else {
		return;
	}
	s->bytes = 4;
}

CLONES static void tile_join_elements(struct stored *s)
{
	tile_join(s, LANES);
}

/* Whether all active lanes store the same value, which goes to @first */
CLONES static bool tile_is_same(const struct tile_access *a, unsigned int mask, uint32_t first[4])
{
	uint32_t different = 0;
	unsigned int n, i;

	for (n = 0; mask && !different; n++, mask &= mask - 1) {
		struct lanes tmp;
		const uint32_t *value = tile_find_register(a, n, &tmp);

		for (i = 0; i < LANES; i++)
			different |= value[i] ^ value[0];
		first[n] = value[0];
	}
	return !different;
}

/* Converts one value for all lanes, as a clear stores it */
static void tile_convert_same(const struct tile_access *a, struct stored *s,
			      const uint32_t first[4])
{
	const unsigned int size = a->value->size;
	unsigned int i, n = 0;

	for (i = 0; i < 4; i++) {
		uint32_t bits;

		if (!(s->mask >> i & 1))
			continue;
		bits = first[n++];
		if (a->is_scaled)
			bits = vagx_format_from_float_by_table(a->format, i,
							       float_from_register(size, bits));
		else if (a->format == AGX_FORMAT_F16 && size == 32)
			bits = half_from_float(bits_float(bits));
		s->element[i].v[0] = bits;
	}
	tile_join(s, 1);
	for (i = 0; i < 4; i++) {
		if (s->mask >> i & 1)
			splat(&s->element[i], s->element[i].v[0]);
	}
}

/* Converts the values of all lanes to elements of the tile's format */
static void tile_convert_lanes(const struct tile_access *a, struct stored *s)
{
	unsigned int i, n = 0;
	uint32_t first[4];

	s->mask = tile_stored_mask(a);
	s->bytes = 1u << a->log2_size;
	if (tile_is_same(a, s->mask, first)) {
		tile_convert_same(a, s, first);
		return;
	}
	for (i = 0; i < 4; i++) {
		if (s->mask >> i & 1)
			tile_component_store(a, i, n++, &s->element[i]);
	}
	tile_join_elements(s);
}

static void tile_store_sample(const struct stored *s, unsigned int lane, uint8_t *p)
{
	unsigned int i;

	for (i = 0; i < 4; i++) {
		const uint32_t *bits = &s->element[i].v[lane];

		if (!(s->mask >> i & 1))
			continue;
		if (s->bytes == 4)
			memcpy(p + i * 4, bits, 4);
		else
			memcpy(p + i * s->bytes, bits, s->bytes);
	}
}

/* The lanes in which a sample is not discarded */
CLONES static uint32_t tile_find_live(const struct vagx_fragments *f, unsigned int sample)
{
	uint32_t live = 0;
	unsigned int i;

	for (i = 0; i < LANES; i++)
		live |= f->live[i] >> sample & 1 ? lane_bits.v[i] : 0;
	return live;
}

/* As tile_find_samples(), of lanes that store to their own pixels */
static uint32_t tile_find_own_samples(const struct tile_access *a, const struct vagx_fragments *f,
				      unsigned int sample, struct lanes *at)
{
	uint32_t found;

	if (!(a->named >> sample & 1))
		return 0;
	found = vagx_tile_find_own(a, sample, at) & a->sg->exec;
	return f ? found & tile_find_live(f, sample) : found;
}

/*
 * Finds the lanes that store to a sample, in a tile that is whole: the sample is in their mask,
 * not discarded (of fragments), and in the tile. @at: offsets of the sample in its memory.
 */
CLONES static uint32_t tile_find_samples(const struct tile_access *a,
					 const struct vagx_fragments *f, unsigned int sample,
					 struct lanes *at)
{
	const uint32_t width = a->tile->width, height = a->tile->height;
	const uint32_t pixel = a->tile->samples * a->stride;
	const uint32_t first = sample * a->stride + a->offset;
	struct lanes named;
	uint32_t found = 0;
	unsigned int i;

	for (i = 0; i < LANES; i++)
		at->v[i] = (a->y.v[i] * width + a->x.v[i]) * pixel + first;
	for (i = 0; f && i < LANES; i++)
		named.v[i] = a->samples.v[i] & f->live[i];
	for (i = 0; !f && i < LANES; i++)
		named.v[i] = a->samples.v[i];
	for (i = 0; i < LANES; i++)
		found |= named.v[i] >> sample & 1 && a->x.v[i] < width && a->y.v[i] < height ?
			 lane_bits.v[i] : 0;
	return found & a->sg->exec;
}

static void tile_store_words(uint8_t *memory, const struct lanes *at, const struct lanes *word,
			     uint32_t lanes)
{
	unsigned int i;

	for (i = 0; lanes == ALL_LANES && i < LANES; i++)
		memcpy(memory + at->v[i], &word->v[i], 4);
	for (; lanes != ALL_LANES && lanes; lanes &= lanes - 1) {
		i = __builtin_ctz(lanes);
		memcpy(memory + at->v[i], &word->v[i], 4);
	}
}

static void tile_store_lanes(const struct tile_access *a, const struct stored *s,
			     const struct lanes *at, uint32_t lanes)
{
	if (s->bytes == 4 && s->mask == 1) {
		tile_store_words(a->tile->memory, at, &s->element[0], lanes);
		return;
	}
	for (; lanes; lanes &= lanes - 1) {
		unsigned int lane = __builtin_ctz(lanes);

		tile_store_sample(s, lane, a->tile->memory + at->v[lane]);
	}
}

/* Stores all lanes, sample by sample */
static void tile_store_whole(const struct tile_access *a, const struct vagx_fragments *f,
			     const struct stored *s)
{
	struct lanes at;
	unsigned int i;

	for (i = 0; i < a->tile->samples; i++) {
		uint32_t lanes = a->is_own ? tile_find_own_samples(a, f, i, &at) :
					     tile_find_samples(a, f, i, &at);

		tile_store_lanes(a, s, &at, lanes);
	}
}

/* Stores lane by lane, until one fails */
static void tile_store_each(struct tile_access *a, const struct vagx_fragments *f,
			    const struct stored *stored)
{
	uint32_t left;

	vagx_tile_read_lanes(a);
	for (left = a->sg->exec; left; left &= left - 1) {
		unsigned int lane = __builtin_ctz(left), samples = a->samples.v[lane], s;

		if (f)
			samples &= f->live[lane];
		for (s = 0; s < a->tile->samples; s++) {
			uint8_t *p = NULL;

			if (samples >> s & 1)
				p = vagx_tile_sample_at(a, lane, s);
			if (a->sg->state == SIMDGROUP_FAILED)
				return;
			if (p)
				tile_store_sample(stored, lane, p);
		}
	}
}

/* Stores to the samples that are named and not discarded */
void vagx_exec_st_tile(struct simdgroup *sg, const struct op *op)
{
	const struct vagx_fragments *f = op->mod[AGX_MOD_EXPLICIT] ? NULL : sg->core->fragments;
	struct tile_access a;
	struct stored stored;

	if (vagx_tile_store_unorm8(sg, op) ||
	    !vagx_tile_begin(&a, sg, op, &op->src[0], &op->src[1]))
		return;
	a.bytes = vagx_tile_part_bytes(&a, tile_stored_mask(&a));
	if (vagx_format_is_packed(a.format))
		tile_pack_lanes(&a, &stored);
	else
		tile_convert_lanes(&a, &stored);
	if (vagx_tile_is_whole(&a))
		tile_store_whole(&a, f, &stored);
	else
		tile_store_each(&a, f, &stored);
}

/* Visits components of a sample, if it is in the tile and has them */
static void tile_visit_sample(const struct tile_access *a, unsigned int lane, unsigned int sample,
			      unsigned int mask, vagx_tile_visit_fn *visit, void *ctx)
{
	const struct vagx_tile *tile = a->tile;
	const uint32_t x = a->x.v[lane], y = a->y.v[lane];
	const uint64_t number = ((uint64_t)y * tile->width + x) * tile->samples + sample;
	const uint64_t at = number * a->stride + a->offset;
	unsigned int i;

	if (x >= tile->width || y >= tile->height || sample >= tile->samples ||
	    a->offset + a->bytes > a->stride || at + a->bytes > a->limit)
		return;
	for (i = 0; i < 4; i++) {
		if (mask >> i & 1)
			visit(ctx, lane, at + (i << a->log2_size), 1u << a->log2_size);
	}
}

void vagx_tile_visit(struct simdgroup *sg, const struct op *op, vagx_tile_visit_fn *visit,
		     void *ctx)
{
	const bool is_store = op->opcode == AGX_OP_ST_TILE;
	const struct vagx_fragments *f = is_store && !op->mod[AGX_MOD_EXPLICIT] ?
					 sg->core->fragments : NULL;
	unsigned int mask = op->mod[AGX_MOD_MASK], s;
	struct tile_access a;
	uint32_t left;

	if (!find_tile(sg) || !vagx_tile_begin(&a, sg, op, is_store ? &op->src[0] : &op->dst,
					       &op->src[is_store]))
		return;
	vagx_tile_read_lanes(&a);
	if (vagx_format_is_packed(a.format))
		mask = 1;
	else if (is_store)
		mask = tile_stored_mask(&a);
	a.bytes = vagx_tile_part_bytes(&a, mask);
	for (left = sg->exec; left; left &= left - 1) {
		const unsigned int lane = __builtin_ctz(left);
		const uint32_t named = a.samples.v[lane] & (f ? f->live[lane] : ALL_LANES);

		/* the first one is loaded */
		for (s = 0; is_store && s < a.tile->samples; s++) {
			if (named >> s & 1)
				tile_visit_sample(&a, lane, s, mask, visit, ctx);
		}
		if (!is_store)
			tile_visit_sample(&a, lane, named ? __builtin_ctz(named) : 0, mask, visit,
					  ctx);
	}
}
