// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <errno.h>
#include <stdlib.h>

#include "asahi_priv.h"

ASAHI_EXPORT int asahi_queue_new(struct asahi_vm *vm,
				 enum drm_asahi_priority priority,
				 struct asahi_queue **out)
{
	struct drm_asahi_queue_create args = {
		.vm_id = vm->id,
		.priority = priority,
		.usc_exec_base = asahi_vm_usc_base(vm),
	};
	struct asahi_queue *queue = calloc(1, sizeof(*queue));
	int err;

	if (!queue)
		return -ENOMEM;
	err = asahi_ioctl(vm->dev, DRM_IOCTL_ASAHI_QUEUE_CREATE, &args);
	if (err) {
		free(queue);
		return err;
	}

	asahi_refs_init(&queue->refs);
	queue->vm = asahi_vm_ref(vm);
	queue->id = args.queue_id;
	*out = queue;
	return 0;
}

ASAHI_EXPORT struct asahi_queue *asahi_queue_ref(struct asahi_queue *queue)
{
	asahi_refs_get(&queue->refs);
	return queue;
}

ASAHI_EXPORT void asahi_queue_unref(struct asahi_queue *queue)
{
	struct drm_asahi_queue_destroy args;

	if (!queue || !asahi_refs_put(&queue->refs))
		return;

	/* Fails only if the device is gone, and the queue with it. */
	args = (struct drm_asahi_queue_destroy){ .queue_id = queue->id };
	asahi_ioctl(queue->vm->dev, DRM_IOCTL_ASAHI_QUEUE_DESTROY, &args);
	asahi_vm_unref(queue->vm);
	free(queue);
}

ASAHI_EXPORT uint32_t asahi_queue_id(const struct asahi_queue *queue)
{
	return queue->id;
}
