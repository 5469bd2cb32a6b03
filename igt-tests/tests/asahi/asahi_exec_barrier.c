// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <sys/mman.h>
#include <unistd.h>

#include "asahi/asahi_render.h"
#include "igt.h"
#include "igt_syncobj.h"

/**
 * TEST: asahi exec barrier
 * Description: Barriers of either kind of command on either kind, in all positions.
 * Category: Core
 * Mega feature: General Core features
 * Sub-category: Command submission
 * Functionality: barriers
 * Test category: functionality test
 *
 * SUBTEST: rules
 * Description: Every sequence of one to three commands, the last of which has every pair
 *	of barriers: none, what was submitted before, each command that there is of either
 *	kind, and one more than there are, which is refused.
 *
 * SUBTEST: %s-behind-compute
 * Description: A %arg[1] command waits for as many compute commands as it says, and for
 *	no more.
 *
 * SUBTEST: %s-behind-render
 * Description: The same with renders, all of which have to have come to their end.
 * arg[1]:
 * @compute: compute
 * @render: render
 */

#define NONE		DRM_ASAHI_BARRIER_NONE
#define MAX_COMMANDS	4
#define POISON		0x5a5a5a5a

/* Gate 0 is in a SUBMIT of its own; behind the gates is what waits for them. */
#define GATES		3
#define WAITER		GATES
#define VALUE		7

enum type {
	COMPUTE,
	RENDER,
	TYPES,
};

static const char *const barrier_type_names[] = { "compute", "render" };

/**
 * struct rig - what each test starts with
 * @client: client
 * @times: when the vertex work of a render began
 * @store: compute command that does little
 * @render: render that does nothing
 * @buffer: commands of the next SUBMIT
 * @used: bytes of them
 */
struct rig {
	struct asahi_client *client;
	struct asahi_times times;
	struct asahi_command store;
	struct asahi_render render;
	_Alignas(8) uint8_t buffer[MAX_COMMANDS * sizeof(struct asahi_render)];
	size_t used;
};

static void barrier_rig_init(struct rig *rig, struct asahi_client *client)
{
	*rig = (struct rig){
		.client = client,
		.times = igt_asahi_times_create(client),
		.store = igt_asahi_store_word(client, ASAHI_RESULT, 1),
		.render = igt_asahi_render(client, 32),
	};
}

static void barrier_add(struct rig *rig, const void *command, size_t size, uint16_t vdm,
			uint16_t cdm)
{
	struct drm_asahi_cmd_header *header = (void *)(rig->buffer + rig->used);

	igt_assert_lte(rig->used + size, sizeof(rig->buffer));
	memcpy(header, command, size);
	header->vdm_barrier = vdm;
	header->cdm_barrier = cdm;
	rig->used += size;
}

/* Return: what SUBMIT says of the commands, which are gone then */
static int barrier_submit(struct rig *rig, uint32_t out)
{
	const struct drm_asahi_sync sync = { .handle = out };
	struct drm_asahi_submit args = {
		.syncs = (uintptr_t)&sync,
		.out_sync_count = !!out,
		.cmdbuf = (uintptr_t)rig->buffer,
		.cmdbuf_size = rig->used,
		.queue_id = rig->client->queue,
	};

	rig->used = 0;
	return drmIoctl(rig->client->fd, DRM_IOCTL_ASAHI_SUBMIT, &args) ? -errno : 0;
}

/* Rules */

static void barrier_add_plain(struct rig *rig, enum type type, uint16_t vdm, uint16_t cdm)
{
	if (type == RENDER)
		barrier_add(rig, &rig->render, sizeof(rig->render), vdm, cdm);
	else
		barrier_add(rig, &rig->store, sizeof(rig->store), vdm, cdm);
}

/* Bit n of @types says whether command n is a render. */
static unsigned int barrier_count_of(enum type type, unsigned int types, unsigned int count)
{
	unsigned int i, n = 0;

	for (i = 0; i < count; i++)
		n += (types >> i & 1) == type;
	return n;
}

static void barrier_check_rule(struct rig *rig, unsigned int types, unsigned int count,
			       uint16_t vdm, uint16_t cdm)
{
	const bool good = (vdm == NONE || vdm <= barrier_count_of(RENDER, types, count - 1)) &&
			  (cdm == NONE || cdm <= barrier_count_of(COMPUTE, types, count - 1));
	unsigned int i;
	int err;

	for (i = 0; i + 1 < count; i++)
		barrier_add_plain(rig, types >> i & 1, NONE, NONE);
	barrier_add_plain(rig, types >> i & 1, vdm, cdm);
	err = barrier_submit(rig, 0);
	igt_assert_f(err == (good ? 0 : -EINVAL),
		     "%u commands, renders %#x, barriers %#x and %#x: %s\n", count, types, vdm,
		     cdm, strerror(-err));
}

static void barrier_test_rules(struct asahi_client *client)
{
	static const uint16_t values[] = { 0, 1, 2, 3, NONE - 1, NONE };
	static struct rig rig;
	unsigned int count, types, i, j;

	barrier_rig_init(&rig, client);
	for (count = 1; count < MAX_COMMANDS; count++)
		for (types = 0; types < 1u << count; types++)
			for (i = 0; i < ARRAY_SIZE(values); i++)
				for (j = 0; j < ARRAY_SIZE(values); j++)
					barrier_check_rule(&rig, types, count, values[i],
							   values[j]);
	igt_assert_eq(igt_asahi_run(client, &rig.store), 0);
	igt_assert_eq_u32(client->words[ASAHI_RESULT], 1);
}

/* Commands that wait for each other */

/* A command that waits until a gate is open, and then writes the word that belongs to it */
static void barrier_add_gate(struct rig *rig, enum type type, unsigned int gate, uint16_t vdm,
			     uint16_t cdm)
{
	struct asahi_client *client = rig->client;
	const uint64_t from = igt_asahi_word_addr(client, ASAHI_GATE + gate);
	const uint64_t to = igt_asahi_word_addr(client, ASAHI_RESULT + gate);
	struct asahi_command command;
	struct asahi_render render;

	if (type == COMPUTE) {
		command = igt_asahi_gate_at(client, from, to, VALUE);
		barrier_add(rig, &command, sizeof(command), vdm, cdm);
		return;
	}
	render = igt_asahi_render(client, 32);
	igt_asahi_render_write(client, &render, from, to, VALUE);
	if (gate == WAITER)
		render.render.ts_vtx.start.handle = rig->times.object;
	barrier_add(rig, &render, sizeof(render), vdm, cdm);
}

static void barrier_submit_barrier(struct rig *rig, enum type waiter, enum type waited,
				   uint16_t barrier, uint32_t out)
{
	struct asahi_client *client = rig->client;
	unsigned int i;

	for (i = 0; i <= WAITER; i++) {
		client->words[ASAHI_GATE + i] = i == WAITER;
		client->words[ASAHI_RESULT + i] = POISON;
	}
	rig->times.map[0] = 0;
	barrier_add_gate(rig, waited, 0, NONE, NONE);
	igt_assert_eq(barrier_submit(rig, 0), 0);
	for (i = 1; i < GATES; i++)
		barrier_add_gate(rig, waited, i, NONE, NONE);
	barrier_add_gate(rig, waiter, WAITER, waited == RENDER ? barrier : NONE,
			 waited == COMPUTE ? barrier : NONE);
	igt_assert_eq(barrier_submit(rig, out), 0);
}

/* It has not run, and if it is a render, its vertex work has not begun. */
static void barrier_assert_waits(struct rig *rig)
{
	usleep(50000);
	igt_assert_eq_u32(rig->client->words[ASAHI_RESULT + WAITER], POISON);
	igt_assert_eq_u64(rig->times.map[0], 0);
}

/* The barrier is for the first @needed gates, of which @last is opened at last. */
static void barrier_check_barrier(struct rig *rig, enum type waiter, enum type waited,
				  unsigned int needed, unsigned int last)
{
	struct asahi_client *client = rig->client;
	const uint32_t sync = syncobj_create(client->fd, 0);
	unsigned int i;

	barrier_submit_barrier(rig, waiter, waited, needed ? needed - 1 : NONE, sync);
	for (i = 0; i < needed; i++)
		client->words[ASAHI_GATE + i] = i != last;
	if (needed)
		barrier_assert_waits(rig);
	/* of what waits itself, if it waits for nothing: that is open */
	client->words[ASAHI_GATE + last] = 1;
	igt_assert(igt_asahi_word_becomes(client, ASAHI_RESULT + WAITER, VALUE));
	for (i = needed; i < GATES; i++)
		igt_assert_eq_u32(client->words[ASAHI_RESULT + i], POISON);
	for (i = 0; i < GATES; i++)
		client->words[ASAHI_GATE + i] = 1;
	igt_assert_eq(igt_asahi_wait(client->fd, sync), 0);
	syncobj_destroy(client->fd, sync);
}

static void barrier_test_barriers(struct asahi_client *client, enum type waiter, enum type waited)
{
	static struct rig rig;
	unsigned int needed, last;

	barrier_rig_init(&rig, client);
	barrier_check_barrier(&rig, waiter, waited, 0, WAITER);
	for (needed = 1; needed <= GATES; needed++)
		for (last = 0; last < needed; last++)
			barrier_check_barrier(&rig, waiter, waited, needed, last);
}

int igt_main()
{
	unsigned int waiter, waited;
	int fd;

	igt_fixture() {
		fd = drm_open_driver_render(DRIVER_ASAHI);
	}

	igt_describe("Barriers that are allowed, and others.");
	igt_subtest("rules") {
		barrier_test_rules(igt_asahi_client_open(fd));
	}
	igt_fixture() {
		igt_asahi_clients_close();
	}

	igt_describe("A command waits for those that it says, and for no more.");
	for (waited = 0; waited < TYPES; waited++) {
		for (waiter = 0; waiter < TYPES; waiter++) {
			igt_subtest_f("%s-behind-%s", barrier_type_names[waiter],
				      barrier_type_names[waited])
			{
				barrier_test_barriers(igt_asahi_client_open(fd), waiter, waited);
			}
			igt_fixture() {
				igt_asahi_clients_close();
			}
		}
	}

	igt_fixture() {
		drm_close_driver(fd);
	}
}
