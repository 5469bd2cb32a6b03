/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * A shader core: runs threadgroups of an AGX2 program, in simdgroups of 32
 * threads.
 */
#ifndef VAGX_CORE_H
#define VAGX_CORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct vagx_core;
struct vagx_jit;
struct vagx_programs;
struct vagx_report;
struct vagx_sanitizer;
struct vagx_tlb;
struct vagx_uat_fault;

/** VAGX_SIMD_WIDTH - threads of a simdgroup */
#define VAGX_SIMD_WIDTH		32
/** VAGX_CORE_MAX_THREADS - threads of a threadgroup */
#define VAGX_CORE_MAX_THREADS	1024
/** VAGX_CORE_MAX_SHARED - bytes of shared memory of a threadgroup, also where it is a tile */
#define VAGX_CORE_MAX_SHARED	32768
/** VAGX_CORE_UNIFORMS - 16-bit uniform registers */
#define VAGX_CORE_UNIFORMS	512

/** VAGX_CORE_TEXTURES - texture state registers */
#define VAGX_CORE_TEXTURES	128
/** VAGX_TEXTURE_BYTES - bytes of one of them: a Texture or a PBE packet */
#define VAGX_TEXTURE_BYTES	24

/** VAGX_CORE_SAMPLERS - sampler state registers */
#define VAGX_CORE_SAMPLERS	17
/** VAGX_SAMPLER_BYTES - bytes of one of them: a Sampler packet */
#define VAGX_SAMPLER_BYTES	8
/** VAGX_BORDER_BYTES - bytes of the border colour behind an extended sampler */
#define VAGX_BORDER_BYTES	16

/** struct vagx_launch - everything that the threadgroups of a launch share */
struct vagx_launch {
	/**
	 * @serial: differs from launch to launch, never 0. A core compares the code with
	 * memory again when the serial changes.
	 */
	uint64_t serial;
	/** @job: number of its job; 0 if it is not known */
	uint64_t job;
	/** @number: of the launch or draw in its job, from 1 on; 0 if it is none, or several */
	uint64_t number;
	/** @is_draw: it is a draw */
	bool is_draw;
	/** @code_va: first instruction, absolute */
	uint64_t code_va;
	/** @preshader_va: first instruction of the preshader, or 0 */
	uint64_t preshader_va;
	/** @uniforms: uniform registers, bound by USC words, then written by the preshader */
	uint16_t uniforms[VAGX_CORE_UNIFORMS];
	/** @uniforms_set: bit mask of those that were bound or written; the others are garbage */
	uint64_t uniforms_set[VAGX_CORE_UNIFORMS / 64];
	/** @regs: 16-bit registers that each thread has; 0 for all 256 */
	unsigned int regs;
	/** @preshader_regs: 16-bit registers of the preshader; 0 for all 256 */
	unsigned int preshader_regs;
	/** @grid: threads of the launch; the last groups may be partial */
	uint32_t grid[3];
	/** @local: threads of a whole threadgroup */
	uint32_t local[3];
	/** @shared_size: bytes of shared memory, up to VAGX_CORE_MAX_SHARED */
	uint32_t shared_size;
	/** @textures: texture state registers, bound by USC words */
	uint8_t textures[VAGX_CORE_TEXTURES][VAGX_TEXTURE_BYTES];
	/** @samplers: sampler state registers, bound by USC words */
	uint8_t samplers[VAGX_CORE_SAMPLERS][VAGX_SAMPLER_BYTES];
	/** @extended_samplers: samplers have border colours */
	bool extended_samplers;
	/** @borders: border colours of samplers */
	uint8_t borders[VAGX_CORE_SAMPLERS][VAGX_BORDER_BYTES];
	/** @sampler_heap: address of the bindless samplers */
	uint64_t sampler_heap;
	/** @sampler_count: number of bindless samplers */
	uint32_t sampler_count;
	/** @sample_stride: bytes of a sample in a tile */
	uint32_t sample_stride;
	/** @tile_width: pixels of a tile that shared memory is laid out as; 0 if it is not */
	uint32_t tile_width;
	/** @tile_height: rows of that tile */
	uint32_t tile_height;
	/** @tile_samples: samples of a pixel of that tile */
	uint32_t tile_samples;
	/** @early_test: depth and stencil are tested before the fragment shader */
	bool early_test;
	/** @no_stack: why a machine has no memory for the stacks of its threads, or NULL */
	const char *no_stack;
	/** @vm_slot: UAT context, as the shader can read it */
	unsigned int vm_slot;
	/** @soft_faults: unmapped loads give 0, unmapped stores vanish */
	bool soft_faults;
	/** @stop: when set, programs end with -ECANCELED soon; may be NULL */
	const atomic_bool *stop;
};

/** vagx_launch_set_uniforms() - note that uniforms have been bound or written */
static inline void vagx_launch_set_uniforms(struct vagx_launch *launch, unsigned int first,
					    unsigned int count)
{
	unsigned int half;

	for (half = first; half < first + count && half < VAGX_CORE_UNIFORMS; half++)
		launch->uniforms_set[half / 64] |= UINT64_C(1) << half % 64;
}

/** struct vagx_core_config - configuration of a core */
struct vagx_core_config {
	/** @index: number of the core, as the shader can read it */
	unsigned int index;
	/** @tlb: translations; used by the caller of the run functions only */
	struct vagx_tlb *tlb;
	/** @programs: cache of decoded programs, shared with other cores */
	struct vagx_programs *programs;
	/** @jit: compiler, shared with other cores; NULL if programs are interpreted */
	struct vagx_jit *jit;
	/** @sanitizer: checks programs, shared with other cores; NULL if nothing does */
	struct vagx_sanitizer *sanitizer;
	/**
	 * @report: takes mistakes that can be seen in programs, as warnings, and the text of
	 * programs, at its level "trace"; may be NULL
	 */
	struct vagx_report *report;
	/** @seed: chooses what registers and memory have that nothing has written */
	uint32_t seed;
};

/** struct vagx_core_stats - counters since vagx_core_new() */
struct vagx_core_stats {
	/** @instructions: instructions, counted once per simdgroup */
	uint64_t instructions;
	/** @thread_instructions: instructions, counted once per active thread */
	uint64_t thread_instructions;
	/** @groups: threadgroups run to their end */
	uint64_t groups;
	/** @loaded: bytes of device memory that load instructions have read, without atomics */
	uint64_t loaded;
	/** @stored: bytes of device memory that store instructions have written, without atomics */
	uint64_t stored;
};

/**
 * vagx_programs_new() - make a cache of decoded programs
 *
 * Cores share it, whatever contexts they work in: a program is found by its address and by its
 * code, byte for byte, so code that has changed is decoded again. The least recently used
 * programs are evicted first.
 *
 * Return: the cache, or NULL when there is no memory.
 */
struct vagx_programs *vagx_programs_new(void);

/**
 * vagx_programs_free() - free a cache
 * @programs: cache whose cores are gone, or NULL
 */
void vagx_programs_free(struct vagx_programs *programs);

/** struct vagx_programs_stats - counters since vagx_programs_new() */
struct vagx_programs_stats {
	/** @hits: lookups that found a program */
	uint64_t hits;
	/** @misses: lookups after which one was decoded */
	uint64_t misses;
	/** @instructions: decoded instructions in the cache */
	uint64_t instructions;
};

/**
 * vagx_programs_get_stats() - read the counters
 * @programs: cache
 * @stats: gets the counters
 */
void vagx_programs_get_stats(struct vagx_programs *programs,
			     struct vagx_programs_stats *stats);

/**
 * vagx_core_new() - make a core
 * @config: its configuration; copied
 *
 * A core is used by one thread at a time.
 *
 * Return: the core, or NULL when there is no memory.
 */
struct vagx_core *vagx_core_new(const struct vagx_core_config *config);

/**
 * vagx_core_free() - free a core
 * @core: core or NULL
 */
void vagx_core_free(struct vagx_core *core);

/**
 * vagx_core_run_groups() - run threadgroups, one after the other to its end
 * @core: core
 * @launch: the launch that they belong to
 * @group: position of the first one, in threadgroups
 * @count: how many; they go along x, then y, then z, and all of them are in the grid
 * @fault: filled when -EFAULT is returned
 *
 * Runs all simdgroups, barriers included. After an error no further one is run.
 *
 * Return: 0; -EFAULT for an access that the MMU refused (instruction
 * fetches too); -EILSEQ for an unknown or unsupported instruction, a
 * register that the thread does not have, a trap; -ERANGE for an access
 * outside of shared or private memory; -ECANCELED when the stop flag was
 * seen; -EINVAL for a launch outside of the limits; -ENOMEM. For all of
 * them vagx_core_error() has the details.
 */
int vagx_core_run_groups(struct vagx_core *core, const struct vagx_launch *launch,
			 const uint32_t group[3], unsigned int count,
			 struct vagx_uat_fault *fault);

/**
 * vagx_core_run_preshader() - run a launch's preshader, if it has one
 * @core: core
 * @launch: launch; its uniforms are read and written
 * @fault: filled when -EFAULT is returned
 *
 * To be called once, before the launch's first threadgroup.
 *
 * Return: as vagx_core_run_groups().
 */
int vagx_core_run_preshader(struct vagx_core *core, struct vagx_launch *launch,
			    struct vagx_uat_fault *fault);

/**
 * vagx_core_begin_tile() - tell the sanitizer, if there is one, that nothing is in a tile yet
 * @core: core that is going to draw the tile
 */
void vagx_core_begin_tile(struct vagx_core *core);

/**
 * vagx_core_settle() - have all that the core has stored reach memory
 * @core: core that does not run
 *
 * To be called on the thread that has run the core, at the end of a launch, or of the core's share
 * of it. Only cores that are unkind have stored something that is not in memory.
 */
void vagx_core_settle(struct vagx_core *core);

/**
 * vagx_core_error() - what went wrong in the last run
 * @core: core
 *
 * Return: text with the instruction's address, "" when nothing went wrong.
 * Valid until the core is used again.
 */
const char *vagx_core_error(const struct vagx_core *core);

/**
 * vagx_core_describe_failure() - where the last run failed
 * @core: core whose last run has failed
 * @launch: what it ran
 * @file: takes lines, each with a line feed before it: the error, the thread,
 *	instructions and registers; nothing for what failed at no instruction
 *
 * Before the core is used again.
 */
void vagx_core_describe_failure(const struct vagx_core *core, const struct vagx_launch *launch,
				FILE *file);

/**
 * vagx_core_get_stats() - read the counters
 * @core: core
 * @stats: gets the counters
 */
void vagx_core_get_stats(const struct vagx_core *core,
			 struct vagx_core_stats *stats);

/**
 * vagx_core_rested_ns() - how long a core has rested
 * @core: core
 *
 * A core rests while all threads of a threadgroup wait in a loop for a change of memory. From any
 * thread.
 *
 * Return: nanoseconds since vagx_core_new() that count as work: a half at most.
 */
uint64_t vagx_core_rested_ns(const struct vagx_core *core);

#endif /* VAGX_CORE_H */
