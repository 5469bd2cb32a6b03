// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Encodes each instruction of the compiler's encoder with many operands, and writes both the bytes
 * and what an assembler is to make the same bytes of. check-x86.sh compares.
 *
 * usage: list-x86 BYTES TEXT
 */
#include <stdio.h>
#include <stdlib.h>

#include "x86.h"

struct row {
	const char *name;
	unsigned int form;
	unsigned int w;
};

#define TWO_SOURCES	0xff
#define ONE_SOURCE	0xfe
#define COUNT(digit)	(digit)

static const struct row rows[X86_VECTORS] = {
#define X86_VECTOR(id, name, map, prefix, opcode, w, form)	[X86_##id] = { name, form, w },
#include "x86.def"
};

static const char *const gprs[] = { "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8",
				    "r9", "r10", "r11", "r12", "r13", "r14", "r15" };

static struct code_buf code;
static FILE *text;

static bool writes_mask(enum x86_vector op)
{
	return op == X86_CMP || op == X86_CMP_UNSIGNED || op == X86_CMP_FLOAT ||
	       op == X86_TEST_ZERO;
}

static bool has_imm(enum x86_vector op)
{
	return op == X86_CMP || op == X86_CMP_UNSIGNED || op == X86_CMP_FLOAT ||
	       op == X86_TERNARY || op == X86_ROUND || op == X86_FLOAT_TO_HALF ||
	       op == X86_SHUFFLE || op == X86_SHUFFLE_PAIRS ||
	       op == X86_EXTRACT_UPPER || op == X86_INSERT_UPPER ||
	       rows[op].form < ONE_SOURCE;
}

/* Instructions whose last operand is a general register: one of the first four */
static bool is_register_only(enum x86_vector op)
{
	return op == X86_BROADCAST_GPR;
}

/* Instructions whose results are half of a vector, so that an operand in memory could be any */
static bool is_narrowing(enum x86_vector op)
{
	return op == X86_FROM_FLOAT64;
}

/* Conversions between widths: one operand has half of a vector */
static const char *width_of_rm(enum x86_vector op)
{
	switch (op) {
	case X86_HALF_TO_FLOAT:
	case X86_FLOAT_TO_HALF:
	case X86_TRUNCATE16:
	case X86_EXTEND16:
	case X86_TO_FLOAT64:
	case X86_EXTRACT_UPPER:
	case X86_INSERT_UPPER:
		return "ymm";
	case X86_BROADCAST:
	case X86_BROADCAST64:
		return "xmm";
	default:
		return "zmm";
	}
}

static bool can_broadcast(enum x86_vector op)
{
	switch (op) {
	case X86_LOAD:
	case X86_LOADU:
	case X86_STORE:
	case X86_MOVE16:
	case X86_BROADCAST:
	case X86_ADD16:
	case X86_SUB16_SATURATED:
	case X86_HALF_TO_FLOAT:
	case X86_FLOAT_TO_HALF:
	case X86_TRUNCATE16:
	case X86_EXTEND16:
	case X86_BROADCAST64:
	case X86_TO_FLOAT64:
	case X86_FROM_FLOAT64:
	case X86_EXTRACT_UPPER:
	case X86_INSERT_UPPER:
		return false;
	default:
		return true;
	}
}

static void print_rm(enum x86_vector op, struct x86_rm rm, const char *rounding)
{
	if (is_register_only(op)) {
		static const char *const low[] = { "eax", "ecx", "edx", "ebx" };

		fprintf(text, "%s", low[rm.reg]);
		return;
	}
	if (!rm.is_memory)
		fprintf(text, "%s%u%s", width_of_rm(op), rm.reg, rounding);
	else if (rm.is_broadcast)
		fprintf(text, rows[op].w ? "qword ptr [%s%+d]{1to8}" : "dword ptr [%s%+d]{1to16}",
			gprs[rm.base], rm.disp);
	else
		fprintf(text, "[%s%+d]", gprs[rm.base], rm.disp);
}

static void print_reg(enum x86_vector op, unsigned int reg, struct x86_masking m)
{
	fprintf(text, "%s%u", writes_mask(op) ? "k" : is_narrowing(op) ? "ymm" : "zmm", reg);
	if (m.k)
		fprintf(text, "{k%u}%s", m.k, m.zero ? "{z}" : "");
}

static void list(enum x86_vector op, unsigned int reg, unsigned int v, struct x86_rm rm,
		 struct x86_masking m, unsigned int imm)
{
	static const char *const roundings[] = { "", ", {rd-sae}", ", {ru-sae}", ", {rz-sae}" };
	const char *rounding = roundings[m.rounding];
	/* the destination is the operand that can be in memory */
	bool reversed = op == X86_STORE || op == X86_FLOAT_TO_HALF || op == X86_TRUNCATE16 ||
			op == X86_EXTRACT_UPPER;

	if (is_register_only(op))
		rm.reg %= 4;
	vagx_buf_reserve(&code, 64);
	if (has_imm(op))
		vagx_x86_vector_imm(&code, op, reg, v, rm, m, imm);
	else
		vagx_x86_vector(&code, op, reg, v, rm, m);

	fprintf(text, "%s ", rows[op].name);
	if (reversed) {
		print_rm(op, rm, "");
		if (m.k)
			fprintf(text, "{k%u}%s", m.k, m.zero ? "{z}" : "");
		fprintf(text, ", zmm%u", reg);
	} else {
		print_reg(op, reg, m);
		if (rows[op].form == TWO_SOURCES)
			fprintf(text, ", zmm%u", v);
		fprintf(text, ", ");
		print_rm(op, rm, rounding);
	}
	if (has_imm(op))
		fprintf(text, ", %u", imm);
	fprintf(text, "\n");
}

/* All registers, masks and displacements that an instruction can have */
static void list_operands(enum x86_vector op)
{
	static const int disps[] = { 0, 4, -4, 64, 128, 508, 512, -512, 8128, 8192, 123456, 3 };
	static const uint8_t bases[] = { X86_RBX, X86_R13, X86_R14, X86_R15 };
	unsigned int limit = writes_mask(op) ? 8 : 32, i;

	/* a store goes to memory: assemblers take a load for copies between registers */
	for (i = 0; op != X86_STORE && i < 32; i++) {
		struct x86_masking m = { .k = i % 8 };

		/* the encoder's user knows that vectors of 16-bit lanes have other masks */
		if (op == X86_ADD16 || op == X86_SUB16_SATURATED)
			m.k = 0;
		list(op, i % limit, (i * 7 + 3) % 32, X86_REG((i * 5 + 1) % 32), m, i % 8);
		m.zero = m.k && !writes_mask(op);
		list(op, (i * 11) % limit, (i * 3) % 32, X86_REG(31 - i), m, i % 8);
	}
	if (is_register_only(op) || is_narrowing(op))
		return;
	for (i = 0; i < sizeof(disps) / sizeof(disps[0]) * 4; i++) {
		struct x86_rm rm = X86_MEMORY(bases[i % 4], disps[i / 4]);

		/* halves in memory are not used: their displacements have another unit */
		if (width_of_rm(op)[0] != 'y')
			list(op, i % limit, i % 32, rm, X86_ALL_LANES, i % 8);
		rm.is_broadcast = true;
		if (can_broadcast(op))
			list(op, (i + 5) % limit, (i + 9) % 32, rm, X86_MASKED(i % 8), i % 8);
	}
}

/* What AVX2 calls an instruction; NULL if it has none */
static const char *name_of_256(enum x86_vector op)
{
	switch (op) {
	case X86_MOVE16:
	case X86_BROADCAST_GPR:
	case X86_TERNARY:
	case X86_PERMUTE2:
	case X86_CMP:
	case X86_CMP_UNSIGNED:
	case X86_TEST_ZERO:
	case X86_TRUNCATE16:
	case X86_FLOAT_TO_UINT:
	case X86_FLOAT_TO_UINT_ZERO:
	case X86_UINT_TO_FLOAT:
	case X86_EXTRACT_UPPER:
	case X86_INSERT_UPPER:
		return NULL;
	case X86_LOAD:
	case X86_STORE:
		return "vmovdqa";
	case X86_LOADU:
		return "vmovdqu";
	case X86_AND:
	case X86_AND64:
		return "vpand";
	case X86_OR:
	case X86_OR64:
		return "vpor";
	case X86_XOR:
		return "vpxor";
	case X86_ROUND:
		return "vroundps";
	default:
		return rows[op].name;
	}
}

static const char *half_or_full(enum x86_vector op)
{
	return width_of_rm(op)[0] == 'z' ? "ymm" : "xmm";
}

static void list_256(enum x86_vector op, unsigned int reg, unsigned int v, struct x86_rm rm,
		     unsigned int imm)
{
	char operand[64];

	vagx_buf_reserve(&code, 64);
	if (has_imm(op))
		vagx_x86_256_imm(&code, op, reg, v, rm, imm);
	else
		vagx_x86_256(&code, op, reg, v, rm);
	if (!rm.is_memory)
		snprintf(operand, sizeof(operand), "%s%u", half_or_full(op), rm.reg);
	else
		snprintf(operand, sizeof(operand), "[%s%s%+d]", gprs[rm.base],
			 rm.is_indexed ? "+rcx" : "", rm.disp);
	/* the prefix of three bytes is used even where two are enough, as are long displacements */
	fprintf(text, "{vex3} %s%s ", rm.is_indexed ? "{disp32} " : "", name_of_256(op));
	if (op == X86_STORE || op == X86_FLOAT_TO_HALF)
		fprintf(text, "%s, ymm%u", operand, reg);
	else if (rows[op].form == TWO_SOURCES)
		fprintf(text, "ymm%u, ymm%u, %s", reg, v, operand);
	else
		fprintf(text, "%s%u, %s", is_narrowing(op) ? "xmm" : "ymm", reg, operand);
	if (has_imm(op))
		fprintf(text, ", %u", imm);
	fprintf(text, "\n");
}

static void list_operands_256(enum x86_vector op)
{
	static const int disps[] = { 0, 4, 127, 128, -128, -129, 16512 };
	static const uint8_t bases[] = { X86_RBX, X86_R13, X86_R14, X86_R15 };
	unsigned int i;

	if (!name_of_256(op))
		return;
	for (i = 0; op != X86_STORE && i < 16; i++)
		list_256(op, i, (i * 7 + 3) % 16, X86_REG((i * 5 + 1) % 16), i % 8);
	/* shifts by a count have registers only */
	if (rows[op].form < ONE_SOURCE || width_of_rm(op)[0] == 'y' || is_narrowing(op))
		return;
	for (i = 0; i < 4 * sizeof(disps) / sizeof(disps[0]); i++) {
		struct x86_rm rm = X86_MEMORY(bases[i % 4], disps[i / 4]);

		list_256(op, i % 16, (i + 9) % 16, rm, i % 8);
		rm.is_indexed = true;
		list_256(op, (i + 5) % 16, i % 16, rm, i % 8);
	}
}

static void list_narrow(void)
{
	static const struct {
		const char *name;
		unsigned int form;
	} narrow[] = {
#define X86_NARROW(id, name, map, prefix, opcode, w, form)	{ name, form },
#include "x86_narrow.def"
	};
	unsigned int op, i;

	for (op = 0; op < X86_NARROWS; op++) {
		for (i = 0; i < 16; i++) {
			unsigned int v = (i + 3) % 16, c = (i * 5 + 2) % 16;

			vagx_buf_reserve(&code, 64);
			fprintf(text, "{vex3} %s ", narrow[op].name);
			if (op == X86_256_BLEND_MASK) {
				vagx_x86_narrow_imm(&code, op, i, v, X86_REG(c), (15 - i) << 4);
				fprintf(text, "ymm%u, ymm%u, ymm%u, ymm%u\n", i, v, c, 15 - i);
			} else if (op == X86_256_BLEND16) {
				vagx_x86_narrow_imm(&code, op, i, v, X86_REG(c), i * 17);
				fprintf(text, "ymm%u, ymm%u, ymm%u, %u\n", i, v, c, i * 17);
			} else if (op == X86_256_PERMUTE64) {
				vagx_x86_narrow_imm(&code, op, i, 0, X86_REG(c), i);
				fprintf(text, "ymm%u, ymm%u, %u\n", i, c, i);
			} else if (op == X86_256_EXTRACT_UPPER) {
				vagx_x86_narrow_imm(&code, op, i, 0, X86_REG(c), i % 2);
				fprintf(text, "xmm%u, ymm%u, %u\n", c, i, i % 2);
			} else if (op == X86_256_INSERT_UPPER) {
				vagx_x86_narrow_imm(&code, op, i, v, X86_REG(c), i % 2);
				fprintf(text, "ymm%u, ymm%u, xmm%u, %u\n", i, v, c, i % 2);
			} else if (op == X86_256_SIGNS) {
				vagx_x86_narrow(&code, op, X86_RAX, 0, X86_REG(c));
				fprintf(text, "eax, ymm%u\n", c);
			} else {
				vagx_x86_narrow(&code, op, i, v, X86_REG(c));
				fprintf(text, "ymm%u, ", i);
				if (narrow[op].form == TWO_SOURCES)
					fprintf(text, "ymm%u, ", v);
				fprintf(text, "ymm%u\n", c);
			}
		}
	}
}

static void list_masks(void)
{
	static const struct {
		enum x86_mask_op op;
		const char *name;
	} ops[] = {
		{ X86_KAND, "kandw" }, { X86_KANDN, "kandnw" }, { X86_KOR, "korw" },
		{ X86_KXNOR, "kxnorw" }, { X86_KXOR, "kxorw" },
		{ X86_KUNPCK, "kunpckwd" },
	};
	unsigned int i, k;

	for (k = 0; k < 8; k++) {
		vagx_buf_reserve(&code, 256);
		for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
			vagx_x86_mask(&code, ops[i].op, k, (k + 3) % 8, 7 - k);
			fprintf(text, "%s k%u, k%u, k%u\n", ops[i].name, k, (k + 3) % 8, 7 - k);
		}
		vagx_x86_mask_not(&code, k, 7 - k);
		fprintf(text, "knotw k%u, k%u\n", k, 7 - k);
		vagx_x86_mask_test(&code, k, (k + 1) % 8);
		fprintf(text, "kortestw k%u, k%u\n", k, (k + 1) % 8);
		vagx_x86_mask_load(&code, k, X86_RBX, (int)k * 40);
		fprintf(text, "kmovw k%u, [rbx+%u]\n", k, k * 40);
		vagx_x86_mask_to_eax(&code, k);
		fprintf(text, "kmovd eax, k%u\n", k);
	}
}

/* Jumps of all kinds to one place before and one behind them, as far as displacements of 32 bits */
static void list_jumps(void)
{
	static const struct {
		enum x86_condition condition;
		const char *name;
	} jumps[] = {
		{ X86_CARRY, "jc" }, { X86_NOT_CARRY, "jnc" }, { X86_EQUAL, "je" },
		{ X86_NOT_EQUAL, "jne" }, { X86_GREATER, "jg" },
	};
	size_t first = code.length;
	unsigned int i;

	fprintf(text, "first:\n");
	vagx_buf_reserve(&code, 256);
	for (i = 0; i < sizeof(jumps) / sizeof(jumps[0]); i++) {
		vagx_x86_set_target(&code, vagx_x86_jump_if(&code, jumps[i].condition), first);
		fprintf(text, "{disp32} %s first\n", jumps[i].name);
	}
	vagx_x86_set_target(&code, vagx_x86_jump(&code), first);
	fprintf(text, "{disp32} jmp first\n");
	vagx_x86_set_target(&code, vagx_x86_call(&code), first);
	fprintf(text, "call first\n");
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
		perror("list-x86");
		return 1;
	}
	fprintf(text, ".intel_syntax noprefix\n");
	for (op = 0; op < X86_VECTORS; op++)
		list_operands(op);
	for (op = 0; op < X86_VECTORS; op++)
		list_operands_256(op);
	list_narrow();
	for (op = 1; op < 4; op++)
		list(X86_FMA231, 3, 17, X86_REG(30), X86_ROUNDED(op), 0);
	list_masks();
	list_jumps();
	fwrite(code.bytes, 1, code.length, bytes);
	free(code.bytes);
	return fclose(bytes) || fclose(text);
}
