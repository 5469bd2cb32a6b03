// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Firmware interface 13.5 on G13G, G13S, G13C and G13D.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#define ASAHI_ABI_VERSION	ASAHI_V13_5
#define ASAHI_ABI_GEN		ASAHI_G13

#include "asahi_abi_tmpl.h"

const struct asahi_abi asahi_abi_g13_13_5 = ASAHI_ABI_OPERATIONS;
