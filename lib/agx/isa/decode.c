// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Between bytes and struct agx_instr, both ways.
 */
#include <errno.h>
#include <string.h>

#include "table.h"

/* An instruction's bits, or an operand's */
struct code {
	uint64_t word[2];
};

/* A code that is being put together, and which of its bits are settled */
struct builder {
	struct code code;
	struct code settled;
};

static uint64_t low_bits(unsigned int count)
{
	return count < 64 ? (1ULL << count) - 1 : ~0ULL;
}

static uint64_t get_bits(const struct code *code, unsigned int start,
			 unsigned int count)
{
	unsigned int shift = start % 64;
	uint64_t value = code->word[start / 64] >> shift;

	if (shift + count > 64)
		value |= code->word[start / 64 + 1] << (64 - shift);
	return value & low_bits(count);
}

static void set_bits(struct code *code, unsigned int start, unsigned int count,
		     uint64_t value)
{
	unsigned int shift = start % 64;
	uint64_t mask = low_bits(count);

	code->word[start / 64] &= ~(mask << shift);
	code->word[start / 64] |= (value & mask) << shift;
	if (shift + count <= 64)
		return;
	code->word[start / 64 + 1] &= ~(mask >> (64 - shift));
	code->word[start / 64 + 1] |= (value & mask) >> (64 - shift);
}

/* Fails when bits were settled otherwise before */
static bool settle(struct builder *b, unsigned int start, unsigned int count,
		   uint64_t value)
{
	uint64_t settled = get_bits(&b->settled, start, count);

	if ((get_bits(&b->code, start, count) ^ value) & settled)
		return false;
	set_bits(&b->code, start, count,
		 value | get_bits(&b->code, start, count));
	set_bits(&b->settled, start, count, low_bits(count));
	return true;
}

static uint64_t gather(const struct code *code, const struct agx_bits *bits)
{
	unsigned int shift = 0;
	uint64_t value = 0;

	for (; bits->count; bits++) {
		value |= get_bits(code, bits->start, bits->count) << shift;
		shift += bits->count;
	}
	return value;
}

/* Settles those bits of a field that @settled has set */
static bool scatter(struct builder *b, const struct agx_bits *bits,
		    uint64_t value, uint64_t settled)
{
	unsigned int i;

	for (; bits->count; bits++) {
		for (i = 0; i < bits->count; i++, value >>= 1, settled >>= 1) {
			if ((settled & 1) &&
			    !settle(b, bits->start + i, 1, value & 1))
				return false;
		}
	}
	return true;
}

static bool fixed_match(const struct agx_fixed *fixed, const struct code *code)
{
	for (; fixed->count; fixed++) {
		if (get_bits(code, fixed->start, fixed->count) != fixed->value)
			return false;
	}
	return true;
}

static int64_t sign_extend(uint64_t value, unsigned int bits)
{
	uint64_t sign = 1ULL << (bits - 1);

	return (int64_t)((value ^ sign) - sign);
}

static bool flag(const struct code *code, unsigned int position)
{
	return position && get_bits(code, position - 1, 1);
}

static bool registers_exist(const struct agx_operand *o)
{
	unsigned int halves = o->size / 16;
	unsigned int bound = o->type == AGX_OPERAND_REG ? AGX_ISA_REGISTERS :
							   AGX_ISA_UNIFORMS;

	if (o->type != AGX_OPERAND_REG && o->type != AGX_OPERAND_UNIFORM)
		return true;
	/* 64-bit values need only be aligned to 32 bits */
	if (halves > 1 && (o->value & 1))
		return false;
	return o->value + halves * o->count <= bound;
}

static bool decode_hint(const struct agx_operand_case *c,
			const struct code *bits, struct agx_operand *o)
{
	o->cache = flag(bits, c->cache);
	o->discard = flag(bits, c->last_use);
	if (!c->hint)
		return true;

	switch (get_bits(bits, c->hint - 1, 2)) {
	case 1:
		return true;
	case 2:
		o->cache = true;
		return true;
	case 3:
		o->discard = true;
		return true;
	default:
		return false;
	}
}

static bool decode_case(const struct agx_operand_case *c,
			const struct code *bits, struct agx_operand *o)
{
	uint64_t value = gather(bits, c->value) << c->scale;

	memset(o, 0, sizeof(*o));
	o->type = c->type;
	o->size = c->size ? c->size : flag(bits, c->size32) ? 32 : 16;
	o->count = c->count ? c->count : 1;
	if (c->type == AGX_OPERAND_NONE)
		return true;

	if (c->is_signed)
		o->value = sign_extend(value, agx_bits_total(c->value));
	else
		o->value = value;

	if (c->count_at.count) {
		o->count = get_bits(bits, c->count_at.start, c->count_at.count);
		if (!o->count)
			o->count = 4;
	}
	if (c->count_mask.count) {
		o->count = __builtin_popcountll(get_bits(bits,
							 c->count_mask.start,
							 c->count_mask.count));
		if (!o->count)
			o->count = 1;
	}

	o->absolute = flag(bits, c->absolute);
	o->negate = flag(bits, c->negate);
	o->sign_extend = c->zero_extend ? !flag(bits, c->zero_extend) :
					  flag(bits, c->sign_extend);
	return decode_hint(c, bits, o) && registers_exist(o);
}

static bool decode_operand(const struct agx_field *field,
			   const struct code *code, struct agx_operand *o)
{
	struct code bits = { { gather(code, field->bits), 0 } };
	unsigned int i;

	for (i = 0; i < agx_case_count; i++) {
		if (agx_cases[i].kind == field->id &&
		    fixed_match(agx_cases[i].fixed, &bits))
			return decode_case(&agx_cases[i], &bits, o);
	}
	return false;
}

static bool decode_modifier(const struct agx_field *field,
			    const struct code *code, int64_t *mod)
{
	uint64_t value = gather(code, field->bits);

	if (field->set == AGX_SET_SIGNED)
		*mod = sign_extend(value, agx_bits_total(field->bits));
	else
		*mod = (int64_t)value;
	return !agx_set_is_named(field->set) ||
	       (value < AGX_MAX_VALUE && agx_value_text[field->set][value]);
}

/* Bits that nothing describes: the instruction does more than is known */
static bool has_unknown_bits(const struct agx_row *row, const struct code *code)
{
	struct code unknown = *code;
	const struct agx_fixed *fixed;
	const struct agx_field *field;
	const struct agx_bits *bits;

	for (fixed = row->fixed; fixed->count; fixed++)
		set_bits(&unknown, fixed->start, fixed->count, 0);
	for (field = row->field; field->type; field++) {
		for (bits = field->bits; bits->count; bits++)
			set_bits(&unknown, bits->start, bits->count, 0);
	}
	if (row->short_length != row->long_length)
		set_bits(&unknown, row->length_bit, 1, 0);
	return unknown.word[0] || unknown.word[1];
}

static bool decode_row(const struct agx_row *row, const struct code *code,
		       struct agx_instr *instr)
{
	const struct agx_field *field;
	unsigned int srcs = 0;

	if (has_unknown_bits(row, code))
		return false;

	for (field = row->field; field->type; field++) {
		bool ok;

		switch (field->type) {
		case AGX_FIELD_DST:
			ok = decode_operand(field, code, &instr->dst);
			break;
		case AGX_FIELD_SRC:
			ok = decode_operand(field, code, &instr->src[srcs++]);
			break;
		default:
			ok = decode_modifier(field, code,
					     &instr->mod[field->id]);
		}
		if (!ok)
			return false;
	}
	return true;
}

static struct code load_code(const uint8_t *bytes, size_t length)
{
	struct code code = { { 0, 0 } };
	size_t i;

	for (i = 0; i < length; i++)
		code.word[i / 8] |= (uint64_t)bytes[i] << i % 8 * 8;
	return code;
}

int agx_isa_decode(const uint8_t *bytes, size_t avail, struct agx_instr *instr)
{
	struct code all, code;
	unsigned int first, i;

	if (avail < 2)
		return -ENODATA;
	if (avail > AGX_ISA_MAX_LENGTH)
		avail = AGX_ISA_MAX_LENGTH;
	all = load_code(bytes, avail);
	first = all.word[0] & 0xffff;

	for (i = 0; i < AGX_OP_COUNT; i++) {
		const struct agx_row *row = &agx_rows[i];
		unsigned int length = row->short_length;

		if ((first ^ agx_first_value[i]) & agx_first_mask[i])
			continue;
		if (get_bits(&all, row->length_bit, 1))
			length = row->long_length;
		code = load_code(bytes, length < avail ? length : avail);
		if (!fixed_match(row->fixed, &code))
			continue;
		if (length > avail)
			return -ENODATA;

		memset(instr, 0, sizeof(*instr));
		instr->op = i;
		instr->length = length;
		return decode_row(row, &code, instr) ? (int)length : -EINVAL;
	}
	return -EINVAL;
}

static bool settle_flag(struct builder *b, unsigned int position, bool value)
{
	if (!position)
		return !value;
	return settle(b, position - 1, 1, value);
}

static bool encode_value(struct builder *b, const struct agx_operand_case *c,
			 int32_t value)
{
	unsigned int bits = agx_bits_total(c->value);

	if (c->scale && (value & low_bits(c->scale)))
		return false;
	value >>= c->scale;
	if (c->is_signed) {
		if (value != sign_extend(value & low_bits(bits), bits))
			return false;
		value &= low_bits(bits);
	}
	if (value < 0 || (uint64_t)value > low_bits(bits))
		return false;
	return scatter(b, c->value, value, ~0ULL);
}

static bool encode_shape(struct builder *b, const struct agx_operand_case *c,
			 const struct agx_operand *o)
{
	bool sized = c->type == AGX_OPERAND_REG ||
		     c->type == AGX_OPERAND_UNIFORM;

	if (sized && c->size32) {
		if (o->size > 32 || !settle_flag(b, c->size32, o->size == 32))
			return false;
	} else if (sized && o->size != (c->size ? c->size : 16)) {
		return false;
	}

	/* A mask is settled by the modifier that has the same bits */
	if (c->count_mask.count)
		return true;
	if (c->count_at.count)
		return o->count <= 4 &&
		       settle(b, c->count_at.start, c->count_at.count,
			      o->count & 3);
	return o->count == (c->count ? c->count : 1);
}

static bool encode_hint(struct builder *b, const struct agx_operand_case *c,
			const struct agx_operand *o)
{
	if (o->cache && o->discard)
		return false;
	if (c->hint)
		return settle(b, c->hint - 1, 2,
			      o->discard ? 3 : o->cache ? 2 : 1);
	return settle_flag(b, c->cache, o->cache) &&
	       settle_flag(b, c->last_use, o->discard);
}

static bool encode_case(struct builder *b, const struct agx_operand_case *c,
			const struct agx_operand *o)
{
	const struct agx_fixed *fixed;

	for (fixed = c->fixed; fixed->count; fixed++) {
		if (!settle(b, fixed->start, fixed->count, fixed->value))
			return false;
	}
	if (c->type == AGX_OPERAND_NONE)
		return true;

	if (!encode_value(b, c, o->value) || !encode_shape(b, c, o) ||
	    !encode_hint(b, c, o) ||
	    !settle_flag(b, c->absolute, o->absolute) ||
	    !settle_flag(b, c->negate, o->negate))
		return false;
	if (c->zero_extend)
		return settle_flag(b, c->zero_extend, !o->sign_extend);
	/* The signed case of an immediate has no flag of its own */
	return settle_flag(b, c->sign_extend, o->sign_extend);
}

static bool encode_operand(struct builder *b, const struct agx_field *field,
			   const struct agx_operand *o)
{
	unsigned int i;

	for (i = 0; i < agx_case_count; i++) {
		struct builder bits = { 0 }, whole = *b;

		if (agx_cases[i].kind != field->id ||
		    agx_cases[i].type != o->type ||
		    !encode_case(&bits, &agx_cases[i], o) ||
		    !scatter(&whole, field->bits, bits.code.word[0],
			     bits.settled.word[0]))
			continue;
		*b = whole;
		return true;
	}
	return false;
}

static bool encode_modifier(struct builder *b, const struct agx_field *field,
			    int64_t value)
{
	unsigned int bits = agx_bits_total(field->bits);

	if (field->set == AGX_SET_SIGNED) {
		if (value != sign_extend(value & low_bits(bits), bits))
			return false;
		value &= low_bits(bits);
	}
	if (value < 0 || (uint64_t)value > low_bits(bits))
		return false;
	return scatter(b, field->bits, value, ~0ULL);
}

/* Modifiers first: where they share bits, they say which case an operand is */
static bool encode_fields(struct builder *b, const struct agx_row *row,
			  const struct agx_instr *instr)
{
	const struct agx_operand *src = instr->src;
	const struct agx_field *field;

	for (field = row->field; field->type; field++) {
		if (field->type == AGX_FIELD_MOD &&
		    !encode_modifier(b, field, instr->mod[field->id]))
			return false;
	}
	for (field = row->field; field->type; field++) {
		if (field->type == AGX_FIELD_DST &&
		    !encode_operand(b, field, &instr->dst))
			return false;
		if (field->type == AGX_FIELD_SRC &&
		    !encode_operand(b, field, src++))
			return false;
	}
	return true;
}

static bool operand_equal(const struct agx_operand *a,
			  const struct agx_operand *b)
{
	if (a->type != b->type)
		return false;
	if (a->type == AGX_OPERAND_NONE)
		return true;
	return a->value == b->value && a->size == b->size &&
	       a->count == b->count && a->absolute == b->absolute &&
	       a->negate == b->negate && a->sign_extend == b->sign_extend &&
	       a->cache == b->cache && a->discard == b->discard;
}

bool agx_instr_equal(const struct agx_instr *a, const struct agx_instr *b)
{
	unsigned int i;

	if (a->op != b->op || !operand_equal(&a->dst, &b->dst))
		return false;
	for (i = 0; i < AGX_ISA_MAX_SRCS; i++) {
		if (!operand_equal(&a->src[i], &b->src[i]))
			return false;
	}
	return !memcmp(a->mod, b->mod, sizeof(a->mod));
}

int agx_isa_encode(const struct agx_instr *instr, uint8_t *bytes)
{
	const struct agx_row *row = agx_row_of(instr->op);
	const struct agx_fixed *fixed;
	struct builder b = { 0 };
	struct agx_instr check;
	unsigned int length;
	unsigned int i;

	if (!row)
		return -EINVAL;
	for (fixed = row->fixed; fixed->count; fixed++) {
		if (!settle(&b, fixed->start, fixed->count, fixed->value))
			return -EINVAL;
	}
	if (!encode_fields(&b, row, instr))
		return -EINVAL;

	length = row->short_length;
	for (i = length * 8; i < row->long_length * 8U; i++) {
		if (!get_bits(&b.code, i, 1))
			continue;
		set_bits(&b.code, row->length_bit, 1, 1);
		length = row->long_length;
		break;
	}

	memset(bytes, 0, AGX_ISA_MAX_LENGTH);
	for (i = 0; i < length; i++)
		bytes[i] = b.code.word[i / 8] >> i % 8 * 8;

	/*
	 * Finds operands that contradict each other where they share bits. The
	 * row is the given one even where an alias has the same code.
	 */
	memset(&check, 0, sizeof(check));
	check.op = instr->op;
	if (!decode_row(row, &b.code, &check) || !agx_instr_equal(instr, &check))
		return -EINVAL;
	return length;
}
