// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * From values to bits and back.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>

#include "agx_float.h"
#include "agx_packets.h"
#include "packets/desc.h"

#define LOD_FRACTION	6
#define LOD_MAX		14
#define HALF_INFINITY	0x7c00

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "words of a packet have its first byte lowest");

/* The lowest @width bits, 1 to 64 */
static uint64_t bits_mask(unsigned int width)
{
	return UINT64_MAX >> (64 - width);
}

static void bits_set(struct agx_packet_bits *bits, unsigned int start, unsigned int width,
		     uint64_t value)
{
	const unsigned int shift = start % 64;

	value &= bits_mask(width);
	bits->word[start / 64] |= value << shift;
	if (shift + width > 64)
		bits->word[start / 64 + 1] |= value >> (64 - shift);
}

static uint64_t bits_get(const struct agx_packet_bits *bits, unsigned int start,
			 unsigned int width)
{
	const unsigned int shift = start % 64;
	uint64_t value = bits->word[start / 64] >> shift;

	if (shift + width > 64)
		value |= bits->word[start / 64 + 1] << (64 - shift);
	return value & bits_mask(width);
}

void agx_desc_read(const struct agx_packet_desc *desc, const void *src,
		   struct agx_packet_bits *bits)
{
	memset(bits, 0, sizeof(*bits));
	memcpy(bits->word, src, desc->bytes);
}

static void field_put(const struct agx_field_desc *f, struct agx_packet_bits *bits,
		      unsigned int base, uint64_t raw)
{
	bits_set(bits, base + f->start[0], f->width[0], raw);
	if (f->width[1])
		bits_set(bits, base + f->start[1], f->width[1], raw >> f->width[0]);
}

uint64_t agx_field_get(const struct agx_field_desc *f, const struct agx_packet_bits *bits,
		       unsigned int base)
{
	uint64_t raw = bits_get(bits, base + f->start[0], f->width[0]);

	if (f->width[1])
		raw |= bits_get(bits, base + f->start[1], f->width[1])
		       << f->width[0];
	return raw;
}

static unsigned int field_width(const struct agx_field_desc *f)
{
	return f->width[0] + f->width[1];
}

const char *agx_enum_text(const struct agx_enum_desc *e, uint64_t value)
{
	/* Most have all values from 0 on, in order. */
	if (value < e->count && e->values[value].value == value)
		return e->values[value].text;
	for (unsigned int i = 0; i < e->count; i++) {
		if (e->values[i].value == value)
			return e->values[i].text;
	}
	return NULL;
}

/* Members of structures */

static uint64_t get_unsigned(const struct agx_field_desc *f, const void *member)
{
	uint64_t wide;
	uint32_t word;

	if (f->kind == AGX_KIND_BOOL)
		return *(const bool *)member;
	if (f->bytes == sizeof(wide)) {
		memcpy(&wide, member, sizeof(wide));
		return wide;
	}
	memcpy(&word, member, sizeof(word));
	return word;
}

static void set_unsigned(const struct agx_field_desc *f, void *member,
			 uint64_t value)
{
	uint32_t word = value;

	if (f->kind == AGX_KIND_BOOL)
		*(bool *)member = value;
	else if (f->bytes == sizeof(value))
		memcpy(member, &value, sizeof(value));
	else
		memcpy(member, &word, sizeof(word));
}

static float get_float(const void *member)
{
	float value;

	memcpy(&value, member, sizeof(value));
	return value;
}

static void set_float(void *member, float value)
{
	memcpy(member, &value, sizeof(value));
}

/* Unsigned numbers and their modifiers */

static int encode_groups(uint64_t value, uint32_t group, unsigned int width,
			 uint64_t *raw)
{
	uint64_t groups = value ? (value - 1) / group + 1 : 1;

	if (groups > UINT64_C(1) << width)
		return -ERANGE;
	*raw = groups == UINT64_C(1) << width ? 0 : groups;
	return 0;
}

static int encode_unsigned(const struct agx_field_desc *f, uint64_t value,
			   uint64_t *raw)
{
	unsigned int width = field_width(f);

	switch (f->modifier) {
	case AGX_MODIFIER_NONE:
		*raw = value;
		break;
	case AGX_MODIFIER_SHR:
		if (value & ((UINT64_C(1) << f->argument) - 1))
			return -ERANGE;
		*raw = value >> f->argument;
		break;
	case AGX_MODIFIER_MINUS:
		if (value < f->argument)
			return -ERANGE;
		*raw = value - f->argument;
		break;
	case AGX_MODIFIER_LOG2:
		if (!value || (value & (value - 1)))
			return -ERANGE;
		*raw = __builtin_ctzll(value);
		break;
	case AGX_MODIFIER_GROUPS:
		return encode_groups(value, f->argument, width, raw);
	}
	return width < 64 && *raw >> width ? -ERANGE : 0;
}

static uint64_t decode_unsigned(const struct agx_field_desc *f, uint64_t raw)
{
	switch (f->modifier) {
	case AGX_MODIFIER_NONE:
		break;
	case AGX_MODIFIER_SHR:
		return raw << f->argument;
	case AGX_MODIFIER_MINUS:
		return raw + f->argument;
	case AGX_MODIFIER_LOG2:
		return UINT64_C(1) << raw;
	case AGX_MODIFIER_GROUPS:
		return f->argument *
		       (raw ? raw : UINT64_C(1) << field_width(f));
	}
	return raw;
}

static int encode_signed(const struct agx_field_desc *f, int64_t value,
			 uint64_t *raw)
{
	unsigned int width = field_width(f);
	int64_t limit = INT64_C(1) << (width - 1);

	if (value < -limit || value >= limit)
		return -ERANGE;
	*raw = (uint64_t)value & ((UINT64_C(1) << width) - 1);
	return 0;
}

static int64_t decode_signed(const struct agx_field_desc *f, uint64_t raw)
{
	uint64_t sign = UINT64_C(1) << (field_width(f) - 1);

	return (int64_t)(raw ^ sign) - (int64_t)sign;
}

/* Numbers with a point */

/* To the nearest; of two as near, away from zero */
static int fixed_from_float(const struct agx_field_desc *f, float value,
			    int64_t *number)
{
	double scaled = value * (double)(UINT64_C(1) << f->fraction);

	/* NaN is not less either; no field has more than 24 bits */
	if (!(scaled < 0x1p32 && scaled > -0x1p32))
		return -ERANGE;
	*number = (int64_t)(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
	return 0;
}

static float fixed_to_float(const struct agx_field_desc *f, int64_t number)
{
	return (float)((double)number / (double)(UINT64_C(1) << f->fraction));
}

static int encode_fixed(const struct agx_field_desc *f, float value,
			uint64_t *raw)
{
	int64_t number;

	if (fixed_from_float(f, value, &number))
		return -ERANGE;
	if (f->kind == AGX_KIND_SFIXED)
		return encode_signed(f, number, raw);
	return number < 0 ? -ERANGE : encode_unsigned(f, number, raw);
}

static int encode_half(float value, uint64_t *raw)
{
	bool finite = (float_bits(value) & 0x7f800000) != 0x7f800000;

	*raw = half_from_float(value);
	return finite && (*raw & HALF_INFINITY) == HALF_INFINITY ? -ERANGE : 0;
}

static int encode_lod(float value, uint64_t *raw)
{
	if (value != value)
		return -ERANGE;
	if (value < 0)
		value = 0;
	if (value > LOD_MAX)
		value = LOD_MAX;
	*raw = (uint64_t)(value * (1 << LOD_FRACTION));
	return 0;
}

int agx_field_encode(const struct agx_field_desc *f, const void *member,
		     uint64_t *raw)
{
	int32_t number;

	switch (f->kind) {
	case AGX_KIND_FLOAT:
		*raw = float_bits(get_float(member));
		return 0;
	case AGX_KIND_HALF:
		return encode_half(get_float(member), raw);
	case AGX_KIND_LOD:
		return encode_lod(get_float(member), raw);
	case AGX_KIND_UFIXED:
	case AGX_KIND_SFIXED:
		return encode_fixed(f, get_float(member), raw);
	case AGX_KIND_SINT:
		memcpy(&number, member, sizeof(number));
		return encode_signed(f, number, raw);
	case AGX_KIND_ENUM:
		*raw = get_unsigned(f, member);
		return agx_enum_text(f->enumeration, *raw) ? 0 : -ERANGE;
	default:
		return encode_unsigned(f, get_unsigned(f, member), raw);
	}
}

int agx_field_decode(const struct agx_field_desc *f, uint64_t raw, void *member)
{
	int32_t number;

	switch (f->kind) {
	case AGX_KIND_FLOAT:
		set_float(member, bits_float(raw));
		return 0;
	case AGX_KIND_HALF:
		set_float(member, float_from_half(raw));
		return 0;
	case AGX_KIND_LOD:
		set_float(member, (float)raw / (1 << LOD_FRACTION));
		return raw > LOD_MAX << LOD_FRACTION ? -EBADMSG : 0;
	case AGX_KIND_UFIXED:
		set_float(member, fixed_to_float(f, decode_unsigned(f, raw)));
		return 0;
	case AGX_KIND_SFIXED:
		set_float(member, fixed_to_float(f, decode_signed(f, raw)));
		return 0;
	case AGX_KIND_SINT:
		number = decode_signed(f, raw);
		memcpy(member, &number, sizeof(number));
		return 0;
	case AGX_KIND_ENUM:
		set_unsigned(f, member, raw);
		return agx_enum_text(f->enumeration, raw) ? 0 : -EBADMSG;
	default:
		set_unsigned(f, member, decode_unsigned(f, raw));
		return 0;
	}
}

/* Messages */

__attribute__((format(printf, 4, 5)))
static int fail(struct agx_error *error, int err, const char *field,
		const char *format, ...)
{
	va_list args;

	snprintf(error->field, sizeof(error->field), "%s", field);
	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	return err;
}

static int fail_unsigned(const struct agx_field_desc *f, uint64_t value,
			 struct agx_error *error)
{
	unsigned int width = field_width(f);
	uint64_t most = width < 64 ? (UINT64_C(1) << width) - 1 : UINT64_MAX;

	switch (f->modifier) {
	case AGX_MODIFIER_SHR:
		return fail(error, -ERANGE, f->name,
			    "%#" PRIx64 " is no multiple of %#" PRIx64 " up to %#" PRIx64,
			    value, UINT64_C(1) << f->argument,
			    most << f->argument);
	case AGX_MODIFIER_MINUS:
		return fail(error, -ERANGE, f->name,
			    "%" PRIu64 " is not from %" PRIu32 " to %" PRIu64,
			    value, f->argument, most + f->argument);
	case AGX_MODIFIER_LOG2:
		return fail(error, -ERANGE, f->name,
			    "%" PRIu64 " is no power of two up to %" PRIu64,
			    value, UINT64_C(1) << most);
	case AGX_MODIFIER_GROUPS:
		return fail(error, -ERANGE, f->name,
			    "%" PRIu64 " is more than %" PRIu64, value,
			    f->argument * (most + 1));
	default:
		return fail(error, -ERANGE, f->name,
			    "%#" PRIx64 " is more than %#" PRIx64, value, most);
	}
}

static int fail_fixed(const struct agx_field_desc *f, float value,
		      struct agx_error *error)
{
	int64_t most = (INT64_C(1) << field_width(f)) - 1, least = 0;

	if (f->kind == AGX_KIND_SFIXED) {
		least = -(most + 1) / 2;
		most /= 2;
	} else if (f->modifier != AGX_MODIFIER_NONE) {
		least = decode_unsigned(f, 0);
		most = decode_unsigned(f, most);
	}
	return fail(error, -ERANGE, f->name, "%g is not from %g to %g", value,
		    fixed_to_float(f, least), fixed_to_float(f, most));
}

/* Says why agx_field_encode() failed. */
static int fail_encode(const struct agx_field_desc *f, const void *member,
		       struct agx_error *error)
{
	int64_t limit = INT64_C(1) << (field_width(f) - 1);
	int32_t number;

	switch (f->kind) {
	case AGX_KIND_HALF:
		return fail(error, -ERANGE, f->name,
			    "%g is not from -65504 to 65504", get_float(member));
	case AGX_KIND_LOD:
		return fail(error, -ERANGE, f->name, "is not a number");
	case AGX_KIND_UFIXED:
	case AGX_KIND_SFIXED:
		return fail_fixed(f, get_float(member), error);
	case AGX_KIND_SINT:
		memcpy(&number, member, sizeof(number));
		return fail(error, -ERANGE, f->name,
			    "%" PRId32 " is not from %" PRId64 " to %" PRId64,
			    number, -limit, limit - 1);
	case AGX_KIND_ENUM:
		return fail(error, -ERANGE, f->name, "no value is %" PRIu64,
			    get_unsigned(f, member));
	default:
		return fail_unsigned(f, get_unsigned(f, member), error);
	}
}

/* "field" becomes "outer.field". */
static void prefix(struct agx_error *error, const char *outer)
{
	char inner[sizeof(error->field)];

	memcpy(inner, error->field, sizeof(inner));
	snprintf(error->field, sizeof(error->field), "%.30s.%.60s", outer,
		 inner);
}

/* Packets */

static int pack_fields(const struct agx_packet_desc *desc, struct agx_packet_bits *bits,
		       unsigned int base, const uint8_t *values,
		       struct agx_error *error)
{
	for (unsigned int i = 0; i < desc->count; i++) {
		const struct agx_field_desc *f = &desc->fields[i];
		const uint8_t *member = values + f->offset;
		uint64_t raw = f->exact;
		int err;

		if (f->kind == AGX_KIND_NESTED) {
			err = pack_fields(f->nested, bits, base + f->start[0],
					  member, error);
			if (err) {
				prefix(error, f->name);
				return err;
			}
			continue;
		}
		if (f->kind != AGX_KIND_EXACT &&
		    agx_field_encode(f, member, &raw))
			return fail_encode(f, member, error);
		field_put(f, bits, base, raw);
	}
	return 0;
}

int agx_desc_pack(const struct agx_packet_desc *desc, void *dst,
		  const void *values, struct agx_error *error)
{
	struct agx_packet_bits bits = { { 0 } };
	struct agx_error ignored;
	int err;

	if (!error)
		error = &ignored;
	error->packet = desc->label;
	err = pack_fields(desc, &bits, 0, values, error);
	if (!err)
		memcpy(dst, bits.word, desc->bytes);
	return err;
}

/* Keeps the worst thing found, and of equals the first. */
static void note(int *worst, struct agx_error *error, int err,
		 const struct agx_error *found)
{
	if (!err || *worst == -EINVAL || *worst == err)
		return;
	*worst = err;
	memcpy(error->field, found->field, sizeof(error->field));
	memcpy(error->text, found->text, sizeof(error->text));
}

static int unpack_field(const struct agx_field_desc *f, const struct agx_packet_bits *bits,
			unsigned int base, void *member,
			struct agx_error *error)
{
	uint64_t raw = agx_field_get(f, bits, base), nowhere;

	if (f->kind == AGX_KIND_EXACT)
		return raw == f->exact ? 0 :
		       fail(error, -EINVAL, f->name,
			    "%#" PRIx64 " must be %#" PRIx32, raw, f->exact);
	if (!agx_field_decode(f, raw, member ? member : &nowhere))
		return 0;
	if (f->kind == AGX_KIND_ENUM)
		return fail(error, -EBADMSG, f->name, "no value is %" PRIu64,
			    raw);
	return fail(error, -EBADMSG, f->name, "no value has the bits %#" PRIx64,
		    raw);
}

static int unpack_fields(const struct agx_packet_desc *desc,
			 const struct agx_packet_bits *bits, unsigned int base,
			 uint8_t *values, struct agx_error *error)
{
	int worst = 0;

	for (unsigned int i = 0; i < desc->count; i++) {
		const struct agx_field_desc *f = &desc->fields[i];
		void *member = values ? values + f->offset : NULL;
		struct agx_error found;
		int err;

		if (f->kind == AGX_KIND_NESTED) {
			err = unpack_fields(f->nested, bits, base + f->start[0],
					    member, &found);
			if (err)
				prefix(&found, f->name);
		} else {
			err = unpack_field(f, bits, base, member, &found);
		}
		note(&worst, error, err, &found);
	}
	return worst;
}

static void mark_fields(const struct agx_packet_desc *desc, struct agx_packet_bits *known,
			unsigned int base)
{
	for (unsigned int i = 0; i < desc->count; i++) {
		const struct agx_field_desc *f = &desc->fields[i];

		if (f->kind == AGX_KIND_NESTED)
			mark_fields(f->nested, known, base + f->start[0]);
		else
			field_put(f, known, base, UINT64_MAX);
	}
}

static void list_bits(const struct agx_packet_bits *unknown, size_t bytes,
		      struct agx_error *error)
{
	size_t used = snprintf(error->text, sizeof(error->text), "not zero:");

	for (unsigned int bit = 0; bit < bytes * 8; bit++) {
		if (unknown->word[bit / 64] >> bit % 64 & 1 &&
		    used < sizeof(error->text))
			used += snprintf(error->text + used,
					 sizeof(error->text) - used, " %u",
					 bit);
	}
	snprintf(error->field, sizeof(error->field), "reserved bits");
}

int agx_desc_reserved(const struct agx_packet_desc *desc, const struct agx_packet_bits *bits,
		      struct agx_error *error)
{
	struct agx_packet_bits known = { { 0 } };
	uint64_t any = 0;

	mark_fields(desc, &known, 0);
	for (size_t i = 0; i < AGX_DESC_MAX_BYTES / sizeof(any); i++) {
		known.word[i] = bits->word[i] & ~known.word[i];
		any |= known.word[i];
	}
	if (!any)
		return 0;
	list_bits(&known, desc->bytes, error);
	return -EBADMSG;
}

int agx_desc_unpack(const struct agx_packet_desc *desc, const void *src,
		    void *values, struct agx_error *error)
{
	struct agx_error ignored, found;
	struct agx_packet_bits bits;
	int err;

	if (!error)
		error = &ignored;
	error->packet = desc->label;
	agx_desc_read(desc, src, &bits);
	err = unpack_fields(desc, &bits, 0, values, error);
	note(&err, error, agx_desc_reserved(desc, &bits, &found), &found);
	return err;
}
