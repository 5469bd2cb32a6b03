// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * AArch64: code around vectors, by the procedure call standard (AAPCS64). X16 and X17 are for
 * short sequences. The vector registers that functions in C keep, V8 to V15, are not used.
 */
#include "arm64.h"
#include "build.h"

/* FPCR of C and of native code, in registers that functions in C keep */
#define X_C_MODE	25
#define X_NATIVE_MODE	26
/* The last register that native code changes and C expects to be kept, from GPR_SG on */
#define X_LAST_KEPT	X_NATIVE_MODE

/* For short sequences; X16 is what copy_scalar() takes, too */
#define X_TEMP		16
#define X_TEMP2		17

/*
 * FPCR of native code: single precision flushes denormals to zero (FZ), results that are no numbers
 * are the one that AGX has (DN). Halves keep denormals (FZ16 is 0), all exceptions are masked,
 * and floats are rounded to nearest.
 */
#define HOST_FPCR	(1u << 24 | 1u << 25)

/* Bytes of the stack: the registers above, and the link register */
#define FRAME		80

_Static_assert(8 * (X_LAST_KEPT - GPR_SG + 1) + 8 <= FRAME && FRAME % 16 == 0,
	       "the frame has room, and is aligned");

static void host_move(struct build *b, unsigned int d, unsigned int m)
{
	vagx_arm64(&b->code, ARM64_MOV_GPR, d, 0, m);
}

/* Saves or restores what C expects to be kept */
static void host_keep(struct build *b, enum arm64_op op)
{
	unsigned int reg, offset = 0;

	for (reg = GPR_SG; reg <= X_LAST_KEPT; reg++, offset += 8)
		vagx_arm64_imm(&b->code, op, reg, ARM64_SP, 0, offset);
	vagx_arm64_imm(&b->code, op, ARM64_LR, ARM64_SP, 0, offset);
}

void vagx_host_enter(struct build *b)
{
	vagx_arm64_imm(&b->code, ARM64_SUB_IMM, ARM64_SP, ARM64_SP, 0, FRAME);
	host_keep(b, ARM64_STORE_64);
	host_move(b, GPR_SG, 0);
	host_move(b, GPR_UNIFORMS, 2);
	host_move(b, GPR_POOL, 3);
	host_move(b, GPR_SLICE, 4);
	vagx_arm64_constant(&b->code, GPR_COUNT, 0);
	vagx_arm64(&b->code, ARM64_READ_FPCR, X_C_MODE, 0, 0);
	vagx_arm64_constant(&b->code, X_NATIVE_MODE, HOST_FPCR);
	vagx_host_native_mode(b);
}

void vagx_host_enter_at(struct build *b)
{
	vagx_arm64(&b->code, ARM64_BR, 0, 1, 0);
}

void vagx_host_leave(struct build *b)
{
	const uint32_t counter = offsetof(struct vagx_slice, thread_instructions);

	vagx_arm64_imm(&b->code, ARM64_LOAD_64, X_TEMP, GPR_SLICE, 0, counter);
	vagx_arm64(&b->code, ARM64_ADD_GPR, X_TEMP, X_TEMP, GPR_COUNT);
	vagx_arm64_imm(&b->code, ARM64_STORE_64, X_TEMP, GPR_SLICE, 0, counter);
	vagx_arm64(&b->code, ARM64_WRITE_FPCR, X_C_MODE, 0, 0);
	host_keep(b, ARM64_LOAD_64);
	vagx_arm64_imm(&b->code, ARM64_ADD_IMM, ARM64_SP, ARM64_SP, 0, FRAME);
	vagx_arm64(&b->code, ARM64_RET, 0, ARM64_LR, 0);
}

void vagx_host_native_mode(struct build *b)
{
	vagx_arm64(&b->code, ARM64_WRITE_FPCR, X_NATIVE_MODE, 0, 0);
}

void vagx_host_call(struct build *b, void (*fn)(struct simdgroup *sg, const struct op *op),
		    const struct op *op, bool c_mode)
{
	host_move(b, 0, GPR_SG);
	vagx_arm64_constant(&b->code, 1, (uintptr_t)op);
	if (c_mode)
		vagx_arm64(&b->code, ARM64_WRITE_FPCR, X_C_MODE, 0, 0);
	vagx_arm64_constant(&b->code, X_TEMP, (uintptr_t)fn);
	vagx_arm64(&b->code, ARM64_BLR, 0, X_TEMP, 0);
}

void vagx_host_set_result(struct build *b, uint32_t result)
{
	vagx_arm64_constant(&b->code, 0, result);
}

void vagx_host_clear_result(struct build *b)
{
	vagx_arm64_constant(&b->code, 0, 0);
}

/* Loads or stores a field of the simdgroup: offsets of instructions reach 4,095 words */
static void host_field(struct build *b, enum arm64_op op, unsigned int reg, uint32_t offset)
{
	if (offset <= 4 * 4095) {
		vagx_arm64_imm(&b->code, op, reg, GPR_SG, 0, offset);
		return;
	}
	vagx_arm64_constant(&b->code, X_TEMP2, offset);
	vagx_arm64(&b->code, ARM64_ADD_GPR, X_TEMP2, X_TEMP2, GPR_SG);
	vagx_arm64_imm(&b->code, op, reg, X_TEMP2, 0, 0);
}

void vagx_host_set_field(struct build *b, uint32_t offset, uint32_t value)
{
	vagx_arm64_constant(&b->code, X_TEMP, value);
	host_field(b, ARM64_STORE_32, X_TEMP, offset);
}

void vagx_host_count(struct build *b, uint32_t count)
{
	const uint32_t left = offsetof(struct vagx_slice, left);

	vagx_arm64_imm(&b->code, ARM64_LOAD_64, X_TEMP, GPR_SLICE, 0, left);
	vagx_arm64_constant(&b->code, X_TEMP2, count);
	vagx_arm64(&b->code, ARM64_SUB_GPR, X_TEMP, X_TEMP, X_TEMP2);
	vagx_arm64_imm(&b->code, ARM64_STORE_64, X_TEMP, GPR_SLICE, 0, left);
	vagx_arm64_imm(&b->code, ARM64_MADD, GPR_COUNT, GPR_ACTIVE, X_TEMP2, GPR_COUNT);
}

void vagx_host_load_uniform(struct build *b, unsigned int half, bool sign_extend)
{
	vagx_arm64_imm(&b->code, sign_extend ? ARM64_LOAD_SIGNED_16 : ARM64_LOAD_16, X_TEMP,
		       GPR_UNIFORMS, 0, 2 * half);
}

void vagx_host_test_field(struct build *b, uint32_t offset)
{
	host_field(b, ARM64_LOAD_32, X_TEMP, offset);
	vagx_arm64_imm(&b->code, ARM64_CMP_32, 0, X_TEMP, 0, 0);
}

void vagx_host_compare_field(struct build *b, uint32_t offset, uint32_t value)
{
	host_field(b, ARM64_LOAD_32, X_TEMP, offset);
	vagx_arm64_constant(&b->code, X_TEMP2, value);
	vagx_arm64(&b->code, ARM64_CMP_GPR, 0, X_TEMP, X_TEMP2);
}

void vagx_host_test_active(struct build *b)
{
	vagx_arm64_imm(&b->code, ARM64_CMP_32, 0, GPR_ACTIVE, 0, LANES);
}

void vagx_host_test_slice(struct build *b)
{
	vagx_arm64_imm(&b->code, ARM64_LOAD_64, X_TEMP, GPR_SLICE, 0,
		       offsetof(struct vagx_slice, left));
	vagx_arm64_imm(&b->code, ARM64_CMP_64, 0, X_TEMP, 0, 0);
}

size_t vagx_host_jump(struct build *b)
{
	return vagx_arm64_jump(&b->code);
}

size_t vagx_host_jump_if(struct build *b, enum host_condition condition)
{
	static const uint8_t conditions[] = {
		[HOST_ZERO] = ARM64_EQUAL,
		[HOST_NOT_ZERO] = ARM64_NOT_EQUAL,
		[HOST_POSITIVE] = ARM64_GREATER,
		[HOST_LESS] = ARM64_LOWER,
	};

	return vagx_arm64_jump_if(&b->code, conditions[condition]);
}

void vagx_host_set_target(struct build *b, size_t at, size_t target)
{
	vagx_arm64_set_target(&b->code, at, target);
}
