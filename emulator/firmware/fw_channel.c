// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * Rings: their pointers, and what the doorbells make of them.
 */
#include <inttypes.h>
#include <string.h>

#include "fw_internal.h"

#define FW_DOORBELL_KICK	0x10
#define FW_DOORBELL_CONTROL	0x11

static enum fw_field_id ring_rptr(const struct fw_ring *ring)
{
	return ring->type == FW_S_FwCtlRingState ? FW_FwCtlRingState_read_ptr
						 : FW_RingState_read_ptr;
}

static enum fw_field_id ring_wptr(const struct fw_ring *ring)
{
	return ring->type == FW_S_FwCtlRingState ? FW_FwCtlRingState_write_ptr
						 : FW_RingState_write_ptr;
}

static bool pte_shared(struct vagx_firmware *fw, uint64_t va)
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
		vagx_violation(fw->config.report, VAGX_RULE_FW_INIT_NULL, state, name, "has no %s",
			       state ? "entries" : "state");
		return false;
	}
	if (!pte_shared(fw, state))
		vagx_violation(fw->config.report, VAGX_RULE_FW_INIT_SHARED, state, name,
			       "its pointers are not");
	if (fw_get(&view, ring_rptr(ring)) || fw_get(&view, ring_wptr(ring)) >= count)
		vagx_violation(fw->config.report, VAGX_RULE_FW_RING_POINTER, state, name,
			       "does not start at 0");
	if (!fw_mapped(&fw->access, entries, (size_t)count * stride, VAGX_READ)) {
		vagx_violation(fw->config.report, VAGX_RULE_FW_UNMAPPED, entries, name,
			       "%u entries of %#x bytes", count, stride);
		return false;
	}
	return !fw->access.failed;
}

/* A pointer that is not ours, bounded */
static bool ring_theirs(struct vagx_firmware *fw, struct fw_access *access, struct fw_ring *ring,
			enum fw_field_id field, uint32_t *value)
{
	struct fw_view view = fw_view(access, ring->type, ring->state);

	*value = fw_get(&view, field);
	if (access->failed)
		return false;
	if (*value >= ring->count) {
		vagx_violation(fw->config.report, VAGX_RULE_FW_RING_POINTER, ring->state,
			       ring->name, "pointer %#x, ring of %#x", *value, ring->count);
		fw_crash(fw, "%s: ring pointer out of range", ring->name);
		return false;
	}
	return true;
}

/* A pointer that only the firmware writes */
static void ring_ours(struct vagx_firmware *fw, struct fw_access *access, struct fw_ring *ring,
		      enum fw_field_id field)
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

	ring_ours(fw, &fw->access, ring, ring_rptr(ring));
	if (!ring_theirs(fw, &fw->access, ring, ring_wptr(ring), &wptr) || wptr == ring->index)
		return 0;
	/* All drivers have rings in private memory, so it has to know that they change */
	fw_cache_discard(fw->cache, ring->entries + (uint64_t)ring->index * ring->stride,
			 ring->stride);
	return ring->entries + (uint64_t)ring->index * ring->stride;
}

void fw_ring_pop(struct vagx_firmware *fw, struct fw_ring *ring)
{
	struct fw_view view = fw_view(&fw->access, ring->type, ring->state);

	ring->index = (ring->index + 1) % ring->count;
	ring->messages++;
	fw_set(&view, ring_rptr(ring), ring->index);
}

uint64_t fw_ring_room(struct fw_access *access, struct vagx_firmware *fw, struct fw_ring *ring)
{
	uint32_t rptr;

	ring_ours(fw, access, ring, ring_wptr(ring));
	if (!ring_theirs(fw, access, ring, ring_rptr(ring), &rptr) ||
	    (ring->index + 1) % ring->count == rptr)
		return 0;
	return ring->entries + (uint64_t)ring->index * ring->stride;
}

void fw_ring_push(struct fw_access *access, struct fw_ring *ring)
{
	struct fw_view view = fw_view(access, ring->type, ring->state);

	ring->index = (ring->index + 1) % ring->count;
	fw_set(&view, ring_wptr(ring), ring->index);
}

/*
 * Every doorbell belongs to a message, though one that came early may have
 * been found by the doorbell before.
 */
static void check_doorbell(struct vagx_firmware *fw, struct fw_ring *ring)
{
	ring->doorbells++;
	if (ring->doorbells <= ring->messages)
		return;
	vagx_violation(fw->config.report, VAGX_RULE_FW_DOORBELL_EMPTY, ring->state, ring->name,
		       "%" PRIu64 " doorbells, %" PRIu64 " messages", ring->doorbells,
		       ring->messages);
	ring->doorbells = ring->messages;
}

static void take_pipe(struct vagx_firmware *fw, unsigned int channel)
{
	struct fw_ring *ring = &fw->pipe[channel];
	uint64_t va;

	while (fw->state == FW_STATE_READY && (va = fw_ring_peek(fw, ring))) {
		/* A render's fragment half was announced first, whatever doorbell came first */
		if (channel % FW_PIPES == FW_PIPE_VERTEX)
			take_pipe(fw, channel - FW_PIPE_VERTEX + FW_PIPE_FRAGMENT);
		fw_queue_run(fw, channel, va);
		fw_ring_pop(fw, ring);
		fw_trace(fw);
	}
}

static void drain_pipe(struct vagx_firmware *fw, unsigned int channel)
{
	take_pipe(fw, channel);
	check_doorbell(fw, &fw->pipe[channel]);
}

static void drain_control(struct vagx_firmware *fw)
{
	uint64_t va;

	while (fw->state == FW_STATE_READY && (va = fw_ring_peek(fw, &fw->control))) {
		fw_control_message(fw, va);
		fw_ring_pop(fw, &fw->control);
	}
	check_doorbell(fw, &fw->control);
}

void fw_doorbell(struct vagx_firmware *fw, unsigned int channel)
{
	unsigned int pipe = channel & 3, priority = channel >> 2;

	if (channel == FW_DOORBELL_KICK)
		return;
	if (channel == FW_DOORBELL_CONTROL) {
		drain_control(fw);
	} else if (pipe < FW_PIPES && priority < FW_PRIORITIES) {
		drain_pipe(fw, priority * FW_PIPES + pipe);
	} else {
		vagx_violation(fw->config.report, VAGX_RULE_FW_DOORBELL_CHANNEL, channel,
			       "doorbell", "nothing listens there");
	}
}

void fw_doorbell_fwctl(struct vagx_firmware *fw)
{
	uint64_t va;

	while (fw->state == FW_STATE_READY && (va = fw_ring_peek(fw, &fw->fwctl))) {
		struct fw_view msg = fw_view(&fw->access, FW_S_FwCtlMsg, va);
		uint32_t slot = fw_get(&msg, FW_FwCtlMsg_context_id);

		if (!fw->access.failed)
			fw_handoff_flush(fw, slot);
		fw_cache_sweep(fw->cache, &fw->access);
		fw_ring_pop(fw, &fw->fwctl);
	}
	check_doorbell(fw, &fw->fwctl);
}
