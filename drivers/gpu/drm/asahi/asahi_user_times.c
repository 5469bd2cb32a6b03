// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Times that clients want to know: when their work started and ended.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/align.h>
#include <linux/err.h>
#include <linux/export.h>

#include <kunit/visibility.h>

#include <drm/asahi_drm.h>

#include "asahi_timestamps.h"
#include "asahi_user_times.h"

static int asahi_user_times_find_one(struct asahi_file *file, const struct drm_asahi_timestamp *ts,
				     struct asahi_user_time *time)
{
	struct asahi_timestamps *object;

	if (!ts->handle)
		return 0;
	if (!IS_ALIGNED(ts->offset, sizeof(u64)))
		return -EINVAL;

	object = asahi_timestamps_lookup(file, ts->handle, ts->offset, &time->va);
	if (IS_ERR(object))
		return PTR_ERR(object);

	time->object = object;
	return 0;
}

/**
 * asahi_user_times_find() - where does a client want its times?
 * @file: open file
 * @ts: what it says
 * @times: filled in, with references; empty after an error
 *
 * Process context.
 *
 * Return: 0; -ENOENT for something that is not bound; -ERANGE for an offset behind
 * its end, -EINVAL for one that is no multiple of 8.
 */
int asahi_user_times_find(struct asahi_file *file, const struct drm_asahi_timestamps *ts,
			  struct asahi_user_times *times)
{
	int ret;

	*times = (struct asahi_user_times) {};
	ret = asahi_user_times_find_one(file, &ts->start, &times->start);
	if (!ret)
		ret = asahi_user_times_find_one(file, &ts->end, &times->end);
	if (ret)
		asahi_user_times_put(times);

	return ret;
}

/**
 * asahi_user_times_get() - copy times
 * @times: times
 *
 * Any context.
 *
 * Return: the same, with references of its own.
 */
struct asahi_user_times asahi_user_times_get(const struct asahi_user_times *times)
{
	asahi_timestamps_get(times->start.object);
	asahi_timestamps_get(times->end.object);
	return *times;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_user_times_get);

/**
 * asahi_user_times_put() - drop the references of times
 * @times: times, empty afterwards
 *
 * Process context, may sleep. Nothing writes the times any more.
 */
void asahi_user_times_put(struct asahi_user_times *times)
{
	asahi_timestamps_put(times->start.object);
	asahi_timestamps_put(times->end.object);
	*times = (struct asahi_user_times) {};
}
EXPORT_SYMBOL_IF_KUNIT(asahi_user_times_put);
