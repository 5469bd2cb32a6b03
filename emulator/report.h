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
 * disagree or are silent about. Rules that can be broken in several ways have
 * clauses. All functions: any thread.
 */
enum vagx_severity { VAGX_SEVERITY_WARNING, VAGX_SEVERITY_VIOLATION };

/* The rules, and behind them their clauses, which are used as rules are */
enum vagx_rule {
#define VAGX_RULE(id, severity, source, text) VAGX_RULE_##id,
#include "rules.def"
	VAGX_RULE_COUNT,
	VAGX_RULE_LAST = VAGX_RULE_COUNT - 1,
#define VAGX_CLAUSE(id, name, text) VAGX_CLAUSE_##id##_##name,
#include "rules.def"
	VAGX_RULES_AND_CLAUSES,
	VAGX_KEPT = VAGX_RULES_AND_CLAUSES,	/* a rule is not broken */
};

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
 * @rule: VAGX_CLAUSE_<id>_<name>, or VAGX_RULE_<id> of a rule without clauses;
 *	VAGX_KEPT says nothing
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

/* Findings of a rule with those of its clauses, or of one clause */
uint64_t vagx_report_count(const struct vagx_report *report,
			   enum vagx_rule rule);

/* Findings of this severity */
uint64_t vagx_report_total(const struct vagx_report *report,
			   enum vagx_severity severity);

/* Whether the run failed: a VIOLATION in strict mode */
bool vagx_report_failed(const struct vagx_report *report);

/* One line per broken rule and a total, to the log */
void vagx_report_summary(struct vagx_report *report);

/**
 * struct vagx_rule_info - a rule or a clause
 * @id: of the rule; of a clause with its name, "RULE:name"
 * @severity: of a rule
 * @source: of a rule
 * @text: sentence
 * @rule: the rule that a clause belongs to; a rule itself
 */
struct vagx_rule_info {
	const char *id;
	enum vagx_severity severity;
	const char *source;
	const char *text;
	enum vagx_rule rule;
};

/* Return: NULL behind the last clause */
const struct vagx_rule_info *vagx_rule_info(enum vagx_rule rule);

/* Whether findings are about this one: a clause, or a rule that has none */
bool vagx_rule_is_leaf(enum vagx_rule rule);

#endif
