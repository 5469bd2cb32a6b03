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
#include <unistd.h>

#include "commands.h"
#include "device.h"
#include "listen.h"
#include "options.h"
#include "report.h"
#include "soc.h"

/*
 * Signals are read from a descriptor by the MMIO thread. They have to be
 * blocked before the first thread starts.
 */
static int main_open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

/* Return: the connection, or -1 with errno; EINTR after a signal */
static int main_accept_one(int listener, int signal_fd)
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

static int main_get_connection(const struct vagx_options *options,
			       struct vagx_report *report, int signal_fd)
{
	int listener, fd;

	if (options->fd >= 0)
		return options->fd;

	listener = vagx_listen(options->socket, 1);
	if (listener < 0) {
		vagx_log(report, VAGX_LOG_ERROR, "%s: %s", options->socket,
			 strerror(errno));
		return -1;
	}
	vagx_log(report, VAGX_LOG_INFO,
		 "%s (%s), %u cores, firmware %s, %u threads for shaders, seed %llu: listening on %s",
		 options->soc->name, options->soc->chip,
		 vagx_gpu_active_cores(&options->soc->id), options->firmware, options->cores,
		 (unsigned long long)options->seed, options->socket);
	fd = main_accept_one(listener, signal_fd);
	if (fd < 0)
		vagx_log(report, VAGX_LOG_ERROR, "no connection: %s",
			 strerror(errno));
	close(listener);
	unlink(options->socket);
	return fd;
}

static struct vagx_boot_config main_boot_of(const struct vagx_options *options,
					    struct vagx_report *report)
{
	return (struct vagx_boot_config) {
		.report = report,
		.soc = options->soc,
		.firmware = options->firmware,
		.regions = options->regions,
		.hw_cal_a = options->hw_cal_a,
		.hw_cal_b = options->hw_cal_b,
		.globals = options->globals,
		.soft_faults = options->soft_faults,
	};
}

static int main_save_calibration(const struct vagx_options *options, struct vagx_report *report)
{
	struct vagx_boot_config config = main_boot_of(options, report);
	struct vagx_boot *boot = vagx_boot_new(&config);
	bool good = boot && vagx_boot_save(boot, options->save_calibration);

	vagx_boot_free(boot);
	return good ? VAGX_EXIT_OK : VAGX_EXIT_FAILURE;
}

/* Creates or empties a file. Return: false after a message. */
static bool main_empty_file(struct vagx_report *report, const char *path)
{
	FILE *file = fopen(path, "w");

	if (file && !fclose(file))
		return true;
	vagx_log(report, VAGX_LOG_ERROR, "%s: %s", path, strerror(errno));
	return false;
}

static int main_run(const struct vagx_options *options, struct vagx_report *report,
		    int signal_fd)
{
	struct vagx_device_config config = {
		.report = report,
		.soc = options->soc,
		.firmware = options->firmware,
		.boot = main_boot_of(options, report),
		.cores = options->cores,
		.jit = options->jit,
		.sanitizer = options->sanitizer,
		.unkind = options->unkind,
		.job_timeout_ms = options->job_timeout_ms,
		.halt_delay_ms = options->halt_delay_ms,
		.event_delay_ms = options->event_delay_ms,
		.doorbell_delay_ms = options->doorbell_delay_ms,
		.serial = options->serial,
		.unfair = options->unfair,
		.statistics = options->statistics,
		.late_threshold = options->late_threshold,
		.fault_bits = options->fault_bits,
		.write_back = options->write_back,
		.keep_holes = options->keep_holes,
		.tvb_pages = options->tvb_pages,
		.tvb_grow = options->tvb_grow,
		.mailbox_delay_ms = options->mailbox_delay_ms,
		.seed = options->seed,
		.power_off = options->power_off,
		.control = options->control,
		.command = vagx_command,
		.tlbi = options->tlbi,
		.trace = options->trace,
		.no_exec = options->no_exec,
		.poison = options->poison,
	};
	struct vagx_device *device;
	int status = VAGX_EXIT_FAILURE;
	bool findings;
	int fd;

	if (options->sanitizer.profile_trace &&
	    !main_empty_file(report, options->sanitizer.profile_trace))
		return VAGX_EXIT_FAILURE;
	if (options->dump)
		config.dump = fopen(options->dump, "w");
	if (options->dump && !config.dump) {
		vagx_log(report, VAGX_LOG_ERROR, "%s: %s", options->dump,
			 strerror(errno));
		return VAGX_EXIT_FAILURE;
	}
	device = vagx_device_new(&config);
	if (!device)
		return VAGX_EXIT_FAILURE;

	fd = main_get_connection(options, report, signal_fd);
	if (fd >= 0 && !vagx_device_serve(device, fd, signal_fd))
		status = VAGX_EXIT_OK;
	findings = vagx_device_findings(device);
	vagx_device_free(device);
	if (config.dump)
		fclose(config.dump);

	vagx_report_summary(report);
	if (vagx_report_failed(report) || findings)
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
	signal_fd = main_open_signals();
	if (!report || signal_fd < 0) {
		perror("vagx");
		return VAGX_EXIT_FAILURE;
	}

	if (options.save_calibration)
		status = main_save_calibration(&options, report);
	else
		status = main_run(&options, report, signal_fd);
	close(signal_fd);
	vagx_report_free(report);
	return status;
}
