// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Special functions against the C library's in doubles, for one float in 997 of all that there are,
 * and around the places where the functions change their way.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "agx_float.h"
#include "core_special.h"

#define STEP	997

/* As registers have it: denormals are zero */
static float flushed(float value)
{
	return fabsf(value) < 0x1p-126f ? copysignf(0.0f, value) : value;
}

/* How many floats there are between two results; NaNs are equal, and so are zeros */
static unsigned int distance(float a, float b)
{
	a = flushed(a);
	b = flushed(b);
	if (a == b || (a != a && b != b))
		return 0;
	if (a != a || b != b || signbit(a) != signbit(b))
		return UINT32_MAX;
	return (unsigned int)abs((int)(float_bits(a) - float_bits(b)));
}

typedef float special_fn(float x);
typedef double reference_fn(double x);

static void compare_one(const char *name, special_fn *fn, reference_fn *reference, float x)
{
	float wanted = (float)reference(x), got = fn(x);

	if (distance(got, wanted) > 1)
		fail_msg("%s of %a is %a, not %a", name, (double)x, (double)got, (double)wanted);
}

static void compare(const char *name, special_fn *fn, reference_fn *reference, float limit)
{
	static const float edges[] = {
		0.0f, 0x1p-126f, 0.5f, 0.70710677f, 0.70710683f, 1.0f, 1.4142135f, 1.4142137f, 2.0f,
		126.0f, 127.0f, 128.0f, 149.0f, 300.0f, 0x1p24f, 0x1.fffffep127f, INFINITY, NAN,
	};
	unsigned int i, step;
	uint64_t bits;

	for (bits = 0; bits <= UINT32_MAX; bits += STEP) {
		float x = flushed(bits_float((uint32_t)bits));

		if (!(fabsf(x) > limit))
			compare_one(name, fn, reference, x);
	}
	for (i = 0; i < sizeof(edges) / sizeof(edges[0]); i++) {
		for (step = 0; step < 6; step++) {
			float x = bits_float(float_bits(edges[i]) + step / 2 - 1);

			x = flushed(step % 2 ? -x : x);
			if (!(fabsf(x) > limit))
				compare_one(name, fn, reference, x);
		}
	}
}

static float run_log2(float x)
{
	return special_log2(x);
}

static float run_exp2(float x)
{
	return special_exp2(x);
}

static float run_rsqrt(float x)
{
	return special_rsqrt(x);
}

static float run_sine(float x)
{
	float reduced = flushed(special_sine_reduce(x));

	return reduced * special_sine_quotient(reduced);
}

static float run_quotient(float x)
{
	return special_sine_quotient(x);
}

static double reference_rsqrt(double x)
{
	return 1.0 / sqrt(x);
}

static double reference_quotient(double x)
{
	const double quarter = acos(-1.0) / 2;

	return x == 0.0 ? quarter : sin(x * quarter) / x;
}

static void logarithms(void **state)
{
	compare("log2", run_log2, log2, INFINITY);
}

static void exponentials(void **state)
{
	compare("exp2", run_exp2, exp2, INFINITY);
}

static void square_roots(void **state)
{
	compare("rsqrt", run_rsqrt, reference_rsqrt, INFINITY);
	assert_true(special_rsqrt_for_sqrt(0.0f) == 1.0f);
	assert_true(special_rsqrt_for_sqrt(-0.0f) == 1.0f);
	assert_true(special_rsqrt_for_sqrt(INFINITY) == 1.0f);
	assert_true(isnan(special_rsqrt_for_sqrt(-INFINITY)));
	assert_true(special_rsqrt_for_sqrt(4.0f) == 0.5f);
}

static void sines(void **state)
{
	unsigned int i;

	/* the quotient of what is reduced, and of a few turns more */
	compare("sinc", run_quotient, reference_quotient, 1.0f);
	for (i = 0; i < 4000; i++) {
		float x = (float)i / 256;

		assert_true(fabs((double)special_sine_quotient(x) - reference_quotient(x)) < 1e-6);
		assert_true(fabs((double)run_sine(-x) - sin(-x * acos(-1.0) / 2)) < 1e-6);
	}
	assert_true(isnan(special_sine_quotient(INFINITY)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(logarithms),
		cmocka_unit_test(exponentials),
		cmocka_unit_test(square_roots),
		cmocka_unit_test(sines),
	};

	return cmocka_run_group_tests_name("core_special", tests, NULL, NULL);
}
