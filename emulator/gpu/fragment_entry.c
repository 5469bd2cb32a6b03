// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What states and draws have in common: they are entries of hash tables, whose first user loads
 * them from the client's memory while others wait, and their loading can fail.
 */
#include "gpu/fragment.h"
#include "gpu/render.h"

int fragment_read_client(struct fragment_worker *w, uint64_t va, void *buf, size_t len,
			 unsigned int unit)
{
	struct vagx_uat_fault fault;

	if (vagx_tlb_read(&w->core->tlb, va, buf, len, &fault))
		return fragment_fault(w, &fault, unit);
	return 0;
}

int fragment_unsupported(struct fragment_worker *w, uint64_t va, const char *packet,
			 const char *what)
{
	const struct vagx_uat_fault fault = {
		.va = va,
		.slot = w->job->base->vm_slot,
		.access = VAGX_READ,
		.reason = VAGX_FAULT_NO_ACCESS,
	};

	gpu_failure_violates(&w->failure, VAGX_RULE_CF_UNSUPPORTED, va, packet, "%s", what);
	return fragment_fault(w, &fault, VAGX_GPU_UNIT_ISP);
}

void fragment_entry_add(struct fragment_entry **bucket, struct fragment_entry *entry, uint64_t hash)
{
	entry->hash = hash;
	entry->users = 1;
	entry->next = *bucket;
	*bucket = entry;
}

void fragment_entry_loaded(struct fragment_worker *w, struct fragment_entry *entry, int err)
{
	if (err) {
		entry->failure = w->failure;
		entry->failure.err = err;
		w->failure = (struct gpu_failure){ 0 };
	}
	pthread_mutex_lock(&w->job->lock);
	entry->loaded = true;
	pthread_cond_broadcast(&w->job->is_loaded);
}

void fragment_entry_use(struct fragment_job *f, struct fragment_entry *entry)
{
	entry->users++;
	while (!entry->loaded)
		pthread_cond_wait(&f->is_loaded, &f->lock);
}

void fragment_entry_remove(struct fragment_entry **bucket, struct fragment_entry *entry)
{
	while (*bucket != entry)
		bucket = &(*bucket)->next;
	*bucket = entry->next;
	gpu_failure_drop(&entry->failure);
}
