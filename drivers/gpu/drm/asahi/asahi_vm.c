// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * GPU address spaces: their lifetime, the kernel's own memory in them, and what
 * jobs need of them.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/atomic.h>
#include <linux/cleanup.h>
#include <linux/dma-resv.h>
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/sizes.h>
#include <linux/wait.h>
#include <linux/xarray.h>

#include <kunit/visibility.h>

#include <drm/drm_print.h>

#include <agx/agx_uat.h>

#include "asahi_aspace.h"
#include "asahi_debugfs.h"
#include "asahi_device.h"
#include "asahi_drv.h"
#include "asahi_heap.h"
#include "asahi_lru.h"
#include "asahi_uat.h"
#include "asahi_vm.h"
#include "asahi_vm_bind.h"
#include "asahi_vm_priv.h"

/**
 * DOC: Address spaces
 *
 * An address space has a range that user space manages with VM_BIND, and a
 * smaller one inside it for the kernel, half of it for memory that the GPU
 * sees, half for memory that the firmware sees as well.
 *
 * There are two reference counts. References to &struct asahi_vm keep the
 * mappings; the file's table of IDs, queues and running ioctls have them. When
 * the last one is gone the hardware context is taken away, then everything is
 * unmapped and the tables are freed. &struct drm_gpuvm has its own count, which
 * the mappings hold, and which only keeps the memory of the structure.
 *
 * What a client unmapped the GPU does not find any more when the ioctl returns, and
 * tables that are not needed are free. The pages of an object are its own as long as
 * there is a handle or a mapping, and then until work in flight is complete (see
 * "Buffer objects").
 *
 * Objects private to an address space share its reservation, so a job adds its
 * fence once for all of them, and once for each other object.
 */

/*
 * Both heaps are cut to what a table of level 3 translates, so that none has anything of the
 * client (asahi_aspace_init_view()). That is also enough for the largest block that the
 * firmware knows of, a page of the tiled vertex buffer.
 */
#define ASAHI_VM_HEAP_ALIGN	BIT_ULL(AGX_UAT_L2_SHIFT)

/* Heaps of VMs grow in steps from this on, since most of them are small. */
#define ASAHI_VM_BLOCK_MIN	SZ_64K

/*
 * Address spaces that a file may have. Each takes about 130 KiB, most of them for
 * page tables; a client needs one for each of its contexts.
 */
#define ASAHI_VM_MAX_PER_FILE	1024

/* How long a client waits until its mappings have been dumped. */
#define ASAHI_VM_DUMP_WAIT_MS 2000

static struct asahi_heap *asahi_vm_create_heap(struct asahi_vm *vm, const char *name, u64 start,
					       u64 end, enum asahi_prot prot)
{
	const struct asahi_heap_args args = {
		.name = name,
		.start = start,
		.end = end,
		.prot = prot,
		.mmu = &asahi_heap_mmu_aspace,
		.mmu_priv = &vm->as,
		.block_min = ASAHI_VM_BLOCK_MIN,
		.keep = ASAHI_VM_BLOCK_MIN,
	};

	return asahi_heap_create(vm->adev->heaps, &args);
}

static int asahi_vm_create_heaps(struct asahi_vm *vm)
{
	u64 start = ALIGN(vm->kernel_start, ASAHI_VM_HEAP_ALIGN);
	u64 end = ALIGN_DOWN(vm->kernel_end, ASAHI_VM_HEAP_ALIGN);
	u64 half = start + ALIGN_DOWN((end - start) / 2, ASAHI_VM_HEAP_ALIGN);
	struct asahi_heap *heap;
	int ret;

	ret = asahi_aspace_init_view(&vm->as, start, end);
	if (ret)
		return ret;

	heap = asahi_vm_create_heap(vm, "VM GPU", start, half, ASAHI_PROT_GPU_SHARED_RW);
	if (IS_ERR(heap))
		return PTR_ERR(heap);
	vm->heap_gpu = heap;

	heap = asahi_vm_create_heap(vm, "VM GPU and firmware", half, end,
				    ASAHI_PROT_GPU_FW_PRIV_RW);
	if (IS_ERR(heap))
		return PTR_ERR(heap);
	vm->heap_priv = heap;

	return 0;
}

static int asahi_vm_map_dummy(struct asahi_vm *vm)
{
	int ret;

	ret = asahi_heap_alloc(vm->heap_gpu, AGX_PAGE_SIZE, AGX_PAGE_SIZE, &vm->dummy);
	if (ret)
		return ret;

	return asahi_aspace_map(&vm->as, AGX_VA_DUMMY_PAGE, asahi_heap_dma_addr(&vm->dummy),
				AGX_PAGE_SIZE, ASAHI_PROT_GPU_SHARED_RW);
}

static void asahi_vm_unmap_dummy(struct asahi_vm *vm)
{
	asahi_aspace_unmap(&vm->as, AGX_VA_DUMMY_PAGE, AGX_PAGE_SIZE, ASAHI_PROT_GPU_SHARED_RW);
	asahi_heap_free(&vm->dummy);
}

/**
 * asahi_vm_free() - &drm_gpuvm_ops.vm_free
 * @gpuvm: base of the address space
 */
void asahi_vm_free(struct drm_gpuvm *gpuvm)
{
	struct asahi_vm *vm = to_asahi_vm(gpuvm);

	mutex_destroy(&vm->lock);
	asahi_lru_free_vm(vm);
	asahi_count_dec(ASAHI_COUNT_VM);
}

static void asahi_vm_join(struct asahi_vm *vm)
{
	struct asahi_vm_list *list = &vm->adev->vms;

	guard(mutex)(&list->lock);
	list_add_tail(&vm->link, &list->live);
}

static void asahi_vm_leave(struct asahi_vm *vm)
{
	struct asahi_vm_list *list = &vm->adev->vms;

	guard(mutex)(&list->lock);
	list_del(&vm->link);
}

static void asahi_vm_release(struct kref *kref)
{
	struct asahi_vm *vm = container_of(kref, struct asahi_vm, users);

	asahi_vm_leave(vm);

	/* Flushes what the firmware has cached while it can still find it. */
	asahi_vm_unmap_dummy(vm);
	asahi_heap_destroy(vm->heap_priv);
	asahi_heap_destroy(vm->heap_gpu);

	/* From here on nothing walks the tables, nor has anything cached. */
	asahi_uat_detach(&vm->as);
	asahi_vm_unmap_all(vm);
	asahi_lru_fini_vm(vm);
	asahi_aspace_fini(&vm->as);
	drm_gpuvm_put(&vm->base);
}

/**
 * asahi_vm_get() - Take a reference
 * @vm: address space to which the caller has a reference already
 *
 * Return: @vm.
 */
struct asahi_vm *asahi_vm_get(struct asahi_vm *vm)
{
	kref_get(&vm->users);
	return vm;
}

/**
 * asahi_vm_put() - Drop a reference
 * @vm: address space, or NULL
 *
 * The last one takes the hardware context away, unmaps everything and frees the
 * page tables.
 *
 * Context: process context; sleeps and takes reservation locks. Must not be
 * called where a fence depends on it, so not from run_job() or free_job().
 */
void asahi_vm_put(struct asahi_vm *vm)
{
	might_sleep();

	if (vm)
		kref_put(&vm->users, asahi_vm_release);
}

/**
 * asahi_vm_begin_dump() - a core dump is going to read the mappings
 * @vm: address space that a job of the dump keeps
 *
 * Until asahi_vm_end_dump() its client waits before it changes a mapping. Any context,
 * the critical section of fences too: nothing is waited for here.
 */
void asahi_vm_begin_dump(struct asahi_vm *vm)
{
	atomic_inc(&vm->dumps);
}

/**
 * asahi_vm_end_dump() - undo asahi_vm_begin_dump()
 * @vm: address space
 *
 * Any context.
 */
void asahi_vm_end_dump(struct asahi_vm *vm)
{
	if (atomic_dec_and_test(&vm->dumps))
		wake_up_all(&vm->dumped);
}

/**
 * asahi_vm_wait_dump() - wait until no core dump is going to read the mappings
 * @vm: address space whose mappings are about to change
 *
 * Gives up after ASAHI_VM_DUMP_WAIT_MS, or when the task is killed: then the dump shows
 * the change. No fence waits for this. Process context, without the lock of @vm.
 */
void asahi_vm_wait_dump(struct asahi_vm *vm)
{
	lockdep_assert_not_held(&vm->lock);

	wait_event_killable_timeout(vm->dumped, !atomic_read(&vm->dumps),
				    msecs_to_jiffies(ASAHI_VM_DUMP_WAIT_MS));
}

/**
 * asahi_vm_lookup() - Find an address space by its ID
 * @afile: file that owns it
 * @id: its ID
 *
 * Return: the address space with a reference, or NULL.
 */
struct asahi_vm *asahi_vm_lookup(struct asahi_file *afile, u32 id)
{
	struct asahi_vm *vm;

	guard(spinlock)(&afile->vms.xa_lock);

	vm = xa_load(&afile->vms, id);
	return vm ? asahi_vm_get(vm) : NULL;
}

/* On success the base has its reference, and asahi_vm_put() is the way out. */
VISIBLE_IF_KUNIT struct asahi_vm *asahi_vm_alloc(struct asahi_file *afile, u64 kernel_start,
						 u64 kernel_end)
{
	struct asahi_device *adev = afile->adev;
	struct drm_gem_object *resv_obj;
	struct asahi_vm *vm;
	int ret;

	vm = asahi_lru_alloc_vm(adev);
	if (!vm)
		return ERR_PTR(-ENOMEM);

	resv_obj = drm_gpuvm_resv_object_alloc(&adev->drm);
	if (!resv_obj) {
		ret = -ENOMEM;
		goto err_free;
	}

	ret = asahi_aspace_init(&vm->as, adev);
	if (ret)
		goto err_put_resv;

	vm->adev = adev;
	vm->owner = afile->drm_file->client_id;
	vm->kernel_start = kernel_start;
	vm->kernel_end = kernel_end;
	kref_init(&vm->users);
	INIT_LIST_HEAD(&vm->link);
	mutex_init(&vm->lock);
	atomic_set(&vm->dumps, 0);
	init_waitqueue_head(&vm->dumped);
	asahi_slot_client_init(&vm->slot, ASAHI_SLOT_VM);
	asahi_count_inc(ASAHI_COUNT_VM);

	/* The base takes its own reference to resv_obj. */
	drm_gpuvm_init(&vm->base, "asahi",
		       DRM_GPUVM_RESV_PROTECTED | DRM_GPUVM_IMMEDIATE_MODE,
		       &adev->drm, resv_obj, AGX_VA_USER_START,
		       AGX_VA_USER_END - AGX_VA_USER_START, kernel_start,
		       kernel_end - kernel_start, &asahi_vm_ops);
	drm_gem_object_put(resv_obj);
	asahi_lru_init_vm(vm);

	return vm;

err_put_resv:
	drm_gem_object_put(resv_obj);
err_free:
	asahi_lru_free_vm(vm);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_vm_alloc);

static bool asahi_vm_kernel_range_ok(u64 start, u64 end)
{
	return IS_ALIGNED(start | end, AGX_PAGE_SIZE) &&
	       start >= AGX_VA_USER_START && end <= AGX_VA_USER_END &&
	       end > start && end - start >= AGX_VM_KERNEL_MIN_SIZE;
}

/**
 * asahi_vm_create() - Make an address space
 * @afile: file that owns it
 * @kernel_start: start of the range that the kernel may use
 * @kernel_end: end of that range, exclusive
 * @id: where its ID goes, 1 or more
 *
 * Context: process context (ioctl).
 * Return: 0; -EINVAL for a range that is unaligned, too small or outside the
 * user half; -ENOMEM; -ENODEV when the device is gone.
 */
int asahi_vm_create(struct asahi_file *afile, u64 kernel_start, u64 kernel_end,
		    u32 *id)
{
	struct asahi_device *adev = afile->adev;
	struct asahi_vm *vm;
	int ret;

	if (!asahi_vm_kernel_range_ok(kernel_start, kernel_end)) {
		drm_dbg(&adev->drm, "bad kernel range %#llx..%#llx\n",
			kernel_start, kernel_end);
		return -EINVAL;
	}

	if (asahi_state_lost(adev))
		return -ENODEV;

	vm = asahi_vm_alloc(afile, kernel_start, kernel_end);
	if (IS_ERR(vm))
		return PTR_ERR(vm);

	ret = asahi_vm_create_heaps(vm);
	if (!ret)
		ret = asahi_vm_map_dummy(vm);
	if (!ret)
		asahi_vm_join(vm);
	if (!ret)
		ret = xa_alloc(&afile->vms, id, vm, XA_LIMIT(1, ASAHI_VM_MAX_PER_FILE),
			       GFP_KERNEL_ACCOUNT);
	if (ret)
		asahi_vm_put(vm);

	/* That is how xa_alloc() says that there is no free ID. */
	return ret == -EBUSY ? -ENOSPC : ret;
}

/**
 * asahi_vm_destroy() - Drop a file's reference to an address space
 * @afile: file that owns it
 * @id: its ID
 *
 * Queues keep the address space, with all its mappings, until they are gone.
 *
 * Context: process context (ioctl).
 * Return: 0, or -ENOENT.
 */
int asahi_vm_destroy(struct asahi_file *afile, u32 id)
{
	struct asahi_vm *vm;

	vm = xa_erase(&afile->vms, id);
	if (!vm) {
		drm_dbg(&afile->adev->drm, "no VM %u\n", id);
		return -ENOENT;
	}

	asahi_vm_put(vm);
	return 0;
}

/**
 * asahi_vm_file_close() - Drop all of a file's address spaces
 * @afile: file that is being closed; nobody else uses it
 *
 * Context: process context. Comes after asahi_queue_file_close().
 */
void asahi_vm_file_close(struct asahi_file *afile)
{
	struct asahi_vm *vm;
	unsigned long id;

	xa_for_each(&afile->vms, id, vm) {
		xa_erase(&afile->vms, id);
		asahi_vm_put(vm);
	}
}

/**
 * asahi_vm_aspace() - The translations of an address space
 * @vm: address space
 *
 * Return: its page tables and hardware context, valid as long as @vm.
 */
struct asahi_aspace *asahi_vm_aspace(struct asahi_vm *vm)
{
	return &vm->as;
}

/**
 * asahi_vm_slot_client() - An address space's claim on a hardware context
 * @vm: address space
 *
 * Return: the claim, valid as long as @vm.
 */
struct asahi_slot_client *asahi_vm_slot_client(struct asahi_vm *vm)
{
	return &vm->slot;
}

/**
 * asahi_vm_heap_gpu() - Kernel memory that the GPU sees in an address space
 * @vm: address space
 *
 * Return: the heap, valid as long as @vm.
 */
struct asahi_heap *asahi_vm_heap_gpu(struct asahi_vm *vm)
{
	return vm->heap_gpu;
}

/**
 * asahi_vm_heap_priv() - Kernel memory that GPU and firmware see
 * @vm: address space
 *
 * The firmware's processor caches it.
 *
 * Return: the heap, valid as long as @vm.
 */
struct asahi_heap *asahi_vm_heap_priv(struct asahi_vm *vm)
{
	return vm->heap_priv;
}

/**
 * asahi_vm_resv_obj() - The object whose reservation private objects share
 * @vm: address space
 *
 * Return: borrowed; who keeps it takes a reference.
 */
struct drm_gem_object *asahi_vm_resv_obj(struct asahi_vm *vm)
{
	return drm_gpuvm_resv_obj(&vm->base);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_vm_resv_obj);

/*
 * Most address spaces have private objects only. One lock is enough then, and drm_exec
 * would allocate a list for it. Returns 1, with nothing locked, if there are others.
 */
static int asahi_vm_lock_alone(struct asahi_vm *vm)
{
	struct dma_resv *resv = drm_gpuvm_resv(&vm->base);
	int ret;

	ret = dma_resv_lock_interruptible(resv, NULL);
	if (ret)
		return ret;

	/* The list is protected by this lock. */
	ret = list_empty(&vm->base.extobj.list) ? dma_resv_reserve_fences(resv, 1) : 1;
	if (!ret)
		ret = drm_gpuvm_validate(&vm->base, NULL);
	if (ret)
		dma_resv_unlock(resv);
	return ret;
}

static int asahi_vm_lock_all(struct asahi_vm *vm, struct drm_exec *exec)
{
	int ret;

	drm_exec_init(exec, DRM_EXEC_INTERRUPTIBLE_WAIT | DRM_EXEC_IGNORE_DUPLICATES, 0);
	drm_exec_until_all_locked(exec) {
		ret = drm_gpuvm_prepare_vm(&vm->base, exec, 1);
		if (!ret)
			ret = drm_gpuvm_prepare_objects(&vm->base, exec, 1);
		drm_exec_retry_on_contention(exec);
		if (ret)
			break;
	}
	if (!ret)
		ret = drm_gpuvm_validate(&vm->base, exec);
	if (ret)
		drm_exec_fini(exec);
	return ret;
}

/**
 * asahi_vm_lock_submit() - Lock the reservations that a job has to be added to
 * @vm: address space that the job runs in
 * @lock: undefined before, and after an error
 *
 * Covers the reservation that @vm shares with its private objects, and those of all other
 * objects mapped in it. There is room for one fence in each of them, and all of them have
 * their memory, which stays until they are unlocked.
 *
 * Return: 0, -EINTR, -ENOMEM.
 */
int asahi_vm_lock_submit(struct asahi_vm *vm, struct asahi_vm_lock *lock)
{
	int ret = asahi_vm_lock_alone(vm);

	lock->alone = ret <= 0;
	return lock->alone ? ret : asahi_vm_lock_all(vm, &lock->exec);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_vm_lock_submit);

/**
 * asahi_vm_unlock_submit() - Undo asahi_vm_lock_submit()
 * @vm: address space
 * @lock: what locks it
 */
void asahi_vm_unlock_submit(struct asahi_vm *vm, struct asahi_vm_lock *lock)
{
	if (lock->alone)
		dma_resv_unlock(drm_gpuvm_resv(&vm->base));
	else
		drm_exec_fini(&lock->exec);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_vm_unlock_submit);

/**
 * asahi_vm_add_fence() - Add a job's fence to all locked reservations
 * @vm: address space that the job runs in
 * @lock: what locks it
 * @fence: the job's finished fence
 *
 * As DMA_RESV_USAGE_BOOKKEEP: implicit synchronisation does not see it, whoever
 * wants to move or free the memory does. Never fails.
 */
void asahi_vm_add_fence(struct asahi_vm *vm, struct asahi_vm_lock *lock,
			struct dma_fence *fence)
{
	if (lock->alone)
		dma_resv_add_fence(drm_gpuvm_resv(&vm->base), fence, DMA_RESV_USAGE_BOOKKEEP);
	else
		drm_gpuvm_resv_add_fence(&vm->base, &lock->exec, fence,
					 DMA_RESV_USAGE_BOOKKEEP, DMA_RESV_USAGE_BOOKKEEP);

	WRITE_ONCE(vm->reclaim.used, jiffies);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_vm_add_fence);
