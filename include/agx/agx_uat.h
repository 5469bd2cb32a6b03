/* SPDX-License-Identifier: MIT */
/*
 * UAT, the GPU's MMU: page-table entries, translation table bases, the
 * handoff region through which host and firmware coordinate, and the map of
 * the kernel half of the address space.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef AGX_UAT_H
#define AGX_UAT_H

/* Geometry: three levels, 16 KiB pages, 39 bits of input address. */
#define AGX_PAGE_SHIFT			14
#define AGX_PAGE_SIZE			0x4000ULL
#define AGX_PAGE_MASK			0x3fffULL	/* offset inside a page */
#define AGX_UAT_IAS			39
#define AGX_UAT_LEVELS			3
#define AGX_UAT_L1_SHIFT		36
#define AGX_UAT_L1_ENTRIES		8
#define AGX_UAT_L2_SHIFT		25
#define AGX_UAT_L2_ENTRIES		2048
#define AGX_UAT_L3_SHIFT		14
#define AGX_UAT_L3_ENTRIES		2048

/* Table and page entries. */
#define AGX_PTE_TYPE_MASK		0x3ULL
#define AGX_PTE_TYPE			0x3ULL		/* valid table or page */
#define AGX_PTE_BLOCK			0x1ULL		/* valid block of 32 MiB, at level 2 */
#define AGX_PTE_ATTR_SHIFT		2
#define AGX_PTE_ATTR_MASK		(0x7ULL << AGX_PTE_ATTR_SHIFT)
#define AGX_PTE_AP_SHIFT		6
#define AGX_PTE_AP_MASK			(0x3ULL << AGX_PTE_AP_SHIFT)
#define AGX_PTE_AF			0x400ULL	/* accessed: always set */
#define AGX_PTE_NG			0x800ULL	/* user tables: tagged by context */
#define AGX_PTE_PXN			0x20000000000000ULL
#define AGX_PTE_UXN			0x40000000000000ULL
#define AGX_PTE_OS			0x80000000000000ULL	/* owned by the operating system */

#define AGX_PTE_ATTR_CACHED		0ULL	/* cached by the firmware's processor */
#define AGX_PTE_ATTR_DEVICE		1ULL
#define AGX_PTE_ATTR_SHARED		2ULL	/* coherent */

/* How AP, UXN and PXN combine is listed by the AGX_PROT_* values. */
#define AGX_PTE_PROT(ap, uxn, pxn, attr)	\
	(((ap) << AGX_PTE_AP_SHIFT) |		\
	 ((uxn) ? AGX_PTE_UXN : 0ULL) |		\
	 ((pxn) ? AGX_PTE_PXN : 0ULL) |		\
	 ((attr) << AGX_PTE_ATTR_SHIFT))
#define AGX_PTE_PROT_MASK	\
	(AGX_PTE_AP_MASK | AGX_PTE_UXN | AGX_PTE_PXN | AGX_PTE_ATTR_MASK)

#define AGX_PROT_FW_MMIO_RW		AGX_PTE_PROT(1ULL, 1, 0, AGX_PTE_ATTR_DEVICE)
#define AGX_PROT_FW_MMIO_RO		AGX_PTE_PROT(1ULL, 0, 0, AGX_PTE_ATTR_DEVICE)
#define AGX_PROT_FW_SHARED_RW		AGX_PTE_PROT(1ULL, 1, 0, AGX_PTE_ATTR_SHARED)
#define AGX_PROT_FW_SHARED_RO		AGX_PTE_PROT(1ULL, 0, 0, AGX_PTE_ATTR_SHARED)
#define AGX_PROT_FW_PRIV_RW		AGX_PTE_PROT(1ULL, 1, 0, AGX_PTE_ATTR_CACHED)
#define AGX_PROT_GPU_FW_SHARED_RW	AGX_PTE_PROT(0ULL, 1, 1, AGX_PTE_ATTR_SHARED)
#define AGX_PROT_GPU_FW_PRIV_RW		AGX_PTE_PROT(0ULL, 1, 1, AGX_PTE_ATTR_CACHED)
#define AGX_PROT_GPU_RO_FW_PRIV_RW	AGX_PTE_PROT(1ULL, 1, 1, AGX_PTE_ATTR_CACHED)
#define AGX_PROT_GPU_SHARED_RW		AGX_PTE_PROT(2ULL, 1, 0, AGX_PTE_ATTR_SHARED)
#define AGX_PROT_GPU_SHARED_RO		AGX_PTE_PROT(2ULL, 0, 0, AGX_PTE_ATTR_SHARED)
#define AGX_PROT_GPU_SHARED_WO		AGX_PTE_PROT(2ULL, 0, 1, AGX_PTE_ATTR_SHARED)

/* The "ttbs" region: 64 pairs of 64-bit registers in memory. */
#define AGX_UAT_CONTEXTS		64
#define AGX_UAT_USER_CONTEXT_START	1	/* 0 belongs to the kernel */
#define AGX_TTBS_STRIDE			0x10
#define AGX_TTBS_TTB0			0x0
#define AGX_TTBS_TTB1			0x8
#define AGX_TTBS_SIZE			(AGX_UAT_CONTEXTS * AGX_TTBS_STRIDE)
#define AGX_TTBR_VALID			1ULL
#define AGX_TTBR_ASID_SHIFT		48
#define AGX_TTBR_ADDR_MASK		0x0000ffffffffc000ULL

/* The "pagetables" region: the kernel half's root, shared with the firmware. */
#define AGX_UAT_KERNEL_ROOT_SIZE	0x4000
#define AGX_UAT_KERNEL_L1_INDEX		2	/* the only entry the host owns */

/* The "handoff" region. */
#define AGX_HANDOFF_MAGIC		0x4b1d000000000002ULL
#define AGX_HANDOFF_MAGIC_AP		0x0	/* u64 */
#define AGX_HANDOFF_MAGIC_FW		0x8	/* u64 */
#define AGX_HANDOFF_LOCK_AP		0x10	/* u8 */
#define AGX_HANDOFF_LOCK_FW		0x11	/* u8 */
#define AGX_HANDOFF_TURN		0x14	/* u32: 0 host, 1 firmware */
#define AGX_HANDOFF_CUR_SLOT		0x18	/* u32: 0 or all ones is none */
#define AGX_HANDOFF_FLUSH		0x20
#define AGX_HANDOFF_FLUSH_STRIDE	0x18
#define AGX_HANDOFF_FLUSH_ENTRY(n)	(AGX_HANDOFF_FLUSH + (n) * AGX_HANDOFF_FLUSH_STRIDE)
#define AGX_HANDOFF_FLUSH_STATE		0x0	/* u64 */
#define AGX_HANDOFF_FLUSH_ADDR		0x8	/* u64 */
#define AGX_HANDOFF_FLUSH_SIZE		0x10	/* u64, bytes */
#define AGX_HANDOFF_FLUSH_COUNT		65	/* one per context, one for the kernel half */
#define AGX_HANDOFF_FLUSH_KERNEL	64
#define AGX_HANDOFF_UNK2		0x638	/* u8 */
#define AGX_HANDOFF_UNK3		0x640	/* u64 */
#define AGX_HANDOFF_SIZE		0x648

#define AGX_HANDOFF_FLUSH_IDLE		0
#define AGX_HANDOFF_FLUSH_REQUESTED	1
#define AGX_HANDOFF_FLUSH_DONE		2

/* User half of the address space. */
#define AGX_VA_USER_START		0x4000ULL
#define AGX_VA_USER_END			0x7fffff8000ULL	/* exclusive */
#define AGX_VA_DUMMY_PAGE		0x7fffff8000ULL	/* zeroes, in every context */
#define AGX_VM_KERNEL_MIN_SIZE		0x20000000ULL

/* Kernel half of the address space; ends are exclusive. */
#define AGX_VA_KERNEL_START		0xffffffa000000000ULL
#define AGX_VA_KERNEL_END		0xffffffb000000000ULL
#define AGX_VA_PRIVATE_START		0xffffffa000000000ULL
#define AGX_VA_PRIVATE_END		0xffffffa600000000ULL
#define AGX_VA_GPU_RO_START		0xffffffa600000000ULL
#define AGX_VA_GPU_RO_END		0xffffffa800000000ULL
#define AGX_VA_SHARED_START		0xffffffa800000000ULL
#define AGX_VA_SHARED_END		0xffffffaa00000000ULL
#define AGX_VA_SHARED_RO_START		0xffffffaa00000000ULL
#define AGX_VA_SHARED_RO_END		0xffffffac00000000ULL
#define AGX_VA_GPU_SHARED_START		0xffffffac00000000ULL
#define AGX_VA_GPU_SHARED_END		0xffffffae00000000ULL
#define AGX_VA_RTKIT_START		0xffffffae00000000ULL
#define AGX_VA_RTKIT_END		0xffffffae10000000ULL
#define AGX_VA_TIMESTAMP_START		0xffffffae10000000ULL
#define AGX_VA_TIMESTAMP_END		0xffffffae14000000ULL
#define AGX_VA_BUFMGR			0xffffffaeffff0000ULL
#define AGX_VA_MMIO_START		0xffffffaf00000000ULL
#define AGX_VA_MMIO_END			0xffffffb000000000ULL

/* The same buffer-manager page, in the lower half of context 0. */
#define AGX_VA_BUFMGR_LOW		0x2000000000ULL

#endif
