// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The vfio-user client: bytes as they are, or framed as messages, whose size is
 * then right, in pieces.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"
#include "vfio_user.h"

struct header {
	uint16_t id, command;
	uint32_t size, flags, error;
};

static int on_map(void *ctx, uint64_t address, uint64_t size, bool writable, int fd,
		  uint64_t offset)
{
	return 0;
}

static int on_unmap(void *ctx, uint64_t address, uint64_t size)
{
	return 0;
}

static int on_nothing(void *ctx)
{
	return 0;
}

/* As it was promised: inside of the region */
static int on_read(void *ctx, uint32_t region, uint64_t offset, void *buf, size_t len)
{
	FUZZ_CHECK(region == 0 && len <= 0x2000000 && offset <= 0x2000000 - len);
	memset(buf, 0, len);
	return 0;
}

static int on_write(void *ctx, uint32_t region, uint64_t offset, const void *buf, size_t len)
{
	volatile uint8_t sum = 0;
	size_t i;

	FUZZ_CHECK(region == 0 && len <= 0x2000000 && offset <= 0x2000000 - len);
	for (i = 0; i < len; i++)
		sum += ((const uint8_t *)buf)[i];
	return 0;
}

static int on_irq(void *ctx, uint32_t index, uint32_t vector, int fd)
{
	if (fd >= 0)
		close(fd);
	return 0;
}

static int on_trigger(void *ctx, uint32_t index, uint32_t vector)
{
	return 0;
}

static const struct vagx_vfu_ops ops = {
	.dma_map = on_map,
	.dma_unmap = on_unmap,
	.dma_unmap_all = on_nothing,
	.region_read = on_read,
	.region_write = on_write,
	.set_irq = on_irq,
	.trigger_irq = on_trigger,
	.reset = on_nothing,
};

static const struct vagx_vfu_region regions[] = { { 0x2000000, true, true } };
static const struct vagx_vfu_irq irqs[] = { { 4, true } };

/* Return: whether the server goes on */
static bool serve(struct vagx_vfu *vfu, int client, const void *data, size_t size)
{
	char answers[4096];
	bool goes_on;

	if (send(client, data, size, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)size)
		return false;
	goes_on = vagx_vfu_process(vfu) > 0;
	while (recv(client, answers, sizeof(answers), MSG_DONTWAIT) > 0)
		;
	return goes_on;
}

/* Command, flags and length, and what the length says of what follows */
static size_t one_message(struct vagx_vfu *vfu, int client, const uint8_t *data, size_t size,
			  bool *goes_on)
{
	uint8_t message[sizeof(struct header) + 256];
	struct header header = { .id = 1, .command = data[0], .flags = data[1] };
	size_t len = data[2] < size - 3 ? data[2] : size - 3;

	header.size = sizeof(header) + len;
	memcpy(message, &header, sizeof(header));
	memcpy(message + sizeof(header), data + 3, len);
	*goes_on = serve(vfu, client, message, header.size);
	return 3 + len;
}

static void talk(struct vagx_vfu *vfu, int client, const uint8_t *data, size_t size)
{
	/* versions 0.0, without capabilities */
	static const uint8_t hello[] = { 1, 0, 4, 0, 0, 0, 0 };
	bool goes_on = true, framed = data[0] & 1;
	size_t used = 1, len;

	if (data[0] & 2)
		one_message(vfu, client, hello, sizeof(hello), &goes_on);
	while (goes_on && size - used >= 3) {
		if (framed) {
			used += one_message(vfu, client, data + used, size - used, &goes_on);
			continue;
		}
		len = (data[0] >> 2) + 1u < size - used ? (data[0] >> 2) + 1u : size - used;
		goes_on = serve(vfu, client, data + used, len);
		used += len;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vagx_vfu_config config = {
		.report = fuzz_report(),
		.ops = &ops,
		.regions = regions,
		.num_regions = 1,
		.irqs = irqs,
		.num_irqs = 1,
	};
	struct vagx_vfu *vfu;
	int pair[2];

	if (size < 2)
		return 0;
	FUZZ_CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	vfu = vagx_vfu_new(&config, pair[1]);
	FUZZ_CHECK(vfu);
	talk(vfu, pair[0], data, size);
	vagx_vfu_free(vfu);
	close(pair[0]);
	return 0;
}
