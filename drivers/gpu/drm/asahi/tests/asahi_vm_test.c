// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tests of what VM_BIND accepts.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/test.h>

#include <drm/asahi_drm.h>

#include <agx/agx_uat.h>

#include "asahi_vm.h"
#include "asahi_vm_bind.h"

#define RESERVED_START	0x7000000000ULL
#define RESERVED_END	0x7800000000ULL
#define PAGE		AGX_PAGE_SIZE
#define RW		(DRM_ASAHI_BIND_READ | DRM_ASAHI_BIND_WRITE)

struct bind_case {
	const char *name;
	struct drm_asahi_gem_bind_op op;
	int ret;
};

#define BIND(_name, _flags, _handle, _offset, _range, _addr, _ret) {	\
	.name = _name,							\
	.op = {								\
		.flags = _flags,					\
		.handle = _handle,					\
		.offset = _offset,					\
		.range = _range,					\
		.addr = _addr,						\
	},								\
	.ret = _ret,							\
}

static const struct bind_case bind_cases[] = {
	BIND("read", DRM_ASAHI_BIND_READ, 1, 0, PAGE, PAGE, 0),
	BIND("write", DRM_ASAHI_BIND_WRITE, 1, 0, PAGE, PAGE, 0),
	BIND("read and write", RW, 1, 0, PAGE, PAGE, 0),
	BIND("neither", 0, 1, 0, PAGE, PAGE, -EINVAL),
	BIND("unknown flag", RW | BIT(4), 1, 0, PAGE, PAGE, -EINVAL),
	BIND("highest flag", RW | BIT(31), 1, 0, PAGE, PAGE, -EINVAL),
	BIND("single page", RW | DRM_ASAHI_BIND_SINGLE_PAGE, 1, PAGE, SZ_1G, PAGE, 0),
	BIND("single page alone", DRM_ASAHI_BIND_SINGLE_PAGE, 1, 0, PAGE, PAGE, -EINVAL),
	BIND("unbind", DRM_ASAHI_BIND_UNBIND, 0, 0, PAGE, PAGE, 0),
	BIND("unbind with another flag", DRM_ASAHI_BIND_UNBIND | DRM_ASAHI_BIND_READ,
	     0, 0, PAGE, PAGE, -EINVAL),
	BIND("unbind with a handle", DRM_ASAHI_BIND_UNBIND, 1, 0, PAGE, PAGE, -EINVAL),
	BIND("unbind with an offset", DRM_ASAHI_BIND_UNBIND, 0, PAGE, PAGE, PAGE, -EINVAL),
	BIND("empty", RW, 1, 0, 0, PAGE, -EINVAL),
	BIND("empty unbind", DRM_ASAHI_BIND_UNBIND, 0, 0, 0, PAGE, -EINVAL),
	BIND("unaligned address", RW, 1, 0, PAGE, PAGE + SZ_4K, -EINVAL),
	BIND("unaligned range", RW, 1, 0, PAGE + 1, PAGE, -EINVAL),
	BIND("unaligned offset", RW, 1, SZ_8K, PAGE, PAGE, -EINVAL),
	BIND("page zero", RW, 1, 0, PAGE, 0, -EINVAL),
	BIND("last page", RW, 1, 0, PAGE, AGX_VA_USER_END - PAGE, 0),
	BIND("dummy page", RW, 1, 0, PAGE, AGX_VA_DUMMY_PAGE, -EINVAL),
	BIND("across the end", RW, 1, 0, 2 * PAGE, AGX_VA_USER_END - PAGE, -EINVAL),
	BIND("kernel half", RW, 1, 0, PAGE, AGX_VA_KERNEL_START, -EINVAL),
	BIND("address wraps", RW, 1, 0, -PAGE, 2 * PAGE, -EINVAL),
	BIND("unbind wraps", DRM_ASAHI_BIND_UNBIND, 0, 0, -PAGE, 2 * PAGE, -EINVAL),
	BIND("offset wraps", RW, 1, -PAGE, 2 * PAGE, PAGE, -EINVAL),
	BIND("before the kernel's range", RW, 1, 0, PAGE, RESERVED_START - PAGE, 0),
	BIND("into the kernel's range", RW, 1, 0, 2 * PAGE, RESERVED_START - PAGE, -EINVAL),
	BIND("in the kernel's range", RW, 1, 0, PAGE, RESERVED_START, -EINVAL),
	BIND("end of the kernel's range", RW, 1, 0, PAGE, RESERVED_END - PAGE, -EINVAL),
	BIND("behind the kernel's range", RW, 1, 0, PAGE, RESERVED_END, 0),
	BIND("around the kernel's range", RW, 1, 0, RESERVED_END - RESERVED_START + 2 * PAGE,
	     RESERVED_START - PAGE, -EINVAL),
	BIND("unbind the kernel's range", DRM_ASAHI_BIND_UNBIND, 0, 0, PAGE, RESERVED_START,
	     -EINVAL),
};

KUNIT_ARRAY_PARAM_DESC(bind, bind_cases, name);

static void asahi_test_bind_check(struct kunit *test)
{
	const struct bind_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, c->ret,
			asahi_vm_bind_check(&c->op, RESERVED_START, RESERVED_END));
}

static struct kunit_case asahi_vm_cases[] = {
	KUNIT_CASE_PARAM(asahi_test_bind_check, bind_gen_params),
	{}
};

static struct kunit_suite asahi_vm_suite = {
	.name = "asahi_vm",
	.test_cases = asahi_vm_cases,
};

kunit_test_suite(asahi_vm_suite);
