// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * Fragment commands: takes the scene that their vertex command has filled, checks parameters and
 * operations, and fills the registers that the units draw it by (m1n1 fw/agx/cmdqueue.py
 * WorkCommand3D, asahi queue/render.rs).
 *
 * A worker, with the firmware's lock held, but for fw_fragment_run() and fw_fragment_partial(),
 * which are called without it.
 */
#include <inttypes.h>

#include "fw_render.h"

#define FW_WAIT_FRAGMENT	0x00010001
#define FW_WAIT_FRAGMENT_G14X	0x00000002
#define FW_HEAPMETA_SIZE	0x200
#define FW_AUX_FB_SIZE		0x8000
#define FW_TILE_CONFIG		0x280
#define FW_TILE_CONFIG_LAYERS	0x1
#define FW_TILE_CONFIG_EMPTY	0x10000
#define FW_ISP_CTL		0xc000
#define FW_ISP_CTL_DBIAS_INT	0x40000

struct fw_fixed {
	enum fw_field_id field;
	uint64_t value;
};

static struct fw_view fw_fragment_struct_1(struct fw_job *job)
{
	return fw_sub(&job->view, FW_RunFragment_struct_1, FW_S_FragmentStruct1, 0);
}

static struct fw_view fw_fragment_struct_2(struct fw_job *job)
{
	return fw_sub(&job->view, FW_RunFragment_struct_2, FW_S_FragmentStruct2, 0);
}

static struct fw_view fw_fragment_struct_3(struct fw_job *job)
{
	return fw_sub(&job->view, FW_RunFragment_struct_3, FW_S_FragmentStruct3, 0);
}

static uint64_t fw_fragment_word(struct fw_job *job, enum fw_field_id field)
{
	struct fw_view view = fw_fields[field].structure == FW_S_FragmentStruct1
				      ? fw_fragment_struct_1(job)
				      : fw_fragment_struct_2(job);

	return fw_registers_word(&job->registers, &view, field);
}

/* Commands point to the statistics behind the counters at their start */
#define STATS_OFFSET	8

static uint64_t fw_fragment_stats_of(struct fw_job *job)
{
	struct fw_view runtime =
		fw_view(job->view.access, FW_S_RuntimePointers, job->worker->fw->runtime);

	return fw_get(&runtime, FW_RuntimePointers_stats_3d_addr) + STATS_OFFSET;
}

/* When the command is taken out of its ring */

/*
 * Finds the command's scene, which has to be filled and may be drawn once. A scene that is not is
 * reported, and the command does nothing.
 */
static bool fw_fragment_take(struct fw_job *job, struct fw_command *command)
{
	uint64_t va = fw_get(&job->view, FW_RunFragment_buf_thing_addr);
	struct fw_scene *scene = va ? fw_scene_find(job->worker->fw, va) : NULL;
	struct vagx_report *report = fw_job_report(job);

	if (job->view.access->failed)
		return false;
	if (!scene || !scene->filled) {
		vagx_violation(report,
			       scene ? VAGX_CLAUSE_FW_SCENE_ORDER_early :
				       VAGX_CLAUSE_FW_SCENE_ORDER_none,
			       va, "RunFragment", "%s", scene ? "its vertex command is not over" :
				       "there was no vertex command");
		return true;
	}
	if (scene->fragment) {
		vagx_violation(report, VAGX_CLAUSE_FW_SCENE_REUSED_fragment, va, "RunFragment",
			       "it is being drawn already");
		return true;
	}
	scene->fragment = command->va;
	command->scene = va;
	return true;
}

/* The scene and the slot name the command: m1n1 has the vertex command's own stamp there */
uint64_t fw_fragment_find(struct fw_worker *worker, const struct fw_scene *scene)
{
	struct vagx_firmware *fw = worker->fw;
	struct fw_access *access = &worker->access;
	struct fw_queue *queue = scene->fragment_slot < FW_EVENT_SLOTS ?
					 fw->slot_owner[scene->fragment_slot] :
					 NULL;

	if (!queue || queue->pipe != FW_PIPE_FRAGMENT)
		return 0;
	for (uint32_t i = queue->done; i != queue->limit; i = (i + 1) % queue->size) {
		struct fw_view view = fw_view(access, FW_S_RunFragment, 0);

		fw_read(access, queue->ring + i * sizeof(view.va), &view.va, sizeof(view.va),
			"queue ring");
		if (access->failed ||
		    fw_load32(access, view.va, "command") != FW_COMMAND_FRAGMENT)
			continue;
		if (fw_get(&view, FW_RunFragment_buf_thing_addr) == scene->va)
			return view.va;
	}
	return 0;
}

/* Parameters */

static void fw_fragment_check_fixed(struct fw_job *job)
{
	static const struct fw_fixed fixed[] = {
		{ FW_FragmentStruct2_unk_158, 0x1c },
	};
	static const struct fw_fixed structures[] = {
		{ FW_FragmentStruct2_unk_140, 0x8c60 },
		{ FW_FragmentStruct2_aux_fb_unk3, 0x100000 },
		{ FW_FragmentStruct1_unk_3c, 1 },
	};
	struct fw_view one = fw_fragment_struct_1(job), two = fw_fragment_struct_2(job);

	for (unsigned int i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		fw_render_expect(job, VAGX_RULE_FW_COMMAND_INFO, &two, fixed[i].field,
				 fixed[i].value);
	for (unsigned int i = 0;
	     !job->registers.count && i < sizeof(structures) / sizeof(structures[0]); i++)
		fw_render_expect(job, VAGX_RULE_FW_COMMAND_INFO,
				 fw_fields[structures[i].field].structure ==
						 FW_S_FragmentStruct1 ?
					 &one :
					 &two,
				 structures[i].field, structures[i].value);
	if (!job->registers.count)
		fw_render_expect(job, VAGX_RULE_FW_COMMAND_INFO, &two,
				 FW_FragmentStruct2_aux_fb_unk1,
				 FW_ISP_CTL | (fw_get(&two, FW_FragmentStruct2_aux_fb_unk1) &
					       FW_ISP_CTL_DBIAS_INT));
	fw_render_expect_field(job, VAGX_RULE_FW_COMMAND_INFO, FW_RunFragment_busy_flag, 0);
	fw_render_expect_field(job, VAGX_RULE_FW_COMMAND_INFO, FW_RunFragment_tvb_overflow_count,
			       0);
	fw_render_expect_field(job, VAGX_RULE_FW_COMMAND_INFO, FW_RunFragment_unk_34, 1);
}

static bool fw_fragment_load_geometry(struct fw_job *job, struct vagx_render_geometry *geometry)
{
	struct fw_view params = fw_fragment_struct_2(job);
	enum vagx_rule clause;

	if (job->registers.count) {
		uint64_t size = fw_registers_get(&job->registers, FW_REGISTER_FRAGMENT_AUX_FB_SIZE);

		geometry->width = size;
		geometry->height = size >> 32;
	} else {
		geometry->width = fw_get(&params, FW_FragmentStruct2_aux_fb_width);
		geometry->height = fw_get(&params, FW_FragmentStruct2_aux_fb_height);
	}
	geometry->layers = 1;
	if (!fw_render_utiles(job, fw_fragment_word(job, FW_FragmentStruct2_unk_0), geometry))
		return false;
	if (!geometry->width)
		clause = VAGX_CLAUSE_FW_RENDER_TILING_no_width;
	else if (!geometry->height)
		clause = VAGX_CLAUSE_FW_RENDER_TILING_no_height;
	else if (geometry->width > VAGX_RENDER_MAX_SIZE)
		clause = VAGX_CLAUSE_FW_RENDER_TILING_drawn_width;
	else if (geometry->height > VAGX_RENDER_MAX_SIZE)
		clause = VAGX_CLAUSE_FW_RENDER_TILING_drawn_height;
	else
		return true;
	vagx_violation(fw_job_report(job), clause, job->view.va, "RunFragment", "%u by %u pixels", geometry->width, geometry->height);
	return false;
}

/* The size of a macrotile in the tilemap: of its words in m1n1, of their bytes elsewhere */
static void fw_fragment_check_region(struct fw_job *job, const struct fw_view *two,
				     const struct fw_tiles *tiles)
{
	const uint64_t words = (uint64_t)tiles->region << 24;

	if (job->registers.count ||
	    fw_registers_word(&job->registers, two, FW_FragmentStruct2_unk_e8) != words)
		fw_render_expect(job, VAGX_CLAUSE_FW_RENDER_TILING_word, two,
				 FW_FragmentStruct2_unk_e8, 4 * words);
}

static void fw_fragment_check_tiling(struct fw_job *job,
				     const struct vagx_render_geometry *geometry)
{
	struct fw_tiles tiles = fw_render_tiles(geometry);
	struct fw_view one = fw_fragment_struct_1(job), two = fw_fragment_struct_2(job);
	bool empty = fw_get(&job->view, FW_RunFragment_unk_30);
	uint64_t config = fw_fragment_word(job, FW_FragmentStruct2_unk_f8);
	enum vagx_rule rule = VAGX_CLAUSE_FW_RENDER_TILING_word;

	fw_render_expect(job, rule, &one, FW_FragmentStruct1_tile_counts,
			 (tiles.y - 1) << 12 | (tiles.x - 1));
	fw_fragment_check_region(job, &two, &tiles);
	fw_render_expect(job, rule, &two, FW_FragmentStruct2_unk_f8,
			 FW_TILE_CONFIG | (config & FW_TILE_CONFIG_LAYERS) |
				 (empty ? FW_TILE_CONFIG_EMPTY : 0));
	if (!job->registers.count) {
		fw_render_expect(job, rule, &one, FW_FragmentStruct1_tile_blocks_y,
				 tiles.mtile_y * tiles.utiles_y);
		fw_render_expect(job, rule, &one, FW_FragmentStruct1_tile_blocks_x,
				 tiles.mtile_x * tiles.utiles_x);
	}
	fw_render_expect_field(job, rule, FW_RunFragment_tile_blocks_y, tiles.mtile_y);
	fw_render_expect_field(job, rule, FW_RunFragment_tile_blocks_x, tiles.mtile_x);
	fw_render_expect_field(job, rule, FW_RunFragment_tile_count, tiles.x * tiles.y);
	fw_render_expect_field(job, rule, FW_RunFragment_unk_48, geometry->samples);
}

static void fw_fragment_hint_stamp(struct fw_job *job)
{
	const struct fw_scene *scene = job->scene;

	if (scene->fragment_value != job->stamp->value)
		vagx_violation(fw_job_report(job), VAGX_RULE_FW_SCENE_STAMP, scene->va,
			       "RunVertex", "stamp %#x, the fragment command has %#x",
			       scene->fragment_value, job->stamp->value);
}

/* Checks that both commands of a render have the same slot, buffer, scene and size */
static void fw_fragment_check_pair(struct fw_job *job, const struct fw_view *op)
{
	const struct fw_scene *scene = job->scene;
	const struct {
		const char *what;
		enum vagx_rule clause;
		uint64_t vertex, fragment;
	} pairs[] = {
		{ "event slot", VAGX_CLAUSE_FW_SCENE_PAIR_event_slot, scene->fragment_slot,
		  job->stamp->slot },
		{ "Info", VAGX_CLAUSE_FW_SCENE_PAIR_info, scene->info,
		  fw_get(&job->view, FW_RunFragment_buffer_mgr_addr) },
		{ "slot", VAGX_CLAUSE_FW_SCENE_PAIR_slot, scene->slot,
		  fw_get(op, FW_StartFragment_buffer_mgr_slot) },
		{ "generation", VAGX_CLAUSE_FW_SCENE_PAIR_generation, scene->generation,
		  fw_get(op, FW_StartFragment_submission_id) },
		{ "tilemap", VAGX_CLAUSE_FW_SCENE_PAIR_tilemap, scene->tilemap,
		  job->fragment.tvb.tilemap },
		{ "width", VAGX_CLAUSE_FW_SCENE_PAIR_width, scene->size[0],
		  job->fragment.geometry.width },
		{ "height", VAGX_CLAUSE_FW_SCENE_PAIR_height, scene->size[1],
		  job->fragment.geometry.height },
	};

	for (unsigned int i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		if (op->access->failed || pairs[i].vertex == pairs[i].fragment)
			continue;
		vagx_violation(fw_job_report(job), pairs[i].clause, scene->va, "RunFragment",
			       "%s is %#" PRIx64 ", the vertex command has %#" PRIx64,
			       pairs[i].what, pairs[i].fragment, pairs[i].vertex);
	}
}

static void fw_fragment_check_start(struct fw_job *job, const struct fw_view *op)
{
	struct fw_view *command = &job->view;
	struct fw_view control = fw_view(op->access, FW_S_EventControl, job->stamp->notifier);
	bool registers = job->registers.count;

	fw_job_expect_pointer(job, op, FW_StartFragment_struct1_addr,
			      registers ? 0 : fw_va(command, FW_RunFragment_struct_1));
	fw_job_expect_pointer(job, op, FW_StartFragment_struct2_addr,
			      registers ? 0 : fw_va(command, FW_RunFragment_struct_2));
	fw_job_expect_pointer(job, op, FW_StartFragment_registers_addr,
			      fw_va(command, FW_RunFragment_registers));
	fw_job_expect_pointer(job, op, FW_StartFragment_buf_thing_addr,
			      fw_get(command, FW_RunFragment_buf_thing_addr));
	fw_job_expect_pointer(job, op, FW_StartFragment_stats_ptr, fw_fragment_stats_of(job));
	fw_job_expect_pointer(job, op, FW_StartFragment_busy_flag_ptr,
			      fw_va(command, FW_RunFragment_busy_flag));
	fw_job_expect_pointer(job, op, FW_StartFragment_struct6_addr,
			      fw_va(command, FW_RunFragment_tvb_overflow_count));
	fw_job_expect_pointer(job, op, FW_StartFragment_struct7_addr,
			      fw_va(command, FW_RunFragment_unk_pointee));
	fw_job_expect_pointer(job, op, FW_StartFragment_cmdqueue_ptr, job->queue->info);
	fw_job_expect_pointer(job, op, FW_StartFragment_workitem_ptr, command->va);
	fw_job_expect_pointer(job, op, FW_StartFragment_unk_buf_ptr,
			      fw_va(command, FW_RunFragment_unk_758));
	fw_job_expect_pointer(job, op, FW_StartFragment_unk_buf2_ptr,
			      fw_va(command, FW_RunFragment_unk_buf2));
	fw_job_expect_pointer(job, op, FW_StartFragment_unkptr_19c,
			      fw_va(&control, FW_EventControl_unk_buf));
	fw_job_expect_value(job, op, FW_StartFragment_context_id, job->vm_slot);
	fw_job_expect_value(job, op, FW_StartFragment_unk_50, 1);
	fw_job_expect_value(job, op, FW_StartFragment_uuid, fw_get(&job->meta, FW_JobMeta_uuid));
	fw_job_expect_value(job, op, FW_StartFragment_submission_id,
			    fw_get(&control, FW_EventControl_submission_id));
	fw_job_hint_sequence(job, op, FW_StartFragment_queue_cmd_count, job->command->sequence);
	fw_job_expect_value(job, op, FW_StartFragment_counter,
			    fw_get(command, FW_RunFragment_counter));
	fw_job_check_attachments(job, op, FW_StartFragment_num_attachments,
				 FW_StartFragment_attachments);
}

/* Registers of the units */

static struct vagx_tile_program fw_fragment_clear_program(const struct fw_view *view)
{
	return (struct vagx_tile_program){
		.spec = fw_get(view, FW_ClearPipelineBinding_pipeline_bind),
		.usc = fw_get(view, FW_ClearPipelineBinding_address),
	};
}

static void fw_fragment_load_programs(struct fw_job *job, struct vagx_fragment_registers *fragment)
{
	struct fw_view params = fw_fragment_struct_2(job), partial = fw_fragment_struct_3(job);
	struct fw_view clear =
		fw_sub(&params, FW_FragmentStruct2_clear_pipeline, FW_S_ClearPipelineBinding, 0);
	struct fw_view reload =
		fw_sub(&partial, FW_FragmentStruct3_reload_pipeline, FW_S_ClearPipelineBinding, 0);
	struct fw_view store = fw_sub(&partial, FW_FragmentStruct3_partial_store_pipeline,
				      FW_S_StorePipelineBinding, 0);

	fragment->partial_background = fw_fragment_clear_program(&reload);
	fragment->partial_end_of_tile = (struct vagx_tile_program){
		.spec = fw_get(&store, FW_StorePipelineBinding_pipeline_bind),
		.usc = fw_get(&store, FW_StorePipelineBinding_address),
	};
	fragment->end_of_tile = (struct vagx_tile_program){
		.spec = fw_fragment_word(job, FW_FragmentStruct1_store_pipeline_bind),
		.usc = fw_fragment_word(job, FW_FragmentStruct1_store_pipeline_addr),
	};
	if (!job->registers.count) {
		fragment->background = fw_fragment_clear_program(&clear);
		return;
	}
	fragment->background = (struct vagx_tile_program){
		.spec = fw_registers_get(&job->registers, FW_REGISTER_FRAGMENT_CLEAR_PIPELINE_BIND),
		.usc = fw_registers_get(&job->registers, FW_REGISTER_FRAGMENT_CLEAR_PIPELINE_ADDR),
	};
}

static uint64_t fw_fragment_stride(struct fw_job *job, unsigned int index)
{
	static const uint32_t numbers[] = {
		FW_REGISTER_FRAGMENT_Z_LOAD_STRIDE,
		FW_REGISTER_FRAGMENT_Z_STORE_STRIDE,
		FW_REGISTER_FRAGMENT_S_LOAD_STRIDE,
		FW_REGISTER_FRAGMENT_S_STORE_STRIDE,
	};
	struct fw_view params = fw_fragment_struct_2(job);

	return job->registers.count ? fw_registers_get(&job->registers, numbers[index]) :
				      fw_get_at(&params, FW_FragmentStruct2_unk_78, index);
}

static void fw_fragment_load_planes(struct fw_job *job, struct vagx_fragment_registers *fragment)
{
	struct fw_view partial = fw_fragment_struct_3(job);

	fragment->depth = (struct vagx_zs_planes){
		.load = {fw_fragment_word(job, FW_FragmentStruct2_depth_buffer_ptr1),
			 fw_fragment_stride(job, 0),
			 fw_fragment_word(job, FW_FragmentStruct2_depth_aux_buffer_ptr1),
			 fw_fragment_word(job, FW_FragmentStruct2_unk_a0)},
		.store = {fw_fragment_word(job, FW_FragmentStruct2_depth_buffer_ptr2),
			  fw_fragment_stride(job, 1),
			  fw_fragment_word(job, FW_FragmentStruct2_depth_aux_buffer_ptr2),
			  fw_fragment_word(job, FW_FragmentStruct2_unk_b0)},
		.partial = {fw_get(&partial, FW_FragmentStruct3_depth_buffer_ptr3),
			    fw_get(&partial, FW_FragmentStruct3_unk_2a0),
			    fw_get(&partial, FW_FragmentStruct3_depth_aux_buffer_ptr),
			    fw_get(&partial, FW_FragmentStruct3_unk_2a8)},
	};
	fragment->stencil = (struct vagx_zs_planes){
		.load = {fw_fragment_word(job, FW_FragmentStruct2_stencil_buffer_ptr1),
			 fw_fragment_stride(job, 2),
			 fw_fragment_word(job, FW_FragmentStruct2_stencil_aux_buffer_ptr1),
			 fw_fragment_word(job, FW_FragmentStruct2_unk_c0)},
		.store = {fw_fragment_word(job, FW_FragmentStruct2_stencil_buffer_ptr2),
			  fw_fragment_stride(job, 3),
			  fw_fragment_word(job, FW_FragmentStruct2_stencil_aux_buffer_ptr2),
			  fw_fragment_word(job, FW_FragmentStruct2_unk_d0)},
		.partial = {fw_get(&partial, FW_FragmentStruct3_stencil_buffer_ptr3),
			    fw_get(&partial, FW_FragmentStruct3_unk_2d0),
			    fw_get(&partial, FW_FragmentStruct3_stencil_aux_buffer_ptr),
			    fw_get(&partial, FW_FragmentStruct3_unk_2d8)},
	};
}

static uint32_t fw_fragment_bgobjvals(struct fw_job *job)
{
	struct fw_view params = fw_fragment_struct_1(job);

	if (job->registers.count)
		return fw_registers_get(&job->registers, FW_REGISTER_FRAGMENT_ISP_BGOBJVALS);
	return fw_get(&params, FW_FragmentStruct1_stencil_clear_val1) |
	       fw_get(&params, FW_FragmentStruct1_unk_35) << 8;
}

static void fw_fragment_load(struct fw_job *job, struct vagx_fragment_registers *fragment)
{
	struct fw_view partial = fw_fragment_struct_3(job);

	fragment->tvb = (struct vagx_tvb_memory){
		.tilemap = fw_fragment_word(job, FW_FragmentStruct2_tvb_tilemap),
		.heap_meta = fw_fragment_word(job, FW_FragmentStruct2_tvb_heapmeta_addr2),
		.layer_meta = fw_fragment_word(job, FW_FragmentStruct2_tvb_heapmeta_addr),
	};
	fragment->shaders = (struct vagx_render_shaders){
		.usc_base = fw_fragment_word(job, FW_FragmentStruct2_pipeline_base),
		.helper_program = fw_fragment_word(job, FW_FragmentStruct2_helper_program),
		.helper_cfg = fw_fragment_word(job, FW_FragmentStruct1_helper_cfg),
		.helper_data = fw_fragment_word(job, FW_FragmentStruct2_helper_arg),
	};
	fw_render_samplers(job, FW_RunFragment_encoder_params, &fragment->shaders);
	fragment->ppp_multisample = fw_fragment_word(job, FW_FragmentStruct2_unk_18);
	fragment->scissor_base = fw_fragment_word(job, FW_FragmentStruct2_scissor_array);
	fragment->depth_bias_base = fw_fragment_word(job, FW_FragmentStruct2_depth_bias_array);
	fragment->visibility_base =
		fw_fragment_word(job, FW_FragmentStruct2_visibility_result_buffer);
	fragment->isp_control = fw_fragment_word(job, FW_FragmentStruct2_aux_fb_unk1);
	fragment->isp_bgobjdepth = fw_fragment_word(job, FW_FragmentStruct1_depth_clear_val1);
	fragment->isp_bgobjvals = fw_fragment_bgobjvals(job);
	fragment->zls_control = fw_fragment_word(job, FW_FragmentStruct2_depth_flags);
	fragment->partial_zls_control = fw_get(&partial, FW_FragmentStruct3_depth_flags);
	fragment->zls_pixels = fw_fragment_word(job, FW_FragmentStruct2_depth_dimensions);
	fragment->sample_size = fw_get(&partial, FW_FragmentStruct3_unk_378);
	fragment->process_empty_tiles = fw_get(&job->view, FW_RunFragment_unk_30);
	fw_fragment_load_programs(job, fragment);
	fw_fragment_load_planes(job, fragment);
}

static void fw_fragment_load_registers(struct fw_job *job)
{
	if (fw_has(&job->view, FW_RunFragment_registers))
		fw_job_load_registers(job, FW_REGISTERS_FRAGMENT, FW_RunFragment_registers,
				      FW_RunFragment_registers_addr, FW_RunFragment_register_count,
				      FW_RunFragment_registers_length);
}

/* Operations of the microsequence */

static void fw_fragment_start(struct fw_job *job, const struct fw_view *op)
{
	struct vagx_fragment_registers *fragment = &job->fragment;

	job->scene = job->command->scene ? fw_scene_find(job->worker->fw, job->command->scene) :
					   NULL;
	fw_fragment_load_registers(job);
	fw_fragment_check_start(job, op);
	fw_fragment_check_fixed(job);
	fw_fragment_load(job, fragment);
	job->idle = !fw_fragment_load_geometry(job, &fragment->geometry) || !job->scene ||
		    !job->scene->started || op->access->failed;
	if (job->idle)
		return;
	fw_fragment_check_tiling(job, &fragment->geometry);
	fw_fragment_check_pair(job, op);
	fw_fragment_hint_stamp(job);
	fw_render_expect_memory(job, "heap metadata", fragment->tvb.heap_meta, FW_HEAPMETA_SIZE);
	fw_render_expect_memory(job, "the auxiliary framebuffer",
				fw_fragment_word(job, FW_FragmentStruct2_aux_fb_ptr),
				FW_AUX_FB_SIZE);
	fragment->geometry.layers = job->scene->layers;
	fw_set(&job->view, FW_RunFragment_busy_flag, 1);
}

static void fw_fragment_finalize(struct fw_job *job, const struct fw_view *op)
{
	struct fw_view *command = &job->view;

	fw_job_expect_pointer(job, op, FW_FinalizeFragment_stamp_addr, job->stamp->fw_stamp);
	fw_job_expect_pointer(job, op, FW_FinalizeFragment_buf_thing_addr,
			      fw_get(command, FW_RunFragment_buf_thing_addr));
	fw_job_expect_pointer(job, op, FW_FinalizeFragment_buffer_mgr_addr,
			      fw_get(command, FW_RunFragment_buffer_mgr_addr));
	fw_job_expect_pointer(job, op, FW_FinalizeFragment_stats_ptr, fw_fragment_stats_of(job));
	fw_job_expect_pointer(job, op, FW_FinalizeFragment_struct7_addr,
			      fw_va(command, FW_RunFragment_unk_pointee));
	fw_job_expect_pointer(job, op, FW_FinalizeFragment_busy_flag_ptr,
			      fw_va(command, FW_RunFragment_busy_flag));
	fw_job_expect_pointer(job, op, FW_FinalizeFragment_cmdqueue_ptr, job->queue->info);
	fw_job_expect_pointer(job, op, FW_FinalizeFragment_workitem_ptr, command->va);
	fw_job_expect_pointer(job, op, FW_FinalizeFragment_unk_buf_ptr,
			      fw_va(command, FW_RunFragment_unk_758));
	fw_job_expect_value(job, op, FW_FinalizeFragment_context_id, job->vm_slot);
	fw_job_expect_value(job, op, FW_FinalizeFragment_uuid,
			    fw_get(&job->meta, FW_JobMeta_uuid));
	fw_job_expect_value(job, op, FW_FinalizeFragment_stamp_value, job->stamp->value);
	fw_job_expect_value(job, op, FW_FinalizeFragment_unk_2c, 1);
	fw_job_check_restart(job, op, FW_FinalizeFragment_restart_branch_offset);
	fw_set(command, FW_RunFragment_busy_flag, 0);
	if (!job->scene || op->access->failed)
		return;
	fw_buffer_check_live(op->access, job->worker->fw, job->scene);
	fw_scene_report(op->access, job->scene);
	fw_set(command, FW_RunFragment_tvb_overflow_count, job->scene->overflows);
}

/* On the units, without the lock */

static enum vagx_gpu_status fw_fragment_draw(struct fw_job *job, struct vagx_job *units,
					     const struct vagx_tvb_pages *pages,
					     enum vagx_fragment_mode mode,
					     struct vagx_uat_fault *fault, unsigned int *unit)
{
	enum vagx_gpu_status status =
		vagx_job_fragment(units, &job->fragment, pages, mode, fault, unit);

	if (status == VAGX_GPU_DONE && job->worker->fw->config.no_exec)
		fw_tvb_check(job, pages);
	return status;
}

/*
 * Draws what a scene has so far. The partial render takes the place of the vertex command's job,
 * so that it ends when that is cancelled. Its registers come from the scene's fragment command,
 * which has not begun yet.
 */
enum vagx_gpu_status fw_fragment_partial(struct fw_job *vertex, const struct vagx_tvb_pages *pages,
					 struct vagx_uat_fault *fault, unsigned int *unit)
{
	struct fw_worker *worker = vertex->worker;
	struct vagx_firmware *fw = worker->fw;
	struct vagx_job *units = vagx_job_new(fw->config.gpu, vertex->vm_slot);
	enum vagx_gpu_status status = VAGX_GPU_CANCELLED;
	struct fw_job job = { .worker = worker, .vm_slot = vertex->vm_slot };
	struct vagx_job *interrupted;
	uint64_t va;
	bool good;

	pthread_mutex_lock(&fw->lock);
	va = fw_fragment_find(worker, vertex->scene);
	job.scene = vertex->scene;
	job.view = fw_view(&worker->access, FW_S_RunFragment, va);
	good = units && va && !worker->cancelled;
	if (good) {
		fw_fragment_load_registers(&job);
		fw_fragment_load(&job, &job.fragment);
		good = fw_fragment_load_geometry(&job, &job.fragment.geometry) &&
		       !worker->access.failed;
		job.fragment.geometry.layers = job.scene->layers;
	}
	interrupted = worker->job;
	if (good)
		worker->job = units;
	pthread_mutex_unlock(&fw->lock);
	if (good)
		status = fw_fragment_draw(&job, units, pages, VAGX_FRAGMENT_PARTIAL, fault, unit);
	pthread_mutex_lock(&fw->lock);
	worker->job = interrupted;
	job.scene->pass_pages = 0;
	pthread_mutex_unlock(&fw->lock);
	vagx_job_free(units);
	return status;
}

static enum vagx_gpu_status fw_fragment_run(struct fw_job *job, struct vagx_job *units,
					    struct vagx_uat_fault *fault, unsigned int *unit)
{
	struct vagx_tvb_pages pages = fw_tvb_pages(job);

	return job->idle ? VAGX_GPU_DONE :
			   fw_fragment_draw(job, units, &pages, VAGX_FRAGMENT_FINAL, fault, unit);
}

const struct fw_job_kind fw_fragment_kind = {
	.command = FW_COMMAND_FRAGMENT,
	.pipe = FW_PIPE_FRAGMENT,
	.type = FW_S_RunFragment,
	.context_id = FW_RunFragment_context_id,
	.event_control_addr = FW_RunFragment_event_control_addr,
	.microsequence_ptr = FW_RunFragment_microsequence_ptr,
	.microsequence_size = FW_RunFragment_microsequence_size,
	.job_meta = FW_RunFragment_job_meta,
	.ts1 = FW_RunFragment_ts1,
	.ts_pointers = FW_RunFragment_ts_pointers,
	.user_ts_pointers = FW_RunFragment_user_ts_pointers,
	.unk_ts = FW_RunFragment_unk_ts,
	.unk_ts2 = FW_RunFragment_unk_ts2,
	.start_op = FW_OP_START_FRAGMENT,
	.start_type = FW_S_StartFragment,
	.finalize_op = FW_OP_FINALIZE_FRAGMENT,
	.finalize_type = FW_S_FinalizeFragment,
	.wait = FW_WAIT_FRAGMENT,
	.wait_g14x = FW_WAIT_FRAGMENT_G14X,
	.take = fw_fragment_take,
	.start = fw_fragment_start,
	.finalize = fw_fragment_finalize,
	.run = fw_fragment_run,
};
