// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include "fixture.h"

#define GIB	(UINT64_C(1) << 30)

static void test_new(void **state)
{
	const struct drm_asahi_params_global *params = asahi_shim_params();
	const struct asahi_shim_call *call;
	const struct fixture *f = *state;
	struct asahi_vm *vm;

	asahi_shim_fail(DRM_IOCTL_ASAHI_VM_CREATE, 1, ENOMEM);
	assert_int_equal(asahi_vm_new(f->dev, &vm), -ENOMEM);
	assert_int_equal(asahi_vm_new(f->dev, &vm), 0);
	call = asahi_shim_call(DRM_IOCTL_ASAHI_VM_CREATE, -1);
	assert_int_equal(call->in.vm_create.kernel_end, params->vm_end);
	assert_true(call->in.vm_create.kernel_start <= params->vm_end - params->vm_kernel_min_size);
	assert_int_equal(call->in.vm_create.kernel_start % PAGE, 0);
	assert_int_equal(asahi_vm_id(vm), call->out.vm_create.vm_id);
	assert_ptr_equal(asahi_vm_device(vm), f->dev);

	assert_ptr_equal(asahi_vm_ref(vm), vm);
	asahi_vm_unref(vm);
	assert_int_equal(asahi_shim_count(DRM_IOCTL_ASAHI_VM_DESTROY), 0);
	asahi_vm_unref(vm);
	assert_int_equal(asahi_shim_call(DRM_IOCTL_ASAHI_VM_DESTROY, -1)->in.vm_destroy.vm_id,
			 call->out.vm_create.vm_id);
	asahi_vm_unref(NULL);
}

/* A device with fewer addresses than the two heaps and the kernel take */
static void test_too_small(void **state)
{
	struct drm_asahi_params_global *params = asahi_shim_params();
	const struct drm_asahi_params_global normal = *params;
	struct asahi_device *dev;
	struct asahi_vm *vm;

	params->vm_end = 8 * GIB;
	assert_int_equal(asahi_device_open(NULL, &dev), 0);
	assert_int_equal(asahi_vm_new(dev, &vm), -ENOSPC);
	asahi_device_unref(dev);
	params->vm_kernel_min_size = params->vm_end;
	assert_int_equal(asahi_device_open(NULL, &dev), 0);
	assert_int_equal(asahi_vm_new(dev, &vm), -ENOSPC);
	asahi_device_unref(dev);
	*params = normal;
}

static void test_addresses(void **state)
{
	const struct drm_asahi_params_global *params = asahi_shim_params();
	uint64_t usc, main_addr, next, aligned;
	const struct fixture *f = *state;
	struct asahi_vm *vm = f->vm;

	assert_int_equal(asahi_vm_alloc(vm, ASAHI_HEAP_USC, 1, 0, &usc), 0);
	assert_int_equal(usc, asahi_vm_usc_base(vm));
	assert_int_equal(asahi_vm_alloc(vm, ASAHI_HEAP_MAIN, PAGE + 1, 0, &main_addr), 0);
	assert_true(main_addr >= asahi_vm_usc_base(vm) + 4 * GIB);
	assert_true(main_addr < params->vm_end - params->vm_kernel_min_size);
	/* nothing comes right behind it: the GPU may read past an end */
	assert_int_equal(asahi_vm_alloc(vm, ASAHI_HEAP_MAIN, 1, 0, &next), 0);
	assert_true(next >= main_addr + 3 * PAGE);
	assert_int_equal(asahi_vm_alloc(vm, ASAHI_HEAP_MAIN, PAGE, 1 << 21, &aligned), 0);
	assert_int_equal(aligned % (1 << 21), 0);

	assert_int_equal(asahi_vm_alloc(vm, ASAHI_HEAP_MAIN, 0, 0, &usc), -EINVAL);
	assert_int_equal(asahi_vm_alloc(vm, ASAHI_HEAP_COUNT, 1, 0, &usc), -EINVAL);
	assert_int_equal(asahi_vm_alloc(vm, ASAHI_HEAP_MAIN, 1, 3, &usc), -EINVAL);
	assert_int_equal(asahi_vm_alloc(vm, ASAHI_HEAP_MAIN, UINT64_MAX, 0, &usc), -EINVAL);
	assert_int_equal(asahi_vm_alloc(vm, ASAHI_HEAP_USC, 5 * GIB, 0, &usc), -ENOSPC);
	assert_int_equal(asahi_vm_free(vm, PAGE, PAGE), -EINVAL);
	assert_int_equal(asahi_vm_free(vm, main_addr + 1, 1), -EINVAL);
	assert_int_equal(asahi_vm_free(vm, main_addr, UINT64_MAX), -EINVAL);
	assert_int_equal(asahi_vm_free(vm, main_addr, PAGE + 1), 0);
	assert_int_equal(asahi_vm_free(vm, main_addr, PAGE + 1), -EINVAL);
}

static void test_bind(void **state)
{
	const struct fixture *f = *state;
	const struct drm_asahi_gem_bind_op ops[2] = {
		{ .flags = DRM_ASAHI_BIND_UNBIND, .addr = 16 * GIB, .range = PAGE },
		{ .flags = DRM_ASAHI_BIND_UNBIND, .addr = 17 * GIB, .range = 2 * PAGE },
	};
	const struct asahi_shim_call *call;

	assert_int_equal(asahi_vm_bind(f->vm, ops, 2), 0);
	call = asahi_shim_call(DRM_IOCTL_ASAHI_VM_BIND, -1);
	assert_int_equal(call->in.vm_bind.vm_id, asahi_vm_id(f->vm));
	assert_int_equal(call->in.vm_bind.num_binds, 2);
	assert_int_equal(call->in.vm_bind.stride, sizeof(ops[0]));
	assert_memory_equal(call->binds, ops, sizeof(ops));
}

static void test_map(void **state)
{
	const struct drm_asahi_gem_bind_op *op;
	struct asahi_shim_mapping mapping;
	const struct fixture *f = *state;
	struct asahi_bo *bo;
	uint64_t addr;

	assert_int_equal(asahi_bo_new(f->dev, 2 * PAGE, 0, f->vm, &bo), 0);
	assert_int_equal(asahi_vm_map(f->vm, ASAHI_HEAP_MAIN, bo, DRM_ASAHI_BIND_READ, &addr), 0);
	op = asahi_shim_call(DRM_IOCTL_ASAHI_VM_BIND, -1)->binds;
	assert_int_equal(op->flags, DRM_ASAHI_BIND_READ);
	assert_int_equal(op->handle, asahi_bo_handle(bo));
	assert_int_equal(op->offset, 0);
	assert_int_equal(op->range, 2 * PAGE);
	assert_int_equal(op->addr, addr);
	assert_true(asahi_shim_find_mapping(f->fd, asahi_vm_id(f->vm), addr + PAGE, &mapping));
	assert_int_equal(mapping.addr, addr);
	assert_int_equal(mapping.size, 2 * PAGE);

	assert_int_equal(asahi_vm_unmap(f->vm, bo, addr), 0);
	assert_int_equal(asahi_shim_count(DRM_IOCTL_ASAHI_VM_BIND), 2);
	op = asahi_shim_call(DRM_IOCTL_ASAHI_VM_BIND, -1)->binds;
	assert_int_equal(op->flags, DRM_ASAHI_BIND_UNBIND);
	assert_int_equal(op->handle, 0);
	assert_int_equal(op->range, 2 * PAGE);
	assert_int_equal(op->addr, addr);
	assert_false(asahi_shim_find_mapping(f->fd, asahi_vm_id(f->vm), addr, &mapping));
	/* its addresses are not reserved any more */
	assert_int_equal(asahi_vm_free(f->vm, addr, 2 * PAGE), -EINVAL);
	asahi_bo_unref(bo);
}

static void test_map_errors(void **state)
{
	const struct fixture *f = *state;
	uint64_t first, again;
	struct asahi_bo *bo;

	assert_int_equal(asahi_bo_new(f->dev, 1, 0, f->vm, &bo), 0);
	assert_int_equal(asahi_vm_map(f->vm, ASAHI_HEAP_MAIN, bo, DRM_ASAHI_BIND_READ, &first), 0);
	/* what is still bound stays reserved */
	asahi_shim_fail(DRM_IOCTL_ASAHI_VM_BIND, 1, ENOMEM);
	assert_int_equal(asahi_vm_unmap(f->vm, bo, first), -ENOMEM);
	assert_int_equal(asahi_vm_unmap(f->vm, bo, first), 0);
	/* what could not be bound does not */
	asahi_shim_fail(DRM_IOCTL_ASAHI_VM_BIND, 1, ENOMEM);
	assert_int_equal(asahi_vm_map(f->vm, ASAHI_HEAP_MAIN, bo, DRM_ASAHI_BIND_READ, &again),
			 -ENOMEM);
	assert_int_equal(asahi_vm_map(f->vm, ASAHI_HEAP_MAIN, bo, DRM_ASAHI_BIND_READ, &again), 0);
	assert_int_equal(first, again);
	assert_int_equal(asahi_vm_map(f->vm, ASAHI_HEAP_MAIN, bo, 0, &again), -EINVAL);
	asahi_bo_unref(bo);
}

/* A private buffer, in an address space that it is not private to */
static void test_map_elsewhere(void **state)
{
	const struct fixture *f = *state;
	struct asahi_vm *other;
	struct asahi_bo *bo;
	uint64_t addr;

	assert_int_equal(asahi_vm_new(f->dev, &other), 0);
	assert_int_equal(asahi_bo_new(f->dev, PAGE, 0, f->vm, &bo), 0);
	assert_int_equal(asahi_vm_map(other, ASAHI_HEAP_MAIN, bo, DRM_ASAHI_BIND_READ, &addr),
			 -EINVAL);
	asahi_bo_unref(bo);
	asahi_vm_unref(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DEVICE_TEST(test_new),
		BARE_TEST(test_too_small),
		VM_TEST(test_addresses),
		VM_TEST(test_bind),
		VM_TEST(test_map),
		VM_TEST(test_map_errors),
		VM_TEST(test_map_elsewhere),
	};

	return cmocka_run_group_tests_name("vm", tests, NULL, NULL);
}
