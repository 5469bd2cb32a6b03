// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Which branches the code under test has taken: of the kernel's modules KCOV tells
 * (/sys/kernel/debug/kcov), of the shim calls that the compiler has put into it.
 */
#include <fcntl.h>
#include <linux/kcov.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

/* words of the kernel's buffer, the first of which counts */
#define KCOV_WORDS	(256 << 10)

static unsigned long *kcov;
static atomic_ulong fresh;

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
	kcov = mmap(NULL, KCOV_WORDS * sizeof(*kcov), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (kcov == MAP_FAILED || ioctl(fd, KCOV_ENABLE, KCOV_TRACE_PC)) {
		kcov = NULL;
		return false;
	}
	return true;
}

void fuzz_cover_begin(void)
{
	if (kcov)
		__atomic_store_n(&kcov[0], 0, __ATOMIC_RELAXED);
}

unsigned long fuzz_cover_end(void)
{
	unsigned long found = atomic_exchange(&fresh, 0);
	unsigned long count, i;

	if (!kcov)
		return found;
	count = __atomic_load_n(&kcov[0], __ATOMIC_RELAXED);
	for (i = 1; i < count; i++)
		found += fuzz_cover_edge(kcov[i], kcov[i + 1]);
	return found;
}

/* What the compiler calls in each block of instrumented code */
void __sanitizer_cov_trace_pc(void);

void __sanitizer_cov_trace_pc(void)
{
	static _Thread_local uint64_t before;
	uint64_t here = (uintptr_t)__builtin_return_address(0);

	if (!fuzz_shared)
		return;
	if (fuzz_cover_edge(before, here))
		atomic_fetch_add(&fresh, 1);
	before = here;
}
