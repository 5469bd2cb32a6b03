// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * The whole device behind its socket: what a client sees that does all in
 * order, and one that does not.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "helpers.h"

#include "device.h"

#define RAM_BASE	0xb0000000ULL
#define RAM_SIZE	0x400000ULL

#define BAR0		0
#define MSIX		2
#define CONFIG		7
#define CPU_CONTROL	0x44
#define MAILBOX		0x8000
#define CARRIER		0x40000
#define SGX		0x1000000

enum {
	CMD_VERSION = 1, CMD_DMA_MAP, CMD_DMA_UNMAP, CMD_SET_IRQS = 8,
	CMD_READ, CMD_WRITE, CMD_RESET = 13,
};

struct client {
	struct vagx_report *report;
	FILE *null;
	struct vagx_device *device;
	pthread_t thread;
	int socket, signal_fd, server_socket;
	int ram_fd;
	uint8_t *ram;
	int irq[4];
	bool joined;
	int result;
};

static struct client client;

static void *serve(void *arg)
{
	struct client *c = arg;

	c->result = vagx_device_serve(c->device, c->server_socket,
				      c->signal_fd);
	return NULL;
}

static void ask_fds(struct client *c, unsigned int command, const void *body,
		    size_t len, void *answer, size_t size, const int *fds,
		    unsigned int count)
{
	struct {
		uint16_t id, command;
		uint32_t size, flags, error;
		uint8_t body[256];
	} m = { 1, command, 16 + len, 0, 0, { 0 } };
	union {
		char data[CMSG_SPACE(sizeof(int) * 8)];
		struct cmsghdr align;
	} control = { { 0 } };
	struct iovec iov = { .iov_base = &m, .iov_len = 16 + len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *cmsg;

	if (len)
		memcpy(m.body, body, len);
	if (count) {
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(sizeof(int) * count);
		cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int) * count);
		memcpy(CMSG_DATA(cmsg), fds, sizeof(int) * count);
	}
	assert_int_equal(sendmsg(c->socket, &msg, MSG_NOSIGNAL), 16 + len);
	if (recv(c->socket, &m, 16, MSG_WAITALL) != 16)
		return;
	assert_true(m.size <= sizeof(m));
	if (m.size > 16)
		assert_int_equal(recv(c->socket, m.body, m.size - 16,
				      MSG_WAITALL), m.size - 16);
	if (answer)
		memcpy(answer, m.body, size);
}

static void ask(struct client *c, unsigned int command, const void *body,
		size_t len, void *answer, size_t size)
{
	ask_fds(c, command, body, len, answer, size, NULL, 0);
}

struct access {
	uint64_t offset;
	uint32_t region, count;
	uint64_t value;
};

static uint64_t get(struct client *c, uint32_t region, uint64_t offset,
		    uint32_t count)
{
	struct access a = { offset, region, count, 0 };

	ask(c, CMD_READ, &a, 16, &a, 16 + count);
	return a.value;
}

static void put(struct client *c, uint32_t region, uint64_t offset,
		uint32_t count, uint64_t value)
{
	struct access a = { offset, region, count, value };

	ask(c, CMD_WRITE, &a, 16 + count, NULL, 0);
}

static void map_ram(struct client *c)
{
	struct {
		uint32_t argsz, flags;
		uint64_t offset, address, size;
	} map = { 32, 3, 0, RAM_BASE, RAM_SIZE };

	ask_fds(c, CMD_DMA_MAP, &map, sizeof(map), NULL, 0, &c->ram_fd, 1);
}

static void unmap_ram(struct client *c)
{
	struct {
		uint32_t argsz, flags;
		uint64_t address, size;
	} unmap = { 24, 0, RAM_BASE, RAM_SIZE };

	ask(c, CMD_DMA_UNMAP, &unmap, sizeof(unmap), NULL, 0);
}

static void start(struct client *c, unsigned int mailbox_delay_ms)
{
	struct vagx_report_config report = { .level = VAGX_LOG_ERROR };
	struct vagx_device_config config = {
		.id = { 4, 2, 0x11, 1, 8 },
		.firmware = "13.5",
		.oas_bits = 40,
		.boot.regions.region = {
			[VAGX_REGION_TTBS] = { 0xb0000000, 0x4000 },
			[VAGX_REGION_PAGETABLES] = { 0xb0004000, 0xfc000 },
			[VAGX_REGION_HANDOFF] = { 0xb0100000, 0x4000 },
			[VAGX_REGION_HW_CAL_A] = { 0xb0104000, 0x8000 },
			[VAGX_REGION_HW_CAL_B] = { 0xb010c000, 0x4000 },
			[VAGX_REGION_GLOBALS] = { 0xb0110000, 0x18000 },
		},
		.cores = 2,
		.mailbox_delay_ms = mailbox_delay_ms,
	};
	struct {
		uint32_t argsz, flags, index, start, count;
	} set = { 20, 0x24, 2, 0, 4 };
	sigset_t signals;
	int pair[2];

	c->joined = false;
	c->null = fopen("/dev/null", "w");
	report.stream = getenv("VAGX_TEST_VERBOSE") ? stderr : c->null;
	c->report = vagx_report_new(&report);
	config.report = c->report;
	c->device = vagx_device_new(&config);
	assert_non_null(c->device);

	sigemptyset(&signals);
	c->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	c->socket = pair[0];
	c->server_socket = pair[1];
	assert_int_equal(pthread_create(&c->thread, NULL, serve, c), 0);

	c->ram_fd = memfd_create("ram", MFD_CLOEXEC);
	assert_int_equal(ftruncate(c->ram_fd, RAM_SIZE), 0);
	c->ram = mmap(NULL, RAM_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
		      c->ram_fd, 0);
	ask(c, CMD_VERSION, "\0\0\0", 4, NULL, 0);
	map_ram(c);
	for (unsigned int i = 0; i < 4; i++)
		c->irq[i] = eventfd(0, EFD_NONBLOCK);
	ask_fds(c, CMD_SET_IRQS, &set, sizeof(set), NULL, 0, c->irq, 4);
}

static void stop(struct client *c)
{
	close(c->socket);
	if (!c->joined)
		pthread_join(c->thread, NULL);
	vagx_device_free(c->device);
	vagx_report_free(c->report);
	munmap(c->ram, RAM_SIZE);
	close(c->ram_fd);
	close(c->signal_fd);
	for (unsigned int i = 0; i < 4; i++)
		close(c->irq[i]);
	fclose(c->null);
}

static void post(struct client *c, uint8_t ep, uint64_t msg)
{
	put(c, BAR0, MAILBOX + 0x800, 8, msg);
	put(c, BAR0, MAILBOX + 0x808, 8, ep);
}

static uint64_t receive(struct client *c)
{
	uint64_t msg;

	assert_int_equal(get(c, BAR0, MAILBOX + 0x114, 4) & 1U << 17, 0);
	msg = get(c, BAR0, MAILBOX + 0x830, 8);
	get(c, BAR0, MAILBOX + 0x838, 8);
	return msg;
}

static void handshake(struct client *c)
{
	put(c, BAR0, CPU_CONTROL, 4, get(c, BAR0, CPU_CONTROL, 4) | 0x10);
	assert_int_equal(receive(c), 0x00100000000c000bULL);
	post(c, 0, 0x00200000000c000cULL);
	assert_int_equal(receive(c), 0x008000000000011fULL);
	post(c, 0, 0x0080000000000001ULL);
	assert_int_equal(receive(c), 0x0088000100000003ULL);
	post(c, 0, 0x0088000100000000ULL);
	assert_int_equal(receive(c), 0x0070000000000020ULL);
}

static bool fired(struct client *c, unsigned int irq)
{
	uint64_t count;

	return read(c->irq[irq], &count, sizeof(count)) == sizeof(count);
}

static void in_order(void **state)
{
	struct client *c = &client;

	start(c, 0);
	assert_int_equal(get(c, CONFIG, 0, 4), 0x10f01af4);
	assert_int_equal(get(c, BAR0, CARRIER, 8), 0x158474156ULL);
	assert_int_equal(get(c, BAR0, SGX + 0xd04000, 4), 0x04021100);
	assert_int_equal(get(c, BAR0, 0x48, 4) & 2, 2);
	/* The boot loader was here: the chip's number */
	assert_int_equal(*(uint32_t *)(c->ram + 0x10c968), 0x8103);
	put(c, BAR0, CARRIER + 8, 8, 8);
	assert_false(fired(c, 3));
	handshake(c);
	assert_true(fired(c, 3));
	assert_int_equal(get(c, BAR0, 0x48, 4) & 1, 1);
	stop(c);
	assert_int_equal(c->result, 0);
}

static void reset_starts_anew(void **state)
{
	struct client *c = &client;

	start(c, 0);
	handshake(c);
	memset(c->ram, 0xff, 0x4000);
	ask(c, CMD_RESET, NULL, 0, NULL, 0);
	assert_int_equal(*(uint64_t *)c->ram, 0);
	assert_int_equal(get(c, BAR0, CPU_CONTROL, 4), 0);
	handshake(c);
	stop(c);
	assert_int_equal(c->result, 0);
}

static void registers_are_accessed_whole(void **state)
{
	struct client *c = &client;

	start(c, 0);
	put(c, BAR0, CPU_CONTROL, 1, 0x10);
	put(c, BAR0, CPU_CONTROL + 2, 4, 0x10);
	assert_int_equal(get(c, BAR0, CPU_CONTROL, 4), 0);
	put(c, BAR0, 0x48, 4, 1);
	assert_int_equal(vagx_report_count(c->report, VAGX_RULE_REG_READ_ONLY), 1);
	get(c, BAR0, 0x100, 4);
	put(c, BAR0, SGX - 4, 4, 1);
	assert_int_equal(vagx_report_count(c->report, VAGX_RULE_REG_UNKNOWN), 2);
	stop(c);
}

static void memory_that_vanishes(void **state)
{
	struct client *c = &client;

	/* The test runner took SIGBUS for itself; the device takes it back */
	start(c, 0);
	assert_int_equal(ftruncate(c->ram_fd, 0), 0);
	ask(c, CMD_RESET, NULL, 0, NULL, 0);
	pthread_join(c->thread, NULL);
	assert_int_equal(c->result, -EFAULT);
	c->joined = true;
	stop(c);
}

/* A client that knows the registers, but not what they are for */
static uint64_t where(unsigned int *seed)
{
	static const uint64_t places[] = {
		CPU_CONTROL, 0x48, MAILBOX + 0x110, MAILBOX + 0x114,
		MAILBOX + 0x800, MAILBOX + 0x808, MAILBOX + 0x830,
		MAILBOX + 0x838, CARRIER, CARRIER + 8, CARRIER + 0x10,
		CARRIER + 0x18, CARRIER + 0x20, CARRIER + 0x28,
		SGX + 0x17030, SGX + 0xd04000,
	};
	unsigned int n = sizeof(places) / sizeof(places[0]);

	if (rand_r(seed) % 16)
		return places[rand_r(seed) % n];
	return (uint64_t)rand_r(seed) % 0x2000000 & ~7ULL;
}

static uint64_t random_message(unsigned int *seed)
{
	static const uint64_t likely[] = {
		0x00200000000c000cULL, 0x0080000000000001ULL,
		0x0088000100000000ULL, 0x00b0000000000020ULL,
		0x0060000000000220ULL, 0x00b0000000000010ULL,
		0x0060000000000010ULL, 0x0050002000000002ULL,
		0x0050002100000002ULL, 0x0050000200000002ULL,
		0x0010400000000000ULL, 0x0083000000000011ULL,
		0x0081000000000000ULL, 0x0084000000000000ULL,
	};
	unsigned int n = sizeof(likely) / sizeof(likely[0]);

	if (rand_r(seed) % 4)
		return likely[rand_r(seed) % n];
	return (uint64_t)rand_r(seed) << 33 ^ rand_r(seed);
}

static void random_step(struct client *c, unsigned int *seed)
{
	static const uint8_t endpoints[] = { 0, 0, 0, 1, 2, 4, 8, 0x20, 0x21, 5 };
	uint8_t ep = endpoints[rand_r(seed) % sizeof(endpoints)];
	uint32_t *ram = (uint32_t *)c->ram;

	switch (rand_r(seed) % 32) {
	case 0:
		ask(c, CMD_RESET, NULL, 0, NULL, 0);
		break;
	case 1:
		unmap_ram(c);
		map_ram(c);
		break;
	case 2:
		put(c, CONFIG, rand_r(seed) % 63 * 4, 4, rand_r(seed));
		break;
	case 3:
		put(c, MSIX, rand_r(seed) % 0x100 * 4, 4, rand_r(seed));
		get(c, MSIX, rand_r(seed) % 0x300 * 4, 4);
		break;
	case 4 ... 7:
		ram[rand_r(seed) % (RAM_SIZE / 4)] = rand_r(seed);
		/* ... and what the page tables begin with */
		ram[rand_r(seed) % 64] = 0xb0000001 | rand_r(seed) % 64 << 14;
		ram[0x1000 + rand_r(seed) % 64] =
			0xb0000003 | rand_r(seed) % 64 << 14;
		break;
	case 8 ... 15:
		put(c, BAR0, where(seed), 4 << rand_r(seed) % 2, rand_r(seed));
		break;
	case 16 ... 20:
		get(c, BAR0, where(seed), 4 << rand_r(seed) % 2);
		break;
	case 21:
		put(c, BAR0, CPU_CONTROL, 4, 0x10);
		break;
	default:
		post(c, ep, random_message(seed));
	}
}

static void out_of_order(void **state)
{
	struct client *c = &client;

	for (unsigned int seed = 1; seed <= 40; seed++) {
		unsigned int random = seed;

		start(c, seed % 8 ? 0 : 1);
		if (seed % 2)
			handshake(c);
		/* 256 mappings over a connection's life are the limit */
		for (unsigned int i = 0; i < 400; i++)
			random_step(c, &random);
		stop(c);
		assert_int_equal(c->result, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_order),
		cmocka_unit_test(reset_starts_anew),
		cmocka_unit_test(registers_are_accessed_whole),
		cmocka_unit_test(memory_that_vanishes),
		cmocka_unit_test(out_of_order),
	};

	return cmocka_run_group_tests_name("device", tests, NULL, NULL);
}
