/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Times that clients want to know: when their work started and ended.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_USER_TIMES_H
#define ASAHI_USER_TIMES_H

#include <linux/types.h>

struct asahi_file;
struct asahi_timestamps;
struct drm_asahi_timestamps;

/**
 * struct asahi_user_time - where the firmware writes a time for a client
 * @object: memory that this is in, with a reference; NULL for nowhere
 * @va: address that the firmware writes to; 0 for nowhere
 */
struct asahi_user_time {
	struct asahi_timestamps *object;
	u64 va;
};

/**
 * struct asahi_user_times - where the times of a piece of work go
 * @start: time of its start
 * @end: time of its end
 */
struct asahi_user_times {
	struct asahi_user_time start;
	struct asahi_user_time end;
};

/**
 * asahi_user_times_are_wanted() - does a client want to know any time?
 * @times: times
 *
 * Any context.
 *
 * Return: false if there is nothing to be copied or to be given up.
 */
static inline bool asahi_user_times_are_wanted(const struct asahi_user_times *times)
{
	return times->start.object || times->end.object;
}

int asahi_user_times_find(struct asahi_file *file, const struct drm_asahi_timestamps *ts,
			  struct asahi_user_times *times);
struct asahi_user_times asahi_user_times_get(const struct asahi_user_times *times);
void asahi_user_times_put(struct asahi_user_times *times);

#endif
