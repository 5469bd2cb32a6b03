// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Descriptors of textures, of images to write, and of samplers: what is accepted
 * has texels, which have an address and a value, everywhere in the image.
 */
#include <string.h>

#include "agx_packets.h"
#include "fuzz.h"
#include "gpu/image.h"

#define DESCRIPTOR	24

static uint32_t within(uint32_t n, uint32_t size)
{
	return size ? n % size : 0;
}

static uint32_t level_size(uint32_t size, unsigned int level)
{
	return level < 32 && size >> level ? size >> level : 1;
}

/* A texel somewhere inside, and its neighbours in memory */
static void one_texel(const struct vagx_image *image, const uint32_t *where, bool writes)
{
	struct agx_texel texel = {
		.layer = within(where[2], image->layout.layers),
		.level = within(where[3], image->layout.levels),
		.sample = within(where[3] >> 16, image->layout.samples),
	};
	uint8_t bits[VAGX_IMAGE_MAX_BYTES] = { 0 };
	uint32_t value[4];

	texel.x = within(where[0], level_size(image->layout.width, texel.level));
	texel.y = within(where[1], level_size(image->layout.height, texel.level));
	memcpy(bits, where, sizeof(bits));
	vagx_image_address(image, &texel);
	if (image->metadata && vagx_image_has_metadata(image, texel.level))
		vagx_image_metadata(image, &texel);
	vagx_image_is_integer(image);
	vagx_image_decode(image, &texel, bits, value);
	if (writes)
		vagx_image_encode_values(image, value, bits);
	else
		vagx_image_border(image, value[0] % 4, value, value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vagx_image image;
	struct agx_sampler sampler;
	struct agx_error error;
	uint32_t where[4];
	const char *why;
	unsigned int level;

	if (size < DESCRIPTOR + sizeof(where))
		return 0;
	memcpy(where, data + DESCRIPTOR, sizeof(where));
	if (vagx_image_from_texture(&image, data, &why) && !image.nothing)
		one_texel(&image, where, false);
	if (vagx_image_from_pbe(&image, &level, data, &why))
		one_texel(&image, where, true);
	agx_packet_unpack(AGX_PACKET_sampler, data, &sampler, &error);
	return 0;
}
