/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Test Anything Protocol for the device's test programs, each of which is one
 * file: the functions are static for that reason.
 */
#ifndef TESTS_TAP_H
#define TESTS_TAP_H

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned int tap_number;
static unsigned int tap_bad;

/* Counts and prints one result. Return: @good */
static bool __attribute__((format(printf, 2, 3), unused))
tap(bool good, const char *fmt, ...)
{
	va_list args;

	printf("%sok %u - ", good ? "" : "not ", ++tap_number);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
	tap_bad += !good;
	return good;
}

/* An error, 0 or a negative errno value, is what it should be. */
static bool __attribute__((unused))
tap_error(int got, int expected, const char *what)
{
	if (got == expected)
		return tap(true, "%s: %s", what,
			   expected ? strerror(-expected) : "works");
	return tap(false, "%s: %s, not %s", what,
		   got ? strerror(-got) : "success",
		   expected ? strerror(-expected) : "success");
}

static void __attribute__((noreturn, unused)) tap_bail_out(const char *what)
{
	printf("Bail out! %s\n", what);
	exit(EXIT_FAILURE);
}

/* Return: what main() returns. */
static int __attribute__((unused)) tap_end(void)
{
	printf("1..%u\n", tap_number);
	return tap_bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif /* TESTS_TAP_H */
