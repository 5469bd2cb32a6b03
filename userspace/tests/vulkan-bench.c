// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * How long work takes that is written once, for any Vulkan driver: one of Mesa's
 * on the virtual GPU, or lavapipe. Prints JSON: of each piece of work how long it
 * took the first time, compilation included, and after that; and a checksum of
 * its result, which is to be the same everywhere. Where drivers may round
 * differently, a row has means of all parts of the result as well, and the most
 * that they may differ by.
 *
 * usage: vulkan-bench [--quick] [--only=NAME] asahi | lavapipe
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

bool bench_wants(const struct bench *b, const char *name)
{
	return !b->only || !strncmp(name, b->only, strlen(b->only));
}

static void print_means(const struct bench_row *row)
{
	unsigned int i;

	printf(", \"tolerance\": %g, \"means\": [", row->tolerance);
	for (i = 0; i < row->mean_count; i++)
		printf("%s%.9g", i ? ", " : "", row->means[i]);
	printf("]");
}

void bench_print(const struct bench_row *row)
{
	static bool more;

	printf("%s {\"name\": \"%s\", \"cold_ns\": %" PRIu64 ", \"ns\": %" PRIu64
	       ", \"cpu_ns\": %" PRIu64 ", \"sum\": %" PRIu64, more ? ",\n" : "", row->name,
	       row->cold.wall, row->warm.wall, row->warm.cpu, row->sum);
	if (row->tolerance)
		print_means(row);
	printf("}");
	fflush(stdout);
	more = true;
}

void bench_sum_words(struct bench_row *row, const uint32_t *words, size_t count)
{
	size_t i;

	row->sum = 0;
	for (i = 0; i < count; i++)
		row->sum += words[i];
}

void bench_mean_floats(struct bench_row *row, const float *values, size_t count)
{
	const size_t each = count / BENCH_MEANS;
	size_t i;

	for (i = 0; i < each * BENCH_MEANS; i++)
		row->means[i / each] += (double)values[i] / each;
	row->mean_count = BENCH_MEANS;
}

void bench_mean_pixels(struct bench_row *row, const uint8_t *pixels, size_t count)
{
	const size_t each = count / BENCH_MEANS;
	size_t i;

	for (i = 0; i < 4 * each * BENCH_MEANS; i++)
		row->means[i / (4 * each) * 4 + i % 4] += (double)pixels[i] / each;
	row->mean_count = 4 * BENCH_MEANS;
}

static VkResult run_all(struct bench *b)
{
	static VkResult (*const works[])(struct bench *b) = {
		bench_compute,
		bench_image_copy,
		bench_scenes,
		bench_drawings,
	};
	unsigned int i;

	for (i = 0; i < COUNT(works); i++)
		TRY(works[i](b));
	return VK_SUCCESS;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "only", required_argument, NULL, 'o' },
		{ "quick", no_argument, NULL, 'q' },
		{ 0 }
	};
	struct bench bench = { 0 };
	bool is_lavapipe, is_usage = false;
	VkResult result;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		is_usage |= option == '?';
		bench.quick |= option == 'q';
		bench.only = option == 'o' ? optarg : bench.only;
	}
	is_lavapipe = optind < argc && !strcmp(argv[optind], "lavapipe");
	if (is_usage || optind + 1 != argc || (!is_lavapipe && strcmp(argv[optind], "asahi"))) {
		fprintf(stderr, "usage: %s [--quick] [--only=NAME] asahi | lavapipe\n", argv[0]);
		return EXIT_FAILURE;
	}
	if (vk_compute_choose(is_lavapipe ? "lvp" : "asahi") ||
	    vk_compute_open(&bench.vk, is_lavapipe ? VK_DRIVER_ID_MESA_LLVMPIPE :
						     VK_DRIVER_ID_MESA_HONEYKRISP))
		return EXIT_FAILURE;
	printf("[");
	result = run_all(&bench);
	printf("]\n");
	if (result != VK_SUCCESS)
		fprintf(stderr, "VkResult %d\n", result);
	fflush(stdout);
	/* memory is the device's to the end */
	_Exit(result == VK_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE);
}
