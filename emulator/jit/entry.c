// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The entry of native code, and the ways back to C.
 */
#include "build.h"

#define OFFSET_OF(field)	((uint32_t)offsetof(struct simdgroup, field))

void vagx_build_set_field(struct build *b, uint32_t offset, uint32_t value)
{
	vagx_buf_bytes(&b->code, "\xc7\x83", 2);
	vagx_buf_word(&b->code, offset);
	vagx_buf_word(&b->code, value);
}

/* Routine: back to C, which gets EAX */
static void entry_add_leave(struct build *b)
{
	b->leave = b->code.length;
	b->vectors->before_call(b);
	vagx_buf_bytes(&b->code,
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
	b->vectors->enter(b);
	vagx_buf_bytes(&b->code, "\xff\xe6", 2);		/* jmp rsi */
	entry_add_leave(b);
}

void vagx_build_replay(struct build *b, uint32_t pc, uint32_t count)
{
	vagx_build_set_field(b, OFFSET_OF(pc), pc);
	vagx_buf_bytes(&b->code, "\xb8", 1);			/* mov eax, count */
	vagx_buf_word(&b->code, count);
	vagx_x86_set_target(&b->code, vagx_x86_jump(&b->code), b->leave);
}

void vagx_build_native_mode(struct build *b)
{
	if (b->in_c_mode)
		vagx_buf_bytes(&b->code, "\x0f\xae\x54\x24\x04", 5);	/* ldmxcsr [rsp + 4] */
	b->in_c_mode = false;
}

void vagx_build_leave(struct build *b, uint32_t pc)
{
	vagx_build_replay(b, pc, 0);
}
