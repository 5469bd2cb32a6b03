// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * A model of the GPU's data cache: what a job has stored comes to memory late.
 *
 * Stores are in memory at once, as if each line had been written back right away. But while a
 * job goes on, its lines stay dirty, and they are written back by their physical addresses when
 * it ends, whatever these pages are used for by then. That is only seen where a page was taken
 * away from the job in between: so its bytes are kept as they are when the guest invalidates
 * the translation, which it does before it uses the page for anything else. A line may also
 * have to make room for another one: half of these pages are written back before the job
 * ends, at a moment that the seed gives.
 *
 * What is written back are bytes that have changed since the job's first store to the page, as
 * other bytes of a line are not the GPU's. A page that a job stores to once more, by another
 * address or in another context, is in the cache as that store leaves it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "draw.h"
#include "report.h"
#include "tlbi.h"
#include "uat_internal.h"

#define WRITTEN_BUCKETS		64
/* Of all jobs: 32 MiB, and as much of pages that were taken away. Others are not looked at. */
#define WRITTEN_PAGES		2048
/* A page that is written back before its job's end has been taken away for so long at most. */
#define WRITTEN_LATE_NS		20000000
/* How often it is looked for such pages */
#define WRITTEN_LOOK_NS		1000000

/**
 * struct written_page - a page that a job has stored to
 * @next: in the bucket
 * @va: its address in the job's context
 * @pa: where it is
 * @first: its bytes before the first store
 * @last: its bytes when it was taken away from the job; NULL while it has not been, and when
 *	they have been written back
 * @due_ns: when they are written back, if the job has not ended by then; or 0
 */
struct written_page {
	struct written_page *next;
	uint64_t va;
	uint64_t pa;
	uint8_t *first;
	uint8_t *last;
	uint64_t due_ns;
};

/**
 * struct vagx_written - all such pages of a job
 * @uat: MMU
 * @next: of the next job
 * @slot: the job's context
 * @bucket: the pages, by @va
 */
struct vagx_written {
	struct vagx_uat *uat;
	struct vagx_written *next;
	unsigned int slot;
	struct written_page *bucket[WRITTEN_BUCKETS];
};

void uat_write_back_init(struct uat_write_back *model, bool on, uint64_t seed)
{
	pthread_mutex_init(&model->lock, NULL);
	model->on = on;
	model->seed = seed;
}

/* Whether a run had any of that is to be seen, or its silence would say nothing */
void uat_write_back_fini(struct uat_write_back *model, struct vagx_report *report)
{
	if (model->on)
		vagx_log(report, VAGX_LOG_INFO,
			 "uat: jobs stored to %" PRIu64 " pages; %" PRIu64
			 " were taken away from them while they ran, %" PRIu64
			 " of these written back before their end",
			 model->all_pages, model->all_taken, model->all_early);
	pthread_mutex_destroy(&model->lock);
}

static uint8_t *uat_write_back_page_bytes(const struct vagx_uat *uat, uint64_t pa)
{
	return vagx_mem_ptr(uat->mem, pa, VAGX_UAT_PAGE_SIZE);
}

/* Return: a copy, or NULL without memory, the guest's or ours */
static uint8_t *uat_write_back_copy_page(const struct vagx_uat *uat, uint64_t pa)
{
	const uint8_t *bytes = uat_write_back_page_bytes(uat, pa);
	uint8_t *copy = bytes ? malloc(VAGX_UAT_PAGE_SIZE) : NULL;

	if (copy)
		memcpy(copy, bytes, VAGX_UAT_PAGE_SIZE);
	return copy;
}

static struct written_page **uat_write_back_bucket_of(struct vagx_written *written, uint64_t va)
{
	return &written->bucket[(va >> VAGX_UAT_PAGE_SHIFT) % WRITTEN_BUCKETS];
}

struct vagx_written *vagx_written_new(struct vagx_uat *uat, unsigned int slot)
{
	struct uat_write_back *model = &uat->write_back;
	struct vagx_written *written = model->on ? calloc(1, sizeof(*written)) : NULL;

	if (!written)
		return NULL;
	written->uat = uat;
	written->slot = slot;
	pthread_mutex_lock(&model->lock);
	written->next = model->jobs;
	model->jobs = written;
	pthread_mutex_unlock(&model->lock);
	return written;
}

/* Nothing leads to the page any more, so it is not taken away again. Lock held. */
static void uat_write_back_forget_page(struct uat_write_back *model, struct written_page *page)
{
	free(page->last);
	page->last = NULL;
	page->pa = 0;
	model->taken--;
}

/* A store hits lines that another page had left in the cache. Lock held. */
static void uat_write_back_forget_taken(struct uat_write_back *model, struct vagx_written *written,
					uint64_t pa)
{
	struct written_page *page;

	for (unsigned int i = 0; model->taken && i < WRITTEN_BUCKETS; i++) {
		for (page = written->bucket[i]; page; page = page->next) {
			if (page->last && page->pa == pa)
				uat_write_back_forget_page(model, page);
		}
	}
}

/* Lock held */
static void uat_write_back_add_page(struct uat_write_back *model, struct vagx_written *written,
				    uint64_t va, uint64_t pa)
{
	struct written_page **bucket = uat_write_back_bucket_of(written, va), *page = *bucket;

	while (page && (page->va != va || page->pa != pa))
		page = page->next;
	if (page || model->pages == WRITTEN_PAGES)
		return;
	page = calloc(1, sizeof(*page));
	if (!page)
		return;
	page->first = uat_write_back_copy_page(written->uat, pa);
	if (!page->first) {
		free(page);
		return;
	}
	page->va = va;
	page->pa = pa;
	page->next = *bucket;
	*bucket = page;
	model->pages++;
	model->all_pages++;
}

void uat_write_back_note(struct vagx_written *written, uint64_t va, uint64_t pa)
{
	struct uat_write_back *model = &written->uat->write_back;
	struct vagx_written *other;

	pthread_mutex_lock(&model->lock);
	for (other = model->jobs; other && model->taken; other = other->next)
		uat_write_back_forget_taken(model, other, pa);
	uat_write_back_add_page(model, written, va & ~(uint64_t)VAGX_UAT_PAGE_MASK, pa);
	pthread_mutex_unlock(&model->lock);
}

static bool uat_write_back_concerns(const struct vagx_tlbi *tlbi, unsigned int slot, uint64_t va)
{
	uint64_t first = tlbi->va >> VAGX_UAT_PAGE_SHIFT, page = va >> VAGX_UAT_PAGE_SHIFT;

	switch (tlbi->kind) {
	case VAGX_TLBI_ALL:
		return true;
	case VAGX_TLBI_ASID:
		return slot == tlbi->asid;
	case VAGX_TLBI_PAGES:
		break;
	}
	return page >= first && page - first < tlbi->pages &&
	       (tlbi->any_asid || slot == tlbi->asid || va & VA_UPPER);
}

/* Return: when, or 0 for the end of the job */
static uint64_t uat_write_back_due(const struct uat_write_back *model)
{
	uint64_t draw = vagx_draw(model->seed, VAGX_DRAW_WRITE_BACK, model->all_taken, 0);
	struct timespec now;

	if (!model->seed || draw & 1)
		return 0;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec + (draw >> 1) % WRITTEN_LATE_NS;
}

/* Lock held */
static void uat_write_back_take_away(struct uat_write_back *model,
				     const struct vagx_written *written, struct written_page *page)
{
	uint64_t pte = vagx_uat_table_pte(written->uat, written->slot, page->va);

	if (!page->pa || page->last || (pte && VAGX_PTE_PA(pte) == page->pa))
		return;
	page->last = uat_write_back_copy_page(written->uat, page->pa);
	page->due_ns = uat_write_back_due(model);
	model->taken += !!page->last;
	model->all_taken += !!page->last;
}

void uat_write_back_heard(struct vagx_uat *uat, const struct vagx_tlbi *tlbi)
{
	struct uat_write_back *model = &uat->write_back;
	struct vagx_written *written;
	struct written_page *page;

	if (!model->on)
		return;
	pthread_mutex_lock(&model->lock);
	for (written = model->jobs; written; written = written->next) {
		for (unsigned int i = 0; i < WRITTEN_BUCKETS; i++) {
			for (page = written->bucket[i]; page; page = page->next) {
				if (uat_write_back_concerns(tlbi, written->slot, page->va))
					uat_write_back_take_away(model, written, page);
			}
		}
	}
	pthread_mutex_unlock(&model->lock);
}

/* Return: bytes that something else was in by now */
static unsigned int uat_write_back(const struct vagx_uat *uat, const struct written_page *page)
{
	uint8_t *memory = uat_write_back_page_bytes(uat, page->pa);
	unsigned int changed = 0;

	for (unsigned int i = 0; memory && i < VAGX_UAT_PAGE_SIZE; i++) {
		if (page->last[i] == page->first[i] || page->last[i] == memory[i])
			continue;
		memory[i] = page->last[i];
		changed++;
	}
	return changed;
}

/* The guest finds out to whom these bytes belong by now. Lock held. */
static void uat_write_back_page(const struct vagx_written *written,
				const struct written_page *page, const char *when)
{
	unsigned int changed = uat_write_back(written->uat, page);

	if (changed)
		vagx_log(written->uat->report, VAGX_LOG_INFO,
			 "uat: a job of context %u that %s wrote back %u bytes of 0x%" PRIx64
			 " to 0x%" PRIx64 ", which was taken away from it",
			 written->slot, when, changed, page->va, page->pa);
}

/* Lock held */
static void uat_write_back_sweep_job(struct uat_write_back *model, struct vagx_written *written,
				     uint64_t now_ns)
{
	struct written_page *page;

	for (unsigned int i = 0; model->taken && i < WRITTEN_BUCKETS; i++) {
		for (page = written->bucket[i]; page; page = page->next) {
			if (!page->last || !page->due_ns || now_ns < page->due_ns)
				continue;
			uat_write_back_page(written, page, "still runs");
			uat_write_back_forget_page(model, page);
			model->all_early++;
		}
	}
}

uint64_t uat_write_back_sweep(struct vagx_uat *uat, uint64_t now_ns)
{
	struct uat_write_back *model = &uat->write_back;
	struct vagx_written *written;
	uint64_t again;

	if (!model->on || !model->seed)
		return 0;
	pthread_mutex_lock(&model->lock);
	for (written = model->jobs; written && model->taken; written = written->next)
		uat_write_back_sweep_job(model, written, now_ns);
	again = model->jobs ? now_ns + WRITTEN_LOOK_NS : 0;
	pthread_mutex_unlock(&model->lock);
	return again;
}

/* Lock held */
static void uat_write_back_end_page(struct vagx_written *written, struct written_page *page)
{
	struct uat_write_back *model = &written->uat->write_back;

	if (page->last)
		uat_write_back_page(written, page, "has ended");
	model->taken -= !!page->last;
	model->pages--;
	free(page->first);
	free(page->last);
	free(page);
}

void vagx_written_free(struct vagx_written *written)
{
	struct uat_write_back *model;
	struct vagx_written **at;
	struct written_page *page;

	if (!written)
		return;
	model = &written->uat->write_back;
	pthread_mutex_lock(&model->lock);
	for (at = &model->jobs; *at != written; at = &(*at)->next)
		;
	*at = written->next;
	for (unsigned int i = 0; i < WRITTEN_BUCKETS; i++) {
		while ((page = written->bucket[i])) {
			written->bucket[i] = page->next;
			uat_write_back_end_page(written, page);
		}
	}
	pthread_mutex_unlock(&model->lock);
	free(written);
}
