/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What the pieces of work of vulkan-bench have in common.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "vk-compute.h"

/** BENCH_MEANS - parts of a result that is not compared word by word */
#define BENCH_MEANS	64

/** struct bench - the device, and the buffers of the work that runs now */
struct bench {
	struct vk_compute vk;
	bool quick;
	/* what names begin with, or NULL */
	const char *only;
	VkBuffer buffer[2];
	void *map[2];
};

/**
 * struct bench_span - time on the wall, and of all processors
 *
 * On a busy machine the latter is what repeats.
 */
struct bench_span {
	uint64_t wall;
	uint64_t cpu;
};

/** struct bench_row - one line of the result */
struct bench_row {
	const char *name;
	struct bench_span cold;
	struct bench_span warm;
	uint64_t sum;
	/*
	 * Most that a mean may differ by between drivers that round differently; 0 where the
	 * sum has to be the same
	 */
	double tolerance;
	double means[4 * BENCH_MEANS];
	unsigned int mean_count;
};

/** struct bench_run - commands that are run again and again */
struct bench_run {
	VkCommandBuffer commands;
	/* submissions of a run, each of which is waited for; 1 if not given */
	unsigned int times;
	/* bytes of the second buffer that begin with 0 in each run, or 0 */
	size_t cleared;
};

/** struct bench_image - an image with one layer, and a view of all levels */
struct bench_image {
	VkImage image;
	VkImageView view;
	VkImageAspectFlags aspects;
};

/** bench_wants() - whether work of this name is to be done */
bool bench_wants(const struct bench *b, const char *name);

/** bench_print() - put out a row at once */
void bench_print(const struct bench_row *row);

/** bench_sum_words() - set the sum of a row */
void bench_sum_words(struct bench_row *row, const uint32_t *words, size_t count);

/** bench_mean_floats() - set the means of a row from a multiple of BENCH_MEANS floats */
void bench_mean_floats(struct bench_row *row, const float *values, size_t count);

/** bench_mean_pixels() - likewise from pixels with four channels of a byte, each on its own */
void bench_mean_pixels(struct bench_row *row, const uint8_t *pixels, size_t count);

struct bench_span bench_now(void);
struct bench_span bench_since(struct bench_span began);
struct bench_span bench_lesser(struct bench_span a, struct bench_span b);

/** bench_more() - what each of @count things takes that @several has and @one lacks */
struct bench_span bench_more(struct bench_span several, struct bench_span one,
			     unsigned int count);

/** bench_shader() - one of the shaders of the bench or of the scenes, or NULL */
const struct shader_binary *bench_shader(const char *name);

/** bench_make_buffer() - make buffer @n: the first has one word everywhere, the second 0 */
VkResult bench_make_buffer(struct bench *b, unsigned int n, VkDeviceSize size);

/**
 * bench_make_image() - make an image in two dimensions and its view
 * @info: format, width and height, levels, samples and usage of it
 */
VkResult bench_make_image(struct bench *b, struct bench_image *image,
			  const VkImageCreateInfo *info);

/**
 * bench_make_set() - make a set of descriptors of images, which lives as long as the device
 * @layout: has so many bindings, from 0 on
 * @type: of all of them
 */
VkResult bench_make_set(struct bench *b, VkDescriptorSetLayout layout, VkDescriptorType type,
			const VkDescriptorImageInfo *images, uint32_t count, VkDescriptorSet *set);

/** bench_begin() - begin a command buffer that sees all that those before it have written */
VkResult bench_begin(struct bench *b, VkCommandBuffer *commands);

/** bench_to_general() - give a new image the layout that it keeps */
void bench_to_general(VkCommandBuffer commands, const struct bench_image *image);

/** bench_run_once() - run commands and wait for their end */
VkResult bench_run_once(struct bench *b, const struct bench_run *run);

/** bench_repeat() - the best of up to five further runs; a long one is only run once more */
VkResult bench_repeat(struct bench *b, const struct bench_run *run, struct bench_span *warm);

/* The pieces of work, each of which prints its rows */
VkResult bench_compute(struct bench *b);
VkResult bench_image_copy(struct bench *b);
VkResult bench_scenes(struct bench *b);
VkResult bench_drawings(struct bench *b);

#endif /* BENCH_H */
