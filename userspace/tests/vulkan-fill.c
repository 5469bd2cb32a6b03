// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Fills, updates and copies buffers through Vulkan on the Apple GPU, and
 * compares every byte with what should be there. Another GPU, or a software
 * renderer, does not count.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vulkan/vulkan.h>

#define SIZE		(4u << 20)
#define MAX_DEVICES	8
#define TIMEOUT_NS	60000000000ull

struct buffer {
	VkBuffer buffer;
	VkDeviceMemory memory;
	uint8_t *map;
	/* what should be in it */
	uint8_t *expected;
};

static struct {
	VkInstance instance;
	VkPhysicalDevice physical;
	VkDevice device;
	VkQueue queue;
	uint32_t family;
	VkCommandPool pool;
	VkCommandBuffer cmd;
	VkFence fence;
	struct buffer a, b;
} vk;

static unsigned int number;
static unsigned int bad;

static void bail_out(const char *what, int result)
{
	printf("Bail out! %s: %d\n", what, result);
	exit(EXIT_FAILURE);
}

#define CHECK(call) \
	do { \
		VkResult result_ = (call); \
		if (result_ != VK_SUCCESS) \
			bail_out(#call, result_); \
	} while (0)

static void report(bool ok, const char *name)
{
	printf("%sok %u - %s\n", ok ? "" : "not ", ++number, name);
	fflush(stdout);
	bad += !ok;
}

/* Setting up */

static void create_instance(void)
{
	const VkApplicationInfo app = {
		.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
		.apiVersion = VK_API_VERSION_1_0,
	};
	const VkInstanceCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
		.pApplicationInfo = &app,
	};

	CHECK(vkCreateInstance(&info, NULL, &vk.instance));
}

static void choose_device(void)
{
	VkPhysicalDevice devices[MAX_DEVICES];
	VkPhysicalDeviceProperties props;
	uint32_t count = MAX_DEVICES;
	uint32_t i;

	vkEnumeratePhysicalDevices(vk.instance, &count, devices);
	for (i = 0; i < count; i++) {
		vkGetPhysicalDeviceProperties(devices[i], &props);
		printf("# %s\n", props.deviceName);
		if (!strncmp(props.deviceName, "Apple", 5))
			vk.physical = devices[i];
	}
	report(vk.physical, "there is an Apple GPU");
	if (!vk.physical)
		bail_out("no device", 0);
}

static void choose_family(void)
{
	VkQueueFamilyProperties families[MAX_DEVICES];
	uint32_t count = MAX_DEVICES;

	vkGetPhysicalDeviceQueueFamilyProperties(vk.physical, &count, families);
	for (vk.family = 0; vk.family < count; vk.family++) {
		if (families[vk.family].queueFlags & VK_QUEUE_COMPUTE_BIT)
			return;
	}
	bail_out("no compute queue", 0);
}

static void create_device(void)
{
	static const float priority = 1.0f;
	const VkDeviceQueueCreateInfo queue = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
		.queueFamilyIndex = vk.family,
		.queueCount = 1,
		.pQueuePriorities = &priority,
	};
	const VkDeviceCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
		.queueCreateInfoCount = 1,
		.pQueueCreateInfos = &queue,
	};

	CHECK(vkCreateDevice(vk.physical, &info, NULL, &vk.device));
	vkGetDeviceQueue(vk.device, vk.family, 0, &vk.queue);
}

static void create_commands(void)
{
	const VkCommandPoolCreateInfo pool = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
		.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
		.queueFamilyIndex = vk.family,
	};
	const VkFenceCreateInfo fence = {
		.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO,
	};
	VkCommandBufferAllocateInfo cmd = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
		.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
		.commandBufferCount = 1,
	};

	CHECK(vkCreateCommandPool(vk.device, &pool, NULL, &vk.pool));
	cmd.commandPool = vk.pool;
	CHECK(vkAllocateCommandBuffers(vk.device, &cmd, &vk.cmd));
	CHECK(vkCreateFence(vk.device, &fence, NULL, &vk.fence));
}

static uint32_t memory_type(uint32_t allowed)
{
	const VkMemoryPropertyFlags wanted =
		VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
		VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
	VkPhysicalDeviceMemoryProperties props;
	uint32_t i;

	vkGetPhysicalDeviceMemoryProperties(vk.physical, &props);
	for (i = 0; i < props.memoryTypeCount; i++) {
		if (allowed >> i & 1 &&
		    (props.memoryTypes[i].propertyFlags & wanted) == wanted)
			return i;
	}
	bail_out("no memory for both", 0);
	return 0;
}

static void create_buffer(struct buffer *b)
{
	const VkBufferCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
		.size = SIZE,
		.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
			 VK_BUFFER_USAGE_TRANSFER_DST_BIT,
	};
	VkMemoryAllocateInfo alloc = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
	};
	VkMemoryRequirements needs;

	CHECK(vkCreateBuffer(vk.device, &info, NULL, &b->buffer));
	vkGetBufferMemoryRequirements(vk.device, b->buffer, &needs);
	alloc.allocationSize = needs.size;
	alloc.memoryTypeIndex = memory_type(needs.memoryTypeBits);
	CHECK(vkAllocateMemory(vk.device, &alloc, NULL, &b->memory));
	CHECK(vkBindBufferMemory(vk.device, b->buffer, b->memory, 0));
	CHECK(vkMapMemory(vk.device, b->memory, 0, VK_WHOLE_SIZE, 0,
			  (void **)&b->map));
	b->expected = malloc(SIZE);
	if (!b->expected)
		bail_out("malloc", 0);
}

static void destroy_buffer(struct buffer *b)
{
	vkDestroyBuffer(vk.device, b->buffer, NULL);
	vkFreeMemory(vk.device, b->memory, NULL);
	free(b->expected);
}

static void destroy_all(void)
{
	destroy_buffer(&vk.a);
	destroy_buffer(&vk.b);
	vkDestroyFence(vk.device, vk.fence, NULL);
	vkDestroyCommandPool(vk.device, vk.pool, NULL);
	vkDestroyDevice(vk.device, NULL);
	vkDestroyInstance(vk.instance, NULL);
}

/* Running */

static void poison(struct buffer *b, uint8_t seed)
{
	uint32_t i;

	for (i = 0; i < SIZE; i++)
		b->expected[i] = (uint8_t)(seed + i * 37 + (i >> 8));
	memcpy(b->map, b->expected, SIZE);
}

static void begin(void)
{
	const VkCommandBufferBeginInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
	};

	poison(&vk.a, 1);
	poison(&vk.b, 101);
	CHECK(vkBeginCommandBuffer(vk.cmd, &info));
}

static void barrier(VkAccessFlags src, VkAccessFlags dst,
		    VkPipelineStageFlags stage)
{
	const VkMemoryBarrier memory = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
		.srcAccessMask = src,
		.dstAccessMask = dst,
	};

	vkCmdPipelineBarrier(vk.cmd, VK_PIPELINE_STAGE_TRANSFER_BIT, stage, 0,
			     1, &memory, 0, NULL, 0, NULL);
}

static void transfer_barrier(void)
{
	barrier(VK_ACCESS_TRANSFER_WRITE_BIT,
		VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
		VK_PIPELINE_STAGE_TRANSFER_BIT);
}

static bool same(const struct buffer *b, const char *which)
{
	uint32_t i;

	for (i = 0; i < SIZE; i++) {
		if (b->map[i] == b->expected[i])
			continue;
		printf("# buffer %s, byte %u: 0x%02x, not 0x%02x\n", which, i,
		       b->map[i], b->expected[i]);
		return false;
	}
	return true;
}

static void run(const char *name)
{
	VkSubmitInfo info = {
		.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
		.commandBufferCount = 1,
		.pCommandBuffers = &vk.cmd,
	};

	barrier(VK_ACCESS_TRANSFER_WRITE_BIT, VK_ACCESS_HOST_READ_BIT,
		VK_PIPELINE_STAGE_HOST_BIT);
	CHECK(vkEndCommandBuffer(vk.cmd));
	CHECK(vkQueueSubmit(vk.queue, 1, &info, vk.fence));
	CHECK(vkWaitForFences(vk.device, 1, &vk.fence, VK_TRUE, TIMEOUT_NS));
	CHECK(vkResetFences(vk.device, 1, &vk.fence));
	report(same(&vk.a, "A") & same(&vk.b, "B"), name);
}

/* The commands, each with what it should leave behind */

static void fill(struct buffer *b, uint32_t offset, uint32_t size,
		 uint32_t value)
{
	uint32_t i;

	vkCmdFillBuffer(vk.cmd, b->buffer, offset,
			offset + size == SIZE ? VK_WHOLE_SIZE : size, value);
	for (i = offset; i < offset + size; i += sizeof(value))
		memcpy(b->expected + i, &value, sizeof(value));
}

static void update(struct buffer *b, uint32_t offset, uint32_t size)
{
	uint8_t *data = malloc(size);
	uint32_t i;

	if (!data)
		bail_out("malloc", 0);
	for (i = 0; i < size; i++)
		data[i] = (uint8_t)(i * 91 + (i >> 7));
	vkCmdUpdateBuffer(vk.cmd, b->buffer, offset, size, data);
	memcpy(b->expected + offset, data, size);
	free(data);
}

static void copy(struct buffer *src, struct buffer *dst,
		 const VkBufferCopy *regions, uint32_t count)
{
	uint32_t i;

	vkCmdCopyBuffer(vk.cmd, src->buffer, dst->buffer, count, regions);
	for (i = 0; i < count; i++)
		memcpy(dst->expected + regions[i].dstOffset,
		       src->expected + regions[i].srcOffset, regions[i].size);
}

static void test_fill(void)
{
	begin();
	fill(&vk.a, 0, SIZE, 0xdeadbeef);
	run("vkCmdFillBuffer: a whole buffer");

	begin();
	fill(&vk.a, 4, 4, 0x01020304);
	fill(&vk.a, 1000, 12344, 0xa5a5a5a5);
	fill(&vk.b, SIZE - 20, 20, 0x12345678);
	run("vkCmdFillBuffer: parts");
}

static void test_update(void)
{
	begin();
	update(&vk.a, 0, 4);
	update(&vk.a, 132, 65536);
	update(&vk.b, SIZE - 64, 64);
	run("vkCmdUpdateBuffer");
}

static void test_copy(void)
{
	const VkBufferCopy whole = { 0, 0, SIZE };
	const VkBufferCopy odd = { 3, 7, 12345 };
	const VkBufferCopy several[] = {
		{ 0, 100, 1 },
		{ 4096, 8192, 4096 },
		{ 70001, 2, 17 },
		{ SIZE - 16, SIZE - 16, 16 },
	};

	begin();
	copy(&vk.a, &vk.b, &whole, 1);
	run("vkCmdCopyBuffer: a whole buffer");

	begin();
	copy(&vk.a, &vk.b, &odd, 1);
	run("vkCmdCopyBuffer: odd offsets and size");

	begin();
	copy(&vk.a, &vk.b, several, 4);
	run("vkCmdCopyBuffer: several regions");
}

static void test_chain(void)
{
	const VkBufferCopy there = { 0, 4096, 1 << 20 };
	const VkBufferCopy back = { 8192, 1 << 21, 65536 };

	begin();
	fill(&vk.a, 0, 1 << 20, 0xcafef00d);
	transfer_barrier();
	update(&vk.a, 4096, 1024);
	transfer_barrier();
	copy(&vk.a, &vk.b, &there, 1);
	transfer_barrier();
	copy(&vk.b, &vk.a, &back, 1);
	run("fill, update and copies that depend on each other");
}

int main(void)
{
	create_instance();
	choose_device();
	choose_family();
	create_device();
	create_commands();
	create_buffer(&vk.a);
	create_buffer(&vk.b);

	test_fill();
	test_update();
	test_copy();
	test_chain();
	printf("1..%u\n", number);

	destroy_all();
	return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
