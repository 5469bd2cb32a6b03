// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Instructions as text, in the syntax of Mesa's disassembler.
 */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "table.h"

struct text {
	char *buf;
	size_t size;
	/* Of the whole text, even where it didn't fit */
	size_t length;
	bool any_operand;
};

static void __attribute__((format(printf, 2, 3)))
add(struct text *text, const char *format, ...)
{
	size_t at = text->length < text->size ? text->length : text->size;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text->size ? text->buf + at : NULL, text->size - at,
		      format, args);
	va_end(args);
	if (n > 0)
		text->length += n;
}

static void begin_operand(struct text *text)
{
	add(text, text->any_operand ? ", " : " ");
	text->any_operand = true;
}

float agx_isa_small_float(unsigned int value)
{
	int exponent = value >> 4 & 7;
	float sign = value & 0x80 ? -1.0f : 1.0f;
	float fraction = value & 15;

	/* Exponent 0 has no implicit bit */
	if (!exponent)
		return sign * fraction / 64.0f;
	return sign * (16.0f + fraction) * (float)(1 << exponent) / 128.0f;
}

static void add_registers(struct text *text, const struct agx_operand *o)
{
	char prefix = o->type == AGX_OPERAND_REG ? 'r' : 'u';
	unsigned int i;

	for (i = 0; i < o->count; i++) {
		unsigned int half = o->value + i * (o->size / 16);

		if (i)
			add(text, "_");
		if (o->size == 16)
			add(text, "%c%u%c", prefix, half / 2, "lh"[half % 2]);
		else
			add(text, "%s%c%u", o->size == 64 ? "d" : "", prefix,
			    half / 2);
	}
}

static void add_float(struct text *text, unsigned int value)
{
	float f = agx_isa_small_float(value);

	add(text, f == (float)(int)f ? "%g.0" : "%g", f);
}

static void add_operand(struct text *text, const struct agx_operand *o,
			bool is_dst)
{
	if (o->type == AGX_OPERAND_NONE) {
		if (is_dst) {
			begin_operand(text);
			add(text, "_");
		}
		return;
	}

	begin_operand(text);
	if (o->discard)
		add(text, "^");
	if (o->cache)
		add(text, "$");

	switch (o->type) {
	case AGX_OPERAND_IMM:
		add(text, "%d", o->value);
		break;
	case AGX_OPERAND_FIMM:
		add_float(text, o->value);
		break;
	case AGX_OPERAND_CF:
		add(text, "cf%d", o->value);
		break;
	case AGX_OPERAND_TS:
		add(text, "ts%d", o->value);
		break;
	case AGX_OPERAND_SS:
		add(text, "ss%d", o->value);
		break;
	default:
		add_registers(text, o);
	}

	if (o->absolute)
		add(text, ".abs");
	if (o->negate)
		add(text, ".neg");
	if (o->sign_extend)
		add(text, ".sx");
}

static void add_modifier(struct text *text, const struct agx_field *field,
			 int64_t value)
{
	const char *name = NULL;

	if (field->set == AGX_SET_FLAG && !value)
		return;
	if (field->set == AGX_SET_UNSIGNED || field->set == AGX_SET_SIGNED) {
		begin_operand(text);
		add(text, "%lld", (long long)value);
		return;
	}

	if (field->set == AGX_SET_FLAG)
		name = agx_flag_text[field->id];
	else if (value >= 0 && value < AGX_MAX_VALUE)
		name = agx_value_text[field->set][value];
	if (!name)
		name = "?";
	if (!*name)
		return;
	begin_operand(text);
	add(text, "%s", name);
}

int agx_isa_print(const struct agx_instr *instr, char *buf, size_t size)
{
	const struct agx_row *row = agx_row_of(instr->op);
	struct text text = { .buf = buf, .size = size };
	const struct agx_field *field;
	unsigned int srcs = 0;

	if (size)
		*buf = '\0';
	if (!row) {
		add(&text, "?");
		return text.length;
	}
	add(&text, row->field[0].type ? "%-8s" : "%s", row->name);
	for (field = row->field; field->type; field++) {
		if (field->type == AGX_FIELD_DST)
			add_operand(&text, &instr->dst, true);
		else if (field->type == AGX_FIELD_SRC)
			add_operand(&text, &instr->src[srcs++], false);
		else
			add_modifier(&text, field, instr->mod[field->id]);
	}
	return text.length;
}

static void print_bytes(FILE *file, const uint8_t *code, size_t offset,
			unsigned int length)
{
	unsigned int i;

	fprintf(file, "%4zx: ", offset);
	for (i = 0; i < length; i++)
		fprintf(file, "%02x", code[offset + i]);
	fprintf(file, "%*s ", (AGX_ISA_MAX_LENGTH - length) * 2, "");
}

unsigned int agx_isa_disassemble(FILE *file, const uint8_t *code, size_t size,
				 bool verbose)
{
	struct agx_instr instr;
	unsigned int unknown = 0;
	char line[AGX_ISA_MAX_TEXT];
	size_t offset = 0;

	while (offset < size) {
		int length = agx_isa_decode(code + offset, size - offset,
					    &instr);

		if (length > 0) {
			agx_isa_print(&instr, line, sizeof(line));
		} else {
			snprintf(line, sizeof(line), "%s",
				 length == -ENODATA ? "<cut off instr>" :
						      "<unknown instr>");
			length = size - offset < 2 ? 1 : 2;
			unknown++;
		}
		if (verbose)
			print_bytes(file, code, offset, length);
		fprintf(file, "%s\n", line);
		offset += length;
	}
	return unknown;
}
