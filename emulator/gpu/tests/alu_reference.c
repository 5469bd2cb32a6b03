// SPDX-License-Identifier: MIT
/* Copyright (C) 2026 The asahi driver authors */
#include <math.h>
#include <string.h>

#include "alu_reference.h"
#include "exact_float.h"

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

/* Integers: sources as numbers without a limit */

static int128 extended(uint64_t bits, unsigned int size)
{
	uint128 sign = (uint128)1 << (size - 1);

	return (int128)(((uint128)bits ^ sign) - sign);
}

static int128 number(const struct alu_source *s, unsigned int lane)
{
	return s->sign_extend && s->size > 8 ? extended(s->bits[lane], s->size) :
					       (int128)s->bits[lane];
}

static uint64_t clamp(int128 value, unsigned int size, bool is_signed)
{
	int128 max = ((int128)1 << (size - is_signed)) - 1;
	int128 min = is_signed ? -max - 1 : 0;

	return (uint64_t)(value > max ? max : value < min ? min : value);
}

static uint64_t add(const struct alu_question *q, int128 base, const struct alu_source *s,
		    unsigned int lane, bool narrow, bool is_signed, bool subtract)
{
	int128 n = number(s, lane);
	bool saturates = q->saturate && !q->shift && narrow && s->size <= 32 &&
			 q->dst_size <= 32;

	if (subtract)
		n = -n;
	n = base + (int128)((uint128)n << q->shift);
	return saturates ? clamp(n, q->dst_size, is_signed) : (uint64_t)n;
}

static uint64_t sum(const struct alu_question *q, unsigned int lane, bool subtract)
{
	const struct alu_source *s = q->src;
	bool is_signed = s[0].sign_extend || s[1].sign_extend;

	return add(q, number(&s[0], lane), &s[1], lane, s[0].size <= 32, is_signed, subtract);
}

static uint64_t product(const struct alu_question *q, unsigned int lane, bool subtract)
{
	static const struct alu_source zero = { .size = 8 };
	const struct alu_source *s = q->src, *c = q->op == AGX_OP_IMUL ? &zero : &s[2];
	bool is_signed = s[0].sign_extend || s[1].sign_extend || c->sign_extend;

	return add(q, number(&s[0], lane) * number(&s[1], lane), c, lane, true, is_signed,
		   subtract);
}

/* Shifts and bit fields */

static uint64_t shifted(const struct alu_question *q, unsigned int lane)
{
	bool alias = q->op == AGX_OP_SHL || q->op == AGX_OP_SHR;
	const struct alu_source *s = q->src;
	uint128 a = alias ? 0 : s[0].bits[lane];
	uint128 b = s[alias ? 0 : 1].bits[lane], m;
	unsigned int by = s[alias ? 1 : 2].bits[lane] & 0x7f;
	uint128 mask = alias || !q->bitmask ? 0xffffffff : ((uint128)1 << q->bitmask) - 1;

	switch (q->op) {
	case AGX_OP_SHL:
	case AGX_OP_BFI:
		return (uint64_t)((a & ~(mask << by)) | (b & mask) << by);
	case AGX_OP_SHR:
	case AGX_OP_BFEIL:
		return (uint64_t)((a & ~mask) | (b >> by & mask));
	case AGX_OP_EXTR:
		return (uint64_t)((b << 32 | a) >> by & mask);
	case AGX_OP_SHLHI:
		m = mask << (by > 32 ? by - 32 : 0);
		return (uint64_t)((b << by >> 32 & m) | (a & ~m));
	default:
		m = mask << 32 >> (by < 32 ? by : 32);
		return (uint64_t)((b << 32 >> by & m) | (a & ~m));
	}
}

static uint64_t shifted_signed(const struct alu_question *q, unsigned int lane)
{
	const struct alu_source *s = &q->src[0];
	unsigned int by = q->src[1].bits[lane] & 0x7f;
	int128 value = s->size == 8 ? (int128)s->bits[lane] : extended(s->bits[lane], s->size);

	if (q->op == AGX_OP_ASRH)
		value = (int128)((uint128)value << 32);
	return (uint64_t)(value >> by);
}

/* Bits */

/* Results for (a, b) = (0, 0), (1, 0), (0, 1), (1, 1), as the names say */
static const struct {
	enum agx_opcode op;
	const char *truth;
} truths[] = {
	{ AGX_OP_ZERO, "0000" }, { AGX_OP_AND, "0001" }, { AGX_OP_ANDN1, "0010" },
	{ AGX_OP_ANDN2, "0100" }, { AGX_OP_XOR, "0110" }, { AGX_OP_OR, "0111" },
	{ AGX_OP_NOR, "1000" }, { AGX_OP_XNOR, "1001" }, { AGX_OP_ORN1, "1011" },
	{ AGX_OP_ORN2, "1101" }, { AGX_OP_NAND, "1110" }, { AGX_OP_ONE, "1111" },
	{ AGX_OP_MOV, "0101" }, { AGX_OP_NOT, "1010" },
	/* hardware moves a, whatever the table says of b */
	{ AGX_OP_NOT_A, "0101" }, { AGX_OP_MOV_A, "0101" },
};

static const char *truth_of(enum agx_opcode op)
{
	unsigned int i;

	for (i = 0; i < sizeof(truths) / sizeof(truths[0]); i++) {
		if (truths[i].op == op)
			return truths[i].truth;
	}
	return NULL;
}

static uint64_t combined(const struct alu_question *q, unsigned int lane)
{
	const char *truth = truth_of(q->op);
	uint64_t result = 0;
	unsigned int i;

	for (i = 0; i < 32; i++) {
		unsigned int a = q->src[0].bits[lane] >> i & 1;
		unsigned int b = q->src[1].bits[lane] >> i & 1;

		result |= (uint64_t)(truth[a + 2 * b] - '0') << i;
	}
	return result;
}

static uint64_t counted(const struct alu_question *q, unsigned int lane)
{
	uint64_t a = q->src[0].bits[lane], b = q->src[1].bits[lane];
	uint64_t reversed = 0, ones = 0, last = ~0ull, mixed = 0;
	unsigned int i;

	for (i = 0; i < 32; i++) {
		reversed |= (a >> i & 1) << (31 - i);
		ones += a >> i & 1;
		if (a >> i & 1)
			last = i;
		mixed |= ((i & 1 ? b : a) >> i / 2 & 1) << i;
	}
	switch (q->op) {
	case AGX_OP_BITREV:
		return reversed;
	case AGX_OP_POPCNT:
		return ones;
	case AGX_OP_FFS:
		return last;
	default:
		return mixed;
	}
}

/* Floats */

/* Three bits of exponent, four of fraction; an exponent of 0 has no one in front */
static struct exact small_float(uint32_t bits)
{
	unsigned int exponent = bits >> 4 & 7, fraction = bits & 15;

	return exponent ? exact_from(bits >> 7, fraction | 16, (int)exponent - 7) :
			  exact_from(bits >> 7, fraction, -6);
}

static struct exact real(const struct alu_source *s, unsigned int lane)
{
	struct exact x;

	if (s->small_float)
		x = small_float((uint32_t)s->bits[lane]);
	else
		x = exact_decode(s->size == 32 ? &exact_single : &exact_half,
				 (uint32_t)s->bits[lane]);
	if (s->absolute)
		x.negative = false;
	if (s->negate)
		x.negative = !x.negative;
	return x;
}

/* To the destination: @single if the instruction has made a 32-bit float of it before */
static uint64_t stored(const struct alu_question *q, struct exact x, bool single)
{
	static const struct exact zero;
	struct exact one = exact_from(false, 1, 0);

	if (single)
		x = exact_decode(&exact_single, exact_encode(&exact_single, &x, false));
	if (q->saturate && (x.kind == EXACT_NAN || x.negative))
		x = zero;
	else if (q->saturate && exact_compare(&x, &one) > 0)
		x = one;
	return exact_encode(q->dst_size == 16 ? &exact_half : &exact_single, &x, false);
}

/*
 * A product that is zero keeps its sign, as IEEE 754 has it. (applegpu has it
 * added to a zero, which takes the sign away; Mesa tells Vulkan's clients that
 * it is kept.)
 */
static uint64_t arithmetic(const struct alu_question *q, unsigned int lane)
{
	struct exact a = real(&q->src[0], lane), b = real(&q->src[1], lane), c;

	switch (q->op) {
	case AGX_OP_FADD:
	case AGX_OP_HADD:
		return stored(q, exact_add(&a, &b), q->op == AGX_OP_FADD);
	case AGX_OP_FMUL:
	case AGX_OP_HMUL:
		return stored(q, exact_multiply(&a, &b), q->op == AGX_OP_FMUL);
	default:
		c = real(&q->src[2], lane);
		a = exact_multiply(&a, &b);
		return stored(q, exact_add(&a, &c), q->op == AGX_OP_FFMA);
	}
}

/* What cannot be exact */
static double function(enum agx_opcode op, double x)
{
	switch (op) {
	case AGX_OP_RCP:
		return 1 / x;
	case AGX_OP_RSQRT:
		return 1 / sqrt(x);
	case AGX_OP_RSQRTS:
		/* times x, it is the square root of x */
		return x == 0 || (isinf(x) && x > 0) ? 1 : 1 / sqrt(x);
	case AGX_OP_LOG2:
		return log2(x);
	default:
		return exp2(x);
	}
}

static struct exact from_double(double value)
{
	struct exact x = { .kind = EXACT_NUMBER, .negative = signbit(value) };
	double magnitude = fabs(value);
	int exponent;

	if (isnan(value))
		x.kind = EXACT_NAN;
	else if (magnitude > 0x1p200)
		x.kind = EXACT_INFINITY;
	else if (magnitude > 0x1p-200) {
		magnitude = frexp(magnitude, &exponent);
		x = exact_from(x.negative, (uint64_t)ldexp(magnitude, 53), exponent - 53);
	}
	return x;
}

static double to_double(const struct exact *x)
{
	double value = 0;
	int i;

	if (x->kind == EXACT_NAN)
		return NAN;
	if (x->kind == EXACT_INFINITY)
		value = INFINITY;
	for (i = 0; i < EXACT_WORDS; i++)
		value += ldexp((double)x->word[i], 64 * i - EXACT_UNIT);
	return x->negative ? -value : value;
}

static uint64_t of_one(const struct alu_question *q, unsigned int lane)
{
	struct exact x = real(&q->src[0], lane);

	switch (q->op) {
	case AGX_OP_FLOOR:
		return stored(q, exact_round(&x, EXACT_DOWN), true);
	case AGX_OP_CEIL:
		return stored(q, exact_round(&x, EXACT_UP), true);
	case AGX_OP_TRUNC:
		return stored(q, exact_round(&x, EXACT_TO_ZERO), true);
	case AGX_OP_RINT:
		return stored(q, exact_round(&x, EXACT_TO_EVEN), true);
	default:
		return stored(q, from_double(function(q->op, to_double(&x))), true);
	}
}

/* Lanes of a quad are two rows of two */
static uint64_t derivative(const struct alu_question *q, unsigned int lane)
{
	unsigned int step = q->op == AGX_OP_DFDX ? 1 : 2;
	struct exact far = real(&q->src[0], lane | step);
	struct exact near = real(&q->src[0], lane & ~step);

	near.negative = !near.negative;
	return stored(q, exact_add(&far, &near), true);
}

/* Conversions */

static const struct {
	enum agx_opcode op;
	bool to_float;
	bool is_signed;
	unsigned int size;
} conversions[] = {
	{ AGX_OP_U8_TO_F, true, false, 8 }, { AGX_OP_S8_TO_F, true, true, 8 },
	{ AGX_OP_U16_TO_F, true, false, 16 }, { AGX_OP_S16_TO_F, true, true, 16 },
	{ AGX_OP_U32_TO_F, true, false, 32 }, { AGX_OP_S32_TO_F, true, true, 32 },
	{ AGX_OP_F_TO_U16, false, false, 16 }, { AGX_OP_F_TO_S16, false, true, 16 },
	{ AGX_OP_F_TO_U32, false, false, 32 }, { AGX_OP_F_TO_S32, false, true, 32 },
};

static int conversion_of(enum agx_opcode op)
{
	unsigned int i;

	for (i = 0; i < sizeof(conversions) / sizeof(conversions[0]); i++) {
		if (conversions[i].op == op)
			return (int)i;
	}
	return -1;
}

static uint64_t converted(const struct alu_question *q, unsigned int lane)
{
	int row = conversion_of(q->op);
	unsigned int size = conversions[row].size;
	uint64_t low = q->src[0].bits[lane] & ((1ull << size) - 1), most;
	struct exact x;
	int128 n;

	if (conversions[row].to_float) {
		n = conversions[row].is_signed ? extended(low, size) : (int128)low;
		x = exact_from(n < 0, (uint64_t)(n < 0 ? -n : n), 0);
		return exact_encode(q->dst_size == 16 ? &exact_half : &exact_single, &x,
				    q->round == AGX_ROUND_ZERO);
	}
	x = real(&q->src[0], lane);
	x = exact_round(&x, q->round == AGX_ROUND_ZERO ? EXACT_TO_ZERO : EXACT_TO_EVEN);
	most = (1ull << (size - conversions[row].is_signed)) - 1;
	return (uint64_t)exact_to_integer(&x, most, conversions[row].is_signed ? most + 1 : 0);
}

/* Comparisons */

static bool integers_agree(const struct alu_question *q, unsigned int lane)
{
	bool is_signed = q->cond >> 2 & 1, holds;
	int128 n[2];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		const struct alu_source *s = &q->src[i];

		n[i] = is_signed && s->size > 8 ? extended(s->bits[lane], s->size) :
						  (int128)s->bits[lane];
	}
	switch (q->cond & 3) {
	case 0:
		holds = n[0] == n[1];
		break;
	case 1:
		holds = n[0] < n[1];
		break;
	default:
		holds = n[0] > n[1];
	}
	return holds != (q->cond >> 3 & 1);
}

static bool floats_agree(const struct alu_question *q, unsigned int lane)
{
	struct exact a = real(&q->src[0], lane), b = real(&q->src[1], lane);
	bool ordered = a.kind != EXACT_NAN && b.kind != EXACT_NAN, holds;
	int order = ordered ? exact_compare(&a, &b) : 0;

	switch (q->cond & 7) {
	case AGX_FCOND_EQ:
		holds = ordered && order == 0;
		break;
	case AGX_FCOND_LT:
		holds = ordered && order < 0;
		break;
	case AGX_FCOND_GT:
		holds = ordered && order > 0;
		break;
	case AGX_FCOND_LTN:
		/* a minimum takes the first when the second is NaN */
		holds = (ordered && order < 0) || b.kind == EXACT_NAN;
		break;
	case AGX_FCOND_GE:
		holds = ordered && order >= 0;
		break;
	case AGX_FCOND_LE:
		holds = ordered && order <= 0;
		break;
	default:
		holds = (ordered && order > 0) || b.kind == EXACT_NAN;
	}
	return holds != (q->cond >> 3 & 1);
}

static bool agree(const struct alu_question *q, unsigned int lane)
{
	return q->op == AGX_OP_FCSEL || q->op == AGX_OP_FCMP_BALLOT ? floats_agree(q, lane) :
								     integers_agree(q, lane);
}

static uint64_t voted(const struct alu_question *q, unsigned int lane)
{
	uint64_t ballot = 0;
	unsigned int i;

	for (i = 0; i < ALU_LANES; i++) {
		if ((q->active >> i & 1) && (q->op == AGX_OP_BALLOT_ACTIVE || agree(q, i)))
			ballot |= 1ull << i;
	}
	return q->quad ? ballot >> lane / 4 * 4 & 15 : ballot;
}

/*
 * Shuffles move within quads first, by the low bits of what all threads of the
 * quad ask for, and whole quads after that.
 */
static unsigned int moved(const struct alu_question *q, unsigned int lane, unsigned int by)
{
	switch (q->kind) {
	case AGX_SHUFFLE_XOR:
		return lane ^ by;
	case AGX_SHUFFLE_UP:
		return lane - by;
	case AGX_SHUFFLE_DOWN:
		return lane + by;
	default:
		return by;
	}
}

static uint64_t shuffled(const struct alu_question *q, unsigned int lane)
{
	unsigned int from = moved(q, lane, q->src[1].bits[lane] & 0xffff), low = 0, i;

	if (q->rotate)
		from &= ALU_LANES - 1;
	if (from >= ALU_LANES)
		return q->src[0].bits[lane];
	for (i = 0; i < 4; i++)
		low |= q->src[1].bits[from / 4 * 4 + i] & 3;
	return q->src[0].bits[from / 4 * 4 + (moved(q, lane & 3, low) & 3)];
}

/* Reductions of integers: the order doesn't matter */

static uint64_t reduced(const struct alu_question *q, unsigned int lane)
{
	const struct alu_source *s = &q->src[0];
	unsigned int width = q->op == AGX_OP_QUAD_REDUCE ? 4 : ALU_LANES;
	unsigned int first = lane / width * width, i;
	unsigned int end = q->prefix ? lane : first + width;
	bool is_signed = q->kind == AGX_REDUCE_SMIN || q->kind == AGX_REDUCE_SMAX;
	int128 result = 0;
	bool any = false;

	for (i = first; i < end; i++) {
		int128 n = is_signed && s->size > 8 ? extended(s->bits[i], s->size) :
						      (int128)s->bits[i];

		if (!(q->active >> i & 1))
			continue;
		if (!any)
			result = n;
		else if (q->kind == AGX_REDUCE_AND)
			result &= n;
		else if (q->kind == AGX_REDUCE_OR)
			result |= n;
		else if (q->kind == AGX_REDUCE_XOR)
			result ^= n;
		else if (q->kind == AGX_REDUCE_IADD)
			result += n;
		else if (q->kind == AGX_REDUCE_SMIN || q->kind == AGX_REDUCE_UMIN)
			result = n < result ? n : result;
		else
			result = n > result ? n : result;
		any = true;
	}
	return (uint64_t)result;
}

/* What the first thread of a prefix gets is not described, unless it is zero */
static bool reduction_is_described(const struct alu_question *q)
{
	switch (q->kind) {
	case AGX_REDUCE_OR:
	case AGX_REDUCE_XOR:
	case AGX_REDUCE_IADD:
		return true;
	case AGX_REDUCE_AND:
	case AGX_REDUCE_SMIN:
	case AGX_REDUCE_SMAX:
	case AGX_REDUCE_UMIN:
	case AGX_REDUCE_UMAX:
		return !q->prefix;
	default:
		return false;
	}
}

typedef uint64_t lane_fn(const struct alu_question *q, unsigned int lane);

static uint64_t added(const struct alu_question *q, unsigned int lane)
{
	return sum(q, lane, false);
}

static uint64_t subtracted(const struct alu_question *q, unsigned int lane)
{
	return sum(q, lane, true);
}

static uint64_t multiplied(const struct alu_question *q, unsigned int lane)
{
	return product(q, lane, q->op == AGX_OP_IMSUB);
}

static uint64_t selected(const struct alu_question *q, unsigned int lane)
{
	return q->src[agree(q, lane) ? 2 : 3].bits[lane];
}

static uint64_t given(const struct alu_question *q, unsigned int lane)
{
	return q->immediate;
}

static lane_fn *function_of(enum agx_opcode op)
{
	if (truth_of(op))
		return combined;
	if (conversion_of(op) >= 0)
		return converted;
	switch (op) {
	case AGX_OP_MOV_IMM16:
	case AGX_OP_MOV_IMM32:
		return given;
	case AGX_OP_IADD:
		return added;
	case AGX_OP_ISUB:
		return subtracted;
	case AGX_OP_IMUL:
	case AGX_OP_IMADD:
	case AGX_OP_IMSUB:
		return multiplied;
	case AGX_OP_SHL:
	case AGX_OP_SHR:
	case AGX_OP_BFI:
	case AGX_OP_BFEIL:
	case AGX_OP_EXTR:
	case AGX_OP_SHLHI:
	case AGX_OP_SHRHI:
		return shifted;
	case AGX_OP_ASR:
	case AGX_OP_ASRH:
		return shifted_signed;
	case AGX_OP_BITREV:
	case AGX_OP_POPCNT:
	case AGX_OP_FFS:
	case AGX_OP_INTL:
		return counted;
	case AGX_OP_FFMA:
	case AGX_OP_HFMA:
	case AGX_OP_FADD:
	case AGX_OP_HADD:
	case AGX_OP_FMUL:
	case AGX_OP_HMUL:
		return arithmetic;
	case AGX_OP_FLOOR:
	case AGX_OP_CEIL:
	case AGX_OP_TRUNC:
	case AGX_OP_RINT:
	case AGX_OP_RCP:
	case AGX_OP_RSQRT:
	case AGX_OP_RSQRTS:
	case AGX_OP_LOG2:
	case AGX_OP_EXP2:
		return of_one;
	case AGX_OP_DFDX:
	case AGX_OP_DFDY:
		return derivative;
	case AGX_OP_ICSEL:
	case AGX_OP_FCSEL:
		return selected;
	case AGX_OP_BALLOT_ACTIVE:
	case AGX_OP_ICMP_BALLOT:
	case AGX_OP_FCMP_BALLOT:
		return voted;
	case AGX_OP_SHUFFLE:
		return shuffled;
	case AGX_OP_QUAD_REDUCE:
	case AGX_OP_SIMD_REDUCE:
		return reduced;
	default:
		return NULL;
	}
}

static bool is_described(const struct alu_question *q)
{
	if (q->op == AGX_OP_SHUFFLE)
		return !q->quad && (!q->rotate || q->kind == AGX_SHUFFLE_UP);
	if (q->op == AGX_OP_QUAD_REDUCE || q->op == AGX_OP_SIMD_REDUCE)
		return reduction_is_described(q);
	return true;
}

static bool gives_float(lane_fn *f, enum agx_opcode op)
{
	return f == arithmetic || f == of_one || f == derivative ||
	       (f == converted && conversions[conversion_of(op)].to_float);
}

static bool is_approximate(enum agx_opcode op)
{
	return op == AGX_OP_RCP || op == AGX_OP_RSQRT || op == AGX_OP_RSQRTS ||
	       op == AGX_OP_LOG2 || op == AGX_OP_EXP2;
}

bool alu_is_covered(enum agx_opcode op)
{
	return function_of(op);
}

bool alu_reference(const struct alu_question *q, struct alu_answer *answer)
{
	lane_fn *f = function_of(q->op);
	uint64_t mask = q->dst_size == 64 ? ~0ull : (1ull << q->dst_size) - 1;
	unsigned int i;

	if (!f || !is_described(q))
		return false;
	for (i = 0; i < ALU_LANES; i++)
		answer->bits[i] = f(q, i) & mask;
	answer->is_float = gives_float(f, q->op);
	answer->ulps = is_approximate(q->op) ? 2 : 0;
	return true;
}
