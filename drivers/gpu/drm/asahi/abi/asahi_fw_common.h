/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Firmware structures: versions, and what all of them share.
 *
 * The asahi_fw_*.h files include nothing but linux/types.h. Those whose
 * layout depends on the version expect ASAHI_ABI_VERSION and ASAHI_ABI_GEN to
 * be defined as one of the numbers below, and may be included once per
 * translation unit.
 *
 * Fields are named after what they are known to do, unknown ones unk_<offset>
 * where the offset is that of the oldest version (12.3), in hexadecimal.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_FW_COMMON_H
#define ASAHI_FW_COMMON_H

#include <linux/types.h>

#define ASAHI_V12_3	0x0c03
#define ASAHI_V12_4	0x0c04
#define ASAHI_V13_5	0x0d05

#define ASAHI_G13	13
#define ASAHI_G14G	14
#define ASAHI_G14X	15

#endif
