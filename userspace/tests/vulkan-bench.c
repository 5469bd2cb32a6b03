// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * How long work takes that is written once, for any Vulkan driver: one of Mesa's
 * on the virtual GPU, or lavapipe. Prints JSON: of each piece of work how long it
 * took the first time, compilation included, and after that; and a checksum of
 * what it has made, which is to be the same everywhere.
 *
 * usage: vulkan-bench [--quick] [--only=NAME] asahi | lavapipe
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "vk-compute.h"
#include "vk-render.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define ITERATIONS	256
#define GROUP		64
#define DISPATCHES	1000
#define TRIANGLES	1000
#define PICTURE		1024
/* Of what is drawn again and again, in one pass */
#define INSTANCES	20
#define TRIANGLES_NAME	"1,000 triangles at 1024 x 1024"
#define TIMEOUT_NS	600000000000ULL

struct bench {
	struct vk_compute vk;
	bool quick;
	/* what names begin with, or NULL */
	const char *only;
	VkBuffer buffer[2];
	void *map[2];
	VkDescriptorSet set;
};

/* What is recorded, and how often it is run */
struct work {
	const char *name;
	const char *shader;
	/* bytes of each of the two buffers */
	VkDeviceSize size;
	void (*record)(VkCommandBuffer commands, struct bench *b, const struct work *work);
	/* what the shader gets */
	uint32_t count;
	uint32_t constant;
	/* words of the result that are looked at */
	uint32_t checked;
};

/* On the wall, and of all processors: on a busy machine the latter is what repeats */
struct span {
	uint64_t wall;
	uint64_t cpu;
};

static uint64_t read_clock(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static struct span now(void)
{
	return (struct span){ read_clock(CLOCK_MONOTONIC), read_clock(CLOCK_PROCESS_CPUTIME_ID) };
}

static struct span since(struct span began)
{
	struct span end = now();

	return (struct span){ end.wall - began.wall, end.cpu - began.cpu };
}

static struct span lesser(struct span a, struct span b)
{
	return (struct span){ a.wall < b.wall ? a.wall : b.wall, a.cpu < b.cpu ? a.cpu : b.cpu };
}

static const struct shader_binary *find_shader(const char *name)
{
	unsigned int i;

	for (i = 0; i < bench_shader_count; i++) {
		if (!strcmp(bench_shaders[i].name, name))
			return &bench_shaders[i];
	}
	return NULL;
}

static VkResult make_buffer(struct bench *b, unsigned int n, VkDeviceSize size)
{
	const VkBufferCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
		.size = size,
		.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
			 VK_BUFFER_USAGE_TRANSFER_DST_BIT,
	};
	VkMemoryAllocateInfo allocate = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO };
	VkMemoryRequirements need;
	VkDeviceMemory memory;

	TRY(vkCreateBuffer(b->vk.device, &info, NULL, &b->buffer[n]));
	vkGetBufferMemoryRequirements(b->vk.device, b->buffer[n], &need);
	allocate.allocationSize = need.size;
	allocate.memoryTypeIndex = vk_host_memory_type(&b->vk, need.memoryTypeBits);
	TRY(vkAllocateMemory(b->vk.device, &allocate, NULL, &memory));
	TRY(vkBindBufferMemory(b->vk.device, b->buffer[n], memory, 0));
	TRY(vkMapMemory(b->vk.device, memory, 0, VK_WHOLE_SIZE, 0, &b->map[n]));
	memset(b->map[n], n ? 0 : 0x5a, size);
	return VK_SUCCESS;
}

static VkResult make_set(struct bench *b)
{
	const VkDescriptorSetAllocateInfo info = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
		.descriptorPool = b->vk.descriptors,
		.descriptorSetCount = 1,
		.pSetLayouts = &b->vk.set_layout,
	};
	uint32_t i;

	TRY(vkResetDescriptorPool(b->vk.device, b->vk.descriptors, 0));
	TRY(vkAllocateDescriptorSets(b->vk.device, &info, &b->set));
	for (i = 0; i < 2; i++) {
		const VkWriteDescriptorSet write = {
			.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
			.dstSet = b->set,
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

static void record_mandelbrot(VkCommandBuffer commands, struct bench *b, const struct work *work)
{
	vkCmdDispatch(commands, work->count / GROUP, work->count, 1);
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
		vkCmdDispatch(commands, 1, 1, 1);
		vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
				     VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &barrier, 0,
				     NULL, 0, NULL);
	}
}

static VkResult record(struct bench *b, const struct work *work, VkPipeline pipeline,
		       VkCommandBuffer *commands)
{
	const VkCommandBufferAllocateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
		.commandPool = b->vk.commands,
		.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
		.commandBufferCount = 1,
	};
	const VkCommandBufferBeginInfo begin = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
	};
	const uint32_t constants[2] = { work->count, work->constant };

	TRY(vkAllocateCommandBuffers(b->vk.device, &info, commands));
	TRY(vkBeginCommandBuffer(*commands, &begin));
	if (pipeline) {
		vkCmdBindPipeline(*commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
		vkCmdBindDescriptorSets(*commands, VK_PIPELINE_BIND_POINT_COMPUTE,
					b->vk.layout, 0, 1, &b->set, 0, NULL);
		vkCmdPushConstants(*commands, b->vk.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
				   sizeof(constants), constants);
	}
	work->record(*commands, b, work);
	return vkEndCommandBuffer(*commands);
}

static VkResult execute(struct bench *b, VkCommandBuffer commands)
{
	const VkFenceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO };
	const VkSubmitInfo submit = {
		.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
		.commandBufferCount = 1,
		.pCommandBuffers = &commands,
	};
	VkResult result;
	VkFence fence;

	TRY(vkCreateFence(b->vk.device, &info, NULL, &fence));
	result = vkQueueSubmit(b->vk.queue, 1, &submit, fence);
	if (result == VK_SUCCESS)
		result = vkWaitForFences(b->vk.device, 1, &fence, VK_TRUE, TIMEOUT_NS);
	vkDestroyFence(b->vk.device, fence, NULL);
	return result;
}

static void print(const char *name, struct span cold, struct span warm, uint64_t sum)
{
	static bool more;

	printf("%s {\"name\": \"%s\", \"cold_ns\": %" PRIu64 ", \"ns\": %" PRIu64
	       ", \"cpu_ns\": %" PRIu64 ", \"sum\": %" PRIu64 "}", more ? ",\n" : "", name,
	       cold.wall, warm.wall, warm.cpu, sum);
	fflush(stdout);
	more = true;
}

static uint64_t checksum(const uint32_t *words, size_t count)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < count; i++)
		sum += words[i];
	return sum;
}

/* The best of a few; a long one is only run once more */
static VkResult run_work(struct bench *b, const struct work *work)
{
	struct span began, cold, warm = { UINT64_MAX, UINT64_MAX };
	uint64_t spent = 0;
	VkPipeline pipeline = VK_NULL_HANDLE;
	VkCommandBuffer commands;
	unsigned int i;

	for (i = 0; i < 2; i++)
		TRY(make_buffer(b, i, work->size));
	TRY(make_set(b));
	began = now();
	if (work->shader)
		TRY(vk_compute_pipeline(&b->vk, find_shader(work->shader), &pipeline));
	/* simultaneous use is not asked for: each run has ended before the next */
	TRY(record(b, work, pipeline, &commands));
	TRY(execute(b, commands));
	cold = since(began);
	for (i = 0; i < 5 && spent < 1000000000; i++) {
		struct span took;

		began = now();
		TRY(execute(b, commands));
		took = since(began);
		spent += took.wall;
		warm = lesser(warm, took);
	}
	print(work->name, cold, warm, checksum(b->map[1], work->checked));
	/* buffers, pipeline and commands go with the device */
	return VK_SUCCESS;
}

/* Drawing */

static float some(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return (float)(*seed >> 8) / 0x1000000;
}

/* Of about 50 pixels' side, all over the picture, some behind others */
static void make_triangles(struct scene_vertex *v)
{
	uint32_t seed = 1;
	unsigned int i, n;

	for (i = 0; i < TRIANGLES; i++, v += 3) {
		float x = some(&seed) * 1.9f - 0.95f, y = some(&seed) * 1.9f - 0.95f;

		for (n = 0; n < 3; n++)
			v[n] = (struct scene_vertex){
				.position = {
					x + (some(&seed) - 0.5f) * 0.1f,
					y + (some(&seed) - 0.5f) * 0.1f,
					some(&seed), 1,
				},
				.colour = { some(&seed), some(&seed), some(&seed), 1 },
			};
	}
}

static VkResult time_scene(struct bench *b, struct scene *scene, uint32_t instances,
			   struct picture *picture, struct span *took)
{
	struct span began;
	VkResult result;

	scene->instances = instances;
	began = now();
	result = vk_render_scene(&b->vk, scene, picture);
	*took = since(began);
	return result;
}

/*
 * What a frame takes besides the triangles is the same for one copy of them and for
 * several, which are drawn over each other in one pass: the difference is what they take.
 */
static VkResult run_triangles(struct bench *b)
{
	static struct scene_vertex vertices[3 * TRIANGLES];
	struct scene scene = {
		.name = "triangles",
		.width = PICTURE,
		.height = PICTURE,
		.depth_format = VK_FORMAT_D32_SFLOAT,
		.depth_compare = VK_COMPARE_OP_LESS_OR_EQUAL,
		.vertices = vertices,
		.vertex_count = COUNT(vertices),
		.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
		.fragment = "colour_frag",
	};
	struct picture picture = {
		.name = "triangles",
		.width = PICTURE,
		.height = PICTURE,
		.pixels = calloc(PICTURE * PICTURE, 4),
	};
	struct span cold, one, several, warm;

	if (!picture.pixels)
		return VK_ERROR_OUT_OF_HOST_MEMORY;
	make_triangles(vertices);
	TRY(time_scene(b, &scene, 1, &picture, &cold));
	TRY(time_scene(b, &scene, 1, &picture, &one));
	TRY(time_scene(b, &scene, 1 + INSTANCES, &picture, &several));
	warm = lesser(several, (struct span){ several.wall - one.wall, several.cpu - one.cpu });
	print(TRIANGLES_NAME, cold,
	      (struct span){ warm.wall / INSTANCES, warm.cpu / INSTANCES }, 0);
	print("a frame of them, pipeline and reading back included", cold, one, 0);
	free(picture.pixels);
	return VK_SUCCESS;
}

static bool is_wanted(const struct bench *b, const char *name)
{
	return !b->only || !strncmp(name, b->only, strlen(b->only));
}

static VkResult run_all(struct bench *b)
{
	uint32_t side = b->quick ? 512 : 4096;
	const struct work works[] = {
		{ "Mandelbrot", "bench_mandelbrot", (VkDeviceSize)side * side * 4,
		  record_mandelbrot, side, ITERATIONS, side * side },
		{ "copy of 64 MB", NULL, 64 << 20, record_copy, 0, 0, 64 << 18 },
		{ "1,000 small dispatches", "bench_add", 4096, record_dispatches, 1, 1, 0 },
	};
	unsigned int i;

	for (i = 0; i < COUNT(works); i++) {
		if (is_wanted(b, works[i].name))
			TRY(run_work(b, &works[i]));
	}
	return is_wanted(b, TRIANGLES_NAME) ? run_triangles(b) : VK_SUCCESS;
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
