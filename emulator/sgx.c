// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors

#include <stdlib.h>

#include "agx/agx_regs.h"
#include "report.h"
#include "sgx.h"
#include "uat.h"

/* Printed by drivers, meaning unknown; source: m1n1 hw/agx.py */
#define ID_04	(AGX_SGX_ID_VERSION + 0x4)
#define ID_08	(AGX_SGX_ID_VERSION + 0x8)
#define ID_0C	(AGX_SGX_ID_VERSION + 0xc)
#define ID_18	(AGX_SGX_ID_VERSION + 0x18)

struct vagx_sgx {
	struct vagx_gpu_id id;
	struct vagx_report *report;
	uint64_t fault;			/* atomic */
};

struct vagx_sgx *vagx_sgx_new(const struct vagx_gpu_id *id,
			      struct vagx_report *report)
{
	struct vagx_sgx *sgx = calloc(1, sizeof(*sgx));

	if (!sgx)
		return NULL;

	sgx->id = *id;
	sgx->report = report;
	return sgx;
}

void vagx_sgx_free(struct vagx_sgx *sgx)
{
	free(sgx);
}

void vagx_sgx_reset(struct vagx_sgx *sgx)
{
	vagx_sgx_set_fault(sgx, NULL, 0);
}

static uint64_t core_mask(const struct vagx_gpu_id *id)
{
	unsigned int cores = id->clusters * id->cores;

	return cores < 64 ? (1ULL << cores) - 1 : ~0ULL;
}

uint64_t vagx_sgx_read(struct vagx_sgx *sgx, uint64_t offset, size_t size)
{
	const struct vagx_gpu_id *id = &sgx->id;

	switch (offset) {
	case AGX_SGX_FAULT_INFO:
		return __atomic_load_n(&sgx->fault, __ATOMIC_ACQUIRE);
	case AGX_SGX_FAULT_INFO + 4:
		return __atomic_load_n(&sgx->fault, __ATOMIC_ACQUIRE) >> 32;
	case AGX_SGX_CORE_MASK_0:
		return (uint32_t)core_mask(id);
	case AGX_SGX_CORE_MASK_1:
		return core_mask(id) >> 32;
	case AGX_SGX_ID_VERSION:
		return (uint32_t)id->generation << AGX_ID_GENERATION_SHIFT |
		       id->variant << AGX_ID_VARIANT_SHIFT |
		       id->revision << AGX_ID_REVISION_SHIFT;
	case AGX_SGX_ID_COUNTS_1:
		return id->cores << AGX_ID_CORES_SHIFT;
	case AGX_SGX_ID_COUNTS_2:
		/* One geometry pipeline for each cluster */
		return id->clusters << AGX_ID_GPS_SHIFT;
	case AGX_SGX_ID_CLUSTERS:
		return id->clusters << AGX_ID_CLUSTERS_SHIFT;
	case ID_04:
	case ID_08:
	case ID_0C:
	case ID_18:
		return 0;
	}
	vagx_violation(sgx->report, VAGX_RULE_REG_UNKNOWN, offset, "sgx",
		       "read of %zu bytes", size);
	return 0;
}

void vagx_sgx_write(struct vagx_sgx *sgx, uint64_t offset, size_t size,
		    uint64_t value)
{
	switch (offset) {
	case AGX_SGX_FAULT_INFO:
	case AGX_SGX_FAULT_INFO + 4:
	case AGX_SGX_CORE_MASK_0:
	case AGX_SGX_CORE_MASK_1:
	case AGX_SGX_ID_VERSION ... AGX_SGX_ID_CLUSTERS:
		vagx_violation(sgx->report, VAGX_RULE_REG_READ_ONLY, offset,
			       "sgx", "write of 0x%llx",
			       (unsigned long long)value);
		return;
	}
	vagx_violation(sgx->report, VAGX_RULE_REG_UNKNOWN, offset, "sgx",
		       "write of %zu bytes, 0x%llx", size,
		       (unsigned long long)value);
}

void vagx_sgx_set_fault(struct vagx_sgx *sgx,
			const struct vagx_uat_fault *fault, unsigned int unit)
{
	uint64_t value = 0;

	if (fault) {
		uint64_t line = fault->va >> AGX_FAULT_ADDR_UNIT_SHIFT;
		uint64_t reason = fault->reason & AGX_FAULT_REASON_MASK;
		uint64_t slot = fault->slot & AGX_FAULT_SLOT_MASK;
		uint64_t code = unit & AGX_FAULT_UNIT_MASK;

		value = AGX_FAULT_VALID | reason << AGX_FAULT_REASON_SHIFT |
			3ULL << AGX_FAULT_LEVEL_SHIFT |
			code << AGX_FAULT_UNIT_SHIFT |
			slot << AGX_FAULT_SLOT_SHIFT |
			line << AGX_FAULT_ADDR_SHIFT;
		if (fault->access != VAGX_WRITE)
			value |= AGX_FAULT_READ;
	}
	__atomic_store_n(&sgx->fault, value, __ATOMIC_RELEASE);
}
