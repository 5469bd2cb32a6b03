/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_PRIV_H
#define ASAHI_PRIV_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "asahi_drmif.h"

#define ASAHI_EXPORT	__attribute__((visibility("default")))

/* A reference count that starts at one. */
struct asahi_refs {
	atomic_uint count;
};

static inline void asahi_refs_init(struct asahi_refs *refs)
{
	atomic_init(&refs->count, 1);
}

static inline void asahi_refs_get(struct asahi_refs *refs)
{
	atomic_fetch_add_explicit(&refs->count, 1, memory_order_relaxed);
}

/* Return: whether that was the last one. */
static inline bool asahi_refs_put(struct asahi_refs *refs)
{
	return atomic_fetch_sub_explicit(&refs->count, 1,
					 memory_order_acq_rel) == 1;
}

struct asahi_device {
	struct asahi_refs refs;
	int fd;
	struct drm_asahi_params_global params;

	/*
	 * Protects bos and, against asahi_bo_import(), the way of a buffer's
	 * last reference.
	 */
	pthread_mutex_t bo_lock;
	/* struct asahi_bo by handle */
	void *bos;
};

struct asahi_bo {
	struct asahi_refs refs;
	struct asahi_device *dev;
	uint32_t handle;
	uint64_t size;

	/* protects map */
	pthread_mutex_t map_lock;
	void *map;
};

/* Free addresses: gaps sorted by address, never adjacent. */
struct asahi_va_gap;

struct asahi_va {
	uint64_t start;
	uint64_t end;
	struct asahi_va_gap *gaps;
};

int asahi_va_init(struct asahi_va *va, uint64_t start, uint64_t end);
void asahi_va_fini(struct asahi_va *va);
int asahi_va_alloc(struct asahi_va *va, uint64_t size, uint64_t align,
		   uint64_t *addr);
int asahi_va_free(struct asahi_va *va, uint64_t addr, uint64_t size);

struct asahi_vm {
	struct asahi_refs refs;
	struct asahi_device *dev;
	uint32_t id;

	/* protects heaps */
	pthread_mutex_t va_lock;
	struct asahi_va heaps[ASAHI_HEAP_COUNT];
};

struct asahi_queue {
	struct asahi_refs refs;
	struct asahi_vm *vm;
	uint32_t id;
};

/* drmIoctl() with errors as return values */
int asahi_ioctl(const struct asahi_device *dev, unsigned long request,
		void *arg);

#endif /* ASAHI_PRIV_H */
