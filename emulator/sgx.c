// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * The GPU's own registers: identity, masks of cores, and the MMU's fault (m1n1 hw/agx.py).
 *
 * The guest's accesses are on the MMIO thread. A fault is set by a thread of the firmware with the
 * firmware's lock held. On G14X it has two words, and that with the address is stored first, as
 * the guest reads it when the other one says that there is a fault.
 */
#include <stdlib.h>

#include "agx/agx_regs.h"
#include "draw.h"
#include "report.h"
#include "sgx.h"
#include "soc.h"
#include "uat.h"

/*
 * Printed by drivers, meaning unknown; source: m1n1 hw/agx.py. No public log has 04, 0c and 8024,
 * which only m1n1 reads: here they are 0.
 */
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
	uint64_t seed;			/* of bits without a meaning to drivers, 0: they are fixed */
	uint64_t faults;		/* so far; the firmware's lock is held */
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

static bool sgx_is_g14x(const struct vagx_sgx *sgx)
{
	return sgx->id.generation == AGX_ID_GENERATION_G14X;
}

/* The masks of the clusters follow each other without gaps */
static uint32_t sgx_core_mask(const struct vagx_gpu_id *id, unsigned int word)
{
	uint32_t mask = 0;

	for (unsigned int i = 0; i < 32; i++) {
		unsigned int core = 32 * word + i;

		mask |= (vagx_gpu_core_mask(id, core / id->cores) >> core % id->cores & 1) << i;
	}
	return mask;
}

static uint32_t sgx_counts_1(const struct vagx_gpu_id *id)
{
	uint32_t value = id->cores << AGX_ID_CORES_SHIFT | id->unk_counts_1;

	if (id->generation == AGX_ID_GENERATION_G14X)
		value |= id->clusters / id->dies << AGX_ID_CLUSTERS_PER_DIE_SHIFT |
			 id->dies << AGX_ID_DIES_SHIFT;
	return value;
}

/*
 * Reads a register that generations have in different places: masks of cores, and the fault.
 * Return: false if @offset is none of them.
 */
static bool sgx_read_own(struct vagx_sgx *sgx, uint64_t offset, uint64_t *value)
{
	if (sgx_is_g14x(sgx)) {
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
			*value = sgx_core_mask(&sgx->id, (offset - AGX_SGX_CORE_MASKS_G14X) / 4);
			return true;
		}
		return false;
	}
	switch (offset) {
	case AGX_SGX_FAULT_INFO:
		*value = __atomic_load_n(&sgx->fault, __ATOMIC_ACQUIRE);
		return true;
	case AGX_SGX_CORE_MASK_0:
		*value = sgx_core_mask(&sgx->id, 0);
		return true;
	case AGX_SGX_CORE_MASK_1:
		*value = sgx_core_mask(&sgx->id, 1);
		return true;
	}
	return false;
}

static bool sgx_is_fault_register(const struct vagx_sgx *sgx, uint64_t offset)
{
	if (sgx_is_g14x(sgx))
		return offset == AGX_SGX_FAULT_INFO_G14X || offset == AGX_SGX_FAULT_ADDR_G14X;
	return offset == AGX_SGX_FAULT_INFO;
}

uint64_t vagx_sgx_read(struct vagx_sgx *sgx, uint64_t offset, size_t size)
{
	const struct vagx_gpu_id *id = &sgx->id;
	uint64_t value;

	if (sgx_read_own(sgx, offset, &value))
		return value;
	if (sgx_is_fault_register(sgx, offset - 4)) {
		sgx_read_own(sgx, offset - 4, &value);
		return value >> 32;
	}

	switch (offset) {
	case AGX_SGX_ID_VERSION:
		return (uint32_t)id->generation << AGX_ID_GENERATION_SHIFT |
		       id->variant << AGX_ID_VARIANT_SHIFT |
		       id->revision << AGX_ID_REVISION_SHIFT;
	case AGX_SGX_ID_COUNTS_1:
		return sgx_counts_1(id);
	case AGX_SGX_ID_COUNTS_2:
		return id->gps << AGX_ID_GPS_SHIFT | id->unk_counts_2;
	case AGX_SGX_ID_CLUSTERS:
		return id->clusters << AGX_ID_CLUSTERS_SHIFT | id->unk_clusters;
	case ID_08:
		return id->unk_08;
	case ID_18:
		return id->unk_18;
	case ID_04:
	case ID_0C:
	case ID_8024:
		return 0;
	case POKE:
		return sgx->poke;
	}
	vagx_violation(sgx->report, VAGX_RULE_REG_UNKNOWN, offset, "sgx",
		       "read of %zu bytes", size);
	return 0;
}

static bool sgx_is_read_only(struct vagx_sgx *sgx, uint64_t offset)
{
	uint64_t value;

	return sgx_read_own(sgx, offset, &value) || sgx_is_fault_register(sgx, offset - 4) ||
	       (offset >= AGX_SGX_ID_VERSION && offset <= AGX_SGX_ID_CLUSTERS) ||
	       offset == ID_8024;
}

void vagx_sgx_write(struct vagx_sgx *sgx, uint64_t offset, size_t size,
		    uint64_t value)
{
	if (offset == POKE)
		sgx->poke = value;
	else if (sgx_is_read_only(sgx, offset))
		vagx_violation(sgx->report, VAGX_RULE_REG_READ_ONLY, offset,
			       "sgx", "write of 0x%llx",
			       (unsigned long long)value);
	else
		vagx_violation(sgx->report, VAGX_RULE_REG_UNKNOWN, offset, "sgx",
			       "write of %zu bytes, 0x%llx", size,
			       (unsigned long long)value);
}

void vagx_sgx_vary_faults(struct vagx_sgx *sgx, uint64_t seed)
{
	sgx->seed = seed;
}

/* No source says which level and which sideband belong to which fault: fixed, or by the seed */
static uint64_t sgx_fault_bits(struct vagx_sgx *sgx)
{
	uint64_t level = AGX_FAULT_LEVEL_MASK, sideband = 0, draw;

	if (sgx->seed) {
		draw = vagx_draw(sgx->seed, VAGX_DRAW_FAULT, sgx->faults++, 0);
		level = draw & AGX_FAULT_LEVEL_MASK;
		sideband = draw >> 8 & AGX_FAULT_SIDEBAND_MASK;
	}
	return level << AGX_FAULT_LEVEL_SHIFT | sideband << AGX_FAULT_SIDEBAND_SHIFT;
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
			sgx_fault_bits(sgx) |
			code << AGX_FAULT_UNIT_SHIFT |
			slot << AGX_FAULT_SLOT_SHIFT;
		if (fault->access != VAGX_WRITE)
			value |= AGX_FAULT_READ;
		if (!sgx_is_g14x(sgx))
			value |= line << AGX_FAULT_ADDR_SHIFT;
	}
	/* The guest reads the address once the other register says that there is a fault */
	__atomic_store_n(&sgx->fault_addr, line, __ATOMIC_RELEASE);
	vagx_sgx_set_fault_value(sgx, value);
}

void vagx_sgx_set_fault_value(struct vagx_sgx *sgx, uint64_t value)
{
	__atomic_store_n(&sgx->fault, value, __ATOMIC_RELEASE);
}
