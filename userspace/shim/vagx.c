// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * A backend that executes jobs on the emulator's units, without firmware: it
 * writes page tables for what is bound and runs the streams.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <agx/agx_regs.h>
#include <agx/agx_uat.h>

#include "capture.h"
#include "gpu/gpu.h"
#include "gpu/trace.h"
#include "guest_memory.h"
#include "report.h"
#include "shim.h"
#include "stream_check.h"
#include "uat.h"
#include "vagx_render.h"
#include "vagx_soc.h"

#define TABLE_ENTRIES	2048

/* Contexts of the MMU, of which each job that runs has one. The first is not ours. */
#define SLOTS		AGX_UAT_CONTEXTS

/* The TTB table is in the part of the first context, page tables in those of others. */
#define TABLES_GPA	UINT64_C(0x100000000)
#define PART_SIZE	(UINT64_C(64) << 20)
#define TABLES_SIZE	(SLOTS * PART_SIZE)
#define MEMORY_GPA	UINT64_C(0x1000000000)

/* Vertex buffers, one for each context, in the part of the address space that is ours */
#define TVB_GPA		UINT64_C(0x800000000)
#define TVB_SIZE	(UINT64_C(32) << 20)

/* How often is looked for jobs that run too long */
#define LOOK_NS		INT64_C(100000000)

/* A context, and the job that has it */
struct slot {
	unsigned int number;
	struct asahi_shim_job *job;
	/* end of the page tables */
	uint64_t used;
	/* while the job is on the cores */
	struct vagx_job *work;
	bool late;
};

static struct {
	/* protects the slots */
	pthread_mutex_t lock;
	/* a slot is free, or the first one is in use, or the end has come */
	pthread_cond_t changed;
	struct slot slots[SLOTS];
	unsigned int busy;
	bool stopping;
	/* the process that has the threads */
	pid_t pid;
	pthread_t watch;
	uint64_t limit_ns;
	/* enum agx_stream_feature */
	unsigned int features;

	uint8_t *tables;
	struct vagx_mem *mem;
	struct vagx_report *report;
	struct vagx_uat *uat;
	struct vagx_gpu *gpu;
	FILE *streams;
	/* or NULL */
	FILE *capture;
	struct vagx_trace *trace;
	/* of a render's vertex buffer, if not as many as there is room for */
	unsigned int tvb_pages;
} vagx = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

/* Page tables; each belongs to one slot, and to the thread of its job */

/* Return: the offset of a table without entries, or 0 if there is no room. */
static uint64_t table_new(struct slot *slot)
{
	uint64_t table = slot->used;

	if (table + AGX_PAGE_SIZE > (slot->number + 1) * PART_SIZE)
		return 0;
	slot->used += AGX_PAGE_SIZE;
	memset(vagx.tables + table, 0, AGX_PAGE_SIZE);
	return table;
}

static uint64_t *table_at(uint64_t offset)
{
	return (uint64_t *)(vagx.tables + offset);
}

static uint64_t *table_below(struct slot *slot, uint64_t *entry)
{
	if (!*entry) {
		uint64_t table = table_new(slot);

		if (!table)
			return NULL;
		*entry = (TABLES_GPA + table) | AGX_PTE_TYPE;
	}
	return table_at((*entry & AGX_TTBR_ADDR_MASK) - TABLES_GPA);
}

static uint64_t prot_of(uint32_t flags)
{
	bool rd = flags & DRM_ASAHI_BIND_READ;
	bool wr = flags & DRM_ASAHI_BIND_WRITE;

	if (rd && wr)
		return AGX_PROT_GPU_SHARED_RW;
	return rd ? AGX_PROT_GPU_SHARED_RO : AGX_PROT_GPU_SHARED_WO;
}

/* @mapping: as clients have it, but with a place in the emulator's memory */
static bool map(struct slot *slot, uint64_t root, const struct asahi_shim_mapping *mapping)
{
	bool single = mapping->flags & DRM_ASAHI_BIND_SINGLE_PAGE;
	uint64_t at;

	for (at = 0; at < mapping->size; at += AGX_PAGE_SIZE) {
		uint64_t va = mapping->addr + at;
		uint64_t *table = table_at(root);

		table = table_below(slot, &table[va >> AGX_UAT_L1_SHIFT]);
		if (table)
			table = table_below(slot, &table[(va >> AGX_UAT_L2_SHIFT) % TABLE_ENTRIES]);
		if (!table)
			return false;
		table[(va >> AGX_UAT_L3_SHIFT) % TABLE_ENTRIES] =
			(mapping->offset + (single ? 0 : at)) |
			prot_of(mapping->flags) | AGX_PTE_TYPE | AGX_PTE_AF | AGX_PTE_NG |
			AGX_PTE_OS;
	}
	return true;
}

static bool has_render(const struct asahi_shim_job *job)
{
	size_t i;

	for (i = 0; i < job->num_commands; i++)
		if (job->commands[i].header.cmd_type == DRM_ASAHI_CMD_RENDER)
			return true;
	return false;
}

static bool map_tvb(struct slot *slot, uint64_t root)
{
	const struct asahi_shim_mapping tvb = {
		.addr = slot->job->kernel_start,
		.size = TVB_SIZE,
		.offset = TVB_GPA + slot->number * TVB_SIZE,
		.flags = DRM_ASAHI_BIND_READ | DRM_ASAHI_BIND_WRITE,
	};

	return !has_render(slot->job) || map(slot, root, &tvb);
}

static bool map_all(struct slot *slot)
{
	const struct asahi_shim_job *job = slot->job;
	uint64_t root;
	size_t i;

	slot->used = slot->number * PART_SIZE;
	root = table_new(slot);
	for (i = 0; i <= job->num_mappings; i++) {
		struct asahi_shim_mapping mapping;

		if (i == job->num_mappings) {
			if (map_tvb(slot, root))
				continue;
		} else {
			mapping = job->mappings[i];
			mapping.offset += MEMORY_GPA;
			if (map(slot, root, &mapping))
				continue;
		}
		shim_report("asahi_shim: too much is bound for %u MiB of page tables",
			    (unsigned int)(PART_SIZE >> 20));
		return false;
	}
	table_at(0)[slot->number * AGX_TTBS_STRIDE / 8] =
		(TABLES_GPA + root) | AGX_TTBR_VALID |
		(uint64_t)slot->number << AGX_TTBR_ASID_SHIFT;
	return true;
}

/* Jobs */

static struct stream stream_of(const struct slot *slot, enum agx_stream_kind kind, uint64_t base)
{
	return (struct stream){
		.uat = vagx.uat,
		.vm_slot = slot->number,
		.kind = kind,
		.base = base,
		.usc_base = slot->job->usc_exec_base,
		.features = vagx.features,
	};
}

/*
 * A stream that ran to its end must also be one that can be read, and must not
 * have broken a rule of the emulator on its way.
 */
static bool is_proper(const struct slot *slot, enum agx_stream_kind kind, uint64_t base)
{
	const struct stream stream = stream_of(slot, kind, base);

	return stream_check(&stream, vagx.streams) && !vagx_report_failed(vagx.report);
}

/* Jobs of several queues write one after the other. */
static void capture(const struct slot *slot, const struct drm_asahi_cmd_render *render,
		    const struct drm_asahi_cmd_compute *compute)
{
	struct stream stream;

	if (!vagx.capture)
		return;
	pthread_mutex_lock(&vagx.lock);
	if (render) {
		stream = stream_of(slot, AGX_STREAM_vdm, render->vdm_ctrl_stream_base);
		capture_render(vagx.capture, &stream, render);
	} else {
		stream = stream_of(slot, AGX_STREAM_cdm, compute->cdm_ctrl_stream_base);
		capture_compute(vagx.capture, &stream);
	}
	pthread_mutex_unlock(&vagx.lock);
}

/* From here on it can be cancelled, and is at once when the end has come. */
static void work_begin(struct slot *slot, struct vagx_job *work)
{
	pthread_mutex_lock(&vagx.lock);
	slot->work = work;
	slot->late = false;
	if (vagx.stopping)
		vagx_job_cancel(work);
	pthread_mutex_unlock(&vagx.lock);
}

static void work_end(struct slot *slot)
{
	pthread_mutex_lock(&vagx.lock);
	slot->work = NULL;
	pthread_mutex_unlock(&vagx.lock);
}

static int run_compute(struct slot *slot, const struct asahi_shim_command *command)
{
	struct drm_asahi_cmd_compute cmd = { .flags = 0 };
	struct vagx_compute_registers registers;
	struct vagx_uat_fault fault;
	enum vagx_gpu_status status;
	struct vagx_job *work;
	unsigned int unit;

	memcpy(&cmd, command->payload,
	       command->header.size < sizeof(cmd) ? command->header.size : sizeof(cmd));
	capture(slot, NULL, &cmd);
	registers = (struct vagx_compute_registers){
		.cdm_base = cmd.cdm_ctrl_stream_base,
		.cdm_end = cmd.cdm_ctrl_stream_end,
		.usc_base = slot->job->usc_exec_base,
		.sampler_base = cmd.sampler_heap,
		.sampler_count = cmd.sampler_count,
	};
	work = vagx_job_new(vagx.gpu, slot->number);
	if (!work)
		return -ENOMEM;
	work_begin(slot, work);
	status = vagx_job_compute(work, &registers, &fault, &unit);
	work_end(slot);
	vagx_job_free(work);
	if (slot->late)
		return -ETIMEDOUT;
	if (status != VAGX_GPU_DONE || !is_proper(slot, AGX_STREAM_cdm, registers.cdm_base))
		return -EIO;
	return 0;
}

/* A partial render makes room whenever the pages are out. */
static enum vagx_gpu_status render_fragment(struct slot *slot, struct vagx_tvb_pages *pages,
					    const struct vagx_fragment_registers *registers,
					    enum vagx_fragment_mode mode)
{
	struct vagx_job *work = vagx_job_new(vagx.gpu, slot->number);
	struct vagx_uat_fault fault;
	enum vagx_gpu_status status;
	unsigned int unit;

	if (!work)
		return VAGX_GPU_CANCELLED;
	work_begin(slot, work);
	status = vagx_job_fragment(work, registers, pages, mode, &fault, &unit);
	work_end(slot);
	vagx_job_free(work);
	return status;
}

static enum vagx_gpu_status render_vertex(struct slot *slot, struct vagx_job *work,
					  const struct vagx_vertex_registers *registers,
					  struct vagx_tvb_pages *pages)
{
	struct vagx_uat_fault fault;
	enum vagx_gpu_status status;
	unsigned int unit;

	work_begin(slot, work);
	status = vagx_job_vertex(work, registers, pages, &fault, &unit);
	work_end(slot);
	return status;
}

static enum vagx_gpu_status render(struct slot *slot, const struct drm_asahi_cmd_render *cmd,
				   struct shim_tvb *tvb)
{
	const uint64_t usc_base = slot->job->usc_exec_base;
	const struct vagx_vertex_registers vertex = shim_vertex_registers(cmd, tvb, usc_base);
	const struct vagx_fragment_registers fragment = shim_fragment_registers(cmd, tvb, usc_base);
	struct vagx_tvb_pages pages = shim_tvb_pages(tvb);
	struct vagx_job *work = vagx_job_new(vagx.gpu, slot->number);
	enum vagx_gpu_status status;

	if (!work)
		return VAGX_GPU_CANCELLED;
	do {
		status = render_vertex(slot, work, &vertex, &pages);
		if (status == VAGX_GPU_OVERFLOW &&
		    render_fragment(slot, &pages, &fragment, VAGX_FRAGMENT_PARTIAL) != VAGX_GPU_DONE)
			status = VAGX_GPU_FAULT;
	} while (status == VAGX_GPU_OVERFLOW);
	vagx_job_free(work);
	if (status != VAGX_GPU_DONE)
		return status;
	return render_fragment(slot, &pages, &fragment, VAGX_FRAGMENT_FINAL);
}

static int run_render(struct slot *slot, const struct asahi_shim_command *command)
{
	struct shim_tvb tvb = {
		.va = slot->job->kernel_start,
		.size = TVB_SIZE,
		.most_pages = vagx.tvb_pages,
	};
	struct drm_asahi_cmd_render cmd = { .flags = 0 };
	enum vagx_gpu_status status;

	memcpy(&cmd, command->payload,
	       command->header.size < sizeof(cmd) ? command->header.size : sizeof(cmd));
	capture(slot, &cmd, NULL);
	if (!shim_tvb_init(&tvb, &cmd)) {
		shim_report("asahi_shim: too large an image for the vertex buffer");
		return -EIO;
	}
	status = render(slot, &cmd, &tvb);
	shim_tvb_fini(&tvb);
	if (slot->late)
		return -ETIMEDOUT;
	if (status != VAGX_GPU_DONE || !is_proper(slot, AGX_STREAM_vdm, cmd.vdm_ctrl_stream_base))
		return -EIO;
	return 0;
}

static int run_command(struct slot *slot, const struct asahi_shim_command *command)
{
	switch (command->header.cmd_type) {
	case DRM_ASAHI_CMD_RENDER:
		return run_render(slot, command);
	case DRM_ASAHI_CMD_COMPUTE:
		return run_compute(slot, command);
	default:
		return 0;
	}
}

static struct slot *slot_get(struct asahi_shim_job *job)
{
	struct slot *slot = &vagx.slots[1];

	pthread_mutex_lock(&vagx.lock);
	while (vagx.busy == SLOTS - 1)
		pthread_cond_wait(&vagx.changed, &vagx.lock);
	while (slot->job)
		slot++;
	slot->number = slot - vagx.slots;
	slot->job = job;
	vagx.busy++;
	pthread_cond_broadcast(&vagx.changed);
	pthread_mutex_unlock(&vagx.lock);
	return slot;
}

static void slot_put(struct slot *slot)
{
	pthread_mutex_lock(&vagx.lock);
	slot->job = NULL;
	vagx.busy--;
	pthread_cond_broadcast(&vagx.changed);
	pthread_mutex_unlock(&vagx.lock);
}

/* What is cancelled because the program ends has not failed. */
static bool is_stopping(void)
{
	bool stopping;

	pthread_mutex_lock(&vagx.lock);
	stopping = vagx.stopping;
	pthread_mutex_unlock(&vagx.lock);
	return stopping;
}

static void report_failed(const struct slot *slot, int error)
{
	if (error == ETIMEDOUT)
		shim_report("asahi_shim: more than %u seconds of processor time for one job",
			    (unsigned int)(vagx.limit_ns / 1000000000));
	shim_report_failed(slot->job->queue, error);
}

static void *run(void *arg)
{
	struct slot *slot = arg;
	struct asahi_shim_job *job = slot->job;
	size_t i;
	int err;

	err = map_all(slot) ? 0 : -ENOMEM;
	for (i = 0; i < job->num_commands && !err; i++)
		err = run_command(slot, &job->commands[i]);
	if (err && !is_stopping())
		report_failed(slot, -err);
	/* The jobs that come next, in this thread, want a slot too. */
	slot_put(slot);
	asahi_shim_job_done(job, err);
	return NULL;
}

/* The program's signals are for its own threads. */
static int start_thread(pthread_t *thread, void *(*fn)(void *), void *arg)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(thread, NULL, fn, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return err;
}

/* A job may wait for what the program does next: it gets a thread of its own. */
static void submit(void *priv, struct asahi_shim_job *job)
{
	struct slot *slot = slot_get(job);
	pthread_t thread;

	if (start_thread(&thread, run, slot)) {
		slot_put(slot);
		asahi_shim_job_done(job, -ENOMEM);
		return;
	}
	pthread_detach(thread);
}

/* What has had the processor for too long will not come to an end. */
static void look_for_late(void)
{
	unsigned int i;

	for (i = 1; i < SLOTS; i++) {
		struct slot *slot = &vagx.slots[i];

		if (!slot->work || vagx_job_cpu_ns(slot->work) < vagx.limit_ns)
			continue;
		slot->late = true;
		vagx_job_cancel(slot->work);
	}
}

static void *watch(void *arg)
{
	struct timespec until;

	pthread_mutex_lock(&vagx.lock);
	while (!vagx.stopping) {
		if (!vagx.busy) {
			pthread_cond_wait(&vagx.changed, &vagx.lock);
			continue;
		}
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += LOOK_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		if (pthread_cond_clockwait(&vagx.changed, &vagx.lock, CLOCK_MONOTONIC, &until))
			look_for_late();
	}
	pthread_mutex_unlock(&vagx.lock);
	return NULL;
}

/* The GPU */

static unsigned int number(const char *name, unsigned int otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoul(text, NULL, 0) : otherwise;
}

static bool make_memory(void)
{
	int tables = shim_fd_token("asahi-shim-tables", TABLES_SIZE);
	int tvbs = shim_fd_token("asahi-shim-tvbs", SLOTS * TVB_SIZE);
	uint64_t size;
	int memory = asahi_shim_memory(&size);
	void *map;
	bool ok;

	map = shim_libc()->mmap(NULL, TABLES_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, tables, 0);
	vagx.tables = map;
	ok = map != MAP_FAILED &&
	     !vagx_mem_map(vagx.mem, TABLES_GPA, TABLES_SIZE, tables, 0,
			   VAGX_MEM_READ | VAGX_MEM_WRITE) &&
	     !vagx_mem_map(vagx.mem, TVB_GPA, SLOTS * TVB_SIZE, tvbs, 0,
			   VAGX_MEM_READ | VAGX_MEM_WRITE) &&
	     !vagx_mem_map(vagx.mem, MEMORY_GPA, size, memory, 0, VAGX_MEM_READ | VAGX_MEM_WRITE);
	if (ok)
		asahi_shim_memory_mapped(vagx_mem_ptr(vagx.mem, MEMORY_GPA, size));
	shim_libc()->close(tvbs);
	shim_libc()->close(tables);
	return ok;
}

/* Return: false after a message */
static bool open_capture(void)
{
	const char *path = getenv("ASAHI_SHIM_CAPTURE");

	if (!path || !*path)
		return true;
	vagx.capture = shim_libc()->fopen(path, "we");
	if (!vagx.capture) {
		fprintf(stderr, "ASAHI_SHIM_CAPTURE=%s: %s\n", path, strerror(errno));
		return false;
	}
	capture_begin(vagx.capture);
	return true;
}

/* Return: false after a message */
static bool open_trace(void)
{
	const char *path = getenv("ASAHI_SHIM_TRACE");

	if (!path || !*path)
		return true;
	vagx.trace = vagx_trace_join(path);
	if (!vagx.trace)
		fprintf(stderr, "ASAHI_SHIM_TRACE=%s: %s\n", path, strerror(errno));
	return vagx.trace;
}

static bool make_gpu(const struct vagx_soc *soc)
{
	const struct vagx_report_config report = {
		.stream = shim_report_stream(),
		.level = VAGX_LOG_WARNING,
	};
	struct vagx_uat_config uat = { .ttbs = TABLES_GPA };
	struct vagx_gpu_config gpu = {
		.cores = number("ASAHI_SHIM_CORES", 4),
		.no_exec = number("ASAHI_SHIM_NO_EXEC", 0),
	};

	uat.oas_bits = soc->oas_bits;
	vagx.features = soc->id.generation == AGX_ID_GENERATION_G14X ? AGX_STREAM_G14X : 0;
	gpu.stream_features = vagx.features;
	vagx.streams = number("ASAHI_SHIM_STREAMS", 0) ?
			       stderr : shim_libc()->fopen("/dev/null", "we");
	vagx.mem = vagx_mem_new();
	vagx.report = vagx_report_new(&report);
	if (!vagx.streams || !vagx.mem || !vagx.report || !make_memory() || !open_capture() ||
	    !open_trace())
		return false;
	uat.mem = vagx.mem;
	uat.report = vagx.report;
	vagx.uat = vagx_uat_new(&uat);
	gpu.uat = vagx.uat;
	gpu.report = vagx.report;
	gpu.trace = vagx.trace;
	vagx.gpu = vagx.uat ? vagx_gpu_new(&gpu) : NULL;
	vagx.tvb_pages = number("ASAHI_SHIM_TVB_PAGES", 0);
	vagx.limit_ns = number("ASAHI_SHIM_TIMEOUT", 60) * UINT64_C(1000000000);
	return vagx.gpu && !start_thread(&vagx.watch, watch, NULL);
}

static void stop_jobs(void)
{
	unsigned int i;

	pthread_mutex_lock(&vagx.lock);
	vagx.stopping = true;
	pthread_cond_broadcast(&vagx.changed);
	for (i = 1; i < SLOTS; i++)
		if (vagx.slots[i].work)
			vagx_job_cancel(vagx.slots[i].work);
	while (vagx.busy)
		pthread_cond_wait(&vagx.changed, &vagx.lock);
	pthread_mutex_unlock(&vagx.lock);
	pthread_join(vagx.watch, NULL);
}

static void stop(void)
{
	/* A child that has executed nothing anew has none of the threads. */
	if (getpid() != vagx.pid)
		return;
	asahi_shim_set_backend(NULL);
	stop_jobs();
	vagx_gpu_free(vagx.gpu);
	vagx_uat_free(vagx.uat);
	asahi_shim_memory_mapped(NULL);
	vagx_mem_free(vagx.mem);
	vagx_report_free(vagx.report);
	if (vagx.streams != stderr)
		fclose(vagx.streams);
	if (vagx.capture)
		fclose(vagx.capture);
	vagx_trace_close(vagx.trace);
	shim_libc()->munmap(vagx.tables, TABLES_SIZE);
}

int shim_vagx_start(void)
{
	static const struct asahi_shim_backend backend = { .submit = submit };
	const struct vagx_soc *soc = shim_vagx_soc();

	sigset_t all, old;
	bool ok;

	if (!soc)
		return -1;
	/* The cores' threads inherit it: signals are the program's, which may wait for them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ok = make_gpu(soc);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!ok) {
		perror("asahi_shim: the emulator's GPU");
		return -1;
	}
	asahi_shim_set_backend(&backend);
	vagx.pid = getpid();
	atexit(stop);
	return 0;
}
