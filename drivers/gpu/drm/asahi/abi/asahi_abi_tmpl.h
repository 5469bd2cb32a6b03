/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * All operations of one version of the firmware's interface. Each asahi_abi_*.c
 * says which version that is, includes this, and exports ASAHI_ABI_OPERATIONS.
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

#include "asahi_channel_tmpl.h"
#include "asahi_initdata_tmpl.h"
#include "asahi_job_tmpl.h"

#define ASAHI_ABI_OPERATIONS {			\
	.initdata = &asahi_initdata_abi,	\
	.channel = &asahi_channel_abi,		\
	.job = &asahi_job_abi,			\
}
