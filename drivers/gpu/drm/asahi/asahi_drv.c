// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * DRM driver: ioctls, files, module.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/math64.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/platform_device.h>
#include <linux/slab.h>
#include <linux/time64.h>
#include <linux/uaccess.h>

#ifdef CONFIG_ARM64
#include <clocksource/arm_arch_timer.h>
#else
#include <linux/ktime.h>
#endif

#include <drm/asahi_drm.h>
#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_gem_shmem_helper.h>
#include <drm/drm_ioctl.h>
#include <drm/drm_print.h>

#include "asahi_debugfs.h"
#include "asahi_device.h"
#include "asahi_drv.h"
#include "asahi_gem.h"
#include "asahi_hw.h"
#include "asahi_queue.h"
#include "asahi_vm.h"

bool asahi_unproven;
module_param_named(unproven, asahi_unproven, bool, 0444);
MODULE_PARM_DESC(unproven,
		 "Allow what has never been tried on Apple hardware: binding again after unbind, high priorities (default: no)");

int asahi_fault_control = -1;
module_param_named(fault_control, asahi_fault_control, int, 0444);
MODULE_PARM_DESC(fault_control,
		 "Fault control of the firmware: 0 makes unmapped accesses of shaders fault, 11 ignores them (default: -1, as the boot loader has set it)");

/**
 * DOC: Ioctls
 *
 * This file checks what can be checked by looking at the fixed structures
 * alone: flags, padding, groups. What an ID, an address or an array means is
 * checked by whoever looks it up. An ioctl that is under way keeps the device
 * from being unplugged until it is done. All its waits for the firmware are
 * bounded; it waits for no job, and for a page of the caller's memory as long as
 * whoever provides that page takes.
 */

static int refuse(struct drm_device *drm, const char *what)
{
	drm_dbg(drm, "refused: %s\n", what);
	return -EINVAL;
}

static int ioctl_get_params(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct asahi_device *adev = to_asahi_device(drm);
	const struct drm_asahi_get_params *args = data;
	int err;

	if (args->param_group || args->pad)
		return refuse(drm, "parameter group or padding is not zero");
	if (asahi_device_dead(adev))
		return -ENODEV;

	err = copy_struct_to_user(u64_to_user_ptr(args->pointer), args->size, &adev->params,
				  sizeof(adev->params), NULL);
	if (err)
		drm_dbg(drm, "parameters cannot be written to user memory\n");

	return err;
}

/* The GPU's clock is the system's counter, here in the unit of its timestamps. */
static u64 read_gpu_time(void)
{
#ifdef CONFIG_ARM64
	return mul_u64_u32_div(arch_timer_read_counter(), NSEC_PER_SEC, arch_timer_get_cntfrq());
#else
	return ktime_get_raw_ns();
#endif
}

static int ioctl_get_time(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_asahi_get_time *args = data;

	if (args->flags)
		return refuse(drm, "flags are not zero");

	args->gpu_timestamp = read_gpu_time();
	return 0;
}

static int ioctl_vm_create(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_asahi_vm_create *args = data;

	if (args->pad)
		return refuse(drm, "padding is not zero");

	return asahi_vm_create(to_asahi_file(file), args->kernel_start, args->kernel_end,
			       &args->vm_id);
}

static int ioctl_vm_destroy(struct drm_device *drm, void *data, struct drm_file *file)
{
	const struct drm_asahi_vm_destroy *args = data;

	if (args->pad)
		return refuse(drm, "padding is not zero");

	return asahi_vm_destroy(to_asahi_file(file), args->vm_id);
}

static int ioctl_vm_bind(struct drm_device *drm, void *data, struct drm_file *file)
{
	const struct drm_asahi_vm_bind *args = data;

	if (args->pad)
		return refuse(drm, "padding is not zero");

	return asahi_vm_bind(to_asahi_file(file), args);
}

static int ioctl_gem_create(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_asahi_gem_create *args = data;

	if (args->pad)
		return refuse(drm, "padding is not zero");

	return asahi_gem_create(to_asahi_file(file), args);
}

static int ioctl_gem_mmap_offset(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_asahi_gem_mmap_offset *args = data;

	if (args->flags)
		return refuse(drm, "flags are not zero");

	return asahi_gem_mmap_offset(to_asahi_file(file), args);
}

static int ioctl_gem_bind_object(struct drm_device *drm, void *data, struct drm_file *file)
{
	const struct drm_asahi_gem_bind_object *args = data;

	if (args->pad || args->vm_id)
		return refuse(drm, "padding or address space is not zero");
	if (args->op > DRM_ASAHI_BIND_OBJECT_OP_UNBIND)
		return refuse(drm, "unknown operation on an object");

	drm_dbg(drm, "timestamp objects are not supported yet\n");
	return -EOPNOTSUPP;
}

static int ioctl_queue_create(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_asahi_queue_create *args = data;

	if (args->flags)
		return refuse(drm, "flags are not zero");

	return asahi_queue_create(to_asahi_file(file), args, &args->queue_id);
}

static int ioctl_queue_destroy(struct drm_device *drm, void *data, struct drm_file *file)
{
	const struct drm_asahi_queue_destroy *args = data;

	if (args->pad)
		return refuse(drm, "padding is not zero");

	return asahi_queue_destroy(to_asahi_file(file), args->queue_id);
}

static int ioctl_submit(struct drm_device *drm, void *data, struct drm_file *file)
{
	const struct drm_asahi_submit *args = data;

	if (args->flags || args->pad)
		return refuse(drm, "flags or padding are not zero");

	return asahi_queue_submit(to_asahi_file(file), args);
}

static const struct drm_ioctl_desc asahi_ioctls[] = {
	DRM_IOCTL_DEF_DRV(ASAHI_GET_PARAMS, ioctl_get_params, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(ASAHI_GET_TIME, ioctl_get_time, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(ASAHI_VM_CREATE, ioctl_vm_create, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(ASAHI_VM_DESTROY, ioctl_vm_destroy, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(ASAHI_VM_BIND, ioctl_vm_bind, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(ASAHI_GEM_CREATE, ioctl_gem_create, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(ASAHI_GEM_MMAP_OFFSET, ioctl_gem_mmap_offset, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(ASAHI_GEM_BIND_OBJECT, ioctl_gem_bind_object, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(ASAHI_QUEUE_CREATE, ioctl_queue_create, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(ASAHI_QUEUE_DESTROY, ioctl_queue_destroy, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(ASAHI_SUBMIT, ioctl_submit, DRM_RENDER_ALLOW),
};

/* Only this driver's own: those of the core may wait for as long as users like. */
static bool is_driver_ioctl(unsigned int cmd)
{
	unsigned int nr = DRM_IOCTL_NR(cmd);

	return nr >= DRM_COMMAND_BASE && nr < DRM_COMMAND_END;
}

static long asahi_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	struct drm_file *file = filp->private_data;
	struct drm_device *drm = file->minor->dev;
	long ret;
	int idx;

	if (!is_driver_ioctl(cmd))
		return drm_ioctl(filp, cmd, arg);

	if (!drm_dev_enter(drm, &idx))
		return -ENODEV;
	ret = drm_ioctl(filp, cmd, arg);
	drm_dev_exit(idx);
	return ret;
}

#ifdef CONFIG_COMPAT
static long asahi_compat_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	/* All structures look the same to 32-bit tasks. */
	if (is_driver_ioctl(cmd))
		return asahi_ioctl(filp, cmd, (unsigned long)compat_ptr(arg));

	return drm_compat_ioctl(filp, cmd, arg);
}
#else
#define asahi_compat_ioctl NULL
#endif

static int asahi_open(struct drm_device *drm, struct drm_file *drm_file)
{
	struct asahi_file *file;
	int err;

	file = kzalloc_obj(*file);
	if (!file)
		return -ENOMEM;

	file->adev = to_asahi_device(drm);
	file->drm_file = drm_file;
	xa_init_flags(&file->vms, XA_FLAGS_ALLOC1);
	xa_init_flags(&file->queues, XA_FLAGS_ALLOC1);

	err = asahi_queue_file_open(file);
	if (err) {
		kfree(file);
		return err;
	}

	drm_file->driver_priv = file;
	asahi_count_inc(ASAHI_COUNT_FILE);
	return 0;
}

static void asahi_postclose(struct drm_device *drm, struct drm_file *drm_file)
{
	struct asahi_file *file = to_asahi_file(drm_file);

	asahi_queue_file_close(file);
	asahi_vm_file_close(file);
	xa_destroy(&file->queues);
	xa_destroy(&file->vms);
	kfree(file);
	asahi_count_dec(ASAHI_COUNT_FILE);
}

static int asahi_release(struct inode *inode, struct file *filp)
{
	struct drm_file *drm_file = filp->private_data;

	to_asahi_file(drm_file)->closing = true;

	return drm_release(inode, filp);
}

static const struct file_operations asahi_fops = {
	.owner = THIS_MODULE,
	.open = drm_open,
	.release = asahi_release,
	.unlocked_ioctl = asahi_ioctl,
	.compat_ioctl = asahi_compat_ioctl,
	.poll = drm_poll,
	.read = drm_read,
	.llseek = noop_llseek,
	.mmap = drm_gem_mmap,
	.get_unmapped_area = drm_gem_get_unmapped_area,
	.show_fdinfo = drm_show_fdinfo,
	.fop_flags = FOP_UNSIGNED_OFFSET,
};

static const struct drm_driver asahi_drm_driver = {
	.driver_features = DRIVER_GEM | DRIVER_RENDER | DRIVER_SYNCOBJ |
			   DRIVER_SYNCOBJ_TIMELINE,
	.open = asahi_open,
	.postclose = asahi_postclose,
	.show_fdinfo = asahi_queue_show_fdinfo,
	.gem_create_object = asahi_gem_create_object,
	.gem_prime_import = asahi_gem_prime_import,
	.gem_prime_import_sg_table = asahi_gem_prime_import_sg_table,
	.ioctls = asahi_ioctls,
	.num_ioctls = ARRAY_SIZE(asahi_ioctls),
	.fops = &asahi_fops,
	.name = "asahi",
	.desc = "Apple AGX GPU",
	.major = 0,
	.minor = 0,
	.patchlevel = 0,
};

static int asahi_probe(struct platform_device *pdev)
{
	return asahi_device_probe(pdev, &asahi_drm_driver);
}

static void asahi_remove(struct platform_device *pdev)
{
	asahi_device_remove(platform_get_drvdata(pdev));
}

static const struct of_device_id asahi_of_match[] = {
	{ .compatible = "apple,agx-g13g", .data = &asahi_hw_t8103 },
	{ .compatible = "apple,agx-g13s", .data = &asahi_hw_t6000 },
	{ .compatible = "apple,agx-g13c", .data = &asahi_hw_t6001 },
	{ .compatible = "apple,agx-g13d", .data = &asahi_hw_t6002 },
	{ .compatible = "apple,agx-g14g", .data = &asahi_hw_t8112 },
	{ .compatible = "apple,agx-g14s", .data = &asahi_hw_t6020 },
	{ .compatible = "apple,agx-g14c", .data = &asahi_hw_t6021 },
	{ .compatible = "apple,agx-g14d", .data = &asahi_hw_t6022 },
	{ }
};
MODULE_DEVICE_TABLE(of, asahi_of_match);

static struct platform_driver asahi_platform_driver = {
	.driver = {
		.name = "asahi",
		.of_match_table = asahi_of_match,
	},
	.probe = asahi_probe,
	.remove = asahi_remove,
};

static int __init asahi_module_init(void)
{
	int err;

	err = asahi_queue_module_init();
	if (err)
		return err;

	asahi_debugfs_init();
	err = platform_driver_register(&asahi_platform_driver);
	if (err) {
		asahi_debugfs_fini();
		asahi_queue_module_exit();
	}

	return err;
}
module_init(asahi_module_init);

static void __exit asahi_module_exit(void)
{
	platform_driver_unregister(&asahi_platform_driver);
	asahi_queue_module_exit();
	asahi_debugfs_fini();
}
module_exit(asahi_module_exit);

MODULE_DESCRIPTION("Apple AGX GPU driver");
MODULE_AUTHOR("The asahi driver authors");
MODULE_LICENSE("Dual MIT/GPL");
MODULE_IMPORT_NS("DMA_BUF");
