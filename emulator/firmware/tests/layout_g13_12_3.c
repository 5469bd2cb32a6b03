// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#define ASAHI_ABI_VERSION	ASAHI_V12_3
#define ASAHI_ABI_GEN		ASAHI_G13
#define LAYOUT_NAME		layout_g13_12_3
#define LAYOUT_TITLE		"G13 12.3"
#define LAYOUT_ABI		FW_ABI_12_3

#include "layout_tmpl.h"
