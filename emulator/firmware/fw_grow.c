// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * Asks the driver for more of a vertex buffer, and takes its acknowledgement. Real firmware does
 * so only for renders that want it, which neither reference has ever sent; so here it does when it
 * is told to, by --tvb-grow or the control socket. With the firmware's lock held, which is dropped
 * while a worker waits for the answer.
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "fw_buffer.h"

#define FW_GROW_WAIT_NS	1000000000ULL

/* Return: how often the firmware has halted */
static uint64_t fw_grow_halts(struct fw_access *access, struct vagx_firmware *fw)
{
	struct fw_view status = fw_view(access, FW_S_FwStatus, fw->status);

	return fw_get(&status, FW_FwStatus_halt_count);
}

static struct fw_request *fw_grow_note(struct fw_access *access, struct vagx_firmware *fw,
				       uint32_t context, uint32_t slot, uint32_t counter)
{
	struct fw_request *request = &fw->request[fw->next_request++ % FW_REQUESTS];

	*request = (struct fw_request){
		.open = true,
		.context = context,
		.slot = slot,
		.counter = counter,
		.halts = fw_grow_halts(access, fw),
	};
	return request;
}

void fw_grow_asked(struct vagx_firmware *fw, uint32_t context, uint32_t slot, uint32_t counter)
{
	fw_grow_note(&fw->access, fw, context, slot, counter);
}

void fw_grow_ask(struct vagx_firmware *fw, uint32_t context, uint32_t slot)
{
	uint32_t counter = ++fw->request_counter;

	fw_grow_note(&fw->access, fw, context, slot, counter);
	fw_event_grow(&fw->access, fw, context, slot, counter);
}

/* Return: what an acknowledgement has otherwise than the request that comes closest */
static enum vagx_rule fw_grow_mistake(const struct vagx_firmware *fw, uint32_t slot,
				      uint32_t context, uint32_t counter)
{
	enum vagx_rule mistake = VAGX_CLAUSE_FW_GROW_ACK_request;

	for (unsigned int i = 0; i < FW_REQUESTS; i++) {
		const struct fw_request *request = &fw->request[i];
		bool same_slot = request->slot == slot, same_context = request->context == context,
		     same_counter = request->counter == counter;

		if (!request->open)
			continue;
		if (same_context && same_counter)
			mistake = VAGX_CLAUSE_FW_GROW_ACK_slot;
		else if (same_slot && same_counter)
			mistake = VAGX_CLAUSE_FW_GROW_ACK_context;
		else if (same_slot && same_context)
			mistake = VAGX_CLAUSE_FW_GROW_ACK_counter;
	}
	return mistake;
}

/*
 * Compares the count of halts in an acknowledgement with those at the request and now. Nobody
 * knows what the real firmware makes of it: m1n1 has 0 there, the Rust driver the count at the
 * time of the message.
 */
static void fw_grow_hint_halts(struct vagx_firmware *fw, const struct fw_request *request,
			       const struct fw_view *msg)
{
	uint64_t halts = fw_get(msg, FW_DcGrowTvbAck_halt_count);
	uint64_t now = fw_grow_halts(&fw->access, fw);

	if (fw->access.failed || (halts >= request->halts && halts <= now))
		return;
	vagx_violation(fw->config.report,
		       halts > now ? VAGX_CLAUSE_FW_GROW_HALTS_ahead : VAGX_CLAUSE_FW_GROW_HALTS_old,
		       msg->va, "GrowTVBAck", "%" PRIu64 " halts, %" PRIu64 " at the request, %" PRIu64
		       " now", halts, request->halts, now);
}

void fw_grow_acknowledged(struct vagx_firmware *fw, uint64_t va)
{
	struct fw_view msg = fw_view(&fw->access, FW_S_DcGrowTvbAck, va);
	uint32_t slot = fw_get(&msg, FW_DcGrowTvbAck_bm_id);
	uint32_t context = fw_get(&msg, FW_DcGrowTvbAck_vm_id);
	uint32_t counter = fw_get(&msg, FW_DcGrowTvbAck_counter);

	for (unsigned int i = 0; i < FW_REQUESTS; i++) {
		struct fw_request *request = &fw->request[i];

		if (!request->open || request->slot != slot || request->context != context ||
		    request->counter != counter)
			continue;
		fw_grow_hint_halts(fw, request, &msg);
		request->open = false;
		if (slot < FW_BUFFERS && fw_buffer_reload(&fw->access, fw, slot, context))
			fw->grown++;
		pthread_cond_broadcast(&fw->work);
		return;
	}
	if (!fw->access.failed)
		vagx_violation(fw->config.report, fw_grow_mistake(fw, slot, context, counter), va,
			       "GrowTVBAck",
			       "slot %u, context %u, counter %u: the firmware has sent no such request",
			       slot, context, counter);
}

static bool fw_grow_is_open(const struct fw_request *request, uint32_t counter)
{
	return request->open && request->counter == counter;
}

bool fw_grow(struct fw_worker *worker, const struct fw_scene *scene, unsigned int context)
{
	struct vagx_firmware *fw = worker->fw;
	uint64_t until = fw_now_ns() + FW_GROW_WAIT_NS;
	struct timespec time = { .tv_sec = until / 1000000000, .tv_nsec = until % 1000000000 };
	uint32_t counter = ++fw->request_counter, changes = fw_buffer_changes(fw, scene);
	struct fw_request *request = fw_grow_note(&worker->access, fw, context,
						  scene->slot, counter);

	fw_event_grow(&worker->access, fw, context, scene->slot, counter);
	while (fw_grow_is_open(request, counter) && !worker->cancelled &&
	       fw->state == FW_STATE_READY && fw_now_ns() < until)
		pthread_cond_timedwait(&fw->work, &fw->lock, &time);
	return fw->state == FW_STATE_READY && fw_buffer_changes(fw, scene) != changes &&
	       fw_buffer_has_room(fw, scene);
}
