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
 *   vulkan-render --png=DIR [SCENE ...]	also keep what both drew, as DIR/SCENE-agx.png
 *					and DIR/SCENE-lavapipe.png
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

enum { EXIT_SKIP = 77 };

static bool draw(struct vk_compute *vk, const struct scene *scene,
		 struct picture *picture)
{
	VkResult err = vk_render_scene(vk, scene, picture);

	if (err != VK_SUCCESS)
		printf("# %s: VkResult %d\n", vk->name, err);
	return err == VK_SUCCESS;
}

/* The second sample's picture goes on top of the first one's, half of each */
static void blend(struct picture *first, const struct picture *second)
{
	const size_t bytes = (size_t)first->width * first->height * 4;
	size_t i;

	for (i = 0; i < bytes; i++)
		first->pixels[i] = (first->pixels[i] + second->pixels[i] + 1) / 2;
}

/* Lavapipe has no images of two samples: each is a picture, drawn from there */
static bool draw_two_samples(struct vk_compute *lavapipe, const struct scene *scene,
			     struct picture *picture)
{
	static const float places[2] = { 0.75f, 0.25f };
	struct picture second;
	struct scene one = *scene;
	unsigned int i;
	bool ok = true;

	picture_init(&second, scene->name, picture->width, picture->height);
	one.samples = VK_SAMPLE_COUNT_1_BIT;
	for (i = 0; ok && i < 2; i++) {
		const float viewport[4] = {
			0.5f - places[i], 0.5f - places[i],
			(float)scene->width, (float)scene->height,
		};

		memcpy(one.viewport, viewport, sizeof(viewport));
		ok = draw(lavapipe, &one, i ? &second : picture);
	}
	blend(picture, &second);
	picture_free(&second);
	return ok;
}

/*
 * As lavapipe draws it. A unit of a bias of 16 bits is 2^-16 there, and 2^-15
 * with Honeykrisp: Vulkan allows both.
 */
static bool draw_reference(struct vk_compute *lavapipe, const struct scene *scene,
			   struct picture *picture)
{
	struct scene first = *scene, second;

	if (scene->samples == VK_SAMPLE_COUNT_2_BIT)
		return draw_two_samples(lavapipe, scene, picture);
	if (scene->depth_format == VK_FORMAT_D16_UNORM && scene->then) {
		second = *scene->then;
		second.bias[0] *= 2;
		first.then = &second;
	}
	return draw(lavapipe, &first, picture);
}

static bool write_scene(FILE *file, struct vk_compute *lavapipe,
			const struct scene *scene)
{
	struct picture picture;
	bool ok;

	picture_init(&picture, scene->name, scene->width,
		     vk_scene_height(scene));
	ok = draw_reference(lavapipe, scene, &picture) &&
	     picture_write(file, &picture);
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
	for (i = 0; ok && i < render_scene_count; i++)
		ok = write_scene(file, &lavapipe, &render_scenes[i]);
	ok = !fclose(file) && ok;
	if (!ok)
		fprintf(stderr, "vulkan-render: %s is not complete\n", path);
	vk_compute_close(&lavapipe);
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Where pictures to compare with come from: a file, a device, or nowhere */
struct reference {
	const char *path;
	/* where pictures are kept; may be NULL */
	const char *png;
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
	picture_init(&want, scene->name, scene->width,
		     vk_scene_height(scene));
	ok = reference->file ? picture_find(reference->file, &want) :
	     draw_reference(&reference->lavapipe, scene, &want);
	ok = ok && picture_keep(&want, reference->png, "lavapipe") &&
	     picture_agrees(got, &want, scene->tolerance, scene->strays);
	picture_free(&want);
	return ok;
}

static bool run(struct vk_compute *agx, struct reference *reference,
		const struct scene *scene)
{
	struct picture got;
	bool ok;

	picture_init(&got, scene->name, scene->width,
		     vk_scene_height(scene));
	ok = draw(agx, scene, &got) && picture_keep(&got, reference->png, "agx") &&
	     compare(reference, scene, &got);
	picture_free(&got);
	return ok;
}

/* The names of scenes to draw, if not all */
static bool is_wanted(const struct scene *scene, const struct reference *reference,
		      char *const *names)
{
	if (!*names)
		return !(reference->is_none && scene->only_compared);
	for (; *names; names++) {
		if (!strcmp(*names, scene->name))
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
	for (i = 0; i < render_scene_count; i++) {
		bool ok;

		if (!is_wanted(&render_scenes[i], reference, names))
			continue;
		ok = run(&agx, reference, &render_scenes[i]);
		printf("%sok %u - %s\n", ok ? "" : "not ", ++n, render_scenes[i].name);
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
		{ "png", required_argument, NULL, 'p' },
		{ "reference", required_argument, NULL, 'r' },
		{ "submit-only", no_argument, NULL, 's' },
		{ "write", required_argument, NULL, 'w' },
		{ 0 }
	};
	struct reference reference = { .path = getenv("LAVAPIPE_PICTURES") };
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'p':
			reference.png = optarg;
			break;
		case 'r':
			reference.path = optarg;
			break;
		case 's':
			reference.is_none = true;
			break;
		case 'w':
			return write_all(optarg);
		default:
			fprintf(stderr, "usage: %s [--png=DIR] [--reference=FILE | --write=FILE | --submit-only] [SCENE ...]\n",
				argv[0]);
			return EXIT_FAILURE;
		}
	}
	return run_all(&reference, argv + optind);
}
