// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Packets as text.
 */
#include <inttypes.h>

#include "agx_packets.h"
#include "packets/desc.h"

union value {
	bool truth;
	int32_t number;
	uint32_t word;
	uint64_t wide;
	float point;
};

static void print_enum(FILE *fp, const struct agx_field_desc *f, uint64_t raw)
{
	const char *text = agx_enum_text(f->enumeration, raw);

	if (text)
		fputs(text, fp);
	else
		fprintf(fp, "unknown (%" PRIu64 ")", raw);
}

static void print_value(FILE *fp, const struct agx_field_desc *f, uint64_t raw)
{
	union value v = { .wide = 0 };

	agx_field_decode(f, raw, &v);
	switch (f->kind) {
	case AGX_KIND_UINT:
		fprintf(fp, "%" PRIu32, v.word);
		break;
	case AGX_KIND_HEX:
		fprintf(fp, "0x%" PRIx32, v.word);
		break;
	case AGX_KIND_ADDRESS:
		fprintf(fp, "0x%" PRIx64, v.wide);
		break;
	case AGX_KIND_SINT:
		fprintf(fp, "%" PRId32, v.number);
		break;
	case AGX_KIND_BOOL:
		fputs(v.truth ? "true" : "false", fp);
		break;
	default:
		/* enough digits to tell one float from the next */
		fprintf(fp, "%.9g", v.point);
	}
	if (f->kind == AGX_KIND_LOD && agx_field_decode(f, raw, &v))
		fputs(" (no such level)", fp);
}

static void print_fields(FILE *fp, const struct agx_packet_desc *desc,
			 const struct agx_packet_bits *bits, unsigned int base,
			 unsigned int indent)
{
	for (unsigned int i = 0; i < desc->count; i++) {
		const struct agx_field_desc *f = &desc->fields[i];
		uint64_t raw = f->kind == AGX_KIND_NESTED ? 0 : agx_field_get(f, bits, base);

		if (f->kind == AGX_KIND_EXACT && raw == f->exact)
			continue;
		fprintf(fp, "%*s%s:", (int)indent, "", f->name);
		if (f->kind == AGX_KIND_NESTED) {
			fputc('\n', fp);
			print_fields(fp, f->nested, bits, base + f->start[0],
				     indent + 2);
			continue;
		}
		fputc(' ', fp);
		if (f->kind == AGX_KIND_EXACT)
			fprintf(fp, "0x%" PRIx64 ", must be 0x%" PRIx32, raw,
				f->exact);
		else if (f->kind == AGX_KIND_ENUM)
			print_enum(fp, f, raw);
		else
			print_value(fp, f, raw);
		fputc('\n', fp);
	}
}

int agx_desc_print(FILE *fp, const struct agx_packet_desc *desc,
		   const void *src, unsigned int indent)
{
	struct agx_packet_bits bits;
	struct agx_error error;

	agx_desc_read(desc, src, &bits);
	print_fields(fp, desc, &bits, 0, indent);
	if (agx_desc_reserved(desc, &bits, &error))
		fprintf(fp, "%*s%s: %s\n", (int)indent, "", error.field,
			error.text);
	return agx_desc_unpack(desc, src, NULL, NULL);
}
