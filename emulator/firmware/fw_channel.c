// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * The doorbells: each hands the messages of its channel on, to the work queues, to device control
 * or to the handoff page, until the ring is empty. Main thread, with the lock held.
 */
#include <inttypes.h>

#include "fw_internal.h"

#define FW_DOORBELL_KICK	0x10
#define FW_DOORBELL_CONTROL	0x11

/*
 * Counts a doorbell, and those that were left to it: there may not be more of them than messages. A
 * message may have been found by the doorbell before its own.
 */
static void fw_channel_check_doorbell(struct vagx_firmware *fw, struct fw_ring *ring)
{
	ring->doorbells += 1 + ring->left;
	ring->left = 0;
	if (ring->doorbells <= ring->messages)
		return;
	vagx_violation(fw->config.report, VAGX_RULE_FW_DOORBELL_EMPTY, ring->state, ring->name,
		       "%" PRIu64 " doorbells, %" PRIu64 " messages", ring->doorbells,
		       ring->messages);
	ring->doorbells = ring->messages;
}

static void fw_channel_take_pipe(struct vagx_firmware *fw, unsigned int channel)
{
	struct fw_ring *ring = &fw->pipe[channel];
	uint64_t va;

	while (fw->state == FW_STATE_READY && (va = fw_ring_peek(fw, ring))) {
		/*
		 * A render's fragment command is announced before its vertex command, so its
		 * channel is read first, whichever doorbell came first
		 */
		if (channel % FW_PIPES == FW_PIPE_VERTEX)
			fw_channel_take_pipe(fw, channel - FW_PIPE_VERTEX + FW_PIPE_FRAGMENT);
		fw_queue_run(fw, channel, va);
		fw_ring_pop(fw, ring);
		fw_log_trace(fw);
		fw_telemetry_tell(fw, &fw->access);
	}
}

static void fw_channel_take_control(struct vagx_firmware *fw)
{
	uint64_t va;

	while (fw->state == FW_STATE_READY && (va = fw_ring_peek(fw, &fw->control))) {
		fw_control_message(fw, va);
		fw_ring_pop(fw, &fw->control);
	}
}

static void fw_channel_take_fwctl(struct vagx_firmware *fw)
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
}

/* Return: the ring of a doorbell, or NULL */
static struct fw_ring *fw_channel_ring(struct vagx_firmware *fw, unsigned int channel)
{
	unsigned int pipe = channel & 3, priority = channel >> 2;

	if (channel == FW_CHANNEL_FWCTL)
		return &fw->fwctl;
	if (channel == FW_DOORBELL_CONTROL)
		return &fw->control;
	if (pipe < FW_PIPES && priority < FW_PRIORITIES)
		return &fw->pipe[priority * FW_PIPES + pipe];
	return NULL;
}

void fw_channel_look(struct vagx_firmware *fw, unsigned int channel)
{
	struct fw_ring *ring = fw_channel_ring(fw, channel);

	if (ring == &fw->fwctl)
		fw_channel_take_fwctl(fw);
	else if (ring == &fw->control)
		fw_channel_take_control(fw);
	else if (ring)
		fw_channel_take_pipe(fw, ring - fw->pipe);
}

bool fw_channel_leave(struct vagx_firmware *fw, unsigned int channel)
{
	struct fw_ring *ring = fw_channel_ring(fw, channel);

	if (ring)
		ring->left++;
	return ring;
}

void fw_channel_doorbell(struct vagx_firmware *fw, unsigned int channel)
{
	struct fw_ring *ring = fw_channel_ring(fw, channel);

	if (channel == FW_DOORBELL_KICK)
		return;
	if (!ring) {
		vagx_violation(fw->config.report, VAGX_RULE_FW_DOORBELL_CHANNEL, channel,
			       "doorbell", "no channel has this doorbell");
		return;
	}
	fw_channel_look(fw, channel);
	fw_channel_check_doorbell(fw, ring);
}
