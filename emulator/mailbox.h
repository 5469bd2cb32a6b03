/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_MAILBOX_H
#define VAGX_MAILBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vagx_report;

/*
 * The ASC mailbox: two FIFOs of 64 bits plus an endpoint, A2I from the guest
 * to the coprocessor, I2A back. Registers: linux drivers/soc/apple/mailbox.c,
 * control fields: m1n1 hw/asc.py.
 *
 * The four interrupts are levels. Over MSI-X each rising edge is one message,
 * and the guest asks for another one whenever it enables an interrupt whose
 * level may have been high before (vagx_mailbox_reevaluate()). An interrupt
 * that the guest has never enabled sends nothing.
 */
#define VAGX_MAILBOX_SIZE	0x4000
#define VAGX_MAILBOX_DEPTH	16

/* Messages that wait behind a full I2A FIFO */
#define VAGX_MAILBOX_BACKLOG	1024

enum vagx_mailbox_irq {
	VAGX_MAILBOX_SEND_EMPTY,
	VAGX_MAILBOX_SEND_NOT_EMPTY,
	VAGX_MAILBOX_RECV_EMPTY,
	VAGX_MAILBOX_RECV_NOT_EMPTY,
	VAGX_MAILBOX_IRQ_COUNT
};

struct vagx_mailbox_config {
	struct vagx_report *report;
	/*
	 * Fires one message-signalled interrupt. Called with the mailbox
	 * locked, on whatever thread changed a level.
	 */
	void (*fire)(void *ctx, unsigned int irq);
	void *ctx;
};

struct vagx_mailbox;

struct vagx_mailbox *vagx_mailbox_new(const struct vagx_mailbox_config *config);
void vagx_mailbox_free(struct vagx_mailbox *mailbox);

/* The guest's side, on the MMIO thread. @offset is inside the mailbox. */
uint64_t vagx_mailbox_read(struct vagx_mailbox *mailbox, uint64_t offset,
			   size_t size);
void vagx_mailbox_write(struct vagx_mailbox *mailbox, uint64_t offset,
			size_t size, uint64_t value);

/**
 * vagx_mailbox_levels() - the interrupts' levels at this moment
 *
 * A message about an edge may reach the guest long after the level has fallen again.
 *
 * Return: bit per enum vagx_mailbox_irq.
 */
uint32_t vagx_mailbox_levels(struct vagx_mailbox *mailbox);

/**
 * vagx_mailbox_reevaluate() - the guest enabled an interrupt
 * @mask: bit per enum vagx_mailbox_irq; each whose level is high fires
 */
void vagx_mailbox_reevaluate(struct vagx_mailbox *mailbox, uint32_t mask);

/**
 * vagx_mailbox_settle() - turn changed levels into interrupts
 *
 * After a message has been taken with vagx_mailbox_take(): a FIFO that was
 * filled and emptied within one access of the guest shows no edge.
 */
void vagx_mailbox_settle(struct vagx_mailbox *mailbox);

/* Messages from the guest that wait */
unsigned int vagx_mailbox_waiting(struct vagx_mailbox *mailbox);

/* The coprocessor's side */

/**
 * vagx_mailbox_take() - next message from the guest
 *
 * Return: whether there was one.
 */
bool vagx_mailbox_take(struct vagx_mailbox *mailbox, uint8_t *ep,
		       uint64_t *msg);

/**
 * vagx_mailbox_send() - message to the guest
 * @wait: sleep while the backlog is full. Never on the MMIO thread, which is
 *        the one that makes room.
 *
 * Return: 0, -EAGAIN when full, -ESHUTDOWN when closed; the message is lost
 * then.
 */
int vagx_mailbox_send(struct vagx_mailbox *mailbox, uint8_t ep, uint64_t msg,
		      bool wait);

/**
 * vagx_mailbox_close() - refuse to send, and wake threads that wait for room
 *
 * Before threads of the firmware are stopped: one of them may wait for a guest that reads nothing.
 */
void vagx_mailbox_close(struct vagx_mailbox *mailbox);
void vagx_mailbox_open(struct vagx_mailbox *mailbox);

/* Both FIFOs empty, no interrupt enabled */
void vagx_mailbox_reset(struct vagx_mailbox *mailbox);

/**
 * vagx_mailbox_lose() - the power is about to go without the guest's doing
 *
 * A guest that has just seen that there is a message may still take one: it
 * reads zeros, and that is no violation.
 */
void vagx_mailbox_lose(struct vagx_mailbox *mailbox);

/**
 * vagx_mailbox_drop() - a message to the guest is to get lost
 * @n: which of those to come: 1 for the next one; 0 for none any more
 *
 * Stays over changes of power and resets.
 */
void vagx_mailbox_drop(struct vagx_mailbox *mailbox, unsigned int n);

/* Which of those to come gets lost, 0 for none */
unsigned int vagx_mailbox_dropping(struct vagx_mailbox *mailbox);

/**
 * vagx_mailbox_delay() - a message to the guest is to come late
 * @n: which of those to come: 1 for the next one; 0 for none any more
 * @ms: how late; those behind it wait for it
 *
 * Stays over changes of power and resets, unless the message is on its way.
 */
void vagx_mailbox_delay(struct vagx_mailbox *mailbox, unsigned int n, unsigned int ms);

/**
 * vagx_mailbox_delaying() - hand out the late message if it is time
 *
 * Return: whether it has to be asked again, within some milliseconds.
 */
bool vagx_mailbox_delaying(struct vagx_mailbox *mailbox);

/* Which of those to come will be late, 0 for none */
unsigned int vagx_mailbox_to_delay(struct vagx_mailbox *mailbox);

/**
 * vagx_mailbox_set_power() - the domain's power goes or comes back
 *
 * Without power all levels are low and the FIFOs are empty. Which interrupts
 * are enabled is no state of the mailbox, so that stays.
 */
void vagx_mailbox_set_power(struct vagx_mailbox *mailbox, bool on);

#endif
