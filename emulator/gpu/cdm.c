// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The compute data master: walks a compute control stream, block by block, as lib/agx decodes it
 * (agx_stream.h follows jumps and calls). A launch collects its sizes from the packets behind
 * it, has its USC words loaded, and is run to its end before the walk goes on. Runs on the job's
 * own thread; its state is on the stack.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "agx_stream.h"
#include "gpu/cdm.h"
#include "gpu/core.h"
#include "gpu/gpu.h"
#include "gpu/usc.h"
#include "report.h"
#include "uat.h"

/* Sizes of a launch, as its packets have them: the global one in threads or in threadgroups */
struct cdm_size {
	uint32_t global[3];
	uint32_t local[3];
	bool global_is_groups;
};

/* State of walking a stream */
struct cdm_reader {
	const struct vagx_cdm *cdm;
	struct vagx_uat_fault *fault;
	unsigned int *unit;
	struct agx_stream stream;
	struct agx_stream_packet packet;
	/* the last launch packet, and the sizes from the packets behind it */
	struct agx_cdm_launch launch;
	struct cdm_size size;
	bool past_end;
	bool done;
};

/* Makes a fault of a block that is mapped but malformed. Return: -EFAULT. */
static int cdm_malformed(struct cdm_reader *r, uint64_t va)
{
	*r->fault = (struct vagx_uat_fault){
		.va = va,
		.slot = r->cdm->vm_slot,
		.access = VAGX_READ,
		.reason = VAGX_FAULT_NO_ACCESS,
	};
	return -EFAULT;
}

static int cdm_read(void *ctx, uint64_t va, void *buf, size_t len)
{
	struct cdm_reader *r = ctx;

	return vagx_tlb_read(r->cdm->tlb, va, buf, len, r->fault);
}

/* Reads the sizes of an indirect launch */
static int cdm_read_indirect(struct cdm_reader *r)
{
	bool with_local = r->launch.mode == AGX_CDM_MODE_INDIRECT_LOCAL;
	uint32_t words[6];
	int err;

	err = cdm_read(r, r->packet.values.cdm_indirect.address, words,
		       with_local ? sizeof(words) : sizeof(words) / 2);
	if (err)
		return err;
	memcpy(r->size.global, words, sizeof(r->size.global));
	if (with_local)
		memcpy(r->size.local, words + 3, sizeof(r->size.local));
	r->size.global_is_groups = !with_local;
	return 0;
}

/* Return: the clause about sizes that is broken, or VAGX_KEPT */
static enum vagx_rule cdm_check_size(const struct cdm_size *size)
{
	uint64_t threads = 1;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		if (!size->local[i])
			return VAGX_CLAUSE_CDM_BAD_SIZE_none;
		if (size->local[i] > VAGX_CORE_MAX_THREADS)
			return VAGX_CLAUSE_CDM_BAD_SIZE_dimension;
		threads *= size->local[i];
		if (size->global_is_groups &&
		    (uint64_t)size->global[i] * size->local[i] > UINT32_MAX)
			return VAGX_CLAUSE_CDM_BAD_SIZE_grid;
	}
	return threads <= VAGX_CORE_MAX_THREADS ? VAGX_KEPT : VAGX_CLAUSE_CDM_BAD_SIZE_threads;
}

/* Sets the launch's grid and threadgroup size, in threads. Return: 0, or -EFAULT if invalid. */
static int cdm_apply_size(struct cdm_reader *r, struct vagx_launch *launch)
{
	const struct cdm_size *size = &r->size;
	enum vagx_rule clause = cdm_check_size(size);
	unsigned int i;

	if (clause != VAGX_KEPT) {
		vagx_violation(r->cdm->report, clause, r->stream.block, "CDM Launch",
			       "global %u x %u x %u, local %u x %u x %u",
			       size->global[0], size->global[1],
			       size->global[2], size->local[0], size->local[1],
			       size->local[2]);
		return cdm_malformed(r, r->stream.block);
	}
	for (i = 0; i < 3; i++) {
		launch->local[i] = size->local[i];
		launch->grid[i] = size->global[i];
		if (size->global_is_groups)
			launch->grid[i] *= size->local[i];
	}
	return 0;
}

/*
 * The threads that a core has registers for; @halves are those of 16 bits that each has, 0 for all
 * of them
 */
static unsigned int cdm_max_threads(unsigned int halves)
{
	static const struct {
		unsigned int halves, threads;
	} most[] = {
		{ 104, 1024 }, { 112, 896 }, { 128, 832 }, { 136, 768 }, { 144, 704 },
		{ 160, 640 }, { 184, 576 }, { 208, 512 }, { 232, 448 },
	};
	unsigned int i;

	for (i = 0; halves && i < sizeof(most) / sizeof(most[0]); i++) {
		if (halves <= most[i].halves)
			return most[i].threads;
	}
	return 384;
}

/* Checks that a core has room for a threadgroup. Return: 0, or -EFAULT. */
static int cdm_check_limits(struct cdm_reader *r, const struct vagx_launch *launch)
{
	unsigned int threads = launch->local[0] * launch->local[1] * launch->local[2];
	unsigned int most = cdm_max_threads(launch->regs);

	if (threads > most) {
		vagx_violation(r->cdm->report, VAGX_CLAUSE_CDM_OVER_LIMITS_registers,
			       r->stream.block, "CDM Launch",
			       "%u threads of %u registers, which a core has for %u threads",
			       threads, launch->regs ? launch->regs : 256, most);
		return cdm_malformed(r, r->stream.block);
	}
	if (launch->shared_size > VAGX_CORE_MAX_SHARED) {
		vagx_violation(r->cdm->report, VAGX_CLAUSE_CDM_OVER_LIMITS_memory,
			       r->stream.block, "CDM Launch", "%u bytes of local memory, of %u",
			       launch->shared_size, VAGX_CORE_MAX_SHARED);
		return cdm_malformed(r, r->stream.block);
	}
	return 0;
}

/* Loads the USC words of a complete launch, and runs it */
static int cdm_launch(struct cdm_reader *r)
{
	const struct vagx_usc_source source = {
		.tlb = r->cdm->tlb,
		.report = r->cdm->report,
		.vm_slot = r->cdm->vm_slot,
		.base = r->cdm->registers->usc_base,
		.helper = r->cdm->registers->helper_program,
		.seed = r->cdm->seed,
	};
	struct vagx_launch launch = {
		.vm_slot = r->cdm->vm_slot,
		.preshader_regs = r->launch.counts.preshader_registers,
		.extended_samplers = vagx_usc_extends_samplers(&r->launch.counts),
		.sampler_heap = r->cdm->registers->sampler_base,
		.sampler_count = r->cdm->registers->sampler_count,
	};
	int err;

	err = cdm_apply_size(r, &launch);
	if (err)
		return err;

	*r->unit = VAGX_GPU_UNIT_CDM;
	err = vagx_usc_load(&source, r->launch.pipeline, &launch, r->fault);
	if (!err)
		err = cdm_check_limits(r, &launch);
	if (!err)
		err = r->cdm->launch(r->cdm->ctx, &launch, r->fault, r->unit);
	if (!err)
		*r->unit = VAGX_GPU_UNIT_CDM_CS;
	return err;
}

/*
 * Handles a packet; the last one of a launch runs it. Launches run one after the other to their
 * end, so barriers have nothing to wait for, and no cache to flush. Jumps and calls are followed
 * by agx_stream_next().
 */
static int cdm_packet(struct cdm_reader *r)
{
	const union agx_packet *values = &r->packet.values;
	int err = 0;

	switch (r->packet.id) {
	case AGX_PACKET_cdm_launch:
		r->launch = values->cdm_launch;
		return 0;
	case AGX_PACKET_cdm_indirect:
		err = cdm_read_indirect(r);
		break;
	case AGX_PACKET_cdm_global_size:
		r->size.global[0] = values->cdm_global_size.x;
		r->size.global[1] = values->cdm_global_size.y;
		r->size.global[2] = values->cdm_global_size.z;
		r->size.global_is_groups = false;
		break;
	case AGX_PACKET_cdm_local_size:
		r->size.local[0] = values->cdm_local_size.x;
		r->size.local[1] = values->cdm_local_size.y;
		r->size.local[2] = values->cdm_local_size.z;
		break;
	default:
		return 0;
	}
	return err || r->packet.left ? err : cdm_launch(r);
}

static int cdm_stream_error(struct cdm_reader *r)
{
	static const enum vagx_rule rules[] = {
		[AGX_STREAM_MISALIGNED] = VAGX_CLAUSE_CDM_UNKNOWN_BLOCK_alignment,
		[AGX_STREAM_UNKNOWN] = VAGX_CLAUSE_CDM_UNKNOWN_BLOCK_type,
		[AGX_STREAM_BAD_CONSTANT] = VAGX_RULE_CDM_RESERVED_BITS,
		[AGX_STREAM_TOO_DEEP] = VAGX_CLAUSE_CDM_CALL_DEPTH_deep,
		[AGX_STREAM_NO_CALL] = VAGX_CLAUSE_CDM_CALL_DEPTH_return,
	};
	const struct agx_stream *s = &r->stream;

	vagx_violation(r->cdm->report, rules[s->error.reason], s->error.va,
		       s->error.what, "%s", s->error.text);
	return cdm_malformed(r, s->error.va);
}

/*
 * Checks a block against the end of the stream in the registers, and its reserved bits. For Mesa's
 * OpenGL driver the end is where the terminating block begins, for others it is behind it.
 */
static void cdm_check(struct cdm_reader *r, bool packet)
{
	uint64_t end = r->cdm->registers->cdm_end;
	bool ends = packet && r->packet.id == AGX_PACKET_cdm_stream_terminate;

	if (!r->past_end && !r->stream.jumped &&
	    r->stream.block >= end + ends) {
		r->past_end = true;
		vagx_violation(r->cdm->report, VAGX_RULE_CDM_PAST_END,
			       r->stream.block, "CDM block",
			       "the end is 0x%" PRIx64, end);
	}
	if (packet && r->packet.status)
		vagx_violation(r->cdm->report, VAGX_RULE_CDM_RESERVED_BITS,
			       r->packet.va, r->packet.error.packet, "%s: %s",
			       r->packet.error.field, r->packet.error.text);
}

int vagx_cdm_run(const struct vagx_cdm *cdm, struct vagx_uat_fault *fault,
		 unsigned int *unit)
{
	struct cdm_reader r = { .cdm = cdm, .fault = fault, .unit = unit };
	/* an endless stream ends when its job is cancelled */
	const struct agx_stream_source source = {
		.read = cdm_read,
		.ctx = &r,
		.max_packets = UINT64_MAX,
		.features = cdm->features,
	};
	int err;

	*unit = VAGX_GPU_UNIT_CDM_CS;
	agx_stream_init(&r.stream, AGX_STREAM_cdm, &source,
			cdm->registers->cdm_base);
	do {
		if (atomic_load_explicit(cdm->stop, memory_order_relaxed))
			return -ECANCELED;
		err = agx_stream_next(&r.stream, &r.packet);
		if (err)
			cdm_check(&r, err > 0);
		if (err == -EINVAL)
			return cdm_stream_error(&r);
		*cdm->packets += err > 0;
		if (err > 0)
			err = cdm_packet(&r);
		else
			r.done = true;
	} while (!err && !r.done);
	return err;
}
