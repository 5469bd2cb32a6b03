// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Clients of the control socket: lines, halves of lines, several clients.
 */
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "control.h"
#include "fuzz.h"

#define CLIENTS	6

/* A line has its end taken off, fits, and may be written to */
static void on_command(void *ctx, char *line, char *answer, size_t size)
{
	size_t len = strlen(line);

	FUZZ_CHECK(len < VAGX_CONTROL_LINE && !strchr(line, '\n') && size);
	memset(line, 'x', len);
	snprintf(answer, size, "%.*s", (int)(len * 20), line);
}

static void serve(struct vagx_control *control)
{
	struct pollfd fds[VAGX_CONTROL_FDS];
	unsigned int count = vagx_control_poll(control, fds), turns = 0;

	while (poll(fds, count, 0) > 0) {
		FUZZ_CHECK(++turns < 1000);
		vagx_control_process(control, fds, count);
		count = vagx_control_poll(control, fds);
	}
}

/* Who would have to wait for others to leave is not there: all are this thread. */
static int connect_now(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Each piece: who says it, how long it is, and what */
static void talk(struct vagx_control *control, const char *path, const uint8_t *data, size_t size)
{
	int client[CLIENTS];
	unsigned int i;
	size_t len;

	memset(client, -1, sizeof(client));
	while (size > 2) {
		i = data[0] % CLIENTS;
		len = data[1] * 8u < size - 2 ? data[1] * 8u : size - 2;
		if (client[i] < 0) {
			client[i] = connect_now(path);
		} else if (data[0] & 0x80) {
			close(client[i]);
			client[i] = -1;
		}
		if (client[i] >= 0)
			(void)!send(client[i], data + 2, len, MSG_DONTWAIT | MSG_NOSIGNAL);
		serve(control);
		data += 2 + len;
		size -= 2 + len;
	}
	for (i = 0; i < CLIENTS; i++) {
		if (client[i] >= 0)
			close(client[i]);
	}
	serve(control);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vagx_control_config config = {
		.report = fuzz_report(),
		.command = on_command,
	};
	struct vagx_control *control;
	char path[64];

	snprintf(path, sizeof(path), "/tmp/vagx-fuzz-%d", (int)getpid());
	config.path = path;
	control = vagx_control_new(&config);
	FUZZ_CHECK(control);
	talk(control, path, data, size);
	vagx_control_free(control);
	return 0;
}
