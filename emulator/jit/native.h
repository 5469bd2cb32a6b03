/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Native code of a program, as programs keep it.
 */
#ifndef VAGX_JIT_NATIVE_H
#define VAGX_JIT_NATIVE_H

#include <stdatomic.h>
#include <stdint.h>

struct vagx_native;

/**
 * struct vagx_native_slot - where the code of a program goes, which is shared by all cores
 * @uses: time slices that began in the program
 * @native: the code, once there is any
 */
struct vagx_native_slot {
	atomic_uint uses;
	_Atomic(struct vagx_native *) native;
};

/** vagx_native_free() - free the code of a program that no thread runs, or NULL */
void vagx_native_free(struct vagx_native *native);

#endif /* VAGX_JIT_NATIVE_H */
