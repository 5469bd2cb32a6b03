/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_SGX_H
#define VAGX_SGX_H

#include <stddef.h>
#include <stdint.h>

struct vagx_gpu_id;
struct vagx_report;
struct vagx_uat_fault;

/*
 * The GPU's own registers: its identity, which cores it has, and the last MMU
 * fault, which G14X has elsewhere. Sources: m1n1 hw/agx.py, asahi regs.rs.
 */

struct vagx_sgx;

struct vagx_sgx *vagx_sgx_new(const struct vagx_gpu_id *id,
			      struct vagx_report *report);
void vagx_sgx_free(struct vagx_sgx *sgx);
void vagx_sgx_reset(struct vagx_sgx *sgx);

/* MMIO thread */
uint64_t vagx_sgx_read(struct vagx_sgx *sgx, uint64_t offset, size_t size);
void vagx_sgx_write(struct vagx_sgx *sgx, uint64_t offset, size_t size,
		    uint64_t value);

/**
 * vagx_sgx_set_fault() - fill the MMU fault register
 * @fault: what happened, NULL clears it
 * @unit: code of the unit that accessed
 *
 * Any thread.
 */
void vagx_sgx_set_fault(struct vagx_sgx *sgx,
			const struct vagx_uat_fault *fault, unsigned int unit);

/* From now on, what means nothing in a fault is drawn by the seed; 0: it is fixed, as at first */
void vagx_sgx_vary_faults(struct vagx_sgx *sgx, uint64_t seed);

/* Puts any value there, also one that no fault makes. Any thread. */
void vagx_sgx_set_fault_value(struct vagx_sgx *sgx, uint64_t value);

#endif
