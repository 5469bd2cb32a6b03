// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of knobs. That the words arrive in commands is tested with the commands.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/test.h>

#include <linux/string.h>

#include <drm/drm_print.h>

#include "asahi_knobs.h"
#include "asahi_params.h"

#define TEXT_BYTES	4096

/**
 * struct knobs_test - the knobs of a device
 * @knobs: knobs
 * @unproven: the parameter as it was before
 */
struct knobs_test {
	struct asahi_knobs knobs;
	unsigned long unproven;
};

static int knobs_test_init(struct kunit *test)
{
	struct knobs_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->unproven = asahi_unproven;
	asahi_unproven = 0;
	asahi_knobs_init(&t->knobs);
	test->priv = t;
	return 0;
}

static void knobs_test_exit(struct kunit *test)
{
	struct knobs_test *t = test->priv;

	asahi_unproven = t->unproven;
}

static int turn(struct knobs_test *t, const char *text)
{
	char copy[64];

	strscpy(copy, text, sizeof(copy));
	return asahi_knobs_turn(&t->knobs, copy);
}

static void nothing_is_changed_at_first(struct kunit *test)
{
	struct knobs_test *t = test->priv;

	for (unsigned int i = 0; i < ASAHI_KNOBS; i++) {
		KUNIT_EXPECT_EQ(test, asahi_knob(&t->knobs, i, 0x1234), 0x1234);
		KUNIT_EXPECT_EQ(test, asahi_knob(NULL, i, 0x1234), 0x1234);
	}
}

static void values_of_references_are_allowed(struct kunit *test)
{
	struct knobs_test *t = test->priv;

	KUNIT_EXPECT_EQ(test, turn(t, "flush-stamps 2\n"), 0);
	KUNIT_EXPECT_EQ(test, asahi_knob(&t->knobs, ASAHI_KNOB_FLUSH_STAMPS, 0), 2);
	KUNIT_EXPECT_EQ(test, turn(t, "unk-290 0x4040404"), 0);
	KUNIT_EXPECT_EQ(test, asahi_knob(&t->knobs, ASAHI_KNOB_UNK_290, 0), 0x4040404);
	KUNIT_EXPECT_EQ(test, turn(t, "unk-290   0"), 0);
	KUNIT_EXPECT_EQ(test, asahi_knob(&t->knobs, ASAHI_KNOB_UNK_290, 7), 0);
	KUNIT_EXPECT_EQ(test, turn(t, "  unk-290 default "), 0);
	KUNIT_EXPECT_EQ(test, asahi_knob(&t->knobs, ASAHI_KNOB_UNK_290, 7), 7);
	KUNIT_EXPECT_EQ(test, turn(t, "preempt1-scale 1"), 0);
	KUNIT_EXPECT_EQ(test, turn(t, "oldest-event 0"), 0);
}

static void others_are_not(struct kunit *test)
{
	static const char * const untried[] = {
		"flush-stamps 1", "flush-stamps 7", "unk-290 1", "preempt1-scale 2",
		"oldest-event 1",
	};
	struct knobs_test *t = test->priv;

	for (unsigned int i = 0; i < ARRAY_SIZE(untried); i++)
		KUNIT_EXPECT_EQ_MSG(test, turn(t, untried[i]), -EPERM, "%s", untried[i]);
	nothing_is_changed_at_first(test);

	asahi_unproven = ~BIT(ASAHI_UNPROVEN_KNOBS);
	for (unsigned int i = 0; i < ARRAY_SIZE(untried); i++)
		KUNIT_EXPECT_EQ_MSG(test, turn(t, untried[i]), -EPERM, "%s", untried[i]);

	asahi_unproven = BIT(ASAHI_UNPROVEN_KNOBS);
	for (unsigned int i = 0; i < ARRAY_SIZE(untried); i++)
		KUNIT_EXPECT_EQ_MSG(test, turn(t, untried[i]), 0, "%s", untried[i]);
}

static void nonsense_changes_nothing(struct kunit *test)
{
	static const struct {
		const char *text;
		int error;
	} wrong[] = {
		{ "", -EINVAL },
		{ " ", -EINVAL },
		{ "flush-stamps", -EINVAL },
		{ "flush-stamps ", -EINVAL },
		{ "flush-stamp 0", -EINVAL },
		{ "Flush-stamps 0", -EINVAL },
		{ "flush-stamps x", -EINVAL },
		{ "flush-stamps 1 2", -EINVAL },
		{ "flush-stamps Default", -EINVAL },
		{ "flush-stamps 8", -ERANGE },
		{ "flush-stamps -1", -EINVAL },
		{ "flush-stamps 0xffffffffffffffff", -ERANGE },
		{ "flush-stamps 0x10000000000000000", -ERANGE },
		{ "unk-290 0x100000000", -ERANGE },
		{ "preempt1-scale 0", -ERANGE },
		{ "preempt1-scale 9", -ERANGE },
		{ "oldest-event 2", -ERANGE },
	};
	struct knobs_test *t = test->priv;

	asahi_unproven = ~0UL;
	for (unsigned int i = 0; i < ARRAY_SIZE(wrong); i++)
		KUNIT_EXPECT_EQ_MSG(test, turn(t, wrong[i].text), wrong[i].error, "\"%s\"",
				    wrong[i].text);
	nothing_is_changed_at_first(test);
}

static void each_has_a_line(struct kunit *test)
{
	struct knobs_test *t = test->priv;
	char *text = kunit_kzalloc(test, TEXT_BYTES, GFP_KERNEL);
	struct drm_print_iterator iter = { .data = text, .remain = TEXT_BYTES - 1 };
	struct drm_printer p = drm_coredump_printer(&iter);
	unsigned int lines = 0;

	KUNIT_ASSERT_NOT_NULL(test, text);
	KUNIT_EXPECT_EQ(test, turn(t, "flush-stamps 2"), 0);
	asahi_knobs_print(&t->knobs, &p);
	for (const char *c = text; *c; c++)
		lines += *c == '\n';
	KUNIT_EXPECT_EQ(test, lines, ASAHI_KNOBS);
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "flush-stamps 0x2, 0x0 to 0x7, job_meta.flush_"));
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "\npreempt1-scale default (1), 0x1 to 0x8, "));
}

static struct kunit_case asahi_knobs_cases[] = {
	KUNIT_CASE(nothing_is_changed_at_first),
	KUNIT_CASE(values_of_references_are_allowed),
	KUNIT_CASE(others_are_not),
	KUNIT_CASE(nonsense_changes_nothing),
	KUNIT_CASE(each_has_a_line),
	{ }
};

static struct kunit_suite asahi_knobs_suite = {
	.name = "asahi_knobs",
	.init = knobs_test_init,
	.exit = knobs_test_exit,
	.test_cases = asahi_knobs_cases,
};

kunit_test_suite(asahi_knobs_suite);
