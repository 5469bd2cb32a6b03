/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What the units of the emulator are told for a render command, in the place of
 * driver and firmware.
 */
#ifndef SHIM_VAGX_RENDER_H
#define SHIM_VAGX_RENDER_H

#include <stdbool.h>
#include <stdint.h>

#include <drm/asahi_drm.h>

#include "gpu/render.h"

/**
 * struct shim_tvb - the tiled vertex buffer of a render
 * @va: where the GPU sees it
 * @size: bytes
 * @most_pages: that are used, if not 0
 * @memory: where its scene is
 * @free: pages that nothing uses
 * @num_free: how many
 */
struct shim_tvb {
	uint64_t va;
	uint64_t size;
	unsigned int most_pages;
	struct vagx_tvb_memory memory;
	uint64_t *free;
	unsigned int num_free;
	unsigned int num_pages;
};

/**
 * shim_tvb_init() - divide memory up for a render
 * @tvb: buffer, whose @va, @size and @most_pages are set
 * @cmd: command
 *
 * Return: whether there is enough for the scene and some pages.
 */
bool shim_tvb_init(struct shim_tvb *tvb, const struct drm_asahi_cmd_render *cmd);
void shim_tvb_fini(struct shim_tvb *tvb);

/** shim_tvb_pages() - its pages, for the units */
struct vagx_tvb_pages shim_tvb_pages(struct shim_tvb *tvb);

struct vagx_vertex_registers shim_vertex_registers(const struct drm_asahi_cmd_render *cmd,
						   const struct shim_tvb *tvb, uint64_t usc_base);
struct vagx_fragment_registers shim_fragment_registers(const struct drm_asahi_cmd_render *cmd,
						       const struct shim_tvb *tvb,
						       uint64_t usc_base);

#endif /* SHIM_VAGX_RENDER_H */
