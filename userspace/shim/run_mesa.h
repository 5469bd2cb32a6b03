/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Where Mesa's drivers for the GPU are, for vagx-run.
 */
#ifndef RUN_MESA_H
#define RUN_MESA_H

#include <stdbool.h>

/** struct run_mesa - a Mesa, and which of its drivers there are */
struct run_mesa {
	/** @dir: where it was installed or built; NULL for the system's own */
	const char *dir;
	/** @scratch: folder for what has to be written */
	const char *scratch;
	/** @has_vulkan: there is Honeykrisp */
	bool has_vulkan;
	/** @has_gl: there is the Gallium driver */
	bool has_gl;
};

/**
 * run_mesa_choose() - have what is executed use this Mesa and these drivers
 * @mesa: where it is; what it has is filled in
 *
 * Changes the environment. No driver for other GPUs or for the processor can be
 * chosen by Vulkan programs then, and no other vendor's EGL.
 *
 * Return: false after a message.
 */
bool run_mesa_choose(struct run_mesa *mesa);

/** run_set() - set or, with NULL, unset a variable; ends the program without memory */
void run_set(const char *name, const char *value);

/** run_set_default() - set a variable that the user has not set */
void run_set_default(const char *name, const char *value);

/** run_prepend() - put a value in front of what a variable has, and a separator between */
void run_prepend(const char *name, const char *value, char separator);

/** run_format() - a text; ends the program without memory */
char *run_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif /* RUN_MESA_H */
