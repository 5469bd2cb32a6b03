// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Describes where a program failed, for the log: the thread, the instructions around, its
 * registers. All of it is read off the core, which stays as it was until it is used again.
 * Called by the thread that ran the core.
 */
#include <inttypes.h>

#include "core_internal.h"

/* Instructions before and after the one that failed */
#define BEFORE		8
#define AFTER		4
/* Registers in a line */
#define IN_A_LINE	8
/* Bytes of native code in a line */
#define BYTES_IN_A_LINE	24

const uint8_t *vagx_core_code_at(const struct program *p, uint64_t va, size_t *count)
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

static void core_describe_print_op(FILE *file, const struct program *p, const struct op *op,
				   bool failed)
{
	size_t count = 0, i;
	const uint8_t *bytes = vagx_core_code_at(p, op->va, &count);
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

/* Whether the second op follows the first one in memory */
static bool core_describe_follows(const struct op *first, const struct op *second)
{
	return first->run != vagx_exec_goto && second->run != vagx_exec_goto &&
	       first->va + first->length == second->va;
}

/* The last instruction that is to blame: of a segment of native code, if it has no jump back */
static const struct op *core_describe_last(const struct core_failure *f)
{
	return f->last && f->last > f->op ? f->last : f->op;
}

static void core_describe_print_ops(FILE *file, const struct core_failure *f)
{
	const struct op *failed = f->op, *first = failed, *last = core_describe_last(f), *op;
	const struct program *p = f->simdgroup->program;
	const struct op *blamed = last;
	unsigned int i;

	for (i = 0; i < BEFORE && first > p->op && core_describe_follows(first - 1, first); i++)
		first--;
	for (i = 0;
	     i < AFTER && last + 1 < p->op + p->count && core_describe_follows(last, last + 1); i++)
		last++;
	fputs("\n instructions:", file);
	for (op = first; op <= last; op++)
		core_describe_print_op(file, p, op, op >= failed && op <= blamed);
}

static void core_describe_print_registers(FILE *file, const struct simdgroup *sg, unsigned int lane)
{
	unsigned int count = (sg->core->register_halves + 1) / 2, i;

	fprintf(file, "\n registers of that thread:");
	for (i = 0; i < count; i++) {
		if (i % IN_A_LINE == 0)
			fprintf(file, "\n   r%-3u", i);
		fprintf(file, " %08" PRIx32, sg->reg[i].v[lane]);
	}
}

/* Prints the uniforms that the instruction reads, as bound or as the preshader has left them */
static void core_describe_print_uniforms(FILE *file, const struct op *op,
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

/* Prints native code in the form that "xxd -r -p" takes, but for the address before it */
static void core_describe_print_native(FILE *file, const struct core_segment *segment)
{
	size_t i;

	if (!segment->code)
		return;
	fprintf(file, "\n native code, %zu bytes at 0x%" PRIxPTR ":", segment->size,
		(uintptr_t)segment->code);
	for (i = 0; i < segment->size; i++)
		fprintf(file, "%s%02x", i % BYTES_IN_A_LINE ? " " : "\n   ", segment->code[i]);
}

static void core_describe_print_thread(FILE *file, const struct core_failure *f)
{
	if (f->work[0])
		fprintf(file, "\n in %s", f->work);
	if (f->lane_known)
		fprintf(file, "\n thread: %s; ", f->thread);
	else
		fprintf(file, "\n thread: one of them is %s; ", f->thread);
	fprintf(file, "lane %u of simdgroup %u, whose active lanes are 0x%08" PRIx32, f->lane,
		f->simdgroup->index, f->exec);
}

void vagx_core_describe_place(const struct core_failure *place, FILE *file)
{
	core_describe_print_thread(file, place);
	core_describe_print_ops(file, place);
}

void vagx_core_describe_failure(const struct vagx_core *core, const struct vagx_launch *launch,
				FILE *file)
{
	const struct core_failure *f = &core->failure;
	unsigned int i;

	if (!core->status || !f->simdgroup || !f->op)
		return;
	fprintf(file, "\n %s, of the shader at 0x%" PRIx64, core->error, launch->code_va);
	vagx_core_describe_place(f, file);
	for (i = 0; i < 2; i++)
		core_describe_print_native(file, &f->segment[i]);
	core_describe_print_uniforms(file, f->op, launch);
	core_describe_print_registers(file, f->simdgroup, f->lane);
}
