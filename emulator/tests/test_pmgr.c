// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * The power domain's register, as mainline's driver uses it and as it should
 * not be used.
 */
#include <stdlib.h>

#include "helpers.h"

#include "pmgr.h"

#define GFX VAGX_PMGR_GFX

struct domain {
	struct vagx_pmgr pmgr;
	FILE *null;
	unsigned int cuts, backs;
};

static void on_cut(void *ctx)
{
	struct domain *domain = ctx;

	domain->cuts++;
}

static void on_back(void *ctx)
{
	struct domain *domain = ctx;

	domain->backs++;
}

static int setup(void **state)
{
	struct vagx_report_config report = { .level = VAGX_LOG_ERROR };
	struct domain *domain = calloc(1, sizeof(*domain));

	assert_non_null(domain);
	domain->null = fopen("/dev/null", "w");
	report.stream = domain->null;
	domain->pmgr.report = vagx_report_new(&report);
	domain->pmgr.cut = on_cut;
	domain->pmgr.back = on_back;
	domain->pmgr.ctx = domain;
	vagx_pmgr_reset(&domain->pmgr);
	*state = domain;
	return 0;
}

static int teardown(void **state)
{
	struct domain *domain = *state;

	vagx_report_free(domain->pmgr.report);
	fclose(domain->null);
	free(domain);
	return 0;
}

static uint32_t get(struct domain *domain)
{
	return vagx_pmgr_read(&domain->pmgr, GFX, 4);
}

static void put(struct domain *domain, uint32_t value)
{
	vagx_pmgr_write(&domain->pmgr, GFX, 4, value);
}

/* As apple_pmgr_ps_set() does: the flags are written as 0, so they stay */
static void set_state(struct domain *domain, uint32_t state)
{
	put(domain, (get(domain) & ~0x1000030fU) | state);
}

static void expect(struct domain *domain, unsigned int cuts,
		   unsigned int backs, bool on)
{
	assert_int_equal(domain->cuts, cuts);
	assert_int_equal(domain->backs, backs);
	assert_int_equal(vagx_pmgr_is_on(&domain->pmgr), on);
}

static void is_on_at_boot(void **state)
{
	struct domain *domain = *state;

	assert_int_equal(get(domain), 0xff);
	expect(domain, 0, 0, true);
}

static void actual_follows_target(void **state)
{
	struct domain *domain = *state;

	set_state(domain, 0);
	assert_int_equal(get(domain), 0x300);
	expect(domain, 1, 0, false);
	set_state(domain, 0);
	expect(domain, 1, 0, false);
	set_state(domain, 0xf);
	/* What it was is remembered until a one is written to it */
	assert_int_equal(get(domain), 0x3ff);
	expect(domain, 1, 1, true);
	put(domain, 0x20f);
	assert_int_equal(get(domain), 0x1ff);
	put(domain, 0x10f);
	assert_int_equal(get(domain), 0xff);
	expect(domain, 1, 1, true);
}

static void clock_gating_keeps_state(void **state)
{
	struct domain *domain = *state;

	set_state(domain, 4);
	assert_int_equal(get(domain), 0x244);
	expect(domain, 0, 0, false);
	set_state(domain, 0xf);
	expect(domain, 0, 0, true);
	set_state(domain, 4);
	set_state(domain, 0);
	expect(domain, 1, 0, false);
	assert_int_equal(vagx_report_count(domain->pmgr.report,
					   VAGX_RULE_PMGR_STATE), 0);
}

static void other_bits_are_kept(void **state)
{
	struct domain *domain = *state;

	put(domain, 0x1f0f040f);
	assert_int_equal(get(domain), 0x1f0f04ff);
	/* Nobody writes what the domain does, nor what is not there */
	put(domain, 0x00f008ff);
	assert_int_equal(get(domain), 0xff);
	expect(domain, 0, 0, true);
}

/* As apple_pmgr_reset_assert() and _deassert() do */
static void reset_loses_state(void **state)
{
	struct domain *domain = *state;

	put(domain, get(domain) | VAGX_PMGR_DEV_DISABLE);
	expect(domain, 0, 0, true);
	put(domain, get(domain) | VAGX_PMGR_RESET);
	expect(domain, 1, 0, false);
	put(domain, get(domain) & ~VAGX_PMGR_RESET);
	expect(domain, 1, 1, true);
	put(domain, get(domain) & ~VAGX_PMGR_DEV_DISABLE);
	assert_int_equal(get(domain), 0xff);
	assert_int_equal(vagx_report_count(domain->pmgr.report,
					   VAGX_RULE_PMGR_RESET), 0);
}

static void power_off_in_reset(void **state)
{
	struct domain *domain = *state;

	put(domain, get(domain) | VAGX_PMGR_RESET);
	put(domain, VAGX_PMGR_RESET);
	assert_int_equal(vagx_report_count(domain->pmgr.report,
					   VAGX_RULE_PMGR_RESET), 1);
	put(domain, 0xf | VAGX_PMGR_RESET);
	expect(domain, 1, 0, false);
	put(domain, 0xf);
	expect(domain, 1, 1, true);
}

static void failure_shows_in_the_flags(void **state)
{
	struct domain *domain = *state;

	vagx_pmgr_fail(&domain->pmgr);
	assert_int_equal(get(domain), 0x3ff);
	expect(domain, 1, 1, true);
	set_state(domain, 0);
	vagx_pmgr_fail(&domain->pmgr);
	expect(domain, 2, 1, false);
}

static void wrong_accesses(void **state)
{
	struct domain *domain = *state;
	struct vagx_pmgr *pmgr = &domain->pmgr;

	vagx_pmgr_read(pmgr, GFX, 8);
	vagx_pmgr_write(pmgr, GFX, 8, 0xf);
	assert_int_equal(vagx_report_count(pmgr->report,
					   VAGX_RULE_PMGR_ACCESS_SIZE), 2);
	vagx_pmgr_read(pmgr, 0x3f0, 4);
	vagx_pmgr_write(pmgr, 0x400, 4, 1);
	assert_int_equal(vagx_report_count(pmgr->report,
					   VAGX_RULE_REG_UNKNOWN), 2);
	set_state(domain, 7);
	assert_int_equal(vagx_report_count(pmgr->report,
					   VAGX_RULE_PMGR_STATE), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(is_on_at_boot),
		TEST(actual_follows_target),
		TEST(clock_gating_keeps_state),
		TEST(other_bits_are_kept),
		TEST(reset_loses_state),
		TEST(power_off_in_reset),
		TEST(failure_shows_in_the_flags),
		TEST(wrong_accesses),
	};

	return cmocka_run_group_tests_name("pmgr", tests, NULL, NULL);
}
