// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Instructions: what can be decoded is printed, encoded and assembled to the same
 * again, and a program of any bytes or any text ends in something.
 */
#include <string.h>

#include "agx_isa.h"
#include "fuzz.h"

static void one_instruction(const uint8_t *data, size_t size)
{
	struct agx_instr instr, again;
	char text[AGX_ISA_MAX_TEXT], other[AGX_ISA_MAX_TEXT];
	uint8_t code[AGX_ISA_MAX_LENGTH];
	struct agx_program program;
	int length;

	length = agx_isa_decode(data, size, &instr);
	if (length < 0)
		return;
	FUZZ_CHECK(length > 0 && (size_t)length <= size);
	FUZZ_CHECK(agx_isa_print(&instr, text, sizeof(text)) < AGX_ISA_MAX_TEXT);
	FUZZ_CHECK(!strchr(text, '?'));

	length = agx_isa_encode(&instr, code);
	FUZZ_CHECK(length > 0 && agx_isa_decode(code, length, &again) == length);
	agx_isa_print(&again, other, sizeof(other));
	FUZZ_CHECK(!strcmp(text, other));

	FUZZ_CHECK(!agx_isa_assemble(text, "fuzz", &program, stderr));
	FUZZ_CHECK(agx_isa_decode(program.code, program.size, &again) == (int)program.size);
	agx_isa_print(&again, other, sizeof(other));
	FUZZ_CHECK(!strcmp(text, other));
	free(program.code);
}

static void any_text(const uint8_t *data, size_t size)
{
	struct agx_program program;
	char *text = malloc(size + 1);

	FUZZ_CHECK(text);
	memcpy(text, data, size);
	text[size] = '\0';
	if (!agx_isa_assemble(text, "fuzz", &program, fuzz_null()))
		free(program.code);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	if (data[0] & 1) {
		any_text(data + 1, size - 1);
		return 0;
	}
	one_instruction(data + 1, size - 1);
	agx_isa_disassemble(fuzz_null(), data + 1, size - 1, data[0] & 2);
	return 0;
}
