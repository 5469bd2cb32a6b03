/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_HANDOFF_H
#define VAGX_HANDOFF_H

/*
 * The handoff page, which driver and firmware share to agree about the page
 * tables. Source of the offsets: m1n1 fw/agx/handoff.py.
 *
 * The boot loader leaves the page zeroed. The driver's half is magic_ap,
 * lock_ap and cur_slot; the firmware's half (magic_fw, lock_fw, and turning
 * a flush state of 1 into 2) belongs to firmware/.
 */
#define VAGX_HANDOFF_MAGIC		0x4b1d000000000002ULL

#define VAGX_HANDOFF_MAGIC_AP		0x00	/* u64 */
#define VAGX_HANDOFF_MAGIC_FW		0x08	/* u64 */
#define VAGX_HANDOFF_LOCK_AP		0x10	/* u8 */
#define VAGX_HANDOFF_LOCK_FW		0x11	/* u8 */
#define VAGX_HANDOFF_TURN		0x14	/* u32: 0 AP, 1 firmware */
#define VAGX_HANDOFF_CUR_CTX		0x18	/* u32 */

/* One entry per context, and one for the kernel half */
#define VAGX_HANDOFF_FLUSH_COUNT	0x41
#define VAGX_HANDOFF_FLUSH(n)		(0x20 + 0x18 * (n))
#define VAGX_HANDOFF_FLUSH_STATE	0x00	/* u64: 0 idle, 1 asked, 2 done */
#define VAGX_HANDOFF_FLUSH_ADDR		0x08	/* u64 */
#define VAGX_HANDOFF_FLUSH_SIZE		0x10	/* u64 */

#define VAGX_HANDOFF_UNK2		0x638	/* u8 */
#define VAGX_HANDOFF_UNK3		0x640	/* u64 */
#define VAGX_HANDOFF_SIZE		0x648

#endif
