// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors

#include <stdlib.h>

#include "agx/agx_regs.h"
#include "report.h"
#include "sgx.h"
#include "soc.h"
#include "uat.h"

/* Printed by drivers, meaning unknown; source: m1n1 hw/agx.py */
#define ID_04	(AGX_SGX_ID_VERSION + 0x4)
#define ID_08	(AGX_SGX_ID_VERSION + 0x8)
#define ID_0C	(AGX_SGX_ID_VERSION + 0xc)
#define ID_18	(AGX_SGX_ID_VERSION + 0x18)
#define ID_8024	0xd08024

/* m1n1 reads it and writes 70001 before all else; the Rust driver does not (agx/__init__.py) */
#define POKE	0xd14000

struct vagx_sgx {
	struct vagx_gpu_id id;
	struct vagx_report *report;
	uint64_t fault;			/* atomic */
	uint64_t fault_addr;		/* atomic; G14X */
	uint32_t poke;			/* MMIO thread */
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
	sgx->poke = 0;
	vagx_sgx_set_fault(sgx, NULL, 0);
}

static bool is_g14x(const struct vagx_sgx *sgx)
{
	return sgx->id.generation == AGX_ID_GENERATION_G14X;
}

/* All cores are there; the masks of the clusters follow each other without gaps */
static uint32_t core_mask(const struct vagx_gpu_id *id, unsigned int word)
{
	unsigned int cores = id->clusters * id->cores;

	if (cores <= 32 * word)
		return 0;
	cores -= 32 * word;
	return cores < 32 ? (1U << cores) - 1 : ~0U;
}

static uint32_t counts_1(const struct vagx_gpu_id *id)
{
	uint32_t value = id->cores << AGX_ID_CORES_SHIFT;

	if (id->generation == AGX_ID_GENERATION_G14X)
		value |= id->clusters / id->dies << AGX_ID_CLUSTERS_PER_DIE_SHIFT |
			 id->dies << AGX_ID_DIES_SHIFT;
	return value;
}

/* Where a generation has its masks of cores and its fault. Return: false if not there. */
static bool read_own(struct vagx_sgx *sgx, uint64_t offset, uint64_t *value)
{
	if (is_g14x(sgx)) {
		switch (offset) {
		case AGX_SGX_FAULT_INFO_G14X:
			*value = __atomic_load_n(&sgx->fault, __ATOMIC_ACQUIRE);
			return true;
		case AGX_SGX_FAULT_ADDR_G14X:
			*value = __atomic_load_n(&sgx->fault_addr, __ATOMIC_ACQUIRE);
			return true;
		case AGX_SGX_CORE_MASKS_G14X:
		case AGX_SGX_CORE_MASKS_G14X + 4:
		case AGX_SGX_CORE_MASKS_G14X + 8:
			*value = core_mask(&sgx->id, (offset - AGX_SGX_CORE_MASKS_G14X) / 4);
			return true;
		}
		return false;
	}
	switch (offset) {
	case AGX_SGX_FAULT_INFO:
		*value = __atomic_load_n(&sgx->fault, __ATOMIC_ACQUIRE);
		return true;
	case AGX_SGX_CORE_MASK_0:
		*value = core_mask(&sgx->id, 0);
		return true;
	case AGX_SGX_CORE_MASK_1:
		*value = core_mask(&sgx->id, 1);
		return true;
	}
	return false;
}

static bool is_fault_register(const struct vagx_sgx *sgx, uint64_t offset)
{
	if (is_g14x(sgx))
		return offset == AGX_SGX_FAULT_INFO_G14X || offset == AGX_SGX_FAULT_ADDR_G14X;
	return offset == AGX_SGX_FAULT_INFO;
}

uint64_t vagx_sgx_read(struct vagx_sgx *sgx, uint64_t offset, size_t size)
{
	const struct vagx_gpu_id *id = &sgx->id;
	uint64_t value;

	if (read_own(sgx, offset, &value))
		return value;
	if (is_fault_register(sgx, offset - 4)) {
		read_own(sgx, offset - 4, &value);
		return value >> 32;
	}

	switch (offset) {
	case AGX_SGX_ID_VERSION:
		return (uint32_t)id->generation << AGX_ID_GENERATION_SHIFT |
		       id->variant << AGX_ID_VARIANT_SHIFT |
		       id->revision << AGX_ID_REVISION_SHIFT;
	case AGX_SGX_ID_COUNTS_1:
		return counts_1(id);
	case AGX_SGX_ID_COUNTS_2:
		/* One geometry pipeline in each cluster */
		return 1 << AGX_ID_GPS_SHIFT;
	case AGX_SGX_ID_CLUSTERS:
		return id->clusters << AGX_ID_CLUSTERS_SHIFT;
	case ID_04:
	case ID_08:
	case ID_0C:
	case ID_18:
	case ID_8024:
		return 0;
	case POKE:
		return sgx->poke;
	}
	vagx_violation(sgx->report, VAGX_RULE_REG_UNKNOWN, offset, "sgx",
		       "read of %zu bytes", size);
	return 0;
}

static bool is_read_only(struct vagx_sgx *sgx, uint64_t offset)
{
	uint64_t value;

	return read_own(sgx, offset, &value) || is_fault_register(sgx, offset - 4) ||
	       (offset >= AGX_SGX_ID_VERSION && offset <= AGX_SGX_ID_CLUSTERS) ||
	       offset == ID_8024;
}

void vagx_sgx_write(struct vagx_sgx *sgx, uint64_t offset, size_t size,
		    uint64_t value)
{
	if (offset == POKE)
		sgx->poke = value;
	else if (is_read_only(sgx, offset))
		vagx_violation(sgx->report, VAGX_RULE_REG_READ_ONLY, offset,
			       "sgx", "write of 0x%llx",
			       (unsigned long long)value);
	else
		vagx_violation(sgx->report, VAGX_RULE_REG_UNKNOWN, offset, "sgx",
			       "write of %zu bytes, 0x%llx", size,
			       (unsigned long long)value);
}

void vagx_sgx_set_fault(struct vagx_sgx *sgx,
			const struct vagx_uat_fault *fault, unsigned int unit)
{
	uint64_t value = 0, line = 0;

	if (fault) {
		uint64_t reason = fault->reason & AGX_FAULT_REASON_MASK;
		uint64_t slot = fault->slot & AGX_FAULT_SLOT_MASK;
		uint64_t code = unit & AGX_FAULT_UNIT_MASK;

		line = fault->va >> AGX_FAULT_ADDR_UNIT_SHIFT;
		value = AGX_FAULT_VALID | reason << AGX_FAULT_REASON_SHIFT |
			3ULL << AGX_FAULT_LEVEL_SHIFT |
			code << AGX_FAULT_UNIT_SHIFT |
			slot << AGX_FAULT_SLOT_SHIFT;
		if (fault->access != VAGX_WRITE)
			value |= AGX_FAULT_READ;
		if (!is_g14x(sgx))
			value |= line << AGX_FAULT_ADDR_SHIFT;
	}
	/* The other register is looked at once this one says that there is a fault */
	__atomic_store_n(&sgx->fault_addr, line, __ATOMIC_RELEASE);
	vagx_sgx_set_fault_value(sgx, value);
}

void vagx_sgx_set_fault_value(struct vagx_sgx *sgx, uint64_t value)
{
	__atomic_store_n(&sgx->fault, value, __ATOMIC_RELEASE);
}
