/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The names and the layout are those of the header that Linux carries since
 * 6.16; a test compares the two field by field. The explanations are ours.
 */
#ifndef _ASAHI_DRM_H_
#define _ASAHI_DRM_H_

#include "drm.h"

#if defined(__cplusplus)
extern "C" {
#endif

/**
 * DOC: Rules of the interface
 *
 * * Every structure is a multiple of eight bytes and has no hidden padding.
 * * Unknown flags, non-zero padding and unknown parameter groups are refused
 *   with ``EINVAL``.
 * * A structure may grow at its end. What an older caller leaves out reads as
 *   zero. The DRM core ignores what a newer caller adds to the argument of an
 *   ioctl; elements of arrays that come with a stride and commands that come
 *   with a size may be longer than the kernel knows if the rest is zero, else
 *   the answer is ``E2BIG``.
 * * Addresses are GPU virtual addresses unless a field says otherwise, sizes
 *   are bytes. Memory is mapped in pages of 16 KiB, whatever the page size of
 *   the CPU.
 * * Once the device is gone (unbound, or its firmware was given up) every ioctl
 *   that needs it answers ``ENODEV``. While it is bound SUBMIT does not: it takes
 *   the work, and its out-syncs say ``ENODEV``.
 */

/**
 * enum drm_asahi_ioctl_id - Numbers of the driver's ioctls
 *
 * Programs use the ``DRM_IOCTL_ASAHI_*`` values, which also carry the
 * direction and the size of the argument.
 */
enum drm_asahi_ioctl_id {
	/** @DRM_ASAHI_GET_PARAMS: Ask what the device is and can do. */
	DRM_ASAHI_GET_PARAMS = 0,

	/** @DRM_ASAHI_GET_TIME: Read the clock that GPU timestamps use. */
	DRM_ASAHI_GET_TIME,

	/** @DRM_ASAHI_VM_CREATE: Make a GPU address space. */
	DRM_ASAHI_VM_CREATE,

	/** @DRM_ASAHI_VM_DESTROY: Give up a GPU address space. */
	DRM_ASAHI_VM_DESTROY,

	/** @DRM_ASAHI_VM_BIND: Change the mappings of an address space. */
	DRM_ASAHI_VM_BIND,

	/** @DRM_ASAHI_GEM_CREATE: Make a buffer object. */
	DRM_ASAHI_GEM_CREATE,

	/** @DRM_ASAHI_GEM_MMAP_OFFSET: Get the offset with which to mmap(). */
	DRM_ASAHI_GEM_MMAP_OFFSET,

	/** @DRM_ASAHI_GEM_BIND_OBJECT: Register memory with the firmware. */
	DRM_ASAHI_GEM_BIND_OBJECT,

	/** @DRM_ASAHI_QUEUE_CREATE: Make a queue for commands. */
	DRM_ASAHI_QUEUE_CREATE,

	/** @DRM_ASAHI_QUEUE_DESTROY: Give up a queue. */
	DRM_ASAHI_QUEUE_DESTROY,

	/** @DRM_ASAHI_SUBMIT: Hand commands to a queue. */
	DRM_ASAHI_SUBMIT,
};

#define DRM_ASAHI_MAX_CLUSTERS	64

/**
 * struct drm_asahi_params_global - What GET_PARAMS tells in group 0
 */
struct drm_asahi_params_global {
	/** @features: Set of enum drm_asahi_feature. */
	__u64 features;

	/** @gpu_generation: The number in the GPU's name: 13 for G13G. */
	__u32 gpu_generation;

	/** @gpu_variant: The last letter of the GPU's name: 'G' for G13G. */
	__u32 gpu_variant;

	/**
	 * @gpu_revision: Stepping, a nibble for the letter (A is 0) and one
	 * for the digit: 0x10 is B0.
	 */
	__u32 gpu_revision;

	/** @chip_id: The SoC's number read as hexadecimal: 0x8103 for M1. */
	__u32 chip_id;

	/** @num_dies: Dies of the package that have GPU clusters. */
	__u32 num_dies;

	/** @num_clusters_total: GPU clusters of all dies together. */
	__u32 num_clusters_total;

	/**
	 * @num_cores_per_cluster: Core positions in each cluster, counting
	 * those where no core is usable.
	 */
	__u32 num_cores_per_cluster;

	/** @max_frequency_khz: Highest clock of the shader cores, in kHz. */
	__u32 max_frequency_khz;

	/** @core_masks: For each cluster, one bit per usable core. */
	__u64 core_masks[DRM_ASAHI_MAX_CLUSTERS];

	/** @vm_start: Lowest address that a program can use. */
	__u64 vm_start;

	/** @vm_end: End of the usable addresses (exclusive). */
	__u64 vm_end;

	/**
	 * @vm_kernel_min_size: The least size of the range that VM_CREATE has
	 * to leave to the kernel, in bytes.
	 */
	__u64 vm_kernel_min_size;

	/**
	 * @max_commands_per_submission: Most render and compute commands that
	 * one SUBMIT may hold. A longer list is split by the caller.
	 */
	__u32 max_commands_per_submission;

	/** @max_attachments: Most attachments that a command may name. */
	__u32 max_attachments;

	/**
	 * @command_timestamp_frequency_hz: Ticks per second of the timestamps
	 * that commands write.
	 */
	__u64 command_timestamp_frequency_hz;
};

/**
 * enum drm_asahi_feature - What does not follow from the GPU's generation
 */
enum drm_asahi_feature {
	/**
	 * @DRM_ASAHI_FEATURE_SOFT_FAULTS: A shader's load from an unmapped
	 * address yields zero and its store there is dropped, instead of a
	 * fault. This is a matter of the whole GPU, set when it starts; it
	 * concerns no other unit, texture sampling in particular.
	 */
	DRM_ASAHI_FEATURE_SOFT_FAULTS = (1UL) << 0,
};

/**
 * struct drm_asahi_get_params - Argument of DRM_IOCTL_ASAHI_GET_PARAMS
 *
 * Errors: ``EINVAL`` for another group or padding, ``EFAULT`` for a bad
 * pointer.
 */
struct drm_asahi_get_params {
	/** @param_group: 0, struct drm_asahi_params_global. */
	__u32 param_group;

	/** @pad: Zero. */
	__u32 pad;

	/** @pointer: CPU address of the caller's structure. */
	__u64 pointer;

	/**
	 * @size: Bytes at @pointer. No more than these are written; what the
	 * kernel's structure lacks is zeroed.
	 */
	__u64 size;
};

/**
 * struct drm_asahi_vm_create - Argument of DRM_IOCTL_ASAHI_VM_CREATE
 *
 * A part of each address space belongs to the kernel, for what firmware and
 * GPU need beside the caller's memory. The caller chooses where.
 *
 * Errors: ``EINVAL`` for a range that is unaligned, too small, or not within
 * &drm_asahi_params_global.vm_start and &drm_asahi_params_global.vm_end;
 * ``ENOSPC`` for more than 1,024 in a file; ``ENOMEM``.
 */
struct drm_asahi_vm_create {
	/** @kernel_start: Start of the kernel's range, 16 KiB aligned. */
	__u64 kernel_start;

	/** @kernel_end: Its end (exclusive), 16 KiB aligned. */
	__u64 kernel_end;

	/** @vm_id: Out: the address space's ID, never 0. */
	__u32 vm_id;

	/** @pad: Zero. */
	__u32 pad;
};

/**
 * struct drm_asahi_vm_destroy - Argument of DRM_IOCTL_ASAHI_VM_DESTROY
 *
 * Queues that use the address space keep it alive until they are gone.
 *
 * Errors: ``ENOENT`` for an unknown ID.
 */
struct drm_asahi_vm_destroy {
	/** @vm_id: The address space. */
	__u32 vm_id;

	/** @pad: Zero. */
	__u32 pad;
};

/**
 * enum drm_asahi_gem_flags - How a buffer object is made
 */
enum drm_asahi_gem_flags {
	/**
	 * @DRM_ASAHI_GEM_WRITEBACK: Map it cached on the CPU, for memory that
	 * the CPU reads. Without this, mappings are write-combined.
	 */
	DRM_ASAHI_GEM_WRITEBACK = (1L << 0),

	/**
	 * @DRM_ASAHI_GEM_VM_PRIVATE: It can be bound in one address space only
	 * and never be exported, which makes each SUBMIT cheaper.
	 */
	DRM_ASAHI_GEM_VM_PRIVATE = (1L << 1),
};

/**
 * struct drm_asahi_gem_create - Argument of DRM_IOCTL_ASAHI_GEM_CREATE
 *
 * Errors: ``EINVAL`` for a size of zero or beyond the address range, unknown
 * flags, or a @vm_id without %DRM_ASAHI_GEM_VM_PRIVATE; ``ENOENT`` for an
 * unknown address space; ``ENOMEM``.
 */
struct drm_asahi_gem_create {
	/** @size: Bytes; rounded up to 16 KiB. */
	__u64 size;

	/** @flags: Set of enum drm_asahi_gem_flags. */
	__u32 flags;

	/** @vm_id: The one address space of a private object, else 0. */
	__u32 vm_id;

	/** @handle: Out: GEM handle. */
	__u32 handle;

	/** @pad: Zero. */
	__u32 pad;
};

/**
 * struct drm_asahi_gem_mmap_offset - Argument of
 * DRM_IOCTL_ASAHI_GEM_MMAP_OFFSET
 */
struct drm_asahi_gem_mmap_offset {
	/** @handle: GEM handle. */
	__u32 handle;

	/** @flags: Zero. */
	__u32 flags;

	/** @offset: Out: offset in the device file that mmap() takes. */
	__u64 offset;
};

/**
 * enum drm_asahi_bind_flags - What a bind operation does
 */
enum drm_asahi_bind_flags {
	/** @DRM_ASAHI_BIND_UNBIND: Remove what is mapped in the range. */
	DRM_ASAHI_BIND_UNBIND = (1L << 0),

	/** @DRM_ASAHI_BIND_READ: The GPU may read through the mapping. */
	DRM_ASAHI_BIND_READ = (1L << 1),

	/** @DRM_ASAHI_BIND_WRITE: The GPU may write through the mapping. */
	DRM_ASAHI_BIND_WRITE = (1L << 2),

	/**
	 * @DRM_ASAHI_BIND_SINGLE_PAGE: Map one page of the object again and
	 * again over the whole range, as sparse resources want it.
	 */
	DRM_ASAHI_BIND_SINGLE_PAGE = (1L << 3),
};

/**
 * struct drm_asahi_gem_bind_op - One change of mappings
 *
 * A bind replaces whatever was mapped in its range. An unbind may cover
 * addresses where nothing is mapped.
 */
struct drm_asahi_gem_bind_op {
	/**
	 * @flags: Set of enum drm_asahi_bind_flags. To bind, one of READ and
	 * WRITE at least; to unbind, exactly %DRM_ASAHI_BIND_UNBIND.
	 */
	__u32 flags;

	/** @handle: GEM handle to bind; 0 to unbind. */
	__u32 handle;

	/**
	 * @offset: Where in the object the mapping starts, or which page of it
	 * is repeated; 0 to unbind. 16 KiB aligned.
	 */
	__u64 offset;

	/** @range: Bytes of address space, not 0, 16 KiB aligned. */
	__u64 range;

	/** @addr: First address, 16 KiB aligned. */
	__u64 addr;
};

/**
 * struct drm_asahi_vm_bind - Argument of DRM_IOCTL_ASAHI_VM_BIND
 *
 * The operations take effect in their order, all of them or, on an error,
 * none. They are done when the ioctl returns and wait for no job: the caller
 * keeps mapped what its submitted work still uses.
 *
 * Errors: ``EINVAL`` for a bad operation, more than 65,536 of them, a sum of
 * ranges beyond the size of the address space (unbinding and single pages do
 * not count), or a stride below the first version of the structure or above
 * 4 KiB; ``E2BIG`` for non-zero bytes behind the part that this kernel knows;
 * ``ENOENT`` for an unknown address space or handle; ``ENOMEM``; ``EFAULT``.
 */
struct drm_asahi_vm_bind {
	/** @vm_id: The address space. */
	__u32 vm_id;

	/** @num_binds: Number of operations. */
	__u32 num_binds;

	/** @stride: Bytes from one operation to the next. */
	__u32 stride;

	/** @pad: Zero. */
	__u32 pad;

	/** @userptr: CPU address of the array of drm_asahi_gem_bind_op. */
	__u64 userptr;
};

/**
 * enum drm_asahi_bind_object_op - What GEM_BIND_OBJECT does
 */
enum drm_asahi_bind_object_op {
	/** @DRM_ASAHI_BIND_OBJECT_OP_BIND: Register a range of an object. */
	DRM_ASAHI_BIND_OBJECT_OP_BIND = 0,

	/** @DRM_ASAHI_BIND_OBJECT_OP_UNBIND: Take it back. */
	DRM_ASAHI_BIND_OBJECT_OP_UNBIND = 1,
};

/**
 * enum drm_asahi_bind_object_flags - What registered memory is for
 */
enum drm_asahi_bind_object_flags {
	/**
	 * @DRM_ASAHI_BIND_OBJECT_USAGE_TIMESTAMPS: The firmware writes the
	 * timestamps of commands there.
	 */
	DRM_ASAHI_BIND_OBJECT_USAGE_TIMESTAMPS = (1L << 0),
};

/**
 * struct drm_asahi_gem_bind_object - Argument of
 * DRM_IOCTL_ASAHI_GEM_BIND_OBJECT
 *
 * A registration belongs to the file, and keeps the memory: it outlives the GEM
 * handle. Commands that were submitted keep the registrations that they name
 * until they have ended, whether or not they are taken back meanwhile.
 *
 * Errors: ``EINVAL`` for a malformed argument, a range beyond the object, or
 * an imported object that the GPU cannot map; ``ENOENT`` for an unknown handle or
 * registration; ``ENOSPC`` when the caller has its share of the addresses that
 * there are for all; ``ENOMEM``.
 */
struct drm_asahi_gem_bind_object {
	/** @op: One of enum drm_asahi_bind_object_op. */
	__u32 op;

	/**
	 * @flags: To bind, %DRM_ASAHI_BIND_OBJECT_USAGE_TIMESTAMPS; 0 to unbind.
	 */
	__u32 flags;

	/** @handle: GEM handle to register; 0 to unbind. */
	__u32 handle;

	/** @vm_id: Zero. */
	__u32 vm_id;

	/**
	 * @offset: Start within the object, 16 KiB aligned; 0 to unbind.
	 */
	__u64 offset;

	/** @range: Bytes, not 0, 16 KiB aligned; 0 to unbind. */
	__u64 range;

	/** @object_handle: The registration: out to bind, in to unbind. */
	__u32 object_handle;

	/** @pad: Zero. */
	__u32 pad;
};

/**
 * enum drm_asahi_cmd_type - What a command is
 */
enum drm_asahi_cmd_type {
	/**
	 * @DRM_ASAHI_CMD_RENDER: A render pass, vertex and fragment work, with
	 * a struct drm_asahi_cmd_render.
	 */
	DRM_ASAHI_CMD_RENDER = 0,

	/**
	 * @DRM_ASAHI_CMD_COMPUTE: A stream of dispatches, with a
	 * struct drm_asahi_cmd_compute.
	 */
	DRM_ASAHI_CMD_COMPUTE = 1,

	/**
	 * @DRM_ASAHI_SET_VERTEX_ATTACHMENTS: The attachments of vertex work
	 * from here to the end of the SUBMIT, an array of
	 * struct drm_asahi_attachment.
	 */
	DRM_ASAHI_SET_VERTEX_ATTACHMENTS = 2,

	/**
	 * @DRM_ASAHI_SET_FRAGMENT_ATTACHMENTS: The same for fragment work.
	 */
	DRM_ASAHI_SET_FRAGMENT_ATTACHMENTS = 3,

	/**
	 * @DRM_ASAHI_SET_COMPUTE_ATTACHMENTS: The same for compute work.
	 */
	DRM_ASAHI_SET_COMPUTE_ATTACHMENTS = 4,
};

/**
 * enum drm_asahi_priority - How urgent a queue is to the firmware
 */
enum drm_asahi_priority {
	/** @DRM_ASAHI_PRIORITY_LOW: Yields to others. */
	DRM_ASAHI_PRIORITY_LOW = 0,

	/** @DRM_ASAHI_PRIORITY_MEDIUM: What programs use. */
	DRM_ASAHI_PRIORITY_MEDIUM = 1,

	/**
	 * @DRM_ASAHI_PRIORITY_HIGH: For privileged programs, where the driver
	 * allows it.
	 */
	DRM_ASAHI_PRIORITY_HIGH = 2,

	/**
	 * @DRM_ASAHI_PRIORITY_REALTIME: Likewise, above all others.
	 */
	DRM_ASAHI_PRIORITY_REALTIME = 3,
};

/**
 * struct drm_asahi_queue_create - Argument of DRM_IOCTL_ASAHI_QUEUE_CREATE
 *
 * A queue has two subqueues, render and compute, which run side by side
 * except where a command's barriers order them. Its SUBMITs complete in order.
 *
 * Errors: ``EINVAL`` for flags or a priority beyond the known ones; ``ENOENT``
 * for an unknown address space; ``EPERM`` for HIGH and REALTIME without
 * CAP_SYS_NICE, ``EOPNOTSUPP`` for them where the driver does not allow them;
 * ``ENOSPC`` for more than 1,024 in a file, or when the firmware's memory is
 * full; ``ENOMEM``.
 */
struct drm_asahi_queue_create {
	/** @flags: Zero. */
	__u32 flags;

	/** @vm_id: The address space in which its commands run. */
	__u32 vm_id;

	/** @priority: One of enum drm_asahi_priority. */
	__u32 priority;

	/** @queue_id: Out: the queue's ID, never 0. */
	__u32 queue_id;

	/**
	 * @usc_exec_base: Base of the 4 GiB in which all shaders of the queue
	 * lie. Control streams name shaders by 32-bit offsets from it. It is
	 * what the USC_EXEC_BASE registers of vertex, fragment and compute
	 * work are set to.
	 */
	__u64 usc_exec_base;
};

/**
 * struct drm_asahi_queue_destroy - Argument of DRM_IOCTL_ASAHI_QUEUE_DESTROY
 *
 * Errors: ``ENOENT`` for an unknown ID.
 */
struct drm_asahi_queue_destroy {
	/** @queue_id: The queue. */
	__u32 queue_id;

	/** @pad: Zero. */
	__u32 pad;
};

/**
 * enum drm_asahi_sync_type - Kinds of synchronisation objects
 */
enum drm_asahi_sync_type {
	/** @DRM_ASAHI_SYNC_SYNCOBJ: A binary DRM syncobj. */
	DRM_ASAHI_SYNC_SYNCOBJ = 0,

	/** @DRM_ASAHI_SYNC_TIMELINE_SYNCOBJ: A point of a timeline syncobj. */
	DRM_ASAHI_SYNC_TIMELINE_SYNCOBJ = 1,
};

/**
 * struct drm_asahi_sync - Something to wait for, or to signal
 */
struct drm_asahi_sync {
	/** @sync_type: One of enum drm_asahi_sync_type. */
	__u32 sync_type;

	/** @handle: DRM syncobj handle. */
	__u32 handle;

	/** @timeline_value: Point on the timeline; 0 for a binary syncobj. */
	__u64 timeline_value;
};

/**
 * define DRM_ASAHI_BARRIER_NONE - Barrier of a command that waits for nothing
 */
#define DRM_ASAHI_BARRIER_NONE (0xFFFFu)

/**
 * struct drm_asahi_cmd_header - What each command begins with
 *
 * The two barriers say which earlier work of the queue has to be complete
 * before the command starts, one for each subqueue:
 *
 * * %DRM_ASAHI_BARRIER_NONE: nothing.
 * * 0: all work of earlier SUBMITs; never a command of this one.
 * * N: also the first N commands that this SUBMIT has for the subqueue. There
 *   have to be that many before this command.
 *
 * Commands that only set attachments have %DRM_ASAHI_BARRIER_NONE in both.
 */
struct drm_asahi_cmd_header {
	/** @cmd_type: One of enum drm_asahi_cmd_type. */
	__u16 cmd_type;

	/**
	 * @size: Bytes that follow this header and belong to the command. A
	 * render or compute command may be shorter than the kernel's structure
	 * (the rest is zero) or longer (the rest has to be zero). For
	 * attachments it is a multiple of struct drm_asahi_attachment.
	 */
	__u16 size;

	/** @vdm_barrier: What to wait for on the render subqueue. */
	__u16 vdm_barrier;

	/** @cdm_barrier: What to wait for on the compute subqueue. */
	__u16 cdm_barrier;
};

/**
 * struct drm_asahi_submit - Argument of DRM_IOCTL_ASAHI_SUBMIT
 *
 * The out-syncs are signalled when all commands of this SUBMIT and of the
 * queue's earlier ones are complete. When the work fails, the fence carries an
 * error: ``EIO`` for a fault, ``ETIMEDOUT`` for a command that ran too long,
 * ``ECANCELED`` for work that was taken down with another's, ``ESRCH`` for work
 * that was still waiting when its queue was destroyed, ``ENODEV`` when the device
 * went away. An earlier failure never makes SUBMIT fail.
 *
 * Errors: ``EINVAL`` for a malformed command, sync or barrier, for more than
 * 4,096 syncs or 1 MiB of commands, and for too many or no hardware commands;
 * ``ENOENT`` for an unknown queue, syncobj or timestamp object; ``ERANGE`` for a
 * timestamp behind the end of its object; ``E2BIG`` for non-zero bytes behind
 * the part of a command that this kernel knows; ``EOPNOTSUPP``; ``ENOSPC``
 * when the firmware's memory is full;
 * ``ENOMEM``; ``EFAULT``.
 */
struct drm_asahi_submit {
	/**
	 * @syncs: CPU address of an array of struct drm_asahi_sync, first
	 * @in_sync_count to wait for, then @out_sync_count to signal.
	 */
	__u64 syncs;

	/**
	 * @cmdbuf: CPU address of the commands: headers, each followed by as
	 * many bytes as it says, without gaps.
	 */
	__u64 cmdbuf;

	/** @flags: Zero. */
	__u32 flags;

	/** @queue_id: The queue. */
	__u32 queue_id;

	/** @in_sync_count: Number of syncs to wait for. */
	__u32 in_sync_count;

	/** @out_sync_count: Number of syncs to signal; may be 0. */
	__u32 out_sync_count;

	/** @cmdbuf_size: Bytes at @cmdbuf. */
	__u32 cmdbuf_size;

	/** @pad: Zero. */
	__u32 pad;
};

/**
 * struct drm_asahi_attachment - Memory that shaders write
 *
 * A hint that is passed on to the firmware. It may be left out.
 */
struct drm_asahi_attachment {
	/** @pointer: First address. */
	__u64 pointer;

	/** @size: Bytes. */
	__u64 size;

	/** @pad: Zero. */
	__u32 pad;

	/** @flags: Zero. */
	__u32 flags;
};

enum drm_asahi_render_flags {
	/**
	 * @DRM_ASAHI_RENDER_VERTEX_SCRATCH: Vertex shaders use scratch memory.
	 */
	DRM_ASAHI_RENDER_VERTEX_SCRATCH = (1U << 0),

	/**
	 * @DRM_ASAHI_RENDER_PROCESS_EMPTY_TILES: Run the programs of tiles in
	 * which nothing is drawn, too; clears need it.
	 */
	DRM_ASAHI_RENDER_PROCESS_EMPTY_TILES = (1U << 1),

	/**
	 * @DRM_ASAHI_RENDER_NO_VERTEX_CLUSTERING: Keep vertex work on one
	 * cluster, to tell coherency problems apart.
	 */
	DRM_ASAHI_RENDER_NO_VERTEX_CLUSTERING = (1U << 2),

	/**
	 * @DRM_ASAHI_RENDER_DBIAS_IS_INT: Depth bias counts in units of an
	 * integer depth buffer. The bit is where the hardware has it.
	 */
	DRM_ASAHI_RENDER_DBIAS_IS_INT = (1U << 18),
};

/**
 * struct drm_asahi_zls_buffer - A depth or stencil buffer
 *
 * Loads, stores and partial renders use the same buffer.
 */
struct drm_asahi_zls_buffer {
	/** @base: Address of the samples. */
	__u64 base;

	/** @comp_base: Address of the compression metadata, if compressed. */
	__u64 comp_base;

	/** @stride: Bytes from one layer to the next. */
	__u32 stride;

	/** @comp_stride: The same for the metadata. */
	__u32 comp_stride;
};

/**
 * struct drm_asahi_timestamp - Where to write a time
 *
 * A time is 64 bits, in nanoseconds of GET_TIME's clock. It is there when the
 * command's fence signals, unless the command failed or never ran.
 */
struct drm_asahi_timestamp {
	/**
	 * @handle: &drm_asahi_gem_bind_object.object_handle of the memory, or
	 * 0 for no timestamp.
	 */
	__u32 handle;

	/** @offset: Byte in that memory, a multiple of 8. */
	__u32 offset;
};

/**
 * struct drm_asahi_timestamps - The times of a command
 */
struct drm_asahi_timestamps {
	/** @start: When its execution began. */
	struct drm_asahi_timestamp start;

	/** @end: When its execution ended. */
	struct drm_asahi_timestamp end;
};

/**
 * struct drm_asahi_helper_program - The program that serves scratch memory
 *
 * The hardware runs it by itself when a shader needs memory for its stack.
 */
struct drm_asahi_helper_program {
	/** @binary: USC address of the program, with settings in low bits. */
	__u32 binary;

	/** @cfg: More settings. */
	__u32 cfg;

	/** @data: Handed to the program as it is. */
	__u64 data;
};

/**
 * struct drm_asahi_bg_eot - A background or end-of-tile program
 */
struct drm_asahi_bg_eot {
	/**
	 * @usc: USC address of the words that bind its resources and the
	 * program itself, with settings in low bits.
	 */
	__u32 usc;

	/**
	 * @rsrc_spec: Packed numbers of registers, uniforms, textures and
	 * samplers, as the hardware takes them.
	 */
	__u32 rsrc_spec;
};

/**
 * struct drm_asahi_cmd_render - A render pass
 *
 * Names in capitals are the hardware's control registers, whose values the
 * kernel hands to the firmware in the form that the firmware wants.
 */
struct drm_asahi_cmd_render {
	/** @flags: Set of enum drm_asahi_render_flags. */
	__u32 flags;

	/**
	 * @isp_zls_pixels: ISP_ZLS_PIXELS, the size of the depth and stencil
	 * buffers, which may differ from that of the framebuffer.
	 */
	__u32 isp_zls_pixels;

	/** @vdm_ctrl_stream_base: VDM_CTRL_STREAM_BASE, the VDM's commands. */
	__u64 vdm_ctrl_stream_base;

	/** @vertex_helper: Helper program of vertex shaders. */
	struct drm_asahi_helper_program vertex_helper;

	/** @fragment_helper: Helper program of fragment shaders. */
	struct drm_asahi_helper_program fragment_helper;

	/** @isp_scissor_base: ISP_SCISSOR_BASE, the scissor array. */
	__u64 isp_scissor_base;

	/** @isp_dbias_base: ISP_DBIAS_BASE, the depth bias array. */
	__u64 isp_dbias_base;

	/** @isp_oclqry_base: ISP_OCLQRY_BASE, the occlusion counters. */
	__u64 isp_oclqry_base;

	/** @depth: Depth buffer. */
	struct drm_asahi_zls_buffer depth;

	/** @stencil: Stencil buffer. */
	struct drm_asahi_zls_buffer stencil;

	/** @zls_ctrl: ZLS_CTRL. */
	__u64 zls_ctrl;

	/** @ppp_multisamplectl: PPP_MULTISAMPLECTL. */
	__u64 ppp_multisamplectl;

	/** @sampler_heap: Address of the samplers of both stages. */
	__u64 sampler_heap;

	/** @ppp_ctrl: PPP_CTRL. */
	__u32 ppp_ctrl;

	/** @width_px: Width of the framebuffer in pixels. */
	__u16 width_px;

	/** @height_px: Height of the framebuffer in pixels. */
	__u16 height_px;

	/** @layers: Layers of the framebuffer. */
	__u16 layers;

	/** @sampler_count: Samplers at @sampler_heap. */
	__u16 sampler_count;

	/** @utile_width_px: Width of a tile of the tilebuffer, in pixels. */
	__u8 utile_width_px;

	/** @utile_height_px: Height of a tile of the tilebuffer, in pixels. */
	__u8 utile_height_px;

	/** @samples: Samples of a pixel: 1, 2 or 4. */
	__u8 samples;

	/** @sample_size_B: Bytes of tilebuffer that a sample takes. */
	__u8 sample_size_B;

	/**
	 * @isp_merge_upper_x: A float32, tan(60 degrees) over the width, for the
	 * merging of triangles. The kernel does not calculate with floats.
	 */
	__u32 isp_merge_upper_x;

	/** @isp_merge_upper_y: The same of the height. */
	__u32 isp_merge_upper_y;

	/** @bg: Run for each tile at the start. */
	struct drm_asahi_bg_eot bg;

	/** @eot: Run for each tile at the end. */
	struct drm_asahi_bg_eot eot;

	/** @partial_bg: Run at the start when a partial render resumes. */
	struct drm_asahi_bg_eot partial_bg;

	/** @partial_eot: Run at the end when a partial render pauses. */
	struct drm_asahi_bg_eot partial_eot;

	/** @isp_bgobjdepth: ISP_BGOBJDEPTH, the depth that a clear sets. */
	__u32 isp_bgobjdepth;

	/** @isp_bgobjvals: ISP_BGOBJVALS, the stencil value in bits 7:0. */
	__u32 isp_bgobjvals;

	/** @ts_vtx: Times of the vertex work. */
	struct drm_asahi_timestamps ts_vtx;

	/** @ts_frag: Times of the fragment work. */
	struct drm_asahi_timestamps ts_frag;
};

/**
 * struct drm_asahi_cmd_compute - A stream of compute dispatches
 */
struct drm_asahi_cmd_compute {
	/** @flags: Zero. */
	__u32 flags;

	/** @sampler_count: Samplers at @sampler_heap. */
	__u32 sampler_count;

	/** @cdm_ctrl_stream_base: CDM_CTRL_STREAM_BASE, the CDM's commands. */
	__u64 cdm_ctrl_stream_base;

	/**
	 * @cdm_ctrl_stream_end: End of the stream's first contiguous part; the
	 * stream may branch elsewhere.
	 */
	__u64 cdm_ctrl_stream_end;

	/** @sampler_heap: Address of the samplers. */
	__u64 sampler_heap;

	/** @helper: Helper program. */
	struct drm_asahi_helper_program helper;

	/** @ts: Times of the command. */
	struct drm_asahi_timestamps ts;
};

/**
 * struct drm_asahi_get_time - Argument of DRM_IOCTL_ASAHI_GET_TIME
 */
struct drm_asahi_get_time {
	/** @flags: Zero. */
	__u64 flags;

	/** @gpu_timestamp: Out: the GPU's clock in nanoseconds. */
	__u64 gpu_timestamp;
};

/**
 * DRM_IOCTL_ASAHI() - Compose the number of an ioctl
 * @__access: R, W or WR: the direction of the argument
 * @__id: name in enum drm_asahi_ioctl_id without its prefix
 * @__type: name of the argument's structure without its prefix
 *
 * Return: what ioctl() takes as request.
 */
#define DRM_IOCTL_ASAHI(__access, __id, __type) \
	DRM_IO ## __access(DRM_COMMAND_BASE + DRM_ASAHI_ ## __id, \
			   struct drm_asahi_ ## __type)

/* An enum rather than macros: bindings for other languages can resolve it. */
enum {
	DRM_IOCTL_ASAHI_GET_PARAMS       = DRM_IOCTL_ASAHI(W, GET_PARAMS, get_params),
	DRM_IOCTL_ASAHI_GET_TIME         = DRM_IOCTL_ASAHI(WR, GET_TIME, get_time),
	DRM_IOCTL_ASAHI_VM_CREATE        = DRM_IOCTL_ASAHI(WR, VM_CREATE, vm_create),
	DRM_IOCTL_ASAHI_VM_DESTROY       = DRM_IOCTL_ASAHI(W, VM_DESTROY, vm_destroy),
	DRM_IOCTL_ASAHI_VM_BIND          = DRM_IOCTL_ASAHI(W, VM_BIND, vm_bind),
	DRM_IOCTL_ASAHI_GEM_CREATE       = DRM_IOCTL_ASAHI(WR, GEM_CREATE, gem_create),
	DRM_IOCTL_ASAHI_GEM_MMAP_OFFSET  = DRM_IOCTL_ASAHI(WR, GEM_MMAP_OFFSET, gem_mmap_offset),
	DRM_IOCTL_ASAHI_GEM_BIND_OBJECT  = DRM_IOCTL_ASAHI(WR, GEM_BIND_OBJECT, gem_bind_object),
	DRM_IOCTL_ASAHI_QUEUE_CREATE     = DRM_IOCTL_ASAHI(WR, QUEUE_CREATE, queue_create),
	DRM_IOCTL_ASAHI_QUEUE_DESTROY    = DRM_IOCTL_ASAHI(W, QUEUE_DESTROY, queue_destroy),
	DRM_IOCTL_ASAHI_SUBMIT           = DRM_IOCTL_ASAHI(W, SUBMIT, submit),
};

#if defined(__cplusplus)
}
#endif

#endif /* _ASAHI_DRM_H_ */
