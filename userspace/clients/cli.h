/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What all clients do alike on the command line.
 */
#ifndef CLIENT_CLI_H
#define CLIENT_CLI_H

#include <stddef.h>

/** EXIT_USAGE - status after wrong arguments */
#define EXIT_USAGE	2

/**
 * cli_version() - print a program's name and version
 * @program: name
 */
void cli_version(const char *program);

/**
 * cli_finish() - end a program that writes to the standard output
 * @program: name for messages
 * @status: exit status so far
 *
 * Return: @status, or EXIT_FAILURE after a message if something that was
 * written did not get there.
 */
int cli_finish(const char *program, int status);

/**
 * cli_read_file() - the contents of a file
 * @program: name for messages
 * @path: file, "-" for the standard input
 * @size: its size in bytes
 *
 * Return: the contents and a zero behind them, to be freed; NULL after a
 * message on the standard error output.
 */
char *cli_read_file(const char *program, const char *path, size_t *size);

#endif /* CLIENT_CLI_H */
