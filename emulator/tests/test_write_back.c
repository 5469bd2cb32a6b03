// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * Pages that are taken away from a job which has stored to them.
 */
#include <stdlib.h>
#include <string.h>

#include "helpers.h"
#include "tlbi.h"

#define USER_VA		0x1000004000ULL
#define OTHER_VA	0x1000104000ULL
#define SLOT		1
#define OTHER_SLOT	2

struct job {
	struct vagx_written *written;
	struct vagx_tlb tlb;
};

static int setup(void **state)
{
	struct machine *m = machine_new_write_back(0);

	vagx_uat_cache_set(m->uat, true);
	*state = m;
	return 0;
}

static int teardown(void **state)
{
	machine_free(*state);
	return 0;
}

static void begin(struct machine *m, struct job *job, unsigned int slot)
{
	job->written = vagx_written_new(m->uat, slot);
	vagx_tlb_init(&job->tlb, m->uat, slot, VAGX_AGENT_GPU);
	job->tlb.written = job->written;
}

static void end(struct job *job)
{
	vagx_written_free(job->written);
}

static void store(struct job *job, uint64_t va, uint8_t value)
{
	uint8_t *p = vagx_tlb_ptr(&job->tlb, va, 1, VAGX_WRITE, NULL);

	assert_non_null(p);
	*p = value;
}

static uint8_t load(struct job *job, uint64_t va)
{
	const uint8_t *p = vagx_tlb_ptr(&job->tlb, va, 1, VAGX_READ, NULL);

	assert_non_null(p);
	return *p;
}

/* Return: the page's address in memory */
static uint64_t bind(struct machine *m, unsigned int slot, uint64_t va)
{
	uint64_t page = machine_page(m);

	machine_map(m, slot, va, machine_pte(page, AGX_PROT_GPU_SHARED_RW));
	return page;
}

static void invalidate(struct machine *m, unsigned int slot, uint64_t va)
{
	const struct vagx_tlbi tlbi = {
		.kind = VAGX_TLBI_PAGES, .asid = slot, .va = va, .pages = 1,
	};

	vagx_uat_invalidate(m->uat, &tlbi);
}

/* And fills it, as the kernel does with what is free */
static void take_away(struct machine *m, unsigned int slot, uint64_t va, uint64_t page)
{
	*machine_entry(m, slot, va) = 0;
	invalidate(m, slot, va);
	memset(machine_host(m, page), 0xaa, VAGX_UAT_PAGE_SIZE);
}

static unsigned int count(struct machine *m, uint64_t page, uint8_t value)
{
	const uint8_t *bytes = machine_host(m, page);
	unsigned int n = 0;

	for (unsigned int i = 0; i < VAGX_UAT_PAGE_SIZE; i++)
		n += bytes[i] == value;
	return n;
}

/* What was stored comes back when the job ends, not before, and nothing else does */
static void freed_too_early(void **state)
{
	struct machine *m = *state;
	uint64_t page = bind(m, SLOT, USER_VA);
	const uint8_t *bytes = machine_host(m, page);
	struct job job;

	memset(machine_host(m, page), 0x11, VAGX_UAT_PAGE_SIZE);
	begin(m, &job, SLOT);
	/* A load before does not hide the store */
	assert_int_equal(load(&job, USER_VA), 0x11);
	store(&job, USER_VA + 5, 0x22);
	store(&job, USER_VA + 5, 0x33);
	store(&job, USER_VA + 0x3fff, 0x44);
	take_away(m, SLOT, USER_VA, page);
	assert_int_equal(count(m, page, 0xaa), VAGX_UAT_PAGE_SIZE);
	end(&job);
	assert_int_equal(count(m, page, 0xaa), VAGX_UAT_PAGE_SIZE - 2);
	assert_int_equal(bytes[5], 0x33);
	assert_int_equal(bytes[0x3fff], 0x44);
}

/* In the order that is right nothing happens */
static void freed_after_the_end(void **state)
{
	struct machine *m = *state;
	uint64_t page = bind(m, SLOT, USER_VA);
	struct job job;

	begin(m, &job, SLOT);
	store(&job, USER_VA, 0x22);
	end(&job);
	take_away(m, SLOT, USER_VA, page);
	assert_int_equal(count(m, page, 0xaa), VAGX_UAT_PAGE_SIZE);
}

/* Invalidations that take nothing away; what the CPU writes to the page stays */
static void invalidated_in_vain(void **state)
{
	struct machine *m = *state;
	uint64_t page = bind(m, SLOT, USER_VA);
	const uint8_t *bytes = machine_host(m, page);
	struct job job;

	begin(m, &job, SLOT);
	store(&job, USER_VA, 0x22);
	invalidate(m, SLOT, USER_VA);
	memset(machine_host(m, page), 0x55, VAGX_UAT_PAGE_SIZE);
	store(&job, USER_VA + 1, 0x66);
	end(&job);
	assert_int_equal(count(m, page, 0x55), VAGX_UAT_PAGE_SIZE - 1);
	assert_int_equal(bytes[1], 0x66);
}

/* Each kind of invalidation is heard, those of other contexts are not */
static void kinds_of_invalidations(void **state)
{
	static const struct vagx_tlbi kinds[] = {
		{ .kind = VAGX_TLBI_ALL },
		{ .kind = VAGX_TLBI_ASID, .asid = SLOT },
		{ .kind = VAGX_TLBI_PAGES, .any_asid = true, .va = USER_VA - 0x4000, .pages = 2 },
		{ .kind = VAGX_TLBI_ASID, .asid = OTHER_SLOT },
		{ .kind = VAGX_TLBI_PAGES, .asid = OTHER_SLOT, .va = USER_VA, .pages = 1 },
		{ .kind = VAGX_TLBI_PAGES, .asid = SLOT, .va = USER_VA - 0x4000, .pages = 1 },
	};
	struct machine *m = *state;
	uint64_t page = bind(m, SLOT, USER_VA);
	uint64_t pte = *machine_entry(m, SLOT, USER_VA);

	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct job job;

		memset(machine_host(m, page), 0, VAGX_UAT_PAGE_SIZE);
		*machine_entry(m, SLOT, USER_VA) = pte;
		begin(m, &job, SLOT);
		store(&job, USER_VA, 0x22);
		*machine_entry(m, SLOT, USER_VA) = 0;
		vagx_uat_invalidate(m->uat, &kinds[i]);
		memset(machine_host(m, page), 0xaa, VAGX_UAT_PAGE_SIZE);
		end(&job);
		assert_int_equal(count(m, page, 0xaa), VAGX_UAT_PAGE_SIZE - (i < 3));
		vagx_uat_forget(m->uat);
	}
}

/* The page goes on to be used by another job: its stores are the last ones */
static void stored_to_by_another_job(void **state)
{
	struct machine *m = *state;
	uint64_t page = bind(m, SLOT, USER_VA);
	const uint8_t *bytes = machine_host(m, page);
	struct job first, second;

	begin(m, &first, SLOT);
	store(&first, USER_VA, 0x22);
	take_away(m, SLOT, USER_VA, page);
	machine_map(m, OTHER_SLOT, OTHER_VA, machine_pte(page, AGX_PROT_GPU_SHARED_RW));
	begin(m, &second, OTHER_SLOT);
	store(&second, OTHER_VA, 0x77);
	end(&first);
	assert_int_equal(bytes[0], 0x77);
	take_away(m, OTHER_SLOT, OTHER_VA, page);
	end(&second);
	assert_int_equal(bytes[0], 0x77);
	assert_int_equal(count(m, page, 0xaa), VAGX_UAT_PAGE_SIZE - 1);
}

/* Another page comes to the same address, and is taken away, too */
static void replaced(void **state)
{
	struct machine *m = *state;
	uint64_t pages[2] = { bind(m, SLOT, USER_VA), machine_page(m) };
	struct job job;

	begin(m, &job, SLOT);
	store(&job, USER_VA, 0x22);
	*machine_entry(m, SLOT, USER_VA) = machine_pte(pages[1], AGX_PROT_GPU_SHARED_RW);
	invalidate(m, SLOT, USER_VA);
	memset(machine_host(m, pages[0]), 0xaa, VAGX_UAT_PAGE_SIZE);
	store(&job, USER_VA + 1, 0x33);
	store(&job, USER_VA + 2, 0x33);
	take_away(m, SLOT, USER_VA, pages[1]);
	end(&job);
	assert_int_equal(count(m, pages[0], 0xaa), VAGX_UAT_PAGE_SIZE - 1);
	assert_int_equal(count(m, pages[1], 0xaa), VAGX_UAT_PAGE_SIZE - 2);
}

#define PAGES	16

/* Return: which pages are written back while the job runs, a bit for each */
static unsigned int written_back_early(uint64_t seed)
{
	struct machine *m = machine_new_write_back(seed);
	unsigned int early = 0;
	uint64_t pages[PAGES];
	struct job job;

	vagx_uat_cache_set(m->uat, true);
	begin(m, &job, SLOT);
	for (unsigned int i = 0; i < PAGES; i++) {
		pages[i] = bind(m, SLOT, USER_VA + i * 0x4000);
		store(&job, USER_VA + i * 0x4000, 0x22);
		take_away(m, SLOT, USER_VA + i * 0x4000, pages[i]);
		assert_int_equal(count(m, pages[i], 0xaa), VAGX_UAT_PAGE_SIZE);
	}
	/* It looks again before long, and everything that is not left for the end is due then */
	assert_int_equal(vagx_uat_sweep(m->uat, 1) > 0, seed != 0);
	vagx_uat_sweep(m->uat, UINT64_MAX / 2);
	for (unsigned int i = 0; i < PAGES; i++)
		early |= (*(uint8_t *)machine_host(m, pages[i]) == 0x22) << i;
	for (unsigned int i = 0; i < PAGES; i++)
		memset(machine_host(m, pages[i]), 0xaa, VAGX_UAT_PAGE_SIZE);
	end(&job);
	/* Once is enough */
	for (unsigned int i = 0; i < PAGES; i++)
		assert_int_equal(*(uint8_t *)machine_host(m, pages[i]),
				 early >> i & 1 ? 0xaa : 0x22);
	machine_free(m);
	return early;
}

/* Some before the end, others at the end, by the seed */
static void written_back_while_it_runs(void **state)
{
	unsigned int early = written_back_early(1);

	(void)state;
	assert_in_range(early, 1, (1 << PAGES) - 2);
	assert_int_equal(written_back_early(1), early);
	assert_int_not_equal(written_back_early(2), early);
	assert_int_equal(written_back_early(0), 0);
}

static void off_by_default(void **state)
{
	struct machine *m = machine_new();

	(void)state;
	assert_null(vagx_written_new(m->uat, SLOT));
	vagx_written_free(NULL);
	machine_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(freed_too_early, setup, teardown),
		cmocka_unit_test_setup_teardown(freed_after_the_end, setup, teardown),
		cmocka_unit_test_setup_teardown(invalidated_in_vain, setup, teardown),
		cmocka_unit_test_setup_teardown(kinds_of_invalidations, setup, teardown),
		cmocka_unit_test_setup_teardown(stored_to_by_another_job, setup, teardown),
		cmocka_unit_test_setup_teardown(replaced, setup, teardown),
		cmocka_unit_test(written_back_while_it_runs),
		cmocka_unit_test(off_by_default),
	};

	return cmocka_run_group_tests_name("write back", tests, NULL, NULL);
}
