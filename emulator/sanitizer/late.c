// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Unkind cores: what a machine may do at any time is done when it hurts most. Results of
 * asynchronous instructions reach their registers at the wait for their group, and never if there
 * is none; a register is garbage after its last use. A right program does not notice. For what is
 * stored see stores.c.
 */
#include "gpu/pattern.h"
#include "sanitizer/shadow.h"

/* The bits of a 32-bit register that are in a range of 16-bit registers */
static uint32_t late_bits(unsigned int reg, unsigned int first, unsigned int end)
{
	uint32_t low = first <= 2 * reg && 2 * reg < end ? 0xffff : 0;
	uint32_t high = first <= 2 * reg + 1 && 2 * reg + 1 < end ? 0xffff0000 : 0;

	return low | high;
}

/* Exchanges bits of a register in some lanes with others */
CLONES static void late_exchange_register(struct lanes *reg, struct lanes *kept, uint32_t lanes,
					  uint32_t bits)
{
	unsigned int i;

	for (i = 0; i < LANES; i++) {
		uint32_t mask = lanes & lane_bits.v[i] ? bits : 0;
		uint32_t differ = (reg->v[i] ^ kept->v[i]) & mask;

		reg->v[i] ^= differ;
		kept->v[i] ^= differ;
	}
}

/* Exchanges, in the lanes of a late result, registers with what is kept */
static void late_exchange(struct simdgroup *sg, struct late *late)
{
	unsigned int first = late->first / 2, reg;

	for (reg = first; 2 * reg < late->end; reg++)
		late_exchange_register(&sg->reg[reg], &late->value[reg - first], late->lanes,
				       late_bits(reg, late->first, late->end));
}

/* Delivers the oldest result that is kept */
static void late_deliver_first(const struct step *step)
{
	struct shadow_simdgroup *s = step->shadow;

	late_exchange(step->sg, &s->late[0]);
	s->num_late--;
	memmove(&s->late[0], &s->late[1], s->num_late * sizeof(s->late[0]));
}

/* Delivers results of a group, in their order */
static void late_deliver(const struct step *step, unsigned int group)
{
	struct shadow_simdgroup *s = step->shadow;
	unsigned int i, left = 0;

	for (i = 0; i < s->num_late; i++) {
		if (s->late[i].group == group)
			late_exchange(step->sg, &s->late[i]);
		else if (left++ != i)
			s->late[left - 1] = s->late[i];
	}
	s->num_late = left;
}

void late_before(const struct step *step)
{
	struct shadow_simdgroup *s = step->shadow;
	struct agx_operand result;
	unsigned int reg, end;
	struct late *late;

	late_stores_order(step);
	if (step->op->opcode == AGX_OP_WAIT)
		late_deliver(step, step->op->mod[AGX_MOD_GROUP] & 1);
	if (step->op->dst.type != AGX_OPERAND_REG || !step->later)
		return;
	result = shadow_result(step->op);
	end = shadow_end_of(&result);
	if (s->num_late == MAX_LATE)
		late_deliver_first(step);
	late = &s->late[s->num_late++];
	late->group = step->op->mod[AGX_MOD_GROUP] & 1;
	late->lanes = step->exec;
	late->first = (unsigned int)result.value;
	late->end = end;
	for (reg = late->first / 2; reg < (end + 1) / 2; reg++)
		late->value[reg - late->first / 2] = step->sg->reg[reg];
}

/* Makes a source garbage after its last use, but for what the instruction has written */
static void late_discard(const struct step *step, const struct agx_operand *o)
{
	const struct agx_operand result = shadow_result(step->op);
	unsigned int first = (unsigned int)o->value, end = shadow_end_of(o), reg;
	struct lanes garbage;

	for (reg = first / 2; 2 * reg < end; reg++) {
		uint32_t bits = late_bits(reg, first, end);

		if (result.type == AGX_OPERAND_REG)
			bits &= ~late_bits(reg, (unsigned int)result.value,
					   shadow_end_of(&result));
		splat(&garbage, vagx_pattern(step->sg->core->config.seed, VAGX_PATTERN_REGISTERS,
					     reg));
		late_exchange_register(&step->sg->reg[reg], &garbage, step->exec, bits);
	}
}

void late_after(const struct step *step)
{
	struct shadow_simdgroup *s = step->shadow;
	unsigned int i;

	if (step->op->dst.type == AGX_OPERAND_REG && step->later)
		late_exchange(step->sg, &s->late[s->num_late - 1]);
	for (i = 0; i < MAX_SRCS; i++) {
		const struct agx_operand *o = &step->op->src[i];

		if (o->type == AGX_OPERAND_REG && o->discard)
			late_discard(step, o);
	}
}
