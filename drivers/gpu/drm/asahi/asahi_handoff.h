/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The handoff region, through which host and firmware share the MMU.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_HANDOFF_H
#define ASAHI_HANDOFF_H

#include <linux/build_bug.h>
#include <linux/stddef.h>
#include <linux/types.h>

#include <agx/agx_uat.h>

/**
 * struct asahi_handoff_flush - request for a flush of the firmware's cache
 * @state: AGX_HANDOFF_FLUSH_*
 * @addr: first address
 * @size: bytes
 */
struct asahi_handoff_flush {
	__le64 state;
	__le64 addr;
	__le64 size;
};

/**
 * struct asahi_handoff - the region
 * @magic_ap: the host is there
 * @magic_fw: the firmware is there
 * @lock_ap: the host has the lock, or wants it
 * @lock_fw: the firmware has the lock, or wants it
 * @pad_12: unused
 * @turn: who goes first if both want it: 0 the host, else the firmware
 * @cur_slot: context that the firmware is in, 0 or all ones for none
 * @pad_1c: unused
 * @flush: one request for each context, and one for the kernel half
 * @unk2: unknown
 * @pad_639: unused
 * @unk3: unknown
 */
struct asahi_handoff {
	__le64 magic_ap;
	__le64 magic_fw;
	u8 lock_ap;
	u8 lock_fw;
	u8 pad_12[2];
	__le32 turn;
	__le32 cur_slot;
	u8 pad_1c[4];
	struct asahi_handoff_flush flush[AGX_HANDOFF_FLUSH_COUNT];
	u8 unk2;
	u8 pad_639[7];
	__le64 unk3;
};

static_assert(offsetof(struct asahi_handoff, magic_ap) == AGX_HANDOFF_MAGIC_AP);
static_assert(offsetof(struct asahi_handoff, magic_fw) == AGX_HANDOFF_MAGIC_FW);
static_assert(offsetof(struct asahi_handoff, lock_ap) == AGX_HANDOFF_LOCK_AP);
static_assert(offsetof(struct asahi_handoff, lock_fw) == AGX_HANDOFF_LOCK_FW);
static_assert(offsetof(struct asahi_handoff, turn) == AGX_HANDOFF_TURN);
static_assert(offsetof(struct asahi_handoff, cur_slot) == AGX_HANDOFF_CUR_SLOT);
static_assert(offsetof(struct asahi_handoff, flush) == AGX_HANDOFF_FLUSH);
static_assert(sizeof(struct asahi_handoff_flush) == AGX_HANDOFF_FLUSH_STRIDE);
static_assert(offsetof(struct asahi_handoff, unk2) == AGX_HANDOFF_UNK2);
static_assert(offsetof(struct asahi_handoff, unk3) == AGX_HANDOFF_UNK3);
static_assert(sizeof(struct asahi_handoff) == AGX_HANDOFF_SIZE);

int asahi_handoff_lock(struct asahi_handoff *h);
void asahi_handoff_unlock(struct asahi_handoff *h);
unsigned int asahi_handoff_current_slot(const struct asahi_handoff *h);
bool asahi_handoff_was_used(const struct asahi_handoff *h);
void asahi_handoff_announce(struct asahi_handoff *h);
void asahi_handoff_retract(struct asahi_handoff *h);
void asahi_handoff_reset(struct asahi_handoff *h);
bool asahi_handoff_answered(struct asahi_handoff *h);
void asahi_handoff_begin_flush(struct asahi_handoff *h, unsigned int index, u64 va, u64 size);
u64 asahi_handoff_flush_state(const struct asahi_handoff *h, unsigned int index);
void asahi_handoff_end_flush(struct asahi_handoff *h, unsigned int index);

#endif
