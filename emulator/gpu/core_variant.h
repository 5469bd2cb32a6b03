/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Variants of the functions that run arithmetic, specialised for the kinds of their operands
 * (here called shapes), without modifiers of sources or results. All variants of a function are
 * made from one inline function, whose shape arguments are constants in a variant. The decoder
 * chooses the variant once.
 */
#ifndef VAGX_CORE_VARIANT_H
#define VAGX_CORE_VARIANT_H

#include "core_internal.h"

/* Rare cases are not inlined: they would make each of the variants larger */
#define COLD	__attribute__((noinline, cold))

/** enum shape - the kind of a source */
enum shape {
	SHAPE_WORD,	/* a register */
	SHAPE_HALF,	/* a 16-bit register, one half of it */
	SHAPE_SCALAR,	/* the same for all lanes: a uniform or an immediate */
	SHAPE_COUNT,
	/* not known at compile time; there may also be modifiers */
	SHAPE_ANY = SHAPE_COUNT,
};

/** vagx_variant_of() - the variant for a decoded instruction; NULL if there is none */
vagx_exec_fn *vagx_variant_of(const struct op *op);

#define VARIANT_INDEX_1(a)		SHAPE_##a
#define VARIANT_INDEX_2(a, b)		(VARIANT_INDEX_1(a) * SHAPE_COUNT + SHAPE_##b)
#define VARIANT_INDEX_3(a, b, c)	(VARIANT_INDEX_2(a, b) * SHAPE_COUNT + SHAPE_##c)

#define VARIANT_1(name, a)							\
CLONES static void name##_##a(struct simdgroup *sg, const struct op *op)	\
{										\
	name(sg, op, SHAPE_##a);						\
}
#define VARIANT_2(name, a, b)							\
CLONES static void name##_##a##_##b(struct simdgroup *sg, const struct op *op)	\
{										\
	name(sg, op, SHAPE_##a, SHAPE_##b);					\
}
#define VARIANT_3(name, a, b, c)						\
CLONES static void name##_##a##_##b##_##c(struct simdgroup *sg, const struct op *op)	\
{										\
	name(sg, op, SHAPE_##a, SHAPE_##b, SHAPE_##c);				\
}

#define VARIANT_ENTRY_1(name, a)	[VARIANT_INDEX_1(a)] = name##_##a,
#define VARIANT_ENTRY_2(name, a, b)	[VARIANT_INDEX_2(a, b)] = name##_##a##_##b,
#define VARIANT_ENTRY_3(name, a, b, c)	[VARIANT_INDEX_3(a, b, c)] = name##_##a##_##b##_##c,

/**
 * VARIANTS() - define variants of a function, and their table
 * @name: inline function of a simdgroup, an op, and so many shapes
 * @sources: number of sources
 * @list: macro that names the combinations of shapes; there is no variant of others
 */
#define VARIANTS(name, sources, list)						\
	list(VARIANT_##sources, name)						\
	vagx_exec_fn *const vagx_variants_##name[VARIANTS_##sources] = {	\
		list(VARIANT_ENTRY_##sources, name)				\
	};

#define VARIANTS_1	SHAPE_COUNT
#define VARIANTS_2	(VARIANTS_1 * SHAPE_COUNT)
#define VARIANTS_3	(VARIANTS_2 * SHAPE_COUNT)

/* A macro does not expand within itself, so there is one for each source */
#define SHAPE_OF_1(m, ...)	m(__VA_ARGS__, WORD) m(__VA_ARGS__, HALF) m(__VA_ARGS__, SCALAR)
#define SHAPE_OF_2(m, ...)	m(__VA_ARGS__, WORD) m(__VA_ARGS__, HALF) m(__VA_ARGS__, SCALAR)
#define SHAPE_OF_3(m, ...)	m(__VA_ARGS__, WORD) m(__VA_ARGS__, HALF) m(__VA_ARGS__, SCALAR)
#define HALF_OF_1(m, ...)	m(__VA_ARGS__, HALF) m(__VA_ARGS__, SCALAR)
#define HALF_OF_2(m, ...)	m(__VA_ARGS__, HALF) m(__VA_ARGS__, SCALAR)
#define HALF_OF_3(m, ...)	m(__VA_ARGS__, HALF) m(__VA_ARGS__, SCALAR)

#define ALL_SHAPES_1(m, name)	SHAPE_OF_1(m, name)
#define ALL_SHAPES_2(m, name)	SHAPE_OF_1(SHAPE_OF_2, m, name)
#define ALL_SHAPES_3(m, name)	SHAPE_OF_1(SHAPE_OF_2, SHAPE_OF_3, m, name)
#define ALL_HALVES_2(m, name)	HALF_OF_1(HALF_OF_2, m, name)
#define ALL_HALVES_3(m, name)	HALF_OF_1(HALF_OF_2, HALF_OF_3, m, name)

/* What compilers emit for integers: sources of one size, the first one not a scalar */
#define USUAL_SHAPES_2(m, name)							\
	m(name, WORD, WORD) m(name, WORD, SCALAR)				\
	m(name, HALF, HALF) m(name, HALF, SCALAR)
#define USUAL_SHAPES_3(m, name)							\
	m(name, WORD, WORD, WORD) m(name, WORD, SCALAR, WORD)			\
	m(name, WORD, SCALAR, SCALAR)						\
	m(name, HALF, HALF, HALF) m(name, HALF, SCALAR, HALF)

#endif /* VAGX_CORE_VARIANT_H */
