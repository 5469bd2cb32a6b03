// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
//
// The product of two square matrices with sides of count, in numbers of any type, tile by
// tile through shared memory. Each thread has four results, and loads two numbers of each
// tile.

#define GROUP 16u
#define TILE 32u

layout(local_size_x = 16, local_size_y = 16) in;

layout(set = 0, binding = 0) readonly buffer Source {
	float source[];
};
layout(set = 0, binding = 1) writeonly buffer Result {
	float result[];
};
layout(push_constant) uniform Constants {
	uint count;
	uint constant;
};

shared number left[TILE][GROUP];
shared number right[GROUP][TILE];

void main()
{
	uvec2 i = gl_LocalInvocationID.xy, first = gl_WorkGroupID.xy * TILE;
	number sum00 = number(0), sum01 = number(0), sum10 = number(0), sum11 = number(0);

	for (uint from = 0u; from < count; from += GROUP) {
		uint row = (first.y + i.y) * count + from + i.x;
		uint column = (count + from + i.y) * count + first.x + i.x;

		left[i.y][i.x] = number(source[row]);
		left[i.y + GROUP][i.x] = number(source[row + GROUP * count]);
		right[i.y][i.x] = number(source[column]);
		right[i.y][i.x + GROUP] = number(source[column + GROUP]);
		barrier();
		for (uint k = 0u; k < GROUP; k++) {
			number upper = left[i.y][k], lower = left[i.y + GROUP][k];
			number one = right[k][i.x], other = right[k][i.x + GROUP];

			sum00 += upper * one;
			sum01 += upper * other;
			sum10 += lower * one;
			sum11 += lower * other;
		}
		barrier();
	}
	uint at = (first.y + i.y) * count + first.x + i.x;

	result[at] = float(sum00);
	result[at + GROUP] = float(sum01);
	result[at + GROUP * count] = float(sum10);
	result[at + GROUP * count + GROUP] = float(sum11);
}
