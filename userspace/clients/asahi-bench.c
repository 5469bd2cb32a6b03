// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * asahi-bench: what calls of the driver cost. In a virtual machine that counts
 * instructions (qemu -icount shift=0) a nanosecond is one instruction, and the
 * figures repeat: to the instruction where nothing but the call runs, and to one
 * percent where workers and a GPU have a part in it.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xf86drm.h>

#include "bench.h"
#include "cli.h"
#include "trace_ring.h"

#define BATCHES		400
#define CALLS		50
#define BIG_BATCHES	40
#define PAGES		1000
#define JOBS		200

#define PAGE		UINT64_C(0x4000)
/* where nothing else is, and inside one leaf table for a thousand pages */
#define BIND_ADDR	UINT64_C(0x1000000000)

static bool bench_json;
static unsigned int bench_results;
static uint64_t bench_floor_ns;

uint64_t bench_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

void bench_print(const char *name, double ns)
{
	if (bench_json) {
		printf("%s\n  {\"name\": \"%s\", \"ns\": %.1f}",
		       bench_results++ ? "," : "[", name, ns);
		return;
	}
	printf("%-44s %12.1f", name, ns);
	if (bench_floor_ns)
		printf(" %9.1f", ns / (double)bench_floor_ns);
	putchar('\n');
	fflush(stdout);
}

void bench_print_many(const char *name, double ns, unsigned int times)
{
	if (bench_json) {
		printf("%s\n  {\"name\": \"%s\", \"ns\": %.1f, \"times\": %u}",
		       bench_results++ ? "," : "[", name, ns / times, times);
		return;
	}
	bench_print(name, ns / times);
}

int bench_failed(const char *what, int err)
{
	fprintf(stderr, "%s: %s\n", what, strerror(-err));
	return err;
}

/* The cost of one call: the minimum over batches, so that interruptions do not count. */

struct batch {
	const char *name;
	/* one call; the number is its place in the batch */
	int (*call)(struct compute *ctx, unsigned int number);
	/* undoes a batch, not counted; may be NULL */
	int (*undo)(struct compute *ctx);
	unsigned int batches;
	unsigned int calls;
};

static int bench_run_batch(struct compute *ctx, const struct batch *b,
			   uint64_t *least)
{
	uint64_t begin = bench_now_ns();
	uint64_t ns;
	unsigned int i;
	int err = 0;

	for (i = 0; i < b->calls && !err; i++)
		err = b->call(ctx, i);
	ns = bench_now_ns() - begin;
	if (ns < *least)
		*least = ns;
	if (!err && b->undo)
		err = b->undo(ctx);
	return err;
}

static int bench_measure(struct compute *ctx, const struct batch *b)
{
	uint64_t least = UINT64_MAX;
	unsigned int i;
	int err = 0;

	for (i = 0; i < b->batches && !err; i++)
		err = bench_run_batch(ctx, b, &least);
	if (err)
		return bench_failed(b->name, err);
	if (!bench_floor_ns)
		bench_floor_ns = least / b->calls;
	bench_print(b->name, (double)least / b->calls);
	return 0;
}

static int bench_call_get_cap(struct compute *ctx, unsigned int number)
{
	struct drm_get_cap cap = { .capability = DRM_CAP_PRIME };

	return drmIoctl(asahi_device_fd(ctx->dev), DRM_IOCTL_GET_CAP, &cap) ?
		       -errno : 0;
}

/* Mappings */

static struct asahi_bo *bench_bo;

static int bench_bind_pages(struct compute *ctx, uint32_t flags, uint64_t page,
			    uint64_t pages)
{
	const struct drm_asahi_gem_bind_op op = {
		.flags = flags,
		.handle = flags & DRM_ASAHI_BIND_UNBIND ?
				  0 : asahi_bo_handle(bench_bo),
		.offset = flags & DRM_ASAHI_BIND_UNBIND ? 0 : page * PAGE,
		.range = pages * PAGE,
		.addr = BIND_ADDR + page * PAGE,
	};

	return asahi_vm_bind(ctx->vm, &op, 1);
}

static int bench_call_bind(struct compute *ctx, unsigned int number)
{
	return bench_bind_pages(ctx, DRM_ASAHI_BIND_READ, number, 1);
}

static int bench_call_unbind(struct compute *ctx, unsigned int number)
{
	return bench_bind_pages(ctx, DRM_ASAHI_BIND_UNBIND, number, 1);
}

static int bench_call_bind_all(struct compute *ctx, unsigned int number)
{
	return bench_bind_pages(ctx, DRM_ASAHI_BIND_READ, 0, PAGES);
}

static int bench_call_unbind_all(struct compute *ctx, unsigned int number)
{
	return bench_bind_pages(ctx, DRM_ASAHI_BIND_UNBIND, 0, PAGES);
}

static int bench_undo_bind(struct compute *ctx)
{
	return bench_call_unbind_all(ctx, 0);
}

/* So that an unbind finds single mappings: pages bound one by one. */
static int bench_bind_each(struct compute *ctx, unsigned int pages)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < pages && !err; i++)
		err = bench_call_bind(ctx, i);
	return err;
}

static int bench_undo_unbind_few(struct compute *ctx)
{
	return bench_bind_each(ctx, CALLS);
}

static int bench_undo_unbind(struct compute *ctx)
{
	return bench_bind_each(ctx, PAGES);
}

static int bench_undo_unbind_all(struct compute *ctx)
{
	return bench_call_bind_all(ctx, 0);
}

/* One ioctl with an operation for each page. */
static int bench_call_bind_each(struct compute *ctx, unsigned int number)
{
	static struct drm_asahi_gem_bind_op ops[PAGES];
	unsigned int i;

	for (i = 0; i < PAGES; i++)
		ops[i] = (struct drm_asahi_gem_bind_op){
			.flags = DRM_ASAHI_BIND_READ,
			.handle = asahi_bo_handle(bench_bo),
			.offset = i * PAGE,
			.range = PAGE,
			.addr = BIND_ADDR + i * PAGE,
		};
	return asahi_vm_bind(ctx->vm, ops, PAGES);
}

/* Buffers */

static struct asahi_bo *bench_made[CALLS];

static int bench_call_create_small(struct compute *ctx, unsigned int number)
{
	return asahi_bo_new(ctx->dev, PAGE, 0, ctx->vm, &bench_made[number]);
}

static int bench_call_create_large(struct compute *ctx, unsigned int number)
{
	return asahi_bo_new(ctx->dev, 16 << 20, 0, ctx->vm, &bench_made[number]);
}

static int bench_undo_create(struct compute *ctx)
{
	unsigned int i;

	for (i = 0; i < CALLS; i++) {
		asahi_bo_unref(bench_made[i]);
		bench_made[i] = NULL;
	}
	return 0;
}

static const struct batch bench_get_cap = {
	"DRM_IOCTL_GET_CAP", bench_call_get_cap, NULL, BATCHES, CALLS,
};

static const struct batch bench_bind_batches[] = {
	{ "VM_BIND, one page", bench_call_bind, bench_undo_bind, BATCHES, CALLS },
	{ "VM_BIND, 1000 pages in one bind", bench_call_bind_all, bench_undo_bind,
	  BIG_BATCHES, 1 },
	{ "VM_BIND, 1000 binds of a page", bench_call_bind_each, bench_undo_bind,
	  BIG_BATCHES, 1 },
};

static const struct batch bench_unbind_batches[] = {
	{ "unbind, one page", bench_call_unbind, bench_undo_unbind_few, BATCHES, CALLS },
	{ "unbind, 1000 mappings at once", bench_call_unbind_all, bench_undo_unbind,
	  BIG_BATCHES, 1 },
	{ "unbind, 1000 pages of one mapping", bench_call_unbind_all,
	  bench_undo_unbind_all, BIG_BATCHES, 1 },
};

static const struct batch bench_create_batches[] = {
	{ "GEM_CREATE, 16 KiB", bench_call_create_small, bench_undo_create, BATCHES,
	  CALLS },
	{ "GEM_CREATE, 16 MiB", bench_call_create_large, bench_undo_create, BATCHES,
	  CALLS },
};

static int bench_measure_all(struct compute *ctx, const struct batch *b,
			     unsigned int count)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < count && !err; i++)
		err = bench_measure(ctx, &b[i]);
	return err;
}

int bench_floor(struct compute *ctx)
{
	return bench_measure(ctx, &bench_get_cap);
}

/*
 * The buffer's pages are there, and so are the page tables below the address:
 * another page in them stays bound.
 */
static int bench_prepare_binds(struct compute *ctx)
{
	int err = asahi_bo_new(ctx->dev, (PAGES + 1) * PAGE, 0, ctx->vm,
			       &bench_bo);

	if (!err)
		err = bench_bind_pages(ctx, DRM_ASAHI_BIND_READ, 0, PAGES + 1);
	if (!err)
		err = bench_bind_pages(ctx, DRM_ASAHI_BIND_UNBIND, 0, PAGES);
	return err;
}

static int bench_memory(struct compute *ctx)
{
	int err = bench_prepare_binds(ctx);

	if (!err)
		err = bench_floor(ctx);
	if (!err)
		err = bench_measure_all(ctx, bench_bind_batches, 3);
	if (!err)
		err = bench_undo_unbind(ctx);
	if (!err)
		err = bench_measure_all(ctx, bench_unbind_batches, 3);
	if (!err)
		err = bench_measure_all(ctx, bench_create_batches, 2);
	asahi_bo_unref(bench_bo);
	bench_bo = NULL;
	return err;
}

/* Jobs: a stream that ends at once, so that nothing but the way there counts */

struct job {
	struct compute_stream stream;
	struct asahi_submit *submit;
	struct drm_asahi_cmd_compute cmd;
	uint32_t syncobj;
};

static int bench_job_new(struct compute *ctx, struct job *job)
{
	int err = compute_stream_new(ctx, &job->stream);

	if (err)
		return err;
	err = compute_stream_end(&job->stream, &job->cmd);
	if (!err)
		err = asahi_submit_new(ctx->queue, &job->submit);
	if (!err && drmSyncobjCreate(asahi_device_fd(ctx->dev), 0,
				     &job->syncobj))
		err = -errno;
	return err;
}

static void bench_job_free(struct compute *ctx, struct job *job)
{
	drmSyncobjDestroy(asahi_device_fd(ctx->dev), job->syncobj);
	asahi_submit_free(job->submit);
	compute_stream_free(&job->stream);
}

/* Times the SUBMIT alone, then waits for the job. */
static int bench_job_run(struct compute *ctx, struct job *job, uint64_t *submit_ns,
			 uint64_t *done_ns)
{
	uint64_t begin;
	int err;

	asahi_submit_compute(job->submit, &job->cmd, ASAHI_BARRIER_NONE);
	asahi_submit_signal(job->submit, job->syncobj, 0);
	begin = bench_now_ns();
	err = asahi_submit_flush(job->submit);
	*submit_ns = bench_now_ns() - begin;
	if (err)
		return err;
	err = drmSyncobjWait(asahi_device_fd(ctx->dev), &job->syncobj, 1,
			     INT64_MAX, 0, NULL);
	*done_ns = bench_now_ns() - begin;
	return err;
}

int bench_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int bench_run_jobs(struct compute *ctx, uint64_t *submit, uint64_t *done)
{
	struct job job = { .syncobj = 0 };
	unsigned int i;
	int err = bench_job_new(ctx, &job);

	for (i = 0; i < JOBS && !err; i++)
		err = bench_job_run(ctx, &job, &submit[i], &done[i]);
	bench_job_free(ctx, &job);
	if (err)
		return bench_failed("running jobs", err);
	qsort(submit, JOBS, sizeof(*submit), bench_compare);
	qsort(done, JOBS, sizeof(*done), bench_compare);
	return 0;
}

int bench_submit_named(struct compute *ctx, const char *name)
{
	static uint64_t submit[JOBS], done[JOBS];
	int err = bench_run_jobs(ctx, submit, done);

	if (!err)
		bench_print(name, (double)submit[JOBS / 10]);
	return err;
}

static int bench_submit(struct compute *ctx)
{
	static uint64_t submit[JOBS], done[JOBS];
	int err = bench_floor(ctx);

	if (!err)
		err = bench_run_jobs(ctx, submit, done);
	/*
	 * A few find the driver's worker still awake from the last job, so that they need not
	 * wake it. How many depends on how fast the GPU is; hardly ever is it one in ten.
	 */
	if (!err)
		bench_print("SUBMIT, one compute command", (double)submit[JOBS / 10]);
	if (!err)
		bench_print("SUBMIT, median", (double)submit[JOBS / 2]);
	return err;
}

static int bench_latency(struct compute *ctx)
{
	static uint64_t submit[JOBS], done[JOBS];
	int err = bench_run_jobs(ctx, submit, done);

	if (err)
		return err;
	bench_print("submit to fence, best", (double)done[0]);
	bench_print("submit to fence, median", (double)done[JOBS / 2]);
	bench_print("submit to fence, nine of ten", (double)done[JOBS * 9 / 10]);
	return 0;
}

/* Full SUBMITs one after the other: none may pay for those before it. */

/* Work of the kernel for a job outside of the ioctl */

struct work {
	char name[TRACE_NAME_MAX];
	uint64_t samples[JOBS];
	unsigned int count;
};

static void bench_add_samples(struct work *works, const struct trace_span *spans,
			      int count)
{
	struct work *work;
	int i, j;

	for (i = 0; i < count; i++) {
		for (j = 0; j < TRACE_MAX_SPANS; j++) {
			work = &works[j];
			if (!work->count || !strcmp(work->name, spans[i].name))
				break;
		}
		if (j == TRACE_MAX_SPANS || work->count == JOBS)
			continue;
		memcpy(work->name, spans[i].name, sizeof(work->name));
		work->samples[work->count++] = spans[i].ns;
	}
}

static int bench_trace_job(struct compute *ctx, struct trace_ring *ring,
			   struct job *job, struct work *works)
{
	struct trace_span spans[TRACE_MAX_SPANS] = { 0 };
	struct timespec settle = { .tv_nsec = 5000000 };
	uint64_t submit, done;
	int err = trace_ring_start(ring);

	if (!err)
		err = bench_job_run(ctx, job, &submit, &done);
	/* what frees the job comes after its fence */
	nanosleep(&settle, NULL);
	if (!err)
		err = trace_ring_stop(ring, spans);
	if (err > 0)
		bench_add_samples(works, spans, err);
	return err < 0 ? err : 0;
}

/*
 * Of each kind of work the median: some jobs meet others' interrupts. Return: the
 * sum.
 */
static double bench_print_works(struct work *works)
{
	char name[TRACE_NAME_MAX + 8];
	double sum = 0;
	unsigned int i;

	for (i = 0; i < TRACE_MAX_SPANS && works[i].count; i++) {
		struct work *work = &works[i];

		/* nothing to do with jobs */
		if (work->count < JOBS / 2)
			continue;
		qsort(work->samples, work->count, sizeof(work->samples[0]),
		      bench_compare);
		trace_ring_name(work->name);
		/* the sleep's, not the job's */
		if (strstr(work->name, "arch_timer"))
			continue;
		snprintf(name, sizeof(name), "job: %.*s", TRACE_NAME_MAX - 1,
			 work->name);
		bench_print(name, (double)work->samples[work->count / 2]);
		sum += (double)work->samples[work->count / 2];
	}
	return sum;
}

static int bench_work(struct compute *ctx)
{
	static uint64_t submit[JOBS], done[JOBS];
	static struct work works[TRACE_MAX_SPANS];
	struct job job = { .syncobj = 0 };
	struct trace_ring *ring;
	double sum;
	unsigned int i;
	int err;

	err = bench_run_jobs(ctx, submit, done);
	if (err)
		return err;
	err = trace_ring_open(&ring);
	if (err)
		return bench_failed("the trace buffer", err);
	err = bench_floor(ctx);
	if (!err)
		err = bench_job_new(ctx, &job);
	for (i = 0; i < JOBS && !err; i++)
		err = bench_trace_job(ctx, ring, &job, works);
	bench_job_free(ctx, &job);
	trace_ring_close(ring);
	if (err)
		return bench_failed("tracing jobs", err);
	sum = bench_print_works(works);
	bench_print("job: SUBMIT", (double)submit[JOBS / 2]);
	bench_print("job: all of it", sum + (double)submit[JOBS / 2]);
	return 0;
}

static const struct bench {
	const char *name;
	const char *help;
	int (*run)(struct compute *ctx);
} bench_benches[] = {
	{ "memory", "mappings and buffers", bench_memory },
	{ "submit", "the SUBMIT ioctl alone", bench_submit },
	{ "shapes", "SUBMITs with renders, many commands, many syncs", bench_shapes },
	{ "binds", "many scattered bindings", bench_binds },
	{ "large", "buffers of 32 MiB and more, and many shared ones", bench_large },
	{ "work", "what the kernel does for a job outside of the ioctl",
	  bench_work },
	{ "latency", "from submission to the signalled fence", bench_latency },
	{ "switch", "jobs in a hundred address spaces in turn", bench_switch },
	{ "idle", "bytes that the kernel keeps for what nobody uses", bench_idle },
	{ "flight", "from a job's last word to its fence", bench_flight },
	{ "jobs", "whole jobs, one at a time and 64 deep", bench_jobs },
	{ "null", "the same of the null driver, vagx_null", bench_null },
	{ "steady", "SUBMITs of 64 commands in a loop: the slowest, too",
	  bench_steady },
	{ "recovery", "from crash to crash of the firmware, which somebody causes",
	  bench_recovery },
};

#define BENCH_COUNT	(sizeof(bench_benches) / sizeof(bench_benches[0]))

static void bench_usage(FILE *fp)
{
	size_t i;

	fputs("usage: asahi-bench [OPTION]... BENCH...\n"
	      "Measures calls of the driver: nanoseconds, and times DRM_IOCTL_GET_CAP.\n\n"
	      "  -d, --device=NODE      render node (default: the driver's first one)\n"
	      "  -j, --json             for programs to read\n"
	      "  -h, --help             this text\n"
	      "  -V, --version          the version\n\n",
	      fp);
	for (i = 0; i < BENCH_COUNT; i++)
		fprintf(fp, "  %-12s %s\n", bench_benches[i].name, bench_benches[i].help);
}

static const struct bench *bench_find_bench(const char *name)
{
	size_t i;

	for (i = 0; i < BENCH_COUNT; i++) {
		if (!strcmp(bench_benches[i].name, name))
			return &bench_benches[i];
	}
	return NULL;
}

static int bench_run(const char *node, char **names, int count)
{
	struct compute ctx;
	int err = compute_open(&ctx, node);
	int i;

	if (err)
		return err;
	for (i = 0; i < count && !err; i++) {
		bench_floor_ns = 0;
		err = bench_find_bench(names[i])->run(&ctx);
	}
	if (bench_json)
		puts(bench_results ? "\n]" : "[]");
	compute_close(&ctx);
	return err;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	const char *node = NULL;
	int i, c;

	while ((c = getopt_long(argc, argv, "d:jhV", options, NULL)) != -1) {
		switch (c) {
		case 'd':
			node = optarg;
			break;
		case 'j':
			bench_json = true;
			break;
		case 'h':
			bench_usage(stdout);
			return cli_finish("asahi-bench", EXIT_SUCCESS);
		case 'V':
			cli_version("asahi-bench");
			return cli_finish("asahi-bench", EXIT_SUCCESS);
		default:
			bench_usage(stderr);
			return EXIT_USAGE;
		}
	}
	for (i = optind; i < argc; i++) {
		if (!bench_find_bench(argv[i])) {
			fprintf(stderr, "there is no bench '%s'\n", argv[i]);
			return EXIT_USAGE;
		}
	}
	if (optind == argc) {
		bench_usage(stderr);
		return EXIT_USAGE;
	}
	c = bench_run(node, argv + optind, argc - optind);
	return cli_finish("asahi-bench", c ? EXIT_FAILURE : EXIT_SUCCESS);
}
