/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What an instruction set has to offer to the rest of the compiler: instructions on vectors of
 * 32 lanes, on masks of lanes, and what is around segments. There is one struct vectors for each:
 * AVX-512, where a vector is two registers of 16 lanes (avx512.c); AVX2, where a segment is
 * repeated for eight lanes at a time, in one register (avx2.c); and NEON, the same with four lanes
 * (neon.c).
 */
#ifndef VAGX_JIT_VECTORS_H
#define VAGX_JIT_VECTORS_H

#include <stdbool.h>
#include <stdint.h>

struct build;
struct op;
struct simdgroup;
struct fixup;
struct value;

/** enum mask - masks of lanes */
enum mask {
	/** @MASK_ALL: as the mask of an instruction: all lanes */
	MASK_ALL,
	/** @MASK_EXEC: active lanes */
	MASK_EXEC,
	/** @MASK_COND: the condition of an instruction */
	MASK_COND,
	/** @MASK_LEVEL: of instructions that change the execution mask only */
	MASK_LEVEL,
};

/** enum mask_op - instructions on masks */
enum mask_op {
	MASK_AND,
	/** @MASK_AND_NOT: the second source where the first one is off */
	MASK_AND_NOT,
	/** @MASK_NOT: of the first source */
	MASK_NOT,
};

/** vagx_jit_memory_fn - finds a faster function for a load or store; NULL if there is none */
typedef void (*vagx_jit_memory_fn(const struct op *op))(struct simdgroup *sg,
							const struct op *op);

/**
 * enum vector_op - instructions on vectors
 *
 * Lanes are words of 32 bits. Counts of shifts are 0 to 127; those above 31 shift all bits out.
 */
enum vector_op {
	VECTOR_ADD,
	/** @VECTOR_ADD16: of both halves of words */
	VECTOR_ADD16,
	VECTOR_SUB,
	/** @VECTOR_SUB16_SATURATED: of both halves of words, which stop at 0 */
	VECTOR_SUB16_SATURATED,
	VECTOR_MUL,
	VECTOR_MIN,
	VECTOR_MAX,
	VECTOR_MIN_UNSIGNED,
	VECTOR_AND,
	VECTOR_OR,
	VECTOR_XOR,
	VECTOR_SHL,
	VECTOR_SHR,
	/** @VECTOR_SAR: to the right, of signed numbers */
	VECTOR_SAR,
	/** @VECTOR_SHL_IMM: by an immediate, as the next two */
	VECTOR_SHL_IMM,
	VECTOR_SHR_IMM,
	VECTOR_SAR_IMM,

	VECTOR_FADD,
	VECTOR_FMUL,
	VECTOR_FDIV,
	/** @VECTOR_FMIN: the second source unless the first one is less, also if one is a NaN */
	VECTOR_FMIN,
	/** @VECTOR_FMAX: the second source unless the first one is greater */
	VECTOR_FMAX,
	/** @VECTOR_FMA132: the product of the destination and the second source, and the first */
	VECTOR_FMA132,
	/** @VECTOR_FMA213: that of the first source and the destination, and the second */
	VECTOR_FMA213,
	/** @VECTOR_FMA231: that of both sources, and the destination */
	VECTOR_FMA231,
	/** @VECTOR_ROUND: to a whole number; the immediate is an enum rounding */
	VECTOR_ROUND,

	/** @VECTOR_INT_TO_FLOAT: conversions, of the second source */
	VECTOR_INT_TO_FLOAT,
	/** @VECTOR_UINT_TO_FLOAT: if there is has_unsigned */
	VECTOR_UINT_TO_FLOAT,
	/** @VECTOR_FLOAT_TO_INT: the smallest integer for what is less; any for more, and NaNs */
	VECTOR_FLOAT_TO_INT,
	VECTOR_FLOAT_TO_INT_ZERO,
	/** @VECTOR_FLOAT_TO_UINT: all ones for what is more; if there is has_unsigned */
	VECTOR_FLOAT_TO_UINT,
	VECTOR_FLOAT_TO_UINT_ZERO,
	VECTOR_OPS
};

/** enum predicate - comparisons; of NaNs all but the last one are false */
enum predicate {
	COMPARE_EQ,
	COMPARE_LT,
	COMPARE_LE,
	/** @COMPARE_NE: of integers */
	COMPARE_NE,
	COMPARE_GE,
	COMPARE_GT,
	/** @COMPARE_UNORDERED: of floats: one is a NaN */
	COMPARE_UNORDERED,
};

/** enum rounding - directions of VECTOR_ROUND */
enum rounding {
	ROUND_NEAREST,
	ROUND_DOWN,
	ROUND_UP,
	ROUND_ZERO,
};

/** enum wide_op - what a step of a wide program does */
enum wide_op {
	WIDE_ADD,
	WIDE_SUB,
	WIDE_MUL,
	WIDE_DIV,
	/** @WIDE_SQRT: of the first source */
	WIDE_SQRT,
	/** @WIDE_ADD_BITS: as unsigned integers, as the four below */
	WIDE_ADD_BITS,
	WIDE_SUB_BITS,
	WIDE_AND,
	WIDE_OR,
	/** @WIDE_SHL: by the immediate */
	WIDE_SHL,
	WIDE_SHR,
	/** @WIDE_SET: to the immediate */
	WIDE_SET,
	/** @WIDE_START: what the first register was in the beginning */
	WIDE_START,
};

/** WIDE_IMM - as the second source of a step: the immediate */
#define WIDE_IMM	255

/** struct wide_step - @dst = @a op @b; registers are 0 to 3 */
struct wide_step {
	uint8_t op;
	uint8_t dst;
	uint8_t a;
	uint8_t b;
	uint64_t imm;
};

/** struct wide_program - steps that are done for every lane */
struct wide_program {
	const struct wide_step *steps;
	unsigned int count;
};

/** struct vectors - an instruction set */
struct vectors {
	/** @cached: registers of AGX that are cached at most */
	unsigned int cached;
	/** @has_unsigned: there are conversions between floats and unsigned integers */
	bool has_unsigned;
	/** @one_nan: NaNs of results are the one that registers have: none has to be replaced */
	bool one_nan;
	/** @keeps_cache: what is cached at a segment's end is cached in the next one, too */
	bool keeps_cache;
	/** @memory: finds faster functions for loads and stores */
	vagx_jit_memory_fn *memory;

	/** @enter: after the entry of the code: load what native code keeps in registers */
	void (*enter)(struct build *b);
	/** @before_call: the simdgroup as C expects it */
	void (*before_call)(struct build *b);
	/** @after_call: what native code keeps in registers that C changes */
	void (*after_call)(struct build *b);
	/** @set_active: the execution mask in memory has changed: what follows it */
	void (*set_active)(struct build *b);
	/** @test_exec: compare the execution mask with 0: HOST_ZERO: no lane is active */
	void (*test_exec)(struct build *b);

	/** @begin: begin a segment */
	void (*begin)(struct build *b);
	/**
	 * @end: end a segment before instruction @next: do it again in C if a result was special;
	 * else settle halves, replace NaNs, store registers, and keep the execution mask if it has
	 * changed
	 */
	void (*end)(struct build *b, uint32_t next);
	/**
	 * @replay: before a return to C that does the segment again: which lanes are done; not
	 * called without lanes that are done if no result is special
	 */
	void (*replay)(struct build *b);
	/** @nans: code of a FIXUP_NANS: replace NaNs of vectors, and go back; unless @one_nan */
	void (*nans)(struct build *b, const struct fixup *fixup);

	/** @load: load a register of AGX to a vector */
	void (*load)(struct build *b, unsigned int vec, unsigned int reg);
	/**
	 * @coefficient: @dst = a word of each lane's coefficient registers, which are there;
	 * changes VEC_SCRATCH
	 */
	void (*coefficient)(struct build *b, unsigned int dst, unsigned int word);
	/** @gather: code of a FIXUP_PLANES; NULL if there is none */
	void (*gather)(struct build *b, const struct fixup *fixup);
	/** @store: store a register of AGX, at a segment's end */
	void (*store)(struct build *b, unsigned int vec, unsigned int reg);
	/** @op: @dst = @a op @v in lanes of a mask */
	void (*op)(struct build *b, enum vector_op op, enum mask mask, unsigned int dst,
		   unsigned int a, struct value v);
	/** @op_imm: the same with an immediate */
	void (*op_imm)(struct build *b, enum vector_op op, enum mask mask, unsigned int dst,
		       unsigned int a, struct value v, unsigned int imm);
	/** @copy: @dst = @v in lanes of a mask */
	void (*copy)(struct build *b, enum mask mask, unsigned int dst, struct value v);
	/** @copy_scalar: @dst = what vagx_host_load_uniform() has read, in all lanes */
	void (*copy_scalar)(struct build *b, unsigned int dst);
	/** @constant: @dst = @bits in lanes of a mask, 0 in others */
	void (*constant)(struct build *b, enum mask mask, unsigned int dst, uint32_t bits);
	/** @insert: bits of @bits of vector @v replace those of @dst, in lanes of a mask */
	void (*insert)(struct build *b, enum mask mask, unsigned int dst, unsigned int v,
		       uint32_t bits);
	/** @truth: @dst = a truth table of @a and @v: bit 0 is for 0 and 0, bit 1 for @a alone */
	void (*truth)(struct build *b, unsigned int dst, unsigned int a, struct value v,
		      unsigned int table);

	/** @quad: @dst = @src with the lanes of each quad in an order: two bits for each lane */
	void (*quad)(struct build *b, unsigned int dst, unsigned int src, unsigned int order);
	/** @table: @dst = a word for each lane; with @permute only */
	void (*table)(struct build *b, unsigned int dst, const uint32_t words[32]);
	/**
	 * @permute: @dst = @src of the lanes whose numbers the lower five bits of @dst are
	 *
	 * NULL if a vector has not all lanes.
	 */
	void (*permute)(struct build *b, unsigned int dst, unsigned int src);
	/**
	 * @vote: the simdgroup's votes = active lanes of MASK_COND
	 *
	 * Without @permute the segment has begun with it and votes of 0, and begins again with an
	 * empty cache.
	 */
	void (*vote)(struct build *b);

	/** @mul_upper: @dst = upper words of the products of unsigned words; it is neither source */
	void (*mul_upper)(struct build *b, unsigned int dst, unsigned int x, unsigned int y);

	/** @compare_int: mask = @a predicate @v */
	void (*compare_int)(struct build *b, enum mask mask, bool is_signed, unsigned int a,
			    struct value v, enum predicate predicate);
	/** @compare_float: MASK_COND = @a predicate @v, or @v is a NaN if @or_unordered */
	void (*compare_float)(struct build *b, unsigned int a, struct value v,
			      enum predicate predicate, bool or_unordered);
	/** @mask: an instruction on masks */
	void (*mask)(struct build *b, enum mask_op op, enum mask dst, enum mask a, enum mask c);
	/** @zero_levels: MASK_EXEC = lanes where the lower half of @vec is 0 */
	void (*zero_levels)(struct build *b, unsigned int vec);
	/** @valid: MASK_EXEC loses lanes that have stopped */
	void (*valid)(struct build *b);

	/** @half_to_float: @dst = the upper or lower halves of words as floats */
	void (*half_to_float)(struct build *b, unsigned int dst, unsigned int words, bool upper);
	/** @float_to_half: @dst = floats as halves in words, NaNs the one that there is */
	void (*float_to_half)(struct build *b, unsigned int dst, unsigned int vec);
	/** @round_to_half: @dst = what halves can be of @vec, as floats, in lanes of a mask */
	void (*round_to_half)(struct build *b, enum mask mask, unsigned int dst,
			      unsigned int vec);
	/**
	 * @half_fma: @dst = @x * @y + @t in lanes of a mask, rounded once to what halves can be, as
	 * floats; @t, which is a temporary, changes
	 */
	void (*half_fma)(struct build *b, enum mask mask, unsigned int dst, unsigned int t,
			 unsigned int x, unsigned int y);
	/**
	 * @wide: for each lane of @src a short program of floats of 64 bits, whose first register
	 * begins as the lane's float, and ends as what becomes the float in @dst
	 *
	 * @work: a temporary. The three vectors are different ones. NULL if there is no such code.
	 */
	void (*wide)(struct build *b, const struct wide_program *p, unsigned int dst,
		     unsigned int src, unsigned int work);
	/**
	 * @watch: notice special results
	 *
	 * Special is the smallest normal number of either sign: a result that was smaller, and
	 * has been rounded up. AGX makes it zero, the host does not.
	 */
	void (*watch)(struct build *b, unsigned int vec);
	/** @replace_nans: NaNs in active lanes become the one of registers; unless @one_nan */
	void (*replace_nans)(struct build *b, unsigned int vec);
};

extern const struct vectors vagx_vectors_avx512, vagx_vectors_avx2, vagx_vectors_neon;

#endif /* VAGX_JIT_VECTORS_H */
