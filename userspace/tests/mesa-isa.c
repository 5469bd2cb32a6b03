// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Lets stock Mesa compile shaders and print them, and compares its disassembly
 * with ours, instruction by instruction. What we print has to be assembled to
 * the same again. Prints TAP.
 *
 *   mesa-isa				the shaders of glsl/
 *   mesa-isa --at-least=N COMMAND...	those that a program of Mesa's compiles, Mesa's
 *					own among them; fewer instructions fail
 *
 * What the program says of itself does not count: without shaders that are executed
 * its pictures are wrong.
 */
#include <ctype.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agx_isa.h"
#include "vk-compute.h"

/* Instructions that a shader surely has */
#define FEW	10

enum { EXIT_SKIP = 77 };

/* Of those that differ, so many are printed */
#define PRINTED	5

struct counts {
	unsigned int instructions;
	unsigned int shaders;
	unsigned int wrong;
	/* that our assembler makes shorter */
	unsigned int shorter;
	/* where the next instruction of a shader is to be */
	unsigned int offset;
	bool seen[AGX_OP_COUNT];
};

/* The child: Mesa prints what it compiles to the standard output */
static int compile_all(void)
{
	struct vk_compute vk;
	unsigned int i;

	if (vk_compute_open(&vk, VK_DRIVER_ID_MESA_HONEYKRISP))
		return EXIT_FAILURE;
	for (i = 0; i < shader_binary_count; i++) {
		VkPipeline pipeline;

		printf("compiling %s\n", shader_binaries[i].name);
		fflush(stdout);
		if (vk_compute_pipeline(&vk, &shader_binaries[i], &pipeline) !=
		    VK_SUCCESS)
			return EXIT_FAILURE;
		vkDestroyPipeline(vk.device, pipeline, NULL);
	}
	printf("compiling nothing\n");
	fflush(stdout);
	vk_compute_close(&vk);
	return EXIT_SUCCESS;
}

/* COMMAND: what compiles; what it prints is the result */
static FILE *start_compiler(char *const *command, pid_t *child)
{
	const char *given = getenv("AGX_MESA_DEBUG");
	char options[128];
	int fd[2];

	if (pipe(fd))
		return NULL;
	*child = fork();
	if (*child < 0)
		return NULL;
	if (!*child) {
		/* Other options can be given: they change what is compiled */
		snprintf(options, sizeof(options), "shaders,verbose,internal,%s",
			 given ? given : "");
		setenv("AGX_MESA_DEBUG", options, 1);
		setenv("MESA_SHADER_CACHE_DISABLE", "true", 1);
		dup2(fd[1], STDOUT_FILENO);
		close(fd[0]);
		close(fd[1]);
		execvp(command[0], command);
		perror(command[0]);
		_exit(127);
	}
	close(fd[1]);
	return fdopen(fd[0], "r");
}

static unsigned int parse_bytes(const char *digits, size_t n, uint8_t *bytes)
{
	char pair[3] = "";
	size_t i;

	if (n % 2 || n / 2 > AGX_ISA_MAX_LENGTH)
		return 0;
	for (i = 0; i < n / 2; i++) {
		memcpy(pair, digits + 2 * i, 2);
		bytes[i] = strtoul(pair, NULL, 16);
	}
	return n / 2;
}

/* A line "  offset: bytes   text" */
struct line {
	unsigned int offset;
	uint8_t bytes[AGX_ISA_MAX_LENGTH];
	/* 0 if the bytes are no instruction's */
	unsigned int length;
	char *text;
};

/* Return: false for any other line */
static bool parse_line(char *text, struct line *line)
{
	char *p = text + strspn(text, " ");
	size_t n = strspn(p, "0123456789abcdef");

	if (!n || strncmp(p + n, ": ", 2))
		return false;
	line->offset = strtoul(p, NULL, 16);
	p += n + 2;
	n = strspn(p, "0123456789abcdef");
	if (n < 4 || p[n] != ' ')
		return false;
	line->length = parse_bytes(p, n, line->bytes);
	p += n;
	line->text = p + strspn(p, " ");
	for (n = strlen(line->text); n && isspace((unsigned char)line->text[n - 1]); n--)
		line->text[n - 1] = '\0';
	return true;
}

static void trim(char *text)
{
	size_t n = strlen(text);

	while (n && text[n - 1] == ' ')
		text[--n] = '\0';
}

static bool assembles_to(const struct line *line, const struct agx_instr *instr,
			 struct counts *counts)
{
	struct agx_program program;
	struct agx_instr again;
	char ours[AGX_ISA_MAX_TEXT];
	bool ok;

	if (agx_isa_assemble(line->text, "mesa", &program, stdout))
		return false;
	/* There can be a longer code for the same: compare what it means */
	ok = program.size <= line->length &&
	     agx_isa_decode(program.code, program.size, &again) > 0 &&
	     again.op == instr->op &&
	     !memcmp(again.mod, instr->mod, sizeof(again.mod));
	if (ok) {
		counts->shorter += program.size != line->length ||
				   memcmp(program.code, line->bytes, line->length) != 0;
		agx_isa_print(&again, ours, sizeof(ours));
		trim(ours);
		ok = !strcmp(ours, line->text);
	}
	free(program.code);
	return ok;
}

/* Return: what is wrong, or NULL. The text is ours, if there is one */
static const char *check_instruction(const struct line *line, char *ours, struct counts *counts)
{
	struct agx_instr instr;

	*ours = '\0';
	/* Two threads can print at once: then something is missing here */
	if (!line->length || (line->offset && line->offset != counts->offset))
		return "does not follow the one before";
	counts->shaders += !line->offset;
	if (agx_isa_decode(line->bytes, line->length, &instr) != (int)line->length)
		return "is not decoded";
	counts->seen[instr.op] = true;
	agx_isa_print(&instr, ours, AGX_ISA_MAX_TEXT);
	trim(ours);
	if (strcmp(ours, line->text))
		return "differs";
	return assembles_to(line, &instr, counts) ? NULL : "is not assembled to the same";
}

static void count_line(char *text, struct counts *counts)
{
	char ours[AGX_ISA_MAX_TEXT];
	const char *wrong;
	struct line line;

	if (!parse_line(text, &line))
		return;
	wrong = check_instruction(&line, ours, counts);
	counts->instructions++;
	counts->offset = line.offset + line.length;
	if (!wrong)
		return;
	if (counts->wrong++ < PRINTED)
		printf("# 0x%x, %u bytes, %s: Mesa has '%s', we have '%s'\n", line.offset,
		       line.length, wrong, line.text, ours);
}

/* The end of a shader's lines. Return: whether all was well */
static bool finish(const char *name, const struct counts *counts, unsigned int least,
		   unsigned int number)
{
	bool ok = !counts->wrong && counts->instructions >= least;

	printf("%sok %u - %s\n# %u shaders, %u instructions, %u of which have another code, too\n",
	       ok ? "" : "not ", number, name, counts->shaders, counts->instructions,
	       counts->shorter);
	if (counts->instructions < least)
		printf("# expected at least %u instructions\n", least);
	return ok;
}

static void count_kinds(const struct counts *counts)
{
	unsigned int kinds = 0, i;

	for (i = 0; i < AGX_OP_COUNT; i++)
		kinds += counts->seen[i];
	printf("# %u kinds of instructions\n", kinds);
}

static bool read_shaders(FILE *input)
{
	struct counts counts = { .instructions = 0 };
	char name[64] = "", next[64], line[1024];
	unsigned int number = 0;
	bool ok = true;

	while (fgets(line, sizeof(line), input)) {
		if (sscanf(line, "compiling %63s", next) != 1) {
			count_line(line, &counts);
			continue;
		}
		if (*name)
			ok &= finish(name, &counts, FEW, ++number);
		snprintf(name, sizeof(name), "%s", next);
		counts.instructions = 0;
		counts.shaders = 0;
		counts.shorter = 0;
		counts.wrong = 0;
	}
	printf("1..%u\n", number);
	count_kinds(&counts);
	return ok && number == shader_binary_count;
}

static bool compare_own(void)
{
	char self[] = "/proc/self/exe", compile[] = "--compile";
	char *const command[] = { self, compile, NULL };
	int status;
	FILE *input;
	pid_t child;
	bool ok;

	input = start_compiler(command, &child);
	if (!input)
		return false;
	ok = read_shaders(input);
	fclose(input);
	if (waitpid(child, &status, 0) != child || status) {
		printf("# the compiler failed\n");
		ok = false;
	}
	return ok;
}

/* All shaders of a program are one case */
static int compare_program(char **command, unsigned int least)
{
	const char *name = strrchr(command[0], '/');
	struct counts counts = { .instructions = 0 };
	char line[4096];
	FILE *input;
	int status;
	pid_t child;
	bool ok;

	input = start_compiler(command, &child);
	if (!input)
		return EXIT_FAILURE;
	while (fgets(line, sizeof(line), input))
		count_line(line, &counts);
	fclose(input);
	if (waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
	    WEXITSTATUS(status) > 125) {
		printf("# the program did not come to its end\n");
		return EXIT_FAILURE;
	}
	if (WEXITSTATUS(status) == EXIT_SKIP) {
		printf("1..0 # SKIP Mesa is not installed\n");
		return EXIT_SKIP;
	}
	ok = finish(name ? name + 1 : command[0], &counts, least, 1);
	printf("1..1\n");
	count_kinds(&counts);
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "at-least", required_argument, NULL, 'l' },
		{ "compile", no_argument, NULL, 'c' },
		{ 0 }
	};
	unsigned int least = 1;
	int option;

	while ((option = getopt_long(argc, argv, "+", options, NULL)) != -1) {
		if (option == 'c')
			return compile_all();
		if (option != 'l') {
			fprintf(stderr, "usage: %s [[--at-least=N] COMMAND...]\n", argv[0]);
			return EXIT_FAILURE;
		}
		least = strtoul(optarg, NULL, 0);
	}
	if (optind < argc)
		return compare_program(argv + optind, least);
	if (vk_compute_choose("asahi")) {
		printf("1..0 # SKIP Mesa's Vulkan driver is not installed\n");
		return EXIT_SKIP;
	}
	return compare_own() ? EXIT_SUCCESS : EXIT_FAILURE;
}
