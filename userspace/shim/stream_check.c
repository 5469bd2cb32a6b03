// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Checks control streams: walks through one as lib/agx does, with the records and pipelines
 * that it leads to, and packs each packet again, which has to give the same bytes.
 */
#include <inttypes.h>
#include <string.h>

#include "shim.h"
#include "stream_check.h"
#include "uat.h"

/* Far more than any client here needs: it bounds streams without an end */
#define MAX_PACKETS	100000

int stream_read(void *ctx, uint64_t va, void *buf, size_t len)
{
	const struct stream *stream = ctx;
	struct vagx_uat_fault fault;

	return vagx_uat_read(stream->uat, stream->vm_slot, va, buf, len,
			     VAGX_AGENT_GPU, &fault);
}

static bool stream_check_complain(uint64_t va, const char *packet, const char *field,
				  const char *what)
{
	shim_report("stream: %#" PRIx64 ": %s: %s: %s", va, packet, field, what);
	return false;
}

static bool stream_check_packet(const struct agx_stream_packet *p)
{
	uint8_t again[AGX_PACKET_MAX_BYTES];
	struct agx_error error;

	if (p->status)
		return stream_check_complain(p->va, p->error.packet, p->error.field,
					     p->error.text);
	if (agx_packet_pack(p->id, again, &p->values, &error))
		return stream_check_complain(p->va, error.packet, error.field, error.text);
	if (memcmp(p->bytes, again, agx_packet_bytes(p->id)))
		return stream_check_complain(p->va, agx_packet_name(p->id), "bytes",
					     "do not come back the same");
	return true;
}

bool stream_check(const struct stream *stream, FILE *text)
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
	struct agx_stream_packet packet;
	struct agx_stream s;
	bool good = true;
	int err;

	agx_stream_init(&s, stream->kind, &source, stream->base);
	while ((err = agx_stream_next(&s, &packet)) > 0) {
		if (text)
			agx_stream_print_packet(text, &packet);
		good &= stream_check_packet(&packet);
	}
	/* The GPU has no such limit: a stream that is longer is right, and its rest is not read. */
	if (!err || s.error.reason == AGX_STREAM_TOO_LONG)
		return good;
	return stream_check_complain(s.error.va, s.error.what, "stream", s.error.text);
}
