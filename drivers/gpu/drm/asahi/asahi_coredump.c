// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Core dumps of failed jobs and of failed firmware.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/array_size.h>
#include <linux/atomic.h>
#include <linux/cleanup.h>
#include <linux/devcoredump.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/sprintf.h>
#include <linux/string_choices.h>
#include <linux/utsname.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include <drm/drm_drv.h>
#include <drm/drm_print.h>

#include <agx/agx_rtkit.h>

#include "asahi_abi.h"
#include "asahi_block.h"
#include "asahi_channel.h"
#include "asahi_client.h"
#include "asahi_clock.h"
#include "asahi_coredump.h"
#include "asahi_device.h"
#include "asahi_event.h"
#include "asahi_fwlog.h"
#include "asahi_hw.h"
#include "asahi_initdata.h"
#include "asahi_job.h"
#include "asahi_queue_priv.h"
#include "asahi_ref.h"
#include "asahi_rest.h"
#include "asahi_sched.h"
#include "asahi_slot.h"
#include "asahi_stream.h"
#include "asahi_tvb.h"
#include "asahi_vm.h"
#include "asahi_vm_dump.h"
#include "asahi_work.h"
#include "asahi_workqueue.h"

/**
 * DOC: Core dumps
 *
 * Two things leave a core dump in /sys/class/devcoredump: a job that was found
 * guilty of a fault, a timeout or a channel error, and a firmware that crashed
 * or was given up.
 *
 * **Capture.** The handler of the failure keeps the evidence. It runs in the
 * critical section of fences, so it uses memory that was allocated at probe. The
 * evidence is small: the fault, the list of running work, the state of the rings,
 * and references to jobs, whose commands stay as they were. A worker
 * makes the text. It has a workqueue of its own, because it takes memory, and the
 * locks of queues and address spaces.
 *
 * After a job's failure neither the firmware, which is told to go on at once, nor a
 * fence waits for the text. The worker reads page tables and the memory of clients,
 * and a client may want to change its mappings as soon as it learns of the failure. So
 * VM_BIND and GEM_CLOSE wait for the text (asahi_vm_wait_dump()), those of the address
 * spaces that are dumped and for a bounded time. When the firmware has failed, the reset
 * writes its rings and logs anew. So their text is made before, into memory that was
 * allocated at probe, and ends at ASAHI_COREDUMP_STATE_BYTES.
 *
 * **Precedence.** One dump of each kind is made at a time, and the core keeps one
 * for a device until somebody writes to it or five minutes are over. Of jobs the
 * first failure is the interesting one: jobs that fail while its dump is made or
 * kept are not dumped. A failure of the firmware ends more than a job does: its
 * dump takes the place of one that is kept.
 *
 * **Bounds.** Clients decide the content of their memory and the number of their
 * mappings. A dump ends at ASAHI_COREDUMP_BYTES; one that is complete has "end" as
 * its last line.
 */

/* The format of the text; Documentation/gpu/asahi/debugging.rst describes it. */
#define ASAHI_COREDUMP_VERSION		2

#define ASAHI_COREDUMP_BYTES		SZ_16M
/* What the state of others may grow by while the text is made. */
#define ASAHI_COREDUMP_SLACK		SZ_64K
/* Jobs in flight, channels and logs at the failure of the firmware. */
#define ASAHI_COREDUMP_STATE_BYTES	SZ_256K
#define ASAHI_COREDUMP_MAX_JOBS		16

/**
 * struct asahi_coredump_running - work that the GPU was running
 * @stamp: its event slot and stamp, as the firmware says
 * @queue: its queue's number, 0 if nobody owns the event slot
 * @client: its client's
 */
struct asahi_coredump_running {
	struct asahi_pending_stamp stamp;
	u32 queue;
	u64 client;
};

/**
 * struct asahi_coredump_job - a job that is dumped
 * @job: job, with a reference
 * @error: what its fence was about to say
 * @event: event slot of its work that failed, or -1
 * @vm_slot: VM context that it ran in
 * @ring: state of its queue's rings, by pipe
 * @tvb: state of its queue's vertex buffer
 */
struct asahi_coredump_job {
	struct asahi_job *job;
	int error;
	int event;
	unsigned int vm_slot;
	struct asahi_workqueue_state ring[AGX_PIPE_COUNT];
	struct asahi_tvb_state tvb;
};

/**
 * struct asahi_coredump - a core dump in the making
 * @adev: device
 * @work: makes the text
 * @busy: 1 from the beginning of a capture to the end of @work, which also has a
 *	reference to the device
 * @replace: takes the place of a dump that nobody has read yet
 * @what: what happened: a constant
 * @time: when it was captured
 * @ticks: the same on the GPU's clock
 * @faulted: there was a fault
 * @fault: which
 * @num_running: entries of @running
 * @running: what the GPU was running
 * @num_jobs: entries of @job
 * @job: jobs; the guilty one if there is one
 * @state: what a reset writes anew, as text; NULL where none follows
 * @state_len: its characters
 *
 * Whoever has set @busy owns all the rest and hands it on to @work.
 */
struct asahi_coredump {
	struct asahi_device *adev;
	struct work_struct work;
	atomic_t busy;
	bool replace;
	const char *what;
	ktime_t time;
	u64 ticks;
	bool faulted;
	struct asahi_fault_info fault;
	unsigned int num_running;
	struct asahi_coredump_running running[ASAHI_PENDING_STAMPS];
	unsigned int num_jobs;
	struct asahi_coredump_job job[ASAHI_COREDUMP_MAX_JOBS];
	char *state;
	size_t state_len;
};

/**
 * struct asahi_coredumps - core dumps of a device
 * @work: of work that failed
 * @device: of the firmware's failure
 * @open: the notification worker has begun to capture @work; its alone
 */
struct asahi_coredumps {
	struct asahi_coredump work;
	struct asahi_coredump device;
	bool open;
};

static struct workqueue_struct *asahi_coredump_wq;

/* Text. */

static void asahi_coredump_print_fault(const struct asahi_coredump *dump, struct drm_printer *p)
{
	const struct asahi_fault_info *fault = &dump->fault;

	if (!dump->faulted)
		return;

	drm_puts(p, "fault:\n");
	drm_printf(p, "  register: %#018llx\n", fault->raw);
	drm_printf(p, "  address: %#llx\n", fault->address);
	drm_printf(p, "  access: %s\n", str_read_write(fault->read));
	drm_printf(p, "  context: %u\n", fault->slot);
	drm_printf(p, "  unit: %#x %s\n", fault->unit, asahi_hw_fault_unit(fault));
	drm_printf(p, "  reason: %u %s\n", fault->reason, asahi_hw_fault_reason(fault));
}

static void asahi_coredump_print_running(const struct asahi_coredump *dump, struct drm_printer *p)
{
	drm_puts(p, "running:\n");
	for (unsigned int i = 0; i < dump->num_running; i++) {
		const struct asahi_coredump_running *running = &dump->running[i];

		drm_printf(p, "  event %u stamp %#x flags %#x queue %u client %llu\n",
			   running->stamp.event_slot, running->stamp.value,
			   running->stamp.flags, running->queue, running->client);
	}
}

static const char * const asahi_coredump_pipe_name[AGX_PIPE_COUNT] = {
	"vertex", "fragment", "compute"
};

/* Which of a job's rings failed; not known if the firmware did. */
static void asahi_coredump_print_failed(const struct asahi_coredump_job *captured,
					struct drm_printer *p)
{
	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++)
		if (captured->event >= 0 && captured->ring[i].event == captured->event)
			drm_printf(p, "  failed: %s\n", asahi_coredump_pipe_name[i]);
}

static void asahi_coredump_print_rings(const struct asahi_coredump_job *captured,
				       struct drm_printer *p)
{
	drm_puts(p, "rings:\n");
	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++) {
		const struct asahi_workqueue_state *ring = &captured->ring[i];

		drm_printf(p, "  %s: jobs %u event %d stamp %#x of %#x",
			   asahi_coredump_pipe_name[i], ring->jobs, ring->event, ring->stamp,
			   ring->last_stamp);
		drm_printf(p, " written %u read %u done %u\n", ring->cpu_wptr, ring->gpu_rptr,
			   ring->gpu_doneptr);
	}
}

/* What vertex and fragment work of a render share. */
static void asahi_coredump_print_scene(const struct asahi_job *job, const struct asahi_work *work,
				       struct drm_printer *p)
{
	const struct asahi_tvb_abi *abi = &job->queue->adev->abi->job->tvb;

	if (!work->scene.map)
		return;

	abi->scene_print(work->scene.map, p);
	drm_printf(p, "  scene: %#llx\n", work->scene.va);
	drm_print_hex_dump(p, "    ", work->scene.map, abi->scene_size);
}

static size_t asahi_coredump_read(void *priv, u64 va, void *buf, size_t len)
{
	return asahi_vm_read(priv, va, buf, len);
}

static void asahi_coredump_print_stream(const struct asahi_job *job, const struct asahi_work *work,
					struct drm_printer *p)
{
	const struct asahi_queue *queue = job->queue;
	const struct asahi_stream stream = {
		.read = asahi_coredump_read,
		.priv = queue->vm,
		.base = work->stream,
		.usc_base = queue->usc_exec_base,
		.g14x = queue->adev->hw->gen == ASAHI_GEN_G14X,
	};

	if (work->pipe == AGX_PIPE_COMPUTE)
		asahi_stream_print_compute(&stream, p);
	if (work->pipe == AGX_PIPE_VERTEX)
		asahi_stream_print_vertex(&stream, p);
}

static void asahi_coredump_print_work(const struct asahi_coredump *dump,
				      const struct asahi_job *job, unsigned int index,
				      struct drm_printer *p)
{
	const struct asahi_work *work = &job->work[index];
	struct asahi_work_times times = asahi_client_work_times(&work->client, dump->ticks);

	drm_printf(p, "work %u:\n", index);
	drm_printf(p, "  command: %u\n", work->command);
	drm_printf(p, "  pipe: %u\n", work->pipe);
	drm_printf(p, "  stamp: %#x\n", work->stamp);
	drm_printf(p, "  start: %llu ns\n", asahi_clock_to_ns(times.start));
	drm_printf(p, "  end: %llu ns\n", asahi_clock_to_ns(times.end));
	drm_printf(p, "  barriers: %u\n", work->num_barriers);
	drm_printf(p, "  run: %#llx\n", work->run_va);
	drm_print_hex_dump(p, "    ", work->run, work->run_size);
	drm_printf(p, "  microsequence: %#llx\n", work->microseq.va);
	drm_print_hex_dump(p, "    ", work->microseq.map, work->microseq.used);
	asahi_coredump_print_scene(job, work, p);
	asahi_coredump_print_stream(job, work, p);
}

static void asahi_coredump_print_job(const struct asahi_coredump *dump,
				     const struct asahi_coredump_job *captured,
				     struct drm_printer *p)
{
	const struct asahi_job *job = captured->job;
	const struct asahi_queue *queue = job->queue;

	drm_puts(p, "job:\n");
	drm_printf(p, "  id: %llu\n", job->id);
	drm_printf(p, "  process: %*pE\n", (int)strnlen(job->process.comm, TASK_COMM_LEN),
		   job->process.comm);
	drm_printf(p, "  pid: %d\n", job->process.pid);
	drm_printf(p, "  client: %llu\n", asahi_client_id(queue->client));
	drm_printf(p, "  queue: %u\n", queue->id);
	drm_printf(p, "  priority: %u\n", queue->priority);
	drm_printf(p, "  error: %d\n", captured->error);
	asahi_coredump_print_failed(captured, p);
	drm_printf(p, "  context: %u\n", captured->vm_slot);
	drm_printf(p, "  usc_exec_base: %#llx\n", queue->usc_exec_base);
	asahi_coredump_print_rings(captured, p);
	if (job->tpc)
		asahi_tvb_print(job->queue, &captured->tvb, p);

	drm_printf(p, "commands: %u bytes\n", job->cmdbuf_size);
	drm_print_hex_dump(p, "  ", job->cmdbuf, job->cmdbuf_size);
	for (unsigned int i = 0; i < job->num_works; i++)
		asahi_coredump_print_work(dump, job, i, p);
}

/* Once for each address space; the fault's translation for that in which it was. */
static void asahi_coredump_print_vm(const struct asahi_coredump *dump, unsigned int index,
				    struct drm_printer *p)
{
	const struct asahi_coredump_job *captured = &dump->job[index];
	struct asahi_vm *vm = captured->job->queue->vm;

	for (unsigned int i = 0; i < index; i++)
		if (dump->job[i].job->queue->vm == vm)
			return;

	if (dump->faulted && dump->fault.slot == captured->vm_slot) {
		drm_printf(p, "translation: %#llx\n", dump->fault.address);
		asahi_vm_print_walk(vm, dump->fault.address, p);
	}

	drm_printf(p, "mappings: context %u\n", captured->vm_slot);
	asahi_vm_print(vm, p);
}

static void asahi_coredump_print_state(struct asahi_device *adev, struct drm_printer *p)
{
	drm_puts(p, "jobs in flight:\n");
	asahi_sched_print(adev, p);
	drm_puts(p, "channels:\n");
	asahi_channel_print(adev, p);
	drm_puts(p, "firmware log:\n");
	asahi_fwlog_print(asahi_channel_fwlog(adev), p);
	drm_puts(p, "firmware crash log:\n");
	asahi_fwlog_print_crash(asahi_channel_fwlog(adev), p);
}

static void asahi_coredump_print(const struct asahi_coredump *dump, struct drm_printer *p)
{
	struct asahi_device *adev = dump->adev;

	drm_puts(p, "asahi core dump\n");
	drm_printf(p, "version: %u\n", ASAHI_COREDUMP_VERSION);
	drm_printf(p, "kernel: %s\n", init_utsname()->release);
	drm_printf(p, "gpu: %s\n", adev->hw->name);
	drm_printf(p, "time: %lld ns\n", ktime_to_ns(dump->time));
	drm_printf(p, "reason: %s\n", dump->what);
	drm_printf(p, "jobs that wait for slots: %u\n", asahi_slots_waiting(adev->slots));
	asahi_coredump_print_fault(dump, p);
	asahi_coredump_print_running(dump, p);

	for (unsigned int i = 0; i < dump->num_jobs; i++)
		asahi_coredump_print_job(dump, &dump->job[i], p);
	for (unsigned int i = 0; i < dump->num_jobs; i++)
		asahi_coredump_print_vm(dump, i, p);

	if (dump->state)
		drm_puts(p, dump->state);
	else
		asahi_coredump_print_state(adev, p);
	drm_puts(p, "end\n");
}

static void *asahi_coredump_make(const struct asahi_coredump *dump, size_t *size)
{
	struct drm_print_iterator iter = { .remain = ASAHI_COREDUMP_BYTES };
	struct drm_printer p = drm_coredump_printer(&iter);
	size_t room;
	void *data;

	/* Once to find out how long it is; then again, and it may have changed. */
	asahi_coredump_print(dump, &p);
	room = min(ASAHI_COREDUMP_BYTES - iter.remain + ASAHI_COREDUMP_SLACK,
		   ASAHI_COREDUMP_BYTES);

	data = vmalloc(room + 1);
	if (!data)
		return NULL;

	iter = (struct drm_print_iterator) { .data = data, .remain = room };
	asahi_coredump_print(dump, &p);
	*size = room - iter.remain;
	return data;
}

/*
 * The jobs may be the last that keep the device, and the device this structure,
 * so the device comes last. The function may end after that: its workqueue is
 * the module's.
 */
static void asahi_coredump_reset(struct asahi_coredump *dump)
{
	struct asahi_device *adev = dump->adev;

	for (unsigned int i = 0; i < dump->num_jobs; i++) {
		asahi_vm_end_dump(dump->job[i].job->queue->vm);
		asahi_job_put(dump->job[i].job);
	}

	dump->num_jobs = 0;
	dump->num_running = 0;
	dump->faulted = false;
	atomic_set_release(&dump->busy, 0);
	drm_dev_put(&adev->drm);
}

static void asahi_coredump_work(struct work_struct *work)
{
	struct asahi_coredump *dump = container_of(work, struct asahi_coredump, work);
	struct device *dev = dump->adev->drm.dev;
	size_t size = 0;
	void *data;

	data = asahi_coredump_make(dump, &size);
	if (data) {
		if (dump->replace)
			dev_coredump_put(dev);
		dev_coredumpv(dev, data, size, GFP_KERNEL);
	}
	asahi_coredump_reset(dump);
}

/* Capture. */

static bool asahi_coredump_start(struct asahi_coredump *dump, const char *what)
{
	if (atomic_cmpxchg_acquire(&dump->busy, 0, 1))
		return false;

	drm_dev_get(&dump->adev->drm);
	dump->what = what;
	dump->time = ktime_get();
	dump->ticks = asahi_clock_now();
	return true;
}

static void asahi_coredump_add_job(struct asahi_coredump *dump, struct asahi_job *job, int event)
{
	struct asahi_queue *queue = job->queue;
	struct asahi_coredump_job *captured;

	lockdep_assert_held(&queue->timeline.lock);

	if (dump->num_jobs == ASAHI_COREDUMP_MAX_JOBS)
		return;

	captured = &dump->job[dump->num_jobs++];
	captured->job = asahi_job_get(job);
	asahi_vm_begin_dump(queue->vm);
	captured->error = job->error;
	captured->event = event;
	captured->vm_slot = asahi_vm_slot_client(queue->vm)->slot;
	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++)
		asahi_workqueue_get_state(&queue->pipes.wq[i], &captured->ring[i]);
	asahi_tvb_get_state(queue, &captured->tvb);
}

static void asahi_coredump_add_running(struct asahi_coredump *dump,
				       const struct asahi_pending_stamp *stamp)
{
	struct asahi_coredump_running *running;
	struct asahi_queue *queue;

	if (dump->num_running == ARRAY_SIZE(dump->running))
		return;

	running = &dump->running[dump->num_running++];
	running->stamp = *stamp;
	running->queue = 0;
	running->client = 0;

	queue = asahi_event_get_owner(dump->adev, stamp->event_slot);
	if (!queue)
		return;

	running->queue = queue->id;
	running->client = asahi_client_id(queue->client);
	asahi_queue_put(queue);
}

/**
 * asahi_coredump_begin() - work has failed
 * @adev: device
 * @what: what has happened, a constant
 * @fault: the fault, or NULL
 *
 * Until asahi_coredump_end(), what is noted and captured goes into one dump.
 * From the notification worker only; in the critical section of fences.
 */
void asahi_coredump_begin(struct asahi_device *adev, const char *what,
			  const struct asahi_fault_info *fault)
{
	struct asahi_coredumps *dumps = adev->dumps;
	struct asahi_coredump *dump = &dumps->work;

	dumps->open = asahi_coredump_start(dump, what);
	if (!dumps->open)
		return;

	dump->faulted = fault;
	if (fault)
		dump->fault = *fault;
}

/**
 * asahi_coredump_note_running() - note work that the GPU was running
 * @adev: device
 * @stamp: the work
 *
 * As asahi_coredump_begin(), without any queue's lock.
 */
void asahi_coredump_note_running(struct asahi_device *adev,
				 const struct asahi_pending_stamp *stamp)
{
	if (adev->dumps->open)
		asahi_coredump_add_running(&adev->dumps->work, stamp);
}

/**
 * asahi_coredump_capture() - a job is guilty
 * @job: the job
 * @event: event slot of its work that failed
 *
 * The first one of a failure is dumped. As asahi_coredump_begin(), with the lock
 * of @job's timeline held.
 */
void asahi_coredump_capture(struct asahi_job *job, unsigned int event)
{
	struct asahi_coredumps *dumps = job->queue->adev->dumps;

	if (dumps->open && !dumps->work.num_jobs)
		asahi_coredump_add_job(&dumps->work, job, event);
}

/**
 * asahi_coredump_end() - all is known of a failure
 * @adev: device
 *
 * Has the dump made if a job was guilty, and does not wait for it. As
 * asahi_coredump_begin().
 */
void asahi_coredump_end(struct asahi_device *adev)
{
	struct asahi_coredumps *dumps = adev->dumps;

	if (!dumps->open)
		return;

	dumps->open = false;
	if (dumps->work.num_jobs)
		queue_work(asahi_coredump_wq, &dumps->work.work);
	else
		asahi_coredump_reset(&dumps->work);
}

static void asahi_coredump_capture_queue(struct asahi_queue *queue)
{
	struct asahi_coredump *dump = &queue->adev->dumps->device;
	struct asahi_job *job;

	guard(spinlock_bh)(&queue->timeline.lock);

	list_for_each_entry(job, &queue->timeline.jobs, link)
		asahi_coredump_add_job(dump, job, -1);
}

/* drm_coredump_printer() allocates where a line does not fit; here it is cut. */
static void asahi_coredump_keep_line(struct drm_printer *p, struct va_format *vaf)
{
	struct asahi_coredump *dump = p->arg;

	dump->state_len += vscnprintf(dump->state + dump->state_len,
				      ASAHI_COREDUMP_STATE_BYTES - dump->state_len,
				      vaf->fmt, *vaf->va);
}

static void asahi_coredump_keep_state(struct asahi_coredump *dump)
{
	struct drm_printer p = { .printfn = asahi_coredump_keep_line, .arg = dump };

	dump->state_len = 0;
	asahi_coredump_print_state(dump->adev, &p);
}

/**
 * asahi_coredump_capture_device() - the firmware has failed
 * @adev: device
 * @why: what has happened, a constant
 *
 * Keeps what was running and what is written anew by a reset, has the dump made, and
 * does not wait for it. Process context, in the critical section of fences, without any
 * queue's lock, before work in flight is abandoned. Allocates nothing.
 */
void asahi_coredump_capture_device(struct asahi_device *adev, const char *why)
{
	struct asahi_coredump *dump = &adev->dumps->device;
	struct asahi_pending_stamp stamp;

	if (!asahi_coredump_start(dump, why))
		return;

	for (unsigned int i = 0; i < ASAHI_PENDING_STAMPS; i++)
		if (asahi_initdata_take_pending(adev, i, &stamp))
			asahi_coredump_add_running(dump, &stamp);

	asahi_sched_visit_queues(adev, asahi_coredump_capture_queue);
	asahi_coredump_keep_state(dump);
	queue_work(asahi_coredump_wq, &dump->work);
}

/* Life. */

/**
 * asahi_coredump_module_init() - make the workqueue of dumps
 *
 * It belongs to the module because a dump may drop the last reference to a device.
 *
 * Return: 0 or -ENOMEM.
 */
int asahi_coredump_module_init(void)
{
	asahi_coredump_wq = alloc_workqueue("asahi-coredump", WQ_UNBOUND, 0);

	return asahi_coredump_wq ? 0 : -ENOMEM;
}

/**
 * asahi_coredump_module_exit() - wait for the dumps that are being made
 */
void asahi_coredump_module_exit(void)
{
	destroy_workqueue(asahi_coredump_wq);
}

static void asahi_coredump_prepare(struct asahi_device *adev, struct asahi_coredump *dump)
{
	dump->adev = adev;
	INIT_WORK(&dump->work, asahi_coredump_work);
	atomic_set(&dump->busy, 0);
}

static int asahi_coredump_init(struct asahi_device *adev)
{
	struct asahi_coredumps *dumps = kvzalloc_obj(*dumps);

	if (!dumps)
		return -ENOMEM;

	dumps->device.state = vmalloc(ASAHI_COREDUMP_STATE_BYTES);
	if (!dumps->device.state) {
		kvfree(dumps);
		return -ENOMEM;
	}

	asahi_coredump_prepare(adev, &dumps->work);
	asahi_coredump_prepare(adev, &dumps->device);
	dumps->device.replace = true;
	adev->dumps = dumps;
	return 0;
}

/* What failed before the driver was unbound can be read when it is. */
static void asahi_coredump_unplug(struct asahi_device *adev)
{
	if (!adev->dumps)
		return;

	flush_work(&adev->dumps->work.work);
	flush_work(&adev->dumps->device.work);
}

/* A dump in the making keeps the device, so there is none. */
static void asahi_coredump_fini(struct asahi_device *adev)
{
	if (!adev->dumps)
		return;

	vfree(adev->dumps->device.state);
	kvfree(adev->dumps);
	adev->dumps = NULL;
}

static void asahi_coredump_at_rest(struct asahi_device *adev, struct asahi_rest *rest)
{
	struct asahi_coredumps *dumps = adev->dumps;

	asahi_rest_expect(rest, ASAHI_REST_IDLE, !atomic_read(&dumps->work.busy),
			  "a dump of a job is being made");
	asahi_rest_expect(rest, ASAHI_REST_IDLE, !atomic_read(&dumps->device.busy),
			  "a dump of the device is being made");
}

const struct asahi_block asahi_block_coredump = {
	.name = "coredump",
	.init = asahi_coredump_init,
	.unplug = asahi_coredump_unplug,
	.fini = asahi_coredump_fini,
	.at_rest = asahi_rest_ptr(asahi_coredump_at_rest),
};
