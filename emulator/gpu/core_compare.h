/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_CORE_COMPARE_H
#define VAGX_CORE_COMPARE_H

#include "core_internal.h"

/**
 * compare_integers() - the condition of an instruction, for every lane
 * @sg: simdgroup
 * @op: instruction: compares its first two sources by AGX_MOD_COND
 * @result: all ones where it holds, else 0
 */
void compare_integers(const struct simdgroup *sg, const struct op *op,
		      struct lanes *result);

/** compare_floats() - as compare_integers(), for floats */
void compare_floats(const struct simdgroup *sg, const struct op *op,
		    struct lanes *result);

#endif /* VAGX_CORE_COMPARE_H */
