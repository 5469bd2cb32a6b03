// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The walk with the rows of streams.def, for what agx_streams.def has no use of
 * yet. agx_stream.c is compiled again for it.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agx_stream.h"

#define BASE	0x1000

static uint8_t memory[256];
static struct agx_writer w;
static struct agx_stream_source source;
static struct agx_stream walk;

static int read_memory(void *ctx, uint64_t va, void *buf, size_t len)
{
	if (va < BASE || va - BASE + len > sizeof(memory))
		return -EFAULT;
	memcpy(buf, memory + (va - BASE), len);
	return 0;
}

static int setup(void **state)
{
	memset(memory, 0, sizeof(memory));
	agx_writer_init(&w, memory, sizeof(memory));
	source = (struct agx_stream_source){
		.read = read_memory,
		.max_packets = 100,
	};
	return 0;
}

static void expect(enum agx_packet_id id, uint64_t offset, unsigned int left)
{
	struct agx_stream_packet packet;
	int err = agx_stream_next(&walk, &packet);

	if (err < 0)
		fail_msg("%s: %s", walk.error.what, walk.error.text);
	assert_int_equal(err, 1);
	assert_int_equal(packet.id, id);
	assert_int_equal(packet.va, BASE + offset);
	assert_int_equal(packet.left, left);
}

static void expect_end(void)
{
	struct agx_stream_packet packet;

	assert_int_equal(agx_stream_next(&walk, &packet), 0);
}

static void expect_error(enum agx_stream_reason reason, uint64_t offset,
			 const char *text)
{
	struct agx_stream_packet packet;

	assert_int_equal(agx_stream_next(&walk, &packet), -EINVAL);
	assert_int_equal(walk.error.reason, reason);
	assert_int_equal(walk.error.va, BASE + offset);
	assert_string_equal(walk.error.text, text);
	expect_end();
}

static void test_padding(void **state)
{
	agx_put(&w, cdm_barrier);
	w.used = 8;
	agx_put(&w, cdm_barrier, .unk_24 = true);
	agx_put(&w, cdm_local_size);
	agx_put(&w, cdm_barrier, .unk_26 = true);
	agx_put(&w, cdm_indirect);
	w.used = 40;
	agx_put(&w, cdm_stream_terminate);

	agx_stream_init(&walk, AGX_STREAM_padded, &source, BASE);
	expect(AGX_PACKET_cdm_barrier, 0, 0);
	expect(AGX_PACKET_cdm_barrier, 8, 1);
	expect(AGX_PACKET_cdm_local_size, 12, 0);
	expect(AGX_PACKET_cdm_barrier, 24, 1);
	expect(AGX_PACKET_cdm_indirect, 28, 0);
	expect(AGX_PACKET_cdm_stream_terminate, 40, 0);
	expect_end();

	/* padding is behind blocks, not before the first one */
	agx_stream_init(&walk, AGX_STREAM_padded, &source, BASE + 4);
	expect_error(AGX_STREAM_MISALIGNED, 4, "not aligned to 8 bytes");
}

/* All that may follow does, in the order of the rows. */
static void test_follow(void **state)
{
	source.features = AGX_STREAM_G14X;
	agx_put(&w, cdm_barrier, .unk_24 = true, .unk_26 = true,
		.returns = true);
	agx_put(&w, cdm_local_size);
	agx_put(&w, cdm_indirect);
	agx_put(&w, cdm_launch_g14x);
	agx_put(&w, shader_counts);
	w.used = 40;
	agx_put(&w, cdm_stream_terminate);

	agx_stream_init(&walk, AGX_STREAM_padded, &source, BASE);
	expect(AGX_PACKET_cdm_barrier, 0, 4);
	expect(AGX_PACKET_cdm_local_size, 4, 3);
	expect(AGX_PACKET_cdm_indirect, 16, 2);
	expect(AGX_PACKET_cdm_launch_g14x, 24, 1);
	expect(AGX_PACKET_shader_counts, 32, 0);
	expect(AGX_PACKET_cdm_stream_terminate, 40, 0);
	expect_end();
}

static void test_tagless(void **state)
{
	agx_put(&w, cdm_local_size, .x = UINT32_MAX, .y = 2);
	agx_put(&w, sampler);
	agx_put(&w, shader_counts);
	agx_stream_init(&walk, AGX_STREAM_tagless, &source, BASE);
	expect(AGX_PACKET_cdm_local_size, 0, 2);
	expect(AGX_PACKET_sampler, 12, 1);
	expect(AGX_PACKET_shader_counts, 20, 0);
	expect_end();

	w.used = 0;
	agx_put(&w, cdm_local_size, .y = 4);
	agx_stream_init(&walk, AGX_STREAM_tagless, &source, BASE);
	expect_error(AGX_STREAM_UNKNOWN, 0,
		     "y is 4, and nobody knows what follows");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_padding, setup),
		cmocka_unit_test_setup(test_follow, setup),
		cmocka_unit_test_setup(test_tagless, setup),
	};

	return cmocka_run_group_tests_name("stream rows", tests, NULL, NULL);
}
