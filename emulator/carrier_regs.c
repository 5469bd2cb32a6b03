// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors

#include "carrier_regs.h"
#include "clock.h"
#include "mailbox.h"
#include "report.h"

uint64_t vagx_carrier_read(struct vagx_carrier_regs *regs, uint64_t offset,
			   size_t size)
{
	switch (offset) {
	case VAGX_CARRIER_ID:
		return VAGX_CARRIER_ID_V1;
	case VAGX_CARRIER_HOST_TIME:
		return vagx_clock_host_ns();
	case VAGX_CARRIER_LEVELS:
		return vagx_mailbox_levels(regs->mailbox);
	}
	vagx_violation(regs->report, VAGX_RULE_REG_UNKNOWN, offset, "carrier",
		       "read of %zu bytes", size);
	return 0;
}

static void carrier_regs_commit_sample(struct vagx_carrier_regs *regs, uint64_t host_ns)
{
	vagx_clock_set(regs->clock, regs->frequency, regs->guest, host_ns);
	vagx_log(regs->report, VAGX_LOG_INFO,
		 "clock: guest counter %llu at %llu Hz",
		 (unsigned long long)regs->guest,
		 (unsigned long long)regs->frequency);
}

void vagx_carrier_write(struct vagx_carrier_regs *regs, uint64_t offset,
			size_t size, uint64_t value)
{
	switch (offset) {
	case VAGX_CARRIER_REEVALUATE:
		vagx_mailbox_reevaluate(regs->mailbox, (uint32_t)value);
		return;
	case VAGX_CARRIER_SAMPLE_COUNTER:
		regs->guest = value;
		return;
	case VAGX_CARRIER_SAMPLE_HOST_TIME:
		carrier_regs_commit_sample(regs, value);
		return;
	case VAGX_CARRIER_COUNTER_RATE:
		regs->frequency = value;
		return;
	case VAGX_CARRIER_ID:
	case VAGX_CARRIER_HOST_TIME:
	case VAGX_CARRIER_LEVELS:
		vagx_violation(regs->report, VAGX_RULE_REG_READ_ONLY, offset,
			       "carrier", "write of 0x%llx",
			       (unsigned long long)value);
		return;
	}
	vagx_violation(regs->report, VAGX_RULE_REG_UNKNOWN, offset, "carrier",
		       "write of %zu bytes, 0x%llx", size,
		       (unsigned long long)value);
}
