// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * asahi-report: what the driver says of the device through its render node.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xf86drm.h>

#include "asahi_drmif.h"
#include "report.h"

static void device_print_params(struct report *report, const struct drm_asahi_params_global *p)
{
	uint32_t clusters = p->num_clusters_total < DRM_ASAHI_MAX_CLUSTERS ?
				    p->num_clusters_total : DRM_ASAHI_MAX_CLUSTERS;

	report_fact(report, "GPU", "G%u%c %c%u, T%04x", p->gpu_generation, (char)p->gpu_variant,
		    'A' + (p->gpu_revision >> 4 & 0xf), p->gpu_revision & 0xf, p->chip_id);
	report_fact(report, "dies, clusters", "%u, %u, with room for %u cores each", p->num_dies,
		    p->num_clusters_total, p->num_cores_per_cluster);
	for (uint32_t i = 0; i < clusters; i++)
		report_fact(report, "cores", "cluster %u: %d, mask %#" PRIx64, i,
			    __builtin_popcountll(p->core_masks[i]), (uint64_t)p->core_masks[i]);
	report_fact(report, "highest frequency", "%u kHz", p->max_frequency_khz);
	report_fact(report, "features", "%#" PRIx64, (uint64_t)p->features);
	report_fact(report, "timestamp frequency", "%" PRIu64 " Hz",
		    (uint64_t)p->command_timestamp_frequency_hz);
}

/* A device that is lost refuses all but what the driver keeps in memory. */
static void device_check_vm(struct report *report, struct asahi_device *dev)
{
	struct asahi_vm *vm;
	int err = asahi_vm_new(dev, &vm);

	if (!err)
		asahi_vm_unref(vm);
	else
		report_finding(report, "An address space cannot be made: %s. If the kernel's log says that "
			       "the GPU is lost, it comes back with the next boot.", strerror(-err));
}

static void device_say_why(struct report *report, int err)
{
	report_fact(report, "render node", "%s", strerror(-err));
	if (err == -EACCES || err == -EPERM)
		report_finding(report, "The render node may not be opened: run asahi-report as root, or be "
			       "in the group \"render\".");
	else if (report->bound)
		report_finding(report, "The driver serves the GPU, but its render node cannot be opened: "
			       "%s.", strerror(-err));
}

void report_device(struct report *report)
{
	struct asahi_device *dev;
	drmVersionPtr version;
	char *node;
	int err;

	report_heading(report, "Device");
	if (*report->root) {
		report_fact(report, "render node", "not looked at: %s is not this machine", report->root);
		return;
	}
	err = asahi_device_open(NULL, &dev);
	if (err) {
		device_say_why(report, err);
		return;
	}
	version = drmGetVersion(asahi_device_fd(dev));
	node = drmGetDeviceNameFromFd2(asahi_device_fd(dev));
	report_fact(report, "render node", "%s", node ? node : "without a name");
	if (version)
		report_fact(report, "driver", "%s %d.%d.%d", version->name, version->version_major,
			    version->version_minor, version->version_patchlevel);
	device_print_params(report, asahi_device_params(dev));
	device_check_vm(report, dev);
	free(node);
	drmFreeVersion(version);
	asahi_device_unref(dev);
}
