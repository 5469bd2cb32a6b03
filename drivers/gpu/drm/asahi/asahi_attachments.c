// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Attachments: memory that a command writes, of which the firmware is told.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/build_bug.h>
#include <linux/limits.h>
#include <linux/string.h>

#include <drm/asahi_drm.h>

#include "asahi_attachments.h"
#include "asahi_fw_microseq.h"

static_assert(ASAHI_FW_ATTACHMENTS == ASAHI_MAX_ATTACHMENTS);

/* The firmware counts lines. */
#define ASAHI_ATTACHMENTS_LINE 128

static struct drm_asahi_attachment
asahi_attachments_get(const struct asahi_attachments *attachments, unsigned int index)
{
	struct drm_asahi_attachment att;

	memcpy(&att, attachments->list + index * sizeof(att), sizeof(att));

	return att;
}

static u64 asahi_attachments_lines(const struct drm_asahi_attachment *att)
{
	return att->size / ASAHI_ATTACHMENTS_LINE + !!(att->size % ASAHI_ATTACHMENTS_LINE);
}

/* A hint of nothing is none: the firmware expects memory. */
static bool asahi_attachments_is_told(const struct drm_asahi_attachment *att)
{
	return att->pointer && att->size;
}

/**
 * asahi_attachments_check() - can the firmware be told of this?
 * @attachments: what a client says, without @attachments.told, which this counts
 *
 * Return: true if it can.
 */
bool asahi_attachments_check(struct asahi_attachments *attachments)
{
	attachments->told = 0;
	for (unsigned int i = 0; i < attachments->count; i++) {
		struct drm_asahi_attachment att = asahi_attachments_get(attachments, i);

		if (att.pad || att.flags || asahi_attachments_lines(&att) > U32_MAX)
			return false;
		attachments->told += asahi_attachments_is_told(&att);
	}

	return true;
}

/**
 * asahi_attachments_fill() - tell the firmware of memory that work writes
 * @fw: the firmware's list, zeroed
 * @attachments: the memory, checked
 */
void asahi_attachments_fill(struct asahi_fw_attachments *fw,
			    const struct asahi_attachments *attachments)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < attachments->count; i++) {
		struct drm_asahi_attachment att = asahi_attachments_get(attachments, i);

		if (!asahi_attachments_is_told(&att))
			continue;

		fw->list[count].address = cpu_to_le64(att.pointer);
		fw->list[count].size = cpu_to_le32(asahi_attachments_lines(&att));
		fw->list[count].unk_c = cpu_to_le16(0x17);
		fw->list[count].unk_e = cpu_to_le16(1);
		count++;
	}
	fw->count = cpu_to_le32(count);
}
