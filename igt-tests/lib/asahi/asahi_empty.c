// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include "asahi_empty.h"
#include "igt.h"
#include "igt_syncobj.h"

/* struct render - as it stands in a command buffer */
struct render {
	struct drm_asahi_cmd_header header;
	struct drm_asahi_cmd_render render;
};

static struct render empty_render_of(struct asahi_client *client, unsigned int size)
{
	static const uint32_t terminate[2] = { 0xc0000000 };
	const struct asahi_command stream = igt_asahi_command_words(client, terminate, 2);

	return (struct render) {
		.header = {
			.cmd_type = DRM_ASAHI_CMD_RENDER,
			.size = sizeof(struct drm_asahi_cmd_render),
			.vdm_barrier = DRM_ASAHI_BARRIER_NONE,
			.cdm_barrier = DRM_ASAHI_BARRIER_NONE,
		},
		.render = {
			.vdm_ctrl_stream_base = stream.compute.cdm_ctrl_stream_base,
			.ppp_ctrl = 0x202,
			.ppp_multisamplectl = 0x88,
			.isp_bgobjvals = 0x300,
			.width_px = size,
			.height_px = size,
			.layers = 1,
			.utile_width_px = 32,
			.utile_height_px = 32,
			.samples = 1,
			.sample_size_B = 4,
		},
	};
}

uint32_t igt_asahi_submit_empty(struct asahi_client *client, uint32_t queue, unsigned int size,
				uint32_t in)
{
	const struct render render = empty_render_of(client, size);
	const uint32_t out = syncobj_create(client->fd, 0);
	const struct drm_asahi_sync syncs[] = { { .handle = in }, { .handle = out } };
	struct drm_asahi_submit args = {
		.syncs = (uintptr_t)(in ? syncs : syncs + 1),
		.in_sync_count = in ? 1 : 0,
		.out_sync_count = 1,
		.cmdbuf = (uintptr_t)&render,
		.cmdbuf_size = sizeof(render),
		.queue_id = queue,
	};

	do_ioctl(client->fd, DRM_IOCTL_ASAHI_SUBMIT, &args);
	return out;
}

void igt_asahi_finish(struct asahi_client *client, uint32_t sync)
{
	igt_assert_eq(igt_asahi_wait(client->fd, sync), 0);
	syncobj_destroy(client->fd, sync);
}
