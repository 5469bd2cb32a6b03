/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Memory that somebody has written down, and the driver's core dumps.
 */
#ifndef CLIENT_DUMP_H
#define CLIENT_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agx_stream.h"

/** struct dump_piece - bytes that follow each other */
struct dump_piece {
	uint64_t va;
	size_t size;
	uint8_t *bytes;
};

/** struct dump_memory - what is known of an address space; begins as zeros */
struct dump_memory {
	struct dump_piece *pieces;
	unsigned int count;
};

/**
 * dump_add() - add memory
 * @memory: where to
 * @va: its address
 * @data: its contents
 * @size: bytes
 *
 * Return: 0 or -ENOMEM.
 */
int dump_add(struct dump_memory *memory, uint64_t va, const void *data,
	     size_t size);

/** dump_free() - forget all memory */
void dump_free(struct dump_memory *memory);

/**
 * dump_read() - read memory, in the form of &agx_stream_source.read
 * @ctx: struct dump_memory
 * @va: address
 * @buf: where it goes
 * @len: bytes
 *
 * Return: 0, or -EFAULT if some of it is not known.
 */
int dump_read(void *ctx, uint64_t va, void *buf, size_t len);

/** struct dump_stream - a stream and the memory that it is in */
struct dump_stream {
	enum agx_stream_kind kind;
	uint64_t va;
	bool has_usc_base;
	uint64_t usc_base;
	const struct dump_memory *memory;
};

/**
 * struct dump_visitor - callbacks for the parts of a core dump
 * @stream: called for each stream; what it gets is gone afterwards
 * @buffer: called for each line about vertex buffers and scenes, bytes left out;
 *	may be NULL
 * @ctx: first argument of these
 */
struct dump_visitor {
	void (*stream)(void *ctx, const struct dump_stream *stream);
	void (*buffer)(void *ctx, const char *line);
	void *ctx;
};

/**
 * dump_parse() - go through a core dump
 * @text: the dump
 * @visitor: callbacks
 *
 * Return: 0, -EINVAL if it is no core dump, -ENOMEM.
 */
int dump_parse(const char *text, const struct dump_visitor *visitor);

#endif /* CLIENT_DUMP_H */
