// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * A library to be preloaded: libdrm says of all GPUs that they are platform devices.
 *
 * Mesa's Vulkan driver takes no others. The virtio GPU of muvm is behind MMIO and is one; QEMU's,
 * on which the lane native-context stands, is behind PCI.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#include <xf86drm.h>

__attribute__((visibility("default")))
int drmGetDevices2(uint32_t flags, drmDevicePtr devices[], int max_devices)
{
	/* Vulkan's loader opens drivers with libraries that no others see. */
	void *library = dlopen("libdrm.so.2", RTLD_NOW | RTLD_LOCAL);
	int (*next)(uint32_t flags, drmDevicePtr devices[], int max_devices);
	int i, count;

	if (!library)
		return -1;
	*(void **)&next = dlsym(library, "drmGetDevices2");
	count = next ? next(flags, devices, max_devices) : -1;
	for (i = 0; devices && i < count && i < max_devices; i++)
		devices[i]->bustype = DRM_BUS_PLATFORM;
	return count;
}

/* It frees by the kind of bus, of which it would be told wrongly: the few bytes stay. */
__attribute__((visibility("default")))
void drmFreeDevices(drmDevicePtr devices[], int count)
{
	(void)devices;
	(void)count;
}
