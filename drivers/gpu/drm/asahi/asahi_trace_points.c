// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tracepoints: their one definition.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/module.h>

#ifndef __CHECKER__
#define CREATE_TRACE_POINTS
#include "asahi_trace.h"
#endif
