/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_FW_RIG_RENDER_H
#define VAGX_FW_RIG_RENDER_H

#include "rig.h"

/* A driver's side of rendering: vertex buffers, scenes, and the commands of a render */

#define RIG_BUFFER_PAGE	0x8000ULL
/* Names that the units see: rig_units.only, .faults and .began */
#define RIG_VERTEX_BASE		0x1500010000ULL
#define RIG_FRAGMENT_BASE	0x1500020000ULL

struct rig_buffer {
	struct rig_ptr info, control, counter, misc, pages, list, kernel;
	uint32_t blocks;
	unsigned int slot;
};

struct rig_render {
	struct rig_ptr scene, barrier, init;
	struct rig_ptr tilemap, tails, heapmeta, user, aux;
	struct rig_command vertex, fragment;
	bool first;			/* InitBuffer goes with it */
};

/* One queue for each half, and the buffer that both work on */
struct rig_renderer {
	struct rig_queue vertex, fragment;
	struct rig_buffer buffer;
	bool at_page_ends;		/* memory of scenes ends where its last page does */
};

/* Memory of the client's, at a multiple of 32 KiB, for the GPU alone or for the firmware too */
struct rig_ptr rig_user(struct rig *rig, size_t size, uint64_t prot);

void rig_buffer_new(struct rig *rig, struct rig_buffer *buffer, unsigned int slot, uint32_t blocks);
/* More blocks: in the lists and block control; in Info too when @idle */
void rig_buffer_grow(struct rig *rig, struct rig_buffer *buffer, uint32_t blocks, bool idle);
/* Event slots @slot and the one after it */
void rig_renderer_new(struct rig *rig, struct rig_renderer *renderer, unsigned int slot,
		      uint32_t blocks);

/* A render of that size; the first one of a renderer puts its buffer into a slot */
void rig_render_new(struct rig *rig, struct rig_renderer *renderer, struct rig_render *render,
		    unsigned int width, unsigned int height);
void rig_render_init(struct rig *rig, struct rig_renderer *renderer, struct rig_render *render);
void rig_render_submit(struct rig *rig, struct rig_renderer *renderer, struct rig_render *render);
bool rig_render_wait(struct rig *rig, struct rig_renderer *renderer, struct rig_render *render);

#endif
