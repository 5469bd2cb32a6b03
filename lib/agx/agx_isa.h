/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The AGX2 (G13) instruction set: decoder, disassembler and assembler. All
 * of them are driven by the one table in agx_isa.def.
 *
 * Nothing here keeps state: every function may be called from any thread.
 */
#ifndef AGX_ISA_H
#define AGX_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/** AGX_ISA_MAX_LENGTH - bytes of the longest instruction */
#define AGX_ISA_MAX_LENGTH	12
/** AGX_ISA_MAX_TEXT - characters of the longest instruction, and a zero */
#define AGX_ISA_MAX_TEXT	256
/** AGX_ISA_MAX_SRCS - sources that an instruction can have */
#define AGX_ISA_MAX_SRCS	6
/** AGX_ISA_REGISTERS - 16-bit halves of a thread's register file */
#define AGX_ISA_REGISTERS	256
/** AGX_ISA_UNIFORMS - 16-bit halves of the uniform file */
#define AGX_ISA_UNIFORMS	512

/** enum agx_opcode - every row of the table */
enum agx_opcode {
#define AGX_INSTRUCTION(id, name, short_length, long_length, length_bit,	\
			fixed, fields, semantics)				\
	AGX_OP_##id,
#include "agx_isa.def"
	AGX_OP_COUNT
};

/** enum agx_modifier - what the fields of an instruction mean */
enum agx_modifier {
#define AGX_MODIFIER(id, text)	AGX_MOD_##id,
#include "agx_isa.def"
	AGX_MOD_COUNT
};

/** enum agx_set - sets of named values that a modifier can be written with */
enum agx_set {
	/* A plain number */
	AGX_SET_UNSIGNED,
	AGX_SET_SIGNED,
	/* One bit that is written as its name, or not at all */
	AGX_SET_FLAG,
#define AGX_VALUE_SET(id)	AGX_SET_##id,
#include "agx_isa.def"
	AGX_SET_COUNT
};

/* Values of the sets: AGX_<set>_<value> */
#define AGX_VALUE(set, value, id, text)	enum { AGX_##set##_##id = (value) };
#include "agx_isa.def"

/** enum agx_operand_class - what an operand refers to */
enum agx_operand_class {
	/** @AGX_OPERAND_NONE: left out; a destination is written as "_" */
	AGX_OPERAND_NONE,
	/** @AGX_OPERAND_REG: general register, value in 16-bit halves */
	AGX_OPERAND_REG,
	/** @AGX_OPERAND_UNIFORM: uniform register, value in 16-bit halves */
	AGX_OPERAND_UNIFORM,
	/** @AGX_OPERAND_IMM: integer */
	AGX_OPERAND_IMM,
	/** @AGX_OPERAND_FIMM: eight-bit float, see agx_isa_small_float() */
	AGX_OPERAND_FIMM,
	/** @AGX_OPERAND_CF: coefficient register */
	AGX_OPERAND_CF,
	/** @AGX_OPERAND_TS: texture state register */
	AGX_OPERAND_TS,
	/** @AGX_OPERAND_SS: sampler state register */
	AGX_OPERAND_SS,
};

/** struct agx_operand - a destination or source, decoded; of eight bytes */
struct agx_operand {
	/** @value: number of the first half, or the immediate */
	int32_t value;
	/** @type: enum agx_operand_class */
	uint8_t type;
	/** @size: bits of each value: 16, 32 or 64 */
	uint8_t size;
	/** @count: consecutive values, at least 1 */
	uint8_t count;
	/** @absolute: float modifier .abs, applied before @negate */
	bool absolute : 1;
	/** @negate: float modifier .neg */
	bool negate : 1;
	/** @sign_extend: integer modifier .sx */
	bool sign_extend : 1;
	/** @cache: hint "$": will be read again soon */
	bool cache : 1;
	/** @discard: hint "^": last use */
	bool discard : 1;
};

/** struct agx_instr - an instruction, decoded */
struct agx_instr {
	/** @op: row of the table */
	enum agx_opcode op;
	/** @length: bytes */
	unsigned int length;
	/** @dst: destination */
	struct agx_operand dst;
	/** @src: sources, in the order in which they are written */
	struct agx_operand src[AGX_ISA_MAX_SRCS];
	/** @mod: modifiers by enum agx_modifier; 0 where there is none */
	int64_t mod[AGX_MOD_COUNT];
};

/**
 * agx_isa_decode() - decode one instruction
 * @code: its first byte
 * @avail: bytes that may be read from @code
 * @instr: where it goes; all of it is written on success
 *
 * Return: length in bytes; -EINVAL for an encoding that is unknown or
 * undefined (bits set that no field covers, misaligned registers);
 * -ENODATA when the instruction goes on behind @avail, unless its kind depends
 * on what is missing. Never more than @avail.
 */
int agx_isa_decode(const uint8_t *code, size_t avail, struct agx_instr *instr);

/**
 * agx_isa_encode() - inverse of agx_isa_decode()
 * @instr: instruction; its length is not looked at
 * @code: takes AGX_ISA_MAX_LENGTH bytes; what is behind the instruction is 0
 *
 * The shortest encoding is chosen.
 *
 * Return: length in bytes, -EINVAL when an operand or modifier can't be encoded
 * or the row doesn't exist.
 */
int agx_isa_encode(const struct agx_instr *instr, uint8_t *code);

/**
 * agx_isa_print() - write an instruction as text
 * @instr: instruction
 * @buf: where the text goes
 * @size: bytes of @buf; the text is cut off and, unless 0, always terminated
 *
 * What has no name, which agx_isa_decode() never returns, becomes "?".
 *
 * Return: length of the whole text, like snprintf().
 */
int agx_isa_print(const struct agx_instr *instr, char *buf, size_t size);

/**
 * agx_isa_disassemble() - write a program as text
 * @file: where to
 * @code: program
 * @size: bytes of it
 * @verbose: prefix each line with offset and bytes
 *
 * Goes on behind unknown instructions, two bytes at a time, with a line that
 * says so. Errors of @file are the caller's to look at.
 *
 * Return: number of unknown places.
 */
unsigned int agx_isa_disassemble(FILE *file, const uint8_t *code, size_t size,
				 bool verbose);

/** struct agx_program - result of agx_isa_assemble() */
struct agx_program {
	/** @code: the bytes; free() it */
	uint8_t *code;
	/** @size: bytes */
	size_t size;
};

/**
 * agx_isa_assemble() - translate text to a program
 * @text: instructions, one a line. "#" and ";" start a comment, "name:" sets
 *        a label that jumps can name instead of a number of bytes
 * @name: name of the text in messages
 * @program: the result
 * @errors: takes lines of the form "file:line: message"; NULL to drop them
 *
 * Return: 0; -EINVAL when a line is wrong (all wrong lines are reported, and
 * @program is empty); -ENOMEM.
 */
int agx_isa_assemble(const char *text, const char *name,
		     struct agx_program *program, FILE *errors);

/**
 * agx_isa_small_float() - value of an AGX_OPERAND_FIMM
 * @value: the eight bits
 */
float agx_isa_small_float(unsigned int value);

/**
 * agx_isa_mnemonic() - name of an instruction in the text
 * @op: row of the table
 *
 * Return: the name, which several rows can share; "?" for no row.
 */
const char *agx_isa_mnemonic(enum agx_opcode op);

/**
 * agx_isa_op_name() - unique name of a row of the table
 * @op: row of the table
 *
 * Return: the name; "?" for no row.
 */
const char *agx_isa_op_name(enum agx_opcode op);

/**
 * agx_isa_is_asynchronous() - whether the result of an instruction comes later
 * @op: row of the table
 *
 * It has a group then, AGX_MOD_GROUP, and its destination is there after a "wait" for that group.
 *
 * Return: true if so; false for "wait" itself.
 */
bool agx_isa_is_asynchronous(enum agx_opcode op);

/**
 * agx_isa_result_count() - consecutive values that an instruction writes to its destination
 * @op: row of the table
 * @dst: destination
 * @format: AGX_MOD_FORMAT
 * @sparse: AGX_MOD_SPARSE
 *
 * More than the mask says: loads of packed formats write all channels, and sparse textures tell
 * behind the channels whether pages were missing.
 *
 * Return: how many, of the destination's size.
 */
unsigned int agx_isa_result_count(enum agx_opcode op, const struct agx_operand *dst,
				  unsigned int format, bool sparse);

/**
 * agx_isa_source_count() - consecutive values of a source that matter, whatever the state is
 * @op: row of the table
 * @n: number of the source
 * @src: source
 *
 * Fewer than it has where an image is written: channels that the image's format lacks are dropped,
 * and Mesa leaves any registers for them.
 *
 * Return: how many, of the source's size.
 */
unsigned int agx_isa_source_count(enum agx_opcode op, unsigned int n,
				  const struct agx_operand *src);

#ifdef __cplusplus
}
#endif

#endif /* AGX_ISA_H */
