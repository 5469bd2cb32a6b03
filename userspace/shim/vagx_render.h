/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Registers of the emulator's units for a render command, in the place of driver and
 * firmware.
 */
#ifndef SHIM_VAGX_RENDER_H
#define SHIM_VAGX_RENDER_H

#include <stdbool.h>
#include <stdint.h>

#include <drm/asahi_drm.h>

#include "gpu/render.h"

/**
 * struct shim_tvb - the tiled vertex buffer of a render
 * @va: its GPU address
 * @size: bytes
 * @most_pages: limit of its pages, or 0
 * @memory: addresses of its parts, for the units
 * @free: stack of addresses of pages that are free
 * @num_free: number of pages in @free
 * @num_pages: number of all pages
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
 * shim_tvb_init() - divide a vertex buffer up for a render
 * @tvb: buffer, whose @va, @size and @most_pages are set
 * @cmd: command
 *
 * Return: whether there is enough for the scene and some pages.
 */
bool shim_tvb_init(struct shim_tvb *tvb, const struct drm_asahi_cmd_render *cmd);

/** shim_tvb_fini() - free what shim_tvb_init() has allocated */
void shim_tvb_fini(struct shim_tvb *tvb);

/** shim_tvb_pages() - functions by which the units take pages and give them back */
struct vagx_tvb_pages shim_tvb_pages(struct shim_tvb *tvb);

/**
 * shim_vertex_registers() - fill in the vertex unit's registers
 * @cmd: command, checked
 * @tvb: its vertex buffer
 * @usc_base: the queue's usc_exec_base
 */
struct vagx_vertex_registers shim_vertex_registers(const struct drm_asahi_cmd_render *cmd,
						   const struct shim_tvb *tvb, uint64_t usc_base);

/**
 * shim_fragment_registers() - fill in the fragment unit's registers
 * @cmd: command, checked
 * @tvb: its vertex buffer
 * @usc_base: the queue's usc_exec_base
 */
struct vagx_fragment_registers shim_fragment_registers(const struct drm_asahi_cmd_render *cmd,
						       const struct shim_tvb *tvb,
						       uint64_t usc_base);

#endif /* SHIM_VAGX_RENDER_H */
