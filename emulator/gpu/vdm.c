// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The vertex data master: walks a vertex control stream, block by block, as lib/agx decodes it
 * (agx_stream.h follows jumps, calls and records of PPP state), keeps the stream's state, and
 * returns at each draw. Runs on the job's own thread, without locks.
 */
#include <errno.h>
#include <string.h>

#include "gpu/gpu.h"
#include "gpu/vdm.h"
#include "report.h"

/* Makes a fault of a block that is mapped but malformed. Return: -EFAULT. */
static int vdm_malformed(struct vdm *vdm, uint64_t va)
{
	vdm->fault = (struct vagx_uat_fault){
		.va = va,
		.slot = vdm->vm_slot,
		.access = VAGX_READ,
		.reason = VAGX_FAULT_NO_ACCESS,
	};
	return -EFAULT;
}

static int vdm_read(void *ctx, uint64_t va, void *buf, size_t len)
{
	struct vdm *vdm = ctx;

	return vagx_tlb_read(vdm->tlb, va, buf, len, &vdm->fault);
}

void vdm_init(struct vdm *vdm, uint64_t base)
{
	vdm->source = (struct agx_stream_source){
		.read = vdm_read,
		.ctx = vdm,
		/* an endless stream ends when its job is cancelled */
		.max_packets = UINT64_MAX,
		.records = true,
	};
	vdm->unit = VAGX_GPU_UNIT_VDM_CS;
	vdm->restart_index = UINT32_MAX;
	agx_stream_init(&vdm->stream, AGX_STREAM_vdm, &vdm->source, base);
}

/* Reports a known kind of draw that is not supported; Mesa emits none of these */
static int vdm_unsupported(struct vdm *vdm, const char *what)
{
	vagx_violation(vdm->report, VAGX_RULE_VDM_UNSUPPORTED, vdm->stream.block, "VDM Index list",
		       "%s", what);
	return vdm_malformed(vdm, vdm->stream.block);
}

/* Reads an indirect draw, whose record is Vulkan's; shaders read its first instance themselves */
static int vdm_indirect(struct vdm *vdm, uint64_t address)
{
	struct vdm_draw *d = &vdm->draw;
	uint32_t words[4];
	int err = vdm_read(vdm, address, words, sizeof(words));

	if (err)
		return err;
	d->count = words[0];
	d->instances = words[1];
	d->start = d->indexed ? words[3] : words[2];
	if (d->indexed)
		d->index_address += (uint64_t)words[2] * d->index_size;
	return 0;
}

static void vdm_begin_draw(struct vdm *vdm)
{
	vdm->list = vdm->packet.values.vdm_index_list;
	vdm->draw = (struct vdm_draw){
		.va = vdm->packet.va,
		.primitive = vdm->list.primitive,
		.instances = 1,
		.indexed = vdm->list.index_buffer_present,
		.index_address = (uint64_t)vdm->list.index_buffer_high << 32,
		.index_bytes = UINT64_MAX,
		.index_size = 1u << vdm->list.index_size % 4,
		.restart = vdm->list.restart,
	};
}

static int vdm_check_draw(struct vdm *vdm)
{
	if (vdm->draw.primitive == AGX_PRIMITIVE_QUADS ||
	    vdm->draw.primitive == AGX_PRIMITIVE_QUAD_STRIP)
		return vdm_unsupported(vdm, "quads");
	if (vdm->list.index_size > AGX_INDEX_SIZE_U32)
		return vdm_unsupported(vdm, "size of indices");
	return 1;
}

/*
 * Handles a packet. An indirect draw's first index moves the index buffer, whose address has come
 * before. Return: 1 with the last packet of a draw, 0, -EFAULT.
 */
static int vdm_packet(struct vdm *vdm)
{
	const union agx_packet *v = &vdm->packet.values;
	struct vdm_draw *d = &vdm->draw;
	int err = 0;

	switch (vdm->packet.id) {
	case AGX_PACKET_vdm_restart_index:
		vdm->restart_index = v->vdm_restart_index.value;
		return 0;
	case AGX_PACKET_vdm_counts:
		vdm->counts = v->vdm_counts.counts;
		return 0;
	case AGX_PACKET_vdm_pipeline:
		vdm->pipeline = v->vdm_pipeline.pipeline;
		return 0;
	case AGX_PACKET_vdm_outputs:
		vdm->outputs = v->vdm_outputs.count_1;
		return 0;
	case AGX_PACKET_vdm_control:
		vdm->control = v->vdm_control;
		return 0;
	case AGX_PACKET_vdm_index_list:
		vdm_begin_draw(vdm);
		break;
	case AGX_PACKET_vdm_index_buffer:
		d->index_address |= v->vdm_index_buffer.low;
		break;
	case AGX_PACKET_vdm_count:
		d->count = v->vdm_count.count;
		break;
	case AGX_PACKET_vdm_instances:
		d->instances = v->vdm_instances.count;
		break;
	case AGX_PACKET_vdm_start:
		d->start = v->vdm_start.start;
		break;
	case AGX_PACKET_vdm_indirect:
		err = vdm_indirect(vdm, v->vdm_indirect.address);
		break;
	case AGX_PACKET_vdm_index_buffer_size:
		d->index_bytes = v->vdm_index_buffer_size.bytes;
		break;
	default:
		if (vdm->packet.kind == AGX_STREAM_ppp)
			ppp_set(&vdm->ppp, vdm->packet.id, vdm->packet.bytes, &vdm->viewport);
		return 0;
	}
	if (err || vdm->packet.left)
		return err;
	return vdm_check_draw(vdm);
}

static int vdm_stream_error(struct vdm *vdm)
{
	static const enum vagx_rule rules[] = {
		[AGX_STREAM_MISALIGNED] = VAGX_CLAUSE_VDM_UNKNOWN_BLOCK_alignment,
		[AGX_STREAM_UNKNOWN] = VAGX_CLAUSE_VDM_UNKNOWN_BLOCK_type,
		[AGX_STREAM_BAD_CONSTANT] = VAGX_RULE_VDM_RESERVED_BITS,
		[AGX_STREAM_TOO_DEEP] = VAGX_CLAUSE_VDM_CALL_DEPTH_deep,
		[AGX_STREAM_NO_CALL] = VAGX_CLAUSE_VDM_CALL_DEPTH_return,
		[AGX_STREAM_BAD_SIZE] = VAGX_RULE_PPP_SIZE,
	};
	const struct agx_stream *s = &vdm->stream;

	if (vdm->packet.kind == AGX_STREAM_ppp || s->error.reason == AGX_STREAM_BAD_SIZE)
		vdm->unit = VAGX_GPU_UNIT_PPP;
	vagx_violation(vdm->report, rules[s->error.reason], s->error.va, s->error.what, "%s",
		       s->error.text);
	return vdm_malformed(vdm, s->error.va);
}

/* Reports reserved bits that are set: a draw may depend on them, so they are not ignored */
static int vdm_reserved(struct vdm *vdm)
{
	const struct agx_error *e = &vdm->packet.error;

	vagx_violation(vdm->report, VAGX_RULE_VDM_RESERVED_BITS, vdm->packet.va, e->packet,
		       "%s: %s", e->field, e->text);
	if (vdm->packet.kind == AGX_STREAM_ppp)
		vdm->unit = VAGX_GPU_UNIT_PPP;
	return vdm_malformed(vdm, vdm->packet.va);
}

int vdm_next(struct vdm *vdm)
{
	int err;

	vdm->unit = VAGX_GPU_UNIT_VDM_CS;
	do {
		if (atomic_load_explicit(vdm->stop, memory_order_relaxed))
			return -ECANCELED;
		err = agx_stream_next(&vdm->stream, &vdm->packet);
		if (err == -EINVAL)
			return vdm_stream_error(vdm);
		if (err <= 0)
			return err;
		vdm->packets++;
		err = vdm->packet.status ? vdm_reserved(vdm) : vdm_packet(vdm);
	} while (!err);
	return err;
}
