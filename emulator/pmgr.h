/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_PMGR_H
#define VAGX_PMGR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vagx_report;

/*
 * The power manager, of which one register is here: that of the GPU's power
 * domain, which the coprocessor is part of. Source of the bits: linux
 * drivers/pmdomain/apple/pmgr-pwrstate.c; of the place: its t8103-pmgr.dtsi.
 */
#define VAGX_PMGR_SIZE		0x4000
#define VAGX_PMGR_GFX		0x3f8

#define VAGX_PMGR_RESET		(1U << 31)
#define VAGX_PMGR_AUTO_ENABLE	(1U << 28)
#define VAGX_PMGR_PS_AUTO	(0xfU << 24)
#define VAGX_PMGR_PS_MIN	(0xfU << 16)
#define VAGX_PMGR_DEV_DISABLE	(1U << 10)
#define VAGX_PMGR_WAS_CLKGATED	(1U << 9)
#define VAGX_PMGR_WAS_PWRGATED	(1U << 8)
#define VAGX_PMGR_PS_ACTUAL	(0xfU << 4)
#define VAGX_PMGR_PS_TARGET	0xfU

#define VAGX_PMGR_ACTIVE	0xfU
#define VAGX_PMGR_CLKGATE	0x4U
#define VAGX_PMGR_PWRGATE	0x0U

/**
 * struct vagx_pmgr - the power manager
 * @report: where findings go
 * @cut: the domain loses power, or is held in reset: everything in it is lost.
 *	MMIO thread
 * @back: it has power again, and is not in reset. MMIO thread
 * @ctx: first argument of both
 * @gfx: the register
 *
 * MMIO thread only.
 */
struct vagx_pmgr {
	struct vagx_report *report;
	void (*cut)(void *ctx);
	void (*back)(void *ctx);
	void *ctx;
	uint32_t gfx;
};

/* As the boot loader leaves it: on */
void vagx_pmgr_reset(struct vagx_pmgr *pmgr);

uint64_t vagx_pmgr_read(struct vagx_pmgr *pmgr, uint64_t offset, size_t size);
void vagx_pmgr_write(struct vagx_pmgr *pmgr, uint64_t offset, size_t size,
		     uint64_t value);

/* Whether what is in the domain can be accessed */
bool vagx_pmgr_is_on(const struct vagx_pmgr *pmgr);

/* Power fails for a moment without being asked to; the register tells */
void vagx_pmgr_fail(struct vagx_pmgr *pmgr);

#endif
