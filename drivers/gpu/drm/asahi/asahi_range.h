/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Ranges of addresses, and short lists of them.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_RANGE_H
#define ASAHI_RANGE_H

#include <linux/types.h>

/* Ranges that a list keeps apart. */
#define ASAHI_RANGES_MAX		8

/**
 * struct asahi_range - a range of addresses that is not empty
 * @start: first address
 * @end: end of the range, exclusive
 */
struct asahi_range {
	u64 start;
	u64 end;
};

/**
 * struct asahi_ranges - ranges of addresses, each of which may be named more than once
 * @range: the ranges
 * @count: how many; 0 when the list is empty
 * @merged: there were more ranges than fit. The only one left begins where the first of
 *	them does and ends where the last one does
 */
struct asahi_ranges {
	struct asahi_range range[ASAHI_RANGES_MAX];
	unsigned int count;
	bool merged;
};

void asahi_ranges_add(struct asahi_ranges *ranges, u64 start, u64 end);
bool asahi_ranges_meet(const struct asahi_ranges *ranges, u64 start, u64 end);
bool asahi_ranges_disjoint(struct asahi_range *range, unsigned int count);

#endif
