// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * NEON: a vector is one register of four lanes. The code of a segment is a loop over the eight
 * eighths of the lanes, whose registers and masks it addresses by X9. No instruction of a segment
 * looks at other lanes, so their order does not matter. Registers are loaded in each segment anew.
 *
 * Nothing is special, and no NaN has to be replaced: with FZ and DN in FPCR (arm64_host.c) results
 * are flushed before they are rounded, and have one NaN only, as AGX's.
 */
#include "arm64.h"
#include "build.h"

#define OFFSET_OF(field)	((unsigned int)offsetof(struct simdgroup, field))

/*
 * Vectors behind the cache: for operands that are no vectors, for results before they are
 * blended, and masks
 */
#define VEC_SCALAR	16
#define VEC_RESULT	17
#define VEC_EXEC	18
#define VEC_COND	19
#define VEC_LEVEL	20
#define VEC_PART	21

/* General registers that no function in C has to keep */
#define X_TURN		9	/* the simdgroup and the bytes of lanes of earlier turns */
#define X_END		10	/* the same after the last turn */
#define X_BITS		11	/* bits of a new execution mask, so far */
#define X_TEMP		16

/* Bytes of the lanes of one turn of the loop, and of all of them */
#define TURN		16
#define TURNS		128

/* The register of a vector: functions in C expect those from 8 to 15 to be kept */
static unsigned int neon_register(unsigned int vec)
{
	return vec < 8 ? vec : vec + 8;
}

/* @dst = @a op @c, vectors */
static void neon_vector(struct build *b, enum arm64_op op, unsigned int dst, unsigned int a,
			unsigned int c)
{
	vagx_arm64(&b->code, op, neon_register(dst), neon_register(a), neon_register(c));
}

/* @dst = op @a */
static void neon_unary(struct build *b, enum arm64_op op, unsigned int dst, unsigned int a)
{
	vagx_arm64(&b->code, op, neon_register(dst), neon_register(a), 0);
}

static void neon_move(struct build *b, unsigned int dst, unsigned int a)
{
	if (dst != a)
		neon_vector(b, ARM64_ORR, dst, a, a);
}

/* @dst = @a shifted by a count of 0 to 127 */
static void neon_shift(struct build *b, enum vector_op op, unsigned int dst, unsigned int a,
		       unsigned int count)
{
	enum arm64_op shift = op == VECTOR_SHL_IMM ? ARM64_SHL :
			      op == VECTOR_SHR_IMM ? ARM64_USHR : ARM64_SSHR;

	if (!count) {
		neon_move(b, dst, a);
	} else if (count > 31 && op != VECTOR_SAR_IMM) {
		neon_vector(b, ARM64_EOR, dst, a, a);
	} else {
		vagx_arm64_imm(&b->code, shift, neon_register(dst), neon_register(a), 0,
			       count > 31 ? 31 : count);
	}
}

static void neon_broadcast(struct build *b, unsigned int dst, struct value v)
{
	unsigned int d = neon_register(dst);

	if (v.disp % 4 == 0 && v.disp <= 4 * 4095) {
		vagx_arm64_imm(&b->code, ARM64_LOAD_FLOAT, d, v.base, 0, (unsigned int)v.disp);
	} else {
		vagx_arm64_constant(&b->code, X_TEMP, (uint32_t)v.disp);
		vagx_arm64(&b->code, ARM64_LOAD_FLOAT_AT, d, v.base, X_TEMP);
	}
	vagx_arm64(&b->code, ARM64_DUP, d, d, 0);
}

static void neon_broadcast_constant(struct build *b, unsigned int dst, uint32_t bits)
{
	neon_broadcast(b, dst, vagx_build_constant(b, bits));
}

/* The vector that has a value: its own, or VEC_SCALAR */
static unsigned int neon_value(struct build *b, struct value v)
{
	if (!v.is_scalar)
		return v.vec;
	neon_broadcast(b, VEC_SCALAR, v);
	return VEC_SCALAR;
}

static unsigned int neon_mask_vector(enum mask mask)
{
	return mask == MASK_EXEC ? VEC_EXEC : mask == MASK_COND ? VEC_COND : VEC_LEVEL;
}

/* What NEON calls an instruction, if it is one there; 0 is none of them */
_Static_assert(ARM64_BR == 0, "the first row is no vector instruction");
static const uint8_t neon_ops[VECTOR_OPS] = {
	[VECTOR_ADD] = ARM64_ADD,
	[VECTOR_ADD16] = ARM64_ADD16,
	[VECTOR_SUB] = ARM64_SUB,
	[VECTOR_SUB16_SATURATED] = ARM64_UQSUB16,
	[VECTOR_MUL] = ARM64_MUL,
	[VECTOR_MIN] = ARM64_SMIN,
	[VECTOR_MAX] = ARM64_SMAX,
	[VECTOR_MIN_UNSIGNED] = ARM64_UMIN,
	[VECTOR_AND] = ARM64_AND,
	[VECTOR_OR] = ARM64_ORR,
	[VECTOR_XOR] = ARM64_EOR,
	/* counts are below 128, so that they are no negative bytes */
	[VECTOR_SHL] = ARM64_USHL,
	[VECTOR_FADD] = ARM64_FADD,
	[VECTOR_FMUL] = ARM64_FMUL,
	[VECTOR_FDIV] = ARM64_FDIV,
};

/* Instructions of one source */
static const uint8_t neon_unary_ops[VECTOR_OPS] = {
	[VECTOR_INT_TO_FLOAT] = ARM64_SCVTF,
	[VECTOR_UINT_TO_FLOAT] = ARM64_UCVTF,
	[VECTOR_FLOAT_TO_INT] = ARM64_FCVTNS,
	[VECTOR_FLOAT_TO_INT_ZERO] = ARM64_FCVTZS,
	[VECTOR_FLOAT_TO_UINT] = ARM64_FCVTNU,
	[VECTOR_FLOAT_TO_UINT_ZERO] = ARM64_FCVTZU,
};

/* @dst = @a where the comparison of @x with @y is true, else @c, which it is of; not in place */
static void neon_choose(struct build *b, unsigned int dst, unsigned int x, unsigned int y,
			unsigned int a, unsigned int c)
{
	neon_vector(b, ARM64_FCMGT, dst, x, y);
	neon_vector(b, ARM64_BSL, dst, a, c);
}

/* @dst = a product and a sum, where @dst is none of the sources */
static void neon_fma(struct build *b, unsigned int dst, unsigned int x, unsigned int y,
		     unsigned int added)
{
	neon_move(b, dst, added);
	neon_vector(b, ARM64_FMLA, dst, x, y);
}

/* An instruction that needs several here; @result is none of the sources, @dst is one of FMA's */
static void neon_sequence(struct build *b, enum vector_op op, unsigned int result,
			  unsigned int dst, unsigned int a, unsigned int c)
{
	switch (op) {
	case VECTOR_SHR:
	case VECTOR_SAR:
		neon_unary(b, ARM64_NEG, result, c);
		neon_vector(b, op == VECTOR_SHR ? ARM64_USHL : ARM64_SSHL, result, a, result);
		break;
	case VECTOR_FMIN:
		neon_choose(b, result, c, a, a, c);
		break;
	case VECTOR_FMAX:
		neon_choose(b, result, a, c, a, c);
		break;
	case VECTOR_FMA132:
		neon_fma(b, result, dst, c, a);
		break;
	case VECTOR_FMA213:
		neon_fma(b, result, a, dst, c);
		break;
	default:
		neon_fma(b, result, a, c, dst);
	}
}

/* @dst = @v where a mask is set */
static void neon_blend(struct build *b, enum mask mask, unsigned int dst, unsigned int v)
{
	neon_vector(b, ARM64_BIT, dst, v, neon_mask_vector(mask));
}

static void neon_op(struct build *b, enum vector_op op, enum mask mask, unsigned int dst,
		    unsigned int a, struct value v)
{
	unsigned int c = neon_value(b, v), to = vagx_build_is_masked(b, mask) ? VEC_RESULT : dst;

	if (neon_unary_ops[op]) {
		neon_unary(b, neon_unary_ops[op], to, c);
	} else if (neon_ops[op]) {
		neon_vector(b, neon_ops[op], to, a, c);
	} else if (op == VECTOR_FMA231 && !vagx_build_is_masked(b, mask)) {
		neon_vector(b, ARM64_FMLA, dst, a, c);
	} else {
		neon_sequence(b, op, VEC_RESULT, dst, a, c);
		if (!vagx_build_is_masked(b, mask))
			neon_move(b, dst, VEC_RESULT);
	}
	if (vagx_build_is_masked(b, mask))
		neon_blend(b, mask, dst, VEC_RESULT);
}

static void neon_op_imm(struct build *b, enum vector_op op, enum mask mask, unsigned int dst,
			unsigned int a, struct value v, unsigned int imm)
{
	static const uint8_t roundings[] = {
		[ROUND_NEAREST] = ARM64_FRINTN,
		[ROUND_DOWN] = ARM64_FRINTM,
		[ROUND_UP] = ARM64_FRINTP,
		[ROUND_ZERO] = ARM64_FRINTZ,
	};
	unsigned int c = neon_value(b, v), to = vagx_build_is_masked(b, mask) ? VEC_RESULT : dst;

	if (op == VECTOR_ROUND)
		neon_unary(b, roundings[imm], to, c);
	else
		neon_shift(b, op, to, c, imm);
	if (vagx_build_is_masked(b, mask))
		neon_blend(b, mask, dst, VEC_RESULT);
}

static void neon_copy(struct build *b, enum mask mask, unsigned int dst, struct value v)
{
	if (vagx_build_is_masked(b, mask))
		neon_blend(b, mask, dst, neon_value(b, v));
	else if (v.is_scalar)
		neon_broadcast(b, dst, v);
	else
		neon_move(b, dst, v.vec);
}

static void neon_copy_scalar(struct build *b, unsigned int dst)
{
	vagx_arm64(&b->code, ARM64_DUP_GPR, neon_register(dst), X_TEMP, 0);
}

static void neon_constant(struct build *b, enum mask mask, unsigned int dst, uint32_t bits)
{
	neon_broadcast_constant(b, dst, bits);
	neon_vector(b, ARM64_AND, dst, dst, neon_mask_vector(mask));
}

static void neon_insert(struct build *b, enum mask mask, unsigned int dst, unsigned int v,
			uint32_t bits)
{
	neon_broadcast_constant(b, VEC_SCALAR, bits);
	if (vagx_build_is_masked(b, mask))
		neon_vector(b, ARM64_AND, VEC_SCALAR, VEC_SCALAR, neon_mask_vector(mask));
	neon_vector(b, ARM64_BIT, dst, v, VEC_SCALAR);
}

/* Each table that is no instruction itself is the complement of one */
static void neon_truth(struct build *b, unsigned int dst, unsigned int a, struct value v,
		       unsigned int table)
{
	unsigned int c = neon_value(b, v), odd = table & 1;

	switch (odd ? ~table & 15 : table) {
	case 2:
		neon_vector(b, ARM64_BIC, dst, a, c);
		break;
	case 4:
		neon_vector(b, ARM64_BIC, dst, c, a);
		break;
	case 6:
		neon_vector(b, ARM64_EOR, dst, a, c);
		break;
	case 8:
		neon_vector(b, ARM64_AND, dst, a, c);
		break;
	case 14:
		neon_vector(b, ARM64_ORR, dst, a, c);
		break;
	default:
		/* of the first source alone */
		neon_move(b, dst, a);
	}
	if (odd)
		neon_unary(b, ARM64_NOT, dst, dst);
}

static void neon_quad(struct build *b, unsigned int dst, unsigned int src, unsigned int order)
{
	uint32_t bytes[4];
	struct value row;
	unsigned int i;

	for (i = 0; i < 4; i++)
		bytes[i] = 0x03020100 + (order >> 2 * i & 3) * 0x04040404;
	row = vagx_build_row(b, bytes, 4);
	vagx_arm64_constant(&b->code, X_TEMP, (uint32_t)row.disp);
	vagx_arm64(&b->code, ARM64_LOAD_128_AT, neon_register(VEC_PART), row.base, X_TEMP);
	neon_vector(b, ARM64_TBL, dst, src, VEC_PART);
}

static void neon_mul_upper(struct build *b, unsigned int dst, unsigned int x, unsigned int y)
{
	neon_vector(b, ARM64_UMULL, VEC_RESULT, x, y);
	neon_vector(b, ARM64_UMULL2, VEC_PART, x, y);
	neon_vector(b, ARM64_UZP2, dst, VEC_RESULT, VEC_PART);
}

static void neon_compare_int(struct build *b, enum mask mask, bool is_signed, unsigned int a,
			     struct value v, enum predicate predicate)
{
	enum arm64_op greater = is_signed ? ARM64_CMGT : ARM64_CMHI;
	enum arm64_op not_less = is_signed ? ARM64_CMGE : ARM64_CMHS;
	unsigned int m = neon_mask_vector(mask), c = neon_value(b, v);

	switch (predicate) {
	case COMPARE_LT:
		neon_vector(b, greater, m, c, a);
		break;
	case COMPARE_LE:
		neon_vector(b, not_less, m, c, a);
		break;
	case COMPARE_GE:
		neon_vector(b, not_less, m, a, c);
		break;
	case COMPARE_GT:
		neon_vector(b, greater, m, a, c);
		break;
	default:
		neon_vector(b, ARM64_CMEQ, m, a, c);
		if (predicate == COMPARE_NE)
			neon_unary(b, ARM64_NOT, m, m);
	}
}

/* @dst = lanes in which neither is a NaN; changes VEC_PART */
static void neon_ordered(struct build *b, unsigned int dst, unsigned int a, unsigned int c)
{
	neon_vector(b, ARM64_FCMEQ, dst, a, a);
	if (a == c)
		return;
	neon_vector(b, ARM64_FCMEQ, VEC_PART, c, c);
	neon_vector(b, ARM64_AND, dst, dst, VEC_PART);
}

static void neon_compare_float(struct build *b, unsigned int a, struct value v,
			       enum predicate predicate, bool or_unordered)
{
	unsigned int c = neon_value(b, v);

	switch (predicate) {
	case COMPARE_LT:
		neon_vector(b, ARM64_FCMGT, VEC_COND, c, a);
		break;
	case COMPARE_LE:
		neon_vector(b, ARM64_FCMGE, VEC_COND, c, a);
		break;
	case COMPARE_GE:
		neon_vector(b, ARM64_FCMGE, VEC_COND, a, c);
		break;
	case COMPARE_GT:
		neon_vector(b, ARM64_FCMGT, VEC_COND, a, c);
		break;
	case COMPARE_UNORDERED:
		neon_ordered(b, VEC_COND, a, c);
		neon_unary(b, ARM64_NOT, VEC_COND, VEC_COND);
		break;
	default:
		neon_vector(b, ARM64_FCMEQ, VEC_COND, a, c);
	}
	if (!or_unordered)
		return;
	neon_ordered(b, VEC_RESULT, c, c);
	neon_vector(b, ARM64_ORN, VEC_COND, VEC_COND, VEC_RESULT);
}

static void neon_mask(struct build *b, enum mask_op op, enum mask dst, enum mask a, enum mask c)
{
	unsigned int d = neon_mask_vector(dst), x = neon_mask_vector(a);

	if (op == MASK_AND)
		neon_vector(b, ARM64_AND, d, x, neon_mask_vector(c));
	else if (op == MASK_AND_NOT)
		neon_vector(b, ARM64_BIC, d, neon_mask_vector(c), x);
	else
		neon_unary(b, ARM64_NOT, d, x);
}

static void neon_zero_levels(struct build *b, unsigned int vec)
{
	neon_shift(b, VECTOR_SHL_IMM, VEC_RESULT, vec, 16);
	neon_unary(b, ARM64_CMEQ_ZERO, VEC_EXEC, VEC_RESULT);
}

/* VEC_PART = bits of this turn's lanes, with which the pool begins: neon_enter() */
static void neon_load_bits(struct build *b)
{
	vagx_arm64(&b->code, ARM64_SUB_GPR, X_TEMP, X_TURN, GPR_SG);
	vagx_arm64(&b->code, ARM64_LOAD_128_AT, neon_register(VEC_PART), GPR_POOL, X_TEMP);
}

/* X_TEMP = the address of a field of the simdgroup, which can be far from its beginning */
static void neon_field(struct build *b, unsigned int offset)
{
	vagx_arm64_constant(&b->code, X_TEMP, offset);
	vagx_arm64(&b->code, ARM64_ADD_GPR, X_TEMP, X_TEMP, GPR_SG);
}

static void neon_valid(struct build *b)
{
	unsigned int scalar = neon_register(VEC_SCALAR);

	neon_field(b, OFFSET_OF(valid));
	vagx_arm64_imm(&b->code, ARM64_LOAD_FLOAT, scalar, X_TEMP, 0, 0);
	vagx_arm64(&b->code, ARM64_DUP, scalar, scalar, 0);
	neon_load_bits(b);
	neon_vector(b, ARM64_CMTST, VEC_RESULT, VEC_SCALAR, VEC_PART);
	neon_vector(b, ARM64_AND, VEC_EXEC, VEC_EXEC, VEC_RESULT);
}

static void neon_half_to_float(struct build *b, unsigned int dst, unsigned int words, bool upper)
{
	if (upper) {
		neon_shift(b, VECTOR_SHR_IMM, dst, words, 16);
		words = dst;
	}
	neon_unary(b, ARM64_XTN, dst, words);
	neon_unary(b, ARM64_FCVTL, dst, dst);
}

static void neon_float_to_half(struct build *b, unsigned int dst, unsigned int vec)
{
	/* a NaN becomes the one that there is */
	neon_unary(b, ARM64_FCVTN, dst, vec);
	neon_unary(b, ARM64_UXTL, dst, dst);
}

static void neon_round_to_half(struct build *b, enum mask mask, unsigned int dst, unsigned int vec)
{
	neon_unary(b, ARM64_FCVTN, vec, vec);
	neon_unary(b, ARM64_FCVTL, vagx_build_is_masked(b, mask) ? VEC_RESULT : dst, vec);
	if (vagx_build_is_masked(b, mask))
		neon_blend(b, mask, dst, VEC_RESULT);
}

/*
 * It is rounded "to odd" in 32 bits, toward zero with the last bit set if anything was lost, so
 * that rounding it to a half is as good as rounding once. The product of halves is exact, and so is
 * what the sum loses (Knuth's TwoSum). If that has the sum's sign, the odd neighbour is away
 * from zero.
 */
static void neon_half_fma(struct build *b, enum mask mask, unsigned int dst, unsigned int t,
			  unsigned int x, unsigned int y)
{
	const unsigned int product = VEC_SCRATCH, sum = VEC_RESULT, part = VEC_SCALAR;
	const unsigned int lost = VEC_LEVEL, step = VEC_LEVEL;

	neon_vector(b, ARM64_FMUL, product, x, y);
	neon_vector(b, ARM64_FADD, sum, product, t);
	neon_vector(b, ARM64_FSUB, part, sum, product);
	neon_vector(b, ARM64_FSUB, lost, sum, part);
	neon_vector(b, ARM64_FSUB, lost, product, lost);
	neon_vector(b, ARM64_FSUB, part, t, part);
	neon_vector(b, ARM64_FADD, lost, lost, part);
	/* nothing is lost of what is infinite or no number: this is no number then */
	neon_vector(b, ARM64_EOR, part, part, part);
	neon_vector(b, ARM64_FCMGT, VEC_COND, lost, part);
	neon_vector(b, ARM64_FCMGT, part, part, lost);
	neon_vector(b, ARM64_ORR, VEC_COND, VEC_COND, part);
	/* one down if what is lost has another sign; then the last bit is set */
	neon_vector(b, ARM64_EOR, step, lost, sum);
	neon_shift(b, VECTOR_SAR_IMM, step, step, 31);
	neon_vector(b, ARM64_AND, step, step, VEC_COND);
	neon_vector(b, ARM64_ADD, t, sum, step);
	neon_shift(b, VECTOR_SHR_IMM, VEC_COND, VEC_COND, 31);
	neon_vector(b, ARM64_ORR, t, t, VEC_COND);
	neon_round_to_half(b, mask, dst, t);
}

/* The instructions of a wide program, which have two sources */
static const uint8_t neon_wide_ops[] = {
	[WIDE_ADD] = ARM64_FADD64, [WIDE_SUB] = ARM64_FSUB64, [WIDE_MUL] = ARM64_FMUL64,
	[WIDE_DIV] = ARM64_FDIV64, [WIDE_ADD_BITS] = ARM64_ADD64, [WIDE_SUB_BITS] = ARM64_SUB64,
	[WIDE_AND] = ARM64_AND, [WIDE_OR] = ARM64_ORR,
};

static void neon_broadcast64(struct build *b, unsigned int dst, uint64_t bits)
{
	struct value v = vagx_build_constant64(b, bits);
	unsigned int d = neon_register(dst);

	/* it is no multiple of its size away from the pool's beginning */
	vagx_arm64_constant(&b->code, X_TEMP, (uint32_t)v.disp);
	vagx_arm64(&b->code, ARM64_LOAD_DOUBLE_AT, d, v.base, X_TEMP);
	vagx_arm64(&b->code, ARM64_DUP64, d, d, 0);
}

/* A step of a wide program; @reg: vectors that are its registers */
static void neon_wide_step(struct build *b, const struct wide_step *s, const uint8_t reg[4])
{
	unsigned int dst = reg[s->dst], a = reg[s->a], c = VEC_SCALAR;

	switch (s->op) {
	case WIDE_SET:
		neon_broadcast64(b, dst, s->imm);
		break;
	case WIDE_SQRT:
		neon_unary(b, ARM64_FSQRT64, dst, a);
		break;
	case WIDE_SHL:
	case WIDE_SHR:
		vagx_arm64_imm(&b->code, s->op == WIDE_SHL ? ARM64_SHL64 : ARM64_USHR64,
			       neon_register(dst), neon_register(a), 0, (unsigned int)s->imm);
		break;
	default:
		if (s->b == WIDE_IMM)
			neon_broadcast64(b, VEC_SCALAR, s->imm);
		else
			c = reg[s->b];
		neon_vector(b, neon_wide_ops[s->op], dst, a, c);
	}
}

/* Two lanes at a time */
static void neon_wide(struct build *b, const struct wide_program *p, unsigned int dst,
		      unsigned int src, unsigned int work)
{
	const uint8_t reg[4] = { VEC_SCRATCH, VEC_RESULT, (uint8_t)work, VEC_LEVEL };
	unsigned int part, i;

	for (part = 0; part < 2; part++) {
		enum arm64_op widen = part ? ARM64_FCVTL2_64 : ARM64_FCVTL64;

		neon_unary(b, widen, reg[0], src);
		for (i = 0; i < p->count; i++) {
			if (p->steps[i].op == WIDE_START)
				neon_unary(b, widen, reg[p->steps[i].dst], src);
			else
				neon_wide_step(b, &p->steps[i], reg);
		}
		neon_unary(b, part ? ARM64_FCVTN2_64 : ARM64_FCVTN64, dst, reg[0]);
	}
}

/* No result is special */
static void neon_watch(struct build *b, unsigned int vec)
{
	(void)b;
	(void)vec;
}

static void neon_load(struct build *b, unsigned int vec, unsigned int reg)
{
	vagx_arm64_imm(&b->code, ARM64_LOAD_128, neon_register(vec), X_TURN, 0,
		       (unsigned int)vagx_build_register_disp(reg));
}

static void neon_store(struct build *b, unsigned int vec, unsigned int reg)
{
	vagx_arm64_imm(&b->code, ARM64_STORE_128, neon_register(vec), X_TURN, 0,
		       (unsigned int)vagx_build_register_disp(reg));
}

/* The turn has one quad, of whose pointer it has half as many bytes */
static void neon_coefficient(struct build *b, unsigned int dst, unsigned int word)
{
	_Static_assert(TURN == 2 * sizeof(void *), "a turn has one pointer, of half of the bytes");
	vagx_arm64(&b->code, ARM64_SUB_GPR, X_TEMP, X_TURN, GPR_SG);
	vagx_arm64_imm(&b->code, ARM64_LSR_IMM, X_TEMP, X_TEMP, 0, 1);
	vagx_arm64(&b->code, ARM64_ADD_GPR, X_TEMP, X_TEMP, GPR_SG);
	vagx_arm64_imm(&b->code, ARM64_LOAD_64, X_TEMP, X_TEMP, 0, OFFSET_OF(planes));
	vagx_arm64_imm(&b->code, ARM64_LOAD_FLOAT, neon_register(dst), X_TEMP, 0,
		       word * (unsigned int)sizeof(uint32_t));
	vagx_arm64(&b->code, ARM64_DUP, neon_register(dst), neon_register(dst), 0);
}

static void neon_begin(struct build *b)
{
	vagx_arm64(&b->code, ARM64_MOV_GPR, X_TURN, 0, GPR_SG);
	vagx_arm64_imm(&b->code, ARM64_ADD_IMM, X_END, GPR_SG, 0, TURNS);
	vagx_arm64_constant(&b->code, X_BITS, 0);
	b->segment_start = b->code.length;
	vagx_arm64_imm(&b->code, ARM64_LOAD_128, neon_register(VEC_EXEC), X_TURN, 0,
		       OFFSET_OF(mask));
}

/* X_BITS gets the bits of this turn's lanes of a mask */
static void neon_add_bits(struct build *b, unsigned int mask)
{
	unsigned int part = neon_register(VEC_PART);

	neon_load_bits(b);
	neon_vector(b, ARM64_AND, VEC_PART, VEC_PART, mask);
	vagx_arm64(&b->code, ARM64_ADDV, part, part, 0);
	vagx_arm64(&b->code, ARM64_FMOV_TO_GPR, X_TEMP, part, 0);
	vagx_arm64(&b->code, ARM64_ADD_GPR, X_BITS, X_BITS, X_TEMP);
}

/* Keeps the execution mask of this turn's lanes, and their bits */
static void neon_store_exec(struct build *b)
{
	vagx_arm64_imm(&b->code, ARM64_STORE_128, neon_register(VEC_EXEC), X_TURN, 0,
		       OFFSET_OF(mask));
	neon_add_bits(b, VEC_EXEC);
}

/* The end of a turn */
static void neon_end_turn(struct build *b)
{
	unsigned int i;

	vagx_build_settle(b);
	for (i = 0; i < b->vectors->cached; i++) {
		if (b->cache[i].reg >= 0 && b->cache[i].dirty)
			neon_store(b, VEC_CACHE + i, (unsigned int)b->cache[i].reg);
	}
	if (b->exec_changed)
		neon_store_exec(b);
	vagx_arm64_imm(&b->code, ARM64_ADD_IMM, X_TURN, X_TURN, 0, TURN);
	vagx_arm64(&b->code, ARM64_CMP_GPR, 0, X_TURN, X_END);
	vagx_arm64_set_target(&b->code, vagx_arm64_jump_if(&b->code, ARM64_NOT_EQUAL),
			      b->segment_start);
}

/* If it has changed, its bits are kept behind the last turn */
static void neon_end(struct build *b, uint32_t next)
{
	(void)next;
	neon_end_turn(b);
	if (!b->exec_changed)
		return;
	neon_field(b, OFFSET_OF(exec));
	vagx_arm64_imm(&b->code, ARM64_STORE_32, X_BITS, X_TEMP, 0, 0);
}

static void neon_vote(struct build *b)
{
	neon_vector(b, ARM64_AND, VEC_COND, VEC_COND, VEC_EXEC);
	neon_add_bits(b, VEC_COND);
	neon_end_turn(b);
	neon_field(b, OFFSET_OF(votes));
	vagx_arm64_imm(&b->code, ARM64_STORE_32, X_BITS, X_TEMP, 0, 0);
	vagx_build_forget(b);
	vagx_build_begin(b);
}

/* GPR_ACTIVE = the number of active lanes, of bits in X_BITS */
static void neon_count_active(struct build *b)
{
	unsigned int part = neon_register(VEC_PART);

	vagx_arm64(&b->code, ARM64_FMOV_FROM_GPR, part, X_BITS, 0);
	vagx_arm64(&b->code, ARM64_CNT, part, part, 0);
	vagx_arm64(&b->code, ARM64_ADDV8, part, part, 0);
	vagx_arm64(&b->code, ARM64_FMOV_TO_GPR, GPR_ACTIVE, part, 0);
}

static void neon_set_active(struct build *b)
{
	neon_count_active(b);
	neon_field(b, OFFSET_OF(active));
	vagx_arm64_imm(&b->code, ARM64_STORE_32, GPR_ACTIVE, X_TEMP, 0, 0);
}

static void neon_enter(struct build *b)
{
	unsigned int i;

	/* the first constants of the program, in this order */
	for (i = 0; i < LANES; i++)
		vagx_build_constant(b, 1u << i);
	neon_field(b, OFFSET_OF(exec));
	vagx_arm64_imm(&b->code, ARM64_LOAD_32, X_BITS, X_TEMP, 0, 0);
	neon_count_active(b);
}

static void neon_test_exec(struct build *b)
{
	vagx_host_test_field(b, OFFSET_OF(exec));
}

/* All of the execution mask is in memory */
static void neon_nothing(struct build *b)
{
	(void)b;
}

const struct vectors vagx_vectors_neon = {
	.cached = VEC_SCALAR - VEC_CACHE,
	.has_unsigned = true,
	.one_nan = true,
	.memory = vagx_memory_find,
	.enter = neon_enter,
	.before_call = neon_nothing,
	.after_call = neon_nothing,
	.set_active = neon_set_active,
	.test_exec = neon_test_exec,
	.begin = neon_begin,
	.end = neon_end,
	.replay = neon_nothing,
	.load = neon_load,
	.coefficient = neon_coefficient,
	.store = neon_store,
	.op = neon_op,
	.op_imm = neon_op_imm,
	.copy = neon_copy,
	.copy_scalar = neon_copy_scalar,
	.constant = neon_constant,
	.insert = neon_insert,
	.truth = neon_truth,
	.quad = neon_quad,
	.vote = neon_vote,
	.mul_upper = neon_mul_upper,
	.compare_int = neon_compare_int,
	.compare_float = neon_compare_float,
	.mask = neon_mask,
	.zero_levels = neon_zero_levels,
	.valid = neon_valid,
	.half_to_float = neon_half_to_float,
	.float_to_half = neon_float_to_half,
	.round_to_half = neon_round_to_half,
	.half_fma = neon_half_fma,
	.wide = neon_wide,
	.watch = neon_watch,
};
