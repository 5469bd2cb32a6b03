/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_TEST_HELPERS_H
#define VAGX_TEST_HELPERS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include "guest_memory.h"
#include "report.h"
#include "uat.h"

/* A little machine: some RAM, and page tables in it */
#define TEST_RAM	0x80000000ULL
#define TEST_RAM_SIZE	0x8000000ULL
#define TEST_TTBS	TEST_RAM

struct machine {
	struct vagx_report *report;
	struct vagx_mem *mem;
	struct vagx_uat *uat;
	FILE *null;
	int fd;
	uint64_t next;			/* free RAM */
};

/* The report is quiet and strict */
struct machine *machine_new(void);
/* With a model of the GPU's data cache */
struct machine *machine_new_write_back(uint64_t seed);
/* TLBs keep of some pages that nothing is mapped there */
struct machine *machine_new_keep_holes(uint64_t seed);
void machine_free(struct machine *m);

/* Cleared pages of 16K */
uint64_t machine_page(struct machine *m);
void *machine_host(struct machine *m, uint64_t gpa);

/* A page entry that is right, but for its permissions */
uint64_t machine_pte(uint64_t gpa, uint64_t prot);

/* Enter @pte for @va, with whatever tables are missing */
void machine_map(struct machine *m, unsigned int slot, uint64_t va,
		 uint64_t pte);

/* Where the entry of @va lies, or NULL */
uint64_t *machine_entry(struct machine *m, unsigned int slot, uint64_t va);

/* The entry of a table: level 0 is the TTB table */
uint64_t *machine_table_entry(struct machine *m, unsigned int slot,
			      uint64_t va, unsigned int level);

#define assert_rule(m, rule, n) \
	assert_int_equal(vagx_report_count((m)->report, VAGX_RULE_##rule), n)

/* So often a clause was broken, and its rule in no other way */
#define assert_clause(m, rule, clause, n) \
	do { \
		assert_int_equal(vagx_report_count((m)->report, \
						   VAGX_CLAUSE_##rule##_##clause), n); \
		assert_rule(m, rule, n); \
	} while (0)

#endif
