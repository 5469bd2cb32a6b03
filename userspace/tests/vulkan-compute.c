// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Runs the shaders of glsl/ through stock Mesa on the AGX GPU and compares what
 * they wrote with what lavapipe, on the processor, makes of them. Prints TAP.
 *
 *   vulkan-compute [SHADER ...]	run both here and compare
 *   vulkan-compute --write=FILE	run lavapipe only, and keep what it wrote
 *   vulkan-compute --reference=FILE	compare with what was kept
 *
 * The environment's LAVAPIPE_RESULTS is another way to say --reference. The
 * guest needs it: code that lavapipe generates there, under QEMU's TCG, crashes
 * once in a few runs, with our modules and without.
 */
#include <getopt.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vk-compute.h"

#define COUNT		256
#define ROWS		64
#define CONSTANT	300
#define RESULT_SIZE	(COUNT * ROWS * sizeof(uint32_t))

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
		.result_size = RESULT_SIZE,
	};
	VkResult err;

	memset(result, 0, run.result_size);
	err = vk_compute_run(vk, shader, &run);
	if (err != VK_SUCCESS)
		printf("# %s: VkResult %d\n", vk->name, err);
	return err == VK_SUCCESS;
}

/* A file has a record for each shader, in their order */
struct record {
	char shader[32];
	uint32_t result[COUNT * ROWS];
};

static bool read_record(FILE *file, const char *path,
			const struct shader_binary *shader, uint32_t *result)
{
	static struct record record;
	long index = shader - shader_binaries;

	if (fseek(file, index * (long)sizeof(record), SEEK_SET) ||
	    fread(&record, sizeof(record), 1, file) != 1 ||
	    strncmp(record.shader, shader->name, sizeof(record.shader))) {
		printf("# %s: expected results of the shader %s in record %ld\n",
		       path, shader->name, index);
		return false;
	}
	memcpy(result, record.result, sizeof(record.result));
	return true;
}

static int write_records(const char *path)
{
	static struct record record;
	struct vk_compute lavapipe;
	unsigned int i;
	bool ok = true;
	FILE *file;

	if (vk_compute_choose("lvp") ||
	    vk_compute_open(&lavapipe, VK_DRIVER_ID_MESA_LLVMPIPE)) {
		fprintf(stderr, "vulkan-compute: there is no lavapipe\n");
		return EXIT_FAILURE;
	}
	file = fopen(path, "wb");
	if (!file) {
		perror(path);
		return EXIT_FAILURE;
	}
	for (i = 0; ok && i < shader_binary_count; i++) {
		strncpy(record.shader, shader_binaries[i].name,
			sizeof(record.shader) - 1);
		ok = run(&lavapipe, &shader_binaries[i], record.result) &&
		     fwrite(&record, sizeof(record), 1, file) == 1;
	}
	ok = !fclose(file) && ok;
	if (!ok)
		fprintf(stderr, "vulkan-compute: %s is not complete\n", path);
	vk_compute_close(&lavapipe);
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
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

/* Where results to compare with come from: a file, or a device */
struct reference {
	const char *path;
	FILE *file;
	struct vk_compute lavapipe;
};

static bool reference_open(struct reference *reference)
{
	if (!reference->path)
		return !vk_compute_open(&reference->lavapipe,
					VK_DRIVER_ID_MESA_LLVMPIPE);
	reference->file = fopen(reference->path, "rb");
	if (!reference->file)
		perror(reference->path);
	return reference->file;
}

static bool reference_read(struct reference *reference,
			   const struct shader_binary *shader, uint32_t *result)
{
	bool ok = reference->file ?
		  read_record(reference->file, reference->path, shader, result) :
		  run(&reference->lavapipe, shader, result);

	return ok && wrote_anything(result);
}

static void reference_close(struct reference *reference)
{
	if (reference->file)
		fclose(reference->file);
	else
		vk_compute_close(&reference->lavapipe);
}

/* The names of shaders to run, if not all */
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
	static uint32_t got[COUNT * ROWS], want[COUNT * ROWS];
	unsigned int i, n = 0, failed = 0;
	struct vk_compute agx;

	if (vk_compute_choose(reference->path ? "asahi" : "asahi lvp")) {
		printf("1..0 # SKIP Mesa's Vulkan drivers are not installed\n");
		return EXIT_SKIP;
	}
	if (vk_compute_open(&agx, VK_DRIVER_ID_MESA_HONEYKRISP) ||
	    !reference_open(reference)) {
		printf("not ok 1 - devices\n1..1\n");
		return EXIT_FAILURE;
	}
	printf("# %s against %s\n", agx.name,
	       reference->path ? reference->path : reference->lavapipe.name);

	for (i = 0; i < shader_binary_count; i++) {
		const struct shader_binary *shader = &shader_binaries[i];
		bool ok;

		if (!is_wanted(shader->name, names))
			continue;
		ok = reference_read(reference, shader, want) &&
		     run(&agx, shader, got) &&
		     compare(shader->name, got, want);
		printf("%sok %u - %s\n", ok ? "" : "not ", ++n, shader->name);
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
		{ "write", required_argument, NULL, 'w' },
		{ 0 }
	};
	struct reference reference = { .path = getenv("LAVAPIPE_RESULTS") };
	int option;

	fill_source();
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'w')
			return write_records(optarg);
		if (option != 'r') {
			fprintf(stderr, "usage: %s [--reference=FILE | --write=FILE] [SHADER ...]\n",
				argv[0]);
			return EXIT_FAILURE;
		}
		reference.path = optarg;
	}
	return run_all(&reference, argv + optind);
}
