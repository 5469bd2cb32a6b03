// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Queues, as shaders and fences see them: order, dependencies, more clients
 * than the hardware has contexts and events, and what happens when work fails.
 *
 * Most tests hold the GPU with a job that waits for a word which the program
 * writes: the gate.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xf86drm.h>

#include "compute.h"

/* Words of a rig's buffer. */
#define GATE		0
#define RESULT		16
#define BUFFER_BYTES	0x4000

#define UNMAPPED	UINT64_C(0x3f00000000)

/**
 * struct rig - a client
 * @gpu: device, with an address space and a queue of its own
 * @gate: shader that waits
 * @fill: shader that writes
 * @data: memory for both
 */
struct rig {
	struct compute gpu;
	struct compute_program gate;
	struct compute_program fill;
	struct compute_buffer data;
};

/**
 * struct work - a command and the memory of its stream
 * @stream: its stream
 * @cmd: the command
 */
struct work {
	struct compute_stream stream;
	struct drm_asahi_cmd_compute cmd;
};

static volatile uint32_t *word(struct rig *rig, unsigned int index)
{
	return (volatile uint32_t *)rig->data.map + index;
}

static uint64_t word_addr(struct rig *rig, unsigned int index)
{
	return rig->data.addr + index * 4;
}

static int rig_open(struct rig *rig)
{
	int err = compute_open(&rig->gpu, NULL);

	rig->data.bo = NULL;
	if (err)
		return err;
	err = compute_program_load(&rig->gpu, "gate", &rig->gate);
	if (!err)
		err = compute_program_load(&rig->gpu, "fill", &rig->fill);
	if (!err)
		err = compute_buffer_new(&rig->gpu, BUFFER_BYTES, &rig->data);
	if (err)
		compute_close(&rig->gpu);
	else
		memset(rig->data.map, 0, BUFFER_BYTES);
	return err;
}

static void rig_close(struct rig *rig)
{
	compute_buffer_free(&rig->gpu, &rig->data);
	compute_close(&rig->gpu);
}

static int rigs_open(struct rig **rigs, unsigned int count)
{
	unsigned int i;
	int err = 0;

	*rigs = calloc(count, sizeof(**rigs));
	if (!*rigs)
		return -ENOMEM;
	for (i = 0; i < count && !err; i++)
		err = rig_open(&(*rigs)[i]);
	if (!err)
		return 0;
	while (--i > 0)
		rig_close(&(*rigs)[i - 1]);
	free(*rigs);
	return err;
}

static void rigs_close(struct rig *rigs, unsigned int count)
{
	while (count > 0)
		rig_close(&rigs[--count]);
	free(rigs);
}

static int work_new(struct rig *rig, const struct compute_program *program,
		    const void *uniforms, size_t bytes, uint32_t threads,
		    struct work *work)
{
	const struct compute_dispatch dispatch = {
		.program = program,
		.uniforms = uniforms,
		.uniform_bytes = bytes,
		.global = { threads, 1, 1 },
		.local = { 32, 1, 1 },
	};
	int err = compute_stream_new(&rig->gpu, &work->stream);

	if (err)
		return err;
	compute_stream_dispatch(&work->stream, &dispatch);
	err = compute_stream_end(&work->stream, &work->cmd);
	if (err)
		compute_stream_free(&work->stream);
	return err;
}

/* Waits for the gate, then writes @value to @index. */
static int gate_new(struct rig *rig, unsigned int index, uint32_t value,
		    struct work *work)
{
	const struct {
		uint64_t gate;
		uint64_t dst;
		uint32_t value;
	} uniforms = { word_addr(rig, GATE), word_addr(rig, index), value };

	return work_new(rig, &rig->gate, &uniforms, sizeof(uniforms), 1, work);
}

/* Writes @value to @addr, without waiting. */
static int store_new(struct rig *rig, uint64_t addr, uint32_t value,
		     struct work *work)
{
	const struct {
		uint64_t dst;
		uint32_t value;
	} uniforms = { addr, value };

	return work_new(rig, &rig->fill, &uniforms, sizeof(uniforms), 1, work);
}

/**
 * struct sync - what a submission waits for and signals
 * @in: sync object to wait for, or 0
 * @in_point: point on it, or 0
 * @out: sync object to signal, or 0
 * @out_point: point on it, or 0
 */
struct sync {
	uint32_t in;
	uint64_t in_point;
	uint32_t out;
	uint64_t out_point;
};

static int submit_to(struct asahi_queue *queue,
		     const struct drm_asahi_cmd_compute *cmd, unsigned int count,
		     struct asahi_barrier barrier, const struct sync *sync)
{
	struct asahi_submit *submit;
	unsigned int i;
	int err = asahi_submit_new(queue, &submit);

	if (err)
		return err;
	for (i = 0; i < count; i++)
		asahi_submit_compute(submit, &cmd[i], barrier);
	if (sync->in)
		asahi_submit_wait(submit, sync->in, sync->in_point);
	if (sync->out)
		asahi_submit_signal(submit, sync->out, sync->out_point);
	err = asahi_submit_flush(submit);
	asahi_submit_free(submit);
	return err;
}

static int submit(struct rig *rig, const struct work *work,
		  const struct sync *sync)
{
	return submit_to(rig->gpu.queue, &work->cmd, 1, ASAHI_BARRIER_NONE, sync);
}

static int new_syncobjs(struct rig *rig, uint32_t *handles, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (drmSyncobjCreate(asahi_device_fd(rig->gpu.dev), 0,
				     &handles[i]))
			return -errno;
	return 0;
}

/* The same fence in another open of the device. */
static int pass_fence(struct rig *from, uint32_t handle, struct rig *to,
		      uint32_t *out)
{
	int fd, err = 0;

	if (drmSyncobjExportSyncFile(asahi_device_fd(from->gpu.dev), handle, &fd))
		return -errno;
	if (drmSyncobjCreate(asahi_device_fd(to->gpu.dev), 0, out) ||
	    drmSyncobjImportSyncFile(asahi_device_fd(to->gpu.dev), *out, fd))
		err = -errno;
	close(fd);
	return err;
}

static int wait(struct rig *rig, uint32_t handle)
{
	return asahi_fence_wait(rig->gpu.dev, handle, COMPUTE_TIMEOUT_NS);
}

static int expect(const char *what, int got, int expected)
{
	if (got == expected)
		return 0;
	fprintf(stderr, "%s: %s, not %s\n", what, got ? strerror(-got) : "success",
		expected ? strerror(-expected) : "success");
	return -EILSEQ;
}

static int expect_word(struct rig *rig, unsigned int index, uint32_t expected)
{
	uint32_t got = *word(rig, index);

	if (got == expected)
		return 0;
	fprintf(stderr, "word %u is %08x, not %08x\n", index, got, expected);
	return -EILSEQ;
}

static bool signalled(struct rig *rig, uint32_t handle)
{
	return !asahi_fence_wait(rig->gpu.dev, handle, 0);
}

/* A job that holds the GPU, and one behind it that has nothing to wait for. */
static int test_order(struct rig *rig)
{
	struct work gate, store;
	uint32_t sync[2];
	int err;

	err = new_syncobjs(rig, sync, 2);
	if (!err)
		err = gate_new(rig, RESULT, 1, &gate);
	if (!err)
		err = store_new(rig, word_addr(rig, RESULT + 1), 2, &store);
	if (!err)
		err = submit(rig, &gate, &(struct sync){ .out = sync[0] });
	if (!err)
		err = submit(rig, &store, &(struct sync){ .out = sync[1] });
	if (err)
		return err;

	usleep(100000);
	if (signalled(rig, sync[0]) || signalled(rig, sync[1])) {
		fprintf(stderr, "a fence signalled before its job's end\n");
		return -EILSEQ;
	}
	*word(rig, GATE) = 1;
	err = wait(rig, sync[1]);
	/* in order: whoever sees the second sees the first */
	if (!err && !signalled(rig, sync[0]))
		err = -EILSEQ;
	if (!err)
		err = expect_word(rig, RESULT, 1);
	return err ? err : expect_word(rig, RESULT + 1, 2);
}

/* Points of a timeline, waited for and signalled by jobs of two queues. */
static int test_timeline(struct rig *rig)
{
	const int steps = 20;
	struct asahi_queue *second;
	uint32_t timeline;
	int i, err;

	err = new_syncobjs(rig, &timeline, 1);
	if (!err)
		err = asahi_queue_new(rig->gpu.vm, DRM_ASAHI_PRIORITY_LOW, &second);
	if (err)
		return err;

	for (i = 0; i < steps && !err; i++) {
		const struct sync sync = {
			.in = i ? timeline : 0,
			.in_point = i,
			.out = timeline,
			.out_point = i + 1,
		};
		struct work work;

		/* each writes the word before which it must not run */
		err = i ? store_new(rig, word_addr(rig, RESULT), i, &work) :
			  gate_new(rig, RESULT, 77, &work);
		if (!err)
			err = submit_to(i % 2 ? second : rig->gpu.queue, &work.cmd,
					1, ASAHI_BARRIER_NONE, &sync);
	}
	*word(rig, GATE) = 1;
	if (!err) {
		uint64_t point = steps;

		if (drmSyncobjTimelineWait(asahi_device_fd(rig->gpu.dev), &timeline,
					   &point, 1, INT64_MAX, 0, NULL))
			err = -errno;
	}
	asahi_queue_unref(second);
	return err ? err : expect_word(rig, RESULT, steps - 1);
}

/* Several commands at once, the last one behind barriers of all kinds. */
static int test_barriers(struct rig *rig)
{
	struct work work[4];
	struct drm_asahi_cmd_compute cmd[4];
	struct asahi_submit *submit;
	int i, err = 0;

	for (i = 0; i < 4 && !err; i++) {
		err = i ? store_new(rig, word_addr(rig, RESULT + i), i, &work[i]) :
			  gate_new(rig, RESULT, 100, &work[i]);
		if (!err)
			cmd[i] = work[i].cmd;
	}
	if (!err)
		err = asahi_submit_new(rig->gpu.queue, &submit);
	if (err)
		return err;

	asahi_submit_compute(submit, &cmd[0], ASAHI_BARRIER_NONE);
	asahi_submit_compute(submit, &cmd[1], (struct asahi_barrier){ 0, 0 });
	asahi_submit_compute(submit, &cmd[2], (struct asahi_barrier){ 0, 1 });
	asahi_submit_compute(submit, &cmd[3],
			     (struct asahi_barrier){ DRM_ASAHI_BARRIER_NONE, 3 });
	*word(rig, GATE) = 1;
	err = asahi_submit_run(submit, COMPUTE_TIMEOUT_NS);
	/* index 0: that what was submitted before is complete */
	asahi_submit_reset(submit);
	asahi_submit_compute(submit, &cmd[1], (struct asahi_barrier){ 0, 0 });
	if (!err)
		err = asahi_submit_run(submit, COMPUTE_TIMEOUT_NS);
	asahi_submit_free(submit);
	for (i = 0; i < 4 && !err; i++)
		err = expect_word(rig, RESULT + i, i ? i : 100);
	return err;
}

/* More commands than stamps may be outstanding, and more than the ring holds. */
static int test_full_ring(struct rig *rig)
{
	const unsigned int count = 64, rounds = 24;
	struct drm_asahi_cmd_compute *cmd = calloc(count, sizeof(*cmd));
	struct asahi_barrier behind = { DRM_ASAHI_BARRIER_NONE, 0 };
	uint32_t sync;
	struct work gate, store;
	unsigned int i;
	int err = new_syncobjs(rig, &sync, 1);

	if (!cmd)
		return -ENOMEM;
	if (!err)
		err = gate_new(rig, RESULT, 1, &gate);
	if (!err)
		err = store_new(rig, word_addr(rig, RESULT + 1), 2, &store);
	for (i = 0; i < count && !err; i++)
		cmd[i] = store.cmd;
	if (!err)
		err = submit(rig, &gate, &(struct sync){ .out = 0 });
	for (i = 0; i < rounds && !err; i++)
		err = submit_to(rig->gpu.queue, cmd, count, behind,
				&(struct sync){ .out = sync });
	*word(rig, GATE) = 1;
	if (!err)
		err = wait(rig, sync);
	free(cmd);
	return err ? err : expect_word(rig, RESULT + 1, 2);
}

/* Clients that all have something to do at once. */
static int run_clients(unsigned int count)
{
	struct work *work = calloc(count, sizeof(*work));
	uint32_t *sync = calloc(count, sizeof(*sync));
	struct rig *rigs = NULL;
	unsigned int i, round;
	int err = rigs_open(&rigs, count);

	if (!work || !sync || err)
		return err ? err : -ENOMEM;

	for (i = 0; i < count && !err; i++) {
		err = new_syncobjs(&rigs[i], &sync[i], 1);
		if (!err)
			err = i ? store_new(&rigs[i], word_addr(&rigs[i], RESULT),
					    i + 1, &work[i]) :
				  gate_new(&rigs[i], RESULT, i + 1, &work[i]);
	}
	for (round = 0; round < 3 && !err; round++) {
		*word(&rigs[0], GATE) = 0;
		for (i = 0; i < count && !err; i++) {
			*word(&rigs[i], RESULT) = 0;
			err = submit(&rigs[i], &work[i],
				     &(struct sync){ .out = sync[i] });
		}
		*word(&rigs[0], GATE) = 1;
		for (i = 0; i < count && !err; i++) {
			err = wait(&rigs[i], sync[i]);
			if (!err)
				err = expect_word(&rigs[i], RESULT, i + 1);
		}
	}
	rigs_close(rigs, count);
	free(sync);
	free(work);
	return err;
}

static int test_many_clients(struct rig *rig)
{
	(void)rig;
	return run_clients(150);
}

/* Queues of one address space that all have something in flight. */
static int test_many_queues(struct rig *rig)
{
	enum { COUNT = 200 };
	struct asahi_queue *queue[COUNT];
	uint32_t sync[COUNT];
	struct work gate, store;
	unsigned int i, made = 0;
	int err = new_syncobjs(rig, sync, COUNT);

	if (!err)
		err = gate_new(rig, RESULT, 1, &gate);
	if (!err)
		err = store_new(rig, word_addr(rig, RESULT + 1), 2, &store);
	while (made < COUNT && !err) {
		err = asahi_queue_new(rig->gpu.vm, DRM_ASAHI_PRIORITY_MEDIUM,
				      &queue[made]);
		made += !err;
	}
	if (!err)
		err = submit(rig, &gate, &(struct sync){ .out = 0 });
	for (i = 0; i < made && !err; i++)
		err = submit_to(queue[i], &store.cmd, 1, ASAHI_BARRIER_NONE,
				&(struct sync){ .out = sync[i] });
	*word(rig, GATE) = 1;
	for (i = 0; i < made && !err; i++)
		err = wait(rig, sync[i]);
	while (made > 0)
		asahi_queue_unref(queue[--made]);
	return err ? err : expect_word(rig, RESULT + 1, 2);
}

/* High ones where the driver allows them: in the test machine. */
static int test_priorities(struct rig *rig)
{
	const bool unproven =
		!system("grep -q Y /sys/module/asahi/parameters/unproven");
	unsigned int priority;
	int err = 0;

	for (priority = DRM_ASAHI_PRIORITY_LOW;
	     priority <= DRM_ASAHI_PRIORITY_REALTIME && !err; priority++) {
		const bool allowed = priority < DRM_ASAHI_PRIORITY_HIGH || unproven;
		struct asahi_queue *queue;
		struct work store;
		uint32_t sync;

		err = asahi_queue_new(rig->gpu.vm, priority, &queue);
		if (!allowed) {
			err = expect("high priority", err, -EOPNOTSUPP);
			continue;
		}
		if (err)
			return err;
		err = new_syncobjs(rig, &sync, 1);
		if (!err)
			err = store_new(rig, word_addr(rig, RESULT + priority),
					priority + 1, &store);
		if (!err)
			err = submit_to(queue, &store.cmd, 1, ASAHI_BARRIER_NONE,
					&(struct sync){ .out = sync });
		if (!err)
			err = wait(rig, sync);
		asahi_queue_unref(queue);
		if (!err)
			err = expect_word(rig, RESULT + priority, priority + 1);
	}
	return err;
}

/* A job that waits for the fence of an earlier one of its queue. */
static int test_own_fence(struct rig *rig)
{
	struct work gate, store;
	uint32_t sync[2];
	int err = new_syncobjs(rig, sync, 2);

	if (!err)
		err = gate_new(rig, RESULT, 1, &gate);
	if (!err)
		err = store_new(rig, word_addr(rig, RESULT), 2, &store);
	if (!err)
		err = submit(rig, &gate, &(struct sync){ .out = sync[0] });
	if (!err)
		err = submit(rig, &store,
			     &(struct sync){ .in = sync[0], .out = sync[1] });
	*word(rig, GATE) = 1;
	if (!err)
		err = wait(rig, sync[1]);
	return err ? err : expect_word(rig, RESULT, 2);
}

/* A hundred address spaces that wait for the hundred-and-first. */
static int test_no_deadlock(struct rig *rig)
{
	const unsigned int count = 100;
	struct work *work = calloc(count, sizeof(*work));
	uint32_t *done = calloc(count, sizeof(*done));
	struct rig *rigs = NULL;
	struct work gate, last;
	uint32_t sync[2], in;
	unsigned int i;
	int err;

	err = rigs_open(&rigs, count + 1);
	if (!work || !done || err)
		return err ? err : -ENOMEM;

	err = new_syncobjs(rig, &sync[0], 1);
	if (!err)
		err = new_syncobjs(&rigs[count], &sync[1], 1);
	if (!err)
		err = gate_new(rig, RESULT, 1, &gate);
	if (!err)
		err = store_new(&rigs[count], word_addr(&rigs[count], RESULT), 1,
				&last);
	for (i = 0; i < count && !err; i++) {
		err = new_syncobjs(&rigs[i], &done[i], 1);
		if (!err)
			err = store_new(&rigs[i], word_addr(&rigs[i], RESULT), i + 1,
					&work[i]);
	}

	/* the last one waits for the gate, all others for the last one */
	if (!err)
		err = submit(rig, &gate, &(struct sync){ .out = sync[0] });
	if (!err)
		err = pass_fence(rig, sync[0], &rigs[count], &in);
	if (!err)
		err = submit(&rigs[count], &last,
			     &(struct sync){ .in = in, .out = sync[1] });
	for (i = 0; i < count && !err; i++) {
		err = pass_fence(&rigs[count], sync[1], &rigs[i], &in);
		if (!err)
			err = submit(&rigs[i], &work[i],
				     &(struct sync){ .in = in, .out = done[i] });
	}
	*word(rig, GATE) = 1;
	for (i = 0; i < count && !err; i++) {
		err = wait(&rigs[i], done[i]);
		if (!err)
			err = expect_word(&rigs[i], RESULT, i + 1);
	}
	rigs_close(rigs, count + 1);
	free(done);
	free(work);
	return err;
}

/* What fails takes along what is behind it on its queue, and nothing else. */
static int test_fault(struct rig *rig)
{
	struct work gate, bad, good, other_work;
	uint32_t sync[3], other_sync;
	struct rig other;
	int err = rig_open(&other);

	if (err)
		return err;
	err = new_syncobjs(rig, sync, 3);
	if (!err)
		err = new_syncobjs(&other, &other_sync, 1);
	if (!err)
		err = gate_new(rig, RESULT, 1, &gate);
	if (!err)
		err = store_new(rig, UNMAPPED, 2, &bad);
	if (!err)
		err = store_new(rig, word_addr(rig, RESULT + 1), 3, &good);
	if (!err)
		err = store_new(&other, word_addr(&other, RESULT), 4, &other_work);
	if (!err)
		err = submit(rig, &gate, &(struct sync){ .out = sync[0] });
	if (!err)
		err = submit(rig, &bad, &(struct sync){ .out = sync[1] });
	if (!err)
		err = submit(rig, &good, &(struct sync){ .out = sync[2] });
	if (!err)
		err = submit(&other, &other_work, &(struct sync){ .out = other_sync });
	*word(rig, GATE) = 1;

	if (!err)
		err = expect("before the fault", wait(rig, sync[0]), 0);
	if (!err)
		err = expect("the fault", wait(rig, sync[1]), -EIO);
	if (!err)
		err = expect("behind the fault", wait(rig, sync[2]), -ECANCELED);
	if (!err)
		err = expect("elsewhere", wait(&other, other_sync), 0);
	if (!err)
		err = expect_word(&other, RESULT, 4);
	if (!err)
		err = expect("the queue afterwards",
			     submit(rig, &good, &(struct sync){ .out = sync[0] }),
			     -EIO);
	rig_close(&other);
	return err;
}

/* A second queue of the same address space does not suffer from the first. */
static int test_queue_after_fault(struct rig *rig)
{
	struct asahi_queue *second;
	struct work bad, good;
	uint32_t sync;
	int err = new_syncobjs(rig, &sync, 1);

	if (!err)
		err = store_new(rig, UNMAPPED, 2, &bad);
	if (!err)
		err = store_new(rig, word_addr(rig, RESULT), 3, &good);
	if (!err)
		err = submit(rig, &bad, &(struct sync){ .out = sync });
	if (!err)
		err = expect("the fault", wait(rig, sync), -EIO);
	if (!err)
		err = asahi_queue_new(rig->gpu.vm, DRM_ASAHI_PRIORITY_MEDIUM, &second);
	if (err)
		return err;
	err = submit_to(second, &good.cmd, 1, ASAHI_BARRIER_NONE,
			&(struct sync){ .out = sync });
	if (!err)
		err = wait(rig, sync);
	asahi_queue_unref(second);
	return err ? err : expect_word(rig, RESULT, 3);
}

/* A gate that stays closed. */
static int test_timeout(struct rig *rig)
{
	struct work gate, other_work;
	uint32_t sync, other_sync;
	struct rig other;
	int err = rig_open(&other);

	if (err)
		return err;
	err = new_syncobjs(rig, &sync, 1);
	if (!err)
		err = new_syncobjs(&other, &other_sync, 1);
	if (!err)
		err = gate_new(rig, RESULT, 1, &gate);
	if (!err)
		err = store_new(&other, word_addr(&other, RESULT), 4, &other_work);
	if (!err)
		err = submit(rig, &gate, &(struct sync){ .out = sync });
	if (!err)
		err = submit(&other, &other_work, &(struct sync){ .out = other_sync });
	if (!err)
		err = expect("the timeout", wait(rig, sync), -ETIMEDOUT);
	if (!err)
		err = expect("elsewhere", wait(&other, other_sync), 0);
	if (!err)
		err = expect_word(&other, RESULT, 4);
	if (!err)
		err = expect("the queue afterwards",
			     submit(rig, &gate, &(struct sync){ .out = sync }), -EIO);
	rig_close(&other);
	return err;
}

/* What was submitted still runs when its queue and address space are gone. */
static int test_destroy(struct rig *rig)
{
	struct asahi_queue *queue;
	struct work gate, store;
	uint32_t sync[2];
	int err = new_syncobjs(rig, sync, 2);

	if (!err)
		err = asahi_queue_new(rig->gpu.vm, DRM_ASAHI_PRIORITY_MEDIUM, &queue);
	if (err)
		return err;
	err = gate_new(rig, RESULT, 1, &gate);
	if (!err)
		err = store_new(rig, word_addr(rig, RESULT + 1), 2, &store);
	if (!err)
		err = submit_to(queue, &gate.cmd, 1, ASAHI_BARRIER_NONE,
				&(struct sync){ .out = sync[0] });
	if (!err)
		err = submit_to(queue, &store.cmd, 1, ASAHI_BARRIER_NONE,
				&(struct sync){ .out = sync[1] });
	asahi_queue_unref(queue);
	*word(rig, GATE) = 1;
	if (!err)
		err = wait(rig, sync[1]);
	if (!err)
		err = expect_word(rig, RESULT, 1);
	return err ? err : expect_word(rig, RESULT + 1, 2);
}

/* What waits for something when its queue is destroyed is cancelled in time. */
static int test_destroy_waiting(struct rig *rig)
{
	struct asahi_queue *queue;
	struct work gate, store;
	uint32_t sync[2];
	int err = new_syncobjs(rig, sync, 2);

	if (!err)
		err = asahi_queue_new(rig->gpu.vm, DRM_ASAHI_PRIORITY_MEDIUM, &queue);
	if (err)
		return err;
	err = gate_new(rig, RESULT, 1, &gate);
	if (!err)
		err = store_new(rig, word_addr(rig, RESULT + 1), 2, &store);
	if (!err)
		err = submit(rig, &gate, &(struct sync){ .out = sync[0] });
	if (!err)
		err = submit_to(queue, &store.cmd, 1, ASAHI_BARRIER_NONE,
				&(struct sync){ .in = sync[0], .out = sync[1] });
	/* returns while the gate is closed */
	asahi_queue_unref(queue);
	*word(rig, GATE) = 1;
	if (!err)
		err = wait(rig, sync[0]);
	if (!err && !wait(rig, sync[1]))
		err = expect("cancelled work", 0, -ESRCH);
	return err ? err : expect_word(rig, RESULT + 1, 0);
}

static const struct {
	const char *name;
	int (*run)(struct rig *rig);
} tests[] = {
	{ "jobs complete in order", test_order },
	{ "timelines across queues", test_timeline },
	{ "barriers", test_barriers },
	{ "a fence of the same queue", test_own_fence },
	{ "priorities", test_priorities },
	{ "more work than the ring holds", test_full_ring },
	{ "more address spaces than contexts", test_many_clients },
	{ "more queues than events", test_many_queues },
	{ "a hundred wait for one", test_no_deadlock },
	{ "a fault takes along what is behind it", test_fault },
	{ "another queue after a fault", test_queue_after_fault },
	{ "a timeout", test_timeout },
	{ "a queue is destroyed while it works", test_destroy },
	{ "a queue is destroyed while it waits", test_destroy_waiting },
};

static int run_test(int (*test)(struct rig *rig))
{
	struct rig rig;
	int err = rig_open(&rig);

	if (err)
		return err;
	err = test(&rig);
	rig_close(&rig);
	return err;
}

int main(int argc, char **argv)
{
	const unsigned int count = sizeof(tests) / sizeof(tests[0]);
	unsigned int i, bad = 0;

	printf("1..%u\n", count);
	for (i = 0; i < count; i++) {
		int err;

		if (argc > 1 && !strstr(tests[i].name, argv[1]))
			continue;
		err = run_test(tests[i].run);
		printf("%sok %u - queue: %s\n", err ? "not " : "", i + 1,
		       tests[i].name);
		if (err && err != -EILSEQ)
			printf("# %s\n", strerror(-err));
		fflush(stdout);
		bad += !!err;
	}
	return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
