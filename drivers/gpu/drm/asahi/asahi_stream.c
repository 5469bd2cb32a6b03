// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Control streams of clients, for core dumps.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/visibility.h>

#include <linux/array_size.h>
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/export.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include <drm/drm_print.h>

#include "asahi_stream.h"

/**
 * DOC: Control streams
 *
 * The driver hands control streams on as they are; only a core dump looks into
 * one. A client has written the stream, maybe in order to confuse the reader. So the
 * walk is bounded by the number of blocks, of links, of pipelines and of shaders, and
 * each of these by its size. The dump names memory that cannot be read as missing, and
 * the walk through that part ends there.
 */

enum asahi_stream_constant {
#define AGX_VALUE(enumeration, constant, value, text)	constant = value,
#include <agx/agx_packets.def>
};

enum asahi_stream_size {
#define AGX_PACKET(packet, bytes, label)	ASAHI_STREAM_##packet = bytes,
#include <agx/agx_packets.def>
};

/* Blocks of a stream, links between its parts, and how deep they may nest. */
#define ASAHI_STREAM_BLOCKS		256
#define ASAHI_STREAM_DEPTH		4
/* Bytes of a pipeline's words, and of a shader's code. */
#define ASAHI_STREAM_PIPELINE_BYTES	256
#define ASAHI_STREAM_CODE_BYTES		1024
#define ASAHI_STREAM_CODE_CHUNK		64
/* How many different ones are printed. */
#define ASAHI_STREAM_RECORDS		32
#define ASAHI_STREAM_PIPELINES		16
#define ASAHI_STREAM_SHADERS		32
/* Words of a record, and of a line of them. */
#define ASAHI_STREAM_RECORD_WORDS	255
#define ASAHI_STREAM_LINE_WORDS		8

/**
 * struct asahi_stream_walk - where the walk through a stream is
 * @stream: stream
 * @p: where to print
 * @va: next block
 * @depth: entries of @back
 * @back: where to go on after a return
 * @records: entries of @record and @record_words
 * @record: addresses of records of primitive processing that were seen
 * @record_words: their sizes
 * @pipelines: entries of @pipeline
 * @pipeline: addresses of pipelines that were seen
 * @shaders: entries of @shader
 * @shader: addresses of shaders that were seen
 */
struct asahi_stream_walk {
	const struct asahi_stream *stream;
	struct drm_printer *p;
	u64 va;
	unsigned int depth;
	u64 back[ASAHI_STREAM_DEPTH];
	unsigned int records;
	u64 record[ASAHI_STREAM_RECORDS];
	u8 record_words[ASAHI_STREAM_RECORDS];
	unsigned int pipelines;
	u64 pipeline[ASAHI_STREAM_PIPELINES];
	unsigned int shaders;
	u64 shader[ASAHI_STREAM_SHADERS];
};

static void asahi_stream_note(u64 *list, unsigned int *count, unsigned int max, u64 va)
{
	for (unsigned int i = 0; i < *count; i++)
		if (list[i] == va)
			return;

	if (*count < max)
		list[(*count)++] = va;
}

static bool asahi_stream_read(struct asahi_stream_walk *walk, u64 va, void *buf, size_t len)
{
	const struct asahi_stream *stream = walk->stream;

	if (stream->read(stream->priv, va, buf, len) == len)
		return true;

	drm_printf(walk->p, "    %#011llx: cannot be read\n", va);
	return false;
}

/* Prints words of 32 bits, several in a line, with or without a name. */
static void asahi_stream_print_words(struct asahi_stream_walk *walk, const char *name, u64 va,
				     const u8 *bytes, size_t len)
{
	drm_printf(walk->p, "    %#011llx:%s%s", va, *name ? " " : "", name);
	for (size_t i = 0; i + 4 <= len; i += 4)
		drm_printf(walk->p, " %08x", get_unaligned_le32(bytes + i));
	drm_puts(walk->p, "\n");
}

static size_t asahi_stream_launch_bytes(const struct asahi_stream *stream, u32 word)
{
	size_t bytes = ASAHI_STREAM_cdm_launch;

	if (stream->g14x)
		bytes += ASAHI_STREAM_cdm_launch_g14x;

	switch ((word >> 27) & 3) {
	case AGX_CDM_MODE_DIRECT:
		return bytes + ASAHI_STREAM_cdm_global_size + ASAHI_STREAM_cdm_local_size;
	case AGX_CDM_MODE_INDIRECT_GLOBAL:
		return bytes + ASAHI_STREAM_cdm_indirect + ASAHI_STREAM_cdm_local_size;
	case AGX_CDM_MODE_INDIRECT_LOCAL:
		return bytes + ASAHI_STREAM_cdm_indirect;
	default:
		return bytes;
	}
}

static bool asahi_stream_launch(struct asahi_stream_walk *walk, u32 word)
{
	u8 block[ASAHI_STREAM_cdm_launch + ASAHI_STREAM_cdm_launch_g14x +
		 ASAHI_STREAM_cdm_global_size + ASAHI_STREAM_cdm_local_size];
	size_t bytes = asahi_stream_launch_bytes(walk->stream, word);
	u32 pipeline;

	if (!asahi_stream_read(walk, walk->va, block, bytes))
		return false;

	asahi_stream_print_words(walk, "launch", walk->va, block, bytes);
	pipeline = get_unaligned_le32(block + 4) & GENMASK(31, 6);
	asahi_stream_note(walk->pipeline, &walk->pipelines, ASAHI_STREAM_PIPELINES,
			  walk->stream->usc_base + pipeline);
	walk->va += bytes;
	return true;
}

static bool asahi_stream_link(struct asahi_stream_walk *walk, u32 word)
{
	u8 block[ASAHI_STREAM_cdm_stream_link];

	if (!asahi_stream_read(walk, walk->va, block, sizeof(block)))
		return false;

	asahi_stream_print_words(walk, "link", walk->va, block, sizeof(block));
	if (word & BIT(28)) {
		if (walk->depth == ASAHI_STREAM_DEPTH) {
			drm_puts(walk->p, "    links nest too deep\n");
			return false;
		}
		walk->back[walk->depth++] = walk->va + sizeof(block);
	}

	walk->va = get_unaligned_le32(block + 4) | (u64)(word & 0xff) << 32;
	return true;
}

static bool asahi_stream_return(struct asahi_stream_walk *walk)
{
	drm_printf(walk->p, "    %#011llx: return\n", walk->va);
	if (!walk->depth)
		return false;

	walk->va = walk->back[--walk->depth];
	return true;
}

/* Prints a block; false at the end. */
static bool asahi_stream_block(struct asahi_stream_walk *walk)
{
	u8 head[4];
	u32 word;

	if (!asahi_stream_read(walk, walk->va, head, sizeof(head)))
		return false;

	word = get_unaligned_le32(head);
	switch (word >> 29) {
	case AGX_CDM_BLOCK_LAUNCH:
		return asahi_stream_launch(walk, word);
	case AGX_CDM_BLOCK_STREAM_LINK:
		return asahi_stream_link(walk, word);
	case AGX_CDM_BLOCK_STREAM_TERMINATE:
		drm_printf(walk->p, "    %#011llx: terminate\n", walk->va);
		return false;
	case AGX_CDM_BLOCK_BARRIER:
		asahi_stream_print_words(walk, "barrier", walk->va, head, sizeof(head));
		walk->va += ASAHI_STREAM_cdm_barrier;
		return true;
	case AGX_CDM_BLOCK_STREAM_RETURN:
		return asahi_stream_return(walk);
	default:
		asahi_stream_print_words(walk, "unknown", walk->va, head, sizeof(head));
		return false;
	}
}

/* A record may be long; the same one again is none. */
static void asahi_stream_note_record(struct asahi_stream_walk *walk, u64 va, u8 words)
{
	unsigned int count = walk->records;

	asahi_stream_note(walk->record, &walk->records, ASAHI_STREAM_RECORDS, va);
	if (walk->records != count)
		walk->record_words[count] = words;
}

static bool asahi_stream_ppp_state(struct asahi_stream_walk *walk)
{
	u8 block[ASAHI_STREAM_vdm_ppp_state];
	u32 word;

	if (!asahi_stream_read(walk, walk->va, block, sizeof(block)))
		return false;

	asahi_stream_print_words(walk, "ppp", walk->va, block, sizeof(block));
	word = get_unaligned_le32(block);
	asahi_stream_note_record(walk, get_unaligned_le32(block + 4) | (u64)(word & 0xff) << 32,
				 word >> 8);
	walk->va += sizeof(block);
	return true;
}

/* Those that a bit of the first word announces, in their order; bit 5 is the last. */
#define ASAHI_STREAM_STATE_WORDS	0x2f
#define ASAHI_STREAM_STATE_UNKNOWN	0x90
#define ASAHI_STREAM_STATE_PIPELINE	BIT(2)

static bool asahi_stream_state(struct asahi_stream_walk *walk, u32 word)
{
	u8 block[ASAHI_STREAM_vdm_state + 5 * 4];
	size_t bytes = ASAHI_STREAM_vdm_state + 4 * hweight32(word & ASAHI_STREAM_STATE_WORDS);
	size_t before = 4 * hweight32(word & (ASAHI_STREAM_STATE_PIPELINE - 1));
	u32 pipeline;

	if (word & ASAHI_STREAM_STATE_UNKNOWN) {
		drm_printf(walk->p, "    %#011llx: unknown %08x\n", walk->va, word);
		return false;
	}
	if (!asahi_stream_read(walk, walk->va, block, bytes))
		return false;

	asahi_stream_print_words(walk, "state", walk->va, block, bytes);
	if (word & ASAHI_STREAM_STATE_PIPELINE) {
		pipeline = get_unaligned_le32(block + 4 + before) & GENMASK(31, 6);
		asahi_stream_note(walk->pipeline, &walk->pipelines, ASAHI_STREAM_PIPELINES,
				  walk->stream->usc_base + pipeline);
	}
	walk->va += round_up(bytes, 8);
	return true;
}

/* One word for each of these bits, two for the address of an indirect draw. */
#define ASAHI_STREAM_DRAW_WORDS		GENMASK(24, 20)
#define ASAHI_STREAM_DRAW_INDIRECT	BIT(26)
#define ASAHI_STREAM_DRAW_UNKNOWN	(BIT(25) | BIT(27))

static bool asahi_stream_draw(struct asahi_stream_walk *walk, u32 word)
{
	u8 block[ASAHI_STREAM_vdm_index_list + 5 * 4 + ASAHI_STREAM_vdm_indirect];
	size_t bytes = ASAHI_STREAM_vdm_index_list + 4 * hweight32(word & ASAHI_STREAM_DRAW_WORDS);

	if (word & ASAHI_STREAM_DRAW_INDIRECT)
		bytes += ASAHI_STREAM_vdm_indirect;
	if (word & ASAHI_STREAM_DRAW_UNKNOWN) {
		drm_printf(walk->p, "    %#011llx: unknown %08x\n", walk->va, word);
		return false;
	}
	if (!asahi_stream_read(walk, walk->va, block, bytes))
		return false;

	asahi_stream_print_words(walk, "draw", walk->va, block, bytes);
	walk->va += bytes;
	return true;
}

static bool asahi_stream_vdm_barrier(struct asahi_stream_walk *walk, u8 *head, u32 word)
{
	asahi_stream_print_words(walk, "barrier", walk->va, head, ASAHI_STREAM_vdm_barrier);
	walk->va += ASAHI_STREAM_vdm_barrier;
	if (!(word & BIT(27)))
		return true;
	if (!walk->depth)
		return false;

	walk->va = walk->back[--walk->depth];
	return true;
}

/* The same for vertex work. */
static bool asahi_stream_vdm_block(struct asahi_stream_walk *walk)
{
	u8 head[4];
	u32 word;

	if (!asahi_stream_read(walk, walk->va, head, sizeof(head)))
		return false;

	word = get_unaligned_le32(head);
	switch (word >> 29) {
	case AGX_VDM_BLOCK_PPP_STATE:
		return asahi_stream_ppp_state(walk);
	case AGX_VDM_BLOCK_BARRIER:
		return asahi_stream_vdm_barrier(walk, head, word);
	case AGX_VDM_BLOCK_STATE:
		return asahi_stream_state(walk, word);
	case AGX_VDM_BLOCK_INDEX_LIST:
		return asahi_stream_draw(walk, word);
	case AGX_VDM_BLOCK_STREAM_LINK:
		return asahi_stream_link(walk, word);
	case AGX_VDM_BLOCK_STREAM_TERMINATE:
		drm_printf(walk->p, "    %#011llx: terminate\n", walk->va);
		return false;
	default:
		asahi_stream_print_words(walk, "unknown", walk->va, head, sizeof(head));
		return false;
	}
}

/* Words of a record before those of its fragment shader, the header included. */
static unsigned int asahi_stream_words_before_shader(u32 header)
{
	unsigned int viewports = (header >> 12 & 0xf) + 1;
	unsigned int words = 1 + hweight32(header & (GENMASK(8, 0) | GENMASK(19, 16) |
						     GENMASK(22, 21)));

	if (header & BIT(10))
		words += viewports * ASAHI_STREAM_ppp_region_clip / 4;
	if (header & BIT(11))
		words += (ASAHI_STREAM_ppp_viewport_control +
			  viewports * ASAHI_STREAM_ppp_viewport) / 4;

	return words;
}

static void asahi_stream_note_fragment_shader(struct asahi_stream_walk *walk, const u8 *record,
					      unsigned int words)
{
	u32 header = get_unaligned_le32(record);
	unsigned int pipeline = asahi_stream_words_before_shader(header) + 1;

	if (header & BIT(23) && pipeline < words)
		asahi_stream_note(walk->pipeline, &walk->pipelines, ASAHI_STREAM_PIPELINES,
				  walk->stream->usc_base +
				  (get_unaligned_le32(record + 4 * pipeline) & GENMASK(31, 6)));
}

static void asahi_stream_print_record(struct asahi_stream_walk *walk, u64 va, unsigned int words)
{
	u8 record[ASAHI_STREAM_RECORD_WORDS * 4];

	drm_printf(walk->p, "  record %#llx:\n", va);
	if (!words || !asahi_stream_read(walk, va, record, words * 4))
		return;

	for (unsigned int i = 0; i < words; i += ASAHI_STREAM_LINE_WORDS)
		asahi_stream_print_words(walk, "", va + i * 4, record + i * 4,
					 min(words - i, ASAHI_STREAM_LINE_WORDS) * 4);
	asahi_stream_note_fragment_shader(walk, record, words);
}

static size_t asahi_stream_usc_bytes(u8 tag)
{
	switch (tag) {
	case AGX_USC_TAG_SHADER:
		return ASAHI_STREAM_usc_shader;
	case AGX_USC_TAG_UNIFORM:
		return ASAHI_STREAM_usc_uniform;
	case AGX_USC_TAG_PRESHADER:
		return ASAHI_STREAM_usc_preshader;
	case AGX_USC_TAG_UNIFORM_HIGH:
		return ASAHI_STREAM_usc_uniform_high;
	case AGX_USC_TAG_SHARED:
		return ASAHI_STREAM_usc_shared;
	case AGX_USC_TAG_NO_PRESHADER:
		return ASAHI_STREAM_usc_no_preshader;
	case AGX_USC_TAG_REGISTERS:
		return ASAHI_STREAM_usc_registers;
	case AGX_USC_TAG_SAMPLER:
		return ASAHI_STREAM_usc_sampler;
	case AGX_USC_TAG_TEXTURE:
		return ASAHI_STREAM_usc_texture;
	case AGX_USC_TAG_FRAGMENT_PROPERTIES:
		return ASAHI_STREAM_usc_fragment_properties;
	default:
		return 0;
	}
}

static void asahi_stream_note_shader(struct asahi_stream_walk *walk, u32 code)
{
	asahi_stream_note(walk->shader, &walk->shaders, ASAHI_STREAM_SHADERS,
			  walk->stream->usc_base + code);
}

/* Prints a word of a pipeline; its length, or 0 at the end. */
static size_t asahi_stream_usc_word(struct asahi_stream_walk *walk, u64 va)
{
	u8 word[8];
	size_t len;

	if (!asahi_stream_read(walk, va, word, 1))
		return 0;

	len = asahi_stream_usc_bytes(word[0]);
	if (!len) {
		drm_printf(walk->p, "    %#011llx: %02x unknown\n", va, word[0]);
		return 0;
	}
	if (!asahi_stream_read(walk, va, word, len))
		return 0;

	drm_printf(walk->p, "    %#011llx: %*ph\n", va, (int)len, word);

	if (word[0] == AGX_USC_TAG_SHADER)
		asahi_stream_note_shader(walk, get_unaligned_le32(word + 2));
	if (word[0] == AGX_USC_TAG_PRESHADER)
		asahi_stream_note_shader(walk, get_unaligned_le32(word + 4));

	return word[0] == AGX_USC_TAG_PRESHADER || word[0] == AGX_USC_TAG_NO_PRESHADER ? 0 : len;
}

static void asahi_stream_print_pipeline(struct asahi_stream_walk *walk, u64 va)
{
	u64 end = va + ASAHI_STREAM_PIPELINE_BYTES;
	size_t len;

	drm_printf(walk->p, "  pipeline %#llx:\n", va);
	do {
		len = asahi_stream_usc_word(walk, va);
		va += len;
	} while (len && va < end);
}

/* Where a shader ends isn't known. */
static void asahi_stream_print_shader(struct asahi_stream_walk *walk, u64 va)
{
	u8 code[ASAHI_STREAM_CODE_CHUNK];

	drm_printf(walk->p, "  shader %#llx:\n", va);
	for (unsigned int i = 0; i < ASAHI_STREAM_CODE_BYTES; i += sizeof(code)) {
		if (!asahi_stream_read(walk, va + i, code, sizeof(code)))
			return;
		if (memchr_inv(code, 0, sizeof(code)))
			drm_print_hex_dump(walk->p, "    ", code, sizeof(code));
		else
			drm_printf(walk->p, "    %zu zeroes\n", sizeof(code));
	}
}

static void asahi_stream_print(struct asahi_stream_walk *walk,
			       bool (*block)(struct asahi_stream_walk *walk))
{
	unsigned int blocks = 0;

	while (block(walk)) {
		if (++blocks == ASAHI_STREAM_BLOCKS) {
			drm_puts(walk->p, "    and more\n");
			break;
		}
	}

	for (unsigned int i = 0; i < walk->records; i++)
		asahi_stream_print_record(walk, walk->record[i], walk->record_words[i]);
	for (unsigned int i = 0; i < walk->pipelines; i++)
		asahi_stream_print_pipeline(walk, walk->pipeline[i]);
	for (unsigned int i = 0; i < walk->shaders; i++)
		asahi_stream_print_shader(walk, walk->shader[i]);
}

/**
 * asahi_stream_print_compute() - print a control stream of compute work
 * @stream: stream
 * @p: where to
 *
 * Prints its blocks, the USC words of the pipelines that it launches, and the
 * beginning of the code of their shaders. The stream may hold anything, and may
 * be changed meanwhile. Context: as for &asahi_stream.read.
 */
void asahi_stream_print_compute(const struct asahi_stream *stream, struct drm_printer *p)
{
	struct asahi_stream_walk walk = { .stream = stream, .p = p, .va = stream->base };

	drm_printf(p, "  stream %#llx:\n", stream->base);
	asahi_stream_print(&walk, asahi_stream_block);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_stream_print_compute);

/**
 * asahi_stream_print_vertex() - print a control stream of vertex work
 * @stream: stream
 * @p: where to
 *
 * The same for a render: with the records of primitive processing that it points
 * to, and with the shaders of both stages.
 */
void asahi_stream_print_vertex(const struct asahi_stream *stream, struct drm_printer *p)
{
	struct asahi_stream_walk walk = { .stream = stream, .p = p, .va = stream->base };

	drm_printf(p, "  vertex stream %#llx:\n", stream->base);
	asahi_stream_print(&walk, asahi_stream_vdm_block);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_stream_print_vertex);
