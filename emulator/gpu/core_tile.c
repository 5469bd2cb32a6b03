// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Tiles: what shaders load from them and store to them, and how they are
 * written to images. (applegpu "applegpu.py", ld_tile, st_tile)
 */
#include <errno.h>

#include "core_float.h"
#include "core_internal.h"
#include "gpu/format.h"
#include "gpu/image.h"
#include "gpu/stage.h"

/* Of rendering, or of a compute shader; NULL if there is none */
static const struct vagx_tile *find_tile(const struct simdgroup *sg)
{
	const struct vagx_core *core = sg->core;

	if (core->tile)
		return core->tile;
	return core->shared_tile.memory ? &core->shared_tile : NULL;
}

/* A compute shader has what it asked for */
static uint64_t tile_bytes(const struct simdgroup *sg)
{
	return sg->core->tile ? VAGX_TILE_BYTES : sg->core->launch->shared_size;
}

/* An access of one instruction by all of its threads */
struct tile_access {
	struct simdgroup *sg;
	const struct op *op;
	const struct vagx_tile *tile;
	/* of the tile's memory */
	uint64_t limit;
	/* of a sample, and the bytes of it that are reached */
	uint32_t stride, offset, bytes;
	const struct agx_operand *value;
	unsigned int format;
	unsigned int log2_size;
	/* components are numbers, scaled */
	bool is_scaled;
	struct lanes x, y;
	struct lanes samples;
};

/* Pixels from the corner of the tile; a fragment's own unless they are named */
static bool begin(struct tile_access *a, const struct agx_operand *at,
		  const struct agx_operand *samples)
{
	const struct vagx_tile *tile = a->tile = find_tile(a->sg);
	const struct vagx_fragments *f = a->sg->core->fragments;
	struct agx_operand second = *at;
	struct lanes tmp;
	float unused;
	unsigned int i;

	a->is_scaled = vagx_format_to_float(a->format, 0, 0, &unused);
	if (!tile) {
		vagx_core_fail(a->sg, a->op, -EILSEQ, "outside of a tile");
		return false;
	}
	a->limit = tile_bytes(a->sg);
	a->stride = a->sg->core->launch->sample_stride;
	a->offset = a->op->mod[AGX_MOD_OFFSET];
	second.value++;
	memcpy(&a->samples, read_lanes(a->sg, samples, &tmp), sizeof(a->samples));
	if (at->type == AGX_OPERAND_REG) {
		memcpy(&a->x, read_lanes(a->sg, at, &tmp), sizeof(a->x));
		memcpy(&a->y, read_lanes(a->sg, &second, &tmp), sizeof(a->y));
		return true;
	}
	for (i = 0; i < LANES; i++) {
		a->x.v[i] = f ? f->x[i] - tile->x : 0;
		a->y.v[i] = f ? f->y[i] - tile->y : 0;
	}
	return true;
}

/* Where a sample's part is; NULL if it is not in the tile */
static uint8_t *sample_at(struct tile_access *a, unsigned int lane, unsigned int sample)
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

/* Bytes that components of a mask reach */
static unsigned int part_bytes(const struct tile_access *a, unsigned int mask)
{
	if (vagx_format_is_packed(a->format))
		return 4;
	return mask ? (32 - __builtin_clz(mask)) << a->log2_size : 0;
}

/*
 * Mesa's kernels that copy images store four components whatever a sample has
 * room for (src/asahi/vulkan/hk_cmd_meta.c): those behind its end are dropped,
 * or a pixel would lose what its neighbour stored. Fragment shaders store what
 * they mean.
 */
static unsigned int stored_mask(const struct tile_access *a)
{
	uint32_t stride = a->sg->core->launch->sample_stride;
	uint32_t offset = a->op->mod[AGX_MOD_OFFSET];
	unsigned int mask = a->op->mod[AGX_MOD_MASK], room;

	if (a->sg->core->tile || vagx_format_is_packed(a->format) || offset >= stride)
		return mask;
	room = (stride - offset) >> a->log2_size;
	return room < 4 ? mask & ((1u << room) - 1) : mask;
}

static bool has_register(const struct tile_access *a, const struct agx_operand *o)
{
	return (unsigned int)o->value < a->sg->core->register_halves;
}

/* Number @n of the registers with the value */
static void get_register(const struct tile_access *a, unsigned int n, struct lanes *bits)
{
	struct agx_operand one = *a->value;
	const uint32_t *value;
	struct lanes tmp;

	one.value += n * (one.size / 16);
	one.sign_extend = false;
	value = has_register(a, &one) ? read_lanes(a->sg, &one, &tmp) : splat(&tmp, 0);
	memcpy(bits, value, sizeof(*bits));
}

static void set_register(struct tile_access *a, unsigned int n, unsigned int lane, uint32_t bits)
{
	unsigned int half = a->value->value + n * (a->value->size / 16), shift = half % 2 * 16;
	uint32_t *reg;

	if (half >= a->sg->core->register_halves)
		return;
	reg = &a->sg->reg[half / 2].v[lane];
	if (a->value->size == 16)
		*reg = (*reg & ~(0xffffu << shift)) | (bits & 0xffff) << shift;
	else
		*reg = bits;
}

/* A component's bits in the tile, from a register and to one */

static uint32_t component_load(const struct tile_access *a, unsigned int i, uint32_t bits)
{
	float value;

	if (vagx_format_to_float(a->format, i, bits, &value))
		return register_from_float(a->value->size, value);
	if (a->format == AGX_FORMAT_F16 && a->value->size == 32)
		return float_bits(float_from_half(bits));
	return bits;
}

CLONES static void read_floats(unsigned int size, const struct lanes *bits,
			       struct float_lanes *value)
{
	unsigned int i;

	for (i = 0; size == 16 && i < LANES; i++)
		value->v[i] = float_from_register(16, bits->v[i]);
	for (i = 0; size != 16 && i < LANES; i++)
		value->v[i] = float_from_register(32, bits->v[i]);
}

static bool all_the_same(const struct lanes *bits)
{
	uint32_t different = 0;
	unsigned int i;

	for (i = 1; i < LANES; i++)
		different |= bits->v[i] ^ bits->v[0];
	return !different;
}

/* Component @i, which is number @n of the register's, of all lanes */
static void component_store(const struct tile_access *a, unsigned int i, unsigned int n,
			    struct lanes *bits)
{
	struct float_lanes value;
	unsigned int lane;

	get_register(a, n, bits);
	if (a->is_scaled && all_the_same(bits)) {
		/* as in a clear */
		splat(bits, vagx_format_from_float(a->format, i,
						   float_from_register(a->value->size, bits->v[0])));
	} else if (a->is_scaled) {
		read_floats(a->value->size, bits, &value);
		vagx_format_from_floats(a->format, i, &value, bits);
	} else if (a->format == AGX_FORMAT_F16 && a->value->size == 32) {
		for (lane = 0; lane < LANES; lane++)
			bits->v[lane] = half_from_float(bits_float(bits->v[lane]));
	}
}

static void load_sample(struct tile_access *a, unsigned int lane, const uint8_t *p)
{
	unsigned int mask = a->op->mod[AGX_MOD_MASK], i, n = 0, size = 1u << a->log2_size;
	float value[4];
	uint32_t bits = 0;

	if (vagx_format_is_packed(a->format)) {
		memcpy(&bits, p, 4);
		n = vagx_format_unpack(a->format, bits, value);
		for (i = 0; i < n; i++)
			set_register(a, i, lane, register_from_float(a->value->size, value[i]));
		return;
	}
	for (i = 0; i < 4; i++) {
		if (!(mask >> i & 1))
			continue;
		bits = 0;
		memcpy(&bits, p + i * size, size);
		set_register(a, n++, lane, component_load(a, i, bits));
	}
}

/* What is stored: in each lane elements of @bytes, those of @mask */
struct stored {
	struct lanes element[4];
	unsigned int mask, bytes;
};

static void pack_lanes(const struct tile_access *a, struct stored *s)
{
	struct float_lanes component[4];
	unsigned int lane, i;
	struct lanes bits;

	for (i = 0; i < 4; i++) {
		get_register(a, i, &bits);
		read_floats(a->value->size, &bits, &component[i]);
	}
	s->mask = 1;
	s->bytes = 4;
	for (lane = 0; lane < LANES; lane++) {
		float value[4];

		for (i = 0; i < 4; i++)
			value[i] = component[i].v[lane];
		s->element[0].v[lane] = vagx_format_pack(a->format, value);
	}
}

/* Four bytes beside each other are stored as a word */
static void join_bytes(struct stored *s)
{
	unsigned int lane;

	if (s->mask != 15 || s->bytes != 1)
		return;
	s->mask = 1;
	s->bytes = 4;
	for (lane = 0; lane < LANES; lane++)
		s->element[0].v[lane] = (s->element[0].v[lane] & 0xff) |
					(s->element[1].v[lane] & 0xff) << 8 |
					(s->element[2].v[lane] & 0xff) << 16 |
					s->element[3].v[lane] << 24;
}

static void convert_lanes(const struct tile_access *a, struct stored *s)
{
	unsigned int i, n = 0;

	s->mask = stored_mask(a);
	s->bytes = 1u << a->log2_size;
	for (i = 0; i < 4; i++) {
		if (s->mask >> i & 1)
			component_store(a, i, n++, &s->element[i]);
	}
	join_bytes(s);
}

static void store_sample(const struct stored *s, unsigned int lane, uint8_t *p)
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

/* Of the samples that are named, the first one */
void vagx_exec_ld_tile(struct simdgroup *sg, const struct op *op)
{
	struct tile_access a = {
		.sg = sg,
		.op = op,
		.value = &op->dst,
		.format = op->mod[AGX_MOD_FORMAT],
		.log2_size = vagx_format_log2_size(op->mod[AGX_MOD_FORMAT]),
	};
	uint32_t left;

	if (!begin(&a, &op->src[0], &op->src[1]))
		return;
	a.bytes = part_bytes(&a, op->mod[AGX_MOD_MASK]);
	for (left = sg->exec; left; left &= left - 1) {
		unsigned int lane = __builtin_ctz(left), samples = a.samples.v[lane];
		uint8_t *p;

		p = sample_at(&a, lane, samples ? __builtin_ctz(samples) : 0);
		if (sg->state == SIMDGROUP_FAILED)
			return;
		if (p)
			load_sample(&a, lane, p);
	}
}

/* Whether no access to a pixel that is in the tile can fail, and it has one sample */
static bool is_whole(const struct tile_access *a)
{
	const struct vagx_tile *tile = a->tile;

	return tile->samples == 1 && a->offset + a->bytes <= a->stride &&
	       (uint64_t)tile->width * tile->height * a->stride <= a->limit;
}

/*
 * Lanes with something to store in such a tile: the sample is named, not discarded if that
 * matters, and in the tile; and where it is.
 */
CLONES static uint32_t find_pixels(const struct tile_access *a, const struct vagx_fragments *f,
				   struct lanes *at)
{
	const uint32_t width = a->tile->width, height = a->tile->height;
	uint32_t found = 0;
	unsigned int i;

	for (i = 0; i < LANES; i++)
		at->v[i] = (a->y.v[i] * width + a->x.v[i]) * a->stride + a->offset;
	for (i = 0; i < LANES; i++)
		found |= (uint32_t)(a->samples.v[i] & (f ? f->live[i] : 1) & 1 &&
				    a->x.v[i] < width && a->y.v[i] < height) << i;
	return found & a->sg->exec;
}

static void store_pixels(const struct tile_access *a, const struct vagx_fragments *f,
			 const struct stored *s)
{
	struct lanes at;
	uint32_t left;

	for (left = find_pixels(a, f, &at); left; left &= left - 1) {
		unsigned int lane = __builtin_ctz(left);

		store_sample(s, lane, a->tile->memory + at.v[lane]);
	}
}

/* Reaches the samples that are named and not discarded */
void vagx_exec_st_tile(struct simdgroup *sg, const struct op *op)
{
	const struct vagx_fragments *f = op->mod[AGX_MOD_EXPLICIT] ? NULL : sg->core->fragments;
	struct tile_access a = {
		.sg = sg,
		.op = op,
		.value = &op->src[0],
		.format = op->mod[AGX_MOD_FORMAT],
		.log2_size = vagx_format_log2_size(op->mod[AGX_MOD_FORMAT]),
	};
	struct stored stored;
	uint32_t left;

	if (!begin(&a, &op->src[1], &op->src[2]))
		return;
	a.bytes = part_bytes(&a, stored_mask(&a));
	if (vagx_format_is_packed(a.format))
		pack_lanes(&a, &stored);
	else
		convert_lanes(&a, &stored);
	if (is_whole(&a)) {
		store_pixels(&a, f, &stored);
		return;
	}
	for (left = sg->exec; left; left &= left - 1) {
		unsigned int lane = __builtin_ctz(left), samples = a.samples.v[lane], s;

		if (f)
			samples &= f->live[lane];
		for (s = 0; s < a.tile->samples; s++) {
			uint8_t *p = NULL;

			if (samples >> s & 1)
				p = sample_at(&a, lane, s);
			if (sg->state == SIMDGROUP_FAILED)
				return;
			if (p)
				store_sample(&stored, lane, p);
		}
	}
}

/* Tiles to images */

/* More than any tile has */
#define MAX_TILE_WIDTH	64

struct block {
	struct simdgroup *sg;
	const struct op *op;
	struct vagx_image image;
	struct agx_texel texel;
	/* bytes from the beginning of a sample */
	uint32_t offset;
	unsigned int width, height;
	/* what is in the tile is what the image is to have */
	bool is_plain;
	const struct vagx_tile *tile;
	/* bytes from a row's first sample, and from a sample to the next one */
	uint64_t column[MAX_TILE_WIDTH], sample_step;
	/* how many columns are beside each other in memory, from each on */
	unsigned int run[MAX_TILE_WIDTH];
};

static uint8_t *image_ptr(struct block *b, uint64_t va, unsigned int bytes)
{
	struct vagx_core *core = b->sg->core;
	uint8_t *p = vagx_tlb_ptr(core->config.tlb, va, bytes, VAGX_WRITE, &core->fault);

	if (!p)
		vagx_core_fail(b->sg, b->op, -EFAULT, "store of a tile at 0x%llx",
			       (unsigned long long)va);
	return p;
}

/*
 * Where a sample is in an image is a sum, of what its column, its row and its number add:
 * in no layout does one of them matter to another.
 */
static void find_columns(struct block *b)
{
	struct agx_texel at = b->texel;
	uint64_t first = vagx_image_address(&b->image, &at);
	unsigned int x;

	for (x = 0; x < b->width; x++) {
		at.x = b->texel.x + x;
		b->column[x] = vagx_image_address(&b->image, &at) - first;
	}
	b->run[b->width - 1] = 1;
	for (x = b->width - 1; x--; ) {
		bool beside = b->column[x + 1] ==
			      b->column[x] + b->image.layout.element_bytes;

		b->run[x] = beside ? b->run[x + 1] + 1 : 1;
	}
	at = b->texel;
	at.sample = b->image.layout.samples - 1;
	/* samples are beside each other */
	b->sample_step = at.sample ? (vagx_image_address(&b->image, &at) - first) / at.sample : 0;
}

static bool write_sample(struct block *b, const uint8_t *in_tile, uint64_t va)
{
	const unsigned int bytes = b->image.layout.element_bytes;
	uint8_t bits[VAGX_IMAGE_MAX_BYTES];
	uint8_t *p = image_ptr(b, va, bytes);

	if (!p)
		return false;
	if (b->is_plain && bytes == 4) {
		memcpy(p, in_tile, 4);
	} else if (b->is_plain) {
		memcpy(p, in_tile, bytes);
	} else {
		vagx_image_encode(&b->image, b->op->mod[AGX_MOD_FORMAT], in_tile, bits);
		memcpy(p, bits, bytes);
	}
	return true;
}

/* Whether there is nothing to be done but to copy bytes, all of which are in the tile */
static bool is_copy(const struct block *b)
{
	const uint32_t stride = b->sg->core->launch->sample_stride;
	const struct vagx_tile *tile = b->tile;

	return b->is_plain && tile->samples == 1 && b->image.layout.samples == 1 &&
	       (uint64_t)b->offset + b->image.layout.element_bytes <= stride &&
	       (uint64_t)tile->width * tile->height * stride <= tile_bytes(b->sg);
}

/* Samples that are beside each other in the image */
static void copy_run(const struct block *b, uint8_t *to, const uint8_t *from, unsigned int n)
{
	const uint32_t stride = b->sg->core->launch->sample_stride;
	const unsigned int bytes = b->image.layout.element_bytes;
	unsigned int i;

	if (stride == bytes) {
		memcpy(to, from, n * bytes);
		return;
	}
	for (i = 0; i < n && bytes == 4; i++)
		memcpy(to + i * 4, from + i * stride, 4);
	for (i = 0; i < n && bytes != 4; i++)
		memcpy(to + i * bytes, from + i * stride, bytes);
}

/* The same as write_row(), if that is so */
static bool copy_row(struct block *b, unsigned int y, uint64_t va)
{
	const unsigned int bytes = b->image.layout.element_bytes;
	const uint32_t stride = b->sg->core->launch->sample_stride;
	const uint8_t *row = b->tile->memory + (uint64_t)y * b->tile->width * stride + b->offset;
	unsigned int x, n;

	for (x = 0; x < b->width; x += n) {
		uint64_t first = va + b->column[x];
		uint8_t *p;

		n = b->run[x];
		/* One sample is in one page, as it is aligned. */
		if (first / VAGX_UAT_PAGE_SIZE != (first + n * bytes - 1) / VAGX_UAT_PAGE_SIZE)
			n = 1;
		p = image_ptr(b, first, n * bytes);
		if (!p)
			return false;
		copy_run(b, p, row + x * stride, n);
	}
	return true;
}

/* @y: in the block; @va: of its first sample, in the image */
static bool write_row(struct block *b, unsigned int y, uint64_t va)
{
	const struct vagx_tile *tile = b->tile;
	uint32_t stride = b->sg->core->launch->sample_stride;
	uint64_t limit = tile_bytes(b->sg);
	unsigned int x, s;

	for (x = 0; x < b->width; x++) {
		uint64_t at = (uint64_t)(y * tile->width + x) * tile->samples * stride + b->offset;

		for (s = 0; s < b->image.layout.samples; s++, at += stride) {
			if (at >= limit) {
				vagx_core_fail(b->sg, b->op, -ERANGE, "offset %u of a sample",
					       b->offset);
				return false;
			}
			if (!write_sample(b, tile->memory + at,
					  va + b->column[x] + s * b->sample_step))
				return false;
		}
	}
	return true;
}

static bool write_metadata(struct block *b)
{
	uint8_t code = agx_layout_raw_code(&b->image.layout);
	unsigned int x, y, step = b->image.layout.samples > 1 ? 8 : 16;

	if (!vagx_image_has_metadata(&b->image, b->texel.level))
		return true;
	for (y = 0; y < b->height; y += step) {
		for (x = 0; x < b->width; x += step) {
			struct agx_texel at = b->texel;
			uint8_t *p;

			at.x += x;
			at.y += y;
			p = image_ptr(b, vagx_image_metadata(&b->image, &at), 8);
			if (!p)
				return false;
			memset(p, code, 8);
		}
	}
	return true;
}

static void write_block(struct block *b)
{
	const bool copies = is_copy(b);
	struct agx_texel at = b->texel;
	unsigned int y;

	if (b->width)
		find_columns(b);
	for (y = 0; y < b->height && b->width; y++) {
		uint64_t va;

		at.y = b->texel.y + y;
		va = vagx_image_address(&b->image, &at);
		if (!(copies ? copy_row(b, y, va) : write_row(b, y, va)))
			return;
	}
	write_metadata(b);
}

static uint32_t first_lane(struct simdgroup *sg, const struct agx_operand *o, unsigned int n)
{
	struct agx_operand one = *o;
	struct lanes tmp;

	one.value += n * (o->size / 16);
	return read_lanes(sg, &one, &tmp)[sg->exec ? __builtin_ctz(sg->exec) : 0];
}

/* By a constant, or by a register of 16 bits; those of a heap are not there yet */
static const uint8_t *find_state(struct simdgroup *sg, const struct op *op)
{
	const struct agx_operand *heap = &op->src[1], *state = &op->src[2];
	uint32_t index = first_lane(sg, state, 0);

	if (heap->type != AGX_OPERAND_NONE || state->size == 32) {
		vagx_core_fail(sg, op, -EILSEQ, "bindless image");
		return NULL;
	}
	if (index >= VAGX_CORE_TEXTURES) {
		vagx_core_fail(sg, op, -ERANGE, "texture state %u", index);
		return NULL;
	}
	return sg->core->launch->textures[index];
}

static bool is_layered(unsigned int dim)
{
	return dim == AGX_DIM_2D_ARRAY || dim == AGX_DIM_2D_MS_ARRAY;
}

static bool is_flat(unsigned int dim)
{
	return dim == AGX_DIM_2D || dim == AGX_DIM_2D_MS || is_layered(dim);
}

/* The part of a tile that is in the image */
static void clip_block(struct block *b)
{
	const struct vagx_tile *tile = find_tile(b->sg);
	const struct agx_layout_level *level = &b->image.layout.level[b->texel.level];
	uint32_t w = level->width, h = level->height;

	b->width = b->texel.x < w ? w - b->texel.x : 0;
	b->height = b->texel.y < h ? h - b->texel.y : 0;
	if (b->width > tile->width)
		b->width = tile->width;
	if (b->height > tile->height)
		b->height = tile->height;
	if (b->texel.layer >= b->image.layout.layers)
		b->width = 0;
}

/*
 * Without a place there is one word. The layer is where texture instructions have it:
 * with samples in the upper half, else in the lower one, and the rest is anything.
 */
static uint32_t block_layer(struct simdgroup *sg, const struct op *op)
{
	uint32_t word;

	if (op->mod[AGX_MOD_EXPLICIT])
		return first_lane(sg, &op->src[3], 2);
	word = first_lane(sg, &op->src[3], 0);
	return op->mod[AGX_MOD_DIM] == AGX_DIM_2D_MS_ARRAY ? word >> 16 : word & 0xffff;
}

void vagx_exec_image_write_block(struct simdgroup *sg, const struct op *op)
{
	const struct vagx_tile *tile = find_tile(sg);
	struct block b = { .sg = sg, .op = op, .tile = tile };
	const struct agx_operand *coord = &op->src[3];
	const uint8_t *state;
	const char *why;

	if (!tile || !sg->exec) {
		if (!tile)
			vagx_core_fail(sg, op, -EILSEQ, "outside of a tile");
		return;
	}
	state = find_state(sg, op);
	if (!state)
		return;
	if (!vagx_image_from_pbe(&b.image, &b.texel.level, state, &why)) {
		vagx_core_fail(sg, op, -EILSEQ, "PBE: %s is not supported", why);
		return;
	}
	if (b.image.layout.samples != tile->samples && b.image.layout.samples != 1) {
		vagx_core_fail(sg, op, -EILSEQ, "PBE: %u samples of %u", b.image.layout.samples,
			       tile->samples);
		return;
	}
	if (!is_flat(op->mod[AGX_MOD_DIM]) || (!sg->core->tile && !op->mod[AGX_MOD_EXPLICIT])) {
		vagx_core_fail(sg, op, -EILSEQ, "block of dimension %u, %s", op->mod[AGX_MOD_DIM],
			       op->mod[AGX_MOD_EXPLICIT] ? "at a place" : "without a place");
		return;
	}
	b.offset = first_lane(sg, &op->src[0], 0);
	b.texel.x = tile->x;
	b.texel.y = tile->y;
	if (op->mod[AGX_MOD_EXPLICIT]) {
		b.texel.x = first_lane(sg, coord, 0);
		b.texel.y = first_lane(sg, coord, 1);
	}
	if (is_layered(op->mod[AGX_MOD_DIM]))
		b.texel.layer = block_layer(sg, op);
	b.is_plain = vagx_image_is_plain(&b.image, op->mod[AGX_MOD_FORMAT]);
	clip_block(&b);
	write_block(&b);
}
