// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * A log that says nothing.
 */
#include "fuzz.h"
#include "report.h"

FILE *fuzz_null(void)
{
	static FILE *null;

	if (!null)
		null = fopen("/dev/null", "w");
	FUZZ_CHECK(null);
	return null;
}

struct vagx_report *fuzz_report(void)
{
	static struct vagx_report *report;

	if (!report) {
		struct vagx_report_config config = {
			.stream = fuzz_null(),
			.level = VAGX_LOG_DEBUG,
		};

		report = vagx_report_new(&config);
	}
	FUZZ_CHECK(report);
	return report;
}
