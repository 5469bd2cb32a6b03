// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors

#include <errno.h>
#include <string.h>

#include "helpers.h"

#define USER_VA		0x1000004000ULL
#define KERNEL_VA	0xffffffa000004000ULL
#define BLOCK_SIZE	(1ULL << AGX_UAT_L2_SHIFT)
#define BLOCK_VA	(2 * BLOCK_SIZE)

static int setup(void **state)
{
	*state = machine_new();
	return 0;
}

static int teardown(void **state)
{
	machine_free(*state);
	return 0;
}

static void *gpu_ptr(struct machine *m, uint64_t va, enum vagx_access access,
		     struct vagx_uat_fault *fault)
{
	return vagx_uat_ptr(m->uat, 1, va, 4, VAGX_AGENT_GPU, access, fault);
}

static void walks_to_the_page(void **state)
{
	struct machine *m = *state;
	uint64_t page = machine_page(m);
	uint8_t *host = machine_host(m, page);

	machine_map(m, 1, USER_VA, machine_pte(page, AGX_PROT_GPU_SHARED_RW));
	machine_map(m, 0, KERNEL_VA, machine_pte(page, AGX_PROT_FW_PRIV_RW));

	assert_ptr_equal(gpu_ptr(m, USER_VA + 0x123, VAGX_WRITE, NULL),
			 host + 0x123);
	assert_ptr_equal(vagx_uat_ptr(m->uat, 0, KERNEL_VA + 8, 8,
				      VAGX_AGENT_FW, VAGX_WRITE, NULL),
			 host + 8);
	assert_int_equal(VAGX_PTE_PA(vagx_uat_pte(m->uat, 1, USER_VA)), page);
	assert_int_equal(vagx_uat_pte(m->uat, 1, USER_VA + 0x4000), 0);
	assert_int_equal(vagx_uat_ttb(m->uat, 1, 0) >> AGX_TTBR_ASID_SHIFT, 1);
	assert_false(vagx_report_failed(m->report));
}

static void contexts_are_apart(void **state)
{
	struct machine *m = *state;
	struct vagx_uat_fault fault;

	machine_map(m, 1, USER_VA, machine_pte(machine_page(m),
					       AGX_PROT_GPU_SHARED_RW));
	assert_null(vagx_uat_ptr(m->uat, 2, USER_VA, 4, VAGX_AGENT_GPU,
				 VAGX_READ, &fault));
	assert_int_equal(fault.reason, VAGX_FAULT_UNMAPPED);
	assert_int_equal(fault.slot, 2);
	assert_int_equal(fault.va, USER_VA);
	/* The kernel half of a user context is empty */
	assert_null(gpu_ptr(m, KERNEL_VA, VAGX_READ, &fault));
	assert_int_equal(fault.reason, VAGX_FAULT_UNMAPPED);
	assert_null(vagx_uat_ptr(m->uat, VAGX_UAT_CONTEXTS, USER_VA, 4,
				 VAGX_AGENT_GPU, VAGX_READ, &fault));
}

static void addresses_are_39_bits(void **state)
{
	struct machine *m = *state;
	struct vagx_uat_fault fault;

	machine_map(m, 1, USER_VA, machine_pte(machine_page(m),
					       AGX_PROT_GPU_SHARED_RW));
	assert_null(gpu_ptr(m, USER_VA | 1ULL << 39, VAGX_READ, &fault));
	assert_null(gpu_ptr(m, USER_VA | 1ULL << 56, VAGX_READ, &fault));
	assert_int_equal(fault.reason, VAGX_FAULT_UNMAPPED);
}

/* What the header of the page-table entries says of each protection */
static void every_protection(void **state)
{
	enum { R = 1, W = 2 };
	static const struct {
		uint64_t prot;
		unsigned int firmware, gpu;
	} cases[] = {
		{ AGX_PROT_FW_MMIO_RW, R | W, 0 },
		{ AGX_PROT_FW_MMIO_RO, R, 0 },
		{ AGX_PROT_FW_SHARED_RW, R | W, 0 },
		{ AGX_PROT_FW_SHARED_RO, R, 0 },
		{ AGX_PROT_FW_PRIV_RW, R | W, 0 },
		{ AGX_PROT_GPU_FW_SHARED_RW, R | W, R | W },
		{ AGX_PROT_GPU_FW_PRIV_RW, R | W, R | W },
		{ AGX_PROT_GPU_RO_FW_PRIV_RW, R | W, R },
		{ AGX_PROT_GPU_SHARED_RW, 0, R | W },
		{ AGX_PROT_GPU_SHARED_RO, 0, R },
		{ AGX_PROT_GPU_SHARED_WO, 0, W },
	};
	struct machine *m = *state;
	uint64_t page = machine_page(m);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t pte = machine_pte(page, cases[i].prot);
		unsigned int wanted[] = {
			[VAGX_AGENT_FW] = cases[i].firmware,
			[VAGX_AGENT_GPU] = cases[i].gpu,
		};

		machine_map(m, 1, USER_VA, pte);
		for (unsigned int n = 0; n < 4; n++) {
			enum vagx_agent agent = n / 2;
			enum vagx_access access = n % 2;
			bool allowed = wanted[agent] >> access & 1;

			assert_int_equal(!!vagx_uat_ptr(m->uat, 1, USER_VA, 4,
							agent, access, NULL),
					 allowed);
			assert_int_equal(vagx_pte_allows(pte, agent, access),
					 allowed);
		}
	}
}

static void faults_have_reasons(void **state)
{
	struct machine *m = *state;
	uint64_t page = machine_page(m);
	uint64_t pte = machine_pte(page, AGX_PROT_GPU_SHARED_RW);
	struct vagx_uat_fault fault;

	machine_map(m, 1, USER_VA, pte & ~AGX_PTE_AF);
	assert_null(gpu_ptr(m, USER_VA, VAGX_READ, &fault));
	assert_int_equal(fault.reason, VAGX_FAULT_ACCESS_FLAG);

	machine_map(m, 1, USER_VA, machine_pte(page, AGX_PROT_GPU_SHARED_RO));
	assert_null(gpu_ptr(m, USER_VA, VAGX_WRITE, &fault));
	assert_int_equal(fault.reason, VAGX_FAULT_READ_ONLY);
	assert_int_equal(fault.access, VAGX_WRITE);

	machine_map(m, 1, USER_VA, machine_pte(page, AGX_PROT_GPU_SHARED_WO));
	assert_null(gpu_ptr(m, USER_VA, VAGX_READ, &fault));
	assert_int_equal(fault.reason, VAGX_FAULT_WRITE_ONLY);
	assert_null(gpu_ptr(m, USER_VA, VAGX_EXEC, &fault));

	machine_map(m, 1, USER_VA, machine_pte(page, AGX_PROT_FW_PRIV_RW));
	assert_null(gpu_ptr(m, USER_VA, VAGX_READ, &fault));
	assert_int_equal(fault.reason, VAGX_FAULT_NO_ACCESS);

	machine_map(m, 1, USER_VA, machine_pte(0x200000000, AGX_PROT_GPU_SHARED_RW));
	assert_null(gpu_ptr(m, USER_VA, VAGX_READ, &fault));
	assert_int_equal(fault.reason, VAGX_FAULT_BUS);
	assert_false(vagx_report_failed(m->report));
}

static void firmware_pages_are_not_the_gpus(void **state)
{
	struct machine *m = *state;
	uint64_t pte = machine_pte(machine_page(m), AGX_PTE_PROT(1ULL, 1, 1, 0));

	machine_map(m, 0, KERNEL_VA, pte & ~AGX_PTE_OS);
	assert_non_null(vagx_uat_ptr(m->uat, 0, KERNEL_VA, 4, VAGX_AGENT_FW,
				     VAGX_WRITE, NULL));
	assert_null(vagx_uat_ptr(m->uat, 0, KERNEL_VA, 4, VAGX_AGENT_GPU,
				 VAGX_READ, NULL));
}

static void accesses_stay_on_their_page(void **state)
{
	struct machine *m = *state;
	struct vagx_uat_fault fault;

	machine_map(m, 1, USER_VA, machine_pte(machine_page(m),
					       AGX_PROT_GPU_SHARED_RW));
	assert_non_null(vagx_uat_ptr(m->uat, 1, USER_VA, AGX_PAGE_SIZE,
				     VAGX_AGENT_GPU, VAGX_READ, NULL));
	assert_null(vagx_uat_ptr(m->uat, 1, USER_VA + 1, AGX_PAGE_SIZE,
				 VAGX_AGENT_GPU, VAGX_READ, &fault));
	assert_null(vagx_uat_ptr(m->uat, 1, USER_VA, SIZE_MAX, VAGX_AGENT_GPU,
				 VAGX_READ, &fault));
}

static void nearest_pages_are_found(void **state)
{
	const uint64_t rw = AGX_PROT_GPU_SHARED_RW, ro = AGX_PROT_GPU_SHARED_RO;
	const uint64_t page = AGX_PAGE_SIZE, far = USER_VA + (3ULL << AGX_UAT_L1_SHIFT);
	struct machine *m = *state;
	struct vagx_uat_range range;

	assert_false(vagx_uat_find(m->uat, 1, USER_VA, true, &range));
	machine_map(m, 1, USER_VA, machine_pte(machine_page(m), rw));
	machine_map(m, 1, USER_VA + page, machine_pte(machine_page(m), rw));
	machine_map(m, 1, USER_VA + 2 * page, machine_pte(machine_page(m), ro));
	machine_map(m, 1, far, machine_pte(machine_page(m), ro));

	/* where one is, from either side */
	assert_true(vagx_uat_find(m->uat, 1, USER_VA + page + 5, true, &range));
	assert_int_equal(range.start, USER_VA);
	assert_int_equal(range.end, USER_VA + 2 * page);
	assert_false(range.more);
	assert_true(vagx_uat_find(m->uat, 1, USER_VA + 5, false, &range));
	assert_int_equal(range.end, USER_VA + 2 * page);

	/* from between them, over tables that are not there */
	assert_true(vagx_uat_find(m->uat, 1, USER_VA + 3 * page, false, &range));
	assert_int_equal(range.start, USER_VA + 2 * page);
	assert_int_equal(range.end, USER_VA + 3 * page);
	assert_false(vagx_pte_allows(range.pte, VAGX_AGENT_GPU, VAGX_WRITE));
	assert_true(vagx_uat_find(m->uat, 1, USER_VA + 3 * page, true, &range));
	assert_int_equal(range.start, far);
	assert_int_equal(range.end, far + page);

	/* at the ends, and elsewhere */
	assert_false(vagx_uat_find(m->uat, 1, USER_VA - 1, false, &range));
	assert_false(vagx_uat_find(m->uat, 1, far + page, true, &range));
	assert_false(vagx_uat_find(m->uat, 2, USER_VA, true, &range));
	assert_false(vagx_uat_find(m->uat, VAGX_UAT_CONTEXTS, USER_VA, true, &range));
	assert_false(vagx_uat_find(m->uat, 1, ~0ULL, false, &range));
	assert_false(vagx_report_failed(m->report));
}

static void copies_cross_pages(void **state)
{
	struct machine *m = *state;
	/* Neighbours in the guest's addresses, not in its memory */
	uint64_t second = machine_page(m);
	uint64_t first = machine_page(m);
	uint8_t data[100], back[100];
	uint64_t va = USER_VA + AGX_PAGE_SIZE - 50;
	struct vagx_uat_fault fault;
	struct vagx_tlb tlb;

	vagx_tlb_init(&tlb, m->uat, 1, VAGX_AGENT_GPU);
	for (unsigned int i = 0; i < sizeof(data); i++)
		data[i] = i;
	machine_map(m, 1, USER_VA, machine_pte(first, AGX_PROT_GPU_SHARED_RW));

	assert_int_equal(vagx_uat_write(m->uat, 1, va, data, sizeof(data),
					VAGX_AGENT_GPU, &fault), -EFAULT);
	assert_int_equal(fault.va, USER_VA + AGX_PAGE_SIZE);
	memset(back, 0, sizeof(back));
	assert_memory_equal((uint8_t *)machine_host(m, first) +
			    AGX_PAGE_SIZE - 50, back, 50);
	assert_int_equal(vagx_tlb_read(&tlb, va, back, sizeof(back), &fault), -EFAULT);
	assert_int_equal(fault.va, USER_VA + AGX_PAGE_SIZE);

	machine_map(m, 1, USER_VA + AGX_PAGE_SIZE,
		    machine_pte(second, AGX_PROT_GPU_SHARED_RW));
	assert_int_equal(vagx_uat_write(m->uat, 1, va, data, sizeof(data),
					VAGX_AGENT_GPU, &fault), 0);
	assert_int_equal(vagx_uat_read(m->uat, 1, va, back, sizeof(back),
				       VAGX_AGENT_GPU, &fault), 0);
	assert_memory_equal(data, back, sizeof(data));
	assert_memory_equal(machine_host(m, second), data + 50, 50);
	memset(back, 0, sizeof(back));
	assert_int_equal(vagx_tlb_read(&tlb, va, back, sizeof(back), &fault), 0);
	assert_memory_equal(data, back, sizeof(data));
}

static void bad_ttb(void **state)
{
	struct machine *m = *state;
	uint64_t *ttb;

	machine_map(m, 1, USER_VA, machine_pte(machine_page(m),
					       AGX_PROT_GPU_SHARED_RW));
	ttb = machine_table_entry(m, 1, USER_VA, 0);
	*ttb ^= 1ULL << AGX_TTBR_ASID_SHIFT;
	assert_null(gpu_ptr(m, USER_VA, VAGX_READ, NULL));
	assert_clause(m, UAT_BAD_TTB, asid, 1);
	*ttb ^= 1ULL << AGX_TTBR_ASID_SHIFT | 1ULL << 40;
	assert_null(gpu_ptr(m, USER_VA, VAGX_READ, NULL));
	assert_rule(m, UAT_BAD_TTB, 2);
	assert_int_equal(vagx_report_count(m->report, VAGX_CLAUSE_UAT_BAD_TTB_reach), 1);
	*ttb ^= 1ULL << 40 | 8;
	assert_null(gpu_ptr(m, USER_VA, VAGX_READ, NULL));
	assert_rule(m, UAT_BAD_TTB, 3);
	assert_int_equal(vagx_report_count(m->report, VAGX_CLAUSE_UAT_BAD_TTB_alignment), 1);
	*ttb ^= 8 | 1ULL << 35;
	assert_null(gpu_ptr(m, USER_VA, VAGX_READ, NULL));
	assert_rule(m, UAT_BAD_TTB, 4);
	assert_int_equal(vagx_report_count(m->report, VAGX_CLAUSE_UAT_BAD_TTB_memory), 1);
	assert_true(vagx_report_failed(m->report));
}

static void bad_table(void **state)
{
	struct machine *m = *state;
	uint64_t *entry;

	machine_map(m, 1, USER_VA, machine_pte(machine_page(m),
					       AGX_PROT_GPU_SHARED_RW));
	entry = machine_table_entry(m, 1, USER_VA, 1);
	*entry ^= VAGX_PTE_PAGE;
	assert_null(gpu_ptr(m, USER_VA, VAGX_READ, NULL));
	assert_rule(m, UAT_BAD_TABLE, 1);
	assert_int_equal(vagx_report_count(m->report, VAGX_CLAUSE_UAT_BAD_TABLE_type), 1);
	*entry ^= VAGX_PTE_PAGE | 1ULL << 12;
	assert_null(gpu_ptr(m, USER_VA, VAGX_READ, NULL));
	assert_rule(m, UAT_BAD_TABLE, 2);
	assert_int_equal(vagx_report_count(m->report, VAGX_CLAUSE_UAT_BAD_TABLE_bits), 1);
	*entry = 0x7000000000ULL | AGX_PTE_TYPE;
	assert_null(gpu_ptr(m, USER_VA, VAGX_READ, NULL));
	assert_rule(m, UAT_BAD_TABLE, 3);
	assert_int_equal(vagx_report_count(m->report, VAGX_CLAUSE_UAT_BAD_TABLE_memory), 1);
	assert_true(vagx_report_failed(m->report));
}

/* Maps BLOCK by an entry of level 2 that leads to @pa. Return: the entry */
static uint64_t *map_block(struct machine *m, uint64_t va, uint64_t pa)
{
	uint64_t *entry;

	machine_map(m, 1, va, 0);
	entry = machine_table_entry(m, 1, va, 2);
	*entry = machine_pte(pa, AGX_PROT_GPU_SHARED_RW) ^ VAGX_PTE_PAGE;
	return entry;
}

static void blocks_are_32_mib(void **state)
{
	struct machine *m = *state;
	uint64_t pa = TEST_RAM + BLOCK_SIZE;
	uint64_t *entry = map_block(m, BLOCK_VA, pa);
	struct vagx_uat_range range;
	struct vagx_uat_fault fault;

	for (uint64_t i = 0; i < BLOCK_SIZE; i += BLOCK_SIZE - AGX_PAGE_SIZE) {
		assert_ptr_equal(gpu_ptr(m, BLOCK_VA + i, VAGX_WRITE, NULL),
				 machine_host(m, pa + i));
		assert_int_equal(vagx_uat_pte(m->uat, 1, BLOCK_VA + i),
				 machine_pte(pa + i, AGX_PROT_GPU_SHARED_RW));
	}
	assert_null(gpu_ptr(m, BLOCK_VA - 4, VAGX_READ, NULL));
	assert_null(gpu_ptr(m, BLOCK_VA + BLOCK_SIZE, VAGX_READ, NULL));
	assert_true(vagx_uat_find(m->uat, 1, BLOCK_VA + BLOCK_SIZE, false, &range));
	assert_int_equal(range.start, BLOCK_VA);
	assert_int_equal(range.end, BLOCK_VA + BLOCK_SIZE);

	/* All of it has the same permissions */
	*entry ^= AGX_PTE_UXN;
	assert_null(gpu_ptr(m, BLOCK_VA + BLOCK_SIZE - AGX_PAGE_SIZE, VAGX_WRITE, &fault));
	assert_int_equal(fault.reason, VAGX_FAULT_READ_ONLY);
	assert_false(vagx_report_failed(m->report));
}

static void bad_block(void **state)
{
	struct machine *m = *state;
	uint64_t *entry = map_block(m, BLOCK_VA, TEST_RAM + BLOCK_SIZE + AGX_PAGE_SIZE);

	assert_null(gpu_ptr(m, BLOCK_VA, VAGX_READ, NULL));
	assert_clause(m, UAT_BAD_BLOCK, alignment, 1);
	*entry = machine_pte(TEST_RAM + TEST_RAM_SIZE, AGX_PROT_GPU_SHARED_RW) ^ VAGX_PTE_PAGE;
	assert_null(gpu_ptr(m, BLOCK_VA, VAGX_READ, NULL));
	assert_rule(m, UAT_BAD_BLOCK, 2);
	assert_int_equal(vagx_report_count(m->report, VAGX_CLAUSE_UAT_BAD_BLOCK_memory), 1);
	/* What an entry of a page may not have, one of a block may not have either */
	*entry = (machine_pte(TEST_RAM + BLOCK_SIZE, AGX_PROT_GPU_SHARED_RW) ^ VAGX_PTE_PAGE) |
		 1ULL << 12;
	gpu_ptr(m, BLOCK_VA, VAGX_READ, NULL);
	assert_clause(m, UAT_BAD_PAGE, bits, 1);
}

/* Level 1 has none, nor has the kernel half */
static void blocks_elsewhere(void **state)
{
	struct machine *m = *state;

	*map_block(m, BLOCK_VA, TEST_RAM) = 0;
	*machine_table_entry(m, 1, BLOCK_VA, 1) =
		machine_pte(0, AGX_PROT_GPU_SHARED_RW) ^ VAGX_PTE_PAGE;
	assert_null(gpu_ptr(m, BLOCK_VA, VAGX_READ, NULL));
	assert_clause(m, UAT_BAD_TABLE, type, 1);
	map_block(m, AGX_VA_SHARED_START, TEST_RAM + BLOCK_SIZE);
	assert_null(gpu_ptr(m, AGX_VA_SHARED_START, VAGX_READ, NULL));
	assert_clause(m, UAT_BAD_TABLE, type, 2);
}

static void bad_page(void **state)
{
	static const uint64_t bits[] = {
		1ULL << 5, 1ULL << 12, 1ULL << 50, 1ULL << 56, 1ULL << 45,
		VAGX_PTE_PAGE,
	};
	struct machine *m = *state;
	uint64_t pte = machine_pte(machine_page(m), AGX_PROT_GPU_SHARED_RW);

	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		machine_map(m, 1, USER_VA, pte ^ bits[i]);
		gpu_ptr(m, USER_VA, VAGX_READ, NULL);
		assert_rule(m, UAT_BAD_PAGE, i + 1);
	}
	assert_int_equal(vagx_report_count(m->report, VAGX_CLAUSE_UAT_BAD_PAGE_bits), 4);
	assert_int_equal(vagx_report_count(m->report, VAGX_CLAUSE_UAT_BAD_PAGE_reach), 1);
	assert_int_equal(vagx_report_count(m->report, VAGX_CLAUSE_UAT_BAD_PAGE_type), 1);
	assert_true(vagx_report_failed(m->report));
}

static void global_page(void **state)
{
	struct machine *m = *state;
	uint64_t pte = machine_pte(machine_page(m), AGX_PROT_GPU_SHARED_RW);

	machine_map(m, 1, USER_VA, pte & ~AGX_PTE_NG);
	assert_non_null(gpu_ptr(m, USER_VA, VAGX_READ, NULL));
	assert_rule(m, UAT_GLOBAL_PAGE, 1);
	assert_false(vagx_report_failed(m->report));
}

static void tlb_sees_changes(void **state)
{
	struct machine *m = *state;
	uint64_t a = machine_page(m), b = machine_page(m);
	static struct vagx_tlb tlb;
	struct vagx_uat_fault fault;

	vagx_tlb_init(&tlb, m->uat, 1, VAGX_AGENT_GPU);
	machine_map(m, 1, USER_VA, machine_pte(a, AGX_PROT_GPU_SHARED_RO));
	for (unsigned int i = 0; i < 3; i++)
		assert_ptr_equal(vagx_tlb_ptr(&tlb, USER_VA + i, 1, VAGX_READ,
					      &fault),
				 (uint8_t *)machine_host(m, a) + i);
	assert_null(vagx_tlb_ptr(&tlb, USER_VA, 1, VAGX_WRITE, &fault));
	assert_int_equal(fault.reason, VAGX_FAULT_READ_ONLY);
	assert_null(vagx_tlb_ptr(&tlb, USER_VA + AGX_PAGE_SIZE - 1, 2,
				 VAGX_READ, &fault));

	*machine_entry(m, 1, USER_VA) = machine_pte(b, AGX_PROT_GPU_SHARED_RW);
	assert_ptr_equal(vagx_tlb_ptr(&tlb, USER_VA, 1, VAGX_WRITE, &fault),
			 machine_host(m, b));
	*machine_entry(m, 1, USER_VA) = 0;
	assert_null(vagx_tlb_ptr(&tlb, USER_VA, 1, VAGX_READ, &fault));
	assert_int_equal(fault.reason, VAGX_FAULT_UNMAPPED);
}

static void tlb_keeps_aliases_apart(void **state)
{
	struct machine *m = *state;
	uint64_t other = USER_VA + VAGX_TLB_ENTRIES * AGX_PAGE_SIZE;
	uint64_t a = machine_page(m), b = machine_page(m);
	static struct vagx_tlb tlb;

	vagx_tlb_init(&tlb, m->uat, 1, VAGX_AGENT_GPU);
	machine_map(m, 1, USER_VA, machine_pte(a, AGX_PROT_GPU_SHARED_RW));
	machine_map(m, 1, other, machine_pte(b, AGX_PROT_GPU_SHARED_RW));
	for (unsigned int i = 0; i < 4; i++)
		assert_ptr_equal(vagx_tlb_ptr(&tlb, i % 2 ? other : USER_VA, 1,
					      VAGX_READ, NULL),
				 machine_host(m, i % 2 ? b : a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(walks_to_the_page, setup, teardown),
		cmocka_unit_test_setup_teardown(contexts_are_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(addresses_are_39_bits, setup, teardown),
		cmocka_unit_test_setup_teardown(every_protection, setup, teardown),
		cmocka_unit_test_setup_teardown(faults_have_reasons, setup, teardown),
		cmocka_unit_test_setup_teardown(firmware_pages_are_not_the_gpus, setup, teardown),
		cmocka_unit_test_setup_teardown(accesses_stay_on_their_page, setup, teardown),
		cmocka_unit_test_setup_teardown(nearest_pages_are_found, setup, teardown),
		cmocka_unit_test_setup_teardown(copies_cross_pages, setup, teardown),
		cmocka_unit_test_setup_teardown(bad_ttb, setup, teardown),
		cmocka_unit_test_setup_teardown(bad_table, setup, teardown),
		cmocka_unit_test_setup_teardown(blocks_are_32_mib, setup, teardown),
		cmocka_unit_test_setup_teardown(bad_block, setup, teardown),
		cmocka_unit_test_setup_teardown(blocks_elsewhere, setup, teardown),
		cmocka_unit_test_setup_teardown(bad_page, setup, teardown),
		cmocka_unit_test_setup_teardown(global_page, setup, teardown),
		cmocka_unit_test_setup_teardown(tlb_sees_changes, setup, teardown),
		cmocka_unit_test_setup_teardown(tlb_keeps_aliases_apart, setup, teardown),
	};

	return cmocka_run_group_tests_name("uat", tests, NULL, NULL);
}
