#version 450
// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

void main()
{
	uint a = word(0), b = word(1), c = word(2);
	int sa = int(a), sb = int(b);
	uint high, low, carry;

	put(a + b);
	put(a - b);
	put(a * b + c);
	put(a / (b | 1u));
	put(a % (b | 1u));
	put(sa / (sb | 1));
	put(a / 7u);
	put(sa / 10);
	put(a << (b & 31u));
	put(a >> (b & 31u));
	put(sa >> (b & 31u));
	put(~a & b | c);
	put(a ^ b);
	put(min(a, b));
	put(max(sa, sb));
	put(clamp(sa, -1000, 1000));
	put(abs(sa));
	put(sign(sb));
	put(bitCount(a));
	put(bitfieldReverse(a));
	put(findMSB(a));
	put(findMSB(sa));
	put(findLSB(a));
	put(bitfieldExtract(a, 5, 11));
	put(bitfieldExtract(sa, int(b & 15u), 9));
	put(bitfieldInsert(a, b, 7, 13));
	umulExtended(a, b, high, low);
	put(high);
	put(low);
	put(uaddCarry(a, b, carry));
	put(carry);
	put(usubBorrow(a, b, carry));
	put(carry);
	put(a < b);
	put(sa < sb);
	put(a == (b & a));
	put(a >> 3 | b << 29);
	put(a > 1000u ? b : c);
	put(gl_LocalInvocationIndex + gl_WorkGroupID.x * constant);
}
