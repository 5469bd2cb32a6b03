// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <errno.h>
#include <stdlib.h>

#include "asahi_priv.h"

#define GIB	(UINT64_C(1) << 30)

/* USC addresses have 32 bits. */
#define USC_SIZE	(4 * GIB)

/*
 * The units read a little past the end of what they are pointed to, which must
 * not be another allocation that comes and goes (Mesa keeps the same distance).
 */
#define GUARD_SIZE	ASAHI_PAGE_SIZE
#define BLOCK_SIZE	(32ULL << 20)

static uint64_t vm_align_up(uint64_t value, uint64_t align)
{
	return (value + align - 1) & ~(align - 1);
}

/*
 * The kernel's own range goes to the top. Shaders begin at the first multiple
 * of 4 GiB, which leaves what is below, zero among it, without mappings.
 */
static int vm_init_heaps(struct asahi_vm *vm, uint64_t kernel_start)
{
	const struct drm_asahi_params_global *params = &vm->dev->params;
	uint64_t usc_start = vm_align_up(params->vm_start, USC_SIZE);
	uint64_t usc_end = usc_start + USC_SIZE;
	int err;

	if (usc_end >= kernel_start)
		return -ENOSPC;
	err = asahi_va_init(&vm->heaps[ASAHI_HEAP_USC], usc_start, usc_end);
	if (err)
		return err;
	err = asahi_va_init(&vm->heaps[ASAHI_HEAP_MAIN], usc_end, kernel_start);
	if (err)
		asahi_va_fini(&vm->heaps[ASAHI_HEAP_USC]);
	return err;
}

static void vm_fini_heaps(struct asahi_vm *vm)
{
	unsigned int i;

	for (i = 0; i < ASAHI_HEAP_COUNT; i++)
		asahi_va_fini(&vm->heaps[i]);
}

ASAHI_EXPORT int asahi_vm_new(struct asahi_device *dev, struct asahi_vm **out)
{
	const struct drm_asahi_params_global *params = &dev->params;
	struct drm_asahi_vm_create args = { .kernel_end = params->vm_end };
	struct asahi_vm *vm;
	int err;

	if (params->vm_end - params->vm_start < params->vm_kernel_min_size)
		return -ENOSPC;
	args.kernel_start = (params->vm_end - params->vm_kernel_min_size) &
			    ~(uint64_t)(ASAHI_PAGE_SIZE - 1);

	vm = calloc(1, sizeof(*vm));
	if (!vm)
		return -ENOMEM;
	vm->dev = dev;
	err = vm_init_heaps(vm, args.kernel_start);
	if (err)
		goto err_free;
	err = asahi_ioctl(dev, DRM_IOCTL_ASAHI_VM_CREATE, &args);
	if (err)
		goto err_heaps;

	vm->id = args.vm_id;
	asahi_device_ref(dev);
	asahi_refs_init(&vm->refs);
	pthread_mutex_init(&vm->va_lock, NULL);
	*out = vm;
	return 0;

err_heaps:
	vm_fini_heaps(vm);
err_free:
	free(vm);
	return err;
}

ASAHI_EXPORT struct asahi_vm *asahi_vm_ref(struct asahi_vm *vm)
{
	asahi_refs_get(&vm->refs);
	return vm;
}

ASAHI_EXPORT void asahi_vm_unref(struct asahi_vm *vm)
{
	struct drm_asahi_vm_destroy args;

	if (!vm || !asahi_refs_put(&vm->refs))
		return;

	/* Fails only if the device is gone, and the address space with it. */
	args = (struct drm_asahi_vm_destroy){ .vm_id = vm->id };
	asahi_ioctl(vm->dev, DRM_IOCTL_ASAHI_VM_DESTROY, &args);
	vm_fini_heaps(vm);
	pthread_mutex_destroy(&vm->va_lock);
	asahi_device_unref(vm->dev);
	free(vm);
}

ASAHI_EXPORT uint32_t asahi_vm_id(const struct asahi_vm *vm)
{
	return vm->id;
}

ASAHI_EXPORT struct asahi_device *asahi_vm_device(const struct asahi_vm *vm)
{
	return vm->dev;
}

ASAHI_EXPORT uint64_t asahi_vm_usc_base(const struct asahi_vm *vm)
{
	return vm->heaps[ASAHI_HEAP_USC].start;
}

/* Return: how many addresses a reservation takes, or 0 for no valid size. */
static uint64_t vm_reserved_size(uint64_t size)
{
	if (!size || size > UINT64_MAX - ASAHI_PAGE_SIZE - GUARD_SIZE)
		return 0;
	return vm_align_up(size, ASAHI_PAGE_SIZE) + GUARD_SIZE;
}

ASAHI_EXPORT int asahi_vm_alloc(struct asahi_vm *vm, enum asahi_heap heap,
				uint64_t size, uint64_t align, uint64_t *addr)
{
	int err;

	size = vm_reserved_size(size);
	if ((unsigned int)heap >= ASAHI_HEAP_COUNT || !size ||
	    (align & (align - 1)))
		return -EINVAL;
	if (align < ASAHI_PAGE_SIZE)
		align = ASAHI_PAGE_SIZE;

	pthread_mutex_lock(&vm->va_lock);
	err = asahi_va_alloc(&vm->heaps[heap], size, align, addr);
	pthread_mutex_unlock(&vm->va_lock);
	return err;
}

static struct asahi_va *vm_heap_of(struct asahi_vm *vm, uint64_t addr,
				   uint64_t size)
{
	unsigned int i;

	for (i = 0; i < ASAHI_HEAP_COUNT; i++) {
		struct asahi_va *heap = &vm->heaps[i];

		if (addr >= heap->start && addr < heap->end)
			return size <= heap->end - addr ? heap : NULL;
	}
	return NULL;
}

ASAHI_EXPORT int asahi_vm_free(struct asahi_vm *vm, uint64_t addr,
			       uint64_t size)
{
	struct asahi_va *heap;
	int err;

	size = vm_reserved_size(size);
	if (!size || addr % ASAHI_PAGE_SIZE)
		return -EINVAL;
	heap = vm_heap_of(vm, addr, size);
	if (!heap)
		return -EINVAL;

	pthread_mutex_lock(&vm->va_lock);
	err = asahi_va_free(heap, addr, size);
	pthread_mutex_unlock(&vm->va_lock);
	return err;
}

ASAHI_EXPORT int asahi_vm_bind(struct asahi_vm *vm,
			       const struct drm_asahi_gem_bind_op *ops,
			       uint32_t count)
{
	struct drm_asahi_vm_bind args = {
		.vm_id = vm->id,
		.num_binds = count,
		.stride = sizeof(*ops),
		.userptr = (uintptr_t)ops,
	};

	return asahi_ioctl(vm->dev, DRM_IOCTL_ASAHI_VM_BIND, &args);
}

ASAHI_EXPORT int asahi_vm_map(struct asahi_vm *vm, enum asahi_heap heap,
			      struct asahi_bo *bo, uint32_t flags,
			      uint64_t *addr)
{
	struct drm_asahi_gem_bind_op op = {
		.flags = flags,
		.handle = bo->handle,
		.range = bo->size,
	};
	uint64_t start;
	int err;

	/* What is large is aligned as its memory is, so that it can be mapped by blocks. */
	err = asahi_vm_alloc(vm, heap, bo->size, bo->size < BLOCK_SIZE ? 0 : BLOCK_SIZE, &start);
	if (err)
		return err;
	op.addr = start;
	err = asahi_vm_bind(vm, &op, 1);
	if (err) {
		asahi_vm_free(vm, start, bo->size);
		return err;
	}
	*addr = start;
	return 0;
}

ASAHI_EXPORT int asahi_vm_unmap(struct asahi_vm *vm, struct asahi_bo *bo,
				uint64_t addr)
{
	const struct drm_asahi_gem_bind_op op = {
		.flags = DRM_ASAHI_BIND_UNBIND,
		.range = bo->size,
		.addr = addr,
	};
	int err = asahi_vm_bind(vm, &op, 1);

	return err ? err : asahi_vm_free(vm, addr, bo->size);
}
