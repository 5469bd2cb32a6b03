// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * Sends one command to vagx's control socket and prints the answer.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "control.h"
#include "listen.h"

enum { EXIT_OK, EXIT_REFUSED, EXIT_USAGE, EXIT_NO_ANSWER };

/* Longer than vagx takes for any command */
#define ANSWER_SECONDS	10

static int vagx_ctl_usage(FILE *to, int status)
{
	fputs("usage: vagx-ctl SOCKET COMMAND [ARGUMENT]...\n"
	      "Sends one command to the control socket of vagx and prints the answer.\n"
	      "\"vagx-ctl SOCKET help\" lists the commands.\n"
	      "Exit status: 0 for \"ok\", 1 for \"error\", 2 for wrong usage, 3 without an answer.\n",
	      to);
	return status;
}

static bool vagx_ctl_join(char *line, size_t size, char **words)
{
	size_t used = 0;

	for (; *words; words++) {
		size_t len = strlen(*words);

		if (used + len + 2 > size)
			return false;
		memcpy(line + used, *words, len);
		used += len;
		line[used++] = words[1] ? ' ' : '\n';
	}
	line[used] = '\0';
	return strchr(line, '\n') == line + used - 1;
}

static bool vagx_ctl_receive_line(int fd, char *line, size_t size)
{
	size_t used = 0;

	while (used < size - 1) {
		ssize_t got = recv(fd, line + used, size - 1 - used, 0);

		if (got <= 0)
			return false;
		used += got;
		line[used] = '\0';
		if (line[used - 1] == '\n')
			return true;
	}
	return false;
}

int main(int argc, char **argv)
{
	struct timeval timeout = { .tv_sec = ANSWER_SECONDS };
	char line[VAGX_CONTROL_LINE], answer[VAGX_CONTROL_ANSWER + 2];
	size_t len;
	int fd;

	if (argc == 2 && !strcmp(argv[1], "--help"))
		return vagx_ctl_usage(stdout, EXIT_OK);
	if (argc < 3)
		return vagx_ctl_usage(stderr, EXIT_USAGE);
	if (!vagx_ctl_join(line, sizeof(line), argv + 2)) {
		fputs("vagx-ctl: the command is no line, or too long\n", stderr);
		return EXIT_USAGE;
	}

	fd = vagx_connect(argv[1]);
	if (fd < 0) {
		perror(argv[1]);
		return EXIT_NO_ANSWER;
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	len = strlen(line);
	if (send(fd, line, len, MSG_NOSIGNAL) != (ssize_t)len ||
	    !vagx_ctl_receive_line(fd, answer, sizeof(answer))) {
		fputs("vagx-ctl: no answer\n", stderr);
		close(fd);
		return EXIT_NO_ANSWER;
	}
	close(fd);
	fputs(answer, stdout);
	return strncmp(answer, "ok", 2) || !strchr(" \n", answer[2]) ? EXIT_REFUSED : EXIT_OK;
}
