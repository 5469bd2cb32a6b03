/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_UAT_H
#define VAGX_UAT_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "agx/agx_uat.h"
#include "guest_memory.h"

struct vagx_report;

/*
 * The MMU that firmware and GPU share ("UAT"). It walks from the TTB table it
 * was given and checks every permission. Sources: m1n1 hw/uat.py for formats
 * and permissions; the fault reasons are those of the MMU fault register.
 */

#define VAGX_UAT_PAGE_SHIFT	AGX_PAGE_SHIFT
#define VAGX_UAT_PAGE_SIZE	AGX_PAGE_SIZE
#define VAGX_UAT_PAGE_MASK	AGX_PAGE_MASK
#define VAGX_UAT_CONTEXTS	AGX_UAT_CONTEXTS

enum vagx_access { VAGX_READ, VAGX_WRITE, VAGX_EXEC };
enum vagx_agent { VAGX_AGENT_FW, VAGX_AGENT_GPU };

/* Values 0-4 are those of the fault register's reason field */
enum vagx_fault_reason {
	VAGX_FAULT_UNMAPPED = 0,
	VAGX_FAULT_ACCESS_FLAG = 1,
	VAGX_FAULT_WRITE_ONLY = 2,
	VAGX_FAULT_READ_ONLY = 3,
	VAGX_FAULT_NO_ACCESS = 4,
	/* The entry is valid but leads to nothing that is RAM */
	VAGX_FAULT_BUS = 5,
};

struct vagx_uat_fault {
	uint64_t va;
	unsigned int slot;
	enum vagx_access access;
	enum vagx_fault_reason reason;
};

/**
 * struct vagx_uat - the MMU
 *
 * Without vagx_uat_cache_set() every call walks the guest's tables, so a table that
 * changed is seen at once. With it, translations and pointers to the last table are
 * kept until the guest invalidates them (uat_cache.c). Any thread.
 */
struct vagx_uat;
struct vagx_tlbi;

struct vagx_uat_config {
	struct vagx_mem *mem;
	struct vagx_report *report;
	uint64_t ttbs;			/* guest-physical address of the TTB table */
	unsigned int oas_bits;		/* 40 or 42 */
	bool poison;			/* find pages that nobody has cleared, see poison.h */
	bool write_back;		/* stores of a job come to memory late */
	uint64_t seed;			/* of how late, or 0: when it ends; of @keep_holes */
	bool keep_holes;		/* TLBs keep of some pages that they are not mapped */
};

struct vagx_uat *vagx_uat_new(const struct vagx_uat_config *config);
void vagx_uat_free(struct vagx_uat *uat);

/**
 * vagx_uat_ptr() - host pointer behind a virtual address
 * @uat: the MMU
 * @slot: context, below VAGX_UAT_CONTEXTS. Addresses of the upper half use
 *        the context's ttb1, all others its ttb0
 * @va: address
 * @len: bytes; the access must not cross a 16K page
 * @agent: firmware or GPU
 * @access: what for
 * @fault: filled on failure, may be NULL
 *
 * The pointer stays harmless to dereference for as long as the guest memory
 * lives, but what is behind it may be reused by the guest as soon as it
 * unmaps the page: do not keep it across jobs or messages.
 *
 * Return: the pointer, or NULL with @fault filled.
 */
void *vagx_uat_ptr(struct vagx_uat *uat, unsigned int slot, uint64_t va,
		   size_t len, enum vagx_agent agent, enum vagx_access access,
		   struct vagx_uat_fault *fault);

/**
 * vagx_uat_read() - copy from virtual memory, across pages
 *
 * Return: 0, or -EFAULT with @fault filled (what precedes the faulting page
 * has been copied).
 */
int vagx_uat_read(struct vagx_uat *uat, unsigned int slot, uint64_t va,
		  void *buf, size_t len, enum vagx_agent agent,
		  struct vagx_uat_fault *fault);

/**
 * vagx_uat_write() - copy to virtual memory, across pages
 *
 * All pages are checked before the first byte is written.
 *
 * Return: 0, or -EFAULT with @fault filled.
 */
int vagx_uat_write(struct vagx_uat *uat, unsigned int slot, uint64_t va,
		   const void *buf, size_t len, enum vagx_agent agent,
		   struct vagx_uat_fault *fault);

/**
 * struct vagx_written - the pages that a job has stored to, see uat_write_back.c
 *
 * TLBs of the job's cores note them, see struct vagx_tlb.
 */
struct vagx_written;

/**
 * vagx_written_new() - a job begins
 *
 * Return: what it will store, or NULL if nobody has asked for it.
 */
struct vagx_written *vagx_written_new(struct vagx_uat *uat, unsigned int slot);

/** vagx_written_free() - the job has ended, and what it has stored is in memory; or NULL */
void vagx_written_free(struct vagx_written *written);

/**
 * vagx_uat_cache_set() - begin or end to keep translations
 * @on: somebody tells of all invalidations from now on; or nobody does any more
 */
void vagx_uat_cache_set(struct vagx_uat *uat, bool on);

/**
 * vagx_uat_invalidate() - drop the translations that the guest names, and no others
 *
 * What the tables still translate is looked up again at once, as hardware may at
 * any time. So an invalidation that comes before the change of the table has no
 * effect.
 */
void vagx_uat_invalidate(struct vagx_uat *uat, const struct vagx_tlbi *tlbi);

/**
 * struct vagx_maintained - what the guest has done to its CPU's caches, in pages of 16 KiB
 * @zeroed: pages that it has begun to zero in them
 * @cleaned: pages that it has cleaned as a whole after that
 * @invalidated: pages that it has made them forget as a whole
 */
struct vagx_maintained {
	uint64_t zeroed;
	uint64_t cleaned;
	uint64_t invalidated;
};

/**
 * vagx_uat_maintain() - the guest has maintained its caches, see uat_cpu_cache.c
 * @dc: VAGX_DC_ZVA at the beginning of a page that is zeroed; VAGX_DC_CVAC or VAGX_DC_IVAC at the
 *	end of one
 * @pa: the page
 */
void vagx_uat_maintain(struct vagx_uat *uat, uint32_t dc, uint64_t pa);

struct vagx_maintained vagx_uat_maintained(const struct vagx_uat *uat);

/* The MMU loses its power, and all translations */
void vagx_uat_forget(struct vagx_uat *uat);

/**
 * vagx_uat_sweep() - look for translations that should have been invalidated
 * @now_ns: monotonic time
 *
 * One that differs from the tables for VAGX_UAT_STALE_NS has been forgotten. Stores of
 * jobs that are due are written back as well.
 *
 * Return: when to come again, 0 for not at all.
 */
uint64_t vagx_uat_sweep(struct vagx_uat *uat, uint64_t now_ns);

#define VAGX_UAT_STALE_NS	3000000000ULL
#define VAGX_UAT_SWEEP_NS	250000000ULL

/**
 * struct vagx_uat_stats - what the cache of translations has done
 * @on: it is in use
 * @pages: translations that it has
 * @invalidations: how many there were
 * @dropped: translations that were forgotten, or replaced, because of them
 * @kept: translations that tables still had then
 */
struct vagx_uat_stats {
	bool on;
	uint64_t pages;
	uint64_t invalidations;
	uint64_t dropped;
	uint64_t kept;
};

void vagx_uat_get_stats(struct vagx_uat *uat, struct vagx_uat_stats *stats);

/**
 * vagx_uat_table_pte() - vagx_uat_pte() as the tables have it now
 *
 * It is what the driver has written; vagx_uat_pte() is what firmware and GPU use.
 */
uint64_t vagx_uat_table_pte(struct vagx_uat *uat, unsigned int slot, uint64_t va);

/**
 * vagx_uat_pte() - the leaf entry of an address, unchecked
 *
 * For rules about where a structure may lie (attributes, owner, agents).
 *
 * Return: the entry, or 0 when the walk finds none.
 */
uint64_t vagx_uat_pte(struct vagx_uat *uat, unsigned int slot, uint64_t va);

/**
 * vagx_uat_ttb() - raw entry of the TTB table
 * @half: 0 for ttb0, 1 for ttb1
 */
uint64_t vagx_uat_ttb(struct vagx_uat *uat, unsigned int slot,
		      unsigned int half);

/**
 * vagx_pte_allows() - what a leaf entry permits to an agent
 */
bool vagx_pte_allows(uint64_t pte, enum vagx_agent agent,
		     enum vagx_access access);

/**
 * struct vagx_uat_range - pages that are mapped, one after the other
 * @start: first address
 * @end: behind the last page
 * @pte: the entry of the page nearest to where was looked; all have its permissions
 * @more: the range goes on, but nobody has looked how far
 */
struct vagx_uat_range {
	uint64_t start;
	uint64_t end;
	uint64_t pte;
	bool more;
};

/**
 * vagx_uat_find() - the pages at an address, or the nearest ones
 * @uat: the MMU
 * @slot: context
 * @va: address of the lower half
 * @up: look towards higher addresses, else towards lower ones
 * @range: what was found
 *
 * For messages: it looks no further than is worth it.
 *
 * Return: false if nothing was found.
 */
bool vagx_uat_find(struct vagx_uat *uat, unsigned int slot, uint64_t va, bool up,
		   struct vagx_uat_range *range);

const char *vagx_fault_reason_name(enum vagx_fault_reason reason);
const char *vagx_access_name(enum vagx_access access);

/* Fields of a leaf entry, besides those of agx_uat.h */
#define VAGX_PTE_VALID		(1ULL << 0)
#define VAGX_PTE_PAGE		(1ULL << 1)	/* page or table, never a block */
#define VAGX_PTE_ATTR(pte)	(((pte) & AGX_PTE_ATTR_MASK) >> AGX_PTE_ATTR_SHIFT)
#define VAGX_PTE_AP(pte)	(((pte) & AGX_PTE_AP_MASK) >> AGX_PTE_AP_SHIFT)
#define VAGX_PTE_SH_MASK	(3ULL << 8)

#define VAGX_ATTR_FW_CACHED	AGX_PTE_ATTR_CACHED
#define VAGX_ATTR_DEVICE	AGX_PTE_ATTR_DEVICE
#define VAGX_ATTR_SHARED	AGX_PTE_ATTR_SHARED

#define VAGX_PTE_PA(pte)	((pte) & 0x0000ffffffffc000ULL)

/*
 * Translation cache of one thread, for the shader cores, in front of the MMU.
 * Each entry remembers a word and what it held, and a hit compares both again:
 * the number of invalidations that there were, or, where nobody tells of these,
 * its entry in the table. So a change is seen by the next access. Flush it at
 * each start of a job: then it holds pointers into the guest's memory.
 */
#define VAGX_TLB_ENTRIES	256

struct vagx_tlb_entry {
	uint64_t tag;			/* page address | 1, 0 when empty */
	const uint64_t *watch;
	uint64_t watched;
	uint8_t *host;
	unsigned int allowed;		/* bit per enum vagx_access */
};

struct vagx_tlb {
	struct vagx_uat *uat;
	unsigned int slot;
	enum vagx_agent agent;
	struct vagx_written *written;	/* of the job; NULL: nobody notes what is stored */
	struct vagx_tlb_entry entry[VAGX_TLB_ENTRIES];
};

/* Stores are not noted until @tlb->written is set */
void vagx_tlb_init(struct vagx_tlb *tlb, struct vagx_uat *uat,
		   unsigned int slot, enum vagx_agent agent);
void vagx_tlb_flush(struct vagx_tlb *tlb);

void *vagx_tlb_ptr_slow(struct vagx_tlb *tlb, uint64_t va, size_t len,
			enum vagx_access access, struct vagx_uat_fault *fault);

/**
 * vagx_tlb_ptr() - vagx_uat_ptr() through the translation cache of this thread
 */
static inline void *vagx_tlb_ptr(struct vagx_tlb *tlb, uint64_t va, size_t len,
				 enum vagx_access access,
				 struct vagx_uat_fault *fault)
{
	uint64_t page = va >> VAGX_UAT_PAGE_SHIFT;
	struct vagx_tlb_entry *e = &tlb->entry[page % VAGX_TLB_ENTRIES];
	size_t offset = va & VAGX_UAT_PAGE_MASK;

	if (e->tag == ((va & ~VAGX_UAT_PAGE_MASK) | 1) &&
	    (e->allowed >> access & 1) && offset + len <= VAGX_UAT_PAGE_SIZE &&
	    len <= VAGX_UAT_PAGE_SIZE &&
	    __atomic_load_n(e->watch, __ATOMIC_ACQUIRE) == e->watched)
		return e->host + offset;

	return vagx_tlb_ptr_slow(tlb, va, len, access, fault);
}

/** vagx_tlb_read() - vagx_uat_read() through the translation cache of this thread */
static inline int vagx_tlb_read(struct vagx_tlb *tlb, uint64_t va, void *buf, size_t len,
				struct vagx_uat_fault *fault)
{
	uint8_t *to = buf;
	size_t part;

	for (; len; len -= part, va += part, to += part) {
		const size_t left = VAGX_UAT_PAGE_SIZE - (va & VAGX_UAT_PAGE_MASK);
		const void *from;

		part = len < left ? len : left;
		from = vagx_tlb_ptr(tlb, va, part, VAGX_READ, fault);
		if (!from)
			return -EFAULT;
		memcpy(to, from, part);
	}
	return 0;
}

#endif
