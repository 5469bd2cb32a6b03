/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_GUEST_MEMORY_H
#define VAGX_GUEST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The guest's RAM, as the vfio-user client hands it over.
 *
 * Other threads hold host pointers into it while the MMIO thread adds and
 * removes mappings. A removed mapping therefore keeps its host addresses:
 * private zero pages take its place until vagx_mem_free(), so that a pointer
 * that was once handed out never leads to a fault of this process. For the
 * same reason a file that shrinks behind our back costs its pages, not the
 * process (see vagx_mem_lost()).
 */
struct vagx_mem;

enum {
	VAGX_MEM_READ = 1 << 0,
	VAGX_MEM_WRITE = 1 << 1,
};

/**
 * vagx_mem_new() - an empty address space
 *
 * Installs the process' SIGBUS handler. At most one address space exists at
 * a time.
 *
 * Return: the address space, or NULL without memory.
 */
struct vagx_mem *vagx_mem_new(void);
void vagx_mem_free(struct vagx_mem *mem);

/**
 * vagx_mem_map() - add guest RAM
 * @mem: the address space
 * @gpa: guest-physical address
 * @size: bytes
 * @fd: file that holds the memory; not consumed
 * @offset: where in @fd
 * @prot: VAGX_MEM_READ, VAGX_MEM_WRITE
 *
 * Return: 0, -EINVAL (empty, unaligned, overflowing, or beyond the file's
 * end), -EEXIST (overlaps a mapping), -ENOSPC (too many mappings) or the
 * error of mmap().
 */
int vagx_mem_map(struct vagx_mem *mem, uint64_t gpa, uint64_t size, int fd,
		 uint64_t offset, unsigned int prot);

/**
 * vagx_mem_unmap() - remove guest RAM
 *
 * Only whole mappings can go, as vfio's type 1 has it: all that lie inside
 * the range go, one that crosses its border is -EINVAL.
 *
 * Return: 0, -ENOENT when nothing lies in the range, -EINVAL.
 */
int vagx_mem_unmap(struct vagx_mem *mem, uint64_t gpa, uint64_t size);
void vagx_mem_unmap_all(struct vagx_mem *mem);

/**
 * vagx_mem_ptr() - host pointer of guest-physical memory
 * @mem: the address space
 * @gpa: guest-physical address
 * @len: bytes that the caller is going to touch
 *
 * Any thread, no lock taken.
 *
 * Return: the pointer, or NULL unless the range lies wholly inside one
 * readable and writable mapping.
 */
void *vagx_mem_ptr(struct vagx_mem *mem, uint64_t gpa, size_t len);

/**
 * vagx_mem_lost() - whether a mapped file turned out shorter than promised
 *
 * The affected pages read as zero since then. The owner of the connection
 * polls this (vagx_mem_lost_fd() becomes readable) and ends it.
 */
bool vagx_mem_lost(const struct vagx_mem *mem);
int vagx_mem_lost_fd(const struct vagx_mem *mem);

#endif
