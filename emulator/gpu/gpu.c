// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The compute data master reads a job's stream on the thread that brought the
 * job. For each launch, that thread and the threads of the other cores take
 * threadgroups, one at a time, until there are no more; it then goes on to the
 * next launch. Cores without work sleep.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "gpu/cdm.h"
#include "gpu/core.h"
#include "gpu/gpu.h"
#include "report.h"
#include "uat.h"

/* A shader core and its thread; core 0 lives on the job's own thread. */
struct gpu_core {
	struct vagx_gpu *gpu;
	struct vagx_core *core;
	struct vagx_tlb tlb;
	pthread_t thread;
	unsigned int index;
	bool has_thread;
};

/* The launch that is being executed. */
struct gpu_work {
	const struct vagx_launch *launch;
	/* extent in threadgroups, and their number */
	uint32_t groups[3];
	uint64_t total;
	/* next group that nobody has taken yet */
	atomic_uint_fast64_t next;
};

struct vagx_gpu {
	struct vagx_gpu_config config;
	struct gpu_core *cores;
	unsigned int ncores;

	/* held by whoever runs a job */
	pthread_mutex_t job_lock;

	/* protects everything below */
	pthread_mutex_t lock;
	/* generation changed, or shutdown */
	pthread_cond_t work_cond;
	/* active became zero */
	pthread_cond_t idle_cond;
	struct gpu_work work;
	/* grows with each launch; a core joins each generation once */
	uint64_t generation;
	/* cores that may still join this generation, and that are in it */
	unsigned int wanted;
	unsigned int active;
	bool running;
	bool shutdown;
	/* the launch's first error and its fault */
	int error;
	struct vagx_uat_fault fault;
	struct vagx_gpu_stats stats;

	uint64_t serial;
	/* makes cores and stream come to an end; written under the lock */
	atomic_bool stop;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
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

/* Called with the lock held: the first error is the job's. */
static void gpu_record_error(struct vagx_gpu *gpu, struct gpu_core *core,
			     const struct vagx_launch *launch, int err,
			     struct vagx_uat_fault *fault)
{
	if (err == -ECANCELED || gpu->error)
		return;

	if (err != -EFAULT) {
		fault_of_code(launch, fault);
		vagx_violation(gpu->config.report, VAGX_RULE_USC_SHADER_FAILED,
			       launch->code_va, "shader", "%s",
			       vagx_core_error(core->core));
	}
	gpu->error = err;
	gpu->fault = *fault;
	atomic_store(&gpu->stop, true);
}

static int gpu_run_groups(struct gpu_core *core, struct gpu_work *work,
			  uint64_t *count, struct vagx_uat_fault *fault)
{
	*count = 0;
	for (;;) {
		uint64_t n = atomic_fetch_add(&work->next, 1);
		uint64_t row = n / work->groups[0];
		uint32_t group[3];
		int err;

		if (n >= work->total)
			return 0;
		if (atomic_load_explicit(&core->gpu->stop,
					 memory_order_relaxed))
			return -ECANCELED;
		group[0] = n % work->groups[0];
		group[1] = row % work->groups[1];
		group[2] = row / work->groups[1];
		err = vagx_core_run_group(core->core, work->launch, group,
					  fault);
		if (err)
			return err;
		++*count;
	}
}

/* Called with the lock held, drops it for as long as there are groups. */
static void gpu_join_work(struct gpu_core *core)
{
	struct vagx_gpu *gpu = core->gpu;
	struct vagx_core_stats before, after;
	struct vagx_uat_fault fault;
	uint64_t begin, groups;
	int err;

	gpu->active++;
	pthread_mutex_unlock(&gpu->lock);

	vagx_core_get_stats(core->core, &before);
	begin = now_ns();
	err = gpu_run_groups(core, &gpu->work, &groups, &fault);
	begin = now_ns() - begin;
	vagx_core_get_stats(core->core, &after);

	pthread_mutex_lock(&gpu->lock);
	if (err)
		gpu_record_error(gpu, core, gpu->work.launch, err, &fault);
	gpu->stats.groups += groups;
	gpu->stats.busy_ns += begin;
	gpu->stats.instructions += after.instructions - before.instructions;
	if (!--gpu->active)
		pthread_cond_signal(&gpu->idle_cond);
}

static void *gpu_core_thread(void *arg)
{
	struct gpu_core *core = arg;
	struct vagx_gpu *gpu = core->gpu;
	uint64_t seen = 0;

	pthread_mutex_lock(&gpu->lock);
	while (!gpu->shutdown) {
		if (seen == gpu->generation || !gpu->wanted) {
			seen = gpu->generation;
			pthread_cond_wait(&gpu->work_cond, &gpu->lock);
			continue;
		}
		seen = gpu->generation;
		gpu->wanted--;
		gpu_join_work(core);
	}
	pthread_mutex_unlock(&gpu->lock);
	return NULL;
}

static void gpu_wake_cores(struct vagx_gpu *gpu, uint64_t groups)
{
	unsigned int others = gpu->ncores - 1;
	unsigned int i;

	gpu->wanted = groups - 1 < others ? groups - 1 : others;
	gpu->generation++;
	if (gpu->wanted == others)
		pthread_cond_broadcast(&gpu->work_cond);
	else
		for (i = 0; i < gpu->wanted; i++)
			pthread_cond_signal(&gpu->work_cond);
}

static void gpu_run_grid(struct vagx_gpu *gpu, const struct vagx_launch *launch)
{
	struct gpu_work *work = &gpu->work;
	unsigned int i;

	pthread_mutex_lock(&gpu->lock);
	work->launch = launch;
	work->total = 1;
	for (i = 0; i < 3; i++) {
		work->groups[i] = (launch->grid[i] + (uint64_t)launch->local[i] - 1) /
				  launch->local[i];
		/* a product that is too large is never worked off either */
		if (__builtin_mul_overflow(work->total, work->groups[i],
					   &work->total))
			work->total = UINT64_MAX;
	}
	atomic_store(&work->next, 0);
	if (work->total) {
		gpu_wake_cores(gpu, work->total);
		gpu_join_work(&gpu->cores[0]);
		/* who has not come by now finds nothing to do any more */
		gpu->wanted = 0;
		while (gpu->active)
			pthread_cond_wait(&gpu->idle_cond, &gpu->lock);
	}
	work->launch = NULL;
	pthread_mutex_unlock(&gpu->lock);
}

static void gpu_run_preshader(struct vagx_gpu *gpu, struct vagx_launch *launch)
{
	struct gpu_core *core = &gpu->cores[0];
	struct vagx_uat_fault fault;
	int err = vagx_core_run_preshader(core->core, launch, &fault);

	if (!err)
		return;
	pthread_mutex_lock(&gpu->lock);
	gpu_record_error(gpu, core, launch, err, &fault);
	pthread_mutex_unlock(&gpu->lock);
}

/* The data master's callback. */
static int gpu_launch(void *ctx, struct vagx_launch *launch,
		      struct vagx_uat_fault *fault, unsigned int *unit)
{
	struct vagx_gpu *gpu = ctx;
	int err;

	vagx_log(gpu->config.report, VAGX_LOG_DEBUG,
		 "launch: code 0x%llx, %u x %u x %u threads in groups of %u x %u x %u",
		 (unsigned long long)launch->code_va, launch->grid[0],
		 launch->grid[1], launch->grid[2], launch->local[0],
		 launch->local[1], launch->local[2]);

	launch->serial = ++gpu->serial;
	launch->soft_faults = gpu->config.soft_faults;
	if (!gpu->config.no_exec) {
		gpu_run_preshader(gpu, launch);
		if (!atomic_load(&gpu->stop))
			gpu_run_grid(gpu, launch);
	}

	pthread_mutex_lock(&gpu->lock);
	gpu->stats.launches++;
	err = gpu->error;
	*fault = gpu->fault;
	pthread_mutex_unlock(&gpu->lock);

	if (err) {
		*unit = VAGX_GPU_UNIT_USC;
		return -EFAULT;
	}
	return atomic_load(&gpu->stop) ? -ECANCELED : 0;
}

static void gpu_begin_job(struct vagx_gpu *gpu, unsigned int vm_slot)
{
	unsigned int i;

	for (i = 0; i < gpu->ncores; i++)
		vagx_tlb_init(&gpu->cores[i].tlb, gpu->config.uat, vm_slot,
			      VAGX_AGENT_GPU);

	pthread_mutex_lock(&gpu->lock);
	gpu->running = true;
	gpu->error = 0;
	gpu->fault = (struct vagx_uat_fault){ .slot = vm_slot };
	gpu->stats.jobs++;
	atomic_store(&gpu->stop, false);
	pthread_mutex_unlock(&gpu->lock);
}

static void gpu_end_job(struct vagx_gpu *gpu)
{
	pthread_mutex_lock(&gpu->lock);
	gpu->running = false;
	pthread_mutex_unlock(&gpu->lock);
}

enum vagx_gpu_status vagx_gpu_compute(struct vagx_gpu *gpu,
				      const struct vagx_compute_job *job,
				      struct vagx_uat_fault *fault,
				      unsigned int *unit)
{
	const struct vagx_cdm cdm = {
		.uat = gpu->config.uat,
		.report = gpu->config.report,
		.job = job,
		.stop = &gpu->stop,
		.launch = gpu_launch,
		.ctx = gpu,
	};
	int err;

	pthread_mutex_lock(&gpu->job_lock);
	gpu_begin_job(gpu, job->vm_slot);
	err = vagx_cdm_run(&cdm, fault, unit);
	gpu_end_job(gpu);
	pthread_mutex_unlock(&gpu->job_lock);

	switch (err) {
	case 0:
		return VAGX_GPU_DONE;
	case -ECANCELED:
		return VAGX_GPU_CANCELLED;
	default:
		vagx_log(gpu->config.report, VAGX_LOG_INFO,
			 "compute job: %s fault at 0x%llx, %s, context %u, unit %s",
			 vagx_access_name(fault->access),
			 (unsigned long long)fault->va,
			 vagx_fault_reason_name(fault->reason), fault->slot,
			 vagx_gpu_unit_name(*unit));
		return VAGX_GPU_FAULT;
	}
}

void vagx_gpu_cancel(struct vagx_gpu *gpu)
{
	pthread_mutex_lock(&gpu->lock);
	if (gpu->running)
		atomic_store(&gpu->stop, true);
	pthread_mutex_unlock(&gpu->lock);
}

const char *vagx_gpu_unit_name(unsigned int unit)
{
	switch (unit) {
	case VAGX_GPU_UNIT_USC:
		return "UL1C0 (shader core)";
	case VAGX_GPU_UNIT_CDM_CS:
		return "gCDM_CS_SP0_KS0 (compute control stream)";
	case VAGX_GPU_UNIT_CDM:
		return "gCDM_SP0_KS0 (compute shader words)";
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

static int gpu_start_core(struct vagx_gpu *gpu, unsigned int index)
{
	struct gpu_core *core = &gpu->cores[index];
	const struct vagx_core_config config = {
		.index = index,
		.tlb = &core->tlb,
		.report = gpu->config.report,
		.stop = &gpu->stop,
	};
	int err;

	core->gpu = gpu;
	core->index = index;
	core->core = vagx_core_new(&config);
	if (!core->core)
		return ENOMEM;
	if (!index)
		return 0;

	err = pthread_create(&core->thread, NULL, gpu_core_thread, core);
	core->has_thread = !err;
	return err;
}

static void gpu_stop_cores(struct vagx_gpu *gpu)
{
	unsigned int i;

	pthread_mutex_lock(&gpu->lock);
	gpu->shutdown = true;
	pthread_cond_broadcast(&gpu->work_cond);
	pthread_mutex_unlock(&gpu->lock);

	for (i = 0; i < gpu->ncores; i++) {
		if (gpu->cores[i].has_thread)
			pthread_join(gpu->cores[i].thread, NULL);
		vagx_core_free(gpu->cores[i].core);
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
	gpu->ncores = config->cores;
	gpu->cores = calloc(gpu->ncores, sizeof(*gpu->cores));
	if (!gpu->cores) {
		free(gpu);
		return NULL;
	}
	pthread_mutex_init(&gpu->job_lock, NULL);
	pthread_mutex_init(&gpu->lock, NULL);
	pthread_cond_init(&gpu->work_cond, NULL);
	pthread_cond_init(&gpu->idle_cond, NULL);

	for (i = 0; i < gpu->ncores && !err; i++)
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
	pthread_cond_destroy(&gpu->idle_cond);
	pthread_cond_destroy(&gpu->work_cond);
	pthread_mutex_destroy(&gpu->lock);
	pthread_mutex_destroy(&gpu->job_lock);
	free(gpu->cores);
	free(gpu);
}
