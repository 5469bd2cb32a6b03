// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <errno.h>
#include <math.h>
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
		.counts = {
			.uniform_registers = 65,
			.texture_registers = 8,
			.sampler_registers = AGX_SAMPLER_STATES_4_COMPACT,
			.preshader_registers = 16,
		},
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

/* One row for a packet of rendering, as words */
struct known {
	enum agx_packet_id id;
	const void *values;
	uint32_t words[8];
};

static void check_known(const struct known *known)
{
	uint8_t expected[sizeof(known->words)], out[AGX_PACKET_MAX_BYTES];
	size_t bytes = agx_packet_bytes(known->id);

	for (size_t i = 0; i < bytes; i++)
		expected[i] = known->words[i / 4] >> i % 4 * 8;
	assert_int_equal(agx_packet_pack(known->id, out, known->values, NULL),
			 0);
	assert_memory_equal(out, expected, bytes);
	assert_int_equal(agx_packet_unpack(known->id, expected, NULL, NULL), 0);
}

#define KNOWN(packet, ...) \
	AGX_PACKET_##packet, &(const struct agx_##packet){ __VA_ARGS__ }

/* Worked out by hand as well; what Mesa's drivers write for the same state. */
static void test_known_render(void **state)
{
	const struct known rows[] = {
		{ KNOWN(vdm_ppp_state, .address = 0x1234567880, .words = 23),
		  { 0x00001712, 0x34567880 } },
		{ KNOWN(vdm_barrier, .usc_cache_invalidate = true),
		  { 0x20000008 } },
		{ KNOWN(vdm_barrier, .returns = true), { 0x28000000 } },
		{ KNOWN(vdm_state, .counts_present = true,
			.pipeline_present = true, .outputs_present = true,
			.control_present = true), { 0x4000002e } },
		{ KNOWN(vdm_pipeline, .pipeline = 0xabc40), { 0x000abc40 } },
		{ KNOWN(vdm_outputs, .count_1 = 8, .count_2 = 8), { 0x0808 } },
		{ KNOWN(vdm_control, .flat_vertex = AGX_VDM_VERTEX_2,
			.primitive_id = true), { 0x42 } },
		{ KNOWN(vdm_index_list, .primitive = AGX_PRIMITIVE_TRIANGLES,
			.count_present = true, .instances_present = true,
			.start_present = true), { 0x61c00600 } },
		{ KNOWN(vdm_index_list, .index_buffer_high = 0x12,
			.primitive = AGX_PRIMITIVE_TRIANGLE_STRIP,
			.restart = true, .index_size = AGX_INDEX_SIZE_U32,
			.index_buffer_size_present = true,
			.index_buffer_present = true,
			.indirect_present = true), { 0x64350912 } },
		{ KNOWN(vdm_start, .start = -2), { 0xfffffffe } },
		{ KNOWN(vdm_indirect, .address = 0x1234567890),
		  { 0x12, 0x34567890 } },
		{ KNOWN(vdm_index_buffer_size, .bytes = 64), { 16 } },
		{ KNOWN(vdm_stream_link, .target = 0x1234567890,
			.with_return = true), { 0x90000012, 0x34567890 } },
		{ KNOWN(vdm_stream_terminate, 0), { 0xc0000000 } },
		{ KNOWN(ppp_header, .viewport = true, .viewport_count = 16,
			.cull = true, .varying_2 = true), { 0x1020f800 } },
		{ KNOWN(ppp_fragment_control, .scissor_enable = true,
			.visibility = AGX_VISIBILITY_BOOLEAN,
			.pass_type = AGX_PASS_TYPE_PUNCH_THROUGH),
		  { 0x4001c200 } },
		/* lines of width 1 are 15 here */
		{ KNOWN(ppp_front_face, .line_width = 1,
			.depth_func = AGX_ZS_FUNC_ALWAYS), { 0x07000f00 } },
		{ KNOWN(ppp_back_face_2, .depth_write_disable = true,
			.depth_func = AGX_ZS_FUNC_LESS,
			.object_type = AGX_OBJECT_TYPE_LINE), { 0x11200000 } },
		{ KNOWN(ppp_front_stencil, .write_mask = 0xff,
			.read_mask = 0x0f,
			.depth_pass = AGX_STENCIL_OP_REPLACE,
			.stencil_fail = AGX_STENCIL_OP_DECR_WRAP,
			.compare = AGX_ZS_FUNC_EQUAL), { 0x05c20fff } },
		{ KNOWN(ppp_depth_bias_scissor, .scissor = 3, .depth_bias = 5),
		  { 0x00050003 } },
		{ KNOWN(ppp_region_clip, .max_x = 20, .min_x = 1, .max_y = 15,
			.min_y = 2, .enable = true),
		  { 0x80010013, 0x0002000e } },
		{ KNOWN(ppp_viewport, .translate_x = 160, .scale_x = 160,
			.translate_y = 120, .scale_y = -120, .scale_z = 1),
		  { 0x43200000, 0x43200000, 0x42f00000, 0xc2f00000, 0,
		    0x3f800000 } },
		{ KNOWN(ppp_output_select, .clip_planes = 3, .varyings = true,
			.point_size = true, .layer = true), { 0x00150003 } },
		{ KNOWN(ppp_cull, .back = true, .depth_clip = true,
			.flat_vertex = AGX_PPP_VERTEX_2,
			.front_face_ccw = true), { 0x00010582 } },
		{ KNOWN(ppp_cull_2, .clamp_w = true), { 0x20 } },
		{ KNOWN(ppp_fragment_shader,
			.counts = { .uniform_registers = 64,
				    .texture_registers = 8,
				    .preshader_registers = 16 },
			.cf_binding_count = 2, .pipeline = 0x40,
			.cf_bindings = 0x84), { 0x21012, 0x40, 0x84, 0 } },
		{ KNOWN(ppp_occlusion_query, .index = 3), { 0x60000 } },
		{ KNOWN(cf_binding, .components = 4, .slot = 4,
			.coefficient = 1,
			.shade_model = AGX_SHADE_MODEL_PERSPECTIVE),
		  { 0x1041f } },
		{ KNOWN(scissor, .max_x = 640, .min_x = 1, .max_y = 480,
			.max_z = 1), { 0x10280, 480, 0, 0x3f800000 } },
		{ KNOWN(usc_fragment_properties, .early_z = true,
			.unk_9 = true, .unk_12 = 0xf, .unk_16 = 2),
		  { 0x02f358 } },
		{ KNOWN(zls_control, .z_load = true, .z_store = true,
			.s_store = true, .z_format = AGX_ZLS_FORMAT_16),
		  { 0x040c8000, 0 } },
		{ KNOWN(zls_pixels, .x = 640, .y = 480), { 0xef827f } },
		/* the value of both of Mesa's drivers */
		{ KNOWN(ppp_control, .w_clamp_enable = true,
			.fixed_point_format = 1), { 0x202 } },
		{ KNOWN(texture, .dimension = AGX_IMAGE_DIMENSION_2D,
			.layout = AGX_IMAGE_LAYOUT_GPU,
			.channels = AGX_CHANNELS_R8G8B8A8,
			.swizzle_g = AGX_CHANNEL_G, .swizzle_b = AGX_CHANNEL_B,
			.swizzle_a = AGX_CHANNEL_A, .width = 640, .height = 480,
			.address = 0x1500004000, .depth = 1),
		  { 0xf6880a22, 0x00077c27, 0x40001000, 0x00000005 } },
		{ KNOWN(pbe_linear, .dimension = AGX_IMAGE_DIMENSION_2D,
			.channels = AGX_CHANNELS_R8G8B8A8,
			.swizzle_g = AGX_CHANNEL_G, .swizzle_b = AGX_CHANNEL_B,
			.swizzle_a = AGX_CHANNEL_A, .width = 64, .height = 32,
			.address = 0x1500004000, .stride_less_4 = 252),
		  { 0x3fe40a02, 0x000007c0, 0x50000400, 0x0000fc01 } },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_known(&rows[i]);
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
			       const char *name, const char *text)
{
	uint8_t out[AGX_PACKET_MAX_BYTES] = { 0x5a };
	struct agx_error error;

	assert_int_equal(agx_packet_pack(id, out, values, &error), -ERANGE);
	assert_string_equal(error.packet, agx_packet_name(id));
	assert_string_equal(error.field, name);
	assert_string_equal(error.text, text);
	assert_int_equal(out[0], 0x5a);
}

static void test_ranges(void **state)
{
	struct agx_usc_uniform uniform = { .size = 64 };
	struct agx_cdm_launch launch = { .counts.uniform_registers = 512 };
	struct agx_sampler sampler = agx_sampler_default();
	struct agx_usc_shared shared = agx_usc_shared_default();
	struct agx_cdm_stream_link link = { .target = UINT64_C(1) << 40 };
	uint8_t out[AGX_PACKET_MAX_BYTES];

	assert_int_equal(agx_packet_pack(AGX_PACKET_usc_uniform, out, &uniform,
					 NULL), 0);
	uniform.size = 65;
	expect_range_error(AGX_PACKET_usc_uniform, &uniform, "size",
			   "65 is more than 64");
	uniform.size = 1;
	uniform.start = 256;
	expect_range_error(AGX_PACKET_usc_uniform, &uniform, "start",
			   "0x100 is more than 0xff");
	uniform.start = 0;
	uniform.buffer = 2;
	expect_range_error(AGX_PACKET_usc_uniform, &uniform, "buffer",
			   "0x2 is no multiple of 0x4 up to 0xfffffffffc");
	uniform.buffer = UINT64_C(1) << 40;
	expect_range_error(AGX_PACKET_usc_uniform, &uniform, "buffer",
			   "0x10000000000 is no multiple of 0x4 up to 0xfffffffffc");

	assert_int_equal(agx_packet_pack(AGX_PACKET_cdm_launch, out, &launch,
					 NULL), 0);
	launch.counts.uniform_registers = 513;
	expect_range_error(AGX_PACKET_cdm_launch, &launch,
			   "counts.uniform_registers", "513 is more than 512");
	launch.counts.uniform_registers = 0;
	launch.counts.sampler_registers = (enum agx_sampler_states)5;
	expect_range_error(AGX_PACKET_cdm_launch, &launch,
			   "counts.sampler_registers", "no value is 5");
	launch.counts.sampler_registers = AGX_SAMPLER_STATES_0;
	launch.pipeline = 32;
	expect_range_error(AGX_PACKET_cdm_launch, &launch, "pipeline",
			   "0x20 is no multiple of 0x40 up to 0xffffffc0");
	launch.pipeline = 0;
	/* fits, but means nothing */
	launch.mode = (enum agx_cdm_mode)3;
	expect_range_error(AGX_PACKET_cdm_launch, &launch, "mode",
			   "no value is 3");

	shared.sample_count = 3;
	expect_range_error(AGX_PACKET_usc_shared, &shared, "sample_count",
			   "3 is no power of two up to 8");
	shared.sample_count = 0;
	expect_range_error(AGX_PACKET_usc_shared, &shared, "sample_count",
			   "0 is no power of two up to 8");
	shared.sample_count = 16;
	expect_range_error(AGX_PACKET_usc_shared, &shared, "sample_count",
			   "16 is no power of two up to 8");
	expect_range_error(AGX_PACKET_cdm_stream_link, &link, "target",
			   "0x10000000000 is more than 0xffffffffff");
	sampler.minimum_lod = NAN;
	expect_range_error(AGX_PACKET_sampler, &sampler, "minimum_lod",
			   "is not a number");

	assert_int_equal(agx_packet_pack(AGX_PACKET_COUNT, out, &link, NULL),
			 -EINVAL);
}

static void expect_bad(enum agx_packet_id id, const void *src, int err,
		       const char *field, const char *text)
{
	struct agx_error error;
	union agx_packet values;

	assert_int_equal(agx_packet_unpack(id, src, &values, &error), err);
	assert_string_equal(error.packet, agx_packet_name(id));
	assert_string_equal(error.field, field);
	assert_string_equal(error.text, text);
	/* for those who want no more than an answer */
	assert_int_equal(agx_packet_unpack(id, src, NULL, NULL), err);
}

static void test_bad_bits(void **state)
{
	uint8_t terminate[8] = { 0, 0, 0, 2 << 5 };
	uint8_t launch[8] = { 0, 0, 0, 3 << 3 };
	/* level 14 and a bit */
	const uint8_t sampler[8] = { 0x81, 3 };
	struct agx_cdm_launch values;

	assert_int_equal(agx_packet_unpack(AGX_PACKET_cdm_stream_terminate,
					   terminate, NULL, NULL), 0);
	terminate[7] = 0x84;
	expect_bad(AGX_PACKET_cdm_stream_terminate, terminate, -EBADMSG,
		   "reserved bits", "not zero: 58 63");
	memset(terminate + 4, 0xff, 4);
	expect_bad(AGX_PACKET_cdm_stream_terminate, terminate, -EBADMSG,
		   "reserved bits",
		   "not zero: 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 "
		   "48 49 50 51 52 53 54 55 56 57 58 59 6");
	terminate[3] = 3 << 5;
	expect_bad(AGX_PACKET_cdm_stream_terminate, terminate, -EINVAL,
		   "block_type", "0x3 must be 0x2");

	expect_bad(AGX_PACKET_cdm_launch, launch, -EBADMSG, "mode",
		   "no value is 3");
	assert_int_equal(agx_packet_unpack(AGX_PACKET_cdm_launch, launch,
					   &values, NULL), -EBADMSG);
	assert_int_equal(values.mode, 3);
	/* of things that are as bad, the first */
	launch[1] = 5 << 1;
	launch[2] = 1;
	expect_bad(AGX_PACKET_cdm_launch, launch, -EBADMSG,
		   "counts.sampler_registers", "no value is 5");
	expect_bad(AGX_PACKET_sampler, sampler, -EBADMSG, "minimum_lod",
		   "no value has the bits 0x381");
	assert_int_equal(agx_packet_unpack((enum agx_packet_id)1000, launch,
					   &values, NULL), -EINVAL);
}

/*
 * Bytes that unpack without complaint pack to themselves; for all packets, with
 * random bits in all fields.
 */
static void check_round_trip(enum agx_packet_id id, const void *defaults,
			     bool has_fields)
{
	uint8_t fixed[AGX_PACKET_MAX_BYTES], src[AGX_PACKET_MAX_BYTES];
	uint8_t dst[AGX_PACKET_MAX_BYTES];
	union agx_packet values;
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
	assert_true(good > 100 || !has_fields);
}

static void test_round_trip(void **state)
{
#define AGX_PACKET(packet, bytes, label) \
	{ \
		const struct agx_##packet dflt = agx_##packet##_default(); \
		bool has_fields = false;
#define AGX_FIELD(packet, field, start, width, type, mod, arg, value) \
		has_fields = true;
#define AGX_ENUM_FIELD(packet, field, start, width, enumeration, value) \
		has_fields = true;
#define AGX_SPLIT_FIELD(packet, field, start, width, start_hi, width_hi, type, \
			mod, arg, value) \
		has_fields = true;
#define AGX_NESTED(packet, field, start, inner) \
		has_fields = true;
#define AGX_PACKET_END(packet) \
		check_round_trip(AGX_PACKET_##packet, &dflt, has_fields); \
	}
#include <agx/agx_packets.def>
}

/*
 * No two fields share a bit, none leaves its packet. Of a nested packet only the
 * bits that mean something count: others may be taken outside.
 */
static void take(uint8_t *used, unsigned int size, unsigned int start,
		 unsigned int width)
{
	for (unsigned int i = start; i < start + width; i++) {
		assert_true(i < size);
		assert_int_equal(used[i]++, 0);
	}
}

static void test_layout(void **state)
{
	struct {
		uint8_t bits[AGX_PACKET_MAX_BYTES * 8];
	} all[AGX_PACKET_COUNT] = { 0 };
	uint8_t *used = NULL;
	unsigned int size = 0;

#define AGX_PACKET(packet, bytes, label) \
	used = all[AGX_PACKET_##packet].bits; \
	size = (bytes) * 8; \
	assert_int_equal(agx_packet_bytes(AGX_PACKET_##packet), bytes); \
	assert_string_equal(agx_packet_name(AGX_PACKET_##packet), label);
#define AGX_EXACT(packet, name, start, width, value) \
	take(used, size, start, width);
#define AGX_FIELD(packet, field, start, width, type, mod, arg, dflt) \
	take(used, size, start, width);
#define AGX_ENUM_FIELD(packet, field, start, width, enumeration, dflt) \
	take(used, size, start, width);
#define AGX_SPLIT_FIELD(packet, field, start, width, start_hi, width_hi, type, \
			mod, arg, dflt) \
	take(used, size, start, width); \
	take(used, size, start_hi, width_hi);
#define AGX_NESTED(packet, field, start, inner) \
	for (unsigned int i = 0; i < AGX_PACKET_MAX_BYTES * 8; i++) { \
		if (all[AGX_PACKET_##inner].bits[i]) \
			take(used, size, (start) + i, 1); \
	}
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
			    "    counts:\n"
			    "      uniform_registers: 64\n"
			    "      texture_registers: 256\n"
			    "      sampler_registers: 0\n"
			    "      preshader_registers: 256\n"
			    "    mode: indirect global\n"
			    "    pipeline: 0x40\n"
			    "CDM Stream Link\n"
			    "  target: 0x0\n"
			    "  with_return: true\n"
			    "  block_type: 0x2, must be 0x1\n"
			    "  reserved bits: not zero: 27\n");
	free(text);
}

static void test_writer(void **state)
{
	struct agx_writer w;
	uint8_t buf[16];

	agx_writer_init(&w, buf, sizeof(buf));
	agx_put(&w, cdm_local_size, .x = 64, .y = 2);
	agx_put(&w, cdm_barrier);
	assert_int_equal(w.error, 0);
	assert_int_equal(w.used, 16);
	assert_memory_equal(buf, "\100\0\0\0\2\0\0\0\1\0\0\0", 12);
	agx_put(&w, usc_no_preshader);
	assert_int_equal(w.error, -ENOSPC);
	assert_string_equal(w.why.packet, "USC No preshader");
	assert_string_equal(w.why.field, "");
	assert_string_equal(w.why.text, "2 bytes, but 16 of 16 are used");
	assert_int_equal(w.used, 16);

	agx_writer_init(&w, buf, sizeof(buf));
	agx_put(&w, usc_uniform, .size = 1, .buffer = 1);
	agx_put(&w, cdm_barrier, .returns = true);
	assert_int_equal(w.error, -ERANGE);
	assert_string_equal(w.why.packet, "USC Uniform");
	assert_string_equal(w.why.field, "buffer");
	assert_int_equal(w.used, 0);
}

/* What is not named has its default, in a nested packet as well. */
static void test_defaults_first(void **state)
{
	const struct agx_sampler sampler = {
		.minimum_lod = 0.5, .maximum_lod = 14, .maximum_anisotropy = 16,
		.wrap_r = AGX_WRAP_REPEAT,
	};
	uint8_t buf[32], expected[8];
	struct agx_writer w;
	uint32_t words[8];

	agx_writer_init(&w, buf, sizeof(buf));
	agx_put(&w, cdm_barrier, .returns = true);
	agx_put(&w, cdm_barrier, .unk_0 = 0, .usc_cache_invalidate = false);
	agx_put(&w, cdm_launch, .counts.uniform_registers = 128);
	agx_put(&w, sampler, .minimum_lod = 0.5, .maximum_anisotropy = 16,
		.wrap_r = AGX_WRAP_REPEAT);
	assert_int_equal(w.error, 0);
	memcpy(words, buf, sizeof(words));
	assert_int_equal(words[0], 0x680fffff);
	assert_int_equal(words[1], 0x600ffff0);
	/* 2 groups of uniforms, 1 of textures, 1 of the preshader's */
	assert_int_equal(words[2], 2 << 1 | 1 << 4 | 1 << 12);
	assert_int_equal(words[3], 0);
	assert_int_equal(agx_packet_pack(AGX_PACKET_sampler, expected, &sampler,
					 NULL), 0);
	assert_memory_equal(buf + 16, expected, 8);
	/* 32 / 64, 14 * 64, log2(16) */
	assert_int_equal(words[4], 32 | 896 << 10 | 4 << 20);
	assert_int_equal(words[5], 1 << 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_bytes),
		cmocka_unit_test(test_known_render),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_bad_bits),
		cmocka_unit_test(test_layout),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_print),
		cmocka_unit_test(test_writer),
		cmocka_unit_test(test_defaults_first),
	};

	return cmocka_run_group_tests_name("packets", tests, NULL, NULL);
}
