// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Recovery: what happens when work or the firmware fails.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/bits.h>
#include <linux/cleanup.h>
#include <linux/dma-fence.h>
#include <linux/lockdep.h>
#include <linux/string_choices.h>
#include <linux/workqueue.h>

#include <kunit/visibility.h>

#include <drm/drm_print.h>

#include "asahi_block.h"
#include "asahi_channel.h"
#include "asahi_client.h"
#include "asahi_coredump.h"
#include "asahi_device.h"
#include "asahi_event.h"
#include "asahi_growth.h"
#include "asahi_halt.h"
#include "asahi_hw.h"
#include "asahi_initdata.h"
#include "asahi_job.h"
#include "asahi_queue_priv.h"
#include "asahi_recovery.h"
#include "asahi_ref.h"
#include "asahi_sched.h"
#include "asahi_timeline.h"
#include "asahi_trace.h"
#include "asahi_vm.h"

/**
 * DOC: Recovery
 *
 * The firmware tells of four kinds of failure:
 *
 * * a *fault*: the MMU refused an access. Which one is in a register.
 * * a *timeout*: work took too long. The message names its event slot.
 * * a *channel error*: the firmware could not make sense of a ring's entry.
 *   The message names the event slot and the stamp. That ring stands still until
 *   the firmware is told to recover it; all others go on.
 * * a *crash*, which RTKit tells.
 *
 * After a fault or a timeout the GPU was stopped and the firmware halts. It
 * leaves a table of the stamps of all work that was running. Each is the
 * culprit's or a bystander's: after a fault, those in the VM context that it
 * happened in are guilty, after a timeout the one that is named. It may happen
 * that the firmware names nobody and the fault register holds no fault: then all
 * of that work is lost, but no queue is punished. The jobs that own the stamps
 * are marked, and the firmware is told to resume. It then retires the marked work
 * by writing its stamps, and goes on with the rings. Only then do fences signal,
 * because until then the GPU may use the jobs' memory.
 *
 * The jobs that had been submitted behind a guilty one to its queue are cancelled:
 * what they would read was never written. Then the queue goes on, as all others do: a
 * program that takes no notice of an error, and there is hardly another one, must see
 * its later frames. Each failure stops the GPU for everybody, so a client that causes
 * one after the other is barred for a while: its jobs are skipped. A bystander's owner
 * sees ECANCELED and may submit again.
 *
 * After a crash, and when the firmware stops answering, nothing will complete
 * any more: what follows is in asahi_reset.c.
 */

static void asahi_recovery_print_fault(struct asahi_device *adev,
				       const struct asahi_fault_info *info)
{
	drm_err_ratelimited(&adev->drm,
			    "GPU fault: %s of %#llx in context %u, unit %s (%#x), %s\n",
			    str_read_write(info->read), info->address, info->slot,
			    asahi_hw_fault_unit(info), info->unit, asahi_hw_fault_reason(info));
	trace_asahi_fault(adev, info);
}

/*
 * Judging and marking
 */

/**
 * asahi_recovery_judge() - find out what work has to answer for
 * @failure: what happened
 * @event_slot: event slot of work that was running
 * @vm_slot: VM context that it ran in
 *
 * If neither the firmware nor the fault register tells who did it, all work
 * that was running is lost, but nobody is guilty. Any context.
 *
 * Return: the verdict.
 */
struct asahi_verdict asahi_recovery_judge(const struct asahi_failure *failure,
					  unsigned int event_slot, unsigned int vm_slot)
{
	bool faulted = failure->fault && failure->fault->slot == vm_slot;
	bool known = failure->culprit >= 0;

	if (known ? failure->culprit != event_slot : failure->fault && !faulted)
		return (struct asahi_verdict) { .error = -ECANCELED };

	return (struct asahi_verdict) {
		.error = faulted ? -EIO : failure->error,
		.guilty = known || faulted,
	};
}
EXPORT_SYMBOL_IF_KUNIT(asahi_recovery_judge);

/* Keep what is known of a job that failed. */
static void asahi_recovery_note(struct asahi_job *job, struct asahi_verdict verdict,
				unsigned int slot, u32 value)
{
	struct asahi_queue *queue = job->queue;

	/* Guilt can be found out later than that the work is lost, not the other way. */
	if (job->error && !(verdict.guilty && job->error == -ECANCELED))
		return;

	job->error = verdict.error;
	trace_asahi_failed(queue->adev, asahi_client_id(queue->client), queue->id, job->id, slot,
			   value, job->error);
	if (job->error == -ECANCELED)
		return;

	drm_err_ratelimited(&queue->adev->drm,
			    "queue %u: job %llu of %*pE (pid %d, client %llu) failed: %d\n",
			    queue->id, job->id, (int)strlen(job->process.comm), job->process.comm,
			    job->process.pid, asahi_client_id(queue->client), job->error);
	if (verdict.guilty) {
		asahi_timeline_cancel_waiting(queue);
		asahi_client_note_guilty(queue->client);
	}
	asahi_coredump_capture(job, slot);
}

/* The firmware writes the stamps up to @value by itself. */
static void asahi_recovery_note_owed(struct asahi_part *part, u32 value)
{
	if (part->taken_down && asahi_stamp_reached(part->owed, value))
		return;

	part->taken_down = true;
	part->owed = value;
}

/*
 * Mark the job that owns a stamp. Earlier jobs of that ring are lost, too,
 * because reaching this stamp makes them look complete. If the owner is guilty,
 * all later jobs of the queue are cancelled, those not submitted yet included.
 * Fences signal later, when the firmware has written the stamps and so does not
 * use the jobs' memory any more.
 */
static void asahi_recovery_mark_jobs(struct asahi_queue *queue, int pipe, unsigned int slot,
				     u32 value, const struct asahi_failure *failure)
{
	const struct asahi_verdict lost = { .error = -ECANCELED };
	struct asahi_verdict verdict;
	struct asahi_job *job;
	bool behind = false;

	lockdep_assert_held(&queue->timeline.lock);

	/* A job whose stamps are all there is complete, and not to be marked. */
	asahi_timeline_retire_reached(queue);

	verdict = asahi_recovery_judge(failure, slot, asahi_vm_slot_client(queue->vm)->slot);

	list_for_each_entry(job, &queue->timeline.jobs, link) {
		enum asahi_job_hit hit = ASAHI_JOB_MISSED;

		if (!job->skipped)
			hit = asahi_job_hit(&job->part[pipe], value);
		if (hit != ASAHI_JOB_MISSED)
			asahi_recovery_note_owed(&job->part[pipe], value);

		if (hit == ASAHI_JOB_OWNS)
			asahi_recovery_note(job, verdict, slot, value);
		else if (hit == ASAHI_JOB_BEFORE || behind)
			asahi_recovery_note(job, lost, slot, value);

		behind |= hit == ASAHI_JOB_OWNS && verdict.guilty;
	}
}

/* Returns the pipe whose work has the event, or -1. */
static int asahi_recovery_mark(struct asahi_queue *queue, unsigned int slot, u32 value,
			       const struct asahi_failure *failure)
{
	int pipe = asahi_pipes_find(&queue->pipes, slot);

	if (pipe >= 0)
		asahi_recovery_mark_jobs(queue, pipe, slot, value, failure);

	return pipe;
}

/* Mark all work that was running. */
static void asahi_recovery_mark_pending(struct asahi_device *adev,
					const struct asahi_failure *failure)
{
	struct asahi_pending_stamp stamp;
	struct asahi_queue *queue;

	for (unsigned int i = 0; i < ASAHI_PENDING_STAMPS; i++) {
		if (!asahi_initdata_take_pending(adev, i, &stamp))
			continue;

		drm_dbg(&adev->drm, "running at the failure: event %u, stamp %#x, flags %#x\n",
			stamp.event_slot, stamp.value, stamp.flags);
		asahi_coredump_note_running(adev, &stamp);

		queue = asahi_event_get_owner(adev, stamp.event_slot);
		if (!queue) {
			drm_err(&adev->drm, "event %u has failed work but no owner\n",
				stamp.event_slot);
			continue;
		}

		scoped_guard(spinlock_bh, &queue->timeline.lock)
			asahi_recovery_mark(queue, stamp.event_slot, stamp.value, failure);
		asahi_queue_put(queue);
	}
}

static void asahi_recovery_handle(struct asahi_device *adev, const char *what, int error,
				  int culprit)
{
	struct asahi_failure failure = { .error = error, .culprit = culprit };
	bool cookie = dma_fence_begin_signalling();
	struct asahi_fault_info info;

	/* Jobs that wait behind this are not stuck. */
	asahi_event_note_progress(adev);

	if (asahi_hw_read_fault(adev, &info)) {
		asahi_recovery_print_fault(adev, &info);
		failure.fault = &info;
	} else if (culprit < 0) {
		drm_err_ratelimited(&adev->drm,
				    "the firmware does not name the work that caused the %s\n",
				    what);
	}

	asahi_coredump_begin(adev, what, failure.fault);
	asahi_recovery_mark_pending(adev, &failure);
	asahi_coredump_end(adev);

	asahi_halt_end(adev, what);
	dma_fence_end_signalling(cookie);
}

static void asahi_recovery_fault(struct asahi_device *adev)
{
	asahi_recovery_handle(adev, "fault", -EIO, -1);
}

/* A negative slot means that the firmware does not know whose work it was. */
static void asahi_recovery_timeout(struct asahi_device *adev, u32 counter, int event_slot)
{
	drm_err_ratelimited(&adev->drm, "GPU timeout %u: event %d\n", counter, event_slot);
	asahi_recovery_handle(adev, "timeout", -ETIMEDOUT, event_slot);
}

/*
 * Channel errors
 */

static int asahi_recovery_recover_pipe(struct asahi_queue *queue, unsigned int pipe)
{
	struct asahi_recovery_queue *recovery = &queue->recovery;
	struct asahi_dc_msg msg = { .type = ASAHI_DC_RECOVER_CHANNEL };

	scoped_guard(spinlock_bh, &queue->timeline.lock) {
		if (!(recovery->pipes & BIT(pipe)))
			return 0;
		recovery->pipes &= ~BIT(pipe);
		msg.recover_channel.event_value = recovery->value[pipe];
	}

	msg.recover_channel.pipe_type = pipe;
	msg.recover_channel.queue_va = queue->pipes.wq[pipe].info.va;

	return asahi_channel_device_control(queue->adev, &msg);
}

static void asahi_recovery_recover_work(struct work_struct *work)
{
	struct asahi_queue *queue = container_of(work, struct asahi_queue, recovery.work);
	struct asahi_device *adev = queue->adev;
	bool cookie = dma_fence_begin_signalling();
	int ret = 0;

	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++)
		ret = asahi_recovery_recover_pipe(queue, i) ?: ret;

	if (ret && asahi_state_fw_alive(adev))
		drm_err(&adev->drm, "queue %u: firmware does not recover the channel: %d\n",
			queue->id, ret);
	trace_asahi_recover(adev, queue->id, "channel error", ret);

	dma_fence_end_signalling(cookie);
	asahi_queue_put(queue);
}

/*
 * Mark the work, and have a worker tell the firmware to go on with the ring. It
 * is not done here because a firmware that has halted does not listen, and the
 * caller is the one whom it waits for.
 */
static void asahi_recovery_fail_entry(struct asahi_queue *queue, unsigned int slot, u32 value,
				      const struct asahi_failure *failure)
{
	int pipe;

	guard(spinlock_bh)(&queue->timeline.lock);

	pipe = asahi_recovery_mark(queue, slot, value, failure);
	if (pipe < 0)
		return;

	/* The queue does not know what becomes of its errors. */
	if (!queue->recovery.work.func)
		INIT_WORK(&queue->recovery.work, asahi_recovery_recover_work);
	queue->recovery.pipes |= BIT(pipe);
	queue->recovery.value[pipe] = value;
	asahi_sched_queue_timeout_work(queue->adev, queue, &queue->recovery.work);
}

static void asahi_recovery_channel_error(struct asahi_device *adev, u32 type, u32 pipe,
					 u32 slot, u32 value)
{
	struct asahi_failure failure = { .error = -EIO, .culprit = slot };
	bool cookie = dma_fence_begin_signalling();
	struct asahi_queue *queue;

	drm_err_ratelimited(&adev->drm, "channel error %u: pipe %u, event %u, stamp %#x\n", type,
			    pipe, slot, value);
	asahi_event_note_progress(adev);

	queue = asahi_event_get_owner(adev, slot);
	if (!queue) {
		drm_err(&adev->drm, "event %u has failed work but no owner\n", slot);
		goto out;
	}

	asahi_coredump_begin(adev, "channel error", NULL);
	asahi_recovery_fail_entry(queue, slot, value, &failure);
	asahi_coredump_end(adev);
	asahi_queue_put(queue);
out:
	dma_fence_end_signalling(cookie);
}

static const struct asahi_channel_ops asahi_recovery_channel_ops = {
	.stamps = asahi_timeline_notify,
	.fault = asahi_recovery_fault,
	.timeout = asahi_recovery_timeout,
	.channel_error = asahi_recovery_channel_error,
	.grow = asahi_growth_request,
};

static int asahi_recovery_init(struct asahi_device *adev)
{
	asahi_channel_set_ops(adev, &asahi_recovery_channel_ops);
	return 0;
}

const struct asahi_block asahi_block_recovery = {
	.name = "recovery",
	.init = asahi_recovery_init,
};
