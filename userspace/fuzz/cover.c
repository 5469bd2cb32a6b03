// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Coverage: the edges between blocks of code that programs have taken.
 *
 * KCOV tells those of the kernel's modules (/sys/kernel/debug/kcov), as a list of addresses
 * for the thread that has enabled it: threads of a program that run side by side are not
 * seen. In the shim, each block calls __sanitizer_cov_trace_pc(), in any thread. A pair of
 * addresses is hashed into a byte of the mapping that all processes share; collisions lose an
 * edge now and then, and nothing else.
 */
#include <fcntl.h>
#include <linux/kcov.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

/* words of the kernel's buffer; the first is the number of those that follow */
#define KCOV_WORDS	(256 << 10)

static unsigned long *cover_kcov;
static atomic_ulong cover_fresh;

bool fuzz_cover_edge(uint64_t from, uint64_t to)
{
	uint64_t hash = (from * UINT64_C(0x9e3779b97f4a7c15)) ^ to;
	atomic_uchar *edge;

	hash *= UINT64_C(0xff51afd7ed558ccd);
	edge = &fuzz_shared->edges[hash >> 46];
	if (atomic_load_explicit(edge, memory_order_relaxed) || atomic_exchange(edge, 1))
		return false;
	atomic_fetch_add(&fuzz_shared->edge_count, 1);
	return true;
}

_Static_assert(FUZZ_EDGES == 1 << (64 - 46), "the hash's upper bits are the index");

bool fuzz_cover_init(void)
{
	int fd = open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return false;
	/* The kernel's KCOV_INIT_TRACE takes the number of words; the fd keeps the buffer. */
	if (ioctl(fd, KCOV_INIT_TRACE, KCOV_WORDS))
		return false;
	cover_kcov = mmap(NULL, KCOV_WORDS * sizeof(*cover_kcov), PROT_READ | PROT_WRITE,
			  MAP_SHARED, fd, 0);
	if (cover_kcov == MAP_FAILED || ioctl(fd, KCOV_ENABLE, KCOV_TRACE_PC)) {
		cover_kcov = NULL;
		return false;
	}
	return true;
}

void fuzz_cover_begin(void)
{
	if (cover_kcov)
		__atomic_store_n(&cover_kcov[0], 0, __ATOMIC_RELAXED);
}

unsigned long fuzz_cover_end(void)
{
	unsigned long found = atomic_exchange(&cover_fresh, 0);
	unsigned long count, i;

	if (!cover_kcov)
		return found;
	count = __atomic_load_n(&cover_kcov[0], __ATOMIC_RELAXED);
	for (i = 1; i < count; i++)
		found += fuzz_cover_edge(cover_kcov[i], cover_kcov[i + 1]);
	return found;
}

/* The compiler puts a call of this into each block of the shim. */
void __sanitizer_cov_trace_pc(void);

void __sanitizer_cov_trace_pc(void)
{
	static _Thread_local uint64_t before;
	uint64_t here = (uintptr_t)__builtin_return_address(0);

	if (!fuzz_shared)
		return;
	if (fuzz_cover_edge(before, here))
		atomic_fetch_add(&cover_fresh, 1);
	before = here;
}
