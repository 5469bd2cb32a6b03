// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The Mandelbrot set, computed by shaders/mandelbrot.agx and again by the CPU:
 * both round every operation alike, so the two agree exactly.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compute_tests.h"
#include "png_file.h"

#define DEFAULT_WIDTH		640
#define DEFAULT_ITERATIONS	256
#define MAX_WIDTH		16384

struct picture {
	uint32_t width;
	uint32_t height;
	uint32_t iterations;
	float left, top, step;
};

struct mandelbrot_uniforms {
	uint64_t dst;
	float left, top, step;
	uint32_t iterations;
	uint32_t width;
};

static uint32_t mandelbrot_count_iterations(const struct picture *p, uint32_t x,
					    uint32_t y)
{
	float c_re = fmaf((float)x, p->step, p->left);
	float c_im = fmaf((float)y, p->step, p->top);
	float re = 0, im = 0;
	uint32_t n = 0;

	while (n < p->iterations) {
		float re2 = re * re;
		float im2 = im * im;
		float product = re * im;

		if (!(re2 + im2 <= 4.0f))
			break;
		re = re2 - im2;
		re += c_re;
		im = fmaf(product, 2.0f, c_im);
		n++;
	}
	return n;
}

static int mandelbrot_check_picture(const struct picture *p, const uint32_t *got)
{
	uint32_t *row = malloc(p->width * sizeof(*row));
	uint32_t x, y;
	int err = 0;

	if (!row)
		return -ENOMEM;
	for (y = 0; y < p->height && !err; y++) {
		for (x = 0; x < p->width; x++)
			row[x] = mandelbrot_count_iterations(p, x, y);
		err = compute_check_words(got + (size_t)y * p->width, row,
					  p->width);
		if (err)
			fprintf(stderr, "in row %u\n", y);
	}
	free(row);
	return err;
}

/* Black inside; outside from blue over white to gold and back. */
static void mandelbrot_colour(uint32_t n, uint32_t iterations, uint8_t rgb[3])
{
	static const float phase[3] = { 3.0f, 2.5f, 1.4f };
	unsigned int i;

	for (i = 0; i < 3; i++) {
		float wave = cosf(0.12f * (float)n + phase[i]);

		rgb[i] = n == iterations ? 0 : (uint8_t)(127.5f + 127.5f * wave);
	}
}

static void mandelbrot_colour_picture(const struct picture *p, const uint32_t *counts,
				      uint8_t *rgb)
{
	size_t i;

	for (i = 0; i < (size_t)p->width * p->height; i++)
		mandelbrot_colour(counts[i], p->iterations, rgb + 3 * i);
}

static int mandelbrot_write_picture(const struct picture *p, const uint32_t *counts,
				    const char *path)
{
	uint8_t *rgb = malloc((size_t)p->width * p->height * 3);
	int err;

	if (!rgb)
		return -ENOMEM;
	mandelbrot_colour_picture(p, counts, rgb);
	err = png_file_write(path, p->width, p->height, p->width * 3, 3, rgb);
	free(rgb);
	return err;
}

static int mandelbrot_render(struct compute *ctx, const struct picture *p,
			     const struct compute_buffer *buffer)
{
	const struct mandelbrot_uniforms uniforms = {
		.dst = buffer->addr,
		.left = p->left,
		.top = p->top,
		.step = p->step,
		.iterations = p->iterations,
		.width = p->width,
	};
	struct compute_program program;
	const struct compute_dispatch dispatch = {
		.program = &program,
		.uniforms = &uniforms,
		.uniform_bytes = sizeof(uniforms),
		.global = { p->width, p->height, 1 },
		.local = { 8, 8, 1 },
	};
	struct compute_stream stream;
	int err;

	err = compute_program_load(ctx, "mandelbrot", &program);
	if (err)
		return err;
	err = compute_stream_new(ctx, &stream);
	if (err)
		return err;
	compute_stream_dispatch(&stream, &dispatch);
	err = compute_stream_run(&stream);
	compute_stream_free(&stream);
	return err;
}

int compute_mandelbrot(struct compute *ctx,
		       const struct compute_options *options)
{
	uint32_t width = options->size ? options->size : DEFAULT_WIDTH;
	struct picture p = {
		.width = width,
		.height = width * 3 / 4 ? width * 3 / 4 : 1,
		.iterations = options->iterations ? options->iterations :
						    DEFAULT_ITERATIONS,
		.left = -2.25f,
		.top = -1.125f,
		.step = 3.0f / (float)width,
	};
	struct compute_buffer buffer;
	int err;

	if (width > MAX_WIDTH) {
		fprintf(stderr, "a picture has at most %d pixels in a row\n",
			MAX_WIDTH);
		return -EINVAL;
	}
	err = compute_buffer_new(ctx, (uint64_t)p.width * p.height * 4,
				 &buffer);
	if (err)
		return err;
	compute_poison(&buffer);
	err = mandelbrot_render(ctx, &p, &buffer);
	if (!err)
		err = mandelbrot_check_picture(&p, buffer.map);
	if (!err && options->output)
		err = mandelbrot_write_picture(&p, buffer.map, options->output);
	compute_buffer_free(ctx, &buffer);
	return err;
}
