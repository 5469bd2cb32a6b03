// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The shader core as a whole: threads, control flow, memory, the ways in
 * which a program can go wrong.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "core_fixture.h"

static void stores_thread_position(void **state)
{
	struct fixture *f = *state;
	unsigned int i;

	assert_int_equal(fixture_run(f,
		"mov r1, thread_in_grid_x\n"
		"store r1, du0, r1, i32, x, a\n"
		"stop\n", 100), 0);
	for (i = 0; i < 100; i++)
		assert_int_equal(fixture_words()[i], i);
	assert_int_equal(fixture_words()[100], 0xcccccccc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(stores_thread_position,
						fixture_setup,
						fixture_teardown),
	};

	return cmocka_run_group_tests_name("core", tests, NULL, NULL);
}
