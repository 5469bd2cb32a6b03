// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Firmware interface 13.5 on G14G.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#define ASAHI_ABI_VERSION	ASAHI_V13_5
#define ASAHI_ABI_GEN		ASAHI_G14G

#include "asahi_abi_tmpl.h"

const struct asahi_abi asahi_abi_g14g_13_5 = ASAHI_ABI_OPERATIONS;
