// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * Rings of messages, as channels have them (m1n1 fw/agx/channels.py): a read and a write pointer
 * in shared memory, and entries. The firmware reads some and writes others; the pointer that it
 * moves is its own, so it knows what is in there, and the other one is checked before each use.
 *
 * With the firmware's lock held. Messages that come are read by the main thread alone; those that
 * go are written by whichever thread has something to tell.
 */
#include <string.h>

#include "fw_internal.h"

static enum fw_field_id fw_ring_rptr(const struct fw_ring *ring)
{
	return ring->type == FW_S_FwCtlRingState ? FW_FwCtlRingState_read_ptr
						 : FW_RingState_read_ptr;
}

static enum fw_field_id fw_ring_wptr(const struct fw_ring *ring)
{
	return ring->type == FW_S_FwCtlRingState ? FW_FwCtlRingState_write_ptr
						 : FW_RingState_write_ptr;
}

static bool fw_ring_is_shared(struct vagx_firmware *fw, uint64_t va)
{
	uint64_t pte = vagx_uat_pte(fw->config.uat, 0, va);

	return !(pte & VAGX_PTE_VALID) || VAGX_PTE_ATTR(pte) == VAGX_ATTR_SHARED;
}

bool fw_ring_setup(struct vagx_firmware *fw, struct fw_ring *ring, const char *name,
		   enum fw_struct_id type, uint64_t state, uint64_t entries, uint32_t count,
		   uint32_t stride)
{
	struct fw_view view = fw_view(&fw->access, type, state);

	memset(ring, 0, sizeof(*ring));
	ring->name = name;
	ring->type = type;
	ring->state = state;
	ring->entries = entries;
	ring->count = count;
	ring->stride = stride;
	if (!state || !entries) {
		vagx_violation(fw->config.report,
			       state ? VAGX_CLAUSE_FW_INIT_NULL_entries :
				       VAGX_CLAUSE_FW_INIT_NULL_state,
			       state, name, "has no %s",
			       state ? "entries" : "state");
		return false;
	}
	if (!fw_ring_is_shared(fw, state))
		vagx_violation(fw->config.report, VAGX_CLAUSE_FW_INIT_SHARED_ring, state, name,
			       "the pointers of the ring are not in shared memory");
	if (fw_get(&view, fw_ring_rptr(ring)))
		vagx_violation(fw->config.report, VAGX_CLAUSE_FW_RING_POINTER_read, state, name,
			       "does not start at 0");
	if (fw_get(&view, fw_ring_wptr(ring)) >= count)
		vagx_violation(fw->config.report, VAGX_CLAUSE_FW_RING_POINTER_write, state, name,
			       "starts outside");
	if (!fw_mapped(&fw->access, entries, (size_t)count * stride, VAGX_READ)) {
		vagx_violation(fw->config.report, VAGX_CLAUSE_FW_UNMAPPED_ring, entries, name,
			       "%u entries of %#x bytes", count, stride);
		return false;
	}
	return !fw->access.failed;
}

/* Loads the pointer that the driver writes. One that is out of range ends the firmware. */
static bool fw_ring_theirs(struct vagx_firmware *fw, struct fw_access *access,
			   struct fw_ring *ring, enum fw_field_id field, uint32_t *value)
{
	struct fw_view view = fw_view(access, ring->type, ring->state);

	*value = fw_get(&view, field);
	if (access->failed)
		return false;
	if (*value >= ring->count) {
		vagx_violation(fw->config.report, VAGX_CLAUSE_FW_RING_POINTER_range, ring->state,
			       ring->name, "pointer %#x, ring of %#x", *value, ring->count);
		fw_crash(fw, "%s: ring pointer out of range", ring->name);
		return false;
	}
	return true;
}

/* Reports a pointer of the firmware's that somebody else has written */
static void fw_ring_ours(struct vagx_firmware *fw, struct fw_access *access,
			 struct fw_ring *ring, enum fw_field_id field)
{
	struct fw_view view = fw_view(access, ring->type, ring->state);
	uint32_t value = fw_get(&view, field);

	if (access->failed || value == ring->index)
		return;
	vagx_violation(fw->config.report, VAGX_RULE_FW_RING_OWNER, ring->state, ring->name,
		       "became %#x instead of %#x", value, ring->index);
}

uint64_t fw_ring_peek(struct vagx_firmware *fw, struct fw_ring *ring)
{
	uint32_t wptr;

	fw_ring_ours(fw, &fw->access, ring, fw_ring_rptr(ring));
	if (!fw_ring_theirs(fw, &fw->access, ring, fw_ring_wptr(ring), &wptr) ||
	    wptr == ring->index)
		return 0;
	/* All drivers have rings in private memory, so the firmware has to read past its cache */
	fw_cache_discard(fw->cache, ring->entries + (uint64_t)ring->index * ring->stride,
			 ring->stride);
	return ring->entries + (uint64_t)ring->index * ring->stride;
}

void fw_ring_pop(struct vagx_firmware *fw, struct fw_ring *ring)
{
	struct fw_view view = fw_view(&fw->access, ring->type, ring->state);

	ring->index = (ring->index + 1) % ring->count;
	ring->messages++;
	fw_set(&view, fw_ring_rptr(ring), ring->index);
}

uint64_t fw_ring_room(struct fw_access *access, struct vagx_firmware *fw, struct fw_ring *ring)
{
	uint32_t rptr;

	fw_ring_ours(fw, access, ring, fw_ring_wptr(ring));
	if (!fw_ring_theirs(fw, access, ring, fw_ring_rptr(ring), &rptr) ||
	    (ring->index + 1) % ring->count == rptr)
		return 0;
	return ring->entries + (uint64_t)ring->index * ring->stride;
}

void fw_ring_push(struct fw_access *access, struct fw_ring *ring)
{
	struct fw_view view = fw_view(access, ring->type, ring->state);

	ring->index = (ring->index + 1) % ring->count;
	fw_set(&view, fw_ring_wptr(ring), ring->index);
}
