/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * libasahi_shim: the asahi kernel driver in user space, for a process that is
 * linked with it or into which it is preloaded. The process finds one render
 * node, which answers as the driver does; README.md says how far.
 *
 * A preloaded shim needs nothing of this header. It is for tests, which look at the ioctls
 * that were made, and for backends, which execute jobs.
 *
 * All functions may be called from any thread. Calls that they return pointers to stay
 * until the next asahi_shim_record().
 */
#ifndef ASAHI_SHIM_H
#define ASAHI_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/dma-buf.h>
#include <linux/sync_file.h>
#include <drm/asahi_drm.h>

#ifdef __cplusplus
extern "C" {
#endif

/** ASAHI_SHIM_NODE - the only node that the process finds */
#define ASAHI_SHIM_NODE		"/dev/dri/renderD128"

/* Ioctls that were made */

/* Linux has it since 6.14, libdrm's headers do not yet */
#ifndef DRM_CLIENT_NAME_MAX_LEN
#define DRM_CLIENT_NAME_MAX_LEN		64
struct drm_set_client_name {
	__u64 name_len;
	__u64 name;
};
#define DRM_IOCTL_SET_CLIENT_NAME	DRM_IOWR(0xd1, struct drm_set_client_name)
#endif

/** union asahi_shim_args - the argument of any ioctl that the shim knows */
union asahi_shim_args {
	struct drm_version version;
	struct drm_get_cap get_cap;
	struct drm_set_client_name set_client_name;
	struct drm_gem_close gem_close;
	struct drm_prime_handle prime_handle;
	struct drm_syncobj_create syncobj_create;
	struct drm_syncobj_destroy syncobj_destroy;
	struct drm_syncobj_handle syncobj_handle;
	struct drm_syncobj_wait syncobj_wait;
	struct drm_syncobj_timeline_wait syncobj_timeline_wait;
	struct drm_syncobj_array syncobj_array;
	struct drm_syncobj_timeline_array syncobj_timeline_array;
	struct drm_syncobj_transfer syncobj_transfer;
	struct drm_syncobj_eventfd syncobj_eventfd;
	struct sync_merge_data sync_merge;
	struct sync_file_info sync_file_info;
	struct dma_buf_sync dma_buf_sync;
	struct dma_buf_export_sync_file export_sync_file;
	struct dma_buf_import_sync_file import_sync_file;
	struct drm_asahi_get_params get_params;
	struct drm_asahi_get_time get_time;
	struct drm_asahi_vm_create vm_create;
	struct drm_asahi_vm_destroy vm_destroy;
	struct drm_asahi_vm_bind vm_bind;
	struct drm_asahi_gem_create gem_create;
	struct drm_asahi_gem_mmap_offset gem_mmap_offset;
	struct drm_asahi_gem_bind_object gem_bind_object;
	struct drm_asahi_queue_create queue_create;
	struct drm_asahi_queue_destroy queue_destroy;
	struct drm_asahi_submit submit;
};

/** struct asahi_shim_command - a command of a SUBMIT */
struct asahi_shim_command {
	struct drm_asahi_cmd_header header;
	/** @payload: the header.size bytes behind the header */
	const void *payload;
};

/**
 * struct asahi_shim_call - an ioctl
 *
 * Pointers in @in and @out are the caller's and must not be followed later. The arrays have
 * copies of what they led to, as far as the shim has read it before an error.
 */
struct asahi_shim_call {
	/** @request: as the caller gave it */
	unsigned int request;
	/** @fd: file descriptor that it was made on */
	int fd;
	/** @error: 0 or an errno value */
	int error;
	/** @in: the argument; fields that a shorter one lacks are zero */
	union asahi_shim_args in;
	/** @out: the argument as it was left */
	union asahi_shim_args out;
	/** @binds: in.vm_bind.num_binds of them, or NULL */
	const struct drm_asahi_gem_bind_op *binds;
	/** @syncs: those of a SUBMIT to wait for, then those to signal; or NULL */
	const struct drm_asahi_sync *syncs;
	/** @commands: those of a SUBMIT */
	const struct asahi_shim_command *commands;
	/** @num_commands: number of @commands */
	size_t num_commands;
	/** @handles: of an ioctl for several sync objects, or NULL */
	const uint32_t *handles;
	/** @points: points of @handles, given or queried; or NULL */
	const uint64_t *points;
	/** @num_handles: number of @handles */
	size_t num_handles;
};

/**
 * asahi_shim_record() - begin or end to remember ioctls
 * @on: whether to remember them from now on
 *
 * Forgets all that were remembered, and cancels an asahi_shim_fail() that has not happened
 * yet.
 */
void asahi_shim_record(bool on);

/**
 * asahi_shim_count() - how often an ioctl was made
 * @request: the ioctl, or 0 for all of them
 */
size_t asahi_shim_count(unsigned int request);

/**
 * asahi_shim_call() - one ioctl of those that were remembered
 * @request: the ioctl, or 0 for all of them
 * @index: which one, the first is 0; -1 is the last one, -2 the one before
 *
 * Return: the call, or NULL if there were not so many.
 */
const struct asahi_shim_call *asahi_shim_call(unsigned int request, int index);

/**
 * asahi_shim_fail() - make an ioctl fail, once
 * @request: the ioctl, or 0 for any
 * @nth: which of those to come, 1 for the next
 * @error: errno value that it fails with, without any effect
 *
 * Replaces an earlier one that has not happened yet.
 */
void asahi_shim_fail(unsigned int request, unsigned int nth, int error);

/** asahi_shim_failed() - whether the last asahi_shim_fail() has happened */
bool asahi_shim_failed(void);

/* Objects of the process */

/** struct asahi_shim_objects - numbers of objects of the process */
struct asahi_shim_objects {
	/** @files: open files of the node, duplicates not counted */
	unsigned int files;
	/** @handles: GEM handles */
	unsigned int handles;
	/** @buffers: buffer objects; mappings, bindings and jobs keep them, too */
	unsigned int buffers;
	/** @mappings: of buffers into the process */
	unsigned int mappings;
	/** @dma_bufs: exported buffers */
	unsigned int dma_bufs;
	/** @objects: memory registered for timestamps */
	unsigned int objects;
	/** @vms: address spaces */
	unsigned int vms;
	/** @queues: queues */
	unsigned int queues;
	/** @jobs: submissions that have not ended */
	unsigned int jobs;
	/** @syncobjs: handles of sync objects */
	unsigned int syncobjs;
	/** @syncobj_fds: sync objects as file descriptors */
	unsigned int syncobj_fds;
	/** @sync_files: sync files */
	unsigned int sync_files;
	/** @fences: fences, which all kinds of sync objects and jobs share */
	unsigned int fences;
};

/**
 * asahi_shim_objects() - count the process's objects
 * @objects: filled in
 *
 * Return: the sum without fences; if it is 0, the number of fences.
 */
unsigned int asahi_shim_objects(struct asahi_shim_objects *objects);

/**
 * asahi_shim_params() - the parameters that GET_PARAMS returns
 *
 * Return: the parameters, an M1's without soft faults. They may be changed before the first
 * client asks for them.
 */
struct drm_asahi_params_global *asahi_shim_params(void);

/* Jobs */

/** struct asahi_shim_mapping - a range of GPU addresses that is bound */
struct asahi_shim_mapping {
	/** @addr: first address */
	uint64_t addr;
	/** @size: bytes */
	uint64_t size;
	/** @offset: where it begins in asahi_shim_memory() */
	uint64_t offset;
	/** @flags: set of enum drm_asahi_bind_flags */
	uint32_t flags;
};

/**
 * asahi_shim_find_mapping() - find the binding of a GPU address
 * @fd: open file of the node
 * @vm_id: address space
 * @addr: address
 * @mapping: filled in with the binding
 *
 * Return: whether there is a binding.
 */
bool asahi_shim_find_mapping(int fd, uint32_t vm_id, uint64_t addr,
			     struct asahi_shim_mapping *mapping);

/**
 * asahi_shim_memory() - a file with places for the memory of all buffers
 * @size: its size, most of which is never touched
 *
 * It has the buffers that are private to an address space. To see all others as well, map it
 * as a whole and call asahi_shim_memory_mapped().
 *
 * Return: a file, the shim's.
 */
int asahi_shim_memory(uint64_t *size);

/**
 * asahi_shim_memory_mapped() - show all buffers in a mapping of asahi_shim_memory()
 * @map: address of a mapping of the whole file; or NULL, before it is unmapped
 */
void asahi_shim_memory_mapped(void *map);

/**
 * asahi_shim_page_bytes() - how much of a page is a buffer's
 * @offset: of the page in asahi_shim_memory()
 *
 * The rest of a buffer's last page is behind what its creator asked for. From any thread.
 *
 * Return: bytes from its beginning on; all of the page, too, if it is no buffer's.
 */
unsigned int asahi_shim_page_bytes(uint64_t offset);

/** struct asahi_shim_job - a SUBMIT whose fences have signalled */
struct asahi_shim_job {
	/** @queue: number of the queue, unlike its ID unique in the process */
	uint64_t queue;
	/** @usc_exec_base: the queue's */
	uint64_t usc_exec_base;
	/** @kernel_start: first address of the kernel's part of the address space */
	uint64_t kernel_start;
	/** @commands: all of them, checked */
	const struct asahi_shim_command *commands;
	size_t num_commands;
	/** @mappings: the address space as it is now, in order of addresses */
	const struct asahi_shim_mapping *mappings;
	size_t num_mappings;
};

/** struct asahi_shim_backend - executes jobs */
struct asahi_shim_backend {
	/**
	 * @submit: run a job, whose in-syncs have signalled and whose queue has
	 * completed all that came before
	 *
	 * The job is valid until asahi_shim_job_done(), which has to be called
	 * once for each job: from in here, or later from any thread. Called
	 * without a lock, for jobs of several queues at once.
	 */
	void (*submit)(void *priv, struct asahi_shim_job *job);
	/** @priv: handed to the function */
	void *priv;
};

/**
 * asahi_shim_set_backend() - choose the backend that executes jobs
 * @backend: copied; NULL for none, where every job succeeds at once
 *
 * To be called while no job is under way.
 */
void asahi_shim_set_backend(const struct asahi_shim_backend *backend);

/**
 * asahi_shim_job_done() - end a job
 * @job: job
 * @error: 0 or a negative errno value, which its fence gets; the queue fails
 *	then as it does on the device
 */
void asahi_shim_job_done(struct asahi_shim_job *job, int error);

#ifdef __cplusplus
}
#endif

#endif /* ASAHI_SHIM_H */
