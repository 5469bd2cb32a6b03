#version 450
// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require
#extension GL_KHR_shader_subgroup_quad : require
#include "common.glsl"

shared uint words[64];

/* Implementations differ in the size of a subgroup, so each checks itself */
void main()
{
	uint a = word(0);
	uint i = gl_LocalInvocationIndex;
	uint lane = gl_SubgroupInvocationID, size = gl_SubgroupSize;
	uint first = i - lane;
	uint sum = 0u, before = 0u, low = ~0u, all = ~0u, ballot = 0u;

	words[i] = a;
	barrier();
	for (uint n = 0u; n < size; n++) {
		uint w = words[first + n];

		sum += w;
		before += n < lane ? w : 0u;
		low = min(low, w);
		all &= w;
		if (n < 32u && (w & 1u) != 0u)
			ballot |= 1u << n;
	}

	put(subgroupAdd(a) == sum);
	put(subgroupExclusiveAdd(a) == before);
	put(subgroupInclusiveAdd(a) == before + a);
	put(subgroupMin(a) == low);
	put(subgroupAnd(a) == all);
	put(subgroupBallot((a & 1u) != 0u).x == ballot);
	put(subgroupAny(lane == 1u));
	put(subgroupAll(lane < size));
	put(subgroupBroadcastFirst(a) == words[first]);
	put(subgroupBroadcast(a, 2u) == words[first + 2u]);
	put(subgroupShuffle(a, (lane * 3u + 1u) % size) ==
	    words[first + (lane * 3u + 1u) % size]);
	put(subgroupShuffleXor(a, 3u) == words[first + (lane ^ 3u)]);
	put(lane < 1u || subgroupShuffleUp(a, 1u) == words[i - 1u]);
	put(subgroupQuadSwapHorizontal(a) == words[i ^ 1u]);
	put(subgroupQuadBroadcast(a, 3u) == words[i | 3u]);
	put(subgroupElect() == (lane == 0u));
	/* With some of the threads away */
	bool odd = (lane & 1u) != 0u;
	uint odds = 0u;
	for (uint n = 1u; n < size; n += 2u)
		odds += words[first + n];
	if (odd)
		put(subgroupAdd(a) == odds);
	else
		put(true);
}
