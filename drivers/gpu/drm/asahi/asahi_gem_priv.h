/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Buffer objects: what the files about them share.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_GEM_PRIV_H
#define ASAHI_GEM_PRIV_H

#include <linux/atomic.h>
#include <linux/container_of.h>
#include <linux/dma-fence.h>
#include <linux/list.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include <drm/drm_gem.h>

#include "asahi_gem.h"

struct dma_buf;
struct iosys_map;
struct page;
struct sg_table;
struct vm_area_struct;
struct vm_operations_struct;

/**
 * enum asahi_gem_place - where an object is mapped that may lose its memory
 * @ASAHI_GEM_STAYS: its memory has to stay, or is not there
 * @ASAHI_GEM_UNBOUND: in no address space
 * @ASAHI_GEM_MAPPED: in one
 * @ASAHI_GEM_SHARED: in several
 */
enum asahi_gem_place {
	ASAHI_GEM_STAYS,
	ASAHI_GEM_UNBOUND,
	ASAHI_GEM_MAPPED,
	ASAHI_GEM_SHARED,
};

/**
 * struct asahi_gem - A buffer object
 *
 * The object's reservation protects its memory: from @pages on, up to @lru.
 */
struct asahi_gem {
	/** @base: its shmem file, unless it is imported */
	struct drm_gem_object base;
	/** @link: in the device's list; empty as long as the object isn't finished */
	struct list_head link;
	/**
	 * @resv_obj: for objects private to an address space, the object whose
	 * reservation they share, with a reference; NULL for all others
	 */
	struct drm_gem_object *resv_obj;
	/** @map_wc: CPU mappings are write-combined */
	bool map_wc;

	/** @pages: all of its pages, or NULL; NULL for imported ones */
	struct page **pages;
	/**
	 * @sgt: the same, mapped for the device. Set whenever @pages is, but after
	 * unplug. For an imported object what the exporter has given.
	 */
	struct sg_table *sgt;
	/** @index: @sgt by offset, if it was needed and the GPU can map it */
	struct asahi_gem_index *index;
	/** @filled: it has had @pages before, so its contents are not all zero */
	bool filled;
	/** @clean: the CPU's caches hold nothing of @pages, or hold it for @sgt */
	bool clean;
	/** @vaddr: kernel mapping, if @vmaps */
	void *vaddr;
	/** @vmaps: users of @vaddr */
	unsigned int vmaps;
	/** @pins: those that need @pages to stay for long */
	unsigned int pins;
	/** @place: where it is mapped; read without the lock, too */
	enum asahi_gem_place place;
	/** @lru: the list of the address space, if it is mapped in one */
	struct drm_gem_lru *lru;
	/** @loose: in the device's list, if it is in none or in several */
	struct list_head loose;
	/** @scan: the last scan that has looked at it there; of that list */
	u64 scan;
	/** @binds: binds under way, which need @sgt to stay; raised under the reservation */
	atomic_t binds;

	/**
	 * @busy: work in flight that may write to it, with a reference; only when
	 * no reference to the object is left, as all that follows
	 */
	struct dma_fence *busy;
	/** @busy_link: in the device's list of these */
	struct list_head busy_link;
	/** @idle_cb: called when @busy has signalled */
	struct dma_fence_cb idle_cb;
	/** @free_work: frees the object */
	struct work_struct free_work;
};

static inline struct asahi_gem *to_asahi_gem(struct drm_gem_object *obj)
{
	return container_of(obj, struct asahi_gem, base);
}

/* asahi_gem_backing.c */
int asahi_gem_populate(struct asahi_gem *gem);
void asahi_gem_drop_backing(struct asahi_gem *gem);
void asahi_gem_release_backing(struct asahi_gem *gem);
void asahi_gem_unmap_dma(struct asahi_gem *gem);
int asahi_gem_prepare(struct asahi_gem *gem);
int asahi_gem_pin_locked(struct drm_gem_object *obj);
void asahi_gem_unpin_locked(struct drm_gem_object *obj);
struct sg_table *asahi_gem_get_sg_table(struct drm_gem_object *obj);
int asahi_gem_vmap(struct drm_gem_object *obj, struct iosys_map *map);
void asahi_gem_vunmap(struct drm_gem_object *obj, struct iosys_map *map);

/* asahi_gem_mmap.c */
extern const struct vm_operations_struct asahi_gem_vm_ops;
int asahi_gem_mmap(struct drm_gem_object *obj, struct vm_area_struct *vma);

/* asahi_gem_dmabuf.c */
struct dma_buf *asahi_gem_export(struct drm_gem_object *obj, int flags);

#endif
