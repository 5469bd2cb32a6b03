// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of the memory of jobs' structures.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/test.h>

#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "asahi_job.h"
#include "asahi_job_slab.h"

/* Works of a small job at most: four renders */
#define WORKS	8

/* A job of @works takes @small or not; it is zeroed then, and its commands stay. */
static bool is_small(struct kunit *test, struct asahi_small_job *small, unsigned int works)
{
	void *cmdbuf = asahi_job_slab_cmdbuf(small);
	struct asahi_job *job, *first;
	bool same;

	first = asahi_job_slab_begin(small, 1);
	KUNIT_ASSERT_NOT_NULL(test, first);
	memset(first, 0xff, struct_size(first, work, WORKS));
	memset(cmdbuf, 0x55, ASAHI_SMALL_CMDBUF);

	job = asahi_job_slab_begin(small, works);
	KUNIT_ASSERT_NOT_NULL(test, job);
	same = job == first;
	KUNIT_EXPECT_EQ(test, job->num_works, works);
	job->num_works = 0;
	KUNIT_EXPECT_NULL(test, memchr_inv(job, 0, struct_size(job, work, works)));
	KUNIT_EXPECT_NULL(test, memchr_inv(cmdbuf, 0x55, ASAHI_SMALL_CMDBUF));

	job->cmdbuf = cmdbuf;
	asahi_job_slab_end(job, small);
	KUNIT_EXPECT_NULL(test, memchr_inv(cmdbuf, 0x55, ASAHI_SMALL_CMDBUF));

	return same;
}

static void few_works_are_small(struct kunit *test)
{
	struct asahi_small_job *small = asahi_job_slab_get();

	KUNIT_ASSERT_NOT_NULL(test, small);
	KUNIT_EXPECT_TRUE(test, is_small(test, small, 1));
	KUNIT_EXPECT_TRUE(test, is_small(test, small, WORKS));
	KUNIT_EXPECT_FALSE(test, is_small(test, small, WORKS + 1));
	asahi_job_slab_put(small);
}

/* Large commands have memory of their own, which goes with the job. */
static void large_commands(struct kunit *test)
{
	struct asahi_job *job = asahi_job_slab_begin(NULL, 1);

	KUNIT_ASSERT_NOT_NULL(test, job);
	KUNIT_EXPECT_EQ(test, job->num_works, 1);
	job->cmdbuf = kvmalloc(2 * ASAHI_SMALL_CMDBUF, GFP_KERNEL);
	KUNIT_EXPECT_NOT_NULL(test, job->cmdbuf);
	asahi_job_slab_end(job, NULL);
	asahi_job_slab_put(NULL);
}

static struct kunit_case asahi_job_slab_cases[] = {
	KUNIT_CASE(few_works_are_small),
	KUNIT_CASE(large_commands),
	{}
};

static struct kunit_suite asahi_job_slab_suite = {
	.name = "asahi_job_slab",
	.test_cases = asahi_job_slab_cases,
};

kunit_test_suite(asahi_job_slab_suite);
