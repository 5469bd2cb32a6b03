/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Work queues: the firmware's rings of commands, one for each pipe of a queue.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_WORKQUEUE_H
#define ASAHI_WORKQUEUE_H

#include <linux/types.h>

struct asahi_device;
struct asahi_queue;
struct asahi_slot_client;
struct asahi_workqueue;

/** ASAHI_MAX_STAMPS - stamps that a work queue may have outstanding */
#define ASAHI_MAX_STAMPS 127

/**
 * struct asahi_workqueue_args - what a work queue is made from
 * @queue: queue that it is part of
 * @uuid: number of that queue
 * @pipe: AGX_PIPE_*
 * @priority: 0, the highest, to 3
 * @notifier_list_va: the queue's list of notifiers
 * @context_va: the queue's GpuContextData
 */
struct asahi_workqueue_args {
	struct asahi_queue *queue;
	u32 uuid;
	unsigned int pipe;
	unsigned int priority;
	u64 notifier_list_va;
	u64 context_va;
};

struct asahi_workqueue *asahi_workqueue_create(struct asahi_device *adev,
					       const struct asahi_workqueue_args *args);
void asahi_workqueue_destroy(struct asahi_workqueue *wq);

u64 asahi_workqueue_info_va(const struct asahi_workqueue *wq);
struct asahi_slot_client *asahi_workqueue_slot_client(struct asahi_workqueue *wq);
bool asahi_workqueue_used(const struct asahi_workqueue *wq);
int asahi_workqueue_reserve(struct asahi_workqueue *wq);
void asahi_workqueue_unreserve(struct asahi_workqueue *wq);

/* The following need the queue's lock. */
bool asahi_workqueue_busy(const struct asahi_workqueue *wq);
unsigned int asahi_workqueue_event(const struct asahi_workqueue *wq);
u32 asahi_workqueue_stamp(const struct asahi_workqueue *wq);
u64 asahi_workqueue_event_seq(const struct asahi_workqueue *wq);

void asahi_workqueue_begin(struct asahi_workqueue *wq);
u32 asahi_workqueue_next_stamp(struct asahi_workqueue *wq);
void asahi_workqueue_push(struct asahi_workqueue *wq, u64 command_va);
int asahi_workqueue_commit(struct asahi_workqueue *wq);
int asahi_workqueue_doorbell(struct asahi_workqueue *wq);
void asahi_workqueue_end(struct asahi_workqueue *wq);

#endif
