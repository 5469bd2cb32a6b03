// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * The virtual firmware's life: its main thread takes what comes from outside,
 * one at a time, and looks after deadlines, halts and full rings meanwhile.
 */
#include "firmware.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../gpu/gpu.h"
#include "fw_internal.h"

#define FW_TYPE_INIT		0x81
#define FW_TYPE_DOORBELL	0x83
#define FW_TYPE_FWCTL		0x84
#define FW_MSG_TYPE(msg)	((msg) >> 48)
#define FW_INIT_MASK		((1ULL << 44) - 1)
#define FW_INIT_HIGH		0xfffff00000000000ULL

/* How often memory is looked at while the guest owes us a write to it */
#define FW_POLL_NS		1000000
/* A job that should end is asked again: it may not have begun yet when it was asked first */
#define FW_CANCEL_NS		2000000

static const struct {
	const char *name;
	enum fw_abi abi;
	bool ready;
} fw_abis[] = {
	{ "12.3", FW_ABI_12_3, false },
	{ "12.4", FW_ABI_12_4, false },
	{ "13.5", FW_ABI_13_5, true },
};

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
	pthread_cond_signal(&fw->input_cond);
	pthread_mutex_unlock(&fw->input_lock);
}

void fw_crash(struct vagx_firmware *fw, const char *fmt, ...)
{
	char text[200];
	va_list args;

	/* A worker may notice only while it is being put to rest: that has been the end already */
	if (fw->state != FW_STATE_STARTED && fw->state != FW_STATE_READY)
		return;
	fw->state = FW_STATE_CRASHED;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	vagx_log(fw->config.report, VAGX_LOG_ERROR, "firmware: the virtual firmware has ended: %s",
		 text);
	if (fw->config.crashed)
		fw->config.crashed(fw->config.ctx, text);
	pthread_cond_broadcast(&fw->work);
	fw_poke(fw);
}

bool fw_check(struct vagx_firmware *fw, struct fw_access *access)
{
	if (access->failed)
		fw_crash(fw, "access to memory that is not mapped for the firmware");
	return !access->failed && fw->state != FW_STATE_CRASHED;
}

static bool workers_idle(struct vagx_firmware *fw)
{
	for (unsigned int i = 0; i < FW_PIPES; i++) {
		if (fw->worker[i].queue)
			return false;
	}
	return true;
}

/*
 * Waits until no worker holds a command; the state is no longer READY, so none takes another.
 * Lock held.
 */
static void drain_workers(struct vagx_firmware *fw)
{
	struct timespec until;

	pthread_cond_broadcast(&fw->work);
	while (!workers_idle(fw)) {
		vagx_gpu_cancel(fw->config.gpu);
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += FW_CANCEL_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&fw->work, &fw->lock, &until);
	}
}

static void power_off(struct vagx_firmware *fw, enum fw_state state)
{
	fw->state = state;
	drain_workers(fw);
	fw_queue_forget_all(fw);
	fw_event_forget_all(fw);
	fw_cache_flush_all(fw->cache);
	fw->config.set_fault_regs(fw->config.ctx, NULL, 0);
	fw->access.failed = false;
	fw->initialized = false;
}

static void start(struct vagx_firmware *fw)
{
	if (fw->state != FW_STATE_RESET && fw->state != FW_STATE_QUIESCED)
		return;
	fw->state = FW_STATE_STARTED;
	fw_handoff_start(fw);
}

static void init(struct vagx_firmware *fw, uint64_t msg)
{
	if (fw->state == FW_STATE_READY) {
		vagx_violation(fw->config.report, VAGX_RULE_FW_INIT_FIRST, msg, "INIT",
			       "came again");
		return;
	}
	fw_initdata_load(fw, FW_INIT_HIGH | (msg & FW_INIT_MASK));
}

static void doorbell(struct vagx_firmware *fw, uint64_t msg)
{
	if (fw->state != FW_STATE_READY) {
		vagx_violation(fw->config.report, VAGX_RULE_FW_INIT_FIRST, msg, "doorbell",
			       "came before INIT");
		return;
	}
	fw_event_poll_resume(fw);
	if (FW_MSG_TYPE(msg) == FW_TYPE_FWCTL)
		fw_doorbell_fwctl(fw);
	else
		fw_doorbell(fw, msg & 0xffff);
}

static void message(struct vagx_firmware *fw, const struct fw_input *input)
{
	uint64_t type = FW_MSG_TYPE(input->msg);

	if (fw->state != FW_STATE_STARTED && fw->state != FW_STATE_READY) {
		/* After a crash the driver cannot know yet; putting it to rest was its choice */
		if (fw->state != FW_STATE_CRASHED)
			vagx_violation(fw->config.report, VAGX_RULE_FW_NOT_STARTED, input->msg,
				       "message", "endpoint %#x", input->ep);
		return;
	}
	if (input->ep == VAGX_FW_EP_FIRMWARE && type == FW_TYPE_INIT)
		init(fw, input->msg);
	else if (input->ep == VAGX_FW_EP_DOORBELL &&
		 (type == FW_TYPE_DOORBELL || type == FW_TYPE_FWCTL))
		doorbell(fw, input->msg);
	else
		vagx_violation(fw->config.report, VAGX_RULE_FW_MESSAGE, input->msg, "message",
			       "endpoint %#x", input->ep);
	fw_check(fw, &fw->access);
}

static void take(struct vagx_firmware *fw, const struct fw_input *input)
{
	switch (input->kind) {
	case FW_INPUT_MESSAGE:
		message(fw, input);
		return;
	case FW_INPUT_START:
	case FW_INPUT_WAKE:
		start(fw);
		break;
	case FW_INPUT_QUIESCE:
		power_off(fw, fw->state == FW_STATE_CRASHED ? FW_STATE_CRASHED : FW_STATE_QUIESCED);
		break;
	case FW_INPUT_RESET:
		power_off(fw, FW_STATE_RESET);
		break;
	}
}

/*
 * What the main thread does without being told. Returns when it wants to look again, 0 for never.
 * Lock held.
 */
static uint64_t look_around(struct vagx_firmware *fw)
{
	uint64_t now = fw_now_ns(), next = UINT64_MAX;

	if (fw->state != FW_STATE_READY)
		return 0;
	if (fw->halted)
		fw_event_poll_resume(fw);
	if (fw_event_to_retry(fw))
		fw_event_retry(fw);
	if (!fw_check(fw, &fw->access))
		return 0;
	if (fw->halted || fw_event_to_retry(fw))
		next = now + FW_POLL_NS;
	for (unsigned int i = 0; i < FW_PIPES; i++) {
		struct fw_worker *worker = &fw->worker[i];
		uint64_t again = worker->deadline;

		if (!worker->on_gpu)
			continue;
		if (now >= worker->deadline) {
			vagx_gpu_cancel(fw->config.gpu);
			again = now + FW_CANCEL_NS;
		}
		if (again < next)
			next = again;
	}
	return next == UINT64_MAX ? 0 : next;
}

/* Waits for input, a poke or @until. Returns whether there is input. */
static bool next_input(struct vagx_firmware *fw, uint64_t until, struct fw_input *input)
{
	struct timespec time = { .tv_sec = until / 1000000000, .tv_nsec = until % 1000000000 };
	bool found;

	pthread_mutex_lock(&fw->input_lock);
	while (!fw->input_count && !fw->poked && !fw->quit) {
		if (!until)
			pthread_cond_wait(&fw->input_cond, &fw->input_lock);
		else if (pthread_cond_timedwait(&fw->input_cond, &fw->input_lock, &time) ==
			 ETIMEDOUT)
			break;
	}
	fw->poked = false;
	found = fw->input_count;
	if (found) {
		*input = fw->input[fw->input_head];
		fw->input_head = (fw->input_head + 1) % FW_MESSAGES;
		fw->input_count--;
	}
	pthread_mutex_unlock(&fw->input_lock);
	return found;
}

static void change_done(struct vagx_firmware *fw)
{
	pthread_mutex_lock(&fw->input_lock);
	fw->changes_done++;
	pthread_cond_broadcast(&fw->input_cond);
	pthread_mutex_unlock(&fw->input_lock);
}

static bool overrun(struct vagx_firmware *fw)
{
	bool found;

	pthread_mutex_lock(&fw->input_lock);
	found = fw->input_overrun;
	fw->input_overrun = false;
	pthread_mutex_unlock(&fw->input_lock);
	return found;
}

static bool quitting(struct vagx_firmware *fw)
{
	bool quit;

	pthread_mutex_lock(&fw->input_lock);
	quit = fw->quit;
	pthread_mutex_unlock(&fw->input_lock);
	return quit;
}

static void *main_thread(void *arg)
{
	struct vagx_firmware *fw = arg;
	struct fw_input input;
	uint64_t until;

	while (!quitting(fw)) {
		pthread_mutex_lock(&fw->lock);
		until = look_around(fw);
		pthread_mutex_unlock(&fw->lock);

		if (!next_input(fw, until, &input))
			continue;
		pthread_mutex_lock(&fw->lock);
		if (overrun(fw)) {
			vagx_violation(fw->config.report, VAGX_RULE_FW_FLOOD, FW_MESSAGES,
				       "message", "more came");
			fw_crash(fw, "flooded with messages");
		}
		take(fw, &input);
		pthread_mutex_unlock(&fw->lock);
		if (input.kind != FW_INPUT_MESSAGE)
			change_done(fw);
	}
	return NULL;
}

/* Changes of power always find room: the last entries are kept for them */
static uint64_t give(struct vagx_firmware *fw, enum fw_input_kind kind, uint8_t ep, uint64_t msg)
{
	unsigned int limit = kind == FW_INPUT_MESSAGE ? FW_MESSAGES - 64 : FW_MESSAGES;
	uint64_t ticket = 0;

	pthread_mutex_lock(&fw->input_lock);
	if (fw->input_count >= limit) {
		fw->input_overrun = true;
	} else {
		fw->input[(fw->input_head + fw->input_count++) % FW_MESSAGES] =
			(struct fw_input){ .kind = kind, .ep = ep, .msg = msg };
		if (kind != FW_INPUT_MESSAGE)
			ticket = ++fw->changes_asked;
	}
	pthread_cond_broadcast(&fw->input_cond);
	pthread_mutex_unlock(&fw->input_lock);
	return ticket;
}

static void wait_change(struct vagx_firmware *fw, uint64_t ticket)
{
	pthread_mutex_lock(&fw->input_lock);
	while (fw->changes_done < ticket)
		pthread_cond_wait(&fw->input_cond, &fw->input_lock);
	pthread_mutex_unlock(&fw->input_lock);
}

void vagx_fw_start(struct vagx_firmware *fw)
{
	give(fw, FW_INPUT_START, 0, 0);
}

void vagx_fw_wake(struct vagx_firmware *fw)
{
	give(fw, FW_INPUT_WAKE, 0, 0);
}

void vagx_fw_message(struct vagx_firmware *fw, uint8_t ep, uint64_t msg)
{
	give(fw, FW_INPUT_MESSAGE, ep, msg);
}

void vagx_fw_quiesce(struct vagx_firmware *fw)
{
	wait_change(fw, give(fw, FW_INPUT_QUIESCE, 0, 0));
}

void vagx_fw_reset(struct vagx_firmware *fw)
{
	wait_change(fw, give(fw, FW_INPUT_RESET, 0, 0));
}

bool vagx_fw_is_crashed(struct vagx_firmware *fw)
{
	bool crashed;

	pthread_mutex_lock(&fw->lock);
	crashed = fw->state == FW_STATE_CRASHED;
	pthread_mutex_unlock(&fw->lock);
	return crashed;
}

static void init_cond(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

static int find_abi(const char *name, enum fw_abi *abi)
{
	for (unsigned int i = 0; i < sizeof(fw_abis) / sizeof(fw_abis[0]); i++) {
		if (strcmp(name, fw_abis[i].name))
			continue;
		*abi = fw_abis[i].abi;
		return fw_abis[i].ready ? 0 : ENOTSUP;
	}
	return EINVAL;
}

static int start_threads(struct vagx_firmware *fw)
{
	int err;

	for (unsigned int i = 0; i < FW_PIPES; i++) {
		struct fw_worker *worker = &fw->worker[i];

		worker->fw = fw;
		worker->pipe = i;
		worker->access = fw->access;
		err = pthread_create(&worker->thread, NULL, fw_worker_main, worker);
		if (err)
			return err;
		fw->workers_up++;
	}
	err = pthread_create(&fw->thread, NULL, main_thread, fw);
	fw->thread_up = !err;
	return err;
}

struct vagx_firmware *vagx_fw_new(const struct vagx_fw_config *config)
{
	struct vagx_firmware *fw;
	enum fw_abi abi;
	int err = find_abi(config->abi, &abi);

	fw = err ? NULL : calloc(1, sizeof(*fw));
	if (!fw) {
		errno = err ? err : ENOMEM;
		return NULL;
	}
	fw->config = *config;
	fw->abi = abi;
	pthread_mutex_init(&fw->lock, NULL);
	pthread_mutex_init(&fw->input_lock, NULL);
	init_cond(&fw->work);
	init_cond(&fw->input_cond);
	fw->cache = fw_cache_new();
	fw->access = (struct fw_access){
		.uat = config->uat,
		.report = config->report,
		.cache = fw->cache,
		.abi = abi,
	};
	err = fw->cache ? start_threads(fw) : ENOMEM;
	if (err) {
		vagx_fw_free(fw);
		errno = err;
		return NULL;
	}
	return fw;
}

void vagx_fw_free(struct vagx_firmware *fw)
{
	if (!fw)
		return;
	if (fw->thread_up) {
		vagx_fw_reset(fw);
		pthread_mutex_lock(&fw->input_lock);
		fw->quit = true;
		pthread_cond_broadcast(&fw->input_cond);
		pthread_mutex_unlock(&fw->input_lock);
		pthread_join(fw->thread, NULL);
	}
	pthread_mutex_lock(&fw->lock);
	fw->stopping = true;
	pthread_cond_broadcast(&fw->work);
	pthread_mutex_unlock(&fw->lock);
	for (unsigned int i = 0; i < fw->workers_up; i++)
		pthread_join(fw->worker[i].thread, NULL);
	fw_cache_free(fw->cache);
	pthread_cond_destroy(&fw->work);
	pthread_cond_destroy(&fw->input_cond);
	pthread_mutex_destroy(&fw->lock);
	pthread_mutex_destroy(&fw->input_lock);
	free(fw);
}
