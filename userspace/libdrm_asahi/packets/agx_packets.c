// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "agx_packets.h"

enum field_kind {
	KIND_UINT,
	KIND_HEX,
	KIND_BOOL,
	KIND_ADDRESS,
	KIND_ENUM,
	KIND_EXACT,
};

enum field_modifier {
	MOD_NONE,
	MOD_SHR,
	MOD_MINUS,
	MOD_LOG2,
	MOD_GROUPS,
};

struct enum_value {
	uint32_t value;
	const char *text;
};

struct enum_desc {
	const struct enum_value *values;
	unsigned int count;
};

struct field_desc {
	const char *name;
	enum field_kind kind;
	enum field_modifier modifier;
	uint32_t argument;
	/* of KIND_EXACT */
	uint32_t exact;
	/* of KIND_ENUM */
	const struct enum_desc *enumeration;
	/* where the bits are; the second piece holds the high ones */
	uint16_t start[2];
	uint8_t width[2];
	/* where the value is in the packet's structure */
	uint16_t offset;
	uint16_t bytes;
};

struct packet_desc {
	const char *label;
	size_t bytes;
	const struct field_desc *fields;
	unsigned int count;
};

#define AGX_ENUM(enumeration, label) \
	static const struct enum_value enumeration##_values[] = {
#define AGX_VALUE(enumeration, constant, number, string) \
		{ .value = number, .text = string },
#define AGX_ENUM_END(enumeration) \
	}; \
	static const struct enum_desc enumeration##_enum = { \
		.values = enumeration##_values, \
		.count = sizeof(enumeration##_values) / \
			 sizeof(enumeration##_values[0]), \
	};
#include <agx/agx_packets.def>

#define AGX_PACKET(packet, size, text) \
	_Static_assert((size) <= AGX_PACKET_MAX_BYTES, #packet); \
	static const struct field_desc packet##_fields[] = {
#define AGX_EXACT(packet, text, bit, bits, value) \
		{ \
			.name = #text, \
			.kind = KIND_EXACT, \
			.exact = value, \
			.start = { bit }, \
			.width = { bits }, \
		},
#define AGX_SPLIT_FIELD(packet, field, bit, bits, bit_hi, bits_hi, type, \
			mod, arg, dflt) \
		{ \
			.name = #field, \
			.kind = KIND_##type, \
			.modifier = MOD_##mod, \
			.argument = arg, \
			.start = { bit, bit_hi }, \
			.width = { bits, bits_hi }, \
			.offset = offsetof(struct agx_##packet, field), \
			.bytes = sizeof(((struct agx_##packet *)0)->field), \
		},
#define AGX_FIELD(packet, field, bit, bits, type, mod, arg, dflt) \
		{ \
			.name = #field, \
			.kind = KIND_##type, \
			.modifier = MOD_##mod, \
			.argument = arg, \
			.start = { bit }, \
			.width = { bits }, \
			.offset = offsetof(struct agx_##packet, field), \
			.bytes = sizeof(((struct agx_##packet *)0)->field), \
		},
#define AGX_ENUM_FIELD(packet, field, bit, bits, values, dflt) \
		{ \
			.name = #field, \
			.kind = KIND_ENUM, \
			.enumeration = &values##_enum, \
			.start = { bit }, \
			.width = { bits }, \
			.offset = offsetof(struct agx_##packet, field), \
			.bytes = sizeof(((struct agx_##packet *)0)->field), \
		},
#define AGX_PACKET_END(packet) \
	};
#include <agx/agx_packets.def>

static const struct packet_desc packets[AGX_PACKET_COUNT] = {
#define AGX_PACKET(packet, size, text) \
	[AGX_PACKET_##packet] = { \
		.label = text, \
		.bytes = size, \
		.fields = packet##_fields, \
		.count = sizeof(packet##_fields) / sizeof(packet##_fields[0]), \
	},
#include <agx/agx_packets.def>
};

static const struct packet_desc *packet_find(enum agx_packet_id id)
{
	return (unsigned int)id < AGX_PACKET_COUNT ? &packets[id] : NULL;
}

static void bits_set(uint8_t *buf, unsigned int start, unsigned int width,
		     uint64_t value)
{
	unsigned int i;

	for (i = start; i < start + width; i++, value >>= 1)
		buf[i / 8] |= (value & 1) << (i % 8);
}

static uint64_t bits_get(const uint8_t *buf, unsigned int start,
			 unsigned int width)
{
	uint64_t value = 0;
	unsigned int i;

	for (i = 0; i < width; i++) {
		unsigned int bit = start + i;

		value |= (uint64_t)((buf[bit / 8] >> (bit % 8)) & 1) << i;
	}
	return value;
}

static uint64_t member_get(const struct field_desc *f, const void *values)
{
	const uint8_t *p = (const uint8_t *)values + f->offset;
	uint64_t wide;
	uint32_t word;

	if (f->kind == KIND_BOOL)
		return *(const bool *)p;
	if (f->bytes == sizeof(wide)) {
		memcpy(&wide, p, sizeof(wide));
		return wide;
	}
	memcpy(&word, p, sizeof(word));
	return word;
}

static void member_set(const struct field_desc *f, void *values, uint64_t value)
{
	uint8_t *p = (uint8_t *)values + f->offset;
	uint32_t word = value;

	if (f->kind == KIND_BOOL)
		*(bool *)p = value;
	else if (f->bytes == sizeof(value))
		memcpy(p, &value, sizeof(value));
	else
		memcpy(p, &word, sizeof(word));
}

static int encode_groups(uint64_t value, uint32_t group, unsigned int width,
			 uint64_t *raw)
{
	uint64_t groups = value ? (value - 1) / group + 1 : 1;

	if (groups > UINT64_C(1) << width)
		return -ERANGE;
	*raw = groups == UINT64_C(1) << width ? 0 : groups;
	return 0;
}

static int field_encode(const struct field_desc *f, uint64_t value,
			uint64_t *raw)
{
	unsigned int width = f->width[0] + f->width[1];

	switch (f->modifier) {
	case MOD_NONE:
		*raw = value;
		break;
	case MOD_SHR:
		if (value & ((UINT64_C(1) << f->argument) - 1))
			return -ERANGE;
		*raw = value >> f->argument;
		break;
	case MOD_MINUS:
		if (value < f->argument)
			return -ERANGE;
		*raw = value - f->argument;
		break;
	case MOD_LOG2:
		if (!value || (value & (value - 1)))
			return -ERANGE;
		*raw = __builtin_ctzll(value);
		break;
	case MOD_GROUPS:
		return encode_groups(value, f->argument, width, raw);
	}

	return width < 64 && *raw >> width ? -ERANGE : 0;
}

static uint64_t field_decode(const struct field_desc *f, uint64_t raw)
{
	unsigned int width = f->width[0] + f->width[1];

	switch (f->modifier) {
	case MOD_NONE:
		break;
	case MOD_SHR:
		return raw << f->argument;
	case MOD_MINUS:
		return raw + f->argument;
	case MOD_LOG2:
		return UINT64_C(1) << raw;
	case MOD_GROUPS:
		return f->argument * (raw ? raw : UINT64_C(1) << width);
	}
	return raw;
}

static void field_put(const struct field_desc *f, uint8_t *buf, uint64_t raw)
{
	bits_set(buf, f->start[0], f->width[0], raw);
	if (f->width[1])
		bits_set(buf, f->start[1], f->width[1], raw >> f->width[0]);
}

static uint64_t field_get(const struct field_desc *f, const uint8_t *buf)
{
	uint64_t raw = bits_get(buf, f->start[0], f->width[0]);

	if (f->width[1])
		raw |= bits_get(buf, f->start[1], f->width[1]) << f->width[0];
	return raw;
}

static const char *enum_text(const struct enum_desc *e, uint64_t value)
{
	unsigned int i;

	for (i = 0; i < e->count; i++) {
		if (e->values[i].value == value)
			return e->values[i].text;
	}
	return NULL;
}

static bool has_reserved_bits(const struct packet_desc *p, const uint8_t *src)
{
	uint8_t known[AGX_PACKET_MAX_BYTES] = { 0 };
	unsigned int i;
	size_t n;

	for (i = 0; i < p->count; i++)
		field_put(&p->fields[i], known, UINT64_MAX);
	for (n = 0; n < p->bytes; n++) {
		if (src[n] & ~known[n])
			return true;
	}
	return false;
}

/* Collects the worst thing found, and of equals the first. */
static void note(int *err, const char **field, int new_err, const char *name)
{
	if (*err == -EINVAL || *err == new_err)
		return;
	*err = new_err;
	if (field)
		*field = name;
}

static void check_field(const struct field_desc *f, uint64_t raw, int *err,
			const char **field)
{
	if (f->kind == KIND_EXACT && raw != f->exact)
		note(err, field, -EINVAL, f->name);
	else if (f->kind == KIND_ENUM && !enum_text(f->enumeration, raw))
		note(err, field, -EBADMSG, f->name);
}

size_t agx_packet_bytes(enum agx_packet_id id)
{
	const struct packet_desc *p = packet_find(id);

	return p ? p->bytes : 0;
}

const char *agx_packet_name(enum agx_packet_id id)
{
	const struct packet_desc *p = packet_find(id);

	return p ? p->label : "unknown packet";
}

int agx_packet_pack(enum agx_packet_id id, void *dst, const void *values,
		    const char **field)
{
	const struct packet_desc *p = packet_find(id);
	uint8_t buf[AGX_PACKET_MAX_BYTES] = { 0 };
	unsigned int i;

	if (!p)
		return -EINVAL;

	for (i = 0; i < p->count; i++) {
		const struct field_desc *f = &p->fields[i];
		uint64_t raw = f->exact;
		int err = 0;

		if (f->kind != KIND_EXACT)
			err = field_encode(f, member_get(f, values), &raw);
		if (err) {
			if (field)
				*field = f->name;
			return err;
		}
		field_put(f, buf, raw);
	}

	memcpy(dst, buf, p->bytes);
	return 0;
}

int agx_packet_unpack(enum agx_packet_id id, const void *src, void *values,
		      const char **field)
{
	const struct packet_desc *p = packet_find(id);
	unsigned int i;
	int err = 0;

	if (!p)
		return -EINVAL;

	for (i = 0; i < p->count; i++) {
		const struct field_desc *f = &p->fields[i];
		uint64_t raw = field_get(f, src);

		check_field(f, raw, &err, field);
		if (f->kind != KIND_EXACT)
			member_set(f, values, field_decode(f, raw));
	}
	if (has_reserved_bits(p, src))
		note(&err, field, -EBADMSG, "reserved bits");
	return err;
}

static void field_print(FILE *fp, const struct field_desc *f, uint64_t raw)
{
	uint64_t value = field_decode(f, raw);
	const char *text;

	switch (f->kind) {
	case KIND_UINT:
		fprintf(fp, "%" PRIu64, value);
		break;
	case KIND_HEX:
	case KIND_ADDRESS:
		fprintf(fp, "0x%" PRIx64, value);
		break;
	case KIND_BOOL:
		fputs(value ? "true" : "false", fp);
		break;
	case KIND_ENUM:
		text = enum_text(f->enumeration, value);
		if (text)
			fputs(text, fp);
		else
			fprintf(fp, "unknown (%" PRIu64 ")", value);
		break;
	case KIND_EXACT:
		fprintf(fp, "0x%" PRIx64 ", must be 0x%x", value, f->exact);
		break;
	}
}

int agx_packet_print(FILE *fp, enum agx_packet_id id, const void *src,
		     unsigned int indent)
{
	const struct packet_desc *p = packet_find(id);
	const char *what = NULL;
	unsigned int i;
	int err = 0;

	if (!p)
		return -EINVAL;

	fprintf(fp, "%*s%s\n", (int)indent, "", p->label);
	for (i = 0; i < p->count; i++) {
		const struct field_desc *f = &p->fields[i];
		uint64_t raw = field_get(f, src);

		check_field(f, raw, &err, &what);
		if (f->kind == KIND_EXACT && raw == f->exact)
			continue;
		fprintf(fp, "%*s%s: ", (int)indent + 2, "", f->name);
		field_print(fp, f, raw);
		fputc('\n', fp);
	}
	if (has_reserved_bits(p, src)) {
		note(&err, &what, -EBADMSG, "reserved bits");
		fprintf(fp, "%*sreserved bits are set\n", (int)indent + 2, "");
	}
	return err;
}

void agx_writer_init(struct agx_writer *w, void *map, size_t size)
{
	*w = (struct agx_writer){ .map = map, .size = size };
}

void agx_writer_put(struct agx_writer *w, enum agx_packet_id id,
		    const void *values)
{
	size_t bytes = agx_packet_bytes(id);

	if (w->error)
		return;
	if (bytes > w->size - w->used) {
		w->error = -ENOSPC;
		return;
	}
	w->error = agx_packet_pack(id, w->map + w->used, values, &w->field);
	if (!w->error)
		w->used += bytes;
}
