// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Streams of any kind, with the records and USC words that they lead to: walked
 * through and printed.
 */
#include "agx_stream.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct agx_stream_source source = {
		.read = fuzz_read,
		.max_packets = 1000,
		.usc_base = FUZZ_VA,
	};
	struct agx_stream_packet packet;
	enum agx_stream_kind kind;
	struct agx_stream s;
	unsigned int packets = 0;

	if (!size)
		return 0;
	kind = (data[0] & 15) % AGX_STREAM_COUNT;
	source.features = data[0] & 16 ? AGX_STREAM_G14X : 0;
	source.records = data[0] & 32;
	source.pipelines = data[0] & 64;

	fuzz_memory(data + 1, size - 1);
	agx_stream_init(&s, kind, &source, FUZZ_VA);
	while (agx_stream_next(&s, &packet) > 0)
		FUZZ_CHECK(++packets <= source.max_packets);
	agx_stream_print(fuzz_null(), kind, &source, FUZZ_VA);
	return 0;
}
