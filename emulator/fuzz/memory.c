// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Memory for the targets that walk through the GPU's.
 */
#include <errno.h>
#include <string.h>

#include "fuzz.h"
#include "uat.h"

/* A target that has read so much goes round in circles */
#define ENOUGH	20000

atomic_bool fuzz_stop;

static const uint8_t *input;
static size_t input_size;
static unsigned int reads;

void fuzz_memory(const uint8_t *data, size_t size)
{
	input = data;
	input_size = size;
	reads = 0;
	atomic_store(&fuzz_stop, false);
}

static const uint8_t *memory_at(uint64_t va, size_t len)
{
	uint64_t at = va - FUZZ_VA;

	if (++reads > ENOUGH)
		atomic_store(&fuzz_stop, true);
	/* Whoever does not look at that flag hangs for ever */
	FUZZ_CHECK(reads < 100 * ENOUGH);
	return at >= input_size || len > input_size - at ? NULL : input + at;
}

int fuzz_read(void *ctx, uint64_t va, void *buf, size_t len)
{
	const uint8_t *p = memory_at(va, len);

	if (!p)
		return -EFAULT;
	memcpy(buf, p, len);
	return 0;
}

/* In place of the MMU; the entries of the cache stay empty */
void *vagx_tlb_ptr_slow(struct vagx_tlb *tlb, uint64_t va, size_t len, enum vagx_access access,
			struct vagx_uat_fault *fault)
{
	const uint8_t *p = memory_at(va, len);

	if (!p)
		*fault = (struct vagx_uat_fault){
			.va = va,
			.slot = tlb->slot,
			.reason = VAGX_FAULT_UNMAPPED,
		};
	return (void *)(uintptr_t)p;
}
