// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * Provocations of rules about the coprocessor, the handoff page, InitData, rings and device control.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "provoke.h"

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

static void provoke_message_doorbell(struct rig *rig)
{
	rig_boot(rig);
	vagx_fw_message(rig->fw, 0x21, 0x99ULL << 48);
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

/* Has the firmware look at a slot of the page, whatever it holds */
static void send_flush(struct rig *rig, unsigned int slot)
{
	struct rig_ring *ring = &rig->fwctl;
	struct rig_ptr msg = { .host = ring->entries.host };

	memset(msg.host, 0, fw_structs[FW_S_FwCtlMsg].size[RIG_ABI]);
	put(msg, FW_FwCtlMsg_context_id, slot);
	put(ring->state, FW_FwCtlRingState_write_ptr, 1);
	vagx_fw_message(rig->fw, 0x21, 0x84ULL << 48);
}

static void flush_slot(struct rig *rig, unsigned int slot, uint64_t va, uint64_t size)
{
	uint64_t *entry = (uint64_t *)(handoff(rig) + AGX_HANDOFF_FLUSH_ENTRY(slot));

	entry[1] = va;
	entry[2] = size;
	entry[0] = 1;
	send_flush(rig, slot);
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

static void provoke_flush_empty(struct rig *rig)
{
	rig_boot(rig);
	flush_slot(rig, 0x40, rig->hwdata_b.va, 0);
}

static void provoke_flush_wrap(struct rig *rig)
{
	rig_boot(rig);
	flush_slot(rig, 0x40, 0xffffffffffffc000, 0x8000);
}

static void provoke_flush_large(struct rig *rig)
{
	rig_boot(rig);
	flush_slot(rig, 0x40, 0xffffff8000000000, 0x4000000000);
}

static void provoke_flush_client(struct rig *rig)
{
	rig_boot(rig);
	flush_slot(rig, RIG_CONTEXT, rig->hwdata_b.va, AGX_PAGE_SIZE);
}

static void provoke_flush_no_slot(struct rig *rig)
{
	rig_boot(rig);
	send_flush(rig, 0x41);
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
	rig_flush(rig, rig->status.va, AGX_PAGE_SIZE);
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
	put(finalize_of(&command), FW_FinalizeCompute_stamp_value, 0x200);
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

static void provoke_init_alignment_of_init(struct rig *rig)
{
	memmove(rig->init.host + 8, rig->init.host, fw_structs[FW_S_InitData].size[RIG_ABI]);
	rig->init.va += 8;
	rig->init.host += 8;
	rig_boot(rig);
}

static void provoke_init_second(struct rig *rig)
{
	put(rig->runtime, FW_RuntimePointers_hwdata_b_addr2, 0);
	rig_boot(rig);
}

static struct rig_ptr channel_info(struct rig *rig, unsigned int channel)
{
	return sub(rig->runtime, FW_RuntimePointers_channels, FW_S_ChannelInfo, channel);
}

static void provoke_init_no_state(struct rig *rig)
{
	put(channel_info(rig, 5), FW_ChannelInfo_state_addr, 0);
	rig_boot(rig);
}

static void provoke_init_no_entries(struct rig *rig)
{
	put(channel_info(rig, 5), FW_ChannelInfo_ringbuffer_addr, 0);
	rig_boot(rig);
}

static void provoke_init_ring_unmapped(struct rig *rig)
{
	clear_pte(rig, rig->channel[5].entries.va);
	rig_boot(rig);
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

static void provoke_init_stamp_id(struct rig *rig)
{
	put(rig->stats3d, FW_Stats3d_cur_stamp_id, 0);
	rig_boot(rig);
}

static void provoke_init_own_halted(struct rig *rig)
{
	put(rig->status, FW_FwStatus_halted, 1);
	rig_boot(rig);
}

static void provoke_init_own_resume(struct rig *rig)
{
	put(rig->status, FW_FwStatus_resume, 1);
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

static struct rig_ptr io_mapping(struct rig *rig, unsigned int index)
{
	return sub(rig->hwdata_b, FW_HwDataB_io_mappings, FW_S_IoMapping, index);
}

/* The entry of the first page of a range of registers, which a SoC has at @index */
static uint64_t *io_pte(struct rig *rig, unsigned int index)
{
	return rig_pte(rig, rig->root, get(io_mapping(rig, index), FW_IoMapping_virt_addr));
}

static void provoke_init_io_size(struct rig *rig)
{
	put(io_mapping(rig, 13), FW_IoMapping_size, 0x8000);
	rig_boot(rig);
}

static void provoke_init_io_write(struct rig *rig)
{
	flip(io_mapping(rig, 13), FW_IoMapping_readwrite);
	rig_boot(rig);
}

/* An M1 has no range 18 */
static void provoke_init_io_unused(struct rig *rig)
{
	put(io_mapping(rig, 18), FW_IoMapping_virt_addr, AGX_VA_MMIO_START);
	rig_boot(rig);
}

static void provoke_init_io_cached(struct rig *rig)
{
	*io_pte(rig, 13) = (*io_pte(rig, 13) & ~AGX_PTE_ATTR_MASK) |
			   AGX_PTE_ATTR_SHARED << AGX_PTE_ATTR_SHIFT;
	rig_boot(rig);
}

static void provoke_init_io_page(struct rig *rig)
{
	*io_pte(rig, 13) += AGX_PAGE_SIZE;
	rig_boot(rig);
}

static void provoke_init_io_offset(struct rig *rig)
{
	struct rig_ptr io = io_mapping(rig, 13);

	put(io, FW_IoMapping_virt_addr, get(io, FW_IoMapping_virt_addr) ^ 0x100);
	rig_boot(rig);
}

static void set_io_prot(struct rig *rig, bool write, uint64_t prot)
{
	for (unsigned int i = 0; i < VAGX_IO_RANGES; i++) {
		if (!rig->soc->io[i].size || rig->soc->io[i].write != write)
			continue;
		*io_pte(rig, i) = (*io_pte(rig, i) & ~AGX_PTE_PROT_MASK) | prot;
		break;
	}
	rig_boot(rig);
}

static void provoke_init_io_no_write(struct rig *rig)
{
	set_io_prot(rig, true, AGX_PROT_FW_MMIO_RO);
}

/* The GPU's alone */
static void provoke_init_io_no_read(struct rig *rig)
{
	set_io_prot(rig, false, (AGX_PROT_GPU_SHARED_RW & ~AGX_PTE_ATTR_MASK) |
				(AGX_PROT_FW_MMIO_RO & AGX_PTE_ATTR_MASK));
}

static void provoke_init_sram(struct rig *rig)
{
	put(rig->hwdata_b, FW_HwDataB_sgx_sram_ptr, AGX_VA_MMIO_START);
	rig_boot(rig);
}

static uint64_t *sram_pte(struct rig *rig)
{
	return rig_pte(rig, rig->root, get(rig->hwdata_b, FW_HwDataB_sgx_sram_ptr));
}

static void provoke_init_sram_unmapped(struct rig *rig)
{
	*sram_pte(rig) = 0;
	rig_boot(rig);
}

static void provoke_init_sram_cached(struct rig *rig)
{
	*sram_pte(rig) &= ~AGX_PTE_ATTR_MASK;
	rig_boot(rig);
}

static void provoke_init_sram_page(struct rig *rig)
{
	*sram_pte(rig) += AGX_PAGE_SIZE;
	rig_boot(rig);
}

static void provoke_init_sram_offset(struct rig *rig)
{
	put(rig->hwdata_b, FW_HwDataB_sgx_sram_ptr,
	    get(rig->hwdata_b, FW_HwDataB_sgx_sram_ptr) + 0x80);
	rig_boot(rig);
}

static void provoke_init_sram_access(struct rig *rig)
{
	*sram_pte(rig) = (*sram_pte(rig) & ~AGX_PTE_PROT_MASK) | AGX_PROT_FW_SHARED_RO;
	rig_boot(rig);
}

/* The page that both addresses lead to is another one for the GPU */
static void provoke_init_buffer_manager_page(struct rig *rig)
{
	uint64_t low = *(uint64_t *)(rig->ram + (rig->ttbs - RIG_RAM_BASE)) & AGX_TTBR_ADDR_MASK;

	rig_map(rig, low, AGX_VA_BUFMGR_LOW, rig_page(rig).va, AGX_PROT_GPU_SHARED_RW);
	rig_boot(rig);
}

static void provoke_init_buffer_manager_offset(struct rig *rig)
{
	put(rig->runtime, FW_RuntimePointers_buffer_mgr_ctl_gpu_addr, AGX_VA_BUFMGR_LOW + 0x80);
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

static void provoke_init_shared_status(struct rig *rig)
{
	make_cached(rig, rig->status.va);
	rig_boot(rig);
}

static void provoke_init_shared_event(struct rig *rig)
{
	make_cached(rig, rig->channel[13].entries.va);
	rig_boot(rig);
}

static void provoke_init_shared_log(struct rig *rig)
{
	make_cached(rig, rig->channel[14].entries.va);
	rig_boot(rig);
}

static void provoke_init_shared_trace(struct rig *rig)
{
	make_cached(rig, rig->channel[15].entries.va);
	rig_boot(rig);
}

static void provoke_init_shared_statistics(struct rig *rig)
{
	make_cached(rig, rig->channel[16].entries.va);
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

static void provoke_ring_read(struct rig *rig)
{
	put(rig->channel[8].state, FW_RingState_read_ptr, 1);
	rig_boot(rig);
}

static void provoke_ring_write(struct rig *rig)
{
	put(rig->channel[8].state, FW_RingState_write_ptr, 0x100);
	rig_boot(rig);
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

static void provoke_dc_flush_second(struct rig *rig)
{
	rig_boot(rig);
	put(rig_control(rig, 0x18), FW_DcDestroyContext_ctx_0, 0xff);
	rig_control_send(rig);
}

static void provoke_queue_early(struct rig *rig)
{
	struct rig_queue queue;

	vagx_fw_start(rig->fw);
	rig_init(rig);
	rig_queue_new(rig, &queue, 2, 6);
	rig_count(rig, &queue);
	rig_push(rig, &queue, rig_barrier_new(rig, 7, 0x100).va);
	rig_announce(rig, &queue, 2);
}

static void provoke_dc_context_second(struct rig *rig)
{
	struct rig_queue queue;
	struct rig_ptr msg;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 6);
	msg = rig_control(rig, 0x18);
	put(msg, FW_DcDestroyContext_ctx_0, 0xff);
	put(msg, FW_DcDestroyContext_context_addr, queue.context.va);
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
	rig_count(rig, &queue);
	rig_push(rig, &queue, rig_barrier_new(rig, 7, 0x100).va);
	rig_announce(rig, &queue, 0);
	msg = rig_control(rig, 0x18);
	put(msg, FW_DcDestroyContext_ctx_0, 0xff);
	put(msg, FW_DcDestroyContext_ctx_1, 0xff);
	put(msg, FW_DcDestroyContext_context_addr, queue.context.va);
	usleep(20000);
	rig_control_send(rig);
}

static void provoke_dc_recover(struct rig *rig)
{
	struct rig_queue queue;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 6);
	recover(rig, &queue, 0x100);
}

/* A command has failed, but the message is about something else than it */
static void recover_otherwise(struct rig *rig, unsigned int pipe, uint32_t value)
{
	struct vagx_fw_injection what = {
		.kind = VAGX_FW_INJECT_CHANNEL_ERROR,
		.pipe = 2,
		.value = 1,
	};
	struct rig_command command;
	struct rig_queue queue;

	rig_boot(rig);
	rig_queue_new(rig, &queue, 2, 6);
	rig_compute_new(rig, &queue, &command);
	assert_int_equal(vagx_fw_inject(rig->fw, &what), 0);
	rig_submit(rig, &queue, command.command.va);
	rig_wait_event(rig);
	queue.pipe = pipe;
	recover(rig, &queue, value);
}

static void provoke_dc_recover_pipe(struct rig *rig)
{
	recover_otherwise(rig, 1, 0x100);
}

static void provoke_dc_recover_value(struct rig *rig)
{
	recover_otherwise(rig, 2, 0x200);
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

const struct provocation provoke_boot[] = {
	CLAUSE(FW_UNMAPPED, access, unmapped, CRASHES),
	CLAUSE(FW_MESSAGE, firmware, message, GOES_ON),
	CLAUSE(FW_MESSAGE, doorbell, message_doorbell, GOES_ON),
	PROVOKE(FW_NOT_STARTED, not_started, GOES_ON),
	CLAUSE(FW_INIT_FIRST, early, init_late, GOES_ON),
	CLAUSE(FW_INIT_FIRST, twice, init_twice, GOES_ON),
	PROVOKE(FW_FLOOD, flood, CRASHES),
	PROVOKE(FW_HANDOFF_MAGIC, handoff_magic, GOES_ON),
	PROVOKE(FW_HANDOFF_LOCK, handoff_lock, CRASHES),
	CLAUSE(FW_FLUSH_STATE, request, flush_state, GOES_ON),
	CLAUSE(FW_FLUSH_STATE, kernel, flush_range, GOES_ON),
	CLAUSE(FW_FLUSH_STATE, slot, flush_no_slot, GOES_ON),
	CLAUSE(FW_FLUSH_STATE, empty, flush_empty, GOES_ON),
	CLAUSE(FW_FLUSH_STATE, wrap, flush_wrap, GOES_ON),
	CLAUSE(FW_FLUSH_STATE, large, flush_large, GOES_ON),
	CLAUSE(FW_FLUSH_STATE, client, flush_client, GOES_ON),
	CLAUSE(FW_FLUSH_MAPPING, tables, flush_mapping, GOES_ON),
	CLAUSE(FW_FLUSH_MAPPING, tlb, flush_cached_translation, GOES_ON),
	PROVOKE(FW_CACHED_REMAP, cached_remap, GOES_ON),
	PROVOKE(FW_CACHED_UNMAP, cached_unmap, GOES_ON),
	PROVOKE(FW_CACHED_LATE, cached_late, GOES_ON),
	PROVOKE(FW_CACHED_REUSE, cached_reuse, GOES_ON,
		ALSO(VAGX_RULE_FW_CACHED_STALE, VAGX_RULE_FW_COMMAND_SEQUENCE)),
	PROVOKE(FW_CACHED_STALE, cached_stale, GOES_ON,
		ALSO(VAGX_RULE_FW_CACHED_REUSE, VAGX_RULE_FW_COMMAND_SEQUENCE)),
	PROVOKE(FW_INIT_VERSION, init_version, GOES_ON),
	PROVOKE(FW_INIT_HOST_MAPPED, init_host_mapped, GOES_ON),
	PROVOKE(FW_INIT_UAT_LEVELS, init_uat_levels, GOES_ON),
	CLAUSE(FW_INIT_NULL, pointer, init_null, CRASHES),
	CLAUSE(FW_INIT_NULL, pointer, init_nulls, CRASHES),
	CLAUSE(FW_UNMAPPED, init, init_unmapped, CRASHES),
	CLAUSE(FW_UNMAPPED, ring, init_ring_unmapped, CRASHES),
	CLAUSE(FW_INIT_NULL, pointer, init_no_runtime, CRASHES),
	CLAUSE(FW_INIT_NULL, second, init_second, GOES_ON),
	CLAUSE(FW_INIT_NULL, state, init_no_state, CRASHES),
	CLAUSE(FW_INIT_NULL, entries, init_no_entries, CRASHES),
	CLAUSE(FW_INIT_ALIGNMENT, structure, init_alignment, GOES_ON),
	CLAUSE(FW_INIT_ALIGNMENT, structure, init_alignment_of_data, GOES_ON),
	CLAUSE(FW_INIT_ALIGNMENT, initdata, init_alignment_of_init, GOES_ON),
	PROVOKE(FW_INIT_SCRATCH, init_scratch, GOES_ON),
	CLAUSE(FW_INIT_STAMP_IDS, 118, init_stamp_ids, GOES_ON),
	CLAUSE(FW_INIT_STAMP_IDS, current, init_stamp_id, GOES_ON),
	CLAUSE(FW_INIT_OWN, halt_count, init_own_count, GOES_ON),
	CLAUSE(FW_INIT_OWN, halted, init_own_halted, GOES_ON),
	CLAUSE(FW_INIT_OWN, resume, init_own_resume, GOES_ON,
	       ALSO(VAGX_CLAUSE_FW_RESUME_halted)),
	CLAUSE(FW_INIT_OWN, memory, init_own_memory, GOES_ON),
	CLAUSE(FW_INIT_IO_MAPPING, unmapped, init_io_mapping, GOES_ON),
	CLAUSE(FW_INIT_IO_MAPPING, address, init_io_of_no_soc, GOES_ON),
	CLAUSE(FW_INIT_IO_MAPPING, element, init_io_element, GOES_ON),
	CLAUSE(FW_INIT_IO_MAPPING, unmapped, init_io_hole, GOES_ON),
	CLAUSE(FW_INIT_IO_MAPPING, size, init_io_size, GOES_ON),
	CLAUSE(FW_INIT_IO_MAPPING, write, init_io_write, GOES_ON),
	CLAUSE(FW_INIT_IO_MAPPING, unused, init_io_unused, GOES_ON),
	CLAUSE(FW_INIT_IO_MAPPING, device, init_io_cached, GOES_ON),
	CLAUSE(FW_INIT_IO_MAPPING, page, init_io_page, GOES_ON),
	CLAUSE(FW_INIT_IO_MAPPING, offset, init_io_offset, GOES_ON),
	CLAUSE(FW_INIT_IO_MAPPING, access, init_io_no_write, GOES_ON),
	CLAUSE(FW_INIT_IO_MAPPING, access, init_io_no_read, GOES_ON),
	CLAUSE(FW_INIT_SRAM, unused, init_sram, GOES_ON),
	CLAUSE(FW_INIT_SRAM, unmapped, init_sram_unmapped, GOES_ON, .soc = "t6020"),
	CLAUSE(FW_INIT_SRAM, cached, init_sram_cached, GOES_ON, .soc = "t6020"),
	CLAUSE(FW_INIT_SRAM, page, init_sram_page, GOES_ON, .soc = "t6020"),
	CLAUSE(FW_INIT_SRAM, offset, init_sram_offset, GOES_ON, .soc = "t6020"),
	CLAUSE(FW_INIT_SRAM, access, init_sram_access, GOES_ON, .soc = "t6020"),
	CLAUSE(FW_INIT_BUFFER_MANAGER, gpu, init_buffer_manager, GOES_ON),
	CLAUSE(FW_INIT_BUFFER_MANAGER, page, init_buffer_manager_page, GOES_ON),
	CLAUSE(FW_INIT_BUFFER_MANAGER, offset, init_buffer_manager_offset, GOES_ON),
	CLAUSE(FW_INIT_SHARED, ring, init_shared, GOES_ON),
	CLAUSE(FW_INIT_SHARED, stamp, stamp_shared, GOES_ON),
	CLAUSE(FW_INIT_SHARED, status, init_shared_status, GOES_ON),
	CLAUSE(FW_INIT_SHARED, event, init_shared_event, GOES_ON),
	CLAUSE(FW_INIT_SHARED, log, init_shared_log, GOES_ON),
	CLAUSE(FW_INIT_SHARED, trace, init_shared_trace, GOES_ON),
	CLAUSE(FW_INIT_SHARED, statistics, init_shared_statistics, GOES_ON),
	PROVOKE(FW_INIT_FAULT_CONTROL, init_fault_control, GOES_ON),
	PROVOKE(FW_DOORBELL_CHANNEL, doorbell_channel, GOES_ON),
	PROVOKE(FW_DOORBELL_EMPTY, doorbell_empty, GOES_ON),
	CLAUSE(FW_RING_POINTER, range, ring_pointer, CRASHES,
	       ALSO(VAGX_RULE_FW_DOORBELL_EMPTY)),
	CLAUSE(FW_RING_POINTER, range, event_ring_pointer, CRASHES,
	       ALSO(VAGX_CLAUSE_FW_DC_FIRST_twice)),
	CLAUSE(FW_RING_POINTER, read, ring_read, GOES_ON),
	CLAUSE(FW_RING_POINTER, write, ring_write, GOES_ON),
	PROVOKE(FW_RING_UNREAD, ring_unread, GOES_ON),
	PROVOKE(FW_DC_WRITE32, dc_write32, GOES_ON),
	PROVOKE(FW_RING_OWNER, ring_owner, GOES_ON,
	       ALSO(VAGX_RULE_FW_DOORBELL_EMPTY)),
	CLAUSE(FW_DC_FIRST, message, dc_first, GOES_ON),
	CLAUSE(FW_DC_FIRST, twice, dc_twice, GOES_ON),
	CLAUSE(FW_DC_FIRST, queue, queue_early, GOES_ON),
	PROVOKE(FW_DC_UNKNOWN, dc_unknown, GOES_ON),
	CLAUSE(FW_DC_CONTEXT, none_0, dc_flush, GOES_ON),
	CLAUSE(FW_DC_CONTEXT, queue_table, dc_context, GOES_ON),
	CLAUSE(FW_DC_CONTEXT, none_1, dc_flush_second, GOES_ON),
	CLAUSE(FW_DC_CONTEXT, pid_table, dc_context_second, GOES_ON),
	CLAUSE(FW_DC_CONTEXT, busy, dc_busy, GOES_ON),
	CLAUSE(FW_DC_RECOVER, failed, dc_recover, GOES_ON),
	CLAUSE(FW_DC_RECOVER, pipe, dc_recover_pipe, GOES_ON),
	CLAUSE(FW_DC_RECOVER, value, dc_recover_value, GOES_ON),
};

const unsigned int provoke_boot_count = sizeof(provoke_boot) / sizeof(provoke_boot[0]);
