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
	/** @kind: its kind of packets */
	enum agx_stream_kind kind;
	/** @base: address of its first block */
	uint64_t base;
	/** @usc_base: address to which those of USC words are relative */
	uint64_t usc_base;
	/** @features: set of enum agx_stream_feature */
	unsigned int features;
};

/** stream_read() - read GPU memory of a stream; a function for &agx_stream_source.read */
int stream_read(void *ctx, uint64_t va, void *buf, size_t len);

/**
 * stream_check() - check and print a stream
 * @stream: stream
 * @text: file that it is printed to, or NULL
 *
 * Every packet of the stream, its records and USC words must be known, have no bits that
 * agx_packets.def does not name, and give the same bytes when it is packed again.
 *
 * Return: true, or false after a message, see shim_report().
 */
bool stream_check(const struct stream *stream, FILE *text);

#endif /* STREAM_CHECK_H */
