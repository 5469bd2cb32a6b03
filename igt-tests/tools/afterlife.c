// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * afterlife: a client whose device is given up although the firmware, which was deaf for a
 * while, is healthy. Its work is in the ring then, not begun (--run-subtest ring), or on the
 * GPU (busy), and its fences signal. After that neither firmware nor GPU may reach the client's
 * memory any more.
 *
 * It makes the files ready and signalled in the current folder, and goes on when silent and
 * over are there: that is beyond IGT.
 */
#include <fcntl.h>
#include <unistd.h>

#include "asahi/asahi_render.h"
#include "igt.h"
#include "igt_syncobj.h"

/* Each rings a doorbell; the mailbox has room for 16. */
#define STORES	32
#define BEFORE	0x5a5a5a5a

static void afterlife_tell(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT, 0644);

	igt_assert_fd(fd);
	close(fd);
}

static void afterlife_wait_for(const char *name)
{
	struct timespec start = {};

	igt_nsec_elapsed(&start);
	while (access(name, F_OK)) {
		igt_assert(igt_nsec_elapsed(&start) < ASAHI_PATIENCE_NS);
		usleep(10000);
	}
}

/* Its shader looks at the gate until that is open. */
static uint32_t afterlife_begin_gate(struct asahi_client *client)
{
	const struct asahi_command gate = igt_asahi_gate(client, ASAHI_RESULT, 1);
	const struct asahi_times times = igt_asahi_times_create(client);
	struct asahi_command timed = gate;
	uint32_t sync = syncobj_create(client->fd, 0);

	timed.compute.ts.start.handle = times.object;
	igt_asahi_submit_one(client, &timed, sync);
	igt_asahi_time_comes(&times, 0);
	return sync;
}

/* Of a second queue, which the firmware has not read of */
static void afterlife_fill_ring(struct asahi_client *client, uint32_t *syncs)
{
	uint32_t queue = igt_asahi_queue_create(client->fd, client->vm,
						DRM_ASAHI_PRIORITY_MEDIUM, 0);

	for (unsigned int i = 0; i < STORES; i++) {
		const struct asahi_command store =
			igt_asahi_store_word(client, ASAHI_RESULT + 1 + i, 1);

		syncs[i] = syncobj_create(client->fd, 0);
		igt_asahi_submit(client->fd, queue, &store, 1,
				 &(struct asahi_sync){ .out = syncs[i] });
	}
}

static void afterlife_assert_untouched(struct asahi_client *client)
{
	for (unsigned int i = 0; i <= STORES; i++)
		igt_assert_eq_u32(client->words[ASAHI_RESULT + i], BEFORE);
}

/* Each fence tells of the loss. */
static void afterlife_live(struct asahi_client *client, bool busy)
{
	uint32_t syncs[STORES + 1];
	unsigned int count = STORES;

	for (unsigned int i = 0; i <= STORES; i++)
		client->words[ASAHI_RESULT + i] = BEFORE;
	if (busy)
		syncs[count++] = afterlife_begin_gate(client);
	afterlife_tell("ready");
	afterlife_wait_for("silent");
	afterlife_fill_ring(client, syncs);
	for (unsigned int i = 0; i < count; i++)
		igt_assert_lt(igt_asahi_wait(client->fd, syncs[i]), 0);
	/* A job on the GPU would see it at once. */
	client->words[ASAHI_GATE] = 1;
	afterlife_assert_untouched(client);
	afterlife_tell("signalled");
	afterlife_wait_for("over");
	afterlife_assert_untouched(client);
}

static void afterlife_ring(struct asahi_client *client)
{
	afterlife_live(client, false);
}

static void afterlife_busy(struct asahi_client *client)
{
	afterlife_live(client, true);
}

static const struct asahi_client_test afterlife_tests[] = {
	{"ring", "Work that the firmware has not begun.", afterlife_ring},
	{"busy", "A job that runs, and work behind it.", afterlife_busy},
};

int igt_main()
{
	igt_asahi_client_tests(afterlife_tests, ARRAY_SIZE(afterlife_tests));
}
