/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The GPU's units as the firmware sees them: a job goes in, the units run it
 * on their own threads, and the way it ended comes out.
 */
#ifndef VAGX_GPU_H
#define VAGX_GPU_H

#include <stdbool.h>
#include <stdint.h>

struct vagx_clock;
struct vagx_gpu;
struct vagx_report;
struct vagx_uat;
struct vagx_uat_fault;

/** VAGX_GPU_MAX_CORES - bound on struct vagx_gpu_config.cores */
#define VAGX_GPU_MAX_CORES	64

/**
 * enum vagx_gpu_unit - the unit that a fault is reported for
 *
 * Unit codes of the fault information register on T8103 (m1n1
 * "proxyclient/m1n1/hw/agx.py", UNIT_00 and UNIT_E0_T8103).
 */
enum vagx_gpu_unit {
	/** @VAGX_GPU_UNIT_USC: a shader core's load, store or fetch (UL1C0) */
	VAGX_GPU_UNIT_USC = 0x01,
	/** @VAGX_GPU_UNIT_CDM_CS: the control stream (gCDM_CS_SP0_KS0) */
	VAGX_GPU_UNIT_CDM_CS = 0xe6,
	/** @VAGX_GPU_UNIT_CDM: USC words and their uniforms (gCDM_SP0_KS0) */
	VAGX_GPU_UNIT_CDM = 0xe9,
};

/** enum vagx_gpu_status - how a job ended */
enum vagx_gpu_status {
	VAGX_GPU_DONE,
	VAGX_GPU_FAULT,
	VAGX_GPU_CANCELLED,
};

/** struct vagx_gpu_config - what a GPU is made of; copied by vagx_gpu_new() */
struct vagx_gpu_config {
	/** @uat: translates every address that the units use */
	struct vagx_uat *uat;
	/** @report: takes violations, warnings and log lines */
	struct vagx_report *report;
	/** @clock: time as the guest sees it; may be NULL */
	struct vagx_clock *clock;
	/** @cores: shader cores, each a thread (1 to VAGX_GPU_MAX_CORES) */
	unsigned int cores;
	/** @no_exec: walk command streams, but run no shader */
	bool no_exec;
	/** @soft_faults: unmapped loads give zero, unmapped stores vanish */
	bool soft_faults;
};

/** struct vagx_compute_job - the registers of a compute job */
struct vagx_compute_job {
	/** @vm_slot: UAT context in whose address space everything happens */
	unsigned int vm_slot;
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
 * @config: what it is made of
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
 * vagx_gpu_compute() - run a compute job to its end
 * @gpu: GPU
 * @job: the job
 * @fault: the first fault, valid when VAGX_GPU_FAULT is returned
 * @unit: enum vagx_gpu_unit of the fault, valid likewise
 *
 * Blocks its caller. There is one compute data master: a second caller waits
 * until the first one's job is over.
 */
enum vagx_gpu_status vagx_gpu_compute(struct vagx_gpu *gpu,
				      const struct vagx_compute_job *job,
				      struct vagx_uat_fault *fault,
				      unsigned int *unit);

/**
 * vagx_gpu_cancel() - make the running job end soon
 * @gpu: GPU
 *
 * From any thread. The running vagx_gpu_compute() returns VAGX_GPU_CANCELLED
 * unless its job was over already; without a running job nothing happens.
 */
void vagx_gpu_cancel(struct vagx_gpu *gpu);

/**
 * vagx_gpu_unit_name() - name of a unit for messages
 * @unit: enum vagx_gpu_unit
 */
const char *vagx_gpu_unit_name(unsigned int unit);

/** struct vagx_gpu_stats - counters since vagx_gpu_new() */
struct vagx_gpu_stats {
	/** @jobs: compute jobs run */
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
 * @stats: where they go
 */
void vagx_gpu_get_stats(struct vagx_gpu *gpu, struct vagx_gpu_stats *stats);

#endif /* VAGX_GPU_H */
