// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#define ASAHI_ABI_VERSION	ASAHI_V13_5
#define ASAHI_ABI_GEN		ASAHI_G13
#define LAYOUT_NAME		layout_g13_13_5
#define LAYOUT_TITLE		"G13 13.5"
#define LAYOUT_ABI		FW_ABI_13_5

#include "layout_tmpl.h"
