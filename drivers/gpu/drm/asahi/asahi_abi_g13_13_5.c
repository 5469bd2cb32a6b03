// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Firmware interface 13.5 on G13G, G13S, G13C and G13D.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/stddef.h>
#include <linux/string.h>

#include <asm/byteorder.h>

#include <agx/agx_rtkit.h>
#include <agx/agx_uat.h>

#include "asahi_abi.h"
#include "asahi_channel.h"
#include "asahi_device.h"
#include "asahi_fw_common.h"
#include "asahi_hw.h"
#include "asahi_initdata.h"

#define ASAHI_ABI_VERSION	ASAHI_V13_5
#define ASAHI_ABI_GEN		ASAHI_G13

#include "asahi_channel_tmpl.h"
#include "asahi_initdata_tmpl.h"
#include "asahi_job_tmpl.h"

const struct asahi_abi asahi_abi_g13_13_5 = {
	.initdata = &asahi_initdata_abi,
	.channel = &asahi_channel_abi,
	.job = &asahi_job_abi,
};
