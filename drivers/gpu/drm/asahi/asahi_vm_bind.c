// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * GPU address spaces: VM_BIND.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/cleanup.h>
#include <linux/dma-resv.h>
#include <linux/overflow.h>
#include <linux/scatterlist.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <kunit/visibility.h>

#include <drm/asahi_drm.h>
#include <drm/drm_print.h>

#include <agx/agx_uat.h>

#include "asahi_client.h"
#include "asahi_device.h"
#include "asahi_drv.h"
#include "asahi_evict.h"
#include "asahi_gem.h"
#include "asahi_lru.h"
#include "asahi_range.h"
#include "asahi_trace.h"
#include "asahi_vm.h"
#include "asahi_vm_bind.h"
#include "asahi_vm_priv.h"

/**
 * DOC: VM_BIND
 *
 * All binds of an ioctl take effect, or none does. So an ioctl goes through
 * these steps, of which only the last, which cannot fail, changes mappings:
 *
 * 1. read and check all binds, find the objects, have their memory stay;
 * 2. under the locks, get page tables and mapping structures for the worst
 *    that each bind can need;
 * 3. remove what is in the way of the binds, and map what they bring.
 *
 * Where a bind replaces something, the old translation is invalidated before
 * the new one is written, as the architecture of the page tables asks for. If no
 * two binds overlap, their order does not matter: everything is removed, invalidated
 * once, and then everything is mapped. Otherwise one bind follows the other, and one
 * that meets what has not been invalidated yet invalidates it.
 *
 * An object that several binds in a row map is looked up once; the first of them has
 * the references. Where a mapping of just the same addresses is replaced, its structure
 * stays in the trees and shows the new object.
 *
 * Jobs are not waited for. A client that unbinds what a job still uses gets a
 * fault, and no one else's memory.
 */

/**
 * struct asahi_bind - One bind, checked and ready
 * @addr: GPU address
 * @range: bytes
 * @offset: into the object
 * @handle: of the object
 * @obj: object; NULL to unbind. The first of several binds in a row has a reference
 * @vm_bo: the object in the address space; referenced in the same way
 * @piece: piece of the object's memory that @offset is in; as long as the first of several
 *	binds has one the memory stays
 * @prot: protection
 * @single: one page repeats
 * @replaces: something may be mapped in its place
 * @reuse: mapping of just these addresses, whose structure this bind takes over, or NULL
 */
struct asahi_bind {
	u64 addr;
	u64 range;
	u64 offset;
	u32 handle;
	struct drm_gem_object *obj;
	struct drm_gpuvm_bo *vm_bo;
	struct asahi_gem_piece piece;
	enum asahi_prot prot;
	bool single;
	bool replaces;
	struct asahi_vma *reuse;
};

/**
 * struct asahi_bind_ctx - All binds of an ioctl
 * @vm: address space
 * @binds: the binds
 * @count: number of @binds that are filled in
 * @mapped: bytes that all of them together map page by page
 * @sorted: they are in the order of their addresses, and none overlaps another one
 * @disjoint: none overlaps another one
 * @cuts: a mapping may have to be cut
 * @pool: transaction on the page tables
 * @spare: mapping structures to take from and to give back to
 * @gone: addresses from the first mapping that a bind has removed to the last one
 */
struct asahi_bind_ctx {
	struct asahi_vm *vm;
	struct asahi_bind *binds;
	u32 count;
	u64 mapped;
	bool sorted;
	bool disjoint;
	bool cuts;
	struct asahi_pt_pool pool;
	struct list_head spare;
	struct asahi_range gone;
};

/**
 * asahi_vm_bind_check() - Is one bind well formed?
 * @op: the bind
 * @kernel_start: start of the range that the kernel uses
 * @kernel_end: end of that range, exclusive
 *
 * Looks at @op alone: flags, alignment, overflow, ranges.
 *
 * Return: 0 or -EINVAL.
 */
int asahi_vm_bind_check(const struct drm_asahi_gem_bind_op *op, u64 kernel_start,
			u64 kernel_end)
{
	const u32 rw = DRM_ASAHI_BIND_READ | DRM_ASAHI_BIND_WRITE;
	u64 end, offset_end;

	if (op->flags & DRM_ASAHI_BIND_UNBIND) {
		if (op->flags != DRM_ASAHI_BIND_UNBIND || op->handle || op->offset)
			return -EINVAL;
	} else {
		if (!(op->flags & rw) ||
		    op->flags & ~(rw | DRM_ASAHI_BIND_SINGLE_PAGE))
			return -EINVAL;
	}

	if (!op->range || !IS_ALIGNED(op->addr | op->range | op->offset, AGX_PAGE_SIZE))
		return -EINVAL;

	if (check_add_overflow(op->addr, op->range, &end) ||
	    check_add_overflow(op->offset, op->range, &offset_end))
		return -EINVAL;

	if (op->addr < AGX_VA_USER_START || end > AGX_VA_USER_END)
		return -EINVAL;

	if (op->addr < kernel_end && end > kernel_start)
		return -EINVAL;

	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_vm_bind_check);

static enum asahi_prot asahi_bind_prot(u32 flags)
{
	if (!(flags & DRM_ASAHI_BIND_WRITE))
		return ASAHI_PROT_GPU_SHARED_RO;
	if (!(flags & DRM_ASAHI_BIND_READ))
		return ASAHI_PROT_GPU_SHARED_WO;
	return ASAHI_PROT_GPU_SHARED_RW;
}

static void asahi_vma_link(struct drm_gpuva *va, struct drm_gpuvm_bo *vm_bo)
{
	guard(mutex)(&vm_bo->obj->gpuva.lock);
	drm_gpuva_link(va, vm_bo);
}

static void asahi_bind_write(struct asahi_bind_ctx *ctx, const struct asahi_bind *bind)
{
	struct asahi_pgtable *pgt = &ctx->vm->as.pgt;
	u64 skip = bind->offset - bind->piece.start;
	struct scatterlist *sg = bind->piece.sg;

	/* A SUBMIT restores it with all others of this object: see "Eviction". */
	if (bind->vm_bo->evicted)
		return;

	if (bind->single)
		asahi_pgtable_map_single(pgt, &ctx->pool, bind->addr, sg_dma_address(sg) + skip,
					 bind->range, bind->prot);
	else
		asahi_pgtable_map_sg(pgt, &ctx->pool, bind->addr, sg, skip, bind->range,
				     bind->prot);
}

/* The page tables are changed once for all mappings that a bind removes. */
static void asahi_bind_note_gone(struct asahi_bind_ctx *ctx, u64 addr, u64 range)
{
	ctx->gone.start = min(ctx->gone.start, addr);
	ctx->gone.end = max(ctx->gone.end, addr + range);
}

static struct drm_gpuva *asahi_vma_take_part(struct asahi_bind_ctx *ctx,
					     const struct drm_gpuva_op_map *part,
					     const struct asahi_vma *whole)
{
	struct asahi_vma *vma;

	if (!part)
		return NULL;

	vma = asahi_vma_take(&ctx->spare);
	vma->prot = whole->prot;
	vma->single = whole->single;
	return &vma->base;
}

static int asahi_vm_step_remap(struct drm_gpuva_op *op, void *priv)
{
	struct asahi_bind_ctx *ctx = priv;
	struct drm_gpuva_op_remap *remap = &op->remap;
	struct drm_gpuva *va = remap->unmap->va;
	struct asahi_vma *vma = to_asahi_vma(va);
	struct drm_gpuva *prev, *next;
	u64 addr, range;

	drm_gpuva_op_remap_to_unmap_range(remap, &addr, &range);
	asahi_bind_note_gone(ctx, addr, range);

	/* Each address shows the same page, and not the one behind it. */
	if (vma->single && remap->next)
		remap->next->gem.offset = va->gem.offset;

	prev = asahi_vma_take_part(ctx, remap->prev, vma);
	next = asahi_vma_take_part(ctx, remap->next, vma);
	drm_gpuva_remap(prev, next, remap);
	if (prev)
		asahi_vma_link(prev, va->vm_bo);
	if (next)
		asahi_vma_link(next, va->vm_bo);

	drm_gpuva_unlink_defer(va);
	asahi_vma_put(&ctx->spare, vma);
	return 0;
}

static int asahi_vm_step_unmap(struct drm_gpuva_op *op, void *priv)
{
	struct asahi_bind_ctx *ctx = priv;
	struct drm_gpuva *va = op->unmap.va;

	asahi_bind_note_gone(ctx, va->va.addr, va->va.range);
	drm_gpuva_unmap(&op->unmap);
	drm_gpuva_unlink_defer(va);
	asahi_vma_put(&ctx->spare, to_asahi_vma(va));
	return 0;
}

/* A client decides how many there are, so it pays for them. */
static struct drm_gpuvm_bo *asahi_vm_bo_alloc(void)
{
	return kzalloc_obj(struct drm_gpuvm_bo, GFP_KERNEL_ACCOUNT);
}

/* Locks the object's reservation. */
static void asahi_vm_bo_free(struct drm_gpuvm_bo *vm_bo)
{
	asahi_lru_place(vm_bo->obj);
	kfree(vm_bo);
}

const struct drm_gpuvm_ops asahi_vm_ops = {
	.vm_free = asahi_vm_free,
	.vm_bo_alloc = asahi_vm_bo_alloc,
	.vm_bo_free = asahi_vm_bo_free,
	.vm_bo_validate = asahi_evict_restore,
	.sm_step_remap = asahi_vm_step_remap,
	.sm_step_unmap = asahi_vm_step_unmap,
};

static struct drm_gpuvm_bo *asahi_bind_find_bo(struct asahi_vm *vm,
					       struct drm_gem_object *obj)
{
	guard(mutex)(&obj->gpuva.lock);
	return drm_gpuvm_bo_find(&vm->base, obj);
}

static struct drm_gpuvm_bo *asahi_bind_get_bo(struct asahi_vm *vm,
					      struct drm_gem_object *obj)
{
	struct drm_gpuvm_bo *vm_bo;
	int ret;

	lockdep_assert_held(&vm->lock);

	vm_bo = asahi_bind_find_bo(vm, obj);
	if (vm_bo)
		return vm_bo;

	vm_bo = drm_gpuvm_bo_create(&vm->base, obj);
	if (!vm_bo)
		return ERR_PTR(-ENOMEM);

	vm_bo = drm_gpuvm_bo_obtain_prealloc(vm_bo);
	asahi_lru_place(obj);
	if (!drm_gpuvm_is_extobj(&vm->base, obj))
		return vm_bo;

	ret = dma_resv_lock_interruptible(drm_gpuvm_resv(&vm->base), NULL);
	if (ret) {
		drm_gpuvm_bo_put_deferred(vm_bo);
		return ERR_PTR(ret);
	}

	drm_gpuvm_bo_extobj_add(vm_bo);
	dma_resv_unlock(drm_gpuvm_resv(&vm->base));
	return vm_bo;
}

/* The bind that has the references of a row of binds of the same object. */
static bool asahi_bind_is_first(const struct asahi_bind_ctx *ctx, const struct asahi_bind *bind)
{
	return bind == ctx->binds || bind[-1].obj != bind->obj;
}

static int asahi_bind_lookup(struct asahi_bind_ctx *ctx, struct asahi_bind *bind,
			     struct asahi_file *afile)
{
	struct drm_device *drm = &ctx->vm->adev->drm;

	if (bind != ctx->binds && bind[-1].obj && bind[-1].handle == bind->handle) {
		bind->obj = bind[-1].obj;
		return 0;
	}

	bind->obj = drm_gem_object_lookup(afile->drm_file, bind->handle);
	if (!bind->obj) {
		drm_dbg(drm, "no object %u\n", bind->handle);
		return -ENOENT;
	}

	/* Another handle of the same object. */
	if (!asahi_bind_is_first(ctx, bind))
		drm_gem_object_put(bind->obj);
	return 0;
}

/* Finds the object of a bind and gets at its memory. */
static int asahi_bind_object(struct asahi_bind_ctx *ctx, struct asahi_bind *bind,
			     struct asahi_file *afile)
{
	u64 used = bind->single ? AGX_PAGE_SIZE : bind->range;
	struct drm_device *drm = &ctx->vm->adev->drm;
	struct drm_gem_object *obj, *resv_obj;
	int ret;

	ret = asahi_bind_lookup(ctx, bind, afile);
	if (ret)
		return ret;

	obj = bind->obj;
	if (bind->offset > obj->size || used > obj->size - bind->offset) {
		drm_dbg(drm, "%#llx + %#llx is beyond the object's %#zx\n",
			bind->offset, used, obj->size);
		return -EINVAL;
	}

	resv_obj = asahi_gem_resv_obj(obj);
	if (resv_obj && resv_obj != asahi_vm_resv_obj(ctx->vm)) {
		drm_dbg(drm, "object %u is private to another VM\n", bind->handle);
		return -EINVAL;
	}

	if (asahi_bind_is_first(ctx, bind))
		return asahi_gem_begin_bind(obj, bind->offset, &bind->piece);

	asahi_gem_find(obj, bind->offset, &bind->piece);
	return 0;
}

static void asahi_bind_put_object(const struct asahi_bind_ctx *ctx, const struct asahi_bind *bind)
{
	if (!asahi_bind_is_first(ctx, bind))
		return;

	if (bind->piece.sg)
		asahi_gem_end_bind(bind->obj);
	drm_gem_object_put(bind->obj);
}

static int asahi_bind_read_one(struct asahi_bind_ctx *ctx, struct asahi_file *afile,
			       const void __user *user, u32 stride)
{
	struct asahi_bind *bind = &ctx->binds[ctx->count];
	struct drm_device *drm = &ctx->vm->adev->drm;
	struct drm_asahi_gem_bind_op op;
	int ret;

	ret = copy_struct_from_user(&op, sizeof(op), user, stride);
	if (ret) {
		drm_dbg(drm, "bind %u cannot be read (%d)\n", ctx->count, ret);
		return ret;
	}

	ret = asahi_vm_bind_check(&op, ctx->vm->kernel_start, ctx->vm->kernel_end);
	if (ret) {
		drm_dbg(drm, "bind %u is malformed: flags %#x handle %u offset %#llx range %#llx addr %#llx\n",
			ctx->count, op.flags, op.handle, op.offset, op.range, op.addr);
		return ret;
	}

	/* More only replaces what comes before, and nobody could be killed meanwhile. */
	if (!(op.flags & (DRM_ASAHI_BIND_UNBIND | DRM_ASAHI_BIND_SINGLE_PAGE)))
		ctx->mapped += op.range;
	if (ctx->mapped > AGX_VA_USER_END - AGX_VA_USER_START) {
		drm_dbg(drm, "binds up to %u are larger than the address space\n", ctx->count);
		return -EINVAL;
	}

	bind->addr = op.addr;
	bind->range = op.range;
	bind->offset = op.offset;
	bind->handle = op.handle;
	bind->prot = asahi_bind_prot(op.flags);
	bind->single = op.flags & DRM_ASAHI_BIND_SINGLE_PAGE;
	if (ctx->count && bind->addr < bind[-1].addr + bind[-1].range)
		ctx->sorted = false;
	ctx->count++;

	if (op.flags & DRM_ASAHI_BIND_UNBIND)
		return 0;

	return asahi_bind_object(ctx, bind, afile);
}

/* Between two binds of a long list. */
static int asahi_bind_pause(void)
{
	cond_resched();
	return fatal_signal_pending(current) ? -EINTR : 0;
}

static int asahi_bind_read(struct asahi_bind_ctx *ctx, struct asahi_file *afile,
			   const struct drm_asahi_vm_bind *args)
{
	const u8 __user *user = u64_to_user_ptr(args->userptr);
	int ret;

	for (; ctx->count < args->num_binds; user += args->stride) {
		ret = asahi_bind_read_one(ctx, afile, user, args->stride);
		if (!ret)
			ret = asahi_bind_pause();
		if (ret)
			return ret;
	}

	return 0;
}

/* Needs memory only if the binds are in no order. */
static int asahi_bind_find_order(struct asahi_bind_ctx *ctx)
{
	struct asahi_range *range;

	ctx->disjoint = ctx->sorted;
	if (ctx->sorted)
		return 0;

	range = kvmalloc_objs(*range, ctx->count, GFP_KERNEL_ACCOUNT);
	if (!range)
		return -ENOMEM;

	for (u32 i = 0; i < ctx->count; i++) {
		range[i].start = ctx->binds[i].addr;
		range[i].end = ctx->binds[i].addr + ctx->binds[i].range;
	}
	ctx->disjoint = asahi_ranges_disjoint(range, ctx->count);
	kvfree(range);
	return 0;
}

/*
 * Looks at what is in the place of a bind. Returns the structures that it makes use of for
 * good: one to map, one to cut a mapping in two.
 */
static unsigned int asahi_bind_look(struct asahi_bind_ctx *ctx, struct asahi_bind *bind)
{
	unsigned int count = bind->obj ? 1 : 0;
	u64 end = bind->addr + bind->range;
	struct drm_gpuva *va;

	lockdep_assert_held(&ctx->vm->lock);

	/* By then, binds before it will have changed what is there. */
	bind->replaces = true;
	if (!ctx->disjoint) {
		ctx->cuts = true;
		return count + 1;
	}

	va = drm_gpuva_find_first(&ctx->vm->base, bind->addr, bind->range);
	if (!va) {
		bind->replaces = false;
		return count;
	}

	/* It is replaced or goes as a whole, and no other bind changes it before. */
	if (va->va.addr == bind->addr && va->va.range == bind->range) {
		bind->reuse = bind->obj ? to_asahi_vma(va) : NULL;
		return 0;
	}

	ctx->cuts = true;
	if (va->va.addr < bind->addr && va->va.addr + va->va.range > end)
		count++;
	return count;
}

static int asahi_bind_reserve_vmas(struct asahi_bind_ctx *ctx)
{
	unsigned int count = 0;

	for (u32 i = 0; i < ctx->count; i++) {
		count += asahi_bind_look(ctx, &ctx->binds[i]);
		cond_resched();
	}

	/* While a mapping is cut, its new structures are in use, and its old one is, too. */
	if (ctx->cuts)
		count++;

	return asahi_vma_alloc(&ctx->spare, count);
}

static int asahi_bind_reserve_tables(struct asahi_bind_ctx *ctx, const struct asahi_bind *bind)
{
	struct asahi_pgtable *pgt = &ctx->vm->as.pgt;

	if (bind->obj && !bind->single)
		return asahi_pgtable_reserve_sg(pgt, &ctx->pool, bind->addr, bind->piece.sg,
						bind->offset - bind->piece.start, bind->range);

	return asahi_pgtable_reserve(pgt, &ctx->pool, bind->addr, bind->range,
				     bind->obj ? ASAHI_PT_MAP_SINGLE : ASAHI_PT_UNMAP);
}

static int asahi_bind_reserve(struct asahi_bind_ctx *ctx)
{
	struct asahi_vm *vm = ctx->vm;
	const struct asahi_bind *bind;
	int ret;

	lockdep_assert_held(&vm->lock);
	lockdep_assert_held(&vm->as.lock);

	for (bind = ctx->binds; bind < ctx->binds + ctx->count; bind++) {
		ret = asahi_bind_reserve_tables(ctx, bind);
		if (!ret)
			ret = asahi_bind_pause();
		if (ret)
			return ret;
	}

	return 0;
}

/* Removes what is mapped where a bind will be. */
static void asahi_bind_clear(struct asahi_bind_ctx *ctx, const struct asahi_bind *bind)
{
	struct asahi_vm *vm = ctx->vm;
	struct asahi_range *gone = &ctx->gone;
	int ret;

	if (!bind->replaces)
		return;

	if (bind->reuse) {
		asahi_pgtable_unmap(&vm->as.pgt, &ctx->pool, bind->addr, bind->range);
		return;
	}

	*gone = (struct asahi_range) { .start = U64_MAX };
	ret = drm_gpuvm_sm_unmap(&vm->base, ctx, bind->addr, bind->range);
	/* The range was checked, and none of the steps fails. */
	drm_WARN_ON_ONCE(&vm->adev->drm, ret);

	if (gone->end)
		asahi_pgtable_unmap(&vm->as.pgt, &ctx->pool, gone->start, gone->end - gone->start);
}

static struct asahi_vma *asahi_bind_insert(struct asahi_bind_ctx *ctx,
					   const struct asahi_bind *bind)
{
	struct drm_gpuva_op_map map = {
		.va.addr = bind->addr,
		.va.range = bind->range,
		.gem.obj = bind->obj,
		.gem.offset = bind->offset,
	};
	struct asahi_vma *vma = asahi_vma_take(&ctx->spare);

	drm_gpuva_map(&ctx->vm->base, &vma->base, &map);
	asahi_vma_link(&vma->base, bind->vm_bo);
	return vma;
}

static struct asahi_vma *asahi_bind_reuse(const struct asahi_bind *bind)
{
	struct drm_gpuva *va = &bind->reuse->base;

	va->gem.offset = bind->offset;
	if (va->vm_bo != bind->vm_bo) {
		drm_gpuva_unlink_defer(va);
		va->gem.obj = bind->obj;
		asahi_vma_link(va, bind->vm_bo);
	}

	return bind->reuse;
}

static void asahi_bind_map(struct asahi_bind_ctx *ctx, const struct asahi_bind *bind)
{
	struct asahi_vm *vm = ctx->vm;
	struct asahi_vma *vma;

	if (!bind->obj)
		return;

	if (asahi_ranges_meet(&ctx->pool.flush, bind->addr, bind->addr + bind->range))
		asahi_aspace_flush(&vm->as, &ctx->pool);

	asahi_bind_write(ctx, bind);

	vma = bind->reuse ? asahi_bind_reuse(bind) : asahi_bind_insert(ctx, bind);
	vma->prot = bind->prot;
	vma->single = bind->single;
}

static void asahi_bind_commit(struct asahi_bind_ctx *ctx)
{
	const struct asahi_bind *bind;

	for (bind = ctx->binds; bind < ctx->binds + ctx->count; bind++) {
		asahi_bind_clear(ctx, bind);
		if (!ctx->disjoint)
			asahi_bind_map(ctx, bind);
		cond_resched();
	}

	if (!ctx->disjoint)
		return;

	/* The first that finds something in its place invalidates for all of them. */
	for (bind = ctx->binds; bind < ctx->binds + ctx->count; bind++) {
		asahi_bind_map(ctx, bind);
		cond_resched();
	}
}

static int asahi_bind_get_bos(struct asahi_bind_ctx *ctx)
{
	struct asahi_bind *bind;
	struct drm_gpuvm_bo *vm_bo;

	for (bind = ctx->binds; bind < ctx->binds + ctx->count; bind++) {
		if (!bind->obj)
			continue;

		if (!asahi_bind_is_first(ctx, bind)) {
			bind->vm_bo = bind[-1].vm_bo;
			continue;
		}

		vm_bo = asahi_bind_get_bo(ctx->vm, bind->obj);
		if (IS_ERR(vm_bo))
			return PTR_ERR(vm_bo);
		bind->vm_bo = vm_bo;
	}

	return 0;
}

/*
 * This lets go of memory, and of what others have put onto the list too. They
 * hold the lock until they have invalidated it.
 */
static void asahi_bind_put_bos(struct asahi_bind_ctx *ctx)
{
	lockdep_assert_held(&ctx->vm->lock);

	for (u32 i = 0; i < ctx->count; i++)
		if (asahi_bind_is_first(ctx, &ctx->binds[i]))
			drm_gpuvm_bo_put_deferred(ctx->binds[i].vm_bo);

	drm_gpuvm_bo_deferred_cleanup(&ctx->vm->base);
}

static int asahi_bind_change(struct asahi_bind_ctx *ctx)
{
	struct asahi_vm *vm = ctx->vm;
	int ret;

	guard(mutex)(&vm->as.lock);

	asahi_aspace_begin(&vm->as, &ctx->pool);
	ret = asahi_bind_reserve(ctx);
	if (!ret) {
		asahi_aspace_split(&vm->as, &ctx->pool);
		asahi_bind_commit(ctx);
	}
	asahi_aspace_end(&vm->as, &ctx->pool);
	return ret;
}

static int asahi_bind_apply(struct asahi_bind_ctx *ctx)
{
	int ret;

	guard(mutex)(&ctx->vm->lock);

	ret = asahi_bind_get_bos(ctx);
	if (!ret)
		ret = asahi_bind_reserve_vmas(ctx);
	if (!ret)
		ret = asahi_bind_change(ctx);
	asahi_bind_put_bos(ctx);
	return ret;
}

static int asahi_bind_run(struct asahi_vm *vm, struct asahi_file *afile,
			  const struct drm_asahi_vm_bind *args)
{
	struct asahi_bind_ctx ctx = { .vm = vm, .sorted = true };
	int ret;

	INIT_LIST_HEAD(&ctx.spare);
	ctx.binds = kvzalloc_objs(*ctx.binds, args->num_binds, GFP_KERNEL_ACCOUNT);
	if (!ctx.binds)
		return -ENOMEM;

	ret = asahi_bind_read(&ctx, afile, args);
	if (!ret)
		ret = asahi_bind_find_order(&ctx);
	if (!ret)
		ret = asahi_bind_apply(&ctx);

	asahi_vma_free_list(&ctx.spare);
	for (u32 i = 0; i < ctx.count; i++)
		asahi_bind_put_object(&ctx, &ctx.binds[i]);
	kvfree(ctx.binds);
	return ret;
}

static int asahi_bind_all(struct asahi_file *afile, const struct drm_asahi_vm_bind *args)
{
	struct drm_device *drm = &afile->adev->drm;
	struct asahi_vm *vm;
	int ret = 0;

	if (args->stride < sizeof(struct drm_asahi_gem_bind_op) ||
	    args->stride > ASAHI_VM_MAX_BIND_STRIDE ||
	    args->num_binds > ASAHI_VM_MAX_BINDS) {
		drm_dbg(drm, "%u binds of %u bytes\n", args->num_binds, args->stride);
		return -EINVAL;
	}

	if (asahi_state_lost(afile->adev))
		return -ENODEV;

	vm = asahi_vm_lookup(afile, args->vm_id);
	if (!vm) {
		drm_dbg(drm, "no VM %u\n", args->vm_id);
		return -ENOENT;
	}

	asahi_vm_wait_dump(vm);
	if (args->num_binds)
		ret = asahi_bind_run(vm, afile, args);

	asahi_vm_put(vm);
	return ret;
}

/**
 * asahi_vm_bind() - Apply an array of binds, all of them or none
 * @afile: file that owns the address space
 * @args: ioctl arguments; the flags and pads of @args are checked by the caller
 *
 * Synchronous: when it returns, the GPU sees the new translations. Does not
 * wait for jobs, but for a core dump of one.
 *
 * Context: process context (ioctl).
 * Return: 0; -EINVAL for a bad stride, count or bind; -E2BIG for a longer form
 * of a bind whose unknown part is not zero; -EFAULT; -ENOENT for an unknown
 * address space or object; -ENOMEM; -EINTR; -ENODEV. On any error nothing was
 * changed.
 */
int asahi_vm_bind(struct asahi_file *afile, const struct drm_asahi_vm_bind *args)
{
	u64 client = asahi_client_id(afile->client);
	int ret;

	trace_asahi_vm_bind_start(afile->adev, client, args->vm_id, args->num_binds);
	ret = asahi_bind_all(afile, args);
	trace_asahi_vm_bind(afile->adev, client, args->vm_id, args->num_binds, ret);

	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_vm_bind);

static void asahi_vma_drop(struct drm_gpuva *va)
{
	drm_gpuva_remove(va);
	drm_gpuva_unlink_defer(va);
	asahi_vma_free(to_asahi_vma(va));
}

/**
 * asahi_vm_unmap_all() - Drop all mappings of objects
 * @vm: address space whose context has been taken away
 */
void asahi_vm_unmap_all(struct asahi_vm *vm)
{
	struct drm_gpuva *va, *next;

	/* The pages may be free when this returns, whoever might still find them. */
	drm_WARN_ON_ONCE(&vm->adev->drm, READ_ONCE(vm->as.slot) != ASAHI_ASPACE_NO_SLOT);
	guard(mutex)(&vm->lock);

	/* Eviction walks the mappings of each address space that an object is in. */
	scoped_guard(mutex, &vm->as.lock)
		drm_gpuvm_for_each_va_safe(va, next, &vm->base)
			if (va != &vm->base.kernel_alloc_node)
				asahi_vma_drop(va);

	drm_gpuvm_bo_deferred_cleanup(&vm->base);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_vm_unmap_all);

/* Whole mappings never need a table, so unlike a bind this cannot fail. */
static void asahi_vm_unmap_object(struct asahi_vm *vm, struct drm_gem_object *obj)
{
	struct drm_gpuva *va, *next;
	struct drm_gpuvm_bo *vm_bo;
	struct asahi_pt_pool pool;

	guard(mutex)(&vm->lock);

	vm_bo = asahi_bind_find_bo(vm, obj);
	if (!vm_bo)
		return;

	scoped_guard(mutex, &vm->as.lock) {
		asahi_aspace_begin(&vm->as, &pool);
		drm_gpuvm_bo_for_each_va_safe(va, next, vm_bo) {
			asahi_pgtable_unmap(&vm->as.pgt, &pool, va->va.addr, va->va.range);
			asahi_vma_drop(va);
		}
		asahi_aspace_end(&vm->as, &pool);
	}

	drm_gpuvm_bo_put_deferred(vm_bo);
	drm_gpuvm_bo_deferred_cleanup(&vm->base);
}

/* One of the owner's address spaces that maps the object, with a reference. */
static struct drm_gpuvm *asahi_vm_find_mapping(u64 owner, struct drm_gem_object *obj)
{
	struct drm_gpuvm_bo *vm_bo;

	guard(mutex)(&obj->gpuva.lock);

	drm_gem_for_each_gpuvm_bo(vm_bo, obj)
		if (to_asahi_vm(vm_bo->vm)->owner == owner &&
		    !list_empty(&vm_bo->list.gpuva))
			return drm_gpuvm_get(vm_bo->vm);

	return NULL;
}

/**
 * asahi_vm_close_object() - Unmap an object from all address spaces of a file
 * @owner: client ID of the file that closes its handle
 * @obj: the object
 *
 * Context: process context.
 */
void asahi_vm_close_object(u64 owner, struct drm_gem_object *obj)
{
	struct drm_gpuvm *gpuvm;

	while ((gpuvm = asahi_vm_find_mapping(owner, obj))) {
		asahi_vm_wait_dump(to_asahi_vm(gpuvm));
		asahi_vm_unmap_object(to_asahi_vm(gpuvm), obj);
		drm_gpuvm_put(gpuvm);
	}
}
