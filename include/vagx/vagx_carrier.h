/* SPDX-License-Identifier: MIT */
/*
 * The PCI function that carries the virtual AGX: what its driver in the guest
 * and the emulator have to agree about.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef VAGX_CARRIER_H
#define VAGX_CARRIER_H

#define VAGX_CARRIER_PCI_VENDOR		0x1af4
#define VAGX_CARRIER_PCI_DEVICE		0x10f0

/* MSI-X vectors: the mailbox's interrupts, in the order of the binding. */
#define VAGX_CARRIER_IRQS		4

/* Its own registers, a page inside BAR 0; all are 64 bits wide. */
#define VAGX_CARRIER_PAGE		0x40000
#define VAGX_CARRIER_PAGE_SIZE		0x4000

#define VAGX_CARRIER_ID			0x00	/* RO "VAGX", version above */
#define VAGX_CARRIER_REEVALUATE		0x08	/* WO bit per interrupt */
#define VAGX_CARRIER_HOST_TIME		0x10	/* RO ns */
#define VAGX_CARRIER_SAMPLE_COUNTER	0x18	/* WO the guest's counter */
#define VAGX_CARRIER_SAMPLE_HOST_TIME	0x20	/* WO ns; commits the sample */
#define VAGX_CARRIER_COUNTER_RATE	0x28	/* WO ticks a second */
#define VAGX_CARRIER_LEVELS		0x30	/* RO bit per interrupt */

#define VAGX_CARRIER_ID_V1		0x158474156ULL

#endif
