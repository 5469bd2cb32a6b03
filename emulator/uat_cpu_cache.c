// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * Pages whose contents may be in the CPU's caches only, where the GPU does not see them.
 *
 * QEMU's memory is coherent, so a page that nobody has cleaned works all the same. Here is which
 * pages the guest has zeroed in its caches and not cleaned since, as the plugin tells. The GPU
 * must not have a translation to one of them. Stores are not told of, so what a client has
 * written to a page later on is nobody's concern here.
 *
 * The thread of the plugin's socket writes, others read. There is no lock: the guest orders what
 * it does to a page.
 */
#include <stdlib.h>

#include "dc.h"
#include "uat_internal.h"

/* Pages of 64 GiB of physical addresses, more than any guest's memory takes; a bit for each */
#define CPU_CACHE_PAGES		(1ULL << 22)

static uint64_t *uat_cpu_cache_word(const struct uat_cpu_cache *model, uint64_t pa, uint64_t *bit)
{
	uint64_t page = pa >> VAGX_UAT_PAGE_SHIFT;

	if (page >= CPU_CACHE_PAGES)
		return NULL;
	*bit = 1ULL << page % 64;
	return &model->zeroed[page / 64];
}

bool uat_cpu_cache_init(struct uat_cpu_cache *model)
{
	/* Memory comes when somebody tells of a page */
	model->zeroed = calloc(CPU_CACHE_PAGES / 64, sizeof(*model->zeroed));
	return model->zeroed;
}

void uat_cpu_cache_fini(struct uat_cpu_cache *model)
{
	free(model->zeroed);
	model->zeroed = NULL;
}

bool uat_cpu_cache_is_zeroed(const struct uat_cpu_cache *model, uint64_t pa)
{
	uint64_t bit, *word = uat_cpu_cache_word(model, pa, &bit);

	return word && __atomic_load_n(word, __ATOMIC_RELAXED) & bit;
}

void vagx_uat_maintain(struct vagx_uat *uat, uint32_t dc, uint64_t pa)
{
	struct uat_cpu_cache *model = &uat->cpu_cache;
	uint64_t bit, *word = uat_cpu_cache_word(model, pa, &bit), *count;

	if (!word)
		return;
	if (dc == VAGX_DC_ZVA) {
		__atomic_or_fetch(word, bit, __ATOMIC_RELAXED);
		count = &model->done.zeroed;
	} else if (dc == VAGX_DC_CVAC) {
		__atomic_and_fetch(word, ~bit, __ATOMIC_RELAXED);
		count = &model->done.cleaned;
	} else {
		count = &model->done.invalidated;
	}
	__atomic_add_fetch(count, 1, __ATOMIC_RELAXED);
}

struct vagx_maintained vagx_uat_maintained(const struct vagx_uat *uat)
{
	const struct vagx_maintained *done = &uat->cpu_cache.done;

	return (struct vagx_maintained){
		.zeroed = __atomic_load_n(&done->zeroed, __ATOMIC_RELAXED),
		.cleaned = __atomic_load_n(&done->cleaned, __ATOMIC_RELAXED),
		.invalidated = __atomic_load_n(&done->invalidated, __ATOMIC_RELAXED),
	};
}
