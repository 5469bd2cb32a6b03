/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Reads a control stream as a client wrote it, Mesa or ourselves, and holds the
 * packets of agx_packets.def against it.
 */
#ifndef STREAM_CHECK_H
#define STREAM_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "agx_stream.h"

struct vagx_uat;

/** struct stream - a control stream in GPU memory */
struct stream {
	struct vagx_uat *uat;
	unsigned int vm_slot;
	/** @kind: what it is made of */
	enum agx_stream_kind kind;
	/** @base: address of its first block */
	uint64_t base;
	/** @usc_base: what USC words are relative to */
	uint64_t usc_base;
	/** @features: set of enum agx_stream_feature */
	unsigned int features;
};

/** stream_read() - read its memory, in the form of &agx_stream_source.read */
int stream_read(void *ctx, uint64_t va, void *buf, size_t len);

/**
 * stream_check() - check and print a stream
 * @stream: stream
 * @text: where it is printed
 *
 * Every block, every record and every USC word must be known, without bits that
 * nothing describes, and become the same bytes when it is packed again.
 *
 * Return: true, or false after a message, see shim_report().
 */
bool stream_check(const struct stream *stream, FILE *text);

#endif /* STREAM_CHECK_H */
