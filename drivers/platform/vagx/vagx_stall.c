// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tracepoints of the driver that take their time
 *
 * What races with the way of a job does so between two of its steps, which are microseconds
 * apart. This stretches one of them: whoever passes the tracepoint that is named in the
 * parameter "point" stays there for "ms" milliseconds, with preemption off as at any
 * tracepoint. For tests; load it before asahi or after.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/notifier.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

/* Longer ones look like a processor that has locked up. */
#define VAGX_STALL_MAX_MS	1000

/* Tracepoints that asahi may have. */
#define VAGX_STALL_POINTS	64

static char vagx_stall_point[32];
module_param_string(point, vagx_stall_point, sizeof(vagx_stall_point), 0600);
MODULE_PARM_DESC(point, "tracepoint of asahi's that takes time; a star for none");

static unsigned int vagx_stall_ms;
module_param_named(ms, vagx_stall_ms, uint, 0600);
MODULE_PARM_DESC(ms, "how long it takes, in milliseconds");

static atomic_t vagx_stall_count;

static int vagx_stall_get_count(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%d\n", atomic_read(&vagx_stall_count));
}

static const struct kernel_param_ops vagx_stall_count_ops = {
	.get = vagx_stall_get_count,
};

module_param_cb(count, &vagx_stall_count_ops, NULL, 0400);
MODULE_PARM_DESC(count, "how often one has taken time");

/* Tracepoints that have the probe; changes when a module comes or goes. */
static struct tracepoint *vagx_stall_with[VAGX_STALL_POINTS];

/* The arguments after the first one are the tracepoint's, and are not looked at. */
static void vagx_stall_probe(void *data)
{
	const struct tracepoint *tp = data;

	if (!sysfs_streq(vagx_stall_point, tp->name))
		return;

	mdelay(min(READ_ONCE(vagx_stall_ms), VAGX_STALL_MAX_MS));
	atomic_inc(&vagx_stall_count);
}

static void vagx_stall_add(struct module *mod)
{
	unsigned int count = min(mod->num_tracepoints, VAGX_STALL_POINTS);

	for (unsigned int i = 0; i < count; i++) {
		struct tracepoint *tp = tracepoint_ptr_deref(&mod->tracepoints_ptrs[i]);

		if (!tracepoint_probe_register(tp, vagx_stall_probe, tp))
			vagx_stall_with[i] = tp;
	}
}

static void vagx_stall_remove(void)
{
	for (unsigned int i = 0; i < VAGX_STALL_POINTS; i++) {
		if (vagx_stall_with[i])
			tracepoint_probe_unregister(vagx_stall_with[i], vagx_stall_probe,
						    vagx_stall_with[i]);
		vagx_stall_with[i] = NULL;
	}
}

static int vagx_stall_notify(struct notifier_block *nb, unsigned long state, void *data)
{
	struct tp_module *tp_mod = data;

	if (strcmp(tp_mod->mod->name, "asahi"))
		return NOTIFY_OK;

	if (state == MODULE_STATE_COMING)
		vagx_stall_add(tp_mod->mod);
	else if (state == MODULE_STATE_GOING)
		vagx_stall_remove();

	return NOTIFY_OK;
}

static struct notifier_block vagx_stall_nb = {
	.notifier_call = vagx_stall_notify,
};

static int __init vagx_stall_init(void)
{
	return register_tracepoint_module_notifier(&vagx_stall_nb);
}
module_init(vagx_stall_init);

static void __exit vagx_stall_exit(void)
{
	unregister_tracepoint_module_notifier(&vagx_stall_nb);
	vagx_stall_remove();
	tracepoint_synchronize_unregister();
}
module_exit(vagx_stall_exit);

MODULE_DESCRIPTION("Tracepoints of the asahi driver that take their time");
MODULE_AUTHOR("The asahi driver authors");
MODULE_LICENSE("Dual MIT/GPL");
