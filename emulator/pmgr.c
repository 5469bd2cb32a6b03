// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors

#include "pmgr.h"
#include "report.h"

#define FLAGS	(VAGX_PMGR_WAS_CLKGATED | VAGX_PMGR_WAS_PWRGATED)
#define WRITABLE \
	(VAGX_PMGR_RESET | VAGX_PMGR_AUTO_ENABLE | VAGX_PMGR_PS_AUTO | \
	 VAGX_PMGR_PS_MIN | VAGX_PMGR_DEV_DISABLE | VAGX_PMGR_PS_TARGET)

#define ACTUAL(reg)	(((reg) & VAGX_PMGR_PS_ACTUAL) >> 4)
#define TARGET(reg)	((reg) & VAGX_PMGR_PS_TARGET)

void vagx_pmgr_reset(struct vagx_pmgr *pmgr)
{
	pmgr->gfx = VAGX_PMGR_PS_ACTUAL | VAGX_PMGR_PS_TARGET;
}

/* Whether what is in the domain keeps its state */
static bool pmgr_is_live(uint32_t reg)
{
	return ACTUAL(reg) != VAGX_PMGR_PWRGATE && !(reg & VAGX_PMGR_RESET);
}

bool vagx_pmgr_is_on(const struct vagx_pmgr *pmgr)
{
	return ACTUAL(pmgr->gfx) == VAGX_PMGR_ACTIVE &&
	       !(pmgr->gfx & VAGX_PMGR_RESET);
}

static void pmgr_check_size(struct vagx_pmgr *pmgr, uint64_t offset, size_t size)
{
	if (size != 4)
		vagx_violation(pmgr->report, VAGX_RULE_PMGR_ACCESS_SIZE, offset,
			       "pmgr", "access of %zu bytes", size);
}

uint64_t vagx_pmgr_read(struct vagx_pmgr *pmgr, uint64_t offset, size_t size)
{
	pmgr_check_size(pmgr, offset, size);
	if (offset == VAGX_PMGR_GFX)
		return pmgr->gfx;
	vagx_violation(pmgr->report, VAGX_RULE_REG_UNKNOWN, offset, "pmgr",
		       "read of %zu bytes", size);
	return 0;
}

static void pmgr_check_state(struct vagx_pmgr *pmgr, uint32_t value)
{
	uint32_t target = TARGET(value);

	if (target != VAGX_PMGR_ACTIVE && target != VAGX_PMGR_CLKGATE &&
	    target != VAGX_PMGR_PWRGATE)
		vagx_violation(pmgr->report, VAGX_RULE_PMGR_STATE,
			       VAGX_PMGR_GFX, "pmgr", "state 0x%x", target);
	if (value & VAGX_PMGR_RESET && target != VAGX_PMGR_ACTIVE)
		vagx_violation(pmgr->report, VAGX_RULE_PMGR_RESET,
			       VAGX_PMGR_GFX, "pmgr",
			       "reset is asserted in state 0x%x", target);
}

/* The state that is asked for is reached at once */
static uint32_t pmgr_settle(uint32_t reg)
{
	uint32_t target = TARGET(reg);

	if (target != ACTUAL(reg) && target != VAGX_PMGR_ACTIVE)
		reg |= VAGX_PMGR_WAS_CLKGATED;
	if (target != ACTUAL(reg) && target == VAGX_PMGR_PWRGATE)
		reg |= VAGX_PMGR_WAS_PWRGATED;
	return (reg & ~VAGX_PMGR_PS_ACTUAL) | target << 4;
}

static void pmgr_set_gfx(struct vagx_pmgr *pmgr, uint32_t reg)
{
	bool was_live = pmgr_is_live(pmgr->gfx);

	pmgr->gfx = reg;
	vagx_log(pmgr->report, VAGX_LOG_DEBUG, "pmgr: gfx is 0x%08x", reg);
	if (was_live && !pmgr_is_live(reg))
		pmgr->cut(pmgr->ctx);
	if (!was_live && pmgr_is_live(reg))
		pmgr->back(pmgr->ctx);
}

void vagx_pmgr_write(struct vagx_pmgr *pmgr, uint64_t offset, size_t size,
		     uint64_t value)
{
	uint32_t reg = pmgr->gfx;

	pmgr_check_size(pmgr, offset, size);
	if (offset != VAGX_PMGR_GFX) {
		vagx_violation(pmgr->report, VAGX_RULE_REG_UNKNOWN, offset,
			       "pmgr", "write of %zu bytes, 0x%llx", size,
			       (unsigned long long)value);
		return;
	}
	pmgr_check_state(pmgr, value);
	reg &= ~(value & FLAGS);
	pmgr_set_gfx(pmgr, pmgr_settle((reg & ~WRITABLE) | (value & WRITABLE)));
}

void vagx_pmgr_fail(struct vagx_pmgr *pmgr)
{
	pmgr->gfx |= FLAGS;
	if (!pmgr_is_live(pmgr->gfx))
		return;
	pmgr->cut(pmgr->ctx);
	pmgr->back(pmgr->ctx);
}
