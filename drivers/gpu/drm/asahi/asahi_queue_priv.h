/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Queues: what the files share that work on queues.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_QUEUE_PRIV_H
#define ASAHI_QUEUE_PRIV_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include <agx/agx_rtkit.h>

#include "asahi_entity.h"
#include "asahi_heap.h"
#include "asahi_pipes.h"
#include "asahi_recovery.h"
#include "asahi_room.h"
#include "asahi_stash.h"
#include "asahi_timeline.h"
#include "asahi_tvb.h"

struct asahi_client;
struct asahi_device;
struct asahi_file;
struct asahi_rest;
struct asahi_vm;

/**
 * struct asahi_queue - a user's queue
 * @refcount: one for the file's table, one for each job
 * @adev: device, with a reference
 * @vm: address space, with a reference
 * @client: the file's, with a reference
 * @id: number in the device, never used again; for messages
 * @fw_id: the same for the firmware; a queue that was trimmed has got another one
 * @priority: firmware priority, 0, the highest, to 3
 * @usc_exec_base: base of all its shaders
 * @pipes: its rings, by pipe
 * @tvb: its tiled vertex buffer
 * @oldest_event: the firmware is asked to tell of each job as soon as it is complete
 * @notifier: firmware memory: Notifier
 * @threshold: firmware memory: what the Notifier compares with
 * @notifier_list: firmware memory
 * @context: firmware memory: GpuContextData
 * @free_work: frees it
 * @rcu: for the end of it
 *
 * @submit_lock: taken by SUBMIT from arming to running or pushing, so that fences are
 *	numbered in the order in which jobs run. Reservations are locked inside.
 * @submitted: number of the last job that was armed; changes under @submit_lock, is
 *	read without
 * @closed: destroyed by its owner: nothing is submitted any more; changes under
 *	@submit_lock, is read without
 *
 * @link: in the list of all queues, protected by its lock
 * @entity: jobs that wait
 * @look: asks the watchdog about the oldest job in flight
 * @room: how much is queued
 * @stash: memory for jobs
 *
 * @timeline: jobs in flight
 * @recovery: what the firmware is to be told after channel errors
 */
struct asahi_queue {
	struct kref refcount;
	struct asahi_device *adev;
	struct asahi_vm *vm;
	struct asahi_client *client;
	u32 id;
	u32 fw_id;
	unsigned int priority;
	u64 usc_exec_base;
	struct asahi_pipes pipes;
	struct asahi_tvb tvb;
	bool oldest_event;
	struct asahi_fwbuf notifier;
	struct asahi_fwbuf threshold;
	struct asahi_fwbuf notifier_list;
	struct asahi_fwbuf context;
	/**
	 * @context_lock: keeps a reset, after which the firmware knows no context, from
	 * happening while the firmware is told to forget this one. Taken where fences are
	 * signalled, before the timeline's lock: nothing allocates under it. Held while
	 * the firmware is waited for.
	 */
	struct mutex context_lock;
	struct work_struct free_work;
	struct rcu_head rcu;

	/* Submission. */
	struct mutex submit_lock;
	u64 submitted;
	bool closed;

	/* Scheduling. */
	struct list_head link;
	struct asahi_entity entity;
	struct delayed_work look;
	struct asahi_room room;
	struct asahi_stash stash;

	/* Execution. */
	struct asahi_timeline timeline;
	struct asahi_recovery_queue recovery;
};

void asahi_queue_fill(struct asahi_queue *queue);
int asahi_queue_trim(struct asahi_queue *queue);
void asahi_queue_free_memory(struct asahi_queue *queue);
void asahi_queue_free_leaked(struct asahi_queue *queue);
void asahi_queue_at_rest(struct asahi_queue *queue, struct asahi_rest *rest);
struct asahi_queue *asahi_queue_lookup(struct asahi_file *file, u32 id);

#endif
