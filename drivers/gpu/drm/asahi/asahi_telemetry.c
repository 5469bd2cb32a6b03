// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Telemetry: what the firmware tells of itself, understood or not.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/visibility.h>

#include <linux/array_size.h>
#include <linux/bitops.h>
#include <linux/cleanup.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include <drm/drm_debugfs.h>
#include <drm/drm_print.h>

#include "asahi_block.h"
#include "asahi_clock.h"
#include "asahi_device.h"
#include "asahi_fw_channels.h"
#include "asahi_hw.h"
#include "asahi_telemetry.h"

/**
 * DOC: Telemetry
 *
 * The firmware tells through the ring of statistics how it runs the GPU. It sends these
 * messages unasked, and the driver reads them when it reads the other rings, after a
 * notification. So telemetry wakes up nobody, and costs a copy of each message.
 *
 * m1n1's messages say what a field means and its unit: the performance state, which is an index
 * into the table of clocks of HwDataB; utilisation; when the GPU was switched on and off;
 * power; temperature. The driver decodes that. Fields that have no name there stay in the copy
 * of the message, which debugfs shows, and go nowhere else. A figure that cannot be right, such
 * as a utilisation above 100 percent, is not taken, and the earlier one is forgotten.
 */

/**
 * DOC: Unknown messages
 *
 * The references name some of the messages that the firmware sends, and firmware on machines
 * may send others. The driver skips what it does not understand, and counts it by source and
 * type. The first message of each source is logged. The counters take the same memory whatever
 * the firmware sends, and last until the device is gone.
 */

/* Where messages of a type that is not known are kept. */
#define ASAHI_TELEMETRY_UNKNOWN	ASAHI_FW_STATS_TYPES

/* So the power of the Power message becomes microwatts. */
#define ASAHI_TELEMETRY_POWER_UNIT 8192

/**
 * struct asahi_telemetry_message - messages of one type
 * @count: how many there were
 * @time: when the last one was read
 * @last: the last one
 */
struct asahi_telemetry_message {
	u64 count;
	ktime_t time;
	struct asahi_fw_stats_msg last;
};

/**
 * struct asahi_telemetry - what the firmware has told
 * @readings: what its statistics said last
 * @message: by type, the statistics themselves; one place for all that are unknown
 * @mhz: clocks of the performance states; constant once the device is up
 * @unknown: by source, messages that the driver does not understand; each has one writer, the
 *	worker that reads the source
 */
struct asahi_telemetry {
	/** @lock: protects @readings and @message; taken where fences are signalled */
	spinlock_t lock;
	struct asahi_readings readings;
	struct asahi_telemetry_message message[ASAHI_FW_STATS_TYPES + 1];
	u32 mhz[ASAHI_PERF_STATES];
	struct asahi_unknown unknown[ASAHI_SOURCES];
};

static const char * const asahi_telemetry_sources[ASAHI_SOURCES] = {
	[ASAHI_SOURCE_EVENT] = "event",
	[ASAHI_SOURCE_LOG] = "log",
	[ASAHI_SOURCE_LOG_TEXT] = "log-text",
	[ASAHI_SOURCE_KTRACE] = "ktrace",
	[ASAHI_SOURCE_STATS] = "statistics",
	[ASAHI_SOURCE_MAILBOX] = "mailbox",
};

/**
 * asahi_unknown_count() - count a message that is not understood
 * @unknown: counters of its source
 * @type: its type, any number
 *
 * Any context; one caller at a time for each @unknown.
 *
 * Return: true if it is the first one.
 */
bool asahi_unknown_count(struct asahi_unknown *unknown, u32 type)
{
	WRITE_ONCE(unknown->count, unknown->count + 1);
	WRITE_ONCE(unknown->last, type);
	if (type < ASAHI_UNKNOWN_TYPES)
		WRITE_ONCE(unknown->type[type], unknown->type[type] + 1);

	return unknown->count == 1;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_unknown_count);

/**
 * asahi_unknown_print() - print counters
 * @unknown: counters; may change meanwhile
 * @name: of the source
 * @p: where to
 *
 * One line: the number of messages, and if there were any, the last type, how many there were
 * of each type, and how many of types that are not counted one by one. Any context.
 */
void asahi_unknown_print(const struct asahi_unknown *unknown, const char *name,
			 struct drm_printer *p)
{
	u64 count = READ_ONCE(unknown->count), others = count;

	drm_printf(p, "%s %llu", name, count);
	if (count)
		drm_printf(p, " last %#x", READ_ONCE(unknown->last));

	for (unsigned int i = 0; i < ASAHI_UNKNOWN_TYPES; i++) {
		u64 of_type = READ_ONCE(unknown->type[i]);

		if (!of_type)
			continue;
		drm_printf(p, " %#x:%llu", i, of_type);
		others -= min(others, of_type);
	}
	if (others)
		drm_printf(p, " others:%llu", others);
	drm_puts(p, "\n");
}
EXPORT_SYMBOL_IF_KUNIT(asahi_unknown_print);

/**
 * asahi_telemetry_unknown() - the firmware has sent something that is not understood
 * @adev: device
 * @source: where it came from
 * @type: its type, any number
 *
 * Any context; one caller at a time for each source. Allocates nothing.
 */
void asahi_telemetry_unknown(struct asahi_device *adev, enum asahi_source source, u32 type)
{
	if (asahi_unknown_count(&adev->telemetry->unknown[source], type))
		drm_info(&adev->drm,
			 "the firmware has sent an unknown %s message of type %#x, counted from now on\n",
			 asahi_telemetry_sources[source], type);
}

static void asahi_readings_set(struct asahi_readings *readings, enum asahi_reading id, u64 value)
{
	readings->value[id] = value;
	readings->known |= BIT(id);
}

static void asahi_readings_forget(struct asahi_readings *readings, enum asahi_reading id)
{
	readings->known &= ~BIT(id);
}

static void asahi_readings_set_temperature(struct asahi_readings *readings, enum asahi_reading id,
					   const struct asahi_fw_stats_msg *msg)
{
	u64 scale = le32_to_cpu(msg->temperature.scale);

	if (scale)
		asahi_readings_set(readings, id, div64_u64(le32_to_cpu(msg->temperature.value) *
							   1000ULL, scale * 64));
	else
		asahi_readings_forget(readings, id);
}

static void asahi_readings_set_sensor(struct asahi_readings *readings,
				      const struct asahi_fw_stats_msg *msg)
{
	u32 sensor = le32_to_cpu(msg->temperature.sensor);

	if (sensor < ASAHI_TELEMETRY_SENSORS)
		asahi_readings_set_temperature(readings, ASAHI_READING_SENSOR + sensor, msg);
}

static void asahi_readings_set_utilisation(struct asahi_readings *readings,
					   const struct asahi_fw_stats_msg *msg)
{
	for (unsigned int i = 0; i < ASAHI_TELEMETRY_UNITS; i++) {
		u32 percent = le32_to_cpu(msg->utilisation.percent[i]);

		if (percent <= 100)
			asahi_readings_set(readings, ASAHI_READING_UTILISATION + i, percent);
		else
			asahi_readings_forget(readings, ASAHI_READING_UTILISATION + i);
	}
}

static void asahi_readings_set_average(struct asahi_readings *readings,
				       const struct asahi_fw_stats_msg *msg)
{
	asahi_readings_set(readings, ASAHI_READING_AVERAGE_POWER,
			   le32_to_cpu(msg->average_power.power) * 1000ULL);
	asahi_readings_set(readings, ASAHI_READING_ACTIVE_TIME,
			   le64_to_cpu(msg->average_power.active) * 10);
}

static void asahi_readings_set_state(struct asahi_readings *readings,
				     const struct asahi_fw_stats_msg *msg)
{
	asahi_readings_set(readings, ASAHI_READING_STATE, le32_to_cpu(msg->power_state.state));
	asahi_readings_set(readings, ASAHI_READING_ACTIVE, !!msg->power_state.active);
	asahi_readings_set(readings, ASAHI_READING_OFF, !!msg->power_state.off);
}

/**
 * asahi_readings_take() - decode a message of the ring of statistics
 * @readings: figures so far; those that the message has are replaced
 * @msg: message, any bytes
 *
 * Any context.
 *
 * Return: false if its type is unknown.
 */
bool asahi_readings_take(struct asahi_readings *readings, const struct asahi_fw_stats_msg *msg)
{
	switch (le32_to_cpu(msg->type)) {
	case ASAHI_FW_STATS_POWER:
		asahi_readings_set(readings, ASAHI_READING_POWER,
				   mul_u64_u32_div(le64_to_cpu(msg->power.power), 1000,
						   ASAHI_TELEMETRY_POWER_UNIT));
		return true;
	case ASAHI_FW_STATS_POWER_ON:
		asahi_readings_set(readings, ASAHI_READING_OFF, 0);
		asahi_readings_set(readings, ASAHI_READING_TIME_OFF,
				   asahi_clock_to_ns(le64_to_cpu(msg->power_switch.ticks)));
		return true;
	case ASAHI_FW_STATS_POWER_OFF:
		asahi_readings_set(readings, ASAHI_READING_OFF, 1);
		asahi_readings_set(readings, ASAHI_READING_TIME_ON,
				   asahi_clock_to_ns(le64_to_cpu(msg->power_switch.ticks)));
		return true;
	case ASAHI_FW_STATS_UTILISATION:
		asahi_readings_set_utilisation(readings, msg);
		return true;
	case ASAHI_FW_STATS_AVERAGE_POWER:
		asahi_readings_set_average(readings, msg);
		return true;
	case ASAHI_FW_STATS_TEMPERATURE:
		asahi_readings_set_temperature(readings, ASAHI_READING_TEMPERATURE, msg);
		return true;
	case ASAHI_FW_STATS_POWER_STATE:
		asahi_readings_set_state(readings, msg);
		return true;
	case ASAHI_FW_STATS_FW_BUSY:
		asahi_readings_set(readings, ASAHI_READING_FW_BUSY, !!msg->fw_busy.busy);
		return true;
	case ASAHI_FW_STATS_STATE_RANGE:
		asahi_readings_set(readings, ASAHI_READING_STATE_LEAST,
				   le32_to_cpu(msg->state_range.least));
		asahi_readings_set(readings, ASAHI_READING_STATE_MOST,
				   le32_to_cpu(msg->state_range.most));
		return true;
	case ASAHI_FW_STATS_SENSOR:
		asahi_readings_set_sensor(readings, msg);
		return true;
	default:
		return false;
	}
}
EXPORT_SYMBOL_IF_KUNIT(asahi_readings_take);

/**
 * asahi_readings_frequency() - at which clock does the GPU run?
 * @readings: figures
 * @mhz: clocks of the performance states, ASAHI_PERF_STATES of them
 * @now: gets the clock in MHz, 0 while the GPU is off
 *
 * Any context.
 *
 * Return: false if the firmware has not told, or has told of a state that there is not.
 */
bool asahi_readings_frequency(const struct asahi_readings *readings, const u32 *mhz, u32 *now)
{
	u64 state = readings->value[ASAHI_READING_STATE];

	if (!(readings->known & BIT(ASAHI_READING_STATE)) || state >= ASAHI_PERF_STATES)
		return false;

	/* The table ends with zeroes, and begins with the state in which there is no clock. */
	if (state && !mhz[state])
		return false;

	*now = readings->value[ASAHI_READING_OFF] ? 0 : mhz[state];
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_readings_frequency);

/**
 * asahi_telemetry_set_frequencies() - say what the performance states are
 * @adev: device that is being brought up
 * @mhz: their clocks as the boot loader has them, ASAHI_PERF_STATES of them
 *
 * Process context, once.
 */
void asahi_telemetry_set_frequencies(struct asahi_device *adev, const __le32 *mhz)
{
	for (unsigned int i = 0; i < ASAHI_PERF_STATES; i++)
		adev->telemetry->mhz[i] = le32_to_cpu(mhz[i]);
}

/**
 * asahi_telemetry_frequency() - at which clock does the GPU run?
 * @adev: device
 * @hz: gets the clock in Hz, 0 while the GPU is off
 *
 * As of the last notification. Process or atomic context, not from interrupts; does not wake
 * the device.
 *
 * Return: false if that is not known.
 */
bool asahi_telemetry_frequency(struct asahi_device *adev, u64 *hz)
{
	struct asahi_telemetry *telemetry = adev->telemetry;
	u32 mhz;

	guard(spinlock)(&telemetry->lock);

	if (!asahi_readings_frequency(&telemetry->readings, telemetry->mhz, &mhz))
		return false;

	*hz = mhz * 1000000ULL;
	return true;
}

/**
 * asahi_telemetry_reading() - look up a figure
 * @adev: device
 * @id: which figure
 * @value: gets it, in the unit that enum asahi_reading names
 *
 * As of the last notification. Process or atomic context, not from interrupts; does not wake
 * the device.
 *
 * Return: false if the firmware has not told.
 */
bool asahi_telemetry_reading(struct asahi_device *adev, enum asahi_reading id, u64 *value)
{
	struct asahi_telemetry *telemetry = adev->telemetry;

	guard(spinlock)(&telemetry->lock);

	*value = telemetry->readings.value[id];
	return telemetry->readings.known & BIT(id);
}

/**
 * asahi_telemetry_message() - take a message of the ring of statistics
 * @adev: device
 * @msg: message, any bytes
 *
 * Process context, the worker that reads the rings. Allocates nothing.
 */
void asahi_telemetry_message(struct asahi_device *adev, const struct asahi_fw_stats_msg *msg)
{
	struct asahi_telemetry *telemetry = adev->telemetry;
	struct asahi_telemetry_message *message;
	u32 type = le32_to_cpu(msg->type);
	bool known;

	scoped_guard(spinlock, &telemetry->lock) {
		known = asahi_readings_take(&telemetry->readings, msg);
		message = &telemetry->message[known ? type : ASAHI_TELEMETRY_UNKNOWN];
		message->count++;
		message->time = ktime_get();
		message->last = *msg;
	}

	if (!known)
		asahi_telemetry_unknown(adev, ASAHI_SOURCE_STATS, type);
}

/* Names end in their unit. */
static const char * const asahi_telemetry_names[ASAHI_READING_SENSOR] = {
	[ASAHI_READING_STATE] = "performance-state",
	[ASAHI_READING_STATE_LEAST] = "least-performance-state",
	[ASAHI_READING_STATE_MOST] = "most-performance-state",
	[ASAHI_READING_ACTIVE] = "active",
	[ASAHI_READING_OFF] = "off",
	[ASAHI_READING_FW_BUSY] = "firmware-busy",
	[ASAHI_READING_UTILISATION] = "utilisation-0-percent",
	[ASAHI_READING_UTILISATION + 1] = "utilisation-1-percent",
	[ASAHI_READING_UTILISATION + 2] = "utilisation-2-percent",
	[ASAHI_READING_UTILISATION + 3] = "utilisation-3-percent",
	[ASAHI_READING_POWER] = "power-uw",
	[ASAHI_READING_AVERAGE_POWER] = "average-power-uw",
	[ASAHI_READING_ACTIVE_TIME] = "active-ms",
	[ASAHI_READING_TIME_OFF] = "last-time-off-ns",
	[ASAHI_READING_TIME_ON] = "last-time-on-ns",
	[ASAHI_READING_TEMPERATURE] = "temperature-mc",
};

static const char * const asahi_telemetry_types[ASAHI_FW_STATS_TYPES] = {
	[ASAHI_FW_STATS_POWER] = "power",
	[ASAHI_FW_STATS_POWER_ON] = "power-on",
	[ASAHI_FW_STATS_POWER_OFF] = "power-off",
	[ASAHI_FW_STATS_UTILISATION] = "utilisation",
	[ASAHI_FW_STATS_AVERAGE_POWER] = "average-power",
	[ASAHI_FW_STATS_TEMPERATURE] = "temperature",
	[ASAHI_FW_STATS_POWER_STATE] = "power-state",
	[ASAHI_FW_STATS_FW_BUSY] = "firmware-busy",
	[ASAHI_FW_STATS_STATE_RANGE] = "state-range",
	[ASAHI_FW_STATS_SENSOR] = "sensor",
};

static void asahi_telemetry_print_readings(const struct asahi_readings *readings,
					   const u32 *mhz, struct drm_printer *p)
{
	unsigned int i;
	u32 now;

	drm_puts(p, "frequencies-mhz");
	for (i = 0; i < ASAHI_PERF_STATES && (!i || mhz[i]); i++)
		drm_printf(p, " %u", mhz[i]);
	drm_puts(p, "\n");

	if (asahi_readings_frequency(readings, mhz, &now))
		drm_printf(p, "frequency-mhz %u\n", now);

	for_each_set_bit(i, &readings->known, ASAHI_READINGS) {
		if (i < ASAHI_READING_SENSOR)
			drm_printf(p, "%s %llu\n", asahi_telemetry_names[i], readings->value[i]);
		else
			drm_printf(p, "sensor-%u-temperature-mc %llu\n", i - ASAHI_READING_SENSOR,
				   readings->value[i]);
	}
}

static void asahi_telemetry_print_message(const struct asahi_telemetry_message *message,
					  const char *name, struct drm_printer *p)
{
	drm_printf(p, "message %s count %llu age-ms %lld words", name, message->count,
		   ktime_ms_delta(ktime_get(), message->time));
	drm_printf(p, " %08x", le32_to_cpu(message->last.type));
	for (unsigned int i = 0; i < ARRAY_SIZE(message->last.raw); i++)
		drm_printf(p, " %08x", le32_to_cpu(message->last.raw[i]));
	drm_puts(p, "\n");
}

static int asahi_telemetry_show(struct seq_file *m, void *unused)
{
	struct drm_debugfs_entry *entry = m->private;
	struct asahi_telemetry *telemetry = to_asahi_device(entry->dev)->telemetry;
	struct drm_printer p = drm_seq_file_printer(m);
	struct asahi_telemetry_message message;
	struct asahi_readings readings;

	scoped_guard(spinlock, &telemetry->lock)
		readings = telemetry->readings;
	asahi_telemetry_print_readings(&readings, telemetry->mhz, &p);

	for (unsigned int i = 0; i < ARRAY_SIZE(telemetry->message); i++) {
		scoped_guard(spinlock, &telemetry->lock)
			message = telemetry->message[i];
		if (message.count)
			asahi_telemetry_print_message(&message,
						      i == ASAHI_TELEMETRY_UNKNOWN ? "unknown" :
						      asahi_telemetry_types[i], &p);
	}

	return 0;
}

static int asahi_telemetry_show_unknown(struct seq_file *m, void *unused)
{
	struct drm_debugfs_entry *entry = m->private;
	struct asahi_device *adev = to_asahi_device(entry->dev);
	struct drm_printer p = drm_seq_file_printer(m);

	for (unsigned int i = 0; i < ASAHI_SOURCES; i++)
		asahi_unknown_print(&adev->telemetry->unknown[i], asahi_telemetry_sources[i], &p);
	return 0;
}

/* The block. */

static int asahi_telemetry_init(struct asahi_device *adev)
{
	adev->telemetry = kzalloc_obj(*adev->telemetry);
	if (!adev->telemetry)
		return -ENOMEM;

	spin_lock_init(&adev->telemetry->lock);
	drm_debugfs_add_file(&adev->drm, "telemetry", asahi_telemetry_show, NULL);
	drm_debugfs_add_file(&adev->drm, "unknown-messages", asahi_telemetry_show_unknown, NULL);
	return 0;
}

/* The firmware has stopped. What it said of the GPU is not true any more. */
static void asahi_telemetry_pre_reset(struct asahi_device *adev)
{
	guard(spinlock)(&adev->telemetry->lock);
	adev->telemetry->readings.known = 0;
}

static void asahi_telemetry_fini(struct asahi_device *adev)
{
	kfree(adev->telemetry);
	adev->telemetry = NULL;
}

const struct asahi_block asahi_block_telemetry = {
	.name = "telemetry",
	.init = asahi_telemetry_init,
	.pre_reset = asahi_telemetry_pre_reset,
	.fini = asahi_telemetry_fini,
};
