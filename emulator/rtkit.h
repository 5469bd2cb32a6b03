/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_RTKIT_H
#define VAGX_RTKIT_H

#include <stdbool.h>
#include <stdint.h>

struct vagx_mailbox;
struct vagx_report;
struct vagx_uat;

/*
 * RTKit, the coprocessor's operating system as the mailbox shows it: the
 * handshake and the power states of the management endpoint, and the system
 * endpoints for syslog, crashlog, debug, I/O reports and oslog. What goes to
 * the application endpoints is passed on. Sources: m1n1 fw/asc/, and what
 * linux drivers/soc/apple/rtkit.c and rtkit-crashlog.c expect.
 */

struct vagx_rtkit_ops {
	/* The CPU was started for the first time since reset */
	void (*start)(void *ctx);
	/* A message for an application endpoint, which is started and on */
	void (*message)(void *ctx, uint8_t ep, uint64_t msg);
	/* Power goes away; what the guest handed over is its own again */
	void (*quiesce)(void *ctx);
	/* Power is back, after @quiesce */
	void (*wake)(void *ctx);
};

struct vagx_rtkit_config {
	struct vagx_report *report;
	struct vagx_mailbox *mailbox;
	struct vagx_uat *uat;
	const char *version;		/* of the firmware; borrowed */
	const struct vagx_rtkit_ops *ops;	/* on the MMIO thread */
	void *ctx;
};

struct vagx_rtkit;

struct vagx_rtkit *vagx_rtkit_new(const struct vagx_rtkit_config *config);
void vagx_rtkit_free(struct vagx_rtkit *rtkit);

/* MMIO thread: the run bit of the CPU's control register was set */
void vagx_rtkit_start_cpu(struct vagx_rtkit *rtkit);

/* MMIO thread: take and answer messages of the mailbox, at most @max. Return: how many. */
unsigned int vagx_rtkit_process(struct vagx_rtkit *rtkit, unsigned int max);

/* MMIO thread: the machine was reset. The firmware has been stopped before. */
void vagx_rtkit_reset(struct vagx_rtkit *rtkit);

/* MMIO thread: until the next reset, go on to send messages when asked to sleep */
void vagx_rtkit_set_chatter(struct vagx_rtkit *rtkit, bool on);

/**
 * vagx_rtkit_send() - message from an application endpoint
 *
 * On the firmware's threads. Waits while the mailbox is full; after a crash
 * or while the firmware is being stopped the message is dropped.
 */
void vagx_rtkit_send(struct vagx_rtkit *rtkit, uint8_t ep, uint64_t msg);

/**
 * vagx_rtkit_syslog() - one line for the guest's kernel log
 * @context: name of a task, at most 23 characters
 * @text: at most VAGX_RTKIT_SYSLOG_TEXT - 1 characters are kept
 *
 * Any thread. A line is dropped when the guest has not acknowledged as many
 * as its buffer holds, or has given none.
 */
#define VAGX_RTKIT_SYSLOG_TEXT	0x80
void vagx_rtkit_syslog(struct vagx_rtkit *rtkit, const char *context,
		       const char *text);

/**
 * vagx_rtkit_crash() - the coprocessor crashes
 * @reason: one line for the crash log
 *
 * Any thread. Writes the crash log if the guest gave a buffer for it, tells
 * the guest, and says nothing more until reset. Only the first call counts.
 */
void vagx_rtkit_crash(struct vagx_rtkit *rtkit, const char *reason);

bool vagx_rtkit_is_crashed(struct vagx_rtkit *rtkit);

#endif
