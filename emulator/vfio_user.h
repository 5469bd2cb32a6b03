/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_VFIO_USER_H
#define VAGX_VFIO_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vagx_report;

/*
 * The server's end of vfio-user, protocol version 0.0 (QEMU's
 * docs/interop/vfio-user.rst), over one connected stream socket.
 *
 * The client is not trusted. A message whose framing or size is wrong ends
 * the connection; a well-formed request that cannot be met is answered with
 * an error. Either way a line in the log says what was wrong. The server
 * never waits inside a message: a partial one stays in the buffer.
 */
#define VAGX_VFU_MAX_FDS	8
#define VAGX_VFU_MAX_DATA	65536	/* of one region access */

struct vagx_vfu_region {
	uint64_t size;			/* 0: there is none */
	bool readable, writable;
};

struct vagx_vfu_irq {
	uint32_t count;
	bool eventfd;
};

/* All return 0 or a negative errno, which goes to the client */
struct vagx_vfu_ops {
	/* @fd is -1 when the client gave none; it stays the caller's */
	int (*dma_map)(void *ctx, uint64_t address, uint64_t size,
		       bool writable, int fd, uint64_t offset);
	int (*dma_unmap)(void *ctx, uint64_t address, uint64_t size);
	int (*dma_unmap_all)(void *ctx);
	/* The range lies inside the region, and its flags permit the access */
	int (*region_read)(void *ctx, uint32_t region, uint64_t offset,
			   void *buf, size_t len);
	int (*region_write)(void *ctx, uint32_t region, uint64_t offset,
			    const void *buf, size_t len);
	/* @fd: eventfd, owned by the callee; -1 takes the target away */
	int (*set_irq)(void *ctx, uint32_t index, uint32_t vector, int fd);
	int (*trigger_irq)(void *ctx, uint32_t index, uint32_t vector);
	int (*reset)(void *ctx);
};

struct vagx_vfu_config {
	struct vagx_report *report;
	const struct vagx_vfu_ops *ops;
	void *ctx;
	const struct vagx_vfu_region *regions;
	uint32_t num_regions;
	const struct vagx_vfu_irq *irqs;
	uint32_t num_irqs;
};

struct vagx_vfu;

/**
 * vagx_vfu_new() - serve a connection
 * @config: copied; what it points to is borrowed
 * @fd: connected socket, owned from now on even on failure
 */
struct vagx_vfu *vagx_vfu_new(const struct vagx_vfu_config *config, int fd);

/* Closes the connection */
void vagx_vfu_free(struct vagx_vfu *vfu);

int vagx_vfu_fd(const struct vagx_vfu *vfu);

/**
 * vagx_vfu_process() - the socket is readable
 *
 * Takes what is there, and answers each complete message.
 *
 * Return: 1 to go on, 0 when the client has closed the connection in order,
 * a negative errno when the connection is of no more use.
 */
int vagx_vfu_process(struct vagx_vfu *vfu);

struct vagx_vfu_stats {
	uint64_t reads, writes, posted, batches;
};

void vagx_vfu_get_stats(const struct vagx_vfu *vfu,
			struct vagx_vfu_stats *stats);

#endif
