// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Address spaces: which buffer is bound where.
 *
 * The bindings of an address space are a list in order of addresses, none of which overlap.
 * VM_BIND checks all of its operations before it applies any: an error leaves the address
 * space as it was. To apply one is to cut its range out of the list, which shortens or
 * splits bindings at its borders, and to insert the new binding there. No page tables are
 * written: a backend gets a copy of the list when a job starts.
 *
 * An address space lives as long as its ID or a queue refers to it. A binding has a
 * reference to its buffer, but closing the buffer's handle takes its bindings out of all
 * address spaces of that open file, as the driver does.
 *
 * Everything is called with shim_lock held.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <agx/agx_uat.h>

#include "shim.h"

/* The driver's limits */
#define MAX_VMS		1024
#define MAX_BINDS	65536
#define MAX_STRIDE	4096

#define USER_SIZE	(AGX_VA_USER_END - AGX_VA_USER_START)
#define READ_WRITE	(DRM_ASAHI_BIND_READ | DRM_ASAHI_BIND_WRITE)

static struct shim_vm *vm_vms;
static unsigned int vm_count;

struct shim_vm *shim_vm_get(struct shim_vm *vm)
{
	vm->refs++;
	return vm;
}

static void vm_binding_free(struct shim_binding *binding)
{
	shim_bo_put(binding->bo);
	free(binding);
}

void shim_vm_put(struct shim_vm *vm)
{
	struct shim_vm **link = &vm_vms;

	if (--vm->refs)
		return;
	while (vm->bindings) {
		struct shim_binding *binding = vm->bindings;

		vm->bindings = binding->next;
		vm_binding_free(binding);
	}
	while (*link != vm)
		link = &(*link)->next;
	*link = vm->next;
	vm_count--;
	free(vm);
}

unsigned int shim_vm_count(void)
{
	return vm_count;
}

int shim_vm_create(struct shim_file *file, union asahi_shim_args *all, struct shim_call *call)
{
	struct drm_asahi_vm_create *args = &all->vm_create;
	static uint64_t last_id;
	struct shim_vm *vm;

	if (args->pad || ((args->kernel_start | args->kernel_end) & AGX_PAGE_MASK) ||
	    args->kernel_start < AGX_VA_USER_START || args->kernel_end > AGX_VA_USER_END ||
	    args->kernel_end <= args->kernel_start ||
	    args->kernel_end - args->kernel_start < AGX_VM_KERNEL_MIN_SIZE)
		return EINVAL;
	if (file->vms.used == MAX_VMS)
		return ENOSPC;
	vm = shim_alloc(sizeof(*vm));
	*vm = (struct shim_vm){
		.refs = 1,
		.id = ++last_id,
		.owner = file->id,
		.kernel_start = args->kernel_start,
		.kernel_end = args->kernel_end,
		.next = vm_vms,
	};
	vm_vms = vm;
	vm_count++;
	args->vm_id = shim_table_add(&file->vms, vm, MAX_VMS);
	return 0;
}

int shim_vm_destroy(struct shim_file *file, union asahi_shim_args *all, struct shim_call *call)
{
	struct shim_vm *vm;

	if (all->vm_destroy.pad)
		return EINVAL;
	vm = shim_table_remove(&file->vms, all->vm_destroy.vm_id);
	if (!vm)
		return ENOENT;
	shim_vm_put(vm);
	return 0;
}

/* Bindings */

/* Return: a new binding of [@addr, @end), which is a part of @like, with a reference. */
static struct shim_binding *vm_binding_new(const struct shim_binding *like, uint64_t addr,
					   uint64_t end)
{
	struct shim_binding *binding = shim_alloc(sizeof(*binding));

	*binding = *like;
	binding->addr = addr;
	binding->range = end - addr;
	/* A binding of a single page shows that page at each of its addresses. */
	if (!(like->flags & DRM_ASAHI_BIND_SINGLE_PAGE))
		binding->offset += addr - like->addr;
	shim_bo_get(binding->bo);
	return binding;
}

/* Takes [@addr, @end) out of all bindings. Return: the link where one there is inserted. */
static struct shim_binding **vm_cut(struct shim_vm *vm, uint64_t addr, uint64_t end)
{
	struct shim_binding **link = &vm->bindings, **place;
	struct shim_binding *old;

	while (*link && (*link)->addr + (*link)->range <= addr)
		link = &(*link)->next;
	place = link;
	while ((old = *link) && old->addr < end) {
		uint64_t old_end = old->addr + old->range;

		*link = old->next;
		if (old->addr < addr) {
			struct shim_binding *before = vm_binding_new(old, old->addr, addr);

			before->next = *link;
			*link = before;
			link = &before->next;
			place = link;
		}
		if (old_end > end) {
			struct shim_binding *after = vm_binding_new(old, end, old_end);

			after->next = *link;
			*link = after;
		}
		vm_binding_free(old);
	}
	return place;
}

/* Applies a checked operation; @bo is NULL to unbind. */
static void vm_apply(struct shim_vm *vm, const struct drm_asahi_gem_bind_op *op, struct shim_bo *bo)
{
	struct shim_binding **place = vm_cut(vm, op->addr, op->addr + op->range);
	const struct shim_binding like = {
		.addr = op->addr,
		.offset = op->offset,
		.flags = op->flags,
		.bo = bo,
		.next = *place,
	};

	if (bo)
		*place = vm_binding_new(&like, op->addr, op->addr + op->range);
}

void shim_vm_close_bo(uint64_t owner, const struct shim_bo *bo)
{
	struct shim_binding **link, *binding;
	struct shim_vm *vm;

	for (vm = vm_vms; vm; vm = vm->next) {
		if (vm->owner != owner)
			continue;
		for (link = &vm->bindings; (binding = *link);) {
			if (binding->bo != bo) {
				link = &binding->next;
				continue;
			}
			*link = binding->next;
			vm_binding_free(binding);
		}
	}
}

void shim_binding_describe(const struct shim_binding *binding, struct asahi_shim_mapping *mapping)
{
	*mapping = (struct asahi_shim_mapping){
		.addr = binding->addr,
		.size = binding->range,
		.offset = binding->bo->offset + binding->offset,
		.flags = binding->flags,
	};
}

static const struct shim_binding *vm_find(const struct shim_vm *vm, uint64_t addr)
{
	const struct shim_binding *binding;

	for (binding = vm->bindings; binding; binding = binding->next)
		if (addr >= binding->addr && addr - binding->addr < binding->range)
			return binding;
	return NULL;
}

bool asahi_shim_find_mapping(int fd, uint32_t vm_id, uint64_t addr,
			     struct asahi_shim_mapping *mapping)
{
	const struct shim_binding *binding = NULL;
	const struct shim_file *file;
	const struct shim_vm *vm;

	pthread_mutex_lock(&shim_lock);
	file = shim_fd_find(fd, SHIM_FD_FILE);
	vm = file ? shim_table_get(&file->vms, vm_id) : NULL;
	if (vm)
		binding = vm_find(vm, addr);
	if (binding)
		shim_binding_describe(binding, mapping);
	pthread_mutex_unlock(&shim_lock);
	return binding;
}

/* VM_BIND */

/* Return: whether flags, alignment and addresses are right, whatever the handle is. */
static bool vm_op_is_well_formed(const struct drm_asahi_gem_bind_op *op, const struct shim_vm *vm)
{
	uint64_t end = op->addr + op->range;

	if (op->flags & DRM_ASAHI_BIND_UNBIND) {
		if (op->flags != DRM_ASAHI_BIND_UNBIND || op->handle || op->offset)
			return false;
	} else if (!(op->flags & READ_WRITE) ||
		   (op->flags & ~(READ_WRITE | DRM_ASAHI_BIND_SINGLE_PAGE))) {
		return false;
	}
	return op->range && !((op->addr | op->range | op->offset) & AGX_PAGE_MASK) &&
	       end > op->addr && op->offset + op->range > op->offset &&
	       op->addr >= AGX_VA_USER_START && end <= AGX_VA_USER_END &&
	       (op->addr >= vm->kernel_end || end <= vm->kernel_start);
}

/* Return: 0, ENOENT without a buffer, or EINVAL if it is too small or another VM's. */
static int vm_op_check_object(const struct drm_asahi_gem_bind_op *op, const struct shim_vm *vm,
			      const struct shim_bo *bo)
{
	uint64_t used = op->flags & DRM_ASAHI_BIND_SINGLE_PAGE ? AGX_PAGE_SIZE : op->range;

	if (op->flags & DRM_ASAHI_BIND_UNBIND)
		return 0;
	if (!bo)
		return ENOENT;
	if (op->offset > bo->size || used > bo->size - op->offset || (bo->vm && bo->vm != vm->id))
		return EINVAL;
	return 0;
}

/* Reads an operation of @stride bytes. Return: 0, EFAULT, or E2BIG if the excess is not 0. */
static int vm_op_read(uint64_t user, uint32_t stride, struct drm_asahi_gem_bind_op *op)
{
	uint8_t rest[MAX_STRIDE];
	uint32_t more = stride - sizeof(*op), i;
	int err;

	err = shim_copy_in(op, user, sizeof(*op));
	if (!err)
		err = shim_copy_in(rest, user + sizeof(*op), more);
	for (i = 0; !err && i < more; i++)
		if (rest[i])
			err = E2BIG;
	return err;
}

/*
 * Reads and checks all operations. Together they may map no more than the user's addresses,
 * single pages not counted. Return: 0 or the first error.
 */
static int vm_ops_read(struct shim_file *file, const struct drm_asahi_vm_bind *args,
		       const struct shim_vm *vm, struct drm_asahi_gem_bind_op *ops)
{
	uint64_t mapped = 0;
	uint32_t i;
	int err;

	for (i = 0; i < args->num_binds; i++) {
		struct drm_asahi_gem_bind_op *op = &ops[i];

		err = vm_op_read(args->userptr + (uint64_t)i * args->stride, args->stride, op);
		if (err)
			return err;
		if (!vm_op_is_well_formed(op, vm))
			return EINVAL;
		if (!(op->flags & (DRM_ASAHI_BIND_UNBIND | DRM_ASAHI_BIND_SINGLE_PAGE)))
			mapped += op->range;
		if (mapped > USER_SIZE)
			return EINVAL;
		err = vm_op_check_object(op, vm, shim_table_get(&file->handles, op->handle));
		if (err)
			return err;
	}
	return 0;
}

int shim_vm_bind(struct shim_file *file, union asahi_shim_args *all, struct shim_call *call)
{
	const struct drm_asahi_vm_bind *args = &all->vm_bind;
	struct drm_asahi_gem_bind_op *ops;
	struct shim_vm *vm;
	uint32_t i;
	int err;

	if (args->pad || args->stride < sizeof(*ops) || args->stride > MAX_STRIDE ||
	    args->num_binds > MAX_BINDS)
		return EINVAL;
	vm = shim_table_get(&file->vms, args->vm_id);
	if (!vm)
		return ENOENT;
	ops = shim_alloc(args->num_binds * sizeof(*ops));
	call->base.binds = ops;
	err = vm_ops_read(file, args, vm, ops);
	if (err)
		return err;
	for (i = 0; i < args->num_binds; i++)
		vm_apply(vm, &ops[i], shim_table_get(&file->handles, ops[i].handle));
	return 0;
}

void shim_vm_forget(void)
{
	vm_vms = NULL;
	vm_count = 0;
}
