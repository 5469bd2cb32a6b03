// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Depth, stencil and occlusion: the test, and where tiles come from and go to.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "agx_float.h"
#include "gpu/fragment.h"
#include "report.h"

enum { PLANE_DEPTH, PLANE_STENCIL };

static unsigned int sample_index(const struct fragment_job *f, unsigned int x, unsigned int y,
				 unsigned int s)
{
	return (y * f->tile.width + x) * f->tile.samples + s;
}

static float quantise(float z)
{
	return (float)nearbyint((double)z * 65535) / 65535.0f;
}

float zs_depth(const struct fragment_job *f, const struct setup_plane *z, double bias,
	       const struct agx_scissor *scissor, unsigned int x, unsigned int y, unsigned int s)
{
	double px = f->tile.x + x + (f->tile.sample_positions >> s * 8 & 15) / 16.0;
	double py = f->tile.y + y + (f->tile.sample_positions >> (s * 8 + 4) & 15) / 16.0;
	float depth = (float)(z->a * px + z->b * py + z->c + bias);

	depth = depth > scissor->max_z ? scissor->max_z : depth;
	/* so NaN becomes the lower end */
	return depth > scissor->min_z ? depth : scissor->min_z;
}

static bool compare(unsigned int func, bool less, bool equal)
{
	switch (func) {
	case AGX_ZS_FUNC_NEVER:
		return false;
	case AGX_ZS_FUNC_LESS:
		return less;
	case AGX_ZS_FUNC_EQUAL:
		return equal;
	case AGX_ZS_FUNC_LEQUAL:
		return less || equal;
	case AGX_ZS_FUNC_GREATER:
		return !less && !equal;
	case AGX_ZS_FUNC_NOT_EQUAL:
		return !equal;
	case AGX_ZS_FUNC_GEQUAL:
		return !less;
	default:
		return true;
	}
}

static uint8_t stencil_result(unsigned int op, uint8_t old, uint8_t reference)
{
	switch (op) {
	case AGX_STENCIL_OP_ZERO:
		return 0;
	case AGX_STENCIL_OP_REPLACE:
		return reference;
	case AGX_STENCIL_OP_INCR_SAT:
		return old == 0xff ? old : old + 1;
	case AGX_STENCIL_OP_DECR_SAT:
		return old ? old - 1 : old;
	case AGX_STENCIL_OP_INVERT:
		return ~old;
	case AGX_STENCIL_OP_INCR_WRAP:
		return old + 1;
	case AGX_STENCIL_OP_DECR_WRAP:
		return old - 1;
	default:
		return old;
	}
}

/* The state of one face, whichever packet it was in */
struct face {
	uint8_t reference, write_mask, read_mask;
	unsigned int stencil_compare, pass, depth_fail, stencil_fail;
	unsigned int depth_func[2];
	bool depth_write, stencil_test;
};

static struct face find_face(const struct ppp_state *s, bool back)
{
	const struct agx_ppp_fragment_control *c = &s->fragment_control;
	const struct agx_ppp_fragment_control_2 *c2 = &s->fragment_control_2;
	bool back_stencil = back && (c->two_sided_stencil || c2->two_sided_stencil);
	struct face f = {
		.reference = back_stencil ? s->back_face.stencil_reference :
					    s->front_face.stencil_reference,
		.stencil_test = c->stencil_test_enable || c2->stencil_test_enable,
	};

	if (back) {
		f.depth_func[0] = s->back_face.depth_func;
		f.depth_func[1] = s->back_face_2.depth_func;
		f.depth_write = !s->back_face.depth_write_disable ||
				!s->back_face_2.depth_write_disable;
	} else {
		f.depth_func[0] = s->front_face.depth_func;
		f.depth_func[1] = s->front_face_2.depth_func;
		f.depth_write = !s->front_face.depth_write_disable ||
				!s->front_face_2.depth_write_disable;
	}
#define STENCIL(from) do {						\
		f.write_mask = (from).write_mask;			\
		f.read_mask = (from).read_mask;				\
		f.stencil_compare = (from).compare;			\
		f.pass = (from).depth_pass;				\
		f.depth_fail = (from).depth_fail;			\
		f.stencil_fail = (from).stencil_fail;			\
	} while (0)
	if (back_stencil)
		STENCIL(s->back_stencil);
	else
		STENCIL(s->front_stencil);
#undef STENCIL
	return f;
}

static bool test_sample(struct fragment_job *f, const struct face *face, unsigned int i, float z,
			uint8_t reference)
{
	uint8_t old = f->stencil[i], masked = reference & face->read_mask, now = old;
	bool stencil = true, depth;
	float was = f->depth[i];

	z = f->quantise ? quantise(z) : z;
	depth = compare(face->depth_func[0], z < was, z == was) &&
		compare(face->depth_func[1], z < was, z == was);
	if (face->stencil_test) {
		uint8_t other = old & face->read_mask;

		stencil = compare(face->stencil_compare, masked < other, masked == other);
		now = stencil_result(!stencil ? face->stencil_fail :
				     depth ? face->pass : face->depth_fail, old, reference);
		f->stencil[i] = (old & ~face->write_mask) | (now & face->write_mask);
	}
	if (stencil && depth && face->depth_write)
		f->depth[i] = z;
	return stencil && depth;
}

/* Another job of the same client can count at the same place */
static void count_visible(struct fragment_job *f, const struct ppp_state *s, unsigned int passed)
{
	unsigned int mode = s->fragment_control.visibility | s->fragment_control_2.visibility;
	uint64_t va = f->registers->visibility_base + 8ULL * s->occlusion_query.index;
	uint64_t *count;

	if (!passed || mode == AGX_VISIBILITY_NONE)
		return;
	count = fragment_ptr(f, va & ~7ULL, sizeof(*count), VAGX_WRITE, VAGX_GPU_UNIT_ISP);
	if (!count)
		f->failed = true;
	else if (mode == AGX_VISIBILITY_COUNTING)
		__atomic_fetch_add(count, __builtin_popcount(passed), __ATOMIC_RELAXED);
	else
		__atomic_store_n(count, 1, __ATOMIC_RELAXED);
}

unsigned int zs_test(struct fragment_job *f, const struct ppp_state *state, bool back,
		     unsigned int x, unsigned int y, unsigned int samples, const float *depth,
		     const uint8_t *stencil)
{
	const struct face face = find_face(state, back);
	uint8_t reference = stencil ? *stencil : face.reference;
	unsigned int s, passed = 0;

	for (s = 0; s < f->tile.samples; s++) {
		if (samples >> s & 1 &&
		    test_sample(f, &face, sample_index(f, x, y, s), depth[s], reference))
			passed |= 1u << s;
	}
	count_visible(f, state, passed);
	return passed;
}

/* Loads and stores */

static struct vagx_image plane_image(const struct fragment_job *f, const struct vagx_zs_plane *p,
				     unsigned int which, bool compressed)
{
	const struct vagx_render_geometry *g = &f->registers->geometry;
	struct agx_zls_pixels pixels;
	struct vagx_image image = {
		.address = p->base,
		.layout = AGX_IMAGE_LAYOUT_GPU,
		.layers = g->layers,
		.samples = g->samples,
		.levels = 1,
		.layer_stride = ((p->stride >> 14) + 1) << 14,
		.metadata = compressed ? p->comp_base : 0,
		.metadata_stride = ((p->comp_stride >> 14) + 1) * 128,
	};

	agx_packet_unpack(AGX_PACKET_zls_pixels, &f->registers->zls_pixels, &pixels, NULL);
	image.width = pixels.x;
	image.height = pixels.y;
	image.bytes = which == PLANE_STENCIL ? 1 : f->quantise ? 2 : 4;
	return image;
}

/* Between partial renders all is kept, whatever the whole render wants to keep */
void zs_init(struct fragment_job *f, enum vagx_fragment_mode mode, uint32_t partials)
{
	const struct vagx_fragment_registers *r = f->registers;
	const struct agx_zls_control *c = &f->zls;
	const struct vagx_zs_planes *planes[2] = { &r->depth, &r->stencil };
	bool again = partials > (mode == VAGX_FRAGMENT_PARTIAL);
	unsigned int i;

	agx_packet_unpack(AGX_PACKET_zls_control, &r->zls_control, &f->zls, NULL);
	f->quantise = c->z_format == AGX_ZLS_FORMAT_16;
	for (i = 0; i < 2; i++) {
		bool load = i ? c->s_load : c->z_load, store = i ? c->s_store : c->z_store;
		bool load_compressed = i ? c->s_load_compress : c->z_load_compress;
		bool store_compressed = i ? c->s_store_compress : c->z_store_compress;

		if (again)
			f->zs_load[i] = plane_image(f, &planes[i]->partial, i, store_compressed);
		else if (load)
			f->zs_load[i] = plane_image(f, &planes[i]->load, i, load_compressed);
		if (mode == VAGX_FRAGMENT_PARTIAL)
			f->zs_store[i] = plane_image(f, &planes[i]->partial, i, store_compressed);
		else if (store)
			f->zs_store[i] = plane_image(f, &planes[i]->store, i, store_compressed);
	}
}

static void get_sample(struct fragment_job *f, unsigned int which, unsigned int i, const void *p)
{
	uint16_t half;

	if (which == PLANE_STENCIL)
		memcpy(&f->stencil[i], p, 1);
	else if (!f->quantise)
		memcpy(&f->depth[i], p, sizeof(f->depth[i]));
	else {
		memcpy(&half, p, sizeof(half));
		f->depth[i] = half / 65535.0f;
	}
}

static void put_sample(struct fragment_job *f, unsigned int which, unsigned int i, void *p)
{
	uint16_t half;

	if (which == PLANE_STENCIL)
		memcpy(p, &f->stencil[i], 1);
	else if (!f->quantise)
		memcpy(p, &f->depth[i], sizeof(f->depth[i]));
	else {
		half = (uint16_t)nearbyintf(f->depth[i] * 65535.0f);
		memcpy(p, &half, sizeof(half));
	}
}

/* Blocks of compression become what they are without it */
static int put_metadata(struct fragment_job *f, const struct vagx_image *image, unsigned int x,
			unsigned int y)
{
	struct vagx_texel at = { f->tile.x + x, f->tile.y + y, f->tile.layer, 0, 0 };
	void *p;

	if (!vagx_image_has_metadata(image, at.level) || x % 8 || y % 8)
		return 0;
	p = fragment_ptr(f, vagx_image_metadata(image, &at), 8, VAGX_WRITE, VAGX_GPU_UNIT_ZLS);
	if (!p)
		return -EFAULT;
	memset(p, vagx_image_raw_code(image), 8);
	return 0;
}

/* A block of one colour may have been cleared by a kernel; others were stored here */
static int find_in_block(struct fragment_job *f, const struct vagx_image *image,
			 struct vagx_texel *at)
{
	uint64_t va = vagx_image_metadata(image, at);
	const uint8_t *codes;

	if (!vagx_image_has_metadata(image, at->level))
		return 0;
	codes = fragment_ptr(f, va, 8, VAGX_READ, VAGX_GPU_UNIT_ZLS);
	if (!codes)
		return -EFAULT;
	if (vagx_image_find_in_block(image, codes, at))
		return 0;
	vagx_violation(f->job->gpu->config.report, VAGX_RULE_ZLS_COMPRESSION, va, "metadata",
		       "codes 0x%x to 0x%x", codes[0], codes[7]);
	return fragment_fault(f, &(struct vagx_uat_fault){
		.va = va,
		.slot = f->job->vm_slot,
		.access = VAGX_READ,
		.reason = VAGX_FAULT_NO_ACCESS,
	}, VAGX_GPU_UNIT_ZLS);
}

static int load_sample(struct fragment_job *f, const struct vagx_image *image, unsigned int which,
		       struct vagx_texel at, unsigned int i)
{
	const void *p;
	int err = find_in_block(f, image, &at);

	if (err)
		return err;
	p = fragment_ptr(f, vagx_image_address(image, &at), image->bytes, VAGX_READ,
			 VAGX_GPU_UNIT_ZLS);
	if (!p)
		return -EFAULT;
	get_sample(f, which, i, p);
	return 0;
}

static int store_sample(struct fragment_job *f, const struct vagx_image *image, unsigned int which,
			struct vagx_texel at, unsigned int i)
{
	void *p = fragment_ptr(f, vagx_image_address(image, &at), image->bytes, VAGX_WRITE,
			       VAGX_GPU_UNIT_ZLS);

	if (!p)
		return -EFAULT;
	put_sample(f, which, i, p);
	return 0;
}

static int copy_pixel(struct fragment_job *f, const struct vagx_image *image, unsigned int which,
		      unsigned int x, unsigned int y, bool store)
{
	struct vagx_texel at = { f->tile.x + x, f->tile.y + y, f->tile.layer, 0, 0 };

	if (at.x >= image->width || at.y >= image->height)
		return 0;
	for (at.sample = 0; at.sample < f->tile.samples; at.sample++) {
		unsigned int i = sample_index(f, x, y, at.sample);
		int err = store ? store_sample(f, image, which, at, i) :
				  load_sample(f, image, which, at, i);

		if (err)
			return err;
	}
	return store ? put_metadata(f, image, x, y) : 0;
}

static int copy_plane(struct fragment_job *f, const struct vagx_image *image, unsigned int which,
		      bool store)
{
	unsigned int x, y;
	int err = 0;

	if (!image->address)
		return 0;
	for (y = 0; !err && y < f->tile.height; y++) {
		for (x = 0; !err && x < f->tile.width; x++)
			err = copy_pixel(f, image, which, x, y, store);
	}
	return err;
}

/* As the image has it: a float, or 16 bits. (mesa src/asahi/vulkan/hk_cmd_draw.c) */
static float background_depth(const struct fragment_job *f)
{
	uint32_t bits = f->registers->isp_bgobjdepth;

	return f->quantise ? (bits & 0xffff) / 65535.0f : bits_float(bits);
}

/* What is not loaded begins with the background object's */
int zs_load_tile(struct fragment_job *f)
{
	float depth = background_depth(f);
	unsigned int i, count = f->tile.width * f->tile.height * f->tile.samples;
	int err;

	for (i = 0; i < count; i++)
		f->depth[i] = depth;
	memset(f->stencil, f->registers->isp_bgobjvals & 0xff, count);
	err = copy_plane(f, &f->zs_load[PLANE_DEPTH], PLANE_DEPTH, false);
	return err ? err : copy_plane(f, &f->zs_load[PLANE_STENCIL], PLANE_STENCIL, false);
}

int zs_store_tile(struct fragment_job *f)
{
	int err = copy_plane(f, &f->zs_store[PLANE_DEPTH], PLANE_DEPTH, true);

	return err ? err : copy_plane(f, &f->zs_store[PLANE_STENCIL], PLANE_STENCIL, true);
}
