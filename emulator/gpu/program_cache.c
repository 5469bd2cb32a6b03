// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The cache of decoded programs, which all cores share: a hash table with chains, and a list in
 * the order of last use, from whose end unused programs are evicted (LRU). A program is found by
 * its address and register count, and its code is compared with memory: two contexts can have
 * different programs at one address, and a client may overwrite its own at any time. Comparing is
 * cheap beside decoding.
 *
 * One mutex protects everything in the cache, and the reference counts of its programs; programs
 * are decoded without it. Called from any core's thread.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "core_internal.h"

/* Instructions that are kept, about 32 MB of them; programs in use come on top */
#define CACHE_OPS	262144
/* What a program costs besides its instructions, in instructions */
#define PROGRAM_COST	16
#define BUCKETS		1024

struct vagx_programs {
	/* everything below */
	pthread_mutex_t lock;
	struct program *newest;
	struct program *oldest;
	/* by address */
	struct program *bucket[BUCKETS];
	uint64_t ops;
	struct vagx_programs_stats stats;
};

struct vagx_programs *vagx_programs_new(void)
{
	struct vagx_programs *programs = calloc(1, sizeof(*programs));

	if (programs)
		pthread_mutex_init(&programs->lock, NULL);
	return programs;
}

static struct program **program_cache_bucket_of(struct vagx_programs *programs, uint64_t va)
{
	return &programs->bucket[(va >> 6 ^ va >> 16) % BUCKETS];
}

static void program_cache_unlink_program(struct vagx_programs *programs, struct program *p)
{
	struct program **link = program_cache_bucket_of(programs, p->va);

	while (*link != p)
		link = &(*link)->next;
	*link = p->next;
	*(p->newer ? &p->newer->older : &programs->newest) = p->older;
	*(p->older ? &p->older->newer : &programs->oldest) = p->newer;
	programs->ops -= p->count + PROGRAM_COST;
	p->cached = false;
}

static void program_cache_link_newest(struct vagx_programs *programs, struct program *p)
{
	p->newer = NULL;
	p->older = programs->newest;
	*(p->older ? &p->older->newer : &programs->oldest) = p;
	programs->newest = p;
	p->next = *program_cache_bucket_of(programs, p->va);
	*program_cache_bucket_of(programs, p->va) = p;
	programs->ops += p->count + PROGRAM_COST;
	p->cached = true;
}

void vagx_programs_free(struct vagx_programs *programs)
{
	if (!programs)
		return;
	while (programs->newest) {
		struct program *p = programs->newest;

		program_cache_unlink_program(programs, p);
		vagx_program_free(p);
	}
	pthread_mutex_destroy(&programs->lock);
	free(programs);
}

/* Evicts unused programs, the least recently used first, down to CACHE_OPS. With the lock held. */
static void program_cache_shrink(struct vagx_programs *programs)
{
	struct program *p = programs->oldest;

	while (p && programs->ops > CACHE_OPS) {
		struct program *newer = p->newer;

		if (!p->users) {
			program_cache_unlink_program(programs, p);
			vagx_program_free(p);
		}
		p = newer;
	}
}

static struct program *program_cache_find(struct vagx_programs *programs,
					  struct vagx_core *core, uint64_t va)
{
	struct program *p;

	for (p = *program_cache_bucket_of(programs, va); p; p = p->next) {
		if (p->va == va &&
		    p->register_halves == core->register_halves &&
		    vagx_program_is_current(core, p))
			break;
	}
	if (!p)
		return NULL;
	program_cache_unlink_program(programs, p);
	program_cache_link_newest(programs, p);
	p->users++;
	return p;
}

/* Adds a program, or returns the one that another core has decoded meanwhile */
static struct program *program_cache_add(struct vagx_programs *programs,
					 struct vagx_core *core, struct program *fresh)
{
	struct program *p;

	pthread_mutex_lock(&programs->lock);
	p = fresh->incomplete ? NULL : program_cache_find(programs, core, fresh->va);
	if (!p)
		fresh->users = 1;
	if (!p && !fresh->incomplete) {
		program_cache_link_newest(programs, fresh);
		program_cache_shrink(programs);
	}
	pthread_mutex_unlock(&programs->lock);
	if (!p)
		return fresh;
	vagx_program_free(fresh);
	return p;
}

/**
 * vagx_programs_get() - the program at an address
 * @core: core, in whose context the address is, and with its registers
 * @va: address of the first instruction
 * @program: where the program goes; it may be used until vagx_programs_put()
 *
 * Return: 0, or an error of vagx_program_decode().
 */
int vagx_programs_get(struct vagx_core *core, uint64_t va,
		      struct program **program)
{
	struct vagx_programs *programs = core->config.programs;
	struct program *fresh;
	int err;

	pthread_mutex_lock(&programs->lock);
	*program = program_cache_find(programs, core, va);
	if (*program)
		programs->stats.hits++;
	else
		programs->stats.misses++;
	pthread_mutex_unlock(&programs->lock);
	if (*program)
		return 0;

	err = vagx_program_decode(core, va, &fresh);
	if (err)
		return err;
	*program = program_cache_add(programs, core, fresh);
	return 0;
}

/**
 * vagx_programs_put() - a program is not used any more
 * @programs: cache
 * @program: what vagx_programs_get() gave
 */
void vagx_programs_put(struct vagx_programs *programs, struct program *program)
{
	pthread_mutex_lock(&programs->lock);
	if (!--program->users && !program->cached)
		vagx_program_free(program);
	else
		program_cache_shrink(programs);
	pthread_mutex_unlock(&programs->lock);
}

void vagx_programs_get_stats(struct vagx_programs *programs,
			     struct vagx_programs_stats *stats)
{
	pthread_mutex_lock(&programs->lock);
	*stats = programs->stats;
	stats->instructions = programs->ops;
	pthread_mutex_unlock(&programs->lock);
}
