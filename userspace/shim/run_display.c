// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Starts a Weston without a screen and has it start Xwayland. Both draw on the virtual GPU, each
 * on its own, so that X11 programs get DRI3 and pass their buffers on to them. Weston
 * says in its log which display it has taken, and starts Xwayland when the first client
 * connects. That client is vagx-run itself: it waits for the server's answer, and stays
 * connected, since Xwayland ends with its last client. Weston is in a process group of its
 * own, which the terminal's signals do not reach, and ends with vagx-run. One thread.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "run_display.h"
#include "run_mesa.h"
#include "run_program.h"

/* Folder below the scratch folder, and its files */
#define FOLDER		"display"
#define SOCKET		"weston"
#define CONFIG		"weston.ini"
#define LOG		"weston.log"
#define REPORT		"report"

/* Sockets of X servers, by the display's number */
#define X_SOCKETS	"/tmp/.X11-unix"
#define LISTENING	"xserver listening on display :"

/* Seconds that the display may take to come, if the user says nothing else, and to go */
#define START_SECONDS	120
#define STOP_SECONDS	10
#define POLL_MS		20
/* Lines of the log that are shown if the display has not come up */
#define LOG_LINES	20

static struct {
	/* Weston, or 0 */
	pid_t pid;
	/* its status when it has ended */
	int status;
	/* connection to Xwayland, which keeps that */
	int client;
	char *folder;
} run_display;

bool run_display_parse(struct run_display *display, const char *size)
{
	int end = -1;

	*display = (struct run_display){ .width = 800, .height = 600 };
	if (!size)
		return true;
	if (sscanf(size, "%4ux%4u%n", &display->width, &display->height, &end) == 2 &&
	    end == (int)strlen(size) && display->width >= 64 && display->width <= 8192 &&
	    display->height >= 64 && display->height <= 8192)
		return true;
	fprintf(stderr, "vagx-run: --x11=%s: the size has to be WIDTHxHEIGHT, each from 64 to 8192\n",
		size);
	return false;
}

/* Return: whether both programs are installed; names a missing one. */
static bool run_display_is_installed(const char *xwayland)
{
	char *weston = run_program_find("weston");

	if (!weston)
		fputs("vagx-run: --x11 needs weston, which is not installed (Debian: weston)\n", stderr);
	if (!xwayland)
		fputs("vagx-run: --x11 needs Xwayland, which is not installed (Debian: xwayland)\n",
		      stderr);
	free(weston);
	return weston && xwayland;
}

/* Makes the folder with Weston's configuration. Return: false after a message. */
static bool run_display_prepare(const char *xwayland)
{
	char *path = run_format("%s/" CONFIG, run_display.folder);
	FILE *file = NULL;
	bool ok;

	/* Weston makes its socket there, but not the folder. It is everybody's. */
	if (!mkdir(X_SOCKETS, 01777))
		chmod(X_SOCKETS, 01777);
	ok = !mkdir(run_display.folder, 0700);
	if (ok)
		file = fopen(path, "we");
	ok = file && fprintf(file, "[xwayland]\npath=%s\n", xwayland) > 0;
	if (file && fclose(file))
		ok = false;
	if (!ok)
		fprintf(stderr, "vagx-run: %s: %s\n", path, strerror(errno));
	free(path);
	return ok;
}

/* In the child: becomes Weston, whose output is the log. Returns if that fails. */
static void run_display_execute(const struct run_display *display, pid_t parent)
{
	char *log = run_format("%s/" LOG, run_display.folder);
	char *report = run_format("%s/" REPORT, run_display.folder);
	char *config = run_format("--config=%s/" CONFIG, run_display.folder);
	char *width = run_format("--width=%u", display->width);
	char *height = run_format("--height=%u", display->height);
	int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int out = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
		return;
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		return;
	run_set("DISPLAY", NULL);
	run_set("WAYLAND_DISPLAY", NULL);
	run_set("WAYLAND_SOCKET", NULL);
	run_set("XDG_RUNTIME_DIR", run_display.folder);
	/* These are about the command's processes. */
	run_set("ASAHI_SHIM_LOG", NULL);
	run_set("ASAHI_SHIM_TRACE", NULL);
	run_set("ASAHI_SHIM_PROFILE", NULL);
	run_set("ASAHI_SHIM_CAPTURE", NULL);
	run_set("ASAHI_SHIM_REPORT", report);
	/* Without it, Xwayland does not ask clients for their sync objects, which it could not use. */
	run_set("ASAHI_SHIM_NO_EVENTFD", "1");
	execlp("weston", "weston", "--backend=headless", "--renderer=gl", "--shell=kiosk",
	       "--xwayland", "--idle-time=0", "--debug", "--socket=" SOCKET, config, width, height,
	       NULL);
	perror("weston");
}

/* Return: whether Weston has ended. Its status is kept. */
static bool run_display_has_ended(void)
{
	if (run_display.pid && waitpid(run_display.pid, &run_display.status, WNOHANG) > 0)
		run_display.pid = 0;
	return !run_display.pid;
}

/* Return: the number of the display that Weston has taken, or -1 as long as it has none */
static int run_display_number(void)
{
	char *path = run_format("%s/" LOG, run_display.folder), *line = NULL;
	FILE *file = fopen(path, "re");
	size_t size = 0;
	int number = -1;

	while (file && number < 0 && getline(&line, &size, file) > 0) {
		const char *at = strstr(line, LISTENING);

		/* Without its end, the line is still being written. */
		if (at && strchr(at, '\n'))
			number = atoi(at + strlen(LISTENING));
	}
	if (file)
		fclose(file);
	free(line);
	free(path);
	return number;
}

/*
 * Connects to an X server and asks for a session of protocol 11, without credentials. Return:
 * a descriptor, or -1 with errno.
 */
static int run_display_connect(int number)
{
	/* little-endian, whatever this machine is; no name and no data of an authorization */
	static const unsigned char setup[12] = { 'l', 0, 11, 0 };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), X_SOCKETS "/X%d", number);
	if (fd >= 0 && (connect(fd, (struct sockaddr *)&address, sizeof(address)) ||
			send(fd, setup, sizeof(setup), MSG_NOSIGNAL) != sizeof(setup))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/*
 * Waits for a turn, or until the X server says something. Return: 1 if it has accepted us, 0 if
 * it has said nothing yet, -1 if it has refused us or gone.
 */
static int run_display_listen(void)
{
	struct pollfd wait = { .fd = run_display.client, .events = POLLIN };
	unsigned char answer;

	/* poll() passes over a descriptor that is -1. */
	if (poll(&wait, 1, POLL_MS) <= 0)
		return 0;
	return read(run_display.client, &answer, 1) == 1 && answer == 1 ? 1 : -1;
}

static long run_display_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* Return: seconds that the display may take to come */
static long run_display_patience(void)
{
	const char *given = getenv("VAGX_RUN_X11_TIMEOUT");
	long seconds = given ? strtol(given, NULL, 10) : 0;

	return seconds > 0 ? seconds : START_SECONDS;
}

/* Waits for the X server's answer. Return: what is the matter, or NULL; @number is set. */
static const char *run_display_wait(int *number)
{
	long until = run_display_seconds() + run_display_patience();
	int heard = 0;

	*number = -1;
	while (!heard) {
		if (run_display_has_ended())
			return "Weston has ended";
		if (run_display_seconds() >= until)
			return run_display.client < 0 ? "Weston takes too long to start" :
							"Xwayland does not answer";
		if (*number < 0)
			*number = run_display_number();
		if (*number >= 0 && run_display.client < 0)
			run_display.client = run_display_connect(*number);
		heard = run_display_listen();
	}
	return heard > 0 ? NULL : "Xwayland refuses clients";
}

/* Prints the last lines of Weston's log. */
static void run_display_show_log(void)
{
	char *path = run_format("%s/" LOG, run_display.folder), *line = NULL;
	FILE *file = fopen(path, "re");
	size_t size = 0;
	long lines = 0;

	while (file && getline(&line, &size, file) > 0)
		lines++;
	if (file && !fseek(file, 0, SEEK_SET)) {
		while (getline(&line, &size, file) > 0) {
			if (lines-- <= LOG_LINES)
				fprintf(stderr, "  %s", line);
		}
	}
	if (file)
		fclose(file);
	free(line);
	free(path);
}

/* Has programs find this display and no other one. */
static void run_display_choose(int number)
{
	char *name = run_format(":%d", number);
	char *weston = run_format("%s/" SOCKET, run_display.folder);

	run_set("DISPLAY", name);
	/* Without a value, wayland-0 would be looked for. */
	run_set("WAYLAND_DISPLAY", "");
	run_set("WAYLAND_SOCKET", NULL);
	run_set("VAGX_RUN_WESTON", weston);
	free(weston);
	free(name);
}

static void run_display_end(void)
{
	long until = run_display_seconds() + STOP_SECONDS;

	if (run_display.client >= 0)
		close(run_display.client);
	run_display.client = -1;
	if (run_display.pid)
		kill(run_display.pid, SIGTERM);
	while (!run_display_has_ended()) {
		if (run_display_seconds() >= until)
			kill(run_display.pid, SIGKILL);
		poll(NULL, 0, POLL_MS);
	}
}

bool run_display_start(const struct run_display *display, const char *scratch)
{
	char *xwayland = run_program_find("Xwayland");
	const char *trouble;
	pid_t self = getpid();
	int number;
	bool ok;

	run_display.client = -1;
	run_display.folder = run_format("%s/" FOLDER, scratch);
	ok = run_display_is_installed(xwayland) && run_display_prepare(xwayland);
	free(xwayland);
	if (!ok)
		return false;
	run_display.pid = fork();
	if (!run_display.pid) {
		run_display_execute(display, self);
		_exit(127);
	}
	if (run_display.pid < 0) {
		perror("vagx-run: fork");
		run_display.pid = 0;
		return false;
	}
	trouble = run_display_wait(&number);
	if (trouble) {
		fprintf(stderr, "vagx-run: --x11: %s. Weston's log ends with\n", trouble);
		run_display_show_log();
		run_display_end();
		return false;
	}
	run_display_choose(number);
	return true;
}

bool run_display_stop(void)
{
	bool ended = run_display_has_ended();

	if (ended) {
		fprintf(stderr, "vagx-run: --x11: Weston has ended before the command, by %s %d. Its log ends with\n",
			WIFSIGNALED(run_display.status) ? "signal" : "status",
			WIFSIGNALED(run_display.status) ? WTERMSIG(run_display.status) :
							  WEXITSTATUS(run_display.status));
		run_display_show_log();
	}
	run_display_end();
	return !ended;
}

char *run_display_report(const char *scratch)
{
	return run_format("%s/" FOLDER "/" REPORT, scratch);
}

void run_display_clean_up(const char *scratch)
{
	char *path = run_format("%s/" FOLDER, scratch);
	DIR *folder = opendir(path);
	int fd = folder ? dirfd(folder) : -1;
	struct dirent *entry;

	while (fd >= 0 && (entry = readdir(folder)))
		unlinkat(fd, entry->d_name, 0);
	if (folder)
		closedir(folder);
	rmdir(path);
	free(path);
	free(run_display.folder);
}
