/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Sampling of textures in doubles, after the Vulkan specification ("Image Operations") and, for
 * GL_CLAMP, the OpenGL one: the opinion that vagx's is compared with. It has nothing of vagx
 * but the names of modes, and the addresses of texels from lib/agx.
 */
#ifndef TEXTURE_REFERENCE_H
#define TEXTURE_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "agx_layout.h"
#include "agx_packets.h"
#include "pixel_reference.h"

/** enum texture_shape - dimensions of a texture */
enum texture_shape {
	SHAPE_1D, SHAPE_1D_ARRAY, SHAPE_2D, SHAPE_2D_ARRAY, SHAPE_3D, SHAPE_CUBE, SHAPE_CUBE_ARRAY,
	SHAPES
};

/** struct texture_model - a texture and a sampler */
struct texture_model {
	enum texture_shape shape;
	const struct pixel_format *format;
	/** @layout: its layers are slices, or faces */
	struct agx_layout layout;
	const uint8_t *memory;
	unsigned int first_level, last_level;
	/** @swizzle: AGX_CHANNEL_* */
	uint8_t swizzle[4];
	struct agx_sampler sampler;
	/** @border: custom border colour, encoded, as Mesa's agx_border.c encodes it */
	uint32_t border[4];
	/** @compares: depths are compared with a reference */
	bool compares;
	/** @offset: in texels */
	int offset[3];
};

/** struct texture_lookup - what a lane looks up */
struct texture_lookup {
	/** @at: coordinates, or a direction */
	double at[3];
	/** @layer: of an array */
	unsigned int layer;
	/** @reference: what depths are compared with */
	double reference;
	/** @lod: level of detail, before the sampler's limits */
	double lod;
	/** @taps: of an anisotropic filter, 1 without */
	unsigned int taps;
	/** @axis: in coordinates, the taps lie along it */
	double axis[3];
};

/** struct texture_value - four channels, and how much each may be off */
struct texture_value {
	double value[4], slack[4];
};

/** texture_coordinates() - how many coordinates there are */
unsigned int texture_coordinates(enum texture_shape shape);

/** texture_reference_sample() - sample */
struct texture_value texture_reference_sample(const struct texture_model *model,
					      const struct texture_lookup *lookup);

/** texture_reference_gather() - one channel of the four texels around a coordinate */
struct texture_value texture_reference_gather(const struct texture_model *model,
					      const struct texture_lookup *lookup,
					      unsigned int channel);

/**
 * texture_reference_axes() - the lengths of a pixel's edges in texels
 * @model: model; cubes are not supported
 * @right: change of the coordinates from a pixel to the one beside it
 * @down: change to the one below
 * @length: gets both
 */
void texture_reference_axes(const struct texture_model *model, const double right[3],
			    const double down[3], double length[2]);

#endif /* TEXTURE_REFERENCE_H */
