// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "asahi/asahi_compute.h"
#include "dmabuf_sync_file.h"
#include "igt.h"
#include "igt_syncobj.h"
#include "sw_sync.h"

/**
 * TEST: asahi exec order
 * Description: Jobs wait for the fences that they were given, and for nothing else.
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Command submission
 * Functionality: synchronization
 * Test category: functionality test
 *
 * SUBTEST: side-by-side
 * Description: Commands without barriers run beside each other; without that, no
 *	other subtest here says anything.
 *
 * SUBTEST: barrier-index
 * Description: A barrier is for as many commands of the submission as it says.
 *
 * SUBTEST: barrier-earlier-submits
 * Description: Barrier 0 is for all that was submitted before.
 *
 * SUBTEST: behind-one-that-waits
 * Description: A job that depends on nothing does not overtake one of its queue that waits,
 *	and does of another queue.
 *
 * SUBTEST: each-in-sync
 * Description: Each of several in-syncs is waited for.
 *
 * SUBTEST: own-queue
 * Description: A fence of an earlier job of the same queue is waited for.
 *
 * SUBTEST: timeline-point
 * Description: A late point of a timeline is waited for, an early one is not.
 *
 * SUBTEST: point-to-come
 * Description: A point that nobody has submitted yet is refused, and nothing happens;
 *	the same SUBMIT works once the point has come. The CPU, which can wait for it to be
 *	submitted, sees it signalled.
 *
 * SUBTEST: point-between
 * Description: A point between two others stands for the later one.
 *
 * SUBTEST: point-late-before-early
 * Description: A point whose work is over is waited for as long as one before it is not.
 *
 * SUBTEST: point-zero
 * Description: Point 0 stands for all points that there are.
 *
 * SUBTEST: many-syncs
 * Description: A SUBMIT with a thousand in-syncs and a thousand out-syncs, binary ones and
 *	points of timelines. It waits for the last of the former, and signals all of the
 *	latter, not one of them early.
 *
 * SUBTEST: in-fences-most
 * Description: In-syncs that stand for 8,192 fences. None of them is of the SUBMIT's own
 *	queue, so earlier work of that is not waited for.
 *
 * SUBTEST: in-fences-too-many
 * Description: One more, and earlier work of the queue is waited for as well, since nobody
 *	has looked whether it is among them.
 *
 * SUBTEST: other-client
 * Description: A fence of another client's job is waited for.
 *
 * SUBTEST: user-fence
 * Description: So is one that user space signals.
 *
 * SUBTEST: user-fence-point
 * Description: And one that stands at a point of a timeline.
 *
 * SUBTEST: shared-buffer
 * Description: Clients that share a buffer wait for each other when they publish
 *	their fences there, and only then.
 */

/* A word that was not written yet. */
#define POISON		0x5a5a5a5a
/* The order of jobs that run side by side differs from run to run. */
#define ROUNDS		4
#define IN_SYNCS	3
#define MANY_SYNCS	1000
/* Fences of in-syncs that are looked at, and points of a timeline that stand for them */
#define MAX_IN_FENCES	8192
#define POINTS		128
#define GATES		8

static void exec_order_poison(struct asahi_client *client)
{
	unsigned int i;

	client->words[ASAHI_GATE] = 0;
	client->words[ASAHI_GATE + 1] = 0;
	for (i = 0; i < 16; i++)
		client->words[ASAHI_RESULT + i] = POISON;
}

/* It is still as it was although there was time enough to write it. */
static void exec_order_assert_unwritten(struct asahi_client *client, unsigned int index)
{
	usleep(100000);
	igt_assert_eq_u32(client->words[index], POISON);
}

static void exec_order_assert_soon(struct asahi_client *client, unsigned int index, uint32_t value)
{
	igt_assert_f(igt_asahi_word_becomes(client, index, value), "word %u is %08x, not %08x\n",
		     index, client->words[index], value);
}

static void exec_order_test_side_by_side(struct asahi_client *client)
{
	const uint32_t sync = syncobj_create(client->fd, 0);
	const struct asahi_command commands[] = {
		igt_asahi_gate(client, ASAHI_RESULT, 1),
		igt_asahi_store_word(client, ASAHI_RESULT + 1, 2),
	};
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		exec_order_poison(client);
		igt_asahi_submit(client->fd, client->queue, commands, 2,
				 &(struct asahi_sync){ .out = sync });
		exec_order_assert_soon(client, ASAHI_RESULT + 1, 2);
		igt_assert_eq_u32(client->words[ASAHI_RESULT], POISON);
		client->words[ASAHI_GATE] = 1;
		igt_assert_eq(igt_asahi_wait(client->fd, sync), 0);
	}
}

/*
 * Two gates, and two readers: the first behind one command, the second behind two.
 * Neither the first gate alone nor its place in the ring may let the second go.
 */
static void exec_order_test_barrier_index(struct asahi_client *client)
{
	const uint32_t sync = syncobj_create(client->fd, 0);
	struct asahi_command commands[4];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		commands[i] = igt_asahi_gate_at(client,
						igt_asahi_word_addr(client, ASAHI_GATE + i),
						igt_asahi_word_addr(client, ASAHI_RESULT + i),
						11 + i);
		commands[2 + i] = igt_asahi_after(igt_asahi_copy(client, ASAHI_RESULT + i,
								 ASAHI_RESULT + 2 + i), 1 + i);
	}
	for (i = 0; i < ROUNDS; i++) {
		exec_order_poison(client);
		igt_asahi_submit(client->fd, client->queue, commands, 4,
				 &(struct asahi_sync){ .out = sync });
		exec_order_assert_unwritten(client, ASAHI_RESULT + 2);
		client->words[ASAHI_GATE] = 1;
		exec_order_assert_soon(client, ASAHI_RESULT + 2, 11);
		exec_order_assert_unwritten(client, ASAHI_RESULT + 3);
		client->words[ASAHI_GATE + 1] = 1;
		igt_assert_eq(igt_asahi_wait(client->fd, sync), 0);
		igt_assert_eq_u32(client->words[ASAHI_RESULT + 3], 12);
	}
}

/* Everything that was submitted before, the last command of it too. */
static void exec_order_test_barrier_earlier_submits(struct asahi_client *client)
{
	const uint32_t sync = syncobj_create(client->fd, 0);
	const struct asahi_command commands[] = {
		igt_asahi_store_word(client, ASAHI_RESULT, 1),
		igt_asahi_gate(client, ASAHI_RESULT + 1, 2),
	};
	const struct asahi_command reader =
		igt_asahi_after(igt_asahi_copy(client, ASAHI_RESULT + 1, ASAHI_RESULT + 2), 0);
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		exec_order_poison(client);
		igt_asahi_submit(client->fd, client->queue, commands, 2,
				 &(struct asahi_sync){ .out = 0 });
		igt_asahi_submit_one(client, &reader, sync);
		exec_order_assert_unwritten(client, ASAHI_RESULT + 2);
		client->words[ASAHI_GATE] = 1;
		igt_assert_eq(igt_asahi_wait(client->fd, sync), 0);
		igt_assert_eq_u32(client->words[ASAHI_RESULT + 2], 2);
	}
}

/* A reader of what the gate writes waits for all these fences. */
static void exec_order_wait_behind_gate(struct asahi_client *client,
					const struct drm_asahi_sync *in, unsigned int count)
{
	const struct asahi_command reader = igt_asahi_copy(client, ASAHI_RESULT, ASAHI_RESULT + 1);
	struct drm_asahi_sync syncs[IN_SYNCS + 1];

	memcpy(syncs, in, count * sizeof(*in));
	syncs[count] = (struct drm_asahi_sync){ .handle = syncobj_create(client->fd, 0) };
	igt_assert_eq(__igt_asahi_submit_syncs(client->fd, client->queue, &reader, 1, syncs, count,
					       1), 0);
	exec_order_assert_unwritten(client, ASAHI_RESULT + 1);
	igt_assert(!igt_asahi_signalled(client->fd, syncs[count].handle));
	client->words[ASAHI_GATE] = 1;
	igt_assert_eq(igt_asahi_wait(client->fd, syncs[count].handle), 0);
	igt_assert_eq_u32(client->words[ASAHI_RESULT + 1], 7);
}

/*
 * One of several is late, each of them in turn. They come from queues of their
 * own: on the same one, all fences behind the late one are late.
 */
static void exec_order_test_each_in_sync(struct asahi_client *client)
{
	const struct asahi_command gate = igt_asahi_gate(client, ASAHI_RESULT, 7);
	const struct asahi_command store = igt_asahi_store_word(client, ASAHI_RESULT + 2, 1);
	struct drm_asahi_sync in[IN_SYNCS] = { 0 };
	uint32_t queues[IN_SYNCS];
	unsigned int i, late;

	for (i = 0; i < IN_SYNCS; i++)
		queues[i] = igt_asahi_queue_create(client->fd, client->vm,
						   DRM_ASAHI_PRIORITY_MEDIUM, 0);
	for (late = 0; late < IN_SYNCS; late++) {
		exec_order_poison(client);
		for (i = 0; i < IN_SYNCS; i++) {
			in[i].handle = syncobj_create(client->fd, 0);
			igt_asahi_submit(client->fd, queues[i], i == late ? &gate : &store, 1,
					 &(struct asahi_sync){ .out = in[i].handle });
		}
		exec_order_wait_behind_gate(client, in, IN_SYNCS);
	}
}

/* Jobs of one queue run side by side, too, unless they say something else. */
static void exec_order_test_own_queue(struct asahi_client *client)
{
	const struct asahi_command gate = igt_asahi_gate(client, ASAHI_RESULT, 7);
	const struct drm_asahi_sync in = { .handle = syncobj_create(client->fd, 0) };
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		exec_order_poison(client);
		igt_asahi_submit_one(client, &gate, in.handle);
		exec_order_wait_behind_gate(client, &in, 1);
	}
}

/* A point that another queue signals late, behind one that came early. */
static void exec_order_test_timeline_point(struct asahi_client *client)
{
	const uint32_t timeline = syncobj_create(client->fd, 0);
	const uint32_t first = syncobj_create(client->fd, 0);
	const struct asahi_command gate = igt_asahi_gate(client, ASAHI_RESULT, 7);
	const struct asahi_command store = igt_asahi_store_word(client, ASAHI_RESULT + 2, 1);
	const struct drm_asahi_sync point = {
		.sync_type = DRM_ASAHI_SYNC_TIMELINE_SYNCOBJ,
		.handle = timeline,
		.timeline_value = 9,
	};
	uint32_t early, late;

	exec_order_poison(client);
	early = igt_asahi_queue_create(client->fd, client->vm, DRM_ASAHI_PRIORITY_MEDIUM, 0);
	late = igt_asahi_queue_create(client->fd, client->vm, DRM_ASAHI_PRIORITY_LOW, 0);
	igt_asahi_submit(client->fd, early, &store, 1,
			 &(struct asahi_sync){ .out = timeline, .out_point = 5 });
	igt_asahi_submit(client->fd, late, &gate, 1,
			 &(struct asahi_sync){ .out = timeline, .out_point = 9 });
	igt_asahi_submit(client->fd, client->queue, &store, 1,
			 &(struct asahi_sync){ .in = timeline, .in_point = 5, .out = first });
	igt_assert_eq(igt_asahi_wait(client->fd, first), 0);
	exec_order_wait_behind_gate(client, &point, 1);
}

/* Waits on the CPU for a point that may not be there yet. */
struct cpu_wait {
	pthread_t thread;
	int fd;
	uint32_t timeline;
	uint64_t point;
	int err;
	atomic_bool over;
};

static void *exec_order_cpu_wait_run(void *data)
{
	struct cpu_wait *wait = data;
	struct drm_syncobj_timeline_wait args = {
		.handles = (uintptr_t)&wait->timeline,
		.points = (uintptr_t)&wait->point,
		.timeout_nsec = INT64_MAX,
		.count_handles = 1,
		.flags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT,
	};

	wait->err = drmIoctl(wait->fd, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &args) ? -errno : 0;
	wait->over = true;
	return NULL;
}

/* The point is not there: SUBMIT says so, runs nothing and leaves its out-sync alone. */
static void exec_order_refuse_point(struct asahi_client *client,
				    const struct asahi_command *command, struct asahi_sync sync)
{
	igt_assert_eq(__igt_asahi_submit(client->fd, client->queue, command, 1, &sync), -EINVAL);
	exec_order_assert_unwritten(client, ASAHI_RESULT + 1);
	igt_assert_eq(syncobj_wait_err(client->fd, &sync.out, 1, 0, 0), -EINVAL);
}

static void exec_order_test_point_to_come(struct asahi_client *client)
{
	const uint32_t timeline = syncobj_create(client->fd, 0);
	const struct asahi_sync sync = { .in = timeline, .in_point = 5,
					 .out = syncobj_create(client->fd, 0) };
	const struct asahi_command gate = igt_asahi_gate(client, ASAHI_RESULT, 7);
	const struct asahi_command reader = igt_asahi_copy(client, ASAHI_RESULT, ASAHI_RESULT + 1);
	const uint32_t other =
		igt_asahi_queue_create(client->fd, client->vm, DRM_ASAHI_PRIORITY_MEDIUM, 0);
	struct cpu_wait wait = { .fd = client->fd, .timeline = timeline, .point = 5 };

	exec_order_poison(client);
	igt_assert_eq(pthread_create(&wait.thread, NULL, exec_order_cpu_wait_run, &wait), 0);
	exec_order_refuse_point(client, &reader, sync);
	igt_asahi_submit(client->fd, other, &gate, 1,
			 &(struct asahi_sync){ .out = timeline, .out_point = 4 });
	exec_order_refuse_point(client, &reader, sync);
	igt_asahi_submit(client->fd, other, &gate, 1,
			 &(struct asahi_sync){ .out = timeline, .out_point = 5 });
	igt_asahi_submit(client->fd, client->queue, &reader, 1, &sync);
	exec_order_assert_unwritten(client, ASAHI_RESULT + 1);
	igt_assert(!wait.over);
	client->words[ASAHI_GATE] = 1;
	pthread_join(wait.thread, NULL);
	igt_assert_eq(wait.err, 0);
	igt_assert_eq(igt_asahi_wait(client->fd, sync.out), 0);
	igt_assert_eq_u32(client->words[ASAHI_RESULT + 1], 7);
}

/* A timeline with the points 2 and 5, of which the work of @late waits at the gate */
static uint32_t exec_order_two_points(struct asahi_client *client, uint64_t late)
{
	const uint32_t timeline = syncobj_create(client->fd, 0);
	const struct asahi_command gate = igt_asahi_gate(client, ASAHI_RESULT, 7);
	const struct asahi_command store = igt_asahi_store_word(client, ASAHI_RESULT + 2, 1);
	uint64_t point;

	exec_order_poison(client);
	for (point = 2; point <= 5; point += 3)
		igt_asahi_submit(client->fd,
				 igt_asahi_queue_create(client->fd, client->vm,
							DRM_ASAHI_PRIORITY_MEDIUM, 0),
				 point == late ? &gate : &store, 1,
				 &(struct asahi_sync){ .out = timeline, .out_point = point });
	exec_order_assert_soon(client, ASAHI_RESULT + 2, 1);
	return timeline;
}

static void exec_order_wait_for_point(struct asahi_client *client, uint32_t timeline,
				      uint64_t point)
{
	exec_order_wait_behind_gate(client, &(struct drm_asahi_sync){
				 .sync_type = DRM_ASAHI_SYNC_TIMELINE_SYNCOBJ,
				 .handle = timeline,
				 .timeline_value = point }, 1);
}

static void exec_order_test_point_between(struct asahi_client *client)
{
	exec_order_wait_for_point(client, exec_order_two_points(client, 5), 3);
}

static void exec_order_test_point_late_before_early(struct asahi_client *client)
{
	exec_order_wait_for_point(client, exec_order_two_points(client, 2), 5);
}

static void exec_order_test_point_zero(struct asahi_client *client)
{
	exec_order_wait_for_point(client, exec_order_two_points(client, 2), 0);
	exec_order_wait_for_point(client, exec_order_two_points(client, 5), 0);
}

/* Half of them are binary, half points of one timeline. */
static void exec_order_many_outs(int fd, struct drm_asahi_sync *outs)
{
	const uint32_t timeline = syncobj_create(fd, 0);
	unsigned int i;

	for (i = 0; i < MANY_SYNCS; i += 2) {
		outs[i] = (struct drm_asahi_sync){ .handle = syncobj_create(fd, 0) };
		outs[i + 1] = (struct drm_asahi_sync){
			.sync_type = DRM_ASAHI_SYNC_TIMELINE_SYNCOBJ,
			.handle = timeline,
			.timeline_value = i + 1,
		};
	}
}

/* Each of the gates signals a binary sync object and a point of a timeline. */
static void exec_order_submit_gates(struct asahi_client *client, struct drm_asahi_sync *syncs)
{
	const uint32_t timeline = syncobj_create(client->fd, 0);
	unsigned int i;

	for (i = 0; i < GATES; i++) {
		const struct asahi_command gate =
			igt_asahi_gate_at(client, igt_asahi_word_addr(client, ASAHI_GATE + i),
					  igt_asahi_word_addr(client, ASAHI_RESULT + 2 + i), 1);
		struct drm_asahi_sync *sync = &syncs[2 * i];
		const uint32_t queue = igt_asahi_queue_create(client->fd, client->vm,
							      DRM_ASAHI_PRIORITY_MEDIUM, 0);

		sync[0] = (struct drm_asahi_sync){ .handle = syncobj_create(client->fd, 0) };
		sync[1] = (struct drm_asahi_sync){
			.sync_type = DRM_ASAHI_SYNC_TIMELINE_SYNCOBJ,
			.handle = timeline,
			.timeline_value = i + 1,
		};
		igt_assert_eq(__igt_asahi_submit_syncs(client->fd, queue, &gate, 1, sync, 0, 2),
			      0);
	}
}

static bool exec_order_sync_signalled(int fd, const struct drm_asahi_sync *sync)
{
	uint32_t handle = sync->handle;
	uint64_t point = sync->timeline_value;

	return syncobj_timeline_wait(fd, &handle, &point, 1, 0, 0, NULL);
}

static void exec_order_count_outs(int fd, const struct drm_asahi_sync *outs, unsigned int expected)
{
	unsigned int i, count = 0;

	for (i = 0; i < MANY_SYNCS; i++)
		count += exec_order_sync_signalled(fd, &outs[i]);
	igt_assert_eq(count, expected);
}

/* The gates are opened one by one, the last of them at the end. */
static void exec_order_test_many_syncs(struct asahi_client *client)
{
	static struct drm_asahi_sync syncs[2 * MANY_SYNCS];
	struct drm_asahi_sync *outs = syncs + MANY_SYNCS;
	const struct asahi_command store = igt_asahi_store_word(client, ASAHI_RESULT, 9);
	unsigned int i;

	exec_order_poison(client);
	for (i = 0; i < GATES; i++)
		client->words[ASAHI_GATE + i] = 0;
	exec_order_submit_gates(client, syncs);
	for (i = 2 * GATES; i < MANY_SYNCS; i++)
		syncs[i] = syncs[i % (2 * GATES)];
	exec_order_many_outs(client->fd, outs);
	igt_assert_eq(__igt_asahi_submit_syncs(client->fd, client->queue, &store, 1, syncs,
					       MANY_SYNCS, MANY_SYNCS), 0);
	for (i = 0; i + 1 < GATES; i++)
		client->words[ASAHI_GATE + i] = 1;
	exec_order_assert_unwritten(client, ASAHI_RESULT);
	exec_order_count_outs(client->fd, outs, 0);
	client->words[ASAHI_GATE + i] = 1;
	igt_assert_eq(igt_asahi_wait(client->fd, outs[0].handle), 0);
	exec_order_count_outs(client->fd, outs, MANY_SYNCS);
	igt_assert_eq_u32(client->words[ASAHI_RESULT], 9);
}

/*
 * Return: a timeline of POINTS points. Its job waits for a fence of user space, which costs no
 * time of the GPU's, however long the SUBMITs take.
 */
static uint32_t exec_order_long_timeline(struct asahi_client *client, uint32_t late)
{
	const struct asahi_command store = igt_asahi_store_word(client, ASAHI_RESULT + 2, 1);
	const uint32_t timeline = syncobj_create(client->fd, 0);
	const uint32_t queue = igt_asahi_queue_create(client->fd, client->vm,
						      DRM_ASAHI_PRIORITY_MEDIUM, 0);
	struct drm_asahi_sync syncs[1 + POINTS] = { { .handle = late } };
	unsigned int i;

	for (i = 1; i <= POINTS; i++)
		syncs[i] = (struct drm_asahi_sync){
			.sync_type = DRM_ASAHI_SYNC_TIMELINE_SYNCOBJ,
			.handle = timeline,
			.timeline_value = i,
		};
	igt_assert_eq(__igt_asahi_submit_syncs(client->fd, queue, &store, 1, syncs, 1, POINTS), 0);
	return timeline;
}

/* A store to RESULT + 3: an in-sync stands for all points of @timeline up to its own. */
static void exec_order_submit_behind(struct asahi_client *client, uint32_t timeline,
				     unsigned int fences, uint32_t out)
{
	const struct asahi_command store = igt_asahi_store_word(client, ASAHI_RESULT + 3, 9);
	struct drm_asahi_sync syncs[MAX_IN_FENCES / POINTS + 2];
	unsigned int count = 0, point;

	for (; fences; fences -= point) {
		point = fences < POINTS ? fences : POINTS;
		syncs[count++] = (struct drm_asahi_sync){
			.sync_type = DRM_ASAHI_SYNC_TIMELINE_SYNCOBJ,
			.handle = timeline,
			.timeline_value = point,
		};
	}
	syncs[count] = (struct drm_asahi_sync){ .handle = out };
	igt_assert_eq(__igt_asahi_submit_syncs(client->fd, client->queue, &store, 1, syncs, count,
					       1), 0);
}

/* Behind a gate of its own queue, and in-syncs that stand for so many fences of another one */
static void exec_order_wait_for_many(struct asahi_client *client, unsigned int fences, bool behind)
{
	const struct asahi_command gate = igt_asahi_gate(client, ASAHI_RESULT, 1);
	const uint32_t sync = syncobj_create(client->fd, 0);
	uint32_t points;
	int timeline;

	igt_require_sw_sync();
	timeline = sw_sync_timeline_create();
	exec_order_poison(client);
	points = exec_order_long_timeline(client, igt_asahi_late_fence(client->fd, timeline));
	igt_asahi_submit_one(client, &gate, 0);
	exec_order_submit_behind(client, points, fences, sync);
	exec_order_assert_unwritten(client, ASAHI_RESULT + 3);
	sw_sync_timeline_inc(timeline, 1);
	if (!behind) {
		exec_order_assert_soon(client, ASAHI_RESULT + 3, 9);
	} else {
		igt_assert_eq(igt_asahi_wait(client->fd, points), 0);
		exec_order_assert_unwritten(client, ASAHI_RESULT + 3);
	}
	igt_assert_eq_u32(client->words[ASAHI_RESULT], POISON);
	client->words[ASAHI_GATE] = 1;
	igt_assert_eq(igt_asahi_wait(client->fd, sync), 0);
	igt_assert_eq_u32(client->words[ASAHI_RESULT + 3], 9);
	close(timeline);
}

static void exec_order_test_in_fences_most(struct asahi_client *client)
{
	exec_order_wait_for_many(client, MAX_IN_FENCES, false);
}

static void exec_order_test_in_fences_too_many(struct asahi_client *client)
{
	exec_order_wait_for_many(client, MAX_IN_FENCES + 1, true);
}

static void exec_order_test_other_client(struct asahi_client *client)
{
	struct asahi_client *other = igt_asahi_client_open(client->fd);
	const struct asahi_command gate = igt_asahi_gate(other, ASAHI_RESULT, 7);
	const struct asahi_command store = igt_asahi_store_word(client, ASAHI_RESULT, 3);
	const uint32_t theirs = syncobj_create(other->fd, 0);
	const uint32_t sync = syncobj_create(client->fd, 0);
	struct asahi_sync ours = { .out = sync };

	exec_order_poison(client);
	igt_asahi_submit_one(other, &gate, theirs);
	ours.in = igt_asahi_pass_fence(other->fd, theirs, client->fd);
	igt_asahi_submit(client->fd, client->queue, &store, 1, &ours);
	exec_order_assert_unwritten(client, ASAHI_RESULT);
	other->words[ASAHI_GATE] = 1;
	igt_assert_eq(igt_asahi_wait(client->fd, sync), 0);
	igt_assert_eq_u32(client->words[ASAHI_RESULT], 3);
}

static void exec_order_user_fence(struct asahi_client *client, uint64_t point)
{
	const struct asahi_command store = igt_asahi_store_word(client, ASAHI_RESULT, 3);
	const uint32_t sync = syncobj_create(client->fd, 0);
	const uint32_t points = syncobj_create(client->fd, 0);
	uint32_t fence;
	int timeline;

	igt_require_sw_sync();
	exec_order_poison(client);
	timeline = sw_sync_timeline_create();
	fence = igt_asahi_late_fence(client->fd, timeline);
	if (point)
		syncobj_binary_to_timeline(client->fd, points, point, fence);
	igt_asahi_submit(client->fd, client->queue, &store, 1,
			 &(struct asahi_sync){ .in = point ? points : fence, .in_point = point,
					       .out = sync });
	exec_order_assert_unwritten(client, ASAHI_RESULT);
	sw_sync_timeline_inc(timeline, 1);
	igt_assert_eq(igt_asahi_wait(client->fd, sync), 0);
	igt_assert_eq_u32(client->words[ASAHI_RESULT], 3);
	close(timeline);
}

static void exec_order_test_user_fence(struct asahi_client *client)
{
	exec_order_user_fence(client, 0);
}

static void exec_order_test_user_fence_point(struct asahi_client *client)
{
	exec_order_user_fence(client, 3);
}

/* Says that a fence writes the buffer, as window systems want it. */
static void exec_order_publish_write(int fd, uint32_t syncobj, int dmabuf)
{
	int file = syncobj_handle_to_fd(fd, syncobj,
					DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE);

	dmabuf_import_sync_file(dmabuf, DMA_BUF_SYNC_WRITE, file);
	close(file);
}

/* Return: a sync object with the fences to wait for before the buffer is read. */
static uint32_t exec_order_import_reads(int fd, int dmabuf)
{
	int file = dmabuf_export_sync_file(dmabuf, DMA_BUF_SYNC_READ);
	uint32_t syncobj = syncobj_create(fd, 0);

	syncobj_import_sync_file(fd, syncobj, file);
	close(file);
	return syncobj;
}

static void exec_order_test_shared_buffer(struct asahi_client *client)
{
	struct asahi_client *other = igt_asahi_client_open(client->fd);
	const struct asahi_command gate = igt_asahi_gate(client, ASAHI_RESULT, 7);
	const struct asahi_command store = igt_asahi_store_word(other, ASAHI_RESULT, 3);
	const uint32_t handle = igt_asahi_gem_create(client->fd, IGT_ASAHI_PAGE, 0, 0, 0);
	const uint32_t sync = syncobj_create(client->fd, 0);
	const uint32_t done = syncobj_create(other->fd, 0);
	const int dmabuf = prime_handle_to_fd(client->fd, handle);

	exec_order_poison(client);
	exec_order_poison(other);
	igt_asahi_vm_bind_one(client->fd, client->vm, DRM_ASAHI_BIND_READ, handle, 0,
			      IGT_ASAHI_PAGE, ASAHI_FREE_START, 0);
	igt_asahi_submit_one(client, &gate, sync);
	/* The driver itself makes nobody wait. */
	igt_assert(!dmabuf_busy(dmabuf, DMA_BUF_SYNC_READ));
	exec_order_publish_write(client->fd, sync, dmabuf);
	igt_assert(dmabuf_busy(dmabuf, DMA_BUF_SYNC_READ));
	igt_asahi_submit(other->fd, other->queue, &store, 1,
			 &(struct asahi_sync){ .in = exec_order_import_reads(other->fd, dmabuf),
					       .out = done });
	exec_order_assert_unwritten(other, ASAHI_RESULT);
	client->words[ASAHI_GATE] = 1;
	igt_assert_eq(igt_asahi_wait(other->fd, done), 0);
	igt_assert(!dmabuf_busy(dmabuf, DMA_BUF_SYNC_READ));
	igt_assert_eq_u32(other->words[ASAHI_RESULT], 3);
	close(dmabuf);
}

/* The queue and the address space have had a job, so that nothing else has to be waited for. */
static void exec_order_test_behind_one_that_waits(struct asahi_client *client)
{
	const struct asahi_command store = igt_asahi_store_word(client, ASAHI_RESULT, 1);
	uint32_t waits = syncobj_create(client->fd, 0), behind = syncobj_create(client->fd, 0);
	uint32_t beside = syncobj_create(client->fd, 0), queue;
	int timeline;

	igt_require_sw_sync();
	timeline = sw_sync_timeline_create();
	queue = igt_asahi_queue_create(client->fd, client->vm, DRM_ASAHI_PRIORITY_MEDIUM, 0);
	igt_assert_eq(igt_asahi_run(client, &store), 0);

	igt_asahi_submit(client->fd, client->queue, &store, 1,
			 &(struct asahi_sync){ .in = igt_asahi_late_fence(client->fd, timeline),
					       .out = waits });
	igt_asahi_submit(client->fd, client->queue, &store, 1,
			 &(struct asahi_sync){ .out = behind });
	igt_asahi_submit(client->fd, queue, &store, 1, &(struct asahi_sync){ .out = beside });
	igt_assert_eq(igt_asahi_wait(client->fd, beside), 0);
	usleep(50000);
	igt_assert_eq(syncobj_wait_err(client->fd, &behind, 1, 0, 0), -ETIME);
	igt_assert_eq(syncobj_wait_err(client->fd, &waits, 1, 0, 0), -ETIME);

	sw_sync_timeline_inc(timeline, 1);
	close(timeline);
	igt_assert_eq(igt_asahi_wait(client->fd, behind), 0);
	igt_assert_eq(syncobj_wait_err(client->fd, &waits, 1, 0, 0), 0);
	igt_asahi_queue_destroy(client->fd, queue, 0);
}

static const struct asahi_client_test exec_order_tests[] = {
	{"side-by-side", "Commands without barriers run beside each other.",
	 exec_order_test_side_by_side},
	{"barrier-index", "A barrier is for as many commands as it says.",
	 exec_order_test_barrier_index},
	{"barrier-earlier-submits", "Barrier 0 is for all that was submitted before.",
	 exec_order_test_barrier_earlier_submits},
	{"behind-one-that-waits", "No job overtakes one of its queue.",
	 exec_order_test_behind_one_that_waits},
	{"each-in-sync", "Each of several in-syncs is waited for.", exec_order_test_each_in_sync},
	{"own-queue", "A fence of the same queue is waited for.", exec_order_test_own_queue},
	{"timeline-point", "A late point is waited for, an early one is not.",
	 exec_order_test_timeline_point},
	{"point-to-come", "A point that is not submitted yet.", exec_order_test_point_to_come},
	{"point-between", "A point stands for a later one.", exec_order_test_point_between},
	{"point-late-before-early", "A point includes all that are before it.",
	 exec_order_test_point_late_before_early},
	{"point-zero", "Point 0 stands for all points.", exec_order_test_point_zero},
	{"many-syncs", "A thousand in-syncs and a thousand out-syncs.", exec_order_test_many_syncs},
	{"in-fences-most", "In-syncs of as many fences as are looked at.",
	 exec_order_test_in_fences_most},
	{"in-fences-too-many", "In-syncs of one more.", exec_order_test_in_fences_too_many},
	{"other-client", "A fence of another client's job is waited for.",
	 exec_order_test_other_client},
	{"user-fence", "A fence that user space signals is waited for.",
	 exec_order_test_user_fence},
	{"user-fence-point", "The same at a point of a timeline.",
	 exec_order_test_user_fence_point},
	{"shared-buffer", "Clients wait for each other through a buffer that they share.",
	 exec_order_test_shared_buffer},
};

int igt_main()
{
	igt_asahi_client_tests(exec_order_tests, ARRAY_SIZE(exec_order_tests));
}
