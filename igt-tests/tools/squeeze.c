// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * squeeze: a client that asks for renders which need more memory than there is, beside a
 * program that holds some and uses it all the time. The client has to get ENOMEM, and the
 * other one must not notice. For a machine, or a cgroup, with a GiB or less. It is no test of
 * IGT's, since the same renders are nothing special on a larger one.
 *
 * Whoever reads a page of a program anew needs memory for it. A cgroup that has no more kills
 * a process then, and that has nothing to do with the driver: with SQUEEZE_LOCKED in the
 * environment both programs lock what they have. On a machine that has no more it has: there
 * the driver has to leave others something.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "asahi/asahi_render.h"
#include "igt.h"
#include "igt_syncobj.h"

#define HELD_BYTES	(150 << 20)
#define HELD_WORDS	(HELD_BYTES / sizeof(uint32_t))
/* A word of each page, however large pages are */
#define STEP		(4096 / sizeof(uint32_t))

/*
 * As large a framebuffer as there may be, with so many layers: 525 MiB for the scene,
 * 800 MiB of tail pointer cache and 257 MiB of vertex buffer.
 */
#define LARGE_SIZE	16384
#define LARGE_LAYERS	400
/* Of this the queue keeps some 140 MiB. */
#define KEPT_SIZE	4096
#define KEPT_LAYERS	1024
/* More than a GiB has room for */
#define MOST_QUEUES	10

/* What the innocent program says */
static volatile struct {
	uint32_t passes;
	uint32_t wrong;
	uint32_t is_over;
} *squeeze_innocent;

static void squeeze_lock_memory(void)
{
	igt_assert(!getenv("SQUEEZE_LOCKED") || !mlockall(MCL_CURRENT));
}

static void squeeze_hold_memory(void)
{
	uint32_t *words = mmap(NULL, HELD_BYTES, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t pass;
	size_t i;

	igt_assert(words != MAP_FAILED);
	squeeze_lock_memory();
	for (pass = 0; !squeeze_innocent->is_over; pass++) {
		for (i = 0; i < HELD_WORDS; i += STEP) {
			squeeze_innocent->wrong += words[i] != (pass ? (uint32_t)i + pass : 0);
			words[i] = i + pass + 1;
		}
		squeeze_innocent->passes++;
		usleep(10000);
	}
}

/* Return: whether it has gone through all of its memory twice since */
static bool squeeze_innocent_goes_on(void)
{
	const uint32_t before = squeeze_innocent->passes;
	struct timespec start = { 0 };

	igt_nsec_elapsed(&start);
	while (squeeze_innocent->passes - before < 2) {
		if (igt_nsec_elapsed(&start) > ASAHI_PATIENCE_NS)
			return false;
		usleep(10000);
	}
	return !squeeze_innocent->wrong;
}

static struct asahi_render squeeze_large_render(struct asahi_client *client, unsigned int size,
						unsigned int layers)
{
	struct asahi_render render = igt_asahi_render(client, size);

	render.render.layers = layers;
	return render;
}

/* What was let go is free a little later. */
static void squeeze_assert_works(struct asahi_client *client)
{
	const struct asahi_render render = igt_asahi_render(client, 64);
	struct timespec start = { 0 };
	int err;

	igt_nsec_elapsed(&start);
	do {
		err = igt_asahi_run_render(client, client->queue, &render);
	} while (err == -ENOMEM && igt_nsec_elapsed(&start) < ASAHI_PATIENCE_NS &&
		 !usleep(10000));
	igt_assert_eq(err, 0);
}

/* One render is too much. What it got before there was no more is given back. */
static void squeeze_test_render(struct asahi_client *client)
{
	struct asahi_render large = squeeze_large_render(client, LARGE_SIZE, LARGE_LAYERS);

	igt_assert_eq(igt_asahi_submit_render(client, client->queue, &large, 0), -ENOMEM);
	igt_assert(squeeze_innocent_goes_on());
	squeeze_assert_works(client);
}

/* Renders on queue after queue, until one gets no memory. Returns how many have worked. */
static unsigned int squeeze_use_queues(struct asahi_client *client)
{
	struct asahi_render large = squeeze_large_render(client, KEPT_SIZE, KEPT_LAYERS);
	uint32_t queues[MOST_QUEUES];
	unsigned int used = 0, i;
	int err = 0;

	/* While there is memory for them */
	for (i = 0; i < MOST_QUEUES; i++)
		queues[i] = igt_asahi_queue_create(client->fd, client->vm,
						   DRM_ASAHI_PRIORITY_MEDIUM, 0);
	while (used < MOST_QUEUES) {
		err = igt_asahi_run_render(client, queues[used], &large);
		if (err)
			break;
		used++;
	}
	igt_info("%u of %u queues have had a render\n", used, MOST_QUEUES);
	igt_assert(!err || err == -ENOMEM);
	igt_assert(squeeze_innocent_goes_on());
	for (i = 0; i < MOST_QUEUES; i++)
		igt_asahi_queue_destroy(client->fd, queues[i], 0);
	squeeze_assert_works(client);
	return used;
}

/* No render is too much, but each leaves its queue what it has got. */
static void squeeze_test_queues(struct asahi_client *client)
{
	const unsigned int used = squeeze_use_queues(client);

	igt_assert_lt(0, used);
	igt_assert_lt(used, MOST_QUEUES);
}

/* Those that have nothing to do give it back to those that have. */
static void squeeze_test_trim(struct asahi_client *client)
{
	igt_assert_eq(squeeze_use_queues(client), MOST_QUEUES);
}

static void squeeze_run(int fd, void (*test)(struct asahi_client *client))
{
	struct asahi_client *client;

	memset((void *)squeeze_innocent, 0, sizeof(*squeeze_innocent));
	igt_fork(child, 1) {
		squeeze_hold_memory();
	}
	igt_assert(squeeze_innocent_goes_on());
	squeeze_lock_memory();
	client = igt_asahi_client_open(fd);
	test(client);
	igt_asahi_client_close(client);
	igt_assert(squeeze_innocent_goes_on());
	squeeze_innocent->is_over = 1;
	igt_waitchildren();
}

int igt_main()
{
	int fd;

	igt_fixture() {
		fd = drm_open_driver_render(DRIVER_ASAHI);
		squeeze_innocent = mmap(NULL, sizeof(*squeeze_innocent), PROT_READ | PROT_WRITE,
					MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		igt_assert(squeeze_innocent != MAP_FAILED);
	}

	igt_describe("One render that needs more than there is.");
	igt_subtest("render")
		squeeze_run(fd, squeeze_test_render);

	igt_describe("Queue after queue, until there is no more.");
	igt_subtest("queues")
		squeeze_run(fd, squeeze_test_queues);

	igt_describe("Queues give their buffers to each other, for a driver that may trim them.");
	igt_subtest("trim")
		squeeze_run(fd, squeeze_test_trim);

	igt_fixture() {
		igt_asahi_clients_close();
		drm_close_driver(fd);
	}
}
