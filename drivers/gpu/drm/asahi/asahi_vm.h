/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * GPU address spaces.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_VM_H
#define ASAHI_VM_H

#include <linux/types.h>

struct asahi_device;
struct asahi_file;
struct asahi_heap;
struct asahi_slot_client;
struct asahi_uat_vm;
struct asahi_vm;
struct dma_fence;
struct drm_asahi_gem_bind_op;
struct drm_asahi_vm_bind;
struct drm_exec;
struct drm_gem_object;
struct drm_printer;

/* Most binds that one DRM_IOCTL_ASAHI_VM_BIND takes. */
#define ASAHI_VM_MAX_BINDS		65536
/* Longest form of a bind that is taken. */
#define ASAHI_VM_MAX_BIND_STRIDE	4096

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
		    u32 *id);

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
int asahi_vm_destroy(struct asahi_file *afile, u32 id);

/**
 * asahi_vm_file_close() - Drop all of a file's address spaces
 * @afile: file that is being closed; nobody else uses it
 *
 * Context: process context. Comes after asahi_queue_file_close().
 */
void asahi_vm_file_close(struct asahi_file *afile);

/**
 * asahi_vm_bind() - Apply an array of binds, all of them or none
 * @afile: file that owns the address space
 * @args: ioctl arguments; the flags and pads of @args are checked by the caller
 *
 * Synchronous: when it returns, the GPU sees the new translations, and pages
 * that are mapped nowhere any more are free. Does not wait for jobs.
 *
 * Context: process context (ioctl).
 * Return: 0; -EINVAL for a bad stride, count or bind; -E2BIG for a longer form
 * of a bind whose unknown part is not zero; -EFAULT; -ENOENT for an unknown
 * address space or object; -ENOMEM; -EINTR; -ENODEV. On any error nothing was
 * changed.
 */
int asahi_vm_bind(struct asahi_file *afile, const struct drm_asahi_vm_bind *args);

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
			u64 kernel_end);

/**
 * asahi_vm_lookup() - Find an address space by its ID
 * @afile: file that owns it
 * @id: its ID
 *
 * Return: the address space with a reference, or NULL.
 */
struct asahi_vm *asahi_vm_lookup(struct asahi_file *afile, u32 id);

/**
 * asahi_vm_get() - Take a reference
 * @vm: address space to which the caller has a reference already
 *
 * Return: @vm.
 */
struct asahi_vm *asahi_vm_get(struct asahi_vm *vm);

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
void asahi_vm_put(struct asahi_vm *vm);

/**
 * asahi_vm_uat() - The hardware context of an address space
 * @vm: address space
 *
 * Return: its context, valid as long as @vm.
 */
struct asahi_uat_vm *asahi_vm_uat(struct asahi_vm *vm);

/**
 * asahi_vm_slot_client() - An address space's claim on a hardware context
 * @vm: address space
 *
 * Return: the claim, valid as long as @vm.
 */
struct asahi_slot_client *asahi_vm_slot_client(struct asahi_vm *vm);

/**
 * asahi_vm_heap_gpu() - Kernel memory that the GPU sees in an address space
 * @vm: address space
 *
 * Return: the heap, valid as long as @vm.
 */
struct asahi_heap *asahi_vm_heap_gpu(struct asahi_vm *vm);

/**
 * asahi_vm_heap_priv() - Kernel memory that GPU and firmware see
 * @vm: address space
 *
 * The firmware's processor caches it.
 *
 * Return: the heap, valid as long as @vm.
 */
struct asahi_heap *asahi_vm_heap_priv(struct asahi_vm *vm);

/**
 * asahi_vm_prepare_submit() - Lock the reservations that a job has to be added to
 * @vm: address space that the job runs in
 * @exec: locking context, initialised with DRM_EXEC_IGNORE_DUPLICATES
 * @num_fences: fences to reserve room for in each of them
 *
 * To be called inside drm_exec_until_all_locked(), followed by
 * drm_exec_retry_on_contention(). Covers the reservation that @vm shares with
 * its private objects, and those of all other objects mapped in it.
 *
 * Return: 0, -EINTR, -ENOMEM; -EDEADLK is handled by
 * drm_exec_retry_on_contention().
 */
int asahi_vm_prepare_submit(struct asahi_vm *vm, struct drm_exec *exec,
			    unsigned int num_fences);

/**
 * asahi_vm_add_fence() - Add a job's fence to all locked reservations
 * @vm: address space that the job runs in
 * @exec: locking context after asahi_vm_prepare_submit()
 * @fence: the job's finished fence
 *
 * As DMA_RESV_USAGE_BOOKKEEP: implicit synchronisation does not see it, whoever
 * wants to move or free the memory does. Never fails.
 */
void asahi_vm_add_fence(struct asahi_vm *vm, struct drm_exec *exec,
			struct dma_fence *fence);

/**
 * asahi_vm_close_object() - Unmap an object from all address spaces of a file
 * @owner: client ID of the file that closes its handle
 * @obj: the object
 *
 * Context: process context.
 */
void asahi_vm_close_object(u64 owner, struct drm_gem_object *obj);

/**
 * asahi_vm_resv_obj() - The object whose reservation private objects share
 * @vm: address space
 *
 * Return: borrowed; who keeps it takes a reference.
 */
struct drm_gem_object *asahi_vm_resv_obj(struct asahi_vm *vm);

/**
 * asahi_vm_print() - Print the mappings of an address space
 * @vm: address space
 * @p: where to
 *
 * Context: process context.
 */
void asahi_vm_print(struct asahi_vm *vm, struct drm_printer *p);

#endif
