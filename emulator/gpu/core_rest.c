// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Rest: a threadgroup that waits in a loop, until something else changes memory, keeps none of the
 * host's processors busy. Its registers, its private and shared memory are the same at the end of
 * one time slice after the other, and it has stored nothing; so are its program counters, as
 * native code ends a slice where the loop begins. After some rounds the core sleeps for a moment
 * before each further one, which is short. A part of the sleep counts as work
 * (vagx_core_rested_ns()), so that the same time-outs end a program that waits for ever: as much as
 * a core would have had of a processor that it shares with its client and with the other cores
 * that wait. If all of it counted, work that ends in time on a slow host would be taken down.
 */
#include <time.h>

#include "core_internal.h"

/* Rounds without a change before the core rests: about a millisecond */
#define REST_ROUNDS	8
#define REST_NS		1000000
/* The part of a time slice that is enough to look at memory again */
#define REST_SLICE	16

/* Cores of all GPUs that sleep */
static atomic_uint rest_cores;

static uint64_t rest_add(uint64_t hash, const void *data, size_t size)
{
	const uint8_t *bytes = data;
	uint64_t word;
	size_t i;

	for (i = 0; i + sizeof(word) <= size; i += sizeof(word)) {
		memcpy(&word, bytes + i, sizeof(word));
		hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	for (; i < size; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x9e3779b97f4a7c15);
	return hash;
}

/* A hash of what simdgroups have in registers, and of the bytes that the core has stored */
static uint64_t rest_hash_registers(const struct vagx_core *core, unsigned int count)
{
	uint64_t hash = core->stats.stored;
	unsigned int i;

	for (i = 0; i < count; i++) {
		const struct simdgroup *sg = core->simdgroup[i];
		const uint64_t state[] = {
			sg->program->va, sg->pc, sg->state, sg->exec, sg->valid,
			(uint64_t)sg->stack_pointer,
		};

		hash = rest_add(hash, state, sizeof(state));
		hash = rest_add(hash, sg->reg,
				(sg->program->register_halves + 1) / 2 * sizeof(sg->reg[0]));
	}
	return hash;
}

/* A hash of the memory that only these simdgroups can change */
static uint64_t rest_hash_memory(const struct vagx_core *core, unsigned int count)
{
	uint64_t hash = rest_add(0, core->shared, core->launch->shared_size);
	unsigned int i;

	for (i = 0; i < count; i++) {
		const struct simdgroup *sg = core->simdgroup[i];

		hash = rest_add(hash, sg->private_memory, (size_t)sg->private_size * LANES);
	}
	return hash;
}

void vagx_rest_begin(struct vagx_core *core)
{
	core->rest = (struct core_rest){ 0 };
}

int vagx_rest_slice(const struct vagx_core *core, int slice)
{
	return core->rest.rounds < REST_ROUNDS ? slice : slice / REST_SLICE;
}

void vagx_rest_after_round(struct vagx_core *core, unsigned int count)
{
	const struct timespec moment = { .tv_nsec = REST_NS };
	struct core_rest *rest = &core->rest;
	uint64_t registers = rest_hash_registers(core, count), memory;
	unsigned int cores;

	if (registers != rest->registers) {
		rest->registers = registers;
		rest->rounds = 0;
		return;
	}
	memory = rest_hash_memory(core, count);
	rest->rounds = memory == rest->memory ? rest->rounds + 1 : 0;
	rest->memory = memory;
	if (rest->rounds < REST_ROUNDS)
		return;
	cores = atomic_fetch_add_explicit(&rest_cores, 1, memory_order_relaxed) + 1;
	nanosleep(&moment, NULL);
	atomic_fetch_sub_explicit(&rest_cores, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&core->rested_ns, REST_NS / (1 + cores), memory_order_relaxed);
}

uint64_t vagx_core_rested_ns(const struct vagx_core *core)
{
	return atomic_load_explicit(&core->rested_ns, memory_order_relaxed);
}
