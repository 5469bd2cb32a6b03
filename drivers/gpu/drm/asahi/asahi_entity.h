/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Entities: a queue's jobs that wait, in the DRM scheduler.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_ENTITY_H
#define ASAHI_ENTITY_H

#include <linux/atomic.h>
#include <linux/types.h>
#include <linux/wait.h>

#include <drm/gpu_scheduler.h>

struct asahi_job;
struct asahi_queue;
struct asahi_rest;
struct dma_fence;
struct workqueue_struct;

/**
 * struct asahi_entity - jobs of a queue that wait for their turn
 * @sched: the DRM scheduler's part; its only entity is @base
 * @base: likewise
 * @waiting: jobs that were pushed and have not been handed to the firmware
 * @drained: wakes up when @waiting becomes 0
 *
 * Part of struct asahi_queue.
 */
struct asahi_entity {
	struct drm_gpu_scheduler sched;
	struct drm_sched_entity base;
	atomic_t waiting;
	wait_queue_head_t drained;
};

int asahi_entity_init(struct asahi_queue *queue, struct workqueue_struct *wq);
void asahi_entity_fini(struct asahi_queue *queue);
void asahi_entity_stop(struct asahi_queue *queue);
void asahi_entity_start(struct asahi_queue *queue);
void asahi_entity_close(struct asahi_queue *queue, long *drain_jiffies);
bool asahi_entity_is_empty(struct asahi_queue *queue);

int asahi_entity_add_job(struct asahi_job *job, u64 client_id);
int asahi_entity_add_dependency(struct asahi_job *job, struct dma_fence *fence);
void asahi_entity_remove_job(struct asahi_job *job);
void asahi_entity_push(struct asahi_job *job);

void asahi_entity_at_rest(struct asahi_queue *queue, struct asahi_rest *rest);

#endif
