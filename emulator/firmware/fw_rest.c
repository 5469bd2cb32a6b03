// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * What the firmware holds that belongs to work, for the control socket: when the driver has
 * nothing in flight there is none of it. A driver that has been forced away from its work leaves
 * some, so this is no rule.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <time.h>

#include "fw_buffer.h"

/* How long the caller waits for the lock */
#define FW_REST_NS	100000000ULL

struct fw_rest {
	char *text;
	size_t size;
	size_t used;
	int left;
};

static void fw_rest_say(struct fw_rest *rest, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void fw_rest_say(struct fw_rest *rest, const char *fmt, ...)
{
	size_t room = rest->size - rest->used;
	va_list args;
	int len;

	if (rest->left++ && room > 2) {
		snprintf(rest->text + rest->used, room, "; ");
		rest->used += 2;
		room -= 2;
	}
	va_start(args, fmt);
	len = vsnprintf(rest->text + rest->used, room, fmt, args);
	va_end(args);
	rest->used += (size_t)len < room ? (size_t)len : room - 1;
}

static void fw_rest_queues(struct vagx_firmware *fw, struct fw_rest *rest)
{
	for (unsigned int pipe = 0; pipe < FW_PIPES; pipe++) {
		for (struct fw_queue *queue = fw->active[pipe]; queue; queue = queue->active_next)
			fw_rest_say(rest, "queue %#" PRIx64 " has %u commands, %u outstanding",
				    queue->info, queue->count, queue->outstanding);
		if (fw->keeper[pipe])
			fw_rest_say(rest, "queue %#" PRIx64 " keeps pipe %u",
				    fw->keeper[pipe]->info, pipe);
	}
	for (unsigned int slot = 0; slot < FW_EVENT_SLOTS; slot++)
		if (fw->slot_owner[slot])
			fw_rest_say(rest, "event %u belongs to queue %#" PRIx64, slot,
				    fw->slot_owner[slot]->info);
}

static void fw_rest_units(struct vagx_firmware *fw, struct fw_rest *rest)
{
	if (fw->on_units)
		fw_rest_say(rest, "%u jobs are on the units", fw->on_units);
	for (unsigned int i = 0; i < FW_PENDING_STAMPS; i++)
		if (fw->pending_used[i])
			fw_rest_say(rest, "pending stamp %u is used", i);
}

static void fw_rest_buffers(struct vagx_firmware *fw, struct fw_rest *rest)
{
	for (unsigned int slot = 0; slot < FW_BUFFERS; slot++) {
		uint32_t taken = fw_buffer_taken(fw, slot);

		if (fw_scene_of_slot(fw, slot))
			fw_rest_say(rest, "vertex buffer %u has a scene", slot);
		if (taken)
			fw_rest_say(rest, "%" PRIu32 " pages of vertex buffer %u are taken", taken,
				    slot);
	}
	for (unsigned int i = 0; i < FW_REQUESTS; i++)
		if (fw->request[i].open)
			fw_rest_say(rest, "request %" PRIu32 " for vertex buffer %" PRIu32
				    " has no answer", fw->request[i].counter, fw->request[i].slot);
}

static void fw_rest_events(struct vagx_firmware *fw, struct fw_rest *rest)
{
	if (fw->halted)
		fw_rest_say(rest, "it waits for a resume");
	if (fw_event_to_retry(fw))
		fw_rest_say(rest, "events wait for room in their ring");
}

/* What goes with the contexts of the queues, and so with the last client */
static void fw_rest_contexts(struct vagx_firmware *fw, struct fw_rest *rest)
{
	if (fw->queue_count)
		fw_rest_say(rest, "%u queues are known", fw->queue_count);
	for (unsigned int slot = 0; slot < FW_BUFFERS; slot++)
		if (fw_buffer_is_known(fw, slot))
			fw_rest_say(rest, "vertex buffer %u is known", slot);
}

int vagx_fw_at_rest(struct vagx_firmware *fw, bool closed, char *text, size_t size)
{
	struct fw_rest rest = { .text = text, .size = size };
	uint64_t until = fw_now_ns() + FW_REST_NS;
	struct timespec time = { .tv_sec = until / 1000000000, .tv_nsec = until % 1000000000 };

	*text = '\0';
	if (pthread_mutex_clocklock(&fw->lock, CLOCK_MONOTONIC, &time))
		return -EBUSY;
	/* One that does not run has forgotten everything, and one that has crashed does so soon. */
	if (fw->state == FW_STATE_READY) {
		fw_rest_queues(fw, &rest);
		fw_rest_units(fw, &rest);
		fw_rest_buffers(fw, &rest);
		fw_rest_events(fw, &rest);
		if (closed)
			fw_rest_contexts(fw, &rest);
	}
	pthread_mutex_unlock(&fw->lock);
	return rest.left;
}
