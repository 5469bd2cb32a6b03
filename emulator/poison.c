// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
#include "poison.h"

#define EACH_BYTE	0x0101010101010101ULL

#define FREE_PAGE	0xaa

/* linux include/linux/poison.h: PAGE_POISON, POISON_FREE, POISON_INUSE; GCC's of variables */
static const uint8_t poison_patterns[] = { FREE_PAGE, 0x6b, 0x5a, 0xfe };

static uint64_t poison_word_at(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static bool poison_is_poison(uint64_t word)
{
	for (unsigned int i = 0; i < sizeof(poison_patterns); i++) {
		if (word == poison_patterns[i] * EACH_BYTE)
			return true;
	}
	return false;
}

bool vagx_poison_find(const void *bytes, size_t len, struct vagx_poison *found)
{
	size_t skip = -(uintptr_t)bytes & 7;
	const uint64_t *words = (const uint64_t *)((const uint8_t *)bytes + skip);
	size_t count = len > skip ? (len - skip) / 8 : 0;
	uint64_t last = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t word = poison_word_at(&words[i]);

		if (word && word == last && poison_is_poison(word)) {
			found->offset = skip + (i - 1) * 8;
			found->byte = word;
			return true;
		}
		last = word;
	}
	return false;
}

bool vagx_poison_fills(const void *page, size_t len, struct vagx_poison *found)
{
	const uint64_t *words = page;

	*found = (struct vagx_poison){ .byte = FREE_PAGE };
	for (size_t i = 0; i < len / 8; i++) {
		if (poison_word_at(&words[i]) != FREE_PAGE * EACH_BYTE)
			return false;
	}
	return true;
}
