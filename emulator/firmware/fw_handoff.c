// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * The page that driver and firmware share to agree about page tables and cache flushes (m1n1
 * fw/agx/handoff.py). The boot loader leaves it zeroed. The firmware writes its magic number,
 * takes its side of the lock (Dekker's algorithm) to name the context that the units use, and
 * turns the request for a flush into its result.
 *
 * Workers enter and leave contexts without the firmware's lock, as the driver can keep the page's
 * lock for two seconds; @handoff_lock lets one of them at a time try. All else is the main
 * thread's, with the firmware's lock held.
 */
#include <errno.h>
#include <inttypes.h>
#include <time.h>

#include "../guest_memory.h"
#include "fw_internal.h"

/*
 * How long the firmware waits for the lock; m1n1 and the Rust driver hold it for a few
 * instructions
 */
#define FW_HANDOFF_WAIT_NS	2000000000ULL
#define FW_HANDOFF_STEP_NS	20000

#define FW_KERNEL_HALF		0xffffff8000000000ULL

/*
 * Return: the page, or NULL. Look it up once for accesses that belong together, as it can be
 * unmapped at any time, while pointers into it stay good.
 */
static uint8_t *fw_handoff_page(struct vagx_firmware *fw)
{
	return vagx_mem_ptr(fw->config.mem, fw->config.handoff, AGX_HANDOFF_SIZE);
}

static void *fw_handoff_ptr(struct vagx_firmware *fw, unsigned int offset)
{
	uint8_t *page = fw_handoff_page(fw);

	return page ? page + offset : NULL;
}

void fw_handoff_start(struct vagx_firmware *fw)
{
	uint64_t *magic = fw_handoff_ptr(fw, AGX_HANDOFF_MAGIC_FW);

	if (!magic) {
		vagx_log(fw->config.report, VAGX_LOG_ERROR,
			 "firmware: the handoff page %#" PRIx64 " is not in RAM",
			 fw->config.handoff);
		return;
	}
	__atomic_store_n(magic, AGX_HANDOFF_MAGIC, __ATOMIC_RELEASE);
}

bool fw_handoff_ready(struct vagx_firmware *fw)
{
	const uint64_t *magic = fw_handoff_ptr(fw, AGX_HANDOFF_MAGIC_AP);

	return magic && __atomic_load_n(magic, __ATOMIC_ACQUIRE) == AGX_HANDOFF_MAGIC;
}

static void fw_handoff_nap(void)
{
	struct timespec step = { .tv_nsec = FW_HANDOFF_STEP_NS };

	nanosleep(&step, NULL);
}

static bool fw_handoff_flag(const bool *flag)
{
	return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

/*
 * Waits while the control socket makes the firmware keep its side of the lock. False when the
 * firmware stopped meanwhile.
 */
static bool fw_handoff_wait_while_held(struct vagx_firmware *fw)
{
	while (fw_handoff_flag(&fw->lock_held) && !fw_handoff_flag(&fw->resting))
		fw_handoff_nap();
	return !fw_handoff_flag(&fw->resting);
}

/* The firmware's half of Dekker's algorithm; the driver's is in m1n1 */
static bool fw_handoff_lock(struct vagx_firmware *fw, uint8_t *page)
{
	uint8_t *ap = page + AGX_HANDOFF_LOCK_AP;
	uint8_t *own = page + AGX_HANDOFF_LOCK_FW;
	uint32_t *turn = (uint32_t *)(page + AGX_HANDOFF_TURN);
	uint64_t deadline;

	if (!fw_handoff_wait_while_held(fw))
		return false;
	/* The driver is not to blame for the time that the control socket took. */
	deadline = fw_now_ns() + FW_HANDOFF_WAIT_NS;
	__atomic_store_n(own, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(ap, __ATOMIC_SEQ_CST)) {
		if (fw_now_ns() > deadline || fw_handoff_flag(&fw->resting)) {
			__atomic_store_n(own, 0, __ATOMIC_SEQ_CST);
			return false;
		}
		if (__atomic_load_n(turn, __ATOMIC_SEQ_CST) == 1) {
			fw_handoff_nap();
			continue;
		}
		__atomic_store_n(own, 0, __ATOMIC_SEQ_CST);
		while (__atomic_load_n(turn, __ATOMIC_SEQ_CST) != 1 &&
		       __atomic_load_n(ap, __ATOMIC_SEQ_CST) && fw_now_ns() <= deadline)
			fw_handoff_nap();
		__atomic_store_n(own, 1, __ATOMIC_SEQ_CST);
	}
	return true;
}

static void fw_handoff_unlock(uint8_t *page)
{
	__atomic_store_n((uint32_t *)(page + AGX_HANDOFF_TURN), 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(page + AGX_HANDOFF_LOCK_FW, 0, __ATOMIC_SEQ_CST);
}

static bool fw_handoff_switch_context(struct vagx_firmware *fw, unsigned int slot, uint64_t *ttb)
{
	uint8_t *page = fw_handoff_page(fw);

	if (!page) {
		vagx_log(fw->config.report, VAGX_LOG_ERROR,
			 "firmware: the handoff page %#" PRIx64 " is gone", fw->config.handoff);
		return false;
	}
	if (!fw_handoff_lock(fw, page)) {
		if (fw_handoff_flag(&fw->resting))
			return false;
		vagx_violation(fw->config.report, VAGX_RULE_FW_HANDOFF_LOCK,
			       fw->config.handoff + AGX_HANDOFF_LOCK_AP, "handoff",
			       "the driver has held the lock for two seconds");
		return false;
	}
	__atomic_store_n((uint32_t *)(page + AGX_HANDOFF_CUR_SLOT), slot, __ATOMIC_SEQ_CST);
	if (ttb)
		*ttb = vagx_uat_ttb(fw->config.uat, slot, 0);
	fw_handoff_unlock(page);
	return true;
}

bool fw_handoff_enter(struct vagx_firmware *fw, unsigned int slot, uint64_t *ttb)
{
	bool entered;

	pthread_mutex_lock(&fw->handoff_lock);
	entered = fw_handoff_switch_context(fw, slot, ttb);
	fw->handoff_users += entered;
	pthread_mutex_unlock(&fw->handoff_lock);
	return entered;
}

/*
 * Names the kernel's context when the last job has left; until then the page names the context of
 * the job that came last
 */
void fw_handoff_leave(struct vagx_firmware *fw)
{
	pthread_mutex_lock(&fw->handoff_lock);
	if (!--fw->handoff_users)
		fw_handoff_switch_context(fw, 0, NULL);
	pthread_mutex_unlock(&fw->handoff_lock);
}

static bool fw_handoff_is_cached(uint64_t pte)
{
	return (pte & VAGX_PTE_VALID) && VAGX_PTE_ATTR(pte) == VAGX_ATTR_FW_CACHED;
}

static void fw_handoff_check_uncached(struct vagx_firmware *fw, unsigned int context, uint64_t va,
				      uint64_t size)
{
	uint64_t first = va >> VAGX_UAT_PAGE_SHIFT, last = (va + size - 1) >> VAGX_UAT_PAGE_SHIFT;

	for (uint64_t i = first; i <= last; i++) {
		uint64_t page = i << VAGX_UAT_PAGE_SHIFT;
		uint64_t now = vagx_uat_table_pte(fw->config.uat, context, page);
		uint64_t seen = vagx_uat_pte(fw->config.uat, context, page);

		if (!fw_handoff_is_cached(now) && !fw_handoff_is_cached(seen))
			continue;
		vagx_violation(fw->config.report,
			       fw_handoff_is_cached(now) ? VAGX_CLAUSE_FW_FLUSH_MAPPING_tables :
							   VAGX_CLAUSE_FW_FLUSH_MAPPING_tlb,
			       page, "handoff",
			       fw_handoff_is_cached(now) ? "is still mapped as cached" :
						"is still cached, as TLBs have it");
		return;
	}
}

/* Return: the clause about a range that is to be flushed that is broken, or VAGX_KEPT */
static enum vagx_rule fw_handoff_check_range(unsigned int slot, uint64_t va, uint64_t size)
{
	if (!size)
		return VAGX_CLAUSE_FW_FLUSH_STATE_empty;
	if (va + size < va)
		return VAGX_CLAUSE_FW_FLUSH_STATE_wrap;
	if (size > FW_MAX_FLUSH)
		return VAGX_CLAUSE_FW_FLUSH_STATE_large;
	if (slot == AGX_HANDOFF_FLUSH_KERNEL && va < FW_KERNEL_HALF)
		return VAGX_CLAUSE_FW_FLUSH_STATE_kernel;
	if (slot != AGX_HANDOFF_FLUSH_KERNEL && va >= FW_KERNEL_HALF)
		return VAGX_CLAUSE_FW_FLUSH_STATE_client;
	return VAGX_KEPT;
}

static void fw_handoff_do_flush(struct vagx_firmware *fw, unsigned int slot)
{
	uint64_t *entry = slot < AGX_HANDOFF_FLUSH_COUNT
				  ? fw_handoff_ptr(fw, AGX_HANDOFF_FLUSH_ENTRY(slot))
				  : NULL;
	uint64_t *state = entry, result = AGX_HANDOFF_FLUSH_DONE, va, size;
	enum vagx_rule clause;

	if (!entry || __atomic_load_n(state, __ATOMIC_ACQUIRE) != AGX_HANDOFF_FLUSH_REQUESTED) {
		vagx_violation(fw->config.report,
			       entry ? VAGX_CLAUSE_FW_FLUSH_STATE_request :
				       VAGX_CLAUSE_FW_FLUSH_STATE_slot,
			       slot, "handoff",
			       "the slot has no request for a flush");
		return;
	}
	va = entry[AGX_HANDOFF_FLUSH_ADDR / 8];
	size = entry[AGX_HANDOFF_FLUSH_SIZE / 8];
	clause = fw_handoff_check_range(slot, va, size);
	if (clause != VAGX_KEPT) {
		vagx_violation(fw->config.report, clause, va, "handoff", "slot %u cannot flush %#" PRIx64 " bytes there", slot, size);
	} else {
		fw_handoff_check_uncached(fw, slot == AGX_HANDOFF_FLUSH_KERNEL ? 0 : slot, va,
					  size);
		if (slot == AGX_HANDOFF_FLUSH_KERNEL)
			fw_cache_flush(fw->cache, &fw->access, va, size);
	}
	if (fw->inject.flush_state_set)
		result = fw->inject.flush_state;
	__atomic_store_n(state, result, __ATOMIC_RELEASE);
	fw->inject.flush_state_set = false;
}

void fw_handoff_flush(struct vagx_firmware *fw, unsigned int slot)
{
	if (!fw->inject.late_flush_ms || slot >= AGX_HANDOFF_FLUSH_COUNT)
		fw_handoff_do_flush(fw, slot);
	else
		fw->flush_due[slot] = fw_now_ns() + fw->inject.late_flush_ms * 1000000ULL;
}

uint64_t fw_handoff_late(struct vagx_firmware *fw, uint64_t now_ns)
{
	uint64_t next = 0;

	for (unsigned int i = 0; i < AGX_HANDOFF_FLUSH_COUNT; i++) {
		uint64_t due = fw->flush_due[i];

		if (due && due <= now_ns) {
			fw->flush_due[i] = 0;
			fw_handoff_do_flush(fw, i);
		} else if (due && (!next || due < next)) {
			next = due;
		}
	}
	return next;
}

int fw_handoff_hold(struct vagx_firmware *fw, bool on)
{
	uint8_t *page = fw_handoff_page(fw);

	if (!page)
		return -ENODEV;
	if (on) {
		__atomic_store_n(&fw->lock_held, true, __ATOMIC_RELEASE);
		__atomic_store_n((uint32_t *)(page + AGX_HANDOFF_TURN), 1, __ATOMIC_SEQ_CST);
		__atomic_store_n(page + AGX_HANDOFF_LOCK_FW, 1, __ATOMIC_SEQ_CST);
	} else if (fw_handoff_flag(&fw->lock_held)) {
		fw_handoff_unlock(page);
		__atomic_store_n(&fw->lock_held, false, __ATOMIC_RELEASE);
	}
	return 0;
}
