// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * behind: work behind a job that never ends. The driver takes that job's memory away, and the
 * firmware goes on with the next one of the queue at once. That one finds no memory of its client
 * either and fails, but the firmware finds its own lists. Also a lost job that does not need that
 * memory. For a firmware that lets work run, and for tools/guest/tests/behind, which sets
 * hang_limit.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "asahi/asahi_render.h"
#include "igt.h"
#include "igt_syncobj.h"

/*
 * The kernel's range of an address space, among what the USC addresses. It begins with a page of
 * the driver's to which the GPU may write.
 */
#define KERNEL_START	(IGT_ASAHI_USC_BASE + 0x80000000ULL)
#define KERNEL_END	(KERNEL_START + 0x20000000ULL)
#define KERNEL_GATE	(KERNEL_START + 0x2000)

/* To the client's own queue; the gate at @addr stays closed. Return: the fence of the job */
static uint32_t behind_submit_gate(struct asahi_client *client, uint64_t addr)
{
	const struct asahi_times times = igt_asahi_times_create(client);
	struct asahi_command gate =
		igt_asahi_gate_at(client, addr, igt_asahi_word_addr(client, ASAHI_RESULT), 1);
	const uint32_t sync = syncobj_create(client->fd, 0);

	gate.compute.ts.start.handle = times.object;
	igt_asahi_submit_one(client, &gate, sync);
	igt_asahi_time_comes(&times, 0);
	return sync;
}

static uint32_t behind_submit_lost(struct asahi_client *client)
{
	client->words[ASAHI_GATE] = 0;
	return behind_submit_gate(client, igt_asahi_word_addr(client, ASAHI_GATE));
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

/*
 * A client whose endless shader, and all that it reads, is in memory of the driver's: it does not
 * fault when the client's memory is taken away.
 */
static void behind_in_kernel_memory(struct asahi_client *first)
{
	struct asahi_client *client =
		igt_asahi_client_open_at(first->fd, KERNEL_START, KERNEL_END);
	const struct igt_asahi_code *code = &igt_asahi_shaders[IGT_ASAHI_SHADER_GATE];

	for (size_t i = 0; i < code->size; i += 4) {
		struct asahi_command store;
		uint32_t word = 0;

		memcpy(&word, code->code + i, code->size - i < 4 ? code->size - i : 4);
		store = igt_asahi_store(client, KERNEL_START + i, word);
		igt_assert_eq(igt_asahi_run(client, &store), 0);
	}
	client->programs[IGT_ASAHI_SHADER_GATE] = KERNEL_START - IGT_ASAHI_USC_BASE;
	igt_assert_eq(igt_asahi_wait(client->fd, behind_submit_gate(client, KERNEL_GATE)), -EIO);
	igt_assert_eq_u32(client->words[ASAHI_RESULT], 0);
}

static const struct asahi_client_test behind_tests[] = {
	{"compute", "Compute work behind a job that is lost.", behind_compute},
	{"first-render", "The first render of a queue behind one.", behind_first_render},
	{"later-render", "And a later one.", behind_later_render},
	{"kernel-memory", "A lost job that needs no memory of its client.",
	 behind_in_kernel_memory},
	{"left", "Both stay in flight until the program is killed.", behind_left},
};

int igt_main()
{
	igt_asahi_client_tests(behind_tests, ARRAY_SIZE(behind_tests));
}
