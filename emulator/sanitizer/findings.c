// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Places where the sanitizer has found something. A place is a kind of mistake and an instruction
 * of a shader; a shader is named by a checksum of its code, so that it is the same from run to
 * run, wherever it is in memory. The first finding of a place is printed, with the thread and the
 * instructions around; all are counted.
 *
 * A file of suppressions names places that are known, one a line: KIND SHADER[+OFFSET] REASON,
 * with "*" for any kind or any shader. Cores report from their threads; the lock protects places.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpu/core_internal.h"
#include "report.h"
#include "sanitizer/findings.h"
#include "sanitizer/shadow.h"

#define MAX_LINE	512
#define ANY_OFFSET	UINT64_MAX

/* An instruction of a shader */
struct findings_place {
	enum finding_kind kind;
	uint64_t shader;
	uint64_t offset;
	uint64_t count;
	bool suppressed;
};

struct findings_suppression {
	/* FINDING_KINDS for any */
	enum finding_kind kind;
	bool any_shader;
	uint64_t shader;
	uint64_t offset;
};

struct findings {
	struct vagx_report *report;
	struct findings_suppression *suppression;
	unsigned int num_suppressions;

	pthread_mutex_t lock;
	/* protected by @lock */
	struct findings_place place[FINDING_PLACES];
	unsigned int num_places;
	uint64_t beyond;
};

static const struct {
	const char *name;
	const char *text;
} findings_kinds[FINDING_KINDS] = {
#define SANITIZER_FINDING(id, name_, text_)	[FINDING_##id] = { .name = name_, .text = text_ },
#include "sanitizer/findings.def"
#undef SANITIZER_FINDING
};

/* Suppressions */

static bool findings_parse_kind(const char *text, enum finding_kind *kind)
{
	unsigned int i;

	*kind = FINDING_KINDS;
	if (!strcmp(text, "*"))
		return true;
	for (i = 0; i < FINDING_KINDS; i++) {
		if (!strcmp(text, findings_kinds[i].name)) {
			*kind = i;
			return true;
		}
	}
	return false;
}

static bool findings_parse_shader(const char *text, struct findings_suppression *s)
{
	char *end;

	s->offset = ANY_OFFSET;
	s->any_shader = !strcmp(text, "*");
	if (s->any_shader)
		return true;
	s->shader = strtoull(text, &end, 16);
	if (end == text)
		return false;
	if (*end == '+') {
		text = end + 1;
		s->offset = strtoull(text, &end, 0);
	}
	return end != text && !*end;
}

/* Parses a line without its end. Return: false if it is wrong. */
static bool findings_parse_line(char *line, struct findings_suppression *s)
{
	char *rest = line;
	const char *kind = strsep(&rest, " \t");
	const char *shader = rest ? strsep(&rest, " \t") : NULL;

	return shader && rest && *rest && findings_parse_kind(kind, &s->kind) &&
	       findings_parse_shader(shader, s);
}

static int findings_add_suppression(struct findings *findings,
				    const struct findings_suppression *s)
{
	unsigned int n = findings->num_suppressions;
	struct findings_suppression *more = realloc(findings->suppression, (n + 1) * sizeof(*more));

	if (!more)
		return ENOMEM;
	findings->suppression = more;
	more[n] = *s;
	findings->num_suppressions++;
	return 0;
}

static int findings_read_lines(struct findings *findings, FILE *file, const char *name)
{
	struct findings_suppression s;
	unsigned int number = 0;
	char line[MAX_LINE];
	int err = 0;

	while (!err && fgets(line, sizeof(line), file)) {
		number++;
		line[strcspn(line, "\n")] = '\0';
		if (!line[0] || line[0] == '#')
			continue;
		if (findings_parse_line(line, &s)) {
			err = findings_add_suppression(findings, &s);
			continue;
		}
		vagx_log(findings->report, VAGX_LOG_ERROR,
			 "%s:%u: expected KIND SHADER[+OFFSET] REASON, with * for any of both",
			 name, number);
		err = EINVAL;
	}
	return err;
}

static int findings_read_suppressions(struct findings *findings, const char *name)
{
	FILE *file = fopen(name, "re");
	int err;

	if (!file) {
		err = errno;
		vagx_log(findings->report, VAGX_LOG_ERROR, "%s: %s", name, strerror(err));
		return err;
	}
	err = findings_read_lines(findings, file, name);
	fclose(file);
	return err;
}

static bool findings_is_suppressed(const struct findings *findings,
				   const struct findings_place *place)
{
	unsigned int i;

	for (i = 0; i < findings->num_suppressions; i++) {
		const struct findings_suppression *s = &findings->suppression[i];

		if ((s->kind == FINDING_KINDS || s->kind == place->kind) &&
		    (s->any_shader || s->shader == place->shader) &&
		    (s->offset == ANY_OFFSET || s->offset == place->offset))
			return true;
	}
	return false;
}

/* Findings */

struct findings *findings_new(struct vagx_report *report, const char *suppressions)
{
	struct findings *findings = calloc(1, sizeof(*findings));
	int err;

	if (!findings)
		return NULL;
	pthread_mutex_init(&findings->lock, NULL);
	findings->report = report;
	err = suppressions ? findings_read_suppressions(findings, suppressions) : 0;
	if (!err)
		return findings;
	findings_free(findings);
	errno = err;
	return NULL;
}

static void findings_summarize(const struct findings *findings)
{
	unsigned int i;

	for (i = 0; i < findings->num_places; i++) {
		const struct findings_place *place = &findings->place[i];

		vagx_log(findings->report, place->suppressed ? VAGX_LOG_INFO : VAGX_LOG_WARNING,
			 "sanitizer: summary: %" PRIu64 " times: %s %016" PRIx64 "+0x%" PRIx64
			 "%s", place->count, findings_kinds[place->kind].name, place->shader,
			 place->offset, place->suppressed ? ", suppressed" : "");
	}
	if (findings->beyond)
		vagx_log(findings->report, VAGX_LOG_WARNING,
			 "sanitizer: summary: %" PRIu64 " times at further places, beyond the %u that are kept",
			 findings->beyond, FINDING_PLACES);
}

void findings_free(struct findings *findings)
{
	if (!findings)
		return;
	findings_summarize(findings);
	pthread_mutex_destroy(&findings->lock);
	free(findings->suppression);
	free(findings);
}

uint64_t findings_count_places(struct findings *findings)
{
	uint64_t count = 0;
	unsigned int i;

	pthread_mutex_lock(&findings->lock);
	for (i = 0; i < findings->num_places; i++)
		count += !findings->place[i].suppressed;
	count += findings->beyond != 0;
	pthread_mutex_unlock(&findings->lock);
	return count;
}

/* Counts a finding. Return: whether it is the first one of its place, to be printed. */
static bool findings_count(struct findings *findings, const struct findings_place *found)
{
	struct findings_place *place = findings->place;
	unsigned int i;

	for (i = 0; i < findings->num_places; i++, place++) {
		if (place->kind == found->kind && place->shader == found->shader &&
		    place->offset == found->offset) {
			place->count++;
			return false;
		}
	}
	if (i == FINDING_PLACES)
		return !findings->beyond++;
	*place = *found;
	place->count = 1;
	place->suppressed = findings_is_suppressed(findings, place);
	findings->num_places++;
	return !place->suppressed;
}

static void findings_print(struct findings *findings, struct simdgroup *sg,
			   const struct op *op, const struct findings_place *place, uint32_t lanes,
			   const char *details)
{
	struct core_failure where;
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return;
	vagx_core_remember_place(sg, op, lanes ? __builtin_ctz(lanes) : 0, &where);
	vagx_core_describe_place(&where, file);
	if (!fclose(file))
		vagx_log(findings->report, VAGX_LOG_WARNING,
			 "sanitizer: %s: the instruction at 0x%" PRIx64 " of the %s %016" PRIx64
			 "+0x%" PRIx64 " %s%s%s", findings_kinds[place->kind].name, op->va,
			 vagx_core_stage_name(sg->core), place->shader, place->offset,
			 findings_kinds[place->kind].text, details, text);
	free(text);
}

void finding_report(struct simdgroup *sg, const struct op *op, enum finding_kind kind,
		    uint32_t lanes, const char *format, ...)
{
	struct findings *findings = sg->core->shadow->findings;
	const struct findings_place place = {
		.kind = kind,
		.shader = sg->program->checksum,
		.offset = op->va - sg->program->va,
	};
	char details[128];
	va_list args;
	bool first;

	pthread_mutex_lock(&findings->lock);
	first = findings_count(findings, &place);
	pthread_mutex_unlock(&findings->lock);
	if (!first)
		return;
	va_start(args, format);
	vsnprintf(details, sizeof(details), format, args);
	va_end(args);
	findings_print(findings, sg, op, &place, lanes, details);
}
