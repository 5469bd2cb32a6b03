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

struct fw_buffers;
struct fw_scenes;

#define FW_PIPES		3
#define FW_PRIORITIES		4
#define FW_PIPE_CHANNELS	(FW_PIPES * FW_PRIORITIES)
#define FW_LOG_CHANNELS		VAGX_FW_LOG_CHANNELS
#define FW_EVENT_SLOTS		128
#define FW_EVENT_WORDS		(FW_EVENT_SLOTS / 32)
#define FW_STAMP_STEP		0x100
/* Stamps of a queue that may be ahead of what is retired: as many as drivers on machines use */
#define FW_STAMPS_OUTSTANDING	126
#define FW_QUEUE_RING_MAX	0x500
#define FW_MAX_QUEUES		16384
/* Notifiers that wait: more than event slots, as a failed command can leave its own behind */
#define FW_MAX_NOTIFIERS	1024
#define FW_MAX_FLUSH		0x1000000000ULL
#define FW_QUEUE_BUCKETS	1024
#define FW_MESSAGES		4096
#define FW_DEFERRED_EVENTS	32
#define FW_PENDING_STAMPS	0x100
/* Commands of one pipe that run at once */
#define FW_PIPE_WORKERS		4
#define FW_WORKERS		(FW_PIPES * FW_PIPE_WORKERS)
/* Commands of one ring that are looked at, from the oldest that is not retired */
#define FW_WINDOW		8
/* Requests for a larger vertex buffer that are remembered */
#define FW_REQUESTS		16

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
	FW_OP_WRITE32 = 0x0e,
	FW_OP_END = 0x18,
	FW_OP_TIMESTAMP = 0x19,
	FW_OP_START_VERTEX = 0x22,
	FW_OP_FINALIZE_VERTEX = 0x23,
	FW_OP_START_FRAGMENT = 0x24,
	FW_OP_FINALIZE_FRAGMENT = 0x25,
	FW_OP_START_COMPUTE = 0x29,
	FW_OP_FINALIZE_COMPUTE = 0x2a,
};

enum {
	FW_EVENT_FAULT = 0,
	FW_EVENT_FLAG = 1,
	FW_EVENT_TIMEOUT = 4,
	FW_EVENT_GROW = 7,
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
	uint64_t left;			/* of these, to later ones that were not taken yet */
	uint64_t messages;
};

/* How the end of a command is signalled; a notifier of 0: not at all */
struct fw_job_stamp {
	uint64_t cpu_stamp;
	uint64_t fw_stamp;
	uint32_t value;
	unsigned int slot;
	uint64_t notifier;
};

/**
 * enum fw_command_state - what has become of a command
 * @FW_COMMAND_WAITS: it has not begun: nobody had time, or it is a barrier
 * @FW_COMMAND_RUNS: a worker has it
 * @FW_COMMAND_BAD: the firmware can't make sense of it
 * @FW_COMMAND_REPORTED: the driver has been told so, and has to recover it
 * @FW_COMMAND_DONE: it is over and will be retired after those before it
 */
enum fw_command_state {
	FW_COMMAND_WAITS,
	FW_COMMAND_RUNS,
	FW_COMMAND_BAD,
	FW_COMMAND_REPORTED,
	FW_COMMAND_DONE
};

/**
 * struct fw_command - a command that was taken out of its ring
 * @va: its address
 * @type: its first word
 * @state: what has become of it
 * @start_at: it does not begin before, in monotonic ns
 * @order: the smaller one begins first, if all else is the same
 * @stamp: what its end is signalled with, as far as it is known
 * @sequence: how many commands with a stamp were taken out of its ring before it
 * @error: type of the channel error, when it is bad
 * @wait_stamp: address of the stamp that it waits for, if it is a barrier
 * @wait_value: value of that stamp
 * @scene: address of the scene that it is a half of, 0 for none
 */
struct fw_command {
	uint64_t va;
	uint32_t type;
	enum fw_command_state state;
	uint64_t start_at;
	uint64_t order;
	struct fw_job_stamp stamp;
	uint64_t sequence;
	unsigned int error;
	uint64_t wait_stamp;
	uint32_t wait_value;
	uint64_t scene;
};

static inline bool fw_command_has_stamp(uint32_t type)
{
	return type != FW_COMMAND_BARRIER && type != FW_COMMAND_INIT_BUFFER;
}

/**
 * struct fw_queue - a work queue that the driver has announced
 * @bucket_next: next queue of the same hash
 * @active_next: next queue of the same pipe that has commands
 * @info: address of its QueueInfo, which identifies it
 * @pointers: address of its ring pointers
 * @ring: address of its ring of command addresses
 * @context: address of its GPU context
 * @size: entries of the ring
 * @number: how many queues there were before it
 * @taken: how many commands were taken out of its ring
 * @stamped: how many of them have a stamp
 * @rptr: the next command to take
 * @done: the next command to retire
 * @limit: announced up to here
 * @outstanding: how many with a stamp were announced and are not retired
 * @pipe: what its commands run on
 * @priority: of the channel that announced it last; 0 comes first
 * @slot: event slot of the present run
 * @last_stamp: stamp of the latest command that was taken in the present run
 * @has_stamp: there is one
 * @init_stamp: stamp that the command behind the last InitBuffer has to have, 0 for any
 * @active: it is on its pipe's list
 * @window: commands that were taken and are not retired, a ring
 * @first: index of the oldest of them
 * @count: their number
 */
struct fw_queue {
	struct fw_queue *bucket_next;
	struct fw_queue *active_next;
	uint64_t info;
	uint64_t pointers;
	uint64_t ring;
	uint64_t context;
	uint32_t size;
	uint64_t number;
	uint64_t taken;
	uint64_t stamped;
	uint32_t rptr;
	uint32_t done;
	uint32_t limit;
	unsigned int outstanding;
	enum fw_pipe pipe;
	unsigned int priority;
	unsigned int slot;
	uint32_t last_stamp;
	bool has_stamp;
	uint32_t init_stamp;
	bool active;
	struct fw_command window[FW_WINDOW];
	unsigned int first;
	unsigned int count;
};

/**
 * struct fw_worker - a thread that runs commands of one pipe
 * @fw: its firmware
 * @thread: the thread
 * @pipe: its pipe
 * @access: its way to guest memory
 * @queue: queue of the command that it runs, NULL when idle
 * @job: what is on the units for it, or NULL
 * @started: when that began, monotonic time in ns
 * @pending: its entry in the table of pending stamps, valid with @job
 * @cancelled: @job has been asked to end
 * @timed_out: because it took too long
 * @hangs: @job does not run, but pretends to
 */
struct fw_worker {
	struct vagx_firmware *fw;
	pthread_t thread;
	enum fw_pipe pipe;
	struct fw_access access;
	struct fw_queue *queue;
	struct vagx_job *job;
	uint64_t started;
	unsigned int pending;
	bool cancelled;
	bool timed_out;
	bool hangs;
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
	FW_INPUT_CUT,
	FW_INPUT_RESET,
	FW_INPUT_INJECT
};

struct fw_input {
	enum fw_input_kind kind;
	uint8_t ep;
	uint64_t msg;
};

/**
 * struct fw_inject - what the firmware is told to do at its worst
 * @channel_error: error type that the next command of a pipe ends with, -1 for none; one shot
 * @hang: the next command of a pipe never ends by itself; one shot
 * @hold_stamps: finished work writes no stamp until this is cleared
 * @timeout_slot_set: the next timeout event names @timeout_slot; one shot
 * @timeout_slot: any number, also one that no slot has
 * @timeout_now: a timeout event is to be sent at once
 * @fault_register_set: the next fault leaves @fault_register in the register; one shot
 * @fault_register: any value
 * @silent: no message is taken, no memory read or written, until this is cleared
 * @event_ring_broken: events are lost, as the ring's write pointer is nonsense
 * @late_flush_ms: cache flushes end so much later
 * @flush_state_set: the next flush leaves @flush_state; one shot
 * @flush_state: any value
 * @stamp_step: what stamps that the driver reads are wrong by, 0 for nothing
 * @ring_pointers_set: the next command that is over leaves @ring_pointers in its ring; one shot
 * @ring_pointers: any value, for both pointers that are the firmware's
 *
 * The control socket's commands, see Documentation/project/vagx.rst. Protected by the firmware's
 * lock; a one shot is cleared by the code that acts on it.
 */
struct fw_inject {
	int channel_error[FW_PIPES];
	bool hang[FW_PIPES];
	bool hold_stamps;
	bool timeout_slot_set;
	int timeout_slot;
	bool timeout_now;
	bool fault_register_set;
	uint64_t fault_register;
	bool silent;
	bool event_ring_broken;
	unsigned int late_flush_ms;
	bool flush_state_set;
	uint64_t flush_state;
	int stamp_step;
	bool ring_pointers_set;
	uint32_t ring_pointers;
};

/* A request for a larger vertex buffer, until it is acknowledged */
struct fw_request {
	bool open;
	uint32_t context;
	uint32_t slot;
	uint32_t counter;
	uint64_t halts;			/* of the firmware, before the request */
};

/* An event that found its ring full */
struct fw_deferred {
	uint8_t bytes[0x38];
};

/*
 * What the messages of the ring of statistics are made of; see fw_telemetry.c. Times are
 * monotonic, in ns.
 */
struct fw_telemetry {
	uint64_t sampled;		/* when it was told last, 0 for never */
	unsigned int samples;
	bool busy;			/* there is a job on the units */
	uint64_t busy_since;		/* or since the last sample */
	uint64_t busy_until;		/* when the units became empty */
	uint64_t busy_ns;		/* of what has ended since the last sample */
	uint64_t active_ns;		/* in all */
	uint64_t on_at;
	uint64_t off_at;
	unsigned int percent;		/* utilisation since the last sample */
	unsigned int average;
	unsigned int state;
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
	uint64_t changes_asked;		/* changes of power, and injections */
	uint64_t changes_done;
	struct vagx_fw_injection injection;
	bool injection_waits;
	int injection_result;

	/* The firmware's half of the handoff lock: only one thread may take it at a time */
	pthread_mutex_t handoff_lock;
	unsigned int handoff_users;	/* commands on the units */

	/* Everything below; dropped while a job is on the units */
	pthread_mutex_t lock;
	pthread_cond_t work;		/* off the units, resume, a change of state */
	pthread_cond_t pipe_work[FW_PIPES];	/* idle workers of a pipe: a command, a stamp */
	enum fw_state state;
	bool stopping;			/* threads leave */
	struct fw_inject inject;
	bool deaf;			/* as last told to @set_deaf */
	bool resting;			/* atomic: it does not run, or not for long; ends waits */
	bool lock_held;			/* atomic: keeps its side of the handoff lock */
	uint64_t flush_due[AGX_HANDOFF_FLUSH_COUNT];	/* late flushes, 0 for none */
	uint64_t doorbells;		/* taken or left, since the firmware is there */
	uint64_t stays_until;		/* at the ring of @stays_at, a message; 0: at none */
	uint64_t stays_at;

	struct fw_access
		access; /* the main thread's, used with @lock held */
	struct fw_cache *cache;
	pthread_t thread;
	bool thread_up;
	struct fw_worker worker[FW_WORKERS];
	unsigned int workers_up;
	unsigned int on_units;		/* workers with a job */
	bool pending_used[FW_PENDING_STAMPS];

	/* From InitData */
	uint64_t runtime;
	uint64_t globals;
	uint64_t status;
	struct fw_ring pipe[FW_PIPE_CHANNELS];
	struct fw_ring control;
	struct fw_ring fwctl;
	struct fw_ring event;
	struct fw_ring log[FW_LOG_CHANNELS];
	struct fw_ring ktrace;
	struct fw_ring stats;
	unsigned int traced;		/* doorbells, for the trace */
	struct fw_telemetry telemetry;
	uint64_t log_payload;
	uint32_t log_seq;
	uint64_t statistics[FW_PIPES];	/* words that count for ever, 0 for none */
	uint64_t statistics_due;
	uint32_t statistics_count;
	bool woken;			/* not started, so what is its own is as it has left it */
	bool initialized;		/* by device control */

	struct fw_queue *bucket[FW_QUEUE_BUCKETS];
	struct fw_queue *active[FW_PIPES];
	struct fw_queue *keeper[FW_PIPES];	/* ring that keeps a pipe for itself, or NULL */
	uint64_t kept_until[FW_PIPES];	/* it begins the command of this number */
	unsigned int queue_count;
	uint64_t queue_number;		/* of the next one */
	uint64_t turn;
	struct fw_queue *slot_owner[FW_EVENT_SLOTS];
	uint64_t slot_stamp[FW_EVENT_SLOTS];	/* firmware's stamp, 0 unknown */
	struct fw_notifier *notifiers;
	unsigned int notifier_count;

	struct fw_buffers *buffers;
	struct fw_scenes *scenes;
	struct fw_request request[FW_REQUESTS];
	unsigned int next_request;
	uint32_t request_counter;
	unsigned int grown;		/* vertex buffers, because they were asked for */
	unsigned int partial_renders;

	bool halting;			/* everything comes off the units */
	bool halted;			/* until the driver resumes */
	struct fw_deferred deferred[FW_DEFERRED_EVENTS];
	unsigned int deferred_count;
	uint32_t deferred_flags[FW_EVENT_WORDS];
	uint64_t late_due;		/* when @late_flags are told, 0 for none */
	uint32_t late_flags[FW_EVENT_WORDS];	/* stamps that are there already */
};

/* fw_core.c */
/* Return: monotonic time in ns. Any thread. */
uint64_t fw_now_ns(void);
/* Makes the main thread look at deadlines, a halt and deferred events. Any thread. */
void fw_poke(struct vagx_firmware *fw);
/* Wakes everybody: the state has changed, or what was asked to go wrong. Lock held. */
void fw_wake(struct vagx_firmware *fw);
/* Wakes a worker of each pipe that has commands: a stamp was written. Lock held. */
void fw_wake_pipes(struct vagx_firmware *fw);
/* Makes a worker's job end soon. Lock held. */
void fw_cancel(struct fw_worker *worker);
/* Waits while the firmware is silent; false when it stopped instead. Lock held, any thread. */
bool fw_wait_while_silent(struct vagx_firmware *fw);
/* Ends the virtual firmware if it runs. Lock held. */
void fw_crash(struct vagx_firmware *fw, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Whether this thread's accesses all worked; crashes the firmware otherwise. Lock held. */
bool fw_check(struct vagx_firmware *fw, struct fw_access *access);

/* fw_inject.c. Lock held, main thread. */
void fw_inject_clear(struct fw_inject *inject);		/* back to doing nothing unusual */
int fw_inject(struct vagx_firmware *fw, const struct vagx_fw_injection *what);

/* fw_input.c */
/**
 * enum fw_heed - which input the main thread takes
 * @FW_HEED_ALL: the oldest
 * @FW_HEED_CHANGES: the oldest that is no message
 * @FW_HEED_ORDER: the oldest, once there is any that is no message
 */
enum fw_heed { FW_HEED_ALL, FW_HEED_CHANGES, FW_HEED_ORDER };

/*
 * Main thread, lock not held. Waits for input, a poke or @until (0 for ever), and returns whether
 * there is input of the kind that @heed names. fw_input_done() when it has been dealt with.
 */
bool fw_input_next(struct vagx_firmware *fw, uint64_t until, enum fw_heed heed,
		   struct fw_input *input);
/* Main thread: whether an equal message waits, and nothing but messages before it */
bool fw_input_has_twin(struct vagx_firmware *fw, const struct fw_input *input);
void fw_input_done(struct vagx_firmware *fw);
bool fw_input_quitting(struct vagx_firmware *fw);
/* Main thread: whether messages were lost since the last call; runs the injection that waits */
bool fw_input_overrun(struct vagx_firmware *fw);
void fw_input_inject(struct vagx_firmware *fw);

/* fw_handoff.c */
/* Writes the firmware's magic number into the page. Main thread, lock held. */
void fw_handoff_start(struct vagx_firmware *fw);
/* Whether the driver has written its own. Main thread, lock held. */
bool fw_handoff_ready(struct vagx_firmware *fw);
/*
 * A job begins: names its context in the page, and reads the context's entry of the TTB table into
 * @ttb. False if the page is gone, the driver keeps the lock for 2 s, or the firmware stops. A
 * worker, lock not held.
 */
bool fw_handoff_enter(struct vagx_firmware *fw, unsigned int slot, uint64_t *ttb);
/* A job that has entered ends. A worker, lock not held. */
void fw_handoff_leave(struct vagx_firmware *fw);
/* Does the flush that a slot of the page asks for, or begins a late one. Main thread, lock held. */
void fw_handoff_flush(struct vagx_firmware *fw, unsigned int slot);
/* Ends late flushes that are due. Return: when the next one is, 0 for never. Lock held. */
uint64_t fw_handoff_late(struct vagx_firmware *fw, uint64_t now_ns);
/* Keeps the firmware's side of the lock, or lets it go. Lock held. */
int fw_handoff_hold(struct vagx_firmware *fw, bool on);

/* fw_initdata.c. Main thread, lock held. */
/* Takes InitData at @va: the firmware is ready then, or has crashed */
void fw_initdata_load(struct vagx_firmware *fw, uint64_t va);

/* fw_statistics.c. Main thread, lock held. */
/* Begins to count in the word at @va, if statistics were asked for */
void fw_statistics_begin(struct vagx_firmware *fw, enum fw_pipe pipe, uint64_t va);
/* Ends to count, as power was cut */
void fw_statistics_forget(struct vagx_firmware *fw);
/* Counts if it is time. Return: when to come back, 0 for never. */
uint64_t fw_statistics(struct vagx_firmware *fw, uint64_t now_ns);

/* fw_ring.c. Lock held. */
/* Sets up a ring that INIT names; false when it cannot be used */
bool fw_ring_setup(struct vagx_firmware *fw, struct fw_ring *ring, const char *name,
		   enum fw_struct_id type, uint64_t state, uint64_t entries, uint32_t count,
		   uint32_t stride);
/* Return: address of the next message, 0 when there is none. fw_ring_pop() once it is done with. */
uint64_t fw_ring_peek(struct vagx_firmware *fw, struct fw_ring *ring);
void fw_ring_pop(struct vagx_firmware *fw, struct fw_ring *ring);
/* Return: address of the next entry to write, for fw_ring_push(); 0 when the ring is full */
uint64_t fw_ring_room(struct fw_access *access, struct vagx_firmware *fw, struct fw_ring *ring);
void fw_ring_push(struct fw_access *access, struct fw_ring *ring);

/* fw_channel.c. Main thread, lock held. */
/* The number of the FwCtl channel, which has a doorbell of another type */
#define FW_CHANNEL_FWCTL	0x10000

/* Takes all messages of the channel whose number the doorbell has */
void fw_channel_doorbell(struct vagx_firmware *fw, unsigned int channel);
/* Takes them without a doorbell */
void fw_channel_look(struct vagx_firmware *fw, unsigned int channel);
/* Takes nothing, because an equal doorbell waits. False if it belongs to no ring. */
bool fw_channel_leave(struct vagx_firmware *fw, unsigned int channel);

/* fw_control.c. Main thread, lock held. */
/* Obeys the device control message at @va */
void fw_control_message(struct vagx_firmware *fw, uint64_t va);

/* fw_queue.c. Lock held. */
/* Takes the run message at @va: makes its queue known, and its new commands. Main thread. */
void fw_queue_run(struct vagx_firmware *fw, unsigned int channel, uint64_t va);
/* Goes on behind a command that a channel error was reported of. Main thread. */
void fw_queue_recover(struct vagx_firmware *fw, uint64_t info, unsigned int pipe, uint32_t value);
/* Forgets the queues of a GPU context; one that has commands is reported, and stays */
void fw_queue_destroy_context(struct vagx_firmware *fw, uint64_t context);
void fw_queue_forget_all(struct vagx_firmware *fw);
/* Takes a queue off its pipe's list */
void fw_queue_deactivate(struct vagx_firmware *fw, struct fw_queue *queue);

/* fw_schedule.c: between the rings of the queues and the workers. Lock held. */
/*
 * Takes new commands out of the rings of a worker's pipe, opens barriers and retires what is over.
 * False when there was nothing to do.
 */
bool fw_schedule_advance(struct fw_worker *worker);

/**
 * enum fw_share - what an unfair firmware gives a ring
 * @FW_SHARE_PLAIN: one turn
 * @FW_SHARE_MORE: FW_FAVOUR turns for one of a plain ring's
 * @FW_SHARE_ALL: once it is picked, all that it has, before another ring's turn
 */
enum fw_share { FW_SHARE_PLAIN, FW_SHARE_MORE, FW_SHARE_ALL };

#define FW_FAVOUR	8

/* Return: the share of the queue with this number, by the seed */
enum fw_share fw_schedule_share(const struct vagx_firmware *fw, uint64_t number);
/* Return: @order of the command that is taken next, see struct fw_command */
uint64_t fw_schedule_order(const struct vagx_firmware *fw, const struct fw_queue *queue);
/* Return: the command whose turn it is, of @queue; or NULL, and @again is when to look again */
struct fw_command *fw_schedule_pick(struct fw_worker *worker, struct fw_queue **queue,
				    uint64_t *again);

/* fw_worker.c. Lock held, but for the threads' start and end. */
int fw_workers_start(struct vagx_firmware *fw);
void fw_workers_stop(struct vagx_firmware *fw);
/* Waits until no worker has a command; the state is no longer READY, so none takes another */
void fw_workers_drain(struct vagx_firmware *fw);
/* Ends jobs that take too long; returns when to look again, UINT64_MAX for never */
uint64_t fw_workers_check_time(struct vagx_firmware *fw, uint64_t now);

/* fw_draw.c */
enum fw_draw {
	FW_DRAW_DELAY,
	FW_DRAW_ORDER,
	FW_DRAW_PENDING,
	FW_DRAW_HALT,
	FW_DRAW_SHARE,
	FW_DRAW_FAVOUR,
	FW_DRAW_EVENT,
	FW_DRAW_STAY,
	FW_DRAW_LEAVE,
};

/* vagx_draw() with the firmware's seed */
uint64_t fw_draw(const struct vagx_firmware *fw, enum fw_draw purpose, uint64_t a, uint64_t b);

/* fw_job.c. Lock held, dropped while a job is on the units. */
enum fw_outcome {
	FW_OUTCOME_DONE,	/* to be retired, also after a fault or timeout */
	FW_OUTCOME_BAD,		/* channel error */
	FW_OUTCOME_GONE,	/* the firmware stopped meanwhile */
};

/* Whether a pipe can run that type of command */
bool fw_job_known(enum fw_pipe pipe, uint32_t type);
/* Checks a command that was taken, and reads how its end is signalled; false if it is bad */
bool fw_job_take(struct fw_worker *worker, struct fw_queue *queue, struct fw_command *command);
/* Runs a command from its first operation to its last */
enum fw_outcome fw_job_run(struct fw_worker *worker, struct fw_queue *queue,
			   struct fw_command *command);

/* fw_event.c. Lock held. */
/* Enters a stamp into the table of pending ones. Return: the entry, for fw_event_not_pending(). */
unsigned int fw_event_pending(struct fw_worker *worker, const struct fw_job_stamp *stamp);
void fw_event_not_pending(struct fw_worker *worker, unsigned int index);
/* Writes a command's stamps, counts it, and sends an event if the threshold is reached */
void fw_event_signal(struct vagx_firmware *fw, struct fw_access *access,
		     const struct fw_job_stamp *stamp);
/* Tells the driver that a command is bad, with an FW_ERROR_* */
void fw_event_channel_error(struct fw_worker *worker, unsigned int type, unsigned int slot,
			    uint32_t value);
/*
 * Takes all jobs off the units, halts, tells the driver, and waits until it has resumed. False when
 * the firmware stopped instead.
 */
bool fw_event_fault(struct fw_worker *worker, const struct vagx_uat_fault *fault,
		    unsigned int unit);
bool fw_event_timeout(struct fw_worker *worker, unsigned int slot);
/* Waits until the firmware has not halted. False when it stopped instead. */
bool fw_event_wait_resume(struct fw_worker *worker);
/* Asks the driver for a larger vertex buffer */
void fw_event_grow(struct fw_access *access, struct vagx_firmware *fw, uint32_t context,
		   uint32_t slot, uint32_t counter);
/* Goes on if the driver has resumed the firmware. Main thread. */
void fw_event_poll_resume(struct vagx_firmware *fw);
/* Sends events that found their ring full, if any. Main thread. */
void fw_event_retry(struct vagx_firmware *fw);
/* Whether there are any */
bool fw_event_to_retry(const struct vagx_firmware *fw);
/* Sends a late event if it is due. Return: when to come back, 0 for never. Main thread. */
uint64_t fw_event_late(struct vagx_firmware *fw, uint64_t now_ns);
void fw_event_forget_all(struct vagx_firmware *fw);
/* Sends an event of these words, although nothing has happened. Return: 0. Main thread. */
int fw_event_inject(struct vagx_firmware *fw, const uint32_t *words);
/* Asks for a timeout event that names @slot, which may be negative; -EBUSY after another one */
int fw_event_inject_timeout(struct vagx_firmware *fw, int slot);
/* Leaves nonsense in the write pointer of the event ring: all later events are lost */
void fw_event_break_ring(struct vagx_firmware *fw);

/* fw_dump.c */

/**
 * struct fw_dump_place - what an address in a dump may lead to
 * @va: address; 0 for nothing
 * @type: a structure, into which the address may lead, or FW_STRUCT_COUNT for this address alone
 * @name: how it is called
 */
struct fw_dump_place {
	uint64_t va;
	enum fw_struct_id type;
	const char *name;
};

struct fw_dump_place fw_dump_place(enum fw_struct_id type, uint64_t va);
struct fw_dump_place fw_dump_place_named(const char *name, uint64_t va);
/*
 * Writes what a structure contains to where it is wanted; does nothing otherwise. @owner is
 * whose it is, or NULL; @near are places that addresses in it are compared with.
 */
void fw_dump(struct vagx_firmware *fw, const char *owner, const struct fw_view *view,
	     const struct fw_dump_place *near, unsigned int count);

/* fw_log.c. Lock held. */
enum { FW_LOG_INIT = 1, FW_LOG_WARNING = 3 };
/* First word of an entry that announces a line (asahi fw/channels.rs) */
#define FW_LOG_ENTRY	2
void fw_log(struct fw_access *access, struct vagx_firmware *fw, unsigned int channel,
	    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Main thread: counts a message that announces work, and now and then sends trace */
void fw_log_trace(struct vagx_firmware *fw);

/* fw_telemetry.c. Lock held. */
/* Work was announced or has ended: writes statistics if it is time, before the event about it */
void fw_telemetry_tell(struct vagx_firmware *fw, struct fw_access *access);
/* A job has entered or left the units */
void fw_telemetry_units(struct vagx_firmware *fw);
/* Begins anew, as a firmware that has started */
void fw_telemetry_forget(struct vagx_firmware *fw);

#endif
