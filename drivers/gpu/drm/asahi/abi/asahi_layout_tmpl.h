/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How the layout of structures is asserted for each version of the firmware's
 * interface, see asahi_abi.h.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_LAYOUT_TMPL_H
#define ASAHI_LAYOUT_TMPL_H

#include <linux/build_bug.h>
#include <linux/stddef.h>

/* A number that depends on the version: on 12.x, on 13.5, on 13.5 of G14X. */
#if ASAHI_ABI_VERSION < ASAHI_V13_5
#define ASAHI_ABI_COLUMN	0
#elif ASAHI_ABI_GEN < ASAHI_G14X
#define ASAHI_ABI_COLUMN	1
#else
#define ASAHI_ABI_COLUMN	2
#endif

#define ASAHI_BY_ABI(v12, v13, g14x)						\
	(ASAHI_ABI_COLUMN == 0 ? (v12) : ASAHI_ABI_COLUMN == 1 ? (v13) : (g14x))

/*
 * What is not in all versions is asserted in an #if, with 0 for the versions that it
 * leaves out. So is what differs between G13 and G14G, once for each.
 */
#define ASAHI_ASSERT_SIZE(type, v12, v13, g14x)					\
	static_assert(sizeof(struct type) == ASAHI_BY_ABI(v12, v13, g14x))
#define ASAHI_ASSERT_OFFSET(type, member, v12, v13, g14x)			\
	static_assert(offsetof(struct type, member) == ASAHI_BY_ABI(v12, v13, g14x))

#endif
