// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * nap SECONDS: let the machine sleep (suspend to idle) until a timer that the
 * real-time clock backs wakes it. The kernel refuses to sleep for less than two
 * seconds.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

static int nap_set_alarm(int timer, time_t seconds)
{
	const struct itimerspec alarm = { .it_value.tv_sec = seconds };

	return timerfd_settime(timer, 0, &alarm, NULL) ? -errno : 0;
}

static int nap_go_to_sleep(void)
{
	static const char state[] = "freeze";
	int fd = open("/sys/power/state", O_WRONLY | O_CLOEXEC);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, state, strlen(state)) < 0)
		err = -errno;
	close(fd);
	return err;
}

int main(int argc, char **argv)
{
	const int seconds = argc == 2 ? atoi(argv[1]) : 0;
	int timer, err;
	uint64_t count;

	if (seconds < 1)
		return 2;
	timer = timerfd_create(CLOCK_BOOTTIME_ALARM, TFD_CLOEXEC);
	err = timer < 0 ? -errno : nap_set_alarm(timer, seconds);
	if (!err)
		err = nap_go_to_sleep();
	if (!err && read(timer, &count, sizeof(count)) < 0)
		err = -errno;
	if (err)
		fprintf(stderr, "nap: %s\n", strerror(-err));
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
