/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_CARRIER_REGS_H
#define VAGX_CARRIER_REGS_H

#include <stddef.h>
#include <stdint.h>

struct vagx_clock;
struct vagx_mailbox;
struct vagx_report;

/*
 * The page between PCI and the GPU, which no Apple machine has: the carrier
 * driver's interrupt re-evaluation and its clock samples. All registers have
 * 64 bits.
 */
#define VAGX_CARRIER_SIZE		0x4000

#define VAGX_CARRIER_ID			0x00	/* RO "VAGX", version above */
#define VAGX_CARRIER_REEVALUATE		0x08	/* WO bit per interrupt */
#define VAGX_CARRIER_HOST_TIME		0x10	/* RO ns */
#define VAGX_CARRIER_SAMPLE_GUEST	0x18	/* WO guest's counter */
#define VAGX_CARRIER_SAMPLE_HOST	0x20	/* WO ns; commits the sample */
#define VAGX_CARRIER_FREQUENCY		0x28	/* WO ticks a second */

#define VAGX_CARRIER_ID_VALUE		(1ULL << 32 | 0x58474156)

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
