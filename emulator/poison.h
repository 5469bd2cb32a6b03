/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_POISON_H
#define VAGX_POISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Memory that its owner has neither cleared nor written. A guest's kernel can be told to
 * mark it: free pages (page_poison=1), slab objects (slub_debug=P), and, by a compiler,
 * variables (-ftrivial-auto-var-init=pattern). Any thread; the guest may be writing.
 */

/* So many equal bytes are no coincidence */
#define VAGX_POISON_RUN		16

/**
 * struct vagx_poison - what was found
 * @offset: of the first such byte, a multiple of 8
 * @byte: the pattern
 */
struct vagx_poison {
	size_t offset;
	uint8_t byte;
};

/**
 * vagx_poison_find() - look for a run of VAGX_POISON_RUN such bytes
 * @bytes: where to look; a run that does not begin at a multiple of 8 may be missed
 *	unless it is 7 bytes longer
 * @len: how far
 * @found: filled if there is one
 */
bool vagx_poison_find(const void *bytes, size_t len, struct vagx_poison *found);

/* Whether there is nothing in a page but what free pages have */
bool vagx_poison_fills(const void *page, size_t len, struct vagx_poison *found);

#endif
