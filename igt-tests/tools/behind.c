// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * behind: work behind a job that never ends. The driver takes that job's memory away, and the
 * firmware goes on with the next one of the queue at once. That one finds no memory of its client
 * either and fails, but the firmware finds its own lists. For a firmware that lets work run, and
 * for tools/guest/tests/behind, which sets hang_limit.
 */
#include <stdio.h>
#include <unistd.h>

#include "asahi/asahi_render.h"
#include "igt.h"
#include "igt_syncobj.h"

/* To the client's own queue; its gate stays closed. Return: the fence of the job */
static uint32_t behind_submit_lost(struct asahi_client *client)
{
	const struct asahi_times times = igt_asahi_times_create(client);
	struct asahi_command gate = igt_asahi_gate(client, ASAHI_RESULT, 1);
	const uint32_t sync = syncobj_create(client->fd, 0);

	client->words[ASAHI_GATE] = 0;
	gate.compute.ts.start.handle = times.object;
	igt_asahi_submit_one(client, &gate, sync);
	igt_asahi_time_comes(&times, 0);
	return sync;
}

static struct asahi_render behind_render(struct asahi_client *client)
{
	struct asahi_render render = igt_asahi_render(client, 64);

	render.header.cdm_barrier = 0;
	return render;
}

/* Both fail, and whatever comes later runs. */
static void behind_check(struct asahi_client *client, uint32_t lost, uint32_t next)
{
	const struct asahi_command store = igt_asahi_store_word(client, ASAHI_RESULT + 1, 99);
	const struct asahi_render render = igt_asahi_render(client, 64);

	igt_assert_eq(igt_asahi_wait(client->fd, lost), -EIO);
	igt_assert_eq(igt_asahi_wait(client->fd, next), -EIO);
	igt_assert_eq_u32(client->words[ASAHI_RESULT], 0);

	igt_assert_eq(igt_asahi_run(client, &store), 0);
	igt_assert_eq_u32(client->words[ASAHI_RESULT + 1], 99);
	igt_assert_eq(igt_asahi_run_render(client, client->queue, &render), 0);
}

static void behind_compute(struct asahi_client *client)
{
	const struct asahi_command copy =
		igt_asahi_after(igt_asahi_copy(client, ASAHI_RESULT + 2, ASAHI_RESULT + 3), 0);
	const uint32_t next = syncobj_create(client->fd, 0);
	uint32_t lost;

	lost = behind_submit_lost(client);
	igt_asahi_submit_one(client, &copy, next);
	behind_check(client, lost, next);
}

/* The firmware begins to use the lists of the queue's tiled vertex buffer for it. */
static void behind_first_render(struct asahi_client *client)
{
	const struct asahi_render render = behind_render(client);
	const uint32_t next = syncobj_create(client->fd, 0);
	uint32_t lost;

	lost = behind_submit_lost(client);
	igt_assert_eq(igt_asahi_submit_render(client, client->queue, &render, next), 0);
	behind_check(client, lost, next);
}

/* For whoever lets the machine go down meanwhile, and kills this otherwise. */
static void behind_left(struct asahi_client *client)
{
	const struct asahi_render render = behind_render(client);

	behind_submit_lost(client);
	igt_assert_eq(igt_asahi_submit_render(client, client->queue, &render, 0), 0);
	igt_info("both are left\n");
	fflush(stdout);
	pause();
}

static void behind_later_render(struct asahi_client *client)
{
	const struct asahi_render first = igt_asahi_render(client, 64);

	igt_assert_eq(igt_asahi_run_render(client, client->queue, &first), 0);
	behind_first_render(client);
}

static const struct asahi_client_test behind_tests[] = {
	{"compute", "Compute work behind a job that is lost.", behind_compute},
	{"first-render", "The first render of a queue behind one.", behind_first_render},
	{"later-render", "And a later one.", behind_later_render},
	{"left", "Both stay in flight until the program is killed.", behind_left},
};

int igt_main()
{
	igt_asahi_client_tests(behind_tests, ARRAY_SIZE(behind_tests));
}
