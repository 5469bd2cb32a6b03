// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Many clients at once, most of them well-behaved: processes that check every
 * result, beside others whose shaders fault, whose command streams are
 * garbage, or that are killed in the middle of their work. Afterwards the
 * driver must hold none of their objects any more.
 */
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "compute_tests.h"
#include "tap.h"

#define WORKERS		6
#define ROUNDS		5
#define FAULTS		6
#define VICTIMS		16
#define STREAMS		48
#define STREAM_WORDS	64
/* everything that a child does has to be over by then */
#define CHILD_SECONDS	150

#define OBJECTS		"/sys/kernel/debug/asahi/objects"

static uint64_t random_state = 88172645463325252;

static uint32_t random_below(uint32_t end)
{
	/* xorshift64 */
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state >> 32) % end;
}

static void sleep_ms(unsigned int ms)
{
	const struct timespec ts = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&ts, NULL);
}

/* Children: a function of their own each, 0 when all was well */

static pid_t start(int (*child)(unsigned int), unsigned int number)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		tap_bail_out("fork");
	if (pid)
		return pid;
	random_state += 1000003 * (number + 1);
	alarm(CHILD_SECONDS);
	_exit(child(number) ? EXIT_FAILURE : EXIT_SUCCESS);
}

static bool succeeded(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		return false;
	if (WIFSIGNALED(status))
		printf("# a child ended with signal %d\n", WTERMSIG(status));
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

static const struct compute_test *test_named(const char *name)
{
	const struct compute_test *test = compute_tests;

	while (strcmp(test->name, name))
		test++;
	return test;
}

static int run_test(const char *name, uint32_t size)
{
	const struct compute_options options = {
		.size = size,
		.iterations = 64,
	};
	struct compute ctx;
	int err = compute_open(&ctx, NULL);

	if (err)
		return err;
	err = test_named(name)->run(&ctx, &options);
	compute_close(&ctx);
	if (err)
		fprintf(stderr, "%s: %s\n", name, strerror(-err));
	return err;
}

static int worker(unsigned int number)
{
	static const struct {
		const char *name;
		uint32_t size;
	} work[] = {
		{ "fill", 5000 },
		{ "vecadd", 3000 },
		{ "reduce", 0 },
		{ "indirect", 0 },
		{ "mandelbrot", 96 },
	};
	unsigned int i;
	int err = 0;

	for (i = 0; i < ROUNDS * 5 && !err; i++)
		err = run_test(work[(i + number) % 5].name,
			       work[(i + number) % 5].size);
	return err;
}

static int faulter(unsigned int number)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < FAULTS && !err; i++)
		err = run_test("fault", 0);
	return err;
}

/* Never comes to its end by itself: is killed. */
static int victim(unsigned int number)
{
	int err = 0;

	while (!err)
		err = run_test("mandelbrot", 64 + 64 * (number % 4));
	return err;
}

/* Command streams that make no sense */

static void put_random_words(uint32_t *words)
{
	unsigned int i;

	for (i = 0; i < STREAM_WORDS; i++)
		words[i] = random_below(UINT32_MAX) ^ random_below(2);
}

/* Whole packets with their fields at random; some of them even work. */
static void put_random_packets(struct compute *ctx, void *map)
{
	struct agx_writer w;

	agx_writer_init(&w, map, STREAM_WORDS * 4);
	while (!w.error) {
		switch (random_below(4)) {
		case 0:
			agx_put(&w, cdm_launch,
				.mode = (enum agx_cdm_mode)random_below(4),
				.pipeline = random_below(1 << 20) & ~63u);
			agx_put(&w, cdm_global_size, .x = random_below(1 << 16),
				.y = random_below(16), .z = random_below(4));
			agx_put(&w, cdm_local_size, .x = random_below(512),
				.y = random_below(4), .z = random_below(4));
			break;
		case 1:
			agx_put(&w, cdm_barrier, .unk_4 = random_below(1 << 17),
				.returns = !random_below(4));
			break;
		case 2:
			agx_put_default(&w, cdm_stream_return);
			break;
		default:
			agx_put(&w, cdm_stream_link,
				.target = ctx->code.addr +
					  random_below(1 << 20),
				.with_return = random_below(2));
			break;
		}
	}
}

/* What the streams find where shader words and programs should be */
static void put_random_code(struct compute *ctx)
{
	uint8_t *code = ctx->code.map;
	uint64_t i;

	for (i = 0; i < ctx->code.size; i++)
		code[i] = random_below(256);
}

static int run_garbage(struct compute *ctx, unsigned int number)
{
	struct compute_stream stream;
	int err = compute_stream_new(ctx, &stream);

	if (err)
		return err;
	put_random_code(ctx);
	if (number % 2)
		put_random_words(stream.buffer.map);
	else
		put_random_packets(ctx, stream.buffer.map);
	stream.writer.used = STREAM_WORDS * 4;
	err = compute_stream_run(&stream);
	compute_stream_free(&stream);
	return err;
}

/* Any end will do that is one: success, a fault, a timeout. */
static int garbage(unsigned int number)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < STREAMS && !err; i++) {
		struct compute ctx;

		err = compute_open(&ctx, NULL);
		if (err)
			return err;
		err = run_garbage(&ctx, i);
		compute_close(&ctx);
		if (err == -EIO || err == -ETIMEDOUT)
			err = 0;
		else if (err)
			fprintf(stderr, "stream %u: %s\n", i, strerror(-err));
	}
	return err;
}

/* Tests */

static void test_workers(const char *beside, int (*other)(unsigned int))
{
	pid_t workers[WORKERS];
	pid_t neighbour = 0;
	unsigned int good = 0;
	unsigned int i;

	for (i = 0; i < WORKERS; i++)
		workers[i] = start(worker, i);
	if (other)
		neighbour = start(other, WORKERS);
	for (i = 0; i < WORKERS; i++)
		good += succeeded(workers[i]);
	tap(good == WORKERS, "%u of %u processes got right results %s", good,
	    WORKERS, beside);
	if (other)
		tap(succeeded(neighbour), "%s: and they ended as they should",
		    beside);
}

static void test_kills(void)
{
	pid_t workers[WORKERS];
	unsigned int killed = 0;
	unsigned int good = 0;
	unsigned int i;

	for (i = 0; i < WORKERS; i++)
		workers[i] = start(worker, i);
	for (i = 0; i < VICTIMS; i++) {
		pid_t pid = start(victim, i);
		int status;

		sleep_ms(20 + random_below(180));
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	}
	for (i = 0; i < WORKERS; i++)
		good += succeeded(workers[i]);
	tap(killed == VICTIMS, "%u of %u processes were killed at work", killed,
	    VICTIMS);
	tap(good == WORKERS,
	    "%u of %u processes got right results beside killed ones", good,
	    WORKERS);
}

/* Objects that clients own; heaps and tables of the driver's own stay. */
static int count_objects(void)
{
	static const char *const kinds[] = {
		"files", "vms", "gem-objects", "queues", "jobs",
	};
	FILE *fp = fopen(OBJECTS, "r");
	char name[32];
	int total = 0;
	int count;
	size_t i;

	if (!fp)
		return -1;
	while (fscanf(fp, "%31s %d", name, &count) == 2) {
		for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
			total += strcmp(name, kinds[i]) ? 0 : count;
	}
	fclose(fp);
	return total;
}

static void test_objects(int before)
{
	int after = -1;
	unsigned int i;

	if (before < 0) {
		printf("ok %u - no object is left # SKIP no debugfs\n",
		       ++tap_number);
		return;
	}
	/* jobs of killed clients may run to their end */
	for (i = 0; i < 100 && after != before; i++) {
		after = count_objects();
		sleep_ms(100);
	}
	tap(after == before, "no object is left (%d before, %d after)", before,
	    after);
}

int main(void)
{
	int before = count_objects();

	test_workers("alone", NULL);
	test_workers("beside shaders that fault", faulter);
	test_workers("beside streams of garbage", garbage);
	test_kills();
	test_objects(before);
	test_workers("at the end", NULL);
	return tap_end();
}
