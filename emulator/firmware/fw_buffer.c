// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * Tiled vertex buffers. The driver hands over pages of the client's address space in lists,
 * InitBuffer puts a buffer into one of the firmware's slots, and renders take pages from there and
 * give them back (m1n1 agx/context.py GPUBufferManager, asahi buffer.rs).
 *
 * Pages are taken in turn, beginning behind the one that was taken last, and each remembers the
 * scene that has it. While a scene has some, the lists may only grow, and Info may not change.
 *
 * With the firmware's lock held. Workers take pages from within a job by fw_tvb.c, which takes it.
 */
#include "fw_buffer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FW_CONTEXTS		64

/* Fields of Info that only the driver writes, and only while the buffer has no scene */
static const enum fw_field_id fw_buffer_info_words[] = {
	FW_BufferInfo_page_list_addr, FW_BufferInfo_page_list_size, FW_BufferInfo_page_count,
	FW_BufferInfo_unk_30,	      FW_BufferInfo_block_count,    FW_BufferInfo_block_list_addr,
	FW_BufferInfo_block_ctl_addr, FW_BufferInfo_last_page,	    FW_BufferInfo_block_size,
	FW_BufferInfo_counter_addr,
};

#define INFO_WORDS (sizeof(fw_buffer_info_words) / sizeof(fw_buffer_info_words[0]))

/**
 * struct fw_buffer - a slot
 * @info: address of the buffer's Info, 0 when the slot has never been initialised
 * @gpu_context: GPU context of the queue that initialised it
 * @vm_slot: the MMU's context of the client whose pages they are
 * @vm_root: what was in it
 * @word: what Info said when its first scene began, in the order of info_words
 * @page: numbers of the pages, as in the driver's list
 * @user: which scene has each of them
 * @pages: their number
 * @announced: blocks that the last InitBuffer told of
 * @taken: how many of them are in use
 * @next: where to look for a free one first
 * @renders: renders so far
 * @changes: how often there were more free pages, because a scene ended or the buffer grew
 */
struct fw_buffer {
	uint64_t info;
	uint64_t gpu_context;
	unsigned int vm_slot;
	uint64_t vm_root;
	uint64_t word[INFO_WORDS];
	uint32_t *page;
	const struct fw_scene **user;
	uint32_t pages;
	uint32_t announced;
	uint32_t taken;
	uint32_t next;
	uint32_t renders;
	uint32_t changes;
};

struct fw_buffers {
	struct fw_buffer slot[FW_BUFFERS];
};

struct fw_buffers *fw_buffers_new(void)
{
	return calloc(1, sizeof(struct fw_buffers));
}

static void fw_buffer_drop(struct fw_buffer *buffer)
{
	free(buffer->page);
	free(buffer->user);
	memset(buffer, 0, sizeof(*buffer));
}

void fw_buffers_free(struct fw_buffers *buffers)
{
	if (!buffers)
		return;
	for (unsigned int i = 0; i < FW_BUFFERS; i++)
		fw_buffer_drop(&buffers->slot[i]);
	free(buffers);
}

void fw_buffers_forget_all(struct vagx_firmware *fw)
{
	for (unsigned int i = 0; i < FW_BUFFERS; i++)
		fw_buffer_drop(&fw->buffers->slot[i]);
}

/* Memory that has to be there for as long as the firmware remembers it */

static void fw_buffer_read_words(const struct fw_view *info, uint64_t *word)
{
	for (unsigned int i = 0; i < INFO_WORDS; i++)
		word[i] = fw_get(info, fw_buffer_info_words[i]);
}

/* Whether Info is mapped, has the pointers that it had, and these are mapped. Reports nothing. */
static bool fw_buffer_is_kept(struct fw_access *access, const struct fw_buffer *buffer)
{
	struct fw_view info = fw_view(access, FW_S_BufferInfo, buffer->info);
	static const enum fw_field_id pointers[] = {
		FW_BufferInfo_page_list_addr,
		FW_BufferInfo_block_list_addr,
		FW_BufferInfo_block_ctl_addr,
		FW_BufferInfo_counter_addr,
	};

	if (!fw_mapped(access, info.va, fw_size(&info), VAGX_WRITE))
		return false;
	for (unsigned int i = 0; i < INFO_WORDS; i++) {
		for (unsigned int n = 0; n < 4; n++) {
			if (fw_buffer_info_words[i] == pointers[n] &&
			    fw_get(&info, fw_buffer_info_words[i]) != buffer->word[i])
				return false;
		}
	}
	return fw_mapped(access, fw_get(&info, FW_BufferInfo_block_ctl_addr),
			 fw_structs[FW_S_BufferBlockControl].size[access->abi], VAGX_WRITE) &&
	       fw_mapped(access, fw_get(&info, FW_BufferInfo_counter_addr),
			 fw_structs[FW_S_BufferCounter].size[access->abi], VAGX_WRITE);
}

/*
 * Reports a buffer that was freed too early: the firmware looks at the one in a slot until its
 * context ends or another buffer comes into the slot.
 */
static void fw_buffer_check_kept(struct fw_access *access, const struct fw_buffer *buffer)
{
	if (buffer->info && !fw_buffer_is_kept(access, buffer))
		vagx_violation(access->report, VAGX_CLAUSE_FW_BUFFER_FREED_info, buffer->info,
			       "BufferInfo",
			       "Info or what it points to is no longer mapped, or its pointers have changed");
}

/*
 * Whether all pages of a buffer are mapped; also true if that cannot be seen, as their address
 * space has lost its context to another one.
 */
static bool fw_buffer_has_pages(struct fw_access *access, const struct fw_buffer *buffer)
{
	if (vagx_uat_ttb(access->uat, buffer->vm_slot, 0) != buffer->vm_root)
		return true;
	for (uint32_t i = 0; i < buffer->pages; i++) {
		uint64_t va = (uint64_t)buffer->page[i] << FW_BUFFER_PAGE_SHIFT;

		if (!vagx_uat_pte(access->uat, buffer->vm_slot, va) ||
		    !vagx_uat_pte(access->uat, buffer->vm_slot, va + AGX_PAGE_SIZE))
			return false;
	}
	return true;
}

static void fw_buffer_check_pages_kept(struct fw_access *access, const struct fw_buffer *buffer)
{
	if (!fw_buffer_has_pages(access, buffer))
		vagx_violation(access->report, VAGX_CLAUSE_FW_BUFFER_FREED_pages, buffer->info,
			       "DestroyContext",
			       "pages of the context's buffer are no longer mapped");
}

void fw_buffers_destroy_context(struct vagx_firmware *fw, uint64_t context)
{
	for (unsigned int i = 0; i < FW_BUFFERS; i++) {
		struct fw_buffer *buffer = &fw->buffers->slot[i];

		if (!buffer->info || buffer->gpu_context != context)
			continue;
		fw_buffer_check_kept(&fw->access, buffer);
		fw_buffer_check_pages_kept(&fw->access, buffer);
		if (fw_scene_of_slot(fw, i))
			vagx_violation(fw->config.report, VAGX_CLAUSE_FW_BUFFER_BUSY_context,
				       buffer->info, "DestroyContext", "slot %u has a scene", i);
		else
			fw_buffer_drop(buffer);
	}
}

/* InitBuffer */

static bool fw_buffer_bad_init(struct fw_access *access, enum vagx_rule rule, uint64_t va,
			       const char *what, uint64_t value)
{
	if (!access->failed)
		vagx_violation(access->report, rule, va, "InitBuffer", "%s is %#" PRIx64, what,
			       value);
	return false;
}

static bool fw_buffer_is_shared(struct fw_access *access, uint64_t va)
{
	return VAGX_PTE_ATTR(vagx_uat_pte(access->uat, 0, va)) == VAGX_ATTR_SHARED;
}

/*
 * Reports a pointer of Info to memory that both processors write and that is not mapped as shared;
 * the references map nothing else of a buffer that way.
 */
static void fw_buffer_check_shared(struct fw_access *access, enum vagx_rule clause,
				   const struct fw_view *info, enum fw_field_id field)
{
	uint64_t va = fw_get(info, field);

	if (!access->failed && va && !fw_buffer_is_shared(access, va))
		vagx_violation(access->report, clause, fw_va(info, field), "BufferInfo",
			       "%s, %#" PRIx64 ", is not in shared memory",
			       fw_fields[field].name, va);
}

/*
 * Compares Info with InitBuffer. Its counts are those of the last time when no scene used the
 * buffer, so there may be more blocks than they say, but not fewer.
 */
static bool fw_buffer_check_info(struct fw_access *access, const struct fw_view *info,
				 uint32_t blocks)
{
	uint32_t count = fw_get(info, FW_BufferInfo_block_count);
	uint32_t pages = fw_get(info, FW_BufferInfo_page_count);
	const struct {
		enum fw_field_id field;
		enum vagx_rule clause;
		bool good;
	} checks[] = {
		{ FW_BufferInfo_block_size, VAGX_CLAUSE_FW_BUFFER_INFO_block_size,
		  fw_get(info, FW_BufferInfo_block_size) ==
			  FW_BUFFER_BLOCK_PAGES * FW_BUFFER_PAGE_SIZE },
		{ FW_BufferInfo_block_count, VAGX_CLAUSE_FW_BUFFER_INFO_no_blocks, count },
		{ FW_BufferInfo_block_count, VAGX_CLAUSE_FW_BUFFER_INFO_blocks, count <= blocks },
		{ FW_BufferInfo_page_count, VAGX_CLAUSE_FW_BUFFER_INFO_pages,
		  pages == count * FW_BUFFER_BLOCK_PAGES },
		{ FW_BufferInfo_last_page, VAGX_CLAUSE_FW_BUFFER_INFO_last_page,
		  fw_get(info, FW_BufferInfo_last_page) == pages - 1 },
		{ FW_BufferInfo_page_list_size, VAGX_CLAUSE_FW_BUFFER_INFO_page_list,
		  fw_get(info, FW_BufferInfo_page_list_size) >=
			  blocks * FW_BUFFER_BLOCK_PAGES * sizeof(uint32_t) },
		{ FW_BufferInfo_unk_30, VAGX_CLAUSE_FW_BUFFER_INFO_30,
		  fw_get(info, FW_BufferInfo_unk_30) >= blocks },
		{ FW_BufferInfo_unk_38, VAGX_CLAUSE_FW_BUFFER_INFO_38,
		  !fw_get(info, FW_BufferInfo_unk_38) },
		{ FW_BufferInfo_unk_80, VAGX_CLAUSE_FW_BUFFER_INFO_80,
		  fw_get(info, FW_BufferInfo_unk_80) == 1 },
		{ FW_BufferInfo_unk_84, VAGX_CLAUSE_FW_BUFFER_INFO_84,
		  fw_get(info, FW_BufferInfo_unk_84) >= blocks * FW_BUFFER_BLOCK_PAGES },
	};
	bool good = true;

	for (unsigned int i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		if (access->failed)
			return false;
		if (checks[i].good)
			continue;
		vagx_violation(access->report, checks[i].clause, fw_va(info, checks[i].field),
			       "BufferInfo", "%s is %#" PRIx64,
			       fw_fields[checks[i].field].name, fw_get(info, checks[i].field));
		good = false;
	}
	fw_buffer_check_shared(access, VAGX_CLAUSE_FW_BUFFER_SHARED_control, info,
			       FW_BufferInfo_block_ctl_addr);
	fw_buffer_check_shared(access, VAGX_CLAUSE_FW_BUFFER_SHARED_counter, info,
			       FW_BufferInfo_counter_addr);
	return good && !access->failed;
}

/*
 * Checks the numbers of blocks that the driver keeps: at least @blocks, as it may have grown the
 * buffer once more meanwhile.
 */
static bool fw_buffer_check_control(struct fw_access *access, const struct fw_view *info,
				    uint32_t blocks)
{
	struct fw_view control = fw_view(access, FW_S_BufferBlockControl,
					 fw_get(info, FW_BufferInfo_block_ctl_addr));
	uint32_t total = fw_get(&control, FW_BufferBlockControl_total);
	uint32_t wptr = fw_get(&control, FW_BufferBlockControl_wptr);

	enum vagx_rule clause = VAGX_KEPT;

	if (access->failed)
		return false;
	if (total < blocks)
		clause = VAGX_CLAUSE_FW_BUFFER_BLOCKS_total;
	else if (wptr < blocks)
		clause = VAGX_CLAUSE_FW_BUFFER_BLOCKS_write;
	else if (total > FW_BUFFER_BLOCKS_MAX)
		clause = VAGX_CLAUSE_FW_BUFFER_BLOCKS_total_many;
	else if (wptr > FW_BUFFER_BLOCKS_MAX)
		clause = VAGX_CLAUSE_FW_BUFFER_BLOCKS_write_many;
	vagx_violation(access->report, clause, control.va, "BufferBlockControl",
		       "%#x and %#x blocks, not %#x", total, wptr, blocks);
	return clause == VAGX_KEPT;
}

/* The lists of pages and of blocks */

static int fw_buffer_compare_pages(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static bool fw_buffer_bad_list(struct fw_access *access, enum vagx_rule clause, uint64_t va,
			       uint32_t page)
{
	vagx_violation(access->report, clause, va, "page list", "page %#" PRIx64,
		       (uint64_t)page << FW_BUFFER_PAGE_SHIFT);
	return false;
}

static bool fw_buffer_is_twice(const uint32_t *page, uint32_t count, uint32_t *which)
{
	uint32_t *sorted = malloc(count * sizeof(*sorted));
	bool twice = false;

	if (!sorted)
		return false;
	memcpy(sorted, page, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), fw_buffer_compare_pages);
	for (uint32_t i = 1; i < count && !twice; i++) {
		twice = sorted[i] == sorted[i - 1];
		*which = sorted[i];
	}
	free(sorted);
	return twice;
}

static bool fw_buffer_is_drawable(struct fw_access *access, unsigned int context, uint64_t va)
{
	for (uint64_t at = va; at < va + FW_BUFFER_PAGE_SIZE; at += AGX_PAGE_SIZE) {
		if (!vagx_uat_ptr(access->uat, context, at, 1, VAGX_AGENT_GPU, VAGX_WRITE, NULL))
			return false;
	}
	return true;
}

static bool fw_buffer_check_pages(struct fw_access *access, unsigned int context, uint64_t va,
				  const uint32_t *page, uint32_t count)
{
	uint32_t twice = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t at = (uint64_t)page[i] << FW_BUFFER_PAGE_SHIFT;

		if (at < AGX_VA_USER_START)
			return fw_buffer_bad_list(access, VAGX_CLAUSE_FW_BUFFER_LIST_low, va,
						  page[i]);
		if (at + FW_BUFFER_PAGE_SIZE > AGX_VA_USER_END)
			return fw_buffer_bad_list(access, VAGX_CLAUSE_FW_BUFFER_LIST_high, va,
						  page[i]);
		if (!fw_buffer_is_drawable(access, context, at))
			return fw_buffer_bad_list(access, VAGX_CLAUSE_FW_BUFFER_LIST_page, va,
						  page[i]);
	}
	return !fw_buffer_is_twice(page, count, &twice) ||
	       fw_buffer_bad_list(access, VAGX_CLAUSE_FW_BUFFER_LIST_twice, va, twice);
}

static bool fw_buffer_check_blocks(struct fw_access *access, uint64_t va, const uint32_t *page,
				   const uint32_t *block, uint32_t blocks)
{
	for (uint32_t i = 0; i < blocks; i++) {
		for (uint32_t n = 0; n < FW_BUFFER_BLOCK_PAGES; n++) {
			if (page[i * FW_BUFFER_BLOCK_PAGES + n] != block[2 * i] + n)
				return fw_buffer_bad_list(access,
							  VAGX_CLAUSE_FW_BUFFER_LIST_agree, va,
							  page[i * FW_BUFFER_BLOCK_PAGES + n]);
		}
	}
	return true;
}

static bool fw_buffer_read_list(struct fw_access *access, unsigned int context, uint64_t va,
				uint32_t *list, uint32_t count)
{
	struct vagx_uat_fault fault;

	if (va & 3) {
		vagx_violation(access->report, VAGX_CLAUSE_FW_BUFFER_LIST_alignment, va, "list",
			       "the address is not a multiple of 4");
		return false;
	}
	if (!vagx_uat_read(access->uat, context, va, list, count * sizeof(*list), VAGX_AGENT_FW,
			   &fault))
		return true;
	vagx_violation(access->report, VAGX_CLAUSE_FW_BUFFER_LIST_unmapped, fault.va, "list",
		       "%s: %s", vagx_access_name(fault.access), vagx_fault_reason_name(fault.reason));
	return false;
}

static bool fw_buffer_load_lists(struct fw_access *access, const struct fw_view *info,
				 unsigned int context, uint32_t blocks, uint32_t *page)
{
	uint64_t page_list = fw_get(info, FW_BufferInfo_page_list_addr);
	uint64_t block_list = fw_get(info, FW_BufferInfo_block_list_addr);
	uint32_t *block = malloc(blocks * 2 * sizeof(*block));
	bool good;

	if (access->failed || !block) {
		free(block);
		return false;
	}
	good = fw_buffer_read_list(access, context, page_list, page,
				   blocks * FW_BUFFER_BLOCK_PAGES) &&
	       fw_buffer_read_list(access, context, block_list, block, blocks * 2) &&
	       fw_buffer_check_blocks(access, page_list, page, block, blocks) &&
	       fw_buffer_check_pages(access, context, page_list, page,
				     blocks * FW_BUFFER_BLOCK_PAGES);
	free(block);
	return good;
}

/*
 * Takes over a new list of pages, and owns it then. Pages that were there before have to stay what
 * they are while a scene has any. False if they do not.
 */
static bool fw_buffer_extend(struct fw_access *access, struct fw_buffer *buffer, uint32_t *page,
			     uint32_t pages)
{
	const struct fw_scene **user;

	/* Both callers have seen to it that there are no fewer */
	if (buffer->taken && memcmp(page, buffer->page, buffer->pages * sizeof(*page))) {
		vagx_violation(access->report, VAGX_CLAUSE_FW_BUFFER_LIVE_pages, buffer->info,
			       "page list", "pages have changed while scenes have some");
		return false;
	}
	user = calloc(pages, sizeof(*user));
	if (!user)
		return false;
	if (buffer->taken)
		memcpy(user, buffer->user, buffer->pages * sizeof(*user));
	free(buffer->user);
	free(buffer->page);
	buffer->user = user;
	buffer->page = page;
	buffer->pages = pages;
	buffer->next = 0;
	buffer->changes++;
	return true;
}

static bool fw_buffer_load_again(struct fw_access *access, struct fw_buffer *buffer, uint64_t va,
				 unsigned int context, uint32_t blocks)
{
	struct fw_view info = fw_view(access, FW_S_BufferInfo, va);
	uint32_t *page = malloc(blocks * FW_BUFFER_BLOCK_PAGES * sizeof(*page));

	if (page && fw_buffer_load_lists(access, &info, context, blocks, page) &&
	    fw_buffer_extend(access, buffer, page, blocks * FW_BUFFER_BLOCK_PAGES))
		return true;
	free(page);
	return false;
}

/*
 * Makes the model of the cache forget Info: with the message that announces a buffer the driver
 * says that it has written Info.
 */
static void fw_buffer_read_info_again(const struct fw_view *info)
{
	fw_cache_discard(info->access->cache, info->va, fw_size(info));
}

/*
 * Whether InitBuffer tells of fewer blocks than the one before, so that counts of the firmware
 * would be wrong. Blocks that an answer to a request has added do not count, as the InitBuffer may
 * have been in the ring by then.
 */
static bool fw_buffer_is_smaller(const struct fw_buffer *buffer, uint32_t blocks)
{
	return blocks < buffer->announced;
}

/*
 * Return: the number of blocks that are known. It is more than InitBuffer tells of if the driver
 * has answered a request to grow before it.
 */
static uint32_t fw_buffer_known_blocks(const struct fw_buffer *buffer, uint64_t info,
				       uint32_t blocks)
{
	uint32_t known = buffer->pages / FW_BUFFER_BLOCK_PAGES;

	return buffer->info == info && known > blocks ? known : blocks;
}

/* Empties a slot for another buffer, or checks that the one which comes again has not shrunk */
static bool fw_buffer_replace(struct fw_worker *worker, unsigned int slot, uint64_t info,
			      uint32_t blocks)
{
	struct vagx_firmware *fw = worker->fw;
	struct fw_buffer *buffer = &fw->buffers->slot[slot];

	if (buffer->info == info && !fw_buffer_is_smaller(buffer, blocks))
		return true;
	if (buffer->info == info) {
		vagx_violation(fw->config.report, VAGX_CLAUSE_FW_BUFFER_BLOCKS_fewer, info,
			       "InitBuffer", "%#x blocks for a buffer of %#x", blocks, buffer->announced);
		return false;
	}
	if (fw_scene_of_slot(fw, slot)) {
		vagx_violation(fw->config.report, VAGX_CLAUSE_FW_BUFFER_BUSY_slot, info,
			       "InitBuffer", "slot %u has a scene of %#" PRIx64, slot, buffer->info);
		return false;
	}
	fw_buffer_check_kept(&worker->access, buffer);
	fw_buffer_drop(buffer);
	return true;
}

static void fw_buffer_dump(struct vagx_firmware *fw, const struct fw_view *init,
			   const struct fw_view *info)
{
	static const struct {
		enum fw_field_id field;
		enum fw_struct_id type;
	} parts[] = {
		{ FW_BufferInfo_block_ctl_addr, FW_S_BufferBlockControl },
		{ FW_BufferInfo_counter_addr, FW_S_BufferCounter },
	};
	struct fw_dump_place near[3] = { fw_dump_place(FW_S_BufferInfo, info->va) };

	for (unsigned int i = 0; i < 2; i++)
		near[i + 1] = fw_dump_place(parts[i].type, fw_get(info, parts[i].field));
	fw_dump(fw, NULL, init, near, 3);
	fw_dump(fw, NULL, info, near, 3);
	for (unsigned int i = 0; i < 2; i++) {
		struct fw_view part = fw_view(info->access, parts[i].type, near[i + 1].va);

		fw_dump(fw, NULL, &part, NULL, 0);
	}
}

bool fw_buffer_init(struct fw_worker *worker, struct fw_queue *queue, struct fw_command *command)
{
	struct fw_access *access = &worker->access;
	struct fw_view init = fw_view(access, FW_S_InitBuffer, command->va);
	uint32_t context = fw_get(&init, FW_InitBuffer_context_id);
	uint32_t slot = fw_get(&init, FW_InitBuffer_buffer_mgr_slot);
	uint32_t blocks = fw_get(&init, FW_InitBuffer_unk_10);
	uint32_t stamp = fw_get(&init, FW_InitBuffer_stamp_value);
	struct fw_view info =
		fw_view(access, FW_S_BufferInfo, fw_get(&init, FW_InitBuffer_buffer_mgr_addr));
	struct fw_buffer *buffer;

	if (!context)
		return fw_buffer_bad_init(access, VAGX_CLAUSE_FW_BUFFER_INIT_kernel, command->va,
					  "context", context);
	if (context >= FW_CONTEXTS)
		return fw_buffer_bad_init(access, VAGX_CLAUSE_FW_BUFFER_INIT_context, command->va,
					  "context", context);
	if (slot >= FW_BUFFERS)
		return fw_buffer_bad_init(access, VAGX_CLAUSE_FW_BUFFER_INIT_slot, command->va,
					  "slot", slot);
	if (!blocks)
		return fw_buffer_bad_init(access, VAGX_CLAUSE_FW_BUFFER_INIT_no_blocks, command->va,
					  "blocks", blocks);
	if (blocks > FW_BUFFER_BLOCKS_MAX)
		return fw_buffer_bad_init(access, VAGX_CLAUSE_FW_BUFFER_INIT_blocks, command->va,
					  "blocks", blocks);
	if (!info.va)
		return fw_buffer_bad_init(access, VAGX_CLAUSE_FW_BUFFER_INIT_info, command->va,
					  "Info", info.va);
	fw_buffer_read_info_again(&info);
	if (!fw_buffer_replace(worker, slot, info.va, blocks) ||
	    !fw_buffer_check_info(access, &info, blocks) ||
	    !fw_buffer_check_control(access, &info, blocks))
		return false;
	if (worker->fw->config.dump)
		fw_buffer_dump(worker->fw, &init, &info);
	buffer = &worker->fw->buffers->slot[slot];
	if (!fw_buffer_load_again(access, buffer, info.va, context,
				  fw_buffer_known_blocks(buffer, info.va, blocks)))
		return false;
	buffer->info = info.va;
	buffer->announced = blocks;
	buffer->gpu_context = queue->context;
	buffer->vm_slot = context;
	buffer->vm_root = vagx_uat_ttb(access->uat, context, 0);
	fw_buffer_read_words(&info, buffer->word);
	queue->init_stamp = stamp;
	return !access->failed;
}

/* Takes over the pages that the driver has put into the lists since */
bool fw_buffer_reload(struct fw_access *access, struct vagx_firmware *fw, unsigned int slot,
		      unsigned int context)
{
	struct fw_buffer *buffer = &fw->buffers->slot[slot];
	struct fw_view info = fw_view(access, FW_S_BufferInfo, buffer->info);
	struct fw_view control = fw_view(
		access, FW_S_BufferBlockControl,
		buffer->info ? fw_get(&info, FW_BufferInfo_block_ctl_addr) : 0);
	uint32_t blocks = buffer->info && context < FW_CONTEXTS ?
				  fw_get(&control, FW_BufferBlockControl_total) :
				  0;

	if (blocks)
		fw_buffer_read_info_again(&info);
	if (!blocks || access->failed || !fw_buffer_check_control(access, &info, blocks) ||
	    blocks * FW_BUFFER_BLOCK_PAGES <= buffer->pages)
		return false;
	return fw_buffer_load_again(access, buffer, info.va, context, blocks);
}

bool fw_buffer_is(struct vagx_firmware *fw, unsigned int slot, uint64_t info)
{
	return slot < FW_BUFFERS && info && fw->buffers->slot[slot].info == info;
}

bool fw_buffer_holds(struct vagx_firmware *fw, unsigned int slot, uint32_t blocks)
{
	return fw->buffers->slot[slot].pages >= blocks * FW_BUFFER_BLOCK_PAGES;
}

bool fw_buffer_begin(struct fw_access *access, struct vagx_firmware *fw, unsigned int slot)
{
	struct fw_buffer *buffer = &fw->buffers->slot[slot];
	struct fw_view info = fw_view(access, FW_S_BufferInfo, buffer->info);
	struct fw_view counter =
		fw_view(access, FW_S_BufferCounter, fw_get(&info, FW_BufferInfo_counter_addr));

	if (!fw_scene_of_slot(fw, slot))
		fw_buffer_read_words(&info, buffer->word);
	buffer->renders++;
	return access->failed || fw_get(&counter, FW_BufferCounter_count) >= buffer->renders;
}

/* Pages of scenes */

bool fw_buffer_has_room(struct vagx_firmware *fw, const struct fw_scene *scene)
{
	struct fw_buffer *buffer = &fw->buffers->slot[scene->slot];

	return buffer->taken < buffer->pages &&
	       (!fw->config.tvb_pages || buffer->taken < fw->config.tvb_pages);
}

uint32_t fw_buffer_taken(struct vagx_firmware *fw, unsigned int slot)
{
	return fw->buffers->slot[slot].taken;
}

bool fw_buffer_is_known(struct vagx_firmware *fw, unsigned int slot)
{
	return fw->buffers->slot[slot].info;
}

uint64_t fw_buffer_take(struct vagx_firmware *fw, struct fw_scene *scene)
{
	struct fw_buffer *buffer = &fw->buffers->slot[scene->slot];

	if (!fw_buffer_has_room(fw, scene))
		return 0;
	for (uint32_t i = 0; i < buffer->pages; i++) {
		uint32_t n = (buffer->next + i) % buffer->pages;

		if (buffer->user[n])
			continue;
		buffer->user[n] = scene;
		buffer->next = n + 1;
		buffer->taken++;
		scene->pages++;
		scene->pass_pages++;
		scene->total_pages++;
		return (uint64_t)buffer->page[n] << FW_BUFFER_PAGE_SHIFT;
	}
	return 0;
}

static void fw_buffer_give_page(struct fw_buffer *buffer, struct fw_scene *scene, uint32_t n)
{
	buffer->user[n] = NULL;
	buffer->taken--;
	scene->pages--;
}

/*
 * Takes a page back. Its address comes from memory that clients can write, so it may be none of
 * the scene's.
 */
void fw_buffer_give(struct vagx_firmware *fw, struct fw_scene *scene, uint64_t page)
{
	struct fw_buffer *buffer = &fw->buffers->slot[scene->slot];

	for (uint32_t n = 0; n < buffer->pages; n++) {
		if (buffer->user[n] == scene &&
		    (uint64_t)buffer->page[n] << FW_BUFFER_PAGE_SHIFT == page) {
			fw_buffer_give_page(buffer, scene, n);
			return;
		}
	}
}

void fw_buffer_give_all(struct vagx_firmware *fw, struct fw_scene *scene)
{
	struct fw_buffer *buffer = &fw->buffers->slot[scene->slot];

	for (uint32_t n = 0; n < buffer->pages && scene->pages; n++) {
		if (buffer->user[n] == scene)
			fw_buffer_give_page(buffer, scene, n);
	}
	buffer->changes++;
}

uint64_t fw_buffer_page(struct vagx_firmware *fw, const struct fw_scene *scene, uint32_t n)
{
	struct fw_buffer *buffer = &fw->buffers->slot[scene->slot];

	for (uint32_t i = 0; i < buffer->pages; i++) {
		if (buffer->user[i] == scene && !n--)
			return (uint64_t)buffer->page[i] << FW_BUFFER_PAGE_SHIFT;
	}
	return 0;
}

uint32_t fw_buffer_changes(struct vagx_firmware *fw, const struct fw_scene *scene)
{
	return fw->buffers->slot[scene->slot].changes;
}

void fw_buffer_check_live(struct fw_access *access, struct vagx_firmware *fw,
			  const struct fw_scene *scene)
{
	struct fw_buffer *buffer = &fw->buffers->slot[scene->slot];
	struct fw_view info = fw_view(access, FW_S_BufferInfo, buffer->info);

	for (unsigned int i = 0; i < INFO_WORDS; i++) {
		uint64_t word = fw_get(&info, fw_buffer_info_words[i]);

		if (access->failed || word == buffer->word[i])
			continue;
		vagx_violation(access->report, VAGX_CLAUSE_FW_BUFFER_LIVE_info,
			       fw_va(&info, fw_buffer_info_words[i]), "BufferInfo",
			       "%s was %#" PRIx64 " and is %#" PRIx64,
			       fw_fields[fw_buffer_info_words[i]].name, buffer->word[i], word);
	}
}
