/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_PCI_H
#define VAGX_PCI_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vagx/vagx_carrier.h"

/*
 * The PCI function's configuration space and its MSI-X table. The virtual
 * machine monitor emulates table and masking itself; what is here is the
 * device's side of them.
 */
#define VAGX_PCI_CONFIG_SIZE	256
#define VAGX_PCI_BARS		6

#define VAGX_PCI_BAR_REGS	0
#define VAGX_PCI_BAR_REGS_SIZE	0x2000000
#define VAGX_PCI_BAR_MSIX	2
#define VAGX_PCI_BAR_MSIX_SIZE	0x4000

struct vagx_pci {
	uint8_t config[VAGX_PCI_CONFIG_SIZE];
	uint8_t msix_table[VAGX_CARRIER_IRQS * 16];

	pthread_mutex_t lock;		/* all below: other threads fire */
	uint64_t pending;		/* fired while it had no target */
	int vector_fd[VAGX_CARRIER_IRQS];	/* -1 without a target */
};

void vagx_pci_init(struct vagx_pci *pci);
void vagx_pci_fini(struct vagx_pci *pci);

/* As after power-on; the interrupt's targets belong to the monitor and stay */
void vagx_pci_reset(struct vagx_pci *pci);

/* Size of a BAR, 0 when there is none */
uint64_t vagx_pci_bar_size(unsigned int bar);

/* Any range inside configuration space; bits that are read-only stay */
void vagx_pci_config_read(const struct vagx_pci *pci, uint64_t offset,
			  void *buf, size_t len);
void vagx_pci_config_write(struct vagx_pci *pci, uint64_t offset,
			   const void *buf, size_t len);

/* Any range inside the MSI-X BAR */
void vagx_pci_msix_read(struct vagx_pci *pci, uint64_t offset, void *buf,
			size_t len);
void vagx_pci_msix_write(struct vagx_pci *pci, uint64_t offset,
			 const void *buf, size_t len);

/**
 * vagx_pci_set_vector() - where a vector's messages go
 * @fd: eventfd, owned from now on, or -1. It is written to without waiting,
 *      so it becomes non-blocking
 */
void vagx_pci_set_vector(struct vagx_pci *pci, unsigned int vector, int fd);

/* Any thread */
void vagx_pci_fire(struct vagx_pci *pci, unsigned int vector);

#endif
