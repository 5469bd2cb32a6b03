// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#define ASAHI_ABI_VERSION	ASAHI_V12_4
#define ASAHI_ABI_GEN		ASAHI_G14G
#define LAYOUT_NAME		layout_g14g_12_4
#define LAYOUT_TITLE		"G14G 12.4"
#define LAYOUT_ABI		FW_ABI_12_4

#include "layout_tmpl.h"
