// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <xf86drm.h>

#include "fixture.h"

int open_device(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	asahi_shim_record(true);
	if (!f || asahi_device_open(NULL, &f->dev))
		return -1;
	f->fd = asahi_device_fd(f->dev);
	return 0;
}

int open_vm(void **state)
{
	struct fixture *f;

	if (open_device(state))
		return -1;
	f = *state;
	return asahi_vm_new(f->dev, &f->vm);
}

int open_queue(void **state)
{
	struct fixture *f;

	if (open_vm(state))
		return -1;
	f = *state;
	return asahi_queue_new(f->vm, DRM_ASAHI_PRIORITY_LOW, &f->queue) ||
	       asahi_submit_new(f->queue, &f->submit);
}

static unsigned int print_objects(const struct asahi_shim_objects *o, unsigned int sum)
{
	if (sum)
		print_error("left: %u files, %u handles, %u buffers, %u mappings, %u DMA buffers, %u timestamp objects, %u VMs, %u queues, %u jobs, %u sync objects (%u as files), %u sync files, %u fences\n",
			    o->files, o->handles, o->buffers, o->mappings, o->dma_bufs,
			    o->objects, o->vms, o->queues, o->jobs, o->syncobjs, o->syncobj_fds,
			    o->sync_files, o->fences);
	return sum;
}

unsigned int count_objects(void)
{
	struct asahi_shim_objects o;
	unsigned int sum = asahi_shim_objects(&o);

	return print_objects(&o, sum);
}

int close_all(void **state)
{
	struct asahi_shim_objects o;
	struct fixture *f = *state;
	unsigned int left = 0;

	asahi_shim_record(false);
	asahi_shim_set_backend(NULL);
	if (f) {
		asahi_submit_free(f->submit);
		asahi_queue_unref(f->queue);
		asahi_vm_unref(f->vm);
		/* When the file goes, it hides what was forgotten. */
		left = asahi_shim_objects(&o);
		left = print_objects(&o, left - (o.files == 1));
		asahi_device_unref(f->dev);
		free(f);
	}
	return count_objects() || left ? -1 : 0;
}

uint32_t new_syncobj(const struct fixture *f)
{
	uint32_t syncobj;

	assert_int_equal(drmSyncobjCreate(f->fd, 0, &syncobj), 0);
	return syncobj;
}

void destroy_syncobj(const struct fixture *f, uint32_t syncobj)
{
	assert_int_equal(drmSyncobjDestroy(f->fd, syncobj), 0);
}

struct later {
	pthread_t thread;
	int fd;
	uint32_t syncobj;
};

static void *later_run(void *arg)
{
	const struct timespec while_ = { .tv_nsec = 50 * MS };
	struct later *later = arg;

	nanosleep(&while_, NULL);
	drmSyncobjSignal(later->fd, &later->syncobj, 1);
	return NULL;
}

struct later *signal_later(const struct fixture *f, uint32_t syncobj)
{
	struct later *later = calloc(1, sizeof(*later));

	assert_non_null(later);
	later->fd = f->fd;
	later->syncobj = syncobj;
	assert_int_equal(pthread_create(&later->thread, NULL, later_run, later), 0);
	return later;
}

void later_join(struct later *later)
{
	pthread_join(later->thread, NULL);
	free(later);
}

int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

void add_command(const struct fixture *f)
{
	static const struct drm_asahi_cmd_compute cmd = { .cdm_ctrl_stream_base = 0x100000000 };

	asahi_submit_compute(f->submit, &cmd, ASAHI_BARRIER_NONE);
}
