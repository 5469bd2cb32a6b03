// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The encoder: each instruction is a word, of its row's opcode, registers and an immediate.
 */
#include <string.h>

#include "arm64.h"

#define NO_IMM		0xff

struct arm64_row {
	uint32_t opcode;
	uint8_t shift;
	int8_t scale;
	uint8_t base;
};

static const struct arm64_row arm64_rows[ARM64_OPS] = {
#define ARM64(id, text, opcode, shift, scale, base)			\
	[ARM64_##id] = { opcode, shift, scale, base },
#include "arm64.def"
};

void vagx_arm64(struct code_buf *code, enum arm64_op op, unsigned int d, unsigned int n,
		unsigned int m)
{
	vagx_buf_word(code, arm64_rows[op].opcode | m << 16 | n << 5 | d);
}

void vagx_arm64_imm(struct code_buf *code, enum arm64_op op, unsigned int d, unsigned int n,
		    unsigned int m, unsigned int imm)
{
	const struct arm64_row *row = &arm64_rows[op];
	unsigned int field = (unsigned int)((int)imm / row->scale + row->base);

	vagx_buf_word(code, row->opcode | field << row->shift | m << 16 | n << 5 | d);
}

void vagx_arm64_constant(struct code_buf *code, unsigned int d, uint64_t value)
{
	unsigned int i;

	vagx_arm64_imm(code, ARM64_MOVZ, d, 0, 0, value & 0xffff);
	for (i = 1; i < 4; i++) {
		if (value >> 16 * i & 0xffff)
			vagx_arm64_imm(code, ARM64_MOVK_16 + i - 1, d, 0, 0,
				       value >> 16 * i & 0xffff);
	}
}

size_t vagx_arm64_jump(struct code_buf *code)
{
	vagx_buf_word(code, 0x14000000);
	return code->length - 4;
}

size_t vagx_arm64_jump_if(struct code_buf *code, enum arm64_condition condition)
{
	/* conditional branches reach 1 MiB only: the opposite one skips the next instruction */
	vagx_buf_word(code, 0x54000000 | 2 << 5 | ((unsigned int)condition ^ 1));
	return vagx_arm64_jump(code);
}

void vagx_arm64_set_target(struct code_buf *code, size_t at, size_t target)
{
	uint32_t word = 0x14000000 | ((uint32_t)((target - at) / 4) & 0x03ffffff);

	memcpy(code->bytes + at, &word, sizeof(word));
}
