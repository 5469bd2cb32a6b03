// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of printing control streams.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/test.h>

#include <linux/array_size.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include <drm/drm_print.h>

#include "asahi_stream.h"

#define BASE	0x1000000ULL
#define USC	0x2000000ULL
#define BYTES	0x1000

/* More than the largest of all streams needs, so that none is cut off. */
#define TEXT	(512 * 1024)

/**
 * struct stream_test - GPU memory: a stream at BASE, shaders at USC
 * @stream: from BASE on
 * @usc: from USC on
 */
struct stream_test {
	u8 stream[BYTES];
	u8 usc[BYTES];
};

static size_t stream_test_read(void *priv, u64 va, void *buf, size_t len)
{
	struct stream_test *t = priv;
	u8 *from = va >= USC ? t->usc : t->stream;
	u64 offset = va - (va >= USC ? USC : BASE);

	if (va < BASE || offset >= BYTES)
		return 0;

	len = min(len, (size_t)(BYTES - offset));
	memcpy(buf, from + offset, len);
	return len;
}

static char *print_stream(struct kunit *test, struct stream_test *t, bool g14x,
			  void (*print)(const struct asahi_stream *stream, struct drm_printer *p))
{
	struct asahi_stream stream = {
		.read = stream_test_read,
		.priv = t,
		.base = BASE,
		.usc_base = USC,
		.g14x = g14x,
	};
	char *text = kunit_kzalloc(test, TEXT, GFP_KERNEL);
	struct drm_print_iterator iter = { .data = text, .remain = TEXT - 1 };
	struct drm_printer p = drm_coredump_printer(&iter);

	KUNIT_ASSERT_NOT_NULL(test, text);
	print(&stream, &p);
	KUNIT_EXPECT_LT(test, strlen(text), TEXT - 1);
	return text;
}

static char *stream_text(struct kunit *test, struct stream_test *t, bool g14x)
{
	return print_stream(test, t, g14x, asahi_stream_print_compute);
}

static char *vertex_text(struct kunit *test, struct stream_test *t)
{
	return print_stream(test, t, false, asahi_stream_print_vertex);
}

static void words(u8 *at, unsigned int count, const u32 *word)
{
	for (unsigned int i = 0; i < count; i++)
		put_unaligned_le32(word[i], at + 4 * i);
}

static void expect(struct kunit *test, const char *text, const char *part)
{
	KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(text, part), "\"%s\" is missing", part);
}

static const u32 launch[] = { 0x2, 0x40, 64, 2, 1, 32, 1, 1 };
static const u32 terminate[] = { 0x40000000, 0 };

/* A pipeline at USC + 0x40: a uniform, a shader at USC + 0x100, an end. */
static void put_pipeline(struct stream_test *t)
{
	static const u8 usc[] = {
		0x1d, 0, 0x10, 0, 0x78, 0x56, 0x34, 0x12,
		0x0d, 0, 0x00, 0x01, 0x00, 0x00,
		0x88, 0,
	};

	memcpy(t->usc + 0x40, usc, sizeof(usc));
	memset(t->usc + 0x100, 0xab, 0x400);
}

static void prints_blocks_pipelines_and_code(struct kunit *test)
{
	struct stream_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	char *text;

	KUNIT_ASSERT_NOT_NULL(test, t);
	words(t->stream, 8, launch);
	words(t->stream + 32, 8, launch);
	words(t->stream + 64, 2, terminate);
	put_pipeline(t);

	text = stream_text(test, t, false);
	expect(test, text, "0x001000000: launch 00000002 00000040 00000040 00000002 00000001");
	expect(test, text, "0x001000020: launch");
	expect(test, text, "0x001000040: terminate\n  pipeline 0x2000040:\n");
	expect(test, text, "0x002000040: 1d 00 10 00 78 56 34 12\n");
	expect(test, text, "0x002000048: 0d 00 00 01 00 00\n");
	expect(test, text, "0x00200004e: 88 00\n  shader 0x2000100:\n");
	expect(test, text, "ab ab ab ab");
	/* Both launches have the same one. */
	KUNIT_EXPECT_PTR_EQ(test, strstr(strstr(text, "pipeline ") + 1, "pipeline "), (char *)NULL);
}

static void knows_the_longer_launch(struct kunit *test)
{
	struct stream_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	words(t->stream, 8, launch);
	words(t->stream + 40, 2, terminate);
	expect(test, stream_text(test, t, true), "0x001000028: terminate");
}

static void follows_links_and_returns(struct kunit *test)
{
	static const u32 call[] = { 0x30000000, BASE + 0x200 };
	static const u32 jump[] = { 0x20000000, BASE + 0x400 };
	static const u32 ret[] = { 0x80000000, 0 };
	static const u32 barrier[] = { 0x60000008 };
	struct stream_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	char *text;

	KUNIT_ASSERT_NOT_NULL(test, t);
	words(t->stream, 2, call);
	words(t->stream + 8, 2, jump);
	words(t->stream + 0x200, 1, barrier);
	words(t->stream + 0x204, 2, ret);
	words(t->stream + 0x400, 2, terminate);

	text = stream_text(test, t, false);
	expect(test, text, "0x001000000: link 30000000 01000200\n"
	       "    0x001000200: barrier 60000008\n"
	       "    0x001000204: return\n    0x001000008: link 20000000 01000400\n"
	       "    0x001000400: terminate\n");
}

static void ends_in_missing_memory(struct kunit *test)
{
	struct stream_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	u32 away[] = { 0x2, 0x10000, 64, 2, 1, 32, 1, 1 };
	char *text;

	KUNIT_ASSERT_NOT_NULL(test, t);
	/* A pipeline outside of memory, and a launch that is cut off. */
	words(t->stream, 8, away);
	for (unsigned int at = 32; at < BYTES; at += 4)
		put_unaligned_le32(0x60000000, t->stream + at);
	put_unaligned_le32(0, t->stream + 36);

	text = stream_text(test, t, false);
	expect(test, text, "0x002010000: cannot be read");

	memset(t->stream, 0xff, sizeof(t->stream));
	expect(test, stream_text(test, t, false), "unknown ffffffff");
}

static void hostile_streams_end(struct kunit *test)
{
	static const u32 self[] = { 0x20000000, BASE };
	static const u32 deeper[] = { 0x30000000, BASE };
	struct stream_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	u32 many[] = { 0x2, 0, 64, 2, 1, 32, 1, 1 };

	KUNIT_ASSERT_NOT_NULL(test, t);
	words(t->stream, 2, self);
	expect(test, stream_text(test, t, false), "and more");
	words(t->stream, 2, deeper);
	expect(test, stream_text(test, t, false), "links nest too deep");

	/* As many launches as there is room for, pipelines without an end. */
	for (unsigned int i = 0; i < BYTES / sizeof(many); i++) {
		many[1] = i << 6;
		words(t->stream + i * sizeof(many), 8, many);
	}
	for (unsigned int i = 0; i + 6 <= BYTES; i += 6) {
		t->usc[i] = 0x0d;
		put_unaligned_le32(i, t->usc + i + 2);
	}
	stream_text(test, t, false);
}

/* A record at BASE + 0x800 with a cull word and a fragment shader at USC + 0x80. */
static void put_record(struct stream_test *t, u32 header, unsigned int words_before)
{
	u32 record[40] = { header };

	record[words_before + 1] = 0x80;
	words(t->stream + 0x800, ARRAY_SIZE(record), record);
	memcpy(t->usc + 0x80, "\x58\xf3\x02\x00\x0d\x00\x00\x02\x00\x00\x88\x00", 12);
	memset(t->usc + 0x200, 0xcd, 0x400);
}

static void prints_draws_records_and_shaders(struct kunit *test)
{
	static const u32 stream[] = {
		/* a barrier, state of primitive processing: six words */
		0x20000008, 0x00000600, BASE + 0x800,
		/* the counts of a vertex shader, its words, outputs, control; padding */
		0x4000002e, 0x1012, 0x40, 0x808, 0, 0,
		/* a draw, one with indices, one from memory, the end */
		0x61c00600, 3, 1, 0,
		0x61f30600, 0x1000, 3, 1, 0, 64,
		0x64000600, 0x12, 0x3456,
		0xc0000000,
	};
	struct stream_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	char *text;

	KUNIT_ASSERT_NOT_NULL(test, t);
	words(t->stream, ARRAY_SIZE(stream), stream);
	put_pipeline(t);
	/* cull and the shader */
	put_record(t, 0xa00000, 2);

	text = vertex_text(test, t);
	expect(test, text, "  vertex stream 0x1000000:\n    0x001000000: barrier 20000008\n"
	       "    0x001000004: ppp 00000600 01000800\n"
	       "    0x00100000c: state 4000002e 00001012 00000040 00000808 00000000\n"
	       "    0x001000024: draw 61c00600 00000003 00000001 00000000\n"
	       "    0x001000034: draw 61f30600 00001000 00000003 00000001 00000000 00000040\n"
	       "    0x00100004c: draw 64000600 00000012 00003456\n"
	       "    0x001000058: terminate\n"
	       "  record 0x1000800:\n"
	       "    0x001000800: 00a00000 00000000 00000000 00000080 00000000 00000000\n");
	expect(test, text, "  pipeline 0x2000040:\n    0x002000040: 1d 00 10 00 78 56 34 12\n");
	expect(test, text, "  pipeline 0x2000080:\n    0x002000080: 58 f3 02 00\n"
	       "    0x002000084: 0d 00 00 02 00 00\n");
	expect(test, text, "  shader 0x2000100:\n");
	expect(test, text, "  shader 0x2000200:\n");
}

/* The shader's words are behind those of all viewports, however many there are. */
static void finds_the_fragment_shader(struct kunit *test)
{
	static const u32 stream[] = { 0x00002800, BASE + 0x800, 0xc0000000 };
	struct stream_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	words(t->stream, ARRAY_SIZE(stream), stream);
	/* four viewports with their clips, W clamp, and the shader */
	put_record(t, 0x813c00, 1 + 4 * 2 + 1 + 4 * 6 + 1);
	expect(test, vertex_text(test, t), "  pipeline 0x2000080:\n");

	/* a record that ends before them */
	words(t->stream, 1, (const u32[]){ 0x00000200 });
	KUNIT_EXPECT_NULL(test, strstr(vertex_text(test, t), "pipeline"));
}

static void follows_links_of_renders(struct kunit *test)
{
	static const u32 call[] = { 0x90000000, BASE + 0x200, 0xc0000000 };
	static const u32 back[] = { 0x28000000 };
	struct stream_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	words(t->stream, 3, call);
	words(t->stream + 0x200, 1, back);
	expect(test, vertex_text(test, t), "0x001000000: link 90000000 01000200\n"
	       "    0x001000200: barrier 28000000\n    0x001000008: terminate\n");
}

static void hostile_renders_end(struct kunit *test)
{
	static const u32 self[] = { 0x80000000, BASE };
	static const u32 deeper[] = { 0x90000000, BASE };
	struct stream_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	u32 many[] = { 0x0000ff00, BASE };

	KUNIT_ASSERT_NOT_NULL(test, t);
	words(t->stream, 2, self);
	expect(test, vertex_text(test, t), "and more");
	words(t->stream, 2, deeper);
	expect(test, vertex_text(test, t), "links nest too deep");

	/* bits that announce words nobody knows */
	words(t->stream, 1, (const u32[]){ 0x40000010 });
	expect(test, vertex_text(test, t), "unknown 40000010");
	words(t->stream, 1, (const u32[]){ 0x62000000 });
	expect(test, vertex_text(test, t), "unknown 62000000");
	words(t->stream, 1, (const u32[]){ 0xa0000000 });
	expect(test, vertex_text(test, t), "unknown a0000000");
	/* a return without a call */
	words(t->stream, 1, (const u32[]){ 0x28000000 });
	vertex_text(test, t);

	/* As many records as there is room for, each as long as can be, and missing ones. */
	for (unsigned int i = 0; i < BYTES / sizeof(many); i++) {
		many[1] = BASE + i * 8;
		words(t->stream + i * sizeof(many), 2, many);
	}
	expect(test, vertex_text(test, t), "  record 0x1000008:\n");
	many[1] = 0x10;
	words(t->stream, 2, many);
	expect(test, vertex_text(test, t), "  record 0x10:\n    0x000000010: cannot be read\n");
}

static struct kunit_case asahi_stream_cases[] = {
	KUNIT_CASE(prints_blocks_pipelines_and_code),
	KUNIT_CASE(knows_the_longer_launch),
	KUNIT_CASE(follows_links_and_returns),
	KUNIT_CASE(ends_in_missing_memory),
	KUNIT_CASE(hostile_streams_end),
	KUNIT_CASE(prints_draws_records_and_shaders),
	KUNIT_CASE(finds_the_fragment_shader),
	KUNIT_CASE(follows_links_of_renders),
	KUNIT_CASE(hostile_renders_end),
	{ }
};

static struct kunit_suite asahi_stream_suite = {
	.name = "asahi_stream",
	.test_cases = asahi_stream_cases,
};

kunit_test_suite(asahi_stream_suite);
