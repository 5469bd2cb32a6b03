/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_FIRMWARE_H
#define VAGX_FIRMWARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * The virtual firmware: what runs on the GPU's coprocessor. It owns a thread of its own, which
 * takes RTKit messages of the application endpoints 0x20 and 0x21, and a few worker threads per
 * kind of work (vertex, fragment, compute), each of which runs a command at a time. It reaches
 * guest memory only through the address translation that the guest set up.
 */

struct vagx_clock;
struct vagx_firmware;
struct vagx_gpu;
struct vagx_mem;
struct vagx_report;
struct vagx_soc;
struct vagx_uat;
struct vagx_uat_fault;

#define VAGX_FW_EP_FIRMWARE	0x20
#define VAGX_FW_EP_DOORBELL	0x21

/* What becomes of the dirty lines of the coprocessor's cache when it loses power */
enum vagx_power_off {
	VAGX_POWER_OFF_LOSE,		/* all are lost */
	VAGX_POWER_OFF_LATE,		/* all are written back at that moment */
	VAGX_POWER_OFF_RANDOM,		/* either, for each by the seed */
};

/**
 * struct vagx_fw_config - what the virtual firmware is built from
 * @mem: guest RAM; used for the handoff region alone
 * @uat: the MMU; everything else is reached through it
 * @gpu: the units that run jobs
 * @report: where violations and log lines go
 * @clock: the guest's counter
 * @soc: what the firmware runs on
 * @abi: firmware version, "13.5"
 * @handoff: guest physical address of the handoff region, one page of 16 KiB
 * @job_timeout_ms: a job that was executed for longer is cancelled and reported with a timeout
 *	event; 0 means VAGX_FW_DEFAULT_TIMEOUT_MS. What counts is processor time; a job may be there
 *	for VAGX_FW_WALL_FACTOR times as long.
 * @halt_delay_ms: after a fault or a timeout the firmware halts so long after its event at most,
 *	by @seed; 0 means that it halts before
 * @event_delay_ms: completion stamps are there so long before the event at most, by @seed
 * @doorbell_delay_ms: by @seed the main thread stays so long at most at the ring of a doorbell and
 *	looks at it once more then, and leaves a doorbell to an equal one that waits behind it; 0
 *	means that it does neither
 * @serial: one command at a time, in the order of the rings
 * @unfair: rings of one priority do not have the same share of their pipe; not with @serial
 * @statistics: counters in InitData's statistics are written each 10 ms until power is cut
 * @late_threshold: the driver may raise a notifier's threshold when the command has ended
 * @seed: of what happens at random; not 0
 * @power_off: what becomes of dirty lines
 * @dirty_ms: a dirty line is written back within this time; 0 means VAGX_FW_DEFAULT_DIRTY_MS
 * @tvb_pages: no vertex buffer has more pages than these; 0 for as many as there are
 * @tvb_grow: the driver is asked for a larger vertex buffer when one has no page left
 * @no_exec: the units run no shaders, so vertex commands leave marks in pages of their buffer
 * @dump: where the fields of all commands are written, or NULL
 * @soft_faults: shaders' faults are not reported by the units, so InitData's fault control must
 *	ask for it
 * @poison: what the driver has neither cleared nor written is found by the pattern that the
 *	guest's kernel has put there, see poison.h
 * @send: sends a message to the guest through the mailbox; called on the firmware's threads,
 *	must not call back into the firmware
 * @set_fault_regs: fills the MMU fault register before a fault event is sent; @fault NULL clears
 *	it. Same context as @send.
 * @set_fault_value: puts any value into that register, for injected faults. Same context as @send.
 *	May be NULL.
 * @set_deaf: the firmware takes no messages any more, or takes them again; on its main thread. May
 *	be NULL.
 * @crashed: the virtual firmware has ended (a crash of the real one): the caller tells the guest
 *	by RTKit's crashlog. Called once per boot, on one of the firmware's threads. May be NULL.
 * @ctx: first argument of the callbacks
 *
 * All pointers are borrowed and outlive the firmware. The structure itself is copied.
 */
struct vagx_fw_config {
	struct vagx_mem *mem;
	struct vagx_uat *uat;
	struct vagx_gpu *gpu;
	struct vagx_report *report;
	struct vagx_clock *clock;
	const struct vagx_soc *soc;
	const char *abi;
	uint64_t handoff;
	unsigned int job_timeout_ms;
	unsigned int halt_delay_ms;
	unsigned int event_delay_ms;
	unsigned int doorbell_delay_ms;
	bool serial;
	bool unfair;
	bool statistics;
	bool late_threshold;
	uint64_t seed;
	enum vagx_power_off power_off;
	unsigned int dirty_ms;
	unsigned int tvb_pages;
	bool tvb_grow;
	bool no_exec;
	FILE *dump;
	bool soft_faults;
	bool poison;
	void (*send)(void *ctx, uint8_t ep, uint64_t msg);
	void (*set_fault_regs)(void *ctx, const struct vagx_uat_fault *fault, unsigned int unit);
	void (*set_fault_value)(void *ctx, uint64_t value);
	void (*set_deaf)(void *ctx, bool deaf);
	void (*crashed)(void *ctx, const char *message);
	void *ctx;
};

#define VAGX_FW_DEFAULT_TIMEOUT_MS	5000
#define VAGX_FW_WALL_FACTOR		4
#define VAGX_FW_DEFAULT_DIRTY_MS	500

#define VAGX_FW_LOG_CHANNELS	6
#define VAGX_FW_EVENT_WORDS	14
#define VAGX_FW_INJECT_TEXT	128

/* What the firmware is told to do at its worst, and what tells it how */
enum vagx_fw_injection_kind {
	VAGX_FW_INJECT_CRASH,		/* text */
	VAGX_FW_INJECT_SILENCE,		/* value: on */
	VAGX_FW_INJECT_HOLD_LOCK,	/* value: on */
	VAGX_FW_INJECT_CHANNEL_ERROR,	/* pipe, value: type */
	VAGX_FW_INJECT_HANG,		/* pipe */
	VAGX_FW_INJECT_TIMEOUT,		/* value: slot, signed */
	VAGX_FW_INJECT_FAULT_REGISTER,	/* value */
	VAGX_FW_INJECT_HOLD_STAMPS,	/* value: on */
	VAGX_FW_INJECT_LATE_FLUSH,	/* value: ms */
	VAGX_FW_INJECT_FLUSH_STATE,	/* value */
	VAGX_FW_INJECT_EVENT,		/* word */
	VAGX_FW_INJECT_BREAK_EVENT_RING,
	VAGX_FW_INJECT_LOG,		/* value: channel, text */
	VAGX_FW_INJECT_GROW,		/* word: context, slot */
	VAGX_FW_INJECT_WRONG_STAMP,	/* value: by how much, signed */
	VAGX_FW_INJECT_RING_POINTERS,	/* value */
	VAGX_FW_INJECT_LOG_FLOOD,	/* value: lines */
	VAGX_FW_INJECT_MESSAGE,		/* value: enum vagx_fw_ring, word */
};

/* Rings besides that of events that a message can be put into */
enum vagx_fw_ring {
	VAGX_FW_RING_LOG,
	VAGX_FW_RING_LOG_TEXT,		/* what an entry of the log refers to */
	VAGX_FW_RING_KTRACE,
	VAGX_FW_RING_STATISTICS,
	VAGX_FW_RINGS,
};

struct vagx_fw_injection {
	enum vagx_fw_injection_kind kind;
	unsigned int pipe;		/* 0 vertex, 1 fragment, 2 compute */
	int64_t value;
	uint32_t word[VAGX_FW_EVENT_WORDS];
	char text[VAGX_FW_INJECT_TEXT];
};

/* What the firmware is up to; for people */
struct vagx_fw_status {
	const char *state;
	bool halted;
	bool silent;
	unsigned int queues;
	unsigned int grown;
	unsigned int partial_renders;
};

/**
 * vagx_fw_new() - create the firmware and its threads, in reset
 * @config: see above
 *
 * Return: the firmware, or NULL with errno set (EINVAL: no such firmware on this SoC).
 */
struct vagx_firmware *vagx_fw_new(const struct vagx_fw_config *config);

/** vagx_fw_free() - cancel what runs, join the threads, release everything; NULL is allowed */
void vagx_fw_free(struct vagx_firmware *fw);

/**
 * vagx_fw_start() - the coprocessor's CPU was started (run bit of its control register)
 *
 * The firmware answers by writing its magic number into the handoff region. Does not block;
 * starting it again while it runs does nothing.
 */
void vagx_fw_start(struct vagx_firmware *fw);

/**
 * vagx_fw_message() - a message arrived on one of the application endpoints
 * @ep: 0x20 or 0x21
 * @msg: the 64-bit message
 *
 * Called from the MMIO thread: only enqueues, never blocks. Messages to a firmware at rest are
 * reported and dropped, those to one that has crashed just dropped.
 */
void vagx_fw_message(struct vagx_firmware *fw, uint8_t ep, uint64_t msg);

/**
 * vagx_fw_quiesce() - RTKit takes the application's power away (AP or IOP state quiesced)
 *
 * Waits for the threads to let go of guest memory (running jobs are cancelled, bounded), and
 * forgets InitData, but not what the cache still has to write: hold no lock that one of the
 * callbacks takes. After the next vagx_fw_start() or vagx_fw_wake() the guest may send INIT again.
 */
void vagx_fw_quiesce(struct vagx_firmware *fw);

/** vagx_fw_wake() - RTKit gives power back after vagx_fw_quiesce() */
void vagx_fw_wake(struct vagx_firmware *fw);

/**
 * vagx_fw_reset() - the machine was reset
 *
 * Like quiesce, and the crashed state and the cache are forgotten too; vagx_fw_start() follows.
 */
void vagx_fw_reset(struct vagx_firmware *fw);

/**
 * vagx_fw_cut() - the coprocessor lost its power, or is held in reset
 *
 * Like reset, but what the cache still had to write may come to memory, see @power_off.
 */
void vagx_fw_cut(struct vagx_firmware *fw);

/**
 * vagx_fw_inject() - make the firmware fail
 *
 * MMIO thread; waits for the firmware's main thread, at most a second. Everything that was injected
 * ends when power is cut.
 *
 * Return: 0, -EINVAL, -ENODEV (the firmware is not up, and this needs it), -ETIMEDOUT (the main
 * thread waits for the driver, and comes to it later), -EBUSY (it has not come to the last one).
 */
int vagx_fw_inject(struct vagx_firmware *fw, const struct vagx_fw_injection *what);

/** vagx_fw_get_status() - from any thread; false when the firmware is too busy to tell */
bool vagx_fw_get_status(struct vagx_firmware *fw, struct vagx_fw_status *status);

/**
 * vagx_fw_at_rest() - what the firmware holds that belongs to work; for people and tests
 * @fw: the firmware
 * @closed: there is no client, either: also what belongs to a queue
 * @text: gets the list in one line, as far as it fits; empty if there is nothing
 * @size: bytes of it; not 0
 *
 * From any thread; waits a tenth of a second at most. A firmware that is not up holds nothing.
 *
 * Return: how many things; -EBUSY when it is too busy to tell.
 */
int vagx_fw_at_rest(struct vagx_firmware *fw, bool closed, char *text, size_t size);

/** vagx_fw_is_crashed() - the virtual firmware has ended after nonsense from the guest */
bool vagx_fw_is_crashed(struct vagx_firmware *fw);

#endif
