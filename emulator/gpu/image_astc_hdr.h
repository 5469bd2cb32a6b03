/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * ASTC endpoints of high dynamic range
 */
#ifndef VAGX_IMAGE_ASTC_HDR_H
#define VAGX_IMAGE_ASTC_HDR_H

/**
 * vagx_astc_hdr_endpoints() - decode the two endpoints of a partition
 * @format: the format of its ends, one of those with high dynamic range
 * @v: the part's values, 0 to 255 each, as many as the format has
 * @ends: gets the ends, of 16 bits a channel
 *
 * Source: Khronos Data Format Specification, "ASTC", HDR endpoint decoding.
 *
 * Return: the channels that are logarithms, a bit each; the others are fractions.
 */
unsigned int vagx_astc_hdr_endpoints(unsigned int cem, const int *v, int endpoints[2][4]);

/** vagx_astc_hdr_float() - the number whose logarithm is these 16 bits, at most 65504 */
float vagx_astc_hdr_float(int value);

#endif
