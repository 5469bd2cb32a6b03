// SPDX-License-Identifier: MIT
/* Copyright (C) 2026 The asahi driver authors */
#include "scene-textures.h"
#include "vk-render.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define RED		{ 1, 0, 0, 1 }
#define GREEN		{ 0, 1, 0, 1 }
#define BLUE		{ 0, 0, 1, 1 }
#define WHITE		{ 1, 1, 1, 1 }

/* What pixels lie on an edge is nobody's choice where no centre is on it */
static const struct scene_vertex triangle[] = {
	{ .position = { -0.81f, -0.73f, 0.5f, 1 }, .colour = RED },
	{ .position = { 0.87f, -0.31f, 0.5f, 1 }, .colour = GREEN },
	{ .position = { -0.13f, 0.91f, 0.5f, 1 }, .colour = BLUE },
};

/* Seen in perspective, from above its lower edge */
static const struct scene_vertex floor_quad[] = {
	{ { -0.9f, 0.8f, 0.3f, 1 }, WHITE, { 0, 0 } },
	{ { 0.9f, 0.8f, 0.3f, 1 }, WHITE, { 2, 0 } },
	{ { -0.9f, -0.8f, 2.5f, 3 }, WHITE, { 0, 2 } },
	{ { 0.9f, -0.8f, 2.5f, 3 }, GREEN, { 2, 2 } },
};

static const struct scene_vertex whole_picture[] = {
	{ { -1, -1, 0.5f, 1 }, WHITE, { 0, 0 } },
	{ { 1, -1, 0.5f, 1 }, WHITE, { 1, 0 } },
	{ { -1, 1, 0.5f, 1 }, WHITE, { 0, 1 } },
	{ { 1, 1, 0.5f, 1 }, WHITE, { 1, 1 } },
};

static const struct scene_vertex flat_quad[] = {
	{ { -0.9f, -0.8f, 0.5f, 1 }, WHITE, { 0, 0 } },
	{ { 0.9f, -0.8f, 0.5f, 1 }, WHITE, { 1, 0 } },
	{ { -0.9f, 0.8f, 0.5f, 1 }, WHITE, { 0, 1 } },
	{ { 0.9f, 0.8f, 0.5f, 1 }, WHITE, { 1, 1 } },
};

/* Each goes through the other */
static const struct scene_vertex crossing[] = {
	{ .position = { -0.83f, -0.77f, 0.1f, 1 }, .colour = RED },
	{ .position = { 0.83f, -0.07f, 0.9f, 1 }, .colour = RED },
	{ .position = { -0.83f, 0.69f, 0.1f, 1 }, .colour = RED },
	{ .position = { 0.83f, -0.77f, 0.1f, 1 }, .colour = GREEN },
	{ .position = { -0.83f, -0.07f, 0.9f, 1 }, .colour = GREEN },
	{ .position = { 0.83f, 0.69f, 0.1f, 1 }, .colour = GREEN },
};

static const struct scene_vertex glass[] = {
	{ .position = { -0.9f, -0.9f, 0.5f, 1 }, .colour = { 1, 0, 0, 0.5f } },
	{ .position = { 0.5f, -0.3f, 0.5f, 1 }, .colour = { 1, 0, 0, 0.5f } },
	{ .position = { -0.3f, 0.7f, 0.5f, 1 }, .colour = { 1, 1, 0, 0.25f } },
};

static const struct scene_vertex small_square[] = {
	{ .position = { -0.93f, -0.95f, 0.5f, 1 }, .colour = RED },
	{ .position = { -0.61f, -0.95f, 0.5f, 1 }, .colour = GREEN },
	{ .position = { -0.61f, -0.65f, 0.5f, 1 }, .colour = BLUE },
	{ .position = { -0.93f, -0.65f, 0.5f, 1 }, .colour = WHITE },
};

static const uint16_t square_indices[] = { 0, 1, 2, 2, 3, 0 };

/* A star's points and its middle; all in the window */
static const struct scene_vertex star[] = {
	{ .position = { 0.03f, -0.02f, 0.3f, 1 }, .colour = WHITE },
	{ .position = { -0.83f, -0.77f, 0.2f, 1 }, .colour = RED },
	{ .position = { 0.11f, -0.93f, 0.4f, 1 }, .colour = GREEN },
	{ .position = { 0.88f, -0.51f, 0.6f, 1 }, .colour = BLUE },
	{ .position = { 0.71f, 0.67f, 0.8f, 1 }, .colour = { 1, 1, 0, 1 } },
	{ .position = { -0.07f, 0.91f, 0.5f, 1 }, .colour = { 0, 1, 1, 1 } },
	{ .position = { -0.89f, 0.33f, 0.7f, 1 }, .colour = { 1, 0, 1, 1 } },
};

/* Around a square, for strips */
static const struct scene_vertex ribbon[] = {
	{ .position = { -0.91f, -0.83f, 0.5f, 1 }, .colour = RED },
	{ .position = { -0.87f, -0.21f, 0.5f, 1 }, .colour = GREEN },
	{ .position = { -0.33f, -0.91f, 0.5f, 1 }, .colour = BLUE },
	{ .position = { -0.29f, -0.17f, 0.5f, 1 }, .colour = WHITE },
	{ .position = { 0.37f, -0.77f, 0.5f, 1 }, .colour = { 1, 1, 0, 1 } },
	{ .position = { 0.41f, -0.13f, 0.5f, 1 }, .colour = { 0, 1, 1, 1 } },
	{ .position = { 0.93f, -0.87f, 0.5f, 1 }, .colour = { 1, 0, 1, 1 } },
	{ .position = { 0.83f, -0.09f, 0.5f, 1 }, .colour = { 0.5f, 0.5f, 0.5f, 1 } },
};

/* In the middle of all depths; the ramps go through it with few of its last places */
static const struct scene_vertex level[] = {
	{ .position = { -0.9f, -0.9f, 0.5f, 1 }, .colour = RED },
	{ .position = { 0.9f, -0.9f, 0.5f, 1 }, .colour = RED },
	{ .position = { -0.9f, 0.9f, 0.5f, 1 }, .colour = RED },
	{ .position = { 0.9f, 0.9f, 0.5f, 1 }, .colour = RED },
};

#define RAMP(step)							\
	{ .position = { -1, -0.8f, 0.5f - 64 * (step), 1 }, .colour = GREEN },	\
	{ .position = { 1, -0.8f, 0.5f + 64 * (step), 1 }, .colour = GREEN },	\
	{ .position = { -1, 0.8f, 0.5f - 64 * (step), 1 }, .colour = GREEN },	\
	{ .position = { 1, 0.8f, 0.5f + 64 * (step), 1 }, .colour = GREEN }

static const struct scene_vertex ramp_16[] = { RAMP(0x1p-16f) };
static const struct scene_vertex ramp_32[] = { RAMP(0x1p-24f) };

/* From in front of the depths that there are to behind them */
static const struct scene_vertex deep[] = {
	{ .position = { -0.9f, -0.9f, -0.7f, 1 }, .colour = RED },
	{ .position = { 0.9f, -0.9f, 1.6f, 1 }, .colour = GREEN },
	{ .position = { -0.9f, 0.9f, -0.7f, 1 }, .colour = BLUE },
	{ .position = { 0.9f, 0.9f, 1.6f, 1 }, .colour = WHITE },
};

/* What is clamped is equal to one of these */
static const struct scene_vertex depth_ends[] = {
	{ .position = { -1, -0.71f, 0, 1 }, .colour = WHITE },
	{ .position = { 0, -0.07f, 0, 1 }, .colour = WHITE },
	{ .position = { -1, 0.77f, 0, 1 }, .colour = WHITE },
	{ .position = { 1, -0.71f, 1, 1 }, .colour = WHITE },
	{ .position = { 0, 0.07f, 1, 1 }, .colour = WHITE },
	{ .position = { 1, 0.77f, 1, 1 }, .colour = WHITE },
};

/* On the edges of pixels: which samples an alpha is, is nobody's choice */
static const struct scene_vertex half_clear[] = {
	{ .position = { -0.75f, -0.5f, 0.5f, 1 }, .colour = { 1, 0, 0, 0.5f } },
	{ .position = { 0.5f, -0.5f, 0.5f, 1 }, .colour = { 1, 0, 0, 0.5f } },
	{ .position = { -0.75f, 0.75f, 0.5f, 1 }, .colour = { 1, 0, 0, 0.5f } },
	{ .position = { 0.5f, 0.75f, 0.5f, 1 }, .colour = { 1, 0, 0, 0.5f } },
};

#define NEXT	UINT16_MAX
static const uint16_t strip_indices[] = { 0, 1, 2, 3, 4, NEXT, 2, NEXT, 4, 5, 6, 7 };
static const uint16_t fan_indices[] = { 0, 1, 2, 3, NEXT, 0, 4, 5, 6 };
static const uint16_t line_indices[] = { 1, 2, 3, 4, NEXT, 5, 0, 6 };

#define VERTICES(array)	.vertices = (array), .vertex_count = COUNT(array)
#define TEXTURES(array)	.textures = (array), .texture_count = COUNT(array)
/* All of the picture is one draw of a shader that looks at its textures */
#define LOOKUPS(shader, array)							\
	.width = 64, .height = 64, PICTURE(shader, array)

/* Each texel is shown */
#define TEXELS(shader, array)							\
	.width = 256, .height = 256, PICTURE(shader, array)

#define PICTURE(shader, array)							\
	.clear = { 0, 0, 0, 1 },						\
	VERTICES(whole_picture),						\
	.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP,			\
	.fragment = (shader), TEXTURES(array), .only_compared = true

/* For what only matters to the one who draws */
#define SMALL								\
	.width = 64, .height = 64, .tolerance = 2, .only_compared = true,	\
	.clear = { 0, 0, 0.25f, 1 }

const struct scene render_scenes[] = {
	{
		.name = "clear", .width = 64, .height = 64,
		.clear = { 0.2f, 0.4f, 0.6f, 0.8f },
	}, {
		.name = "triangle", .width = 64, .height = 64, .tolerance = 1,
		.clear = { 0, 0, 0.25f, 1 }, VERTICES(triangle),
		.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
		.fragment = "colour_frag",
	}, {
		.name = "triangle-large", .width = 333, .height = 201,
		.tolerance = 1, .clear = { 0, 0, 0.25f, 1 }, VERTICES(triangle),
		.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
		.fragment = "colour_frag",
	}, {
		.name = "depth", .width = 160, .height = 120,
		.clear = { 0, 0, 0, 1 }, VERTICES(crossing),
		.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
		.fragment = "colour_frag", .depth_format = VK_FORMAT_D32_SFLOAT,
	}, {
		.name = "indexed-instances", .width = 160, .height = 120,
		.tolerance = 1, .clear = { 0, 0, 0, 1 }, VERTICES(small_square),
		.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
		.indices = square_indices, .index_count = COUNT(square_indices),
		.instances = 5, .step = { 0.37f, 0.39f, 0, 0 },
		.fragment = "colour_frag",
	}, {
		.name = "blend", .width = 96, .height = 96, .tolerance = 2,
		.clear = { 0, 0, 1, 1 }, VERTICES(glass),
		.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
		.instances = 3, .step = { 0.2f, 0.1f, 0, 0 },
		.fragment = "colour_frag", .blends = true,
	}, {
		.name = "discard", .width = 96, .height = 64, .tolerance = 1,
		.clear = { 0, 0.5f, 0, 1 }, VERTICES(triangle),
		.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
		.fragment = "holes_frag",
	}, {
		.name = "texture-nearest", .width = 128, .height = 96,
		.tolerance = 1, .clear = { 0, 0, 0, 1 }, VERTICES(flat_quad),
		.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP,
		.fragment = "texture_frag", TEXTURES(texture_nearest),
	}, {
		.name = "texture-linear", .width = 128, .height = 96,
		.tolerance = 2, .clear = { 0, 0, 0, 1 }, VERTICES(floor_quad),
		.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP,
		.fragment = "texture_frag", TEXTURES(texture_linear),
	}, {
		.name = "samples", .width = 96, .height = 80, .tolerance = 2,
		.samples = VK_SAMPLE_COUNT_4_BIT, .clear = { 0, 0, 0, 1 },
		VERTICES(crossing),
		.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
		.fragment = "colour_frag", .depth_format = VK_FORMAT_D32_SFLOAT,
	}, {
		.name = "tessellation", SMALL,
		VERTICES(triangle), .patch_points = 3,
		.topology = VK_PRIMITIVE_TOPOLOGY_PATCH_LIST,
		.control = "bent_tesc", .evaluation = "bent_tese",
		.fragment = "colour_frag",
	}, {
		.name = "tessellation-quads", SMALL,
		VERTICES(small_square), .patch_points = 4,
		.topology = VK_PRIMITIVE_TOPOLOGY_PATCH_LIST,
		.instances = 3, .step = { 0.61f, 0.57f, 0, 0 },
		.control = "quad_tesc", .evaluation = "quad_tese",
		.fragment = "colour_frag",
	}, {
		.name = "geometry", SMALL,
		VERTICES(triangle),
		.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
		.geometry = "split_geom", .fragment = "colour_frag",
	}, {
		.name = "tessellation-geometry", SMALL,
		VERTICES(triangle), .patch_points = 3,
		.topology = VK_PRIMITIVE_TOPOLOGY_PATCH_LIST,
		.control = "bent_tesc", .evaluation = "bent_tese",
		.geometry = "split_geom", .fragment = "colour_frag",
	}, {
		.name = "capture", SMALL,
		VERTICES(triangle), .instances = 2,
		.step = { 0.25f, 0.5f, 0, 0 }, .is_captured = true,
		.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
		.vertex = "capture_vert", .fragment = "colour_frag",
	}, {
		.name = "indirect", SMALL,
		VERTICES(small_square),
		.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
		.instances = 5, .step = { 0.37f, 0.39f, 0, 0 },
		.indices = square_indices, .index_count = COUNT(square_indices),
		.is_indirect = true, .fragment = "colour_frag",
		.then = &(const struct scene){
			VERTICES(glass), .is_indirect = true,
			.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
			.fragment = "colour_frag",
		},
	}, {
		.name = "strip-restart", SMALL,
		VERTICES(ribbon), .restarts = true,
		.indices = strip_indices, .index_count = COUNT(strip_indices),
		.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP,
		.instances = 2, .step = { 0, 0.95f, 0, 0 },
		.fragment = "flat_frag",
	}, {
		.name = "fan-restart", SMALL,
		VERTICES(star), .restarts = true,
		.indices = fan_indices, .index_count = COUNT(fan_indices),
		.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_FAN,
		.fragment = "flat_frag",
	}, {
		.name = "lines", SMALL,
		VERTICES(star), .restarts = true,
		.indices = line_indices, .index_count = COUNT(line_indices),
		.topology = VK_PRIMITIVE_TOPOLOGY_LINE_STRIP,
		.fragment = "flat_frag",
		.then = &(const struct scene){
			VERTICES(ribbon), .line_width = 3,
			.topology = VK_PRIMITIVE_TOPOLOGY_LINE_LIST,
			.fragment = "colour_frag",
		},
	}, {
		.name = "points", SMALL,
		VERTICES(star),
		.topology = VK_PRIMITIVE_TOPOLOGY_POINT_LIST,
		.vertex = "points_vert", .fragment = "point_coord_frag",
	}, {
		.name = "polygon-line", SMALL,
		VERTICES(star), .polygon_mode = VK_POLYGON_MODE_LINE,
		.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_FAN,
		.cull = VK_CULL_MODE_BACK_BIT, .fragment = "flat_frag",
	}, {
		.name = "polygon-point", SMALL,
		VERTICES(star), .polygon_mode = VK_POLYGON_MODE_POINT,
		.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_FAN,
		.fragment = "flat_frag",
	}, {
		.name = "samples-2", SMALL,
		VERTICES(crossing), .samples = VK_SAMPLE_COUNT_2_BIT,
		.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
		.depth_format = VK_FORMAT_D32_SFLOAT, .fragment = "colour_frag",
	}, {
		.name = "sample-shading", SMALL,
		VERTICES(triangle), .samples = VK_SAMPLE_COUNT_4_BIT,
		.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
		.shades_samples = true, .fragment = "sample_id_frag",
	}, {
		.name = "sample-mask", SMALL,
		VERTICES(triangle), .samples = VK_SAMPLE_COUNT_4_BIT,
		.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
		.sample_mask = 0xd, .fragment = "sample_mask_frag",
	}, {
		.name = "alpha-to-coverage", SMALL,
		VERTICES(half_clear), .samples = VK_SAMPLE_COUNT_4_BIT,
		.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP,
		.alpha_to_coverage = true, .fragment = "colour_frag",
	}, {
		.name = "viewport", SMALL,
		VERTICES(triangle), .viewport = { 11, 7, 150, 131 },
		.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
		.scissor = { 15, 3, 90, 51 }, .fragment = "colour_frag",
		.then = &(const struct scene){
			VERTICES(triangle), .viewport = { 33, 29, 20, 30 },
			.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
			.scissor = { 1, 0, 43, 1000 }, .fragment = "colour_frag",
		},
	}, {
		.name = "bias-16", SMALL,
		VERTICES(level), .depth_format = VK_FORMAT_D16_UNORM,
		.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP,
		.depth_compare = VK_COMPARE_OP_ALWAYS, .fragment = "colour_frag",
		.then = &(const struct scene){
			VERTICES(ramp_16), .bias = { 20 },
			.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP,
			.fragment = "colour_frag",
		},
	}, {
		.name = "bias-32", SMALL,
		VERTICES(level), .depth_format = VK_FORMAT_D32_SFLOAT,
		.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP,
		.depth_compare = VK_COMPARE_OP_ALWAYS, .fragment = "colour_frag",
		.then = &(const struct scene){
			VERTICES(ramp_32), .bias = { 20 },
			.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP,
			.fragment = "colour_frag",
		},
	}, {
		.name = "bias-slope", SMALL,
		VERTICES(crossing), .depth_format = VK_FORMAT_D32_SFLOAT,
		.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
		.fragment = "colour_frag",
		.then = &(const struct scene){
			VERTICES(crossing), .bias = { 0, 0.05f, 7 },
			.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST, .polygon_mode = VK_POLYGON_MODE_FILL,
			.depth_compare = VK_COMPARE_OP_GREATER, .fragment = "colour_frag",
		},
	}, {
		.name = "depth-clamp", SMALL,
		VERTICES(deep), .depth_format = VK_FORMAT_D32_SFLOAT,
		.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP,
		.clamps_depth = true, .fragment = "colour_frag",
		.then = &(const struct scene){
			VERTICES(depth_ends),
			.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
			.depth_compare = VK_COMPARE_OP_EQUAL,
			.fragment = "colour_frag",
		},
	}, {
		.name = "stencil", SMALL,
		VERTICES(glass), .depth_format = VK_FORMAT_D32_SFLOAT_S8_UINT,
		.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST, .instances = 3, .step = { 0.2f, 0.1f, 0, 0 },
		.depth_compare = VK_COMPARE_OP_LESS_OR_EQUAL,
		.stencil = {
			.compareMask = 0xff, .writeMask = 0x7f,
			.compareOp = VK_COMPARE_OP_ALWAYS,
			.passOp = VK_STENCIL_OP_INCREMENT_AND_WRAP,
		}, .fragment = "colour_frag",
		.then = &(const struct scene){
			VERTICES(flat_quad),
			.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP,
			.depth_compare = VK_COMPARE_OP_ALWAYS,
			.stencil = {
				.compareMask = 3, .writeMask = 0xff, .reference = 2,
				.compareOp = VK_COMPARE_OP_EQUAL,
				.failOp = VK_STENCIL_OP_INVERT,
			}, .fragment = "colour_frag",
		},
	}, {
		.name = "layers", SMALL,
		VERTICES(triangle), .layers = 3, .instances = 3,
		.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST, .step = { 0.1f, -0.1f, 0, 0 },
		.vertex = "layers_vert", .fragment = "colour_frag",
	}, {
		.name = "geometry-layers", SMALL,
		VERTICES(triangle), .layers = 3,
		.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
		.geometry = "layers_geom", .fragment = "colour_frag",
	}, {
		.name = "query-counts", SMALL,
		VERTICES(crossing), .counts_samples = true,
		.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
		.depth_format = VK_FORMAT_D32_SFLOAT, .fragment = "colour_frag",
		.then = &(const struct scene){
			VERTICES(crossing), .counts_samples = true,
			.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
			.depth_compare = VK_COMPARE_OP_GREATER, .fragment = "colour_frag",
		},
	}, {
		.name = "query-finds", SMALL,
		VERTICES(crossing), .finds_samples = true,
		.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
		.depth_format = VK_FORMAT_D32_SFLOAT, .fragment = "colour_frag",
		.then = &(const struct scene){
			VERTICES(crossing), .finds_samples = true,
			.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
			.depth_compare = VK_COMPARE_OP_GREATER, .fragment = "colour_frag",
		},
	}, {
		/* lavapipe cuts off fractions between the two ends of a block */
		.name = "texture-blocks", .tolerance = 3,
		LOOKUPS("sixteen_frag", texture_blocks),
	}, {
		.name = "texture-bc6h", TEXELS("halves_frag", texture_bc6h),
	}, {
		.name = "texture-bc7", TEXELS("sixteen_frag", texture_bc7),
	}, {
		.name = "texture-cube", .tolerance = 2,
		LOOKUPS("cube_frag", texture_cubes),
	}, {
		.name = "texture-formats", .tolerance = 1,
		LOOKUPS("sixteen_frag", texture_formats),
	}, {
		.name = "texture-lookups", .tolerance = 2,
		LOOKUPS("lookups_frag", texture_lookups),
	}, {
		/* how far apart taps are, and what each is worth, is everyone's own */
		.name = "texture-oblique", .tolerance = 16, .strays = 8,
		LOOKUPS("oblique_frag", texture_oblique),
	}, {
		.name = "texture-shadow", .tolerance = 2,
		LOOKUPS("shadow_frag", texture_shadows),
	}, {
		/* The README's. Sines, powers and mip levels are nowhere exact. */
		.name = "still-life", .width = 480, .height = 360,
		.tolerance = 5, .strays = 8,
		.clear = { 0.05f, 0.07f, 0.12f, 1 }, VERTICES(whole_picture),
		.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP,
		.instances = 64 * 28 + 36 * 20 + 1, .samples = VK_SAMPLE_COUNT_4_BIT,
		.depth_format = VK_FORMAT_D32_SFLOAT,
		.vertex = "still_life_vert", .fragment = "still_life_frag",
		TEXTURES(texture_tiles), .only_compared = true,
	}, {
		.name = "texture-sparse", .tolerance = 2,
		TEXELS("sparse_frag", texture_sparse),
	}, {
		/* also more samplers than there are state registers for */
		.name = "texture-sparse-arrays", .tolerance = 2,
		TEXELS("sparse_array_frag", texture_sparse_arrays),
	},
};

const unsigned int render_scene_count = COUNT(render_scenes);
