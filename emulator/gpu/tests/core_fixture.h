/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * A shader core without a machine around it: programs are text, memory is an
 * array behind an MMU that maps it at one address.
 */
#ifndef CORE_FIXTURE_H
#define CORE_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "core.h"
#include "uat.h"

#define CODE_VA		0x1100000000ULL
#define CODE_PAGES	64
#define CODE_SIZE	(CODE_PAGES * VAGX_UAT_PAGE_SIZE)
#define DATA_VA		0x2000000000ULL
#define DATA_PAGES	4
#define DATA_SIZE	(DATA_PAGES * VAGX_UAT_PAGE_SIZE)
/* Mapped, but not to be written */
#define CONST_VA	0x3000000000ULL

struct fixture {
	struct vagx_core *core;
	struct vagx_core_config config;
	struct vagx_programs *programs;
	struct vagx_tlb tlb;
	struct vagx_launch launch;
	struct vagx_uat_fault fault;
	atomic_bool stop;
};

/** data - what is at DATA_VA, and pages that are at CONST_VA */
extern uint8_t *fixture_data;
extern uint8_t *fixture_const;

/** fixture_hole - address of a page that is not mapped after all, or 0 */
extern uint64_t fixture_hole;

/** fixture_of_stage - random programs may have instructions of stages of rendering */
extern bool fixture_of_stage;

/** fixture_prologue - text of instructions before random ones, or NULL */
extern const char *fixture_prologue;

/** fixture_log - takes what is logged, or NULL */
extern FILE *fixture_log;

/** fixture_setup() - cmocka setup: *state becomes a struct fixture */
int fixture_setup(void **state);
int fixture_teardown(void **state);

/** fixture_code() - assemble a program to CODE_VA; fails the test if it can't */
void fixture_code(struct fixture *f, const char *text);

/** fixture_bytes() - put any bytes to CODE_VA */
void fixture_bytes(struct fixture *f, const void *bytes, size_t size);

/**
 * fixture_random_code() - put random, but valid instructions to CODE_VA
 *
 * They end in a stop, but a jump into the middle of an instruction can miss it.
 */
void fixture_random_code(struct fixture *f, unsigned int seed);

/** fixture_uniform64() - set four uniform halves, from half @half on */
void fixture_uniform64(struct fixture *f, unsigned int half, uint64_t value);

/** fixture_run() - assemble, and run a group of @threads threads */
int fixture_run(struct fixture *f, const char *text, unsigned int threads);

/** fixture_run_again() - run a group of @threads threads of what is there */
int fixture_run_again(struct fixture *f, unsigned int threads);

/** fixture_run_groups() - run so many groups of @threads threads of what is there */
int fixture_run_groups(struct fixture *f, unsigned int threads, unsigned int groups);

/** fixture_agrees() - fail if native code differed from the interpreter. Return: @err. */
int fixture_agrees(struct fixture *f, int err);

static inline uint32_t *fixture_words(void)
{
	return (uint32_t *)(void *)fixture_data;
}

#endif /* CORE_FIXTURE_H */
