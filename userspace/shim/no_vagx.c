// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Takes the place of vagx.c where the emulator is not built.
 */
#include <errno.h>

#include "shim.h"

int shim_vagx_start(void)
{
	fprintf(stderr, "asahi_shim: built without the emulator: there is no backend vagx\n");
	return ENODEV;
}

void shim_vagx_forget(void)
{
}
