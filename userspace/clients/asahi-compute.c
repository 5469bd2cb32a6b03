// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * asahi-compute: runs compute shaders and checks what they wrote.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli.h"
#include "compute_tests.h"

struct arguments {
	const char *device;
	const char *const *names;
	unsigned int count;
	uint32_t repeat;
	struct compute_setup setup;
	struct compute_options options;
};

static void compute_usage(FILE *fp)
{
	const struct compute_test *test;

	fputs("usage: asahi-compute [OPTION]... [TEST]...\n"
	      "Runs compute shaders on an AGX GPU and checks every byte of their output.\n"
	      "Prints TAP; the exit status is 0 only if all was right.\n\n"
	      "  -d, --device=NODE      render node (default: the driver's first one)\n"
	      "  -s, --size=N           elements, or pixels in a row of the picture\n"
	      "  -i, --iterations=N     most iterations of the Mandelbrot set\n"
	      "  -o, --output=FILE      write the picture as PNG\n"
	      "  -r, --repeat=N         run each test N times\n"
	      "  -w, --write-combined   memory that the CPU does not cache\n"
	      "  -p, --priority=NAME    low, medium (default), high or realtime\n"
	      "  -t, --timeout=SECONDS  how long to wait for work (default: 60)\n"
	      "  -S, --seconds=SECONDS  how long the long shader runs (default: 5)\n"
	      "  -h, --help             this text\n"
	      "  -V, --version          the version\n\n"
	      "tests (default: all but those marked with *):\n",
	      fp);
	for (test = compute_tests; test->name; test++)
		fprintf(fp, "  %c %-12s %s\n", test->optional ? '*' : ' ',
			test->name, test->help);
}

static int compute_parse_number(const char *text, uint32_t *value)
{
	char *end;
	unsigned long long n;

	errno = 0;
	n = strtoull(text, &end, 0);
	if (errno || end == text || *end || *text == '-' || !n ||
	    n > UINT32_MAX) {
		fprintf(stderr, "'%s' is not a number from 1 to %u\n", text,
			UINT32_MAX);
		return -EINVAL;
	}
	*value = n;
	return 0;
}

static int compute_parse_priority(const char *text, enum drm_asahi_priority *value)
{
	static const char *const names[] = {
		[DRM_ASAHI_PRIORITY_LOW] = "low",
		[DRM_ASAHI_PRIORITY_MEDIUM] = "medium",
		[DRM_ASAHI_PRIORITY_HIGH] = "high",
		[DRM_ASAHI_PRIORITY_REALTIME] = "realtime",
	};

	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(text, names[i])) {
			*value = i;
			return 0;
		}
	}
	fprintf(stderr, "'%s' is no priority: low, medium, high or realtime\n", text);
	return -EINVAL;
}

static int compute_parse_seconds(const char *text, double *value)
{
	char *end;

	*value = strtod(text, &end);
	if (end == text || *end || !(*value > 0) || *value > 3600) {
		fprintf(stderr, "'%s' is not a number of seconds up to 3600\n", text);
		return -EINVAL;
	}
	return 0;
}

static const struct compute_test *compute_find_test(const char *name)
{
	const struct compute_test *test = compute_tests;

	while (test->name && strcmp(test->name, name))
		test++;
	return test->name ? test : NULL;
}

static int compute_check_names(const struct arguments *args)
{
	bool picture = !args->count;
	unsigned int i;

	for (i = 0; i < args->count; i++) {
		const struct compute_test *test = compute_find_test(args->names[i]);

		if (!test) {
			fprintf(stderr, "there is no test '%s'\n",
				args->names[i]);
			return -EINVAL;
		}
		picture |= test->run == compute_mandelbrot;
	}
	if (args->options.output && !picture) {
		fputs("none of these tests makes a picture to write\n", stderr);
		return -EINVAL;
	}
	return 0;
}

static int compute_parse_arguments(int argc, char **argv, struct arguments *args)
{
	static const struct option options[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "size", required_argument, NULL, 's' },
		{ "iterations", required_argument, NULL, 'i' },
		{ "output", required_argument, NULL, 'o' },
		{ "repeat", required_argument, NULL, 'r' },
		{ "write-combined", no_argument, NULL, 'w' },
		{ "priority", required_argument, NULL, 'p' },
		{ "timeout", required_argument, NULL, 't' },
		{ "seconds", required_argument, NULL, 'S' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	uint32_t timeout = 0;
	int err = 0;
	int c;

	while (!err) {
		c = getopt_long(argc, argv, "d:s:i:o:r:wp:t:S:hV", options, NULL);
		if (c == -1)
			break;
		switch (c) {
		case 'd':
			args->device = optarg;
			break;
		case 's':
			err = compute_parse_number(optarg, &args->options.size);
			break;
		case 'i':
			err = compute_parse_number(optarg, &args->options.iterations);
			break;
		case 'o':
			args->options.output = optarg;
			break;
		case 'r':
			err = compute_parse_number(optarg, &args->repeat);
			break;
		case 'w':
			args->setup.flags = 0;
			break;
		case 'p':
			err = compute_parse_priority(optarg, &args->setup.priority);
			break;
		case 't':
			err = compute_parse_number(optarg, &timeout);
			args->setup.timeout_ns = timeout * INT64_C(1000000000);
			break;
		case 'S':
			err = compute_parse_seconds(optarg, &args->options.seconds);
			break;
		case 'h':
			compute_usage(stdout);
			exit(cli_finish("asahi-compute", EXIT_SUCCESS));
		case 'V':
			cli_version("asahi-compute");
			exit(cli_finish("asahi-compute", EXIT_SUCCESS));
		default:
			err = -EINVAL;
		}
	}
	args->names = (const char *const *)argv + optind;
	args->count = argc - optind;
	return err ? err : compute_check_names(args);
}

static double compute_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

/*
 * A new address space and queue each time: a test that fails must not spoil
 * the next one, and one that passes proves that the way there works again.
 */
static int compute_run_once(const struct arguments *args,
			    const struct compute_test *test)
{
	struct compute ctx;
	int err = compute_open_with(&ctx, args->device, &args->setup);

	if (err)
		return err;
	err = test->run(&ctx, &args->options);
	compute_close(&ctx);
	return err;
}

static bool compute_run_test(const struct arguments *args,
			     const struct compute_test *test, unsigned int number)
{
	double begin = compute_now_ms();
	uint32_t i;
	int err = 0;

	for (i = 0; i < args->repeat && !err; i++)
		err = compute_run_once(args, test);

	if (err)
		printf("not ok %u - %s # %s\n", number, test->name,
		       err == -EILSEQ ? "wrong result" : strerror(-err));
	else
		printf("ok %u - %s # %.1f ms\n", number, test->name,
		       (compute_now_ms() - begin) / args->repeat);
	fflush(stdout);
	return !err;
}

static unsigned int compute_run_all(const struct arguments *args)
{
	const struct compute_test *test;
	unsigned int number = 0;
	unsigned int bad = 0;

	for (test = compute_tests; test->name; test++) {
		if (!test->optional)
			bad += !compute_run_test(args, test, ++number);
	}
	printf("1..%u\n", number);
	return bad;
}

static unsigned int compute_run_named(const struct arguments *args)
{
	unsigned int bad = 0;
	unsigned int i;

	for (i = 0; i < args->count; i++)
		bad += !compute_run_test(args, compute_find_test(args->names[i]), i + 1);
	printf("1..%u\n", args->count);
	return bad;
}

int main(int argc, char **argv)
{
	struct arguments args = { .repeat = 1, .setup = COMPUTE_SETUP_DEFAULT };
	unsigned int bad;

	if (compute_parse_arguments(argc, argv, &args)) {
		fputs("try 'asahi-compute --help'\n", stderr);
		return EXIT_USAGE;
	}
	bad = args.count ? compute_run_named(&args) : compute_run_all(&args);
	return cli_finish("asahi-compute", bad ? EXIT_FAILURE : EXIT_SUCCESS);
}
