// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The walk through streams: good ones, each way to be a bad one, and noise.
 * "stream" has a stream at its start and records from RECORDS on.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agx_stream.h"

#define BASE		0x1500000000ULL
#define USC_BASE	0x1100000000ULL
#define MAX_PACKETS	1000
#define RECORDS		2048

/* Two pieces of memory: a stream and USC words */
static struct {
	uint8_t stream[4096];
	uint8_t usc[1024];
	unsigned int reads;
} mem;

static struct agx_stream_source source;
static struct agx_writer stream, words, records;
static struct agx_stream walk;
static struct agx_stream_packet packet;

static bool copy(void *buf, size_t len, const uint8_t *from, size_t size,
		 uint64_t offset)
{
	if (offset >= size || len > size - offset)
		return false;
	memcpy(buf, from + offset, len);
	return true;
}

static int read_memory(void *ctx, uint64_t va, void *buf, size_t len)
{
	mem.reads++;
	return copy(buf, len, mem.stream, sizeof(mem.stream), va - BASE) ||
	       copy(buf, len, mem.usc, sizeof(mem.usc), va - USC_BASE) ?
		       0 : -EFAULT;
}

static int setup(void **state)
{
	memset(&mem, 0, sizeof(mem));
	source = (struct agx_stream_source){
		.read = read_memory,
		.max_packets = MAX_PACKETS,
		.usc_base = USC_BASE,
	};
	agx_writer_init(&stream, mem.stream, sizeof(mem.stream));
	agx_writer_init(&words, mem.usc + 64, sizeof(mem.usc) - 64);
	agx_writer_init(&records, mem.stream + RECORDS,
			sizeof(mem.stream) - RECORDS);
	agx_stream_init(&walk, AGX_STREAM_cdm, &source, BASE);
	return 0;
}

static void expect_packet(enum agx_packet_id id, uint64_t va, unsigned int left)
{
	int err = agx_stream_next(&walk, &packet);

	if (err < 0)
		fail_msg("%s: %s", walk.error.what, walk.error.text);
	assert_int_equal(err, 1);
	assert_int_equal(packet.id, id);
	assert_int_equal(packet.va, va);
	assert_int_equal(packet.left, left);
	assert_int_equal(packet.status, 0);
}

#define EXPECT(name, offset, left) \
	expect_packet(AGX_PACKET_##name, BASE + (offset), left)
#define EXPECT_WORD(name, offset) \
	expect_packet(AGX_PACKET_##name, USC_BASE + (offset), 0)

static void expect_end(void)
{
	assert_int_equal(agx_stream_next(&walk, &packet), 0);
	assert_int_equal(agx_stream_next(&walk, &packet), 0);
}

static void expect_error(int err, enum agx_stream_reason reason, uint64_t va,
			 const char *what, const char *text)
{
	assert_int_equal(agx_stream_next(&walk, &packet), err);
	assert_int_equal(walk.error.reason, reason);
	assert_int_equal(walk.error.va, va);
	assert_string_equal(walk.error.what, what);
	assert_string_equal(walk.error.text, text);
}

/* Which packets a block has */

static void test_direct(void **state)
{
	agx_put(&stream, cdm_launch, .mode = AGX_CDM_MODE_DIRECT,
		.pipeline = 64);
	agx_put(&stream, cdm_global_size, .x = 100);
	agx_put(&stream, cdm_local_size, .x = 32);
	agx_put(&stream, cdm_stream_terminate);

	EXPECT(cdm_launch, 0, 2);
	assert_int_equal(packet.values.cdm_launch.pipeline, 64);
	assert_memory_equal(packet.bytes, mem.stream, 8);
	EXPECT(cdm_global_size, 8, 1);
	assert_int_equal(packet.values.cdm_global_size.x, 100);
	assert_int_equal(walk.block, BASE);
	EXPECT(cdm_local_size, 20, 0);
	EXPECT(cdm_stream_terminate, 32, 0);
	assert_int_equal(walk.block, BASE + 32);
	assert_false(walk.jumped);
	expect_end();
}

static void test_indirect(void **state)
{
	agx_put(&stream, cdm_launch, .mode = AGX_CDM_MODE_INDIRECT_GLOBAL);
	agx_put(&stream, cdm_indirect, .address = 0x1234567890);
	agx_put(&stream, cdm_local_size);
	agx_put(&stream, cdm_launch, .mode = AGX_CDM_MODE_INDIRECT_LOCAL);
	agx_put(&stream, cdm_indirect);
	agx_put(&stream, cdm_stream_terminate);

	EXPECT(cdm_launch, 0, 2);
	EXPECT(cdm_indirect, 8, 1);
	assert_int_equal(packet.values.cdm_indirect.address, 0x1234567890);
	EXPECT(cdm_local_size, 16, 0);
	EXPECT(cdm_launch, 28, 1);
	EXPECT(cdm_indirect, 36, 0);
	EXPECT(cdm_stream_terminate, 44, 0);
	expect_end();
}

static void test_g14x(void **state)
{
	source.features = AGX_STREAM_G14X;
	agx_put(&stream, cdm_launch);
	agx_put(&stream, cdm_launch_g14x);
	agx_put(&stream, cdm_global_size);
	agx_put(&stream, cdm_local_size);
	agx_put(&stream, cdm_stream_terminate);

	EXPECT(cdm_launch, 0, 3);
	EXPECT(cdm_launch_g14x, 8, 2);
	EXPECT(cdm_global_size, 16, 1);
	EXPECT(cdm_local_size, 28, 0);
	EXPECT(cdm_stream_terminate, 40, 0);
	expect_end();
}

static void test_words(void **state)
{
	agx_put(&words, usc_uniform, .start = 4, .buffer = 64);
	agx_put(&words, usc_uniform_high, .size = 2);
	agx_put(&words, usc_texture);
	agx_put(&words, usc_sampler);
	agx_put(&words, usc_shared);
	agx_put(&words, usc_shader, .code = 0x89abcdef);
	agx_put(&words, usc_registers);
	agx_put(&words, usc_fragment_properties);
	agx_put(&words, usc_preshader, .code = 7);
	agx_stream_init(&walk, AGX_STREAM_usc, &source, USC_BASE + 64);

	EXPECT_WORD(usc_uniform, 64);
	assert_int_equal(packet.kind, AGX_STREAM_usc);
	EXPECT_WORD(usc_uniform_high, 72);
	EXPECT_WORD(usc_texture, 80);
	EXPECT_WORD(usc_sampler, 88);
	EXPECT_WORD(usc_shared, 96);
	EXPECT_WORD(usc_shader, 100);
	assert_int_equal(packet.values.usc_shader.code, 0x89abcdef);
	EXPECT_WORD(usc_registers, 106);
	EXPECT_WORD(usc_fragment_properties, 110);
	EXPECT_WORD(usc_preshader, 114);
	expect_end();
}

/* Two bytes at the end of memory are a whole word. */
static void test_last_word(void **state)
{
	mem.usc[sizeof(mem.usc) - 2] = AGX_USC_TAG_NO_PRESHADER;
	agx_stream_init(&walk, AGX_STREAM_usc, &source,
			USC_BASE + sizeof(mem.usc) - 2);
	EXPECT_WORD(usc_no_preshader, sizeof(mem.usc) - 2);
	expect_end();
}

/* Where streams go */

static void test_jumps(void **state)
{
	agx_put(&stream, cdm_stream_link, .target = BASE + 64,
		.with_return = true);
	agx_put(&stream, cdm_stream_link, .target = BASE + 128);
	stream.used = 64;
	agx_put(&stream, cdm_barrier);
	agx_put(&stream, cdm_stream_link, .target = BASE + 96,
		.with_return = true);
	agx_put(&stream, cdm_stream_return);
	stream.used = 96;
	agx_put(&stream, cdm_barrier, .returns = true);
	stream.used = 128;
	agx_put(&stream, cdm_stream_terminate);

	EXPECT(cdm_stream_link, 0, 0);
	assert_false(walk.jumped);
	EXPECT(cdm_barrier, 64, 0);
	assert_true(walk.jumped);
	EXPECT(cdm_stream_link, 68, 0);
	EXPECT(cdm_barrier, 96, 0);
	EXPECT(cdm_stream_return, 76, 0);
	EXPECT(cdm_stream_link, 8, 0);
	EXPECT(cdm_stream_terminate, 128, 0);
	expect_end();
}

static void put_calls(unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		agx_put(&stream, cdm_stream_link, .with_return = true,
			.target = BASE + (i + 1) * 8);
}

static void test_depth(void **state)
{
	put_calls(AGX_STREAM_MAX_CALLS);
	agx_put(&stream, cdm_stream_terminate);
	for (unsigned int i = 0; i < AGX_STREAM_MAX_CALLS; i++)
		EXPECT(cdm_stream_link, i * 8, 0);
	EXPECT(cdm_stream_terminate, AGX_STREAM_MAX_CALLS * 8, 0);
	expect_end();
}

static void test_too_deep(void **state)
{
	put_calls(AGX_STREAM_MAX_CALLS + 1);
	for (unsigned int i = 0; i <= AGX_STREAM_MAX_CALLS; i++)
		EXPECT(cdm_stream_link, i * 8, 0);
	expect_error(-EINVAL, AGX_STREAM_TOO_DEEP,
		     BASE + AGX_STREAM_MAX_CALLS * 8, "CDM Stream Link",
		     "deeper than 16");
	expect_end();
}

static void test_no_call(void **state)
{
	agx_put(&stream, cdm_barrier);
	agx_put(&stream, cdm_stream_return);
	EXPECT(cdm_barrier, 0, 0);
	EXPECT(cdm_stream_return, 4, 0);
	expect_error(-EINVAL, AGX_STREAM_NO_CALL, BASE + 4, "CDM Stream Return",
		     "without a call");
	expect_end();
}

static void test_endless(void **state)
{
	agx_put(&stream, cdm_stream_link, .target = BASE);
	for (unsigned int i = 0; i < MAX_PACKETS; i++)
		EXPECT(cdm_stream_link, 0, 0);
	expect_error(-EINVAL, AGX_STREAM_TOO_LONG, BASE, "CDM stream",
		     "more than 1000");
	expect_end();
}

/* Pipelines */

static void put_launch(uint32_t pipeline)
{
	agx_put(&stream, cdm_launch, .pipeline = pipeline);
	agx_put(&stream, cdm_global_size);
	agx_put(&stream, cdm_local_size);
}

static void test_pipeline(void **state)
{
	source.pipelines = true;
	put_launch(64);
	agx_put(&stream, cdm_stream_terminate);
	agx_put(&words, usc_shader);
	agx_put(&words, usc_no_preshader);

	EXPECT(cdm_launch, 0, 2);
	EXPECT(cdm_global_size, 8, 1);
	EXPECT(cdm_local_size, 20, 0);
	assert_int_equal(packet.kind, AGX_STREAM_cdm);
	EXPECT_WORD(usc_shader, 64);
	assert_int_equal(packet.kind, AGX_STREAM_usc);
	EXPECT_WORD(usc_no_preshader, 70);
	EXPECT(cdm_stream_terminate, 32, 0);
	assert_int_equal(packet.kind, AGX_STREAM_cdm);
	expect_end();
}

/* What is wrong with one does not hide the blocks behind it. */
static void test_bad_pipeline(void **state)
{
	source.pipelines = true;
	put_launch(64);
	put_launch(0x10000);
	put_launch(128);
	agx_put(&stream, cdm_stream_terminate);
	agx_put(&words, usc_shader);
	mem.usc[70] = 0x77;
	words.used = 64;
	agx_put(&words, usc_preshader, .code = 1);
	mem.usc[129] = 1;

	EXPECT(cdm_launch, 0, 2);
	EXPECT(cdm_global_size, 8, 1);
	EXPECT(cdm_local_size, 20, 0);
	EXPECT_WORD(usc_shader, 64);
	expect_error(-EINVAL, AGX_STREAM_UNKNOWN, USC_BASE + 70, "USC word",
		     "no packet has tag 0x77 (0x77)");
	EXPECT(cdm_launch, 32, 2);
	EXPECT(cdm_global_size, 40, 1);
	EXPECT(cdm_local_size, 52, 0);
	expect_error(-EFAULT, AGX_STREAM_UNREADABLE, USC_BASE + 0x10000,
		     "USC word", "cannot be read");
	EXPECT(cdm_launch, 64, 2);
	EXPECT(cdm_global_size, 72, 1);
	EXPECT(cdm_local_size, 84, 0);
	expect_error(-EINVAL, AGX_STREAM_BAD_CONSTANT, USC_BASE + 128,
		     "USC Preshader", "unk_8: 0xc08001 must be 0xc08000");
	EXPECT(cdm_stream_terminate, 96, 0);
	expect_end();
}

static void test_endless_pipeline(void **state)
{
	source.pipelines = true;
	source.max_packets = 10;
	put_launch(64);
	for (unsigned int i = 0; i < 100; i++)
		agx_put(&words, usc_shared);
	EXPECT(cdm_launch, 0, 2);
	EXPECT(cdm_global_size, 8, 1);
	EXPECT(cdm_local_size, 20, 0);
	for (unsigned int i = 0; i < 7; i++)
		EXPECT_WORD(usc_shared, 64 + i * 4);
	expect_error(-EINVAL, AGX_STREAM_TOO_LONG, USC_BASE + 92, "USC words",
		     "more than 10");
	expect_end();
}

/* Rendering */

static int setup_vdm(void **state)
{
	setup(state);
	source.records = true;
	source.pipelines = true;
	agx_stream_init(&walk, AGX_STREAM_vdm, &source, BASE);
	return 0;
}

/* What is written follows in the order of Mesa's writers. */
static void test_vdm(void **state)
{
	agx_put(&stream, vdm_barrier, .usc_cache_invalidate = true);
	agx_put(&stream, vdm_state, .restart_index_present = true,
		.counts_present = true, .pipeline_present = true,
		.outputs_present = true, .control_present = true);
	agx_put(&stream, vdm_restart_index);
	agx_put(&stream, vdm_counts);
	agx_put(&stream, vdm_pipeline, .pipeline = 64);
	agx_put(&stream, vdm_outputs);
	agx_put(&stream, vdm_control);
	agx_put(&stream, vdm_index_list, .count_present = true,
		.instances_present = true, .start_present = true);
	agx_put(&stream, vdm_count, .count = 3);
	agx_put(&stream, vdm_instances);
	agx_put(&stream, vdm_start, .start = -1);
	agx_put(&stream, vdm_stream_terminate);
	agx_put(&words, usc_shader);
	agx_put(&words, usc_no_preshader);

	EXPECT(vdm_barrier, 0, 0);
	EXPECT(vdm_state, 4, 5);
	EXPECT(vdm_restart_index, 8, 4);
	EXPECT(vdm_counts, 12, 3);
	EXPECT(vdm_pipeline, 16, 2);
	EXPECT(vdm_outputs, 20, 1);
	EXPECT(vdm_control, 24, 0);
	assert_int_equal(packet.level, 0);
	EXPECT_WORD(usc_shader, 64);
	assert_int_equal(packet.level, 1);
	EXPECT_WORD(usc_no_preshader, 70);
	EXPECT(vdm_index_list, 28, 3);
	EXPECT(vdm_count, 32, 2);
	EXPECT(vdm_instances, 36, 1);
	EXPECT(vdm_start, 40, 0);
	assert_int_equal(packet.values.vdm_start.start, -1);
	EXPECT(vdm_stream_terminate, 44, 0);
	expect_end();
}

/* State has a multiple of 8 bytes, wherever it begins. */
static void test_vdm_padding(void **state)
{
	source.pipelines = false;
	agx_put(&stream, vdm_barrier);
	for (unsigned int i = 0; i < 2; i++) {
		agx_put(&stream, vdm_state, .counts_present = true,
			.pipeline_present = true);
		agx_put(&stream, vdm_counts);
		agx_put(&stream, vdm_pipeline);
		stream.used += 4;
	}
	agx_put(&stream, vdm_state, .outputs_present = true);
	agx_put(&stream, vdm_outputs);
	agx_put(&stream, vdm_stream_terminate);

	EXPECT(vdm_barrier, 0, 0);
	for (unsigned int i = 0; i < 2; i++) {
		EXPECT(vdm_state, 4 + 16 * i, 2);
		EXPECT(vdm_counts, 8 + 16 * i, 1);
		EXPECT(vdm_pipeline, 12 + 16 * i, 0);
	}
	EXPECT(vdm_state, 36, 1);
	EXPECT(vdm_outputs, 40, 0);
	EXPECT(vdm_stream_terminate, 44, 0);
	expect_end();
}

static void test_indexed(void **state)
{
	agx_put(&stream, vdm_index_list, .index_buffer_present = true,
		.index_buffer_size_present = true, .indirect_present = true,
		.index_buffer_high = 0x12, .restart = true);
	agx_put(&stream, vdm_index_buffer, .low = 0x34567890);
	agx_put(&stream, vdm_indirect, .address = 0x1234567890);
	agx_put(&stream, vdm_index_buffer_size, .bytes = 64);
	agx_put(&stream, vdm_stream_link, .target = BASE + 64,
		.with_return = true);
	agx_put(&stream, vdm_stream_terminate);
	stream.used = 64;
	agx_put(&stream, vdm_barrier, .returns = true);

	EXPECT(vdm_index_list, 0, 3);
	EXPECT(vdm_index_buffer, 4, 2);
	EXPECT(vdm_indirect, 8, 1);
	assert_int_equal(packet.values.vdm_indirect.address, 0x1234567890);
	EXPECT(vdm_index_buffer_size, 16, 0);
	EXPECT(vdm_stream_link, 20, 0);
	EXPECT(vdm_barrier, 64, 0);
	EXPECT(vdm_stream_terminate, 28, 0);
	expect_end();
}

#define EXPECT_RECORD(name, offset, left) \
	EXPECT(name, RECORDS + (offset), left)

static void put_record(unsigned int count, unsigned int bytes)
{
	agx_put(&stream, vdm_ppp_state, .address = BASE + RECORDS,
		.words = bytes / 4);
	agx_put(&stream, vdm_stream_terminate);
	agx_put(&records, ppp_header, .fragment_control = true,
		.back_face = true, .region_clip = true, .viewport = true,
		.viewport_count = count, .cull = true, .fragment_shader = true,
		.varying_2 = true);
	agx_put(&records, ppp_fragment_control);
	agx_put(&records, ppp_back_face);
	for (unsigned int i = 0; i < count; i++)
		agx_put(&records, ppp_region_clip);
	agx_put(&records, ppp_viewport_control);
	for (unsigned int i = 0; i < count; i++)
		agx_put(&records, ppp_viewport);
	agx_put(&records, ppp_cull);
	agx_put(&records, ppp_fragment_shader, .pipeline = 64);
	agx_put(&records, ppp_varying_2);
	agx_put(&words, usc_shader);
	agx_put(&words, usc_no_preshader);
	assert_int_equal(records.error, 0);
}

static unsigned int record_bytes(unsigned int count)
{
	return 44 + 32 * count;
}

static void test_record(void **state)
{
	for (unsigned int count = 1; count <= 16; count += 15) {
		unsigned int at = 12, left = 5 + 2 * count;

		setup_vdm(state);
		put_record(count, record_bytes(count));
		EXPECT(vdm_ppp_state, 0, 0);
		EXPECT_RECORD(ppp_header, 0, left + 1);
		assert_int_equal(packet.kind, AGX_STREAM_ppp);
		assert_int_equal(packet.level, 1);
		EXPECT_RECORD(ppp_fragment_control, 4, left);
		EXPECT_RECORD(ppp_back_face, 8, --left);
		for (unsigned int i = 0; i < count; i++, at += 8)
			EXPECT_RECORD(ppp_region_clip, at, --left);
		EXPECT_RECORD(ppp_viewport_control, at, --left);
		at += 4;
		for (unsigned int i = 0; i < count; i++, at += 24)
			EXPECT_RECORD(ppp_viewport, at, --left);
		EXPECT_RECORD(ppp_cull, at, --left);
		EXPECT_RECORD(ppp_fragment_shader, at + 4, --left);
		EXPECT_RECORD(ppp_varying_2, at + 20, --left);
		assert_int_equal(left, 0);
		EXPECT_WORD(usc_shader, 64);
		assert_int_equal(packet.level, 2);
		EXPECT_WORD(usc_no_preshader, 70);
		EXPECT(vdm_stream_terminate, 8, 0);
		assert_int_equal(packet.level, 0);
		expect_end();
	}
}

/* Who does not ask for records sees where they are. */
static void test_no_records(void **state)
{
	source.records = false;
	put_record(1, record_bytes(1));
	EXPECT(vdm_ppp_state, 0, 0);
	EXPECT(vdm_stream_terminate, 8, 0);
	expect_end();
}

/* The words of a record are those of its header, and the stream goes on. */
static void test_record_size(void **state)
{
	put_record(1, record_bytes(1) + 4);
	EXPECT(vdm_ppp_state, 0, 0);
	for (unsigned int i = 0; i < 9; i++)
		assert_int_equal(agx_stream_next(&walk, &packet), 1);
	EXPECT_WORD(usc_shader, 64);
	EXPECT_WORD(usc_no_preshader, 70);
	expect_error(-EINVAL, AGX_STREAM_BAD_SIZE,
		     BASE + RECORDS + record_bytes(1), "PPP record",
		     "ends here, but 4 bytes are left of it");
	EXPECT(vdm_stream_terminate, 8, 0);
	expect_end();

	setup_vdm(state);
	put_record(1, record_bytes(1) - 4);
	EXPECT(vdm_ppp_state, 0, 0);
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(agx_stream_next(&walk, &packet), 1);
	expect_error(-EINVAL, AGX_STREAM_BAD_SIZE,
		     BASE + RECORDS + record_bytes(1) - 8, "PPP Varying 2",
		     "8 bytes, but 4 are left of the record");
	EXPECT(vdm_stream_terminate, 8, 0);
	expect_end();

	setup_vdm(state);
	put_record(1, 0);
	EXPECT(vdm_ppp_state, 0, 0);
	expect_error(-EINVAL, AGX_STREAM_BAD_SIZE, BASE + RECORDS, "PPP Header",
		     "4 bytes, but 0 are left of the record");
	EXPECT(vdm_stream_terminate, 8, 0);
	expect_end();
}

/* An error in the words of a record's shader ends no more than them. */
static void test_record_bad_pipeline(void **state)
{
	put_record(1, record_bytes(1));
	mem.usc[64] = 0x77;
	EXPECT(vdm_ppp_state, 0, 0);
	for (unsigned int i = 0; i < 9; i++)
		assert_int_equal(agx_stream_next(&walk, &packet), 1);
	expect_error(-EINVAL, AGX_STREAM_UNKNOWN, USC_BASE + 64, "USC word",
		     "no packet has tag 0x77 (0x77)");
	EXPECT(vdm_stream_terminate, 8, 0);
	expect_end();
}

static void test_print_record(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *fp = open_memstream(&text, &size);

	assert_non_null(fp);
	agx_put(&stream, vdm_ppp_state, .address = BASE + RECORDS, .words = 2);
	agx_put(&stream, vdm_stream_terminate);
	agx_put(&records, ppp_header, .w_clamp = true);
	agx_put(&records, ppp_w_clamp, .w_clamp = 0.5);
	mem.stream[RECORDS + 3] |= 0x80;
	assert_int_equal(agx_stream_print(fp, AGX_STREAM_vdm, &source, BASE), 1);
	fclose(fp);
	assert_non_null(strstr(text,
		"0x1500000000: VDM PPP state\n"
		"  address: 0x1500000800\n"
		"  words: 2\n"
		"    0x1500000800: PPP Header\n"
		"      fragment_control: false\n"));
	assert_non_null(strstr(text,
		"      reserved bits: not zero: 31\n"
		"    0x1500000804: PPP W clamp\n"
		"      w_clamp: 0.5\n"
		"0x1500000008: VDM Stream Terminate\n"));
	free(text);
}

/* What leaves no way to go on */

static void test_unknown(void **state)
{
	for (uint32_t tag = 5; tag < 8; tag++) {
		const uint32_t word = tag << 29 | 0x1234;
		char text[64];

		setup(state);
		memcpy(mem.stream, &word, sizeof(word));
		snprintf(text, sizeof(text), "no packet has tag %#x (%#010x)",
			 tag, word);
		expect_error(-EINVAL, AGX_STREAM_UNKNOWN, BASE, "CDM block",
			     text);
		expect_end();
	}
}

static void test_unknown_mode(void **state)
{
	mem.stream[3] = 3 << 3;
	expect_error(-EINVAL, AGX_STREAM_UNKNOWN, BASE, "CDM Launch",
		     "mode is 3, and nobody knows what follows");
	expect_end();
}

static void test_misaligned(void **state)
{
	agx_put(&stream, cdm_stream_link, .target = BASE + 66);
	EXPECT(cdm_stream_link, 0, 0);
	expect_error(-EINVAL, AGX_STREAM_MISALIGNED, BASE + 66, "CDM block",
		     "not aligned to 4 bytes");
	expect_end();

	agx_stream_init(&walk, AGX_STREAM_cdm, &source, BASE + 1);
	expect_error(-EINVAL, AGX_STREAM_MISALIGNED, BASE + 1, "CDM block",
		     "not aligned to 4 bytes");
}

static void test_unreadable(void **state)
{
	agx_put(&stream, cdm_stream_link, .target = 0x4000);
	EXPECT(cdm_stream_link, 0, 0);
	expect_error(-EFAULT, AGX_STREAM_UNREADABLE, 0x4000, "CDM block",
		     "cannot be read");
	expect_end();

	/* the block is there, what follows is not */
	setup(state);
	stream.used = sizeof(mem.stream) - 16;
	agx_put(&stream, cdm_launch);
	agx_stream_init(&walk, AGX_STREAM_cdm, &source,
			BASE + sizeof(mem.stream) - 16);
	EXPECT(cdm_launch, sizeof(mem.stream) - 16, 2);
	expect_error(-EFAULT, AGX_STREAM_UNREADABLE,
		     BASE + sizeof(mem.stream) - 8, "CDM Global size",
		     "cannot be read");
	expect_end();
}

static void test_bad_constant(void **state)
{
	source.features = AGX_STREAM_G14X;
	agx_put(&stream, cdm_launch);
	EXPECT(cdm_launch, 0, 3);
	expect_error(-EINVAL, AGX_STREAM_BAD_CONSTANT, BASE + 8,
		     "CDM Launch, G14X extension", "unk_62: 0 must be 0x1");
	expect_end();
}

/* What nobody knows, but the walk does not depend on */
static void test_reserved_bits(void **state)
{
	agx_put(&stream, cdm_barrier);
	agx_put(&stream, cdm_stream_terminate);
	mem.stream[3] |= 2;
	assert_int_equal(agx_stream_next(&walk, &packet), 1);
	assert_int_equal(packet.id, AGX_PACKET_cdm_barrier);
	assert_int_equal(packet.status, -EBADMSG);
	assert_string_equal(packet.error.packet, "CDM Barrier");
	assert_string_equal(packet.error.field, "reserved bits");
	assert_string_equal(packet.error.text, "not zero: 25");
	EXPECT(cdm_stream_terminate, 4, 0);
	expect_end();
}

static void test_print(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *fp = open_memstream(&text, &size);

	source.pipelines = true;
	put_launch(64);
	agx_put(&stream, cdm_barrier, .returns = true);
	agx_put(&words, usc_registers);
	words.map[words.used] = 0x77;
	mem.stream[35] |= 2;

	assert_non_null(fp);
	/* a word, reserved bits, a return */
	assert_int_equal(agx_stream_print(fp, AGX_STREAM_cdm, &source, BASE), 3);
	fclose(fp);
	assert_string_equal(text,
		"0x1500000000: CDM Launch\n"
		"  counts:\n"
		"    uniform_registers: 64\n"
		"    texture_registers: 8\n"
		"    sampler_registers: 0\n"
		"    preshader_registers: 16\n"
		"  mode: direct\n"
		"  pipeline: 0x40\n"
		"0x1500000008: CDM Global size\n"
		"  x: 1\n"
		"  y: 1\n"
		"  z: 1\n"
		"0x1500000014: CDM Local size\n"
		"  x: 1\n"
		"  y: 1\n"
		"  z: 1\n"
		"    0x1100000040: USC Registers\n"
		"      register_count: 256\n"
		"      unk_13: false\n"
		"      spill_size: 0x0\n"
		"      unk_24: 0x0\n"
		"0x1100000044: USC word: no packet has tag 0x77 (0x77)\n"
		"0x1500000020: CDM Barrier\n"
		"  unk_0: 0x7\n"
		"  usc_cache_invalidate: true\n"
		"  unk_4: 0xffff\n"
		"  unk_24: false\n"
		"  unk_26: false\n"
		"  returns: true\n"
		"  reserved bits: not zero: 25\n"
		"0x1500000020: CDM Barrier: without a call\n");
	free(text);
}

/* Noise */

static uint64_t random_state = 88172645463325252;

static uint32_t random_u32(void)
{
	/* xorshift64 */
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state >> 16;
}

static void noise(uint8_t *p, size_t size)
{
	for (size_t i = 0; i < size; i++)
		p[i] = random_u32();
}

/* Streams of which most is right, so that the walk gets far */
static void put_random_blocks(void)
{
	while (!stream.error) {
		switch (random_u32() % 5) {
		case 0:
			put_launch(random_u32() % 1024 & ~63);
			break;
		case 1:
			agx_put(&stream, cdm_barrier,
				.returns = random_u32() % 2);
			break;
		case 2:
			agx_put(&stream, cdm_stream_return);
			break;
		default:
			agx_put(&stream, cdm_stream_link,
				.target = BASE + (random_u32() % 4096 & ~3),
				.with_return = random_u32() % 4);
		}
	}
}

static void put_random_draws(void)
{
	while (!stream.error && stream.used < RECORDS) {
		switch (random_u32() % 4) {
		case 0:
			agx_put(&stream, vdm_ppp_state,
				.words = 1 + random_u32() % 4,
				.address = BASE + RECORDS +
					   (random_u32() % 1024 & ~3));
			break;
		case 1:
			agx_put(&stream, vdm_state, .pipeline_present = true);
			agx_put(&stream, vdm_pipeline,
				.pipeline = random_u32() % 1024 & ~63);
			break;
		case 2:
			agx_put(&stream, vdm_index_list, .start_present = true);
			agx_put(&stream, vdm_start);
			break;
		default:
			agx_put(&stream, vdm_stream_link,
				.target = BASE + (random_u32() % RECORDS & ~3));
		}
	}
	while (!records.error)
		agx_put(&records, ppp_header, .cull = random_u32() % 2,
			.fragment_shader = random_u32() % 2);
}

static void put_random_words(void)
{
	while (!words.error) {
		agx_put(&words, usc_shader, .code = random_u32());
		if (random_u32() % 4)
			agx_put(&words, usc_no_preshader);
	}
}

static void random_memory(unsigned int round, enum agx_stream_kind kind)
{
	setup(NULL);
	source.records = random_u32() % 2;
	source.pipelines = random_u32() % 2;
	source.features = random_u32() % 2;
	if (round / 4 % 4 == 0) {
		noise(mem.stream, sizeof(mem.stream));
		noise(mem.usc, sizeof(mem.usc));
		return;
	}
	if (kind == AGX_STREAM_vdm)
		put_random_draws();
	else
		put_random_blocks();
	put_random_words();
	for (unsigned int i = random_u32() % 16; i; i--) {
		noise(&mem.stream[random_u32() % sizeof(mem.stream)], 1);
		noise(&mem.usc[random_u32() % sizeof(mem.usc)], 1);
	}
}

/*
 * Whatever is there: the walk ends, reads no more than it should, tells nothing
 * that it cannot know, and prints it.
 */
static void test_noise(void **state)
{
	FILE *fp = fopen("/dev/null", "w");
	uint64_t packets = 0, errors = 0;

	assert_non_null(fp);
	for (unsigned int round = 0; round < 4000; round++) {
		enum agx_stream_kind kind = round % AGX_STREAM_COUNT;
		int err;

		random_memory(round, kind);
		agx_stream_init(&walk, kind, &source,
				kind == AGX_STREAM_usc ? USC_BASE + 64 : BASE);
		while ((err = agx_stream_next(&walk, &packet))) {
			assert_true(packet.id < AGX_PACKET_COUNT);
			if (err > 0)
				packets++;
			else
				errors++;
			if (err < 0)
				assert_true(walk.error.reason != AGX_STREAM_OK);
		}
		assert_true(walk.packets <= MAX_PACKETS + 1);
		assert_true(mem.reads <= 2 * (MAX_PACKETS + 1));
		agx_stream_print(fp, kind, &source, BASE);
	}
	fclose(fp);
	/* it went into them, and found something */
	assert_true(packets > 30000);
	assert_true(errors > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_direct, setup),
		cmocka_unit_test_setup(test_indirect, setup),
		cmocka_unit_test_setup(test_g14x, setup),
		cmocka_unit_test_setup(test_words, setup),
		cmocka_unit_test_setup(test_last_word, setup),
		cmocka_unit_test_setup(test_jumps, setup),
		cmocka_unit_test_setup(test_depth, setup),
		cmocka_unit_test_setup(test_too_deep, setup),
		cmocka_unit_test_setup(test_no_call, setup),
		cmocka_unit_test_setup(test_endless, setup),
		cmocka_unit_test_setup(test_pipeline, setup),
		cmocka_unit_test_setup(test_bad_pipeline, setup),
		cmocka_unit_test_setup(test_endless_pipeline, setup),
		cmocka_unit_test_setup(test_vdm, setup_vdm),
		cmocka_unit_test_setup(test_vdm_padding, setup_vdm),
		cmocka_unit_test_setup(test_indexed, setup_vdm),
		cmocka_unit_test_setup(test_record, setup_vdm),
		cmocka_unit_test_setup(test_no_records, setup_vdm),
		cmocka_unit_test_setup(test_record_size, setup_vdm),
		cmocka_unit_test_setup(test_record_bad_pipeline, setup_vdm),
		cmocka_unit_test_setup(test_print_record, setup_vdm),
		cmocka_unit_test_setup(test_unknown, setup),
		cmocka_unit_test_setup(test_unknown_mode, setup),
		cmocka_unit_test_setup(test_misaligned, setup),
		cmocka_unit_test_setup(test_unreadable, setup),
		cmocka_unit_test_setup(test_bad_constant, setup),
		cmocka_unit_test_setup(test_reserved_bits, setup),
		cmocka_unit_test_setup(test_print, setup),
		cmocka_unit_test(test_noise),
	};

	return cmocka_run_group_tests_name("streams", tests, NULL, NULL);
}
