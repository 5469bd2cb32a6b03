// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Ends of ASTC's colours with high dynamic range have 12 bits a channel. The values of
 * a block are too short for that: some of their bits say in which mode it is, and
 * where the bits behind them belong.
 */
#include "agx_float.h"
#include "gpu/image_astc_hdr.h"

#define ONE	0x780		/* of 12 bits */
#define MOST	0xfff

enum { R, G, B, A };

static int astc_hdr_bit(int value, unsigned int n)
{
	return value >> n & 1;
}

static int astc_hdr_clamp(int value)
{
	return value < 0 ? 0 : value > MOST ? MOST : value;
}

static void astc_hdr_set_end(int end[4], int r, int g, int b)
{
	end[R] = astc_hdr_clamp(r);
	end[G] = astc_hdr_clamp(g);
	end[B] = astc_hdr_clamp(b);
	end[A] = ONE;
}

static void astc_hdr_swap(int end[4], unsigned int a, unsigned int b)
{
	int value = end[a];

	end[a] = end[b];
	end[b] = value;
}

/* Which bit of which number of a mode an odd bit is; none if @bits is 0 */
struct place {
	unsigned char number, bits;
};

static void astc_hdr_put_odd_bit(int *number, const struct place *place, int odd)
{
	number[place->number] |= odd * place->bits << 5;
}

/* Bits 5 and up, as astc_hdr_put_odd_bit() takes them */
#define AT(number, at)	{ number, 1 << ((at) - 5) }
#define NOWHERE		{ 0, 0 }

/* Luminance */

static void astc_hdr_wide_luminance(const int *v, int ends[2][4])
{
	int low = v[0] << 4, high = v[1] << 4;

	if (v[1] < v[0]) {
		low = (v[1] << 4) + 8;
		high = (v[0] << 4) - 8;
	}
	astc_hdr_set_end(ends[0], low, low, low);
	astc_hdr_set_end(ends[1], high, high, high);
}

static void astc_hdr_narrow_luminance(const int *v, int ends[2][4])
{
	/* bits of the difference, which the mode's bit chooses, and what they count */
	unsigned int bits = astc_hdr_bit(v[0], 7) ? 5 : 4, shift = astc_hdr_bit(v[0], 7) ? 2 : 1;
	int mask = (1 << bits) - 1;
	int low = (v[1] & 0xff & ~mask) << 4 | (v[0] & 0x7f) << shift;
	int high = low + ((v[1] & mask) << shift);

	astc_hdr_set_end(ends[0], low, low, low);
	astc_hdr_set_end(ends[1], high, high, high);
}

/* A colour, and by how much the other one is less in each channel */

enum { SCALE = 3, SCALE_NUMBERS };

static const struct {
	struct place odd[7];
	unsigned char shift;
} astc_hdr_scale_modes[] = {
	{ { AT(R, 9), AT(R, 8), AT(R, 7), AT(R, 10), AT(R, 6), AT(SCALE, 6), AT(SCALE, 5) }, 1 },
	{ { AT(R, 8), AT(G, 5), AT(R, 7), AT(B, 5), AT(R, 6), AT(R, 10), AT(R, 9) }, 1 },
	{ { AT(R, 9), AT(R, 8), AT(R, 7), AT(R, 6), AT(SCALE, 7), AT(SCALE, 6), AT(SCALE, 5) }, 2 },
	{ { AT(R, 8), AT(G, 5), AT(R, 7), AT(B, 5), AT(R, 6), AT(SCALE, 6), AT(SCALE, 5) }, 3 },
	{ { AT(G, 6), AT(G, 5), AT(B, 6), AT(B, 5), AT(R, 6), AT(R, 7), AT(SCALE, 5) }, 4 },
	{ { AT(G, 6), AT(G, 5), AT(B, 6), AT(B, 5), AT(R, 6), AT(SCALE, 6), AT(SCALE, 5) }, 5 },
};

static void astc_hdr_base_and_scale(const int *v, int ends[2][4])
{
	unsigned int bits = v[0] >> 6 | astc_hdr_bit(v[1], 7) << 2 | astc_hdr_bit(v[2], 7) << 3;
	const int odd[7] = {
		astc_hdr_bit(v[1], 6), astc_hdr_bit(v[1], 5), astc_hdr_bit(v[2], 6),
		astc_hdr_bit(v[2], 5), astc_hdr_bit(v[3], 7), astc_hdr_bit(v[3], 6),
		astc_hdr_bit(v[3], 5),
	};
	int n[SCALE_NUMBERS] = { v[0] & 0x3f, v[1] & 0x1f, v[2] & 0x1f, v[3] & 0x1f };
	unsigned int largest = bits >> 2, mode = bits & 3, i;

	if (bits == 15) {
		largest = R;
		mode = 5;
	} else if (largest == 3) {
		largest = bits & 3;
		mode = 4;
	}
	for (i = 0; i < 7; i++)
		astc_hdr_put_odd_bit(n, &astc_hdr_scale_modes[mode].odd[i], odd[i]);
	for (i = 0; i < SCALE_NUMBERS; i++)
		n[i] <<= astc_hdr_scale_modes[mode].shift;
	/* but in the last mode the others are how much less than the largest they are */
	if (mode != 5) {
		n[G] = n[R] - n[G];
		n[B] = n[R] - n[B];
	}
	astc_hdr_swap(n, R, largest);
	astc_hdr_set_end(ends[0], n[R] - n[SCALE], n[G] - n[SCALE], n[B] - n[SCALE]);
	astc_hdr_set_end(ends[1], n[R], n[G], n[B]);
}

/*
 * The largest channel of the one end, how much less the two others are, how much less
 * the other end is, and what is to be taken from its two others besides
 */

enum { LARGEST, OTHERS, OTHERS_2, LESS, BESIDES, BESIDES_2, DIRECT_NUMBERS };

static const struct {
	struct place odd[6];
	unsigned char besides_bits;
} astc_hdr_direct_modes[] = {
	{ { AT(OTHERS, 6), AT(OTHERS_2, 6), NOWHERE, NOWHERE, NOWHERE, NOWHERE }, 7 },
	{ { AT(OTHERS, 6), AT(OTHERS_2, 6), AT(OTHERS, 7), AT(OTHERS_2, 7), NOWHERE, NOWHERE }, 6 },
	{ { AT(LARGEST, 9), AT(LESS, 6), NOWHERE, NOWHERE, NOWHERE, NOWHERE }, 7 },
	{ { AT(OTHERS, 6), AT(OTHERS_2, 6), AT(LARGEST, 9), AT(LESS, 6), NOWHERE, NOWHERE }, 6 },
	{ { AT(OTHERS, 6), AT(OTHERS_2, 6), AT(OTHERS, 7), AT(OTHERS_2, 7), AT(LARGEST, 9),
	    AT(LARGEST, 10) }, 5 },
	{ { AT(LARGEST, 9), AT(LARGEST, 10), AT(LESS, 7), AT(LESS, 6), NOWHERE, NOWHERE }, 6 },
	{ { AT(OTHERS, 6), AT(OTHERS_2, 6), AT(LARGEST, 11), AT(LESS, 6), AT(LARGEST, 9),
	    AT(LARGEST, 10) }, 5 },
	{ { AT(LARGEST, 9), AT(LARGEST, 10), AT(LARGEST, 11), AT(LESS, 6), NOWHERE, NOWHERE }, 6 },
};

static int astc_hdr_extend(int value, unsigned int bits)
{
	int sign = 1 << (bits - 1);

	return ((value & (2 * sign - 1)) ^ sign) - sign;
}

static void astc_hdr_direct(const int *v, int ends[2][4])
{
	unsigned int largest = astc_hdr_bit(v[4], 7) | astc_hdr_bit(v[5], 7) << 1;
	unsigned int mode = astc_hdr_bit(v[1], 7) | astc_hdr_bit(v[2], 7) << 1 |
			    astc_hdr_bit(v[3], 7) << 2,
		     i;
	const int odd[6] = {
		astc_hdr_bit(v[2], 6), astc_hdr_bit(v[3], 6), astc_hdr_bit(v[4], 6),
		astc_hdr_bit(v[5], 6), astc_hdr_bit(v[4], 5), astc_hdr_bit(v[5], 5),
	};
	int n[DIRECT_NUMBERS] = {
		v[0] | astc_hdr_bit(v[1], 6) << 8, v[2] & 0x3f, v[3] & 0x3f, v[1] & 0x3f,
		astc_hdr_extend(v[4], astc_hdr_direct_modes[mode].besides_bits),
		astc_hdr_extend(v[5], astc_hdr_direct_modes[mode].besides_bits),
	};

	if (largest == 3) {
		astc_hdr_set_end(ends[0], v[0] << 4, v[2] << 4, (v[4] & 0x7f) << 5);
		astc_hdr_set_end(ends[1], v[1] << 4, v[3] << 4, (v[5] & 0x7f) << 5);
		return;
	}
	for (i = 0; i < 6; i++)
		astc_hdr_put_odd_bit(n, &astc_hdr_direct_modes[mode].odd[i], odd[i]);
	for (i = 0; i < DIRECT_NUMBERS; i++)
		n[i] *= 1 << (mode / 2 ^ 3);
	astc_hdr_set_end(ends[0], n[LARGEST] - n[LESS],
			 n[LARGEST] - n[OTHERS] - n[LESS] - n[BESIDES],
			 n[LARGEST] - n[OTHERS_2] - n[LESS] - n[BESIDES_2]);
	astc_hdr_set_end(ends[1], n[LARGEST], n[LARGEST] - n[OTHERS], n[LARGEST] - n[OTHERS_2]);
	for (i = 0; i < 2; i++)
		astc_hdr_swap(ends[i], R, largest);
}

/* An alpha of high dynamic range: two, or one and a difference that is longer or shorter */
static void astc_hdr_alphas(int first, int second, int ends[2][4])
{
	unsigned int mode = astc_hdr_bit(first, 7) | astc_hdr_bit(second, 7) << 1;

	first &= 0x7f;
	second &= 0x7f;
	if (mode == 3) {
		ends[0][A] = first << 5;
		ends[1][A] = second << 5;
		return;
	}
	first |= second << (mode + 1) & 0x780;
	ends[0][A] = first << (4 - mode);
	ends[1][A] =
		astc_hdr_clamp(ends[0][A] + astc_hdr_extend(second, 6 - mode) * (1 << (4 - mode)));
}

unsigned int vagx_astc_hdr_ends(unsigned int format, const int *v, int ends[2][4])
{
	unsigned int logarithms = format == 14 ? 7 : 15, i, n;

	switch (format) {
	case 2:
		astc_hdr_wide_luminance(v, ends);
		break;
	case 3:
		astc_hdr_narrow_luminance(v, ends);
		break;
	case 7:
		astc_hdr_base_and_scale(v, ends);
		break;
	default:
		astc_hdr_direct(v, ends);
	}
	if (format == 15)
		astc_hdr_alphas(v[6], v[7], ends);
	for (n = 0; n < 2; n++) {
		for (i = 0; i < 4; i++)
			ends[n][i] <<= 4;
		if (format == 14)
			ends[n][A] = v[6 + n] * 257;
	}
	return logarithms;
}

/* The fraction's logarithm is close to three straight lines, exact where they meet */
float vagx_astc_hdr_float(int value)
{
	int exponent = value >> 11, fraction = value & 0x7ff, half;

	if (fraction < 512)
		fraction = 3 * fraction;
	else if (fraction < 1536)
		fraction = 4 * fraction - 512;
	else
		fraction = 5 * fraction - 2048;
	half = exponent << 10 | fraction >> 3;
	return float_from_half(half > 0x7bff ? 0x7bff : half);
}
