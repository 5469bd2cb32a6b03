/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The rows of agx_isa.def as data.
 */
#ifndef AGX_ISA_TABLE_H
#define AGX_ISA_TABLE_H

#include "agx_isa.h"

#define AGX_MAX_BITS	5
#define AGX_MAX_FIXED	12
#define AGX_MAX_FIELDS	20
#define AGX_MAX_VALUE	256

/* Some bits in a row; a list of them ends at @count 0 */
struct agx_bits {
	uint8_t start;
	uint8_t count;
};

/* Bits that always have the same value; a list ends at @count 0 */
struct agx_fixed {
	uint8_t start;
	uint8_t count;
	uint64_t value;
};

/* Positions of flags are counted from 1: 0 is a flag that there isn't */
struct agx_operand_case {
	uint8_t kind;
	uint8_t type;
	struct agx_fixed fixed[3];
	struct agx_bits value[4];
	uint8_t scale;
	bool is_signed;
	uint8_t size;
	uint8_t size32;
	uint8_t count;
	struct agx_bits count_at;
	struct agx_bits count_mask;
	uint8_t cache;
	uint8_t last_use;
	uint8_t hint;
	uint8_t absolute;
	uint8_t negate;
	uint8_t sign_extend;
	uint8_t zero_extend;
};

enum agx_kind {
#define AGX_OPERAND_KIND(id)	AGX_KIND_##id,
#include "agx_isa.def"
	AGX_KIND_COUNT
};

enum agx_field_type {
	AGX_FIELD_END,
	AGX_FIELD_DST,
	AGX_FIELD_SRC,
	AGX_FIELD_MOD,
};

struct agx_field {
	uint8_t type;
	/* enum agx_kind, or enum agx_modifier */
	uint8_t id;
	/* of a modifier */
	uint8_t set;
	struct agx_bits bits[AGX_MAX_BITS + 1];
};

struct agx_row {
	const char *id;
	const char *name;
	uint8_t short_length;
	uint8_t long_length;
	uint8_t length_bit;
	struct agx_fixed fixed[AGX_MAX_FIXED + 1];
	struct agx_field field[AGX_MAX_FIELDS + 1];
};

extern const struct agx_row agx_rows[AGX_OP_COUNT];
/* Which of the first 16 bits are fixed, and their values. These rule out most rows. */
extern const uint16_t agx_first_mask[AGX_OP_COUNT];
extern const uint16_t agx_first_value[AGX_OP_COUNT];
extern const struct agx_operand_case agx_cases[];
extern const unsigned int agx_case_count;
/* NULL for a value that the set doesn't have */
extern const char *const agx_value_text[AGX_SET_COUNT][AGX_MAX_VALUE];
extern const char *const agx_flag_text[AGX_MOD_COUNT];

/* NULL for a number that is no row */
static inline const struct agx_row *agx_row_of(unsigned int op)
{
	return op < AGX_OP_COUNT ? &agx_rows[op] : NULL;
}

static inline bool agx_set_is_named(unsigned int set)
{
	return set > AGX_SET_FLAG;
}

static inline unsigned int agx_bits_total(const struct agx_bits *bits)
{
	unsigned int total = 0;

	for (; bits->count; bits++)
		total += bits->count;
	return total;
}

/* Whether a source of that kind can be left out */
bool agx_kind_is_optional(unsigned int kind);

bool agx_instr_equal(const struct agx_instr *a, const struct agx_instr *b);

#endif /* AGX_ISA_TABLE_H */
