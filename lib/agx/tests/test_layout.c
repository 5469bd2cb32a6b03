// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Layouts of images: figures that others have found, and what follows from the
 * rules; no two texels in one place; copies there and back.
 *
 * Sources of figures: mesa src/asahi/layout/tests/test-layout.cpp; the same file of
 * GravityLinux' Mesa for miptrees that Apple's driver made; the asahi page of Mesa's
 * documentation for tables of sparse images.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agx_layout.h"
#include "agx_packets.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

/* Rows say only in what they differ from that */
#pragma GCC diagnostic ignored "-Woverride-init"

/* An image of four bytes a texel, if nothing else is said */
#define IMAGE(w, h, ...)							\
	{ .kind = AGX_IMAGE_LAYOUT_GPU, .width = (w), .height = (h), .layers = 1,	\
	  .levels = 1, .samples = 1, .element_bytes = 4, __VA_ARGS__ }
#define BLOCKS(bytes)	.element_bytes = (bytes), .block_width = 4, .block_height = 4

static void test_offsets(void **state)
{
	static const struct {
		struct agx_layout layout;
		uint64_t offset[AGX_LAYOUT_MAX_LEVELS];
		uint32_t tail;
		uint64_t size;
	} rows[] = {
		{ IMAGE(384, 384, .levels = 9),
		  { 0, 0x90000, 0xb4000, 0xc8000, 0xcc000, 0xcd000, 0xcd400, 0xcd500, 0xcd580 },
		  3, 0xcd600 },
		{ IMAGE(128, 128, .levels = 8),
		  { 0, 0x10000, 0x14000, 0x15000, 0x15400, 0x15500, 0x15580, 0x15600 },
		  2, 0x15680 },
		{ IMAGE(994, 950, .levels = 10),
		  { 0, 0x3c0000, 0x4d0000, 0x51c000, 0x530000, 0x534000, 0x535000, 0x535400,
		    0x535500, 0x535580 }, 4, 0x535600 },
		{ IMAGE(1846, 760, .levels = 11),
		  { 0, 0x570000, 0x6e4000, 0x744000, 0x76c000, 0x774000, 0x776000, 0x776800,
		    0x776a00, 0x776a80, 0x776b00 }, 4, 0x776b80 },
		/* 33 by 33 is rounded up once: 64, 32, 16 */
		{ IMAGE(33, 33, .levels = 6),
		  { 0, 0x4000, 0x5000, 0x5400, 0x5500, 0x5580 }, 0, 0x5600 },
		/* three by three tiles of blocks, of which halves are cut off at each level */
		{ IMAGE(257, 300, BLOCKS(16), .levels = 9),
		  { 0, 9 * 16384, 14 * 16384, 15 * 16384 }, 2, 0 },
	};
	unsigned int i, n;

	for (i = 0; i < COUNT(rows); i++) {
		struct agx_layout l = rows[i].layout;

		assert_null(agx_layout_init(&l));
		for (n = 0; n < l.levels && (!n || rows[i].offset[n]); n++)
			assert_int_equal(l.level[n].offset, rows[i].offset[n]);
		assert_int_equal(l.tail, rows[i].tail);
		if (rows[i].size)
			assert_int_equal(l.size, rows[i].size);
	}
}

static void test_sizes(void **state)
{
	static const struct {
		struct agx_layout layout;
		/* of the image: what Mesa asks agx_layout_wants_pages() */
		bool target, written;
		uint64_t layer_stride, size;
		uint32_t folios;
	} rows[] = {
		{ IMAGE(512, 512, .layers = 6), false, false, 0x100000, 0x600000, 1 },
		{ IMAGE(63, 63, .layers = 6, .levels = 6), false, false, 0x8000, 0x30000, 1 },
		{ IMAGE(1024, 1024, .levels = 11), false, false, 0x555680, 0x555680, 2 },
		{ IMAGE(32, 16, .layers = 64, .levels = 6), false, false, 0xc00, 0x30000, 1 },
		{ IMAGE(32, 16, .layers = 64, .levels = 7), false, false, 0xc80, 0x32000, 1 },
		/* who writes counts in pages */
		{ IMAGE(32, 16, .layers = 64, .levels = 6), true, false, 0x4000, 0x100000, 1 },
		{ IMAGE(32, 16, .levels = 6), true, false, 0xc00, 0xc00, 1 },
		{ IMAGE(32, 16, .levels = 6), false, true, 0x4000, 0x4000, 1 },
		/* buffers are lines */
		{ IMAGE(81946, 1, .kind = AGX_IMAGE_LAYOUT_LINEAR, .element_bytes = 1),
		  false, false, 82048, 82048, 1 },
	};
	unsigned int i;

	for (i = 0; i < COUNT(rows); i++) {
		struct agx_layout l = rows[i].layout;

		l.page_aligned = agx_layout_wants_pages(&l, rows[i].target, rows[i].written,
							false);
		if (l.kind == AGX_IMAGE_LAYOUT_LINEAR)
			l.page_aligned = false;
		assert_null(agx_layout_init(&l));
		assert_int_equal(l.layer_stride, rows[i].layer_stride);
		assert_int_equal(l.size, rows[i].size);
		assert_int_equal(l.folios, rows[i].folios);
	}
}

static void test_chain(void **state)
{
	assert_int_equal(agx_layout_chain(1, 1, 1), 1);
	assert_int_equal(agx_layout_chain(32, 16, 64), 7);
	assert_int_equal(agx_layout_chain(16384, 3, 1), AGX_LAYOUT_MAX_LEVELS);
	assert_int_equal(agx_layout_chain(0, 0, 0), 0);
}

/* Tiles have 16 KiB: of a square, or of two beside each other, in Morton order */
static void test_places(void **state)
{
	static const struct {
		struct agx_layout layout;
		struct agx_texel at;
		uint64_t offset;
	} rows[] = {
		{ IMAGE(128, 64), { .x = 1, .y = 0 }, 4 },
		{ IMAGE(128, 64), { .x = 0, .y = 1 }, 8 },
		{ IMAGE(128, 64), { .x = 63, .y = 63 }, 16380 },
		{ IMAGE(128, 64), { .x = 64, .y = 0 }, 16384 },
		{ IMAGE(256, 256, .element_bytes = 2), { .x = 64, .y = 0 }, 8192 },
		{ IMAGE(256, 256, .element_bytes = 2), { .x = 0, .y = 63 }, 0xaaa * 2 },
		{ IMAGE(256, 256, .element_bytes = 2), { .x = 128, .y = 0 }, 16384 },
		{ IMAGE(256, 256, .element_bytes = 2), { .x = 0, .y = 64 }, 2 * 16384 },
		{ IMAGE(256, 256, .element_bytes = 1), { .x = 128, .y = 0 }, 16384 },
		{ IMAGE(256, 256, .element_bytes = 1), { .x = 0, .y = 128 }, 2 * 16384 },
		{ IMAGE(64, 64, .element_bytes = 8), { .x = 0, .y = 32 }, 16384 },
		{ IMAGE(64, 64, .element_bytes = 16), { .x = 0, .y = 32 }, 2 * 16384 },
		{ IMAGE(64, 64, .samples = 4), { .x = 1, .y = 0 }, 16 },
		{ IMAGE(64, 64, .samples = 4), { .x = 0, .y = 0, .sample = 3 }, 12 },
		{ IMAGE(64, 64, .samples = 4), { .x = 32, .y = 0 }, 16384 },
		{ IMAGE(64, 64, .samples = 4, .element_bytes = 16), { .x = 0, .y = 16 }, 4 * 16384 },
		{ IMAGE(64, 64, .samples = 2), { .x = 0, .y = 32 }, 16384 },
		/* small levels: tiles of the lesser side */
		{ IMAGE(128, 64, .levels = 8), { .x = 32, .y = 0, .level = 1 }, 2 * 16384 + 32 * 32 * 4 },
		{ IMAGE(64, 128, .levels = 8), { .x = 0, .y = 32, .level = 1 }, 2 * 16384 + 32 * 32 * 4 },
		{ IMAGE(192, 192, .levels = 8), { .x = 64, .y = 0, .level = 1 }, 10 * 16384 },
		/* blocks: a column of tiles more where halves were cut off */
		{ IMAGE(257, 300, BLOCKS(16), .levels = 9), { .x = 3, .y = 3 }, 0 },
		{ IMAGE(257, 300, BLOCKS(16), .levels = 9), { .x = 4, .y = 0 }, 16 },
		{ IMAGE(257, 300, BLOCKS(16), .levels = 9), { .x = 0, .y = 4 }, 32 },
		{ IMAGE(257, 300, BLOCKS(16), .levels = 9), { .x = 0, .y = 128 }, 3 * 16384 },
		{ IMAGE(257, 300, BLOCKS(16), .levels = 9), { .x = 0, .y = 128, .level = 1 }, 11 * 16384 },
		{ IMAGE(257, 300, BLOCKS(16), .levels = 9), { .x = 0, .y = 0, .level = 3 }, 15 * 16384 },
		{ IMAGE(100, 100, .block_width = 12, .block_height = 10, .element_bytes = 16),
		  { .x = 12, .y = 10 }, 48 },
		/* layers, from level to level and to pages */
		{ IMAGE(8, 8, .layers = 3), { .x = 0, .y = 0, .layer = 2 }, 512 },
		{ IMAGE(8, 8, .layers = 3, .page_aligned = true), { .x = 0, .y = 0, .layer = 2 }, 32768 },
		{ IMAGE(8, 8, .layers = 3, .layer_stride = 1024), { .x = 1, .y = 0, .layer = 2 }, 2052 },
		/* one curve over all, and what is left of the longer side */
		{ IMAGE(64, 16, .kind = AGX_IMAGE_LAYOUT_TWIDDLED), { .x = 15, .y = 15 }, 1020 },
		{ IMAGE(64, 16, .kind = AGX_IMAGE_LAYOUT_TWIDDLED), { .x = 16, .y = 0 }, 1024 },
		{ IMAGE(16, 64, .kind = AGX_IMAGE_LAYOUT_TWIDDLED), { .x = 0, .y = 16 }, 1024 },
		{ IMAGE(64, 64, .kind = AGX_IMAGE_LAYOUT_TWIDDLED, .layers = 2),
		  { .x = 0, .y = 1, .layer = 1 }, 16392 },
		{ IMAGE(200, 64, .kind = AGX_IMAGE_LAYOUT_TWIDDLED), { .x = 128, .y = 0 }, 32768 },
		{ IMAGE(20, 3, .kind = AGX_IMAGE_LAYOUT_LINEAR), { .x = 5, .y = 2 }, 276 },
		{ IMAGE(20, 3, .kind = AGX_IMAGE_LAYOUT_LINEAR, .stride = 80, .layers = 2),
		  { .x = 5, .y = 2, .layer = 1 }, 436 },
	};
	unsigned int i;

	for (i = 0; i < COUNT(rows); i++) {
		struct agx_layout l = rows[i].layout;

		assert_null(agx_layout_init(&l));
		assert_int_equal(agx_layout_offset(&l, &rows[i].at), rows[i].offset);
	}
}

static void test_metadata(void **state)
{
	static const struct {
		struct agx_layout layout;
		struct agx_texel at;
		uint64_t codes, metadata, stride;
		unsigned int levels;
	} rows[] = {
		{ IMAGE(64, 64), { .x = 15, .y = 15 }, 0, 0x4000, 128, 1 },
		{ IMAGE(64, 64), { .x = 16, .y = 0 }, 8, 0x4000, 128, 1 },
		{ IMAGE(64, 64), { .x = 0, .y = 16 }, 16, 0x4000, 128, 1 },
		{ IMAGE(64, 64), { .x = 63, .y = 63 }, 120, 0x4000, 128, 1 },
		/* Morton order up to the lesser side */
		{ IMAGE(128, 32), { .x = 32, .y = 0 }, 32, 0x4000, 128, 1 },
		{ IMAGE(32, 128), { .x = 0, .y = 32 }, 32, 0x4000, 128, 1 },
		/* rounded up: 3 by 3 blocks are 4 by 4 */
		{ IMAGE(33, 33), { .x = 32, .y = 32 }, 96, 0x4000, 128, 1 },
		/* levels of at least a block in one direction: 64 to 16 */
		{ IMAGE(64, 64, .levels = 7), { .x = 0, .y = 0, .level = 1 }, 128, 0x5680, 384, 3 },
		{ IMAGE(64, 64, .levels = 7), { .x = 0, .y = 0, .level = 2 }, 256, 0x5680, 384, 3 },
		{ IMAGE(64, 64, .layers = 2), { .x = 0, .y = 0, .layer = 1 }, 128, 0x8000, 128, 1 },
		/* samples are spread over both directions */
		{ IMAGE(64, 64, .samples = 4), { .x = 8, .y = 0 }, 8, 0x10000, 512, 1 },
		{ IMAGE(64, 64, .samples = 2), { .x = 8, .y = 0 }, 0, 0x8000, 256, 1 },
		{ IMAGE(64, 64, .samples = 2), { .x = 0, .y = 8 }, 16, 0x8000, 256, 1 },
	};
	unsigned int i, n;

	for (i = 0; i < COUNT(rows); i++) {
		struct agx_layout l = rows[i].layout;

		l.compressed = true;
		assert_null(agx_layout_init(&l));
		assert_int_equal(agx_layout_codes(&l, &rows[i].at), rows[i].codes);
		assert_int_equal(l.metadata, rows[i].metadata);
		assert_int_equal(l.metadata_stride, rows[i].stride);
		assert_int_equal(l.size, rows[i].metadata + l.layers * rows[i].stride);
		for (n = 0; n < l.levels; n++)
			assert_int_equal(agx_layout_has_metadata(&l, n), n < rows[i].levels);
	}
}

/* A folio is the table of 256 pages, and as much again */
static void test_sparse(void **state)
{
	struct agx_layout l = IMAGE(2048, 1024, .layers = 3);

	assert_null(agx_layout_init(&l));
	assert_int_equal(l.folios, 2);
	assert_int_equal(agx_layout_page(&l, 0), 0);
	assert_int_equal(agx_layout_page(&l, 16384), 4);
	assert_int_equal(agx_layout_page(&l, 255 * 16384 + 5), 1020);
	assert_int_equal(agx_layout_page(&l, 256 * 16384), 2048);
	assert_int_equal(agx_layout_page(&l, l.layer_stride), 4096);
	assert_int_equal(agx_layout_page(&l, 2 * l.layer_stride + 257 * 16384), 10244);
}

static void test_refused(void **state)
{
	static const struct agx_layout rows[] = {
		IMAGE(4, 4, .kind = AGX_IMAGE_LAYOUT_INTERCHANGE),
		IMAGE(0, 4),
		IMAGE(4, 0),
		IMAGE(4, 4, .layers = 0),
		IMAGE(4, 4, .levels = 0),
		IMAGE(4, 4, .levels = AGX_LAYOUT_MAX_LEVELS + 1),
		IMAGE(16385, 4),
		IMAGE(4, 16385),
		IMAGE(4, 4, .samples = 3),
		IMAGE(4, 4, .samples = 8),
		IMAGE(4, 4, .element_bytes = 0),
		IMAGE(4, 4, .element_bytes = 12),
		IMAGE(4, 4, .element_bytes = 32),
		IMAGE(4, 4, .element_bytes = 32, .samples = 4),
		/* whose samples together are 0 in 32 bits */
		IMAGE(4, 4, .element_bytes = 1u << 30, .samples = 4),
		IMAGE(4, 4, BLOCKS(8), .samples = 2),
		IMAGE(4, 4, BLOCKS(8), .compressed = true),
		IMAGE(4, 4, BLOCKS(8), .kind = AGX_IMAGE_LAYOUT_LINEAR),
		IMAGE(4, 4, .levels = 2, .kind = AGX_IMAGE_LAYOUT_LINEAR),
		IMAGE(4, 4, .samples = 2, .kind = AGX_IMAGE_LAYOUT_LINEAR),
		IMAGE(4, 4, .compressed = true, .kind = AGX_IMAGE_LAYOUT_LINEAR),
	};
	unsigned int i;

	for (i = 0; i < COUNT(rows); i++) {
		struct agx_layout l = rows[i];

		assert_non_null(agx_layout_init(&l));
	}
}

/* All kinds and sizes: what is written comes back, and is where offsets say */

static const struct agx_layout shapes[] = {
	IMAGE(1, 1), IMAGE(2, 1), IMAGE(1, 2), IMAGE(3, 5), IMAGE(16, 16), IMAGE(33, 33),
	IMAGE(64, 64), IMAGE(65, 64), IMAGE(64, 65), IMAGE(100, 7), IMAGE(7, 100),
	IMAGE(129, 130), IMAGE(200, 72), IMAGE(257, 300),
};

static const struct {
	uint32_t bytes, width, height, samples;
} elements[] = {
	{ 1, 1, 1, 1 }, { 2, 1, 1, 1 }, { 4, 1, 1, 1 }, { 8, 1, 1, 1 }, { 16, 1, 1, 1 },
	{ 1, 1, 1, 4 }, { 4, 1, 1, 2 }, { 4, 1, 1, 4 }, { 16, 1, 1, 4 },
	{ 8, 4, 4, 1 }, { 16, 4, 4, 1 }, { 16, 5, 4, 1 }, { 16, 8, 5, 1 }, { 16, 12, 12, 1 },
};

static uint8_t noise(size_t i, unsigned int seed)
{
	uint32_t hash = ((uint32_t)i + seed * 0x1000193u) * 0x9e3779b1u;

	return (hash ^ hash >> 15) >> 5;
}

static struct agx_copy whole(const struct agx_layout *l, uint32_t layer, uint32_t level)
{
	return (struct agx_copy){
		.level = level,
		.layer = layer,
		.width = l->width >> level ? l->width >> level : 1,
		.height = l->height >> level ? l->height >> level : 1,
	};
}

/* Each level and layer gets noise of its own, and all are there when all are written */
static void there_and_back(const struct agx_layout *l)
{
	const size_t pitch = l->level[0].width * l->element_bytes * l->samples + 3;
	const size_t bytes = pitch * l->level[0].height;
	uint8_t *image = calloc(1, l->size), *rows = malloc(bytes), *back = malloc(bytes);
	uint32_t layer, level;
	size_t i, used, y;

	for (layer = 0; layer < l->layers; layer++) {
		for (level = 0; level < l->levels; level++) {
			const struct agx_copy copy = whole(l, layer, level);

			for (i = 0; i < bytes; i++)
				rows[i] = noise(i, layer * 16 + level);
			assert_null(agx_tile(l, &copy, image, l->size, rows, pitch));
		}
	}
	for (layer = 0; layer < l->layers; layer++) {
		for (level = 0; level < l->levels; level++) {
			const struct agx_copy copy = whole(l, layer, level);

			for (i = 0; i < bytes; i++)
				rows[i] = noise(i, layer * 16 + level);
			assert_null(agx_detile(l, &copy, image, l->size, back, pitch));
			used = l->level[level].width * l->element_bytes * l->samples;
			for (y = 0; y < l->level[level].height; y++)
				assert_memory_equal(rows + y * pitch, back + y * pitch, used);
		}
	}
	free(back);
	free(rows);
	free(image);
}

static void test_round_trips(void **state)
{
	unsigned int i, e, variant;

	for (i = 0; i < COUNT(shapes); i++) {
		for (e = 0; e < COUNT(elements); e++) {
			for (variant = 0; variant < 4; variant++) {
				struct agx_layout l = shapes[i];

				l.kind = variant ? AGX_IMAGE_LAYOUT_GPU :
						   AGX_IMAGE_LAYOUT_TWIDDLED;
				l.element_bytes = elements[e].bytes;
				l.block_width = elements[e].width;
				l.block_height = elements[e].height;
				l.samples = elements[e].samples;
				l.layers = variant == 2 ? 3 : 1;
				l.compressed = variant == 3 && l.block_width == 1;
				if (variant < 3)
					l.levels = agx_layout_chain(l.width, l.height, 1);
				assert_null(agx_layout_init(&l));
				there_and_back(&l);
			}
		}
	}
}

/*
 * Levels that are smaller than a block one way have room for codes, but have none; nor
 * have those that only rounding makes as large
 */
static void test_small_levels(void **state)
{
	static const struct {
		struct agx_layout layout;
		unsigned int with_codes, with_room;
	} rows[] = {
		{ IMAGE(65, 32, .levels = 7), 2, 3 },
		{ IMAGE(20, 20, .levels = 5), 1, 2 },
		{ IMAGE(31, 31, .levels = 5), 1, 2 },
		{ IMAGE(32, 17, .levels = 6), 1, 2 },
		{ IMAGE(49, 255, .levels = 8), 2, 5 },
		/* a texel of four samples is two of them wide, and as high */
		{ IMAGE(15, 15, .samples = 4, .levels = 4), 1, 2 },
		{ IMAGE(16, 31, .samples = 2, .levels = 5), 1, 3 },
		/* what a level is by itself: how depths are stored */
		{ IMAGE(10, 10), 0, 1 },
		{ IMAGE(16, 15), 0, 1 },
		{ IMAGE(8, 7, .samples = 4), 0, 1 },
		{ IMAGE(8, 8, .samples = 4), 1, 1 },
	};
	unsigned int i, n;

	for (i = 0; i < COUNT(rows); i++) {
		struct agx_layout l = rows[i].layout;

		l.compressed = true;
		assert_null(agx_layout_init(&l));
		for (n = 0; n < l.levels; n++) {
			assert_int_equal(agx_layout_has_metadata(&l, n), n < rows[i].with_codes);
			assert_int_equal(l.level[n].blocks_wide != 0, n < rows[i].with_room);
		}
	}
}

static void test_parts(void **state)
{
	struct agx_layout l = IMAGE(70, 70, .compressed = true, .levels = 7);
	const uint32_t pixel = 0x12345678, clear = 0xcafebabe;
	struct agx_copy copy = { .x = 20, .y = 33, .width = 1, .height = 1 };
	uint32_t back[70 * 70], i;
	uint8_t *image;

	assert_null(agx_layout_init(&l));
	image = calloc(1, l.size);
	/* cleared as Mesa does it: codes, and colours at the beginning of each block */
	memset(image + l.metadata, agx_layout_solid_code(&l), l.metadata_stride);
	for (i = 0; i < 0x10000; i += 1024)
		memcpy(image + i, &clear, 4);
	assert_string_equal(agx_tile(&l, &copy, image, l.size, &pixel, 4),
			    "part of a compressed block");
	copy = whole(&l, 0, 0);
	assert_null(agx_detile(&l, &copy, image, l.size, back, 280));
	for (i = 0; i < 70 * 70; i++)
		assert_int_equal(back[i], clear);
	/* a whole block, up to the edge, may be written */
	for (i = 0; i < 70 * 70; i++)
		back[i] = i;
	copy = (struct agx_copy){ .x = 64, .y = 48, .width = 6, .height = 16 };
	assert_null(agx_tile(&l, &copy, image, l.size, back, 24));
	copy = (struct agx_copy){ .x = 65, .y = 50, .width = 1, .height = 1 };
	assert_null(agx_tile(&l, &copy, image, l.size, &pixel, 4));
	copy = whole(&l, 0, 0);
	assert_null(agx_detile(&l, &copy, image, l.size, back, 280));
	assert_int_equal(back[48 * 70 + 64], 0);
	assert_int_equal(back[49 * 70 + 69], 11);
	assert_int_equal(back[50 * 70 + 65], pixel);
	assert_int_equal(back[47 * 70 + 64], clear);
	assert_int_equal(back[50 * 70 + 63], clear);
	/* codes that nobody knows */
	image[l.metadata + 3] = 0x42;
	assert_string_equal(agx_detile(&l, &copy, image, l.size, back, 280), "a compressed block");
	free(image);
}

static void test_bad_copies(void **state)
{
	struct agx_layout l = IMAGE(30, 30, BLOCKS(8), .levels = 5);
	static const struct agx_copy copies[] = {
		{ .level = 5, .width = 4, .height = 4 },
		{ .layer = 1, .width = 4, .height = 4 },
		{ .x = 2, .width = 4, .height = 4 },
		{ .y = 2, .width = 4, .height = 4 },
		{ .width = 6, .height = 4 },
		{ .width = 4, .height = 6 },
		{ .x = 32, .width = 4, .height = 4 },
		{ .x = 28, .width = 8, .height = 4 },
		{ .y = 28, .width = 4, .height = 8 },
		{ .width = UINT32_MAX, .height = 4 },
		{ .y = 0xfffffffc, .width = 4, .height = 4 },
	};
	uint8_t image[4096], rows[4096];
	struct agx_copy copy;
	unsigned int i;

	assert_null(agx_layout_init(&l));
	assert_true(l.size <= sizeof(image));
	memset(image, 0x5a, sizeof(image));
	memset(rows, 0, sizeof(rows));
	for (i = 0; i < COUNT(copies); i++)
		assert_non_null(agx_tile(&l, &copies[i], image, l.size, rows, 64));
	copy = whole(&l, 0, 0);
	assert_non_null(agx_tile(&l, &copy, image, l.size - 1, rows, 64));
	assert_non_null(agx_tile(&l, &copy, image, l.size, rows, 63));
	for (i = 0; i < sizeof(image); i++)
		assert_int_equal(image[i], 0x5a);
	assert_null(agx_tile(&l, &copy, image, l.size, rows, 64));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_offsets),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_metadata),
		cmocka_unit_test(test_sparse),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_round_trips),
		cmocka_unit_test(test_small_levels),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_bad_copies),
	};

	return cmocka_run_group_tests_name("layout", tests, NULL, NULL);
}
