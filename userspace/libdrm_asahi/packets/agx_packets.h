/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Packers, unpackers and printers for the packets of agx_packets.def. Nothing
 * here keeps state: every function may be called from any thread, on one writer
 * by one thread at a time.
 *
 * Each packet has a structure, struct agx_<packet>, with one member for each
 * field, and an identifier, AGX_PACKET_<packet>:
 *
 *	struct agx_cdm_local_size size = { .x = 64, .y = 1, .z = 1 };
 *
 *	err = agx_packet_pack(AGX_PACKET_cdm_local_size, dst, &size, NULL);
 */
#ifndef AGX_PACKETS_H
#define AGX_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/** AGX_PACKET_MAX_BYTES - size of the largest packet */
#define AGX_PACKET_MAX_BYTES	12

#define AGX_ENUM(enumeration, label)			enum agx_##enumeration {
#define AGX_VALUE(enumeration, constant, value, text)	constant = value,
#define AGX_ENUM_END(enumeration)			};
#include <agx/agx_packets.def>

#define AGX_CTYPE_UINT		uint32_t
#define AGX_CTYPE_HEX		uint32_t
#define AGX_CTYPE_BOOL		bool
#define AGX_CTYPE_ADDRESS	uint64_t

#define AGX_PACKET(packet, bytes, label) \
	struct agx_##packet {
#define AGX_FIELD(packet, field, start, width, type, modifier, argument, dflt) \
		AGX_CTYPE_##type field;
#define AGX_ENUM_FIELD(packet, field, start, width, enumeration, dflt) \
		enum agx_##enumeration field;
#define AGX_SPLIT_FIELD(packet, field, start, width, start_hi, width_hi, \
			type, modifier, argument, dflt) \
		AGX_CTYPE_##type field;
/* a packet of constant bits only still needs a member to be C */
#define AGX_PACKET_END(packet) \
		uint32_t reserved; \
	};
#include <agx/agx_packets.def>

enum agx_packet_id {
#define AGX_PACKET(packet, bytes, label)	AGX_PACKET_##packet,
#include <agx/agx_packets.def>
	AGX_PACKET_COUNT,
};

/* agx_<packet>_default(): every field at its default value */
#define AGX_PACKET(packet, bytes, label) \
	static inline struct agx_##packet agx_##packet##_default(void) \
	{ \
		struct agx_##packet values;
#define AGX_FIELD(packet, field, start, width, type, modifier, argument, dflt) \
		values.field = dflt;
#define AGX_ENUM_FIELD(packet, field, start, width, enumeration, dflt) \
		values.field = (enum agx_##enumeration)(dflt);
#define AGX_SPLIT_FIELD(packet, field, start, width, start_hi, width_hi, \
			type, modifier, argument, dflt) \
		values.field = dflt;
#define AGX_PACKET_END(packet) \
		values.reserved = 0; \
		return values; \
	}
#include <agx/agx_packets.def>

/** agx_packet_bytes() - size of a packet in bytes, 0 for an unknown one */
size_t agx_packet_bytes(enum agx_packet_id id);

/** agx_packet_name() - the packet's name for messages */
const char *agx_packet_name(enum agx_packet_id id);

/**
 * agx_packet_pack() - write a packet
 * @id: which packet
 * @dst: agx_packet_bytes() bytes, without alignment
 * @values: its struct agx_<packet>
 * @field: NULL, or set to the name of the field that does not fit
 *
 * Nothing is written on error.
 *
 * Return: 0, -ERANGE if a value has no encoding, -EINVAL for an unknown packet.
 */
int agx_packet_pack(enum agx_packet_id id, void *dst, const void *values,
		    const char **field);

/**
 * agx_packet_unpack() - read a packet
 * @id: which packet
 * @src: agx_packet_bytes() bytes, without alignment
 * @values: its struct agx_<packet>, always filled
 * @field: NULL, or set to what is wrong: the name of a constant, of a field
 *	   with a value that it does not have, or "reserved bits"
 *
 * Return: 0, -EINVAL if the bits are no such packet (wrong constant bits or
 * unknown packet), -EBADMSG if they are but reserved bits are set or a named
 * value is unknown.
 */
int agx_packet_unpack(enum agx_packet_id id, const void *src, void *values,
		      const char **field);

/**
 * agx_packet_print() - print a packet with its fields
 * @fp: where to
 * @id: which packet
 * @src: its bytes
 * @indent: spaces before each line
 *
 * Return: as agx_packet_unpack(); everything is printed in any case.
 */
int agx_packet_print(FILE *fp, enum agx_packet_id id, const void *src,
		     unsigned int indent);

/**
 * struct agx_writer - a buffer that packets are written into one by one
 *
 * The first error stays; later packets are dropped, so that a whole stream can
 * be written and checked once.
 */
struct agx_writer {
	/** @map: start of the buffer */
	uint8_t *map;
	/** @size: its size in bytes */
	size_t size;
	/** @used: bytes written */
	size_t used;
	/** @error: 0 or the first error: -ERANGE, -ENOSPC */
	int error;
	/** @field: the field that did not fit, if @error is -ERANGE */
	const char *field;
};

/** agx_writer_init() - begin to write into a buffer */
void agx_writer_init(struct agx_writer *w, void *map, size_t size);

/**
 * agx_writer_put() - append a packet
 * @w: writer
 * @id: which packet
 * @values: its struct agx_<packet>
 */
void agx_writer_put(struct agx_writer *w, enum agx_packet_id id,
		    const void *values);

/**
 * agx_put() - append a packet, fields not named are zero; in C only
 *
 *	agx_put(&w, cdm_local_size, .x = 64, .y = 1, .z = 1);
 */
#define agx_put(w, packet, ...) \
	agx_writer_put((w), AGX_PACKET_##packet, \
		       &(const struct agx_##packet){ __VA_ARGS__ })

/** agx_put_default() - append a packet with the defaults of all its fields */
#define agx_put_default(w, packet) \
	do { \
		const struct agx_##packet agx_dflt_ = \
			agx_##packet##_default(); \
		agx_writer_put((w), AGX_PACKET_##packet, &agx_dflt_); \
	} while (0)

#ifdef __cplusplus
}
#endif

#endif /* AGX_PACKETS_H */
