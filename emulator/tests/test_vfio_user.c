// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "helpers.h"
#include "vfio_user.h"

enum {
	VERSION = 1, DMA_MAP, DMA_UNMAP, GET_INFO, GET_REGION_INFO,
	GET_REGION_IO_FDS, GET_IRQ_INFO, SET_IRQS, REGION_READ, REGION_WRITE,
	DMA_READ, DMA_WRITE, RESET, WRITE_MULTI = 15,
};

#define COMMAND		0
#define REPLY		1
#define NO_REPLY	0x10
#define ERROR		0x20

struct header {
	uint16_t id, command;
	uint32_t size, flags, error;
};

struct fixture {
	struct machine *m;
	struct vagx_vfu *vfu;
	int client;
	unsigned int resets, maps, unmaps, unmap_alls, irqs, triggers;
	int last_fd;
	uint64_t last_offset;
	uint32_t last_region;
	size_t last_len;
	uint64_t value;
	int answer;			/* what the device says */
};

static struct fixture fixture;

static int on_map(void *ctx, uint64_t address, uint64_t size, bool writable,
		  int fd, uint64_t offset)
{
	struct fixture *f = ctx;

	f->maps++;
	f->last_fd = fd;
	return f->answer;
}

static int on_unmap(void *ctx, uint64_t address, uint64_t size)
{
	struct fixture *f = ctx;

	f->unmaps++;
	return f->answer;
}

static int on_unmap_all(void *ctx)
{
	struct fixture *f = ctx;

	f->unmap_alls++;
	return f->answer;
}

static int on_read(void *ctx, uint32_t region, uint64_t offset, void *buf,
		   size_t len)
{
	struct fixture *f = ctx;

	f->last_region = region;
	f->last_offset = offset;
	f->last_len = len;
	memset(buf, 0xab, len);
	return f->answer;
}

static int on_write(void *ctx, uint32_t region, uint64_t offset,
		    const void *buf, size_t len)
{
	struct fixture *f = ctx;

	f->last_region = region;
	f->last_offset = offset;
	f->last_len = len;
	f->value = 0;
	memcpy(&f->value, buf, len < 8 ? len : 8);
	return f->answer;
}

static int on_irq(void *ctx, uint32_t index, uint32_t vector, int fd)
{
	struct fixture *f = ctx;

	f->irqs++;
	f->last_fd = fd;
	if (fd >= 0)
		close(fd);
	return f->answer;
}

static int on_trigger(void *ctx, uint32_t index, uint32_t vector)
{
	struct fixture *f = ctx;

	f->triggers++;
	return f->answer;
}

static int on_reset(void *ctx)
{
	struct fixture *f = ctx;

	f->resets++;
	return f->answer;
}

static const struct vagx_vfu_ops ops = {
	.dma_map = on_map,
	.dma_unmap = on_unmap,
	.dma_unmap_all = on_unmap_all,
	.region_read = on_read,
	.region_write = on_write,
	.set_irq = on_irq,
	.trigger_irq = on_trigger,
	.reset = on_reset,
};

static const struct vagx_vfu_region regions[] = {
	{ 0x2000000, true, true },
	{ 0, false, false },
	{ 0x100, true, false },
};

static const struct vagx_vfu_irq irqs[] = {
	{ 0, false },
	{ 4, true },
};

static void connect_fixture(void)
{
	struct vagx_vfu_config config = {
		.report = fixture.m->report,
		.ops = &ops,
		.ctx = &fixture,
		.regions = regions,
		.num_regions = 3,
		.irqs = irqs,
		.num_irqs = 2,
	};
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	fixture.client = pair[0];
	fcntl(fixture.client, F_SETFL, O_NONBLOCK);
	fixture.vfu = vagx_vfu_new(&config, pair[1]);
	assert_non_null(fixture.vfu);
}

static int setup(void **state)
{
	memset(&fixture, 0, sizeof(fixture));
	fixture.m = machine_new();
	connect_fixture();
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	vagx_vfu_free(f->vfu);
	close(f->client);
	machine_free(f->m);
	return 0;
}

static int run(struct fixture *f)
{
	return vagx_vfu_process(f->vfu);
}

static void put_fds(struct fixture *f, const void *data, size_t len,
		    const int *fds, unsigned int count)
{
	union {
		char data[CMSG_SPACE(sizeof(int) * 32)];
		struct cmsghdr align;
	} control;
	struct iovec iov = { .iov_base = (void *)data, .iov_len = len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *cmsg;

	if (count) {
		memset(&control, 0, sizeof(control));
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(sizeof(int) * count);
		cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int) * count);
		memcpy(CMSG_DATA(cmsg), fds, sizeof(int) * count);
	}
	assert_int_equal(sendmsg(f->client, &msg, MSG_NOSIGNAL), len);
}

static void request_fds(struct fixture *f, unsigned int command,
			unsigned int flags, const void *body, size_t len,
			const int *fds, unsigned int count)
{
	struct {
		struct header header;
		uint8_t body[512];
	} message = {
		.header = {
			.id = 0x1234, .command = command,
			.size = sizeof(struct header) + len, .flags = flags,
		},
	};

	assert_true(len <= sizeof(message.body));
	if (len)
		memcpy(message.body, body, len);
	put_fds(f, &message, sizeof(struct header) + len, fds, count);
}

static void request(struct fixture *f, unsigned int command,
		    const void *body, size_t len)
{
	request_fds(f, command, COMMAND, body, len, NULL, 0);
}

/* Return: bytes of the reply's body, -1 without a reply */
static ssize_t reply(struct fixture *f, struct header *header, void *body,
		     size_t size)
{
	uint8_t rest[1024];
	ssize_t got = recv(f->client, header, sizeof(*header), 0);
	size_t len;

	if (got < 0)
		return -1;
	assert_int_equal(got, sizeof(*header));
	assert_int_equal(header->id, 0x1234);
	assert_int_equal(header->flags & 0xf, REPLY);
	len = header->size - sizeof(*header);
	assert_true(len <= sizeof(rest));
	if (len)
		assert_int_equal(recv(f->client, rest, len, 0), len);
	if (body)
		memcpy(body, rest, len < size ? len : size);
	return len;
}

/* The request is answered with success, and so much data */
static void granted(struct fixture *f, void *body, size_t size)
{
	struct header header;

	assert_int_equal(run(f), 1);
	assert_int_equal(reply(f, &header, body, size), size);
	assert_int_equal(header.flags, REPLY);
	assert_int_equal(header.error, 0);
}

static void refused(struct fixture *f, int error)
{
	struct header header;

	assert_int_equal(run(f), 1);
	assert_int_equal(reply(f, &header, NULL, 0), 0);
	assert_int_equal(header.flags, REPLY | ERROR);
	assert_int_equal(header.error, error);
}

static void greet(struct fixture *f)
{
	static const char version[] =
		"\0\0\0\0{\"capabilities\":{\"max_msg_fds\":8}}";
	struct header header;
	char body[256] = "";

	request(f, VERSION, version, sizeof(version));
	assert_int_equal(run(f), 1);
	assert_true(reply(f, &header, body, sizeof(body)) > 4);
	assert_int_equal(header.flags, REPLY);
	assert_int_equal(body[0] | body[2], 0);
	assert_non_null(strstr(body + 4, "\"write_multiple\":true"));
}

static void negotiates(void **state)
{
	struct fixture *f = *state;
	uint32_t info[4] = { 16 };

	greet(f);
	request(f, GET_INFO, info, sizeof(info));
	granted(f, info, sizeof(info));
	assert_int_equal(info[1], 3);
	assert_int_equal(info[2], 3);
	assert_int_equal(info[3], 2);
	close(f->client);
	assert_int_equal(run(f), 0);
	f->client = -1;
}

static void describes_itself(void **state)
{
	struct fixture *f = *state;
	struct {
		uint32_t argsz, flags, index, cap_offset;
		uint64_t size, offset;
	} region = { .argsz = 32 };
	struct {
		uint32_t argsz, flags, index, count;
	} irq = { .argsz = 16, .index = 1 };

	greet(f);
	request(f, GET_REGION_INFO, &region, sizeof(region));
	granted(f, &region, sizeof(region));
	assert_int_equal(region.size, 0x2000000);
	assert_int_equal(region.flags, 3);
	region.index = 3;
	request(f, GET_REGION_INFO, &region, sizeof(region));
	refused(f, EINVAL);
	region.index = UINT32_MAX;
	request(f, GET_REGION_INFO, &region, sizeof(region));
	refused(f, EINVAL);

	request(f, GET_IRQ_INFO, &irq, sizeof(irq));
	granted(f, &irq, sizeof(irq));
	assert_int_equal(irq.count, 4);
	irq.index = 2;
	request(f, GET_IRQ_INFO, &irq, sizeof(irq));
	refused(f, EINVAL);
}

struct access {
	uint64_t offset;
	uint32_t region, count;
	uint8_t data[16];
};

static void reads_and_writes(void **state)
{
	struct fixture *f = *state;
	struct access a = { 0x8110, 0, 4, { 1, 2, 3, 4 } };
	struct access got;

	greet(f);
	request(f, REGION_READ, &a, 16);
	granted(f, &got, 20);
	assert_int_equal(got.data[3], 0xab);
	assert_int_equal(f->last_offset, 0x8110);
	request(f, REGION_WRITE, &a, 20);
	granted(f, &got, 16);
	assert_int_equal(f->value, 0x04030201);

	/* Posted: no answer, neither good nor bad */
	a.data[0] = 9;
	request_fds(f, REGION_WRITE, NO_REPLY, &a, 20, NULL, 0);
	a.region = 77;
	request_fds(f, REGION_WRITE, NO_REPLY, &a, 20, NULL, 0);
	assert_int_equal(run(f), 1);
	assert_int_equal(f->value, 0x04030209);
	assert_int_equal(reply(f, (struct header[1]){}, NULL, 0), -1);

	a = (struct access) { 0, 2, 4, { 0 } };
	request(f, REGION_WRITE, &a, 20);
	refused(f, EINVAL);
	a = (struct access) { 0, 1, 0, { 0 } };
	request(f, REGION_READ, &a, 16);
	refused(f, EINVAL);
	a = (struct access) { 0x1fffffd, 0, 4, { 0 } };
	request(f, REGION_READ, &a, 16);
	refused(f, EINVAL);
	a = (struct access) { UINT64_MAX - 1, 0, 4, { 0 } };
	request(f, REGION_READ, &a, 16);
	refused(f, EINVAL);
	f->answer = -EINVAL;
	a = (struct access) { 0, 0, 4, { 0 } };
	request(f, REGION_READ, &a, 16);
	refused(f, EINVAL);
}

static void many_writes_at_once(void **state)
{
	struct fixture *f = *state;
	struct {
		uint64_t count;
		struct {
			uint64_t offset;
			uint32_t region, count;
			uint64_t data;
		} one[3];
	} multi = { 3, { { 0, 0, 4, 1 }, { 8, 0, 8, 2 }, { 16, 0, 4, 3 } } };
	struct vagx_vfu_stats stats;

	greet(f);
	request_fds(f, WRITE_MULTI, NO_REPLY, &multi, sizeof(multi), NULL, 0);
	assert_int_equal(run(f), 1);
	assert_int_equal(f->value, 3);
	assert_int_equal(f->last_offset, 16);
	vagx_vfu_get_stats(f->vfu, &stats);
	assert_int_equal(stats.writes, 3);
	multi.one[1].region = 9;
	request(f, WRITE_MULTI, &multi, sizeof(multi));
	refused(f, EINVAL);
	multi.one[0].count = 9;
	request(f, WRITE_MULTI, &multi, sizeof(multi));
	assert_int_equal(run(f), -EPROTO);
}

static void maps_memory(void **state)
{
	struct fixture *f = *state;
	struct {
		uint32_t argsz, flags;
		uint64_t offset, address, size;
	} map = { 32, 3, 0, 0x40000000, 0x1000 };
	struct {
		uint32_t argsz, flags;
		uint64_t address, size;
	} unmap = { 24, 0, 0x40000000, 0x1000 };
	int fd = memfd_create("x", 0);

	greet(f);
	request_fds(f, DMA_MAP, COMMAND, &map, sizeof(map), &fd, 1);
	granted(f, NULL, 0);
	assert_true(f->last_fd >= 0);
	request(f, DMA_MAP, &map, sizeof(map));
	granted(f, NULL, 0);
	assert_int_equal(f->last_fd, -1);
	request(f, DMA_UNMAP, &unmap, sizeof(unmap));
	granted(f, &unmap, sizeof(unmap));
	assert_int_equal(f->unmaps, 1);
	unmap.flags = 2;
	request(f, DMA_UNMAP, &unmap, sizeof(unmap));
	granted(f, &unmap, sizeof(unmap));
	assert_int_equal(f->unmap_alls, 1);

	unmap.flags = 0x80;
	request(f, DMA_UNMAP, &unmap, sizeof(unmap));
	refused(f, EINVAL);
	map.flags = 0x13;
	request(f, DMA_MAP, &map, sizeof(map));
	refused(f, EINVAL);
	map.flags = 2;
	request(f, DMA_MAP, &map, sizeof(map));
	refused(f, EINVAL);
	map.flags = 3;
	f->answer = -ENOSPC;
	request(f, DMA_MAP, &map, sizeof(map));
	refused(f, ENOSPC);
	close(fd);
}

struct set_irqs {
	uint32_t argsz, flags, index, start, count;
	uint8_t data[4];
};

static void interrupts(void **state)
{
	struct fixture *f = *state;
	struct set_irqs set = { 20, 0x24, 1, 0, 4, { 1, 0, 1, 1 } };
	int fds[4];

	greet(f);
	for (unsigned int i = 0; i < 4; i++)
		fds[i] = eventfd(0, 0);
	request_fds(f, SET_IRQS, COMMAND, &set, 20, fds, 4);
	granted(f, NULL, 0);
	assert_int_equal(f->irqs, 4);
	assert_true(f->last_fd >= 0);
	/* Without descriptors: take the targets away */
	request(f, SET_IRQS, &set, 20);
	granted(f, NULL, 0);
	assert_int_equal(f->irqs, 8);
	assert_int_equal(f->last_fd, -1);

	set.flags = 0x22;
	request(f, SET_IRQS, &set, 24);
	granted(f, NULL, 0);
	assert_int_equal(f->triggers, 3);
	set.flags = 0x21;
	request(f, SET_IRQS, &set, 20);
	granted(f, NULL, 0);
	assert_int_equal(f->triggers, 7);
	set.count = 0;
	request(f, SET_IRQS, &set, 20);
	granted(f, NULL, 0);
	assert_int_equal(f->irqs, 12);

	set = (struct set_irqs) { 20, 0x24, 1, 1, 4, { 0 } };
	request(f, SET_IRQS, &set, 20);
	refused(f, EINVAL);
	set = (struct set_irqs) { 20, 0x24, 1, 4, UINT32_MAX, { 0 } };
	request(f, SET_IRQS, &set, 20);
	refused(f, EINVAL);
	set = (struct set_irqs) { 20, 0x24, 2, 0, 1, { 0 } };
	request(f, SET_IRQS, &set, 20);
	refused(f, EINVAL);
	set = (struct set_irqs) { 20, 0x09, 1, 0, 1, { 0 } };
	request(f, SET_IRQS, &set, 20);
	refused(f, EINVAL);
	set = (struct set_irqs) { 20, 0x27, 1, 0, 1, { 0 } };
	request(f, SET_IRQS, &set, 20);
	refused(f, EINVAL);
	for (unsigned int i = 0; i < 4; i++)
		close(fds[i]);
}

static void resets(void **state)
{
	struct fixture *f = *state;

	greet(f);
	request(f, RESET, NULL, 0);
	granted(f, NULL, 0);
	assert_int_equal(f->resets, 1);
	request(f, GET_REGION_IO_FDS, NULL, 0);
	refused(f, ENOTSUP);
	request(f, 999, NULL, 0);
	refused(f, ENOTSUP);
}

/* Each of these ends the connection, and each connection is a new one */
static void malformed_messages_end_it(void **state)
{
	static const struct {
		bool greeted;
		struct header header;
		uint8_t body[32];
	} cases[] = {
		{ false, { 1, GET_INFO, 32, 0, 0 }, { 0 } },
		{ false, { 1, VERSION, 16, 0, 0 }, { 0 } },
		{ false, { 1, VERSION, 18, 0, 0 }, { 0 } },
		{ false, { 1, VERSION, 20, 0, 0 }, { 1 } },
		{ false, { 1, VERSION, 24, 0, 0 }, { 0, 0, 0, 0, 'a', 'b', 'c', 'd' } },
		{ true, { 1, VERSION, 20, 0, 0 }, { 0 } },
		{ true, { 1, RESET, 0, 0, 0 }, { 0 } },
		{ true, { 1, RESET, 15, 0, 0 }, { 0 } },
		{ true, { 1, RESET, 0x80000000, 0, 0 }, { 0 } },
		{ true, { 1, RESET, UINT32_MAX, 0, 0 }, { 0 } },
		{ true, { 1, RESET, 16, REPLY, 0 }, { 0 } },
		{ true, { 1, RESET, 16, ERROR, 0 }, { 0 } },
		{ true, { 1, RESET, 16, 0x80, 0 }, { 0 } },
		{ true, { 1, DMA_MAP, 16, 0, 0 }, { 0 } },
		{ true, { 1, DMA_MAP, 47, 0, 0 }, { 0 } },
		{ true, { 1, DMA_UNMAP, 39, 0, 0 }, { 0 } },
		{ true, { 1, GET_INFO, 31, 0, 0 }, { 0 } },
		{ true, { 1, GET_REGION_INFO, 47, 0, 0 }, { 0 } },
		{ true, { 1, GET_IRQ_INFO, 31, 0, 0 }, { 0 } },
		{ true, { 1, SET_IRQS, 35, 0, 0 }, { 0 } },
		/* Four vectors, but no values for them */
		{ true, { 1, SET_IRQS, 36, 0, 0 },
		  { 20, 0, 0, 0, 0x22, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 4 } },
		{ true, { 1, REGION_READ, 31, 0, 0 }, { 0 } },
		{ true, { 1, REGION_READ, 33, 0, 0 }, { 0 } },
		{ true, { 1, REGION_READ, 32, 0, 0 },
		  { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff } },
		{ true, { 1, REGION_WRITE, 31, 0, 0 }, { 0 } },
		{ true, { 1, REGION_WRITE, 36, 0, 0 },
		  { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8 } },
		{ true, { 1, REGION_WRITE, 36, 0, 0 },
		  { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff } },
		{ true, { 1, WRITE_MULTI, 20, 0, 0 }, { 0 } },
		{ true, { 1, WRITE_MULTI, 24, 0, 0 }, { 1 } },
		{ true, { 1, WRITE_MULTI, 24, 0, 0 },
		  { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t len = cases[i].header.size;
		uint8_t message[48];

		if (cases[i].greeted)
			greet(f);
		memcpy(message, &cases[i].header, 16);
		memcpy(message + 16, cases[i].body, 32);
		put_fds(f, message, len < 16 || len > 48 ? 16 : len, NULL, 0);
		assert_int_equal(run(f), -EPROTO);
		vagx_vfu_free(f->vfu);
		close(f->client);
		connect_fixture();
	}
	assert_int_equal(f->resets, 0);
}

static void descriptors_in_the_wrong_place(void **state)
{
	struct fixture *f = *state;
	struct set_irqs set = { 20, 0x24, 1, 0, 4, { 0 } };
	uint8_t map[32] = { 32, 0, 0, 0, 3 };
	const struct {
		unsigned int command, count;
		const void *body;
		size_t len;
	} cases[] = {
		{ RESET, 1, NULL, 0 },
		{ DMA_MAP, 2, map, sizeof(map) },
		{ SET_IRQS, 3, &set, 20 },
		{ SET_IRQS, 16, &set, 20 },
	};
	int fds[16];

	for (unsigned int i = 0; i < 16; i++)
		fds[i] = eventfd(0, 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		greet(f);
		request_fds(f, cases[i].command, COMMAND, cases[i].body,
			    cases[i].len, fds, cases[i].count);
		assert_int_equal(run(f), -EPROTO);
		vagx_vfu_free(f->vfu);
		close(f->client);
		connect_fixture();
	}
	for (unsigned int i = 0; i < 16; i++)
		close(fds[i]);
}

static void messages_may_come_in_pieces(void **state)
{
	struct fixture *f = *state;
	struct {
		struct header header;
		struct access access;
	} message = { { 0x1234, REGION_WRITE, 40, 0, 0 },
		      { 0, 0, 8, { 1, 2, 3, 4, 5, 6, 7, 8 } } };

	greet(f);
	for (unsigned int i = 0; i < message.header.size - 1; i++) {
		put_fds(f, (uint8_t *)&message + i, 1, NULL, 0);
		assert_int_equal(run(f), 1);
		assert_int_equal(f->value, 0);
	}
	put_fds(f, (uint8_t *)&message + 39, 1, NULL, 0);
	granted(f, NULL, 16);
	assert_int_equal(f->value, 0x0807060504030201ULL);
}

/* Nothing that a client sends is undefined behaviour, and no descriptor stays */

static unsigned int open_descriptors(void)
{
	unsigned int count = 0;

	for (int fd = 0; fd < 256; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			count++;
	}
	return count;
}

/* The client goes away at each byte of a message that brings a descriptor */
static void ends_at_every_byte(void **state)
{
	struct fixture *f = *state;
	struct {
		struct header header;
		uint32_t argsz, flags;
		uint64_t offset, address, size;
	} message = { { 0x1234, DMA_MAP, 48, 0, 0 }, 32, 3, 0, 0, 0x1000 };
	unsigned int before = open_descriptors();
	int fd = eventfd(0, 0);

	for (unsigned int len = 0; len <= message.header.size; len++) {
		bool whole = !len || len == message.header.size;

		greet(f);
		put_fds(f, &message, len, &fd, len ? 1 : 0);
		shutdown(f->client, SHUT_WR);
		assert_int_equal(run(f), whole ? 0 : -EPROTO);
		vagx_vfu_free(f->vfu);
		close(f->client);
		connect_fixture();
	}
	close(fd);
	assert_int_equal(open_descriptors(), before);
}

static uint32_t pick(unsigned int *seed)
{
	static const uint32_t special[] = {
		0, 1, 2, 3, 4, 8, 15, 16, 17, 20, 24, 32, 0x24, 0x7fffffff,
		0x80000000, UINT32_MAX, UINT32_MAX - 1, 0x10000, 0x10010,
		0x2000000,
	};
	unsigned int n = sizeof(special) / sizeof(special[0]);
	unsigned int choice = rand_r(seed);

	return choice & 1 ? special[choice / 2 % n] : (uint32_t)rand_r(seed);
}

static void fuzz_one(struct fixture *f, unsigned int *seed, int fd)
{
	uint32_t words[4 + 32];
	struct header *header = (struct header *)words;
	unsigned int len = 16 + rand_r(seed) % 129;
	unsigned int count = rand_r(seed) % 8 ? 0 : rand_r(seed) % 12;
	int fds[12];

	for (unsigned int i = 0; i < sizeof(words) / 4; i++)
		words[i] = pick(seed);
	for (unsigned int i = 0; i < 12; i++)
		fds[i] = fd;
	header->command = rand_r(seed) % 17;
	if (rand_r(seed) % 8)
		header->size = len;
	if (rand_r(seed) % 8)
		header->flags = rand_r(seed) % 2 ? NO_REPLY : COMMAND;
	put_fds(f, words, len, fds, count);
}

static void random_messages(void **state)
{
	struct fixture *f = *state;
	unsigned int before, seed = 1;
	int fd = eventfd(0, 0);
	char drain[4096];

	before = open_descriptors();
	for (unsigned int i = 0; i < 20000; i++) {
		int ret;

		if (rand_r(&seed) % 16)
			greet(f);
		do {
			fuzz_one(f, &seed, fd);
			ret = run(f);
			while (recv(f->client, drain, sizeof(drain), 0) > 0)
				;
		} while (ret == 1 && rand_r(&seed) % 16);
		vagx_vfu_free(f->vfu);
		close(f->client);
		connect_fixture();
	}
	assert_int_equal(open_descriptors(), before);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(negotiates, setup, teardown),
		cmocka_unit_test_setup_teardown(describes_itself, setup, teardown),
		cmocka_unit_test_setup_teardown(reads_and_writes, setup, teardown),
		cmocka_unit_test_setup_teardown(many_writes_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(maps_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(interrupts, setup, teardown),
		cmocka_unit_test_setup_teardown(resets, setup, teardown),
		cmocka_unit_test_setup_teardown(malformed_messages_end_it, setup, teardown),
		cmocka_unit_test_setup_teardown(descriptors_in_the_wrong_place, setup, teardown),
		cmocka_unit_test_setup_teardown(messages_may_come_in_pieces, setup, teardown),
		cmocka_unit_test_setup_teardown(ends_at_every_byte, setup, teardown),
		cmocka_unit_test_setup_teardown(random_messages, setup, teardown),
	};

	return cmocka_run_group_tests_name("vfio-user", tests, NULL, NULL);
}
