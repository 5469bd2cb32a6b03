// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Code around arithmetic: the entry and the way back, calls of the interpreter's functions, the
 * execution mask (gpu/core_flow.c says what its instructions do), jumps.
 *
 * The execution mask is in mask registers; the simdgroup's fields "exec" and "active" follow each
 * change, "mask" only where C looks at it.
 */
#include "build.h"

#define OFFSET_OF(field)	((uint32_t)offsetof(struct simdgroup, field))

/* mov dword [rbx + @offset], @value */
static void control_set_field(struct build *b, uint32_t offset, uint32_t value)
{
	vagx_x86_bytes(&b->code, "\xc7\x83", 2);
	vagx_x86_word(&b->code, offset);
	vagx_x86_word(&b->code, value);
}

/* Loads the execution mask, and how many lanes it has */
static void control_load_exec(struct build *b)
{
	vagx_x86_mask_load(&b->code, K_EXEC, GPR_SG, OFFSET_OF(exec));
	vagx_x86_mask_load(&b->code, K_EXEC + 1, GPR_SG, OFFSET_OF(exec) + 2);
	vagx_x86_bytes(&b->code, "\xf3\x0f\xb8\xab", 4);	/* popcnt ebp, [rbx + exec] */
	vagx_x86_word(&b->code, OFFSET_OF(exec));
}

void vagx_build_set_exec(struct build *b)
{
	vagx_x86_mask(&b->code, X86_KUNPCK, K_TEMP, K_EXEC + 1, K_EXEC);
	vagx_x86_mask_to_eax(&b->code, K_TEMP);
	vagx_x86_bytes(&b->code, "\xf3\x0f\xb8\xe8", 4);	/* popcnt ebp, eax */
	vagx_x86_bytes(&b->code, "\x89\x83", 2);		/* mov [rbx + exec], eax */
	vagx_x86_word(&b->code, OFFSET_OF(exec));
	vagx_x86_bytes(&b->code, "\x89\xab", 2);		/* mov [rbx + active], ebp */
	vagx_x86_word(&b->code, OFFSET_OF(active));
}

/* Routine: the words of the execution mask in memory */
static void control_routine_sync(struct build *b)
{
	unsigned int h;

	b->sync = b->code.length;
	for (h = 0; h < 2; h++) {
		/* all ones in the lanes of the mask */
		vagx_x86_vector_imm(&b->code, X86_TERNARY, 2 * PAIR_SCRATCH + h,
				    2 * PAIR_SCRATCH + h, X86_REG(2 * PAIR_SCRATCH + h),
				    X86_ZEROED(K_EXEC + h), 0xff);
		vagx_x86_vector(&b->code, X86_STORE, 2 * PAIR_SCRATCH + h, 0,
				X86_MEMORY(GPR_SG, (int32_t)OFFSET_OF(mask) + 64 * (int32_t)h),
				X86_ALL_LANES);
	}
	vagx_x86_bytes(&b->code, "\xc3", 1);			/* ret */
}

static void control_call_routine(struct build *b, size_t routine)
{
	vagx_x86_set_target(&b->code, vagx_x86_call(&b->code), routine);
}

/* Routine: back to C, which gets EAX */
static void control_routine_leave(struct build *b)
{
	b->leave = b->code.length;
	control_call_routine(b, b->sync);
	vagx_x86_bytes(&b->code,
		       "\x4d\x01\x67\x08"			/* add [r15 + 8], r12 */
		       "\x0f\xae\x14\x24"			/* ldmxcsr [rsp] */
		       "\xc5\xf8\x77"				/* vzeroupper */
		       "\x48\x83\xc4\x18"			/* add rsp, 24 */
		       "\x41\x5f\x41\x5e\x41\x5d\x41\x5c"	/* pop r15, r14, r13, r12 */
		       "\x5d\x5b\xc3", 26);			/* pop rbp, rbx; ret */
}

void vagx_build_routines(struct build *b)
{
	const uint32_t mxcsr = NATIVE_MXCSR;

	_Static_assert(offsetof(struct vagx_slice, left) == 0 &&
		       offsetof(struct vagx_slice, thread_instructions) == 8,
		       "code has these offsets");
	vagx_x86_bytes(&b->code,
		       "\x53\x55\x41\x54\x41\x55\x41\x56\x41\x57"	/* push rbx, rbp, r12 ... */
		       "\x48\x83\xec\x18"			/* sub rsp, 24 */
		       "\x48\x89\xfb"				/* mov rbx, rdi */
		       "\x49\x89\xd5"				/* mov r13, rdx */
		       "\x49\x89\xce"				/* mov r14, rcx */
		       "\x4d\x89\xc7"				/* mov r15, r8 */
		       "\x0f\xae\x1c\x24"			/* stmxcsr [rsp] */
		       "\xc7\x44\x24\x04", 34);			/* mov dword [rsp + 4], */
	vagx_x86_word(&b->code, mxcsr);
	vagx_x86_bytes(&b->code,
		       "\x0f\xae\x54\x24\x04"			/* ldmxcsr [rsp + 4] */
		       "\x45\x31\xe4", 8);			/* xor r12d, r12d */
	control_load_exec(b);
	vagx_x86_bytes(&b->code, "\xff\xe6", 2);		/* jmp rsi */
	control_routine_sync(b);
	control_routine_leave(b);
}

void vagx_build_replay(struct build *b, uint32_t pc, uint32_t count)
{
	control_set_field(b, OFFSET_OF(pc), pc);
	vagx_x86_bytes(&b->code, "\xb8", 1);			/* mov eax, count */
	vagx_x86_word(&b->code, count);
	vagx_x86_set_target(&b->code, vagx_x86_jump(&b->code), b->leave);
}

void vagx_build_leave(struct build *b, uint32_t pc)
{
	vagx_build_replay(b, pc, 0);
}

/* mov register, @value, a word of 64 bits; @code: REX and opcode */
static void control_load_pointer(struct build *b, const char *code, uint64_t value)
{
	vagx_x86_bytes(&b->code, code, 2);
	vagx_x86_word(&b->code, (uint32_t)value);
	vagx_x86_word(&b->code, (uint32_t)(value >> 32));
}

/* Functions that do not compute with floats can be called with native code's MXCSR */
static bool control_keeps_mxcsr(const struct op *op)
{
	switch (op->opcode) {
	case AGX_OP_GET_SR:
	case AGX_OP_BFI:
	case AGX_OP_BFEIL:
	case AGX_OP_EXTR:
	case AGX_OP_SHLHI:
	case AGX_OP_SHRHI:
	case AGX_OP_ASRH:
	case AGX_OP_IADD:
	case AGX_OP_ISUB:
	case AGX_OP_IMUL:
	case AGX_OP_IMADD:
	case AGX_OP_IMSUB:
	case AGX_OP_BITREV:
	case AGX_OP_POPCNT:
	case AGX_OP_FFS:
	case AGX_OP_INTL:
	case AGX_OP_SHUFFLE:
	case AGX_OP_ATOMIC:
	case AGX_OP_LOCAL_ATOMIC:
		return true;
	default:
		return false;
	}
}

void vagx_build_call(struct build *b, uint32_t pc)
{
	const struct op *op = &b->program->op[pc];
	vagx_exec_fn *fn = vagx_jit_memory_fn(op);
	bool keeps = fn || control_keeps_mxcsr(op);
	size_t runs;

	if (!fn)
		fn = op->run;
	vagx_build_end_segment(b, pc);
	vagx_build_forget(b);
	control_call_routine(b, b->sync);
	control_set_field(b, OFFSET_OF(pc), pc + 1);
	/* the lanes that are active before the instruction are counted */
	vagx_build_commit(b, pc + 1);
	vagx_x86_bytes(&b->code, "\x48\x89\xdf", 3);		/* mov rdi, rbx */
	control_load_pointer(b, "\x48\xbe", (uint64_t)(uintptr_t)op);	/* mov rsi, op */
	if (!keeps)
		vagx_x86_bytes(&b->code, "\x0f\xae\x14\x24", 4);	/* ldmxcsr [rsp] */
	control_load_pointer(b, "\x48\xb8", (uint64_t)(uintptr_t)fn);	/* mov rax, fn */
	vagx_x86_bytes(&b->code, "\xff\xd0", 2);		/* call rax */
	if (!keeps)
		vagx_x86_bytes(&b->code, "\x0f\xae\x54\x24\x04", 5);	/* ldmxcsr [rsp + 4] */
	control_load_exec(b);
	vagx_x86_bytes(&b->code, "\x31\xc0", 2);		/* xor eax, eax */
	if (vagx_build_leaves(op)) {
		vagx_x86_set_target(&b->code, vagx_x86_jump(&b->code), b->leave);
		return;
	}
	_Static_assert(SIMDGROUP_RUNS == 0, "code compares with 0");
	vagx_x86_bytes(&b->code, "\x83\xbb", 2);		/* cmp dword [rbx + state], 0 */
	vagx_x86_word(&b->code, OFFSET_OF(state));
	vagx_x86_bytes(&b->code, "\x00", 1);
	runs = vagx_x86_jump_if(&b->code, X86_NOT_EQUAL);
	vagx_x86_set_target(&b->code, runs, b->leave);
}

/* The lanes of the execution mask that have not stopped */
static void control_and_valid(struct build *b)
{
	int32_t valid = (int32_t)OFFSET_OF(valid);
	unsigned int h;

	for (h = 0; h < 2; h++) {
		vagx_x86_mask_load(&b->code, K_TEMP, GPR_SG, valid + 2 * (int32_t)h);
		vagx_x86_mask(&b->code, X86_KAND, K_EXEC + h, K_EXEC + h, K_TEMP);
	}
}

/* K_EXEC = lanes whose level is 0 */
static void control_test_levels(struct build *b, unsigned int levels)
{
	struct value low = vagx_build_constant(b, 0xffff);
	unsigned int h;

	for (h = 0; h < 2; h++)
		vagx_x86_vector(&b->code, X86_TEST_ZERO, K_EXEC + h, 2 * levels + h,
				vagx_build_rm(low, h), X86_ALL_LANES);
}

/* Adds @n to the levels of lanes of K_TEMP; levels have 16 bits, and the upper ones stay */
static void control_add_level(struct build *b, unsigned int reg, uint32_t n)
{
	struct value v = vagx_build_constant(b, n);
	unsigned int scratch = 2 * PAIR_SCRATCH;

	vagx_x86_vector(&b->code, X86_BROADCAST, scratch, 0, X86_MEMORY(v.base, v.disp),
			X86_ZEROED(K_TEMP));
	vagx_x86_vector(&b->code, X86_ADD16, reg, reg, X86_REG(scratch), X86_ALL_LANES);
}

/* Clears the levels of lanes of K_TEMP */
static void control_clear_level(struct build *b, unsigned int reg)
{
	vagx_x86_vector(&b->code, X86_AND, reg, reg,
			vagx_build_rm(vagx_build_constant(b, 0xffff0000), 0), X86_MASKED(K_TEMP));
}

/* Active lanes where the condition holds stay active; others get level 1, inactive ones @nest more */
static void control_if(struct build *b, unsigned int levels, uint32_t nest)
{
	unsigned int h;

	/* K_EXEC: level 0, also lanes that have stopped */
	control_test_levels(b, levels);
	for (h = 0; h < 2; h++) {
		unsigned int reg = 2 * levels + h;

		if (nest) {
			vagx_x86_mask_not(&b->code, K_TEMP, K_EXEC + h);
			control_add_level(b, reg, nest);
		}
		vagx_x86_mask(&b->code, X86_KANDN, K_TEMP, K_COND + h, K_EXEC + h);
		control_add_level(b, reg, 1);
	}
	control_test_levels(b, levels);
	control_and_valid(b);
}

/* Lanes at level 0 get @nest; those at level 1 become active where the condition holds */
static void control_else(struct build *b, unsigned int levels, uint32_t nest)
{
	struct value one = vagx_build_constant(b, 1), low = vagx_build_constant(b, 0xffff);
	unsigned int scratch = 2 * PAIR_SCRATCH, h;

	control_test_levels(b, levels);
	for (h = 0; h < 2; h++) {
		unsigned int reg = 2 * levels + h;

		vagx_x86_vector(&b->code, X86_AND, scratch, reg, vagx_build_rm(low, h),
				X86_ALL_LANES);
		vagx_x86_vector_imm(&b->code, X86_CMP, K_TEMP, scratch, vagx_build_rm(one, h),
				    X86_MASKED(K_COND + h), X86_CMP_EQ);
		control_clear_level(b, reg);
		if (nest) {
			vagx_x86_mask(&b->code, X86_KAND, K_TEMP, K_EXEC + h, K_EXEC + h);
			control_add_level(b, reg, nest);
		}
	}
	control_test_levels(b, levels);
	control_and_valid(b);
}

/* Lanes below @nest are active where the condition holds, else they get that level */
static void control_while(struct build *b, unsigned int levels, uint32_t nest)
{
	struct value limit = vagx_build_constant(b, nest), low = vagx_build_constant(b, 0xffff);
	unsigned int scratch = 2 * PAIR_SCRATCH, h;

	for (h = 0; nest && h < 2; h++) {
		unsigned int reg = 2 * levels + h;

		vagx_x86_vector(&b->code, X86_AND, scratch, reg, vagx_build_rm(low, h),
				X86_ALL_LANES);
		vagx_x86_vector_imm(&b->code, X86_CMP_UNSIGNED, K_TEMP, scratch,
				    vagx_build_rm(limit, h), X86_ALL_LANES, X86_CMP_LT);
		control_clear_level(b, reg);
		vagx_x86_mask(&b->code, X86_KAND, K_EXEC + h, K_COND + h, K_TEMP);
		vagx_x86_mask(&b->code, X86_KANDN, K_TEMP, K_COND + h, K_TEMP);
		control_add_level(b, reg, nest);
	}
	/* no level is below 0 */
	if (!nest)
		control_test_levels(b, levels);
	control_and_valid(b);
}

/* Levels go down by @nest, to 0 at least */
static void control_pop(struct build *b, unsigned int levels, uint32_t nest)
{
	struct value by = vagx_build_constant(b, nest);
	unsigned int scratch = 2 * PAIR_SCRATCH, h;

	if (nest) {
		vagx_x86_vector(&b->code, X86_BROADCAST, scratch, 0, X86_MEMORY(by.base, by.disp),
				X86_ALL_LANES);
		for (h = 0; h < 2; h++)
			vagx_x86_vector(&b->code, X86_SUB16_SATURATED, 2 * levels + h,
					2 * levels + h, X86_REG(scratch), X86_ALL_LANES);
	}
	control_test_levels(b, levels);
	control_and_valid(b);
}

typedef void control_flow_fn(struct build *b, unsigned int levels, uint32_t nest);

/* An instruction that changes the execution mask */
struct control_flow {
	control_flow_fn *fn;
	bool compares;
	bool is_float;
};

static const struct control_flow control_flows[AGX_OP_COUNT] = {
	[AGX_OP_IF_ICMP] = { control_if, true, false },
	[AGX_OP_IF_FCMP] = { control_if, true, true },
	[AGX_OP_ELSE_ICMP] = { control_else, true, false },
	[AGX_OP_ELSE_FCMP] = { control_else, true, true },
	[AGX_OP_WHILE_ICMP] = { control_while, true, false },
	[AGX_OP_WHILE_FCMP] = { control_while, true, true },
	[AGX_OP_POP_EXEC] = { control_pop, false, false },
	[AGX_OP_UPDATE_EXEC] = { control_pop, false, false },
};

bool vagx_build_flow(struct build *b, const struct op *op, uint32_t pc)
{
	const struct control_flow *flow = &control_flows[op->opcode];
	struct cached *c;

	if (!flow->fn)
		return false;
	/* a segment of its own: the lanes that were active before it are counted */
	vagx_build_end_segment(b, pc);
	b->clock++;
	b->temps = 0;
	if (flow->compares)
		vagx_build_condition(b, op, flow->is_float);
	c = &b->cache[vagx_build_canonical(b, 0) - PAIR_CACHE];
	flow->fn(b, PAIR_CACHE + (unsigned int)(c - b->cache), op->mod[AGX_MOD_NEST]);
	c->dirty = true;
	b->exec_changed = true;
	vagx_build_end_segment(b, pc + 1);
	return true;
}

bool vagx_build_is_jump(const struct op *op)
{
	return op->run == vagx_exec_jmp_any || op->run == vagx_exec_jmp_none ||
	       op->run == vagx_exec_goto;
}

bool vagx_build_leaves(const struct op *op)
{
	switch (op->opcode) {
	case AGX_OP_STOP:
	case AGX_OP_TRAP:
	case AGX_OP_CALL:
	case AGX_OP_CALL_REG:
	case AGX_OP_RET:
	case AGX_OP_BARRIER:
		return true;
	default:
		return op->run == vagx_exec_illegal || op->run == vagx_exec_unsupported ||
		       op->run == vagx_exec_no_register || op->run == vagx_exec_fetch_fault;
	}
}

bool vagx_build_jump(struct build *b, const struct op *op, uint32_t pc)
{
	size_t over = 0, goes_on;

	if (!vagx_build_is_jump(op))
		return false;
	vagx_build_commit(b, pc + 1);
	vagx_build_forget(b);
	if (op->run != vagx_exec_goto) {
		vagx_x86_mask_test(&b->code, K_EXEC, K_EXEC + 1);
		over = vagx_x86_jump_if(&b->code, op->run == vagx_exec_jmp_any ?
						  X86_EQUAL : X86_NOT_EQUAL);
	}
	if (op->target <= pc) {
		/* a loop ends with the time slice */
		vagx_x86_bytes(&b->code, "\x49\x83\x3f\x00", 4);	/* cmp qword [r15], 0 */
		goes_on = vagx_x86_jump_if(&b->code, X86_GREATER);
		vagx_build_leave(b, op->target);
		vagx_x86_set_target(&b->code, goes_on, b->code.length);
	}
	vagx_build_jump_to(b, vagx_x86_jump(&b->code), op->target);
	if (over)
		vagx_x86_set_target(&b->code, over, b->code.length);
	return true;
}
