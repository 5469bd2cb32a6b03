// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Counts of live objects.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/visibility.h>

#include <linux/debugfs.h>
#include <linux/export.h>
#include <linux/seq_file.h>

#include "asahi_debugfs.h"
#include "asahi_stage.h"

atomic_t asahi_counts[ASAHI_COUNT_NUM];
EXPORT_SYMBOL_IF_KUNIT(asahi_counts);

static const char * const asahi_debugfs_names[ASAHI_COUNT_NUM] = {
	[ASAHI_COUNT_DEVICE] = "devices",
	[ASAHI_COUNT_FILE] = "files",
	[ASAHI_COUNT_CLIENT] = "clients",
	[ASAHI_COUNT_VM] = "vms",
	[ASAHI_COUNT_GEM] = "gem-objects",
	[ASAHI_COUNT_TIMESTAMPS] = "timestamp-objects",
	[ASAHI_COUNT_QUEUE] = "queues",
	[ASAHI_COUNT_JOB] = "jobs",
	[ASAHI_COUNT_HEAP_BLOCK] = "heap-blocks",
	[ASAHI_COUNT_HEAP_NODE] = "heap-nodes",
	[ASAHI_COUNT_PGTABLE] = "page-tables",
	[ASAHI_COUNT_KERNEL_PGTABLE] = "kernel-page-tables",
	[ASAHI_COUNT_PGTABLE_BLOCK] = "page-table-blocks",
	[ASAHI_COUNT_LEAKED_BLOCK] = "leaked-blocks",
	[ASAHI_COUNT_LEAKED_PAGE] = "leaked-pages",
};

static struct dentry *asahi_debugfs_root;

static int asahi_debugfs_objects_show(struct seq_file *m, void *unused)
{
	unsigned int i;

	for (i = 0; i < ASAHI_COUNT_NUM; i++)
		seq_printf(m, "%s %d\n", asahi_debugfs_names[i], atomic_read(&asahi_counts[i]));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(asahi_debugfs_objects);

/**
 * asahi_debugfs_init() - make the module's debugfs files
 *
 * "asahi/objects" lists how many objects of each kind are alive, on all
 * devices, also those that have been unbound. "asahi/stage" has what a probe with a stage
 * has found. Process context, module load.
 */
void asahi_debugfs_init(void)
{
	asahi_debugfs_root = debugfs_create_dir("asahi", NULL);
	debugfs_create_file("objects", 0444, asahi_debugfs_root, NULL, &asahi_debugfs_objects_fops);
	asahi_stage_debugfs_init(asahi_debugfs_root);
}

/**
 * asahi_debugfs_fini() - remove the module's debugfs files
 *
 * Process context, module unload.
 */
void asahi_debugfs_fini(void)
{
	debugfs_remove(asahi_debugfs_root);
}
