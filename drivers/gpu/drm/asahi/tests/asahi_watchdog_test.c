// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of what the firmware owes, and of how long work may take.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/device.h>
#include <kunit/test.h>

#include <linux/delay.h>
#include <linux/ktime.h>

#include "asahi_device.h"
#include "asahi_state.h"
#include "asahi_watchdog.h"

#define LIMIT_MS	600000

struct looks {
	struct asahi_watchdog_queue queue;
	struct asahi_watchdog_look look;
};

/* The next look, an interval later. */
static enum asahi_remedy next_look(struct looks *looks)
{
	looks->look.now = ktime_add_ms(looks->look.now, ASAHI_WATCHDOG_LOOK_MS);
	return asahi_watchdog_judge(&looks->queue, &looks->look, LIMIT_MS);
}

static const struct looks silence = { .look = { .key = 1, .others = 7 } };

/* Looks @count times; each has to find @remedy. */
static void expect_looks(struct kunit *test, struct looks *looks, unsigned int count,
			 enum asahi_remedy remedy)
{
	for (unsigned int i = 0; i < count; i++)
		KUNIT_EXPECT_EQ(test, next_look(looks), remedy);
}

#define LOOKS_OF_LIMIT	(LIMIT_MS / ASAHI_WATCHDOG_LOOK_MS)

/* The queue is lost before the firmware is. */
static void silence_is_asked_about(struct kunit *test)
{
	struct looks looks = silence;

	expect_looks(test, &looks, 3, ASAHI_REMEDY_NONE);
	expect_looks(test, &looks, LOOKS_OF_LIMIT - 3, ASAHI_REMEDY_ANNOUNCE);
	expect_looks(test, &looks, 1, ASAHI_REMEDY_CUT);
	expect_looks(test, &looks, 2, ASAHI_REMEDY_ANNOUNCE);
	expect_looks(test, &looks, 1, ASAHI_REMEDY_GIVE_UP);
}

static void progress_is_a_stamp(struct kunit *test)
{
	struct looks looks = silence;

	for (unsigned int i = 0; i < 1000; i++) {
		looks.look.key += i % 3 == 0;
		KUNIT_EXPECT_EQ(test, next_look(&looks), ASAHI_REMEDY_NONE);
	}
}

static void waits_behind_its_equals(struct kunit *test)
{
	struct looks looks = silence;

	looks.look.busy = true;
	for (unsigned int i = 0; i < 1000; i++) {
		looks.look.others++;
		KUNIT_EXPECT_EQ(test, next_look(&looks), ASAHI_REMEDY_NONE);
	}
}

/* What has not started cannot be taken down, so it has the same time again. */
static void waits_behind_lower_priorities_for_the_limit(struct kunit *test)
{
	struct looks looks = silence;

	looks.look.busy = true;
	expect_looks(test, &looks, LOOKS_OF_LIMIT, ASAHI_REMEDY_NONE);
	expect_looks(test, &looks, 1, ASAHI_REMEDY_CUT);
	expect_looks(test, &looks, LOOKS_OF_LIMIT - 1, ASAHI_REMEDY_NONE);
	expect_looks(test, &looks, 1, ASAHI_REMEDY_GIVE_UP);
}

static void runs_for_the_limit(struct kunit *test)
{
	struct looks looks = silence;

	looks.look.running = true;
	expect_looks(test, &looks, 3, ASAHI_REMEDY_NONE);
	expect_looks(test, &looks, LOOKS_OF_LIMIT - 3, ASAHI_REMEDY_ASK);
	expect_looks(test, &looks, 1, ASAHI_REMEDY_CUT);
	expect_looks(test, &looks, 1, ASAHI_REMEDY_NONE);
	expect_looks(test, &looks, 1, ASAHI_REMEDY_EMPTY);
	expect_looks(test, &looks, 1, ASAHI_REMEDY_GIVE_UP);
}

/* Its end is progress, too: the next job of the queue has all of its time. */
static void taken_down_in_time(struct kunit *test)
{
	struct looks looks = silence;

	looks.look.running = true;
	while (next_look(&looks) != ASAHI_REMEDY_EMPTY)
		;
	KUNIT_EXPECT_TRUE(test, looks.queue.cut);
	looks.look.key++;
	expect_looks(test, &looks, 3, ASAHI_REMEDY_NONE);
	KUNIT_EXPECT_FALSE(test, looks.queue.cut);
	expect_looks(test, &looks, LOOKS_OF_LIMIT - 3, ASAHI_REMEDY_ASK);
	expect_looks(test, &looks, 1, ASAHI_REMEDY_CUT);
	expect_looks(test, &looks, 1, ASAHI_REMEDY_NONE);
	expect_looks(test, &looks, 1, ASAHI_REMEDY_EMPTY);
}

/* Others do not give work more time that runs by itself. */
static void runs_for_the_limit_beside_others(struct kunit *test)
{
	struct looks looks = silence;
	unsigned int i;

	looks.look.running = true;
	looks.look.busy = true;
	for (i = 0; i < 1000; i++) {
		looks.look.others++;
		if (next_look(&looks) == ASAHI_REMEDY_CUT)
			break;
	}
	KUNIT_EXPECT_EQ(test, i, LOOKS_OF_LIMIT);
}

/* Nothing that others do is a sign that this queue's work will be retired. */
static void owes_what_has_ended(struct kunit *test)
{
	struct looks looks = silence;
	enum asahi_remedy remedy;
	unsigned int i;

	looks.look.owed = true;
	looks.look.busy = true;
	for (i = 0; i < 1000; i++) {
		looks.look.others++;
		remedy = next_look(&looks);
		if (remedy == ASAHI_REMEDY_CUT)
			break;
		KUNIT_EXPECT_EQ(test, remedy, i < 3 ? ASAHI_REMEDY_NONE : ASAHI_REMEDY_ASK);
	}
	KUNIT_EXPECT_EQ(test, i, LOOKS_OF_LIMIT);
	expect_looks(test, &looks, 2, ASAHI_REMEDY_NONE);
	expect_looks(test, &looks, 1, ASAHI_REMEDY_GIVE_UP);
}

/**
 * struct fake - a device and its firmware
 * @adev: device, of which only state and watchdog exist
 * @signs: signs of life that the firmware has given
 * @halted: it has halted
 */
struct fake {
	struct asahi_device adev;
	u32 signs;
	bool halted;
};

static u32 fake_signs(struct asahi_device *adev)
{
	return container_of(adev, struct fake, adev)->signs;
}

static bool fake_halted(struct asahi_device *adev)
{
	return container_of(adev, struct fake, adev)->halted;
}

/* Nobody asks: the block is not up. */
static const struct asahi_watchdog_ops fake_ops = {
	.signs = fake_signs,
	.halted = fake_halted,
};

static struct fake *fake_start(struct kunit *test)
{
	struct fake *fake = kunit_kzalloc(test, sizeof(*fake), GFP_KERNEL);
	struct device *dev = kunit_device_register(test, "asahi-watchdog");

	KUNIT_ASSERT_NOT_NULL(test, fake);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev);
	fake->adev.drm.dev = dev;
	asahi_state_init(&fake->adev.state);
	asahi_state_set_fw(&fake->adev, ASAHI_FW_RUNNING);
	asahi_watchdog_init(&fake->adev.watchdog, &fake->adev);
	asahi_watchdog_set_ops(&fake->adev, &fake_ops);
	KUNIT_ASSERT_TRUE(test, asahi_state_move(&fake->adev, ASAHI_STATE_STARTING,
						 ASAHI_STATE_RUNNING));
	return fake;
}

static int late_with(struct fake *fake, enum asahi_debt debt)
{
	return atomic_read(&fake->adev.watchdog.late[debt]);
}

/* Let time pass for all that has been counted so far. */
static void long_ago(struct fake *fake)
{
	struct asahi_watchdog *watchdog = &fake->adev.watchdog;

	watchdog->silent_since = ktime_sub_ms(watchdog->silent_since, 60000);
}

static void silent_firmware_is_given_up(struct kunit *test)
{
	struct fake *fake = fake_start(test);

	asahi_watchdog_late(&fake->adev, ASAHI_DEBT_CONTROL);
	long_ago(fake);
	asahi_watchdog_late(&fake->adev, ASAHI_DEBT_CONTROL);
	KUNIT_EXPECT_TRUE(test, asahi_state_fw_alive(&fake->adev));
	asahi_watchdog_late(&fake->adev, ASAHI_DEBT_CONTROL);
	KUNIT_EXPECT_FALSE(test, asahi_state_fw_alive(&fake->adev));
	KUNIT_EXPECT_EQ(test, late_with(fake, ASAHI_DEBT_CONTROL), 3);
}

static void silence_takes_time(struct kunit *test)
{
	struct fake *fake = fake_start(test);

	for (unsigned int i = 0; i < 100; i++)
		asahi_watchdog_late(&fake->adev, ASAHI_DEBT_CONTROL);
	KUNIT_EXPECT_TRUE(test, asahi_state_fw_alive(&fake->adev));
	long_ago(fake);
	asahi_watchdog_late(&fake->adev, ASAHI_DEBT_CONTROL);
	KUNIT_EXPECT_FALSE(test, asahi_state_fw_alive(&fake->adev));
}

static void sign_of_life_is_enough(struct kunit *test)
{
	struct fake *fake = fake_start(test);

	for (unsigned int i = 0; i < 100; i++) {
		asahi_watchdog_late(&fake->adev, ASAHI_DEBT_CONTROL);
		long_ago(fake);
		fake->signs += i % 2;
	}
	for (unsigned int i = 0; i < 100; i++) {
		asahi_watchdog_late(&fake->adev, ASAHI_DEBT_CONTROL);
		long_ago(fake);
		asahi_watchdog_paid(&fake->adev, ASAHI_DEBT_CONTROL);
	}
	KUNIT_EXPECT_TRUE(test, asahi_state_fw_alive(&fake->adev));
}

/* Whatever it does not do, only some of it is a reason by itself. */
static void late_is_not_lost(struct kunit *test)
{
	struct fake *fake = fake_start(test);

	for (unsigned int i = 0; i < 100; i++) {
		asahi_watchdog_late(&fake->adev, ASAHI_DEBT_STAMP);
		asahi_watchdog_late(&fake->adev, ASAHI_DEBT_GROWTH);
		asahi_watchdog_late(&fake->adev, ASAHI_DEBT_FLUSH);
	}
	KUNIT_EXPECT_TRUE(test, asahi_state_fw_alive(&fake->adev));
	KUNIT_EXPECT_EQ(test, late_with(fake, ASAHI_DEBT_STAMP), 100);
	asahi_watchdog_give_up(&fake->adev, ASAHI_DEBT_CRASH);
	KUNIT_EXPECT_FALSE(test, asahi_state_fw_alive(&fake->adev));
}

static void wait_ends_with_the_debt(struct kunit *test)
{
	struct fake *fake = fake_start(test);
	unsigned int looks = 0;

	KUNIT_EXPECT_EQ(test, asahi_wait_until(&fake->adev, ASAHI_DEBT_CONTROL, ++looks == 10), 0);
	KUNIT_EXPECT_EQ(test, looks, 10);
	KUNIT_EXPECT_EQ(test, late_with(fake, ASAHI_DEBT_CONTROL), 0);
}

static void wait_ends_in_time(struct kunit *test)
{
	struct fake *fake = fake_start(test);
	ktime_t begin = ktime_get();

	KUNIT_EXPECT_EQ(test, asahi_wait_until(&fake->adev, ASAHI_DEBT_CONTROL, false),
			-ETIMEDOUT);
	KUNIT_EXPECT_GE(test, ktime_ms_delta(ktime_get(), begin), 1000);
	KUNIT_EXPECT_EQ(test, late_with(fake, ASAHI_DEBT_CONTROL), 1);
	KUNIT_EXPECT_TRUE(test, asahi_state_fw_alive(&fake->adev));
}

static void wait_ends_with_the_firmware(struct kunit *test)
{
	struct fake *fake = fake_start(test);

	asahi_watchdog_give_up(&fake->adev, ASAHI_DEBT_CRASH);
	KUNIT_EXPECT_EQ(test, asahi_wait_until(&fake->adev, ASAHI_DEBT_WORK, false), -ENODEV);
	KUNIT_EXPECT_EQ(test, late_with(fake, ASAHI_DEBT_WORK), 0);
}

/* Ends the halt when the wait has taken longer than it may otherwise. */
static bool goes_on_after(struct fake *fake, ktime_t begin, s64 ms)
{
	if (ktime_ms_delta(ktime_get(), begin) < ms)
		return false;

	fake->halted = false;
	return true;
}

static void halts_do_not_count(struct kunit *test)
{
	struct fake *fake = fake_start(test);
	ktime_t begin = ktime_get();

	fake->halted = true;
	KUNIT_EXPECT_EQ(test, asahi_wait_until(&fake->adev, ASAHI_DEBT_CONTROL,
					       goes_on_after(fake, begin, 1500)), 0);
	KUNIT_EXPECT_EQ(test, late_with(fake, ASAHI_DEBT_CONTROL), 0);
}

static struct kunit_case asahi_watchdog_cases[] = {
	KUNIT_CASE(silence_is_asked_about),
	KUNIT_CASE(progress_is_a_stamp),
	KUNIT_CASE(waits_behind_its_equals),
	KUNIT_CASE(waits_behind_lower_priorities_for_the_limit),
	KUNIT_CASE(runs_for_the_limit),
	KUNIT_CASE(taken_down_in_time),
	KUNIT_CASE(runs_for_the_limit_beside_others),
	KUNIT_CASE(owes_what_has_ended),
	KUNIT_CASE(silent_firmware_is_given_up),
	KUNIT_CASE(silence_takes_time),
	KUNIT_CASE(sign_of_life_is_enough),
	KUNIT_CASE(late_is_not_lost),
	KUNIT_CASE(wait_ends_with_the_debt),
	KUNIT_CASE_SLOW(wait_ends_in_time),
	KUNIT_CASE(wait_ends_with_the_firmware),
	KUNIT_CASE_SLOW(halts_do_not_count),
	{ }
};

static struct kunit_suite asahi_watchdog_suite = {
	.name = "asahi_watchdog",
	.test_cases = asahi_watchdog_cases,
};

kunit_test_suite(asahi_watchdog_suite);
