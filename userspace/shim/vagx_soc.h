/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef SHIM_VAGX_SOC_H
#define SHIM_VAGX_SOC_H

#include "soc.h"

/*
 * Finds the SoC that the environment names and fills GET_PARAMS in for it, before the first
 * client asks. Return: the SoC, or NULL after a message.
 */
const struct vagx_soc *shim_vagx_soc(void);

#endif /* SHIM_VAGX_SOC_H */
