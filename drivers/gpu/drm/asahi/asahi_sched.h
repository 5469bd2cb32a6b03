/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Scheduling: from the submission of jobs to their turn, and the list of all
 * queues.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_SCHED_H
#define ASAHI_SCHED_H

#include <linux/types.h>

struct asahi_block;
struct asahi_device;
struct asahi_job;
struct asahi_queue;
struct drm_printer;
struct work_struct;

extern const struct asahi_block asahi_block_sched;

void asahi_sched_continue(struct asahi_device *adev);
u32 asahi_sched_next_id(struct asahi_device *adev);
void asahi_sched_visit_queues(struct asahi_device *adev,
			      void (*fn)(struct asahi_queue *queue));
int asahi_sched_find_queue(struct asahi_device *adev,
			   int (*fn)(struct asahi_queue *queue, u32 arg), u32 arg);
void asahi_sched_print(struct asahi_device *adev, struct drm_printer *p);
void asahi_sched_queue_timeout_work(struct asahi_device *adev, struct asahi_queue *queue,
				    struct work_struct *work);

int asahi_sched_add_queue(struct asahi_queue *queue);
void asahi_sched_remove_queue(struct asahi_queue *queue);
void asahi_sched_leak_queue(struct asahi_queue *queue);
bool asahi_sched_claim(struct asahi_job *job);
void asahi_sched_run_now(struct asahi_job *job);
void asahi_sched_watch(struct asahi_queue *queue);
void asahi_sched_reap(struct asahi_device *adev);

#endif
