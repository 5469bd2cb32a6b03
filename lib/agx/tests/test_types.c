// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Each type and modifier at its borders, on a table that has them all.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agx_packets.h"

#define AGX_TABLE "tests/types.def"
#include "packets/types.h"
#include "packets/rows.h"

static uint64_t bits(const uint8_t *buf, unsigned int start, unsigned int width)
{
	uint64_t value = 0;

	for (unsigned int i = width; i--;)
		value = value << 1 | (buf[(start + i) / 8] >> (start + i) % 8 & 1);
	return value;
}

static void clear_bits(uint8_t *buf, unsigned int start, unsigned int width)
{
	for (unsigned int i = start; i < start + width; i++)
		buf[i / 8] &= ~(1 << i % 8);
}

/*
 * What is expected of a field: it becomes these bits, no other bit of the packet
 * changes, and the way back gives the value again.
 */
static void expect_bits(const struct agx_packet_desc *desc, const void *values,
			size_t size, const void *defaults, unsigned int start,
			unsigned int width, uint64_t raw)
{
	uint8_t out[AGX_DESC_MAX_BYTES], others[AGX_DESC_MAX_BYTES];
	struct agx_error error = { .field = "" };
	uint8_t back[128];

	assert_true(size <= sizeof(back));
	if (agx_desc_pack(desc, out, values, &error))
		fail_msg("%s: %s", error.field, error.text);
	assert_int_equal(bits(out, start, width), raw);
	assert_int_equal(agx_desc_unpack(desc, out, back, NULL), 0);
	assert_int_equal(agx_desc_pack(desc, others, back, NULL), 0);
	assert_memory_equal(out, others, desc->bytes);

	assert_int_equal(agx_desc_pack(desc, others, defaults, NULL), 0);
	clear_bits(out, start, width);
	clear_bits(others, start, width);
	assert_memory_equal(out, others, desc->bytes);
}

static void expect_error(const struct agx_packet_desc *desc, const void *values,
			 const char *field, const char *text)
{
	uint8_t out[AGX_DESC_MAX_BYTES] = { 0x5a };
	struct agx_error error;

	assert_int_equal(agx_desc_pack(desc, out, values, &error), -ERANGE);
	assert_string_equal(error.packet, desc->label);
	assert_string_equal(error.field, field);
	assert_string_equal(error.text, text);
	assert_int_equal(out[0], 0x5a);
	assert_int_equal(agx_desc_pack(desc, out, values, NULL), -ERANGE);
}

/*
 * A packet with a field that has a value and all others their default; "rounded"
 * is what comes back.
 */
#define ROUNDED(packet, field, value, start, width, raw, rounded) \
	do { \
		const struct agx_##packet dflt_ = agx_##packet##_default(); \
		struct agx_##packet values_ = dflt_, back_; \
		uint8_t out_[AGX_DESC_MAX_BYTES]; \
		values_.field = value; \
		expect_bits(&packet##_desc, &values_, sizeof(values_), &dflt_, \
			    start, width, raw); \
		agx_desc_pack(&packet##_desc, out_, &values_, NULL); \
		agx_desc_unpack(&packet##_desc, out_, &back_, NULL); \
		assert_true(back_.field == (rounded)); \
	} while (0)

#define GOOD(packet, field, value, start, width, raw) \
	ROUNDED(packet, field, value, start, width, raw, value)

#define BAD(packet, field, value, text) \
	do { \
		struct agx_##packet values_ = agx_##packet##_default(); \
		values_.field = value; \
		expect_error(&packet##_desc, &values_, #field, text); \
	} while (0)

static void test_unsigned(void **state)
{
	GOOD(test_integers, small, 0, 0, 3, 0);
	GOOD(test_integers, small, 7, 0, 3, 7);
	BAD(test_integers, small, 8, "0x8 is more than 0x7");
	BAD(test_integers, small, UINT32_MAX, "0xffffffff is more than 0x7");
	GOOD(test_integers, large, UINT32_MAX, 3, 32, UINT32_MAX);
	GOOD(test_integers, hex, 511, 35, 9, 511);
	BAD(test_integers, hex, 512, "0x200 is more than 0x1ff");
	GOOD(test_integers, truth, false, 81, 1, 0);
	GOOD(test_integers, truth, true, 81, 1, 1);
	GOOD(test_integers, whole, UINT64_MAX, 120, 64, UINT64_MAX);
	GOOD(test_integers, whole, 1, 120, 64, 1);
}

static void test_signed(void **state)
{
	GOOD(test_integers, sign, 0, 44, 5, 0);
	GOOD(test_integers, sign, 15, 44, 5, 15);
	GOOD(test_integers, sign, -1, 44, 5, 31);
	GOOD(test_integers, sign, -16, 44, 5, 16);
	BAD(test_integers, sign, 16, "16 is not from -16 to 15");
	BAD(test_integers, sign, -17, "-17 is not from -16 to 15");
	GOOD(test_integers, wide_sign, INT32_MIN, 49, 32, 0x80000000);
	GOOD(test_integers, wide_sign, INT32_MAX, 49, 32, 0x7fffffff);
	GOOD(test_integers, wide_sign, -2, 49, 32, 0xfffffffe);
}

static void test_address(void **state)
{
	const struct agx_test_integers dflt = agx_test_integers_default();
	struct agx_test_integers v = dflt;
	uint8_t out[24];

	/* the low piece has 30 bits, the high one 8 */
	v.address = 0xab12345678;
	assert_int_equal(agx_desc_pack(&test_integers_desc, out, &v, NULL), 0);
	assert_int_equal(bits(out, 90, 30), 0x12345678 >> 2);
	assert_int_equal(bits(out, 82, 8), 0xab);
	assert_int_equal(agx_desc_unpack(&test_integers_desc, out, &v, NULL), 0);
	assert_int_equal(v.address, 0xab12345678);

	GOOD(test_integers, address, 0xfffffffffc, 82, 38, 0x3fffffffff);
	GOOD(test_integers, address, 4, 82, 38, 1 << 8);
	GOOD(test_integers, address, 1ull << 32, 82, 38, 1);
	BAD(test_integers, address, 1ull << 40,
	    "0x10000000000 is no multiple of 0x4 up to 0xfffffffffc");
	BAD(test_integers, address, 6,
	    "0x6 is no multiple of 0x4 up to 0xfffffffffc");
}

static void test_modifiers(void **state)
{
	GOOD(test_modifiers, minus, 1, 0, 4, 0);
	GOOD(test_modifiers, minus, 16, 0, 4, 15);
	BAD(test_modifiers, minus, 0, "0 is not from 1 to 16");
	BAD(test_modifiers, minus, 17, "17 is not from 1 to 16");
	GOOD(test_modifiers, log2, 1, 4, 5, 0);
	GOOD(test_modifiers, log2, 1u << 31, 4, 5, 31);
	BAD(test_modifiers, log2, 0, "0 is no power of two up to 2147483648");
	BAD(test_modifiers, log2, 6, "6 is no power of two up to 2147483648");
	ROUNDED(test_modifiers, groups, 0, 9, 3, 1, 64);
	GOOD(test_modifiers, groups, 64, 9, 3, 1);
	ROUNDED(test_modifiers, groups, 65, 9, 3, 2, 128);
	GOOD(test_modifiers, groups, 448, 9, 3, 7);
	ROUNDED(test_modifiers, groups, 449, 9, 3, 0, 512);
	GOOD(test_modifiers, groups, 512, 9, 3, 0);
	BAD(test_modifiers, groups, 513, "513 is more than 512");
	GOOD(test_modifiers, shifted, 0xff0, 12, 8, 0xff);
	BAD(test_modifiers, shifted, 0xff8,
	    "0xff8 is no multiple of 0x10 up to 0xff0");
	BAD(test_modifiers, shifted, 0x1000,
	    "0x1000 is no multiple of 0x10 up to 0xff0");
}

static void test_enum(void **state)
{
	GOOD(test_modifiers, colour, TEST_RED, 20, 2, 1);
	GOOD(test_modifiers, colour, TEST_BLUE, 20, 2, 3);
	BAD(test_modifiers, colour, 2, "no value is 2");
	BAD(test_modifiers, colour, 5, "no value is 5");
}

static void test_float(void **state)
{
	const float tiny = 0x1p-149f;

	GOOD(test_points, single, 0, 0, 32, 0);
	GOOD(test_points, single, 1, 0, 32, 0x3f800000);
	GOOD(test_points, single, -INFINITY, 0, 32, 0xff800000);
	GOOD(test_points, single, tiny, 0, 32, 1);
	GOOD(test_points, single, 0x1.fffffep127f, 0, 32, 0x7f7fffff);

	GOOD(test_points, half, 1, 32, 16, 0x3c00);
	GOOD(test_points, half, -65504, 32, 16, 0xfbff);
	GOOD(test_points, half, INFINITY, 32, 16, 0x7c00);
	GOOD(test_points, half, 0x1p-24f, 32, 16, 1);
	ROUNDED(test_points, half, 1.00048828125f, 32, 16, 0x3c00, 1);
	ROUNDED(test_points, half, 1.00146484375f, 32, 16, 0x3c02, 1.001953125f);
	ROUNDED(test_points, half, 65519.9f, 32, 16, 0x7bff, 65504);
	BAD(test_points, half, 65520, "65520 is not from -65504 to 65504");
	BAD(test_points, half, -1e9f, "-1e+09 is not from -65504 to 65504");
}

/* Not equal to itself, so by the bits */
static void test_nan(void **state)
{
	struct agx_test_points v = agx_test_points_default();
	uint8_t out[16];

	v.single = NAN;
	v.half = NAN;
	assert_int_equal(agx_desc_pack(&test_points_desc, out, &v, NULL), 0);
	assert_int_equal(bits(out, 0, 32), 0x7fc00000);
	assert_int_equal(bits(out, 32, 16), 0x7e00);
	assert_int_equal(agx_desc_unpack(&test_points_desc, out, &v, NULL), 0);
	assert_true(isnan(v.single) && isnan(v.half));
	BAD(test_points, lod, NAN, "is not a number");
	BAD(test_points, ufixed, NAN, "nan is not from 0 to 15.9375");
	BAD(test_points, sfixed, -NAN, "-nan is not from -16 to 15.875");
}

static void test_fixed(void **state)
{
	GOOD(test_points, ufixed, 0, 56, 8, 0);
	GOOD(test_points, ufixed, 0.0625f, 56, 8, 1);
	GOOD(test_points, ufixed, 15.9375f, 56, 8, 255);
	ROUNDED(test_points, ufixed, 0.03125f, 56, 8, 1, 0.0625f);
	ROUNDED(test_points, ufixed, 0.03124f, 56, 8, 0, 0);
	ROUNDED(test_points, ufixed, -0.03124f, 56, 8, 0, 0);
	ROUNDED(test_points, ufixed, 15.968f, 56, 8, 255, 15.9375f);
	BAD(test_points, ufixed, 15.96875f, "15.9688 is not from 0 to 15.9375");
	BAD(test_points, ufixed, -0.03125f, "-0.03125 is not from 0 to 15.9375");
	BAD(test_points, ufixed, INFINITY, "inf is not from 0 to 15.9375");

	GOOD(test_points, sfixed, 15.875f, 64, 8, 127);
	GOOD(test_points, sfixed, -16, 64, 8, 128);
	GOOD(test_points, sfixed, -0.125f, 64, 8, 255);
	ROUNDED(test_points, sfixed, -0.0625f, 64, 8, 255, -0.125f);
	ROUNDED(test_points, sfixed, -0.0624f, 64, 8, 0, 0);
	BAD(test_points, sfixed, 16, "16 is not from -16 to 15.875");
	BAD(test_points, sfixed, -16.0625f, "-16.0625 is not from -16 to 15.875");
	BAD(test_points, sfixed, -1e30f, "-1e+30 is not from -16 to 15.875");

	/* lines are 1/16 to 16 wide */
	GOOD(test_points, width, 0.0625f, 48, 8, 0);
	GOOD(test_points, width, 16, 48, 8, 255);
	BAD(test_points, width, 0, "0 is not from 0.0625 to 16");
	BAD(test_points, width, 16.0625f, "16.0625 is not from 0.0625 to 16");
}

static void test_lod(void **state)
{
	struct agx_test_points v = agx_test_points_default();
	struct agx_error error;
	uint8_t out[16];

	GOOD(test_points, lod, 0, 72, 10, 0);
	GOOD(test_points, lod, 0.015625f, 72, 10, 1);
	GOOD(test_points, lod, 14, 72, 10, 896);
	ROUNDED(test_points, lod, 0.9999f, 72, 10, 63, 0.984375f);
	ROUNDED(test_points, lod, -0.5f, 72, 10, 0, 0);
	ROUNDED(test_points, lod, 1000, 72, 10, 896, 14);
	ROUNDED(test_points, lod, INFINITY, 72, 10, 896, 14);
	ROUNDED(test_points, lod, -INFINITY, 72, 10, 0, 0);

	v.lod = 14;
	assert_int_equal(agx_desc_pack(&test_points_desc, out, &v, NULL), 0);
	out[9] |= 1;
	assert_int_equal(agx_desc_unpack(&test_points_desc, out, &v, &error),
			 -EBADMSG);
	assert_string_equal(error.field, "lod");
	assert_string_equal(error.text, "no value has the bits 0x381");
}

static void test_nested(void **state)
{
	struct agx_test_outer v = agx_test_outer_default(), back;
	struct agx_error error;
	uint8_t out[5];

	assert_int_equal(v.middle.low.value, 9);
	assert_int_equal(v.middle.high.value, 9);
	v.middle.high.value = 3;
	v.first = 31;
	assert_int_equal(agx_desc_pack(&test_outer_desc, out, &v, NULL), 0);
	assert_int_equal(bits(out, 0, 5), 31);
	assert_int_equal(bits(out, 5, 4), 9);
	assert_int_equal(bits(out, 9, 4), 7);
	assert_int_equal(bits(out, 13, 4), 6);
	assert_int_equal(bits(out, 21, 4), 3);
	assert_int_equal(bits(out, 29, 4), 6);
	assert_int_equal(agx_desc_unpack(&test_outer_desc, out, &back, NULL), 0);
	assert_int_equal(back.middle.low.value, 9);
	assert_int_equal(back.middle.high.value, 3);
	assert_int_equal(back.first, 31);
	assert_int_equal(back.between, 7);

	v.middle.high.value = 16;
	expect_error(&test_outer_desc, &v, "middle.high.value",
		     "0x10 is more than 0xf");
	/* a nested constant, and a bit that is nobody's */
	out[29 / 8] ^= 1 << 29 % 8;
	out[17 / 8] ^= 1 << 17 % 8;
	assert_int_equal(agx_desc_unpack(&test_outer_desc, out, &back, &error),
			 -EINVAL);
	assert_string_equal(error.packet, "Outer");
	assert_string_equal(error.field, "middle.high.tag");
	assert_string_equal(error.text, "0x7 must be 0x6");
	out[29 / 8] ^= 1 << 29 % 8;
	assert_int_equal(agx_desc_unpack(&test_outer_desc, out, &back, &error),
			 -EBADMSG);
	assert_string_equal(error.field, "reserved bits");
	assert_string_equal(error.text, "not zero: 17");
}

static char *text_of(const struct agx_packet_desc *desc, const void *src)
{
	char *text = NULL;
	size_t size;
	FILE *fp = open_memstream(&text, &size);

	assert_non_null(fp);
	agx_desc_print(fp, desc, src, 0);
	fclose(fp);
	return text;
}

#define EXPECT_TEXT(packet, out, expected) \
	do { \
		char *text = text_of(&packet##_desc, out); \
		assert_string_equal(text, expected); \
		free(text); \
	} while (0)

static void test_print(void **state)
{
	const struct agx_test_integers integers = agx_test_integers_default();
	const struct agx_test_modifiers modifiers = agx_test_modifiers_default();
	const struct agx_test_outer outer = agx_test_outer_default();
	struct agx_test_points points = agx_test_points_default();
	uint8_t out[24];

	points.single = 0.1f;
	agx_desc_pack(&test_integers_desc, out, &integers, NULL);
	EXPECT_TEXT(test_integers, out,
		    "small: 5\nlarge: 0\nhex: 0x1ab\nsign: -1\nwide_sign: 0\n"
		    "truth: true\naddress: 0x0\nwhole: 0x0\n");
	agx_desc_pack(&test_modifiers_desc, out, &modifiers, NULL);
	EXPECT_TEXT(test_modifiers, out,
		    "minus: 1\nlog2: 1\ngroups: 64\nshifted: 0\ncolour: blue\n");
	memset(out, 0, sizeof(out));
	EXPECT_TEXT(test_modifiers, out,
		    "minus: 1\nlog2: 1\ngroups: 512\nshifted: 0\n"
		    "colour: unknown (0)\n");
	agx_desc_pack(&test_points_desc, out, &points, NULL);
	EXPECT_TEXT(test_points, out,
		    "single: 0.100000001\nhalf: -2\nwidth: 1\nufixed: 0\n"
		    "sfixed: -0.125\nlod: 14\n");
	out[9] |= 1;
	out[15] = 2;
	EXPECT_TEXT(test_points, out,
		    "single: 0.100000001\nhalf: -2\nwidth: 1\nufixed: 0\n"
		    "sfixed: -0.125\nlod: 14.015625 (no such level)\n"
		    "reserved bits: not zero: 121\n");
	agx_desc_pack(&test_outer_desc, out, &outer, NULL);
	out[13 / 8] ^= 1 << 13 % 8;
	EXPECT_TEXT(test_outer, out,
		    "middle:\n  low:\n    value: 9\n    tag: 0x7, must be 0x6\n"
		    "  high:\n    value: 9\nfirst: 0\nbetween: 7\n");
}

/* Each half there is comes back, but for NaNs, which are all one. */
static void test_all_halves(void **state)
{
	struct agx_test_points v = agx_test_points_default();
	uint8_t out[16], again[16];

	for (unsigned int half = 0; half < 0x10000; half++) {
		agx_desc_pack(&test_points_desc, out, &v, NULL);
		out[4] = half;
		out[5] = half >> 8;
		agx_desc_unpack(&test_points_desc, out, &v, NULL);
		if (isnan(v.half))
			continue;
		assert_int_equal(agx_desc_pack(&test_points_desc, again, &v,
					       NULL), 0);
		assert_memory_equal(out, again, sizeof(out));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unsigned),
		cmocka_unit_test(test_signed),
		cmocka_unit_test(test_address),
		cmocka_unit_test(test_modifiers),
		cmocka_unit_test(test_enum),
		cmocka_unit_test(test_float),
		cmocka_unit_test(test_nan),
		cmocka_unit_test(test_fixed),
		cmocka_unit_test(test_lod),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_print),
		cmocka_unit_test(test_all_halves),
	};

	return cmocka_run_group_tests_name("types", tests, NULL, NULL);
}
