/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What the files of the shader core share: decoded programs, simdgroups and their registers,
 * and inline functions that read operands and write results of all lanes.
 */
#ifndef VAGX_CORE_INTERNAL_H
#define VAGX_CORE_INTERNAL_H

#include <stdatomic.h>
#include <string.h>

#include "agx_isa.h"
#include "clones.h"
#include "core.h"
#include "gpu/image.h"
#include "gpu/stage.h"
#include "jit/jit.h"
#include "sanitizer/sanitizer.h"
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
struct vagx_native_slot;

typedef void vagx_exec_fn(struct simdgroup *sg, const struct op *op);

/* A decoded instruction; the fields that most of them need are in one cache line of the host */
struct op {
	vagx_exec_fn *run;
	struct agx_operand dst;
	struct agx_operand src[MAX_SRCS];

	uint16_t opcode;
	uint8_t mod[AGX_MOD_COUNT];
	uint8_t length;
	/* it fails, or goes on at @target, instead of what its opcode says */
	bool replaced;
	/* index of the op that is the target of AGX_MOD_OFFSET */
	uint32_t target;
	/* AGX_MOD_IMM or AGX_MOD_OFFSET; all other modifiers are in @mod */
	int64_t imm;
	uint64_t va;
} __attribute__((aligned(64)));

/* A contiguous piece of the code that a program was decoded from, as it was then */
struct code {
	uint64_t va;
	uint32_t length;
	uint32_t capacity;
	uint8_t *bytes;
};

/*
 * A decoded program: all that can be reached from an instruction without a jump to a register. It
 * is read only once it has been decoded, so that all cores can share it.
 */
struct program {
	/* key in the cache: address of its first instruction, 16-bit registers of a thread */
	uint64_t va;
	unsigned int register_halves;

	struct op *op;
	uint32_t count;
	uint32_t capacity;
	/* hash table with linear probing, from address to index + 1 */
	uint32_t *hash;
	uint32_t hash_size;
	struct code *code;
	unsigned int num_code;
	/* of the code, which names the program in findings */
	uint64_t checksum;
	/* a part could not be fetched, so it is not cached: next time it may be mapped */
	bool incomplete;
	/*
	 * registers that it may read before it writes them: these, if there is no thread that does
	 * not exist among @sees threads beside one that does; else all
	 */
	uint8_t unwritten[REGISTERS];
	unsigned int num_unwritten;
	unsigned int sees;
	/* it has instructions whose native code finds fragments by @place and @planes of simdgroups */
	bool finds_fragments;
	/* where its native code goes; the one thing that changes after decoding */
	struct vagx_native_slot *slot;

	/* protected by the lock of the cache: references, and its lists */
	unsigned int users;
	bool cached;
	struct program *newer;
	struct program *older;
	struct program *next;
};

/* A reference to a program, which a core holds for a launch */
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

/* 64-bit values in all threads */
struct wide_lanes {
	uint64_t v[LANES];
} __attribute__((aligned(64)));

struct float_lanes {
	float v[LANES];
} __attribute__((aligned(64)));

/*
 * Values that lanes have for their place: the position in the threadgroup, the lane's number; of
 * fragments the pixel, and its centre from the origin of a block of coefficients, as floats
 */
enum {
	PLACE_X, PLACE_Y, PLACE_Z, PLACE_LANE,
	PLACE_PIXEL_X, PLACE_PIXEL_Y, PLACE_CENTER_X, PLACE_CENTER_Y,
	PLACES
};

/* 32 threads that execute the same instruction, each in a lane */
struct simdgroup {
	struct lanes reg[REGISTERS];
	/* native code reads them as registers that follow @reg */
	struct lanes place[PLACES];
	/* all ones in lanes that are active; follows @exec */
	struct lanes mask;
	/* execution mask: lanes that are active */
	uint32_t exec;
	/* number of active lanes */
	uint32_t active;
	/* of native code: active lanes that vote in a ballot */
	uint32_t votes;
	/* mask of the threads that exist, and of those that have not stopped */
	uint32_t exists;
	uint32_t valid;
	enum simdgroup_state state;
	/* program counter: the program, its ops, and the index of the next one */
	const struct program *program;
	const struct op *op;
	uint32_t pc;
	unsigned int index;
	/* number of its first thread in the threadgroup, and of the threadgroup's in the grid */
	uint32_t first;
	uint32_t origin[3];
	uint32_t group[3];
	/* @place has the pixels of fragments, and the fields below are set */
	bool placed_fragments;
	/*
	 * of fragments, for native code: the coefficient registers of each quad, and of all of them
	 * if they are the same, else NULL; quads that do not exist have those of another one. Their
	 * number is 0 if there is none.
	 */
	const struct vagx_plane *planes[LANES / 4];
	const struct vagx_plane *same_planes;
	uint32_t num_planes;
	/* the group's size that @place is for; {0, 1, 1} for any row of threads */
	uint32_t placed[3];
	struct vagx_core *core;
	/* private memory: @private_size bytes for each lane, see private_element() */
	uint8_t *private_memory;
	uint32_t private_size;
	int32_t stack_pointer;
	/* lane whose access has failed; LANES if it is not known */
	unsigned int failed_lane;
};

/* The memory that an access goes to */
enum space {
	SPACE_DEVICE,
	SPACE_SHARED,
	SPACE_PRIVATE,
};

/* The elements of memory that an instruction reaches */
struct elements {
	enum space space;
	/* atomics are stores, too */
	bool is_store;
	bool is_atomic;
	/* bytes of an element, and which of four consecutive ones are reached */
	unsigned int size;
	unsigned int mask;
	/* lanes whose access takes effect, and the address of the first element for each */
	uint32_t lanes;
	struct wide_lanes address;
};

/* Native code of a segment, as it was executed; NULL if there is none */
struct core_segment {
	const uint8_t *code;
	size_t size;
};

/* The failure of a launch; @simdgroup is NULL if it was at no instruction */
struct core_failure {
	const struct simdgroup *simdgroup;
	const struct op *op;
	uint32_t exec;
	unsigned int lane;
	/* it was @lane; else any of those in @exec */
	bool lane_known;
	char thread[96];
	/* the launch or draw, and its job */
	char work[64];
	/*
	 * Where native code differs from the interpreter (jit/check.c): the last one of the
	 * instructions that begin with @op, and the code of both, if it is not the same
	 */
	const struct op *last;
	struct core_segment segment[2];
};

/* The image that was written last, unpacked: the next pixel or tile mostly goes to the same one */
struct written_image {
	bool is_valid;
	uint8_t state[VAGX_TEXTURE_BYTES];
	struct vagx_image image;
	unsigned int level;
};

/* Whether a threadgroup does nothing but wait for memory (core_rest.c) */
struct core_rest {
	/* hashes of its state after the last round, and the rounds for which they have been so */
	uint64_t registers;
	uint64_t memory;
	unsigned int rounds;
};

/* Notes that a thread reaches so many bytes of texels at an address, and whether it writes them */
typedef void vagx_follow_fn(struct simdgroup *sg, const struct op *op, unsigned int lane,
			    uint64_t va, unsigned int bytes, bool is_store);

struct vagx_core {
	struct vagx_core_config config;
	struct vagx_core_stats stats;
	struct core_rest rest;
	/* read by other threads, too */
	atomic_uint_fast64_t rested_ns;
	/* programs that the launch with this serial holds (0: none), and their instructions */
	struct held_program *held;
	uint32_t held_ops;
	/* where the last of its runs has begun, and the address; without a program if none has */
	struct entry begun;
	uint64_t begun_va;
	uint64_t serial;

	const struct vagx_launch *launch;
	/* while a preshader runs: the uniforms and the state registers that it may write */
	uint16_t *uniforms_out;
	struct vagx_launch *preshader_of;
	/* input and output of the stage that runs (stage.h), else NULL */
	struct vagx_vertices *vertices;
	struct vagx_fragments *fragments;
	struct vagx_tile *tile;
	/* shared memory of a compute shader that is laid out as a tile; else its memory is NULL */
	struct vagx_tile shared_tile;
	uint32_t group[3];
	/* threads of this group in x, y, z; fewer at the end of the grid */
	uint32_t size[3];
	/* 16-bit registers of a thread */
	unsigned int register_halves;

	struct simdgroup *simdgroup[MAX_SIMDGROUPS];
	/* so many of them twice, from the first to the last one and the other way round */
	struct simdgroup *turns[2][2 * MAX_SIMDGROUPS];
	unsigned int lined_up;
	/* the one that has the first turn, with those behind it */
	struct simdgroup *const *turn;
	/* choose it for the threadgroup, and count its rounds */
	uint32_t choice;
	uint32_t round;
	/* what registers have that nothing has written */
	uint32_t garbage[REGISTERS];
	uint8_t *shared;
	/* what the sanitizer knows; NULL if there is none */
	struct vagx_shadow *shadow;
	/* looks for races of texels; NULL if nothing does */
	vagx_follow_fn *follow_texel;
	/* it keeps what is stored to device memory */
	bool keeps_stores;
	/* texture cache; NULL until the core has sampled */
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
/* Whether the code in memory is still what was decoded */
bool vagx_program_is_current(struct vagx_core *core, const struct program *program);
/* Finds the index of the op at an address. Return: false if it is not in the program. */
bool vagx_program_index(const struct program *program, uint64_t va, uint32_t *index);

/* core_registers.c: finds the registers that a program may read before it writes them */
void vagx_registers_find_unwritten(struct program *program);

/* core_lint.c: logs the first mistake that can be seen in a program, if there is one */
void vagx_lint_program(struct vagx_core *core, const struct program *program);

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
/* Fills in where a lane of a simdgroup is */
void vagx_core_remember_place(const struct simdgroup *sg, const struct op *op, unsigned int lane,
			      struct core_failure *place);
/* What kind of program the core runs: "vertex shader", ... */
const char *vagx_core_stage_name(const struct vagx_core *core);
/* Keeps an error of the launch unless it has one */
void vagx_core_set_error(struct vagx_core *core, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* core_describe.c: prints the thread of a place, and the instructions around it */
void vagx_core_describe_place(const struct core_failure *place, FILE *file);
/* Finds the kept code at an address, and how many bytes of it there are. Return: NULL for none. */
const uint8_t *vagx_core_code_at(const struct program *p, uint64_t va, size_t *count);

/* core_mem.c: finds the elements of an access. Return: false if the instruction is none. */
bool vagx_mem_find_elements(struct simdgroup *sg, const struct op *op, struct elements *elements);

/* core_simd.c: finds the place of each thread, before the simdgroup begins */
void vagx_simd_place(struct simdgroup *sg);

/* core_stage.c */
/* Sets up the registers of a stage, before its simdgroup begins */
void vagx_stage_enter(struct simdgroup *sg);
/* Finds the places and coefficient registers of fragments, for native code */
void vagx_stage_place(struct simdgroup *sg);
/* Mask of the active lanes whose stores to device memory take effect: not helpers' */
uint32_t vagx_stage_storing(const struct simdgroup *sg);
/* Reads a special register of a stage in all lanes. Return: false if it is none. */
bool vagx_stage_register(const struct simdgroup *sg, unsigned int sr, struct lanes *value);

/* core_rest.c */
/* A threadgroup begins */
void vagx_rest_begin(struct vagx_core *core);
/* Instructions of a time slice: fewer than @slice while the core rests */
int vagx_rest_slice(const struct vagx_core *core, int slice);
/* Rests after a round in which simdgroups ran, if so many are as they have been for some rounds */
void vagx_rest_after_round(struct vagx_core *core, unsigned int count);

/* texture_cache.c: invalidates the core's cached texels */
void vagx_texture_invalidate(struct vagx_core *core);

/* Functions that run instructions: those of the table, and those that only the decoder uses */
#define AGX_INSTRUCTION(id, name, short_length, long_length, length_bit,	\
			fixed, fields, semantics)				\
	vagx_exec_fn vagx_exec_##semantics;
#include "agx_isa.def"
vagx_exec_fn vagx_exec_illegal, vagx_exec_no_register, vagx_exec_fetch_fault,
	     vagx_exec_goto;

/* The bit of each lane in a mask: loading constants is faster than shifting */
#define LANE_BITS_8(n)	1u << (n), 2u << (n), 4u << (n), 8u << (n), 16u << (n), 32u << (n), \
			64u << (n), 128u << (n)
static const struct lanes lane_bits = {
	{ LANE_BITS_8(0), LANE_BITS_8(8), LANE_BITS_8(16), LANE_BITS_8(24) },
};

/* Sets the execution mask, without threads that have stopped */
INLINE void set_exec(struct simdgroup *sg, uint32_t exec)
{
	unsigned int i;

	sg->exec = exec & sg->valid;
	/* mostly all are, and for any processor this is a call */
	sg->active = sg->exec == ALL_LANES ? LANES : __builtin_popcount(sg->exec);
	for (i = 0; i < LANES; i++)
		sg->mask.v[i] = -(uint32_t)((sg->exec & lane_bits.v[i]) != 0);
}

/*
 * An element of a lane's private memory, which does not cross words. The lanes' words of an
 * address follow each other, as most accesses have one address for all lanes.
 */
INLINE uint8_t *private_element(const struct simdgroup *sg, unsigned int lane, uint32_t address)
{
	return sg->private_memory + (size_t)(address & ~3u) * LANES + lane * 4 + (address & 3);
}

/* Sets the program counter */
static inline void enter_program(struct simdgroup *sg, const struct entry *entry)
{
	sg->program = entry->program;
	sg->op = entry->program->op;
	sg->pc = entry->pc;
}

/* Runs so many instructions, or as many until the simdgroup waits, ends or fails */
static inline void interpret(struct simdgroup *sg, struct vagx_slice *slice, unsigned int count)
{
	uint64_t thread_instructions = 0;
	unsigned int n = 0;

	while (sg->state == SIMDGROUP_RUNS && n < count) {
		const struct op *op = &sg->op[sg->pc++];

		n++;
		thread_instructions += sg->active;
		op->run(sg, op);
	}
	slice->left -= n;
	slice->thread_instructions += thread_instructions;
}

/* A uniform register of 16 or 32 bits, from 16-bit register @half on */
INLINE uint32_t read_uniform(const struct simdgroup *sg,
			     unsigned int half, unsigned int size)
{
	const uint16_t *u = sg->core->launch->uniforms;

	if (size == 16 || half + 1 >= VAGX_CORE_UNIFORMS)
		return u[half];
	return u[half] | (uint32_t)u[half + 1] << 16;
}

/* The same value in all lanes */
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

/* An integer source that is the same in all lanes: a uniform or an immediate; as read_extended() */
INLINE uint32_t read_scalar(const struct simdgroup *sg, const struct agx_operand *o,
			    bool sign_extend)
{
	uint32_t value;

	if (o->type != AGX_OPERAND_UNIFORM)
		return o->value;
	value = read_uniform(sg, o->value, o->size);
	return o->size == 16 && sign_extend ? (uint32_t)extend16(value) : value;
}

/* An integer source in all lanes, extended to 32 bits; the low half of a 64-bit one */
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

/* An integer source in all lanes, extended as the instruction says */
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

/* Writes to the active lanes of a register; @value may be that register, but not overlap it else */
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

/* Writes to the active lanes of a 16-bit register */
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

/* Writes to the active lanes of a destination of 16 or 32 bits */
INLINE void write_lanes(struct simdgroup *sg,
			const struct agx_operand *o,
			const uint32_t *value)
{
	if (o->size == 16)
		write_half(sg, o->value, value);
	else
		write_register(sg, (unsigned int)o->value / 2, value);
}

/* Writes to the active lanes of a destination of up to 64 bits */
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
