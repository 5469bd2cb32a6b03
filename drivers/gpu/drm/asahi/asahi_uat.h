/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * UAT: MMU contexts, coordination with the firmware, TLB invalidation and the
 * page table of the kernel half.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_UAT_H
#define ASAHI_UAT_H

#include <linux/types.h>

#include "asahi_pgtable.h"

struct asahi_device;

/**
 * struct asahi_uat_vm - hardware context of a VM
 * @ttb: physical address of the VM's root table
 * @slot: context that the VM owns, 1 to 63, or negative for none; protected by
 *	the UAT's slot lock, and changed by any VM that takes the slot over
 *
 * Embedded in the VM. Must be detached before the VM's tables are freed.
 */
struct asahi_uat_vm {
	u64 ttb;
	int slot;
};

int asahi_uat_init(struct asahi_device *adev, bool was_started);
void asahi_uat_unplug(struct asahi_device *adev);
void asahi_uat_fini(struct asahi_device *adev);

void asahi_uat_vm_init(struct asahi_uat_vm *vm, u64 ttb);
void asahi_uat_vm_attach(struct asahi_device *adev, struct asahi_uat_vm *vm, unsigned int slot);
void asahi_uat_vm_detach(struct asahi_device *adev, struct asahi_uat_vm *vm);

void asahi_uat_invalidate(struct asahi_device *adev, struct asahi_uat_vm *vm, u64 va, u64 size,
			  bool tables);
int asahi_uat_fw_flush(struct asahi_device *adev, struct asahi_uat_vm *vm, u64 va, u64 size);

int asahi_uat_kmap(struct asahi_device *adev, u64 va, dma_addr_t pa, u64 size,
		   enum asahi_prot prot);
void asahi_uat_kunmap(struct asahi_device *adev, u64 va, u64 size, enum asahi_prot prot);
int asahi_uat_map_low(struct asahi_device *adev, u64 va, dma_addr_t pa, u64 size,
		      enum asahi_prot prot);

/**
 * struct asahi_tlbi - one TLB invalidation instruction
 * @op: which instruction
 * @arg: its operand
 */
struct asahi_tlbi {
	enum {
		ASAHI_TLBI_PAGE,	/* vae1os */
		ASAHI_TLBI_RANGE,	/* rvae1os */
	} op;
	u64 arg;
};

bool asahi_uat_next_tlbi(u64 *va, u64 *pages, u16 asid, struct asahi_tlbi *tlbi);

#endif
