// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Encodes each instruction of AArch64's encoder with many operands, and writes both the bytes and
 * what an assembler is to make the same bytes of. check-encoder.sh compares.
 *
 * usage: list-arm64 BYTES TEXT
 */
#include <stdio.h>
#include <stdlib.h>

#include "arm64.h"

#define NO_IMM		0xff

struct row {
	const char *text;
	unsigned int shift;
	int scale;
	int base;
};

static const struct row rows[ARM64_OPS] = {
#define ARM64(id, text, opcode, shift, scale, base)			\
	[ARM64_##id] = { text, shift, scale, base },
#include "arm64.def"
};

static struct code_buf code;
static FILE *text;

/* The greatest immediate of a row */
static unsigned int last_imm(enum arm64_op op)
{
	switch (op) {
	case ARM64_SHL:
		return 31;
	case ARM64_LSR_IMM:
	case ARM64_SHL64:
		return 63;
	case ARM64_USHR64:
		return 64;
	case ARM64_USHR:
	case ARM64_SSHR:
		return 32;
	case ARM64_MADD:
		return 30;
	case ARM64_MOVZ:
	case ARM64_MOVK_16:
	case ARM64_MOVK_32:
	case ARM64_MOVK_48:
		return 65535;
	default:
		return 4095 * (unsigned int)rows[op].scale;
	}
}

static bool has(enum arm64_op op, char what)
{
	const char *p;

	for (p = rows[op].text; *p; p++) {
		if (p[0] == '%' && p[1] == what)
			return true;
	}
	return false;
}

static void list(enum arm64_op op, unsigned int d, unsigned int n, unsigned int m,
		 unsigned int imm)
{
	const char *p;

	/* a register that an instruction does not have is 0, or part of its opcode */
	d = has(op, 'd') ? d : 0;
	n = has(op, 'n') ? n : 0;
	m = has(op, 'm') ? m : 0;
	vagx_buf_reserve(&code, 64);
	if (has(op, 'i'))
		vagx_arm64_imm(&code, op, d, n, m, imm);
	else
		vagx_arm64(&code, op, d, n, m);
	for (p = rows[op].text; *p; p++) {
		if (*p != '%') {
			fputc(*p, text);
			continue;
		}
		p++;
		fprintf(text, "%u", *p == 'd' ? d : *p == 'n' ? n : *p == 'm' ? m : imm);
	}
	fputc('\n', text);
}

/* All registers but the last one, which has other names; small, large and odd immediates */
static void list_operands(enum arm64_op op)
{
	unsigned int last = has(op, 'i') ? last_imm(op) : 0, unit, i;

	unit = rows[op].scale > 0 ? (unsigned int)rows[op].scale : 1;
	for (i = 0; i < 31; i++)
		list(op, i, (i * 7 + 3) % 31, (i * 5 + 1) % 31,
		     last ? (1 + i * 77 % (last / unit)) * unit : 0);
	if (last)
		list(op, 1, 2, 3, last);
	/* shifts to the right by nothing are none */
	if (last && rows[op].scale > 0)
		list(op, 4, 5, 6, 0);
}

static void list_constant(unsigned int d, uint64_t value, const char *wanted)
{
	vagx_buf_reserve(&code, 64);
	vagx_arm64_constant(&code, d, value);
	fputs(wanted, text);
}

static void list_constants(void)
{
	list_constant(3, 0, "movz x3, 0\n");
	list_constant(4, 0x1234, "movz x4, 0x1234\n");
	list_constant(5, 0xffff0000, "movz x5, 0\nmovk x5, 0xffff, lsl 16\n");
	list_constant(30, 0x1111222233334444, "movz x30, 0x4444\nmovk x30, 0x3333, lsl 16\n"
		      "movk x30, 0x2222, lsl 32\nmovk x30, 0x1111, lsl 48\n");
}

/* Branches to one place before, and to one behind them */
static void list_jumps(void)
{
	static const struct {
		enum arm64_condition condition;
		const char *opposite;
	} jumps[] = {
		{ ARM64_EQUAL, "b.ne" }, { ARM64_NOT_EQUAL, "b.eq" }, { ARM64_GREATER, "b.le" },
	};
	size_t first = code.length, at;
	unsigned int i;

	fprintf(text, "first:\n");
	vagx_buf_reserve(&code, 256);
	for (i = 0; i < sizeof(jumps) / sizeof(jumps[0]); i++) {
		vagx_arm64_set_target(&code, vagx_arm64_jump_if(&code, jumps[i].condition), first);
		fprintf(text, "%s . + 8\nb first\n", jumps[i].opposite);
	}
	at = vagx_arm64_jump(&code);
	vagx_arm64_set_target(&code, vagx_arm64_jump(&code), first);
	vagx_arm64_set_target(&code, at, code.length);
	fprintf(text, "b behind\nb first\nbehind:\n");
}

int main(int argc, char **argv)
{
	unsigned int op;
	FILE *bytes;

	if (argc != 3)
		return 2;
	bytes = fopen(argv[1], "wb");
	text = fopen(argv[2], "w");
	if (!bytes || !text) {
		perror("list-arm64");
		return 1;
	}
	for (op = 0; op < ARM64_OPS; op++)
		list_operands(op);
	list_constants();
	list_jumps();
	fwrite(code.bytes, 1, code.length, bytes);
	free(code.bytes);
	return fclose(bytes) || fclose(text);
}
