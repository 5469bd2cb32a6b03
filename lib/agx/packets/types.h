/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Makes C types of the table AGX_TABLE, in the form of agx_packets.def:
 *
 *	enum agx_<enumeration>
 *	struct agx_<packet>		one member for each field
 *	agx_<packet>_default()		every field at its default
 *
 * May be included again for a further table.
 */
#include <stdbool.h>
#include <stdint.h>

#ifndef AGX_CTYPE_UINT
#define AGX_CTYPE_UINT		uint32_t
#define AGX_CTYPE_HEX		uint32_t
#define AGX_CTYPE_SINT		int32_t
#define AGX_CTYPE_BOOL		bool
#define AGX_CTYPE_ADDRESS	uint64_t
#define AGX_CTYPE_FLOAT		float
#define AGX_CTYPE_HALF		float
#define AGX_CTYPE_UFIXED(n)	float
#define AGX_CTYPE_SFIXED(n)	float
#define AGX_CTYPE_LOD		float
#endif

#define AGX_ENUM(enumeration, label)			enum agx_##enumeration {
#define AGX_VALUE(enumeration, constant, value, text)	constant = value,
#define AGX_ENUM_END(enumeration)			};
#include AGX_TABLE

#define AGX_PACKET(packet, bytes, label) \
	struct agx_##packet {
#define AGX_FIELD(packet, field, start, width, type, modifier, argument, dflt) \
		AGX_CTYPE_##type field;
#define AGX_ENUM_FIELD(packet, field, start, width, enumeration, dflt) \
		enum agx_##enumeration field;
#define AGX_SPLIT_FIELD(packet, field, start, width, start_hi, width_hi, \
			type, modifier, argument, dflt) \
		AGX_CTYPE_##type field;
#define AGX_NESTED(packet, field, start, inner) \
		struct agx_##inner field;
/* a packet of constant bits only still needs a member to be C */
#define AGX_PACKET_END(packet) \
		uint32_t reserved; \
	};
#include AGX_TABLE

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
#define AGX_NESTED(packet, field, start, inner) \
		values.field = agx_##inner##_default();
#define AGX_PACKET_END(packet) \
		values.reserved = 0; \
		return values; \
	}
#include AGX_TABLE
