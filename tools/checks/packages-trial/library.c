// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What somebody's first program may do with libdrm_asahi's package: open the device, map a
 * buffer for the GPU and for itself, and ask for the time.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <asahi_drmif.h>

static int use(struct asahi_device *dev)
{
	struct asahi_vm *vm = NULL;
	struct asahi_bo *bo = NULL;
	uint64_t address = 0, time = 0;
	void *bytes;
	int ret;

	ret = asahi_vm_new(dev, &vm);
	if (!ret)
		ret = asahi_bo_new(dev, 100, 0, vm, &bo);
	if (!ret)
		ret = asahi_bo_map(bo, &bytes);
	if (!ret)
		ret = asahi_vm_map(vm, ASAHI_HEAP_MAIN, bo, DRM_ASAHI_BIND_READ, &address);
	if (!ret)
		ret = asahi_device_get_time(dev, &time);
	if (!ret) {
		memset(bytes, 1, ASAHI_PAGE_SIZE);
		printf("G%u of %u cores, buffer at 0x%" PRIx64 ", time %" PRIu64 " ns\n",
		       asahi_device_params(dev)->gpu_generation,
		       asahi_device_params(dev)->num_cores_per_cluster, address, time);
	}
	asahi_bo_unref(bo);
	asahi_vm_unref(vm);
	return ret;
}

int main(void)
{
	struct asahi_device *dev;
	int ret = asahi_device_open("/dev/dri/renderD128", &dev);

	if (ret) {
		fprintf(stderr, "no device: %s\n", strerror(-ret));
		return 1;
	}
	ret = use(dev);
	asahi_device_unref(dev);
	if (ret)
		fprintf(stderr, "%s\n", strerror(-ret));
	return ret ? 1 : 0;
}
