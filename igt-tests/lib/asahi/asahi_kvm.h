/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * A virtual machine of one processor and a few instructions, which has a mapping of this
 * process for memory, as muvm's guests have buffers of the GPU's.
 */
#ifndef ASAHI_KVM_H
#define ASAHI_KVM_H

#include <stddef.h>
#include <stdint.h>

struct asahi_kvm;

/* igt_asahi_kvm_open - a machine with this memory; skips where there is no KVM */
struct asahi_kvm *igt_asahi_kvm_open(void *memory, size_t size);
/*
 * igt_asahi_kvm_run - the machine loads the word at this offset of its memory, and stores
 * a value in the next one. Returns what it has loaded.
 */
uint64_t igt_asahi_kvm_run(struct asahi_kvm *kvm, size_t offset, uint64_t value);
void igt_asahi_kvm_close(struct asahi_kvm *kvm);

#endif
