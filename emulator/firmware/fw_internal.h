/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_FW_INTERNAL_H
#define VAGX_FW_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "../report.h"
#include "../uat.h"
#include "fields.h"
#include "firmware.h"
#include "fw_cache.h"

#define FW_PIPES		3
#define FW_PRIORITIES		4
#define FW_PIPE_CHANNELS	(FW_PIPES * FW_PRIORITIES)
#define FW_LOG_CHANNELS		6
#define FW_EVENT_SLOTS		128
#define FW_EVENT_WORDS		(FW_EVENT_SLOTS / 32)
#define FW_STAMP_STEP		0x100
#define FW_STAMPS_OUTSTANDING	127
#define FW_QUEUE_RING_MAX	0x500
#define FW_MAX_QUEUES		16384
/* More than event slots, as a failed command can leave its notifier behind */
#define FW_MAX_NOTIFIERS	1024
#define FW_MAX_FLUSH		0x1000000000ULL
#define FW_QUEUE_BUCKETS	1024
#define FW_MESSAGES		4096
#define FW_DEFERRED_EVENTS	32

/* "Look at your rings" (m1n1 fw/agx/__init__.py EventMsg) */
#define FW_NOTIFICATION		(0x42ULL << 48)

/* Types of pipes, in the order of their channels (m1n1 fw/agx/channels.py) */
enum fw_pipe { FW_PIPE_VERTEX, FW_PIPE_FRAGMENT, FW_PIPE_COMPUTE };

/* Where RuntimePointers has a channel's information, past the pipes */
enum fw_channel {
	FW_CHANNEL_CONTROL = FW_PIPE_CHANNELS,
	FW_CHANNEL_EVENT,
	FW_CHANNEL_LOG,
	FW_CHANNEL_KTRACE,
	FW_CHANNEL_STATS
};

/* First word of a command, and the low bits of a microsequence operation */
enum {
	FW_COMMAND_VERTEX = 0,
	FW_COMMAND_FRAGMENT = 1,
	FW_COMMAND_BLIT = 2,
	FW_COMMAND_COMPUTE = 3,
	FW_COMMAND_BARRIER = 4,
	FW_COMMAND_INIT_BUFFER = 6,
};

enum {
	FW_OP_WAIT = 0x01,
	FW_OP_END = 0x18,
	FW_OP_TIMESTAMP = 0x19,
	FW_OP_START_VERTEX = 0x22,
	FW_OP_FINALIZE_FRAGMENT = 0x25,
	FW_OP_START_COMPUTE = 0x29,
	FW_OP_FINALIZE_COMPUTE = 0x2a,
};

enum {
	FW_EVENT_FAULT = 0,
	FW_EVENT_FLAG = 1,
	FW_EVENT_TIMEOUT = 4,
	FW_EVENT_CHANNEL_ERROR = 8,
};

/* The Rust driver's names of channel errors (asahi fw/channels.rs) */
enum { FW_ERROR_MEMORY = 0, FW_ERROR_DM_KILL = 1, FW_ERROR_ABORTED = 2 };

enum fw_state {
	FW_STATE_RESET,		/* the coprocessor does not run */
	FW_STATE_STARTED,	/* it runs and waits for INIT */
	FW_STATE_READY,
	FW_STATE_QUIESCED,
	FW_STATE_CRASHED,	/* until reset */
};

/**
 * struct fw_ring - the firmware's side of a ring
 * @name: for messages
 * @state: address of the pointers
 * @type: FW_S_RingState or FW_S_FwCtlRingState
 * @entries: address of the first entry
 * @count: entries
 * @stride: bytes of an entry
 * @index: the pointer that the firmware owns
 * @doorbells: how often the driver rang
 * @messages: how many messages it had written
 */
struct fw_ring {
	const char *name;
	uint64_t state;
	enum fw_struct_id type;
	uint64_t entries;
	uint32_t count;
	uint32_t stride;
	uint32_t index;
	uint64_t doorbells;
	uint64_t messages;
};

/* What the end of a command is signalled with; a notifier of 0 means not to */
struct fw_job_stamp {
	uint64_t cpu_stamp;
	uint64_t fw_stamp;
	uint32_t value;
	unsigned int slot;
	uint64_t notifier;
};

/**
 * struct fw_queue - a work queue that the driver has announced
 * @bucket_next: next queue of the same hash
 * @active_next: next queue of the same pipe that has commands
 * @info: address of its QueueInfo, which identifies it
 * @pointers: address of its ring pointers
 * @ring: address of its ring of command addresses
 * @context: address of its GPU context
 * @size: entries of the ring
 * @rptr: next command
 * @limit: announced up to here
 * @turn: order among queues of the same priority
 * @pipe: what its commands run on
 * @priority: of the channel that announced it last; 0 comes first
 * @slot: event slot of the present run
 * @active: it is on its pipe's list
 * @running: a worker is busy with its first command
 * @stalled: a channel error waits for recovery
 * @blocked: the first command is a barrier that waits
 * @wait_stamp: the stamp's address
 * @wait_value: the value it waits for
 * @bad: what the command that stalled it would have signalled
 */
struct fw_queue {
	struct fw_queue *bucket_next;
	struct fw_queue *active_next;
	uint64_t info;
	uint64_t pointers;
	uint64_t ring;
	uint64_t context;
	uint32_t size;
	uint32_t rptr;
	uint32_t limit;
	uint64_t turn;
	enum fw_pipe pipe;
	unsigned int priority;
	unsigned int slot;
	bool active;
	bool running;
	bool stalled;
	bool blocked;
	uint64_t wait_stamp;
	uint32_t wait_value;
	struct fw_job_stamp bad;
};

/**
 * struct fw_worker - the thread that runs the commands of one pipe
 * @fw: its firmware
 * @thread: the thread
 * @pipe: its pipe
 * @access: its way to guest memory
 * @queue: whose command runs, NULL when idle
 * @on_gpu: the units are busy with it; @deadline counts
 * @deadline: monotonic time in ns
 */
struct fw_worker {
	struct vagx_firmware *fw;
	pthread_t thread;
	enum fw_pipe pipe;
	struct fw_access access;
	struct fw_queue *queue;
	bool on_gpu;
	uint64_t deadline;
};

/* Stamps that were written but not announced yet, of one notifier */
struct fw_notifier {
	struct fw_notifier *next;
	uint64_t va;
	uint32_t fired[FW_EVENT_WORDS];
};

enum fw_input_kind {
	FW_INPUT_MESSAGE,
	FW_INPUT_START,
	FW_INPUT_WAKE,
	FW_INPUT_QUIESCE,
	FW_INPUT_RESET
};

struct fw_input {
	enum fw_input_kind kind;
	uint8_t ep;
	uint64_t msg;
};

/* An event that found its ring full */
struct fw_deferred {
	uint8_t bytes[0x38];
};

struct vagx_firmware {
	struct vagx_fw_config config;
	enum fw_abi abi;

	/*
	 * What comes from outside. Taken alone or inside of @lock, never held
	 * during a callback, so that the MMIO thread never waits.
	 */
	pthread_mutex_t input_lock;
	pthread_cond_t input_cond;
	struct fw_input input[FW_MESSAGES];
	unsigned int input_head;
	unsigned int input_count;
	bool input_overrun;
	bool poked;
	bool quit;
	uint64_t changes_asked;		/* changes of power */
	uint64_t changes_done;

	/* Everything below; dropped while a job is on the units */
	pthread_mutex_t lock;
	pthread_cond_t work;		/* workers: a queue, a stamp, resume, a change of state */
	enum fw_state state;
	bool stopping;			/* threads leave */

	struct fw_access
		access; /* the main thread's, or of whom holds @lock and is on its way out */
	struct fw_cache *cache;
	pthread_t thread;
	bool thread_up;
	struct fw_worker worker[FW_PIPES];
	unsigned int workers_up;

	/* From InitData */
	uint64_t runtime;
	uint64_t globals;
	uint64_t status;
	struct fw_ring pipe[FW_PIPE_CHANNELS];
	struct fw_ring control;
	struct fw_ring fwctl;
	struct fw_ring event;
	struct fw_ring log[FW_LOG_CHANNELS];
	uint64_t log_payload;
	uint32_t log_seq;
	bool initialized;		/* by device control */

	struct fw_queue *bucket[FW_QUEUE_BUCKETS];
	struct fw_queue *active[FW_PIPES];
	unsigned int queue_count;
	uint64_t turn;
	struct fw_queue *slot_owner[FW_EVENT_SLOTS];
	uint64_t slot_stamp[FW_EVENT_SLOTS];	/* firmware's stamp, 0 unknown */
	struct fw_notifier *notifiers;
	unsigned int notifier_count;

	bool halted;
	struct fw_deferred deferred[FW_DEFERRED_EVENTS];
	unsigned int deferred_count;
	uint32_t deferred_flags[FW_EVENT_WORDS];
};

uint64_t fw_now_ns(void);

/* firmware.c: makes the main thread look at deadlines, a halt or deferred events */
void fw_poke(struct vagx_firmware *fw);
/* Ends the virtual firmware if it runs. Lock held. */
void fw_crash(struct vagx_firmware *fw, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Whether this thread's accesses all worked; crashes the firmware otherwise. Lock held. */
bool fw_check(struct vagx_firmware *fw, struct fw_access *access);

/* fw_handoff.c */
void fw_handoff_start(struct vagx_firmware *fw);
bool fw_handoff_ready(struct vagx_firmware *fw);
/* Sets the current context; @slot 0 after a job. False: page gone or never let go. Lock not held. */
bool fw_handoff_switch(struct vagx_firmware *fw, unsigned int slot, uint64_t *ttb);
void fw_handoff_flush(struct vagx_firmware *fw, unsigned int slot);

/* fw_initdata.c */
void fw_initdata_load(struct vagx_firmware *fw, uint64_t va);

/* fw_channel.c. All with the lock held. */
bool fw_ring_setup(struct vagx_firmware *fw, struct fw_ring *ring, const char *name,
		   enum fw_struct_id type, uint64_t state, uint64_t entries, uint32_t count,
		   uint32_t stride);
/* Address of the next message, 0 when there is none; fw_ring_pop() when it has been dealt with */
uint64_t fw_ring_peek(struct vagx_firmware *fw, struct fw_ring *ring);
void fw_ring_pop(struct vagx_firmware *fw, struct fw_ring *ring);
/* Address of the next entry to write, 0 when the ring is full; fw_ring_push() publishes it */
uint64_t fw_ring_room(struct fw_access *access, struct vagx_firmware *fw, struct fw_ring *ring);
void fw_ring_push(struct fw_access *access, struct fw_ring *ring);
void fw_doorbell(struct vagx_firmware *fw, unsigned int channel);
void fw_doorbell_fwctl(struct vagx_firmware *fw);

/* fw_control.c. Lock held. */
void fw_control_message(struct vagx_firmware *fw, uint64_t va);

/* fw_queue.c */
void fw_queue_run(struct vagx_firmware *fw, unsigned int channel, uint64_t va);
void fw_queue_recover(struct vagx_firmware *fw, uint64_t info, unsigned int pipe, uint32_t value);
void fw_queue_destroy_context(struct vagx_firmware *fw, uint64_t context);
void fw_queue_forget_all(struct vagx_firmware *fw);
void *fw_worker_main(void *arg);

/* fw_compute.c: a compute command. Lock held, dropped while it is on the units. */
enum fw_outcome {
	FW_OUTCOME_DONE,	/* retired, also after a fault or timeout */
	FW_OUTCOME_BAD,		/* channel error */
	FW_OUTCOME_GONE,	/* the firmware stopped meanwhile */
};

enum fw_outcome fw_compute(struct fw_worker *worker, struct fw_queue *queue, uint64_t va,
			   struct fw_job_stamp *stamp);

/* fw_event.c. Lock held. */
void fw_event_pending(struct fw_worker *worker, const struct fw_job_stamp *stamp);
void fw_event_not_pending(struct fw_worker *worker);
void fw_event_signal(struct vagx_firmware *fw, struct fw_access *access,
		     const struct fw_job_stamp *stamp);
void fw_event_channel_error(struct fw_worker *worker, unsigned int type, unsigned int slot,
			    uint32_t value);
/* Halts, tells the driver, waits for resume. False when the firmware stopped instead. */
bool fw_event_fault(struct fw_worker *worker, const struct vagx_uat_fault *fault,
		    unsigned int unit);
bool fw_event_timeout(struct fw_worker *worker, unsigned int slot);
void fw_event_poll_resume(struct vagx_firmware *fw);
void fw_event_retry(struct vagx_firmware *fw);
bool fw_event_to_retry(const struct vagx_firmware *fw);
void fw_event_forget_all(struct vagx_firmware *fw);
bool fw_stamp_reached(uint32_t stamp, uint32_t value);

/* fw_log.c. Lock held. */
enum { FW_LOG_INIT = 1, FW_LOG_WARNING = 3 };
void fw_log(struct fw_access *access, struct vagx_firmware *fw, unsigned int channel,
	    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

#endif
