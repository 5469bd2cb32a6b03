/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Rings shared with the firmware.
 *
 * One side writes entries and advances the write pointer, the other reads
 * them and advances the read pointer; equal pointers mean empty. Both pointers
 * count entries and wrap at the ring's size. Neither structure has a lock: the
 * owner serialises its side. All functions run in any context and neither
 * sleep nor allocate.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_RING_H
#define ASAHI_RING_H

#include <linux/types.h>

/**
 * struct asahi_tx_ring - a ring that the driver fills
 * @rptr: the firmware's pointer
 * @wptr: the driver's pointer, as the firmware sees it
 * @entries: the entries
 * @entry_size: bytes of an entry
 * @count: number of entries
 * @next: the driver's pointer, as it trusts it
 * @reserved: entries that have been promised, but are not committed yet
 */
struct asahi_tx_ring {
	const __le32 *rptr;
	__le32 *wptr;
	void *entries;
	u32 entry_size;
	u32 count;
	u32 next;
	u32 reserved;
};

/**
 * struct asahi_rx_ring - a ring that the firmware fills
 * @rptr: the driver's pointer, as the firmware sees it
 * @wptr: the firmware's pointer
 * @entries: the entries
 * @entry_size: bytes of an entry
 * @count: number of entries
 * @next: the driver's pointer, as it trusts it
 */
struct asahi_rx_ring {
	__le32 *rptr;
	const __le32 *wptr;
	const void *entries;
	u32 entry_size;
	u32 count;
	u32 next;
};

u32 asahi_tx_ring_room(const struct asahi_tx_ring *ring);
bool asahi_tx_ring_reserve(struct asahi_tx_ring *ring);
bool asahi_tx_ring_full(const struct asahi_tx_ring *ring);
u32 asahi_tx_ring_read_so_far(const struct asahi_tx_ring *ring);
bool asahi_tx_ring_drained(const struct asahi_tx_ring *ring);
void *asahi_tx_ring_entry(struct asahi_tx_ring *ring);
void asahi_tx_ring_commit(struct asahi_tx_ring *ring);
int asahi_rx_ring_peek(const struct asahi_rx_ring *ring, void *entry);
void asahi_rx_ring_pop(struct asahi_rx_ring *ring);
bool asahi_rx_ring_unread(const struct asahi_rx_ring *ring);
int asahi_rx_ring_get(struct asahi_rx_ring *ring, void *entry);

#endif
