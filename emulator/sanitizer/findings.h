/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Findings of the sanitizer: one report for each place, counted, unless it is suppressed.
 */
#ifndef VAGX_SANITIZER_FINDINGS_H
#define VAGX_SANITIZER_FINDINGS_H

#include "sanitizer/sanitizer.h"

struct findings;
struct op;

enum finding_kind {
#define SANITIZER_FINDING(id, name, text) FINDING_##id,
#include "sanitizer/findings.def"
#undef SANITIZER_FINDING
	FINDING_KINDS
};

/* Places that are kept; those beyond are counted as one */
#define FINDING_PLACES	1024

/**
 * findings_new() - make an empty list of findings
 * @report: takes them as warnings
 * @suppressions: file of those that are known, or NULL; a message says what is wrong with it
 *
 * Return: the list, or NULL with errno set.
 */
struct findings *findings_new(struct vagx_report *report, const char *suppressions);

/** findings_free() - free a list, or NULL, after a summary */
void findings_free(struct findings *findings);

/** findings_count_places() - places that were reported; from any thread */
uint64_t findings_count_places(struct findings *findings);

/**
 * finding_report() - report a finding
 * @sg: simdgroup
 * @op: its instruction
 * @kind: what it is
 * @lanes: lanes that it concerns; the first one is named
 * @format: details, for the first report of the place
 */
void finding_report(struct simdgroup *sg, const struct op *op, enum finding_kind kind,
		    uint32_t lanes, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

#endif /* VAGX_SANITIZER_FINDINGS_H */
