/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * A walk through a command stream, packet by packet, as agx_streams.def says:
 *
 *	agx_stream_init(&stream, AGX_STREAM_cdm, &source, address);
 *	while ((err = agx_stream_next(&stream, &packet)) > 0)
 *		look at packet.id, packet.values.cdm_launch, ...
 *
 * A stream may hold anything. The walk reads it once, through a function, and
 * ends after a number of packets in any case.
 */
#ifndef AGX_STREAM_H
#define AGX_STREAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "agx_packets.h"

/** AGX_STREAMS - the table; a test has another one */
#ifndef AGX_STREAMS
#define AGX_STREAMS	"agx_streams.def"
#endif

/** AGX_STREAM_MAX_CALLS - how deep jumps with a return may nest */
#define AGX_STREAM_MAX_CALLS	16

/** AGX_STREAM_MAX_NESTED - streams that begin inside of streams */
#define AGX_STREAM_MAX_NESTED	2

/** AGX_STREAM_MAX_COUNT - how often one kind of packet may follow another */
#define AGX_STREAM_MAX_COUNT	16

/** AGX_STREAM_MAX_FOLLOW - at least as many as follow the first of a block */
enum {
	AGX_STREAM_MAX_FOLLOW = 0
#define AGX_FOLLOW(packet, field, value, next)		+ 1
#define AGX_FOLLOW_COUNT(packet, field, count, next)	+ AGX_STREAM_MAX_COUNT
#define AGX_FOLLOW_ON(packet, feature, next)		+ 1
#include AGX_STREAMS
};

/** enum agx_stream_kind - kinds of streams: AGX_STREAM_cdm, AGX_STREAM_vdm */
enum agx_stream_kind {
#define AGX_STREAM(stream, label, unit, tag_start, tag_width, alignment) \
	AGX_STREAM_##stream,
#include AGX_STREAMS
	AGX_STREAM_COUNT,
};

/** enum agx_stream_feature - what streams of some GPUs have */
enum agx_stream_feature {
	/** @AGX_STREAM_G14X: launches of G14 with several clusters */
	AGX_STREAM_G14X = 1,
};

/** enum agx_stream_reason - why a walk cannot go on */
enum agx_stream_reason {
	/** @AGX_STREAM_OK: it can */
	AGX_STREAM_OK,
	/** @AGX_STREAM_UNREADABLE: memory cannot be read */
	AGX_STREAM_UNREADABLE,
	/** @AGX_STREAM_MISALIGNED: a block begins where none may begin */
	AGX_STREAM_MISALIGNED,
	/** @AGX_STREAM_UNKNOWN: no packet has this tag, or nobody knows what
	 *  follows
	 */
	AGX_STREAM_UNKNOWN,
	/** @AGX_STREAM_BAD_CONSTANT: bits that always have one value do not */
	AGX_STREAM_BAD_CONSTANT,
	/** @AGX_STREAM_TOO_DEEP: more calls than AGX_STREAM_MAX_CALLS */
	AGX_STREAM_TOO_DEEP,
	/** @AGX_STREAM_NO_CALL: a return without a call */
	AGX_STREAM_NO_CALL,
	/** @AGX_STREAM_BAD_SIZE: a record has more or fewer words than were said */
	AGX_STREAM_BAD_SIZE,
	/** @AGX_STREAM_TOO_LONG: more packets than the source allows */
	AGX_STREAM_TOO_LONG,
};

/** struct agx_stream_source - where a stream comes from */
struct agx_stream_source {
	/** @read: copies memory; 0 or a negative errno, which ends the walk */
	int (*read)(void *ctx, uint64_t va, void *buf, size_t len);
	/** @ctx: first argument of @read */
	void *ctx;
	/** @max_packets: after so many packets the walk ends */
	uint64_t max_packets;
	/** @features: of the GPU, enum agx_stream_feature */
	unsigned int features;
	/** @records: walk through the records of a block, behind it */
	bool records;
	/** @pipelines: walk through the USC words of a block, behind it */
	bool pipelines;
	/** @usc_base: what they are relative to */
	uint64_t usc_base;
};

/** struct agx_stream_packet - a packet of a stream */
struct agx_stream_packet {
	/** @kind: of what kind the stream is that it belongs to */
	enum agx_stream_kind kind;
	/** @id: which packet */
	enum agx_packet_id id;
	/** @va: its address */
	uint64_t va;
	/** @level: 0, or in how many other streams it is nested */
	unsigned int level;
	/** @left: how many packets of its block follow */
	unsigned int left;
	/** @bytes: the packet */
	uint8_t bytes[AGX_PACKET_MAX_BYTES];
	/** @values: its fields */
	union agx_packet values;
	/** @status: of unpacking: 0 or -EBADMSG */
	int status;
	/** @error: if @status is set, what is wrong */
	struct agx_error error;
};

/** struct agx_stream - a walk. All but @error, @block and @jumped is private. */
struct agx_stream {
	/** @error: why agx_stream_next() failed */
	struct {
		enum agx_stream_reason reason;
		/** @error.va: address of what is wrong */
		uint64_t va;
		/** @error.what: name of what is wrong */
		const char *what;
		/** @error.text: what is wrong with it */
		char text[192];
	} error;
	/** @block: address of the block that was read last */
	uint64_t block;
	/** @jumped: the stream has gone elsewhere */
	bool jumped;

	const struct agx_stream_source *source;
	/* the stream that is read, agx_stream.c */
	struct agx_stream_place {
		enum agx_stream_kind kind;
		uint64_t next;
		/* where a record ends, else 0 */
		uint64_t end;
		/* what happens behind the current block */
		unsigned int flow;
	} at;
	/* those that it is nested in, the outermost first */
	struct agx_stream_place outer[AGX_STREAM_MAX_NESTED];
	unsigned int level;
	/* the one that begins behind the current block */
	struct agx_stream_place inner;
	bool has_inner;
	uint64_t packets;
	bool over;
	/* the packets of the current block that are to come */
	enum agx_packet_id follow[AGX_STREAM_MAX_FOLLOW];
	unsigned int follow_at;
	unsigned int follow_count;
	/* what the current block began with, and where that jumps to */
	enum agx_packet_id head;
	uint64_t target;
	bool with_return;
	uint64_t calls[AGX_STREAM_MAX_CALLS];
	unsigned int depth;
};

/**
 * agx_stream_init() - begin a walk
 * @s: walk
 * @kind: of the stream
 * @source: where it comes from; must stay until the end of the walk
 * @va: address of the first block
 */
void agx_stream_init(struct agx_stream *s, enum agx_stream_kind kind,
		     const struct agx_stream_source *source, uint64_t va);

/**
 * agx_stream_next() - read the next packet
 * @s: walk
 * @packet: filled
 *
 * A packet with bits that nobody knows is returned, with &packet.status; only
 * what leaves no way to go on is an error. An error inside a record or a pipeline
 * ends that, any other the walk.
 *
 * Return: 1, 0 at the end, what @read returned, or -EINVAL; for errors
 * &agx_stream.error is filled.
 */
int agx_stream_next(struct agx_stream *s, struct agx_stream_packet *packet);

/**
 * agx_stream_print() - print a stream
 * @fp: where to
 * @kind: of the stream
 * @source: where it comes from
 * @va: address of the first block
 *
 * Return: how many places are wrong; each is printed.
 */
unsigned int agx_stream_print(FILE *fp, enum agx_stream_kind kind,
			      const struct agx_stream_source *source,
			      uint64_t va);

/**
 * agx_stream_print_packet() - print a packet of a stream, with its address
 * @fp: where to
 * @packet: packet
 */
void agx_stream_print_packet(FILE *fp, const struct agx_stream_packet *packet);

#endif /* AGX_STREAM_H */
