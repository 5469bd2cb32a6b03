/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Work queue and command operations of one version of the firmware's
 * interface, see asahi_abi.h.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include "asahi_workqueue_tmpl.h"
#include "asahi_microseq_tmpl.h"
#include "asahi_run_tmpl.h"
#include "asahi_compute_tmpl.h"
#include "asahi_fragment_tmpl.h"
#include "asahi_tvb_tmpl.h"
#include "asahi_vertex_tmpl.h"

static const struct asahi_job_abi asahi_job_abi = {
	.queue_info_size = sizeof(struct asahi_fw_queue_info),
	.notifier_size = sizeof(struct asahi_fw_notifier),
	.queue_info_init = asahi_workqueue_build_info,
	.notifier_init = asahi_workqueue_build_notifier,
	.tvb = {
		.info_size = sizeof(struct asahi_fw_buffer_info),
		.scene_size = sizeof(struct asahi_fw_scene),
		.has_control_word = ASAHI_ABI_GEN >= ASAHI_G14X,
		.info_init = asahi_tvb_build_info,
		.info_set_blocks = asahi_tvb_set_blocks,
		.info_print = asahi_tvb_print_info,
		.scene_init = asahi_tvb_build_scene,
		.scene_print = asahi_tvb_print_scene,
	},
	.work = {
		[AGX_PIPE_VERTEX] = {
			.run_size = sizeof(struct asahi_fw_run_vertex),
			.microseq_size = ASAHI_VERTEX_MICROSEQ_SIZE,
			.build = asahi_vertex_build,
			.patch = asahi_vertex_patch,
		},
		[AGX_PIPE_FRAGMENT] = {
			.run_size = sizeof(struct asahi_fw_run_fragment),
			.microseq_size = ASAHI_FRAGMENT_MICROSEQ_SIZE,
			.build = asahi_fragment_build,
			.patch = asahi_fragment_patch,
		},
		[AGX_PIPE_COMPUTE] = {
			.run_size = sizeof(struct asahi_fw_run_compute),
			.microseq_size = ASAHI_COMPUTE_MICROSEQ_SIZE,
			.build = asahi_compute_build,
			.patch = asahi_compute_patch,
		},
	},
};
