// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The firmware, which reads more of a guest's memory than anything else. The rig of its unit
 * tests is the driver: InitData, rings, queues and commands are right until a record of the
 * input changes one of their fields, by the firmware's own table, or bytes anywhere in them.
 * Other records ring doorbells, send messages, take memory away, change page tables, and make
 * units fail. The firmware's threads are fibers (fibers.h): the input alone says what happens.
 *
 * It may not crash, leak, or sleep for ever.
 */
#include <string.h>

#include "fibers.h"
#include "firmware/tests/rig_render.h"
#include "firmware_ops.h"
#include "fuzz.h"
#include "records.h"

#define COMPUTE_QUEUES	2
#define COMMANDS	6
#define RENDERS		4
#define PLACES		256
#define MS		1000000ULL
/* As many of a list are places, so far from each other */
#define REGISTERS	6

struct place {
	struct rig_ptr at;
	enum fw_struct_id type;		/* FW_STRUCT_COUNT: none */
};

struct guest {
	struct rig *rig;
	struct place place[PLACES];
	unsigned int places;
	struct rig_queue queue[COMPUTE_QUEUES];
	struct rig_command command[COMMANDS];
	unsigned int commands;
	struct rig_renderer renderer;
	struct rig_render render[RENDERS];
	unsigned int renders;
	bool no_memory;
	bool has_work;			/* queues of the commands that the rig knows */
};

/* The rows of each structure in the table */
static struct {
	enum fw_field_id first;
	unsigned int count;
} rows[FW_STRUCT_COUNT];

static const struct fuzz_record compute_seed[] = {
	{ .value = FW_OPS_BOOT },
	{ .op = GUEST_OP_COMPUTE }, { .op = GUEST_OP_WAIT, .value = 1 },
	{ .op = GUEST_OP_COMPUTE, .which = 1 }, { .op = GUEST_OP_WAIT, .value = 1 },
	{ .op = GUEST_OP_EVENTS }, { .op = GUEST_OP_FLUSH, .value = 0 },
	{ .op = GUEST_OP_WAIT, .value = 5 },
};

static const struct fuzz_record render_seed[] = {
	{ .which = 1, .value = FW_OPS_BOOT },
	{ .op = GUEST_OP_RENDER }, { .op = GUEST_OP_WAIT, .value = 1 },
	{ .op = GUEST_OP_RENDER, .which = 9 }, { .op = GUEST_OP_COMPUTE },
	{ .op = GUEST_OP_WAIT, .value = 5 },
	{ .op = GUEST_OP_EVENTS },
};

/* Two renders want more pages than there are: the driver is asked for them */
static const struct fuzz_record pages_seed[] = {
	{ .which = 0x88, .value = FW_OPS_BOOT },
	{ .op = GUEST_OP_UNITS, .which = 3, .value = 31 },
	{ .op = GUEST_OP_RENDER, .which = 5 }, { .op = GUEST_OP_RENDER, .which = 6 },
	{ .op = GUEST_OP_WAIT, .value = 2 }, { .op = GUEST_OP_EVENTS },
	{ .op = GUEST_OP_GROW, .which = 8 }, { .op = GUEST_OP_WAIT, .value = 2 },
	{ .op = GUEST_OP_RENDER, .which = 9 }, { .op = GUEST_OP_WAIT, .value = 5 },
};

/* Commands whose fields are changed before the firmware sees them */
static const struct fuzz_record spoilt_seed[] = {
	{ .value = FW_OPS_BOOT },
	{ .op = GUEST_OP_COMPUTE, .how = 1 },
	{ .op = GUEST_OP_RUN, .field = 3, .how = 3, .index = 128 + 7 },
	{ .op = GUEST_OP_WAIT, .value = 2 },
	{ .op = GUEST_OP_FIELD, .which = 128 + 6, .field = 1, .how = 3, .value = 1 },
	{ .op = GUEST_OP_SUBMIT, .which = 128 + 7 }, { .op = GUEST_OP_WAIT, .value = 2 },
	{ .op = GUEST_OP_RENDER, .how = 1 },
	{ .op = GUEST_OP_FIELD, .which = 128 + 14, .field = 2, .how = 3 },
	{ .op = GUEST_OP_SUBMIT_RENDER }, { .op = GUEST_OP_WAIT, .value = 4 },
};

/* A job that faults, one that hangs, and what the driver has to do then */
static const struct fuzz_record fault_seed[] = {
	{ .which = 2, .value = FW_OPS_BOOT },
	{ .op = GUEST_OP_UNITS, .which = 1, .index = 1, .value = 0x1100000000 },
	{ .op = GUEST_OP_COMPUTE }, { .op = GUEST_OP_WAIT, .value = 5 }, { .op = GUEST_OP_EVENTS },
	{ .op = GUEST_OP_RESUME }, { .op = GUEST_OP_WAIT, .value = 5 },
	{ .op = GUEST_OP_UNITS, .which = 2, .index = 1 },
	{ .op = GUEST_OP_RENDER }, { .op = GUEST_OP_WAIT, .how = 1, .value = 2 },
	{ .op = GUEST_OP_EVENTS },
	{ .op = GUEST_OP_RESUME }, { .op = GUEST_OP_WAIT, .value = 5 },
};

/* InitData is spoilt before it is read */
static const struct fuzz_record early_seed[] = {
	{ .value = 1 },
	{ .op = GUEST_OP_FIELD, .which = 1, .field = 3, .how = 5, .value = 0 },
	{ .op = GUEST_OP_LIFE }, { .op = GUEST_OP_WAIT, .value = 1 },
};

/* Commands of a machine whose commands have lists of registers */
static const struct fuzz_record registers_seed[] = {
	{ .index = 3, .value = FW_OPS_BOOT },
	{ .op = GUEST_OP_COMPUTE }, { .op = GUEST_OP_RENDER }, { .op = GUEST_OP_WAIT, .value = 5 },
	{ .op = GUEST_OP_COMPUTE, .how = 1 },
	{ .op = GUEST_OP_FIELD, .which = 128 + 9, .field = 1, .how = 5, .value = 0x1a420 },
	{ .op = GUEST_OP_SUBMIT, .which = 128 + 12 }, { .op = GUEST_OP_WAIT, .value = 5 },
	{ .op = GUEST_OP_EVENTS },
};

static const struct fuzz_record life_seed[] = {
	{ .which = 0x10, .value = FW_OPS_BOOT },
	{ .op = GUEST_OP_CONTROL, .index = 0x11 }, { .op = GUEST_OP_CONTROL, .index = 0x1b },
	{ .op = GUEST_OP_CONTROL, .index = 0x17 }, { .op = GUEST_OP_WAIT, .value = 1 },
	{ .op = GUEST_OP_INJECT, .index = 10, .value = 5 }, { .op = GUEST_OP_COMPUTE },
	{ .op = GUEST_OP_LIFE, .which = 1 }, { .op = GUEST_OP_LIFE, .which = 2 },
	{ .op = GUEST_OP_LIFE, .which = 3 }, { .op = GUEST_OP_LIFE },
	{ .op = GUEST_OP_WAIT, .value = 5 },
};

static const struct fuzz_seed seeds[] = {
	FUZZ_SEED(compute_seed), FUZZ_SEED(render_seed), FUZZ_SEED(pages_seed),
	FUZZ_SEED(spoilt_seed), FUZZ_SEED(fault_seed), FUZZ_SEED(early_seed),
	FUZZ_SEED(life_seed), FUZZ_SEED(registers_seed),
};

const struct fuzz_shape fuzz_shape = {
	.ops = GUEST_OP_COUNT, .favoured = GUEST_OP_FAVOURED, .seeds = seeds,
	.num_seeds = sizeof(seeds) / sizeof(seeds[0]),
};

static void find_rows(void)
{
	enum fw_field_id field;
	enum fw_struct_id type;

	for (field = 0; field < FW_FIELD_COUNT; field++) {
		type = fw_fields[field].structure;
		if (!rows[type].count)
			rows[type].first = field;
		FUZZ_CHECK(field == rows[type].first + rows[type].count);
		rows[type].count++;
	}
}

/* Places */

static void add(struct guest *g, struct rig_ptr at, enum fw_struct_id type)
{
	if (g->places < PLACES)
		g->place[g->places++] = (struct place){ .at = at, .type = type };
}

static void add_at(struct guest *g, struct rig_ptr at, uint32_t offset, enum fw_struct_id type)
{
	at.va += offset;
	at.host += offset;
	add(g, at, type);
}

static void add_ring(struct guest *g, const struct rig_ring *ring, enum fw_struct_id state,
		     enum fw_struct_id entry)
{
	add(g, ring->state, state);
	add(g, ring->entries, entry);
}

/* What a command has of a structure, or of registers in its place */
static void add_part(struct guest *g, struct rig_ptr at, enum fw_field_id field,
		     enum fw_struct_id type, enum fw_field_id registers)
{
	unsigned int i;

	if (fw_fields[field].offset[RIG_ABI] != FW_ABSENT) {
		add(g, sub(at, field, type, 0), type);
		return;
	}
	for (i = 0; i < REGISTERS; i++)
		add(g, sub(at, registers, FW_S_RegisterDefinition, i * REGISTERS),
		    FW_S_RegisterDefinition);
}

static void add_initdata(struct guest *g)
{
	struct rig *rig = g->rig;
	unsigned int i;

	add(g, rig->init, FW_S_InitData);
	add(g, rig->runtime, FW_S_RuntimePointers);
	add(g, rig->globals, FW_S_Globals);
	add(g, rig->status, FW_S_FwStatus);
	add(g, rig->hwdata_a, FW_S_HwDataA);
	add(g, rig->hwdata_b, FW_S_HwDataB);
	add(g, rig->stats3d, FW_S_Stats3d);
	add_ring(g, &rig->fwctl, FW_S_FwCtlRingState, FW_S_FwCtlMsg);
	for (i = 0; i < 17; i++) {
		add(g, sub(rig->runtime, FW_RuntimePointers_channels, FW_S_ChannelInfo, i),
		    FW_S_ChannelInfo);
		add_ring(g, &rig->channel[i], FW_S_RingState, i < 12 ? FW_S_RunMsg : FW_S_DcMsg);
	}
	for (i = 0; i < 25; i += 3)
		add(g, sub(rig->hwdata_b, FW_HwDataB_io_mappings, FW_S_IoMapping, i),
		    FW_S_IoMapping);
	for (i = 0; i < 3; i++)
		add(g, sub(rig->init, FW_InitData_uat_level_info, FW_S_UatLevelInfo, i),
		    FW_S_UatLevelInfo);
	add(g, rig->log_payload, FW_S_FwLogMsg);
	add(g, rig->stamps, FW_STRUCT_COUNT);
	add(g, rig->fw_stamps, FW_STRUCT_COUNT);
	for (i = 0; i < RIG_OWN; i++)
		add(g, rig->own[i], FW_STRUCT_COUNT);
	add(g, (struct rig_ptr){ .va = rig->handoff,
				 .host = rig->ram + (rig->handoff - RIG_RAM_BASE) },
	    FW_STRUCT_COUNT);
}

static void add_queue(struct guest *g, const struct rig_queue *queue)
{
	add(g, queue->info, FW_S_QueueInfo);
	add(g, queue->pointers, FW_S_QueuePointers);
	add(g, queue->ring, FW_STRUCT_COUNT);
	add(g, queue->context, FW_S_GpuContextData);
	add(g, queue->notifier, FW_S_EventControl);
	add(g, queue->threshold, FW_STRUCT_COUNT);
	add(g, queue->list, FW_S_JobList);
}

static void add_compute(struct guest *g, const struct rig_command *command)
{
	struct rig_ptr at = command->command;

	add(g, at, FW_S_RunCompute);
	add(g, sub(at, FW_RunCompute_job_meta, FW_S_JobMeta, 0), FW_S_JobMeta);
	add_part(g, at, FW_RunCompute_compute_info, FW_S_ComputeInfo, FW_RunCompute_registers);
	add(g, sub(at, FW_RunCompute_compute_info2, FW_S_ComputeInfo2, 0), FW_S_ComputeInfo2);
	add(g, sub(at, FW_RunCompute_encoder_params, FW_S_EncoderParams, 0), FW_S_EncoderParams);
	add_at(g, command->sequence, command->start, FW_S_StartCompute);
	add_at(g, command->sequence, command->finalize, FW_S_FinalizeCompute);
	add_at(g, command->sequence, command->end, FW_STRUCT_COUNT);
}

static void add_buffer(struct guest *g, const struct rig_buffer *buffer)
{
	add(g, buffer->info, FW_S_BufferInfo);
	add(g, buffer->control, FW_S_BufferBlockControl);
	add(g, buffer->counter, FW_S_BufferCounter);
	add(g, buffer->misc, FW_S_BufferMisc);
	add(g, buffer->pages, FW_STRUCT_COUNT);
	add(g, buffer->list, FW_STRUCT_COUNT);
}

static void add_render(struct guest *g, const struct rig_render *r)
{
	struct rig_ptr vertex = r->vertex.command, fragment = r->fragment.command;

	add(g, r->scene, FW_S_BufferThing);
	add(g, r->barrier, FW_S_Barrier);
	add(g, r->init, FW_S_InitBuffer);
	add(g, r->tilemap, FW_STRUCT_COUNT);
	add(g, r->heapmeta, FW_STRUCT_COUNT);
	add(g, vertex, FW_S_RunVertex);
	add(g, sub(vertex, FW_RunVertex_job_meta, FW_S_JobMeta, 0), FW_S_JobMeta);
	add_part(g, vertex, FW_RunVertex_struct_2, FW_S_TaStruct2, FW_RunVertex_registers);
	add_part(g, vertex, FW_RunVertex_tiling_params, FW_S_TilingParameters,
		 FW_RunVertex_registers);
	add_at(g, r->vertex.sequence, r->vertex.start, FW_S_StartVertex);
	add_at(g, r->vertex.sequence, r->vertex.finalize, FW_S_FinalizeVertex);
	add(g, fragment, FW_S_RunFragment);
	add(g, sub(fragment, FW_RunFragment_job_meta, FW_S_JobMeta, 0), FW_S_JobMeta);
	add_part(g, fragment, FW_RunFragment_struct_1, FW_S_FragmentStruct1,
		 FW_RunFragment_registers);
	add_part(g, fragment, FW_RunFragment_struct_2, FW_S_FragmentStruct2,
		 FW_RunFragment_registers);
	add_at(g, r->fragment.sequence, r->fragment.start, FW_S_StartFragment);
	add_at(g, r->fragment.sequence, r->fragment.finalize, FW_S_FinalizeFragment);
}

/* From 128 on it is counted from the end: what was added last */
static const struct place *place_of(const struct guest *g, unsigned int which)
{
	return &g->place[which < 128 ? which % g->places :
				       g->places - 1 - (which - 128) % g->places];
}

/* Offsets go as far as a page; each allocation has pages of its own */
static uint8_t *bytes_of(const struct guest *g, unsigned int which, unsigned int offset)
{
	const struct rig *rig = g->rig;
	uint64_t at = (uint64_t)(place_of(g, which)->at.host - rig->ram) + offset % AGX_PAGE_SIZE;

	return rig->ram + (at <= RIG_RAM - 8 ? at : 0);
}

/* Return: where that field of a place is, or NULL; @size is its size */
static uint8_t *field_in(const struct place *place, const struct fuzz_record *r, size_t *size)
{
	const struct fw_field_desc *desc;

	if (place->type == FW_STRUCT_COUNT)
		return NULL;
	desc = &fw_fields[rows[place->type].first + r->field % rows[place->type].count];
	if (desc->offset[RIG_ABI] == FW_ABSENT)
		return NULL;
	*size = fw_kind_size(desc->kind);
	if (desc->kind == FW_KIND_RAW)
		*size = desc->count < 8 ? desc->count : 8;
	return place->at.host + desc->offset[RIG_ABI] +
	       (desc->kind == FW_KIND_RAW ? 0 : r->index % desc->count * *size);
}

static void put_value(uint8_t *at, size_t size, const struct fuzz_record *r)
{
	uint64_t value = 0;

	memcpy(&value, at, size);
	value = fuzz_value(r, value);
	memcpy(at, &value, size);
}

static void do_field(struct guest *g, const struct fuzz_record *r)
{
	size_t size;
	uint8_t *at = field_in(place_of(g, r->which), r, &size);

	if (at)
		put_value(at, size, r);
}

static void do_point(struct guest *g, const struct fuzz_record *r)
{
	uint64_t va = place_of(g, r->index)->at.va + r->extra;
	struct fuzz_record first = *r;
	size_t size;
	uint8_t *at;

	first.index = 0;
	at = field_in(place_of(g, r->which), &first, &size);
	if (at)
		memcpy(at, &va, size);
}

/* What the guest does to its own rings and memory */

static void do_run(struct guest *g, const struct fuzz_record *r)
{
	struct rig_queue *queue = &g->queue[r->which % COMPUTE_QUEUES];
	unsigned int priority = r->extra % 4, offset;
	struct rig_ring *ring = &g->rig->channel[priority * 3 + queue->pipe];
	struct place message = { .at = ring->entries, .type = FW_S_RunMsg };
	size_t size;
	uint8_t *at;

	if (!g->has_work)
		return;
	offset = ring->wptr * fw_structs[FW_S_RunMsg].size[RIG_ABI];
	message.at.host += offset;
	message.at.va += offset;
	rig_push(g->rig, queue, place_of(g, r->index)->at.va);
	rig_message(g->rig, queue, priority);
	at = field_in(&message, r, &size);
	if (at)
		put_value(at, size, r);
	rig_doorbell(g->rig, priority << 2 | queue->pipe);
}

static void do_compute(struct guest *g, const struct fuzz_record *r)
{
	struct rig_queue *queue = &g->queue[r->which % COMPUTE_QUEUES];
	struct rig_command *command = &g->command[g->commands];

	if (!g->has_work || g->commands == COMMANDS)
		return;
	g->commands++;
	rig_compute_new(g->rig, queue, command);
	add_compute(g, command);
	if (!(r->how & 1))
		rig_submit(g->rig, queue, command->command.va);
}

static void do_submit(struct guest *g, const struct fuzz_record *r)
{
	const struct place *place = place_of(g, r->which);

	if (g->has_work)
		rig_submit(g->rig, &g->queue[r->index % COMPUTE_QUEUES],
			   place->at.va + (r->how & 128 ? r->extra : 0));
}

static void do_render(struct guest *g, const struct fuzz_record *r)
{
	struct rig_render *render = &g->render[g->renders];

	if (!g->has_work || g->renders == RENDERS)
		return;
	g->renders++;
	rig_render_new(g->rig, &g->renderer, render, 32 + r->which % 16 * 64,
		       32 + r->which / 16 * 64);
	add_render(g, render);
	if (!(r->how & 1))
		rig_render_submit(g->rig, &g->renderer, render);
}

static void do_submit_render(struct guest *g, unsigned int which)
{
	if (g->renders)
		rig_render_submit(g->rig, &g->renderer, &g->render[which % g->renders]);
}

static void do_control(struct guest *g, const struct fuzz_record *r)
{
	struct rig_ptr msg = rig_control(g->rig, r->index % 0x30);
	uint64_t va = place_of(g, r->which)->at.va;

	/* Fields of messages differ; words are what all of them have */
	if (r->how & 1)
		memcpy(msg.host + 4 + r->field % 0x28, &r->value, 8);
	if (r->how & 2)
		memcpy(msg.host + 4 + r->extra % 0x28, &va, 8);
	rig_control_send(g->rig);
}

static void do_flush(struct guest *g, const struct fuzz_record *r)
{
	if (r->how & 1)
		rig_flush(g->rig, r->value, (uint64_t)r->extra << r->index % 32);
	else
		rig_flush(g->rig, place_of(g, r->which)->at.va, (uint64_t)r->extra);
}

static void do_units(struct guest *g, const struct fuzz_record *r)
{
	struct rig_units *units = &g->rig->units;

	pthread_mutex_lock(&g->rig->lock);
	switch (r->which % 4) {
	case 1:
		units->status = r->index % 3;
		units->fault.va = r->value;
		units->fault.access = r->extra % 3;
		units->fault.slot = r->how % VAGX_UAT_CONTEXTS;
		units->fault.reason = r->field % 6;
		units->unit = r->field & 0xff;
		break;
	case 2:
		units->hang = r->index & 1;
		units->idle = r->index & 2;
		pthread_cond_broadcast(&g->rig->changed);
		break;
	case 3:
		units->vertex_pages = r->value % (RIG_PAGES / 2);
		break;
	default:
		units->only = r->index & 1 ? RIG_VERTEX_BASE : RIG_FRAGMENT_BASE;
		units->only = r->index & 2 ? 0 : units->only;
	}
	pthread_mutex_unlock(&g->rig->lock);
}

static void do_memory(struct guest *g, const struct fuzz_record *r)
{
	/* Once is enough to see it, and nothing that follows is of interest without memory */
	if (!(r->index & 1))
		return;
	if (!g->no_memory)
		vagx_mem_unmap_all(g->rig->mem);
	else
		rig_map_ram(g->rig);
	g->no_memory = !g->no_memory;
}

static void do_table(struct guest *g, const struct fuzz_record *r)
{
	uint64_t va = place_of(g, r->which)->at.va + r->extra / 256 * (uint64_t)AGX_PAGE_SIZE;
	bool lower = va < AGX_VA_PRIVATE_START;
	uint64_t *pte;

	/* The rig makes tables of what it finds there */
	if (va < AGX_PAGE_SIZE || (va >= RIG_RAM_BASE && va < RIG_RAM_BASE + RIG_RAM))
		return;
	pte = rig_pte(g->rig, lower ? g->rig->user_root : g->rig->root, va);
	__atomic_store_n(pte, fuzz_value(r, *pte), __ATOMIC_RELEASE);
}

static void do_life(struct guest *g, const struct fuzz_record *r)
{
	struct vagx_firmware *fw = g->rig->fw;

	switch (r->which % 6) {
	case 1:
		vagx_fw_quiesce(fw);
		rig_forget_rings(g->rig);
		break;
	case 2:
		vagx_fw_wake(fw);
		rig_init(g->rig);
		break;
	case 3:
		vagx_fw_cut(fw);
		break;
	case 4:
		vagx_fw_reset(fw);
		g->rig->crashed = false;
		break;
	case 5:
		rig_forget_context(g->rig);
		break;
	default:
		vagx_fw_start(fw);
		rig_init(g->rig);
		rig_initialize(g->rig);
	}
	/* The rig expects one crash; a firmware that has begun anew may have another */
	g->rig->crashed = vagx_fw_is_crashed(fw);
}

static void do_inject(struct guest *g, const struct fuzz_record *r)
{
	struct vagx_fw_injection what = {
		.kind = r->index % (VAGX_FW_INJECT_MESSAGE + 1),
		.pipe = r->which % 3,
		.value = (int64_t)(r->how & 1 ? r->value : r->value % 64),
		.word = { r->field, r->extra, (uint32_t)r->value, r->how },
		.text = "a line",
	};

	if (what.kind == VAGX_FW_INJECT_LOG_FLOOD)
		what.value %= 600;
	/* What options.c accepts of these */
	if (what.kind == VAGX_FW_INJECT_LOG)
		what.value = r->value % VAGX_FW_LOG_CHANNELS;
	if (what.kind == VAGX_FW_INJECT_MESSAGE)
		what.value = r->value % VAGX_FW_RINGS;
	if (what.kind == VAGX_FW_INJECT_LATE_FLUSH)
		what.value = r->value % 1000;
	vagx_fw_inject(g->rig->fw, &what);
}

static void do_events(struct guest *g)
{
	unsigned int i;

	for (i = 0; i < 0x100 && rig_event(g->rig).host; i++)
		;
}

static void do_grow(struct guest *g, const struct fuzz_record *r)
{
	if (g->has_work)
		rig_buffer_grow(g->rig, &g->renderer.buffer,
				g->renderer.buffer.blocks + r->which % 8, r->index & 1);
}

static void do_record(struct guest *g, const struct fuzz_record *r)
{
	switch ((enum guest_op)(r->op % GUEST_OP_COUNT)) {
	case GUEST_OP_FIELD:
		do_field(g, r);
		break;
	case GUEST_OP_BYTES:
		put_value(bytes_of(g, r->which, r->field + r->extra), 1 + r->index % 8, r);
		break;
	case GUEST_OP_POINT:
		do_point(g, r);
		break;
	case GUEST_OP_RUN:
		do_run(g, r);
		break;
	case GUEST_OP_DOORBELL:
		rig_doorbell(g->rig, r->index % 32);
		break;
	case GUEST_OP_MESSAGE:
		vagx_fw_message(g->rig->fw, 0x20 + r->index % 3,
				(uint64_t)(0x80 + r->field % 8) << 48 | r->value);
		break;
	case GUEST_OP_CONTROL:
		do_control(g, r);
		break;
	case GUEST_OP_FLUSH:
		do_flush(g, r);
		break;
	case GUEST_OP_RESUME:
		rig_resume(g->rig);
		break;
	case GUEST_OP_UNITS:
		do_units(g, r);
		break;
	case GUEST_OP_MEMORY:
		do_memory(g, r);
		break;
	case GUEST_OP_TABLE:
		do_table(g, r);
		break;
	case GUEST_OP_COMPUTE:
		do_compute(g, r);
		break;
	case GUEST_OP_SUBMIT:
		do_submit(g, r);
		break;
	case GUEST_OP_RENDER:
		do_render(g, r);
		break;
	case GUEST_OP_SUBMIT_RENDER:
		do_submit_render(g, r->which);
		break;
	case GUEST_OP_WAIT:
		fuzz_fibers_sleep(r->how & 1 ? r->value % 8 * 100 * MS :
					       r->value % 16 * MS / 4);
		break;
	case GUEST_OP_LIFE:
		do_life(g, r);
		break;
	case GUEST_OP_INJECT:
		do_inject(g, r);
		break;
	case GUEST_OP_EVENTS:
		do_events(g);
		break;
	case GUEST_OP_GROW:
		do_grow(g, r);
		break;
	case GUEST_OP_COUNT:
		break;
	}
}

static struct rig *make_rig(const struct fuzz_record *r)
{
	static const char *const socs[] = { "t8103", "t8112", "t6000", "t6020" };
	static bool has_rows;
	struct rig_options options = {
		.soc = socs[r->index % 4],
		.seed = 1 + r->extra,
		.timeout_ms = RIG_TIMEOUT_MS,
		.power_off = (r->which >> 1 & 3) % 3,
		.serial = r->which & 1,
		.statistics = r->which & 16,
		.late_threshold = r->which & 32,
		.unfair = r->which & 64 && !(r->which & 1),
		.exec = r->which & 128,
		.tvb_grow = r->which & 8,
		.tvb_pages = r->how & 1 ? 12 : 0,
		.dirty_ms = r->how & 2 ? 5 : 0,
		.halt_delay_ms = r->how & 4 ? 2 : 0,
		.event_delay_ms = r->how & 8 ? 2 : 0,
		.doorbell_delay_ms = r->how & 16 ? 2 : 0,
		.dump = r->how & 32 ? fuzz_null() : NULL,
	};

	if (!has_rows)
		find_rows();
	has_rows = true;
	return rig_new_with(&options);
}

static void make_work(struct guest *g)
{
	struct rig *rig = g->rig;
	unsigned int i;

	for (i = 0; i < COMPUTE_QUEUES; i++) {
		rig_queue_new(rig, &g->queue[i], 2, i);
		add_queue(g, &g->queue[i]);
	}
	rig_renderer_new(rig, &g->renderer, COMPUTE_QUEUES, 8);
	add_queue(g, &g->renderer.vertex);
	add_queue(g, &g->renderer.fragment);
	add_buffer(g, &g->renderer.buffer);
	g->has_work = true;
}

static void run(struct guest *g, const struct fuzz_record *records, size_t count)
{
	size_t i;

	g->rig = make_rig(&records[0]);
	vagx_uat_cache_set(g->rig->uat, records[0].how & 64);
	add_initdata(g);
	if (records[0].value & FW_OPS_BOOT) {
		rig_boot(g->rig);
		make_work(g);
	}
	for (i = 1; i < count; i++)
		do_record(g, &records[i]);
	fuzz_fibers_sleep(MS);
	rig_hang(g->rig, false);
	rig_drop(g->rig);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_record records[FUZZ_RECORDS];
	static struct guest guest;
	size_t count = fuzz_records(data, size, records);

	if (!count)
		return 0;
	memset(&guest, 0, sizeof(guest));
	fuzz_fibers_begin(records[0].value);
	run(&guest, records, count);
	fuzz_fibers_end();
	return 0;
}
