/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
/*
 * The driver's structures, compiled for one ABI: LAYOUT_NAME, LAYOUT_ABI,
 * ASAHI_ABI_VERSION and ASAHI_ABI_GEN are defined by the file that includes
 * this.
 */
#define __packed __attribute__((packed))

#include <linux/types.h>

#include "asahi_fw_common.h"
#include "asahi_fw_buffer.h"
#include "asahi_fw_channels.h"
#include "asahi_fw_compute.h"
#include "asahi_fw_event.h"
#include "asahi_fw_fragment.h"
#include "asahi_fw_initdata.h"
#include "asahi_fw_microseq.h"
#include "asahi_fw_vertex.h"
#include "asahi_fw_workqueue.h"

#include "layout.h"

#define LAYOUT_MEMBER(is, driver, member)					\
	{									\
		.kind = LAYOUT_IS_##is,						\
		.name = #driver "." #member,					\
		.offset = offsetof(struct asahi_fw_##driver, member),		\
		.size = sizeof(((struct asahi_fw_##driver *)0)->member),	\
	},

#define LAYOUT_GROUP(driver, structure, coverage_)				\
	{									\
		.kind = LAYOUT_IS_GROUP,					\
		.name = #driver,						\
		.size = sizeof(struct asahi_fw_##driver),			\
		.id = FW_S_##structure,						\
		.coverage = LAYOUT_##coverage_,					\
	},
#define LAYOUT_SPAN() { .kind = LAYOUT_IS_SPAN },
#define LAYOUT_D(driver, member) LAYOUT_MEMBER(DRIVER, driver, member)
#define LAYOUT_PAD(driver, member) LAYOUT_MEMBER(PAD, driver, member)
#define LAYOUT_T(structure, field)						\
	{									\
		.kind = LAYOUT_IS_TABLE,					\
		.name = #structure "." #field,					\
		.id = FW_##structure##_##field,					\
	},
#define LAYOUT(driver, member, structure, field)				\
	LAYOUT_SPAN()								\
	LAYOUT_D(driver, member)						\
	LAYOUT_T(structure, field)
#define LAYOUT_START(driver, member, structure, field)				\
	{ .kind = LAYOUT_IS_START },						\
	LAYOUT_D(driver, member)						\
	LAYOUT_T(structure, field)

#define LAYOUT_INNER(driver, outer)
#define LAYOUT_NONE(driver, why)

static const struct layout_item layout_items[] = {
#include "layout.def"
#include "layout_render.def"
};

const struct layout LAYOUT_NAME = {
	.name = LAYOUT_TITLE,
	.abi = LAYOUT_ABI,
	.items = layout_items,
	.count = sizeof(layout_items) / sizeof(layout_items[0]),
	.hwdata_a_size = ASAHI_FW_HWDATA_A_SIZE,
};
