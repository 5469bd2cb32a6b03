// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * A guest that writes nonsense into what it shares with the firmware, before
 * it starts and while it works. Whatever happens to the virtual firmware,
 * nothing happens to the process, and the firmware can still be stopped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include "firmware/tests/rig.h"

#define ROUNDS		120
#define COMMANDS	4

static uint32_t pick(unsigned int *seed, uint32_t old)
{
	static const uint32_t special[] = {
		0, 1, 3, 0x7f, 0xff, 0x100, 0x4000, 0x7fffffff, 0x80000000,
		0xffffffa0, 0xffffffff, 0x40000000, 0x44000000,
	};
	unsigned int n = sizeof(special) / sizeof(special[0]);

	switch (rand_r(seed) % 4) {
	case 0:
		return special[rand_r(seed) % n];
	case 1:
		return old ^ 1U << rand_r(seed) % 32;
	case 2:
		return old + (rand_r(seed) % 2 ? 0x4000 : 4);
	default:
		return (uint32_t)rand_r(seed) * 2654435761U;
	}
}

/* Somewhere in what the guest has written; most of the memory is zero */
static volatile uint32_t *aim(struct rig *rig, unsigned int *seed)
{
	uint64_t words = rig->ram_next / 4;
	uint32_t *ram = (uint32_t *)rig->ram;
	uint64_t word = 0;

	for (unsigned int i = 0; i < 200; i++) {
		word = ((uint64_t)rand_r(seed) << 16 ^ rand_r(seed)) % words;
		if (ram[word])
			break;
	}
	return &ram[word];
}

static void scribble(struct rig *rig, unsigned int *seed, unsigned int count)
{
	while (count--) {
		volatile uint32_t *word = aim(rig, seed);

		*word = pick(seed, *word);
	}
}

static void shout(struct rig *rig, unsigned int *seed)
{
	uint64_t msg = (uint64_t)rand_r(seed) << 32 | rand_r(seed);

	if (rand_r(seed) % 2)
		msg = (0x81ULL + rand_r(seed) % 4) << 48 | (msg & 0xff);
	vagx_fw_message(rig->fw, 0x20 + rand_r(seed) % 2, msg);
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void one_round(unsigned int seed, bool before_boot)
{
	struct rig *rig = rig_new();
	struct rig_command command[COMMANDS];
	struct rig_queue queue[2];
	uint64_t start;

	for (unsigned int i = 0; i < 2; i++)
		rig_queue_new(rig, &queue[i], 2, 3 + i);
	for (unsigned int i = 0; i < COMMANDS; i++)
		rig_compute_new(rig, &queue[i % 2], &command[i]);

	if (before_boot) {
		scribble(rig, &seed, 1 + rand_r(&seed) % 40);
		vagx_fw_start(rig->fw);
		rig_init(rig);
		rig_initialize(rig);
		usleep(2000);
	} else {
		rig_boot(rig);
	}
	for (unsigned int i = 0; i < COMMANDS; i++) {
		scribble(rig, &seed, rand_r(&seed) % 10);
		rig_submit(rig, &queue[i % 2], command[i].command.va);
		rig_doorbell(rig, 2 + 2 * 4);
		shout(rig, &seed);
		usleep(300);
	}
	rig_resume(rig);
	scribble(rig, &seed, 20);
	usleep(1000);

	start = now_ms();
	vagx_fw_quiesce(rig->fw);
	assert_true(now_ms() - start < 10000);
	rig_free(rig);
}

static void before_boot(void **state)
{
	for (unsigned int seed = 1; seed <= ROUNDS; seed++)
		one_round(seed, true);
}

static void while_it_runs(void **state)
{
	for (unsigned int seed = 1; seed <= ROUNDS; seed++)
		one_round(seed, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(before_boot),
		cmocka_unit_test(while_it_runs),
	};

	return cmocka_run_group_tests_name("nonsense", tests, NULL, NULL);
}
