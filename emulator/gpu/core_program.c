// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Programs: instructions decoded once, before they run many times. Decoding
 * follows the flow of control, so it never looks at what can't be reached.
 */
#include <errno.h>
#include <stdlib.h>

#include "core_internal.h"
#include "report.h"

static vagx_exec_fn *const semantics[AGX_OP_COUNT] = {
#define AGX_INSTRUCTION(id, name, short_length, long_length, length_bit,	\
			fixed, fields, semantics_)				\
	[AGX_OP_##id] = vagx_exec_##semantics_,
#include "agx/agx_isa.def"
};

void vagx_program_clear(struct program *p)
{
	p->count = 0;
	if (p->hash)
		memset(p->hash, 0, p->hash_size * sizeof(*p->hash));
}

void vagx_program_fini(struct program *p)
{
	free(p->op);
	free(p->hash);
	*p = (struct program){ 0 };
}

/* Where an address is in the hash, or where it would go */
static uint32_t *slot(const struct program *p, uint64_t va)
{
	uint32_t i = (uint32_t)((va >> 1) * 0x9e3779b97f4a7c15ULL >> 32);

	for (;; i++) {
		uint32_t *s = &p->hash[i % p->hash_size];

		if (!*s || p->op[*s - 1].va == va)
			return s;
	}
}

static int grow_hash(struct program *p)
{
	uint32_t size = p->hash_size ? p->hash_size * 2 : 256;
	uint32_t *hash = calloc(size, sizeof(*hash));
	uint32_t i;

	if (!hash)
		return -ENOMEM;
	free(p->hash);
	p->hash = hash;
	p->hash_size = size;
	for (i = 0; i < p->count; i++) {
		if (p->op[i].run != vagx_exec_goto)
			*slot(p, p->op[i].va) = i + 1;
	}
	return 0;
}

static struct op *add_op(struct program *p)
{
	if (p->count == p->room) {
		uint32_t room = p->room ? p->room * 2 : 128;
		struct op *op = realloc(p->op, room * sizeof(*op));

		if (!op)
			return NULL;
		p->op = op;
		p->room = room;
	}
	memset(&p->op[p->count], 0, sizeof(*p->op));
	return &p->op[p->count++];
}

static int remember(struct program *p, const struct op *op)
{
	uint32_t index = op - p->op;
	int err;

	if (p->hash_size < 2 * p->count) {
		err = grow_hash(p);
		if (err)
			return err;
	}
	*slot(p, p->op[index].va) = index + 1;
	return 0;
}

/* Bytes of the instruction that can be fetched */
static size_t fetch(struct vagx_core *core, uint64_t va, uint8_t *code)
{
	size_t here = VAGX_UAT_PAGE_SIZE - (va & VAGX_UAT_PAGE_MASK);
	struct vagx_uat_fault fault;
	const void *p;

	if (here > AGX_ISA_MAX_LENGTH)
		here = AGX_ISA_MAX_LENGTH;
	p = vagx_tlb_ptr(core->config.tlb, va, here, VAGX_EXEC, &fault);
	if (!p)
		return 0;
	memcpy(code, p, here);
	if (here == AGX_ISA_MAX_LENGTH)
		return here;

	p = vagx_tlb_ptr(core->config.tlb, va + here, AGX_ISA_MAX_LENGTH - here,
			 VAGX_EXEC, &fault);
	if (!p)
		return here;
	memcpy(code + here, p, AGX_ISA_MAX_LENGTH - here);
	return AGX_ISA_MAX_LENGTH;
}

static bool has_register(const struct vagx_core *core,
			 const struct agx_operand *o)
{
	return o->type != AGX_OPERAND_REG ||
	       o->value + o->count * o->size / 16U <= core->register_halves;
}

static void fill(struct vagx_core *core, struct op *op,
		 const struct agx_instr *instr)
{
	bool ok = has_register(core, &instr->dst);
	unsigned int i;

	op->run = semantics[instr->op];
	op->opcode = instr->op;
	op->length = instr->length;
	op->dst = instr->dst;
	for (i = 0; i < AGX_MOD_COUNT; i++)
		op->mod[i] = instr->mod[i];
	op->imm = instr->mod[AGX_MOD_IMM] + instr->mod[AGX_MOD_OFFSET];
	for (i = 0; i < MAX_SRCS; i++) {
		op->src[i] = instr->src[i];
		ok = ok && has_register(core, &instr->src[i]);
	}
	if (!ok)
		op->run = vagx_exec_no_register;
}

static void trace(struct vagx_core *core, uint64_t va,
		  const struct agx_instr *instr)
{
	char text[AGX_ISA_MAX_TEXT];

	if (!vagx_log_enabled(core->config.report, VAGX_LOG_TRACE))
		return;
	agx_isa_print(instr, text, sizeof(text));
	vagx_log(core->config.report, VAGX_LOG_TRACE, "shader: 0x%llx: %s",
		 (unsigned long long)va, text);
}

static void decode(struct vagx_core *core, struct op *op)
{
	uint8_t code[AGX_ISA_MAX_LENGTH] = { 0 };
	size_t avail = fetch(core, op->va, code);
	struct agx_instr instr;
	int length = agx_isa_decode(code, avail, &instr);

	op->length = 2;
	if (length > 0) {
		fill(core, op, &instr);
		trace(core, op->va, &instr);
	} else if (length == -ENODATA) {
		op->run = vagx_exec_fetch_fault;
	} else {
		op->run = vagx_exec_illegal;
	}
}

static bool ends_sequence(const struct op *op)
{
	return op->run == vagx_exec_illegal || op->run == vagx_exec_no_register ||
	       op->run == vagx_exec_fetch_fault || op->run == vagx_exec_stop ||
	       op->run == vagx_exec_trap || op->run == vagx_exec_jmp_reg ||
	       op->run == vagx_exec_unsupported;
}

static bool has_target(const struct op *op)
{
	return op->run == vagx_exec_jmp_any || op->run == vagx_exec_jmp_none ||
	       op->run == vagx_exec_call;
}

/* Until the flow of control ends or is known already */
static int decode_sequence(struct vagx_core *core, uint64_t va)
{
	struct program *p = &core->program;

	for (;;) {
		uint32_t known = p->hash_size ? *slot(p, va) : 0;
		struct op *op;
		int err;

		if (p->count >= MAX_OPS)
			return -E2BIG;
		op = add_op(p);
		if (!op)
			return -ENOMEM;
		op->va = va;
		if (known) {
			op->run = vagx_exec_goto;
			op->target = known - 1;
			return 0;
		}

		decode(core, op);
		err = remember(p, op);
		if (err || ends_sequence(op))
			return err;
		va += op->length;
	}
}

static int resolve(struct vagx_core *core, uint64_t va, uint32_t *index)
{
	struct program *p = &core->program;
	int err;

	if (!p->hash_size || !*slot(p, va)) {
		*index = p->count;
		err = decode_sequence(core, va);
		if (err)
			return err;
	}
	*index = *slot(p, va) - 1;
	return 0;
}

/**
 * vagx_program_find() - the op at an address
 * @core: core
 * @va: address of an instruction
 * @index: where the index goes
 *
 * Decodes it and all that it leads to, unless it is known already. Ops move:
 * pointers to them are invalid afterwards.
 *
 * Return: 0, -ENOMEM, or -E2BIG for a program that is too long.
 */
int vagx_program_find(struct vagx_core *core, uint64_t va, uint32_t *index)
{
	struct program *p = &core->program;
	uint32_t i = p->count;
	int err;

	err = resolve(core, va, index);
	for (; !err && i < p->count; i++) {
		uint32_t target;

		if (!has_target(&p->op[i]))
			continue;
		err = resolve(core, p->op[i].va + p->op[i].imm, &target);
		p->op[i].target = target;
	}
	return err;
}
