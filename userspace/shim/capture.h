/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What jobs are made of, written down in the form of the driver's core dumps:
 * asahi-decode reads it.
 */
#ifndef CAPTURE_H
#define CAPTURE_H

#include <drm/asahi_drm.h>

#include "stream_check.h"

/** capture_begin() - begin a file */
void capture_begin(FILE *file);

/**
 * capture_compute() - write a compute command down
 * @file: where to
 * @stream: its stream
 */
void capture_compute(FILE *file, const struct stream *stream);

/**
 * capture_render() - write a render command down: its stream and its programs
 * @file: where to
 * @stream: its stream
 * @cmd: command
 */
void capture_render(FILE *file, const struct stream *stream,
		    const struct drm_asahi_cmd_render *cmd);

#endif /* CAPTURE_H */
