/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The firmware's log: reading it, and keeping its last lines and its last words.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_FWLOG_H
#define ASAHI_FWLOG_H

#include <linux/types.h>

#include "asahi_fw_channels.h"
#include "asahi_telemetry.h"

struct asahi_fwlog;
struct asahi_rx_ring;
struct drm_printer;

/** ASAHI_FWLOG_LINES - lines that are kept */
#define ASAHI_FWLOG_LINES 128
/** ASAHI_FWLOG_CRASH_BYTES - bytes of a crash log that are kept */
#define ASAHI_FWLOG_CRASH_BYTES 0x8000

/**
 * struct asahi_fwlog_line - a line of the firmware's log
 * @time: the firmware's time, in ticks of the system's counter
 * @number: the firmware's number of the line
 * @level: ASAHI_FWLOG_DEBUG to ASAHI_FWLOG_CRITICAL
 * @len: bytes of @text
 * @text: what the firmware says: any bytes, without a zero at the end
 */
struct asahi_fwlog_line {
	u64 time;
	u32 number;
	u8 level;
	u8 len;
	char text[sizeof_field(struct asahi_fw_log_payload, msg)];
};

/**
 * enum asahi_fwlog_level - the firmware's levels
 * @ASAHI_FWLOG_DEBUG: least important
 * @ASAHI_FWLOG_INFO: more so
 * @ASAHI_FWLOG_NOTICE: more so
 * @ASAHI_FWLOG_WARNING: more so
 * @ASAHI_FWLOG_ERROR: more so
 * @ASAHI_FWLOG_CRITICAL: most important
 */
enum asahi_fwlog_level {
	ASAHI_FWLOG_DEBUG,
	ASAHI_FWLOG_INFO,
	ASAHI_FWLOG_NOTICE,
	ASAHI_FWLOG_WARNING,
	ASAHI_FWLOG_ERROR,
	ASAHI_FWLOG_CRITICAL,
};

/**
 * struct asahi_fwlog_sink - who gets the log while it is read
 *
 * @priv is the reader's.
 */
struct asahi_fwlog_sink {
	/** @line: a line, valid during the call */
	void (*line)(const struct asahi_fwlog_line *line, void *priv);
	/** @unknown: an entry, or a text, of an unknown type */
	void (*unknown)(enum asahi_source source, u32 type, void *priv);
};

struct asahi_fwlog *asahi_fwlog_create(void);
void asahi_fwlog_destroy(struct asahi_fwlog *log);
int asahi_fwlog_read(struct asahi_fwlog *log, struct asahi_rx_ring *ring, unsigned int level,
		     const struct asahi_fw_log_payload *payloads,
		     const struct asahi_fwlog_sink *sink, void *priv);
void asahi_fwlog_print(struct asahi_fwlog *log, struct drm_printer *p);
void asahi_fwlog_keep_crash(struct asahi_fwlog *log, const void *data, size_t size);
void asahi_fwlog_print_crash(struct asahi_fwlog *log, struct drm_printer *p);

#endif
