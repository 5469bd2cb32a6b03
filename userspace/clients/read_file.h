/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef READ_FILE_H
#define READ_FILE_H

#include <stddef.h>

/**
 * read_file() - the contents of a file
 * @program: name for messages
 * @path: file, "-" for the standard input
 * @size: its size
 *
 * Return: the contents and a zero behind them, to be freed; NULL after a
 * message on the standard error output.
 */
char *read_file(const char *program, const char *path, size_t *size);

#endif /* READ_FILE_H */
