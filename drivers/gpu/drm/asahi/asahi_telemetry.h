/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Telemetry: what the firmware tells of itself, understood or not.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_TELEMETRY_H
#define ASAHI_TELEMETRY_H

#include <linux/types.h>

struct asahi_block;
struct asahi_device;
struct asahi_fw_stats_msg;
struct drm_printer;

/**
 * enum asahi_source - where messages of the firmware come from
 * @ASAHI_SOURCE_EVENT: ring of events
 * @ASAHI_SOURCE_LOG: rings of the log
 * @ASAHI_SOURCE_LOG_TEXT: texts that entries of the log refer to
 * @ASAHI_SOURCE_KTRACE: ring of the firmware's trace
 * @ASAHI_SOURCE_STATS: ring of statistics
 * @ASAHI_SOURCE_MAILBOX: mailbox; the type of a message is its endpoint
 * @ASAHI_SOURCES: number of them
 */
enum asahi_source {
	ASAHI_SOURCE_EVENT,
	ASAHI_SOURCE_LOG,
	ASAHI_SOURCE_LOG_TEXT,
	ASAHI_SOURCE_KTRACE,
	ASAHI_SOURCE_STATS,
	ASAHI_SOURCE_MAILBOX,
	ASAHI_SOURCES,
};

/** ASAHI_UNKNOWN_TYPES - types of messages that are counted one by one */
#define ASAHI_UNKNOWN_TYPES 64

/**
 * struct asahi_unknown - messages of one source that the driver does not understand
 * @count: how many there were
 * @last: type of the last one
 * @type: how many there were of each of the first types
 */
struct asahi_unknown {
	u64 count;
	u32 last;
	u64 type[ASAHI_UNKNOWN_TYPES];
};

/** ASAHI_TELEMETRY_UNITS - figures of utilisation in a message */
#define ASAHI_TELEMETRY_UNITS 4
/** ASAHI_TELEMETRY_SENSORS - sensors whose temperature is kept */
#define ASAHI_TELEMETRY_SENSORS 8

/**
 * enum asahi_reading - figures that the firmware tells and references explain
 * @ASAHI_READING_STATE: performance state
 * @ASAHI_READING_STATE_LEAST: least state that the firmware allows itself
 * @ASAHI_READING_STATE_MOST: highest one
 * @ASAHI_READING_ACTIVE: 1 while the GPU works
 * @ASAHI_READING_OFF: 1 while the firmware has switched the GPU off
 * @ASAHI_READING_FW_BUSY: 1 while the firmware works
 * @ASAHI_READING_UTILISATION: percent, of ASAHI_TELEMETRY_UNITS units; nobody knows which
 * @ASAHI_READING_POWER: microwatts
 * @ASAHI_READING_AVERAGE_POWER: microwatts
 * @ASAHI_READING_ACTIVE_TIME: milliseconds that the average is of
 * @ASAHI_READING_TIME_OFF: nanoseconds that the GPU was off before it was switched on
 * @ASAHI_READING_TIME_ON: nanoseconds that it was on before it was switched off
 * @ASAHI_READING_TEMPERATURE: thousandths of a degree Celsius
 * @ASAHI_READING_SENSOR: likewise, of ASAHI_TELEMETRY_SENSORS sensors
 * @ASAHI_READINGS: number of them
 */
enum asahi_reading {
	ASAHI_READING_STATE,
	ASAHI_READING_STATE_LEAST,
	ASAHI_READING_STATE_MOST,
	ASAHI_READING_ACTIVE,
	ASAHI_READING_OFF,
	ASAHI_READING_FW_BUSY,
	ASAHI_READING_UTILISATION,
	ASAHI_READING_POWER = ASAHI_READING_UTILISATION + ASAHI_TELEMETRY_UNITS,
	ASAHI_READING_AVERAGE_POWER,
	ASAHI_READING_ACTIVE_TIME,
	ASAHI_READING_TIME_OFF,
	ASAHI_READING_TIME_ON,
	ASAHI_READING_TEMPERATURE,
	ASAHI_READING_SENSOR,
	ASAHI_READINGS = ASAHI_READING_SENSOR + ASAHI_TELEMETRY_SENSORS,
};

/**
 * struct asahi_readings - the latest figures
 * @known: bit for each figure that there is
 * @value: by enum asahi_reading
 */
struct asahi_readings {
	unsigned long known;
	u64 value[ASAHI_READINGS];
};

extern const struct asahi_block asahi_block_telemetry;

bool asahi_unknown_count(struct asahi_unknown *unknown, u32 type);
void asahi_unknown_print(const struct asahi_unknown *unknown, const char *name,
			 struct drm_printer *p);

bool asahi_readings_take(struct asahi_readings *readings, const struct asahi_fw_stats_msg *msg);
bool asahi_readings_frequency(const struct asahi_readings *readings, const u32 *mhz, u32 *now);

void asahi_telemetry_set_frequencies(struct asahi_device *adev, const __le32 *mhz);
bool asahi_telemetry_frequency(struct asahi_device *adev, u64 *hz);
bool asahi_telemetry_reading(struct asahi_device *adev, enum asahi_reading id, u64 *value);
void asahi_telemetry_message(struct asahi_device *adev, const struct asahi_fw_stats_msg *msg);
void asahi_telemetry_unknown(struct asahi_device *adev, enum asahi_source source, u32 type);

#endif
