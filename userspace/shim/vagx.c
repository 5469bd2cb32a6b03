// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The backend that executes jobs on the emulator's GPU, without firmware: it does what driver
 * and firmware do for a job.
 *
 * Each job gets a slot, a context of the emulated MMU, and a thread of its own. The thread
 * writes page tables for the job's bindings from nothing, into the slot's part of the memory
 * for tables, and runs the commands one after the other: it fills in the registers of the
 * compute, vertex or fragment unit, starts it, and waits for it. A render's vertex work that
 * runs out of pages for its vertex buffer is continued after a partial render has given pages
 * back. After each command its streams are read once more and checked, see stream_check.c.
 *
 * The emulator's physical memory has three parts, each a mapping of one file: page tables at
 * TABLES_GPA, vertex buffers at TVB_GPA and the memory of all buffers at MEMORY_GPA.
 *
 * Threads: one for each job, detached; the emulator's for its cores; and one that looks every
 * 100 ms, while there are jobs, for those that have used the processor for too long, and
 * cancels them. All of them block every signal. shim_vagx.lock protects the slots; it is
 * held neither while a unit works nor together with shim_lock. A job that fails is reported
 * unless the process is ending: shim_vagx_stop(), the library's destructor, cancels all jobs and
 * waits for their threads to give back their slots. It runs after the functions that the program
 * has given to atexit(), which may still wait for jobs.
 */
#include <errno.h>
#include <fcntl.h>
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

/* Contexts of the MMU, one for each job that runs. The first is the firmware's: it stays free. */
#define SLOTS		AGX_UAT_CONTEXTS

/* The TTB table is in the part of the first context, page tables in those of others. */
#define TABLES_GPA	UINT64_C(0x100000000)
#define PART_SIZE	(UINT64_C(64) << 20)
#define TABLES_SIZE	(SLOTS * PART_SIZE)
#define MEMORY_GPA	UINT64_C(0x1000000000)

/* Vertex buffers, one for each context, in the part of the address space that is ours */
#define TVB_GPA		UINT64_C(0x800000000)
#define TVB_SIZE	(UINT64_C(32) << 20)

/* Nanoseconds between two looks for jobs that have run for too long */
#define LOOK_NS		INT64_C(100000000)

/* A context of the MMU, and the job that has it, or NULL */
struct slot {
	unsigned int number;
	struct asahi_shim_job *job;
	/* offset behind the last of its page tables */
	uint64_t used;
	/* what a unit is working on, or NULL */
	struct vagx_job *work;
	/* it was cancelled because it had used too much processor time */
	bool late;
};

static struct {
	/* protects the slots */
	pthread_mutex_t lock;
	/* a slot was taken or given back, or the process ends */
	pthread_cond_t changed;
	struct slot slots[SLOTS];
	unsigned int busy;
	bool stopping;
	/* the process that started the threads: a child has none of them */
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
	/* or NULL, both */
	FILE *streams, *capture;
	struct vagx_trace *trace;
	/* most pages of a render's vertex buffer, or 0: as many as fit */
	unsigned int tvb_pages;
} shim_vagx = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

/* Page tables: those of a slot are written by the thread of its job alone, without a lock */

/* Return: the offset of a table without entries, or 0 if there is no room. */
static uint64_t shim_vagx_table_new(struct slot *slot)
{
	uint64_t table = slot->used;

	if (table + AGX_PAGE_SIZE > (slot->number + 1) * PART_SIZE)
		return 0;
	slot->used += AGX_PAGE_SIZE;
	memset(shim_vagx.tables + table, 0, AGX_PAGE_SIZE);
	return table;
}

static uint64_t *shim_vagx_table_at(uint64_t offset)
{
	return (uint64_t *)(shim_vagx.tables + offset);
}

/* Return: the table that an entry leads to, which is made if need be, or NULL. */
static uint64_t *shim_vagx_table_below(struct slot *slot, uint64_t *entry)
{
	if (!*entry) {
		uint64_t table = shim_vagx_table_new(slot);

		if (!table)
			return NULL;
		*entry = (TABLES_GPA + table) | AGX_PTE_TYPE;
	}
	return shim_vagx_table_at((*entry & AGX_TTBR_ADDR_MASK) - TABLES_GPA);
}

static uint64_t shim_vagx_prot_of(uint32_t flags)
{
	bool rd = flags & DRM_ASAHI_BIND_READ;
	bool wr = flags & DRM_ASAHI_BIND_WRITE;

	if (rd && wr)
		return AGX_PROT_GPU_SHARED_RW;
	return rd ? AGX_PROT_GPU_SHARED_RO : AGX_PROT_GPU_SHARED_WO;
}

/*
 * Writes the entries for a mapping, whose offset is an address of the emulator's memory.
 * Return: false if there is no room for tables.
 */
static bool shim_vagx_map(struct slot *slot, uint64_t root,
			  const struct asahi_shim_mapping *mapping)
{
	bool single = mapping->flags & DRM_ASAHI_BIND_SINGLE_PAGE;
	uint64_t at;

	for (at = 0; at < mapping->size; at += AGX_PAGE_SIZE) {
		uint64_t va = mapping->addr + at;
		uint64_t *table = shim_vagx_table_at(root);

		table = shim_vagx_table_below(slot, &table[va >> AGX_UAT_L1_SHIFT]);
		if (table)
			table = shim_vagx_table_below(
				slot, &table[(va >> AGX_UAT_L2_SHIFT) % TABLE_ENTRIES]);
		if (!table)
			return false;
		table[(va >> AGX_UAT_L3_SHIFT) % TABLE_ENTRIES] =
			(mapping->offset + (single ? 0 : at)) |
			shim_vagx_prot_of(mapping->flags) | AGX_PTE_TYPE | AGX_PTE_AF | AGX_PTE_NG |
			AGX_PTE_OS;
	}
	return true;
}

static bool shim_vagx_has_render(const struct asahi_shim_job *job)
{
	size_t i;

	for (i = 0; i < job->num_commands; i++)
		if (job->commands[i].header.cmd_type == DRM_ASAHI_CMD_RENDER)
			return true;
	return false;
}

/* Maps the slot's vertex buffer for a job that renders, where the kernel's addresses begin. */
static bool shim_vagx_map_tvb(struct slot *slot, uint64_t root)
{
	const struct asahi_shim_mapping tvb = {
		.addr = slot->job->kernel_start,
		.size = TVB_SIZE,
		.offset = TVB_GPA + slot->number * TVB_SIZE,
		.flags = DRM_ASAHI_BIND_READ | DRM_ASAHI_BIND_WRITE,
	};

	return !shim_vagx_has_render(slot->job) || shim_vagx_map(slot, root, &tvb);
}

/* Makes the slot's page tables anew. Return: false after a report. */
static bool shim_vagx_map_all(struct slot *slot)
{
	const struct asahi_shim_job *job = slot->job;
	uint64_t root;
	size_t i;

	slot->used = slot->number * PART_SIZE;
	root = shim_vagx_table_new(slot);
	for (i = 0; i <= job->num_mappings; i++) {
		struct asahi_shim_mapping mapping;

		if (i == job->num_mappings) {
			if (shim_vagx_map_tvb(slot, root))
				continue;
		} else {
			mapping = job->mappings[i];
			mapping.offset += MEMORY_GPA;
			if (shim_vagx_map(slot, root, &mapping))
				continue;
		}
		shim_report("asahi_shim: too much is bound for %u MiB of page tables",
			    (unsigned int)(PART_SIZE >> 20));
		return false;
	}
	shim_vagx_table_at(0)[slot->number * AGX_TTBS_STRIDE / 8] =
		(TABLES_GPA + root) | AGX_TTBR_VALID |
		(uint64_t)slot->number << AGX_TTBR_ASID_SHIFT;
	return true;
}

/* Jobs */

static struct stream shim_vagx_stream_of(const struct slot *slot, enum agx_stream_kind kind,
					 uint64_t base)
{
	return (struct stream){
		.uat = shim_vagx.uat,
		.vm_slot = slot->number,
		.kind = kind,
		.base = base,
		.usc_base = slot->job->usc_exec_base,
		.features = shim_vagx.features,
	};
}

/*
 * Checks a stream that ran to its end. Return: whether it can be read as a whole, and no job
 * has broken a rule of the emulator so far.
 */
static bool shim_vagx_is_proper(const struct slot *slot, enum agx_stream_kind kind, uint64_t base)
{
	const struct stream stream = shim_vagx_stream_of(slot, kind, base);

	return stream_check(&stream, shim_vagx.streams) && !vagx_report_failed(shim_vagx.report);
}

/* Writes a command to the capture, if there is one; the lock keeps those of two jobs apart. */
static void shim_vagx_capture(const struct slot *slot, const struct drm_asahi_cmd_render *render,
			      const struct drm_asahi_cmd_compute *compute)
{
	struct stream stream;

	if (!shim_vagx.capture)
		return;
	pthread_mutex_lock(&shim_vagx.lock);
	capture_mappings(shim_vagx.capture, slot->job);
	if (render) {
		stream = shim_vagx_stream_of(slot, AGX_STREAM_vdm, render->vdm_ctrl_stream_base);
		capture_render(shim_vagx.capture, &stream, render);
	} else {
		stream = shim_vagx_stream_of(slot, AGX_STREAM_cdm, compute->cdm_ctrl_stream_base);
		capture_compute(shim_vagx.capture, &stream);
	}
	pthread_mutex_unlock(&shim_vagx.lock);
}

/* Lets the work be cancelled by other threads; cancels it at once if the process ends. */
static void shim_vagx_work_begin(struct slot *slot, struct vagx_job *work)
{
	pthread_mutex_lock(&shim_vagx.lock);
	slot->work = work;
	slot->late = false;
	if (shim_vagx.stopping)
		vagx_job_cancel(work);
	pthread_mutex_unlock(&shim_vagx.lock);
}

static void shim_vagx_work_end(struct slot *slot)
{
	pthread_mutex_lock(&shim_vagx.lock);
	slot->work = NULL;
	pthread_mutex_unlock(&shim_vagx.lock);
}

static int shim_vagx_run_compute(struct slot *slot, const struct asahi_shim_command *command)
{
	struct drm_asahi_cmd_compute cmd = { .flags = 0 };
	struct vagx_compute_registers registers;
	struct vagx_uat_fault fault;
	enum vagx_gpu_status status;
	struct vagx_job *work;
	unsigned int unit;

	memcpy(&cmd, command->payload,
	       command->header.size < sizeof(cmd) ? command->header.size : sizeof(cmd));
	shim_vagx_capture(slot, NULL, &cmd);
	registers = (struct vagx_compute_registers){
		.cdm_base = cmd.cdm_ctrl_stream_base,
		.helper_program = cmd.helper.binary,
		.helper_cfg = cmd.helper.cfg,
		.helper_data = cmd.helper.data,
		.cdm_end = cmd.cdm_ctrl_stream_end,
		.usc_base = slot->job->usc_exec_base,
		.sampler_base = cmd.sampler_heap,
		.sampler_count = cmd.sampler_count,
	};
	work = vagx_job_new(shim_vagx.gpu, slot->number);
	if (!work)
		return -ENOMEM;
	shim_vagx_work_begin(slot, work);
	status = vagx_job_compute(work, &registers, &fault, &unit);
	shim_vagx_work_end(slot);
	vagx_job_free(work);
	if (slot->late)
		return -ETIMEDOUT;
	if (status != VAGX_GPU_DONE ||
	    !shim_vagx_is_proper(slot, AGX_STREAM_cdm, registers.cdm_base))
		return -EIO;
	return 0;
}

/* Runs the fragment work of what was drawn since the last partial render, or since the start. */
static enum vagx_gpu_status
shim_vagx_render_fragment(struct slot *slot, struct vagx_tvb_pages *pages,
			  const struct vagx_fragment_registers *registers,
			  enum vagx_fragment_mode mode)
{
	struct vagx_job *work = vagx_job_new(shim_vagx.gpu, slot->number);
	struct vagx_uat_fault fault;
	enum vagx_gpu_status status;
	unsigned int unit;

	if (!work)
		return VAGX_GPU_CANCELLED;
	shim_vagx_work_begin(slot, work);
	status = vagx_job_fragment(work, registers, pages, mode, &fault, &unit);
	shim_vagx_work_end(slot);
	vagx_job_free(work);
	return status;
}

static enum vagx_gpu_status shim_vagx_render_vertex(struct slot *slot, struct vagx_job *work,
						    const struct vagx_vertex_registers *registers,
						    struct vagx_tvb_pages *pages)
{
	struct vagx_uat_fault fault;
	enum vagx_gpu_status status;
	unsigned int unit;

	shim_vagx_work_begin(slot, work);
	status = vagx_job_vertex(work, registers, pages, &fault, &unit);
	shim_vagx_work_end(slot);
	return status;
}

/* Runs vertex work, with a partial render whenever pages are out, and then fragment work. */
static enum vagx_gpu_status
shim_vagx_render(struct slot *slot, const struct drm_asahi_cmd_render *cmd, struct shim_tvb *tvb)
{
	const uint64_t usc_base = slot->job->usc_exec_base;
	const struct vagx_vertex_registers vertex = shim_vertex_registers(cmd, tvb, usc_base);
	const struct vagx_fragment_registers fragment = shim_fragment_registers(cmd, tvb, usc_base);
	struct vagx_tvb_pages pages = shim_tvb_pages(tvb);
	struct vagx_job *work = vagx_job_new(shim_vagx.gpu, slot->number);
	enum vagx_gpu_status status;

	if (!work)
		return VAGX_GPU_CANCELLED;
	do {
		status = shim_vagx_render_vertex(slot, work, &vertex, &pages);
		if (status == VAGX_GPU_OVERFLOW &&
		    shim_vagx_render_fragment(slot, &pages, &fragment, VAGX_FRAGMENT_PARTIAL) !=
			    VAGX_GPU_DONE)
			status = VAGX_GPU_FAULT;
	} while (status == VAGX_GPU_OVERFLOW);
	vagx_job_free(work);
	if (status != VAGX_GPU_DONE)
		return status;
	return shim_vagx_render_fragment(slot, &pages, &fragment, VAGX_FRAGMENT_FINAL);
}

static int shim_vagx_run_render(struct slot *slot, const struct asahi_shim_command *command)
{
	struct shim_tvb tvb = {
		.va = slot->job->kernel_start,
		.size = TVB_SIZE,
		.most_pages = shim_vagx.tvb_pages,
	};
	struct drm_asahi_cmd_render cmd = { .flags = 0 };
	enum vagx_gpu_status status;

	memcpy(&cmd, command->payload,
	       command->header.size < sizeof(cmd) ? command->header.size : sizeof(cmd));
	shim_vagx_capture(slot, &cmd, NULL);
	if (!shim_tvb_init(&tvb, &cmd)) {
		shim_report("asahi_shim: too large an image for the vertex buffer");
		return -EIO;
	}
	status = shim_vagx_render(slot, &cmd, &tvb);
	shim_tvb_fini(&tvb);
	if (slot->late)
		return -ETIMEDOUT;
	if (status != VAGX_GPU_DONE ||
	    !shim_vagx_is_proper(slot, AGX_STREAM_vdm, cmd.vdm_ctrl_stream_base))
		return -EIO;
	return 0;
}

static int shim_vagx_run_command(struct slot *slot, const struct asahi_shim_command *command)
{
	switch (command->header.cmd_type) {
	case DRM_ASAHI_CMD_RENDER:
		return shim_vagx_run_render(slot, command);
	case DRM_ASAHI_CMD_COMPUTE:
		return shim_vagx_run_compute(slot, command);
	default:
		return 0;
	}
}

/* Waits for a free slot, and gives it to a job. */
static struct slot *shim_vagx_slot_get(struct asahi_shim_job *job)
{
	struct slot *slot = &shim_vagx.slots[1];

	pthread_mutex_lock(&shim_vagx.lock);
	while (shim_vagx.busy == SLOTS - 1)
		pthread_cond_wait(&shim_vagx.changed, &shim_vagx.lock);
	while (slot->job)
		slot++;
	slot->number = slot - shim_vagx.slots;
	slot->job = job;
	shim_vagx.busy++;
	pthread_cond_broadcast(&shim_vagx.changed);
	pthread_mutex_unlock(&shim_vagx.lock);
	return slot;
}

static void shim_vagx_slot_put(struct slot *slot)
{
	pthread_mutex_lock(&shim_vagx.lock);
	slot->job = NULL;
	shim_vagx.busy--;
	pthread_cond_broadcast(&shim_vagx.changed);
	pthread_mutex_unlock(&shim_vagx.lock);
}

/* Return: whether the process ends; a job that is cancelled for that reason has not failed. */
static bool shim_vagx_is_stopping(void)
{
	bool stopping;

	pthread_mutex_lock(&shim_vagx.lock);
	stopping = shim_vagx.stopping;
	pthread_mutex_unlock(&shim_vagx.lock);
	return stopping;
}

static void shim_vagx_report_failed(const struct slot *slot, int error)
{
	if (error == ETIMEDOUT)
		shim_report("asahi_shim: more than %u seconds of processor time for one job",
			    (unsigned int)(shim_vagx.limit_ns / 1000000000));
	shim_report_failed(slot->job->queue, error);
}

/* The thread of a job. */
static void *shim_vagx_run(void *arg)
{
	struct slot *slot = arg;
	struct asahi_shim_job *job = slot->job;
	size_t i;
	int err;

	err = shim_vagx_map_all(slot) ? 0 : -ENOMEM;
	for (i = 0; i < job->num_commands && !err; i++)
		err = shim_vagx_run_command(slot, &job->commands[i]);
	if (err && !shim_vagx_is_stopping())
		shim_vagx_report_failed(slot, -err);
	/* asahi_shim_job_done() submits the next jobs in this thread, and they need slots. */
	shim_vagx_slot_put(slot);
	asahi_shim_job_done(job, err);
	return NULL;
}

/*
 * Starts a job in a thread of its own: the program has to go on, since a job may need what it
 * does next, such as writes to memory.
 */
static void shim_vagx_submit(void *priv, struct asahi_shim_job *job)
{
	struct slot *slot = shim_vagx_slot_get(job);
	pthread_t thread;

	if (shim_thread_start(&thread, shim_vagx_run, slot)) {
		shim_vagx_slot_put(slot);
		asahi_shim_job_done(job, -ENOMEM);
		return;
	}
	pthread_detach(thread);
}

/* Cancels work that has used more processor time than a job may. With the lock held. */
static void shim_vagx_look_for_late(void)
{
	unsigned int i;

	for (i = 1; i < SLOTS; i++) {
		struct slot *slot = &shim_vagx.slots[i];

		if (!slot->work || vagx_job_cpu_ns(slot->work) < shim_vagx.limit_ns)
			continue;
		slot->late = true;
		vagx_job_cancel(slot->work);
	}
}

/* The thread that looks for jobs that run for too long; it sleeps while there are none. */
static void *shim_vagx_watch(void *arg)
{
	struct timespec until;

	pthread_mutex_lock(&shim_vagx.lock);
	while (!shim_vagx.stopping) {
		if (!shim_vagx.busy) {
			pthread_cond_wait(&shim_vagx.changed, &shim_vagx.lock);
			continue;
		}
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += LOOK_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		if (pthread_cond_clockwait(&shim_vagx.changed, &shim_vagx.lock, CLOCK_MONOTONIC,
					   &until))
			shim_vagx_look_for_late();
	}
	pthread_mutex_unlock(&shim_vagx.lock);
	return NULL;
}

/* The GPU */

/* Return: the number that a variable of the environment has, or @otherwise. */
static unsigned int shim_vagx_number(const char *name, unsigned int otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoul(text, NULL, 0) : otherwise;
}

/* Maps a file into the emulator; a child that is forked needs none of it. */
static int shim_vagx_map_memory(uint64_t gpa, uint64_t size, int fd)
{
	int ret = vagx_mem_map(shim_vagx.mem, gpa, size, fd, 0, VAGX_MEM_READ | VAGX_MEM_WRITE);

	if (!ret)
		madvise(vagx_mem_ptr(shim_vagx.mem, gpa, size), size, MADV_DONTFORK);
	return -ret;
}

/*
 * Maps page tables, vertex buffers and the memory of all buffers into the emulator.
 * Return: 0 or an errno value.
 */
static int shim_vagx_make_memory(void)
{
	uint64_t size;
	int memory = asahi_shim_memory(&size);
	int tables = shim_fd_try_token("asahi-shim-tables", TABLES_SIZE);
	int tvbs = shim_fd_try_token("asahi-shim-tvbs", SLOTS * TVB_SIZE);
	int err = tables < 0 || tvbs < 0 ? errno : 0;
	void *map = NULL;

	if (!err) {
		map = shim_libc()->mmap(NULL, TABLES_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
					tables, 0);
		if (map == MAP_FAILED)
			err = errno;
	}
	if (!err) {
		shim_vagx.tables = map;
		madvise(map, TABLES_SIZE, MADV_DONTFORK);
		err = shim_vagx_map_memory(TABLES_GPA, TABLES_SIZE, tables);
	}
	if (!err)
		err = shim_vagx_map_memory(TVB_GPA, SLOTS * TVB_SIZE, tvbs);
	if (!err)
		err = shim_vagx_map_memory(MEMORY_GPA, size, memory);
	if (!err)
		asahi_shim_memory_mapped(vagx_mem_ptr(shim_vagx.mem, MEMORY_GPA, size));
	if (tvbs >= 0)
		shim_libc()->close(tvbs);
	if (tables >= 0)
		shim_libc()->close(tables);
	return err;
}

/* Return: 0, or an errno value after a message */
static int shim_vagx_open_capture(void)
{
	const char *path = getenv("ASAHI_SHIM_CAPTURE");
	int err;

	if (!path || !*path)
		return 0;
	shim_vagx.capture = shim_fd_stream(path, O_TRUNC);
	if (!shim_vagx.capture) {
		err = errno;
		fprintf(stderr, "ASAHI_SHIM_CAPTURE=%s: %s\n", path, strerror(err));
		return err;
	}
	capture_begin(shim_vagx.capture);
	return 0;
}

/* Return: 0, or an errno value after a message */
static int shim_vagx_open_trace(void)
{
	const char *path = getenv("ASAHI_SHIM_TRACE");
	int err;

	if (!path || !*path)
		return 0;
	shim_vagx.trace = vagx_trace_join(path);
	if (shim_vagx.trace)
		return 0;
	err = errno;
	fprintf(stderr, "ASAHI_SHIM_TRACE=%s: %s\n", path, strerror(err));
	return err;
}

/* Return: 0, or an errno value after a message */
static int shim_vagx_choose_jit(struct vagx_jit_config *config)
{
	const char *name = getenv("ASAHI_SHIM_JIT");

	config->mode = VAGX_JIT_ON;
	if (!name || !*name || vagx_jit_parse(name, config))
		return 0;
	fprintf(stderr, "ASAHI_SHIM_JIT=%s: not off, on, all or check, on x86-64 with ,avx2 or not\n", name);
	return EINVAL;
}

/* How much of a page of memory is a buffer's, for the sanitizer */
static unsigned int shim_vagx_page_bytes(void *ctx, const void *page)
{
	return asahi_shim_page_bytes((uint64_t)((const uint8_t *)page - (const uint8_t *)ctx));
}

/* Return: 0, or an errno value after a message */
static int shim_vagx_choose_sanitizer(struct vagx_sanitizer_config *config, uint32_t *seed)
{
	const char *suppressions = getenv("ASAHI_SHIM_SUPPRESSIONS");
	const char *profile = getenv("ASAHI_SHIM_PROFILE");
	const char *descriptors = getenv("ASAHI_SHIM_DESCRIPTORS");
	const char *place = getenv("ASAHI_SHIM_BREAK"), *thread = getenv("ASAHI_SHIM_THREAD");

	*seed = shim_vagx_number("ASAHI_SHIM_UNKIND", 0);
	config->unkind = *seed;
	config->check = shim_vagx_number("ASAHI_SHIM_CHECK", 0);
	config->memory = (uint64_t)shim_vagx_number("ASAHI_SHIM_CHECK_MEMORY", 0) << 20;
	config->profile = profile && *profile;
	config->profile_trace = config->profile && strcmp(profile, "-") ? profile : NULL;
	config->descriptors = descriptors && *descriptors ? descriptors : NULL;
	config->suppressions = suppressions && *suppressions ? suppressions : NULL;
	if (!place || !*place || vagx_watch_parse(place, thread, &config->watch))
		return 0;
	fprintf(stderr, "ASAHI_SHIM_BREAK=%s, ASAHI_SHIM_THREAD=%s: not SHADER[+OFFSET] and X,Y,Z\n",
		place, thread ? thread : "");
	return EINVAL;
}

/* Return: 0 or an errno value; what was made is in shim_vagx in any case. */
static int shim_vagx_make_gpu(const struct vagx_soc *soc)
{
	const struct vagx_report_config report = {
		.stream = shim_report_stream(),
		.level = VAGX_LOG_WARNING,
	};
	struct vagx_uat_config uat = { .ttbs = TABLES_GPA };
	struct vagx_gpu_config gpu = {
		.cores = shim_vagx_number("ASAHI_SHIM_CORES", 4),
		.no_exec = shim_vagx_number("ASAHI_SHIM_NO_EXEC", 0),
	};
	int err;

	uat.oas_bits = soc->oas_bits;
	shim_vagx.features = soc->id.generation == AGX_ID_GENERATION_G14X ? AGX_STREAM_G14X : 0;
	gpu.stream_features = shim_vagx.features;
	shim_vagx.streams = shim_vagx_number("ASAHI_SHIM_STREAMS", 0) ? stderr : NULL;
	shim_vagx.mem = vagx_mem_new();
	shim_vagx.report = vagx_report_new(&report);
	if (!shim_vagx.mem || !shim_vagx.report)
		return errno;
	err = shim_vagx_choose_sanitizer(&gpu.sanitizer, &gpu.seed);
	if (!err)
		err = shim_vagx_choose_jit(&gpu.jit);
	if (!err)
		err = shim_vagx_make_memory();
	if (!err)
		err = shim_vagx_open_capture();
	if (!err)
		err = shim_vagx_open_trace();
	if (err)
		return err;
	gpu.sanitizer.page_bytes = shim_vagx_page_bytes;
	gpu.sanitizer.ctx = vagx_mem_ptr(shim_vagx.mem, MEMORY_GPA, 1);
	uat.mem = shim_vagx.mem;
	uat.report = shim_vagx.report;
	shim_vagx.uat = vagx_uat_new(&uat);
	gpu.uat = shim_vagx.uat;
	gpu.report = shim_vagx.report;
	gpu.trace = shim_vagx.trace;
	shim_vagx.gpu = shim_vagx.uat ? vagx_gpu_new(&gpu) : NULL;
	if (!shim_vagx.gpu)
		return errno;
	shim_vagx.tvb_pages = shim_vagx_number("ASAHI_SHIM_TVB_PAGES", 0);
	shim_vagx.limit_ns = shim_vagx_number("ASAHI_SHIM_TIMEOUT", 60) * UINT64_C(1000000000);
	shim_vagx.stopping = false;
	return shim_thread_start(&shim_vagx.watch, shim_vagx_watch, NULL);
}

/* Cancels all jobs, waits until every slot is free, and ends the watching thread. */
static void shim_vagx_stop_jobs(void)
{
	unsigned int i;

	pthread_mutex_lock(&shim_vagx.lock);
	shim_vagx.stopping = true;
	pthread_cond_broadcast(&shim_vagx.changed);
	for (i = 1; i < SLOTS; i++)
		if (shim_vagx.slots[i].work)
			vagx_job_cancel(shim_vagx.slots[i].work);
	while (shim_vagx.busy)
		pthread_cond_wait(&shim_vagx.changed, &shim_vagx.lock);
	pthread_mutex_unlock(&shim_vagx.lock);
	pthread_join(shim_vagx.watch, NULL);
}

/* Frees what shim_vagx_make_gpu() has made, all of it or a part. */
static void shim_vagx_free_gpu(void)
{
	uint64_t findings = shim_vagx.gpu ? vagx_gpu_findings(shim_vagx.gpu) : 0;

	if (findings)
		shim_report("asahi_shim: the sanitizer has reported shaders of process %d (%s); places: %llu",
			    getpid(), program_invocation_short_name, (unsigned long long)findings);
	vagx_gpu_free(shim_vagx.gpu);
	vagx_uat_free(shim_vagx.uat);
	asahi_shim_memory_mapped(NULL);
	vagx_mem_free(shim_vagx.mem);
	vagx_report_free(shim_vagx.report);
	if (shim_vagx.capture)
		fclose(shim_vagx.capture);
	vagx_trace_close(shim_vagx.trace);
	if (shim_vagx.tables)
		shim_libc()->munmap(shim_vagx.tables, TABLES_SIZE);
	shim_vagx_forget();
}

static void __attribute__((destructor)) shim_vagx_stop(void)
{
	/* A child that came out of fork() has none of the threads. */
	if (!shim_vagx.pid || getpid() != shim_vagx.pid)
		return;
	asahi_shim_set_backend(NULL);
	shim_vagx_stop_jobs();
	shim_vagx_free_gpu();
}

int shim_vagx_start(void)
{
	static const struct asahi_shim_backend backend = { .submit = shim_vagx_submit };
	const struct vagx_soc *soc = shim_vagx_soc();
	struct sigaction bus;
	sigset_t all, old;
	int err;

	if (!soc)
		return ENODEV;
	/* The cores' threads inherit the mask: the program may wait for signals itself. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	/* vagx would catch accesses to memory that a guest has taken away: there is none. */
	sigaction(SIGBUS, NULL, &bus);
	err = shim_vagx_make_gpu(soc);
	sigaction(SIGBUS, &bus, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err) {
		shim_vagx_free_gpu();
		return err;
	}
	asahi_shim_set_backend(&backend);
	shim_vagx.pid = getpid();
	return 0;
}

void shim_vagx_forget(void)
{
	shim_vagx.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	shim_vagx.changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
	memset(shim_vagx.slots, 0, sizeof(shim_vagx.slots));
	shim_vagx.busy = 0;
	shim_vagx.pid = 0;
	shim_vagx.tables = NULL;
	shim_vagx.mem = NULL;
	shim_vagx.report = NULL;
	shim_vagx.uat = NULL;
	shim_vagx.gpu = NULL;
	shim_vagx.streams = NULL;
	shim_vagx.capture = NULL;
	shim_vagx.trace = NULL;
}
