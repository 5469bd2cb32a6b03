/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Variants of the functions that run arithmetic. What a function has to ask about its
 * instruction each time, a variant knows: where the sources are, and that there is nothing
 * to be done to them or the result. All are made of one inline function, whose arguments
 * are constants in a variant; the decoder chooses.
 */
#ifndef VAGX_CORE_VARIANT_H
#define VAGX_CORE_VARIANT_H

#include "core_internal.h"

/* What is hardly ever needed would only make each of the variants larger */
#define SELDOM	__attribute__((noinline, cold))

/** enum shape - where a source is */
enum shape {
	SHAPE_WORD,	/* a register */
	SHAPE_HALF,	/* one half of it */
	SHAPE_SCALAR,	/* the same for all lanes: a uniform or an immediate */
	SHAPE_COUNT,
	/*
	 * Any of these, to be asked, and modifiers too: those of sources that are not the
	 * same for all lanes, and those of the result
	 */
	SHAPE_ANY = SHAPE_COUNT,
};

/** vagx_variant_of() - the function that runs a decoded instruction best; NULL for none */
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

/* A macro cannot be in itself, so that there is one for each source */
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

/* What compilers make of integers: all sources have one size, and scalars are not the first */
#define USUAL_SHAPES_2(m, name)							\
	m(name, WORD, WORD) m(name, WORD, SCALAR)				\
	m(name, HALF, HALF) m(name, HALF, SCALAR)
#define USUAL_SHAPES_3(m, name)							\
	m(name, WORD, WORD, WORD) m(name, WORD, SCALAR, WORD)			\
	m(name, WORD, SCALAR, SCALAR)						\
	m(name, HALF, HALF, HALF) m(name, HALF, SCALAR, HALF)

#endif /* VAGX_CORE_VARIANT_H */
