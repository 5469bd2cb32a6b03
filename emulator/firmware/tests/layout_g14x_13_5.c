// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#define ASAHI_ABI_VERSION	ASAHI_V13_5
#define ASAHI_ABI_GEN		ASAHI_G14X
#define LAYOUT_NAME		layout_g14x_13_5
#define LAYOUT_TITLE		"G14X 13.5"
#define LAYOUT_ABI		FW_ABI_13_5_G14X

#include "layout_tmpl.h"
