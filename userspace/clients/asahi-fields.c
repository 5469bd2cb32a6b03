// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * asahi-fields: one compute and one render command whose fields have values of
 * their own, all different, so that a reader can see where each of them goes.
 *
 * Nothing is dispatched, drawn or cleared, so no value but those of the streams
 * and of the tile programs is used for anything.
 */
#include <stdlib.h>
#include <string.h>

#include "agx_float.h"
#include "cli.h"
#include "compute.h"

#define PROGRAM		"asahi-fields"
#define STREAM_BYTES	64
#define WORDS_BYTES	128
/* In the low bits of the address of a background or end-of-tile program */
#define TILE_PROGRAM	4
#define MARK(n)		(UINT64_C(0x0000001000000000) + UINT64_C(0x11110000) * (n))

struct fields {
	struct compute ctx;
	struct asahi_bo *times;
	uint32_t object;
};

static struct drm_asahi_timestamps fields_times_at(const struct fields *fields,
						   uint32_t offset)
{
	return (struct drm_asahi_timestamps){
		.start = { .handle = fields->object, .offset = offset },
		.end = { .handle = fields->object, .offset = offset + 8 },
	};
}

static struct drm_asahi_helper_program fields_helper(unsigned int n)
{
	return (struct drm_asahi_helper_program){
		.binary = 0x01010000 + 0x40 * n,
		.cfg = 0x10 * n + 3,
		.data = MARK(n),
	};
}

static struct drm_asahi_zls_buffer fields_plane(unsigned int n)
{
	return (struct drm_asahi_zls_buffer){
		.base = MARK(n),
		.comp_base = MARK(n + 1),
		.stride = 0x4000 * n + 1,
		.comp_stride = 0x4000 * (n + 1) + 2,
	};
}

static void fields_attach(struct asahi_submit *submit, enum drm_asahi_cmd_type type,
			  unsigned int n)
{
	const struct drm_asahi_attachment attachments[] = {
		{ .pointer = MARK(n), .size = 0x80 * n },
		{ .pointer = MARK(n + 1), .size = 0x80 * (n + 1) },
	};

	asahi_submit_attachments(submit, type, attachments, 2);
}

static int fields_run_compute(struct fields *fields, struct asahi_submit *submit)
{
	struct drm_asahi_cmd_compute cmd;
	struct compute_stream stream;
	int err = compute_stream_new(&fields->ctx, &stream);

	if (err)
		return err;
	err = compute_stream_end(&stream, &cmd);
	if (!err) {
		cmd.sampler_count = 5;
		cmd.sampler_heap = MARK(1);
		cmd.helper = fields_helper(2);
		cmd.ts = fields_times_at(fields, 0x100);
		fields_attach(submit, DRM_ASAHI_SET_COMPUTE_ATTACHMENTS, 3);
		asahi_submit_compute(submit, &cmd, ASAHI_BARRIER_NONE);
		err = asahi_submit_run(submit, COMPUTE_TIMEOUT_NS);
	}
	compute_stream_free(&stream);
	return err;
}

/* Memory of the command, and its address */
static void *fields_put(struct fields *fields, size_t size, uint64_t *addr)
{
	return compute_code_alloc(&fields->ctx, size, addr);
}

static int fields_put_stream(struct fields *fields, uint64_t *stream)
{
	struct agx_writer w;
	void *map = fields_put(fields, STREAM_BYTES, stream);

	agx_writer_init(&w, map, map ? STREAM_BYTES : 0);
	agx_put(&w, vdm_barrier, .usc_cache_invalidate = true);
	agx_put(&w, vdm_stream_terminate);
	return w.error;
}

/* It has to be there even if it never runs. */
static int fields_put_tile_program(struct fields *fields, unsigned int spec,
				   struct drm_asahi_bg_eot *program)
{
	struct compute_program code;
	struct agx_writer w;
	uint64_t addr;
	void *map;
	int err = compute_program_load(&fields->ctx, "end_of_tile", &code);

	if (err)
		return err;
	map = fields_put(fields, WORDS_BYTES, &addr);
	agx_writer_init(&w, map, map ? WORDS_BYTES : 0);
	agx_put(&w, usc_shared);
	agx_put(&w, usc_shader, .code = code.code);
	agx_put(&w, usc_registers, .register_count = code.registers);
	agx_put(&w, usc_no_preshader);
	*program = (struct drm_asahi_bg_eot){
		.usc = (addr - asahi_vm_usc_base(fields->ctx.vm)) | TILE_PROGRAM,
		.rsrc_spec = spec << 16 | 0x1012,
	};
	return w.error;
}

static int fields_put_programs(struct fields *fields, struct drm_asahi_cmd_render *cmd)
{
	uint64_t stream = 0;
	int err = fields_put_stream(fields, &stream);

	cmd->vdm_ctrl_stream_base = stream;
	if (!err)
		err = fields_put_tile_program(fields, 1, &cmd->bg);
	if (!err)
		err = fields_put_tile_program(fields, 2, &cmd->eot);
	if (!err)
		err = fields_put_tile_program(fields, 3, &cmd->partial_bg);
	if (!err)
		err = fields_put_tile_program(fields, 4, &cmd->partial_eot);
	return err;
}

/* Clustering of vertex work stays: memory of its own is the better half of it. */
static int fields_run_render(struct fields *fields, struct asahi_submit *submit)
{
	struct drm_asahi_cmd_render cmd = {
		.flags = DRM_ASAHI_RENDER_VERTEX_SCRATCH |
			 DRM_ASAHI_RENDER_DBIAS_IS_INT,
		.isp_zls_pixels = 0x6f << 15 | 0xdf,
		.vertex_helper = fields_helper(1),
		.fragment_helper = fields_helper(2),
		.isp_scissor_base = MARK(3),
		.isp_dbias_base = MARK(4),
		.isp_oclqry_base = MARK(5),
		.depth = fields_plane(6),
		.stencil = fields_plane(8),
		.zls_ctrl = 2ULL << 25,
		.ppp_multisamplectl = 0x44cc,
		.sampler_heap = MARK(10),
		.ppp_ctrl = 0x202,
		.width_px = 200,
		.height_px = 136,
		.layers = 3,
		.sampler_count = 7,
		.utile_width_px = 32,
		.utile_height_px = 16,
		.samples = 2,
		.sample_size_B = 8,
		.isp_merge_upper_x = float_bits(1.25f),
		.isp_merge_upper_y = float_bits(1.5f),
		.isp_bgobjdepth = float_bits(0.75f),
		.isp_bgobjvals = 0x35a,
		.ts_vtx = fields_times_at(fields, 0x200),
		.ts_frag = fields_times_at(fields, 0x300),
	};
	int err = fields_put_programs(fields, &cmd);

	if (err)
		return err;
	fields_attach(submit, DRM_ASAHI_SET_VERTEX_ATTACHMENTS, 11);
	fields_attach(submit, DRM_ASAHI_SET_FRAGMENT_ATTACHMENTS, 13);
	asahi_submit_render(submit, &cmd, ASAHI_BARRIER_NONE);
	return asahi_submit_run(submit, COMPUTE_TIMEOUT_NS);
}

static int fields_with_times(struct fields *fields, unsigned int which)
{
	struct asahi_submit *submit;
	int err = asahi_bo_bind_timestamps(fields->times, 0, ASAHI_PAGE_SIZE,
					   &fields->object);

	if (err)
		return err;
	err = asahi_submit_new(fields->ctx.queue, &submit);
	if (!err) {
		err = which ? fields_run_render(fields, submit) :
			      fields_run_compute(fields, submit);
		asahi_submit_free(submit);
	}
	asahi_device_unbind_timestamps(fields->ctx.dev, fields->object);
	return err;
}

/* Everything anew, so that neither depends on the other */
static int fields_run(unsigned int which)
{
	struct fields fields;
	int err = compute_open(&fields.ctx, NULL);

	if (err)
		return err;
	err = asahi_bo_new(fields.ctx.dev, ASAHI_PAGE_SIZE, 0, NULL,
			   &fields.times);
	if (!err) {
		err = fields_with_times(&fields, which);
		asahi_bo_unref(fields.times);
	}
	compute_close(&fields.ctx);
	return err;
}

int main(void)
{
	static const char *const names[] = { "compute", "render" };
	int status = EXIT_SUCCESS;

	for (unsigned int i = 0; i < 2; i++) {
		int err = fields_run(i);

		if (err) {
			printf("not ok %u - %s # %s\n", i + 1, names[i],
			       strerror(-err));
			status = EXIT_FAILURE;
		} else {
			printf("ok %u - %s\n", i + 1, names[i]);
		}
	}
	printf("1..2\n");
	return cli_finish(PROGRAM, status);
}
