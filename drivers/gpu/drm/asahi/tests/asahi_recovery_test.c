// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of who is blamed for a failure.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/test.h>

#include "asahi_hw.h"
#include "asahi_job.h"
#include "asahi_recovery.h"

#define OWN_EVENT	7
#define OTHER_EVENT	8
#define OWN_CONTEXT	3
#define OTHER_CONTEXT	4

static void expect_verdict(struct kunit *test, int culprit, const struct asahi_fault_info *fault,
			   int error, bool guilty)
{
	const struct asahi_failure failure = {
		.error = -ETIMEDOUT,
		.culprit = culprit,
		.fault = fault,
	};
	struct asahi_verdict verdict = asahi_recovery_judge(&failure, OWN_EVENT, OWN_CONTEXT);

	KUNIT_EXPECT_EQ(test, verdict.error, error);
	KUNIT_EXPECT_EQ(test, verdict.guilty, guilty);
}

static void the_named_one_is_guilty(struct kunit *test)
{
	expect_verdict(test, OWN_EVENT, NULL, -ETIMEDOUT, true);
	expect_verdict(test, OTHER_EVENT, NULL, -ECANCELED, false);
}

static void the_faulting_context_is_guilty(struct kunit *test)
{
	const struct asahi_fault_info own = { .slot = OWN_CONTEXT };
	const struct asahi_fault_info other = { .slot = OTHER_CONTEXT };

	expect_verdict(test, -1, &own, -EIO, true);
	expect_verdict(test, -1, &other, -ECANCELED, false);
}

static void a_name_counts_more_than_a_fault(struct kunit *test)
{
	const struct asahi_fault_info own = { .slot = OWN_CONTEXT };
	const struct asahi_fault_info other = { .slot = OTHER_CONTEXT };

	expect_verdict(test, OWN_EVENT, &own, -EIO, true);
	expect_verdict(test, OWN_EVENT, &other, -ETIMEDOUT, true);
	expect_verdict(test, OTHER_EVENT, &own, -ECANCELED, false);
}

static void nobody_is_guilty_if_nobody_knows(struct kunit *test)
{
	expect_verdict(test, -1, NULL, -ETIMEDOUT, false);
	expect_verdict(test, S32_MIN, NULL, -ETIMEDOUT, false);
}

static void a_stamp_has_one_owner(struct kunit *test)
{
	/* three stamps, which wrap */
	const struct asahi_part pipe = { .count = 3, .first = 0xffffff00, .last = 0x100 };
	const struct asahi_part none = {};

	KUNIT_EXPECT_EQ(test, asahi_job_hit(&pipe, 0xfffffe00), ASAHI_JOB_MISSED);
	KUNIT_EXPECT_EQ(test, asahi_job_hit(&pipe, 0xffffff00), ASAHI_JOB_OWNS);
	KUNIT_EXPECT_EQ(test, asahi_job_hit(&pipe, 0), ASAHI_JOB_OWNS);
	KUNIT_EXPECT_EQ(test, asahi_job_hit(&pipe, 0x100), ASAHI_JOB_OWNS);
	KUNIT_EXPECT_EQ(test, asahi_job_hit(&pipe, 0x200), ASAHI_JOB_BEFORE);
	KUNIT_EXPECT_EQ(test, asahi_job_hit(&none, 0), ASAHI_JOB_MISSED);
}

static struct kunit_case recovery_tests[] = {
	KUNIT_CASE(the_named_one_is_guilty),
	KUNIT_CASE(the_faulting_context_is_guilty),
	KUNIT_CASE(a_name_counts_more_than_a_fault),
	KUNIT_CASE(nobody_is_guilty_if_nobody_knows),
	KUNIT_CASE(a_stamp_has_one_owner),
	{}
};

static struct kunit_suite recovery_suite = {
	.name = "asahi_recovery",
	.test_cases = recovery_tests,
};

kunit_test_suite(recovery_suite);
