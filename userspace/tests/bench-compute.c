// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Work of vulkan-bench on buffers.
 */
#include "bench.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define ITERATIONS	256
#define GROUP		64
#define DISPATCHES	1000
#define JOBS		100
/* Of shared memory: threads of a group, and how often they add up */
#define WIDE_GROUP	256
#define REDUCTIONS	8
/* Each thread's */
#define ATOMICS		16
#define ROUNDS		32
/* Results of a group in each direction */
#define TILE		16
#define WIDE_TILE	32
#define MATRIX		256
#define VECTOR		1024

/* What is recorded, and how often it is run */
struct work {
	const char *name;
	const char *shader;
	/* bytes of each of the two buffers */
	VkDeviceSize size;
	/* makes the first buffer; it has one word everywhere if not given */
	void (*fill)(uint32_t *words, size_t count);
	void (*record)(VkCommandBuffer commands, struct bench *b, const struct work *work);
	/* of one dispatch */
	uint32_t groups[2];
	/* what the shader gets */
	uint32_t count;
	uint32_t constant;
	/* words of the result that are looked at */
	uint32_t checked;
	/* submissions of a run; 1 if not given */
	unsigned int jobs;
	/* runs add to the words that are looked at */
	bool adds_up;
	/* the words are floats, whose means may differ by so much */
	double tolerance;
};

static VkResult make_set(struct bench *b, VkDescriptorSet *set)
{
	const VkDescriptorSetAllocateInfo info = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
		.descriptorPool = b->vk.descriptors,
		.descriptorSetCount = 1,
		.pSetLayouts = &b->vk.set_layout,
	};
	uint32_t i;

	TRY(vkResetDescriptorPool(b->vk.device, b->vk.descriptors, 0));
	TRY(vkAllocateDescriptorSets(b->vk.device, &info, set));
	for (i = 0; i < 2; i++) {
		const VkWriteDescriptorSet write = {
			.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
			.dstSet = *set,
			.dstBinding = i,
			.descriptorCount = 1,
			.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
			.pBufferInfo = &(VkDescriptorBufferInfo){
				.buffer = b->buffer[i],
				.range = VK_WHOLE_SIZE,
			},
		};

		vkUpdateDescriptorSets(b->vk.device, 1, &write, 0, NULL);
	}
	return VK_SUCCESS;
}

/*
 * Floats of 0, 1 and 2: sums of 512 products of them are exact even in 16 bits, in any
 * order and with any rounding.
 */
static void fill_numbers(uint32_t *words, size_t count)
{
	static const uint32_t numbers[] = { 0, 0x3f800000, 0x40000000 };
	uint32_t seed = 1;
	size_t i;

	for (i = 0; i < count; i++) {
		seed = seed * 1664525 + 1013904223;
		words[i] = numbers[(seed >> 16) % COUNT(numbers)];
	}
}

/* What is done */

static void record_dispatch(VkCommandBuffer commands, struct bench *b, const struct work *work)
{
	vkCmdDispatch(commands, work->groups[0], work->groups[1], 1);
}

static void record_copy(VkCommandBuffer commands, struct bench *b, const struct work *work)
{
	vkCmdCopyBuffer(commands, b->buffer[0], b->buffer[1], 1,
			&(VkBufferCopy){ .size = work->size });
}

static void record_dispatches(VkCommandBuffer commands, struct bench *b, const struct work *work)
{
	const VkMemoryBarrier barrier = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
		.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
		.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT,
	};
	unsigned int i;

	for (i = 0; i < DISPATCHES; i++) {
		record_dispatch(commands, b, work);
		vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
				     VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &barrier, 0,
				     NULL, 0, NULL);
	}
}

static VkResult record(struct bench *b, const struct work *work, VkDescriptorSet set,
		       VkPipeline pipeline, VkCommandBuffer *commands)
{
	const uint32_t constants[2] = { work->count, work->constant };

	TRY(bench_begin(b, commands));
	if (pipeline) {
		vkCmdBindPipeline(*commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
		vkCmdBindDescriptorSets(*commands, VK_PIPELINE_BIND_POINT_COMPUTE,
					b->vk.layout, 0, 1, &set, 0, NULL);
		vkCmdPushConstants(*commands, b->vk.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
				   sizeof(constants), constants);
	}
	work->record(*commands, b, work);
	return vkEndCommandBuffer(*commands);
}

static VkResult run_work(struct bench *b, const struct work *work)
{
	struct bench_run run = {
		.times = work->jobs,
		.cleared = work->adds_up ? 4 * work->checked : 0,
	};
	struct bench_row row = { .name = work->name, .tolerance = work->tolerance };
	VkPipeline pipeline = VK_NULL_HANDLE;
	struct bench_span began;
	VkDescriptorSet set;
	unsigned int i;

	for (i = 0; i < 2; i++)
		TRY(bench_make_buffer(b, i, work->size));
	if (work->fill)
		work->fill(b->map[0], work->size / 4);
	TRY(make_set(b, &set));
	began = bench_now();
	if (work->shader)
		TRY(vk_compute_pipeline(&b->vk, bench_shader(work->shader), &pipeline));
	TRY(record(b, work, set, pipeline, &run.commands));
	TRY(bench_run_once(b, &run));
	row.cold = bench_since(began);
	TRY(bench_repeat(b, &run, &row.warm));
	bench_sum_words(&row, b->map[1], work->checked);
	if (work->tolerance)
		bench_mean_floats(&row, b->map[1], work->checked);
	bench_print(&row);
	/* buffers, pipeline and commands go with the device */
	return VK_SUCCESS;
}

static VkResult run_works(struct bench *b, const struct work *works, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (bench_wants(b, works[i].name))
			TRY(run_work(b, &works[i]));
	}
	return VK_SUCCESS;
}

static VkResult run_simple(struct bench *b)
{
	const uint32_t side = b->quick ? 512 : 4096;
	const struct work works[] = {
		{
			.name = "Mandelbrot",
			.shader = "bench_mandelbrot",
			.size = (VkDeviceSize)side * side * 4,
			.record = record_dispatch,
			.groups = { side / GROUP, side },
			.count = side,
			.constant = ITERATIONS,
			.checked = side * side,
		},
		{
			.name = "copy of 64 MB",
			.size = 64 << 20,
			.record = record_copy,
			.checked = 64 << 18,
		},
		{
			.name = "1,000 small dispatches",
			.shader = "bench_add",
			.size = 4096,
			.record = record_dispatches,
			.groups = { 1, 1 },
			.constant = 1,
			.checked = GROUP,
			.adds_up = true,
		},
		{
			.name = "100 jobs, one at a time",
			.shader = "bench_add",
			.size = 4096,
			.record = record_dispatch,
			.groups = { 1, 1 },
			.constant = 1,
			.checked = GROUP,
			.jobs = JOBS,
			.adds_up = true,
		},
	};

	return run_works(b, works, COUNT(works));
}

/* Threads of a group that depend on each other, and those that do not go the same way */
static VkResult run_groups(struct bench *b)
{
	const uint32_t threads = b->quick ? 16384 : 65536;
	const struct work works[] = {
		{
			.name = "shared memory and barriers",
			.shader = "bench_shared",
			.size = threads * 4,
			.record = record_dispatch,
			.groups = { threads / WIDE_GROUP, 1 },
			.constant = REDUCTIONS,
			.checked = threads,
		},
		{
			.name = "atomics on four words",
			.shader = "bench_atomics",
			.size = 4096,
			.record = record_dispatch,
			.groups = { threads / GROUP, 1 },
			.constant = ATOMICS,
			.checked = 4,
			.adds_up = true,
		},
		{
			.name = "divergent, 16 ways",
			.shader = "bench_divergent",
			.size = threads * 4,
			.record = record_dispatch,
			.groups = { threads / GROUP, 1 },
			.constant = ROUNDS,
			.checked = threads,
			.tolerance = 1e-5,
		},
	};

	return run_works(b, works, COUNT(works));
}

static VkResult run_matrices(struct bench *b)
{
	const uint32_t wide = b->quick ? 256 : 512;
	const struct work works[] = {
		{
			.name = "matrix product f32",
			.shader = "bench_matrix",
			.size = 2 * MATRIX * MATRIX * 4,
			.fill = fill_numbers,
			.record = record_dispatch,
			.groups = { MATRIX / TILE, MATRIX / TILE },
			.count = MATRIX,
			.checked = MATRIX * MATRIX,
		},
		{
			.name = "matrix product f32, 2 x 2 a thread",
			.shader = "bench_matrix_wide",
			.size = 2 * wide * wide * 4,
			.fill = fill_numbers,
			.record = record_dispatch,
			.groups = { wide / WIDE_TILE, wide / WIDE_TILE },
			.count = wide,
			.checked = wide * wide,
		},
		{
			.name = "matrix product f16, 2 x 2 a thread",
			.shader = "bench_matrix_half",
			.size = 2 * wide * wide * 4,
			.fill = fill_numbers,
			.record = record_dispatch,
			.groups = { wide / WIDE_TILE, wide / WIDE_TILE },
			.count = wide,
			.checked = wide * wide,
		},
		{
			.name = "matrix by vector f32",
			.shader = "bench_vector",
			.size = (VECTOR + 1) * VECTOR * 4,
			.fill = fill_numbers,
			.record = record_dispatch,
			.groups = { VECTOR / GROUP, 1 },
			.count = VECTOR,
			.checked = VECTOR,
		},
	};

	return run_works(b, works, COUNT(works));
}

VkResult bench_compute(struct bench *b)
{
	TRY(run_simple(b));
	TRY(run_groups(b));
	return run_matrices(b);
}
