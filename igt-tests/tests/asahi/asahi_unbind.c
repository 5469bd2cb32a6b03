// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "asahi/asahi_compute.h"
#include "igt.h"
#include "igt_syncobj.h"

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
 */

#define ROUNDS		8
#define SECONDS		10

/**
 * struct device - where sysfs has it
 * @name: what the driver's files want to read
 * @driver: folder of the driver
 * @node: the render node
 */
struct device {
	char name[NAME_MAX + 1];
	char driver[PATH_MAX];
	char node[64];
};

static void find_device(int fd, struct device *device)
{
	char path[64], target[PATH_MAX];
	struct stat st;

	igt_assert_eq(fstat(fd, &st), 0);
	snprintf(device->node, sizeof(device->node), "/dev/dri/renderD%u", minor(st.st_rdev));
	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/device", major(st.st_rdev),
		 minor(st.st_rdev));
	igt_assert(realpath(path, target));
	snprintf(device->name, sizeof(device->name), "%s", strrchr(target, '/') + 1);
	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/device/driver", major(st.st_rdev),
		 minor(st.st_rdev));
	igt_require_f(realpath(path, device->driver), "a driver in sysfs\n");
}

static int open_control(const struct device *device, const char *control)
{
	char path[PATH_MAX + 16];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", device->driver, control);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	igt_require_f(fd >= 0, "%s\n", path);
	return fd;
}

static void write_control(int fd, const struct device *device)
{
	igt_assert_eq(write(fd, device->name, strlen(device->name)), strlen(device->name));
	close(fd);
}

static void wait_for_node(const struct device *device, bool there)
{
	unsigned int i;

	for (i = 0; i < SECONDS * 100 && !access(device->node, F_OK) != there; i++)
		usleep(10000);
	igt_assert_f(!access(device->node, F_OK) == there, "%s is %s\n", device->node,
		     there ? "missing" : "still there");
}

static void wait_for_no_objects(void)
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

static void fault_and_unbind(const struct device *device)
{
	const int unbind = open_control(device, "unbind");
	int fd = drm_open_driver_render(DRIVER_ASAHI);
	struct asahi_client *client = igt_asahi_client_open(fd);
	const struct asahi_command bad = igt_asahi_store(client, ASAHI_UNMAPPED, 1);

	igt_assert_eq(igt_asahi_run(client, &bad), -EIO);
	write_control(unbind, device);
	igt_asahi_client_close(client);
	drm_close_driver(fd);
}

int igt_main()
{
	static struct device device;
	unsigned int i;

	igt_fixture() {
		int fd = drm_open_driver_render(DRIVER_ASAHI);

		find_device(fd, &device);
		drm_close_driver(fd);
	}

	igt_describe("The device goes while the dump of a fault is made.");
	igt_subtest("after-fault") {
		for (i = 0; i < ROUNDS; i++) {
			fault_and_unbind(&device);
			wait_for_node(&device, false);
			wait_for_no_objects();
			write_control(open_control(&device, "bind"), &device);
			wait_for_node(&device, true);
		}
	}
}
