// SPDX-License-Identifier: MIT
/* Copyright (C) 2026 The asahi driver authors */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agx_isa.h"
#include "gpu/image.h"
#include "scene_builder.h"

#define SCISSOR_VA	(STATE_VA + 0x40000)
#define BIAS_VA		(STATE_VA + 0x50000)
#define QUERY_VA	(STATE_VA + 0x60000)
#define PBE_VA		(STATE_VA + 0x70000)
#define CLEAR_VA	(STATE_VA + 0x71000)
#define POINTER_VA	(STATE_VA + 0x72000)
#define CONSTANT_VA	(STATE_VA + 0x73000)
#define TEXTURE_VA	(STATE_VA + 0x74000)
#define SAMPLER_VA	(STATE_VA + 0x75000)
#define INDEX_AT	0x200000
#define LINEAR_STRIDE	4096

static const char vertex_shader[] =
	"iadd r7, r5, r5\n"
	"load r8_r9_r10_r11, du0, r7, lsl 2, i32, xyzw, a\n"
	"iadd r7, r7, 1\n"
	"load r12_r13_r14_r15, du0, r7, lsl 2, i32, xyzw, a\n"
	"wait a\n"
	"st_var r8, 0\n"
	"st_var r9, 1\n"
	"st_var r10, 2\n"
	"st_var r11, 3\n"
	"st_var r12, 4\n"
	"st_var r13, 5\n"
	"st_var r14, 6\n"
	"st_var r15, 7, last\n"
	"stop\n";

static const char fragment_shader[] =
	"iter r4_r5_r6_r7, cf1, cf0\n"
	"sample_mask 255, 255\n"
	"st_tile r4_r5_r6_r7, 0, 255, 0, u8norm, xyzw\n"
	"stop\n";

static const char background[] =
	"mov r4, u0\n"
	"mov r5, u1\n"
	"mov r6, u2\n"
	"mov r7, u3\n"
	"st_tile r4_r5_r6_r7, 0, 255, 0, u8norm, xyzw\n"
	"stop\n";

/* The layer is in one half of the word, and the other half is anything */
static const char end_of_tile[] =
	"iadd r4l, 0, 0\n"
	"iadd r5h, 0, 77\n"
	"mov r5l, threadgroup_in_grid_z\n"
	"imgwblk r4l, ts0, r5, 0, 2d_array, u8norm\n"
	"stop\n";

static const char end_of_tile_samples[] =
	"iadd r4l, 0, 0\n"
	"iadd r5l, 0, 77\n"
	"mov r5h, threadgroup_in_grid_z\n"
	"imgwblk r4l, ts0, r5, 0, 2d_ms_array, u8norm\n"
	"stop\n";

static uint32_t put_code(struct scene *s, const char *text)
{
	struct agx_program program;
	uint32_t at = s->usc.used;

	if (agx_isa_assemble(text, "program", &program, stderr))
		fail_msg("the program can't be assembled");
	assert_true(at + program.size <= s->usc.size);
	memcpy(s->usc.map + at, program.code, program.size);
	s->usc.used += (program.size + 63) & ~63UL;
	free(program.code);
	return at;
}

static void align(struct agx_writer *w, size_t to)
{
	w->used = (w->used + to - 1) & ~(to - 1);
}

/* Words for a program; what they need besides it has to be before them */
static uint32_t put_words(struct scene *s, const char *text, uint64_t uniforms,
			  unsigned int halves, bool has_pbe, bool early_z)
{
	const struct vagx_render_geometry *g = &s->f->vertex.geometry;
	uint32_t code = put_code(s, text), at;

	align(&s->usc, 64);
	at = s->usc.used;
	if (halves)
		agx_put(&s->usc, usc_uniform, .start = 0, .size = halves, .buffer = uniforms);
	if (has_pbe)
		agx_put(&s->usc, usc_texture, .start = 0, .count = 1, .buffer = PBE_VA);
	agx_put(&s->usc, usc_texture, .start = 1, .count = 2, .buffer = TEXTURE_VA);
	agx_put(&s->usc, usc_sampler, .start = 0, .count = 2, .buffer = SAMPLER_VA);
	agx_put(&s->usc, usc_shared, .uses_shared_memory = true,
		.layout = AGX_SHARED_LAYOUT_32X32, .sample_count = g->samples,
		.sample_stride_in_8_bytes = 1, .bytes_per_threadgroup = 32768);
	agx_put(&s->usc, usc_shader, .code = code);
	agx_put(&s->usc, usc_registers, .register_count = 64);
	agx_put(&s->usc, usc_fragment_properties, .early_z = early_z);
	agx_put(&s->usc, usc_no_preshader);
	align(&s->usc, 64);
	return at;
}

void scene_clear(struct scene *s, const float colour[4])
{
	memcpy(render_at(CLEAR_VA), colour, 16);
}

void scene_begin(struct scene *s, struct render_fixture *f)
{
	const struct vagx_render_geometry *g = &f->vertex.geometry;
	static const float black[4] = { 0, 0, 0, 1 };
	uint64_t data = DATA_VA;
	struct agx_scissor scissor = {
		.max_x = g->width, .max_y = g->height, .max_z = 1,
	};

	*s = (struct scene){ .f = f };
	agx_writer_init(&s->stream, render_at(STREAM_VA), 0x100000);
	agx_writer_init(&s->usc, render_at(USC_VA), 0x100000);
	agx_writer_init(&s->state, render_at(STATE_VA), 0x40000);
	/* nothing is at offset 0 */
	s->usc.used = 64;
	memset(render_at(QUERY_VA), 0, 0x1000);
	memset(render_at(TEXTURE_VA), 0, 48);
	memset(render_at(SAMPLER_VA), 0, 48);
	memcpy(render_at(POINTER_VA), &data, 8);
	agx_packet_pack(AGX_PACKET_scissor, render_at(SCISSOR_VA), &scissor, NULL);

	struct agx_pbe pbe = agx_pbe_default();

	pbe.dimension = g->samples > 1 ? AGX_IMAGE_DIMENSION_2D_MS_ARRAY :
					 AGX_IMAGE_DIMENSION_2D_ARRAY;
	pbe.layout = AGX_IMAGE_LAYOUT_GPU;
	pbe.channels = AGX_CHANNELS_R8G8B8A8;
	pbe.swizzle_g = AGX_CHANNEL_G;
	pbe.swizzle_b = AGX_CHANNEL_B;
	pbe.swizzle_a = AGX_CHANNEL_A;
	pbe.width = g->width;
	pbe.height = g->height;
	pbe.layers = g->layers;
	pbe.samples = g->samples == 4 ? AGX_IMAGE_SAMPLES_4 : AGX_IMAGE_SAMPLES_2;
	pbe.address = IMAGE_VA;
	assert_int_equal(agx_packet_pack(AGX_PACKET_pbe, render_at(PBE_VA), &pbe, NULL), 0);
	memset((uint8_t *)render_at(PBE_VA) + 16, 0, 8);

	scene_clear(s, black);
	f->fragment.background.usc = put_words(s, background, CLEAR_VA, 8, false, true);
	f->fragment.end_of_tile.usc = put_words(s, g->samples > 1 ? end_of_tile_samples :
						 end_of_tile, 0, 0, true, true);
	f->fragment.partial_end_of_tile = f->fragment.end_of_tile;
	f->fragment.scissor_base = SCISSOR_VA;
	f->fragment.depth_bias_base = BIAS_VA;
	f->fragment.visibility_base = QUERY_VA;
	f->fragment.isp_bgobjdepth = 0x3f800000;
	f->fragment.isp_bgobjvals = 0x300;
	f->fragment.process_empty_tiles = true;
	f->fragment.sample_size = 8;
	f->fragment.zls_pixels = (g->width - 1) | (g->height - 1) << 15;
}

struct scene_state scene_default(const struct render_fixture *f)
{
	float w = f->vertex.geometry.width / 2.0f, h = f->vertex.geometry.height / 2.0f;
	struct scene_state s = {
		.control = agx_ppp_fragment_control_default(),
		.face = agx_ppp_front_face_default(),
		.face_2 = agx_ppp_front_face_2_default(),
		.stencil = agx_ppp_front_stencil_default(),
		.back_stencil = agx_ppp_back_stencil_default(),
		.select = { .varyings = true },
		.cull = agx_ppp_cull_default(),
		.viewport = { .translate_x = w, .scale_x = w, .translate_y = h, .scale_y = h,
			      .scale_z = 1 },
		.shade = AGX_SHADE_MODEL_PERSPECTIVE,
		.vertex_shader = vertex_shader,
		.fragment_shader = fragment_shader,
		.outputs = 8,
		.early_z = true,
	};

	s.face.depth_func = AGX_ZS_FUNC_ALWAYS;
	s.face.depth_write_disable = true;
	s.face_2.depth_func = AGX_ZS_FUNC_ALWAYS;
	s.face_2.depth_write_disable = true;
	s.control.scissor_enable = true;
	s.cull.depth_clip = true;
	return s;
}

static uint32_t put_bindings(struct scene *s, enum agx_shade_model shade)
{
	uint32_t at = s->usc.used;

	agx_put(&s->usc, cf_header, .slots = 5, .coefficients = 5);
	agx_put(&s->usc, cf_binding, .components = 1, .slot = 0, .coefficient = 0);
	agx_put(&s->usc, cf_binding, .components = 4, .slot = 1, .coefficient = 1,
		.shade_model = shade);
	align(&s->usc, 64);
	return at;
}

#define PUT(w, packet, values) agx_writer_put(w, AGX_PACKET_##packet, values)

static void put_fragment_shader(struct scene *s, const struct scene_state *t, uint32_t pipeline)
{
	agx_put(&s->state, ppp_fragment_shader, .counts.sampler_registers = t->samplers,
		.cf_binding_count = 2, .pipeline = pipeline, .cf_bindings = s->bindings);
}

static void put_ppp(struct scene *s, const struct scene_state *t)
{
	struct agx_writer *w = &s->state;
	uint64_t va = STATE_VA + w->used;
	size_t begin = w->used;

	agx_put(w, ppp_header, .fragment_control = true, .front_face = true,
		.front_face_2 = true, .front_stencil = true, .back_face = true,
		.back_face_2 = true, .back_stencil = true, .depth_bias_scissor = true,
		.viewport = true, .w_clamp = true, .output_select = true,
		.varying_counts_32 = true, .varying_counts_16 = true, .cull = true,
		.cull_2 = true, .fragment_shader = true, .occlusion_query = true,
		.output_size = true);
	PUT(w, ppp_fragment_control, &t->control);
	/* both faces are the same, and so are their packets */
	agx_writer_put(w, AGX_PACKET_ppp_front_face, &t->face);
	agx_writer_put(w, AGX_PACKET_ppp_front_face_2, &t->face_2);
	PUT(w, ppp_front_stencil, &t->stencil);
	agx_writer_put(w, AGX_PACKET_ppp_front_face, &t->face);
	agx_writer_put(w, AGX_PACKET_ppp_front_face_2, &t->face_2);
	PUT(w, ppp_back_stencil, &t->back_stencil);
	PUT(w, ppp_depth_bias_scissor, &t->indices);
	agx_put(w, ppp_viewport_control);
	PUT(w, ppp_viewport, &t->viewport);
	agx_put(w, ppp_w_clamp);
	PUT(w, ppp_output_select, &t->select);
	agx_put(w, ppp_varying_counts_32, .smooth = 4);
	agx_put(w, ppp_varying_counts_16);
	PUT(w, ppp_cull, &t->cull);
	agx_put(w, ppp_cull_2);
	put_fragment_shader(s, t, s->shader);
	PUT(w, ppp_occlusion_query, &t->query);
	agx_put(w, ppp_output_size, .count = t->outputs);
	agx_put(&s->stream, vdm_ppp_state, .address = va, .words = (w->used - begin) / 4);
}

uint32_t scene_shader(struct scene *s, const struct scene_state *t)
{
	return put_words(s, t->fragment_shader, CONSTANT_VA, 2, false, t->early_z);
}

void scene_use_shader(struct scene *s, const struct scene_state *t, uint32_t shader)
{
	uint64_t va = STATE_VA + s->state.used;
	size_t begin = s->state.used;

	agx_put(&s->state, ppp_header, .fragment_shader = true);
	put_fragment_shader(s, t, shader);
	agx_put(&s->stream, vdm_ppp_state, .address = va, .words = (s->state.used - begin) / 4);
}

void scene_set(struct scene *s, const struct scene_state *t)
{
	uint32_t vertex = put_words(s, t->vertex_shader, POINTER_VA, 4, false, false);

	s->shader = scene_shader(s, t);
	s->bindings = put_bindings(s, t->shade);
	memcpy(render_at(CONSTANT_VA), &t->constant, 4);
	put_ppp(s, t);
	agx_put(&s->stream, vdm_state, .restart_index_present = true, .counts_present = true,
		.pipeline_present = true, .outputs_present = true, .control_present = true);
	agx_put(&s->stream, vdm_restart_index);
	agx_put(&s->stream, vdm_counts);
	agx_put(&s->stream, vdm_pipeline, .pipeline = vertex);
	agx_put(&s->stream, vdm_outputs, .count_1 = t->outputs, .count_2 = t->outputs);
	agx_writer_put(&s->stream, AGX_PACKET_vdm_control, &t->vdm_control);
	align(&s->stream, 8);
}

uint32_t scene_vertices(struct scene *s, const float (*vertices)[SCENE_VERTEX_WORDS],
			unsigned int count)
{
	size_t bytes = count * sizeof(vertices[0]);
	uint32_t at = s->data_used;

	assert_true(at + bytes <= INDEX_AT);
	memcpy((uint8_t *)render_at(DATA_VA) + at, vertices, bytes);
	s->data_used += bytes;
	return at / sizeof(vertices[0]);
}

uint32_t scene_triangle(struct scene *s, float x, float y, float z)
{
	float vertices[3][SCENE_VERTEX_WORDS] = {
		{ x, y, z, 1, 1, 0, 0, 1 },
		{ x + 20, y, z, 1, 1, 0, 0, 1 },
		{ x, y + 20, z, 1, 1, 0, 0, 1 },
	};
	unsigned int i;

	for (i = 0; i < 3; i++) {
		vertices[i][0] = vertices[i][0] / 128 - 1;
		vertices[i][1] = vertices[i][1] / 128 - 1;
	}
	return scene_vertices(s, vertices, 3);
}

uint64_t scene_indices(struct scene *s, const void *indices, size_t bytes)
{
	memcpy(render_at(DATA_VA + INDEX_AT), indices, bytes);
	return DATA_VA + INDEX_AT;
}

void scene_draw(struct scene *s, enum agx_primitive primitive, uint32_t first, uint32_t count)
{
	agx_put(&s->stream, vdm_index_list, .primitive = primitive, .count_present = true,
		.instances_present = true, .start_present = true);
	agx_put(&s->stream, vdm_count, .count = count);
	agx_put(&s->stream, vdm_instances, .count = 1);
	agx_put(&s->stream, vdm_start, .start = first);
}

void scene_draw_indexed(struct scene *s, enum agx_primitive primitive, enum agx_index_size size,
			uint64_t indices, uint32_t bytes, uint32_t count, int32_t base,
			bool restart)
{
	agx_put(&s->stream, vdm_index_list, .primitive = primitive, .index_size = size,
		.index_buffer_high = indices >> 32, .restart = restart,
		.index_buffer_present = true, .count_present = true, .instances_present = true,
		.start_present = true, .index_buffer_size_present = true);
	agx_put(&s->stream, vdm_index_buffer, .low = (uint32_t)indices);
	agx_put(&s->stream, vdm_count, .count = count);
	agx_put(&s->stream, vdm_instances, .count = 1);
	agx_put(&s->stream, vdm_start, .start = base);
	agx_put(&s->stream, vdm_index_buffer_size, .bytes = (bytes + 3) & ~3U);
}

/* Colours are as they were stored */
static const char load_linear[] =
	"mov r4, thread_in_grid_x\n"
	"mov r5, thread_in_grid_y\n"
	"imadd r4, r5, u2, r4\n"
	"load r4_r5_r6_r7, du0, r4, lsl 2, u8norm, xyzw, a\n"
	"st_tile r4_r5_r6_r7, 0, 255, 0, u8norm, xyzw\n"
	"stop\n";

void scene_linear(struct scene *s)
{
	const struct vagx_render_geometry *g = &s->f->vertex.geometry;
	struct agx_pbe_linear pbe = agx_pbe_linear_default();
	uint64_t *pointer = render_at(POINTER_VA + 64);

	pbe.channels = AGX_CHANNELS_R8G8B8A8;
	pbe.swizzle_g = AGX_CHANNEL_G;
	pbe.swizzle_b = AGX_CHANNEL_B;
	pbe.swizzle_a = AGX_CHANNEL_A;
	pbe.width = g->width;
	pbe.height = g->height;
	pbe.address = IMAGE_VA;
	pbe.stride_less_4 = LINEAR_STRIDE - 4;
	assert_int_equal(agx_packet_pack(AGX_PACKET_pbe_linear, render_at(PBE_VA), &pbe, NULL), 0);
	pointer[0] = IMAGE_VA;
	pointer[1] = LINEAR_STRIDE / 4;
	s->f->fragment.partial_background.usc =
		put_words(s, load_linear, POINTER_VA + 64, 8, false, true);
}

void scene_texture(struct scene *s, const struct agx_texture *texture,
		   const struct agx_sampler *sampler)
{
	uint8_t *to = render_at(TEXTURE_VA);

	assert_int_equal(agx_packet_pack(AGX_PACKET_texture, to, texture, NULL), 0);
	memset(to + 16, 0, 8);
	assert_int_equal(agx_packet_pack(AGX_PACKET_sampler, render_at(SAMPLER_VA), sampler, NULL),
			 0);
}

void scene_borders(struct scene *s, const uint32_t first[4], const uint32_t second[4])
{
	memcpy(render_at(SAMPLER_VA + 8), first, 16);
	memcpy(render_at(SAMPLER_VA + 24), render_at(SAMPLER_VA), 8);
	memcpy(render_at(SAMPLER_VA + 32), second, 16);
}

void scene_metadata(struct scene *s, uint64_t va)
{
	const struct agx_image_compression metadata = { .metadata = va };

	assert_int_equal(agx_packet_pack(AGX_PACKET_image_compression,
					 (uint8_t *)render_at(TEXTURE_VA) + 16, &metadata, NULL), 0);
}

void scene_target(struct scene *s, const struct agx_pbe *pbe)
{
	uint8_t *to = render_at(TEXTURE_VA + 24);

	assert_int_equal(agx_packet_pack(AGX_PACKET_pbe, to, pbe, NULL), 0);
	memset(to + 16, 0, 8);
}

static const char reload[] =
	"mov r8, thread_in_grid_x\n"
	"mov r9, thread_in_grid_y\n"
	"mov r10, threadgroup_in_grid_z\n"
	"smpi r4_r5_r6_r7, ts1, ss0, r8, 0, 2d_array, xyzw, auto_lod, a\n"
	"st_tile r4_r5_r6_r7, 0, 255, 0, u8norm, xyzw\n"
	"stop\n";

void scene_reload(struct scene *s, bool always)
{
	const struct vagx_render_geometry *g = &s->f->vertex.geometry;
	struct agx_sampler sampler = agx_sampler_default();
	struct agx_texture t = agx_texture_default();

	t.dimension = AGX_IMAGE_DIMENSION_2D_ARRAY;
	t.layout = AGX_IMAGE_LAYOUT_GPU;
	t.channels = AGX_CHANNELS_R8G8B8A8;
	t.swizzle_g = AGX_CHANNEL_G;
	t.swizzle_b = AGX_CHANNEL_B;
	t.swizzle_a = AGX_CHANNEL_A;
	t.width = g->width;
	t.height = g->height;
	t.depth = g->layers;
	t.address = IMAGE_VA;
	scene_texture(s, &t, &sampler);
	s->f->fragment.partial_background.usc = put_words(s, reload, 0, 0, false, true);
	if (always)
		s->f->fragment.background = s->f->fragment.partial_background;
}

uint32_t scene_linear_pixel(const struct render_fixture *f, uint32_t x, uint32_t y)
{
	uint32_t pixel;

	memcpy(&pixel, render_at(IMAGE_VA + (uint64_t)y * LINEAR_STRIDE + x * 4), 4);
	return pixel;
}

uint64_t scene_query(unsigned int index)
{
	uint64_t count;

	memcpy(&count, render_at(QUERY_VA + 8 * index), 8);
	return count;
}

void scene_end(struct scene *s)
{
	agx_put(&s->stream, vdm_stream_terminate);
	assert_int_equal(s->stream.error, 0);
	assert_int_equal(s->usc.error, 0);
	assert_int_equal(s->state.error, 0);
}

void scene_run(struct scene *s)
{
	scene_end(s);
	assert_int_equal(render_vertex(s->f), VAGX_GPU_DONE);
	assert_int_equal(render_fragment(s->f, VAGX_FRAGMENT_FINAL), VAGX_GPU_DONE);
	assert_int_equal(render_pages_taken(s->f), 0);
}

const void *scene_pixel_at(const struct render_fixture *f, uint32_t x, uint32_t y,
			   uint32_t layer)
{
	const struct vagx_render_geometry *g = &f->vertex.geometry;
	struct agx_layout layout = {
		.kind = AGX_IMAGE_LAYOUT_GPU,
		.width = g->width,
		.height = g->height,
		.layers = g->layers,
		.samples = g->samples,
		.levels = 1,
		.element_bytes = 4,
	};
	const struct agx_texel at = { .x = x, .y = y, .layer = layer };

	assert_null(agx_layout_init(&layout));
	return render_at(IMAGE_VA + agx_layout_offset(&layout, &at));
}

uint32_t scene_pixel(const struct render_fixture *f, uint32_t x, uint32_t y, uint32_t layer)
{
	uint32_t pixel;

	memcpy(&pixel, scene_pixel_at(f, x, y, layer), 4);
	return pixel;
}

void scene_write_ppm(const struct render_fixture *f, const char *path)
{
	const struct vagx_render_geometry *g = &f->vertex.geometry;
	FILE *fp = fopen(path, "wb");
	uint32_t x, y;

	assert_non_null(fp);
	fprintf(fp, "P6\n%u %u\n255\n", g->width, g->height);
	for (y = 0; y < g->height; y++) {
		for (x = 0; x < g->width; x++) {
			uint32_t pixel = scene_pixel(f, x, y, 0);

			fwrite(&pixel, 3, 1, fp);
		}
	}
	fclose(fp);
}
