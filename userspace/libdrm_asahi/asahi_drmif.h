/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * libdrm_asahi: a small library over the asahi kernel interface.
 *
 * All objects are opaque and counted: *_new(), *_open() and *_import() return
 * one with a single reference, *_ref() takes another one, and *_unref() gives
 * one back and accepts NULL. An object keeps what it was made from alive.
 *
 * Functions that can fail return 0 or a negative errno value; what a pointer
 * argument receives is valid only after 0. Where an error is not named, it is
 * what the kernel answers to the ioctl (drm/asahi_drm.h), -ENOMEM without
 * memory, -ENODEV from everything once the device is gone. Calls that a signal
 * interrupts are made again.
 *
 * Objects may be used from several threads, except for struct asahi_submit,
 * which belongs to one at a time. Addresses and sizes are in bytes.
 *
 * Sync objects and buffer names are libdrm's business: use its drmSyncobj*()
 * and drmPrime*() functions with asahi_device_fd() and the handles.
 */
#ifndef ASAHI_DRMIF_H
#define ASAHI_DRMIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <drm/asahi_drm.h>

#ifdef __cplusplus
extern "C" {
#endif

/** ASAHI_PAGE_SIZE - what addresses and sizes of bindings are multiples of */
#define ASAHI_PAGE_SIZE		0x4000

struct asahi_bo;
struct asahi_device;
struct asahi_queue;
struct asahi_submit;
struct asahi_vm;

/* Device */

/**
 * asahi_device_new() - use a file descriptor of the driver
 * @fd: open render node; duplicated, the caller keeps its own
 * @dev: the device
 *
 * Handles belong to the open file, and the device counts them: make one device
 * of an open file, not two, and leave handles that came from elsewhere alone.
 *
 * Return: 0, -ENODEV if the node belongs to another driver, -EBADF, or another
 * error.
 */
int asahi_device_new(int fd, struct asahi_device **dev);

/**
 * asahi_device_open() - open a render node
 * @path: its path, or NULL for the first node of the driver
 * @dev: the device
 *
 * Return: 0, -ENODEV if it is none of the driver's or if there is none; with
 * NULL, the first other error (such as -EACCES) if no node could be used.
 */
int asahi_device_open(const char *path, struct asahi_device **dev);

/** asahi_device_ref() - take a reference. Return: the device */
struct asahi_device *asahi_device_ref(struct asahi_device *dev);
/** asahi_device_unref() - give one back; NULL is allowed */
void asahi_device_unref(struct asahi_device *dev);

/** asahi_device_fd() - the file descriptor, which the device keeps */
int asahi_device_fd(const struct asahi_device *dev);

/**
 * asahi_device_params() - what the driver says about the device
 * @dev: device
 *
 * Return: a structure that lives as long as the device. What the kernel does
 * not know yet is zero.
 */
const struct drm_asahi_params_global *
asahi_device_params(const struct asahi_device *dev);

/**
 * asahi_device_get_time() - the GPU's clock
 * @dev: device
 * @time_ns: nanoseconds
 */
int asahi_device_get_time(struct asahi_device *dev, uint64_t *time_ns);

/* Address spaces */

/** enum asahi_heap - parts of an address space */
enum asahi_heap {
	/** @ASAHI_HEAP_MAIN: everything but shaders */
	ASAHI_HEAP_MAIN,
	/** @ASAHI_HEAP_USC: shaders and shader words, 4 GiB */
	ASAHI_HEAP_USC,
	ASAHI_HEAP_COUNT,
};

/**
 * asahi_vm_new() - make an address space
 * @dev: device
 * @vm: the address space
 *
 * The kernel gets the least that it asks for, at the end; the page at 0 and
 * what else lies below ASAHI_HEAP_USC is never handed out.
 *
 * Return: 0, -ENOSPC if the device has too few addresses, or another error.
 */
int asahi_vm_new(struct asahi_device *dev, struct asahi_vm **vm);

/** asahi_vm_ref() - take a reference. Return: the address space */
struct asahi_vm *asahi_vm_ref(struct asahi_vm *vm);

/** asahi_vm_unref() - give one back; NULL is allowed, queues hold their own */
void asahi_vm_unref(struct asahi_vm *vm);

/** asahi_vm_id() - its number in the kernel interface */
uint32_t asahi_vm_id(const struct asahi_vm *vm);

/** asahi_vm_device() - the device that it was made for; no reference */
struct asahi_device *asahi_vm_device(const struct asahi_vm *vm);

/** asahi_vm_usc_base() - what USC addresses are relative to */
uint64_t asahi_vm_usc_base(const struct asahi_vm *vm);

/**
 * asahi_vm_alloc() - reserve addresses
 * @vm: address space
 * @heap: part of it
 * @size: bytes, rounded up to ASAHI_PAGE_SIZE
 * @align: power of two, raised to ASAHI_PAGE_SIZE; 0 for no wish
 * @addr: first address
 *
 * At least one page behind the range stays unused, because the GPU may read a
 * little past an end. Nothing is bound yet.
 *
 * Return: 0, -EINVAL, -ENOSPC if there is no gap, -ENOMEM.
 */
int asahi_vm_alloc(struct asahi_vm *vm, enum asahi_heap heap, uint64_t size,
		   uint64_t align, uint64_t *addr);

/**
 * asahi_vm_free() - give addresses back
 * @vm: address space
 * @addr: as returned by asahi_vm_alloc()
 * @size: as given to asahi_vm_alloc()
 *
 * Bindings stay: unbind first.
 *
 * Return: 0, -EINVAL if they are not reserved, -ENOMEM; on error they are
 * reserved as before.
 */
int asahi_vm_free(struct asahi_vm *vm, uint64_t addr, uint64_t size);

/**
 * asahi_vm_bind() - change bindings at addresses of one's own choice
 * @vm: address space
 * @ops: what to bind and unbind, in this order, all or nothing
 * @count: number of @ops
 *
 * Takes effect at once, without waiting for commands that run. Addresses need
 * not come from asahi_vm_alloc(), which knows nothing of those that don't.
 */
int asahi_vm_bind(struct asahi_vm *vm, const struct drm_asahi_gem_bind_op *ops,
		  uint32_t count);

/**
 * asahi_vm_map() - reserve addresses and bind a whole buffer there
 * @vm: address space
 * @heap: part of it
 * @bo: buffer
 * @flags: DRM_ASAHI_BIND_READ, DRM_ASAHI_BIND_WRITE
 * @addr: first address
 *
 * The binding takes no reference: it ends with the buffer. Addresses of buffers from 32 MiB on
 * are aligned to that.
 *
 * Return: 0, the errors of asahi_vm_alloc() and asahi_vm_bind(); then nothing
 * is reserved.
 */
int asahi_vm_map(struct asahi_vm *vm, enum asahi_heap heap, struct asahi_bo *bo,
		 uint32_t flags, uint64_t *addr);

/**
 * asahi_vm_unmap() - undo asahi_vm_map()
 * @vm: address space
 * @bo: buffer
 * @addr: as returned by asahi_vm_map()
 *
 * Return: 0, the errors of asahi_vm_bind() and asahi_vm_free().
 */
int asahi_vm_unmap(struct asahi_vm *vm, struct asahi_bo *bo, uint64_t addr);

/* Buffers */

/**
 * asahi_bo_new() - make a buffer
 * @dev: device
 * @size: bytes, rounded up to ASAHI_PAGE_SIZE
 * @flags: enum drm_asahi_gem_flags without DRM_ASAHI_GEM_VM_PRIVATE
 * @vm: the only address space that will use it, or NULL
 * @bo: the buffer, filled with zeroes
 *
 * A buffer of one address space can't be exported, and makes submissions there
 * cheaper. It holds no reference to @vm.
 *
 * Return: 0, -EINVAL for a size of 0 or too large, or another error.
 */
int asahi_bo_new(struct asahi_device *dev, uint64_t size, uint32_t flags,
		 struct asahi_vm *vm, struct asahi_bo **bo);

/**
 * asahi_bo_import() - use a buffer of another device or process
 * @dev: device
 * @fd: dma-buf; the caller keeps it
 * @bo: the buffer; the same object, with one more reference, if the device
 *	has it already
 *
 * Return: 0, -EBADF, -EINVAL if @fd is no dma-buf or one that this GPU can't
 * use, or another error.
 */
int asahi_bo_import(struct asahi_device *dev, int fd, struct asahi_bo **bo);

/**
 * asahi_bo_export() - make a dma-buf of a buffer
 * @bo: buffer that is not private to an address space
 * @fd: the dma-buf, close-on-exec; the caller's to close
 *
 * Return: 0, -EINVAL for a private one, or another error.
 */
int asahi_bo_export(struct asahi_bo *bo, int *fd);

/** asahi_bo_ref() - take a reference. Return: the buffer */
struct asahi_bo *asahi_bo_ref(struct asahi_bo *bo);

/**
 * asahi_bo_unref() - give a reference back
 * @bo: buffer or NULL
 *
 * With the last one all its bindings vanish from the address spaces of this
 * device; addresses that asahi_vm_map() reserved for it stay reserved.
 */
void asahi_bo_unref(struct asahi_bo *bo);

/** asahi_bo_handle() - its handle in the kernel interface */
uint32_t asahi_bo_handle(const struct asahi_bo *bo);

/** asahi_bo_size() - its size in bytes */
uint64_t asahi_bo_size(const struct asahi_bo *bo);

/**
 * asahi_bo_map() - map a buffer into this process
 * @bo: buffer
 * @ptr: its first byte; the mapping lives as long as the buffer, and is the
 *	same each time
 *
 * Readable and writable. The CPU sees what a command wrote once its fence has
 * signalled, and a command what the CPU wrote before its submission.
 */
int asahi_bo_map(struct asahi_bo *bo, void **ptr);

/**
 * asahi_bo_bind_timestamps() - have commands write times to a buffer
 * @bo: buffer
 * @offset: where in it, a multiple of ASAHI_PAGE_SIZE
 * @size: bytes, a multiple of ASAHI_PAGE_SIZE
 * @object: what struct drm_asahi_timestamp calls it
 *
 * It keeps the memory, but not @bo. The addresses for this are few, so one buffer
 * for many times is better than many buffers.
 *
 * Return: 0, -ENOSPC if there are no more addresses for this device, or another
 * error.
 */
int asahi_bo_bind_timestamps(struct asahi_bo *bo, uint64_t offset, uint64_t size,
			     uint32_t *object);

/**
 * asahi_device_unbind_timestamps() - undo asahi_bo_bind_timestamps()
 * @dev: device of the buffer
 * @object: as returned by asahi_bo_bind_timestamps()
 *
 * What was submitted before still writes its times.
 *
 * Return: 0, -ENOENT if there is no such object, or another error.
 */
int asahi_device_unbind_timestamps(struct asahi_device *dev, uint32_t object);

/* Queues and submission */

/**
 * asahi_queue_new() - make a queue
 * @vm: address space that its commands run in
 * @priority: how urgent they are
 * @queue: the queue
 *
 * Return: 0, -EPERM for a priority that needs CAP_SYS_NICE, -EOPNOTSUPP for one
 * that the driver does not offer, or another error.
 */
int asahi_queue_new(struct asahi_vm *vm, enum drm_asahi_priority priority,
		    struct asahi_queue **queue);

/** asahi_queue_ref() - take a reference. Return: the queue */
struct asahi_queue *asahi_queue_ref(struct asahi_queue *queue);
/** asahi_queue_unref() - give one back, or NULL; what was submitted still runs */
void asahi_queue_unref(struct asahi_queue *queue);

/** asahi_queue_id() - its number in the kernel interface */
uint32_t asahi_queue_id(const struct asahi_queue *queue);

/**
 * asahi_submit_new() - begin a submission
 * @queue: queue that it goes to
 * @submit: the submission, empty
 *
 * The functions that add to a submission remember their first error and do
 * nothing after it; asahi_submit_flush() returns it: -ENOMEM, or -E2BIG for
 * more than any kernel takes.
 */
int asahi_submit_new(struct asahi_queue *queue, struct asahi_submit **submit);

/** asahi_submit_free() - drop a submission, flushed or not; NULL is allowed */
void asahi_submit_free(struct asahi_submit *submit);

/** asahi_submit_reset() - make a submission empty again, errors included */
void asahi_submit_reset(struct asahi_submit *submit);

/**
 * asahi_submit_wait() - wait for a sync object before the commands
 * @submit: submission
 * @syncobj: handle of the sync object
 * @point: point of a timeline, 0 for a binary sync object
 */
void asahi_submit_wait(struct asahi_submit *submit, uint32_t syncobj,
		       uint64_t point);

/**
 * asahi_submit_signal() - signal a sync object after the commands
 * @submit: submission
 * @syncobj: handle of the sync object
 * @point: point of a timeline, 0 for a binary sync object
 */
void asahi_submit_signal(struct asahi_submit *submit, uint32_t syncobj,
			 uint64_t point);

/**
 * struct asahi_barrier - what a command waits for
 *
 * 0 is everything that earlier submissions gave to the subqueue, n the first n
 * commands of this submission there, DRM_ASAHI_BARRIER_NONE nothing.
 */
struct asahi_barrier {
	/** @vdm: on the render subqueue */
	uint16_t vdm;
	/** @cdm: on the compute subqueue */
	uint16_t cdm;
};

/** ASAHI_BARRIER_NONE - wait for nothing */
#ifdef __cplusplus
#define ASAHI_BARRIER_NONE \
	(asahi_barrier{ DRM_ASAHI_BARRIER_NONE, DRM_ASAHI_BARRIER_NONE })
#else
#define ASAHI_BARRIER_NONE \
	((struct asahi_barrier){ DRM_ASAHI_BARRIER_NONE, \
				 DRM_ASAHI_BARRIER_NONE })
#endif

/**
 * asahi_submit_render() - add a render pass
 * @submit: submission
 * @cmd: the command; copied
 * @barrier: what it waits for
 *
 * It is one command of the render subqueue, which is complete when its fragment
 * work is.
 */
void asahi_submit_render(struct asahi_submit *submit,
			 const struct drm_asahi_cmd_render *cmd,
			 struct asahi_barrier barrier);

/**
 * asahi_submit_compute() - add a compute command
 * @submit: submission
 * @cmd: the command; copied
 * @barrier: what it waits for
 */
void asahi_submit_compute(struct asahi_submit *submit,
			  const struct drm_asahi_cmd_compute *cmd,
			  struct asahi_barrier barrier);

/**
 * asahi_submit_attachments() - name memory that the commands behind it write
 * @submit: submission
 * @type: DRM_ASAHI_SET_VERTEX_ATTACHMENTS, DRM_ASAHI_SET_FRAGMENT_ATTACHMENTS
 *	  or DRM_ASAHI_SET_COMPUTE_ATTACHMENTS
 * @attachments: array; copied
 * @count: its length; 0 to name none any more
 */
void asahi_submit_attachments(struct asahi_submit *submit,
			      enum drm_asahi_cmd_type type,
			      const struct drm_asahi_attachment *attachments,
			      uint32_t count);

/**
 * asahi_submit_raw() - add bytes to the command buffer, unchecked
 * @submit: submission
 * @data: bytes
 * @size: number of bytes
 */
void asahi_submit_raw(struct asahi_submit *submit, const void *data,
		      size_t size);

/**
 * asahi_submit_flush() - hand a submission to the kernel
 * @submit: submission; empty again after success, unchanged otherwise
 *
 * Does not wait for anything.
 *
 * Return: 0, the submission's own error, or another error. A failure of earlier
 * work is none: it is known from the fence of that work.
 */
int asahi_submit_flush(struct asahi_submit *submit);

/**
 * asahi_submit_run() - hand a submission to the kernel and wait for its end
 * @submit: submission; as with asahi_submit_flush()
 * @timeout_ns: how long to wait for the end, as for asahi_fence_wait()
 *
 * Return: as asahi_submit_flush(), then as asahi_fence_wait(). After -ETIME the
 * commands still run.
 */
int asahi_submit_run(struct asahi_submit *submit, int64_t timeout_ns);

/**
 * asahi_fence_wait() - wait for a binary sync object and learn how it went
 * @dev: device
 * @syncobj: handle of the sync object; a submission that signals it may also
 *	come later
 * @timeout_ns: how long to wait; 0 or less only looks, INT64_MAX is forever
 *
 * What libdrm's drmSyncobjWait() does not tell is whether the work succeeded.
 *
 * Return: 0; -ETIME if it has not signalled in time; the fence's error: -EIO
 * after a fault, -ETIMEDOUT after a timeout, -ECANCELED for a bystander and
 * for what was behind work of its queue that failed, -ESRCH if it had not begun
 * when its queue was destroyed, -ENODEV if the device is gone; or the error of
 * waiting.
 */
int asahi_fence_wait(struct asahi_device *dev, uint32_t syncobj,
		     int64_t timeout_ns);

#ifdef __cplusplus
}
#endif

#endif /* ASAHI_DRMIF_H */
