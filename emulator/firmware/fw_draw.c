// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#include "../draw.h"
#include "fw_internal.h"

uint64_t fw_draw(const struct vagx_firmware *fw, enum fw_draw purpose, uint64_t a, uint64_t b)
{
	return vagx_draw(fw->config.seed, purpose, a, b);
}
