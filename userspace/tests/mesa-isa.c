// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Lets stock Mesa compile the shaders of glsl/ and print them, and compares
 * its disassembly with ours, instruction by instruction. Prints TAP.
 */
#include <ctype.h>
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

struct counts {
	unsigned int instructions;
	unsigned int wrong;
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

static FILE *start_compiler(pid_t *child)
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
		snprintf(options, sizeof(options), "shaders,verbose,%s",
			 given ? given : "");
		setenv("AGX_MESA_DEBUG", options, 1);
		setenv("MESA_SHADER_CACHE_DISABLE", "true", 1);
		dup2(fd[1], STDOUT_FILENO);
		close(fd[0]);
		close(fd[1]);
		execl("/proc/self/exe", "mesa-isa", "--compile", NULL);
		_exit(EXIT_FAILURE);
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

/* "  offset: bytes   text". Return: bytes, or 0 for any other line */
static unsigned int parse_line(char *line, uint8_t *bytes, char **text)
{
	char *p = line + strspn(line, " ");
	size_t n = strspn(p, "0123456789abcdef");
	unsigned int length;

	if (!n || strncmp(p + n, ": ", 2))
		return 0;
	p += n + 2;
	n = strspn(p, "0123456789abcdef");
	if (n < 4 || p[n] != ' ')
		return 0;
	length = parse_bytes(p, n, bytes);
	p += n;
	*text = p + strspn(p, " ");
	for (n = strlen(*text); n && isspace((unsigned char)(*text)[n - 1]); n--)
		(*text)[n - 1] = '\0';
	return length;
}

static void trim(char *text)
{
	size_t n = strlen(text);

	while (n && text[n - 1] == ' ')
		text[--n] = '\0';
}

static bool assembles_to(const char *text, const struct agx_instr *instr)
{
	struct agx_program program;
	struct agx_instr again;
	char ours[AGX_ISA_MAX_TEXT];
	bool ok;

	if (agx_isa_assemble(text, "mesa", &program, stdout))
		return false;
	/* There can be a longer code for the same: compare what it means */
	ok = agx_isa_decode(program.code, program.size, &again) > 0 &&
	     again.op == instr->op &&
	     !memcmp(again.mod, instr->mod, sizeof(again.mod));
	if (ok) {
		agx_isa_print(&again, ours, sizeof(ours));
		trim(ours);
		ok = !strcmp(ours, text);
	}
	free(program.code);
	return ok;
}

static bool check_instruction(const uint8_t *bytes, unsigned int length,
			      const char *theirs, struct counts *counts)
{
	struct agx_instr instr;
	char ours[AGX_ISA_MAX_TEXT];

	if (agx_isa_decode(bytes, length, &instr) != (int)length) {
		printf("# not decoded: '%s'\n", theirs);
		return false;
	}
	counts->seen[instr.op] = true;
	agx_isa_print(&instr, ours, sizeof(ours));
	trim(ours);
	if (strcmp(ours, theirs)) {
		printf("# Mesa '%s', we '%s'\n", theirs, ours);
		return false;
	}
	if (!assembles_to(theirs, &instr)) {
		printf("# '%s' is not assembled to the same\n", theirs);
		return false;
	}
	return true;
}

/* The end of a shader's lines. Return: whether all was well */
static bool finish(const char *name, const struct counts *counts,
		   unsigned int number)
{
	bool ok = !counts->wrong && counts->instructions >= FEW;

	printf("%sok %u - %s: %u instructions\n", ok ? "" : "not ", number,
	       name, counts->instructions);
	return ok;
}

static void count_line(char *line, struct counts *counts)
{
	uint8_t bytes[AGX_ISA_MAX_LENGTH];
	unsigned int length;
	char *text;

	length = parse_line(line, bytes, &text);
	if (!length)
		return;
	counts->instructions++;
	counts->wrong += !check_instruction(bytes, length, text, counts);
}

static bool read_shaders(FILE *input)
{
	struct counts counts = { .instructions = 0 };
	char name[64] = "", next[64], line[1024];
	unsigned int number = 0, kinds = 0, i;
	bool ok = true;

	while (fgets(line, sizeof(line), input)) {
		if (sscanf(line, "compiling %63s", next) != 1) {
			count_line(line, &counts);
			continue;
		}
		if (*name)
			ok &= finish(name, &counts, ++number);
		snprintf(name, sizeof(name), "%s", next);
		counts.instructions = 0;
		counts.wrong = 0;
	}
	for (i = 0; i < AGX_OP_COUNT; i++)
		kinds += counts.seen[i];
	printf("1..%u\n# %u kinds of instructions\n", number, kinds);
	return ok && number == shader_binary_count;
}

int main(int argc, char **argv)
{
	FILE *input;
	int status;
	pid_t child;
	bool ok;

	if (argc > 1 && !strcmp(argv[1], "--compile"))
		return compile_all();

	if (vk_compute_choose("asahi")) {
		printf("1..0 # SKIP Mesa's Vulkan driver is not installed\n");
		return EXIT_SKIP;
	}
	input = start_compiler(&child);
	if (!input) {
		perror("mesa-isa");
		return EXIT_FAILURE;
	}
	ok = read_shaders(input);
	fclose(input);
	if (waitpid(child, &status, 0) != child || status) {
		printf("# the compiler failed\n");
		ok = false;
	}
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
