#version 450
// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

/* Arrays with indices that are not known: private memory */
void main()
{
	uint sorted[24];
	mat4 m = mat4(1.0);
	uint i, j;

	for (i = 0u; i < 24u; i++)
		sorted[i] = word(i) >> 8;
	for (i = 1u; i < 24u; i++) {
		uint w = sorted[i];

		for (j = i; j > 0u && sorted[j - 1u] > w; j--)
			sorted[j] = sorted[j - 1u];
		sorted[j] = w;
	}
	put(sorted[0]);
	put(sorted[word(0) % 24u]);
	put(sorted[23]);

	m[word(1) & 3u][word(2) & 3u] = 5.0;
	m = m * m;
	put(m[1][2] + m[3][3]);
}
