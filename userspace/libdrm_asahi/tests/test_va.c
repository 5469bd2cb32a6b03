// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "asahi_priv.h"

#define PAGE	UINT64_C(0x4000)
#define START	(UINT64_C(1) << 32)
#define PAGES	256
#define END	(START + PAGES * PAGE)

static void test_first_fit(void **state)
{
	struct asahi_va va;
	uint64_t a, b, c, d;

	assert_int_equal(asahi_va_init(&va, START, END), 0);
	assert_int_equal(asahi_va_alloc(&va, PAGE, PAGE, &a), 0);
	assert_int_equal(asahi_va_alloc(&va, 2 * PAGE, PAGE, &b), 0);
	assert_int_equal(asahi_va_alloc(&va, PAGE, 16 * PAGE, &c), 0);
	assert_int_equal(a, START);
	assert_int_equal(b, START + PAGE);
	assert_int_equal(c, START + 16 * PAGE);
	assert_int_equal(asahi_va_free(&va, b, 2 * PAGE), 0);
	assert_int_equal(asahi_va_alloc(&va, PAGE, PAGE, &d), 0);
	assert_int_equal(d, START + PAGE);
	asahi_va_fini(&va);
}

static void test_exhaustion(void **state)
{
	struct asahi_va va;
	uint64_t a, b;

	assert_int_equal(asahi_va_init(&va, START, END), 0);
	assert_int_equal(asahi_va_alloc(&va, PAGES * PAGE, PAGE, &a), 0);
	assert_int_equal(asahi_va_alloc(&va, PAGE, PAGE, &b), -ENOSPC);
	assert_int_equal(asahi_va_free(&va, a, PAGES * PAGE), 0);
	assert_int_equal(asahi_va_alloc(&va, (PAGES + 1) * PAGE, PAGE, &b),
			 -ENOSPC);
	assert_int_equal(asahi_va_alloc(&va, PAGE, UINT64_C(1) << 63, &b),
			 -ENOSPC);
	assert_int_equal(asahi_va_alloc(&va, PAGES * PAGE, PAGE, &b), 0);
	asahi_va_fini(&va);
}

static void test_double_free(void **state)
{
	struct asahi_va va;
	uint64_t a;

	assert_int_equal(asahi_va_init(&va, START, END), 0);
	assert_int_equal(asahi_va_alloc(&va, 4 * PAGE, PAGE, &a), 0);
	assert_int_equal(asahi_va_free(&va, a + PAGE, 4 * PAGE), -EINVAL);
	assert_int_equal(asahi_va_free(&va, a + PAGE, PAGE), 0);
	assert_int_equal(asahi_va_free(&va, a, 4 * PAGE), -EINVAL);
	assert_int_equal(asahi_va_free(&va, a, PAGE), 0);
	assert_int_equal(asahi_va_free(&va, a, PAGE), -EINVAL);
	asahi_va_fini(&va);
}

/* Against a map of pages: nothing is handed out twice, nothing is lost. */
static void test_random(void **state)
{
	struct { uint64_t addr, pages; } live[64] = { { 0, 0 } };
	char used[PAGES] = { 0 };
	struct asahi_va va;
	unsigned int seed = 7;
	unsigned int i, n;
	uint64_t all;

	assert_int_equal(asahi_va_init(&va, START, END), 0);
	for (n = 0; n < 20000; n++) {
		unsigned int slot = rand_r(&seed) % 64;
		uint64_t pages = 1 + rand_r(&seed) % 8;
		uint64_t align = PAGE << rand_r(&seed) % 4;
		uint64_t first = (live[slot].addr - START) / PAGE;

		if (live[slot].pages) {
			assert_int_equal(asahi_va_free(&va, live[slot].addr,
						       live[slot].pages * PAGE),
					 0);
			for (i = 0; i < live[slot].pages; i++)
				used[first + i] = 0;
			live[slot].pages = 0;
			continue;
		}
		if (asahi_va_alloc(&va, pages * PAGE, align, &live[slot].addr))
			continue;
		live[slot].pages = pages;
		assert_int_equal(live[slot].addr % align, 0);
		first = (live[slot].addr - START) / PAGE;
		for (i = 0; i < pages; i++)
			assert_int_equal(used[first + i]++, 0);
	}
	for (i = 0; i < 64; i++) {
		if (live[i].pages)
			assert_int_equal(asahi_va_free(&va, live[i].addr,
						       live[i].pages * PAGE),
					 0);
	}
	assert_int_equal(asahi_va_alloc(&va, PAGES * PAGE, PAGE, &all), 0);
	asahi_va_fini(&va);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_fit),
		cmocka_unit_test(test_exhaustion),
		cmocka_unit_test(test_double_free),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests_name("addresses", tests, NULL, NULL);
}
