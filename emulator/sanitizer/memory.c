// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The shadow of local and private memory. Two simdgroups race on a byte of local memory if both
 * reach it between the same two barriers, one of them stores, and not both are atomic: whatever
 * order they run in here, so that a race is found in every run. Threads of one simdgroup run in
 * step, on machines, too. Private memory is a thread's own. For device memory see device.c.
 */
#include <stdlib.h>

#include "sanitizer/shadow.h"

/* Local memory */

static struct shadow_byte *memory_local_bytes(struct vagx_shadow *shadow)
{
	if (!shadow->local)
		shadow->local = calloc(VAGX_CORE_MAX_SHARED, sizeof(*shadow->local));
	return shadow->local;
}

static void memory_report_race(const struct step *step, unsigned int lane, uint64_t address,
			       const char *other)
{
	finding_report(step->sg, step->op, FINDING_LOCAL_RACE, 1u << lane,
		       ": byte 0x%llx, which another one %s since the last barrier",
		       (unsigned long long)address, other);
}

/* Checks an access to a byte against those of other simdgroups since the last barrier */
static void memory_check_race(const struct step *step, const struct elements *e, unsigned int lane,
			      uint64_t address)
{
	const struct vagx_shadow *shadow = step->sg->core->shadow;
	const struct shadow_byte *b = &shadow->local[address];
	uint32_t others = ~(1u << step->sg->index);

	if (b->stored == shadow->epoch && b->writer != step->sg->index)
		memory_report_race(step, lane, address, "has stored");
	else if (b->counted == shadow->epoch && b->counters & others && !e->is_atomic)
		memory_report_race(step, lane, address, "has changed by an atomic");
	else if (b->loaded == shadow->epoch && b->readers & others && e->is_store)
		memory_report_race(step, lane, address, "has loaded");
}

/* Adds a simdgroup to those of an epoch */
static void memory_note(uint32_t *last, uint32_t *simdgroups, const struct step *step)
{
	uint32_t epoch = step->sg->core->shadow->epoch;

	if (*last != epoch)
		*simdgroups = 0;
	*last = epoch;
	*simdgroups |= 1u << step->sg->index;
}

static void memory_local_byte(struct step *step, const struct elements *e, unsigned int lane,
			      uint64_t address, uint32_t unwritten)
{
	const struct vagx_shadow *shadow = step->sg->core->shadow;
	struct shadow_byte *b = &shadow->local[address];
	bool begun = b->stored >= shadow->group_epoch || b->counted >= shadow->group_epoch;

	memory_check_race(step, e, lane, address);
	if ((!e->is_store || e->is_atomic) && (!begun || b->unwritten)) {
		step->unwritten |= 1u << lane;
		step->origin = (struct origin){ ORIGIN_LOCAL, (uint32_t)address };
	}
	if (e->is_store)
		b->unwritten = unwritten >> lane & 1;
	if (e->is_atomic) {
		memory_note(&b->counted, &b->counters, step);
	} else if (e->is_store) {
		b->stored = shadow->epoch;
		b->writer = (uint8_t)step->sg->index;
	} else {
		memory_note(&b->loaded, &b->readers, step);
	}
}

/* Private memory */

/* Makes the shadow cover so many bytes. Return: false if there is no memory. */
static bool memory_grow_private(struct shadow_simdgroup *s, uint32_t size)
{
	uint32_t new_size = s->private_size ? s->private_size : 256;
	uint32_t *more;

	if (size <= s->private_size)
		return true;
	while (new_size < size)
		new_size *= 2;
	more = realloc(s->private_unwritten, new_size * sizeof(*more));
	if (!more)
		return false;
	memset(more + s->private_size, 0xff, (new_size - s->private_size) * sizeof(*more));
	s->private_unwritten = more;
	s->private_size = new_size;
	return true;
}

static void memory_private_byte(struct step *step, const struct elements *e, unsigned int lane,
				uint64_t address, uint32_t unwritten)
{
	struct shadow_simdgroup *s = step->shadow;
	uint32_t bit = 1u << lane;

	if (!memory_grow_private(s, (uint32_t)address + 1))
		return;
	if (e->is_store) {
		s->private_unwritten[address] &= ~bit;
		s->private_unwritten[address] |= unwritten & bit;
	} else if (s->private_unwritten[address] & bit) {
		step->unwritten |= bit;
		step->origin = (struct origin){ ORIGIN_PRIVATE, (uint32_t)address };
	}
}

/* Accesses */

/* The element's bytes, unless they are outside: then the access fails, or has no effect */
static void memory_element(struct step *step, const struct elements *e, unsigned int lane,
			   uint64_t address, uint32_t unwritten)
{
	uint32_t bound = e->space == SPACE_SHARED ? step->sg->core->launch->shared_size :
						    MAX_PRIVATE;
	unsigned int i;

	if (address >= bound || e->size > bound - address)
		return;
	for (i = 0; i < e->size; i++) {
		if (e->space == SPACE_SHARED)
			memory_local_byte(step, e, lane, address + i, unwritten);
		else
			memory_private_byte(step, e, lane, address + i, unwritten);
	}
}

static void memory_lane(struct step *step, const struct elements *e, unsigned int lane,
			uint32_t unwritten)
{
	unsigned int i;

	for (i = 0; i < 4; i++) {
		if (e->mask >> i & 1)
			memory_element(step, e, lane, e->address.v[lane] + i * e->size, unwritten);
	}
}

static void memory_lanes(struct step *step, const struct elements *e, uint32_t unwritten)
{
	uint32_t left;

	if (e->space == SPACE_SHARED && !memory_local_bytes(step->sg->core->shadow))
		return;
	for (left = e->lanes; left; left &= left - 1)
		memory_lane(step, e, __builtin_ctz(left), unwritten);
}

/* Buffers */

/* How many bytes of a page belong to its buffer; all if it is not mapped, which is a fault */
static unsigned int memory_page_bytes(const struct step *step, uint64_t page)
{
	struct vagx_core *core = step->sg->core;
	struct vagx_uat_fault fault;
	const void *p = vagx_tlb_ptr(core->config.tlb, page, VAGX_UAT_PAGE_SIZE, VAGX_READ, &fault);

	return p ? core->shadow->page_bytes(core->shadow->ctx, p) : VAGX_UAT_PAGE_SIZE;
}

/* Reports elements behind their buffer; the page that was looked at last is known */
static void memory_check_bounds(const struct step *step, const struct elements *e)
{
	unsigned int bytes = VAGX_UAT_PAGE_SIZE, i;
	uint64_t known = UINT64_MAX;
	uint32_t left;

	for (left = step->sg->core->shadow->page_bytes ? e->lanes : 0; left; left &= left - 1) {
		unsigned int lane = __builtin_ctz(left);
		uint64_t address = e->address.v[lane];

		for (i = 0; i < 4; i++, address += e->size) {
			uint64_t page = address & ~(uint64_t)VAGX_UAT_PAGE_MASK;

			if (!(e->mask >> i & 1))
				continue;
			if (page != known)
				bytes = memory_page_bytes(step, page);
			known = page;
			if ((address & VAGX_UAT_PAGE_MASK) + e->size > bytes)
				finding_report(step->sg, step->op, FINDING_OUT_OF_BOUNDS, 1u << lane,
					       ": address 0x%llx, %u bytes",
					       (unsigned long long)address, e->size);
		}
	}
}

/* The value that is stored, or that an atomic uses, and the address: base and index */
static void memory_check_sources(struct step *step, const struct elements *e,
				 struct source_state *value)
{
	unsigned int first = e->is_store ? 1 : 0, i;
	struct source_state state;

	*value = (struct source_state){ 0 };
	if (e->is_store)
		*value = shadow_read(step, &step->op->src[0]);
	for (i = first; i < MAX_SRCS; i++) {
		state = shadow_read(step, &step->op->src[i]);
		shadow_report_unwritten(step, FINDING_UNWRITTEN_ADDRESS, &state);
	}
	value->unwritten &= e->lanes;
	if (e->space == SPACE_DEVICE)
		shadow_report_unwritten(step, FINDING_UNWRITTEN_OUTPUT, value);
}

/*
 * Reports a stack without memory at the beginning of the program: that is one mistake, whatever
 * reaches it. What a launch has says nothing of its preshader.
 */
static void memory_check_stack(const struct step *step, const struct elements *e)
{
	const struct vagx_core *core = step->sg->core;

	if (e->lanes && core->launch->no_stack && !core->uniforms_out)
		finding_report(step->sg, &step->sg->program->op[0], FINDING_NO_STACK, e->lanes,
			       ": %s; it is reached at 0x%llx", core->launch->no_stack,
			       (unsigned long long)step->op->va);
}

void shadow_access(struct step *step)
{
	struct source_state value;
	struct elements e;

	if (!vagx_mem_find_elements(step->sg, step->op, &e))
		return;
	step->unwritten = 0;
	memory_check_sources(step, &e, &value);
	if (e.space == SPACE_PRIVATE)
		memory_check_stack(step, &e);
	if (e.space == SPACE_DEVICE)
		memory_check_bounds(step, &e);
	if (e.space == SPACE_DEVICE)
		device_access(step, &e);
	else
		memory_lanes(step, &e, value.unwritten);
}
