// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#include "rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define CHANNEL_CONTROL	12
#define CHANNEL_EVENT	13
#define CHANNEL_LOG	14

static struct rig *the_rig;

enum fw_abi rig_abi = FW_ABI_13_5;

/* cmocka's assertions end a thread that is not the test's without a word */
#define EXPECT(condition) \
	((condition) ? (void)0 : (fprintf(stderr, "%s: %s\n", __func__, #condition), abort()))

/* The units */

struct vagx_job {
	unsigned int vm_slot;
	uint64_t since;
	unsigned int pages;
	bool idle;
	bool cancelled;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

struct vagx_job *vagx_job_new(struct vagx_gpu *gpu, unsigned int vm_slot)
{
	struct vagx_job *job = calloc(1, sizeof(*job));

	EXPECT(job);
	job->vm_slot = vm_slot;
	job->since = now_ns();
	return job;
}

void vagx_job_free(struct vagx_job *job)
{
	free(job);
}

/* With the lock held, but dropped while the job hangs */
static enum vagx_gpu_status on_units(struct vagx_job *job, uint64_t base,
				     struct vagx_uat_fault *fault, unsigned int *unit)
{
	struct rig *rig = the_rig;
	struct rig_units *units = &rig->units;
	enum vagx_gpu_status status = VAGX_GPU_DONE;
	bool concerned = !units->only || units->only == base;

	units->began[units->jobs++ % RIG_JOBS] = base;
	units->last_slot = job->vm_slot;
	job->idle = units->idle;
	if (++units->running > units->most)
		units->most = units->running;
	pthread_cond_broadcast(&rig->changed);
	while (units->hang && concerned && !job->cancelled)
		pthread_cond_wait(&rig->changed, &rig->lock);
	if (job->cancelled) {
		status = VAGX_GPU_CANCELLED;
		units->cancelled++;
	} else if (units->faults && units->faults == base) {
		status = VAGX_GPU_FAULT;
	} else if (concerned) {
		status = units->status;
		units->status = VAGX_GPU_DONE;
	}
	*fault = units->fault;
	*unit = units->unit;
	units->ended[units->over++ % RIG_JOBS] = base;
	units->running--;
	return status;
}

enum vagx_gpu_status vagx_job_compute(struct vagx_job *job,
				      const struct vagx_compute_registers *registers,
				      struct vagx_uat_fault *fault, unsigned int *unit)
{
	enum vagx_gpu_status status;

	pthread_mutex_lock(&the_rig->lock);
	the_rig->units.last = *registers;
	status = on_units(job, registers->cdm_base, fault, unit);
	pthread_mutex_unlock(&the_rig->lock);
	return status;
}

/* One scene at a time, if pages are wanted */
enum vagx_gpu_status vagx_job_vertex(struct vagx_job *job,
				     const struct vagx_vertex_registers *registers,
				     const struct vagx_tvb_pages *pages,
				     struct vagx_uat_fault *fault, unsigned int *unit)
{
	struct rig_units *units = &the_rig->units;
	enum vagx_gpu_status status;

	pthread_mutex_lock(&the_rig->lock);
	units->last_vertex = *registers;
	status = on_units(job, registers->vdm_base, fault, unit);
	pthread_mutex_unlock(&the_rig->lock);
	for (; status == VAGX_GPU_DONE && job->pages < units->vertex_pages; job->pages++) {
		uint64_t page = units->pages < RIG_PAGES ? pages->take(pages->owner) : 0;

		if (!page)
			return units->pages ? VAGX_GPU_OVERFLOW : VAGX_GPU_STARVED;
		units->page[units->pages++] = page;
	}
	return status;
}

enum vagx_gpu_status vagx_job_fragment(struct vagx_job *job,
				       const struct vagx_fragment_registers *registers,
				       const struct vagx_tvb_pages *pages,
				       enum vagx_fragment_mode mode, struct vagx_uat_fault *fault,
				       unsigned int *unit)
{
	struct rig_units *units = &the_rig->units;
	enum vagx_gpu_status status;

	pthread_mutex_lock(&the_rig->lock);
	units->last_fragment = *registers;
	if (mode == VAGX_FRAGMENT_PARTIAL)
		units->partial++;
	else
		units->final++;
	status = on_units(job, registers->scissor_base, fault, unit);
	pthread_mutex_unlock(&the_rig->lock);
	while (status == VAGX_GPU_DONE && units->pages)
		pages->give(pages->owner, units->page[--units->pages]);
	return status;
}

uint64_t vagx_job_cpu_ns(struct vagx_job *job)
{
	uint64_t ns;

	pthread_mutex_lock(&the_rig->lock);
	ns = job->idle ? 0 : now_ns() - job->since;
	pthread_mutex_unlock(&the_rig->lock);
	return ns;
}

void vagx_job_cancel(struct vagx_job *job)
{
	pthread_mutex_lock(&the_rig->lock);
	job->cancelled = true;
	pthread_cond_broadcast(&the_rig->changed);
	pthread_mutex_unlock(&the_rig->lock);
}

/* What the firmware calls */

static void on_send(void *ctx, uint8_t ep, uint64_t msg)
{
	struct rig *rig = ctx;

	EXPECT(ep == 0x20);
	EXPECT(msg == 0x42ULL << 48);
	pthread_mutex_lock(&rig->lock);
	rig->notifications++;
	rig->blocked = rig->block_send;
	pthread_cond_broadcast(&rig->changed);
	while (rig->block_send)
		pthread_cond_wait(&rig->changed, &rig->lock);
	pthread_mutex_unlock(&rig->lock);
}

static void on_fault(void *ctx, const struct vagx_uat_fault *fault, unsigned int unit)
{
	struct rig *rig = ctx;

	pthread_mutex_lock(&rig->lock);
	rig->fault_set = fault;
	if (fault)
		rig->fault = *fault;
	rig->fault_unit = unit;
	pthread_mutex_unlock(&rig->lock);
}

static void on_fault_value(void *ctx, uint64_t value)
{
	struct rig *rig = ctx;

	pthread_mutex_lock(&rig->lock);
	rig->fault_value = value;
	pthread_mutex_unlock(&rig->lock);
}

static void on_deaf(void *ctx, bool deaf)
{
	struct rig *rig = ctx;

	pthread_mutex_lock(&rig->lock);
	EXPECT(rig->deaf != deaf);
	rig->deaf = deaf;
	pthread_mutex_unlock(&rig->lock);
}

static void on_crash(void *ctx, const char *message)
{
	struct rig *rig = ctx;

	pthread_mutex_lock(&rig->lock);
	EXPECT(!rig->crashed);
	rig->crashed = true;
	pthread_cond_broadcast(&rig->changed);
	pthread_mutex_unlock(&rig->lock);
}

/* Structures */

void put_at(struct rig_ptr at, enum fw_field_id field, unsigned int index, uint64_t value)
{
	const struct fw_field_desc *desc = &fw_fields[field];
	size_t size = fw_kind_size(desc->kind);

	assert_int_not_equal(desc->offset[RIG_ABI], FW_ABSENT);
	memcpy(at.host + desc->offset[RIG_ABI] + index * size, &value, size);
}

void put(struct rig_ptr at, enum fw_field_id field, uint64_t value)
{
	put_at(at, field, 0, value);
}

/* A word that the firmware may be looking at */
static void publish(struct rig_ptr at, enum fw_field_id field, uint32_t value)
{
	uint32_t *word = (uint32_t *)(at.host + fw_fields[field].offset[RIG_ABI]);

	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

uint64_t get(struct rig_ptr at, enum fw_field_id field)
{
	const struct fw_field_desc *desc = &fw_fields[field];
	uint64_t value = 0;

	memcpy(&value, at.host + desc->offset[RIG_ABI], fw_kind_size(desc->kind));
	return value;
}

struct rig_ptr sub(struct rig_ptr at, enum fw_field_id field, enum fw_struct_id type,
		   unsigned int index)
{
	uint32_t offset = fw_fields[field].offset[RIG_ABI] + index * fw_structs[type].size[RIG_ABI];

	return (struct rig_ptr){ .va = at.va + offset, .host = at.host + offset };
}

static size_t size_of(enum fw_struct_id type)
{
	return fw_structs[type].size[RIG_ABI];
}

/* Lists of registers instead of structures */

#define PART_BYTES	0x400

/* Structures of the command that is being made, which is made of registers */
static uint8_t rig_parts[FW_STRUCT_COUNT][PART_BYTES];

struct rig_ptr rig_part(struct rig_ptr command, enum fw_field_id field, enum fw_struct_id type)
{
	if (fw_fields[field].offset[RIG_ABI] != FW_ABSENT)
		return sub(command, field, type, 0);
	assert_true(size_of(type) <= PART_BYTES);
	memset(rig_parts[type], 0, PART_BYTES);
	return (struct rig_ptr){ .host = rig_parts[type] };
}

uint64_t rig_part_va(struct rig_ptr command, enum fw_field_id field)
{
	uint32_t offset = fw_fields[field].offset[RIG_ABI];

	return offset == FW_ABSENT ? 0 : command.va + offset;
}

void rig_put_registers_va(struct rig_ptr op, enum fw_field_id field, struct rig_ptr command,
			  enum fw_field_id registers)
{
	if (fw_fields[field].offset[RIG_ABI] != FW_ABSENT)
		put(op, field, command.va + fw_fields[registers].offset[RIG_ABI]);
}

uint32_t rig_wait_word(uint32_t word)
{
	return RIG_ABI == FW_ABI_13_5_G14X ? 2 : word;
}

/* The value of a register: a word of a structure, or one of the others */
static uint64_t rig_register_value(uint32_t number, enum fw_field_id row,
				   const struct rig_register *others)
{
	if (row < FW_FIELD_COUNT && fw_fields[row].offset[RIG_ABI] != FW_ABSENT)
		return get((struct rig_ptr){ .host = rig_parts[fw_fields[row].structure] }, row);
	for (; others->number; others++) {
		if (others->number == number)
			return others->value;
	}
	return 0;
}

void rig_registers(struct rig_ptr command, enum fw_register_list list,
		   const struct rig_register *others)
{
	static const struct {
		enum fw_field_id registers, addr, count, length;
	} fields[] = {
#define LIST(command)	{ FW_##command##_registers, FW_##command##_registers_addr,		\
			  FW_##command##_register_count, FW_##command##_registers_length }
		[FW_REGISTERS_VERTEX] = LIST(RunVertex),
		[FW_REGISTERS_FRAGMENT] = LIST(RunFragment),
		[FW_REGISTERS_COMPUTE] = LIST(RunCompute),
#undef LIST
	};
	static const struct {
		enum fw_register_list list;
		uint32_t number;
		enum fw_field_id row;
	} known[] = {
#define FW_NONE	FW_FIELD_COUNT
#define FW_REGISTER(list, name, number, row, source) { FW_REGISTERS_##list, number, FW_##row },
#include "../registers_g14x.def"
#undef FW_REGISTER
#undef FW_NONE
	};
	struct rig_ptr at;
	uint32_t count = 0;
	size_t i;

	if (fw_fields[fields[list].registers].offset[RIG_ABI] == FW_ABSENT)
		return;
	at = sub(command, fields[list].registers, FW_S_RegisterDefinition, 0);
	put(command, fields[list].addr, at.va);
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].list != list)
			continue;
		put(at, FW_RegisterDefinition_number, known[i].number);
		put(at, FW_RegisterDefinition_data,
		    rig_register_value(known[i].number, known[i].row, others));
		at.host += size_of(FW_S_RegisterDefinition);
		count++;
	}
	put(command, fields[list].count, count);
	put(command, fields[list].length, count * size_of(FW_S_RegisterDefinition));
}

/* Memory */

static uint64_t pages(struct rig *rig, size_t size)
{
	uint64_t pa = RIG_RAM_BASE + rig->ram_next;

	rig->ram_next += (size + AGX_PAGE_MASK) & ~AGX_PAGE_MASK;
	assert_true(rig->ram_next <= RIG_RAM);
	return pa;
}

static uint8_t *host_of(struct rig *rig, uint64_t pa)
{
	return rig->ram + (pa - RIG_RAM_BASE);
}

/* Return: the entry of the TTB table with which the context of clients leads to that root */
static uint64_t context_of(uint64_t root)
{
	return root | AGX_TTBR_VALID | (uint64_t)RIG_CONTEXT << AGX_TTBR_ASID_SHIFT;
}

static void set_context(struct rig *rig, uint64_t entry)
{
	uint64_t *ttb = (uint64_t *)host_of(rig, rig->ttbs) + 2 * RIG_CONTEXT;

	__atomic_store_n(ttb, entry, __ATOMIC_RELEASE);
}

struct rig_ptr rig_page(struct rig *rig)
{
	uint64_t pa = pages(rig, AGX_PAGE_SIZE);

	return (struct rig_ptr){ .va = pa, .host = host_of(rig, pa) };
}

uint64_t *rig_pte(struct rig *rig, uint64_t root, uint64_t va)
{
	static const struct {
		unsigned int shift, entries;
	} level[] = { { 36, 8 }, { 25, 2048 }, { 14, 2048 } };
	uint64_t table = root;

	for (unsigned int i = 0;; i++) {
		uint64_t *pte =
			(uint64_t *)host_of(rig, table) + (va >> level[i].shift) % level[i].entries;

		if (i == 2)
			return pte;
		if (!*pte)
			*pte = pages(rig, AGX_PAGE_SIZE) | AGX_PTE_TYPE;
		table = *pte & AGX_TTBR_ADDR_MASK;
	}
}

void rig_map(struct rig *rig, uint64_t root, uint64_t va, uint64_t pa, uint64_t prot)
{
	*rig_pte(rig, root, va) = pa | prot | AGX_PTE_OS | AGX_PTE_AF | AGX_PTE_TYPE |
				  (root == rig->root ? 0 : AGX_PTE_NG);
}

/* Every allocation has pages of its own */
struct rig_ptr rig_alloc(struct rig *rig, enum rig_heap heap, size_t size)
{
	static const struct {
		uint64_t start, prot;
	} heaps[RIG_HEAPS] = {
		[RIG_PRIVATE] = { AGX_VA_PRIVATE_START, AGX_PROT_FW_PRIV_RW },
		[RIG_GPU_RO] = { AGX_VA_GPU_RO_START, AGX_PROT_GPU_RO_FW_PRIV_RW },
		[RIG_SHARED] = { AGX_VA_SHARED_START, AGX_PROT_FW_SHARED_RW },
		[RIG_TIMESTAMP] = { AGX_VA_TIMESTAMP_START, AGX_PROT_FW_SHARED_RW },
	};
	uint64_t va = heaps[heap].start + rig->heap_next[heap], pa = pages(rig, size);

	for (uint64_t offset = 0; offset < size; offset += AGX_PAGE_SIZE)
		rig_map(rig, rig->root, va + offset, pa + offset, heaps[heap].prot);
	rig->heap_next[heap] += ((size + AGX_PAGE_MASK) & ~AGX_PAGE_MASK) + AGX_PAGE_SIZE;
	return (struct rig_ptr){ .va = va, .host = host_of(rig, pa) };
}

/* InitData */

static void set_channel(struct rig_ptr info, struct rig_ring *ring)
{
	put(info, FW_ChannelInfo_state_addr, ring->state.va);
	put(info, FW_ChannelInfo_ringbuffer_addr, ring->entries.va);
}

static void build_channels(struct rig *rig)
{
	for (unsigned int i = 0; i < 17; i++) {
		bool to_fw = i <= CHANNEL_CONTROL;
		size_t stride = i < CHANNEL_CONTROL    ? size_of(FW_S_RunMsg)
				: i == CHANNEL_CONTROL ? size_of(FW_S_DcMsg)
						       : 0x40;
		size_t copies = i == CHANNEL_LOG ? 6 : 2;

		rig->channel[i].state = rig_alloc(rig, RIG_SHARED, 6 * size_of(FW_S_RingState));
		rig->channel[i].entries =
			rig_alloc(rig, to_fw ? RIG_PRIVATE : RIG_SHARED, stride * 0x100 * copies);
		set_channel(sub(rig->runtime, FW_RuntimePointers_channels, FW_S_ChannelInfo, i),
			    &rig->channel[i]);
	}
	rig->fwctl.state = rig_alloc(rig, RIG_SHARED, size_of(FW_S_FwCtlRingState));
	rig->fwctl.entries = rig_alloc(rig, RIG_SHARED, 0x100 * size_of(FW_S_FwCtlMsg));
	set_channel(sub(rig->status, FW_FwStatus_fwctl_channel, FW_S_ChannelInfo, 0), &rig->fwctl);
}

static void map_io_element(struct rig *rig, const struct vagx_io_range *range, unsigned int i,
			   uint64_t va)
{
	uint64_t offset = range->phys & AGX_PAGE_MASK;
	uint64_t phys = range->phys - offset + i / range->count * VAGX_DIE_STRIDE +
			i % range->count * (uint64_t)range->stride;

	for (uint64_t page = 0; page < offset + range->size; page += AGX_PAGE_SIZE)
		rig_map(rig, rig->root, va + page, phys + page,
			range->write ? AGX_PROT_FW_MMIO_RW : AGX_PROT_FW_MMIO_RO);
}

static void build_io_mappings(struct rig *rig, bool as_m1n1)
{
	uint64_t va = AGX_VA_MMIO_START;

	for (unsigned int index = 0; index < VAGX_IO_RANGES; index++) {
		const struct vagx_io_range *m1n1 = vagx_soc_io_m1n1(rig->soc, index);
		const struct vagx_io_range *range = as_m1n1 && m1n1 ? m1n1 : &rig->soc->io[index];
		struct rig_ptr io = sub(rig->hwdata_b, FW_HwDataB_io_mappings, FW_S_IoMapping,
					index);
		uint64_t offset = range->phys & AGX_PAGE_MASK;
		uint64_t pages = (offset + range->size + AGX_PAGE_MASK) & ~(uint64_t)AGX_PAGE_MASK;
		unsigned int elements = range->count * range->dies;

		if (!elements)
			continue;
		put(io, FW_IoMapping_phys_addr, range->phys);
		put(io, FW_IoMapping_virt_addr, va + offset);
		put(io, FW_IoMapping_size, range->size * elements);
		put(io, FW_IoMapping_range_size, range->size);
		put(io, FW_IoMapping_readwrite, range->write);
		for (unsigned int i = 0; i < elements; i++, va += pages)
			map_io_element(rig, range, i, va);
	}
}

/* The GPU's memory on the chip, where it has some, behind all ranges of registers */
static void map_sram(struct rig *rig)
{
	const uint64_t va = AGX_VA_MMIO_START + (UINT64_C(1) << 30);

	for (uint32_t offset = 0; offset < rig->soc->sram_size; offset += AGX_PAGE_SIZE)
		rig_map(rig, rig->root, va + offset, rig->soc->sram + offset,
			AGX_PROT_FW_SHARED_RW);
	if (rig->soc->sram_size)
		put(rig->hwdata_b, FW_HwDataB_sgx_sram_ptr, va);
}

/* What the firmware alone writes to */
static const struct {
	enum fw_field_id pointer;
	size_t size;
} own_memory[RIG_OWN] = {
	{ FW_RuntimePointers_stats_cp_addr, 0x1180 },
	{ FW_RuntimePointers_unkptr_198, 0xc0 },
	{ FW_RuntimePointers_unkptr_1b8, 0x1000 },
	{ FW_RuntimePointers_unkptr_1c0, 0x300 },
	{ FW_RuntimePointers_unkptr_1c8, 0x1000 },
};

static void build_own(struct rig *rig)
{
	for (unsigned int i = 0; i < RIG_OWN; i++) {
		rig->own[i] = rig_alloc(rig, RIG_PRIVATE, own_memory[i].size);
		if (fw_fields[own_memory[i].pointer].offset[RIG_ABI] != FW_ABSENT)
			put(rig->runtime, own_memory[i].pointer, rig->own[i].va);
	}
}

static void build_runtime(struct rig *rig, bool as_m1n1)
{
	struct rig_ptr at = rig->runtime;
	uint64_t bufmgr = pages(rig, AGX_PAGE_SIZE), low;

	rig->hwdata_a = rig_alloc(rig, RIG_PRIVATE, size_of(FW_S_HwDataA));
	rig->hwdata_b = rig_alloc(rig, RIG_PRIVATE, size_of(FW_S_HwDataB));
	rig->stats3d = rig_alloc(rig, RIG_PRIVATE, size_of(FW_S_Stats3d));
	rig->log_payload = rig_alloc(rig, RIG_SHARED, 6 * 0x100 * 0xd8);
	put(rig->stats3d, FW_Stats3d_cur_stamp_id, UINT32_MAX);
	put(rig->stats3d, FW_Stats3d_unk_118, UINT32_MAX);
	put(at, FW_RuntimePointers_stats_ta_addr,
	    rig_alloc(rig, RIG_PRIVATE, size_of(FW_S_StatsTa)).va);
	put(at, FW_RuntimePointers_stats_3d_addr, rig->stats3d.va);
	build_own(rig);
	put(at, FW_RuntimePointers_hwdata_a_addr, rig->hwdata_a.va);
	put(at, FW_RuntimePointers_fault_info_addr, rig_alloc(rig, RIG_SHARED, 0x80).va);
	put(at, FW_RuntimePointers_hwdata_b_addr, rig->hwdata_b.va);
	put(at, FW_RuntimePointers_hwdata_b_addr2, rig->hwdata_b.va);
	put(at, FW_RuntimePointers_fwlog_ring2, rig->log_payload.va);
	put(at, FW_RuntimePointers_unk_6b38, 0xff);

	rig_map(rig, rig->root, AGX_VA_BUFMGR, bufmgr, AGX_PROT_FW_SHARED_RW);
	low = pages(rig, AGX_PAGE_SIZE);
	*(uint64_t *)host_of(rig, rig->ttbs) = low | AGX_TTBR_VALID;
	rig_map(rig, low, AGX_VA_BUFMGR_LOW, bufmgr, AGX_PROT_GPU_SHARED_RW);
	put(at, FW_RuntimePointers_buffer_mgr_ctl_addr, AGX_VA_BUFMGR);
	put(at, FW_RuntimePointers_buffer_mgr_ctl_gpu_addr, AGX_VA_BUFMGR_LOW);
	build_io_mappings(rig, as_m1n1);
	map_sram(rig);
}

static void build_initdata(struct rig *rig, bool as_m1n1)
{
	static const uint16_t plain[4] = { 0x6ba0, 0x1f28, 0x601, 0xb0 };
	static const uint16_t g14x[4] = { 0xb390, 0x70f8, 0x601, 0xb0 };
	const uint16_t *version = RIG_ABI == FW_ABI_13_5_G14X ? g14x : plain;
	static const struct {
		unsigned int shift, entries;
	} level[3] = { { 36, 8 }, { 25, 2048 }, { 14, 2048 } };

	rig->init = rig_alloc(rig, RIG_PRIVATE, size_of(FW_S_InitData));
	rig->runtime = rig_alloc(rig, RIG_PRIVATE, size_of(FW_S_RuntimePointers));
	rig->globals = rig_alloc(rig, RIG_PRIVATE, size_of(FW_S_Globals));
	rig->status = rig_alloc(rig, RIG_SHARED, size_of(FW_S_FwStatus));
	for (unsigned int i = 0; i < 4; i++)
		put_at(rig->init, FW_InitData_ver_info, i, version[i]);
	put(rig->init, FW_InitData_regionA_addr, rig_alloc(rig, RIG_SHARED, 0x4000).va);
	put(rig->init, FW_InitData_regionB_addr, rig->runtime.va);
	put(rig->init, FW_InitData_regionC_addr, rig->globals.va);
	put(rig->init, FW_InitData_fw_status_addr, rig->status.va);
	put(rig->init, FW_InitData_uat_page_size, 0x4000);
	put(rig->init, FW_InitData_uat_page_bits, 14);
	put(rig->init, FW_InitData_uat_num_levels, 3);
	put(rig->init, FW_InitData_host_mapped_fw_allocations, 1);
	for (unsigned int i = 0; i < 3; i++) {
		struct rig_ptr at =
			sub(rig->init, FW_InitData_uat_level_info, FW_S_UatLevelInfo, i);

		put(at, FW_UatLevelInfo_unk_3, 8);
		put(at, FW_UatLevelInfo_unk_1, 14);
		put(at, FW_UatLevelInfo_unk_2, 14);
		put(at, FW_UatLevelInfo_index_shift, level[i].shift);
		put(at, FW_UatLevelInfo_num_entries, level[i].entries);
		put(at, FW_UatLevelInfo_unk_4, 0x4000);
		put(at, FW_UatLevelInfo_unk_8, 1);
		put(at, FW_UatLevelInfo_phys_mask, 0xffffffc000);
		put(at, FW_UatLevelInfo_index_mask,
		    (uint64_t)(level[i].entries - 1) << level[i].shift);
	}
	build_runtime(rig, as_m1n1);
	build_channels(rig);
	rig->stamps = rig_alloc(rig, RIG_SHARED, 128 * 4);
	rig->fw_stamps = rig_alloc(rig, RIG_PRIVATE, 128 * 4);
}

void rig_map_ram(struct rig *rig)
{
	assert_int_equal(vagx_mem_map(rig->mem, RIG_RAM_BASE, RIG_RAM, rig->fd, 0,
				      VAGX_MEM_READ | VAGX_MEM_WRITE),
			 0);
}

static uint64_t default_seed(void)
{
	const char *seed = getenv("RIG_SEED");

	return seed ? strtoull(seed, NULL, 0) : 1;
}

struct rig *rig_new(void)
{
	static const struct rig_options options = { .power_off = VAGX_POWER_OFF_LATE };

	return rig_new_with(&options);
}

struct rig *rig_new_with(const struct rig_options *options)
{
	struct rig *rig = calloc(1, sizeof(*rig));
	struct vagx_report_config report = { .level = VAGX_LOG_ERROR };
	struct vagx_uat_config uat = { 0 };
	struct vagx_fw_config config = { .abi = "13.5", .poison = true };
	pthread_condattr_t attr;

	assert_non_null(rig);
	the_rig = rig;
	rig->soc = vagx_soc_find(options->soc ? options->soc : "t8103");
	assert_true(vagx_soc_abi(rig->soc, config.abi, &rig_abi));
	uat.oas_bits = rig->soc->oas_bits;
	config.soc = rig->soc;
	pthread_mutex_init(&rig->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&rig->changed, &attr);
	pthread_condattr_destroy(&attr);

	rig->fd = memfd_create("guest", MFD_CLOEXEC);
	assert_return_code(ftruncate(rig->fd, RIG_RAM), 0);
	rig->ram = mmap(NULL, RIG_RAM, PROT_READ | PROT_WRITE, MAP_SHARED, rig->fd, 0);
	assert_ptr_not_equal(rig->ram, MAP_FAILED);
	rig->mem = vagx_mem_new();
	assert_non_null(rig->mem);
	rig_map_ram(rig);
	rig->stream = fopen("/dev/null", "w");
	report.stream = getenv("RIG_VERBOSE") ? stderr : rig->stream;
	rig->report = vagx_report_new(&report);
	rig->clock = vagx_clock_new();

	rig->ttbs = pages(rig, AGX_PAGE_SIZE);
	rig->handoff = pages(rig, AGX_PAGE_SIZE);
	rig->root = pages(rig, AGX_PAGE_SIZE);
	rig->user_root = pages(rig, AGX_PAGE_SIZE);
	((uint64_t *)host_of(rig, rig->ttbs))[1] = rig->root | AGX_TTBR_VALID;
	set_context(rig, context_of(rig->user_root));
	*(uint64_t *)host_of(rig, rig->handoff) = AGX_HANDOFF_MAGIC;
	uat.mem = rig->mem;
	uat.report = rig->report;
	uat.ttbs = rig->ttbs;
	rig->uat = vagx_uat_new(&uat);
	assert_non_null(rig->uat);
	build_initdata(rig, options->as_m1n1);

	config.mem = rig->mem;
	config.uat = rig->uat;
	config.report = rig->report;
	config.clock = rig->clock;
	config.handoff = rig->handoff;
	config.seed = options->seed ? options->seed : default_seed();
	config.serial = options->serial;
	config.unfair = options->unfair;
	config.statistics = options->statistics;
	config.late_threshold = options->late_threshold;
	config.tvb_pages = options->tvb_pages;
	config.tvb_grow = options->tvb_grow;
	config.no_exec = !options->exec;
	/* Time goes by on a busy host, too: only what tests timeouts has any. */
	config.job_timeout_ms = options->timeout_ms ? options->timeout_ms : 60000;
	config.dump = options->dump;
	config.power_off = options->power_off;
	config.dirty_ms = options->dirty_ms;
	config.halt_delay_ms = options->halt_delay_ms;
	config.event_delay_ms = options->event_delay_ms;
	config.doorbell_delay_ms = options->doorbell_delay_ms;
	config.send = on_send;
	config.set_fault_regs = on_fault;
	config.set_fault_value = on_fault_value;
	config.set_deaf = on_deaf;
	config.crashed = on_crash;
	config.ctx = rig;
	rig->fw = vagx_fw_new(&config);
	assert_non_null(rig->fw);
	return rig;
}

/* A driver that has broken no rule leaves nothing behind, which takes a moment */
static void rig_expect_rest(struct rig *rig)
{
	char left[256];

	for (unsigned int i = 0; i < 5000; i++) {
		if (!vagx_fw_at_rest(rig->fw, false, left, sizeof(left)))
			return;
		usleep(1000);
	}
	fail_msg("the firmware is not at rest: %s", left);
}

void rig_drop(struct rig *rig)
{
	vagx_fw_free(rig->fw);
	vagx_uat_free(rig->uat);
	vagx_clock_free(rig->clock);
	vagx_report_free(rig->report);
	fclose(rig->stream);
	vagx_mem_free(rig->mem);
	munmap(rig->ram, RIG_RAM);
	close(rig->fd);
	pthread_cond_destroy(&rig->changed);
	pthread_mutex_destroy(&rig->lock);
	free(rig);
}

void rig_free(struct rig *rig)
{
	if (!rig_findings(rig))
		rig_expect_rest(rig);
	rig_drop(rig);
}

/* Messages */

void rig_doorbell(struct rig *rig, unsigned int channel)
{
	vagx_fw_message(rig->fw, 0x21, 0x83ULL << 48 | channel);
}

void rig_init(struct rig *rig)
{
	vagx_fw_message(rig->fw, 0x20, 0x81ULL << 48 | (rig->init.va & 0xfffffffffff));
}

static void advance(struct rig_ring *ring, enum fw_field_id field)
{
	ring->wptr = (ring->wptr + 1) % 0x100;
	publish(ring->state, field, ring->wptr);
}

struct rig_ptr rig_control(struct rig *rig, uint32_t type)
{
	struct rig_ring *ring = &rig->channel[CHANNEL_CONTROL];
	size_t offset = ring->wptr * size_of(FW_S_DcMsg);
	struct rig_ptr msg = { .va = ring->entries.va + offset,
			       .host = ring->entries.host + offset };

	memset(msg.host, 0, size_of(FW_S_DcMsg));
	put(msg, FW_DcMsg_msg_type, type);
	return msg;
}

void rig_control_send(struct rig *rig)
{
	advance(&rig->channel[CHANNEL_CONTROL], FW_RingState_write_ptr);
	rig_doorbell(rig, 0x11);
}

void rig_initialize(struct rig *rig)
{
	rig_control(rig, 0x1a);
	rig_control_send(rig);
}

void rig_boot(struct rig *rig)
{
	vagx_fw_start(rig->fw);
	rig_init(rig);
	rig_initialize(rig);
	rig_doorbell(rig, 0x10);
	rig_wait_control(rig);
}

void rig_flush(struct rig *rig, uint64_t va, uint64_t size)
{
	uint64_t *entry = (uint64_t *)(host_of(rig, rig->handoff) + AGX_HANDOFF_FLUSH_ENTRY(0x40));
	struct rig_ring *ring = &rig->fwctl;
	size_t offset = ring->wptr * size_of(FW_S_FwCtlMsg);
	struct rig_ptr msg = { .va = ring->entries.va + offset,
			       .host = ring->entries.host + offset };

	if (size) {
		entry[1] = va;
		entry[2] = size;
		entry[0] = 1;
	}
	memset(msg.host, 0, size_of(FW_S_FwCtlMsg));
	put(msg, FW_FwCtlMsg_context_id, 0x40);
	put(msg, FW_FwCtlMsg_unk_10, 1);
	put(msg, FW_FwCtlMsg_unk_12, 2);
	advance(ring, FW_FwCtlRingState_write_ptr);
	vagx_fw_message(rig->fw, 0x21, 0x84ULL << 48);
}

/* Queues */

void rig_queue_new(struct rig *rig, struct rig_queue *queue, unsigned int pipe, unsigned int slot)
{
	memset(queue, 0, sizeof(*queue));
	queue->pipe = pipe;
	queue->slot = slot;
	queue->info = rig_alloc(rig, RIG_PRIVATE, size_of(FW_S_QueueInfo));
	queue->pointers = rig_alloc(rig, RIG_SHARED, size_of(FW_S_QueuePointers));
	queue->ring = rig_alloc(rig, RIG_SHARED, 0x500 * 8);
	queue->context = rig_alloc(rig, RIG_SHARED, size_of(FW_S_GpuContextData));
	queue->notifier = rig_alloc(rig, RIG_SHARED, size_of(FW_S_EventControl));
	queue->threshold = rig_alloc(rig, RIG_SHARED, 8);
	queue->list = rig_alloc(rig, RIG_SHARED, size_of(FW_S_JobList));

	put(queue->pointers, FW_QueuePointers_rb_size, 0x500);
	put(queue->list, FW_JobList_last_head, queue->list.va);
	put(queue->context, FW_GpuContextData_queue_table_index, 0xff);
	put(queue->context, FW_GpuContextData_pid_table_index, 0xff);
	put(queue->context, FW_GpuContextData_unk_5, 1);
	put(queue->context, FW_GpuContextData_unk_1e, 0xff);
	put(queue->context, FW_GpuContextData_unk_23, 2);
	put(queue->info, FW_QueueInfo_pointers_addr, queue->pointers.va);
	put(queue->info, FW_QueueInfo_rb_addr, queue->ring.va);
	put(queue->info, FW_QueueInfo_job_list_addr, queue->list.va);
	put(queue->info, FW_QueueInfo_gpu_buf_addr, rig_alloc(rig, RIG_PRIVATE, 0x2c18).va);
	put(queue->info, FW_QueueInfo_event_id, UINT32_MAX);
	put(queue->info, FW_QueueInfo_unk_4c, UINT32_MAX);
	put(queue->info, FW_QueueInfo_unk_54, UINT32_MAX);
	put(queue->info, FW_QueueInfo_priority, 2);
	put(queue->info, FW_QueueInfo_unk_34, 2);
	put(queue->info, FW_QueueInfo_unk_38, 0xffff000000000000);
	put(queue->info, FW_QueueInfo_prio5, 2);
	put(queue->info, FW_QueueInfo_gpu_context_addr, queue->context.va);
	put(queue->notifier, FW_EventControl_event_count_addr, queue->threshold.va);
	put(queue->notifier, FW_EventControl_unk_10, 0x50);
	memset(queue->notifier.host + fw_fields[FW_EventControl_unk_buf].offset[RIG_ABI], 0xff, 8);
	queue->stamp = *(uint32_t *)(rig->fw_stamps.host + 4 * slot);
}

static struct rig_ptr at_offset(struct rig_ptr at, uint32_t offset)
{
	return (struct rig_ptr){ .va = at.va + offset, .host = at.host + offset };
}

static uint64_t va_of(struct rig_ptr at, enum fw_field_id field)
{
	return at.va + fw_fields[field].offset[RIG_ABI];
}

static uint32_t add_timestamp(struct rig_queue *queue, struct rig_command *command, uint32_t offset,
			      bool start)
{
	struct rig_ptr op = at_offset(command->sequence, offset), cmd = command->command;

	put(op, FW_Timestamp_magic, 0x19);
	put(op, FW_Timestamp_unk_3, start ? 0x80 : 0);
	put(op, FW_Timestamp_ts0_addr, va_of(cmd, FW_RunCompute_ts1));
	put(op, FW_Timestamp_ts_pointers_addr, va_of(cmd, FW_RunCompute_ts_pointers));
	put(op, FW_Timestamp_unk_addr,
	    va_of(cmd, FW_RunCompute_ts_pointers) +
		    fw_fields[start ? FW_TimestampPointers_start_addr :
				      FW_TimestampPointers_end_addr].offset[RIG_ABI]);
	put(op, FW_Timestamp_cmdqueue_ptr, queue->info.va);
	put(op, FW_Timestamp_user_ts_pointers_addr, va_of(cmd, FW_RunCompute_user_ts_pointers));
	put(op, FW_Timestamp_unk_ts_addr, va_of(cmd, FW_RunCompute_unk_ts));
	put(op, FW_Timestamp_uuid, 7);
	return offset + size_of(FW_S_Timestamp);
}

/* Whether commands have structures, and no registers */
static bool has_structures(void)
{
	return RIG_ABI != FW_ABI_13_5_G14X;
}

static void build_sequence(struct rig *rig, struct rig_queue *queue, struct rig_command *command)
{
	struct rig_ptr cmd = command->command, op = command->sequence;
	uint32_t offset = size_of(FW_S_StartCompute);

	put(op, FW_StartCompute_magic, 0x29);
	put(op, FW_StartCompute_unk_buf_addr, va_of(cmd, has_structures() ? FW_RunCompute_unk_buf :
								    FW_RunCompute_unk_2c));
	put(op, FW_StartCompute_computeinfo_addr, rig_part_va(cmd, FW_RunCompute_compute_info));
	rig_put_registers_va(op, FW_StartCompute_registers_addr, cmd, FW_RunCompute_registers);
	put(op, FW_StartCompute_stats_ptr, get(rig->runtime, FW_RuntimePointers_stats_cp_addr));
	put(op, FW_StartCompute_cmdqueue_ptr, queue->info.va);
	put(op, FW_StartCompute_context_id, RIG_CONTEXT);
	put(op, FW_StartCompute_computeinfo2_addr, va_of(cmd, FW_RunCompute_compute_info2));
	put(op, FW_StartCompute_counter2, queue->sequence);
	put(op, FW_StartCompute_uuid, 7);
	put(op, FW_StartCompute_unk_flag_addr, va_of(cmd, FW_RunCompute_unk_flag));
	put(op, FW_StartCompute_counter, 1);
	put(op, FW_StartCompute_event_ctrl_buf_addr,
	    va_of(queue->notifier, FW_EventControl_unk_buf));
	command->start = 0;

	offset = add_timestamp(queue, command, offset, true);
	*(uint32_t *)(op.host + offset) = rig_wait_word(0x00800001);
	offset = add_timestamp(queue, command, offset + 4, false);

	command->finalize = offset;
	op = at_offset(command->sequence, offset);
	put(op, FW_FinalizeCompute_magic, 0x2a);
	put(op, FW_FinalizeCompute_unkptr_4, get(rig->runtime, FW_RuntimePointers_stats_cp_addr));
	put(op, FW_FinalizeCompute_unkptr_71, va_of(cmd, FW_RunCompute_unk_flag));
	put(op, FW_FinalizeCompute_cmdqueue_ptr, queue->info.va);
	put(op, FW_FinalizeCompute_context_id, RIG_CONTEXT);
	put(op, FW_FinalizeCompute_computeinfo2_addr, va_of(cmd, FW_RunCompute_compute_info2));
	put(op, FW_FinalizeCompute_uuid, 7);
	put(op, FW_FinalizeCompute_stamp, rig->fw_stamps.va + 4 * queue->slot);
	put(op, FW_FinalizeCompute_stamp_value, command->stamp);
	put(op, FW_FinalizeCompute_restart_branch_offset, -offset);
	offset += size_of(FW_S_FinalizeCompute);

	command->end = offset;
	memcpy(command->sequence.host + offset, &(uint32_t){ 0x40000018 }, 4);
	put(cmd, FW_RunCompute_microsequence_ptr, command->sequence.va);
	put(cmd, FW_RunCompute_microsequence_size, offset + 4);
}

void rig_compute_new(struct rig *rig, struct rig_queue *queue, struct rig_command *command)
{
	struct rig_ptr cmd, at;

	queue->stamp += 0x100;
	command->stamp = queue->stamp;
	command->command = cmd = rig_alloc(rig, RIG_GPU_RO, size_of(FW_S_RunCompute));
	command->sequence = rig_alloc(rig, RIG_PRIVATE, 0x1000);
	put(cmd, FW_RunCompute_magic, 3);
	put(cmd, FW_RunCompute_counter, 1);
	put(cmd, FW_RunCompute_context_id, RIG_CONTEXT);
	put(cmd, FW_RunCompute_event_control_addr, queue->notifier.va);

	at = rig_part(cmd, FW_RunCompute_compute_info, FW_S_ComputeInfo);
	put(at, FW_ComputeInfo_encoder, 0x1500000000);
	put(at, FW_ComputeInfo_pipeline_base, 0x1100000000);
	put(at, FW_ComputeInfo_unk_38, 0x8c60);
	put(at, FW_ComputeInfo_unk_58, 1);
	put(at, FW_ComputeInfo_helper_program, 0x11);
	put(at, FW_ComputeInfo_helper_arg, 0x22);
	put(at, FW_ComputeInfo_helper_cfg, 0x33);
	rig_registers(cmd, FW_REGISTERS_COMPUTE, &(struct rig_register){ 0 });
	at = sub(cmd, FW_RunCompute_compute_info2, FW_S_ComputeInfo2, 0);
	put(at, FW_ComputeInfo2_encoder_end, 0x1500000100);
	at = sub(cmd, FW_RunCompute_encoder_params, FW_S_EncoderParams, 0);
	put(at, FW_EncoderParams_iogpu_compute_unk44, UINT32_MAX);
	put(at, FW_EncoderParams_sampler_array, 0x1600000000);
	put(at, FW_EncoderParams_sampler_count, 4);
	put(at, FW_EncoderParams_sampler_max, 5);
	at = sub(cmd, FW_RunCompute_job_meta, FW_S_JobMeta, 0);
	put(at, FW_JobMeta_stamp_addr, rig->stamps.va + 4 * queue->slot);
	put(at, FW_JobMeta_fw_stamp_addr, rig->fw_stamps.va + 4 * queue->slot);
	put(at, FW_JobMeta_stamp_value, command->stamp);
	put(at, FW_JobMeta_stamp_slot, queue->slot);
	put(at, FW_JobMeta_uuid, 7);
	put(at, FW_JobMeta_queue_cmd_count, queue->sequence);
	build_sequence(rig, queue, command);
	queue->sequence++;
}

void rig_compute_base(struct rig_command *command, uint64_t base)
{
	put(sub(command->command, FW_RunCompute_compute_info, FW_S_ComputeInfo, 0),
	    FW_ComputeInfo_encoder, base);
}

struct rig_ptr rig_barrier_new(struct rig *rig, unsigned int slot, uint32_t value)
{
	struct rig_ptr at = rig_alloc(rig, RIG_PRIVATE, size_of(FW_S_Barrier));

	put(at, FW_Barrier_magic, 4);
	put(at, FW_Barrier_stamp_addr, rig->fw_stamps.va + 4 * slot);
	put(at, FW_Barrier_wait_value, value);
	put(at, FW_Barrier_event, slot);
	return at;
}

void rig_forget_rings(struct rig *rig)
{
	for (unsigned int i = 0; i < 17; i++) {
		memset(rig->channel[i].state.host, 0, 6 * size_of(FW_S_RingState));
		rig->channel[i].wptr = 0;
	}
	memset(rig->fwctl.state.host, 0, size_of(FW_S_FwCtlRingState));
	rig->fwctl.wptr = 0;
	rig->event_rptr = 0;
}

void rig_forget(struct rig *rig)
{
	rig_forget_rings(rig);
	put(rig->status, FW_FwStatus_halt_count, 0);
	put(rig->status, FW_FwStatus_halted, 0);
	put(rig->status, FW_FwStatus_resume, 0);
	for (unsigned int i = 0; i < RIG_OWN; i++)
		memset(rig->own[i].host, 0, own_memory[i].size);
}

void rig_push(struct rig *rig, struct rig_queue *queue, uint64_t command)
{
	memcpy(queue->ring.host + 8 * queue->wptr, &command, 8);
	queue->wptr = (queue->wptr + 1) % 0x500;
	publish(queue->pointers, FW_QueuePointers_cpu_wptr, queue->wptr);
}

void rig_message(struct rig *rig, struct rig_queue *queue, unsigned int priority)
{
	struct rig_ring *ring = &rig->channel[priority * 3 + queue->pipe];
	struct rig_ptr msg = at_offset(ring->entries, ring->wptr * size_of(FW_S_RunMsg));

	memset(msg.host, 0, size_of(FW_S_RunMsg));
	put(msg, FW_RunMsg_queue_type, queue->pipe);
	put(msg, FW_RunMsg_cmdqueue_addr, queue->info.va);
	put(msg, FW_RunMsg_head, queue->wptr);
	put(msg, FW_RunMsg_event_number, queue->slot);
	put(msg, FW_RunMsg_new_queue, !queue->known);
	queue->known = true;
	advance(ring, FW_RingState_write_ptr);
}

void rig_announce(struct rig *rig, struct rig_queue *queue, unsigned int priority)
{
	rig_message(rig, queue, priority);
	rig_doorbell(rig, priority << 2 | queue->pipe);
}

void rig_count(struct rig *rig, struct rig_queue *queue)
{
	uint32_t *threshold = (uint32_t *)queue->threshold.host;

	__atomic_fetch_add(threshold, 1, __ATOMIC_SEQ_CST);
	put(rig->globals, FW_Globals_unk_atomic, get(rig->globals, FW_Globals_unk_atomic) + 1);
}

void rig_submit(struct rig *rig, struct rig_queue *queue, uint64_t command)
{
	rig_count(rig, queue);
	rig_push(rig, queue, command);
	rig_announce(rig, queue, 2);
}

/* Waiting */

void rig_forget_context(struct rig *rig)
{
	set_context(rig, 0);
}

void rig_empty_context(struct rig *rig)
{
	set_context(rig, context_of(pages(rig, AGX_PAGE_SIZE)));
}

bool rig_wait(struct rig *rig, bool (*done)(struct rig *rig, const void *arg), const void *arg)
{
	struct timespec nap = { .tv_nsec = 500000 };

	for (unsigned int i = 0; i < 20000; i++) {
		if (done(rig, arg))
			return true;
		nanosleep(&nap, NULL);
	}
	return false;
}

struct stamp_wait {
	unsigned int slot;
	uint32_t value;
};

static bool stamp_there(struct rig *rig, const void *arg)
{
	const struct stamp_wait *wait = arg;

	return __atomic_load_n((uint32_t *)(rig->stamps.host + 4 * wait->slot), __ATOMIC_ACQUIRE) ==
	       wait->value;
}

bool rig_wait_stamp(struct rig *rig, unsigned int slot, uint32_t value)
{
	struct stamp_wait wait = { .slot = slot, .value = value };

	return rig_wait(rig, stamp_there, &wait);
}

static bool rule_broken(struct rig *rig, const void *arg)
{
	return vagx_report_count(rig->report, *(const enum vagx_rule *)arg);
}

bool rig_wait_rule(struct rig *rig, enum vagx_rule rule)
{
	return rig_wait(rig, rule_broken, &rule);
}

static bool has_crashed(struct rig *rig, const void *arg)
{
	return vagx_fw_is_crashed(rig->fw);
}

bool rig_wait_crash(struct rig *rig)
{
	return rig_wait(rig, has_crashed, NULL);
}

static bool control_done(struct rig *rig, const void *arg)
{
	struct rig_ring *ring = &rig->channel[CHANNEL_CONTROL];

	return vagx_fw_is_crashed(rig->fw) ||
	       __atomic_load_n((uint32_t *)ring->state.host, __ATOMIC_ACQUIRE) == ring->wptr;
}

bool rig_wait_control(struct rig *rig)
{
	return rig_wait(rig, control_done, NULL);
}

struct rig_ptr rig_event(struct rig *rig)
{
	struct rig_ring *ring = &rig->channel[CHANNEL_EVENT];
	uint32_t wptr = __atomic_load_n((uint32_t *)(ring->state.host + 0x20), __ATOMIC_ACQUIRE);
	struct rig_ptr event = { 0 };

	if (wptr == rig->event_rptr)
		return event;
	event = at_offset(ring->entries, rig->event_rptr * size_of(FW_S_EventMsg));
	rig->event_rptr = (rig->event_rptr + 1) % 0x100;
	publish(ring->state, FW_RingState_read_ptr, rig->event_rptr);
	return event;
}

static bool event_there(struct rig *rig, const void *arg)
{
	*(struct rig_ptr *)arg = rig_event(rig);
	return ((struct rig_ptr *)arg)->host;
}

struct rig_ptr rig_wait_event(struct rig *rig)
{
	struct rig_ptr event = { 0 };

	assert_true(rig_wait(rig, event_there, &event));
	return event;
}

void rig_resume(struct rig *rig)
{
	publish(rig->status, FW_FwStatus_halted, 0);
	publish(rig->status, FW_FwStatus_resume, 1);
}

struct rig_units rig_units_of(struct rig *rig)
{
	struct rig_units units;

	pthread_mutex_lock(&rig->lock);
	units = rig->units;
	pthread_mutex_unlock(&rig->lock);
	return units;
}

void rig_hang(struct rig *rig, bool hang)
{
	pthread_mutex_lock(&rig->lock);
	rig->units.hang = hang;
	if (!hang)
		pthread_cond_broadcast(&rig->changed);
	pthread_mutex_unlock(&rig->lock);
}

uint32_t rig_stamp(struct rig *rig, unsigned int slot)
{
	return __atomic_load_n((uint32_t *)(rig->stamps.host + 4 * slot), __ATOMIC_ACQUIRE);
}

bool rig_is_pending(struct rig *rig, unsigned int slot, uint32_t value)
{
	for (unsigned int i = 0; i < 0x100; i++) {
		struct rig_ptr pending =
			sub(rig->globals, FW_Globals_pending_stamps, FW_S_PendingStamp, i);

		if (get(pending, FW_PendingStamp_info) == (slot << 4 | 1) &&
		    get(pending, FW_PendingStamp_wait_value) == value)
			return true;
	}
	return false;
}

unsigned int rig_findings(struct rig *rig)
{
	unsigned int findings = 0;

	for (unsigned int i = 0; i < VAGX_RULE_COUNT; i++)
		findings += vagx_report_count(rig->report, i);
	return findings;
}

/* What tests of this program have seen broken by itself */
static bool rig_seen[VAGX_RULES_AND_CLAUSES];

static bool is_one_of(enum vagx_rule clause, const enum vagx_rule *list)
{
	for (; list && *list != VAGX_KEPT; list++) {
		if (*list == clause)
			return true;
	}
	return false;
}

void rig_saw(struct rig *rig, enum vagx_rule clause, const enum vagx_rule *also)
{
	if (!rig_wait_rule(rig, clause))
		fail_msg("%s was not seen", vagx_rule_info(clause)->id);
	for (unsigned int i = 0; i < VAGX_RULES_AND_CLAUSES; i++) {
		if (vagx_rule_is_leaf(i) && i != clause && !is_one_of(i, also) &&
		    vagx_report_count(rig->report, i))
			fail_msg("%s was seen as well", vagx_rule_info(i)->id);
	}
	assert_true(vagx_rule_is_leaf(clause));
	rig_seen[clause] = true;
}

void rig_assert_seen(bool (*wanted)(const char *id))
{
	unsigned int missing = 0, count = 0;

	for (unsigned int i = 0; i < VAGX_RULES_AND_CLAUSES; i++) {
		const char *id = vagx_rule_info(i)->id;

		if (!vagx_rule_is_leaf(i) || !wanted(id))
			continue;
		count++;
		if (rig_seen[i])
			continue;
		missing++;
		print_message("# %s is not provoked\n", id);
	}
	print_message("# %u clauses, %u of them not provoked\n", count, missing);
	assert_int_equal(missing, 0);
}

void rig_assert_clean(struct rig *rig)
{
	vagx_report_summary(rig->report);
	assert_int_equal(rig_findings(rig), 0);
	assert_false(vagx_fw_is_crashed(rig->fw));
}
