/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Pipes: the three work queues of a queue, and what a job has in each.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_PIPES_H
#define ASAHI_PIPES_H

#include <linux/types.h>

#include <agx/agx_rtkit.h>

#include "asahi_workqueue.h"

struct asahi_pipe_msg;
struct asahi_queue;
struct asahi_slot_request;

/**
 * struct asahi_pipes - the work queues of a queue
 * @wq: work queues, by pipe
 *
 * Part of struct asahi_queue, under the rules of struct asahi_workqueue.
 */
struct asahi_pipes {
	struct asahi_workqueue wq[AGX_PIPE_COUNT];
};

/**
 * struct asahi_part - what a job has on one pipe
 * @count: stamps that it takes; nothing else has a meaning if it takes none
 * @first: value of the first, once it runs
 * @last: value of the last, once it runs
 * @behind: there was earlier work in flight when it was handed over
 * @earlier: value of the last stamp of that
 * @taken_down: the firmware has taken its work down
 * @owed: up to which value, which the firmware owes us then
 *
 * A job has AGX_PIPE_COUNT of them, by pipe.
 */
struct asahi_part {
	unsigned int count;
	u32 first;
	u32 last;
	bool behind;
	u32 earlier;
	bool taken_down;
	u32 owed;
};

int asahi_pipes_init(struct asahi_pipes *pipes, struct asahi_queue *queue);
void asahi_pipes_fini(struct asahi_pipes *pipes);
s64 asahi_pipes_bytes(const struct asahi_pipes *pipes);
void asahi_pipes_need_slots(struct asahi_pipes *pipes, const struct asahi_part *part,
			    struct asahi_slot_request *slots);
int asahi_pipes_reserve(struct asahi_pipes *pipes, const struct asahi_part *part);
bool asahi_pipes_try_reserve(struct asahi_pipes *pipes, const struct asahi_part *part);
void asahi_pipes_unreserve(struct asahi_pipes *pipes, const struct asahi_part *part);

/* The following need the timeline's lock. */
void asahi_pipes_fill(struct asahi_pipes *pipes);
bool asahi_pipes_are_used(const struct asahi_pipes *pipes);
unsigned int asahi_pipes_begin(struct asahi_pipes *pipes, struct asahi_part *part);
void asahi_pipes_commit(struct asahi_pipes *pipes, const struct asahi_part *part, u64 job,
			struct asahi_pipe_msg *msg);
bool asahi_pipes_reached(const struct asahi_pipes *pipes, const struct asahi_part *part);
bool asahi_pipes_owed(const struct asahi_pipes *pipes, const struct asahi_part *part);
bool asahi_pipes_are_ahead(const struct asahi_pipes *pipes);
u32 asahi_pipes_stamps(const struct asahi_pipes *pipes);
int asahi_pipes_find(const struct asahi_pipes *pipes, unsigned int slot);
void asahi_pipes_end(struct asahi_pipes *pipes, const struct asahi_part *part);

int asahi_pipes_announce(struct asahi_pipes *pipes, const struct asahi_part *part,
			 const struct asahi_pipe_msg *msg, asahi_doorbell_fn ring);
void asahi_pipes_announce_again(struct asahi_pipes *pipes);

#endif
