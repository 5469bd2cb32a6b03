// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * The mailbox's registers and FIFOs. Both FIFOs are rings with counters that run freely. That to
 * the guest is longer than the hardware's and shows at most VAGX_MAILBOX_DEPTH messages, so that a
 * thread of the firmware rarely waits. An interrupt's level follows from how full they are:
 * mailbox_settle() compares it with what was last told, and fires those that have risen.
 *
 * The guest's side is the MMIO thread. Any thread sends to the guest, and may sleep until there is
 * room. @lock protects everything; the owner's @fire is called with it held.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "mailbox.h"
#include "report.h"

#define A2I_CONTROL	0x110
#define I2A_CONTROL	0x114
#define A2I_SEND0	0x800
#define A2I_SEND1	0x808
#define I2A_RECV0	0x830
#define I2A_RECV1	0x838

#define CONTROL_ENABLE		(1U << 0)
#define CONTROL_WPTR(n)		((n) % 16U << 8)
#define CONTROL_RPTR(n)		((n) % 16U << 12)
#define CONTROL_FULL		(1U << 16)
#define CONTROL_EMPTY		(1U << 17)
#define CONTROL_OVERFLOW	(1U << 18)
#define CONTROL_COUNT(n)	((n) % 16U << 20)

#define MSG1_EP(msg1)		((uint8_t)(msg1))
#define MSG1_OUTCNT(n)		((uint64_t)((n) & 0x1f) << 52)

struct message {
	uint64_t msg;
	uint8_t ep;
};

struct fifo {
	struct message *slot;
	unsigned int size;		/* slots */
	unsigned int read, write;	/* free-running */
};

struct vagx_mailbox {
	struct vagx_report *report;
	void (*fire)(void *ctx, unsigned int irq);
	void *ctx;

	pthread_mutex_t lock;		/* all below */
	pthread_cond_t room;
	bool closed;
	bool off;			/* without power */
	bool overflow;
	bool lost;			/* power went with messages that the guest may have seen */
	unsigned int drop;		/* which message to the guest gets lost; 0: none */
	unsigned int delay;		/* which one comes late, by @delay_ns; 0: none */
	uint64_t delay_ns;
	uint64_t due_ns;		/* when it comes; 0: none is on its way */
	unsigned int due;		/* its place; those behind it wait, too */
	uint64_t send0;
	struct fifo a2i, i2a;
	uint32_t level;			/* as last told, bit per interrupt */
	uint32_t enabled;		/* interrupts that ever were */
};

static unsigned int mailbox_fill(const struct fifo *fifo)
{
	return fifo->write - fifo->read;
}

static void mailbox_push(struct fifo *fifo, uint8_t ep, uint64_t msg)
{
	struct message *m = &fifo->slot[fifo->write++ % fifo->size];

	m->msg = msg;
	m->ep = ep;
}

/* Messages to the guest that have arrived */
static unsigned int mailbox_arrived(const struct vagx_mailbox *mailbox)
{
	return mailbox->due_ns ? mailbox->due - mailbox->i2a.read : mailbox_fill(&mailbox->i2a);
}

/* How many of @n messages the guest sees, as the hardware's FIFO is shorter */
static unsigned int mailbox_visible(unsigned int n)
{
	return n < VAGX_MAILBOX_DEPTH ? n : VAGX_MAILBOX_DEPTH;
}

static uint32_t mailbox_levels(const struct vagx_mailbox *mailbox)
{
	uint32_t level = 0;

	if (mailbox->off)
		return 0;
	level |= 1U << (mailbox_fill(&mailbox->a2i) ? VAGX_MAILBOX_SEND_NOT_EMPTY :
					      VAGX_MAILBOX_SEND_EMPTY);
	level |= 1U << (mailbox_arrived(mailbox) ? VAGX_MAILBOX_RECV_NOT_EMPTY :
					   VAGX_MAILBOX_RECV_EMPTY);
	return level;
}

static void mailbox_fire_all(struct vagx_mailbox *mailbox, uint32_t mask)
{
	for (unsigned int i = 0; i < VAGX_MAILBOX_IRQ_COUNT; i++) {
		if (mask >> i & 1)
			mailbox->fire(mailbox->ctx, i);
	}
}

/* Fires the interrupts that have risen since the last call. Lock held. */
static void mailbox_settle(struct vagx_mailbox *mailbox)
{
	uint32_t level = mailbox_levels(mailbox);
	uint32_t risen = level & ~mailbox->level;

	mailbox->level = level;
	mailbox_fire_all(mailbox, risen & mailbox->enabled);
}

static void mailbox_empty(struct vagx_mailbox *mailbox)
{
	mailbox->a2i.read = mailbox->a2i.write = 0;
	mailbox->i2a.read = mailbox->i2a.write = 0;
	mailbox->due_ns = 0;
	mailbox->send0 = 0;
	mailbox->overflow = false;
}

static void mailbox_clear(struct vagx_mailbox *mailbox)
{
	mailbox_empty(mailbox);
	mailbox->lost = false;
	mailbox->off = false;
	mailbox->enabled = 0;
	mailbox->level = mailbox_levels(mailbox);
}

struct vagx_mailbox *vagx_mailbox_new(const struct vagx_mailbox_config *config)
{
	struct vagx_mailbox *mailbox = calloc(1, sizeof(*mailbox));

	if (!mailbox)
		return NULL;

	mailbox->report = config->report;
	mailbox->fire = config->fire;
	mailbox->ctx = config->ctx;
	mailbox->a2i.size = VAGX_MAILBOX_DEPTH;
	mailbox->i2a.size = VAGX_MAILBOX_BACKLOG;
	mailbox->a2i.slot = calloc(mailbox->a2i.size, sizeof(struct message));
	mailbox->i2a.slot = calloc(mailbox->i2a.size, sizeof(struct message));
	pthread_mutex_init(&mailbox->lock, NULL);
	pthread_cond_init(&mailbox->room, NULL);
	if (!mailbox->a2i.slot || !mailbox->i2a.slot) {
		vagx_mailbox_free(mailbox);
		return NULL;
	}
	mailbox_clear(mailbox);
	return mailbox;
}

void vagx_mailbox_free(struct vagx_mailbox *mailbox)
{
	if (!mailbox)
		return;

	pthread_cond_destroy(&mailbox->room);
	pthread_mutex_destroy(&mailbox->lock);
	free(mailbox->a2i.slot);
	free(mailbox->i2a.slot);
	free(mailbox);
}

static uint32_t mailbox_control(const struct fifo *fifo, unsigned int n, bool overflow)
{
	n = mailbox_visible(n);
	return CONTROL_ENABLE | CONTROL_COUNT(n) | CONTROL_RPTR(fifo->read) |
	       CONTROL_WPTR(fifo->read + n) |
	       (n == VAGX_MAILBOX_DEPTH ? CONTROL_FULL : 0) |
	       (n ? 0 : CONTROL_EMPTY) | (overflow ? CONTROL_OVERFLOW : 0);
}

static void mailbox_check_size(struct vagx_mailbox *mailbox, uint64_t offset,
			       size_t size, size_t wanted)
{
	if (size != wanted)
		vagx_violation(mailbox->report,
			       wanted == 4 ? VAGX_CLAUSE_MBOX_ACCESS_SIZE_control :
					     VAGX_CLAUSE_MBOX_ACCESS_SIZE_message,
			       offset, "mailbox", "access of %zu bytes", size);
}

/* Whether there is a message. To read without one breaks a rule, but once after a loss of power. */
static bool mailbox_anything_to_read(struct vagx_mailbox *mailbox, uint64_t offset)
{
	if (mailbox_arrived(mailbox))
		return true;
	if (mailbox->lost) {
		mailbox->lost = offset != I2A_RECV1;
		return false;
	}
	vagx_violation(mailbox->report, VAGX_RULE_MBOX_UNDERFLOW, offset,
		       "mailbox", "read of an empty FIFO");
	return false;
}

static uint64_t mailbox_recv1(struct vagx_mailbox *mailbox)
{
	struct fifo *fifo = &mailbox->i2a;
	uint64_t value = fifo->slot[fifo->read++ % fifo->size].ep;

	pthread_cond_broadcast(&mailbox->room);
	mailbox_settle(mailbox);
	return value | MSG1_OUTCNT(mailbox_visible(mailbox_arrived(mailbox)));
}

uint64_t vagx_mailbox_read(struct vagx_mailbox *mailbox, uint64_t offset,
			   size_t size)
{
	const struct fifo *i2a = &mailbox->i2a;
	uint64_t value = 0;

	pthread_mutex_lock(&mailbox->lock);
	switch (offset) {
	case A2I_CONTROL:
		mailbox_check_size(mailbox, offset, size, 4);
		value = mailbox_control(&mailbox->a2i, mailbox_fill(&mailbox->a2i),
					mailbox->overflow);
		break;
	case I2A_CONTROL:
		mailbox_check_size(mailbox, offset, size, 4);
		value = mailbox_control(i2a, mailbox_arrived(mailbox), false);
		mailbox->lost = false;
		break;
	case I2A_RECV0:
		mailbox_check_size(mailbox, offset, size, 8);
		if (mailbox_anything_to_read(mailbox, offset))
			value = i2a->slot[i2a->read % i2a->size].msg;
		break;
	case I2A_RECV1:
		mailbox_check_size(mailbox, offset, size, 8);
		if (mailbox_anything_to_read(mailbox, offset))
			value = mailbox_recv1(mailbox);
		break;
	default:
		vagx_violation(mailbox->report, VAGX_RULE_REG_UNKNOWN, offset,
			       "mailbox", "read of %zu bytes", size);
	}
	pthread_mutex_unlock(&mailbox->lock);
	return value;
}

static void mailbox_send1(struct vagx_mailbox *mailbox, uint64_t value)
{
	if (mailbox_fill(&mailbox->a2i) == mailbox->a2i.size) {
		mailbox->overflow = true;
		vagx_violation(mailbox->report, VAGX_RULE_MBOX_OVERFLOW,
			       A2I_SEND1, "mailbox",
			       "message 0x%llx for endpoint 0x%02x is lost",
			       (unsigned long long)mailbox->send0,
			       MSG1_EP(value));
		return;
	}
	mailbox_push(&mailbox->a2i, MSG1_EP(value), mailbox->send0);
}

void vagx_mailbox_write(struct vagx_mailbox *mailbox, uint64_t offset,
			size_t size, uint64_t value)
{
	pthread_mutex_lock(&mailbox->lock);
	switch (offset) {
	case A2I_SEND0:
		mailbox_check_size(mailbox, offset, size, 8);
		mailbox->send0 = value;
		break;
	case A2I_SEND1:
		mailbox_check_size(mailbox, offset, size, 8);
		mailbox_send1(mailbox, value);
		break;
	case A2I_CONTROL:
	case I2A_CONTROL:
	case I2A_RECV0:
	case I2A_RECV1:
		vagx_violation(mailbox->report, VAGX_RULE_REG_READ_ONLY, offset,
			       "mailbox", "write of 0x%llx",
			       (unsigned long long)value);
		break;
	default:
		vagx_violation(mailbox->report, VAGX_RULE_REG_UNKNOWN, offset,
			       "mailbox", "write of 0x%llx",
			       (unsigned long long)value);
	}
	pthread_mutex_unlock(&mailbox->lock);
}

uint32_t vagx_mailbox_levels(struct vagx_mailbox *mailbox)
{
	uint32_t level;

	pthread_mutex_lock(&mailbox->lock);
	level = mailbox_levels(mailbox);
	pthread_mutex_unlock(&mailbox->lock);
	return level;
}

void vagx_mailbox_reevaluate(struct vagx_mailbox *mailbox, uint32_t mask)
{
	pthread_mutex_lock(&mailbox->lock);
	mask &= (1U << VAGX_MAILBOX_IRQ_COUNT) - 1;
	mailbox->enabled |= mask;
	mailbox->level = mailbox_levels(mailbox);
	mailbox_fire_all(mailbox, mask & mailbox->level);
	pthread_mutex_unlock(&mailbox->lock);
}

void vagx_mailbox_settle(struct vagx_mailbox *mailbox)
{
	pthread_mutex_lock(&mailbox->lock);
	mailbox_settle(mailbox);
	pthread_mutex_unlock(&mailbox->lock);
}

unsigned int vagx_mailbox_waiting(struct vagx_mailbox *mailbox)
{
	unsigned int n;

	pthread_mutex_lock(&mailbox->lock);
	n = mailbox_fill(&mailbox->a2i);
	pthread_mutex_unlock(&mailbox->lock);
	return n;
}

bool vagx_mailbox_take(struct vagx_mailbox *mailbox, uint8_t *ep,
		       uint64_t *msg)
{
	struct fifo *fifo = &mailbox->a2i;
	bool any;

	pthread_mutex_lock(&mailbox->lock);
	any = mailbox_fill(fifo);
	if (any) {
		const struct message *m = &fifo->slot[fifo->read % fifo->size];

		*ep = m->ep;
		*msg = m->msg;
		fifo->read++;
	}
	pthread_mutex_unlock(&mailbox->lock);
	return any;
}

int vagx_mailbox_send(struct vagx_mailbox *mailbox, uint8_t ep, uint64_t msg,
		      bool wait)
{
	struct fifo *fifo = &mailbox->i2a;
	int ret = 0;

	pthread_mutex_lock(&mailbox->lock);
	while (wait && !mailbox->closed && mailbox_fill(fifo) == fifo->size)
		pthread_cond_wait(&mailbox->room, &mailbox->lock);

	if (mailbox->closed) {
		ret = -ESHUTDOWN;
	} else if (mailbox_fill(fifo) == fifo->size) {
		ret = -EAGAIN;
	} else if (!mailbox->drop || --mailbox->drop) {
		if (mailbox->delay && !--mailbox->delay) {
			mailbox->due = fifo->write;
			mailbox->due_ns = vagx_clock_host_ns() + mailbox->delay_ns;
		}
		mailbox_push(fifo, ep, msg);
		mailbox_settle(mailbox);
	}
	pthread_mutex_unlock(&mailbox->lock);
	return ret;
}

void vagx_mailbox_close(struct vagx_mailbox *mailbox)
{
	pthread_mutex_lock(&mailbox->lock);
	mailbox->closed = true;
	pthread_cond_broadcast(&mailbox->room);
	pthread_mutex_unlock(&mailbox->lock);
}

void vagx_mailbox_open(struct vagx_mailbox *mailbox)
{
	pthread_mutex_lock(&mailbox->lock);
	mailbox->closed = false;
	pthread_mutex_unlock(&mailbox->lock);
}

void vagx_mailbox_set_power(struct vagx_mailbox *mailbox, bool on)
{
	pthread_mutex_lock(&mailbox->lock);
	mailbox->off = !on;
	mailbox_empty(mailbox);
	mailbox_settle(mailbox);
	pthread_cond_broadcast(&mailbox->room);
	pthread_mutex_unlock(&mailbox->lock);
}

void vagx_mailbox_lose(struct vagx_mailbox *mailbox)
{
	pthread_mutex_lock(&mailbox->lock);
	mailbox->lost = mailbox_arrived(mailbox);
	pthread_mutex_unlock(&mailbox->lock);
}

void vagx_mailbox_drop(struct vagx_mailbox *mailbox, unsigned int n)
{
	pthread_mutex_lock(&mailbox->lock);
	mailbox->drop = n;
	pthread_mutex_unlock(&mailbox->lock);
}

unsigned int vagx_mailbox_dropping(struct vagx_mailbox *mailbox)
{
	unsigned int n;

	pthread_mutex_lock(&mailbox->lock);
	n = mailbox->drop;
	pthread_mutex_unlock(&mailbox->lock);
	return n;
}

void vagx_mailbox_delay(struct vagx_mailbox *mailbox, unsigned int n, unsigned int ms)
{
	pthread_mutex_lock(&mailbox->lock);
	mailbox->delay = n;
	mailbox->delay_ns = ms * 1000000ULL;
	pthread_mutex_unlock(&mailbox->lock);
}

bool vagx_mailbox_delaying(struct vagx_mailbox *mailbox)
{
	bool left;

	pthread_mutex_lock(&mailbox->lock);
	if (mailbox->due_ns && vagx_clock_host_ns() >= mailbox->due_ns) {
		mailbox->due_ns = 0;
		mailbox_settle(mailbox);
	}
	left = mailbox->delay || mailbox->due_ns;
	pthread_mutex_unlock(&mailbox->lock);
	return left;
}

unsigned int vagx_mailbox_to_delay(struct vagx_mailbox *mailbox)
{
	unsigned int n;

	pthread_mutex_lock(&mailbox->lock);
	n = mailbox->delay;
	pthread_mutex_unlock(&mailbox->lock);
	return n;
}

void vagx_mailbox_reset(struct vagx_mailbox *mailbox)
{
	pthread_mutex_lock(&mailbox->lock);
	mailbox_clear(mailbox);
	pthread_cond_broadcast(&mailbox->room);
	pthread_mutex_unlock(&mailbox->lock);
}
