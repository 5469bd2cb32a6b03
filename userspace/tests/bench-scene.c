// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * A scene of many triangles, from its vertices to memory that the processor reads.
 */
#include <stdlib.h>

#include "bench.h"
#include "vk-render.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define TRIANGLES	1000
#define PICTURE		1024
/* Of what is drawn again and again, in one pass */
#define INSTANCES	20
#define TRIANGLES_NAME	"1,000 triangles at 1024 x 1024"

static float some(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return (float)(*seed >> 8) / 0x1000000;
}

/* Of about 50 pixels' side, all over the picture, some behind others */
static void make_triangles(struct scene_vertex *v)
{
	uint32_t seed = 1;
	unsigned int i, n;

	for (i = 0; i < TRIANGLES; i++, v += 3) {
		float x = some(&seed) * 1.9f - 0.95f, y = some(&seed) * 1.9f - 0.95f;

		for (n = 0; n < 3; n++)
			v[n] = (struct scene_vertex){
				.position = {
					x + (some(&seed) - 0.5f) * 0.1f,
					y + (some(&seed) - 0.5f) * 0.1f,
					some(&seed), 1,
				},
				.colour = { some(&seed), some(&seed), some(&seed), 1 },
			};
	}
}

static VkResult time_scene(struct bench *b, struct scene *scene, uint32_t instances,
			   struct picture *picture, struct bench_span *took)
{
	struct bench_span began;
	VkResult result;

	scene->instances = instances;
	began = bench_now();
	result = vk_render_scene(&b->vk, scene, picture);
	*took = bench_since(began);
	return result;
}

/*
 * What a frame takes besides the triangles is the same for one copy of them and for
 * several, which are drawn over each other in one pass: the difference is what they take.
 */
static VkResult run_triangles(struct bench *b)
{
	static struct scene_vertex vertices[3 * TRIANGLES];
	struct scene scene = {
		.name = "triangles",
		.width = PICTURE,
		.height = PICTURE,
		.depth_format = VK_FORMAT_D32_SFLOAT,
		.depth_compare = VK_COMPARE_OP_LESS_OR_EQUAL,
		.vertices = vertices,
		.vertex_count = COUNT(vertices),
		.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
		.fragment = "colour_frag",
	};
	struct picture picture = {
		.name = "triangles",
		.width = PICTURE,
		.height = PICTURE,
		.pixels = calloc(PICTURE * PICTURE, 4),
	};
	struct bench_span cold, one, several;

	if (!picture.pixels)
		return VK_ERROR_OUT_OF_HOST_MEMORY;
	make_triangles(vertices);
	TRY(time_scene(b, &scene, 1, &picture, &cold));
	TRY(time_scene(b, &scene, 1, &picture, &one));
	TRY(time_scene(b, &scene, 1 + INSTANCES, &picture, &several));
	bench_print(&(struct bench_row){
		.name = TRIANGLES_NAME,
		.cold = cold,
		.warm = bench_more(several, one, INSTANCES),
	});
	bench_print(&(struct bench_row){
		.name = "a frame of them, pipeline and reading back included",
		.cold = cold,
		.warm = one,
	});
	free(picture.pixels);
	return VK_SUCCESS;
}

VkResult bench_scenes(struct bench *b)
{
	return bench_wants(b, TRIANGLES_NAME) ? run_triangles(b) : VK_SUCCESS;
}
