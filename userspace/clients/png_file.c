// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <errno.h>
#include <png.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "png_file.h"

static int png_file_write_image(const char *path, png_image *image, uint32_t stride,
				const void *pixels)
{
	FILE *file = fopen(path, "wb");
	bool ok;

	if (!file)
		return -errno;
	errno = EIO;
	ok = png_image_write_to_stdio(image, file, 0, pixels, stride, NULL);
	ok = !fclose(file) && ok;
	return ok ? 0 : -errno;
}

int png_file_write(const char *path, uint32_t width, uint32_t height,
		   uint32_t stride, unsigned int channels, const void *pixels)
{
	png_image image = {
		.version = PNG_IMAGE_VERSION,
		.width = width,
		.height = height,
		.format = channels == 4 ? PNG_FORMAT_RGBA : PNG_FORMAT_RGB,
	};
	int err = png_file_write_image(path, &image, stride, pixels);

	if (err)
		fprintf(stderr, "%s: %s\n", path, strerror(-err));
	return err;
}
