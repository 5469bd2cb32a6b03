// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Formats: that all lanes of a register become what one number becomes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core_float.h"
#include "core_internal.h"
#include "format.h"

static void check_lanes(unsigned int format, uint32_t first, uint32_t step)
{
	struct float_lanes value;
	struct lanes bits;
	unsigned int component, i;

	for (i = 0; i < LANES; i++)
		value.v[i] = bits_float(first + i * step);
	for (component = 0; component < 4; component++) {
		vagx_format_from_floats(format, component, &value, &bits);
		for (i = 0; i < LANES; i++) {
			uint32_t code = vagx_format_from_float(format, component, value.v[i]);

			assert_int_equal(bits.v[i], code);
			assert_int_equal(vagx_format_from_float_by_table(format, component, value.v[i]), code);
		}
	}
}

/* All of a format's formulas: what is clamped, numbers that are none, tiny ones */
static void test_all_magnitudes(void **state)
{
	static const unsigned int formats[] = {
		AGX_FORMAT_U8NORM, AGX_FORMAT_S8NORM, AGX_FORMAT_U16NORM, AGX_FORMAT_S16NORM,
		AGX_FORMAT_SRGBA8,
	};
	unsigned int i;
	uint64_t bits;

	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		for (bits = 0; bits <= UINT32_MAX; bits += 32 * 65521)
			check_lanes(formats[i], (uint32_t)bits, 65521);
	}
}

/* The table of sRGB has a step in most of these halves: each float around one */
static void test_srgb_steps(void **state)
{
	const uint32_t end = float_bits(1.0f) + 64;
	uint32_t low = float_bits(0x1p-10f), last = 0, i;

	while (low < end) {
		uint32_t code = vagx_format_from_float(AGX_FORMAT_SRGBA8, 0, bits_float(low));

		for (i = 0; code != last && i < 256; i += LANES)
			check_lanes(AGX_FORMAT_SRGBA8, low - 251 + i, 1);
		check_lanes(AGX_FORMAT_SRGBA8, low, 1);
		check_lanes(AGX_FORMAT_SRGBA8, low | 0xffe0, 1);
		last = code;
		low += 251;
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_magnitudes),
		cmocka_unit_test(test_srgb_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
