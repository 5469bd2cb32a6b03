/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Dumps of GPU address spaces, for core dumps and debugfs, and what they cost.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_VM_DUMP_H
#define ASAHI_VM_DUMP_H

#include <linux/types.h>

struct asahi_device;
struct asahi_file;
struct asahi_vm;
struct drm_printer;

/**
 * struct asahi_vm_memory - what the kernel holds for a client's address spaces
 * @tables: bytes in page tables
 * @heaps: bytes in heaps, for the GPU's and the firmware's use
 * @used: how many of those are allocated at the moment
 */
struct asahi_vm_memory {
	u64 tables;
	u64 heaps;
	u64 used;
};

void asahi_vm_memory(struct asahi_file *afile, struct asahi_vm_memory *memory);
void asahi_vm_debugfs_init(struct asahi_device *adev);
void asahi_vm_print(struct asahi_vm *vm, struct drm_printer *p);
void asahi_vm_print_walk(struct asahi_vm *vm, u64 addr, struct drm_printer *p);
size_t asahi_vm_read(struct asahi_vm *vm, u64 addr, void *buf, size_t len);

#endif
