// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * To be preloaded into a program of OpenGL ES: writes what has been drawn whenever it
 * calls glFinish(), to the files $GL_FRAMES/0.png, 1.png and so on. Programs that look
 * their functions up in libraries which they open themselves are meant, as glmark2, which
 * ends so each frame that it draws off screen.
 */
#include <dlfcn.h>
#include <EGL/egl.h>
#include <GLES2/gl2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "png_file.h"

#define MAX_FRAMES	100
#define MAX_SIDE	4096

typedef void *lookup(void *library, const char *name);
typedef void (*function)(void);

static PFNEGLGETPROCADDRESSPROC real_get_proc_address;
static function real_finish;

/* In the C library from 2.34 on, with this name on every architecture */
static void *real_dlsym(void *library, const char *name)
{
	static lookup *real;

	if (!real)
		real = (lookup *)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
	if (!real)
		abort();
	return real(library, name);
}

static bool read_frame(GLsizei width, GLsizei height, uint8_t *pixels)
{
	PFNGLREADPIXELSPROC read_pixels =
		(PFNGLREADPIXELSPROC)real_get_proc_address("glReadPixels");

	if (!read_pixels)
		return false;
	read_pixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
	return true;
}

/* OpenGL begins with the lowest row. */
static void turn(uint32_t width, uint32_t height, const uint8_t *from, uint8_t *to)
{
	uint32_t y;

	for (y = 0; y < height; y++)
		memcpy(to + 4 * width * y, from + 4 * width * (height - 1 - y), 4 * width);
}

static void write_frame(const char *folder)
{
	static unsigned int frames;
	PFNGLGETINTEGERVPROC get = (PFNGLGETINTEGERVPROC)real_get_proc_address("glGetIntegerv");
	uint8_t *pixels, *turned;
	char path[256];
	GLint box[4];
	size_t size;

	if (!get || frames == MAX_FRAMES)
		return;
	get(GL_VIEWPORT, box);
	if (box[2] < 1 || box[3] < 1 || box[2] > MAX_SIDE || box[3] > MAX_SIDE)
		return;
	size = (size_t)4 * box[2] * box[3];
	pixels = malloc(2 * size);
	if (!pixels)
		return;
	turned = pixels + size;
	snprintf(path, sizeof(path), "%s/%u.png", folder, frames++);
	if (read_frame(box[2], box[3], pixels)) {
		turn(box[2], box[3], pixels, turned);
		png_file_write(path, box[2], box[3], 4 * box[2], 4, turned);
	}
	free(pixels);
}

static void finish(void)
{
	const char *folder = getenv("GL_FRAMES");

	real_finish();
	if (folder && real_get_proc_address)
		write_frame(folder);
}

static function get_proc_address(const char *name)
{
	function found = real_get_proc_address(name);

	if (strcmp(name, "glFinish"))
		return found;
	if (!real_finish)
		real_finish = found;
	return finish;
}

__attribute__((visibility("default"))) void *dlsym(void *library, const char *name)
{
	void *found = real_dlsym(library, name);

	if (found && !strcmp(name, "eglGetProcAddress")) {
		real_get_proc_address = (PFNEGLGETPROCADDRESSPROC)found;
		return (void *)get_proc_address;
	}
	if (found && !strcmp(name, "glFinish")) {
		real_finish = (function)found;
		return (void *)finish;
	}
	return found;
}
