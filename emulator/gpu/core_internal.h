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
#include "clones.h"
#include "core.h"
#include "gpu/image.h"
#include "gpu/stage.h"
#include "uat.h"

#define LANES		VAGX_SIMD_WIDTH
#define ALL_LANES	0xffffffffu
#define REGISTERS	(AGX_ISA_REGISTERS / 2)
#define MAX_SIMDGROUPS	(VAGX_CORE_MAX_THREADS / LANES)
#define MAX_SRCS	AGX_ISA_MAX_SRCS
/* Bytes of private memory that a thread can have */
#define MAX_PRIVATE	65536
/* Instructions that a launch can have decoded, with all that it jumps to */
#define MAX_OPS		262144

struct simdgroup;
struct op;
struct texture_cache;

typedef void vagx_exec_fn(struct simdgroup *sg, const struct op *op);

/* An instruction, ready to run: what most of them need is in one line of the cache */
struct op {
	vagx_exec_fn *run;
	struct agx_operand dst;
	struct agx_operand src[MAX_SRCS];

	uint16_t opcode;
	uint8_t mod[AGX_MOD_COUNT];
	uint8_t length;
	/* index of the op that AGX_MOD_OFFSET leads to */
	uint32_t target;
	/* AGX_MOD_IMM or AGX_MOD_OFFSET; all other modifiers are in @mod */
	int64_t imm;
	uint64_t va;
} __attribute__((aligned(64)));

/* Code that a program was decoded from: what it was then */
struct code {
	uint64_t va;
	uint32_t length;
	uint32_t room;
	uint8_t *bytes;
};

/*
 * All that can be reached from an instruction without a jump to a register. It
 * does not change any more when it has been decoded, so that all cores can
 * share it.
 */
struct program {
	/* What it is found by: address of its first instruction, registers of a thread */
	uint64_t va;
	unsigned int register_halves;

	struct op *op;
	uint32_t count;
	uint32_t room;
	/* Open hash from address to index + 1 */
	uint32_t *hash;
	uint32_t hash_size;
	struct code *code;
	unsigned int num_code;
	/* A part could not be fetched: next time it may be there */
	bool incomplete;

	/* Of the cache, and protected by its lock: users, and its lists */
	unsigned int users;
	bool cached;
	struct program *newer;
	struct program *older;
	struct program *next;
};

/* A program that a core uses in the present launch */
struct held_program {
	struct held_program *next;
	struct program *program;
};

/* The instruction at which a simdgroup begins or goes on */
struct entry {
	const struct program *program;
	uint32_t pc;
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
	/* how many lanes those are */
	uint32_t active;
	/* threads that exist */
	uint32_t valid;
	enum simdgroup_state state;
	/* what it runs, its ops, and the index of the next one */
	const struct program *program;
	const struct op *op;
	uint32_t pc;
	unsigned int index;
	struct vagx_core *core;
	/* private memory: @private_size bytes for each lane */
	uint8_t *private_memory;
	uint32_t private_size;
	int32_t stack_pointer;
	/* the lane whose access has failed, LANES if that is not known */
	unsigned int failed_lane;
};

/* Where a core has failed, as it was then; no simdgroup if it was in none */
struct core_failure {
	const struct simdgroup *simdgroup;
	const struct op *op;
	uint32_t exec;
	unsigned int lane;
	/* it was this lane, and not another one of the active ones */
	bool lane_known;
	char thread[96];
};

/* The last image that a tile was written to, and what its descriptor says */
struct written_image {
	bool is_valid;
	uint8_t state[VAGX_TEXTURE_BYTES];
	struct vagx_image image;
	unsigned int level;
};

struct vagx_core {
	struct vagx_core_config config;
	struct vagx_core_stats stats;
	/* programs of the launch with this serial, and what they sum up to; 0 for none */
	struct held_program *held;
	uint32_t held_ops;
	uint64_t serial;

	const struct vagx_launch *launch;
	/* of the preshader: what it may write */
	uint16_t *uniforms_out;
	/* of the preshader: the launch whose states it may write */
	struct vagx_launch *preshader_of;
	/* of the stage that runs, else NULL: stage.h */
	struct vagx_vertices *vertices;
	struct vagx_fragments *fragments;
	struct vagx_tile *tile;
	/* shared memory of a compute shader, if it is laid out as one; else no memory */
	struct vagx_tile shared_tile;
	uint32_t group[3];
	/* threads of this group, which can be a partial one */
	uint32_t size[3];
	unsigned int register_halves;

	struct simdgroup *simdgroup[MAX_SIMDGROUPS];
	uint8_t *shared;
	/* NULL as long as it has sampled none */
	struct texture_cache *textures;
	struct written_image written;

	int status;
	struct vagx_uat_fault fault;
	struct core_failure failure;
	char error[192];
};

/* core_program.c */
int vagx_program_decode(struct vagx_core *core, uint64_t va, struct program **program);
void vagx_program_free(struct program *program);
/* Whether what is in memory now is what was decoded */
bool vagx_program_is_current(struct vagx_core *core, const struct program *program);
/* Index of the op at an address; false when it isn't in the program */
bool vagx_program_index(const struct program *program, uint64_t va, uint32_t *index);

/* program_cache.c: to be given back by vagx_programs_put() */
int vagx_programs_get(struct vagx_core *core, uint64_t va, struct program **program);
void vagx_programs_put(struct vagx_programs *programs, struct program *program);

/* core_entry.c */
/* Finds the op at an address, decoding it if need be. Return: 0; else the core has failed. */
int vagx_core_find_entry(struct vagx_core *core, uint64_t va, struct entry *entry);
/* Has a simdgroup go on at an address. Return: 0; else the core has failed. */
int vagx_core_jump(struct simdgroup *sg, uint64_t va);
/* Gives up the references to programs that the last launch held */
void vagx_core_drop_programs(struct vagx_core *core);

/* core_failure.c */
/* Ends the launch with an error of an instruction, or of none if @op is NULL */
void vagx_core_fail(struct simdgroup *sg, const struct op *op, int status,
		    const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* Keeps an error of the launch unless it has one */
void vagx_core_set_error(struct vagx_core *core, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* core_stage.c */
/* A simdgroup of a stage is about to begin */
void vagx_stage_enter(struct simdgroup *sg);
/* Lanes of those that are executed whose plain stores to the GPU's memory are done */
uint32_t vagx_stage_storing(const struct simdgroup *sg);
/* A special register of a stage; false if it is none */
bool vagx_stage_register(const struct simdgroup *sg, unsigned int sr, struct lanes *value);

/* texture_cache.c: the core's texels are read anew */
void vagx_texture_invalidate(struct vagx_core *core);

/* Semantics that the table names, and those that only programs have */
#define AGX_INSTRUCTION(id, name, short_length, long_length, length_bit,	\
			fixed, fields, semantics)				\
	vagx_exec_fn vagx_exec_##semantics;
#include "agx_isa.def"
vagx_exec_fn vagx_exec_illegal, vagx_exec_no_register, vagx_exec_fetch_fault,
	     vagx_exec_goto;

/* Which bit of a mask is whose: vectors of constants are better than shifts */
#define LANE_BITS_8(n)	1u << (n), 2u << (n), 4u << (n), 8u << (n), 16u << (n), 32u << (n), \
			64u << (n), 128u << (n)
static const struct lanes lane_bits = {
	{ LANE_BITS_8(0), LANE_BITS_8(8), LANE_BITS_8(16), LANE_BITS_8(24) },
};

INLINE void set_exec(struct simdgroup *sg, uint32_t exec)
{
	unsigned int i;

	sg->exec = exec & sg->valid;
	sg->active = __builtin_popcount(sg->exec);
	for (i = 0; i < LANES; i++)
		sg->mask.v[i] = -(uint32_t)((sg->exec & lane_bits.v[i]) != 0);
}

static inline void enter_program(struct simdgroup *sg, const struct entry *entry)
{
	sg->program = entry->program;
	sg->op = entry->program->op;
	sg->pc = entry->pc;
}

INLINE uint32_t read_uniform(const struct simdgroup *sg,
			     unsigned int half, unsigned int size)
{
	const uint16_t *u = sg->core->launch->uniforms;

	if (size == 16 || half + 1 >= VAGX_CORE_UNIFORMS)
		return u[half];
	return u[half] | (uint32_t)u[half + 1] << 16;
}

INLINE const uint32_t *splat(struct lanes *tmp, uint32_t value)
{
	unsigned int i;

	for (i = 0; i < LANES; i++)
		tmp->v[i] = value;
	return tmp->v;
}

INLINE int32_t extend16(uint32_t value)
{
	return (int16_t)(uint16_t)value;
}

/* An integer source that is the same in all lanes, as read_extended() */
INLINE uint32_t read_scalar(const struct simdgroup *sg, const struct agx_operand *o,
			    bool sign_extend)
{
	uint32_t value;

	if (o->type != AGX_OPERAND_UNIFORM)
		return o->value;
	value = read_uniform(sg, o->value, o->size);
	return o->size == 16 && sign_extend ? (uint32_t)extend16(value) : value;
}

/* An integer source, extended to 32 bits as it is said; the low half of a 64-bit one */
INLINE const uint32_t *read_extended(const struct simdgroup *sg,
				     const struct agx_operand *o,
				     bool sign_extend, struct lanes *tmp)
{
	unsigned int shift = (unsigned int)o->value % 2 * 16;
	const uint32_t *reg;
	unsigned int i;

	if (o->type != AGX_OPERAND_REG)
		return splat(tmp, read_scalar(sg, o, sign_extend));

	reg = sg->reg[(unsigned int)o->value / 2].v;
	if (o->size != 16)
		return reg;
	if (sign_extend) {
		for (i = 0; i < LANES; i++)
			tmp->v[i] = (int32_t)(reg[i] << (16 - shift)) >> 16;
	} else {
		for (i = 0; i < LANES; i++)
			tmp->v[i] = reg[i] >> shift & 0xffff;
	}
	return tmp->v;
}

/* The same, extended as the instruction has it */
INLINE const uint32_t *read_lanes(const struct simdgroup *sg,
				  const struct agx_operand *o,
				  struct lanes *tmp)
{
	return read_extended(sg, o, o->sign_extend, tmp);
}

/* An integer source, extended to 64 bits */
INLINE void read_wide_lanes(const struct simdgroup *sg,
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

/* To the active lanes. Values can be the register itself, but not overlap with it otherwise */
INLINE void write_register(struct simdgroup *sg, unsigned int number,
			   const uint32_t *value)
{
	uint32_t *reg = sg->reg[number].v;
	const uint32_t *mask = sg->mask.v;
	unsigned int i;

	if (sg->exec == ALL_LANES) {
#pragma GCC ivdep
		for (i = 0; i < LANES; i++)
			reg[i] = value[i];
		return;
	}
#pragma GCC ivdep
	for (i = 0; i < LANES; i++)
		reg[i] = (value[i] & mask[i]) | (reg[i] & ~mask[i]);
}

INLINE void write_half(struct simdgroup *sg, unsigned int half,
		       const uint32_t *value)
{
	unsigned int shift = half % 2 * 16;
	uint32_t *reg = sg->reg[half / 2].v;
	const uint32_t *mask = sg->mask.v;
	unsigned int i;

#pragma GCC ivdep
	for (i = 0; i < LANES; i++) {
		uint32_t m = mask[i] & 0xffffu << shift;

		reg[i] = (value[i] << shift & m) | (reg[i] & ~m);
	}
}

/* To the active lanes of a destination of 16 or 32 bits */
INLINE void write_lanes(struct simdgroup *sg,
			const struct agx_operand *o,
			const uint32_t *value)
{
	if (o->size == 16)
		write_half(sg, o->value, value);
	else
		write_register(sg, (unsigned int)o->value / 2, value);
}

INLINE void write_wide_lanes(struct simdgroup *sg,
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
		write_register(sg, (unsigned int)o->value / 2 + 1, high.v);
}

#endif /* VAGX_CORE_INTERNAL_H */
