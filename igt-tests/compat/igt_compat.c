// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * See igt_core.h.
 */
#include <fcntl.h>
#include <fnmatch.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#include "igt.h"
#include "igt_rest.h"

#define MAX_CHILDREN	64

enum result { SUCCESS, SKIP, FAIL };

sigjmp_buf igt_compat_jump;

static const char *igt_compat_wanted;
static bool igt_compat_list_only;
static unsigned int igt_compat_matched;
static unsigned int igt_compat_counts[3];

/* The block that a check would leave. */
static enum { OUTSIDE, IN_FIXTURE, IN_SUBTEST } igt_compat_block;
static char igt_compat_current[128];
static double igt_compat_started;

/* A fixture failed or skipped, and so do all subtests of its group. */
static enum result igt_compat_group_result = SUCCESS;
static bool igt_compat_fixture_ran;

static pid_t igt_compat_children[MAX_CHILDREN];
static unsigned int igt_compat_child_count;
static bool igt_compat_is_child;

double igt_compat_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void igt_compat_usage(FILE *fp, const char *name)
{
	fprintf(fp,
		"usage: %s [--list-subtests] [--run-subtest PATTERN]\n"
		"Exit status: 0 success, 77 skipped, 79 nothing selected, 98 failure\n",
		name);
}

static void igt_compat_report(const char *result)
{
	printf("Subtest %s: %s (%.3fs)\n", igt_compat_current, result,
	       igt_compat_now() - igt_compat_started);
	fflush(stdout);
}

/* Only what is safe in a signal handler. */
static void igt_compat_crashed(int sig)
{
	static const char text[] = "Subtest crashed: CRASH\n";
	ssize_t written = write(STDOUT_FILENO, text, sizeof(text) - 1);

	(void)written;
	_exit(128 + sig);
}

void igt_compat_init(int argc, char **argv)
{
	static const struct option options[] = {
		{ "list-subtests", no_argument, NULL, 'l' },
		{ "run-subtest", required_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (c) {
		case 'l':
			igt_compat_list_only = true;
			break;
		case 'r':
			igt_compat_wanted = optarg;
			break;
		case 'h':
			igt_compat_usage(stdout, argv[0]);
			exit(IGT_EXIT_SUCCESS);
		default:
			igt_compat_usage(stderr, argv[0]);
			exit(IGT_EXIT_INVALID);
		}
	}
	signal(SIGSEGV, igt_compat_crashed);
	signal(SIGBUS, igt_compat_crashed);
	signal(SIGABRT, igt_compat_crashed);
}

void igt_compat_exit(void)
{
	if (igt_compat_list_only)
		exit(IGT_EXIT_SUCCESS);
	if (!igt_compat_matched) {
		fprintf(stderr, "no subtest was selected\n");
		exit(IGT_EXIT_INVALID);
	}
	if (igt_compat_counts[FAIL])
		exit(IGT_EXIT_FAILURE);
	exit(igt_compat_counts[SUCCESS] ? IGT_EXIT_SUCCESS : IGT_EXIT_SKIP);
}

bool igt_compat_fixture(void)
{
	/* Asked again after the block, and after it was left by a jump. */
	if (igt_compat_list_only || igt_compat_fixture_ran || igt_compat_group_result != SUCCESS) {
		igt_compat_fixture_ran = false;
		igt_compat_block = OUTSIDE;
		return false;
	}
	igt_compat_fixture_ran = true;
	igt_compat_block = IN_FIXTURE;
	return true;
}

void igt_compat_fixture_end(void)
{
	igt_compat_block = OUTSIDE;
}

static void igt_compat_end_subtest(enum result result)
{
	static const char *const names[] = { "SUCCESS", "SKIP", "FAIL" };

	/* One that has failed may have left anything. */
	if (result == SUCCESS && !igt_compat_at_rest())
		result = FAIL;
	igt_compat_report(names[result]);
	igt_compat_counts[result]++;
	igt_compat_block = OUTSIDE;
}

bool igt_compat_subtest(const char *name)
{
	if (igt_compat_wanted && fnmatch(igt_compat_wanted, name, 0))
		return false;
	igt_compat_matched++;
	if (igt_compat_list_only) {
		printf("%s\n", name);
		return false;
	}
	snprintf(igt_compat_current, sizeof(igt_compat_current), "%s", name);
	igt_compat_started = igt_compat_now();
	if (igt_compat_group_result != SUCCESS) {
		igt_compat_end_subtest(igt_compat_group_result);
		return false;
	}
	printf("Starting subtest: %s\n", igt_compat_current);
	fflush(stdout);
	igt_compat_block = IN_SUBTEST;
	return true;
}

/* The state is what held before the group, and whether its body has run. */
#define GROUP_RAN	0x10

int igt_compat_group(void)
{
	return igt_compat_group_result;
}

bool igt_compat_group_end(int *state)
{
	if (*state & GROUP_RAN) {
		igt_compat_group_result = *state & ~GROUP_RAN;
		return true;
	}
	*state |= GROUP_RAN;
	return false;
}

static void igt_compat_kill_children(void)
{
	while (igt_compat_child_count) {
		kill(igt_compat_children[--igt_compat_child_count], SIGKILL);
		waitpid(igt_compat_children[igt_compat_child_count], NULL, 0);
	}
}

/* Never falls back into the block: its condition is asked no more. */
static igt_noreturn void igt_compat_leave(enum result result)
{
	if (igt_compat_is_child)
		_exit(result == SUCCESS ? IGT_EXIT_SUCCESS :
		      result == SKIP ? IGT_EXIT_SKIP : IGT_EXIT_FAILURE);
	igt_compat_kill_children();
	if (igt_compat_block == OUTSIDE) {
		fprintf(stderr, "a check outside of all blocks\n");
		exit(IGT_EXIT_ABORT);
	}
	if (igt_compat_block == IN_SUBTEST) {
		igt_compat_end_subtest(result);
	} else {
		igt_compat_group_result = result;
		igt_compat_fixture_ran = false;
		igt_compat_block = OUTSIDE;
	}
	siglongjmp(igt_compat_jump, 1);
}

void igt_success(void)
{
	igt_compat_leave(SUCCESS);
}

void igt_compat_skip(const char *where, const char *check, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: skipped%s%s: ", where, *check ? ", needs " : "",
		check);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	igt_compat_leave(SKIP);
}

void igt_compat_fail(const char *where, int line, const char *check,
		     const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s:%d: failed: %s: ", where, line, check);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	igt_compat_leave(FAIL);
}

void igt_info(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
}

void igt_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
}

/* In the parent the block is skipped, in the child it is all that runs. */
static pid_t igt_compat_fork_child(void)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	igt_assert(pid >= 0);
	if (!pid) {
		igt_compat_is_child = true;
		igt_compat_child_count = 0;
	}
	return pid;
}

bool igt_compat_fork(void)
{
	pid_t pid;

	igt_assert(igt_compat_child_count < MAX_CHILDREN);
	pid = igt_compat_fork_child();
	if (pid)
		igt_compat_children[igt_compat_child_count++] = pid;
	return !pid;
}

void igt_compat_child_end(void)
{
	_exit(IGT_EXIT_SUCCESS);
}

void igt_waitchildren(void)
{
	unsigned int bad = 0;
	int status;

	while (igt_compat_child_count) {
		waitpid(igt_compat_children[--igt_compat_child_count], &status, 0);
		bad += !WIFEXITED(status) || WEXITSTATUS(status);
	}
	igt_assert_f(!bad, "%u children failed\n", bad);
}

/* Whether one of them still runs; nobody is waited for. */
static bool igt_compat_children_run(void)
{
	siginfo_t info;
	unsigned int i;

	for (i = 0; i < igt_compat_child_count; i++) {
		info.si_pid = 0;
		waitid(P_PID, igt_compat_children[i], &info, WEXITED | WNOHANG | WNOWAIT);
		if (!info.si_pid)
			return true;
	}
	return false;
}

void igt_waitchildren_timeout(int seconds, const char *reason)
{
	const double end = igt_compat_now() + seconds;

	while (igt_compat_children_run()) {
		if (igt_compat_now() > end) {
			igt_compat_kill_children();
			igt_assert_f(false, "%s: not over after %d s\n", reason, seconds);
		}
		usleep(10000);
	}
	igt_waitchildren();
}

bool __igt_fork_helper(struct igt_helper_process *proc)
{
	pid_t pid = igt_compat_fork_child();

	if (!pid)
		return true;
	proc->pid = pid;
	proc->running = true;
	return false;
}

int igt_wait_helper(struct igt_helper_process *proc)
{
	int status;

	igt_assert(proc->running);
	igt_assert_eq(waitpid(proc->pid, &status, 0), proc->pid);
	proc->running = false;
	return status;
}

void igt_stop_helper(struct igt_helper_process *proc)
{
	if (!proc->running)
		return;
	kill(proc->pid, proc->use_SIGKILL ? SIGKILL : SIGTERM);
	igt_wait_helper(proc);
}

void igt_drop_root(void)
{
	igt_assert_eq(setgid(2), 0);
	igt_assert_eq(setuid(2), 0);
}

uint64_t igt_nsec_elapsed(struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!start->tv_sec && !start->tv_nsec) {
		*start = now;
		return 0;
	}
	return (now.tv_sec - start->tv_sec) * 1000000000LL + now.tv_nsec - start->tv_nsec;
}

static bool igt_compat_is_driver(int fd, const char *name)
{
	drmVersionPtr version = drmGetVersion(fd);
	bool is = version && !strcmp(version->name, name);

	drmFreeVersion(version);
	return is;
}

int drm_open_driver_render(int driver)
{
	drmDevicePtr devices[64];
	int count = drmGetDevices2(0, devices, 64);
	int fd = -1;
	int i;

	igt_assert(driver == DRIVER_ASAHI);
	for (i = 0; i < count && fd < 0; i++) {
		if (!(devices[i]->available_nodes & 1 << DRM_NODE_RENDER))
			continue;
		fd = open(devices[i]->nodes[DRM_NODE_RENDER], O_RDWR | O_CLOEXEC);
		if (fd >= 0 && !igt_compat_is_driver(fd, "asahi")) {
			close(fd);
			fd = -1;
		}
	}
	if (count > 0)
		drmFreeDevices(devices, count);
	igt_require_f(fd >= 0, "no render node of the driver\n");
	return fd;
}

int drm_reopen_driver(int fd)
{
	char path[32];
	int again;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_RDWR | O_CLOEXEC);
	igt_assert_fd(again);
	return again;
}

int drm_close_driver(int fd)
{
	return close(fd);
}

void gem_close(int fd, uint32_t handle)
{
	struct drm_gem_close args = { .handle = handle };

	do_ioctl(fd, DRM_IOCTL_GEM_CLOSE, &args);
}

static int igt_compat_export(int fd, uint32_t handle, uint32_t flags)
{
	struct drm_prime_handle args = { .handle = handle, .flags = flags };

	do_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &args);
	return args.fd;
}

int prime_handle_to_fd(int fd, uint32_t handle)
{
	return igt_compat_export(fd, handle, DRM_CLOEXEC);
}

int prime_handle_to_fd_for_mmap(int fd, uint32_t handle)
{
	return igt_compat_export(fd, handle, DRM_CLOEXEC | DRM_RDWR);
}

uint32_t prime_fd_to_handle(int fd, int dma_buf)
{
	struct drm_prime_handle args = { .fd = dma_buf };

	do_ioctl(fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &args);
	return args.handle;
}
