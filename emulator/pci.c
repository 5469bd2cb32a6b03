// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * Configuration space and MSI-X of the PCI function. The client (QEMU) has the guest's table of
 * vectors and masks them; it gives an eventfd for each vector that it wants to hear of, and a
 * vector that fires without one stays pending.
 *
 * The guest's accesses are on the MMIO thread. Any thread fires; @lock protects the eventfds and
 * the pending bits.
 */
#include <fcntl.h>
#include <linux/pci_regs.h>
#include <string.h>
#include <unistd.h>

#include "pci.h"

#define CLASS		0x120000	/* processing accelerator */

#define CAP_MSIX	0x40
#define MSIX_PBA	0x800
#define MSIX_CONTROL	(CAP_MSIX + PCI_MSIX_FLAGS)

static void pci_put16(uint8_t *p, uint16_t v)
{
	p[0] = v;
	p[1] = v >> 8;
}

static void pci_put32(uint8_t *p, uint32_t v)
{
	pci_put16(p, v);
	pci_put16(p + 2, v >> 16);
}

static uint32_t pci_get32(const uint8_t *p)
{
	return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
}

void vagx_pci_init(struct vagx_pci *pci)
{
	pthread_mutex_init(&pci->lock, NULL);
	for (unsigned int i = 0; i < VAGX_CARRIER_IRQS; i++)
		pci->vector_fd[i] = -1;
	vagx_pci_reset(pci);
}

void vagx_pci_fini(struct vagx_pci *pci)
{
	for (unsigned int i = 0; i < VAGX_CARRIER_IRQS; i++)
		vagx_pci_set_vector(pci, i, -1);
	pthread_mutex_destroy(&pci->lock);
}

void vagx_pci_reset(struct vagx_pci *pci)
{
	uint8_t *c = pci->config;

	memset(c, 0, sizeof(pci->config));
	pci_put16(c + PCI_VENDOR_ID, VAGX_CARRIER_PCI_VENDOR);
	pci_put16(c + PCI_DEVICE_ID, VAGX_CARRIER_PCI_DEVICE);
	pci_put16(c + PCI_STATUS, PCI_STATUS_CAP_LIST);
	pci_put32(c + PCI_CLASS_REVISION, (uint32_t)CLASS << 8 | 1);
	pci_put16(c + PCI_SUBSYSTEM_VENDOR_ID, VAGX_CARRIER_PCI_VENDOR);
	pci_put16(c + PCI_SUBSYSTEM_ID, VAGX_CARRIER_PCI_DEVICE);
	c[PCI_CAPABILITY_LIST] = CAP_MSIX;

	c[CAP_MSIX] = PCI_CAP_ID_MSIX;
	pci_put16(c + MSIX_CONTROL, VAGX_CARRIER_IRQS - 1);
	pci_put32(c + CAP_MSIX + PCI_MSIX_TABLE, VAGX_PCI_BAR_MSIX);
	pci_put32(c + CAP_MSIX + PCI_MSIX_PBA, MSIX_PBA | VAGX_PCI_BAR_MSIX);

	memset(pci->msix_table, 0, sizeof(pci->msix_table));
	for (unsigned int i = 0; i < VAGX_CARRIER_IRQS; i++)
		pci_put32(pci->msix_table + i * PCI_MSIX_ENTRY_SIZE +
			  PCI_MSIX_ENTRY_VECTOR_CTRL, PCI_MSIX_ENTRY_CTRL_MASKBIT);
	pthread_mutex_lock(&pci->lock);
	pci->pending = 0;
	pthread_mutex_unlock(&pci->lock);
}

uint64_t vagx_pci_bar_size(unsigned int bar)
{
	switch (bar) {
	case VAGX_PCI_BAR_REGS:
		return VAGX_PCI_BAR_REGS_SIZE;
	case VAGX_PCI_BAR_MSIX:
		return VAGX_PCI_BAR_MSIX_SIZE;
	default:
		return 0;
	}
}

/* Which bits of a configuration byte the guest can change */
static uint8_t pci_writable_bits(unsigned int offset)
{
	unsigned int bar = (offset - PCI_BASE_ADDRESS_0) / 4;

	switch (offset) {
	case PCI_COMMAND:
		return PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER |
		       PCI_COMMAND_PARITY;
	case PCI_COMMAND + 1:
		return (PCI_COMMAND_SERR | PCI_COMMAND_INTX_DISABLE) >> 8;
	case PCI_CACHE_LINE_SIZE:
	case PCI_LATENCY_TIMER:
	case PCI_INTERRUPT_LINE:
		return 0xff;
	case MSIX_CONTROL + 1:
		return (PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL) >> 8;
	case PCI_BASE_ADDRESS_0 ... PCI_BASE_ADDRESS_5 + 3:
		if (!vagx_pci_bar_size(bar))
			return 0;
		return (uint8_t)(~(vagx_pci_bar_size(bar) - 1) >>
				 (offset - PCI_BASE_ADDRESS_0) % 4 * 8);
	default:
		return 0;
	}
}

void vagx_pci_config_read(const struct vagx_pci *pci, uint64_t offset,
			  void *buf, size_t len)
{
	memcpy(buf, pci->config + offset, len);
}

void vagx_pci_config_write(struct vagx_pci *pci, uint64_t offset,
			   const void *buf, size_t len)
{
	const uint8_t *from = buf;

	for (size_t i = 0; i < len; i++) {
		uint8_t bits = pci_writable_bits(offset + i);
		uint8_t *byte = &pci->config[offset + i];

		*byte = (*byte & ~bits) | (from[i] & bits);
	}
}

static uint8_t pci_msix_byte(const struct vagx_pci *pci, uint64_t offset,
			     uint64_t pending)
{
	if (offset < sizeof(pci->msix_table))
		return pci->msix_table[offset];
	if (offset >= MSIX_PBA && offset < MSIX_PBA + 8)
		return pending >> (offset - MSIX_PBA) * 8;
	return 0;
}

void vagx_pci_msix_read(struct vagx_pci *pci, uint64_t offset, void *buf,
			size_t len)
{
	uint8_t *to = buf;
	uint64_t pending;

	pthread_mutex_lock(&pci->lock);
	pending = pci->pending;
	pthread_mutex_unlock(&pci->lock);
	for (size_t i = 0; i < len; i++)
		to[i] = pci_msix_byte(pci, offset + i, pending);
}

void vagx_pci_msix_write(struct vagx_pci *pci, uint64_t offset,
			 const void *buf, size_t len)
{
	const uint8_t *from = buf;

	for (size_t i = 0; i < len; i++) {
		if (offset + i < sizeof(pci->msix_table))
			pci->msix_table[offset + i] = from[i];
	}
	/* Only the mask bit of the last word means anything */
	for (unsigned int i = 0; i < VAGX_CARRIER_IRQS; i++) {
		uint8_t *control = pci->msix_table + i * PCI_MSIX_ENTRY_SIZE +
				   PCI_MSIX_ENTRY_VECTOR_CTRL;

		pci_put32(control, pci_get32(control) & PCI_MSIX_ENTRY_CTRL_MASKBIT);
	}
}

static void pci_notify(int fd)
{
	uint64_t one = 1;

	if (write(fd, &one, sizeof(one)) < 0) {
		/* The counter is full: the client has not read it yet, and will see this event, too */
	}
}

static bool pci_set_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && !fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

void vagx_pci_set_vector(struct vagx_pci *pci, unsigned int vector, int fd)
{
	uint64_t bit = 1ULL << vector;
	int old;

	/* The client may pass any descriptor; writing to it must not block whoever fires */
	if (fd >= 0 && !pci_set_nonblocking(fd)) {
		close(fd);
		fd = -1;
	}

	pthread_mutex_lock(&pci->lock);
	old = pci->vector_fd[vector];
	pci->vector_fd[vector] = fd;
	if (fd >= 0 && pci->pending & bit) {
		pci->pending &= ~bit;
		pci_notify(fd);
	}
	pthread_mutex_unlock(&pci->lock);
	if (old >= 0)
		close(old);
}

void vagx_pci_fire(struct vagx_pci *pci, unsigned int vector)
{
	pthread_mutex_lock(&pci->lock);
	if (pci->vector_fd[vector] >= 0)
		pci_notify(pci->vector_fd[vector]);
	else
		pci->pending |= 1ULL << vector;
	pthread_mutex_unlock(&pci->lock);
}
