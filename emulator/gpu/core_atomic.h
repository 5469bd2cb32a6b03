/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What atomics do, for the interpreter and for native code.
 */
#ifndef VAGX_CORE_ATOMIC_H
#define VAGX_CORE_ATOMIC_H

#include <stdint.h>

#include "agx_isa.h"

/** atomic_result() - what is in memory afterwards; @expected: of AGX_ATOMIC_CMPXCHG only */
static inline uint32_t atomic_result(unsigned int kind, uint32_t old, uint32_t value,
				     uint32_t expected)
{
	switch (kind) {
	case AGX_ATOMIC_ADD:
		return old + value;
	case AGX_ATOMIC_SUB:
		return old - value;
	case AGX_ATOMIC_XCHG:
		return value;
	case AGX_ATOMIC_CMPXCHG:
		return old == expected ? value : old;
	case AGX_ATOMIC_UMIN:
		return value < old ? value : old;
	case AGX_ATOMIC_IMIN:
		return (int32_t)value < (int32_t)old ? value : old;
	case AGX_ATOMIC_UMAX:
		return value > old ? value : old;
	case AGX_ATOMIC_IMAX:
		return (int32_t)value > (int32_t)old ? value : old;
	case AGX_ATOMIC_AND:
		return old & value;
	case AGX_ATOMIC_OR:
		return old | value;
	default:
		return old ^ value;
	}
}

#endif /* VAGX_CORE_ATOMIC_H */
