// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Loads and stores of depth and stencil by tiles (ZLS): fills a tile from the images, or with
 * the background object's values, and writes it out at the end or for a partial render. Images
 * are in Morton order in blocks of 8 by 8 pixels. Such a block is copied as a whole if none of
 * the plane's addresses in the tile faults; else samples are copied one by one, so that the
 * first one that faults is reported. Stored compression blocks become raw.
 *
 * zs_init() runs on the job's thread before tiles are drawn; the rest on the thread of the
 * worker's core. Tiles do not overlap, so nothing is locked.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "agx_float.h"
#include "gpu/fragment.h"
#include "gpu/morton.h"
#include "report.h"

enum { PLANE_DEPTH, PLANE_STENCIL };

static struct vagx_uat_fault zs_plane_zls_fault(const struct fragment_job *f, uint64_t va)
{
	return (struct vagx_uat_fault){
		.va = va,
		.slot = f->base->vm_slot,
		.access = VAGX_READ,
		.reason = VAGX_FAULT_NO_ACCESS,
	};
}

/* Describes the depth or stencil image of a plane. Return: 0, or -EFAULT for a wrong size. */
static int zs_plane_image(struct fragment_job *f, const struct vagx_zs_plane *p, unsigned int which,
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
	fault = zs_plane_zls_fault(f, p->base);
	return gpu_failure_at(&f->failure, &fault, VAGX_GPU_UNIT_ZLS);
}

/*
 * Finds the images to load from and store to. After a partial render both planes are loaded from
 * what it stored, and for one both are stored, whatever the whole render loads and stores.
 */
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
			err = zs_plane_image(f, &planes[i]->partial, i, store_compressed,
					     &f->zs_load[i]);
		else if (load)
			err = zs_plane_image(f, &planes[i]->load, i, load_compressed,
					     &f->zs_load[i]);
		if (!err && mode == VAGX_FRAGMENT_PARTIAL)
			err = zs_plane_image(f, &planes[i]->partial, i, store_compressed,
					     &f->zs_store[i]);
		else if (!err && store)
			err = zs_plane_image(f, &planes[i]->store, i, store_compressed,
					     &f->zs_store[i]);
	}
	return err;
}

/* Copies a sample from the image's bytes to sample @i of the tile */
static void zs_plane_get_sample(struct fragment_worker *w, unsigned int which, unsigned int i,
				const void *p)
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

/* Copies sample @i of the tile to the image's bytes */
static void zs_plane_put_sample(struct fragment_worker *w, unsigned int which, unsigned int i,
				void *p)
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

/* Marks the compression block that begins at a pixel, if one does, as raw */
static int zs_plane_put_metadata(struct fragment_worker *w, const struct vagx_image *image,
				 unsigned int x, unsigned int y)
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
 * Moves @at to the texel of its compression block that has its value. A block of one value may
 * have been cleared by a kernel; raw ones were stored here. Mesa also loads images before it
 * draws to them, in memory that something else has used: codes are invalid then, and values
 * undefined, which is no fault (*@is_known is false).
 */
static int zs_plane_find_in_block(struct fragment_worker *w, const struct vagx_image *image,
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

/* Sets an undefined sample to a value that neither the image nor a test would have */
static void zs_plane_put_unknown(struct fragment_worker *w, unsigned int which, unsigned int i)
{
	if (which == PLANE_STENCIL)
		w->stencil[i] = 0xa5;
	else
		w->depth[i] = 0.6875f;
}

static int zs_plane_load_sample(struct fragment_worker *w, const struct vagx_image *image,
				unsigned int which, struct agx_texel at, unsigned int i)
{
	const void *p;
	bool is_known;
	int err = zs_plane_find_in_block(w, image, &at, &is_known);

	if (err)
		return err;
	if (!is_known) {
		zs_plane_put_unknown(w, which, i);
		return 0;
	}
	p = fragment_ptr(w, vagx_image_address(image, &at), image->layout.element_bytes, VAGX_READ,
			 VAGX_GPU_UNIT_ZLS);
	if (!p)
		return -EFAULT;
	zs_plane_get_sample(w, which, i, p);
	return 0;
}

static int zs_plane_store_sample(struct fragment_worker *w, const struct vagx_image *image,
				 unsigned int which, struct agx_texel at, unsigned int i)
{
	void *p = fragment_ptr(w, vagx_image_address(image, &at), image->layout.element_bytes,
			       VAGX_WRITE, VAGX_GPU_UNIT_ZLS);

	if (!p)
		return -EFAULT;
	zs_plane_put_sample(w, which, i, p);
	return 0;
}

/* Loads or stores all samples of a pixel of the tile, if it is inside of the image */
static int zs_plane_copy_pixel(struct fragment_worker *w, const struct vagx_image *image,
			       unsigned int which, unsigned int x, unsigned int y, bool store)
{
	struct agx_texel at = { w->tile.x + x, w->tile.y + y, w->tile.layer, 0, 0 };

	if (at.x >= image->layout.width || at.y >= image->layout.height)
		return 0;
	for (at.sample = 0; at.sample < w->tile.samples; at.sample++) {
		unsigned int i = fragment_sample(w, x, y, at.sample);
		int err = store ? zs_plane_store_sample(w, image, which, at, i) :
				  zs_plane_load_sample(w, image, which, at, i);

		if (err)
			return err;
	}
	return store ? zs_plane_put_metadata(w, image, x, y) : 0;
}

/* Blocks in Morton order */

#define ZS_BLOCKS	(FRAGMENT_TILE_SIZE / MORTON_SIDE)

/*
 * A block at (x, y) in the tile: the part of it that is inside of the image, in pixels; its first
 * texel; its samples in memory, and its compression metadata or NULL
 */
struct zs_block {
	unsigned int x, y, width, height;
	struct agx_texel at;
	uint8_t *samples, *codes;
};

/* Translates an address without recording a fault, which zs_plane_copy_pixel() will find again */
static void *zs_plane_try_ptr(struct fragment_worker *w, uint64_t va, size_t bytes,
			      enum vagx_access access)
{
	struct vagx_uat_fault fault;

	return vagx_tlb_ptr(&w->core->tlb, va, bytes, access, &fault);
}

/* Completes a block whose position is set. Return: false if its memory would fault. */
static bool zs_plane_find_block(struct fragment_worker *w, const struct vagx_image *image,
				enum vagx_access access, struct zs_block *s)
{
	const uint32_t left_x = image->layout.width - s->at.x;
	const uint32_t left_y = image->layout.height - s->at.y;

	s->width = left_x < MORTON_SIDE ? left_x : MORTON_SIDE;
	s->height = left_y < MORTON_SIDE ? left_y : MORTON_SIDE;
	s->codes = NULL;
	s->samples = zs_plane_try_ptr(w, vagx_image_address(image, &s->at),
				      MORTON_PIXELS * image->layout.samples *
					      image->layout.element_bytes, access);
	if (!s->samples || !vagx_image_has_metadata(image, 0))
		return s->samples;
	s->codes =
		zs_plane_try_ptr(w, vagx_image_metadata(image, &s->at), AGX_LAYOUT_CODES, access);
	return s->codes;
}

/* Finds the blocks of a tile. Return: their number; -1 if samples have to be copied one by one. */
static int zs_plane_find_blocks(struct fragment_worker *w, const struct vagx_image *image,
				enum vagx_access access, struct zs_block *blocks)
{
	unsigned int x, y;
	int count = 0;

	if (!agx_layout_is_morton(&image->layout, 0, MORTON_SIDE))
		return -1;
	for (y = 0; y < w->tile.height && w->tile.y + y < image->layout.height; y += MORTON_SIDE) {
		for (x = 0; x < w->tile.width && w->tile.x + x < image->layout.width;
		     x += MORTON_SIDE) {
			struct zs_block *s = &blocks[count++];

			s->x = x;
			s->y = y;
			s->at = (struct agx_texel){ w->tile.x + x, w->tile.y + y, w->tile.layer,
						    0, 0 };
			if (!zs_plane_find_block(w, image, access, s))
				return -1;
		}
	}
	return count;
}

/* The block in the tile, if it is whole and has the image's bits there; else NULL */
static uint8_t *zs_plane_find_linear(struct fragment_worker *w, unsigned int which,
				     const struct zs_block *s, struct morton_linear *l)
{
	const unsigned int first = fragment_sample(w, s->x, s->y, 0);

	if (s->width < MORTON_SIDE || s->height < MORTON_SIDE ||
	    (which == PLANE_DEPTH && w->job->quantise))
		return NULL;
	l->pixel_bytes = w->tile.samples * (which == PLANE_DEPTH ? sizeof(w->depth[0]) : 1);
	l->pixel_stride = l->pixel_bytes;
	l->row_stride = (size_t)w->tile.width * l->pixel_bytes;
	return which == PLANE_DEPTH ? (uint8_t *)&w->depth[first] : &w->stencil[first];
}

/* Sets all samples of a block to one from the image, or to the undefined value if it is NULL */
static void zs_plane_fill_block(struct fragment_worker *w, unsigned int which,
				const struct zs_block *s, const void *sample)
{
	unsigned int x, y, n;

	for (y = 0; y < s->height; y++) {
		for (x = 0; x < s->width * w->tile.samples; x++) {
			n = fragment_sample(w, s->x, s->y + y, 0) + x;
			if (sample)
				zs_plane_get_sample(w, which, n, sample);
			else
				zs_plane_put_unknown(w, which, n);
		}
	}
}

/* Copies a whole block; a constant size lets the compiler unroll the copies */
INLINE void zs_plane_copy_pixels(uint8_t *linear, uint8_t *samples, struct morton_linear l,
				 unsigned int bytes, bool store)
{
	const struct morton_linear constant = { l.row_stride, bytes, bytes };

	if (store)
		morton_from_linear(samples, linear, constant);
	else
		morton_to_linear(linear, samples, constant);
}

static void zs_plane_copy_linear(uint8_t *linear, uint8_t *samples, struct morton_linear l,
				 bool store)
{
	switch (l.pixel_bytes) {
	case 1:
		zs_plane_copy_pixels(linear, samples, l, 1, store);
		break;
	case 2:
		zs_plane_copy_pixels(linear, samples, l, 2, store);
		break;
	case 4:
		zs_plane_copy_pixels(linear, samples, l, 4, store);
		break;
	case 8:
		zs_plane_copy_pixels(linear, samples, l, 8, store);
		break;
	default:
		zs_plane_copy_pixels(linear, samples, l, 16, store);
		break;
	}
}

/* Copies the samples of a pixel, from @i on in the tile and at @p in the image */
static void zs_plane_copy_samples(struct fragment_worker *w, const struct vagx_image *image,
				  unsigned int which, unsigned int i, uint8_t *p, bool store)
{
	unsigned int s;

	for (s = 0; s < w->tile.samples; s++, p += image->layout.element_bytes) {
		if (store)
			zs_plane_put_sample(w, which, i + s, p);
		else
			zs_plane_get_sample(w, which, i + s, p);
	}
}

static void zs_plane_copy_block(struct fragment_worker *w, const struct vagx_image *image,
				unsigned int which, const struct zs_block *s, bool store)
{
	const unsigned int bytes = image->layout.element_bytes * w->tile.samples;
	struct morton_linear l;
	uint8_t *linear = zs_plane_find_linear(w, which, s, &l);
	unsigned int x, y;

	if (linear) {
		zs_plane_copy_linear(linear, s->samples, l, store);
		return;
	}
	for (y = 0; y < s->height; y++) {
		for (x = 0; x < s->width; x++)
			zs_plane_copy_samples(w, image, which,
					      fragment_sample(w, s->x + x, s->y + y, 0),
					      s->samples + morton_index(x, y) * bytes, store);
	}
}

/* Loads a block, by its metadata if it has any. Return: false if its memory would fault. */
static bool zs_plane_load_block(struct fragment_worker *w, const struct vagx_image *image,
				unsigned int which, const struct zs_block *s)
{
	/* A block of one value leads all texels to the first one, so the second one tells. */
	struct agx_texel second = s->at;
	const void *sample;

	second.x++;
	if (s->codes && !agx_layout_find_in_block(&image->layout, s->codes, &second)) {
		zs_plane_fill_block(w, which, s, NULL);
		return true;
	}
	if (second.x == s->at.x + 1) {
		zs_plane_copy_block(w, image, which, s, false);
		return true;
	}
	sample = zs_plane_try_ptr(w, vagx_image_address(image, &second),
				  image->layout.element_bytes, VAGX_READ);
	if (sample)
		zs_plane_fill_block(w, which, s, sample);
	return sample;
}

static bool zs_plane_load_blocks(struct fragment_worker *w, const struct vagx_image *image,
				 unsigned int which)
{
	struct zs_block blocks[ZS_BLOCKS * ZS_BLOCKS];
	int count = zs_plane_find_blocks(w, image, VAGX_READ, blocks), i;

	for (i = 0; i < count; i++) {
		if (!zs_plane_load_block(w, image, which, &blocks[i]))
			return false;
	}
	return count >= 0;
}

static bool zs_plane_store_blocks(struct fragment_worker *w, const struct vagx_image *image,
				  unsigned int which)
{
	struct zs_block blocks[ZS_BLOCKS * ZS_BLOCKS];
	int count = zs_plane_find_blocks(w, image, VAGX_WRITE, blocks), i;

	for (i = 0; i < count; i++) {
		zs_plane_copy_block(w, image, which, &blocks[i], true);
		if (blocks[i].codes)
			memset(blocks[i].codes, agx_layout_raw_code(&image->layout),
			       AGX_LAYOUT_CODES);
	}
	return count >= 0;
}

static int zs_plane_copy_plane(struct fragment_worker *w, const struct vagx_image *image,
			       unsigned int which, bool store)
{
	unsigned int x, y;
	int err = 0;

	if (!image->address || (store ? zs_plane_store_blocks(w, image, which)
				      : zs_plane_load_blocks(w, image, which)))
		return 0;
	for (y = 0; !err && y < w->tile.height; y++) {
		for (x = 0; !err && x < w->tile.width; x++)
			err = zs_plane_copy_pixel(w, image, which, x, y, store);
	}
	return err;
}

/* The register has the image's format: a float, or 16 bits (mesa src/asahi/vulkan/hk_cmd_draw.c) */
static float zs_plane_background_depth(const struct fragment_worker *w)
{
	uint32_t bits = w->job->registers->isp_bgobjdepth;

	return w->job->quantise ? (bits & 0xffff) / 65535.0f : bits_float(bits);
}

int zs_load_tile(struct fragment_worker *w)
{
	float depth = zs_plane_background_depth(w);
	unsigned int i, count = w->tile.width * w->tile.height * w->tile.samples;
	int err;

	for (i = 0; i < count; i++)
		w->depth[i] = depth;
	memset(w->stencil, w->job->registers->isp_bgobjvals & 0xff, count);
	err = zs_plane_copy_plane(w, &w->job->zs_load[PLANE_DEPTH], PLANE_DEPTH, false);
	return err ? err
		   : zs_plane_copy_plane(w, &w->job->zs_load[PLANE_STENCIL], PLANE_STENCIL, false);
}

int zs_store_tile(struct fragment_worker *w)
{
	int err = zs_plane_copy_plane(w, &w->job->zs_store[PLANE_DEPTH], PLANE_DEPTH, true);

	return err ? err
		   : zs_plane_copy_plane(w, &w->job->zs_store[PLANE_STENCIL], PLANE_STENCIL, true);
}
