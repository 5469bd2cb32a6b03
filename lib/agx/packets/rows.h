/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Makes data of the table AGX_TABLE, whose types are there already (types.h):
 * <packet>_desc for each packet.
 */
#include "packets/desc.h"

/* What a type's value is before it is a number of so many bits. */
#define FIELD_UINT	.kind = AGX_KIND_UINT
#define FIELD_HEX	.kind = AGX_KIND_HEX
#define FIELD_SINT	.kind = AGX_KIND_SINT
#define FIELD_BOOL	.kind = AGX_KIND_BOOL
#define FIELD_ADDRESS	.kind = AGX_KIND_ADDRESS
#define FIELD_FLOAT	.kind = AGX_KIND_FLOAT
#define FIELD_HALF	.kind = AGX_KIND_HALF
#define FIELD_UFIXED(n)	.kind = AGX_KIND_UFIXED, .fraction = (n)
#define FIELD_SFIXED(n)	.kind = AGX_KIND_SFIXED, .fraction = (n)
#define FIELD_LOD	.kind = AGX_KIND_LOD

/*
 * Rows that cannot work do not compile: a member that has no room for a value,
 * a width that a type does not have, a modifier of what is no unsigned number.
 * A float holds 24 bits of a fixed-point number exactly.
 */
#define ROOM_NONE(w, n)		(w)
#define ROOM_SHR(w, n)		((w) + (n))
#define ROOM_MINUS(w, n)	(w)
#define ROOM_LOG2(w, n)		((w) <= 5 ? 1 << (w) : 65)
#define ROOM_GROUPS(w, n)	((w) + 16)
#define PLAIN_NONE		1
#define PLAIN_SHR		0
#define PLAIN_MINUS		0
#define PLAIN_LOG2		0
#define PLAIN_GROUPS		0
#define FITS_UINT(w, mod, n)	(ROOM_##mod(w, n) <= 32)
#define FITS_HEX(w, mod, n)	(ROOM_##mod(w, n) <= 32)
#define FITS_SINT(w, mod, n)	((w) <= 32 && PLAIN_##mod)
#define FITS_BOOL(w, mod, n)	((w) == 1 && PLAIN_##mod)
#define FITS_ADDRESS(w, mod, n)	(ROOM_##mod(w, n) <= 64)
#define FITS_FLOAT(w, mod, n)	((w) == 32 && PLAIN_##mod)
#define FITS_HALF(w, mod, n)	((w) == 16 && PLAIN_##mod)
#define FITS_UFIXED(b)		FITS_POINT
#define FITS_SFIXED(b)		FITS_SPOINT
#define FITS_POINT(w, mod, n)	(ROOM_##mod(w, n) <= 24)
#define FITS_SPOINT(w, mod, n)	((w) <= 24 && PLAIN_##mod)
#define FITS_LOD(w, mod, n)	((w) == 10 && PLAIN_##mod)

#define AGX_PACKET(packet, size, text) \
	enum { packet##_bits = (size) * 8 }; \
	_Static_assert((size) <= AGX_DESC_MAX_BYTES, #packet);
#define AGX_EXACT(packet, name, start, width, value) \
	_Static_assert((start) + (width) <= packet##_bits && \
		       (uint64_t)(value) >> (width) == 0, #packet " " #name);
#define AGX_FIELD(packet, field, start, width, type, mod, arg, dflt) \
	_Static_assert((start) + (width) <= packet##_bits && \
		       FITS_##type(width, mod, arg), #packet " " #field);
#define AGX_ENUM_FIELD(packet, field, start, width, values, dflt) \
	_Static_assert((start) + (width) <= packet##_bits && (width) < 32, \
		       #packet " " #field);
#define AGX_SPLIT_FIELD(packet, field, start, width, start_hi, width_hi, \
			type, mod, arg, dflt) \
	_Static_assert((start) + (width) <= packet##_bits && \
		       (start_hi) + (width_hi) <= packet##_bits && \
		       FITS_##type((width) + (width_hi), mod, arg), \
		       #packet " " #field);
#define AGX_NESTED(packet, field, start, inner) \
	_Static_assert((start) + inner##_bits <= packet##_bits, \
		       #packet " " #field);
#include AGX_TABLE

#define AGX_ENUM(enumeration, label) \
	static const struct agx_enum_value enumeration##_values[] = {
#define AGX_VALUE(enumeration, constant, number, string) \
		{ .value = number, .text = string },
#define AGX_ENUM_END(enumeration) \
	}; \
	static const struct agx_enum_desc enumeration##_enum = { \
		.values = enumeration##_values, \
		.count = sizeof(enumeration##_values) / \
			 sizeof(enumeration##_values[0]), \
	};
#include AGX_TABLE

#define MEMBER(packet, field) \
			.name = #field, \
			.offset = offsetof(struct agx_##packet, field), \
			.bytes = sizeof(((struct agx_##packet *)0)->field)

#define AGX_PACKET(packet, size, text) \
	enum { packet##_bytes = (size) }; \
	static const char packet##_label[] = text; \
	static const struct agx_field_desc packet##_fields[] = {
#define AGX_EXACT(packet, text, bit, bits, number) \
		{ \
			.name = #text, \
			.kind = AGX_KIND_EXACT, \
			.exact = number, \
			.start = { bit }, \
			.width = { bits }, \
		},
#define AGX_FIELD(packet, field, bit, bits, type, mod, arg, dflt) \
		{ \
			MEMBER(packet, field), \
			FIELD_##type, \
			.modifier = AGX_MODIFIER_##mod, \
			.argument = arg, \
			.start = { bit }, \
			.width = { bits }, \
		},
#define AGX_SPLIT_FIELD(packet, field, bit, bits, bit_hi, bits_hi, type, \
			mod, arg, dflt) \
		{ \
			MEMBER(packet, field), \
			FIELD_##type, \
			.modifier = AGX_MODIFIER_##mod, \
			.argument = arg, \
			.start = { bit, bit_hi }, \
			.width = { bits, bits_hi }, \
		},
#define AGX_ENUM_FIELD(packet, field, bit, bits, values, dflt) \
		{ \
			MEMBER(packet, field), \
			.kind = AGX_KIND_ENUM, \
			.enumeration = &values##_enum, \
			.start = { bit }, \
			.width = { bits }, \
		},
#define AGX_NESTED(packet, field, bit, inner) \
		{ \
			MEMBER(packet, field), \
			.kind = AGX_KIND_NESTED, \
			.nested = &inner##_desc, \
			.start = { bit }, \
		},
#define AGX_PACKET_END(packet) \
	}; \
	static const struct agx_packet_desc packet##_desc = { \
		.label = packet##_label, \
		.bytes = packet##_bytes, \
		.fields = packet##_fields, \
		.count = sizeof(packet##_fields) / sizeof(packet##_fields[0]), \
	};
#include AGX_TABLE
