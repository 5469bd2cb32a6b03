/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Attachments: memory that a command writes, of which the firmware is told.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_ATTACHMENTS_H
#define ASAHI_ATTACHMENTS_H

#include <linux/types.h>

#include "asahi_drv.h"

struct asahi_fw_attachments;

/**
 * struct asahi_attachment - memory that a command writes
 * @address: GPU address; not 0
 * @lines: size in lines of 128 bytes; not 0
 */
struct asahi_attachment {
	u64 address;
	u32 lines;
};

/**
 * struct asahi_attachments - the attachments of a command
 * @list: the attachments
 * @count: entries of @list
 */
struct asahi_attachments {
	struct asahi_attachment list[ASAHI_MAX_ATTACHMENTS];
	unsigned int count;
};

void asahi_attachments_fill(struct asahi_fw_attachments *fw,
			    const struct asahi_attachments *attachments);

#endif
