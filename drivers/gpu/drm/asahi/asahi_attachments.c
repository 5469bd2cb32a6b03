// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Attachments: memory that a command writes, of which the firmware is told.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/build_bug.h>

#include "asahi_attachments.h"
#include "asahi_fw_microseq.h"

static_assert(ASAHI_FW_ATTACHMENTS == ASAHI_MAX_ATTACHMENTS);

/**
 * asahi_attachments_fill() - tell the firmware of memory that work writes
 * @fw: the firmware's list, zeroed
 * @attachments: the memory
 */
void asahi_attachments_fill(struct asahi_fw_attachments *fw,
			    const struct asahi_attachments *attachments)
{
	for (unsigned int i = 0; i < attachments->count; i++) {
		fw->list[i].address = cpu_to_le64(attachments->list[i].address);
		fw->list[i].size = cpu_to_le32(attachments->list[i].lines);
		fw->list[i].unk_c = cpu_to_le16(0x17);
		fw->list[i].unk_e = cpu_to_le16(1);
	}
	fw->count = cpu_to_le32(attachments->count);
}
