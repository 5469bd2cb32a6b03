// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Texels in memory: finds a texel's address (Morton order, compression blocks, sparse pages),
 * reads and decodes it, and fills blocks of the texel cache. Compressed blocks are those that
 * metadata codes describe; lib/agx/agx_layout.c knows layouts and codes. Runs on the thread of
 * the core that executes the instruction, on the core's own cache, without locks.
 */
#include <errno.h>

#include "gpu/texture.h"

/* Bytes of a cache line of the host */
#define CACHE_LINE	64
/* Fills texels whose compression block has no known code */
#define UNKNOWN_BYTE	0xa5

/* Reads the metadata codes of a texel's compression block to t->codes. Return: whether it could. */
static bool texture_texel_read_codes(struct texture *t, const struct agx_texel *at)
{
	/* The smallest blocks, of four samples a texel, have 8 by 8 texels. */
	const struct agx_texel first = {
		.x = at->x & ~7u, .y = at->y & ~7u, .layer = at->layer, .level = at->level,
	};
	const uint64_t key = texture_block_key(&first);
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

bool vagx_texture_find_in_block(struct texture *t, struct agx_texel *at, bool *is_known)
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
 * Finds a texel of a sparse image, at an offset in its layout, by the image's table of pages.
 * Return: NULL if the page is not resident, or if the job has failed.
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

/* Reads the bits of a texel; 0 in a page that is not resident. Return: false if it cannot. */
static bool texture_texel_read_bits(struct texture *t, struct agx_texel *at,
				    uint8_t bits[VAGX_IMAGE_MAX_BYTES])
{
	const void *p;
	bool is_known;

	memset(bits, 0, VAGX_IMAGE_MAX_BYTES);
	if (t->image->nothing) {
		vagx_core_fail(t->sg, t->op, -EILSEQ, "Texture: texel of channels 0x%x",
			       t->image->channels);
		return false;
	}
	if (!vagx_texture_find_in_block(t, at, &is_known))
		return false;
	if (!is_known) {
		/* a value that neither the memory has nor a test would expect */
		memset(bits, UNKNOWN_BYTE, t->image->layout.element_bytes);
		return true;
	}
	p = texture_texel_find_texel(t, at);
	if (p)
		memcpy(bits, p, t->image->layout.element_bytes);
	return p || t->image->sparse;
}

void vagx_texture_follow(struct texture *t, const struct agx_texel *at)
{
	if (!t->image->sparse && !t->image->nothing)
		t->sg->core->follow_texel(t->sg, t->op, t->lane, vagx_image_address(t->image, at),
					  t->image->layout.element_bytes, false);
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
	vagx_image_swizzle_bytes(t->image, bytes, 1);
	return true;
}

/* Whether a compression block is stored raw, as all of a level without metadata are */
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
 * Finds the block that a texel is in, if its texels are contiguous in Morton order, in one page.
 * Return: NULL if they are not, or cannot be read: texels are read one by one then.
 */
static const uint8_t *texture_texel_find_block(struct texture *t, const struct agx_texel *texel)
{
	const struct agx_layout *layout = &t->image->layout;
	const size_t bytes = (size_t)TEXTURE_BLOCK_TEXELS * layout->element_bytes;
	struct agx_texel first = *texel;
	struct vagx_uat_fault fault;
	uint64_t va;

	first.x -= first.x % TEXTURE_BLOCK_SIDE;
	first.y -= first.y % TEXTURE_BLOCK_SIDE;
	if (layout->samples > 1 ||
	    !agx_layout_is_morton(layout, first.level, TEXTURE_BLOCK_SIDE) ||
	    !texture_texel_is_raw(t, &first))
		return NULL;
	va = vagx_image_address(t->image, &first);
	if ((va & VAGX_UAT_PAGE_MASK) + bytes > VAGX_UAT_PAGE_SIZE)
		return NULL;
	return vagx_tlb_ptr(t->sg->core->config.tlb, va, bytes, VAGX_READ, &fault);
}

/* Fills a block from its texels in Morton order, also beyond the edge of the image */
static void texture_texel_fill_block(struct texture *t, unsigned int index, const uint8_t *block)
{
	/* the Morton index of the first texel of each row; a row has pairs of texels together */
	static const uint8_t rows[TEXTURE_BLOCK_SIDE] = { 0, 2, 8, 10, 32, 34, 40, 42 };
	uint32_t *bytes = t->cache->bytes[index];
	const size_t texel_bytes = sizeof(*bytes), pair = 2 * texel_bytes;
	unsigned int y;

	for (y = 0; y < TEXTURE_BLOCK_SIDE; y++) {
		const uint8_t *row = block + rows[y] * texel_bytes;
		uint32_t *to = &bytes[y * TEXTURE_BLOCK_SIDE];

		memcpy(to, row, pair);
		memcpy(to + 2, row + 4 * texel_bytes, pair);
		memcpy(to + 4, row + 16 * texel_bytes, pair);
		memcpy(to + 6, row + 20 * texel_bytes, pair);
	}
	vagx_image_swizzle_bytes(t->image, bytes, TEXTURE_BLOCK_TEXELS);
	t->cache->byte_block[index].valid = ~0ULL;
}

bool vagx_texture_prefetch(struct texture *t, const struct agx_texel *at,
			   struct texture_prefetch *prefetch)
{
	const unsigned int index = texture_cache_index(t, at);
	struct texture_block *block = &t->cache->byte_block[index];
	const uint64_t key = texture_block_key(at);
	const uint8_t *bytes;
	unsigned int i;

	if (texture_block_hit(t, block, key))
		return false;
	bytes = texture_texel_find_block(t, at);
	if (!bytes)
		return false;
	for (i = 0; i < TEXTURE_BLOCK_TEXELS * sizeof(uint32_t); i += CACHE_LINE)
		__builtin_prefetch(bytes + i);
	*block = (struct texture_block){ .key = key, .tag = t->tag };
	*prefetch = (struct texture_prefetch){ .bytes = bytes, .index = index };
	return true;
}

/* To be called in the order of prefetches, so that of blocks with one index the last one stays */
void vagx_texture_read_prefetched(struct texture *t, const struct texture_prefetch *prefetch)
{
	texture_texel_fill_block(t, prefetch->index, prefetch->bytes);
}

/* Makes a block of the cache the one of a texel. Return: whether it was another one. */
static bool texture_texel_replace_block(const struct texture *t, struct texture_block *block,
					const struct agx_texel *at)
{
	const uint64_t key = texture_block_key(at);

	if (texture_block_hit(t, block, key))
		return false;
	*block = (struct texture_block){ .key = key, .tag = t->tag };
	return true;
}

const uint32_t *vagx_texture_read_bytes(struct texture *t, const struct agx_texel *at)
{
	const unsigned int index = texture_cache_index(t, at);
	const unsigned int in = texture_in_block(at->x, at->y);
	struct texture_block *block = &t->cache->byte_block[index];
	uint32_t *bytes = t->cache->bytes[index];
	const uint8_t *whole;

	if (texture_texel_replace_block(t, block, at)) {
		whole = texture_texel_find_block(t, at);
		if (whole)
			texture_texel_fill_block(t, index, whole);
	}
	if (!(block->valid >> in & 1)) {
		if (!texture_texel_read_bytes(t, at, &bytes[in]))
			return NULL;
		block->valid |= 1ULL << in;
	}
	return &bytes[in];
}

/* Blocks of other images, whose texels are decoded */

/* Cuts texels of a constant size apart, LANES of them: four words each */
INLINE void texture_texel_cut(const uint8_t *bits, unsigned int bytes, struct lanes word[4])
{
	unsigned int i, n;

	for (i = 0; i < LANES; i++) {
		uint32_t texel[4] = { 0 };

		memcpy(texel, bits + i * bytes, bytes);
		for (n = 0; n < 4; n++)
			word[n].v[i] = texel[n];
	}
}

static void texture_texel_decode(const struct vagx_image *image, const uint8_t *bits,
				 struct lanes value[4])
{
	struct lanes word[4];

	switch (image->layout.element_bytes) {
	case 1:
		texture_texel_cut(bits, 1, word);
		break;
	case 2:
		texture_texel_cut(bits, 2, word);
		break;
	case 4:
		texture_texel_cut(bits, 4, word);
		break;
	case 8:
		texture_texel_cut(bits, 8, word);
		break;
	default:
		texture_texel_cut(bits, 16, word);
		break;
	}
	vagx_image_decode_lanes(image, word, value);
}

/* The number of a texel in its block, row by row, of its index in Morton order */
static unsigned int texture_texel_from_morton(unsigned int index)
{
	static const uint8_t x[] = { 0, 1, 0, 1, 2, 3, 2, 3 }, y[] = { 0, 0, 1, 1, 0, 0, 1, 1 };
	const unsigned int quarter = index / 16;

	return texture_in_block(x[index % 8] + quarter % 2 * 4,
				y[index % 8] + index / 8 % 2 * 2 + quarter / 2 * 4);
}

/* Fills a block from its texels in Morton order, also beyond the edge of the image */
static void texture_texel_decode_block(struct texture *t, unsigned int index, const uint8_t *bits)
{
	const unsigned int bytes = t->image->layout.element_bytes;
	texel_bits *texel = t->cache->texel[index];
	unsigned int first, i;

	for (first = 0; first < TEXTURE_BLOCK_TEXELS; first += LANES) {
		struct lanes value[4];

		texture_texel_decode(t->image, bits + first * bytes, value);
		for (i = 0; i < LANES; i++)
			texel[texture_texel_from_morton(first + i)] = (texel_bits){
				value[0].v[i], value[1].v[i], value[2].v[i], value[3].v[i],
			};
	}
	t->cache->block[index].valid = ~0ULL;
}

bool vagx_texture_read_block(struct texture *t, const struct agx_texel *at)
{
	const unsigned int index = texture_cache_index(t, at);
	const uint8_t *bits = texture_texel_find_block(t, at);

	if (!bits)
		return false;
	t->cache->block[index] = (struct texture_block){
		.key = texture_block_key(at), .tag = t->tag,
	};
	texture_texel_decode_block(t, index, bits);
	return true;
}

const texel_bits *vagx_texture_read_values(struct texture *t, const struct agx_texel *at)
{
	const unsigned int index = texture_cache_index(t, at);
	const unsigned int in = texture_in_block(at->x, at->y);
	struct texture_block *block = &t->cache->block[index];
	texel_bits *texel = t->cache->texel[index];

	texture_texel_replace_block(t, block, at);
	if (!(block->valid >> in & 1)) {
		if (!vagx_texture_read_texel(t, at, &texel[in]))
			return NULL;
		block->valid |= 1ULL << in;
	}
	return &texel[in];
}
