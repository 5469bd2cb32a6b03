// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Runs a program. Whatever it has opened and mapped is closed at the end, so that one
 * program leaves nothing to the next.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sync_file.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <drm/asahi_drm.h>

#include "fuzz.h"

#define NODE		"/dev/dri/renderD128"

/* The argument, and what it points to: each ends where nothing can be read. */
#define SLOTS		4
#define SLOT_BYTES	(64 << 10)

/* Memory is bounded: some buffers may be large, the others not. */
#define LARGE_BUFFER	0x2000000
#define BUFFER_MASK	0x3fffff
#define MAX_LARGE	4

#define MAX_OWNED	1024
#define MAX_LATE	3

/* A descriptor or a mapping that the program has made */
struct owned {
	atomic_bool alive;
	void *map;
	size_t size;
	int fd;
};

struct run {
	const struct fuzz_program *program;
	_Atomic(uint64_t) results[FUZZ_MAX_CALLS];
	struct owned owned[MAX_OWNED];
	atomic_uint owned_count;
	atomic_uint large;
	atomic_uint late;
	atomic_uint next;
	unsigned int patience_ms;
	struct fuzz_outcome outcome;
};

struct runner {
	struct run *run;
	uint8_t *memory;
	unsigned int slots;
	/* to copy from and to a mapping without being killed by it */
	int copy_fd;
	int fail_fd;
};

/* What a result is: 0 as long as there is none */
static uint64_t result(const struct run *run, uint32_t label)
{
	unsigned int i;

	for (i = 0; i < run->program->count; i++)
		if (run->program->calls[i]->label == label)
			return atomic_load(&run->results[i]);
	return 0;
}

/* Owning */

static struct owned *own(struct run *run)
{
	unsigned int i = atomic_fetch_add(&run->owned_count, 1);

	return i < MAX_OWNED ? &run->owned[i] : NULL;
}

static void own_fd(struct run *run, int fd)
{
	struct owned *owned = own(run);

	if (!owned) {
		close(fd);
		return;
	}
	owned->fd = fd;
	atomic_store(&owned->alive, true);
}

/* Only once: another one may have the number by then. */
static bool disown(struct run *run, const void *map, int fd, size_t *size)
{
	unsigned int count = atomic_load(&run->owned_count);
	unsigned int i;

	for (i = 0; i < count && i < MAX_OWNED; i++) {
		struct owned *owned = &run->owned[i];

		if (!atomic_load(&owned->alive) || owned->map != map || (!map && owned->fd != fd))
			continue;
		*size = owned->size;
		if (atomic_exchange(&owned->alive, false))
			return true;
	}
	return false;
}

static size_t mapped_size(const struct run *run, const void *map)
{
	unsigned int i;

	for (i = 0; i < MAX_OWNED && i < atomic_load(&run->owned_count); i++)
		if (map && run->owned[i].map == map && atomic_load(&run->owned[i].alive))
			return run->owned[i].size;
	return 0;
}

static void close_all(struct run *run)
{
	unsigned int i;

	for (i = 0; i < MAX_OWNED && i < atomic_load(&run->owned_count); i++) {
		struct owned *owned = &run->owned[i];

		if (!atomic_load(&owned->alive))
			continue;
		if (owned->map)
			munmap(owned->map, owned->size);
		else
			close(owned->fd);
	}
}

/* Arguments */

static uint8_t *take_memory(struct runner *runner, size_t size)
{
	uint8_t *slot = runner->memory + 2 * (size_t)SLOT_BYTES * runner->slots;

	if (runner->slots == SLOTS || size > SLOT_BYTES)
		return NULL;
	runner->slots++;
	memset(slot + SLOT_BYTES - size, 0, size);
	return slot + SLOT_BYTES - size;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * UINT64_C(1000000000) + now.tv_nsec;
}

static uint8_t *put(struct runner *runner, const struct fuzz_value *value,
		    const struct fuzz_value *parent, uint8_t *at);

static uint64_t put_pointee(struct runner *runner, const struct fuzz_value *value)
{
	uint8_t *memory;

	if (!value->count)
		return value->number;
	memory = take_memory(runner, fuzz_value_size(value->children[0]));
	if (memory)
		put(runner, value->children[0], value, memory);
	return (uintptr_t)memory;
}

static uint64_t number(struct runner *runner, const struct fuzz_value *value,
		       const struct fuzz_value *parent)
{
	switch (value->type->kind) {
	case FUZZ_RESOURCE:
		return value->label ? result(runner->run, value->label) : value->number;
	case FUZZ_LENGTH:
		if (value->literal)
			return value->number;
		return fuzz_value_length(parent, value->type) + value->off_by;
	case FUZZ_DEADLINE:
		/* No program waits for long. */
		return value->number > 50000000 ? value->number % 3 : now_ns() + value->number;
	case FUZZ_POINTER:
		return put_pointee(runner, value);
	default:
		return value->number;
	}
}

static uint8_t *put(struct runner *runner, const struct fuzz_value *value,
		    const struct fuzz_value *parent, uint8_t *at)
{
	uint64_t n;
	unsigned int i;

	switch (value->type->kind) {
	case FUZZ_BYTES:
		memcpy(at, value->bytes, value->byte_count);
		return at + value->byte_count;
	case FUZZ_ARRAY:
	case FUZZ_STRUCT:
	case FUZZ_UNION:
		for (i = 0; i < value->count; i++)
			at = put(runner, value->children[i], value, at);
		return at;
	default:
		n = number(runner, value, parent);
		memcpy(at, &n, value->type->size);
		return at + value->type->size;
	}
}

static uint64_t field(struct runner *runner, const struct fuzz_call *call, const char *name)
{
	const struct fuzz_value *value = fuzz_call_field(call, name);

	return value ? number(runner, value, call->arg) : 0;
}

static int device(const struct run *run, const struct fuzz_call *call)
{
	uint64_t fd = result(run, call->fd);

	return fd ? (int)fd : -1;
}

/* Calls */

/* A transfer in vain lasts five seconds: few programs may have one. */
static void bound_transfer(const struct run *run, const struct fuzz_call *call, uint8_t *arg)
{
	struct drm_syncobj_transfer transfer;

	if (call->op->request != DRM_IOCTL_SYNCOBJ_TRANSFER || run->program->number % 128 == 100)
		return;
	memcpy(&transfer, arg, sizeof(transfer));
	transfer.flags &= ~DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT;
	memcpy(arg, &transfer, sizeof(transfer));
}

/* The DRM core asks for memory for any number of sync objects, and the kernel warns. */
static void bound_syncobjs(const struct fuzz_call *call, uint8_t *arg)
{
	const struct fuzz_type *type = call->op->arg;
	uint32_t count;
	unsigned int i;

	for (i = 0; i < type->count; i++) {
		if (!strcmp(type->fields[i].name, "count_handles")) {
			memcpy(&count, arg, sizeof(count));
			count = count > 0xffff ? 0xffff : count;
			memcpy(arg, &count, sizeof(count));
		}
		arg += fuzz_value_size(call->arg->children[i]);
	}
}

static void bound(struct run *run, const struct fuzz_call *call, uint8_t *arg)
{
	struct drm_asahi_gem_create create;

	bound_syncobjs(call, arg);
	bound_transfer(run, call, arg);
	if (call->op->request != DRM_IOCTL_ASAHI_GEM_CREATE)
		return;
	memcpy(&create, arg, sizeof(create));
	if (create.size == LARGE_BUFFER && atomic_fetch_add(&run->large, 1) < MAX_LARGE)
		return;
	/* What no machine has is refused before memory is looked for. */
	if (create.size > BUFFER_MASK && create.size < UINT64_C(1) << 42)
		create.size = (create.size & BUFFER_MASK) | 0x4000;
	memcpy(arg, &create, sizeof(create));
}

static void set_fail(const struct runner *runner, unsigned int nth)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%u", nth);

	if (runner->fail_fd >= 0 && pwrite(runner->fail_fd, text, n, 0) != n)
		fputs("asahi-fuzz: fail-nth cannot be written\n", stderr);
}

static void clear_fail(const struct runner *runner)
{
	char text[16] = "";

	if (runner->fail_fd < 0)
		return;
	/* It counts down, and is 0 when a failure was injected. */
	if (pread(runner->fail_fd, text, sizeof(text) - 1, 0) > 0 && atoi(text) == 0)
		atomic_fetch_add(&fuzz_shared->failures_injected, 1);
	set_fail(runner, 0);
}

static void keep_result(struct run *run, unsigned int index, const uint8_t *arg)
{
	const struct fuzz_call *call = run->program->calls[index];
	int resource = fuzz_op_resource(call->op);
	const struct fuzz_type *type;
	uint64_t value = 0;
	size_t offset = 0;
	int i;

	if (resource < 0)
		return;
	for (i = 0; i < call->op->result; i++)
		offset += fuzz_value_size(call->arg->children[i]);
	type = call->op->arg->fields[call->op->result].type;
	memcpy(&value, arg + offset, type->size);
	atomic_store(&run->results[index], value);
	if (resource == (int)fuzz_resource_find("asahi_passed_fd"))
		own_fd(run, value);
}

static bool call_ioctl(struct runner *runner, unsigned int index)
{
	const struct fuzz_call *call = runner->run->program->calls[index];
	unsigned long request = call->op->request;
	size_t size = fuzz_value_size(call->arg);
	int fd = device(runner->run, call);
	uint8_t *arg;
	int ret;

	runner->slots = 0;
	arg = take_memory(runner, size > call->size ? size : call->size);
	if (!arg || fd < 0)
		return false;
	put(runner, call->arg, NULL, arg);
	bound(runner->run, call, arg);
	if (call->size)
		request = _IOC(_IOC_DIR(request), _IOC_TYPE(request), _IOC_NR(request),
			       call->size & _IOC_SIZEMASK);
	if (call->fail)
		set_fail(runner, call->fail);
	ret = ioctl(fd, request, arg);
	if (call->fail)
		clear_fail(runner);
	/* With another size, results may not have come back. */
	if (ret == 0 && !call->size)
		keep_result(runner->run, index, arg);
	return ret == 0;
}

static bool call_open(struct runner *runner, unsigned int index)
{
	int fd = open(NODE, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return false;
	own_fd(runner->run, fd);
	atomic_store(&runner->run->results[index], fd);
	return true;
}

static bool call_close(struct runner *runner, const struct fuzz_call *call)
{
	int fd = field(runner, call, "fd");
	size_t size;

	return fd > 0 && disown(runner->run, NULL, fd, &size) && !close(fd);
}

static bool call_map(struct runner *runner, unsigned int index)
{
	const struct fuzz_call *call = runner->run->program->calls[index];
	uint64_t offset = field(runner, call, "offset");
	uint64_t size = field(runner, call, "size");
	int fd = device(runner->run, call);
	struct owned *owned;
	void *map;

	if (fd < 0 || size > LARGE_BUFFER)
		return false;
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
	if (map == MAP_FAILED)
		return false;
	owned = own(runner->run);
	if (!owned) {
		munmap(map, size);
		return false;
	}
	owned->map = map;
	owned->size = size;
	atomic_store(&owned->alive, true);
	atomic_store(&runner->run->results[index], (uintptr_t)map);
	return true;
}

static bool call_unmap(struct runner *runner, const struct fuzz_call *call)
{
	void *map = (void *)(uintptr_t)field(runner, call, "mapping");
	size_t size = 0;

	return map && disown(runner->run, map, -1, &size) && !munmap(map, size);
}

/* Return: where a write or an expectation is in its mapping, NULL if not in it. */
static uint8_t *place(struct runner *runner, const struct fuzz_call *call, size_t count)
{
	uint8_t *map = (uint8_t *)(uintptr_t)field(runner, call, "mapping");
	uint64_t offset = field(runner, call, "offset");
	size_t size = mapped_size(runner->run, map);

	return offset <= size && count <= size - offset ? map + offset : NULL;
}

static bool call_write(struct runner *runner, const struct fuzz_call *call)
{
	const struct fuzz_value *data = fuzz_call_field(call, "data");
	ssize_t count = data->byte_count;
	uint8_t *at = place(runner, call, count);

	return at && pwrite(runner->copy_fd, data->bytes, count, 0) == count &&
	       pread(runner->copy_fd, at, count, 0) == count;
}

static bool call_expect(struct runner *runner, const struct fuzz_call *call)
{
	const struct fuzz_value *data = fuzz_call_field(call, "data");
	ssize_t count = data->byte_count;
	uint8_t *at = place(runner, call, count);
	uint8_t *bytes = malloc(count + 1);
	bool right;

	right = bytes && at && pwrite(runner->copy_fd, at, count, 0) == count &&
		pread(runner->copy_fd, bytes, count, 0) == count &&
		!memcmp(bytes, data->bytes, count);
	free(bytes);
	runner->run->outcome.expected++;
	runner->run->outcome.right += right;
	return right;
}

static bool call_finish(struct runner *runner, const struct fuzz_call *call)
{
	struct run *run = runner->run;
	uint32_t handle = field(runner, call, "handle");
	struct drm_syncobj_wait wait = {
		.handles = (uintptr_t)&handle,
		.count_handles = 1,
		.timeout_nsec = now_ns() + run->patience_ms * UINT64_C(1000000),
	};
	struct drm_syncobj_handle export = {
		.handle = handle,
		.flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE,
	};
	struct sync_file_info info = { .num_fences = 0 };
	int fd = device(run, call);
	bool done;

	if (fd < 0 || atomic_load(&run->late) >= MAX_LATE)
		return false;
	if (ioctl(fd, DRM_IOCTL_SYNCOBJ_WAIT, &wait)) {
		if (errno == ETIME) {
			atomic_fetch_add(&run->late, 1);
			atomic_fetch_add(&fuzz_shared->fences_late, 1);
		}
		return false;
	}
	if (ioctl(fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &export))
		return false;
	done = !ioctl(export.fd, SYNC_IOC_FILE_INFO, &info) && info.status == 1;
	close(export.fd);
	atomic_fetch_add(done ? &fuzz_shared->fences_good : &fuzz_shared->fences_bad, 1);
	run->outcome.finished += done;
	return done;
}

static bool do_call(struct runner *runner, unsigned int index)
{
	const struct fuzz_call *call = runner->run->program->calls[index];

	switch (call->op->action) {
	case FUZZ_OPEN:
		return call_open(runner, index);
	case FUZZ_CLOSE:
	case FUZZ_CLOSE_FD:
		return call_close(runner, call);
	case FUZZ_MAP:
		return call_map(runner, index);
	case FUZZ_UNMAP:
		return call_unmap(runner, call);
	case FUZZ_WRITE:
		return call_write(runner, call);
	case FUZZ_FINISH:
		return call_finish(runner, call);
	case FUZZ_EXPECT:
		return call_expect(runner, call);
	case FUZZ_IOCTL:
		return call_ioctl(runner, index);
	}
	return false;
}

static void count_call(struct runner *runner, unsigned int index)
{
	const struct fuzz_op *op = runner->run->program->calls[index]->op;
	struct fuzz_op_stats *stats = &fuzz_shared->ops[op - fuzz_ops];

	atomic_fetch_add(&stats->calls, 1);
	if (do_call(runner, index))
		atomic_fetch_add(&stats->good, 1);
	else
		runner->run->outcome.refused++;
}

static void runner_init(struct runner *runner, struct run *run)
{
	const size_t size = 2 * SLOTS * (size_t)SLOT_BYTES;
	unsigned int i;

	runner->run = run;
	runner->memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			      -1, 0);
	if (runner->memory == MAP_FAILED)
		abort();
	for (i = 0; i < SLOTS; i++)
		mprotect(runner->memory + (2 * i + 1) * (size_t)SLOT_BYTES, SLOT_BYTES, PROT_NONE);
	runner->copy_fd = memfd_create("asahi-fuzz", MFD_CLOEXEC);
	runner->fail_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
}

static void runner_fini(struct runner *runner)
{
	munmap(runner->memory, 2 * SLOTS * (size_t)SLOT_BYTES);
	close(runner->copy_fd);
	if (runner->fail_fd >= 0)
		close(runner->fail_fd);
}

static void *race(void *data)
{
	struct run *run = data;
	struct runner runner = { .run = run };
	unsigned int i;

	runner_init(&runner, run);
	/* What checks and counts is for one alone. */
	while ((i = atomic_fetch_add(&run->next, 1)) < run->program->count)
		if (run->program->calls[i]->op->action != FUZZ_EXPECT &&
		    run->program->calls[i]->op->action != FUZZ_FINISH)
			count_call(&runner, i);
	runner_fini(&runner);
	return NULL;
}

/* All calls once more, with the results that there are, side by side */
static void run_races(struct run *run)
{
	pthread_t threads[FUZZ_MAX_THREADS];
	unsigned int count = 0;

	if (run->program->threads < 2)
		return;
	while (count < run->program->threads &&
	       !pthread_create(&threads[count], NULL, race, run))
		count++;
	while (count--)
		pthread_join(threads[count], NULL);
}

struct fuzz_outcome fuzz_run(const struct fuzz_program *program, unsigned int patience_ms)
{
	struct run *run = calloc(1, sizeof(*run));
	struct fuzz_outcome outcome;
	struct runner runner;
	unsigned int i;

	if (!run)
		abort();
	run->program = program;
	run->patience_ms = patience_ms;
	runner_init(&runner, run);
	for (i = 0; i < program->count; i++) {
		fuzz_cover_begin();
		count_call(&runner, i);
		run->outcome.edges += fuzz_cover_end();
	}
	run_races(run);
	close_all(run);
	runner_fini(&runner);
	outcome = run->outcome;
	free(run);
	return outcome;
}
