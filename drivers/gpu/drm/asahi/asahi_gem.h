/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Buffer objects.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_GEM_H
#define ASAHI_GEM_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct asahi_device;
struct asahi_file;
struct dma_buf;
struct dma_buf_attachment;
struct drm_asahi_gem_create;
struct drm_asahi_gem_mmap_offset;
struct asahi_block;
struct drm_device;
struct drm_gem_object;
struct scatterlist;
struct sg_table;
struct workqueue_struct;

/**
 * struct asahi_gem_list - All buffer objects of a device
 */
struct asahi_gem_list {
	/** @lock: protects @live and @busy; taken inside of everything else */
	spinlock_t lock;
	/** @live: the objects */
	struct list_head live;
	/** @busy: those without references that work in flight may still write to */
	struct list_head busy;
	/** @wq: frees what was in @busy */
	struct workqueue_struct *wq;
};

/**
 * struct asahi_gem_piece - contiguous part of an object's memory
 * @start: offset into the object
 * @sg: the memory
 */
struct asahi_gem_piece {
	u64 start;
	struct scatterlist *sg;
};

/**
 * struct asahi_gem_index - all pieces of an object's memory
 * @count: how many
 * @piece: the pieces, in their order
 */
struct asahi_gem_index {
	unsigned int count;
	struct asahi_gem_piece piece[] __counted_by(count);
};

/*
 * Buffer objects, and the list of address spaces. Unplug removes the DMA mappings
 * of all objects.
 */
extern const struct asahi_block asahi_block_gem;

int asahi_gem_create(struct asahi_file *afile, struct drm_asahi_gem_create *args);
int asahi_gem_mmap_offset(struct asahi_file *afile,
			  struct drm_asahi_gem_mmap_offset *args);
struct drm_gem_object *asahi_gem_prime_import(struct drm_device *drm,
					      struct dma_buf *dma_buf);
struct drm_gem_object *
asahi_gem_prime_import_sg_table(struct drm_device *drm,
				struct dma_buf_attachment *attach,
				struct sg_table *sgt);

struct drm_gem_object *asahi_gem_resv_obj(struct drm_gem_object *obj);
int asahi_gem_pin(struct drm_gem_object *obj);
void asahi_gem_unpin(struct drm_gem_object *obj);
int asahi_gem_begin_bind(struct drm_gem_object *obj, u64 offset, struct asahi_gem_piece *piece);
void asahi_gem_end_bind(struct drm_gem_object *obj);
void asahi_gem_find(struct drm_gem_object *obj, u64 offset, struct asahi_gem_piece *piece);
size_t asahi_gem_read(struct drm_gem_object *obj, u64 offset, void *buf, size_t len);

#if IS_ENABLED(CONFIG_KUNIT)
struct drm_gem_object *asahi_gem_alloc(struct asahi_device *adev, size_t size, bool map_wc,
				       struct drm_gem_object *resv_obj);
bool asahi_gem_mappable(struct sg_table *sgt, u64 size);
struct asahi_gem_index *asahi_gem_index_create(struct sg_table *sgt);
const struct asahi_gem_piece *asahi_gem_index_find(const struct asahi_gem_index *index,
						   u64 offset);

#endif

#endif
