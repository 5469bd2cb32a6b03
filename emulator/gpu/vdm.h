/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The vertex data master: walks a control stream from draw to draw.
 */
#ifndef VAGX_VDM_H
#define VAGX_VDM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "agx_stream.h"
#include "gpu/ppp.h"
#include "uat.h"

struct vagx_report;

/** struct vdm_draw - a draw of a stream */
struct vdm_draw {
	/** @va: address of its packet */
	uint64_t va;
	/** @primitive: AGX_PRIMITIVE_* */
	unsigned int primitive;
	/** @count: vertices, or indices, of an instance */
	uint32_t count;
	/** @instances: number of instances */
	uint32_t instances;
	/** @start: the first vertex; of indexed draws the base vertex, which is added to indices */
	uint32_t start;
	/** @indexed: vertices are named by an index buffer */
	bool indexed;
	/** @index_address: address of the first index */
	uint64_t index_address;
	/** @index_bytes: bytes of the index buffer; indices behind it are 0 */
	uint64_t index_bytes;
	/** @index_size: bytes of an index: 1, 2, 4 */
	unsigned int index_size;
	/** @restart: primitive restart is enabled */
	bool restart;
};

/**
 * struct vdm - state of walking a stream
 * @tlb: translates addresses, for the thread that reads
 * @report: takes warnings
 * @vm_slot: context
 * @stop: when set, the stream ends with -ECANCELED soon
 * @fault: details of the last -EFAULT
 * @unit: unit that it is reported for, enum vagx_gpu_unit
 * @restart_index: index that restarts primitives; state of the stream, as all below
 * @pipeline: offset of the vertex shader's USC words
 * @counts: registers of the vertex shader
 * @outputs: output words of a vertex
 * @control: provoking vertex and primitive numbers
 * @ppp: state of primitive processing
 * @draw: the last draw
 * @packets: number of packets that were read
 */
struct vdm {
	struct vagx_tlb *tlb;
	struct vagx_report *report;
	unsigned int vm_slot;
	const atomic_bool *stop;
	struct vagx_uat_fault fault;
	unsigned int unit;

	uint32_t restart_index;
	uint32_t pipeline;
	struct agx_shader_counts counts;
	uint32_t outputs;
	struct agx_vdm_control control;
	struct ppp_words ppp;
	struct vdm_draw draw;
	uint64_t packets;

	/* private */
	struct agx_stream_source source;
	struct agx_stream stream;
	struct agx_stream_packet packet;
	struct agx_vdm_index_list list;
	unsigned int viewport;
};

/** vdm_init() - begin to read a stream; tlb, report, vm_slot and stop are set */
void vdm_init(struct vdm *vdm, uint64_t base);

/**
 * vdm_next() - read up to the next draw
 *
 * Return: 1, 0 at the end of the stream, -EFAULT, -ECANCELED.
 */
int vdm_next(struct vdm *vdm);

#endif /* VAGX_VDM_H */
