// SPDX-License-Identifier: MIT
/* Copyright (C) 2026 The asahi driver authors */
#include <stdlib.h>
#include <string.h>

#include "picture.h"
#include "png_file.h"

#define CHANNELS	4
#define MOST_NAMED	8

/* What a file has in front of each picture's pixels */
struct header {
	char name[32];
	uint32_t width;
	uint32_t height;
};

static size_t size_of(const struct picture *p)
{
	return (size_t)p->width * p->height * CHANNELS;
}

void picture_init(struct picture *p, const char *name, uint32_t width,
		  uint32_t height)
{
	*p = (struct picture){ .width = width, .height = height };
	snprintf(p->name, sizeof(p->name), "%s", name);
	p->pixels = calloc(1, size_of(p));
	if (!p->pixels) {
		perror("calloc");
		exit(EXIT_FAILURE);
	}
}

void picture_free(struct picture *p)
{
	free(p->pixels);
	p->pixels = NULL;
}

bool picture_write(FILE *file, const struct picture *p)
{
	struct header header = { .width = p->width, .height = p->height };

	memcpy(header.name, p->name, sizeof(header.name));
	return fwrite(&header, sizeof(header), 1, file) == 1 &&
	       fwrite(p->pixels, size_of(p), 1, file) == 1;
}

bool picture_keep(const struct picture *p, const char *dir, const char *renderer)
{
	char path[4096];
	int n;

	if (!dir)
		return true;
	n = snprintf(path, sizeof(path), "%s/%s-%s.png", dir, p->name, renderer);
	return n < (int)sizeof(path) &&
	       !png_file_write(path, p->width, p->height, p->width * CHANNELS, CHANNELS, p->pixels);
}

bool picture_find(FILE *file, struct picture *p)
{
	struct header header;

	if (fseek(file, 0, SEEK_SET))
		return false;
	while (fread(&header, sizeof(header), 1, file) == 1) {
		const struct picture there = {
			.width = header.width, .height = header.height,
		};

		if (strncmp(header.name, p->name, sizeof(header.name))) {
			if (fseek(file, (long)size_of(&there), SEEK_CUR))
				break;
			continue;
		}
		return header.width == p->width && header.height == p->height &&
		       fread(p->pixels, size_of(p), 1, file) == 1;
	}
	printf("# there is no picture '%s' to compare with\n", p->name);
	return false;
}

static bool close_to(const uint8_t *a, const uint8_t *b, unsigned int tolerance)
{
	unsigned int i;

	for (i = 0; i < CHANNELS; i++) {
		if ((unsigned int)abs(a[i] - b[i]) > tolerance)
			return false;
	}
	return true;
}

bool picture_agrees(const struct picture *got, const struct picture *want,
		    unsigned int tolerance, unsigned int strays)
{
	const size_t count = (size_t)got->width * got->height;
	size_t i, wrong = 0;

	for (i = 0; i < count; i++) {
		const uint8_t *a = got->pixels + i * CHANNELS;
		const uint8_t *b = want->pixels + i * CHANNELS;

		if (close_to(a, b, tolerance))
			continue;
		if (wrong++ < MOST_NAMED)
			printf("# pixel %zu, %zu: %02x%02x%02x%02x instead of %02x%02x%02x%02x\n",
			       i % got->width, i / got->width, a[0], a[1], a[2],
			       a[3], b[0], b[1], b[2], b[3]);
	}
	if (wrong)
		printf("# %zu of %zu pixels differ\n", wrong, count);
	return wrong <= strays;
}
