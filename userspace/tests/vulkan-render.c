// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Draws scenes through stock Mesa on the AGX GPU and compares each pixel with
 * what lavapipe, on the processor, makes of them. Prints TAP.
 *
 *   vulkan-render [SCENE ...]		draw with both here and compare
 *   vulkan-render --write=FILE		draw with lavapipe only, and keep that
 *   vulkan-render --reference=FILE	compare with what was kept
 *   vulkan-render --submit-only	draw, and look at nothing
 *
 * The environment's LAVAPIPE_PICTURES is another way to say --reference, for
 * the reasons that vulkan-compute has.
 *
 * With --submit-only a case is that the GPU's driver takes a scene's commands,
 * and that their fence signals in time.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vk-render.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define RED		{ 1, 0, 0, 1 }
#define GREEN		{ 0, 1, 0, 1 }
#define BLUE		{ 0, 0, 1, 1 }
#define WHITE		{ 1, 1, 1, 1 }

enum { EXIT_SKIP = 77 };

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

#define VERTICES(array)	.vertices = (array), .vertex_count = COUNT(array)

static const struct scene scenes[] = {
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
		.fragment = "colour_frag", .has_depth = true,
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
		.fragment = "texture_frag", .is_textured = true,
		.filter = VK_FILTER_NEAREST,
	}, {
		.name = "texture-linear", .width = 128, .height = 96,
		.tolerance = 2, .clear = { 0, 0, 0, 1 }, VERTICES(floor_quad),
		.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP,
		.fragment = "texture_frag", .is_textured = true,
		.filter = VK_FILTER_LINEAR,
	}, {
		.name = "samples", .width = 96, .height = 80, .tolerance = 2,
		.samples = VK_SAMPLE_COUNT_4_BIT, .clear = { 0, 0, 0, 1 },
		VERTICES(crossing),
		.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
		.fragment = "colour_frag", .has_depth = true,
	},
};

static bool draw(struct vk_compute *vk, const struct scene *scene,
		 struct picture *picture)
{
	VkResult err = vk_render_scene(vk, scene, picture);

	if (err != VK_SUCCESS)
		printf("# %s: VkResult %d\n", vk->name, err);
	return err == VK_SUCCESS;
}

static bool write_scene(FILE *file, struct vk_compute *lavapipe,
			const struct scene *scene)
{
	struct picture picture;
	bool ok;

	picture_init(&picture, scene->name, scene->width, scene->height);
	ok = draw(lavapipe, scene, &picture) && picture_write(file, &picture);
	picture_free(&picture);
	return ok;
}

static int write_all(const char *path)
{
	struct vk_compute lavapipe;
	unsigned int i;
	bool ok = true;
	FILE *file;

	if (vk_compute_choose("lvp") ||
	    vk_compute_open(&lavapipe, VK_DRIVER_ID_MESA_LLVMPIPE)) {
		fprintf(stderr, "vulkan-render: there is no lavapipe\n");
		return EXIT_FAILURE;
	}
	file = fopen(path, "wb");
	if (!file) {
		perror(path);
		return EXIT_FAILURE;
	}
	for (i = 0; ok && i < COUNT(scenes); i++)
		ok = write_scene(file, &lavapipe, &scenes[i]);
	ok = !fclose(file) && ok;
	if (!ok)
		fprintf(stderr, "vulkan-render: %s is not complete\n", path);
	vk_compute_close(&lavapipe);
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Where pictures to compare with come from: a file, a device, or nowhere */
struct reference {
	const char *path;
	bool is_none;
	FILE *file;
	struct vk_compute lavapipe;
};

static bool reference_open(struct reference *reference)
{
	if (reference->is_none)
		return true;
	if (!reference->path)
		return !vk_compute_open(&reference->lavapipe,
					VK_DRIVER_ID_MESA_LLVMPIPE);
	reference->file = fopen(reference->path, "rb");
	if (!reference->file)
		perror(reference->path);
	return reference->file;
}

static void reference_close(struct reference *reference)
{
	if (reference->file)
		fclose(reference->file);
	else if (!reference->is_none)
		vk_compute_close(&reference->lavapipe);
}

static bool compare(struct reference *reference, const struct scene *scene,
		    const struct picture *got)
{
	struct picture want;
	bool ok;

	if (reference->is_none)
		return true;
	picture_init(&want, scene->name, scene->width, scene->height);
	ok = reference->file ? picture_find(reference->file, &want) :
	     draw(&reference->lavapipe, scene, &want);
	ok = ok && picture_agrees(got, &want, scene->tolerance);
	picture_free(&want);
	return ok;
}

static bool run(struct vk_compute *agx, struct reference *reference,
		const struct scene *scene)
{
	struct picture got;
	bool ok;

	picture_init(&got, scene->name, scene->width, scene->height);
	ok = draw(agx, scene, &got) && compare(reference, scene, &got);
	picture_free(&got);
	return ok;
}

/* The names of scenes to draw, if not all */
static bool is_wanted(const char *name, char *const *names)
{
	if (!*names)
		return true;
	for (; *names; names++) {
		if (!strcmp(*names, name))
			return true;
	}
	return false;
}

static int run_all(struct reference *reference, char *const *names)
{
	const bool needs_lavapipe = !reference->is_none && !reference->path;
	unsigned int i, n = 0, failed = 0;
	struct vk_compute agx;

	if (vk_compute_choose(needs_lavapipe ? "asahi lvp" : "asahi")) {
		printf("1..0 # SKIP Mesa's Vulkan drivers are not installed\n");
		return EXIT_SKIP;
	}
	if (vk_compute_open(&agx, VK_DRIVER_ID_MESA_HONEYKRISP) ||
	    !reference_open(reference)) {
		printf("not ok 1 - devices\n1..1\n");
		return EXIT_FAILURE;
	}
	printf("# %s\n", agx.name);
	for (i = 0; i < COUNT(scenes); i++) {
		bool ok;

		if (!is_wanted(scenes[i].name, names))
			continue;
		ok = run(&agx, reference, &scenes[i]);
		printf("%sok %u - %s\n", ok ? "" : "not ", ++n, scenes[i].name);
		fflush(stdout);
		failed += !ok;
	}
	printf("1..%u\n", n);
	vk_compute_close(&agx);
	reference_close(reference);
	return failed || !n ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "reference", required_argument, NULL, 'r' },
		{ "submit-only", no_argument, NULL, 's' },
		{ "write", required_argument, NULL, 'w' },
		{ 0 }
	};
	struct reference reference = { .path = getenv("LAVAPIPE_PICTURES") };
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'r':
			reference.path = optarg;
			break;
		case 's':
			reference.is_none = true;
			break;
		case 'w':
			return write_all(optarg);
		default:
			fprintf(stderr, "usage: %s [--reference=FILE | --write=FILE | --submit-only] [SCENE ...]\n",
				argv[0]);
			return EXIT_FAILURE;
		}
	}
	return run_all(&reference, argv + optind);
}
