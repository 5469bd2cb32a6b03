// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * The whole device behind its socket: what a client sees that does all in
 * order, and one that does not.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "helpers.h"

#include "commands.h"
#include "control.h"
#include "device.h"
#include "listen.h"
#include "soc.h"

#define RAM_BASE	0xb0000000ULL
#define RAM_SIZE	0x400000ULL

#define BAR0		0
#define MSIX		2
#define CONFIG		7
#define CPU_CONTROL	0x44
#define MAILBOX		0x8000
#define CARRIER		0x40000
#define PMGR_GFX	0x503f8
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

static void start_with(struct client *c, unsigned int mailbox_delay_ms,
		       const char *control)
{
	struct vagx_report_config report = { .level = VAGX_LOG_ERROR };
	struct vagx_device_config config = {
		.soc = vagx_soc_find("t8103"),
		.firmware = "13.5",
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
		.seed = 1,
		.power_off = VAGX_POWER_OFF_RANDOM,
		.control = control,
		.command = vagx_command,
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

static void start(struct client *c, unsigned int mailbox_delay_ms)
{
	start_with(c, mailbox_delay_ms, NULL);
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

static uint64_t root_entry(struct client *c, unsigned int index)
{
	return __atomic_load_n((uint64_t *)(c->ram + 0x4000) + index, __ATOMIC_ACQUIRE);
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
	/* The firmware has entered its tables before it says hello, and not earlier */
	assert_int_equal(root_entry(c, 0), 0);
	assert_int_equal(root_entry(c, 1), 0);
	put(c, BAR0, CPU_CONTROL, 4, 0x10);
	assert_int_equal(root_entry(c, 0), 0xb0008003);
	assert_int_equal(root_entry(c, 1), 0xb000c003);
	assert_int_equal(root_entry(c, 2), 0);
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

/* Power on the register, as mainline's driver does */
static void set_power(struct client *c, uint32_t state)
{
	uint32_t reg = get(c, BAR0, PMGR_GFX, 4) & ~0x1000030fU;

	put(c, BAR0, PMGR_GFX, 4, reg | state);
	assert_int_equal(get(c, BAR0, PMGR_GFX, 4) >> 4 & 0xf, state);
}

static void power_cycles(void **state)
{
	struct client *c = &client;

	start(c, 0);
	put(c, BAR0, CARRIER + 8, 8, 8);
	for (unsigned int i = 0; i < 100; i++) {
		handshake(c);
		assert_true(fired(c, 3));
		/* An answer that nobody reads is lost, too */
		post(c, 0, 0x0030000000000000ULL);
		memset(c->ram, 0xff, 0x400);
		set_power(c, 0);
		assert_int_equal(*(uint64_t *)c->ram, UINT64_MAX);
		memset(c->ram, 0, 0x400);
		fired(c, 3);
		set_power(c, 0xf);
		assert_false(fired(c, 3));
		assert_int_equal(get(c, BAR0, CPU_CONTROL, 4), 0);
		assert_int_equal(get(c, BAR0, 0x48, 4) & 2, 2);
		assert_int_equal(get(c, BAR0, MAILBOX + 0x114, 4) >> 17 & 1, 1);
	}
	assert_int_equal(vagx_report_count(c->report, VAGX_RULE_REG_UNPOWERED), 0);
	assert_false(vagx_report_failed(c->report));
	stop(c);
	assert_int_equal(c->result, 0);
}

static void reset_of_the_domain(void **state)
{
	struct client *c = &client;

	start(c, 0);
	handshake(c);
	put(c, BAR0, PMGR_GFX, 4, 0x4ff);
	put(c, BAR0, PMGR_GFX, 4, 0x800004ff);
	assert_int_equal(get(c, BAR0, SGX + 0xd04000, 4), 0);
	assert_int_equal(vagx_report_count(c->report, VAGX_RULE_REG_UNPOWERED), 1);
	put(c, BAR0, PMGR_GFX, 4, 0x4ff);
	put(c, BAR0, PMGR_GFX, 4, 0xff);
	assert_int_equal(get(c, BAR0, CPU_CONTROL, 4), 0);
	handshake(c);
	stop(c);
}

static void accesses_without_power(void **state)
{
	struct client *c = &client;

	start(c, 0);
	set_power(c, 0);
	assert_int_equal(get(c, BAR0, CPU_CONTROL, 4), 0);
	put(c, BAR0, CPU_CONTROL, 4, 0x10);
	assert_int_equal(get(c, BAR0, SGX + 0xd04000, 4), 0);
	assert_int_equal(get(c, BAR0, MAILBOX + 0x114, 4), 0);
	post(c, 0, 0x0030000000000000ULL);
	assert_int_equal(vagx_report_count(c->report, VAGX_RULE_REG_UNPOWERED), 6);
	/* What is no part of the domain answers */
	assert_int_equal(get(c, BAR0, CARRIER, 8), 0x158474156ULL);
	put(c, BAR0, CARRIER + 8, 8, 0xf);
	for (unsigned int i = 0; i < 4; i++)
		assert_false(fired(c, i));
	/* Levels that are high rise with the power */
	set_power(c, 0xf);
	assert_true(fired(c, 0));
	assert_true(fired(c, 2));
	assert_int_equal(get(c, BAR0, CPU_CONTROL, 4), 0);
	stop(c);
}

/* A reset of the machine also switches on */
static void reset_while_off(void **state)
{
	struct client *c = &client;

	start(c, 0);
	set_power(c, 0);
	ask(c, CMD_RESET, NULL, 0, NULL, 0);
	assert_int_equal(get(c, BAR0, PMGR_GFX, 4), 0xff);
	handshake(c);
	stop(c);
}

/* The control socket, with the program that tests use */

static char control_path[64];

static void make_control_path(void)
{
	char folder[32] = "/tmp/vagx-test-XXXXXX";

	assert_non_null(mkdtemp(folder));
	snprintf(control_path, sizeof(control_path), "%s/control", folder);
}

static void remove_control_path(void)
{
	*strrchr(control_path, '/') = '\0';
	assert_int_equal(rmdir(control_path), 0);
}

static char ctl_answer[2048];

/* Return: the exit status; the answer is in ctl_answer */
static int ctl(const char *command)
{
	char line[512];
	FILE *pipe;
	int status;

	assert_non_null(getenv("VAGX_CTL"));
	snprintf(line, sizeof(line), "%s %s %s 2>&1", getenv("VAGX_CTL"),
		 control_path, command);
	memset(ctl_answer, 0, sizeof(ctl_answer));
	pipe = popen(line, "r");
	assert_non_null(pipe);
	assert_non_null(fgets(ctl_answer, sizeof(ctl_answer), pipe));
	status = pclose(pipe);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void expect_ctl(const char *command, int status, const char *text)
{
	int got = ctl(command);

	if (got != status || !strstr(ctl_answer, text))
		fail_msg("%s: %d %s", command, got, ctl_answer);
}

static void commands_are_checked(void **state)
{
	static const struct {
		const char *command, *text;
	} wrong[] = {
		{ "nonsense", "unknown command" },
		{ "silence", "on|off is missing" },
		{ "silence maybe", "on|off is missing or wrong" },
		{ "silence on off", "off is superfluous" },
		{ "silence on x=1", "x is superfluous" },
		{ "channel-error type=1", "pipe is missing" },
		{ "channel-error pipe=3d type=1", "pipe is missing or wrong" },
		{ "channel-error pipe=vertex", "type is missing" },
		{ "channel-error pipe=vertex type=-1", "type is missing or wrong" },
		{ "channel-error pipe=vertex type=1x", "type is missing or wrong" },
		{ "hang pipe=", "pipe is missing or wrong" },
		{ "timeout", "slot is missing" },
		{ "timeout slot=99999999999999999999", "slot is missing or wrong" },
		{ "fault-register value=xyz", "value is missing or wrong" },
		{ "fault-register value=-1", "value is missing or wrong" },
		{ "fault-register value=1ffffffffffffffff", "value is missing or wrong" },
		{ "event word0=100000000", "word is missing or wrong" },
		{ "event word14=1", "word14 is superfluous" },
		{ "event-ring whole", "broken is missing or wrong" },
		{ "log level=6 text=x", "level is missing or wrong" },
		{ "late-flush ms=-1", "ms is missing or wrong" },
		{ "crash now", "now is superfluous" },
		{ "power-loss 1", "1 is superfluous" },
		{ "timeout slot=1", "the firmware is not up" },
		{ "event word0=1", "the firmware is not up" },
		{ "log level=1 text=x", "the firmware is not up" },
		{ "at-rest open", "closed is missing or wrong" },
		{ "silence a b c d e f g h i j k l m n o p q", "too many arguments" },
	};
	struct client *c = &client;

	make_control_path();
	start_with(c, 0, control_path);
	for (unsigned int i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		expect_ctl(wrong[i].command, 1, wrong[i].text);
	expect_ctl("help", 0, "ok help; status; at-rest [closed]; crash [text=...];");
	expect_ctl("status", 0, "ok pmgr=0x000000ff cpu-control=0x0 firmware=reset crashed=no");
	expect_ctl("at-rest", 0, "ok");
	expect_ctl("at-rest closed", 0, "ok");
	assert_int_equal(ctl("''"), 1);
	expect_ctl("'two\nlines'", 2, "no line");
	/* Nothing has happened */
	assert_int_equal(get(c, BAR0, PMGR_GFX, 4), 0xff);
	handshake(c);
	stop(c);
	assert_int_equal(access(control_path, F_OK), -1);
	expect_ctl("status", 3, "No such file");
	remove_control_path();
}

static uint32_t a2i_control(struct client *c)
{
	return get(c, BAR0, MAILBOX + 0x110, 4);
}

static void wait_for_answer(struct client *c)
{
	for (unsigned int i = 0; i < 20000 && get(c, BAR0, MAILBOX + 0x114, 4) >> 17 & 1; i++)
		usleep(1000);
}

static void full_mailbox(void **state)
{
	struct client *c = &client;

	make_control_path();
	start_with(c, 0, control_path);
	handshake(c);
	put(c, BAR0, CARRIER + 8, 8, 1);
	fired(c, 0);
	expect_ctl("mailbox-full on", 0, "ok");
	for (unsigned int i = 0; i < 16; i++) {
		assert_int_equal(a2i_control(c) >> 16 & 1, 0);
		post(c, 0, 0x0030000000000000ULL);
	}
	assert_int_equal(a2i_control(c) >> 16 & 1, 1);
	assert_int_equal(a2i_control(c) >> 17 & 1, 0);
	expect_ctl("status", 0, "mailbox-held=yes mailbox-waiting=16");
	assert_int_equal(get(c, BAR0, MAILBOX + 0x114, 4) >> 17 & 1, 1);
	assert_false(fired(c, 0));
	/* One too many is lost */
	post(c, 0, 0x0030000000000000ULL);
	assert_int_equal(vagx_report_count(c->report, VAGX_RULE_MBOX_OVERFLOW), 1);

	expect_ctl("mailbox-full off", 0, "ok");
	for (unsigned int i = 0; i < 20000 && !(a2i_control(c) >> 17 & 1); i++)
		usleep(1000);
	assert_true(fired(c, 0));
	for (unsigned int i = 0; i < 16; i++)
		assert_int_equal(receive(c), 0x0040000000000000ULL);
	assert_int_equal(get(c, BAR0, MAILBOX + 0x114, 4) >> 17 & 1, 1);
	stop(c);
	remove_control_path();
}

/* Now and then a message has to wait; all are answered, in their order */
static void pauses(void **state)
{
	struct client *c = &client;
	unsigned int held = 0, in_a_row = 0, n;

	(void)state;
	start(c, 60);
	handshake(c);
	for (n = 0; n < 700; n++, in_a_row++) {
		post(c, 0, 0x0030000000000000ULL);
		if (!(a2i_control(c) >> 17 & 1)) {
			assert_true(in_a_row >= 90);
			held++;
			in_a_row = 0;
			/* Behind it the FIFO fills */
			for (unsigned int i = 0; i < 15; i++)
				post(c, 0, 0x0030000000000000ULL);
			for (unsigned int i = 0; i < 15; i++) {
				wait_for_answer(c);
				assert_int_equal(receive(c), 0x0040000000000000ULL);
			}
		}
		wait_for_answer(c);
		assert_int_equal(receive(c), 0x0040000000000000ULL);
	}
	assert_in_range(held, 2, 7);
	assert_int_equal(vagx_report_total(c->report, VAGX_SEVERITY_VIOLATION), 0);
	stop(c);
}

/* What waited when power went is lost, and the pause is over */
static void pause_ends_with_power(void **state)
{
	struct client *c = &client;

	(void)state;
	start(c, 60000);
	handshake(c);
	while (a2i_control(c) >> 17 & 1) {
		post(c, 0, 0x0030000000000000ULL);
		if (a2i_control(c) >> 17 & 1)
			receive(c);
	}
	set_power(c, 0);
	set_power(c, 0xf);
	assert_int_equal(a2i_control(c) >> 17 & 1, 1);
	handshake(c);
	post(c, 0, 0x0030000000000000ULL);
	assert_int_equal(receive(c), 0x0040000000000000ULL);
	stop(c);
}

static void silence(void **state)
{
	struct client *c = &client;

	make_control_path();
	start_with(c, 0, control_path);
	handshake(c);
	expect_ctl("silence on", 0, "ok");
	post(c, 0, 0x0030000000000000ULL);
	expect_ctl("status", 0, "silent=yes queues=0 mailbox-held=yes mailbox-waiting=1");
	expect_ctl("silence off", 0, "ok");
	for (unsigned int i = 0; i < 20000 && !(a2i_control(c) >> 17 & 1); i++)
		usleep(1000);
	assert_int_equal(receive(c), 0x0040000000000000ULL);
	/* Power ends it */
	expect_ctl("silence on", 0, "ok");
	set_power(c, 0);
	set_power(c, 0xf);
	expect_ctl("status", 0, "silent=no queues=0 mailbox-held=no mailbox-waiting=0");
	handshake(c);
	stop(c);
	remove_control_path();
}

/* A crashed coprocessor takes nothing until it is restarted, and then it is as new */
static void crashes(void **state)
{
	struct client *c = &client;

	make_control_path();
	start_with(c, 0, control_path);
	for (unsigned int i = 0; i < 100; i++) {
		handshake(c);
		if (i % 10 == 0)
			expect_ctl("crash text=because of a test", 0, "ok");
		else
			vagx_device_crash(c->device, "test");
		post(c, 0, 0x0030000000000000ULL);
		assert_int_equal(a2i_control(c) >> 20 & 0xf, 1);
		/* The run bit alone is no restart */
		put(c, BAR0, CPU_CONTROL, 4, 0);
		put(c, BAR0, CPU_CONTROL, 4, 0x10);
		assert_int_equal(a2i_control(c) >> 20 & 0xf, 1);
		if (i % 2) {
			set_power(c, 0);
			set_power(c, 0xf);
		} else {
			put(c, BAR0, PMGR_GFX, 4, 0x800000ff);
			put(c, BAR0, PMGR_GFX, 4, 0xff);
		}
		assert_int_equal(a2i_control(c) >> 20 & 0xf, 0);
	}
	assert_false(vagx_report_failed(c->report));
	stop(c);
	remove_control_path();
}

/* Nobody is told, and what the guest goes on to do is not its fault */
static void power_loss(void **state)
{
	struct client *c = &client;

	make_control_path();
	start_with(c, 0, control_path);
	handshake(c);
	expect_ctl("power-loss", 0, "ok");
	assert_int_equal(get(c, BAR0, CPU_CONTROL, 4), 0);
	assert_int_equal(get(c, BAR0, PMGR_GFX, 4), 0x3ff);
	post(c, 0x21, 0x0083000000000010ULL);
	expect_ctl("status", 0, "mailbox-waiting=1");
	handshake(c);
	expect_ctl("power-loss", 0, "ok");
	set_power(c, 0);
	set_power(c, 0xf);
	handshake(c);
	assert_false(vagx_report_failed(c->report));
	stop(c);
	remove_control_path();
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
		SGX + 0x17030, SGX + 0xd04000, PMGR_GFX,
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

/* ... and somebody who makes the hardware fail meanwhile */
static int control_fd;

static void random_command(unsigned int *seed)
{
	static const char *const commands[] = {
		"status", "crash", "silence on", "silence off", "power-loss",
		"mailbox-full on", "mailbox-full off", "chatter on",
		"drop-message n=3", "delay-message n=2 ms=9", "hold-lock on",
		"hold-lock off", "timeout slot=-1", "event word0=8 word1=ff",
		"event-ring broken", "late-flush ms=3", "flush-state value=9",
		"log level=2 text=x", "channel-error pipe=compute type=1",
		"hang pipe=vertex", "hold-stamps on", "fault-register value=0",
		"wrong-stamp step=-3", "ring-pointers value=ffffffff", "log-flood lines=300",
		"message ring=statistics word0=9", "message ring=log-text word0=77",
		"nonsense", "silence", "",
	};
	unsigned int n = sizeof(commands) / sizeof(commands[0]);
	char line[64], answer[VAGX_CONTROL_ANSWER + 1];
	int len = snprintf(line, sizeof(line), "%s\n",
			   commands[rand_r(seed) % n]);

	assert_int_equal(send(control_fd, line, len, MSG_NOSIGNAL), len);
	assert_true(recv(control_fd, answer, sizeof(answer), 0) > 0);
}

static void random_step(struct client *c, unsigned int *seed)
{
	static const uint8_t endpoints[] = { 0, 0, 0, 1, 2, 4, 8, 0x20, 0x21, 5 };
	uint8_t ep = endpoints[rand_r(seed) % sizeof(endpoints)];
	uint32_t *ram = (uint32_t *)c->ram;

	switch (rand_r(seed) % 34) {
	case 33:
		random_command(seed);
		break;
	case 32:
		set_power(c, rand_r(seed) % 2 ? 0xf : 0);
		break;
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

	make_control_path();
	for (unsigned int seed = 1; seed <= 40; seed++) {
		unsigned int random = seed;

		start_with(c, seed % 8 ? 0 : 1, control_path);
		control_fd = vagx_connect(control_path);
		assert_true(control_fd >= 0);
		if (seed % 2)
			handshake(c);
		/* 256 mappings over a connection's life are the limit */
		for (unsigned int i = 0; i < 400; i++)
			random_step(c, &random);
		close(control_fd);
		stop(c);
		assert_int_equal(c->result, 0);
	}
	remove_control_path();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_order),
		cmocka_unit_test(reset_starts_anew),
		cmocka_unit_test(registers_are_accessed_whole),
		cmocka_unit_test(power_cycles),
		cmocka_unit_test(reset_of_the_domain),
		cmocka_unit_test(accesses_without_power),
		cmocka_unit_test(reset_while_off),
		cmocka_unit_test(commands_are_checked),
		cmocka_unit_test(full_mailbox),
		cmocka_unit_test(pauses),
		cmocka_unit_test(pause_ends_with_power),
		cmocka_unit_test(silence),
		cmocka_unit_test(crashes),
		cmocka_unit_test(power_loss),
		cmocka_unit_test(memory_that_vanishes),
		cmocka_unit_test(out_of_order),
	};

	return cmocka_run_group_tests_name("device", tests, NULL, NULL);
}
