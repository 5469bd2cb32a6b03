#version 450
// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#extension GL_GOOGLE_include_directive : require
#extension GL_ARB_gpu_shader_int64 : require
#include "common.glsl"

void put(uint64_t value)
{
	put(uint(value));
	put(uint(value >> 32));
}

void main()
{
	uint64_t a = packUint2x32(uvec2(word(0), word(1)));
	uint64_t b = packUint2x32(uvec2(word(2), word(3) & 0xffffu));

	put(a + b);
	put(a - b);
	put(a * b);
	put(a << (word(4) & 63u));
	put(a >> (word(4) & 63u));
	put(uint64_t(int64_t(a) >> (word(4) & 63u)));
	put(a & b | a >> 1);
	put(a < b);
	put(int64_t(a) > int64_t(b));
	put(min(a, b));
	put(a / (b | 1ul));
	put(uint64_t(word(5)) * word(6));
	put(float(a));
}
