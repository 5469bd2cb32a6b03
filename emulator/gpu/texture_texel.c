// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Texels: where they are in memory, and what they are there.
 */
#include <errno.h>

#include "gpu/texture.h"

/* Texels that lie one after the other are read together: squares of so many */
#define SIDE	8u

/* Return: whether the codes of a texel's block could be read */
static bool read_codes(struct texture *t, const struct agx_texel *at)
{
	/* The smallest blocks, of four samples a texel, have 8 by 8 texels. */
	const struct agx_texel corner = {
		.x = at->x & ~7u, .y = at->y & ~7u, .layer = at->layer, .level = at->level,
	};
	const uint64_t key = texture_key(&corner);
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

static bool find_in_block(struct texture *t, struct agx_texel *at)
{
	if (!vagx_image_has_metadata(t->image, at->level))
		return true;
	if (!read_codes(t, at))
		return false;
	if (agx_layout_find_in_block(&t->image->layout, t->codes, at))
		return true;
	vagx_core_fail(t->sg, t->op, -EILSEQ, "compressed block, codes 0x%x to 0x%x", t->codes[0],
		       t->codes[7]);
	return false;
}

/*
 * A sparse image: in the place of its address is that of a table of pages. Return: NULL
 * for one that is not there, or if the job has failed.
 */
static const void *find_page(struct texture *t, uint64_t offset)
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

static const void *find_texel(struct texture *t, const struct agx_texel *at)
{
	if (t->image->sparse)
		return find_page(t, agx_layout_offset(&t->image->layout, at));
	return vagx_texture_client(t, vagx_image_address(t->image, at),
				   t->image->layout.element_bytes, VAGX_READ);
}

static bool read_texel(struct texture *t, struct agx_texel at, texel_bits *value)
{
	uint8_t copy[VAGX_IMAGE_MAX_BYTES] = { 0 };
	uint32_t words[4];
	const void *bits;

	if (!find_in_block(t, &at))
		return false;
	bits = find_texel(t, &at);
	if (!bits && !t->image->sparse)
		return false;
	/* what is in no page is 0 */
	if (bits)
		memcpy(copy, bits, t->image->layout.element_bytes);
	vagx_image_decode(t->image, &at, copy, words);
	memcpy(value, words, sizeof(words));
	return true;
}

/* A block of compression is raw, as all are of a level that has no codes */
static bool is_raw(struct texture *t, const struct agx_texel *texel)
{
	const struct agx_layout *layout = &t->image->layout;
	struct agx_texel at = *texel;

	if (!vagx_image_has_metadata(t->image, texel->level))
		return true;
	return read_codes(t, texel) && t->codes[0] == agx_layout_raw_code(layout) &&
	       agx_layout_find_in_block(layout, t->codes, &at);
}

/*
 * The square at a corner, if its texels lie one after the other in one page. Return: NULL
 * if they do not, or cannot be read: those that a shader asks for are read one by one then.
 */
static const uint8_t *find_square(struct texture *t, const struct agx_texel *corner)
{
	const struct agx_layout *layout = &t->image->layout;
	const size_t bytes = (size_t)SIDE * SIDE * layout->element_bytes;
	struct vagx_uat_fault fault;
	uint64_t va;

	if (!agx_layout_is_square(layout, corner->level, SIDE) || !is_raw(t, corner))
		return NULL;
	va = vagx_image_address(t->image, corner);
	if ((va & VAGX_UAT_PAGE_MASK) + bytes > VAGX_UAT_PAGE_SIZE)
		return NULL;
	return vagx_tlb_ptr(t->sg->core->config.tlb, va, bytes, VAGX_READ, &fault);
}

/* Return: whether a square has been read that has this texel */
static bool read_square(struct texture *t, const struct agx_texel *texel)
{
	struct agx_texel at = *texel;
	texel_bits value[SIDE * SIDE];
	const uint8_t *bytes;
	unsigned int i;

	if (!vagx_image_has_table(t->image))
		return false;
	at.x &= ~(SIDE - 1);
	at.y &= ~(SIDE - 1);
	bytes = find_square(t, &at);
	if (!bytes)
		return false;
	vagx_image_decode_table(t->image, bytes, SIDE * SIDE, (uint32_t (*)[4])value);
	/* bits of x and y in turn, x first; nobody asks for those beyond the image's edge */
	for (i = 0; i < SIDE * SIDE; i++) {
		struct agx_texel one = at;
		struct cached_texel *place;

		one.x += (i & 1) | (i >> 1 & 2) | (i >> 2 & 4);
		one.y += (i >> 1 & 1) | (i >> 2 & 2) | (i >> 3 & 4);
		place = texture_place(t, &one);
		place->value = value[i];
		place->key = texture_key(&one);
		place->tag = t->tag;
	}
	return true;
}

bool vagx_texture_read_value(struct texture *t, const struct agx_texel *at, texel_bits *value)
{
	struct cached_texel *place;

	/* of sparse images none is remembered: each lane is to hear of pages that are missing */
	if (!t->remembers)
		return read_texel(t, *at, value);
	place = texture_place(t, at);
	if (!read_square(t, at)) {
		if (!read_texel(t, *at, &place->value)) {
			place->tag = 0;
			return false;
		}
		place->key = texture_key(at);
		place->tag = t->tag;
	}
	*value = place->value;
	return true;
}
