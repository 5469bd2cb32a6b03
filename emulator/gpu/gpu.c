// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The GPU's cores, and how jobs share them. A job's own thread reads its
 * stream and works as a core on each of its launches. While it does, the
 * shared cores take threadgroups of whatever launches there are, those of the
 * job with the fewest helpers first. Cores without work sleep.
 */
#include <errno.h>
#include <stdlib.h>

#include "gpu/gpu_internal.h"
#include "gpu/trace.h"
#include "report.h"

/* Groups that a shared core takes before it looks whether another job has fewer helpers */
#define GPU_SLICE	64

static uint64_t read_clock(clockid_t clock)
{
	struct timespec ts;

	if (clock_gettime(clock, &ts))
		return 0;
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

void gpu_time_begin(struct vagx_job *job, unsigned int index, clockid_t clock)
{
	struct gpu_time *time = &job->time[index];

	time->clock = clock;
	time->since = read_clock(clock);
	time->works = true;
}

void gpu_time_end(struct vagx_job *job, unsigned int index)
{
	struct gpu_time *time = &job->time[index];

	time->spent += read_clock(time->clock) - time->since;
	time->works = false;
}

uint64_t vagx_job_cpu_ns(struct vagx_job *job)
{
	uint64_t longest = 0;
	unsigned int i;

	pthread_mutex_lock(&job->gpu->lock);
	for (i = 0; i <= job->gpu->num_shared; i++) {
		const struct gpu_time *time = &job->time[i];
		uint64_t ns = time->spent;

		if (time->works)
			ns += read_clock(time->clock) - time->since;
		if (ns > longest)
			longest = ns;
	}
	pthread_mutex_unlock(&job->gpu->lock);
	return longest;
}

/* The address that a core's error is about, for errors without a fault. */
static void fault_of_code(const struct vagx_launch *launch,
			  struct vagx_uat_fault *fault)
{
	*fault = (struct vagx_uat_fault){
		.va = launch->code_va,
		.slot = launch->vm_slot,
		.access = VAGX_EXEC,
		.reason = VAGX_FAULT_NO_ACCESS,
	};
}

void gpu_record_error(struct vagx_job *job, struct gpu_core *core,
		      const struct vagx_launch *launch, int err,
		      struct vagx_uat_fault *fault)
{
	pthread_mutex_lock(&job->gpu->lock);
	if (err != -ECANCELED && !job->error) {
		if (err != -EFAULT) {
			fault_of_code(launch, fault);
			vagx_violation(job->gpu->config.report,
				       VAGX_RULE_USC_SHADER_FAILED,
				       launch->code_va, "shader", "%s",
				       vagx_core_error(core->core));
		}
		gpu_describe_shader(job, core, launch);
		job->error = err;
		job->fault = *fault;
		atomic_store(&job->stop, true);
	}
	pthread_mutex_unlock(&job->gpu->lock);
}

void gpu_core_use(struct gpu_core *core, const struct vagx_job *job)
{
	if (core->job_serial == job->serial)
		return;
	vagx_tlb_init(&core->tlb, core->gpu->config.uat, job->vm_slot,
		      VAGX_AGENT_GPU);
	core->job_serial = job->serial;
}

/* Up to @most groups of a job's launch */
static int gpu_run_groups(struct gpu_core *core, struct vagx_job *job,
			  uint64_t most, uint64_t *count,
			  struct vagx_uat_fault *fault)
{
	struct gpu_grid *grid = &job->grid;

	for (*count = 0; *count < most; ++*count) {
		uint64_t n = atomic_fetch_add(&grid->next, 1);
		uint64_t row = n / grid->groups[0];
		uint32_t group[3];
		int err;

		if (n >= grid->total)
			return 0;
		if (atomic_load_explicit(&job->stop, memory_order_relaxed))
			return -ECANCELED;
		group[0] = n % grid->groups[0];
		group[1] = row % grid->groups[1];
		group[2] = row / grid->groups[1];
		err = vagx_core_run_group(core->core, grid->launch, group,
					  fault);
		if (err)
			return err;
	}
	return 0;
}

/* Without the lock */
static void gpu_work(struct gpu_core *core, struct vagx_job *job, uint64_t most)
{
	struct vagx_gpu *gpu = job->gpu;
	struct vagx_core_stats before, after;
	struct vagx_uat_fault fault;
	uint64_t began = vagx_trace_now(gpu->config.trace);
	uint64_t begin, groups;
	int err;

	gpu_core_use(core, job);
	vagx_core_get_stats(core->core, &before);
	begin = read_clock(CLOCK_MONOTONIC);
	err = gpu_run_groups(core, job, most, &groups, &fault);
	begin = read_clock(CLOCK_MONOTONIC) - begin;
	vagx_core_get_stats(core->core, &after);
	if (err)
		gpu_record_error(job, core, job->grid.launch, err, &fault);

	pthread_mutex_lock(&gpu->lock);
	gpu->stats.groups += groups;
	gpu->stats.busy_ns += begin;
	gpu->stats.instructions += after.instructions - before.instructions;
	pthread_mutex_unlock(&gpu->lock);
	/* What the job's own thread does is in the spans of the job. */
	if (core->has_thread)
		vagx_trace_span(gpu->config.trace, "threadgroups", began, (struct vagx_trace_arg[]){
			{ "job", job->serial },
			{ "threadgroups", groups },
			{ "instructions", after.instructions - before.instructions },
		}, 3);
}

/* The job that is worked for by the fewest. With the lock held. */
static struct vagx_job *gpu_pick(struct vagx_gpu *gpu)
{
	struct vagx_job *best = NULL, *job;

	for (job = gpu->open; job; job = job->open_next) {
		if (atomic_load(&job->grid.next) >= job->grid.total)
			continue;
		if (!best || job->grid.helpers < best->grid.helpers)
			best = job;
	}
	return best;
}

/* With the lock held, which is dropped meanwhile; the job stays until its helpers have left */
static void gpu_help(struct gpu_core *core, struct vagx_job *job)
{
	struct vagx_gpu *gpu = core->gpu;

	job->grid.helpers++;
	gpu_time_begin(job, core->index, core->clock);
	pthread_mutex_unlock(&gpu->lock);

	gpu_work(core, job, GPU_SLICE);

	pthread_mutex_lock(&gpu->lock);
	gpu_time_end(job, core->index);
	if (!--job->grid.helpers)
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

/* Says how large a launch is; false for an empty one */
static bool gpu_set_grid(struct gpu_grid *grid, const struct vagx_launch *launch)
{
	unsigned int i;

	grid->launch = launch;
	grid->total = 1;
	for (i = 0; i < 3; i++) {
		grid->groups[i] = (launch->grid[i] + (uint64_t)launch->local[i] - 1) /
				  launch->local[i];
		/* a product that is too large is never worked off either */
		if (__builtin_mul_overflow(grid->total, grid->groups[i],
					   &grid->total))
			grid->total = UINT64_MAX;
	}
	atomic_store(&grid->next, 0);
	return grid->total;
}

static void gpu_open_grid(struct vagx_job *job)
{
	struct vagx_gpu *gpu = job->gpu;
	uint64_t others = job->grid.total - 1;
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

static void gpu_close_grid(struct vagx_job *job)
{
	struct vagx_gpu *gpu = job->gpu;
	struct vagx_job **p = &gpu->open;

	pthread_mutex_lock(&gpu->lock);
	while (*p && *p != job)
		p = &(*p)->open_next;
	if (*p)
		*p = job->open_next;
	/* who has not come by now finds nothing to do any more */
	while (job->grid.helpers)
		pthread_cond_wait(&job->left_cond, &gpu->lock);
	job->grid.launch = NULL;
	pthread_mutex_unlock(&gpu->lock);
}

void gpu_run_grid(struct vagx_job *job, const struct vagx_launch *launch)
{
	if (!gpu_set_grid(&job->grid, launch))
		return;
	gpu_open_grid(job);
	gpu_work(job->core, job, UINT64_MAX);
	gpu_close_grid(job);
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

static int gpu_core_init(struct vagx_gpu *gpu, struct gpu_core *core,
			 unsigned int index)
{
	const struct vagx_core_config config = {
		.index = index,
		.tlb = &core->tlb,
		.programs = gpu->programs,
		.report = gpu->config.report,
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
	free(gpu->shared);
	free(gpu);
}
