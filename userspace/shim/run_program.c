// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Looks at the program that vagx-run executes, by its ELF header and its mode: the dynamic
 * linker preloads the shim only into programs that it starts, of the same word size and machine,
 * and without other privileges than their user's. Such a program is executed all the same,
 * since it may execute others, and vagx-run's status tells whether one has opened the GPU. One
 * thread, before the fork.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run_mesa.h"
#include "run_program.h"

char *run_program_find(const char *command)
{
	const char *path = getenv("PATH"), *end;
	char *file = NULL;

	if (strchr(command, '/'))
		return run_format("%s", command);
	for (; path && *path && !file; path = *end ? end + 1 : end) {
		end = strchrnul(path, ':');
		file = run_format("%.*s/%s", (int)(end - path), path, command);
		if (access(file, X_OK)) {
			free(file);
			file = NULL;
		}
	}
	return file;
}

/* Return: whether a 64-bit program has no dynamic linker. */
static bool run_program_is_static(int fd, const Elf64_Ehdr *header)
{
	Elf64_Phdr part;
	unsigned int i;

	for (i = 0; i < header->e_phnum; i++) {
		off_t at = header->e_phoff + (off_t)i * header->e_phentsize;

		if (pread(fd, &part, sizeof(part), at) != sizeof(part) || part.p_type == PT_INTERP)
			return false;
	}
	return true;
}

/* Return: whether the kernel gives a program other privileges than those of its user. */
static bool run_program_has_privileges(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && (((st.st_mode & S_ISUID) && st.st_uid != geteuid()) ||
				   ((st.st_mode & S_ISGID) && st.st_gid != getegid()));
}

/* Return: what is the matter with a program and what to do, or NULL. */
static const char *run_program_trouble(int fd)
{
	Elf64_Ehdr header;

	if (pread(fd, &header, sizeof(header), 0) < (ssize_t)sizeof(Elf32_Ehdr) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG))
		return NULL;
	if (header.e_ident[EI_CLASS] == ELFCLASS32)
		return "a 32-bit program, and the virtual GPU is for 64-bit programs: use a 64-bit build of it";
	if (run_program_has_privileges(fd))
		return "a program with privileges (setuid or setgid), into which no library is preloaded: run a copy without them";
	if (run_program_is_static(fd, &header))
		return "linked statically, and no library is preloaded into it: link it dynamically";
	return NULL;
}

void run_program_look(const char *command)
{
	char *file = run_program_find(command);
	int fd = file ? open(file, O_RDONLY | O_CLOEXEC) : -1;
	const char *trouble;

	free(file);
	if (fd < 0)
		return;
	trouble = run_program_trouble(fd);
	if (trouble)
		fprintf(stderr, "vagx-run: %s is %s. It finds no GPU\n", command, trouble);
	close(fd);
}
