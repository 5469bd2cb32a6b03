// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Render commands.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/string.h>

#include <kunit/visibility.h>

#include <drm/asahi_drm.h>

#include <agx/agx_rtkit.h>

#include "asahi_abi.h"
#include "asahi_device.h"
#include "asahi_hw.h"
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

/**
 * asahi_render_prepare() - what both halves of a render command are built from
 * @job: job with memory, also for the vertex buffer
 * @scene: what @args points to, uninitialised
 * @place: where the memory of the scene begins
 * @args: what they are built from; has the command
 *
 * Also writes the Scene structure. Process context.
 */
void asahi_render_prepare(struct asahi_job *job, struct asahi_scene *scene,
			  const struct asahi_work_memory *place, struct asahi_work_args *args)
{
	const struct asahi_queue *queue = job->queue;
	const struct asahi_device *adev = queue->adev;
	const struct asahi_scene_layout *layout = &args->command->scene;

	*scene = (struct asahi_scene) {
		.map = job->memory.strip->shared.map + place->shared,
		.va = job->memory.strip->shared.va + place->shared,
		.memory_va = job->memory.gpu.va + place->gpu,
		.control_word_va = job->memory.strip->word.va + place->word,
		.tpc_va = job->tpc->memory.va,
	};

	args->scene = scene;
	args->buffer_info_va = queue->tvb.info.va;
	args->kernel_buffer_va = queue->tvb.kernel_buffer.va;
	args->tiling_control = adev->hw->render->tiling_control;
	if (!layout->clustering)
		args->tiling_control |= ASAHI_RENDER_TILING_ONE_CLUSTER;
	memcpy(args->core_masks, adev->core_masks, sizeof(args->core_masks));
	args->knobs = adev->knobs;

	adev->abi->job->tvb.scene_init(scene, layout, queue->tvb.stats.va);
}
