// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Programs: instructions decoded once, before they run many times. Decoding
 * follows the flow of control, so it never looks at what can't be reached. What
 * it looked at is kept, to be compared with what is there later.
 */
#include <errno.h>
#include <stdlib.h>

#include "core_internal.h"
#include "jit/native.h"
#include "report.h"

static vagx_exec_fn *const program_semantics[AGX_OP_COUNT] = {
#define AGX_INSTRUCTION(id, name, short_length, long_length, length_bit,	\
			fixed, fields, semantics_)				\
	[AGX_OP_##id] = vagx_exec_##semantics_,
#include "agx_isa.def"
};

void vagx_program_free(struct program *p)
{
	unsigned int i;

	if (!p)
		return;
	for (i = 0; i < p->num_code; i++)
		free(p->code[i].bytes);
	free(p->code);
	free(p->op);
	free(p->hash);
	if (p->slot)
		vagx_native_free(atomic_load_explicit(&p->slot->native, memory_order_acquire));
	free(p->slot);
	free(p);
}

/* The slot of an address in the hash table, or the empty one where it would go (linear probing) */
static uint32_t *program_slot(const struct program *p, uint64_t va)
{
	uint32_t i = (uint32_t)((va >> 1) * 0x9e3779b97f4a7c15ULL >> 32);

	for (;; i++) {
		uint32_t *s = &p->hash[i % p->hash_size];

		if (!*s || p->op[*s - 1].va == va)
			return s;
	}
}

static int program_grow_hash(struct program *p)
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
			*program_slot(p, p->op[i].va) = i + 1;
	}
	return 0;
}

static struct op *program_add_op(struct program *p)
{
	if (p->count == p->capacity) {
		uint32_t capacity = p->capacity ? p->capacity * 2 : 128;
		struct op *op = aligned_alloc(_Alignof(struct op), capacity * sizeof(*op));

		if (!op)
			return NULL;
		if (p->count)
			memcpy(op, p->op, p->count * sizeof(*op));
		free(p->op);
		p->op = op;
		p->capacity = capacity;
	}
	memset(&p->op[p->count], 0, sizeof(*p->op));
	return &p->op[p->count++];
}

static int program_remember(struct program *p, const struct op *op)
{
	uint32_t index = op - p->op;
	int err;

	if (p->hash_size < 2 * p->count) {
		err = program_grow_hash(p);
		if (err)
			return err;
	}
	*program_slot(p, p->op[index].va) = index + 1;
	return 0;
}

/* Fetches an instruction. Return: how many of its bytes are readable. */
static size_t program_fetch(struct vagx_core *core, uint64_t va, uint8_t *code)
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

/* The piece of code that bytes at @va belong to: the last one, if it ends there, or a new one */
static struct code *program_code_at(struct program *p, uint64_t va)
{
	struct code *last = p->num_code ? &p->code[p->num_code - 1] : NULL;

	if (last && last->va + last->length == va)
		return last;
	/* a power of two is full */
	if (!(p->num_code & (p->num_code - 1))) {
		unsigned int capacity = p->num_code ? p->num_code * 2 : 1;
		struct code *code = realloc(p->code, capacity * sizeof(*code));

		if (!code)
			return NULL;
		p->code = code;
	}
	last = &p->code[p->num_code++];
	*last = (struct code){ .va = va };
	return last;
}

static int program_keep_code(struct program *p, uint64_t va, const uint8_t *bytes,
			     uint32_t length)
{
	struct code *code;

	if (!length)
		return 0;
	code = program_code_at(p, va);
	if (!code)
		return -ENOMEM;
	if (code->length + length > code->capacity) {
		uint32_t capacity = code->capacity ? code->capacity * 2 : 64;
		uint8_t *more = realloc(code->bytes, capacity);

		if (!more)
			return -ENOMEM;
		code->bytes = more;
		code->capacity = capacity;
	}
	memcpy(code->bytes + code->length, bytes, length);
	code->length += length;
	return 0;
}

static bool program_is_current(struct vagx_core *core, const struct code *code)
{
	uint32_t done, here;

	for (done = 0; done < code->length; done += here) {
		uint64_t va = code->va + done;
		struct vagx_uat_fault fault;
		const void *now;

		here = VAGX_UAT_PAGE_SIZE - (va & VAGX_UAT_PAGE_MASK);
		if (here > code->length - done)
			here = code->length - done;
		now = vagx_tlb_ptr(core->config.tlb, va, here, VAGX_EXEC, &fault);
		if (!now || memcmp(now, code->bytes + done, here))
			return false;
	}
	return true;
}

bool vagx_program_is_current(struct vagx_core *core, const struct program *p)
{
	unsigned int i;

	for (i = 0; i < p->num_code; i++) {
		if (!program_is_current(core, &p->code[i]))
			return false;
	}
	return true;
}

bool vagx_program_index(const struct program *p, uint64_t va, uint32_t *index)
{
	uint32_t known = p->hash_size ? *program_slot(p, va) : 0;

	*index = known - 1;
	return known;
}

static bool program_has_register(const struct vagx_core *core,
				 const struct agx_operand *o)
{
	return o->type != AGX_OPERAND_REG ||
	       o->value + o->count * o->size / 16U <= core->register_halves;
}

static void program_fill(struct vagx_core *core, struct op *op,
			 const struct agx_instr *instr)
{
	bool ok = program_has_register(core, &instr->dst);
	unsigned int i;

	op->opcode = instr->op;
	op->length = instr->length;
	op->dst = instr->dst;
	for (i = 0; i < AGX_MOD_COUNT; i++)
		op->mod[i] = instr->mod[i];
	op->imm = instr->mod[AGX_MOD_IMM] + instr->mod[AGX_MOD_OFFSET];
	for (i = 0; i < MAX_SRCS; i++) {
		op->src[i] = instr->src[i];
		ok = ok && program_has_register(core, &instr->src[i]);
	}
	op->run = ok ? program_semantics[instr->op] : vagx_exec_no_register;
	op->replaced = !ok;
}

static void program_trace(struct vagx_core *core, uint64_t va,
			  const struct agx_instr *instr)
{
	char text[AGX_ISA_MAX_TEXT];

	if (!vagx_log_enabled(core->config.report, VAGX_LOG_TRACE))
		return;
	agx_isa_print(instr, text, sizeof(text));
	vagx_log(core->config.report, VAGX_LOG_TRACE, "shader: 0x%llx: %s",
		 (unsigned long long)va, text);
}

/* Decodes an instruction. The array of ops may move meanwhile; the op keeps its index. */
static int program_decode(struct vagx_core *core, struct program *p, struct op *op)
{
	uint8_t code[AGX_ISA_MAX_LENGTH] = { 0 };
	size_t avail = program_fetch(core, op->va, code);
	struct agx_instr instr;
	int length = agx_isa_decode(code, avail, &instr);

	op->length = 2;
	op->replaced = length <= 0;
	if (length > 0) {
		program_fill(core, op, &instr);
		program_trace(core, op->va, &instr);
	} else if (length == -ENODATA) {
		op->run = vagx_exec_fetch_fault;
		p->incomplete = true;
	} else {
		op->run = vagx_exec_illegal;
	}
	return program_keep_code(p, op->va, code, length > 0 ? (size_t)length : avail);
}

static bool program_ends_sequence(const struct op *op)
{
	return op->run == vagx_exec_illegal || op->run == vagx_exec_no_register ||
	       op->run == vagx_exec_fetch_fault || op->run == vagx_exec_stop ||
	       op->run == vagx_exec_trap || op->run == vagx_exec_jmp_reg ||
	       op->run == vagx_exec_unsupported;
}

static bool program_has_target(const struct op *op)
{
	return op->run == vagx_exec_jmp_any || op->run == vagx_exec_jmp_none ||
	       op->run == vagx_exec_call;
}

/* Decodes until the flow of control ends, or reaches what has been decoded */
static int program_decode_sequence(struct vagx_core *core, struct program *p, uint64_t va)
{
	for (;;) {
		uint32_t known = p->hash_size ? *program_slot(p, va) : 0;
		struct op *op;
		int err;

		if (p->count >= MAX_OPS)
			return -E2BIG;
		op = program_add_op(p);
		if (!op)
			return -ENOMEM;
		op->va = va;
		if (known) {
			op->run = vagx_exec_goto;
			op->replaced = true;
			op->target = known - 1;
			return 0;
		}

		err = program_decode(core, p, op);
		if (!err)
			err = program_remember(p, op);
		if (err || program_ends_sequence(op))
			return err;
		va += op->length;
	}
}

static int program_resolve(struct vagx_core *core, struct program *p, uint64_t va,
			   uint32_t *index)
{
	if (vagx_program_index(p, va, index))
		return 0;
	*index = p->count;
	return program_decode_sequence(core, p, va);
}

static int program_decode_all(struct vagx_core *core, struct program *p)
{
	uint32_t i, index;
	int err = program_resolve(core, p, p->va, &index);

	for (i = 0; !err && i < p->count; i++) {
		uint32_t target;

		if (!program_has_target(&p->op[i]))
			continue;
		err = program_resolve(core, p, p->op[i].va + p->op[i].imm, &target);
		p->op[i].target = target;
	}
	return err;
}

static bool program_finds_fragments(const struct program *p)
{
	uint32_t i;

	for (i = 0; i < p->count; i++) {
		const unsigned int sr = p->op[i].mod[AGX_MOD_SR];

		switch (p->op[i].opcode) {
		case AGX_OP_GET_SR:
			if (sr == AGX_SR_THREAD_IN_GRID_X || sr == AGX_SR_THREAD_IN_GRID_Y)
				return true;
			break;
		case AGX_OP_ITER:
		case AGX_OP_ITER_PROJECTED:
		case AGX_OP_LDCF:
			return true;
		default:
			break;
		}
	}
	return false;
}

/* FNV-1a of a program's code */
static uint64_t program_sum(const struct program *p)
{
	uint64_t sum = 0xcbf29ce484222325;
	unsigned int i;
	uint32_t n;

	for (i = 0; i < p->num_code; i++) {
		for (n = 0; n < p->code[i].length; n++)
			sum = (sum ^ p->code[i].bytes[n]) * 0x100000001b3;
	}
	return sum;
}

/**
 * vagx_program_decode() - decode an instruction and all that it leads to
 * @core: core, whose context and registers are those of the program
 * @va: address of the instruction, which becomes the first op
 * @program: where the program goes
 *
 * Return: 0, -ENOMEM, or -E2BIG for a program that is too long.
 */
int vagx_program_decode(struct vagx_core *core, uint64_t va,
			struct program **program)
{
	struct program *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	p->va = va;
	p->register_halves = core->register_halves;
	p->slot = calloc(1, sizeof(*p->slot));
	err = p->slot ? program_decode_all(core, p) : -ENOMEM;
	if (err) {
		vagx_program_free(p);
		return err;
	}
	vagx_registers_find_unwritten(p);
	p->finds_fragments = program_finds_fragments(p);
	p->checksum = program_sum(p);
	vagx_lint_program(core, p);
	*program = p;
	return 0;
}
