// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "asahi/asahi_render.h"
#include "igt.h"
#include "igt_syncobj.h"
#include "sw_sync.h"

/**
 * TEST: asahi unbind
 * Description: The device goes while the driver is busy with it, and comes back.
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Hotplug
 * Functionality: unbind
 * Test category: functionality test
 *
 * SUBTEST: after-fault
 * Description: It goes in the moment in which work was found guilty, while its dump
 *	is being made; eight times.
 *
 * SUBTEST: full-queue
 * Description: It goes while a SUBMIT waits for room in a queue, which ends that.
 */

#define ROUNDS		8
#define SECONDS		10

/**
 * struct device - where sysfs has it
 * @name: what the driver's files want to read
 * @driver: folder of the driver
 * @node: the render node
 * @nodes: folder of the nodes, as long as the driver is bound
 */
struct device {
	char name[NAME_MAX + 1];
	char driver[PATH_MAX];
	char node[64];
	char nodes[PATH_MAX + 8];
};

static void unbind_find_device(int fd, struct device *device)
{
	char path[64], target[PATH_MAX];
	struct stat st;

	igt_assert_eq(fstat(fd, &st), 0);
	snprintf(device->node, sizeof(device->node), "/dev/dri/renderD%u", minor(st.st_rdev));
	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/device", major(st.st_rdev),
		 minor(st.st_rdev));
	igt_assert(realpath(path, target));
	snprintf(device->name, sizeof(device->name), "%s", strrchr(target, '/') + 1);
	snprintf(device->nodes, sizeof(device->nodes), "%s/drm", target);
	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/device/driver", major(st.st_rdev),
		 minor(st.st_rdev));
	igt_require_f(realpath(path, device->driver), "a driver in sysfs\n");
}

static int unbind_open_control(const struct device *device, const char *control)
{
	char path[PATH_MAX + 16];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", device->driver, control);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	igt_require_f(fd >= 0, "%s\n", path);
	return fd;
}

static void unbind_write_control(int fd, const struct device *device)
{
	igt_assert_eq(write(fd, device->name, strlen(device->name)), strlen(device->name));
	close(fd);
}

static void unbind_wait_for_node(const struct device *device, bool there)
{
	unsigned int i;

	for (i = 0; i < SECONDS * 100 && !access(device->node, F_OK) != there; i++)
		usleep(10000);
	igt_assert_f(!access(device->node, F_OK) == there, "%s is %s\n", device->node,
		     there ? "missing" : "still there");
}

static void unbind_wait_for_no_objects(void)
{
	static const char *const kinds[] = {
		"devices", "files", "vms", "gem-objects", "page-tables", "queues", "jobs",
		"heap-blocks", "heap-nodes",
	};
	unsigned int i, n;
	int total = 1;

	for (n = 0; n < SECONDS * 100 && total; n++) {
		for (total = 0, i = 0; i < ARRAY_SIZE(kinds); i++)
			total += igt_asahi_objects(kinds[i]);
		usleep(10000);
	}
	igt_assert_eq(total, 0);
}

static void unbind_fault_and_unbind(const struct device *device)
{
	const int unbind = unbind_open_control(device, "unbind");
	int fd = drm_open_driver_render(DRIVER_ASAHI);
	struct asahi_client *client = igt_asahi_client_open(fd);
	const struct asahi_command bad = igt_asahi_store(client, ASAHI_UNMAPPED, 1);

	igt_assert_eq(igt_asahi_run(client, &bad), -EIO);
	unbind_write_control(unbind, device);
	igt_asahi_client_close(client);
	drm_close_driver(fd);
}

/* Under load */

#define FENCES		4
#define MAPS		4
#define LATE		(FENCES - 1)
#define WORD(n)		(0xc0de0000u + (n))

/**
 * struct load - a client that has everything
 * @client: the client
 * @timeline: user space's, of what one job waits for
 * @fences: sync files of jobs: compute work that runs, such work that comes after it, a
 *	render that runs, compute work that waits for @timeline
 * @handle: a buffer
 * @maps: buffers for the CPU: ordinary, cached, exported, and one that was never touched
 */
struct load {
	struct asahi_client *client;
	int timeline;
	int fences[FENCES];
	uint32_t handle;
	volatile uint32_t *maps[MAPS];
};

static int unbind_export_fence(struct asahi_client *client, uint32_t sync)
{
	return syncobj_handle_to_fd(client->fd, sync,
				    DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE);
}

static int unbind_submit_compute(struct asahi_client *client, uint32_t queue,
				 const struct asahi_command *command, uint32_t in)
{
	const uint32_t sync = syncobj_create(client->fd, 0);

	igt_asahi_submit(client->fd, queue, command, 1,
			 &(struct asahi_sync){ .in = in, .out = sync });
	return unbind_export_fence(client, sync);
}

static int unbind_submit_render(struct asahi_client *client, uint32_t queue,
				struct asahi_times times)
{
	const uint32_t sync = syncobj_create(client->fd, 0);
	struct asahi_render render = igt_asahi_render(client, 64);

	igt_asahi_render_write(client, &render, igt_asahi_word_addr(client, ASAHI_GATE),
			       igt_asahi_word_addr(client, ASAHI_RESULT + 1), 1);
	render.render.ts_frag.start.handle = times.object;
	igt_assert_eq(igt_asahi_submit_render(client, queue, &render, sync), 0);
	return unbind_export_fence(client, sync);
}

static uint32_t unbind_another_queue(struct asahi_client *client)
{
	return igt_asahi_queue_create(client->fd, client->vm, DRM_ASAHI_PRIORITY_MEDIUM, 0);
}

/* When this returns, compute and render work are on the GPU. */
static void unbind_load_submit(struct load *load)
{
	struct asahi_client *client = load->client;
	struct asahi_command gate = igt_asahi_gate(client, ASAHI_RESULT, 1);
	const struct asahi_times compute = igt_asahi_times_create(client);
	const struct asahi_times render = igt_asahi_times_create(client);
	const uint32_t late = igt_asahi_late_fence(client->fd, load->timeline);

	gate.compute.ts.start.handle = compute.object;
	load->fences[0] = unbind_submit_compute(client, client->queue, &gate, 0);
	gate.compute.ts.start.handle = 0;
	gate = igt_asahi_after(gate, 0);
	load->fences[1] = unbind_submit_compute(client, client->queue, &gate, 0);
	load->fences[2] = unbind_submit_render(client, unbind_another_queue(client), render);
	load->fences[LATE] =
		unbind_submit_compute(client, unbind_another_queue(client), &gate, late);
	igt_asahi_time_comes(&compute, 0);
	igt_asahi_time_comes(&render, 0);
	munmap((void *)compute.map, IGT_ASAHI_PAGE);
	munmap((void *)render.map, IGT_ASAHI_PAGE);
}

static volatile uint32_t *unbind_map_new(int fd, uint32_t flags, uint32_t *handle)
{
	*handle = igt_asahi_gem_create(fd, IGT_ASAHI_PAGE, flags, 0, 0);
	return igt_asahi_gem_mmap(fd, *handle, IGT_ASAHI_PAGE);
}

static void unbind_load_begin(struct load *load, int fd)
{
	unsigned int i;

	*load = (struct load){
		.client = igt_asahi_client_open(fd),
		.timeline = sw_sync_timeline_create(),
	};
	load->maps[0] = unbind_map_new(load->client->fd, 0, &load->handle);
	load->maps[1] = unbind_map_new(load->client->fd, DRM_ASAHI_GEM_WRITEBACK, &load->handle);
	load->maps[2] = unbind_map_new(load->client->fd, 0, &load->handle);
	close(prime_handle_to_fd(load->client->fd, load->handle));
	load->maps[3] = unbind_map_new(load->client->fd, 0, &load->handle);
	for (i = 0; i + 1 < MAPS; i++)
		*load->maps[i] = WORD(i);
	unbind_load_submit(load);
}

static void unbind_assert_fence(struct load *load, unsigned int index, int expected)
{
	const int status = sync_fence_status(load->fences[index]);

	igt_assert_f(status == expected, "fence %u: %d, not %d\n", index, status, expected);
}

/* A job that waits for another client's fence has to wait for it. */
static void unbind_check_fences(struct load *load)
{
	unsigned int i;

	for (i = 0; i < LATE; i++)
		unbind_assert_fence(load, i, -ENODEV);
	unbind_assert_fence(load, LATE, 0);
	sw_sync_timeline_inc(load->timeline, 1);
	for (i = 0; i < SECONDS * 100 && !sync_fence_status(load->fences[LATE]); i++)
		usleep(10000);
	unbind_assert_fence(load, LATE, -ENODEV);
}

/* All are read and written, also the one that was never touched. */
static void unbind_check_maps(struct load *load)
{
	unsigned int i;

	for (i = 0; i < MAPS; i++) {
		igt_assert_eq_u32(*load->maps[i], i + 1 < MAPS ? WORD(i) : 0);
		*load->maps[i] = ~WORD(i);
		igt_assert_eq_u32(*load->maps[i], ~WORD(i));
		*load->maps[i] = i + 1 < MAPS ? WORD(i) : 0;
	}
	igt_assert_eq_u32(load->client->words[ASAHI_RESULT], 0);
	igt_assert_eq_u32(load->client->words[ASAHI_RESULT + 1], 0);
}

/* Each ioctl of the driver's, and some of the core's; all arguments are zero but for that. */
static void unbind_check_ioctls(struct load *load)
{
	static const unsigned long requests[] = {
		DRM_IOCTL_ASAHI_GET_PARAMS, DRM_IOCTL_ASAHI_GET_TIME, DRM_IOCTL_ASAHI_VM_CREATE,
		DRM_IOCTL_ASAHI_VM_DESTROY, DRM_IOCTL_ASAHI_VM_BIND, DRM_IOCTL_ASAHI_GEM_CREATE,
		DRM_IOCTL_ASAHI_GEM_MMAP_OFFSET, DRM_IOCTL_ASAHI_GEM_BIND_OBJECT,
		DRM_IOCTL_ASAHI_QUEUE_CREATE, DRM_IOCTL_ASAHI_QUEUE_DESTROY,
		DRM_IOCTL_ASAHI_SUBMIT, DRM_IOCTL_GEM_CLOSE, DRM_IOCTL_SYNCOBJ_CREATE,
		DRM_IOCTL_PRIME_HANDLE_TO_FD,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(requests); i++) {
		uint64_t args[32] = { 0 };
		const int ret = drmIoctl(load->client->fd, requests[i], args);

		igt_assert_f(ret && errno == ENODEV, "ioctl %#lx: %s\n", requests[i],
			     ret ? strerror(errno) : "success");
	}
}

static void unbind_check_gone(struct load *load, uint64_t offset)
{
	void *map;

	unbind_check_ioctls(load);
	map = mmap(NULL, IGT_ASAHI_PAGE, PROT_READ, MAP_SHARED, load->client->fd, offset);
	igt_assert(map == MAP_FAILED);
	igt_assert_eq(errno, ENODEV);
	unbind_check_maps(load);
}

static void unbind_load_end(struct load *load)
{
	unsigned int i;

	for (i = 0; i < FENCES; i++)
		close(load->fences[i]);
	for (i = 0; i < MAPS; i++)
		munmap((void *)load->maps[i], IGT_ASAHI_PAGE);
	close(load->timeline);
	igt_asahi_client_close(load->client);
}

static void unbind_check_works(void)
{
	int fd = drm_open_driver_render(DRIVER_ASAHI);
	struct asahi_client *client = igt_asahi_client_open(fd);
	const struct asahi_command store = igt_asahi_store_word(client, ASAHI_RESULT, WORD(0));

	igt_assert_eq(igt_asahi_run(client, &store), 0);
	igt_assert_eq_u32(client->words[ASAHI_RESULT], WORD(0));
	igt_asahi_client_close(client);
	drm_close_driver(fd);
}

/* As long as a file of the device that has gone is open, the node has another number. */
static void unbind_set_bound(const struct device *device, bool bound)
{
	unbind_write_control(unbind_open_control(device, bound ? "bind" : "unbind"), device);
	igt_assert_eq(!access(device->nodes, F_OK), bound);
}

static void unbind_test_under_load(const struct device *device)
{
	int fd = drm_open_driver_render(DRIVER_ASAHI);
	struct load load;
	uint64_t offset;

	igt_require_sw_sync();
	unbind_load_begin(&load, fd);
	drm_close_driver(fd);
	offset = igt_asahi_gem_mmap_offset(load.client->fd, load.handle, 0);
	unbind_set_bound(device, false);
	unbind_check_fences(&load);
	unbind_check_gone(&load, offset);
	unbind_set_bound(device, true);
	unbind_check_works();
	unbind_check_gone(&load, offset);
	unbind_load_end(&load);
	unbind_set_bound(device, false);
	unbind_wait_for_no_objects();
	unbind_set_bound(device, true);
	unbind_check_works();
}

/* A full queue */

#define QUEUED_JOBS	1024

/**
 * struct crowd - a thread that submits more than a queue takes
 * @client: whose queue
 * @command: what it submits
 * @out: sync object that each submission signals
 * @done: how many have been submitted
 * @err: of the last one
 */
struct crowd {
	struct asahi_client *client;
	struct asahi_command command;
	uint32_t out;
	atomic_uint done;
	int err;
};

static void *unbind_crowd_run(void *data)
{
	struct crowd *crowd = data;

	while (crowd->done < QUEUED_JOBS + 100 && !crowd->err) {
		crowd->err = __igt_asahi_submit(crowd->client->fd, crowd->client->queue,
						&crowd->command, 1,
						&(struct asahi_sync){ .out = crowd->out });
		if (!crowd->err)
			crowd->done++;
	}
	return NULL;
}

/* All jobs wait behind the first one, and that for a fence of user space. */
static void unbind_crowd_begin(struct crowd *crowd, int timeline, pthread_t *thread)
{
	const uint32_t late = igt_asahi_late_fence(crowd->client->fd, timeline);
	unsigned int i;

	crowd->out = syncobj_create(crowd->client->fd, 0);
	crowd->command = igt_asahi_after(igt_asahi_store_word(crowd->client, ASAHI_RESULT, 1), 0);
	igt_asahi_submit(crowd->client->fd, crowd->client->queue, &crowd->command, 1,
			 &(struct asahi_sync){ .in = late });
	igt_assert_eq(pthread_create(thread, NULL, unbind_crowd_run, crowd), 0);
	for (i = 0; i < SECONDS * 100 && crowd->done + 1 < QUEUED_JOBS; i++)
		usleep(10000);
	usleep(500000);
	igt_assert_eq(crowd->done + 1, QUEUED_JOBS);
}

static void unbind_test_full_queue(const struct device *device)
{
	int fd = drm_open_driver_render(DRIVER_ASAHI), timeline;
	struct crowd crowd = { .client = igt_asahi_client_open(fd) };
	pthread_t thread;

	igt_require_sw_sync();
	timeline = sw_sync_timeline_create();
	drm_close_driver(fd);
	unbind_crowd_begin(&crowd, timeline, &thread);
	unbind_set_bound(device, false);
	pthread_join(thread, NULL);
	igt_assert_eq(crowd.err, -ENODEV);
	igt_assert_eq(crowd.done + 1, QUEUED_JOBS);
	sw_sync_timeline_inc(timeline, 1);
	close(timeline);
	igt_asahi_client_close(crowd.client);
	unbind_wait_for_no_objects();
	unbind_set_bound(device, true);
	unbind_check_works();
}

int igt_main()
{
	static struct device device;
	unsigned int i;

	igt_fixture() {
		int fd = drm_open_driver_render(DRIVER_ASAHI);

		unbind_find_device(fd, &device);
		drm_close_driver(fd);
	}

	igt_describe("The device goes while the dump of a fault is made.");
	igt_subtest("after-fault") {
		for (i = 0; i < ROUNDS; i++) {
			unbind_fault_and_unbind(&device);
			unbind_wait_for_node(&device, false);
			unbind_wait_for_no_objects();
			unbind_write_control(unbind_open_control(&device, "bind"), &device);
			unbind_wait_for_node(&device, true);
		}
	}

	igt_describe("The device goes while a client is at work.");
	igt_subtest("under-load") {
		unbind_test_under_load(&device);
	}

	igt_describe("The device goes while a client waits for room.");
	igt_subtest("full-queue") {
		unbind_test_full_queue(&device);
	}
}
