// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors

#include <limits.h>
#include <string.h>

#include "helpers.h"
#include "mailbox.h"
#include "rtkit.h"

#define BUFFERS		0xffffffae00000000ULL
#define BUFFER_SIZE	0x4000
#define LOW44(va)	((va) & 0xfffffffffffULL)

#define POWER_OFF	0x00
#define POWER_QUIESCED	0x10
#define POWER_ON	0x20
#define POWER_INIT	0x220

struct fixture {
	struct machine *m;
	struct vagx_mailbox *mailbox;
	struct vagx_rtkit *rtkit;
	unsigned int starts, quiesces, wakes, messages;
	uint8_t ep;
	uint64_t msg;
};

static struct fixture fixture;

static void fire(void *ctx, unsigned int irq)
{
}

static void on_start(void *ctx)
{
	((struct fixture *)ctx)->starts++;
}

static void on_message(void *ctx, uint8_t ep, uint64_t msg)
{
	struct fixture *f = ctx;

	f->messages++;
	f->ep = ep;
	f->msg = msg;
}

static void on_quiesce(void *ctx)
{
	((struct fixture *)ctx)->quiesces++;
}

static void on_wake(void *ctx)
{
	((struct fixture *)ctx)->wakes++;
}

static const struct vagx_rtkit_ops ops = {
	.start = on_start,
	.message = on_message,
	.quiesce = on_quiesce,
	.wake = on_wake,
};

static int setup(void **state)
{
	struct vagx_mailbox_config mailbox = { .fire = fire };
	struct vagx_rtkit_config rtkit = {
		.version = "13.5", .ops = &ops, .ctx = &fixture,
	};

	memset(&fixture, 0, sizeof(fixture));
	fixture.m = machine_new();
	mailbox.report = fixture.m->report;
	fixture.mailbox = vagx_mailbox_new(&mailbox);
	rtkit.report = fixture.m->report;
	rtkit.mailbox = fixture.mailbox;
	rtkit.uat = fixture.m->uat;
	fixture.rtkit = vagx_rtkit_new(&rtkit);
	for (unsigned int i = 0; i < 8; i++)
		machine_map(fixture.m, 0, BUFFERS + i * AGX_PAGE_SIZE,
			    machine_pte(machine_page(fixture.m),
					AGX_PROT_FW_SHARED_RW));
	*state = &fixture;
	return !fixture.rtkit;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	vagx_rtkit_free(f->rtkit);
	vagx_mailbox_free(f->mailbox);
	machine_free(f->m);
	return 0;
}

static void send(struct fixture *f, uint8_t ep, uint64_t msg)
{
	vagx_mailbox_write(f->mailbox, 0x800, 8, msg);
	vagx_mailbox_write(f->mailbox, 0x808, 8, ep);
	vagx_rtkit_process(f->rtkit, UINT_MAX);
}

static bool receive(struct fixture *f, uint8_t *ep, uint64_t *msg)
{
	if (vagx_mailbox_read(f->mailbox, 0x114, 4) & 1U << 17)
		return false;
	*msg = vagx_mailbox_read(f->mailbox, 0x830, 8);
	*ep = vagx_mailbox_read(f->mailbox, 0x838, 8);
	return true;
}

static void expect(struct fixture *f, uint8_t want_ep, uint64_t want)
{
	uint64_t msg;
	uint8_t ep;

	assert_true(receive(f, &ep, &msg));
	assert_int_equal(msg, want);
	assert_int_equal(ep, want_ep);
}

static void expect_silence(struct fixture *f)
{
	uint64_t msg;
	uint8_t ep;

	assert_false(receive(f, &ep, &msg));
}

static void start_ep(struct fixture *f, uint8_t ep)
{
	send(f, 0, 0x0050000000000002ULL | (uint64_t)ep << 32);
}

static void set_power(struct fixture *f, unsigned int type, unsigned int state)
{
	send(f, 0, (uint64_t)type << 52 | state);
}

static void set_ap(struct fixture *f, unsigned int state)
{
	set_power(f, 0xb, state);
	expect(f, 0, 0x00b0000000000000ULL | state);
}

static void set_iop(struct fixture *f, unsigned int state)
{
	set_power(f, 6, state);
	expect(f, 0, 0x0070000000000000ULL | state);
}

static void handshake(struct fixture *f)
{
	expect(f, 0, 0x00100000000c000bULL);
	send(f, 0, 0x00200000000c000cULL);
	expect(f, 0, 0x008000000000011fULL);
	send(f, 0, 0x0080000000000001ULL);
	expect(f, 0, 0x0088000100000003ULL);
	send(f, 0, 0x0088000100000000ULL);
	expect(f, 0, 0x0070000000000020ULL);
}

static void give_buffer(struct fixture *f, uint8_t ep, unsigned int index)
{
	uint64_t va = LOW44(BUFFERS + index * AGX_PAGE_SIZE);

	expect(f, ep, 0x0010400000000000ULL);
	send(f, ep, 0x0010400000000000ULL | va);
}

static void system_endpoints(struct fixture *f)
{
	uint64_t va = BUFFERS + 3 * AGX_PAGE_SIZE;

	start_ep(f, 1);
	give_buffer(f, 1, 0);
	start_ep(f, 2);
	expect(f, 2, 0x0080000080000010ULL);
	give_buffer(f, 2, 1);
	/* The greeting, and the reports' start, both to be echoed */
	expect(f, 2, 0x0050000000000000ULL);
	send(f, 2, 0x0050000000000000ULL);
	start_ep(f, 3);
	start_ep(f, 4);
	give_buffer(f, 4, 2);
	expect(f, 4, 0x00c0000000000000ULL);
	send(f, 4, 0x00c0000000000000ULL);
	start_ep(f, 8);
	expect(f, 8, 0x0104000000000000ULL);
	send(f, 8, 0x0104000000000000ULL | (va >> 12 & 0xfffffffffULL));
}

static void boot(struct fixture *f)
{
	vagx_rtkit_start_cpu(f->rtkit);
	handshake(f);
	system_endpoints(f);
	set_ap(f, POWER_ON);
	start_ep(f, 0x20);
	start_ep(f, 0x21);
	expect_silence(f);
}

static void boots(void **state)
{
	struct fixture *f = *state;
	char *text = (char *)machine_host(f->m, VAGX_PTE_PA(vagx_uat_pte(
				f->m->uat, 0, BUFFERS + AGX_PAGE_SIZE)));

	boot(f);
	assert_int_equal(f->starts, 1);
	assert_string_equal(text + 8, "vagx");
	assert_non_null(strstr(text + 0x20, "13.5"));

	send(f, 0x20, 0x0081000000001234ULL);
	assert_int_equal(f->messages, 1);
	assert_int_equal(f->ep, 0x20);
	assert_int_equal(f->msg, 0x0081000000001234ULL);
	vagx_rtkit_send(f->rtkit, 0x20, 0x0042000000000000ULL);
	expect(f, 0x20, 0x0042000000000000ULL);
	/* Ping, pong */
	send(f, 0, 0x0030000000000000ULL);
	expect(f, 0, 0x0040000000000000ULL);
	/* The CPU runs already */
	vagx_rtkit_start_cpu(f->rtkit);
	expect_silence(f);
	assert_int_equal(f->starts, 1);
	assert_false(vagx_report_failed(f->m->report));
}

/* Putting a CPU to sleep and waking it is no way to start it */
/* As m1n1 does with every endpoint that it starts */
static void debug_may_be_started(void **state)
{
	struct fixture *f = *state;

	boot(f);
	send(f, 3, 8ULL << 48);
	assert_false(vagx_report_failed(f->m->report));
	expect_silence(f);
	send(f, 3, 1ULL << 48);
	assert_rule(f->m, RTKIT_BAD_MESSAGE, 1);
}

static void a_stopped_cpu_does_nothing(void **state)
{
	struct fixture *f = *state;

	send(f, 0, 0x0030000000000000ULL);
	set_power(f, 6, POWER_QUIESCED);
	set_power(f, 6, POWER_INIT);
	send(f, 0x20, 1);
	expect_silence(f);
	assert_clause(f->m, RTKIT_BAD_MESSAGE, cpu, 4);
	assert_int_equal(f->wakes, 0);
	boot(f);
}

static void init_while_booting_is_ignored(void **state)
{
	struct fixture *f = *state;

	vagx_rtkit_start_cpu(f->rtkit);
	set_power(f, 6, POWER_INIT);
	handshake(f);
	expect_silence(f);
	assert_rule(f->m, RTKIT_INIT_WHILE_ON, 0);
}

static void quiesce_and_wake(void **state)
{
	struct fixture *f = *state;

	boot(f);
	set_ap(f, POWER_QUIESCED);
	assert_int_equal(f->quiesces, 1);
	set_iop(f, POWER_QUIESCED);
	assert_int_equal(f->quiesces, 1);
	set_power(f, 6, POWER_INIT);
	assert_int_equal(f->wakes, 1);
	handshake(f);
	system_endpoints(f);
	set_ap(f, POWER_ON);
	start_ep(f, 0x20);
	send(f, 0x20, 1);
	assert_int_equal(f->messages, 1);
	assert_false(vagx_report_failed(f->m->report));
}

static void init_while_on(void **state)
{
	struct fixture *f = *state;

	boot(f);
	set_power(f, 6, POWER_INIT);
	assert_rule(f->m, RTKIT_INIT_WHILE_ON, 1);
	assert_int_equal(f->quiesces, 1);
	handshake(f);
	assert_false(vagx_report_failed(f->m->report));
}

static void off_is_for_good(void **state)
{
	struct fixture *f = *state;

	boot(f);
	set_ap(f, POWER_OFF);
	set_iop(f, POWER_OFF);
	set_power(f, 6, POWER_INIT);
	expect_silence(f);
	assert_rule(f->m, RTKIT_AFTER_OFF, 1);

	vagx_mailbox_reset(f->mailbox);
	vagx_rtkit_reset(f->rtkit);
	boot(f);
	assert_int_equal(f->starts, 2);
}

/* It was told to sleep, and has said so. */
static void says_more_than_it_should(void **state)
{
	struct fixture *f = *state;
	unsigned int more = 0;

	boot(f);
	vagx_rtkit_set_chatter(f->rtkit, true);
	set_ap(f, POWER_QUIESCED);
	while (vagx_mailbox_read(f->mailbox, 0x114, 4) & 0xf << 20) {
		vagx_mailbox_read(f->mailbox, 0x830, 8);
		vagx_mailbox_read(f->mailbox, 0x838, 8);
		more++;
	}
	assert_true(more > 4);
	vagx_mailbox_reset(f->mailbox);
	vagx_rtkit_reset(f->rtkit);
	boot(f);
	set_ap(f, POWER_QUIESCED);
	expect_silence(f);
	assert_false(vagx_report_failed(f->m->report));
}

static void application_needs_power(void **state)
{
	struct fixture *f = *state;

	vagx_rtkit_start_cpu(f->rtkit);
	handshake(f);
	start_ep(f, 0x20);
	send(f, 0x20, 1);
	assert_clause(f->m, RTKIT_NOT_RUNNING, ap, 1);
	assert_int_equal(f->messages, 0);
}

static void application_needs_both_powers(void **state)
{
	struct fixture *f = *state;

	boot(f);
	set_iop(f, POWER_QUIESCED);
	send(f, 0x20, 1);
	assert_clause(f->m, RTKIT_NOT_RUNNING, iop, 1);
}

static void endpoints_have_to_be_started(void **state)
{
	struct fixture *f = *state;

	vagx_rtkit_start_cpu(f->rtkit);
	handshake(f);
	set_ap(f, POWER_ON);
	send(f, 0x21, 1);
	send(f, 2, 0x0050000000000000ULL);
	assert_rule(f->m, RTKIT_ENDPOINT_NOT_STARTED, 2);
	start_ep(f, 0x21);
	send(f, 0x21, 1);
	assert_int_equal(f->messages, 1);
	/* ... and can be stopped */
	send(f, 0, 0x0050002100000001ULL);
	send(f, 0x21, 1);
	assert_rule(f->m, RTKIT_ENDPOINT_NOT_STARTED, 3);
}

static void unknown_endpoints(void **state)
{
	struct fixture *f = *state;

	boot(f);
	send(f, 0x22, 1);
	send(f, 0xff, 1);
	assert_clause(f->m, RTKIT_UNKNOWN_ENDPOINT, message, 2);
	start_ep(f, 5);
	assert_rule(f->m, RTKIT_UNKNOWN_ENDPOINT, 3);
	assert_int_equal(vagx_report_count(f->m->report,
					   VAGX_CLAUSE_RTKIT_UNKNOWN_ENDPOINT_start), 1);
}

static void bad_messages(void **state)
{
	static const struct {
		enum vagx_rule clause;
		uint8_t ep;
		uint64_t msg;
	} cases[] = {
		/* again */
		{ VAGX_CLAUSE_RTKIT_BAD_MESSAGE_hello, 0, 0x0020000000000000ULL },
		{ VAGX_CLAUSE_RTKIT_BAD_MESSAGE_map, 0, 0x0080000000000001ULL },
		{ VAGX_CLAUSE_RTKIT_BAD_MESSAGE_type, 0, 0x00f0000000000000ULL },
		/* no such power state */
		{ VAGX_CLAUSE_RTKIT_BAD_MESSAGE_iop, 0, 0x0060000000000333ULL },
		{ VAGX_CLAUSE_RTKIT_BAD_MESSAGE_ap, 0, 0x00b0000000000333ULL },
		/* neither start nor stop */
		{ VAGX_CLAUSE_RTKIT_BAD_MESSAGE_start, 0, 0x0050000200000000ULL },
		{ VAGX_CLAUSE_RTKIT_BAD_MESSAGE_type, 1, 0x0030000000000000ULL },
		/* nothing to acknowledge */
		{ VAGX_CLAUSE_RTKIT_BAD_MESSAGE_line, 2, 0x0050000000000000ULL },
		{ VAGX_CLAUSE_RTKIT_BAD_MESSAGE_type, 2, 0x0090000000000000ULL },
		{ VAGX_CLAUSE_RTKIT_BAD_MESSAGE_type, 3, 1 },
		{ VAGX_CLAUSE_RTKIT_BAD_MESSAGE_type, 4, 0x0020000000000000ULL },
		{ VAGX_CLAUSE_RTKIT_BAD_MESSAGE_type, 8, 0x0200000000000000ULL },
		/* nobody wants one */
		{ VAGX_CLAUSE_RTKIT_BAD_MESSAGE_buffer, 2, 0x0010400000000000ULL },
	};
	struct fixture *f = *state;

	boot(f);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t before = vagx_report_count(f->m->report, cases[i].clause);

		send(f, cases[i].ep, cases[i].msg);
		assert_rule(f->m, RTKIT_BAD_MESSAGE, i + 1);
		assert_int_equal(vagx_report_count(f->m->report, cases[i].clause), before + 1);
		expect_silence(f);
	}
}

static void nobody_is_there_yet(void **state)
{
	struct fixture *f = *state;

	send(f, 0, 0x00200000000c000cULL);
	set_power(f, 6, POWER_INIT);
	set_power(f, 0xb, POWER_ON);
	assert_clause(f->m, RTKIT_BAD_MESSAGE, cpu, 3);
	vagx_rtkit_start_cpu(f->rtkit);
	expect(f, 0, 0x00100000000c000bULL);
	/* Versions that were not on offer */
	send(f, 0, 0x00200000000d000dULL);
	send(f, 0, 0x00200000000c000bULL);
	assert_rule(f->m, RTKIT_BAD_MESSAGE, 5);
	assert_int_equal(vagx_report_count(f->m->report,
					   VAGX_CLAUSE_RTKIT_BAD_MESSAGE_version), 2);
}

static void bad_buffers(void **state)
{
	static const struct {
		enum vagx_rule clause;
		uint64_t msg;
	} replies[] = {
		{ VAGX_CLAUSE_RTKIT_BAD_BUFFER_size, 0x0010300000000000ULL | LOW44(BUFFERS) },
		{ VAGX_CLAUSE_RTKIT_BAD_BUFFER_alignment,
		  0x0010400000000000ULL | LOW44(BUFFERS + 8) },
		{ VAGX_CLAUSE_RTKIT_BAD_BUFFER_mapped,
		  0x0010400000000000ULL | LOW44(BUFFERS + 0x20000) },
		/* in part */
		{ VAGX_CLAUSE_RTKIT_BAD_BUFFER_mapped,
		  0x0010400000000000ULL | LOW44(BUFFERS + 0x1e000) },
		/* a physical address */
		{ VAGX_CLAUSE_RTKIT_BAD_BUFFER_mapped, 0x0010400000000000ULL | 0x80000000 },
	};
	struct fixture *f = *state;

	vagx_rtkit_start_cpu(f->rtkit);
	handshake(f);
	start_ep(f, 1);
	expect(f, 1, 0x0010400000000000ULL);
	for (size_t i = 0; i < sizeof(replies) / sizeof(replies[0]); i++) {
		uint64_t before = vagx_report_count(f->m->report, replies[i].clause);

		send(f, 1, replies[i].msg);
		assert_rule(f->m, RTKIT_BAD_BUFFER, i + 1);
		assert_int_equal(vagx_report_count(f->m->report, replies[i].clause), before + 1);
	}
	assert_true(vagx_report_failed(f->m->report));
}

static void read_only_buffer(void **state)
{
	struct fixture *f = *state;
	uint64_t *entry = machine_entry(f->m, 0, BUFFERS);

	*entry = machine_pte(VAGX_PTE_PA(*entry), AGX_PROT_FW_SHARED_RO);
	vagx_rtkit_start_cpu(f->rtkit);
	handshake(f);
	start_ep(f, 1);
	give_buffer(f, 1, 0);
	assert_rule(f->m, RTKIT_BAD_BUFFER, 1);
}

/* Buffers that were mapped when they were handed over, and are not any more */
static void buffers_that_are_gone(void **state)
{
	struct fixture *f = *state;

	boot(f);
	for (unsigned int i = 0; i < 8; i++) {
		uint64_t *entry = machine_entry(f->m, 0, BUFFERS + i * AGX_PAGE_SIZE);

		if (entry)
			*entry = 0;
	}
	vagx_rtkit_syslog(f->rtkit, "a", "b");
	assert_clause(f->m, RTKIT_BAD_BUFFER, syslog, 1);
	vagx_rtkit_crash(f->rtkit, "because of a test");
	assert_rule(f->m, RTKIT_BAD_BUFFER, 2);
	assert_int_equal(vagx_report_count(f->m->report,
					   VAGX_CLAUSE_RTKIT_BAD_BUFFER_crashlog), 1);
}

static void guest_that_does_not_read(void **state)
{
	struct fixture *f = *state;

	boot(f);
	for (unsigned int i = 0; i < VAGX_MAILBOX_BACKLOG + 5; i++)
		send(f, 0, 0x0030000000000000ULL);
	assert_rule(f->m, MBOX_NOT_READ, 5);
}

static void silence_while_stopped(void **state)
{
	struct fixture *f = *state;

	boot(f);
	vagx_mailbox_close(f->mailbox);
	vagx_rtkit_syslog(f->rtkit, "a", "b");
	vagx_rtkit_send(f->rtkit, 0x20, 1);
	vagx_rtkit_crash(f->rtkit, "too late");
	expect_silence(f);
	assert_false(vagx_report_failed(f->m->report));
}

static void syslog_waits_for_nobody(void **state)
{
	struct fixture *f = *state;
	uint64_t msg;
	uint8_t ep;
	unsigned int lines = 0;

	vagx_rtkit_syslog(f->rtkit, "early", "there is no buffer yet");
	boot(f);
	for (unsigned int i = 0; i < 40; i++)
		vagx_rtkit_syslog(f->rtkit, "a context that is too long for it",
				  "line");
	while (receive(f, &ep, &msg)) {
		assert_int_equal(ep, 2);
		lines++;
	}
	assert_int_equal(lines, 16);
	send(f, 2, 0x0050000000000000ULL);
	vagx_rtkit_syslog(f->rtkit, "x", "y");
	expect(f, 2, 0x0050000000000001ULL);
	assert_false(vagx_report_failed(f->m->report));
}

/* As the kernel walks it; the name of a section is read as a number */
static bool crashlog_has(const uint8_t *log, const char *text)
{
	uint32_t total, offset, name, size;

	memcpy(&name, log, 4);
	memcpy(&total, log + 8, 4);
	assert_int_equal(name, 'C' << 24 | 'L' << 16 | 'H' << 8 | 'E');
	assert_true(total <= BUFFER_SIZE);
	for (offset = 0x20; offset < total; offset += size) {
		memcpy(&name, log + offset, 4);
		memcpy(&size, log + offset + 12, 4);
		assert_true(size >= 16 && offset + size <= total);
		if (name == ('C' << 24 | 's' << 16 | 't' << 8 | 'r') &&
		    !strcmp((const char *)log + offset + 20, text))
			return true;
		if (name == ('C' << 24 | 'L' << 16 | 'H' << 8 | 'E'))
			return false;
	}
	fail();
	return false;
}

static void crashes_once(void **state)
{
	struct fixture *f = *state;
	uint64_t pa = VAGX_PTE_PA(vagx_uat_pte(f->m->uat, 0, BUFFERS));

	boot(f);
	vagx_rtkit_crash(f->rtkit, "because of a test");
	vagx_rtkit_crash(f->rtkit, "another reason");
	assert_true(vagx_rtkit_is_crashed(f->rtkit));
	expect(f, 1, 0x0010400000000000ULL | LOW44(BUFFERS));
	assert_true(crashlog_has(machine_host(f->m, pa), "because of a test"));
	/* Silence from now on */
	send(f, 0, 0x0030000000000000ULL);
	vagx_rtkit_send(f->rtkit, 0x20, 1);
	vagx_rtkit_syslog(f->rtkit, "a", "b");
	expect_silence(f);

	vagx_mailbox_reset(f->mailbox);
	vagx_rtkit_reset(f->rtkit);
	assert_false(vagx_rtkit_is_crashed(f->rtkit));
	boot(f);
}

static void crash_without_a_buffer(void **state)
{
	struct fixture *f = *state;

	vagx_rtkit_start_cpu(f->rtkit);
	expect(f, 0, 0x00100000000c000bULL);
	vagx_rtkit_crash(f->rtkit, "early");
	expect_silence(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(boots, setup, teardown),
		cmocka_unit_test_setup_teardown(a_stopped_cpu_does_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(debug_may_be_started, setup, teardown),
		cmocka_unit_test_setup_teardown(init_while_booting_is_ignored, setup, teardown),
		cmocka_unit_test_setup_teardown(quiesce_and_wake, setup, teardown),
		cmocka_unit_test_setup_teardown(init_while_on, setup, teardown),
		cmocka_unit_test_setup_teardown(off_is_for_good, setup, teardown),
		cmocka_unit_test_setup_teardown(says_more_than_it_should, setup, teardown),
		cmocka_unit_test_setup_teardown(application_needs_power, setup, teardown),
		cmocka_unit_test_setup_teardown(application_needs_both_powers, setup, teardown),
		cmocka_unit_test_setup_teardown(endpoints_have_to_be_started, setup, teardown),
		cmocka_unit_test_setup_teardown(unknown_endpoints, setup, teardown),
		cmocka_unit_test_setup_teardown(bad_messages, setup, teardown),
		cmocka_unit_test_setup_teardown(nobody_is_there_yet, setup, teardown),
		cmocka_unit_test_setup_teardown(bad_buffers, setup, teardown),
		cmocka_unit_test_setup_teardown(buffers_that_are_gone, setup, teardown),
		cmocka_unit_test_setup_teardown(read_only_buffer, setup, teardown),
		cmocka_unit_test_setup_teardown(guest_that_does_not_read, setup, teardown),
		cmocka_unit_test_setup_teardown(silence_while_stopped, setup, teardown),
		cmocka_unit_test_setup_teardown(syslog_waits_for_nobody, setup, teardown),
		cmocka_unit_test_setup_teardown(crashes_once, setup, teardown),
		cmocka_unit_test_setup_teardown(crash_without_a_buffer, setup, teardown),
	};

	return cmocka_run_group_tests_name("rtkit", tests, NULL, NULL);
}
