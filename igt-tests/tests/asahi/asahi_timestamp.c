// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "asahi/asahi_compute.h"
#include "igt.h"
#include "igt_syncobj.h"

/**
 * TEST: asahi timestamp
 * Description: Memory that is registered with the firmware, and the times that
 *	it writes there.
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management tests
 * Functionality: timestamps
 * Test category: functionality test
 *
 * SUBTEST: bind-%s
 * Description: GEM_BIND_OBJECT refuses %arg[1].
 * arg[1]:
 * @no-flags: to bind without a usage
 * @unknown-flags: other flags
 * @pad: padding
 * @vm: an address space
 * @unknown-operation: an operation that there is not
 * @no-handle: no buffer
 * @unknown-handle: a buffer that there is not
 * @empty: an empty range
 * @range-unaligned: a part of a page
 * @offset-unaligned: a range that begins in a page
 * @range-beyond: a range that ends behind the buffer
 * @offset-beyond: a range that begins behind the buffer
 * @overflow: a range whose end overflows
 *
 * SUBTEST: unbind-%s
 * Description: GEM_BIND_OBJECT does not unbind %arg[1].
 * arg[1]:
 * @flags: with flags
 * @handle: with a buffer
 * @range: a range
 * @unknown: what is not bound
 * @zero: nothing
 *
 * SUBTEST: bind-unbind
 * Description: Bound memory has a handle, until it is unbound.
 *
 * SUBTEST: other-file
 * Description: A handle means nothing in another file.
 *
 * SUBTEST: between-get-times
 * Description: Times of a command lie between those that GET_TIME tells before
 *	and after it, in their order.
 *
 * SUBTEST: start-or-end
 * Description: Either time can be had alone, anywhere in an object.
 *
 * SUBTEST: each-command
 * Description: Each command of a SUBMIT has times of its own.
 *
 * SUBTEST: submit-%s
 * Description: SUBMIT refuses a time %arg[1].
 * arg[1]:
 * @unknown: in what is not bound
 * @beyond: behind the end
 * @last-word: not if it is in the last word
 * @unaligned: in the middle of a word
 * @unbound: in what was unbound
 *
 * SUBTEST: unbind-in-flight
 * Description: A job writes its times although their memory was unbound and
 *	its buffer closed.
 *
 * SUBTEST: close-in-flight
 * Description: So it does when the file is closed, and then everything is freed.
 *
 * SUBTEST: limit
 * Description: A client cannot take so much of what there is that nothing is
 *	left for others, jobs in flight included; closing its file gives it back.
 *
 * SUBTEST: import
 * Description: Times can go to a buffer that was imported.
 *
 * SUBTEST: allocations-fail
 * Description: Binding undoes what it has done when there is no memory.
 */

#define PAGE	IGT_ASAHI_PAGE
#define WINDOW	(64ULL << 20)

static uint32_t timestamp___bind(int fd, uint32_t handle, uint64_t offset, uint64_t range, int err)
{
	struct drm_asahi_gem_bind_object args = {
		.op = DRM_ASAHI_BIND_OBJECT_OP_BIND,
		.flags = DRM_ASAHI_BIND_OBJECT_USAGE_TIMESTAMPS,
		.handle = handle,
		.offset = offset,
		.range = range,
	};

	if (err) {
		do_ioctl_err(fd, DRM_IOCTL_ASAHI_GEM_BIND_OBJECT, &args, err);
		return 0;
	}
	do_ioctl(fd, DRM_IOCTL_ASAHI_GEM_BIND_OBJECT, &args);
	igt_assert_neq(args.object_handle, 0);
	return args.object_handle;
}

static uint32_t timestamp_bind(int fd, uint32_t handle, uint64_t range)
{
	return timestamp___bind(fd, handle, 0, range, 0);
}

static void timestamp_unbind(int fd, uint32_t object, int err)
{
	struct drm_asahi_gem_bind_object args = {
		.op = DRM_ASAHI_BIND_OBJECT_OP_UNBIND,
		.object_handle = object,
	};

	if (err)
		do_ioctl_err(fd, DRM_IOCTL_ASAHI_GEM_BIND_OBJECT, &args, err);
	else
		do_ioctl(fd, DRM_IOCTL_ASAHI_GEM_BIND_OBJECT, &args);
}

static uint64_t timestamp_get_time(int fd)
{
	struct drm_asahi_get_time args = { .flags = 0 };

	igt_asahi_get_time(fd, &args, 0);
	return args.gpu_timestamp;
}

#define BIND	DRM_ASAHI_BIND_OBJECT_OP_BIND
#define UNBIND	DRM_ASAHI_BIND_OBJECT_OP_UNBIND
#define TIMES	DRM_ASAHI_BIND_OBJECT_USAGE_TIMESTAMPS

/* Names below for a buffer and an object that exist */
#define A_BUFFER	UINT32_MAX
#define AN_OBJECT	UINT32_MAX

static const struct {
	const char *name;
	struct drm_asahi_gem_bind_object args;
	int err;
} timestamp_bad[] = {
	{ "bind-no-flags", { .op = BIND, .handle = A_BUFFER, .range = PAGE }, EINVAL },
	{ "bind-unknown-flags",
	  { .op = BIND, .flags = TIMES | 2, .handle = A_BUFFER, .range = PAGE }, EINVAL },
	{ "bind-pad",
	  { .op = BIND, .flags = TIMES, .handle = A_BUFFER, .range = PAGE, .pad = 1 }, EINVAL },
	{ "bind-vm",
	  { .op = BIND, .flags = TIMES, .handle = A_BUFFER, .range = PAGE, .vm_id = 1 }, EINVAL },
	{ "bind-unknown-operation",
	  { .op = 2, .flags = TIMES, .handle = A_BUFFER, .range = PAGE }, EINVAL },
	{ "bind-no-handle", { .op = BIND, .flags = TIMES, .range = PAGE }, ENOENT },
	{ "bind-unknown-handle",
	  { .op = BIND, .flags = TIMES, .handle = 0x7fffffff, .range = PAGE }, ENOENT },
	{ "bind-empty", { .op = BIND, .flags = TIMES, .handle = A_BUFFER }, EINVAL },
	{ "bind-range-unaligned",
	  { .op = BIND, .flags = TIMES, .handle = A_BUFFER, .range = PAGE - 8 }, EINVAL },
	{ "bind-offset-unaligned",
	  { .op = BIND, .flags = TIMES, .handle = A_BUFFER, .offset = 8, .range = PAGE }, EINVAL },
	{ "bind-range-beyond",
	  { .op = BIND, .flags = TIMES, .handle = A_BUFFER, .range = 3 * PAGE }, EINVAL },
	{ "bind-offset-beyond",
	  { .op = BIND, .flags = TIMES, .handle = A_BUFFER, .offset = 2 * PAGE, .range = PAGE },
	  EINVAL },
	{ "bind-overflow",
	  { .op = BIND, .flags = TIMES, .handle = A_BUFFER, .offset = -PAGE, .range = 2 * PAGE },
	  EINVAL },
	{ "unbind-flags", { .op = UNBIND, .flags = TIMES, .object_handle = AN_OBJECT }, EINVAL },
	{ "unbind-handle", { .op = UNBIND, .handle = A_BUFFER, .object_handle = AN_OBJECT }, EINVAL },
	{ "unbind-range", { .op = UNBIND, .range = PAGE, .object_handle = AN_OBJECT }, EINVAL },
	{ "unbind-unknown", { .op = UNBIND, .object_handle = 0x7fffffff }, ENOENT },
	{ "unbind-zero", { .op = UNBIND }, ENOENT },
};

static void timestamp_test_bad(int fd, const struct drm_asahi_gem_bind_object *wrong, int err)
{
	struct drm_asahi_gem_bind_object args = *wrong;
	uint32_t handle = igt_asahi_gem_create(fd, 2 * PAGE, 0, 0, 0);
	uint32_t object = timestamp_bind(fd, handle, PAGE);

	if (args.handle == A_BUFFER)
		args.handle = handle;
	if (args.object_handle == AN_OBJECT)
		args.object_handle = object;
	do_ioctl_err(fd, DRM_IOCTL_ASAHI_GEM_BIND_OBJECT, &args, err);
	timestamp_unbind(fd, object, 0);
	gem_close(fd, handle);
}

static void timestamp_test_bind_unbind(int fd)
{
	uint32_t handle = igt_asahi_gem_create(fd, 4 * PAGE, 0, 0, 0);
	uint32_t whole, part, same;

	whole = timestamp_bind(fd, handle, 4 * PAGE);
	part = timestamp___bind(fd, handle, 3 * PAGE, PAGE, 0);
	same = timestamp___bind(fd, handle, 3 * PAGE, PAGE, 0);
	igt_assert_neq(whole, part);
	igt_assert_neq(part, same);
	timestamp_unbind(fd, part, 0);
	timestamp_unbind(fd, part, ENOENT);
	gem_close(fd, handle);
	timestamp_unbind(fd, whole, 0);
	timestamp_unbind(fd, same, 0);
}

static void timestamp_test_other_file(int fd)
{
	int other = drm_reopen_driver(fd);
	uint32_t handle = igt_asahi_gem_create(fd, PAGE, 0, 0, 0);
	uint32_t object = timestamp_bind(fd, handle, PAGE);

	timestamp_unbind(other, object, ENOENT);
	timestamp___bind(other, handle, 0, PAGE, ENOENT);
	timestamp_unbind(fd, object, 0);
	gem_close(fd, handle);
	drm_close_driver(other);
}

/* Mappings of tests: they keep files open, so they go before those are closed. */
static struct {
	void *map;
	size_t size;
} timestamp_maps[8];

static void *timestamp_map_bo(int fd, uint32_t handle, size_t size)
{
	unsigned int i;

	for (i = 0; timestamp_maps[i].map; i++)
		igt_assert_lt(i, ARRAY_SIZE(timestamp_maps) - 1);
	timestamp_maps[i].size = size;
	timestamp_maps[i].map = igt_asahi_gem_mmap(fd, handle, size);
	return timestamp_maps[i].map;
}

static void timestamp_unmap_all(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(timestamp_maps); i++) {
		if (timestamp_maps[i].map)
			munmap(timestamp_maps[i].map, timestamp_maps[i].size);
		timestamp_maps[i].map = NULL;
	}
}

/* The same memory through another file. */
static void *timestamp_map_by(int fd, int owner, uint32_t handle, size_t size)
{
	int dma_buf = prime_handle_to_fd(owner, handle);
	uint32_t imported = prime_fd_to_handle(fd, dma_buf);
	void *map = timestamp_map_bo(fd, imported, size);

	close(dma_buf);
	gem_close(fd, imported);
	return map;
}

/**
 * struct times - memory for times
 * @handle: its buffer
 * @object: what it is registered as
 * @word: its words
 */
struct times {
	uint32_t handle;
	uint32_t object;
	volatile uint64_t *word;
};

static struct times timestamp_times_create(struct asahi_client *client, uint64_t size)
{
	struct times t;

	t.handle = igt_asahi_gem_create(client->fd, size, DRM_ASAHI_GEM_WRITEBACK, 0, 0);
	t.object = timestamp_bind(client->fd, t.handle, size);
	t.word = timestamp_map_bo(client->fd, t.handle, size);
	return t;
}

static void timestamp_stamp(struct asahi_command *command, const struct times *t, int start,
			    int end)
{
	if (start >= 0)
		command->compute.ts.start = (struct drm_asahi_timestamp){ t->object, start * 8 };
	if (end >= 0)
		command->compute.ts.end = (struct drm_asahi_timestamp){ t->object, end * 8 };
}

static void timestamp_test_between(struct asahi_client *client)
{
	struct asahi_command command = igt_asahi_store_word(client, ASAHI_RESULT, 1);
	struct times t = timestamp_times_create(client, PAGE);
	uint64_t before, after;
	unsigned int i;

	timestamp_stamp(&command, &t, 0, 1);
	for (i = 0; i < 20; i++) {
		t.word[0] = t.word[1] = 0;
		before = timestamp_get_time(client->fd);
		igt_assert_eq(igt_asahi_run(client, &command), 0);
		after = timestamp_get_time(client->fd);
		igt_info("%llu before the start, %llu, %llu after the end\n",
			 (unsigned long long)(t.word[0] - before),
			 (unsigned long long)(t.word[1] - t.word[0]),
			 (unsigned long long)(after - t.word[1]));
		igt_assert_lte_u64(before, t.word[0]);
		igt_assert_lte_u64(t.word[0], t.word[1]);
		igt_assert_lte_u64(t.word[1], after);
	}
}

static void timestamp_test_start_or_end(struct asahi_client *client)
{
	struct asahi_command command = igt_asahi_store_word(client, ASAHI_RESULT, 1);
	struct times t = timestamp_times_create(client, 3 * PAGE);
	struct asahi_command start = command, end = command;
	const int last = 3 * PAGE / 8 - 1;

	timestamp_stamp(&start, &t, PAGE / 8, -1);
	igt_assert_eq(igt_asahi_run(client, &start), 0);
	igt_assert_neq_u64(t.word[PAGE / 8], 0);
	timestamp_stamp(&end, &t, -1, last);
	igt_assert_eq(igt_asahi_run(client, &end), 0);
	igt_assert_lte_u64(t.word[PAGE / 8], t.word[last]);
	igt_assert_eq_u64(t.word[0], 0);
	igt_assert_eq_u64(t.word[PAGE / 8 + 1], 0);
	igt_assert_eq_u64(t.word[last - 1], 0);
}

static void timestamp_test_each_command(struct asahi_client *client)
{
	const uint32_t sync = syncobj_create(client->fd, 0);
	struct times t = timestamp_times_create(client, PAGE);
	struct asahi_command commands[8];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		commands[i] = igt_asahi_after(igt_asahi_store_word(client, ASAHI_RESULT, i), i);
		timestamp_stamp(&commands[i], &t, 2 * i, 2 * i + 1);
	}
	igt_asahi_submit(client->fd, client->queue, commands, ARRAY_SIZE(commands),
			 &(struct asahi_sync){ .out = sync });
	igt_assert_eq(igt_asahi_wait(client->fd, sync), 0);
	igt_assert_neq_u64(t.word[0], 0);
	/* Each waits for the one before it. */
	for (i = 1; i < 2 * ARRAY_SIZE(commands); i++)
		igt_assert_lte_u64(t.word[i - 1], t.word[i]);
}

static int timestamp_submit_stamp(struct asahi_client *client, uint32_t object, uint32_t offset)
{
	struct asahi_command command = igt_asahi_store_word(client, ASAHI_RESULT, 1);
	int ret[2];

	command.compute.ts.start = (struct drm_asahi_timestamp){ object, offset };
	ret[0] = __igt_asahi_submit_syncs(client->fd, client->queue, &command, 1, NULL, 0, 0);
	command.compute.ts.end = command.compute.ts.start;
	command.compute.ts.start = (struct drm_asahi_timestamp){ 0, 0 };
	ret[1] = __igt_asahi_submit_syncs(client->fd, client->queue, &command, 1, NULL, 0, 0);
	igt_assert_eq(ret[0], ret[1]);
	return ret[0];
}

static const struct {
	const char *name;
	uint32_t offset;
	bool unknown;
	bool unbound;
	int ret;
} timestamp_submits[] = {
	{ "unknown", 0, .unknown = true, .ret = -ENOENT },
	{ "beyond", 2 * PAGE, .ret = -ERANGE },
	{ "last-word", 2 * PAGE - 8, .ret = 0 },
	{ "unaligned", 4, .ret = -EINVAL },
	{ "unbound", 0, .unbound = true, .ret = -ENOENT },
};

static void timestamp_test_submit(struct asahi_client *client, unsigned int i)
{
	struct times t = timestamp_times_create(client, 2 * PAGE);
	const uint32_t object = timestamp_submits[i].unknown ? t.object + 1 : t.object;

	if (timestamp_submits[i].unbound)
		timestamp_unbind(client->fd, t.object, 0);
	igt_assert_eq(timestamp_submit_stamp(client, object, timestamp_submits[i].offset),
		      timestamp_submits[i].ret);
	/* The next one is not the worse for it. */
	igt_assert_eq(timestamp_submit_stamp(client, 0, 0), 0);
}

static void timestamp_test_unbind_in_flight(struct asahi_client *client)
{
	struct asahi_command gate = igt_asahi_gate(client, ASAHI_RESULT, 1);
	const uint32_t sync = syncobj_create(client->fd, 0);
	struct times t = timestamp_times_create(client, PAGE), other;

	timestamp_stamp(&gate, &t, 0, 1);
	igt_asahi_submit_one(client, &gate, sync);
	timestamp_unbind(client->fd, t.object, 0);
	gem_close(client->fd, t.handle);
	/* Its addresses are not those of another. */
	other = timestamp_times_create(client, PAGE);
	client->words[ASAHI_GATE] = 1;
	igt_assert_eq(igt_asahi_wait(client->fd, sync), 0);
	igt_assert_neq_u64(t.word[0], 0);
	igt_assert_lte_u64(t.word[0], t.word[1]);
	igt_assert_eq_u64(other.word[0] | other.word[1], 0);
}

static void timestamp_wait_for_start(const struct times *t)
{
	unsigned int i;

	for (i = 0; i < 5000 && !t->word[0]; i++)
		usleep(1000);
	igt_assert_neq_u64(t->word[0], 0);
}

static void timestamp_test_close_in_flight(int fd)
{
	int objects = igt_asahi_objects("timestamp-objects");
	struct asahi_client *client = igt_asahi_client_open(fd);
	struct asahi_command gate = igt_asahi_gate_at(client, ASAHI_FREE_START,
						      ASAHI_FREE_START + 4, 1);
	uint32_t words = igt_asahi_gem_create(client->fd, PAGE, DRM_ASAHI_GEM_WRITEBACK, 0, 0);
	volatile uint32_t *word = timestamp_map_by(fd, client->fd, words, PAGE);
	struct times t;

	igt_asahi_vm_bind_one(client->fd, client->vm, DRM_ASAHI_BIND_READ | DRM_ASAHI_BIND_WRITE,
			      words, 0, PAGE, ASAHI_FREE_START, 0);
	t.handle = igt_asahi_gem_create(client->fd, PAGE, DRM_ASAHI_GEM_WRITEBACK, 0, 0);
	t.object = timestamp_bind(client->fd, t.handle, PAGE);
	t.word = timestamp_map_by(fd, client->fd, t.handle, PAGE);
	timestamp_stamp(&gate, &t, 0, 1);
	igt_asahi_submit_one(client, &gate, 0);
	igt_assert_eq(igt_asahi_objects("timestamp-objects"), objects + 1);
	/* A job that has not begun goes with its file. */
	timestamp_wait_for_start(&t);
	igt_asahi_client_close(client);
	igt_assert_eq(igt_asahi_objects("timestamp-objects"), objects + 1);
	word[0] = 1;
	igt_asahi_wait_objects("timestamp-objects", objects);
	igt_assert_lte_u64(t.word[0], t.word[1]);
	igt_assert_neq_u64(t.word[0], 0);
}

/* As much as it gets, in pieces that become smaller. */
static uint64_t timestamp_take_all(int fd, uint64_t size)
{
	struct drm_asahi_gem_bind_object args = { .op = BIND, .flags = TIMES };
	uint64_t taken = 0;

	args.handle = igt_asahi_gem_create(fd, size, 0, 0, 0);
	for (args.range = size; args.range >= PAGE;) {
		if (!ioctl(fd, DRM_IOCTL_ASAHI_GEM_BIND_OBJECT, &args)) {
			taken += args.range;
			continue;
		}
		igt_assert_eq(errno, ENOSPC);
		args.range /= 2;
	}
	return taken;
}

static void timestamp_test_limit(int fd)
{
	int objects = igt_asahi_objects("timestamp-objects");
	int greedy[4];
	uint64_t left = WINDOW, taken;
	unsigned int i;

	/* Each gets half of what is left, so that there is always something. */
	for (i = 0; i < ARRAY_SIZE(greedy); i++) {
		greedy[i] = drm_reopen_driver(fd);
		taken = timestamp_take_all(greedy[i], 1 << 20);
		igt_assert_eq_u64(taken, left / 2);
		left -= taken;
	}
	timestamp_unbind(
		fd, timestamp_bind(fd, igt_asahi_gem_create(fd, 1 << 20, 0, 0, 0), 1 << 20), 0);
	/* Memory that is given back is there for others. */
	drm_close_driver(greedy[0]);
	igt_assert_lte_u64(WINDOW / 4, timestamp_take_all(greedy[3], 1 << 20));
	for (i = 1; i < ARRAY_SIZE(greedy); i++)
		drm_close_driver(greedy[i]);
	igt_asahi_wait_objects("timestamp-objects", objects);
}

static void timestamp_test_import(struct asahi_client *client)
{
	struct asahi_command command = igt_asahi_store_word(client, ASAHI_RESULT, 1);
	int other = drm_reopen_driver(client->fd);
	uint32_t handle = igt_asahi_gem_create(other, 2 * PAGE, DRM_ASAHI_GEM_WRITEBACK, 0, 0);
	int dma_buf = prime_handle_to_fd(other, handle);
	volatile uint64_t *word = timestamp_map_bo(other, handle, 2 * PAGE);
	struct times t;

	t.handle = prime_fd_to_handle(client->fd, dma_buf);
	t.object = timestamp___bind(client->fd, t.handle, PAGE, PAGE, 0);
	close(dma_buf);
	timestamp_stamp(&command, &t, 0, 1);
	igt_assert_eq(igt_asahi_run(client, &command), 0);
	igt_assert_neq_u64(word[PAGE / 8], 0);
	igt_assert_lte_u64(word[PAGE / 8], word[PAGE / 8 + 1]);
	igt_assert_eq_u64(word[0] | word[1], 0);
	drm_close_driver(other);
}

static void timestamp_undo_bind(int fd, const void *arg)
{
	const struct drm_asahi_gem_bind_object *args = arg;

	timestamp_unbind(fd, args->object_handle, 0);
}

static void timestamp_test_allocations_fail(int fd)
{
	struct drm_asahi_gem_bind_object args = { .op = BIND, .flags = TIMES, .range = 4 * PAGE };

	args.handle = igt_asahi_gem_create(fd, 4 * PAGE, 0, 0, 0);
	igt_asahi_fail_allocations(fd, DRM_IOCTL_ASAHI_GEM_BIND_OBJECT, &args, timestamp_undo_bind);
	gem_close(fd, args.handle);
}

static const struct {
	const char *name;
	const char *text;
	void (*run)(struct asahi_client *client);
} timestamp_tests[] = {
	{ "between-get-times", "Times are those of GET_TIME's clock.", timestamp_test_between },
	{ "start-or-end", "One of the two times.", timestamp_test_start_or_end },
	{ "each-command", "Times of each command of a SUBMIT.", timestamp_test_each_command },
	{ "unbind-in-flight", "Unbind what a job writes to.", timestamp_test_unbind_in_flight },
	{ "import", "Times in an imported buffer.", timestamp_test_import },
};

int igt_main()
{
	unsigned int i;
	int fd;

	igt_fixture() {
		fd = drm_open_driver_render(DRIVER_ASAHI);
		igt_asahi_settle();
	}

	igt_describe("Arguments that have to be refused.");
	for (i = 0; i < ARRAY_SIZE(timestamp_bad); i++) {
		igt_subtest(timestamp_bad[i].name) {
			timestamp_test_bad(fd, &timestamp_bad[i].args, timestamp_bad[i].err);
		}
	}

	igt_describe("Objects and their handles.");
	igt_subtest("bind-unbind") {
		timestamp_test_bind_unbind(fd);
	}
	igt_subtest("other-file") {
		timestamp_test_other_file(fd);
	}

	for (i = 0; i < ARRAY_SIZE(timestamp_tests); i++) {
		igt_describe(timestamp_tests[i].text);
		igt_subtest(timestamp_tests[i].name) {
			timestamp_tests[i].run(igt_asahi_client_open(fd));
		}
		igt_fixture() {
			timestamp_unmap_all();
			igt_asahi_clients_close();
		}
	}

	igt_describe("Where a command may want its times.");
	for (i = 0; i < ARRAY_SIZE(timestamp_submits); i++) {
		igt_subtest_f("submit-%s", timestamp_submits[i].name) {
			timestamp_test_submit(igt_asahi_client_open(fd), i);
		}
		igt_fixture() {
			timestamp_unmap_all();
			igt_asahi_clients_close();
		}
	}

	igt_describe("What is freed when.");
	igt_subtest("close-in-flight") {
		timestamp_test_close_in_flight(fd);
	}
	igt_fixture() {
		timestamp_unmap_all();
		igt_asahi_clients_close();
	}
	igt_subtest("limit") {
		timestamp_test_limit(fd);
	}
	igt_subtest("allocations-fail") {
		timestamp_test_allocations_fail(fd);
	}

	igt_fixture() {
		drm_close_driver(fd);
	}
}
