/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Control streams of clients, for core dumps.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_STREAM_H
#define ASAHI_STREAM_H

#include <linux/types.h>

struct drm_printer;

/**
 * struct asahi_stream - a control stream, and how to read it
 * @read: copy @len bytes of GPU memory from @va; returns how many could be
 *	read, fewer than @len if memory is missing
 * @priv: for @read
 * @base: first block of the stream
 * @usc_base: base of the shaders
 * @g14x: the GPU has several clusters and is a G14
 */
struct asahi_stream {
	size_t (*read)(void *priv, u64 va, void *buf, size_t len);
	void *priv;
	u64 base;
	u64 usc_base;
	bool g14x;
};

void asahi_stream_print_compute(const struct asahi_stream *stream, struct drm_printer *p);
void asahi_stream_print_vertex(const struct asahi_stream *stream, struct drm_printer *p);

#endif
