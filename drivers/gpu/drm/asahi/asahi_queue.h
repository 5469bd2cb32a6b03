/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Queues: what user space submits to.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_QUEUE_H
#define ASAHI_QUEUE_H

#include <linux/types.h>

struct asahi_device;
struct asahi_fault_info;
struct asahi_file;
struct asahi_queue;
struct asahi_usage;
struct drm_asahi_queue_create;
struct drm_asahi_submit;
struct drm_file;
struct drm_printer;

/* Module load and unload: the workers that outlive a device. */
int asahi_queue_module_init(void);
void asahi_queue_module_exit(void);

int asahi_queues_init(struct asahi_device *adev);
void asahi_queues_stop(struct asahi_device *adev);
void asahi_queues_unplug(struct asahi_device *adev);
void asahi_queues_fini(struct asahi_device *adev);

int asahi_queue_file_open(struct asahi_file *file);
void asahi_queue_file_close(struct asahi_file *file);
int asahi_queue_create(struct asahi_file *file, const struct drm_asahi_queue_create *args,
		       u32 *id);
int asahi_queue_destroy(struct asahi_file *file, u32 id);
int asahi_queue_submit(struct asahi_file *file, const struct drm_asahi_submit *args);
void asahi_queue_show_fdinfo(struct drm_printer *p, struct drm_file *drm_file);

struct asahi_queue *asahi_queue_get(struct asahi_queue *queue);
struct asahi_queue *asahi_queue_get_unless_zero(struct asahi_queue *queue);
void asahi_queue_put(struct asahi_queue *queue);

/**
 * struct asahi_failure - work that the GPU or the firmware did not complete
 * @error: what the guilty job's fence says, a negative errno, if the job did
 *	not fault
 * @named: the firmware says that this work is guilty
 * @bystander: the firmware says that other work is
 * @fault: the fault, or NULL; tells who is guilty if the firmware does not
 */
struct asahi_failure {
	int error;
	bool named;
	bool bystander;
	const struct asahi_fault_info *fault;
};

void asahi_queue_complete(struct asahi_queue *queue);
void asahi_queue_mark_failed(struct asahi_queue *queue, unsigned int slot, u32 value,
			     const struct asahi_failure *failure);
void asahi_queue_channel_error(struct asahi_queue *queue, unsigned int slot, u32 value,
			       const struct asahi_failure *failure);
void asahi_queues_abandon(struct asahi_device *adev);

#endif
