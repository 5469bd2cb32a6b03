// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * KUnit tests of the asahi driver.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/module.h>

MODULE_AUTHOR("The asahi driver authors");
MODULE_DESCRIPTION("KUnit tests for Apple AGX GPUs");
MODULE_LICENSE("Dual MIT/GPL");
MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING");
