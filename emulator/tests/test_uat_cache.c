// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dc.h"
#include "helpers.h"
#include "listen.h"
#include "snoop.h"
#include "tlbi.h"

#define USER_VA		0x1000004000ULL
#define KERNEL_VA	0xffffffa000004000ULL
#define PAGE		AGX_PAGE_SIZE
#define BLOCK_SIZE	(1ULL << AGX_UAT_L2_SHIFT)
#define BLOCK_VA	(2 * BLOCK_SIZE)
#define BLOCK_LAST	(BLOCK_VA + BLOCK_SIZE - PAGE)

/* Instructions as GNU as has them, with x3 where they have an operand */
#define VMALLE1OS	0xd508811fU
#define VAE1OS		0xd5088123U
#define ASIDE1OS	0xd5088143U
#define VAAE1OS		0xd5088163U
#define VALE1OS		0xd50881a3U
#define RVAE1OS		0xd5088523U
#define RVAAE1OS	0xd5088563U
#define VAE1OSNXS	0xd5089123U
#define DSB_SY		0xd5033f9fU
#define DSB_OSH		0xd503339fU

static int setup(void **state)
{
	struct machine *m = machine_new();

	vagx_uat_cache_set(m->uat, true);
	*state = m;
	return 0;
}

static int teardown(void **state)
{
	machine_free(*state);
	return 0;
}

static uint64_t asid(unsigned int slot)
{
	return (uint64_t)slot << 48;
}

static uint64_t of_page(unsigned int slot, uint64_t va)
{
	return asid(slot) | (va >> 12 & 0xfffffffffffULL);
}

/* 2 pages for a @num of 0 */
static uint64_t of_range(unsigned int slot, uint64_t va, unsigned int scale, unsigned int num)
{
	return asid(slot) | 2ULL << 46 | (uint64_t)scale << 44 | (uint64_t)num << 39 |
	       (va >> 14 & 0x1fffffffffULL);
}

static void execute(struct machine *m, uint32_t insn, uint64_t operand)
{
	struct vagx_tlbi tlbi;

	assert_true(vagx_tlbi_is_heard(insn));
	assert_true(vagx_tlbi_decode(insn, operand, &tlbi));
	vagx_uat_invalidate(m->uat, &tlbi);
}

static void *gpu_ptr(struct machine *m, unsigned int slot, uint64_t va)
{
	return vagx_uat_ptr(m->uat, slot, va, 4, VAGX_AGENT_GPU, VAGX_WRITE, NULL);
}

/* Maps a new page and has it looked at. Return: its host address. */
static void *use_page(struct machine *m, unsigned int slot, uint64_t va)
{
	uint64_t page = machine_page(m);

	machine_map(m, slot, va, machine_pte(page, AGX_PROT_GPU_SHARED_RW));
	assert_ptr_equal(gpu_ptr(m, slot, va), machine_host(m, page));
	return machine_host(m, page);
}

static void translations_stay(void **state)
{
	struct machine *m = *state;
	void *old = use_page(m, 1, USER_VA);
	uint64_t other = machine_page(m);

	*machine_entry(m, 1, USER_VA) = machine_pte(other, AGX_PROT_GPU_SHARED_RO);
	assert_ptr_equal(gpu_ptr(m, 1, USER_VA), old);
	assert_int_equal(VAGX_PTE_PA(vagx_uat_table_pte(m->uat, 1, USER_VA)), other);
	*machine_entry(m, 1, USER_VA) = 0;
	assert_ptr_equal(gpu_ptr(m, 1, USER_VA), old);
	assert_int_equal(vagx_uat_table_pte(m->uat, 1, USER_VA), 0);

	/* nor do they go with their context, or with a table */
	*machine_table_entry(m, 1, USER_VA, 2) = 0;
	*machine_table_entry(m, 1, USER_VA, 0) = 0;
	assert_ptr_equal(gpu_ptr(m, 1, USER_VA), old);
	execute(m, VAE1OS, of_page(1, USER_VA));
	assert_null(gpu_ptr(m, 1, USER_VA));
}

static void nothing_is_no_translation(void **state)
{
	struct machine *m = *state;
	uint64_t page = machine_page(m);
	uint64_t pte = machine_pte(page, AGX_PROT_GPU_SHARED_RW);

	assert_null(gpu_ptr(m, 1, USER_VA));
	machine_map(m, 1, USER_VA, 0);
	assert_null(gpu_ptr(m, 1, USER_VA));
	*machine_entry(m, 1, USER_VA) = pte & ~AGX_PTE_AF;
	assert_null(gpu_ptr(m, 1, USER_VA));
	*machine_entry(m, 1, USER_VA) = pte;
	assert_ptr_equal(gpu_ptr(m, 1, USER_VA), machine_host(m, page));
}

/* Each of these takes the translation of one page, or leaves it */
static void invalidations_of_a_page(void **state)
{
	static const struct {
		uint32_t insn;
		uint64_t operand;
		bool hits;
	} cases[] = {
		{ VMALLE1OS, 0, true },
		{ ASIDE1OS, 1ULL << 48, true },
		{ ASIDE1OS, 2ULL << 48, false },
		{ VAE1OS, 1ULL << 48 | USER_VA >> 12, true },
		{ VAE1OSNXS, 1ULL << 48 | USER_VA >> 12, true },
		{ VALE1OS, 1ULL << 48 | (USER_VA + 0x3000) >> 12, true },
		{ VAE1OS, 2ULL << 48 | USER_VA >> 12, false },
		{ VAE1OS, 1ULL << 48 | (USER_VA + PAGE) >> 12, false },
		{ VAE1OS, 1ULL << 48 | (USER_VA - PAGE) >> 12, false },
		{ VAAE1OS, USER_VA >> 12, true },
		/* with the hint that it is a page of 16K, at level 3 */
		{ VAE1OS, 1ULL << 48 | 0xbULL << 44 | USER_VA >> 12, true },
		{ RVAE1OS, 1ULL << 48 | 2ULL << 46 | USER_VA >> 14, true },
		{ RVAE1OS, 1ULL << 48 | 2ULL << 46 | (USER_VA - PAGE) >> 14, true },
		{ RVAE1OS, 1ULL << 48 | 2ULL << 46 | (USER_VA - 2 * PAGE) >> 14, false },
		{ RVAE1OS, 1ULL << 48 | 2ULL << 46 | 1ULL << 39 | (USER_VA - 3 * PAGE) >> 14, true },
		{ RVAE1OS, 1ULL << 48 | 2ULL << 46 | 1ULL << 44 | (USER_VA - 63 * PAGE) >> 14, true },
		{ RVAE1OS, 1ULL << 48 | 2ULL << 46 | 1ULL << 44 | (USER_VA - 64 * PAGE) >> 14, false },
		{ RVAE1OS, 2ULL << 48 | 2ULL << 46 | USER_VA >> 14, false },
		{ RVAAE1OS, 2ULL << 48 | 2ULL << 46 | USER_VA >> 14, true },
	};
	struct machine *m = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		use_page(m, 1, USER_VA);
		*machine_entry(m, 1, USER_VA) = 0;
		execute(m, cases[i].insn, cases[i].operand);
		if (!gpu_ptr(m, 1, USER_VA) != cases[i].hits)
			fail_msg("case %zu", i);
		vagx_uat_forget(m->uat);
	}
}

static void other_instructions(void **state)
{
	static const uint32_t deaf[] = {
		0xd508831f, /* vmalle1is */ 0xd5088323, /* vae1is */
		0xd5088223, /* rvae1is */   0xd508871f, /* vmalle1 */
		0xd5088723, /* vae1 */	    0xd50c81df, /* vmalls12e1os */
		0xd50c8123, /* vae2os */    0xd50b7e23, /* dc civac */
		0xd503201f, /* nop */
	};
	struct vagx_tlbi tlbi;

	for (size_t i = 0; i < sizeof(deaf) / sizeof(deaf[0]); i++)
		assert_false(vagx_tlbi_is_heard(deaf[i]) || vagx_tlbi_decode(deaf[i], 0, &tlbi));
	/* pages of 4K, a range of pages of 64K, of blocks */
	assert_false(vagx_tlbi_decode(VAE1OS, 0x7ULL << 44, &tlbi));
	assert_false(vagx_tlbi_decode(VAE1OS, 0xaULL << 44, &tlbi));
	assert_false(vagx_tlbi_decode(RVAE1OS, 3ULL << 46, &tlbi));
	assert_false(vagx_tlbi_decode(RVAE1OS, 2ULL << 46 | 2ULL << 37, &tlbi));
}

/* Those of loads or stores alone, of smaller domains, or without XS accesses complete nothing */
static void barriers(void **state)
{
	static const uint32_t none[] = {
		0xd503319f, /* oshld */ 0xd503329f, /* oshst */ 0xd5033b9f, /* ish */
		0xd5033a9f, /* ishst */ 0xd503379f, /* nsh */	0xd5033d9f, /* ld */
		0xd5033e9f, /* st */	0xd503309f, /* ssbb */	0xd5033fbf, /* dmb sy */
		0xd5033fdf, /* isb */	0xd5033e3f, /* synxs */ 0xd508811f, /* vmalle1os */
	};

	assert_true(vagx_tlbi_is_barrier(DSB_SY) && vagx_tlbi_is_barrier(DSB_OSH));
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_false(vagx_tlbi_is_barrier(none[i]));
}

/* An entry is cleared and invalidated before it leads to another page */
static void break_before_make(void **state)
{
	struct machine *m = *state;
	uint64_t page = machine_page(m), other = machine_page(m), *entry;

	machine_map(m, 1, USER_VA, machine_pte(page, AGX_PROT_GPU_SHARED_RW));
	assert_non_null(gpu_ptr(m, 1, USER_VA));
	entry = machine_entry(m, 1, USER_VA);

	/* another protection of the same page is none */
	*entry = machine_pte(page, AGX_PROT_GPU_SHARED_RO);
	execute(m, VAE1OS, of_page(1, USER_VA));
	*entry = machine_pte(page, AGX_PROT_GPU_SHARED_RW);
	execute(m, ASIDE1OS, asid(1));
	*entry = 0;
	execute(m, VAE1OS, of_page(1, USER_VA));
	*entry = machine_pte(other, AGX_PROT_GPU_SHARED_RW);
	execute(m, VAE1OS, of_page(1, USER_VA));
	assert_ptr_equal(gpu_ptr(m, 1, USER_VA), machine_host(m, other));
	assert_rule(m, UAT_BREAK, 0);

	/* cleared, but not invalidated then; whatever the invalidation is */
	*entry = 0;
	*entry = machine_pte(page, AGX_PROT_GPU_SHARED_RW);
	execute(m, VAE1OS, of_page(1, USER_VA));
	assert_rule(m, UAT_BREAK, 1);
	*entry = machine_pte(other, AGX_PROT_GPU_SHARED_RW);
	execute(m, RVAE1OS, of_range(1, USER_VA, 0, 0));
	assert_rule(m, UAT_BREAK, 2);
	*entry = machine_pte(page, AGX_PROT_GPU_SHARED_RW);
	execute(m, ASIDE1OS, asid(1));
	assert_rule(m, UAT_BREAK, 3);
	*entry = machine_pte(other, AGX_PROT_GPU_SHARED_RW);
	execute(m, VMALLE1OS, 0);
	assert_clause(m, UAT_BREAK, page, 4);
}

/* Sweeps for as long as @ns. Return: when it wants to come again. */
static uint64_t sweep_for(struct machine *m, uint64_t *now, uint64_t ns)
{
	uint64_t until = *now + ns, next = 0;

	while (*now < until) {
		*now += VAGX_UAT_SWEEP_NS;
		next = vagx_uat_sweep(m->uat, *now);
	}
	return next;
}

/* Return: the entry of level 2, which translates all of BLOCK_VA's block */
static uint64_t *use_block(struct machine *m, uint64_t pte)
{
	uint64_t *entry;

	machine_map(m, 1, BLOCK_VA, 0);
	entry = machine_table_entry(m, 1, BLOCK_VA, 2);
	*entry = pte;
	assert_non_null(gpu_ptr(m, 1, BLOCK_VA));
	assert_non_null(gpu_ptr(m, 1, BLOCK_LAST));
	return entry;
}

static void blocks_go_as_a_whole(void **state)
{
	struct machine *m = *state;
	uint64_t pte = machine_pte(TEST_RAM + BLOCK_SIZE, AGX_PROT_GPU_SHARED_RW);
	uint64_t *entry = use_block(m, pte ^ VAGX_PTE_PAGE);
	uint64_t now = 1000;

	/* Pages that were used stay until they are named, also the last one */
	*entry = 0;
	execute(m, VAE1OS, of_page(1, BLOCK_VA));
	assert_null(gpu_ptr(m, 1, BLOCK_VA));
	assert_null(gpu_ptr(m, 1, BLOCK_VA + PAGE));
	assert_non_null(gpu_ptr(m, 1, BLOCK_LAST));
	sweep_for(m, &now, 2 * VAGX_UAT_STALE_NS);
	assert_clause(m, UAT_STALE, page, 1);

	/* All of it at once, and another block comes in its place */
	entry = use_block(m, pte ^ VAGX_PTE_PAGE);
	*entry = 0;
	execute(m, RVAE1OS, of_range(1, BLOCK_VA, 2, 0));
	*entry = (pte + BLOCK_SIZE) ^ VAGX_PTE_PAGE;
	assert_ptr_equal(gpu_ptr(m, 1, BLOCK_LAST),
			 machine_host(m, TEST_RAM + 3 * BLOCK_SIZE - PAGE));
	assert_int_equal(sweep_for(m, &now, 2 * VAGX_UAT_STALE_NS), 0);
	assert_rule(m, UAT_STALE, 1);
	assert_rule(m, UAT_BREAK, 0);

	/* Another protection of the same block is no replacement */
	*entry ^= AGX_PTE_UXN;
	execute(m, RVAE1OS, of_range(1, BLOCK_VA, 2, 0));
	assert_null(gpu_ptr(m, 1, BLOCK_LAST));
	assert_rule(m, UAT_BREAK, 0);
}

/* A leaf that takes the place of a block needs an invalidation before it, whatever is in it */
static void blocks_break_before_leaves(void **state)
{
	struct machine *m = *state;
	uint64_t pte = machine_pte(TEST_RAM + BLOCK_SIZE, AGX_PROT_GPU_SHARED_RW);
	uint64_t *entry = use_block(m, pte ^ VAGX_PTE_PAGE);
	uint64_t leaf = machine_page(m);

	*(uint64_t *)machine_host(m, leaf) = pte;
	*entry = 0;
	*entry = leaf | AGX_PTE_TYPE;
	execute(m, VAE1OS, of_page(1, BLOCK_VA + PAGE));
	assert_clause(m, UAT_BREAK, block, 1);

	/* and back */
	*entry = pte ^ VAGX_PTE_PAGE;
	execute(m, ASIDE1OS, asid(1));
	assert_clause(m, UAT_BREAK, block, 2);

	/* as it should be */
	*entry = 0;
	execute(m, RVAE1OS, of_range(1, BLOCK_VA, 2, 0));
	*entry = leaf | AGX_PTE_TYPE;
	assert_non_null(gpu_ptr(m, 1, BLOCK_VA));
	execute(m, ASIDE1OS, asid(1));
	assert_rule(m, UAT_BREAK, 2);

	/* A context that gets other tables has other blocks, and needs one invalidation for all */
	*entry = 0;
	execute(m, ASIDE1OS, asid(1));
	use_block(m, pte ^ VAGX_PTE_PAGE);
	*machine_table_entry(m, 1, BLOCK_VA, 1) = 0;
	use_block(m, (pte + BLOCK_SIZE) ^ VAGX_PTE_PAGE);
	execute(m, ASIDE1OS, asid(1));
	assert_rule(m, UAT_BREAK, 2);
}

/* A context that gets other tables has other pages at the same addresses */
static void other_tables_are_no_replacement(void **state)
{
	struct machine *m = *state;

	use_page(m, 1, USER_VA);
	*machine_table_entry(m, 1, USER_VA, 2) = 0;
	machine_map(m, 1, USER_VA, machine_pte(machine_page(m), AGX_PROT_GPU_SHARED_RW));
	execute(m, ASIDE1OS, asid(1));
	assert_rule(m, UAT_BREAK, 0);
}

static void too_early_is_for_nothing(void **state)
{
	struct machine *m = *state;
	void *old = use_page(m, 1, USER_VA);

	execute(m, VAE1OS, of_page(1, USER_VA));
	*machine_entry(m, 1, USER_VA) = 0;
	assert_ptr_equal(gpu_ptr(m, 1, USER_VA), old);
	execute(m, VAE1OS, of_page(1, USER_VA));
	assert_null(gpu_ptr(m, 1, USER_VA));

	old = use_page(m, 1, USER_VA);
	execute(m, ASIDE1OS, asid(1));
	*machine_table_entry(m, 1, USER_VA, 0) = 0;
	assert_ptr_equal(gpu_ptr(m, 1, USER_VA), old);
	execute(m, ASIDE1OS, asid(1));
	assert_null(gpu_ptr(m, 1, USER_VA));
}

static void tables_need_more_than_pages(void **state)
{
	struct machine *m = *state;
	uint64_t *pointer, table, page;

	use_page(m, 1, USER_VA);
	pointer = machine_table_entry(m, 1, USER_VA, 2);
	table = *pointer;
	*machine_entry(m, 1, USER_VA) = 0;
	execute(m, VAE1OS, of_page(1, USER_VA));
	assert_null(gpu_ptr(m, 1, USER_VA));

	/* another table for the same addresses; the old one is memory of somebody else */
	*pointer = 0;
	page = machine_page(m);
	machine_map(m, 1, USER_VA, machine_pte(page, AGX_PROT_GPU_SHARED_RW));
	assert_null(gpu_ptr(m, 1, USER_VA));
	execute(m, VAE1OS, of_page(1, USER_VA));
	assert_null(gpu_ptr(m, 1, USER_VA));
	assert_int_not_equal(*pointer, table);
	execute(m, ASIDE1OS, asid(1));
	assert_ptr_equal(gpu_ptr(m, 1, USER_VA), machine_host(m, page));
}

static void global_pages(void **state)
{
	struct machine *m = *state;
	uint64_t page = machine_page(m), pte;

	pte = machine_pte(page, AGX_PROT_GPU_FW_SHARED_RW) & ~AGX_PTE_NG;
	machine_map(m, 0, KERNEL_VA, pte);
	assert_non_null(gpu_ptr(m, 0, KERNEL_VA));
	*machine_entry(m, 0, KERNEL_VA) = 0;
	execute(m, ASIDE1OS, asid(0));
	assert_non_null(gpu_ptr(m, 0, KERNEL_VA));
	execute(m, VAE1OS, of_page(0, USER_VA));
	assert_non_null(gpu_ptr(m, 0, KERNEL_VA));
	/* whose context is named does not matter */
	execute(m, VAE1OS, of_page(5, KERNEL_VA));
	assert_null(gpu_ptr(m, 0, KERNEL_VA));

	*machine_entry(m, 0, KERNEL_VA) = pte;
	assert_non_null(gpu_ptr(m, 0, KERNEL_VA));
	*machine_entry(m, 0, KERNEL_VA) = 0;
	execute(m, RVAE1OS, of_range(0, KERNEL_VA, 3, 31));
	assert_null(gpu_ptr(m, 0, KERNEL_VA));

	/* its tables go with everything only */
	*machine_entry(m, 0, KERNEL_VA) = pte;
	assert_non_null(gpu_ptr(m, 0, KERNEL_VA));
	*machine_table_entry(m, 0, KERNEL_VA, 0) = 0;
	execute(m, ASIDE1OS, asid(0));
	assert_non_null(gpu_ptr(m, 0, KERNEL_VA));
	execute(m, VMALLE1OS, 0);
	assert_null(gpu_ptr(m, 0, KERNEL_VA));
}

static void cores_look_again(void **state)
{
	struct machine *m = *state;
	static struct vagx_tlb tlb;
	void *old = use_page(m, 1, USER_VA);
	struct vagx_uat_fault fault;

	vagx_tlb_init(&tlb, m->uat, 1, VAGX_AGENT_GPU);
	assert_ptr_equal(vagx_tlb_ptr(&tlb, USER_VA, 4, VAGX_WRITE, &fault), old);
	*machine_entry(m, 1, USER_VA) = 0;
	assert_ptr_equal(vagx_tlb_ptr(&tlb, USER_VA, 4, VAGX_WRITE, &fault), old);
	/* a new job does not help */
	vagx_tlb_flush(&tlb);
	assert_ptr_equal(vagx_tlb_ptr(&tlb, USER_VA, 4, VAGX_WRITE, &fault), old);
	execute(m, VAE1OS, of_page(1, USER_VA));
	assert_null(vagx_tlb_ptr(&tlb, USER_VA, 4, VAGX_WRITE, &fault));
	assert_int_equal(fault.reason, VAGX_FAULT_UNMAPPED);

	/* nor is anything left of it when the plugin goes */
	old = use_page(m, 1, USER_VA);
	assert_ptr_equal(vagx_tlb_ptr(&tlb, USER_VA, 4, VAGX_WRITE, &fault), old);
	*machine_entry(m, 1, USER_VA) = 0;
	vagx_uat_cache_set(m->uat, false);
	assert_null(vagx_tlb_ptr(&tlb, USER_VA, 4, VAGX_WRITE, &fault));
}

static void many_tables(void **state)
{
	struct machine *m = *state;
	struct vagx_uat_stats stats;
	uint64_t page = machine_page(m), table;

	/* One last table for all that an entry of the first can lead to */
	machine_map(m, 1, 0, machine_pte(page, AGX_PROT_GPU_SHARED_RW));
	table = *machine_table_entry(m, 1, 0, 2);
	for (uint64_t va = 0; va < 1ULL << AGX_UAT_L1_SHIFT; va += 1ULL << AGX_UAT_L2_SHIFT) {
		*machine_table_entry(m, 1, va, 2) = table;
		assert_ptr_equal(gpu_ptr(m, 1, va), machine_host(m, page));
	}
	vagx_uat_get_stats(m->uat, &stats);
	assert_in_range(stats.pages, 500, 1024);
	execute(m, VMALLE1OS, 0);
	vagx_uat_get_stats(m->uat, &stats);
	assert_in_range(stats.pages, 500, 1024);
	assert_int_equal(stats.kept, stats.pages);
	*machine_table_entry(m, 1, 0, 0) = 0;
	execute(m, VMALLE1OS, 0);
	vagx_uat_get_stats(m->uat, &stats);
	assert_int_equal(stats.pages, 0);
}

static void forgotten_invalidations_are_found(void **state)
{
	struct machine *m = *state;
	uint64_t now = 1000, entry;

	use_page(m, 1, USER_VA);
	use_page(m, 1, USER_VA + PAGE);
	assert_int_equal(sweep_for(m, &now, 2 * VAGX_UAT_STALE_NS), 0);

	/* in time, the last time */
	*machine_entry(m, 1, USER_VA) = 0;
	assert_int_not_equal(sweep_for(m, &now, VAGX_UAT_STALE_NS - VAGX_UAT_SWEEP_NS), 0);
	assert_rule(m, UAT_STALE, 0);
	execute(m, VAE1OS, of_page(1, USER_VA));
	assert_int_equal(sweep_for(m, &now, 2 * VAGX_UAT_STALE_NS), 0);
	assert_rule(m, UAT_STALE, 0);

	/* too late; each is said once */
	*machine_entry(m, 1, USER_VA + PAGE) = 0;
	assert_int_equal(sweep_for(m, &now, 2 * VAGX_UAT_STALE_NS), 0);
	assert_clause(m, UAT_STALE, page, 1);

	/* a table, with nothing of it in use */
	entry = *machine_table_entry(m, 1, USER_VA, 2);
	*machine_table_entry(m, 1, USER_VA, 2) = 0;
	sweep_for(m, &now, 2 * VAGX_UAT_STALE_NS);
	assert_rule(m, UAT_STALE, 2);
	assert_int_equal(vagx_report_count(m->report, VAGX_CLAUSE_UAT_STALE_table), 1);
	*machine_table_entry(m, 1, USER_VA, 2) = entry;
	execute(m, ASIDE1OS, asid(1));

	/* the power that goes takes all of it */
	use_page(m, 1, USER_VA);
	*machine_entry(m, 1, USER_VA) = 0;
	vagx_uat_forget(m->uat);
	assert_int_equal(sweep_for(m, &now, 2 * VAGX_UAT_STALE_NS), 0);
	assert_rule(m, UAT_STALE, 2);
}

/* A context that goes need not invalidate the kernel half, as long as the kernel has it. */
static void kernel_half_outlives_a_context(void **state)
{
	struct machine *m = *state;
	uint64_t now = 1000;

	use_page(m, 0, KERNEL_VA);
	*machine_table_entry(m, 1, KERNEL_VA, 0) =
		*machine_table_entry(m, 0, KERNEL_VA, 0) | asid(1);
	assert_non_null(gpu_ptr(m, 1, KERNEL_VA));
	*machine_table_entry(m, 1, KERNEL_VA, 0) = 0;
	execute(m, ASIDE1OS, asid(1));
	assert_int_equal(sweep_for(m, &now, 2 * VAGX_UAT_STALE_NS), 0);
	assert_rule(m, UAT_STALE, 0);

	/* both contexts have the page then */
	*machine_entry(m, 0, KERNEL_VA) = 0;
	assert_int_equal(sweep_for(m, &now, 2 * VAGX_UAT_STALE_NS), 0);
	assert_rule(m, UAT_STALE, 2);
}

/* A page that the CPU has zeroed has to be cleaned before the GPU looks it up */
static void pages_that_nobody_has_cleaned_from_caches(void **state)
{
	struct machine *m = *state;
	uint64_t page = machine_page(m), pte = machine_pte(page, AGX_PROT_GPU_SHARED_RW);
	struct vagx_maintained done;

	vagx_uat_maintain(m->uat, VAGX_DC_ZVA, page);
	vagx_uat_maintain(m->uat, VAGX_DC_ZVA, page + PAGE);
	vagx_uat_maintain(m->uat, VAGX_DC_CVAC, page);
	vagx_uat_maintain(m->uat, VAGX_DC_ZVA, 1ULL << 50);
	machine_map(m, 1, USER_VA, pte);
	assert_non_null(gpu_ptr(m, 1, USER_VA));
	assert_rule(m, UAT_DIRTY, 0);

	/* Again, while it is mapped: the rule says nothing of zeroing then */
	vagx_uat_maintain(m->uat, VAGX_DC_ZVA, page);
	assert_non_null(gpu_ptr(m, 1, USER_VA));
	assert_rule(m, UAT_DIRTY, 0);
	*machine_entry(m, 1, USER_VA) = 0;
	execute(m, VAE1OS, of_page(1, USER_VA));
	*machine_entry(m, 1, USER_VA) = pte;
	/* To forget a page is not to write it back */
	vagx_uat_maintain(m->uat, VAGX_DC_IVAC, page);
	assert_non_null(gpu_ptr(m, 1, USER_VA));
	assert_rule(m, UAT_DIRTY, 1);
	done = vagx_uat_maintained(m->uat);
	assert_int_equal(done.zeroed, 3);
	assert_int_equal(done.cleaned, 1);
	assert_int_equal(done.invalidated, 1);
}

#define HOLES	64

static unsigned int count_found(struct vagx_tlb *tlb)
{
	unsigned int found = 0;

	for (uint64_t i = 0; i < HOLES; i++)
		found += !!vagx_tlb_ptr(tlb, USER_VA + i * PAGE, 4, VAGX_READ, NULL);
	return found;
}

static void map_holes(struct machine *m)
{
	for (uint64_t i = 0; i < HOLES; i++)
		machine_map(m, 1, USER_VA + i * PAGE,
			    machine_pte(machine_page(m), AGX_PROT_GPU_SHARED_RW));
}

static void setup_holes(void **state, struct vagx_tlb *tlb)
{
	struct machine *m = machine_new_keep_holes(23);

	machine_free(*state);
	*state = m;
	vagx_uat_cache_set(m->uat, true);
	vagx_tlb_init(tlb, m->uat, 1, VAGX_AGENT_GPU);
	assert_int_equal(count_found(tlb), 0);
	map_holes(m);
}

/* Some pages that cores have looked for are found only after an invalidation */
static void holes_are_kept(void **state)
{
	struct vagx_tlb tlb;
	struct machine *m;
	unsigned int found;
	uint64_t now = 1000;

	setup_holes(state, &tlb);
	m = *state;
	found = count_found(&tlb);
	assert_in_range(found, 1, HOLES - 1);
	/* An invalidation of another context changes nothing */
	execute(m, ASIDE1OS, asid(2));
	assert_int_equal(count_found(&tlb), found);
	/* The driver breaks no rule with it */
	assert_int_equal(sweep_for(m, &now, 2 * VAGX_UAT_STALE_NS), 0);
	assert_false(vagx_report_failed(m->report));
	execute(m, RVAE1OS, of_range(1, USER_VA, 0, HOLES / 4 - 1));
	assert_in_range(count_found(&tlb), found + 1, HOLES - 1);
	execute(m, ASIDE1OS, asid(1));
	assert_int_equal(count_found(&tlb), HOLES);
}

/* Page by page, and with the power */
static void holes_go(void **state)
{
	struct vagx_tlb tlb;

	setup_holes(state, &tlb);
	for (uint64_t i = 0; i < HOLES; i++)
		execute(*state, VAE1OS, of_page(1, USER_VA + i * PAGE));
	assert_int_equal(count_found(&tlb), HOLES);
	setup_holes(state, &tlb);
	vagx_uat_forget(((struct machine *)*state)->uat);
	assert_int_equal(count_found(&tlb), HOLES);
}

/* The firmware and rules keep no holes, and by default nobody does */
static void others_keep_no_holes(void **state)
{
	struct vagx_tlb tlb;
	struct machine *m = *state;

	vagx_tlb_init(&tlb, m->uat, 1, VAGX_AGENT_GPU);
	assert_int_equal(count_found(&tlb), 0);
	map_holes(m);
	assert_int_equal(count_found(&tlb), HOLES);
	m = machine_new_keep_holes(23);
	machine_free(*state);
	*state = m;
	vagx_uat_cache_set(m->uat, true);
	vagx_tlb_init(&tlb, m->uat, 1, VAGX_AGENT_GPU);
	for (uint64_t i = 0; i < HOLES; i++)
		assert_int_equal(vagx_uat_pte(m->uat, 1, USER_VA + i * PAGE), 0);
	map_holes(m);
	assert_int_equal(count_found(&tlb), HOLES);
}

static void tell(int fd, unsigned int cpu, uint32_t insn, uint64_t operand)
{
	struct vagx_tlbi_message message = { insn, operand, cpu };
	char answer = 1;

	/* in pieces, as a socket may deliver it */
	assert_int_equal(send(fd, &message, 5, 0), 5);
	usleep(1000);
	assert_int_equal(send(fd, (char *)&message + 5, sizeof(message) - 5, 0),
			 sizeof(message) - 5);
	assert_int_equal(recv(fd, &answer, 1, 0), 1);
	assert_int_equal(answer, 0);
}

/* An invalidation is done at the next barrier of its processor, and not before */
static void wait_for_barriers(struct machine *m, int fd)
{
	void *old = use_page(m, 1, USER_VA), *other = use_page(m, 1, USER_VA + PAGE);

	*machine_entry(m, 1, USER_VA) = 0;
	*machine_entry(m, 1, USER_VA + PAGE) = 0;
	tell(fd, 0, VAE1OS, of_page(1, USER_VA));
	tell(fd, 1, VAE1OS, of_page(1, USER_VA + PAGE));
	assert_ptr_equal(gpu_ptr(m, 1, USER_VA), old);
	tell(fd, 2, DSB_SY, 0);
	assert_ptr_equal(gpu_ptr(m, 1, USER_VA), old);
	assert_ptr_equal(gpu_ptr(m, 1, USER_VA + PAGE), other);
	tell(fd, 1, DSB_OSH, 0);
	assert_ptr_equal(gpu_ptr(m, 1, USER_VA), old);
	assert_null(gpu_ptr(m, 1, USER_VA + PAGE));

	/* of very many without a barrier, the oldest are done */
	for (unsigned int i = 0; i < 1023; i++)
		tell(fd, 1, VAE1OS, of_page(2, USER_VA));
	assert_ptr_equal(gpu_ptr(m, 1, USER_VA), old);
	tell(fd, 1, VAE1OS, of_page(2, USER_VA));
	assert_null(gpu_ptr(m, 1, USER_VA));
	tell(fd, 1, DSB_SY, 0);
}

static bool is_on(struct machine *m)
{
	struct vagx_uat_stats stats;

	vagx_uat_get_stats(m->uat, &stats);
	return stats.on;
}

static void wait_until(struct machine *m, bool on)
{
	for (unsigned int i = 0; is_on(m) != on && i < 5000; i++)
		usleep(1000);
	assert_int_equal(is_on(m), on);
}

/* Maps a page in which a part is poison, and has it looked at */
static void use_poison(struct machine *m, uint64_t va, int byte, size_t offset, size_t len)
{
	uint64_t page = machine_page(m);

	memset((uint8_t *)machine_host(m, page) + offset, byte, len);
	machine_map(m, 1, va, machine_pte(page, AGX_PROT_GPU_SHARED_RW));
	assert_non_null(gpu_ptr(m, 1, va));
}

static void pages_that_nobody_has_cleared(void **state)
{
	static const int bytes[] = { 0xaa, 0x6b, 0x5a, 0xfe };
	struct machine *m = *state;
	unsigned int found = 0;

	for (unsigned int i = 0; i < 4; i++) {
		use_poison(m, KERNEL_VA + i * PAGE, bytes[i], PAGE - 16, 16);
		assert_rule(m, UAT_POISON, ++found);
	}
	/* one report for a page, until there is another one */
	assert_non_null(gpu_ptr(m, 1, KERNEL_VA));
	assert_rule(m, UAT_POISON, found);
	use_poison(m, KERNEL_VA, 0xaa, 0, PAGE);
	execute(m, VMALLE1OS, 0);
	assert_rule(m, UAT_POISON, ++found);

	/* too short, or nothing of the kind */
	use_poison(m, KERNEL_VA + 5 * PAGE, 0xaa, 0, 15);
	use_poison(m, KERNEL_VA + 6 * PAGE, 0x55, 0, PAGE);
	use_poison(m, KERNEL_VA + 7 * PAGE, 0, 0, PAGE);
	/* a client may have written that */
	use_poison(m, USER_VA, 0xaa, 8, PAGE - 8);
	use_poison(m, USER_VA + PAGE, 0xaa, 0, PAGE - 8);
	use_poison(m, USER_VA + 3 * PAGE, 0x5a, 0, PAGE);
	assert_rule(m, UAT_POISON, found);
	use_poison(m, USER_VA + 2 * PAGE, 0xaa, 0, PAGE);
	assert_clause(m, UAT_POISON, page, found + 1);
}

static void tables_that_nobody_has_cleared(void **state)
{
	struct machine *m = *state;
	uint64_t page = machine_page(m);

	machine_map(m, 1, USER_VA, machine_pte(page, AGX_PROT_GPU_SHARED_RW));
	memset(machine_entry(m, 1, USER_VA + 5 * PAGE), 0xaa, 16);
	assert_non_null(gpu_ptr(m, 1, USER_VA));
	assert_clause(m, UAT_POISON, table, 1);
}

static void plugin_connects(void **state)
{
	struct machine *m = *state;
	char path[] = "/tmp/vagx-test-XXXXXX/tlbi";
	char *slash = strrchr(path, '/');
	struct vagx_snoop *snoop;
	void *old;
	int fd;

	vagx_uat_cache_set(m->uat, false);
	*slash = '\0';
	assert_non_null(mkdtemp(path));
	*slash = '/';
	snoop = vagx_snoop_new(path, m->uat, m->report);
	assert_non_null(snoop);
	use_page(m, 1, USER_VA);
	*machine_entry(m, 1, USER_VA) = 0;
	assert_null(gpu_ptr(m, 1, USER_VA));

	fd = vagx_connect(path);
	assert_true(fd >= 0);
	wait_until(m, true);
	old = use_page(m, 1, USER_VA);
	*machine_entry(m, 1, USER_VA) = 0;
	tell(fd, 0, VAE1OS, of_page(1, USER_VA + PAGE));
	/* what vagx does not know is answered, too */
	tell(fd, 0, 0xd503201f, 0);
	tell(fd, 0, VAGX_DC_ZVA, TEST_RAM);
	tell(fd, 0, VAGX_DC_IVAC | 3, TEST_RAM);
	tell(fd, 0, DSB_SY, 0);
	assert_ptr_equal(gpu_ptr(m, 1, USER_VA), old);
	tell(fd, 0, VAE1OS, of_page(1, USER_VA));
	tell(fd, 0, DSB_SY, 0);
	assert_int_equal(vagx_uat_maintained(m->uat).zeroed, 1);
	assert_int_equal(vagx_uat_maintained(m->uat).invalidated, 1);
	assert_null(gpu_ptr(m, 1, USER_VA));
	wait_for_barriers(m, fd);
	close(fd);
	wait_until(m, false);

	/* it ends while a plugin is there, in the middle of a message */
	fd = vagx_connect(path);
	wait_until(m, true);
	assert_int_equal(send(fd, path, 3, 0), 3);
	vagx_snoop_free(snoop);
	assert_false(is_on(m));
	close(fd);
	assert_int_equal(access(path, F_OK), -1);
	*slash = '\0';
	assert_int_equal(rmdir(path), 0);
	assert_null(vagx_snoop_new("/nowhere/at/all", m->uat, m->report));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(translations_stay, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_is_no_translation, setup, teardown),
		cmocka_unit_test_setup_teardown(invalidations_of_a_page, setup, teardown),
		cmocka_unit_test_setup_teardown(other_instructions, setup, teardown),
		cmocka_unit_test_setup_teardown(barriers, setup, teardown),
		cmocka_unit_test_setup_teardown(break_before_make, setup, teardown),
		cmocka_unit_test_setup_teardown(blocks_go_as_a_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(blocks_break_before_leaves, setup, teardown),
		cmocka_unit_test_setup_teardown(other_tables_are_no_replacement, setup, teardown),
		cmocka_unit_test_setup_teardown(too_early_is_for_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(tables_need_more_than_pages, setup, teardown),
		cmocka_unit_test_setup_teardown(global_pages, setup, teardown),
		cmocka_unit_test_setup_teardown(cores_look_again, setup, teardown),
		cmocka_unit_test_setup_teardown(many_tables, setup, teardown),
		cmocka_unit_test_setup_teardown(forgotten_invalidations_are_found, setup, teardown),
		cmocka_unit_test_setup_teardown(kernel_half_outlives_a_context, setup, teardown),
		cmocka_unit_test_setup_teardown(pages_that_nobody_has_cleared, setup, teardown),
		cmocka_unit_test_setup_teardown(tables_that_nobody_has_cleared, setup, teardown),
		cmocka_unit_test_setup_teardown(pages_that_nobody_has_cleaned_from_caches, setup,
						teardown),
		cmocka_unit_test_setup_teardown(holes_are_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(holes_go, setup, teardown),
		cmocka_unit_test_setup_teardown(others_keep_no_holes, setup, teardown),
		cmocka_unit_test_setup_teardown(plugin_connects, setup, teardown),
	};

	return cmocka_run_group_tests_name("uat-cache", tests, NULL, NULL);
}
