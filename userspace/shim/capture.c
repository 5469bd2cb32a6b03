// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <inttypes.h>

#include "capture.h"

/* Shaders of a stream, and bytes of one, that are written; packets of a stream */
#define MAX_SHADERS	64
#define MAX_CODE	4096
#define MAX_PACKETS	100000

struct shaders {
	uint64_t va[MAX_SHADERS];
	unsigned int count;
};

static void note_shader(struct shaders *shaders, uint64_t va)
{
	unsigned int i;

	for (i = 0; i < shaders->count; i++)
		if (shaders->va[i] == va)
			return;
	if (shaders->count < MAX_SHADERS)
		shaders->va[shaders->count++] = va;
}

static void write_bytes(FILE *file, uint64_t va, const uint8_t *bytes, size_t size)
{
	size_t i;

	fprintf(file, "    %#" PRIx64 ":", va);
	for (i = 0; i < size; i++)
		fprintf(file, " %02x", bytes[i]);
	fputc('\n', file);
}

/* As much as there is: where a shader ends only its code says. */
static void write_shader(FILE *file, const struct stream *stream, uint64_t va)
{
	uint8_t bytes[16];
	uint64_t at;

	fprintf(file, "  shader %#" PRIx64 ":\n", va);
	for (at = va; at < va + MAX_CODE; at += sizeof(bytes)) {
		if (stream_read((void *)(uintptr_t)stream, at, bytes, sizeof(bytes)))
			return;
		write_bytes(file, at, bytes, sizeof(bytes));
	}
}

/* What is missing or makes no sense is not there, and the reader says so. */
static void write_stream(FILE *file, const struct stream *stream, const char *name)
{
	const struct agx_stream_source source = {
		.read = stream_read,
		.ctx = (void *)(uintptr_t)stream,
		.max_packets = MAX_PACKETS,
		.records = true,
		.pipelines = true,
		.usc_base = stream->usc_base,
		.features = stream->features,
	};
	struct shaders shaders = { .count = 0 };
	struct agx_stream_packet packet;
	struct agx_stream walk;
	unsigned int i;
	int err;

	fprintf(file, "  usc_exec_base: %#" PRIx64 "\n  %s %#" PRIx64 ":\n", stream->usc_base,
		name, stream->base);
	agx_stream_init(&walk, stream->kind, &source, stream->base);
	while ((err = agx_stream_next(&walk, &packet))) {
		if (err < 0)
			continue;
		write_bytes(file, packet.va, packet.bytes, agx_packet_bytes(packet.id));
		if (packet.id == AGX_PACKET_usc_shader)
			note_shader(&shaders, stream->usc_base + packet.values.usc_shader.code);
		if (packet.id == AGX_PACKET_usc_preshader)
			note_shader(&shaders, stream->usc_base + packet.values.usc_preshader.code);
	}
	for (i = 0; i < shaders.count; i++)
		write_shader(file, stream, shaders.va[i]);
}

void capture_begin(FILE *file)
{
	fputs("asahi core dump\nreason: captured by the shim\n", file);
}

void capture_compute(FILE *file, const struct stream *stream)
{
	fputs("compute:\n", file);
	write_stream(file, stream, "stream");
	fflush(file);
}

static void write_program(FILE *file, const struct stream *render,
			  const struct drm_asahi_bg_eot *program)
{
	struct stream words = *render;

	words.kind = AGX_STREAM_usc;
	words.base = render->usc_base + (program->usc & ~63u);
	if (program->usc)
		write_stream(file, &words, "tile program");
}

void capture_render(FILE *file, const struct stream *stream,
		    const struct drm_asahi_cmd_render *cmd)
{
	fprintf(file, "render: %ux%ux%u samples %u tiles %ux%u flags %#x\n", cmd->width_px,
		cmd->height_px, cmd->layers, cmd->samples, cmd->utile_width_px,
		cmd->utile_height_px, cmd->flags);
	write_stream(file, stream, "vertex stream");
	write_program(file, stream, &cmd->bg);
	write_program(file, stream, &cmd->eot);
	if (cmd->partial_bg.usc != cmd->bg.usc)
		write_program(file, stream, &cmd->partial_bg);
	if (cmd->partial_eot.usc != cmd->eot.usc)
		write_program(file, stream, &cmd->partial_eot);
	fflush(file);
}
