/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Records of the target of page tables, for it and for corpus_machine.c, which makes some of
 * captures.
 */
#ifndef VAGX_FUZZ_UAT_OPS_H
#define VAGX_FUZZ_UAT_OPS_H

/* Addresses of pages of the guest: first the tables, then any others */
#define UAT_OPS_RAM		0x40000000ULL
#define UAT_OPS_FIRST_PAGE	16

/* Of a record's @op */
enum uat_op {
	UAT_OP_LEAF,		/* an entry of a last table */
	UAT_OP_TABLE,		/* an entry of any other, of the TTBs, or any word of them */
	UAT_OP_LOOK,
	UAT_OP_TLB,
	UAT_OP_INVALIDATE,
	UAT_OP_INSTRUCTION,	/* likewise, as the guest's processor has it */
	UAT_OP_FAVOURED,
	UAT_OP_READ = UAT_OP_FAVOURED,
	UAT_OP_WRITE,
	UAT_OP_SWEEP,
	UAT_OP_FIND,
	UAT_OP_FORGET,
	UAT_OP_CACHE,
	UAT_OP_JOB,
	UAT_OP_MAINTAIN,
	UAT_OP_MEMORY,
	UAT_OP_FLUSH,
	UAT_OP_COUNT
};

#endif /* VAGX_FUZZ_UAT_OPS_H */
