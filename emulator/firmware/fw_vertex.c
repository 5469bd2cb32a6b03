// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * Vertex commands: begins a scene, checks parameters and operations, and fills the registers of
 * the units, which store what they make in pages of the vertex buffer (m1n1 fw/agx/cmdqueue.py
 * WorkCommandTA, asahi queue/render.rs). When no page is left, the driver is asked for more, if
 * that is wanted, or what the scene has is drawn, or the render waits for pages of others.
 *
 * A worker, with the firmware's lock held, but for fw_vertex_run() and what it calls, which take
 * it where they need it.
 */
#include <inttypes.h>

#include "fw_render.h"

#define FW_WAIT_VERTEX		0x00000101
#define FW_WAIT_VERTEX_G14X	0x00000002
#define FW_HEAPMETA_FLAG	(1ULL << 63)
#define FW_HEAPMETA_SIZE	0x200
#define FW_LAYERMETA_SIZE	0x100
#define FW_USER_BUFFER_SIZE	0x80
/* TA_RENDER_TARGET_MAX: an image with layers, and their number less one */
#define FW_LAYERS_NONE		0x8000
#define FW_LAYERS		0xe000
/* With --no-exec: how many tiles fill a page, and the most pages that a render marks */
#define FW_MARK_TILES		64
#define FW_MARKS_MAX		256
/* A render needs a block for FW_BLOCK_TILES tiles at least, in steps of FW_BLOCK_STEP */
#define FW_BLOCK_TILES		128
#define FW_BLOCK_STEP		8

struct fw_fixed {
	enum fw_field_id field;
	uint64_t value;
};

static struct fw_view fw_vertex_struct_2(struct fw_job *job)
{
	return fw_sub(&job->view, FW_RunVertex_struct_2, FW_S_TaStruct2, 0);
}

static struct fw_view fw_vertex_tiling(struct fw_job *job)
{
	return fw_sub(&job->view, FW_RunVertex_tiling_params, FW_S_TilingParameters, 0);
}

static uint64_t fw_vertex_word(struct fw_job *job, enum fw_field_id field)
{
	struct fw_view view = fw_fields[field].structure == FW_S_TaStruct2 ? fw_vertex_struct_2(job)
									   : fw_vertex_tiling(job);

	return fw_registers_word(&job->registers, &view, field);
}

/* Commands point to the statistics behind the counter at their start */
#define STATS_OFFSET	4

static uint64_t fw_vertex_stats_of(struct fw_job *job)
{
	struct fw_view runtime =
		fw_view(job->view.access, FW_S_RuntimePointers, job->worker->fw->runtime);

	return fw_get(&runtime, FW_RuntimePointers_stats_ta_addr) + STATS_OFFSET;
}

/* When the command is taken out of its ring */

static bool fw_vertex_bad_scene(struct fw_job *job, enum vagx_rule clause)
{
	uint64_t va = fw_get(&job->view, FW_RunVertex_buf_thing_addr);

	if (!job->view.access->failed)
		vagx_violation(fw_job_report(job), clause, va, "RunVertex", "scene %#" PRIx64, va);
	return false;
}

/* Return: the clause about a scene that begins that is broken, or VAGX_KEPT */
static enum vagx_rule fw_vertex_check_scene(const struct fw_view *view, uint64_t misc)
{
	if (fw_get(view, FW_BufferThing_unk_0))
		return VAGX_CLAUSE_FW_SCENE_word;
	if (fw_get(view, FW_BufferThing_unk_2c))
		return VAGX_CLAUSE_FW_SCENE_pages;
	if (!misc)
		return VAGX_CLAUSE_FW_SCENE_statistics;
	if (misc & 3)
		return VAGX_CLAUSE_FW_SCENE_alignment;
	if (!fw_get(view, FW_BufferThing_unkptr_18))
		return VAGX_CLAUSE_FW_SCENE_user_buffer;
	return VAGX_KEPT;
}

static bool fw_vertex_is_shared(struct fw_access *access, uint64_t va)
{
	return VAGX_PTE_ATTR(vagx_uat_pte(access->uat, 0, va)) == VAGX_ATTR_SHARED;
}

/* Checks a scene that begins: the firmware counts pages in it, so it has to begin with none */
static void fw_vertex_check_new_scene(struct fw_job *job, const struct fw_scene *scene)
{
	struct fw_access *access = job->view.access;
	struct fw_view view = fw_view(access, FW_S_BufferThing, scene->va);
	uint64_t misc = fw_get(&view, FW_BufferThing_bm_misc_addr);
	const struct fw_view statistics = fw_view(access, FW_S_BufferMisc, misc);
	const struct fw_dump_place near = fw_dump_place(FW_S_BufferMisc, misc);
	enum vagx_rule clause;

	fw_dump(job->worker->fw, NULL, &view, &near, 1);
	clause = fw_vertex_check_scene(&view, misc);
	if (clause != VAGX_KEPT)
		fw_vertex_bad_scene(job, clause);
	else
		fw_dump(job->worker->fw, NULL, &statistics, NULL, 0);
	if (!fw_vertex_is_shared(access, scene->va))
		fw_vertex_bad_scene(job, VAGX_CLAUSE_FW_BUFFER_SHARED_scene);
	else if (misc && !fw_vertex_is_shared(access, misc))
		fw_vertex_bad_scene(job, VAGX_CLAUSE_FW_BUFFER_SHARED_statistics);
}

static bool fw_vertex_take(struct fw_job *job, struct fw_command *command)
{
	struct vagx_firmware *fw = job->worker->fw;
	struct fw_view *view = &job->view;
	uint64_t va = fw_get(view, FW_RunVertex_buf_thing_addr);
	uint64_t info = fw_get(view, FW_RunVertex_buffer_mgr_addr);
	uint32_t slot = fw_get(view, FW_RunVertex_buffer_mgr_slot);
	struct fw_scene *scene;

	if (view->access->failed || !va)
		return fw_vertex_bad_scene(job, VAGX_CLAUSE_FW_SCENE_none);
	if (fw_scene_find(fw, va))
		return fw_vertex_bad_scene(job, VAGX_CLAUSE_FW_SCENE_REUSED_vertex);
	if (!fw_buffer_is(fw, slot, info)) {
		vagx_violation(fw_job_report(job), VAGX_RULE_FW_BUFFER_SLOT, info, "RunVertex",
			       "the buffer is not in slot %u", slot);
		return false;
	}
	if (job->queue->init_stamp && job->queue->init_stamp != job->stamp->value)
		vagx_violation(fw_job_report(job), VAGX_CLAUSE_FW_BUFFER_INIT_stamp, info,
			       "InitBuffer", "it has stamp %#x, the render behind it %#x",
			       job->queue->init_stamp, job->stamp->value);
	job->queue->init_stamp = 0;
	if (!fw_buffer_begin(view->access, fw, slot))
		vagx_violation(fw_job_report(job), VAGX_RULE_FW_BUFFER_COUNTER, info, "RunVertex",
			       "the buffer's counter does not count this render");
	scene = fw_scene_new(fw, va);
	if (!scene)
		return false;
	command->scene = va;
	scene->slot = slot;
	scene->info = info;
	scene->fragment_slot = fw_get(view, FW_RunVertex_ev_3d);
	scene->fragment_value = fw_get(view, FW_RunVertex_stamp_value);
	fw_vertex_check_new_scene(job, scene);
	return !view->access->failed;
}

/* Parameters */

static void fw_vertex_check_fixed(struct fw_job *job)
{
	static const struct fw_fixed fixed[] = {
		{ FW_TaStruct2_unk_0, 0x200 },
		{ FW_TaStruct2_iogpu_unk_56, 1 },
		{ FW_TaStruct2_unk_80, 1 },
		{ FW_TilingParameters_unk_4, 0x88 },
		{ FW_TilingParameters_unk_24, 0x100 },
	};
	static const struct fw_fixed structures[] = {
		{ FW_TaStruct2_unk_8, 0x1e3ce508 },    { FW_TaStruct2_unk_c, 0x1e3ce508 },
		{ FW_TaStruct2_iogpu_unk_54, 0x6b0003 }, { FW_TaStruct2_iogpu_unk_55, 0x3a0012 },
		{ FW_TaStruct2_unk_f8, 0x8c60 },       { FW_TaStruct2_unk_118, 0x1c },
	};
	struct fw_view params = fw_vertex_struct_2(job), tiles = fw_vertex_tiling(job);

	for (unsigned int i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		fw_render_expect(job, VAGX_RULE_FW_COMMAND_INFO,
				 fw_fields[fixed[i].field].structure == FW_S_TaStruct2 ? &params :
											 &tiles,
				 fixed[i].field, fixed[i].value);
	for (unsigned int i = 0;
	     !job->registers.count && i < sizeof(structures) / sizeof(structures[0]); i++)
		fw_render_expect(job, VAGX_RULE_FW_COMMAND_INFO, &params, structures[i].field,
				 structures[i].value);
}

static bool fw_vertex_load_geometry(struct fw_job *job, struct vagx_render_geometry *geometry)
{
	struct fw_view params = fw_vertex_tiling(job);
	uint32_t layers = fw_vertex_word(job, FW_TilingParameters_unk_28);
	enum vagx_rule clause;
	bool good;

	if (job->registers.count) {
		uint64_t screen =
			fw_registers_get(&job->registers, FW_REGISTER_VERTEX_PPP_SCREEN);

		geometry->width = (screen & 0xffff) + 1;
		geometry->height = (screen >> 16 & 0xffff) + 1;
	} else {
		geometry->width = fw_get(&params, FW_TilingParameters_x_max) + 1;
		geometry->height = fw_get(&params, FW_TilingParameters_y_max) + 1;
	}
	geometry->layers = layers == FW_LAYERS_NONE ? 1 : (layers & 0xfff) + 1;
	good = fw_render_utiles(job, fw_vertex_word(job, FW_TaStruct2_unk_48), geometry);
	if (geometry->width > VAGX_RENDER_MAX_SIZE)
		clause = VAGX_CLAUSE_FW_RENDER_TILING_width;
	else if (geometry->height > VAGX_RENDER_MAX_SIZE)
		clause = VAGX_CLAUSE_FW_RENDER_TILING_height;
	else if (geometry->layers > VAGX_RENDER_MAX_LAYERS)
		clause = VAGX_CLAUSE_FW_RENDER_TILING_layers;
	else if (layers != FW_LAYERS_NONE && (layers & ~0xfffU) != FW_LAYERS)
		clause = VAGX_CLAUSE_FW_RENDER_TILING_layer_flags;
	else
		return good;
	vagx_violation(fw_job_report(job), clause, job->view.va, "RunVertex", "%u by %u pixels, layers %#x", geometry->width, geometry->height, layers);
	return false;
}

/* Checks the parameters that follow from the size of the image */
static void fw_vertex_check_tiling(struct fw_job *job, const struct fw_tiles *tiles)
{
	const struct fw_fixed expected[] = {
		{ FW_TilingParameters_size1, tiles->region },
		{ FW_TilingParameters_tile_count, (tiles->y - 1) << 12 | (tiles->x - 1) },
		{ FW_TilingParameters_x_blocks,
		  3 * tiles->mtile_x | 2 * tiles->mtile_x << 9 | tiles->mtile_x << 18 },
		{ FW_TilingParameters_y_blocks,
		  3 * tiles->mtile_y | 2 * tiles->mtile_y << 9 | tiles->mtile_y << 18 },
		{ FW_TilingParameters_size2, tiles->mtile_x * tiles->mtile_y },
		{ FW_TilingParameters_size3, tiles->tails },
	};
	struct fw_view params = fw_vertex_tiling(job);

	for (unsigned int i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		fw_render_expect(job, VAGX_CLAUSE_FW_RENDER_TILING_word, &params, expected[i].field,
				 expected[i].value);
}

static void fw_vertex_check_memory(struct fw_job *job, const struct vagx_vertex_registers *vertex,
				   const struct fw_tiles *tiles)
{
	struct fw_view scene =
		fw_view(job->view.access, FW_S_BufferThing, job->scene ? job->scene->va : 0);
	uint64_t tails = fw_get(&job->view, FW_RunVertex_tvb_size);

	if (tails < tiles->tail_cache)
		vagx_violation(fw_job_report(job), VAGX_CLAUSE_FW_RENDER_MEMORY_tails,
			       job->view.va, "RunVertex", "%#" PRIx64 " bytes of tail pointers, not %#" PRIx64,
			       tails, tiles->tail_cache);
	else
		fw_render_expect_memory(job, "the tail pointer cache", vertex->tvb.tpc, tails);
	fw_render_expect_memory(job, "the tilemap", vertex->tvb.tilemap, tiles->tilemap);
	fw_render_expect_memory(job, "heap metadata", vertex->tvb.heap_meta,
				FW_HEAPMETA_SIZE + (vertex->geometry.layers > 1 ?
							    FW_LAYERMETA_SIZE :
							    0));
	if (job->scene)
		fw_render_expect_memory(job, "the user buffer",
					fw_get(&scene, FW_BufferThing_unkptr_18),
					FW_USER_BUFFER_SIZE);
}

static void fw_vertex_check_blocks(struct fw_job *job, const struct fw_tiles *tiles)
{
	uint32_t steps = (tiles->x * tiles->y + FW_BLOCK_TILES * FW_BLOCK_STEP - 1) /
			 (FW_BLOCK_TILES * FW_BLOCK_STEP);

	if (!fw_buffer_holds(job->worker->fw, job->scene->slot, steps * FW_BLOCK_STEP))
		vagx_violation(fw_job_report(job), VAGX_RULE_FW_BUFFER_SMALL, job->scene->info,
			       "RunVertex", "%u tiles need %u blocks at least",
			       tiles->x * tiles->y, steps * FW_BLOCK_STEP);
}

static void fw_vertex_check_start(struct fw_job *job, const struct fw_view *op)
{
	struct fw_view *command = &job->view;
	struct fw_view control = fw_view(op->access, FW_S_EventControl, job->stamp->notifier);
	bool registers = job->registers.count;

	fw_job_expect_pointer(job, op, FW_StartVertex_tiling_params_addr,
			      registers ? 0 : fw_va(command, FW_RunVertex_tiling_params));
	fw_job_expect_pointer(job, op, FW_StartVertex_struct2_addr,
			      registers ? 0 : fw_va(command, FW_RunVertex_struct_2));
	fw_job_expect_pointer(job, op, FW_StartVertex_registers_addr,
			      fw_va(command, FW_RunVertex_registers));
	fw_job_expect_pointer(job, op, FW_StartVertex_buffer_mgr_addr,
			      fw_get(command, FW_RunVertex_buffer_mgr_addr));
	fw_job_expect_pointer(job, op, FW_StartVertex_buf_thing_addr,
			      fw_get(command, FW_RunVertex_buf_thing_addr));
	fw_job_expect_pointer(job, op, FW_StartVertex_stats_ptr, fw_vertex_stats_of(job));
	fw_job_expect_pointer(job, op, FW_StartVertex_cmdqueue_ptr, job->queue->info);
	fw_job_expect_pointer(job, op, FW_StartVertex_struct3_addr,
			      fw_va(command, FW_RunVertex_unk_480));
	fw_job_expect_pointer(job, op, FW_StartVertex_unkptr_5c,
			      fw_va(command, FW_RunVertex_unk_594));
	fw_job_expect_pointer(job, op, FW_StartVertex_unkptr_180,
			      fw_va(&control, FW_EventControl_unk_buf));
	fw_job_expect_value(job, op, FW_StartVertex_context_id, job->vm_slot);
	fw_job_expect_value(job, op, FW_StartVertex_unk_38, 1);
	fw_job_expect_value(job, op, FW_StartVertex_buffer_mgr_slot,
			    fw_get(command, FW_RunVertex_buffer_mgr_slot));
	fw_job_expect_value(job, op, FW_StartVertex_uuid, fw_get(&job->meta, FW_JobMeta_uuid));
	fw_job_expect_value(job, op, FW_StartVertex_submission_id,
			    fw_get(&control, FW_EventControl_submission_id));
	fw_job_hint_sequence(job, op, FW_StartVertex_unk_48, job->command->sequence);
	fw_job_expect_value(job, op, FW_StartVertex_counter,
			    fw_get(command, FW_RunVertex_counter));
	fw_job_check_attachments(job, op, FW_StartVertex_num_attachments,
				 FW_StartVertex_attachments);
}

static void fw_vertex_load(struct fw_job *job, struct vagx_vertex_registers *vertex)
{
	vertex->vdm_base = fw_vertex_word(job, FW_TaStruct2_encoder_addr);
	vertex->tvb = (struct vagx_tvb_memory){
		.tilemap = fw_vertex_word(job, FW_TaStruct2_tvb_tilemap),
		.tpc = fw_vertex_word(job, FW_TaStruct2_tpc),
		.heap_meta =
			fw_vertex_word(job, FW_TaStruct2_tvb_heapmeta_addr) & ~FW_HEAPMETA_FLAG,
		.layer_meta = fw_vertex_word(job, FW_TaStruct2_tvb_heapmeta_addr2),
	};
	vertex->shaders = (struct vagx_render_shaders){
		.usc_base = fw_vertex_word(job, FW_TaStruct2_pipeline_base),
		.helper_program = fw_vertex_word(job, FW_TaStruct2_helper_program),
		.helper_cfg = fw_vertex_word(job, FW_TilingParameters_helper_cfg),
		.helper_data = fw_vertex_word(job, FW_TaStruct2_helper_arg),
	};
	fw_render_samplers(job, FW_RunVertex_encoder_params, &vertex->shaders);
	vertex->ppp_control = fw_vertex_word(job, FW_TilingParameters_unk_8);
	vertex->ppp_multisample = fw_vertex_word(job, FW_TaStruct2_unk_50);
}

static void fw_vertex_start_scene(struct fw_job *job, const struct fw_view *op,
				  const struct vagx_vertex_registers *vertex,
				  const struct fw_tiles *tiles)
{
	struct fw_scene *scene = job->scene;
	uint32_t marks = 1 + tiles->x * tiles->y * vertex->geometry.layers / FW_MARK_TILES;

	scene->started = true;
	scene->tilemap = vertex->tvb.tilemap;
	scene->size[0] = vertex->geometry.width;
	scene->size[1] = vertex->geometry.height;
	scene->layers = vertex->geometry.layers;
	scene->generation = fw_get(op, FW_StartVertex_submission_id);
	job->marks = marks < FW_MARKS_MAX ? marks : FW_MARKS_MAX;
	fw_vertex_check_blocks(job, tiles);
	if (!fw_fragment_find(job->worker, scene))
		vagx_violation(fw_job_report(job), VAGX_RULE_FW_SCENE_FRAGMENT, scene->va,
			       "RunVertex", "no fragment command of this scene in event slot %u",
			       scene->fragment_slot);
}

static void fw_vertex_start(struct fw_job *job, const struct fw_view *op)
{
	struct vagx_vertex_registers *vertex = &job->vertex;
	struct fw_tiles tiles;

	job->scene = fw_scene_find(job->worker->fw, job->command->scene);
	if (fw_has(&job->view, FW_RunVertex_registers))
		fw_job_load_registers(job, FW_REGISTERS_VERTEX, FW_RunVertex_registers,
				      FW_RunVertex_registers_addr, FW_RunVertex_register_count,
				      FW_RunVertex_registers_length);
	fw_vertex_check_start(job, op);
	fw_vertex_check_fixed(job);
	fw_vertex_load(job, vertex);
	if (!fw_vertex_load_geometry(job, &vertex->geometry)) {
		job->idle = true;
		return;
	}
	tiles = fw_render_tiles(&vertex->geometry);
	fw_vertex_check_tiling(job, &tiles);
	fw_vertex_check_memory(job, vertex, &tiles);
	if (job->scene && !op->access->failed)
		fw_vertex_start_scene(job, op, vertex, &tiles);
	else
		job->idle = true;
}

static void fw_vertex_finalize(struct fw_job *job, const struct fw_view *op)
{
	struct fw_view *command = &job->view;

	fw_job_expect_pointer(job, op, FW_FinalizeVertex_buf_thing_addr,
			      fw_get(command, FW_RunVertex_buf_thing_addr));
	fw_job_expect_pointer(job, op, FW_FinalizeVertex_buffer_mgr_addr,
			      fw_get(command, FW_RunVertex_buffer_mgr_addr));
	fw_job_expect_pointer(job, op, FW_FinalizeVertex_stats_ptr, fw_vertex_stats_of(job));
	fw_job_expect_pointer(job, op, FW_FinalizeVertex_cmdqueue_ptr, job->queue->info);
	fw_job_expect_pointer(job, op, FW_FinalizeVertex_struct3_addr,
			      fw_va(command, FW_RunVertex_unk_480));
	fw_job_expect_pointer(job, op, FW_FinalizeVertex_stamp_addr, job->stamp->fw_stamp);
	fw_job_expect_value(job, op, FW_FinalizeVertex_context_id, job->vm_slot);
	fw_job_expect_value(job, op, FW_FinalizeVertex_uuid, fw_get(&job->meta, FW_JobMeta_uuid));
	fw_job_expect_value(job, op, FW_FinalizeVertex_stamp_value, job->stamp->value);
	fw_job_check_restart(job, op, FW_FinalizeVertex_restart_branch_offset);
	if (job->scene)
		fw_scene_report_pages(op->access, job->scene);
}

/* On the units, without the lock */

/*
 * Waits until another scene has given its pages back, and counts as off the units meanwhile. If no
 * scene has any, the buffer is too small, and the render waits until it is cancelled. Lock held.
 */
static bool fw_vertex_wait_for_pages(struct fw_job *job, uint32_t changes)
{
	struct fw_worker *worker = job->worker;
	struct vagx_firmware *fw = worker->fw;

	vagx_log(fw->config.report, VAGX_LOG_INFO,
		 "firmware: a render waits for pages of the vertex buffer in slot %u",
		 job->scene->slot);
	fw->on_units--;
	fw_wake(fw);
	while (!worker->cancelled && fw_buffer_changes(fw, job->scene) == changes)
		pthread_cond_wait(&fw->work, &fw->lock);
	fw->on_units++;
	return !worker->cancelled;
}

/*
 * Makes room when no page is left: the driver grows the buffer, if it is to be asked, or what the
 * scene has is drawn, or other scenes have to give pages back. Lock not held.
 */
static enum vagx_gpu_status fw_vertex_make_room(struct fw_job *job,
						const struct vagx_tvb_pages *pages,
						uint32_t changes, struct vagx_uat_fault *fault,
						unsigned int *unit)
{
	struct vagx_firmware *fw = job->worker->fw;
	bool room, draw;

	pthread_mutex_lock(&fw->lock);
	room = fw->config.tvb_grow && fw_grow(job->worker, job->scene, job->vm_slot);
	draw = !room && job->scene->pages;
	if (draw) {
		job->scene->overflows++;
		fw->partial_renders++;
	} else if (!room) {
		room = fw_vertex_wait_for_pages(job, changes);
	}
	pthread_mutex_unlock(&fw->lock);
	if (draw)
		return fw_fragment_partial(job, pages, fault, unit);
	return room ? VAGX_GPU_DONE : VAGX_GPU_CANCELLED;
}

static uint32_t fw_vertex_changes_of(struct fw_job *job)
{
	struct vagx_firmware *fw = job->worker->fw;
	uint32_t changes;

	pthread_mutex_lock(&fw->lock);
	changes = fw_buffer_changes(fw, job->scene);
	pthread_mutex_unlock(&fw->lock);
	return changes;
}

static enum vagx_gpu_status fw_vertex_run_units(struct fw_job *job, struct vagx_job *units,
						const struct vagx_tvb_pages *pages,
						struct vagx_uat_fault *fault, unsigned int *unit)
{
	enum vagx_gpu_status status = VAGX_GPU_DONE;

	if (!job->walked)
		status = vagx_job_vertex(units, &job->vertex, pages, fault, unit);
	job->walked = status == VAGX_GPU_DONE;
	if (job->walked && job->worker->fw->config.no_exec)
		status = fw_tvb_mark(job, pages);
	return status;
}

static enum vagx_gpu_status fw_vertex_run(struct fw_job *job, struct vagx_job *units,
					  struct vagx_uat_fault *fault, unsigned int *unit)
{
	struct vagx_tvb_pages pages = fw_tvb_pages(job);
	enum vagx_gpu_status status;

	if (job->idle)
		return VAGX_GPU_DONE;
	do {
		uint32_t changes = fw_vertex_changes_of(job);

		status = fw_vertex_run_units(job, units, &pages, fault, unit);
		if (status != VAGX_GPU_OVERFLOW && status != VAGX_GPU_STARVED)
			return status;
		status = fw_vertex_make_room(job, &pages, changes, fault, unit);
	} while (status == VAGX_GPU_DONE);
	return status;
}

const struct fw_job_kind fw_vertex_kind = {
	.command = FW_COMMAND_VERTEX,
	.pipe = FW_PIPE_VERTEX,
	.type = FW_S_RunVertex,
	.context_id = FW_RunVertex_context_id,
	.event_control_addr = FW_RunVertex_event_control_addr,
	.microsequence_ptr = FW_RunVertex_microsequence_ptr,
	.microsequence_size = FW_RunVertex_microsequence_size,
	.job_meta = FW_RunVertex_job_meta,
	.ts1 = FW_RunVertex_ts1,
	.ts_pointers = FW_RunVertex_ts_pointers,
	.user_ts_pointers = FW_RunVertex_user_ts_pointers,
	.unk_ts = FW_RunVertex_unk_ts,
	.unk_ts2 = FW_RunVertex_unk_ts2,
	.start_op = FW_OP_START_VERTEX,
	.start_type = FW_S_StartVertex,
	.finalize_op = FW_OP_FINALIZE_VERTEX,
	.finalize_type = FW_S_FinalizeVertex,
	.wait = FW_WAIT_VERTEX,
	.wait_g14x = FW_WAIT_VERTEX_G14X,
	.take = fw_vertex_take,
	.start = fw_vertex_start,
	.finalize = fw_vertex_finalize,
	.run = fw_vertex_run,
};
