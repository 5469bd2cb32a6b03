/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_DC_H
#define VAGX_DC_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The CPU's maintenance of its data caches by address. Source: the Arm Architecture Reference
 * Manual, "DC" in C5.3. QEMU's plugin tells vagx of whole pages of 16 KiB, with the instruction
 * that has completed one, without its register, in struct vagx_tlbi_message; the operand is the
 * physical address of the page.
 */

#define VAGX_DC_RT		0x1fU
#define VAGX_DC_ZVA		0xd50b7420U	/* zeroes a block, in the cache */
#define VAGX_DC_CVAC		0xd50b7a20U	/* writes a line back */
#define VAGX_DC_CIVAC		0xd50b7e20U	/* and forgets it */
#define VAGX_DC_IVAC		0xd5087620U	/* forgets a line */

#define VAGX_DC_LINE		64U

/* Return: the instruction without its register, 0 if it is none of these */
static inline uint32_t vagx_dc_of(uint64_t insn)
{
	uint32_t dc = (uint32_t)insn & ~VAGX_DC_RT;

	return dc == VAGX_DC_ZVA || dc == VAGX_DC_CVAC || dc == VAGX_DC_CIVAC ||
	       dc == VAGX_DC_IVAC ? dc : 0;
}

#endif
