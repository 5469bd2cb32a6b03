// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Functions of libc that IGT's amd64 programs refer to and box64 does not provide. None
 * of the tests that run here needs what those do that fail; the rest goes on to what
 * box64 has. Built for amd64 and preloaded.
 */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

int stub_vfscanf(FILE *stream, const char *format, va_list args);
int init_module(void *image, unsigned long length, const char *params);
int delete_module(const char *name, unsigned int flags);
int ioperm(unsigned long from, unsigned long count, int on);
int iopl(int level);
void free_sized(void *ptr, size_t size);
void free_aligned_sized(void *ptr, size_t alignment, size_t size);

static int not_here(void)
{
	errno = ENOSYS;
	return -1;
}

int init_module(void *image, unsigned long length, const char *params)
{
	(void)image;
	(void)length;
	(void)params;
	return not_here();
}

int delete_module(const char *name, unsigned int flags)
{
	(void)name;
	(void)flags;
	return not_here();
}

int ioperm(unsigned long from, unsigned long count, int on)
{
	(void)from;
	(void)count;
	(void)on;
	return not_here();
}

int iopl(int level)
{
	(void)level;
	return not_here();
}

/* The C23 form differs in binary numbers only, which nobody here reads. */
extern int box64_vfscanf(FILE *stream, const char *format, va_list args) __asm__("vfscanf");

int stub_vfscanf(FILE *stream, const char *format, va_list args)
{
	return box64_vfscanf(stream, format, args);
}

extern __typeof__(stub_vfscanf) isoc23_vfscanf __asm__("__isoc23_vfscanf")
	__attribute__((alias("stub_vfscanf")));

void free_sized(void *ptr, size_t size)
{
	(void)size;
	free(ptr);
}

void free_aligned_sized(void *ptr, size_t alignment, size_t size)
{
	(void)alignment;
	(void)size;
	free(ptr);
}
