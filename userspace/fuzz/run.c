// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Runs programs.
 *
 * The calls of a program are made one after the other by one thread, with its coverage. If
 * the program has threads, all calls are made once more by them: each thread takes the next
 * call that none has taken, so that neighbours run at the same time, with the results that
 * there are. Arguments are put together in memory of the thread, each at the end of a slot
 * that is followed by memory which cannot be accessed, so that the driver gets an error if
 * it reads too much. Mappings are read and written by system calls: a mapping that another
 * thread has removed, or that faults, is an error then, and no signal.
 *
 * Descriptors and mappings of the program are in a table, and are closed at the end: one
 * program leaves nothing to the next. Results and the table are atomic, and have no lock.
 * Numbers that would cost minutes or the machine's memory are bounded before a call.
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

/* Memory for an argument and for the structures that it points to, each followed by a gap */
#define SLOTS		4
#define SLOT_BYTES	(64 << 10)

/* Bytes of buffers: MAX_LARGE of them may be large, the others have fewer */
#define LARGE_BUFFER	0x2000000
#define BUFFER_MASK	0x3fffff
#define MAX_LARGE	4

#define MAX_OWNED	1024
/* Waits of a program that may time out; later ones are not made */
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
	/* file through which mappings are read and written without signals */
	int copy_fd;
	/* /proc/thread-self/fail-nth, or -1 */
	int fail_fd;
};

/* Return: the result of the call with a label, 0 as long as there is none. */
static uint64_t run_result(const struct run *run, uint32_t label)
{
	unsigned int i;

	for (i = 0; i < run->program->count; i++)
		if (run->program->calls[i]->label == label)
			return atomic_load(&run->results[i]);
	return 0;
}

/* Owning */

static struct owned *run_own(struct run *run)
{
	unsigned int i = atomic_fetch_add(&run->owned_count, 1);

	return i < MAX_OWNED ? &run->owned[i] : NULL;
}

static void run_own_fd(struct run *run, int fd)
{
	struct owned *owned = run_own(run);

	if (!owned) {
		close(fd);
		return;
	}
	owned->fd = fd;
	atomic_store(&owned->alive, true);
}

/*
 * Takes a mapping, or else a descriptor, out of the table, for one caller only: its number may
 * be in use again afterwards. Return: whether the caller may close it.
 */
static bool run_disown(struct run *run, const void *map, int fd, size_t *size)
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

static size_t run_mapped_size(const struct run *run, const void *map)
{
	unsigned int i;

	for (i = 0; i < MAX_OWNED && i < atomic_load(&run->owned_count); i++)
		if (map && run->owned[i].map == map && atomic_load(&run->owned[i].alive))
			return run->owned[i].size;
	return 0;
}

static void run_close_all(struct run *run)
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

/* Return: zeroed memory at the end of the next slot, or NULL. */
static uint8_t *run_take_memory(struct runner *runner, size_t size)
{
	uint8_t *slot = runner->memory + 2 * (size_t)SLOT_BYTES * runner->slots;

	if (runner->slots == SLOTS || size > SLOT_BYTES)
		return NULL;
	runner->slots++;
	memset(slot + SLOT_BYTES - size, 0, size);
	return slot + SLOT_BYTES - size;
}

static uint64_t run_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * UINT64_C(1000000000) + now.tv_nsec;
}

/* Writes a value, and what it points to, into memory. Return: the address behind it. */
static uint8_t *run_put(struct runner *runner, const struct fuzz_value *value,
			const struct fuzz_value *parent, uint8_t *at);

static uint64_t run_put_pointee(struct runner *runner, const struct fuzz_value *value)
{
	uint8_t *memory;

	if (!value->count)
		return value->number;
	memory = run_take_memory(runner, fuzz_value_size(value->children[0]));
	if (memory)
		run_put(runner, value->children[0], value, memory);
	return (uintptr_t)memory;
}

static uint64_t run_number(struct runner *runner, const struct fuzz_value *value,
			   const struct fuzz_value *parent)
{
	switch (value->type->kind) {
	case FUZZ_RESOURCE:
		return value->label ? run_result(runner->run, value->label) : value->number;
	case FUZZ_LENGTH:
		if (value->literal)
			return value->number;
		return fuzz_value_length(parent, value->type) + value->off_by;
	case FUZZ_DEADLINE:
		/* At most 50 ms from now; other deadlines have passed long ago. */
		return value->number > 50000000 ? value->number % 3 : run_now_ns() + value->number;
	case FUZZ_POINTER:
		return run_put_pointee(runner, value);
	default:
		return value->number;
	}
}

static uint8_t *run_put(struct runner *runner, const struct fuzz_value *value,
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
			at = run_put(runner, value->children[i], value, at);
		return at;
	default:
		n = run_number(runner, value, parent);
		memcpy(at, &n, value->type->size);
		return at + value->type->size;
	}
}

static uint64_t run_field(struct runner *runner, const struct fuzz_call *call, const char *name)
{
	const struct fuzz_value *value = fuzz_call_field(call, name);

	return value ? run_number(runner, value, call->arg) : 0;
}

static int run_device(const struct run *run, const struct fuzz_call *call)
{
	uint64_t fd = run_result(run, call->fd);

	return fd ? (int)fd : -1;
}

/* Calls */

/* Lets one program of 128 wait for a point in a transfer, which takes five seconds. */
static void run_bound_transfer(const struct run *run, const struct fuzz_call *call, uint8_t *arg)
{
	struct drm_syncobj_transfer transfer;

	if (call->op->request != DRM_IOCTL_SYNCOBJ_TRANSFER || run->program->number % 128 == 100)
		return;
	memcpy(&transfer, arg, sizeof(transfer));
	transfer.flags &= ~DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT;
	memcpy(arg, &transfer, sizeof(transfer));
}

/*
 * Bounds numbers of sync objects: the DRM core allocates memory for any number, and the
 * allocator warns of large ones.
 */
static void run_bound_syncobjs(const struct fuzz_call *call, uint8_t *arg)
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

/* Bounds numbers of an argument that would cost minutes or too much memory. */
static void run_bound(struct run *run, const struct fuzz_call *call, uint8_t *arg)
{
	struct drm_asahi_gem_create create;

	run_bound_syncobjs(call, arg);
	run_bound_transfer(run, call, arg);
	if (call->op->request != DRM_IOCTL_ASAHI_GEM_CREATE)
		return;
	memcpy(&create, arg, sizeof(create));
	if (create.size == LARGE_BUFFER && atomic_fetch_add(&run->large, 1) < MAX_LARGE)
		return;
	/* Sizes beyond any machine's memory are refused before memory is allocated, and stay. */
	if (create.size > BUFFER_MASK && create.size < UINT64_C(1) << 42)
		create.size = (create.size & BUFFER_MASK) | 0x4000;
	memcpy(arg, &create, sizeof(create));
}

static void run_set_fail(const struct runner *runner, unsigned int nth)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%u", nth);

	if (runner->fail_fd >= 0 && pwrite(runner->fail_fd, text, n, 0) != n)
		fputs("asahi-fuzz: fail-nth cannot be written\n", stderr);
}

static void run_clear_fail(const struct runner *runner)
{
	char text[16] = "";

	if (runner->fail_fd < 0)
		return;
	/* The file counts down, and reads 0 once a failure was injected. */
	if (pread(runner->fail_fd, text, sizeof(text) - 1, 0) > 0 && atoi(text) == 0)
		atomic_fetch_add(&fuzz_shared->failures_injected, 1);
	run_set_fail(runner, 0);
}

static void run_keep_result(struct run *run, unsigned int index, const uint8_t *arg)
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
		run_own_fd(run, value);
}

static bool run_call_ioctl(struct runner *runner, unsigned int index)
{
	const struct fuzz_call *call = runner->run->program->calls[index];
	unsigned long request = call->op->request;
	size_t size = fuzz_value_size(call->arg);
	int fd = run_device(runner->run, call);
	uint8_t *arg;
	int ret;

	runner->slots = 0;
	arg = run_take_memory(runner, size > call->size ? size : call->size);
	if (!arg || fd < 0)
		return false;
	run_put(runner, call->arg, NULL, arg);
	run_bound(runner->run, call, arg);
	if (call->size)
		request = _IOC(_IOC_DIR(request), _IOC_TYPE(request), _IOC_NR(request),
			       call->size & _IOC_SIZEMASK);
	if (call->fail)
		run_set_fail(runner, call->fail);
	ret = ioctl(fd, request, arg);
	if (call->fail)
		run_clear_fail(runner);
	/* A request with another size may not have copied its result back. */
	if (ret == 0 && !call->size)
		run_keep_result(runner->run, index, arg);
	return ret == 0;
}

static bool run_call_open(struct runner *runner, unsigned int index)
{
	int fd = open(NODE, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return false;
	run_own_fd(runner->run, fd);
	atomic_store(&runner->run->results[index], fd);
	return true;
}

static bool run_call_close(struct runner *runner, const struct fuzz_call *call)
{
	int fd = run_field(runner, call, "fd");
	size_t size;

	return fd > 0 && run_disown(runner->run, NULL, fd, &size) && !close(fd);
}

static bool run_call_map(struct runner *runner, unsigned int index)
{
	const struct fuzz_call *call = runner->run->program->calls[index];
	uint64_t offset = run_field(runner, call, "offset");
	uint64_t size = run_field(runner, call, "size");
	int fd = run_device(runner->run, call);
	struct owned *owned;
	void *map;

	if (fd < 0 || size > LARGE_BUFFER)
		return false;
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
	if (map == MAP_FAILED)
		return false;
	owned = run_own(runner->run);
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

static bool run_call_unmap(struct runner *runner, const struct fuzz_call *call)
{
	void *map = (void *)(uintptr_t)run_field(runner, call, "mapping");
	size_t size = 0;

	return map && run_disown(runner->run, map, -1, &size) && !munmap(map, size);
}

/* Return: the address of a write or an expectation, or NULL if its mapping is too small. */
static uint8_t *run_place(struct runner *runner, const struct fuzz_call *call, size_t count)
{
	uint8_t *map = (uint8_t *)(uintptr_t)run_field(runner, call, "mapping");
	uint64_t offset = run_field(runner, call, "offset");
	size_t size = run_mapped_size(runner->run, map);

	return offset <= size && count <= size - offset ? map + offset : NULL;
}

static bool run_call_write(struct runner *runner, const struct fuzz_call *call)
{
	const struct fuzz_value *data = fuzz_call_field(call, "data");
	ssize_t count = data->byte_count;
	uint8_t *at = run_place(runner, call, count);

	return at && pwrite(runner->copy_fd, data->bytes, count, 0) == count &&
	       pread(runner->copy_fd, at, count, 0) == count;
}

static bool run_call_expect(struct runner *runner, const struct fuzz_call *call)
{
	const struct fuzz_value *data = fuzz_call_field(call, "data");
	ssize_t count = data->byte_count;
	uint8_t *at = run_place(runner, call, count);
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

/* Waits for a sync object for patience_ms, and counts how its work has ended. */
static bool run_call_finish(struct runner *runner, const struct fuzz_call *call)
{
	struct run *run = runner->run;
	uint32_t handle = run_field(runner, call, "handle");
	struct drm_syncobj_wait wait = {
		.handles = (uintptr_t)&handle,
		.count_handles = 1,
		.timeout_nsec = run_now_ns() + run->patience_ms * UINT64_C(1000000),
	};
	struct drm_syncobj_handle export = {
		.handle = handle,
		.flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE,
	};
	struct sync_file_info info = { .num_fences = 0 };
	int fd = run_device(run, call);
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

static bool run_do_call(struct runner *runner, unsigned int index)
{
	const struct fuzz_call *call = runner->run->program->calls[index];

	switch (call->op->action) {
	case FUZZ_OPEN:
		return run_call_open(runner, index);
	case FUZZ_CLOSE:
	case FUZZ_CLOSE_FD:
		return run_call_close(runner, call);
	case FUZZ_MAP:
		return run_call_map(runner, index);
	case FUZZ_UNMAP:
		return run_call_unmap(runner, call);
	case FUZZ_WRITE:
		return run_call_write(runner, call);
	case FUZZ_FINISH:
		return run_call_finish(runner, call);
	case FUZZ_EXPECT:
		return run_call_expect(runner, call);
	case FUZZ_IOCTL:
		return run_call_ioctl(runner, index);
	}
	return false;
}

static void run_count_call(struct runner *runner, unsigned int index)
{
	const struct fuzz_op *op = runner->run->program->calls[index]->op;
	struct fuzz_op_stats *stats = &fuzz_shared->ops[op - fuzz_ops];

	atomic_fetch_add(&stats->calls, 1);
	if (run_do_call(runner, index))
		atomic_fetch_add(&stats->good, 1);
	else
		runner->run->outcome.refused++;
}

static void run_runner_init(struct runner *runner, struct run *run)
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

static void run_runner_fini(struct runner *runner)
{
	munmap(runner->memory, 2 * SLOTS * (size_t)SLOT_BYTES);
	close(runner->copy_fd);
	if (runner->fail_fd >= 0)
		close(runner->fail_fd);
}

static void *run_race(void *data)
{
	struct run *run = data;
	struct runner runner = { .run = run };
	unsigned int i;

	run_runner_init(&runner, run);
	/* Checks and waits are made once, by the program's own thread. */
	while ((i = atomic_fetch_add(&run->next, 1)) < run->program->count)
		if (run->program->calls[i]->op->action != FUZZ_EXPECT &&
		    run->program->calls[i]->op->action != FUZZ_FINISH)
			run_count_call(&runner, i);
	run_runner_fini(&runner);
	return NULL;
}

/* Makes all calls once more, in several threads, with the results that there are. */
static void run_races(struct run *run)
{
	pthread_t threads[FUZZ_MAX_THREADS];
	unsigned int count = 0;

	if (run->program->threads < 2)
		return;
	while (count < run->program->threads &&
	       !pthread_create(&threads[count], NULL, run_race, run))
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
	run_runner_init(&runner, run);
	for (i = 0; i < program->count; i++) {
		fuzz_cover_begin();
		run_count_call(&runner, i);
		run->outcome.edges += fuzz_cover_end();
	}
	run_races(run);
	run_close_all(run);
	run_runner_fini(&runner);
	outcome = run->outcome;
	free(run);
	return outcome;
}
