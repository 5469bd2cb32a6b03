#version 450
// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
//
// Threads that each go another way than their neighbours. All ways lead to numbers between
// 1 and 2 that are closer together than before, so that differences of rounding stay small.

layout(local_size_x = 64) in;

layout(set = 0, binding = 1) buffer Result {
	float result[];
};
layout(push_constant) uniform Constants {
	uint count;
	uint constant;
};

void main()
{
	uint i = gl_GlobalInvocationID.x;
	float x = 1.0 + float(i & 1023u) / 1024.0;

	for (uint round = 0u; round < constant; round++) {
		switch ((i + round) & 15u) {
		case 0u:
			x = sqrt(x + 0.5);
			break;
		case 1u:
			x = 1.0 + fract(x * 0.375);
			break;
		case 2u:
			x = sqrt(x * 0.75 + 1.0);
			break;
		case 3u:
			x = 1.0 + fract(x * 0.25 + 0.125);
			break;
		case 4u:
			x = sqrt(x) * 0.5 + 0.75;
			break;
		case 5u:
			x = 1.5 - fract(x * 0.125);
			break;
		case 6u:
			x = sqrt(3.0 - x) + 0.25;
			break;
		case 7u:
			x = 1.25 + fract(x * 0.3125) * 0.5;
			break;
		case 8u:
			x = sqrt(x * x * 0.25 + 1.0);
			break;
		case 9u:
			x = 1.0 + fract(x * x * 0.125);
			break;
		case 10u:
			x = sqrt(x * 0.5) + 0.5;
			break;
		case 11u:
			x = 1.75 - fract(x * 0.25) * x * 0.25;
			break;
		case 12u:
			x = sqrt(4.0 - x * x * 0.5) * 0.75 + 0.25;
			break;
		case 13u:
			x = 1.125 + fract(x * 0.4375) * 0.75;
			break;
		case 14u:
			x = sqrt(x + 1.0) * 0.625 + 0.25;
			break;
		default:
			x = 1.0 + fract(x * 0.1875) * fract(x * 0.4375);
			break;
		}
	}
	result[i] = x;
}
