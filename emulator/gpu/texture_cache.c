// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The texture cache of a core: unpacked descriptors, replaced round robin, and blocks of texels
 * (texture_texel.c fills them). As on hardware it is not coherent: texels are read anew in
 * another launch and behind a barrier for memory or images, and stores before that may not be
 * seen. Loads of single texels do not use it. Each core has its own, used by the thread that
 * runs the core, so nothing is locked. Cached texels are invalidated as a whole, by a new epoch,
 * in which images get new tags.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "agx_packets.h"
#include "gpu/texture.h"

struct texture_cache *vagx_texture_cache(struct simdgroup *sg, const struct op *op)
{
	struct vagx_core *core = sg->core;

	if (!core->textures) {
		core->textures = aligned_alloc(64, (sizeof(*core->textures) + 63) / 64 * 64);
		if (!core->textures) {
			vagx_core_fail(sg, op, -ENOMEM, "no memory for textures");
			return NULL;
		}
		memset(core->textures, 0, offsetof(struct texture_cache, bytes));
	}
	if (core->textures->serial != core->serial || !core->serial)
		vagx_texture_invalidate(core);
	core->textures->serial = core->serial;
	return core->textures;
}

void vagx_texture_invalidate(struct vagx_core *core)
{
	if (core->textures)
		core->textures->epoch++;
}

/* Reads all channels from the first one: a depth, whichever swizzle a shader sees it by */
static void texture_cache_use_first_channel(struct vagx_image *image)
{
	unsigned int i;

	for (i = 0; i < 4; i++) {
		if (image->swizzle[i] <= AGX_CHANNEL_A)
			image->swizzle[i] = AGX_CHANNEL_R;
	}
}

static bool texture_cache_is_image(const struct cached_image *cached, const uint8_t *state,
				   bool shadow)
{
	return cached->used && cached->shadow == shadow &&
	       !memcmp(cached->state, state, sizeof(cached->state));
}

static struct cached_image *texture_cache_find_image(struct texture_cache *cache,
						     const uint8_t *state, bool shadow)
{
	unsigned int i;

	if (texture_cache_is_image(&cache->image[cache->last], state, shadow))
		return &cache->image[cache->last];
	for (i = 0; i < TEXTURE_IMAGES; i++) {
		if (texture_cache_is_image(&cache->image[i], state, shadow)) {
			cache->last = i;
			return &cache->image[i];
		}
	}
	return NULL;
}

static struct cached_image *texture_cache_add_image(struct texture_cache *cache,
						    const uint8_t *state, bool shadow,
						    const char **why)
{
	struct cached_image *cached = &cache->image[cache->next];
	unsigned int i;

	cached->used = vagx_image_from_texture(&cached->image, state, why);
	if (!cached->used)
		return NULL;
	memcpy(cached->state, state, sizeof(cached->state));
	cached->shadow = shadow;
	if (shadow)
		texture_cache_use_first_channel(&cached->image);
	for (i = 0; i < 4 && vagx_image_is_rgba8_unorm(&cached->image); i++)
		cached->unorm8[i] = vagx_image_unorm8_table(&cached->image, i);
	cached->tag = ++cache->tags;
	cached->epoch = cache->epoch;
	cache->last = cache->next;
	cache->next = (cache->next + 1) % TEXTURE_IMAGES;
	return cached;
}

const struct cached_image *vagx_texture_cached_image(struct texture_cache *cache,
						     const uint8_t *state, bool shadow,
						     const char **why)
{
	struct cached_image *cached = texture_cache_find_image(cache, state, shadow);

	if (!cached)
		return texture_cache_add_image(cache, state, shadow, why);
	if (cached->epoch != cache->epoch) {
		cached->epoch = cache->epoch;
		cached->tag = ++cache->tags;
	}
	return cached;
}

const struct agx_sampler *vagx_texture_cached_sampler(struct texture_cache *cache,
						      const uint8_t *bytes)
{
	struct cached_sampler *cached;
	unsigned int i;

	for (i = 0; i < TEXTURE_SAMPLERS; i++) {
		cached = &cache->sampler[i];
		if (cached->used && !memcmp(cached->bytes, bytes, sizeof(cached->bytes)))
			return &cached->sampler;
	}
	cached = &cache->sampler[cache->next_sampler];
	cache->next_sampler = (cache->next_sampler + 1) % TEXTURE_SAMPLERS;
	memcpy(cached->bytes, bytes, sizeof(cached->bytes));
	agx_packet_unpack(AGX_PACKET_sampler, bytes, &cached->sampler, NULL);
	cached->used = true;
	return &cached->sampler;
}
