// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Stages: bringing a device up in part, and telling what was found.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/visibility.h>

#include <linux/cleanup.h>
#include <linux/compiler.h>
#include <linux/debugfs.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/seq_buf.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include <asm/byteorder.h>

#include <drm/drm_print.h>

#include <agx/agx_uat.h>

#include "asahi_device.h"
#include "asahi_handoff.h"
#include "asahi_params.h"
#include "asahi_stage.h"

/**
 * DOC: Stages
 *
 * The first boot of the driver on a machine is an experiment. The module parameter "stage"
 * makes it one in small steps:
 *
 * * 0 maps registers and regions, and reads what may be read before the coprocessor runs:
 *   its control register, the handoff region, the table of contexts, the kernel half's root;
 * * 1 starts the coprocessor, and reads the identification registers at once and again when
 *   the firmware has announced itself or a second has passed;
 * * 2 goes through the handoff and boots RTKit;
 * * 3 gives the firmware its InitData, and listens to it for a second;
 * * 4, the default, brings everything up.
 *
 * Probe stops after that stage with one line in the log, and takes down what it has brought
 * up, as when probe fails. What it has read is in "asahi/stage" in debugfs, which only root
 * may read, until the next probe with a stage or until the module goes.
 *
 * Stages 0 and 1 may be followed by any other. A firmware that has booted cannot be booted
 * again before the machine is, unless "unproven" allows it. The parameter may be written:
 * what holds the power domain cannot be unloaded, and the bus probes the device again when
 * its name is written to "drivers_probe".
 */

/* Enough for 64 contexts, two sets of registers and the lines of the log that are kept. */
#define ASAHI_STAGE_TEXT	SZ_64K

/* Of the root of the kernel half, those that may be in use: the firmware's and the host's. */
#define ASAHI_STAGE_ROOT_ENTRIES 8

/* Protects the text, which outlives the device that it is about. */
static DEFINE_MUTEX(asahi_stage_lock);
static struct seq_buf asahi_stage_text;

/**
 * asahi_stage_begin() - see how far the device is to be brought up
 * @adev: device that is being probed
 *
 * Process context. Without memory for the text there is none, and the stage is the same.
 */
void asahi_stage_begin(struct asahi_device *adev)
{
	char *text;

	adev->stage = min_t(unsigned int, READ_ONCE(asahi_stage_limit), ASAHI_STAGE_ALL);
	if (adev->stage == ASAHI_STAGE_ALL)
		return;

	guard(mutex)(&asahi_stage_lock);

	text = asahi_stage_text.buffer ?: kvmalloc(ASAHI_STAGE_TEXT, GFP_KERNEL);
	if (text)
		seq_buf_init(&asahi_stage_text, text, ASAHI_STAGE_TEXT);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_stage_begin);

static void asahi_stage_print(struct drm_printer *p, struct va_format *vaf)
{
	guard(mutex)(&asahi_stage_lock);

	if (asahi_stage_text.buffer)
		seq_buf_printf(&asahi_stage_text, "%pV", vaf);
}

static void asahi_stage_print_nothing(struct drm_printer *p, struct va_format *vaf)
{
}

/**
 * asahi_stage_printer() - where to tell what was found
 * @adev: device after asahi_stage_begin()
 *
 * Process context. What does not fit any more is left out.
 *
 * Return: a printer to the text in debugfs; one to nowhere where everything is brought up.
 */
struct drm_printer asahi_stage_printer(struct asahi_device *adev)
{
	return (struct drm_printer){
		.printfn = adev->stage == ASAHI_STAGE_ALL ? asahi_stage_print_nothing :
							    asahi_stage_print,
	};
}
EXPORT_SYMBOL_IF_KUNIT(asahi_stage_printer);

static void asahi_stage_print_handoff(const struct asahi_handoff *h, struct drm_printer *p)
{
	drm_printf(p, "handoff magic_ap %#llx magic_fw %#llx\n",
		   le64_to_cpu(READ_ONCE(h->magic_ap)), le64_to_cpu(READ_ONCE(h->magic_fw)));
	drm_printf(p, "handoff lock_ap %u lock_fw %u turn %u cur_slot %#x\n",
		   READ_ONCE(h->lock_ap), READ_ONCE(h->lock_fw), le32_to_cpu(READ_ONCE(h->turn)),
		   le32_to_cpu(READ_ONCE(h->cur_slot)));
	for (unsigned int i = 0; i < AGX_HANDOFF_FLUSH_COUNT; i++)
		if (READ_ONCE(h->flush[i].state))
			drm_printf(p, "handoff flush[%u] state %llu\n", i,
				   le64_to_cpu(READ_ONCE(h->flush[i].state)));
	drm_printf(p, "handoff unk2 %#x unk3 %#llx\n", READ_ONCE(h->unk2),
		   le64_to_cpu(READ_ONCE(h->unk3)));
}

/**
 * asahi_stage_print_regions() - print what the regions shared with the firmware hold
 * @adev: device whose regions are mapped
 * @p: where to
 *
 * Reads alone, without the handoff lock: what changes meanwhile may be printed before or
 * after the change. Process context.
 */
void asahi_stage_print_regions(struct asahi_device *adev, struct drm_printer *p)
{
	const __le64 *ttbs = adev->region[ASAHI_REGION_TTBS].map;
	const __le64 *root = adev->region[ASAHI_REGION_PAGETABLES].map;

	asahi_stage_print_handoff(adev->region[ASAHI_REGION_HANDOFF].map, p);
	for (unsigned int i = 0; i < AGX_UAT_CONTEXTS; i++)
		drm_printf(p, "ttbs[%u] %#llx %#llx\n", i, le64_to_cpu(READ_ONCE(ttbs[2 * i])),
			   le64_to_cpu(READ_ONCE(ttbs[2 * i + 1])));
	for (unsigned int i = 0; i < ASAHI_STAGE_ROOT_ENTRIES; i++)
		drm_printf(p, "root[%u] %#llx\n", i, le64_to_cpu(READ_ONCE(root[i])));
}

/**
 * asahi_stage_end() - a stage is complete
 * @adev: device that is being probed, or whose firmware starts again
 * @stage: which stage
 * @found: for the log, the end of a sentence
 *
 * Process context.
 *
 * Return: 0 to go on, -ECANCELED to leave.
 */
int asahi_stage_end(struct asahi_device *adev, enum asahi_stage stage, const char *found)
{
	if (stage != adev->stage)
		return 0;

	drm_info(&adev->drm, "stopped after stage %u of %u, as asked: %s\n", stage,
		 ASAHI_STAGE_ALL, found);
	return -ECANCELED;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_stage_end);

static int asahi_stage_show(struct seq_file *m, void *unused)
{
	guard(mutex)(&asahi_stage_lock);

	if (!asahi_stage_text.buffer)
		return 0;

	seq_write(m, asahi_stage_text.buffer, seq_buf_used(&asahi_stage_text));
	if (seq_buf_has_overflowed(&asahi_stage_text))
		seq_puts(m, "\n(the rest did not fit)\n");
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(asahi_stage);

/**
 * asahi_stage_debugfs_init() - make the file that has the text
 * @root: the module's folder in debugfs
 *
 * Process context, module load.
 */
void asahi_stage_debugfs_init(struct dentry *root)
{
	debugfs_create_file("stage", 0400, root, NULL, &asahi_stage_fops);
}

/**
 * asahi_stage_module_exit() - free the text
 *
 * Process context, module unload, when its file and all devices are gone.
 */
void asahi_stage_module_exit(void)
{
	kvfree(asahi_stage_text.buffer);
}
