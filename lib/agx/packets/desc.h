/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Packets as data, made of a table by rows.h, and what is done with them. For
 * inside the library: others use agx_packets.h.
 */
#ifndef AGX_PACKETS_DESC_H
#define AGX_PACKETS_DESC_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct agx_error;

enum agx_field_kind {
	AGX_KIND_UINT,
	AGX_KIND_HEX,
	AGX_KIND_SINT,
	AGX_KIND_BOOL,
	AGX_KIND_ADDRESS,
	AGX_KIND_FLOAT,
	AGX_KIND_HALF,
	AGX_KIND_UFIXED,
	AGX_KIND_SFIXED,
	AGX_KIND_LOD,
	AGX_KIND_ENUM,
	AGX_KIND_EXACT,
	AGX_KIND_NESTED,
};

enum agx_field_modifier {
	AGX_MODIFIER_NONE,
	AGX_MODIFIER_SHR,
	AGX_MODIFIER_MINUS,
	AGX_MODIFIER_LOG2,
	AGX_MODIFIER_GROUPS,
};

struct agx_enum_value {
	uint32_t value;
	const char *text;
};

struct agx_enum_desc {
	const struct agx_enum_value *values;
	unsigned int count;
};

struct agx_field_desc {
	const char *name;
	enum agx_field_kind kind;
	/* of UFIXED and SFIXED */
	unsigned int fraction;
	enum agx_field_modifier modifier;
	uint32_t argument;
	/* of EXACT */
	uint32_t exact;
	/* of ENUM */
	const struct agx_enum_desc *enumeration;
	/* of NESTED */
	const struct agx_packet_desc *nested;
	/* where the bits are; the second piece holds the high ones */
	uint16_t start[2];
	uint8_t width[2];
	/* where the value is in the packet's structure */
	uint16_t offset;
	uint16_t bytes;
};

struct agx_packet_desc {
	const char *label;
	size_t bytes;
	const struct agx_field_desc *fields;
	unsigned int count;
};

/* No packet is larger: a table with such a row does not compile. */
#define AGX_DESC_MAX_BYTES	64

/* The bits of a packet, the first one lowest; the last word is room for reading behind it */
struct agx_packet_bits {
	uint64_t word[AGX_DESC_MAX_BYTES / 8 + 1];
};

/*
 * As the functions of agx_packets.h that have the same names; values may be
 * NULL, and only fields are printed, not the label.
 */
int agx_desc_pack(const struct agx_packet_desc *desc, void *dst,
		  const void *values, struct agx_error *error);
int agx_desc_unpack(const struct agx_packet_desc *desc, const void *src,
		    void *values, struct agx_error *error);
int agx_desc_print(FILE *fp, const struct agx_packet_desc *desc,
		   const void *src, unsigned int indent);
/* Return: 0, or -EBADMSG and which bits no row covers and are not zero */
int agx_desc_reserved(const struct agx_packet_desc *desc, const struct agx_packet_bits *bits,
		      struct agx_error *error);
/* Reads the bits of a packet */
void agx_desc_read(const struct agx_packet_desc *desc, const void *src,
		   struct agx_packet_bits *bits);

/* A field's bits, at @base of a packet's */
uint64_t agx_field_get(const struct agx_field_desc *f, const struct agx_packet_bits *bits,
		       unsigned int base);
/* Bits of a value. Return: 0 or -ERANGE */
int agx_field_encode(const struct agx_field_desc *f, const void *member,
		     uint64_t *raw);
/* A value of bits. Return: 0, or -EBADMSG for bits that no value becomes */
int agx_field_decode(const struct agx_field_desc *f, uint64_t raw,
		     void *member);
/* Name of a value, NULL if it has none */
const char *agx_enum_text(const struct agx_enum_desc *e, uint64_t value);

#endif /* AGX_PACKETS_DESC_H */
