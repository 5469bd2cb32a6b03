// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "helpers.h"

static struct machine *build(bool write_back, bool keep_holes, uint64_t seed)
{
	struct vagx_report_config report = { .level = VAGX_LOG_ERROR };
	struct vagx_uat_config uat = {
		.ttbs = TEST_TTBS,
		.oas_bits = 40,
		.poison = true,
		.write_back = write_back,
		.keep_holes = keep_holes,
		.seed = seed,
	};
	struct machine *m = calloc(1, sizeof(*m));

	assert_non_null(m);
	m->null = fopen("/dev/null", "w");
	assert_non_null(m->null);
	report.stream = m->null;
	m->report = vagx_report_new(&report);
	m->mem = vagx_mem_new();
	m->fd = memfd_create("ram", MFD_CLOEXEC);
	assert_true(m->fd >= 0);
	assert_int_equal(ftruncate(m->fd, TEST_RAM_SIZE), 0);
	assert_int_equal(vagx_mem_map(m->mem, TEST_RAM, TEST_RAM_SIZE, m->fd, 0,
				      VAGX_MEM_READ | VAGX_MEM_WRITE), 0);
	uat.mem = m->mem;
	uat.report = m->report;
	m->uat = vagx_uat_new(&uat);
	assert_non_null(m->uat);
	m->next = TEST_RAM + AGX_PAGE_SIZE;
	return m;
}

struct machine *machine_new(void)
{
	return build(false, false, 0);
}

struct machine *machine_new_write_back(uint64_t seed)
{
	return build(true, false, seed);
}

struct machine *machine_new_keep_holes(uint64_t seed)
{
	return build(false, true, seed);
}

void machine_free(struct machine *m)
{
	vagx_uat_free(m->uat);
	vagx_mem_free(m->mem);
	vagx_report_free(m->report);
	fclose(m->null);
	close(m->fd);
	free(m);
}

uint64_t machine_page(struct machine *m)
{
	uint64_t gpa = m->next;

	assert_true(gpa + AGX_PAGE_SIZE <= TEST_RAM + TEST_RAM_SIZE);
	m->next += AGX_PAGE_SIZE;
	return gpa;
}

void *machine_host(struct machine *m, uint64_t gpa)
{
	void *host = vagx_mem_ptr(m->mem, gpa, AGX_PAGE_SIZE);

	assert_non_null(host);
	return host;
}

uint64_t machine_pte(uint64_t gpa, uint64_t prot)
{
	return gpa | prot | AGX_PTE_TYPE | AGX_PTE_AF | AGX_PTE_NG | AGX_PTE_OS;
}

uint64_t *machine_table_entry(struct machine *m, unsigned int slot,
			      uint64_t va, unsigned int level)
{
	static const struct {
		unsigned int shift, entries;
	} levels[] = {
		{ AGX_UAT_L1_SHIFT, AGX_UAT_L1_ENTRIES },
		{ AGX_UAT_L2_SHIFT, AGX_UAT_L2_ENTRIES },
		{ AGX_UAT_L3_SHIFT, AGX_UAT_L3_ENTRIES },
	};
	uint64_t *entry = machine_host(m, TEST_TTBS);

	entry += slot * 2 + (va >> 63);
	for (unsigned int i = 0; i < level; i++) {
		if (!(*entry & 1))
			return NULL;
		entry = machine_host(m, VAGX_PTE_PA(*entry));
		entry += va >> levels[i].shift & (levels[i].entries - 1);
	}
	return entry;
}

uint64_t *machine_entry(struct machine *m, unsigned int slot, uint64_t va)
{
	return machine_table_entry(m, slot, va, AGX_UAT_LEVELS);
}

void machine_map(struct machine *m, unsigned int slot, uint64_t va,
		 uint64_t pte)
{
	for (unsigned int level = 0; level < AGX_UAT_LEVELS; level++) {
		uint64_t *entry = machine_table_entry(m, slot, va, level);

		if (*entry & 1)
			continue;
		*entry = machine_page(m);
		*entry |= level ? AGX_PTE_TYPE :
			AGX_TTBR_VALID | (uint64_t)slot << AGX_TTBR_ASID_SHIFT;
	}
	*machine_entry(m, slot, va) = pte;
}
