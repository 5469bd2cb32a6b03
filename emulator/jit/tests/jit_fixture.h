/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Cores of a fixture with any configuration of the compiler.
 */
#ifndef JIT_FIXTURE_H
#define JIT_FIXTURE_H

#include "core_fixture.h"
#include "jit/jit.h"

/** jit_begin_config() - a fixture whose core has such a compiler */
struct fixture *jit_begin_config(const struct vagx_jit_config *config);

/** jit_has_mode() - whether a mode is one on this kind of processor */
bool jit_has_mode(const char *mode);

/** jit_begin() - the same, by the name of a mode */
struct fixture *jit_begin(const char *mode);

/** jit_end() - free a fixture */
void jit_end(struct fixture *f);

/** jit_stats() - counters of the compiler */
struct vagx_jit_stats jit_stats(struct fixture *f);

#endif /* JIT_FIXTURE_H */
