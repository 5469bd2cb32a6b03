// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <errno.h>
#include <stdbool.h>

#include "agx_packets.h"
#include "gpu/core.h"
#include "gpu/usc.h"
#include "report.h"
#include "uat.h"

/*
 * More than anyone needs: each of the 512 uniforms by a word of its own, and
 * all textures, samplers and the rest. It bounds a list without an end.
 */
#define USC_MAX_WORDS	2048

/* A list of words while it is read. */
struct usc_reader {
	const struct vagx_usc_source *source;
	struct vagx_launch *launch;
	struct vagx_uat_fault *fault;
	/* address of the current word and of the one behind it */
	uint64_t va;
	uint64_t next;
	bool has_shader;
	bool done;
};

/* A word that is mapped, but that the unit can make nothing of. */
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

static int usc_read(struct usc_reader *r, uint64_t va, void *buf, size_t len)
{
	return vagx_uat_read(r->source->uat, r->source->vm_slot, va, buf, len,
			     VAGX_AGENT_GPU, r->fault);
}

static int usc_fetch(struct usc_reader *r, enum agx_packet_id id, void *values)
{
	uint8_t word[AGX_PACKET_MAX_BYTES];
	size_t bytes = agx_packet_bytes(id);
	const char *field = NULL;
	int err;

	err = usc_read(r, r->va, word, bytes);
	if (err)
		return err;
	r->next = r->va + bytes;

	err = agx_packet_unpack(id, word, values, &field);
	if (err)
		vagx_violation(r->source->report, VAGX_RULE_USC_RESERVED_BITS,
			       r->va, agx_packet_name(id), "%s", field);
	return err == -EINVAL ? usc_malformed(r, r->va) : 0;
}

static int usc_bind_uniforms(struct usc_reader *r, unsigned int first,
			     unsigned int count, uint64_t buffer)
{
	if (first + count > VAGX_CORE_UNIFORMS) {
		vagx_violation(r->source->report, VAGX_RULE_USC_UNIFORM_RANGE,
			       r->va, "USC Uniform", "registers %u to %u",
			       first, first + count - 1);
		return usc_malformed(r, r->va);
	}
	return usc_read(r, buffer, &r->launch->uniforms[first],
			count * sizeof(r->launch->uniforms[0]));
}

static int usc_uniform(struct usc_reader *r)
{
	struct agx_usc_uniform w;
	int err = usc_fetch(r, AGX_PACKET_usc_uniform, &w);

	return err ? err : usc_bind_uniforms(r, w.start, w.size, w.buffer);
}

static int usc_uniform_high(struct usc_reader *r)
{
	struct agx_usc_uniform_high w;
	int err = usc_fetch(r, AGX_PACKET_usc_uniform_high, &w);

	return err ? err :
		     usc_bind_uniforms(r, w.start + 256, w.size, w.buffer);
}

/* Textures and samplers are bound, but no shader that uses them runs yet. */
static int usc_texture(struct usc_reader *r)
{
	struct agx_usc_texture w;

	return usc_fetch(r, AGX_PACKET_usc_texture, &w);
}

static int usc_sampler(struct usc_reader *r)
{
	struct agx_usc_sampler w;

	return usc_fetch(r, AGX_PACKET_usc_sampler, &w);
}

static int usc_shared(struct usc_reader *r)
{
	struct agx_usc_shared w;
	int err = usc_fetch(r, AGX_PACKET_usc_shared, &w);

	if (err)
		return err;
	r->launch->shared_size =
		w.uses_shared_memory ? w.bytes_per_threadgroup : 0;
	return 0;
}

static int usc_shader(struct usc_reader *r)
{
	struct agx_usc_shader w;
	int err = usc_fetch(r, AGX_PACKET_usc_shader, &w);

	if (err)
		return err;
	if (r->has_shader) {
		vagx_violation(r->source->report, VAGX_RULE_USC_NO_SHADER,
			       r->va, "USC Shader", "a second one");
		return usc_malformed(r, r->va);
	}
	r->has_shader = true;
	r->launch->code_va = r->source->base + w.code;
	return 0;
}

static int usc_registers(struct usc_reader *r)
{
	struct agx_usc_registers w;
	int err = usc_fetch(r, AGX_PACKET_usc_registers, &w);

	if (err)
		return err;
	r->launch->regs = w.register_count;
	return 0;
}

static int usc_preshader(struct usc_reader *r)
{
	struct agx_usc_preshader w;
	int err = usc_fetch(r, AGX_PACKET_usc_preshader, &w);

	if (err)
		return err;
	r->launch->preshader_va = r->source->base + w.code;
	r->done = true;
	return 0;
}

static int usc_no_preshader(struct usc_reader *r)
{
	struct agx_usc_no_preshader w;
	int err = usc_fetch(r, AGX_PACKET_usc_no_preshader, &w);

	r->done = true;
	return err;
}

static int usc_word(struct usc_reader *r)
{
	uint8_t tag;
	int err;

	err = usc_read(r, r->va, &tag, sizeof(tag));
	if (err)
		return err;

	switch (tag) {
	case AGX_USC_TAG_UNIFORM:
		return usc_uniform(r);
	case AGX_USC_TAG_UNIFORM_HIGH:
		return usc_uniform_high(r);
	case AGX_USC_TAG_TEXTURE:
		return usc_texture(r);
	case AGX_USC_TAG_SAMPLER:
		return usc_sampler(r);
	case AGX_USC_TAG_SHARED:
		return usc_shared(r);
	case AGX_USC_TAG_SHADER:
		return usc_shader(r);
	case AGX_USC_TAG_REGISTERS:
		return usc_registers(r);
	case AGX_USC_TAG_PRESHADER:
		return usc_preshader(r);
	case AGX_USC_TAG_NO_PRESHADER:
		return usc_no_preshader(r);
	default:
		vagx_violation(r->source->report, VAGX_RULE_USC_UNKNOWN_WORD,
			       r->va, "USC word", "tag 0x%02x", tag);
		return usc_malformed(r, r->va);
	}
}

int vagx_usc_load(const struct vagx_usc_source *source, uint32_t pipeline,
		  struct vagx_launch *launch, struct vagx_uat_fault *fault)
{
	struct usc_reader r = {
		.source = source,
		.launch = launch,
		.fault = fault,
		.next = source->base + pipeline,
	};
	uint64_t start = r.next;
	unsigned int n;

	for (n = 0; !r.done; n++) {
		int err;

		if (n == USC_MAX_WORDS) {
			vagx_violation(source->report, VAGX_RULE_USC_ENDLESS,
				       start, "USC words", "more than %d",
				       USC_MAX_WORDS);
			return usc_malformed(&r, r.next);
		}
		r.va = r.next;
		err = usc_word(&r);
		if (err)
			return err;
	}

	if (!r.has_shader) {
		vagx_violation(source->report, VAGX_RULE_USC_NO_SHADER, start,
			       "USC words", "none");
		return usc_malformed(&r, start);
	}
	return 0;
}
