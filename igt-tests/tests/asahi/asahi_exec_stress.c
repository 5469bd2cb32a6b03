// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "asahi/asahi_compute.h"
#include "igt.h"
#include "igt_syncobj.h"

/**
 * TEST: asahi exec stress
 * Description: Many clients at once, most of them well-behaved: processes that check
 *	every result, beside others whose shaders fault, whose command streams are
 *	garbage, or that are killed in the middle of their work.
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Command submission
 * Functionality: isolation of clients
 * Test category: stress test
 *
 * SUBTEST: alone
 * Description: Results are right with well-behaved clients only.
 *
 * SUBTEST: beside-faults
 * Description: And beside shaders that fault.
 *
 * SUBTEST: beside-garbage
 * Description: And beside streams of garbage.
 *
 * SUBTEST: beside-killed
 * Description: And beside processes that are killed at work.
 *
 * SUBTEST: nothing-left
 * Description: No object is left of all of them.
 *
 * SUBTEST: afterwards
 * Description: And the GPU works as ever.
 */

#define WORKERS		6
#define ROUNDS		5
#define FAULTS		6
#define VICTIMS		16
#define STREAMS		48
#define STREAM_WORDS	64
/* How often work may be taken down with somebody else's. */
#define MAX_TRIES	100
/* Everything that a child does has to be over by then. */
#define CHILD_SECONDS	150

#define REDUCE_GROUP	256

static uint64_t stress_random_state = 88172645463325252;

static uint32_t stress_random_below(uint32_t end)
{
	/* xorshift64 */
	stress_random_state ^= stress_random_state << 13;
	stress_random_state ^= stress_random_state >> 7;
	stress_random_state ^= stress_random_state << 17;
	return (stress_random_state >> 32) % end;
}

static void stress_assert_words(const uint32_t *got, const uint32_t *expected, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		igt_assert_f(got[i] == expected[i], "word %u is %08x, not %08x\n", i, got[i],
			     expected[i]);
}

struct fill_uniforms {
	uint64_t dst;
	uint32_t value;
};

/* A size that is no multiple of the group: the last group is not full. */
static int stress_run_fill(struct asahi_client *client, uint32_t words)
{
	struct asahi_bo out = igt_asahi_bo_create(client, words * 4 + 64);
	const struct fill_uniforms uniforms = { out.addr, 0x12345678 };
	const struct asahi_dispatch dispatch = {
		.shader = IGT_ASAHI_SHADER_FILL,
		.uniforms = &uniforms,
		.uniform_bytes = sizeof(uniforms),
		.global = { words, 1, 1 },
		.local = { 64, 1, 1 },
	};
	const struct asahi_command command = igt_asahi_command(client, &dispatch, 1);
	const uint32_t *got = out.map;
	int err = igt_asahi_run(client, &command);
	uint32_t i;

	for (i = 0; i < words && !err; i++)
		igt_assert_eq_u32(got[i], uniforms.value + i);
	igt_assert_eq_u32(got[words], 0);
	return err;
}

/* Floats that are no denormals, and whose sums are none. */
static float stress_vecadd_value(uint32_t i)
{
	return (float)(int32_t)(i * 2654435761u) / 1024.0f;
}

static int stress_run_vecadd(struct asahi_client *client, uint32_t words)
{
	struct asahi_bo a = igt_asahi_bo_create(client, words * 4);
	struct asahi_bo b = igt_asahi_bo_create(client, words * 4);
	struct asahi_bo out = igt_asahi_bo_create(client, words * 4);
	const uint64_t uniforms[] = { a.addr, b.addr, out.addr };
	const struct asahi_dispatch dispatch = {
		.shader = IGT_ASAHI_SHADER_VECADD,
		.uniforms = uniforms,
		.uniform_bytes = sizeof(uniforms),
		.global = { words, 1, 1 },
		.local = { 128, 1, 1 },
	};
	const struct asahi_command command = igt_asahi_command(client, &dispatch, 1);
	float *left = a.map, *right = b.map;
	const float *sums = out.map;
	uint32_t i;
	int err;

	for (i = 0; i < words; i++) {
		left[i] = stress_vecadd_value(i);
		right[i] = stress_vecadd_value(i + words);
	}
	err = igt_asahi_run(client, &command);
	for (i = 0; i < words && !err; i++)
		igt_assert(sums[i] == left[i] + right[i]);
	return err;
}

/*
 * The first launch leaves a sum for each of 256 groups, the second one adds those
 * up: shared memory, and an order between launches.
 */
static int stress_run_reduce(struct asahi_client *client, uint32_t unused)
{
	struct asahi_bo in = igt_asahi_bo_create(client, REDUCE_GROUP * REDUCE_GROUP * 4);
	struct asahi_bo sums = igt_asahi_bo_create(client, REDUCE_GROUP * 4);
	const uint64_t first[] = { in.addr, sums.addr };
	const uint64_t second[] = { sums.addr, igt_asahi_word_addr(client, ASAHI_RESULT) };
	const struct asahi_dispatch dispatches[] = {
		{
			.shader = IGT_ASAHI_SHADER_REDUCE,
			.uniforms = first,
			.uniform_bytes = sizeof(first),
			.shared_bytes = REDUCE_GROUP * 4,
			.global = { REDUCE_GROUP * REDUCE_GROUP, 1, 1 },
			.local = { REDUCE_GROUP, 1, 1 },
		}, {
			.shader = IGT_ASAHI_SHADER_REDUCE,
			.uniforms = second,
			.uniform_bytes = sizeof(second),
			.shared_bytes = REDUCE_GROUP * 4,
			.global = { REDUCE_GROUP, 1, 1 },
			.local = { REDUCE_GROUP, 1, 1 },
		},
	};
	const struct asahi_command command = igt_asahi_command(client, dispatches, 2);
	uint32_t expected[REDUCE_GROUP] = { 0 }, total = 0, *words = in.map, i;
	int err;

	(void)unused;
	for (i = 0; i < REDUCE_GROUP * REDUCE_GROUP; i++) {
		words[i] = i * 2246822519u + 7;
		expected[i / REDUCE_GROUP] += words[i];
		total += words[i];
	}
	err = igt_asahi_run(client, &command);
	if (err)
		return err;
	stress_assert_words(sums.map, expected, REDUCE_GROUP);
	igt_assert_eq_u32(client->words[ASAHI_RESULT], total);
	return 0;
}

/* The first launch writes the number of groups of the second one. */
static int stress_run_indirect(struct asahi_client *client, uint32_t groups)
{
	struct asahi_bo counts = igt_asahi_bo_create(client, 12);
	struct asahi_bo out = igt_asahi_bo_create(client, (groups + 1) * 32 * 4);
	const struct fill_uniforms first = { counts.addr, groups };
	const struct fill_uniforms second = { out.addr, 5 };
	const struct asahi_dispatch dispatches[] = {
		{
			.shader = IGT_ASAHI_SHADER_FILL,
			.uniforms = &first,
			.uniform_bytes = sizeof(first),
			.global = { 1, 1, 1 },
			.local = { 1, 1, 1 },
		}, {
			.shader = IGT_ASAHI_SHADER_FILL,
			.uniforms = &second,
			.uniform_bytes = sizeof(second),
			.indirect = counts.addr,
			.local = { 32, 1, 1 },
		},
	};
	const struct asahi_command command = igt_asahi_command(client, dispatches, 2);
	uint32_t *sizes = counts.map, *got = out.map, i;
	int err;

	sizes[1] = 1;
	sizes[2] = 1;
	err = igt_asahi_run(client, &command);
	for (i = 0; i < groups * 32 && !err; i++)
		igt_assert_eq_u32(got[i], 5 + i);
	igt_assert_eq_u32(got[groups * 32], 0);
	return err;
}

/* Jobs after the fault run, unless another client's fault takes them down. */
static int stress_run_fault(struct asahi_client *client, uint32_t value)
{
	const struct asahi_command bad = igt_asahi_store(client, ASAHI_UNMAPPED, 1);
	const struct asahi_command good = igt_asahi_store_word(client, ASAHI_RESULT, value);
	int err = igt_asahi_run(client, &bad);

	igt_assert_neq(err, 0);
	if (err != -EIO)
		return err;
	err = igt_asahi_run(client, &good);
	if (!err)
		igt_assert_eq_u32(client->words[ASAHI_RESULT], value);
	return err;
}

/*
 * A fault or a timeout takes down all that is on the GPU. Whose work was just there
 * is told so, and may try again.
 */
static void stress_run(int fd, int (*work)(struct asahi_client *client, uint32_t size),
		       uint32_t size)
{
	unsigned int tries = 0;
	int err;

	do {
		struct asahi_client *client = igt_asahi_client_open(fd);

		err = work(client, size);
		igt_asahi_client_close(client);
	} while (err == -ECANCELED && tries++ < MAX_TRIES);
	igt_assert_eq(err, 0);
}

static void stress_worker(int fd, unsigned int number)
{
	static const struct {
		int (*run)(struct asahi_client *client, uint32_t size);
		uint32_t size;
	} work[] = {
		{ stress_run_fill, 5000 },
		{ stress_run_vecadd, 3000 },
		{ stress_run_reduce, 0 },
		{ stress_run_indirect, 37 },
		{ stress_run_fill, 30000 },
	};
	unsigned int i, n;

	for (i = 0; i < ROUNDS * ARRAY_SIZE(work); i++) {
		n = (i + number) % ARRAY_SIZE(work);
		stress_run(fd, work[n].run, work[n].size);
	}
}

static void stress_fork_workers(int fd)
{
	igt_fork(child, WORKERS) {
		stress_worker(fd, child);
	}
}

static void stress_join(void)
{
	igt_waitchildren_timeout(CHILD_SECONDS, "processes that work");
}

static void stress_faulter(int fd)
{
	unsigned int i;

	for (i = 0; i < FAULTS; i++)
		stress_run(fd, stress_run_fault, i + 1);
}

/* Command streams that make no sense */

static void stress_random_words(uint32_t *words)
{
	unsigned int i;

	for (i = 0; i < STREAM_WORDS; i++)
		words[i] = stress_random_below(UINT32_MAX) ^ stress_random_below(2);
}

/* Whole blocks with their fields at random; some of them even work. */
static unsigned int stress_random_block(struct asahi_client *client, uint32_t *words)
{
	const uint64_t target = client->arena.addr + stress_random_below(client->arena.size);

	switch (stress_random_below(4)) {
	case 0:
		words[0] = stress_random_below(4) << 27 | 1 << 12 | 1 << 4;
		words[1] = stress_random_below(client->arena.size) & ~63u;
		words[2] = stress_random_below(1 << 16);
		words[3] = stress_random_below(16);
		words[4] = stress_random_below(4);
		words[5] = stress_random_below(512);
		words[6] = stress_random_below(4);
		words[7] = stress_random_below(4);
		return 8;
	case 1:
		words[0] = 3u << 29 | stress_random_below(1 << 21);
		return 1;
	case 2:
		words[0] = 4u << 29;
		words[1] = 0;
		return 2;
	default:
		words[0] = 1u << 29 | stress_random_below(2) << 28 | (target >> 32 & 0xff);
		words[1] = target;
		return 2;
	}
}

static int stress_run_garbage(struct asahi_client *client, unsigned int number)
{
	uint32_t words[STREAM_WORDS + 8];
	struct asahi_command command;
	uint8_t *code = client->arena.map;
	unsigned int n = 0;
	uint64_t i;

	if (number % 2)
		stress_random_words(words);
	else
		while (n < STREAM_WORDS)
			n += stress_random_block(client, words + n);
	/* Words that the streams find in the place of shaders and their setup */
	for (i = 0; i < client->arena.size; i++)
		code[i] = stress_random_below(256);
	command = igt_asahi_command_words(client, words, STREAM_WORDS);
	return igt_asahi_run(client, &command);
}

/* Any end will do that is one: success, a fault, a timeout. */
static void stress_garbage(int fd)
{
	unsigned int i;

	for (i = 0; i < STREAMS; i++) {
		struct asahi_client *client = igt_asahi_client_open(fd);
		int err = stress_run_garbage(client, i);

		igt_asahi_client_close(client);
		igt_assert_f(!err || err == -EIO || err == -ETIMEDOUT || err == -ECANCELED,
			     "stream %u: %s\n", i, strerror(-err));
	}
}

static void stress_test_killed(int fd)
{
	unsigned int i;

	stress_fork_workers(fd);
	for (i = 0; i < VICTIMS; i++) {
		struct igt_helper_process victim = { .use_SIGKILL = true };
		const uint32_t size = 20000 + i % 4 * 20000;

		igt_fork_helper(&victim) {
			for (;;)
				stress_run(fd, stress_run_fill, size);
		}
		usleep(20000 + stress_random_below(180000));
		igt_stop_helper(&victim);
	}
	stress_join();
}

/* Objects that clients own; heaps and tables of the driver's own stay. */
static int stress_count_objects(void)
{
	static const char *const kinds[] = {
		"files", "clients", "vms", "gem-objects", "queues", "jobs",
	};
	unsigned int i;
	int total = 0;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		total += igt_asahi_objects(kinds[i]);
	return total;
}

static void stress_test_nothing_left(int before)
{
	unsigned int i;

	/* Jobs of killed clients may run to their end. */
	for (i = 0; i < 600 && stress_count_objects() > before; i++)
		usleep(100000);
	igt_assert_lte(stress_count_objects(), before);
}

int igt_main()
{
	static int before;
	int fd;

	igt_fixture() {
		fd = drm_open_driver_render(DRIVER_ASAHI);
		igt_asahi_settle();
		before = stress_count_objects();
	}

	igt_describe("Results are right with well-behaved clients only.");
	igt_subtest("alone") {
		stress_fork_workers(fd);
		stress_join();
	}

	igt_describe("And beside shaders that fault.");
	igt_subtest("beside-faults") {
		stress_fork_workers(fd);
		igt_fork(child, 1) {
			stress_faulter(fd);
		}
		stress_join();
	}

	igt_describe("And beside streams of garbage.");
	igt_subtest("beside-garbage") {
		stress_fork_workers(fd);
		igt_fork(child, 1) {
			stress_garbage(fd);
		}
		stress_join();
	}

	igt_describe("And beside processes that are killed at work.");
	igt_subtest("beside-killed") {
		stress_test_killed(fd);
	}

	igt_describe("No object is left of all of them.");
	igt_subtest("nothing-left") {
		stress_test_nothing_left(before);
	}

	igt_describe("And the GPU works as ever.");
	igt_subtest("afterwards") {
		stress_fork_workers(fd);
		stress_join();
	}

	igt_fixture() {
		drm_close_driver(fd);
	}
}
