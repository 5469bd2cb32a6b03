// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * asahi-info: prints everything that the driver says about the device.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xf86drm.h>

#include "asahi_drmif.h"
#include "cli.h"

struct info {
	const struct drm_asahi_params_global *params;
	drmVersionPtr version;
	char *node;
	uint64_t time_ns;
};

struct feature {
	uint64_t bit;
	const char *name;
};

static const struct feature info_features[] = {
	{ DRM_ASAHI_FEATURE_SOFT_FAULTS, "soft-faults" },
};

#define FEATURE_COUNT	(sizeof(info_features) / sizeof(info_features[0]))

/* The part of "Apple G13G B1" that is a letter; clients print it as such. */
static char info_printable(uint32_t c)
{
	return c > ' ' && c < 0x7f ? (char)c : '?';
}

static unsigned int info_cores_of(const struct drm_asahi_params_global *p,
				  uint32_t cluster)
{
	return __builtin_popcountll(p->core_masks[cluster]);
}

static uint32_t info_clusters_of(const struct drm_asahi_params_global *p)
{
	return p->num_clusters_total < DRM_ASAHI_MAX_CLUSTERS ?
		       p->num_clusters_total : DRM_ASAHI_MAX_CLUSTERS;
}

static unsigned int info_count_cores(const struct drm_asahi_params_global *p)
{
	unsigned int cores = 0;
	uint32_t i;

	for (i = 0; i < info_clusters_of(p); i++)
		cores += info_cores_of(p, i);
	return cores;
}

static uint64_t info_unknown_features(uint64_t bits)
{
	unsigned int i;

	for (i = 0; i < FEATURE_COUNT; i++)
		bits &= ~info_features[i].bit;
	return bits;
}

static void info_print_features(uint64_t bits)
{
	unsigned int i;

	printf("Features:                  0x%" PRIx64, bits);
	for (i = 0; i < FEATURE_COUNT; i++) {
		if (bits & info_features[i].bit)
			printf(" %s", info_features[i].name);
	}
	if (info_unknown_features(bits))
		printf(" (unknown: 0x%" PRIx64 ")", info_unknown_features(bits));
	putchar('\n');
}

static void info_print_text(const struct info *info)
{
	const struct drm_asahi_params_global *p = info->params;
	uint32_t i;

	printf("Device:                    %s\n", info->node);
	printf("Driver:                    %s %d.%d.%d (%s)\n",
	       info->version->name, info->version->version_major,
	       info->version->version_minor,
	       info->version->version_patchlevel, info->version->desc);
	printf("GPU:                       G%u%c %c%u\n", p->gpu_generation,
	       info_printable(p->gpu_variant), 'A' + (p->gpu_revision >> 4 & 0xf),
	       p->gpu_revision & 0xf);
	printf("Chip:                      T%04x\n", p->chip_id);
	info_print_features(p->features);
	printf("Dies:                      %u\n", p->num_dies);
	printf("Clusters:                  %u\n", p->num_clusters_total);
	printf("Cores per cluster:         %u\n", p->num_cores_per_cluster);
	printf("Cores:                     %u\n", info_count_cores(p));
	for (i = 0; i < info_clusters_of(p); i++)
		printf("  cluster %2u:              %u (mask 0x%" PRIx64 ")\n",
		       i, info_cores_of(p, i), (uint64_t)p->core_masks[i]);
	printf("Maximum frequency:         %u kHz\n", p->max_frequency_khz);
	printf("Address space:             0x%" PRIx64 " to 0x%" PRIx64 "\n",
	       (uint64_t)p->vm_start, (uint64_t)p->vm_end);
	printf("Least kernel range:        0x%" PRIx64 " bytes\n",
	       (uint64_t)p->vm_kernel_min_size);
	printf("Commands in a submission:  %u\n",
	       p->max_commands_per_submission);
	printf("Attachments of a command:  %u\n", p->max_attachments);
	printf("Timestamp frequency:       %" PRIu64 " Hz\n",
	       (uint64_t)p->command_timestamp_frequency_hz);
	printf("Time:                      %" PRIu64 " ns\n", info->time_ns);
}

/* Names and paths are ASCII here, but quotes may be in them. */
static void info_print_json_string(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			putchar('\\');
		if ((unsigned char)*s < ' ')
			printf("\\u%04x", *s);
		else
			putchar(*s);
	}
	putchar('"');
}

static void info_print_json_features(uint64_t bits)
{
	const char *separator = "";
	unsigned int i;

	printf("  \"feature_names\": [");
	for (i = 0; i < FEATURE_COUNT; i++) {
		if (!(bits & info_features[i].bit))
			continue;
		printf("%s\"%s\"", separator, info_features[i].name);
		separator = ", ";
	}
	printf("],\n");
}

static void info_print_json_number(const char *name, uint64_t value)
{
	printf("  \"%s\": %" PRIu64 ",\n", name, value);
}

static void info_print_json(const struct info *info)
{
	const struct drm_asahi_params_global *p = info->params;
	uint32_t i;

	printf("{\n  \"device\": ");
	info_print_json_string(info->node);
	printf(",\n  \"driver\": ");
	info_print_json_string(info->version->name);
	printf(",\n  \"driver_version\": \"%d.%d.%d\",\n",
	       info->version->version_major, info->version->version_minor,
	       info->version->version_patchlevel);
	info_print_json_number("features", p->features);
	info_print_json_features(p->features);
	info_print_json_number("gpu_generation", p->gpu_generation);
	printf("  \"gpu_variant\": \"%c\",\n", info_printable(p->gpu_variant));
	info_print_json_number("gpu_revision", p->gpu_revision);
	info_print_json_number("chip_id", p->chip_id);
	info_print_json_number("num_dies", p->num_dies);
	info_print_json_number("num_clusters_total", p->num_clusters_total);
	info_print_json_number("num_cores_per_cluster", p->num_cores_per_cluster);
	info_print_json_number("max_frequency_khz", p->max_frequency_khz);
	printf("  \"core_masks\": [");
	for (i = 0; i < info_clusters_of(p); i++)
		printf("%s%" PRIu64, i ? ", " : "", (uint64_t)p->core_masks[i]);
	printf("],\n");
	info_print_json_number("vm_start", p->vm_start);
	info_print_json_number("vm_end", p->vm_end);
	info_print_json_number("vm_kernel_min_size", p->vm_kernel_min_size);
	info_print_json_number("max_commands_per_submission",
			       p->max_commands_per_submission);
	info_print_json_number("max_attachments", p->max_attachments);
	info_print_json_number("command_timestamp_frequency_hz",
			       p->command_timestamp_frequency_hz);
	printf("  \"time_ns\": %" PRIu64 "\n}\n", info->time_ns);
}

static void info_usage(FILE *fp)
{
	fputs("usage: asahi-info [OPTION]...\n"
	      "Prints what the asahi driver says about the GPU.\n\n"
	      "  -d, --device=NODE      render node (default: the driver's first one)\n"
	      "  -j, --json             for programs to read\n"
	      "  -h, --help             this text\n"
	      "  -V, --version          the version\n",
	      fp);
}

static int info_failed(const char *what, int err)
{
	fprintf(stderr, "%s: %s\n", what, strerror(-err));
	return EXIT_FAILURE;
}

static int info_show(const char *node, bool json)
{
	struct info info = { .node = NULL };
	struct asahi_device *dev;
	int err;

	err = asahi_device_open(node, &dev);
	if (err)
		return info_failed(node ? node : "looking for a device", err);
	info.params = asahi_device_params(dev);
	err = asahi_device_get_time(dev, &info.time_ns);
	if (err)
		info_failed("reading the time", err);
	info.version = drmGetVersion(asahi_device_fd(dev));
	info.node = drmGetDeviceNameFromFd2(asahi_device_fd(dev));
	if (!info.version || !info.node)
		err = info_failed("asking for the driver's name", -ENODEV);
	else if (json)
		info_print_json(&info);
	else
		info_print_text(&info);

	free(info.node);
	drmFreeVersion(info.version);
	asahi_device_unref(dev);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	const char *node = NULL;
	bool json = false;
	int c;

	while ((c = getopt_long(argc, argv, "d:jhV", options, NULL)) != -1) {
		switch (c) {
		case 'd':
			node = optarg;
			break;
		case 'j':
			json = true;
			break;
		case 'h':
			info_usage(stdout);
			return cli_finish("asahi-info", EXIT_SUCCESS);
		case 'V':
			cli_version("asahi-info");
			return cli_finish("asahi-info", EXIT_SUCCESS);
		default:
			info_usage(stderr);
			return EXIT_USAGE;
		}
	}
	if (optind != argc) {
		info_usage(stderr);
		return EXIT_USAGE;
	}
	return cli_finish("asahi-info", info_show(node, json));
}
