/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * InitData: the root of what driver and firmware share, and access to the
 * few words in it that change at run time.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_INITDATA_H
#define ASAHI_INITDATA_H

#include <linux/types.h>

struct asahi_device;

int asahi_initdata_init(struct asahi_device *adev);
void asahi_initdata_fini(struct asahi_device *adev);

u64 asahi_initdata_va(struct asahi_device *adev);
u64 asahi_initdata_stats_va(struct asahi_device *adev, unsigned int pipe);

void asahi_initdata_begin_submission(struct asahi_device *adev);
void asahi_initdata_end_submission(struct asahi_device *adev);

/**
 * struct asahi_pending_stamp - work that the firmware had in progress
 * @event_slot: event whose stamp the work will write
 * @value: stamp value that the work will write
 * @flags: further bits, meaning unknown
 */
struct asahi_pending_stamp {
	u32 event_slot;
	u32 value;
	u32 flags;
};

/** ASAHI_PENDING_STAMPS - entries of the table of pending stamps */
#define ASAHI_PENDING_STAMPS 0x100

bool asahi_initdata_take_pending(struct asahi_device *adev, unsigned int index,
				 struct asahi_pending_stamp *stamp);
int asahi_initdata_resume(struct asahi_device *adev);
u64 asahi_initdata_halt_count(struct asahi_device *adev);

#endif
