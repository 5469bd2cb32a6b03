// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * A buffer for code.
 */
#include <stdlib.h>
#include <string.h>

#include "buffer.h"

bool vagx_buf_reserve(struct code_buf *code, size_t size)
{
	size_t capacity = code->capacity ? code->capacity : 4096;
	uint8_t *bytes;

	while (capacity < code->length + size)
		capacity *= 2;
	if (capacity == code->capacity)
		return !code->failed;
	bytes = realloc(code->bytes, capacity);
	if (!bytes) {
		code->failed = true;
		return false;
	}
	code->bytes = bytes;
	code->capacity = capacity;
	return !code->failed;
}

void vagx_buf_bytes(struct code_buf *code, const void *bytes, size_t count)
{
	memcpy(code->bytes + code->length, bytes, count);
	code->length += count;
}

void vagx_buf_word(struct code_buf *code, uint32_t word)
{
	vagx_buf_bytes(code, &word, sizeof(word));
}
