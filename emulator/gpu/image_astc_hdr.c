// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * ASTC endpoints of high dynamic range (Khronos Data Format Specification, "ASTC", "HDR Endpoint
 * Decoding"). They have 12 bits a channel, as logarithms. The 8 bits of a colour value are too
 * few for that: some of them choose a mode, which says to which bits of which decoded value the
 * others belong. Functions have no state.
 */
#include "agx_float.h"
#include "gpu/image_astc_hdr.h"

#define ONE	0x780		/* of 12 bits */
#define MAX_12_BITS	0xfff

enum { R, G, B, A };

static int astc_hdr_bit(int value, unsigned int n)
{
	return value >> n & 1;
}

static int astc_hdr_clamp(int value)
{
	return value < 0 ? 0 : value > MAX_12_BITS ? MAX_12_BITS : value;
}

static void astc_hdr_set_endpoint(int endpoint[4], int r, int g, int b)
{
	endpoint[R] = astc_hdr_clamp(r);
	endpoint[G] = astc_hdr_clamp(g);
	endpoint[B] = astc_hdr_clamp(b);
	endpoint[A] = ONE;
}

static void astc_hdr_swap(int endpoint[4], unsigned int a, unsigned int b)
{
	int value = endpoint[a];

	endpoint[a] = endpoint[b];
	endpoint[b] = value;
}

/* The bit of a decoded value that one of the other bits belongs to; none if @bits is 0 */
struct bit_target {
	unsigned char value, bits;
};

static void astc_hdr_put_odd_bit(int *value, const struct bit_target *target, int odd)
{
	value[target->value] |= odd * target->bits << 5;
}

/* Bits 5 and up, as astc_hdr_put_odd_bit() takes them */
#define AT(value, at)	{ value, 1 << ((at) - 5) }
#define NOWHERE		{ 0, 0 }

/* Luminance */

static void astc_hdr_wide_luminance(const int *v, int endpoints[2][4])
{
	int low = v[0] << 4, high = v[1] << 4;

	if (v[1] < v[0]) {
		low = (v[1] << 4) + 8;
		high = (v[0] << 4) - 8;
	}
	astc_hdr_set_endpoint(endpoints[0], low, low, low);
	astc_hdr_set_endpoint(endpoints[1], high, high, high);
}

static void astc_hdr_narrow_luminance(const int *v, int endpoints[2][4])
{
	/* bits of the difference, which the mode's bit chooses, and what they count */
	unsigned int bits = astc_hdr_bit(v[0], 7) ? 5 : 4, shift = astc_hdr_bit(v[0], 7) ? 2 : 1;
	int mask = (1 << bits) - 1;
	int low = (v[1] & 0xff & ~mask) << 4 | (v[0] & 0x7f) << shift;
	int high = low + ((v[1] & mask) << shift);

	astc_hdr_set_endpoint(endpoints[0], low, low, low);
	astc_hdr_set_endpoint(endpoints[1], high, high, high);
}

/* HDR RGB, base and scale: an endpoint, and by how much the other one is less in each channel */

enum { SCALE = 3, SCALE_VALUES };

static const struct {
	struct bit_target odd[7];
	unsigned char shift;
} astc_hdr_scale_modes[] = {
	{ { AT(R, 9), AT(R, 8), AT(R, 7), AT(R, 10), AT(R, 6), AT(SCALE, 6), AT(SCALE, 5) }, 1 },
	{ { AT(R, 8), AT(G, 5), AT(R, 7), AT(B, 5), AT(R, 6), AT(R, 10), AT(R, 9) }, 1 },
	{ { AT(R, 9), AT(R, 8), AT(R, 7), AT(R, 6), AT(SCALE, 7), AT(SCALE, 6), AT(SCALE, 5) }, 2 },
	{ { AT(R, 8), AT(G, 5), AT(R, 7), AT(B, 5), AT(R, 6), AT(SCALE, 6), AT(SCALE, 5) }, 3 },
	{ { AT(G, 6), AT(G, 5), AT(B, 6), AT(B, 5), AT(R, 6), AT(R, 7), AT(SCALE, 5) }, 4 },
	{ { AT(G, 6), AT(G, 5), AT(B, 6), AT(B, 5), AT(R, 6), AT(SCALE, 6), AT(SCALE, 5) }, 5 },
};

static void astc_hdr_base_and_scale(const int *v, int endpoints[2][4])
{
	unsigned int bits = v[0] >> 6 | astc_hdr_bit(v[1], 7) << 2 | astc_hdr_bit(v[2], 7) << 3;
	const int odd[7] = {
		astc_hdr_bit(v[1], 6), astc_hdr_bit(v[1], 5), astc_hdr_bit(v[2], 6),
		astc_hdr_bit(v[2], 5), astc_hdr_bit(v[3], 7), astc_hdr_bit(v[3], 6),
		astc_hdr_bit(v[3], 5),
	};
	int n[SCALE_VALUES] = { v[0] & 0x3f, v[1] & 0x1f, v[2] & 0x1f, v[3] & 0x1f };
	unsigned int major = bits >> 2, mode = bits & 3, i;

	if (bits == 15) {
		major = R;
		mode = 5;
	} else if (major == 3) {
		major = bits & 3;
		mode = 4;
	}
	for (i = 0; i < 7; i++)
		astc_hdr_put_odd_bit(n, &astc_hdr_scale_modes[mode].odd[i], odd[i]);
	for (i = 0; i < SCALE_VALUES; i++)
		n[i] <<= astc_hdr_scale_modes[mode].shift;
	/* in all modes but the last, G and B are differences to the major component */
	if (mode != 5) {
		n[G] = n[R] - n[G];
		n[B] = n[R] - n[B];
	}
	astc_hdr_swap(n, R, major);
	astc_hdr_set_endpoint(endpoints[0], n[R] - n[SCALE], n[G] - n[SCALE], n[B] - n[SCALE]);
	astc_hdr_set_endpoint(endpoints[1], n[R], n[G], n[B]);
}

/*
 * HDR RGB, direct; a, b0, b1, c, d0 and d1 of the specification: the major component of the one
 * endpoint, by how much its other two are less, by how much the other endpoint is less, and what
 * is subtracted from the latter's other two besides
 */

enum { V_A, V_B0, V_B1, V_C, V_D0, V_D1, DIRECT_VALUES };

static const struct {
	struct bit_target odd[6];
	unsigned char d_bits;
} astc_hdr_direct_modes[] = {
	{ { AT(V_B0, 6), AT(V_B1, 6), NOWHERE, NOWHERE, NOWHERE, NOWHERE }, 7 },
	{ { AT(V_B0, 6), AT(V_B1, 6), AT(V_B0, 7), AT(V_B1, 7), NOWHERE, NOWHERE }, 6 },
	{ { AT(V_A, 9), AT(V_C, 6), NOWHERE, NOWHERE, NOWHERE, NOWHERE }, 7 },
	{ { AT(V_B0, 6), AT(V_B1, 6), AT(V_A, 9), AT(V_C, 6), NOWHERE, NOWHERE }, 6 },
	{ { AT(V_B0, 6), AT(V_B1, 6), AT(V_B0, 7), AT(V_B1, 7), AT(V_A, 9),
	    AT(V_A, 10) }, 5 },
	{ { AT(V_A, 9), AT(V_A, 10), AT(V_C, 7), AT(V_C, 6), NOWHERE, NOWHERE }, 6 },
	{ { AT(V_B0, 6), AT(V_B1, 6), AT(V_A, 11), AT(V_C, 6), AT(V_A, 9),
	    AT(V_A, 10) }, 5 },
	{ { AT(V_A, 9), AT(V_A, 10), AT(V_A, 11), AT(V_C, 6), NOWHERE, NOWHERE }, 6 },
};

static int astc_hdr_sign_extend(int value, unsigned int bits)
{
	int sign = 1 << (bits - 1);

	return ((value & (2 * sign - 1)) ^ sign) - sign;
}

static void astc_hdr_direct(const int *v, int endpoints[2][4])
{
	unsigned int major = astc_hdr_bit(v[4], 7) | astc_hdr_bit(v[5], 7) << 1;
	unsigned int mode = astc_hdr_bit(v[1], 7) | astc_hdr_bit(v[2], 7) << 1 |
			    astc_hdr_bit(v[3], 7) << 2,
		     i;
	const int odd[6] = {
		astc_hdr_bit(v[2], 6), astc_hdr_bit(v[3], 6), astc_hdr_bit(v[4], 6),
		astc_hdr_bit(v[5], 6), astc_hdr_bit(v[4], 5), astc_hdr_bit(v[5], 5),
	};
	int n[DIRECT_VALUES] = {
		v[0] | astc_hdr_bit(v[1], 6) << 8, v[2] & 0x3f, v[3] & 0x3f, v[1] & 0x3f,
		astc_hdr_sign_extend(v[4], astc_hdr_direct_modes[mode].d_bits),
		astc_hdr_sign_extend(v[5], astc_hdr_direct_modes[mode].d_bits),
	};

	if (major == 3) {
		astc_hdr_set_endpoint(endpoints[0], v[0] << 4, v[2] << 4, (v[4] & 0x7f) << 5);
		astc_hdr_set_endpoint(endpoints[1], v[1] << 4, v[3] << 4, (v[5] & 0x7f) << 5);
		return;
	}
	for (i = 0; i < 6; i++)
		astc_hdr_put_odd_bit(n, &astc_hdr_direct_modes[mode].odd[i], odd[i]);
	for (i = 0; i < DIRECT_VALUES; i++)
		n[i] *= 1 << (mode / 2 ^ 3);
	astc_hdr_set_endpoint(endpoints[0], n[V_A] - n[V_C], n[V_A] - n[V_B0] - n[V_C] - n[V_D0],
			      n[V_A] - n[V_B1] - n[V_C] - n[V_D1]);
	astc_hdr_set_endpoint(endpoints[1], n[V_A], n[V_A] - n[V_B0], n[V_A] - n[V_B1]);
	for (i = 0; i < 2; i++)
		astc_hdr_swap(endpoints[i], R, major);
}

/* HDR alpha: two values, or one and a difference, whose bits the mode shares between them */
static void astc_hdr_alphas(int first, int second, int endpoints[2][4])
{
	unsigned int mode = astc_hdr_bit(first, 7) | astc_hdr_bit(second, 7) << 1;

	first &= 0x7f;
	second &= 0x7f;
	if (mode == 3) {
		endpoints[0][A] = first << 5;
		endpoints[1][A] = second << 5;
		return;
	}
	first |= second << (mode + 1) & 0x780;
	endpoints[0][A] = first << (4 - mode);
	second = astc_hdr_sign_extend(second, 6 - mode) * (1 << (4 - mode));
	endpoints[1][A] = astc_hdr_clamp(endpoints[0][A] + second);
}

unsigned int vagx_astc_hdr_endpoints(unsigned int cem, const int *v, int endpoints[2][4])
{
	unsigned int hdr_channels = cem == 14 ? 7 : 15, i, n;

	switch (cem) {
	case 2:
		astc_hdr_wide_luminance(v, endpoints);
		break;
	case 3:
		astc_hdr_narrow_luminance(v, endpoints);
		break;
	case 7:
		astc_hdr_base_and_scale(v, endpoints);
		break;
	default:
		astc_hdr_direct(v, endpoints);
	}
	if (cem == 15)
		astc_hdr_alphas(v[6], v[7], endpoints);
	for (n = 0; n < 2; n++) {
		for (i = 0; i < 4; i++)
			endpoints[n][i] <<= 4;
		if (cem == 14)
			endpoints[n][A] = v[6 + n] * 257;
	}
	return hdr_channels;
}

/* Approximates 2 to the power of a fraction by three straight lines, as the specification does */
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
