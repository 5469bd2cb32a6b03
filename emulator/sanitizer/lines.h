/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Lines of device memory that a core has stored to and nobody else sees. They are a cache of sets
 * of WAYS lines, as caches of hardware are: a line is found by one look at its set, and one that
 * the seed chooses reaches memory when its set is full. A line belongs to a simdgroup, or is what
 * simdgroups have given to their threadgroup. Lines of a threadgroup that has ended stay until
 * they are written, and nobody finds them.
 */
#ifndef VAGX_SANITIZER_LINES_H
#define VAGX_SANITIZER_LINES_H

#include "gpu/core_internal.h"

/* Bytes of a line */
#define LINE		64
#define WAYS		8
#define LOG2_SETS	5
#define LINES		(WAYS << LOG2_SETS)
#define LINE_WORDS	(LINES / 64)
/* There is no such line */
#define NO_LINE		LINES

/* Owners of lines, behind the simdgroups of the group that runs */
enum line_owner {
	OWNER_GROUP = MAX_SIMDGROUPS,
	OWNERS,
};

/* Bits of a line's name below its address: the group's number, and the owner's */
#define LINE_GROUP_BITS	16
#define LINE_OWNER_BITS	6

struct lines {
	/* of each line; 0 if it is free */
	uint64_t name[LINES] __attribute__((aligned(64)));
	/* the memory that it is for, bytes that have been stored, and their values */
	uint8_t *memory[LINES];
	uint64_t stored[LINES];
	uint8_t bytes[LINES][LINE];
	/* groups of stores that have not been waited for, as a mask */
	uint8_t pending[LINES];
	/* the lines of each owner of this group, and the owners that may have some, as masks */
	uint64_t of[OWNERS][LINE_WORDS];
	uint64_t owners;
	/* counts threadgroups */
	uint16_t group;
	/* how many lines belong to this or another group as a whole */
	unsigned int given;
	/* changes with each choice */
	uint32_t random;
};

/* The name of a line. Addresses have up to 48 bits, unless a process asks for longer ones. */
static inline uint64_t line_name(const uint8_t *memory, unsigned int group, unsigned int owner)
{
	return (uint64_t)(uintptr_t)memory << (LINE_GROUP_BITS + LINE_OWNER_BITS - 6) |
	       group << LINE_OWNER_BITS | owner;
}

static inline unsigned int line_set(const uint8_t *memory)
{
	return ((uintptr_t)memory / LINE * 0x9e3779b97f4a7c15 >> (64 - LOG2_SETS)) * WAYS;
}

/* The first line of a set that has a name. Return: it, or NO_LINE. */
static inline unsigned int line_in_set(const struct lines *l, unsigned int set, uint64_t name)
{
	unsigned int found = 0, i;

	for (i = 0; i < WAYS; i++)
		found |= (l->name[set + i] == name) << i;
	return found ? set + __builtin_ctz(found) : NO_LINE;
}

/* Whether an owner of this group may have lines */
static inline bool line_owner_has_some(const struct lines *l, unsigned int owner)
{
	return l->owners >> owner & 1;
}

/* An owner's line for memory that begins at a multiple of LINE, or NO_LINE */
static inline unsigned int line_find(const struct lines *l, const uint8_t *memory,
				     unsigned int owner)
{
	if (!line_owner_has_some(l, owner))
		return NO_LINE;
	return line_in_set(l, line_set(memory), line_name(memory, l->group, owner));
}

/* The line of a simdgroup for memory, which is made unless there is one */
unsigned int line_get(struct lines *l, uint8_t *memory, unsigned int owner);

/* Writes @count bytes of a line to memory, from @first on, so far as they are stored */
void line_write(struct lines *l, unsigned int line, unsigned int first, unsigned int count);

/* Writes an owner's lines to memory, or gives them to the threadgroup; if @all, pending ones too */
void lines_show(struct lines *l, unsigned int owner, bool all);
void lines_give(struct lines *l, unsigned int owner, bool all);

/* A simdgroup has waited for a group of stores */
void lines_await(struct lines *l, unsigned int owner, unsigned int group);

/* Writes all lines to memory */
void lines_settle(struct lines *l);

/* A threadgroup begins, which sees no line */
void lines_begin_group(struct lines *l);

#endif /* VAGX_SANITIZER_LINES_H */
