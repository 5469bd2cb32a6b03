// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Room: how much a queue may have queued.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/cleanup.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/sizes.h>

#include <kunit/visibility.h>

#include <drm/drm_drv.h>

#include "asahi_batch.h"
#include "asahi_device.h"
#include "asahi_room.h"
#include "asahi_state.h"

/*
 * What a queue may have queued: jobs, and bytes of firmware-visible memory of
 * these. SUBMIT waits for more. That is far more than the firmware takes at a
 * time, and than Mesa ever has.
 */
#define ASAHI_ROOM_MAX_JOBS 1024
#define ASAHI_ROOM_MAX_BYTES SZ_128M

/* How often those who wait for room look whether there will ever be any. */
#define ASAHI_ROOM_POLL_MS 100

/**
 * asahi_room_init() - prepare the room of a queue
 * @room: the queue's part, zeroed
 */
void asahi_room_init(struct asahi_room *room)
{
	init_waitqueue_head(&room->more);
	spin_lock_init(&room->lock);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_room_init);

static bool asahi_room_try(struct asahi_room *room, u64 bytes)
{
	guard(spinlock)(&room->lock);

	if (room->shut)
		return false;

	/* A job that is larger has the queue for itself. */
	if (room->jobs >= ASAHI_ROOM_MAX_JOBS ||
	    (room->jobs && room->bytes + bytes > ASAHI_ROOM_MAX_BYTES))
		return false;

	room->jobs++;
	room->bytes += bytes;

	return true;
}

/* The condition that a SUBMIT waits for, evaluated after it has begun to. */
static bool asahi_room_wait(struct asahi_room *room, struct asahi_device *adev, u64 bytes)
{
	if (asahi_room_try(room, bytes))
		return true;

	/* Jobs that are over are not to wait for others to be freed with. */
	asahi_batch_hurry(adev->batch);
	return false;
}

/**
 * asahi_room_take() - wait until a queue may have one more job
 * @room: the queue's part
 * @adev: device
 * @bytes: firmware-visible memory that the job takes
 *
 * What waits for a queue to become shorter waits for earlier jobs of it, and these
 * wait for fences that exist. Process context, without locks.
 *
 * Return: 0; -ERESTARTSYS; -ENODEV if the device is lost or going away.
 */
int asahi_room_take(struct asahi_room *room, struct asahi_device *adev, u64 bytes)
{
	long left;

	for (;;) {
		left = wait_event_interruptible_timeout(room->more,
							asahi_room_wait(room, adev, bytes),
							msecs_to_jiffies(ASAHI_ROOM_POLL_MS));
		if (left)
			return min(left, 0);

		/* Whoever waits here would keep the device from going away. */
		if (asahi_state_lost(adev) || drm_dev_is_unplugged(&adev->drm))
			return -ENODEV;
	}
}
EXPORT_SYMBOL_IF_KUNIT(asahi_room_take);

/**
 * asahi_room_give() - undo asahi_room_take()
 * @room: the queue's part
 * @bytes: as there
 *
 * Any context but interrupts.
 */
void asahi_room_give(struct asahi_room *room, u64 bytes)
{
	scoped_guard(spinlock, &room->lock) {
		room->jobs--;
		room->bytes -= bytes;
	}

	wake_up_all(&room->more);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_room_give);

/**
 * asahi_room_shut() - keep a queue without jobs from getting any
 * @room: the queue's part
 *
 * SUBMIT waits until asahi_room_open(). Any context but interrupts.
 *
 * Return: true if there are none; otherwise nothing is done.
 */
bool asahi_room_shut(struct asahi_room *room)
{
	guard(spinlock)(&room->lock);

	if (!room->jobs)
		room->shut = true;

	return room->shut;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_room_shut);

/**
 * asahi_room_open() - undo asahi_room_shut()
 * @room: the queue's part
 *
 * Any context but interrupts.
 */
void asahi_room_open(struct asahi_room *room)
{
	scoped_guard(spinlock, &room->lock)
		room->shut = false;

	wake_up_all(&room->more);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_room_open);
