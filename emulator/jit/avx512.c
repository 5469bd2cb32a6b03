// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * AVX-512: vector n is registers 2n and 2n + 1, for the lower and the upper 16 lanes. Masks are in
 * mask registers, two for each. What is cached stays so from segment to segment.
 */
#include "build.h"
#include "x86_names.h"

#define OFFSET_OF(field)	((int32_t)offsetof(struct simdgroup, field))

/* Mask registers: two each, for the lower and the upper lanes, but K_TEMP */
#define K_EXEC		1
#define K_COND		3
#define K_TEMP		5
/* lanes without special results in this segment; in segments that have none, MASK_LEVEL */
#define K_USUAL		6

/* The first mask register of a mask; 0 is for all lanes */
static unsigned int avx512_mask_register(enum mask mask)
{
	static const uint8_t registers[] = {
		[MASK_ALL] = 0,
		[MASK_EXEC] = K_EXEC,
		[MASK_COND] = K_COND,
		[MASK_LEVEL] = K_USUAL,
	};

	return registers[mask];
}

/* Masking of half @h of the lanes */
static struct x86_masking avx512_masking(const struct build *b, enum mask mask, unsigned int h)
{
	return X86_MASKED(vagx_build_is_masked(b, mask) ? avx512_mask_register(mask) + h : 0);
}

/* A value as the operand of an instruction for half @h of the lanes */
static struct x86_rm avx512_rm(struct value v, unsigned int h)
{
	return v.is_scalar ? X86_SPLAT(v.base, v.disp) : X86_REG(2 * v.vec + h);
}

/* @dst = @a op @v in lanes of a mask */
static void avx512_vector(struct build *b, enum x86_vector op, enum mask mask, unsigned int dst,
			  unsigned int a, struct value v)
{
	unsigned int h;

	for (h = 0; h < 2; h++)
		vagx_x86_vector(&b->code, op, 2 * dst + h, 2 * a + h, avx512_rm(v, h),
				avx512_masking(b, mask, h));
}

/* The same with an immediate */
static void avx512_vector_imm(struct build *b, enum x86_vector op, enum mask mask,
			      unsigned int dst, unsigned int a, struct value v, unsigned int imm)
{
	unsigned int h;

	for (h = 0; h < 2; h++)
		vagx_x86_vector_imm(&b->code, op, 2 * dst + h, 2 * a + h, avx512_rm(v, h),
				    avx512_masking(b, mask, h), imm);
}

static void avx512_op(struct build *b, enum vector_op op, enum mask mask, unsigned int dst,
		      unsigned int a, struct value v)
{
	avx512_vector(b, vagx_x86_of_op(op), mask, dst, a, v);
}

static void avx512_op_imm(struct build *b, enum vector_op op, enum mask mask, unsigned int dst,
			  unsigned int a, struct value v, unsigned int imm)
{
	avx512_vector_imm(b, vagx_x86_of_op(op), mask, dst, a, v, vagx_x86_of_imm(op, imm));
}

static void avx512_copy(struct build *b, enum mask mask, unsigned int dst, struct value v)
{
	unsigned int h;

	for (h = 0; h < 2; h++) {
		if (v.is_scalar)
			vagx_x86_vector(&b->code, X86_BROADCAST, 2 * dst + h, 0,
					X86_MEMORY(v.base, v.disp), avx512_masking(b, mask, h));
		else
			vagx_x86_vector(&b->code, X86_LOAD, 2 * dst + h, 0,
					X86_REG(2 * v.vec + h), avx512_masking(b, mask, h));
	}
}

static void avx512_copy_scalar(struct build *b, unsigned int dst)
{
	unsigned int h;

	for (h = 0; h < 2; h++)
		vagx_x86_vector(&b->code, X86_BROADCAST_GPR, 2 * dst + h, 0, X86_REG(X86_RAX),
				X86_ALL_LANES);
}

static void avx512_constant(struct build *b, enum mask mask, unsigned int dst, uint32_t bits)
{
	struct value v = vagx_build_constant(b, bits);
	unsigned int h;

	for (h = 0; h < 2; h++)
		vagx_x86_vector(&b->code, X86_BROADCAST, 2 * dst + h, 0,
				X86_MEMORY(v.base, v.disp),
				X86_ZEROED(avx512_mask_register(mask) + h));
}

static void avx512_insert(struct build *b, enum mask mask, unsigned int dst, unsigned int v,
			  uint32_t bits)
{
	/* where a bit is set in the third operand the second one's, else the first one's */
	avx512_vector_imm(b, X86_TERNARY, mask, dst, v, vagx_build_constant(b, bits), 0xd8);
}

static void avx512_truth(struct build *b, unsigned int dst, unsigned int a, struct value v,
			 unsigned int table)
{
	/* the instruction's table has the second source in bit 0; its destination does not count */
	unsigned int t = (table & 1) | (table >> 2 & 1) << 1 | (table >> 1 & 1) << 2 | (table & 8);

	if (dst == a) {
		avx512_vector_imm(b, X86_TERNARY, MASK_ALL, dst, a, v, t | t << 4);
		return;
	}
	avx512_copy(b, MASK_ALL, dst, vagx_build_vector(a));
	avx512_vector_imm(b, X86_TERNARY, MASK_ALL, dst, dst, v, t | t << 4);
}

/* Of even lanes, then of odd ones, which are exchanged with them; then upper words in order */
static void avx512_mul_upper(struct build *b, unsigned int dst, unsigned int x, unsigned int y)
{
	const unsigned int odd = 2 * VEC_SCRATCH, other = odd + 1;
	unsigned int h;

	for (h = 0; h < 2; h++) {
		unsigned int r = 2 * dst + h;

		vagx_x86_vector(&b->code, X86_MUL_EVEN, r, 2 * x + h, X86_REG(2 * y + h),
				X86_ALL_LANES);
		vagx_x86_vector_imm(&b->code, X86_SHUFFLE, odd, 0, X86_REG(2 * x + h),
				    X86_ALL_LANES, 0xb1);
		vagx_x86_vector_imm(&b->code, X86_SHUFFLE, other, 0, X86_REG(2 * y + h),
				    X86_ALL_LANES, 0xb1);
		vagx_x86_vector(&b->code, X86_MUL_EVEN, odd, odd, X86_REG(other), X86_ALL_LANES);
		vagx_x86_vector_imm(&b->code, X86_SHUFFLE_PAIRS, r, r, X86_REG(odd),
				    X86_ALL_LANES, 0xdd);
		vagx_x86_vector_imm(&b->code, X86_SHUFFLE, r, 0, X86_REG(r), X86_ALL_LANES, 0xd8);
	}
}

static void avx512_quad(struct build *b, unsigned int dst, unsigned int src, unsigned int order)
{
	avx512_vector_imm(b, X86_SHUFFLE, MASK_ALL, dst, 0, vagx_build_vector(src), order);
}

static void avx512_table(struct build *b, unsigned int dst, const uint32_t words[LANES])
{
	struct value row = vagx_build_row(b, words, LANES);
	unsigned int h;

	for (h = 0; h < 2; h++)
		vagx_x86_vector(&b->code, X86_LOADU, 2 * dst + h, 0,
				X86_MEMORY(row.base, row.disp + 64 * (int32_t)h), X86_ALL_LANES);
}

static void avx512_permute(struct build *b, unsigned int dst, unsigned int src)
{
	unsigned int h;

	for (h = 0; h < 2; h++)
		vagx_x86_vector(&b->code, X86_PERMUTE2, 2 * dst + h, 2 * src,
				X86_REG(2 * src + 1), X86_ALL_LANES);
}

static void avx512_vote(struct build *b)
{
	unsigned int h;

	for (h = 0; h < 2; h++)
		vagx_x86_mask(&b->code, X86_KAND, K_COND + h, K_COND + h, K_EXEC + h);
	vagx_x86_mask(&b->code, X86_KUNPCK, K_TEMP, K_COND + 1, K_COND);
	vagx_x86_mask_to_eax(&b->code, K_TEMP);
	vagx_buf_bytes(&b->code, "\x89\x83", 2);		/* mov [rbx + votes], eax */
	vagx_buf_word(&b->code, (uint32_t)OFFSET_OF(votes));
}

static void avx512_compare_int(struct build *b, enum mask mask, bool is_signed, unsigned int a,
			       struct value v, enum predicate predicate)
{
	unsigned int h;

	for (h = 0; h < 2; h++)
		vagx_x86_vector_imm(&b->code, is_signed ? X86_CMP : X86_CMP_UNSIGNED,
				    avx512_mask_register(mask) + h, 2 * a + h, avx512_rm(v, h),
				    X86_ALL_LANES, vagx_x86_of_predicate(predicate));
}

static void avx512_compare_float(struct build *b, unsigned int a, struct value v,
				 enum predicate predicate, bool or_unordered)
{
	unsigned int h;

	for (h = 0; h < 2; h++) {
		vagx_x86_vector_imm(&b->code, X86_CMP_FLOAT, K_COND + h, 2 * a + h,
				    avx512_rm(v, h), X86_ALL_LANES,
				    vagx_x86_of_float_predicate(predicate));
		if (!or_unordered)
			continue;
		vagx_x86_vector_imm(&b->code, X86_CMP_FLOAT, K_TEMP, 2 * v.vec + h,
				    avx512_rm(v, h), X86_ALL_LANES, X86_FLOAT_UNORDERED);
		vagx_x86_mask(&b->code, X86_KOR, K_COND + h, K_COND + h, K_TEMP);
	}
}

static void avx512_mask(struct build *b, enum mask_op op, enum mask dst, enum mask a, enum mask c)
{
	unsigned int d = avx512_mask_register(dst), x = avx512_mask_register(a), h;

	for (h = 0; h < 2; h++) {
		if (op == MASK_NOT)
			vagx_x86_mask_not(&b->code, d + h, x + h);
		else
			vagx_x86_mask(&b->code, op == MASK_AND ? X86_KAND : X86_KANDN, d + h, x + h,
				      avx512_mask_register(c) + h);
	}
}

static void avx512_zero_levels(struct build *b, unsigned int vec)
{
	struct value low = vagx_build_constant(b, 0xffff);
	unsigned int h;

	for (h = 0; h < 2; h++)
		vagx_x86_vector(&b->code, X86_TEST_ZERO, K_EXEC + h, 2 * vec + h,
				avx512_rm(low, h), X86_ALL_LANES);
}

static void avx512_valid(struct build *b)
{
	unsigned int h;

	for (h = 0; h < 2; h++) {
		vagx_x86_mask_load(&b->code, K_TEMP, GPR_SG, OFFSET_OF(valid) + 2 * (int32_t)h);
		vagx_x86_mask(&b->code, X86_KAND, K_EXEC + h, K_EXEC + h, K_TEMP);
	}
}

static void avx512_half_to_float(struct build *b, unsigned int dst, unsigned int words, bool upper)
{
	struct value v = vagx_build_vector(dst);

	if (upper) {
		avx512_vector_imm(b, X86_SHR_IMM, MASK_ALL, dst, 0, vagx_build_vector(words), 16);
		words = dst;
	}
	/* the halves go to the lower half of each register, which is the last operand */
	avx512_vector(b, X86_TRUNCATE16, MASK_ALL, words, 0, v);
	avx512_vector(b, X86_HALF_TO_FLOAT, MASK_ALL, dst, 0, v);
}

/* Replaces NaNs in register @reg, in lanes of mask register @k */
static void avx512_replace(struct build *b, unsigned int reg, unsigned int k)
{
	struct value nan = vagx_build_constant(b, 0x7fc00000);

	vagx_x86_vector_imm(&b->code, X86_CMP_FLOAT, K_TEMP, reg, X86_REG(reg), X86_MASKED(k),
			    X86_FLOAT_UNORDERED);
	vagx_x86_vector(&b->code, X86_BROADCAST, reg, 0, X86_MEMORY(nan.base, nan.disp),
			X86_MASKED(K_TEMP));
}

static void avx512_replace_nans(struct build *b, unsigned int vec)
{
	avx512_replace(b, 2 * vec, K_EXEC);
	avx512_replace(b, 2 * vec + 1, K_EXEC + 1);
}

static void avx512_float_to_half(struct build *b, unsigned int dst, unsigned int vec)
{
	struct value nan = vagx_build_constant(b, 0x7e00);
	unsigned int h;

	for (h = 0; h < 2; h++) {
		unsigned int reg = 2 * vec + h, to = 2 * dst + h;

		vagx_x86_vector_imm(&b->code, X86_CMP_FLOAT, K_TEMP, reg, X86_REG(reg),
				    X86_ALL_LANES, X86_FLOAT_UNORDERED);
		/* to nearest even; to the lower half of the register, then to words */
		vagx_x86_vector_imm(&b->code, X86_FLOAT_TO_HALF, reg, 0, X86_REG(to),
				    X86_ALL_LANES, 0);
		vagx_x86_vector(&b->code, X86_EXTEND16, to, 0, X86_REG(to), X86_ALL_LANES);
		vagx_x86_vector(&b->code, X86_BROADCAST, to, 0, X86_MEMORY(nan.base, nan.disp),
				X86_MASKED(K_TEMP));
	}
}

static void avx512_round_to_half(struct build *b, enum mask mask, unsigned int dst,
				 unsigned int vec)
{
	struct value v = vagx_build_vector(vec);

	avx512_vector_imm(b, X86_FLOAT_TO_HALF, MASK_ALL, vec, 0, v, 0);
	avx512_vector(b, X86_HALF_TO_FLOAT, mask, dst, 0, v);
}

/*
 * It is rounded "to odd" in 32 bits, so that rounding it to a half is as good as rounding once:
 * what is between two floats becomes the odd one. These are the results rounded down and up; a
 * result that is exact is both. Both become halves before one of them is chosen, as a comparison
 * takes as long.
 */
static void avx512_half_fma(struct build *b, enum mask mask, unsigned int dst, unsigned int t,
			    unsigned int x, unsigned int y)
{
	const unsigned int up = 2 * VEC_SCRATCH;
	struct value one = vagx_build_constant(b, 1);
	unsigned int h;

	for (h = 0; h < 2; h++) {
		unsigned int down = 2 * t + h, a = 2 * x + h;
		struct x86_rm factor = X86_REG(2 * y + h);

		vagx_x86_vector(&b->code, X86_LOAD, up, 0, X86_REG(down), X86_ALL_LANES);
		vagx_x86_vector(&b->code, X86_FMA231, up, a, factor, X86_ROUNDED(X86_ROUND_UP));
		vagx_x86_vector(&b->code, X86_FMA231, down, a, factor,
				X86_ROUNDED(X86_ROUND_DOWN));
		vagx_x86_vector(&b->code, X86_TEST_ZERO, K_TEMP, down, avx512_rm(one, h),
				X86_ALL_LANES);
		vagx_x86_vector_imm(&b->code, X86_FLOAT_TO_HALF, down, 0, X86_REG(down),
				    X86_ALL_LANES, 0);
		vagx_x86_vector_imm(&b->code, X86_FLOAT_TO_HALF, up, 0, X86_REG(up),
				    X86_ALL_LANES, 0);
		/* the mask has as many lanes as there are halves */
		vagx_x86_vector(&b->code, X86_MOVE16, down, 0, X86_REG(up), X86_MASKED(K_TEMP));
		vagx_x86_vector(&b->code, X86_HALF_TO_FLOAT, 2 * dst + h, 0, X86_REG(down),
				avx512_masking(b, mask, h));
	}
}

/* The host's instructions of a wide program, which have two sources */
static const uint8_t avx512_wide_ops[] = {
	[WIDE_ADD] = X86_FADD64, [WIDE_SUB] = X86_FSUB64, [WIDE_MUL] = X86_FMUL64,
	[WIDE_DIV] = X86_FDIV64, [WIDE_ADD_BITS] = X86_ADD64, [WIDE_SUB_BITS] = X86_SUB64,
	[WIDE_AND] = X86_AND64, [WIDE_OR] = X86_OR64,
};

/* Puts eight lanes of a vector into a register, as floats of 64 bits */
static void avx512_widen(struct build *b, unsigned int dst, unsigned int src, unsigned int part)
{
	unsigned int from = 2 * src + part / 2;

	if (part % 2) {
		vagx_x86_vector_imm(&b->code, X86_EXTRACT_UPPER, from, 0, X86_REG(dst),
				    X86_ALL_LANES, 1);
		from = dst;
	}
	vagx_x86_vector(&b->code, X86_TO_FLOAT64, dst, 0, X86_REG(from), X86_ALL_LANES);
}

static void avx512_narrow(struct build *b, unsigned int dst, unsigned int src, unsigned int part)
{
	unsigned int to = 2 * dst + part / 2;

	vagx_x86_vector(&b->code, X86_FROM_FLOAT64, part % 2 ? src : to, 0, X86_REG(src),
			X86_ALL_LANES);
	if (part % 2)
		vagx_x86_vector_imm(&b->code, X86_INSERT_UPPER, to, to, X86_REG(src),
				    X86_ALL_LANES, 1);
}

/* A step of a wide program; @reg: the host's registers */
static void avx512_wide_step(struct build *b, const struct wide_step *s, const uint8_t reg[4])
{
	struct value imm = vagx_build_constant64(b, s->imm);
	struct x86_rm source = s->b == WIDE_IMM ? X86_SPLAT(imm.base, imm.disp) :
						  X86_REG(reg[s->b]);

	switch (s->op) {
	case WIDE_SQRT:
		vagx_x86_vector(&b->code, X86_FSQRT64, reg[s->dst], 0, X86_REG(reg[s->a]),
				X86_ALL_LANES);
		break;
	case WIDE_SHL:
	case WIDE_SHR:
		vagx_x86_vector_imm(&b->code, s->op == WIDE_SHL ? X86_SHL64_IMM : X86_SHR64_IMM,
				    reg[s->dst], 0, X86_REG(reg[s->a]), X86_ALL_LANES,
				    (unsigned int)s->imm);
		break;
	case WIDE_SET:
		vagx_x86_vector(&b->code, X86_BROADCAST64, reg[s->dst], 0,
				X86_MEMORY(imm.base, imm.disp), X86_ALL_LANES);
		break;
	default:
		vagx_x86_vector(&b->code, avx512_wide_ops[s->op], reg[s->dst], reg[s->a], source,
				X86_ALL_LANES);
	}
}

static void avx512_wide(struct build *b, const struct wide_program *p, unsigned int dst,
			unsigned int src, unsigned int work)
{
	const uint8_t reg[4] = {
		2 * VEC_SCRATCH, 2 * VEC_SCRATCH + 1, (uint8_t)(2 * work), (uint8_t)(2 * work + 1),
	};
	unsigned int part, i;

	for (part = 0; part < 4; part++) {
		avx512_widen(b, reg[0], src, part);
		for (i = 0; i < p->count; i++) {
			if (p->steps[i].op == WIDE_START)
				avx512_widen(b, reg[p->steps[i].dst], src, part);
			else
				avx512_wide_step(b, &p->steps[i], reg);
		}
		avx512_narrow(b, dst, reg[0], part);
	}
}

static void avx512_watch(struct build *b, unsigned int vec)
{
	/* the sign is shifted out */
	struct value smallest = vagx_build_constant(b, 0x00800000u << 1);
	unsigned int h;

	for (h = 0; h < 2; h++) {
		if (!b->watching)
			vagx_x86_mask(&b->code, X86_KXNOR, K_USUAL + h, K_USUAL + h, K_USUAL + h);
		vagx_x86_vector(&b->code, X86_ADD, 2 * VEC_SCRATCH + h, 2 * vec + h,
				X86_REG(2 * vec + h), X86_ALL_LANES);
		vagx_x86_vector_imm(&b->code, X86_CMP, K_USUAL + h, 2 * VEC_SCRATCH + h,
				    avx512_rm(smallest, h), X86_MASKED(K_USUAL + h), X86_CMP_NE);
	}
	b->watching = true;
}

/* If a lane had a special result the interpreter does the segment again */
static void avx512_test_special(struct build *b, uint32_t next)
{
	size_t at;

	vagx_x86_mask(&b->code, X86_KAND, K_TEMP, K_USUAL, K_USUAL + 1);
	vagx_x86_mask_test(&b->code, K_TEMP, K_TEMP);
	at = vagx_x86_jump_if(&b->code, X86_NOT_CARRY);
	vagx_build_add_fixup(b, (struct fixup){
		.kind = FIXUP_REPLAY,
		.at = (uint32_t)at,
		.pc = b->segment,
		.count = next - b->segment,
	});
}

/*
 * Replaces NaNs before registers are stored. There are hardly ever any, so all vectors are looked
 * at together, two by each comparison, and code elsewhere does it.
 */
static void avx512_canonicalize(struct build *b)
{
	uint32_t vectors = vagx_build_take_raw(b), left = vectors;
	unsigned int k[2] = { K_EXEC, K_EXEC + 1 }, h, x, y;
	size_t at;

	if (!vectors)
		return;
	while (left) {
		x = vagx_build_next_vector(&left);
		y = left ? vagx_build_next_vector(&left) : x;
		for (h = 0; h < 2; h++) {
			/* in K_COND: the active lanes that have been numbers so far */
			vagx_x86_vector_imm(&b->code, X86_CMP_FLOAT, K_COND + h, 2 * x + h,
					    X86_REG(2 * y + h), X86_MASKED(k[h]),
					    X86_FLOAT_ORDERED);
			k[h] = K_COND + h;
		}
	}
	for (h = 0; h < 2; h++)
		vagx_x86_mask(&b->code, X86_KXOR, K_COND + h, K_COND + h, K_EXEC + h);
	vagx_x86_mask_test(&b->code, K_COND, K_COND + 1);
	at = vagx_x86_jump_if(&b->code, X86_NOT_EQUAL);
	vagx_build_add_fixup(b, (struct fixup){
		.kind = FIXUP_NANS,
		.at = (uint32_t)at,
		.vectors = vectors,
	});
}

static void avx512_nans(struct build *b, const struct fixup *fixup)
{
	uint32_t vectors = fixup->vectors;

	while (vectors)
		avx512_replace_nans(b, vagx_build_next_vector(&vectors));
	vagx_x86_set_target(&b->code, vagx_x86_jump(&b->code), fixup->at + 4);
}

/* Loads or stores a register */
static void avx512_move(struct build *b, enum x86_vector op, unsigned int vec, unsigned int reg)
{
	int32_t disp = vagx_build_register_disp(reg);

	vagx_x86_vector(&b->code, op, 2 * vec, 0, X86_MEMORY(GPR_SG, disp), X86_ALL_LANES);
	vagx_x86_vector(&b->code, op, 2 * vec + 1, 0, X86_MEMORY(GPR_SG, disp + 64),
			X86_ALL_LANES);
}

/* A coefficient of one primitive is broadcast; those of several are gathered by code elsewhere */
static void avx512_coefficient(struct build *b, unsigned int dst, unsigned int word)
{
	struct x86_rm rm = X86_MEMORY(X86_RAX, (int32_t)(word * sizeof(uint32_t)));
	size_t at;

	vagx_buf_bytes(&b->code, "\x48\x8b\x83", 3);	/* mov rax, [rbx + same_planes] */
	vagx_buf_word(&b->code, (uint32_t)OFFSET_OF(same_planes));
	vagx_buf_bytes(&b->code, "\x48\x85\xc0", 3);	/* test rax, rax */
	at = vagx_x86_jump_if(&b->code, X86_EQUAL);
	vagx_x86_vector(&b->code, X86_BROADCAST, 2 * dst, 0, rm, X86_ALL_LANES);
	vagx_x86_vector(&b->code, X86_BROADCAST, 2 * dst + 1, 0, rm, X86_ALL_LANES);
	vagx_build_add_fixup(b, (struct fixup){
		.kind = FIXUP_PLANES,
		.at = (uint32_t)at,
		.pc = (uint32_t)b->code.length,
		.vectors = dst,
		.word = word,
	});
}

/* Gathers a word of eight quads, and puts it into the lanes of each */
static void avx512_gather(struct build *b, const struct fixup *fixup)
{
	const unsigned int quads = 2 * VEC_SCRATCH, number = quads + 1;
	const int32_t lane = vagx_build_register_disp(REGISTERS + PLACE_LANE);
	unsigned int h;

	_Static_assert(2 * VEC_SCRATCH == 6 && K_TEMP == 5, "code has these registers");
	vagx_x86_vector(&b->code, X86_LOADU, number, 0, X86_MEMORY(GPR_SG, OFFSET_OF(planes)),
			X86_ALL_LANES);
	vagx_x86_mask(&b->code, X86_KXNOR, K_TEMP, K_TEMP, K_TEMP);
	/* vpgatherqd ymm6{k5}, [zmm7 + displacement] */
	vagx_buf_bytes(&b->code, "\x62\xf2\x7d\x4d\x91\x34\x3d", 7);
	vagx_buf_word(&b->code, fixup->word * (uint32_t)sizeof(uint32_t));
	for (h = 0; h < 2; h++) {
		vagx_x86_vector_imm(&b->code, X86_SHR_IMM, number, 0,
				    X86_MEMORY(GPR_SG, lane + 64 * (int32_t)h), X86_ALL_LANES, 2);
		vagx_x86_vector(&b->code, X86_PERMUTE, 2 * fixup->vectors + h, number,
				X86_REG(quads), X86_ALL_LANES);
	}
	vagx_x86_set_target(&b->code, vagx_x86_jump(&b->code), fixup->pc);
}

static void avx512_load(struct build *b, unsigned int vec, unsigned int reg)
{
	avx512_move(b, X86_LOAD, vec, reg);
}

static void avx512_store(struct build *b, unsigned int vec, unsigned int reg)
{
	avx512_move(b, X86_STORE, vec, reg);
}

static void avx512_nothing(struct build *b)
{
	(void)b;
}

static void avx512_end(struct build *b, uint32_t next)
{
	unsigned int i;

	if (b->watching)
		avx512_test_special(b, next);
	vagx_build_settle(b);
	avx512_canonicalize(b);
	for (i = 0; i < b->vectors->cached; i++) {
		if (b->cache[i].reg >= 0 && b->cache[i].dirty)
			avx512_store(b, VEC_CACHE + i, (unsigned int)b->cache[i].reg);
	}
}

static void avx512_set_active(struct build *b)
{
	vagx_x86_mask(&b->code, X86_KUNPCK, K_TEMP, K_EXEC + 1, K_EXEC);
	vagx_x86_mask_to_eax(&b->code, K_TEMP);
	vagx_buf_bytes(&b->code, "\xf3\x0f\xb8\xe8", 4);	/* popcnt ebp, eax */
	vagx_buf_bytes(&b->code, "\x89\x83", 2);		/* mov [rbx + exec], eax */
	vagx_buf_word(&b->code, (uint32_t)OFFSET_OF(exec));
	vagx_buf_bytes(&b->code, "\x89\xab", 2);		/* mov [rbx + active], ebp */
	vagx_buf_word(&b->code, (uint32_t)OFFSET_OF(active));
}

/* Loads the execution mask, which C has not changed; its functions change mask registers */
static void avx512_load_exec(struct build *b)
{
	vagx_x86_mask_load(&b->code, K_EXEC, GPR_SG, OFFSET_OF(exec));
	vagx_x86_mask_load(&b->code, K_EXEC + 1, GPR_SG, OFFSET_OF(exec) + 2);
}

static void avx512_enter(struct build *b)
{
	avx512_load_exec(b);
	vagx_buf_bytes(&b->code, "\xf3\x0f\xb8\xab", 4);	/* popcnt ebp, [rbx + exec] */
	vagx_buf_word(&b->code, (uint32_t)OFFSET_OF(exec));
}

/* Puts all ones into the lanes of the simdgroup's mask that are active, if they have changed */
static void avx512_store_mask(struct build *b)
{
	unsigned int h;

	for (h = 0; b->changes_exec && h < 2; h++) {
		vagx_x86_vector_imm(&b->code, X86_TERNARY, 2 * VEC_SCRATCH + h,
				    2 * VEC_SCRATCH + h, X86_REG(2 * VEC_SCRATCH + h),
				    X86_ZEROED(K_EXEC + h), 0xff);
		vagx_x86_vector(&b->code, X86_STORE, 2 * VEC_SCRATCH + h, 0,
				X86_MEMORY(GPR_SG, OFFSET_OF(mask) + 64 * (int32_t)h),
				X86_ALL_LANES);
	}
}

static void avx512_test_exec(struct build *b)
{
	vagx_x86_mask_test(&b->code, K_EXEC, K_EXEC + 1);
}

const struct vectors vagx_vectors_avx512 = {
	.cached = 12,
	.has_unsigned = true,
	.keeps_cache = true,
	.memory = vagx_memory_find_avx512,
	.enter = avx512_enter,
	.before_call = avx512_store_mask,
	.after_call = avx512_load_exec,
	.set_active = avx512_set_active,
	.test_exec = avx512_test_exec,
	.begin = avx512_nothing,
	.end = avx512_end,
	/* none is */
	.replay = avx512_nothing,
	.nans = avx512_nans,
	.load = avx512_load,
	.coefficient = avx512_coefficient,
	.gather = avx512_gather,
	.store = avx512_store,
	.op = avx512_op,
	.op_imm = avx512_op_imm,
	.copy = avx512_copy,
	.copy_scalar = avx512_copy_scalar,
	.constant = avx512_constant,
	.insert = avx512_insert,
	.truth = avx512_truth,
	.quad = avx512_quad,
	.table = avx512_table,
	.permute = avx512_permute,
	.vote = avx512_vote,
	.mul_upper = avx512_mul_upper,
	.compare_int = avx512_compare_int,
	.compare_float = avx512_compare_float,
	.mask = avx512_mask,
	.zero_levels = avx512_zero_levels,
	.valid = avx512_valid,
	.half_to_float = avx512_half_to_float,
	.float_to_half = avx512_float_to_half,
	.round_to_half = avx512_round_to_half,
	.half_fma = avx512_half_fma,
	.wide = avx512_wide,
	.watch = avx512_watch,
	.replace_nans = avx512_replace_nans,
};
