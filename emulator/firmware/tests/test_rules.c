// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * Every rule of the firmware, broken once. Where the real firmware could not
 * go on, the virtual one must have ended; otherwise it still works.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "rig.h"

enum outcome { GOES_ON, CRASHES };

struct provocation {
	enum vagx_rule rule;
	const char *name;
	void (*provoke)(struct rig *rig);
	enum outcome outcome;
};

/* Parts that most of them share */

static void flip(struct rig_ptr at, enum fw_field_id field)
{
	put(at, field, get(at, field) ^ 1);
}

static void clear_pte(struct rig *rig, uint64_t va)
{
	*rig_pte(rig, rig->root, va) = 0;
}

static void make_cached(struct rig *rig, uint64_t va)
{
	*rig_pte(rig, rig->root, va) &= ~AGX_PTE_ATTR_MASK;
}

/* Boots, and runs one compute command after @change had a look at it */
static void run_changed(struct rig *rig, void (*change)(struct rig *rig, struct rig_queue *queue,
							struct rig_command *command))
{
	struct rig_command command;
	struct rig_queue queue;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 6);
	rig_compute_new(rig, &queue, &command);
	change(rig, &queue, &command);
	rig_submit(rig, &queue, command.command.va);
}

static struct rig_ptr info_of(struct rig_command *command)
{
	return sub(command->command, FW_RunCompute_compute_info, FW_S_ComputeInfo, 0);
}

static struct rig_ptr meta_of(struct rig_command *command)
{
	return sub(command->command, FW_RunCompute_job_meta, FW_S_JobMeta, 0);
}

static struct rig_ptr finalize_of(struct rig_command *command)
{
	return (struct rig_ptr){ .host = command->sequence.host + command->finalize };
}

#define CHANGED(name)                                                       \
	static void change_##name(struct rig *rig, struct rig_queue *queue, \
				  struct rig_command *command);             \
	static void provoke_##name(struct rig *rig)                         \
	{                                                                   \
		run_changed(rig, change_##name);                            \
	}                                                                   \
	static void change_##name(struct rig *rig, struct rig_queue *queue, \
				  struct rig_command *command)

/* Life of the coprocessor */

static void provoke_unmapped(struct rig *rig)
{
	vagx_fw_start(rig->fw);
	vagx_fw_message(rig->fw, 0x20, 0x81ULL << 48 | 0xfa123456780);
}

static void provoke_message(struct rig *rig)
{
	rig_boot(rig);
	vagx_fw_message(rig->fw, 0x20, 0x99ULL << 48);
}

static void provoke_not_started(struct rig *rig)
{
	rig_doorbell(rig, 0x10);
}

static void provoke_init_late(struct rig *rig)
{
	vagx_fw_start(rig->fw);
	rig_doorbell(rig, 0x11);
}

static void provoke_init_twice(struct rig *rig)
{
	rig_boot(rig);
	rig_init(rig);
}

static bool send_blocked(struct rig *rig, const void *arg)
{
	bool blocked;

	pthread_mutex_lock(&rig->lock);
	blocked = rig->blocked;
	pthread_mutex_unlock(&rig->lock);
	return blocked;
}

static void block_send(struct rig *rig, bool block)
{
	pthread_mutex_lock(&rig->lock);
	rig->block_send = block;
	pthread_cond_broadcast(&rig->changed);
	pthread_mutex_unlock(&rig->lock);
}

static void provoke_flood(struct rig *rig)
{
	block_send(rig, true);
	vagx_fw_start(rig->fw);
	rig_init(rig);
	assert_true(rig_wait(rig, send_blocked, NULL));
	for (unsigned int i = 0; i < 5000; i++)
		rig_doorbell(rig, 0x10);
	block_send(rig, false);
}

/* Handoff page and cache */

static uint8_t *handoff(struct rig *rig)
{
	return rig->ram + (rig->handoff - RIG_RAM_BASE);
}

static void provoke_handoff_magic(struct rig *rig)
{
	memset(handoff(rig), 0, 8);
	rig_boot(rig);
}

CHANGED(handoff_lock)
{
	handoff(rig)[AGX_HANDOFF_LOCK_AP] = 1;
}

static void provoke_flush_state(struct rig *rig)
{
	rig_boot(rig);
	rig_flush(rig, 0, 0);
}

static void provoke_flush_range(struct rig *rig)
{
	rig_boot(rig);
	rig_flush(rig, 0x4000, 0x4000);
}

static void provoke_flush_mapping(struct rig *rig)
{
	rig_boot(rig);
	rig_flush(rig, rig->hwdata_b.va, AGX_PAGE_SIZE);
}

/* The page is mapped uncached, but nobody has told the TLBs */
static void provoke_flush_cached_translation(struct rig *rig)
{
	uint64_t va = rig->hwdata_b.va, *pte;

	vagx_uat_cache_set(rig->uat, true);
	rig_boot(rig);
	pte = rig_pte(rig, rig->root, va);
	assert_int_equal(vagx_uat_pte(rig->uat, 0, va), *pte);
	*pte |= AGX_PTE_ATTR_SHARED << AGX_PTE_ATTR_SHIFT;
	rig_flush(rig, va, AGX_PAGE_SIZE);
}

CHANGED(cached_remap)
{
	struct rig_ptr page = rig_page(rig);
	uint64_t va = rig->globals.va + fw_fields[FW_Globals_pending_stamps].offset[RIG_ABI];
	uint64_t *pte = rig_pte(rig, rig->root, va);

	*pte = (*pte & ~AGX_TTBR_ADDR_MASK) | page.va;
}

static void provoke_cached_unmap(struct rig *rig)
{
	rig_boot(rig);
	clear_pte(rig, rig->hwdata_b.va);
	rig_flush(rig, rig->hwdata_a.va, AGX_PAGE_SIZE);
}

/* The command's page goes while its timestamps may be on their way to memory */
static void provoke_cached_late(struct rig *rig)
{
	struct rig_command command;
	struct rig_queue queue;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 6);
	for (unsigned int i = 0; i < 8; i++) {
		rig_compute_new(rig, &queue, &command);
		rig_submit(rig, &queue, command.command.va);
		assert_true(rig_wait_stamp(rig, 6, command.stamp));
		clear_pte(rig, command.command.va);
	}
}

static void provoke_cached_reuse(struct rig *rig)
{
	struct rig_command command;
	struct rig_queue queue;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 6);
	rig_compute_new(rig, &queue, &command);
	rig_submit(rig, &queue, command.command.va);
	assert_true(rig_wait_stamp(rig, 6, 0x100));
	put(meta_of(&command), FW_JobMeta_stamp_value, 0x200);
	put(finalize_of(&command), FW_FinalizeCompute_stamp_value, 0x200);
	rig_submit(rig, &queue, command.command.va);
}

/* What the firmware has read of a command is written, and read again */
static void provoke_cached_stale(struct rig *rig)
{
	struct rig_command command;
	struct rig_queue queue;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 6);
	rig_compute_new(rig, &queue, &command);
	rig_submit(rig, &queue, command.command.va);
	assert_true(rig_wait_stamp(rig, 6, 0x100));
	assert_int_equal(vagx_report_count(rig->report, VAGX_RULE_FW_CACHED_STALE), 0);
	put(meta_of(&command), FW_JobMeta_stamp_value, 0x200);
	rig_submit(rig, &queue, command.command.va);
}

/* InitData */

static void provoke_init_version(struct rig *rig)
{
	flip(rig->init, FW_InitData_ver_info);
	rig_boot(rig);
}

static void provoke_init_host_mapped(struct rig *rig)
{
	put(rig->init, FW_InitData_host_mapped_fw_allocations, 0);
	rig_boot(rig);
}

static void provoke_init_uat_levels(struct rig *rig)
{
	flip(sub(rig->init, FW_InitData_uat_level_info, FW_S_UatLevelInfo, 1),
	     FW_UatLevelInfo_num_entries);
	rig_boot(rig);
}

static void provoke_init_null(struct rig *rig)
{
	put(rig->runtime, FW_RuntimePointers_unkptr_1c0, 0);
	rig_boot(rig);
}

/* Only the first of several is told */
static void provoke_init_nulls(struct rig *rig)
{
	put(rig->runtime, FW_RuntimePointers_stats_cp_addr, 0);
	put(rig->runtime, FW_RuntimePointers_hwdata_b_addr, 0);
	put(rig->runtime, FW_RuntimePointers_unkptr_1c0, 0);
	rig_boot(rig);
	assert_int_equal(rig_findings(rig), 1);
}

static void provoke_init_unmapped(struct rig *rig)
{
	clear_pte(rig, rig->hwdata_a.va);
	clear_pte(rig, rig->log_payload.va);
	put(rig->runtime, FW_RuntimePointers_unkptr_1c8, 0);
	rig_boot(rig);
	assert_int_equal(rig_findings(rig), 1);
}

static void provoke_init_no_runtime(struct rig *rig)
{
	put(rig->init, FW_InitData_regionB_addr, 0);
	rig_boot(rig);
}

static void provoke_init_alignment(struct rig *rig)
{
	put(rig->runtime, FW_RuntimePointers_unkptr_1c0,
	    get(rig->runtime, FW_RuntimePointers_unkptr_1c0) + 8);
	rig_boot(rig);
}

/* Where nothing is cached, m1n1 is less careful */
static void provoke_init_alignment_of_data(struct rig *rig)
{
	uint64_t va = get(rig->runtime, FW_RuntimePointers_fault_info_addr);

	put(rig->runtime, FW_RuntimePointers_fault_info_addr, va + 8);
	put(rig->runtime, FW_RuntimePointers_unkptr_198,
	    get(rig->runtime, FW_RuntimePointers_unkptr_198) + 8);
	rig_boot(rig);
	assert_int_equal(vagx_report_count(rig->report, VAGX_RULE_FW_INIT_ALIGNMENT), 1);
}

static void provoke_init_scratch(struct rig *rig)
{
	put(rig->runtime, FW_RuntimePointers_unk_6b38, 0);
	rig_boot(rig);
}

static void provoke_init_stamp_ids(struct rig *rig)
{
	put(rig->stats3d, FW_Stats3d_unk_118, 0);
	rig_boot(rig);
}

static void provoke_init_own_count(struct rig *rig)
{
	put(rig->status, FW_FwStatus_halt_count, 1);
	rig_boot(rig);
}

static void provoke_init_own_memory(struct rig *rig)
{
	rig->own[RIG_OWN - 1].host[0x7ff] = 1;
	rig_boot(rig);
}

static void provoke_init_io_mapping(struct rig *rig)
{
	struct rig_ptr io = sub(rig->hwdata_b, FW_HwDataB_io_mappings, FW_S_IoMapping, 13);

	clear_pte(rig, get(io, FW_IoMapping_virt_addr));
	rig_boot(rig);
}

static void provoke_init_io_of_no_soc(struct rig *rig)
{
	struct rig_ptr io = sub(rig->hwdata_b, FW_HwDataB_io_mappings, FW_S_IoMapping, 18);

	put(io, FW_IoMapping_phys_addr, 0x28e3d0000);
	rig_boot(rig);
}

static void provoke_init_io_element(struct rig *rig)
{
	struct rig_ptr io = sub(rig->hwdata_b, FW_HwDataB_io_mappings, FW_S_IoMapping, 11);

	put(io, FW_IoMapping_range_size, 0x4000);
	rig_boot(rig);
}

static void provoke_init_io_hole(struct rig *rig)
{
	struct rig_ptr io = sub(rig->hwdata_b, FW_HwDataB_io_mappings, FW_S_IoMapping, 11);

	clear_pte(rig, get(io, FW_IoMapping_virt_addr) + 5 * AGX_PAGE_SIZE);
	rig_boot(rig);
}

static void provoke_init_sram(struct rig *rig)
{
	put(rig->hwdata_b, FW_HwDataB_sgx_sram_ptr, AGX_VA_MMIO_START);
	rig_boot(rig);
}

static void provoke_init_buffer_manager(struct rig *rig)
{
	put(rig->runtime, FW_RuntimePointers_buffer_mgr_ctl_gpu_addr,
	    AGX_VA_BUFMGR_LOW + AGX_PAGE_SIZE);
	rig_boot(rig);
}

static void provoke_init_shared(struct rig *rig)
{
	make_cached(rig, rig->channel[13].state.va);
	rig_boot(rig);
}

CHANGED(stamp_shared)
{
	make_cached(rig, rig->stamps.va);
}

static void provoke_init_fault_control(struct rig *rig)
{
	put(rig->globals, FW_Globals_fault_control, 0x1234);
	rig_boot(rig);
}

/* Rings and doorbells */

static void provoke_doorbell_channel(struct rig *rig)
{
	rig_boot(rig);
	rig_doorbell(rig, 3);
}

static void provoke_doorbell_empty(struct rig *rig)
{
	rig_boot(rig);
	rig_doorbell(rig, 2);
}

static void provoke_ring_pointer(struct rig *rig)
{
	rig_boot(rig);
	put(rig->channel[8].state, FW_RingState_write_ptr, 0x100);
	rig_doorbell(rig, 2 | 2 << 2);
}

static void provoke_event_ring_pointer(struct rig *rig)
{
	rig_boot(rig);
	put(rig->channel[14].state, FW_RingState_read_ptr, 0);
	memcpy(rig->channel[14].state.host + 0x30, &(uint32_t){ 0xffffffff }, 4);
	rig_initialize(rig);
}

static void provoke_ring_owner(struct rig *rig)
{
	rig_boot(rig);
	put(rig->channel[8].state, FW_RingState_read_ptr, 5);
	rig_doorbell(rig, 2 | 2 << 2);
}

/* Device control */

static void provoke_dc_first(struct rig *rig)
{
	vagx_fw_start(rig->fw);
	rig_init(rig);
	rig_control(rig, 0x23);
	rig_control_send(rig);
}

static void provoke_dc_twice(struct rig *rig)
{
	rig_boot(rig);
	rig_initialize(rig);
}

static void provoke_dc_unknown(struct rig *rig)
{
	rig_boot(rig);
	rig_control(rig, 0x77);
	rig_control_send(rig);
}

static void provoke_dc_flush(struct rig *rig)
{
	rig_boot(rig);
	rig_control(rig, 0x18);
	rig_control_send(rig);
}

static void provoke_dc_context(struct rig *rig)
{
	struct rig_queue queue;
	struct rig_ptr msg;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 6);
	msg = rig_control(rig, 0x18);
	put(msg, FW_DcDestroyContext_context_addr, queue.context.va);
	rig_control_send(rig);
}

static void provoke_dc_busy(struct rig *rig)
{
	struct rig_queue queue;
	struct rig_ptr msg;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 6);
	rig_push(rig, &queue, rig_barrier_new(rig, 7, 0x100).va);
	rig_announce(rig, &queue, 0);
	msg = rig_control(rig, 0x18);
	put(msg, FW_DcDestroyContext_ctx_0, 0xff);
	put(msg, FW_DcDestroyContext_ctx_1, 0xff);
	put(msg, FW_DcDestroyContext_context_addr, queue.context.va);
	usleep(20000);
	rig_control_send(rig);
}

static void recover(struct rig *rig, struct rig_queue *queue, uint32_t value)
{
	struct rig_ptr msg = rig_control(rig, 0x0f);

	put(msg, FW_DcRecoverChannel_pipe_type, queue->pipe);
	put(msg, FW_DcRecoverChannel_work_queue, queue->info.va);
	put(msg, FW_DcRecoverChannel_event_value, value);
	rig_control_send(rig);
}

static void provoke_dc_recover(struct rig *rig)
{
	struct rig_queue queue;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 6);
	recover(rig, &queue, 0x100);
}

static void provoke_dc_write32(struct rig *rig)
{
	struct rig_ptr msg;

	rig_boot(rig);
	msg = rig_control(rig, 0x19);
	put(msg, FW_DcWrite32_addr, rig->stamps.va + 2);
	rig_control_send(rig);
}

/* The driver's side reads nothing, so the log overflows */
static void provoke_ring_unread(struct rig *rig)
{
	struct vagx_fw_injection what = { .kind = VAGX_FW_INJECT_LOG, .text = "x" };

	rig_boot(rig);
	for (unsigned int i = 0; i < 256; i++)
		assert_int_equal(vagx_fw_inject(rig->fw, &what), 0);
}

/* Pipe messages and queues */

static void provoke_run_pipe(struct rig *rig)
{
	struct rig_queue queue;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 1, 6);
	rig_push(rig, &queue, rig_barrier_new(rig, 7, 0).va);
	rig_announce(rig, &queue, 2);
	queue.pipe = 2;
	rig_push(rig, &queue, rig_barrier_new(rig, 7, 0).va);
	rig_announce(rig, &queue, 2);
}

static void provoke_run_new(struct rig *rig)
{
	struct rig_queue queue;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 6);
	queue.known = true;
	rig_push(rig, &queue, rig_barrier_new(rig, 7, 0).va);
	rig_announce(rig, &queue, 2);
}

static void provoke_run_event_slot(struct rig *rig)
{
	struct rig_queue queue;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 6);
	queue.slot = 128;
	rig_push(rig, &queue, rig_barrier_new(rig, 7, 0).va);
	rig_announce(rig, &queue, 2);
}

static void provoke_run_shared_slot(struct rig *rig)
{
	struct rig_queue queue[2];

	rig_boot(rig);
	for (unsigned int i = 0; i < 2; i++) {
		rig_queue_new(rig, &queue[i], 2, 6);
		rig_push(rig, &queue[i], rig_barrier_new(rig, 7, 0x100).va);
		rig_announce(rig, &queue[i], 2);
	}
}

static void provoke_run_wptr(struct rig *rig)
{
	struct rig_queue queue;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 6);
	rig_push(rig, &queue, rig_barrier_new(rig, 7, 0).va);
	put(queue.pointers, FW_QueuePointers_cpu_wptr, 0);
	rig_announce(rig, &queue, 2);
}

static void provoke_run_wild_wptr(struct rig *rig)
{
	struct rig_queue queue;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 6);
	queue.wptr = 0xfffffff0;
	put(queue.pointers, FW_QueuePointers_cpu_wptr, 0xfffffff0);
	rig_announce(rig, &queue, 2);
}

static void provoke_run_pending(struct rig *rig)
{
	struct rig_queue queue;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 6);
	rig_push(rig, &queue, rig_barrier_new(rig, 7, 0).va);
	rig_announce(rig, &queue, 2);
}

CHANGED(queue_info)
{
	put(queue->info, FW_QueueInfo_unk_54, 0);
}

CHANGED(queue_size)
{
	put(queue->pointers, FW_QueuePointers_rb_size, 0x7fffffff);
}

CHANGED(queue_ring)
{
	put(queue->info, FW_QueueInfo_rb_addr, 0xffffffa5ff000000);
}

CHANGED(queue_no_job_list)
{
	put(queue->info, FW_QueueInfo_job_list_addr, 0);
}

CHANGED(queue_job_list)
{
	put(queue->list, FW_JobList_last_head, queue->list.va + 8);
}

CHANGED(queue_priority)
{
	put(queue->info, FW_QueueInfo_unk_38, 0x1234);
}

CHANGED(queue_context)
{
	put(queue->context, FW_GpuContextData_unk_1e, 0);
}

/* Commands */

CHANGED(command)
{
	put(command->command, FW_RunCompute_magic, 0x55);
}

CHANGED(not_yet)
{
	put(command->command, FW_RunCompute_magic, 2);
}

/* What the firmware reads, what it is never seen to read, and what InitData leads to */
CHANGED(poison_read)
{
	memset(meta_of(command).host, 0xaa, fw_structs[FW_S_JobMeta].size[RIG_ABI]);
}

CHANGED(poison_object)
{
	memset(sub(command->command, FW_RunCompute_unk_1c4, FW_S_JobMeta, 0).host, 0x6b, 0x20);
}

CHANGED(poison_sequence)
{
	memset(sub(finalize_of(command), FW_FinalizeCompute_unk_38, FW_S_JobMeta, 0).host, 0xfe, 24);
}

static void provoke_poison_init(struct rig *rig)
{
	struct rig_ptr ring = rig_alloc(rig, RIG_PRIVATE, 0x300);

	memset(ring.host + 0x200, 0x5a, 0x100);
	put(rig->runtime, FW_RuntimePointers_unkptr_1c0, ring.va);
	rig_boot(rig);
}

CHANGED(command_address)
{
	command->command.va = 0xffffffa5deadbee0;
}

CHANGED(command_context)
{
	put(command->command, FW_RunCompute_context_id, 0);
}

CHANGED(command_unbound)
{
	put(command->command, FW_RunCompute_context_id, RIG_CONTEXT + 1);
}

CHANGED(command_stamp)
{
	put(meta_of(command), FW_JobMeta_stamp_value, 0x123);
}

CHANGED(command_sequence)
{
	flip(meta_of(command), FW_JobMeta_queue_cmd_count);
}

CHANGED(command_stamp_far)
{
	put(meta_of(command), FW_JobMeta_stamp_value, 127 * 0x100);
	put(finalize_of(command), FW_FinalizeCompute_stamp_value, 127 * 0x100);
}

/* One more than may be outstanding; the window of what runs never sees it */
static void provoke_command_stamps_many(struct rig *rig)
{
	struct rig_command command[127];
	struct rig_queue queue;

	rig_boot(rig);
	rig_hang(rig, true);
	rig_queue_new(rig, &queue, 2, 6);
	for (unsigned int i = 0; i < 127; i++) {
		assert_int_equal(rig_findings(rig), 0);
		rig_compute_new(rig, &queue, &command[i]);
		rig_count(rig, &queue);
		rig_push(rig, &queue, command[i].command.va);
	}
	rig_announce(rig, &queue, 2);
	assert_true(rig_wait_rule(rig, VAGX_RULE_FW_COMMAND_STAMP));
	rig_hang(rig, false);
}

CHANGED(command_preempt)
{
	put(info_of(command), FW_ComputeInfo_iogpu_deflake_1, 0x1100004000);
}

/* Both are taken before the first is over, so what is in memory says nothing */
static void provoke_command_stamp_twice(struct rig *rig)
{
	struct rig_command command[2];
	struct rig_queue queue;

	rig_boot(rig);
	rig_hang(rig, true);
	rig_queue_new(rig, &queue, 2, 6);
	for (unsigned int i = 0; i < 2; i++) {
		rig_compute_new(rig, &queue, &command[i]);
		queue.stamp = 0;
		rig_count(rig, &queue);
		rig_push(rig, &queue, command[i].command.va);
	}
	rig_announce(rig, &queue, 2);
	assert_true(rig_wait_rule(rig, VAGX_RULE_FW_COMMAND_STAMP));
	rig_hang(rig, false);
}

CHANGED(command_stamp_slot)
{
	put(meta_of(command), FW_JobMeta_stamp_slot, 0x7fffffff);
}

CHANGED(command_notifier)
{
	put(queue->notifier, FW_EventControl_unk_10, 0);
}

CHANGED(command_threshold)
{
	*(uint32_t *)queue->threshold.host = UINT32_MAX;
}

CHANGED(command_info)
{
	put(info_of(command), FW_ComputeInfo_unk_38, 0);
}

CHANGED(barrier)
{
	memset(command->command.host, 0, 0x20);
	put(command->command, FW_Barrier_magic, 4);
	put(command->command, FW_Barrier_event, 128);
}

/* Microsequences */

CHANGED(mseq_operation)
{
	command->sequence.host[command->finalize] = 0x3f;
}

CHANGED(mseq_size)
{
	put(command->command, FW_RunCompute_microsequence_size, 0xfffffffc);
}

CHANGED(mseq_order)
{
	command->sequence.host[0] = 0x2a;
}

CHANGED(mseq_no_end)
{
	put(command->command, FW_RunCompute_microsequence_size, command->end);
}

CHANGED(mseq_pointer)
{
	put(command->sequence, FW_StartCompute_cmdqueue_ptr, queue->info.va + 0x80);
}

CHANGED(mseq_stats)
{
	put(command->sequence, FW_StartCompute_stats_ptr, queue->info.va);
}

CHANGED(mseq_event_control)
{
	put(command->sequence, FW_StartCompute_event_ctrl_buf_addr, queue->notifier.va);
}

CHANGED(mseq_final_stats)
{
	put(finalize_of(command), FW_FinalizeCompute_unkptr_4, 0);
}

CHANGED(mseq_final_flag)
{
	put(finalize_of(command), FW_FinalizeCompute_unkptr_71, command->command.va);
}

/* The first of the two follows the start */
static struct rig_ptr timestamp_of(struct rig_command *command)
{
	uint32_t offset = fw_structs[FW_S_StartCompute].size[RIG_ABI];

	return (struct rig_ptr){ .host = command->sequence.host + offset };
}

CHANGED(mseq_time_words)
{
	put(timestamp_of(command), FW_Timestamp_unk_ts_addr, command->command.va);
}

static void ask_user_time(struct rig_command *command, uint64_t va)
{
	struct rig_ptr list = sub(command->command, FW_RunCompute_user_ts_pointers,
				  FW_S_TimestampPointers, 0);

	put(list, FW_TimestampPointers_start_addr, va);
}

CHANGED(mseq_time_place)
{
	ask_user_time(command, rig_alloc(rig, RIG_TIMESTAMP, 16).va + 4);
}

CHANGED(mseq_user_time_cached)
{
	uint64_t va = rig_alloc(rig, RIG_TIMESTAMP, 16).va;

	make_cached(rig, va);
	ask_user_time(command, va);
}

CHANGED(mseq_user_time_unbound)
{
	uint64_t va = rig_alloc(rig, RIG_TIMESTAMP, 16).va;

	clear_pte(rig, va);
	ask_user_time(command, va);
}

CHANGED(mseq_time_nowhere)
{
	struct rig_ptr list = sub(command->command, FW_RunCompute_ts_pointers,
				  FW_S_TimestampPointers, 0);

	put(list, FW_TimestampPointers_end_addr, 0x1234567890);
}

CHANGED(mseq_wait)
{
	uint32_t wait = command->finalize - fw_structs[FW_S_Timestamp].size[RIG_ABI] - 4;

	command->sequence.host[wait + 1] = 1;
}

CHANGED(mseq_restart)
{
	put(finalize_of(command), FW_FinalizeCompute_restart_branch_offset, -4);
}

CHANGED(mseq_attachment)
{
	put(command->sequence, FW_StartCompute_num_attachments, 1);
}

CHANGED(mseq_attachment_count)
{
	put(command->sequence, FW_StartCompute_num_attachments, 0xffffffff);
}

CHANGED(mseq_field)
{
	flip(finalize_of(command), FW_FinalizeCompute_uuid);
}

CHANGED(mseq_sequence)
{
	flip(command->sequence, FW_StartCompute_counter2);
}

CHANGED(mseq_generation)
{
	flip(command->sequence, FW_StartCompute_counter1);
}

/* Recovery */

static void provoke_resume(struct rig *rig)
{
	rig_boot(rig);
	rig_resume(rig);
	rig_doorbell(rig, 0x10);
}

#define PROVOKE(rule, name, outcome) { VAGX_RULE_##rule, #name, provoke_##name, outcome }

static const struct provocation provocations[] = {
	PROVOKE(FW_UNMAPPED, unmapped, CRASHES),
	PROVOKE(FW_UNMAPPED, command_address, CRASHES),
	PROVOKE(FW_POISON, poison_read, GOES_ON),
	PROVOKE(FW_POISON, poison_object, GOES_ON),
	PROVOKE(FW_POISON, poison_sequence, GOES_ON),
	PROVOKE(FW_POISON, poison_init, GOES_ON),
	PROVOKE(FW_MESSAGE, message, GOES_ON),
	PROVOKE(FW_NOT_STARTED, not_started, GOES_ON),
	PROVOKE(FW_INIT_FIRST, init_late, GOES_ON),
	PROVOKE(FW_INIT_FIRST, init_twice, GOES_ON),
	PROVOKE(FW_FLOOD, flood, CRASHES),
	PROVOKE(FW_HANDOFF_MAGIC, handoff_magic, GOES_ON),
	PROVOKE(FW_HANDOFF_LOCK, handoff_lock, CRASHES),
	PROVOKE(FW_FLUSH_STATE, flush_state, GOES_ON),
	PROVOKE(FW_FLUSH_STATE, flush_range, GOES_ON),
	PROVOKE(FW_FLUSH_MAPPING, flush_mapping, GOES_ON),
	PROVOKE(FW_FLUSH_MAPPING, flush_cached_translation, GOES_ON),
	PROVOKE(FW_CACHED_REMAP, cached_remap, GOES_ON),
	PROVOKE(FW_CACHED_UNMAP, cached_unmap, GOES_ON),
	PROVOKE(FW_CACHED_LATE, cached_late, GOES_ON),
	PROVOKE(FW_CACHED_REUSE, cached_reuse, GOES_ON),
	PROVOKE(FW_CACHED_STALE, cached_stale, GOES_ON),
	PROVOKE(FW_INIT_VERSION, init_version, GOES_ON),
	PROVOKE(FW_INIT_HOST_MAPPED, init_host_mapped, GOES_ON),
	PROVOKE(FW_INIT_UAT_LEVELS, init_uat_levels, GOES_ON),
	PROVOKE(FW_INIT_NULL, init_null, CRASHES),
	PROVOKE(FW_INIT_NULL, init_nulls, CRASHES),
	PROVOKE(FW_UNMAPPED, init_unmapped, CRASHES),
	PROVOKE(FW_INIT_NULL, init_no_runtime, CRASHES),
	PROVOKE(FW_INIT_ALIGNMENT, init_alignment, GOES_ON),
	PROVOKE(FW_INIT_ALIGNMENT, init_alignment_of_data, GOES_ON),
	PROVOKE(FW_INIT_SCRATCH, init_scratch, GOES_ON),
	PROVOKE(FW_INIT_STAMP_IDS, init_stamp_ids, GOES_ON),
	PROVOKE(FW_INIT_OWN, init_own_count, GOES_ON),
	PROVOKE(FW_INIT_OWN, init_own_memory, GOES_ON),
	PROVOKE(FW_INIT_IO_MAPPING, init_io_mapping, GOES_ON),
	PROVOKE(FW_INIT_IO_MAPPING, init_io_of_no_soc, GOES_ON),
	PROVOKE(FW_INIT_IO_MAPPING, init_io_element, GOES_ON),
	PROVOKE(FW_INIT_IO_MAPPING, init_io_hole, GOES_ON),
	PROVOKE(FW_INIT_SRAM, init_sram, GOES_ON),
	PROVOKE(FW_INIT_BUFFER_MANAGER, init_buffer_manager, GOES_ON),
	PROVOKE(FW_INIT_SHARED, init_shared, GOES_ON),
	PROVOKE(FW_INIT_SHARED, stamp_shared, GOES_ON),
	PROVOKE(FW_INIT_FAULT_CONTROL, init_fault_control, GOES_ON),
	PROVOKE(FW_DOORBELL_CHANNEL, doorbell_channel, GOES_ON),
	PROVOKE(FW_DOORBELL_EMPTY, doorbell_empty, GOES_ON),
	PROVOKE(FW_RING_POINTER, ring_pointer, CRASHES),
	PROVOKE(FW_RING_POINTER, event_ring_pointer, CRASHES),
	PROVOKE(FW_RING_UNREAD, ring_unread, GOES_ON),
	PROVOKE(FW_DC_WRITE32, dc_write32, GOES_ON),
	PROVOKE(FW_RING_OWNER, ring_owner, GOES_ON),
	PROVOKE(FW_DC_FIRST, dc_first, GOES_ON),
	PROVOKE(FW_DC_FIRST, dc_twice, GOES_ON),
	PROVOKE(FW_DC_UNKNOWN, dc_unknown, GOES_ON),
	PROVOKE(FW_DC_CONTEXT, dc_flush, GOES_ON),
	PROVOKE(FW_DC_CONTEXT, dc_context, GOES_ON),
	PROVOKE(FW_DC_CONTEXT, dc_busy, GOES_ON),
	PROVOKE(FW_DC_RECOVER, dc_recover, GOES_ON),
	PROVOKE(FW_RUN_PIPE, run_pipe, GOES_ON),
	PROVOKE(FW_RUN_NEW, run_new, GOES_ON),
	PROVOKE(FW_RUN_EVENT_SLOT, run_event_slot, GOES_ON),
	PROVOKE(FW_RUN_EVENT_SLOT, run_shared_slot, GOES_ON),
	PROVOKE(FW_RUN_WPTR, run_wptr, GOES_ON),
	PROVOKE(FW_RUN_WPTR, run_wild_wptr, CRASHES),
	PROVOKE(FW_RUN_PENDING, run_pending, GOES_ON),
	PROVOKE(FW_QUEUE_INFO, queue_info, GOES_ON),
	PROVOKE(FW_QUEUE_INFO, queue_size, CRASHES),
	PROVOKE(FW_QUEUE_INFO, queue_ring, CRASHES),
	PROVOKE(FW_QUEUE_INFO, queue_no_job_list, CRASHES),
	PROVOKE(FW_QUEUE_JOBLIST, queue_job_list, GOES_ON),
	PROVOKE(FW_QUEUE_PRIORITY, queue_priority, GOES_ON),
	PROVOKE(FW_QUEUE_CONTEXT, queue_context, GOES_ON),
	PROVOKE(FW_COMMAND, command, GOES_ON),
	PROVOKE(FW_NOT_YET, not_yet, GOES_ON),
	PROVOKE(FW_COMMAND_CONTEXT, command_context, GOES_ON),
	PROVOKE(FW_COMMAND_CONTEXT, command_unbound, GOES_ON),
	PROVOKE(FW_COMMAND_STAMP, command_stamp, GOES_ON),
	PROVOKE(FW_COMMAND_STAMP, command_stamp_slot, GOES_ON),
	PROVOKE(FW_COMMAND_STAMP, command_stamp_twice, GOES_ON),
	PROVOKE(FW_COMMAND_STAMP, command_stamp_far, GOES_ON),
	PROVOKE(FW_COMMAND_STAMP, command_stamps_many, GOES_ON),
	PROVOKE(FW_COMMAND_PREEMPT, command_preempt, GOES_ON),
	PROVOKE(FW_COMMAND_SEQUENCE, command_sequence, GOES_ON),
	PROVOKE(FW_COMMAND_SEQUENCE, mseq_sequence, GOES_ON),
	PROVOKE(FW_COMMAND_NOTIFIER, command_notifier, GOES_ON),
	PROVOKE(FW_COMMAND_NOTIFIER, command_threshold, GOES_ON),
	PROVOKE(FW_COMMAND_INFO, command_info, GOES_ON),
	PROVOKE(FW_BARRIER, barrier, GOES_ON),
	PROVOKE(FW_MSEQ_OPERATION, mseq_operation, GOES_ON),
	PROVOKE(FW_MSEQ_OPERATION, mseq_size, GOES_ON),
	PROVOKE(FW_MSEQ_OPERATION, mseq_order, GOES_ON),
	PROVOKE(FW_MSEQ_OPERATION, mseq_no_end, GOES_ON),
	PROVOKE(FW_MSEQ_POINTER, mseq_pointer, GOES_ON),
	PROVOKE(FW_MSEQ_POINTER, mseq_stats, GOES_ON),
	PROVOKE(FW_MSEQ_POINTER, mseq_event_control, GOES_ON),
	PROVOKE(FW_MSEQ_POINTER, mseq_final_stats, GOES_ON),
	PROVOKE(FW_MSEQ_POINTER, mseq_final_flag, GOES_ON),
	PROVOKE(FW_MSEQ_POINTER, mseq_time_words, GOES_ON),
	PROVOKE(FW_MSEQ_TIMESTAMP, mseq_time_place, GOES_ON),
	PROVOKE(FW_UNMAPPED, mseq_time_nowhere, CRASHES),
	PROVOKE(FW_MSEQ_USER_TIME, mseq_user_time_cached, GOES_ON),
	PROVOKE(FW_UNMAPPED, mseq_user_time_unbound, CRASHES),
	PROVOKE(FW_MSEQ_WAIT, mseq_wait, GOES_ON),
	PROVOKE(FW_MSEQ_RESTART, mseq_restart, GOES_ON),
	PROVOKE(FW_MSEQ_ATTACHMENT, mseq_attachment, GOES_ON),
	PROVOKE(FW_MSEQ_ATTACHMENT, mseq_attachment_count, GOES_ON),
	PROVOKE(FW_MSEQ_FIELD, mseq_field, GOES_ON),
	PROVOKE(FW_MSEQ_FIELD, mseq_generation, GOES_ON),
	PROVOKE(FW_RESUME, resume, GOES_ON),
};

#define PROVOCATIONS (sizeof(provocations) / sizeof(provocations[0]))

static void test_provocation(void **state)
{
	const struct provocation *provocation = *state;
	struct rig *rig = rig_new();

	provocation->provoke(rig);
	assert_true(rig_wait_rule(rig, provocation->rule));
	if (provocation->outcome == CRASHES)
		assert_true(rig_wait_crash(rig));
	else
		assert_false(vagx_fw_is_crashed(rig->fw));
	rig_free(rig);
}

/* test_render.c provokes those */
static bool is_about_rendering(const char *id)
{
	static const char *const starts[] = { "FW_BUFFER_", "FW_GROW_", "FW_REGISTER_", "FW_RENDER_",
					      "FW_SCENE" };

	for (unsigned int i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		if (!strncmp(id, starts[i], strlen(starts[i])))
			return true;
	}
	return false;
}

/* A warning or violation that nothing here provokes is one that nobody has seen work */
static void test_all_provoked(void **state)
{
	for (unsigned int rule = 0; rule < VAGX_RULE_COUNT; rule++) {
		const char *id = vagx_rule_info(rule)->id;
		bool found = false;

		if (strncmp(id, "FW_", 3) || is_about_rendering(id))
			continue;
		for (unsigned int i = 0; i < PROVOCATIONS && !found; i++)
			found = provocations[i].rule == rule;
		if (!found)
			fail_msg("%s is not provoked", id);
	}
}

/* A malformed command stalls its own queue only, until the driver recovers it */
static void test_channel_error(void **state)
{
	struct rig *rig = rig_new();
	struct rig_queue queue, other;
	struct rig_command bad, good, elsewhere;
	struct rig_ptr event;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 6);
	rig_queue_new(rig, &other, 2, 7);
	rig_compute_new(rig, &queue, &bad);
	rig_compute_new(rig, &queue, &good);
	rig_compute_new(rig, &other, &elsewhere);
	bad.sequence.host[bad.finalize] = 0x3f;
	rig_submit(rig, &queue, bad.command.va);
	rig_submit(rig, &queue, good.command.va);
	event = rig_wait_event(rig);
	assert_int_equal(get(event, FW_EventMsg_msg_type), 8);
	assert_int_equal(get(event, FW_EventChannelError_pipe_type), 2);
	assert_int_equal(get(event, FW_EventChannelError_event_slot), 6);
	assert_int_equal(get(event, FW_EventChannelError_event_value), 0x100);
	rig_submit(rig, &other, elsewhere.command.va);
	assert_true(rig_wait_stamp(rig, 7, 0x100));
	assert_int_equal(((uint32_t *)rig->stamps.host)[6], 0);
	recover(rig, &queue, 0x100);
	assert_true(rig_wait_stamp(rig, 6, 0x200));
	assert_int_equal(vagx_report_count(rig->report, VAGX_RULE_FW_DC_RECOVER), 0);
	rig_free(rig);
}

int main(void)
{
	struct CMUnitTest tests[PROVOCATIONS + 2] = { 0 };
	char names[PROVOCATIONS][96];

	for (unsigned int i = 0; i < PROVOCATIONS; i++) {
		snprintf(names[i], sizeof(names[i]), "%s by %s",
			 vagx_rule_info(provocations[i].rule)->id, provocations[i].name);
		tests[i].name = names[i];
		tests[i].test_func = test_provocation;
		tests[i].initial_state = (void *)&provocations[i];
	}
	tests[PROVOCATIONS].name = "all_provoked";
	tests[PROVOCATIONS].test_func = test_all_provoked;
	tests[PROVOCATIONS + 1].name = "channel_error";
	tests[PROVOCATIONS + 1].test_func = test_channel_error;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
