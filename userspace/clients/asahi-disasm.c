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
#include "agx_lint.h"
#include "cli.h"

static void disasm_usage(FILE *file)
{
	fputs("usage: asahi-disasm [-x] [-s | -l [-u] [-r N]] [FILE]\n"
	      "Print AGX2 code as instructions, or what is wrong with it.\n"
	      "\n"
	      "  -x, --hex          FILE has hexadecimal digits instead of bytes; everything\n"
	      "                     but digits is a separator\n"
	      "  -s, --source       print instructions only, without offsets and bytes\n"
	      "  -l, --lint         look for mistakes that need no run: waits that are missing,\n"
	      "                     registers that are read after their last use, code that\n"
	      "                     runs out\n"
	      "  -u, --unwritten    with --lint: registers that nothing has written, too, which\n"
	      "                     compilers read where a value does not matter\n"
	      "  -r, --registers=N  with --lint: a thread has N registers of 16 bits\n"
	      "  -h, --help         print this text\n"
	      "  -V, --version      print the version\n"
	      "\n"
	      "Without FILE, or with \"-\", the standard input is read. The exit status is 1\n"
	      "if there were unknown instructions, or mistakes.\n", file);
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

/* What to do with the code */
struct disasm_options {
	bool hex;
	bool source;
	bool lint;
	bool unwritten;
	unsigned int registers;
};

static void disasm_print_finding(void *ctx, const struct agx_lint_finding *finding)
{
	char text[AGX_ISA_MAX_TEXT] = "<unknown instr>";

	(void)ctx;
	if (finding->instr)
		agx_isa_print(finding->instr, text, sizeof(text));
	printf("0x%zx: %s: %s", finding->offset, text, agx_lint_text(finding->kind));
	if (finding->kind <= AGX_LINT_REGISTER)
		printf(" (r%u%c)", finding->half / 2, finding->half % 2 ? 'h' : 'l');
	putchar('\n');
}

/* Return: number of mistakes, or of unknown instructions; -1 after a message */
static int disasm_look_at(const struct disasm_options *options, const uint8_t *code, size_t size)
{
	const struct agx_lint lint = {
		.registers = options->registers,
		.unwritten = options->unwritten,
		.report = disasm_print_finding,
	};
	int found;

	if (!options->lint)
		return (int)agx_isa_disassemble(stdout, code, size, !options->source);
	found = agx_lint_code(&lint, code, size);
	if (found < 0)
		fputs("asahi-disasm: no memory\n", stderr);
	return found;
}

static int disasm_file(const char *input, const struct disasm_options *options)
{
	size_t size;
	char *data = cli_read_file("asahi-disasm", input, &size);
	int found;

	if (!data)
		return EXIT_FAILURE;
	if (options->hex) {
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
	found = disasm_look_at(options, (const uint8_t *)data, size);
	free(data);
	return found ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Reads the number of registers. Return: whether it is one that a thread can have. */
static bool disasm_parse_registers(const char *text, unsigned int *registers)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	*registers = (unsigned int)n;
	return isdigit((unsigned char)*text) && !*end && n > 0 && n <= AGX_ISA_REGISTERS;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "hex", no_argument, NULL, 'x' },
		{ "source", no_argument, NULL, 's' },
		{ "lint", no_argument, NULL, 'l' },
		{ "unwritten", no_argument, NULL, 'u' },
		{ "registers", required_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	struct disasm_options o = { 0 };
	int c;

	while ((c = getopt_long(argc, argv, "xslur:hV", options, NULL)) >= 0) {
		switch (c) {
		case 'x':
			o.hex = true;
			break;
		case 's':
			o.source = true;
			break;
		case 'l':
			o.lint = true;
			break;
		case 'u':
			o.unwritten = true;
			break;
		case 'r':
			if (disasm_parse_registers(optarg, &o.registers))
				break;
			fprintf(stderr, "asahi-disasm: --registers: %s: 1 to %d is expected\n",
				optarg, AGX_ISA_REGISTERS);
			return EXIT_USAGE;
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
	if (argc - optind > 1 || (o.lint && o.source) || (!o.lint && (o.registers || o.unwritten))) {
		disasm_usage(stderr);
		return EXIT_USAGE;
	}
	c = disasm_file(optind < argc ? argv[optind] : "-", &o);
	return cli_finish("asahi-disasm", c);
}
