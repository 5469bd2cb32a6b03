// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "clock.h"

/* What the counter of Apple's SoCs runs at; holds until the guest says more */
#define DEFAULT_FREQUENCY 24000000

struct vagx_clock {
	pthread_mutex_t lock;		/* all below */
	uint64_t frequency;
	uint64_t guest;			/* counter at @host_ns */
	uint64_t host_ns;
};

uint64_t vagx_clock_host_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

struct vagx_clock *vagx_clock_new(void)
{
	struct vagx_clock *clock = calloc(1, sizeof(*clock));

	if (!clock)
		return NULL;

	pthread_mutex_init(&clock->lock, NULL);
	clock->frequency = DEFAULT_FREQUENCY;
	clock->host_ns = vagx_clock_host_ns();
	return clock;
}

void vagx_clock_free(struct vagx_clock *clock)
{
	if (!clock)
		return;

	pthread_mutex_destroy(&clock->lock);
	free(clock);
}

uint64_t vagx_clock_now(struct vagx_clock *clock)
{
	uint64_t ticks;
	__int128 ns;

	pthread_mutex_lock(&clock->lock);
	/* A sample may be from just after the caller's own reading */
	ns = (__int128)vagx_clock_host_ns() - clock->host_ns;
	ticks = clock->guest + (uint64_t)(ns * clock->frequency / 1000000000);
	pthread_mutex_unlock(&clock->lock);
	return ticks;
}

uint64_t vagx_clock_frequency(struct vagx_clock *clock)
{
	uint64_t frequency;

	pthread_mutex_lock(&clock->lock);
	frequency = clock->frequency;
	pthread_mutex_unlock(&clock->lock);
	return frequency;
}

void vagx_clock_set(struct vagx_clock *clock, uint64_t frequency,
		    uint64_t guest, uint64_t host_ns)
{
	if (!frequency || frequency > UINT32_MAX)
		return;

	pthread_mutex_lock(&clock->lock);
	clock->frequency = frequency;
	clock->guest = guest;
	clock->host_ns = host_ns;
	pthread_mutex_unlock(&clock->lock);
}
