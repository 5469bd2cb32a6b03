// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Code for interpolation of varyings, and for the pixels of fragments. Each lane's plane and the
 * centre of its pixel are in the simdgroup (struct simdgroup, gpu/core_stage.c). The steps are
 * those of the interpreter: two fused multiply-adds, and a division for perspective. Other places
 * to interpolate at, and coefficient registers by a number that is not known, are left to it.
 */
#include "build.h"

/* Words of a plane */
enum { STAGE_A, STAGE_B, STAGE_C, STAGE_WORDS };

_Static_assert(sizeof(struct vagx_plane) == STAGE_WORDS * sizeof(uint32_t) &&
	       offsetof(struct vagx_plane, b) == STAGE_B * sizeof(uint32_t),
	       "planes are words");

/* Whether the code is for fragments, and the operand is a coefficient register that is known */
static bool stage_is_known(const struct build *b, const struct op *op,
			   const struct agx_operand *cf)
{
	return b->stage == STAGE_FRAGMENTS && op->dst.type == AGX_OPERAND_REG &&
	       op->dst.size <= 32 && cf->type == AGX_OPERAND_CF;
}

/* Leaves the instruction to the interpreter, which fails, if coefficient registers are missing */
static void stage_require(struct build *b, const struct op *op, const struct agx_operand *cf,
			  unsigned int count)
{
	vagx_build_require(b, op, offsetof(struct simdgroup, num_planes),
			   (unsigned int)cf->value + count, HOST_LESS);
}

/* The word of register @cf, in vector @dst */
static void stage_word(struct build *b, unsigned int dst, unsigned int cf, unsigned int word)
{
	b->vectors->coefficient(b, dst, cf * STAGE_WORDS + word);
}

/*
 * @t += a coefficient times the coordinate of the pixel's centre; changes @work. Nothing is special
 * (watch() in vectors.h): as centres are halves, sums are multiples of 2^-150, and what is below the
 * smallest normal number is exact.
 */
static void stage_add(struct build *b, unsigned int t, unsigned int work, unsigned int cf,
		      unsigned int word, unsigned int place)
{
	stage_word(b, work, cf, word);
	b->vectors->load(b, VEC_SCRATCH, REGISTERS + place);
	b->vectors->op(b, VECTOR_FMA231, MASK_ALL, t, work, vagx_build_vector(VEC_SCRATCH));
}

/* @t = the plane of register @cf at the pixel's centre; changes @work */
static void stage_evaluate(struct build *b, unsigned int t, unsigned int work, unsigned int cf)
{
	stage_word(b, t, cf, STAGE_C);
	stage_add(b, t, work, cf, STAGE_B, PLACE_CENTER_Y);
	stage_add(b, t, work, cf, STAGE_A, PLACE_CENTER_X);
}

/* Element @n of the destination, as an instruction of its own */
static struct op stage_element(const struct op *op, unsigned int n)
{
	struct op one = *op;

	one.dst.value += n * (op->dst.size / 16);
	one.dst.count = 1;
	return one;
}

/* Interpolates the components of a varying; @w: the register of 1/W, or NULL */
static bool stage_interpolate(struct build *b, const struct op *op, const struct agx_operand *w)
{
	const unsigned int cf = (unsigned int)op->src[0].value;
	unsigned int t, work, divisor = 0, n;

	if (!stage_is_known(b, op, &op->src[0]) || (w && w->type != AGX_OPERAND_CF) ||
	    op->mod[AGX_MOD_INTERPOLATION] != AGX_INTERPOLATION_CENTER)
		return false;
	t = vagx_build_temp(b);
	work = vagx_build_temp(b);
	if (w) {
		stage_require(b, op, w, 1);
		divisor = vagx_build_temp(b);
		stage_evaluate(b, divisor, work, (unsigned int)w->value);
	}
	stage_require(b, op, &op->src[0], op->dst.count);
	for (n = 0; n < op->dst.count; n++) {
		const struct op one = stage_element(op, n);

		stage_evaluate(b, t, work, cf + n);
		/* no quotient is special: none rounds up to the smallest normal number */
		if (w)
			b->vectors->op(b, VECTOR_FDIV, MASK_ALL, t, t, vagx_build_vector(divisor));
		vagx_build_write_float(b, &one, t);
	}
	return true;
}

/* The words of a plane, such as flat varyings */
static bool stage_load(struct build *b, const struct op *op)
{
	unsigned int t, n;

	if (!stage_is_known(b, op, &op->src[0]) || op->dst.count != STAGE_WORDS)
		return false;
	t = vagx_build_temp(b);
	stage_require(b, op, &op->src[0], 1);
	for (n = 0; n < STAGE_WORDS; n++) {
		const struct op one = stage_element(op, n);

		stage_word(b, t, (unsigned int)op->src[0].value, n);
		if (op->dst.size == 16)
			b->vectors->float_to_half(b, t, t);
		vagx_build_write(b, &one.dst, vagx_build_vector(t), false);
	}
	return true;
}

/* Where the fragment's pixel is in the image */
static bool stage_pixel(struct build *b, const struct op *op)
{
	unsigned int sr = op->mod[AGX_MOD_SR], t;

	if (b->stage != STAGE_FRAGMENTS || op->dst.type != AGX_OPERAND_REG || op->dst.size > 32 ||
	    (sr != AGX_SR_THREAD_IN_GRID_X && sr != AGX_SR_THREAD_IN_GRID_Y))
		return false;
	t = vagx_build_temp(b);
	b->vectors->load(b, t, REGISTERS + (sr == AGX_SR_THREAD_IN_GRID_X ? PLACE_PIXEL_X :
									    PLACE_PIXEL_Y));
	vagx_build_write_int(b, op, vagx_build_vector(t));
	return true;
}

static bool stage_lower(struct build *b, const struct op *op)
{
	switch (op->opcode) {
	case AGX_OP_ITER:
		return stage_interpolate(b, op, NULL);
	case AGX_OP_ITER_PROJECTED:
		return stage_interpolate(b, op, &op->src[1]);
	case AGX_OP_LDCF:
		return stage_load(b, op);
	case AGX_OP_GET_SR:
		return stage_pixel(b, op);
	default:
		return false;
	}
}

bool vagx_build_lower_stage(struct build *b, const struct op *op)
{
	b->temps = 0;
	if (!stage_lower(b, op))
		return false;
	b->of_stage = true;
	return true;
}
