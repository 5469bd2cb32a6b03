// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Text to instructions. Several rows of the table can have one mnemonic: each
 * is tried, and within a row everything that may be left out is tried both
 * ways, so that the table alone says what is right.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

#define MAX_TOKENS	24
#define MAX_TOKEN	63

/* A line that has been understood */
struct statement {
	struct agx_instr instr;
	unsigned int line;
	size_t offset;
	/* Index of the label that it jumps to, or -1 */
	int label;
};

struct label {
	char name[MAX_TOKEN + 1];
	/* -1 until it is set */
	long offset;
	unsigned int line;
};

struct assembler {
	const char *name;
	FILE *errors;
	unsigned int line;
	bool failed;
	bool no_memory;
	struct statement *statement;
	size_t statements;
	struct label *label;
	size_t labels;
	size_t offset;
};

/* One attempt to read a line as a row of the table */
struct attempt {
	struct assembler *as;
	const struct agx_row *row;
	char (*token)[MAX_TOKEN + 1];
	unsigned int tokens;
	struct agx_instr instr;
	int label;
	/* How far any attempt came */
	unsigned int *reached;
};

static void __attribute__((format(printf, 3, 4)))
complain(struct assembler *as, unsigned int line, const char *format, ...)
{
	va_list args;

	as->failed = true;
	if (!as->errors)
		return;
	fprintf(as->errors, "%s:%u: ", as->name, line);
	va_start(args, format);
	vfprintf(as->errors, format, args);
	va_end(args);
	fputc('\n', as->errors);
}

static bool parse_integer(const char *text, int64_t *value)
{
	char *end;

	if (!isdigit((unsigned char)text[0]) &&
	    !(text[0] == '-' && isdigit((unsigned char)text[1])))
		return false;
	errno = 0;
	*value = strtoll(text, &end, 0);
	return !errno && !*end;
}

static bool parse_float(const char *text, struct agx_operand *o)
{
	unsigned int i;
	float value;
	char *end;

	if (!isdigit((unsigned char)text[0]) && text[0] != '-')
		return false;
	value = strtof(text, &end);
	if (*end)
		return false;
	for (i = 0; i < 256; i++) {
		float f = agx_isa_small_float(i);

		/* Bit by bit: there is a negative zero */
		if (!memcmp(&f, &value, sizeof(f))) {
			o->type = AGX_OPERAND_FIMM;
			o->value = i;
			return true;
		}
	}
	return false;
}

/* "r3", "dr2", "u5l": the number in halves, the size in bits */
static bool parse_register(const char *text, char letter, unsigned int *number,
			   unsigned int *size)
{
	bool is_double = text[0] == 'd';
	unsigned long n;
	char *end;

	text += is_double;
	if (*text++ != letter || !isdigit((unsigned char)*text))
		return false;
	n = strtoul(text, &end, 10);
	if (n > 0x7fff)
		return false;

	*number = n * 2;
	*size = is_double ? 64 : 32;
	if (!is_double && (*end == 'l' || *end == 'h')) {
		*number += *end++ == 'h';
		*size = 16;
	}
	return !*end;
}

static bool parse_registers(char *text, char letter, struct agx_operand *o)
{
	unsigned int first = 0, first_size = 0, number, size;
	char *part, *save = NULL;

	o->count = 0;
	for (part = strtok_r(text, "_", &save); part;
	     part = strtok_r(NULL, "_", &save)) {
		if (!parse_register(part, letter, &number, &size))
			return false;
		if (!o->count) {
			first = number;
			first_size = size;
		}
		if (size != first_size ||
		    number != first + o->count * (size / 16))
			return false;
		o->count++;
	}
	o->value = first;
	o->size = first_size;
	o->type = letter == 'r' ? AGX_OPERAND_REG : AGX_OPERAND_UNIFORM;
	return o->count > 0;
}

static bool parse_special(const char *text, struct agx_operand *o)
{
	static const struct {
		const char *prefix;
		uint8_t type;
	} kinds[] = {
		{ "cf", AGX_OPERAND_CF },
		{ "ts", AGX_OPERAND_TS },
		{ "ss", AGX_OPERAND_SS },
	};
	unsigned int i;
	int64_t value;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strncmp(text, kinds[i].prefix, 2) ||
		    !parse_integer(text + 2, &value) || value < 0 ||
		    value > 255)
			continue;
		o->type = kinds[i].type;
		o->value = value;
		return true;
	}
	return false;
}

/* Cuts a suffix off */
static bool take_suffix(char *text, const char *suffix)
{
	size_t length = strlen(text), n = strlen(suffix);

	if (length < n || strcmp(text + length - n, suffix))
		return false;
	text[length - n] = '\0';
	return true;
}

static bool parse_operand(const char *token, struct agx_operand *o)
{
	char text[MAX_TOKEN + 1];
	char *p = text;
	int64_t value;

	memset(o, 0, sizeof(*o));
	o->size = 16;
	o->count = 1;
	if (!strcmp(token, "_"))
		return true;

	snprintf(text, sizeof(text), "%s", token);
	if (*p == '^') {
		o->discard = true;
		p++;
	}
	if (*p == '$') {
		o->cache = true;
		p++;
	}
	o->sign_extend = take_suffix(p, ".sx");
	o->negate = take_suffix(p, ".neg");
	o->absolute = take_suffix(p, ".abs");

	if (parse_integer(p, &value)) {
		o->type = AGX_OPERAND_IMM;
		o->value = value;
		return o->value == value;
	}
	if (parse_float(p, o) || parse_special(p, o))
		return true;
	return parse_registers(p, p[*p == 'd'] == 'u' ? 'u' : 'r', o);
}

static int find_label(struct assembler *as, const char *name)
{
	struct label *labels;
	size_t i;

	for (i = 0; i < as->labels; i++) {
		if (!strcmp(as->label[i].name, name))
			return i;
	}

	labels = realloc(as->label, (as->labels + 1) * sizeof(*labels));
	if (!labels) {
		as->no_memory = true;
		return -1;
	}
	as->label = labels;
	labels[as->labels] = (struct label){ .offset = -1, .line = as->line };
	snprintf(labels[as->labels].name, sizeof(labels->name), "%s", name);
	return as->labels++;
}

static bool is_name(const char *text)
{
	if (!isalpha((unsigned char)*text) && *text != '_')
		return false;
	while (isalnum((unsigned char)*text) || *text == '_')
		text++;
	return !*text;
}

static bool match(struct attempt *a, unsigned int field, unsigned int token,
		  unsigned int src);

static bool match_operand(struct attempt *a, unsigned int field,
			  unsigned int token, unsigned int src)
{
	const struct agx_field *f = &a->row->field[field];
	bool is_dst = f->type == AGX_FIELD_DST;
	struct agx_operand *o = is_dst ? &a->instr.dst : &a->instr.src[src];

	if (token < a->tokens && parse_operand(a->token[token], o) &&
	    (is_dst || o->type != AGX_OPERAND_NONE) &&
	    match(a, field + 1, token + 1, src + !is_dst))
		return true;

	memset(o, 0, sizeof(*o));
	return !is_dst && agx_kind_is_optional(f->id) &&
	       match(a, field + 1, token, src + 1);
}

static bool match_value(struct attempt *a, unsigned int field,
			unsigned int token, unsigned int src)
{
	const struct agx_field *f = &a->row->field[field];
	unsigned int i;

	for (i = 0; i < AGX_MAX_VALUE; i++) {
		const char *text = agx_value_text[f->set][i];
		bool written = text && *text;

		if (!text || (written && (token == a->tokens ||
					  strcmp(text, a->token[token]))))
			continue;
		a->instr.mod[f->id] = i;
		if (match(a, field + 1, token + written, src))
			return true;
	}
	a->instr.mod[f->id] = 0;
	return false;
}

static bool match_number(struct attempt *a, unsigned int field,
			 unsigned int token, unsigned int src)
{
	const struct agx_field *f = &a->row->field[field];
	const char *text = a->token[token];

	if (token == a->tokens)
		return false;
	if (!parse_integer(text, &a->instr.mod[f->id])) {
		if (f->id != AGX_MOD_OFFSET || f->set != AGX_SET_SIGNED ||
		    !is_name(text))
			return false;
		a->label = find_label(a->as, text);
		if (a->label < 0)
			return false;
		a->instr.mod[f->id] = 0;
	}
	return match(a, field + 1, token + 1, src);
}

static bool match_flag(struct attempt *a, unsigned int field,
		       unsigned int token, unsigned int src)
{
	const struct agx_field *f = &a->row->field[field];

	if (token < a->tokens &&
	    !strcmp(a->token[token], agx_flag_text[f->id])) {
		a->instr.mod[f->id] = 1;
		if (match(a, field + 1, token + 1, src))
			return true;
	}
	a->instr.mod[f->id] = 0;
	return match(a, field + 1, token, src);
}

/* The operands from @token on against the fields from @field on */
static bool match(struct attempt *a, unsigned int field, unsigned int token,
		  unsigned int src)
{
	const struct agx_field *f = &a->row->field[field];
	uint8_t bytes[AGX_ISA_MAX_LENGTH];
	int length;

	if (token > *a->reached)
		*a->reached = token;

	if (f->type == AGX_FIELD_END) {
		if (token != a->tokens)
			return false;
		length = agx_isa_encode(&a->instr, bytes);
		a->instr.length = length;
		return length > 0;
	}
	if (f->type != AGX_FIELD_MOD)
		return match_operand(a, field, token, src);
	if (f->set == AGX_SET_FLAG)
		return match_flag(a, field, token, src);
	if (agx_set_is_named(f->set))
		return match_value(a, field, token, src);
	return match_number(a, field, token, src);
}

static bool add_statement(struct assembler *as, const struct attempt *a)
{
	struct statement *s;

	s = realloc(as->statement, (as->statements + 1) * sizeof(*s));
	if (!s)
		return false;
	as->statement = s;
	s[as->statements++] = (struct statement){
		.instr = a->instr,
		.line = as->line,
		.offset = as->offset,
		.label = a->label,
	};
	as->offset += a->instr.length;
	return true;
}

static void explain(struct assembler *as, const char *mnemonic,
		    const struct attempt *a, unsigned int reached)
{
	if (reached < a->tokens)
		complain(as, as->line,
			 "%s: operand %u, '%s', does not fit here", mnemonic,
			 reached + 1, a->token[reached]);
	else if (reached)
		complain(as, as->line,
			 "%s: the operands do not go together, or some are missing",
			 mnemonic);
	else
		complain(as, as->line, "%s: operands are missing", mnemonic);
}

static char *trim(char *text)
{
	char *end;

	while (isspace((unsigned char)*text))
		text++;
	end = text + strlen(text);
	while (end > text && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return text;
}

/* Splits operands at commas; -1 when there are too many, or one is too long */
static int split(char *text, char token[MAX_TOKENS][MAX_TOKEN + 1])
{
	unsigned int n = 0;
	char *part;

	if (!*text)
		return 0;
	while ((part = strsep(&text, ",")) != NULL) {
		part = trim(part);
		if (n == MAX_TOKENS || strlen(part) > MAX_TOKEN)
			return -1;
		strcpy(token[n++], part);
	}
	return n;
}

static bool assemble_instruction(struct assembler *as, char *text)
{
	char token[MAX_TOKENS][MAX_TOKEN + 1];
	struct attempt a = { .as = as, .token = token };
	unsigned int reached = 0;
	char *mnemonic = text;
	bool known = false;
	unsigned int i;
	int n;

	while (*text && !isspace((unsigned char)*text))
		text++;
	if (*text)
		*text++ = '\0';
	n = split(trim(text), token);
	if (n < 0) {
		complain(as, as->line, "%s: too many or too long operands",
			 mnemonic);
		return true;
	}

	a.tokens = n;
	a.reached = &reached;
	for (i = 0; i < AGX_OP_COUNT; i++) {
		if (strcmp(agx_rows[i].name, mnemonic))
			continue;
		known = true;
		a.row = &agx_rows[i];
		a.label = -1;
		memset(&a.instr, 0, sizeof(a.instr));
		a.instr.op = i;
		if (match(&a, 0, 0, 0))
			return add_statement(as, &a);
		if (as->no_memory)
			return false;
	}

	if (known)
		explain(as, mnemonic, &a, reached);
	else
		complain(as, as->line, "unknown instruction '%s'", mnemonic);
	return true;
}

static bool set_label(struct assembler *as, const char *name)
{
	int i;

	if (!is_name(name) || strlen(name) > MAX_TOKEN) {
		complain(as, as->line, "'%s' is no name for a label", name);
		return true;
	}
	i = find_label(as, name);
	if (i < 0)
		return false;
	if (as->label[i].offset >= 0)
		complain(as, as->line, "label '%s' is set twice, first in line %u",
			 name, as->label[i].line);
	as->label[i].offset = as->offset;
	as->label[i].line = as->line;
	return true;
}

static bool assemble_line(struct assembler *as, char *line)
{
	char *colon;

	line[strcspn(line, "#;")] = '\0';
	line = trim(line);
	colon = strchr(line, ':');
	if (colon) {
		*colon = '\0';
		if (!set_label(as, trim(line)))
			return false;
		line = trim(colon + 1);
	}
	return !*line || assemble_instruction(as, line);
}

static bool assemble_lines(struct assembler *as, const char *text)
{
	while (*text) {
		size_t length = strcspn(text, "\n");
		char *line = strndup(text, length);
		bool ok;

		if (!line)
			return false;
		as->line++;
		ok = assemble_line(as, line);
		free(line);
		if (!ok)
			return false;
		text += length + (text[length] == '\n');
	}
	return true;
}

static void emit(struct assembler *as, struct statement *s, uint8_t *code)
{
	uint8_t bytes[AGX_ISA_MAX_LENGTH];

	if (s->label >= 0) {
		const struct label *label = &as->label[s->label];

		if (label->offset < 0) {
			complain(as, s->line, "label '%s' is not set",
				 label->name);
			return;
		}
		s->instr.mod[AGX_MOD_OFFSET] = label->offset - (long)s->offset;
	}
	if (agx_isa_encode(&s->instr, bytes) != (int)s->instr.length) {
		complain(as, s->line, "the jump goes too far");
		return;
	}
	memcpy(code + s->offset, bytes, s->instr.length);
}

int agx_isa_assemble(const char *text, const char *name,
		     struct agx_program *program, FILE *errors)
{
	struct assembler as = { .name = name, .errors = errors };
	int ret = -ENOMEM;
	size_t i;

	*program = (struct agx_program){ 0 };
	if (!assemble_lines(&as, text))
		goto out;

	/* One byte more: an empty program is no failure */
	program->code = calloc(1, as.offset + 1);
	if (!program->code)
		goto out;
	program->size = as.offset;
	for (i = 0; i < as.statements; i++)
		emit(&as, &as.statement[i], program->code);

	ret = 0;
	if (as.failed) {
		free(program->code);
		*program = (struct agx_program){ 0 };
		ret = -EINVAL;
	}
out:
	free(as.statement);
	free(as.label);
	return ret;
}
