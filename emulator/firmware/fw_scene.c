// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * Scenes: what the vertex and the fragment command of a render share, in a hash table by the
 * address of the driver's structure. With the firmware's lock held.
 */
#include <stdlib.h>

#include "fw_buffer.h"

#define FW_SCENE_BUCKETS	256
/* More than all event slots can have stamps outstanding for */
#define FW_SCENES_MAX		16384

struct fw_scenes {
	struct fw_scene *bucket[FW_SCENE_BUCKETS];
	unsigned int count;
};

struct fw_scenes *fw_scenes_new(void)
{
	return calloc(1, sizeof(struct fw_scenes));
}

void fw_scenes_free(struct fw_scenes *scenes)
{
	free(scenes);
}

static struct fw_scene **fw_scene_bucket_of(struct vagx_firmware *fw, uint64_t va)
{
	return &fw->scenes->bucket[(va >> 7 ^ va >> 15) % FW_SCENE_BUCKETS];
}

static void fw_scene_forget(struct vagx_firmware *fw, struct fw_scene *scene)
{
	struct fw_scene **p = fw_scene_bucket_of(fw, scene->va);

	fw_buffer_give_all(fw, scene);
	while (*p != scene)
		p = &(*p)->next;
	*p = scene->next;
	fw->scenes->count--;
	free(scene);
}

void fw_scenes_forget_all(struct vagx_firmware *fw)
{
	for (unsigned int i = 0; i < FW_SCENE_BUCKETS; i++) {
		while (fw->scenes->bucket[i])
			fw_scene_forget(fw, fw->scenes->bucket[i]);
	}
}

struct fw_scene *fw_scene_find(struct vagx_firmware *fw, uint64_t va)
{
	struct fw_scene *scene = *fw_scene_bucket_of(fw, va);

	while (scene && scene->va != va)
		scene = scene->next;
	return scene;
}

struct fw_scene *fw_scene_new(struct vagx_firmware *fw, uint64_t va)
{
	struct fw_scene *scene;

	if (fw_scene_find(fw, va) || fw->scenes->count == FW_SCENES_MAX)
		return NULL;
	scene = calloc(1, sizeof(*scene));
	if (!scene)
		return NULL;
	scene->va = va;
	scene->next = *fw_scene_bucket_of(fw, va);
	*fw_scene_bucket_of(fw, va) = scene;
	fw->scenes->count++;
	return scene;
}

struct fw_scene *fw_scene_of_slot(struct vagx_firmware *fw, unsigned int slot)
{
	for (unsigned int i = 0; i < FW_SCENE_BUCKETS; i++) {
		struct fw_scene *scene;

		for (scene = fw->scenes->bucket[i]; scene; scene = scene->next) {
			if (scene->slot == slot)
				return scene;
		}
	}
	return NULL;
}

/*
 * A command is retired: a fragment command ends its scene, as the driver may use the scene's
 * memory again as soon as the stamp is there
 */
void fw_scene_retire(struct fw_worker *worker, const struct fw_command *command)
{
	struct vagx_firmware *fw = worker->fw;
	struct fw_scene *scene = command->scene ? fw_scene_find(fw, command->scene) : NULL;

	if (!scene)
		return;
	if (command->type == FW_COMMAND_FRAGMENT)
		fw_scene_forget(fw, scene);
	else
		scene->filled = true;
	pthread_cond_broadcast(&fw->work);
}

void fw_scene_report_pages(struct fw_access *access, const struct fw_scene *scene)
{
	struct fw_view view = fw_view(access, FW_S_BufferThing, scene->va);

	fw_set(&view, FW_BufferThing_unk_0, scene->pass_pages);
	fw_set(&view, FW_BufferThing_unk_2c, scene->total_pages);
}

static void fw_scene_raise(const struct fw_view *misc, enum fw_field_id field, uint32_t value)
{
	if (fw_get(misc, field) < value)
		fw_set(misc, field, value);
}

/*
 * Writes the pages and partial renders of a render into the statistics that the driver sizes its
 * buffers by; a flag of the driver sets them to 0 first. Without partial renders a render would
 * have needed all pages that it took in all passes.
 */
void fw_scene_report(struct fw_access *access, const struct fw_scene *scene)
{
	struct fw_view view = fw_view(access, FW_S_BufferThing, scene->va);
	struct fw_view misc =
		fw_view(access, FW_S_BufferMisc, fw_get(&view, FW_BufferThing_bm_misc_addr));

	fw_scene_report_pages(access, scene);
	if (fw_get(&misc, FW_BufferMisc_cpu_flag)) {
		fw_set(&misc, FW_BufferMisc_gpu_0, 0);
		fw_set(&misc, FW_BufferMisc_gpu_4, 0);
		fw_set(&misc, FW_BufferMisc_gpu_8, 0);
		fw_set(&misc, FW_BufferMisc_cpu_flag, 0);
	}
	fw_scene_raise(&misc, FW_BufferMisc_gpu_0, scene->total_pages);
	fw_scene_raise(&misc, FW_BufferMisc_gpu_4, scene->pass_pages);
	fw_set(&misc, FW_BufferMisc_gpu_8,
	       fw_get(&misc, FW_BufferMisc_gpu_8) + scene->overflows);
}
