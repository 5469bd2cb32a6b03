// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The model of the profile as tables (profile.def). Constant.
 */
#include "sanitizer/profile.h"

const struct profile_model profile_models[PROFILE_UNITS] = {
#define PROFILE_UNIT(id, name_, slots_, latency_, source_)			\
	[PROFILE_##id] = {							\
		.name = (name_),						\
		.slots = (slots_),						\
		.latency = (latency_),						\
		.source = (source_),						\
	},
#include "sanitizer/profile.def"
};

static const uint8_t profile_model_units[AGX_OP_COUNT] = {
#define PROFILE_OP(op, unit)	[AGX_OP_##op] = PROFILE_##unit,
#include "sanitizer/profile.def"
};

enum profile_unit profile_unit_of(enum agx_opcode op)
{
	return profile_model_units[op];
}
