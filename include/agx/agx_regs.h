/* SPDX-License-Identifier: MIT */
/*
 * AGX registers that the host touches: coprocessor control, identification
 * and MMU fault status. Almost everything else is behind the firmware.
 *
 * Offsets are from the start of the "asc" and "sgx" regions of the
 * apple,agx binding.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef AGX_REGS_H
#define AGX_REGS_H

/* Region sizes in bytes. */
#define AGX_ASC_SIZE			0x40000
#define AGX_SGX_SIZE			0x1000000

/* asc: coprocessor control. */
#define AGX_ASC_CPU_CONTROL		0x44
#define AGX_ASC_CPU_CONTROL_RUN		0x10	/* bit 4 */

/* sgx: identification, 32-bit registers. */
#define AGX_SGX_ID_VERSION		0xd04000
#define AGX_SGX_ID_COUNTS_1		0xd04010
#define AGX_SGX_ID_COUNTS_2		0xd04014
#define AGX_SGX_ID_CLUSTERS		0xd0401c

/* Masks of the cores that are present, packed without gaps. */
#define AGX_SGX_CORE_MASK_0		0xd01500
#define AGX_SGX_CORE_MASK_1		0xd01514
#define AGX_SGX_CORE_MASKS_G14X		0xe01500	/* three words from here on */

/* ID_VERSION */
#define AGX_ID_GENERATION_SHIFT		24
#define AGX_ID_GENERATION_MASK		0xff
#define AGX_ID_VARIANT_SHIFT		16
#define AGX_ID_VARIANT_MASK		0xff
#define AGX_ID_REVISION_SHIFT		8
#define AGX_ID_REVISION_MASK		0xff

#define AGX_ID_GENERATION_G13		4
#define AGX_ID_GENERATION_G14G		5
#define AGX_ID_GENERATION_G14X		6

#define AGX_ID_VARIANT_G		2
#define AGX_ID_VARIANT_S		3
#define AGX_ID_VARIANT_CD		4	/* D has more than four clusters */

/* ID_COUNTS_1 */
#define AGX_ID_CORES_SHIFT		0
#define AGX_ID_CORES_MASK		0xff
#define AGX_ID_CLUSTERS_PER_DIE_SHIFT	8	/* G14X only */
#define AGX_ID_CLUSTERS_PER_DIE_MASK	0xff
#define AGX_ID_DIES_SHIFT		16	/* G14X only */
#define AGX_ID_DIES_MASK		0xf

/* ID_COUNTS_2 */
#define AGX_ID_GPS_SHIFT		16
#define AGX_ID_GPS_MASK			0xff

/* ID_CLUSTERS, G13 and G14G */
#define AGX_ID_CLUSTERS_SHIFT		12
#define AGX_ID_CLUSTERS_MASK		0xff

/* sgx: MMU fault status, 64-bit registers. */
#define AGX_SGX_FAULT_INFO		0x17030
#define AGX_SGX_FAULT_INFO_G14X		0xd8c0
#define AGX_SGX_FAULT_ADDR_G14X		0xd8c8

#define AGX_FAULT_VALID			0x1ULL
#define AGX_FAULT_REASON_SHIFT		1
#define AGX_FAULT_REASON_MASK		0x7
#define AGX_FAULT_READ			0x10ULL		/* bit 4: read, else write */
#define AGX_FAULT_LEVEL_SHIFT		7
#define AGX_FAULT_LEVEL_MASK		0x3
#define AGX_FAULT_UNIT_SHIFT		9
#define AGX_FAULT_UNIT_MASK		0xff
#define AGX_FAULT_SLOT_SHIFT		17
#define AGX_FAULT_SLOT_MASK		0x3f
#define AGX_FAULT_SIDEBAND_SHIFT	23
#define AGX_FAULT_SIDEBAND_MASK		0x7f
#define AGX_FAULT_ADDR_SHIFT		30		/* not on G14X */
#define AGX_FAULT_ADDR_UNIT_SHIFT	6		/* addresses count 64-byte lines */

#define AGX_FAULT_REASON_UNMAPPED	0
#define AGX_FAULT_REASON_ACCESS_FLAG	1
#define AGX_FAULT_REASON_WRITE_ONLY	2
#define AGX_FAULT_REASON_READ_ONLY	3
#define AGX_FAULT_REASON_NO_ACCESS	4

/*
 * Units below 0xa0 come once per core group: the group in bits [7:4], the
 * unit in bits [3:0]. Those from 0xd0 on are on G14X only. From 0xe0 on they
 * come twice, bit 4 says which; what follows MMB is on G13 and G14G only, but
 * for RDE, which G14X has there. Of the others only those that a host names.
 */
#define AGX_FAULT_UNIT_GROUPED_END	0xa0
#define AGX_FAULT_UNIT_DCMP		0x0
#define AGX_FAULT_UNIT_UL1C		0x1	/* loads and stores of shaders */
#define AGX_FAULT_UNIT_CMP		0x2
#define AGX_FAULT_UNIT_GSL1		0x3
#define AGX_FAULT_UNIT_IAP		0x4
#define AGX_FAULT_UNIT_VCE		0x5
#define AGX_FAULT_UNIT_TE		0x6
#define AGX_FAULT_UNIT_RAS		0x7
#define AGX_FAULT_UNIT_VDM		0x8
#define AGX_FAULT_UNIT_PPP		0x9
#define AGX_FAULT_UNIT_IPF		0xa
#define AGX_FAULT_UNIT_IPF_CPF		0xb
#define AGX_FAULT_UNIT_VF		0xc
#define AGX_FAULT_UNIT_VF_CPF		0xd
#define AGX_FAULT_UNIT_ZLS		0xe
#define AGX_FAULT_UNIT_DPM		0xa1
#define AGX_FAULT_UNIT_DCDM_KS0		0xa2
#define AGX_FAULT_UNIT_DCDM_KS1		0xa3
#define AGX_FAULT_UNIT_DCDM_KS2		0xa4
#define AGX_FAULT_UNIT_DIPP		0xa5
#define AGX_FAULT_UNIT_DIPP_CS		0xa6
#define AGX_FAULT_UNIT_DVDM_CSD		0xa7
#define AGX_FAULT_UNIT_DVDM_SSD		0xa8
#define AGX_FAULT_UNIT_DVDM_ILF		0xa9
#define AGX_FAULT_UNIT_DVDM_ILD		0xaa
#define AGX_FAULT_UNIT_DRDE0		0xab
#define AGX_FAULT_UNIT_DRDE1		0xac
#define AGX_FAULT_UNIT_FC		0xad
#define AGX_FAULT_UNIT_GSL2		0xae
#define AGX_FAULT_UNIT_GCDM_CS		0xd0
#define AGX_FAULT_UNIT_GCDM_ID		0xd1
#define AGX_FAULT_UNIT_GCDM_CSR		0xd2
#define AGX_FAULT_UNIT_GCDM_CSW		0xd3
#define AGX_FAULT_UNIT_GCDM_CTXR	0xd4
#define AGX_FAULT_UNIT_GCDM_CTXW	0xd5
#define AGX_FAULT_UNIT_GIPP_G14X	0xd6
#define AGX_FAULT_UNIT_GIPP_CS_G14X	0xd7
#define AGX_FAULT_UNIT_GKSM_RCE		0xd8
#define AGX_FAULT_UNIT_TWICE		0xe0
#define AGX_FAULT_UNIT_GPM		0xe0
#define AGX_FAULT_UNIT_GVDM_CSD		0xe1
#define AGX_FAULT_UNIT_GVDM_SSD		0xe2
#define AGX_FAULT_UNIT_GVDM_ILF		0xe3
#define AGX_FAULT_UNIT_GVDM_TFP		0xe4
#define AGX_FAULT_UNIT_GVDM_MMB		0xe5
#define AGX_FAULT_UNIT_GRDE_G14X	0xe6
#define AGX_FAULT_UNIT_GCDM_CS_KS0	0xe6
#define AGX_FAULT_UNIT_GCDM_CS_KS1	0xe7
#define AGX_FAULT_UNIT_GCDM_CS_KS2	0xe8
#define AGX_FAULT_UNIT_GCDM_KS0		0xe9
#define AGX_FAULT_UNIT_GCDM_KS1		0xea
#define AGX_FAULT_UNIT_GCDM_KS2		0xeb
#define AGX_FAULT_UNIT_GIPP		0xec
#define AGX_FAULT_UNIT_GIPP_CS		0xed
#define AGX_FAULT_UNIT_GRDE0		0xee
#define AGX_FAULT_UNIT_GRDE1		0xef

#endif
