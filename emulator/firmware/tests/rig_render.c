// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#include "rig_render.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define USER_START	0x1600000000ULL
#define UUID		7
#define GENERATION	3
#define BLOCKS_MAX	0x100
#define SIZE_OF(type)	(fw_structs[type].size[RIG_ABI])

static uint64_t va_of(struct rig_ptr at, enum fw_field_id field)
{
	return at.va + fw_fields[field].offset[RIG_ABI];
}

static struct rig_ptr at_offset(struct rig_ptr at, uint32_t offset)
{
	return (struct rig_ptr){ .va = at.va + offset, .host = at.host + offset };
}

struct rig_ptr rig_user(struct rig *rig, size_t size, uint64_t prot)
{
	uint64_t va = USER_START + rig->user_next;
	size_t pages = (size + AGX_PAGE_MASK) >> AGX_PAGE_SHIFT;
	struct rig_ptr first = rig_page(rig);

	for (size_t i = 1; i < pages; i++)
		rig_page(rig);
	for (size_t i = 0; i < pages; i++)
		rig_map(rig, rig->user_root, va + (i << AGX_PAGE_SHIFT),
			first.va + (i << AGX_PAGE_SHIFT), prot);
	/* At least a page between two of them */
	rig->user_next += (size + 2 * RIG_BUFFER_PAGE - 1) & ~(RIG_BUFFER_PAGE - 1);
	return (struct rig_ptr){ .va = va, .host = first.host };
}

/* Buffers */

void rig_buffer_grow(struct rig *rig, struct rig_buffer *buffer, uint32_t blocks, bool idle)
{
	uint32_t *pages = (uint32_t *)buffer->pages.host, *list = (uint32_t *)buffer->list.host;

	assert_true(blocks <= BLOCKS_MAX);
	for (; buffer->blocks < blocks; buffer->blocks++) {
		uint64_t va = rig_user(rig, 4 * RIG_BUFFER_PAGE, AGX_PROT_GPU_SHARED_RW).va;

		list[2 * buffer->blocks] = va / RIG_BUFFER_PAGE;
		for (unsigned int i = 0; i < 4; i++)
			pages[4 * buffer->blocks + i] = va / RIG_BUFFER_PAGE + i;
	}
	put(buffer->control, FW_BufferBlockControl_total, blocks);
	put(buffer->control, FW_BufferBlockControl_wptr, blocks);
	if (!idle)
		return;
	put(buffer->info, FW_BufferInfo_block_count, blocks);
	put(buffer->info, FW_BufferInfo_page_count, 4 * blocks);
	put(buffer->info, FW_BufferInfo_last_page, 4 * blocks - 1);
}

void rig_buffer_new(struct rig *rig, struct rig_buffer *buffer, unsigned int slot, uint32_t blocks)
{
	memset(buffer, 0, sizeof(*buffer));
	buffer->slot = slot;
	buffer->info = rig_alloc(rig, RIG_PRIVATE, SIZE_OF(FW_S_BufferInfo));
	buffer->control = rig_alloc(rig, RIG_SHARED, SIZE_OF(FW_S_BufferBlockControl));
	buffer->counter = rig_alloc(rig, RIG_SHARED, SIZE_OF(FW_S_BufferCounter));
	buffer->misc = rig_alloc(rig, RIG_SHARED, SIZE_OF(FW_S_BufferMisc));
	buffer->kernel = rig_alloc(rig, RIG_SHARED, 0x40);
	buffer->pages = rig_user(rig, BLOCKS_MAX * 16, AGX_PROT_GPU_FW_PRIV_RW);
	buffer->list = rig_user(rig, BLOCKS_MAX * 8, AGX_PROT_GPU_FW_PRIV_RW);
	put(buffer->misc, FW_BufferMisc_cpu_flag, 1);
	put(buffer->info, FW_BufferInfo_cur_id, UINT32_MAX);
	put(buffer->info, FW_BufferInfo_page_list_addr, buffer->pages.va);
	put(buffer->info, FW_BufferInfo_page_list_size, BLOCKS_MAX * 16);
	put(buffer->info, FW_BufferInfo_unk_30, BLOCKS_MAX);
	put(buffer->info, FW_BufferInfo_block_list_addr, buffer->list.va);
	put(buffer->info, FW_BufferInfo_block_ctl_addr, buffer->control.va);
	put(buffer->info, FW_BufferInfo_block_size, 4 * RIG_BUFFER_PAGE);
	put(buffer->info, FW_BufferInfo_counter_addr, buffer->counter.va);
	put(buffer->info, FW_BufferInfo_unk_80, 1);
	put(buffer->info, FW_BufferInfo_unk_84, 0x66cc);
	put(buffer->info, FW_BufferInfo_unk_88, 0x2244);
	rig_buffer_grow(rig, buffer, blocks, true);
}

void rig_renderer_new(struct rig *rig, struct rig_renderer *renderer, unsigned int slot,
		      uint32_t blocks)
{
	renderer->at_page_ends = false;
	rig_queue_new(rig, &renderer->vertex, 0, slot);
	rig_queue_new(rig, &renderer->fragment, 1, slot + 1);
	put(renderer->vertex.notifier, FW_EventControl_submission_id, GENERATION);
	put(renderer->fragment.notifier, FW_EventControl_submission_id, GENERATION);
	rig_buffer_new(rig, &renderer->buffer, slot, blocks);
}

/* Commands */

static void put_meta(struct rig *rig, struct rig_queue *queue, struct rig_ptr at)
{
	put(at, FW_JobMeta_stamp_addr, rig->stamps.va + 4 * queue->slot);
	put(at, FW_JobMeta_fw_stamp_addr, rig->fw_stamps.va + 4 * queue->slot);
	put(at, FW_JobMeta_stamp_value, queue->stamp);
	put(at, FW_JobMeta_stamp_slot, queue->slot);
	put(at, FW_JobMeta_uuid, UUID);
	put(at, FW_JobMeta_queue_cmd_count, queue->sequence);
}

static void put_encoder(struct rig_ptr at)
{
	put(at, FW_EncoderParams_iogpu_compute_unk44, UINT32_MAX);
	put(at, FW_EncoderParams_sampler_array, 0x1700000000);
	put(at, FW_EncoderParams_sampler_count, 3);
	put(at, FW_EncoderParams_sampler_max, 4);
}

struct times {
	enum fw_field_id ts1, pointers, user, unk_ts;
};

static uint32_t add_timestamp(struct rig_queue *queue, struct rig_command *command, uint32_t offset,
			      const struct times *times, bool start)
{
	struct rig_ptr op = at_offset(command->sequence, offset);
	enum fw_field_id end = start ? FW_TimestampPointers_start_addr :
				       FW_TimestampPointers_end_addr;

	put(op, FW_Timestamp_magic, 0x19);
	put(op, FW_Timestamp_unk_3, start ? 0x80 : 0);
	put(op, FW_Timestamp_ts0_addr, va_of(command->command, times->ts1));
	put(op, FW_Timestamp_ts_pointers_addr, va_of(command->command, times->pointers));
	put(op, FW_Timestamp_unk_addr,
	    va_of(command->command, times->pointers) + fw_fields[end].offset[RIG_ABI]);
	put(op, FW_Timestamp_cmdqueue_ptr, queue->info.va);
	put(op, FW_Timestamp_user_ts_pointers_addr, va_of(command->command, times->user));
	put(op, FW_Timestamp_unk_ts_addr, va_of(command->command, times->unk_ts));
	put(op, FW_Timestamp_uuid, UUID);
	return offset + SIZE_OF(FW_S_Timestamp);
}

/* What lies between the first and the last operation; returns where the last one begins */
static uint32_t add_middle(struct rig_queue *queue, struct rig_command *command, uint32_t offset,
			   const struct times *times, uint32_t wait)
{
	offset = add_timestamp(queue, command, offset, times, true);
	memcpy(command->sequence.host + offset, &wait, sizeof(wait));
	return add_timestamp(queue, command, offset + sizeof(wait), times, false);
}

static void add_end(struct rig_command *command, uint32_t offset)
{
	static const uint32_t end = 0x40000018;

	command->end = offset;
	memcpy(command->sequence.host + offset, &end, sizeof(end));
}

static void build_vertex_sequence(struct rig *rig, struct rig_renderer *renderer,
				  struct rig_render *render)
{
	static const struct times times = { FW_RunVertex_ts1, FW_RunVertex_ts_pointers,
					    FW_RunVertex_user_ts_pointers, FW_RunVertex_unk_ts };
	struct rig_queue *queue = &renderer->vertex;
	struct rig_ptr cmd = render->vertex.command, op = render->vertex.sequence;
	uint64_t stats = get(rig->runtime, FW_RuntimePointers_stats_ta_addr) + 4;
	uint32_t offset;

	put(op, FW_StartVertex_magic, 0x22);
	put(op, FW_StartVertex_tiling_params_addr, rig_part_va(cmd, FW_RunVertex_tiling_params));
	put(op, FW_StartVertex_struct2_addr, rig_part_va(cmd, FW_RunVertex_struct_2));
	rig_put_registers_va(op, FW_StartVertex_registers_addr, cmd, FW_RunVertex_registers);
	put(op, FW_StartVertex_buffer_mgr_addr, renderer->buffer.info.va);
	put(op, FW_StartVertex_buf_thing_addr, render->scene.va);
	put(op, FW_StartVertex_stats_ptr, stats);
	put(op, FW_StartVertex_cmdqueue_ptr, queue->info.va);
	put(op, FW_StartVertex_context_id, RIG_CONTEXT);
	put(op, FW_StartVertex_unk_38, 1);
	put(op, FW_StartVertex_submission_id, GENERATION);
	put(op, FW_StartVertex_unk_48, queue->sequence);
	put(op, FW_StartVertex_buffer_mgr_slot, renderer->buffer.slot);
	put(op, FW_StartVertex_struct3_addr, va_of(cmd, FW_RunVertex_unk_480));
	put(op, FW_StartVertex_unkptr_5c, va_of(cmd, FW_RunVertex_unk_594));
	put(op, FW_StartVertex_uuid, UUID);
	put(op, FW_StartVertex_counter, 1);
	put(op, FW_StartVertex_unkptr_180, va_of(queue->notifier, FW_EventControl_unk_buf));
	offset = add_middle(queue, &render->vertex, SIZE_OF(FW_S_StartVertex), &times,
			    rig_wait_word(0x101));

	render->vertex.finalize = offset;
	op = at_offset(op, offset);
	put(op, FW_FinalizeVertex_magic, 0x23);
	put(op, FW_FinalizeVertex_buf_thing_addr, render->scene.va);
	put(op, FW_FinalizeVertex_buffer_mgr_addr, renderer->buffer.info.va);
	put(op, FW_FinalizeVertex_stats_ptr, stats);
	put(op, FW_FinalizeVertex_cmdqueue_ptr, queue->info.va);
	put(op, FW_FinalizeVertex_context_id, RIG_CONTEXT);
	put(op, FW_FinalizeVertex_struct3_addr, va_of(cmd, FW_RunVertex_unk_480));
	put(op, FW_FinalizeVertex_uuid, UUID);
	put(op, FW_FinalizeVertex_stamp_addr, rig->fw_stamps.va + 4 * queue->slot);
	put(op, FW_FinalizeVertex_stamp_value, queue->stamp);
	put(op, FW_FinalizeVertex_restart_branch_offset, -offset);
	add_end(&render->vertex, offset + SIZE_OF(FW_S_FinalizeVertex));
	put(cmd, FW_RunVertex_microsequence_ptr, render->vertex.sequence.va);
	put(cmd, FW_RunVertex_microsequence_size, render->vertex.end + 4);
}

static void build_fragment_sequence(struct rig *rig, struct rig_renderer *renderer,
				    struct rig_render *render)
{
	static const struct times times = { FW_RunFragment_ts1, FW_RunFragment_ts_pointers,
					    FW_RunFragment_user_ts_pointers, FW_RunFragment_unk_ts };
	struct rig_queue *queue = &renderer->fragment;
	struct rig_ptr cmd = render->fragment.command, op = render->fragment.sequence;
	uint64_t stats = get(rig->runtime, FW_RuntimePointers_stats_3d_addr) + 8;
	uint32_t offset;

	put(op, FW_StartFragment_magic, 0x24);
	put(op, FW_StartFragment_struct1_addr, rig_part_va(cmd, FW_RunFragment_struct_1));
	put(op, FW_StartFragment_struct2_addr, rig_part_va(cmd, FW_RunFragment_struct_2));
	rig_put_registers_va(op, FW_StartFragment_registers_addr, cmd, FW_RunFragment_registers);
	put(op, FW_StartFragment_buf_thing_addr, render->scene.va);
	put(op, FW_StartFragment_stats_ptr, stats);
	put(op, FW_StartFragment_busy_flag_ptr, va_of(cmd, FW_RunFragment_busy_flag));
	put(op, FW_StartFragment_struct6_addr, va_of(cmd, FW_RunFragment_tvb_overflow_count));
	put(op, FW_StartFragment_struct7_addr, va_of(cmd, FW_RunFragment_unk_pointee));
	put(op, FW_StartFragment_cmdqueue_ptr, queue->info.va);
	put(op, FW_StartFragment_workitem_ptr, cmd.va);
	put(op, FW_StartFragment_context_id, RIG_CONTEXT);
	put(op, FW_StartFragment_unk_50, 1);
	put(op, FW_StartFragment_submission_id, GENERATION);
	put(op, FW_StartFragment_queue_cmd_count, queue->sequence);
	put(op, FW_StartFragment_buffer_mgr_slot, renderer->buffer.slot);
	put(op, FW_StartFragment_unk_buf_ptr, va_of(cmd, FW_RunFragment_unk_758));
	put(op, FW_StartFragment_unk_buf2_ptr, va_of(cmd, FW_RunFragment_unk_buf2));
	put(op, FW_StartFragment_uuid, UUID);
	put(op, FW_StartFragment_unkptr_19c, va_of(queue->notifier, FW_EventControl_unk_buf));
	offset = add_middle(queue, &render->fragment, SIZE_OF(FW_S_StartFragment), &times,
			    rig_wait_word(0x10001));

	render->fragment.finalize = offset;
	op = at_offset(op, offset);
	put(op, FW_FinalizeFragment_magic, 0x25);
	put(op, FW_FinalizeFragment_uuid, UUID);
	put(op, FW_FinalizeFragment_stamp_addr, rig->fw_stamps.va + 4 * queue->slot);
	put(op, FW_FinalizeFragment_stamp_value, queue->stamp);
	put(op, FW_FinalizeFragment_buf_thing_addr, render->scene.va);
	put(op, FW_FinalizeFragment_buffer_mgr_addr, renderer->buffer.info.va);
	put(op, FW_FinalizeFragment_unk_2c, 1);
	put(op, FW_FinalizeFragment_stats_ptr, stats);
	put(op, FW_FinalizeFragment_struct7_addr, va_of(cmd, FW_RunFragment_unk_pointee));
	put(op, FW_FinalizeFragment_busy_flag_ptr, va_of(cmd, FW_RunFragment_busy_flag));
	put(op, FW_FinalizeFragment_cmdqueue_ptr, queue->info.va);
	put(op, FW_FinalizeFragment_workitem_ptr, cmd.va);
	put(op, FW_FinalizeFragment_context_id, RIG_CONTEXT);
	put(op, FW_FinalizeFragment_unk_buf_ptr, va_of(cmd, FW_RunFragment_unk_758));
	put(op, FW_FinalizeFragment_restart_branch_offset, -offset);
	add_end(&render->fragment, offset + SIZE_OF(FW_S_FinalizeFragment));
	put(cmd, FW_RunFragment_microsequence_ptr, render->fragment.sequence.va);
	put(cmd, FW_RunFragment_microsequence_size, render->fragment.end + 4);
}

static uint32_t mtile(uint32_t tiles)
{
	return ((tiles + 3) / 4 + 3) & ~3U;
}

static void build_vertex(struct rig *rig, struct rig_renderer *renderer, struct rig_render *render,
			 unsigned int width, unsigned int height)
{
	uint32_t x = (width + 31) / 32, y = (height + 31) / 32, mx = mtile(x), my = mtile(y);
	struct rig_ptr cmd = render->vertex.command, at;

	put(cmd, FW_RunVertex_counter, 1);
	put(cmd, FW_RunVertex_context_id, RIG_CONTEXT);
	put(cmd, FW_RunVertex_event_control_addr, renderer->vertex.notifier.va);
	put(cmd, FW_RunVertex_buffer_mgr_slot, renderer->buffer.slot);
	put(cmd, FW_RunVertex_buffer_mgr_addr, renderer->buffer.info.va);
	put(cmd, FW_RunVertex_buf_thing_addr, render->scene.va);
	put(cmd, FW_RunVertex_unk_emptybuf_addr, renderer->buffer.kernel.va);
	put(cmd, FW_RunVertex_unkptr_45c, render->tails.va);
	put(cmd, FW_RunVertex_tvb_size, 128 * mx * my);
	put(cmd, FW_RunVertex_ev_3d, renderer->fragment.slot);
	put(cmd, FW_RunVertex_stamp_value, renderer->fragment.stamp);
	put_encoder(sub(cmd, FW_RunVertex_encoder_params, FW_S_EncoderParams, 0));
	put_meta(rig, &renderer->vertex, sub(cmd, FW_RunVertex_job_meta, FW_S_JobMeta, 0));

	at = rig_part(cmd, FW_RunVertex_struct_2, FW_S_TaStruct2);
	put(at, FW_TaStruct2_unk_0, 0x200);
	put(at, FW_TaStruct2_unk_8, 0x1e3ce508);
	put(at, FW_TaStruct2_unk_c, 0x1e3ce508);
	put(at, FW_TaStruct2_tvb_tilemap, render->tilemap.va);
	put(at, FW_TaStruct2_tpc, render->tails.va);
	put(at, FW_TaStruct2_tvb_heapmeta_addr, render->heapmeta.va | 1ULL << 63);
	put(at, FW_TaStruct2_iogpu_unk_54, 0x6b0003);
	put(at, FW_TaStruct2_iogpu_unk_55, 0x3a0012);
	put(at, FW_TaStruct2_iogpu_unk_56, 1);
	put(at, FW_TaStruct2_unk_48, 0xa000);
	put(at, FW_TaStruct2_unk_50, 0x88);
	put(at, FW_TaStruct2_tvb_heapmeta_addr2, render->heapmeta.va + 0x200);
	put(at, FW_TaStruct2_unk_80, 1);
	put(at, FW_TaStruct2_encoder_addr, RIG_VERTEX_BASE);
	put(at, FW_TaStruct2_pipeline_base, 0x1100000000);
	put(at, FW_TaStruct2_unk_f8, 0x8c60);
	put(at, FW_TaStruct2_unk_118, 0x1c);

	at = rig_part(cmd, FW_RunVertex_tiling_params, FW_S_TilingParameters);
	put(at, FW_TilingParameters_size1, (5 * mx * my + 3) / 4);
	put(at, FW_TilingParameters_unk_4, 0x88);
	put(at, FW_TilingParameters_unk_8, 0x202);
	put(at, FW_TilingParameters_x_max, width - 1);
	put(at, FW_TilingParameters_y_max, height - 1);
	put(at, FW_TilingParameters_tile_count, (y - 1) << 12 | (x - 1));
	put(at, FW_TilingParameters_x_blocks, 3 * mx | 2 * mx << 9 | mx << 18);
	put(at, FW_TilingParameters_y_blocks, 3 * my | 2 * my << 9 | my << 18);
	put(at, FW_TilingParameters_size2, mx * my);
	put(at, FW_TilingParameters_size3, 2 * mx * my);
	put(at, FW_TilingParameters_unk_24, 0x100);
	put(at, FW_TilingParameters_unk_28, 0x8000);
	rig_registers(cmd, FW_REGISTERS_VERTEX, (struct rig_register[]){
		{ FW_REGISTER_VERTEX_PPP_SCREEN, (height - 1) << 16 | (width - 1) },
		{ 0 },
	});
}

static void build_fragment(struct rig *rig, struct rig_renderer *renderer,
			   struct rig_render *render, unsigned int width, unsigned int height)
{
	uint32_t x = (width + 31) / 32, y = (height + 31) / 32, mx = mtile(x), my = mtile(y);
	struct rig_ptr cmd = render->fragment.command, at;

	put(cmd, FW_RunFragment_magic, 1);
	put(cmd, FW_RunFragment_context_id, RIG_CONTEXT);
	put(cmd, FW_RunFragment_event_control_addr, renderer->fragment.notifier.va);
	put(cmd, FW_RunFragment_buffer_mgr_addr, renderer->buffer.info.va);
	put(cmd, FW_RunFragment_buf_thing_addr, render->scene.va);
	put(cmd, FW_RunFragment_unk_emptybuf_addr, renderer->buffer.kernel.va);
	put(cmd, FW_RunFragment_tvb_tilemap, render->tilemap.va);
	put(cmd, FW_RunFragment_unk_40, 0x88);
	put(cmd, FW_RunFragment_unk_48, 1);
	put(cmd, FW_RunFragment_tile_blocks_y, my);
	put(cmd, FW_RunFragment_tile_blocks_x, mx);
	put(cmd, FW_RunFragment_tile_count, x * y);
	put(cmd, FW_RunFragment_unk_34, 1);
	put_encoder(sub(cmd, FW_RunFragment_encoder_params, FW_S_EncoderParams, 0));
	put_meta(rig, &renderer->fragment, sub(cmd, FW_RunFragment_job_meta, FW_S_JobMeta, 0));

	at = rig_part(cmd, FW_RunFragment_struct_2, FW_S_FragmentStruct2);
	put(at, FW_FragmentStruct2_unk_0, 0xa000);
	put(at, FW_FragmentStruct2_unk_18, 0x88);
	put(at, FW_FragmentStruct2_scissor_array, RIG_FRAGMENT_BASE);
	put(at, FW_FragmentStruct2_aux_fb_unk1, 0xc000);
	put(at, FW_FragmentStruct2_aux_fb_width, width);
	put(at, FW_FragmentStruct2_aux_fb_height, height);
	put(at, FW_FragmentStruct2_aux_fb_unk3, 0x100000);
	put(at, FW_FragmentStruct2_tvb_tilemap, render->tilemap.va);
	put(at, FW_FragmentStruct2_tvb_heapmeta_addr, render->heapmeta.va + 0x200);
	put(at, FW_FragmentStruct2_unk_e8, (uint64_t)(4 * ((5 * mx * my + 3) / 4)) << 24);
	put(at, FW_FragmentStruct2_tvb_heapmeta_addr2, render->heapmeta.va);
	put(at, FW_FragmentStruct2_unk_f8, 0x280);
	put(at, FW_FragmentStruct2_aux_fb_ptr, render->aux.va);
	put(at, FW_FragmentStruct2_pipeline_base, 0x1100000000);
	put(at, FW_FragmentStruct2_unk_140, 0x8c60);
	put(at, FW_FragmentStruct2_unk_158, 0x1c);

	at = rig_part(cmd, FW_RunFragment_struct_1, FW_S_FragmentStruct1);
	put(at, FW_FragmentStruct1_store_pipeline_bind, 0x12);
	put(at, FW_FragmentStruct1_store_pipeline_addr, 0x4004);
	put(at, FW_FragmentStruct1_tile_blocks_y, my);
	put(at, FW_FragmentStruct1_tile_blocks_x, mx);
	put(at, FW_FragmentStruct1_tile_counts, (y - 1) << 12 | (x - 1));
	put(at, FW_FragmentStruct1_stencil_clear_val1, 0x5a);
	put(at, FW_FragmentStruct1_unk_35, 7);
	put(at, FW_FragmentStruct1_unk_3c, 1);
	rig_registers(cmd, FW_REGISTERS_FRAGMENT, (struct rig_register[]){
		{ FW_REGISTER_FRAGMENT_AUX_FB_SIZE, (uint64_t)height << 32 | width },
		{ 0 },
	});
	put(sub(cmd, FW_RunFragment_struct_3, FW_S_FragmentStruct3, 0), FW_FragmentStruct3_unk_378, 8);
}

static struct rig_ptr scene_memory(struct rig *rig, const struct rig_renderer *renderer,
				   size_t size, uint64_t prot)
{
	struct rig_ptr at = rig_user(rig, size, prot);

	return renderer->at_page_ends ? at_offset(at, -size & AGX_PAGE_MASK) : at;
}

void rig_render_new(struct rig *rig, struct rig_renderer *renderer, struct rig_render *render,
		    unsigned int width, unsigned int height)
{
	uint32_t mtiles = mtile((width + 31) / 32) * mtile((height + 31) / 32);

	memset(render, 0, sizeof(*render));
	render->first = !renderer->vertex.known;
	renderer->vertex.stamp += 0x100;
	renderer->fragment.stamp += 0x100;
	render->vertex.stamp = renderer->vertex.stamp;
	render->fragment.stamp = renderer->fragment.stamp;
	render->scene = rig_alloc(rig, RIG_SHARED, SIZE_OF(FW_S_BufferThing));
	render->tilemap = scene_memory(rig, renderer, 64 * ((5 * mtiles + 3) / 4),
				       AGX_PROT_GPU_SHARED_RW);
	render->tails = scene_memory(rig, renderer, 128 * mtiles, AGX_PROT_GPU_FW_PRIV_RW);
	render->heapmeta = scene_memory(rig, renderer, 0x200, AGX_PROT_GPU_SHARED_RW);
	render->user = scene_memory(rig, renderer, 0x80, AGX_PROT_GPU_SHARED_RW);
	render->aux = scene_memory(rig, renderer, 0x8000, AGX_PROT_GPU_SHARED_RW);
	put(render->scene, FW_BufferThing_unkptr_18, render->user.va);
	put(render->scene, FW_BufferThing_bm_misc_addr, renderer->buffer.misc.va);

	render->vertex.command = rig_alloc(rig, RIG_GPU_RO, SIZE_OF(FW_S_RunVertex));
	render->vertex.sequence = rig_alloc(rig, RIG_PRIVATE, 0x1000);
	render->fragment.command = rig_alloc(rig, RIG_GPU_RO, SIZE_OF(FW_S_RunFragment));
	render->fragment.sequence = rig_alloc(rig, RIG_PRIVATE, 0x1000);
	build_vertex(rig, renderer, render, width, height);
	build_fragment(rig, renderer, render, width, height);
	build_vertex_sequence(rig, renderer, render);
	build_fragment_sequence(rig, renderer, render);
	render->barrier = rig_barrier_new(rig, renderer->vertex.slot, render->vertex.stamp);
	rig_render_init(rig, renderer, render);
	renderer->vertex.sequence++;
	renderer->fragment.sequence++;
}

void rig_render_init(struct rig *rig, struct rig_renderer *renderer, struct rig_render *render)
{
	render->init = rig_alloc(rig, RIG_PRIVATE, SIZE_OF(FW_S_InitBuffer));
	put(render->init, FW_InitBuffer_magic, 6);
	put(render->init, FW_InitBuffer_context_id, RIG_CONTEXT);
	put(render->init, FW_InitBuffer_buffer_mgr_slot, renderer->buffer.slot);
	put(render->init, FW_InitBuffer_unk_10, renderer->buffer.blocks);
	put(render->init, FW_InitBuffer_buffer_mgr_addr, renderer->buffer.info.va);
	put(render->init, FW_InitBuffer_stamp_value, render->vertex.stamp);
}

void rig_render_submit(struct rig *rig, struct rig_renderer *renderer, struct rig_render *render)
{
	uint32_t *count = (uint32_t *)renderer->buffer.counter.host;

	__atomic_fetch_add(count, 1, __ATOMIC_SEQ_CST);
	rig_count(rig, &renderer->fragment);
	rig_count(rig, &renderer->vertex);
	if (render->barrier.va)
		rig_push(rig, &renderer->fragment, render->barrier.va);
	rig_push(rig, &renderer->fragment, render->fragment.command.va);
	if (render->first)
		rig_push(rig, &renderer->vertex, render->init.va);
	rig_push(rig, &renderer->vertex, render->vertex.command.va);
	rig_announce(rig, &renderer->fragment, 2);
	rig_announce(rig, &renderer->vertex, 2);
}

bool rig_render_wait(struct rig *rig, struct rig_renderer *renderer, struct rig_render *render)
{
	return rig_wait_stamp(rig, renderer->vertex.slot, render->vertex.stamp) &&
	       rig_wait_stamp(rig, renderer->fragment.slot, render->fragment.stamp);
}
