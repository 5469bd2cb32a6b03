// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Runs compute shaders from files on the AGX GPU and on lavapipe, and compares what they
 * wrote: for random-shaders.py, which makes the files. Prints TAP, a case each.
 *
 *   vulkan-random FILE.spv...
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vk-compute.h"

#define COUNT		256
/* Integers, comparisons, and floats that are rounded correctly; then functions */
#define EXACT_ROWS	52
#define ROWS		64
#define TOLERANCE	1e-5f
/* Of a shader, so many rows that differ are printed */
#define PRINTED		4

enum { EXIT_SKIP = 77 };

static uint32_t source[COUNT];

/* A third of them are where ranges end */
static void fill_source(void)
{
	static const uint32_t ends[] = {
		0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffffff,
		0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 0xffff0000, 31, 32, 63,
	};
	uint32_t word = 1;
	unsigned int i;

	for (i = 0; i < COUNT; i++) {
		word = word * 1664525 + 1013904223;
		source[i] = word ^ word >> 15;
		if (word >> 29 < 3)
			source[i] = ends[(word >> 8) % (sizeof(ends) / sizeof(ends[0]))];
	}
}

static float as_float(uint32_t word)
{
	float f;

	memcpy(&f, &word, sizeof(f));
	return f;
}

static bool agree(uint32_t a, uint32_t b, unsigned int row)
{
	float x = as_float(a), y = as_float(b);

	/* A float's zero may have either sign */
	if (a == b || (row >= EXACT_ROWS - 8 && !((a | b) & 0x7fffffff)))
		return true;
	if (row < EXACT_ROWS)
		return false;
	return fabsf(x - y) <= TOLERANCE * fmaxf(1, fabsf(x));
}

static bool compare(const char *name, const uint32_t *got, const uint32_t *want)
{
	unsigned int row, i, wrong = 0;

	for (row = 0; row < ROWS; row++) {
		for (i = 0; i < COUNT; i++) {
			if (!agree(got[row * COUNT + i], want[row * COUNT + i], row))
				break;
		}
		if (i < COUNT && wrong++ < PRINTED)
			printf("# %s: row %u, thread %u: 0x%08x (%g), lavapipe has 0x%08x (%g)\n",
			       name, row, i, got[row * COUNT + i],
			       as_float(got[row * COUNT + i]), want[row * COUNT + i],
			       as_float(want[row * COUNT + i]));
	}
	return !wrong;
}

static bool run(struct vk_compute *vk, const struct shader_binary *shader, uint32_t *result)
{
	const struct vk_compute_run run = {
		.count = COUNT,
		.source = source,
		.result = result,
		.result_size = COUNT * ROWS * sizeof(*result),
	};
	VkResult err;

	memset(result, 0, run.result_size);
	err = vk_compute_run(vk, shader, &run);
	if (err != VK_SUCCESS)
		printf("# %s: VkResult %d\n", vk->name, err);
	return err == VK_SUCCESS;
}

static bool wrote_anything(const uint32_t *result)
{
	unsigned int i;

	for (i = 0; i < COUNT * ROWS; i++) {
		if (result[i])
			return true;
	}
	return false;
}

static uint32_t *load(const char *path, size_t *size)
{
	static uint32_t code[1 << 18];
	FILE *file = fopen(path, "rb");

	if (!file) {
		perror(path);
		return NULL;
	}
	*size = fread(code, 1, sizeof(code), file);
	fclose(file);
	return *size && *size < sizeof(code) ? code : NULL;
}

static bool check(struct vk_compute *agx, struct vk_compute *lavapipe, const char *path,
		  const char *name)
{
	static uint32_t got[COUNT * ROWS], want[COUNT * ROWS];
	struct shader_binary shader = { .name = name };

	shader.code = load(path, &shader.size);
	return shader.code && run(agx, &shader, got) && run(lavapipe, &shader, want) &&
	       wrote_anything(want) && compare(name, got, want);
}

int main(int argc, char **argv)
{
	struct vk_compute agx, lavapipe;
	unsigned int failed = 0;
	char name[64];
	int i;

	if (vk_compute_choose("asahi lvp")) {
		printf("1..0 # SKIP Mesa's Vulkan drivers are not installed\n");
		return EXIT_SKIP;
	}
	if (argc < 2 || vk_compute_open(&agx, VK_DRIVER_ID_MESA_HONEYKRISP) ||
	    vk_compute_open(&lavapipe, VK_DRIVER_ID_MESA_LLVMPIPE)) {
		printf("not ok 1 - devices\n1..1\n");
		return EXIT_FAILURE;
	}
	fill_source();
	for (i = 1; i < argc; i++) {
		const char *base = strrchr(argv[i], '/');
		bool ok;

		snprintf(name, sizeof(name), "%s", base ? base + 1 : argv[i]);
		name[strcspn(name, ".")] = '\0';
		ok = check(&agx, &lavapipe, argv[i], name);
		printf("%sok %d - %s\n", ok ? "" : "not ", i, name);
		fflush(stdout);
		failed += !ok;
	}
	printf("1..%d\n", argc - 1);
	vk_compute_close(&agx);
	vk_compute_close(&lavapipe);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
