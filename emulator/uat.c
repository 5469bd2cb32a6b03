// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * Translates and checks addresses of the firmware and of the GPU. A page entry comes from the
 * cache of translations if that is on (uat_cache.c), else from a walk of the tables
 * (uat_tables.c). The permission bits of the entry are looked up in tables for each agent (m1n1
 * hw/uat.py), and what is not allowed becomes a fault with the reason that the fault register has
 * for it.
 *
 * Any thread. There is no lock here but those of the models that it calls (uat_cache.c,
 * uat_write_back.c); a struct vagx_tlb belongs to one thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "uat.h"
#include "uat_internal.h"

#define PAGE_KNOWN	(UAT_TABLE_KNOWN | AGX_PTE_PROT_MASK | VAGX_PTE_SH_MASK | \
			 AGX_PTE_AF | AGX_PTE_NG | AGX_PTE_OS)

struct vagx_uat *vagx_uat_new(const struct vagx_uat_config *config)
{
	struct vagx_uat *uat = calloc(1, sizeof(*uat));

	if (!uat)
		return NULL;

	uat->mem = config->mem;
	uat->report = config->report;
	uat->ttbs = config->ttbs;
	uat->poison = config->poison;
	uat->keep_holes = config->keep_holes;
	uat->holes_seed = config->seed;
	uat->oas_mask = (1ULL << config->oas_bits) - 1;
	if (!uat_cpu_cache_init(&uat->cpu_cache)) {
		free(uat);
		return NULL;
	}
	uat_cache_init(&uat->cache);
	uat_write_back_init(&uat->write_back, config->write_back, config->seed);
	return uat;
}

void vagx_uat_free(struct vagx_uat *uat)
{
	if (!uat)
		return;
	uat_write_back_fini(&uat->write_back, uat->report);
	uat_cache_fini(&uat->cache);
	uat_cpu_cache_fini(&uat->cpu_cache);
	free(uat);
}

/* What the four permission bits mean, from m1n1 hw/uat.py */
enum { R = 1 << VAGX_READ, W = 1 << VAGX_WRITE, X = 1 << VAGX_EXEC };

/* Indices: AP, then UXN << 1 | PXN */
static const uint8_t uat_gpu_rights[4][4] = {
	{ 0, R, W, R | W },
	{ 0, 0, 0, R },
	{ R, W, R | W, 0 },
	{ 0, 0, 0, 0 },
};

static const uint8_t uat_fw_rights_os[4][4] = {
	{ 0, R, W, R | W },
	{ R, 0, R | W, R | W },
	{ 0, 0, 0, 0 },
	{ 0, 0, 0, 0 },
};

static const uint8_t uat_fw_rights_own[4][4] = {
	{ 0, 0, 0, 0 },
	{ 0, R | W, 0, R | W },
	{ 0, R | X, 0, 0 },
	{ R | X, R, 0, R },
};

static unsigned int uat_rights(uint64_t pte, enum vagx_agent agent)
{
	unsigned int ap = VAGX_PTE_AP(pte);
	unsigned int xn = !!(pte & AGX_PTE_UXN) << 1 | !!(pte & AGX_PTE_PXN);
	unsigned int allowed;

	if (agent == VAGX_AGENT_FW)
		return pte & AGX_PTE_OS ? uat_fw_rights_os[ap][xn] :
					   uat_fw_rights_own[ap][xn];

	/* Shaders are fetched through readable pages: no bit says execute */
	allowed = pte & AGX_PTE_OS ? uat_gpu_rights[ap][xn] : 0;
	return allowed & R ? allowed | X : allowed;
}

bool vagx_pte_allows(uint64_t pte, enum vagx_agent agent,
		     enum vagx_access access)
{
	return uat_rights(pte, agent) >> access & 1;
}

static enum vagx_fault_reason uat_refusal(unsigned int allowed)
{
	if (!allowed)
		return VAGX_FAULT_NO_ACCESS;
	return allowed & R ? VAGX_FAULT_READ_ONLY : VAGX_FAULT_WRITE_ONLY;
}

/* Finds the page entry of @va, cached or not; false if there is none */
static bool uat_walk(struct vagx_uat *uat, unsigned int slot, uint64_t va,
		     struct leaf *leaf)
{
	const uint64_t *at;
	uint64_t table;

	if (uat_cache_walk(uat, slot, va, leaf))
		return leaf->value & VAGX_PTE_VALID;
	table = uat_tables_find_at(uat, slot, va, &at);
	if (!table)
		return false;
	if (uat_tables_is_block(table)) {
		leaf->watch = at;
		leaf->watched = table;
		leaf->value = uat_tables_leaf(uat, table, va);
		return true;
	}
	leaf->watch = uat_tables_entry(uat, table, UAT_LEAF_INDEX(va));
	leaf->value = leaf->watch ? uat_tables_load(leaf->watch) : 0;
	leaf->watched = leaf->value;
	return leaf->value & VAGX_PTE_VALID;
}

static void uat_check_page(struct vagx_uat *uat, unsigned int slot, uint64_t va,
			   uint64_t pte)
{
	enum vagx_rule clause = VAGX_KEPT;

	if (!(pte & VAGX_PTE_PAGE))
		clause = VAGX_CLAUSE_UAT_BAD_PAGE_type;
	else if (pte & ~PAGE_KNOWN)
		clause = VAGX_CLAUSE_UAT_BAD_PAGE_bits;
	else if (VAGX_PTE_PA(pte) & ~uat->oas_mask)
		clause = VAGX_CLAUSE_UAT_BAD_PAGE_reach;
	vagx_violation(uat->report, clause, va, "page table", "slot %u, page entry 0x%llx", slot,
		       (unsigned long long)pte);
	if (slot && !(va & VA_UPPER) && !(pte & AGX_PTE_NG))
		vagx_violation(uat->report, VAGX_RULE_UAT_GLOBAL_PAGE, va,
			       "page table", "slot %u, page entry 0x%llx", slot,
			       (unsigned long long)pte);
}

/* Return: host address of the page that @va is on, or NULL */
static uint8_t *uat_translate(struct vagx_uat *uat, unsigned int slot, uint64_t va,
			      enum vagx_agent agent, enum vagx_access access,
			      struct leaf *leaf, struct vagx_uat_fault *fault)
{
	enum vagx_fault_reason reason;
	unsigned int allowed;
	uint8_t *host;

	if (!uat_walk(uat, slot, va, leaf)) {
		reason = VAGX_FAULT_UNMAPPED;
		goto fault;
	}
	uat_check_page(uat, slot, va, leaf->value);

	if (!(leaf->value & AGX_PTE_AF)) {
		reason = VAGX_FAULT_ACCESS_FLAG;
		goto fault;
	}
	allowed = uat_rights(leaf->value, agent);
	if (!(allowed >> access & 1)) {
		reason = uat_refusal(allowed);
		goto fault;
	}
	host = vagx_mem_ptr(uat->mem, VAGX_PTE_PA(leaf->value),
			    VAGX_UAT_PAGE_SIZE);
	if (host)
		return host;
	reason = VAGX_FAULT_BUS;

fault:
	if (fault)
		*fault = (struct vagx_uat_fault) {
			.va = va, .slot = slot,
			.access = access, .reason = reason,
		};
	return NULL;
}

void *vagx_uat_ptr(struct vagx_uat *uat, unsigned int slot, uint64_t va,
		   size_t len, enum vagx_agent agent, enum vagx_access access,
		   struct vagx_uat_fault *fault)
{
	uint64_t offset = va & VAGX_UAT_PAGE_MASK;
	struct leaf leaf;
	uint8_t *host;

	if (len > VAGX_UAT_PAGE_SIZE - offset) {
		/* Only an access that is not aligned to its size crosses pages */
		if (fault)
			*fault = (struct vagx_uat_fault) {
				.va = va, .slot = slot, .access = access,
				.reason = VAGX_FAULT_BUS,
			};
		return NULL;
	}
	host = uat_translate(uat, slot, va, agent, access, &leaf, fault);
	return host ? host + offset : NULL;
}

static size_t uat_in_page(uint64_t va, size_t len)
{
	size_t rest = VAGX_UAT_PAGE_SIZE - (va & VAGX_UAT_PAGE_MASK);

	return len < rest ? len : rest;
}

int vagx_uat_read(struct vagx_uat *uat, unsigned int slot, uint64_t va,
		  void *buf, size_t len, enum vagx_agent agent,
		  struct vagx_uat_fault *fault)
{
	uint8_t *to = buf;

	while (len) {
		size_t part = uat_in_page(va, len);
		const void *from = vagx_uat_ptr(uat, slot, va, part, agent,
						VAGX_READ, fault);

		if (!from)
			return -EFAULT;
		memcpy(to, from, part);
		to += part;
		va += part;
		len -= part;
	}
	return 0;
}

int vagx_uat_write(struct vagx_uat *uat, unsigned int slot, uint64_t va,
		   const void *buf, size_t len, enum vagx_agent agent,
		   struct vagx_uat_fault *fault)
{
	const uint8_t *from = buf;
	size_t part;

	for (size_t done = 0; done < len; done += part) {
		part = uat_in_page(va + done, len - done);
		if (!vagx_uat_ptr(uat, slot, va + done, part, agent,
				  VAGX_WRITE, fault))
			return -EFAULT;
	}

	while (len) {
		void *to;

		part = uat_in_page(va, len);
		/* The guest may have changed its tables since the check */
		to = vagx_uat_ptr(uat, slot, va, part, agent, VAGX_WRITE,
				  fault);
		if (!to)
			return -EFAULT;
		memcpy(to, from, part);
		from += part;
		va += part;
		len -= part;
	}
	return 0;
}

uint64_t vagx_uat_pte(struct vagx_uat *uat, unsigned int slot, uint64_t va)
{
	struct leaf leaf;

	return uat_walk(uat, slot, va, &leaf) ? leaf.value : 0;
}

const char *vagx_fault_reason_name(enum vagx_fault_reason reason)
{
	switch (reason) {
	case VAGX_FAULT_UNMAPPED:
		return "unmapped";
	case VAGX_FAULT_ACCESS_FLAG:
		return "access flag";
	case VAGX_FAULT_WRITE_ONLY:
		return "write-only";
	case VAGX_FAULT_READ_ONLY:
		return "read-only";
	case VAGX_FAULT_NO_ACCESS:
		return "no access";
	case VAGX_FAULT_BUS:
		return "no memory behind it";
	}
	return "unknown";
}

const char *vagx_access_name(enum vagx_access access)
{
	switch (access) {
	case VAGX_READ:
		return "read";
	case VAGX_WRITE:
		return "write";
	case VAGX_EXEC:
		return "fetch";
	}
	return "unknown";
}

void vagx_tlb_init(struct vagx_tlb *tlb, struct vagx_uat *uat,
		   unsigned int slot, enum vagx_agent agent)
{
	tlb->uat = uat;
	tlb->slot = slot;
	tlb->agent = agent;
	tlb->written = NULL;
	vagx_tlb_flush(tlb);
}

void vagx_tlb_flush(struct vagx_tlb *tlb)
{
	memset(tlb->entry, 0, sizeof(tlb->entry));
}

void *vagx_tlb_ptr_slow(struct vagx_tlb *tlb, uint64_t va, size_t len,
			enum vagx_access access, struct vagx_uat_fault *fault)
{
	uint64_t offset = va & VAGX_UAT_PAGE_MASK;
	struct vagx_tlb_entry *e =
		&tlb->entry[(va >> VAGX_UAT_PAGE_SHIFT) % VAGX_TLB_ENTRIES];
	struct leaf leaf;
	uint8_t *host;

	if (len > VAGX_UAT_PAGE_SIZE - offset)
		return vagx_uat_ptr(tlb->uat, tlb->slot, va, len, tlb->agent,
				    access, fault);

	host = uat_translate(tlb->uat, tlb->slot, va, tlb->agent, access, &leaf,
			     fault);
	if (!host) {
		if (tlb->uat->keep_holes)
			uat_cache_keep_hole(tlb->uat, tlb->slot, va);
		return NULL;
	}

	e->tag = (va & ~VAGX_UAT_PAGE_MASK) | 1;
	e->watch = leaf.watch;
	e->watched = leaf.watched;
	e->host = host;
	e->allowed = uat_rights(leaf.value, tlb->agent);
	if (tlb->written && access == VAGX_WRITE)
		uat_write_back_note(tlb->written, va, VAGX_PTE_PA(leaf.value));
	else if (tlb->written)
		/* So that the first store to the page comes here, too */
		e->allowed &= ~W;
	return host + offset;
}
