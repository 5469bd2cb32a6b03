// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * See asahi_kvm.h.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "asahi_ioctl.h"
#include "asahi_kvm.h"
#include "igt.h"

#ifdef __aarch64__

#include <linux/kvm.h>

/* Guest physical addresses. There is nothing at KVM_END: a store there ends a run. */
#define KVM_CODE	0x10000
#define KVM_END		0x20000
#define KVM_MEMORY	0x1000000

#define KVM_REGISTER(member)						\
	(KVM_REG_ARM64 | KVM_REG_SIZE_U64 | KVM_REG_ARM_CORE |		\
	 KVM_REG_ARM_CORE_REG(regs.member))

struct asahi_kvm {
	int device;
	int machine;
	int processor;
	uint32_t *code;
	struct kvm_run *run;
	size_t run_bytes;
};

/* With the MMU off, from its first instruction on, and again after each run */
static const uint32_t kvm_program[] = {
	0xf9400003,	/* ldr x3, [x0] */
	0xf9000401,	/* str x1, [x0, #8] */
	0xf9000043,	/* str x3, [x2] */
	0x17fffffd,	/* b to the first one */
};

static void kvm_set_memory(struct asahi_kvm *kvm, unsigned int slot, uint64_t address,
			   void *memory, size_t size)
{
	struct kvm_userspace_memory_region region = {
		.slot = slot,
		.guest_phys_addr = address,
		.memory_size = size,
		.userspace_addr = (uintptr_t)memory,
	};

	igt_assert_eq(ioctl(kvm->machine, KVM_SET_USER_MEMORY_REGION, &region), 0);
}

static void kvm_set_register(struct asahi_kvm *kvm, uint64_t id, uint64_t value)
{
	struct kvm_one_reg reg = { .id = id, .addr = (uintptr_t)&value };

	igt_assert_eq(ioctl(kvm->processor, KVM_SET_ONE_REG, &reg), 0);
}

static void kvm_add_processor(struct asahi_kvm *kvm)
{
	struct kvm_vcpu_init init;
	int bytes;

	kvm->processor = ioctl(kvm->machine, KVM_CREATE_VCPU, 0);
	igt_assert_fd(kvm->processor);
	igt_assert_eq(ioctl(kvm->machine, KVM_ARM_PREFERRED_TARGET, &init), 0);
	igt_assert_eq(ioctl(kvm->processor, KVM_ARM_VCPU_INIT, &init), 0);
	bytes = ioctl(kvm->device, KVM_GET_VCPU_MMAP_SIZE, 0);
	igt_assert_lt(0, bytes);
	kvm->run_bytes = bytes;
	kvm->run = mmap(NULL, kvm->run_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, kvm->processor,
			0);
	igt_assert(kvm->run != MAP_FAILED);
	kvm_set_register(kvm, KVM_REGISTER(pc), KVM_CODE);
	kvm_set_register(kvm, KVM_REGISTER(regs[2]), KVM_END);
}

struct asahi_kvm *igt_asahi_kvm_open(void *memory, size_t size)
{
	const int device = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	struct asahi_kvm *kvm;

	igt_require_f(device >= 0, "there is no /dev/kvm\n");
	kvm = calloc(1, sizeof(*kvm));
	igt_assert(kvm);
	kvm->device = device;
	kvm->machine = ioctl(device, KVM_CREATE_VM, 0);
	igt_assert_fd(kvm->machine);
	kvm->code = mmap(NULL, IGT_ASAHI_PAGE, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	igt_assert(kvm->code != MAP_FAILED);
	memcpy(kvm->code, kvm_program, sizeof(kvm_program));
	kvm_set_memory(kvm, 0, KVM_CODE, kvm->code, IGT_ASAHI_PAGE);
	kvm_set_memory(kvm, 1, KVM_MEMORY, memory, size);
	kvm_add_processor(kvm);
	return kvm;
}

uint64_t igt_asahi_kvm_run(struct asahi_kvm *kvm, size_t offset, uint64_t value)
{
	struct kvm_run *run = kvm->run;
	uint64_t loaded;

	kvm_set_register(kvm, KVM_REGISTER(regs[0]), KVM_MEMORY + offset);
	kvm_set_register(kvm, KVM_REGISTER(regs[1]), value);
	igt_assert_eq(ioctl(kvm->processor, KVM_RUN, 0), 0);
	/* Memory that cannot be written would end the run as well, at its own address. */
	igt_assert_eq_u32(run->exit_reason, KVM_EXIT_MMIO);
	igt_assert_eq_u64(run->mmio.phys_addr, KVM_END);
	igt_assert(run->mmio.is_write);
	igt_assert_eq_u32(run->mmio.len, sizeof(loaded));
	memcpy(&loaded, run->mmio.data, sizeof(loaded));
	return loaded;
}

void igt_asahi_kvm_close(struct asahi_kvm *kvm)
{
	munmap(kvm->run, kvm->run_bytes);
	close(kvm->processor);
	close(kvm->machine);
	munmap(kvm->code, IGT_ASAHI_PAGE);
	close(kvm->device);
	free(kvm);
}

#else

struct asahi_kvm *igt_asahi_kvm_open(void *memory, size_t size)
{
	igt_skip("the instructions are arm64's\n");
	return NULL;
}

uint64_t igt_asahi_kvm_run(struct asahi_kvm *kvm, size_t offset, uint64_t value)
{
	return 0;
}

void igt_asahi_kvm_close(struct asahi_kvm *kvm)
{
}

#endif
