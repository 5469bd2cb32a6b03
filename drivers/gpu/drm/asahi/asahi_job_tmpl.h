/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Work queue and command operations of one version of the firmware's
 * interface, see asahi_abi.h.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include "asahi_workqueue_tmpl.h"
#include "asahi_microseq_tmpl.h"
#include "asahi_compute_tmpl.h"

static const struct asahi_job_abi asahi_job_abi = {
	.queue_info_size = sizeof(struct asahi_fw_queue_info),
	.notifier_size = sizeof(struct asahi_fw_notifier),
	.run_compute_size = sizeof(struct asahi_fw_run_compute),
	.compute_microseq_size = sizeof(struct asahi_compute_microseq),
	.queue_info_init = asahi_queue_info_init,
	.notifier_init = asahi_notifier_init,
	.compute_build = asahi_compute_build,
	.compute_patch = asahi_compute_patch,
};
