// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of the firmware's log.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/test.h>

#include <linux/slab.h>

#include <drm/drm_print.h>

#include "asahi_fwlog.h"
#include "asahi_ring.h"

#define ENTRIES		4
#define LEVEL		ASAHI_FWLOG_ERROR

/**
 * struct fwlog_test - a log and the firmware's side of it
 * @log: log
 * @ring: the driver's side of the ring
 * @rptr: the driver's pointer, as the firmware sees it
 * @wptr: the firmware's pointer
 * @entries: the ring's
 * @payloads: texts, and one behind them that nobody may look at
 * @lines: lines that came
 * @last: the last one
 * @rptr_at_line: what the firmware saw of the driver's pointer while it came
 * @unknown: what was not understood, by source
 */
struct fwlog_test {
	struct asahi_fwlog *log;
	struct asahi_rx_ring ring;
	__le32 rptr;
	__le32 wptr;
	struct asahi_fw_log_msg entries[ENTRIES];
	struct asahi_fw_log_payload payloads[ASAHI_FW_LOG_ENTRIES + 1];
	unsigned int lines;
	struct asahi_fwlog_line last;
	u32 rptr_at_line;
	struct asahi_unknown unknown[ASAHI_SOURCES];
};

static int fwlog_test_init(struct kunit *test)
{
	struct fwlog_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->log = asahi_fwlog_create();
	KUNIT_ASSERT_NOT_NULL(test, t->log);
	t->ring = (struct asahi_rx_ring){
		.rptr = &t->rptr,
		.wptr = &t->wptr,
		.entries = t->entries,
		.entry_size = sizeof(t->entries[0]),
		.count = ENTRIES,
	};
	test->priv = t;
	return 0;
}

static void fwlog_test_exit(struct kunit *test)
{
	struct fwlog_test *t = test->priv;

	asahi_fwlog_destroy(t->log);
}

static void fwlog_write(struct fwlog_test *t, u64 index, const char *text)
{
	u32 wptr = le32_to_cpu(t->wptr);
	struct asahi_fw_log_payload *payload = &t->payloads[index % (ASAHI_FW_LOG_ENTRIES + 1)];

	payload->msg_type = cpu_to_le32(ASAHI_FW_LOG_PAYLOAD);
	payload->timestamp = cpu_to_le64(1000 + index);
	strscpy_pad((char *)payload->msg, text, sizeof(payload->msg));
	t->entries[wptr].msg_type = cpu_to_le32(ASAHI_FW_LOG_MSG);
	t->entries[wptr].msg_index = cpu_to_le64(index);
	t->wptr = cpu_to_le32((wptr + 1) % ENTRIES);
}

static void fwlog_line(const struct asahi_fwlog_line *line, void *priv)
{
	struct fwlog_test *t = priv;

	t->lines++;
	t->last = *line;
	t->rptr_at_line = le32_to_cpu(t->rptr);
}

static void fwlog_unknown(enum asahi_source source, u32 type, void *priv)
{
	struct fwlog_test *t = priv;

	asahi_unknown_count(&t->unknown[source], type);
}

static const struct asahi_fwlog_sink fwlog_sink = {
	.line = fwlog_line,
	.unknown = fwlog_unknown,
};

static int fwlog_read(struct fwlog_test *t)
{
	return asahi_fwlog_read(t->log, &t->ring, LEVEL, t->payloads, &fwlog_sink, t);
}

static void text_is_read_before_the_pointer_moves(struct kunit *test)
{
	struct fwlog_test *t = test->priv;

	KUNIT_EXPECT_EQ(test, fwlog_read(t), 0);
	fwlog_write(t, 7, "seven");
	KUNIT_EXPECT_EQ(test, fwlog_read(t), 1);
	KUNIT_EXPECT_EQ(test, t->lines, 1);
	KUNIT_EXPECT_EQ(test, t->last.time, 1007);
	KUNIT_EXPECT_EQ(test, t->last.level, LEVEL);
	KUNIT_EXPECT_EQ(test, t->last.len, 5);
	KUNIT_EXPECT_MEMEQ(test, t->last.text, "seven", 5);
	/* The firmware could not yet write another text over this one. */
	KUNIT_EXPECT_EQ(test, t->rptr_at_line, 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(t->rptr), 1);
}

static void nonsense_is_skipped(struct kunit *test)
{
	struct fwlog_test *t = test->priv;

	fwlog_write(t, ASAHI_FW_LOG_ENTRIES, "outside");
	KUNIT_EXPECT_EQ(test, fwlog_read(t), 1);
	fwlog_write(t, 1, "no text");
	t->payloads[1].msg_type = 0;
	KUNIT_EXPECT_EQ(test, fwlog_read(t), 1);
	fwlog_write(t, 2, "no message");
	t->entries[2].msg_type = 0;
	KUNIT_EXPECT_EQ(test, fwlog_read(t), 1);
	KUNIT_EXPECT_EQ(test, t->lines, 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(t->rptr), 3);
	KUNIT_EXPECT_EQ(test, t->unknown[ASAHI_SOURCE_LOG].count, 2);
	KUNIT_EXPECT_EQ(test, t->unknown[ASAHI_SOURCE_LOG].type[ASAHI_FW_LOG_MSG], 1);
	KUNIT_EXPECT_EQ(test, t->unknown[ASAHI_SOURCE_LOG].last, 0);
	KUNIT_EXPECT_EQ(test, t->unknown[ASAHI_SOURCE_LOG_TEXT].count, 1);

	t->wptr = cpu_to_le32(ENTRIES);
	KUNIT_EXPECT_EQ(test, fwlog_read(t), -EIO);
}

static void text_without_an_end(struct kunit *test)
{
	struct fwlog_test *t = test->priv;

	fwlog_write(t, 0, "");
	memset(t->payloads[0].msg, 'x', sizeof(t->payloads[0].msg));
	KUNIT_EXPECT_EQ(test, fwlog_read(t), 1);
	KUNIT_EXPECT_EQ(test, t->last.len, sizeof(t->payloads[0].msg));
}

static char *fwlog_text(struct kunit *test, struct fwlog_test *t)
{
	size_t size = ASAHI_FWLOG_LINES * 64;
	char *text = kunit_kzalloc(test, size, GFP_KERNEL);
	struct drm_print_iterator iter = { .data = text, .remain = size - 1 };
	struct drm_printer p = drm_coredump_printer(&iter);

	KUNIT_ASSERT_NOT_NULL(test, text);
	asahi_fwlog_print(t->log, &p);
	return text;
}

static void the_last_lines_are_kept(struct kunit *test)
{
	struct fwlog_test *t = test->priv;
	char line[32];

	fwlog_write(t, 3, "tab\tend");
	KUNIT_EXPECT_EQ(test, fwlog_read(t), 1);
	KUNIT_EXPECT_STREQ(test, fwlog_text(test, t), "  1003 4 tab\\tend\n");

	for (unsigned int i = 0; i < ASAHI_FWLOG_LINES + 2; i++) {
		snprintf(line, sizeof(line), "line %u.", i);
		fwlog_write(t, i % ASAHI_FW_LOG_ENTRIES, line);
		KUNIT_EXPECT_EQ(test, fwlog_read(t), 1);
	}
	KUNIT_EXPECT_NULL(test, strstr(fwlog_text(test, t), "tab"));
	KUNIT_EXPECT_NULL(test, strstr(fwlog_text(test, t), "line 1."));
	KUNIT_EXPECT_NOT_NULL(test, strstr(fwlog_text(test, t), "line 2."));
	snprintf(line, sizeof(line), "line %u.\n", ASAHI_FWLOG_LINES + 1);
	KUNIT_EXPECT_NOT_NULL(test, strstr(fwlog_text(test, t), line));
	KUNIT_EXPECT_NOT_NULL(test, strstr(fwlog_text(test, t), "(3 earlier lines are lost)"));
}

static void a_crash_log_is_cut_off(struct kunit *test)
{
	struct fwlog_test *t = test->priv;
	size_t size = 8 * ASAHI_FWLOG_CRASH_BYTES;
	struct drm_print_iterator iter;
	struct drm_printer p;
	char *data, *text;

	data = kunit_kzalloc(test, 2 * ASAHI_FWLOG_CRASH_BYTES, GFP_KERNEL);
	text = kunit_kzalloc(test, size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, data);
	KUNIT_ASSERT_NOT_NULL(test, text);

	iter = (struct drm_print_iterator){ .data = text, .remain = size - 1 };
	p = drm_coredump_printer(&iter);
	asahi_fwlog_print_crash(t->log, &p);
	asahi_fwlog_keep_crash(t->log, NULL, 100);
	asahi_fwlog_print_crash(t->log, &p);
	KUNIT_EXPECT_STREQ(test, text, "");

	data[1] = 0x42;
	asahi_fwlog_keep_crash(t->log, data, 100);
	asahi_fwlog_print_crash(t->log, &p);
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "  bytes: 2 of 100\n  0000: 00 42 "));
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "  .B\n"));

	memset(data, 0x17, 2 * ASAHI_FWLOG_CRASH_BYTES);
	asahi_fwlog_keep_crash(t->log, data, 2 * ASAHI_FWLOG_CRASH_BYTES);
	text = kunit_kzalloc(test, size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, text);
	iter = (struct drm_print_iterator){ .data = text, .remain = size - 1 };
	asahi_fwlog_print_crash(t->log, &p);
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "  bytes: 32768 of 65536\n"));
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "  7ff0: 17 17"));
	KUNIT_EXPECT_NULL(test, strstr(text, "  8000:"));
}

static struct kunit_case asahi_fwlog_cases[] = {
	KUNIT_CASE(text_is_read_before_the_pointer_moves),
	KUNIT_CASE(nonsense_is_skipped),
	KUNIT_CASE(text_without_an_end),
	KUNIT_CASE(the_last_lines_are_kept),
	KUNIT_CASE(a_crash_log_is_cut_off),
	{ }
};

static struct kunit_suite asahi_fwlog_suite = {
	.name = "asahi_fwlog",
	.init = fwlog_test_init,
	.exit = fwlog_test_exit,
	.test_cases = asahi_fwlog_cases,
};

kunit_test_suite(asahi_fwlog_suite);
