// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * INIT: walks through InitData and everything that it points to (m1n1 fw/agx/initdata.py has the
 * structures, agx/initdata.py fills them), reports each word that is not as in the references, and
 * sets up the channels. A pointer that leads nowhere ends the firmware, as its later accesses
 * would. The main thread, with the lock held.
 */
#include <inttypes.h>
#include <string.h>

#include "../soc.h"
#include "fw_internal.h"

#define FW_STATS_CP_SIZE	0x180
#define FW_UNKPTR_198_SIZE	0xc0
#define FW_UNKPTR_1B8_SIZE	0x1000
#define FW_UNKPTR_1C0_SIZE	0x300
#define FW_UNKPTR_1C8_SIZE	0x1000
/* Stored where only the firmware writes: what the real one has there is not known, but not zero */
#define FW_OWN_WORD		0x6f776e21
#define FW_LOG_PAYLOAD_SIZE	(FW_LOG_CHANNELS * 0x100 * 0xd8)

static void fw_initdata_violation_at(struct vagx_firmware *fw, enum vagx_rule rule,
				     const struct fw_view *view, enum fw_field_id field,
				     uint64_t found)
{
	vagx_violation(fw->config.report, rule, fw_va(view, field), fw_structs[view->type].name,
		       "%s is %#" PRIx64, fw_fields[field].name, found);
}

static void fw_initdata_expect(struct vagx_firmware *fw, enum vagx_rule rule,
			       const struct fw_view *view, enum fw_field_id field,
			       unsigned int index, uint64_t value)
{
	uint64_t found = fw_get_at(view, field, index);

	if (!view->access->failed && fw_has(view, field) && found != value)
		fw_initdata_violation_at(fw, rule, view, field, found);
}

static void fw_initdata_check_version(struct vagx_firmware *fw, const struct fw_view *init)
{
	static const uint16_t plain[4] = { 0x6ba0, 0x1f28, 0x601, 0xb0 };
	static const uint16_t g14x[4] = { 0xb390, 0x70f8, 0x601, 0xb0 };
	const uint16_t *want = fw->abi == FW_ABI_13_5_G14X ? g14x : plain;

	for (unsigned int i = 0; i < 4; i++)
		fw_initdata_expect(fw, VAGX_RULE_FW_INIT_VERSION, init, FW_InitData_ver_info, i,
				   want[i]);
}

static void fw_initdata_check_uat_levels(struct vagx_firmware *fw, const struct fw_view *init)
{
	static const struct {
		uint8_t shift;
		uint16_t entries;
	} levels[3] = { { 36, 8 }, { 25, 2048 }, { 14, 2048 } };
	const enum vagx_rule rule = VAGX_RULE_FW_INIT_UAT_LEVELS;

	fw_initdata_expect(fw, rule, init, FW_InitData_uat_page_size, 0, VAGX_UAT_PAGE_SIZE);
	fw_initdata_expect(fw, rule, init, FW_InitData_uat_page_bits, 0, VAGX_UAT_PAGE_SHIFT);
	fw_initdata_expect(fw, rule, init, FW_InitData_uat_num_levels, 0, 3);
	for (unsigned int i = 0; i < 3; i++) {
		struct fw_view level =
			fw_sub(init, FW_InitData_uat_level_info, FW_S_UatLevelInfo, i);
		uint64_t mask = fw_get(&level, FW_UatLevelInfo_phys_mask);

		fw_initdata_expect(fw, rule, &level, FW_UatLevelInfo_unk_3, 0, 8);
		fw_initdata_expect(fw, rule, &level, FW_UatLevelInfo_unk_1, 0, VAGX_UAT_PAGE_SHIFT);
		fw_initdata_expect(fw, rule, &level, FW_UatLevelInfo_unk_2, 0, VAGX_UAT_PAGE_SHIFT);
		fw_initdata_expect(fw, rule, &level, FW_UatLevelInfo_index_shift, 0,
				   levels[i].shift);
		fw_initdata_expect(fw, rule, &level, FW_UatLevelInfo_num_entries, 0,
				   levels[i].entries);
		fw_initdata_expect(fw, rule, &level, FW_UatLevelInfo_unk_4, 0, VAGX_UAT_PAGE_SIZE);
		fw_initdata_expect(fw, rule, &level, FW_UatLevelInfo_unk_8, 0, 1);
		fw_initdata_expect(fw, rule, &level, FW_UatLevelInfo_index_mask, 0,
				   (uint64_t)(levels[i].entries - 1) << levels[i].shift);
		if (!fw->access.failed && mask != 0xffffffc000ULL && mask != 0x3ffffffc000ULL)
			fw_initdata_violation_at(fw, rule, &level, FW_UatLevelInfo_phys_mask, mask);
	}
}

static bool fw_initdata_is_cached(struct vagx_firmware *fw, uint64_t va)
{
	uint64_t pte = vagx_uat_pte(fw->config.uat, 0, va);

	return (pte & VAGX_PTE_VALID) && VAGX_PTE_ATTR(pte) == VAGX_ATTR_FW_CACHED;
}

/*
 * Follows a pointer that has to lead to @size bytes. Return: the address, or 0 after a report; all
 * later pointers are 0 then, without one.
 */
static uint64_t fw_initdata_follow(struct vagx_firmware *fw, const struct fw_view *view,
				   enum fw_field_id field, size_t size, enum vagx_access kind)
{
	uint64_t va = fw_get(view, field);

	if (view->access->failed || !fw_has(view, field))
		return 0;
	if (!va) {
		fw_initdata_violation_at(fw, VAGX_CLAUSE_FW_INIT_NULL_pointer, view, field, va);
		fw->access.failed = true;
		return 0;
	}
	if (va & 0x7f && fw_initdata_is_cached(fw, va))
		fw_initdata_violation_at(fw, VAGX_CLAUSE_FW_INIT_ALIGNMENT_structure, view, field,
					 va);
	if (!fw_mapped(&fw->access, va, size, kind)) {
		vagx_violation(fw->config.report, VAGX_CLAUSE_FW_UNMAPPED_init, va,
			       fw_structs[view->type].name, "%s: %#zx bytes", fw_fields[field].name,
			       size);
		fw->access.failed = true;
		return 0;
	}
	fw_check_poison(&fw->access, va, size, fw_fields[field].name);
	return va;
}

static size_t fw_initdata_struct_size(struct vagx_firmware *fw, enum fw_struct_id type)
{
	return fw_structs[type].size[fw->abi];
}

/*
 * Checks that a page of registers is mapped to @phys. It may be writable although the firmware does
 * not write there, as in m1n1. Return: the clause that is broken, or VAGX_KEPT.
 */
static enum vagx_rule fw_initdata_check_io_page(struct vagx_firmware *fw, uint64_t va,
						uint64_t phys, bool write)
{
	uint64_t pte = vagx_uat_pte(fw->config.uat, 0, va);

	if (!(pte & VAGX_PTE_VALID))
		return VAGX_CLAUSE_FW_INIT_IO_MAPPING_unmapped;
	if (VAGX_PTE_ATTR(pte) != VAGX_ATTR_DEVICE)
		return VAGX_CLAUSE_FW_INIT_IO_MAPPING_device;
	if (VAGX_PTE_PA(pte) != (phys & ~(uint64_t)VAGX_UAT_PAGE_MASK))
		return VAGX_CLAUSE_FW_INIT_IO_MAPPING_page;
	if ((va ^ phys) & VAGX_UAT_PAGE_MASK)
		return VAGX_CLAUSE_FW_INIT_IO_MAPPING_offset;
	if (!vagx_pte_allows(pte, VAGX_AGENT_FW, VAGX_READ) ||
	    (write && !vagx_pte_allows(pte, VAGX_AGENT_FW, VAGX_WRITE)))
		return VAGX_CLAUSE_FW_INIT_IO_MAPPING_access;
	return VAGX_KEPT;
}

static enum vagx_rule fw_initdata_check_io_element(struct vagx_firmware *fw,
						   const struct vagx_io_range *range, uint64_t va,
						   uint64_t phys)
{
	const uint64_t last = phys + range->size - 1;
	enum vagx_rule clause = VAGX_KEPT;

	for (uint64_t start = phys; start <= last && clause == VAGX_KEPT;
	     start = (start | VAGX_UAT_PAGE_MASK) + 1)
		clause = fw_initdata_check_io_page(fw, va + (start - phys), start, range->write);
	return clause;
}

/* Checks that all elements of a range are mapped: those of a die side by side, and so the dies */
static enum vagx_rule fw_initdata_check_io_range(struct vagx_firmware *fw,
						 const struct vagx_io_range *range, uint64_t va)
{
	enum vagx_rule clause = VAGX_KEPT;

	for (unsigned int i = 0; i < range->count * range->dies && clause == VAGX_KEPT; i++) {
		uint64_t phys = range->phys + i / range->count * VAGX_DIE_STRIDE +
				i % range->count * (uint64_t)range->stride;

		clause = fw_initdata_check_io_element(fw, range, va + (uint64_t)i * range->size,
						      phys);
	}
	return clause;
}

/* Checks that an entry of the table is that range: all zero for one of no size */
static enum vagx_rule fw_initdata_check_io_mapping(struct vagx_firmware *fw,
						   const struct fw_view *io,
						   const struct vagx_io_range *range)
{
	uint64_t va = fw_get(io, FW_IoMapping_virt_addr);

	if (fw_get(io, FW_IoMapping_phys_addr) != range->phys)
		return VAGX_CLAUSE_FW_INIT_IO_MAPPING_address;
	if (fw_get(io, FW_IoMapping_size) != (uint64_t)range->size * range->count * range->dies)
		return VAGX_CLAUSE_FW_INIT_IO_MAPPING_size;
	if (fw_get(io, FW_IoMapping_range_size) != range->size)
		return VAGX_CLAUSE_FW_INIT_IO_MAPPING_element;
	if (fw_get(io, FW_IoMapping_readwrite) != range->write)
		return VAGX_CLAUSE_FW_INIT_IO_MAPPING_write;
	if (!range->size)
		return va ? VAGX_CLAUSE_FW_INIT_IO_MAPPING_unused : VAGX_KEPT;
	return fw_initdata_check_io_range(fw, range, va);
}

/*
 * Checks that an entry is as one of the references has it on this SoC. Return: what it has
 * otherwise than the first.
 */
static enum vagx_rule fw_initdata_check_io_entry(struct vagx_firmware *fw,
						 const struct fw_view *io, unsigned int index)
{
	const struct vagx_soc *soc = fw->config.soc;
	const struct vagx_io_range *m1n1 = vagx_soc_io_m1n1(soc, index);

	if (m1n1 && fw_initdata_check_io_mapping(fw, io, m1n1) == VAGX_KEPT)
		return VAGX_KEPT;
	return fw_initdata_check_io_mapping(fw, io, &soc->io[index]);
}

static void fw_initdata_check_io_mappings(struct vagx_firmware *fw, const struct fw_view *b)
{
	enum fw_field_id table = fw_has(b, FW_HwDataB_io_mappings) ? FW_HwDataB_io_mappings
								    : FW_HwDataB_io_mappings_12;
	size_t count = fw_field_size(table) / fw_initdata_struct_size(fw, FW_S_IoMapping);

	for (unsigned int i = 0; i < count; i++) {
		struct fw_view io = fw_sub(b, table, FW_S_IoMapping, i);
		enum vagx_rule clause = fw_initdata_check_io_entry(fw, &io, i);

		if (fw->access.failed)
			return;
		vagx_violation(fw->config.report, clause, fw_get(&io, FW_IoMapping_virt_addr),
			       "HwDataB", "mapping %u of %#" PRIx64 ", %#" PRIx64 " bytes on %s", i,
			       fw_get(&io, FW_IoMapping_phys_addr), fw_get(&io, FW_IoMapping_size),
			       fw->config.soc->name);
	}
}

/* Return: the clause about a page of on-chip memory that is broken, or VAGX_KEPT */
static enum vagx_rule fw_initdata_check_sram_page(struct vagx_firmware *fw, uint64_t va,
						  uint64_t phys)
{
	uint64_t pte = vagx_uat_pte(fw->config.uat, 0, va);

	if (!(pte & VAGX_PTE_VALID))
		return VAGX_CLAUSE_FW_INIT_SRAM_unmapped;
	if (VAGX_PTE_ATTR(pte) != VAGX_ATTR_SHARED)
		return VAGX_CLAUSE_FW_INIT_SRAM_cached;
	if (VAGX_PTE_PA(pte) != phys)
		return VAGX_CLAUSE_FW_INIT_SRAM_page;
	if (va & VAGX_UAT_PAGE_MASK)
		return VAGX_CLAUSE_FW_INIT_SRAM_offset;
	if (!vagx_pte_allows(pte, VAGX_AGENT_FW, VAGX_WRITE))
		return VAGX_CLAUSE_FW_INIT_SRAM_access;
	return VAGX_KEPT;
}

static void fw_initdata_check_sram(struct vagx_firmware *fw, const struct fw_view *b)
{
	const struct vagx_soc *soc = fw->config.soc;
	uint64_t va = fw_get(b, FW_HwDataB_sgx_sram_ptr);
	enum vagx_rule clause = !soc->sram_size && va ? VAGX_CLAUSE_FW_INIT_SRAM_unused :
							VAGX_KEPT;

	if (fw->access.failed)
		return;
	for (uint32_t offset = 0; offset < soc->sram_size && clause == VAGX_KEPT;
	     offset += VAGX_UAT_PAGE_SIZE)
		clause = fw_initdata_check_sram_page(fw, va + offset, soc->sram + offset);
	fw_initdata_violation_at(fw, clause, b, FW_HwDataB_sgx_sram_ptr, va);
}

static void fw_initdata_check_buffer_manager(struct vagx_firmware *fw,
					     const struct fw_view *runtime)
{
	uint64_t gpu = fw_get(runtime, FW_RuntimePointers_buffer_mgr_ctl_gpu_addr);
	uint64_t va = fw_initdata_follow(fw, runtime, FW_RuntimePointers_buffer_mgr_ctl_addr,
					 127 * 16, VAGX_WRITE);
	uint64_t here = vagx_uat_pte(fw->config.uat, 0, va),
		 there = vagx_uat_pte(fw->config.uat, 0, gpu);
	enum vagx_rule clause = VAGX_KEPT;

	if (!va)
		return;
	if (!vagx_pte_allows(there, VAGX_AGENT_GPU, VAGX_WRITE))
		clause = VAGX_CLAUSE_FW_INIT_BUFFER_MANAGER_gpu;
	else if (VAGX_PTE_PA(here) != VAGX_PTE_PA(there))
		clause = VAGX_CLAUSE_FW_INIT_BUFFER_MANAGER_page;
	else if ((va ^ gpu) & VAGX_UAT_PAGE_MASK)
		clause = VAGX_CLAUSE_FW_INIT_BUFFER_MANAGER_offset;
	fw_initdata_violation_at(fw, clause, runtime, FW_RuntimePointers_buffer_mgr_ctl_gpu_addr,
				 gpu);
}

static void fw_initdata_check_runtime(struct vagx_firmware *fw, const struct fw_view *runtime)
{
	struct fw_view stats;
	uint64_t va;

	fw_initdata_follow(fw, runtime, FW_RuntimePointers_stats_ta_addr,
			   fw_initdata_struct_size(fw, FW_S_StatsTa), VAGX_WRITE);
	va = fw_initdata_follow(fw, runtime, FW_RuntimePointers_stats_3d_addr,
				fw_initdata_struct_size(fw, FW_S_Stats3d), VAGX_WRITE);
	if (va) {
		stats = fw_view(&fw->access, FW_S_Stats3d, va);
		fw_initdata_expect(fw, VAGX_CLAUSE_FW_INIT_STAMP_IDS_current, &stats,
				   FW_Stats3d_cur_stamp_id, 0, UINT64_MAX);
		fw_initdata_expect(fw, VAGX_CLAUSE_FW_INIT_STAMP_IDS_118, &stats,
				   FW_Stats3d_unk_118, 0, UINT64_MAX);
	}
	fw_initdata_follow(fw, runtime, FW_RuntimePointers_stats_cp_addr, FW_STATS_CP_SIZE,
			   VAGX_WRITE);
	fw_initdata_follow(fw, runtime, FW_RuntimePointers_hwdata_a_addr,
			   fw_initdata_struct_size(fw, FW_S_HwDataA), VAGX_READ);
	fw_initdata_follow(fw, runtime, FW_RuntimePointers_fault_info_addr,
			   fw_initdata_struct_size(fw, FW_S_FaultInfo), VAGX_WRITE);
	fw_initdata_follow(fw, runtime, FW_RuntimePointers_unkptr_198, FW_UNKPTR_198_SIZE,
			   VAGX_WRITE);
	va = fw_initdata_follow(fw, runtime, FW_RuntimePointers_hwdata_b_addr,
				fw_initdata_struct_size(fw, FW_S_HwDataB), VAGX_READ);
	if (va) {
		struct fw_view b = fw_view(&fw->access, FW_S_HwDataB, va);

		fw_initdata_check_io_mappings(fw, &b);
		fw_initdata_check_sram(fw, &b);
		fw_initdata_expect(fw, VAGX_CLAUSE_FW_INIT_NULL_second, runtime,
				   FW_RuntimePointers_hwdata_b_addr2, 0, va);
	}
	fw->log_payload = fw_initdata_follow(fw, runtime, FW_RuntimePointers_fwlog_ring2,
					     FW_LOG_PAYLOAD_SIZE, VAGX_WRITE);
	fw_initdata_follow(fw, runtime, FW_RuntimePointers_unkptr_1b8, FW_UNKPTR_1B8_SIZE,
			   VAGX_WRITE);
	fw_initdata_follow(fw, runtime, FW_RuntimePointers_unkptr_1c0, FW_UNKPTR_1C0_SIZE,
			   VAGX_WRITE);
	fw_initdata_follow(fw, runtime, FW_RuntimePointers_unkptr_1c8, FW_UNKPTR_1C8_SIZE,
			   VAGX_WRITE);
	fw_initdata_expect(fw, VAGX_RULE_FW_INIT_SCRATCH, runtime, FW_RuntimePointers_unk_6b38, 0,
			   0xff);
	fw_initdata_check_buffer_manager(fw, runtime);
}

/* Checks that memory which only the firmware writes is zero, and stores a word at its end */
static void fw_initdata_take_own(struct vagx_firmware *fw, const struct fw_view *runtime,
				 enum fw_field_id field, size_t size)
{
	uint64_t va = fw_get(runtime, field);
	uint32_t word = 0;

	if (!fw_has(runtime, field))
		return;
	for (size_t i = 0; i < size && !word && !fw->access.failed; i += sizeof(word))
		word = fw_load32(&fw->access, va + i, fw_fields[field].name);
	if (word)
		vagx_violation(fw->config.report, VAGX_CLAUSE_FW_INIT_OWN_memory, va,
			       fw_fields[field].name, "a word is %#" PRIx32 " instead of 0", word);
	fw_store32(&fw->access, va + size - sizeof(word), FW_OWN_WORD, fw_fields[field].name);
}

static void fw_initdata_take_all_own(struct vagx_firmware *fw, const struct fw_view *runtime,
				     const struct fw_view *status)
{
	fw_initdata_expect(fw, VAGX_CLAUSE_FW_INIT_OWN_halt_count, status, FW_FwStatus_halt_count, 0, 0);
	fw_initdata_expect(fw, VAGX_CLAUSE_FW_INIT_OWN_halted, status, FW_FwStatus_halted, 0, 0);
	fw_initdata_expect(fw, VAGX_CLAUSE_FW_INIT_OWN_resume, status, FW_FwStatus_resume, 0, 0);
	fw_initdata_take_own(fw, runtime, FW_RuntimePointers_stats_cp_addr, FW_STATS_CP_SIZE);
	fw_initdata_take_own(fw, runtime, FW_RuntimePointers_unkptr_198, FW_UNKPTR_198_SIZE);
	fw_initdata_take_own(fw, runtime, FW_RuntimePointers_unkptr_1b8, FW_UNKPTR_1B8_SIZE);
	fw_initdata_take_own(fw, runtime, FW_RuntimePointers_unkptr_1c0, FW_UNKPTR_1C0_SIZE);
	fw_initdata_take_own(fw, runtime, FW_RuntimePointers_unkptr_1c8, FW_UNKPTR_1C8_SIZE);
}

/*
 * Begins to count in the statistics. No source says which of their words the firmware writes: here
 * it writes the first ones, and for compute the one that fw_initdata_take_own() has marked.
 */
static void fw_initdata_begin_statistics(struct vagx_firmware *fw, const struct fw_view *runtime)
{
	fw_statistics_begin(fw, FW_PIPE_VERTEX, fw_get(runtime, FW_RuntimePointers_stats_ta_addr));
	fw_statistics_begin(fw, FW_PIPE_FRAGMENT,
			    fw_get(runtime, FW_RuntimePointers_stats_3d_addr));
	fw_statistics_begin(fw, FW_PIPE_COMPUTE,
			    fw_get(runtime, FW_RuntimePointers_stats_cp_addr) + FW_STATS_CP_SIZE -
				    sizeof(uint32_t));
}

static struct fw_view fw_initdata_channel_info(const struct fw_view *runtime, unsigned int channel)
{
	return fw_sub(runtime, FW_RuntimePointers_channels, FW_S_ChannelInfo, channel);
}

static bool fw_initdata_setup_channel(struct vagx_firmware *fw, struct fw_ring *ring,
				      const char *name, const struct fw_view *info, uint32_t count,
				      uint32_t stride)
{
	return fw_ring_setup(fw, ring, name, FW_S_RingState,
			     fw_get(info, FW_ChannelInfo_state_addr),
			     fw_get(info, FW_ChannelInfo_ringbuffer_addr), count, stride);
}

static bool fw_initdata_setup_channels(struct vagx_firmware *fw, const struct fw_view *runtime)
{
	static const char *const names[FW_PIPE_CHANNELS] = {
		"vertex 0", "fragment 0", "compute 0", "vertex 1", "fragment 1", "compute 1",
		"vertex 2", "fragment 2", "compute 2", "vertex 3", "fragment 3", "compute 3",
	};
	uint64_t state = 0, entries = 0;
	struct fw_view info;
	bool good = true;

	for (unsigned int i = 0; i < FW_PIPE_CHANNELS && good; i++) {
		info = fw_initdata_channel_info(runtime, i);
		good = fw_initdata_setup_channel(fw, &fw->pipe[i], names[i], &info, 0x100,
						 fw_initdata_struct_size(fw, FW_S_RunMsg));
	}
	info = fw_initdata_channel_info(runtime, FW_CHANNEL_CONTROL);
	good = good && fw_initdata_setup_channel(fw, &fw->control, "device control", &info, 0x100,
						 fw_initdata_struct_size(fw, FW_S_DcMsg));
	info = fw_initdata_channel_info(runtime, FW_CHANNEL_EVENT);
	good = good && fw_initdata_setup_channel(fw, &fw->event, "event", &info, 0x100,
						 fw_initdata_struct_size(fw, FW_S_EventMsg));
	info = fw_initdata_channel_info(runtime, FW_CHANNEL_LOG);
	if (good) {
		state = fw_get(&info, FW_ChannelInfo_state_addr);
		entries = fw_get(&info, FW_ChannelInfo_ringbuffer_addr);
	}
	for (unsigned int i = 0; i < FW_LOG_CHANNELS && good; i++)
		good = fw_ring_setup(fw, &fw->log[i], "firmware log", FW_S_RingState,
				     state + i * fw_initdata_struct_size(fw, FW_S_RingState),
				     entries + i * 0x100 *
						       fw_initdata_struct_size(fw, FW_S_FwLogEntry),
				     0x100, fw_initdata_struct_size(fw, FW_S_FwLogEntry));
	info = fw_initdata_channel_info(runtime, FW_CHANNEL_KTRACE);
	good = good && fw_initdata_setup_channel(fw, &fw->ktrace, "ktrace", &info, 0x200,
						 fw_initdata_struct_size(fw, FW_S_KTraceMsg));
	info = fw_initdata_channel_info(runtime, FW_CHANNEL_STATS);
	return good && fw_initdata_setup_channel(fw, &fw->stats, "statistics", &info, 0x100,
						 fw_initdata_struct_size(fw, FW_S_StatsMsg));
}

static void fw_initdata_check_shared(struct vagx_firmware *fw, enum vagx_rule clause, uint64_t va,
				     const char *name)
{
	uint64_t pte = vagx_uat_pte(fw->config.uat, 0, va);

	if ((pte & VAGX_PTE_VALID) && VAGX_PTE_ATTR(pte) != VAGX_ATTR_SHARED)
		vagx_violation(fw->config.report, clause, va, name, "has memory attribute %u", (unsigned int)VAGX_PTE_ATTR(pte));
}

static void fw_initdata_check_globals(struct vagx_firmware *fw, const struct fw_view *globals)
{
	uint64_t control = fw_get(globals, FW_Globals_fault_control);

	if (!fw->access.failed && control != (fw->config.soft_faults ? 0xb : 0))
		fw_initdata_violation_at(fw, VAGX_RULE_FW_INIT_FAULT_CONTROL, globals,
					 FW_Globals_fault_control, control);
}

void fw_initdata_load(struct vagx_firmware *fw, uint64_t va)
{
	struct fw_view init = fw_view(&fw->access, FW_S_InitData, va);
	struct fw_view runtime, globals, status, fwctl;

	if (!fw_handoff_ready(fw))
		vagx_violation(fw->config.report, VAGX_RULE_FW_HANDOFF_MAGIC, fw->config.handoff,
			       "handoff", "the driver's magic number is missing");
	if (va & 0x7f && fw_initdata_is_cached(fw, va))
		vagx_violation(fw->config.report, VAGX_CLAUSE_FW_INIT_ALIGNMENT_initdata, va,
			       "InitData", "the address is not a multiple of 128");

	fw_initdata_check_version(fw, &init);
	fw_initdata_check_uat_levels(fw, &init);
	fw_initdata_expect(fw, VAGX_RULE_FW_INIT_HOST_MAPPED, &init,
			   FW_InitData_host_mapped_fw_allocations, 0, 1);
	fw_initdata_follow(fw, &init, FW_InitData_regionA_addr, 0x4000, VAGX_READ);
	fw->runtime =
		fw_initdata_follow(fw, &init, FW_InitData_regionB_addr,
				   fw_initdata_struct_size(fw, FW_S_RuntimePointers), VAGX_WRITE);
	fw->globals = fw_initdata_follow(fw, &init, FW_InitData_regionC_addr,
					 fw_initdata_struct_size(fw, FW_S_Globals), VAGX_WRITE);
	fw->status = fw_initdata_follow(fw, &init, FW_InitData_fw_status_addr,
					fw_initdata_struct_size(fw, FW_S_FwStatus), VAGX_WRITE);
	if (!fw->runtime || !fw->globals || !fw->status) {
		fw_crash(fw, "InitData is incomplete");
		return;
	}

	runtime = fw_view(&fw->access, FW_S_RuntimePointers, fw->runtime);
	globals = fw_view(&fw->access, FW_S_Globals, fw->globals);
	status = fw_view(&fw->access, FW_S_FwStatus, fw->status);
	fwctl = fw_sub(&status, FW_FwStatus_fwctl_channel, FW_S_ChannelInfo, 0);
	fw_initdata_check_runtime(fw, &runtime);
	fw_initdata_check_globals(fw, &globals);
	if (fw->access.failed) {
		fw_crash(fw, "InitData has a pointer to nowhere");
		return;
	}
	fw_initdata_check_shared(fw, VAGX_CLAUSE_FW_INIT_SHARED_status, fw->status, "FwStatus");
	if (!fw->woken)
		fw_initdata_take_all_own(fw, &runtime, &status);
	if (!fw_initdata_setup_channels(fw, &runtime) ||
	    !fw_ring_setup(fw, &fw->fwctl, "FwCtl", FW_S_FwCtlRingState,
			   fw_get(&fwctl, FW_ChannelInfo_state_addr),
			   fw_get(&fwctl, FW_ChannelInfo_ringbuffer_addr), 0x100,
			   fw_initdata_struct_size(fw, FW_S_FwCtlMsg))) {
		fw_crash(fw, "InitData leads to unusable channels");
		return;
	}
	fw_initdata_check_shared(fw, VAGX_CLAUSE_FW_INIT_SHARED_event, fw->event.entries,
				 fw->event.name);
	fw_initdata_check_shared(fw, VAGX_CLAUSE_FW_INIT_SHARED_log, fw->log[0].entries,
				 fw->log[0].name);
	fw_initdata_check_shared(fw, VAGX_CLAUSE_FW_INIT_SHARED_trace, fw->ktrace.entries,
				 fw->ktrace.name);
	fw_initdata_check_shared(fw, VAGX_CLAUSE_FW_INIT_SHARED_statistics, fw->stats.entries,
				 fw->stats.name);
	if (!fw_check(fw, &fw->access))
		return;
	fw_initdata_begin_statistics(fw, &runtime);
	fw_telemetry_forget(fw);
	fw->state = FW_STATE_READY;
	fw_log(&fw->access, fw, FW_LOG_INIT, "vagx firmware %s is up", fw->config.abi);
}
