// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Runs the shaders of glsl/ through stock Mesa on the AGX GPU and on the
 * processor (lavapipe), and compares what they wrote. Prints TAP.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vk-compute.h"

#define COUNT		256
#define ROWS		64
#define CONSTANT	300

/* Results of these may be some units of the last place apart */
static const struct {
	const char *name;
	float tolerance;
} inexact[] = {
	{ "floats", 1e-6f },
	/* what Vulkan allows is more than that for most of them */
	{ "functions", 2e-4f },
	{ "conversions", 1e-6f },
};

enum { EXIT_SKIP = 77 };

static uint32_t source[COUNT];

static void fill_source(void)
{
	uint32_t word = 1;
	unsigned int i;

	for (i = 0; i < COUNT; i++) {
		word = word * 1664525 + 1013904223;
		source[i] = word ^ word >> 15;
	}
}

static float tolerance_of(const char *name)
{
	unsigned int i;

	for (i = 0; i < sizeof(inexact) / sizeof(inexact[0]); i++) {
		if (!strcmp(inexact[i].name, name))
			return inexact[i].tolerance;
	}
	return 0;
}

static float as_float(uint32_t word)
{
	float f;

	memcpy(&f, &word, sizeof(f));
	return f;
}

/* Small integers are no floats that are close to each other */
static bool agree(uint32_t a, uint32_t b, float tolerance)
{
	float x = as_float(a), y = as_float(b), most;

	if (a == b)
		return true;
	if (tolerance == 0)
		return false;
	if (isnan(x) && isnan(y))
		return true;
	if (!isnormal(x) || !isnormal(y))
		return x == 0 && y == 0 && !((a | b) & 0x7fffffff);
	most = fabsf(x) > 0.1f ? fabsf(x) : 0.1f;
	return fabsf(x - y) <= tolerance * most;
}

static bool compare(const char *name, const uint32_t *got,
		    const uint32_t *want)
{
	float tolerance = tolerance_of(name);
	unsigned int i, wrong = 0;

	for (i = 0; i < COUNT * ROWS; i++) {
		if (agree(got[i], want[i], tolerance))
			continue;
		if (wrong++ < 8)
			printf("# row %u, thread %u: 0x%08x (%g), lavapipe has 0x%08x (%g)\n",
			       i / COUNT, i % COUNT, got[i], as_float(got[i]),
			       want[i], as_float(want[i]));
	}
	if (wrong)
		printf("# %u words differ\n", wrong);
	return !wrong;
}

static bool run(struct vk_compute *vk, const struct shader_binary *shader,
		uint32_t *result)
{
	const struct vk_compute_run run = {
		.count = COUNT,
		.constant = CONSTANT,
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

/* The names of shaders to run, if not all */
static bool is_wanted(const char *name, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], name))
			return true;
	}
	return argc < 2;
}

int main(int argc, char **argv)
{
	static uint32_t got[COUNT * ROWS], want[COUNT * ROWS];
	struct vk_compute agx, reference;
	unsigned int i, n = 0, failed = 0;

	if (vk_compute_choose("asahi lvp")) {
		printf("1..0 # SKIP Mesa's Vulkan drivers are not installed\n");
		return EXIT_SKIP;
	}
	fill_source();
	if (vk_compute_open(&agx, VK_DRIVER_ID_MESA_HONEYKRISP) ||
	    vk_compute_open(&reference, VK_DRIVER_ID_MESA_LLVMPIPE)) {
		printf("not ok 1 - devices\n1..1\n");
		return EXIT_FAILURE;
	}
	printf("# %s against %s\n", agx.name, reference.name);

	for (i = 0; i < shader_binary_count; i++) {
		const struct shader_binary *shader = &shader_binaries[i];
		bool ok;

		if (!is_wanted(shader->name, argc, argv))
			continue;
		ok = run(&reference, shader, want) && wrote_anything(want) &&
		     run(&agx, shader, got) &&
		     compare(shader->name, got, want);
		printf("%sok %u - %s\n", ok ? "" : "not ", ++n, shader->name);
		fflush(stdout);
		failed += !ok;
	}
	printf("1..%u\n", n);
	vk_compute_close(&agx);
	vk_compute_close(&reference);
	return failed || !n ? EXIT_FAILURE : EXIT_SUCCESS;
}
