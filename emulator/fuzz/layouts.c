// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Layouts of images: what is accepted has all its texels inside, and gives back what
 * was put into it. A copy that is refused has written nothing.
 */
#include <string.h>

#include "agx_layout.h"
#include "fuzz.h"

#define MOST	(1u << 20)
#define SIDE	40

struct shape {
	uint16_t width, height, layers;
	uint8_t levels, samples, log2_bytes, kind, block, flags;
	uint8_t x, y, w, h, level, layer;
};

static void describe(const struct shape *shape, struct agx_layout *layout)
{
	*layout = (struct agx_layout){
		.kind = shape->kind,
		.width = shape->width,
		.height = shape->height,
		.layers = shape->layers,
		.levels = shape->levels,
		.samples = shape->samples,
		.element_bytes = shape->log2_bytes < 32 ? 1u << shape->log2_bytes : 3,
		.block_width = shape->block & 15,
		.block_height = shape->block >> 4,
		.page_aligned = shape->flags & 1,
		.compressed = shape->flags & 2,
	};
}

static void there_and_back(const struct agx_layout *layout, const struct shape *shape)
{
	static uint8_t in[SIDE * SIDE * 16], out[SIDE * SIDE * 16];
	struct agx_copy copy = {
		.level = shape->level,
		.layer = shape->layer,
		.x = shape->x,
		.y = shape->y,
		.width = shape->w % SIDE,
		.height = shape->h % SIDE,
	};
	size_t pitch = SIDE * 16, i;
	uint8_t *image = calloc(1, layout->size);
	unsigned int y, columns, rows;

	FUZZ_CHECK(image);
	for (i = 0; i < sizeof(in); i++)
		in[i] = i * 7 + i / 251;
	memset(out, 0, sizeof(out));
	if (agx_tile(layout, &copy, image, layout->size, in, pitch)) {
		for (i = 0; i < layout->size; i++)
			FUZZ_CHECK(!image[i]);
		free(image);
		return;
	}
	FUZZ_CHECK(!agx_detile(layout, &copy, image, layout->size, out, pitch));
	columns = layout->block_width > 1 ? (copy.width + layout->block_width - 1) /
					    layout->block_width : copy.width;
	rows = layout->block_height > 1 ? (copy.height + layout->block_height - 1) /
					  layout->block_height : copy.height;
	for (y = 0; y < rows; y++)
		FUZZ_CHECK(!memcmp(in + y * pitch, out + y * pitch,
				   columns * layout->element_bytes));
	free(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct agx_texel texel = { 0 };
	struct agx_layout layout;
	struct shape shape;

	if (size < sizeof(shape))
		return 0;
	memcpy(&shape, data, sizeof(shape));
	describe(&shape, &layout);
	if (agx_layout_init(&layout))
		return 0;
	texel.level = shape.level % layout.levels;
	texel.layer = shape.layer % layout.layers;
	texel.sample = shape.flags % layout.samples;
	texel.x = shape.x % layout.level[texel.level].width;
	texel.y = shape.y % layout.level[texel.level].height;
	FUZZ_CHECK(agx_layout_offset(&layout, &texel) <= layout.size - layout.element_bytes);
	if (agx_layout_has_metadata(&layout, texel.level))
		FUZZ_CHECK(agx_layout_codes(&layout, &texel) < layout.size);
	if (layout.size <= MOST)
		there_and_back(&layout, &shape);
	return 0;
}
