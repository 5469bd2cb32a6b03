// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "asahi_render.h"
#include "igt.h"
#include "igt_syncobj.h"

/* Blocks of a vertex stream, in the upper bits of their first word */
#define VDM_LINK	(4u << 29)
#define VDM_TERMINATE	(6u << 29)

/* Words that set up a program, known by their first byte */
#define USC_SHADER	0x0d
#define USC_UNIFORM	0x1d
#define USC_SHARED	0x4d
#define USC_FRAGMENT	0x0002f358
#define USC_NO_PRESHADER 0x88
#define USC_REGISTERS	0x8d
/* 32 by 32 pixels of 8 bytes */
#define USC_TILE	(USC_SHARED | 1u << 8 | 0x2fu << 10 | 1u << 20 | 32u << 24)

/* In the low bits of the address of a program for tiles */
#define TILE_PROGRAM	4
/* The least that a program can have, and what Mesa has besides */
#define TILE_COUNTS	0xffff1012

/* Above the arena, with the same upper half of the address */
#define NOWHERE		0xfff00000u

static uint64_t render_put_words(struct asahi_client *client, const void *words, unsigned int bytes)
{
	return igt_asahi_command_words(client, words, bytes / 4).compute.cdm_ctrl_stream_base;
}

struct asahi_render igt_asahi_render(struct asahi_client *client, unsigned int size)
{
	static const uint32_t terminate[2] = { VDM_TERMINATE };

	return (struct asahi_render){
		.header =
			{
				.cmd_type = DRM_ASAHI_CMD_RENDER,
				.size = sizeof(struct drm_asahi_cmd_render),
				.vdm_barrier = DRM_ASAHI_BARRIER_NONE,
				.cdm_barrier = DRM_ASAHI_BARRIER_NONE,
			},
		.render =
			{
				.vdm_ctrl_stream_base =
					render_put_words(client, terminate, sizeof(terminate)),
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

static uint8_t *render_put(uint8_t *pos, uint64_t value, unsigned int bytes)
{
	memcpy(pos, &value, bytes);
	return pos + bytes;
}

void igt_asahi_render_write(struct asahi_client *client, struct asahi_render *render,
			    uint64_t gate, uint64_t addr, uint32_t value)
{
	const uint32_t code = client->programs[IGT_ASAHI_SHADER_GATE];
	const unsigned int registers = igt_asahi_shaders[IGT_ASAHI_SHADER_GATE].registers;
	/* in the shader's order */
	const uint64_t uniforms[] = { gate, addr, value };
	const uint64_t data = render_put_words(client, uniforms, sizeof(uniforms));
	uint8_t words[28] = { 0 }, *pos = words;

	pos = render_put(pos, USC_UNIFORM | (sizeof(uniforms) / 2) << 20 | data >> 2 << 26, 8);
	pos = render_put(pos, USC_TILE, 4);
	pos = render_put(pos, USC_SHADER | (uint64_t)code << 16, 6);
	pos = render_put(pos, USC_REGISTERS | (registers + 7) / 8 << 8, 4);
	pos = render_put(pos, USC_FRAGMENT, 4);
	render_put(pos, USC_NO_PRESHADER, 2);
	render->render.flags |= DRM_ASAHI_RENDER_PROCESS_EMPTY_TILES;
	render->render.bg = (struct drm_asahi_bg_eot){
		.usc = (render_put_words(client, words, sizeof(words)) - IGT_ASAHI_USC_BASE) |
		       TILE_PROGRAM,
		.rsrc_spec = TILE_COUNTS,
	};
	render->render.partial_bg = render->render.bg;
}

static uint32_t *render_at(struct asahi_client *client, uint64_t addr)
{
	return (uint32_t *)((char *)client->arena.map + (addr - client->arena.addr));
}

/* The end of the stream is behind the circle, and only one word of it ever changes. */
volatile uint32_t *igt_asahi_render_circle(struct asahi_client *client,
					   struct asahi_render *render)
{
	const uint32_t words[4] = { VDM_LINK | IGT_ASAHI_USC_BASE >> 32, 0, VDM_TERMINATE };
	const uint64_t addr = render_put_words(client, words, sizeof(words));
	volatile uint32_t *circle = render_at(client, addr) + 1;

	*circle = addr;
	render->render.vdm_ctrl_stream_base = addr;
	return circle;
}

void igt_asahi_circle_end(struct asahi_client *client, volatile uint32_t *circle)
{
	const size_t offset = (const char *)(circle + 1) - (const char *)client->arena.map;

	*circle = client->arena.addr + offset;
}

void igt_asahi_circle_fault(volatile uint32_t *circle)
{
	*circle = NOWHERE;
}

int igt_asahi_submit_render(struct asahi_client *client, uint32_t queue,
			    const struct asahi_render *render, uint32_t out)
{
	const struct drm_asahi_sync sync = { .handle = out };
	struct drm_asahi_submit args = {
		.syncs = (uintptr_t)&sync,
		.out_sync_count = !!out,
		.cmdbuf = (uintptr_t)render,
		.cmdbuf_size = sizeof(*render),
		.queue_id = queue,
	};

	return drmIoctl(client->fd, DRM_IOCTL_ASAHI_SUBMIT, &args) ? -errno : 0;
}

int igt_asahi_run_render(struct asahi_client *client, uint32_t queue,
			 const struct asahi_render *render)
{
	uint32_t sync = syncobj_create(client->fd, 0);
	int err = igt_asahi_submit_render(client, queue, render, sync);

	if (!err)
		err = igt_asahi_wait(client->fd, sync);
	syncobj_destroy(client->fd, sync);
	return err;
}

struct asahi_times igt_asahi_times_create(struct asahi_client *client)
{
	struct drm_asahi_gem_bind_object args = {
		.op = DRM_ASAHI_BIND_OBJECT_OP_BIND,
		.flags = DRM_ASAHI_BIND_OBJECT_USAGE_TIMESTAMPS,
		.range = IGT_ASAHI_PAGE,
	};

	args.handle = igt_asahi_gem_create(client->fd, IGT_ASAHI_PAGE, 0, 0, 0);
	do_ioctl(client->fd, DRM_IOCTL_ASAHI_GEM_BIND_OBJECT, &args);
	return (struct asahi_times){
		.object = args.object_handle,
		.map = igt_asahi_gem_mmap(client->fd, args.handle, IGT_ASAHI_PAGE),
	};
}

void igt_asahi_time_comes(const struct asahi_times *times, unsigned int index)
{
	struct timespec start = { 0 };

	igt_nsec_elapsed(&start);
	while (!times->map[index]) {
		igt_assert_f(igt_nsec_elapsed(&start) < ASAHI_PATIENCE_NS, "time %u\n", index);
		usleep(1000);
	}
}
