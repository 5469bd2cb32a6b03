// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Data flow over the decoded instructions of a shader, forward, until nothing changes: the sets of
 * registers that are pending, discarded and written before each instruction. Where paths meet,
 * sets are united, so that a finding holds on some path; only "unwritten" holds on all of them.
 *
 * A last use is forgotten where other threads become active: it was one of those that were.
 */
#include <stdlib.h>
#include <string.h>

#include "agx_lint.h"

#define HALVES	AGX_ISA_REGISTERS
#define NONE	UINT32_MAX

/* A set of 16-bit registers */
struct lint_set {
	uint64_t word[HALVES / 64];
};

/* What is known before an instruction */
struct lint_state {
	/* what loads of a group may still write */
	struct lint_set pending[2];
	/* last uses were announced */
	struct lint_set discarded;
	struct lint_set written;
};

struct lint_instr {
	size_t offset;
	struct agx_instr instr;
	/* numbers of those that may come next; NONE if there is none */
	uint32_t next, target;
	/* it could not be decoded */
	bool unknown;
	bool runs_out;
	bool bad_target;
	/* some path comes here, and has not been followed from here on */
	bool reached;
	bool queued;
	struct lint_state in;
};

struct lint_code {
	const struct agx_lint *lint;
	const uint8_t *code;
	size_t size;
	struct lint_instr *instr;
	uint32_t count;
	uint32_t capacity;
	/* number of the instruction at each multiple of two bytes, or NONE */
	uint32_t *at;
	int findings;
};

/* Decoding */

/* Adds the instruction at an offset, unless it is there. Return: its number; NONE: no memory. */
static uint32_t lint_add(struct lint_code *c, size_t offset)
{
	struct lint_instr *more;
	uint32_t capacity;

	if (c->at[offset / 2] != NONE)
		return c->at[offset / 2];
	if (c->count == c->capacity) {
		capacity = c->capacity ? c->capacity * 2 : 64;
		more = realloc(c->instr, capacity * sizeof(*more));
		if (!more)
			return NONE;
		c->instr = more;
		c->capacity = capacity;
	}
	c->instr[c->count] = (struct lint_instr){
		.offset = offset, .next = NONE, .target = NONE,
	};
	c->at[offset / 2] = c->count;
	return c->count++;
}

static bool lint_ends(const struct agx_instr *instr)
{
	return instr->op == AGX_OP_STOP || instr->op == AGX_OP_TRAP || instr->op == AGX_OP_RET;
}

static bool lint_has_target(const struct agx_instr *instr)
{
	return instr->op == AGX_OP_JMP_ANY || instr->op == AGX_OP_JMP_NONE ||
	       instr->op == AGX_OP_CALL;
}

/* Whether a path that leads to an offset may end there without a finding */
static bool lint_is_out_of_sight(const struct lint_code *c, size_t offset)
{
	return c->lint->known &&
	       (offset >= c->size || offset % 2 || !c->lint->known[offset / 2]);
}

/*
 * Adds the target of a jump, as far as it is known. Return: its number, or NONE; false in @ok if
 * there is no memory.
 */
static uint32_t lint_add_target(struct lint_code *c, uint32_t n, size_t target, bool *ok)
{
	uint32_t jump = NONE;

	if (lint_is_out_of_sight(c, target))
		return NONE;
	c->instr[n].bad_target = target >= c->size || target % 2;
	if (!c->instr[n].bad_target) {
		jump = lint_add(c, target);
		*ok = jump != NONE;
	}
	return jump;
}

/* Decodes instruction @n, and adds those that it leads to. Return: false if there is no memory. */
static bool lint_decode(struct lint_code *c, uint32_t n)
{
	size_t offset = c->instr[n].offset;
	struct agx_instr instr;
	int length = agx_isa_decode(c->code + offset, c->size - offset, &instr);
	uint32_t next = NONE, jump = NONE;
	bool ok = true;

	if (length <= 0) {
		c->instr[n].unknown = true;
		return true;
	}
	c->instr[n].instr = instr;
	if (lint_has_target(&instr))
		jump = lint_add_target(c, n, offset + (size_t)instr.mod[AGX_MOD_OFFSET], &ok);
	offset += (size_t)length;
	if (ok && !lint_ends(&instr) && !lint_is_out_of_sight(c, offset)) {
		c->instr[n].runs_out = offset >= c->size;
		if (offset < c->size) {
			next = lint_add(c, offset);
			ok = next != NONE;
		}
	}
	c->instr[n].next = next;
	c->instr[n].target = jump;
	return ok;
}

static bool lint_decode_all(struct lint_code *c)
{
	uint32_t n;

	if (lint_add(c, c->lint->entry) == NONE)
		return false;
	for (n = 0; n < c->count; n++) {
		if (!lint_decode(c, n))
			return false;
	}
	return c->instr;
}

/* Sets of registers */

/* The destination with all that is written to it */
static struct agx_operand lint_result(const struct agx_instr *instr)
{
	struct agx_operand result = instr->dst;

	result.count = (uint8_t)agx_isa_result_count(instr->op, &instr->dst,
						     (unsigned int)instr->mod[AGX_MOD_FORMAT],
						     instr->mod[AGX_MOD_SPARSE]);
	return result;
}

static unsigned int lint_end_of(const struct agx_operand *o)
{
	return (unsigned int)o->value + (o->count ? o->count : 1u) * o->size / 16u;
}

/* Adds an operand's registers to a set, or takes them out of it */
static void lint_set(struct lint_set *set, const struct agx_operand *o, bool value)
{
	unsigned int half;

	if (o->type != AGX_OPERAND_REG)
		return;
	for (half = (unsigned int)o->value; half < lint_end_of(o) && half < HALVES; half++) {
		uint64_t bit = 1ULL << half % 64;

		if (value)
			set->word[half / 64] |= bit;
		else
			set->word[half / 64] &= ~bit;
	}
}

/* Finds the first register of an operand that is in a set, or is not. Return: NONE for none. */
static uint32_t lint_find(const struct lint_set *set, const struct agx_operand *o, bool value)
{
	unsigned int half;

	if (o->type != AGX_OPERAND_REG)
		return NONE;
	for (half = (unsigned int)o->value; half < lint_end_of(o) && half < HALVES; half++) {
		if ((set->word[half / 64] >> half % 64 & 1) == value)
			return half;
	}
	return NONE;
}

static bool lint_unite(struct lint_set *to, const struct lint_set *from)
{
	bool changed = false;
	unsigned int i;

	for (i = 0; i < HALVES / 64; i++) {
		changed |= (from->word[i] & ~to->word[i]) != 0;
		to->word[i] |= from->word[i];
	}
	return changed;
}

/* Data flow */

/* Whether other threads can be active afterwards than before */
static bool lint_changes_threads(const struct agx_instr *instr)
{
	switch (instr->op) {
	case AGX_OP_ELSE_ICMP:
	case AGX_OP_ELSE_FCMP:
	case AGX_OP_POP_EXEC:
	case AGX_OP_UPDATE_EXEC:
	case AGX_OP_WHILE_ICMP:
	case AGX_OP_WHILE_FCMP:
		return true;
	default:
		return false;
	}
}

/* What an instruction makes of the state before it */
static void lint_step(const struct agx_instr *instr, struct lint_state *s)
{
	unsigned int group = instr->mod[AGX_MOD_GROUP] & 1, i;
	const struct agx_operand result = lint_result(instr);

	if (instr->op == AGX_OP_WAIT)
		s->pending[group] = (struct lint_set){ { 0 } };
	if (lint_changes_threads(instr))
		s->discarded = (struct lint_set){ { 0 } };
	for (i = 0; i < AGX_ISA_MAX_SRCS; i++) {
		if (instr->src[i].discard)
			lint_set(&s->discarded, &instr->src[i], true);
	}
	lint_set(&s->discarded, &result, false);
	lint_set(&s->written, &result, true);
	if (agx_isa_is_asynchronous(instr->op))
		lint_set(&s->pending[group], &result, true);
}

/* Has a state reach an instruction */
static void lint_reach(struct lint_code *c, uint32_t n, const struct lint_state *s)
{
	struct lint_instr *to;
	bool changed;

	if (n == NONE)
		return;
	to = &c->instr[n];
	changed = !to->reached;
	changed |= lint_unite(&to->in.pending[0], &s->pending[0]);
	changed |= lint_unite(&to->in.pending[1], &s->pending[1]);
	changed |= lint_unite(&to->in.discarded, &s->discarded);
	changed |= lint_unite(&to->in.written, &s->written);
	to->reached = true;
	to->queued |= changed;
}

/* Sets only grow, so this ends */
static void lint_follow(struct lint_code *c)
{
	/* vertex and instance numbers, where a vertex shader finds them */
	static const struct agx_operand given = {
		.type = AGX_OPERAND_REG, .value = 10, .size = 32, .count = 2,
	};
	struct lint_state s = { 0 };
	bool again = true;
	uint32_t n;

	lint_set(&s.written, &given, true);
	lint_reach(c, 0, &s);
	while (again) {
		again = false;
		for (n = 0; n < c->count; n++) {
			struct lint_instr *i = &c->instr[n];

			if (!i->queued || i->unknown)
				continue;
			i->queued = false;
			again = true;
			s = i->in;
			lint_step(&i->instr, &s);
			lint_reach(c, i->next, &s);
			lint_reach(c, i->target, &s);
		}
	}
}

/* Findings */

static void lint_report(struct lint_code *c, const struct lint_instr *i, enum agx_lint_kind kind,
			uint32_t half)
{
	const struct agx_lint_finding finding = {
		.kind = kind,
		.offset = i->offset,
		.instr = i->unknown ? NULL : &i->instr,
		.half = half == NONE ? 0 : half,
	};

	c->findings++;
	c->lint->report(c->lint->ctx, &finding);
}

/* Reports the first source that has a register in a set, or one that is not in it */
static void lint_check_sources(struct lint_code *c, const struct lint_instr *i,
			       const struct lint_set *set, bool value, enum agx_lint_kind kind)
{
	uint32_t half = NONE;
	unsigned int n;

	for (n = 0; half == NONE && n < AGX_ISA_MAX_SRCS; n++) {
		struct agx_operand o = i->instr.src[n];

		o.count = (uint8_t)agx_isa_source_count(i->instr.op, n, &o);
		half = lint_find(set, &o, value);
	}
	if (half != NONE)
		lint_report(c, i, kind, half);
}

/* Loads of one group write in their order */
static void lint_check_destination(struct lint_code *c, const struct lint_instr *i)
{
	unsigned int own = agx_isa_is_asynchronous(i->instr.op) ? i->instr.mod[AGX_MOD_GROUP] & 1 : 2;
	const struct agx_operand result = lint_result(&i->instr);
	unsigned int group;
	uint32_t half;

	for (group = 0; group < 2; group++) {
		half = lint_find(&i->in.pending[group], &result, true);
		if (half != NONE && group != own)
			lint_report(c, i, AGX_LINT_WRITES_PENDING, half);
	}
}

static void lint_check_registers(struct lint_code *c, const struct lint_instr *i)
{
	unsigned int limit = c->lint->registers ? c->lint->registers : HALVES, n;
	const struct agx_operand *o = &i->instr.dst;

	for (n = 0; n <= AGX_ISA_MAX_SRCS; o = &i->instr.src[n++]) {
		if (o->type != AGX_OPERAND_REG || lint_end_of(o) <= limit)
			continue;
		lint_report(c, i, AGX_LINT_REGISTER,
			    (unsigned int)o->value > limit ? (unsigned int)o->value : limit);
		return;
	}
}

static void lint_check(struct lint_code *c, const struct lint_instr *i)
{
	struct lint_set pending = i->in.pending[0];

	if (i->unknown) {
		lint_report(c, i, AGX_LINT_UNKNOWN, NONE);
		return;
	}
	lint_unite(&pending, &i->in.pending[1]);
	lint_check_sources(c, i, &pending, true, AGX_LINT_READS_PENDING);
	lint_check_destination(c, i);
	if (!lint_changes_threads(&i->instr))
		lint_check_sources(c, i, &i->in.discarded, true, AGX_LINT_READS_DISCARDED);
	if (c->lint->unwritten)
		lint_check_sources(c, i, &i->in.written, false, AGX_LINT_READS_UNWRITTEN);
	lint_check_registers(c, i);
	if (i->bad_target)
		lint_report(c, i, AGX_LINT_TARGET, NONE);
	if (i->runs_out)
		lint_report(c, i, AGX_LINT_RUNS_OUT, NONE);
}

int agx_lint_code(const struct agx_lint *lint, const uint8_t *code, size_t size)
{
	struct lint_code c = { .lint = lint, .code = code, .size = size, .findings = -1 };
	size_t i;

	c.at = malloc((size / 2 + 1) * sizeof(*c.at));
	if (c.at) {
		memset(c.at, 0xff, (size / 2 + 1) * sizeof(*c.at));
		if (lint_decode_all(&c))
			c.findings = 0;
	}
	if (!c.findings) {
		lint_follow(&c);
		for (i = 0; i <= size / 2; i++) {
			if (c.at[i] != NONE)
				lint_check(&c, &c.instr[c.at[i]]);
		}
	}
	free(c.instr);
	free(c.at);
	return c.findings;
}

const char *agx_lint_text(enum agx_lint_kind kind)
{
	static const char *const texts[AGX_LINT_KINDS] = {
		[AGX_LINT_READS_PENDING] = "reads a register before the wait for what is loaded to it",
		[AGX_LINT_WRITES_PENDING] = "writes a register before the wait for what is loaded to it",
		[AGX_LINT_READS_DISCARDED] = "reads a register after its last use",
		[AGX_LINT_READS_UNWRITTEN] = "reads a register that nothing has written",
		[AGX_LINT_REGISTER] = "has a register that the thread does not have",
		[AGX_LINT_UNKNOWN] = "is not known",
		[AGX_LINT_RUNS_OUT] = "is the last one, and is no stop",
		[AGX_LINT_TARGET] = "jumps out of the code",
	};

	return texts[kind];
}
