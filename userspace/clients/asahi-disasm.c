// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Disassembler for AGX2 shaders.
 */
#include <ctype.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agx_isa.h"
#include "cli.h"

static void disasm_usage(FILE *file)
{
	fputs("usage: asahi-disasm [-x] [-s] [FILE]\n"
	      "Print AGX2 code as instructions.\n"
	      "\n"
	      "  -x, --hex      FILE has hexadecimal digits instead of bytes; everything but\n"
	      "                 digits is a separator\n"
	      "  -s, --source   print instructions only, without offsets and bytes\n"
	      "  -h, --help     print this text\n"
	      "  -V, --version  print the version\n"
	      "\n"
	      "Without FILE, or with \"-\", the standard input is read. The exit status is 1\n"
	      "if there were unknown instructions.\n", file);
}

static int disasm_digit(char c)
{
	if (isdigit((unsigned char)c))
		return c - '0';
	return tolower((unsigned char)c) - 'a' + 10;
}

/* In place. Return: bytes, or -1 for an odd number of digits in a row */
static long disasm_parse_hex(char *data, size_t size)
{
	long bytes = 0;
	size_t i = 0;

	while (i < size) {
		if (!isxdigit((unsigned char)data[i])) {
			i++;
			continue;
		}
		if (i + 1 == size || !isxdigit((unsigned char)data[i + 1]))
			return -1;
		data[bytes++] = (char)(disasm_digit(data[i]) << 4 | disasm_digit(data[i + 1]));
		i += 2;
	}
	return bytes;
}

static int disasm_disassemble(const char *input, bool hex, bool source)
{
	unsigned int unknown;
	size_t size;
	char *data = cli_read_file("asahi-disasm", input, &size);

	if (!data)
		return EXIT_FAILURE;
	if (hex) {
		long bytes = disasm_parse_hex(data, size);

		if (bytes < 0) {
			fprintf(stderr,
				"asahi-disasm: %s: a byte has two digits\n",
				input);
			free(data);
			return EXIT_FAILURE;
		}
		size = bytes;
	}
	unknown = agx_isa_disassemble(stdout, (const uint8_t *)data, size,
				      !source);
	free(data);
	return unknown ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "hex", no_argument, NULL, 'x' },
		{ "source", no_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	bool hex = false, source = false;
	int c;

	while ((c = getopt_long(argc, argv, "xshV", options, NULL)) >= 0) {
		switch (c) {
		case 'x':
			hex = true;
			break;
		case 's':
			source = true;
			break;
		case 'h':
			disasm_usage(stdout);
			return cli_finish("asahi-disasm", EXIT_SUCCESS);
		case 'V':
			cli_version("asahi-disasm");
			return cli_finish("asahi-disasm", EXIT_SUCCESS);
		default:
			disasm_usage(stderr);
			return EXIT_USAGE;
		}
	}
	if (argc - optind > 1) {
		disasm_usage(stderr);
		return EXIT_USAGE;
	}
	c = disasm_disassemble(optind < argc ? argv[optind] : "-", hex, source);
	return cli_finish("asahi-disasm", c);
}
