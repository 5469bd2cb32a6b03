/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Function multiversioning: a function with CLONES is compiled three times, for any processor of
 * the architecture, with AVX2, and with AVX-512, and the loader chooses one. Functions that it
 * calls are compiled for any processor, so its loops have to be inlined in it: INLINE.
 * For loops over lanes and pixels that draw, or that native code calls. Instructions that have
 * native code have no clones: their C is what native code is compared with.
 */
#ifndef VAGX_CLONES_H
#define VAGX_CLONES_H

#ifdef VAGX_CLONES
#define CLONES	__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CLONES
#endif

#define INLINE	static inline __attribute__((always_inline))

#endif /* VAGX_CLONES_H */
