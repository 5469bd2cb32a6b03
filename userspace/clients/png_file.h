/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef CLIENT_PNG_FILE_H
#define CLIENT_PNG_FILE_H

#include <stdint.h>

/**
 * png_file_write() - write a picture
 * @path: file
 * @width: pixels in a row
 * @height: rows
 * @stride: bytes from row to row
 * @channels: bytes of a pixel: 3 for red, green, blue, 4 with alpha
 * @pixels: pixels, the first row first
 *
 * Return: 0 or a negative errno value, after a message on stderr.
 */
int png_file_write(const char *path, uint32_t width, uint32_t height,
		   uint32_t stride, unsigned int channels, const void *pixels);

#endif /* CLIENT_PNG_FILE_H */
