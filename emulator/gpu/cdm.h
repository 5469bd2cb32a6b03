/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The compute data master: walks a control stream, and hands its launches on.
 */
#ifndef VAGX_CDM_H
#define VAGX_CDM_H

#include <stdatomic.h>
#include <stdint.h>

struct vagx_compute_registers;
struct vagx_launch;
struct vagx_report;
struct vagx_tlb;
struct vagx_uat_fault;

/** struct vagx_cdm - what the walk of a control stream needs */
struct vagx_cdm {
	/** @tlb: translates addresses, for the thread that reads */
	struct vagx_tlb *tlb;
	/** @report: takes warnings */
	struct vagx_report *report;
	/** @vm_slot: UAT context that the stream is in */
	unsigned int vm_slot;
	/** @registers: what the data master was told */
	const struct vagx_compute_registers *registers;
	/** @features: what streams have here, enum agx_stream_feature */
	unsigned int features;
	/** @seed: chooses what uniforms have that no word binds */
	uint32_t seed;
	/** @stop: when set, the stream ends with -ECANCELED soon */
	const atomic_bool *stop;
	/** @packets: counts what is read of the stream */
	uint64_t *packets;
	/**
	 * @launch: runs a launch to its end, and sets its serial. An error ends the stream and
	 * is returned.
	 */
	int (*launch)(void *ctx, struct vagx_launch *launch,
		      struct vagx_uat_fault *fault, unsigned int *unit);
	/** @ctx: first argument of @launch */
	void *ctx;
};

/**
 * vagx_cdm_run() - walk a job's control stream to its end
 * @cdm: what the walk needs
 * @fault: filled when -EFAULT is returned; for a malformed stream it is an
 *	   access that is not allowed, at the block's address
 * @unit: likewise, enum vagx_gpu_unit
 *
 * Return: 0 when the stream came to its end, -EFAULT, -ECANCELED.
 */
int vagx_cdm_run(const struct vagx_cdm *cdm, struct vagx_uat_fault *fault,
		 unsigned int *unit);

#endif /* VAGX_CDM_H */
