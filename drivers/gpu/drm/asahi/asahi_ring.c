// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Rings shared with the firmware.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <kunit/visibility.h>

#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/string.h>

#include <asm/barrier.h>
#include <asm/byteorder.h>

#include "asahi_ring.h"

static u32 asahi_ring_after(u32 pos, u32 count)
{
	return pos + 1 == count ? 0 : pos + 1;
}

/*
 * Reads the other side's pointer. What it says about entries holds for reads
 * and writes of them that come after.
 */
static u32 asahi_ring_peer_pointer(const __le32 *ptr)
{
	u32 value = le32_to_cpu(READ_ONCE(*ptr));

	dma_rmb();
	return value;
}

/**
 * asahi_tx_ring_room() - how many entries have room?
 * @ring: ring
 *
 * Return: number of entries that can be committed before the firmware has to
 * read one; one less than the ring has if it is drained.
 */
u32 asahi_tx_ring_room(const struct asahi_tx_ring *ring)
{
	u32 next = asahi_ring_after(ring->next, ring->count);

	return (asahi_ring_peer_pointer(ring->rptr) + ring->count - next) % ring->count;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_tx_ring_room);

/**
 * asahi_tx_ring_reserve() - promise room for an entry, if there is some
 * @ring: ring
 *
 * Who commits the entry, or gives the room back, takes it off @ring->reserved.
 *
 * Return: true if there is room beside all that is promised already.
 */
bool asahi_tx_ring_reserve(struct asahi_tx_ring *ring)
{
	if (asahi_tx_ring_room(ring) <= ring->reserved)
		return false;

	ring->reserved++;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_tx_ring_reserve);

/**
 * asahi_tx_ring_full() - is there no room for an entry?
 * @ring: ring
 *
 * Return: true if the firmware has to read an entry first.
 */
bool asahi_tx_ring_full(const struct asahi_tx_ring *ring)
{
	return !asahi_tx_ring_room(ring);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_tx_ring_full);

/**
 * asahi_tx_ring_drained() - has the firmware read everything?
 * @ring: ring
 *
 * Return: true if no entry is left.
 */
bool asahi_tx_ring_drained(const struct asahi_tx_ring *ring)
{
	return asahi_ring_peer_pointer(ring->rptr) == ring->next;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_tx_ring_drained);

/**
 * asahi_tx_ring_read_so_far() - how far has the firmware read?
 * @ring: ring
 *
 * Return: its pointer, which may be anything.
 */
u32 asahi_tx_ring_read_so_far(const struct asahi_tx_ring *ring)
{
	return asahi_ring_peer_pointer(ring->rptr);
}

/**
 * asahi_tx_ring_entry() - get the next entry to fill in
 * @ring: ring, not full
 *
 * Return: the entry, zeroed; the firmware does not look at it yet.
 */
void *asahi_tx_ring_entry(struct asahi_tx_ring *ring)
{
	void *entry = ring->entries + (size_t)ring->next * ring->entry_size;

	memset(entry, 0, ring->entry_size);
	return entry;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_tx_ring_entry);

/**
 * asahi_tx_ring_commit() - publish the entry that has been filled in
 * @ring: ring
 *
 * Everything written before is visible to the firmware before the entry is.
 */
void asahi_tx_ring_commit(struct asahi_tx_ring *ring)
{
	/* A core dump reads it at any time, without a lock. */
	WRITE_ONCE(ring->next, asahi_ring_after(ring->next, ring->count));
	dma_wmb();
	WRITE_ONCE(*ring->wptr, cpu_to_le32(ring->next));
}
EXPORT_SYMBOL_IF_KUNIT(asahi_tx_ring_commit);

/**
 * asahi_rx_ring_peek() - look at the next entry
 * @ring: ring
 * @entry: copy of the entry
 *
 * The entry, and whatever the firmware keeps as long as it is not read, stay
 * as they are until asahi_rx_ring_pop().
 *
 * Return: 1 if there is one, 0 if not, -EIO if the firmware's pointer is
 * outside the ring.
 */
int asahi_rx_ring_peek(const struct asahi_rx_ring *ring, void *entry)
{
	u32 wptr = asahi_ring_peer_pointer(ring->wptr);

	if (wptr >= ring->count)
		return -EIO;
	if (wptr == ring->next)
		return 0;

	memcpy(entry, ring->entries + (size_t)ring->next * ring->entry_size, ring->entry_size);
	return 1;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_rx_ring_peek);

/**
 * asahi_rx_ring_pop() - be done with the entry that asahi_rx_ring_peek() found
 * @ring: ring
 *
 * All that was read before was read before the firmware can write it again.
 */
void asahi_rx_ring_pop(struct asahi_rx_ring *ring)
{
	/* A core dump reads it at any time, without a lock. */
	WRITE_ONCE(ring->next, asahi_ring_after(ring->next, ring->count));
	/* The firmware may overwrite the entry as soon as it sees the pointer. */
	dma_mb();
	WRITE_ONCE(*ring->rptr, cpu_to_le32(ring->next));
}
EXPORT_SYMBOL_IF_KUNIT(asahi_rx_ring_pop);

/**
 * asahi_rx_ring_unread() - has the firmware written what nobody has read?
 * @ring: ring
 *
 * For others than the reader: it may be reading meanwhile. Any context.
 *
 * Return: true if so, or if the firmware's pointer is outside the ring.
 */
bool asahi_rx_ring_unread(const struct asahi_rx_ring *ring)
{
	return asahi_ring_peer_pointer(ring->wptr) != READ_ONCE(ring->next);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_rx_ring_unread);

/**
 * asahi_rx_ring_get() - take an entry
 * @ring: ring
 * @entry: copy of the entry
 *
 * Return: 1 if there was one, 0 if not, -EIO if the firmware's pointer is
 * outside the ring.
 */
int asahi_rx_ring_get(struct asahi_rx_ring *ring, void *entry)
{
	int ret = asahi_rx_ring_peek(ring, entry);

	if (ret > 0)
		asahi_rx_ring_pop(ring);

	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_rx_ring_get);
