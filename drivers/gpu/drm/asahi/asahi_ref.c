// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * References to queues and jobs, and the workers that free them.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/cleanup.h>
#include <linux/container_of.h>
#include <linux/export.h>
#include <linux/kref.h>
#include <linux/rcupdate.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <kunit/visibility.h>

#include "asahi_batch.h"
#include "asahi_device.h"
#include "asahi_job.h"
#include "asahi_queue_priv.h"
#include "asahi_ref.h"
#include "asahi_stash.h"

/*
 * Dropping the last reference only queues a work item or adds to a batch, so
 * references can be dropped in any context, and this file needs to know nothing of
 * how a queue or a job ends. Each worker would be a thread when all clients end at
 * once; none waits for another one.
 */
#define ASAHI_REF_WORKERS 4

static struct workqueue_struct *asahi_ref_wq;

/**
 * asahi_ref_module_init() - make the workers that free queues
 *
 * They belong to the module because they may drop the last reference to a device. Jobs
 * are not freed there, since these workers wait for the firmware.
 *
 * Return: 0 or -ENOMEM.
 */
int asahi_ref_module_init(void)
{
	asahi_ref_wq = alloc_workqueue("asahi-free", WQ_UNBOUND | WQ_MEM_RECLAIM,
				       ASAHI_REF_WORKERS);

	return asahi_ref_wq ? 0 : -ENOMEM;
}

/**
 * asahi_ref_module_exit() - wait for what is left to be freed
 *
 * All devices are gone.
 */
void asahi_ref_module_exit(void)
{
	destroy_workqueue(asahi_ref_wq);
}

/**
 * asahi_ref_free_later() - have a queue freed in process context
 * @work: work whose function frees it
 *
 * Any context.
 */
void asahi_ref_free_later(struct work_struct *work)
{
	queue_work(asahi_ref_wq, work);
}

static void asahi_ref_release_queue(struct kref *ref)
{
	struct asahi_queue *queue = container_of(ref, struct asahi_queue, refcount);

	asahi_ref_free_later(&queue->free_work);
}

/**
 * asahi_queue_get() - take a reference
 * @queue: queue
 *
 * Any context.
 *
 * Return: @queue.
 */
struct asahi_queue *asahi_queue_get(struct asahi_queue *queue)
{
	kref_get(&queue->refcount);
	return queue;
}

/**
 * asahi_queue_get_unless_zero() - take a reference if there is one left
 * @queue: queue whose memory is kept by a lock
 *
 * Any context.
 *
 * Return: @queue, or NULL if it is being freed.
 */
struct asahi_queue *asahi_queue_get_unless_zero(struct asahi_queue *queue)
{
	return kref_get_unless_zero(&queue->refcount) ? queue : NULL;
}

/**
 * asahi_queue_put() - drop a reference
 * @queue: queue
 *
 * Any context. A worker does what there is to do.
 */
void asahi_queue_put(struct asahi_queue *queue)
{
	kref_put(&queue->refcount, asahi_ref_release_queue);
}

static void asahi_ref_release_job(struct kref *ref)
{
	struct asahi_job *job = container_of(ref, struct asahi_job, refcount);
	struct asahi_queue *queue = job->queue;
	struct asahi_batch *batch = queue->adev->batch;

	asahi_stash_keep(&queue->stash, &job->memory);

	/* The job may be freed as soon as it is added, and the queue and the device after it. */
	guard(rcu)();
	asahi_batch_add(batch, &job->free_link, job->bytes);
	/* A waiter looks for jobs that are over after it has begun to wait. */
	if (READ_ONCE(queue->closed) || waitqueue_active(&queue->room.more))
		asahi_batch_hurry(batch);
}

/**
 * asahi_job_get() - take a reference
 * @job: job
 *
 * Return: @job.
 */
struct asahi_job *asahi_job_get(struct asahi_job *job)
{
	kref_get(&job->refcount);
	return job;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_job_get);

/**
 * asahi_job_put() - drop a reference
 * @job: job; it holds no slots and does not wait for any when the last goes
 *
 * Any context. A worker does what there is to do.
 */
void asahi_job_put(struct asahi_job *job)
{
	kref_put(&job->refcount, asahi_ref_release_job);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_job_put);
