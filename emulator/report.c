// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * The log, and findings about the driver. Each finding is counted by its rule, and the first
 * PRINTED_PER_RULE of each are printed. Any thread: @lock keeps lines whole and protects the
 * counts.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report.h"

/* Findings of one rule that are printed; the rest is only counted */
#define PRINTED_PER_RULE 8

struct vagx_report {
	FILE *stream;
	enum vagx_log_level level;
	bool lenient;
	uint64_t start_ns;
	pthread_mutex_t lock;		/* @stream, one line at a time; @count */
	uint64_t count[VAGX_RULES_AND_CLAUSES];
};

#define VIOLATION VAGX_SEVERITY_VIOLATION
#define WARNING VAGX_SEVERITY_WARNING

static const struct vagx_rule_info report_rules[] = {
#define VAGX_RULE(id, severity, source, text) \
	{ #id, severity, source, text, VAGX_RULE_##id },
#include "rules.def"
#define VAGX_CLAUSE(id, name, text) \
	{ #id ":" #name, 0, NULL, text, VAGX_RULE_##id },
#include "rules.def"
};

#undef VIOLATION
#undef WARNING

static uint64_t report_monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

struct vagx_report *vagx_report_new(const struct vagx_report_config *config)
{
	struct vagx_report *report = calloc(1, sizeof(*report));

	if (!report)
		return NULL;

	report->stream = config->stream ? config->stream : stderr;
	report->level = config->level;
	report->lenient = config->lenient;
	report->start_ns = report_monotonic_ns();
	pthread_mutex_init(&report->lock, NULL);
	return report;
}

void vagx_report_free(struct vagx_report *report)
{
	if (!report)
		return;

	pthread_mutex_destroy(&report->lock);
	free(report);
}

static void report_print_prefix(const struct vagx_report *report, const char *what)
{
	uint64_t us = (report_monotonic_ns() - report->start_ns) / 1000;

	fprintf(report->stream, "vagx %4" PRIu64 ".%06" PRIu64 " %s: ",
		us / 1000000, us % 1000000, what);
}

static void report_print_end(const struct vagx_report *report)
{
	fputc('\n', report->stream);
	fflush(report->stream);
}

bool vagx_log_enabled(const struct vagx_report *report,
		      enum vagx_log_level level)
{
	return report && level <= report->level;
}

void vagx_log(struct vagx_report *report, enum vagx_log_level level,
	      const char *fmt, ...)
{
	static const char *const names[] = {
		[VAGX_LOG_ERROR] = "error",
		[VAGX_LOG_WARNING] = "warning",
		[VAGX_LOG_INFO] = "info",
		[VAGX_LOG_DEBUG] = "debug",
		[VAGX_LOG_TRACE] = "trace",
	};
	va_list args;

	if (!vagx_log_enabled(report, level))
		return;

	pthread_mutex_lock(&report->lock);
	report_print_prefix(report, names[level]);
	va_start(args, fmt);
	vfprintf(report->stream, fmt, args);
	va_end(args);
	report_print_end(report);
	pthread_mutex_unlock(&report->lock);
}

void vagx_violation(struct vagx_report *report, enum vagx_rule rule,
		    uint64_t address, const char *structure,
		    const char *fmt, ...)
{
	const struct vagx_rule_info *info = vagx_rule_info(rule);
	const struct vagx_rule_info *whole = info ? &report_rules[info->rule] : NULL;
	uint64_t nth;
	va_list args;

	if (!report || !info)
		return;

	pthread_mutex_lock(&report->lock);
	nth = ++report->count[rule];
	if (nth <= PRINTED_PER_RULE) {
		report_print_prefix(report,
				    whole->severity == VAGX_SEVERITY_VIOLATION ?
				     "VIOLATION" : "WARNING");
		fprintf(report->stream, "%s at 0x%" PRIx64 " (%s): ",
			info->id, address, structure);
		va_start(args, fmt);
		vfprintf(report->stream, fmt, args);
		va_end(args);
		fprintf(report->stream, "; rule: %s%s%s (%s)%s", whole->text,
			info != whole ? ": " : "", info != whole ? info->text : "",
			whole->source, nth == PRINTED_PER_RULE ?
				"; further ones are only counted" : "");
		report_print_end(report);
	}
	pthread_mutex_unlock(&report->lock);
}

uint64_t vagx_report_count(const struct vagx_report *report,
			   enum vagx_rule rule)
{
	/* The lock is no part of what the caller sees as constant */
	struct vagx_report *r = (struct vagx_report *)report;
	uint64_t count = 0;

	if (!report || rule >= VAGX_RULES_AND_CLAUSES)
		return 0;

	pthread_mutex_lock(&r->lock);
	count = r->count[rule];
	for (unsigned int i = VAGX_RULE_COUNT; rule < VAGX_RULE_COUNT && i < VAGX_RULES_AND_CLAUSES;
	     i++) {
		if (report_rules[i].rule == rule)
			count += r->count[i];
	}
	pthread_mutex_unlock(&r->lock);
	return count;
}

uint64_t vagx_report_total(const struct vagx_report *report,
			   enum vagx_severity severity)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < VAGX_RULE_COUNT; i++) {
		if (report_rules[i].severity == severity)
			sum += vagx_report_count(report, i);
	}
	return sum;
}

bool vagx_report_failed(const struct vagx_report *report)
{
	return report && !report->lenient &&
	       vagx_report_total(report, VAGX_SEVERITY_VIOLATION) > 0;
}

void vagx_report_summary(struct vagx_report *report)
{
	if (!report)
		return;

	for (unsigned int i = 0; i < VAGX_RULE_COUNT; i++) {
		uint64_t count = vagx_report_count(report, i);

		if (!count)
			continue;
		pthread_mutex_lock(&report->lock);
		report_print_prefix(report, "summary");
		fprintf(report->stream, "%s %s: %" PRIu64 " times: %s",
			report_rules[i].severity == VAGX_SEVERITY_VIOLATION ?
				"violation" : "warning",
			report_rules[i].id, count, report_rules[i].text);
		report_print_end(report);
		pthread_mutex_unlock(&report->lock);
	}

	pthread_mutex_lock(&report->lock);
	report_print_prefix(report, "summary");
	pthread_mutex_unlock(&report->lock);
	fprintf(report->stream,
		"%" PRIu64 " violations, %" PRIu64 " warnings%s",
		vagx_report_total(report, VAGX_SEVERITY_VIOLATION),
		vagx_report_total(report, VAGX_SEVERITY_WARNING),
		report->lenient ? " (lenient: not failing)" : "");
	report_print_end(report);
}

const struct vagx_rule_info *vagx_rule_info(enum vagx_rule rule)
{
	return rule < VAGX_RULES_AND_CLAUSES ? &report_rules[rule] : NULL;
}

bool vagx_rule_is_leaf(enum vagx_rule rule)
{
	for (unsigned int i = VAGX_RULE_COUNT; rule < VAGX_RULE_COUNT && i < VAGX_RULES_AND_CLAUSES;
	     i++) {
		if (report_rules[i].rule == rule)
			return false;
	}
	return true;
}
