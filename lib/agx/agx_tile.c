// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Images: copies into them and out of them.
 */
#include <string.h>

#include "agx_layout.h"

/* A copy while it is made */
struct work {
	const struct agx_layout *l;
	const struct agx_copy *copy;
	/* in elements */
	uint32_t x, y, width, height;
	uint32_t block_w, block_h;
	uint32_t bytes;
};

static const char *begin(struct work *w, size_t bytes, size_t pitch)
{
	const struct agx_layout *l = w->l;
	const struct agx_copy *c = w->copy;
	const struct agx_layout_level *level;

	if (c->level >= l->levels || c->layer >= l->layers)
		return "no such level or layer";
	if (bytes < l->size)
		return "not the whole image";
	level = &l->level[c->level];
	w->block_w = l->block_width ? l->block_width : 1;
	w->block_h = l->block_height ? l->block_height : 1;
	if (c->x % w->block_w || c->y % w->block_h)
		return "part of a block";
	w->x = c->x / w->block_w;
	w->y = c->y / w->block_h;
	w->width = c->width / w->block_w + (c->width % w->block_w != 0);
	w->height = c->height / w->block_h + (c->height % w->block_h != 0);
	if (w->x > level->width || w->width > level->width - w->x || w->y > level->height ||
	    w->height > level->height - w->y)
		return "outside of the image";
	if ((c->width % w->block_w && w->x + w->width != level->width) ||
	    (c->height % w->block_h && w->y + w->height != level->height))
		return "part of a block";
	w->bytes = l->element_bytes * l->samples;
	if (pitch < (size_t)w->width * w->bytes)
		return "rows that overlap";
	return NULL;
}

static struct agx_texel texel_at(const struct work *w, uint32_t x, uint32_t y)
{
	return (struct agx_texel){
		.x = (w->x + x) * w->block_w,
		.y = (w->y + y) * w->block_h,
		.layer = w->copy->layer,
		.level = w->copy->level,
	};
}

static uint64_t codes_at(const struct work *w, uint32_t x, uint32_t y)
{
	const struct agx_texel texel = texel_at(w, x, y);

	return w->l->metadata + agx_layout_codes(w->l, &texel);
}

/* A block of compression in texels */
static void block_size(const struct work *w, uint32_t *width, uint32_t *height)
{
	*width = AGX_LAYOUT_BLOCK >> (w->l->samples == 4);
	*height = AGX_LAYOUT_BLOCK >> (w->l->samples > 1);
}

/* Whether all texels from first to first + count, that are in the image, are copied */
static bool is_covered(uint32_t first, uint32_t side, uint32_t from, uint32_t count,
		       uint32_t size)
{
	uint32_t end = first + side < size ? first + side : size;

	return first >= from && end <= from + count;
}

static bool may_write(const struct work *w, const uint8_t *image, uint32_t x, uint32_t y)
{
	const struct agx_layout_level *level = &w->l->level[w->copy->level];
	const uint8_t *codes = image + codes_at(w, x, y), raw = agx_layout_raw_code(w->l);
	uint32_t width, height, first_x, first_y;
	unsigned int i;

	block_size(w, &width, &height);
	first_x = (w->x + x) / width * width;
	first_y = (w->y + y) / height * height;
	if (is_covered(first_x, width, w->x, w->width, level->width) &&
	    is_covered(first_y, height, w->y, w->height, level->height))
		return true;
	for (i = 0; i < AGX_LAYOUT_CODES; i++) {
		if (codes[i] != raw)
			return false;
	}
	return true;
}

/* All blocks first, then their codes */
static const char *make_raw(const struct work *w, uint8_t *image)
{
	uint32_t x, y;

	if (!agx_layout_has_metadata(w->l, w->copy->level))
		return NULL;
	for (y = 0; y < w->height; y++)
		for (x = 0; x < w->width; x++)
			if (!may_write(w, image, x, y))
				return "part of a compressed block";
	for (y = 0; y < w->height; y++)
		for (x = 0; x < w->width; x++)
			memset(image + codes_at(w, x, y), agx_layout_raw_code(w->l),
			       AGX_LAYOUT_CODES);
	return NULL;
}

const char *agx_tile(const struct agx_layout *layout, const struct agx_copy *copy, void *image,
		     size_t bytes, const void *rows, size_t pitch)
{
	struct work w = { .l = layout, .copy = copy };
	const char *why = begin(&w, bytes, pitch);
	uint32_t x, y;

	if (!why)
		why = make_raw(&w, image);
	for (y = 0; !why && y < w.height; y++) {
		const uint8_t *row = (const uint8_t *)rows + y * pitch;

		for (x = 0; x < w.width; x++) {
			const struct agx_texel texel = texel_at(&w, x, y);

			memcpy((uint8_t *)image + agx_layout_offset(layout, &texel),
			       row + (size_t)x * w.bytes, w.bytes);
		}
	}
	return why;
}

static const char *read_element(const struct work *w, const uint8_t *image, uint32_t x, uint32_t y,
				uint8_t *element)
{
	struct agx_texel texel = texel_at(w, x, y);
	uint32_t sample;

	if (!agx_layout_has_metadata(w->l, texel.level)) {
		memcpy(element, image + agx_layout_offset(w->l, &texel), w->bytes);
		return NULL;
	}
	for (sample = 0; sample < w->l->samples; sample++) {
		struct agx_texel at = texel;

		at.sample = sample;
		if (!agx_layout_find_in_block(w->l, image + codes_at(w, x, y), &at))
			return "a compressed block";
		memcpy(element + sample * w->l->element_bytes,
		       image + agx_layout_offset(w->l, &at), w->l->element_bytes);
	}
	return NULL;
}

const char *agx_detile(const struct agx_layout *layout, const struct agx_copy *copy,
		       const void *image, size_t bytes, void *rows, size_t pitch)
{
	struct work w = { .l = layout, .copy = copy };
	const char *why = begin(&w, bytes, pitch);
	uint32_t x, y;

	for (y = 0; !why && y < w.height; y++)
		for (x = 0; !why && x < w.width; x++)
			why = read_element(&w, image, x, y,
					   (uint8_t *)rows + y * pitch + (size_t)x * w.bytes);
	return why;
}
