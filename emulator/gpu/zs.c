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

static unsigned int sample_index(const struct fragment_worker *w, unsigned int x, unsigned int y,
				 unsigned int s)
{
	return (y * w->tile.width + x) * w->tile.samples + s;
}

static float quantise(float z)
{
	return (float)nearbyint((double)z * 65535) / 65535.0f;
}

float zs_depth(const struct fragment_worker *w, const struct setup_plane *z, double bias,
	       const struct agx_scissor *scissor, unsigned int x, unsigned int y, unsigned int s)
{
	double px = w->tile.x + x + (w->tile.sample_positions >> s * 8 & 15) / 16.0;
	double py = w->tile.y + y + (w->tile.sample_positions >> (s * 8 + 4) & 15) / 16.0;
	float depth = (float)(z->a * px + z->b * py + z->c + bias);

	depth = depth > scissor->max_z ? scissor->max_z : depth;
	/* so NaN becomes the lower end */
	return depth > scissor->min_z ? depth : scissor->min_z;
}

/* A function is the sum of what it lets pass */
static bool compare(unsigned int func, bool less, bool equal)
{
	_Static_assert(AGX_ZS_FUNC_LEQUAL == (AGX_ZS_FUNC_LESS | AGX_ZS_FUNC_EQUAL) &&
		       AGX_ZS_FUNC_NOT_EQUAL == (AGX_ZS_FUNC_LESS | AGX_ZS_FUNC_GREATER) &&
		       AGX_ZS_FUNC_GEQUAL == (AGX_ZS_FUNC_GREATER | AGX_ZS_FUNC_EQUAL) &&
		       AGX_ZS_FUNC_ALWAYS == (AGX_ZS_FUNC_LEQUAL | AGX_ZS_FUNC_GREATER) &&
		       AGX_ZS_FUNC_NEVER == 0, "functions are no sums");

	return func & (less ? AGX_ZS_FUNC_LESS : equal ? AGX_ZS_FUNC_EQUAL : AGX_ZS_FUNC_GREATER);
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

struct zs_face zs_find_face(const struct ppp_state *s, bool back)
{
	const struct agx_ppp_fragment_control *c = &s->fragment_control;
	const struct agx_ppp_fragment_control_2 *c2 = &s->fragment_control_2;
	bool back_stencil = back && (c->two_sided_stencil || c2->two_sided_stencil);
	struct zs_face f = {
		.reference = back_stencil ? s->back_face.stencil_reference :
					    s->front_face.stencil_reference,
		.stencil_test = c->stencil_test_enable || c2->stencil_test_enable,
	};

	if (back) {
		/* both have to let it pass */
		f.depth_func = s->back_face.depth_func & s->back_face_2.depth_func;
		f.depth_write = !s->back_face.depth_write_disable ||
				!s->back_face_2.depth_write_disable;
	} else {
		f.depth_func = s->front_face.depth_func & s->front_face_2.depth_func;
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

static bool test_stencil(struct fragment_worker *w, const struct zs_face *face, unsigned int i,
			 uint8_t reference, bool depth)
{
	uint8_t old = w->stencil[i], masked = reference & face->read_mask, now;
	uint8_t other = old & face->read_mask;
	bool stencil = compare(face->stencil_compare, masked < other, masked == other);

	now = stencil_result(!stencil ? face->stencil_fail :
			     depth ? face->pass : face->depth_fail, old, reference);
	w->stencil[i] = (old & ~face->write_mask) | (now & face->write_mask);
	return stencil;
}

static bool test_sample(struct fragment_worker *w, const struct zs_face *face, unsigned int i,
			float z, uint8_t reference)
{
	bool stencil = true, depth;
	float was = w->depth[i];

	z = w->job->quantise ? quantise(z) : z;
	depth = compare(face->depth_func, z < was, z == was);
	if (face->stencil_test)
		stencil = test_stencil(w, face, i, reference, depth);
	if (stencil && depth && face->depth_write)
		w->depth[i] = z;
	return stencil && depth;
}

/* Another job of the same client can count at the same place */
static void count_visible(struct fragment_worker *w, const struct ppp_state *s, unsigned int passed)
{
	unsigned int mode = s->fragment_control.visibility | s->fragment_control_2.visibility;
	uint64_t va = w->job->registers->visibility_base + 8ULL * s->occlusion_query.index;
	uint64_t *count;

	if (!passed || mode == AGX_VISIBILITY_NONE)
		return;
	count = fragment_ptr(w, va & ~7ULL, sizeof(*count), VAGX_WRITE, VAGX_GPU_UNIT_ISP);
	if (!count)
		w->failed = true;
	else if (mode == AGX_VISIBILITY_COUNTING)
		__atomic_fetch_add(count, __builtin_popcount(passed), __ATOMIC_RELAXED);
	else
		__atomic_store_n(count, 1, __ATOMIC_RELAXED);
}

unsigned int zs_test(struct fragment_worker *w, const struct fragment_draw *draw, bool back,
		     unsigned int x, unsigned int y, unsigned int samples, const float *depth,
		     const uint8_t *stencil)
{
	const struct zs_face *face = &draw->face[back];
	uint8_t reference = stencil ? *stencil : face->reference;
	unsigned int s, passed = 0;

	for (s = 0; s < w->tile.samples; s++) {
		if (samples >> s & 1 &&
		    test_sample(w, face, sample_index(w, x, y, s), depth[s], reference))
			passed |= 1u << s;
	}
	count_visible(w, &draw->state, passed);
	return passed;
}

/* Loads and stores */

static struct vagx_uat_fault zls_fault(const struct fragment_job *f, uint64_t va)
{
	return (struct vagx_uat_fault){
		.va = va,
		.slot = f->base->vm_slot,
		.access = VAGX_READ,
		.reason = VAGX_FAULT_NO_ACCESS,
	};
}

static int plane_image(struct fragment_job *f, const struct vagx_zs_plane *p, unsigned int which,
		       bool compressed, struct vagx_image *image)
{
	const struct vagx_render_geometry *g = &f->registers->geometry;
	struct agx_zls_pixels pixels;
	struct vagx_uat_fault fault;
	const char *why;

	*image = (struct vagx_image){
		.address = p->base,
		.metadata = p->comp_base,
		.layout = {
			.kind = AGX_IMAGE_LAYOUT_GPU,
			.layers = g->layers,
			.levels = 1,
			.samples = g->samples,
			.layer_stride = ((p->stride >> 14) + 1) << 14,
			.compressed = compressed && p->comp_base,
			.metadata_stride = ((p->comp_stride >> 14) + 1) * 128,
		},
	};

	agx_packet_unpack(AGX_PACKET_zls_pixels, &f->registers->zls_pixels, &pixels, NULL);
	image->layout.width = pixels.x;
	image->layout.height = pixels.y;
	image->layout.element_bytes = which == PLANE_STENCIL ? 1 : f->quantise ? 2 : 4;
	why = agx_layout_init(&image->layout);
	if (!why)
		return 0;
	gpu_failure_violates(&f->failure, VAGX_RULE_ZLS_SIZE, p->base, "ZLS pixels",
			     "%s: %u by %u", why, pixels.x, pixels.y);
	fault = zls_fault(f, p->base);
	return gpu_failure_at(&f->failure, &fault, VAGX_GPU_UNIT_ZLS);
}

/* Between partial renders all is kept, whatever the whole render wants to keep */
int zs_init(struct fragment_job *f, enum vagx_fragment_mode mode, uint32_t partials)
{
	const struct vagx_fragment_registers *r = f->registers;
	const struct agx_zls_control *c = &f->zls;
	const struct vagx_zs_planes *planes[2] = { &r->depth, &r->stencil };
	bool again = partials > (mode == VAGX_FRAGMENT_PARTIAL);
	unsigned int i;
	int err = 0;

	agx_packet_unpack(AGX_PACKET_zls_control, &r->zls_control, &f->zls, NULL);
	f->quantise = c->z_format == AGX_ZLS_FORMAT_16;
	for (i = 0; !err && i < 2; i++) {
		bool load = i ? c->s_load : c->z_load, store = i ? c->s_store : c->z_store;
		bool load_compressed = i ? c->s_load_compress : c->z_load_compress;
		bool store_compressed = i ? c->s_store_compress : c->z_store_compress;

		if (again)
			err = plane_image(f, &planes[i]->partial, i, store_compressed,
					  &f->zs_load[i]);
		else if (load)
			err = plane_image(f, &planes[i]->load, i, load_compressed,
					  &f->zs_load[i]);
		if (!err && mode == VAGX_FRAGMENT_PARTIAL)
			err = plane_image(f, &planes[i]->partial, i, store_compressed,
					  &f->zs_store[i]);
		else if (!err && store)
			err = plane_image(f, &planes[i]->store, i, store_compressed,
					  &f->zs_store[i]);
	}
	return err;
}

static void get_sample(struct fragment_worker *w, unsigned int which, unsigned int i, const void *p)
{
	uint16_t half;

	if (which == PLANE_STENCIL)
		memcpy(&w->stencil[i], p, 1);
	else if (!w->job->quantise)
		memcpy(&w->depth[i], p, sizeof(w->depth[i]));
	else {
		memcpy(&half, p, sizeof(half));
		w->depth[i] = half / 65535.0f;
	}
}

static void put_sample(struct fragment_worker *w, unsigned int which, unsigned int i, void *p)
{
	uint16_t half;

	if (which == PLANE_STENCIL)
		memcpy(p, &w->stencil[i], 1);
	else if (!w->job->quantise)
		memcpy(p, &w->depth[i], sizeof(w->depth[i]));
	else {
		half = (uint16_t)nearbyintf(w->depth[i] * 65535.0f);
		memcpy(p, &half, sizeof(half));
	}
}

/* Blocks of compression become what they are without it */
static int put_metadata(struct fragment_worker *w, const struct vagx_image *image, unsigned int x,
			unsigned int y)
{
	struct agx_texel at = { w->tile.x + x, w->tile.y + y, w->tile.layer, 0, 0 };
	void *p;

	if (!vagx_image_has_metadata(image, at.level) || x % 8 || y % 8)
		return 0;
	p = fragment_ptr(w, vagx_image_metadata(image, &at), 8, VAGX_WRITE, VAGX_GPU_UNIT_ZLS);
	if (!p)
		return -EFAULT;
	memset(p, agx_layout_raw_code(&image->layout), 8);
	return 0;
}

/*
 * A block of one colour may have been cleared by a kernel; others were stored here.
 * Mesa also loads images before it draws to them, in memory that something else has used:
 * codes are anything then, and so are depths. That is no fault.
 */
static int find_in_block(struct fragment_worker *w, const struct vagx_image *image,
			 struct agx_texel *at, bool *is_known)
{
	const uint8_t *codes;

	*is_known = true;
	if (!vagx_image_has_metadata(image, at->level))
		return 0;
	codes = fragment_ptr(w, vagx_image_metadata(image, at), 8, VAGX_READ, VAGX_GPU_UNIT_ZLS);
	if (!codes)
		return -EFAULT;
	*is_known = agx_layout_find_in_block(&image->layout, codes, at);
	return 0;
}

/* Neither what the image has nor what tests like to begin with */
static void put_unknown(struct fragment_worker *w, unsigned int which, unsigned int i)
{
	if (which == PLANE_STENCIL)
		w->stencil[i] = 0xa5;
	else
		w->depth[i] = 0.6875f;
}

static int load_sample(struct fragment_worker *w, const struct vagx_image *image,
		       unsigned int which, struct agx_texel at, unsigned int i)
{
	const void *p;
	bool is_known;
	int err = find_in_block(w, image, &at, &is_known);

	if (err)
		return err;
	if (!is_known) {
		put_unknown(w, which, i);
		return 0;
	}
	p = fragment_ptr(w, vagx_image_address(image, &at), image->layout.element_bytes, VAGX_READ,
			 VAGX_GPU_UNIT_ZLS);
	if (!p)
		return -EFAULT;
	get_sample(w, which, i, p);
	return 0;
}

static int store_sample(struct fragment_worker *w, const struct vagx_image *image,
			unsigned int which, struct agx_texel at, unsigned int i)
{
	void *p = fragment_ptr(w, vagx_image_address(image, &at), image->layout.element_bytes,
			       VAGX_WRITE, VAGX_GPU_UNIT_ZLS);

	if (!p)
		return -EFAULT;
	put_sample(w, which, i, p);
	return 0;
}

static int copy_pixel(struct fragment_worker *w, const struct vagx_image *image, unsigned int which,
		      unsigned int x, unsigned int y, bool store)
{
	struct agx_texel at = { w->tile.x + x, w->tile.y + y, w->tile.layer, 0, 0 };

	if (at.x >= image->layout.width || at.y >= image->layout.height)
		return 0;
	for (at.sample = 0; at.sample < w->tile.samples; at.sample++) {
		unsigned int i = sample_index(w, x, y, at.sample);
		int err = store ? store_sample(w, image, which, at, i) :
				  load_sample(w, image, which, at, i);

		if (err)
			return err;
	}
	return store ? put_metadata(w, image, x, y) : 0;
}

static int copy_plane(struct fragment_worker *w, const struct vagx_image *image, unsigned int which,
		      bool store)
{
	unsigned int x, y;
	int err = 0;

	if (!image->address)
		return 0;
	for (y = 0; !err && y < w->tile.height; y++) {
		for (x = 0; !err && x < w->tile.width; x++)
			err = copy_pixel(w, image, which, x, y, store);
	}
	return err;
}

/* As the image has it: a float, or 16 bits. (mesa src/asahi/vulkan/hk_cmd_draw.c) */
static float background_depth(const struct fragment_worker *w)
{
	uint32_t bits = w->job->registers->isp_bgobjdepth;

	return w->job->quantise ? (bits & 0xffff) / 65535.0f : bits_float(bits);
}

/* What is not loaded begins with the background object's */
int zs_load_tile(struct fragment_worker *w)
{
	float depth = background_depth(w);
	unsigned int i, count = w->tile.width * w->tile.height * w->tile.samples;
	int err;

	for (i = 0; i < count; i++)
		w->depth[i] = depth;
	memset(w->stencil, w->job->registers->isp_bgobjvals & 0xff, count);
	err = copy_plane(w, &w->job->zs_load[PLANE_DEPTH], PLANE_DEPTH, false);
	return err ? err : copy_plane(w, &w->job->zs_load[PLANE_STENCIL], PLANE_STENCIL, false);
}

int zs_store_tile(struct fragment_worker *w)
{
	int err = copy_plane(w, &w->job->zs_store[PLANE_DEPTH], PLANE_DEPTH, true);

	return err ? err : copy_plane(w, &w->job->zs_store[PLANE_STENCIL], PLANE_STENCIL, true);
}
