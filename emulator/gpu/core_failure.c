// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Where a program failed: the thread, the instructions around, its registers. It is
 * read off the core, which stays as it was until it is used again.
 */
#include <inttypes.h>

#include "core_internal.h"

/* Instructions before and after the one that failed */
#define BEFORE		8
#define AFTER		4
/* Registers in a line */
#define IN_A_LINE	8

/* Where the bytes at an address are kept, and how many. NULL where nothing is */
static const uint8_t *core_failure_bytes_at(const struct program *p, uint64_t va, size_t *count)
{
	unsigned int i;

	for (i = 0; i < p->num_code; i++) {
		const struct code *code = &p->code[i];

		if (va < code->va || va - code->va >= code->length)
			continue;
		*count = code->length - (va - code->va);
		return code->bytes + (va - code->va);
	}
	return NULL;
}

static void core_failure_print_op(FILE *file, const struct program *p, const struct op *op,
				  bool failed)
{
	size_t count = 0, i;
	const uint8_t *bytes = core_failure_bytes_at(p, op->va, &count);
	char text[AGX_ISA_MAX_TEXT] = "not an instruction that is known";
	struct agx_instr instr;
	int length = bytes ? agx_isa_decode(bytes, count, &instr) : 0;

	if (length > 0) {
		agx_isa_print(&instr, text, sizeof(text));
		count = length;
	} else if (!bytes) {
		snprintf(text, sizeof(text), "cannot be fetched");
	}
	if (count > AGX_ISA_MAX_LENGTH)
		count = AGX_ISA_MAX_LENGTH;
	fprintf(file, "\n  %s 0x%" PRIx64 ":", failed ? "->" : "  ", op->va);
	for (i = 0; i < AGX_ISA_MAX_LENGTH; i++) {
		if (i < count)
			fprintf(file, "%s%02x", i ? "" : " ", bytes[i]);
		else
			fputs(i ? "  " : "   ", file);
	}
	fprintf(file, " %s", text);
}

/* Whether the second op is what comes behind the first in memory */
static bool core_failure_follows(const struct op *first, const struct op *second)
{
	return first->run != vagx_exec_goto && second->run != vagx_exec_goto &&
	       first->va + first->length == second->va;
}

static void core_failure_print_ops(FILE *file, const struct program *p, const struct op *failed)
{
	const struct op *first = failed, *last = failed, *op;
	unsigned int i;

	for (i = 0; i < BEFORE && first > p->op && core_failure_follows(first - 1, first); i++)
		first--;
	for (i = 0;
	     i < AFTER && last + 1 < p->op + p->count && core_failure_follows(last, last + 1); i++)
		last++;
	fputs("\n instructions:", file);
	for (op = first; op <= last; op++)
		core_failure_print_op(file, p, op, op == failed);
}

static void core_failure_print_registers(FILE *file, const struct simdgroup *sg, unsigned int lane)
{
	unsigned int count = (sg->core->register_halves + 1) / 2, i;

	fprintf(file, "\n registers of that thread:");
	for (i = 0; i < count; i++) {
		if (i % IN_A_LINE == 0)
			fprintf(file, "\n   r%-3u", i);
		fprintf(file, " %08" PRIx32, sg->reg[i].v[lane]);
	}
}

/* Those that the instruction reads: what was bound, or what the preshader has left */
static void core_failure_print_uniforms(FILE *file, const struct op *op,
					const struct vagx_launch *launch)
{
	unsigned int i, half;

	for (i = 0; i < MAX_SRCS; i++) {
		const struct agx_operand *o = &op->src[i];
		unsigned int end = o->value + o->count * o->size / 16;

		if (o->type != AGX_OPERAND_UNIFORM || o->value < 0)
			continue;
		for (half = o->value; half < end && half < VAGX_CORE_UNIFORMS; half++)
			fprintf(file, "%s u%u%c %04x", half == (unsigned int)o->value ?
				"\n uniforms:" : "", half / 2, half % 2 ? 'h' : 'l',
				launch->uniforms[half]);
	}
}

static void core_failure_print_thread(FILE *file, const struct core_failure *f)
{
	if (f->lane_known)
		fprintf(file, "\n thread: %s; ", f->thread);
	else
		fprintf(file, "\n thread: one of them is %s; ", f->thread);
	fprintf(file, "lane %u of simdgroup %u, whose active lanes are 0x%08" PRIx32, f->lane,
		f->simdgroup->index, f->exec);
}

void vagx_core_describe_failure(const struct vagx_core *core, const struct vagx_launch *launch,
				FILE *file)
{
	const struct core_failure *f = &core->failure;

	if (!core->status || !f->simdgroup || !f->op)
		return;
	fprintf(file, "\n %s, of the shader at 0x%" PRIx64, core->error, launch->code_va);
	core_failure_print_thread(file, f);
	core_failure_print_ops(file, f->simdgroup->program, f->op);
	core_failure_print_uniforms(file, f->op, launch);
	core_failure_print_registers(file, f->simdgroup, f->lane);
}

/* The thread, in terms of what it works at */
static void core_failure_name_thread(const struct simdgroup *sg, struct core_failure *f)
{
	const struct vagx_core *core = sg->core;
	unsigned int thread = sg->index * LANES + f->lane, lane = f->lane;
	unsigned int row = core->size[0] ? thread / core->size[0] : 0;

	if (core->uniforms_out)
		snprintf(f->thread, sizeof(f->thread), "the preshader's");
	else if (core->vertices)
		snprintf(f->thread, sizeof(f->thread), "vertex %" PRIu32 ", instance %" PRIu32,
			 core->vertices->id[lane], core->vertices->instance[lane]);
	else if (core->fragments)
		snprintf(f->thread, sizeof(f->thread), "pixel %u, %u of layer %" PRIu32,
			 core->fragments->x[lane], core->fragments->y[lane],
			 core->tile ? core->tile->layer : 0);
	else if (core->tile)
		snprintf(f->thread, sizeof(f->thread),
			 "of the tile at %" PRIu32 ", %" PRIu32 " of layer %" PRIu32,
			 core->tile->x, core->tile->y, core->tile->layer);
	else
		snprintf(f->thread, sizeof(f->thread),
			 "%u, %u, %u of threadgroup %" PRIu32 ", %" PRIu32 ", %" PRIu32,
			 thread % core->size[0], row % core->size[1], row / core->size[1],
			 core->group[0], core->group[1], core->group[2]);
}

void vagx_core_remember_failure(struct simdgroup *sg, const struct op *op)
{
	struct core_failure *f = &sg->core->failure;
	uint32_t lanes = sg->exec ? sg->exec : sg->valid;

	*f = (struct core_failure){ .simdgroup = sg, .op = op, .exec = sg->exec };
	f->lane_known = sg->failed_lane < LANES;
	if (f->lane_known)
		f->lane = sg->failed_lane;
	else
		f->lane = lanes ? __builtin_ctz(lanes) : 0;
	core_failure_name_thread(sg, f);
}
