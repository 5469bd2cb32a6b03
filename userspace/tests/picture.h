/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Pictures that one renderer has drawn and another one has to draw, too.
 */
#ifndef PICTURE_H
#define PICTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/** struct picture - rows of pixels, red, green, blue, alpha, 8 bits each */
struct picture {
	char name[32];
	uint32_t width;
	uint32_t height;
	uint8_t *pixels;
};

/** picture_init() - a picture of nothing but 0 */
void picture_init(struct picture *p, const char *name, uint32_t width,
		  uint32_t height);
void picture_free(struct picture *p);

/** picture_write() - append a picture to a file. Return: whether it is there */
bool picture_write(FILE *file, const struct picture *p);

/**
 * picture_keep() - write a picture to DIR/NAME-RENDERER.png, for somebody to look at
 * @dir: NULL: it is not kept
 *
 * Return: whether it is where it should be.
 */
bool picture_keep(const struct picture *p, const char *dir, const char *renderer);

/**
 * picture_find() - read a picture of a file
 * @p: has its name, and gets its pixels; the size has to be that in the file
 *
 * Return: whether it is there; if not, a line of TAP says so.
 */
bool picture_find(FILE *file, struct picture *p);

/**
 * picture_agrees() - compare what was drawn with what should be
 * @tolerance: most that a channel may differ by, of 255
 * @strays: most pixels that may differ by more, where a sample is on an edge
 *
 * Return: whether all other pixels agree; lines of TAP name some of those that differ.
 */
bool picture_agrees(const struct picture *got, const struct picture *want,
		    unsigned int tolerance, unsigned int strays);

#endif /* PICTURE_H */
