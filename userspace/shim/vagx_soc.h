/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef SHIM_VAGX_SOC_H
#define SHIM_VAGX_SOC_H

#include "soc.h"

/* Has GET_PARAMS say what the environment's SoC is. Return: it, or NULL after a message. */
const struct vagx_soc *shim_vagx_soc(void);

#endif /* SHIM_VAGX_SOC_H */
