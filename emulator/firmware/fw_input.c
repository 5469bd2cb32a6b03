// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * The queue of what comes from outside: messages, changes of power and injections, in their order,
 * from the MMIO thread to the main thread. @input_lock protects it. The MMIO thread leaves
 * messages there and goes on. It waits until the main thread has put the firmware to rest, cut its
 * power or reset it, and up to a second for an injection: each such input has a number.
 */
#include <errno.h>
#include <time.h>

#include "fw_internal.h"

/* Entries that only changes of power and injections may have */
#define FW_INPUT_SPARE		64
/* How long the MMIO thread waits for an injection */
#define FW_INJECT_NS		1000000000ULL

static struct fw_input *fw_input_at(struct vagx_firmware *fw, unsigned int n)
{
	return &fw->input[(fw->input_head + n) % FW_MESSAGES];
}

/* Takes out what @heed allows. Messages that a loss of power overtakes are lost. Input lock held. */
static bool fw_input_pick_input(struct vagx_firmware *fw, enum fw_heed heed, struct fw_input *input)
{
	unsigned int n = 0;

	while (heed != FW_HEED_ALL && n < fw->input_count &&
	       fw_input_at(fw, n)->kind == FW_INPUT_MESSAGE)
		n++;
	if (n == fw->input_count)
		return false;
	if (heed == FW_HEED_ORDER)
		n = 0;
	*input = *fw_input_at(fw, n);
	if (input->kind == FW_INPUT_CUT || input->kind == FW_INPUT_RESET) {
		fw->input_head = (fw->input_head + n) % FW_MESSAGES;
		fw->input_count -= n;
		n = 0;
	}
	for (; n; n--)
		*fw_input_at(fw, n) = *fw_input_at(fw, n - 1);
	fw->input_head = (fw->input_head + 1) % FW_MESSAGES;
	fw->input_count--;
	return true;
}

bool fw_input_next(struct vagx_firmware *fw, uint64_t until, enum fw_heed heed,
		   struct fw_input *input)
{
	struct timespec time = { .tv_sec = until / 1000000000, .tv_nsec = until % 1000000000 };
	bool found;

	pthread_mutex_lock(&fw->input_lock);
	while (!(found = fw_input_pick_input(fw, heed, input)) && !fw->poked && !fw->quit) {
		if (!until)
			pthread_cond_wait(&fw->input_cond, &fw->input_lock);
		else if (pthread_cond_timedwait(&fw->input_cond, &fw->input_lock, &time) ==
			 ETIMEDOUT)
			break;
	}
	fw->poked = false;
	pthread_mutex_unlock(&fw->input_lock);
	return found;
}

bool fw_input_has_twin(struct vagx_firmware *fw, const struct fw_input *input)
{
	bool found = false;

	pthread_mutex_lock(&fw->input_lock);
	for (unsigned int n = 0; n < fw->input_count && !found; n++) {
		const struct fw_input *other = fw_input_at(fw, n);

		if (other->kind != FW_INPUT_MESSAGE)
			break;
		found = other->ep == input->ep && other->msg == input->msg;
	}
	pthread_mutex_unlock(&fw->input_lock);
	return found;
}

void fw_input_done(struct vagx_firmware *fw)
{
	pthread_mutex_lock(&fw->input_lock);
	fw->changes_done++;
	pthread_cond_broadcast(&fw->input_cond);
	pthread_mutex_unlock(&fw->input_lock);
}

bool fw_input_overrun(struct vagx_firmware *fw)
{
	bool found;

	pthread_mutex_lock(&fw->input_lock);
	found = fw->input_overrun;
	fw->input_overrun = false;
	pthread_mutex_unlock(&fw->input_lock);
	return found;
}

bool fw_input_quitting(struct vagx_firmware *fw)
{
	bool quit;

	pthread_mutex_lock(&fw->input_lock);
	quit = fw->quit;
	pthread_mutex_unlock(&fw->input_lock);
	return quit;
}

void fw_input_inject(struct vagx_firmware *fw)
{
	struct vagx_fw_injection what;
	int result;

	pthread_mutex_lock(&fw->input_lock);
	what = fw->injection;
	pthread_mutex_unlock(&fw->input_lock);
	result = fw_inject(fw, &what);
	pthread_mutex_lock(&fw->input_lock);
	fw->injection_result = result;
	fw->injection_waits = false;
	pthread_mutex_unlock(&fw->input_lock);
}

static uint64_t fw_input_give(struct vagx_firmware *fw, enum fw_input_kind kind, uint8_t ep,
			      uint64_t msg)
{
	unsigned int limit = kind == FW_INPUT_MESSAGE ? FW_MESSAGES - FW_INPUT_SPARE : FW_MESSAGES;
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

static void fw_input_wait_change(struct vagx_firmware *fw, uint64_t ticket)
{
	pthread_mutex_lock(&fw->input_lock);
	while (fw->changes_done < ticket)
		pthread_cond_wait(&fw->input_cond, &fw->input_lock);
	pthread_mutex_unlock(&fw->input_lock);
}

void vagx_fw_start(struct vagx_firmware *fw)
{
	fw_input_give(fw, FW_INPUT_START, 0, 0);
}

void vagx_fw_wake(struct vagx_firmware *fw)
{
	fw_input_give(fw, FW_INPUT_WAKE, 0, 0);
}

void vagx_fw_message(struct vagx_firmware *fw, uint8_t ep, uint64_t msg)
{
	fw_input_give(fw, FW_INPUT_MESSAGE, ep, msg);
}

void vagx_fw_quiesce(struct vagx_firmware *fw)
{
	fw_input_wait_change(fw, fw_input_give(fw, FW_INPUT_QUIESCE, 0, 0));
}

void vagx_fw_cut(struct vagx_firmware *fw)
{
	fw_input_wait_change(fw, fw_input_give(fw, FW_INPUT_CUT, 0, 0));
}

void vagx_fw_reset(struct vagx_firmware *fw)
{
	fw_input_wait_change(fw, fw_input_give(fw, FW_INPUT_RESET, 0, 0));
}

int vagx_fw_inject(struct vagx_firmware *fw, const struct vagx_fw_injection *what)
{
	uint64_t until = fw_now_ns() + FW_INJECT_NS, ticket;
	struct timespec time = { .tv_sec = until / 1000000000, .tv_nsec = until % 1000000000 };
	int ret = 0;

	pthread_mutex_lock(&fw->input_lock);
	if (fw->injection_waits)
		ret = -EBUSY;
	fw->injection_waits = true;
	if (!ret)
		fw->injection = *what;
	pthread_mutex_unlock(&fw->input_lock);
	if (ret)
		return ret;

	ticket = fw_input_give(fw, FW_INPUT_INJECT, 0, 0);
	pthread_mutex_lock(&fw->input_lock);
	if (!ticket) {
		fw->injection_waits = false;
		ret = -EBUSY;
	}
	while (fw->changes_done < ticket && !ret)
		ret = -pthread_cond_timedwait(&fw->input_cond, &fw->input_lock, &time);
	if (ticket && fw->changes_done >= ticket)
		ret = fw->injection_result;
	pthread_mutex_unlock(&fw->input_lock);
	return ret;
}
