/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_REPORT_H
#define VAGX_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * The emulator's log, and its findings about the driver.
 *
 * A rule is something that the guest has to keep to; rules.def lists them
 * all, each with an id, a severity, the source that says so and a sentence.
 * Breaking a VIOLATION rule fails the run; a WARNING is for what the sources
 * disagree or are silent about. All functions: any thread.
 */
enum vagx_severity { VAGX_SEVERITY_WARNING, VAGX_SEVERITY_VIOLATION };

#define VAGX_RULE(id, severity, source, text) VAGX_RULE_##id,
enum vagx_rule {
#include "rules.def"
	VAGX_RULE_COUNT
};
#undef VAGX_RULE

enum vagx_log_level {
	VAGX_LOG_ERROR,
	VAGX_LOG_WARNING,
	VAGX_LOG_INFO,
	VAGX_LOG_DEBUG,
	VAGX_LOG_TRACE,			/* every message and register */
};

struct vagx_report;

struct vagx_report_config {
	FILE *stream;			/* stderr when NULL */
	enum vagx_log_level level;
	bool lenient;			/* findings do not fail the run */
};

struct vagx_report *vagx_report_new(const struct vagx_report_config *config);
void vagx_report_free(struct vagx_report *report);

/**
 * vagx_violation() - the guest broke a rule
 * @report: where to; NULL is allowed and says nothing
 * @rule: VAGX_RULE_<id>; its severity is in rules.def
 * @address: where (virtual address, register offset, ... of the finding)
 * @structure: name of the structure or unit concerned
 * @fmt: what was found instead
 *
 * The first findings of each rule are printed, the rest counted.
 */
void vagx_violation(struct vagx_report *report, enum vagx_rule rule,
		    uint64_t address, const char *structure,
		    const char *fmt, ...) __attribute__((format(printf, 5, 6)));

void vagx_log(struct vagx_report *report, enum vagx_log_level level,
	      const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Whether a message of this level would be printed; to save work */
bool vagx_log_enabled(const struct vagx_report *report,
		      enum vagx_log_level level);

uint64_t vagx_report_count(const struct vagx_report *report,
			   enum vagx_rule rule);

/* Findings of this severity */
uint64_t vagx_report_total(const struct vagx_report *report,
			   enum vagx_severity severity);

/* Whether the run failed: a VIOLATION in strict mode */
bool vagx_report_failed(const struct vagx_report *report);

/* One line per broken rule and a total, to the log */
void vagx_report_summary(struct vagx_report *report);

struct vagx_rule_info {
	const char *id;
	enum vagx_severity severity;
	const char *source;
	const char *text;
};

const struct vagx_rule_info *vagx_rule_info(enum vagx_rule rule);

#endif
