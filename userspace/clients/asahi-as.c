// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Assembler for AGX2 shaders.
 */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agx_isa.h"
#include "cli.h"

static void as_usage(FILE *file)
{
	fputs("usage: asahi-as [-o OUTPUT] [-l] [FILE]\n"
	      "Assemble AGX2 instructions to binary code.\n"
	      "\n"
	      "  -o, --output=OUTPUT  write the code to OUTPUT, \"-\" for the standard output\n"
	      "                       (default: FILE with the suffix .bin)\n"
	      "  -l, --listing        print offsets, bytes and instructions, and write no\n"
	      "                       code unless -o is given\n"
	      "  -h, --help           print this text\n"
	      "  -V, --version        print the version\n"
	      "\n"
	      "Without FILE, or with \"-\", the standard input is read.\n", file);
}

static char *as_default_output(const char *input)
{
	const char *slash = strrchr(input, '/');
	const char *dot = strrchr(slash ? slash : input, '.');
	size_t stem = dot ? (size_t)(dot - input) : strlen(input);
	char *output = malloc(stem + sizeof(".bin"));

	if (output)
		sprintf(output, "%.*s.bin", (int)stem, input);
	return output;
}

static int as_write_code(const char *path, const struct agx_program *program)
{
	bool is_stdout = !strcmp(path, "-");
	FILE *file = is_stdout ? stdout : fopen(path, "wb");
	bool ok;

	if (!file) {
		fprintf(stderr, "asahi-as: %s: %s\n", path, strerror(errno));
		return EXIT_FAILURE;
	}
	ok = fwrite(program->code, 1, program->size, file) == program->size;
	ok = (is_stdout ? fflush(file) : fclose(file)) == 0 && ok;
	if (!ok)
		fprintf(stderr, "asahi-as: %s: %s\n", path, strerror(errno));
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int as_assemble(const char *input, const char *output, bool listing)
{
	struct agx_program program;
	int status = EXIT_SUCCESS;
	size_t size;
	char *text;
	int err;

	text = cli_read_file("asahi-as", input, &size);
	if (!text)
		return EXIT_FAILURE;
	if (strlen(text) != size) {
		fprintf(stderr, "asahi-as: %s: this is no text\n", input);
		free(text);
		return EXIT_FAILURE;
	}

	err = agx_isa_assemble(text, strcmp(input, "-") ? input : "stdin",
			       &program, stderr);
	free(text);
	if (err) {
		if (err != -EINVAL)
			fprintf(stderr, "asahi-as: %s\n", strerror(-err));
		return EXIT_FAILURE;
	}
	if (listing)
		agx_isa_disassemble(stdout, program.code, program.size, true);
	if (output)
		status = as_write_code(output, &program);
	free(program.code);
	return status;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "listing", no_argument, NULL, 'l' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	const char *input, *output = NULL;
	char *chosen = NULL;
	bool listing = false;
	int c, status;

	while ((c = getopt_long(argc, argv, "o:lhV", options, NULL)) >= 0) {
		switch (c) {
		case 'o':
			output = optarg;
			break;
		case 'l':
			listing = true;
			break;
		case 'h':
			as_usage(stdout);
			return cli_finish("asahi-as", EXIT_SUCCESS);
		case 'V':
			cli_version("asahi-as");
			return cli_finish("asahi-as", EXIT_SUCCESS);
		default:
			as_usage(stderr);
			return EXIT_USAGE;
		}
	}
	if (argc - optind > 1) {
		as_usage(stderr);
		return EXIT_USAGE;
	}

	input = optind < argc ? argv[optind] : "-";
	if (!output && !listing)
		output = chosen = strcmp(input, "-") ? as_default_output(input) :
						       strdup("-");
	if (chosen && !strcmp(chosen, input) && strcmp(input, "-")) {
		fprintf(stderr, "asahi-as: %s: would be overwritten, name another file with -o\n",
			input);
		free(chosen);
		return EXIT_FAILURE;
	}
	status = as_assemble(input, output, listing);
	free(chosen);
	return cli_finish("asahi-as", status);
}
