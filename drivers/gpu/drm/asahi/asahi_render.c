// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Render commands.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/visibility.h>

#include <drm/asahi_drm.h>

#include <agx/agx_rtkit.h>

#include "asahi_abi.h"
#include "asahi_device.h"
#include "asahi_fw_microseq.h"
#include "asahi_hw.h"
#include "asahi_initdata.h"
#include "asahi_job.h"
#include "asahi_queue_priv.h"
#include "asahi_render.h"
#include "asahi_scene.h"
#include "asahi_tvb.h"
#include "asahi_work.h"

/**
 * DOC: Render commands
 *
 * A render command is two pieces of work: *vertex work* runs vertex shaders and
 * sorts their primitives into tiles, *fragment work* draws tile after tile. Each has
 * its ring, its stamp, its times and its attachments. In the fragment ring there is
 * a barrier on the stamp of the vertex work; so the fragment work of one render and
 * the vertex work of the next run side by side. A client's barrier waits for the
 * fragment work of earlier renders, and holds the vertex work back, so both halves.
 *
 * The firmware is told of fragment work first. The vertex work names its stamp.
 * When the vertex buffer is full, the firmware has fragment work draw the scene so
 * far (a partial render), with programs of the command for that purpose, and goes
 * on. The driver has no part in this.
 *
 * **Checks.** The driver checks values that it calculates with, and values that do
 * not fit into the hardware. It hands registers on as they are, those of compute
 * commands and attachments, too. It does not check addresses, because the page tables
 * are the boundary: strides, layers, control streams and descriptors lead to any other
 * address, and shaders calculate theirs. In most GPUs a context has nothing but the
 * VM. On G14X the kernel's half is in each of them, and gives the GPU no more than
 * all clients may have.
 */

#define ASAHI_RENDER_FLAGS (DRM_ASAHI_RENDER_VERTEX_SCRATCH |			\
			    DRM_ASAHI_RENDER_PROCESS_EMPTY_TILES |		\
			    DRM_ASAHI_RENDER_NO_VERTEX_CLUSTERING |		\
			    DRM_ASAHI_RENDER_DBIAS_IS_INT)

#define ASAHI_RENDER_MAX_SIZE		16384
#define ASAHI_RENDER_MAX_LAYERS		2048
/* What a tile may take of the tilebuffer is less than this. */
#define ASAHI_RENDER_TILEBUFFER		32768

/* Keeps vertex work on one cluster. */
#define ASAHI_RENDER_TILING_ONE_CLUSTER	1

static bool asahi_render_utile_ok(const struct drm_asahi_cmd_render *cmd)
{
	return (cmd->utile_width_px == 32 && cmd->utile_height_px == 32) ||
	       (cmd->utile_width_px == 32 && cmd->utile_height_px == 16) ||
	       (cmd->utile_width_px == 16 && cmd->utile_height_px == 16);
}

static bool asahi_render_fits_tilebuffer(const struct drm_asahi_cmd_render *cmd)
{
	u32 samples = cmd->utile_width_px * cmd->utile_height_px * cmd->samples;

	return samples * cmd->sample_size_B < ASAHI_RENDER_TILEBUFFER;
}

/**
 * asahi_render_check() - check a command of the user's
 * @cmd: command
 *
 * Not its timestamps. Any context.
 *
 * Return: NULL, or what is wrong.
 */
const char *asahi_render_check(const struct drm_asahi_cmd_render *cmd)
{
	if (cmd->flags & ~ASAHI_RENDER_FLAGS)
		return "unknown flags";
	if (!cmd->width_px || cmd->width_px > ASAHI_RENDER_MAX_SIZE)
		return "width";
	if (!cmd->height_px || cmd->height_px > ASAHI_RENDER_MAX_SIZE)
		return "height";
	if (!cmd->layers || cmd->layers > ASAHI_RENDER_MAX_LAYERS)
		return "layers";
	if (!asahi_render_utile_ok(cmd))
		return "size of the tilebuffer's tiles";
	if (cmd->samples != 1 && cmd->samples != 2 && cmd->samples != 4)
		return "samples";
	if (!asahi_render_fits_tilebuffer(cmd))
		return "tilebuffer";

	return NULL;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_render_check);

static void asahi_render_build_half(const struct asahi_job *job,
				    const struct asahi_render_args *common,
				    struct asahi_work *work,
				    const struct asahi_command_args *command,
				    void (*build)(const struct asahi_render_args *args))
{
	const struct asahi_queue *queue = job->queue;
	struct asahi_fw_attachments attachments = {};
	struct asahi_render_args args = *common;

	asahi_attachments_fill(&attachments, &command->stage[work->pipe].attachments);
	args.work = work;
	args.attachments = &attachments;
	args.queue_info_va = queue->pipes.wq[work->pipe].info.va;
	args.stats_va = asahi_initdata_stats_va(queue->adev, work->pipe);
	build(&args);
}

/**
 * asahi_render_build() - build both halves of a render command
 * @job: job with memory, also for the vertex buffer
 * @fragment: fragment work, with memory
 * @vertex: vertex work, likewise
 * @command: command, checked
 * @place: where the memory of the scene begins
 *
 * Process context.
 */
void asahi_render_build(struct asahi_job *job, struct asahi_work *fragment,
			struct asahi_work *vertex, const struct asahi_command_args *command,
			const struct asahi_work_memory *place)
{
	const struct asahi_queue *queue = job->queue;
	const struct asahi_device *adev = queue->adev;
	const struct asahi_job_abi *abi = adev->abi->job;
	const struct asahi_scene scene = {
		.layout = &command->scene,
		.map = job->memory.strip->shared.map + place->shared,
		.va = job->memory.strip->shared.va + place->shared,
		.memory_va = job->memory.gpu.va + place->gpu,
		.control_word_va = job->memory.strip->word.va + place->word,
		.tpc_va = job->tpc->memory.va,
	};
	struct asahi_render_args args = {
		.cmd = &command->render,
		.scene = &scene,
		.buffer_info_va = queue->tvb.info.va,
		.kernel_buffer_va = queue->tvb.kernel_buffer.va,
		.notifier_va = queue->notifier.va,
		.usc_exec_base = queue->usc_exec_base,
		.queue_id = queue->fw_id,
		.tiling_control = adev->hw->render->tiling_control,
		.core_masks = { adev->core_masks[0], adev->core_masks[1] },
		.knobs = adev->knobs,
	};

	if (!command->scene.clustering)
		args.tiling_control |= ASAHI_RENDER_TILING_ONE_CLUSTER;

	vertex->scene.map = scene.map;
	vertex->scene.va = scene.va;
	abi->tvb.scene_init(&scene, queue->tvb.stats.va);
	asahi_render_build_half(job, &args, fragment, command, abi->fragment_build);
	asahi_render_build_half(job, &args, vertex, command, abi->vertex_build);
}
