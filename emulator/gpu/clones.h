/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * A function that is compiled three times, for any processor of the architecture, for
 * those of the last ten years, and for those with vectors of 512 bits, of which the
 * loader takes one. It calls others slowly, and has their loops compiled for any processor:
 * what is part of one has to be inlined.
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
