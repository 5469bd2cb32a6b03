// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Checks of render commands, the same as the driver's: flags, sizes of image and tile, and
 * addresses, which have to be 0 or the user's.
 */
#include <errno.h>

#include "shim.h"

#define FLAGS		(DRM_ASAHI_RENDER_VERTEX_SCRATCH | DRM_ASAHI_RENDER_PROCESS_EMPTY_TILES | \
			 DRM_ASAHI_RENDER_NO_VERTEX_CLUSTERING | DRM_ASAHI_RENDER_DBIAS_IS_INT)
#define MAX_SIZE	16384
#define MAX_LAYERS	2048
/* A tile needs less than these bytes of the tilebuffer */
#define TILE_BYTES	32768

static bool render_is_tile(const struct drm_asahi_cmd_render *cmd)
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

static bool render_is_image(const struct drm_asahi_cmd_render *cmd)
{
	return cmd->width_px && cmd->width_px <= MAX_SIZE && cmd->height_px &&
	       cmd->height_px <= MAX_SIZE && cmd->layers && cmd->layers <= MAX_LAYERS;
}

int shim_render_check(const struct drm_asahi_cmd_render *cmd)
{
	if (cmd->flags & ~FLAGS || !render_is_image(cmd) || !render_is_tile(cmd))
		return EINVAL;
	return 0;
}
