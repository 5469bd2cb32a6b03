/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Finding programs, and telling those into which no library can be preloaded, for vagx-run.
 */
#ifndef RUN_PROGRAM_H
#define RUN_PROGRAM_H

/**
 * run_program_look() - say why the shim does not come into a command's program, if it does not
 * @command: name or path, as it would be executed
 *
 * Says nothing of scripts, nor of what cannot be read.
 */
void run_program_look(const char *command);

/**
 * run_program_find() - find the file that execvp() would execute
 * @command: name or path
 *
 * Return: its path, to be freed; NULL if no folder of PATH has it. A path is not looked at.
 */
char *run_program_find(const char *command);

#endif /* RUN_PROGRAM_H */
