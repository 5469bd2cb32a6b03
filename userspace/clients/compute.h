/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What the compute clients share: a device with an address space and a queue,
 * buffers, programs, and the building of command streams.
 *
 * Functions return 0 or a negative errno value, and say on stderr what failed.
 */
#ifndef CLIENT_COMPUTE_H
#define CLIENT_COMPUTE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "agx_packets.h"
#include "asahi_drmif.h"

/** COMPUTE_TIMEOUT_NS - how long a client waits for its work */
#define COMPUTE_TIMEOUT_NS	INT64_C(60000000000)

/** struct compute_buffer - memory that CPU and GPU see */
struct compute_buffer {
	struct asahi_bo *bo;
	/** @map: for the CPU */
	void *map;
	/** @addr: for the GPU */
	uint64_t addr;
	/** @size: in bytes, whole pages */
	uint64_t size;
};

/** struct compute_setup - how a device is made ready */
struct compute_setup {
	/** @flags: enum drm_asahi_gem_flags of all buffers */
	uint32_t flags;
	/** @priority: of the queue */
	enum drm_asahi_priority priority;
	/** @timeout_ns: how long it waits for work */
	int64_t timeout_ns;
};

/** COMPUTE_SETUP_DEFAULT - memory that the CPU caches, and medium priority */
#define COMPUTE_SETUP_DEFAULT							\
	((struct compute_setup){ DRM_ASAHI_GEM_WRITEBACK, DRM_ASAHI_PRIORITY_MEDIUM,	\
				COMPUTE_TIMEOUT_NS })

/** struct compute - a device made ready */
struct compute {
	struct asahi_device *dev;
	struct asahi_vm *vm;
	struct asahi_queue *queue;
	/** @code: programs, shader words and their uniforms */
	struct compute_buffer code;
	/** @code_used: bytes taken of @code */
	uint64_t code_used;
	/** @setup: as given to compute_open_with() */
	struct compute_setup setup;
};

/** struct compute_program - an assembled shader in GPU memory */
struct compute_program {
	/** @code: offset from the address space's USC base */
	uint32_t code;
	/** @registers: 16-bit registers that a thread needs */
	unsigned int registers;
};

/** struct compute_dispatch - one launch */
struct compute_dispatch {
	const struct compute_program *program;
	/** @preshader: program that runs once before, or NULL */
	const struct compute_program *preshader;
	/** @uniforms: bytes that become the uniforms from u0l on */
	const void *uniforms;
	size_t uniform_bytes;
	/** @shared_bytes: shared memory of a threadgroup */
	unsigned int shared_bytes;
	/** @global: threads; ignored if @indirect is set */
	uint32_t global[3];
	/** @local: threads of a threadgroup */
	uint32_t local[3];
	/** @indirect: address of three threadgroup counts, or 0 */
	uint64_t indirect;
};

/** struct compute_stream - a control stream under construction */
struct compute_stream {
	struct compute *ctx;
	struct compute_buffer buffer;
	struct agx_writer writer;
	/** @error: first error of any dispatch */
	int error;
};

/**
 * compute_open() - make a device ready
 * @ctx: device
 * @node: render node, or NULL for the driver's first one
 *
 * As COMPUTE_SETUP_DEFAULT has it.
 */
int compute_open(struct compute *ctx, const char *node);

/** compute_open_with() - the same, with another @setup */
int compute_open_with(struct compute *ctx, const char *node, const struct compute_setup *setup);

/**
 * compute_open_beside() - make an address space and a queue beside another's
 * @ctx: device
 * @other: opened one, whose device and setup it shares
 */
int compute_open_beside(struct compute *ctx, const struct compute *other);

void compute_close(struct compute *ctx);

int compute_buffer_new(struct compute *ctx, uint64_t size,
		       struct compute_buffer *buffer);
void compute_buffer_free(struct compute *ctx, struct compute_buffer *buffer);

/** compute_poison() - fill a buffer with what no test produces */
void compute_poison(struct compute_buffer *buffer);

/**
 * compute_code_alloc() - take memory out of the code buffer
 * @ctx: device
 * @size: bytes
 * @addr: where the GPU sees it, a multiple of 64 as USC words want it
 *
 * Return: the memory, which lives as long as @ctx; NULL if there is none left.
 */
void *compute_code_alloc(struct compute *ctx, size_t size, uint64_t *addr);

/**
 * compute_program_load() - assemble one of the built-in shaders
 * @ctx: device
 * @name: its name, without .agx
 * @program: the program
 */
int compute_program_load(struct compute *ctx, const char *name,
			 struct compute_program *program);

int compute_stream_new(struct compute *ctx, struct compute_stream *stream);
void compute_stream_free(struct compute_stream *stream);
void compute_stream_dispatch(struct compute_stream *stream,
			     const struct compute_dispatch *dispatch);
void compute_stream_barrier(struct compute_stream *stream);

/**
 * compute_stream_end() - terminate a stream and make a command of it
 * @stream: stream
 * @cmd: the command
 *
 * Return: the first error of the stream's building.
 */
int compute_stream_end(struct compute_stream *stream,
		       struct drm_asahi_cmd_compute *cmd);

/**
 * compute_stream_run() - end a stream, submit it, wait for it
 * @stream: stream
 *
 * Return: as asahi_submit_run(). Failed work is not announced on stderr.
 */
int compute_stream_run(struct compute_stream *stream);

#endif /* CLIENT_COMPUTE_H */
