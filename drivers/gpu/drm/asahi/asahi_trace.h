/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Tracepoints, in the order in which work passes them.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#if !defined(ASAHI_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define ASAHI_TRACE_H

#include <linux/tracepoint.h>
#include <linux/types.h>

#include <drm/drm_device.h>
#include <drm/drm_file.h>

#include <agx/agx_rtkit.h>

#include "asahi_device.h"
#include "asahi_hw.h"

#undef TRACE_SYSTEM
#define TRACE_SYSTEM asahi
#define TRACE_INCLUDE_FILE asahi_trace

#define asahi_trace_pipe(pipe)						\
	__print_symbolic(pipe,						\
			 { AGX_PIPE_VERTEX, "vertex" },			\
			 { AGX_PIPE_FRAGMENT, "fragment" },		\
			 { AGX_PIPE_COMPUTE, "compute" })

/* Client to address space: a VM_BIND begins. */
TRACE_EVENT(asahi_vm_bind_start,
	    TP_PROTO(struct asahi_device *adev, u64 client, u32 vm, u32 binds),
	    TP_ARGS(adev, client, vm, binds),
	    TP_STRUCT__entry(
		    __field(u32, dev)
		    __field(u64, client)
		    __field(u32, vm)
		    __field(u32, binds)
	    ),
	    TP_fast_assign(
		    __entry->dev = adev->drm.primary->index;
		    __entry->client = client;
		    __entry->vm = vm;
		    __entry->binds = binds;
	    ),
	    TP_printk("dev=%u client=%llu vm=%u binds=%u", __entry->dev, __entry->client,
		      __entry->vm, __entry->binds)
);

/* Client to address space: a VM_BIND ended. */
TRACE_EVENT(asahi_vm_bind,
	    TP_PROTO(struct asahi_device *adev, u64 client, u32 vm, u32 binds, int error),
	    TP_ARGS(adev, client, vm, binds, error),
	    TP_STRUCT__entry(
		    __field(u32, dev)
		    __field(u64, client)
		    __field(u32, vm)
		    __field(u32, binds)
		    __field(int, error)
	    ),
	    TP_fast_assign(
		    __entry->dev = adev->drm.primary->index;
		    __entry->client = client;
		    __entry->vm = vm;
		    __entry->binds = binds;
		    __entry->error = error;
	    ),
	    TP_printk("dev=%u client=%llu vm=%u binds=%u error=%d", __entry->dev,
		      __entry->client, __entry->vm, __entry->binds, __entry->error)
);

/* Client to UAPI: a SUBMIT begins. The queue is the ID that the client gives. */
TRACE_EVENT(asahi_submit_start,
	    TP_PROTO(struct asahi_device *adev, u64 client, u32 queue_id, u32 cmdbuf_size,
		     u32 in_syncs, u32 out_syncs),
	    TP_ARGS(adev, client, queue_id, cmdbuf_size, in_syncs, out_syncs),
	    TP_STRUCT__entry(
		    __field(u32, dev)
		    __field(u64, client)
		    __field(u32, queue_id)
		    __field(u32, cmdbuf_size)
		    __field(u32, in_syncs)
		    __field(u32, out_syncs)
	    ),
	    TP_fast_assign(
		    __entry->dev = adev->drm.primary->index;
		    __entry->client = client;
		    __entry->queue_id = queue_id;
		    __entry->cmdbuf_size = cmdbuf_size;
		    __entry->in_syncs = in_syncs;
		    __entry->out_syncs = out_syncs;
	    ),
	    TP_printk("dev=%u client=%llu queue_id=%u bytes=%u in=%u out=%u", __entry->dev,
		      __entry->client, __entry->queue_id, __entry->cmdbuf_size,
		      __entry->in_syncs, __entry->out_syncs)
);

/*
 * Client to UAPI: a SUBMIT ended; with an error it was rejected. Without a job, or
 * even a queue, if it did not come that far.
 */
TRACE_EVENT(asahi_submit,
	    TP_PROTO(struct asahi_device *adev, u64 client, u32 queue, u64 job, int error),
	    TP_ARGS(adev, client, queue, job, error),
	    TP_STRUCT__entry(
		    __field(u32, dev)
		    __field(u64, client)
		    __field(u32, queue)
		    __field(u64, job)
		    __field(int, error)
	    ),
	    TP_fast_assign(
		    __entry->dev = adev->drm.primary->index;
		    __entry->client = client;
		    __entry->queue = queue;
		    __entry->job = job;
		    __entry->error = error;
	    ),
	    TP_printk("dev=%u client=%llu queue=%u job=%llu error=%d", __entry->dev,
		      __entry->client, __entry->queue, __entry->job, __entry->error)
);

/* UAPI to firmware structures: a command was built. */
TRACE_EVENT(asahi_build,
	    TP_PROTO(struct asahi_device *adev, u64 client, u32 queue, u64 job, u32 pipe,
		     u64 command_va, u64 microseq_va, u64 stream),
	    TP_ARGS(adev, client, queue, job, pipe, command_va, microseq_va, stream),
	    TP_STRUCT__entry(
		    __field(u32, dev)
		    __field(u64, client)
		    __field(u32, queue)
		    __field(u64, job)
		    __field(u32, pipe)
		    __field(u64, command_va)
		    __field(u64, microseq_va)
		    __field(u64, stream)
	    ),
	    TP_fast_assign(
		    __entry->dev = adev->drm.primary->index;
		    __entry->client = client;
		    __entry->queue = queue;
		    __entry->job = job;
		    __entry->pipe = pipe;
		    __entry->command_va = command_va;
		    __entry->microseq_va = microseq_va;
		    __entry->stream = stream;
	    ),
	    TP_printk("dev=%u client=%llu queue=%u job=%llu %s command=%#llx microseq=%#llx stream=%#llx",
		      __entry->dev, __entry->client, __entry->queue, __entry->job,
		      asahi_trace_pipe(__entry->pipe), __entry->command_va,
		      __entry->microseq_va, __entry->stream)
);

/* A job on its way through the scheduler. */
DECLARE_EVENT_CLASS(asahi_job,
	TP_PROTO(struct asahi_device *adev, u64 client, u32 queue, u64 job),
	TP_ARGS(adev, client, queue, job),
	TP_STRUCT__entry(
		__field(u32, dev)
		__field(u64, client)
		__field(u32, queue)
		__field(u64, job)
	),
	TP_fast_assign(
		__entry->dev = adev->drm.primary->index;
		__entry->client = client;
		__entry->queue = queue;
		__entry->job = job;
	),
	TP_printk("dev=%u client=%llu queue=%u job=%llu", __entry->dev, __entry->client,
		  __entry->queue, __entry->job)
);

/* UAPI to queue: the job waits for its dependencies from here on. */
DEFINE_EVENT(asahi_job, asahi_push,
	     TP_PROTO(struct asahi_device *adev, u64 client, u32 queue, u64 job),
	     TP_ARGS(adev, client, queue, job));

/* All dependencies are met, but there are no slots. */
DEFINE_EVENT(asahi_job, asahi_slot_wait,
	     TP_PROTO(struct asahi_device *adev, u64 client, u32 queue, u64 job),
	     TP_ARGS(adev, client, queue, job));

/* Queue to ring: the job has its slots and is handed to the firmware. */
TRACE_EVENT(asahi_run,
	    TP_PROTO(struct asahi_device *adev, u64 client, u32 queue, u64 job, u32 vm_slot,
		     u64 seqno),
	    TP_ARGS(adev, client, queue, job, vm_slot, seqno),
	    TP_STRUCT__entry(
		    __field(u32, dev)
		    __field(u64, client)
		    __field(u32, queue)
		    __field(u64, job)
		    __field(u32, vm_slot)
		    __field(u64, seqno)
	    ),
	    TP_fast_assign(
		    __entry->dev = adev->drm.primary->index;
		    __entry->client = client;
		    __entry->queue = queue;
		    __entry->job = job;
		    __entry->vm_slot = vm_slot;
		    __entry->seqno = seqno;
	    ),
	    TP_printk("dev=%u client=%llu queue=%u job=%llu vm_slot=%u seqno=%llu",
		      __entry->dev, __entry->client, __entry->queue, __entry->job,
		      __entry->vm_slot, __entry->seqno)
);

/* Queue to ring: entries of a work queue were published. */
TRACE_EVENT(asahi_ring,
	    TP_PROTO(struct asahi_device *adev, u64 client, u32 queue, u64 job, u32 pipe,
		     u32 wptr, u32 event_slot, u32 stamp),
	    TP_ARGS(adev, client, queue, job, pipe, wptr, event_slot, stamp),
	    TP_STRUCT__entry(
		    __field(u32, dev)
		    __field(u64, client)
		    __field(u32, queue)
		    __field(u64, job)
		    __field(u32, pipe)
		    __field(u32, wptr)
		    __field(u32, event_slot)
		    __field(u32, stamp)
	    ),
	    TP_fast_assign(
		    __entry->dev = adev->drm.primary->index;
		    __entry->client = client;
		    __entry->queue = queue;
		    __entry->job = job;
		    __entry->pipe = pipe;
		    __entry->wptr = wptr;
		    __entry->event_slot = event_slot;
		    __entry->stamp = stamp;
	    ),
	    TP_printk("dev=%u client=%llu queue=%u job=%llu %s wptr=%#x event=%u stamp=%#x",
		      __entry->dev, __entry->client, __entry->queue, __entry->job,
		      asahi_trace_pipe(__entry->pipe), __entry->wptr, __entry->event_slot,
		      __entry->stamp)
);

/* Ring to doorbell: the firmware was told. */
TRACE_EVENT(asahi_doorbell,
	    TP_PROTO(struct asahi_device *adev, u8 channel),
	    TP_ARGS(adev, channel),
	    TP_STRUCT__entry(
		    __field(u32, dev)
		    __field(u8, channel)
	    ),
	    TP_fast_assign(
		    __entry->dev = adev->drm.primary->index;
		    __entry->channel = channel;
	    ),
	    TP_printk("dev=%u channel=%#x", __entry->dev, __entry->channel)
);

/* Firmware to event: the firmware says that receive rings have news. */
TRACE_EVENT(asahi_notify,
	    TP_PROTO(struct asahi_device *adev),
	    TP_ARGS(adev),
	    TP_STRUCT__entry(
		    __field(u32, dev)
	    ),
	    TP_fast_assign(
		    __entry->dev = adev->drm.primary->index;
	    ),
	    TP_printk("dev=%u", __entry->dev)
);

/*
 * Stamp to event: the firmware says that a stamp has news. One message may stand
 * for many stamps. Client and queue are 0 if nobody owns the event slot.
 */
TRACE_EVENT(asahi_event,
	    TP_PROTO(struct asahi_device *adev, u64 client, u32 queue, u32 slot, u32 stamp),
	    TP_ARGS(adev, client, queue, slot, stamp),
	    TP_STRUCT__entry(
		    __field(u32, dev)
		    __field(u64, client)
		    __field(u32, queue)
		    __field(u32, slot)
		    __field(u32, stamp)
	    ),
	    TP_fast_assign(
		    __entry->dev = adev->drm.primary->index;
		    __entry->client = client;
		    __entry->queue = queue;
		    __entry->slot = slot;
		    __entry->stamp = stamp;
	    ),
	    TP_printk("dev=%u client=%llu queue=%u event=%u stamp=%#x", __entry->dev,
		      __entry->client, __entry->queue, __entry->slot, __entry->stamp)
);

/*
 * Event to fence: a piece of work was retired. Times are on the clock of GET_TIME,
 * in nanoseconds: when it was handed over, when the GPU started and ended it as
 * far as the firmware says (0 if it did not), and now.
 */
TRACE_EVENT(asahi_work_done,
	    TP_PROTO(struct asahi_device *adev, u64 client, u32 queue, u64 job, u32 pipe,
		     u32 event_slot, u32 stamp, u64 run, u64 start, u64 end, u64 now),
	    TP_ARGS(adev, client, queue, job, pipe, event_slot, stamp, run, start, end, now),
	    TP_STRUCT__entry(
		    __field(u32, dev)
		    __field(u64, client)
		    __field(u32, queue)
		    __field(u64, job)
		    __field(u32, pipe)
		    __field(u32, event_slot)
		    __field(u32, stamp)
		    __field(u64, run)
		    __field(u64, start)
		    __field(u64, end)
		    __field(u64, now)
	    ),
	    TP_fast_assign(
		    __entry->dev = adev->drm.primary->index;
		    __entry->client = client;
		    __entry->queue = queue;
		    __entry->job = job;
		    __entry->pipe = pipe;
		    __entry->event_slot = event_slot;
		    __entry->stamp = stamp;
		    __entry->run = run;
		    __entry->start = start;
		    __entry->end = end;
		    __entry->now = now;
	    ),
	    TP_printk("dev=%u client=%llu queue=%u job=%llu %s event=%u stamp=%#x run=%llu start=%llu end=%llu now=%llu",
		      __entry->dev, __entry->client, __entry->queue, __entry->job,
		      asahi_trace_pipe(__entry->pipe), __entry->event_slot, __entry->stamp,
		      __entry->run, __entry->start, __entry->end, __entry->now)
);

/*
 * Event to fence: a job is complete, well or not; without having run if it was not
 * handed to the firmware.
 */
TRACE_EVENT(asahi_done,
	    TP_PROTO(struct asahi_device *adev, u64 client, u32 queue, u64 job, u64 seqno,
		     bool ran, int error),
	    TP_ARGS(adev, client, queue, job, seqno, ran, error),
	    TP_STRUCT__entry(
		    __field(u32, dev)
		    __field(u64, client)
		    __field(u32, queue)
		    __field(u64, job)
		    __field(u64, seqno)
		    __field(bool, ran)
		    __field(int, error)
	    ),
	    TP_fast_assign(
		    __entry->dev = adev->drm.primary->index;
		    __entry->client = client;
		    __entry->queue = queue;
		    __entry->job = job;
		    __entry->seqno = seqno;
		    __entry->ran = ran;
		    __entry->error = error;
	    ),
	    TP_printk("dev=%u client=%llu queue=%u job=%llu seqno=%llu ran=%u error=%d",
		      __entry->dev, __entry->client, __entry->queue, __entry->job,
		      __entry->seqno, __entry->ran, __entry->error)
);

/* All memory of the job is on its way back; without having run if it was cancelled. */
TRACE_EVENT(asahi_free,
	    TP_PROTO(struct asahi_device *adev, u64 client, u32 queue, u64 job, bool ran),
	    TP_ARGS(adev, client, queue, job, ran),
	    TP_STRUCT__entry(
		    __field(u32, dev)
		    __field(u64, client)
		    __field(u32, queue)
		    __field(u64, job)
		    __field(bool, ran)
	    ),
	    TP_fast_assign(
		    __entry->dev = adev->drm.primary->index;
		    __entry->client = client;
		    __entry->queue = queue;
		    __entry->job = job;
		    __entry->ran = ran;
	    ),
	    TP_printk("dev=%u client=%llu queue=%u job=%llu ran=%u", __entry->dev,
		      __entry->client, __entry->queue, __entry->job, __entry->ran)
);

/* Work was marked as failed; its fence follows with its stamp. */
TRACE_EVENT(asahi_failed,
	    TP_PROTO(struct asahi_device *adev, u64 client, u32 queue, u64 job, u32 slot,
		     u32 value, int error),
	    TP_ARGS(adev, client, queue, job, slot, value, error),
	    TP_STRUCT__entry(
		    __field(u32, dev)
		    __field(u64, client)
		    __field(u32, queue)
		    __field(u64, job)
		    __field(u32, slot)
		    __field(u32, value)
		    __field(int, error)
	    ),
	    TP_fast_assign(
		    __entry->dev = adev->drm.primary->index;
		    __entry->client = client;
		    __entry->queue = queue;
		    __entry->job = job;
		    __entry->slot = slot;
		    __entry->value = value;
		    __entry->error = error;
	    ),
	    TP_printk("dev=%u client=%llu queue=%u job=%llu event=%u stamp=%#x error=%d",
		      __entry->dev, __entry->client, __entry->queue, __entry->job,
		      __entry->slot, __entry->value, __entry->error)
);

/* The GPU's MMU refused an access. */
TRACE_EVENT(asahi_fault,
	    TP_PROTO(struct asahi_device *adev, const struct asahi_fault_info *info),
	    TP_ARGS(adev, info),
	    TP_STRUCT__entry(
		    __field(u32, dev)
		    __field(u64, address)
		    __field(u8, slot)
		    __field(u8, unit)
		    __field(u8, reason)
		    __field(bool, read)
	    ),
	    TP_fast_assign(
		    __entry->dev = adev->drm.primary->index;
		    __entry->address = info->address;
		    __entry->slot = info->slot;
		    __entry->unit = info->unit;
		    __entry->reason = info->reason;
		    __entry->read = info->read;
	    ),
	    TP_printk("dev=%u %s at %#llx vm_slot=%u unit=%#x reason=%u", __entry->dev,
		      __entry->read ? "read" : "write", __entry->address, __entry->slot,
		      __entry->unit, __entry->reason)
);

/* The firmware was asked to go on after a failure; for one queue, or for all (0). */
TRACE_EVENT(asahi_recover,
	    TP_PROTO(struct asahi_device *adev, u32 queue, const char *what, int ret),
	    TP_ARGS(adev, queue, what, ret),
	    TP_STRUCT__entry(
		    __field(u32, dev)
		    __field(u32, queue)
		    __string(what, what)
		    __field(int, ret)
	    ),
	    TP_fast_assign(
		    __entry->dev = adev->drm.primary->index;
		    __entry->queue = queue;
		    __assign_str(what);
		    __entry->ret = ret;
	    ),
	    TP_printk("dev=%u queue=%u after %s: %d", __entry->dev, __entry->queue,
		      __get_str(what), __entry->ret)
);

/* Memory was to be taken from an object. */
TRACE_EVENT(asahi_evict,
	    TP_PROTO(struct asahi_device *adev, const struct drm_gem_object *obj, u64 ns,
		     bool done),
	    TP_ARGS(adev, obj, ns, done),
	    TP_STRUCT__entry(
		    __field(u32, dev)
		    __field(const void *, object)
		    __field(u64, bytes)
		    __field(u64, ns)
		    __field(bool, done)
	    ),
	    TP_fast_assign(
		    __entry->dev = adev->drm.primary->index;
		    __entry->object = obj;
		    __entry->bytes = obj->size;
		    __entry->ns = ns;
		    __entry->done = done;
	    ),
	    TP_printk("dev=%u object=%p bytes=%llu ns=%llu done=%d", __entry->dev,
		      __entry->object, __entry->bytes, __entry->ns, __entry->done)
);

/* SUBMIT gets the memory of an object back, and maps it. */
TRACE_EVENT(asahi_restore,
	    TP_PROTO(struct asahi_device *adev, u64 client, const struct drm_gem_object *obj,
		     u64 ns, int ret),
	    TP_ARGS(adev, client, obj, ns, ret),
	    TP_STRUCT__entry(
		    __field(u32, dev)
		    __field(u64, client)
		    __field(const void *, object)
		    __field(u64, bytes)
		    __field(u64, ns)
		    __field(int, ret)
	    ),
	    TP_fast_assign(
		    __entry->dev = adev->drm.primary->index;
		    __entry->client = client;
		    __entry->object = obj;
		    __entry->bytes = obj->size;
		    __entry->ns = ns;
		    __entry->ret = ret;
	    ),
	    TP_printk("dev=%u client=%llu object=%p bytes=%llu ns=%llu: %d", __entry->dev,
		      __entry->client, __entry->object, __entry->bytes, __entry->ns,
		      __entry->ret)
);

/* The vertex buffer of an idle queue was given back, or could not be. */
TRACE_EVENT(asahi_trim,
	    TP_PROTO(struct asahi_device *adev, u64 client, u32 queue, int ret),
	    TP_ARGS(adev, client, queue, ret),
	    TP_STRUCT__entry(
		    __field(u32, dev)
		    __field(u64, client)
		    __field(u32, queue)
		    __field(int, ret)
	    ),
	    TP_fast_assign(
		    __entry->dev = adev->drm.primary->index;
		    __entry->client = client;
		    __entry->queue = queue;
		    __entry->ret = ret;
	    ),
	    TP_printk("dev=%u client=%llu queue=%u: %d", __entry->dev, __entry->client,
		      __entry->queue, __entry->ret)
);

/* The device's state has changed, see asahi_state.c; the reason of a failure or none. */
TRACE_EVENT(asahi_state,
	    TP_PROTO(struct asahi_device *adev, const char *from, const char *to,
		     const char *why),
	    TP_ARGS(adev, from, to, why),
	    TP_STRUCT__entry(
		    __field(u32, dev)
		    __string(from, from)
		    __string(to, to)
		    __string(why, why)
	    ),
	    TP_fast_assign(
		    __entry->dev = adev->drm.primary->index;
		    __assign_str(from);
		    __assign_str(to);
		    __assign_str(why);
	    ),
	    TP_printk("dev=%u %s -> %s%s%s", __entry->dev, __get_str(from), __get_str(to),
		      __get_str(why)[0] ? ": " : "", __get_str(why))
);

#endif

/* This part has to be outside the guard. */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#include <trace/define_trace.h>
