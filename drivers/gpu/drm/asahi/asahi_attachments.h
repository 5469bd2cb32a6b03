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
 * struct asahi_attachments - the attachments of a command
 * @list: array of struct drm_asahi_attachment, checked, in the copy of the user's commands; not
 *	aligned
 * @count: entries of @list, ASAHI_MAX_ATTACHMENTS at most
 * @told: of how many of them the firmware is told: not of hints of nothing
 */
struct asahi_attachments {
	const void *list;
	unsigned int count;
	unsigned int told;
};

bool asahi_attachments_check(struct asahi_attachments *attachments);
void asahi_attachments_fill(struct asahi_fw_attachments *fw,
			    const struct asahi_attachments *attachments);

#endif
