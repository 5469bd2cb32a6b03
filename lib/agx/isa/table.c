// SPDX-License-Identifier: MIT
/* Copyright (C) 2026 The asahi driver authors */
#include "table.h"

#define NOTHING
#define B(start_, count_)	{ .start = (start_), .count = (count_) },
#define FIX(start_, count_, value_)						\
	{ .start = (start_), .count = (count_), .value = (value_) },

#define SCALE(n)		.scale = (n),
#define SIGNED			.is_signed = true,
#define SIZE(n)			.size = (n),
#define SIZE32(bit)		.size32 = (bit) + 1,
#define COUNT(n)		.count = (n),
#define COUNT_AT(start_, count_)						\
	.count_at = { .start = (start_), .count = (count_) },
#define COUNT_MASK(start_, count_)						\
	.count_mask = { .start = (start_), .count = (count_) },
#define CACHE(bit)		.cache = (bit) + 1,
#define LAST_USE(bit)		.last_use = (bit) + 1,
#define HINT(bit)		.hint = (bit) + 1,
#define ABS(bit)		.absolute = (bit) + 1,
#define NEG(bit)		.negate = (bit) + 1,
#define SX(bit)			.sign_extend = (bit) + 1,
#define ZX(bit)			.zero_extend = (bit) + 1,

const struct agx_operand_case agx_cases[] = {
#define AGX_OPERAND_CASE(kind_, class_, fixed_, value_, attributes)		\
	{									\
		.kind = AGX_KIND_##kind_,					\
		.type = AGX_OPERAND_##class_,					\
		.fixed = { fixed_ },						\
		.value = { value_ },						\
		attributes							\
	},
#include "agx_isa.def"
};

const unsigned int agx_case_count = sizeof(agx_cases) / sizeof(agx_cases[0]);

#undef SIGNED

#define DST(kind, bits_)							\
	{ .type = AGX_FIELD_DST, .id = AGX_KIND_##kind, .bits = { bits_ } },
#define SRC(kind, bits_)							\
	{ .type = AGX_FIELD_SRC, .id = AGX_KIND_##kind, .bits = { bits_ } },
#define MOD(modifier, set_, bits_)						\
	{									\
		.type = AGX_FIELD_MOD,						\
		.id = AGX_MOD_##modifier,					\
		.set = AGX_SET_##set_,						\
		.bits = { bits_ },						\
	},

const struct agx_row agx_rows[AGX_OP_COUNT] = {
#define AGX_INSTRUCTION(id_, name_, short_length_, long_length_, length_bit_,	\
			fixed_, fields_, semantics)				\
	[AGX_OP_##id_] = {							\
		.id = #id_,							\
		.name = (name_),						\
		.short_length = (short_length_),				\
		.long_length = (long_length_),					\
		.length_bit = (length_bit_),					\
		.fixed = { fixed_ },						\
		.field = { fields_ },						\
	},
#include "agx_isa.def"
};

#undef FIX
#define FIRST(start_, value_)							\
	| ((start_) < 16 ? (uint64_t)(value_) << ((start_) & 15) & 0xffff : 0)

const uint16_t agx_first_mask[AGX_OP_COUNT] = {
#define FIX(start_, count_, value_)	FIRST(start_, (1ULL << (count_)) - 1)
#define AGX_INSTRUCTION(id_, name_, short_length_, long_length_, length_bit_,	\
			fixed_, fields_, semantics)				\
	[AGX_OP_##id_] = 0 fixed_,
#include "agx_isa.def"
#undef FIX
};

const uint16_t agx_first_value[AGX_OP_COUNT] = {
#define FIX(start_, count_, value_)	FIRST(start_, value_)
#define AGX_INSTRUCTION(id_, name_, short_length_, long_length_, length_bit_,	\
			fixed_, fields_, semantics)				\
	[AGX_OP_##id_] = 0 fixed_,
#include "agx_isa.def"
};

const char *const agx_value_text[AGX_SET_COUNT][AGX_MAX_VALUE] = {
#define AGX_VALUE(set, value, id, text)	[AGX_SET_##set][value] = (text),
#include "agx_isa.def"
};

const char *const agx_flag_text[AGX_MOD_COUNT] = {
#define AGX_MODIFIER(id, text)	[AGX_MOD_##id] = (text),
#include "agx_isa.def"
};

bool agx_kind_is_optional(unsigned int kind)
{
	unsigned int i;

	for (i = 0; i < agx_case_count; i++) {
		if (agx_cases[i].kind == kind &&
		    agx_cases[i].type == AGX_OPERAND_NONE)
			return true;
	}
	return false;
}

const char *agx_isa_mnemonic(enum agx_opcode op)
{
	const struct agx_row *row = agx_row_of(op);

	return row ? row->name : "?";
}

const char *agx_isa_op_name(enum agx_opcode op)
{
	const struct agx_row *row = agx_row_of(op);

	return row ? row->id : "?";
}

bool agx_isa_is_asynchronous(enum agx_opcode op)
{
	const struct agx_row *row = agx_row_of(op);
	const struct agx_field *field;

	if (!row || op == AGX_OP_WAIT)
		return false;
	for (field = row->field; field->type != AGX_FIELD_END; field++) {
		if (field->type == AGX_FIELD_MOD && field->id == AGX_MOD_GROUP)
			return true;
	}
	return false;
}

unsigned int agx_isa_result_count(enum agx_opcode op, const struct agx_operand *dst,
				  unsigned int format, bool sparse)
{
	unsigned int count = dst->count ? dst->count : 1;

	if (op != AGX_OP_LOAD)
		return count + sparse;
	switch (format) {
	case AGX_FORMAT_RGB10A2:
		return 4;
	case AGX_FORMAT_RG11B10F:
	case AGX_FORMAT_RGB9E5:
	case AGX_FORMAT_RG11B10F_RTZ:
	case AGX_FORMAT_RGB9E5_RTZ:
		return 3;
	default:
		return count;
	}
}

unsigned int agx_isa_source_count(enum agx_opcode op, unsigned int n, const struct agx_operand *src)
{
	if (op == AGX_OP_IMAGE_WRITE && n == 0)
		return 1;
	return src->count ? src->count : 1;
}
