// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Where there is no libFuzzer: calls a target with inputs that are made from a seed,
 * with a memory of nothing but what it has made before.
 *
 *   TARGET [--seed=N] [--runs=N] [FILE...]
 *
 * With files, such as libFuzzer leaves behind, it is called with their contents.
 */
#include <getopt.h>
#include <stdbool.h>
#include <string.h>

#include "fuzz.h"

#define MAX_SIZE	1024
#define KEPT		64

/* Targets whose inputs have a structure change them themselves */
#pragma weak LLVMFuzzerCustomMutator

static uint64_t state;

static uint32_t below(uint32_t n)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)((state >> 32) * n >> 32);
}

struct input {
	uint8_t data[MAX_SIZE];
	size_t size;
};

static void change(struct input *in)
{
	size_t at = in->size ? below(in->size) : 0, len;

	switch (below(6)) {
	case 0:
		if (in->size)
			in->data[at] ^= 1u << below(8);
		break;
	case 1:
		if (in->size)
			in->data[at] = below(256);
		break;
	case 2:
		in->size = below(8) ? in->size : at;
		break;
	case 3:
		for (len = 1 + below(16); len && in->size < MAX_SIZE; len--)
			in->data[in->size++] = below(3) ? below(256) : 0;
		break;
	case 4:
		/* a field of ones or zeros */
		for (len = 1 + below(8); len && at < in->size; len--)
			in->data[at++] = below(2) ? 0xff : 0;
		break;
	default:
		/* again what was there */
		for (len = below(32); len && at < in->size && in->size < MAX_SIZE; len--)
			in->data[in->size++] = in->data[at++];
	}
}

static void mutate(unsigned long runs)
{
	static struct input kept[KEPT];
	struct input in;
	unsigned int changes;

	while (runs--) {
		in = kept[below(KEPT)];
		for (changes = LLVMFuzzerCustomMutator ? 0 : 1 + below(12); changes; changes--)
			change(&in);
		if (LLVMFuzzerCustomMutator)
			in.size = LLVMFuzzerCustomMutator(in.data, in.size, MAX_SIZE,
							  below(UINT32_MAX));
		LLVMFuzzerTestOneInput(in.data, in.size);
		kept[below(KEPT)] = in;
	}
}

static bool call_with(const char *path)
{
	static uint8_t data[1 << 20];
	FILE *file = fopen(path, "rb");
	size_t size;

	if (!file) {
		perror(path);
		return false;
	}
	size = fread(data, 1, sizeof(data), file);
	fclose(file);
	LLVMFuzzerTestOneInput(data, size);
	return true;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "runs", required_argument, NULL, 'r' },
		{ 0 }
	};
	unsigned long seed = 1, runs = 2000;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 's')
			seed = strtoul(optarg, NULL, 0);
		else if (option == 'r')
			runs = strtoul(optarg, NULL, 0);
		else
			return EXIT_FAILURE;
	}
	for (; optind < argc; optind++) {
		if (!call_with(argv[optind]))
			return EXIT_FAILURE;
		runs = 0;
	}
	state = seed;
	mutate(runs);
	return EXIT_SUCCESS;
}
