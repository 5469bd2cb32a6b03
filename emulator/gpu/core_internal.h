/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What the files of the shader core share.
 */
#ifndef VAGX_CORE_INTERNAL_H
#define VAGX_CORE_INTERNAL_H

#include <string.h>

#include "agx_isa.h"
#include "core.h"
#include "uat.h"

#define LANES		VAGX_SIMD_WIDTH
#define ALL_LANES	0xffffffffu
#define REGISTERS	(AGX_ISA_REGISTERS / 2)
#define MAX_SIMDGROUPS	(VAGX_CORE_MAX_THREADS / LANES)
#define MAX_SRCS	4
/* Bytes of private memory that a thread can have */
#define MAX_PRIVATE	65536
/* Instructions of a program; what is behind is never reached by real ones */
#define MAX_OPS		65536

struct simdgroup;
struct op;

typedef void vagx_exec_fn(struct simdgroup *sg, const struct op *op);

/* An instruction, ready to run */
struct op {
	vagx_exec_fn *run;
	uint64_t va;
	/* AGX_MOD_IMM or AGX_MOD_OFFSET; all other modifiers are in @mod */
	int64_t imm;
	uint32_t length;
	/* index of the op that AGX_MOD_OFFSET leads to */
	uint32_t target;
	uint16_t opcode;
	uint8_t mod[AGX_MOD_COUNT];
	struct agx_operand dst;
	struct agx_operand src[MAX_SRCS];
};

struct program {
	struct op *op;
	uint32_t count;
	uint32_t room;
	/* Open hash from address to index + 1 */
	uint32_t *hash;
	uint32_t hash_size;
};

enum simdgroup_state {
	SIMDGROUP_RUNS,
	SIMDGROUP_WAITS,	/* at a barrier */
	SIMDGROUP_DONE,
	SIMDGROUP_FAILED,
};

/* Values of one register in all threads */
struct lanes {
	uint32_t v[LANES];
} __attribute__((aligned(64)));

struct wide_lanes {
	uint64_t v[LANES];
} __attribute__((aligned(64)));

struct float_lanes {
	float v[LANES];
} __attribute__((aligned(64)));

struct simdgroup {
	struct lanes reg[REGISTERS];
	/* all ones in lanes that are active; follows @exec */
	struct lanes mask;
	uint32_t exec;
	/* threads that exist */
	uint32_t valid;
	enum simdgroup_state state;
	/* index of the next op */
	uint32_t pc;
	unsigned int index;
	struct vagx_core *core;
	/* private memory: @private_size bytes for each lane */
	uint8_t *private_memory;
	uint32_t private_size;
	int32_t stack_pointer;
};

struct vagx_core {
	struct vagx_core_config config;
	struct vagx_core_stats stats;
	struct program program;
	/* serial of the launch that @program is from; 0 for none */
	uint64_t serial;

	const struct vagx_launch *launch;
	/* of the preshader: what it may write */
	uint16_t *uniforms_out;
	uint32_t group[3];
	/* threads of this group, which can be a partial one */
	uint32_t size[3];
	unsigned int register_halves;

	struct simdgroup *simdgroup[MAX_SIMDGROUPS];
	uint8_t *shared;

	int status;
	struct vagx_uat_fault fault;
	char error[192];
};

/* core_program.c */
int vagx_program_find(struct vagx_core *core, uint64_t va, uint32_t *index);
void vagx_program_clear(struct program *program);
void vagx_program_fini(struct program *program);

/* core.c */
void vagx_core_fail(struct simdgroup *sg, const struct op *op, int status,
		    const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Semantics that the table names, and those that only programs have */
#define AGX_INSTRUCTION(id, name, short_length, long_length, length_bit,	\
			fixed, fields, semantics)				\
	vagx_exec_fn vagx_exec_##semantics;
#include "agx/agx_isa.def"
vagx_exec_fn vagx_exec_illegal, vagx_exec_no_register, vagx_exec_fetch_fault,
	     vagx_exec_goto;

static inline void set_exec(struct simdgroup *sg, uint32_t exec)
{
	unsigned int i;

	sg->exec = exec & sg->valid;
	for (i = 0; i < LANES; i++)
		sg->mask.v[i] = -(sg->exec >> i & 1);
}

static inline uint32_t read_uniform(const struct simdgroup *sg,
				    unsigned int half, unsigned int size)
{
	const uint16_t *u = sg->core->launch->uniforms;

	if (size == 16 || half + 1 >= VAGX_CORE_UNIFORMS)
		return u[half];
	return u[half] | (uint32_t)u[half + 1] << 16;
}

static inline const uint32_t *splat(struct lanes *tmp, uint32_t value)
{
	unsigned int i;

	for (i = 0; i < LANES; i++)
		tmp->v[i] = value;
	return tmp->v;
}

static inline int32_t extend16(uint32_t value)
{
	return (int16_t)(uint16_t)value;
}

/* An integer source, extended to 32 bits; the low half of a 64-bit one */
static inline const uint32_t *read_lanes(const struct simdgroup *sg,
					 const struct agx_operand *o,
					 struct lanes *tmp)
{
	unsigned int shift = o->value % 2 * 16;
	const uint32_t *reg;
	unsigned int i;
	uint32_t value;

	if (o->type == AGX_OPERAND_UNIFORM) {
		value = read_uniform(sg, o->value, o->size);
		if (o->size == 16 && o->sign_extend)
			value = extend16(value);
		return splat(tmp, value);
	}
	if (o->type != AGX_OPERAND_REG)
		return splat(tmp, o->value);

	reg = sg->reg[o->value / 2].v;
	if (o->size != 16)
		return reg;
	if (o->sign_extend) {
		for (i = 0; i < LANES; i++)
			tmp->v[i] = (int32_t)(reg[i] << (16 - shift)) >> 16;
	} else {
		for (i = 0; i < LANES; i++)
			tmp->v[i] = reg[i] >> shift & 0xffff;
	}
	return tmp->v;
}

/* An integer source, extended to 64 bits */
static inline void read_wide_lanes(const struct simdgroup *sg,
				   const struct agx_operand *o,
				   struct wide_lanes *wide)
{
	struct lanes tmp;
	const uint32_t *low = read_lanes(sg, o, &tmp);
	const uint32_t *high;
	unsigned int i;

	if (o->size == 64 && o->type == AGX_OPERAND_REG) {
		high = sg->reg[o->value / 2 + 1].v;
		for (i = 0; i < LANES; i++)
			wide->v[i] = low[i] | (uint64_t)high[i] << 32;
	} else if (o->size == 64 && o->type == AGX_OPERAND_UNIFORM) {
		uint64_t value = read_uniform(sg, o->value + 2, 32);

		for (i = 0; i < LANES; i++)
			wide->v[i] = low[i] | value << 32;
	} else if (o->sign_extend) {
		for (i = 0; i < LANES; i++)
			wide->v[i] = (int64_t)(int32_t)low[i];
	} else {
		for (i = 0; i < LANES; i++)
			wide->v[i] = low[i];
	}
}

static inline void write_register(struct simdgroup *sg, unsigned int number,
				  const uint32_t *value)
{
	uint32_t *reg = sg->reg[number].v;
	const uint32_t *mask = sg->mask.v;
	unsigned int i;

	if (sg->exec == ALL_LANES) {
		memmove(reg, value, sizeof(struct lanes));
		return;
	}
	for (i = 0; i < LANES; i++)
		reg[i] = (value[i] & mask[i]) | (reg[i] & ~mask[i]);
}

static inline void write_half(struct simdgroup *sg, unsigned int half,
			      const uint32_t *value)
{
	unsigned int shift = half % 2 * 16;
	uint32_t *reg = sg->reg[half / 2].v;
	const uint32_t *mask = sg->mask.v;
	unsigned int i;

	for (i = 0; i < LANES; i++) {
		uint32_t m = mask[i] & 0xffffu << shift;

		reg[i] = (value[i] << shift & m) | (reg[i] & ~m);
	}
}

/* To the active lanes of a destination of 16 or 32 bits */
static inline void write_lanes(struct simdgroup *sg,
			       const struct agx_operand *o,
			       const uint32_t *value)
{
	if (o->size == 16)
		write_half(sg, o->value, value);
	else
		write_register(sg, o->value / 2, value);
}

static inline void write_wide_lanes(struct simdgroup *sg,
				    const struct agx_operand *o,
				    const struct wide_lanes *wide)
{
	struct lanes low, high;
	unsigned int i;

	for (i = 0; i < LANES; i++) {
		low.v[i] = (uint32_t)wide->v[i];
		high.v[i] = wide->v[i] >> 32;
	}
	write_lanes(sg, o, low.v);
	if (o->size == 64)
		write_register(sg, o->value / 2 + 1, high.v);
}

#endif /* VAGX_CORE_INTERNAL_H */
