// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Failures of jobs: which of several errors is the job's, and what is kept of it until the job
 * ends. Compute work keeps the error that comes first in time; stages of rendering that of the
 * first part, whichever came first. Parts fail on any core's thread: the GPU's lock protects what
 * a job keeps.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/gpu_internal.h"

/* Makes a fault at the shader's code, for errors of a core without a fault */
static void failure_fault_of_code(const struct vagx_launch *launch, struct vagx_uat_fault *fault)
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
			failure_fault_of_code(launch, fault);
			vagx_violation(job->gpu->config.report,
				       VAGX_RULE_USC_SHADER_FAILED,
				       launch->code_va, "shader", "%s",
				       vagx_core_error(core->core));
		}
		job->description = gpu_describe_shader(job->gpu, core, launch);
		job->error = err;
		job->fault = *fault;
		atomic_store(&job->stop, true);
	}
	pthread_mutex_unlock(&job->gpu->lock);
}

/* Stages of rendering */

int gpu_failure_at(struct gpu_failure *failure, const struct vagx_uat_fault *fault,
		   unsigned int unit)
{
	failure->fault = *fault;
	failure->unit = unit;
	return -EFAULT;
}

void gpu_failure_violates(struct gpu_failure *failure, enum vagx_rule rule, uint64_t va,
			  const char *packet, const char *format, ...)
{
	va_list args;

	failure->violates = true;
	failure->rule = rule;
	failure->va = va;
	failure->packet = packet;
	va_start(args, format);
	vsnprintf(failure->text, sizeof(failure->text), format, args);
	va_end(args);
}

int gpu_stage_error(struct vagx_job *job, struct gpu_core *core, const struct vagx_launch *launch,
		    int err, struct gpu_failure *failure)
{
	if (err == -ECANCELED)
		return err;
	failure->unit = VAGX_GPU_UNIT_USC;
	if (err != -EFAULT) {
		failure_fault_of_code(launch, &failure->fault);
		gpu_failure_violates(failure, VAGX_RULE_USC_SHADER_FAILED, launch->code_va,
				     "shader", "%s", vagx_core_error(core->core));
	}
	pthread_mutex_lock(&job->gpu->lock);
	failure->description = gpu_describe_shader(job->gpu, core, launch);
	pthread_mutex_unlock(&job->gpu->lock);
	return -EFAULT;
}

void gpu_failure_drop(struct gpu_failure *failure)
{
	free(failure->description);
	*failure = (struct gpu_failure){ 0 };
}

void gpu_failure_copy(struct gpu_failure *failure, const struct gpu_failure *other)
{
	*failure = *other;
	failure->description = other->description ? strdup(other->description) : NULL;
}

int gpu_failure_keep(struct vagx_gpu *gpu, struct gpu_failure *first, struct gpu_failure *failure,
		     uint64_t part, int err)
{
	failure->err = err;
	/* a part that was cancelled has no error of its own */
	failure->part = err == -ECANCELED ? UINT64_MAX : part;
	pthread_mutex_lock(&gpu->lock);
	if (!first->err || failure->part < first->part) {
		gpu_failure_drop(first);
		*first = *failure;
		*failure = (struct gpu_failure){ 0 };
	}
	pthread_mutex_unlock(&gpu->lock);
	gpu_failure_drop(failure);
	return err;
}

int gpu_bad_geometry(struct vagx_job *job, enum vagx_rule clause,
		     const struct vagx_render_geometry *g, struct vagx_uat_fault *fault)
{
	vagx_violation(job->gpu->config.report, clause, 0, "render",
		       "%u x %u pixels, %u layers, %u samples, tiles of %u x %u", g->width,
		       g->height, g->layers, g->samples, g->utile_width, g->utile_height);
	*fault = (struct vagx_uat_fault){
		.slot = job->vm_slot,
		.access = VAGX_READ,
		.reason = VAGX_FAULT_NO_ACCESS,
	};
	return -EFAULT;
}

void gpu_failure_end(struct vagx_job *job, struct gpu_failure *failure,
		     struct vagx_uat_fault *fault, unsigned int *unit)
{
	*fault = failure->fault;
	*unit = failure->unit;
	if (failure->violates)
		vagx_violation(job->gpu->config.report, failure->rule, failure->va,
			       failure->packet, "%s", failure->text);
	free(job->description);
	job->description = failure->description;
	failure->description = NULL;
	gpu_failure_drop(failure);
}
