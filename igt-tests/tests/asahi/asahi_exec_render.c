// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <string.h>

#include "asahi/asahi_compute.h"
#include "igt.h"
#include "igt_syncobj.h"

/**
 * TEST: asahi exec render
 * Description: Renders beside each other and beside compute work: order, slots,
 *	vertex buffers that grow, and who is to blame when one fails. Nothing is
 *	drawn.
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Command submission
 * Functionality: render commands
 * Test category: functionality test
 *
 * SUBTEST: barriers
 * Description: Renders and compute work that wait for each other, within a SUBMIT and
 *	across several of them.
 *
 * SUBTEST: more-than-slots
 * Description: More address spaces than the MMU has contexts, and more queues than the
 *	firmware has slots for vertex buffers, all with renders at once.
 *
 * SUBTEST: growing
 * Description: Framebuffers of growing size, many at once.
 *
 * SUBTEST: fault-in-vertex-work
 * Description: A control stream that is not there; another client's renders go on.
 *
 * SUBTEST: fault-in-the-middle
 * Description: The same between other renders of its queue, which then takes no more.
 */

#define NONE		DRM_ASAHI_BARRIER_NONE
#define COMMANDS	64
#define CLIENTS		70
#define ROUNDS		4

/* struct command - as it stands in a command buffer */
struct command {
	struct drm_asahi_cmd_header header;
	struct drm_asahi_cmd_render render;
};

/* A stream that ends at once. */
static struct command render_of(struct asahi_client *client, unsigned int size)
{
	static const uint32_t terminate[2] = { 0xc0000000 };
	const struct asahi_command stream = igt_asahi_command_words(client, terminate, 2);

	return (struct command) {
		.header = {
			.cmd_type = DRM_ASAHI_CMD_RENDER,
			.size = sizeof(struct drm_asahi_cmd_render),
			.vdm_barrier = NONE,
			.cdm_barrier = NONE,
		},
		.render = {
			.vdm_ctrl_stream_base = stream.compute.cdm_ctrl_stream_base,
			.ppp_ctrl = 0x202,
			.ppp_multisamplectl = 0x88,
			.isp_bgobjvals = 0x300,
			.width_px = size,
			.height_px = size,
			.layers = 1,
			.utile_width_px = 32,
			.utile_height_px = 32,
			.samples = 1,
			.sample_size_B = 4,
		},
	};
}

/* Return: what SUBMIT says */
static int submit_to(struct asahi_client *client, uint32_t queue, const void *commands,
		     size_t size, uint32_t out)
{
	const struct drm_asahi_sync sync = { .handle = out };
	struct drm_asahi_submit args = {
		.syncs = (uintptr_t)&sync,
		.out_sync_count = 1,
		.cmdbuf = (uintptr_t)commands,
		.cmdbuf_size = size,
		.queue_id = queue,
	};

	return drmIoctl(client->fd, DRM_IOCTL_ASAHI_SUBMIT, &args) ? -errno : 0;
}

/* Alternately a render and compute work, each waiting for all that was before it. */
static size_t mix(struct asahi_client *client, uint8_t *buffer)
{
	struct command render = render_of(client, 256);
	struct asahi_command store = igt_asahi_store_word(client, ASAHI_RESULT, 1);
	uint8_t *pos = buffer;
	unsigned int i;

	for (i = 0; i < COMMANDS / 2; i++) {
		render.header.vdm_barrier = i;
		render.header.cdm_barrier = i;
		store.header.vdm_barrier = i + 1;
		store.header.cdm_barrier = i;
		pos = (uint8_t *)memcpy(pos, &render, sizeof(render)) + sizeof(render);
		pos = (uint8_t *)memcpy(pos, &store, sizeof(store)) + sizeof(store);
	}
	return pos - buffer;
}

static void test_barriers(struct asahi_client *client)
{
	static _Alignas(8) uint8_t buffer[COMMANDS * sizeof(struct command)];
	const size_t size = mix(client, buffer);
	uint32_t sync[ROUNDS];
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		sync[i] = syncobj_create(client->fd, 0);
		igt_assert_eq(submit_to(client, client->queue, buffer, size, sync[i]), 0);
	}
	for (i = 0; i < ROUNDS; i++)
		igt_assert_eq(igt_asahi_wait(client->fd, sync[i]), 0);
	igt_assert_eq_u32(client->words[ASAHI_RESULT], 1);
}

static void test_more_than_slots(struct asahi_client *client)
{
	static struct asahi_client *clients[CLIENTS];
	static uint32_t second[CLIENTS], sync[ROUNDS][CLIENTS][2];
	unsigned int i, round;

	for (i = 0; i < CLIENTS; i++) {
		clients[i] = igt_asahi_client_open(client->fd);
		second[i] = igt_asahi_queue_create(clients[i]->fd, clients[i]->vm,
						   DRM_ASAHI_PRIORITY_LOW, 0);
	}
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < CLIENTS; i++) {
			const struct command render = render_of(clients[i], 64);

			sync[round][i][0] = syncobj_create(clients[i]->fd, 0);
			sync[round][i][1] = syncobj_create(clients[i]->fd, 0);
			igt_assert_eq(submit_to(clients[i], clients[i]->queue, &render,
						sizeof(render), sync[round][i][0]), 0);
			igt_assert_eq(submit_to(clients[i], second[i], &render, sizeof(render),
						sync[round][i][1]), 0);
		}
	}
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < CLIENTS; i++) {
			igt_assert_eq(igt_asahi_wait(clients[i]->fd, sync[round][i][0]), 0);
			igt_assert_eq(igt_asahi_wait(clients[i]->fd, sync[round][i][1]), 0);
		}
	}
	for (i = 0; i < CLIENTS; i++)
		igt_asahi_client_close(clients[i]);
}

static void test_growing(struct asahi_client *client)
{
	static const unsigned int sizes[] = { 64, 4096, 1024, 6144, 8192, 64 };
	uint32_t sync[ARRAY_SIZE(sizes)];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		const struct command render = render_of(client, sizes[i]);

		sync[i] = syncobj_create(client->fd, 0);
		igt_assert_eq(submit_to(client, client->queue, &render, sizeof(render), sync[i]),
			      0);
	}
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		igt_assert_eq(igt_asahi_wait(client->fd, sync[i]), 0);
}

static struct command bad_render(struct asahi_client *client)
{
	struct command render = render_of(client, 64);

	render.render.vdm_ctrl_stream_base = ASAHI_UNMAPPED;
	return render;
}

static void assert_guilty(struct asahi_client *client, uint32_t queue)
{
	const struct command render = render_of(client, 64);
	const uint32_t sync = syncobj_create(client->fd, 0);

	igt_assert_eq(submit_to(client, queue, &render, sizeof(render), sync), -EIO);
}

static void assert_bystander(int err)
{
	igt_assert_f(!err || err == -ECANCELED, "%s\n", strerror(-err));
}

static void assert_runs(struct asahi_client *client, uint32_t queue)
{
	const struct command render = render_of(client, 64);
	const uint32_t sync = syncobj_create(client->fd, 0);

	igt_assert_eq(submit_to(client, queue, &render, sizeof(render), sync), 0);
	igt_assert_eq(igt_asahi_wait(client->fd, sync), 0);
}

static void test_fault(struct asahi_client *client)
{
	struct asahi_client *other = igt_asahi_client_open(client->fd);
	const struct command good = render_of(other, 1024), bad = bad_render(client);
	const uint32_t queue = igt_asahi_queue_create(client->fd, client->vm,
						      DRM_ASAHI_PRIORITY_MEDIUM, 0);
	const uint32_t fault = syncobj_create(client->fd, 0);
	uint32_t sync[ROUNDS];
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		sync[i] = syncobj_create(other->fd, 0);
		igt_assert_eq(submit_to(other, other->queue, &good, sizeof(good), sync[i]), 0);
		if (i == 1)
			igt_assert_eq(submit_to(client, queue, &bad, sizeof(bad), fault), 0);
	}
	igt_assert_eq(igt_asahi_wait(client->fd, fault), -EIO);
	for (i = 0; i < ROUNDS; i++)
		assert_bystander(igt_asahi_wait(other->fd, sync[i]));
	assert_guilty(client, queue);
	assert_runs(other, other->queue);
	assert_runs(client, client->queue);
	igt_asahi_queue_destroy(client->fd, queue, 0);
	igt_asahi_client_close(other);
}

/* All three are submitted before the first can begin. */
static void test_fault_in_the_middle(struct asahi_client *client)
{
	const struct asahi_command gate = igt_asahi_gate(client, ASAHI_RESULT, 1);
	struct command good = render_of(client, 64), bad = bad_render(client);
	const uint32_t queue = igt_asahi_queue_create(client->fd, client->vm,
						      DRM_ASAHI_PRIORITY_MEDIUM, 0);
	uint32_t sync[3];
	unsigned int i;

	good.header.cdm_barrier = 0;
	bad.header.cdm_barrier = 0;
	igt_asahi_submit(client->fd, queue, &gate, 1, &(struct asahi_sync){ .out = 0 });
	for (i = 0; i < 3; i++) {
		const struct command *render = i == 1 ? &bad : &good;

		sync[i] = syncobj_create(client->fd, 0);
		igt_assert_eq(submit_to(client, queue, render, sizeof(*render), sync[i]), 0);
	}
	client->words[ASAHI_GATE] = 1;
	assert_bystander(igt_asahi_wait(client->fd, sync[0]));
	igt_assert_eq(igt_asahi_wait(client->fd, sync[1]), -EIO);
	igt_assert_eq(igt_asahi_wait(client->fd, sync[2]), -ECANCELED);
	assert_guilty(client, queue);
	assert_runs(client, client->queue);
	igt_asahi_queue_destroy(client->fd, queue, 0);
}

static const struct {
	const char *name;
	const char *text;
	void (*run)(struct asahi_client *client);
} tests[] = {
	{ "barriers", "Renders and compute work that wait for each other.", test_barriers },
	{ "more-than-slots", "More renders at once than there are slots.",
	  test_more_than_slots },
	{ "growing", "Framebuffers of growing size, many at once.", test_growing },
	{ "fault-in-vertex-work", "A control stream that is not there.", test_fault },
	{ "fault-in-the-middle", "The same between other renders of its queue.",
	  test_fault_in_the_middle },
};

int igt_main()
{
	unsigned int i;
	int fd;

	igt_fixture() {
		fd = drm_open_driver_render(DRIVER_ASAHI);
	}

	for (i = 0; i < ARRAY_SIZE(tests); i++) {
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
