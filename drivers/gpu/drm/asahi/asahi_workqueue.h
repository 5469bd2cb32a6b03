/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Work queues: the firmware's rings of commands, one for each pipe of a queue.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_WORKQUEUE_H
#define ASAHI_WORKQUEUE_H

#include <linux/types.h>

#include "asahi_doorbell.h"
#include "asahi_heap.h"
#include "asahi_slot.h"

struct asahi_pipe_msg;
struct asahi_queue;

/**
 * ASAHI_MAX_STAMPS - stamps that a work queue may have outstanding
 *
 * The firmware's limit is not known to be higher: 126 is what drivers that run
 * on machines make use of.
 */
#define ASAHI_MAX_STAMPS 126

/**
 * struct asahi_workqueue - a ring of commands
 * @queue: queue that it is part of
 * @pipe: AGX_PIPE_*
 * @slot: owner of its event slot; has rules of its own
 * @info: QueueInfo; the firmware's once a message has named it
 * @state: the ring's pointers
 * @ring: addresses of commands
 * @gpu_buf: the firmware's
 * @wptr: where the next entry goes
 * @stamp: value that the last command will write
 * @event_seq: number of stamps since the firmware knows the ring
 * @jobs: jobs in flight that have commands here
 * @used: the firmware knows of it
 *
 * Part of struct asahi_queue. The lock of the queue's timeline protects
 * everything from @wptr on.
 */
struct asahi_workqueue {
	struct asahi_queue *queue;
	unsigned int pipe;
	struct asahi_slot_client slot;
	struct asahi_fwbuf info;
	struct asahi_fwbuf state;
	struct asahi_fwbuf ring;
	struct asahi_fwbuf gpu_buf;
	u32 wptr;
	u32 stamp;
	u64 event_seq;
	unsigned int jobs;
	bool used;
};

/**
 * struct asahi_workqueue_state - how far a ring is
 * @jobs: jobs in flight that have commands here
 * @event: event slot, or -1 without jobs
 * @stamp: stamp in memory; 0 without an event slot
 * @last_stamp: value that the last command will write
 * @cpu_wptr: entry after the last one that the firmware may read
 * @gpu_rptr: entry that the firmware reads next, as it says
 * @gpu_doneptr: entry that it completes next, as it says
 */
struct asahi_workqueue_state {
	unsigned int jobs;
	int event;
	u32 stamp;
	u32 last_stamp;
	u32 cpu_wptr;
	u32 gpu_rptr;
	u32 gpu_doneptr;
};

int asahi_workqueue_init(struct asahi_workqueue *wq, struct asahi_queue *queue,
			 unsigned int pipe);
void asahi_workqueue_fini(struct asahi_workqueue *wq);
void asahi_workqueue_fill(struct asahi_workqueue *wq);

s64 asahi_workqueue_bytes(const struct asahi_workqueue *wq);
int asahi_workqueue_reserve(struct asahi_workqueue *wq);
bool asahi_workqueue_try_reserve(struct asahi_workqueue *wq);
void asahi_workqueue_unreserve(struct asahi_workqueue *wq);

/* The following need the timeline's lock. */
void asahi_workqueue_begin(struct asahi_workqueue *wq);
u32 asahi_workqueue_next_stamp(struct asahi_workqueue *wq);
bool asahi_workqueue_reached(const struct asahi_workqueue *wq, u32 value);
bool asahi_workqueue_ahead(const struct asahi_workqueue *wq);
void asahi_workqueue_push(struct asahi_workqueue *wq, u64 command_va);
void asahi_workqueue_commit(struct asahi_workqueue *wq, u64 job, struct asahi_pipe_msg *msg);
void asahi_workqueue_end(struct asahi_workqueue *wq);
void asahi_workqueue_get_state(const struct asahi_workqueue *wq,
			       struct asahi_workqueue_state *state);

void asahi_workqueue_announce_again(struct asahi_workqueue *wq);
int asahi_workqueue_announce(struct asahi_workqueue *wq, const struct asahi_pipe_msg *msg,
			     asahi_doorbell_fn ring);

#endif
