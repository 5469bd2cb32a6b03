#version 450
// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

void main()
{
	uint a = word(0);
	float f = number(1) * 100.0;
	vec4 v = vec4(number(0), number(1), number(2), number(3));

	put(float(a));
	put(float(int(a)));
	put(int(f));
	put(uint(abs(f)));
	put(float(a & 0xffu));
	put(float(int(a) >> 24));
	put(float(a & 0xffffu) / 65535.0);
	put(packHalf2x16(v.xy));
	put(unpackHalf2x16(a & 0x3bff3bffu).x);
	put(unpackHalf2x16(a & 0x3bff3bffu).y);
	put(packUnorm4x8(v));
	put(packSnorm4x8(v));
	put(packUnorm2x16(v.zw));
	put(unpackUnorm4x8(a).z);
	put(unpackSnorm4x8(a).w);
	put(unpackUnorm2x16(a).y);
}
