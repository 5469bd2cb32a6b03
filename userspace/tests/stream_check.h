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

struct vagx_uat;

/** struct stream - a control stream in GPU memory */
struct stream {
	struct vagx_uat *uat;
	unsigned int vm_slot;
	/** @base: address of its first block */
	uint64_t base;
	/** @usc_base: what the launches' words are relative to */
	uint64_t usc_base;
};

/**
 * stream_check() - check and print a stream
 * @stream: stream
 * @text: where it is printed
 *
 * Every block, and every word of every launch, must be known, without bits that
 * nothing describes, and become the same bytes when it is packed again.
 *
 * Return: true, or false after a message on stderr.
 */
bool stream_check(const struct stream *stream, FILE *text);

#endif /* STREAM_CHECK_H */
