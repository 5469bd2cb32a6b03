// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The tiled vertex buffer: lists and pages, and memory that is wrong.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/tvb.h"
#include "render_fixture.h"

static struct vagx_tlb tlb;
static atomic_bool stop;

static void begin(struct tvb *tvb, struct render_fixture *f)
{
	struct vagx_tvb_pages pages = render_pages(f);

	vagx_tlb_init(&tlb, NULL, SLOT, VAGX_AGENT_GPU);
	stop = false;
	tvb_init(tvb, &tlb, &f->vertex.geometry, &f->vertex.tvb, &pages, &stop);
	assert_int_equal(tvb_clear(tvb, false), 0);
}

/* A mark that says for which tile and as which one it was stored */
static int store(struct tvb *tvb, const struct tvb_tile *tile, uint32_t mark)
{
	uint64_t va;
	uint32_t *p;
	int err;

	p = tvb_alloc(tvb, 16, &va, &err);
	if (!p)
		return err;
	p[0] = tile->x | tile->y << 10 | tile->layer << 20;
	p[1] = mark;
	return tvb_refer(tvb, tile, va);
}

/* How many references a tile has, all of them its own and in their order */
static unsigned int count(struct tvb *tvb, const struct tvb_tile *tile)
{
	struct tvb_list list;
	unsigned int n = 0;
	uint64_t va;

	assert_int_equal(tvb_list_begin(tvb, tile, &list), 0);
	while (tvb_list_next(tvb, &list, &va) > 0) {
		const uint32_t *p = tvb_at(tvb, va, 16);

		assert_non_null(p);
		assert_int_equal(p[0], tile->x | tile->y << 10 | tile->layer << 20);
		assert_int_equal(p[1], n++);
	}
	return n;
}

static bool next_tile(const struct tvb_grid *grid, struct tvb_tile *tile)
{
	if (++tile->x < grid->tiles_x)
		return true;
	tile->x = 0;
	if (++tile->y < grid->tiles_y)
		return true;
	tile->y = 0;
	return ++tile->layer < grid->layers;
}

/* Each tile has a list of its own, in whatever shape the grid is */
static void check_lists(struct render_fixture *f)
{
	struct tvb_tile tile = { 0 };
	struct tvb tvb;
	uint32_t i;

	begin(&tvb, f);
	do {
		for (i = 0; i < (tile.x + tile.y) % 40; i++)
			assert_int_equal(store(&tvb, &tile, i), 0);
	} while (next_tile(&tvb.grid, &tile));

	tile = (struct tvb_tile){ 0 };
	do {
		assert_int_equal(count(&tvb, &tile), (tile.x + tile.y) % 40);
		assert_int_equal(count(&tvb, &tile), 0);
	} while (next_tile(&tvb.grid, &tile));
	assert_int_equal(tvb_release(&tvb), 0);
	assert_int_equal(render_pages_taken(f), 0);
}

static void test_lists(void **state)
{
	static const struct vagx_render_geometry geometry[] = {
		{ 1, 1, 1, 1, 32, 32 },
		{ 256, 128, 1, 1, 32, 32 },
		{ 1000, 90, 3, 4, 32, 16 },
		{ 33, 700, 2, 2, 16, 16 },
	};
	struct render_fixture *f = *state;
	unsigned int i;

	for (i = 0; i < sizeof(geometry) / sizeof(geometry[0]); i++) {
		f->vertex.geometry = geometry[i];
		check_lists(f);
	}
}

/* What the driver allocates for a tilemap is enough, to the byte */
static void test_extent(void **state)
{
	struct render_fixture *f = *state;
	uint8_t *tilemap = render_at(TILEMAP_VA);
	struct tvb_tile last;
	struct tvb tvb;

	/* 32 by 20 blocks: macrotiles of 8 by 8, in 320 bytes each, and the last one is not full */
	render_size(f, 1024, 640, 1, 1);
	begin(&tvb, f);
	last = (struct tvb_tile){ 31, 19, 0 };
	assert_int_equal(store(&tvb, &last, 0), 0);
	assert_int_equal(tilemap[16 * 320], 0xee);
	assert_int_equal(tilemap[16 * 320 - 1], 0);
	/* the macrotile at 3, 2; in it the block at 7, 3 */
	assert_memory_not_equal(tilemap + 11 * 320 + 31 * 5, "\0\0\0\0\0", 5);
	assert_int_equal(tvb_release(&tvb), 0);
}

static void test_pages_are_out(void **state)
{
	static const struct tvb_tile tile = { 3, 4, 0 };
	struct render_fixture *f = *state;
	uint32_t n = 0, again;
	struct tvb tvb;

	f->limit = 2;
	begin(&tvb, f);
	while (!store(&tvb, &tile, n))
		n++;
	assert_true(n > 2000);
	assert_int_equal(store(&tvb, &tile, n), -ENOSPC);
	assert_int_equal(render_pages_taken(f), 2);
	again = count(&tvb, &tile);
	assert_true(again == n || again == n + 1);
	assert_int_equal(tvb_release(&tvb), 0);
	assert_int_equal(render_pages_taken(f), 0);
	assert_int_equal(store(&tvb, &tile, 0), 0);
	assert_int_equal(count(&tvb, &tile), 1);
	assert_int_equal(tvb_clear(&tvb, true), 0);
	assert_int_equal(render_pages_taken(f), 0);
}

/* A page that somebody else has written */
static void test_corrupt_page(void **state)
{
	static const struct tvb_tile tile = { 0 };
	struct render_fixture *f = *state;
	uint64_t loop = PAGES_VA;
	struct tvb tvb;
	uint32_t i;

	begin(&tvb, f);
	for (i = 0; render_pages_taken(f) < 3; i++)
		assert_int_equal(store(&tvb, &tile, i), 0);

	/* it leads back to the last one: what is in between is lost */
	memcpy((uint8_t *)render_at(PAGES_VA + VAGX_TVB_PAGE_SIZE) + 8, &loop, 8);
	f->taken[2] = true;
	memset(render_at(PAGES_VA), 0, 16);
	assert_int_equal(tvb_release(&tvb), -EFAULT);
	assert_true(tvb.corrupt);
	assert_int_equal(tvb.fault.va, PAGES_VA);
	assert_int_equal(render_pages_taken(f), 1);
	f->taken[0] = false;
}

/* Any bytes at all in tilemap and pages end in a fault or in the end of the list */
static void test_noise(void **state)
{
	struct render_fixture *f = *state;
	unsigned int round, ended[2] = { 0 };
	struct tvb tvb;

	begin(&tvb, f);
	for (round = 0; round < 200; round++) {
		uint8_t *entry = render_at(TILEMAP_VA);
		uint8_t *page = render_at(PAGES_VA);
		struct tvb_tile tile = { 0 };
		struct tvb_list list;
		unsigned int i, n = 0;
		uint64_t va, page_number = PAGES_VA >> 15;
		int err;

		srandom(round);
		for (i = 0; i < VAGX_TVB_PAGE_SIZE; i++)
			page[i] = round % 2 ? random() >> 8 : 0;
		memcpy(entry, &page_number, 3);
		entry[3] = random() >> 8;
		entry[4] = random() >> 8 & 1;
		assert_int_equal(tvb_list_begin(&tvb, &tile, &list), 0);
		while ((err = tvb_list_next(&tvb, &list, &va)) > 0 && n < 100000)
			n++;
		ended[err < 0]++;
	}
	assert_true(ended[0] && ended[1]);
}

#define TVB_TEST(test) cmocka_unit_test_setup_teardown(test, render_setup, render_teardown)

/* Each clause about the image: values at both ends of what is not allowed */
static void test_geometry(void **state)
{
	static const struct {
		enum vagx_rule clause;
		struct vagx_render_geometry geometry;
	} cases[] = {
		{ VAGX_KEPT, { 1, 1, 1, 1, 16, 16 } },
		{ VAGX_KEPT, { 16384, 16384, 2048, 4, 32, 32 } },
		{ VAGX_KEPT, { 256, 256, 1, 2, 32, 16 } },
		{ VAGX_CLAUSE_RENDER_GEOMETRY_width, { 0, 256, 1, 1, 32, 32 } },
		{ VAGX_CLAUSE_RENDER_GEOMETRY_width, { 16385, 256, 1, 1, 32, 32 } },
		{ VAGX_CLAUSE_RENDER_GEOMETRY_height, { 256, 0, 1, 1, 32, 32 } },
		{ VAGX_CLAUSE_RENDER_GEOMETRY_height, { 256, 16385, 1, 1, 32, 32 } },
		{ VAGX_CLAUSE_RENDER_GEOMETRY_layers, { 256, 256, 0, 1, 32, 32 } },
		{ VAGX_CLAUSE_RENDER_GEOMETRY_layers, { 256, 256, 2049, 1, 32, 32 } },
		{ VAGX_CLAUSE_RENDER_GEOMETRY_samples, { 256, 256, 1, 0, 32, 32 } },
		{ VAGX_CLAUSE_RENDER_GEOMETRY_samples, { 256, 256, 1, 3, 32, 32 } },
		{ VAGX_CLAUSE_RENDER_GEOMETRY_tile_width, { 256, 256, 1, 1, 24, 32 } },
		{ VAGX_CLAUSE_RENDER_GEOMETRY_tile_height, { 256, 256, 1, 1, 32, 8 } },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(tvb_geometry_check(&cases[i].geometry), cases[i].clause);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TVB_TEST(test_lists),
		TVB_TEST(test_extent),
		TVB_TEST(test_pages_are_out),
		TVB_TEST(test_corrupt_page),
		TVB_TEST(test_noise),
		cmocka_unit_test(test_geometry),
	};

	return cmocka_run_group_tests_name("tvb", tests, NULL, NULL);
}
