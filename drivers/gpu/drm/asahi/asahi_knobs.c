// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Knobs: words for the firmware that can be changed for an experiment.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/visibility.h>

#include <linux/debugfs.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/fs.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <drm/drm_print.h>

#include "asahi_block.h"
#include "asahi_device.h"
#include "asahi_knobs.h"
#include "asahi_params.h"

/**
 * DOC: Knobs
 *
 * Some words that the driver writes for the firmware have no known meaning, and the references
 * differ in them. The driver does what the Rust driver does, which has run on all machines. The
 * file "knobs" in debugfs changes such a word for an experiment. Nothing but root may open it.
 *
 * There is a knob only where the worst that follows is a job that is lost, or late. A value
 * that no reference writes needs the module parameter "unproven" with the name "knobs". A knob
 * lasts until it is set again, or until the driver is unbound.
 */

/* Text of a line that is written, with its end. */
#define ASAHI_KNOBS_TEXT	64

/**
 * struct asahi_knob_rule - a knob
 * @name: for the file
 * @field: what it changes, by the names of the structures in abi/
 * @usual: the value without it
 * @least: least value
 * @most: highest one
 * @tried: values that a reference writes on machines
 * @why: what the references do, and from when on it counts
 */
struct asahi_knob_rule {
	const char *name;
	const char *field;
	const char *usual;
	u64 least;
	u64 most;
	u64 tried[2];
	const char *why;
};

/* The table of debugging.rst has the same rows. */
static const struct asahi_knob_rule asahi_knob_rules[ASAHI_KNOBS] = {
	[ASAHI_KNOB_FLUSH_STAMPS] = {
		"flush-stamps", "job_meta.flush_stamps", "0", 0, 7, { 0, 2 },
		"a bit for each pipe: 1 vertex, 2 fragment, 4 compute; m1n1 sets that of fragment; for new jobs",
	},
	[ASAHI_KNOB_UNK_290] = {
		"unk-290", "fragment_params3.unk_290", "0 on G13, 0x4040404 on G14", 0, U32_MAX,
		{ 0, 0x4040404 }, "m1n1 writes 0x4040404 for all firmware of 13.5; for new jobs",
	},
	[ASAHI_KNOB_PREEMPT1] = {
		"preempt1-scale", "compute_params1.preempt_buf2 to 5", "1", 1, 8, { 1, 1 },
		"the first preemption buffer of compute work is so many times as large, since the size is a guess on T8112 and T6022; for new jobs",
	},
	[ASAHI_KNOB_EVENTS] = {
		"oldest-event", "threshold.value", "0, or 1 with unproven=events", 0, 1, { 0, 0 },
		"1: the threshold counts no further than the oldest job in flight, and the timer that looks for the others backs off; for new queues",
	},
};

/**
 * asahi_knobs_init() - set all knobs to what the driver does
 * @knobs: knobs
 *
 * Any context.
 */
void asahi_knobs_init(struct asahi_knobs *knobs)
{
	for (unsigned int i = 0; i < ASAHI_KNOBS; i++)
		knobs->value[i] = ASAHI_KNOB_DEFAULT;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_knobs_init);

static int asahi_knobs_find(const char *name)
{
	for (unsigned int i = 0; i < ASAHI_KNOBS; i++)
		if (!strcmp(name, asahi_knob_rules[i].name))
			return i;

	return -EINVAL;
}

static int asahi_knobs_parse(const struct asahi_knob_rule *rule, const char *text, u64 *value)
{
	int ret;

	if (!strcmp(text, "default")) {
		*value = ASAHI_KNOB_DEFAULT;
		return 0;
	}

	ret = kstrtou64(text, 0, value);
	if (ret)
		return ret;
	if (*value < rule->least || *value > rule->most)
		return -ERANGE;
	if (*value != rule->tried[0] && *value != rule->tried[1] &&
	    !asahi_allows(ASAHI_UNPROVEN_KNOBS))
		return -EPERM;

	return 0;
}

/**
 * asahi_knobs_turn() - set a knob
 * @knobs: knobs
 * @text: name and value with a space between them, the value a number or "default"; is changed
 *
 * Process context.
 *
 * Return: 0; -EINVAL if the name is unknown or the value is no number; -ERANGE if it is too
 * small or too large; -EPERM if no reference writes it and the user has not allowed that.
 */
int asahi_knobs_turn(struct asahi_knobs *knobs, char *text)
{
	char *rest = strim(text);
	const char *name = strsep(&rest, " ");
	int i = asahi_knobs_find(name);
	u64 value;
	int ret;

	if (i < 0 || !rest)
		return -EINVAL;

	ret = asahi_knobs_parse(&asahi_knob_rules[i], skip_spaces(rest), &value);
	if (!ret)
		WRITE_ONCE(knobs->value[i], value);

	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_knobs_turn);

/**
 * asahi_knobs_print() - print all knobs
 * @knobs: knobs
 * @p: where to
 *
 * Any context.
 */
void asahi_knobs_print(const struct asahi_knobs *knobs, struct drm_printer *p)
{
	for (unsigned int i = 0; i < ASAHI_KNOBS; i++) {
		const struct asahi_knob_rule *rule = &asahi_knob_rules[i];
		u64 value = READ_ONCE(knobs->value[i]);

		if (value == ASAHI_KNOB_DEFAULT)
			drm_printf(p, "%s default (%s)", rule->name, rule->usual);
		else
			drm_printf(p, "%s %#llx", rule->name, value);
		drm_printf(p, ", %#llx to %#llx, %s: %s\n", rule->least, rule->most, rule->field,
			   rule->why);
	}
}
EXPORT_SYMBOL_IF_KUNIT(asahi_knobs_print);

static int asahi_knobs_show(struct seq_file *m, void *unused)
{
	struct asahi_device *adev = m->private;
	struct drm_printer p = drm_seq_file_printer(m);

	asahi_knobs_print(adev->knobs, &p);
	return 0;
}

static int asahi_knobs_open(struct inode *inode, struct file *file)
{
	return single_open(file, asahi_knobs_show, inode->i_private);
}

static ssize_t asahi_knobs_write(struct file *file, const char __user *data, size_t size,
				 loff_t *offset)
{
	struct seq_file *m = file->private_data;
	struct asahi_device *adev = m->private;
	char text[ASAHI_KNOBS_TEXT];
	int ret;

	if (size >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, data, size))
		return -EFAULT;
	text[size] = '\0';

	ret = asahi_knobs_turn(adev->knobs, text);
	if (ret)
		return ret;

	/* What is left of the text is the name. */
	drm_info(&adev->drm, "knob %s was turned\n", skip_spaces(text));
	return size;
}

static const struct file_operations asahi_knobs_fops = {
	.owner = THIS_MODULE,
	.open = asahi_knobs_open,
	.read = seq_read,
	.write = asahi_knobs_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static int asahi_knobs_block_init(struct asahi_device *adev)
{
	adev->knobs = kmalloc_obj(*adev->knobs);
	if (!adev->knobs)
		return -ENOMEM;

	asahi_knobs_init(adev->knobs);
	debugfs_create_file("knobs", 0600, adev->drm.debugfs_root, adev, &asahi_knobs_fops);
	return 0;
}

static void asahi_knobs_fini(struct asahi_device *adev)
{
	kfree(adev->knobs);
	adev->knobs = NULL;
}

const struct asahi_block asahi_block_knobs = {
	.name = "knobs",
	.init = asahi_knobs_block_init,
	.fini = asahi_knobs_fini,
};
