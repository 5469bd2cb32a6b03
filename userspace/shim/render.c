// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What can be wrong with a render command.
 */
#include <errno.h>

#include <agx/agx_uat.h>

#include "shim.h"

#define FLAGS		(DRM_ASAHI_RENDER_VERTEX_SCRATCH | DRM_ASAHI_RENDER_PROCESS_EMPTY_TILES | \
			 DRM_ASAHI_RENDER_NO_VERTEX_CLUSTERING | DRM_ASAHI_RENDER_DBIAS_IS_INT)
#define MAX_SIZE	16384
#define MAX_LAYERS	2048
/* Bytes of tilebuffer that a tile stays below */
#define TILE_BYTES	32768

static bool is_tile(const struct drm_asahi_cmd_render *cmd)
{
	unsigned int pixels = cmd->utile_width_px * cmd->utile_height_px;

	if (!(cmd->utile_width_px == 32 && cmd->utile_height_px == 32) &&
	    !(cmd->utile_width_px == 32 && cmd->utile_height_px == 16) &&
	    !(cmd->utile_width_px == 16 && cmd->utile_height_px == 16))
		return false;
	if (cmd->samples != 1 && cmd->samples != 2 && cmd->samples != 4)
		return false;
	return pixels * cmd->samples * cmd->sample_size_B < TILE_BYTES;
}

static bool is_image(const struct drm_asahi_cmd_render *cmd)
{
	return cmd->width_px && cmd->width_px <= MAX_SIZE && cmd->height_px &&
	       cmd->height_px <= MAX_SIZE && cmd->layers && cmd->layers <= MAX_LAYERS;
}

int shim_render_check(const struct drm_asahi_cmd_render *cmd)
{
	const uint64_t addresses[] = {
		cmd->vdm_ctrl_stream_base, cmd->isp_scissor_base, cmd->isp_dbias_base,
		cmd->isp_oclqry_base, cmd->depth.base, cmd->depth.comp_base, cmd->stencil.base,
		cmd->stencil.comp_base, cmd->sampler_heap,
	};
	size_t i;

	if (cmd->flags & ~FLAGS || !is_image(cmd) || !is_tile(cmd))
		return EINVAL;
	for (i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++)
		if (addresses[i] && (addresses[i] < AGX_VA_USER_START ||
				     addresses[i] >= AGX_VA_USER_END))
			return EINVAL;
	return 0;
}
