/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Clients: who they are and what they have used.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_CLIENT_H
#define ASAHI_CLIENT_H

#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/sched.h>
#include <linux/types.h>

struct asahi_client;
struct asahi_fw_timestamps;
struct asahi_rest;
struct asahi_slot_asker;
struct drm_file;
struct drm_printer;

/** ASAHI_SPAN_GAPS - gaps that a span remembers */
#define ASAHI_SPAN_GAPS 8

/**
 * struct asahi_span - how much time a number of intervals covers together
 * @total: ticks that are covered
 * @end: end of the last interval
 * @gaps: entries of @gap
 * @gap: the last stretches before @end that no interval covers, in order
 *
 * Intervals come in any order, but roughly by their ends: what was earlier than
 * the last ASAHI_SPAN_GAPS gaps counts as covered.
 */
struct asahi_span {
	u64 total;
	u64 end;
	unsigned int gaps;
	struct {
		u64 start;
		u64 end;
	} gap[ASAHI_SPAN_GAPS];
};

void asahi_span_add(struct asahi_span *span, u64 start, u64 end);

/**
 * struct asahi_client_work - a piece of work in flight, as its client sees it
 * @link: in the client's list of work in flight on a pipe
 * @times: where the firmware writes when it started and ended
 * @run: when it was handed to the firmware, in ticks
 */
struct asahi_client_work {
	struct list_head link;
	const struct asahi_fw_timestamps *times;
	u64 run;
};

/**
 * struct asahi_work_times - when the GPU worked on something, in ticks
 * @start: when it started; 0 if it has not
 * @end: when it ended, or until when it is known to have worked
 */
struct asahi_work_times {
	u64 start;
	u64 end;
};

struct asahi_work_times asahi_client_times(u64 start, u64 end, u64 run, u64 now);

/** ASAHI_GUILT_MAX - failures within ASAHI_GUILT_MS that are not too many */
#define ASAHI_GUILT_MAX 100
/** ASAHI_GUILT_MS - for how long failures count, and their cause is barred */
#define ASAHI_GUILT_MS 10000

/**
 * struct asahi_guilt - failures that somebody's work has caused
 * @since: when the first one was that counts
 * @count: how many there were since then
 * @barred_until: there were too many, so nothing runs until then
 *
 * Each failure stops the GPU for everybody, so somebody who causes one after the other
 * has to be stopped.
 */
struct asahi_guilt {
	ktime_t since;
	unsigned int count;
	ktime_t barred_until;
};

void asahi_guilt_note(struct asahi_guilt *guilt, ktime_t now);
bool asahi_guilt_barred(const struct asahi_guilt *guilt, ktime_t now);

/**
 * struct asahi_process - who has submitted something
 * @pid: the process, as the first namespace numbers it
 * @comm: name of the thread
 */
struct asahi_process {
	pid_t pid;
	char comm[TASK_COMM_LEN];
};

struct asahi_client *asahi_client_create(u64 id);
struct asahi_client *asahi_client_get(struct asahi_client *client);
void asahi_client_put(struct asahi_client *client);
u64 asahi_client_id(const struct asahi_client *client);
struct asahi_slot_asker *asahi_client_slot_asker(struct asahi_client *client);
void asahi_client_name(struct asahi_process *process);
void asahi_client_note_guilty(struct asahi_client *client);
bool asahi_client_barred(struct asahi_client *client);
void asahi_client_charge(struct asahi_client *client, s64 bytes);
void asahi_client_begin(struct asahi_client *client, unsigned int pipe,
			struct asahi_client_work *work);
struct asahi_work_times asahi_client_end(struct asahi_client *client, unsigned int pipe,
					 struct asahi_client_work *work);
struct asahi_work_times asahi_client_work_times(const struct asahi_client_work *work, u64 now);
void asahi_client_at_rest(struct asahi_client *client, struct asahi_rest *rest);
void asahi_client_show_fdinfo(struct drm_printer *p, struct drm_file *drm_file);

#endif
