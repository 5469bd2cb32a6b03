/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * libasahi_shim: the asahi kernel driver in user space, for a process that is
 * linked with it or into which it is preloaded. The process finds one render
 * node, which answers as the driver does; README.md says how far.
 *
 * A preloaded shim needs nothing of this header. It is for tests, which look at
 * what was asked of the kernel, and for backends, which do what jobs say.
 *
 * All functions may be called from any thread. What they return pointers to
 * stays until the next asahi_shim_record().
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

/* What was asked of the kernel */

/** union asahi_shim_args - the argument of any ioctl that the shim knows */
union asahi_shim_args {
	struct drm_version version;
	struct drm_get_cap get_cap;
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
 * Pointers in @in and @out are the caller's, and good for nothing later. What
 * was behind them is in the arrays, as far as the kernel came to read it.
 */
struct asahi_shim_call {
	/** @request: as the caller gave it */
	unsigned int request;
	/** @fd: file descriptor that it was made on */
	int fd;
	/** @error: 0 or an errno value */
	int error;
	/** @in: the argument; what a shorter one lacks is zero */
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
	/** @points: what goes with @handles, given or queried; or NULL */
	const uint64_t *points;
	/** @num_handles: number of @handles */
	size_t num_handles;
};

/**
 * asahi_shim_record() - begin or end to remember ioctls
 * @on: whether to remember them from now on
 *
 * Forgets all that were remembered, and an asahi_shim_fail() that has not come
 * to pass.
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
 * Replaces an earlier one that has not come to pass.
 */
void asahi_shim_fail(unsigned int request, unsigned int nth, int error);

/** asahi_shim_failed() - whether the last asahi_shim_fail() came to pass */
bool asahi_shim_failed(void);

/* What there is */

/** struct asahi_shim_objects - what the process has */
struct asahi_shim_objects {
	/** @files: open files of the node, duplicates not counted */
	unsigned int files;
	/** @handles: GEM handles */
	unsigned int handles;
	/** @buffers: buffer objects; something may keep them beside handles */
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
};

/**
 * asahi_shim_objects() - count what the process has
 * @objects: filled in
 *
 * Return: the sum.
 */
unsigned int asahi_shim_objects(struct asahi_shim_objects *objects);

/**
 * asahi_shim_params() - what GET_PARAMS says
 *
 * Return: the parameters, an M1's without soft faults. Who changes them does so
 * before they are asked for.
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
 * asahi_shim_find_mapping() - look an address up
 * @fd: open file of the node
 * @vm_id: address space
 * @addr: address
 * @mapping: what is bound there
 *
 * Return: whether something is bound there.
 */
bool asahi_shim_find_mapping(int fd, uint32_t vm_id, uint64_t addr,
			     struct asahi_shim_mapping *mapping);

/**
 * asahi_shim_memory() - a file with places for the memory of all buffers
 * @size: its size, most of which is never touched
 *
 * Buffers that are private to an address space are there. All others are seen by who
 * maps it as a whole and tells where.
 *
 * Return: a file, the shim's.
 */
int asahi_shim_memory(uint64_t *size);

/**
 * asahi_shim_memory_mapped() - show all buffers in a mapping of asahi_shim_memory()
 * @map: where it was mapped, all of it; or NULL: it will be no more
 */
void asahi_shim_memory_mapped(void *map);

/** struct asahi_shim_job - what a SUBMIT asked for, when its turn has come */
struct asahi_shim_job {
	/** @queue: number of the queue, unlike its ID unique in the process */
	uint64_t queue;
	/** @usc_exec_base: what the queue was made with */
	uint64_t usc_exec_base;
	/** @kernel_start: where the kernel's part of the address space begins */
	uint64_t kernel_start;
	/** @commands: all of them, checked */
	const struct asahi_shim_command *commands;
	size_t num_commands;
	/** @mappings: the address space as it is now, in order of addresses */
	const struct asahi_shim_mapping *mappings;
	size_t num_mappings;
};

/** struct asahi_shim_backend - what runs jobs */
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
 * asahi_shim_set_backend() - choose what runs jobs
 * @backend: copied; NULL for none, where every job succeeds at once
 *
 * While no job is under way.
 */
void asahi_shim_set_backend(const struct asahi_shim_backend *backend);

/**
 * asahi_shim_job_done() - a job has ended
 * @job: job
 * @error: 0 or a negative errno value, which its fence gets; the queue fails
 *	then as it does on the device
 */
void asahi_shim_job_done(struct asahi_shim_job *job, int error);

#ifdef __cplusplus
}
#endif

#endif /* ASAHI_SHIM_H */
