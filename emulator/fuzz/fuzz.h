/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What the fuzzing targets share. A target is one function that takes any bytes;
 * libFuzzer calls it, or mutator.c where there is no clang.
 */
#ifndef VAGX_FUZZ_H
#define VAGX_FUZZ_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* What gcc and clang call the same */
#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#endif

struct vagx_report;

/** LLVMFuzzerTestOneInput() - the target; returns 0 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/**
 * LLVMFuzzerCustomMutator() - change an input, where any bytes make no sense
 * @data: the input
 * @size: its bytes
 * @max_size: as many as it may have
 * @seed: of the changes
 *
 * Return: the new size.
 */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

/** FUZZ_CHECK() - what holds for any input, besides that nothing crashes */
#define FUZZ_CHECK(condition)							\
	do {									\
		if (!(condition)) {						\
			fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__,	\
				__LINE__, #condition);				\
			abort();						\
		}								\
	} while (0)

/** FUZZ_VA - where the input is in the GPU's memory; there is nothing else */
#define FUZZ_VA		0x1100000000ULL

/** fuzz_memory() - let an input be what the GPU sees at FUZZ_VA */
void fuzz_memory(const uint8_t *data, size_t size);

/** fuzz_stop - set when the memory has been read so often that there is no end */
extern atomic_bool fuzz_stop;

/** fuzz_read() - read that memory; 0 or -EFAULT */
int fuzz_read(void *ctx, uint64_t va, void *buf, size_t len);

/** fuzz_report() - takes messages, and drops them */
struct vagx_report *fuzz_report(void);

/** fuzz_null() - a stream that goes nowhere */
FILE *fuzz_null(void);

#endif /* VAGX_FUZZ_H */
