// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * A range of addresses, handed out first fit. Clients of this library have
 * hundreds of allocations, not millions: a sorted list does.
 */
#include <errno.h>
#include <stdlib.h>

#include "asahi_priv.h"

struct asahi_va_gap {
	uint64_t start;
	uint64_t end;
	struct asahi_va_gap *next;
};

static struct asahi_va_gap *va_gap_new(uint64_t start, uint64_t end,
				       struct asahi_va_gap *next)
{
	struct asahi_va_gap *gap = malloc(sizeof(*gap));

	if (gap)
		*gap = (struct asahi_va_gap){ start, end, next };
	return gap;
}

int asahi_va_init(struct asahi_va *va, uint64_t start, uint64_t end)
{
	va->start = start;
	va->end = end;
	va->gaps = va_gap_new(start, end, NULL);
	return va->gaps ? 0 : -ENOMEM;
}

void asahi_va_fini(struct asahi_va *va)
{
	while (va->gaps) {
		struct asahi_va_gap *gap = va->gaps;

		va->gaps = gap->next;
		free(gap);
	}
}

/* Takes [start, end) out of the gap that *link leads to. */
static int va_gap_take(struct asahi_va_gap **link, uint64_t start, uint64_t end)
{
	struct asahi_va_gap *gap = *link;
	struct asahi_va_gap *rest;

	if (gap->start == start && gap->end == end) {
		*link = gap->next;
		free(gap);
	} else if (gap->start == start) {
		gap->start = end;
	} else if (gap->end == end) {
		gap->end = start;
	} else {
		rest = va_gap_new(end, gap->end, gap->next);
		if (!rest)
			return -ENOMEM;
		gap->end = start;
		gap->next = rest;
	}
	return 0;
}

int asahi_va_alloc(struct asahi_va *va, uint64_t size, uint64_t align,
		   uint64_t *addr)
{
	struct asahi_va_gap **link;

	for (link = &va->gaps; *link; link = &(*link)->next) {
		struct asahi_va_gap *gap = *link;
		uint64_t start = (gap->start + align - 1) & ~(align - 1);
		int err;

		/* the second case is an alignment that wrapped around */
		if (start >= gap->end || start < gap->start ||
		    size > gap->end - start)
			continue;
		err = va_gap_take(link, start, start + size);
		if (!err)
			*addr = start;
		return err;
	}
	return -ENOSPC;
}

int asahi_va_free(struct asahi_va *va, uint64_t addr, uint64_t size)
{
	struct asahi_va_gap **link = &va->gaps;
	struct asahi_va_gap *before = NULL;
	struct asahi_va_gap *after;
	uint64_t end = addr + size;

	while (*link && (*link)->start < addr) {
		before = *link;
		link = &before->next;
	}
	after = *link;

	if ((before && before->end > addr) || (after && after->start < end))
		return -EINVAL;

	if (before && before->end == addr && after && after->start == end) {
		before->end = after->end;
		before->next = after->next;
		free(after);
	} else if (before && before->end == addr) {
		before->end = end;
	} else if (after && after->start == end) {
		after->start = addr;
	} else {
		*link = va_gap_new(addr, end, after);
		if (!*link) {
			*link = after;
			return -ENOMEM;
		}
	}
	return 0;
}
