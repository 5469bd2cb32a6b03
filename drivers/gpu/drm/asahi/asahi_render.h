/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Render commands. Private to submission, job and work.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_RENDER_H
#define ASAHI_RENDER_H

#include <linux/types.h>

struct asahi_fw_attachments;
struct asahi_job;
struct asahi_knobs;
struct asahi_scene;
struct asahi_work;
struct asahi_work_memory;
struct asahi_command_args;
struct drm_asahi_cmd_render;

/**
 * struct asahi_render_args - what one half of a render command is built from
 * @work: its work, with memory for everything
 * @cmd: the user's description of the whole
 * @attachments: memory that this half writes, as the firmware wants it
 * @scene: memory of the render
 * @buffer_info_va: Info of the queue's vertex buffer
 * @kernel_buffer_va: the vertex buffer's memory for the firmware
 * @queue_info_va: QueueInfo of the work queue that it goes to
 * @notifier_va: the queue's notifier
 * @stats_va: the firmware's statistics of the pipe
 * @usc_exec_base: base of all shaders of the queue
 * @queue_id: identifies the queue
 * @tiling_control: setting of the tiler
 * @core_masks: which cores are there, as the registers say
 * @knobs: knobs of the device, or NULL
 */
struct asahi_render_args {
	struct asahi_work *work;
	const struct drm_asahi_cmd_render *cmd;
	const struct asahi_fw_attachments *attachments;
	const struct asahi_scene *scene;
	u64 buffer_info_va;
	u64 kernel_buffer_va;
	u64 queue_info_va;
	u64 notifier_va;
	u64 stats_va;
	u64 usc_exec_base;
	u32 queue_id;
	u32 tiling_control;
	u32 core_masks[2];
	const struct asahi_knobs *knobs;
};

const char *asahi_render_check(const struct drm_asahi_cmd_render *cmd);
void asahi_render_build(struct asahi_job *job, struct asahi_work *fragment,
			struct asahi_work *vertex, const struct asahi_command_args *command,
			const struct asahi_work_memory *place);

#endif
