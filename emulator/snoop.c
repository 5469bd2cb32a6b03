// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#include "snoop.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "dc.h"
#include "listen.h"
#include "report.h"
#include "tlbi.h"
#include "uat.h"

/* Invalidations without a barrier that are remembered; of more, the oldest is done */
#define SNOOP_WAITING	1024

/**
 * struct snoop_waiting - an invalidation that waits for the barrier of its processor
 * @cpu: processor
 * @tlbi: the invalidation
 */
struct snoop_waiting {
	uint64_t cpu;
	struct vagx_tlbi tlbi;
};

struct vagx_snoop {
	struct vagx_uat *uat;
	struct vagx_report *report;
	char *path;
	int listener;
	int quit_fd;
	uint64_t sweep_ns;		/* when to look for what was forgotten, or 0 */
	pthread_t thread;
	/* In the order of their instructions; of the thread */
	unsigned int waiting_count;
	struct snoop_waiting waiting[SNOOP_WAITING];
};

/* Milliseconds until the next sweep, -1 for none */
static int snoop_time_left(const struct vagx_snoop *snoop)
{
	uint64_t now = vagx_clock_host_ns();

	if (!snoop->sweep_ns)
		return -1;
	return now < snoop->sweep_ns ? (snoop->sweep_ns - now) / 1000000 + 1 : 0;
}

/* Waits until @fd can be read, and sweeps meanwhile. Return: false if the thread has to end. */
static bool snoop_wait_for(struct vagx_snoop *snoop, int fd)
{
	struct pollfd fds[] = {
		{ .fd = fd, .events = POLLIN },
		{ .fd = snoop->quit_fd, .events = POLLIN },
	};
	int found;

	while ((found = poll(fds, 2, snoop_time_left(snoop))) <= 0) {
		if (found < 0 && errno != EINTR)
			return false;
		if (!snoop_time_left(snoop))
			snoop->sweep_ns = vagx_uat_sweep(snoop->uat, vagx_clock_host_ns());
	}
	return !fds[1].revents;
}

/* The plugin waits for each answer, so there is never more than one message */
static bool snoop_receive(struct vagx_snoop *snoop, int fd, struct vagx_tlbi_message *message)
{
	uint8_t *to = (uint8_t *)message;
	size_t have = 0;

	while (have < sizeof(*message)) {
		ssize_t got;

		if (!snoop_wait_for(snoop, fd))
			return false;
		got = recv(fd, to + have, sizeof(*message) - have, MSG_DONTWAIT);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (got <= 0)
			return false;
		have += got;
	}
	return true;
}

/* Notes an invalidation, which hardware does at any moment up to the barrier: here, then */
static void snoop_note(struct vagx_snoop *snoop, uint64_t cpu, const struct vagx_tlbi *tlbi)
{
	if (snoop->waiting_count == SNOOP_WAITING) {
		vagx_uat_invalidate(snoop->uat, &snoop->waiting[0].tlbi);
		snoop->waiting_count--;
		memmove(snoop->waiting, snoop->waiting + 1,
			snoop->waiting_count * sizeof(snoop->waiting[0]));
	}
	snoop->waiting[snoop->waiting_count++] = (struct snoop_waiting){ cpu, *tlbi };
}

/* Does what a processor has issued before its barrier; what others have issued goes on waiting */
static void snoop_complete(struct vagx_snoop *snoop, uint64_t cpu)
{
	unsigned int left = 0;

	for (unsigned int i = 0; i < snoop->waiting_count; i++) {
		if (snoop->waiting[i].cpu == cpu)
			vagx_uat_invalidate(snoop->uat, &snoop->waiting[i].tlbi);
		else
			snoop->waiting[left++] = snoop->waiting[i];
	}
	snoop->waiting_count = left;
}

static void snoop_serve(struct vagx_snoop *snoop, int fd)
{
	struct vagx_tlbi_message message;
	struct vagx_tlbi tlbi;
	char answer = 0;

	snoop->waiting_count = 0;
	while (snoop_receive(snoop, fd, &message)) {
		if (vagx_tlbi_is_barrier(message.insn))
			snoop_complete(snoop, message.cpu);
		else if (vagx_dc_of(message.insn))
			vagx_uat_maintain(snoop->uat, vagx_dc_of(message.insn), message.operand);
		else if (vagx_tlbi_decode(message.insn, message.operand, &tlbi))
			snoop_note(snoop, message.cpu, &tlbi);
		if (!snoop->sweep_ns)
			snoop->sweep_ns = vagx_clock_host_ns() + VAGX_UAT_SWEEP_NS;
		vagx_log(snoop->report, VAGX_LOG_TRACE,
			 "TLBI: processor %" PRIu64 ", instruction %#" PRIx64 ", operand %#" PRIx64,
			 message.cpu, message.insn, message.operand);
		if (send(fd, &answer, 1, MSG_NOSIGNAL) != 1)
			return;
	}
}

static void snoop_log_stats(struct vagx_snoop *snoop)
{
	struct vagx_maintained maintained = vagx_uat_maintained(snoop->uat);
	struct vagx_uat_stats stats;

	vagx_uat_get_stats(snoop->uat, &stats);
	vagx_log(snoop->report, VAGX_LOG_INFO,
		 "TLBs: %" PRIu64 " invalidations, %" PRIu64 " translations dropped, %" PRIu64
		 " looked up again and kept",
		 stats.invalidations, stats.dropped, stats.kept);
	if (maintained.cleaned)
		vagx_log(snoop->report, VAGX_LOG_INFO,
			 "caches of the CPU: %" PRIu64 " pages zeroed, %" PRIu64
			 " of them cleaned, %" PRIu64 " pages invalidated",
			 maintained.zeroed, maintained.cleaned, maintained.invalidated);
}

static void *snoop_thread(void *arg)
{
	struct vagx_snoop *snoop = arg;

	while (snoop_wait_for(snoop, snoop->listener)) {
		int fd = accept4(snoop->listener, NULL, NULL, SOCK_CLOEXEC);

		if (fd < 0)
			continue;
		vagx_log(snoop->report, VAGX_LOG_INFO,
			 "translations are kept until the guest invalidates them");
		vagx_uat_cache_set(snoop->uat, true);
		snoop_serve(snoop, fd);
		snoop_log_stats(snoop);
		vagx_uat_cache_set(snoop->uat, false);
		snoop->sweep_ns = 0;
		close(fd);
	}
	return NULL;
}

static void snoop_release(struct vagx_snoop *snoop)
{
	if (snoop->listener >= 0) {
		close(snoop->listener);
		unlink(snoop->path);
	}
	if (snoop->quit_fd >= 0)
		close(snoop->quit_fd);
	free(snoop->path);
	free(snoop);
}

struct vagx_snoop *vagx_snoop_new(const char *path, struct vagx_uat *uat,
				  struct vagx_report *report)
{
	struct vagx_snoop *snoop = calloc(1, sizeof(*snoop));
	int err = ENOMEM;

	if (!snoop)
		return NULL;
	snoop->uat = uat;
	snoop->report = report;
	snoop->listener = -1;
	snoop->quit_fd = eventfd(0, EFD_CLOEXEC);
	snoop->path = strdup(path);
	if (snoop->path && snoop->quit_fd >= 0) {
		snoop->listener = vagx_listen(path, 1);
		err = snoop->listener < 0 ? errno :
		      pthread_create(&snoop->thread, NULL, snoop_thread, snoop);
	}
	if (!err)
		return snoop;
	snoop_release(snoop);
	errno = err;
	return NULL;
}

void vagx_snoop_free(struct vagx_snoop *snoop)
{
	uint64_t one = 1;

	if (!snoop)
		return;
	while (write(snoop->quit_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	pthread_join(snoop->thread, NULL);
	snoop_release(snoop);
}
