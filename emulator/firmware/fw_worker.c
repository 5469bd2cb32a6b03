// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * The workers: FW_PIPE_WORKERS threads for each pipe. Each takes new commands out of the pipe's
 * rings, retires old ones, picks one that may begin and runs it, all with the firmware's lock
 * held; the lock is dropped while a job is on the units, and while a worker sleeps.
 */
#include <time.h>

#include "../gpu/gpu.h"
#include "fw_internal.h"

/* How often at most the main thread asks for a job's time */
#define FW_TIME_STEP_NS	1000000

static bool fw_worker_workers_idle(struct vagx_firmware *fw)
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
		fw_cancel(&fw->worker[i]);
	while (!fw_worker_workers_idle(fw))
		pthread_cond_wait(&fw->work, &fw->lock);
}

/*
 * When a job has to be looked at again, or 0 if it has had its time. Processor
 * time never runs faster than the clock, so there is no need to look before the
 * rest could be used up.
 */
static uint64_t fw_worker_time_left(struct fw_worker *worker, uint64_t now)
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
		again = fw_worker_time_left(worker, now);
		if (!again) {
			worker->timed_out = true;
			fw_cancel(worker);
		} else if (again < first) {
			first = again;
		}
	}
	return first;
}

static void fw_worker_run(struct fw_worker *worker, struct fw_queue *queue,
			  struct fw_command *command)
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
	/* For fw_workers_drain(), and with --serial for workers that wait for their turn */
	pthread_cond_broadcast(&worker->fw->work);
	if (worker->fw->config.serial)
		fw_wake_pipes(worker->fw);
}

/*
 * Sleeps until this worker is woken, or until @until (UINT64_MAX: for ever), with the lock dropped
 */
static void fw_worker_rest(struct fw_worker *worker, uint64_t until)
{
	struct vagx_firmware *fw = worker->fw;
	struct timespec time = { .tv_sec = until / 1000000000, .tv_nsec = until % 1000000000 };

	if (until == UINT64_MAX)
		pthread_cond_wait(&fw->pipe_work[worker->pipe], &fw->lock);
	else
		pthread_cond_timedwait(&fw->pipe_work[worker->pipe], &fw->lock, &time);
}

/* Does one round of a worker's work. Return: when to look again, 0 for at once. */
static uint64_t fw_worker_work(struct fw_worker *worker)
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
	while (fw_schedule_advance(worker))
		;
	if (worker->access.failed)
		return 0;
	command = fw_schedule_pick(worker, &queue, &again);
	if (!command)
		return again;
	/* There may be a command for the next worker, now or in a while */
	pthread_cond_signal(&fw->pipe_work[worker->pipe]);
	fw_worker_run(worker, queue, command);
	return 0;
}

static void *fw_worker_main(void *arg)
{
	struct fw_worker *worker = arg;
	struct vagx_firmware *fw = worker->fw;
	uint64_t again;

	pthread_mutex_lock(&fw->lock);
	while (!fw->stopping) {
		worker->access.failed = false;
		fw_wait_while_silent(fw);
		again = UINT64_MAX;
		if (fw->state == FW_STATE_READY && !fw->halting && !fw->halted)
			again = fw_worker_work(worker);
		if (fw->state == FW_STATE_READY)
			fw_check(fw, &worker->access);
		if (again && !fw->stopping)
			fw_worker_rest(worker, again);
	}
	pthread_mutex_unlock(&fw->lock);
	return NULL;
}

int fw_workers_start(struct vagx_firmware *fw)
{
	/* Names of the threads, which a trace has as its tracks */
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
		err = pthread_create(&worker->thread, NULL, fw_worker_main, worker);
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
