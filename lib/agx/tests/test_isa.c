// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Decoder, disassembler and assembler against known code, against each other
 * over the whole table, and against nonsense.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "isa/table.h"
#include "vectors.h"

#define VECTORS		(sizeof(vectors) / sizeof(vectors[0]))
/* Random codes of each row that are tried, and how many valid ones are enough */
#define ROUNDS		100000
#define ENOUGH		500
/* No instruction's text has it */
#define GUARD		0x7e

static uint64_t seed = 1;

static uint64_t random_bits(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed * 0x2545f4914f6cdd1dULL;
}

static size_t parse_code(const char *text, uint8_t *code)
{
	size_t n;

	for (n = 0; text[2 * n]; n++) {
		char digits[3] = { text[2 * n], text[2 * n + 1] };

		code[n] = strtoul(digits, NULL, 16);
	}
	return n;
}

/* Mesa pads a mnemonic even when no operand follows */
static void print(const struct agx_instr *instr, char *text, size_t size)
{
	int n = agx_isa_print(instr, text, size);

	assert_in_range(n, 1, size - 1);
	while (text[n - 1] == ' ')
		text[--n] = '\0';
}

static void decodes_vectors(void **state)
{
	uint8_t code[AGX_ISA_MAX_LENGTH];
	struct agx_instr instr;
	char text[AGX_ISA_MAX_TEXT];
	size_t i, size;

	(void)state;
	for (i = 0; i < VECTORS; i++) {
		size = parse_code(vectors[i].code, code);
		assert_int_equal(agx_isa_decode(code, size, &instr), size);
		print(&instr, text, sizeof(text));
		assert_string_equal(text, vectors[i].text);
	}
}

/* What does not fit is cut off, and nothing is written behind the buffer. */
static void prints_into_any_buffer(void **state)
{
	char whole[AGX_ISA_MAX_TEXT], text[AGX_ISA_MAX_TEXT + 4];
	uint8_t code[AGX_ISA_MAX_LENGTH];
	struct agx_instr instr;
	size_t i, j, size, length;

	(void)state;
	for (i = 0; i < VECTORS; i++) {
		size = parse_code(vectors[i].code, code);
		assert_int_equal(agx_isa_decode(code, size, &instr), size);
		length = agx_isa_print(&instr, whole, sizeof(whole));
		assert_int_equal(length, strlen(whole));
		assert_int_equal(agx_isa_print(&instr, NULL, 0), length);
		for (size = 0; size <= length + 2; size++) {
			memset(text, GUARD, sizeof(text));
			assert_int_equal(agx_isa_print(&instr, text, size), length);
			if (size)
				assert_int_equal(strlen(text), size <= length ? size - 1 : length);
			assert_memory_equal(text, whole, size ? strlen(text) : 0);
			for (j = size; j < sizeof(text); j++)
				assert_int_equal(text[j], GUARD);
		}
	}
}

static void assembles_vectors(void **state)
{
	uint8_t code[AGX_ISA_MAX_LENGTH];
	struct agx_program program;
	size_t i, size;

	(void)state;
	for (i = 0; i < VECTORS; i++) {
		size = parse_code(vectors[i].code, code);
		assert_int_equal(agx_isa_assemble(vectors[i].text, "vector",
						  &program, stderr), 0);
		assert_int_equal(program.size, size);
		assert_memory_equal(program.code, code, size);
		free(program.code);
	}
}

/* Otherwise a row could be left out of everything else here */
static void vectors_cover_the_table(void **state)
{
	bool seen[AGX_OP_COUNT] = { false };
	uint8_t code[AGX_ISA_MAX_LENGTH];
	struct agx_instr instr;
	unsigned int missing = 0;
	size_t i, size;

	(void)state;
	for (i = 0; i < VECTORS; i++) {
		size = parse_code(vectors[i].code, code);
		assert_true(agx_isa_decode(code, size, &instr) > 0);
		seen[instr.op] = true;
	}
	for (i = 0; i < AGX_OP_COUNT; i++) {
		if (seen[i])
			continue;
		print_message("no vector for %s\n", agx_isa_op_name(i));
		missing++;
	}
	assert_int_equal(missing, 0);
}

static void set_bit(uint8_t *code, unsigned int bit, unsigned int value)
{
	code[bit / 8] &= ~(1u << bit % 8);
	code[bit / 8] |= (value & 1) << bit % 8;
}

static void set_bits(uint8_t *code, const struct agx_fixed *fixed)
{
	unsigned int i;

	for (; fixed->count; fixed++) {
		for (i = 0; i < fixed->count; i++)
			set_bit(code, fixed->start + i, fixed->value >> i);
	}
}

/* The bit of an instruction that is a bit of a field */
static unsigned int field_bit(const struct agx_field *field, unsigned int n)
{
	const struct agx_bits *bits = field->bits;

	for (; n >= bits->count; bits++) {
		assert_int_not_equal(bits->count, 0);
		n -= bits->count;
	}
	return bits->start + n;
}

/* Makes the operand one of the cases of its kind, at random */
static void choose_case(uint8_t *code, const struct agx_field *field)
{
	const struct agx_operand_case *chosen = NULL;
	const struct agx_fixed *fixed;
	unsigned int i, n = 0;

	for (i = 0; i < agx_case_count; i++) {
		if (agx_cases[i].kind == field->id && !(random_bits() % ++n))
			chosen = &agx_cases[i];
	}
	assert_non_null(chosen);
	for (fixed = chosen->fixed; fixed->count; fixed++) {
		for (i = 0; i < fixed->count; i++)
			set_bit(code, field_bit(field, fixed->start + i),
				fixed->value >> i);
	}
	if (chosen->hint)
		set_bit(code, field_bit(field, chosen->hint - 1), 1);
	/* Registers of 32 bits have even numbers */
	if (random_bits() % 2 && chosen->value[0].count)
		set_bit(code, field_bit(field, chosen->value[0].start), 0);
}

/* Bits that nothing describes stay 0 */
static void random_code(const struct agx_row *row, uint8_t *code)
{
	const struct agx_field *field;
	unsigned int i;

	memset(code, 0, AGX_ISA_MAX_LENGTH);
	for (field = row->field; field->type; field++) {
		for (i = 0; i < agx_bits_total(field->bits); i++)
			set_bit(code, field_bit(field, i), random_bits() >> 40);
	}
	for (field = row->field; field->type; field++) {
		if (field->type != AGX_FIELD_MOD)
			choose_case(code, field);
	}
	set_bits(code, row->fixed);
	if (row->short_length != row->long_length)
		set_bit(code, row->length_bit, 1);
}

static void check_inverse(const struct agx_instr *instr, const char *text)
{
	uint8_t code[AGX_ISA_MAX_LENGTH];
	struct agx_program program;
	struct agx_instr again;
	char text_again[AGX_ISA_MAX_TEXT];
	int length;

	length = agx_isa_encode(instr, code);
	if (length <= 0 || length > (int)instr->length)
		fail_msg("'%s' can't be encoded again", text);

	/* Text leads to the same code as the instruction itself */
	if (agx_isa_assemble(text, "inverse", &program, stderr))
		fail_msg("'%s' can't be assembled", text);
	if (program.size != (size_t)length ||
	    memcmp(program.code, code, length))
		fail_msg("'%s' becomes other code", text);

	/* And code to the same text */
	assert_int_equal(agx_isa_decode(program.code, program.size, &again),
			 length);
	assert_true(agx_instr_equal(instr, &again));
	print(&again, text_again, sizeof(text_again));
	assert_string_equal(text, text_again);
	free(program.code);
}

static void is_its_own_inverse(void **state)
{
	uint8_t code[AGX_ISA_MAX_LENGTH];
	struct agx_instr instr;
	unsigned int i, round, good;
	char text[AGX_ISA_MAX_TEXT];

	(void)state;
	for (i = 0; i < AGX_OP_COUNT; i++) {
		good = 0;
		for (round = 0; round < ROUNDS && good < ENOUGH; round++) {
			random_code(&agx_rows[i], code);
			if (agx_isa_decode(code, sizeof(code), &instr) < 0)
				continue;
			/* An alias can be what random fields stand for */
			good += instr.op == i;
			print(&instr, text, sizeof(text));
			check_inverse(&instr, text);
		}
		if (good < ENOUGH && agx_rows[i].field[0].type)
			fail_msg("only %u codes of %s are valid", good,
				 agx_rows[i].id);
	}
}

/* Whether the code is valid; then it must be its own inverse */
static bool try_code(const uint8_t *code)
{
	char text[AGX_ISA_MAX_TEXT];
	struct agx_instr instr;

	if (agx_isa_decode(code, AGX_ISA_MAX_LENGTH, &instr) < 0)
		return false;
	print(&instr, text, sizeof(text));
	check_inverse(&instr, text);
	return true;
}

static void set_field(uint8_t *code, const struct agx_field *field,
		      uint64_t value)
{
	unsigned int i;

	for (i = 0; i < agx_bits_total(field->bits); i++)
		set_bit(code, field_bit(field, i), value >> i);
}

static bool try_value(const uint8_t *vector, const struct agx_field *field,
		      uint64_t value)
{
	uint8_t code[AGX_ISA_MAX_LENGTH];

	memcpy(code, vector, sizeof(code));
	set_field(code, field, value);
	return try_code(code);
}

/* Every value that has a name; of numbers the first, the last, the middle */
static unsigned int try_modifier(const uint8_t *vector,
				 const struct agx_field *field)
{
	unsigned int bits = agx_bits_total(field->bits), tried = 0, i;
	uint64_t sign = 1ULL << (bits - 1);
	const uint64_t extremes[] = { 0, 1, sign - 1, sign, sign | (sign - 1) };

	if (agx_set_is_named(field->set)) {
		for (i = 0; i < AGX_MAX_VALUE && !(i >> bits); i++)
			tried += agx_value_text[field->set][i] &&
				 try_value(vector, field, i);
		return tried;
	}
	for (i = 0; i < sizeof(extremes) / sizeof(extremes[0]); i++)
		tried += try_value(vector, field, extremes[i]);
	return tried;
}

/* An operand as one of its cases, with a value */
static bool try_case(const uint8_t *vector, const struct agx_field *field,
		     const struct agx_operand_case *c, uint64_t value)
{
	const unsigned int total = agx_bits_total(field->bits);
	uint8_t code[AGX_ISA_MAX_LENGTH];
	const struct agx_fixed *fixed;
	const struct agx_bits *bits;
	unsigned int i;

	memcpy(code, vector, sizeof(code));
	for (bits = c->value; bits->count; bits++) {
		/* A field may lack the upper ones: "ret" names registers by seven bits. */
		for (i = 0; i < bits->count && bits->start + i < total; i++, value >>= 1)
			set_bit(code, field_bit(field, bits->start + i), value);
	}
	for (fixed = c->fixed; fixed->count; fixed++) {
		for (i = 0; i < fixed->count; i++)
			set_bit(code, field_bit(field, fixed->start + i),
				fixed->value >> i);
	}
	return try_code(code);
}

/* The first and last numbers: the last registers depend on size and count */
static unsigned int try_operand(const uint8_t *vector,
				const struct agx_field *field)
{
	const struct agx_operand_case *c;
	unsigned int tried = 0;
	uint64_t value, all;

	for (c = agx_cases; c < agx_cases + agx_case_count; c++) {
		if (c->kind != field->id)
			continue;
		all = (1ULL << agx_bits_total(c->value)) - 1;
		for (value = 0; value <= all && value < 4; value++)
			tried += try_case(vector, field, c, value);
		for (value = 0; value <= all && value < 16; value++)
			tried += try_case(vector, field, c, all - value);
		/* of signed ones */
		tried += try_case(vector, field, c, all >> 1);
		tried += try_case(vector, field, c, all - (all >> 1));
	}
	return tried;
}

/* In every field of every row */
static void extreme_values_are_inverse(void **state)
{
	uint8_t code[AGX_ISA_MAX_LENGTH];
	unsigned int tried = 0, n, i;
	const struct agx_field *field;
	struct agx_instr instr;

	(void)state;
	for (i = 0; i < VECTORS; i++) {
		memset(code, 0, sizeof(code));
		assert_true(agx_isa_decode(code,
					   parse_code(vectors[i].code, code),
					   &instr) > 0);
		field = agx_rows[instr.op].field;
		for (; field->type; field++) {
			n = field->type == AGX_FIELD_MOD ?
				    try_modifier(code, field) :
				    try_operand(code, field);
			if (!n)
				fail_msg("no value of a field of '%s' is valid",
					 vectors[i].text);
			tried += n;
		}
	}
	print_message("%u values\n", tried);
	assert_true(tried > 5000);
}

/* No bytes do harm, and what is decoded can be encoded */
static void survives_random_bytes(void **state)
{
	uint8_t code[AGX_ISA_MAX_LENGTH], again[AGX_ISA_MAX_LENGTH];
	struct agx_instr instr, back;
	unsigned int i, n;
	char text[AGX_ISA_MAX_TEXT];
	int length;

	(void)state;
	for (i = 0; i < 300000; i++) {
		for (n = 0; n < sizeof(code); n++)
			code[n] = random_bits() >> 32;
		if (agx_isa_decode(code, random_bits() % 13, &instr) < 0)
			continue;
		print(&instr, text, sizeof(text));
		length = agx_isa_encode(&instr, again);
		assert_in_range(length, 1, instr.length);
		assert_int_equal(agx_isa_decode(again, length, &back), length);
		assert_true(agx_instr_equal(&instr, &back));
	}
}

static void needs_all_bytes(void **state)
{
	uint8_t code[AGX_ISA_MAX_LENGTH];
	struct agx_instr instr;
	size_t i, size, n;

	(void)state;
	for (i = 0; i < VECTORS; i++) {
		uint8_t *exact;

		size = parse_code(vectors[i].code, code);
		for (n = 0; n < size; n++) {
			/* On the heap: reading on would be noticed */
			exact = malloc(n ? n : 1);
			memcpy(exact, code, n);
			assert_true(agx_isa_decode(exact, n, &instr) < 0);
			free(exact);
		}
	}
}

static void refuses_undefined_codes(void **state)
{
	static const char *const codes[] = {
		"ffffffff",		/* no such instruction */
		"f5ff",			/* no such barrier */
		"0e034086340000c0",	/* iadd, unknown bits */
		"0e014046640000e0",
		"72050300",		/* no such special register */
		"6f85446a0000",		/* bit 27 is set */
	};
	uint8_t code[AGX_ISA_MAX_LENGTH];
	struct agx_instr instr;
	size_t i;

	(void)state;
	/* A destination of 32 bits that begins in the middle of a register */
	memset(code, 0, sizeof(code));
	parse_code("7e07400a8000", code);
	assert_int_equal(agx_isa_decode(code, 6, &instr), -EINVAL);
	for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		memset(code, 0, sizeof(code));
		parse_code(codes[i], code);
		assert_int_equal(agx_isa_decode(code, sizeof(code), &instr),
				 -EINVAL);
	}
}

/* Assembles, and returns what was complained about; free() it */
static char *complaints(const char *text)
{
	struct agx_program program;
	char *message = NULL;
	size_t size;
	FILE *file = open_memstream(&message, &size);

	assert_int_equal(agx_isa_assemble(text, "x.agx", &program, file),
			 -EINVAL);
	assert_null(program.code);
	fclose(file);
	return message;
}

static void complains_with_line(void **state)
{
	static const struct {
		const char *text, *message;
	} bad[] = {
		{ "nonsense r1", "x.agx:1: unknown instruction 'nonsense'\n" },
		{ "stop\n\nfadd r1, r2", "x.agx:3: fadd: the operands do not go together, or some are missing\n" },
		{ "stop\nfadd r1, q2, r3", "x.agx:2: fadd: operand 2, 'q2', does not fit here\n" },
		{ "wait", "x.agx:1: wait: operands are missing\n" },
		{ "wait a, b", "x.agx:1: wait: operand 2, 'b', does not fit here\n" },
		{ "jmp_any away", "x.agx:1: label 'away' is not set\n" },
		{ "a: stop\na: stop", "x.agx:2: label 'a' is set twice, first in line 1\n" },
		{ "5: stop", "x.agx:1: '5' is no name for a label\n" },
		{ "ldimm r1l, 65536", "x.agx:1: ldimm: the operands do not go together, or some are missing\n" },
		{ "load r0_r1, du0, r2, i32, x, a", "x.agx:1: load: the operands do not go together, or some are missing\n" },
		{ "mov r0_r2, r1", "x.agx:1: mov: operand 1, 'r0_r2', does not fit here\n" },
		{ "fadd r1, r2, 0.3", "x.agx:1: fadd: operand 3, '0.3', does not fit here\n" },
		{ "bad\nworse\n", "x.agx:1: unknown instruction 'bad'\nx.agx:2: unknown instruction 'worse'\n" },
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char *message = complaints(bad[i].text);

		assert_string_equal(message, bad[i].message);
		free(message);
	}
}

static void complains_about_long_lines(void **state)
{
	char text[4096];

	(void)state;
	memset(text, 'r', sizeof(text));
	memcpy(text, "fadd ", 5);
	text[sizeof(text) - 1] = '\0';
	free(complaints(text));
	memset(text + 5, ',', sizeof(text) - 6);
	free(complaints(text));
	memset(text, 'x', sizeof(text) - 2);
	text[sizeof(text) - 2] = ':';
	free(complaints(text));
}

static void resolves_labels(void **state)
{
	struct agx_program program;
	struct agx_instr instr;

	(void)state;
	assert_int_equal(agx_isa_assemble("# both ways\n"
					  "back: wait a ; two bytes\n"
					  "\tjmp_any back\n"
					  "jmp_none forth\n"
					  "wait b\n"
					  "forth:\n"
					  "stop\n", "x", &program, stderr), 0);
	assert_int_equal(program.size, 18);
	assert_int_equal(agx_isa_decode(program.code + 2, 6, &instr), 6);
	assert_int_equal(instr.mod[AGX_MOD_OFFSET], -2);
	assert_int_equal(agx_isa_decode(program.code + 8, 6, &instr), 6);
	assert_int_equal(instr.mod[AGX_MOD_OFFSET], 8);
	free(program.code);
}

static void disassembles_what_is_unknown(void **state)
{
	static const uint8_t code[] = { 0xff, 0xff, 0x88, 0x00, 0x0e };
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	(void)state;
	assert_int_equal(agx_isa_disassemble(file, code, sizeof(code), false),
			 2);
	fclose(file);
	assert_string_equal(text, "<unknown instr>\nstop\n<cut off instr>\n");
	free(text);
}

/* An instruction can also be put together by hand, and wrongly */
static void bears_wrong_instructions(void **state)
{
	struct agx_instr instr = { .op = AGX_OP_COUNT };
	uint8_t code[AGX_ISA_MAX_LENGTH];
	char text[AGX_ISA_MAX_TEXT];

	(void)state;
	assert_int_equal(agx_isa_encode(&instr, code), -EINVAL);
	assert_int_equal(agx_isa_print(&instr, text, sizeof(text)), 1);
	assert_string_equal(text, "?");
	assert_string_equal(agx_isa_mnemonic(AGX_OP_COUNT), "?");
	assert_string_equal(agx_isa_op_name(AGX_OP_COUNT), "?");

	assert_int_equal(agx_isa_decode((const uint8_t *)"\x72\x05\x34\0", 4,
					&instr), 4);
	/* neither names a special register */
	instr.mod[AGX_MOD_SR] = 3;
	assert_int_equal(agx_isa_encode(&instr, code), -EINVAL);
	agx_isa_print(&instr, text, sizeof(text));
	assert_string_equal(text, "mov      r1, ?");
	instr.mod[AGX_MOD_SR] = INT64_MIN;
	assert_int_equal(agx_isa_encode(&instr, code), -EINVAL);
	agx_isa_print(&instr, text, sizeof(text));
	assert_string_equal(text, "mov      r1, ?");
}

static void small_floats(void **state)
{
	unsigned int i;

	(void)state;
	assert_true(agx_isa_small_float(0x30) == 1.0f);
	assert_true(agx_isa_small_float(0x3f) == 1.9375f);
	assert_true(agx_isa_small_float(0x0f) == 0.234375f);
	assert_true(agx_isa_small_float(0x01) == 1.0f / 64);
	assert_true(agx_isa_small_float(0x7f) == 31.0f);
	for (i = 0; i < 128; i++)
		assert_true(agx_isa_small_float(i | 0x80) ==
			    -agx_isa_small_float(i));
	for (i = 1; i < 128; i++)
		assert_true(agx_isa_small_float(i) >
			    agx_isa_small_float(i - 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decodes_vectors),
		cmocka_unit_test(prints_into_any_buffer),
		cmocka_unit_test(assembles_vectors),
		cmocka_unit_test(vectors_cover_the_table),
		cmocka_unit_test(is_its_own_inverse),
		cmocka_unit_test(extreme_values_are_inverse),
		cmocka_unit_test(survives_random_bytes),
		cmocka_unit_test(needs_all_bytes),
		cmocka_unit_test(refuses_undefined_codes),
		cmocka_unit_test(complains_with_line),
		cmocka_unit_test(complains_about_long_lines),
		cmocka_unit_test(resolves_labels),
		cmocka_unit_test(disassembles_what_is_unknown),
		cmocka_unit_test(bears_wrong_instructions),
		cmocka_unit_test(small_floats),
	};

	return cmocka_run_group_tests_name("isa", tests, NULL, NULL);
}
