// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Comparison of native code with the interpreter, segment by segment: both begin with the same
 * registers, and must agree on registers, execution mask, program counter and counters. Loads
 * and stores that have functions of their own (memory.c) are done by both: loads have to give the
 * same registers; what is read back after the interpreter's store has to be what was read back
 * after the native one. Other shaders can store in between, so a difference in memory counts only
 * if it is there RETRIES times in a row. The first difference ends the launch with an error.
 */
#include <errno.h>

#include "build.h"

#define RETRIES		4
/* Characters of a segment's disassembly that an error shows */
#define MAX_TEXT	100

static void check_text(const struct op *op, char text[MAX_TEXT])
{
	const char *name = agx_isa_op_name(op->opcode);

	snprintf(text, MAX_TEXT, "%s at 0x%llx", name, (unsigned long long)op->va);
}

/* The code of the segment that an instruction is in, up to where the next segment begins */
static struct core_segment check_find_code(const struct vagx_native *native,
					   const uint32_t *entry, const struct simdgroup *sg,
					   const struct op *op)
{
	uint32_t pc = (uint32_t)(op - sg->op), count = sg->program->count, i;
	size_t end = native->code.length;
	uint32_t begin;

	while (pc && entry[pc] == NO_ENTRY)
		pc--;
	begin = entry[pc];
	for (i = 0; i <= count; i++) {
		if (entry[i] > begin && entry[i] < end)
			end = entry[i];
	}
	return (struct core_segment){ native->code.run + begin, end - begin };
}

/* Keeps what gpu/core_describe.c prints: the instructions that were run, and their code */
static void check_remember(const struct vagx_native *native, const uint32_t *entry,
			   struct simdgroup *sg, const struct op *first, const struct op *last)
{
	struct core_failure *f = &sg->core->failure;

	f->last = last;
	f->segment[0] = check_find_code(native, entry, sg, first);
	f->segment[1] = check_find_code(native, entry, sg, last);
	/* one segment, without a jump to another */
	if (f->segment[1].code == f->segment[0].code)
		f->segment[1].code = NULL;
}

/* The first register and lane in which two simdgroups differ. Return: false if there is none. */
static bool check_find_register(const struct simdgroup *a, const struct simdgroup *b,
				unsigned int *reg, unsigned int *lane)
{
	unsigned int count = (a->core->register_halves + 1) / 2;

	/* They hardly ever differ */
	if (!memcmp(a->reg, b->reg, count * sizeof(a->reg[0])))
		return false;
	for (*reg = 0; *reg < count; ++*reg) {
		for (*lane = 0; *lane < LANES; ++*lane) {
			if (a->reg[*reg].v[*lane] != b->reg[*reg].v[*lane])
				return true;
		}
	}
	return false;
}

/* Whether two simdgroups are at the same place, but for registers */
static bool check_agrees(const struct simdgroup *a, const struct simdgroup *b)
{
	return a->exec == b->exec && a->active == b->active && a->valid == b->valid &&
	       a->pc == b->pc && a->program == b->program && a->state == b->state &&
	       !memcmp(&a->mask, &b->mask, sizeof(a->mask));
}

/* Fails the launch if native code's result differs from the interpreter's, which is in @sg */
static void check_compare(struct simdgroup *sg, const struct simdgroup *native,
			  const struct op *first, const struct op *last)
{
	char from[MAX_TEXT], to[MAX_TEXT];
	unsigned int reg, lane;

	if (sg->state == SIMDGROUP_FAILED)
		return;
	check_text(first, from);
	check_text(last, to);
	if (!check_agrees(sg, native))
		vagx_core_fail(sg, first, -EPROTO,
			       "native code differs between %s and %s: active 0x%x, next %u, not 0x%x, %u",
			       from, to, native->exec, native->pc, sg->exec, sg->pc);
	else if (check_find_register(sg, native, &reg, &lane))
		vagx_core_fail(sg, first, -EPROTO,
			       "native code differs between %s and %s: r%u of lane %u is 0x%x, not 0x%x",
			       from, to, reg, lane, native->reg[reg].v[lane], sg->reg[reg].v[lane]);
}

/* Runs one segment by both. Return: false if the instruction at the program counter is C's. */
static bool check_segment(const struct vagx_native *native, struct simdgroup *sg,
			  struct vagx_slice *slice)
{
	struct vagx_slice taken = *slice, done = *slice;
	const struct op *first = &sg->op[sg->pc], *last = first;
	const uint32_t *entry = vagx_native_entries(native, sg);
	uint32_t offset = entry[sg->pc];
	struct simdgroup before, after;
	unsigned int again;

	if (offset == NO_ENTRY)
		return false;
	before = *sg;
	again = vagx_native_call(native, sg, offset, &taken);
	if (!again && taken.left == slice->left)
		return false;
	if (again)
		vagx_native_replay(sg, &taken, again);
	after = *sg;
	*sg = before;
	while (done.left > taken.left && sg->state == SIMDGROUP_RUNS) {
		last = &sg->op[sg->pc];
		interpret(sg, &done, 1);
	}
	if (sg->state == SIMDGROUP_RUNS)
		check_compare(sg, &after, first, last);
	if (sg->state == SIMDGROUP_RUNS && done.thread_instructions != taken.thread_instructions)
		vagx_core_fail(sg, first, -EPROTO, "native code has counted %llu, not %llu",
			       (unsigned long long)taken.thread_instructions,
			       (unsigned long long)done.thread_instructions);
	if (sg->core->status == -EPROTO)
		check_remember(native, entry, sg, first, last);
	*slice = done;
	return true;
}

/* The load that reads what a store has written: all of it, also where registers are smaller */
static struct op check_load_of(const struct op *store)
{
	struct op load = *store;

	load.dst = store->src[0];
	load.dst.size = 32;
	load.dst.value = AGX_ISA_REGISTERS - 8;
	load.src[0] = store->src[1];
	load.src[1] = store->src[2];
	if (store->opcode == AGX_OP_STORE) {
		load.opcode = AGX_OP_LOAD;
		load.run = vagx_exec_load;
	} else if (store->opcode == AGX_OP_LOCAL_STORE) {
		load.opcode = AGX_OP_LOCAL_LOAD;
		load.run = vagx_exec_local_load;
	} else {
		load.opcode = AGX_OP_STACK_LOAD;
		load.run = vagx_exec_stack_load;
	}
	return load;
}

/* Runs a load, or a store and the load of what it has written, in a copy of the simdgroup */
static void check_access(struct simdgroup *copy, struct simdgroup *sg, const struct op *op,
			 vagx_exec_fn *fn)
{
	const struct vagx_core_stats stats = sg->core->stats;
	const unsigned int halves = sg->core->register_halves;
	struct op load;

	*copy = *sg;
	fn(copy, op);
	/* the shader may not have the registers that the load goes to */
	sg->core->register_halves = AGX_ISA_REGISTERS;
	if (op->opcode == AGX_OP_STORE || op->opcode == AGX_OP_LOCAL_STORE ||
	    op->opcode == AGX_OP_STACK_STORE) {
		load = check_load_of(op);
		load.run(copy, &load);
	}
	sg->core->register_halves = halves;
	/* private memory may have grown */
	sg->private_memory = copy->private_memory;
	sg->private_size = copy->private_size;
	/* the bytes of one of them count */
	sg->core->stats = stats;
}

/* Forgets that an access has failed: the simdgroup itself does it once more */
static void check_forget_failure(struct vagx_core *core)
{
	core->status = 0;
	core->error[0] = '\0';
	core->fault = (struct vagx_uat_fault){ 0 };
	core->failure.simdgroup = NULL;
}

/* Does a load or store natively and by the interpreter, whose result stays */
static void check_memory(const struct vagx_native *native_code, struct simdgroup *sg,
			 struct vagx_slice *slice)
{
	const struct op *op = &sg->op[sg->pc];
	vagx_exec_fn *fn = vagx_stack_find_any(op, native_code->memory);
	struct simdgroup native, reference;
	unsigned int reg, lane, i;

	for (i = 0; fn && i < RETRIES; i++) {
		check_access(&native, sg, op, fn);
		if (sg->core->status)
			break;
		check_access(&reference, sg, op, op->run);
		if (sg->core->status || !check_find_register(&reference, &native, &reg, &lane))
			break;
	}
	if (i == RETRIES) {
		vagx_core_fail(sg, op, -EPROTO,
			       "native access differs: r%u of lane %u is 0x%x, not 0x%x", reg, lane,
			       native.reg[reg].v[lane], reference.reg[reg].v[lane]);
		return;
	}
	if (sg->core->status)
		check_forget_failure(sg->core);
	interpret(sg, slice, 1);
}

void vagx_jit_check(const struct vagx_native *native, struct simdgroup *sg,
		    struct vagx_slice *slice)
{
	const struct program *program = sg->program;

	while (sg->state == SIMDGROUP_RUNS && slice->left > 0 && sg->program == program) {
		if (!check_segment(native, sg, slice))
			check_memory(native, sg, slice);
	}
}
