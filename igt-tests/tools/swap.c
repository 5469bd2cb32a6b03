// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * swap: two clients that have more memory together than the machine, and work in turns. What
 * the one needs is taken from the other one, which gets it back when it is its turn, and
 * nobody is killed. For a machine with swap and a GiB or so. It is no test of IGT's, since
 * nothing happens where there is no swap, and a larger machine takes long.
 *
 * All other subtests want the folder of a cgroup in SWAP_CGROUP in the environment. There is one
 * client in it that has swapped out more than it may have: its work gets ENOMEM until it may; and
 * allocations fail while it gets that back. For the rest the cgroup has a limit, and a child is
 * in it; the parent, which must not notice, is outside.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "asahi/asahi_compute.h"
#include "igt.h"
#include "igt_syncobj.h"

#define MB		(1ULL << 20)
#define BO_BYTES	(8 * MB)
#define MOST_CLIENTS	4
#define ROUNDS		3
/* Each client has so much of the machine's memory. */
#define PERCENT		60
#define MOST_BOS	128
/* Buffers of a client that gets two of them back, and no third one. */
#define LIMITED_BOS	8
#define LIMITED_ROOM	(5 * BO_BYTES / 2)
/* Each client in a cgroup has this part of the cgroup's limit. */
#define CGROUP_PERCENT	50
/* Buffers of the client outside */
#define OUTSIDE_BOS	8
/* The kernel has 60 KiB for a queue at least. */
#define QUEUES		400
#define QUEUE_BYTES	(60 << 10)
#define PAGE_WORDS	(IGT_ASAHI_PAGE / sizeof(uint32_t))

/**
 * struct swapper - one of the clients
 * @client: the client
 * @bos: buffers
 * @bo: the buffers
 * @copy: copies a word of each to the client's words
 */
struct swapper {
	struct asahi_client *client;
	unsigned int bos;
	struct asahi_bo bo[MOST_BOS];
	struct asahi_command copy[MOST_BOS];
};

static uint64_t swap_meminfo(const char *key)
{
	FILE *fp = fopen("/proc/meminfo", "r");
	unsigned long long kib = 0;
	char name[64];

	igt_assert(fp);
	while (fscanf(fp, "%63s %llu%*[^\n]", name, &kib) == 2)
		if (!strcmp(name, key))
			break;
	fclose(fp);
	return kib * 1024;
}

static uint32_t swap_pattern(unsigned int client, unsigned int bo, uint64_t page)
{
	return (client + 1) * 0x10000000 + bo * 0x10000 + page + 1;
}

/* Copies the first word of a buffer's last page to a word of the client's. */
static struct asahi_command swap_copy(struct asahi_client *client, const struct asahi_bo *bo,
				      unsigned int index)
{
	const uint64_t uniforms[] = {
		bo->addr + bo->size - IGT_ASAHI_PAGE,
		igt_asahi_word_addr(client, ASAHI_RESULT + index),
	};
	const struct asahi_dispatch dispatch = {
		.shader = IGT_ASAHI_SHADER_PEEK,
		.uniforms = uniforms,
		.uniform_bytes = sizeof(uniforms),
		.global = { 1, 1, 1 },
		.local = { 32, 1, 1 },
	};

	return igt_asahi_command(client, &dispatch, 1);
}

/* The first word of each page; the rest is zero, and takes next to nothing in swap. */
static void swap_fill(struct swapper *swapper, unsigned int number, unsigned int index)
{
	struct asahi_bo bo = igt_asahi_bo_create(swapper->client, BO_BYTES);
	const unsigned int last = BO_BYTES / IGT_ASAHI_PAGE - 1;
	volatile uint32_t *words = bo.map;

	for (uint64_t page = 0; page <= last; page++)
		words[page * PAGE_WORDS] = swap_pattern(number, index, page);
	swapper->bo[index] = bo;
	swapper->copy[index] = swap_copy(swapper->client, &bo, index);
}

static void swap_open(int fd, struct swapper *swapper, unsigned int number, unsigned int bos)
{
	swapper->client = igt_asahi_client_open(fd);
	swapper->bos = bos;
	for (unsigned int i = 0; i < swapper->bos; i++)
		swap_fill(swapper, number, i);
}

/* SUBMIT needs all of the client's memory, whatever the command touches. */
static void swap_turn(struct swapper *swapper, unsigned int number)
{
	const unsigned int last = BO_BYTES / IGT_ASAHI_PAGE - 1;
	struct timespec start = { 0 };

	igt_nsec_elapsed(&start);
	for (unsigned int i = 0; i < swapper->bos; i++) {
		swapper->client->words[ASAHI_RESULT + i] = 0;
		igt_assert_eq(igt_asahi_run(swapper->client, &swapper->copy[i]), 0);
		if (!i)
			igt_info("client %u has its memory after %llu ms\n", number,
				 (unsigned long long)igt_nsec_elapsed(&start) / 1000000);
		igt_assert_eq_u32(swapper->client->words[ASAHI_RESULT + i],
				  swap_pattern(number, i, last));
	}
}

static void swap_check(const struct swapper *swapper, unsigned int number)
{
	for (unsigned int i = 0; i < swapper->bos; i++) {
		const volatile uint32_t *words = swapper->bo[i].map;

		for (uint64_t page = 0; page < BO_BYTES / IGT_ASAHI_PAGE; page++)
			igt_assert_eq_u32(words[page * PAGE_WORDS], swap_pattern(number, i, page));
	}
}

static void swap_turns(int fd, unsigned int clients, uint64_t bytes)
{
	static struct swapper swapper[MOST_CLIENTS];
	const uint64_t before = swap_meminfo("SwapFree:");
	const uint64_t bos = bytes / BO_BYTES;

	igt_require_f(before, "swap\n");
	for (unsigned int i = 0; i < clients; i++)
		swap_open(fd, &swapper[i], i, bos < MOST_BOS ? bos : MOST_BOS);
	for (unsigned int round = 0; round < ROUNDS; round++)
		for (unsigned int i = 0; i < clients; i++)
			swap_turn(&swapper[i], i);
	igt_info("%llu MiB are in swap\n",
		 (unsigned long long)(before - swap_meminfo("SwapFree:")) / MB);
	igt_assert_lt_u64(swap_meminfo("SwapFree:"), before);
	for (unsigned int i = 0; i < clients; i++)
		swap_check(&swapper[i], i);
	for (unsigned int i = 0; i < clients; i++)
		igt_asahi_client_close(swapper[i].client);
}

static void swap_test_turns(int fd)
{
	swap_turns(fd, 2, swap_meminfo("MemTotal:") * PERCENT / 100);
}

static void swap_write(const char *folder, const char *name, const char *text)
{
	char path[128];
	int file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = open(path, O_WRONLY | O_CLOEXEC);
	igt_assert_f(file >= 0, "%s\n", path);
	/* Less than all of it may be reclaimed, which is an error then. */
	if (write(file, text, strlen(text)) < 0)
		igt_info("%s to %s: %m\n", text, path);
	close(file);
}

static uint64_t swap_read(const char *folder, const char *name)
{
	unsigned long long value;
	char path[128];
	FILE *fp;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fp = fopen(path, "r");
	igt_assert_f(fp, "%s\n", path);
	igt_assert_eq(fscanf(fp, "%llu", &value), 1);
	fclose(fp);
	return value;
}

/* All that the client has goes to swap. */
static void swap_out(int fd, const char *cgroup)
{
	const uint64_t bytes = LIMITED_BOS * BO_BYTES;
	struct stat st;
	char text[64];

	igt_assert_eq(fstat(fd, &st), 0);
	snprintf(text, sizeof(text), "/sys/kernel/debug/dri/%u", minor(st.st_rdev));
	swap_write(text, "shrink", "1000000000");
	/* Work may be in flight until now. */
	for (unsigned int i = 0; i < 100 && igt_asahi_memory(fd, "drm-resident-memory"); i++)
		swap_write(text, "shrink", "1000000000");
	igt_assert_eq_u64(igt_asahi_memory(fd, "drm-resident-memory"), 0);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)bytes);
	swap_write(cgroup, "memory.reclaim", text);
	igt_info("%llu MiB are left\n",
		 (unsigned long long)swap_read(cgroup, "memory.current") / MB);
}

static void swap_test_limit(int fd)
{
	static struct swapper swapper;
	const char *cgroup = getenv("SWAP_CGROUP");
	const uint64_t bytes = LIMITED_BOS * BO_BYTES;
	char text[32];

	igt_require_f(cgroup, "SWAP_CGROUP\n");
	igt_require_f(swap_meminfo("SwapFree:") > 2 * bytes, "swap\n");
	swap_open(fd, &swapper, 0, LIMITED_BOS);
	swap_turn(&swapper, 0);
	swap_out(swapper.client->fd, cgroup);
	snprintf(text, sizeof(text), "%llu",
		 (unsigned long long)(swap_read(cgroup, "memory.current") + LIMITED_ROOM));
	swap_write(cgroup, "memory.max", text);
	/* What each has got until there is no more does not stay in the cgroup. */
	for (unsigned int i = 0; i < 3; i++) {
		igt_assert_eq(igt_asahi_run(swapper.client, &swapper.copy[0]), -ENOMEM);
		igt_assert_eq_u64(igt_asahi_memory(swapper.client->fd, "drm-resident-memory"), 0);
	}
	swap_write(cgroup, "memory.max", "max");
	swap_turn(&swapper, 0);
	swap_check(&swapper, 0);
	igt_asahi_client_close(swapper.client);
}

/* Small, as each SUBMIT gets all of it back. */
static void swap_test_allocations(int fd)
{
	const char *cgroup = getenv("SWAP_CGROUP");
	struct asahi_client *client = igt_asahi_client_open(fd);
	struct asahi_bo bo = igt_asahi_bo_create(client, 8 * IGT_ASAHI_PAGE);
	const struct asahi_command copy = swap_copy(client, &bo, 0);
	volatile uint32_t *words = bo.map;
	unsigned int nth = 0;
	bool failed;
	int err;

	igt_require_f(cgroup, "SWAP_CGROUP\n");
	words[7 * PAGE_WORDS] = 0x12345678;
	do {
		swap_out(client->fd, cgroup);
		igt_asahi_fail_nth(++nth);
		err = __igt_asahi_submit(client->fd, client->queue, &copy, 1,
					 &(struct asahi_sync){ .out = 0 });
		failed = igt_asahi_has_failed();
		igt_assert_f(!err || err == -ENOMEM || err == -EFAULT, "%d at %u\n", err, nth);
	} while (failed);
	igt_info("%u failures\n", nth - 1);
	igt_assert_eq(igt_asahi_run(client, &copy), 0);
	igt_assert_eq_u32(client->words[ASAHI_RESULT], 0x12345678);
	igt_asahi_client_close(client);
}

static uint64_t swap_cgroup_bytes(const char *name)
{
	return swap_read(getenv("SWAP_CGROUP"), name);
}

/* Four clients have twice the cgroup's limit together. */
static void swap_test_cgroup(int fd)
{
	swap_turns(fd, 4, swap_cgroup_bytes("memory.max") * CGROUP_PERCENT / 100);
	igt_assert_lt_u64(0, swap_cgroup_bytes("memory.swap.peak"));
}

/* Return: 0, or the error */
static int swap_bind(struct asahi_client *client, uint64_t size)
{
	struct drm_asahi_gem_bind_op op = {
		.flags = DRM_ASAHI_BIND_READ | DRM_ASAHI_BIND_WRITE,
		.handle = igt_asahi_gem_create(client->fd, size, 0, 0, 0),
		.range = size,
		.addr = client->next_addr,
	};
	struct drm_asahi_vm_bind args = {
		.vm_id = client->vm,
		.num_binds = 1,
		.stride = sizeof(op),
		.userptr = (uintptr_t)&op,
	};

	client->next_addr += size;
	return ioctl(client->fd, DRM_IOCTL_ASAHI_VM_BIND, &args) ? errno : 0;
}

/*
 * Binds more than there is at once, and then until there is no more; its mappings work on. The
 * cgroup would kill it for a page of the program's own that has to be copied.
 */
static void swap_test_full(int fd)
{
	const uint64_t max = swap_cgroup_bytes("memory.max");
	struct swapper swapper = { 0 };
	unsigned int bos = 0;
	uint64_t before;
	int err;

	igt_assert_eq(mlockall(MCL_CURRENT), 0);
	swap_open(fd, &swapper, 0, max * CGROUP_PERCENT / 100 / BO_BYTES);
	before = swap_cgroup_bytes("memory.current");
	igt_assert_eq(swap_bind(swapper.client, max), ENOMEM);
	igt_assert_lt_u64(swap_cgroup_bytes("memory.current"), before + BO_BYTES);
	do {
		err = swap_bind(swapper.client, BO_BYTES);
		igt_assert_lt_u64(bos++ * BO_BYTES, max);
	} while (!err);
	igt_info("buffer %u gets no memory\n", bos);
	igt_assert_eq(err, ENOMEM);
	swap_turn(&swapper, 0);
	swap_check(&swapper, 0);
	igt_asahi_client_close(swapper.client);
}

/* The memory of queues is charged to the cgroup. */
static void swap_test_queues(int fd)
{
	struct asahi_client *client = igt_asahi_client_open(fd);
	const uint64_t before = swap_cgroup_bytes("memory.current");
	const uint64_t unused = swap_meminfo("MemFree:");
	uint64_t bytes;

	for (unsigned int i = 0; i < QUEUES; i++)
		igt_asahi_queue_create(client->fd, client->vm, DRM_ASAHI_PRIORITY_MEDIUM, 0);
	bytes = swap_cgroup_bytes("memory.current") - before;
	igt_info("%u queues are charged with %" PRIu64 " KiB, the machine has %" PRId64
		 " KiB less\n", QUEUES, bytes / 1024,
		 (int64_t)(unused - swap_meminfo("MemFree:")) / 1024);
	igt_assert_lte_u64(QUEUES * QUEUE_BYTES, bytes);
	igt_asahi_client_close(client);
}

/* The one outside is idle for longest, and has it all: whoever is asked first would lose it. */
static void swap_beside(int fd, void (*test)(int fd))
{
	static struct swapper outside;
	uint64_t resident;

	igt_require_f(getenv("SWAP_CGROUP"), "SWAP_CGROUP\n");
	swap_open(fd, &outside, MOST_CLIENTS, OUTSIDE_BOS);
	swap_turn(&outside, MOST_CLIENTS);
	resident = igt_asahi_memory(outside.client->fd, "drm-resident-memory");
	igt_assert_lte_u64(OUTSIDE_BOS * BO_BYTES, resident);
	igt_fork(child, 1) {
		swap_write(getenv("SWAP_CGROUP"), "cgroup.procs", "0");
		test(fd);
	}
	igt_waitchildren();
	igt_assert_eq_u64(igt_asahi_memory(outside.client->fd, "drm-resident-memory"), resident);
	swap_check(&outside, MOST_CLIENTS);
	swap_turn(&outside, MOST_CLIENTS);
	igt_asahi_client_close(outside.client);
}

int igt_main()
{
	int fd;

	igt_fixture() {
		fd = drm_open_driver_render(DRIVER_ASAHI);
	}

	igt_describe("Two clients with more memory than there is work in turns.");
	igt_subtest("turns")
		swap_test_turns(fd);

	igt_describe("A client whose cgroup has no room for what is swapped out.");
	igt_subtest("limit")
		swap_test_limit(fd);

	igt_describe("Allocations fail while a client's memory comes back from swap.");
	igt_subtest("allocations")
		swap_test_allocations(fd);

	igt_describe("Clients with more memory than their cgroup work in turns.");
	igt_subtest("cgroup")
		swap_beside(fd, swap_test_cgroup);

	igt_describe("A client binds more memory than its cgroup has, which may not swap.");
	igt_subtest("full")
		swap_beside(fd, swap_test_full);

	igt_describe("A client in a cgroup makes hundreds of queues.");
	igt_subtest("queues")
		swap_beside(fd, swap_test_queues);

	igt_fixture() {
		igt_asahi_clients_close();
		drm_close_driver(fd);
	}
}
