// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * swap: two clients that have more memory together than the machine, and work in turns. What
 * the one needs is taken from the other one, which gets it back when it is its turn, and
 * nobody is killed. For a machine with swap and a GiB or so. It is no test of IGT's, since
 * nothing happens where there is no swap, and a larger machine takes long.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asahi/asahi_compute.h"
#include "igt.h"
#include "igt_syncobj.h"

#define MB		(1ULL << 20)
#define BO_BYTES	(8 * MB)
#define CLIENTS		2
#define ROUNDS		3
/* Each client has so much of the machine's memory. */
#define PERCENT		60
#define MOST_BOS	128
#define PAGE_WORDS	(IGT_ASAHI_PAGE / sizeof(uint32_t))

/**
 * struct swapper - one of the clients
 * @client: the client
 * @bos: buffers
 * @bo: the buffers
 * @copy: copies a word of each to the client's words
 */
struct swapper {
	struct asahi_client *client;
	unsigned int bos;
	struct asahi_bo bo[MOST_BOS];
	struct asahi_command copy[MOST_BOS];
};

static uint64_t swap_meminfo(const char *key)
{
	FILE *fp = fopen("/proc/meminfo", "r");
	unsigned long long kib = 0;
	char name[64];

	igt_assert(fp);
	while (fscanf(fp, "%63s %llu%*[^\n]", name, &kib) == 2)
		if (!strcmp(name, key))
			break;
	fclose(fp);
	return kib * 1024;
}

static uint32_t swap_pattern(unsigned int client, unsigned int bo, uint64_t page)
{
	return (client + 1) * 0x10000000 + bo * 0x10000 + page + 1;
}

/* Copies the first word of a buffer's last page to a word of the client's. */
static struct asahi_command swap_copy(struct asahi_client *client, const struct asahi_bo *bo,
				      unsigned int index)
{
	const uint64_t uniforms[] = {
		bo->addr + bo->size - IGT_ASAHI_PAGE,
		igt_asahi_word_addr(client, ASAHI_RESULT + index),
	};
	const struct asahi_dispatch dispatch = {
		.shader = IGT_ASAHI_SHADER_PEEK,
		.uniforms = uniforms,
		.uniform_bytes = sizeof(uniforms),
		.global = { 1, 1, 1 },
		.local = { 32, 1, 1 },
	};

	return igt_asahi_command(client, &dispatch, 1);
}

/* The first word of each page; the rest is zero, and takes next to nothing in swap. */
static void swap_fill(struct swapper *swapper, unsigned int number, unsigned int index)
{
	struct asahi_bo bo = igt_asahi_bo_create(swapper->client, BO_BYTES);
	const unsigned int last = BO_BYTES / IGT_ASAHI_PAGE - 1;
	volatile uint32_t *words = bo.map;

	for (uint64_t page = 0; page <= last; page++)
		words[page * PAGE_WORDS] = swap_pattern(number, index, page);
	swapper->bo[index] = bo;
	swapper->copy[index] = swap_copy(swapper->client, &bo, index);
}

static void swap_open(int fd, struct swapper *swapper, unsigned int number)
{
	const uint64_t bytes = swap_meminfo("MemTotal:") * PERCENT / 100;

	swapper->client = igt_asahi_client_open(fd);
	swapper->bos = bytes / BO_BYTES < MOST_BOS ? bytes / BO_BYTES : MOST_BOS;
	for (unsigned int i = 0; i < swapper->bos; i++)
		swap_fill(swapper, number, i);
}

/* SUBMIT needs all of the client's memory, whatever the command touches. */
static void swap_turn(struct swapper *swapper, unsigned int number)
{
	const unsigned int last = BO_BYTES / IGT_ASAHI_PAGE - 1;
	struct timespec start = { 0 };

	igt_nsec_elapsed(&start);
	for (unsigned int i = 0; i < swapper->bos; i++) {
		swapper->client->words[ASAHI_RESULT + i] = 0;
		igt_assert_eq(igt_asahi_run(swapper->client, &swapper->copy[i]), 0);
		if (!i)
			igt_info("client %u has its memory after %llu ms\n", number,
				 (unsigned long long)igt_nsec_elapsed(&start) / 1000000);
		igt_assert_eq_u32(swapper->client->words[ASAHI_RESULT + i],
				  swap_pattern(number, i, last));
	}
}

static void swap_check(const struct swapper *swapper, unsigned int number)
{
	for (unsigned int i = 0; i < swapper->bos; i++) {
		const volatile uint32_t *words = swapper->bo[i].map;

		for (uint64_t page = 0; page < BO_BYTES / IGT_ASAHI_PAGE; page++)
			igt_assert_eq_u32(words[page * PAGE_WORDS], swap_pattern(number, i, page));
	}
}

static void swap_test_turns(int fd)
{
	static struct swapper swapper[CLIENTS];
	const uint64_t before = swap_meminfo("SwapFree:");

	igt_require_f(before, "swap\n");
	for (unsigned int i = 0; i < CLIENTS; i++)
		swap_open(fd, &swapper[i], i);
	for (unsigned int round = 0; round < ROUNDS; round++)
		for (unsigned int i = 0; i < CLIENTS; i++)
			swap_turn(&swapper[i], i);
	igt_info("%llu MiB are in swap\n",
		 (unsigned long long)(before - swap_meminfo("SwapFree:")) / MB);
	igt_assert_lt_u64(swap_meminfo("SwapFree:"), before);
	for (unsigned int i = 0; i < CLIENTS; i++)
		swap_check(&swapper[i], i);
	for (unsigned int i = 0; i < CLIENTS; i++)
		igt_asahi_client_close(swapper[i].client);
}

int igt_main()
{
	int fd;

	igt_fixture() {
		fd = drm_open_driver_render(DRIVER_ASAHI);
	}

	igt_describe("Two clients with more memory than there is work in turns.");
	igt_subtest("turns")
		swap_test_turns(fd);

	igt_fixture() {
		igt_asahi_clients_close();
		drm_close_driver(fd);
	}
}
