// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Jobs, and compute work: launches of a control stream (cdm.c) whose threadgroups are parts that
 * the cores share. A job runs on the thread of its caller. Its first error and the GPU's counters
 * are protected by the GPU's lock; it is cancelled by an atomic flag, from any thread.
 */
#include <errno.h>
#include <stdlib.h>

#include "gpu/cdm.h"
#include "gpu/gpu_internal.h"
#include "gpu/pattern.h"
#include "gpu/trace.h"
#include "report.h"

struct vagx_job *vagx_job_new(struct vagx_gpu *gpu, unsigned int vm_slot)
{
	struct vagx_job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	job->gpu = gpu;
	job->vm_slot = vm_slot;
	job->serial = atomic_fetch_add(&gpu->job_serial, 1) + 1;
	job->fault = (struct vagx_uat_fault){ .slot = vm_slot };
	job->core = gpu_core_get(gpu);
	if (!job->core) {
		free(job);
		errno = ENOMEM;
		return NULL;
	}
	job->written = vagx_written_new(gpu->config.uat, vm_slot);
	pthread_cond_init(&job->left_cond, NULL);
	return job;
}

void vagx_job_free(struct vagx_job *job)
{
	if (!job)
		return;
	gpu_core_put(job->gpu, job->core);
	if (job->free_vertex)
		job->free_vertex(job->vertex);
	vagx_written_free(job->written);
	pthread_cond_destroy(&job->left_cond);
	free(job->description);
	free(job);
}

void vagx_job_cancel(struct vagx_job *job)
{
	atomic_store(&job->stop, true);
}

static void job_run_preshader(struct vagx_job *job, struct vagx_launch *launch)
{
	struct vagx_uat_fault fault;
	int err = vagx_core_run_preshader(job->core->core, launch, &fault);

	if (err)
		gpu_record_error(job, job->core, launch, err, &fault);
}

int gpu_stage_begin(struct vagx_job *job, struct gpu_core *core, struct vagx_launch *launch,
		    struct gpu_failure *failure)
{
	struct vagx_gpu *gpu = job->gpu;
	int err;

	launch->serial = atomic_fetch_add(&gpu->launch_serial, 1) + 1;
	launch->stop = &job->stop;
	launch->vm_slot = job->vm_slot;
	launch->job = job->serial;
	launch->soft_faults = gpu->config.soft_faults;
	pthread_mutex_lock(&gpu->lock);
	gpu->stats.launches++;
	pthread_mutex_unlock(&gpu->lock);
	err = vagx_core_run_preshader(core->core, launch, &failure->fault);
	return err ? gpu_stage_error(job, core, launch, err, failure) : 0;
}

/*
 * Most threadgroups of a part. Taking a part waits until the host has written all that was stored
 * before it.
 */
#define PART_GROUPS	16
/* A core takes at least so many parts of a launch, so that cores end at about the same time */
#define CORE_PARTS	32

/* The threadgroups of a launch, in parts of @part that follow each other */
struct grid {
	const struct vagx_launch *launch;
	uint32_t groups[3];
	uint64_t total;
	uint64_t parts;
	unsigned int part;
};

static void job_set_grid(struct grid *grid, const struct vagx_launch *launch, unsigned int cores)
{
	uint64_t part;
	unsigned int i;

	grid->launch = launch;
	grid->total = 1;
	for (i = 0; i < 3; i++) {
		grid->groups[i] = (launch->grid[i] + (uint64_t)launch->local[i] - 1) /
				  launch->local[i];
		/* no job lives long enough to run so many that the product overflows */
		if (__builtin_mul_overflow(grid->total, grid->groups[i], &grid->total))
			grid->total = UINT64_MAX;
	}
	part = grid->total / (CORE_PARTS * cores);
	grid->part = part > PART_GROUPS ? PART_GROUPS : part ? (unsigned int)part : 1;
	grid->parts = grid->total / grid->part + (grid->total % grid->part != 0);
}

/*
 * The part that comes @n-th: the seed chooses the first one. The others follow each other, as
 * what is written from one end to the other costs half of what leaps cost.
 */
static uint64_t job_order_part(const struct grid *grid, uint32_t seed, uint64_t n)
{
	uint64_t parts = grid->parts;

	n += vagx_pattern_pick(seed, 0, parts < UINT32_MAX ? (uint32_t)parts : UINT32_MAX);
	return n < parts ? n : n - parts;
}

/*
 * Runs threadgroups of a part. Others may wait for what they write, so the first one that fails
 * ends all.
 */
static int job_run_part(struct vagx_job *job, struct gpu_core *core, void *ctx, uint64_t part)
{
	const struct grid *grid = ctx;
	uint64_t n = job_order_part(grid, job->gpu->config.seed, part) * grid->part;
	uint64_t row = n / grid->groups[0], left = grid->total - n;
	const uint32_t group[3] = {
		n % grid->groups[0],
		row % grid->groups[1],
		row / grid->groups[1],
	};
	struct vagx_uat_fault fault;
	int err;

	if (atomic_load_explicit(&job->stop, memory_order_relaxed))
		return -ECANCELED;
	err = vagx_core_run_groups(core->core, grid->launch, group,
				   left < grid->part ? (unsigned int)left : grid->part, &fault);
	if (err)
		gpu_record_error(job, core, grid->launch, err, &fault);
	return err;
}

static void job_run_grid(struct vagx_job *job, const struct vagx_launch *launch)
{
	struct grid grid;

	job_set_grid(&grid, launch, job->gpu->num_shared + 1);
	gpu_run_parts(job, job_run_part, &grid, grid.parts, "threadgroups");
}

static void job_trace_launch(struct vagx_job *job, const struct vagx_launch *launch, uint64_t began)
{
	const struct vagx_trace_arg args[] = {
		{ "job", job->serial },
		{ "code", launch->code_va },
		{ "threads x", launch->grid[0] },
		{ "threads y", launch->grid[1] },
		{ "threads z", launch->grid[2] },
	};

	vagx_trace_span(job->gpu->config.trace, "launch", began, args,
			sizeof(args) / sizeof(args[0]));
}

/* Runs a launch of the control stream to its end, for vagx_cdm_run() */
static int job_launch(void *ctx, struct vagx_launch *launch,
		      struct vagx_uat_fault *fault, unsigned int *unit)
{
	struct vagx_job *job = ctx;
	struct vagx_gpu *gpu = job->gpu;
	uint64_t began = vagx_trace_now(gpu->config.trace);
	int err;

	vagx_log(gpu->config.report, VAGX_LOG_DEBUG,
		 "launch: code 0x%llx, %u x %u x %u threads in groups of %u x %u x %u",
		 (unsigned long long)launch->code_va, launch->grid[0],
		 launch->grid[1], launch->grid[2], launch->local[0],
		 launch->local[1], launch->local[2]);

	launch->serial = atomic_fetch_add(&gpu->launch_serial, 1) + 1;
	launch->stop = &job->stop;
	launch->soft_faults = gpu->config.soft_faults;
	launch->job = job->serial;
	launch->number = job->launches + 1;
	if (!gpu->config.no_exec) {
		job_run_preshader(job, launch);
		if (!atomic_load(&job->stop))
			job_run_grid(job, launch);
	}

	pthread_mutex_lock(&gpu->lock);
	gpu->stats.launches++;
	err = job->error;
	*fault = job->fault;
	pthread_mutex_unlock(&gpu->lock);
	job->launches++;
	job_trace_launch(job, launch, began);

	if (err) {
		*unit = VAGX_GPU_UNIT_USC;
		return -EFAULT;
	}
	return atomic_load(&job->stop) ? -ECANCELED : 0;
}

void gpu_job_begin(struct vagx_job *job)
{
	job->began = vagx_trace_now(job->gpu->config.trace);
	vagx_core_get_stats(job->core->core, &job->before);
	if (pthread_getcpuclockid(pthread_self(), &job->core->clock))
		job->core->clock = CLOCK_MONOTONIC;
	gpu_core_use(job->core, job);
	pthread_mutex_lock(&job->gpu->lock);
	job->gpu->stats.jobs++;
	gpu_time_begin(job, job->core);
	pthread_mutex_unlock(&job->gpu->lock);
}

static void job_trace_job(struct vagx_job *job, const char *kind)
{
	struct vagx_core_stats after;
	const struct vagx_core_stats *before = &job->before;

	vagx_core_get_stats(job->core->core, &after);
	vagx_trace_span(job->gpu->config.trace, kind, job->began, (struct vagx_trace_arg[]){
		{ "job", job->serial },
		{ "context", job->vm_slot },
		{ "packets", job->packets },
		{ "launches", job->launches },
		{ "draws", job->draws },
		{ "threadgroups", after.groups - before->groups },
		{ "instructions", after.instructions - before->instructions },
		{ "thread instructions", after.thread_instructions - before->thread_instructions },
		{ "bytes loaded", after.loaded - before->loaded },
		{ "bytes stored", after.stored - before->stored },
	}, 10);
}

void gpu_job_end(struct vagx_job *job, const char *kind)
{
	job_trace_job(job, kind);
	pthread_mutex_lock(&job->gpu->lock);
	gpu_time_end(job, job->core);
	pthread_mutex_unlock(&job->gpu->lock);
}

enum vagx_gpu_status gpu_job_status(struct vagx_job *job, const char *kind, int err,
				    const struct vagx_uat_fault *fault, unsigned int *unit)
{
	const struct vagx_gpu_units *units = job->gpu->config.units;

	switch (err) {
	case 0:
		return VAGX_GPU_DONE;
	case -ECANCELED:
		return VAGX_GPU_CANCELLED;
	default:
		gpu_report_fault(job, kind, fault, *unit);
		if (units)
			*unit = units->code[*unit];
		return VAGX_GPU_FAULT;
	}
}

enum vagx_gpu_status vagx_job_compute(struct vagx_job *job,
				      const struct vagx_compute_registers *registers,
				      struct vagx_uat_fault *fault,
				      unsigned int *unit)
{
	const struct vagx_cdm cdm = {
		.tlb = &job->core->tlb,
		.report = job->gpu->config.report,
		.vm_slot = job->vm_slot,
		.registers = registers,
		.features = job->gpu->config.stream_features,
		.seed = job->gpu->config.seed,
		.packets = &job->packets,
		.stop = &job->stop,
		.launch = job_launch,
		.ctx = job,
	};
	int err;

	gpu_job_begin(job);
	err = vagx_cdm_run(&cdm, fault, unit);
	gpu_job_end(job, "compute");
	return gpu_job_status(job, "compute", err, fault, unit);
}
