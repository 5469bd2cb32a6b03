// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * The workers: threads that run commands, a few for each pipe. Everything
 * about rings happens on them, under the firmware's lock; only a job on the
 * units runs without it.
 */
#include <string.h>
#include <time.h>

#include "../gpu/gpu.h"
#include "fw_internal.h"

/* A job is not asked about its time more often than that */
#define FW_TIME_STEP_NS	1000000

void fw_wake(struct vagx_firmware *fw)
{
	pthread_cond_broadcast(&fw->work);
	for (unsigned int i = 0; i < FW_PIPES; i++)
		pthread_cond_broadcast(&fw->pipe_work[i]);
}

/* One worker is enough: who takes a command wakes the next one before it begins */
void fw_wake_pipes(struct vagx_firmware *fw)
{
	for (unsigned int i = 0; i < FW_PIPES; i++) {
		if (fw->active[i])
			pthread_cond_signal(&fw->pipe_work[i]);
	}
}

void fw_worker_cancel(struct fw_worker *worker)
{
	if (!worker->job || worker->cancelled)
		return;
	worker->cancelled = true;
	vagx_job_cancel(worker->job);
	/* It may hang, or wait for pages of a vertex buffer */
	pthread_cond_broadcast(&worker->fw->work);
}

static bool workers_idle(struct vagx_firmware *fw)
{
	for (unsigned int i = 0; i < FW_WORKERS; i++) {
		if (fw->worker[i].queue)
			return false;
	}
	return true;
}

void fw_workers_drain(struct vagx_firmware *fw)
{
	fw_wake(fw);
	for (unsigned int i = 0; i < FW_WORKERS; i++)
		fw_worker_cancel(&fw->worker[i]);
	while (!workers_idle(fw))
		pthread_cond_wait(&fw->work, &fw->lock);
}

/*
 * When a job has to be looked at again, or 0 if it has had its time. Processor
 * time never runs faster than the clock, so there is no need to look before the
 * rest could be used up.
 */
static uint64_t time_left(struct fw_worker *worker, uint64_t now)
{
	unsigned int ms = worker->fw->config.job_timeout_ms;
	uint64_t limit = (ms ? ms : VAGX_FW_DEFAULT_TIMEOUT_MS) * 1000000ULL;
	uint64_t wall = worker->hangs ? limit : limit * VAGX_FW_WALL_FACTOR;
	uint64_t used = vagx_job_cpu_ns(worker->job), age = now - worker->started, next;

	if (used >= limit || age >= wall)
		return 0;
	next = limit - used < wall - age ? limit - used : wall - age;
	return now + (next > FW_TIME_STEP_NS ? next : FW_TIME_STEP_NS);
}

uint64_t fw_workers_check_time(struct vagx_firmware *fw, uint64_t now)
{
	uint64_t first = UINT64_MAX;

	for (unsigned int i = 0; i < FW_WORKERS; i++) {
		struct fw_worker *worker = &fw->worker[i];
		uint64_t again;

		if (!worker->job || worker->cancelled)
			continue;
		again = time_left(worker, now);
		if (!again) {
			worker->timed_out = true;
			fw_worker_cancel(worker);
		} else if (again < first) {
			first = again;
		}
	}
	return first;
}

static void run(struct fw_worker *worker, struct fw_queue *queue, struct fw_command *command)
{
	worker->queue = queue;
	command->state = FW_COMMAND_RUNS;
	switch (fw_job_run(worker, queue, command)) {
	case FW_OUTCOME_DONE:
		command->state = FW_COMMAND_DONE;
		break;
	case FW_OUTCOME_BAD:
		command->state = FW_COMMAND_BAD;
		break;
	case FW_OUTCOME_GONE:
		break;
	}
	worker->queue = NULL;
	/* Who waits for idle workers, or, in serial mode, for its turn */
	pthread_cond_broadcast(&worker->fw->work);
	if (worker->fw->config.serial)
		fw_wake_pipes(worker->fw);
}

/* Until somebody wakes this worker, or @until */
static void rest(struct fw_worker *worker, uint64_t until)
{
	struct vagx_firmware *fw = worker->fw;
	struct timespec time = { .tv_sec = until / 1000000000, .tv_nsec = until % 1000000000 };

	if (until == UINT64_MAX)
		pthread_cond_wait(&fw->pipe_work[worker->pipe], &fw->lock);
	else
		pthread_cond_timedwait(&fw->pipe_work[worker->pipe], &fw->lock, &time);
}

/* While the firmware works and has not halted. Returns when to look again, 0 for now. */
static uint64_t work(struct fw_worker *worker)
{
	struct vagx_firmware *fw = worker->fw;
	struct fw_queue *queue = NULL;
	struct fw_command *command;
	uint64_t again;

	if (fw->inject.timeout_now) {
		fw->inject.timeout_now = false;
		fw_event_timeout(worker, 0);
		return 0;
	}
	while (fw_rings_advance(worker))
		;
	if (worker->access.failed)
		return 0;
	command = fw_rings_pick(worker, &queue, &again);
	if (!command)
		return again;
	/* There may be more to do, now or in a while */
	pthread_cond_signal(&fw->pipe_work[worker->pipe]);
	run(worker, queue, command);
	return 0;
}

static void *worker_main(void *arg)
{
	struct fw_worker *worker = arg;
	struct vagx_firmware *fw = worker->fw;
	uint64_t again;

	pthread_mutex_lock(&fw->lock);
	while (!fw->stopping) {
		worker->access.failed = false;
		fw_inject_wait(fw);
		again = UINT64_MAX;
		if (fw->state == FW_STATE_READY && !fw->halting && !fw->halted)
			again = work(worker);
		if (fw->state == FW_STATE_READY)
			fw_check(fw, &worker->access);
		if (again && !fw->stopping)
			rest(worker, again);
	}
	pthread_mutex_unlock(&fw->lock);
	return NULL;
}

int fw_workers_start(struct vagx_firmware *fw)
{
	/* As tracks of a trace are called */
	static const char *const names[FW_PIPES] = {
		[FW_PIPE_VERTEX] = "vertex",
		[FW_PIPE_FRAGMENT] = "fragment",
		[FW_PIPE_COMPUTE] = "compute",
	};

	for (unsigned int i = 0; i < FW_WORKERS; i++) {
		struct fw_worker *worker = &fw->worker[i];
		int err;

		worker->fw = fw;
		worker->pipe = i / FW_PIPE_WORKERS;
		worker->access = fw->access;
		err = pthread_create(&worker->thread, NULL, worker_main, worker);
		if (err)
			return err;
		fw->workers_up++;
		pthread_setname_np(worker->thread, names[worker->pipe]);
	}
	return 0;
}

void fw_workers_stop(struct vagx_firmware *fw)
{
	pthread_mutex_lock(&fw->lock);
	fw->stopping = true;
	fw_wake(fw);
	pthread_mutex_unlock(&fw->lock);
	for (unsigned int i = 0; i < fw->workers_up; i++)
		pthread_join(fw->worker[i].thread, NULL);
}
