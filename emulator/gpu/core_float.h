/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Numbers as the shader core sees them: 32-bit floats without denormals,
 * 16-bit floats with them, one NaN, round to nearest even.
 */
#ifndef VAGX_CORE_FLOAT_H
#define VAGX_CORE_FLOAT_H

#include "agx_float.h"
#include "core_internal.h"

/* Denormals become zeros of the same sign */
static inline uint32_t flush(uint32_t bits)
{
	return bits & 0x7f800000 ? bits : bits & 0x80000000;
}

/** read_float_lanes() - a float source with its modifiers, flushed */
void read_float_lanes(const struct simdgroup *sg, const struct agx_operand *o,
		      struct float_lanes *lanes);

/**
 * write_float_lanes() - a result to the active lanes of a destination
 *
 * Saturates if the instruction says so, flushes or rounds as the destination
 * needs it. @lanes is used up.
 */
void write_float_lanes(struct simdgroup *sg, const struct op *op,
		       struct float_lanes *lanes);

#endif /* VAGX_CORE_FLOAT_H */
