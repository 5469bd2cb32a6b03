// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <string.h>

#include "agx_packets.h"
#include "stream_check.h"
#include "uat.h"

/* Far more than any client here needs: they bound what has no end */
#define MAX_CALLS	8
#define MAX_PACKETS	100000

/* What the walk looks into; the rest is only checked */
union packet {
	struct agx_cdm_launch launch;
	struct agx_cdm_barrier barrier;
	struct agx_cdm_stream_link link;
	uint64_t space[16];
};

struct walk {
	const struct stream *stream;
	FILE *text;
	uint64_t next;
	uint64_t calls[MAX_CALLS];
	unsigned int depth;
	unsigned int packets;
	bool done;
};

static bool complain(const struct walk *w, uint64_t va, const char *what)
{
	fprintf(stderr, "stream at 0x%llx: 0x%llx: %s\n",
		(unsigned long long)w->stream->base, (unsigned long long)va,
		what);
	return false;
}

static bool read_bytes(const struct walk *w, uint64_t va, void *buf, size_t len)
{
	struct vagx_uat_fault fault;

	return !vagx_uat_read(w->stream->uat, w->stream->vm_slot, va, buf, len,
			      VAGX_AGENT_GPU, &fault) ||
	       complain(w, va, "can't be read");
}

static bool check_packet(struct walk *w, enum agx_packet_id id, uint64_t *va,
			 unsigned int indent, union packet *values)
{
	uint8_t bytes[AGX_PACKET_MAX_BYTES], again[AGX_PACKET_MAX_BYTES];
	const char *field = "";
	size_t size = agx_packet_bytes(id);

	if (++w->packets > MAX_PACKETS)
		return complain(w, *va, "there is no end");
	if (!read_bytes(w, *va, bytes, size))
		return false;
	if (agx_packet_unpack(id, bytes, values, &field) ||
	    agx_packet_pack(id, again, values, &field) ||
	    agx_packet_print(w->text, id, bytes, indent) ||
	    memcmp(bytes, again, size)) {
		fprintf(stderr, "%s: %s\n", agx_packet_name(id), field);
		return complain(w, *va, "does not come back the same");
	}
	*va += size;
	return true;
}

static bool check_word(struct walk *w, uint64_t *va, bool *last)
{
	union packet values;
	uint8_t tag;

	if (!read_bytes(w, *va, &tag, sizeof(tag)))
		return false;
	*last = tag == AGX_USC_TAG_PRESHADER || tag == AGX_USC_TAG_NO_PRESHADER;

	switch (tag) {
#define WORD(word, packet)						\
	case AGX_USC_TAG_##word:					\
		return check_packet(w, AGX_PACKET_usc_##packet, va, 4, &values);
	WORD(SHADER, shader)
	WORD(UNIFORM, uniform)
	WORD(PRESHADER, preshader)
	WORD(UNIFORM_HIGH, uniform_high)
	WORD(SHARED, shared)
	WORD(NO_PRESHADER, no_preshader)
	WORD(REGISTERS, registers)
	WORD(SAMPLER, sampler)
	WORD(TEXTURE, texture)
#undef WORD
	}
	return complain(w, *va, "unknown word");
}

static bool check_launch(struct walk *w)
{
	union packet launch, values;
	enum agx_packet_id size;
	bool last = false;
	uint64_t word;

	if (!check_packet(w, AGX_PACKET_cdm_launch, &w->next, 0, &launch))
		return false;
	size = launch.launch.mode == AGX_CDM_MODE_DIRECT ?
		       AGX_PACKET_cdm_global_size : AGX_PACKET_cdm_indirect;
	if (!check_packet(w, size, &w->next, 2, &values))
		return false;
	if (launch.launch.mode != AGX_CDM_MODE_INDIRECT_LOCAL &&
	    !check_packet(w, AGX_PACKET_cdm_local_size, &w->next, 2, &values))
		return false;

	word = w->stream->usc_base + launch.launch.pipeline;
	while (!last) {
		if (!check_word(w, &word, &last))
			return false;
	}
	return true;
}

static bool call(struct walk *w, const struct agx_cdm_stream_link *link)
{
	if (link->with_return && w->depth == MAX_CALLS)
		return complain(w, w->next, "calls are too deep");
	if (link->with_return)
		w->calls[w->depth++] = w->next;
	w->next = link->target;
	return true;
}

static bool ret(struct walk *w)
{
	if (!w->depth)
		return complain(w, w->next, "return without a call");
	w->next = w->calls[--w->depth];
	return true;
}

static bool check_block(struct walk *w)
{
	union packet values;
	uint32_t word;

	if (!read_bytes(w, w->next, &word, sizeof(word)))
		return false;

	switch (word >> 29) {
	case AGX_CDM_BLOCK_LAUNCH:
		return check_launch(w);
	case AGX_CDM_BLOCK_STREAM_LINK:
		return check_packet(w, AGX_PACKET_cdm_stream_link, &w->next, 0,
				    &values) &&
		       call(w, &values.link);
	case AGX_CDM_BLOCK_STREAM_TERMINATE:
		w->done = true;
		return check_packet(w, AGX_PACKET_cdm_stream_terminate,
				    &w->next, 0, &values);
	case AGX_CDM_BLOCK_BARRIER:
		return check_packet(w, AGX_PACKET_cdm_barrier, &w->next, 0,
				    &values) &&
		       (!values.barrier.returns || ret(w));
	case AGX_CDM_BLOCK_STREAM_RETURN:
		return check_packet(w, AGX_PACKET_cdm_stream_return, &w->next,
				    0, &values) &&
		       ret(w);
	}
	return complain(w, w->next, "unknown block");
}

bool stream_check(const struct stream *stream, FILE *text)
{
	struct walk w = {
		.stream = stream,
		.text = text,
		.next = stream->base,
	};

	while (!w.done) {
		if (!check_block(&w))
			return false;
	}
	return true;
}
