// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Clients: who they are and what they have used.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/visibility.h>

#include <linux/atomic.h>
#include <linux/cleanup.h>
#include <linux/dma-resv.h>
#include <linux/export.h>
#include <linux/kref.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_print.h>

#include <agx/agx_rtkit.h>

#include "asahi_client.h"
#include "asahi_clock.h"
#include "asahi_debugfs.h"
#include "asahi_device.h"
#include "asahi_drv.h"
#include "asahi_fw_job.h"
#include "asahi_rest.h"
#include "asahi_slot.h"
#include "asahi_telemetry.h"
#include "asahi_vm.h"
#include "asahi_vm_dump.h"

/**
 * DOC: What a client has used
 *
 * **Engine time.** The firmware writes down when it starts and ends each piece
 * of work. A client has used an engine for that time; the time in a ring does not
 * count. Two things keep a clock that stands still, jumps or lies from
 * doing harm: a piece of work counts at most from its hand-over to its
 * retirement, by the driver's clock, and time in which several pieces of a
 * client's work ran on an engine counts once. So an engine's time never grows
 * faster than the clock on the wall, and what was reported never shrinks. Work
 * that runs counts up to now; work that failed, up to its retirement.
 *
 * **Memory.** Objects are counted as all drivers do. They are active while a
 * job may use them: each job adds its fence as DMA_RESV_USAGE_BOOKKEEP to all
 * objects that are mapped in its address space, and the count looks at these fences.
 * Memory that the kernel keeps for a client beside its objects is a region of its
 * own, "internal": heaps of its address spaces with the buffers for preemption, page
 * tables, queues, and commands of jobs, with what queues have ready for the next ones.
 *
 * **Clock.** All engines have that of the GPU. The highest one is in the table that the boot
 * loader hands over; the present one is there once the firmware has told of a performance
 * state, and is as of its last notification. Engine time is not cycles: it does not count
 * less where the clock is lower.
 */

/**
 * struct asahi_engine - what a client has used of an engine
 * @works: its work in flight, struct asahi_client_work
 * @span: time used by what has been retired
 * @reported: ticks that were reported last
 * @reported_at: when that was
 */
struct asahi_engine {
	struct list_head works;
	struct asahi_span span;
	u64 reported;
	u64 reported_at;
};

/**
 * struct asahi_client - a client; outlives its file as long as its queues do
 * @refcount: one for the file, one for each queue
 * @id: the DRM core's number of it
 * @bytes: memory in the device's heaps that is there because of it
 * @slots: its place among those who wait for slots
 * @guilt: failures that its work has caused
 * @engine: by pipe
 */
struct asahi_client {
	struct kref refcount;
	u64 id;
	atomic64_t bytes;
	struct asahi_slot_asker slots;
	/**
	 * @lock: protects @engine and @guilt. Taken where fences are signalled, in bottom
	 * halves too: nothing is allocated under it.
	 */
	spinlock_t lock;
	struct asahi_guilt guilt;
	struct asahi_engine engine[AGX_PIPE_COUNT];
};

/* Adds a gap behind all others; the oldest one is given up if there are too many. */
static void asahi_span_gap(struct asahi_span *span, u64 start, u64 end)
{
	if (span->gaps == ASAHI_SPAN_GAPS) {
		memmove(&span->gap[0], &span->gap[1], sizeof(span->gap) - sizeof(span->gap[0]));
		span->gaps--;
	}

	span->gap[span->gaps].start = start;
	span->gap[span->gaps].end = end;
	span->gaps++;
}

/* Takes [start, end) out of the gaps. */
static void asahi_span_fill(struct asahi_span *span, u64 start, u64 end)
{
	struct asahi_span old = *span;

	span->gaps = 0;
	for (unsigned int i = 0; i < old.gaps; i++) {
		u64 from = max(old.gap[i].start, start);
		u64 to = min(old.gap[i].end, end);
		bool hit = from < to;

		if (hit)
			span->total += to - from;
		if (!hit || old.gap[i].start < from)
			asahi_span_gap(span, old.gap[i].start, hit ? from : old.gap[i].end);
		if (hit && to < old.gap[i].end)
			asahi_span_gap(span, to, old.gap[i].end);
	}
}

/**
 * asahi_span_add() - add an interval
 * @span: span; a zeroed one is empty
 * @start: first tick
 * @end: tick behind the last
 *
 * Any context.
 */
void asahi_span_add(struct asahi_span *span, u64 start, u64 end)
{
	if (start >= end)
		return;

	asahi_span_fill(span, start, end);
	if (end <= span->end)
		return;

	if (start > span->end)
		asahi_span_gap(span, span->end, start);
	span->total += end - max(start, span->end);
	span->end = end;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_span_add);

/**
 * asahi_client_times() - when the GPU worked on something
 * @start: what the firmware says of its start, 0 for nothing yet
 * @end: what the firmware says of its end, 0 for nothing yet
 * @run: when it was handed to the firmware
 * @now: the time, or when it was retired
 *
 * All in ticks. An end before the start is that of a first attempt: the work
 * was preempted and started again. Any context.
 *
 * Return: both times, between @run and @now whatever the firmware says; start
 * and end 0 if it has not started.
 */
struct asahi_work_times asahi_client_times(u64 start, u64 end, u64 run, u64 now)
{
	struct asahi_work_times times = {};

	if (!start)
		return times;

	if (end < start)
		end = now;
	times.start = clamp(start, run, now);
	times.end = clamp(end, times.start, now);
	return times;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_client_times);

/**
 * asahi_client_work_times() - when the GPU worked on a piece of work
 * @work: work that was handed to the firmware
 * @now: the time, or when it was retired, in ticks
 *
 * Any context.
 *
 * Return: as asahi_client_times().
 */
struct asahi_work_times asahi_client_work_times(const struct asahi_client_work *work, u64 now)
{
	const __le64 *stamp = (const __le64 *)work->times;

	static_assert(offsetof(struct asahi_fw_timestamps, start) == 0);
	static_assert(offsetof(struct asahi_fw_timestamps, end) == sizeof(__le64));

	return asahi_client_times(le64_to_cpu(READ_ONCE(stamp[0])),
				  le64_to_cpu(READ_ONCE(stamp[1])), work->run,
				  max(work->run, now));
}

/**
 * asahi_client_create() - begin to count for a client
 * @id: the DRM core's number of it
 *
 * Process context.
 *
 * Return: the client with a reference, or NULL without memory.
 */
struct asahi_client *asahi_client_create(u64 id)
{
	struct asahi_client *client = kzalloc_obj(*client, GFP_KERNEL_ACCOUNT);

	if (!client)
		return NULL;

	kref_init(&client->refcount);
	client->id = id;
	spin_lock_init(&client->lock);
	asahi_slot_asker_init(&client->slots);
	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++)
		INIT_LIST_HEAD(&client->engine[i].works);
	asahi_count_inc(ASAHI_COUNT_CLIENT);

	return client;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_client_create);

/**
 * asahi_guilt_note() - one more failure
 * @guilt: the failures so far
 * @now: when it happened
 *
 * More than ASAHI_GUILT_MAX within ASAHI_GUILT_MS from the first one on are too many. The
 * caller serialises.
 */
void asahi_guilt_note(struct asahi_guilt *guilt, ktime_t now)
{
	if (!guilt->count || ktime_ms_delta(now, guilt->since) >= ASAHI_GUILT_MS) {
		guilt->since = now;
		guilt->count = 0;
	}

	if (++guilt->count <= ASAHI_GUILT_MAX)
		return;

	WRITE_ONCE(guilt->barred_until, ktime_add_ms(now, ASAHI_GUILT_MS));
	guilt->count = 0;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_guilt_note);

/**
 * asahi_guilt_barred() - were there too many failures?
 * @guilt: the failures
 * @now: the time
 *
 * Any context, without a lock.
 *
 * Return: true for ASAHI_GUILT_MS after there were.
 */
bool asahi_guilt_barred(const struct asahi_guilt *guilt, ktime_t now)
{
	return ktime_before(now, READ_ONCE(guilt->barred_until));
}
EXPORT_SYMBOL_IF_KUNIT(asahi_guilt_barred);

/**
 * asahi_client_note_guilty() - work of a client has caused a failure
 * @client: client
 *
 * Any context but hard interrupts, in the critical section of fences.
 */
void asahi_client_note_guilty(struct asahi_client *client)
{
	guard(spinlock_bh)(&client->lock);
	asahi_guilt_note(&client->guilt, ktime_get());
}

/**
 * asahi_client_barred() - has a client caused too many failures?
 * @client: client
 *
 * Any context.
 *
 * Return: true if its jobs are to be skipped now.
 */
bool asahi_client_barred(struct asahi_client *client)
{
	return asahi_guilt_barred(&client->guilt, ktime_get());
}

/**
 * asahi_client_slot_asker() - what a client asks for slots as
 * @client: client
 *
 * Any context.
 *
 * Return: part of @client.
 */
struct asahi_slot_asker *asahi_client_slot_asker(struct asahi_client *client)
{
	return &client->slots;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_client_slot_asker);

/**
 * asahi_client_get() - take a reference
 * @client: client
 *
 * Any context.
 *
 * Return: @client.
 */
struct asahi_client *asahi_client_get(struct asahi_client *client)
{
	kref_get(&client->refcount);
	return client;
}

static void asahi_client_release(struct kref *ref)
{
	struct asahi_client *client = container_of(ref, struct asahi_client, refcount);

	asahi_rest_end(!atomic64_read(&client->bytes), "client %llu is charged %lld bytes",
		       client->id, atomic64_read(&client->bytes));
	kfree(client);
	asahi_count_dec(ASAHI_COUNT_CLIENT);
}

/**
 * asahi_client_put() - drop a reference
 * @client: client
 *
 * Process context.
 */
void asahi_client_put(struct asahi_client *client)
{
	kref_put(&client->refcount, asahi_client_release);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_client_put);

/**
 * asahi_client_id() - which client is it?
 * @client: client
 *
 * Any context.
 *
 * Return: the number that "drm-client-id" in fdinfo says, too.
 */
u64 asahi_client_id(const struct asahi_client *client)
{
	return client->id;
}

/**
 * asahi_client_name() - remember who is asking for something
 * @process: where to
 *
 * Process context.
 */
void asahi_client_name(struct asahi_process *process)
{
	process->pid = task_tgid_nr(current);
	/* Each SUBMIT does this. A name that changes meanwhile may be part of both. */
	memcpy(process->comm, current->comm, sizeof(process->comm));
	process->comm[sizeof(process->comm) - 1] = '\0';
}

/**
 * asahi_client_charge() - memory comes or goes because of a client
 * @client: client
 * @bytes: how much; negative for memory that goes
 *
 * For memory in the device's own heaps only. Any context.
 */
void asahi_client_charge(struct asahi_client *client, s64 bytes)
{
	atomic64_add(bytes, &client->bytes);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_client_charge);

/**
 * asahi_client_begin() - work is handed to the firmware
 * @client: whose
 * @pipe: AGX_PIPE_*
 * @work: the work; its @times are zero
 *
 * With bottom halves off, in the critical section of fences. asahi_client_end() has to
 * follow while the memory of the timestamps is still there.
 */
void asahi_client_begin(struct asahi_client *client, unsigned int pipe,
			struct asahi_client_work *work)
{
	guard(spinlock)(&client->lock);

	work->run = asahi_clock_now();
	list_add_tail(&work->link, &client->engine[pipe].works);
}

/**
 * asahi_client_end() - work is retired
 * @client: whose
 * @pipe: as for asahi_client_begin()
 * @work: the work, after that
 *
 * With bottom halves off, in the critical section of fences.
 *
 * Return: when the GPU worked on it.
 */
struct asahi_work_times asahi_client_end(struct asahi_client *client, unsigned int pipe,
					 struct asahi_client_work *work)
{
	struct asahi_work_times times;

	guard(spinlock)(&client->lock);

	times = asahi_client_work_times(work, asahi_clock_now());
	asahi_span_add(&client->engine[pipe].span, times.start, times.end);
	list_del_init(&work->link);
	return times;
}

static u64 asahi_client_engine_ns(struct asahi_client *client, unsigned int pipe)
{
	struct asahi_engine *engine = &client->engine[pipe];
	struct asahi_client_work *work;
	struct asahi_span span;
	u64 now;

	guard(spinlock_bh)(&client->lock);

	now = asahi_clock_now();
	span = engine->span;
	list_for_each_entry(work, &engine->works, link) {
		struct asahi_work_times times = asahi_client_work_times(work, now);

		asahi_span_add(&span, times.start, times.end);
	}

	engine->reported = clamp(span.total, engine->reported,
				 engine->reported + now - engine->reported_at);
	engine->reported_at = now;
	return asahi_clock_to_ns(engine->reported);
}

/* As drm_show_memory_stats() but for what is active. */
static void asahi_client_show_objects(struct drm_printer *p, struct drm_file *drm_file)
{
	enum drm_gem_object_status supported = DRM_GEM_OBJECT_ACTIVE | DRM_GEM_OBJECT_RESIDENT;
	struct drm_memory_stats stats = {};
	struct drm_gem_object *obj;
	int id;

	guard(spinlock)(&drm_file->table_lock);

	idr_for_each_entry(&drm_file->object_idr, obj, id) {
		if (drm_gem_object_is_shared_for_memory_stats(obj))
			stats.shared += obj->size;
		else
			stats.private += obj->size;

		if (obj->funcs->status(obj) & DRM_GEM_OBJECT_RESIDENT)
			stats.resident += obj->size;

		if (!dma_resv_test_signaled(obj->resv, DMA_RESV_USAGE_BOOKKEEP))
			stats.active += obj->size;
	}

	drm_print_memory_stats(p, &stats, supported, "memory");
}

static u64 asahi_client_internal_bytes(struct asahi_file *file)
{
	struct asahi_vm_memory memory;

	asahi_vm_memory(file, &memory);
	return atomic64_read(&file->client->bytes) + memory.tables + memory.heaps;
}

static void asahi_client_show_clock(struct drm_printer *p, struct asahi_device *adev,
				    const char *engine)
{
	u64 hz;

	drm_printf(p, "drm-maxfreq-%s:\t%llu Hz\n", engine,
		   adev->params.max_frequency_khz * 1000ULL);
	if (asahi_telemetry_frequency(adev, &hz))
		drm_printf(p, "drm-curfreq-%s:\t%llu Hz\n", engine, hz);
}

/**
 * asahi_client_show_fdinfo() - print what a client has used
 * @p: where to
 * @drm_file: its file
 *
 * Process context.
 */
void asahi_client_show_fdinfo(struct drm_printer *p, struct drm_file *drm_file)
{
	static const char * const name[AGX_PIPE_COUNT] = { "vertex", "fragment", "compute" };
	struct asahi_file *file = to_asahi_file(drm_file);
	u64 bytes = asahi_client_internal_bytes(file);

	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++)
		drm_printf(p, "drm-engine-%s:\t%llu ns\n", name[i],
			   asahi_client_engine_ns(file->client, i));
	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++)
		asahi_client_show_clock(p, file->adev, name[i]);

	asahi_client_show_objects(p, drm_file);
	drm_fdinfo_print_size(p, "drm", "total", "internal", bytes);
	drm_fdinfo_print_size(p, "drm", "resident", "internal", bytes);
}

#if IS_ENABLED(CONFIG_DRM_ASAHI_DEBUG)
/**
 * asahi_client_at_rest() - say which work counts as running although there are no jobs
 * @client: client
 * @rest: what is known of the device
 *
 * Process context.
 */
void asahi_client_at_rest(struct asahi_client *client, struct asahi_rest *rest)
{
	guard(spinlock_bh)(&client->lock);

	for (unsigned int i = 0; i < AGX_PIPE_COUNT; i++)
		asahi_rest_expect(rest, ASAHI_REST_FLIGHT, list_empty(&client->engine[i].works),
				  "work of client %llu on pipe %u has not ended", client->id, i);
}
#endif
