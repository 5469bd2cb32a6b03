/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What instructions that reach memory ask the sanitizer, on the core's thread.
 */
#ifndef VAGX_SANITIZER_REACH_H
#define VAGX_SANITIZER_REACH_H

#include "gpu/core_internal.h"

/**
 * vagx_shadow_reach() - where to load or store an element of device memory
 * @sg: simdgroup, on a core that keeps stores
 * @op: instruction; an atomic or a coherent access goes to memory
 * @memory: where the element is in memory
 * @size: its bytes, up to 4
 * @is_store: it is stored, or changed
 *
 * Return: where it is until the next call.
 */
void *vagx_shadow_reach(struct simdgroup *sg, const struct op *op, void *memory, unsigned int size,
			bool is_store);

/**
 * vagx_shadow_load() - where to load a row of words from
 * @sg: simdgroup, on a core that keeps stores
 * @memory: where the words are in memory
 * @size: bytes, up to 4 words of each lane
 *
 * Return: where they are until the next call.
 */
const void *vagx_shadow_load(const struct simdgroup *sg, const void *memory, unsigned int size);

/**
 * vagx_shadow_store() - store a row of words
 * @sg: simdgroup, on a core that keeps stores
 * @op: instruction, which is not coherent
 * @memory: where the words are in memory
 * @words: what is stored
 * @size: bytes
 */
void vagx_shadow_store(const struct simdgroup *sg, const struct op *op, void *memory,
		       const uint32_t *words, unsigned int size);

#endif /* VAGX_SANITIZER_REACH_H */
