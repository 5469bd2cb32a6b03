/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What the files of the GPU share: cores, and the jobs that they execute.
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
 * @gpu: its GPU
 * @core: its interpreter
 * @tlb: its TLB
 * @job_serial: number of the job that @tlb is for, 0 for none
 * @index: its index in a job's table of times: 0 for a job's own core, from 1 on for shared ones
 * @next: next idle core
 * @thread: its thread, if it is a shared core
 * @clock: processor time of @thread, or of the thread that runs the job
 * @has_thread: @thread has been started
 *
 * A core is used by one thread at a time: its own, or that of the job that holds it.
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
 * typedef gpu_part_fn - do one part of a job's work
 *
 * Runs on any core, at the same time as other parts. When it returns an error, which it has
 * recorded for the job, no further part is begun.
 */
typedef int gpu_part_fn(struct vagx_job *job, struct gpu_core *core, void *ctx, uint64_t part);

/**
 * struct gpu_parts - a job's work, in parts that cores take one by one
 * @run: does a part
 * @ctx: its argument
 * @name: name of parts in the trace
 * @total: number of parts
 * @next: the next part to be taken. They are taken in order, so when one fails, those before it
 *	have been taken, and are finished.
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
 * struct gpu_failure - failure of a stage's work
 * @err: -EFAULT, -ECANCELED; 0 if it has not failed
 * @part: number of the part that has failed
 * @fault: fault that is reported to the firmware
 * @unit: unit that it is reported for, enum vagx_gpu_unit
 * @violates: a rule is broken, too
 * @rule: that rule
 * @va: address of what breaks it
 * @packet: name of what is at that address
 * @text: what is wrong with it
 * @description: description of the shader that failed, or NULL
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
 * struct gpu_time - the time that one core has spent on a job
 * @spent: nanoseconds, without the time since @since
 * @since: the core's time when it began (gpu_time_read()), if it works for the job now
 * @core: the core, while it works for the job
 */
struct gpu_time {
	uint64_t spent;
	uint64_t since;
	const struct gpu_core *core;
};

/* See gpu.h */
struct vagx_gpu {
	struct vagx_gpu_config config;

	/* cores with threads, which serve all jobs */
	struct gpu_core *shared;
	unsigned int num_shared;
	/* cache of decoded programs, shared by all cores */
	struct vagx_programs *programs;
	/* their compiler; NULL if they are interpreted */
	struct vagx_jit *jit;
	struct vagx_sanitizer *sanitizer;

	/* numbers of jobs and launches, never 0 */
	atomic_uint_fast64_t job_serial;
	atomic_uint_fast64_t launch_serial;

	/* protects everything below, and the members of jobs that say so */
	pthread_mutex_t lock;
	/* parts were opened, or shutdown was set */
	pthread_cond_t work_cond;
	/* jobs with parts that shared cores may take */
	struct vagx_job *open;
	/* cores for jobs' own threads that no job holds */
	struct gpu_core *idle;
	bool shutdown;
	struct vagx_gpu_stats stats;
	/* number of failed jobs that were described at length */
	unsigned int described;
};

/**
 * struct vagx_job - see gpu.h
 * @gpu: its GPU
 * @vm_slot: its UAT context
 * @serial: its number
 * @core: the core that its own thread runs
 * @written: pages that it has stored to, or NULL
 * @stop: set when it is to end; cores and the walk of its stream read it
 * @parts: its work in parts
 * @open_next: next job with open parts; protected by the GPU's lock
 * @left_cond: the last helper has left the parts
 * @error: its first error; protected by the GPU's lock
 * @fault: fault of that error; protected by the GPU's lock
 * @description: description of the shader that failed, or NULL; protected by the GPU's lock
 * @vertex: state of vertex work, see vertex_job.c
 * @free_vertex: frees that state; NULL if there is none
 * @began: time of its beginning, for the trace
 * @before: counters of @core at its beginning, for the trace
 * @launches: launches read from its stream, for the trace
 * @packets: packets read from its stream, for the trace
 * @draws: draws read from its stream, for the trace
 * @time: time that cores have spent on it, by their index; protected by the GPU's lock
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

/* Takes an idle core, or makes one, for a job's own thread. Return: NULL without memory. */
struct gpu_core *gpu_core_get(struct vagx_gpu *gpu);
/* Gives a job's core back to the idle ones */
void gpu_core_put(struct vagx_gpu *gpu, struct gpu_core *core);

/* Sets a core up for a job: flushes its TLB if it was another one's */
void gpu_core_use(struct gpu_core *core, const struct vagx_job *job);

/* Records the error that a core has just failed with, if it is the job's first, and ends the job */
void gpu_record_error(struct vagx_job *job, struct gpu_core *core,
		      const struct vagx_launch *launch, int err,
		      struct vagx_uat_fault *fault);

/* Describes a core's failure. With the GPU's lock held. Return: text to be freed, or NULL. */
char *gpu_describe_shader(struct vagx_gpu *gpu, const struct gpu_core *core,
			  const struct vagx_launch *launch);

/* Logs a job's fault; @unit is an enum vagx_gpu_unit */
void gpu_report_fault(struct vagx_job *job, const char *kind, const struct vagx_uat_fault *fault,
		      unsigned int unit);

/* Runs all parts, on this thread and on shared cores that are free; returns when all are done */
void gpu_run_parts(struct vagx_job *job, gpu_part_fn *run, void *ctx, uint64_t total,
		   const char *name);

/* Begin and end a job's work, on its own thread; @kind is its name in the trace */
void gpu_job_begin(struct vagx_job *job);
void gpu_job_end(struct vagx_job *job, const char *kind);

/* Converts 0, -ECANCELED, or any other error, whose fault is logged, to the status of a job */
enum vagx_gpu_status gpu_job_status(struct vagx_job *job, const char *kind, int err,
				    const struct vagx_uat_fault *fault, unsigned int *unit);

/* Sets the members that launches of all stages share, and runs the preshader. Return: 0, -EFAULT */
int gpu_stage_begin(struct vagx_job *job, struct gpu_core *core, struct vagx_launch *launch,
		    struct gpu_failure *failure);

/* Describes the error that a core has failed with. Return: -EFAULT with @failure, or -ECANCELED. */
int gpu_stage_error(struct vagx_job *job, struct gpu_core *core, const struct vagx_launch *launch,
		    int err, struct gpu_failure *failure);

/* Sets the fault of a failure. Return: -EFAULT. */
int gpu_failure_at(struct gpu_failure *failure, const struct vagx_uat_fault *fault,
		   unsigned int unit);

/* Sets the rule that a failure breaks, too */
void gpu_failure_violates(struct gpu_failure *failure, enum vagx_rule rule, uint64_t va,
			  const char *packet, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/*
 * Keeps the failure of a part in @first, unless that has one of an earlier part; @failure is empty
 * afterwards. Takes the GPU's lock. Return: @err.
 */
int gpu_failure_keep(struct vagx_gpu *gpu, struct gpu_failure *first, struct gpu_failure *failure,
		     uint64_t part, int err);

/* Copies a failure, with its description */
void gpu_failure_copy(struct gpu_failure *failure, const struct gpu_failure *other);
/* Frees the description of a failure, and empties it */
void gpu_failure_drop(struct gpu_failure *failure);

/* Ends a job with a failure: reports the broken rule, fills @fault and @unit, and empties it */
void gpu_failure_end(struct vagx_job *job, struct gpu_failure *failure,
		     struct vagx_uat_fault *fault, unsigned int *unit);

/* Reports a geometry of the image that is not valid. Return: -EFAULT, with @fault. */
int gpu_bad_geometry(struct vagx_job *job, enum vagx_rule clause,
		     const struct vagx_render_geometry *geometry, struct vagx_uat_fault *fault);

/* Begin and end the time that a core spends on a job. With the GPU's lock held. */
void gpu_time_begin(struct vagx_job *job, const struct gpu_core *core);
void gpu_time_end(struct vagx_job *job, const struct gpu_core *core);

#endif /* VAGX_GPU_INTERNAL_H */
