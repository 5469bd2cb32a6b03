/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_TLBI_H
#define VAGX_TLBI_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The CPU's TLB invalidations, as far as the GPU's MMU hears them. Source: the Arm
 * Architecture Reference Manual, "TLBI" in C5.5; that the GPU listens in the outer
 * shareable domain is from m1n1 hw/uat.py and what both drivers issue.
 */

/* SYS with op1 0 and CRn 8, or 9 for the forms that do not wait for XS accesses */
#define VAGX_TLBI_MASK		0xffffe000U
#define VAGX_TLBI_SYS		0xd5088000U
#define VAGX_TLBI_CRM(insn)	((insn) >> 8 & 0xf)
#define VAGX_TLBI_OP2(insn)	((insn) >> 5 & 7)
#define VAGX_TLBI_RT(insn)	((insn) & 0x1f)

#define VAGX_TLBI_CRM_OS	1U	/* outer shareable: one page, an ASID, all */
#define VAGX_TLBI_CRM_RANGE_OS	5U	/* the same for a range */

/* DSB, with the kind of barrier in CRm; the form without XS accesses is another instruction */
#define VAGX_DSB_MASK		0xfffff0ffU
#define VAGX_DSB		0xd503309fU
#define VAGX_DSB_CRM(insn)	((insn) >> 8 & 0xf)
#define VAGX_DSB_CRM_OSH	3U	/* outer shareable, loads and stores */
#define VAGX_DSB_CRM_SY		15U	/* full system, loads and stores */

/* What QEMU's plugin tells vagx of each; vagx answers with one byte when it is done */
struct vagx_tlbi_message {
	uint64_t insn;			/* an invalidation, or the barrier behind some */
	uint64_t operand;		/* of the register that it names, or 0 */
	uint64_t cpu;			/* which processor executes it */
};

/* Whether an instruction is one that the GPU's MMU hears */
static inline bool vagx_tlbi_is_heard(uint32_t insn)
{
	return (insn & VAGX_TLBI_MASK) == VAGX_TLBI_SYS &&
	       (VAGX_TLBI_CRM(insn) == VAGX_TLBI_CRM_OS ||
		VAGX_TLBI_CRM(insn) == VAGX_TLBI_CRM_RANGE_OS);
}

/*
 * Whether an instruction is a barrier that completes the invalidations that its processor has
 * issued: those of the outer shareable domain need one for loads and stores, of that domain at
 * least ("Completion of TLB maintenance instructions" in D8).
 */
static inline bool vagx_tlbi_is_barrier(uint32_t insn)
{
	return (insn & VAGX_DSB_MASK) == VAGX_DSB &&
	       (VAGX_DSB_CRM(insn) == VAGX_DSB_CRM_OSH || VAGX_DSB_CRM(insn) == VAGX_DSB_CRM_SY);
}

enum vagx_tlbi_kind { VAGX_TLBI_ALL, VAGX_TLBI_ASID, VAGX_TLBI_PAGES };

/**
 * struct vagx_tlbi - an invalidation
 * @kind: everything, what is not global of a context, or pages
 * @any_asid: the pages go whatever context they are of
 * @asid: context
 * @va: address of the first page
 * @pages: how many
 */
struct vagx_tlbi {
	enum vagx_tlbi_kind kind;
	bool any_asid;
	unsigned int asid;
	uint64_t va;
	uint64_t pages;
};

/**
 * vagx_tlbi_decode() - understand an instruction
 *
 * Hints about page size and level that exclude the GPU's pages make it invalidate
 * nothing, as the architecture allows.
 *
 * Return: whether it invalidates anything here.
 */
bool vagx_tlbi_decode(uint32_t insn, uint64_t operand, struct vagx_tlbi *tlbi);

#endif
