// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#define ASAHI_ABI_VERSION	ASAHI_V13_5
#define ASAHI_ABI_GEN		ASAHI_G14G
#define LAYOUT_NAME		layout_g14g_13_5
#define LAYOUT_TITLE		"G14G 13.5"
#define LAYOUT_ABI		FW_ABI_13_5_G14

#include "layout_tmpl.h"
