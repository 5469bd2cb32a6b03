/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Memory formats, as loads and stores name them: AGX_FORMAT_*. Whatever else
 * reads or writes pixels has the same ones.
 */
#ifndef VAGX_FORMAT_H
#define VAGX_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

struct float_lanes;
struct lanes;

/** vagx_format_log2_size() - bytes of an element, as a power of two */
unsigned int vagx_format_log2_size(unsigned int format);

/** vagx_format_is_packed() - whether all components share one element */
bool vagx_format_is_packed(unsigned int format);

/**
 * vagx_format_to_float() - what an element of one component means
 * @format: a format that is not packed
 * @component: which one; the fourth of sRGB is linear
 * @bits: the element
 * @value: where the number goes
 *
 * Return: false for formats whose elements are copied as they are.
 */
bool vagx_format_to_float(unsigned int format, unsigned int component,
			  uint32_t bits, float *value);

/** vagx_format_unorm8_table() - what each of 256 bytes means: from 0 to 1, or that of sRGB */
const float *vagx_format_unorm8_table(bool srgb);

/**
 * vagx_format_from_float() - the element that is nearest to a number
 * @format: a format for which vagx_format_to_float() returns true
 * @component: which one
 * @value: the number; clamped
 */
uint32_t vagx_format_from_float(unsigned int format, unsigned int component,
				float value);

/** vagx_format_look_up() - the same with tables, if there are some */
uint32_t vagx_format_look_up(unsigned int format, unsigned int component, float value);

/** vagx_format_from_floats() - the same for all lanes of a register */
void vagx_format_from_floats(unsigned int format, unsigned int component,
			     const struct float_lanes *value, struct lanes *bits);

/**
 * vagx_format_unpack() - the components of a packed element
 * @format: a packed format
 * @word: the element
 * @value: four places
 *
 * Return: how many components there are.
 */
unsigned int vagx_format_unpack(unsigned int format, uint32_t word,
				float *value);

/**
 * vagx_format_pack() - a packed element
 * @format: a packed format
 * @value: four numbers; those that the format does not have are ignored
 */
uint32_t vagx_format_pack(unsigned int format, const float *value);

#endif /* VAGX_FORMAT_H */
