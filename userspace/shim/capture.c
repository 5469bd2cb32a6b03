// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Captures of commands as text: each packet of a stream with its address and bytes, in the
 * order of a walk through the stream, with the uniforms, textures and samplers that USC words
 * bind, then the code of the shaders that it leads to. Memory that cannot be read is left out.
 * The caller keeps two threads from writing at once.
 */
#include <inttypes.h>

#include "capture.h"
#include "gpu/core.h"

/* Limits: shaders of a stream, bytes of a shader, packets of a stream */
#define MAX_SHADERS	64
#define MAX_CODE	4096
#define MAX_PACKETS	100000
#define MAX_MAPPINGS	64

struct shaders {
	uint64_t va[MAX_SHADERS];
	unsigned int count;
};

static void capture_note_shader(struct shaders *shaders, uint64_t va)
{
	unsigned int i;

	for (i = 0; i < shaders->count; i++)
		if (shaders->va[i] == va)
			return;
	if (shaders->count < MAX_SHADERS)
		shaders->va[shaders->count++] = va;
}

static void capture_write_bytes(FILE *file, uint64_t va, const uint8_t *bytes, size_t size)
{
	size_t i;

	fprintf(file, "    %#" PRIx64 ":", va);
	for (i = 0; i < size; i++)
		fprintf(file, " %02x", bytes[i]);
	fputc('\n', file);
}

/* Writes memory, up to what is not mapped */
static void capture_write_memory(FILE *file, const struct stream *stream, uint64_t va,
				 uint64_t size)
{
	uint64_t end = va + size;
	uint8_t bytes[16];
	size_t length;

	for (; va < end; va += length) {
		length = end - va < sizeof(bytes) ? end - va : sizeof(bytes);
		if (stream_read((void *)(uintptr_t)stream, va, bytes, length))
			return;
		capture_write_bytes(file, va, bytes, length);
	}
}

/* Writes MAX_CODE bytes: only decoding would tell the end. */
static void capture_write_shader(FILE *file, const struct stream *stream, uint64_t va)
{
	fprintf(file, "  shader %#" PRIx64 ":\n", va);
	capture_write_memory(file, stream, va, MAX_CODE);
}

/* Writes what a USC word binds: halves of uniforms, textures, samplers */
static void capture_write_bound(FILE *file, const struct stream *stream,
				const struct agx_stream_packet *packet)
{
	const union agx_packet *values = &packet->values;

	switch (packet->id) {
	case AGX_PACKET_usc_uniform:
		capture_write_memory(file, stream, values->usc_uniform.buffer,
				     2ull * values->usc_uniform.size);
		break;
	case AGX_PACKET_usc_uniform_high:
		capture_write_memory(file, stream, values->usc_uniform_high.buffer,
				     2ull * values->usc_uniform_high.size);
		break;
	case AGX_PACKET_usc_texture:
		capture_write_memory(file, stream, values->usc_texture.buffer,
				     values->usc_texture.count * (uint64_t)VAGX_TEXTURE_BYTES);
		break;
	case AGX_PACKET_usc_sampler:
		capture_write_memory(file, stream, values->usc_sampler.buffer,
				     values->usc_sampler.count * (uint64_t)VAGX_SAMPLER_BYTES);
		break;
	default:
		break;
	}
}

/* Writes a stream and its shaders. Packets that cannot be read are left out. */
static void capture_write_stream(FILE *file, const struct stream *stream, const char *name)
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
		capture_write_bytes(file, packet.va, packet.bytes, agx_packet_bytes(packet.id));
		capture_write_bound(file, stream, &packet);
		if (packet.id == AGX_PACKET_usc_shader)
			capture_note_shader(&shaders,
					    stream->usc_base + packet.values.usc_shader.code);
		if (packet.id == AGX_PACKET_usc_preshader)
			capture_note_shader(&shaders,
					    stream->usc_base + packet.values.usc_preshader.code);
	}
	for (i = 0; i < shaders.count; i++)
		capture_write_shader(file, stream, shaders.va[i]);
}

void capture_begin(FILE *file)
{
	fputs("asahi core dump\nreason: captured by the shim\n", file);
}

void capture_mappings(FILE *file, const struct asahi_shim_job *job)
{
	size_t i, count = job->num_mappings < MAX_MAPPINGS ? job->num_mappings : MAX_MAPPINGS;

	fputs("mappings:\n", file);
	for (i = 0; i < count; i++)
		fprintf(file, "  mapping %#" PRIx64 " %#" PRIx64 " %s%s\n", job->mappings[i].addr,
			job->mappings[i].size,
			job->mappings[i].flags & DRM_ASAHI_BIND_READ ? "r" : "",
			job->mappings[i].flags & DRM_ASAHI_BIND_WRITE ? "w" : "");
}

void capture_compute(FILE *file, const struct stream *stream)
{
	fputs("compute:\n", file);
	capture_write_stream(file, stream, "stream");
	fflush(file);
}

static void capture_write_program(FILE *file, const struct stream *render,
				  const struct drm_asahi_bg_eot *program)
{
	struct stream words = *render;

	words.kind = AGX_STREAM_usc;
	words.base = render->usc_base + (program->usc & ~63u);
	if (program->usc)
		capture_write_stream(file, &words, "tile program");
}

void capture_render(FILE *file, const struct stream *stream,
		    const struct drm_asahi_cmd_render *cmd)
{
	fprintf(file, "render: %ux%ux%u samples %u tiles %ux%u flags %#x\n", cmd->width_px,
		cmd->height_px, cmd->layers, cmd->samples, cmd->utile_width_px,
		cmd->utile_height_px, cmd->flags);
	capture_write_stream(file, stream, "vertex stream");
	capture_write_program(file, stream, &cmd->bg);
	capture_write_program(file, stream, &cmd->eot);
	if (cmd->partial_bg.usc != cmd->bg.usc)
		capture_write_program(file, stream, &cmd->partial_bg);
	if (cmd->partial_eot.usc != cmd->eot.usc)
		capture_write_program(file, stream, &cmd->partial_eot);
	fflush(file);
}
