// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "listen.h"

static bool listen_set_path(struct sockaddr_un *address, const char *path)
{
	size_t len = strlen(path);

	if (len >= sizeof(address->sun_path)) {
		errno = ENAMETOOLONG;
		return false;
	}
	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	memcpy(address->sun_path, path, len + 1);
	return true;
}

static void listen_remove_stale(const char *path)
{
	struct stat st;

	if (!lstat(path, &st) && S_ISSOCK(st.st_mode))
		unlink(path);
}

int vagx_listen(const char *path, int backlog)
{
	struct sockaddr_un address;
	int fd;

	if (!listen_set_path(&address, path))
		return -1;

	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	listen_remove_stale(path);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(fd, backlog)) {
		close(fd);
		return -1;
	}
	return fd;
}

int vagx_connect(const char *path)
{
	struct sockaddr_un address;
	int fd;

	if (!listen_set_path(&address, path))
		return -1;

	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address))) {
		close(fd);
		return -1;
	}
	return fd;
}
