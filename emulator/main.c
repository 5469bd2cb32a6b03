// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "device.h"
#include "options.h"
#include "report.h"

/*
 * Signals are read from a descriptor by the MMIO thread. They have to be
 * blocked before the first thread starts.
 */
static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

/* A socket that an earlier run left behind; anything else is in the way */
static void remove_stale(const char *path)
{
	struct stat st;

	if (!lstat(path, &st) && S_ISSOCK(st.st_mode))
		unlink(path);
}

static int listen_on(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(address.sun_path, path);

	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	remove_stale(path);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(fd, 1)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Return: the connection, or -1 with errno; EINTR after a signal */
static int accept_one(int listener, int signal_fd)
{
	struct pollfd fds[] = {
		{ .fd = listener, .events = POLLIN },
		{ .fd = signal_fd, .events = POLLIN },
	};

	while (poll(fds, 2, -1) < 0) {
		if (errno != EINTR)
			return -1;
	}
	if (fds[1].revents) {
		errno = EINTR;
		return -1;
	}
	return accept4(listener, NULL, NULL, SOCK_CLOEXEC);
}

static int get_connection(const struct vagx_options *options,
			  struct vagx_report *report, int signal_fd)
{
	int listener, fd;

	if (options->fd >= 0)
		return options->fd;

	listener = listen_on(options->socket);
	if (listener < 0) {
		vagx_log(report, VAGX_LOG_ERROR, "%s: %s", options->socket,
			 strerror(errno));
		return -1;
	}
	vagx_log(report, VAGX_LOG_INFO,
		 "%s (%s), firmware %s, %u cores: listening on %s",
		 options->soc->name, options->soc->chip, options->firmware,
		 options->cores, options->socket);
	fd = accept_one(listener, signal_fd);
	if (fd < 0)
		vagx_log(report, VAGX_LOG_ERROR, "no connection: %s",
			 strerror(errno));
	close(listener);
	unlink(options->socket);
	return fd;
}

static int run(const struct vagx_options *options, struct vagx_report *report,
	       int signal_fd)
{
	struct vagx_device_config config = {
		.report = report,
		.id = options->soc->id,
		.firmware = options->firmware,
		.oas_bits = options->soc->oas_bits,
		.boot = {
			.regions = options->regions,
			.hw_cal_a = options->hw_cal_a,
			.hw_cal_b = options->hw_cal_b,
			.globals = options->globals,
			.soft_faults = options->soft_faults,
		},
		.cores = options->cores,
		.job_timeout_ms = options->job_timeout_ms,
		.mailbox_delay_ms = options->mailbox_delay_ms,
		.no_exec = options->no_exec,
	};
	struct vagx_device *device = vagx_device_new(&config);
	int status = VAGX_EXIT_FAILURE;
	int fd;

	if (!device)
		return VAGX_EXIT_FAILURE;

	fd = get_connection(options, report, signal_fd);
	if (fd >= 0 && !vagx_device_serve(device, fd, signal_fd))
		status = VAGX_EXIT_OK;
	vagx_device_free(device);

	vagx_report_summary(report);
	if (vagx_report_failed(report))
		status = VAGX_EXIT_VIOLATION;
	return status;
}

int main(int argc, char **argv)
{
	struct vagx_report_config report_config = { 0 };
	struct vagx_options options;
	struct vagx_report *report;
	int signal_fd;
	int status;

	if (!vagx_options_parse(&options, argc, argv, &status))
		return status;

	report_config.level = options.log;
	report_config.lenient = options.lenient;
	report = vagx_report_new(&report_config);
	signal_fd = open_signals();
	if (!report || signal_fd < 0) {
		perror("vagx");
		return VAGX_EXIT_FAILURE;
	}

	status = run(&options, report, signal_fd);
	close(signal_fd);
	vagx_report_free(report);
	return status;
}
