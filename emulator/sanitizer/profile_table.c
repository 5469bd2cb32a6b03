// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The profile as a table for people: shaders by the slots that they have taken, what they have
 * waited for, the hottest instructions of all, and the hottest shader from its beginning to its
 * end. Each line begins with a space: it goes on with a message of the log.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sanitizer/profile.h"

/* Lines of each part, at most */
#define MAX_SHADERS	12
#define MAX_OPS		24
#define MAX_LISTED	400

/* An instruction, and the shader that it is of */
struct profile_table_op {
	const struct profile_shader *shader;
	const struct profile_op *op;
	uint64_t slots;
};

/* What is printed, sorted */
struct profile_table {
	const struct profile_shader **shader;
	size_t num_shaders;
	struct profile_sum sum;
	uint64_t stalls[PROFILE_UNITS];
};

static double profile_table_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static double profile_table_mean(uint64_t sum, uint64_t count)
{
	return count ? (double)sum / (double)count : 0;
}

static int profile_table_order(uint64_t a, uint64_t b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

static int profile_table_compare_shaders(const void *a, const void *b)
{
	const struct profile_shader *const *x = a, *const *y = b;
	int order = profile_table_order((*x)->sum.slots, (*y)->sum.slots);

	return order ? order : profile_table_order((*x)->checksum, (*y)->checksum);
}

static int profile_table_compare_ops(const void *a, const void *b)
{
	const struct profile_table_op *x = a, *y = b;
	int order = profile_table_order(x->slots, y->slots);

	if (!order && x->shader != y->shader)
		order = profile_table_order(x->shader->checksum, y->shader->checksum);
	if (order)
		return order;
	return x->op->offset < y->op->offset ? -1 : x->op->offset > y->op->offset;
}

static int profile_table_compare_places(const void *a, const void *b)
{
	const struct profile_op *const *x = a, *const *y = b;

	return (*x)->offset < (*y)->offset ? -1 : (*x)->offset > (*y)->offset;
}

static void profile_table_add(struct profile_table *table, const struct profile_shader *shader)
{
	unsigned int i;

	profile_add(&table->sum, &shader->sum);
	for (i = 0; i < PROFILE_UNITS; i++)
		table->stalls[i] += shader->stalls[i];
}

/* Collects all shaders. Return: false without memory. */
static bool profile_table_begin(struct profile_table *table, const struct profile *profile)
{
	const struct profile_shader *shader;
	size_t count = 0;
	unsigned int i;

	for (i = 0; i < PROFILE_BUCKETS; i++) {
		for (shader = profile->shaders.bucket[i]; shader; shader = shader->next)
			count++;
	}
	table->shader = calloc(count + 1, sizeof(*table->shader));
	if (!table->shader)
		return false;
	for (i = 0; i < PROFILE_BUCKETS; i++) {
		for (shader = profile->shaders.bucket[i]; shader; shader = shader->next) {
			table->shader[table->num_shaders++] = shader;
			profile_table_add(table, shader);
		}
	}
	profile_table_add(table, &profile->lost);
	qsort(table->shader, count, sizeof(*table->shader), profile_table_compare_shaders);
	return true;
}

static void profile_table_print_shaders(const struct profile_table *table,
					const struct profile_shader *lost, FILE *file)
{
	size_t i;

	fprintf(file, "\n shaders, %zu:\n"
		"   slots  stalled  simdgroups  instructions  lanes  diverged  shader",
		table->num_shaders);
	for (i = 0; i < table->num_shaders && i < MAX_SHADERS; i++) {
		const struct profile_shader *s = table->shader[i];
		const struct profile_sum *sum = &s->sum;

		fprintf(file, "\n   %4.1f%%    %4.1f%%  %10" PRIu64 "  %12" PRIu64
			"   %4.1f     %4.1f%%  %s %016" PRIx64,
			profile_table_percent(sum->slots, table->sum.slots),
			profile_table_percent(sum->stall, sum->slots), sum->simdgroups,
			sum->instructions, profile_table_mean(sum->lanes, sum->instructions),
			profile_table_percent(sum->existing - sum->lanes, sum->existing),
			s->stage, s->checksum);
	}
	if (lost->sum.instructions)
		fprintf(file, "\n   %4.1f%% are of shaders beyond the %u instructions that are kept",
			profile_table_percent(lost->sum.slots, table->sum.slots), PROFILE_OPS);
}

static void profile_table_print_stalls(const struct profile_table *table, FILE *file)
{
	const char *before = "\n stalls by what they wait for:";
	unsigned int i;

	for (i = 0; i < PROFILE_UNITS; i++) {
		if (!table->stalls[i])
			continue;
		fprintf(file, "%s %s %.1f%%", before, profile_models[i].name,
			profile_table_percent(table->stalls[i], table->sum.stall));
		before = ",";
	}
}

static uint64_t profile_table_slots(const struct profile_op *op, enum agx_opcode opcode)
{
	return op->runs * profile_models[profile_unit_of(opcode)].slots + op->stall;
}

/* Decodes an instruction. Return: false if it is none. */
static bool profile_table_decode(const struct profile_op *op, struct agx_instr *instr)
{
	return op->length && agx_isa_decode(op->code, op->length, instr) > 0;
}

static void profile_table_print_op(const struct profile_table *table,
				   const struct profile_op *op, FILE *file)
{
	char text[AGX_ISA_MAX_TEXT];
	struct agx_instr instr;

	if (!profile_table_decode(op, &instr))
		return;
	agx_isa_print(&instr, text, sizeof(text));
	fprintf(file, "\n   %4.1f%%  %10" PRIu64 "   %4.1f  ",
		profile_table_percent(profile_table_slots(op, instr.op), table->sum.slots),
		op->runs, profile_table_mean(op->lanes, op->runs));
	if (op->stall)
		fprintf(file, "%6.1f  ", profile_table_mean(op->stall, op->runs));
	else
		fputs("     -  ", file);
	fprintf(file, "%5s0x%-4" PRIx64 " %s", op->offset < 0 ? "-" : "+",
		(uint64_t)(op->offset < 0 ? -op->offset : op->offset), text);
}

/* All instructions of all shaders that have run. Return: NULL without memory. */
static struct profile_table_op *profile_table_collect(const struct profile_table *table,
						      size_t *count)
{
	struct profile_table_op *all;
	struct agx_instr instr;
	size_t most = 1, i;
	uint32_t n;

	*count = 0;
	for (i = 0; i < table->num_shaders; i++)
		most += table->shader[i]->num_ops;
	all = calloc(most, sizeof(*all));
	for (i = 0; all && i < table->num_shaders; i++) {
		const struct profile_shader *s = table->shader[i];

		for (n = 0; n < s->num_ops; n++) {
			if (s->op[n].runs && profile_table_decode(&s->op[n], &instr))
				all[(*count)++] = (struct profile_table_op){
					s, &s->op[n], profile_table_slots(&s->op[n], instr.op)
				};
		}
	}
	return all;
}

static void profile_table_print_hottest(const struct profile_table *table, FILE *file)
{
	const struct profile_shader *shader = NULL;
	size_t count, i;
	struct profile_table_op *all = profile_table_collect(table, &count);

	if (!all)
		return;
	qsort(all, count, sizeof(*all), profile_table_compare_ops);
	fputs("\n hottest instructions:\n   slots  simdgroups  lanes   stall  instruction", file);
	for (i = 0; i < count && i < MAX_OPS; i++) {
		if (all[i].shader != shader)
			fprintf(file, "\n  %s %016" PRIx64 ":", all[i].shader->stage,
				all[i].shader->checksum);
		shader = all[i].shader;
		profile_table_print_op(table, all[i].op, file);
	}
	free(all);
}

/* The whole shader, but for what has never run */
static void profile_table_print_listing(const struct profile_table *table,
					const struct profile_shader *s, FILE *file)
{
	const struct profile_op **op = calloc(s->num_ops, sizeof(*op));
	uint32_t i, lines = 0, left_out = 0;

	for (i = 0; op && i < s->num_ops; i++)
		op[i] = &s->op[i];
	if (!op)
		return;
	qsort(op, s->num_ops, sizeof(*op), profile_table_compare_places);
	fprintf(file, "\n %s %016" PRIx64 ":\n   slots  simdgroups  lanes   stall  instruction",
		s->stage, s->checksum);
	for (i = 0; i < s->num_ops && lines < MAX_LISTED; i++) {
		if (!op[i]->runs) {
			left_out += op[i]->length != 0;
			continue;
		}
		if (left_out)
			fprintf(file, "\n   ...    instructions that have not run: %" PRIu32, left_out);
		left_out = 0;
		lines++;
		profile_table_print_op(table, op[i], file);
	}
	if (i < s->num_ops)
		fprintf(file, "\n   ...    more instructions: %" PRIu32, s->num_ops - i);
	free(op);
}

bool profile_print(const struct profile *profile, FILE *file)
{
	struct profile_table table = { .num_shaders = 0 };
	const struct profile_sum *sum = &table.sum;

	if (!profile_table_begin(&table, profile))
		return false;
	fprintf(file, "\n %" PRIu64 " instructions of %" PRIu64
		" simdgroups, with %.1f of 32 lanes; %" PRIu64 " issue slots, %.1f%% of them stalls",
		sum->instructions, sum->simdgroups,
		profile_table_mean(sum->lanes, sum->instructions), sum->slots,
		profile_table_percent(sum->stall, sum->slots));
	profile_table_print_shaders(&table, &profile->lost, file);
	profile_table_print_stalls(&table, file);
	profile_table_print_hottest(&table, file);
	if (table.num_shaders)
		profile_table_print_listing(&table, table.shader[0], file);
	free(table.shader);
	return sum->instructions;
}
