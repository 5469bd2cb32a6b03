// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Ranges of addresses, and short lists of them.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/sort.h>

#include <kunit/visibility.h>

#include "asahi_range.h"

static void asahi_range_cover(struct asahi_range *range, u64 start, u64 end)
{
	range->start = min(range->start, start);
	range->end = max(range->end, end);
}

/* One range takes the place of all. */
static void asahi_ranges_merge(struct asahi_ranges *ranges)
{
	for (unsigned int i = 1; i < ranges->count; i++)
		asahi_range_cover(&ranges->range[0], ranges->range[i].start, ranges->range[i].end);
	ranges->count = 1;
	ranges->merged = true;
}

/**
 * asahi_ranges_add() - add a range to a list
 * @ranges: list, zeroed in the beginning
 * @start: first address
 * @end: end of the range, exclusive; above @start
 *
 * A range that begins or ends inside of one of the list, or beside it, makes that one
 * larger. One that does not fit any more makes the list one range. Any context.
 */
void asahi_ranges_add(struct asahi_ranges *ranges, u64 start, u64 end)
{
	/* Most changes go on where the latest one has ended. */
	for (unsigned int i = ranges->count; i--; ) {
		struct asahi_range *range = &ranges->range[i];

		if (ranges->merged || (start <= range->end && end >= range->start)) {
			asahi_range_cover(range, start, end);
			return;
		}
	}

	if (ranges->count == ASAHI_RANGES_MAX) {
		asahi_ranges_merge(ranges);
		asahi_range_cover(&ranges->range[0], start, end);
		return;
	}

	ranges->range[ranges->count++] = (struct asahi_range) { .start = start, .end = end };
}
EXPORT_SYMBOL_IF_KUNIT(asahi_ranges_add);

/**
 * asahi_ranges_meet() - does a range have an address of a list in it?
 * @ranges: list
 * @start: first address
 * @end: end of the range, exclusive
 *
 * Any context.
 *
 * Return: true if it may; always so if it does.
 */
bool asahi_ranges_meet(const struct asahi_ranges *ranges, u64 start, u64 end)
{
	for (unsigned int i = 0; i < ranges->count; i++)
		if (start < ranges->range[i].end && end > ranges->range[i].start)
			return true;

	return false;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_ranges_meet);

static int asahi_range_compare(const void *a, const void *b)
{
	const struct asahi_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/**
 * asahi_ranges_disjoint() - does no range meet another one?
 * @range: ranges; sorted by address
 * @count: how many
 *
 * In time that grows with @count times its logarithm. Process context, lets others run.
 *
 * Return: true if no address is in two of them.
 */
bool asahi_ranges_disjoint(struct asahi_range *range, unsigned int count)
{
	sort_nonatomic(range, count, sizeof(*range), asahi_range_compare, NULL);
	for (unsigned int i = 1; i < count; i++)
		if (range[i].start < range[i - 1].end)
			return false;

	return true;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_ranges_disjoint);
