/* SPDX-License-Identifier: MIT */
/*
 * Messages between host and GPU firmware over RTKit's endpoints.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef AGX_RTKIT_H
#define AGX_RTKIT_H

#define AGX_EP_FIRMWARE			0x20
#define AGX_EP_DOORBELL			0x21

#define AGX_MSG_TYPE_SHIFT		48
#define AGX_MSG_TYPE_MASK		(0xffULL << AGX_MSG_TYPE_SHIFT)

/* Firmware to host, on AGX_EP_FIRMWARE: receive rings have news. */
#define AGX_MSG_NOTIFY			(0x42ULL << AGX_MSG_TYPE_SHIFT)

/* Host to firmware, on AGX_EP_FIRMWARE: address of InitData. */
#define AGX_MSG_INIT			(0x81ULL << AGX_MSG_TYPE_SHIFT)
#define AGX_MSG_INIT_ADDR_MASK		0xfffffffffffULL

/* Host to firmware, on AGX_EP_DOORBELL: a transmit ring has news. */
#define AGX_MSG_DOORBELL		(0x83ULL << AGX_MSG_TYPE_SHIFT)
#define AGX_MSG_DOORBELL_CHANNEL_MASK	0xffULL
#define AGX_DOORBELL_PIPE_MASK		0x3	/* [1:0] of a work pipe's channel */
#define AGX_DOORBELL_PRIORITY_SHIFT	2	/* [3:2] of a work pipe's channel */
#define AGX_DOORBELL_KICK		0x10
#define AGX_DOORBELL_DEVICE_CONTROL	0x11

/* Host to firmware, on AGX_EP_DOORBELL: the firmware control ring has news. */
#define AGX_MSG_FWCTL			(0x84ULL << AGX_MSG_TYPE_SHIFT)

/* Work pipes: three kinds, four priorities (0 is the highest). */
#define AGX_PIPE_VERTEX			0
#define AGX_PIPE_FRAGMENT		1
#define AGX_PIPE_COMPUTE		2
#define AGX_PIPE_COUNT			3
#define AGX_PRIORITY_COUNT		4

#endif
