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

/* What is recorded, and how often it is run */
struct work {
	const char *name;
	const char *shader;
	/* bytes of each of the two buffers */
	VkDeviceSize size;
	void (*record)(VkCommandBuffer commands, struct bench *b, const struct work *work);
	/* of one dispatch */
	uint32_t groups[2];
	/* what the shader gets */
	uint32_t count;
	uint32_t constant;
	/* words of the result that are looked at */
	uint32_t checked;
	/* runs add to the words that are looked at */
	bool adds_up;
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
		.cleared = work->adds_up ? 4 * work->checked : 0,
	};
	struct bench_row row = { .name = work->name };
	VkPipeline pipeline = VK_NULL_HANDLE;
	struct bench_span began;
	VkDescriptorSet set;
	unsigned int i;

	for (i = 0; i < 2; i++)
		TRY(bench_make_buffer(b, i, work->size));
	TRY(make_set(b, &set));
	began = bench_now();
	if (work->shader)
		TRY(vk_compute_pipeline(&b->vk, bench_shader(work->shader), &pipeline));
	TRY(record(b, work, set, pipeline, &run.commands));
	TRY(bench_run_once(b, &run));
	row.cold = bench_since(began);
	TRY(bench_repeat(b, &run, &row.warm));
	bench_sum_words(&row, b->map[1], work->checked);
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
	};

	return run_works(b, works, COUNT(works));
}

VkResult bench_compute(struct bench *b)
{
	return run_simple(b);
}
