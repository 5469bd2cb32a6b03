// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * The page tables as they are in guest memory: walks from the table of TTBs down to a page entry,
 * with nothing cached (format: m1n1 hw/uat.py).
 *
 * Any thread, without a lock. The guest may change its tables at any time, so each entry is loaded
 * once, with acquire semantics, and checked before it is followed.
 */
#include "report.h"
#include "uat_internal.h"

#define TTB_ASID(ttb)	((ttb) >> AGX_TTBR_ASID_SHIFT)

/* The root has fewer entries than fill a page, so it need not start one */
#define TTB_BASE(ttb)	((ttb) & 0x0000fffffffffffeULL)

#define ROOT_SIZE	(AGX_UAT_L1_ENTRIES * 8)

#define BLOCK_SIZE	(1ULL << AGX_UAT_L2_SHIFT)
#define BLOCK_MASK	(BLOCK_SIZE - 1)

/* Entries that a search looks at before it gives up */
#define FIND_STEPS	65536

const uint64_t *uat_tables_entry(struct vagx_uat *uat, uint64_t table, unsigned int index)
{
	return vagx_mem_ptr(uat->mem, table + index * 8ULL, sizeof(uint64_t));
}

uint64_t vagx_uat_ttb(struct vagx_uat *uat, unsigned int slot,
		      unsigned int half)
{
	const uint64_t *ttb;

	if (slot >= VAGX_UAT_CONTEXTS || half > 1)
		return 0;
	ttb = vagx_mem_ptr(uat->mem, uat->ttbs + slot * AGX_TTBS_STRIDE + half * 8,
			   sizeof(*ttb));
	return ttb ? uat_tables_load(ttb) : 0;
}

/* Return: the clause about a valid TTB entry that is broken, or VAGX_KEPT */
static enum vagx_rule uat_tables_check_ttb(struct vagx_uat *uat, unsigned int slot, uint64_t ttb)
{
	uint64_t base = TTB_BASE(ttb);

	if (TTB_ASID(ttb) != slot)
		return VAGX_CLAUSE_UAT_BAD_TTB_asid;
	if (base & ~uat->oas_mask)
		return VAGX_CLAUSE_UAT_BAD_TTB_reach;
	if (base % ROOT_SIZE)
		return VAGX_CLAUSE_UAT_BAD_TTB_alignment;
	if (!vagx_mem_ptr(uat->mem, base, ROOT_SIZE))
		return VAGX_CLAUSE_UAT_BAD_TTB_memory;
	return VAGX_KEPT;
}

/* Return: the clause about a valid entry that leads to a table that is broken, or VAGX_KEPT */
static enum vagx_rule uat_tables_check_table(struct vagx_uat *uat, uint64_t value)
{
	if (!(value & VAGX_PTE_PAGE))
		return VAGX_CLAUSE_UAT_BAD_TABLE_type;
	if (value & ~UAT_TABLE_KNOWN)
		return VAGX_CLAUSE_UAT_BAD_TABLE_bits;
	if (!vagx_mem_ptr(uat->mem, VAGX_PTE_PA(value), VAGX_UAT_PAGE_SIZE))
		return VAGX_CLAUSE_UAT_BAD_TABLE_memory;
	return VAGX_KEPT;
}

/* Level 2 of the lower half is where an entry may translate 32 MiB */
static bool uat_tables_may_be_block(unsigned int level, uint64_t va, uint64_t value)
{
	return level == 1 && !(va & VA_UPPER) && !(value & VAGX_PTE_PAGE);
}

/* Return: the clause about a valid block entry that is broken, or VAGX_KEPT */
static enum vagx_rule uat_tables_check_block(struct vagx_uat *uat, uint64_t value)
{
	if (VAGX_PTE_PA(value) & BLOCK_MASK)
		return VAGX_CLAUSE_UAT_BAD_BLOCK_alignment;
	if (!vagx_mem_ptr(uat->mem, VAGX_PTE_PA(value), BLOCK_SIZE))
		return VAGX_CLAUSE_UAT_BAD_BLOCK_memory;
	return VAGX_KEPT;
}

/* Return: the page entry that translates @va as a block entry does */
static uint64_t uat_tables_page_of_block(uint64_t block, uint64_t va)
{
	return (block | VAGX_PTE_PAGE) + (va & BLOCK_MASK & ~VAGX_UAT_PAGE_MASK);
}

/* Return: the root table, or 0 */
static uint64_t uat_tables_root(struct vagx_uat *uat, unsigned int slot, uint64_t va)
{
	unsigned int half = !!(va & VA_UPPER);
	uint64_t ttb = vagx_uat_ttb(uat, slot, half);
	uint64_t base = TTB_BASE(ttb);
	enum vagx_rule clause;

	if (half && (va & VA_UPPER) != VA_UPPER)
		return 0;
	if (!(ttb & AGX_TTBR_VALID))
		return 0;
	clause = uat_tables_check_ttb(uat, slot, ttb);
	if (clause != VAGX_KEPT) {
		vagx_violation(uat->report, clause, uat->ttbs + slot * AGX_TTBS_STRIDE + half * 8, "TTB table",
			       "slot %u, ttb%u is 0x%llx", slot, half,
			       (unsigned long long)ttb);
		return 0;
	}
	return base;
}

uint64_t uat_tables_leaf(struct vagx_uat *uat, uint64_t table, uint64_t va)
{
	const uint64_t *entry;

	if (uat_tables_is_block(table))
		return uat_tables_page_of_block(table, va);
	entry = table ? uat_tables_entry(uat, table, UAT_LEAF_INDEX(va)) : NULL;
	return entry ? uat_tables_load(entry) : 0;
}

uint64_t uat_tables_find_at(struct vagx_uat *uat, unsigned int slot, uint64_t va,
			    const uint64_t **at)
{
	static const struct {
		unsigned int shift, entries;
	} levels[] = {
		{ AGX_UAT_L1_SHIFT, AGX_UAT_L1_ENTRIES },
		{ AGX_UAT_L2_SHIFT, AGX_UAT_L2_ENTRIES },
	};
	enum vagx_rule clause;
	uint64_t table;

	if (slot >= VAGX_UAT_CONTEXTS)
		return 0;
	table = uat_tables_root(uat, slot, va);
	for (unsigned int level = 0; table && level < AGX_UAT_LEVELS - 1; level++) {
		unsigned int index = va >> levels[level].shift &
				     (levels[level].entries - 1);
		const uint64_t *entry = uat_tables_entry(uat, table, index);
		uint64_t value = entry ? uat_tables_load(entry) : 0;
		bool block = uat_tables_may_be_block(level, va, value);

		if (!(value & VAGX_PTE_VALID))
			return 0;
		clause = block ? uat_tables_check_block(uat, value) :
				 uat_tables_check_table(uat, value);
		if (clause != VAGX_KEPT) {
			vagx_violation(uat->report, clause, va, "page table",
				       "slot %u, level %u holds 0x%llx", slot,
				       level + 1, (unsigned long long)value);
			return 0;
		}
		table = block ? value : VAGX_PTE_PA(value);
		if (at)
			*at = entry;
	}
	return table;
}

uint64_t vagx_uat_table_pte(struct vagx_uat *uat, unsigned int slot, uint64_t va)
{
	uint64_t table = uat_tables_find(uat, slot, va);
	uint64_t value = table ? uat_tables_leaf(uat, table, va) : 0;

	return value & VAGX_PTE_VALID ? value : 0;
}

/*
 * Looks an address up. Return: whether a page is there. @span is what the last entry covers, in
 * bytes.
 */
static bool uat_tables_look_up(struct vagx_uat *uat, uint64_t table, uint64_t va, uint64_t *pte,
			       uint64_t *span)
{
	static const unsigned int shifts[] = {
		AGX_UAT_L1_SHIFT, AGX_UAT_L2_SHIFT, AGX_UAT_L3_SHIFT,
	};
	unsigned int level;

	for (level = 0; level < AGX_UAT_LEVELS; level++) {
		unsigned int entries = level ? AGX_UAT_L3_ENTRIES : AGX_UAT_L1_ENTRIES;
		const uint64_t *entry =
			uat_tables_entry(uat, table, va >> shifts[level] & (entries - 1));

		*span = 1ULL << shifts[level];
		*pte = entry ? uat_tables_load(entry) : 0;
		if (!(*pte & VAGX_PTE_VALID))
			return false;
		if (uat_tables_may_be_block(level, va, *pte)) {
			*pte = uat_tables_page_of_block(*pte, va);
			return true;
		}
		table = VAGX_PTE_PA(*pte);
	}
	return true;
}

/* Finds the first page from @va on, upwards or downwards */
static bool uat_tables_find_page(struct vagx_uat *uat, uint64_t table, uint64_t *va, bool up,
				 uint64_t *pte)
{
	unsigned int step;
	uint64_t span;

	for (step = 0; step < FIND_STEPS && !(*va & VA_UPPER); step++) {
		if (uat_tables_look_up(uat, table, *va, pte, &span))
			return true;
		*va = up ? (*va | (span - 1)) + 1 : (*va & ~(span - 1)) - 1;
	}
	return false;
}

/* Finds how far pages with the permissions of @pte go on. Return: address of the last one. */
static uint64_t uat_tables_find_end(struct vagx_uat *uat, uint64_t table, uint64_t va, bool up,
				    uint64_t pte, bool *more)
{
	const uint64_t same = AGX_PTE_PROT_MASK | VAGX_PTE_VALID;
	unsigned int step;

	for (step = 0; step < FIND_STEPS; step++) {
		uint64_t next = up ? va + VAGX_UAT_PAGE_SIZE : va - VAGX_UAT_PAGE_SIZE;
		uint64_t other, span;

		if (next & VA_UPPER || !uat_tables_look_up(uat, table, next, &other, &span) ||
		    (pte ^ other) & same)
			return va;
		va = next;
	}
	*more = true;
	return va;
}

bool vagx_uat_find(struct vagx_uat *uat, unsigned int slot, uint64_t va, bool up,
		   struct vagx_uat_range *range)
{
	bool lower = slot < VAGX_UAT_CONTEXTS && !(va & VA_UPPER);
	uint64_t table = lower ? uat_tables_root(uat, slot, va) : 0;
	uint64_t page = va, pte;

	if (!table || !uat_tables_find_page(uat, table, &page, up, &pte))
		return false;
	page &= ~(uint64_t)VAGX_UAT_PAGE_MASK;
	range->pte = pte;
	range->more = false;
	range->start = uat_tables_find_end(uat, table, page, false, pte, &range->more);
	range->end = uat_tables_find_end(uat, table, page, true, pte, &range->more) +
		     VAGX_UAT_PAGE_SIZE;
	return true;
}
