// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of what the firmware tells of itself, understood or not.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/test.h>

#include <linux/bitops.h>
#include <linux/prandom.h>
#include <linux/string.h>

#include <drm/drm_print.h>

#include "asahi_clock.h"
#include "asahi_fw_channels.h"
#include "asahi_hw.h"
#include "asahi_telemetry.h"

#define TEXT_BYTES	4096

/* What @print writes, as a string that lives as long as the test. */
static char *telemetry_text(struct kunit *test, const struct asahi_unknown *unknown)
{
	char *text = kunit_kzalloc(test, TEXT_BYTES, GFP_KERNEL);
	struct drm_print_iterator iter = { .data = text, .remain = TEXT_BYTES - 1 };
	struct drm_printer p = drm_coredump_printer(&iter);

	KUNIT_ASSERT_NOT_NULL(test, text);
	asahi_unknown_print(unknown, "event", &p);
	return text;
}

static struct asahi_unknown *telemetry_unknown(struct kunit *test)
{
	struct asahi_unknown *unknown = kunit_kzalloc(test, sizeof(*unknown), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, unknown);
	return unknown;
}

static void unknown_types_are_counted(struct kunit *test)
{
	struct asahi_unknown *unknown = telemetry_unknown(test);

	KUNIT_EXPECT_STREQ(test, telemetry_text(test, unknown), "event 0\n");
	KUNIT_EXPECT_TRUE(test, asahi_unknown_count(unknown, 9));
	KUNIT_EXPECT_FALSE(test, asahi_unknown_count(unknown, 9));
	KUNIT_EXPECT_FALSE(test, asahi_unknown_count(unknown, 2));
	KUNIT_EXPECT_STREQ(test, telemetry_text(test, unknown),
			   "event 3 last 0x2 0x2:1 0x9:2\n");
	KUNIT_EXPECT_FALSE(test, asahi_unknown_count(unknown, U32_MAX));
	KUNIT_EXPECT_STREQ(test, telemetry_text(test, unknown),
			   "event 4 last 0xffffffff 0x2:1 0x9:2 others:1\n");
}

static void every_type_is_one_of_them(struct kunit *test)
{
	struct {
		struct asahi_unknown unknown;
		u64 behind;
	} *counters = kunit_kzalloc(test, sizeof(*counters), GFP_KERNEL);
	struct asahi_unknown *unknown = &counters->unknown;

	KUNIT_ASSERT_NOT_NULL(test, counters);
	for (u32 type = 0; type < 4 * ASAHI_UNKNOWN_TYPES; type++)
		KUNIT_EXPECT_EQ(test, asahi_unknown_count(unknown, type), type == 0);
	for (unsigned int bit = 8; bit < 32; bit++)
		asahi_unknown_count(unknown, BIT(bit));

	KUNIT_EXPECT_EQ(test, unknown->count, 4 * ASAHI_UNKNOWN_TYPES + 24);
	for (u32 type = 0; type < ASAHI_UNKNOWN_TYPES; type++)
		KUNIT_EXPECT_EQ(test, unknown->type[type], 1);
	KUNIT_EXPECT_EQ(test, counters->behind, 0);
}

#define MSG(t, ...)	{ .type = cpu_to_le32(ASAHI_FW_STATS_##t), __VA_ARGS__ }

/* Expects that @msg is understood, and says of @id that it is @value. */
static void expect_reading(struct kunit *test, const struct asahi_fw_stats_msg *msg,
			   enum asahi_reading id, u64 value)
{
	struct asahi_readings readings = {};

	KUNIT_EXPECT_TRUE(test, asahi_readings_take(&readings, msg));
	KUNIT_EXPECT_TRUE_MSG(test, readings.known & BIT(id), "type %#x has no reading %u",
			      le32_to_cpu(msg->type), id);
	KUNIT_EXPECT_EQ(test, readings.value[id], value);
}

static void messages_become_figures(struct kunit *test)
{
	static const struct {
		struct asahi_fw_stats_msg msg;
		enum asahi_reading id;
		u64 value;
	} cases[] = {
		{ MSG(POWER, .power.power = cpu_to_le64(3 * 8192)), ASAHI_READING_POWER, 3000 },
		{ MSG(POWER, .power.power = cpu_to_le64(4096)), ASAHI_READING_POWER, 500 },
		{ MSG(POWER_ON), ASAHI_READING_OFF, 0 },
		{ MSG(POWER_OFF), ASAHI_READING_OFF, 1 },
		{ MSG(AVERAGE_POWER, .average_power.power = cpu_to_le32(4300)),
		  ASAHI_READING_AVERAGE_POWER, 4300000 },
		{ MSG(AVERAGE_POWER, .average_power.active = cpu_to_le64(7)),
		  ASAHI_READING_ACTIVE_TIME, 70 },
		{ MSG(TEMPERATURE, .temperature = { .value = cpu_to_le32(64 * 8 * 41 + 256),
						    .scale = cpu_to_le32(8) }),
		  ASAHI_READING_TEMPERATURE, 41500 },
		{ MSG(POWER_STATE, .power_state.state = cpu_to_le32(6)), ASAHI_READING_STATE, 6 },
		{ MSG(POWER_STATE, .power_state.active = cpu_to_le32(0x100)),
		  ASAHI_READING_ACTIVE, 1 },
		{ MSG(POWER_STATE, .power_state.off = cpu_to_le32(1)), ASAHI_READING_OFF, 1 },
		{ MSG(FW_BUSY, .fw_busy.busy = cpu_to_le32(1)), ASAHI_READING_FW_BUSY, 1 },
		{ MSG(STATE_RANGE, .state_range.least = cpu_to_le32(1)),
		  ASAHI_READING_STATE_LEAST, 1 },
		{ MSG(STATE_RANGE, .state_range.most = cpu_to_le32(4)),
		  ASAHI_READING_STATE_MOST, 4 },
		{ MSG(SENSOR, .temperature = { .sensor = cpu_to_le32(7),
					       .value = cpu_to_le32(64 * 50),
					       .scale = cpu_to_le32(1) }),
		  ASAHI_READING_SENSOR + 7, 50000 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++)
		expect_reading(test, &cases[i].msg, cases[i].id, cases[i].value);
}

static void times_are_in_nanoseconds(struct kunit *test)
{
	const struct asahi_fw_stats_msg on =
		MSG(POWER_ON, .power_switch.ticks = cpu_to_le64(24000));
	const struct asahi_fw_stats_msg off =
		MSG(POWER_OFF, .power_switch.ticks = cpu_to_le64(48000));

	expect_reading(test, &on, ASAHI_READING_TIME_OFF, asahi_clock_to_ns(24000));
	expect_reading(test, &off, ASAHI_READING_TIME_ON, asahi_clock_to_ns(48000));
}

static void utilisation_is_in_percent(struct kunit *test)
{
	struct asahi_fw_stats_msg msg = MSG(UTILISATION);
	struct asahi_readings readings = {};

	for (unsigned int i = 0; i < ASAHI_TELEMETRY_UNITS; i++)
		msg.utilisation.percent[i] = cpu_to_le32(i ? 97 + i : 0);
	for (unsigned int i = 0; i < ASAHI_TELEMETRY_UNITS; i++)
		expect_reading(test, &msg, ASAHI_READING_UTILISATION + i, i ? 97 + i : 0);

	/* More than all is nothing that anybody can use, and neither is what was before. */
	KUNIT_EXPECT_TRUE(test, asahi_readings_take(&readings, &msg));
	msg.utilisation.percent[2] = cpu_to_le32(101);
	KUNIT_EXPECT_TRUE(test, asahi_readings_take(&readings, &msg));
	KUNIT_EXPECT_EQ(test, readings.known,
			GENMASK(ASAHI_READING_UTILISATION + 3, ASAHI_READING_UTILISATION) &
			~BIT(ASAHI_READING_UTILISATION + 2));
}

static void a_temperature_needs_a_scale(struct kunit *test)
{
	struct asahi_fw_stats_msg msg = MSG(TEMPERATURE, .temperature.value = cpu_to_le32(64));
	struct asahi_readings readings = { .known = BIT(ASAHI_READING_TEMPERATURE) };

	KUNIT_EXPECT_TRUE(test, asahi_readings_take(&readings, &msg));
	KUNIT_EXPECT_EQ(test, readings.known, 0);

	msg = (struct asahi_fw_stats_msg)MSG(SENSOR, .temperature = {
		.sensor = cpu_to_le32(ASAHI_TELEMETRY_SENSORS),
		.value = cpu_to_le32(64),
		.scale = cpu_to_le32(1),
	});
	KUNIT_EXPECT_TRUE(test, asahi_readings_take(&readings, &msg));
	KUNIT_EXPECT_EQ(test, readings.known, 0);
}

static void other_types_are_unknown(struct kunit *test)
{
	static const u32 known = BIT(ASAHI_FW_STATS_POWER) | BIT(ASAHI_FW_STATS_POWER_ON) |
				 BIT(ASAHI_FW_STATS_POWER_OFF) | BIT(ASAHI_FW_STATS_UTILISATION) |
				 GENMASK(ASAHI_FW_STATS_SENSOR, ASAHI_FW_STATS_AVERAGE_POWER);
	struct asahi_readings readings = {};
	struct asahi_fw_stats_msg msg;

	memset(&msg, 0x11, sizeof(msg));
	for (u32 type = 0; type < 256; type++) {
		msg.type = cpu_to_le32(type);
		KUNIT_EXPECT_EQ_MSG(test, asahi_readings_take(&readings, &msg),
				    type < 32 && (known & BIT(type)), "type %#x", type);
	}
	readings = (struct asahi_readings){};
	msg.type = cpu_to_le32(U32_MAX);
	KUNIT_EXPECT_FALSE(test, asahi_readings_take(&readings, &msg));
	KUNIT_EXPECT_EQ(test, readings.known, 0);
}

/* Whatever the bytes, what is known is plausible. */
static void garbage_does_no_harm(struct kunit *test)
{
	static const u32 mhz[ASAHI_PERF_STATES] = { 0, 396, 528 };
	struct asahi_readings readings = {};
	struct asahi_fw_stats_msg msg;
	struct rnd_state rnd;
	u32 now;

	prandom_seed_state(&rnd, 23);
	for (unsigned int i = 0; i < 100000; i++) {
		prandom_bytes_state(&rnd, &msg, sizeof(msg));
		msg.type = cpu_to_le32(i % ASAHI_FW_STATS_TYPES);
		asahi_readings_take(&readings, &msg);
		for (unsigned int n = 0; n < ASAHI_TELEMETRY_UNITS; n++)
			KUNIT_ASSERT_LE(test, readings.value[ASAHI_READING_UTILISATION + n], 100);
		if (asahi_readings_frequency(&readings, mhz, &now))
			KUNIT_ASSERT_LE(test, now, 528);
	}
}

static void states_are_frequencies(struct kunit *test)
{
	static const u32 mhz[ASAHI_PERF_STATES] = { 0, 396, 528, 720 };
	struct asahi_readings readings = {};
	struct asahi_fw_stats_msg msg = MSG(POWER_STATE);
	u32 now = 1;

	KUNIT_EXPECT_FALSE(test, asahi_readings_frequency(&readings, mhz, &now));
	for (u32 state = 0; state < 4; state++) {
		msg.power_state.state = cpu_to_le32(state);
		asahi_readings_take(&readings, &msg);
		KUNIT_EXPECT_TRUE(test, asahi_readings_frequency(&readings, mhz, &now));
		KUNIT_EXPECT_EQ(test, now, mhz[state]);
	}

	msg.power_state.off = cpu_to_le32(1);
	asahi_readings_take(&readings, &msg);
	KUNIT_EXPECT_TRUE(test, asahi_readings_frequency(&readings, mhz, &now));
	KUNIT_EXPECT_EQ(test, now, 0);

	for (u32 bit = 4; bit < 32; bit++) {
		msg.power_state.state = cpu_to_le32(bit < 8 ? bit : BIT(bit));
		asahi_readings_take(&readings, &msg);
		KUNIT_EXPECT_FALSE(test, asahi_readings_frequency(&readings, mhz, &now));
	}
}

static struct kunit_case asahi_telemetry_cases[] = {
	KUNIT_CASE(unknown_types_are_counted),
	KUNIT_CASE(every_type_is_one_of_them),
	KUNIT_CASE(messages_become_figures),
	KUNIT_CASE(times_are_in_nanoseconds),
	KUNIT_CASE(utilisation_is_in_percent),
	KUNIT_CASE(a_temperature_needs_a_scale),
	KUNIT_CASE(other_types_are_unknown),
	KUNIT_CASE(garbage_does_no_harm),
	KUNIT_CASE(states_are_frequencies),
	{ }
};

static struct kunit_suite asahi_telemetry_suite = {
	.name = "asahi_telemetry",
	.test_cases = asahi_telemetry_cases,
};

kunit_test_suite(asahi_telemetry_suite);
