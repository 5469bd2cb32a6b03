// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <agx/agx_uat.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sync_file.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#include <drm/asahi_drm.h>

#include "fake_drm.h"
#include "gpu/gpu.h"
#include "guest_memory.h"
#include "report.h"
#include "stream_check.h"
#include "uat.h"

#define RAM_SIZE	(UINT64_C(512) << 20)
#define RAM_GPA		UINT64_C(0x100000000)
#define PAGES		(RAM_SIZE / AGX_PAGE_SIZE)
#define TABLE_ENTRIES	2048

#define MAX_BOS		4096
#define MAX_VMS		256
#define MAX_QUEUES	256
#define MAX_SYNCS	4096

/* Jobs run one after the other, so one context does for all VMs. */
#define VM_SLOT		1

#define VM_START	AGX_VA_USER_START
#define VM_END		AGX_VA_USER_END

struct bo {
	/* 0 when the handle is free */
	uint64_t size;
	/* offset in RAM */
	uint64_t start;
};

struct vm {
	bool used;
	/* offset in RAM */
	uint64_t root;
	uint64_t kernel_start;
};

struct queue {
	bool used;
	uint32_t vm;
	uint64_t usc_base;
	int error;
};

struct sync {
	bool used;
	bool signaled;
	int error;
};

static struct fake {
	int fd;
	uint8_t *ram;
	bool page_used[PAGES];
	struct bo bos[MAX_BOS];
	struct vm vms[MAX_VMS];
	struct queue queues[MAX_QUEUES];
	struct sync syncs[MAX_SYNCS];

	struct vagx_mem *mem;
	struct vagx_report *report;
	struct vagx_uat *uat;
	struct vagx_gpu *gpu;
	FILE *streams;

	unsigned long fail_request;
	int fail_errno;
	struct fake_drm_submit last;
	uint8_t *last_cmdbuf;
} fake = { .fd = -1 };

static void die(const char *what)
{
	perror(what);
	abort();
}

/* Memory */

static uint64_t pages_alloc(uint64_t count)
{
	uint64_t first = 0, n = 0, i;

	for (i = 1; i < PAGES && n < count; i++) {
		if (fake.page_used[i]) {
			n = 0;
		} else if (!n++) {
			first = i;
		}
	}
	if (n < count)
		return 0;
	for (i = first; i < first + count; i++)
		fake.page_used[i] = true;
	memset(fake.ram + first * AGX_PAGE_SIZE, 0, count * AGX_PAGE_SIZE);
	return first * AGX_PAGE_SIZE;
}

static void pages_free(uint64_t start, uint64_t count)
{
	uint64_t i;

	for (i = 0; i < count; i++)
		fake.page_used[start / AGX_PAGE_SIZE + i] = false;
}

/* Page tables: tables and pages are named by their offset in RAM. */

static uint64_t *table_at(uint64_t offset)
{
	return (uint64_t *)(fake.ram + offset);
}

static uint64_t entry_target(uint64_t entry)
{
	return (entry & AGX_TTBR_ADDR_MASK) - RAM_GPA;
}

static uint64_t *table_step(uint64_t *entry, bool create)
{
	uint64_t table;

	if (!*entry) {
		if (!create)
			return NULL;
		table = pages_alloc(1);
		if (!table)
			die("out of fake memory");
		*entry = (RAM_GPA + table) | AGX_PTE_TYPE;
	}
	return table_at(entry_target(*entry));
}

static uint64_t *vm_pte(struct vm *vm, uint64_t va, bool create)
{
	uint64_t *table = table_at(vm->root);

	table = table_step(&table[va >> AGX_UAT_L1_SHIFT], create);
	if (table)
		table = table_step(&table[(va >> AGX_UAT_L2_SHIFT) %
					  TABLE_ENTRIES], create);
	return table ? &table[(va >> AGX_UAT_L3_SHIFT) % TABLE_ENTRIES] : NULL;
}

/* Calls fn for each page entry, then frees the tables if so wanted. */
static void vm_for_each_pte(struct vm *vm, void (*fn)(uint64_t *, void *),
			    void *arg, bool free_tables)
{
	uint64_t *l1 = table_at(vm->root);
	unsigned int i, j, k;

	for (i = 0; i < AGX_UAT_L1_ENTRIES; i++) {
		uint64_t *l2 = table_step(&l1[i], false);

		for (j = 0; l2 && j < TABLE_ENTRIES; j++) {
			uint64_t *l3 = table_step(&l2[j], false);

			for (k = 0; l3 && fn && k < TABLE_ENTRIES; k++)
				fn(&l3[k], arg);
			if (l3 && free_tables)
				pages_free(entry_target(l2[j]), 1);
		}
		if (l2 && free_tables)
			pages_free(entry_target(l1[i]), 1);
	}
}

static uint64_t prot_of(uint32_t flags)
{
	bool rd = flags & DRM_ASAHI_BIND_READ;
	bool wr = flags & DRM_ASAHI_BIND_WRITE;

	if (rd && wr)
		return AGX_PROT_GPU_SHARED_RW;
	return rd ? AGX_PROT_GPU_SHARED_RO : AGX_PROT_GPU_SHARED_WO;
}

/* Objects */

static struct bo *find_bo(uint32_t handle)
{
	if (!handle || handle >= MAX_BOS || !fake.bos[handle].size)
		return NULL;
	return &fake.bos[handle];
}

static struct vm *find_vm(uint32_t id)
{
	return id && id < MAX_VMS && fake.vms[id].used ? &fake.vms[id] : NULL;
}

static struct queue *find_queue(uint32_t id)
{
	return id && id < MAX_QUEUES && fake.queues[id].used ?
		       &fake.queues[id] : NULL;
}

static struct sync *find_sync(uint32_t handle)
{
	return handle && handle < MAX_SYNCS && fake.syncs[handle].used ?
		       &fake.syncs[handle] : NULL;
}

static int get_params(struct drm_asahi_get_params *args)
{
	struct drm_asahi_params_global params = {
		.gpu_generation = 13,
		.gpu_variant = 'G',
		.gpu_revision = 0x11,
		.chip_id = 0x8103,
		.num_dies = 1,
		.num_clusters_total = 1,
		.num_cores_per_cluster = 8,
		.max_frequency_khz = 1278000,
		.core_masks = { 0xff },
		.vm_start = VM_START,
		.vm_end = VM_END,
		.vm_kernel_min_size = AGX_VM_KERNEL_MIN_SIZE,
		.max_commands_per_submission = 64,
		.max_attachments = 16,
		.command_timestamp_frequency_hz = 1000000000,
	};

	if (args->param_group || args->pad)
		return EINVAL;
	memcpy((void *)(uintptr_t)args->pointer, &params,
	       args->size < sizeof(params) ? args->size : sizeof(params));
	return 0;
}

static int gem_create(struct drm_asahi_gem_create *args)
{
	uint32_t handle;

	if (!args->size || args->size % AGX_PAGE_SIZE || args->size > RAM_SIZE)
		return EINVAL;
	for (handle = 1; handle < MAX_BOS; handle++) {
		struct bo *bo = &fake.bos[handle];

		if (bo->size)
			continue;
		bo->start = pages_alloc(args->size / AGX_PAGE_SIZE);
		if (!bo->start)
			return ENOMEM;
		bo->size = args->size;
		args->handle = handle;
		return 0;
	}
	return ENOSPC;
}

static int gem_mmap_offset(struct drm_asahi_gem_mmap_offset *args)
{
	struct bo *bo = find_bo(args->handle);

	if (!bo)
		return ENOENT;
	args->offset = bo->start;
	return 0;
}

static int vm_create(struct drm_asahi_vm_create *args)
{
	uint32_t id;

	if (args->kernel_end > VM_END || args->kernel_start < VM_START ||
	    args->kernel_end < args->kernel_start ||
	    args->kernel_end - args->kernel_start < AGX_VM_KERNEL_MIN_SIZE)
		return EINVAL;
	for (id = 1; id < MAX_VMS; id++) {
		struct vm *vm = &fake.vms[id];

		if (vm->used)
			continue;
		*vm = (struct vm){
			.used = true,
			.root = pages_alloc(1),
			.kernel_start = args->kernel_start,
		};
		args->vm_id = id;
		return 0;
	}
	return ENOSPC;
}

static int vm_destroy(struct drm_asahi_vm_destroy *args)
{
	struct vm *vm = find_vm(args->vm_id);

	if (!vm)
		return ENOENT;
	vm_for_each_pte(vm, NULL, NULL, true);
	pages_free(vm->root, 1);
	vm->used = false;
	return 0;
}

static int vm_bind_one(struct vm *vm, const struct drm_asahi_gem_bind_op *op)
{
	bool unbind = op->flags & DRM_ASAHI_BIND_UNBIND;
	bool single = op->flags & DRM_ASAHI_BIND_SINGLE_PAGE;
	uint64_t extent = single ? AGX_PAGE_SIZE : op->range;
	struct bo *bo = find_bo(op->handle);
	uint64_t va;

	if ((op->addr | op->range | op->offset) % AGX_PAGE_SIZE ||
	    !op->range || op->addr + op->range < op->addr ||
	    op->addr < VM_START || op->addr + op->range > vm->kernel_start)
		return EINVAL;
	if (!unbind && !bo)
		return ENOENT;
	if (!unbind && (op->offset > bo->size ||
			extent > bo->size - op->offset))
		return EINVAL;

	for (va = op->addr; va < op->addr + op->range; va += AGX_PAGE_SIZE) {
		uint64_t *pte = vm_pte(vm, va, !unbind);

		if (unbind) {
			if (pte)
				*pte = 0;
			continue;
		}
		*pte = (RAM_GPA + bo->start + op->offset +
			(single ? 0 : va - op->addr)) |
		       prot_of(op->flags) | AGX_PTE_TYPE | AGX_PTE_AF |
		       AGX_PTE_NG | AGX_PTE_OS;
	}
	return 0;
}

static int vm_bind(struct drm_asahi_vm_bind *args)
{
	const struct drm_asahi_gem_bind_op *ops =
		(const void *)(uintptr_t)args->userptr;
	struct vm *vm = find_vm(args->vm_id);
	uint32_t i;
	int err = 0;

	if (!vm)
		return ENOENT;
	if (args->stride != sizeof(*ops))
		return EINVAL;
	for (i = 0; i < args->num_binds && !err; i++)
		err = vm_bind_one(vm, &ops[i]);
	return err;
}

static int queue_create(struct drm_asahi_queue_create *args)
{
	uint32_t id;

	if (!find_vm(args->vm_id))
		return ENOENT;
	if (args->priority > DRM_ASAHI_PRIORITY_MEDIUM)
		return EPERM;
	for (id = 1; id < MAX_QUEUES; id++) {
		if (fake.queues[id].used)
			continue;
		fake.queues[id] = (struct queue){
			.used = true,
			.vm = args->vm_id,
			.usc_base = args->usc_exec_base,
		};
		args->queue_id = id;
		return 0;
	}
	return ENOSPC;
}

static int queue_destroy(struct drm_asahi_queue_destroy *args)
{
	struct queue *queue = find_queue(args->queue_id);

	if (!queue)
		return ENOENT;
	queue->used = false;
	return 0;
}

/* Submission */

static void set_ttb(struct vm *vm)
{
	uint64_t *ttbs = table_at(0);

	ttbs[VM_SLOT * AGX_TTBS_STRIDE / 8] =
		(RAM_GPA + vm->root) | AGX_TTBR_VALID |
		(uint64_t)VM_SLOT << AGX_TTBR_ASID_SHIFT;
}

/*
 * A stream that ran to its end must also be one that we can read, and must not
 * have broken a rule of the emulator on its way.
 */
static void check_stream(const struct queue *queue, uint64_t base)
{
	const struct stream stream = {
		.uat = fake.uat,
		.vm_slot = VM_SLOT,
		.base = base,
		.usc_base = queue->usc_base,
	};

	if (!stream_check(&stream, fake.streams) ||
	    vagx_report_failed(fake.report))
		abort();
}

static int run_compute(struct queue *queue,
		       const struct drm_asahi_cmd_compute *cmd)
{
	const struct vagx_compute_job job = {
		.vm_slot = VM_SLOT,
		.cdm_base = cmd->cdm_ctrl_stream_base,
		.cdm_end = cmd->cdm_ctrl_stream_end,
		.usc_base = queue->usc_base,
		.sampler_base = cmd->sampler_heap,
		.sampler_count = cmd->sampler_count,
	};
	struct vagx_uat_fault fault;
	unsigned int unit;

	set_ttb(&fake.vms[queue->vm]);
	if (vagx_gpu_compute(fake.gpu, &job, &fault, &unit) != VAGX_GPU_DONE)
		return EIO;
	check_stream(queue, job.cdm_base);
	return 0;
}

/* Return: 0, the job's error (positive) or -EINVAL for a bad buffer. */
static int run_commands(struct queue *queue, const uint8_t *p, size_t left)
{
	int error = 0;

	while (left) {
		struct drm_asahi_cmd_compute cmd = { .flags = 0 };
		struct drm_asahi_cmd_header header;

		if (left < sizeof(header))
			return -EINVAL;
		memcpy(&header, p, sizeof(header));
		if (header.size > left - sizeof(header))
			return -EINVAL;
		if (header.cmd_type == DRM_ASAHI_CMD_COMPUTE && !error) {
			memcpy(&cmd, p + sizeof(header),
			       header.size < sizeof(cmd) ? header.size :
							   sizeof(cmd));
			error = run_compute(queue, &cmd);
		}
		p += sizeof(header) + header.size;
		left -= sizeof(header) + header.size;
	}
	return error;
}

static void remember(const struct drm_asahi_submit *args)
{
	free(fake.last_cmdbuf);
	fake.last_cmdbuf = malloc(args->cmdbuf_size + 1);
	if (!fake.last_cmdbuf)
		die("malloc");
	memcpy(fake.last_cmdbuf, (const void *)(uintptr_t)args->cmdbuf,
	       args->cmdbuf_size);
	fake.last = (struct fake_drm_submit){
		.cmdbuf = fake.last_cmdbuf,
		.cmdbuf_size = args->cmdbuf_size,
		.in_syncs = args->in_sync_count,
		.out_syncs = args->out_sync_count,
		.queue_id = args->queue_id,
	};
}

static int check_syncs(const struct drm_asahi_submit *args)
{
	const struct drm_asahi_sync *syncs =
		(const void *)(uintptr_t)args->syncs;
	uint32_t i;

	for (i = 0; i < args->in_sync_count + args->out_sync_count; i++) {
		struct sync *sync = find_sync(syncs[i].handle);

		if (!sync)
			return ENOENT;
		if (i < args->in_sync_count && !sync->signaled)
			return EINVAL;
	}
	return 0;
}

static int submit(const struct drm_asahi_submit *args)
{
	const struct drm_asahi_sync *syncs =
		(const void *)(uintptr_t)args->syncs;
	struct queue *queue = find_queue(args->queue_id);
	int err;
	uint32_t i;

	if (!queue)
		return ENOENT;
	if (queue->error)
		return queue->error;
	if (!args->cmdbuf_size)
		return EINVAL;
	err = check_syncs(args);
	if (err)
		return err;
	remember(args);
	err = run_commands(queue, fake.last_cmdbuf, args->cmdbuf_size);
	if (err < 0)
		return -err;
	queue->error = err;
	for (i = 0; i < args->out_sync_count; i++) {
		struct sync *sync =
			find_sync(syncs[args->in_sync_count + i].handle);

		sync->signaled = true;
		sync->error = -err;
	}
	return 0;
}

/* The device itself */

static unsigned int env_number(const char *name, unsigned int dflt)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 0) : dflt;
}

static void make_gpu(void)
{
	const struct vagx_report_config report_config = {
		.stream = stderr,
		.level = env_number("FAKE_DRM_LOG", VAGX_LOG_WARNING),
	};
	struct vagx_uat_config uat_config = { .ttbs = RAM_GPA, .oas_bits = 40 };
	struct vagx_gpu_config gpu_config = {
		.cores = env_number("FAKE_DRM_CORES", 4),
		.no_exec = env_number("FAKE_DRM_NO_EXEC", 0),
	};

	fake.streams = env_number("FAKE_DRM_STREAMS", 0) ?
			       stderr : fopen("/dev/null", "w");
	if (!fake.streams)
		die("streams");
	fake.mem = vagx_mem_new();
	fake.report = vagx_report_new(&report_config);
	if (!fake.mem || !fake.report ||
	    vagx_mem_map(fake.mem, RAM_GPA, RAM_SIZE, fake.fd, 0,
			 VAGX_MEM_READ | VAGX_MEM_WRITE))
		die("fake memory");
	uat_config.mem = fake.mem;
	uat_config.report = fake.report;
	fake.uat = vagx_uat_new(&uat_config);
	gpu_config.uat = fake.uat;
	gpu_config.report = fake.report;
	fake.gpu = vagx_gpu_new(&gpu_config);
	if (!fake.uat || !fake.gpu)
		die("fake GPU");
}

static void print_stats(void)
{
	struct vagx_gpu_stats stats;

	vagx_gpu_get_stats(fake.gpu, &stats);
	fprintf(stderr,
		"%llu jobs, %llu launches, %llu groups, %llu instructions, %.1f ms on the cores\n",
		(unsigned long long)stats.jobs,
		(unsigned long long)stats.launches,
		(unsigned long long)stats.groups,
		(unsigned long long)stats.instructions,
		(double)stats.busy_ns / 1e6);
}

static void unmake(void)
{
	if (env_number("FAKE_DRM_STATS", 0))
		print_stats();
	vagx_gpu_free(fake.gpu);
	vagx_uat_free(fake.uat);
	vagx_mem_free(fake.mem);
	vagx_report_free(fake.report);
	if (fake.streams != stderr)
		fclose(fake.streams);
	free(fake.last_cmdbuf);
	munmap(fake.ram, RAM_SIZE);
	close(fake.fd);
}

int fake_drm_fd(void)
{
	if (fake.fd >= 0)
		return fake.fd;
	fake.fd = memfd_create("fake-asahi", MFD_CLOEXEC);
	if (fake.fd < 0 || ftruncate(fake.fd, RAM_SIZE))
		die("memfd");
	fake.ram = mmap(NULL, RAM_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
			fake.fd, 0);
	if (fake.ram == MAP_FAILED)
		die("mmap");
	make_gpu();
	atexit(unmake);
	return fake.fd;
}

void fake_drm_fail(unsigned long request, int err)
{
	fake.fail_request = request;
	fake.fail_errno = err;
}

unsigned int fake_drm_live_objects(void)
{
	unsigned int count = 0;
	unsigned int i;

	for (i = 0; i < MAX_BOS; i++)
		count += !!fake.bos[i].size;
	for (i = 0; i < MAX_VMS; i++)
		count += fake.vms[i].used;
	for (i = 0; i < MAX_QUEUES; i++)
		count += fake.queues[i].used;
	for (i = 0; i < MAX_SYNCS; i++)
		count += fake.syncs[i].used;
	return count;
}

const struct fake_drm_submit *fake_drm_last_submit(void)
{
	return &fake.last;
}

/* What takes the place of libdrm */

static int set_errno(int err)
{
	errno = err;
	return err ? -1 : 0;
}

static int sync_file_info(int fd, struct sync_file_info *info)
{
	int error;

	if (pread(fd, &error, sizeof(error), 0) != sizeof(error))
		return EINVAL;
	info->status = error ? error : 1;
	return 0;
}

static int get_time(struct drm_asahi_get_time *args)
{
	args->gpu_timestamp = 123456789;
	return 0;
}

static int dispatch(int fd, unsigned long request, void *arg)
{
	switch (request) {
	case DRM_IOCTL_ASAHI_GET_PARAMS:
		return get_params(arg);
	case DRM_IOCTL_ASAHI_GET_TIME:
		return get_time(arg);
	case DRM_IOCTL_ASAHI_VM_CREATE:
		return vm_create(arg);
	case DRM_IOCTL_ASAHI_VM_DESTROY:
		return vm_destroy(arg);
	case DRM_IOCTL_ASAHI_VM_BIND:
		return vm_bind(arg);
	case DRM_IOCTL_ASAHI_GEM_CREATE:
		return gem_create(arg);
	case DRM_IOCTL_ASAHI_GEM_MMAP_OFFSET:
		return gem_mmap_offset(arg);
	case DRM_IOCTL_ASAHI_QUEUE_CREATE:
		return queue_create(arg);
	case DRM_IOCTL_ASAHI_QUEUE_DESTROY:
		return queue_destroy(arg);
	case DRM_IOCTL_ASAHI_SUBMIT:
		return submit(arg);
	case SYNC_IOC_FILE_INFO:
		return sync_file_info(fd, arg);
	default:
		return ENOTTY;
	}
}

int drmIoctl(int fd, unsigned long request, void *arg)
{
	if (fake.fail_errno && fake.fail_request == request) {
		int err = fake.fail_errno;

		fake.fail_errno = 0;
		return set_errno(err);
	}
	return set_errno(dispatch(fd, request, arg));
}

drmVersionPtr drmGetVersion(int fd)
{
	static drmVersion version = {
		.name = (char *)"asahi",
		.date = (char *)"0",
		.desc = (char *)"fake",
	};

	return &version;
}

void drmFreeVersion(drmVersionPtr version)
{
}

char *drmGetDeviceNameFromFd2(int fd)
{
	return strdup("fake");
}

static char node_path[32];
static char *node_paths[DRM_NODE_MAX] = { [DRM_NODE_RENDER] = node_path };
static drmDevice node = {
	.nodes = node_paths,
	.available_nodes = 1 << DRM_NODE_RENDER,
};

int drmGetDevices2(uint32_t flags, drmDevicePtr devices[], int max_devices)
{
	snprintf(node_path, sizeof(node_path), "/proc/self/fd/%d",
		 fake_drm_fd());
	devices[0] = &node;
	return 1;
}

void drmFreeDevices(drmDevicePtr devices[], int count)
{
}

static void clear_if_inside(uint64_t *pte, void *arg)
{
	const struct bo *bo = arg;

	if (*pte && entry_target(*pte) - bo->start < bo->size)
		*pte = 0;
}

int drmCloseBufferHandle(int fd, uint32_t handle)
{
	struct bo *bo = find_bo(handle);
	unsigned int i;

	if (!bo)
		return set_errno(EINVAL);
	for (i = 0; i < MAX_VMS; i++) {
		if (fake.vms[i].used)
			vm_for_each_pte(&fake.vms[i], clear_if_inside, bo,
					false);
	}
	pages_free(bo->start, bo->size / AGX_PAGE_SIZE);
	bo->size = 0;
	return 0;
}

/* A dma-buf is a file as long as the buffer, with the handle in its front. */
int drmPrimeHandleToFD(int fd, uint32_t handle, uint32_t flags, int *prime_fd)
{
	struct bo *bo = find_bo(handle);

	if (!bo)
		return set_errno(ENOENT);
	*prime_fd = memfd_create("fake-dma-buf", MFD_CLOEXEC);
	if (*prime_fd < 0 || ftruncate(*prime_fd, bo->size) ||
	    pwrite(*prime_fd, &handle, sizeof(handle), 0) != sizeof(handle))
		die("memfd");
	return 0;
}

int drmPrimeFDToHandle(int fd, int prime_fd, uint32_t *handle)
{
	if (pread(prime_fd, handle, sizeof(*handle), 0) != sizeof(*handle) ||
	    !find_bo(*handle))
		return set_errno(EINVAL);
	return 0;
}

int drmSyncobjCreate(int fd, uint32_t flags, uint32_t *handle)
{
	uint32_t i;

	for (i = 1; i < MAX_SYNCS; i++) {
		if (fake.syncs[i].used)
			continue;
		fake.syncs[i] = (struct sync){
			.used = true,
			.signaled = flags & DRM_SYNCOBJ_CREATE_SIGNALED,
		};
		*handle = i;
		return 0;
	}
	return set_errno(ENOSPC);
}

int drmSyncobjDestroy(int fd, uint32_t handle)
{
	struct sync *sync = find_sync(handle);

	if (!sync)
		return set_errno(EINVAL);
	sync->used = false;
	return 0;
}

int drmSyncobjWait(int fd, uint32_t *handles, unsigned int count,
		   int64_t timeout_nsec, unsigned int flags,
		   uint32_t *first_signaled)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		struct sync *sync = find_sync(handles[i]);

		if (!sync)
			return -ENOENT;
		if (!sync->signaled)
			return -ETIME;
	}
	return 0;
}

/* A sync file is a file with the fence's error in its front. */
int drmSyncobjExportSyncFile(int fd, uint32_t handle, int *sync_file_fd)
{
	struct sync *sync = find_sync(handle);

	if (!sync || !sync->signaled)
		return set_errno(EINVAL);
	*sync_file_fd = memfd_create("fake-sync-file", MFD_CLOEXEC);
	if (*sync_file_fd < 0 ||
	    pwrite(*sync_file_fd, &sync->error, sizeof(sync->error), 0) !=
		    sizeof(sync->error))
		die("memfd");
	return 0;
}
