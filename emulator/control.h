/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_CONTROL_H
#define VAGX_CONTROL_H

#include <poll.h>
#include <stddef.h>

struct vagx_report;

/*
 * The control socket: a Unix stream socket that takes one command a line and
 * answers each with one line. It knows nothing of the commands. Everything
 * happens on the thread that polls; nothing here waits, and a client that
 * sends nonsense or reads no answers loses its connection at worst.
 */
#define VAGX_CONTROL_CLIENTS	4
#define VAGX_CONTROL_FDS	(VAGX_CONTROL_CLIENTS + 1)
#define VAGX_CONTROL_LINE	1024	/* with its end */
#define VAGX_CONTROL_ANSWER	1024	/* without its end, with the 0 */

struct vagx_control;

struct vagx_control_config {
	struct vagx_report *report;
	const char *path;		/* of the socket; an old one is replaced */
	/*
	 * One line without its end, which may be modified. Puts an answer of
	 * one line into @answer.
	 */
	void (*command)(void *ctx, char *line, char *answer, size_t size);
	void *ctx;
};

/**
 * vagx_control_new() - listen
 *
 * Return: the control, or NULL with errno set.
 */
struct vagx_control *vagx_control_new(const struct vagx_control_config *config);
/* Closes all connections and removes the socket; NULL is allowed */
void vagx_control_free(struct vagx_control *control);

/**
 * vagx_control_poll() - what to poll for
 * @control: the control, or NULL
 * @fds: at least VAGX_CONTROL_FDS entries
 *
 * Return: how many entries were filled.
 */
unsigned int vagx_control_poll(struct vagx_control *control,
			       struct pollfd *fds);

/* What poll() found of these entries; NULL is allowed */
void vagx_control_process(struct vagx_control *control,
			  const struct pollfd *fds, unsigned int count);

#endif
