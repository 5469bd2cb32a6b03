/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Renders that draw nothing, for tests of what is around them: memory, slots, order.
 */
#ifndef ASAHI_EMPTY_H
#define ASAHI_EMPTY_H

#include <stdint.h>

#include "asahi_compute.h"

/**
 * igt_asahi_submit_empty - submit a render whose control stream ends at once
 * @client: client
 * @queue: queue of the client
 * @size: width and height of the framebuffer in pixels
 * @in: sync object that it waits for, or 0
 *
 * Return: a new sync object that it signals
 */
uint32_t igt_asahi_submit_empty(struct asahi_client *client, uint32_t queue, unsigned int size,
				uint32_t in);

/* igt_asahi_finish - wait until it has signalled, without an error, and destroy it */
void igt_asahi_finish(struct asahi_client *client, uint32_t sync);

#endif
