/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The profile: how often each instruction ran, in how many threads, and how long a model says that
 * it took. Each core counts for itself, without locks; its counts are added to the profile when the
 * core is freed, and the profile is written when the last one is.
 */
#ifndef VAGX_SANITIZER_PROFILE_H
#define VAGX_SANITIZER_PROFILE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "agx_isa.h"

struct op;
struct profile_core;
struct simdgroup;
struct vagx_report;

/* Instructions that are kept, of all shaders and cores; 48 MiB of them */
#define PROFILE_OPS	(1u << 20)
/* What a shader costs besides its instructions, in instructions */
#define PROFILE_SHADER	8
/* Slices of the trace that are kept, of all cores; 5 MiB of them */
#define PROFILE_SLICES	(1u << 16)

/* Lists of shaders in a table */
#define PROFILE_BUCKETS	1024

enum profile_unit {
#define PROFILE_UNIT(id, name, slots, latency, source) PROFILE_##id,
#include "sanitizer/profile.def"
	PROFILE_UNITS
};

/** struct profile_model - what the model says of a unit, see profile.def */
struct profile_model {
	const char *name;
	unsigned int slots;
	unsigned int latency;
	const char *source;
};

extern const struct profile_model profile_models[PROFILE_UNITS];

/** profile_unit_of() - unit of an instruction */
enum profile_unit profile_unit_of(enum agx_opcode op);

/** struct profile_op - an instruction of a shader */
struct profile_op {
	/** @runs: simdgroups that have executed it */
	uint64_t runs;
	/** @lanes: active lanes, summed over them */
	uint64_t lanes;
	/** @stall: slots that they have waited at it, summed over them */
	uint64_t stall;
	/** @offset: bytes from the shader's first instruction */
	int64_t offset;
	/** @length: bytes of the instruction; 0 if it is none */
	uint8_t length;
	/** @code: those bytes */
	uint8_t code[AGX_ISA_MAX_LENGTH];
};

/** struct profile_sum - sums over instructions */
struct profile_sum {
	/** @simdgroups: simdgroups that have begun */
	uint64_t simdgroups;
	/** @instructions: instructions, counted once for each simdgroup */
	uint64_t instructions;
	/** @lanes: active lanes of them */
	uint64_t lanes;
	/** @existing: lanes with a thread of them, active or not */
	uint64_t existing;
	/** @slots: issue slots that they have taken, stalls included */
	uint64_t slots;
	/** @stall: slots of these in which nothing could be issued */
	uint64_t stall;
};

/** struct profile_shader - a program in a stage */
struct profile_shader {
	/** @next: next one of its list */
	struct profile_shader *next;
	/** @checksum: names it, as in reports of the sanitizer */
	uint64_t checksum;
	/** @stage: vagx_core_stage_name() */
	const char *stage;
	/** @sum: of its instructions */
	struct profile_sum sum;
	/** @stalls: slots of stalls by the unit that was waited for */
	uint64_t stalls[PROFILE_UNITS];
	/** @num_ops: number of @op */
	uint32_t num_ops;
	/** @op: its instructions; NULL if these are sums of shaders that are not kept */
	struct profile_op *op;
};

/** struct profile_shaders - shaders, by their checksum */
struct profile_shaders {
	struct profile_shader *bucket[PROFILE_BUCKETS];
};

/** struct profile_slice - simdgroups of one shader that a core has run one after the other */
struct profile_slice {
	/** @launch: serial number of the launch or draw */
	uint64_t launch;
	/** @stage: vagx_core_stage_name() */
	const char *stage;
	/** @checksum: of the shader */
	uint64_t checksum;
	/** @begin: issue slots of the core before it */
	uint64_t begin;
	/** @sum: of its instructions */
	struct profile_sum sum;
};

/** struct profile_track - what a core has run */
struct profile_track {
	struct profile_track *next;
	unsigned int number;
	struct profile_slice *slice;
	uint32_t num_slices;
	/** @left_out: slices that are not kept */
	uint64_t left_out;
};

/** struct profile - the profile of all cores */
struct profile {
	struct vagx_report *report;
	/** @path: file of the trace, or NULL */
	char *path;
	atomic_uint num_cores;
	/** @num_ops: instructions that are kept, with what their shaders cost */
	atomic_uint num_ops;
	atomic_uint num_slices;
	pthread_mutex_t lock;
	/** @shaders: shaders; protected by @lock, as what follows */
	struct profile_shaders shaders;
	/** @lost: sums of shaders that are not kept */
	struct profile_shader lost;
	struct profile_track *track;
};

/**
 * profile_new() - make an empty profile
 * @path: file that a trace is added to at the end, or NULL
 * @report: takes the table as a warning
 *
 * Return: the profile, or NULL with errno set.
 */
struct profile *profile_new(const char *path, struct vagx_report *report);

/** profile_free() - write a profile and free it, or NULL */
void profile_free(struct profile *profile);

/** profile_core_new() - begin the counts of a core. Return: NULL without memory. */
struct profile_core *profile_core_new(struct profile *profile);

/** profile_core_free() - add the counts of a core to the profile, and free them; or NULL */
void profile_core_free(struct profile_core *core);

/**
 * profile_begin_simdgroup() - a simdgroup begins
 * @core: counts of its core
 * @sg: simdgroup, in its first program
 */
void profile_begin_simdgroup(struct profile_core *core, const struct simdgroup *sg);

/**
 * profile_count() - count an instruction, before it runs
 * @core: counts of its core
 * @sg: simdgroup
 * @op: instruction, which was not replaced
 */
void profile_count(struct profile_core *core, const struct simdgroup *sg, const struct op *op);

/** profile_add() - add sums to others */
static inline void profile_add(struct profile_sum *to, const struct profile_sum *sum)
{
	to->simdgroups += sum->simdgroups;
	to->instructions += sum->instructions;
	to->lanes += sum->lanes;
	to->existing += sum->existing;
	to->slots += sum->slots;
	to->stall += sum->stall;
}

/** profile_find() - the list that a shader of this checksum is in */
static inline struct profile_shader **profile_find(struct profile_shaders *shaders,
						   uint64_t checksum)
{
	return &shaders->bucket[checksum % PROFILE_BUCKETS];
}

/**
 * profile_print() - print the table: shaders, the hottest instructions, the hottest shader
 * @profile: profile
 * @file: takes it; each line begins with a line feed and a space
 *
 * Return: whether there is anything in it.
 */
bool profile_print(const struct profile *profile, FILE *file);

/**
 * profile_write_trace() - add all tracks to a file of Chrome's trace events
 * @profile: profile
 * @path: file; a whole array of JSON before and afterwards, or empty before
 *
 * Processes take turns by a lock on the file.
 *
 * Return: 0, or an errno value.
 */
int profile_write_trace(const struct profile *profile, const char *path);

#endif /* VAGX_SANITIZER_PROFILE_H */
