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

extern const struct asahi_block asahi_block_telemetry;

bool asahi_unknown_count(struct asahi_unknown *unknown, u32 type);
void asahi_unknown_print(const struct asahi_unknown *unknown, const char *name,
			 struct drm_printer *p);

void asahi_telemetry_unknown(struct asahi_device *adev, enum asahi_source source, u32 type);

#endif
