// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#include "tlbi.h"

#include "uat.h"

/* op2 of the forms with an address: bit 0 is set, bit 1 says all ASIDs, bit 2 last level */
#define OP2_ALL		0
#define OP2_ASID	2
#define OP2_ADDRESS	1
#define OP2_ANY_ASID	2

#define ASID(operand)	((operand) >> 48)

/* Hints: 0 says nothing, else the two upper bits are the page size, the others the level */
#define TTL(operand)	((operand) >> 44 & 0xf)
#define TTL_16K		2
#define LEVEL_PAGE	3

#define RANGE_TG(operand)	((operand) >> 46 & 3)
#define RANGE_SCALE(operand)	((operand) >> 44 & 3)
#define RANGE_NUM(operand)	((operand) >> 39 & 0x1f)
#define RANGE_TTL(operand)	((operand) >> 37 & 3)
#define RANGE_TG_16K		2

static uint64_t tlbi_sign_extend(uint64_t value, unsigned int bits)
{
	return (uint64_t)((int64_t)(value << (64 - bits)) >> (64 - bits));
}

static bool tlbi_decode_page(uint64_t operand, struct vagx_tlbi *tlbi)
{
	unsigned int ttl = TTL(operand);

	if (ttl >> 2 && ttl != (TTL_16K << 2 | LEVEL_PAGE) && ttl != TTL_16K << 2)
		return false;
	tlbi->va = tlbi_sign_extend(operand << 12, 56) & ~(uint64_t)VAGX_UAT_PAGE_MASK;
	tlbi->pages = 1;
	return true;
}

static bool tlbi_decode_range(uint64_t operand, struct vagx_tlbi *tlbi)
{
	unsigned int ttl = RANGE_TTL(operand);

	if (RANGE_TG(operand) != RANGE_TG_16K || (ttl && ttl != LEVEL_PAGE))
		return false;
	tlbi->va = tlbi_sign_extend(operand << VAGX_UAT_PAGE_SHIFT, 37 + VAGX_UAT_PAGE_SHIFT);
	tlbi->pages = (RANGE_NUM(operand) + 1) << (5 * RANGE_SCALE(operand) + 1);
	return true;
}

bool vagx_tlbi_decode(uint32_t insn, uint64_t operand, struct vagx_tlbi *tlbi)
{
	bool range = VAGX_TLBI_CRM(insn) == VAGX_TLBI_CRM_RANGE_OS;
	unsigned int op2 = VAGX_TLBI_OP2(insn);

	if (!vagx_tlbi_is_heard(insn))
		return false;
	*tlbi = (struct vagx_tlbi){ .asid = ASID(operand) };
	if (op2 & OP2_ADDRESS) {
		tlbi->kind = VAGX_TLBI_PAGES;
		tlbi->any_asid = op2 & OP2_ANY_ASID;
		return range ? tlbi_decode_range(operand, tlbi) : tlbi_decode_page(operand, tlbi);
	}
	if (range || (op2 != OP2_ALL && op2 != OP2_ASID))
		return false;
	tlbi->kind = op2 == OP2_ASID ? VAGX_TLBI_ASID : VAGX_TLBI_ALL;
	return true;
}
