/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_CARRIER_REGS_H
#define VAGX_CARRIER_REGS_H

#include <stddef.h>
#include <stdint.h>

#include "vagx/vagx_carrier.h"

struct vagx_clock;
struct vagx_mailbox;
struct vagx_report;

/*
 * The page between PCI and the GPU, which no Apple machine has: the carrier
 * driver's interrupt re-evaluation and its clock samples.
 */
struct vagx_carrier_regs {
	struct vagx_report *report;
	struct vagx_clock *clock;
	struct vagx_mailbox *mailbox;
	uint64_t frequency;
	uint64_t guest;
};

/* MMIO thread */
uint64_t vagx_carrier_read(struct vagx_carrier_regs *regs, uint64_t offset,
			   size_t size);
void vagx_carrier_write(struct vagx_carrier_regs *regs, uint64_t offset,
			size_t size, uint64_t value);

#endif
