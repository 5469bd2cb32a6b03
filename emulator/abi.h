/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_ABI_H
#define VAGX_ABI_H

/* The versions of the firmware's interface: columns of all tables of them */
enum fw_abi {
	FW_ABI_12_3,
	FW_ABI_12_4,
	FW_ABI_13_5,
	FW_ABI_13_5_G14,
	FW_ABI_13_5_G14X,
	FW_ABI_COUNT
};

#endif
