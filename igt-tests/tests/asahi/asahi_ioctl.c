// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <string.h>
#include <unistd.h>

#include "asahi/asahi_ioctl.h"
#include "igt.h"

/**
 * TEST: asahi ioctl
 * Description: Parameters and time, numbers of another file, and the rules for
 *	arguments that are shorter or longer than the kernel's.
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: uapi
 * Functionality: arguments
 * Test category: functionality test
 *
 * SUBTEST: params-unknown-group
 * Description: There is one group of parameters.
 *
 * SUBTEST: params-pad
 * Description: Padding has to be zero.
 *
 * SUBTEST: params-unmapped
 * Description: The pointer has to be one.
 *
 * SUBTEST: params-part
 * Description: No more is written than was asked for.
 *
 * SUBTEST: params-none
 * Description: No bytes are asked for.
 *
 * SUBTEST: params-more
 * Description: Parameters that the kernel does not know are zero.
 *
 * SUBTEST: params-sane
 * Description: Parameters are what a GPU can have.
 *
 * SUBTEST: time-flags
 * Description: There are no flags.
 *
 * SUBTEST: time-goes-on
 * Description: The GPU's time goes on.
 *
 * SUBTEST: argument-%s
 * Description: An argument that is %arg[1].
 * arg[1]:
 * @long-zero: longer, with zeroes
 * @long-other: longer, with other bytes
 * @short: shorter
 * @long-written: longer, and is written to
 *
 * SUBTEST: unknown-ioctl
 * Description: A number that the driver does not have.
 *
 * SUBTEST: ids-of-another-file
 * Description: One file's numbers mean nothing in another one.
 */

#define NO_ID		0x7fffffffu
#define UNKNOWN		0xaa

static struct drm_asahi_params_global ioctl_params;

/* The same ioctl with an argument of another size. */
static unsigned long ioctl_resized(unsigned long request, unsigned int size)
{
	return _IOC(_IOC_DIR(request), _IOC_TYPE(request), _IOC_NR(request), size);
}

static void ioctl_assert_bytes(const uint8_t *bytes, size_t size, uint8_t value)
{
	size_t i;

	for (i = 0; i < size; i++)
		igt_assert_eq(bytes[i], value);
}

static void ioctl_test_params_pad(int fd)
{
	uint8_t buf[8];
	struct drm_asahi_get_params args = {
		.pad = 1,
		.pointer = (uintptr_t)buf,
		.size = sizeof(buf),
	};

	do_ioctl_err(fd, DRM_IOCTL_ASAHI_GET_PARAMS, &args, EINVAL);
}

static void ioctl_test_params_part(int fd)
{
	uint8_t buf[sizeof(ioctl_params)];

	memset(buf, UNKNOWN, sizeof(buf));
	igt_asahi_get_params(fd, 0, buf, 12, 0);
	igt_assert(!memcmp(buf, &ioctl_params, 12));
	ioctl_assert_bytes(buf + 12, sizeof(buf) - 12, UNKNOWN);
}

static void ioctl_test_params_more(int fd)
{
	uint8_t buf[sizeof(ioctl_params) + 64];

	memset(buf, UNKNOWN, sizeof(buf));
	igt_asahi_get_params(fd, 0, buf, sizeof(buf), 0);
	igt_assert(!memcmp(buf, &ioctl_params, sizeof(ioctl_params)));
	ioctl_assert_bytes(buf + sizeof(ioctl_params), 64, 0);
}

static void ioctl_test_params_sane(void)
{
	unsigned int i;

	igt_assert_eq_u64(ioctl_params.features & ~DRM_ASAHI_FEATURE_SOFT_FAULTS, 0);
	igt_assert_lte(13, ioctl_params.gpu_generation);
	igt_assert_neq(ioctl_params.chip_id, 0);
	igt_assert_lte(1, ioctl_params.num_dies);
	igt_assert_lte(ioctl_params.num_dies, ioctl_params.num_clusters_total);
	igt_assert_lte(ioctl_params.num_clusters_total, DRM_ASAHI_MAX_CLUSTERS);
	igt_assert_lte(1, ioctl_params.num_cores_per_cluster);
	igt_assert_lt(ioctl_params.num_cores_per_cluster, 64);
	for (i = 0; i < DRM_ASAHI_MAX_CLUSTERS; i++) {
		igt_assert_eq(ioctl_params.core_masks[i] != 0, i < ioctl_params.num_clusters_total);
		igt_assert_eq_u64(ioctl_params.core_masks[i] >> ioctl_params.num_cores_per_cluster,
				  0);
	}
	igt_assert_neq(ioctl_params.max_frequency_khz, 0);
	igt_assert_lt_u64(ioctl_params.vm_start, ioctl_params.vm_end);
	igt_assert_neq_u64(ioctl_params.vm_kernel_min_size, 0);
	/* Limits that asahi_submit and asahi_render rely on. */
	igt_assert_eq(ioctl_params.max_commands_per_submission, 64);
	igt_assert_eq(ioctl_params.max_attachments, 16);
	igt_assert_neq_u64(ioctl_params.command_timestamp_frequency_hz, 0);
}

static void ioctl_test_time_goes_on(int fd)
{
	struct drm_asahi_get_time first = { 0 }, second = { 0 };

	igt_asahi_get_time(fd, &first, 0);
	usleep(1000);
	igt_asahi_get_time(fd, &second, 0);
	igt_assert_lt_u64(first.gpu_timestamp, second.gpu_timestamp);
}

/* Fields that the kernel does not know are ignored, even if they are not zero: DRM's rule. */
static void ioctl_test_argument_long(int fd, uint64_t more)
{
	struct {
		struct drm_asahi_vm_destroy args;
		uint64_t more;
	} large = { .args = { .vm_id = NO_ID }, .more = more };

	do_ioctl_err(fd, ioctl_resized(DRM_IOCTL_ASAHI_VM_DESTROY, sizeof(large)), &large, ENOENT);
}

static void ioctl_test_argument_short(int fd)
{
	uint64_t small = NO_ID;

	do_ioctl_err(fd, ioctl_resized(DRM_IOCTL_ASAHI_VM_DESTROY, 4), &small, ENOENT);
}

static void ioctl_test_argument_long_written(int fd)
{
	struct {
		struct drm_asahi_get_time args;
		uint64_t more;
	} time = { .more = 17 };

	do_ioctl(fd, ioctl_resized(DRM_IOCTL_ASAHI_GET_TIME, sizeof(time)), &time);
	igt_assert_neq_u64(time.args.gpu_timestamp, 0);
}

static void ioctl_test_ids(int fd)
{
	int other = drm_reopen_driver(fd);
	uint32_t vm = igt_asahi_vm_create(fd);
	uint32_t handle = igt_asahi_gem_create(fd, IGT_ASAHI_PAGE, 0, 0, 0);

	igt_asahi_vm_destroy(other, vm, ENOENT);
	igt_asahi_vm_bind_one(other, vm, DRM_ASAHI_BIND_READ, handle, 0, IGT_ASAHI_PAGE,
			      IGT_ASAHI_USC_BASE, ENOENT);
	igt_asahi_gem_mmap_offset(other, handle, ENOENT);
	igt_asahi_gem_create(other, IGT_ASAHI_PAGE, DRM_ASAHI_GEM_VM_PRIVATE, vm, ENOENT);
	igt_asahi_vm_destroy(fd, vm, 0);
	gem_close(fd, handle);
	drm_close_driver(other);
}

int igt_main()
{
	int fd;

	igt_fixture() {
		fd = drm_open_driver_render(DRIVER_ASAHI);
		igt_asahi_get_params(fd, 0, &ioctl_params, sizeof(ioctl_params), 0);
	}

	igt_describe("GET_PARAMS with arguments of all kinds.");
	igt_subtest("params-unknown-group") {
		struct drm_asahi_params_global unused;

		igt_asahi_get_params(fd, 1, &unused, sizeof(unused), EINVAL);
		igt_asahi_get_params(fd, 2, &unused, sizeof(unused), EINVAL);
		igt_asahi_get_params(fd, UINT32_MAX, &unused, sizeof(unused), EINVAL);
	}
	igt_subtest("params-pad") {
		ioctl_test_params_pad(fd);
	}
	igt_subtest("params-unmapped") {
		igt_asahi_get_params(fd, 0, (void *)16, 8, EFAULT);
	}
	igt_subtest("params-part") {
		ioctl_test_params_part(fd);
	}
	igt_subtest("params-none") {
		igt_asahi_get_params(fd, 0, NULL, 0, 0);
	}
	igt_subtest("params-more") {
		ioctl_test_params_more(fd);
	}
	igt_subtest("params-sane") {
		ioctl_test_params_sane();
	}

	igt_describe("GET_TIME.");
	igt_subtest("time-flags") {
		struct drm_asahi_get_time args = { .flags = 1 };

		igt_asahi_get_time(fd, &args, EINVAL);
	}
	igt_subtest("time-goes-on") {
		ioctl_test_time_goes_on(fd);
	}

	igt_describe("Arguments of another size, and an ioctl that there is not.");
	igt_subtest("argument-long-zero") {
		ioctl_test_argument_long(fd, 0);
	}
	igt_subtest("argument-long-other") {
		ioctl_test_argument_long(fd, 1);
	}
	igt_subtest("argument-short") {
		ioctl_test_argument_short(fd);
	}
	igt_subtest("argument-long-written") {
		ioctl_test_argument_long_written(fd);
	}
	igt_subtest("unknown-ioctl") {
		do_ioctl_err(fd, DRM_IO(DRM_COMMAND_BASE + 0x1f), NULL, EINVAL);
	}

	igt_describe("One file's numbers mean nothing in another one.");
	igt_subtest("ids-of-another-file") {
		ioctl_test_ids(fd);
	}

	igt_fixture() {
		drm_close_driver(fd);
	}
}
