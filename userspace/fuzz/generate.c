// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Random programs, and random changes of programs.
 *
 * Values are mostly within the bounds of their types, so that calls succeed and later ones
 * have something to work with; each kind of value has a small chance of being anything else.
 * A call that needs a resource uses the result of an earlier call, of the last ones more
 * often, or has a call that makes one inserted before it, to a depth of five. A mutation
 * changes one value of one call, or inserts, removes, repeats or moves a call, appends a part
 * of another program, or changes the number of threads.
 *
 * Everything follows from the random numbers of the worker (splitmix64), so that one worker
 * without coverage makes the same programs from the same seed. There is no shared state.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

uint64_t fuzz_random(struct fuzz_random *random)
{
	uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint64_t fuzz_below(struct fuzz_random *random, uint64_t limit)
{
	return limit ? fuzz_random(random) % limit : 0;
}

bool fuzz_chance(struct fuzz_random *random, unsigned int percent)
{
	return fuzz_below(random, 100) < percent;
}

/* State of generating one call */
struct generator {
	const struct fuzz_choices *choices;
	struct fuzz_random *random;
	struct fuzz_program *program;
	/* index at which the call will be inserted; results of earlier ones can be used */
	unsigned int at;
	unsigned int depth;
};

/* Return: a border of a usual range, a power of two, or any number. */
static uint64_t generate_odd_number(struct fuzz_random *random)
{
	static const uint64_t odd[] = {
		0, 1, 2, 3, 7, 8, 16, 63, 64, 255, 256, 0x3fff, 0x4000, 0x4001, 0x7fff, 0x8000,
		0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,
		0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffc000, 0xffffffffffffffff,
	};

	switch (fuzz_below(random, 4)) {
	case 0:
		return fuzz_random(random) >> fuzz_below(random, 64);
	case 1:
		return UINT64_C(1) << fuzz_below(random, 64);
	default:
		return odd[fuzz_below(random, sizeof(odd) / sizeof(odd[0]))];
	}
}

/* Return: whether a type's values are flags, which can be combined. */
static bool generate_are_bits(const struct fuzz_type *type)
{
	unsigned int i;

	for (i = 0; i < type->count; i++)
		if (type->values[i] & (type->values[i] - 1) || type->values[i] > 1 << 20)
			return false;
	return true;
}

/* Return: a number that is mostly right for a type. */
static uint64_t generate_number(struct fuzz_random *random, const struct fuzz_type *type)
{
	uint64_t value;
	unsigned int i;

	if (type->constant && !fuzz_chance(random, 1))
		return type->low;
	if (fuzz_chance(random, 5))
		return generate_odd_number(random);
	if (type->values) {
		value = type->values[fuzz_below(random, type->count)];
		if (generate_are_bits(type) && fuzz_chance(random, 40))
			return 0;
		for (i = 0; generate_are_bits(type) && i < 2; i++)
			value |= type->values[fuzz_below(random, type->count)];
		return value;
	}
	if (type->high)
		return type->low + fuzz_below(random, (type->high - type->low) / type->step + 1) *
				   type->step;
	return fuzz_chance(random, 50) ? 0 : generate_odd_number(random);
}

static struct fuzz_call *generate_new_call(struct generator *g, const struct fuzz_op *op);

/* Return: the label of an earlier call that gives such a resource back, or 0. */
static uint32_t generate_pick_label(const struct generator *g, unsigned int resource)
{
	unsigned int found = 0;
	uint32_t label = 0;
	unsigned int i;

	for (i = 0; i < g->at; i++) {
		const struct fuzz_call *call = g->program->calls[i];

		if (fuzz_op_resource(call->op) != (int)resource)
			continue;
		/* The latest ones are the likeliest to be alive. */
		if (!fuzz_below(g->random, ++found < 3 ? found : 3))
			label = call->label;
	}
	return label;
}

/* Inserts a call before this one that gives a resource back. Return: its label, or 0. */
static uint32_t generate_make_resource(struct generator *g, unsigned int resource)
{
	const struct fuzz_op *ops[FUZZ_MAX_OPS];
	unsigned int count = 0;
	struct fuzz_call *call;
	uint32_t label;
	unsigned int i;

	if (g->depth > 5)
		return 0;
	for (i = 0; i < fuzz_op_count; i++)
		if (fuzz_op_resource(&fuzz_ops[i]) == (int)resource)
			ops[count++] = &fuzz_ops[i];
	if (!count)
		return 0;
	g->depth++;
	call = generate_new_call(g, ops[fuzz_below(g->random, count)]);
	g->depth--;
	label = call->label;
	if (!fuzz_program_insert(g->program, g->at, call))
		return 0;
	g->at++;
	return label;
}

static uint32_t generate_need_resource(struct generator *g, unsigned int resource)
{
	uint32_t label = generate_pick_label(g, resource);

	return label ? label : generate_make_resource(g, resource);
}

static struct fuzz_value *generate_new_value(struct generator *g, const struct fuzz_type *type);

static void generate_new_elements(struct generator *g, struct fuzz_value *value)
{
	uint64_t count = value->type->low +
			 fuzz_below(g->random, value->type->high - value->type->low + 1);

	while (count--)
		fuzz_value_append(value, generate_new_value(g, value->type->elem));
}

static void generate_new_fields(struct generator *g, struct fuzz_value *value)
{
	const struct fuzz_type *type = value->type;
	unsigned int i;

	for (i = 0; i < type->count; i++) {
		const struct fuzz_field *field = &type->fields[i];
		bool only_out = field->out && fuzz_chance(g->random, 80);

		fuzz_value_append(value, only_out ? fuzz_value_new(field->type) :
						    generate_new_value(g, field->type));
	}
}

static void generate_new_bytes(struct generator *g, struct fuzz_value *value)
{
	uint8_t bytes[256];
	size_t count = 4 * (1 + fuzz_below(g->random, sizeof(bytes) / 4));
	size_t i;

	for (i = 0; i < count; i++)
		bytes[i] = fuzz_random(g->random);
	fuzz_value_set_bytes(value, bytes, count);
}

static uint64_t generate_bad_address(struct fuzz_random *random)
{
	static const uint64_t bad[] = { 0, 1, 0xffff800000000000, 0xfffffffffffff000 };

	return bad[fuzz_below(random, sizeof(bad) / sizeof(bad[0]))];
}

/* Makes a length wrong, mostly by a little: lengths that are far off are refused at once. */
static void generate_change_length(struct fuzz_random *random, struct fuzz_value *value)
{
	value->literal = fuzz_chance(random, 30);
	if (value->literal)
		value->number = generate_odd_number(random);
	else
		value->off_by = ((int)fuzz_below(random, 9) - 4) * (1 << fuzz_below(random, 6));
}

static struct fuzz_value *generate_new_value(struct generator *g, const struct fuzz_type *type)
{
	struct fuzz_value *value = fuzz_value_new(type);

	switch (type->kind) {
	case FUZZ_INT:
		value->number = generate_number(g->random, type);
		break;
	case FUZZ_DEADLINE:
		value->number = fuzz_below(g->random, 20000000);
		break;
	case FUZZ_RESOURCE:
		if (!fuzz_chance(g->random, 4))
			value->label = generate_need_resource(g, type->resource);
		if (!value->label)
			value->number = fuzz_below(g->random, 4);
		break;
	case FUZZ_LENGTH:
		if (fuzz_chance(g->random, 4))
			generate_change_length(g->random, value);
		break;
	case FUZZ_POINTER:
		if (fuzz_chance(g->random, 3))
			value->number = generate_bad_address(g->random);
		else
			fuzz_value_append(value, generate_new_value(g, type->elem));
		break;
	case FUZZ_ARRAY:
		generate_new_elements(g, value);
		break;
	case FUZZ_BYTES:
		generate_new_bytes(g, value);
		break;
	case FUZZ_STRUCT:
		generate_new_fields(g, value);
		break;
	case FUZZ_UNION:
		value->number = fuzz_below(g->random, type->count);
		fuzz_value_append(value, generate_new_value(g, type->fields[value->number].type));
		break;
	}
	return value;
}

static struct fuzz_call *generate_new_call(struct generator *g, const struct fuzz_op *op)
{
	struct fuzz_call *call = fuzz_call_new(op);

	if (op->has_fd)
		call->fd = generate_need_resource(g, fuzz_resource_find("fd_asahi"));
	call->arg = generate_new_value(g, op->arg);
	if (op->result >= 0)
		call->label = g->program->next_label++;
	if (op->action == FUZZ_IOCTL && fuzz_chance(g->random, 1))
		call->size = fuzz_below(g->random, 2 * fuzz_value_size(call->arg) + 8);
	if (op->action == FUZZ_IOCTL && g->choices->fail && fuzz_chance(g->random, 15))
		call->fail = 1 + fuzz_below(g->random, 40);
	return call;
}

static const struct fuzz_op *generate_any_op(struct fuzz_random *random)
{
	const struct fuzz_op *op;

	/* Checks are never chosen, and opening and closing only in a fifth of cases. */
	do {
		op = &fuzz_ops[fuzz_below(random, fuzz_op_count)];
	} while (op->action == FUZZ_EXPECT ||
		 ((op->action == FUZZ_CLOSE || op->action == FUZZ_OPEN) &&
		  !fuzz_chance(random, 20)));
	return op;
}

static void generate_insert_any(const struct fuzz_choices *choices, struct fuzz_program *program)
{
	struct generator g = {
		.choices = choices,
		.random = choices->random,
		.program = program,
		.at = fuzz_below(choices->random, program->count + 1),
	};
	struct fuzz_call *call = generate_new_call(&g, generate_any_op(g.random));

	fuzz_program_insert(program, g.at, call);
}

struct fuzz_program *fuzz_generate(const struct fuzz_choices *choices)
{
	struct fuzz_program *program = fuzz_program_new();
	unsigned int count = 4 + fuzz_below(choices->random, 24);

	while (program->count < count) {
		struct generator g = {
			.choices = choices,
			.random = choices->random,
			.program = program,
			.at = program->count,
		};
		struct fuzz_call *call = generate_new_call(&g, generate_any_op(g.random));

		fuzz_program_insert(program, g.at, call);
	}
	if (fuzz_chance(choices->random, 10))
		program->threads = 1 + fuzz_below(choices->random, choices->max_threads);
	return program;
}

/* Mutation */

static void generate_change_bytes(struct fuzz_random *random, struct fuzz_value *value)
{
	size_t words = value->byte_count / 4;
	size_t at = 4 * fuzz_below(random, words);
	uint32_t word;

	if (!words)
		return;
	memcpy(&word, value->bytes + at, 4);
	switch (fuzz_below(random, 5)) {
	case 0:
	case 1:
		word ^= 1u << fuzz_below(random, 32);
		break;
	case 2:
		word = generate_odd_number(random);
		break;
	case 3:
		memcpy(&word, value->bytes + 4 * fuzz_below(random, words), 4);
		break;
	default:
		word += fuzz_below(random, 33) - 16;
		break;
	}
	memcpy(value->bytes + at, &word, 4);
}

static void generate_change_number(struct fuzz_random *random, struct fuzz_value *value)
{
	switch (fuzz_below(random, 6)) {
	case 0:
		value->number ^= UINT64_C(1) << fuzz_below(random, 8 * value->type->size);
		break;
	case 1:
		value->number += fuzz_below(random, 9) - 4;
		break;
	case 2:
		value->number += (fuzz_below(random, 9) - 4) * 0x4000;
		break;
	case 3:
		value->number = generate_odd_number(random);
		break;
	default:
		value->number = generate_number(random, value->type);
		break;
	}
}

static void generate_change_array(struct generator *g, struct fuzz_value *value)
{
	unsigned int at = fuzz_below(g->random, value->count);

	switch (fuzz_below(g->random, 3)) {
	case 0:
		if (value->count)
			fuzz_value_remove(value, at);
		break;
	case 1:
		if (value->count && value->count < 64)
			fuzz_value_append(value, fuzz_value_clone(value->children[at]));
		break;
	default:
		if (value->count < 64)
			fuzz_value_append(value, generate_new_value(g, value->type->elem));
		break;
	}
}

/* Replaces a value by a new one of its type, in place. */
static void generate_replacement(struct generator *g, struct fuzz_value *value)
{
	struct fuzz_value *other = generate_new_value(g, value->type);
	struct fuzz_value old = *value;

	*value = *other;
	*other = old;
	fuzz_value_free(other);
}

static void generate_change_value(struct generator *g, struct fuzz_value *value)
{
	switch (value->type->kind) {
	case FUZZ_BYTES:
		generate_change_bytes(g->random, value);
		break;
	case FUZZ_INT:
		generate_change_number(g->random, value);
		break;
	case FUZZ_ARRAY:
		generate_change_array(g, value);
		break;
	case FUZZ_LENGTH:
		generate_change_length(g->random, value);
		break;
	case FUZZ_STRUCT:
		break;
	default:
		generate_replacement(g, value);
		break;
	}
}

/*
 * How often a length is chosen compared with another value: it decides how much is read, but
 * is one of some seventy numbers of a render.
 */
#define LENGTH_WEIGHT	8

struct chosen {
	struct fuzz_random *random;
	struct fuzz_value *value;
	/* sum of the weights of all values that were seen */
	unsigned int seen;
};

/* Chooses one value of a tree, by weight, in one walk (reservoir sampling). */
static void generate_choose(struct fuzz_value *value, void *data)
{
	struct chosen *chosen = data;
	unsigned int weight;

	if (value->type->kind == FUZZ_STRUCT)
		return;
	/* Numbers that have to be a constant are changed less often. */
	if (value->type->kind == FUZZ_INT && value->type->constant &&
	    !fuzz_chance(chosen->random, 15))
		return;
	weight = value->type->kind == FUZZ_LENGTH ? LENGTH_WEIGHT : 1;
	chosen->seen += weight;
	if (fuzz_below(chosen->random, chosen->seen) < weight)
		chosen->value = value;
}

/* Changes a value of a copy of a call, which then replaces the call. */
static void generate_change_call(const struct fuzz_choices *choices, struct fuzz_program *program)
{
	struct generator g = {
		.choices = choices,
		.random = choices->random,
		.program = program,
		.at = fuzz_below(choices->random, program->count),
	};
	unsigned int old = g.at;
	struct chosen chosen = { .random = choices->random };
	struct fuzz_call *call;

	if (!program->count)
		return;
	call = fuzz_call_clone(program->calls[old]);
	fuzz_value_visit(call->arg, generate_choose, &chosen);
	if (chosen.value)
		generate_change_value(&g, chosen.value);
	if (fuzz_chance(g.random, 2) && call->op->action == FUZZ_IOCTL)
		call->size = fuzz_below(g.random, 2 * fuzz_value_size(call->arg) + 8);
	if (choices->fail && fuzz_chance(g.random, 60) && call->op->action == FUZZ_IOCTL)
		call->fail = 1 + fuzz_below(g.random, 60);
	/* Calls that make resources may have been inserted before it: the index has moved. */
	fuzz_call_free(program->calls[g.at]);
	program->calls[g.at] = call;
}

static void generate_shift_label(struct fuzz_value *value, void *data)
{
	if (value->label)
		value->label += *(uint32_t *)data;
}

/* Appends another program, or its end, with its labels shifted behind those of this one. */
static void generate_append_part(const struct fuzz_choices *choices, struct fuzz_program *program,
				 const struct fuzz_program *other)
{
	uint32_t shift = program->next_label;
	unsigned int first = fuzz_chance(choices->random, 70) ?
			     0 : fuzz_below(choices->random, other->count);
	unsigned int i;

	for (i = first; i < other->count; i++) {
		struct fuzz_call *call = fuzz_call_clone(other->calls[i]);

		if (call->label)
			call->label += shift;
		if (call->fd)
			call->fd += shift;
		fuzz_value_visit(call->arg, generate_shift_label, &shift);
		if (!fuzz_program_insert(program, program->count, call))
			break;
	}
	program->next_label += other->next_label;
}

static void generate_move_call(struct fuzz_random *random, struct fuzz_program *program)
{
	unsigned int from = fuzz_below(random, program->count);
	unsigned int to = fuzz_below(random, program->count);
	struct fuzz_call *call;

	if (!program->count)
		return;
	call = fuzz_call_clone(program->calls[from]);
	fuzz_program_remove(program, from);
	fuzz_program_insert(program, to, call);
}

static void generate_repeat_call(struct fuzz_program *program, unsigned int at)
{
	struct fuzz_call *call;

	if (!program->count)
		return;
	call = fuzz_call_clone(program->calls[at]);
	if (call->label)
		call->label = program->next_label++;
	fuzz_program_insert(program, at + 1, call);
}

static void generate_mutate_once(const struct fuzz_choices *choices, struct fuzz_program *program,
				 const struct fuzz_program *other)
{
	struct fuzz_random *random = choices->random;
	unsigned int dice = fuzz_below(random, 100);

	if (dice < 55)
		generate_change_call(choices, program);
	else if (dice < 72)
		generate_insert_any(choices, program);
	else if (dice < 78 && program->count > 1)
		fuzz_program_remove(program, fuzz_below(random, program->count));
	else if (dice < 84)
		generate_repeat_call(program, fuzz_below(random, program->count));
	else if (dice < 89)
		generate_move_call(random, program);
	else if (dice < 94 && other)
		generate_append_part(choices, program, other);
	else
		program->threads = 1 + fuzz_below(random, choices->max_threads);
}

void fuzz_mutate(const struct fuzz_choices *choices, struct fuzz_program *program,
		 const struct fuzz_program *other)
{
	unsigned int changes = 1 + fuzz_below(choices->random, 4);

	while (changes--)
		generate_mutate_once(choices, program, other);
}
