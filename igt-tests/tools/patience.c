// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * patience: long work with which nothing is wrong. Its parts take a second each, and all
 * of it longer than the module parameter hang_limit. For a firmware with a limit of its own that
 * is longer, and for tools/guest/tests/patience, which sets hang_limit.
 */
#include <unistd.h>

#include "asahi/asahi_compute.h"
#include "igt.h"
#include "igt_syncobj.h"

#define HOLD_US		1000000
/*
 * All parts take longer than two looks of the driver, which are 10 s apart. The second look is
 * the first one that can find no progress.
 */
#define COMMANDS	24
#define CLIENTS		24
/* Results of commands, behind their gates */
#define ENDED		(ASAHI_GATE + COMMANDS)
/* A word of a client's, set by its job that begins */
#define BEGUN		(ASAHI_RESULT + 1)
/* One shader, longer than any limit that the driver ever had for a job */
#define ALONE_US	45000000

/* Each command waits for a gate of its own, and for the one before it. */
static void patience_one_submit(struct asahi_client *client)
{
	const uint32_t sync = syncobj_create(client->fd, 0);
	struct asahi_command commands[COMMANDS];

	for (unsigned int i = 0; i < COMMANDS; i++) {
		commands[i] = igt_asahi_gate_at(client, igt_asahi_word_addr(client, ASAHI_GATE + i),
						igt_asahi_word_addr(client, ENDED + i), 1);
		if (i)
			commands[i] = igt_asahi_after(commands[i], i);
	}
	igt_asahi_submit(client->fd, client->queue, commands, COMMANDS,
			 &(struct asahi_sync){ .out = sync });
	for (unsigned int i = 0; i < COMMANDS; i++) {
		usleep(HOLD_US);
		igt_assert(!igt_asahi_signalled(client->fd, sync));
		client->words[ASAHI_GATE + i] = 1;
		igt_assert_f(igt_asahi_word_becomes(client, ENDED + i, 1),
			     "command %u of %u has not ended\n", i, COMMANDS);
	}
	igt_assert_eq(igt_asahi_wait(client->fd, sync), 0);
}

/* A job that tells when it begins, and then waits for the client's gate */
static struct asahi_command patience_turn(struct asahi_client *client)
{
	const struct {
		uint64_t dst;
		uint32_t value;
	} begins = { igt_asahi_word_addr(client, BEGUN), 1 };
	const struct {
		uint64_t gate;
		uint64_t dst;
		uint32_t value;
	} gate = { igt_asahi_word_addr(client, ASAHI_GATE),
		   igt_asahi_word_addr(client, ASAHI_RESULT), 1 };
	const struct asahi_dispatch dispatches[] = {
		{
			.shader = IGT_ASAHI_SHADER_FILL,
			.uniforms = &begins,
			.uniform_bytes = sizeof(begins),
			.global = { 1, 1, 1 },
			.local = { 32, 1, 1 },
		},
		{
			.shader = IGT_ASAHI_SHADER_GATE,
			.uniforms = &gate,
			.uniform_bytes = sizeof(gate),
			.global = { 1, 1, 1 },
			.local = { 32, 1, 1 },
		},
	};

	return igt_asahi_command(client, dispatches, ARRAY_SIZE(dispatches));
}

/* The client whose job runs; which one is next is for the firmware to say. */
static unsigned int patience_whose_turn(struct asahi_client *const *clients)
{
	const uint64_t tries = igt_asahi_patience_ns() / 10000000;

	for (uint64_t i = 0; i < tries; i++) {
		for (unsigned int j = 0; j < CLIENTS; j++) {
			if (clients[j]->words[BEGUN] && !clients[j]->words[ASAHI_GATE])
				return j;
		}
		usleep(10000);
	}
	igt_assert_f(false, "no client's job begins\n");
	return CLIENTS;
}

/* The last client's job waits for its turn for as long as those of all others take. */
static void patience_equals(struct asahi_client *first)
{
	struct asahi_client *clients[CLIENTS] = { first };
	uint32_t syncs[CLIENTS];

	for (unsigned int i = 0; i < CLIENTS; i++) {
		if (i)
			clients[i] = igt_asahi_client_open(first->fd);
		const struct asahi_command turn = patience_turn(clients[i]);

		syncs[i] = syncobj_create(clients[i]->fd, 0);
		igt_asahi_submit_one(clients[i], &turn, syncs[i]);
	}
	for (unsigned int i = 0; i < CLIENTS; i++) {
		const unsigned int now = patience_whose_turn(clients);

		usleep(HOLD_US);
		clients[now]->words[ASAHI_GATE] = 1;
		igt_assert_eq(igt_asahi_wait(clients[now]->fd, syncs[now]), 0);
		igt_assert_eq_u32(clients[now]->words[ASAHI_RESULT], 1);
	}
}

static void patience_alone(struct asahi_client *client)
{
	const struct asahi_command gate = igt_asahi_gate(client, ASAHI_RESULT, 1);
	const uint32_t sync = syncobj_create(client->fd, 0);

	igt_asahi_submit_one(client, &gate, sync);
	usleep(ALONE_US);
	igt_assert(!igt_asahi_signalled(client->fd, sync));
	client->words[ASAHI_GATE] = 1;
	igt_assert_eq(igt_asahi_wait(client->fd, sync), 0);
	igt_assert_eq_u32(client->words[ASAHI_RESULT], 1);
}

static const struct asahi_client_test patience_tests[] = {
	{"one-submit", "Commands of one SUBMIT, each as long as a job may be.", patience_one_submit},
	{"equals", "Clients of the same priority take turns.", patience_equals},
	{"alone", "One shader runs for 45 s.", patience_alone},
};

int igt_main()
{
	igt_asahi_client_tests(patience_tests, ARRAY_SIZE(patience_tests));
}
