// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * asahi-report: the kernel, the module and its parameters, and which driver serves
 * the GPU.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"

#define DRIVER_MODULE	"/sys/module/asahi"

static void driver_check_kernel(struct report *report)
{
	char *release = report_line(report, "/proc/sys/kernel/osrelease");
	char *version = report_line(report, "/proc/version");

	report_heading(report, "Kernel");
	report_fact(report, "release", "%s", release ? release : strerror(errno));
	report_fact(report, "version", "%s", version ? version : strerror(errno));
	if (!*report->root)
		report_fact(report, "page size", "%ld bytes", sysconf(_SC_PAGESIZE));
	if (!*report->root && report->gpu && sysconf(_SC_PAGESIZE) != 16384)
		report_finding(report, "The kernel has pages of %ld bytes. The GPU's MMU knows pages of "
			       "16 KiB only: take a kernel with CONFIG_ARM64_16K_PAGES.",
			       sysconf(_SC_PAGESIZE));
	free(release);
	free(version);
}

static void driver_print_parameters(struct report *report)
{
	char **paths = report_find(report, DRIVER_MODULE "/parameters/*");

	for (char **path = paths; path && *path; path++) {
		char *value = report_line(report, *path);

		report_fact(report, strrchr(*path, '/') + 1, "%s", value ? value : strerror(errno));
		free(value);
	}
	report_free_paths(paths);
}

/* Return: whether this module is loaded, and not the other one of its name. */
static bool driver_check_module(struct report *report)
{
	char **loaded = report_find(report, DRIVER_MODULE);
	char **ours = report_find(report, DRIVER_MODULE "/parameters/unproven");
	char *version = report_line(report, DRIVER_MODULE "/srcversion");

	report_heading(report, "Module");
	report_fact(report, "asahi", "%s", !loaded ? "not loaded" : ours ? "loaded" :
		    "another driver of this name is loaded");
	if (version)
		report_fact(report, "source version", "%s", version);
	driver_print_parameters(report);
	if (loaded && !ours)
		report_finding(report, "The module that is called asahi is another one: it has no parameter "
			       "\"unproven\". Asahi Linux's kernels have a driver of the same name for "
			       "the same device; only one can be loaded. See \"The other module of this "
			       "name\" in install.rst.");
	if (!loaded && report->gpu)
		report_finding(report, "The module asahi is not loaded: run \"modprobe asahi\", or "
			       "asahi-bringup on a machine where it has never run. If that says that "
			       "there is none, install it for this kernel (install.rst).");
	free(version);
	report_free_paths(loaded);
	report_free_paths(ours);
	return loaded && ours;
}

/* The last part of what a link points to, to be freed, or NULL. */
static char *driver_link_name(struct report *report, const char *device, const char *link)
{
	char target[512], *path, *name = NULL;
	ssize_t len;

	if (asprintf(&path, "%s%s/%s", report->root, device, link) < 0)
		return NULL;
	len = readlink(path, target, sizeof(target) - 1);
	free(path);
	if (len > 0) {
		target[len] = '\0';
		name = strdup(strrchr(target, '/') ? strrchr(target, '/') + 1 : target);
	}
	return name;
}

static void driver_say_unbound(struct report *report, const char *device, bool loaded)
{
	char *deferred = report_read(report, "/sys/kernel/debug/devices_deferred", NULL);
	const char *name = strrchr(device, '/') + 1;
	const char *line = deferred ? strstr(deferred, name) : NULL;

	if (line)
		report_finding(report, "The GPU waits for another driver: \"%.*s\". Its mailbox and its power "
			       "domain need CONFIG_APPLE_MAILBOX and CONFIG_APPLE_PMGR_PWRSTATE.",
			       (int)strcspn(line, "\n"), line);
	else if (loaded)
		report_finding(report, "The module is loaded, but it does not serve the GPU: its probe has "
			       "failed, or has stopped after a stage, or the device was unbound. A line "
			       "of the kernel's log with \"asahi\" says why.");
	free(deferred);
}

static void driver_check_device(struct report *report, const char *device, bool loaded)
{
	char *driver = driver_link_name(report, device, "driver"), *path, *status = NULL;

	report_fact(report, "device", "%s, %s%s", strrchr(device, '/') + 1,
		    driver ? "driver " : "no driver", driver ? driver : "");
	if (asprintf(&path, "%s/power/runtime_status", device) >= 0) {
		status = report_line(report, path);
		free(path);
	}
	if (status)
		report_fact(report, "power", "%s", status);
	report->bound = driver && !strcmp(driver, "asahi") && loaded;
	if (!driver)
		driver_say_unbound(report, device, loaded);
	else if (strcmp(driver, "asahi"))
		report_finding(report, "The driver \"%s\" serves the GPU, not asahi.", driver);
	free(status);
	free(driver);
}

void report_driver(struct report *report)
{
	char **devices = report_find(report, "/sys/bus/platform/devices/*.gpu");
	bool loaded;

	driver_check_kernel(report);
	loaded = driver_check_module(report);
	for (char **device = devices; device && *device; device++)
		driver_check_device(report, *device, loaded);
	if (!devices)
		report_fact(report, "device", "none");
	report_free_paths(devices);
}
