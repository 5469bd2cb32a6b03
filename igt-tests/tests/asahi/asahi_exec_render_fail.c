// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <string.h>

#include "asahi/asahi_render.h"
#include "igt.h"
#include "igt_syncobj.h"

/**
 * TEST: asahi exec render fail
 * Description: Render work that fails while other work is on the GPU: vertex,
 *	fragment and compute work of other address spaces. The guilty job gets EIO or
 *	ETIMEDOUT; jobs behind it on its queue get ECANCELED. So do bystanders that
 *	are on the GPU; those that come and go complete or get ECANCELED. All queues
 *	go on. Each test waits until all that it needs has begun, as the times of the
 *	work say.
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Command submission
 * Functionality: faults and resets
 * Test category: functionality test
 *
 * SUBTEST: %s-fault
 * Description: The %arg[1] half of a render reads or writes where nothing is.
 * arg[1]:
 * @vertex: vertex
 * @fragment: fragment
 *
 * SUBTEST: fragment-fault-program
 * Description: The program that begins a tile is not there.
 *
 * SUBTEST: %s-timeout
 * Description: The %arg[1] half of a render does not end.
 * arg[1]:
 * @vertex: vertex
 * @fragment: fragment
 *
 * SUBTEST: afterwards
 * Description: All of that has done no harm to anybody else.
 */

#define VERTEX		0
#define FRAGMENT	1
#define COMPUTE		2
#define STAGES		3

/**
 * struct flight - work that is on the GPU until the test lets it go
 * @client: whose it is
 * @queue: the queue that it is on
 * @sync: signalled at its end
 * @gate: word that fragment and compute work waits for
 * @circle: where vertex work goes around, or NULL
 */
struct flight {
	struct asahi_client *client;
	uint32_t queue;
	uint32_t sync;
	unsigned int gate;
	volatile uint32_t *circle;
};

static const char *const render_fail_stages[STAGES] = { "vertex", "fragment", "compute" };

static void render_fail_submit_compute(struct flight *flight, const struct asahi_times *times,
				       uint64_t addr)
{
	struct asahi_client *client = flight->client;
	struct asahi_command command =
		igt_asahi_gate_at(client, igt_asahi_word_addr(client, flight->gate), addr, 1);

	command.compute.ts.start.handle = times->object;
	igt_asahi_submit(client->fd, flight->queue, &command, 1,
			 &(struct asahi_sync){ .out = flight->sync });
}

static void render_fail_submit_render(struct flight *flight, unsigned int stage,
				      const struct asahi_times *times, uint64_t addr)
{
	struct asahi_client *client = flight->client;
	struct asahi_render render = igt_asahi_render(client, 64);

	if (stage == VERTEX) {
		flight->circle = igt_asahi_render_circle(client, &render);
		render.render.ts_vtx.start.handle = times->object;
	} else {
		igt_asahi_render_write(client, &render, igt_asahi_word_addr(client, flight->gate),
				       addr, 1);
		render.render.ts_frag.start.handle = times->object;
	}
	igt_assert_eq(igt_asahi_submit_render(client, flight->queue, &render, flight->sync), 0);
}

/*
 * On return it is on the GPU. Fragment and compute work writes to @addr when it is let
 * go; each has a word of its own to wait for.
 */
static struct flight render_fail_launch(struct asahi_client *client, uint32_t queue,
					unsigned int stage, unsigned int gate, uint64_t addr)
{
	const struct asahi_times times = igt_asahi_times_create(client);
	struct flight flight = {
		.client = client,
		.queue = queue,
		.sync = syncobj_create(client->fd, 0),
		.gate = gate,
	};

	client->words[gate] = 0;
	if (stage == COMPUTE)
		render_fail_submit_compute(&flight, &times, addr);
	else
		render_fail_submit_render(&flight, stage, &times, addr);
	igt_asahi_time_comes(&times, 0);
	return flight;
}

static void render_fail_let_go(struct flight *flight)
{
	flight->client->words[flight->gate] = 1;
	if (flight->circle)
		igt_asahi_circle_end(flight->client, flight->circle);
}

static void render_fail_assert_runs(struct asahi_client *client, uint32_t queue)
{
	struct asahi_render render = igt_asahi_render(client, 64);

	client->words[ASAHI_GATE] = 1;
	client->words[ASAHI_RESULT] = 0;
	igt_asahi_render_write(client, &render, igt_asahi_word_addr(client, ASAHI_GATE),
			       igt_asahi_word_addr(client, ASAHI_RESULT), 7);
	igt_assert_eq(igt_asahi_run_render(client, queue, &render), 0);
	igt_assert_eq_u32(client->words[ASAHI_RESULT], 7);
}

/* The queue goes on, and a new one of the same address space works. */
static void render_fail_assert_goes_on(struct asahi_client *client, uint32_t queue)
{
	uint32_t other;

	render_fail_assert_runs(client, queue);
	other = igt_asahi_queue_create(client->fd, client->vm, DRM_ASAHI_PRIORITY_MEDIUM, 0);
	render_fail_assert_runs(client, other);
	igt_asahi_queue_destroy(client->fd, other, 0);
}

/* Return: the fence of work that begins when the queue's earlier work is over */
static uint32_t render_fail_submit_behind(struct asahi_client *client, uint32_t queue)
{
	const uint32_t sync = syncobj_create(client->fd, 0);
	struct asahi_render render = igt_asahi_render(client, 64);

	render.header.vdm_barrier = 0;
	igt_assert_eq(igt_asahi_submit_render(client, queue, &render, sync), 0);
	return sync;
}

static void render_fail_test_fault(struct asahi_client *client, unsigned int stage)
{
	const uint32_t second =
		igt_asahi_queue_create(client->fd, client->vm, DRM_ASAHI_PRIORITY_MEDIUM, 0);
	struct flight others[STAGES], sibling, guilty;
	uint32_t behind;
	unsigned int i;

	for (i = 0; i < STAGES; i++) {
		struct asahi_client *other = igt_asahi_client_open(client->fd);

		others[i] = render_fail_launch(other, other->queue, i, ASAHI_GATE,
					       igt_asahi_word_addr(other, ASAHI_RESULT));
	}
	sibling = render_fail_launch(client, second, COMPUTE, ASAHI_GATE + 1,
				     igt_asahi_word_addr(client, ASAHI_RESULT + 1));
	guilty = render_fail_launch(client, client->queue, stage, ASAHI_GATE, ASAHI_UNMAPPED);
	behind = render_fail_submit_behind(client, client->queue);

	if (stage == VERTEX)
		igt_asahi_circle_fault(guilty.circle);
	else
		render_fail_let_go(&guilty);
	igt_assert_eq(igt_asahi_wait(client->fd, guilty.sync), -EIO);
	igt_assert_eq(igt_asahi_wait(client->fd, behind), -ECANCELED);
	render_fail_let_go(&sibling);
	for (i = 0; i < STAGES; i++)
		render_fail_let_go(&others[i]);
	for (i = 0; i < STAGES; i++) {
		igt_assert_eq(igt_asahi_wait(others[i].client->fd, others[i].sync), -ECANCELED);
		render_fail_assert_runs(others[i].client, others[i].queue);
	}
	/* A fault names an address space and no queue, so the sibling is taken for guilty, too. */
	igt_assert_eq(igt_asahi_wait(client->fd, sibling.sync), -EIO);
	render_fail_assert_runs(client, second);
	render_fail_assert_goes_on(client, client->queue);
}

static void render_fail_test_program(struct asahi_client *client)
{
	struct asahi_client *other = igt_asahi_client_open(client->fd);
	struct asahi_render render = igt_asahi_render(client, 64);
	struct flight bystander = render_fail_launch(other, other->queue, FRAGMENT, ASAHI_GATE,
						     igt_asahi_word_addr(other, ASAHI_RESULT));

	igt_asahi_render_write(client, &render, igt_asahi_word_addr(client, ASAHI_GATE),
			       igt_asahi_word_addr(client, ASAHI_RESULT), 1);
	render.render.bg.usc |= 0x80000000;
	igt_assert_eq(igt_asahi_run_render(client, client->queue, &render), -EIO);
	render_fail_let_go(&bystander);
	igt_assert_eq(igt_asahi_wait(other->fd, bystander.sync), -ECANCELED);
	render_fail_assert_runs(other, other->queue);
	render_fail_assert_goes_on(client, client->queue);
}

static bool render_fail_is_over(const struct flight *flight)
{
	uint32_t sync = flight->sync;

	return !syncobj_wait_err(flight->client->fd, &sync, 1, 0, 0);
}

/*
 * Others work all the time, rather than wait like the guilty one: it is the only one
 * whose time can be up.
 */
static void render_fail_test_timeout(struct asahi_client *client, unsigned int stage)
{
	struct asahi_client *other = igt_asahi_client_open(client->fd);
	const struct asahi_render render = igt_asahi_render(other, 1024);
	const struct flight guilty =
		render_fail_launch(client, client->queue, stage, ASAHI_GATE,
				   igt_asahi_word_addr(client, ASAHI_RESULT));
	const uint32_t behind = render_fail_submit_behind(client, client->queue);
	unsigned int rounds = 0;

	do {
		igt_asahi_assert_bystander(igt_asahi_run_render(other, other->queue, &render));
		rounds++;
	} while (!render_fail_is_over(&guilty));
	igt_info("%u renders of others meanwhile\n", rounds);
	igt_assert_eq(igt_asahi_wait(client->fd, guilty.sync), -ETIMEDOUT);
	igt_assert_eq(igt_asahi_wait(client->fd, behind), -ECANCELED);
	render_fail_assert_runs(other, other->queue);
	render_fail_assert_goes_on(client, client->queue);
}

int igt_main()
{
	unsigned int stage;
	int fd;

	igt_fixture() {
		fd = drm_open_driver_render(DRIVER_ASAHI);
	}

	igt_describe("Half of a render accesses what is not there.");
	for (stage = VERTEX; stage <= FRAGMENT; stage++) {
		igt_subtest_f("%s-fault", render_fail_stages[stage]) {
			render_fail_test_fault(igt_asahi_client_open(fd), stage);
		}
		igt_fixture() {
			igt_asahi_clients_close();
		}
	}

	igt_describe("The program that begins a tile is not there.");
	igt_subtest("fragment-fault-program") {
		render_fail_test_program(igt_asahi_client_open(fd));
	}
	igt_fixture() {
		igt_asahi_clients_close();
	}

	igt_describe("Half of a render does not end.");
	for (stage = VERTEX; stage <= FRAGMENT; stage++) {
		igt_subtest_f("%s-timeout", render_fail_stages[stage]) {
			render_fail_test_timeout(igt_asahi_client_open(fd), stage);
		}
		igt_fixture() {
			igt_asahi_clients_close();
		}
	}

	igt_describe("All of that has done no harm to anybody else.");
	igt_subtest("afterwards") {
		struct asahi_client *client = igt_asahi_client_open(fd);

		render_fail_assert_runs(client, client->queue);
	}

	igt_fixture() {
		igt_asahi_clients_close();
		drm_close_driver(fd);
	}
}
