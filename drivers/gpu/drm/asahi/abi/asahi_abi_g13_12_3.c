// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Firmware interface 12.3 on G13G, G13S, G13C and G13D.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#define ASAHI_ABI_VERSION	ASAHI_V12_3
#define ASAHI_ABI_GEN		ASAHI_G13

#include "asahi_abi_tmpl.h"

const struct asahi_abi asahi_abi_g13_12_3 = ASAHI_ABI_OPERATIONS;
