// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Scheduling: from the submission of jobs to their turn, and the list of all
 * queues.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/array_size.h>
#include <linux/atomic.h>
#include <linux/cleanup.h>
#include <linux/dma-fence.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/srcu.h>
#include <linux/workqueue.h>

#include <drm/drm_drv.h>
#include <drm/drm_print.h>

#include <agx/agx_uat.h>

#include "asahi_block.h"
#include "asahi_channel.h"
#include "asahi_client.h"
#include "asahi_device.h"
#include "asahi_entity.h"
#include "asahi_event.h"
#include "asahi_job.h"
#include "asahi_queue_priv.h"
#include "asahi_ref.h"
#include "asahi_rest.h"
#include "asahi_sched.h"
#include "asahi_slot.h"
#include "asahi_timeline.h"
#include "asahi_uat.h"
#include "asahi_vm.h"
#include "asahi_watchdog.h"
#include "asahi_workqueue.h"

/**
 * DOC: Queues
 *
 * A queue is what a client submits to. It has a ring of the firmware's for
 * each of the three pipes, vertex, fragment and compute, and an entity of the DRM
 * scheduler. The firmware schedules the rings of all queues against
 * each other; the DRM scheduler only has the jobs that cannot run at once.
 *
 * A job's way: SUBMIT checks the commands, builds firmware structures and arms the job
 * (asahi_submit.c, asahi_job.c, asahi_work.c). One that depends on nothing claims room among
 * the queue's stamps, a VM context and event slots (asahi_slot.c), and room for the messages
 * to the firmware, and runs from the ioctl. Any other one goes through the entity
 * (asahi_entity.c), and gets the same when its dependencies have signalled. To run, a job is
 * appended to the timeline (asahi_timeline.c), the slots are written into the commands, these
 * are put into the rings, and the doorbells are rung (asahi_workqueue.c). Stamps come back
 * (asahi_event.c), jobs leave the timeline in order, and their fences signal. Jobs that are
 * over are put into the device's batch (asahi_batch.c), whose worker frees the memory.
 *
 * **From the ioctl** a job runs only if nothing at all has to be waited for: all its
 * dependencies have signalled; no job waits in its queue's entity; nobody of the same or a
 * higher priority waits for slots, and all that it needs are free or its owners' already; the
 * address space has its context; each ring has room for a message. Then it gets all of them,
 * and is armed and handed over under the queue's *submit_lock*. The entity hands over nothing
 * meanwhile, as it is empty. So jobs run in the order of their numbers, whichever way they
 * take, and no client passes another one that waits. All of it is done in a read section of
 * SRCU, and a pause of the schedulers waits for the end of those.
 *
 * **Completion is serialised, execution is not.** A job's fence signals when
 * its own stamps and those of all earlier jobs of the queue are reached, on all
 * pipes. That is what makes one timeline of fences for render and compute work
 * legal. Commands of different pipes, and of one pipe as far as the firmware
 * likes, run side by side unless barriers forbid it.
 *
 * **Fences are on time.** The firmware tells of a queue's stamps only when it has
 * completed all that it was given of that queue. So all stamps that somebody waits
 * for are looked at whenever it tells of any, and each millisecond by a timer while
 * a queue has more than one job in flight. The timer reads at most 128 words, and does
 * not run otherwise. Both look in a bottom half, and fences signal there: no thread is
 * woken up in between, and none that waits for the firmware can delay it, since a
 * timeline's lock is a spinlock.
 *
 * With the module parameter ``unproven`` and the name "events", the firmware is asked to
 * tell of each job: the notifier's threshold counts only up to the oldest job in flight.
 * When that is complete, the threshold counts the next one, and the next one's stamps are
 * looked at once more, since they may have come before. The timer is the fallback, and
 * looks less and less often, down to once in 128 ms, unless it has found a stamp of which
 * there was no message until its next look.
 *
 * **No set of clients can deadlock.** Five things can be waited for:
 *
 * * room in the queue, by SUBMIT, which holds nothing. It comes back when earlier
 *   jobs of the queue are freed, and these depend on fences that exist; or when a
 *   queue without jobs has been trimmed, which waits for the firmware only. Jobs that
 *   are over are freed at once while a SUBMIT waits.
 * * dependencies, by jobs that hold nothing: no context, no event, no room in
 *   a ring. A hundred VMs may wait for the hundred-and-first; they wait in their
 *   entities, and it finds all slots free.
 * * stamps, which are the queue's own and come back when its earlier jobs
 *   complete. Those have all been handed to the firmware. The number of outstanding ones
 *   stays below the firmware's limit, and below what fits into a ring.
 * * slots. Only a job whose dependencies have all signalled asks for them, it
 *   gets all or none, and those who hold them are handed to the firmware
 *   without waiting for anything more. The queue of those who wait is strict,
 *   so each is served.
 * * the firmware. Within a ring it runs in order, and barriers point at
 *   earlier work of the same queue only, which is in a ring already. Work that
 *   hangs is taken down by the firmware's own timeout. Whenever a job has been the oldest in
 *   flight for ten seconds, the queue's look asks the watchdog, which knows what
 *   is late and what is lost: see "Watchdog". A firmware that answers nothing is given
 *   up, and all fences signal or their jobs wait for its next start: see "States".
 *
 * Each of the five ends if the following ones do. What runs in the critical
 * section of fences (prepare_job(), run_job(), a run from the ioctl, completion, recovery,
 * looks, reset) allocates nothing and takes no lock under which others allocate. A run from
 * the ioctl is made with such locks, the queue's *submit_lock* and reservations. It waits for
 * nobody, so nobody waits for it. Completion waits for nothing, and needs no worker.
 *
 * **Workers.** Each priority has one worker, in which the entities of its queues run
 * jobs one after the other and let go of them. What a job may wait for there is room for
 * a message to the firmware, which other jobs of its priority would wait for as well, and
 * a flush of the firmware's cache, if its address space gets a context. After each job a
 * scheduler queues its work again, to look for another one. With several workers each of
 * these looks would wake up a second thread.
 *
 * **Locks**, from the outside in: a queue's *submit_lock*, then reservations; the
 * *lock* of the list of queues; a queue's *context_lock*; a timeline's *lock*; then, each
 * as the last one, the locks of the slots, the events, and the client's times. The locks of
 * the MMU's contexts and of a channel are taken without a timeline's lock, since the
 * firmware is waited for with them, and recovery has to take a timeline's lock before it
 * lets a firmware go on that has halted. So a job's address space gets its context before
 * the job is put into the rings, and the firmware is told of it afterwards. The order of two
 * messages of one ring does not need the lock, since two jobs of a queue never run at once.
 *
 * **When the firmware fails**, jobs do not. The schedulers stop, and nothing runs from an
 * ioctl; what is in flight is cancelled; what waits in an entity waits on, and so does a job
 * whose turn comes in the short time before they stop, since slots are not handed out then.
 * Once the firmware has started again, with all that it reads of queues written anew, they go
 * on. If it does not start again, they are skipped, with ENODEV.
 *
 * **What is bounded.** A queue has 1024 jobs and 128 MiB of firmware-visible memory
 * for them at most; SUBMIT waits, interruptibly, for more, so that no client sees
 * an error for being fast. A file has 1024 queues. Nearly all of that memory is in
 * the heaps of the address space, which are charged to the client.
 *
 * **What was rejected.** Slots for a job that still has to wait: 63 VMs that wait for a 64th
 * would keep it from ever running. Taking VM context and events one after the
 * other: two jobs could each hold what the other one wants. A scheduler for each
 * pipe, with fences of their own: a SUBMIT has commands for several pipes, so
 * its out-fence would be an array, allocated when the job runs. One scheduler
 * for all queues: its jobs would wait for each other. Failing
 * jobs out of order after an error: later fences of a timeline must not signal
 * before earlier ones, so jobs that are not worth running any more go through
 * the list like all others. A fence of the scheduler's for clients: a job that runs from the
 * ioctl would need one that it has no other use for, and a queue would have two timelines. A
 * notifier for each job, which would make the firmware tell of each: nobody has tried that on
 * a machine. Handing over only one job of a queue at a time: the GPU would idle in between.
 */

/* Tiled vertex buffers that the firmware can know at a time. */
#define ASAHI_BUFFERS 127

/* Slots for so many jobs are kept for high priorities. A compositor has two in flight. */
#define ASAHI_KEPT_JOBS 2

/* Jobs that are printed in one go. */
#define ASAHI_SCHED_LINES 16

/* How long suspend and unplug wait for what is in flight. */
#define ASAHI_SCHED_IDLE_MS 2000

/**
 * struct asahi_sched - all queues of a device
 * @queues: the queues
 * @leaked: queues that are gone but for the memory of contexts that the firmware
 *	may still use
 * @paused: no job's turn comes; changes under @lock, is read in @running
 * @last_id: number of the latest
 * @wq: where jobs are scheduled, by priority
 * @timeout_wq: where queues are looked at and channels recovered, one after the
 *	other
 * @running: read sections are those that hand a job over from its SUBMIT
 */
struct asahi_sched {
	/**
	 * @lock: protects @queues, @leaked and @paused; taken before any
	 * timeline's lock, and where fences are signalled
	 */
	struct mutex lock;
	struct list_head queues;
	struct list_head leaked;
	bool paused;
	atomic_t last_id;
	struct workqueue_struct *wq[AGX_PRIORITY_COUNT];
	struct workqueue_struct *timeout_wq;
	struct srcu_struct running;
};

/*
 * Looks
 */

static void asahi_sched_look_later(struct asahi_queue *queue, unsigned long delay)
{
	queue_delayed_work(queue->adev->sched->timeout_wq, &queue->look, delay);
}

/* Ask the watchdog about the oldest job, as long as there is one. */
static void asahi_sched_look_work(struct work_struct *work)
{
	struct asahi_queue *queue = container_of(to_delayed_work(work), struct asahi_queue, look);
	bool cookie = dma_fence_begin_signalling();
	struct asahi_job *job;
	unsigned long delay;

	job = asahi_timeline_overdue(queue, &delay);
	if (job) {
		asahi_timeline_check(job);
		asahi_job_put(job);
	}
	if (delay)
		asahi_sched_look_later(queue, delay);
	dma_fence_end_signalling(cookie);
}

/**
 * asahi_sched_watch() - have a queue looked at while it has jobs in flight
 * @queue: queue that has got its first one
 *
 * With the timeline's lock held; allocates nothing. A look that is under way has seen that
 * there was none, or looks again.
 */
void asahi_sched_watch(struct asahi_queue *queue)
{
	lockdep_assert_held(&queue->timeline.lock);

	if (!delayed_work_pending(&queue->look))
		asahi_sched_look_later(queue, ASAHI_WATCHDOG_LOOK_TIME);
}

/*
 * Running in the ioctl
 */

/* Jobs that have to be skipped, or wait for a reset, go the other way. */
static bool asahi_sched_is_ready(struct asahi_queue *queue)
{
	struct asahi_device *adev = queue->adev;

	return !READ_ONCE(adev->sched->paused) && asahi_state_fw_alive(adev) &&
	       !asahi_state_lost(adev) && !asahi_client_barred(queue->client);
}

/* A context that has to be changed first may have to wait for the firmware. */
static bool asahi_sched_try_slots(struct asahi_job *job)
{
	struct asahi_queue *queue = job->queue;
	struct asahi_aspace *as = asahi_vm_aspace(queue->vm);
	struct asahi_slots *slots = queue->adev->slots;

	if (!asahi_slots_try(slots, &job->slots))
		return false;
	if (asahi_uat_is_attached(as, asahi_vm_slot_client(queue->vm)->slot))
		return true;

	asahi_slots_release(slots, &job->slots);
	return false;
}

static bool asahi_sched_take(struct asahi_job *job)
{
	struct asahi_queue *queue = job->queue;

	if (!asahi_sched_is_ready(queue) || !asahi_entity_is_empty(queue) ||
	    !asahi_timeline_has_room(job) || !asahi_sched_try_slots(job))
		return false;
	if (asahi_pipes_try_reserve(&queue->pipes, job->part))
		return true;

	asahi_slots_release(queue->adev->slots, &job->slots);
	return false;
}

/**
 * asahi_sched_claim() - get all that a job needs to run at once, or nothing
 * @job: job that depends on nothing, and is not armed
 *
 * Room among its queue's stamps, its slots, its context and room for the messages to the
 * firmware. asahi_sched_run_now() has to follow, without a wait in between: the schedulers
 * cannot be paused before that. Process context, with the queue's submit_lock held; does not
 * wait, allocates nothing.
 *
 * Return: true if the job has everything; otherwise it has to go through the queue's entity.
 */
bool asahi_sched_claim(struct asahi_job *job)
{
	struct asahi_sched *sched = job->queue->adev->sched;
	int idx = srcu_read_lock(&sched->running);

	lockdep_assert_held(&job->queue->submit_lock);

	if (asahi_sched_take(job)) {
		job->running = idx;
		return true;
	}

	srcu_read_unlock(&sched->running, idx);
	return false;
}

/**
 * asahi_sched_run_now() - hand a job to the firmware from its SUBMIT
 * @job: job after asahi_sched_claim() that is armed; its reference is taken over
 *
 * With the queue's submit_lock held; does not wait, allocates nothing and does not fail.
 */
void asahi_sched_run_now(struct asahi_job *job)
{
	struct asahi_sched *sched = job->queue->adev->sched;
	bool cookie = dma_fence_begin_signalling();
	int idx = job->running;

	lockdep_assert_held(&job->queue->submit_lock);

	asahi_timeline_run_now(job);
	asahi_job_put(job);
	dma_fence_end_signalling(cookie);
	srcu_read_unlock(&sched->running, idx);
}

/*
 * Queues
 */

/**
 * asahi_sched_add_queue() - make jobs of a queue run, and add it to the list
 * @queue: complete queue; its jobs may run from here on
 *
 * Process context.
 *
 * Return: 0 or -ENOMEM.
 */
int asahi_sched_add_queue(struct asahi_queue *queue)
{
	struct asahi_sched *sched = queue->adev->sched;
	int ret = asahi_entity_init(queue, sched->wq[queue->priority]);

	if (ret)
		return ret;

	INIT_DELAYED_WORK(&queue->look, asahi_sched_look_work);
	guard(mutex)(&sched->lock);
	if (sched->paused)
		asahi_entity_stop(queue);
	list_add_tail(&queue->link, &sched->queues);

	return 0;
}

/**
 * asahi_sched_remove_queue() - undo asahi_sched_add_queue()
 * @queue: closed queue without jobs
 *
 * Process context.
 */
void asahi_sched_remove_queue(struct asahi_queue *queue)
{
	scoped_guard(mutex, &queue->adev->sched->lock)
		list_del(&queue->link);

	cancel_delayed_work_sync(&queue->look);
	asahi_entity_fini(queue);
}

/**
 * asahi_sched_visit_queues() - do something with all queues
 * @adev: device, which may have none because its probe has failed
 * @fn: what; runs under the lock of the list, where fences may be signalled
 *
 * Process context.
 */
void asahi_sched_visit_queues(struct asahi_device *adev, void (*fn)(struct asahi_queue *queue))
{
	struct asahi_queue *queue;

	if (!adev->sched)
		return;

	guard(mutex)(&adev->sched->lock);

	list_for_each_entry(queue, &adev->sched->queues, link)
		fn(queue);
}

/**
 * asahi_sched_find_queue() - do something with one of all queues
 * @adev: device, as for asahi_sched_visit_queues()
 * @fn: what; returns a negative number if it is another queue. As
 *	asahi_sched_visit_queues()
 * @arg: handed to @fn
 *
 * Process context.
 *
 * Return: what @fn has returned for the first queue that it accepted, or -1.
 */
int asahi_sched_find_queue(struct asahi_device *adev,
			   int (*fn)(struct asahi_queue *queue, u32 arg), u32 arg)
{
	struct asahi_queue *queue;

	if (!adev->sched)
		return -1;

	guard(mutex)(&adev->sched->lock);

	list_for_each_entry(queue, &adev->sched->queues, link) {
		int ret = fn(queue, arg);

		if (ret >= 0)
			return ret;
	}

	return -1;
}

/**
 * struct asahi_sched_line - what is printed of a job in flight
 * @seqno: of its fence
 * @id: its number
 * @pid: process that has submitted it
 * @context: of its address space
 * @error: what its fence is going to say
 */
struct asahi_sched_line {
	u64 seqno;
	u64 id;
	pid_t pid;
	unsigned int context;
	int error;
};

/* Look at the jobs behind a fence. Returns how many there are, as far as there is room. */
static unsigned int asahi_sched_look(struct asahi_queue *queue, u64 behind,
				     struct asahi_sched_line *line, unsigned int room)
{
	struct asahi_job *job;
	unsigned int n = 0;

	guard(spinlock_bh)(&queue->timeline.lock);

	list_for_each_entry(job, &queue->timeline.jobs, link) {
		if (job->number <= behind)
			continue;
		if (n == room)
			break;
		line[n++] = (struct asahi_sched_line) {
			.seqno = job->done->seqno,
			.id = job->id,
			.pid = job->process.pid,
			.context = asahi_vm_slot_client(queue->vm)->slot,
			.error = job->error,
		};
	}

	return n;
}

static void asahi_sched_print_line(struct asahi_queue *queue, const struct asahi_sched_line *line,
				   struct drm_printer *p)
{
	drm_printf(p, "  job %llu client %llu pid %d queue %u context %u error %d\n", line->id,
		   asahi_client_id(queue->client), line->pid, queue->id, line->context,
		   line->error);
}

/* Printing takes too long for the lock of a timeline. */
static void asahi_sched_print_queue(struct asahi_queue *queue, struct drm_printer *p)
{
	struct asahi_sched_line line[ASAHI_SCHED_LINES];
	u64 behind = 0;
	unsigned int n;

	do {
		n = asahi_sched_look(queue, behind, line, ARRAY_SIZE(line));
		for (unsigned int i = 0; i < n; i++) {
			asahi_sched_print_line(queue, &line[i], p);
			behind = line[i].seqno;
		}
	} while (n == ARRAY_SIZE(line));
}

/**
 * asahi_sched_print() - print all jobs in flight
 * @adev: device
 * @p: where to; must not allocate
 *
 * Process context.
 */
void asahi_sched_print(struct asahi_device *adev, struct drm_printer *p)
{
	struct asahi_queue *queue;

	guard(mutex)(&adev->sched->lock);

	list_for_each_entry(queue, &adev->sched->queues, link)
		asahi_sched_print_queue(queue, p);
}

/**
 * asahi_sched_leak_queue() - keep what the firmware may still use of a queue
 * @queue: removed queue, of which nothing but that memory is left
 *
 * Until the firmware has read the message about it or has started again, or the
 * device's end. Process context.
 */
void asahi_sched_leak_queue(struct asahi_queue *queue)
{
	struct asahi_sched *sched = queue->adev->sched;

	guard(mutex)(&sched->lock);
	list_add_tail(&queue->link, &sched->leaked);
}

static void asahi_sched_free_leaked(struct asahi_sched *sched)
{
	struct asahi_queue *queue, *next;

	lockdep_assert_held(&sched->lock);

	list_for_each_entry_safe(queue, next, &sched->leaked, link) {
		list_del_init(&queue->link);
		asahi_queue_free_leaked(queue);
	}
}

/**
 * asahi_sched_reap() - free what the firmware has come to in the meantime
 * @adev: device
 *
 * The messages about all leaked queues were sent before the queues were put on the
 * list. Process context.
 */
void asahi_sched_reap(struct asahi_device *adev)
{
	struct asahi_sched *sched = adev->sched;

	guard(mutex)(&sched->lock);

	if (asahi_channel_dc_read(adev))
		asahi_sched_free_leaked(sched);
}

/**
 * asahi_sched_next_id() - get a number for a queue
 * @adev: device
 *
 * Return: a number that no queue of the device has had.
 */
u32 asahi_sched_next_id(struct asahi_device *adev)
{
	return atomic_inc_return(&adev->sched->last_id);
}

/**
 * asahi_sched_queue_timeout_work() - do something where timeouts are handled
 * @adev: device
 * @queue: queue that @work is about; gets a reference that @work drops
 * @work: what
 *
 * Any context.
 */
void asahi_sched_queue_timeout_work(struct asahi_device *adev, struct asahi_queue *queue,
				    struct work_struct *work)
{
	asahi_queue_get(queue);
	if (!queue_work(adev->sched->timeout_wq, work))
		asahi_queue_put(queue);
}

/*
 * The device's part
 */

static void asahi_sched_free_workers(struct asahi_sched *sched)
{
	for (unsigned int i = 0; i < AGX_PRIORITY_COUNT; i++)
		if (sched->wq[i])
			destroy_workqueue(sched->wq[i]);
}

static int asahi_sched_alloc_workers(struct asahi_sched *sched)
{
	for (unsigned int i = 0; i < AGX_PRIORITY_COUNT; i++) {
		/* As high as what completes jobs: the way to the GPU is not the slow one, then. */
		sched->wq[i] = alloc_ordered_workqueue("asahi-sched%u",
						       WQ_MEM_RECLAIM | WQ_HIGHPRI, i);
		if (!sched->wq[i])
			return -ENOMEM;
	}

	return 0;
}

static int asahi_sched_init(struct asahi_device *adev)
{
	static const struct asahi_slot_range range[ASAHI_SLOT_KINDS] = {
		[ASAHI_SLOT_VM] = {
			.first = 1, .count = AGX_UAT_CONTEXTS - 1, .kept = ASAHI_KEPT_JOBS,
		},
		[ASAHI_SLOT_EVENT] = {
			.first = 0, .count = ASAHI_EVENTS, .kept = ASAHI_KEPT_JOBS * AGX_PIPE_COUNT,
		},
		[ASAHI_SLOT_BUFFER] = {
			.first = 0, .count = ASAHI_BUFFERS, .kept = ASAHI_KEPT_JOBS,
		},
	};
	struct asahi_sched *sched;
	int ret;

	sched = kzalloc_obj(*sched);
	if (!sched)
		return -ENOMEM;

	mutex_init(&sched->lock);
	INIT_LIST_HEAD(&sched->queues);
	INIT_LIST_HEAD(&sched->leaked);
	/* The firmware has 0 and 1 for itself. */
	atomic_set(&sched->last_id, 1);

	ret = init_srcu_struct(&sched->running);
	if (ret)
		goto err_sched;

	ret = asahi_sched_alloc_workers(sched);
	if (ret)
		goto err_free;

	ret = -ENOMEM;
	sched->timeout_wq = alloc_ordered_workqueue("asahi-timeout", WQ_MEM_RECLAIM);
	if (!sched->timeout_wq)
		goto err_free;

	adev->slots = asahi_slots_create(range);
	if (IS_ERR(adev->slots)) {
		ret = PTR_ERR(adev->slots);
		adev->slots = NULL;
		goto err_timeout;
	}

	adev->sched = sched;

	return 0;

err_timeout:
	destroy_workqueue(sched->timeout_wq);
err_free:
	asahi_sched_free_workers(sched);
	cleanup_srcu_struct(&sched->running);
err_sched:
	kfree(sched);
	return ret;
}

/*
 * No job's turn comes any more until asahi_sched_continue(). When this returns,
 * nobody is handing anything to the firmware. May be called when it is paused.
 */
static void asahi_sched_pause(struct asahi_device *adev)
{
	struct asahi_sched *sched = adev->sched;
	struct asahi_queue *queue;

	scoped_guard(mutex, &sched->lock) {
		WRITE_ONCE(sched->paused, true);
		list_for_each_entry(queue, &sched->queues, link)
			asahi_entity_stop(queue);
	}

	/* Those that run from their SUBMIT have seen it, or are over now. */
	synchronize_srcu(&sched->running);
}

/**
 * asahi_sched_continue() - let jobs have their turn again
 * @adev: device with paused schedulers, or not
 *
 * Jobs that have waited are handed over, or skipped if the device is lost. Process
 * context, in the critical section of fences.
 */
void asahi_sched_continue(struct asahi_device *adev)
{
	struct asahi_sched *sched = adev->sched;
	struct asahi_queue *queue;

	guard(mutex)(&sched->lock);

	WRITE_ONCE(sched->paused, false);
	asahi_slots_thaw(adev->slots);
	list_for_each_entry(queue, &sched->queues, link)
		asahi_entity_start(queue);
}

static int asahi_sched_suspend(struct asahi_device *adev)
{
	asahi_sched_pause(adev);
	if (asahi_timeline_wait_idle(adev, ASAHI_SCHED_IDLE_MS))
		return 0;

	asahi_sched_continue(adev);
	drm_info(&adev->drm, "suspend refused: jobs in flight\n");

	return -EBUSY;
}

static int asahi_sched_resume(struct asahi_device *adev)
{
	asahi_sched_continue(adev);

	return 0;
}

/* The firmware is started, and knows of no queue. */
static int asahi_sched_post_reset(struct asahi_device *adev)
{
	struct asahi_sched *sched = adev->sched;

	scoped_guard(mutex, &sched->lock)
		asahi_sched_free_leaked(sched);

	asahi_sched_continue(adev);

	return 0;
}

/* It is not going to start: what waits is skipped. */
static void asahi_sched_wedge(struct asahi_device *adev)
{
	if (adev->sched)
		asahi_sched_continue(adev);
}

/* What is in flight still can complete; asahi_timeline_unplug() fails the rest. */
static void asahi_sched_unplug(struct asahi_device *adev)
{
	if (!adev->sched)
		return;

	asahi_sched_pause(adev);
	if (!asahi_timeline_wait_idle(adev, ASAHI_SCHED_IDLE_MS))
		drm_info(&adev->drm, "jobs in flight are lost\n");
}

static void asahi_sched_fini(struct asahi_device *adev)
{
	struct asahi_sched *sched = adev->sched;
	struct asahi_queue *queue, *next;

	if (!sched)
		return;

	WARN_ON(!list_empty(&sched->queues));
	list_for_each_entry_safe(queue, next, &sched->leaked, link)
		asahi_queue_free_memory(queue);
	destroy_workqueue(sched->timeout_wq);
	asahi_sched_free_workers(sched);
	cleanup_srcu_struct(&sched->running);
	asahi_slots_destroy(adev->slots);
	adev->slots = NULL;
	mutex_destroy(&sched->lock);
	kfree(sched);
	adev->sched = NULL;
}

static void asahi_sched_at_rest(struct asahi_device *adev, struct asahi_rest *rest)
{
	struct asahi_sched *sched = adev->sched;
	struct asahi_queue *queue;

	guard(mutex)(&sched->lock);

	asahi_rest_expect(rest, ASAHI_REST_AWAKE, !sched->paused, "jobs have no turn");
	/* They are frozen again by whoever finds a firmware that has failed. */
	asahi_rest_expect(rest, ASAHI_REST_AWAKE,
			  !asahi_slots_are_frozen(adev->slots) || !asahi_state_fw_alive(adev),
			  "slots are not handed out");
	asahi_slots_at_rest(adev->slots, rest);

	list_for_each_entry(queue, &sched->queues, link) {
		asahi_queue_at_rest(queue, rest);
		asahi_rest_expect(rest, ASAHI_REST_CLOSED, false, "queue %u is there", queue->id);
	}
	list_for_each_entry(queue, &sched->leaked, link)
		asahi_rest_expect(rest, ASAHI_REST_CLOSED | ASAHI_REST_AWAKE, false,
				  "the memory of queue %u is leaked", queue->id);
}

const struct asahi_block asahi_block_sched = {
	.name = "sched",
	.init = asahi_sched_init,
	.unplug = asahi_sched_unplug,
	.suspend = asahi_sched_suspend,
	.resume = asahi_sched_resume,
	.pre_reset = asahi_sched_pause,
	.post_reset = asahi_sched_post_reset,
	.wedge = asahi_sched_wedge,
	.fini = asahi_sched_fini,
	.at_rest = asahi_rest_ptr(asahi_sched_at_rest),
};
