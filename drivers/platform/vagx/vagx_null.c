// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A DRM driver without a device
 *
 * Its jobs do nothing but pass through drm_sched. They show what a job costs with
 * any driver that uses drm_sched as asahi does: a scheduler with one entity for
 * each client, two work items on an unbound workqueue, and a hardware fence that an
 * interrupt signals. asahi-bench measures both drivers with the same loop.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/atomic.h>
#include <linux/container_of.h>
#include <linux/device/faux.h>
#include <linux/dma-fence.h>
#include <linux/err.h>
#include <linux/irq_work.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>
#include <linux/workqueue.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_ioctl.h>
#include <drm/drm_syncobj.h>
#include <drm/gpu_scheduler.h>

#include "vagx/vagx_null.h"

#define VAGX_NULL_CREDITS	64
#define VAGX_NULL_WORKERS	16

/**
 * struct vagx_null_device - the only device
 * @drm: the DRM device
 * @faux: its parent
 * @wq: where the schedulers of all clients run and free jobs
 */
struct vagx_null_device {
	struct drm_device drm;
	struct faux_device *faux;
	struct workqueue_struct *wq;
};

/**
 * struct vagx_null_file - a client
 * @sched: its scheduler
 * @entity: the only entity of @sched
 * @context: of the hardware fences
 * @seqno: of the latest hardware fence; only the scheduler's worker uses it
 * @jobs: jobs that have not been freed; the close waits for 0
 */
struct vagx_null_file {
	struct drm_gpu_scheduler sched;
	struct drm_sched_entity entity;
	/** @lock: held from arming a job until it is in the queue of @entity */
	struct mutex lock;
	u64 context;
	u64 seqno;
	atomic_t jobs;
};

/**
 * struct vagx_null_fence - the fence that a device would signal
 * @base: the fence; first, as dma_fence_free() expects
 * @irq: the interrupt that signals @base, and holds a reference to it until then
 */
struct vagx_null_fence {
	struct dma_fence base;
	struct irq_work irq;
};

/**
 * struct vagx_null_job - a job
 * @base: the scheduler's part
 * @file: whose it is
 * @fence: made with the job, since run_job() must not allocate; NULL from run_job() on
 */
struct vagx_null_job {
	struct drm_sched_job base;
	struct vagx_null_file *file;
	struct vagx_null_fence *fence;
};

static struct vagx_null_device *vagx_null;

static const char *vagx_null_fence_name(struct dma_fence *fence)
{
	return VAGX_NULL_NAME;
}

static const struct dma_fence_ops vagx_null_fence_ops = {
	.get_driver_name = vagx_null_fence_name,
	.get_timeline_name = vagx_null_fence_name,
};

/* The fence is freed after an RCU grace period, which this interrupt holds off. */
static void vagx_null_signal(struct irq_work *irq)
{
	struct vagx_null_fence *fence = container_of(irq, struct vagx_null_fence, irq);

	dma_fence_signal(&fence->base);
	dma_fence_put(&fence->base);
}

static struct dma_fence *vagx_null_run_job(struct drm_sched_job *base)
{
	struct vagx_null_job *job = container_of(base, struct vagx_null_job, base);
	struct vagx_null_fence *fence = job->fence;

	job->fence = NULL;
	dma_fence_init(&fence->base, &vagx_null_fence_ops, NULL, job->file->context,
		       ++job->file->seqno);
	init_irq_work(&fence->irq, vagx_null_signal);
	dma_fence_get(&fence->base);
	irq_work_queue(&fence->irq);

	return &fence->base;
}

/* No job times out. */
static enum drm_gpu_sched_stat vagx_null_timedout_job(struct drm_sched_job *base)
{
	return DRM_GPU_SCHED_STAT_NO_HANG;
}

static void vagx_null_free_job(struct drm_sched_job *base)
{
	struct vagx_null_job *job = container_of(base, struct vagx_null_job, base);
	struct vagx_null_file *file = job->file;

	drm_sched_job_cleanup(base);
	kfree(job->fence);
	kfree(job);
	/* The file may be freed as soon as the last one is counted. */
	atomic_dec_and_wake_up(&file->jobs);
}

static const struct drm_sched_backend_ops vagx_null_sched_ops = {
	.run_job = vagx_null_run_job,
	.timedout_job = vagx_null_timedout_job,
	.free_job = vagx_null_free_job,
};

static struct vagx_null_job *vagx_null_new_job(struct drm_file *drm_file)
{
	struct vagx_null_file *file = drm_file->driver_priv;
	struct vagx_null_job *job = kzalloc_obj(*job);
	int ret = -ENOMEM;

	if (!job)
		return ERR_PTR(-ENOMEM);

	job->file = file;
	job->fence = kzalloc_obj(*job->fence);
	if (job->fence)
		ret = drm_sched_job_init(&job->base, &file->entity, 1, file, drm_file->client_id);
	if (ret) {
		kfree(job->fence);
		kfree(job);
		return ERR_PTR(ret);
	}

	return job;
}

static int vagx_null_submit(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct vagx_null_file *file = drm_file->driver_priv;
	const struct vagx_null_submit *args = data;
	struct drm_syncobj *syncobj;
	struct vagx_null_job *job;

	if (args->pad)
		return -EINVAL;

	syncobj = drm_syncobj_find(drm_file, args->syncobj);
	if (!syncobj)
		return -ENOENT;

	job = vagx_null_new_job(drm_file);
	if (IS_ERR(job)) {
		drm_syncobj_put(syncobj);
		return PTR_ERR(job);
	}

	mutex_lock(&file->lock);
	atomic_inc(&file->jobs);
	drm_sched_job_arm(&job->base);
	drm_syncobj_replace_fence(syncobj, &job->base.s_fence->finished);
	drm_sched_entity_push_job(&job->base);
	mutex_unlock(&file->lock);
	drm_syncobj_put(syncobj);

	return 0;
}

static int vagx_null_open(struct drm_device *drm, struct drm_file *drm_file)
{
	struct vagx_null_device *null = container_of(drm, struct vagx_null_device, drm);
	struct vagx_null_file *file = kzalloc_obj(*file);
	struct drm_sched_init_args args = {
		.ops = &vagx_null_sched_ops,
		.submit_wq = null->wq,
		.num_rqs = 1,
		.credit_limit = VAGX_NULL_CREDITS,
		.timeout = MAX_SCHEDULE_TIMEOUT,
		.name = VAGX_NULL_NAME,
		.dev = drm->dev,
	};
	struct drm_gpu_scheduler *sched;
	int ret;

	if (!file)
		return -ENOMEM;

	mutex_init(&file->lock);
	file->context = dma_fence_context_alloc(1);
	ret = drm_sched_init(&file->sched, &args);
	if (ret)
		goto free_file;

	sched = &file->sched;
	ret = drm_sched_entity_init(&file->entity, DRM_SCHED_PRIORITY_KERNEL, &sched, 1, NULL);
	if (ret)
		goto fini_sched;

	drm_file->driver_priv = file;

	return 0;

fini_sched:
	drm_sched_fini(&file->sched);
free_file:
	mutex_destroy(&file->lock);
	kfree(file);
	return ret;
}

static void vagx_null_postclose(struct drm_device *drm, struct drm_file *drm_file)
{
	struct vagx_null_file *file = drm_file->driver_priv;

	drm_sched_entity_destroy(&file->entity);
	/* Each job signals as soon as it runs, so this ends. */
	wait_var_event(&file->jobs, !atomic_read(&file->jobs));
	drm_sched_fini(&file->sched);
	mutex_destroy(&file->lock);
	kfree(file);
}

static const struct drm_ioctl_desc vagx_null_ioctls[] = {
	DRM_IOCTL_DEF_DRV(VAGX_NULL_SUBMIT, vagx_null_submit, DRM_RENDER_ALLOW),
};

static const struct file_operations vagx_null_fops = {
	.owner = THIS_MODULE,
	.open = drm_open,
	.release = drm_release,
	.unlocked_ioctl = drm_ioctl,
	.compat_ioctl = drm_compat_ioctl,
	.poll = drm_poll,
	.read = drm_read,
	.fop_flags = FOP_UNSIGNED_OFFSET,
};

static const struct drm_driver vagx_null_driver = {
	.driver_features = DRIVER_RENDER | DRIVER_SYNCOBJ,
	.open = vagx_null_open,
	.postclose = vagx_null_postclose,
	.ioctls = vagx_null_ioctls,
	.num_ioctls = ARRAY_SIZE(vagx_null_ioctls),
	.fops = &vagx_null_fops,
	.name = VAGX_NULL_NAME,
	.desc = "jobs that do nothing",
	.major = 1,
};

static int __init vagx_null_init(void)
{
	struct faux_device *faux = faux_device_create(VAGX_NULL_NAME, NULL, NULL);
	struct vagx_null_device *null;
	int ret;

	if (!faux)
		return -ENODEV;

	null = devm_drm_dev_alloc(&faux->dev, &vagx_null_driver, struct vagx_null_device, drm);
	if (IS_ERR(null)) {
		ret = PTR_ERR(null);
		goto destroy_faux;
	}

	null->faux = faux;
	null->wq = alloc_workqueue(VAGX_NULL_NAME, WQ_MEM_RECLAIM | WQ_UNBOUND | WQ_HIGHPRI,
				   VAGX_NULL_WORKERS);
	if (!null->wq) {
		ret = -ENOMEM;
		goto destroy_faux;
	}

	ret = drm_dev_register(&null->drm, 0);
	if (ret)
		goto destroy_wq;

	vagx_null = null;

	return 0;

destroy_wq:
	destroy_workqueue(null->wq);
destroy_faux:
	faux_device_destroy(faux);
	return ret;
}

/* An open file holds the module, so that no client is left. */
static void __exit vagx_null_exit(void)
{
	struct faux_device *faux = vagx_null->faux;

	drm_dev_unregister(&vagx_null->drm);
	destroy_workqueue(vagx_null->wq);
	/* frees vagx_null */
	faux_device_destroy(faux);
}

module_init(vagx_null_init);
module_exit(vagx_null_exit);

MODULE_DESCRIPTION("DRM driver without a device, for measurements of drm_sched");
MODULE_LICENSE("Dual MIT/GPL");
