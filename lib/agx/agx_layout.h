/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Images in memory: where a texel is, how much room an image takes, and copies
 * into and out of one. Nothing here keeps state.
 *
 *	struct agx_layout l = {
 *		.kind = AGX_IMAGE_LAYOUT_GPU, .width = 640, .height = 480,
 *		.layers = 1, .levels = 1, .samples = 1, .element_bytes = 4,
 *	};
 *
 *	why = agx_layout_init(&l);
 *	...
 *	why = agx_detile(&l, &(struct agx_copy){ .width = 640, .height = 480 },
 *			 image, l.size, pixels, 640 * 4);
 *
 * An element is what has bytes of its own: the samples of a texel together, or a
 * block of texels of a block-compressed format.
 */
#ifndef AGX_LAYOUT_H
#define AGX_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** AGX_LAYOUT_MAX_SIZE - texels of an image that is not linear, in each direction */
#define AGX_LAYOUT_MAX_SIZE	16384
/** AGX_LAYOUT_MAX_LEVELS - that such a one can have */
#define AGX_LAYOUT_MAX_LEVELS	15
/** AGX_LAYOUT_LINE - bytes to which levels are aligned */
#define AGX_LAYOUT_LINE		128
/** AGX_LAYOUT_PAGE - bytes of a large tile, and to which layers can be aligned */
#define AGX_LAYOUT_PAGE		16384
/** AGX_LAYOUT_FOLIO_PAGES - of a layer of a sparse image, that are together in its table */
#define AGX_LAYOUT_FOLIO_PAGES	256
/** AGX_LAYOUT_FOLIO_BYTES - that these have in the table */
#define AGX_LAYOUT_FOLIO_BYTES	2048
/** AGX_LAYOUT_LOG2_BLOCK - log2 of AGX_LAYOUT_BLOCK */
#define AGX_LAYOUT_LOG2_BLOCK	4
/** AGX_LAYOUT_BLOCK - samples of a block of compression, in each direction */
#define AGX_LAYOUT_BLOCK	(1 << AGX_LAYOUT_LOG2_BLOCK)
/** AGX_LAYOUT_CODES - bytes of metadata that such a block has */
#define AGX_LAYOUT_CODES	8

/** struct agx_texel - a place in an image; of a 3D one, @layer is its third coordinate */
struct agx_texel {
	uint32_t x;
	uint32_t y;
	uint32_t layer;
	uint32_t level;
	uint32_t sample;
};

/** struct agx_layout_level - a level of each layer */
struct agx_layout_level {
	/** @offset: in its layer */
	uint64_t offset;
	/** @bytes: with what it is aligned to */
	uint64_t bytes;
	/** @width: of what the image has of it, in elements */
	uint32_t width;
	/** @height: likewise */
	uint32_t height;
	/** @tile_width: elements of a tile; a power of two */
	uint32_t tile_width;
	/** @tile_height: likewise, and never more than @tile_width */
	uint32_t tile_height;
	/** @tiles_per_row: how many are beside each other */
	uint32_t tiles_per_row;
	/** @metadata: where its metadata begins in that of its layer */
	uint64_t metadata;
	/** @blocks_wide: of compression, a power of two; 0 if it can't be compressed */
	uint32_t blocks_wide;
	/** @blocks_high: likewise */
	uint32_t blocks_high;
	/** @has_codes: blocks can be compressed; decided by agx_layout_init() */
	bool has_codes;
};

/** struct agx_layout - an image: what it is, and what follows from that */
struct agx_layout {
	/** @kind: AGX_IMAGE_LAYOUT_*; interchange is not known */
	unsigned int kind;
	/** @width: texels of the first level */
	uint32_t width;
	/** @height: likewise */
	uint32_t height;
	/** @layers: of an array, faces of cubes, or the depth of a 3D image */
	uint32_t layers;
	/** @levels: that each layer has room for; see agx_layout_chain() */
	uint32_t levels;
	/** @samples: of a texel: 1, 2 or 4 */
	uint32_t samples;
	/** @element_bytes: of a sample, or of a block */
	uint32_t element_bytes;
	/** @block_width: texels of a block; 0 or 1 if it has none */
	uint32_t block_width;
	/** @block_height: likewise */
	uint32_t block_height;
	/** @page_aligned: layers begin at pages; see agx_layout_wants_pages() */
	bool page_aligned;
	/** @compressed: there is metadata, behind the last layer if nothing else is said */
	bool compressed;
	/** @stride: of a linear one, bytes from row to row; found if it is 0 */
	uint32_t stride;
	/** @layer_stride: bytes from layer to layer; found if it is 0 */
	uint64_t layer_stride;
	/** @metadata_stride: the same of the metadata */
	uint64_t metadata_stride;

	/** @level: found, as all below */
	struct agx_layout_level level[AGX_LAYOUT_MAX_LEVELS];
	/** @metadata: where it begins, if it is behind the image */
	uint64_t metadata;
	/** @size: of all, with the metadata */
	uint64_t size;
	/** @tail: the first level that is not made of whole pages */
	uint32_t tail;
	/** @folios: of a layer, in the table of a sparse image */
	uint32_t folios;
};

/**
 * agx_layout_chain() - levels down to one texel
 * @depth: of a 3D image, else 1
 */
uint32_t agx_layout_chain(uint32_t width, uint32_t height, uint32_t depth);

/**
 * agx_layout_wants_pages() - whether Mesa aligns an image's layers to pages
 * @layout: an image, of GPU layout
 * @target: it is rendered to
 * @written: shaders write to it
 * @depth_stencil: it has depths or stencils
 */
bool agx_layout_wants_pages(const struct agx_layout *layout, bool target, bool written,
			    bool depth_stencil);

/**
 * agx_layout_init() - find out what follows
 *
 * Return: NULL, or what is wrong, or not known.
 */
const char *agx_layout_init(struct agx_layout *layout);

/** agx_layout_offset() - where a texel's sample is; it has to be inside of the image */
uint64_t agx_layout_offset(const struct agx_layout *layout, const struct agx_texel *texel);

/**
 * agx_layout_is_morton() - whether aligned blocks of texels are contiguous, in Morton order
 * @layout: image
 * @level: mip level
 * @side: width and height of a block in texels, a power of two
 *
 * Morton order interleaves the bits of x and y, x first. The samples of a texel are together.
 */
bool agx_layout_is_morton(const struct agx_layout *layout, unsigned int level, uint32_t side);

/** agx_layout_has_metadata() - whether blocks of a level can be compressed */
bool agx_layout_has_metadata(const struct agx_layout *layout, unsigned int level);

/** agx_layout_codes() - where the 8 bytes of a texel's block are, in the metadata */
uint64_t agx_layout_codes(const struct agx_layout *layout, const struct agx_texel *texel);

/** agx_layout_raw_code() - of blocks that are not compressed */
uint8_t agx_layout_raw_code(const struct agx_layout *layout);

/** agx_layout_solid_code() - of blocks of one colour */
uint8_t agx_layout_solid_code(const struct agx_layout *layout);

/**
 * agx_layout_find_in_block() - where a texel of a block with metadata is
 * @layout: image
 * @codes: the 8 bytes of the block's metadata
 * @texel: becomes the one that has its value: in a block of one colour the first, and in
 *	one whose codes nobody has written, which are 0, as well
 *
 * Return: false for a block that is compressed in ways that nobody knows.
 */
bool agx_layout_find_in_block(const struct agx_layout *layout, const uint8_t *codes,
			      struct agx_texel *texel);

/** agx_layout_page() - where the table of a sparse image has the page of an offset */
uint64_t agx_layout_page(const struct agx_layout *layout, uint64_t offset);

/**
 * struct agx_copy - part of an image that is copied
 * @level: which one
 * @layer: which one
 * @x: texels, whole blocks
 * @y: likewise
 * @width: texels; what is cut off at the image's edge may be part of a block
 * @height: likewise
 */
struct agx_copy {
	uint32_t level;
	uint32_t layer;
	uint32_t x;
	uint32_t y;
	uint32_t width;
	uint32_t height;
};

/**
 * agx_tile() - write rows of elements into an image
 * @layout: image
 * @copy: which part
 * @image: all of it
 * @bytes: that @image has
 * @rows: elements one after the other, the samples of each together
 * @pitch: bytes from row to row
 *
 * Blocks of compression of which something is written have to be written as a whole,
 * or to be raw: they are raw afterwards.
 *
 * Return: NULL, or what is wrong; nothing has been written then.
 */
const char *agx_tile(const struct agx_layout *layout, const struct agx_copy *copy, void *image,
		     size_t bytes, const void *rows, size_t pitch);

/**
 * agx_detile() - read rows of elements of an image
 *
 * As agx_tile(), the other way round. Blocks of one colour are read as such.
 *
 * Return: NULL, or what is wrong, which can be a compressed block.
 */
const char *agx_detile(const struct agx_layout *layout, const struct agx_copy *copy,
		       const void *image, size_t bytes, void *rows, size_t pitch);

#endif /* AGX_LAYOUT_H */
