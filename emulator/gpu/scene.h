/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What vertex work leaves in the pages of the tiled vertex buffer. References
 * of a tile lead to primitives, those to their vertices and their draw.
 */
#ifndef VAGX_SCENE_H
#define VAGX_SCENE_H

#include "gpu/ppp.h"
#include "gpu/setup.h"

/** struct scene_draw - state of all primitives of a draw */
struct scene_draw {
	/** @ppp: state of primitive processing */
	struct ppp_words ppp;
	/** @uvs_words: words of a vertex, up to VAGX_MAX_UVS_WORDS */
	uint32_t uvs_words;
	/** @number: of the draw in its job, from 1 on; it is named in reports, and draws nothing */
	uint32_t number;
};

/** SCENE_* - fields of &scene_primitive.flags */
#define SCENE_KIND		0x3u	/* enum setup_kind */
#define SCENE_BACK		0x4u
#define SCENE_OF_TRIANGLE	0x8u
#define SCENE_DEAD		0x10u	/* not to be drawn: storing it failed half way */
#define SCENE_ROTATION_SHIFT	5
#define SCENE_ROTATION_MASK	0x3u
#define SCENE_VIEWPORT_SHIFT	8
#define SCENE_VIEWPORT_MASK	0xfu

/** struct scene_primitive - a primitive; all addresses are from tvb_alloc() */
struct scene_primitive {
	/** @draw: its struct scene_draw */
	uint64_t draw;
	/** @vertex: UVS words; those that it does not need are 0 */
	uint64_t vertex[3];
	/** @id: its number in its instance */
	uint32_t id;
	/** @flags: SCENE_* */
	uint32_t flags;
};

#endif /* VAGX_SCENE_H */
