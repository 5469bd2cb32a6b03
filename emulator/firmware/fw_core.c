// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * What every part of the firmware may call, as it calls none of them: the clock, the ways to wake
 * the main thread and the workers, and the end of the firmware after nonsense.
 *
 * Sleepers wait for conditions of struct vagx_firmware: workers without a command for their pipe's
 * @pipe_work, workers with one, and whoever waits for them, for @work, both with @lock; the main
 * thread for @input_cond, with @input_lock.
 */
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "../gpu/gpu.h"
#include "fw_internal.h"

uint64_t fw_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

void fw_poke(struct vagx_firmware *fw)
{
	pthread_mutex_lock(&fw->input_lock);
	fw->poked = true;
	pthread_cond_broadcast(&fw->input_cond);
	pthread_mutex_unlock(&fw->input_lock);
}

void fw_wake(struct vagx_firmware *fw)
{
	pthread_cond_broadcast(&fw->work);
	for (unsigned int i = 0; i < FW_PIPES; i++)
		pthread_cond_broadcast(&fw->pipe_work[i]);
}

/* One worker is enough: when it takes a command, it wakes the next one before it begins */
void fw_wake_pipes(struct vagx_firmware *fw)
{
	for (unsigned int i = 0; i < FW_PIPES; i++) {
		if (fw->active[i])
			pthread_cond_signal(&fw->pipe_work[i]);
	}
}

void fw_cancel(struct fw_worker *worker)
{
	if (!worker->job || worker->cancelled)
		return;
	worker->cancelled = true;
	vagx_job_cancel(worker->job);
	/*
	 * The worker sleeps on @work if its job only pretends to run, or waits for pages of a
	 * buffer
	 */
	pthread_cond_broadcast(&worker->fw->work);
}

bool fw_wait_while_silent(struct vagx_firmware *fw)
{
	while (fw->inject.silent && fw->state == FW_STATE_READY)
		pthread_cond_wait(&fw->work, &fw->lock);
	return fw->state == FW_STATE_READY;
}

void fw_crash(struct vagx_firmware *fw, const char *fmt, ...)
{
	char text[200];
	va_list args;

	/*
	 * A worker may notice nonsense only while the firmware is put to rest, which has ended it
	 * already
	 */
	if (fw->state != FW_STATE_STARTED && fw->state != FW_STATE_READY)
		return;
	fw->state = FW_STATE_CRASHED;
	__atomic_store_n(&fw->resting, true, __ATOMIC_RELEASE);
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	vagx_log(fw->config.report, VAGX_LOG_ERROR, "firmware: the virtual firmware has ended: %s",
		 text);
	if (fw->config.crashed)
		fw->config.crashed(fw->config.ctx, text);
	fw_wake(fw);
	fw_poke(fw);
}

bool fw_check(struct vagx_firmware *fw, struct fw_access *access)
{
	if (access->failed)
		fw_crash(fw, "access to memory that is not mapped for the firmware");
	return !access->failed && fw->state != FW_STATE_CRASHED;
}
