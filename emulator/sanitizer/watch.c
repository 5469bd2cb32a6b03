// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * A watch on an instruction of a shader: prints the registers of a thread each time when it comes
 * there, and what the instruction before has changed. A thread is named as its stage does: by its
 * place in the grid, by vertex and instance, by pixel and layer. Runs on the thread of the core.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "report.h"
#include "sanitizer/shadow.h"

/* Prints of all cores; the rest is left out, after a line that says so */
#define WATCH_PRINTS	256
#define IN_A_LINE	8

bool vagx_watch_parse(const char *place, const char *thread, struct vagx_watch *watch)
{
	unsigned int i;
	char *end;

	*watch = (struct vagx_watch){ .enabled = true, .any_thread = !thread };
	watch->shader = strtoull(place, &end, 16);
	if (end == place)
		return false;
	if (*end == '+' || *end == ':') {
		place = end + 1;
		watch->offset = strtoull(place, &end, 0);
	}
	if (end == place || *end)
		return false;
	for (i = 0; thread && i < 3; i++) {
		watch->thread[i] = (uint32_t)strtoul(thread, &end, 10);
		if (end == thread || *end != (i < 2 ? ',' : '\0'))
			return false;
		thread = end + 1;
	}
	return true;
}

static void watch_place_in_grid(const struct simdgroup *sg, unsigned int lane, uint32_t place[3])
{
	const struct vagx_core *core = sg->core;
	uint32_t thread = sg->index * LANES + lane;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		place[i] = core->group[i] * core->launch->local[i] + thread % core->size[i];
		thread /= core->size[i];
	}
}

/* The numbers by which a thread is named */
static void watch_name(const struct simdgroup *sg, unsigned int lane, uint32_t name[3])
{
	const struct vagx_core *core = sg->core;

	if (core->vertices) {
		name[0] = core->vertices->id[lane];
		name[1] = core->vertices->instance[lane];
		name[2] = 0;
	} else if (core->fragments) {
		name[0] = core->fragments->x[lane];
		name[1] = core->fragments->y[lane];
		name[2] = core->tile->layer;
	} else {
		watch_place_in_grid(sg, lane, name);
	}
}

/* The lane of the thread that is watched. Return: LANES if it is in another simdgroup. */
static unsigned int watch_find_lane(const struct step *step, const struct vagx_watch *watch)
{
	uint32_t name[3], left;

	if (watch->any_thread)
		return step->exec ? (unsigned int)__builtin_ctz(step->exec) : LANES;
	for (left = step->sg->valid; left; left &= left - 1) {
		unsigned int lane = __builtin_ctz(left);

		watch_name(step->sg, lane, name);
		if (!memcmp(name, watch->thread, sizeof(name)))
			return lane;
	}
	return LANES;
}

/* Prints all registers of a lane, with a mark at those that have changed */
static void watch_print_registers(const struct step *step, unsigned int lane, FILE *file)
{
	const struct shadow_simdgroup *s = step->shadow;
	unsigned int count = (step->sg->core->register_halves + 1) / 2, reg;

	fprintf(file, "\n active: %s; registers, with * at those that the instruction before has changed:",
		step->exec >> lane & 1 ? "yes" : "no");
	for (reg = 0; reg < count; reg++) {
		uint32_t value = step->sg->reg[reg].v[lane];
		bool changed = s->watched_lane == lane && s->watched[reg] != value;

		if (reg % IN_A_LINE == 0)
			fprintf(file, "\n   r%-3u", reg);
		fprintf(file, " %08" PRIx32 "%c", value, changed ? '*' : ' ');
	}
}

static void watch_print(const struct step *step, unsigned int lane)
{
	struct vagx_shadow *shadow = step->sg->core->shadow;
	unsigned int count = atomic_fetch_add(shadow->watch_prints, 1);
	struct core_failure where;
	char *text = NULL;
	size_t size;
	FILE *file;

	if (count == WATCH_PRINTS)
		vagx_log(shadow->report, VAGX_LOG_WARNING, "watch: more is not printed");
	file = count < WATCH_PRINTS ? open_memstream(&text, &size) : NULL;
	if (!file)
		return;
	vagx_core_remember_place(step->sg, step->op, lane, &where);
	vagx_core_describe_place(&where, file);
	watch_print_registers(step, lane, file);
	if (!fclose(file))
		vagx_log(shadow->report, VAGX_LOG_WARNING,
			 "watch: before 0x%" PRIx64 " of the %s %016" PRIx64 "+0x%" PRIx64 "%s",
			 step->op->va, vagx_core_stage_name(step->sg->core),
			 step->sg->program->checksum, step->op->va - step->sg->program->va, text);
	free(text);
}

void watch_before(const struct step *step)
{
	const struct vagx_watch *watch = step->sg->core->shadow->watch;
	struct shadow_simdgroup *s = step->shadow;
	unsigned int lane, reg;

	if (step->sg->program->checksum != watch->shader)
		return;
	lane = watch_find_lane(step, watch);
	if (lane == LANES)
		return;
	if (step->op->va - step->sg->program->va == watch->offset)
		watch_print(step, lane);
	for (reg = 0; reg < REGISTERS; reg++)
		s->watched[reg] = step->sg->reg[reg].v[lane];
	s->watched_lane = lane;
}
