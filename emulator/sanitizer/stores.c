// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Late stores of unkind cores. What a program stores to device memory is kept in lines (lines.h),
 * as in a cache that nobody else looks into. A line belongs to the simdgroup that has stored it,
 * which alone sees it; a barrier or a fence for the threadgroup gives it to the group, and a fence
 * for the device writes it to memory. Lines of a threadgroup that has ended are seen by nobody: no
 * group may rely on running on the core of another one. All reach memory at the end of the launch,
 * when a simdgroup has used up a time slice (late is not never), or when another line needs their
 * place. The seed chooses the order.
 *
 * Draws have no threadgroups. What a simdgroup of a draw has stored is seen by those that come
 * after it on the same core, as fragments of one pixel are shaded in order.
 *
 * Runs on the thread of the core, whose lines nobody else touches. Others read and write the
 * memory meanwhile.
 */
#include <stdlib.h>

#include "gpu/pattern.h"
#include "sanitizer/lines.h"
#include "sanitizer/reach.h"
#include "sanitizer/shadow.h"

struct late_stores {
	struct lines lines;
	/* groups of each simdgroup with stores that have not been waited for, as masks */
	uint8_t pending[MAX_SIMDGROUPS];
	/* what a load finds */
	uint32_t loaded[4 * LANES];
};

struct late_stores *late_stores_new(void)
{
	struct late_stores *s = aligned_alloc(_Alignof(struct late_stores), sizeof(*s));

	if (s)
		memset(s, 0, sizeof(*s));
	return s;
}

void late_stores_free(struct late_stores *s)
{
	free(s);
}

/* Accesses */

/* Mask of so many bytes of a line */
static uint64_t stores_mask(unsigned int at, unsigned int size)
{
	return (size < LINE ? (1ull << size) - 1 : UINT64_MAX) << at;
}

static uint8_t *stores_keep(struct late_stores *s, const struct simdgroup *sg, const struct op *op,
			    uint8_t *memory, unsigned int at, unsigned int size)
{
	const unsigned int line = line_get(&s->lines, memory, sg->index);
	const uint8_t group = (uint8_t)(1u << (op->mod[AGX_MOD_GROUP] & 1));

	s->lines.stored[line] |= stores_mask(at, size);
	s->lines.pending[line] |= group;
	s->pending[sg->index] |= group;
	return &s->lines.bytes[line][at];
}

/* Reads an element at once, as other cores may store there meanwhile */
static uint32_t stores_read(const uint8_t *memory, unsigned int size)
{
	switch (size) {
	case 1:
		return __atomic_load_n(memory, __ATOMIC_RELAXED);
	case 2:
		return __atomic_load_n((const uint16_t *)(const void *)memory, __ATOMIC_RELAXED);
	default:
		return __atomic_load_n((const uint32_t *)(const void *)memory, __ATOMIC_RELAXED);
	}
}

/* Puts what an owner has stored to a line over what was found */
static void stores_overlay(const struct lines *l, const uint8_t *memory, unsigned int owner,
			   unsigned int at, unsigned int size, uint8_t *bytes)
{
	const unsigned int line = line_find(l, memory, owner);
	unsigned int i;

	for (i = 0; line != NO_LINE && i < size; i++)
		bytes[i] = l->stored[line] >> (at + i) & 1 ? l->bytes[line][at + i] : bytes[i];
}

/* Whether a simdgroup finds all in memory, wherever it looks */
static bool stores_sees_memory(const struct lines *l, unsigned int owner)
{
	return !line_owner_has_some(l, owner) && !line_owner_has_some(l, OWNER_GROUP);
}

/* What a simdgroup finds: its own bytes, else those of its group, else the memory's */
static void *stores_load(struct late_stores *s, unsigned int owner, uint8_t *memory,
			 unsigned int at, unsigned int size)
{
	const struct lines *l = &s->lines;

	if (stores_sees_memory(l, owner))
		return memory + at;
	s->loaded[0] = stores_read(memory + at, size);
	stores_overlay(l, memory, OWNER_GROUP, at, size, (uint8_t *)s->loaded);
	stores_overlay(l, memory, owner, at, size, (uint8_t *)s->loaded);
	return s->loaded;
}

/* Brings the word of an access to memory, so far as the simdgroup sees it */
static void *stores_through(struct lines *l, unsigned int owner, uint8_t *memory,
			    unsigned int at, unsigned int size)
{
	const unsigned int own = line_find(l, memory, owner);
	const unsigned int group = line_find(l, memory, OWNER_GROUP);

	if (group != NO_LINE)
		line_write(l, group, at, size);
	if (own != NO_LINE)
		line_write(l, own, at, size);
	return memory + at;
}

void *vagx_shadow_reach(struct simdgroup *sg, const struct op *op, void *memory, unsigned int size,
			bool is_store)
{
	struct late_stores *s = sg->core->shadow->stores;
	const unsigned int at = (uintptr_t)memory % LINE;
	uint8_t *line = (uint8_t *)memory - at;

	if (op->opcode == AGX_OP_ATOMIC || op->mod[AGX_MOD_COHERENCY])
		return stores_through(&s->lines, sg->index, line, at, size);
	if (is_store)
		return stores_keep(s, sg, op, line, at, size);
	return stores_load(s, sg->index, line, at, size);
}

/* How much of a row is in the line of its first byte */
static unsigned int stores_in_line(const uint8_t *memory, unsigned int size)
{
	const unsigned int left = LINE - (uintptr_t)memory % LINE;

	return size < left ? size : left;
}

/* Whether a simdgroup finds all of a row in memory */
static bool stores_is_in_memory(const struct lines *l, unsigned int owner, const uint8_t *memory,
				unsigned int size)
{
	const uint8_t *line = memory - (uintptr_t)memory % LINE;

	if (stores_sees_memory(l, owner))
		return true;
	for (; line < memory + size; line += LINE) {
		if (line_find(l, line, owner) != NO_LINE ||
		    line_find(l, line, OWNER_GROUP) != NO_LINE)
			return false;
	}
	return true;
}

const void *vagx_shadow_load(const struct simdgroup *sg, const void *memory, unsigned int size)
{
	struct late_stores *s = sg->core->shadow->stores;
	uint8_t *from = (uint8_t *)(uintptr_t)memory, *to = (uint8_t *)s->loaded;
	unsigned int i, n;

	if (stores_is_in_memory(&s->lines, sg->index, from, size))
		return memory;
	for (i = 0; i < size / sizeof(uint32_t); i++)
		s->loaded[i] = stores_read(from + i * sizeof(uint32_t), sizeof(uint32_t));
	for (; size; size -= n, from += n, to += n) {
		const unsigned int at = (uintptr_t)from % LINE;

		n = stores_in_line(from, size);
		stores_overlay(&s->lines, from - at, OWNER_GROUP, at, n, to);
		stores_overlay(&s->lines, from - at, sg->index, at, n, to);
	}
	return s->loaded;
}

void vagx_shadow_store(const struct simdgroup *sg, const struct op *op, void *memory,
		       const uint32_t *words, unsigned int size)
{
	struct late_stores *s = sg->core->shadow->stores;
	const uint8_t *from = (const uint8_t *)words;
	uint8_t *to = memory;
	unsigned int n;

	for (; size; size -= n, from += n, to += n) {
		const unsigned int at = (uintptr_t)to % LINE;
		uint8_t *line = stores_keep(s, sg, op, to - at, at, stores_in_line(to, size));

		n = stores_in_line(to, size);
		if (n == LINE)
			memcpy(line, from, LINE);
		else
			memcpy(line, from, n);
	}
}

/* Order */

void late_stores_begin_group(struct vagx_core *core)
{
	struct late_stores *s = core->shadow->stores;

	if (!s->lines.random)
		s->lines.random = vagx_pattern_mix(core->config.seed, 0);
	memset(s->pending, 0, sizeof(s->pending));
	if (!core->vertices && !core->tile && !core->uniforms_out) {
		lines_begin_group(&s->lines);
		return;
	}
	/* a stage has one simdgroup */
	lines_give(&s->lines, 0, true);
}

static void stores_await(struct late_stores *s, unsigned int simdgroup, unsigned int group)
{
	const uint8_t bit = (uint8_t)(1u << group);

	if (!(s->pending[simdgroup] & bit))
		return;
	s->pending[simdgroup] &= (uint8_t)~bit;
	lines_await(&s->lines, simdgroup, group);
}

/*
 * Of the fences, Mesa emits the first one between the simdgroups of a threadgroup, and the others,
 * with more of them, for other threadgroups. Those with a 2 in bits 8 and 9 come before a barrier,
 * hence seem to write; those with a 1 come behind it. A barrier alone does what the first one does:
 * Mesa's libagx_prefix_sum_tess needs that, and runs on machines.
 */
void late_stores_order(const struct step *step)
{
	struct late_stores *s = step->sg->core->shadow->stores;
	const unsigned int own = step->sg->index;

	switch (step->op->opcode) {
	case AGX_OP_WAIT:
		stores_await(s, own, step->op->mod[AGX_MOD_GROUP] & 1);
		break;
	case AGX_OP_BARRIER:
	case AGX_OP_MEMORY_BARRIER:
		lines_give(&s->lines, own, false);
		break;
	case AGX_OP_MEMORY_BARRIER_2:
	case AGX_OP_DEVICE_BARRIER_2:
		lines_show(&s->lines, OWNER_GROUP, false);
		lines_show(&s->lines, own, false);
		break;
	default:
		break;
	}
}

void late_stores_settle(struct late_stores *s)
{
	lines_settle(&s->lines);
	memset(s->pending, 0, sizeof(s->pending));
}
