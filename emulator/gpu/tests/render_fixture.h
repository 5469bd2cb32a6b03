/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * A GPU that draws, with real cores, and an array in place of the MMU.
 */
#ifndef RENDER_FIXTURE_H
#define RENDER_FIXTURE_H

#include <stdio.h>

#include "gpu/gpu.h"
#include "gpu/render.h"
#include "report.h"
#include "uat.h"

#define SLOT		3
#define MEMORY_VA	0x1100000000ULL
#define MEMORY_SIZE	0x4000000U

/* Parts of the memory, from its beginning on */
#define USC_VA		MEMORY_VA
#define STREAM_VA	(MEMORY_VA + 0x100000)
#define STATE_VA	(MEMORY_VA + 0x200000)
#define DATA_VA		(MEMORY_VA + 0x300000)
#define TILEMAP_VA	(MEMORY_VA + 0x600000)
#define TPC_VA		(MEMORY_VA + 0x700000)
#define HEAP_META_VA	(MEMORY_VA + 0x800000)
#define LAYER_META_VA	(MEMORY_VA + 0x800200)
#define PAGES_VA	(MEMORY_VA + 0x900000)
#define MAX_PAGES	256
#define IMAGE_VA	(MEMORY_VA + 0x1200000)
#define DEPTH_VA	(MEMORY_VA + 0x2200000)
#define STENCIL_VA	(MEMORY_VA + 0x3200000)

/** struct render_fixture - a GPU, its registers, and the pages that it may have */
struct render_fixture {
	struct vagx_gpu *gpu;
	struct vagx_report *report;
	struct vagx_vertex_registers vertex;
	struct vagx_fragment_registers fragment;
	struct vagx_uat_fault fault;
	unsigned int unit;
	/** @limit: pages that can be taken at a time, up to MAX_PAGES */
	unsigned int limit;
	/** @taken: which are */
	bool taken[MAX_PAGES];
	/** @careless: any page may be given back */
	bool careless;
	/** @overflows: how often vertex work had to wait for a partial render */
	unsigned int overflows;
};

/** render_hole - address of a page that is not mapped after all, or 0 */
extern uint64_t render_hole;

/** render_log - takes what is logged, if it is set before the fixture is made; or NULL */
extern FILE *render_log;

/** render_rule_was_broken - by a test before */
extern bool render_rule_was_broken[];

int render_setup(void **state);
/* The same with another number of cores than 2 */
int render_setup_cores(void **state, unsigned int cores);
int render_setup_no_exec(void **state);
/* One core, with the sanitizer */
int render_setup_checked(void **state);
int render_teardown(void **state);

/** render_at() - memory at an address */
void *render_at(uint64_t va);

/** render_size() - set the image's geometry, with tiles of 32 by 32 */
void render_size(struct render_fixture *f, uint32_t width, uint32_t height, uint32_t layers,
		 uint32_t samples);

unsigned int render_pages_taken(const struct render_fixture *f);

/** render_vertex() - run vertex work, as often as pages are out */
enum vagx_gpu_status render_vertex(struct render_fixture *f);

/** render_fragment() - run fragment work */
enum vagx_gpu_status render_fragment(struct render_fixture *f, enum vagx_fragment_mode mode);

/** render_pages() - the pages of the fixture */
struct vagx_tvb_pages render_pages(struct render_fixture *f);

#endif /* RENDER_FIXTURE_H */
