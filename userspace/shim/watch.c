// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * A thread that waits for pipes of other processes.
 *
 * It runs as long as there is a pipe to wait for, and an eventfd wakes it when one is added. The
 * list of pipes is protected by shim_lock, which the thread holds but during poll(). It looks
 * at each pipe anew after that, since a descriptor may have got another number meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "shim.h"

struct watch {
	int fd;
	shim_watch_over *over;
	void *object;
	struct watch *next;
};

static struct watch *watch_watches;
static unsigned int watch_count;
static int watch_wake_fd = -1;
static bool watch_running;
static void (*watch_after)(void);

void shim_watch_begin(void (*after)(void))
{
	watch_after = after;
}

void shim_watch_forget(void)
{
	watch_watches = NULL;
	watch_count = 0;
	watch_wake_fd = -1;
	watch_running = false;
}

bool shim_watch_any(void)
{
	return watch_watches;
}

/* Sleeps, with the lock dropped, until a pipe is ready or the list has changed. */
static void watch_sleep(void)
{
	struct pollfd *fds = shim_alloc((watch_count + 1) * sizeof(*fds));
	const struct watch *watch;
	unsigned int n = 0;
	uint64_t count;

	fds[n++] = (struct pollfd){ .fd = watch_wake_fd, .events = POLLIN };
	for (watch = watch_watches; watch; watch = watch->next)
		fds[n++] = (struct pollfd){ .fd = watch->fd, .events = POLLIN };
	pthread_mutex_unlock(&shim_lock);
	poll(fds, n, -1);
	pthread_mutex_lock(&shim_lock);
	free(fds);
	if (read(watch_wake_fd, &count, sizeof(count)) < 0) {
		/* It was not the eventfd that woke the thread. */
	}
}

static bool watch_is_ready(const struct watch *watch)
{
	struct pollfd fd = { .fd = watch->fd, .events = POLLIN };

	return poll(&fd, 1, 0) == 1;
}

/* Takes the pipes that are ready off the list, and tells their owners. */
static void watch_tell(void)
{
	struct watch **link = &watch_watches, *watch;

	while ((watch = *link)) {
		if (!watch_is_ready(watch)) {
			link = &watch->next;
			continue;
		}
		*link = watch->next;
		watch_count--;
		watch->over(watch->fd, watch->object);
		shim_fd_drop(&watch->fd);
		free(watch);
	}
}

static void *watch_run(void *arg)
{
	pthread_mutex_lock(&shim_lock);
	while (watch_watches) {
		watch_sleep();
		watch_tell();
		pthread_mutex_unlock(&shim_lock);
		watch_after();
		pthread_mutex_lock(&shim_lock);
	}
	watch_running = false;
	pthread_mutex_unlock(&shim_lock);
	return NULL;
}

/* Wakes the thread, or starts it. Return: 0 or an errno value. */
static int watch_start(void)
{
	const uint64_t one = 1;
	pthread_t thread;
	int err;

	if (watch_wake_fd < 0) {
		watch_wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (watch_wake_fd < 0)
			return errno;
		shim_fd_keep(&watch_wake_fd);
	}
	if (watch_running)
		return write(watch_wake_fd, &one, sizeof(one)) < 0 ? errno : 0;
	err = shim_thread_start(&thread, watch_run, NULL);
	if (err)
		return err;
	watch_running = true;
	pthread_detach(thread);
	return 0;
}

int shim_watch_add(int fd, shim_watch_over *over, void *object)
{
	struct watch *watch;
	int own, err;

	own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (own < 0)
		return errno;
	err = watch_start();
	if (err) {
		shim_libc()->close(own);
		return err;
	}
	watch = shim_alloc(sizeof(*watch));
	*watch = (struct watch){
		.fd = own,
		.over = over,
		.object = object,
		.next = watch_watches,
	};
	shim_fd_keep(&watch->fd);
	watch_watches = watch;
	watch_count++;
	return 0;
}
