/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Code that is being made: a buffer that grows. Used by one thread at a time.
 */
#ifndef VAGX_JIT_BUFFER_H
#define VAGX_JIT_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct code_buf - code that is being made
 * @bytes: buffer; NULL until there is any, or after its growth has failed
 * @length: bytes of code
 * @capacity: bytes of the buffer
 * @failed: there was no memory; everything appended since is lost
 */
struct code_buf {
	uint8_t *bytes;
	size_t length;
	size_t capacity;
	bool failed;
};

/** vagx_buf_reserve() - make room for @size bytes. Return: false if there is no memory. */
bool vagx_buf_reserve(struct code_buf *code, size_t size);

/** vagx_buf_bytes() - append bytes, for which there is room */
void vagx_buf_bytes(struct code_buf *code, const void *bytes, size_t count);
/** vagx_buf_word() - the same for a word of 32 bits */
void vagx_buf_word(struct code_buf *code, uint32_t word);

#endif /* VAGX_JIT_BUFFER_H */
