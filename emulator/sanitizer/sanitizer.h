/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * A sanitizer for shaders: runs programs by the interpreter, instruction by instruction, with
 * shadows of registers and memory beside them, and reports what gives garbage, hangs or flickers
 * on a machine although it gives the right result here. For people who write compilers.
 */
#ifndef VAGX_SANITIZER_H
#define VAGX_SANITIZER_H

#include <stdbool.h>
#include <stdint.h>

struct simdgroup;
struct vagx_core;
struct vagx_report;
struct vagx_sanitizer;
struct vagx_shadow;
struct vagx_slice;

/** struct vagx_watch - an instruction at which registers of a thread are printed */
struct vagx_watch {
	/** @enabled: there is one */
	bool enabled;
	/** @any_thread: of whichever thread is the first that is active */
	bool any_thread;
	/** @shader: checksum of its code */
	uint64_t shader;
	/** @offset: of the instruction, bytes from the shader's first one */
	uint64_t offset;
	/** @thread: place in the grid; or vertex, instance, 0; or pixel and layer */
	uint32_t thread[3];
};

/**
 * vagx_watch_parse() - read what is to be watched
 * @place: SHADER, SHADER+OFFSET or SHADER:OFFSET; the shader in hexadecimal, as in reports
 * @thread: "X,Y,Z" in decimal, or NULL for any
 * @watch: gets it
 *
 * Return: whether both are right.
 */
bool vagx_watch_parse(const char *place, const char *thread, struct vagx_watch *watch);

/** VAGX_SANITIZER_MAX_MIB - the largest number of MiB that programs take for @memory */
#define VAGX_SANITIZER_MAX_MIB	65536

/** struct vagx_sanitizer_config - configuration of the sanitizer */
struct vagx_sanitizer_config {
	/** @check: report mistakes */
	bool check;
	/** @unkind: do late what a machine may do late, and spoil registers after last uses */
	bool unkind;
	/** @watch: where registers are printed, as warnings */
	struct vagx_watch watch;
	/** @profile: count instructions, and print a table at the end, as a warning */
	bool profile;
	/** @profile_trace: file that the profile is added to as a trace for Perfetto, or NULL */
	const char *profile_trace;
	/** @descriptors: file that descriptors of texture instructions are recorded in, or NULL */
	const char *descriptors;
	/**
	 * @memory: bytes of memory at most for what is known of device memory; 0 for 64 MiB. What
	 * is reached last stays, so with less of it races are missed.
	 */
	uint64_t memory;
	/** @suppressions: file of findings that are known, or NULL */
	const char *suppressions;
	/**
	 * @page_bytes: how many bytes of a page of VAGX_UAT_PAGE_SIZE, from its beginning on,
	 * belong to the buffer that is there; from any core's thread. NULL if nobody knows.
	 */
	unsigned int (*page_bytes)(void *ctx, const void *page);
	/** @ctx: its first argument */
	void *ctx;
};

/** vagx_sanitizer_wanted() - whether a configuration asks for anything */
static inline bool vagx_sanitizer_wanted(const struct vagx_sanitizer_config *config)
{
	return config->check || config->unkind || config->watch.enabled || config->profile ||
	       config->descriptors;
}

/**
 * vagx_sanitizer_new() - make a sanitizer
 * @config: configuration; copied, with names; the file of suppressions is read now
 * @report: takes findings as warnings, and messages
 *
 * Cores share it. A message says what is wrong with the file of suppressions.
 *
 * Return: the sanitizer, or NULL with errno set: EINVAL for the file, ENOMEM.
 */
struct vagx_sanitizer *vagx_sanitizer_new(const struct vagx_sanitizer_config *config,
					  struct vagx_report *report);

/**
 * vagx_sanitizer_free() - free a sanitizer, after a summary of what it has found, and the profile
 * @sanitizer: sanitizer whose cores are gone, or NULL
 */
void vagx_sanitizer_free(struct vagx_sanitizer *sanitizer);

/**
 * vagx_sanitizer_count() - places that were reported
 * @sanitizer: sanitizer, or NULL
 *
 * A place is an instruction of a shader and a kind of mistake. From any thread.
 *
 * Return: how many there are, without those that the file of suppressions names.
 */
uint64_t vagx_sanitizer_count(struct vagx_sanitizer *sanitizer);

/*
 * For a core, whose thread calls these. All but the first one take a core with a shadow.
 */

/**
 * vagx_shadow_new() - make the shadow of a core
 * @sanitizer: sanitizer
 *
 * Return: the shadow, or NULL when there is no memory.
 */
struct vagx_shadow *vagx_shadow_new(struct vagx_sanitizer *sanitizer);

/**
 * vagx_shadow_free() - free the shadow of a core
 * @shadow: shadow or NULL
 */
void vagx_shadow_free(struct vagx_shadow *shadow);

/**
 * vagx_shadow_keeps_stores() - whether stores to device memory become visible late
 * @shadow: shadow
 */
bool vagx_shadow_keeps_stores(const struct vagx_shadow *shadow);

/**
 * vagx_shadow_settle() - have what was stored late reach memory
 * @shadow: shadow
 */
void vagx_shadow_settle(struct vagx_shadow *shadow);

/**
 * vagx_shadow_begin_group() - a threadgroup, or the simdgroup of a stage, begins
 * @core: core; nothing has been written to its local memory
 */
void vagx_shadow_begin_group(struct vagx_core *core);

/**
 * vagx_shadow_begin_tile() - a tile begins
 * @shadow: shadow of the core that draws it; nothing has been stored to it
 */
void vagx_shadow_begin_tile(struct vagx_shadow *shadow);

/**
 * vagx_shadow_begin_simdgroup() - a simdgroup begins
 * @sg: simdgroup, whose registers have their first values
 *
 * Return: 0, or -ENOMEM.
 */
int vagx_shadow_begin_simdgroup(struct simdgroup *sg);

/**
 * vagx_shadow_open_barrier() - all simdgroups that have not ended wait at a barrier
 * @core: core
 * @count: simdgroups of the group
 */
void vagx_shadow_open_barrier(struct vagx_core *core, unsigned int count);

/**
 * vagx_shadow_run() - run a simdgroup and its shadow, until its slice ends or its state changes
 * @sg: simdgroup that runs; it can be in another program afterwards
 * @slice: its time slice
 */
void vagx_shadow_run(struct simdgroup *sg, struct vagx_slice *slice);

#endif /* VAGX_SANITIZER_H */
