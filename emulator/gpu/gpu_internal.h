/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What the files of the GPU share: cores, and the jobs that they work for.
 */
#ifndef VAGX_GPU_INTERNAL_H
#define VAGX_GPU_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "gpu/core.h"
#include "gpu/gpu.h"
#include "gpu/render.h"
#include "report.h"
#include "uat.h"

/**
 * struct gpu_core - a shader core
 * @gpu: whose it is
 * @core: its interpreter
 * @tlb: its translations
 * @job_serial: number of the job that @tlb is for, 0 for none
 * @index: its place in a job's table of times
 * @next: next core that no job has
 * @thread: its thread, if it serves all jobs
 * @clock: that thread's processor time
 * @has_thread: @thread has been started
 *
 * A core is used by one thread at a time: its own, or that of the job that
 * holds it.
 */
struct gpu_core {
	struct vagx_gpu *gpu;
	struct vagx_core *core;
	struct vagx_tlb tlb;
	uint64_t job_serial;
	unsigned int index;
	struct gpu_core *next;
	pthread_t thread;
	clockid_t clock;
	bool has_thread;
};

/**
 * typedef gpu_part_fn - one part of what a job has to do
 *
 * On any core, beside others. When it returns an error, which it has kept where
 * its job finds it, no further part is begun.
 */
typedef int gpu_part_fn(struct vagx_job *job, struct gpu_core *core, void *ctx, uint64_t part);

/**
 * struct gpu_parts - what a job is doing, in parts that cores take one by one
 * @run: does a part
 * @ctx: its argument
 * @name: what parts are called in the trace
 * @total: how many there are
 * @next: the next part that nobody has taken yet. They are taken in their order,
 *	so when one fails, those before it have been taken, and are finished.
 * @helpers: shared cores that work on it; protected by the GPU's lock
 *
 * The job's own thread writes everything else, before it opens the parts and
 * after the last helper has left.
 */
struct gpu_parts {
	gpu_part_fn *run;
	void *ctx;
	const char *name;
	uint64_t total;
	atomic_uint_fast64_t next;
	unsigned int helpers;
};

/**
 * struct gpu_failure - how work of a stage has failed
 * @err: -EFAULT, -ECANCELED; 0 if it has not
 * @part: the part that has, among those of the job
 * @fault: what the firmware is told
 * @unit: enum vagx_gpu_unit, likewise
 * @violates: a rule is broken, too
 * @rule: that rule
 * @va: where
 * @packet: what is there
 * @text: what is wrong with it
 * @description: of the shader, or NULL
 *
 * Of several parts that fail, the job has failed as the first of them, whichever
 * came first in time: that is the one with which a single core would have ended.
 */
struct gpu_failure {
	int err;
	uint64_t part;
	struct vagx_uat_fault fault;
	unsigned int unit;
	bool violates;
	enum vagx_rule rule;
	uint64_t va;
	const char *packet;
	char text[192];
	char *description;
};

/**
 * struct gpu_time - the processor time that one core has spent on a job
 * @spent: nanoseconds, without what goes on now
 * @since: what @clock showed when the core came, if it works for the job now
 * @clock: processor time of the thread that works
 * @works: the core works for the job now
 */
struct gpu_time {
	uint64_t spent;
	uint64_t since;
	clockid_t clock;
	bool works;
};

/* See gpu.h */
struct vagx_gpu {
	struct vagx_gpu_config config;

	/* cores with threads, which serve all jobs */
	struct gpu_core *shared;
	unsigned int num_shared;
	/* what all cores have decoded */
	struct vagx_programs *programs;

	/* numbers of jobs and launches, never 0 */
	atomic_uint_fast64_t job_serial;
	atomic_uint_fast64_t launch_serial;

	/* protects everything below, and what jobs say it does */
	pthread_mutex_t lock;
	/* parts were opened, or shutdown */
	pthread_cond_t work_cond;
	/* jobs that have parts for others */
	struct vagx_job *open;
	/* cores that were made for jobs and that no job holds */
	struct gpu_core *idle;
	bool shutdown;
	struct vagx_gpu_stats stats;
	/* failed jobs that were described at length */
	unsigned int described;
};

/**
 * struct vagx_job - see gpu.h
 * @gpu: whose it is
 * @vm_slot: its context
 * @serial: its number
 * @core: the core that its own thread is
 * @written: pages that it has stored to, or NULL
 * @stop: makes cores and stream come to an end
 * @parts: what it is doing
 * @open_next: next job with open parts; protected by the GPU's lock
 * @left_cond: the last helper has left the parts
 * @error: its first error; protected by the GPU's lock
 * @fault: the fault that belongs to it; likewise
 * @description: of the shader that failed, or NULL; likewise
 * @vertex: where vertex work stands, see vertex_job.c
 * @free_vertex: gives it up; NULL without
 * @began: when it was traced to begin
 * @before: what @core had done before it
 * @launches: launches read from its stream, for the trace
 * @packets: packets read from its stream, likewise
 * @draws: draws read from its stream, likewise
 * @time: what the cores have spent on it; likewise. Index 0 is @core, the
 *	others are the shared ones.
 */
struct vagx_job {
	struct vagx_gpu *gpu;
	unsigned int vm_slot;
	uint64_t serial;
	struct gpu_core *core;
	struct vagx_written *written;
	atomic_bool stop;
	struct gpu_parts parts;
	struct vagx_job *open_next;
	pthread_cond_t left_cond;
	int error;
	struct vagx_uat_fault fault;
	char *description;
	struct vertex_job *vertex;
	void (*free_vertex)(struct vertex_job *vertex);
	uint64_t began;
	struct vagx_core_stats before;
	uint64_t launches;
	uint64_t packets;
	uint64_t draws;
	struct gpu_time time[VAGX_GPU_MAX_CORES];
};

/* A core for a job's own thread: one that is idle, or a new one. NULL without memory. */
struct gpu_core *gpu_core_get(struct vagx_gpu *gpu);
void gpu_core_put(struct vagx_gpu *gpu, struct gpu_core *core);

/* Before a core works for a job: no translation of another one is left */
void gpu_core_use(struct gpu_core *core, const struct vagx_job *job);

/* The first error is the job's; ends it. The core has just failed with @err. */
void gpu_record_error(struct vagx_job *job, struct gpu_core *core,
		      const struct vagx_launch *launch, int err,
		      struct vagx_uat_fault *fault);

/* What there is to say of a core's failure, or NULL. With the GPU's lock held. To be freed. */
char *gpu_describe_shader(struct vagx_gpu *gpu, const struct gpu_core *core,
			  const struct vagx_launch *launch);

/* Logs how a job has failed. With an enum vagx_gpu_unit */
void gpu_report_fault(struct vagx_job *job, const char *kind, const struct vagx_uat_fault *fault,
		      unsigned int unit);

/* Runs all parts, with whatever cores come to help; returns when all have left */
void gpu_run_parts(struct vagx_job *job, gpu_part_fn *run, void *ctx, uint64_t total,
		   const char *name);

/* Around all that a job's own thread does for it; @kind is its name in the trace */
void gpu_job_begin(struct vagx_job *job);
void gpu_job_end(struct vagx_job *job, const char *kind);

/* How a job ended, by 0, -ECANCELED, or any other error with a fault and its unit */
enum vagx_gpu_status gpu_job_status(struct vagx_job *job, const char *kind, int err,
				    const struct vagx_uat_fault *fault, unsigned int *unit);

/* A launch of a stage gets what all have, and its preshader is run. Return: 0, -EFAULT */
int gpu_stage_begin(struct vagx_job *job, struct gpu_core *core, struct vagx_launch *launch,
		    struct gpu_failure *failure);

/* A core has failed with @err. Return: -EFAULT with all that is to be said, or -ECANCELED */
int gpu_stage_error(struct vagx_job *job, struct gpu_core *core, const struct vagx_launch *launch,
		    int err, struct gpu_failure *failure);

/* A failure at an address. Return: -EFAULT */
int gpu_failure_at(struct gpu_failure *failure, const struct vagx_uat_fault *fault,
		   unsigned int unit);

/* It breaks a rule, too */
void gpu_failure_violates(struct gpu_failure *failure, enum vagx_rule rule, uint64_t va,
			  const char *packet, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/*
 * A part has failed with @err, and with @failure if that is -EFAULT. In @first there is
 * afterwards the first one that has, and @failure is empty. Return: @err
 */
int gpu_failure_keep(struct vagx_gpu *gpu, struct gpu_failure *first, struct gpu_failure *failure,
		     uint64_t part, int err);

/* The same as another one, which stays */
void gpu_failure_copy(struct gpu_failure *failure, const struct gpu_failure *other);
void gpu_failure_drop(struct gpu_failure *failure);

/* It is how the job ends: said to the report, the rest to fault and unit. Empty afterwards. */
void gpu_failure_end(struct vagx_job *job, struct gpu_failure *failure,
		     struct vagx_uat_fault *fault, unsigned int *unit);

/* Says that there is no such image. Return: -EFAULT, with a fault that says the same */
int gpu_bad_geometry(struct vagx_job *job, const struct vagx_render_geometry *geometry,
		     struct vagx_uat_fault *fault);

/* A core comes to work for a job, and leaves it. With the GPU's lock held. */
void gpu_time_begin(struct vagx_job *job, unsigned int index, clockid_t clock);
void gpu_time_end(struct vagx_job *job, unsigned int index);

#endif /* VAGX_GPU_INTERNAL_H */
