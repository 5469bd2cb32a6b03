// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * The virtual firmware's life. It is in reset until its CPU starts, then waits for INIT, and is
 * ready until RTKit puts it to rest, power is cut, or nonsense from the driver crashes it (enum
 * fw_state).
 *
 * Its main thread takes what comes from outside, one input at a time (fw_input.c), with @lock
 * held. In between it looks after all that happens by time: events that are late or found their
 * ring full, late flushes, dirty lines, statistics, jobs that take too long, and the driver's
 * resume.
 */
#include "firmware.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../gpu/gpu.h"
#include "../soc.h"
#include "fw_buffer.h"

#define FW_TYPE_INIT		0x81
#define FW_TYPE_DOORBELL	0x83
#define FW_TYPE_FWCTL		0x84
#define FW_MSG_TYPE(msg)	((msg) >> 48)
#define FW_INIT_MASK		((1ULL << 44) - 1)
#define FW_INIT_HIGH		0xfffff00000000000ULL

/* How often the main thread looks at memory that the driver has to write: a resume, a full ring */
#define FW_POLL_NS		1000000
/* How long the MMIO thread waits for the lock to tell the state */
#define FW_STATUS_NS		100000000ULL

static void firmware_power_off(struct vagx_firmware *fw, enum fw_state state)
{
	fw->state = state;
	__atomic_store_n(&fw->resting, true, __ATOMIC_RELEASE);
	fw_workers_drain(fw);
	fw_scenes_forget_all(fw);
	fw_buffers_forget_all(fw);
	memset(fw->request, 0, sizeof(fw->request));
	fw_queue_forget_all(fw);
	fw_event_forget_all(fw);
	fw->config.set_fault_regs(fw->config.ctx, NULL, 0);
	memset(fw->flush_due, 0, sizeof(fw->flush_due));
	fw->stays_until = 0;
	fw->access.failed = false;
	fw->initialized = false;
}

/* Power is lost: all state goes, the dirty lines as @how says, and injections */
static void firmware_cut(struct vagx_firmware *fw, enum vagx_power_off how)
{
	firmware_power_off(fw, FW_STATE_RESET);
	fw_statistics_forget(fw);
	fw_cache_cut(fw->cache, &fw->access, how);
	fw_inject_clear(&fw->inject);
	__atomic_store_n(&fw->lock_held, false, __ATOMIC_RELEASE);
}

static void firmware_start(struct vagx_firmware *fw)
{
	if (fw->state != FW_STATE_RESET && fw->state != FW_STATE_QUIESCED)
		return;
	fw->woken = fw->state == FW_STATE_QUIESCED;
	fw->state = FW_STATE_STARTED;
	__atomic_store_n(&fw->resting, false, __ATOMIC_RELEASE);
	fw_handoff_start(fw);
}

static void firmware_init(struct vagx_firmware *fw, uint64_t msg)
{
	if (fw->state == FW_STATE_READY) {
		vagx_violation(fw->config.report, VAGX_CLAUSE_FW_INIT_FIRST_twice, msg, "INIT",
			       "INIT was sent already");
		return;
	}
	fw_initdata_load(fw, FW_INIT_HIGH | (msg & FW_INIT_MASK));
}

static unsigned int firmware_channel(uint64_t msg)
{
	return FW_MSG_TYPE(msg) == FW_TYPE_FWCTL ? FW_CHANNEL_FWCTL : msg & 0xffff;
}

/* Leaves half of the doorbells to an equal one that waits: no driver can tell them apart */
static bool firmware_leave(struct vagx_firmware *fw, const struct fw_input *input)
{
	return fw->config.doorbell_delay_ms && fw->initialized &&
	       fw_draw(fw, FW_DRAW_LEAVE, fw->doorbells, 0) % 2 &&
	       fw_input_has_twin(fw, input) && fw_channel_leave(fw, firmware_channel(input->msg));
}

/* Stays at the ring of one doorbell in four. Messages wait meanwhile. */
static void firmware_stay(struct vagx_firmware *fw, uint64_t msg)
{
	uint64_t draw = fw_draw(fw, FW_DRAW_STAY, fw->doorbells, 0);

	if (!fw->config.doorbell_delay_ms || !fw->initialized || draw % 4)
		return;
	fw->stays_at = msg;
	fw->stays_until = fw_now_ns() +
			  draw / 4 % (fw->config.doorbell_delay_ms * UINT64_C(1000000) + 1);
}

static void firmware_doorbell(struct vagx_firmware *fw, const struct fw_input *input)
{
	if (fw->state != FW_STATE_READY) {
		vagx_violation(fw->config.report, VAGX_CLAUSE_FW_INIT_FIRST_early, input->msg,
			       "doorbell", "came before INIT");
		return;
	}
	fw_event_poll_resume(fw);
	fw->doorbells++;
	if (firmware_leave(fw, input))
		return;
	fw_channel_doorbell(fw, firmware_channel(input->msg));
	firmware_stay(fw, input->msg);
}

/*
 * Looks at the ring where the firmware stays once more when it leaves it. The driver may be
 * between a message, its pointer and its doorbell then. Return: when that is, 0 for never.
 */
static uint64_t firmware_leave_ring(struct vagx_firmware *fw, uint64_t now)
{
	if (fw->stays_until <= now && fw->stays_until) {
		fw->stays_until = 0;
		fw_channel_look(fw, firmware_channel(fw->stays_at));
	}
	return fw->stays_until;
}

static void firmware_message(struct vagx_firmware *fw, const struct fw_input *input)
{
	uint64_t type = FW_MSG_TYPE(input->msg);

	if (fw->state != FW_STATE_STARTED && fw->state != FW_STATE_READY) {
		/*
		 * After a crash the driver may not know yet, but putting the firmware to rest was
		 * its own decision
		 */
		if (fw->state != FW_STATE_CRASHED)
			vagx_violation(fw->config.report, VAGX_RULE_FW_NOT_STARTED, input->msg,
				       "message", "endpoint %#x", input->ep);
		return;
	}
	if (input->ep == VAGX_FW_EP_FIRMWARE && type == FW_TYPE_INIT)
		firmware_init(fw, input->msg);
	else if (input->ep == VAGX_FW_EP_DOORBELL &&
		 (type == FW_TYPE_DOORBELL || type == FW_TYPE_FWCTL))
		firmware_doorbell(fw, input);
	else
		vagx_violation(fw->config.report,
			       input->ep == VAGX_FW_EP_FIRMWARE ? VAGX_CLAUSE_FW_MESSAGE_firmware :
								  VAGX_CLAUSE_FW_MESSAGE_doorbell,
			       input->msg, "message", "endpoint %#x", input->ep);
	fw_check(fw, &fw->access);
}

static void firmware_take(struct vagx_firmware *fw, const struct fw_input *input)
{
	switch (input->kind) {
	case FW_INPUT_MESSAGE:
		firmware_message(fw, input);
		return;
	case FW_INPUT_START:
	case FW_INPUT_WAKE:
		firmware_start(fw);
		break;
	case FW_INPUT_QUIESCE:
		firmware_power_off(fw, fw->state == FW_STATE_CRASHED ? FW_STATE_CRASHED
								     : FW_STATE_QUIESCED);
		break;
	case FW_INPUT_CUT:
		firmware_cut(fw, fw->config.power_off);
		break;
	case FW_INPUT_RESET:
		firmware_cut(fw, VAGX_POWER_OFF_LOSE);
		break;
	case FW_INPUT_INJECT:
		fw_input_inject(fw);
		break;
	}
}

/* Whether the firmware leaves messages where they are */
static bool firmware_is_deaf(const struct vagx_firmware *fw)
{
	return fw->inject.silent || fw->halted;
}

static void firmware_tell_deaf(struct vagx_firmware *fw)
{
	if (fw->deaf == firmware_is_deaf(fw))
		return;
	fw->deaf = firmware_is_deaf(fw);
	if (fw->config.set_deaf)
		fw->config.set_deaf(fw->config.ctx, fw->deaf);
}

/* The earlier of two moments; 0 is never */
static uint64_t firmware_first_of(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

/*
 * Does what is due: write-backs, late events and flushes, limits of jobs' time. Return: when there
 * may be more to do, in ns of monotonic time, 0 for never. Lock held.
 */
static uint64_t firmware_look_around(struct vagx_firmware *fw)
{
	uint64_t now = fw_now_ns(), next = UINT64_MAX, again, flush, late;
	uint64_t evict = firmware_first_of(fw_cache_evict(fw->cache, &fw->access, now),
					   vagx_uat_sweep(fw->config.uat, now));

	evict = firmware_first_of(evict, fw_statistics(fw, now));
	if (fw->state == FW_STATE_CRASHED)
		fw_workers_drain(fw);
	if (fw->state != FW_STATE_READY || fw->inject.silent)
		return evict;
	if (fw->halted)
		fw_event_poll_resume(fw);
	if (fw_event_to_retry(fw))
		fw_event_retry(fw);
	late = fw_event_late(fw, now);
	if (!fw->halted)
		late = firmware_first_of(late, firmware_leave_ring(fw, now));
	if (!fw_check(fw, &fw->access))
		return evict;
	if (evict)
		next = evict;
	flush = fw_handoff_late(fw, now);
	if (flush && flush < next)
		next = flush;
	if (late && late < next)
		next = late;
	if (fw->halted || fw_event_to_retry(fw))
		next = now + FW_POLL_NS;
	again = fw_workers_check_time(fw, now);
	if (again < next)
		next = again;
	return next == UINT64_MAX ? 0 : next;
}

static enum fw_heed firmware_heed(const struct vagx_firmware *fw)
{
	if (fw->deaf)
		return FW_HEED_CHANGES;
	return fw->stays_until ? FW_HEED_ORDER : FW_HEED_ALL;
}

static void *firmware_main_thread(void *arg)
{
	struct vagx_firmware *fw = arg;
	struct fw_input input;
	enum fw_heed heed;
	uint64_t until;

	while (!fw_input_quitting(fw)) {
		pthread_mutex_lock(&fw->lock);
		until = firmware_look_around(fw);
		firmware_tell_deaf(fw);
		heed = firmware_heed(fw);
		pthread_mutex_unlock(&fw->lock);

		if (!fw_input_next(fw, until, heed, &input))
			continue;
		pthread_mutex_lock(&fw->lock);
		if (fw_input_overrun(fw)) {
			vagx_violation(fw->config.report, VAGX_RULE_FW_FLOOD, FW_MESSAGES,
				       "message", "more messages wait than the mailbox can hold");
			fw_crash(fw, "flooded with messages");
		}
		firmware_take(fw, &input);
		firmware_tell_deaf(fw);
		pthread_mutex_unlock(&fw->lock);
		if (input.kind != FW_INPUT_MESSAGE)
			fw_input_done(fw);
	}
	return NULL;
}

bool vagx_fw_get_status(struct vagx_firmware *fw, struct vagx_fw_status *status)
{
	static const char *const names[] = {
		[FW_STATE_RESET] = "reset",	  [FW_STATE_STARTED] = "started",
		[FW_STATE_READY] = "ready",	  [FW_STATE_QUIESCED] = "quiesced",
		[FW_STATE_CRASHED] = "crashed",
	};
	uint64_t until = fw_now_ns() + FW_STATUS_NS;
	struct timespec time = { .tv_sec = until / 1000000000, .tv_nsec = until % 1000000000 };

	if (pthread_mutex_clocklock(&fw->lock, CLOCK_MONOTONIC, &time))
		return false;
	*status = (struct vagx_fw_status){
		.state = names[fw->state],
		.halted = fw->halted,
		.silent = fw->inject.silent,
		.queues = fw->queue_count,
		.grown = fw->grown,
		.partial_renders = fw->partial_renders,
	};
	pthread_mutex_unlock(&fw->lock);
	return true;
}

bool vagx_fw_is_crashed(struct vagx_firmware *fw)
{
	bool crashed;

	pthread_mutex_lock(&fw->lock);
	crashed = fw->state == FW_STATE_CRASHED;
	pthread_mutex_unlock(&fw->lock);
	return crashed;
}

static void firmware_init_cond(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

static int firmware_start_threads(struct vagx_firmware *fw)
{
	int err = fw_workers_start(fw);

	if (err)
		return err;
	err = pthread_create(&fw->thread, NULL, firmware_main_thread, fw);
	fw->thread_up = !err;
	return err;
}

struct vagx_firmware *vagx_fw_new(const struct vagx_fw_config *config)
{
	struct vagx_firmware *fw;
	enum fw_abi abi;
	int err = vagx_soc_abi(config->soc, config->abi, &abi) ? 0 : EINVAL;

	fw = err ? NULL : calloc(1, sizeof(*fw));
	if (!fw) {
		errno = err ? err : ENOMEM;
		return NULL;
	}
	fw->config = *config;
	fw->abi = abi;
	fw_inject_clear(&fw->inject);
	pthread_mutex_init(&fw->lock, NULL);
	pthread_mutex_init(&fw->input_lock, NULL);
	pthread_mutex_init(&fw->handoff_lock, NULL);
	firmware_init_cond(&fw->work);
	for (unsigned int i = 0; i < FW_PIPES; i++)
		firmware_init_cond(&fw->pipe_work[i]);
	firmware_init_cond(&fw->input_cond);
	fw->cache = fw_cache_new(config->mem, config->seed,
				 config->dirty_ms ? config->dirty_ms : VAGX_FW_DEFAULT_DIRTY_MS);
	fw->access = (struct fw_access){
		.uat = config->uat,
		.report = config->report,
		.cache = fw->cache,
		.abi = abi,
		.poison = config->poison,
	};
	fw->buffers = fw_buffers_new();
	fw->scenes = fw_scenes_new();
	err = fw->cache && fw->buffers && fw->scenes ? firmware_start_threads(fw) : ENOMEM;
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
	fw_workers_stop(fw);
	fw_scenes_free(fw->scenes);
	fw_buffers_free(fw->buffers);
	fw_cache_free(fw->cache);
	pthread_cond_destroy(&fw->work);
	for (unsigned int i = 0; i < FW_PIPES; i++)
		pthread_cond_destroy(&fw->pipe_work[i]);
	pthread_cond_destroy(&fw->input_cond);
	pthread_mutex_destroy(&fw->lock);
	pthread_mutex_destroy(&fw->input_lock);
	pthread_mutex_destroy(&fw->handoff_lock);
	free(fw);
}
