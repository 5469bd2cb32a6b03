// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Images: what their descriptors say.
 */
#include "agx_packets.h"
#include "gpu/image.h"

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
	if (vagx_block_format(t->channels))
		return t->layout == AGX_IMAGE_LAYOUT_LINEAR ? "linear layout of blocks" : NULL;
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
	image->block = vagx_block_format(t.channels);
	if (image->block)
		image->bytes = image->block->bytes;
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
