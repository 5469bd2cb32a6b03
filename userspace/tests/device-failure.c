// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * QUEUE_CREATE and SUBMIT when memory runs out: the kernel's fault injection
 * makes the first allocation of a call fail, then the second, and so on until
 * none is left to fail. Each failed call has to say so and to change nothing.
 *
 * Needs a kernel with fault injection; passes by skipping elsewhere.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <xf86drm.h>

#include "compute.h"

/* More than any call here allocates. */
#define MOST		10000
#define COMMANDS	4

/**
 * struct rig - what the calls need
 * @gpu: device, with an address space and a queue of its own
 * @fd: of the device
 * @stream: a control stream that does nothing
 * @commands: a command buffer with it
 * @syncs: a sync to wait for and two to signal
 */
struct rig {
	struct compute gpu;
	int fd;
	struct compute_stream stream;
	struct {
		struct drm_asahi_cmd_header header;
		struct drm_asahi_cmd_compute cmd;
	} commands[COMMANDS];
	struct drm_asahi_sync syncs[3];
};

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	ssize_t written;

	if (fd < 0)
		return -errno;
	written = write(fd, text, strlen(text));
	close(fd);
	return written == (ssize_t)strlen(text) ? 0 : -EIO;
}

/* Allocations that may sleep are spared otherwise. */
static bool injection_ready(void)
{
	return !write_text("/sys/kernel/debug/fail_usercopy/verbose", "0") &&
	       !write_text("/sys/kernel/debug/failslab/ignore-gfp-wait", "N") &&
	       !write_text("/sys/kernel/debug/failslab/verbose", "0") &&
	       !write_text("/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait", "N") &&
	       !write_text("/sys/kernel/debug/fail_page_alloc/ignore-gfp-highmem", "N") &&
	       !write_text("/sys/kernel/debug/fail_page_alloc/min-order", "0") &&
	       !write_text("/sys/kernel/debug/fail_page_alloc/verbose", "0") &&
	       !access("/proc/thread-self/fail-nth", W_OK);
}

/**
 * injected() - make a call fail at its nth allocation
 * @rig: what it needs
 * @call: the call
 * @nth: which, from 1
 * @err: what the call returned
 *
 * Return: 1 if something failed in it, 0 if it has fewer allocations, or a
 * negative error.
 */
static int injected(struct rig *rig, int (*call)(struct rig *rig),
		    unsigned int nth, int *err)
{
	char text[16];
	int fd = open("/proc/thread-self/fail-nth", O_RDWR);
	ssize_t size;
	int length;

	if (fd < 0)
		return -errno;
	length = snprintf(text, sizeof(text), "%u", nth);
	if (write(fd, text, length) != length) {
		close(fd);
		return -EIO;
	}
	*err = call(rig);
	/* If the call had less to fail, it is these that fail. */
	size = pread(fd, text, sizeof(text) - 1, 0);
	while (pwrite(fd, "0", 1, 0) != 1)
		;
	close(fd);
	if (size <= 0)
		return 0;
	text[size] = '\0';
	return !atoi(text);
}

static int create_queue(struct rig *rig)
{
	struct drm_asahi_queue_create args = {
		.vm_id = asahi_vm_id(rig->gpu.vm),
		.priority = DRM_ASAHI_PRIORITY_MEDIUM,
	};
	struct drm_asahi_queue_destroy destroy = { .queue_id = 0 };

	if (ioctl(rig->fd, DRM_IOCTL_ASAHI_QUEUE_CREATE, &args))
		return -errno;
	destroy.queue_id = args.queue_id;
	return ioctl(rig->fd, DRM_IOCTL_ASAHI_QUEUE_DESTROY, &destroy) ? -errno :
									   0;
}

static int submit(struct rig *rig)
{
	struct drm_asahi_submit args = {
		.syncs = (uintptr_t)rig->syncs,
		.cmdbuf = (uintptr_t)rig->commands,
		.queue_id = asahi_queue_id(rig->gpu.queue),
		.in_sync_count = 1,
		.out_sync_count = 2,
		.cmdbuf_size = sizeof(rig->commands),
	};

	return ioctl(rig->fd, DRM_IOCTL_ASAHI_SUBMIT, &args) ? -errno : 0;
}

/* The queue still does its work. */
static int works(struct rig *rig)
{
	int err = submit(rig);

	return err ? err : asahi_fence_wait(rig->gpu.dev, rig->syncs[1].handle,
					    COMPUTE_TIMEOUT_NS);
}

static int fail_all(struct rig *rig, int (*call)(struct rig *rig),
		    unsigned int *failures)
{
	unsigned int nth;
	int hit, err = 0;

	*failures = 0;
	for (nth = 1; nth < MOST; nth++) {
		hit = injected(rig, call, nth, &err);
		if (hit < 0)
			return hit;
		if (!hit)
			return err;
		/* some failures are survived, by other means or a second try */
		*failures += !!err;
		if (err && err != -ENOMEM && err != -EFAULT) {
			fprintf(stderr, "failure %u: %s\n", nth, strerror(-err));
			return -EILSEQ;
		}
	}
	return -ELOOP;
}

static int rig_open(struct rig *rig)
{
	struct drm_asahi_cmd_compute cmd;
	int i, err = compute_open(&rig->gpu, NULL);

	if (err)
		return err;
	rig->fd = asahi_device_fd(rig->gpu.dev);
	err = compute_stream_new(&rig->gpu, &rig->stream);
	if (!err)
		err = compute_stream_end(&rig->stream, &cmd);
	if (err)
		return err;
	for (i = 0; i < COMMANDS; i++) {
		rig->commands[i].header = (struct drm_asahi_cmd_header){
			.cmd_type = DRM_ASAHI_CMD_COMPUTE,
			.size = sizeof(cmd),
			.vdm_barrier = 0,
			.cdm_barrier = i,
		};
		rig->commands[i].cmd = cmd;
	}
	for (i = 0; i < 3; i++)
		if (drmSyncobjCreate(rig->fd, i ? 0 : DRM_SYNCOBJ_CREATE_SIGNALED,
				     &rig->syncs[i].handle))
			return -errno;
	rig->syncs[2].sync_type = DRM_ASAHI_SYNC_TIMELINE_SYNCOBJ;
	rig->syncs[2].timeline_value = 1;
	return 0;
}

static void rig_close(struct rig *rig)
{
	int i;

	for (i = 0; i < 3; i++)
		drmSyncobjDestroy(rig->fd, rig->syncs[i].handle);
	compute_stream_free(&rig->stream);
	compute_close(&rig->gpu);
}

static bool test(struct rig *rig, unsigned int number, const char *name,
		 int (*call)(struct rig *rig))
{
	unsigned int failures;
	int err = fail_all(rig, call, &failures);

	if (!err)
		err = works(rig);
	printf("%sok %u - %s without memory\n", err || !failures ? "not " : "",
	       number, name);
	printf("# failed in %u ways%s%s\n", failures, err ? ": " : "",
	       err ? strerror(-err) : "");
	return !err && failures;
}

int main(void)
{
	struct rig rig = { .fd = -1 };
	bool good;
	int err;

	printf("1..2\n");
	if (!injection_ready()) {
		printf("ok 1 - QUEUE_CREATE without memory # SKIP no fault injection\n");
		printf("ok 2 - SUBMIT without memory # SKIP no fault injection\n");
		return EXIT_SUCCESS;
	}
	err = rig_open(&rig);
	if (err) {
		printf("Bail out! %s\n", strerror(-err));
		return EXIT_FAILURE;
	}
	good = test(&rig, 1, "QUEUE_CREATE", create_queue);
	good &= test(&rig, 2, "SUBMIT", submit);
	rig_close(&rig);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
