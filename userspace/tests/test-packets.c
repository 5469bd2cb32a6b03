// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agx_packets.h"

static uint64_t random_state = 1;

static uint64_t random_u64(void)
{
	/* xorshift64 */
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Encodings worked out by hand from the layouts in Mesa's cmdbuf.xml. */
static void test_known_bytes(void **state)
{
	const struct agx_cdm_launch launch = {
		.uniform_register_count = 65,
		.texture_register_count = 8,
		.sampler_register_count = AGX_SAMPLER_STATES_4_COMPACT,
		.preshader_register_count = 16,
		.mode = AGX_CDM_MODE_INDIRECT_GLOBAL,
		.pipeline = 0x12345640,
	};
	const uint8_t launch_bytes[8] = {
		0x14, 0x12, 0x00, 0x08, 0x40, 0x56, 0x34, 0x12,
	};
	const struct agx_usc_uniform uniform = {
		.start = 6, .size = 64, .buffer = 0x1500123458,
	};
	/* tag 1d, start 6, size 0 (all), address / 4 from bit 26 */
	const uint64_t uniform_word =
		0x1d | 6 << 8 | (UINT64_C(0x1500123458) >> 2) << 26;
	const struct agx_cdm_stream_link link = {
		.target = 0x1234567890, .with_return = true,
	};
	const uint8_t link_bytes[8] = {
		0x12, 0x00, 0x00, 0x30, 0x90, 0x78, 0x56, 0x34,
	};
	const struct agx_cdm_indirect indirect = { .address = 0x1234567890 };
	const uint8_t indirect_bytes[8] = {
		0x12, 0x00, 0x00, 0x00, 0x90, 0x78, 0x56, 0x34,
	};
	const struct agx_usc_shader shader = { .code = 0x89abcdef };
	const uint8_t shader_bytes[6] = { 0x0d, 0, 0xef, 0xcd, 0xab, 0x89 };
	const uint8_t preshader_bytes[8] = { 0x38, 0x00, 0x80, 0xc0, 1, 2, 3, 4 };
	const struct agx_usc_preshader preshader = { .code = 0x04030201 };
	uint8_t out[AGX_PACKET_MAX_BYTES];
	uint64_t word;

	assert_int_equal(agx_packet_pack(AGX_PACKET_cdm_launch, out, &launch,
					 NULL), 0);
	assert_memory_equal(out, launch_bytes, sizeof(launch_bytes));
	assert_int_equal(agx_packet_pack(AGX_PACKET_usc_uniform, out, &uniform,
					 NULL), 0);
	memcpy(&word, out, sizeof(word));
	assert_int_equal(word, uniform_word);
	assert_int_equal(agx_packet_pack(AGX_PACKET_cdm_stream_link, out, &link,
					 NULL), 0);
	assert_memory_equal(out, link_bytes, sizeof(link_bytes));
	assert_int_equal(agx_packet_pack(AGX_PACKET_cdm_indirect, out,
					 &indirect, NULL), 0);
	assert_memory_equal(out, indirect_bytes, sizeof(indirect_bytes));
	assert_int_equal(agx_packet_pack(AGX_PACKET_usc_shader, out, &shader,
					 NULL), 0);
	assert_memory_equal(out, shader_bytes, sizeof(shader_bytes));
	assert_int_equal(agx_packet_pack(AGX_PACKET_usc_preshader, out,
					 &preshader, NULL), 0);
	assert_memory_equal(out, preshader_bytes, sizeof(preshader_bytes));
}

static void test_defaults(void **state)
{
	const struct agx_cdm_barrier barrier = agx_cdm_barrier_default();
	const struct agx_usc_shared shared = agx_usc_shared_default();
	uint8_t out[AGX_PACKET_MAX_BYTES];
	uint32_t word;

	/* bits 0 to 19, block type 3 */
	assert_int_equal(agx_packet_pack(AGX_PACKET_cdm_barrier, out, &barrier,
					 NULL), 0);
	memcpy(&word, out, sizeof(word));
	assert_int_equal(word, 0x600fffff);
	/* layout 0x24 at bit 10, 65536 bytes as 0 */
	assert_int_equal(agx_packet_pack(AGX_PACKET_usc_shared, out, &shared,
					 NULL), 0);
	memcpy(&word, out, sizeof(word));
	assert_int_equal(word, 0x904d);
}

static void expect_range_error(enum agx_packet_id id, const void *values,
			       const char *name)
{
	uint8_t out[AGX_PACKET_MAX_BYTES] = { 0x5a };
	const char *field = NULL;

	assert_int_equal(agx_packet_pack(id, out, values, &field), -ERANGE);
	assert_string_equal(field, name);
	assert_int_equal(out[0], 0x5a);
}

static void test_ranges(void **state)
{
	struct agx_usc_uniform uniform = { .size = 64 };
	struct agx_cdm_launch launch = { .uniform_register_count = 512 };
	struct agx_usc_shared shared = agx_usc_shared_default();
	struct agx_cdm_stream_link link = { .target = UINT64_C(1) << 40 };
	uint8_t out[AGX_PACKET_MAX_BYTES];

	assert_int_equal(agx_packet_pack(AGX_PACKET_usc_uniform, out, &uniform,
					 NULL), 0);
	uniform.size = 65;
	expect_range_error(AGX_PACKET_usc_uniform, &uniform, "size");
	uniform.size = 1;
	uniform.start = 256;
	expect_range_error(AGX_PACKET_usc_uniform, &uniform, "start");
	uniform.start = 0;
	uniform.buffer = 2;
	expect_range_error(AGX_PACKET_usc_uniform, &uniform, "buffer");
	uniform.buffer = UINT64_C(1) << 40;
	expect_range_error(AGX_PACKET_usc_uniform, &uniform, "buffer");

	assert_int_equal(agx_packet_pack(AGX_PACKET_cdm_launch, out, &launch,
					 NULL), 0);
	launch.uniform_register_count = 513;
	expect_range_error(AGX_PACKET_cdm_launch, &launch,
			   "uniform_register_count");
	launch.uniform_register_count = 0;
	launch.pipeline = 32;
	expect_range_error(AGX_PACKET_cdm_launch, &launch, "pipeline");
	launch.pipeline = 0;
	launch.mode = (enum agx_cdm_mode)4;
	expect_range_error(AGX_PACKET_cdm_launch, &launch, "mode");

	shared.sample_count = 3;
	expect_range_error(AGX_PACKET_usc_shared, &shared, "sample_count");
	shared.sample_count = 0;
	expect_range_error(AGX_PACKET_usc_shared, &shared, "sample_count");
	shared.sample_count = 16;
	expect_range_error(AGX_PACKET_usc_shared, &shared, "sample_count");
	expect_range_error(AGX_PACKET_cdm_stream_link, &link, "target");

	assert_int_equal(agx_packet_pack(AGX_PACKET_COUNT, out, &link, NULL),
			 -EINVAL);
}

static void test_bad_bits(void **state)
{
	uint8_t terminate[8] = { 0, 0, 0, 2 << 5 };
	struct agx_cdm_stream_terminate values;
	struct agx_cdm_launch launch;
	const char *what = NULL;

	assert_int_equal(agx_packet_unpack(AGX_PACKET_cdm_stream_terminate,
					   terminate, &values, &what), 0);
	terminate[7] = 0x80;
	assert_int_equal(agx_packet_unpack(AGX_PACKET_cdm_stream_terminate,
					   terminate, &values, &what),
			 -EBADMSG);
	assert_string_equal(what, "reserved bits");
	terminate[3] = 3 << 5;
	assert_int_equal(agx_packet_unpack(AGX_PACKET_cdm_stream_terminate,
					   terminate, &values, &what),
			 -EINVAL);
	assert_string_equal(what, "block_type");
	/* mode 3 has no name */
	assert_int_equal(agx_packet_unpack(AGX_PACKET_cdm_launch,
					   "\0\0\0\x18\0\0\0", &launch, &what),
			 -EBADMSG);
	assert_string_equal(what, "mode");
	assert_int_equal(launch.mode, 3);
	assert_int_equal(agx_packet_unpack((enum agx_packet_id)1000, terminate,
					   &values, &what), -EINVAL);
}

/*
 * Bytes that unpack without complaint pack to themselves; for all packets, with
 * random bits in all fields.
 */
static void check_round_trip(enum agx_packet_id id, const void *defaults)
{
	uint8_t fixed[AGX_PACKET_MAX_BYTES], src[AGX_PACKET_MAX_BYTES];
	uint8_t dst[AGX_PACKET_MAX_BYTES];
	union {
		uint8_t bytes[256];
		uint64_t align;
	} values;
	size_t size = agx_packet_bytes(id);
	unsigned int tried, good = 0;

	assert_int_equal(agx_packet_pack(id, fixed, defaults, NULL), 0);
	for (tried = 0; tried < 20000; tried++) {
		size_t byte = random_u64() % size;

		memcpy(src, fixed, size);
		src[byte] ^= 1 << random_u64() % 8;
		byte = random_u64() % size;
		src[byte] ^= random_u64() & random_u64();
		if (agx_packet_unpack(id, src, &values, NULL))
			continue;
		good++;
		assert_int_equal(agx_packet_pack(id, dst, &values, NULL), 0);
		assert_memory_equal(src, dst, size);
		/* wander through the whole space of good packets */
		memcpy(fixed, src, size);
	}
	/* packets of constants only have one single good value */
	if (id != AGX_PACKET_cdm_stream_terminate &&
	    id != AGX_PACKET_cdm_stream_return &&
	    id != AGX_PACKET_cdm_launch_g14x &&
	    id != AGX_PACKET_usc_no_preshader)
		assert_true(good > 100);
}

static void test_round_trip(void **state)
{
#define AGX_PACKET(packet, bytes, label) \
	{ \
		const struct agx_##packet dflt = agx_##packet##_default(); \
		check_round_trip(AGX_PACKET_##packet, &dflt); \
	}
#include <agx/agx_packets.def>
}

/* No two fields share a bit, none leaves its packet. */
static void test_layout(void **state)
{
	uint8_t used[AGX_PACKET_MAX_BYTES * 8];
	unsigned int size = 0, i;

#define TAKE(start, width) \
	for (i = (start); i < (start) + (width); i++) { \
		assert_true(i < size); \
		assert_int_equal(used[i]++, 0); \
	}
#define AGX_PACKET(packet, bytes, label) \
	memset(used, 0, sizeof(used)); \
	size = (bytes) * 8; \
	assert_int_equal(agx_packet_bytes(AGX_PACKET_##packet), bytes); \
	assert_string_equal(agx_packet_name(AGX_PACKET_##packet), label);
#define AGX_EXACT(packet, name, start, width, value) \
	TAKE(start, width) \
	assert_int_equal((uint64_t)(value) >> (width), 0);
#define AGX_FIELD(packet, field, start, width, type, mod, arg, dflt) \
	TAKE(start, width)
#define AGX_ENUM_FIELD(packet, field, start, width, enumeration, dflt) \
	TAKE(start, width)
#define AGX_SPLIT_FIELD(packet, field, start, width, start_hi, width_hi, type, \
			mod, arg, dflt) \
	TAKE(start, width) \
	TAKE(start_hi, width_hi)
#include <agx/agx_packets.def>
}

static void test_print(void **state)
{
	const uint8_t launch[8] = { 2, 0, 0, 8, 0x40, 0, 0, 0 };
	const uint8_t bad[8] = { 0, 0, 0, 0x58 };
	char *text = NULL;
	size_t size;
	FILE *fp = open_memstream(&text, &size);

	assert_non_null(fp);
	assert_int_equal(agx_packet_print(fp, AGX_PACKET_cdm_launch, launch, 2),
			 0);
	assert_int_equal(agx_packet_print(fp, AGX_PACKET_cdm_stream_link, bad,
					  0), -EINVAL);
	fclose(fp);
	assert_string_equal(text,
			    "  CDM Launch\n"
			    "    uniform_register_count: 64\n"
			    "    texture_register_count: 256\n"
			    "    sampler_register_count: 0\n"
			    "    preshader_register_count: 256\n"
			    "    mode: indirect global\n"
			    "    pipeline: 0x40\n"
			    "CDM Stream Link\n"
			    "  target: 0x0\n"
			    "  with_return: true\n"
			    "  block_type: 0x2, must be 0x1\n"
			    "  reserved bits are set\n");
	free(text);
}

static void test_writer(void **state)
{
	struct agx_writer w;
	uint8_t buf[16];

	agx_writer_init(&w, buf, sizeof(buf));
	agx_put(&w, cdm_local_size, .x = 64, .y = 2, .z = 1);
	agx_put_default(&w, cdm_barrier);
	assert_int_equal(w.error, 0);
	assert_int_equal(w.used, 16);
	assert_int_equal(buf[0], 64);
	assert_int_equal(buf[4], 2);
	agx_put_default(&w, usc_no_preshader);
	assert_int_equal(w.error, -ENOSPC);
	assert_int_equal(w.used, 16);

	agx_writer_init(&w, buf, sizeof(buf));
	agx_put(&w, usc_uniform, .size = 1, .buffer = 1);
	agx_put(&w, cdm_barrier, .returns = true);
	assert_int_equal(w.error, -ERANGE);
	assert_string_equal(w.field, "buffer");
	assert_int_equal(w.used, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_bytes),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_bad_bits),
		cmocka_unit_test(test_layout),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_print),
		cmocka_unit_test(test_writer),
	};

	return cmocka_run_group_tests_name("packets", tests, NULL, NULL);
}
