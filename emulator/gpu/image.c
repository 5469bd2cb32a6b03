// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * (Layouts: mesa src/asahi/layout/layout.c, tiling.c)
 */
#include <math.h>
#include <string.h>

#include "agx_packets.h"
#include "core_float.h"
#include "gpu/format.h"
#include "gpu/image.h"

#define LINE_BYTES	128
#define PAGE_BYTES	16384
#define MAX_LEVELS	15
/* Samples of a block of compression in each direction */
#define BLOCK_SAMPLES	16

/* How channels lie in a sample: bits of each, the first one lowest */
static const struct channel_row {
	unsigned int channels;
	uint8_t bits[4];
} channel_rows[] = {
	{ AGX_CHANNELS_R8, { 8 } },
	{ AGX_CHANNELS_R16, { 16 } },
	{ AGX_CHANNELS_R8G8, { 8, 8 } },
	{ AGX_CHANNELS_R5G6B5, { 5, 6, 5 } },
	{ AGX_CHANNELS_R4G4B4A4, { 4, 4, 4, 4 } },
	{ AGX_CHANNELS_A1R5G5B5, { 1, 5, 5, 5 } },
	{ AGX_CHANNELS_R5G5B5A1, { 5, 5, 5, 1 } },
	{ AGX_CHANNELS_R32, { 32 } },
	{ AGX_CHANNELS_R16G16, { 16, 16 } },
	{ AGX_CHANNELS_R11G11B10, { 11, 11, 10 } },
	{ AGX_CHANNELS_R10G10B10A2, { 10, 10, 10, 2 } },
	{ AGX_CHANNELS_R9G9B9E5, { 9, 9, 9, 5 } },
	{ AGX_CHANNELS_R8G8B8A8, { 8, 8, 8, 8 } },
	{ AGX_CHANNELS_R32G32, { 32, 32 } },
	{ AGX_CHANNELS_R16G16B16A16, { 16, 16, 16, 16 } },
	{ AGX_CHANNELS_R32G32B32A32, { 32, 32, 32, 32 } },
};

static const struct channel_row *find_channels(unsigned int channels)
{
	unsigned int i;

	for (i = 0; i < sizeof(channel_rows) / sizeof(channel_rows[0]); i++) {
		if (channel_rows[i].channels == channels)
			return &channel_rows[i];
	}
	return NULL;
}

unsigned int vagx_image_channel_bytes(unsigned int channels)
{
	const struct channel_row *row = find_channels(channels);

	return row ? (row->bits[0] + row->bits[1] + row->bits[2] + row->bits[3]) / 8 : 0;
}

/* What a PBE packet can say that nobody has needed yet */
static const char *unsupported(const struct agx_pbe *pbe)
{
	if (pbe->rotate_90 || pbe->flip_vertical)
		return "rotation";
	if (pbe->mode != AGX_IMAGE_MODE_NORMAL)
		return "mode";
	if (pbe->layout == AGX_IMAGE_LAYOUT_INTERCHANGE)
		return "interchange layout";
	if (pbe->type > AGX_TEXTURE_TYPE_FLOAT)
		return "type";
	if (pbe->dimension == AGX_IMAGE_DIMENSION_3D && pbe->layout == AGX_IMAGE_LAYOUT_LINEAR)
		return "linear 3D";
	return vagx_image_channel_bytes(pbe->channels) ? NULL : "channels";
}

static bool is_multisampled(unsigned int dimension)
{
	return dimension == AGX_IMAGE_DIMENSION_2D_MS ||
	       dimension == AGX_IMAGE_DIMENSION_2D_MS_ARRAY;
}

/* Down to one texel in all directions in which levels get smaller */
static unsigned int chain_length(unsigned int dimension, uint32_t width, uint32_t height,
				 uint32_t depth)
{
	uint32_t most = width > height ? width : height;

	if (dimension == AGX_IMAGE_DIMENSION_3D && depth > most)
		most = depth;
	return 32 - __builtin_clz(most);
}

static void set_linear(struct vagx_image *image, const uint8_t *bytes, bool extended)
{
	struct agx_pbe_linear linear;
	struct agx_image_layers layers;

	agx_packet_unpack(AGX_PACKET_pbe_linear, bytes, &linear, NULL);
	image->stride = linear.stride_less_4 + 4;
	image->layers = 1;
	image->levels = 1;
	if (!extended)
		return;
	agx_packet_unpack(AGX_PACKET_image_layers, bytes + 16, &layers, NULL);
	image->layers = layers.layers;
	image->layer_stride = layers.layer_stride_less_128 + 128;
}

bool vagx_image_from_pbe(struct vagx_image *image, unsigned int *level, const uint8_t *bytes,
			 const char **why)
{
	struct agx_image_compression compression;
	struct agx_pbe pbe;

	agx_packet_unpack(AGX_PACKET_pbe, bytes, &pbe, NULL);
	*why = unsupported(&pbe);
	if (*why)
		return false;
	*image = (struct vagx_image){
		.address = pbe.address,
		.layout = pbe.layout,
		.channels = pbe.channels,
		.type = pbe.type,
		.width = pbe.width,
		.height = pbe.height,
		.layers = pbe.layers,
		.samples = is_multisampled(pbe.dimension) ?
			   (pbe.samples == AGX_IMAGE_SAMPLES_4 ? 4 : 2) : 1,
		.levels = pbe.mip_chain ? chain_length(pbe.dimension, pbe.width, pbe.height,
						       pbe.layers) : pbe.levels,
		.bytes = vagx_image_channel_bytes(pbe.channels),
		.page_aligned = pbe.page_aligned_layers,
		.swizzle = { pbe.swizzle_r, pbe.swizzle_g, pbe.swizzle_b, pbe.swizzle_a },
	};
	*level = pbe.level;
	if (pbe.layout == AGX_IMAGE_LAYOUT_LINEAR)
		set_linear(image, bytes, pbe.extended);
	else if (pbe.compressed) {
		agx_packet_unpack(AGX_PACKET_image_compression, bytes + 16, &compression, NULL);
		image->metadata = compression.metadata;
	}
	return true;
}

static const char *unsupported_texture(const struct agx_texture *t)
{
	if (t->mode != AGX_IMAGE_MODE_NORMAL)
		return "mode";
	if (t->layout == AGX_IMAGE_LAYOUT_INTERCHANGE)
		return "interchange layout";
	if (t->type > AGX_TEXTURE_TYPE_FLOAT)
		return "type";
	if (t->dimension == AGX_IMAGE_DIMENSION_3D && t->layout == AGX_IMAGE_LAYOUT_LINEAR)
		return "linear 3D";
	return vagx_image_channel_bytes(t->channels) ? NULL : "channels";
}

static void set_linear_texture(struct vagx_image *image, const uint8_t *bytes, bool extended)
{
	struct agx_texture_linear linear;
	struct agx_image_layers layers;

	agx_packet_unpack(AGX_PACKET_texture_linear, bytes, &linear, NULL);
	image->stride = linear.stride_less_16 + 16;
	image->layers = 1;
	image->levels = 1;
	if (!extended)
		return;
	agx_packet_unpack(AGX_PACKET_image_layers, bytes + 16, &layers, NULL);
	image->layers = layers.layers;
	image->layer_stride = layers.layer_stride_less_128 + 128;
}

bool vagx_image_from_texture(struct vagx_image *image, const uint8_t *bytes, const char **why)
{
	struct agx_image_compression compression;
	struct agx_texture t;

	agx_packet_unpack(AGX_PACKET_texture, bytes, &t, NULL);
	*why = unsupported_texture(&t);
	if (*why)
		return false;
	*image = (struct vagx_image){
		.address = t.address,
		.layout = t.layout,
		.channels = t.channels,
		.type = t.type,
		.width = t.width,
		.height = t.height,
		.layers = t.depth,
		.samples = is_multisampled(t.dimension) ?
			   (t.samples == AGX_IMAGE_SAMPLES_4 ? 4 : 2) : 1,
		.levels = t.mip_chain ? chain_length(t.dimension, t.width, t.height, t.depth) :
					t.last_level + 1,
		.bytes = vagx_image_channel_bytes(t.channels),
		.page_aligned = t.page_aligned_layers,
		.swizzle = { t.swizzle_r, t.swizzle_g, t.swizzle_b, t.swizzle_a },
		.first_level = t.first_level,
		.last_level = t.last_level,
		.srgb = t.srgb,
	};
	/* of a cube the packet counts cubes */
	if (t.dimension == AGX_IMAGE_DIMENSION_CUBE ||
	    t.dimension == AGX_IMAGE_DIMENSION_CUBE_ARRAY)
		image->layers *= 6;
	if (t.layout == AGX_IMAGE_LAYOUT_LINEAR)
		set_linear_texture(image, bytes, t.extended);
	else if (t.compressed) {
		agx_packet_unpack(AGX_PACKET_image_compression, bytes + 16, &compression, NULL);
		image->metadata = compression.metadata;
	}
	return true;
}

/* Layouts */

/* Bits of x and y in turn, x first */
static uint64_t morton(uint32_t x, uint32_t y)
{
	uint64_t index = 0;
	unsigned int i;

	for (i = 0; i < 16; i++)
		index |= (uint64_t)(x >> i & 1) << (2 * i) | (uint64_t)(y >> i & 1) << (2 * i + 1);
	return index;
}

static uint32_t power_of_two(uint32_t n)
{
	return n < 2 ? 1 : 1u << (32 - __builtin_clz(n - 1));
}

/* Squares in rows, each in Morton order */
static uint64_t squares(uint32_t x, uint32_t y, uint32_t side, uint32_t per_row)
{
	return ((uint64_t)(y / side) * per_row + x / side) * side * side +
	       morton(x % side, y % side);
}

struct level {
	uint64_t offset;
	/* tiles of this level, in texels */
	uint32_t tile_w, tile_h;
	uint32_t tiles_per_row;
};

static void tile_size(uint32_t bytes, uint32_t *w, uint32_t *h)
{
	unsigned int log2 = __builtin_ctz(PAGE_BYTES / bytes);

	*w = 1u << ((log2 + 1) / 2);
	*h = 1u << (log2 / 2);
}

static uint32_t minify(uint32_t n, unsigned int level)
{
	return n >> level ? n >> level : 1;
}

static uint64_t align(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

/* Tiles of a level, of an image with so many at first */
static uint64_t level_tiles(uint64_t sx, uint64_t sy, unsigned int level)
{
	uint64_t mask = (1ULL << level) - 1;
	uint64_t tiles = sx * sy >> 2 * level;

	if (sx & mask)
		tiles += sy >> level;
	if (sy & mask)
		tiles += sx >> level;
	return tiles + (sx & mask && sy & mask);
}

/* Return: the bytes that all levels up to the one that is asked for have, with it */
static uint64_t find_level(const struct vagx_image *image, unsigned int which, struct level *level)
{
	uint32_t bytes = image->bytes * image->samples, w, h, sx, sy, side;
	uint32_t pot_w = 0, pot_h = 0;
	uint64_t end = 0;
	unsigned int l;

	tile_size(bytes, &w, &h);
	sx = (image->width + w - 1) / w;
	sy = (image->height + h - 1) / h;
	for (l = 0; l <= which && l < MAX_LEVELS; l++) {
		uint32_t lw = minify(image->width, l), lh = minify(image->height, l);

		if (!pot_w && lw >= w && lh >= h) {
			*level = (struct level){ end, w, h, (lw + w - 1) / w };
			end += level_tiles(sx, sy, l) * PAGE_BYTES;
			continue;
		}
		/* sizes are rounded up at the first small level, and halved from there on */
		pot_w = pot_w ? minify(pot_w, 1) : power_of_two(lw);
		pot_h = pot_h ? minify(pot_h, 1) : power_of_two(lh);
		side = power_of_two(lw < lh ? lw : lh);
		*level = (struct level){ end, side, side, (lw + side - 1) / side };
		end = align(end + (uint64_t)bytes * pot_w * pot_h, LINE_BYTES);
	}
	return end;
}

static uint64_t layer_bytes(const struct vagx_image *image)
{
	struct level level;

	if (image->layer_stride)
		return image->layer_stride;
	return align(find_level(image, image->levels - 1, &level),
		     image->page_aligned ? PAGE_BYTES : LINE_BYTES);
}

/* Tiles with an odd number of bits are twice as wide as high: two squares side by side */
static uint64_t inside_tile(const struct level *level, uint32_t x, uint32_t y)
{
	uint32_t side = level->tile_h;

	return squares(x % level->tile_w, y % level->tile_h, side, level->tile_w / side);
}

uint64_t vagx_image_address(const struct vagx_image *image, const struct vagx_texel *t)
{
	uint64_t texel, tile, base = image->address;
	struct level level;

	if (image->layout == AGX_IMAGE_LAYOUT_LINEAR)
		return base + t->layer * image->layer_stride + (uint64_t)t->y * image->stride +
		       (uint64_t)t->x * image->bytes;
	if (image->layout == AGX_IMAGE_LAYOUT_TWIDDLED) {
		uint32_t w = power_of_two(image->width), h = power_of_two(image->height);
		uint32_t side = w < h ? w : h;

		texel = squares(t->x, t->y, side, w / side);
		return base + (t->layer * (uint64_t)w * h + texel) * image->bytes;
	}

	find_level(image, t->level, &level);
	tile = (uint64_t)(t->y / level.tile_h) * level.tiles_per_row + t->x / level.tile_w;
	texel = tile * level.tile_w * level.tile_h + inside_tile(&level, t->x, t->y);
	return base + t->layer * layer_bytes(image) + level.offset +
	       (texel * image->samples + t->sample) * image->bytes;
}

/*
 * Compression: a block is 16 by 16 samples, and has 8 bytes of metadata. Only
 * levels that are at least as large as a block have them. (ail_initialize_compression;
 * src/asahi/libagx/compression.cl for blocks of one colour)
 */

static uint32_t samples_x(const struct vagx_image *image, uint32_t x)
{
	return image->samples == 4 ? x * 2 : x;
}

static uint32_t samples_y(const struct vagx_image *image, uint32_t y)
{
	return image->samples > 1 ? y * 2 : y;
}

static uint32_t blocks_size(uint32_t samples)
{
	return (uint32_t)align(samples, BLOCK_SAMPLES);
}

bool vagx_image_has_metadata(const struct vagx_image *image, unsigned int level)
{
	uint32_t w = blocks_size(samples_x(image, image->width));
	uint32_t h = blocks_size(samples_y(image, image->height));

	return image->metadata && (w > h ? w : h) >> level >= BLOCK_SAMPLES;
}

/* Where a level's metadata is, and its blocks; of the level behind the last one: all of it */
static uint64_t metadata_level(const struct vagx_image *image, unsigned int which, uint32_t *w,
			       uint32_t *h)
{
	uint32_t sw = blocks_size(samples_x(image, image->width));
	uint32_t sh = blocks_size(samples_y(image, image->height));
	uint64_t offset = 0;
	unsigned int l;

	for (l = 0;; l++) {
		*w = (power_of_two(sw) + BLOCK_SAMPLES - 1) / BLOCK_SAMPLES;
		*h = (power_of_two(sh) + BLOCK_SAMPLES - 1) / BLOCK_SAMPLES;
		if (l == which || !vagx_image_has_metadata(image, l))
			return offset;
		offset = align(offset + (uint64_t)*w * *h * 8, LINE_BYTES);
		sw = (sw + 1) / 2;
		sh = (sh + 1) / 2;
	}
}

uint64_t vagx_image_metadata(const struct vagx_image *image, const struct vagx_texel *t)
{
	uint32_t bx = samples_x(image, t->x) / BLOCK_SAMPLES;
	uint32_t by = samples_y(image, t->y) / BLOCK_SAMPLES;
	uint64_t stride = image->metadata_stride, offset;
	uint32_t w, h, side;

	if (!stride)
		stride = metadata_level(image, image->levels, &w, &h);
	offset = metadata_level(image, t->level, &w, &h);
	side = w < h ? w : h;
	return image->metadata + t->layer * stride + offset +
	       squares(bx, by, side, w / side) * 8;
}

uint8_t vagx_image_raw_code(const struct vagx_image *image)
{
	switch (image->bytes) {
	case 1:
		return 0x1f;
	case 2:
		return 0x3f;
	case 4:
		return 0x7f;
	default:
		return 0xff;
	}
}

static uint8_t solid_code(const struct vagx_image *image)
{
	switch (image->bytes) {
	case 1:
		return 0x60;
	case 2:
		return 0x01;
	case 4:
		return 0x03;
	default:
		return 0x07;
	}
}

bool vagx_image_find_in_block(const struct vagx_image *image, const uint8_t *codes,
			      struct vagx_texel *t)
{
	unsigned int i;

	for (i = 1; i < 8; i++) {
		if (codes[i] != codes[0])
			return false;
	}
	if (codes[0] == vagx_image_raw_code(image))
		return true;
	if (codes[0] != solid_code(image))
		return false;
	t->x &= ~((BLOCK_SAMPLES >> (image->samples == 4)) - 1u);
	t->y &= ~((BLOCK_SAMPLES >> (image->samples > 1)) - 1u);
	t->sample = 0;
	return true;
}

/* Pixels */

static uint32_t get_bits(const uint8_t *p, unsigned int bytes)
{
	uint32_t bits = 0;

	memcpy(&bits, p, bytes);
	return bits;
}

/* A component of a tile as a number */
static float tile_number(unsigned int format, unsigned int component, uint32_t bits)
{
	float value;

	if (vagx_format_to_float(format, component, bits, &value))
		return value;
	return vagx_format_log2_size(format) == 2 ? bits_float(bits) : float_from_half(bits);
}

static uint32_t channel_bits(const struct vagx_image *image, unsigned int bits, float value)
{
	float most = bits == 32 ? 4294967295.0f : (float)((1u << bits) - 1);

	if (image->type == AGX_TEXTURE_TYPE_FLOAT)
		return bits == 16 ? half_from_float(value) : float_bits(value);
	if (value != value)
		return 0;
	if (image->type == AGX_TEXTURE_TYPE_SNORM) {
		most = (float)((1u << (bits - 1)) - 1);
		value = value < -1.0f ? -1.0f : value > 1.0f ? 1.0f : value;
		return (uint32_t)(int32_t)nearbyintf(value * most) & ((2u << (bits - 1)) - 1);
	}
	value = value < 0.0f ? 0.0f : value > 1.0f ? 1.0f : value;
	return (uint32_t)nearbyintf(value * most);
}

static unsigned int count_channels(const struct channel_row *row)
{
	unsigned int n = 0;

	while (n < 4 && row->bits[n])
		n++;
	return n;
}

static void put_bits(uint8_t *p, unsigned int at, unsigned int count, uint32_t bits)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (bits >> i & 1)
			p[(at + i) / 8] |= 1u << (at + i) % 8;
	}
}

void vagx_image_encode(const struct vagx_image *image, unsigned int format, const uint8_t *tile,
		       uint8_t *bits)
{
	const struct channel_row *row = find_channels(image->channels);
	unsigned int size = 1u << vagx_format_log2_size(format);
	unsigned int i, at = 0, count = count_channels(row);
	float number[4] = { 0, 0, 0, 1 };

	memset(bits, 0, VAGX_IMAGE_MAX_BYTES);
	if (vagx_format_is_packed(format)) {
		if (image->bytes == 4 && row->bits[0] != 8 && row->bits[0] != 16) {
			memcpy(bits, tile, 4);
			return;
		}
		vagx_format_unpack(format, get_bits(tile, 4), number);
	}
	for (i = 0; i < count; i++) {
		unsigned int component = image->swizzle[i] % 4;
		bool packed = vagx_format_is_packed(format);
		uint32_t value = packed ? 0 : get_bits(tile + component * size, size);

		/* What is as wide as the channel is what the channel is to be */
		if (packed || row->bits[i] != size * 8)
			value = channel_bits(image, row->bits[i],
					     packed ? number[component] :
						      tile_number(format, component, value));
		put_bits(bits, at, row->bits[i], value);
		at += row->bits[i];
	}
}

bool vagx_image_is_integer(const struct vagx_image *image)
{
	return image->type == AGX_TEXTURE_TYPE_UINT || image->type == AGX_TEXTURE_TYPE_SINT;
}

static uint32_t extract(const uint8_t *p, unsigned int at, unsigned int count)
{
	uint32_t bits = 0;
	unsigned int i;

	for (i = 0; i < count; i++)
		bits |= (uint32_t)(p[(at + i) / 8] >> (at + i) % 8 & 1) << i;
	return bits;
}

static int32_t extend(uint32_t bits, unsigned int count)
{
	return (int32_t)(bits << (32 - count)) >> (32 - count);
}

static uint32_t channel_value(const struct vagx_image *image, unsigned int channel,
			      unsigned int count, uint32_t bits)
{
	float most = count == 32 ? 4294967295.0f : (float)((1u << count) - 1), value;

	switch (image->type) {
	case AGX_TEXTURE_TYPE_UINT:
		return bits;
	case AGX_TEXTURE_TYPE_SINT:
		return extend(bits, count);
	case AGX_TEXTURE_TYPE_FLOAT:
		return count == 16 ? float_bits(float_from_half(bits)) : bits;
	case AGX_TEXTURE_TYPE_SNORM:
		value = extend(bits, count) / (float)((1u << (count - 1)) - 1);
		return float_bits(value < -1.0f ? -1.0f : value);
	default:
		if (image->srgb && count == 8 && image->swizzle[3] != channel) {
			vagx_format_to_float(AGX_FORMAT_SRGBA8, 0, bits, &value);
			return float_bits(value);
		}
		return float_bits(bits / most);
	}
}

/* Formats whose bits are shared between channels; false for the others */
static bool decode_shared(const struct vagx_image *image, const uint8_t *bits, uint32_t *channel)
{
	unsigned int i, format;
	float value[4] = { 0 };

	if (image->channels == AGX_CHANNELS_R11G11B10)
		format = AGX_FORMAT_RG11B10F;
	else if (image->channels == AGX_CHANNELS_R9G9B9E5)
		format = AGX_FORMAT_RGB9E5;
	else
		return false;
	vagx_format_unpack(format, get_bits(bits, 4), value);
	for (i = 0; i < 3; i++)
		channel[i] = float_bits(value[i]);
	return true;
}

void vagx_image_decode(const struct vagx_image *image, const uint8_t *bits, uint32_t *value)
{
	const struct channel_row *row = find_channels(image->channels);
	uint32_t channel[4] = { 0 }, one = vagx_image_is_integer(image) ? 1 : float_bits(1.0f);
	unsigned int i, at = 0, count = count_channels(row);

	if (!decode_shared(image, bits, channel)) {
		for (i = 0; i < count; i++) {
			channel[i] = channel_value(image, i, row->bits[i],
						   extract(bits, at, row->bits[i]));
			at += row->bits[i];
		}
	}
	for (i = 0; i < 4; i++) {
		if (image->swizzle[i] <= AGX_CHANNEL_A)
			value[i] = channel[image->swizzle[i]];
		else
			value[i] = image->swizzle[i] == AGX_CHANNEL_1 ? one : 0;
	}
}

void vagx_image_encode_values(const struct vagx_image *image, const uint32_t *value,
			      uint8_t *bits)
{
	const struct channel_row *row = find_channels(image->channels);
	unsigned int i, at = 0, count = count_channels(row);
	float number[4];
	uint32_t word;

	memset(bits, 0, VAGX_IMAGE_MAX_BYTES);
	for (i = 0; i < 4; i++)
		number[i] = bits_float(value[image->swizzle[i] % 4]);
	if (image->channels == AGX_CHANNELS_R11G11B10 || image->channels == AGX_CHANNELS_R9G9B9E5) {
		word = vagx_format_pack(image->channels == AGX_CHANNELS_R9G9B9E5 ?
					AGX_FORMAT_RGB9E5 : AGX_FORMAT_RG11B10F, number);
		memcpy(bits, &word, 4);
		return;
	}
	for (i = 0; i < count; i++) {
		word = value[image->swizzle[i] % 4];
		if (!vagx_image_is_integer(image))
			word = channel_bits(image, row->bits[i], number[i]);
		put_bits(bits, at, row->bits[i], word);
		at += row->bits[i];
	}
}
