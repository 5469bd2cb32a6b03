/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Threads of what is tested, on one thread and in a time of their own, so that a run is the
 * same each time. The linker gives calls of threads, mutexes, conditions and clocks to this
 * file (fibers.c has the list, and meson.build the options). One fiber runs at a time, until
 * it has to wait, or by chance when it takes a mutex. While all of them wait, time goes on to
 * the first moment that one of them waits for: so a wait of seconds takes none.
 *
 * Outside of fuzz_fibers_begin() and fuzz_fibers_end() the calls are those of libc.
 */
#ifndef VAGX_FUZZ_FIBERS_H
#define VAGX_FUZZ_FIBERS_H

#include <stdint.h>

/** fuzz_fibers_begin() - the caller is the first fiber; @seed chooses who goes on */
void fuzz_fibers_begin(uint64_t seed);

/** fuzz_fibers_end() - there is one fiber left */
void fuzz_fibers_end(void);

/** fuzz_fibers_sleep() - let the others run for so long */
void fuzz_fibers_sleep(uint64_t ns);

#endif /* VAGX_FUZZ_FIBERS_H */
