// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
//
// What all shaders have: one thread takes word i and writes word i, and as
// many more as it likes at distances of count.

layout(local_size_x = 64) in;

layout(set = 0, binding = 0) readonly buffer Source {
	uint source[];
};
layout(set = 0, binding = 1) buffer Result {
	uint result[];
};
layout(push_constant) uniform Constants {
	uint count;
	uint constant;
};

uint written = 0;

void put(uint value)
{
	result[written * count + gl_GlobalInvocationID.x] = value;
	written++;
}

void put(int value)
{
	put(uint(value));
}

void put(float value)
{
	put(floatBitsToUint(value));
}

void put(bool value)
{
	put(value ? 1u : 0u);
}

uint word(uint distance)
{
	return source[(gl_GlobalInvocationID.x + distance) % count];
}

// Numbers of all sizes, but no NaN and nothing that overflows soon
float number(uint distance)
{
	uint bits = word(distance);
	uint exponent = 112u + (bits >> 23) % 30u;

	return uintBitsToFloat((bits & 0x807fffffu) | exponent << 23);
}
