// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * The control socket: up to VAGX_CONTROL_CLIENTS clients send lines of text, and each line is
 * answered by one line. What a line means is the owner's affair (commands.c).
 *
 * The MMIO thread alone, which has the descriptors in its poll(). None of them blocks: a client
 * whose answer does not fit into its socket is dropped.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "control.h"
#include "listen.h"
#include "report.h"

struct client {
	int fd;				/* -1 when free */
	size_t used;
	char line[VAGX_CONTROL_LINE];
};

struct vagx_control {
	struct vagx_report *report;
	void (*command)(void *ctx, char *line, char *answer, size_t size);
	void *ctx;
	char *path;
	int listener;
	struct client client[VAGX_CONTROL_CLIENTS];
};

struct vagx_control *vagx_control_new(const struct vagx_control_config *config)
{
	struct vagx_control *control = calloc(1, sizeof(*control));

	if (!control)
		return NULL;

	control->report = config->report;
	control->command = config->command;
	control->ctx = config->ctx;
	for (unsigned int i = 0; i < VAGX_CONTROL_CLIENTS; i++)
		control->client[i].fd = -1;
	control->path = strdup(config->path);
	control->listener = control->path ?
		vagx_listen(control->path, VAGX_CONTROL_CLIENTS) : -1;
	if (control->listener < 0) {
		free(control->path);
		free(control);
		return NULL;
	}
	return control;
}

static void control_drop(struct client *client)
{
	close(client->fd);
	client->fd = -1;
}

void vagx_control_free(struct vagx_control *control)
{
	if (!control)
		return;

	for (unsigned int i = 0; i < VAGX_CONTROL_CLIENTS; i++) {
		if (control->client[i].fd >= 0)
			control_drop(&control->client[i]);
	}
	close(control->listener);
	unlink(control->path);
	free(control->path);
	free(control);
}

/* Return: a free place, or NULL; further clients wait in the queue of the listener then */
static struct client *control_free_client(struct vagx_control *control)
{
	for (unsigned int i = 0; i < VAGX_CONTROL_CLIENTS; i++) {
		if (control->client[i].fd < 0)
			return &control->client[i];
	}
	return NULL;
}

unsigned int vagx_control_poll(struct vagx_control *control, struct pollfd *fds)
{
	unsigned int count = 0;

	if (!control)
		return 0;

	if (control_free_client(control))
		fds[count++] = (struct pollfd){ .fd = control->listener,
						.events = POLLIN };
	for (unsigned int i = 0; i < VAGX_CONTROL_CLIENTS; i++) {
		if (control->client[i].fd >= 0)
			fds[count++] = (struct pollfd){
				.fd = control->client[i].fd,
				.events = POLLIN,
			};
	}
	return count;
}

static void control_accept_client(struct vagx_control *control)
{
	struct client *client = control_free_client(control);
	int fd;

	if (!client)
		return;
	fd = accept4(control->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0)
		return;
	client->fd = fd;
	client->used = 0;
}

/* Return: whether the whole answer went out */
static bool control_answer(struct client *client, char *text)
{
	size_t len = strcspn(text, "\r\n");

	text[len++] = '\n';
	return send(client->fd, text, len, MSG_NOSIGNAL | MSG_DONTWAIT) ==
	       (ssize_t)len;
}

static bool control_is_text(const char *line, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = line[i];

		if ((c < ' ' && c != '\t') || c == 0x7f)
			return false;
	}
	return true;
}

/* Return: whether to go on with this client */
static bool control_obey(struct vagx_control *control, struct client *client,
			 char *line, size_t len)
{
	char text[VAGX_CONTROL_ANSWER + 1];

	if (len && line[len - 1] == '\r')
		len--;
	line[len] = '\0';
	if (!control_is_text(line, len)) {
		snprintf(text, sizeof(text), "error not a line of text");
		control_answer(client, text);
		return false;
	}
	vagx_log(control->report, VAGX_LOG_INFO, "control: %s", line);
	text[0] = '\0';
	control->command(control->ctx, line, text, VAGX_CONTROL_ANSWER);
	vagx_log(control->report, VAGX_LOG_DEBUG, "control: answer: %s", text);
	return control_answer(client, text);
}

/* Return: whether to go on with this client */
static bool control_obey_lines(struct vagx_control *control, struct client *client)
{
	char too_long[] = "error the line is too long\n";
	char *line = client->line;
	char *end;

	while ((end = memchr(line, '\n', client->used))) {
		size_t len = end - line;

		if (!control_obey(control, client, line, len))
			return false;
		client->used -= len + 1;
		line = end + 1;
	}
	memmove(client->line, line, client->used);
	if (client->used < sizeof(client->line))
		return true;
	control_answer(client, too_long);
	return false;
}

static void control_serve(struct vagx_control *control, struct client *client)
{
	ssize_t got = recv(client->fd, client->line + client->used,
			   sizeof(client->line) - client->used, MSG_DONTWAIT);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got > 0) {
		client->used += got;
		if (control_obey_lines(control, client))
			return;
	}
	control_drop(client);
}

void vagx_control_process(struct vagx_control *control,
			  const struct pollfd *fds, unsigned int count)
{
	for (unsigned int n = 0; n < count; n++) {
		if (!fds[n].revents)
			continue;
		if (fds[n].fd == control->listener) {
			control_accept_client(control);
			continue;
		}
		for (unsigned int i = 0; i < VAGX_CONTROL_CLIENTS; i++) {
			if (control->client[i].fd == fds[n].fd)
				control_serve(control, &control->client[i]);
		}
	}
}
