// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The tiled vertex buffer, which is in the client's memory between vertex and fragment work. Real
 * vertex work of one core has filled it with a few scenes. An input takes one, changes what
 * fragment work reads there: the heap's metadata, pages, lists of tiles, primitives, draws,
 * vertices, and its registers, then runs it, partial renders and more vertex work as well.
 *
 * It may not crash. A scene that nobody has changed ends well. Jobs without an end are cancelled
 * after a number of accesses, as the firmware does by time.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "fuzz.h"
#include "gpu/scene.h"
#include "gpu/tests/scene_builder.h"
#include "gpu/tvb.h"
#include "records.h"
#include "tvb_ops.h"

#ifdef HAS_ASAN
#include <sanitizer/asan_interface.h>
#endif

#define SCENES		4
#define PAGES		8
#define OBJECTS		48
#define RUNS		4
#define ENOUGH		200000u

enum kind { KIND_CHUNK, KIND_PRIMITIVE, KIND_DRAW, KIND_VERTEX, KINDS };

/* What there is of memory */
static const struct {
	uint64_t va;
	uint32_t size;
} regions[] = {
	{ USC_VA, 0x10000 }, { STREAM_VA, 0x4000 }, { STATE_VA, 0x8000 }, { DATA_VA, 0x30000 },
	/* scissors, depth biases, results of queries, descriptors */
	{ STATE_VA + 0x40000, 0x4000 }, { STATE_VA + 0x50000, 0x4000 },
	{ STATE_VA + 0x60000, 0x4000 }, { STATE_VA + 0x70000, 0x8000 },
	{ TILEMAP_VA, 0x8000 }, { TPC_VA, 0x8000 }, { HEAP_META_VA, 0x4000 },
	{ PAGES_VA, PAGES * VAGX_TVB_PAGE_SIZE }, { IMAGE_VA, 0x48000 }, { DEPTH_VA, 0x10000 },
	{ STENCIL_VA, 0x4000 },
};

#define REGIONS	(sizeof(regions) / sizeof(regions[0]))

/* A scene as vertex work has left it */
struct saved {
	struct vagx_vertex_registers vertex;
	struct vagx_fragment_registers fragment;
	bool taken[MAX_PAGES];
	uint8_t *memory[REGIONS];
	uint64_t object[KINDS][OBJECTS];
	unsigned int objects[KINDS];
};

static struct render_fixture *fixture;
static struct saved saved[SCENES];
static const struct saved *scene;
static struct vagx_job *job;
static unsigned int accesses;

void *__real_vagx_tlb_ptr_slow(struct vagx_tlb *tlb, uint64_t va, size_t len,
			       enum vagx_access access, struct vagx_uat_fault *fault);
void *__wrap_vagx_tlb_ptr_slow(struct vagx_tlb *tlb, uint64_t va, size_t len,
			       enum vagx_access access, struct vagx_uat_fault *fault);
int __wrap_vagx_uat_read(struct vagx_uat *uat, unsigned int slot, uint64_t va, void *buf,
			 size_t len, enum vagx_agent agent, struct vagx_uat_fault *fault);

/* The fixture's MMU, for the regions alone */
void *__wrap_vagx_tlb_ptr_slow(struct vagx_tlb *tlb, uint64_t va, size_t len,
			       enum vagx_access access, struct vagx_uat_fault *fault)
{
	unsigned int i;

	if (++accesses > ENOUGH && job)
		vagx_job_cancel(job);
	FUZZ_CHECK(accesses < 100 * ENOUGH);
	for (i = 0; i < REGIONS; i++) {
		if (va - regions[i].va < regions[i].size)
			return __real_vagx_tlb_ptr_slow(tlb, va, len, access, fault);
	}
	*fault = (struct vagx_uat_fault){
		.va = va, .slot = tlb->slot, .access = access, .reason = VAGX_FAULT_UNMAPPED,
	};
	return NULL;
}

int __wrap_vagx_uat_read(struct vagx_uat *uat, unsigned int slot, uint64_t va, void *buf,
			 size_t len, enum vagx_agent agent, struct vagx_uat_fault *fault)
{
	struct vagx_tlb tlb = { .slot = slot };
	size_t i;

	for (i = 0; i < len; i++) {
		const uint8_t *p = __wrap_vagx_tlb_ptr_slow(&tlb, va + i, 1, VAGX_READ, fault);

		if (!p)
			return -EFAULT;
		((uint8_t *)buf)[i] = *p;
	}
	return 0;
}

/* Scenes */

static void draw(struct scene *s, const struct render_fixture *f, unsigned int number)
{
	struct scene_state state = scene_default(f);
	uint32_t first;

	state.face.depth_func = state.face_2.depth_func = AGX_ZS_FUNC_LESS;
	state.face.depth_write_disable = state.face_2.depth_write_disable = number & 1;
	state.early_z = number & 2;
	state.control.visibility = AGX_VISIBILITY_COUNTING;
	scene_set(s, &state);
	first = scene_triangle(s, 10, 10, 0.5f);
	scene_triangle(s, 100, 80, 0.25f);
	scene_triangle(s, 20, 90, 0.75f);
	scene_draw(s, AGX_PRIMITIVE_TRIANGLES, first, 9);
	scene_draw(s, AGX_PRIMITIVE_LINES, first, 4);
	state.early_z = true;
	state.control.visibility = AGX_VISIBILITY_NONE;
	scene_set(s, &state);
	scene_draw(s, AGX_PRIMITIVE_POINTS, first, 5);
	scene_draw(s, AGX_PRIMITIVE_TRIANGLE_STRIP, first, 6);
}

static void note(struct saved *s, enum kind kind, uint64_t va)
{
	unsigned int i;

	for (i = 0; i < s->objects[kind]; i++) {
		if (s->object[kind][i] == va)
			return;
	}
	if (va && i < OBJECTS)
		s->object[kind][s->objects[kind]++] = va;
}

/* Notes what a list leads to; it is empty afterwards */
static void note_list(struct saved *s, struct tvb *tvb, const struct tvb_tile *tile)
{
	struct tvb_list list;
	unsigned int i;
	uint64_t va;

	FUZZ_CHECK(!tvb_list_begin(tvb, tile, &list));
	note(s, KIND_CHUNK, list.next);
	while (tvb_list_next(tvb, &list, &va) > 0) {
		const struct scene_primitive *p = tvb_at(tvb, va, sizeof(*p));

		FUZZ_CHECK(p);
		note(s, KIND_PRIMITIVE, va);
		note(s, KIND_DRAW, p->draw);
		for (i = 0; i < 3; i++)
			note(s, KIND_VERTEX, p->vertex[i]);
	}
}

static void note_objects(struct saved *s, struct render_fixture *f)
{
	struct vagx_tvb_pages pages = render_pages(f);
	static struct vagx_tlb tlb;
	struct tvb_tile tile = { 0 };
	atomic_bool stop = false;
	struct tvb tvb;

	vagx_tlb_init(&tlb, NULL, SLOT, VAGX_AGENT_GPU);
	tvb_init(&tvb, &tlb, &f->vertex.geometry, &f->vertex.tvb, &pages, &stop);
	for (tile.layer = 0; tile.layer < tvb.grid.layers; tile.layer++) {
		for (tile.y = 0; tile.y < tvb.grid.tiles_y; tile.y++) {
			for (tile.x = 0; tile.x < tvb.grid.tiles_x; tile.x++)
				note_list(s, &tvb, &tile);
		}
	}
}

static void save(struct saved *s, struct render_fixture *f)
{
	unsigned int i;

	s->vertex = f->vertex;
	s->fragment = f->fragment;
	memcpy(s->taken, f->taken, sizeof(s->taken));
	for (i = 0; i < REGIONS; i++) {
		s->memory[i] = malloc(regions[i].size);
		FUZZ_CHECK(s->memory[i]);
		memcpy(s->memory[i], render_at(regions[i].va), regions[i].size);
	}
	note_objects(s, f);
	for (i = 0; i < KINDS; i++)
		FUZZ_CHECK(s->objects[i]);
}

static void restore(struct render_fixture *f)
{
	unsigned int i;

	f->vertex = scene->vertex;
	f->fragment = scene->fragment;
	memcpy(f->taken, scene->taken, sizeof(f->taken));
	for (i = 0; i < REGIONS; i++)
		memcpy(render_at(regions[i].va), scene->memory[i], regions[i].size);
	render_hole = 0;
}

static void make_scene(struct render_fixture *f, unsigned int number)
{
	struct scene s;

	memset(f->taken, 0, sizeof(f->taken));
	render_size(f, 96, 72, number == 2 ? 2 : 1, number == 1 ? 4 : 1);
	if (number == 3) {
		f->vertex.geometry.utile_width = f->vertex.geometry.utile_height = 16;
		f->fragment.geometry = f->vertex.geometry;
	}
	scene_begin(&s, f);
	draw(&s, f, number);
	scene_end(&s);
	FUZZ_CHECK(render_vertex(f) == VAGX_GPU_DONE);
	save(&saved[number], f);
}

static void poison_rest(void)
{
#ifdef HAS_ASAN
	unsigned int i;

	__asan_poison_memory_region(render_at(MEMORY_VA), MEMORY_SIZE);
	for (i = 0; i < REGIONS; i++)
		__asan_unpoison_memory_region(render_at(regions[i].va), regions[i].size);
#endif
}

static void set_up(void)
{
	void *state;
	unsigned int i;

	/* One core is the thread that runs the job, so that a run is the same each time */
	FUZZ_CHECK(!render_setup_cores(&state, 1));
	fixture = state;
	fixture->limit = PAGES;
	/* Whatever comes back: what is given is the client's to say */
	fixture->careless = true;
	for (i = 0; i < SCENES; i++)
		make_scene(fixture, i);
	poison_rest();
}

/* Changes */

static uint64_t object_at(const struct fuzz_record *r)
{
	unsigned int kind = r->index % (KINDS + 1);

	if (kind == KINDS)
		return PAGES_VA + r->which % PAGES * VAGX_TVB_PAGE_SIZE + r->extra;
	return scene->object[kind][r->value % scene->objects[kind]] + r->extra % 32 * 16;
}

/* A value, or the address of another object */
static void change(uint64_t va, size_t size, const struct fuzz_record *r)
{
	uint64_t value = 0;

	memcpy(&value, render_at(va), size);
	value = r->how & 128 ? object_at(r) : fuzz_value(r, value);
	memcpy(render_at(va), &value, size);
}

static void change_entry(const struct fuzz_record *r)
{
	uint64_t va = object_at(r), entry, at = TILEMAP_VA + r->field % 96 * 5;

	if (!(r->how & 128)) {
		change(at, 5, r);
		return;
	}
	entry = va >> 15 | va % VAGX_TVB_PAGE_SIZE / 64 << 24;
	memcpy(render_at(at), &entry, 5);
}

static void change_primitive(const struct fuzz_record *r)
{
	uint64_t at = scene->object[KIND_PRIMITIVE][r->which % scene->objects[KIND_PRIMITIVE]];
	unsigned int field = r->field % 6;

	if (field < 4)
		change(at + field * 8, 8, r);
	else
		change(at + (field == 4 ? offsetof(struct scene_primitive, id) :
					  offsetof(struct scene_primitive, flags)), 4, r);
}

static void change_vertex(const struct fuzz_record *r)
{
	static const uint32_t special[] = {
		0, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 1, 0x80000000,
		0x7f7fffff, 0x4f000000, 0xcf000000, 0x47000000, 0xc7000000, 0x477fff00,
	};
	uint64_t at = scene->object[KIND_VERTEX][r->which % scene->objects[KIND_VERTEX]] +
		      r->field % 12 * 4;

	if (r->how & 64)
		memcpy(render_at(at), &special[r->value % (sizeof(special) / 4)], 4);
	else
		change(at, 4, r);
}

static void change_register(struct render_fixture *f, const struct fuzz_record *r)
{
	uint8_t *at = (uint8_t *)&f->fragment;
	uint32_t value;

	at += r->field % (offsetof(struct vagx_fragment_registers, process_empty_tiles) / 4) * 4;
	memcpy(&value, at, 4);
	value = (uint32_t)fuzz_value(r, value);
	memcpy(at, &value, 4);
	if (r->index & 1)
		f->vertex.geometry = f->fragment.geometry;
}

static void change_bytes(const struct fuzz_record *r)
{
	unsigned int i = r->which % REGIONS;
	uint64_t at = (r->field + (uint64_t)(r->index / 8) * 65536) % (regions[i].size - 8);

	change(regions[i].va + at, 1 + r->index % 8, r);
}

/* Runs */

static enum vagx_gpu_status run(struct render_fixture *f, bool vertex, bool partial)
{
	struct vagx_tvb_pages pages = render_pages(f);
	enum vagx_gpu_status status;

	accesses = 0;
	job = vagx_job_new(f->gpu, SLOT);
	FUZZ_CHECK(job);
	if (vertex)
		status = vagx_job_vertex(job, &f->vertex, &pages, &f->fault, &f->unit);
	else
		status = vagx_job_fragment(job, &f->fragment, &pages,
					   partial ? VAGX_FRAGMENT_PARTIAL : VAGX_FRAGMENT_FINAL,
					   &f->fault, &f->unit);
	vagx_job_free(job);
	job = NULL;
	FUZZ_CHECK(status != VAGX_GPU_CANCELLED || accesses > ENOUGH);
	return status;
}

static void do_record(struct render_fixture *f, const struct fuzz_record *r, unsigned int *runs)
{
	switch ((enum tvb_op)(r->op % TVB_OP_COUNT)) {
	case TVB_OP_HEAP:
		change(HEAP_META_VA + r->field % 4 * 4, r->how & 16 ? 8 : 4, r);
		break;
	case TVB_OP_PAGE:
		change(PAGES_VA + r->which % PAGES * VAGX_TVB_PAGE_SIZE + r->field % 2 * 8, 8, r);
		break;
	case TVB_OP_ENTRY:
		change_entry(r);
		break;
	case TVB_OP_CHUNK:
		change(scene->object[KIND_CHUNK][r->which % scene->objects[KIND_CHUNK]] +
		       r->field % 16 * 8, 8, r);
		break;
	case TVB_OP_PRIMITIVE:
		change_primitive(r);
		break;
	case TVB_OP_DRAW:
		change(scene->object[KIND_DRAW][r->which % scene->objects[KIND_DRAW]] +
		       r->field % (sizeof(struct scene_draw) / 4) * 4, 4, r);
		break;
	case TVB_OP_VERTEX:
		change_vertex(r);
		break;
	case TVB_OP_REGISTER:
		change_register(f, r);
		break;
	case TVB_OP_BYTES:
		change_bytes(r);
		break;
	case TVB_OP_FRAGMENT:
		if ((*runs)++ < RUNS)
			run(f, false, r->index & 1);
		break;
	case TVB_OP_WORK:
		if ((*runs)++ < RUNS)
			run(f, true, false);
		break;
	case TVB_OP_HOLE:
		render_hole = r->index & 1 ? regions[r->which % REGIONS].va +
					     r->field % 4 * VAGX_UAT_PAGE_SIZE : 0;
		break;
	case TVB_OP_COUNT:
		break;
	}
}

static const struct fuzz_record primitives[] = {
	{ .which = 0 },
	{ .op = TVB_OP_PRIMITIVE, .field = 5, .how = 0, .value = 0 },
	{ .op = TVB_OP_PRIMITIVE, .which = 1, .field = 1, .how = 128, .index = KIND_VERTEX },
	{ .op = TVB_OP_VERTEX, .how = 64, .value = 3 },
	{ .op = TVB_OP_DRAW, .field = 2, .how = 0, .value = 3 },
	{ .op = TVB_OP_FRAGMENT, .index = 1 }, { .op = TVB_OP_WORK }, { .op = TVB_OP_FRAGMENT },
};

static const struct fuzz_record lists[] = {
	{ .which = 3 },
	{ .op = TVB_OP_CHUNK, .field = 1, .how = 128, .index = KIND_PRIMITIVE, .value = 3 },
	{ .op = TVB_OP_CHUNK, .which = 1, .field = 15, .how = 128, .index = KIND_CHUNK },
	{ .op = TVB_OP_ENTRY, .field = 1, .how = 128, .index = KIND_CHUNK, .value = 1 },
	{ .op = TVB_OP_FRAGMENT },
};

static const struct fuzz_record heaps[] = {
	{ .which = 1 },
	{ .op = TVB_OP_FRAGMENT, .index = 1 }, { .op = TVB_OP_WORK },
	{ .op = TVB_OP_PAGE, .field = 1, .how = 128, .index = KINDS },
	{ .op = TVB_OP_HEAP, .field = 2, .how = 3, .value = 2 }, { .op = TVB_OP_FRAGMENT },
};

static const struct fuzz_record layers[] = {
	{ .which = 2 },
	{ .op = TVB_OP_REGISTER, .field = 20, .how = 3 }, { .op = TVB_OP_FRAGMENT },
	{ .op = TVB_OP_HOLE, .which = 7, .index = 1 }, { .op = TVB_OP_FRAGMENT },
};

static const struct fuzz_seed seeds[] = {
	FUZZ_SEED(primitives), FUZZ_SEED(lists), FUZZ_SEED(heaps), FUZZ_SEED(layers),
};

const struct fuzz_shape fuzz_shape = {
	.ops = TVB_OP_COUNT, .favoured = TVB_OP_FAVOURED, .seeds = seeds,
	.num_seeds = sizeof(seeds) / sizeof(seeds[0]),
};

/* The first record: which scene */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_record records[FUZZ_RECORDS];
	size_t count = fuzz_records(data, size, records), i;
	enum vagx_gpu_status status;
	unsigned int runs = 0;

	if (!count)
		return 0;
	if (!fixture)
		set_up();
	scene = &saved[records[0].which % SCENES];
	restore(fixture);
	for (i = 1; i < count; i++)
		do_record(fixture, &records[i], &runs);
	if (!runs) {
		status = run(fixture, false, false);
		FUZZ_CHECK(count > 1 || status == VAGX_GPU_DONE);
	}
	return 0;
}
