/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Events: the stamps by which the firmware says how far it is.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_EVENT_H
#define ASAHI_EVENT_H

#include <linux/types.h>

struct asahi_block;
struct asahi_device;
struct asahi_queue;

/** ASAHI_EVENTS - event slots of the firmware */
#define ASAHI_EVENTS 128

/** ASAHI_STAMP_STEP - what each piece of work adds to its stamp */
#define ASAHI_STAMP_STEP 0x100

/**
 * asahi_stamp_reached() - has a stamp come as far as a value?
 * @stamp: current value
 * @value: value waited for
 *
 * Stamps wrap. At most 126 steps are outstanding, so the sign of the
 * difference tells. Any context.
 *
 * Return: true if @stamp is @value or later.
 */
static inline bool asahi_stamp_reached(u32 stamp, u32 value)
{
	return (s32)(stamp - value) >= 0;
}

/**
 * asahi_stamp_between() - has a stamp come as far as a value, and not too far?
 * @stamp: current value
 * @value: value waited for
 * @last: last value that anybody was told to write
 *
 * Any context.
 *
 * Return: true if @stamp is @value, @last, or between them.
 */
static inline bool asahi_stamp_between(u32 stamp, u32 value, u32 last)
{
	return asahi_stamp_reached(stamp, value) && asahi_stamp_reached(last, stamp);
}

extern const struct asahi_block asahi_block_event;

u64 asahi_event_stamp_va(struct asahi_device *adev, unsigned int slot);
u64 asahi_event_fw_stamp_va(struct asahi_device *adev, unsigned int slot);
u32 asahi_event_read(struct asahi_device *adev, unsigned int slot);

void asahi_event_set_owner(struct asahi_device *adev, unsigned int slot,
			   struct asahi_queue *queue);
struct asahi_queue *asahi_event_get_owner(struct asahi_device *adev, unsigned int slot);

unsigned int asahi_event_take(struct asahi_device *adev, unsigned int first);
void asahi_event_trace_unowned(struct asahi_device *adev, const u32 mask[4]);

void asahi_event_note_completed(struct asahi_device *adev, unsigned int priority);
u64 asahi_event_completed_up_to(struct asahi_device *adev, unsigned int priority);
void asahi_event_note_progress(struct asahi_device *adev);
u64 asahi_event_progress(struct asahi_device *adev);

#endif
