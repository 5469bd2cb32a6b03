// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * asahi-report: the GPU in the device tree, as its binding has it (apple,agx.yaml in
 * the kernel's tree): node, status, firmware, regions, and the boot loader that has
 * filled all of it in.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

#define TREE_BASE	"/proc/device-tree"
#define TREE_REGIONS	6

/* The GPUs that the driver knows, with the firmware that it knows for each. */
static const struct tree_gpu {
	const char *compatible;
	const char *name;
	uint32_t old_minor;
} tree_gpus[] = {
	{ "apple,agx-g13g", "M1 (T8103)", 3 },
	{ "apple,agx-g13s", "M1 Pro (T6000)", 3 },
	{ "apple,agx-g13c", "M1 Max (T6001)", 3 },
	{ "apple,agx-g13d", "M1 Ultra (T6002)", 3 },
	{ "apple,agx-g14g", "M2 (T8112)", 4 },
	{ "apple,agx-g14s", "M2 Pro (T6020)", 0 },
	{ "apple,agx-g14c", "M2 Max (T6021)", 0 },
	{ "apple,agx-g14d", "M2 Ultra (T6022)", 0 },
};

static const char * const tree_region_names[TREE_REGIONS] = {
	"ttbs", "pagetables", "handoff", "hw-cal-a", "hw-cal-b", "globals",
};

/* Where a GPU's node is looked for: at most four levels below the root */
static const char * const tree_gpu_patterns[] = {
	TREE_BASE "/gpu@*/compatible",
	TREE_BASE "/*/gpu@*/compatible",
	TREE_BASE "/*/*/gpu@*/compatible",
	TREE_BASE "/*/*/*/gpu@*/compatible",
	TREE_BASE "/*/*/*/*/gpu@*/compatible",
};

#define TREE_PATTERN_COUNT	(sizeof(tree_gpu_patterns) / sizeof(tree_gpu_patterns[0]))
#define TREE_GPU_COUNT	(sizeof(tree_gpus) / sizeof(tree_gpus[0]))

static uint32_t tree_cell(const char *bytes)
{
	const uint8_t *b = (const uint8_t *)bytes;

	return (uint32_t)b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3];
}

size_t report_cells(struct report *report, const char *path, uint32_t *cell, size_t count)
{
	size_t size, i;
	char *data = report_read(report, path, &size);

	if (!data)
		return 0;
	for (i = 0; i < count; i++)
		cell[i] = i < size / 4 ? tree_cell(data + 4 * i) : 0;
	free(data);
	return size / 4;
}

static char *tree_property(struct report *report, const char *node, const char *name,
			   size_t *size)
{
	char *path, *data;

	if (asprintf(&path, "%s/%s", node, name) < 0)
		return NULL;
	data = report_read(report, path, size);
	free(path);
	return data;
}

/* Whether a list of strings has one that begins so. */
static const char *tree_find_string(const char *list, size_t size, const char *start)
{
	for (const char *at = list; at < list + size; at += strlen(at) + 1) {
		if (!strncmp(at, start, strlen(start)))
			return at;
	}
	return NULL;
}

/* Whether a node is a GPU of Apple's, by any tree's name for it. */
static bool tree_is_gpu(struct report *report, const char *compatible)
{
	size_t size;
	char *list = report_read(report, compatible, &size);
	bool is_gpu = list && tree_find_string(list, size, "apple,agx-");

	free(list);
	return is_gpu;
}

/* Return: the node's path without the root, to be freed, or NULL. */
static char *tree_find_gpu(struct report *report)
{
	for (unsigned int level = 0; level < TREE_PATTERN_COUNT; level++) {
		char **paths = report_find(report, tree_gpu_patterns[level]), *found = NULL;

		for (char **path = paths; path && *path && !found; path++) {
			if (tree_is_gpu(report, *path))
				found = strndup(*path, strlen(*path) - strlen("/compatible"));
		}
		report_free_paths(paths);
		if (found)
			return found;
	}
	return NULL;
}

/* The node that others call by this number, to be freed, or NULL. */
static char *tree_find_handle(struct report *report, uint32_t handle)
{
	char **paths = report_find(report, TREE_BASE "/reserved-memory/*/phandle"), *found = NULL;

	for (char **path = paths; path && *path && !found; path++) {
		uint32_t cell;

		if (report_cells(report, *path, &cell, 1) && cell == handle)
			found = strndup(*path, strlen(*path) - strlen("/phandle"));
	}
	report_free_paths(paths);
	return found;
}

/* Reserved memory has two cells for an address, and two for a size. */
static bool tree_region(struct report *report, uint32_t handle, struct report_region *region)
{
	char *node = tree_find_handle(report, handle), *path;
	uint32_t cell[4];
	bool found = false;

	if (node && asprintf(&path, "%s/reg", node) >= 0) {
		found = report_cells(report, path, cell, 4) >= 4;
		region->base = (uint64_t)cell[0] << 32 | cell[1];
		region->size = (uint64_t)cell[2] << 32 | cell[3];
		free(path);
	}
	free(node);
	return found;
}

unsigned int report_regions(struct report *report, struct report_region *region,
			    unsigned int count)
{
	size_t size = 0;
	char *names, *path;
	uint32_t handle[TREE_REGIONS] = { 0 };
	unsigned int found = 0, at = 0;

	if (!report->gpu)
		return 0;
	names = tree_property(report, report->gpu, "memory-region-names", &size);
	if (names && asprintf(&path, "%s/memory-region", report->gpu) >= 0) {
		report_cells(report, path, handle, TREE_REGIONS);
		free(path);
		for (char *name = names; name < names + size && at < TREE_REGIONS;
		     name += strlen(name) + 1, at++) {
			if (found == count || !handle[at] ||
			    !tree_region(report, handle[at], &region[found]))
				continue;
			snprintf(region[found].name, sizeof(region->name), "%s", name);
			found++;
		}
	}
	free(names);
	return found;
}

static void tree_check_regions(struct report *report)
{
	struct report_region region[TREE_REGIONS];
	unsigned int count = report_regions(report, region, TREE_REGIONS);

	for (unsigned int want = 0; want < TREE_REGIONS; want++) {
		const struct report_region *found = NULL;

		for (unsigned int i = 0; i < count; i++) {
			if (!strcmp(region[i].name, tree_region_names[want]))
				found = &region[i];
		}
		if (!found) {
			report_fact(report, "region", "%s is missing", tree_region_names[want]);
			report_finding(report, "The GPU's node names no memory region \"%s\", or its "
				       "reserved memory is not there. m1n1 1.6 or later reserves "
				       "it: update the boot loader and its device trees.",
				       tree_region_names[want]);
			continue;
		}
		report_fact(report, "region", "%-10s %#" PRIx64 " bytes at %#" PRIx64, found->name,
			    found->size, found->base);
		if (!found->size)
			report_finding(report, "Memory region \"%s\" has no bytes. The boot loader "
				       "has not filled it in: update m1n1 to 1.6 or later.",
				       found->name);
	}
}

/* Return: what is known of the GPU, or NULL. */
static const struct tree_gpu *tree_check_compatible(struct report *report)
{
	size_t size = 0;
	char *list = tree_property(report, report->gpu, "compatible", &size);
	const struct tree_gpu *known = NULL;

	for (unsigned int i = 0; list && i < TREE_GPU_COUNT && !known; i++) {
		const char *found = tree_find_string(list, size, tree_gpus[i].compatible);

		/* The first string is the GPU's own; Max and Ultra name the Pro, too. */
		if (found == list)
			known = &tree_gpus[i];
	}
	report_fact(report, "compatible", "%s%s%s", list && size ? list : "(none)", known ? ", " : "",
		    known ? known->name : "");
	if (!known && list && tree_find_string(list, size, "apple,agx-t"))
		report_finding(report, "The device tree is a downstream one (compatible is \"%s\"): "
			       "this driver takes the mainline binding only (\"apple,agx-g13g\" on an "
			       "M1), and says nothing. Boot with the device tree of Linux 7.3.", list);
	else if (!known)
		report_finding(report, "No driver is known for a GPU that is compatible with \"%s\". "
			       "The M1 and M2 families are supported.", list ? list : "");
	free(list);
	return known;
}

static void tree_check_status(struct report *report)
{
	char *status = tree_property(report, report->gpu, "status", NULL);

	report_fact(report, "status", "%s", status ? status : "absent, which means okay");
	if (status && strcmp(status, "okay") && strcmp(status, "ok"))
		report_finding(report, "The GPU's node has the status \"%s\", so there is no device and "
			       "no message. The boot loader disables it when it is older than m1n1 1.6, "
			       "or has no calibration for this firmware: see its version below.",
			       status);
	free(status);
}

static void tree_check_firmware(struct report *report, const struct tree_gpu *gpu)
{
	uint32_t v[3];
	char *path;
	size_t cells;

	if (asprintf(&path, "%s/apple,firmware-abi", report->gpu) < 0)
		return;
	cells = report_cells(report, path, v, 3);
	free(path);
	if (cells < 3) {
		report_fact(report, "firmware", "apple,firmware-abi is missing");
		report_finding(report, "The GPU's node has no \"apple,firmware-abi\" of three cells. The "
			       "boot loader writes it: update m1n1 to 1.6 or later.");
		return;
	}
	report_fact(report, "firmware", "%u.%u.%u", v[0], v[1], v[2]);
	if (!v[0])
		report_finding(report, "\"apple,firmware-abi\" is 0: the boot loader has not filled it in. "
			       "Update m1n1 to 1.6 or later.");
	else if (gpu && !(v[0] == 13 && v[1] == 5 && !v[2]) &&
		 !(gpu->old_minor && v[0] == 12 && v[1] == gpu->old_minor && !v[2]))
		report_finding(report, "The driver does not know firmware %u.%u.%u on an %s. It knows 13.5%s. "
			       "The firmware is that of the macOS which the boot volume for Linux was "
			       "made with.", v[0], v[1], v[2], gpu->name,
			       gpu->old_minor == 3 ? " and 12.3" : gpu->old_minor ? " and 12.4" : "");
}

static void tree_check_links(struct report *report)
{
	static const struct {
		const char *name;
		const char *why;
	} links[] = {
		{ "reg", "its registers" },
		{ "mboxes", "the mailbox of its coprocessor" },
		{ "power-domains", "its power domain" },
	};

	for (unsigned int i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		size_t size = 0;
		char *data = tree_property(report, report->gpu, links[i].name, &size);

		if (!data || size < 4)
			report_finding(report, "The GPU's node has no \"%s\", %s: the device tree is not "
				       "that of this machine, or not complete.", links[i].name,
				       links[i].why);
		free(data);
	}
}

/* "v1.6.1" and the like. Return: whether it is older than 1.6, as far as one can tell. */
static bool tree_is_old(const char *version)
{
	unsigned int major, minor;

	version += *version == 'v';
	return sscanf(version, "%u.%u", &major, &minor) == 2 &&
	       (major < 1 || (major == 1 && minor < 6));
}

static void tree_check_loader(struct report *report)
{
	char **paths = report_find(report, TREE_BASE "/chosen/asahi,*");
	bool named = false;

	report_heading(report, "Boot loader");
	for (char **path = paths; path && *path; path++) {
		const char *name = strrchr(*path, '/') + 1 + strlen("asahi,");
		char *value = report_read(report, *path, NULL);

		report_fact(report, name, "%s", value ? value : strerror(errno));
		if (value && !strcmp(name, "m1n1-stage2-version")) {
			named = true;
			if (tree_is_old(value))
				report_finding(report, "The boot loader is m1n1 %s. Calibration data for this "
					       "driver comes from 1.6 on: update it (Debian's "
					       "backports have 1.5.2, testing has 1.6.1).", value);
		}
		free(value);
	}
	report_free_paths(paths);
	if (!named)
		report_fact(report, "m1n1", "no version in /chosen");
}

/* Properties as hexadecimal bytes, with text behind them where it is text. */
static void tree_print_property(struct report *report, FILE *file, const char *path)
{
	size_t size, shown;
	char *data = report_read(report, path, &size);

	if (!data)
		return;
	shown = size < 256 ? size : 256;
	fprintf(file, "%s:", path + strlen(TREE_BASE));
	for (size_t i = 0; i < shown; i++)
		fprintf(file, "%s%02x", i % 4 ? "" : " ", (unsigned char)data[i]);
	if (shown < size)
		fprintf(file, " ... (%zu bytes)", size);
	if (shown == size && size > 1 && !data[size - 1]) {
		fputs("  \"", file);
		for (size_t i = 0; i + 1 < size; i++)
			fputc(data[i] >= ' ' && data[i] < 0x7f ? data[i] : data[i] ? '?' : ' ', file);
		fputc('"', file);
	}
	fputc('\n', file);
	free(data);
}

static void tree_print_nodes(struct report *report, FILE *file, const char *pattern)
{
	char **paths = report_find(report, pattern);

	for (char **path = paths; path && *path; path++)
		tree_print_property(report, file, *path);
	report_free_paths(paths);
}

static void tree_save(struct report *report)
{
	FILE *file = report_open(report, "device-tree.txt");
	char *pattern;

	if (!file)
		return;
	tree_print_nodes(report, file, TREE_BASE "/model");
	tree_print_nodes(report, file, TREE_BASE "/compatible");
	tree_print_nodes(report, file, TREE_BASE "/chosen/asahi,*");
	tree_print_nodes(report, file, TREE_BASE "/reserved-memory/*/*");
	if (report->gpu && asprintf(&pattern, "%s/*", report->gpu) >= 0) {
		tree_print_nodes(report, file, pattern);
		free(pattern);
	}
	fclose(file);
}

void report_tree(struct report *report)
{
	char *model = report_line(report, TREE_BASE "/model");
	const struct tree_gpu *gpu;

	report_heading(report, "Device tree");
	report_fact(report, "machine", "%s", model ? model : "no device tree");
	report->gpu = tree_find_gpu(report);
	if (!report->gpu) {
		report_fact(report, "GPU", "no node");
		report_finding(report, model ? "The device tree has no GPU of Apple's (no node \"gpu@...\" that "
			       "is compatible with \"apple,agx-...\"): it is older than Linux 7.3, or this "
			       "is no Apple silicon." :
			       "There is no device tree: this is no Apple silicon, or it did not boot "
			       "through m1n1.");
	} else {
		report_fact(report, "GPU", "%s", report->gpu + strlen(TREE_BASE));
		gpu = tree_check_compatible(report);
		tree_check_status(report);
		tree_check_firmware(report, gpu);
		tree_check_links(report);
		tree_check_regions(report);
	}
	if (model)
		tree_check_loader(report);
	tree_save(report);
	free(model);
}
