// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <errno.h>
#include <string.h>

#include "agx_float.h"
#include "render.h"

/* More than any of them takes here */
#define WORDS_BYTES	128
#define RECORD_BYTES	256
#define STREAM_BYTES	512

#define PIXEL_BYTES	4
#define STRIDE_ALIGN	128
/* Depth buffers are of squares of 64 by 64 pixels, of 4 bytes each. */
#define DEPTH_SQUARE	64
#define DEPTH_BYTES	4
/* Tiles are of 32 by 32 pixels, and samples begin at multiples of 8 bytes. */
#define TILE		32
#define SAMPLE_BYTES	8
/* Words of a vertex: position and colour */
#define VERTEX_WORDS	8
#define COLOUR_WORDS	4
/* Coefficients: 1/w, and those of the colour */
#define CF_W		0
#define CF_COLOUR	1
#define CF_COUNT	(CF_COLOUR + COLOUR_WORDS)
/* Values that both of Mesa's drivers have in each command */
#define SAMPLE_AT_CENTRE	0x88
#define BGOBJVALS		0x300
#define TAN_60			1.73205081f
/* In the low bits of the address of a background or end-of-tile program */
#define TILE_PROGRAM		4

struct pass {
	struct compute *ctx;
	const struct render_target *target;
	const struct render_scene *scene;
	/* of scenes with depth */
	struct compute_buffer depth;
	struct drm_asahi_cmd_render cmd;
	int error;
};

static int render_failed(const char *what, int err)
{
	fprintf(stderr, "%s: %s\n", what, strerror(-err));
	return err;
}

int render_target_new(struct compute *ctx, uint32_t width, uint32_t height,
		      struct render_target *target)
{
	uint32_t stride = (width * PIXEL_BYTES + STRIDE_ALIGN - 1) /
			  STRIDE_ALIGN * STRIDE_ALIGN;
	int err;

	if (!width || width > RENDER_MAX_SIZE || !height ||
	    height > RENDER_MAX_SIZE)
		return render_failed("making an image", -EINVAL);
	*target = (struct render_target){
		.width = width,
		.height = height,
		.stride = stride,
	};
	err = compute_buffer_new(ctx, (uint64_t)stride * height,
				 &target->pixels);
	if (!err)
		compute_poison(&target->pixels);
	return err;
}

void render_target_free(struct compute *ctx, struct render_target *target)
{
	compute_buffer_free(ctx, &target->pixels);
}

/* Memory of the pass; an empty writer after an error, so that it goes on */
static uint64_t render_begin(struct pass *pass, struct agx_writer *w, size_t size)
{
	uint64_t addr = 0;
	void *map = compute_code_alloc(pass->ctx, size, &addr);

	if (!map && !pass->error)
		pass->error = -ENOSPC;
	agx_writer_init(w, map, map ? size : 0);
	return addr;
}

static void render_end(struct pass *pass, const struct agx_writer *w)
{
	if (pass->error || !w->error)
		return;
	pass->error = w->error;
	fprintf(stderr, "%s: %s: %s\n", w->why.packet, w->why.field,
		w->why.text);
}

static uint64_t render_put_data(struct pass *pass, const void *data, size_t size)
{
	uint64_t addr = 0;
	void *map = compute_code_alloc(pass->ctx, size, &addr);

	if (map)
		memcpy(map, data, size);
	else if (!pass->error)
		pass->error = -ENOSPC;
	return addr;
}

static uint32_t render_usc_offset(const struct pass *pass, uint64_t addr)
{
	return addr ? addr - asahi_vm_usc_base(pass->ctx->vm) : 0;
}

/* Programs */

static struct compute_program render_load(struct pass *pass, const char *name)
{
	struct compute_program program = { .code = 0 };

	if (!pass->error)
		pass->error = compute_program_load(pass->ctx, name, &program);
	return program;
}

/* The end of the words of any program */
static void render_put_program(struct agx_writer *w,
			       const struct compute_program *program)
{
	agx_put(w, usc_registers, .register_count = program->registers);
	agx_put(w, usc_no_preshader);
}

static void render_put_tile(struct agx_writer *w)
{
	agx_put(w, usc_shared, .uses_shared_memory = true,
		.layout = AGX_SHARED_LAYOUT_32X32,
		.sample_stride_in_8_bytes = SAMPLE_BYTES / 8,
		.bytes_per_threadgroup = TILE * TILE * SAMPLE_BYTES);
}

static uint32_t render_counts_word(uint32_t upper)
{
	const struct agx_shader_counts counts = agx_shader_counts_default();
	uint32_t word = 0;

	/* defaults have bits */
	agx_packet_pack(AGX_PACKET_shader_counts, &word, &counts, NULL);
	return word | upper << 16;
}

/* The words behind the resources of a background program */
static struct drm_asahi_bg_eot
render_put_background_program(struct pass *pass, struct agx_writer *w, uint64_t at,
			      const struct compute_program *program)
{
	render_put_tile(w);
	agx_put(w, usc_shader, .code = program->code);
	agx_put(w, usc_registers, .register_count = program->registers);
	agx_put(w, usc_fragment_properties, .early_z = true);
	agx_put(w, usc_no_preshader);
	render_end(pass, w);
	return (struct drm_asahi_bg_eot){
		.usc = render_usc_offset(pass, at) | TILE_PROGRAM,
		.rsrc_spec = render_counts_word(0xffff),
	};
}

static struct drm_asahi_bg_eot render_put_background(struct pass *pass)
{
	const struct compute_program program = render_load(pass, "background");
	uint16_t colour[4];
	struct agx_writer w;
	uint64_t at, data;

	for (unsigned int i = 0; i < 4; i++)
		colour[i] = half_from_float(pass->scene->clear[i]);
	data = render_put_data(pass, colour, sizeof(colour));
	at = render_begin(pass, &w, WORDS_BYTES);
	agx_put(&w, usc_uniform, .size = 4, .buffer = data);
	return render_put_background_program(pass, &w, at, &program);
}

/* After a partial render a tile goes on with what was stored, not with the clear colour. */
static struct drm_asahi_bg_eot render_put_reload(struct pass *pass)
{
	const struct compute_program program = render_load(pass, "reload");
	const struct render_target *target = pass->target;
	uint64_t at, texture, sampler;
	struct agx_writer w;

	/* as large as any texture, of which the last 8 bytes mean nothing */
	texture = render_begin(pass, &w, 24);
	agx_put(&w, texture_linear, .channels = AGX_CHANNELS_R8G8B8A8,
		.swizzle_g = AGX_CHANNEL_G, .swizzle_b = AGX_CHANNEL_B,
		.swizzle_a = AGX_CHANNEL_A, .width = target->width,
		.height = target->height, .address = target->pixels.addr,
		.stride_less_16 = target->stride - 16);
	render_end(pass, &w);
	/* loads have one, too, though nothing in it matters to them */
	sampler = render_begin(pass, &w, 8);
	agx_put(&w, sampler);
	render_end(pass, &w);
	at = render_begin(pass, &w, WORDS_BYTES);
	agx_put(&w, usc_texture, .count = 1, .buffer = texture);
	agx_put(&w, usc_sampler, .count = 1, .buffer = sampler);
	return render_put_background_program(pass, &w, at, &program);
}

static struct drm_asahi_bg_eot render_put_end_of_tile(struct pass *pass)
{
	const struct compute_program program = render_load(pass, "end_of_tile");
	const struct render_target *target = pass->target;
	struct agx_writer w;
	uint64_t at, pbe;

	/* as large as a texture, of which the last 8 bytes mean nothing */
	pbe = render_begin(pass, &w, 24);
	agx_put(&w, pbe_linear, .channels = AGX_CHANNELS_R8G8B8A8,
		.swizzle_g = AGX_CHANNEL_G, .swizzle_b = AGX_CHANNEL_B,
		.swizzle_a = AGX_CHANNEL_A, .width = target->width,
		.height = target->height, .address = target->pixels.addr,
		.stride_less_4 = target->stride - 4);
	render_end(pass, &w);
	at = render_begin(pass, &w, WORDS_BYTES);
	agx_put(&w, usc_texture, .count = 1, .buffer = pbe);
	render_put_tile(&w);
	agx_put(&w, usc_shader, .code = program.code);
	render_put_program(&w, &program);
	render_end(pass, &w);
	return (struct drm_asahi_bg_eot){
		.usc = render_usc_offset(pass, at) | TILE_PROGRAM,
		.rsrc_spec = render_counts_word(0),
	};
}

static uint32_t render_put_vertex_shader(struct pass *pass)
{
	const struct compute_program program = render_load(pass, "colour_vertex");
	const struct render_scene *scene = pass->scene;
	struct agx_writer w;
	uint64_t at, data;

	data = render_put_data(pass, scene->vertices,
			       scene->count * sizeof(*scene->vertices));
	data = render_put_data(pass, &data, sizeof(data));
	at = render_begin(pass, &w, WORDS_BYTES);
	agx_put(&w, usc_uniform, .size = 4, .buffer = data);
	agx_put(&w, usc_shared);
	agx_put(&w, usc_shader, .code = program.code, .unk_10 = 3);
	render_put_program(&w, &program);
	render_end(pass, &w);
	return render_usc_offset(pass, at);
}

static uint32_t render_put_fragment_shader(struct pass *pass)
{
	const struct compute_program program = render_load(pass, "colour_fragment");
	struct agx_writer w;
	uint64_t at = render_begin(pass, &w, WORDS_BYTES);

	render_put_tile(&w);
	agx_put(&w, usc_shader, .code = program.code, .loads_varyings = true,
		.unk_10 = 2);
	agx_put(&w, usc_registers, .register_count = program.registers);
	agx_put(&w, usc_fragment_properties, .early_z = true);
	agx_put(&w, usc_no_preshader);
	render_end(pass, &w);
	return render_usc_offset(pass, at);
}

/* The colour is divided by w, and 1/w is not. */
static uint32_t render_put_coefficients(struct pass *pass)
{
	struct agx_writer w;
	uint64_t at = render_begin(pass, &w, 64);

	agx_put(&w, cf_header, .slots = 1 + COLOUR_WORDS,
		.coefficients = CF_COUNT);
	agx_put(&w, cf_binding, .components = 1, .slot = 0,
		.coefficient = CF_W, .shade_model = AGX_SHADE_MODEL_LINEAR);
	agx_put(&w, cf_binding, .components = COLOUR_WORDS, .slot = 1,
		.coefficient = CF_COLOUR);
	render_end(pass, &w);
	return render_usc_offset(pass, at);
}

/* State */

static uint64_t render_put_scissor(struct pass *pass)
{
	struct agx_writer w;
	uint64_t at = render_begin(pass, &w, 16);

	agx_put(&w, scissor, .max_x = pass->target->width,
		.max_y = pass->target->height);
	render_end(pass, &w);
	return at;
}

static void render_put_faces(struct agx_writer *w, bool depth)
{
	const enum agx_zs_func func =
		depth ? AGX_ZS_FUNC_LESS : AGX_ZS_FUNC_ALWAYS;

	agx_put(w, ppp_front_face, .depth_func = func,
		.depth_write_disable = !depth);
	agx_put(w, ppp_front_face_2, .depth_func = AGX_ZS_FUNC_ALWAYS,
		.depth_write_disable = true);
	agx_put(w, ppp_back_face, .depth_func = func,
		.depth_write_disable = !depth);
	agx_put(w, ppp_back_face_2, .depth_func = AGX_ZS_FUNC_ALWAYS,
		.depth_write_disable = true);
}

/* The image is the viewport; the first row is at the top, y is -1 there. */
static void render_put_viewport(struct agx_writer *w, const struct render_target *t)
{
	agx_put(w, ppp_region_clip, .enable = true,
		.max_x = (t->width + TILE - 1) / TILE,
		.max_y = (t->height + TILE - 1) / TILE);
	agx_put(w, ppp_viewport_control);
	agx_put(w, ppp_viewport, .translate_x = (float)t->width / 2,
		.scale_x = (float)t->width / 2,
		.translate_y = (float)t->height / 2,
		.scale_y = (float)t->height / 2);
}

static void render_put_record(struct pass *pass, struct agx_writer *w)
{
	agx_put(w, ppp_header, .fragment_control = true,
		.fragment_control_2 = true, .front_face = true,
		.front_face_2 = true, .back_face = true, .back_face_2 = true,
		.depth_bias_scissor = true, .region_clip = true,
		.viewport = true, .w_clamp = true, .output_select = true,
		.varying_counts_32 = true, .varying_counts_16 = true,
		.cull = true, .cull_2 = true, .fragment_shader = true,
		.occlusion_query_2 = true, .output_unknown = true,
		.output_size = true, .varying_2 = true);
	agx_put(w, ppp_fragment_control, .scissor_enable = true);
	agx_put(w, ppp_fragment_control_2);
	render_put_faces(w, pass->scene->depth);
	agx_put(w, ppp_depth_bias_scissor);
	render_put_viewport(w, pass->target);
	agx_put(w, ppp_w_clamp);
	agx_put(w, ppp_output_select, .varyings = true);
	agx_put(w, ppp_varying_counts_32, .smooth = COLOUR_WORDS);
	agx_put(w, ppp_varying_counts_16);
	agx_put(w, ppp_cull, .depth_clip = true);
	agx_put(w, ppp_cull_2);
	agx_put(w, ppp_fragment_shader, .cf_binding_count = 2,
		.pipeline = render_put_fragment_shader(pass),
		.cf_bindings = render_put_coefficients(pass));
	agx_put(w, ppp_occlusion_query_2);
	agx_put(w, ppp_output_unknown);
	agx_put(w, ppp_output_size, .count = VERTEX_WORDS);
	agx_put(w, ppp_varying_2);
}

static void render_put_draw(struct pass *pass, struct agx_writer *stream)
{
	const uint32_t vertex_shader = render_put_vertex_shader(pass);
	struct agx_writer record;
	uint64_t at = render_begin(pass, &record, RECORD_BYTES);

	render_put_record(pass, &record);
	render_end(pass, &record);
	agx_put(stream, vdm_ppp_state, .address = at, .words = record.used / 4);
	/* with the restart index it is a multiple of 8 bytes, as it has to be */
	agx_put(stream, vdm_state, .restart_index_present = true,
		.counts_present = true, .pipeline_present = true,
		.outputs_present = true, .control_present = true);
	agx_put(stream, vdm_restart_index);
	agx_put(stream, vdm_counts);
	agx_put(stream, vdm_pipeline, .pipeline = vertex_shader);
	agx_put(stream, vdm_outputs, .count_1 = VERTEX_WORDS,
		.count_2 = VERTEX_WORDS);
	agx_put(stream, vdm_control);
	agx_put(stream, vdm_index_list, .count_present = true,
		.instances_present = true, .start_present = true);
	agx_put(stream, vdm_count, .count = pass->scene->count);
	agx_put(stream, vdm_instances,
		.count = pass->scene->instances ? pass->scene->instances : 1);
	agx_put(stream, vdm_start);
}

static uint64_t render_put_stream(struct pass *pass)
{
	struct agx_writer stream;
	uint64_t at = render_begin(pass, &stream, STREAM_BYTES);

	agx_put(&stream, vdm_barrier, .usc_cache_invalidate = true);
	if (pass->scene->count)
		render_put_draw(pass, &stream);
	agx_put(&stream, vdm_stream_terminate);
	render_end(pass, &stream);
	return at;
}

/* It is not needed after the pass, but partial renders load what they stored. */
static void render_put_depth(struct pass *pass)
{
	struct agx_zls_control control = agx_zls_control_default();
	uint64_t zls_ctrl = 0;

	control.z_store = true;
	agx_packet_pack(AGX_PACKET_zls_control, &zls_ctrl, &control, NULL);
	pass->cmd.zls_ctrl = zls_ctrl;
	pass->cmd.depth.base = pass->depth.addr;
}

static void render_build(struct pass *pass)
{
	const struct render_target *target = pass->target;
	const struct agx_zls_pixels pixels = {
		.x = target->width,
		.y = target->height,
	};
	const struct agx_ppp_control control = agx_ppp_control_default();

	pass->cmd = (struct drm_asahi_cmd_render){
		.flags = DRM_ASAHI_RENDER_PROCESS_EMPTY_TILES,
		.vdm_ctrl_stream_base = render_put_stream(pass),
		.isp_scissor_base = render_put_scissor(pass),
		.ppp_multisamplectl = SAMPLE_AT_CENTRE,
		.width_px = target->width,
		.height_px = target->height,
		.layers = pass->scene->layers ? pass->scene->layers : 1,
		.utile_width_px = TILE,
		.utile_height_px = TILE,
		.samples = 1,
		.sample_size_B = SAMPLE_BYTES,
		.isp_merge_upper_x = float_bits(TAN_60 / (float)target->width),
		.isp_merge_upper_y = float_bits(TAN_60 / (float)target->height),
		.bg = render_put_background(pass),
		.eot = render_put_end_of_tile(pass),
		.partial_bg = render_put_reload(pass),
		/* the farthest there is */
		.isp_bgobjdepth = float_bits(1.0f),
		.isp_bgobjvals = BGOBJVALS,
	};
	pass->cmd.partial_eot = pass->cmd.eot;
	if (pass->scene->depth)
		render_put_depth(pass);
	agx_packet_pack(AGX_PACKET_zls_pixels, &pass->cmd.isp_zls_pixels,
			&pixels, NULL);
	agx_packet_pack(AGX_PACKET_ppp_control, &pass->cmd.ppp_ctrl, &control,
			NULL);
}

static int render_new_depth(struct pass *pass)
{
	const struct render_target *target = pass->target;
	uint64_t x = (target->width + DEPTH_SQUARE - 1) / DEPTH_SQUARE;
	uint64_t y = (target->height + DEPTH_SQUARE - 1) / DEPTH_SQUARE;

	if (!pass->scene->depth)
		return 0;
	return compute_buffer_new(pass->ctx,
				  x * y * DEPTH_SQUARE * DEPTH_SQUARE * DEPTH_BYTES,
				  &pass->depth);
}

static int render_run_pass(struct pass *pass)
{
	struct asahi_submit *submit;
	int err;

	render_build(pass);
	if (pass->error)
		return render_failed("building a render pass", pass->error);
	err = asahi_submit_new(pass->ctx->queue, &submit);
	if (err)
		return render_failed("making a submission", err);
	asahi_submit_render(submit, &pass->cmd, ASAHI_BARRIER_NONE);
	err = asahi_submit_run(submit, pass->ctx->setup.timeout_ns);
	asahi_submit_free(submit);
	return err;
}

int render_run(struct compute *ctx, const struct render_target *target,
	       const struct render_scene *scene)
{
	struct pass pass = { .ctx = ctx, .target = target, .scene = scene };
	int err = render_new_depth(&pass);

	if (err)
		return err;
	err = render_run_pass(&pass);
	compute_buffer_free(ctx, &pass.depth);
	return err;
}
