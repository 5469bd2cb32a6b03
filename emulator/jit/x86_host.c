// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * x86-64: code around vectors. Native code has two words on the stack: MXCSR of C, and its own.
 */
#include "build.h"
#include "x86.h"

/* MXCSR of native code: denormals are zeros, all exceptions masked, round to nearest */
#define HOST_MXCSR	0x9fc0

_Static_assert(GPR_SG == 3 && GPR_ACTIVE == 5 && GPR_COUNT == 12 && GPR_UNIFORMS == 13 &&
	       GPR_POOL == 14 && GPR_SLICE == 15, "code has rbx, rbp, r12 to r15");
_Static_assert(offsetof(struct vagx_slice, left) == 0 &&
	       offsetof(struct vagx_slice, thread_instructions) == 8,
	       "code has these offsets");

void vagx_host_enter(struct build *b)
{
	const uint32_t mxcsr = HOST_MXCSR;

	vagx_buf_bytes(&b->code,
		       "\x53\x55\x41\x54\x41\x55\x41\x56\x41\x57"	/* push rbx, rbp, r12 ... */
		       "\x48\x83\xec\x18"			/* sub rsp, 24 */
		       "\x48\x89\xfb"				/* mov rbx, rdi */
		       "\x49\x89\xd5"				/* mov r13, rdx */
		       "\x49\x89\xce"				/* mov r14, rcx */
		       "\x4d\x89\xc7"				/* mov r15, r8 */
		       "\x0f\xae\x1c\x24"			/* stmxcsr [rsp] */
		       "\xc7\x44\x24\x04", 34);			/* mov dword [rsp + 4], */
	vagx_buf_word(&b->code, mxcsr);
	vagx_buf_bytes(&b->code,
		       "\x0f\xae\x54\x24\x04"			/* ldmxcsr [rsp + 4] */
		       "\x45\x31\xe4", 8);			/* xor r12d, r12d */
}

void vagx_host_enter_at(struct build *b)
{
	vagx_buf_bytes(&b->code, "\xff\xe6", 2);		/* jmp rsi */
}

void vagx_host_leave(struct build *b)
{
	vagx_buf_bytes(&b->code,
		       "\x4d\x01\x67\x08"			/* add [r15 + 8], r12 */
		       "\x0f\xae\x14\x24"			/* ldmxcsr [rsp] */
		       "\xc5\xf8\x77"				/* vzeroupper */
		       "\x48\x83\xc4\x18"			/* add rsp, 24 */
		       "\x41\x5f\x41\x5e\x41\x5d\x41\x5c"	/* pop r15, r14, r13, r12 */
		       "\x5d\x5b\xc3", 26);			/* pop rbp, rbx; ret */
}

void vagx_host_native_mode(struct build *b)
{
	vagx_buf_bytes(&b->code, "\x0f\xae\x54\x24\x04", 5);	/* ldmxcsr [rsp + 4] */
}

/* mov register, @value, a word of 64 bits; @code: REX and opcode */
static void host_load_pointer(struct build *b, const char *code, uint64_t value)
{
	vagx_buf_bytes(&b->code, code, 2);
	vagx_buf_word(&b->code, (uint32_t)value);
	vagx_buf_word(&b->code, (uint32_t)(value >> 32));
}

void vagx_host_call(struct build *b, void (*fn)(struct simdgroup *sg, const struct op *op),
		    const struct op *op, bool c_mode)
{
	vagx_buf_bytes(&b->code, "\x48\x89\xdf", 3);		/* mov rdi, rbx */
	host_load_pointer(b, "\x48\xbe", (uint64_t)(uintptr_t)op);	/* mov rsi, op */
	if (c_mode)
		vagx_buf_bytes(&b->code, "\x0f\xae\x14\x24", 4);	/* ldmxcsr [rsp] */
	host_load_pointer(b, "\x48\xb8", (uint64_t)(uintptr_t)fn);	/* mov rax, fn */
	vagx_buf_bytes(&b->code, "\xff\xd0", 2);		/* call rax */
}

/* mov eax, @result */
void vagx_host_set_result(struct build *b, uint32_t result)
{
	vagx_buf_bytes(&b->code, "\xb8", 1);
	vagx_buf_word(&b->code, result);
}

void vagx_host_clear_result(struct build *b)
{
	vagx_buf_bytes(&b->code, "\x31\xc0", 2);		/* xor eax, eax */
}

/* mov dword [rbx + @offset], @value */
void vagx_host_set_field(struct build *b, uint32_t offset, uint32_t value)
{
	vagx_buf_bytes(&b->code, "\xc7\x83", 2);
	vagx_buf_word(&b->code, offset);
	vagx_buf_word(&b->code, value);
}

void vagx_host_count(struct build *b, uint32_t count)
{
	vagx_buf_bytes(&b->code, "\x49\x81\x2f", 3);		/* sub qword [r15], count */
	vagx_buf_word(&b->code, count);
	vagx_buf_bytes(&b->code, "\x48\x69\xc5", 3);		/* imul rax, rbp, count */
	vagx_buf_word(&b->code, count);
	vagx_buf_bytes(&b->code, "\x49\x01\xc4", 3);		/* add r12, rax */
}

void vagx_host_load_uniform(struct build *b, unsigned int half, bool sign_extend)
{
	/* movzx or movsx eax, word [r13 + displacement] */
	vagx_buf_bytes(&b->code, sign_extend ? "\x41\x0f\xbf\x85" : "\x41\x0f\xb7\x85", 4);
	vagx_buf_word(&b->code, half * 2);
}

/* cmp dword [rbx + @offset], 0 */
void vagx_host_test_field(struct build *b, uint32_t offset)
{
	vagx_buf_bytes(&b->code, "\x83\xbb", 2);
	vagx_buf_word(&b->code, offset);
	vagx_buf_bytes(&b->code, "\x00", 1);
}

/* cmp dword [rbx + @offset], @value */
void vagx_host_compare_field(struct build *b, uint32_t offset, uint32_t value)
{
	vagx_buf_bytes(&b->code, "\x81\xbb", 2);
	vagx_buf_word(&b->code, offset);
	vagx_buf_word(&b->code, value);
}

void vagx_host_test_active(struct build *b)
{
	_Static_assert(LANES == 32, "code has this number");
	vagx_buf_bytes(&b->code, "\x83\xfd\x20", 3);		/* cmp ebp, 32 */
}

void vagx_host_test_slice(struct build *b)
{
	vagx_buf_bytes(&b->code, "\x49\x83\x3f\x00", 4);	/* cmp qword [r15], 0 */
}

size_t vagx_host_jump(struct build *b)
{
	return vagx_x86_jump(&b->code);
}

size_t vagx_host_jump_if(struct build *b, enum host_condition condition)
{
	static const uint8_t conditions[] = {
		[HOST_ZERO] = X86_EQUAL,
		[HOST_NOT_ZERO] = X86_NOT_EQUAL,
		[HOST_POSITIVE] = X86_GREATER,
		[HOST_LESS] = X86_CARRY,
	};

	return vagx_x86_jump_if(&b->code, conditions[condition]);
}

void vagx_host_set_target(struct build *b, size_t at, size_t target)
{
	vagx_x86_set_target(&b->code, at, target);
}
