// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Which versions of the firmware's interface there are.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/visibility.h>

#include <linux/array_size.h>
#include <linux/export.h>

#include "asahi_abi.h"

static const struct {
	u32 major;
	u32 minor;
	u32 patch;
	enum asahi_gen gen;
	const struct asahi_abi *abi;
} versions[] = {
	{ 12, 3, 0, ASAHI_GEN_G13, &asahi_abi_g13_12_3 },
	{ 12, 4, 0, ASAHI_GEN_G14G, &asahi_abi_g14g_12_4 },
	{ 13, 5, 0, ASAHI_GEN_G13, &asahi_abi_g13_13_5 },
	{ 13, 5, 0, ASAHI_GEN_G14G, &asahi_abi_g14g_13_5 },
	{ 13, 5, 0, ASAHI_GEN_G14X, &asahi_abi_g14x_13_5 },
};

/**
 * asahi_abi_select() - find the operations for a version
 * @version: the three cells of "apple,firmware-abi"
 * @gen: GPU generation
 *
 * Any context.
 *
 * Return: the operations, or NULL if that version is not known on that
 * generation.
 */
const struct asahi_abi *asahi_abi_select(const u32 version[3], enum asahi_gen gen)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(versions); i++) {
		if (versions[i].major == version[0] && versions[i].minor == version[1] &&
		    versions[i].patch == version[2] && versions[i].gen == gen)
			return versions[i].abi;
	}

	return NULL;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_abi_select);
