// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The encoder: EVEX for vectors, VEX for masks, as the manual's volume 2 describes them (section
 * 2.7, "Intel AVX-512 encoding"). Displacements are compressed where they can be.
 */
#include <string.h>

#include "x86.h"

/* Forms of instructions, besides the digits of COUNT() */
#define TWO_SOURCES	0xff
#define ONE_SOURCE	0xfe
#define COUNT(digit)	(digit)

struct x86_row {
	uint8_t map;
	uint8_t prefix;
	uint8_t opcode;
	uint8_t w;
	uint8_t form;
};

static const struct x86_row x86_rows[X86_VECTORS] = {
#define X86_VECTOR(id, name, map, prefix, opcode, w, form)			\
	[X86_##id] = { map, prefix, opcode, w, form },
#include "x86.def"
};

static const struct x86_row x86_narrow_rows[X86_NARROWS] = {
#define X86_NARROW(id, name, map, prefix, opcode, w, form)			\
	[X86_256_##id] = { map, prefix, opcode, w, form },
#include "x86_narrow.def"
};

static void x86_byte(struct code_buf *code, unsigned int byte)
{
	code->bytes[code->length++] = byte;
}

/* Inverted bit @bit of a register's number, as prefixes have it */
static unsigned int x86_inverted(unsigned int number, unsigned int bit)
{
	return ~number >> bit & 1;
}

/* ModRM and displacement of an operand in memory; @scale: unit of compressed displacements */
static void x86_memory(struct code_buf *code, unsigned int reg, const struct x86_rm *rm, int scale)
{
	unsigned int modrm = (reg & 7) << 3 | (rm->base & 7);
	int32_t units = rm->disp / scale;

	/* RBP and R13 have no form without a displacement */
	if (!rm->disp && (rm->base & 7) != X86_RBP) {
		x86_byte(code, modrm);
	} else if (units * scale == rm->disp && units >= -128 && units <= 127) {
		x86_byte(code, 0x40 | modrm);
		x86_byte(code, units & 0xff);
	} else {
		x86_byte(code, 0x80 | modrm);
		vagx_buf_word(code, rm->disp);
	}
}

/* The same for an address with RCX as its index */
static void x86_indexed_memory(struct code_buf *code, unsigned int reg, const struct x86_rm *rm)
{
	x86_byte(code, 0x84 | (reg & 7) << 3);
	/* index RCX, without a scale */
	x86_byte(code, X86_RCX << 3 | (rm->base & 7));
	vagx_buf_word(code, (uint32_t)rm->disp);
}

/* The element's size of a broadcast, or that of a scalar that is broadcast by its instruction */
static int x86_scale(enum x86_vector op, const struct x86_rm *rm)
{
	if (!rm->is_broadcast && op != X86_BROADCAST && op != X86_BROADCAST64)
		return 64;
	return x86_rows[op].w ? 8 : 4;
}

static void x86_evex(struct code_buf *code, enum x86_vector op, unsigned int reg, unsigned int v,
		     struct x86_rm rm, struct x86_masking masking)
{
	const struct x86_row *row = &x86_rows[op];
	/* bits 3 and 4 of the last register, or bit 3 of the base */
	unsigned int b = rm.is_memory ? rm.base : rm.reg;
	unsigned int x = rm.is_memory ? 1 : x86_inverted(rm.reg, 4);
	/* 512 bits, or the rounding mode in their place */
	unsigned int width = masking.rounding ? masking.rounding : 2;
	bool flag = rm.is_broadcast || masking.rounding;

	x86_byte(code, 0x62);
	x86_byte(code, x86_inverted(reg, 3) << 7 | x << 6 | x86_inverted(b, 3) << 5 |
		       x86_inverted(reg, 4) << 4 | row->map);
	x86_byte(code, (unsigned int)row->w << 7 | (~v & 15) << 3 | 4 | row->prefix);
	x86_byte(code, (unsigned int)masking.zero << 7 | (width & 3) << 5 |
		       (unsigned int)flag << 4 | x86_inverted(v, 4) << 3 | masking.k);
	x86_byte(code, row->opcode);
	if (rm.is_memory)
		x86_memory(code, reg, &rm, x86_scale(op, &rm));
	else
		x86_byte(code, 0xc0 | (reg & 7) << 3 | (rm.reg & 7));
}

void vagx_x86_vector(struct code_buf *code, enum x86_vector op, unsigned int reg, unsigned int v,
		     struct x86_rm rm, struct x86_masking masking)
{
	x86_evex(code, op, reg, x86_rows[op].form == ONE_SOURCE ? 0 : v, rm, masking);
}

void vagx_x86_vector_imm(struct code_buf *code, enum x86_vector op, unsigned int reg,
			 unsigned int v, struct x86_rm rm, struct x86_masking masking,
			 unsigned int imm)
{
	unsigned int form = x86_rows[op].form;

	if (form < ONE_SOURCE)
		x86_evex(code, op, form, reg, rm, masking);
	else
		vagx_x86_vector(code, op, reg, v, rm, masking);
	x86_byte(code, imm);
}

/* VEX with three bytes, 256 bits; @w: of the row, or 0 where only EVEX tells widths apart */
static void x86_vex(struct code_buf *code, const struct x86_row *row, unsigned int w,
		    unsigned int reg, unsigned int v, struct x86_rm rm)
{
	unsigned int b = rm.is_memory ? rm.base : rm.reg;

	if (row->form == ONE_SOURCE)
		v = 0;
	x86_byte(code, 0xc4);
	x86_byte(code, x86_inverted(reg, 3) << 7 | 1 << 6 | x86_inverted(b, 3) << 5 | row->map);
	x86_byte(code, w << 7 | (~v & 15) << 3 | 4 | row->prefix);
	x86_byte(code, row->opcode);
	if (rm.is_memory && rm.is_indexed)
		x86_indexed_memory(code, reg, &rm);
	else if (rm.is_memory)
		x86_memory(code, reg, &rm, 1);
	else
		x86_byte(code, 0xc0 | (reg & 7) << 3 | (rm.reg & 7));
}

void vagx_x86_256(struct code_buf *code, enum x86_vector op, unsigned int reg, unsigned int v,
		  struct x86_rm rm)
{
	x86_vex(code, &x86_rows[op], 0, reg, v, rm);
}

void vagx_x86_256_imm(struct code_buf *code, enum x86_vector op, unsigned int reg, unsigned int v,
		      struct x86_rm rm, unsigned int imm)
{
	const struct x86_row *row = &x86_rows[op];

	if (row->form < ONE_SOURCE)
		x86_vex(code, row, 0, row->form, reg, rm);
	else
		x86_vex(code, row, 0, reg, v, rm);
	x86_byte(code, imm);
}

void vagx_x86_narrow(struct code_buf *code, enum x86_narrow op, unsigned int reg, unsigned int v,
		     struct x86_rm rm)
{
	x86_vex(code, &x86_narrow_rows[op], x86_narrow_rows[op].w, reg, v, rm);
}

void vagx_x86_narrow_imm(struct code_buf *code, enum x86_narrow op, unsigned int reg,
			 unsigned int v, struct x86_rm rm, unsigned int imm)
{
	x86_vex(code, &x86_narrow_rows[op], x86_narrow_rows[op].w, reg, v, rm);
	x86_byte(code, imm);
}

/* VEX with two bytes: @size is 1 for three-operand instructions (L), 0 for others */
static void x86_mask_vex(struct code_buf *code, unsigned int size, unsigned int prefix,
			 unsigned int opcode, unsigned int reg, unsigned int v, unsigned int rm)
{
	x86_byte(code, 0xc5);
	x86_byte(code, 0x80 | (~v & 15) << 3 | size << 2 | prefix);
	x86_byte(code, opcode);
	x86_byte(code, 0xc0 | reg << 3 | rm);
}

void vagx_x86_mask(struct code_buf *code, enum x86_mask_op op, unsigned int dst, unsigned int a,
		   unsigned int b)
{
	/* KUNPCKWD, for 32 bits, has no prefix, as KxxxW have none */
	x86_mask_vex(code, 1, 0, op, dst, a, b);
}

void vagx_x86_mask_not(struct code_buf *code, unsigned int dst, unsigned int a)
{
	x86_mask_vex(code, 0, 0, 0x44, dst, 0, a);
}

void vagx_x86_mask_test(struct code_buf *code, unsigned int a, unsigned int b)
{
	x86_mask_vex(code, 0, 0, 0x98, a, 0, b);
}

void vagx_x86_mask_load(struct code_buf *code, unsigned int k, unsigned int base, int32_t disp)
{
	struct x86_rm rm = X86_MEMORY(base, disp);

	vagx_buf_bytes(code, "\xc5\xf8\x90", 3);
	x86_memory(code, k, &rm, 1);
}

void vagx_x86_mask_to_eax(struct code_buf *code, unsigned int k)
{
	x86_mask_vex(code, 0, 3, 0x93, X86_RAX, 0, k);
}

/* Appends room for a displacement. Return: where it is. */
static size_t x86_displacement(struct code_buf *code)
{
	vagx_buf_word(code, 0);
	return code->length - 4;
}

size_t vagx_x86_jump(struct code_buf *code)
{
	x86_byte(code, 0xe9);
	return x86_displacement(code);
}

size_t vagx_x86_jump_if(struct code_buf *code, enum x86_condition condition)
{
	x86_byte(code, 0x0f);
	x86_byte(code, 0x80 | condition);
	return x86_displacement(code);
}

size_t vagx_x86_call(struct code_buf *code)
{
	x86_byte(code, 0xe8);
	return x86_displacement(code);
}

void vagx_x86_set_target(struct code_buf *code, size_t at, size_t target)
{
	uint32_t distance = (uint32_t)(target - (at + 4));

	memcpy(code->bytes + at, &distance, sizeof(distance));
}
