// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Rest: what holds of a device that has nothing to do.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/export.h>
#include <linux/stdarg.h>

#include <kunit/visibility.h>

#include <drm/drm_print.h>

#include "asahi_rest.h"

/**
 * DOC: Rest
 *
 * Much of what a device holds belongs to a job, a queue or a client: reservations,
 * slots, stamps, memory. An error path that does not give one back does no harm that
 * anybody sees, until there is none left. So each block has a verb that says whether it
 * is at rest. With CONFIG_DRM_ASAHI_DEBUG it is called where the answer is known: after
 * suspend, resume and reset, before unplug, when the last reference to the device is gone, and
 * whenever somebody reads "at-rest" in debugfs. What is not as it has to be gets a line that
 * begins with "not at rest" in the kernel's log, or a line of that file.
 *
 * **Levels** say what is known. Of a device that sleeps, jobs may wait in the
 * schedulers, but none is in flight. Of one that nobody has open, all of clients is
 * gone. A device that is at work has to have all workers running that sleep and reset
 * stop.
 *
 * **Nothing is waited for.** What workers do shortly after the last job, such as freeing
 * its memory, is asked for by debugfs only: whoever reads that looks again.
 */

/**
 * asahi_rest_broken() - print a line about what is not as it has to be
 * @rest: the look
 * @fmt: format, without a line's end
 *
 * Any context that @rest's printer allows.
 */
void asahi_rest_broken(struct asahi_rest *rest, const char *fmt, ...)
{
	struct va_format vaf;
	va_list args;

	va_start(args, fmt);
	vaf.fmt = fmt;
	vaf.va = &args;
	drm_printf(rest->p, "%s: %pV\n", rest->name, &vaf);
	va_end(args);
	rest->broken++;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_rest_broken);
