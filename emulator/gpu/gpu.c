// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The GPU's cores, and how jobs share them. A job's own thread walks its stream, and works as a
 * core on the job's parts: threadgroups, batches of vertices, tiles. Meanwhile shared cores, which
 * have threads of their own, take parts of any job, those of the job with the fewest helpers
 * first, in slices. Cores without work sleep on a condition variable.
 *
 * One mutex protects the list of open jobs, helpers and counters; parts are taken by an atomic
 * counter, without it, and shaders run without it.
 */
#include <errno.h>
#include <stdlib.h>

#include "gpu/gpu_internal.h"
#include "gpu/trace.h"
#include "report.h"

/* Parts that a shared core takes before it chooses a job again */
#define GPU_SLICE	64

static uint64_t gpu_read_clock(clockid_t clock)
{
	struct timespec ts;

	if (clock_gettime(clock, &ts))
		return 0;
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* Nanoseconds for which a core has worked or rested, for any job */
static uint64_t gpu_time_read(const struct gpu_core *core)
{
	return gpu_read_clock(core->clock) + vagx_core_rested_ns(core->core);
}

void gpu_time_begin(struct vagx_job *job, const struct gpu_core *core)
{
	struct gpu_time *time = &job->time[core->index];

	time->core = core;
	time->since = gpu_time_read(core);
}

void gpu_time_end(struct vagx_job *job, const struct gpu_core *core)
{
	struct gpu_time *time = &job->time[core->index];

	time->spent += gpu_time_read(core) - time->since;
	time->core = NULL;
}

uint64_t vagx_job_cpu_ns(struct vagx_job *job)
{
	uint64_t longest = 0;
	unsigned int i;

	pthread_mutex_lock(&job->gpu->lock);
	for (i = 0; i <= job->gpu->num_shared; i++) {
		const struct gpu_time *time = &job->time[i];
		uint64_t ns = time->spent;

		if (time->core)
			ns += gpu_time_read(time->core) - time->since;
		if (ns > longest)
			longest = ns;
	}
	pthread_mutex_unlock(&job->gpu->lock);
	return longest;
}

void gpu_core_use(struct gpu_core *core, const struct vagx_job *job)
{
	if (core->job_serial == job->serial)
		return;
	vagx_tlb_init(&core->tlb, core->gpu->config.uat, job->vm_slot,
		      VAGX_AGENT_GPU);
	core->tlb.written = job->written;
	core->job_serial = job->serial;
}

/* Takes up to @most parts of a job and runs them */
static void gpu_take_parts(struct gpu_core *core, struct vagx_job *job, uint64_t most)
{
	struct gpu_parts *parts = &job->parts;

	while (most--) {
		uint64_t n = atomic_fetch_add(&parts->next, 1);

		if (n >= parts->total)
			return;
		if (parts->run(job, core, parts->ctx, n)) {
			atomic_store(&parts->next, parts->total);
			return;
		}
	}
}

/* Works for a job, up to @most parts, and counts it. Without the lock. */
static void gpu_work(struct gpu_core *core, struct vagx_job *job, uint64_t most)
{
	struct vagx_gpu *gpu = job->gpu;
	struct vagx_core_stats before, after;
	uint64_t began = vagx_trace_now(gpu->config.trace);
	uint64_t begin;

	gpu_core_use(core, job);
	vagx_core_get_stats(core->core, &before);
	begin = gpu_read_clock(CLOCK_MONOTONIC);
	gpu_take_parts(core, job, most);
	vagx_core_settle(core->core);
	begin = gpu_read_clock(CLOCK_MONOTONIC) - begin;
	vagx_core_get_stats(core->core, &after);

	pthread_mutex_lock(&gpu->lock);
	gpu->stats.groups += after.groups - before.groups;
	gpu->stats.busy_ns += begin;
	gpu->stats.instructions += after.instructions - before.instructions;
	pthread_mutex_unlock(&gpu->lock);
	/* What the job's own thread does is in the spans of the job. */
	if (core->has_thread) {
		const struct vagx_trace_arg args[] = {
			{ "job", job->serial },
			{ "threadgroups", after.groups - before.groups },
			{ "instructions", after.instructions - before.instructions },
			{ "bytes loaded", after.loaded - before.loaded },
			{ "bytes stored", after.stored - before.stored },
		};

		vagx_trace_span(gpu->config.trace, job->parts.name, began, args, 5);
	}
}

/* Picks the open job with the fewest helpers that has parts left. With the lock held. */
static struct vagx_job *gpu_pick(struct vagx_gpu *gpu)
{
	struct vagx_job *best = NULL, *job;

	for (job = gpu->open; job; job = job->open_next) {
		if (atomic_load(&job->parts.next) >= job->parts.total)
			continue;
		if (!best || job->parts.helpers < best->parts.helpers)
			best = job;
	}
	return best;
}

/*
 * Helps a job for a slice. With the lock held, which is dropped meanwhile: the job waits for its
 * helpers before it ends.
 */
static void gpu_help(struct gpu_core *core, struct vagx_job *job)
{
	struct vagx_gpu *gpu = core->gpu;

	job->parts.helpers++;
	gpu_time_begin(job, core);
	pthread_mutex_unlock(&gpu->lock);

	gpu_work(core, job, GPU_SLICE);

	pthread_mutex_lock(&gpu->lock);
	gpu_time_end(job, core);
	if (!--job->parts.helpers)
		pthread_cond_signal(&job->left_cond);
}

static void *gpu_core_thread(void *arg)
{
	struct gpu_core *core = arg;
	struct vagx_gpu *gpu = core->gpu;
	struct vagx_job *job;

	pthread_mutex_lock(&gpu->lock);
	while (!gpu->shutdown) {
		job = gpu_pick(gpu);
		if (job)
			gpu_help(core, job);
		else
			pthread_cond_wait(&gpu->work_cond, &gpu->lock);
	}
	pthread_mutex_unlock(&gpu->lock);
	return NULL;
}

/* Offers a job's parts to the shared cores, and wakes as many as there are parts for */
static void gpu_open_parts(struct vagx_job *job)
{
	struct vagx_gpu *gpu = job->gpu;
	uint64_t others = job->parts.total - 1;
	unsigned int i;

	if (!others || !gpu->num_shared)
		return;
	pthread_mutex_lock(&gpu->lock);
	job->open_next = gpu->open;
	gpu->open = job;
	if (others >= gpu->num_shared)
		pthread_cond_broadcast(&gpu->work_cond);
	else
		for (i = 0; i < others; i++)
			pthread_cond_signal(&gpu->work_cond);
	pthread_mutex_unlock(&gpu->lock);
}

/* Withdraws the parts, and waits for the helpers to leave */
static void gpu_close_parts(struct vagx_job *job)
{
	struct vagx_gpu *gpu = job->gpu;
	struct vagx_job **p = &gpu->open;

	pthread_mutex_lock(&gpu->lock);
	while (*p && *p != job)
		p = &(*p)->open_next;
	if (*p)
		*p = job->open_next;
	/* cores that come from now on find no part of this job */
	while (job->parts.helpers)
		pthread_cond_wait(&job->left_cond, &gpu->lock);
	pthread_mutex_unlock(&gpu->lock);
}

void gpu_run_parts(struct vagx_job *job, gpu_part_fn *run, void *ctx, uint64_t total,
		   const char *name)
{
	if (!total)
		return;
	job->parts.run = run;
	job->parts.ctx = ctx;
	job->parts.name = name;
	job->parts.total = total;
	atomic_store(&job->parts.next, 0);
	gpu_open_parts(job);
	gpu_work(job->core, job, UINT64_MAX);
	gpu_close_parts(job);
}

const char *vagx_gpu_unit_name(unsigned int unit)
{
	switch (unit) {
	case VAGX_GPU_UNIT_USC:
		return "shader core";
	case VAGX_GPU_UNIT_CDM_CS:
		return "compute control stream";
	case VAGX_GPU_UNIT_CDM:
		return "compute shader words";
	case VAGX_GPU_UNIT_VDM_CS:
		return "vertex control stream";
	case VAGX_GPU_UNIT_VDM:
		return "vertex fetch";
	case VAGX_GPU_UNIT_PPP:
		return "primitive processing";
	case VAGX_GPU_UNIT_TE:
		return "tiling engine";
	case VAGX_GPU_UNIT_ISP:
		return "rasteriser";
	case VAGX_GPU_UNIT_ZLS:
		return "depth and stencil";
	default:
		return "unknown";
	}
}

void vagx_gpu_get_stats(struct vagx_gpu *gpu, struct vagx_gpu_stats *stats)
{
	pthread_mutex_lock(&gpu->lock);
	*stats = gpu->stats;
	pthread_mutex_unlock(&gpu->lock);
}

uint64_t vagx_gpu_findings(struct vagx_gpu *gpu)
{
	return vagx_sanitizer_count(gpu->sanitizer);
}

static int gpu_core_init(struct vagx_gpu *gpu, struct gpu_core *core,
			 unsigned int index)
{
	const struct vagx_core_config config = {
		.index = index,
		.tlb = &core->tlb,
		.programs = gpu->programs,
		.jit = gpu->jit,
		.sanitizer = gpu->sanitizer,
		.report = gpu->config.report,
		.seed = gpu->config.seed,
	};

	core->gpu = gpu;
	core->index = index;
	core->core = vagx_core_new(&config);
	return core->core ? 0 : ENOMEM;
}

struct gpu_core *gpu_core_get(struct vagx_gpu *gpu)
{
	struct gpu_core *core;

	pthread_mutex_lock(&gpu->lock);
	core = gpu->idle;
	if (core)
		gpu->idle = core->next;
	pthread_mutex_unlock(&gpu->lock);
	if (core)
		return core;

	core = calloc(1, sizeof(*core));
	if (core && gpu_core_init(gpu, core, 0)) {
		free(core);
		return NULL;
	}
	return core;
}

void gpu_core_put(struct vagx_gpu *gpu, struct gpu_core *core)
{
	pthread_mutex_lock(&gpu->lock);
	core->next = gpu->idle;
	gpu->idle = core;
	pthread_mutex_unlock(&gpu->lock);
}

static int gpu_start_core(struct vagx_gpu *gpu, unsigned int i)
{
	struct gpu_core *core = &gpu->shared[i];
	int err = gpu_core_init(gpu, core, i + 1);

	/* The thread needs its clock only for a job, and none exists yet */
	if (!err)
		err = pthread_create(&core->thread, NULL, gpu_core_thread, core);
	if (err)
		return err;
	core->has_thread = true;
	/* As a track of a trace is called */
	pthread_setname_np(core->thread, "core");
	return pthread_getcpuclockid(core->thread, &core->clock);
}

static void gpu_stop_cores(struct vagx_gpu *gpu)
{
	unsigned int i;

	pthread_mutex_lock(&gpu->lock);
	gpu->shutdown = true;
	pthread_cond_broadcast(&gpu->work_cond);
	pthread_mutex_unlock(&gpu->lock);

	for (i = 0; i < gpu->num_shared; i++) {
		if (gpu->shared[i].has_thread)
			pthread_join(gpu->shared[i].thread, NULL);
		vagx_core_free(gpu->shared[i].core);
	}
	while (gpu->idle) {
		struct gpu_core *core = gpu->idle;

		gpu->idle = core->next;
		vagx_core_free(core->core);
		free(core);
	}
}

struct vagx_gpu *vagx_gpu_new(const struct vagx_gpu_config *config)
{
	struct vagx_gpu *gpu;
	unsigned int i;
	int err = 0;

	if (!config->cores || config->cores > VAGX_GPU_MAX_CORES) {
		errno = EINVAL;
		return NULL;
	}

	gpu = calloc(1, sizeof(*gpu));
	if (!gpu)
		return NULL;
	gpu->config = *config;
	gpu->num_shared = config->cores - 1;
	pthread_mutex_init(&gpu->lock, NULL);
	pthread_cond_init(&gpu->work_cond, NULL);
	gpu->programs = vagx_programs_new();
	gpu->jit = vagx_jit_new(&config->jit, config->report);
	if (vagx_sanitizer_wanted(&config->sanitizer)) {
		gpu->sanitizer = vagx_sanitizer_new(&config->sanitizer, config->report);
		err = gpu->sanitizer ? 0 : errno;
	}
	gpu->shared = calloc(config->cores, sizeof(*gpu->shared));
	if (!gpu->shared || !gpu->programs) {
		gpu->num_shared = 0;
		err = ENOMEM;
	}

	for (i = 0; i < gpu->num_shared && !err; i++)
		err = gpu_start_core(gpu, i);
	if (err) {
		vagx_gpu_free(gpu);
		errno = err;
		return NULL;
	}
	return gpu;
}

void vagx_gpu_free(struct vagx_gpu *gpu)
{
	if (!gpu)
		return;

	gpu_stop_cores(gpu);
	pthread_cond_destroy(&gpu->work_cond);
	pthread_mutex_destroy(&gpu->lock);
	vagx_programs_free(gpu->programs);
	vagx_jit_free(gpu->jit);
	vagx_sanitizer_free(gpu->sanitizer);
	free(gpu->shared);
	free(gpu);
}
