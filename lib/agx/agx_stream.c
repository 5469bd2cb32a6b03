// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "agx_stream.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

/* The rows of agx_streams.def as data */

struct stream_row {
	const char *label;
	const char *unit;
	unsigned int tag_start;
	unsigned int tag_width;
	unsigned int alignment;
};

static const struct stream_row streams[AGX_STREAM_COUNT] = {
#define AGX_STREAM(stream, text, block, start, width, align) \
	[AGX_STREAM_##stream] = { \
		.label = text, \
		.unit = block, \
		.tag_start = start, \
		.tag_width = width, \
		.alignment = align, \
	},
#include AGX_STREAMS
};

static const struct block_row {
	enum agx_stream_kind stream;
	uint32_t tag;
	enum agx_packet_id packet;
} blocks[] = {
#define AGX_BLOCK(stream, tag, packet) \
	{ AGX_STREAM_##stream, tag, AGX_PACKET_##packet },
#include AGX_STREAMS
};

/* A field in a packet's structure */
struct member {
	const char *name;
	uint16_t offset;
	uint16_t bytes;
};

#define MEMBER(packet, field) { \
		.name = #field, \
		.offset = offsetof(struct agx_##packet, field), \
		.bytes = sizeof(((struct agx_##packet *)0)->field), \
	}

static const struct follow_row {
	/* 0: the field decides */
	unsigned int feature;
	struct member field;
	uint64_t value;
	/* without a name: once */
	struct member count;
	enum agx_packet_id next;
} follows[] = {
#define AGX_FOLLOW(packet, condition, number, following) \
	{ .field = MEMBER(packet, condition), \
	  .value = number, .next = AGX_PACKET_##following },
#define AGX_FOLLOW_COUNT(packet, condition, number, following) \
	{ .field = MEMBER(packet, condition), \
	  .value = true, .count = MEMBER(packet, number), \
	  .next = AGX_PACKET_##following },
#define AGX_FOLLOW_ON(packet, bit, following) \
	{ .feature = bit, \
	  .next = AGX_PACKET_##following },
#include AGX_STREAMS
};

static const unsigned int paddings[AGX_PACKET_COUNT] = {
#define AGX_PAD(packet, bytes)	[AGX_PACKET_##packet] = bytes,
#include AGX_STREAMS
};

enum flow {
	FLOW_NEXT,
	FLOW_JUMP,
	FLOW_RETURN,
	FLOW_RETURN_IF,
	FLOW_END,
	FLOW_PIPELINE,
	FLOW_RECORD,
};

static const struct flow_row {
	enum flow flow;
	struct member field, with_return, words;
	enum agx_stream_kind record;
} flows[] = {
#define AGX_JUMP(packet, to, call) \
	{ .flow = FLOW_JUMP, \
	  .field = MEMBER(packet, to), .with_return = MEMBER(packet, call) },
#define AGX_RETURN(packet) \
	{ .flow = FLOW_RETURN },
#define AGX_RETURN_IF(packet, condition) \
	{ .flow = FLOW_RETURN_IF, \
	  .field = MEMBER(packet, condition) },
#define AGX_END(packet) \
	{ .flow = FLOW_END },
#define AGX_PIPELINE(packet, offset) \
	{ .flow = FLOW_PIPELINE, \
	  .field = MEMBER(packet, offset) },
#define AGX_RECORD(packet, address, size, stream) \
	{ .flow = FLOW_RECORD, \
	  .field = MEMBER(packet, address), .words = MEMBER(packet, size), \
	  .record = AGX_STREAM_##stream },
#include AGX_STREAMS
};

/* The packets that these rows are of: most have none, which is found at once */

static const uint8_t follow_ids[COUNT(follows)] = {
#define AGX_FOLLOW(packet, condition, number, following)	AGX_PACKET_##packet,
#define AGX_FOLLOW_COUNT(packet, condition, number, following)	AGX_PACKET_##packet,
#define AGX_FOLLOW_ON(packet, bit, following)			AGX_PACKET_##packet,
#include AGX_STREAMS
};

static const uint8_t flow_ids[COUNT(flows)] = {
#define AGX_JUMP(packet, to, call)		AGX_PACKET_##packet,
#define AGX_RETURN(packet)			AGX_PACKET_##packet,
#define AGX_RETURN_IF(packet, condition)	AGX_PACKET_##packet,
#define AGX_END(packet)				AGX_PACKET_##packet,
#define AGX_PIPELINE(packet, offset)		AGX_PACKET_##packet,
#define AGX_RECORD(packet, address, size, stream) AGX_PACKET_##packet,
#include AGX_STREAMS
};

_Static_assert(AGX_PACKET_COUNT <= UINT8_MAX, "the number of a packet is no byte");

/* The next row of a packet from row @from on; @count if there is none */
static size_t next_row(const uint8_t *ids, size_t count, size_t from, enum agx_packet_id id)
{
	const uint8_t *found = memchr(ids + from, id, count - from);

	return found ? (size_t)(found - ids) : count;
}

#define FOR_ROWS(i, ids, id)							\
	for (size_t i = next_row(ids, COUNT(ids), 0, id); i < COUNT(ids);	\
	     i = next_row(ids, COUNT(ids), i + 1, id))

static uint64_t member_value(const union agx_packet *values,
			     const struct member *member)
{
	const uint8_t *p = (const uint8_t *)values + member->offset;
	uint64_t wide;
	uint32_t word;

	if (member->bytes == sizeof(bool))
		return *(const bool *)p;
	if (member->bytes == sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		return word;
	}
	memcpy(&wide, p, sizeof(wide));
	return wide;
}

/* Errors */

__attribute__((format(printf, 5, 6)))
static int fail(struct agx_stream *s, enum agx_stream_reason reason,
		uint64_t va, const char *what, const char *format, ...)
{
	va_list args;

	s->error.reason = reason;
	s->error.va = va;
	s->error.what = what;
	va_start(args, format);
	vsnprintf(s->error.text, sizeof(s->error.text), format, args);
	va_end(args);

	s->follow_at = s->follow_count = 0;
	s->has_inner = false;
	if (s->level)
		s->at = s->outer[--s->level];
	else
		s->over = true;
	return -EINVAL;
}

static int read_bytes(struct agx_stream *s, const char *what, void *buf,
		      size_t len)
{
	int err = s->source->read(s->source->ctx, s->at.next, buf, len);

	if (!err)
		return 0;
	fail(s, AGX_STREAM_UNREADABLE, s->at.next, what, "cannot be read");
	return err < 0 ? err : -EIO;
}

/* Packets */

/* Finds out whether a packet, wherever in its block, has a stream of its own. */
static void expect_inner(struct agx_stream *s, const struct agx_stream_packet *p)
{
	FOR_ROWS(i, flow_ids, p->id) {
		const struct flow_row *row = &flows[i];
		uint64_t value;

		if (row->flow != FLOW_PIPELINE && row->flow != FLOW_RECORD)
			continue;
		value = member_value(&p->values, &row->field);
		if (row->flow == FLOW_PIPELINE) {
			s->has_inner = s->source->pipelines;
			s->inner = (struct agx_stream_place){
				.kind = AGX_STREAM_usc,
				.next = s->source->usc_base + value,
			};
		} else {
			s->has_inner = s->source->records;
			s->inner = (struct agx_stream_place){
				.kind = row->record,
				.next = value,
				.end = value +
				       4 * member_value(&p->values, &row->words),
			};
		}
	}
}

static int read_packet(struct agx_stream *s, enum agx_packet_id id,
		       struct agx_stream_packet *p)
{
	size_t bytes = agx_packet_bytes(id);
	uint64_t va = s->at.next;
	int err;

	if (s->at.end && bytes > s->at.end - va)
		return fail(s, AGX_STREAM_BAD_SIZE, va, agx_packet_name(id),
			    "%zu bytes, but %" PRIu64 " are left of the record",
			    bytes, s->at.end - va);
	err = read_bytes(s, agx_packet_name(id), p->bytes, bytes);
	if (err)
		return err;

	p->kind = s->at.kind;
	p->id = id;
	p->level = s->level;
	p->va = va;
	p->status = agx_packet_unpack(id, p->bytes, &p->values, &p->error);
	if (p->status == -EINVAL)
		return fail(s, AGX_STREAM_BAD_CONSTANT, va, p->error.packet,
			    "%s: %s", p->error.field, p->error.text);
	s->at.next += bytes;
	expect_inner(s, p);
	return 0;
}

/* Return: how often what @row says follows @p */
static uint64_t follow_count(const struct agx_stream *s,
			     const struct follow_row *row,
			     const struct agx_stream_packet *p)
{
	if (row->feature)
		return (s->source->features & row->feature) != 0;
	if (member_value(&p->values, &row->field) != row->value)
		return 0;
	return row->count.name ? member_value(&p->values, &row->count) : 1;
}

/* Finds out what follows in a block. */
static int expect_follow(struct agx_stream *s, const struct agx_stream_packet *p)
{
	const struct member *choice = NULL;
	bool chosen = false;

	FOR_ROWS(i, follow_ids, p->id) {
		const struct follow_row *row = &follows[i];
		uint64_t count;

		count = follow_count(s, row, p);
		if (!row->feature) {
			if (row->field.bytes != sizeof(bool))
				choice = &row->field;
			chosen |= count != 0;
		}
		if (count > AGX_STREAM_MAX_COUNT)
			return fail(s, AGX_STREAM_UNKNOWN, p->va,
				    agx_packet_name(p->id),
				    "%s is %" PRIu64 ", more than %d",
				    row->count.name, count,
				    AGX_STREAM_MAX_COUNT);
		while (count--)
			s->follow[s->follow_count++] = row->next;
	}
	if (!choice || chosen)
		return 0;
	return fail(s, AGX_STREAM_UNKNOWN, p->va, agx_packet_name(p->id),
		    "%s is %" PRIu64 ", and nobody knows what follows",
		    choice->name, member_value(&p->values, choice));
}

/* Finds out where the stream goes behind a block that begins with a packet. */
static void expect_flow(struct agx_stream *s, const struct agx_stream_packet *p)
{
	s->at.flow = FLOW_NEXT;
	FOR_ROWS(i, flow_ids, p->id) {
		const struct flow_row *row = &flows[i];

		switch (row->flow) {
		case FLOW_PIPELINE:
		case FLOW_RECORD:
			break;
		case FLOW_RETURN_IF:
			if (member_value(&p->values, &row->field))
				s->at.flow = FLOW_RETURN;
			break;
		case FLOW_JUMP:
			s->target = member_value(&p->values, &row->field);
			s->with_return = member_value(&p->values,
						      &row->with_return);
			s->at.flow = FLOW_JUMP;
			break;
		default:
			s->at.flow = row->flow;
		}
	}
}

static const struct block_row *find_block(enum agx_stream_kind kind,
					  uint32_t tag)
{
	for (unsigned int i = 0; i < COUNT(blocks); i++) {
		if (blocks[i].stream == kind && blocks[i].tag == tag)
			return &blocks[i];
	}
	return NULL;
}

static int read_head(struct agx_stream *s, struct agx_stream_packet *p)
{
	const struct stream_row *stream = &streams[s->at.kind];
	unsigned int bits = stream->tag_start + stream->tag_width;
	uint32_t tag = 0, word = 0;
	const struct block_row *row;
	uint8_t bytes[4] = { 0 };
	int err;

	s->block = s->at.next;
	if (s->block % stream->alignment)
		return fail(s, AGX_STREAM_MISALIGNED, s->block, stream->unit,
			    "not aligned to %u bytes", stream->alignment);
	err = bits ? read_bytes(s, stream->unit, bytes, (bits + 7) / 8) : 0;
	if (err)
		return err;

	word = bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t)bytes[3] << 24;
	tag = word >> stream->tag_start & ((1u << stream->tag_width) - 1);
	row = find_block(s->at.kind, tag);
	if (!row)
		return fail(s, AGX_STREAM_UNKNOWN, s->block, stream->unit,
			    "no packet has tag %#" PRIx32 " (%#0*" PRIx32 ")", tag,
			    (int)((bits + 7) / 8 * 2 + 2), word);

	err = read_packet(s, row->packet, p);
	if (err)
		return err;
	s->head = row->packet;
	s->follow_at = s->follow_count = 0;
	expect_flow(s, p);
	return expect_follow(s, p);
}

/* Streams */

static int jump(struct agx_stream *s)
{
	if (s->with_return) {
		if (s->depth == AGX_STREAM_MAX_CALLS)
			return fail(s, AGX_STREAM_TOO_DEEP, s->block,
				    agx_packet_name(s->head), "deeper than %d",
				    AGX_STREAM_MAX_CALLS);
		s->calls[s->depth++] = s->at.next;
	}
	s->at.next = s->target;
	s->jumped = true;
	return 1;
}

static int jump_back(struct agx_stream *s)
{
	if (!s->depth)
		return fail(s, AGX_STREAM_NO_CALL, s->block,
			    agx_packet_name(s->head), "without a call");
	s->at.next = s->calls[--s->depth];
	s->jumped = true;
	return 1;
}

/* Goes on behind what pads a block that was read. */
static void skip_padding(struct agx_stream *s)
{
	unsigned int alignment = streams[s->at.kind].alignment;
	unsigned int padding = paddings[s->head];

	if (s->at.next % alignment)
		s->at.next += alignment - s->at.next % alignment;
	if (padding && (s->at.next - s->block) % padding)
		s->at.next += padding - (s->at.next - s->block) % padding;
}

static int leave_record(struct agx_stream *s)
{
	if (s->at.end && s->at.next != s->at.end)
		return fail(s, AGX_STREAM_BAD_SIZE, s->at.next,
			    streams[s->at.kind].label,
			    "ends here, but %" PRIu64 " bytes are left of it",
			    s->at.end - s->at.next);
	s->at = s->outer[--s->level];
	return 1;
}

/* Leaves a block. Return: 1, 0 at the end, or an error */
static int go_on(struct agx_stream *s)
{
	for (;;) {
		enum flow flow = s->at.flow;
		int err;

		if (s->has_inner) {
			s->has_inner = false;
			s->outer[s->level++] = s->at;
			s->at = s->inner;
			return 1;
		}
		s->at.flow = FLOW_NEXT;
		switch (flow) {
		case FLOW_JUMP:
			return jump(s);
		case FLOW_RETURN:
			return jump_back(s);
		case FLOW_END:
			if (!s->level) {
				s->over = true;
				return 0;
			}
			err = leave_record(s);
			if (err < 0)
				return err;
			break;
		default:
			return 1;
		}
	}
}

void agx_stream_init(struct agx_stream *s, enum agx_stream_kind kind,
		     const struct agx_stream_source *source, uint64_t va)
{
	memset(s, 0, sizeof(*s));
	s->source = source;
	s->at.kind = kind;
	s->block = s->at.next = va;
}

int agx_stream_next(struct agx_stream *s, struct agx_stream_packet *p)
{
	int err;

	if (s->over)
		return 0;
	if (s->follow_at == s->follow_count) {
		err = go_on(s);
		if (err <= 0)
			return err;
	}
	if (s->packets++ == s->source->max_packets) {
		/* the end of it all, not of a nested stream only */
		s->level = 0;
		return fail(s, AGX_STREAM_TOO_LONG, s->at.next,
			    streams[s->at.kind].label, "more than %" PRIu64,
			    s->source->max_packets);
	}
	if (s->follow_at < s->follow_count)
		err = read_packet(s, s->follow[s->follow_at++], p);
	else
		err = read_head(s, p);
	if (err)
		return err;
	p->left = s->follow_count - s->follow_at;
	if (!p->left)
		skip_padding(s);
	return 1;
}

/* Text */

void agx_stream_print_packet(FILE *fp, const struct agx_stream_packet *p)
{
	int indent = 4 * p->level;

	fprintf(fp, "%*s%#012" PRIx64 ": %s\n", indent, "", p->va,
		agx_packet_name(p->id));
	agx_packet_print_fields(fp, p->id, p->bytes, indent + 2);
}

unsigned int agx_stream_print(FILE *fp, enum agx_stream_kind kind,
			      const struct agx_stream_source *source,
			      uint64_t va)
{
	struct agx_stream_packet packet;
	unsigned int wrong = 0;
	struct agx_stream s;
	int err;

	agx_stream_init(&s, kind, source, va);
	while ((err = agx_stream_next(&s, &packet))) {
		if (err > 0) {
			agx_stream_print_packet(fp, &packet);
			wrong += packet.status != 0;
			continue;
		}
		fprintf(fp, "%#012" PRIx64 ": %s: %s\n", s.error.va,
			s.error.what, s.error.text);
		wrong++;
	}
	return wrong;
}
