/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_FW_JOB_H
#define VAGX_FW_JOB_H

#include "../gpu/gpu.h"
#include "../gpu/render.h"
#include "fw_internal.h"
#include "fw_registers.h"

struct fw_scene;

/* How far a microsequence has come */
enum fw_job_stage { FW_JOB_BEFORE, FW_JOB_STARTED, FW_JOB_WAITED, FW_JOB_FINALIZED };

/**
 * struct fw_job - a command under way
 * @worker: the thread that runs it
 * @queue: the work queue that it came from
 * @kind: what kind of command it is
 * @command: what is known about it outside of memory
 * @view: the command
 * @meta: its JobMeta
 * @stamp: what its end is signalled with
 * @vm_slot: context that it runs in
 * @registers: its list of registers, where it has one instead of structures
 * @compute: what the units are told, of a compute command
 * @vertex: the same of a vertex command
 * @fragment: the same of a fragment command
 * @scene: the render that it is a half of, or NULL
 * @walked: the units are done with it, though its marks may not be
 * @marks: where no shader runs: how many pages it has to mark yet
 * @idle: there is nothing that the units could do for it
 * @start: address of the operation that started it, within the microsequence
 * @stage: how far the microsequence has come
 * @gone: the firmware stopped under it
 */
struct fw_job {
	struct fw_worker *worker;
	struct fw_queue *queue;
	const struct fw_job_kind *kind;
	struct fw_command *command;
	struct fw_view view;
	struct fw_view meta;
	const struct fw_job_stamp *stamp;
	unsigned int vm_slot;
	struct fw_registers registers;
	union {
		struct vagx_compute_registers compute;
		struct vagx_vertex_registers vertex;
		struct vagx_fragment_registers fragment;
	};
	struct fw_scene *scene;
	bool walked;
	uint32_t marks;
	bool idle;
	uint64_t start;
	enum fw_job_stage stage;
	bool gone;
};

/**
 * struct fw_job_kind - what is special about a type of command
 * @command: its first word
 * @pipe: where it runs
 * @type: its structure
 * @context_id: fields that every command has, by their names in @type
 * @event_control_addr: see @context_id
 * @microsequence_ptr: see @context_id
 * @microsequence_size: see @context_id
 * @job_meta: see @context_id
 * @ts1: see @context_id
 * @ts_pointers: see @context_id
 * @user_ts_pointers: see @context_id
 * @unk_ts: see @context_id; m1n1 and the Rust driver name different ones
 * @unk_ts2: the other one
 * @start_op: operation that starts it
 * @start_type: structure of that operation
 * @finalize_op: operation that ends it
 * @finalize_type: structure of that operation
 * @wait: word of the wait that belongs to it
 * @wait_g14x: the same on G14X
 * @take: looks at it in the order of its ring; false when it makes no sense. May be NULL.
 * @start: checks the starting operation, and fills what the units are told
 * @finalize: checks the finalizing operation
 * @run: runs it on the units, without the lock
 */
struct fw_job_kind {
	uint32_t command;
	enum fw_pipe pipe;
	enum fw_struct_id type;
	enum fw_field_id context_id;
	enum fw_field_id event_control_addr;
	enum fw_field_id microsequence_ptr;
	enum fw_field_id microsequence_size;
	enum fw_field_id job_meta;
	enum fw_field_id ts1;
	enum fw_field_id ts_pointers;
	enum fw_field_id user_ts_pointers;
	enum fw_field_id unk_ts;
	enum fw_field_id unk_ts2;
	uint32_t start_op;
	enum fw_struct_id start_type;
	uint32_t finalize_op;
	enum fw_struct_id finalize_type;
	uint32_t wait;
	uint32_t wait_g14x;
	bool (*take)(struct fw_job *job, struct fw_command *command);
	void (*start)(struct fw_job *job, const struct fw_view *op);
	void (*finalize)(struct fw_job *job, const struct fw_view *op);
	enum vagx_gpu_status (*run)(struct fw_job *job, struct vagx_job *units,
				    struct vagx_uat_fault *fault, unsigned int *unit);
};

/* fw_compute.c, fw_vertex.c, fw_fragment.c */
extern const struct fw_job_kind fw_compute_kind;
extern const struct fw_job_kind fw_vertex_kind;
extern const struct fw_job_kind fw_fragment_kind;

/* fw_job_check.c. Lock held. */
/* A field of an operation that has to lead to an address, or to be a value */
void fw_job_expect_pointer(struct fw_job *job, const struct fw_view *op, enum fw_field_id field,
			   uint64_t target);
void fw_job_expect_value(struct fw_job *job, const struct fw_view *op, enum fw_field_id field,
			 uint64_t value);
/*
 * A field that tells how many commands were in the queue before this one. m1n1 has other numbers
 * there, and machines run its commands, so another number is a hint.
 */
void fw_job_hint_sequence(struct fw_job *job, const struct fw_view *op, enum fw_field_id field,
			  uint64_t value);
void fw_job_check_restart(struct fw_job *job, const struct fw_view *op, enum fw_field_id field);
/* Attachments of a starting operation */
void fw_job_check_attachments(struct fw_job *job, const struct fw_view *op,
			      enum fw_field_id count, enum fw_field_id list);
/* Reads the list of registers, and checks what leads to it */
void fw_job_load_registers(struct fw_job *job, enum fw_register_list list,
			   enum fw_field_id registers, enum fw_field_id addr,
			   enum fw_field_id count, enum fw_field_id length);
struct vagx_report *fw_job_report(struct fw_job *job);

#endif
