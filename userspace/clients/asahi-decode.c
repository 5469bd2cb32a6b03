// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Decoder for command streams, from the driver's core dumps or from memory.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agx_isa.h"
#include "agx_stream.h"
#include "cli.h"
#include "dump.h"

#define PROGRAM		"asahi-decode"
/* More than any program writes; it ends a stream that has no end */
#define MAX_PACKETS	1000000
/* Shaders that are printed, and how much of one */
#define MAX_SHADERS	64
#define MAX_CODE	65536

static void decode_usage(FILE *file)
{
	fputs("usage: asahi-decode [-s] [DUMP]\n"
	      "       asahi-decode [-s] [-u ADDRESS] -a ADDRESS [-r|-w] FILE[@ADDRESS]...\n"
	      "Print the packets of command streams.\n"
	      "\n"
	      "  -a, --address=ADDRESS   read the stream at this address; each FILE is the\n"
	      "                          memory at its ADDRESS (default: the stream's)\n"
	      "  -u, --usc-base=ADDRESS  what USC words and shaders are relative to; without\n"
	      "                          it they are not followed\n"
	      "  -r, --render            the stream is of a render command\n"
	      "  -w, --words             the stream is USC words\n"
	      "  -s, --shaders           print the shaders as well\n"
	      "  -h, --help              print this text\n"
	      "  -V, --version           print the version\n"
	      "\n"
	      "DUMP is a core dump of the driver, or what the shim has captured, of which all\n"
	      "streams are printed, and the state of vertex buffers. Without it, or with \"-\", the standard input is read. The\n"
	      "exit status is 1 if something in a stream was wrong.\n", file);
}

struct decoder {
	bool shaders;
	unsigned int wrong;
	unsigned int streams;
};

/* Distinct shaders of a stream */
struct shader_list {
	uint64_t va[MAX_SHADERS];
	unsigned int count;
};

static void decode_note_shader(struct shader_list *list, uint64_t va)
{
	for (unsigned int i = 0; i < list->count; i++) {
		if (list->va[i] == va)
			return;
	}
	if (list->count < MAX_SHADERS)
		list->va[list->count++] = va;
}

static void decode_find_shaders(const struct dump_stream *stream,
				const struct agx_stream_source *source,
				struct shader_list *list)
{
	struct agx_stream_packet packet;
	struct agx_stream s;
	int err;

	agx_stream_init(&s, stream->kind, source, stream->va);
	while ((err = agx_stream_next(&s, &packet))) {
		if (err < 0)
			continue;
		if (packet.id == AGX_PACKET_usc_shader)
			decode_note_shader(list, stream->usc_base +
					  packet.values.usc_shader.code);
		if (packet.id == AGX_PACKET_usc_preshader)
			decode_note_shader(list, stream->usc_base +
					  packet.values.usc_preshader.code);
	}
}

/* Where a shader ends only its code says. */
static size_t decode_code_size(const uint8_t *code, size_t size)
{
	struct agx_instr instr;
	size_t offset = 0;

	while (offset < size) {
		int length = agx_isa_decode(code + offset, size - offset, &instr);

		if (length < 0)
			return size;
		offset += length;
		if (instr.op == AGX_OP_STOP)
			break;
	}
	return offset;
}

static void decode_print_shader(struct decoder *decoder,
				const struct dump_stream *stream, uint64_t va)
{
	uint8_t *code = malloc(MAX_CODE);
	size_t size = 0;

	if (!code)
		return;
	while (size < MAX_CODE &&
	       !dump_read((void *)stream->memory, va + size, code + size, 2))
		size += 2;
	printf("shader %#" PRIx64 ":%s\n", va, size ? "" : " cannot be read");
	decoder->wrong += agx_isa_disassemble(stdout, code,
					      decode_code_size(code, size), true);
	free(code);
}

static void decode(void *ctx, const struct dump_stream *stream)
{
	static const char *const names[AGX_STREAM_COUNT] = {
		[AGX_STREAM_cdm] = "stream",
		[AGX_STREAM_vdm] = "vertex stream",
		[AGX_STREAM_usc] = "words",
	};
	const struct agx_stream_source source = {
		.read = dump_read,
		.ctx = (void *)stream->memory,
		.max_packets = MAX_PACKETS,
		.records = true,
		.pipelines = stream->has_usc_base,
		.usc_base = stream->usc_base,
	};
	struct shader_list shaders = { .count = 0 };
	struct decoder *decoder = ctx;

	printf("%s%s %#" PRIx64 ":\n", decoder->streams++ ? "\n" : "",
	       names[stream->kind], stream->va);
	decoder->wrong += agx_stream_print(stdout, stream->kind, &source,
					   stream->va);
	if (!decoder->shaders)
		return;
	decode_find_shaders(stream, &source, &shaders);
	for (unsigned int i = 0; i < shaders.count; i++)
		decode_print_shader(decoder, stream, shaders.va[i]);
}

static void decode_print_line(void *ctx, const char *line)
{
	puts(line);
}

static int decode_dump(struct decoder *decoder, const char *path)
{
	const struct dump_visitor visitor = {
		.stream = decode,
		.buffer = decode_print_line,
		.ctx = decoder,
	};
	size_t size;
	char *text = cli_read_file(PROGRAM, path, &size);
	int err;

	if (!text)
		return EXIT_FAILURE;
	err = dump_parse(text, &visitor);
	free(text);
	if (err == -EINVAL)
		fprintf(stderr,
			PROGRAM ": %s: no core dump of asahi; for memory, -a says where the stream is\n",
			path);
	else if (err)
		fprintf(stderr, PROGRAM ": %s: %s\n", path, strerror(-err));
	else if (!decoder->streams)
		fprintf(stderr, PROGRAM ": %s: there is no stream in it\n", path);
	return err || !decoder->streams || decoder->wrong ? EXIT_FAILURE :
							    EXIT_SUCCESS;
}

static bool decode_parse_address(const char *text, uint64_t *va)
{
	char *end;

	errno = 0;
	*va = strtoull(text, &end, 0);
	if (!errno && end != text && !*end && *text != '-')
		return true;
	fprintf(stderr, PROGRAM ": %s: not an address\n", text);
	return false;
}

/* FILE or FILE@ADDRESS */
static bool decode_load(struct dump_memory *memory, char *arg, uint64_t va)
{
	char *at = strrchr(arg, '@');
	size_t size;
	char *data;
	int err;

	if (at) {
		*at = '\0';
		if (!decode_parse_address(at + 1, &va))
			return false;
	}
	data = cli_read_file(PROGRAM, arg, &size);
	if (!data)
		return false;
	err = dump_add(memory, va, data, size);
	free(data);
	if (err)
		fprintf(stderr, PROGRAM ": %s: %s\n", arg, strerror(-err));
	return !err;
}

static int decode_memory(struct decoder *decoder, struct dump_stream *stream,
			 char **files)
{
	struct dump_memory memory = { .count = 0 };
	bool ok = true;

	for (; *files && ok; files++)
		ok = decode_load(&memory, *files, stream->va);
	stream->memory = &memory;
	if (ok)
		decode(decoder, stream);
	stream->memory = NULL;
	dump_free(&memory);
	return ok && !decoder->wrong ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int decode_run(struct decoder *decoder, struct dump_stream *stream,
		      bool from_memory, int count, char **args)
{
	bool needs_memory = stream->has_usc_base ||
			    stream->kind != AGX_STREAM_cdm;

	if (from_memory ? !count : count > 1 || needs_memory) {
		decode_usage(stderr);
		return EXIT_USAGE;
	}
	if (from_memory)
		return decode_memory(decoder, stream, args);
	return decode_dump(decoder, count ? args[0] : "-");
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "address", required_argument, NULL, 'a' },
		{ "usc-base", required_argument, NULL, 'u' },
		{ "render", no_argument, NULL, 'r' },
		{ "words", no_argument, NULL, 'w' },
		{ "shaders", no_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	struct dump_stream stream = { .kind = AGX_STREAM_cdm };
	struct decoder decoder = { .wrong = 0 };
	bool from_memory = false;
	int c;

	while ((c = getopt_long(argc, argv, "a:u:rwshV", options, NULL)) >= 0) {
		switch (c) {
		case 'a':
			from_memory = true;
			if (!decode_parse_address(optarg, &stream.va))
				return EXIT_USAGE;
			break;
		case 'u':
			stream.has_usc_base = true;
			if (!decode_parse_address(optarg, &stream.usc_base))
				return EXIT_USAGE;
			break;
		case 'r':
			stream.kind = AGX_STREAM_vdm;
			break;
		case 'w':
			stream.kind = AGX_STREAM_usc;
			break;
		case 's':
			decoder.shaders = true;
			break;
		case 'h':
			decode_usage(stdout);
			return cli_finish(PROGRAM, EXIT_SUCCESS);
		case 'V':
			cli_version(PROGRAM);
			return cli_finish(PROGRAM, EXIT_SUCCESS);
		default:
			decode_usage(stderr);
			return EXIT_USAGE;
		}
	}
	c = decode_run(&decoder, &stream, from_memory, argc - optind, argv + optind);
	return cli_finish(PROGRAM, c);
}
