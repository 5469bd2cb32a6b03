// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Image descriptors: unpacks PBE packets (images to be written) and Texture packets (images to
 * be read) to struct vagx_image, and says what is not supported. lib/agx/agx_layout.c computes
 * the layout in memory. Functions have no state.
 */
#include "agx_packets.h"
#include "gpu/image.h"

/* Names the part of a PBE packet that is not supported; NULL if all is */
static const char *image_unsupported(const struct agx_pbe *pbe)
{
	if (pbe->rotate_90 || pbe->flip_vertical)
		return "rotation";
	if (pbe->mode != AGX_IMAGE_MODE_NORMAL)
		return "mode";
	if (pbe->type > AGX_TEXTURE_TYPE_FLOAT)
		return "type";
	if (pbe->dimension == AGX_IMAGE_DIMENSION_3D && pbe->layout == AGX_IMAGE_LAYOUT_LINEAR)
		return "linear 3D";
	return vagx_image_channel_bytes(pbe->channels) ? NULL : "channels";
}

/* Levels of a complete mip chain; only 3D images get smaller in depth */
static unsigned int image_chain_length(unsigned int dimension, uint32_t width, uint32_t height,
				       uint32_t depth)
{
	return agx_layout_chain(width, height,
				dimension == AGX_IMAGE_DIMENSION_3D ? depth : 1);
}

static void image_set_layers(struct vagx_image *image, const uint8_t *bytes, uint32_t stride,
			     bool extended)
{
	struct agx_image_layers layers;

	image->layout.stride = stride;
	image->layout.layers = 1;
	image->layout.levels = 1;
	if (!extended)
		return;
	agx_packet_unpack(AGX_PACKET_image_layers, bytes + 16, &layers, NULL);
	image->layout.layers = layers.layers;
	image->layout.layer_stride = layers.layer_stride_less_128 + 128;
}

static void image_set_metadata(struct vagx_image *image, const uint8_t *bytes)
{
	struct agx_image_compression compression;

	agx_packet_unpack(AGX_PACKET_image_compression, bytes + 16, &compression, NULL);
	image->metadata = compression.metadata;
	image->layout.compressed = compression.metadata;
}

static unsigned int image_sample_count(unsigned int dimension, unsigned int samples)
{
	if (dimension != AGX_IMAGE_DIMENSION_2D_MS && dimension != AGX_IMAGE_DIMENSION_2D_MS_ARRAY)
		return 1;
	return samples == AGX_IMAGE_SAMPLES_4 ? 4 : 2;
}

static void image_set_linear(struct vagx_image *image, const uint8_t *bytes, bool extended)
{
	struct agx_pbe_linear linear;

	agx_packet_unpack(AGX_PACKET_pbe_linear, bytes, &linear, NULL);
	image_set_layers(image, bytes, linear.stride_less_4 + 4, extended);
}

bool vagx_image_from_pbe(struct vagx_image *image, unsigned int *level, const uint8_t *bytes,
			 const char **why)
{
	struct agx_pbe pbe;

	agx_packet_unpack(AGX_PACKET_pbe, bytes, &pbe, NULL);
	*why = image_unsupported(&pbe);
	if (*why)
		return false;
	*image = (struct vagx_image){
		.address = pbe.address,
		.channels = pbe.channels,
		.type = pbe.type,
		.swizzle = { pbe.swizzle_r, pbe.swizzle_g, pbe.swizzle_b, pbe.swizzle_a },
		.layout = {
			.kind = pbe.layout,
			.width = pbe.width,
			.height = pbe.height,
			.layers = pbe.layers,
			.levels = pbe.mip_chain ? image_chain_length(pbe.dimension, pbe.width,
								     pbe.height, pbe.layers) :
						  pbe.levels,
			.samples = image_sample_count(pbe.dimension, pbe.samples),
			.element_bytes = vagx_image_channel_bytes(pbe.channels),
			.page_aligned = pbe.page_aligned_layers,
		},
	};
	*level = pbe.level;
	if (pbe.layout == AGX_IMAGE_LAYOUT_LINEAR)
		image_set_linear(image, bytes, pbe.extended);
	else if (pbe.compressed)
		image_set_metadata(image, bytes);
	*why = agx_layout_init(&image->layout);
	if (!*why && *level >= image->layout.levels)
		*why = "a level beyond the last one";
	return !*why;
}

/*
 * Whether a texture has texels of three words, which Mesa's shaders load by themselves. Only lanes
 * that are outside of the texture sample it, helpers mostly. What hardware reads inside of it is
 * not known (mesa src/asahi/lib/agx_nir_lower_texture.c).
 */
static bool image_is_nothing(const struct agx_texture *t)
{
	return t->channels == AGX_CHANNELS_R32G32B32 && t->layout == AGX_IMAGE_LAYOUT_LINEAR;
}

/* Names the part of a Texture packet that is not supported; NULL if all is */
static const char *image_unsupported_texture(const struct agx_texture *t)
{
	if (t->mode != AGX_IMAGE_MODE_NORMAL && t->mode != AGX_IMAGE_MODE_SPARSE)
		return "mode";
	if (t->mode == AGX_IMAGE_MODE_SPARSE &&
	    (t->compressed || t->layout != AGX_IMAGE_LAYOUT_GPU))
		return "sparse image of that layout";
	if (t->type > AGX_TEXTURE_TYPE_FLOAT)
		return "type";
	if (t->dimension == AGX_IMAGE_DIMENSION_3D && t->layout == AGX_IMAGE_LAYOUT_LINEAR)
		return "linear 3D";
	if (t->srgb && (t->type != AGX_TEXTURE_TYPE_UNORM ||
			t->channels == AGX_CHANNELS_BC6H ||
			t->channels == AGX_CHANNELS_BC6H_UFLOAT))
		return "sRGB of what is not from 0 to 1";
	if (vagx_block_format(t->channels) || image_is_nothing(t))
		return NULL;
	return vagx_image_channel_bytes(t->channels) ? NULL : "channels";
}

static void image_set_linear_texture(struct vagx_image *image, const uint8_t *bytes, bool extended)
{
	struct agx_texture_linear linear;

	agx_packet_unpack(AGX_PACKET_texture_linear, bytes, &linear, NULL);
	image_set_layers(image, bytes, linear.stride_less_16 + 16, extended);
}

static void image_set_blocks(struct vagx_image *image)
{
	if (!image->block)
		return;
	image->layout.element_bytes = image->block->bytes;
	image->layout.block_width = image->block->width;
	image->layout.block_height = image->block->height;
}

bool vagx_image_from_texture(struct vagx_image *image, const uint8_t *bytes, const char **why)
{
	struct agx_texture t;

	agx_packet_unpack(AGX_PACKET_texture, bytes, &t, NULL);
	*why = image_unsupported_texture(&t);
	if (*why)
		return false;
	*image = (struct vagx_image){
		.address = t.address,
		.channels = t.channels,
		.type = t.type,
		.block = vagx_block_format(t.channels),
		.swizzle = { t.swizzle_r, t.swizzle_g, t.swizzle_b, t.swizzle_a },
		.first_level = t.first_level,
		.last_level = t.last_level,
		.srgb = t.srgb,
		.sparse = t.mode == AGX_IMAGE_MODE_SPARSE,
		.nothing = image_is_nothing(&t),
		.layout = {
			.kind = t.layout,
			.width = t.width,
			.height = t.height,
			.layers = t.depth,
			.levels = t.mip_chain ? image_chain_length(t.dimension, t.width, t.height,
								   t.depth) : t.last_level + 1,
			.samples = image_sample_count(t.dimension, t.samples),
			.element_bytes = image_is_nothing(&t) ?
						 sizeof(uint32_t) :
						 vagx_image_channel_bytes(t.channels),
			.page_aligned = t.page_aligned_layers,
		},
	};
	image_set_blocks(image);
	/* of cube maps the packet counts cubes, and layers are faces */
	if (t.dimension == AGX_IMAGE_DIMENSION_CUBE ||
	    t.dimension == AGX_IMAGE_DIMENSION_CUBE_ARRAY)
		image->layout.layers *= 6;
	if (t.layout == AGX_IMAGE_LAYOUT_LINEAR)
		image_set_linear_texture(image, bytes, t.extended);
	else if (t.compressed)
		image_set_metadata(image, bytes);
	*why = agx_layout_init(&image->layout);
	return !*why;
}
