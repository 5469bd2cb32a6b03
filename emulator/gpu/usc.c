// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Reads USC words, the list that sets a shader up before a launch: each word is decoded by
 * lib/agx (agx_stream.h, agx_packets.def), and what it binds is copied from the client's memory
 * to the launch. Words that break a rule are reported. Runs on the thread that walks the stream
 * or, for fragment shaders, on that of the core that unpacks the draw; its state is on the stack.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "agx_stream.h"
#include "gpu/clones.h"
#include "gpu/core.h"
#include "gpu/pattern.h"
#include "gpu/usc.h"
#include "report.h"
#include "uat.h"

/*
 * Bounds an endless list: more words than any shader needs, with each of the 512 uniforms, all
 * textures and samplers bound by a word of its own
 */
#define USC_MAX_WORDS	2048

/* Why a launch has no stack */
#define USC_NO_STACK	"its USC words ask for none"

/* State of reading a list of words */
struct usc_reader {
	const struct vagx_usc_source *source;
	struct vagx_launch *launch;
	struct vagx_uat_fault *fault;
	struct agx_stream_packet word;
	bool has_shader;
};

/* Makes a fault of a word that is mapped but malformed. Return: -EFAULT. */
static int usc_malformed(struct usc_reader *r, uint64_t va)
{
	*r->fault = (struct vagx_uat_fault){
		.va = va,
		.slot = r->source->vm_slot,
		.access = VAGX_READ,
		.reason = VAGX_FAULT_NO_ACCESS,
	};
	return -EFAULT;
}

static int usc_read(void *ctx, uint64_t va, void *buf, size_t len)
{
	struct usc_reader *r = ctx;

	return vagx_tlb_read(r->source->tlb, va, buf, len, r->fault);
}

/* Copies @count 16-bit uniforms from @buffer to uniform registers */
static int usc_bind_uniforms(struct usc_reader *r, unsigned int first,
			     unsigned int count, uint64_t buffer)
{
	if (first + count > VAGX_CORE_UNIFORMS) {
		vagx_violation(r->source->report, VAGX_RULE_USC_UNIFORM_RANGE,
			       r->word.va, "USC Uniform", "registers %u to %u",
			       first, first + count - 1);
		return usc_malformed(r, r->word.va);
	}
	vagx_launch_set_uniforms(r->launch, first, count);
	return usc_read(r, buffer, &r->launch->uniforms[first],
			count * sizeof(r->launch->uniforms[0]));
}

static int usc_shader(struct usc_reader *r, const struct agx_usc_shader *w)
{
	if (r->has_shader) {
		vagx_violation(r->source->report, VAGX_CLAUSE_USC_NO_SHADER_twice,
			       r->word.va, "USC Shader", "a second one");
		return usc_malformed(r, r->word.va);
	}
	r->has_shader = true;
	r->launch->code_va = r->source->base + w->code;
	return 0;
}

/* Copies Texture or PBE packets to texture state registers */
static int usc_bind_textures(struct usc_reader *r, const struct agx_usc_texture *w)
{
	if (w->start + w->count > VAGX_CORE_TEXTURES) {
		vagx_violation(r->source->report, VAGX_CLAUSE_USC_TEXTURE_RANGE_texture,
			       r->word.va, "USC Texture", "registers %u to %u", w->start,
			       w->start + w->count - 1);
		return usc_malformed(r, r->word.va);
	}
	return usc_read(r, w->buffer, r->launch->textures[w->start],
			w->count * sizeof(r->launch->textures[0]));
}

/* Copies samplers that have their border colours behind them */
static int usc_bind_extended(struct usc_reader *r, const struct agx_usc_sampler *w)
{
	uint64_t va = w->buffer;
	unsigned int i;
	int err = 0;

	for (i = w->start; !err && i < w->start + w->count; i++) {
		err = usc_read(r, va, r->launch->samplers[i], VAGX_SAMPLER_BYTES);
		va += VAGX_SAMPLER_BYTES;
		if (!err)
			err = usc_read(r, va, r->launch->borders[i], VAGX_BORDER_BYTES);
		va += VAGX_BORDER_BYTES;
	}
	return err;
}

/* Copies samplers to sampler state registers */
static int usc_bind_samplers(struct usc_reader *r, const struct agx_usc_sampler *w)
{
	if (w->start + w->count > VAGX_CORE_SAMPLERS) {
		vagx_violation(r->source->report, VAGX_CLAUSE_USC_TEXTURE_RANGE_sampler,
			       r->word.va, "USC Sampler", "registers %u to %u", w->start,
			       w->start + w->count - 1);
		return usc_malformed(r, r->word.va);
	}
	if (r->launch->extended_samplers)
		return usc_bind_extended(r, w);
	return usc_read(r, w->buffer, r->launch->samplers[w->start],
			w->count * sizeof(r->launch->samplers[0]));
}

/* Sets the size of shared memory, and its layout as a tile if it has one */
static void usc_set_shared(struct vagx_launch *launch, const struct agx_usc_shared *w)
{
	static const struct {
		unsigned int layout;
		uint32_t width, height;
	} tiles[] = {
		{ AGX_SHARED_LAYOUT_32X32, 32, 32 },
		{ AGX_SHARED_LAYOUT_32X16, 32, 16 },
		{ AGX_SHARED_LAYOUT_16X16, 16, 16 },
	};
	unsigned int i;

	launch->shared_size = w->uses_shared_memory ? w->bytes_per_threadgroup : 0;
	launch->sample_stride = w->sample_stride_in_8_bytes * 8;
	launch->tile_width = launch->tile_height = 0;
	launch->tile_samples = w->sample_count;
	for (i = 0; i < sizeof(tiles) / sizeof(tiles[0]); i++) {
		if (tiles[i].layout != w->layout)
			continue;
		launch->tile_width = tiles[i].width;
		launch->tile_height = tiles[i].height;
	}
}

/*
 * A machine asks the helper program for memory when threads begin whose size is not 0 (mesa
 * "src/asahi/lib/agx_scratch.c"). Here it is always there, and the helper program need not run.
 */
static int usc_registers(struct usc_reader *r, const struct agx_usc_registers *registers)
{
	r->launch->regs = registers->register_count;
	if (registers->spill_size)
		r->launch->no_stack = r->source->helper ? NULL : "its job has no helper program";
	return 0;
}

static int usc_word(struct usc_reader *r)
{
	const union agx_packet *w = &r->word.values;

	switch (r->word.id) {
	case AGX_PACKET_usc_uniform:
		return usc_bind_uniforms(r, w->usc_uniform.start,
					 w->usc_uniform.size,
					 w->usc_uniform.buffer);
	case AGX_PACKET_usc_uniform_high:
		return usc_bind_uniforms(r, w->usc_uniform_high.start + 256,
					 w->usc_uniform_high.size,
					 w->usc_uniform_high.buffer);
	case AGX_PACKET_usc_shared:
		usc_set_shared(r->launch, &w->usc_shared);
		return 0;
	case AGX_PACKET_usc_fragment_properties:
		r->launch->early_test = w->usc_fragment_properties.early_z;
		return 0;
	case AGX_PACKET_usc_sampler:
		return usc_bind_samplers(r, &w->usc_sampler);
	case AGX_PACKET_usc_texture:
		return usc_bind_textures(r, &w->usc_texture);
	case AGX_PACKET_usc_shader:
		return usc_shader(r, &w->usc_shader);
	case AGX_PACKET_usc_registers:
		return usc_registers(r, &w->usc_registers);
	case AGX_PACKET_usc_preshader:
		r->launch->preshader_va = r->source->base +
					  w->usc_preshader.code;
		return 0;
	default:
		return 0;
	}
}

/* Reports what is wrong with the list. Return: -EFAULT. */
static int usc_stream_error(struct usc_reader *r, const struct agx_stream *s)
{
	static const enum vagx_rule rules[] = {
		[AGX_STREAM_UNKNOWN] = VAGX_RULE_USC_UNKNOWN_WORD,
		[AGX_STREAM_BAD_CONSTANT] = VAGX_RULE_USC_RESERVED_BITS,
		[AGX_STREAM_TOO_LONG] = VAGX_RULE_USC_ENDLESS,
	};

	vagx_violation(r->source->report, rules[s->error.reason], s->error.va,
		       s->error.what, "%s", s->error.text);
	return usc_malformed(r, s->error.va);
}

static int usc_words(struct usc_reader *r, struct agx_stream *s)
{
	int err;

	while ((err = agx_stream_next(s, &r->word)) > 0) {
		if (r->word.status)
			vagx_violation(r->source->report,
				       VAGX_RULE_USC_RESERVED_BITS, r->word.va,
				       r->word.error.packet, "%s: %s",
				       r->word.error.field, r->word.error.text);
		err = usc_word(r);
		if (err)
			return err;
	}
	return err == -EINVAL ? usc_stream_error(r, s) : err;
}

bool vagx_usc_extends_samplers(const struct agx_shader_counts *counts)
{
	return counts->sampler_registers == AGX_SAMPLER_STATES_8_EXTENDED ||
	       counts->sampler_registers == AGX_SAMPLER_STATES_16_EXTENDED;
}

/* What uniforms have that no word binds */
CLONES static void usc_spoil_uniforms(const struct vagx_usc_source *source, struct vagx_launch *launch)
{
	unsigned int i;

	memset(launch->uniforms_set, 0, sizeof(launch->uniforms_set));
	for (i = 0; i < VAGX_CORE_UNIFORMS; i += 2) {
		uint32_t word = vagx_pattern(source->seed, VAGX_PATTERN_UNIFORMS, i);

		memcpy(&launch->uniforms[i], &word, sizeof(word));
	}
}

int vagx_usc_load(const struct vagx_usc_source *source, uint32_t pipeline,
		  struct vagx_launch *launch, struct vagx_uat_fault *fault)
{
	struct usc_reader r = {
		.source = source,
		.launch = launch,
		.fault = fault,
	};
	const struct agx_stream_source words = {
		.read = usc_read,
		.ctx = &r,
		.max_packets = USC_MAX_WORDS,
	};
	uint64_t start = source->base + pipeline;
	struct agx_stream s;
	int err;

	usc_spoil_uniforms(source, launch);
	launch->no_stack = USC_NO_STACK;
	agx_stream_init(&s, AGX_STREAM_usc, &words, start);
	err = usc_words(&r, &s);
	if (err || r.has_shader)
		return err;
	vagx_violation(source->report, VAGX_CLAUSE_USC_NO_SHADER_none, start,
		       "USC words", "none");
	return usc_malformed(&r, start);
}
