// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "agx_packets.h"
#include "gpu/cdm.h"
#include "gpu/core.h"
#include "gpu/gpu.h"
#include "gpu/usc.h"
#include "report.h"
#include "uat.h"

#define CDM_MAX_CALLS	16

/* A stream while it is read. */
struct cdm_reader {
	const struct vagx_cdm *cdm;
	struct vagx_uat_fault *fault;
	unsigned int *unit;
	/* address of the current block and of what is read next */
	uint64_t block;
	uint64_t next;
	uint64_t calls[CDM_MAX_CALLS];
	unsigned int depth;
	/* still in the segment that the job's end address belongs to */
	bool first_segment;
	bool done;
};

/* A block that is mapped, but that the unit can make nothing of. */
static int cdm_malformed(struct cdm_reader *r)
{
	*r->fault = (struct vagx_uat_fault){
		.va = r->block,
		.slot = r->cdm->job->vm_slot,
		.access = VAGX_READ,
		.reason = VAGX_FAULT_NO_ACCESS,
	};
	return -EFAULT;
}

static int cdm_read(struct cdm_reader *r, uint64_t va, void *buf, size_t len)
{
	return vagx_uat_read(r->cdm->uat, r->cdm->job->vm_slot, va, buf, len,
			     VAGX_AGENT_GPU, r->fault);
}

static int cdm_fetch(struct cdm_reader *r, enum agx_packet_id id, void *values)
{
	uint8_t bytes[AGX_PACKET_MAX_BYTES];
	size_t len = agx_packet_bytes(id);
	const char *field = NULL;
	int err;

	err = cdm_read(r, r->next, bytes, len);
	if (err)
		return err;

	err = agx_packet_unpack(id, bytes, values, &field);
	if (err)
		vagx_violation(r->cdm->report, VAGX_RULE_CDM_RESERVED_BITS,
			       r->next, agx_packet_name(id), "%s", field);
	r->next += len;
	return err == -EINVAL ? cdm_malformed(r) : 0;
}

static void cdm_jump(struct cdm_reader *r, uint64_t target)
{
	r->next = target;
	r->first_segment = false;
}

static int cdm_return(struct cdm_reader *r)
{
	if (!r->depth) {
		vagx_violation(r->cdm->report, VAGX_RULE_CDM_CALL_DEPTH,
			       r->block, "CDM Stream Return", "without a call");
		return cdm_malformed(r);
	}
	cdm_jump(r, r->calls[--r->depth]);
	return 0;
}

static int cdm_link(struct cdm_reader *r)
{
	struct agx_cdm_stream_link link;
	int err = cdm_fetch(r, AGX_PACKET_cdm_stream_link, &link);

	if (err)
		return err;
	if (link.with_return && r->depth == CDM_MAX_CALLS) {
		vagx_violation(r->cdm->report, VAGX_RULE_CDM_CALL_DEPTH,
			       r->block, "CDM Stream Link", "deeper than %d",
			       CDM_MAX_CALLS);
		return cdm_malformed(r);
	}
	if (link.with_return)
		r->calls[r->depth++] = r->next;
	cdm_jump(r, link.target);
	return 0;
}

/*
 * Launches run one after the other and to their end, so there is nothing to
 * wait for and no cache to flush.
 */
static int cdm_barrier(struct cdm_reader *r)
{
	struct agx_cdm_barrier barrier;
	int err = cdm_fetch(r, AGX_PACKET_cdm_barrier, &barrier);

	if (err)
		return err;
	return barrier.returns ? cdm_return(r) : 0;
}

static int cdm_stream_return(struct cdm_reader *r)
{
	struct agx_cdm_stream_return ret;
	int err = cdm_fetch(r, AGX_PACKET_cdm_stream_return, &ret);

	return err ? err : cdm_return(r);
}

static int cdm_terminate(struct cdm_reader *r)
{
	struct agx_cdm_stream_terminate terminate;
	int err = cdm_fetch(r, AGX_PACKET_cdm_stream_terminate, &terminate);

	r->done = true;
	return err;
}

/* Sizes as a launch names them, before they become threads. */
struct cdm_size {
	uint32_t global[3];
	uint32_t local[3];
	bool global_is_groups;
};

static int cdm_read_indirect(struct cdm_reader *r, uint32_t *words,
			     unsigned int count)
{
	struct agx_cdm_indirect indirect;
	int err = cdm_fetch(r, AGX_PACKET_cdm_indirect, &indirect);

	if (err)
		return err;
	return cdm_read(r, indirect.address, words, count * sizeof(*words));
}

static int cdm_read_local(struct cdm_reader *r, struct cdm_size *size)
{
	struct agx_cdm_local_size local;
	int err = cdm_fetch(r, AGX_PACKET_cdm_local_size, &local);

	size->local[0] = local.x;
	size->local[1] = local.y;
	size->local[2] = local.z;
	return err;
}

static int cdm_size_direct(struct cdm_reader *r, struct cdm_size *size)
{
	struct agx_cdm_global_size global;
	int err = cdm_fetch(r, AGX_PACKET_cdm_global_size, &global);

	if (err)
		return err;
	size->global[0] = global.x;
	size->global[1] = global.y;
	size->global[2] = global.z;
	return cdm_read_local(r, size);
}

static int cdm_size_indirect_global(struct cdm_reader *r, struct cdm_size *size)
{
	int err = cdm_read_indirect(r, size->global, 3);

	if (err)
		return err;
	size->global_is_groups = true;
	return cdm_read_local(r, size);
}

static int cdm_size_indirect_local(struct cdm_reader *r, struct cdm_size *size)
{
	uint32_t words[6];
	int err = cdm_read_indirect(r, words, 6);

	if (err)
		return err;
	memcpy(size->global, words, sizeof(size->global));
	memcpy(size->local, words + 3, sizeof(size->local));
	return 0;
}

static int cdm_read_size(struct cdm_reader *r, enum agx_cdm_mode mode,
			 struct cdm_size *size)
{
	switch (mode) {
	case AGX_CDM_MODE_DIRECT:
		return cdm_size_direct(r, size);
	case AGX_CDM_MODE_INDIRECT_GLOBAL:
		return cdm_size_indirect_global(r, size);
	case AGX_CDM_MODE_INDIRECT_LOCAL:
		return cdm_size_indirect_local(r, size);
	}
	vagx_violation(r->cdm->report, VAGX_RULE_CDM_UNKNOWN_BLOCK, r->block,
		       "CDM Launch", "mode %d", mode);
	return cdm_malformed(r);
}

static bool cdm_size_valid(const struct cdm_size *size)
{
	uint64_t threads = 1;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		if (!size->local[i] || size->local[i] > VAGX_CORE_MAX_THREADS)
			return false;
		threads *= size->local[i];
		if (size->global_is_groups &&
		    (uint64_t)size->global[i] * size->local[i] > UINT32_MAX)
			return false;
	}
	return threads <= VAGX_CORE_MAX_THREADS;
}

static int cdm_apply_size(struct cdm_reader *r, const struct cdm_size *size,
			  struct vagx_launch *launch)
{
	unsigned int i;

	if (!cdm_size_valid(size)) {
		vagx_violation(r->cdm->report, VAGX_RULE_CDM_BAD_SIZE, r->block,
			       "CDM Launch",
			       "global %u x %u x %u, local %u x %u x %u",
			       size->global[0], size->global[1],
			       size->global[2], size->local[0], size->local[1],
			       size->local[2]);
		return cdm_malformed(r);
	}
	for (i = 0; i < 3; i++) {
		launch->local[i] = size->local[i];
		launch->grid[i] = size->global[i];
		if (size->global_is_groups)
			launch->grid[i] *= size->local[i];
	}
	return 0;
}

static int cdm_launch(struct cdm_reader *r)
{
	const struct vagx_compute_job *job = r->cdm->job;
	const struct vagx_usc_source source = {
		.uat = r->cdm->uat,
		.report = r->cdm->report,
		.vm_slot = job->vm_slot,
		.base = job->usc_base,
	};
	struct vagx_launch launch = { .vm_slot = job->vm_slot };
	struct cdm_size size = { .global_is_groups = false };
	struct agx_cdm_launch word;
	int err;

	err = cdm_fetch(r, AGX_PACKET_cdm_launch, &word);
	if (err)
		return err;
	launch.preshader_regs = word.preshader_register_count;
	err = cdm_read_size(r, word.mode, &size);
	if (err)
		return err;
	err = cdm_apply_size(r, &size, &launch);
	if (err)
		return err;

	*r->unit = VAGX_GPU_UNIT_CDM;
	err = vagx_usc_load(&source, word.pipeline, &launch, r->fault);
	if (!err)
		err = r->cdm->launch(r->cdm->ctx, &launch, r->fault, r->unit);
	if (!err)
		*r->unit = VAGX_GPU_UNIT_CDM_CS;
	return err;
}

static int cdm_block(struct cdm_reader *r)
{
	uint32_t word;
	int err;

	r->block = r->next;
	if (r->block & 3) {
		vagx_violation(r->cdm->report, VAGX_RULE_CDM_UNKNOWN_BLOCK,
			       r->block, "CDM block", "not aligned");
		return cdm_malformed(r);
	}
	if (r->first_segment && r->block >= r->cdm->job->cdm_end) {
		vagx_violation(r->cdm->report, VAGX_RULE_CDM_PAST_END, r->block,
			       "CDM block", "the end is 0x%llx",
			       (unsigned long long)r->cdm->job->cdm_end);
		r->first_segment = false;
	}
	err = cdm_read(r, r->block, &word, sizeof(word));
	if (err)
		return err;

	switch (word >> 29) {
	case AGX_CDM_BLOCK_LAUNCH:
		return cdm_launch(r);
	case AGX_CDM_BLOCK_STREAM_LINK:
		return cdm_link(r);
	case AGX_CDM_BLOCK_STREAM_TERMINATE:
		return cdm_terminate(r);
	case AGX_CDM_BLOCK_BARRIER:
		return cdm_barrier(r);
	case AGX_CDM_BLOCK_STREAM_RETURN:
		return cdm_stream_return(r);
	default:
		vagx_violation(r->cdm->report, VAGX_RULE_CDM_UNKNOWN_BLOCK,
			       r->block, "CDM block", "type %u", word >> 29);
		return cdm_malformed(r);
	}
}

int vagx_cdm_run(const struct vagx_cdm *cdm, struct vagx_uat_fault *fault,
		 unsigned int *unit)
{
	struct cdm_reader r = {
		.cdm = cdm,
		.fault = fault,
		.unit = unit,
		.next = cdm->job->cdm_base,
		.first_segment = true,
	};

	*unit = VAGX_GPU_UNIT_CDM_CS;
	while (!r.done) {
		int err;

		if (atomic_load_explicit(cdm->stop, memory_order_relaxed))
			return -ECANCELED;
		err = cdm_block(&r);
		if (err)
			return err;
	}
	return 0;
}
