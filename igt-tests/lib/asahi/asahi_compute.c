// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "asahi_compute.h"
#include "igt.h"
#include "igt_syncobj.h"
#include "sw_sync.h"

#define ARENA_BYTES	(256 << 10)
#define ARENA_ALIGN	64
/* Buffers begin above the 4 GiB that the USC addresses. */
#define BUFFERS_START	0x200000000ULL

/* More than the setup of any dispatch, and than any of its commands. */
#define SETUP_BYTES	256
#define DISPATCH_WORDS	12
/* Bytes of uniforms that one word of the setup can load */
#define UNIFORM_BYTES	128

/* Blocks of a compute stream, in the upper bits of their first word. */
#define CDM_TERMINATE	(2u << 29)
#define CDM_BARRIER	(3u << 29)
#define CDM_INDIRECT	(1u << 27)
/* Second of two words that launches of G14 with several clusters have besides. */
#define CDM_LAUNCH_LONG	(1u << 30)
/* All that may be flushed or invalidated between launches that depend on each other. */
#define CDM_BARRIER_ALL	0xfffffu

/* Words that set up a shader, known by their first byte. */
#define USC_SHADER	0x0d
#define USC_UNIFORM	0x1d
#define USC_SHARED	0x4d
#define USC_NO_PRESHADER 0x88
#define USC_REGISTERS	0x8d
#define USC_SHARED_USED	(1u << 8)
#define USC_SHARED_LAYOUT_COMPUTE (0x24u << 10)

/* Instructions are fetched ahead: behind a shader are some that only trap. */
#define TRAP		0x0008
#define TRAPS		8

static struct asahi_client *compute_clients;

static void compute_bo_map(struct asahi_client *client, struct asahi_bo *bo, uint64_t addr,
			   uint64_t size)
{
	*bo = (struct asahi_bo){ .addr = addr };
	bo->size = (size + IGT_ASAHI_PAGE - 1) & ~(IGT_ASAHI_PAGE - 1);
	bo->handle = igt_asahi_gem_create(client->fd, bo->size,
					  DRM_ASAHI_GEM_WRITEBACK | DRM_ASAHI_GEM_VM_PRIVATE,
					  client->vm, 0);
	bo->map = igt_asahi_gem_mmap(client->fd, bo->handle, bo->size);
	igt_asahi_vm_bind_one(client->fd, client->vm, DRM_ASAHI_BIND_READ | DRM_ASAHI_BIND_WRITE,
			      bo->handle, 0, bo->size, addr, 0);
}

struct asahi_bo igt_asahi_bo_create(struct asahi_client *client, uint64_t size)
{
	struct asahi_bo bo;

	compute_bo_map(client, &bo, client->next_addr, size);
	/* Nothing is mapped behind a buffer, where the GPU may read ahead. */
	client->next_addr += bo.size + IGT_ASAHI_PAGE;
	return bo;
}

void igt_asahi_bo_destroy(struct asahi_client *client, struct asahi_bo *bo)
{
	munmap(bo->map, bo->size);
	gem_close(client->fd, bo->handle);
}

static void *compute_arena_take(struct asahi_client *client, size_t size, uint64_t *addr)
{
	uint64_t start = (client->used + ARENA_ALIGN - 1) & ~(uint64_t)(ARENA_ALIGN - 1);

	igt_assert_lte_u64(start + size, client->arena.size);
	client->used = start + size;
	*addr = client->arena.addr + start;
	return (char *)client->arena.map + start;
}

static void compute_load_shader(struct asahi_client *client, enum igt_asahi_shader which)
{
	const struct igt_asahi_code *shader = &igt_asahi_shaders[which];
	const uint16_t trap = TRAP;
	uint64_t addr;
	char *map = compute_arena_take(client, shader->size + TRAPS * sizeof(trap), &addr);
	unsigned int i;

	memcpy(map, shader->code, shader->size);
	for (i = 0; i < TRAPS; i++)
		memcpy(map + shader->size + i * sizeof(trap), &trap, sizeof(trap));
	client->programs[which] = addr - IGT_ASAHI_USC_BASE;
}

static struct asahi_client *compute_reopen(int fd)
{
	struct asahi_client *client = calloc(1, sizeof(*client));
	struct drm_asahi_params_global params;

	igt_assert(client);
	client->fd = drm_reopen_driver(fd);
	client->next = compute_clients;
	compute_clients = client;
	igt_asahi_get_params(client->fd, 0, &params, sizeof(params), 0);
	client->has_long_launches = params.gpu_generation >= 14 && params.num_clusters_total > 1;
	return client;
}

static void compute_fill_vm(struct asahi_client *client, uint32_t vm)
{
	struct asahi_bo words;
	unsigned int i;

	client->vm = vm;
	client->queue = igt_asahi_queue_create(client->fd, client->vm,
					       DRM_ASAHI_PRIORITY_MEDIUM, 0);
	client->next_addr = BUFFERS_START;
	words = igt_asahi_bo_create(client, ASAHI_WORDS * 4);
	client->words = words.map;
	client->words_addr = words.addr;
	compute_bo_map(client, &client->arena, IGT_ASAHI_USC_BASE, ARENA_BYTES);
	for (i = 0; i < IGT_ASAHI_SHADERS; i++)
		compute_load_shader(client, i);
}

struct asahi_client *igt_asahi_client_open(int fd)
{
	struct asahi_client *client = compute_reopen(fd);

	compute_fill_vm(client, igt_asahi_vm_create(client->fd));
	return client;
}

struct asahi_client *igt_asahi_client_open_at(int fd, uint64_t start, uint64_t end)
{
	struct asahi_client *client = compute_reopen(fd);

	compute_fill_vm(client, igt_asahi_vm_create_at(client->fd, start, end));
	return client;
}

/* Ends the jobs that a failed test has left now, and not by a timeout. */
static void compute_open_gates(struct asahi_client *client)
{
	unsigned int i;

	for (i = 0; client->words && i < ASAHI_WORDS; i++)
		client->words[i] = 1;
}

void igt_asahi_client_close(struct asahi_client *client)
{
	struct asahi_client **link = &compute_clients;

	while (*link != client)
		link = &(*link)->next;
	*link = client->next;
	compute_open_gates(client);
	if (client->words)
		munmap((void *)client->words, ASAHI_WORDS * 4);
	if (client->arena.map)
		munmap(client->arena.map, client->arena.size);
	drm_close_driver(client->fd);
	free(client);
}

void igt_asahi_clients_close(void)
{
	while (compute_clients)
		igt_asahi_client_close(compute_clients);
}

void igt_asahi_client_tests(const struct asahi_client_test *tests, unsigned int count)
{
	static unsigned int i;
	static int fd;

	igt_fixture() {
		fd = drm_open_driver_render(DRIVER_ASAHI);
	}

	for (i = 0; i < count; i++) {
		igt_describe(tests[i].text);
		igt_subtest(tests[i].name) {
			tests[i].run(igt_asahi_client_open(fd));
		}
		igt_fixture() {
			igt_asahi_clients_close();
		}
	}

	igt_fixture() {
		drm_close_driver(fd);
	}
}

uint64_t igt_asahi_word_addr(struct asahi_client *client, unsigned int index)
{
	return client->words_addr + index * 4;
}

uint64_t igt_asahi_patience_ns(void)
{
	const char *seconds = getenv("IGT_ASAHI_PATIENCE");

	return seconds ? strtoul(seconds, NULL, 0) * 1000000000ULL : ASAHI_PATIENCE_NS;
}

bool igt_asahi_word_becomes(struct asahi_client *client, unsigned int index, uint32_t value)
{
	const uint64_t tries = igt_asahi_patience_ns() / 10000000;
	uint64_t i;

	for (i = 0; i < tries; i++) {
		if (client->words[index] == value)
			return true;
		usleep(10000);
	}
	return false;
}

static void *compute_put_bytes(void *pos, uint64_t value, unsigned int bytes)
{
	memcpy(pos, &value, bytes);
	return (char *)pos + bytes;
}

static void *compute_put_uniforms(struct asahi_client *client, void *pos,
				  const struct asahi_dispatch *dispatch)
{
	size_t offset, bytes;
	uint64_t addr;
	void *map;

	if (!dispatch->uniform_bytes)
		return pos;
	map = compute_arena_take(client, dispatch->uniform_bytes, &addr);
	memcpy(map, dispatch->uniforms, dispatch->uniform_bytes);
	for (offset = 0; offset < dispatch->uniform_bytes; offset += bytes) {
		bytes = dispatch->uniform_bytes - offset;
		if (bytes > UNIFORM_BYTES)
			bytes = UNIFORM_BYTES;
		pos = compute_put_bytes(pos, USC_UNIFORM | (offset / 2) << 8 |
					((bytes + 1) / 2 & 0x3f) << 20 |
					(addr + offset) >> 2 << 26, 8);
	}
	return pos;
}

static uint32_t compute_shared_word(unsigned int bytes)
{
	uint32_t word = USC_SHARED | USC_SHARED_LAYOUT_COMPUTE;

	if (bytes)
		word |= USC_SHARED_USED | ((bytes + 255) / 256 & 0xff) << 24;
	return word;
}

/* Returns the offset of the setup from the USC's base. */
static uint32_t compute_put_setup(struct asahi_client *client,
				  const struct asahi_dispatch *dispatch)
{
	const uint64_t code = client->programs[dispatch->shader];
	const unsigned int registers = igt_asahi_shaders[dispatch->shader].registers;
	uint64_t addr;
	void *pos = compute_arena_take(client, SETUP_BYTES, &addr);

	pos = compute_put_uniforms(client, pos, dispatch);
	pos = compute_put_bytes(pos, compute_shared_word(dispatch->shared_bytes), 4);
	pos = compute_put_bytes(pos, USC_SHADER | code << 16, 6);
	pos = compute_put_bytes(pos, USC_REGISTERS | ((registers + 7) / 8 & 0x1f) << 8, 4);
	compute_put_bytes(pos, USC_NO_PRESHADER, 2);
	return addr - IGT_ASAHI_USC_BASE;
}

static unsigned int compute_put_dispatch(struct asahi_client *client, uint32_t *words,
					 const struct asahi_dispatch *dispatch)
{
	const unsigned int uniforms = (dispatch->uniform_bytes + 1) / 2;
	unsigned int n = 0;

	/* Eight textures and sixteen registers of a preshader are the least. */
	words[n++] = ((uniforms + 63) / 64 & 7) << 1 | 1 << 4 | 1 << 12 |
		     (dispatch->indirect ? CDM_INDIRECT : 0);
	words[n++] = compute_put_setup(client, dispatch);
	if (client->has_long_launches) {
		words[n++] = 0;
		words[n++] = CDM_LAUNCH_LONG;
	}
	if (dispatch->indirect) {
		words[n++] = dispatch->indirect >> 32;
		words[n++] = dispatch->indirect;
	} else {
		memcpy(words + n, dispatch->global, sizeof(dispatch->global));
		n += 3;
	}
	memcpy(words + n, dispatch->local, sizeof(dispatch->local));
	return n + 3;
}

struct asahi_command igt_asahi_command_words(struct asahi_client *client, const uint32_t *words,
					     unsigned int count)
{
	struct asahi_command command = {
		.header = {
			.cmd_type = DRM_ASAHI_CMD_COMPUTE,
			.size = sizeof(command.compute),
			.vdm_barrier = DRM_ASAHI_BARRIER_NONE,
			.cdm_barrier = DRM_ASAHI_BARRIER_NONE,
		},
	};
	uint64_t addr;

	memcpy(compute_arena_take(client, count * 4, &addr), words, count * 4);
	command.compute.cdm_ctrl_stream_base = addr;
	command.compute.cdm_ctrl_stream_end = addr + count * 4;
	return command;
}

struct asahi_command igt_asahi_command(struct asahi_client *client,
				       const struct asahi_dispatch *dispatches,
				       unsigned int count)
{
	uint32_t words[64];
	unsigned int i, n = 0;

	igt_assert_lte((count + 1) * DISPATCH_WORDS, ARRAY_SIZE(words));
	for (i = 0; i < count; i++) {
		if (i)
			words[n++] = CDM_BARRIER | CDM_BARRIER_ALL;
		n += compute_put_dispatch(client, words + n, &dispatches[i]);
	}
	words[n++] = CDM_TERMINATE;
	words[n++] = 0;
	return igt_asahi_command_words(client, words, n);
}

/* One thread. */
static struct asahi_command compute_single(struct asahi_client *client,
					   enum igt_asahi_shader shader, const void *uniforms,
					   size_t bytes)
{
	const struct asahi_dispatch dispatch = {
		.shader = shader,
		.uniforms = uniforms,
		.uniform_bytes = bytes,
		.global = { 1, 1, 1 },
		.local = { 32, 1, 1 },
	};

	return igt_asahi_command(client, &dispatch, 1);
}

struct asahi_command igt_asahi_gate_at(struct asahi_client *client, uint64_t gate, uint64_t addr,
				       uint32_t value)
{
	const struct {
		uint64_t gate;
		uint64_t dst;
		uint32_t value;
	} uniforms = { gate, addr, value };

	return compute_single(client, IGT_ASAHI_SHADER_GATE, &uniforms, sizeof(uniforms));
}

struct asahi_command igt_asahi_gate(struct asahi_client *client, unsigned int index,
				    uint32_t value)
{
	return igt_asahi_gate_at(client, igt_asahi_word_addr(client, ASAHI_GATE),
				 igt_asahi_word_addr(client, index), value);
}

struct asahi_command igt_asahi_store(struct asahi_client *client, uint64_t addr, uint32_t value)
{
	const struct {
		uint64_t dst;
		uint32_t value;
	} uniforms = { addr, value };

	return compute_single(client, IGT_ASAHI_SHADER_FILL, &uniforms, sizeof(uniforms));
}

struct asahi_command igt_asahi_store_word(struct asahi_client *client, unsigned int index,
					  uint32_t value)
{
	return igt_asahi_store(client, igt_asahi_word_addr(client, index), value);
}

struct asahi_command igt_asahi_copy(struct asahi_client *client, unsigned int from,
				    unsigned int to)
{
	const uint64_t uniforms[] = {
		igt_asahi_word_addr(client, from),
		igt_asahi_word_addr(client, to),
	};

	return compute_single(client, IGT_ASAHI_SHADER_PEEK, uniforms, sizeof(uniforms));
}

struct asahi_command igt_asahi_after(struct asahi_command command, uint16_t cdm_barrier)
{
	command.header.cdm_barrier = cdm_barrier;
	return command;
}

int __igt_asahi_submit_syncs(int fd, uint32_t queue, const struct asahi_command *commands,
			     unsigned int count, const struct drm_asahi_sync *syncs,
			     unsigned int in, unsigned int out)
{
	struct drm_asahi_submit args = {
		.syncs = (uintptr_t)syncs,
		.cmdbuf = (uintptr_t)commands,
		.queue_id = queue,
		.in_sync_count = in,
		.out_sync_count = out,
		.cmdbuf_size = count * sizeof(*commands),
	};

	return drmIoctl(fd, DRM_IOCTL_ASAHI_SUBMIT, &args) ? -errno : 0;
}

static struct drm_asahi_sync compute_one_sync(uint32_t syncobj, uint64_t point)
{
	return (struct drm_asahi_sync){
		.sync_type = point ? DRM_ASAHI_SYNC_TIMELINE_SYNCOBJ : DRM_ASAHI_SYNC_SYNCOBJ,
		.handle = syncobj,
		.timeline_value = point,
	};
}

int __igt_asahi_submit(int fd, uint32_t queue, const struct asahi_command *commands,
		       unsigned int count, const struct asahi_sync *sync)
{
	struct drm_asahi_sync syncs[2];
	unsigned int n = 0;

	if (sync->in)
		syncs[n++] = compute_one_sync(sync->in, sync->in_point);
	if (sync->out)
		syncs[n++] = compute_one_sync(sync->out, sync->out_point);
	return __igt_asahi_submit_syncs(fd, queue, commands, count, syncs, !!sync->in,
					!!sync->out);
}

void igt_asahi_submit(int fd, uint32_t queue, const struct asahi_command *commands,
		      unsigned int count, const struct asahi_sync *sync)
{
	igt_assert_eq(__igt_asahi_submit(fd, queue, commands, count, sync), 0);
}

void igt_asahi_submit_one(struct asahi_client *client, const struct asahi_command *command,
			  uint32_t out)
{
	igt_asahi_submit(client->fd, client->queue, command, 1,
			 &(struct asahi_sync){ .out = out });
}

static int64_t compute_deadline(int64_t timeout_ns)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec + timeout_ns;
}

static int compute_wait_until(int fd, uint32_t syncobj, int64_t end)
{
	int err = syncobj_wait_err(fd, &syncobj, 1, end, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT);
	int file, status;

	if (err)
		return err;
	file = syncobj_handle_to_fd(fd, syncobj, DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE);
	status = sync_fence_status(file);
	close(file);
	return status < 0 ? status : 0;
}

int igt_asahi_wait(int fd, uint32_t syncobj)
{
	return compute_wait_until(fd, syncobj, compute_deadline(ASAHI_PATIENCE_NS));
}

bool igt_asahi_signalled(int fd, uint32_t syncobj)
{
	return !compute_wait_until(fd, syncobj, compute_deadline(0));
}

void igt_asahi_assert_bystander(int err)
{
	igt_assert_f(!err || err == -ECANCELED, "%s\n", strerror(-err));
}

int igt_asahi_run(struct asahi_client *client, const struct asahi_command *command)
{
	uint32_t syncobj = syncobj_create(client->fd, 0);
	int err = __igt_asahi_submit(client->fd, client->queue, command, 1,
				     &(struct asahi_sync){ .out = syncobj });

	if (!err)
		err = igt_asahi_wait(client->fd, syncobj);
	syncobj_destroy(client->fd, syncobj);
	return err;
}

static uint32_t compute_import_sync_file(int fd, int file)
{
	uint32_t syncobj = syncobj_create(fd, 0);

	syncobj_import_sync_file(fd, syncobj, file);
	close(file);
	return syncobj;
}

uint32_t igt_asahi_pass_fence(int from, uint32_t syncobj, int to)
{
	return compute_import_sync_file(to,
		syncobj_handle_to_fd(from, syncobj,
				     DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE));
}

uint32_t igt_asahi_late_fence(int fd, int timeline)
{
	return compute_import_sync_file(fd, sw_sync_timeline_create_fence(timeline, 1));
}
