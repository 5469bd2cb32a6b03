/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Packers, unpackers and printers for the packets of agx_packets.def. Nothing
 * here keeps state: every function may be called from any thread, on one writer
 * by one thread at a time.
 *
 * Each packet has a structure, struct agx_<packet>, with one member for each
 * field, an identifier, AGX_PACKET_<packet>, and defaults:
 *
 *	struct agx_cdm_barrier barrier = agx_cdm_barrier_default();
 *
 *	barrier.returns = true;
 *	err = agx_packet_pack(AGX_PACKET_cdm_barrier, dst, &barrier, &error);
 *
 * which is, into a buffer for several packets:
 *
 *	agx_put(&writer, cdm_barrier, .returns = true);
 */
#ifndef AGX_PACKETS_H
#define AGX_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define AGX_TABLE <agx/agx_packets.def>
#include "packets/types.h"
#undef AGX_TABLE

enum agx_packet_id {
#define AGX_PACKET(packet, bytes, label)	AGX_PACKET_##packet,
#include <agx/agx_packets.def>
	AGX_PACKET_COUNT,
};

/** union agx_packet - room for the fields of any packet */
union agx_packet {
#define AGX_PACKET(packet, bytes, label)	struct agx_##packet packet;
#include <agx/agx_packets.def>
};

union agx_packet_space {
#define AGX_PACKET(packet, bytes, label)	uint8_t packet[bytes];
#include <agx/agx_packets.def>
};

/** AGX_PACKET_MAX_BYTES - size of the largest packet */
#define AGX_PACKET_MAX_BYTES	sizeof(union agx_packet_space)

/** struct agx_error - what is wrong with a packet */
struct agx_error {
	/** @packet: its name */
	const char *packet;
	/** @field: name of the field, "outer.inner" in a packet inside of it,
	 *  or "reserved bits"; empty if it is no field's fault
	 */
	char field[96];
	/** @text: what it is and what would be right */
	char text[96];
};

/** agx_packet_bytes() - size of a packet in bytes, 0 for an unknown one */
size_t agx_packet_bytes(enum agx_packet_id id);

/** agx_packet_name() - the packet's name for messages */
const char *agx_packet_name(enum agx_packet_id id);

/**
 * agx_packet_pack() - write a packet
 * @id: which packet
 * @dst: agx_packet_bytes() bytes, without alignment
 * @values: its struct agx_<packet>
 * @error: NULL, or filled when a field's value has no bits
 *
 * Nothing is written on error.
 *
 * Return: 0, -ERANGE if a value has no bits, -EINVAL for an unknown packet.
 */
int agx_packet_pack(enum agx_packet_id id, void *dst, const void *values,
		    struct agx_error *error);

/**
 * agx_packet_unpack() - read a packet
 * @id: which packet
 * @src: agx_packet_bytes() bytes, without alignment
 * @values: its struct agx_<packet>, always filled; NULL to check only
 * @error: NULL, or filled when something is wrong: a constant, a field with
 *	   bits that no value has, or reserved bits that are not zero
 *
 * Return: 0, -EINVAL if the bits are no such packet (wrong constant bits or
 * unknown packet), -EBADMSG if they are but something else is wrong.
 */
int agx_packet_unpack(enum agx_packet_id id, const void *src, void *values,
		      struct agx_error *error);

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

/** agx_packet_print_fields() - the same without the packet's name */
int agx_packet_print_fields(FILE *fp, enum agx_packet_id id, const void *src,
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
	/** @why: what it was, if @error is set */
	struct agx_error why;
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
 * agx_put() - append a packet, with defaults for the fields that are not named
 *
 *	agx_put(&w, cdm_local_size, .x = 64);
 *	agx_put(&w, cdm_launch, .pipeline = words, .counts.texture_registers = 8);
 *	agx_put(&w, cdm_stream_terminate);
 */
#define agx_put(w, packet, ...) \
	do { \
		struct agx_##packet agx_values_ = agx_##packet##_default(); \
		__VA_OPT__(AGX_REPEAT(AGX_ASSIGN(__VA_ARGS__))) \
		agx_writer_put((w), AGX_PACKET_##packet, &agx_values_); \
	} while (0)

/*
 * An assignment for each argument. The arguments look like an initializer's, but
 * one initializer of a member over another, over a default, is a warning.
 * AGX_ASSIGN does not expand inside of itself; each further look at what it
 * left makes one more assignment, and AGX_REPEAT looks 64 times.
 */
#define AGX_ASSIGN(assignment, ...) \
	agx_values_ assignment; \
	__VA_OPT__(AGX_ASSIGN_AGAIN AGX_PARENTHESES (__VA_ARGS__))
#define AGX_ASSIGN_AGAIN()	AGX_ASSIGN
#define AGX_PARENTHESES		()
#define AGX_REPEAT(...)		AGX_16(AGX_16(AGX_16(AGX_16(__VA_ARGS__))))
#define AGX_16(...)		AGX_4(AGX_4(AGX_4(AGX_4(__VA_ARGS__))))
#define AGX_4(...)		AGX_1(AGX_1(AGX_1(AGX_1(__VA_ARGS__))))
#define AGX_1(...)		__VA_ARGS__

#endif /* AGX_PACKETS_H */
