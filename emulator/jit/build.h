/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What the files of the compiler share: the code of a program, and the state while it is made.
 *
 * A value of all 32 lanes is in a vector: a few registers of the host, or the same register in
 * turn for a few lanes each time (vectors.h). Registers of AGX are cached in vectors within a
 * segment: a sequence of instructions whose results reach memory together, at its end. If a
 * result was special (see watch() in vectors.h), the cached registers are dropped instead, and the
 * interpreter does the segment again from memory. So rare cases need no code.
 */
#ifndef VAGX_JIT_BUILD_H
#define VAGX_JIT_BUILD_H

#include "buffer.h"
#include "code.h"
#include "gpu/core_internal.h"
#include "host.h"
#include "jit.h"
#include "vectors.h"

/* Vectors: temporaries of an instruction, one more for short sequences, and the cache */
#define TEMPS		3
#define VEC_SCRATCH	3
#define VEC_CACHE	4
/* Most registers that an instruction set has room for in the cache */
#define MAX_CACHED	12

/* Offset of an instruction at which code cannot be entered */
#define NO_ENTRY	0

/** enum version - versions of a program's code */
enum version {
	/** @VERSION_MASKED: for any lanes */
	VERSION_MASKED,
	/** @VERSION_FULL: while all lanes are active, so that MASK_EXEC is the same as MASK_ALL */
	VERSION_FULL,
	VERSIONS
};

/** enum stage - what runs a program, if its code depends on that */
enum stage {
	/** @STAGE_GROUPS: threadgroups, and vertices */
	STAGE_GROUPS,
	STAGE_FRAGMENTS,
	/** @STAGE_TILE: ends of tiles */
	STAGE_TILE,
};

/** struct vagx_native - native code of a program */
struct vagx_native {
	/** @arena: where the code is */
	struct vagx_arena *arena;
	/** @code: the code; it begins with the function vagx_native_fn */
	struct vagx_code code;
	/** @pool: constants */
	uint32_t *pool;
	/** @entry: offset of each instruction's code, or NO_ENTRY, by version; NULL if it lacks */
	uint32_t *entry[VERSIONS];
	/** @memory: finds the functions that it calls for loads and stores */
	vagx_jit_memory_fn *memory;
	/** @segmented: the code returns after each segment, for comparison */
	bool segmented;
	/** @of_stage: the code is right for this stage only */
	bool of_stage;
	enum stage stage;
};

_Static_assert(offsetof(struct simdgroup, place) ==
	       offsetof(struct simdgroup, reg) + REGISTERS * sizeof(struct lanes),
	       "places are registers behind the registers");

/**
 * vagx_native_fn - code of a program
 * @sg: simdgroup
 * @entry: where to enter
 * @uniforms: uniform registers
 * @pool: constants
 * @slice: time slice
 *
 * Return: instructions that are the interpreter's turn, from the program counter on, before
 * the code may be entered again.
 */
typedef unsigned int vagx_native_fn(struct simdgroup *sg, const uint8_t *entry,
				    const uint16_t *uniforms, const uint32_t *pool,
				    struct vagx_slice *slice);

/** struct value - a source of 32 bits in all lanes */
struct value {
	/** @is_scalar: one word in memory for all lanes, at @base + @disp; else in vector @vec */
	bool is_scalar;
	uint8_t vec;
	uint8_t base;
	int32_t disp;
};

/** enum part - what of a register is in a vector of the cache */
enum part {
	PART_WORD,
	/** @PART_LOW: the lower half, as a float */
	PART_LOW,
	PART_HIGH,
};

/**
 * struct cached - a register of AGX in a vector of the cache
 *
 * Where a half is dirty, that of the register's word is an older one. A half that is cached is
 * right in active lanes only.
 */
struct cached {
	/** @reg: its number; -1 if there is none */
	int reg;
	/** @part: the part of it */
	enum part part;
	/** @dirty: memory has an older value */
	bool dirty;
	/** @raw: a NaN in an active lane may be any NaN, where results of floats are one only */
	bool raw;
	/** @used: the clock when it was last used */
	unsigned int used;
};

/** enum fixup_kind - what a jump is for */
enum fixup_kind {
	/** @FIXUP_JUMP: a jump to the code of an instruction */
	FIXUP_JUMP,
	/** @FIXUP_REPLAY: to C, which interprets the segment again */
	FIXUP_REPLAY,
	/** @FIXUP_NANS: to code that replaces NaNs, and comes back */
	FIXUP_NANS,
	/** @FIXUP_PLANES: to code that gathers coefficients, and comes back */
	FIXUP_PLANES,
};

/** struct fixup - a jump whose target is not known yet */
struct fixup {
	/** @kind: what it is for */
	enum fixup_kind kind;
	/** @at: its displacement */
	uint32_t at;
	/** @version: of the code that a FIXUP_JUMP goes to */
	enum version version;
	/**
	 * @pc: instruction that it goes to; of a replay, the segment's first; of a FIXUP_PLANES the
	 * offset of the code that it comes back to
	 */
	uint32_t pc;
	/** @count: instructions of the segment to do again */
	uint32_t count;
	/** @vectors: mask of the vectors in which NaNs are replaced, or that gets coefficients */
	uint32_t vectors;
	/** @word: the word of planes that is gathered */
	uint32_t word;
};

/** struct build - state while code is made; used by one thread */
struct build {
	const struct program *program;
	/* the instruction set */
	const struct vectors *vectors;
	struct code_buf code;
	/* offset of the way back to C, at the beginning of the code */
	size_t leave;

	uint32_t *pool;
	unsigned int pool_count;
	unsigned int pool_capacity;

	/* offset of each instruction at which a block or an entry begins, else NO_ENTRY */
	uint32_t *entry[VERSIONS];
	/* which one is made; both are unless @entry says so */
	enum version version;
	/* within an instruction that changes the execution mask */
	bool in_flow;
	struct fixup *fixups;
	unsigned int fixup_count;
	unsigned int fixup_capacity;

	struct cached cache[MAX_CACHED];
	/* number of the instruction, for the least recently used register */
	unsigned int clock;
	/* first instruction of the segment */
	uint32_t segment;
	/* code of the segment has been appended */
	bool open;
	/* where it begins, for what repeats it */
	size_t segment_start;
	/* a jump to the end of what is repeated; 0 if there is none */
	size_t segment_skip;
	/* special results are looked for in this segment */
	bool watching;
	/* the instruction set has found coefficient registers in this segment */
	bool has_planes;
	/* the segment's last instruction has changed the execution mask */
	bool exec_changed;
	/* vectors that the instruction has used as temporaries */
	unsigned int temps;
	/* the code returns after each segment */
	bool segmented;
	/* the program has instructions that change the execution mask */
	bool changes_exec;
	/* floats are C's, as a function has been called that computes with them */
	bool in_c_mode;
	/* the stage that the code is for; whether it relies on that */
	enum stage stage;
	bool of_stage;
	/* instructions that do not call functions */
	unsigned int native;
};

/* Bytes of code that an instruction takes at most, with the end of the segment before it */
#define MAX_INSTRUCTION		4096

/* cache.c: registers and segments */

/** vagx_build_constant() - a constant of 32 bits, in memory */
struct value vagx_build_constant(struct build *b, uint32_t bits);
/** vagx_build_constant64() - a constant of 64 bits, for wide programs */
struct value vagx_build_constant64(struct build *b, uint64_t bits);
/** vagx_build_row() - constants that follow each other in memory */
struct value vagx_build_row(struct build *b, const uint32_t *words, unsigned int count);
/** vagx_build_temp() - the next temporary of the instruction */
unsigned int vagx_build_temp(struct build *b);
/** vagx_build_in_vector() - the same value in a vector */
struct value vagx_build_in_vector(struct build *b, struct value v);
/** vagx_build_register() - the vector that caches a register; loads it if need be */
unsigned int vagx_build_register(struct build *b, unsigned int reg);
/** vagx_build_half() - the vector that caches a half, by its number, as a float */
unsigned int vagx_build_half(struct build *b, unsigned int half);
/** vagx_build_canonical() - the same as vagx_build_register(), with the NaN that registers have */
unsigned int vagx_build_canonical(struct build *b, unsigned int reg);
/**
 * vagx_build_write() - write to the active lanes of a destination of 16 or 32 bits
 * @b: build
 * @o: destination, a register
 * @v: value; if the destination has 16 bits it is in a temporary, which changes
 * @raw: NaNs in it may be any
 */
void vagx_build_write(struct build *b, const struct agx_operand *o, struct value v, bool raw);
/**
 * vagx_build_destination() - the vector of a destination of 32 bits
 * @b: build
 * @o: destination, a register
 * @raw: NaNs of the result may be any
 *
 * One instruction, masked by MASK_EXEC, has to write it next, and may have it as a source.
 */
unsigned int vagx_build_destination(struct build *b, const struct agx_operand *o, bool raw);
/**
 * vagx_build_half_destination() - the vector of a destination of 16 bits, as a float
 * @b: build
 * @o: destination, a register
 *
 * What is written to it next, in lanes of MASK_EXEC, has to be what a half can be, or a NaN.
 */
unsigned int vagx_build_half_destination(struct build *b, const struct agx_operand *o);
/** vagx_build_settle_sources() - before an instruction: halves that it reads as parts of words */
void vagx_build_settle_sources(struct build *b, const struct op *op);
/** vagx_build_settle() - write cached halves to registers, at a segment's end */
void vagx_build_settle(struct build *b);
/** vagx_build_has_room() - whether an instruction's registers can be cached in this segment */
bool vagx_build_has_room(const struct build *b, const struct op *op);
/**
 * vagx_build_require() - within a segment: leave it to C unless a field of the simdgroup allows it
 * @b: build
 * @op: the instruction that needs it; C does this one, too
 * @offset: of the field, 32 bits that nothing in the segment changes
 * @value: what it is compared with
 * @bad: HOST_LESS or HOST_NOT_ZERO, of the difference: it is not allowed
 */
void vagx_build_require(struct build *b, const struct op *op, uint32_t offset, uint32_t value,
			enum host_condition bad);
/** vagx_build_begin() - before an instruction: opens a segment if there is none */
void vagx_build_begin(struct build *b);
/** vagx_build_commit() - end the segment before instruction @next */
void vagx_build_commit(struct build *b, uint32_t next);
/** vagx_build_end_segment() - the same, and return to C if it compares */
void vagx_build_end_segment(struct build *b, uint32_t next);
/** vagx_build_forget() - drop the cache; between segments only */
void vagx_build_forget(struct build *b);
/** vagx_build_take_raw() - vectors with other NaNs than registers have, as a mask; none afterwards */
uint32_t vagx_build_take_raw(struct build *b);
/** vagx_build_add_fixup() - remember a jump for later */
void vagx_build_add_fixup(struct build *b, struct fixup fixup);
/** vagx_build_register_disp() - where a register is in the simdgroup */
int32_t vagx_build_register_disp(unsigned int reg);

/** vagx_build_vector() - a value that is in a vector */
static inline struct value vagx_build_vector(unsigned int vec)
{
	return (struct value){ .vec = (uint8_t)vec };
}

/** vagx_build_is_temp() - whether a value may be overwritten */
static inline bool vagx_build_is_temp(struct value v)
{
	return !v.is_scalar && v.vec < VEC_CACHE;
}

/** vagx_build_next_vector() - the lowest vector of a mask, which loses it */
static inline unsigned int vagx_build_next_vector(uint32_t *vectors)
{
	unsigned int vec = (unsigned int)__builtin_ctz(*vectors);

	*vectors &= *vectors - 1;
	return vec;
}

/** vagx_build_jump_to() - remember that the jump at @at goes to instruction @pc of a version */
void vagx_build_jump_to(struct build *b, size_t at, enum version version, uint32_t pc);

/** vagx_build_is_masked() - whether an instruction with a mask is for some lanes only */
static inline bool vagx_build_is_masked(const struct build *b, enum mask mask)
{
	bool is_full = b->version == VERSION_FULL && !b->in_flow;

	return mask != MASK_ALL && !(is_full && mask == MASK_EXEC);
}

/* operand.c */

/** vagx_build_int() - an integer source, extended to 32 bits */
struct value vagx_build_int(struct build *b, const struct agx_operand *o, bool sign_extend);
/** vagx_build_float() - a float source with its modifiers; NaNs may be any */
struct value vagx_build_float(struct build *b, const struct agx_operand *o);
/** vagx_build_condition() - MASK_COND = the condition of an instruction that compares */
void vagx_build_condition(struct build *b, const struct op *op, bool is_float);
/** vagx_build_write_int() - write an integer result, which may be a source as it is */
void vagx_build_write_int(struct build *b, const struct op *op, struct value v);
/** vagx_build_write_float() - write a float result in a temporary: saturated, or as a half */
void vagx_build_write_float(struct build *b, const struct op *op, unsigned int vec);

/* lower.c */

/**
 * vagx_build_lower() - code for an instruction without control flow
 *
 * Return: false, with nothing appended that matters, if there is none: it is called then.
 */
bool vagx_build_lower(struct build *b, const struct op *op);

/* lower_special.c */

/** vagx_build_lower_special() - the same as vagx_build_lower(), for special functions */
bool vagx_build_lower_special(struct build *b, const struct op *op);
/** vagx_build_is_special() - whether that is for an instruction */
bool vagx_build_is_special(const struct op *op);

/* lower_int.c */

/** vagx_build_lower_int() - the same, for integers that lower.c has no code for */
bool vagx_build_lower_int(struct build *b, const struct op *op);

/* lower_place.c */

/** vagx_build_lower_place() - the same, for special registers that say where a thread is */
bool vagx_build_lower_place(struct build *b, const struct op *op);

/* lower_lanes.c */

/** vagx_build_lower_lanes() - the same, for instructions across lanes */
bool vagx_build_lower_lanes(struct build *b, const struct op *op);
/** vagx_build_votes() - whether an instruction is a ballot */
bool vagx_build_votes(const struct op *op);

/* lower_reduce.c */

/** vagx_build_lower_reduce() - the same, for reductions */
bool vagx_build_lower_reduce(struct build *b, const struct op *op);

/* lower_stage.c */

/** vagx_build_lower_stage() - the same, for interpolation and pixels of fragments */
bool vagx_build_lower_stage(struct build *b, const struct op *op);

/* entry.c */

/** vagx_build_routines() - the entry of the code, and what it calls */
void vagx_build_routines(struct build *b);
/** vagx_build_replay() - return to C, which interprets @count instructions from @pc on */
void vagx_build_replay(struct build *b, uint32_t pc, uint32_t count);
/** vagx_build_native_mode() - have floats be native code's: before segments, and between blocks */
void vagx_build_native_mode(struct build *b);
/** vagx_build_changes_exec() - whether the instruction changes the execution mask */
bool vagx_build_changes_exec(const struct op *op);
/** vagx_build_leave() - return to C with the program counter at @pc */
void vagx_build_leave(struct build *b, uint32_t pc);

/* control.c */

/** vagx_build_call() - call the function of the instruction at @pc; a segment of its own */
void vagx_build_call(struct build *b, uint32_t pc);
/** vagx_build_flow() - code for an instruction that changes the execution mask, at @pc */
bool vagx_build_flow(struct build *b, const struct op *op, uint32_t pc);
/** vagx_build_jump() - code for a jump at @pc, which ends a block */
bool vagx_build_jump(struct build *b, const struct op *op, uint32_t pc);
/** vagx_build_is_jump() - whether vagx_build_jump() is for the instruction */
bool vagx_build_is_jump(const struct op *op);
/** vagx_build_leaves() - whether C goes on behind the instruction */
bool vagx_build_leaves(const struct op *op);

/* memory.c, avx512_memory.c */

vagx_jit_memory_fn vagx_memory_find, vagx_memory_find_avx512;

/** enum memory_space - what a load or store goes to */
enum memory_space {
	MEMORY_DEVICE,
	MEMORY_SHARED,
	MEMORY_SPACES,
};

/** vagx_memory_fns - functions by space, direction and size of elements, as a power of two */
typedef vagx_exec_fn *vagx_memory_fns[MEMORY_SPACES][2][3];

/**
 * vagx_memory_is_simple() - whether an access is of integers, to registers that follow each other
 *
 * The functions for whole simdgroups are right for these only.
 */
bool vagx_memory_is_simple(const struct op *op, bool is_store);
/** vagx_memory_find_atomic() - a faster function for an atomic; NULL if there is none */
vagx_exec_fn *vagx_memory_find_atomic(const struct op *op);
/** vagx_memory_choose() - the function for an instruction; NULL if none is right for it */
vagx_exec_fn *vagx_memory_choose(const vagx_memory_fns *fns, const struct op *op);

/* stack.c */

/** vagx_stack_find_any() - as @find, and for private memory */
vagx_exec_fn *vagx_stack_find_any(const struct op *op, vagx_jit_memory_fn *find);

/* replay.c */

/** vagx_native_replay() - interpret a segment again, in the lanes in which it was not done */
void vagx_native_replay(struct simdgroup *sg, struct vagx_slice *slice, unsigned int count);

/* check.c */

/** vagx_jit_check() - run a simdgroup by both, and compare; as vagx_jit_run() */
void vagx_jit_check(const struct vagx_native *native, struct simdgroup *sg,
		    struct vagx_slice *slice);

/*
 * Clang's UBSan looks at bytes before a function that is called, which native code does not have
 * and which may be no memory
 */
#ifdef __clang__
#define UNCHECKED_CALL	__attribute__((no_sanitize("function")))
#else
#define UNCHECKED_CALL
#endif

/** vagx_native_entries() - where instructions' code is, for the lanes that are active */
static inline const uint32_t *vagx_native_entries(const struct vagx_native *native,
						  const struct simdgroup *sg)
{
	if (sg->exec == ALL_LANES && native->entry[VERSION_FULL])
		return native->entry[VERSION_FULL];
	return native->entry[VERSION_MASKED];
}

/** vagx_native_call() - enter native code at an offset. Return: as vagx_native_fn(). */
UNCHECKED_CALL static inline unsigned int vagx_native_call(const struct vagx_native *native,
					    struct simdgroup *sg, uint32_t offset,
					    struct vagx_slice *slice)
{
	const void *code = native->code.run;
	vagx_native_fn *fn;

	/* ISO C has no conversion from data to functions */
	memcpy(&fn, &code, sizeof(fn));
	return fn(sg, native->code.run + offset, sg->core->launch->uniforms, native->pool, slice);
}

#endif /* VAGX_JIT_BUILD_H */
