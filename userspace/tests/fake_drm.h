/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * A kernel driver in miniature, for tests on the host: linked into a program
 * it takes the place of the libdrm functions that the library and the clients
 * call, keeps buffers and page tables in memory of its own, and runs
 * submissions at once on the emulator's GPU. It proves the way from a client
 * to the shader cores without kernel, firmware and virtual machine.
 *
 * It trusts its caller more than a kernel does, and is not for several
 * threads.
 */
#ifndef FAKE_DRM_H
#define FAKE_DRM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * fake_drm_fd() - a file descriptor of the fake device
 *
 * Owned by the fake. Environment variables: FAKE_DRM_NO_EXEC makes its GPU run
 * no shaders, FAKE_DRM_CORES sets the number of its cores, FAKE_DRM_LOG the
 * level of its log, FAKE_DRM_STATS prints its counters at exit, and
 * FAKE_DRM_STREAMS the control streams that it runs.
 */
int fake_drm_fd(void);

/**
 * fake_drm_fail() - make an ioctl fail once
 * @request: the ioctl
 * @err: errno value
 */
void fake_drm_fail(unsigned long request, int err);

/** fake_drm_live_objects() - buffers, VMs, queues and sync objects that exist */
unsigned int fake_drm_live_objects(void);

/** struct fake_drm_submit - what the last submission consisted of */
struct fake_drm_submit {
	const uint8_t *cmdbuf;
	size_t cmdbuf_size;
	uint32_t in_syncs;
	uint32_t out_syncs;
	uint32_t queue_id;
};

/** fake_drm_last_submit() - see struct fake_drm_submit */
const struct fake_drm_submit *fake_drm_last_submit(void);

#endif /* FAKE_DRM_H */
