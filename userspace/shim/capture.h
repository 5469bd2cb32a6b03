/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Captures of commands in the form of the driver's core dumps, which asahi-decode reads.
 */
#ifndef CAPTURE_H
#define CAPTURE_H

#include <drm/asahi_drm.h>

#include "asahi_shim.h"
#include "stream_check.h"

/** capture_begin() - write the head of a capture */
void capture_begin(FILE *file);

/**
 * capture_mappings() - write what is bound, 64 mappings at most: address, bytes, "r" and "w"
 * @file: file
 * @job: job
 */
void capture_mappings(FILE *file, const struct asahi_shim_job *job);

/**
 * capture_compute() - write a compute command
 * @file: file
 * @stream: its stream
 */
void capture_compute(FILE *file, const struct stream *stream);

/**
 * capture_render() - write a render command: its stream and its tile programs
 * @file: file
 * @stream: its stream
 * @cmd: command
 */
void capture_render(FILE *file, const struct stream *stream,
		    const struct drm_asahi_cmd_render *cmd);

#endif /* CAPTURE_H */
