// SPDX-License-Identifier: MIT
/* Copyright (C) 2026 The asahi driver authors */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "render_fixture.h"

uint64_t render_hole;
FILE *render_log;
bool render_rule_was_broken[VAGX_RULES_AND_CLAUSES];

static uint8_t *memory;
static FILE *null_stream;

/* In place of the MMU; the entries of the cache stay empty */

void *vagx_tlb_ptr_slow(struct vagx_tlb *tlb, uint64_t va, size_t len,
			enum vagx_access access, struct vagx_uat_fault *fault)
{
	uint64_t page = va & ~(uint64_t)VAGX_UAT_PAGE_MASK;

	if (va - MEMORY_VA < MEMORY_SIZE && (va & VAGX_UAT_PAGE_MASK) + len <= VAGX_UAT_PAGE_SIZE &&
	    (!render_hole || page != render_hole))
		return memory + (va - MEMORY_VA);
	*fault = (struct vagx_uat_fault){
		.va = va,
		.slot = tlb->slot,
		.access = access,
		.reason = VAGX_FAULT_UNMAPPED,
	};
	return NULL;
}

void vagx_tlb_init(struct vagx_tlb *tlb, struct vagx_uat *uat,
		   unsigned int slot, enum vagx_agent agent)
{
	memset(tlb, 0, sizeof(*tlb));
	tlb->slot = slot;
}

struct vagx_written *vagx_written_new(struct vagx_uat *uat, unsigned int slot)
{
	return NULL;
}

void vagx_written_free(struct vagx_written *written)
{
}

int vagx_uat_read(struct vagx_uat *uat, unsigned int slot, uint64_t va,
		  void *buf, size_t len, enum vagx_agent agent,
		  struct vagx_uat_fault *fault)
{
	struct vagx_tlb tlb = { .slot = slot };
	size_t i;

	for (i = 0; i < len; i++) {
		uint8_t *p = vagx_tlb_ptr_slow(&tlb, va + i, 1, VAGX_READ, fault);

		if (!p)
			return -EFAULT;
		((uint8_t *)buf)[i] = *p;
	}
	return 0;
}

const char *vagx_fault_reason_name(enum vagx_fault_reason reason)
{
	return "reason";
}

const char *vagx_access_name(enum vagx_access access)
{
	return "access";
}

bool vagx_uat_find(struct vagx_uat *uat, unsigned int slot, uint64_t va, bool up,
		   struct vagx_uat_range *range)
{
	return false;
}

bool vagx_pte_allows(uint64_t pte, enum vagx_agent agent, enum vagx_access access)
{
	return false;
}

void *render_at(uint64_t va)
{
	assert_true(va - MEMORY_VA < MEMORY_SIZE);
	return memory + (va - MEMORY_VA);
}

/* Pages */

static uint64_t take(void *owner)
{
	struct render_fixture *f = owner;
	unsigned int i;

	if (render_pages_taken(f) >= f->limit)
		return 0;
	for (i = 0; f->taken[i]; i++)
		;
	f->taken[i] = true;
	return PAGES_VA + (uint64_t)i * VAGX_TVB_PAGE_SIZE;
}

static void give(void *owner, uint64_t page)
{
	struct render_fixture *f = owner;
	uint64_t i = (page - PAGES_VA) / VAGX_TVB_PAGE_SIZE;

	if (f->careless)
		return;
	assert_true(i < MAX_PAGES && page % VAGX_TVB_PAGE_SIZE == 0 && f->taken[i]);
	f->taken[i] = false;
	/* whoever uses what is free is to notice */
	memset(render_at(page), 0xee, VAGX_TVB_PAGE_SIZE);
}

unsigned int render_pages_taken(const struct render_fixture *f)
{
	unsigned int i, n = 0;

	for (i = 0; i < MAX_PAGES; i++)
		n += f->taken[i];
	return n;
}

struct vagx_tvb_pages render_pages(struct render_fixture *f)
{
	return (struct vagx_tvb_pages){ .take = take, .give = give, .owner = f };
}

/* The fixture */

void render_size(struct render_fixture *f, uint32_t width, uint32_t height, uint32_t layers,
		 uint32_t samples)
{
	f->vertex.geometry = (struct vagx_render_geometry){
		.width = width,
		.height = height,
		.layers = layers,
		.samples = samples,
		.utile_width = 32,
		.utile_height = 32,
	};
	f->fragment.geometry = f->vertex.geometry;
}

static int setup(void **state, struct vagx_gpu_config config)
{
	struct render_fixture *f = calloc(1, sizeof(*f));
	struct vagx_report_config report = { .level = VAGX_LOG_DEBUG };

	null_stream = fopen("/dev/null", "w");
	report.stream = getenv("RENDER_VERBOSE") ? stderr : null_stream;
	if (render_log)
		report.stream = render_log;
	memory = aligned_alloc(VAGX_TVB_PAGE_SIZE, MEMORY_SIZE);
	memset(memory, 0xee, MEMORY_SIZE);
	render_hole = 0;

	f->report = vagx_report_new(&report);
	config.report = f->report;
	f->gpu = vagx_gpu_new(&config);
	f->limit = MAX_PAGES;
	f->vertex.vdm_base = STREAM_VA;
	f->vertex.tvb = (struct vagx_tvb_memory){
		.tilemap = TILEMAP_VA,
		.tpc = TPC_VA,
		.heap_meta = HEAP_META_VA,
		.layer_meta = LAYER_META_VA,
	};
	f->vertex.shaders.usc_base = USC_VA;
	f->vertex.ppp_control = 0x202;
	f->vertex.ppp_multisample = 0x88;
	f->fragment.tvb = f->vertex.tvb;
	f->fragment.shaders = f->vertex.shaders;
	f->fragment.ppp_multisample = 0x88;
	render_size(f, 256, 256, 1, 1);
	*state = f;
	return !f->gpu || !f->report;
}

int render_setup(void **state)
{
	return setup(state, (struct vagx_gpu_config){ .cores = 2 });
}

int render_setup_cores(void **state, unsigned int cores)
{
	return setup(state, (struct vagx_gpu_config){ .cores = cores });
}

int render_setup_no_exec(void **state)
{
	return setup(state, (struct vagx_gpu_config){ .cores = 2, .no_exec = true });
}

int render_setup_checked(void **state)
{
	return setup(state, (struct vagx_gpu_config){ .cores = 1, .sanitizer.check = true });
}

int render_teardown(void **state)
{
	struct render_fixture *f = *state;
	unsigned int i;

	for (i = 0; i < VAGX_RULES_AND_CLAUSES; i++) {
		if (vagx_report_count(f->report, i))
			render_rule_was_broken[i] = true;
	}
	vagx_gpu_free(f->gpu);
	vagx_report_free(f->report);
	fclose(null_stream);
	free(memory);
	free(f);
	return 0;
}

enum vagx_gpu_status render_fragment(struct render_fixture *f, enum vagx_fragment_mode mode)
{
	struct vagx_tvb_pages pages = render_pages(f);
	struct vagx_job *job = vagx_job_new(f->gpu, SLOT);
	enum vagx_gpu_status status;

	assert_non_null(job);
	status = vagx_job_fragment(job, &f->fragment, &pages, mode, &f->fault, &f->unit);
	vagx_job_free(job);
	return status;
}

enum vagx_gpu_status render_vertex(struct render_fixture *f)
{
	struct vagx_tvb_pages pages = render_pages(f);
	struct vagx_job *job = vagx_job_new(f->gpu, SLOT);
	enum vagx_gpu_status status, partial = VAGX_GPU_DONE;

	assert_non_null(job);
	for (;;) {
		status = vagx_job_vertex(job, &f->vertex, &pages, &f->fault, &f->unit);
		if (status != VAGX_GPU_OVERFLOW)
			break;
		f->overflows++;
		partial = render_fragment(f, VAGX_FRAGMENT_PARTIAL);
		if (partial != VAGX_GPU_DONE)
			break;
	}
	vagx_job_free(job);
	return partial == VAGX_GPU_DONE ? status : partial;
}
