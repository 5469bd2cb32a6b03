// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * DRM driver: ioctls, files, module.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/module.h>
#include <linux/of.h>
#include <linux/platform_device.h>
#include <linux/pm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/asahi_drm.h>
#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_ioctl.h>
#include <drm/drm_print.h>

#include "asahi_client.h"
#include "asahi_clock.h"
#include "asahi_coredump.h"
#include "asahi_debugfs.h"
#include "asahi_device.h"
#include "asahi_drv.h"
#include "asahi_gem.h"
#include "asahi_hw.h"
#include "asahi_job_slab.h"
#include "asahi_lru.h"
#include "asahi_params.h"
#include "asahi_pm.h"
#include "asahi_queue.h"
#include "asahi_ref.h"
#include "asahi_stage.h"
#include "asahi_submit.h"
#include "asahi_timestamps.h"
#include "asahi_trace.h"
#include "asahi_vm.h"
#include "asahi_vm_bind.h"

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

static int asahi_drv_refuse(struct drm_device *drm, const char *what)
{
	drm_dbg(drm, "refused: %s\n", what);
	return -EINVAL;
}

static int asahi_drv_get_params(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct asahi_device *adev = to_asahi_device(drm);
	const struct drm_asahi_get_params *args = data;
	int ret;

	if (args->param_group || args->pad)
		return asahi_drv_refuse(drm, "parameter group or padding is not zero");
	if (asahi_state_lost(adev))
		return -ENODEV;

	ret = copy_struct_to_user(u64_to_user_ptr(args->pointer), args->size, &adev->params,
				  sizeof(adev->params), NULL);
	if (ret)
		drm_dbg(drm, "parameters cannot be written to user memory\n");

	return ret;
}

static int asahi_drv_get_time(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_asahi_get_time *args = data;

	if (args->flags)
		return asahi_drv_refuse(drm, "flags are not zero");

	args->gpu_timestamp = asahi_clock_to_ns(asahi_clock_now());
	return 0;
}

static int asahi_drv_vm_create(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_asahi_vm_create *args = data;

	if (args->pad)
		return asahi_drv_refuse(drm, "padding is not zero");

	return asahi_vm_create(to_asahi_file(file), args->kernel_start, args->kernel_end,
			       &args->vm_id);
}

static int asahi_drv_vm_destroy(struct drm_device *drm, void *data, struct drm_file *file)
{
	const struct drm_asahi_vm_destroy *args = data;

	if (args->pad)
		return asahi_drv_refuse(drm, "padding is not zero");

	return asahi_vm_destroy(to_asahi_file(file), args->vm_id);
}

static int asahi_drv_vm_bind(struct drm_device *drm, void *data, struct drm_file *file)
{
	const struct drm_asahi_vm_bind *args = data;

	if (args->pad)
		return asahi_drv_refuse(drm, "padding is not zero");

	return asahi_vm_bind(to_asahi_file(file), args);
}

static int asahi_drv_gem_create(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_asahi_gem_create *args = data;

	if (args->pad)
		return asahi_drv_refuse(drm, "padding is not zero");

	return asahi_gem_create(to_asahi_file(file), args);
}

static int asahi_drv_gem_mmap_offset(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_asahi_gem_mmap_offset *args = data;

	if (args->flags)
		return asahi_drv_refuse(drm, "flags are not zero");

	return asahi_gem_mmap_offset(to_asahi_file(file), args);
}

static int asahi_drv_gem_bind_object(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_asahi_gem_bind_object *args = data;

	if (args->pad || args->vm_id)
		return asahi_drv_refuse(drm, "padding or address space is not zero");

	switch (args->op) {
	case DRM_ASAHI_BIND_OBJECT_OP_BIND:
		return asahi_timestamps_bind(to_asahi_file(file), args);
	case DRM_ASAHI_BIND_OBJECT_OP_UNBIND:
		return asahi_timestamps_unbind(to_asahi_file(file), args);
	default:
		return asahi_drv_refuse(drm, "unknown operation on an object");
	}
}

static int asahi_drv_queue_create(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_asahi_queue_create *args = data;

	if (args->flags)
		return asahi_drv_refuse(drm, "flags are not zero");

	return asahi_queue_create(to_asahi_file(file), args, &args->queue_id);
}

static int asahi_drv_queue_destroy(struct drm_device *drm, void *data, struct drm_file *file)
{
	const struct drm_asahi_queue_destroy *args = data;

	if (args->pad)
		return asahi_drv_refuse(drm, "padding is not zero");

	return asahi_queue_destroy(to_asahi_file(file), args->queue_id);
}

static int asahi_drv_submit(struct drm_device *drm, void *data, struct drm_file *file)
{
	const struct drm_asahi_submit *args = data;

	if (args->flags || args->pad) {
		trace_asahi_submit(to_asahi_device(drm), file->client_id, 0, 0, -EINVAL);
		return asahi_drv_refuse(drm, "flags or padding are not zero");
	}

	return asahi_submit(to_asahi_file(file), args);
}

static const struct drm_ioctl_desc asahi_drv_ioctls[] = {
	DRM_IOCTL_DEF_DRV(ASAHI_GET_PARAMS, asahi_drv_get_params, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(ASAHI_GET_TIME, asahi_drv_get_time, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(ASAHI_VM_CREATE, asahi_drv_vm_create, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(ASAHI_VM_DESTROY, asahi_drv_vm_destroy, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(ASAHI_VM_BIND, asahi_drv_vm_bind, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(ASAHI_GEM_CREATE, asahi_drv_gem_create, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(ASAHI_GEM_MMAP_OFFSET, asahi_drv_gem_mmap_offset, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(ASAHI_GEM_BIND_OBJECT, asahi_drv_gem_bind_object, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(ASAHI_QUEUE_CREATE, asahi_drv_queue_create, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(ASAHI_QUEUE_DESTROY, asahi_drv_queue_destroy, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(ASAHI_SUBMIT, asahi_drv_submit, DRM_RENDER_ALLOW),
};

/* Only this driver's own: those of the core may wait for as long as users like. */
static bool asahi_drv_is_driver_ioctl(unsigned int cmd)
{
	unsigned int nr = DRM_IOCTL_NR(cmd);

	return nr >= DRM_COMMAND_BASE && nr < DRM_COMMAND_END;
}

static long asahi_drv_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	struct drm_file *file = filp->private_data;
	struct drm_device *drm = file->minor->dev;
	long ret;
	int idx;

	if (!asahi_drv_is_driver_ioctl(cmd))
		return drm_ioctl(filp, cmd, arg);

	if (!drm_dev_enter(drm, &idx))
		return -ENODEV;
	ret = drm_ioctl(filp, cmd, arg);
	drm_dev_exit(idx);
	return ret;
}

#ifdef CONFIG_COMPAT
static long asahi_drv_compat_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	/* All structures look the same to 32-bit tasks. */
	if (asahi_drv_is_driver_ioctl(cmd))
		return asahi_drv_ioctl(filp, cmd, (unsigned long)compat_ptr(arg));

	return drm_compat_ioctl(filp, cmd, arg);
}
#else
#define asahi_drv_compat_ioctl NULL
#endif

static int asahi_drv_open(struct drm_device *drm, struct drm_file *drm_file)
{
	struct asahi_file *file;
	int ret;

	file = kzalloc_obj(*file, GFP_KERNEL_ACCOUNT);
	if (!file)
		return -ENOMEM;

	file->adev = to_asahi_device(drm);
	file->drm_file = drm_file;
	xa_init_flags(&file->vms, XA_FLAGS_ALLOC1);
	xa_init_flags(&file->queues, XA_FLAGS_ALLOC1);
	xa_init_flags(&file->timestamps, XA_FLAGS_ALLOC1);

	ret = asahi_pm_get(file->adev);
	if (ret)
		goto err_free;

	ret = -ENOMEM;
	file->client = asahi_client_create(drm_file->client_id);
	if (!file->client)
		goto err_power;

	drm_file->driver_priv = file;
	asahi_count_inc(ASAHI_COUNT_FILE);
	return 0;

err_power:
	asahi_pm_put(file->adev);
err_free:
	kfree(file);
	return ret;
}

static void asahi_drv_postclose(struct drm_device *drm, struct drm_file *drm_file)
{
	struct asahi_file *file = to_asahi_file(drm_file);

	asahi_queue_file_close(file);
	asahi_timestamps_file_close(file);
	asahi_vm_file_close(file);
	asahi_client_put(file->client);
	xa_destroy(&file->timestamps);
	xa_destroy(&file->queues);
	xa_destroy(&file->vms);
	asahi_pm_put(file->adev);
	kfree(file);
	asahi_count_dec(ASAHI_COUNT_FILE);
}

static int asahi_drv_release(struct inode *inode, struct file *filp)
{
	struct drm_file *drm_file = filp->private_data;

	to_asahi_file(drm_file)->closing = true;

	return drm_release(inode, filp);
}

static const struct file_operations asahi_drv_fops = {
	.owner = THIS_MODULE,
	.open = drm_open,
	.release = asahi_drv_release,
	.unlocked_ioctl = asahi_drv_ioctl,
	.compat_ioctl = asahi_drv_compat_ioctl,
	.poll = drm_poll,
	.read = drm_read,
	.llseek = noop_llseek,
	.mmap = drm_gem_mmap,
	.get_unmapped_area = drm_gem_get_unmapped_area,
	.show_fdinfo = drm_show_fdinfo,
	.fop_flags = FOP_UNSIGNED_OFFSET,
};

static const struct drm_driver asahi_drv_drm_driver = {
	.driver_features = DRIVER_GEM | DRIVER_RENDER | DRIVER_SYNCOBJ |
			   DRIVER_SYNCOBJ_TIMELINE,
	.open = asahi_drv_open,
	.postclose = asahi_drv_postclose,
	.show_fdinfo = asahi_client_show_fdinfo,
	.gem_prime_import = asahi_gem_prime_import,
	.gem_prime_import_sg_table = asahi_gem_prime_import_sg_table,
	.ioctls = asahi_drv_ioctls,
	.num_ioctls = ARRAY_SIZE(asahi_drv_ioctls),
	.fops = &asahi_drv_fops,
	.name = "asahi",
	.desc = "Apple AGX GPU",
	.major = 0,
	.minor = 0,
	.patchlevel = 0,
};

static int asahi_drv_probe(struct platform_device *pdev)
{
	return asahi_device_probe(pdev, &asahi_drv_drm_driver);
}

static void asahi_drv_remove(struct platform_device *pdev)
{
	asahi_device_remove(platform_get_drvdata(pdev));
}

static const struct of_device_id asahi_drv_of_match[] = {
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
MODULE_DEVICE_TABLE(of, asahi_drv_of_match);

static struct platform_driver asahi_drv_platform_driver = {
	.driver = {
		.name = "asahi",
		.of_match_table = asahi_drv_of_match,
		.pm = pm_ptr(&asahi_pm_ops),
	},
	.probe = asahi_drv_probe,
	.remove = asahi_drv_remove,
	.shutdown = asahi_pm_shutdown,
};

static int __init asahi_drv_module_init(void)
{
	int ret;

	ret = asahi_ref_module_init();
	if (ret)
		return ret;

	ret = asahi_vma_module_init();
	if (ret)
		goto err_ref;

	ret = asahi_lru_module_init();
	if (ret)
		goto err_vma;

	ret = asahi_job_slab_module_init();
	if (ret)
		goto err_lru;

	ret = asahi_coredump_module_init();
	if (ret)
		goto err_job;

	/* What is unbound cannot be bound again but by what is unproven. */
	asahi_drv_platform_driver.driver.suppress_bind_attrs =
		!asahi_allows(ASAHI_UNPROVEN_UNBIND);

	asahi_debugfs_init();
	ret = platform_driver_register(&asahi_drv_platform_driver);
	if (ret)
		goto err_debugfs;

	return 0;

err_debugfs:
	asahi_debugfs_fini();
	asahi_stage_module_exit();
	asahi_coredump_module_exit();
err_job:
	asahi_job_slab_module_exit();
err_lru:
	asahi_lru_module_exit();
err_vma:
	asahi_vma_module_exit();
err_ref:
	asahi_ref_module_exit();
	return ret;
}
module_init(asahi_drv_module_init);

static void __exit asahi_drv_module_exit(void)
{
	platform_driver_unregister(&asahi_drv_platform_driver);
	asahi_coredump_module_exit();
	asahi_ref_module_exit();
	asahi_job_slab_module_exit();
	asahi_lru_module_exit();
	asahi_vma_module_exit();
	asahi_debugfs_fini();
	asahi_stage_module_exit();
}
module_exit(asahi_drv_module_exit);

MODULE_DESCRIPTION("Apple AGX GPU driver");
MODULE_AUTHOR("The asahi driver authors");
MODULE_LICENSE("Dual MIT/GPL");
MODULE_IMPORT_NS("DMA_BUF");
