/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_FW_RENDER_H
#define VAGX_FW_RENDER_H

#include "../gpu/render.h"
#include "fw_buffer.h"
#include "fw_job.h"

/*
 * What vertex and fragment commands have in common. With the firmware's lock held, except for what
 * runs on the units.
 */

/**
 * struct fw_tiles - what follows from the size of an image
 * @x: tiles of 32 by 32 pixels in a row
 * @y: rows of them
 * @mtile_x: tiles in a row of a macrotile, of which there are 4 by 4
 * @mtile_y: rows of them
 * @utiles_x: small tiles in a row of a tile
 * @utiles_y: rows of them
 * @region: words that a macrotile has in the tilemap
 * @tilemap: bytes of the tilemap
 * @tails: words that a macrotile has in the tail pointer cache
 * @tail_cache: bytes of the tail pointer cache, for one cluster
 */
struct fw_tiles {
	uint32_t x, y;
	uint32_t mtile_x, mtile_y;
	uint32_t utiles_x, utiles_y;
	uint32_t region;
	uint64_t tilemap;
	uint32_t tails;
	uint64_t tail_cache;
};

struct fw_tiles fw_render_tiles(const struct vagx_render_geometry *geometry);

/* Fills what a utile configuration says; false when that is none */
bool fw_render_utiles(struct fw_job *job, uint64_t config, struct vagx_render_geometry *geometry);

/* A word of a command that has to be a value; one of a structure that G14X has a register for */
void fw_render_expect(struct fw_job *job, enum vagx_rule rule, const struct fw_view *view,
		      enum fw_field_id field, uint64_t value);

/* The same for a word of the command itself */
void fw_render_expect_field(struct fw_job *job, enum vagx_rule rule, enum fw_field_id field,
			    uint64_t value);

/* That the client's memory from @va on is there for a unit that writes @size bytes */
void fw_render_expect_memory(struct fw_job *job, const char *what, uint64_t va, uint64_t size);

/* What shaders see, out of a command's parameters */
void fw_render_samplers(struct fw_job *job, enum fw_field_id encoder_params,
			struct vagx_render_shaders *shaders);

/* fw_fragment.c: address of a scene's fragment command, if its ring has it; 0 otherwise */
uint64_t fw_fragment_find(struct fw_worker *worker, const struct fw_scene *scene);
/* What there is of a scene is drawn, as its fragment command says. Lock not held. */
enum vagx_gpu_status fw_fragment_partial(struct fw_job *vertex, const struct vagx_tvb_pages *pages,
					 struct vagx_uat_fault *fault, unsigned int *unit);

/* fw_tvb.c: the pages of a job's scene, as the units see them */
struct vagx_tvb_pages fw_tvb_pages(struct fw_job *job);
/*
 * Where no shader runs, besides the units: vertex work leaves marks in as many pages as its size
 * may take, fragment work looks whether they are still there and gives the pages back.
 */
enum vagx_gpu_status fw_tvb_mark(struct fw_job *job, const struct vagx_tvb_pages *pages);
void fw_tvb_check(struct fw_job *job, const struct vagx_tvb_pages *pages);

#endif
