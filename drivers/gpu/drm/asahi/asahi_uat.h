/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * UAT: MMU contexts, and coordination with the firmware.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_UAT_H
#define ASAHI_UAT_H

#include <linux/types.h>

#include "asahi_aspace.h"

struct asahi_block;
struct asahi_device;

/*
 * Contexts of the MMU and the kernel half. Unplug cuts GPU and firmware off from
 * all memory.
 */
extern const struct asahi_block asahi_block_uat;

void asahi_uat_cut_off(struct asahi_device *adev);
void asahi_uat_revoke_clients(struct asahi_device *adev);
void asahi_uat_strip_clients(struct asahi_device *adev);
void asahi_uat_forget_firmware(struct asahi_device *adev);

struct asahi_aspace *asahi_uat_low(struct asahi_device *adev);

bool asahi_uat_is_attached(const struct asahi_aspace *as, unsigned int slot);
void asahi_uat_attach(struct asahi_aspace *as, unsigned int slot);
void asahi_uat_bar(struct asahi_aspace *as);
void asahi_uat_drop_barred(struct asahi_aspace *as, enum asahi_view view);
void asahi_uat_unbar(struct asahi_aspace *as);
void asahi_uat_detach(struct asahi_aspace *as);
int asahi_uat_fw_flush(struct asahi_aspace *as, u64 va, u64 size);

#endif
