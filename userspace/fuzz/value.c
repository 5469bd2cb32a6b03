// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Values, calls and programs as data: a program is an array of calls, the argument of a call a
 * tree of values, each with its type from the tables. A tree belongs to its root and is copied
 * as a whole. Threads share only programs that none of them changes.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

/* Ends the process if there is no memory. */
static void *value_must(void *memory)
{
	if (!memory) {
		fputs("asahi-fuzz: no memory\n", stderr);
		abort();
	}
	return memory;
}

const struct fuzz_op *fuzz_op_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < fuzz_op_count; i++)
		if (!strcmp(fuzz_ops[i].name, name))
			return &fuzz_ops[i];
	return NULL;
}

int fuzz_op_resource(const struct fuzz_op *op)
{
	return op->result < 0 ? -1 : (int)op->arg->fields[op->result].type->resource;
}

unsigned int fuzz_resource_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < fuzz_resource_count; i++)
		if (!strcmp(fuzz_resources[i], name))
			return i;
	fprintf(stderr, "asahi-fuzz: there is no resource %s\n", name);
	abort();
}

struct fuzz_value *fuzz_value_new(const struct fuzz_type *type)
{
	struct fuzz_value *value = value_must(calloc(1, sizeof(*value)));

	value->type = type;
	return value;
}

void fuzz_value_append(struct fuzz_value *value, struct fuzz_value *child)
{
	value->children = value_must(realloc(value->children,
					     (value->count + 1) * sizeof(*value->children)));
	value->children[value->count++] = child;
}

void fuzz_value_remove(struct fuzz_value *value, unsigned int index)
{
	fuzz_value_free(value->children[index]);
	value->count--;
	memmove(&value->children[index], &value->children[index + 1],
		(value->count - index) * sizeof(*value->children));
}

void fuzz_value_set_bytes(struct fuzz_value *value, const void *bytes, size_t count)
{
	free(value->bytes);
	value->bytes = value_must(malloc(count + 1));
	memcpy(value->bytes, bytes, count);
	value->byte_count = count;
}

struct fuzz_value *fuzz_value_clone(const struct fuzz_value *value)
{
	struct fuzz_value *clone = fuzz_value_new(value->type);
	unsigned int i;

	clone->number = value->number;
	clone->label = value->label;
	clone->literal = value->literal;
	clone->off_by = value->off_by;
	for (i = 0; i < value->count; i++)
		fuzz_value_append(clone, fuzz_value_clone(value->children[i]));
	if (value->bytes)
		fuzz_value_set_bytes(clone, value->bytes, value->byte_count);
	return clone;
}

void fuzz_value_free(struct fuzz_value *value)
{
	unsigned int i;

	if (!value)
		return;
	for (i = 0; i < value->count; i++)
		fuzz_value_free(value->children[i]);
	free(value->children);
	free(value->bytes);
	free(value);
}

size_t fuzz_value_size(const struct fuzz_value *value)
{
	size_t size = 0;
	unsigned int i;

	switch (value->type->kind) {
	case FUZZ_BYTES:
		return value->byte_count;
	case FUZZ_ARRAY:
	case FUZZ_STRUCT:
	case FUZZ_UNION:
		for (i = 0; i < value->count; i++)
			size += fuzz_value_size(value->children[i]);
		return size;
	default:
		return value->type->size;
	}
}

void fuzz_value_visit(struct fuzz_value *value, void (*visit)(struct fuzz_value *, void *),
		      void *data)
{
	unsigned int i;

	visit(value, data);
	for (i = 0; i < value->count; i++)
		fuzz_value_visit(value->children[i], visit, data);
}

uint64_t fuzz_value_length(const struct fuzz_value *parent, const struct fuzz_type *type)
{
	const struct fuzz_value *target = parent->children[type->sibling];

	if (target->type->kind == FUZZ_POINTER) {
		if (!target->count)
			return 0;
		target = target->children[0];
	}
	return type->bytes ? fuzz_value_size(target) : target->count;
}

struct fuzz_call *fuzz_call_new(const struct fuzz_op *op)
{
	struct fuzz_call *call = value_must(calloc(1, sizeof(*call)));

	call->op = op;
	return call;
}

struct fuzz_call *fuzz_call_clone(const struct fuzz_call *call)
{
	struct fuzz_call *clone = value_must(malloc(sizeof(*clone)));

	*clone = *call;
	clone->arg = fuzz_value_clone(call->arg);
	return clone;
}

void fuzz_call_free(struct fuzz_call *call)
{
	fuzz_value_free(call->arg);
	free(call);
}

struct fuzz_value *fuzz_call_field(const struct fuzz_call *call, const char *name)
{
	const struct fuzz_type *type = call->op->arg;
	unsigned int i;

	for (i = 0; i < type->count && i < call->arg->count; i++)
		if (!strcmp(type->fields[i].name, name))
			return call->arg->children[i];
	return NULL;
}

struct fuzz_program *fuzz_program_new(void)
{
	struct fuzz_program *program = value_must(calloc(1, sizeof(*program)));

	program->threads = 1;
	program->next_label = 1;
	return program;
}

struct fuzz_program *fuzz_program_clone(const struct fuzz_program *program)
{
	struct fuzz_program *clone = value_must(malloc(sizeof(*clone)));
	unsigned int i;

	*clone = *program;
	for (i = 0; i < program->count; i++)
		clone->calls[i] = fuzz_call_clone(program->calls[i]);
	return clone;
}

void fuzz_program_free(struct fuzz_program *program)
{
	unsigned int i;

	if (!program)
		return;
	for (i = 0; i < program->count; i++)
		fuzz_call_free(program->calls[i]);
	free(program);
}

bool fuzz_program_insert(struct fuzz_program *program, unsigned int at, struct fuzz_call *call)
{
	if (program->count == FUZZ_MAX_CALLS) {
		fuzz_call_free(call);
		return false;
	}
	memmove(&program->calls[at + 1], &program->calls[at],
		(program->count - at) * sizeof(program->calls[0]));
	program->calls[at] = call;
	program->count++;
	return true;
}

void fuzz_program_remove(struct fuzz_program *program, unsigned int at)
{
	fuzz_call_free(program->calls[at]);
	program->count--;
	memmove(&program->calls[at], &program->calls[at + 1],
		(program->count - at) * sizeof(program->calls[0]));
}
