/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Room: how much a queue may have queued.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_ROOM_H
#define ASAHI_ROOM_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>

struct asahi_device;

/**
 * struct asahi_room - what a queue has queued
 * @jobs: jobs that were submitted and not freed
 * @bytes: firmware-visible memory of these
 * @shut: no job is to be made; only without jobs
 * @more: wakes up when any of these becomes less
 *
 * Part of struct asahi_queue.
 */
struct asahi_room {
	/** @lock: protects @jobs, @bytes and @shut; a leaf */
	spinlock_t lock;
	unsigned int jobs;
	u64 bytes;
	bool shut;
	wait_queue_head_t more;
};

void asahi_room_init(struct asahi_room *room);
int asahi_room_take(struct asahi_room *room, struct asahi_device *adev, u64 bytes);
void asahi_room_give(struct asahi_room *room, u64 bytes);
bool asahi_room_shut(struct asahi_room *room);
void asahi_room_open(struct asahi_room *room);

#endif
