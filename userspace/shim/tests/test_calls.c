// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Arguments: of other sizes, at bad addresses; bindings; the record. What else the
 * driver refuses is for the tests that run on driver and shim alike.
 */
#include <stdio.h>

#include "agx/agx_uat.h"
#include "shim_test.h"

/* What a page of other machines has, by which zeroes are written, and a size of some of them */
#define CHUNK	4096
#define LARGE	(3 * CHUNK)

/* The DRM core goes by the number, and fills up what an argument lacks. */
static void test_sizes(void **state)
{
	struct { struct drm_asahi_get_time args; uint64_t more; } newer = { .more = 7 };
	unsigned long request = DRM_IOWR(DRM_COMMAND_BASE + DRM_ASAHI_GET_TIME, newer);
	struct { uint64_t size; uint32_t flags, vm_id; } older = { .size = PAGE };
	uint64_t shorter = 0;

	assert_int_equal(call(FD(state), request, &newer), 0);
	assert_int_not_equal(newer.args.gpu_timestamp, 0);
	assert_int_equal(newer.more, 7);
	request = DRM_IOWR(DRM_COMMAND_BASE + DRM_ASAHI_GET_TIME, shorter);
	assert_int_equal(call(FD(state), request, &shorter), 0);
	shorter = 1;
	assert_int_equal(call(FD(state), request, &shorter), EINVAL);
	assert_int_equal(asahi_shim_count(DRM_IOCTL_ASAHI_GET_TIME), 3);
	request = DRM_IOWR(DRM_COMMAND_BASE + DRM_ASAHI_GEM_CREATE, older);
	assert_int_equal(call(FD(state), request, &older), 0);
	assert_int_equal(call(FD(state), DRM_IO(0x9f), NULL), EINVAL);
}

static void test_params(void **state)
{
	struct { struct drm_asahi_params_global params; uint8_t more[8192]; } large;
	struct drm_asahi_get_params args = { .pointer = (uintptr_t)&large, .size = 16 };

	memset(&large, 0xff, sizeof(large));
	assert_int_equal(call(FD(state), DRM_IOCTL_ASAHI_GET_PARAMS, &args), 0);
	assert_int_equal(large.params.gpu_generation, 13);
	assert_int_equal(large.params.gpu_revision, UINT32_MAX);
	args.size = sizeof(large);
	assert_int_equal(call(FD(state), DRM_IOCTL_ASAHI_GET_PARAMS, &args), 0);
	assert_memory_equal(&large.params, asahi_shim_params(), sizeof(large.params));
	assert_int_equal(large.more[0], 0);
	assert_int_equal(large.more[sizeof(large.more) - 1], 0);
}

/* The kernel fills as many bytes as it is told, and writes none behind them. */
static void test_params_sizes(void **state)
{
	static const uint64_t zeroes[2 * LARGE / sizeof(uint64_t)];
	const uint64_t known = sizeof(struct drm_asahi_params_global);
	uint8_t bytes[2 * LARGE];
	struct drm_asahi_get_params args = { .pointer = (uintptr_t)bytes };
	uint64_t n, i;
	int step;

	for (i = 0; i <= 2 * (LARGE / CHUNK); i++) {
		for (step = -2; step <= 2; step++) {
			/* multiples of a chunk from the begin, and from the end of what is known */
			n = i / 2 * CHUNK + (i % 2 ? known : 0);
			if (step < 0 && n < 2)
				continue;
			args.size = n + step;
			memset(bytes, 0xff, sizeof(bytes));
			assert_int_equal(call(FD(state), DRM_IOCTL_ASAHI_GET_PARAMS, &args), 0);
			n = args.size < known ? args.size : known;
			assert_memory_equal(bytes, asahi_shim_params(), n);
			assert_memory_equal(bytes + n, zeroes, args.size - n);
			for (n = args.size; n < args.size + 16; n++)
				assert_int_equal(bytes[n], 0xff);
		}
	}
}

static void test_bad_addresses(void **state)
{
	struct drm_asahi_get_params params = { .pointer = 1, .size = 16 };
	struct drm_asahi_vm_bind binds = {
		.vm_id = new_vm(FD(state)),
		.num_binds = 1,
		.stride = sizeof(struct drm_asahi_gem_bind_op),
		.userptr = 1,
	};
	struct drm_syncobj_array array = { .handles = 1, .count_handles = 1 };

	assert_int_equal(call(FD(state), DRM_IOCTL_ASAHI_GET_PARAMS, &params), EFAULT);
	assert_int_equal(call(FD(state), DRM_IOCTL_ASAHI_VM_BIND, &binds), EFAULT);
	assert_int_equal(call(FD(state), DRM_IOCTL_SYNCOBJ_RESET, &array), EFAULT);
	assert_int_equal(call(FD(state), DRM_IOCTL_ASAHI_VM_BIND, (void *)1), EFAULT);
}

static int set_name(int fd, const char *name, uint64_t length)
{
	struct drm_set_client_name args = { .name_len = length, .name = (uintptr_t)name };

	return call(fd, DRM_IOCTL_SET_CLIENT_NAME, &args);
}

/* Of at most 64 characters that can be seen, which the kernel does not look for behind the length */
static void test_client_name(void **state)
{
	char name[DRM_CLIENT_NAME_MAX_LEN + 1];

	memset(name, '~', sizeof(name));
	assert_int_equal(set_name(FD(state), name, sizeof(name) - 1), 0);
	assert_int_equal(set_name(FD(state), name, sizeof(name)), EINVAL);
	assert_int_equal(set_name(FD(state), "!two words", 4), 0);
	assert_int_equal(set_name(FD(state), "!two words", 5), EINVAL);
	assert_int_equal(set_name(FD(state), "a\0b", 3), EINVAL);
	assert_int_equal(set_name(FD(state), "\x7f", 1), EINVAL);
	assert_int_equal(set_name(FD(state), "\xe4", 1), EINVAL);
	assert_int_equal(set_name(FD(state), NULL, 0), 0);
	assert_int_equal(set_name(FD(state), (const char *)1, 1), EFAULT);
}

static bool bound(int fd, uint32_t vm, uint64_t addr, uint64_t size, uint64_t offset)
{
	struct asahi_shim_mapping m, first;

	/* the object's own start, which is bound at 20 GiB */
	return asahi_shim_find_mapping(fd, vm, 20 * GIB, &first) &&
	       asahi_shim_find_mapping(fd, vm, addr, &m) && m.addr == addr && m.size == size &&
	       m.offset - first.offset == offset;
}

#define BIND(a, r, o, more)							\
	((struct drm_asahi_gem_bind_op){					\
		.flags = DRM_ASAHI_BIND_READ | (more), .handle = bo,		\
		.addr = (a), .range = (r), .offset = (o) })
#define UNBIND(a, r)								\
	((struct drm_asahi_gem_bind_op){					\
		.flags = DRM_ASAHI_BIND_UNBIND, .addr = (a), .range = (r) })

/* A bind replaces what it covers, and leaves what it doesn't. */
static void test_bindings(void **state)
{
	const uint64_t base = 16 * GIB;
	uint32_t vm = new_vm(FD(state)), bo = new_bo(FD(state), 8 * PAGE);
	struct asahi_shim_mapping m;

	assert_int_equal(bind_bo(FD(state), vm, BIND(20 * GIB, PAGE, 0, 0)), 0);
	assert_int_equal(bind_bo(FD(state), vm, BIND(base, 8 * PAGE, 0, 0)), 0);
	/* the middle */
	assert_int_equal(bind_bo(FD(state), vm, BIND(base + 3 * PAGE, 2 * PAGE, 0, 0)), 0);
	assert_true(bound(FD(state), vm, base, 3 * PAGE, 0));
	assert_true(bound(FD(state), vm, base + 3 * PAGE, 2 * PAGE, 0));
	assert_true(bound(FD(state), vm, base + 5 * PAGE, 3 * PAGE, 5 * PAGE));
	/* across all three */
	assert_int_equal(bind_bo(FD(state), vm, UNBIND(base + 2 * PAGE, 4 * PAGE)), 0);
	assert_true(bound(FD(state), vm, base, 2 * PAGE, 0));
	assert_false(asahi_shim_find_mapping(FD(state), vm, base + 2 * PAGE, &m));
	assert_true(bound(FD(state), vm, base + 6 * PAGE, 2 * PAGE, 6 * PAGE));
	/* one page again and again: what remains of it still shows the same */
	assert_int_equal(bind_bo(FD(state), vm, BIND(base, 64 * PAGE, 5 * PAGE,
						  DRM_ASAHI_BIND_SINGLE_PAGE)), 0);
	assert_int_equal(bind_bo(FD(state), vm, UNBIND(base, 16 * PAGE)), 0);
	assert_true(bound(FD(state), vm, base + 16 * PAGE, 48 * PAGE, 5 * PAGE));
	/* the object's end is that of its mappings */
	assert_int_equal(drmCloseBufferHandle(FD(state), bo), 0);
	assert_false(asahi_shim_find_mapping(FD(state), vm, base + 16 * PAGE, &m));
	assert_false(asahi_shim_find_mapping(FD(state), vm, 20 * GIB, &m));
}

/* All binds of a call, or none */
static void test_binds_at_once(void **state)
{
	uint32_t bo = new_bo(FD(state), PAGE);
	const struct drm_asahi_gem_bind_op ops[2] = {
		BIND(16 * GIB, PAGE, 0, 0),
		BIND(17 * GIB, 2 * PAGE, 0, 0),
	};
	struct drm_asahi_vm_bind args = {
		.vm_id = new_vm(FD(state)),
		.num_binds = 2,
		.stride = sizeof(ops[0]),
		.userptr = (uintptr_t)ops,
	};
	struct asahi_shim_mapping m;

	assert_int_equal(call(FD(state), DRM_IOCTL_ASAHI_VM_BIND, &args), EINVAL);
	assert_false(asahi_shim_find_mapping(FD(state), args.vm_id, 16 * GIB, &m));
	args.num_binds = 1;
	assert_int_equal(call(FD(state), DRM_IOCTL_ASAHI_VM_BIND, &args), 0);
	assert_true(asahi_shim_find_mapping(FD(state), args.vm_id, 16 * GIB, &m));
}

static int bind_times(int fd, uint32_t bo, uint64_t range, uint32_t *object)
{
	struct drm_asahi_gem_bind_object args = {
		.op = DRM_ASAHI_BIND_OBJECT_OP_BIND,
		.flags = DRM_ASAHI_BIND_OBJECT_USAGE_TIMESTAMPS,
		.handle = bo,
		.range = range,
	};
	int err = call(fd, DRM_IOCTL_ASAHI_GEM_BIND_OBJECT, &args);

	*object = args.object_handle;
	return err;
}

static int unbind_times(int fd, uint32_t object)
{
	struct drm_asahi_gem_bind_object args = {
		.op = DRM_ASAHI_BIND_OBJECT_OP_UNBIND,
		.object_handle = object,
	};

	return call(fd, DRM_IOCTL_ASAHI_GEM_BIND_OBJECT, &args);
}

/* A file leaves as much of the window to all others as it has itself. */
static void test_times_are_shared(void **state)
{
	const uint64_t window = AGX_VA_TIMESTAMP_END - AGX_VA_TIMESTAMP_START;
	const int other = open(ASAHI_SHIM_NODE, O_RDWR | O_CLOEXEC);
	uint32_t mine = new_bo(FD(state), window), its = new_bo(other, window);
	uint32_t object, half, more;

	assert_int_equal(bind_times(FD(state), mine, window, &object), ENOSPC);
	assert_int_equal(bind_times(FD(state), mine, window / 2 + PAGE, &object), ENOSPC);
	assert_int_equal(bind_times(FD(state), mine, window / 2, &half), 0);
	assert_int_equal(bind_times(FD(state), mine, PAGE, &object), ENOSPC);
	/* the other one has half of what is left, in two parts */
	assert_int_equal(bind_times(other, its, window / 4 + PAGE, &object), ENOSPC);
	assert_int_equal(bind_times(other, its, window / 8, &object), 0);
	assert_int_equal(bind_times(other, its, window / 8 + PAGE, &more), ENOSPC);
	assert_int_equal(bind_times(other, its, window / 8, &more), 0);
	assert_int_equal(bind_times(other, its, PAGE, &object), ENOSPC);
	/* what one gives back, either can have */
	assert_int_equal(unbind_times(FD(state), half), 0);
	assert_int_equal(bind_times(other, its, window / 4 + PAGE, &object), ENOSPC);
	assert_int_equal(bind_times(other, its, window / 4, &object), 0);
	assert_int_equal(bind_times(FD(state), mine, window / 4 + PAGE, &object), ENOSPC);
	close(other);
	assert_int_equal(bind_times(FD(state), mine, window / 2, &half), 0);
}

static void test_record(void **state)
{
	const struct asahi_shim_call *last;
	uint32_t syncobj = new_syncobj(FD(state));

	assert_int_equal(asahi_shim_count(0), 1);
	last = asahi_shim_call(0, -1);
	assert_int_equal(last->request, DRM_IOCTL_SYNCOBJ_CREATE);
	assert_int_equal(last->fd, FD(state));
	assert_int_equal(last->out.syncobj_create.handle, syncobj);
	assert_null(asahi_shim_call(0, 1));
	assert_null(asahi_shim_call(0, -2));
	assert_null(asahi_shim_call(DRM_IOCTL_GEM_CLOSE, 0));

	assert_int_equal(drmSyncobjDestroy(FD(state), 77), -1);
	last = asahi_shim_call(DRM_IOCTL_SYNCOBJ_DESTROY, 0);
	assert_int_equal(last->error, EINVAL);
	assert_int_equal(last->in.syncobj_destroy.handle, 77);
	assert_ptr_equal(asahi_shim_call(0, 1), last);

	asahi_shim_record(false);
	assert_int_equal(drmSyncobjDestroy(FD(state), syncobj), 0);
	assert_int_equal(asahi_shim_count(0), 0);
}

static void test_fail(void **state)
{
	uint32_t syncobj;

	asahi_shim_fail(DRM_IOCTL_SYNCOBJ_CREATE, 2, ENOMEM);
	syncobj = new_syncobj(FD(state));
	assert_int_equal(drmSyncobjDestroy(FD(state), syncobj), 0);
	assert_false(asahi_shim_failed());
	assert_int_equal(drmSyncobjCreate(FD(state), 0, &syncobj), -1);
	assert_int_equal(errno, ENOMEM);
	assert_true(asahi_shim_failed());
	new_syncobj(FD(state));
	asahi_shim_fail(0, 1, ENODEV);
	assert_int_equal(drmSyncobjDestroy(FD(state), 1), -1);
	assert_int_equal(errno, ENODEV);
	assert_int_equal(drmSyncobjDestroy(FD(state), 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		NODE_TEST(test_sizes),
		NODE_TEST(test_params),
		NODE_TEST(test_params_sizes),
		NODE_TEST(test_bad_addresses),
		NODE_TEST(test_client_name),
		NODE_TEST(test_bindings),
		NODE_TEST(test_binds_at_once),
		NODE_TEST(test_times_are_shared),
		NODE_TEST(test_record),
		NODE_TEST(test_fail),
	};

	return cmocka_run_group_tests_name("calls", tests, NULL, NULL);
}
