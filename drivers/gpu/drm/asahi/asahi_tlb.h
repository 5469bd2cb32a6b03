/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * TLB invalidation.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_TLB_H
#define ASAHI_TLB_H

#include <linux/types.h>

struct asahi_ranges;

/**
 * struct asahi_tlbi - one TLB invalidation instruction
 * @op: which instruction
 * @arg: its operand
 */
struct asahi_tlbi {
	enum {
		ASAHI_TLBI_PAGE,	/* vae1os */
		ASAHI_TLBI_RANGE,	/* rvae1os */
	} op;
	u64 arg;
};

bool asahi_tlb_next(u64 *va, u64 *pages, u16 asid, struct asahi_tlbi *tlbi);
bool asahi_tlb_supported(void);
void asahi_tlb_invalidate_all(void);
void asahi_tlb_invalidate_asid(unsigned int asid);
void asahi_tlb_invalidate_ranges(unsigned int asid, const struct asahi_ranges *ranges);

#endif
