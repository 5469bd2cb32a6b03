// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "asahi/asahi_compute.h"
#include "asahi/asahi_empty.h"
#include "igt.h"

/**
 * TEST: asahi churn
 * Description: Whatever can be made and destroyed is, many times: nothing of it stays.
 *	The driver's counts of its objects tell, which must not grow with the rounds,
 *	and after thousands of rounds the kernel's of its memory. ASAHI_CHURN_ROUNDS in
 *	the environment is how many, at least 60.
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Memory management
 * Functionality: object lifetimes
 * Test category: stress test
 *
 * SUBTEST: files
 * Description: Open files.
 *
 * SUBTEST: vms
 * Description: Address spaces.
 *
 * SUBTEST: buffers
 * Description: Buffers that are mapped for the GPU.
 *
 * SUBTEST: timestamps
 * Description: Buffers for timestamps.
 *
 * SUBTEST: queues
 * Description: Queues.
 *
 * SUBTEST: renders
 * Description: Queues with a render each, so with a vertex buffer.
 *
 * SUBTEST: clients
 * Description: Files with all of that, which are closed without destroying it.
 */

#define ROUNDS		60
/*
 * What one queue has at most. A machine that is very busy may not let the firmware
 * answer in time that it forgets a queue, which the driver keeps then.
 */
#define SPARE		30
#define WARM_UP		8
/* From there on the kernel's memory is judged as well. */
#define MANY_ROUNDS	5000
#define NOISE_KIB	4096
#define WAIT_MS		120000

static const char *const churn_kinds[] = {
	"vms", "gem-objects", "timestamp-objects", "queues", "jobs", "heap-blocks", "heap-nodes",
	"page-tables", "leaked-blocks",
};

#define KINDS ARRAY_SIZE(churn_kinds)

struct counts {
	int of[KINDS];
};

static struct counts churn_count(void)
{
	struct counts counts;
	unsigned int i;

	for (i = 0; i < KINDS; i++)
		counts.of[i] = igt_asahi_objects(churn_kinds[i]);
	return counts;
}

static bool churn_no_more(const struct counts *now, const struct counts *before)
{
	unsigned int i;

	for (i = 0; i < KINDS; i++)
		if (now->of[i] > before->of[i] + SPARE)
			return false;
	return true;
}

/* Return: the counts after a second without a change, when workers have freed objects. */
static struct counts churn_count_settled(void)
{
	struct counts now = churn_count(), last;
	unsigned int i, same = 0;

	for (i = 0; i < WAIT_MS / 100 && same < 10; i++) {
		usleep(100000);
		last = now;
		now = churn_count();
		same = memcmp(&now, &last, sizeof(now)) ? 0 : same + 1;
	}
	return now;
}

static void churn_assert_nothing_left(const struct counts *before)
{
	struct counts now = churn_count();
	unsigned int i;

	for (i = 0; i < WAIT_MS / 100 && !churn_no_more(&now, before); i++) {
		usleep(100000);
		now = churn_count();
	}
	for (i = 0; i < KINDS; i++)
		igt_assert_f(now.of[i] <= before->of[i] + SPARE, "%d %s, and %d before\n", now.of[i],
			     churn_kinds[i], before->of[i]);
}

/* Memory of the kernel's own that it cannot take back. */
static long churn_kernel_kib(void)
{
	FILE *fp = fopen("/proc/meminfo", "r");
	char name[64];
	long value, sum = 0;

	igt_assert(fp);
	while (fscanf(fp, "%63s %ld%*[^\n]", name, &value) == 2)
		if (!strcmp(name, "SUnreclaim:") || !strcmp(name, "KernelStack:") ||
		    !strcmp(name, "PageTables:") || !strcmp(name, "VmallocUsed:"))
			sum += value;
	fclose(fp);
	return sum;
}

static void churn_do_file(struct asahi_client *client)
{
	close(drm_reopen_driver(client->fd));
}

static void churn_do_vm(struct asahi_client *client)
{
	igt_asahi_vm_destroy(client->fd, igt_asahi_vm_create(client->fd), 0);
}

static void churn_do_buffer(struct asahi_client *client)
{
	struct asahi_bo bo = igt_asahi_bo_create(client, 4 * IGT_ASAHI_PAGE);

	memset(bo.map, 1, bo.size);
	igt_asahi_bo_destroy(client, &bo);
}

static void churn_do_timestamps(struct asahi_client *client)
{
	struct drm_asahi_gem_bind_object args = {
		.op = DRM_ASAHI_BIND_OBJECT_OP_BIND,
		.flags = DRM_ASAHI_BIND_OBJECT_USAGE_TIMESTAMPS,
		.handle = igt_asahi_gem_create(client->fd, IGT_ASAHI_PAGE, 0, 0, 0),
		.range = IGT_ASAHI_PAGE,
	};

	do_ioctl(client->fd, DRM_IOCTL_ASAHI_GEM_BIND_OBJECT, &args);
	gem_close(client->fd, args.handle);
	args = (struct drm_asahi_gem_bind_object) {
		.op = DRM_ASAHI_BIND_OBJECT_OP_UNBIND,
		.object_handle = args.object_handle,
	};
	do_ioctl(client->fd, DRM_IOCTL_ASAHI_GEM_BIND_OBJECT, &args);
}

static uint32_t churn_make_queue(struct asahi_client *client)
{
	return igt_asahi_queue_create(client->fd, client->vm, DRM_ASAHI_PRIORITY_MEDIUM, 0);
}

static void churn_do_queue(struct asahi_client *client)
{
	igt_asahi_queue_destroy(client->fd, churn_make_queue(client), 0);
}

static void churn_do_render(struct asahi_client *client)
{
	const uint32_t queue = churn_make_queue(client);
	const uint64_t used = client->used;

	igt_asahi_finish(client, igt_asahi_submit_empty(client, queue, 64, 0));
	igt_asahi_queue_destroy(client->fd, queue, 0);
	/* The command's stream is not needed any more. */
	client->used = used;
}

static void churn_do_client(struct asahi_client *client)
{
	struct asahi_client *other = igt_asahi_client_open(client->fd);
	const struct asahi_command store = igt_asahi_store_word(other, ASAHI_RESULT, 1);

	igt_asahi_submit_empty(other, other->queue, 64, 0);
	igt_asahi_submit_one(other, &store, 0);
	igt_asahi_client_close(other);
}

static const struct {
	const char *name;
	const char *text;
	void (*round)(struct asahi_client *client);
} churn_tests[] = {
	{ "files", "Open files.", churn_do_file },
	{ "vms", "Address spaces.", churn_do_vm },
	{ "buffers", "Mapped buffers.", churn_do_buffer },
	{ "timestamps", "Buffers for timestamps.", churn_do_timestamps },
	{ "queues", "Queues.", churn_do_queue },
	{ "renders", "Queues with a render.", churn_do_render },
	{ "clients", "Files with all of that.", churn_do_client },
};

static void churn(struct asahi_client *client, void (*round)(struct asahi_client *client),
		  unsigned int rounds)
{
	struct counts before;
	long kib, grown;
	unsigned int i;

	for (i = 0; i < WARM_UP; i++)
		round(client);
	before = churn_count_settled();
	kib = churn_kernel_kib();
	for (i = 0; i < rounds; i++)
		round(client);
	churn_assert_nothing_left(&before);
	churn_count_settled();
	grown = churn_kernel_kib() - kib;
	igt_info("%u rounds: %ld KiB of the kernel's, %+ld\n", rounds, kib, grown);
	if (rounds >= MANY_ROUNDS)
		igt_assert_lt(grown, NOISE_KIB);
}

int igt_main()
{
	const char *text = getenv("ASAHI_CHURN_ROUNDS");
	const unsigned int rounds = text ? strtoul(text, NULL, 0) : ROUNDS;
	unsigned int i;
	int fd;

	igt_fixture() {
		igt_assert_lte(ROUNDS, rounds);
		fd = drm_open_driver_render(DRIVER_ASAHI);
	}

	for (i = 0; i < ARRAY_SIZE(churn_tests); i++) {
		igt_describe(churn_tests[i].text);
		igt_subtest(churn_tests[i].name) {
			churn(igt_asahi_client_open(fd), churn_tests[i].round, rounds);
		}
		igt_fixture() {
			igt_asahi_clients_close();
		}
	}

	igt_fixture() {
		drm_close_driver(fd);
	}
}
