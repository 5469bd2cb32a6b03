/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Render work for tests of the asahi driver. Nothing is drawn, but either half of a
 * render can be made to wait for the test: its vertex work by a control stream that
 * goes around in a circle, its fragment work by a program that waits for a word.
 */
#ifndef ASAHI_RENDER_H
#define ASAHI_RENDER_H

#include "asahi_compute.h"

/* struct asahi_render - as it stands in a command buffer */
struct asahi_render {
	struct drm_asahi_cmd_header header;
	struct drm_asahi_cmd_render render;
};

/**
 * struct asahi_times - memory that times are written to
 * @object: handle that commands name
 * @map: the same for the CPU, all zero at first
 */
struct asahi_times {
	uint32_t object;
	volatile uint64_t *map;
};

/* igt_asahi_render - without barriers, a square of so many pixels; its stream is empty */
struct asahi_render igt_asahi_render(struct asahi_client *client, unsigned int size);

/**
 * igt_asahi_render_write - Let the fragment work write a word
 * @client: the client
 * @render: command
 * @gate: address of a word; nothing is written as long as that is 0
 * @addr: where to write
 * @value: what
 */
void igt_asahi_render_write(struct asahi_client *client, struct asahi_render *render,
			    uint64_t gate, uint64_t addr, uint32_t value);

/**
 * igt_asahi_render_circle - Let the vertex work go around in a circle
 * @client: the client
 * @render: command
 *
 * Return: the low half of the address that the stream goes to, to be replaced by
 * igt_asahi_circle_end() or igt_asahi_circle_fault()
 */
volatile uint32_t *igt_asahi_render_circle(struct asahi_client *client,
					   struct asahi_render *render);
/* igt_asahi_circle_end - the stream comes to its end */
void igt_asahi_circle_end(struct asahi_client *client, volatile uint32_t *circle);
/* igt_asahi_circle_fault - the stream goes to where nothing is */
void igt_asahi_circle_fault(volatile uint32_t *circle);

/* igt_asahi_submit_render - return: what SUBMIT says */
int igt_asahi_submit_render(struct asahi_client *client, uint32_t queue,
			    const struct asahi_render *render, uint32_t out);
/* igt_asahi_run_render - submits and waits; return: the error of either */
int igt_asahi_run_render(struct asahi_client *client, uint32_t queue,
			 const struct asahi_render *render);

struct asahi_times igt_asahi_times_create(struct asahi_client *client);
/* igt_asahi_time_comes - wait until a time has been written */
void igt_asahi_time_comes(const struct asahi_times *times, unsigned int index);

#endif
