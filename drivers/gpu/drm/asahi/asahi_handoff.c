// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The handoff region, through which host and firmware share the MMU.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/visibility.h>

#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/ktime.h>
#include <linux/processor.h>

#include <asm/barrier.h>
#include <asm/byteorder.h>

#include "asahi_handoff.h"

/*
 * The lock is Dekker's: each side raises its flag and looks at the other's;
 * when both are up, the one whose turn it is not lowers its own and waits. The
 * turn goes to the other side on release. The firmware holds the lock for a few
 * instructions only, so the host spins, though not for ever.
 *
 * It excludes host and firmware, not tasks: the owner of the region serialises
 * all calls here.
 */
#define ASAHI_HANDOFF_TIMEOUT_US	(100 * USEC_PER_MSEC)

static void asahi_handoff_raise_flag(struct asahi_handoff *h)
{
	WRITE_ONCE(h->lock_ap, 1);
	/* The flag must be seen before the other one is looked at. */
	dma_mb();
}

static void asahi_handoff_lower_flag(struct asahi_handoff *h)
{
	WRITE_ONCE(h->lock_ap, 0);
}

static bool asahi_handoff_wait_turn(struct asahi_handoff *h, ktime_t deadline)
{
	while (READ_ONCE(h->turn)) {
		if (ktime_after(ktime_get(), deadline))
			return false;
		cpu_relax();
	}

	return true;
}

/**
 * asahi_handoff_lock() - keep the firmware from contexts and tables
 * @h: region
 *
 * Any context; spins for up to 100 ms.
 *
 * Return: 0, or -ETIMEDOUT if the firmware does not give the lock up.
 */
int asahi_handoff_lock(struct asahi_handoff *h)
{
	ktime_t deadline = ktime_add_us(ktime_get(), ASAHI_HANDOFF_TIMEOUT_US);

	asahi_handoff_raise_flag(h);
	while (READ_ONCE(h->lock_fw)) {
		if (READ_ONCE(h->turn)) {
			asahi_handoff_lower_flag(h);
			if (!asahi_handoff_wait_turn(h, deadline))
				return -ETIMEDOUT;
			asahi_handoff_raise_flag(h);
		}

		if (ktime_after(ktime_get(), deadline)) {
			asahi_handoff_lower_flag(h);
			return -ETIMEDOUT;
		}
		cpu_relax();
	}
	/* What the firmware did under the lock comes before what we do. */
	dma_mb();
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_handoff_lock);

/**
 * asahi_handoff_unlock() - let the firmware go on
 * @h: region, locked
 *
 * Any context.
 */
void asahi_handoff_unlock(struct asahi_handoff *h)
{
	/* What we did under the lock comes before its release. */
	dma_mb();
	WRITE_ONCE(h->turn, cpu_to_le32(1));
	dma_wmb();
	asahi_handoff_lower_flag(h);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_handoff_unlock);

/**
 * asahi_handoff_current_slot() - which context is the firmware in?
 * @h: region, locked
 *
 * Any context.
 *
 * Return: the context, or 0 for none.
 */
unsigned int asahi_handoff_current_slot(const struct asahi_handoff *h)
{
	u32 slot = le32_to_cpu(READ_ONCE(h->cur_slot));

	return slot == U32_MAX ? 0 : slot;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_handoff_current_slot);

/**
 * asahi_handoff_was_used() - has a host been here before?
 * @h: region
 *
 * Any context. The region may have kept that from before a reboot.
 *
 * Return: true if a host has announced itself.
 */
bool asahi_handoff_was_used(const struct asahi_handoff *h)
{
	return READ_ONCE(h->magic_ap) == cpu_to_le64(AGX_HANDOFF_MAGIC);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_handoff_was_used);

/**
 * asahi_handoff_announce() - say that the host is there
 * @h: region
 *
 * Any context.
 */
void asahi_handoff_announce(struct asahi_handoff *h)
{
	WRITE_ONCE(h->magic_ap, cpu_to_le64(AGX_HANDOFF_MAGIC));
	WRITE_ONCE(h->cur_slot, 0);
	WRITE_ONCE(h->unk3, 0);
	dma_wmb();
}
EXPORT_SYMBOL_IF_KUNIT(asahi_handoff_announce);

/**
 * asahi_handoff_retract() - take the announcement back
 * @h: region
 *
 * Any context. For a host that leaves before it has used the firmware.
 */
void asahi_handoff_retract(struct asahi_handoff *h)
{
	WRITE_ONCE(h->magic_ap, 0);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_handoff_retract);

/**
 * asahi_handoff_reset() - forget a firmware that does not run any more
 * @h: region
 *
 * Any context. Neither side holds the lock or has announced itself afterwards.
 */
void asahi_handoff_reset(struct asahi_handoff *h)
{
	WRITE_ONCE(h->magic_fw, 0);
	WRITE_ONCE(h->lock_fw, 0);
	WRITE_ONCE(h->lock_ap, 0);
	WRITE_ONCE(h->turn, 0);
	asahi_handoff_retract(h);
	/* The region is as it should be before the coprocessor starts. */
	wmb();
}
EXPORT_SYMBOL_IF_KUNIT(asahi_handoff_reset);

/**
 * asahi_handoff_answered() - is the firmware there?
 * @h: region
 *
 * Looks under the lock, as everybody who has driven this firmware does, and
 * clears all flush requests if so. Any context; spins for up to 100 ms.
 *
 * Return: true if the firmware has announced itself.
 */
bool asahi_handoff_answered(struct asahi_handoff *h)
{
	unsigned int i;
	bool answered;

	if (asahi_handoff_lock(h))
		return false;
	answered = READ_ONCE(h->magic_fw) == cpu_to_le64(AGX_HANDOFF_MAGIC);
	asahi_handoff_unlock(h);

	for (i = 0; answered && i < AGX_HANDOFF_FLUSH_COUNT; i++) {
		WRITE_ONCE(h->flush[i].state, cpu_to_le64(AGX_HANDOFF_FLUSH_IDLE));
		WRITE_ONCE(h->flush[i].addr, 0);
		WRITE_ONCE(h->flush[i].size, 0);
	}
	dma_wmb();
	return answered;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_handoff_answered);

/**
 * asahi_handoff_begin_flush() - describe what is to be flushed
 * @h: region
 * @index: context, or AGX_HANDOFF_FLUSH_KERNEL
 * @va: first address
 * @size: bytes
 *
 * The request itself is a message on the firmware control channel. Any
 * context; one flush of a context at a time.
 */
void asahi_handoff_begin_flush(struct asahi_handoff *h, unsigned int index, u64 va, u64 size)
{
	struct asahi_handoff_flush *flush = &h->flush[index];

	WRITE_ONCE(flush->addr, cpu_to_le64(va));
	WRITE_ONCE(flush->size, cpu_to_le64(size));
	dma_wmb();
	WRITE_ONCE(flush->state, cpu_to_le64(AGX_HANDOFF_FLUSH_REQUESTED));
}
EXPORT_SYMBOL_IF_KUNIT(asahi_handoff_begin_flush);

/**
 * asahi_handoff_flush_state() - how far is the flush?
 * @h: region
 * @index: as for asahi_handoff_begin_flush()
 *
 * What the firmware has flushed is in memory for whoever sees AGX_HANDOFF_FLUSH_DONE.
 * Any context.
 *
 * Return: AGX_HANDOFF_FLUSH_*, or what else the firmware has left there.
 */
u64 asahi_handoff_flush_state(const struct asahi_handoff *h, unsigned int index)
{
	u64 state = le64_to_cpu(READ_ONCE(h->flush[index].state));

	dma_rmb();
	return state;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_handoff_flush_state);

/**
 * asahi_handoff_end_flush() - make room for the next request
 * @h: region
 * @index: as for asahi_handoff_begin_flush(); the firmware has answered
 *
 * Any context.
 */
void asahi_handoff_end_flush(struct asahi_handoff *h, unsigned int index)
{
	WRITE_ONCE(h->flush[index].state, cpu_to_le64(AGX_HANDOFF_FLUSH_IDLE));
}
EXPORT_SYMBOL_IF_KUNIT(asahi_handoff_end_flush);
