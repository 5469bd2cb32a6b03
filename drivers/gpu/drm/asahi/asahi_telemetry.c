// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Telemetry: what the firmware tells of itself, understood or not.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/visibility.h>

#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include <drm/drm_debugfs.h>
#include <drm/drm_print.h>

#include "asahi_block.h"
#include "asahi_device.h"
#include "asahi_telemetry.h"

/**
 * DOC: Unknown messages
 *
 * The references name some of the messages that the firmware sends, and firmware on machines
 * may send others. The driver skips what it does not understand, and counts it by source and
 * type. The first message of each source is logged. The counters take the same memory whatever
 * the firmware sends, and last until the device is gone.
 */

/**
 * struct asahi_telemetry - what the firmware has told
 * @unknown: by source, messages that the driver does not understand; each has one writer, the
 *	worker that reads the source
 */
struct asahi_telemetry {
	struct asahi_unknown unknown[ASAHI_SOURCES];
};

static const char * const asahi_telemetry_sources[ASAHI_SOURCES] = {
	[ASAHI_SOURCE_EVENT] = "event",
	[ASAHI_SOURCE_LOG] = "log",
	[ASAHI_SOURCE_LOG_TEXT] = "log-text",
	[ASAHI_SOURCE_KTRACE] = "ktrace",
	[ASAHI_SOURCE_STATS] = "statistics",
	[ASAHI_SOURCE_MAILBOX] = "mailbox",
};

/**
 * asahi_unknown_count() - count a message that is not understood
 * @unknown: counters of its source
 * @type: its type, any number
 *
 * Any context; one caller at a time for each @unknown.
 *
 * Return: true if it is the first one.
 */
bool asahi_unknown_count(struct asahi_unknown *unknown, u32 type)
{
	WRITE_ONCE(unknown->count, unknown->count + 1);
	WRITE_ONCE(unknown->last, type);
	if (type < ASAHI_UNKNOWN_TYPES)
		WRITE_ONCE(unknown->type[type], unknown->type[type] + 1);

	return unknown->count == 1;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_unknown_count);

/**
 * asahi_unknown_print() - print counters
 * @unknown: counters; may change meanwhile
 * @name: of the source
 * @p: where to
 *
 * One line: the number of messages, and if there were any, the last type, how many there were
 * of each type, and how many of types that are not counted one by one. Any context.
 */
void asahi_unknown_print(const struct asahi_unknown *unknown, const char *name,
			 struct drm_printer *p)
{
	u64 count = READ_ONCE(unknown->count), others = count;

	drm_printf(p, "%s %llu", name, count);
	if (count)
		drm_printf(p, " last %#x", READ_ONCE(unknown->last));

	for (unsigned int i = 0; i < ASAHI_UNKNOWN_TYPES; i++) {
		u64 of_type = READ_ONCE(unknown->type[i]);

		if (!of_type)
			continue;
		drm_printf(p, " %#x:%llu", i, of_type);
		others -= min(others, of_type);
	}
	if (others)
		drm_printf(p, " others:%llu", others);
	drm_puts(p, "\n");
}
EXPORT_SYMBOL_IF_KUNIT(asahi_unknown_print);

/**
 * asahi_telemetry_unknown() - the firmware has sent something that is not understood
 * @adev: device
 * @source: where it came from
 * @type: its type, any number
 *
 * Any context; one caller at a time for each source. Allocates nothing.
 */
void asahi_telemetry_unknown(struct asahi_device *adev, enum asahi_source source, u32 type)
{
	if (asahi_unknown_count(&adev->telemetry->unknown[source], type))
		drm_info(&adev->drm,
			 "the firmware has sent an unknown %s message of type %#x, counted from now on\n",
			 asahi_telemetry_sources[source], type);
}

static int asahi_telemetry_show_unknown(struct seq_file *m, void *unused)
{
	struct drm_debugfs_entry *entry = m->private;
	struct asahi_device *adev = to_asahi_device(entry->dev);
	struct drm_printer p = drm_seq_file_printer(m);

	for (unsigned int i = 0; i < ASAHI_SOURCES; i++)
		asahi_unknown_print(&adev->telemetry->unknown[i], asahi_telemetry_sources[i], &p);
	return 0;
}

/* The block. */

static int asahi_telemetry_init(struct asahi_device *adev)
{
	adev->telemetry = kzalloc_obj(*adev->telemetry);
	if (!adev->telemetry)
		return -ENOMEM;

	drm_debugfs_add_file(&adev->drm, "unknown-messages", asahi_telemetry_show_unknown, NULL);
	return 0;
}

static void asahi_telemetry_fini(struct asahi_device *adev)
{
	kfree(adev->telemetry);
	adev->telemetry = NULL;
}

const struct asahi_block asahi_block_telemetry = {
	.name = "telemetry",
	.init = asahi_telemetry_init,
	.fini = asahi_telemetry_fini,
};
