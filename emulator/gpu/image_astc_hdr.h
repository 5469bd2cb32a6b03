/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The part of ASTC with high dynamic range: ends of colours as logarithms
 */
#ifndef VAGX_IMAGE_ASTC_HDR_H
#define VAGX_IMAGE_ASTC_HDR_H

/**
 * vagx_astc_hdr_ends() - the two ends of a part's colours
 * @format: the format of its ends, one of those with high dynamic range
 * @v: the part's values, 0 to 255 each, as many as the format has
 * @ends: gets the ends, of 16 bits a channel
 *
 * Source: Khronos Data Format Specification, "ASTC", HDR endpoint decoding.
 *
 * Return: the channels that are logarithms, a bit each; the others are fractions.
 */
unsigned int vagx_astc_hdr_ends(unsigned int format, const int *v, int ends[2][4]);

/** vagx_astc_hdr_float() - the number whose logarithm is these 16 bits, at most 65504 */
float vagx_astc_hdr_float(int value);

#endif
