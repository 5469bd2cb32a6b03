/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The GPU's units as the firmware sees them: it runs a job, on its own thread and on those of
 * the shared cores, and gets the job's status.
 */
#ifndef VAGX_GPU_H
#define VAGX_GPU_H

#include <stdbool.h>
#include <stdint.h>

#include "jit/jit.h"
#include "sanitizer/sanitizer.h"

struct vagx_clock;
struct vagx_gpu;
struct vagx_report;
struct vagx_trace;
struct vagx_uat;
struct vagx_uat_fault;

/** VAGX_GPU_MAX_CORES - bound on struct vagx_gpu_config.cores */
#define VAGX_GPU_MAX_CORES	64

/** enum vagx_gpu_unit - the unit that a fault is reported for */
enum vagx_gpu_unit {
	/** @VAGX_GPU_UNIT_USC: a shader core's load, store or fetch */
	VAGX_GPU_UNIT_USC,
	/** @VAGX_GPU_UNIT_CDM_CS: the compute control stream */
	VAGX_GPU_UNIT_CDM_CS,
	/** @VAGX_GPU_UNIT_CDM: compute's USC words and their uniforms */
	VAGX_GPU_UNIT_CDM,
	/** @VAGX_GPU_UNIT_VDM_CS: the vertex control stream */
	VAGX_GPU_UNIT_VDM_CS,
	/** @VAGX_GPU_UNIT_VDM: index lists, vertex shaders' USC words */
	VAGX_GPU_UNIT_VDM,
	/** @VAGX_GPU_UNIT_PPP: primitive processing, its state words */
	VAGX_GPU_UNIT_PPP,
	/** @VAGX_GPU_UNIT_TE: the tiling engine: the tiled vertex buffer is written */
	VAGX_GPU_UNIT_TE,
	/** @VAGX_GPU_UNIT_ISP: rasteriser: the tiled vertex buffer is read */
	VAGX_GPU_UNIT_ISP,
	/** @VAGX_GPU_UNIT_ZLS: loads and stores of depth and stencil */
	VAGX_GPU_UNIT_ZLS,
	/** @VAGX_GPU_UNIT_COUNT: number of units */
	VAGX_GPU_UNIT_COUNT,
};

/** struct vagx_gpu_units - numbers of units in the fault register */
struct vagx_gpu_units {
	/** @code: AGX_FAULT_UNIT_* of each enum vagx_gpu_unit; SoCs differ */
	uint8_t code[VAGX_GPU_UNIT_COUNT];
};

/** enum vagx_gpu_status - status of a job that has ended */
enum vagx_gpu_status {
	VAGX_GPU_DONE,
	VAGX_GPU_FAULT,
	VAGX_GPU_CANCELLED,
	/* Of vertex work only, see render.h */
	VAGX_GPU_OVERFLOW,
	VAGX_GPU_STARVED,
};

/** struct vagx_gpu_config - configuration of a GPU; copied by vagx_gpu_new() */
struct vagx_gpu_config {
	/** @uat: translates every address that the units use */
	struct vagx_uat *uat;
	/** @report: takes violations, warnings and log lines */
	struct vagx_report *report;
	/** @clock: time as the guest sees it; may be NULL */
	struct vagx_clock *clock;
	/** @trace: trace of the units' work; may be NULL */
	struct vagx_trace *trace;
	/** @units: codes of the units; NULL for those of enum vagx_gpu_unit */
	const struct vagx_gpu_units *units;
	/**
	 * @cores: shader cores (1 to VAGX_GPU_MAX_CORES). One is the thread that runs a job;
	 * the others are threads that all jobs share.
	 */
	unsigned int cores;
	/** @jit: what runs shaders */
	struct vagx_jit_config jit;
	/** @sanitizer: what checks them, by the interpreter; nothing if all of it is 0 */
	struct vagx_sanitizer_config sanitizer;
	/** @no_exec: walk command streams, but run no shader */
	bool no_exec;
	/** @soft_faults: unmapped loads give zero, unmapped stores vanish */
	bool soft_faults;
	/** @seed: chooses what shaders find where nothing has been written */
	uint32_t seed;
	/** @stream_features: features of control streams, enum agx_stream_feature */
	unsigned int stream_features;
};

/** struct vagx_compute_registers - registers of the compute data master */
struct vagx_compute_registers {
	/** @cdm_base: first word of the control stream */
	uint64_t cdm_base;
	/** @cdm_end: end of the control stream's first contiguous segment */
	uint64_t cdm_end;
	/** @usc_base: base of all 32-bit USC addresses */
	uint64_t usc_base;
	/** @sampler_base: bindless sampler heap */
	uint64_t sampler_base;
	/** @sampler_count: samplers in the heap */
	uint32_t sampler_count;
	/** @helper_program: tagged USC address of the helper; it need not run */
	uint32_t helper_program;
	/** @helper_cfg: further bits for the helper */
	uint32_t helper_cfg;
	/** @helper_data: argument that the helper reads */
	uint64_t helper_data;
};

/**
 * vagx_gpu_new() - make a GPU and start its cores
 * @config: its configuration
 *
 * Return: the GPU, or NULL with errno set.
 */
struct vagx_gpu *vagx_gpu_new(const struct vagx_gpu_config *config);

/**
 * vagx_gpu_free() - stop the cores and free the GPU
 * @gpu: GPU without a running job, or NULL
 */
void vagx_gpu_free(struct vagx_gpu *gpu);

/**
 * struct vagx_job - a job on the GPU
 *
 * Each data master's work is a job of its own, with its own context, error, fault and status.
 * Jobs of several threads run at once; the shared cores take parts of all of them.
 */
struct vagx_job;

/**
 * vagx_job_new() - make a job
 * @gpu: GPU
 * @vm_slot: UAT context in whose address space everything happens
 *
 * Return: the job, or NULL with errno set.
 */
struct vagx_job *vagx_job_new(struct vagx_gpu *gpu, unsigned int vm_slot);

/**
 * vagx_job_free() - free a job
 * @job: job that does not run, or NULL
 */
void vagx_job_free(struct vagx_job *job);

/**
 * vagx_job_compute() - run a job on the compute data master, to its end
 * @job: new job; it can run only once
 * @registers: registers of the data master
 * @fault: the first fault, valid when VAGX_GPU_FAULT is returned
 * @unit: code of the unit that it is reported for, valid likewise
 *
 * Blocks the caller, whose thread walks the stream and works as one of the cores. So every job
 * makes progress, however busy the shared cores are with others.
 */
enum vagx_gpu_status vagx_job_compute(struct vagx_job *job,
				      const struct vagx_compute_registers *registers,
				      struct vagx_uat_fault *fault,
				      unsigned int *unit);

/**
 * vagx_job_cancel() - make a job end soon
 * @job: job
 *
 * From any thread, also before the job runs and after it has ended. The run returns
 * VAGX_GPU_CANCELLED unless it had ended already. Other jobs are not affected.
 */
void vagx_job_cancel(struct vagx_job *job);

/**
 * vagx_job_cpu_ns() - the time for which a job has been executed
 * @job: job
 *
 * It is processor time, not wall clock time, so that time-outs do not depend on how busy the host
 * is. A part of the time for which cores rest counts as well (vagx_core_rested_ns()). Of a job on
 * several cores it is that of the core that has worked for it longest. From any thread.
 *
 * Return: nanoseconds.
 */
uint64_t vagx_job_cpu_ns(struct vagx_job *job);

/**
 * vagx_gpu_unit_name() - name of a unit for messages
 * @unit: enum vagx_gpu_unit
 */
const char *vagx_gpu_unit_name(unsigned int unit);

/** struct vagx_gpu_stats - counters since vagx_gpu_new() */
struct vagx_gpu_stats {
	/** @jobs: jobs run */
	uint64_t jobs;
	/** @launches: launches read from their streams */
	uint64_t launches;
	/** @groups: threadgroups run on the cores */
	uint64_t groups;
	/** @instructions: shader instructions executed, per simdgroup */
	uint64_t instructions;
	/** @busy_ns: sum over the cores of the time spent in shaders */
	uint64_t busy_ns;
};

/**
 * vagx_gpu_get_stats() - read the counters
 * @gpu: GPU
 * @stats: gets the counters
 */
void vagx_gpu_get_stats(struct vagx_gpu *gpu, struct vagx_gpu_stats *stats);

/**
 * vagx_gpu_findings() - places at which the sanitizer has found something
 * @gpu: GPU
 *
 * Return: their number; 0 without a sanitizer.
 */
uint64_t vagx_gpu_findings(struct vagx_gpu *gpu);

#endif /* VAGX_GPU_H */
