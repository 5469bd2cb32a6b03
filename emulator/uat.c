// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "uat.h"
#include "uat_internal.h"

#define TTB_ASID(ttb)	((ttb) >> AGX_TTBR_ASID_SHIFT)

/* The root has fewer entries than fill a page, so it need not start one */
#define TTB_BASE(ttb)	((ttb) & 0x0000fffffffffffeULL)

#define ROOT_SIZE	(AGX_UAT_L1_ENTRIES * 8)

#define TABLE_KNOWN	(AGX_PTE_TYPE | VAGX_PTE_PA(~0ULL))
#define PAGE_KNOWN	(TABLE_KNOWN | AGX_PTE_PROT_MASK | VAGX_PTE_SH_MASK | \
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
	uat->oas_mask = (1ULL << config->oas_bits) - 1;
	uat_cache_init(&uat->cache);
	return uat;
}

void vagx_uat_free(struct vagx_uat *uat)
{
	if (!uat)
		return;
	uat_cache_fini(&uat->cache);
	free(uat);
}

/* What the four permission bits mean, from m1n1 hw/uat.py */
enum { R = 1 << VAGX_READ, W = 1 << VAGX_WRITE, X = 1 << VAGX_EXEC };

/* Indices: AP, then UXN << 1 | PXN */
static const uint8_t gpu_rights[4][4] = {
	{ 0, R, W, R | W },
	{ 0, 0, 0, R },
	{ R, W, R | W, 0 },
	{ 0, 0, 0, 0 },
};

static const uint8_t fw_rights_os[4][4] = {
	{ 0, R, W, R | W },
	{ R, 0, R | W, R | W },
	{ 0, 0, 0, 0 },
	{ 0, 0, 0, 0 },
};

static const uint8_t fw_rights_own[4][4] = {
	{ 0, 0, 0, 0 },
	{ 0, R | W, 0, R | W },
	{ 0, R | X, 0, 0 },
	{ R | X, R, 0, R },
};

static unsigned int rights(uint64_t pte, enum vagx_agent agent)
{
	unsigned int ap = VAGX_PTE_AP(pte);
	unsigned int xn = !!(pte & AGX_PTE_UXN) << 1 | !!(pte & AGX_PTE_PXN);
	unsigned int allowed;

	if (agent == VAGX_AGENT_FW)
		return pte & AGX_PTE_OS ? fw_rights_os[ap][xn] :
					   fw_rights_own[ap][xn];

	/* Shaders are fetched through readable pages: no bit says execute */
	allowed = pte & AGX_PTE_OS ? gpu_rights[ap][xn] : 0;
	return allowed & R ? allowed | X : allowed;
}

bool vagx_pte_allows(uint64_t pte, enum vagx_agent agent,
		     enum vagx_access access)
{
	return rights(pte, agent) >> access & 1;
}

static enum vagx_fault_reason refusal(unsigned int allowed)
{
	if (!allowed)
		return VAGX_FAULT_NO_ACCESS;
	return allowed & R ? VAGX_FAULT_READ_ONLY : VAGX_FAULT_WRITE_ONLY;
}

static uint64_t load(const uint64_t *entry)
{
	return __atomic_load_n(entry, __ATOMIC_ACQUIRE);
}

uint64_t vagx_uat_ttb(struct vagx_uat *uat, unsigned int slot,
		      unsigned int half)
{
	const uint64_t *ttb;

	if (slot >= VAGX_UAT_CONTEXTS || half > 1)
		return 0;
	ttb = vagx_mem_ptr(uat->mem, uat->ttbs + slot * AGX_TTBS_STRIDE + half * 8,
			   sizeof(*ttb));
	return ttb ? load(ttb) : 0;
}

static const uint64_t *table_entry(struct vagx_uat *uat, uint64_t table,
				   unsigned int index)
{
	return vagx_mem_ptr(uat->mem, table + index * 8ULL, sizeof(uint64_t));
}

/* Return: the root table, or 0 */
static uint64_t root(struct vagx_uat *uat, unsigned int slot, uint64_t va)
{
	unsigned int half = !!(va & VA_UPPER);
	uint64_t ttb = vagx_uat_ttb(uat, slot, half);
	uint64_t base = TTB_BASE(ttb);

	if (half && (va & VA_UPPER) != VA_UPPER)
		return 0;
	if (!(ttb & AGX_TTBR_VALID))
		return 0;
	if (TTB_ASID(ttb) != slot || base & ~uat->oas_mask ||
	    base % ROOT_SIZE ||
	    !vagx_mem_ptr(uat->mem, base, ROOT_SIZE)) {
		vagx_violation(uat->report, VAGX_RULE_UAT_BAD_TTB,
			       uat->ttbs + slot * AGX_TTBS_STRIDE + half * 8, "TTB table",
			       "slot %u, ttb%u is 0x%llx", slot, half,
			       (unsigned long long)ttb);
		return 0;
	}
	return base;
}

uint64_t uat_load_entry(struct vagx_uat *uat, uint64_t table, uint64_t va)
{
	const uint64_t *entry = table_entry(uat, table, UAT_LEAF_INDEX(va));

	return entry ? load(entry) : 0;
}

uint64_t uat_find_table(struct vagx_uat *uat, unsigned int slot, uint64_t va)
{
	static const struct {
		unsigned int shift, entries;
	} levels[] = {
		{ AGX_UAT_L1_SHIFT, AGX_UAT_L1_ENTRIES },
		{ AGX_UAT_L2_SHIFT, AGX_UAT_L2_ENTRIES },
	};
	uint64_t table;

	if (slot >= VAGX_UAT_CONTEXTS)
		return 0;
	table = root(uat, slot, va);
	for (unsigned int level = 0; table && level < AGX_UAT_LEVELS - 1; level++) {
		unsigned int index = va >> levels[level].shift &
				     (levels[level].entries - 1);
		const uint64_t *entry = table_entry(uat, table, index);
		uint64_t value = entry ? load(entry) : 0;

		if (!(value & VAGX_PTE_VALID))
			return 0;
		if (!(value & VAGX_PTE_PAGE) || value & ~TABLE_KNOWN ||
		    !vagx_mem_ptr(uat->mem, VAGX_PTE_PA(value),
				  VAGX_UAT_PAGE_SIZE)) {
			vagx_violation(uat->report, VAGX_RULE_UAT_BAD_TABLE,
				       va, "page table",
				       "slot %u, level %u holds 0x%llx", slot,
				       level + 1, (unsigned long long)value);
			return 0;
		}
		table = VAGX_PTE_PA(value);
	}
	return table;
}

/* Through the translations that are cached, if any are */
static bool walk(struct vagx_uat *uat, unsigned int slot, uint64_t va,
		 struct leaf *leaf)
{
	uint64_t table;

	if (uat_cache_walk(uat, slot, va, leaf))
		return leaf->value & VAGX_PTE_VALID;
	table = uat_find_table(uat, slot, va);
	if (!table)
		return false;
	leaf->watch = table_entry(uat, table, UAT_LEAF_INDEX(va));
	leaf->value = leaf->watch ? load(leaf->watch) : 0;
	leaf->watched = leaf->value;
	return leaf->value & VAGX_PTE_VALID;
}

/* Tables, and pages of a range, that are looked at in search for one */
#define FIND_STEPS	65536

/* Return: whether a page is there; else how much there is without one in @span */
static bool look_up(struct vagx_uat *uat, uint64_t table, uint64_t va, uint64_t *pte, uint64_t *span)
{
	static const unsigned int shifts[] = { AGX_UAT_L1_SHIFT, AGX_UAT_L2_SHIFT, AGX_UAT_L3_SHIFT };
	unsigned int level;

	for (level = 0; level < AGX_UAT_LEVELS; level++) {
		unsigned int entries = level ? AGX_UAT_L3_ENTRIES : AGX_UAT_L1_ENTRIES;
		const uint64_t *entry = table_entry(uat, table, va >> shifts[level] & (entries - 1));

		*span = 1ULL << shifts[level];
		*pte = entry ? load(entry) : 0;
		if (!(*pte & VAGX_PTE_VALID))
			return false;
		table = VAGX_PTE_PA(*pte);
	}
	return true;
}

/* The first page from @va on, upwards or downwards */
static bool find_page(struct vagx_uat *uat, uint64_t table, uint64_t *va, bool up, uint64_t *pte)
{
	unsigned int step;
	uint64_t span;

	for (step = 0; step < FIND_STEPS && !(*va & VA_UPPER); step++) {
		if (look_up(uat, table, *va, pte, &span))
			return true;
		*va = up ? (*va | (span - 1)) + 1 : (*va & ~(span - 1)) - 1;
	}
	return false;
}

/* How far pages with these permissions go on. Return: the last one's address */
static uint64_t find_end(struct vagx_uat *uat, uint64_t table, uint64_t va, bool up, uint64_t pte,
			 bool *more)
{
	const uint64_t same = AGX_PTE_PROT_MASK | VAGX_PTE_VALID;
	unsigned int step;

	for (step = 0; step < FIND_STEPS; step++) {
		uint64_t next = up ? va + VAGX_UAT_PAGE_SIZE : va - VAGX_UAT_PAGE_SIZE;
		uint64_t other, span;

		if (next & VA_UPPER || !look_up(uat, table, next, &other, &span) ||
		    (pte ^ other) & same)
			return va;
		va = next;
	}
	*more = true;
	return va;
}

bool vagx_uat_find(struct vagx_uat *uat, unsigned int slot, uint64_t va, bool up,
		   struct vagx_uat_range *range)
{
	uint64_t table = slot < VAGX_UAT_CONTEXTS && !(va & VA_UPPER) ? root(uat, slot, va) : 0;
	uint64_t page = va, pte;

	if (!table || !find_page(uat, table, &page, up, &pte))
		return false;
	page &= ~(uint64_t)VAGX_UAT_PAGE_MASK;
	range->pte = pte;
	range->more = false;
	range->start = find_end(uat, table, page, false, pte, &range->more);
	range->end = find_end(uat, table, page, true, pte, &range->more) + VAGX_UAT_PAGE_SIZE;
	return true;
}

static void check_page(struct vagx_uat *uat, unsigned int slot, uint64_t va,
		       uint64_t pte)
{
	if (!(pte & VAGX_PTE_PAGE) || pte & ~PAGE_KNOWN ||
	    VAGX_PTE_PA(pte) & ~uat->oas_mask)
		vagx_violation(uat->report, VAGX_RULE_UAT_BAD_PAGE, va,
			       "page table", "slot %u, page entry 0x%llx", slot,
			       (unsigned long long)pte);
	if (slot && !(va & VA_UPPER) && !(pte & AGX_PTE_NG))
		vagx_violation(uat->report, VAGX_RULE_UAT_GLOBAL_PAGE, va,
			       "page table", "slot %u, page entry 0x%llx", slot,
			       (unsigned long long)pte);
}

/* Return: host address of the page that @va is on, or NULL */
static uint8_t *translate(struct vagx_uat *uat, unsigned int slot, uint64_t va,
			  enum vagx_agent agent, enum vagx_access access,
			  struct leaf *leaf, struct vagx_uat_fault *fault)
{
	enum vagx_fault_reason reason;
	unsigned int allowed;
	uint8_t *host;

	if (!walk(uat, slot, va, leaf)) {
		reason = VAGX_FAULT_UNMAPPED;
		goto fault;
	}
	check_page(uat, slot, va, leaf->value);

	if (!(leaf->value & AGX_PTE_AF)) {
		reason = VAGX_FAULT_ACCESS_FLAG;
		goto fault;
	}
	allowed = rights(leaf->value, agent);
	if (!(allowed >> access & 1)) {
		reason = refusal(allowed);
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
		/* The caller's address is misaligned: nothing sane is there */
		if (fault)
			*fault = (struct vagx_uat_fault) {
				.va = va, .slot = slot, .access = access,
				.reason = VAGX_FAULT_BUS,
			};
		return NULL;
	}
	host = translate(uat, slot, va, agent, access, &leaf, fault);
	return host ? host + offset : NULL;
}

static size_t in_page(uint64_t va, size_t len)
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
		size_t part = in_page(va, len);
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
		part = in_page(va + done, len - done);
		if (!vagx_uat_ptr(uat, slot, va + done, part, agent,
				  VAGX_WRITE, fault))
			return -EFAULT;
	}

	while (len) {
		void *to;

		part = in_page(va, len);
		/* The guest may have changed its mind in between */
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

	return walk(uat, slot, va, &leaf) ? leaf.value : 0;
}

uint64_t vagx_uat_table_pte(struct vagx_uat *uat, unsigned int slot, uint64_t va)
{
	uint64_t table = uat_find_table(uat, slot, va);
	uint64_t value = table ? uat_load_entry(uat, table, va) : 0;

	return value & VAGX_PTE_VALID ? value : 0;
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

	host = translate(tlb->uat, tlb->slot, va, tlb->agent, access, &leaf,
			 fault);
	if (!host)
		return NULL;

	e->tag = (va & ~VAGX_UAT_PAGE_MASK) | 1;
	e->watch = leaf.watch;
	e->watched = leaf.watched;
	e->host = host;
	e->allowed = rights(leaf.value, tlb->agent);
	return host + offset;
}
