// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The ioctls: a table of them, and what the DRM core does for all of them.
 *
 * shim_drm_ioctl() looks up whether the descriptor is an open file of the node, a sync file
 * or a DMA buffer, finds the ioctl by its number in that kind's table, copies the argument
 * in, calls the handler, copies the argument out and records the call. The sizes of caller
 * and table may differ, as between an old program and a new kernel: the shorter one counts,
 * and the rest of the handler's argument is zero.
 *
 * Any thread of the program calls it. It holds shim_lock from the look-up to the record, so
 * that handlers need no lock of their own; only a handler that waits lets it go meanwhile,
 * see shim_wait_change(). The open file has a reference until the call has returned: another
 * thread may close its descriptor. Jobs that the call has made ready run afterwards, without
 * the lock.
 */
#include <errno.h>
#include <string.h>

#include "shim.h"

/* Ioctls of the DRM core */

/* Writes as much of a text as fits into *size bytes; *size becomes the length of all of it. */
static int drm_write_text(uint64_t user, __kernel_size_t *size, const char *text)
{
	size_t room = *size, length = strlen(text);

	*size = length;
	return user ? shim_copy_out(user, text, length < room ? length : room) : 0;
}

static int drm_version(struct shim_file *file, union asahi_shim_args *all, struct shim_call *call)
{
	struct drm_version *args = &all->version;
	int err;

	args->version_major = 0;
	args->version_minor = 0;
	args->version_patchlevel = 0;
	err = drm_write_text((uintptr_t)args->name, &args->name_len, "asahi");
	if (!err)
		err = drm_write_text((uintptr_t)args->date, &args->date_len, "0");
	if (!err)
		err = drm_write_text((uintptr_t)args->desc, &args->desc_len,
				     "Apple AGX GPU (shim)");
	return err;
}

static int drm_get_cap(struct shim_file *file, union asahi_shim_args *all, struct shim_call *call)
{
	struct drm_get_cap *args = &all->get_cap;

	switch (args->capability) {
	case DRM_CAP_TIMESTAMP_MONOTONIC:
	case DRM_CAP_SYNCOBJ:
	case DRM_CAP_SYNCOBJ_TIMELINE:
		args->value = 1;
		return 0;
	case DRM_CAP_PRIME:
		args->value = DRM_PRIME_CAP_IMPORT | DRM_PRIME_CAP_EXPORT;
		return 0;
	default:
		/* the other capabilities are those of displays */
		args->value = 0;
		return EOPNOTSUPP;
	}
}

/* Nothing shows the name: there is no fdinfo. */
static int drm_set_client_name(struct shim_file *file, union asahi_shim_args *all,
			       struct shim_call *call)
{
	const struct drm_set_client_name *args = &all->set_client_name;
	char name[DRM_CLIENT_NAME_MAX_LEN];
	uint64_t i;
	int err;

	if (args->name_len > sizeof(name))
		return EINVAL;
	err = shim_copy_in(name, args->name, args->name_len);
	for (i = 0; !err && i < args->name_len; i++)
		if (name[i] <= ' ' || name[i] > '~')
			err = EINVAL;
	return err;
}

/* Ioctls of the device */

static int drm_get_params(struct shim_file *file, union asahi_shim_args *all,
			  struct shim_call *call)
{
	static const uint8_t zeroes[4096];
	const struct drm_asahi_get_params *args = &all->get_params;
	const struct drm_asahi_params_global *params = asahi_shim_params();
	uint64_t known = args->size < sizeof(*params) ? args->size : sizeof(*params);
	uint64_t at, n;
	int err;

	if (args->param_group || args->pad)
		return EINVAL;
	err = shim_copy_out(args->pointer, params, known);
	for (at = known; !err && at < args->size; at += n) {
		n = args->size - at < sizeof(zeroes) ? args->size - at : sizeof(zeroes);
		err = shim_copy_out(args->pointer + at, zeroes, n);
	}
	return err;
}

static int drm_get_time(struct shim_file *file, union asahi_shim_args *all, struct shim_call *call)
{
	if (all->get_time.flags)
		return EINVAL;
	all->get_time.gpu_timestamp = shim_now_ns();
	return 0;
}

struct ioctl_desc {
	unsigned int request;
	const char *name;
	shim_handler *handler;
};

#define CORE(name, handler)	{ DRM_IOCTL_##name, #name, handler }
#define ASAHI(name, handler)	{ DRM_IOCTL_ASAHI_##name, "ASAHI_" #name, handler }

static const struct ioctl_desc drm_ioctls[] = {
	CORE(VERSION, drm_version),
	CORE(GET_CAP, drm_get_cap),
	CORE(SET_CLIENT_NAME, drm_set_client_name),
	CORE(GEM_CLOSE, shim_gem_close),
	CORE(PRIME_HANDLE_TO_FD, shim_prime_handle_to_fd),
	CORE(PRIME_FD_TO_HANDLE, shim_prime_fd_to_handle),
	CORE(SYNCOBJ_CREATE, shim_syncobj_create),
	CORE(SYNCOBJ_DESTROY, shim_syncobj_destroy),
	CORE(SYNCOBJ_HANDLE_TO_FD, shim_syncobj_handle_to_fd),
	CORE(SYNCOBJ_FD_TO_HANDLE, shim_syncobj_fd_to_handle),
	CORE(SYNCOBJ_WAIT, shim_syncobj_wait),
	CORE(SYNCOBJ_RESET, shim_syncobj_reset),
	CORE(SYNCOBJ_SIGNAL, shim_syncobj_signal),
	CORE(SYNCOBJ_TIMELINE_WAIT, shim_syncobj_timeline_wait),
	CORE(SYNCOBJ_QUERY, shim_syncobj_query),
	CORE(SYNCOBJ_TRANSFER, shim_syncobj_transfer),
	CORE(SYNCOBJ_TIMELINE_SIGNAL, shim_syncobj_timeline_signal),
	CORE(SYNCOBJ_EVENTFD, shim_syncobj_eventfd),
	ASAHI(GET_PARAMS, drm_get_params),
	ASAHI(GET_TIME, drm_get_time),
	ASAHI(VM_CREATE, shim_vm_create),
	ASAHI(VM_DESTROY, shim_vm_destroy),
	ASAHI(VM_BIND, shim_vm_bind),
	ASAHI(GEM_CREATE, shim_gem_create),
	ASAHI(GEM_MMAP_OFFSET, shim_gem_mmap_offset),
	ASAHI(GEM_BIND_OBJECT, shim_gem_bind_object),
	ASAHI(QUEUE_CREATE, shim_queue_create),
	ASAHI(QUEUE_DESTROY, shim_queue_destroy),
	ASAHI(SUBMIT, shim_submit),
};

static const struct ioctl_desc drm_sync_file_ioctls[] = {
	{ SYNC_IOC_MERGE, "SYNC_IOC_MERGE", shim_sync_file_merge },
	{ SYNC_IOC_FILE_INFO, "SYNC_IOC_FILE_INFO", shim_sync_file_info },
};

static const struct ioctl_desc drm_dma_buf_ioctls[] = {
	{ DMA_BUF_IOCTL_SYNC, "DMA_BUF_IOCTL_SYNC", shim_dma_buf_sync },
	{ DMA_BUF_IOCTL_EXPORT_SYNC_FILE, "DMA_BUF_IOCTL_EXPORT_SYNC_FILE",
	  shim_dma_buf_export_sync_file },
	{ DMA_BUF_IOCTL_IMPORT_SYNC_FILE, "DMA_BUF_IOCTL_IMPORT_SYNC_FILE",
	  shim_dma_buf_import_sync_file },
};

static const struct ioctl_desc *drm_find(const struct ioctl_desc *table, size_t count,
					 unsigned int request)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (_IOC_NR(table[i].request) == _IOC_NR(request))
			return &table[i];
	return NULL;
}

#define FIND(table, request)	drm_find(table, sizeof(table) / sizeof((table)[0]), request)

/*
 * Copies the argument in, calls the handler, and copies the argument out, even if the handler
 * has failed, as the DRM core does. Return: 0 or an errno value.
 */
static int drm_call_handler(const struct ioctl_desc *desc, struct shim_file *file,
			    struct shim_call *call, void *arg)
{
	unsigned int request = call->base.request;
	unsigned int directions = _IOC_DIR(request) & _IOC_DIR(desc->request);
	size_t size = _IOC_SIZE(request) < _IOC_SIZE(desc->request) ? _IOC_SIZE(request) :
								      _IOC_SIZE(desc->request);
	union asahi_shim_args args;
	int err;

	memset(&args, 0, sizeof(args));
	err = directions & _IOC_WRITE ? shim_copy_in(&args, (uintptr_t)arg, size) : 0;
	if (err)
		return err;
	call->base.in = args;
	err = shim_record_fail(request);
	if (err)
		return err;
	err = desc->handler(file, &args, call);
	call->base.out = args;
	if ((directions & _IOC_READ) && shim_copy_out((uintptr_t)arg, &args, size))
		err = EFAULT;
	return err;
}

/* Makes an ioctl on a descriptor. Return: 0 or an errno value; ENOTTY if it is not ours. */
static int drm_fd_ioctl(int fd, unsigned int request, void *arg)
{
	struct shim_file *file = shim_fd_find(fd, SHIM_FD_FILE);
	const struct ioctl_desc *desc = NULL;
	struct shim_call *call;
	int err;

	if (file && _IOC_TYPE(request) == DRM_IOCTL_BASE)
		desc = FIND(drm_ioctls, request);
	else if (!file && _IOC_TYPE(request) == '>' && shim_sync_file_find(fd))
		desc = FIND(drm_sync_file_ioctls, request);
	else if (_IOC_TYPE(request) == DMA_BUF_BASE && shim_fd_find(fd, SHIM_FD_DMA_BUF))
		desc = FIND(drm_dma_buf_ioctls, request);
	if (!desc)
		return file ? EINVAL : ENOTTY;

	call = shim_alloc(sizeof(*call));
	call->name = desc->name;
	call->base.fd = fd;
	call->base.request = request;
	if (file)
		file->refs++;
	err = drm_call_handler(desc, file, call, arg);
	if (file)
		shim_file_put(file);
	call->base.error = err;
	shim_record_add(call);
	return err;
}

int shim_drm_ioctl(int fd, unsigned int request, void *arg)
{
	int err;

	pthread_mutex_lock(&shim_lock);
	err = drm_fd_ioctl(fd, request, arg);
	pthread_mutex_unlock(&shim_lock);
	shim_queue_run_all();
	errno = err;
	return err ? -1 : 0;
}

unsigned int asahi_shim_objects(struct asahi_shim_objects *objects)
{
	unsigned int sum;

	pthread_mutex_lock(&shim_lock);
	shim_file_collect();
	*objects = (struct asahi_shim_objects){
		.files = shim_fd_count(SHIM_FD_FILE),
		.buffers = shim_bo_count(),
		.mappings = shim_bo_mapping_count(),
		.dma_bufs = shim_fd_count(SHIM_FD_DMA_BUF),
		.objects = shim_object_count(),
		.vms = shim_vm_count(),
		.syncobj_fds = shim_fd_count(SHIM_FD_SYNCOBJ),
		.sync_files = shim_fd_count(SHIM_FD_SYNC_FILE),
		.fences = shim_fence_count(),
	};
	objects->queues = shim_queue_count(&objects->jobs);
	shim_fd_count_handles(&objects->handles, &objects->syncobjs);
	pthread_mutex_unlock(&shim_lock);
	sum = objects->files + objects->handles + objects->buffers + objects->mappings +
	      objects->dma_bufs + objects->objects + objects->vms + objects->queues +
	      objects->jobs + objects->syncobjs + objects->syncobj_fds + objects->sync_files;
	return sum ? sum : objects->fences;
}
