/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * InitData: the root of what driver and firmware share, and access to the
 * few words in it that change at run time.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_INITDATA_H
#define ASAHI_INITDATA_H

#include <linux/types.h>

#include <agx/agx_rtkit.h>

#include "asahi_channel.h"
#include "asahi_hw.h"

struct asahi_block;
struct asahi_device;

/**
 * enum asahi_initdata_part - pieces of memory that make up the initdata
 * @ASAHI_INITDATA_ROOT: InitData
 * @ASAHI_INITDATA_RUNTIME: RuntimePointers
 * @ASAHI_INITDATA_GLOBALS: Globals
 * @ASAHI_INITDATA_HWDATA_A: HwDataA
 * @ASAHI_INITDATA_HWDATA_B: HwDataB
 * @ASAHI_INITDATA_FW_STATUS: FwStatus
 * @ASAHI_INITDATA_STATS_VTX: statistics of vertex work
 * @ASAHI_INITDATA_STATS_FRAG: statistics of fragment work
 * @ASAHI_INITDATA_STATS_COMP: statistics of compute work
 * @ASAHI_INITDATA_UNK_BUF: what InitData.unk_buf points to
 * @ASAHI_INITDATA_UNK_190: what RuntimePointers.unkptr_190 points to
 * @ASAHI_INITDATA_UNK_198: what RuntimePointers.unkptr_198 points to
 * @ASAHI_INITDATA_UNK_1B8: what RuntimePointers.unkptr_1b8 points to
 * @ASAHI_INITDATA_UNK_1C0: what RuntimePointers.unkptr_1c0 points to
 * @ASAHI_INITDATA_UNK_1C8: what RuntimePointers.unkptr_1c8 points to
 * @ASAHI_INITDATA_BUFMGR: control page of the buffer manager
 * @ASAHI_INITDATA_PARTS: number of pieces
 */
enum asahi_initdata_part {
	ASAHI_INITDATA_ROOT,
	ASAHI_INITDATA_RUNTIME,
	ASAHI_INITDATA_GLOBALS,
	ASAHI_INITDATA_HWDATA_A,
	ASAHI_INITDATA_HWDATA_B,
	ASAHI_INITDATA_FW_STATUS,
	ASAHI_INITDATA_STATS_VTX,
	ASAHI_INITDATA_STATS_FRAG,
	ASAHI_INITDATA_STATS_COMP,
	ASAHI_INITDATA_UNK_BUF,
	ASAHI_INITDATA_UNK_190,
	ASAHI_INITDATA_UNK_198,
	ASAHI_INITDATA_UNK_1B8,
	ASAHI_INITDATA_UNK_1C0,
	ASAHI_INITDATA_UNK_1C8,
	ASAHI_INITDATA_BUFMGR,
	ASAHI_INITDATA_PARTS,
};

/**
 * struct asahi_initdata_layout - all that goes into the initdata
 * @map: where the kernel sees each part
 * @va: where the firmware sees each part
 * @channels: addresses of the rings
 * @io_va: where the firmware sees each range of registers; 0 for unused ones
 * @sram_va: where the firmware sees the GPU's SRAM, or 0
 */
struct asahi_initdata_layout {
	void *map[ASAHI_INITDATA_PARTS];
	u64 va[ASAHI_INITDATA_PARTS];
	struct asahi_channel_layout channels;
	u64 io_va[ASAHI_IO_MAPS];
	u64 sram_va;
};

extern const struct asahi_block asahi_block_initdata;

u32 asahi_initdata_highest_mhz(const __le32 *mhz);
u64 asahi_initdata_stats_va(struct asahi_device *adev, unsigned int pipe);

void asahi_initdata_begin_submission(struct asahi_device *adev);
void asahi_initdata_end_submission(struct asahi_device *adev);

/**
 * struct asahi_pending_stamp - work that the firmware had in progress
 * @event_slot: event whose stamp the work will write
 * @value: stamp value that the work will write
 * @flags: further bits, meaning unknown
 */
struct asahi_pending_stamp {
	u32 event_slot;
	u32 value;
	u32 flags;
};

/** ASAHI_PENDING_STAMPS - entries of the table of pending stamps */
#define ASAHI_PENDING_STAMPS 0x100

bool asahi_initdata_take_pending(struct asahi_device *adev, unsigned int index,
				 struct asahi_pending_stamp *stamp);
bool asahi_initdata_halted(struct asahi_device *adev);
int asahi_initdata_resume(struct asahi_device *adev, u64 timeout_us);
u64 asahi_initdata_halt_count(struct asahi_device *adev);

#endif
