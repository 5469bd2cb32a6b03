// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dump.h"

int dump_add(struct dump_memory *memory, uint64_t va, const void *data,
	     size_t size)
{
	struct dump_piece *last = memory->count ?
		&memory->pieces[memory->count - 1] : NULL;
	struct dump_piece *pieces;
	uint8_t *bytes;

	if (!last || last->va + last->size != va) {
		pieces = realloc(memory->pieces,
				 (memory->count + 1) * sizeof(*pieces));
		if (!pieces)
			return -ENOMEM;
		memory->pieces = pieces;
		last = &pieces[memory->count++];
		*last = (struct dump_piece){ .va = va };
	}
	bytes = realloc(last->bytes, last->size + size + 1);
	if (!bytes)
		return -ENOMEM;
	memcpy(bytes + last->size, data, size);
	last->bytes = bytes;
	last->size += size;
	return 0;
}

void dump_free(struct dump_memory *memory)
{
	for (unsigned int i = 0; i < memory->count; i++)
		free(memory->pieces[i].bytes);
	free(memory->pieces);
	*memory = (struct dump_memory){ .count = 0 };
}

static const uint8_t *dump_find_byte(const struct dump_memory *memory, uint64_t va)
{
	for (unsigned int i = 0; i < memory->count; i++) {
		const struct dump_piece *piece = &memory->pieces[i];

		if (va - piece->va < piece->size)
			return piece->bytes + (va - piece->va);
	}
	return NULL;
}

int dump_read(void *ctx, uint64_t va, void *buf, size_t len)
{
	uint8_t *to = buf;

	while (len--) {
		const uint8_t *from = dump_find_byte(ctx, va++);

		if (!from)
			return -EFAULT;
		*to++ = *from;
	}
	return 0;
}

/* Core dumps */

struct parser {
	const struct dump_visitor *visitor;
	struct dump_stream stream;
	struct dump_memory memory;
	/* in the lines of a stream, its records, pipelines and shaders */
	bool in_stream;
	/* in the lines of a vertex buffer */
	bool in_buffer;
	/* where the next bytes belong */
	uint64_t va;
	int err;
};

static void dump_end_stream(struct parser *p)
{
	if (p->in_stream && !p->err) {
		p->stream.memory = &p->memory;
		p->visitor->stream(p->visitor->ctx, &p->stream);
	}
	p->in_stream = false;
	dump_free(&p->memory);
}

static void dump_add_words(struct parser *p, const void *data, size_t size)
{
	if (!p->err)
		p->err = dump_add(&p->memory, p->va, data, size);
	p->va += size;
}

/* Blocks whose words are always the same are written as names only. */
static void dump_add_block(struct parser *p, enum agx_packet_id id,
			   const void *values)
{
	uint8_t bytes[AGX_PACKET_MAX_BYTES];

	agx_packet_pack(id, bytes, values, NULL);
	dump_add_words(p, bytes, agx_packet_bytes(id));
}

static bool dump_parse_hex(const char *token, size_t digits, uint32_t *value)
{
	if (strlen(token) != digits || strspn(token, "0123456789abcdef") != digits)
		return false;
	*value = strtoul(token, NULL, 16);
	return true;
}

static void dump_parse_token(struct parser *p, const char *token)
{
	const struct agx_cdm_stream_terminate terminate =
		agx_cdm_stream_terminate_default();
	const struct agx_cdm_stream_return ret =
		agx_cdm_stream_return_default();
	const struct agx_vdm_stream_terminate vdm_terminate =
		agx_vdm_stream_terminate_default();
	uint32_t value;

	if (!strcmp(token, "terminate") && p->stream.kind == AGX_STREAM_vdm) {
		dump_add_block(p, AGX_PACKET_vdm_stream_terminate, &vdm_terminate);
	} else if (!strcmp(token, "terminate")) {
		dump_add_block(p, AGX_PACKET_cdm_stream_terminate, &terminate);
	} else if (!strcmp(token, "return")) {
		dump_add_block(p, AGX_PACKET_cdm_stream_return, &ret);
	} else if (dump_parse_hex(token, 8, &value)) {
		const uint8_t word[4] = { value, value >> 8, value >> 16,
					  value >> 24 };

		dump_add_words(p, word, sizeof(word));
	} else if (dump_parse_hex(token, 2, &value)) {
		const uint8_t byte = value;

		dump_add_words(p, &byte, sizeof(byte));
	}
}

/* "    0xADDRESS: launch 00001012 ...", "    0xADDRESS: 1d 00 ...", "    72 09 ..." */
static void dump_parse_data(struct parser *p, char *line)
{
	static const uint8_t zeroes[64];
	unsigned int count;
	uint64_t va;
	int used = 0;

	/* words of a message may look like digits */
	if (strstr(line, "cannot be read"))
		return;
	if (sscanf(line, " %" SCNx64 ":%n", &va, &used) == 1 && used) {
		p->va = va;
		line += used;
	}
	if (sscanf(line, " %u zeroes", &count) == 1 && strstr(line, "zeroes")) {
		dump_add_words(p, zeroes, count < sizeof(zeroes) ? count : sizeof(zeroes));
		return;
	}
	for (char *save, *token = strtok_r(line, " ", &save); token;
	     token = strtok_r(NULL, " ", &save))
		dump_parse_token(p, token);
}

/* "  stream 0xADDRESS:" and its kin. Return: whether it is one. */
static bool dump_parse_stream(struct parser *p, const char *line)
{
	uint64_t va;

	if (sscanf(line, "  stream %" SCNx64 ":", &va) == 1)
		p->stream.kind = AGX_STREAM_cdm;
	else if (sscanf(line, "  vertex stream %" SCNx64 ":", &va) == 1)
		p->stream.kind = AGX_STREAM_vdm;
	else if (sscanf(line, "  tile program %" SCNx64 ":", &va) == 1)
		p->stream.kind = AGX_STREAM_usc;
	else
		return false;
	p->stream.va = p->va = va;
	return true;
}

/* Also the lines of each scene, which are among those of its work. */
static void dump_parse_buffer(struct parser *p, const char *line)
{
	const bool first = !strcmp(line, "vertex buffer:");

	p->in_buffer = first || (p->in_buffer && !strncmp(line, "  ", 2));
	if (!p->visitor->buffer || !strncmp(line, "    ", 4))
		return;
	if (p->in_buffer || !strncmp(line, "  scene", strlen("  scene")))
		p->visitor->buffer(p->visitor->ctx, line);
}

static void dump_parse_line(struct parser *p, char *line)
{
	uint64_t va;

	dump_parse_buffer(p, line);
	if (p->in_stream && !strncmp(line, "    ", 4)) {
		dump_parse_data(p, line);
	} else if (p->in_stream &&
		   (sscanf(line, "  record %" SCNx64 ":", &va) == 1 ||
		    sscanf(line, "  pipeline %" SCNx64 ":", &va) == 1 ||
		    sscanf(line, "  shader %" SCNx64 ":", &va) == 1)) {
		p->va = va;
	} else {
		dump_end_stream(p);
		if (sscanf(line, "  usc_exec_base: %" SCNx64, &va) == 1) {
			p->stream.usc_base = va;
			p->stream.has_usc_base = true;
		}
		p->in_stream = dump_parse_stream(p, line);
	}
}

int dump_parse(const char *text, const struct dump_visitor *visitor)
{
	struct parser p = { .visitor = visitor };
	char *copy, *rest, *line;

	if (strncmp(text, "asahi core dump\n", strlen("asahi core dump\n")))
		return -EINVAL;
	copy = rest = strdup(text);
	if (!copy)
		return -ENOMEM;
	while ((line = strsep(&rest, "\n")))
		dump_parse_line(&p, line);
	dump_end_stream(&p);
	free(copy);
	return p.err;
}
