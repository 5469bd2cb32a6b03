/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Shaders that tests of the asahi driver run. Uniforms are passed in the order in
 * which they are named here.
 */
#ifndef ASAHI_SHADERS_H
#define ASAHI_SHADERS_H

#include <stddef.h>
#include <stdint.h>

enum igt_asahi_shader {
	/* 64-bit address, word: each thread writes the word plus its number */
	IGT_ASAHI_SHADER_FILL,
	/* two addresses, word: waits until the first is not 0, writes to the second */
	IGT_ASAHI_SHADER_GATE,
	/* two addresses: each thread copies the first word of a page */
	IGT_ASAHI_SHADER_PEEK,
	/* address, word: each thread writes to the first word of a page */
	IGT_ASAHI_SHADER_POKE,
	/* two addresses: the sum of 256 words, in 1 KiB of shared memory */
	IGT_ASAHI_SHADER_REDUCE,
	/* three addresses: each thread adds two floats */
	IGT_ASAHI_SHADER_VECADD,
	IGT_ASAHI_SHADERS
};

/**
 * struct igt_asahi_code - a shader
 * @code: its instructions
 * @size: bytes of them
 * @registers: registers of 16 bits that a thread needs
 */
struct igt_asahi_code {
	const uint8_t *code;
	size_t size;
	unsigned int registers;
};

extern const struct igt_asahi_code igt_asahi_shaders[IGT_ASAHI_SHADERS];

#endif
