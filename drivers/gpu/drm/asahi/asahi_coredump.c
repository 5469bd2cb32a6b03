// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Core dumps of failed jobs.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/atomic.h>
#include <linux/devcoredump.h>
#include <linux/ktime.h>
#include <linux/limits.h>
#include <linux/slab.h>
#include <linux/utsname.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include <drm/drm_print.h>

#include "asahi_abi.h"
#include "asahi_coredump.h"
#include "asahi_device.h"
#include "asahi_hw.h"
#include "asahi_job.h"
#include "asahi_queue.h"
#include "asahi_queue_priv.h"
#include "asahi_slot.h"
#include "asahi_vm.h"

/**
 * DOC: Core dumps
 *
 * When a job is found guilty, the fault and a reference to the job are kept,
 * which needs no memory. A worker makes a text of them for
 * /sys/class/devcoredump later: the fault, the job, what the firmware was told
 * to do, and what was mapped.
 *
 * One dump is made at a time. The first failure is the interesting one, so what
 * fails while it is made is not dumped.
 */

/**
 * struct asahi_coredump - a core dump in the making
 * @adev: device
 * @work: makes it
 * @busy: 1 from the capture to the end of @work, which owns everything else then
 * @job: the guilty job, with a reference
 * @error: what its fence says
 * @time: when it was captured
 * @vm_slot: VM context that it ran in
 * @faulted: there was a fault
 * @fault: which
 */
struct asahi_coredump {
	struct asahi_device *adev;
	struct work_struct work;
	atomic_t busy;
	struct asahi_job *job;
	int error;
	ktime_t time;
	unsigned int vm_slot;
	bool faulted;
	struct asahi_fault_info fault;
};

static void asahi_coredump_print_fault(const struct asahi_coredump *dump, struct drm_printer *p)
{
	const struct asahi_fault_info *fault = &dump->fault;

	if (!dump->faulted)
		return;

	drm_puts(p, "fault:\n");
	drm_printf(p, "  register: %#018llx\n", fault->raw);
	drm_printf(p, "  address: %#llx\n", fault->address);
	drm_printf(p, "  access: %s\n", fault->read ? "read" : "write");
	drm_printf(p, "  context: %u\n", fault->slot);
	drm_printf(p, "  unit: %#x %s\n", fault->unit, asahi_hw_fault_unit(fault));
	drm_printf(p, "  reason: %u %s\n", fault->reason, asahi_hw_fault_reason(fault));
}

static void asahi_coredump_print_job(const struct asahi_coredump *dump, struct drm_printer *p)
{
	const struct asahi_job_abi *abi = dump->adev->abi->job;
	const struct asahi_job *job = dump->job;
	const struct asahi_queue *queue = job->queue;

	drm_puts(p, "job:\n");
	drm_printf(p, "  id: %llu\n", job->id);
	drm_printf(p, "  queue: %u\n", queue->id);
	drm_printf(p, "  priority: %u\n", queue->priority);
	drm_printf(p, "  error: %d\n", dump->error);
	drm_printf(p, "  context: %u\n", dump->vm_slot);
	drm_printf(p, "  usc_exec_base: %#llx\n", queue->usc_exec_base);

	for (unsigned int i = 0; i < job->num_commands; i++) {
		const struct asahi_command *command = &job->command[i];

		drm_printf(p, "command %u:\n", i);
		drm_printf(p, "  pipe: %u\n", command->pipe);
		drm_printf(p, "  stream: %#llx\n", command->stream);
		drm_printf(p, "  barriers: %u\n", command->num_barriers);
		drm_printf(p, "  run: %#llx\n", command->run_va);
		drm_print_hex_dump(p, "    ", command->run, abi->run_compute_size);
		drm_printf(p, "  microsequence: %#llx\n", command->microseq_va);
		drm_print_hex_dump(p, "    ", command->microseq, abi->compute_microseq_size);
	}
}

static void asahi_coredump_print(const struct asahi_coredump *dump, struct drm_printer *p)
{
	const struct asahi_device *adev = dump->adev;

	drm_puts(p, "asahi core dump\n");
	drm_printf(p, "kernel: %s\n", init_utsname()->release);
	drm_printf(p, "gpu: %s\n", adev->hw->name);
	drm_printf(p, "time: %lld ns\n", ktime_to_ns(dump->time));
	drm_printf(p, "jobs that wait for slots: %u\n", asahi_slots_waiting(adev->slots));
	asahi_coredump_print_fault(dump, p);
	asahi_coredump_print_job(dump, p);
	drm_puts(p, "mappings:\n");
	asahi_vm_print(dump->job->queue->vm, p);
}

static void asahi_coredump_work(struct work_struct *work)
{
	struct asahi_coredump *dump = container_of(work, struct asahi_coredump, work);
	struct drm_print_iterator iter = { .remain = SSIZE_MAX };
	struct drm_printer p = drm_coredump_printer(&iter);
	size_t size;
	void *data;

	/* Once to find out how long it is. */
	asahi_coredump_print(dump, &p);
	size = SSIZE_MAX - iter.remain;

	data = vzalloc(size + 1);
	if (data) {
		iter = (struct drm_print_iterator) { .data = data, .remain = size };
		asahi_coredump_print(dump, &p);
		dev_coredumpv(dump->adev->drm.dev, data, size, GFP_KERNEL);
	}

	asahi_job_put(dump->job);
	dump->job = NULL;
	atomic_set_release(&dump->busy, 0);
}

/**
 * asahi_coredump_create() - allocate what a capture needs
 * @adev: device
 *
 * Process context.
 *
 * Return: a core dump, or NULL without memory.
 */
struct asahi_coredump *asahi_coredump_create(struct asahi_device *adev)
{
	struct asahi_coredump *dump = kzalloc_obj(*dump);

	if (!dump)
		return NULL;

	dump->adev = adev;
	INIT_WORK(&dump->work, asahi_coredump_work);
	atomic_set(&dump->busy, 0);

	return dump;
}

/**
 * asahi_coredump_flush() - wait until a core dump is made
 * @dump: core dump
 *
 * Process context.
 */
void asahi_coredump_flush(struct asahi_coredump *dump)
{
	flush_work(&dump->work);
}

/**
 * asahi_coredump_destroy() - free a core dump
 * @dump: core dump of a device without queues
 *
 * Process context.
 */
void asahi_coredump_destroy(struct asahi_coredump *dump)
{
	flush_work(&dump->work);
	kfree(dump);
}

/**
 * asahi_coredump_capture() - keep what is known of a failure
 * @dump: core dump
 * @job: guilty job
 * @failure: what happened
 *
 * With the lock of @job's queue held, in the critical section of fences.
 */
void asahi_coredump_capture(struct asahi_coredump *dump, struct asahi_job *job,
			    const struct asahi_failure *failure)
{
	lockdep_assert_held(&job->queue->lock);

	if (atomic_cmpxchg_acquire(&dump->busy, 0, 1))
		return;

	dump->job = asahi_job_get(job);
	dump->error = job->error;
	dump->time = ktime_get();
	dump->vm_slot = asahi_vm_slot_client(job->queue->vm)->slot;
	dump->faulted = failure->fault;
	if (failure->fault)
		dump->fault = *failure->fault;

	queue_work(system_dfl_wq, &dump->work);
}
