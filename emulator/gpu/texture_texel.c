// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Texels: where they are in memory, and what they are there.
 */
#include <errno.h>

#include "gpu/texture.h"

/* Bytes that processors fetch together */
#define CACHE_LINE	64
/* Texels whose block has no known code */
#define UNKNOWN_BYTE	0xa5

/* Return: whether the codes of a texel's block could be read */
static bool texture_texel_read_codes(struct texture *t, const struct agx_texel *at)
{
	/* The smallest blocks, of four samples a texel, have 8 by 8 texels. */
	const struct agx_texel corner = {
		.x = at->x & ~7u, .y = at->y & ~7u, .layer = at->layer, .level = at->level,
	};
	const uint64_t key = texture_square_key(&corner);
	const void *codes;

	if (key == t->codes_key)
		return true;
	codes = vagx_texture_client(t, vagx_image_metadata(t->image, at), sizeof(t->codes),
				    VAGX_READ);
	if (!codes)
		return false;
	memcpy(t->codes, codes, sizeof(t->codes));
	t->codes_key = key;
	return true;
}

/*
 * Codes that mean nothing were written by nobody. Mesa makes compressed textures in memory
 * that something else has used, and loads tiles of them that it is about to draw over: what
 * is read is undefined, and no fault. Return: whether codes, if there are any, could be read
 */
static bool texture_texel_find_in_block(struct texture *t, struct agx_texel *at, bool *is_known)
{
	*is_known = true;
	if (!vagx_image_has_metadata(t->image, at->level))
		return true;
	if (!texture_texel_read_codes(t, at))
		return false;
	*is_known = agx_layout_find_in_block(&t->image->layout, t->codes, at);
	return true;
}

/*
 * A sparse image: in the place of its address is that of a table of pages. Return: NULL
 * for one that is not there, or if the job has failed.
 */
static const void *texture_texel_find_page(struct texture *t, uint64_t offset)
{
	const uint64_t entry = t->image->address + agx_layout_page(&t->image->layout, offset);
	struct agx_sparse_block page;
	struct agx_error error;
	const void *bytes = vagx_texture_client(t, entry, 4, VAGX_READ);

	if (!bytes)
		return NULL;
	if (agx_packet_unpack(AGX_PACKET_sparse_block, bytes, &page, &error)) {
		vagx_core_fail(t->sg, t->op, -EILSEQ, "%s: %s: %s", error.packet, error.field,
			       error.text);
		return NULL;
	}
	if (!page.enabled) {
		t->missing = true;
		return NULL;
	}
	return vagx_texture_client(t, page.address + offset % AGX_LAYOUT_PAGE,
				   t->image->layout.element_bytes, VAGX_READ);
}

static const void *texture_texel_find_texel(struct texture *t, const struct agx_texel *at)
{
	if (t->image->sparse)
		return texture_texel_find_page(t, agx_layout_offset(&t->image->layout, at));
	return vagx_texture_client(t, vagx_image_address(t->image, at),
				   t->image->layout.element_bytes, VAGX_READ);
}

/* Return: false if it is in no memory; what is in no page is 0 */
static bool texture_texel_read_bits(struct texture *t, struct agx_texel *at,
				    uint8_t bits[VAGX_IMAGE_MAX_BYTES])
{
	const void *p;
	bool is_known;

	memset(bits, 0, VAGX_IMAGE_MAX_BYTES);
	if (!texture_texel_find_in_block(t, at, &is_known))
		return false;
	if (!is_known) {
		/* neither what the memory has nor what a test would expect */
		memset(bits, UNKNOWN_BYTE, t->image->layout.element_bytes);
		return true;
	}
	p = texture_texel_find_texel(t, at);
	if (p)
		memcpy(bits, p, t->image->layout.element_bytes);
	return p || t->image->sparse;
}

bool vagx_texture_read_texel(struct texture *t, const struct agx_texel *texel, texel_bits *value)
{
	struct agx_texel at = *texel;
	uint8_t bits[VAGX_IMAGE_MAX_BYTES];
	uint32_t words[4];

	if (!texture_texel_read_bits(t, &at, bits))
		return false;
	vagx_image_decode(t->image, &at, bits, words);
	memcpy(value, words, sizeof(words));
	return true;
}

static bool texture_texel_read_bytes(struct texture *t, const struct agx_texel *texel,
				     uint32_t *bytes)
{
	struct agx_texel at = *texel;
	uint8_t bits[VAGX_IMAGE_MAX_BYTES];

	if (!texture_texel_read_bits(t, &at, bits))
		return false;
	memcpy(bytes, bits, sizeof(*bytes));
	vagx_image_see_bytes(t->image, bytes, 1);
	return true;
}

/* A block of compression is raw, as all are of a level that has no codes */
static bool texture_texel_is_raw(struct texture *t, const struct agx_texel *texel)
{
	const struct agx_layout *layout = &t->image->layout;
	struct agx_texel at = *texel;

	if (!vagx_image_has_metadata(t->image, texel->level))
		return true;
	return texture_texel_read_codes(t, texel) && t->codes[0] == agx_layout_raw_code(layout) &&
	       agx_layout_find_in_block(layout, t->codes, &at);
}

/*
 * The square that a texel is in, if its texels lie one after the other in one page. Return:
 * NULL if they do not, or cannot be read: those that a shader asks for are read one by one
 * then.
 */
static const uint8_t *texture_texel_find_square(struct texture *t, const struct agx_texel *texel)
{
	const struct agx_layout *layout = &t->image->layout;
	const size_t bytes = (size_t)TEXTURE_SQUARE * layout->element_bytes;
	struct agx_texel corner = *texel;
	struct vagx_uat_fault fault;
	uint64_t va;

	corner.x -= corner.x % TEXTURE_SIDE;
	corner.y -= corner.y % TEXTURE_SIDE;
	if (!agx_layout_is_square(layout, corner.level, TEXTURE_SIDE) ||
	    !texture_texel_is_raw(t, &corner))
		return NULL;
	va = vagx_image_address(t->image, &corner);
	if ((va & VAGX_UAT_PAGE_MASK) + bytes > VAGX_UAT_PAGE_SIZE)
		return NULL;
	return vagx_tlb_ptr(t->sg->core->config.tlb, va, bytes, VAGX_READ, &fault);
}

/* Nobody asks for texels beyond the image's edge */
static void texture_texel_read_square(struct texture *t, unsigned int place, const uint8_t *square)
{
	/* bits of x and y in turn, x first: where rows begin; pairs of a row are together */
	static const uint8_t rows[TEXTURE_SIDE] = { 0, 2, 8, 10, 32, 34, 40, 42 };
	uint32_t *bytes = t->cache->bytes[place];
	const size_t texel_bytes = sizeof(*bytes), pair = 2 * texel_bytes;
	unsigned int y;

	for (y = 0; y < TEXTURE_SIDE; y++) {
		const uint8_t *row = square + rows[y] * texel_bytes;
		uint32_t *to = &bytes[y * TEXTURE_SIDE];

		memcpy(to, row, pair);
		memcpy(to + 2, row + 4 * texel_bytes, pair);
		memcpy(to + 4, row + 16 * texel_bytes, pair);
		memcpy(to + 6, row + 20 * texel_bytes, pair);
	}
	vagx_image_see_bytes(t->image, bytes, TEXTURE_SQUARE);
	t->cache->byte_square[place].there = ~0ULL;
}

bool vagx_texture_expect(struct texture *t, const struct agx_texel *at,
			 struct texture_expected *expected)
{
	const unsigned int place = texture_place(t, at) % TEXTURE_BYTE_SQUARES;
	struct texture_square *square = &t->cache->byte_square[place];
	const uint64_t key = texture_square_key(at);
	const uint8_t *bytes;
	unsigned int i;

	if (texture_is_square(t, square, key))
		return false;
	bytes = texture_texel_find_square(t, at);
	if (!bytes)
		return false;
	for (i = 0; i < TEXTURE_SQUARE * sizeof(uint32_t); i += CACHE_LINE)
		__builtin_prefetch(bytes + i);
	*square = (struct texture_square){ .key = key, .tag = t->tag };
	*expected = (struct texture_expected){ .bytes = bytes, .place = place };
	return true;
}

/* In the order in which they were expected, so that the last one stays of those of a place */
void vagx_texture_read_expected(struct texture *t, const struct texture_expected *expected)
{
	texture_texel_read_square(t, expected->place, expected->bytes);
}

/* Return: whether it is another one; now it is the one to be filled */
static bool texture_texel_change_square(const struct texture *t, struct texture_square *square,
					const struct agx_texel *at)
{
	const uint64_t key = texture_square_key(at);

	if (texture_is_square(t, square, key))
		return false;
	*square = (struct texture_square){ .key = key, .tag = t->tag };
	return true;
}

const uint32_t *vagx_texture_read_bytes(struct texture *t, const struct agx_texel *at)
{
	const unsigned int place = texture_place(t, at) % TEXTURE_BYTE_SQUARES;
	const unsigned int in = texture_in_square(at->x, at->y);
	struct texture_square *square = &t->cache->byte_square[place];
	uint32_t *bytes = t->cache->bytes[place];
	const uint8_t *whole;

	if (texture_texel_change_square(t, square, at)) {
		whole = texture_texel_find_square(t, at);
		if (whole)
			texture_texel_read_square(t, place, whole);
	}
	if (!(square->there >> in & 1)) {
		if (!texture_texel_read_bytes(t, at, &bytes[in]))
			return NULL;
		square->there |= 1ULL << in;
	}
	return &bytes[in];
}

const texel_bits *vagx_texture_read_values(struct texture *t, const struct agx_texel *at)
{
	const unsigned int place = texture_place(t, at) % TEXTURE_SQUARES;
	const unsigned int in = texture_in_square(at->x, at->y);
	struct texture_square *square = &t->cache->square[place];
	texel_bits *texel = t->cache->texel[place];

	texture_texel_change_square(t, square, at);
	if (!(square->there >> in & 1)) {
		if (!vagx_texture_read_texel(t, at, &texel[in]))
			return NULL;
		square->there |= 1ULL << in;
	}
	return &texel[in];
}
