/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Core dumps of failed jobs and of failed firmware.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_COREDUMP_H
#define ASAHI_COREDUMP_H

#include <linux/types.h>

struct asahi_block;
struct asahi_device;
struct asahi_fault_info;
struct asahi_job;
struct asahi_pending_stamp;

extern const struct asahi_block asahi_block_coredump;

int asahi_coredump_module_init(void);
void asahi_coredump_module_exit(void);
void asahi_coredump_begin(struct asahi_device *adev, const char *what,
			  const struct asahi_fault_info *fault);
void asahi_coredump_note_running(struct asahi_device *adev,
				 const struct asahi_pending_stamp *stamp);
void asahi_coredump_capture(struct asahi_job *job, unsigned int event);
void asahi_coredump_end(struct asahi_device *adev);
void asahi_coredump_capture_device(struct asahi_device *adev, const char *why);

#endif
