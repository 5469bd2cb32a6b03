// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Programs as text:
 *
 *	program 7 threads 2
 *	r1 = open {fd=out}
 *	r2 = ASAHI_VM_CREATE r1 {kernel_start=0x6fff8000, ..., vm_id=0x0, pad=0x0}
 *	ASAHI_VM_DESTROY r1 size=24 fail=3 {vm_id=r2, pad=0x0}
 *	end
 *
 * A number is 0x..., a result r..., a length that is right "auto", one that is nearly
 * right "auto+0x..." or "auto-0x...", bytes #..., an array [...], a pointer &... or an
 * address, and a union's member @name.
 *
 * The printer walks through the values, the reader is a recursive descent along their types.
 * A text that is printed is read as the same program: a text is all that outlives a crash.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

/* Printing */

static void text_print_value(const struct fuzz_value *value, FILE *out);

static void text_print_children(const struct fuzz_value *value, FILE *out)
{
	unsigned int i;

	for (i = 0; i < value->count; i++) {
		fputs(i ? ", " : "", out);
		if (value->type->kind == FUZZ_STRUCT)
			fprintf(out, "%s=", value->type->fields[i].name);
		text_print_value(value->children[i], out);
	}
}

static void text_print_bytes(const struct fuzz_value *value, FILE *out)
{
	size_t i;

	fputc('#', out);
	for (i = 0; i < value->byte_count; i++)
		fprintf(out, "%02x", value->bytes[i]);
}

static void text_print_length(const struct fuzz_value *value, FILE *out)
{
	fputs("auto", out);
	if (value->off_by)
		fprintf(out, "%c0x%x", value->off_by < 0 ? '-' : '+', abs(value->off_by));
}

static void text_print_number(const struct fuzz_value *value, FILE *out)
{
	if (value->label)
		fprintf(out, "r%" PRIu32, value->label);
	else if (value->type->kind == FUZZ_LENGTH && !value->literal)
		text_print_length(value, out);
	else
		fprintf(out, "0x%" PRIx64, value->number);
}

static void text_print_value(const struct fuzz_value *value, FILE *out)
{
	switch (value->type->kind) {
	case FUZZ_BYTES:
		text_print_bytes(value, out);
		break;
	case FUZZ_POINTER:
		if (value->count) {
			fputc('&', out);
			text_print_value(value->children[0], out);
		} else {
			text_print_number(value, out);
		}
		break;
	case FUZZ_ARRAY:
		fputc('[', out);
		text_print_children(value, out);
		fputc(']', out);
		break;
	case FUZZ_STRUCT:
		fputc('{', out);
		text_print_children(value, out);
		fputc('}', out);
		break;
	case FUZZ_UNION:
		fprintf(out, "@%s ", value->type->fields[value->number].name);
		text_print_value(value->children[0], out);
		break;
	default:
		text_print_number(value, out);
		break;
	}
}

void fuzz_program_print(const struct fuzz_program *program, FILE *out)
{
	unsigned int i;

	fprintf(out, "program %" PRIu64 " threads %u\n", program->number, program->threads);
	for (i = 0; i < program->count; i++) {
		const struct fuzz_call *call = program->calls[i];

		if (call->label)
			fprintf(out, "r%" PRIu32 " = ", call->label);
		fputs(call->op->name, out);
		if (call->op->has_fd)
			fprintf(out, " r%" PRIu32, call->fd);
		if (call->size)
			fprintf(out, " size=%u", call->size);
		if (call->fail)
			fprintf(out, " fail=%u", call->fail);
		fputc(' ', out);
		text_print_value(call->arg, out);
		fputc('\n', out);
	}
	fputs("end\n", out);
}

/* Reading: *text moves on, and becomes NULL for good where the text is wrong. */

static void text_skip_spaces(const char **text)
{
	while (*text && isspace((unsigned char)**text))
		(*text)++;
}

/* Skips a word if it comes next. Return: whether it did. */
static bool text_take(const char **text, const char *word)
{
	size_t n = strlen(word);

	text_skip_spaces(text);
	if (!*text || strncmp(*text, word, n))
		return false;
	*text += n;
	return true;
}

/* Skips a word that has to come next. */
static void text_want(const char **text, const char *word)
{
	if (!text_take(text, word))
		*text = NULL;
}

static uint64_t text_read_number(const char **text, int base)
{
	uint64_t number;
	char *end;

	text_skip_spaces(text);
	if (!*text || !isdigit((unsigned char)**text)) {
		*text = NULL;
		return 0;
	}
	number = strtoull(*text, &end, base);
	*text = end;
	return number;
}

/* Return: whether there is a word; it is in @word. */
static bool text_read_word(const char **text, char *word, size_t room)
{
	size_t n = 0;

	text_skip_spaces(text);
	while (*text && (isalnum((unsigned char)**text) || **text == '_') && n + 1 < room)
		word[n++] = *(*text)++;
	word[n] = '\0';
	return n;
}

static struct fuzz_value *text_read_value(const char **text, const struct fuzz_type *type);

static void text_read_bytes(const char **text, struct fuzz_value *value)
{
	size_t room = 0;
	uint8_t *bytes;
	unsigned int byte;
	size_t n = 0;

	text_want(text, "#");
	while (*text && isxdigit((unsigned char)(*text)[room]))
		room++;
	bytes = malloc(room + 1);
	for (; bytes && n < room / 2; n++) {
		if (sscanf(*text + 2 * n, "%2x", &byte) == 1)
			bytes[n] = byte;
	}
	if (*text && bytes) {
		fuzz_value_set_bytes(value, bytes, n);
		*text += room;
	}
	free(bytes);
}

static void text_read_struct(const char **text, struct fuzz_value *value)
{
	const struct fuzz_type *type = value->type;
	unsigned int i;

	text_want(text, "{");
	for (i = 0; i < type->count && *text; i++) {
		if (i)
			text_want(text, ",");
		text_want(text, type->fields[i].name);
		text_want(text, "=");
		fuzz_value_append(value, text_read_value(text, type->fields[i].type));
	}
	text_want(text, "}");
}

static void text_read_array(const char **text, struct fuzz_value *value)
{
	text_want(text, "[");
	while (*text && !text_take(text, "]")) {
		if (value->count)
			text_want(text, ",");
		fuzz_value_append(value, text_read_value(text, value->type->elem));
	}
}

static void text_read_union(const char **text, struct fuzz_value *value)
{
	const struct fuzz_type *type = value->type;
	char name[64];

	text_want(text, "@");
	text_read_word(text, name, sizeof(name));
	while (value->number < type->count && strcmp(type->fields[value->number].name, name))
		value->number++;
	if (value->number == type->count)
		*text = NULL;
	else
		fuzz_value_append(value, text_read_value(text, type->fields[value->number].type));
}

static void text_read_simple(const char **text, struct fuzz_value *value)
{
	if (value->type->kind == FUZZ_RESOURCE && text_take(text, "r")) {
		value->label = text_read_number(text, 10);
	} else if (value->type->kind == FUZZ_LENGTH && text_take(text, "auto")) {
		if (text_take(text, "+"))
			value->off_by = (int)text_read_number(text, 16);
		else if (text_take(text, "-"))
			value->off_by = -(int)text_read_number(text, 16);
	} else {
		value->number = text_read_number(text, 16);
		value->literal = true;
	}
}

static struct fuzz_value *text_read_value(const char **text, const struct fuzz_type *type)
{
	struct fuzz_value *value = fuzz_value_new(type);

	if (!*text)
		return value;
	switch (type->kind) {
	case FUZZ_BYTES:
		text_read_bytes(text, value);
		break;
	case FUZZ_POINTER:
		if (text_take(text, "&"))
			fuzz_value_append(value, text_read_value(text, type->elem));
		else
			text_read_simple(text, value);
		break;
	case FUZZ_ARRAY:
		text_read_array(text, value);
		break;
	case FUZZ_STRUCT:
		text_read_struct(text, value);
		break;
	case FUZZ_UNION:
		text_read_union(text, value);
		break;
	default:
		text_read_simple(text, value);
		break;
	}
	return value;
}

static uint32_t text_read_label(const char **text)
{
	text_want(text, "r");
	return text_read_number(text, 10);
}

static void text_read_call(const char **text, struct fuzz_program *program)
{
	const struct fuzz_op *op;
	struct fuzz_call *call;
	uint32_t label = 0;
	char name[64];

	/* A result is named "r" and a number, which no call's name begins with. */
	text_skip_spaces(text);
	if (**text == 'r' && isdigit((unsigned char)(*text)[1])) {
		label = text_read_label(text);
		text_want(text, "=");
	}
	op = text_read_word(text, name, sizeof(name)) ? fuzz_op_find(name) : NULL;
	if (!op) {
		*text = NULL;
		return;
	}
	call = fuzz_call_new(op);
	call->label = label;
	if (label >= program->next_label)
		program->next_label = label + 1;
	if (op->has_fd)
		call->fd = text_read_label(text);
	if (text_take(text, "size="))
		call->size = text_read_number(text, 10);
	if (text_take(text, "fail="))
		call->fail = text_read_number(text, 10);
	call->arg = text_read_value(text, op->arg);
	if (!fuzz_program_insert(program, program->count, call))
		*text = NULL;
}

struct fuzz_program *fuzz_program_read(const char **text)
{
	struct fuzz_program *program;

	text_skip_spaces(text);
	if (!*text || !**text)
		return NULL;
	program = fuzz_program_new();
	text_want(text, "program");
	program->number = text_read_number(text, 10);
	text_want(text, "threads");
	program->threads = text_read_number(text, 10);
	if (program->threads < 1 || program->threads > FUZZ_MAX_THREADS)
		*text = NULL;
	while (*text && !text_take(text, "end"))
		text_read_call(text, program);
	if (*text)
		return program;
	fuzz_program_free(program);
	return NULL;
}
