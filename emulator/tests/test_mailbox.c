// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "helpers.h"
#include "mailbox.h"

#define A2I_CONTROL	0x110
#define I2A_CONTROL	0x114
#define A2I_SEND0	0x800
#define A2I_SEND1	0x808
#define I2A_RECV0	0x830
#define I2A_RECV1	0x838
#define FULL		(1U << 16)
#define EMPTY		(1U << 17)
#define OVERFLOWN	(1U << 18)
#define MESSAGES	5000

#define BIT(irq)	(1U << VAGX_MAILBOX_##irq)

struct fixture {
	struct machine *m;
	struct vagx_mailbox *mailbox;
	unsigned int fired[VAGX_MAILBOX_IRQ_COUNT];
};

static struct fixture fixture;

static void fire(void *ctx, unsigned int irq)
{
	struct fixture *f = ctx;

	f->fired[irq]++;
}

static int setup(void **state)
{
	struct vagx_mailbox_config config = { .fire = fire, .ctx = &fixture };

	memset(&fixture, 0, sizeof(fixture));
	fixture.m = machine_new();
	config.report = fixture.m->report;
	fixture.mailbox = vagx_mailbox_new(&config);
	*state = &fixture;
	return !fixture.mailbox;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	vagx_mailbox_free(f->mailbox);
	machine_free(f->m);
	return 0;
}

static void guest_sends(struct fixture *f, uint8_t ep, uint64_t msg)
{
	vagx_mailbox_write(f->mailbox, A2I_SEND0, 8, msg);
	vagx_mailbox_write(f->mailbox, A2I_SEND1, 8, ep);
}

static uint32_t a2i(struct fixture *f)
{
	return vagx_mailbox_read(f->mailbox, A2I_CONTROL, 4);
}

static uint32_t i2a(struct fixture *f)
{
	return vagx_mailbox_read(f->mailbox, I2A_CONTROL, 4);
}

static void messages_go_both_ways(void **state)
{
	struct fixture *f = *state;
	uint64_t msg;
	uint8_t ep;

	assert_int_equal(a2i(f) & (FULL | EMPTY), EMPTY);
	assert_false(vagx_mailbox_take(f->mailbox, &ep, &msg));
	guest_sends(f, 0x20, 0x0081123456789abc);
	assert_int_equal(a2i(f) & (FULL | EMPTY), 0);
	assert_int_equal(a2i(f) >> 20 & 15, 1);
	assert_true(vagx_mailbox_take(f->mailbox, &ep, &msg));
	assert_int_equal(ep, 0x20);
	assert_int_equal(msg, 0x0081123456789abc);
	assert_int_equal(a2i(f) & EMPTY, EMPTY);

	assert_int_equal(i2a(f) & EMPTY, EMPTY);
	assert_int_equal(vagx_mailbox_send(f->mailbox, 2, 5, false), 0);
	assert_int_equal(vagx_mailbox_send(f->mailbox, 3, 6, false), 0);
	assert_int_equal(i2a(f) & EMPTY, 0);
	assert_int_equal(vagx_mailbox_read(f->mailbox, I2A_RECV0, 8), 5);
	assert_int_equal(vagx_mailbox_read(f->mailbox, I2A_RECV1, 8) & 0xff, 2);
	assert_int_equal(vagx_mailbox_read(f->mailbox, I2A_RECV0, 8), 6);
	assert_int_equal(vagx_mailbox_read(f->mailbox, I2A_RECV1, 8) & 0xff, 3);
	assert_int_equal(i2a(f) & EMPTY, EMPTY);
	assert_false(vagx_report_failed(f->m->report));
}

static void nothing_fires_unasked(void **state)
{
	struct fixture *f = *state;

	vagx_mailbox_send(f->mailbox, 0, 1, false);
	vagx_mailbox_read(f->mailbox, I2A_RECV1, 8);
	guest_sends(f, 0, 1);
	vagx_mailbox_settle(f->mailbox);
	for (unsigned int i = 0; i < VAGX_MAILBOX_IRQ_COUNT; i++)
		assert_int_equal(f->fired[i], 0);
}

static void levels_become_edges(void **state)
{
	struct fixture *f = *state;
	unsigned int *fired = &f->fired[VAGX_MAILBOX_RECV_NOT_EMPTY];

	vagx_mailbox_reevaluate(f->mailbox, BIT(RECV_NOT_EMPTY));
	assert_int_equal(*fired, 0);
	vagx_mailbox_send(f->mailbox, 0, 1, false);
	assert_int_equal(*fired, 1);
	/* The level is high already */
	vagx_mailbox_send(f->mailbox, 0, 2, false);
	assert_int_equal(*fired, 1);
	/* The guest enables its interrupt and may have missed the edge */
	vagx_mailbox_reevaluate(f->mailbox, BIT(RECV_NOT_EMPTY));
	assert_int_equal(*fired, 2);
	vagx_mailbox_read(f->mailbox, I2A_RECV1, 8);
	vagx_mailbox_read(f->mailbox, I2A_RECV1, 8);
	vagx_mailbox_reevaluate(f->mailbox, BIT(RECV_NOT_EMPTY));
	assert_int_equal(*fired, 2);
	vagx_mailbox_send(f->mailbox, 0, 3, false);
	assert_int_equal(*fired, 3);
	assert_int_equal(f->fired[VAGX_MAILBOX_RECV_EMPTY], 0);

	/* Bits that belong to no interrupt */
	vagx_mailbox_reevaluate(f->mailbox, 0xfffffff0);
}

static void send_empty(void **state)
{
	struct fixture *f = *state;
	unsigned int *fired = &f->fired[VAGX_MAILBOX_SEND_EMPTY];
	uint64_t msg;
	uint8_t ep;

	vagx_mailbox_reevaluate(f->mailbox, BIT(SEND_EMPTY));
	assert_int_equal(*fired, 1);
	/* Filled and emptied within one access: no edge */
	guest_sends(f, 0, 1);
	vagx_mailbox_take(f->mailbox, &ep, &msg);
	vagx_mailbox_settle(f->mailbox);
	assert_int_equal(*fired, 1);

	for (unsigned int i = 0; i < VAGX_MAILBOX_DEPTH; i++)
		guest_sends(f, 0, i);
	assert_int_equal(a2i(f) & FULL, FULL);
	vagx_mailbox_settle(f->mailbox);
	vagx_mailbox_reevaluate(f->mailbox, BIT(SEND_EMPTY));
	assert_int_equal(*fired, 1);
	for (uint64_t i = 0; vagx_mailbox_take(f->mailbox, &ep, &msg); i++)
		assert_int_equal(msg, i);
	vagx_mailbox_settle(f->mailbox);
	assert_int_equal(*fired, 2);
}

static void overflow(void **state)
{
	struct fixture *f = *state;

	for (unsigned int i = 0; i < VAGX_MAILBOX_DEPTH; i++)
		guest_sends(f, 0, i);
	assert_rule(f->m, MBOX_OVERFLOW, 0);
	guest_sends(f, 0, 99);
	assert_rule(f->m, MBOX_OVERFLOW, 1);
	assert_int_equal(a2i(f) & OVERFLOWN, OVERFLOWN);
	assert_true(vagx_report_failed(f->m->report));
}

static void underflow(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(vagx_mailbox_read(f->mailbox, I2A_RECV0, 8), 0);
	assert_int_equal(vagx_mailbox_read(f->mailbox, I2A_RECV1, 8), 0);
	assert_rule(f->m, MBOX_UNDERFLOW, 2);
}

static void one_is_dropped(void **state)
{
	struct fixture *f = *state;

	vagx_mailbox_drop(f->mailbox, 2);
	for (unsigned int i = 1; i <= 3; i++)
		assert_int_equal(vagx_mailbox_send(f->mailbox, 1, i, false), 0);
	assert_int_equal(vagx_mailbox_dropping(f->mailbox), 0);
	assert_int_equal(vagx_mailbox_read(f->mailbox, I2A_RECV0, 8), 1);
	vagx_mailbox_read(f->mailbox, I2A_RECV1, 8);
	assert_int_equal(vagx_mailbox_read(f->mailbox, I2A_RECV0, 8), 3);
	vagx_mailbox_read(f->mailbox, I2A_RECV1, 8);
	assert_true(vagx_mailbox_read(f->mailbox, I2A_CONTROL, 4) & 1 << 17);
}

/* And those behind it come after it */
static void one_is_late(void **state)
{
	struct fixture *f = *state;
	const unsigned int *fired = &f->fired[VAGX_MAILBOX_RECV_NOT_EMPTY];

	vagx_mailbox_reevaluate(f->mailbox, BIT(RECV_NOT_EMPTY));
	vagx_mailbox_delay(f->mailbox, 2, 30);
	assert_int_equal(vagx_mailbox_send(f->mailbox, 1, 1, false), 0);
	assert_int_equal(*fired, 1);
	for (unsigned int i = 2; i <= 3; i++)
		assert_int_equal(vagx_mailbox_send(f->mailbox, 1, i, false), 0);
	assert_int_equal(vagx_mailbox_to_delay(f->mailbox), 0);
	assert_int_equal(vagx_mailbox_read(f->mailbox, I2A_RECV0, 8), 1);
	vagx_mailbox_read(f->mailbox, I2A_RECV1, 8);
	assert_true(i2a(f) & EMPTY);
	assert_int_equal(*fired, 1);
	while (vagx_mailbox_delaying(f->mailbox))
		usleep(1000);
	assert_int_equal(*fired, 2);
	for (unsigned int i = 2; i <= 3; i++) {
		assert_int_equal(vagx_mailbox_read(f->mailbox, I2A_RECV0, 8), i);
		vagx_mailbox_read(f->mailbox, I2A_RECV1, 8);
	}
	/* with the power it is gone */
	vagx_mailbox_delay(f->mailbox, 1, 100000);
	assert_int_equal(vagx_mailbox_send(f->mailbox, 1, 4, false), 0);
	assert_true(vagx_mailbox_delaying(f->mailbox));
	vagx_mailbox_set_power(f->mailbox, false);
	vagx_mailbox_set_power(f->mailbox, true);
	assert_false(vagx_mailbox_delaying(f->mailbox));
	assert_true(i2a(f) & EMPTY);
}

/* Power is lost between the guest's look at the FIFO and its reads */
static void lost(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(vagx_mailbox_send(f->mailbox, 1, 2, false), 0);
	vagx_mailbox_lose(f->mailbox);
	vagx_mailbox_set_power(f->mailbox, false);
	vagx_mailbox_set_power(f->mailbox, true);
	assert_int_equal(vagx_mailbox_read(f->mailbox, I2A_RECV0, 8), 0);
	assert_int_equal(vagx_mailbox_read(f->mailbox, I2A_RECV1, 8), 0);
	assert_rule(f->m, MBOX_UNDERFLOW, 0);
	assert_int_equal(vagx_mailbox_read(f->mailbox, I2A_RECV0, 8), 0);
	assert_rule(f->m, MBOX_UNDERFLOW, 1);

	/* Whoever looks again knows better */
	assert_int_equal(vagx_mailbox_send(f->mailbox, 1, 2, false), 0);
	vagx_mailbox_lose(f->mailbox);
	vagx_mailbox_set_power(f->mailbox, false);
	vagx_mailbox_set_power(f->mailbox, true);
	vagx_mailbox_read(f->mailbox, I2A_CONTROL, 4);
	vagx_mailbox_read(f->mailbox, I2A_RECV0, 8);
	assert_rule(f->m, MBOX_UNDERFLOW, 2);
}

static void wrong_accesses(void **state)
{
	struct fixture *f = *state;

	vagx_mailbox_read(f->mailbox, A2I_CONTROL, 8);
	assert_clause(f->m, MBOX_ACCESS_SIZE, control, 1);
	vagx_mailbox_write(f->mailbox, A2I_SEND0, 4, 0);
	assert_rule(f->m, MBOX_ACCESS_SIZE, 2);
	assert_int_equal(vagx_report_count(f->m->report,
					   VAGX_CLAUSE_MBOX_ACCESS_SIZE_message), 1);
	vagx_mailbox_write(f->mailbox, I2A_CONTROL, 4, 0);
	vagx_mailbox_write(f->mailbox, I2A_RECV0, 8, 0);
	assert_rule(f->m, REG_READ_ONLY, 2);
	vagx_mailbox_read(f->mailbox, 0, 4);
	vagx_mailbox_write(f->mailbox, 0x3ffc, 4, 0);
	assert_rule(f->m, REG_UNKNOWN, 2);
}

static void backlog_is_bounded(void **state)
{
	struct fixture *f = *state;

	for (unsigned int i = 0; i < VAGX_MAILBOX_BACKLOG; i++)
		assert_int_equal(vagx_mailbox_send(f->mailbox, 0, i, false), 0);
	assert_int_equal(vagx_mailbox_send(f->mailbox, 0, 0, false), -EAGAIN);
	/* The guest sees a full FIFO of the hardware's depth */
	assert_int_equal(i2a(f) & (FULL | EMPTY), FULL);
	for (unsigned int i = 0; i < VAGX_MAILBOX_BACKLOG; i++) {
		assert_int_equal(vagx_mailbox_read(f->mailbox, I2A_RECV0, 8), i);
		vagx_mailbox_read(f->mailbox, I2A_RECV1, 8);
	}
	assert_int_equal(i2a(f) & EMPTY, EMPTY);
}

static void *sender(void *arg)
{
	struct fixture *f = arg;

	return (void *)(intptr_t)vagx_mailbox_send(f->mailbox, 0, 1234, true);
}

static void start_blocked(struct fixture *f, pthread_t *thread)
{
	while (!vagx_mailbox_send(f->mailbox, 0, 0, false))
		;
	assert_int_equal(pthread_create(thread, NULL, sender, f), 0);
	usleep(20000);
}

static void waits_for_room(void **state)
{
	struct fixture *f = *state;
	pthread_t thread;
	void *ret;

	start_blocked(f, &thread);
	vagx_mailbox_read(f->mailbox, I2A_RECV1, 8);
	pthread_join(thread, &ret);
	assert_int_equal((intptr_t)ret, 0);
}

static void close_wakes_who_waits(void **state)
{
	struct fixture *f = *state;
	pthread_t thread;
	void *ret;

	start_blocked(f, &thread);
	vagx_mailbox_close(f->mailbox);
	pthread_join(thread, &ret);
	assert_int_equal((intptr_t)ret, -ESHUTDOWN);
	vagx_mailbox_reset(f->mailbox);
	vagx_mailbox_open(f->mailbox);
	assert_int_equal(i2a(f) & EMPTY, EMPTY);
	assert_int_equal(vagx_mailbox_send(f->mailbox, 0, 1, true), 0);
}

static bool guest_receives(struct fixture *f, uint64_t *msg)
{
	if (i2a(f) & EMPTY)
		return false;
	*msg = vagx_mailbox_read(f->mailbox, I2A_RECV0, 8);
	vagx_mailbox_read(f->mailbox, I2A_RECV1, 8);
	return true;
}

/* The guest: it sends numbers, and gets each of them back, in their order */
static void *guest(void *arg)
{
	struct fixture *f = arg;
	uint64_t sent = 0, received = 0, msg;

	while (received < MESSAGES) {
		if (sent < MESSAGES && !(a2i(f) & FULL))
			guest_sends(f, 1, ++sent);
		if (guest_receives(f, &msg) && msg != ++received)
			break;
		sched_yield();
	}
	return (void *)(uintptr_t)received;
}

static void *echo(void *arg)
{
	struct fixture *f = arg;
	unsigned int n = 0;
	uint64_t msg;
	uint8_t ep;

	while (n < MESSAGES) {
		if (!vagx_mailbox_take(f->mailbox, &ep, &msg))
			sched_yield();
		else if (vagx_mailbox_send(f->mailbox, ep, msg, true))
			break;
		else
			n++;
	}
	return NULL;
}

/* Whoever else has to do with a mailbox; nothing of that changes a message */
static void *others(void *arg)
{
	struct fixture *f = arg;

	for (unsigned int i = 0; i < MESSAGES; i++) {
		vagx_mailbox_reevaluate(f->mailbox, vagx_mailbox_levels(f->mailbox));
		vagx_mailbox_settle(f->mailbox);
		vagx_mailbox_waiting(f->mailbox);
		vagx_mailbox_drop(f->mailbox, vagx_mailbox_dropping(f->mailbox));
		vagx_mailbox_delay(f->mailbox, vagx_mailbox_to_delay(f->mailbox), 0);
		vagx_mailbox_delaying(f->mailbox);
		vagx_mailbox_lose(f->mailbox);
		vagx_mailbox_open(f->mailbox);
		sched_yield();
	}
	return NULL;
}

/* With the thread sanitizer this is about each lock of the mailbox */
static void all_sides_at_once(void **state)
{
	struct fixture *f = *state;
	pthread_t thread[3];
	void *received;

	assert_int_equal(pthread_create(&thread[0], NULL, guest, f), 0);
	assert_int_equal(pthread_create(&thread[1], NULL, echo, f), 0);
	assert_int_equal(pthread_create(&thread[2], NULL, others, f), 0);
	for (unsigned int i = 0; i < 3; i++)
		pthread_join(thread[2 - i], &received);
	assert_int_equal((uintptr_t)received, MESSAGES);
	assert_false(vagx_report_failed(f->m->report));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(messages_go_both_ways, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_fires_unasked, setup, teardown),
		cmocka_unit_test_setup_teardown(levels_become_edges, setup, teardown),
		cmocka_unit_test_setup_teardown(send_empty, setup, teardown),
		cmocka_unit_test_setup_teardown(overflow, setup, teardown),
		cmocka_unit_test_setup_teardown(underflow, setup, teardown),
		cmocka_unit_test_setup_teardown(lost, setup, teardown),
		cmocka_unit_test_setup_teardown(wrong_accesses, setup, teardown),
		cmocka_unit_test_setup_teardown(backlog_is_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(waits_for_room, setup, teardown),
		cmocka_unit_test_setup_teardown(one_is_dropped, setup, teardown),
		cmocka_unit_test_setup_teardown(one_is_late, setup, teardown),
		cmocka_unit_test_setup_teardown(close_wakes_who_waits, setup, teardown),
		cmocka_unit_test_setup_teardown(all_sides_at_once, setup, teardown),
	};

	return cmocka_run_group_tests_name("mailbox", tests, NULL, NULL);
}
