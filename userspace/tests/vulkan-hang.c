// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * A dispatch of stock Mesa's that never ends: its fence signals when the GPU's time limit
 * takes it down, and what the same program submits later to the same queue is right.
 * Prints TAP.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vk-compute.h"

#define THREADS		64
#define COUNT		256
#define ROWS		64
#define RESULT_SIZE	(COUNT * ROWS * sizeof(uint32_t))

static uint32_t source[COUNT], before[COUNT * ROWS], after[COUNT * ROWS];
static unsigned int cases, failed;

static const struct shader_binary *find(const char *name)
{
	unsigned int i;

	for (i = 0; i < shader_binary_count; i++)
		if (!strcmp(shader_binaries[i].name, name))
			return &shader_binaries[i];
	return NULL;
}

static void judge(int good, const char *what, VkResult result)
{
	if (!good)
		printf("# VkResult %d\n", result);
	printf("%sok %u - %s\n", good ? "" : "not ", ++cases, what);
	failed += !good;
}

static VkResult work(struct vk_compute *vk, uint32_t *result)
{
	const struct vk_compute_run run = {
		.count = COUNT,
		.constant = 300,
		.source = source,
		.result = result,
		.result_size = RESULT_SIZE,
	};

	return vk_compute_run(vk, find("integers"), &run);
}

static VkResult hang(struct vk_compute *vk)
{
	uint32_t result[1 + THREADS] = { 0 };
	const struct vk_compute_run run = {
		.count = THREADS,
		.source = source,
		.result = result,
		.result_size = sizeof(result),
	};

	return vk_compute_run(vk, &hang_shaders[0], &run);
}

int main(void)
{
	struct vk_compute vk;
	VkResult result;
	unsigned int i;

	if (vk_compute_choose("asahi") || vk_compute_open(&vk, VK_DRIVER_ID_MESA_HONEYKRISP)) {
		printf("not ok 1 - Mesa's driver\n1..1\n");
		return EXIT_FAILURE;
	}

	for (i = 0; i < COUNT; i++)
		source[i] = i * 2654435761u;
	result = work(&vk, before);
	judge(result == VK_SUCCESS && before[0], "work before", result);
	/* Vulkan has no error for it: to the program the dispatch is complete. */
	result = hang(&vk);
	judge(result == VK_SUCCESS || result == VK_ERROR_DEVICE_LOST, "a hang ends", result);
	result = work(&vk, after);
	judge(result == VK_SUCCESS && !memcmp(before, after, RESULT_SIZE),
	      "work after it is right", result);
	printf("1..%u\n", cases);
	vk_compute_close(&vk);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
