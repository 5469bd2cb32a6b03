/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef CLIENT_SHADERS_H
#define CLIENT_SHADERS_H

/** struct shader - a shader's text, built into the program */
struct shader {
	const char *name;
	const char *file;
	const char *text;
};

/** shaders - all of them; the last one has no name */
extern const struct shader shaders[];

#endif /* CLIENT_SHADERS_H */
