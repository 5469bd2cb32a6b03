/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Finding Mesa's drivers for the GPU, for vagx-run.
 */
#ifndef RUN_MESA_H
#define RUN_MESA_H

#include <stdbool.h>

/** struct run_mesa - a Mesa and its drivers */
struct run_mesa {
	/** @dir: folder in which it was installed or built; NULL for the system's own */
	const char *dir;
	/** @scratch: folder for files that have to be written */
	const char *scratch;
	/** @has_vulkan: Honeykrisp was found */
	bool has_vulkan;
	/** @has_gl: the Gallium driver was found */
	bool has_gl;
	/** @has_cl: rusticl was found */
	bool has_cl;
	/** @has_other_vulkan: the system has Mesa's Vulkan drivers, whether or not Honeykrisp */
	bool has_other_vulkan;
	/** @has_other_gl: the system has Gallium drivers, whether or not this one */
	bool has_other_gl;
};

/**
 * run_mesa_choose() - have programs that are executed from now on use a Mesa's drivers
 * @mesa: its folders; its drivers are filled in
 *
 * Changes the environment. No driver for other GPUs or for the processor can be
 * chosen by Vulkan and OpenCL programs then, and no other vendor's EGL.
 *
 * Return: false after a message.
 */
bool run_mesa_choose(struct run_mesa *mesa);

/**
 * run_mesa_explain() - print which drivers are missing, and where they are to be had
 * @mesa: as run_mesa_choose() left it
 */
void run_mesa_explain(const struct run_mesa *mesa);

/**
 * run_mesa_clean_up() - remove the files that run_mesa_choose() has written
 * @scratch: folder that they are in
 */
void run_mesa_clean_up(const char *scratch);

/** run_set() - set or, with NULL, unset a variable; ends the program without memory */
void run_set(const char *name, const char *value);

/** run_set_default() - set a variable that the user has not set */
void run_set_default(const char *name, const char *value);

/** run_prepend() - put a value in front of what a variable has, and a separator between */
void run_prepend(const char *name, const char *value, char separator);

/** run_format() - a text; ends the program without memory */
char *run_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif /* RUN_MESA_H */
