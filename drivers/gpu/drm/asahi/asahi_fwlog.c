// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The firmware's log: reading it, and keeping its last lines and its last words.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/visibility.h>

#include <linux/cleanup.h>
#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <drm/drm_print.h>

#include "asahi_fwlog.h"
#include "asahi_ring.h"

/**
 * struct asahi_fwlog - the last lines of the firmware's log
 * @count: lines that were ever kept
 * @line: the last ones; number n is in place n modulo the size
 * @crash_size: bytes that the latest crash log had
 * @crash: its beginning
 */
struct asahi_fwlog {
	/**
	 * @lock: protects all the rest; taken where fences are signalled, so
	 * nothing is allocated under it
	 */
	struct mutex lock;
	u64 count;
	struct asahi_fwlog_line line[ASAHI_FWLOG_LINES];
	size_t crash_size;
	u8 crash[ASAHI_FWLOG_CRASH_BYTES];
};

/**
 * asahi_fwlog_create() - allocate memory for the last lines
 *
 * Process context.
 *
 * Return: a log without lines, or NULL without memory.
 */
struct asahi_fwlog *asahi_fwlog_create(void)
{
	struct asahi_fwlog *log = kvzalloc_obj(*log);

	if (log)
		mutex_init(&log->lock);

	return log;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_fwlog_create);

/**
 * asahi_fwlog_destroy() - free a log
 * @log: log that nobody uses any more, or NULL
 *
 * Process context.
 */
void asahi_fwlog_destroy(struct asahi_fwlog *log)
{
	if (!log)
		return;

	mutex_destroy(&log->lock);
	kvfree(log);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_fwlog_destroy);

static void asahi_fwlog_keep(struct asahi_fwlog *log, const struct asahi_fwlog_line *line)
{
	guard(mutex)(&log->lock);
	log->line[log->count++ % ASAHI_FWLOG_LINES] = *line;
}

static void asahi_fwlog_fill(const struct asahi_fw_log_payload *from, unsigned int level,
			     struct asahi_fwlog_line *line)
{
	line->time = le64_to_cpu(from->timestamp);
	line->number = le32_to_cpu(from->seq_no);
	line->level = level;
	line->len = strnlen((const char *)from->msg, sizeof(from->msg));
	memcpy(line->text, from->msg, sizeof(line->text));
}

/* The firmware may change its memory at any time: it is read once. */
static void asahi_fwlog_take(struct asahi_fwlog *log, const struct asahi_fw_log_msg *msg,
			     unsigned int level, const struct asahi_fw_log_payload *payloads,
			     const struct asahi_fwlog_sink *sink, void *priv)
{
	u64 index = le64_to_cpu(msg->msg_index);
	struct asahi_fw_log_payload payload;
	struct asahi_fwlog_line line;

	/* An entry of the right type with a text that there is not is unknown, too. */
	if (msg->msg_type != cpu_to_le32(ASAHI_FW_LOG_MSG) || index >= ASAHI_FW_LOG_ENTRIES) {
		sink->unknown(ASAHI_SOURCE_LOG, le32_to_cpu(msg->msg_type), priv);
		return;
	}

	memcpy(&payload, &payloads[index], sizeof(payload));
	if (payload.msg_type != cpu_to_le32(ASAHI_FW_LOG_PAYLOAD)) {
		sink->unknown(ASAHI_SOURCE_LOG_TEXT, le32_to_cpu(payload.msg_type), priv);
		return;
	}

	asahi_fwlog_fill(&payload, level, &line);
	asahi_fwlog_keep(log, &line);
	sink->line(&line, priv);
}

/**
 * asahi_fwlog_read() - take a line of the firmware's log
 * @log: where it is kept
 * @ring: ring of one level; the caller is its only reader
 * @level: which one
 * @payloads: texts of that level, ASAHI_FW_LOG_ENTRIES of them
 * @sink: gets the line, or the type of what makes no sense
 * @priv: passed on to @sink
 *
 * The firmware may write a text again as soon as it sees the read pointer
 * behind the entry that refers to it, so the pointer moves when the text has
 * been kept and @sink has returned. An entry that makes no sense is skipped.
 *
 * Process context; allocates nothing.
 *
 * Return: 1 if there was an entry, 0 if not, -EIO if the firmware's pointer is
 * outside the ring.
 */
int asahi_fwlog_read(struct asahi_fwlog *log, struct asahi_rx_ring *ring, unsigned int level,
		     const struct asahi_fw_log_payload *payloads,
		     const struct asahi_fwlog_sink *sink, void *priv)
{
	struct asahi_fw_log_msg msg;
	int ret;

	ret = asahi_rx_ring_peek(ring, &msg);
	if (ret <= 0)
		return ret;

	asahi_fwlog_take(log, &msg, level, payloads, sink, priv);
	asahi_rx_ring_pop(ring);
	return 1;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_fwlog_read);

/* The number of the oldest line that is still there, and of the next one. */
static u64 asahi_fwlog_bounds(struct asahi_fwlog *log, u64 *end)
{
	guard(mutex)(&log->lock);

	*end = log->count;
	return log->count > ASAHI_FWLOG_LINES ? log->count - ASAHI_FWLOG_LINES : 0;
}

/* False if it has been overwritten meanwhile. */
static bool asahi_fwlog_get(struct asahi_fwlog *log, u64 n, struct asahi_fwlog_line *line)
{
	guard(mutex)(&log->lock);

	*line = log->line[n % ASAHI_FWLOG_LINES];
	return log->count - n <= ASAHI_FWLOG_LINES;
}

/**
 * asahi_fwlog_print() - print the lines that were kept, the oldest first
 * @log: log
 * @p: where to; may allocate, as the log is not locked meanwhile
 *
 * Each line has the firmware's time in ticks, its level, and its text with all
 * unprintable bytes escaped. Process context, not on the way to a fence.
 */
void asahi_fwlog_print(struct asahi_fwlog *log, struct drm_printer *p)
{
	struct asahi_fwlog_line line;
	u64 n, end;

	n = asahi_fwlog_bounds(log, &end);
	if (n)
		drm_printf(p, "  (%llu earlier lines are lost)\n", n);

	for (; n < end; n++)
		if (asahi_fwlog_get(log, n, &line))
			drm_printf(p, "  %llu %u %*pE\n", line.time, line.level, line.len,
				   line.text);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_fwlog_print);

/**
 * asahi_fwlog_keep_crash() - keep what the firmware says of its crash
 * @log: log
 * @data: crash log as RTKit hands it on, or NULL if it could not be read
 * @size: bytes of @data
 *
 * Process context; allocates nothing.
 */
void asahi_fwlog_keep_crash(struct asahi_fwlog *log, const void *data, size_t size)
{
	guard(mutex)(&log->lock);

	log->crash_size = data ? size : 0;
	if (data)
		memcpy(log->crash, data, min(size, sizeof(log->crash)));
}
EXPORT_SYMBOL_IF_KUNIT(asahi_fwlog_keep_crash);

/* How much of the crash log is worth printing, and how much there was. */
static size_t asahi_fwlog_crash_kept(struct asahi_fwlog *log, size_t *size)
{
	size_t kept;

	guard(mutex)(&log->lock);

	*size = log->crash_size;
	kept = min(log->crash_size, sizeof(log->crash));
	/* The rest of the buffer that the firmware asked for is often empty. */
	while (kept && !log->crash[kept - 1])
		kept--;

	return kept;
}

static void asahi_fwlog_get_crash(struct asahi_fwlog *log, size_t offset, u8 *data, size_t size)
{
	guard(mutex)(&log->lock);
	memcpy(data, log->crash + offset, size);
}

/**
 * asahi_fwlog_print_crash() - print the beginning of the latest crash log
 * @log: log
 * @p: where to; may allocate, as the log is not locked meanwhile
 *
 * As bytes and as characters; prints nothing if there was no crash. Process
 * context, not on the way to a fence.
 */
void asahi_fwlog_print_crash(struct asahi_fwlog *log, struct drm_printer *p)
{
	size_t size, kept = asahi_fwlog_crash_kept(log, &size);

	if (!kept)
		return;

	drm_printf(p, "  bytes: %zu of %zu\n", kept, size);
	for (size_t i = 0; i < kept; i += 16) {
		char line[16 * 3 + 1 + 16 + 2];
		size_t len = min(kept - i, 16);
		u8 data[16];

		asahi_fwlog_get_crash(log, i, data, len);
		hex_dump_to_buffer(data, len, 16, 1, line, sizeof(line), true);
		drm_printf(p, "  %04zx: %s\n", i, line);
	}
}
EXPORT_SYMBOL_IF_KUNIT(asahi_fwlog_print_crash);
