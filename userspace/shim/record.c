// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The record of ioctls: kept for tests, printed for people, and ioctls that tests let fail.
 *
 * drm.c hands each call over when it has returned, with copies of what its pointers led to.
 * It is printed if there is a log, as one line, and appended to a list while a test records;
 * otherwise it is freed. Numbers of requests are compared without direction and size, which
 * differ between versions of a structure.
 *
 * Everything is protected by shim_lock, which the functions for tests take. Calls on the
 * list do not change until asahi_shim_record() frees them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"

static bool record_recording;
static struct shim_call *record_first_call;
static struct shim_call **record_last_link = &record_first_call;

static struct {
	unsigned int request;
	unsigned int left;
	int error;
} record_fault;

static FILE *record_log_file;

/* Return: whether a call is this request, whatever the size of the argument; 0 is any. */
static bool record_is_request(const struct asahi_shim_call *call, unsigned int request)
{
	return !request || (_IOC_TYPE(call->request) == _IOC_TYPE(request) &&
			    _IOC_NR(call->request) == _IOC_NR(request));
}

static void record_call_free(struct shim_call *call)
{
	free((void *)call->base.binds);
	free((void *)call->base.syncs);
	free((void *)call->base.commands);
	free((void *)call->base.handles);
	free((void *)call->base.points);
	free(call->cmdbuf);
	free(call);
}

void asahi_shim_record(bool on)
{
	struct shim_call *call;

	pthread_mutex_lock(&shim_lock);
	while ((call = record_first_call)) {
		record_first_call = call->next;
		record_call_free(call);
	}
	record_last_link = &record_first_call;
	record_recording = on;
	record_fault.left = 0;
	pthread_mutex_unlock(&shim_lock);
}

static size_t record_count_calls(unsigned int request)
{
	const struct shim_call *call;
	size_t count = 0;

	for (call = record_first_call; call; call = call->next)
		count += record_is_request(&call->base, request);
	return count;
}

size_t asahi_shim_count(unsigned int request)
{
	size_t count;

	pthread_mutex_lock(&shim_lock);
	count = record_count_calls(request);
	pthread_mutex_unlock(&shim_lock);
	return count;
}

const struct asahi_shim_call *asahi_shim_call(unsigned int request, int index)
{
	const struct shim_call *call;

	pthread_mutex_lock(&shim_lock);
	if (index < 0)
		index += record_count_calls(request);
	for (call = index < 0 ? NULL : record_first_call; call; call = call->next)
		if (record_is_request(&call->base, request) && !index--)
			break;
	pthread_mutex_unlock(&shim_lock);
	return call ? &call->base : NULL;
}

void asahi_shim_fail(unsigned int request, unsigned int nth, int error)
{
	pthread_mutex_lock(&shim_lock);
	record_fault.request = request;
	record_fault.left = nth;
	record_fault.error = error;
	pthread_mutex_unlock(&shim_lock);
}

bool asahi_shim_failed(void)
{
	bool failed;

	pthread_mutex_lock(&shim_lock);
	failed = !record_fault.left;
	pthread_mutex_unlock(&shim_lock);
	return failed;
}

int shim_record_fail(unsigned int request)
{
	const struct asahi_shim_call call = { .request = request };

	if (!record_fault.left || !record_is_request(&call, record_fault.request))
		return 0;
	return --record_fault.left ? 0 : record_fault.error;
}

/* Printing */

int shim_record_log(const char *path)
{
	record_log_file = shim_fd_stream(path, O_APPEND);
	if (!record_log_file)
		return errno;
	setvbuf(record_log_file, NULL, _IOLBF, 0);
	return 0;
}

#define PRINT(...)	fprintf(record_log_file, " " __VA_ARGS__)
#define ULL(value)	((unsigned long long)(value))

static void record_print_syncs(const char *what, const struct drm_asahi_sync *syncs, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		PRINT("%s %u", what, syncs[i].handle);
		if (syncs[i].sync_type == DRM_ASAHI_SYNC_TIMELINE_SYNCOBJ)
			fprintf(record_log_file, "@%llu", ULL(syncs[i].timeline_value));
	}
}

static void record_print_barrier(const char *name, uint16_t barrier)
{
	if (barrier != DRM_ASAHI_BARRIER_NONE)
		PRINT("%s barrier %u", name, barrier);
}

static void record_print_compute(const struct asahi_shim_command *command)
{
	struct drm_asahi_cmd_compute cmd = { .flags = 0 };
	size_t size = command->header.size;

	memcpy(&cmd, command->payload, size < sizeof(cmd) ? size : sizeof(cmd));
	PRINT("stream 0x%llx..0x%llx", ULL(cmd.cdm_ctrl_stream_base),
	      ULL(cmd.cdm_ctrl_stream_end));
}

static void record_print_render(const struct asahi_shim_command *command)
{
	struct drm_asahi_cmd_render cmd = { .flags = 0 };
	size_t size = command->header.size;

	memcpy(&cmd, command->payload, size < sizeof(cmd) ? size : sizeof(cmd));
	PRINT("stream 0x%llx image %ux%ux%u samples %u flags 0x%x", ULL(cmd.vdm_ctrl_stream_base),
	      cmd.width_px, cmd.height_px, cmd.layers, cmd.samples, cmd.flags);
}

static void record_print_command(const struct asahi_shim_command *command)
{
	static const char *const names[] = {
		[DRM_ASAHI_CMD_RENDER] = "render",
		[DRM_ASAHI_CMD_COMPUTE] = "compute",
		[DRM_ASAHI_SET_VERTEX_ATTACHMENTS] = "vertex attachments",
		[DRM_ASAHI_SET_FRAGMENT_ATTACHMENTS] = "fragment attachments",
		[DRM_ASAHI_SET_COMPUTE_ATTACHMENTS] = "compute attachments",
	};
	const struct drm_asahi_cmd_header *header = &command->header;

	fprintf(record_log_file, "; %s, %u bytes",
		header->cmd_type < sizeof(names) / sizeof(names[0]) ? names[header->cmd_type] :
								      "unknown command",
		header->size);
	record_print_barrier("vdm", header->vdm_barrier);
	record_print_barrier("cdm", header->cdm_barrier);
	if (header->cmd_type == DRM_ASAHI_CMD_COMPUTE)
		record_print_compute(command);
	else if (header->cmd_type == DRM_ASAHI_CMD_RENDER)
		record_print_render(command);
}

static void record_print_submit(const struct asahi_shim_call *call)
{
	const struct drm_asahi_submit *args = &call->in.submit;
	size_t i;

	PRINT("queue %u", args->queue_id);
	if (call->syncs) {
		record_print_syncs("wait", call->syncs, args->in_sync_count);
		record_print_syncs("signal", call->syncs + args->in_sync_count,
				   args->out_sync_count);
	}
	for (i = 0; i < call->num_commands; i++)
		record_print_command(&call->commands[i]);
}

static void record_print_binds(const struct asahi_shim_call *call)
{
	uint32_t i;

	PRINT("vm %u", call->in.vm_bind.vm_id);
	for (i = 0; call->binds && i < call->in.vm_bind.num_binds; i++) {
		const struct drm_asahi_gem_bind_op *op = &call->binds[i];

		fprintf(record_log_file, "; 0x%llx+0x%llx flags 0x%x", ULL(op->addr),
			ULL(op->range), op->flags);
		if (op->handle)
			PRINT("handle %u+0x%llx", op->handle, ULL(op->offset));
	}
}

static void record_print_handles(const struct asahi_shim_call *call)
{
	size_t i;

	for (i = 0; i < call->num_handles; i++) {
		PRINT("%u", call->handles[i]);
		if (call->points)
			fprintf(record_log_file, "@%llu", ULL(call->points[i]));
	}
}

static void record_print_wait(int64_t deadline_ns, uint32_t flags)
{
	PRINT("until %lld flags 0x%x", (long long)deadline_ns, flags);
}

/* Prints the arguments that tell what a call was for, those that it returned included. */
static void record_print_arguments(const struct asahi_shim_call *call)
{
	const union asahi_shim_args *in = &call->in, *out = &call->out;

	switch (call->request) {
	case DRM_IOCTL_GEM_CLOSE:
		PRINT("handle %u", in->gem_close.handle);
		break;
	case DRM_IOCTL_PRIME_HANDLE_TO_FD:
	case DRM_IOCTL_PRIME_FD_TO_HANDLE:
		PRINT("handle %u fd %d flags 0x%x", out->prime_handle.handle,
		      out->prime_handle.fd, in->prime_handle.flags);
		break;
	case DRM_IOCTL_SYNCOBJ_CREATE:
		PRINT("handle %u flags 0x%x", out->syncobj_create.handle,
		      in->syncobj_create.flags);
		break;
	case DRM_IOCTL_SYNCOBJ_DESTROY:
		PRINT("handle %u", in->syncobj_destroy.handle);
		break;
	case DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD:
	case DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE:
		PRINT("handle %u fd %d flags 0x%x", out->syncobj_handle.handle,
		      out->syncobj_handle.fd, in->syncobj_handle.flags);
		break;
	case DRM_IOCTL_SYNCOBJ_WAIT:
		record_print_wait(in->syncobj_wait.timeout_nsec, in->syncobj_wait.flags);
		break;
	case DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT:
		record_print_wait(in->syncobj_timeline_wait.timeout_nsec,
				  in->syncobj_timeline_wait.flags);
		break;
	case DRM_IOCTL_SYNCOBJ_TRANSFER:
		PRINT("%u@%llu to %u@%llu", in->syncobj_transfer.src_handle,
		      ULL(in->syncobj_transfer.src_point), in->syncobj_transfer.dst_handle,
		      ULL(in->syncobj_transfer.dst_point));
		break;
	case DRM_IOCTL_ASAHI_VM_CREATE:
		PRINT("vm %u kernel 0x%llx..0x%llx", out->vm_create.vm_id,
		      ULL(in->vm_create.kernel_start), ULL(in->vm_create.kernel_end));
		break;
	case DRM_IOCTL_ASAHI_VM_DESTROY:
		PRINT("vm %u", in->vm_destroy.vm_id);
		break;
	case DRM_IOCTL_ASAHI_GEM_CREATE:
		PRINT("handle %u size 0x%llx flags 0x%x vm %u", out->gem_create.handle,
		      ULL(in->gem_create.size), in->gem_create.flags, in->gem_create.vm_id);
		break;
	case DRM_IOCTL_ASAHI_GEM_MMAP_OFFSET:
		PRINT("handle %u offset 0x%llx", in->gem_mmap_offset.handle,
		      ULL(out->gem_mmap_offset.offset));
		break;
	case DRM_IOCTL_ASAHI_QUEUE_CREATE:
		PRINT("queue %u vm %u priority %u usc 0x%llx", out->queue_create.queue_id,
		      in->queue_create.vm_id, in->queue_create.priority,
		      ULL(in->queue_create.usc_exec_base));
		break;
	case DRM_IOCTL_ASAHI_QUEUE_DESTROY:
		PRINT("queue %u", in->queue_destroy.queue_id);
		break;
	case DRM_IOCTL_ASAHI_VM_BIND:
		record_print_binds(call);
		break;
	case DRM_IOCTL_ASAHI_SUBMIT:
		record_print_submit(call);
		break;
	default:
		break;
	}
	record_print_handles(call);
}

static void record_print(const struct shim_call *call)
{
	fprintf(record_log_file, "%s fd %d", call->name, call->base.fd);
	record_print_arguments(&call->base);
	fprintf(record_log_file, ": %s\n", call->base.error ? strerror(call->base.error) : "ok");
}

void shim_record_add(struct shim_call *call)
{
	if (record_log_file)
		record_print(call);
	if (!record_recording) {
		record_call_free(call);
		return;
	}
	*record_last_link = call;
	record_last_link = &call->next;
}

void shim_record_forget(void)
{
	record_recording = false;
	record_first_call = NULL;
	record_last_link = &record_first_call;
	record_fault.left = 0;
	record_log_file = NULL;
}
