// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * AVX2: a vector is one register of eight lanes. The code of a segment is a loop over the four
 * eighths of lanes, whose registers and masks it addresses by RCX, in bytes. No instruction of a
 * segment looks at other lanes, so their order does not matter. Registers are loaded in each
 * segment anew.
 *
 * Where lanes had a special result, those before them have reached memory already: they are
 * left out when the interpreter does the segment again.
 */
#include "build.h"
#include "x86_names.h"

#define OFFSET_OF(field)	((int32_t)offsetof(struct simdgroup, field))

/* Registers behind the cache: for operands that are no vectors, for results before they are
 * blended, and masks */
#define VEC_SCALAR	10
#define VEC_RESULT	11
#define VEC_EXEC	12
/* lanes with special results in this segment */
#define VEC_SPECIAL	13
#define VEC_COND	14
#define VEC_LEVEL	15

/* Bytes of the lanes of one turn of the loop, and of all of them */
#define TURN		32
#define TURNS		128

static unsigned int avx2_mask_register(enum mask mask)
{
	return mask == MASK_EXEC ? VEC_EXEC : mask == MASK_COND ? VEC_COND : VEC_LEVEL;
}

static void avx2_narrow(struct build *b, enum x86_narrow op, unsigned int dst, unsigned int a,
			unsigned int c)
{
	vagx_x86_narrow(&b->code, op, dst, a, X86_REG(c));
}

static void avx2_vector(struct build *b, enum x86_vector op, unsigned int dst, unsigned int a,
			unsigned int c)
{
	vagx_x86_256(&b->code, op, dst, a, X86_REG(c));
}

static void avx2_broadcast(struct build *b, unsigned int dst, struct value v)
{
	vagx_x86_256(&b->code, X86_BROADCAST, dst, 0, X86_MEMORY(v.base, v.disp));
}

static void avx2_broadcast_constant(struct build *b, unsigned int dst, uint32_t bits)
{
	avx2_broadcast(b, dst, vagx_build_constant(b, bits));
}

/* The register that has a value: its own, or VEC_SCALAR */
static unsigned int avx2_register(struct build *b, struct value v)
{
	if (!v.is_scalar)
		return v.vec;
	avx2_broadcast(b, VEC_SCALAR, v);
	return VEC_SCALAR;
}

/* @dst = @v where a mask register is set */
static void avx2_blend(struct build *b, unsigned int mask, unsigned int dst, unsigned int v)
{
	vagx_x86_narrow_imm(&b->code, X86_256_BLEND_MASK, dst, dst, X86_REG(v), mask << 4);
}

/* @dst = ~@dst; changes VEC_RESULT */
static void avx2_invert(struct build *b, unsigned int dst)
{
	avx2_narrow(b, X86_256_CMPEQ, VEC_RESULT, VEC_RESULT, VEC_RESULT);
	avx2_vector(b, X86_XOR, dst, dst, VEC_RESULT);
}

static bool avx2_reads_destination(enum vector_op op)
{
	return op == VECTOR_FMA132 || op == VECTOR_FMA213 || op == VECTOR_FMA231;
}

static void avx2_op(struct build *b, enum vector_op op, enum mask mask, unsigned int dst,
		    unsigned int a, struct value v)
{
	enum x86_vector row = vagx_x86_of_op(op);
	unsigned int c = avx2_register(b, v);

	if (!vagx_build_is_masked(b, mask)) {
		avx2_vector(b, row, dst, a, c);
		return;
	}
	if (avx2_reads_destination(op))
		avx2_vector(b, X86_LOAD, VEC_RESULT, 0, dst);
	avx2_vector(b, row, VEC_RESULT, a, c);
	avx2_blend(b, avx2_mask_register(mask), dst, VEC_RESULT);
}

static void avx2_op_imm(struct build *b, enum vector_op op, enum mask mask, unsigned int dst,
			unsigned int a, struct value v, unsigned int imm)
{
	unsigned int c = avx2_register(b, v);
	unsigned int to = vagx_build_is_masked(b, mask) ? VEC_RESULT : dst;

	vagx_x86_256_imm(&b->code, vagx_x86_of_op(op), to, a, X86_REG(c), vagx_x86_of_imm(op, imm));
	if (vagx_build_is_masked(b, mask))
		avx2_blend(b, avx2_mask_register(mask), dst, VEC_RESULT);
}

static void avx2_copy(struct build *b, enum mask mask, unsigned int dst, struct value v)
{
	if (vagx_build_is_masked(b, mask))
		avx2_blend(b, avx2_mask_register(mask), dst, avx2_register(b, v));
	else if (v.is_scalar)
		avx2_broadcast(b, dst, v);
	else
		avx2_vector(b, X86_LOAD, dst, 0, v.vec);
}

static void avx2_copy_scalar(struct build *b, unsigned int dst)
{
	/* vmovd xmm, eax: of the first eight registers */
	const uint8_t code[] = { 0xc5, 0xf9, 0x6e, (uint8_t)(0xc0 | dst << 3) };

	vagx_buf_bytes(&b->code, code, sizeof(code));
	avx2_vector(b, X86_BROADCAST, dst, 0, dst);
}

static void avx2_constant(struct build *b, enum mask mask, unsigned int dst, uint32_t bits)
{
	avx2_broadcast_constant(b, dst, bits);
	avx2_vector(b, X86_AND, dst, dst, avx2_mask_register(mask));
}

/* The same for halves of words, which have an instruction */
static void avx2_insert_half(struct build *b, enum mask mask, unsigned int dst, unsigned int v,
			     bool upper)
{
	unsigned int to = vagx_build_is_masked(b, mask) ? VEC_RESULT : dst;

	vagx_x86_narrow_imm(&b->code, X86_256_BLEND16, to, dst, X86_REG(v), upper ? 0xaa : 0x55);
	if (vagx_build_is_masked(b, mask))
		avx2_blend(b, avx2_mask_register(mask), dst, VEC_RESULT);
}

static void avx2_insert(struct build *b, enum mask mask, unsigned int dst, unsigned int v,
			uint32_t bits)
{
	if (bits == 0xffff || bits == 0xffff0000) {
		avx2_insert_half(b, mask, dst, v, bits != 0xffff);
		return;
	}
	avx2_broadcast_constant(b, VEC_SCALAR, bits);
	avx2_vector(b, X86_AND, VEC_RESULT, v, VEC_SCALAR);
	avx2_narrow(b, X86_256_ANDN, VEC_SCALAR, VEC_SCALAR, dst);
	if (!vagx_build_is_masked(b, mask)) {
		avx2_vector(b, X86_OR, dst, VEC_RESULT, VEC_SCALAR);
		return;
	}
	avx2_vector(b, X86_OR, VEC_RESULT, VEC_RESULT, VEC_SCALAR);
	avx2_blend(b, avx2_mask_register(mask), dst, VEC_RESULT);
}

/* Each table that is no instruction itself is the complement of one */
static void avx2_truth(struct build *b, unsigned int dst, unsigned int a, struct value v,
		       unsigned int table)
{
	unsigned int c = avx2_register(b, v), odd = table & 1;

	switch (odd ? ~table & 15 : table) {
	case 2:
		avx2_narrow(b, X86_256_ANDN, dst, c, a);
		break;
	case 4:
		avx2_narrow(b, X86_256_ANDN, dst, a, c);
		break;
	case 6:
		avx2_vector(b, X86_XOR, dst, a, c);
		break;
	case 8:
		avx2_vector(b, X86_AND, dst, a, c);
		break;
	case 14:
		avx2_vector(b, X86_OR, dst, a, c);
		break;
	default:
		/* of the first source alone */
		avx2_vector(b, X86_LOAD, dst, 0, a);
	}
	if (odd)
		avx2_invert(b, dst);
}

static void avx2_quad(struct build *b, unsigned int dst, unsigned int src, unsigned int order)
{
	vagx_x86_256_imm(&b->code, X86_SHUFFLE, dst, 0, X86_REG(src), order);
}

/* As avx512_mul_upper() */
static void avx2_mul_upper(struct build *b, unsigned int dst, unsigned int x, unsigned int y)
{
	avx2_vector(b, X86_MUL_EVEN, dst, x, y);
	vagx_x86_256_imm(&b->code, X86_SHUFFLE, VEC_RESULT, 0, X86_REG(x), 0xb1);
	vagx_x86_256_imm(&b->code, X86_SHUFFLE, VEC_SCALAR, 0, X86_REG(y), 0xb1);
	avx2_vector(b, X86_MUL_EVEN, VEC_RESULT, VEC_RESULT, VEC_SCALAR);
	vagx_x86_256_imm(&b->code, X86_SHUFFLE_PAIRS, dst, dst, X86_REG(VEC_RESULT), 0xdd);
	vagx_x86_256_imm(&b->code, X86_SHUFFLE, dst, 0, X86_REG(dst), 0xd8);
}

/* Greater is the only order that there is, of signed numbers */
static void avx2_compare_int(struct build *b, enum mask mask, bool is_signed, unsigned int a,
			     struct value v, enum predicate predicate)
{
	unsigned int m = avx2_mask_register(mask), c = avx2_register(b, v);
	bool equality = predicate == COMPARE_EQ || predicate == COMPARE_NE;

	if (!is_signed && !equality) {
		avx2_broadcast_constant(b, m, 0x80000000);
		avx2_vector(b, X86_XOR, VEC_SCALAR, c, m);
		avx2_vector(b, X86_XOR, VEC_RESULT, a, m);
		c = VEC_SCALAR;
		a = VEC_RESULT;
	}
	if (equality)
		avx2_narrow(b, X86_256_CMPEQ, m, a, c);
	else if (predicate == COMPARE_GT || predicate == COMPARE_LE)
		avx2_narrow(b, X86_256_CMPGT, m, a, c);
	else
		avx2_narrow(b, X86_256_CMPGT, m, c, a);
	if (predicate == COMPARE_NE || predicate == COMPARE_LE || predicate == COMPARE_GE)
		avx2_invert(b, m);
}

static void avx2_compare(struct build *b, unsigned int dst, unsigned int a, unsigned int c,
			 enum x86_float_predicate predicate)
{
	vagx_x86_256_imm(&b->code, X86_CMP_FLOAT, dst, a, X86_REG(c), predicate);
}

static void avx2_compare_float(struct build *b, unsigned int a, struct value v,
			       enum predicate predicate, bool or_unordered)
{
	unsigned int c = avx2_register(b, v);

	avx2_compare(b, VEC_COND, a, c, vagx_x86_of_float_predicate(predicate));
	if (!or_unordered)
		return;
	avx2_compare(b, VEC_RESULT, c, c, X86_FLOAT_UNORDERED);
	avx2_vector(b, X86_OR, VEC_COND, VEC_COND, VEC_RESULT);
}

static void avx2_mask(struct build *b, enum mask_op op, enum mask dst, enum mask a, enum mask c)
{
	unsigned int d = avx2_mask_register(dst), x = avx2_mask_register(a);

	if (op == MASK_AND) {
		avx2_vector(b, X86_AND, d, x, avx2_mask_register(c));
	} else if (op == MASK_AND_NOT) {
		avx2_narrow(b, X86_256_ANDN, d, x, avx2_mask_register(c));
	} else {
		if (d != x)
			avx2_vector(b, X86_LOAD, d, 0, x);
		avx2_invert(b, d);
	}
}

static void avx2_zero_levels(struct build *b, unsigned int vec)
{
	avx2_broadcast_constant(b, VEC_SCALAR, 0xffff);
	avx2_vector(b, X86_AND, VEC_RESULT, vec, VEC_SCALAR);
	avx2_vector(b, X86_XOR, VEC_SCALAR, VEC_SCALAR, VEC_SCALAR);
	avx2_narrow(b, X86_256_CMPEQ, VEC_EXEC, VEC_RESULT, VEC_SCALAR);
}

/* Memory of the lanes of this turn */
static struct x86_rm avx2_turn(unsigned int base, int32_t disp)
{
	struct x86_rm rm = X86_MEMORY(base, disp);

	rm.is_indexed = true;
	return rm;
}

/* The pool begins with the bits of the lanes: avx2_enter() */
static void avx2_valid(struct build *b)
{
	avx2_broadcast(b, VEC_SCALAR, (struct value){ .base = GPR_SG, .disp = OFFSET_OF(valid) });
	vagx_x86_256(&b->code, X86_AND, VEC_RESULT, VEC_SCALAR, avx2_turn(GPR_POOL, 0));
	vagx_x86_narrow(&b->code, X86_256_CMPEQ, VEC_RESULT, VEC_RESULT, avx2_turn(GPR_POOL, 0));
	avx2_vector(b, X86_AND, VEC_EXEC, VEC_EXEC, VEC_RESULT);
}

static void avx2_half_to_float(struct build *b, unsigned int dst, unsigned int words, bool upper)
{
	/* bytes of the halves of four words, in their order */
	struct value order = vagx_build_constant64(b, upper ? 0x0f0e0b0a07060302ULL :
							      0x0d0c090805040100ULL);

	/* in each half of the register twice; then in its lower half */
	vagx_x86_256(&b->code, X86_BROADCAST64, VEC_SCALAR, 0, X86_MEMORY(order.base, order.disp));
	avx2_narrow(b, X86_256_SHUFFLE_BYTES, dst, words, VEC_SCALAR);
	vagx_x86_narrow_imm(&b->code, X86_256_PERMUTE64, dst, 0, X86_REG(dst), 8);
	avx2_vector(b, X86_HALF_TO_FLOAT, dst, 0, dst);
}

/* @vec = @bits in lanes of VEC_RESULT */
static void avx2_replace(struct build *b, unsigned int vec, uint32_t bits)
{
	avx2_broadcast_constant(b, VEC_SCALAR, bits);
	avx2_blend(b, VEC_RESULT, vec, VEC_SCALAR);
}

static void avx2_replace_nans(struct build *b, unsigned int vec)
{
	avx2_compare(b, VEC_RESULT, vec, vec, X86_FLOAT_UNORDERED);
	avx2_vector(b, X86_AND, VEC_RESULT, VEC_RESULT, VEC_EXEC);
	avx2_replace(b, vec, 0x7fc00000);
}

static void avx2_float_to_half(struct build *b, unsigned int dst, unsigned int vec)
{
	avx2_compare(b, VEC_RESULT, vec, vec, X86_FLOAT_UNORDERED);
	/* to nearest even; to the lower half of the register, then to words */
	vagx_x86_256_imm(&b->code, X86_FLOAT_TO_HALF, vec, 0, X86_REG(dst), 0);
	avx2_vector(b, X86_EXTEND16, dst, 0, dst);
	avx2_replace(b, dst, 0x7e00);
}

static void avx2_round_to_half(struct build *b, enum mask mask, unsigned int dst, unsigned int vec)
{
	vagx_x86_256_imm(&b->code, X86_FLOAT_TO_HALF, vec, 0, X86_REG(vec), 0);
	avx2_vector(b, X86_HALF_TO_FLOAT, vagx_build_is_masked(b, mask) ? VEC_RESULT : dst, 0, vec);
	if (vagx_build_is_masked(b, mask))
		avx2_blend(b, avx2_mask_register(mask), dst, VEC_RESULT);
}

/*
 * It is rounded "to odd" in 32 bits, toward zero with the last bit set if anything was lost, so
 * that rounding it to a half is as good as rounding once. The product of halves is exact, and so is
 * what the sum loses (Knuth's TwoSum). If that has the sum's sign, the odd neighbour is away
 * from zero.
 */
static void avx2_half_fma(struct build *b, enum mask mask, unsigned int dst, unsigned int t,
			  unsigned int x, unsigned int y)
{
	const unsigned int product = VEC_SCRATCH, sum = VEC_RESULT, part = VEC_SCALAR;
	const unsigned int lost = VEC_LEVEL, step = VEC_LEVEL;

	avx2_vector(b, X86_FMUL, product, x, y);
	avx2_vector(b, X86_FADD, sum, product, t);
	avx2_vector(b, X86_FSUB, part, sum, product);
	avx2_vector(b, X86_FSUB, lost, sum, part);
	avx2_vector(b, X86_FSUB, lost, product, lost);
	avx2_vector(b, X86_FSUB, part, t, part);
	avx2_vector(b, X86_FADD, lost, lost, part);
	/* nothing is lost of what is infinite or no number: this is no number then */
	avx2_vector(b, X86_XOR, part, part, part);
	avx2_compare(b, VEC_COND, lost, part, X86_FLOAT_NEQ);
	/* one down if what is lost has another sign; then the last bit is set */
	avx2_vector(b, X86_XOR, step, lost, sum);
	vagx_x86_256_imm(&b->code, X86_SAR_IMM, step, 0, X86_REG(step), 31);
	avx2_vector(b, X86_AND, step, step, VEC_COND);
	avx2_vector(b, X86_ADD, t, sum, step);
	vagx_x86_256_imm(&b->code, X86_SHR_IMM, VEC_COND, 0, X86_REG(VEC_COND), 31);
	avx2_vector(b, X86_OR, t, t, VEC_COND);
	avx2_round_to_half(b, mask, dst, t);
}

/* The host's instructions of a wide program, which have two sources */
static const uint8_t avx2_wide_ops[] = {
	[WIDE_ADD] = X86_FADD64, [WIDE_SUB] = X86_FSUB64, [WIDE_MUL] = X86_FMUL64,
	[WIDE_DIV] = X86_FDIV64, [WIDE_ADD_BITS] = X86_ADD64, [WIDE_SUB_BITS] = X86_SUB64,
	[WIDE_AND] = X86_AND, [WIDE_OR] = X86_OR,
};

/* Puts four lanes of a vector into a register, as floats of 64 bits */
static void avx2_widen(struct build *b, unsigned int dst, unsigned int src, unsigned int part)
{
	if (part) {
		vagx_x86_narrow_imm(&b->code, X86_256_EXTRACT_UPPER, src, 0, X86_REG(dst), 1);
		src = dst;
	}
	avx2_vector(b, X86_TO_FLOAT64, dst, 0, src);
}

/* A step of a wide program; @reg: the host's registers */
static void avx2_wide_step(struct build *b, const struct wide_step *s, const uint8_t reg[4])
{
	struct value imm = vagx_build_constant64(b, s->imm);
	unsigned int source = s->b == WIDE_IMM ? VEC_SCALAR : reg[s->b];

	if (s->b == WIDE_IMM)
		vagx_x86_256(&b->code, X86_BROADCAST64, s->op == WIDE_SET ? reg[s->dst] : source, 0,
			     X86_MEMORY(imm.base, imm.disp));
	switch (s->op) {
	case WIDE_SET:
		break;
	case WIDE_SQRT:
		avx2_vector(b, X86_FSQRT64, reg[s->dst], 0, reg[s->a]);
		break;
	case WIDE_SHL:
	case WIDE_SHR:
		vagx_x86_256_imm(&b->code, s->op == WIDE_SHL ? X86_SHL64_IMM : X86_SHR64_IMM,
				 reg[s->dst], 0, X86_REG(reg[s->a]), (unsigned int)s->imm);
		break;
	default:
		avx2_vector(b, avx2_wide_ops[s->op], reg[s->dst], reg[s->a], source);
	}
}

static void avx2_wide(struct build *b, const struct wide_program *p, unsigned int dst,
		      unsigned int src, unsigned int work)
{
	const uint8_t reg[4] = { VEC_SCRATCH, VEC_RESULT, (uint8_t)work, VEC_LEVEL };
	unsigned int part, i;

	for (part = 0; part < 2; part++) {
		avx2_widen(b, reg[0], src, part);
		for (i = 0; i < p->count; i++) {
			if (p->steps[i].op == WIDE_START)
				avx2_widen(b, reg[p->steps[i].dst], src, part);
			else
				avx2_wide_step(b, &p->steps[i], reg);
		}
		avx2_vector(b, X86_FROM_FLOAT64, part ? reg[0] : dst, 0, reg[0]);
		if (part)
			vagx_x86_narrow_imm(&b->code, X86_256_INSERT_UPPER, dst, dst,
					    X86_REG(reg[0]), 1);
	}
}

static void avx2_watch(struct build *b, unsigned int vec)
{
	if (!b->watching)
		avx2_vector(b, X86_XOR, VEC_SPECIAL, VEC_SPECIAL, VEC_SPECIAL);
	/* the sign is shifted out */
	avx2_vector(b, X86_ADD, VEC_RESULT, vec, vec);
	avx2_broadcast_constant(b, VEC_SCALAR, 0x00800000u << 1);
	avx2_narrow(b, X86_256_CMPEQ, VEC_RESULT, VEC_RESULT, VEC_SCALAR);
	avx2_vector(b, X86_OR, VEC_SPECIAL, VEC_SPECIAL, VEC_RESULT);
	b->watching = true;
}

/* A jump that is taken if any bit of a register is set in an active lane */
static size_t avx2_jump_if_any(struct build *b, unsigned int vec)
{
	avx2_narrow(b, X86_256_TEST, vec, 0, VEC_EXEC);
	return vagx_x86_jump_if(&b->code, X86_NOT_EQUAL);
}

/* If an active lane had a special result the interpreter does the segment again from its turn on */
static void avx2_test_special(struct build *b, uint32_t next)
{
	size_t at = avx2_jump_if_any(b, VEC_SPECIAL);

	vagx_build_add_fixup(b, (struct fixup){
		.kind = FIXUP_REPLAY,
		.at = (uint32_t)at,
		.pc = b->segment,
		.count = next - b->segment,
	});
}

/* Replaces NaNs before registers are stored: there are hardly ever any */
static void avx2_canonicalize(struct build *b)
{
	uint32_t vectors = vagx_build_take_raw(b), left = vectors;
	unsigned int x, y;

	if (!vectors)
		return;
	avx2_vector(b, X86_XOR, VEC_RESULT, VEC_RESULT, VEC_RESULT);
	while (left) {
		x = vagx_build_next_vector(&left);
		y = left ? vagx_build_next_vector(&left) : x;
		avx2_compare(b, VEC_SCALAR, x, y, X86_FLOAT_UNORDERED);
		avx2_vector(b, X86_OR, VEC_RESULT, VEC_RESULT, VEC_SCALAR);
	}
	vagx_build_add_fixup(b, (struct fixup){
		.kind = FIXUP_NANS,
		.at = (uint32_t)avx2_jump_if_any(b, VEC_RESULT),
		.vectors = vectors,
	});
}

static void avx2_nans(struct build *b, const struct fixup *fixup)
{
	uint32_t vectors = fixup->vectors;

	while (vectors)
		avx2_replace_nans(b, vagx_build_next_vector(&vectors));
	vagx_x86_set_target(&b->code, vagx_x86_jump(&b->code), fixup->at + 4);
}

static void avx2_load(struct build *b, unsigned int vec, unsigned int reg)
{
	vagx_x86_256(&b->code, X86_LOAD, vec, 0,
		     avx2_turn(GPR_SG, vagx_build_register_disp(reg)));
}

static void avx2_store(struct build *b, unsigned int vec, unsigned int reg)
{
	vagx_x86_256(&b->code, X86_STORE, vec, 0,
		     avx2_turn(GPR_SG, vagx_build_register_disp(reg)));
}

/* The turn has two quads: R8 and R9 get their coefficient registers, once in a segment */
static void avx2_find_planes(struct build *b)
{
	_Static_assert(TURN == 4 * sizeof(void *), "a turn has two pointers, for half of the bytes");
	if (b->has_planes)
		return;
	vagx_buf_bytes(&b->code, "\x89\xc8\xd1\xe8", 4);	/* mov eax, ecx; shr eax, 1 */
	vagx_buf_bytes(&b->code, "\x4c\x8b\x84\x03", 4);	/* mov r8, [rbx + rax + ...] */
	vagx_buf_word(&b->code, (uint32_t)OFFSET_OF(planes));
	vagx_buf_bytes(&b->code, "\x4c\x8b\x8c\x03", 4);	/* mov r9, [rbx + rax + ...] */
	vagx_buf_word(&b->code, (uint32_t)(OFFSET_OF(planes) + (int32_t)sizeof(void *)));
	b->has_planes = true;
}

static void avx2_coefficient(struct build *b, unsigned int dst, unsigned int word)
{
	const int32_t disp = (int32_t)(word * sizeof(uint32_t));

	avx2_find_planes(b);
	vagx_x86_256(&b->code, X86_BROADCAST, dst, 0, X86_MEMORY(X86_R8, disp));
	vagx_x86_256(&b->code, X86_BROADCAST, VEC_SCALAR, 0, X86_MEMORY(X86_R9, disp));
	vagx_x86_narrow_imm(&b->code, X86_256_INSERT_UPPER, dst, dst, X86_REG(VEC_SCALAR), 1);
}

static void avx2_begin(struct build *b)
{
	vagx_buf_bytes(&b->code, "\x31\xc9", 2);		/* xor ecx, ecx */
	b->segment_start = b->code.length;
	b->has_planes = false;
	vagx_x86_256(&b->code, X86_LOAD, VEC_EXEC, 0, avx2_turn(GPR_SG, OFFSET_OF(mask)));
	/* eight lanes that are all off are left out */
	b->segment_skip = 0;
	if (b->changes_exec && (b->version == VERSION_MASKED || b->in_flow)) {
		avx2_narrow(b, X86_256_TEST, VEC_EXEC, 0, VEC_EXEC);
		b->segment_skip = vagx_x86_jump_if(&b->code, X86_EQUAL);
	}
}

/*
 * Keeps the execution mask of this turn's lanes. ESI gets their bits: after four turns, none of
 * which has been left out, it has those of all lanes. The processor would wait for a word that had
 * been stored as bytes.
 */
static void avx2_store_exec(struct build *b)
{
	vagx_x86_256(&b->code, X86_STORE, VEC_EXEC, 0, avx2_turn(GPR_SG, OFFSET_OF(mask)));
	avx2_narrow(b, X86_256_SIGNS, X86_RAX, 0, VEC_EXEC);
	vagx_buf_bytes(&b->code, "\xc1\xee\x08\xc1\xe0\x18", 6);	/* shr esi, 8; shl eax, 24 */
	vagx_buf_bytes(&b->code, "\x09\xc6", 2);		/* or esi, eax */
}

static void avx2_end(struct build *b, uint32_t next)
{
	unsigned int i;

	if (b->watching)
		avx2_test_special(b, next);
	vagx_build_settle(b);
	avx2_canonicalize(b);
	for (i = 0; i < b->vectors->cached; i++) {
		if (b->cache[i].reg >= 0 && b->cache[i].dirty)
			avx2_store(b, VEC_CACHE + i, (unsigned int)b->cache[i].reg);
	}
	if (b->exec_changed)
		avx2_store_exec(b);
	/* what changes the mask looks at lanes that are off, too */
	if (b->segment_skip)
		vagx_x86_set_target(&b->code, b->segment_skip,
				    b->exec_changed ? b->segment_skip + 4 : b->code.length);
	_Static_assert(TURN == 0x20 && TURNS == 0x80, "code has these numbers");
	vagx_buf_bytes(&b->code, "\x83\xc1\x20", 3);	/* add ecx, 32 */
	vagx_buf_bytes(&b->code, "\x81\xf9\x80\x00\x00\x00", 6);	/* cmp ecx, 128 */
	vagx_x86_set_target(&b->code, vagx_x86_jump_if(&b->code, X86_NOT_EQUAL),
			    b->segment_start);
	if (!b->exec_changed)
		return;
	vagx_buf_bytes(&b->code, "\x89\xb3", 2);		/* mov [rbx + exec], esi */
	vagx_buf_word(&b->code, (uint32_t)OFFSET_OF(exec));
}

/* The processor waits if it reads a word that was stored as bytes: votes are or'ed to words */
static void avx2_vote(struct build *b)
{
	avx2_vector(b, X86_AND, VEC_COND, VEC_COND, VEC_EXEC);
	avx2_narrow(b, X86_256_SIGNS, X86_RAX, 0, VEC_COND);
	vagx_buf_bytes(&b->code, "\x89\xca\xc1\xe9\x02", 5);	/* mov edx, ecx; shr ecx, 2 */
	vagx_buf_bytes(&b->code, "\xd3\xe0\x89\xd1", 4);	/* shl eax, cl; mov ecx, edx */
	vagx_buf_bytes(&b->code, "\x09\x83", 2);		/* or [rbx + votes], eax */
	vagx_buf_word(&b->code, (uint32_t)OFFSET_OF(votes));
	avx2_end(b, b->segment);
	vagx_build_forget(b);
	vagx_build_begin(b);
}

/* mov [r15 + 16], ecx: the bytes of words of the lanes that are done */
static void avx2_replay(struct build *b)
{
	_Static_assert(offsetof(struct vagx_slice, lanes_done) == 16, "code has this offset");
	vagx_buf_bytes(&b->code, "\x41\x89\x4f\x10", 4);
}

/* popcnt ebp, [rbx + exec] */
static void avx2_count_active(struct build *b)
{
	vagx_buf_bytes(&b->code, "\xf3\x0f\xb8\xab", 4);
	vagx_buf_word(&b->code, (uint32_t)OFFSET_OF(exec));
}

static void avx2_enter(struct build *b)
{
	unsigned int i;

	/* the first constants of the program, in this order */
	for (i = 0; i < LANES; i++)
		vagx_build_constant(b, 1u << i);
	avx2_count_active(b);
}

/* C may use instructions that are slow while upper halves of registers are in use */
static void avx2_before_call(struct build *b)
{
	vagx_buf_bytes(&b->code, "\xc5\xf8\x77", 3);	/* vzeroupper */
}

/* All of the execution mask is in memory */
static void avx2_nothing(struct build *b)
{
	(void)b;
}

/* The segment that has changed them has left their bits in ESI */
static void avx2_set_active(struct build *b)
{
	vagx_buf_bytes(&b->code, "\xf3\x0f\xb8\xee", 4);	/* popcnt ebp, esi */
	vagx_buf_bytes(&b->code, "\x89\xab", 2);	/* mov [rbx + active], ebp */
	vagx_buf_word(&b->code, (uint32_t)OFFSET_OF(active));
}

static void avx2_test_exec(struct build *b)
{
	vagx_buf_bytes(&b->code, "\x83\xbb", 2);	/* cmp dword [rbx + exec], 0 */
	vagx_buf_word(&b->code, (uint32_t)OFFSET_OF(exec));
	vagx_buf_bytes(&b->code, "\x00", 1);
}

const struct vectors vagx_vectors_avx2 = {
	.cached = VEC_SCALAR - VEC_CACHE,
	.memory = vagx_memory_find,
	.enter = avx2_enter,
	.before_call = avx2_before_call,
	.after_call = avx2_nothing,
	.set_active = avx2_set_active,
	.test_exec = avx2_test_exec,
	.begin = avx2_begin,
	.end = avx2_end,
	.replay = avx2_replay,
	.nans = avx2_nans,
	.load = avx2_load,
	.coefficient = avx2_coefficient,
	.store = avx2_store,
	.op = avx2_op,
	.op_imm = avx2_op_imm,
	.copy = avx2_copy,
	.copy_scalar = avx2_copy_scalar,
	.constant = avx2_constant,
	.insert = avx2_insert,
	.truth = avx2_truth,
	.quad = avx2_quad,
	.vote = avx2_vote,
	.mul_upper = avx2_mul_upper,
	.compare_int = avx2_compare_int,
	.compare_float = avx2_compare_float,
	.mask = avx2_mask,
	.zero_levels = avx2_zero_levels,
	.valid = avx2_valid,
	.half_to_float = avx2_half_to_float,
	.float_to_half = avx2_float_to_half,
	.round_to_half = avx2_round_to_half,
	.half_fma = avx2_half_fma,
	.wide = avx2_wide,
	.watch = avx2_watch,
	.replace_nans = avx2_replace_nans,
};
