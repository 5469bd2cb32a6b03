/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Floats of the shader core: 32-bit ones without denormals (flushed to zero), 16-bit ones with
 * them, a single NaN, rounding to nearest even.
 */
#ifndef VAGX_CORE_FLOAT_H
#define VAGX_CORE_FLOAT_H

#include "agx_float.h"
#include "core_internal.h"

/* Denormals become zeros of the same sign */
INLINE uint32_t flush(uint32_t bits)
{
	return bits & 0x7f800000 ? bits : bits & 0x80000000;
}

/** register_from_float() - convert a float to the bits of a register of 16 or 32 bits */
INLINE uint32_t register_from_float(unsigned int size, float value)
{
	if (size == 16)
		return value == value ? half_from_float(value) : 0x7e00;
	return value == value ? flush(float_bits(value)) : 0x7fc00000;
}

/** float_from_register() - convert the bits of a register of 16 or 32 bits to a float */
INLINE float float_from_register(unsigned int size, uint32_t bits)
{
	return size == 16 ? float_from_half(bits) : bits_float(flush(bits));
}

/** read_float_lanes() - read a float source in all lanes, flushed, with its modifiers */
void read_float_lanes(const struct simdgroup *sg, const struct agx_operand *o,
		      struct float_lanes *lanes);

/**
 * write_float_lanes() - write a result to the active lanes of a destination
 *
 * Saturates if the instruction says so, then flushes or rounds to the destination's size. Changes
 * @lanes.
 */
void write_float_lanes(struct simdgroup *sg, const struct op *op,
		       struct float_lanes *lanes);

#endif /* VAGX_CORE_FLOAT_H */
