// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Single texels of all lanes at once, for loads and writes without a filter: background programs
 * load attachments so, resolves load samples, and compute shaders use storage images so.
 * Addresses are computed in loops over the lanes, then translated where the page changes, then
 * texels are gathered or scattered. Nothing is reported here: where a page or a compression block
 * is not as usual, the instruction is executed lane by lane, and that finds it again. Runs on
 * the thread of the core that executes the instruction.
 */
#include "agx_layout_index.h"
#include "gpu/texture_lanes.h"

/* Bytes of the largest texel, in words */
#define TEXEL_WORDS	(VAGX_IMAGE_MAX_BYTES / 4)

/* Operands */

/* Where the word behind the coordinates has them */
INLINE void texel_lanes_split_word(unsigned int dim, const uint32_t *word, struct texel_lanes *s)
{
	const uint32_t layer_shift = dim == AGX_DIM_2D_MS_ARRAY ? 16 : 0;
	const uint32_t layer_mask = dim == AGX_DIM_2D_MS ? 0 : 0xffff;
	const uint32_t sample_mask = dim == AGX_DIM_2D_MS || dim == AGX_DIM_2D_MS_ARRAY ? 0xffff :
											  0;
	unsigned int i;

	for (i = 0; i < LANES; i++) {
		s->z.v[i] = word[i] >> layer_shift & layer_mask;
		s->sample.v[i] = word[i] & sample_mask;
	}
}

/* Copies element @n of the coordinates, if there is one; else it is 0 */
INLINE void texel_lanes_read_coordinate(struct texture *t, unsigned int n, struct lanes *at)
{
	const unsigned int count = texture_operand_coordinates(t->dim);
	struct lanes tmp;
	const uint32_t *word = n < count ? texture_operand_lanes(t->sg, &t->op->src[3], n, &tmp) :
					   splat(&tmp, 0);
	unsigned int i;

	for (i = 0; i < LANES; i++)
		at->v[i] = word[i];
}

CLONES void vagx_texel_lanes_read(struct texture *t, struct texel_lanes *s)
{
	const unsigned int count = texture_operand_coordinates(t->dim);
	struct lanes tmp;

	texel_lanes_read_coordinate(t, 0, &s->x);
	texel_lanes_read_coordinate(t, 1, &s->y);
	texel_lanes_read_coordinate(t, 2, &s->z);
	splat(&s->sample, 0);
	if (count < 3 && t->dim != AGX_DIM_1D && t->dim != AGX_DIM_2D)
		texel_lanes_split_word(t->dim,
				       texture_operand_lanes(t->sg, &t->op->src[3], count, &tmp),
				       s);
}

CLONES void vagx_texel_lanes_move(struct texel_lanes *s, const uint32_t *offset, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < LANES; i++) {
		s->x.v[i] += (uint32_t)((int32_t)(offset[i] << 28) >> 28);
		s->y.v[i] += count > 1 ? (uint32_t)((int32_t)(offset[i] << 24) >> 28) : 0;
		s->z.v[i] += count > 2 ? (uint32_t)((int32_t)(offset[i] << 20) >> 28) : 0;
	}
}

CLONES uint32_t vagx_texel_lanes_inside(const struct texel_lanes *s, uint32_t width,
					uint32_t height, uint32_t depth)
{
	const uint32_t samples = s->image->layout.samples;
	uint32_t inside = 0;
	unsigned int i;

	for (i = 0; i < LANES; i++) {
		const bool is_inside = (s->x.v[i] < width) & (s->y.v[i] < height) &
				       (s->z.v[i] < depth) & (s->sample.v[i] < samples);

		inside |= is_inside ? lane_bits.v[i] : 0;
	}
	return inside;
}

/* Addresses */

CLONES static void texel_lanes_find_linear(struct texel_lanes *s)
{
	const struct agx_layout *l = &s->image->layout;
	const uint64_t first = s->image->address, layer = l->layer_stride;
	const uint32_t row = l->stride, element = l->element_bytes;
	unsigned int i;

	for (i = 0; i < LANES; i++)
		s->va[i] = first + s->z.v[i] * layer + (uint64_t)s->y.v[i] * row +
			   (uint64_t)s->x.v[i] * element;
}

CLONES static void texel_lanes_find_tiled(struct texel_lanes *s)
{
	const struct agx_layout *l = &s->image->layout;
	const struct agx_layout_level *level = &l->level[s->level];
	const struct agx_layout_tiling tiling = agx_layout_tiling_of(level);
	const uint64_t first = s->image->address + level->offset, layer = l->layer_stride;
	const uint32_t samples = l->samples, element = l->element_bytes;
	struct lanes index;
	unsigned int i;

	for (i = 0; i < LANES; i++)
		index.v[i] = agx_layout_index(tiling, s->x.v[i], s->y.v[i]) * samples +
			     s->sample.v[i];
	for (i = 0; i < LANES; i++)
		s->va[i] = first + s->z.v[i] * layer + (uint64_t)index.v[i] * element;
}

/* The lanes whose texels are in the same compression block as one lane's */
CLONES static uint32_t texel_lanes_in_block(const struct texel_lanes *s, unsigned int lane)
{
	const unsigned int samples = s->image->layout.samples;
	const unsigned int log2_w = AGX_LAYOUT_LOG2_BLOCK - (samples == 4);
	const unsigned int log2_h = AGX_LAYOUT_LOG2_BLOCK - (samples > 1);
	const uint32_t x = s->x.v[lane], y = s->y.v[lane], z = s->z.v[lane];
	uint32_t same = 0;
	unsigned int i;

	for (i = 0; i < LANES; i++) {
		const bool is_same = ((s->x.v[i] ^ x) >> log2_w == 0) &
				     ((s->y.v[i] ^ y) >> log2_h == 0) & (s->z.v[i] == z);

		same |= is_same ? lane_bits.v[i] : 0;
	}
	return same;
}

/*
 * Moves lanes to the texels of their compression blocks that have their values. Return: false if
 * the metadata cannot be read, or does not tell.
 */
static bool texel_lanes_find_in_blocks(struct texture *t, struct texel_lanes *s, uint32_t lanes)
{
	const uint8_t raw = agx_layout_raw_code(&s->image->layout);
	bool is_known;

	while (lanes) {
		const unsigned int lane = __builtin_ctz(lanes);
		struct agx_texel at = {
			.x = s->x.v[lane], .y = s->y.v[lane], .layer = s->z.v[lane],
			.level = s->level, .sample = s->sample.v[lane],
		};

		if (!vagx_texture_find_in_block(t, &at, &is_known) || !is_known)
			return false;
		/* In raw blocks all texels are where they are. */
		lanes &= t->codes[0] == raw ? ~texel_lanes_in_block(s, lane) : lanes - 1;
		s->x.v[lane] = at.x;
		s->y.v[lane] = at.y;
		s->sample.v[lane] = at.sample;
	}
	return true;
}

/* The lanes whose texels are as a whole in the page at an address */
CLONES static uint32_t texel_lanes_in_page(const struct texel_lanes *s, uint64_t page)
{
	const uint64_t last = VAGX_UAT_PAGE_SIZE - s->image->layout.element_bytes;
	uint32_t inside = 0;
	unsigned int i;

	for (i = 0; i < LANES; i++)
		inside |= s->va[i] - page <= last ? lane_bits.v[i] : 0;
	return inside;
}

/* Sets where lanes are in the host's memory */
CLONES static void texel_lanes_set_host(struct texel_lanes *s, uint32_t lanes, uint64_t page,
					uint8_t *host)
{
	unsigned int i;

	for (i = 0; i < LANES; i++)
		s->host[i] = lanes & lane_bits.v[i] ? host + (s->va[i] - page) : s->host[i];
}

/* Translates the addresses of lanes. Return: false if one cannot be reached. */
static bool texel_lanes_translate(struct texture *t, struct texel_lanes *s, uint32_t lanes,
				  enum vagx_access access)
{
	struct vagx_tlb *tlb = t->sg->core->config.tlb;
	struct vagx_uat_fault fault;

	while (lanes) {
		const uint64_t page = s->va[__builtin_ctz(lanes)] & ~VAGX_UAT_PAGE_MASK;
		const uint32_t here = texel_lanes_in_page(s, page) & lanes;
		uint8_t *host = vagx_tlb_ptr(tlb, page, VAGX_UAT_PAGE_SIZE, access, &fault);

		/* A texel that crosses the page's end is not in it. */
		if (!host || !here)
			return false;
		texel_lanes_set_host(s, here, page, host);
		lanes &= ~here;
	}
	return true;
}

bool vagx_texel_lanes_find(struct texture *t, struct texel_lanes *s, uint32_t lanes,
			   enum vagx_access access)
{
	bool is_known = true;

	/* Then there may be no such level, either. */
	if (!lanes)
		return true;
	if (vagx_image_has_metadata(s->image, s->level)) {
		t->speculative = true;
		is_known = texel_lanes_find_in_blocks(t, s, lanes);
		t->speculative = false;
	}
	if (!is_known)
		return false;
	if (s->image->layout.kind == AGX_IMAGE_LAYOUT_LINEAR)
		texel_lanes_find_linear(s);
	else
		texel_lanes_find_tiled(s);
	return texel_lanes_translate(t, s, lanes, access);
}

/* Texels */

/* With a constant size, so that copies become single instructions */
INLINE void texel_lanes_copy_in(const struct texel_lanes *s, uint32_t lanes, unsigned int bytes,
				struct lanes *word)
{
	for (; lanes; lanes &= lanes - 1) {
		const unsigned int lane = __builtin_ctz(lanes);
		uint32_t texel[TEXEL_WORDS] = { 0 };
		unsigned int n;

		memcpy(texel, s->host[lane], bytes);
		for (n = 0; n * 4 < bytes; n++)
			word[n].v[lane] = texel[n];
	}
}

INLINE void texel_lanes_copy_out(const struct texel_lanes *s, uint32_t lanes, unsigned int bytes,
				 const struct lanes *word)
{
	for (; lanes; lanes &= lanes - 1) {
		const unsigned int lane = __builtin_ctz(lanes);
		uint32_t texel[TEXEL_WORDS];
		unsigned int n;

		for (n = 0; n * 4 < bytes; n++)
			texel[n] = word[n].v[lane];
		memcpy(s->host[lane], texel, bytes);
	}
}

/* Calls a function with one of the sizes that texels have */
#define OF_TEXEL_BYTES(bytes, copy, s, lanes, word)				\
	switch (bytes) {							\
	case 1:									\
		copy(s, lanes, 1, word);					\
		break;								\
	case 2:									\
		copy(s, lanes, 2, word);					\
		break;								\
	case 4:									\
		copy(s, lanes, 4, word);					\
		break;								\
	case 8:									\
		copy(s, lanes, 8, word);					\
		break;								\
	default:								\
		copy(s, lanes, 16, word);					\
		break;								\
	}

void vagx_texel_lanes_gather(const struct texel_lanes *s, uint32_t lanes, struct lanes word[4])
{
	unsigned int i;

	for (i = 0; i < TEXEL_WORDS; i++)
		splat(&word[i], 0);
	OF_TEXEL_BYTES(s->image->layout.element_bytes, texel_lanes_copy_in, s, lanes, word)
}

void vagx_texel_lanes_scatter(const struct texel_lanes *s, uint32_t lanes,
			      const struct lanes word[4])
{
	OF_TEXEL_BYTES(s->image->layout.element_bytes, texel_lanes_copy_out, s, lanes, word)
}
