// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * What a trace's file says, line by line; that it is JSON is checked where a machine
 * has made a longer one.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "clock.h"
#include "gpu/trace.h"

#define SPANS	1000
#define THREADS	4

static char path[] = "/tmp/trace.XXXXXX";

static int setup(void **state)
{
	int fd = mkstemp(path);

	return fd < 0 || close(fd);
}

static int teardown(void **state)
{
	unlink(path);
	strcpy(path, "/tmp/trace.XXXXXX");
	return 0;
}

/* The lines of the file, with NULL behind the last one */
static char **read_lines(void)
{
	char **lines = calloc(THREADS * (SPANS + 1) + 4, sizeof(*lines)), buffer[512];
	FILE *file = fopen(path, "re");
	unsigned int n = 0;

	assert_non_null(lines);
	assert_non_null(file);
	while (fgets(buffer, sizeof(buffer), file))
		lines[n++] = strdup(buffer);
	fclose(file);
	return lines;
}

static void free_lines(char **lines)
{
	for (unsigned int i = 0; lines[i]; i++)
		free(lines[i]);
	free(lines);
}

static void test_span(void **state)
{
	static const struct vagx_trace_arg args[] = { { "job", 7 }, { "most", UINT64_MAX } };
	struct vagx_trace *trace = vagx_trace_open(path, NULL);
	char **lines, rest[256];
	uint64_t begin, us, dur_us;
	unsigned int ns, dur_ns;

	assert_non_null(trace);
	begin = vagx_trace_now(trace);
	vagx_trace_span(trace, "compute", begin, args, 2);
	/* Not before it began */
	vagx_trace_span(trace, "late", UINT64_MAX, NULL, 0);
	assert_int_equal(vagx_trace_close(trace), 0);

	lines = read_lines();
	assert_string_equal(lines[0], "[\n");
	assert_non_null(strstr(lines[1], "\"process_name\""));
	assert_non_null(strstr(lines[2], "\"thread_name\""));
	assert_int_equal(sscanf(lines[3], "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":%" SCNu64
				".%u,\"dur\":%" SCNu64 ".%u,%255s", &us, &ns, &dur_us, &dur_ns,
				rest), 5);
	assert_int_equal(us * 1000 + ns, begin);
	assert_true(dur_us < 60000000);
	assert_string_equal(rest, "\"name\":\"compute\",\"args\":{\"job\":7,"
			    "\"most\":18446744073709551615}},");
	assert_non_null(strstr(lines[4], "\"dur\":0.000,\"name\":\"late\",\"args\":{}}\n"));
	assert_string_equal(lines[5], "]\n");
	assert_null(lines[6]);
	free_lines(lines);
}

/* Times are the guest's: 24 million ticks are a second */
static void test_guest_time(void **state)
{
	struct vagx_clock *clock = vagx_clock_new();
	struct vagx_trace *trace = vagx_trace_open(path, clock);
	uint64_t now;

	assert_non_null(trace);
	vagx_clock_set(clock, 24000000, 24000000 * UINT64_C(5000), vagx_clock_host_ns());
	now = vagx_trace_now(trace);
	assert_in_range(now, UINT64_C(5000000000000), UINT64_C(5060000000000));
	assert_int_equal(vagx_trace_close(trace), 0);
	vagx_clock_free(clock);
}

static void *write_spans(void *arg)
{
	for (unsigned int i = 0; i < SPANS; i++)
		vagx_trace_span(arg, "work", vagx_trace_now(arg),
				&(struct vagx_trace_arg){ "number", i }, 1);
	return NULL;
}

/* Each thread has a track, with its spans in their order, and no line is torn */
static void test_threads(void **state)
{
	struct vagx_trace *trace = vagx_trace_open(path, NULL);
	unsigned int next[THREADS + 1] = { 0 }, tid, number;
	pthread_t threads[THREADS];
	char **lines;

	assert_non_null(trace);
	for (unsigned int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, write_spans, trace), 0);
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(vagx_trace_close(trace), 0);

	lines = read_lines();
	for (unsigned int i = 0; lines[i]; i++) {
		char *args = strstr(lines[i], "\"args\":{\"number\":");

		if (!args)
			continue;
		assert_int_equal(sscanf(lines[i], "{\"ph\":\"X\",\"pid\":1,\"tid\":%u,", &tid), 1);
		assert_int_equal(sscanf(args, "\"args\":{\"number\":%u}}", &number), 1);
		assert_in_range(tid, 1, THREADS);
		assert_int_equal(number, next[tid]++);
	}
	for (unsigned int i = 1; i <= THREADS; i++)
		assert_int_equal(next[i], SPANS);
	free_lines(lines);
}

/* Two processes' traces in one file: one array, and a process's name for each */
static void test_join(void **state)
{
	struct vagx_trace *first, *second;
	unsigned int names = 0, spans = 0, i;
	char **lines;

	unlink(path);
	first = vagx_trace_join(path);
	second = vagx_trace_join(path);
	assert_non_null(first);
	assert_non_null(second);
	for (i = 0; i < 3; i++) {
		vagx_trace_span(first, "one", vagx_trace_now(first), NULL, 0);
		vagx_trace_span(second, "two", vagx_trace_now(second), NULL, 0);
	}
	assert_int_equal(vagx_trace_close(first), 0);
	assert_int_equal(vagx_trace_close(second), 0);

	lines = read_lines();
	assert_string_equal(lines[0], "[\n");
	for (i = 1; lines[i]; i++) {
		const char *end = lines[i] + strlen(lines[i]);

		assert_int_equal(lines[i][0], '{');
		assert_memory_equal(lines[i + 1] ? end - 2 : end - 1, lines[i + 1] ? ",\n" : "}",
				    lines[i + 1] ? 2 : 1);
		names += !!strstr(lines[i], "\"process_name\"");
		spans += !!strstr(lines[i], "\"name\":\"one\"") + !!strstr(lines[i], "\"name\":\"two\"");
	}
	assert_int_equal(names, 2);
	assert_int_equal(spans, 6);
	free_lines(lines);
}

static void test_nowhere(void **state)
{
	assert_null(vagx_trace_open("/nonexistent/trace.json", NULL));
	assert_int_equal(errno, ENOENT);
	assert_null(vagx_trace_join("/nonexistent/trace.json"));
	assert_int_equal(errno, ENOENT);
	assert_int_equal(vagx_trace_now(NULL), 0);
	vagx_trace_span(NULL, "nothing", 0, NULL, 0);
	assert_int_equal(vagx_trace_close(NULL), 0);
}

/* What does not fit is said at the end */
static void test_full(void **state)
{
	struct vagx_trace *trace = vagx_trace_open("/dev/full", NULL);

	assert_non_null(trace);
	assert_int_equal(vagx_trace_close(trace), -EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_span, setup, teardown),
		cmocka_unit_test_setup_teardown(test_guest_time, setup, teardown),
		cmocka_unit_test_setup_teardown(test_threads, setup, teardown),
		cmocka_unit_test_setup_teardown(test_join, setup, teardown),
		cmocka_unit_test(test_nowhere),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
