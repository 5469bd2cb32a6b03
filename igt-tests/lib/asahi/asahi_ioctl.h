/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What the tests of the asahi driver share. Functions with an @err make the
 * ioctl succeed when it is 0, and fail with it otherwise.
 */
#ifndef ASAHI_IOCTL_WRAPPERS_H
#define ASAHI_IOCTL_WRAPPERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "asahi_drm.h"
#include "igt_asahi.h"

#define IGT_ASAHI_PAGE		0x4000ULL
/* Base of the 4 GiB in which shaders and their setup are addressed */
#define IGT_ASAHI_USC_BASE	0x100000000ULL

/* igt_asahi_vm_create - with the kernel's range at the end of the address range */
uint32_t igt_asahi_vm_create(int fd);
uint32_t igt_asahi_vm_create_at(int fd, uint64_t start, uint64_t end);
void igt_asahi_vm_create_range(int fd, uint64_t start, uint64_t end, int err);
void igt_asahi_vm_destroy(int fd, uint32_t vm, int err);

/* igt_asahi_vm_bind - an array in the form that this header knows */
void igt_asahi_vm_bind(int fd, uint32_t vm, const struct drm_asahi_gem_bind_op *ops,
		       uint32_t count, int err);
/* igt_asahi_vm_bind_one - one element of such an array */
void igt_asahi_vm_bind_one(int fd, uint32_t vm, uint32_t flags, uint32_t handle, uint64_t offset,
			   uint64_t range, uint64_t addr, int err);

uint32_t igt_asahi_queue_create(int fd, uint32_t vm, uint32_t priority, int err);
void igt_asahi_queue_destroy(int fd, uint32_t queue, int err);

uint32_t igt_asahi_gem_create(int fd, uint64_t size, uint32_t flags, uint32_t vm, int err);
uint64_t igt_asahi_gem_mmap_offset(int fd, uint32_t handle, int err);
void *igt_asahi_gem_mmap(int fd, uint32_t handle, size_t size);

/**
 * igt_asahi_allows - Whether the driver does something that nobody has tried on hardware
 * @what: a name that the module parameter "unproven" knows
 */
bool igt_asahi_allows(const char *what);

/**
 * igt_asahi_objects - How many objects of a kind the driver has
 * @kind: name in debugfs, as in "page-tables"
 *
 * Skips where debugfs does not tell. Counts those of all clients, also of those
 * that have ended while a worker has yet to free what they had.
 */
int igt_asahi_objects(const char *kind);

/**
 * igt_asahi_wait_objects - Wait until there are no more objects of a kind than that
 * @kind: name in debugfs
 * @count: how many there may be, after a minute at most
 *
 * For objects that a worker frees after a file, a queue or a job has ended. There may be
 * fewer, since some that were counted before may have been other clients'.
 */
void igt_asahi_wait_objects(const char *kind, int count);

/**
 * igt_asahi_settle - Wait until what others have given up is freed
 *
 * Before objects are counted, and while the caller has no VM and no queue: a client
 * that has ended may have left jobs that still run, and they keep its queues, VMs
 * and memory. Waits until nobody has a job, a queue or a VM and nothing has changed
 * for half a second. After a minute it prints what is still there, and returns.
 */
void igt_asahi_settle(void);

/**
 * igt_asahi_memory - What the driver says of a file's memory
 * @fd: device
 * @what: key of fdinfo, as in "drm-total-memory"
 *
 * Return: bytes; 0 also when nothing is said, as of resident memory when no
 * object is resident
 */
uint64_t igt_asahi_memory(int fd, const char *what);

/**
 * igt_asahi_fail_nth - Let the nth allocation of the calling thread fail from here on
 * @nth: which, from 1 on
 *
 * Copies from and to the user count as well. To be followed by igt_asahi_has_failed() as
 * soon as what is tested is over. Skips where the kernel has no fault injection.
 */
void igt_asahi_fail_nth(unsigned int nth);
/* igt_asahi_has_failed - whether there was one; from here on none fails */
bool igt_asahi_has_failed(void);

/**
 * igt_asahi_fail_allocations - Let the nth allocation of an ioctl fail, for each n
 * @fd: device
 * @request: ioctl
 * @arg: its argument
 * @undo: takes back what succeeded
 *
 * Until the ioctl makes fewer allocations than that. An error has to be ENOMEM
 * and leave everything as it was. Copies from and to the user are made to fail
 * too; when the result cannot be handed out, it is there nevertheless.
 *
 * Skips where the kernel has no fault injection.
 */
void igt_asahi_fail_allocations(int fd, unsigned long request, void *arg,
				void (*undo)(int fd, const void *arg));

#endif
