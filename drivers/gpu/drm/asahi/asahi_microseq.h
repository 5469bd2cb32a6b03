/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Microsequences: the small programs that the firmware runs for each piece of
 * work.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_MICROSEQ_H
#define ASAHI_MICROSEQ_H

#include <linux/bug.h>
#include <linux/types.h>

/**
 * struct asahi_microseq - a microsequence, built by appending operations
 * @map: its memory, zeroed
 * @va: firmware address of that
 * @size: bytes of it
 * @used: bytes that operations take
 * @start: offset of the operation that starts the work
 * @finalize: offset of the operation that ends it
 *
 * What is written when the work is about to run is found again through @start
 * and @finalize, because timestamps may lie between them or not.
 */
struct asahi_microseq {
	void *map;
	u64 va;
	size_t size;
	size_t used;
	size_t start;
	size_t finalize;
};

/**
 * asahi_microseq_append() - add an operation
 * @seq: microsequence
 * @size: bytes of the operation
 *
 * The memory is as large as the longest sequence of its kind, so it does not
 * run out unless the size in struct asahi_work_abi is wrong.
 *
 * Return: the zeroed operation.
 */
static inline void *asahi_microseq_append(struct asahi_microseq *seq, size_t size)
{
	void *op = seq->map + seq->used;

	if (WARN_ON(size > seq->size - seq->used))
		return NULL;

	seq->used += size;

	return op;
}

#endif
