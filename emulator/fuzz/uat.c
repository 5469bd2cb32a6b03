// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The MMU: a guest writes entries of its page tables, right ones and any others, looks addresses
 * up, and invalidates. A walk that knows nothing of caches says what each look-up has to find:
 * always, without a cache; with one, when an invalidation has named the address since tables
 * were last written. Otherwise what is found has to be a page of the guest's memory.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dc.h"
#include "fibers.h"
#include "fuzz.h"
#include "records.h"
#include "tlbi.h"
#include "uat.h"
#include "uat_ops.h"

#define RAM_BASE	UAT_OPS_RAM
#define RAM_SIZE	(64ULL << 20)
#define PAGE		AGX_PAGE_SIZE
/* Pages of tables: that of TTBs, then roots, second and last ones */
#define ROOTS		1
#define SECONDS		4
#define LASTS		8
#define TABLES		UAT_OPS_FIRST_PAGE
#define SLOTS		4
#define VAS		24
#define BLOCK		(1ULL << AGX_UAT_L2_SHIFT)
#define SEARCHES	2

static uint8_t *ram;
static int fd = -1;
static struct vagx_mem *mem;

/* One run */
static struct {
	struct vagx_uat *uat;
	struct vagx_tlb tlb;
	struct vagx_written *written;
	uint64_t oas_mask;
	bool stale[SLOTS][VAS];	/* tables were written, and no invalidation has named it */
	bool tables_written;	/* others than last ones, since everything was invalidated */
	bool wild;		/* last tables may be others, too */
	bool cached, mapped, has_jobs;
	bool remapped;		/* TLBs may lead to where memory was before */
	uint8_t *host;		/* memory as the MMU has it */
	uint64_t now;
	unsigned int searches;
} run;

/* First, second and last entries of everything, of both halves */
static uint64_t va_of(unsigned int i)
{
	static const uint64_t second[] = { 0, 1, 2047 };
	uint64_t va = (uint64_t)(i & 1) << AGX_UAT_L1_SHIFT |
		      second[i / 4 % 3] << AGX_UAT_L2_SHIFT |
		      (uint64_t)(i & 2 ? 2047 : 3) << AGX_UAT_L3_SHIFT;

	return i % VAS >= VAS / 2 ? va | ~0ULL << AGX_UAT_IAS : va;
}

static bool in_ram(uint64_t pa, uint64_t size)
{
	return run.mapped && pa >= RAM_BASE && size <= RAM_SIZE && pa - RAM_BASE <= RAM_SIZE - size;
}

static uint64_t *word(uint64_t pa)
{
	return (uint64_t *)(void *)(ram + (pa - RAM_BASE));
}

/* The walk that knows nothing of caches. Return: the entry of a page, or 0. */
static uint64_t walk(unsigned int slot, uint64_t va)
{
	const uint64_t pa_mask = 0x0000ffffffffc000ULL;
	bool upper = va >> AGX_UAT_IAS;
	uint64_t entry, table;

	if (!in_ram(RAM_BASE, PAGE))
		return 0;
	entry = word(RAM_BASE)[2 * slot + upper];
	table = entry & 0x0000fffffffffffeULL;
	if (!(entry & AGX_TTBR_VALID) || entry >> AGX_TTBR_ASID_SHIFT != slot)
		return 0;
	if (table & ~run.oas_mask || table % 64 || !in_ram(table, 64))
		return 0;
	entry = *word(table + (va >> AGX_UAT_L1_SHIFT) % 8 * 8);
	if ((entry & 3) != 3 || entry & ~(pa_mask | 3) || !in_ram(entry & pa_mask, PAGE))
		return 0;
	entry = *word((entry & pa_mask) + (va >> AGX_UAT_L2_SHIFT) % 2048 * 8);
	if ((entry & 3) == 1 && !upper)
		return (entry & pa_mask) % BLOCK || !in_ram(entry & pa_mask, BLOCK) ? 0 :
		       (entry | 2) + (va % BLOCK & ~AGX_PAGE_MASK);
	if ((entry & 3) != 3 || entry & ~(pa_mask | 3) || !in_ram(entry & pa_mask, PAGE))
		return 0;
	entry = *word((entry & pa_mask) + (va >> AGX_UAT_L3_SHIFT) % 2048 * 8);
	return entry & 1 ? entry : 0;
}

static uint8_t *expected(unsigned int slot, uint64_t va, enum vagx_agent agent,
			 enum vagx_access access)
{
	uint64_t pte = walk(slot, va), pa = VAGX_PTE_PA(pte);

	if (!pte || !(pte & AGX_PTE_AF) || !vagx_pte_allows(pte, agent, access) ||
	    !in_ram(pa, PAGE))
		return NULL;
	return run.host + (pa - RAM_BASE) + (va & AGX_PAGE_MASK);
}

/* What the guest did, and what caches may hold then */

static void forget_nothing(void)
{
	memset(run.stale, 1, sizeof(run.stale));
}

static void wrote_tables(void)
{
	run.tables_written = true;
	forget_nothing();
}

static void know_all(void)
{
	memset(run.stale, 0, sizeof(run.stale));
	run.tables_written = false;
}

static bool is_named(const struct vagx_tlbi *tlbi, unsigned int slot, uint64_t va)
{
	uint64_t first = tlbi->va >> AGX_PAGE_SHIFT, page = va >> AGX_PAGE_SHIFT;

	switch (tlbi->kind) {
	case VAGX_TLBI_ALL:
		return true;
	case VAGX_TLBI_ASID:
		/* Pages of the kernel's half are global, but for those that are not */
		return slot == tlbi->asid && !(va >> AGX_UAT_IAS);
	case VAGX_TLBI_PAGES:
		break;
	}
	return page >= first && page - first < tlbi->pages && !run.tables_written &&
	       (tlbi->any_asid || slot == tlbi->asid);
}

static void invalidate(const struct vagx_tlbi *tlbi)
{
	unsigned int slot, i;

	vagx_uat_invalidate(run.uat, tlbi);
	for (slot = 0; slot < SLOTS; slot++) {
		for (i = 0; i < VAS; i++) {
			if (is_named(tlbi, slot, va_of(i)))
				run.stale[slot][i] = false;
		}
	}
	if (tlbi->kind == VAGX_TLBI_ALL)
		run.tables_written = false;
}

static void do_invalidate(const struct fuzz_record *r)
{
	struct vagx_tlbi tlbi = {
		.kind = r->index % 3,
		.any_asid = r->how & 1,
		.asid = r->field % SLOTS,
		.va = va_of(r->which % VAS) & ~AGX_PAGE_MASK,
		.pages = 1 + (r->how & 2 ? r->extra : 0),
	};

	invalidate(&tlbi);
}

static void do_instruction(const struct fuzz_record *r)
{
	uint32_t insn = VAGX_TLBI_SYS | (r->field & 0x1fff & ~0xf00U) |
			(r->how & 1 ? VAGX_TLBI_CRM_RANGE_OS : VAGX_TLBI_CRM_OS) << 8;
	struct vagx_tlbi tlbi;

	if (vagx_tlbi_decode(insn, r->value, &tlbi)) {
		FUZZ_CHECK(tlbi.kind != VAGX_TLBI_PAGES || tlbi.pages);
		invalidate(&tlbi);
	}
}

/* Entries */

static uint64_t page_at(unsigned int i)
{
	return RAM_BASE + i % (RAM_SIZE / PAGE) * PAGE;
}

static uint64_t leaf_of(const struct fuzz_record *r)
{
	uint64_t pte = page_at(TABLES + r->extra) | AGX_PTE_TYPE | AGX_PTE_AF | AGX_PTE_OS |
		       AGX_PTE_NG | AGX_PROT_GPU_SHARED_RW;

	return r->how & 128 ? fuzz_value(r, pte) : pte;
}

static void do_leaf(const struct fuzz_record *r)
{
	uint64_t table = page_at(LASTS + r->index % (TABLES - LASTS));
	uint64_t entry = va_of(r->which) >> AGX_UAT_L3_SHIFT & (AGX_UAT_L3_ENTRIES - 1);

	word(table)[entry] = leaf_of(r);
	forget_nothing();
}

/* Entries that are right lead to a table of the next level only, or to a block */
static void do_table(const struct fuzz_record *r)
{
	static const unsigned int first[] = { 0, ROOTS, SECONDS, LASTS, TABLES };
	unsigned int level = r->index % 3, entry = r->which % 8, next;
	uint64_t value, table;

	next = first[level + 1] + r->extra % (first[level + 2] - first[level + 1]);
	value = page_at(next) | (level ? AGX_PTE_TYPE :
					 AGX_TTBR_VALID | (uint64_t)(r->which / 2 % SLOTS) << 48);
	if (level == 2) {
		entry = va_of(r->which) >> AGX_UAT_L2_SHIFT & (AGX_UAT_L2_ENTRIES - 1);
		if (r->how & 64)
			value = (RAM_BASE + r->extra % 2 * BLOCK) |
				(leaf_of(r) & ~0x0000ffffffffc002ULL);
	}
	if (r->how & 128) {
		value = fuzz_value(r, value);
		run.wild = true;
	}
	table = page_at(first[level] + r->index / 3 % (first[level + 1] - first[level]));
	word(table)[entry] = value;
	wrote_tables();
}

/* A guest that is right: two tables of a kind, and pages behind all addresses */
static void make_tables(void)
{
	unsigned int slot, i;

	memset(ram, 0, TABLES * PAGE);
	for (slot = 0; slot < SLOTS; slot++) {
		word(RAM_BASE)[2 * slot] = page_at(ROOTS + slot % 2) | AGX_TTBR_VALID |
					   (uint64_t)slot << AGX_TTBR_ASID_SHIFT;
		word(RAM_BASE)[2 * slot + 1] = page_at(ROOTS + 2) | AGX_TTBR_VALID |
					       (uint64_t)slot << AGX_TTBR_ASID_SHIFT;
	}
	for (i = 0; i < 6; i++)
		word(page_at(ROOTS + i / 2))[i % 2] = page_at(SECONDS + i % 4) | AGX_PTE_TYPE;
	for (i = 0; i < 12; i++) {
		uint64_t entry = va_of(i) >> AGX_UAT_L2_SHIFT & (AGX_UAT_L2_ENTRIES - 1);

		word(page_at(SECONDS + i % 4))[entry] = page_at(LASTS + i % 8) | AGX_PTE_TYPE;
	}
	for (i = 0; i < 16; i++) {
		const struct fuzz_record r = { .extra = (uint16_t)i };

		word(page_at(LASTS + i % 8))[i / 8 ? 2047 : 3] = leaf_of(&r);
	}
}

/* Look-ups */

static void check(unsigned int slot, unsigned int i, uint64_t va, const uint8_t *found,
		  enum vagx_agent agent, enum vagx_access access)
{
	if (found) {
		FUZZ_CHECK(found >= run.host && found < run.host + RAM_SIZE);
		FUZZ_CHECK(((uint64_t)(found - run.host) & AGX_PAGE_MASK) == (va & AGX_PAGE_MASK));
	}
	if (!run.cached || (!run.stale[slot][i] && !run.wild))
		FUZZ_CHECK(found == expected(slot, va, agent, access));
}

static void do_look(const struct fuzz_record *r)
{
	unsigned int slot = r->index % SLOTS, i = r->which % VAS;
	enum vagx_agent agent = r->how & 1 ? VAGX_AGENT_FW : VAGX_AGENT_GPU;
	enum vagx_access access = r->how >> 1 & 1 ? VAGX_WRITE : VAGX_READ;
	uint64_t va = va_of(i) + r->extra % (PAGE - 8);
	struct vagx_uat_fault fault;
	uint8_t *found = vagx_uat_ptr(run.uat, slot, va, 8, agent, access, &fault);

	check(slot, i, va, found, agent, access);
	FUZZ_CHECK(found || (fault.va == va && fault.slot == slot && fault.access == access));
	if (!found)
		FUZZ_CHECK(vagx_fault_reason_name(fault.reason) != vagx_fault_reason_name(99));
	vagx_uat_table_pte(run.uat, slot, va);
}

static void do_tlb(const struct fuzz_record *r)
{
	unsigned int i = r->which % VAS, slot = run.tlb.slot;
	enum vagx_access access = r->how % 3;
	uint64_t va = va_of(i) + r->extra % PAGE;
	struct vagx_uat_fault fault;
	uint8_t *found = vagx_tlb_ptr(&run.tlb, va, 4, access, &fault);

	/* Without a cache, only a last table's word is watched */
	if (found && run.cached && !run.remapped)
		check(slot, i, va, found, VAGX_AGENT_GPU, access);
	/* Not into tables, which would be another kind of entry */
	if (found && access == VAGX_WRITE && !run.remapped && found >= run.host + TABLES * PAGE)
		memcpy(found, &r->value, 4);
}

static void do_read(const struct fuzz_record *r)
{
	static uint8_t buffer[3 * PAGE];
	struct vagx_uat_fault fault;
	size_t size = r->extra % sizeof(buffer);
	int err;

	err = vagx_uat_read(run.uat, r->index % SLOTS, va_of(r->which % VAS) + r->field % PAGE,
			    buffer, size, VAGX_AGENT_GPU, &fault);
	FUZZ_CHECK(!err || fault.slot == r->index % SLOTS);
}

static void do_write(const struct fuzz_record *r)
{
	static const uint8_t buffer[2 * PAGE];
	struct vagx_uat_fault fault;

	vagx_uat_write(run.uat, r->index % SLOTS, va_of(r->which % VAS) + r->field % PAGE, buffer,
		       r->extra % sizeof(buffer), r->how & 1 ? VAGX_AGENT_FW : VAGX_AGENT_GPU,
		       &fault);
	/* It may have been to tables */
	run.wild = true;
	wrote_tables();
}

static void do_find(const struct fuzz_record *r)
{
	struct vagx_uat_range range;
	uint64_t va = va_of(r->which % VAS) + ((uint64_t)r->extra << AGX_PAGE_SHIFT);

	/* It may take a while */
	if (run.searches++ >= SEARCHES)
		return;
	if (!vagx_uat_find(run.uat, r->index % (SLOTS + 1), va, r->how & 1, &range))
		return;
	FUZZ_CHECK(range.start < range.end && !((range.start | range.end) & AGX_PAGE_MASK));
	FUZZ_CHECK(range.pte & VAGX_PTE_VALID);
}

static void do_job(const struct fuzz_record *r)
{
	run.tlb.written = NULL;
	vagx_written_free(run.written);
	run.written = r->index & 1 ? vagx_written_new(run.uat, run.tlb.slot) : NULL;
	run.tlb.written = run.written;
	vagx_tlb_flush(&run.tlb);
	if (!run.has_jobs)
		return;
	run.wild = true;
	wrote_tables();
}

static void do_flush(const struct fuzz_record *r)
{
	/* The job is of the TLB's slot */
	struct vagx_written *written = run.tlb.written;

	if (written)
		vagx_tlb_flush(&run.tlb);
	else
		vagx_tlb_init(&run.tlb, run.uat, r->index % SLOTS, VAGX_AGENT_GPU);
}

static void do_sweep(const struct fuzz_record *r)
{
	uint64_t next;

	run.now += r->value % 16 * VAGX_UAT_SWEEP_NS / 2;
	fuzz_fibers_sleep(r->extra % 32 * 1000000ULL);
	next = vagx_uat_sweep(run.uat, run.now);
	FUZZ_CHECK(!next || next > run.now);
	if (run.has_jobs) {
		run.wild = true;
		wrote_tables();
	}
}

static void map_ram(void)
{
	FUZZ_CHECK(!vagx_mem_map(mem, RAM_BASE, RAM_SIZE, fd, 0, VAGX_MEM_READ | VAGX_MEM_WRITE));
	run.host = vagx_mem_ptr(mem, RAM_BASE, RAM_SIZE);
	FUZZ_CHECK(run.host);
	run.mapped = true;
}

static void do_memory(void)
{
	if (run.mapped) {
		vagx_mem_unmap_all(mem);
		run.mapped = false;
		run.remapped = true;
	} else {
		map_ram();
	}
	wrote_tables();
}

static void do_cache(bool on)
{
	vagx_uat_cache_set(run.uat, on);
	run.cached = on;
	vagx_tlb_flush(&run.tlb);
	know_all();
}

static void do_record(const struct fuzz_record *r)
{
	static const uint32_t dc[] = { VAGX_DC_ZVA, VAGX_DC_CVAC, VAGX_DC_IVAC };
	struct vagx_uat_stats stats;

	switch ((enum uat_op)(r->op % UAT_OP_COUNT)) {
	case UAT_OP_LEAF:
		do_leaf(r);
		break;
	case UAT_OP_TABLE:
		do_table(r);
		break;
	case UAT_OP_LOOK:
		do_look(r);
		break;
	case UAT_OP_TLB:
		do_tlb(r);
		break;
	case UAT_OP_INVALIDATE:
		do_invalidate(r);
		break;
	case UAT_OP_INSTRUCTION:
		do_instruction(r);
		break;
	case UAT_OP_READ:
		do_read(r);
		break;
	case UAT_OP_WRITE:
		do_write(r);
		break;
	case UAT_OP_SWEEP:
		do_sweep(r);
		break;
	case UAT_OP_FIND:
		do_find(r);
		break;
	case UAT_OP_FORGET:
		vagx_uat_forget(run.uat);
		vagx_uat_get_stats(run.uat, &stats);
		know_all();
		break;
	case UAT_OP_CACHE:
		do_cache(r->index & 3);
		break;
	case UAT_OP_JOB:
		do_job(r);
		break;
	case UAT_OP_MAINTAIN:
		vagx_uat_maintain(run.uat, dc[r->index % 3],
				  r->how & 1 ? r->value : page_at(r->extra));
		vagx_uat_maintained(run.uat);
		break;
	case UAT_OP_MEMORY:
		do_memory();
		break;
	case UAT_OP_FLUSH:
		do_flush(r);
		break;
	case UAT_OP_COUNT:
		break;
	}
}

static const struct fuzz_record looks[] = {
	{ .index = 3 },
	{ .op = UAT_OP_LOOK }, { .op = UAT_OP_LOOK, .which = 12, .index = 1 },
	{ .op = UAT_OP_LEAF, .extra = 40 }, { .op = UAT_OP_LOOK },
	{ .op = UAT_OP_INVALIDATE, .index = 2 }, { .op = UAT_OP_LOOK },
	{ .op = UAT_OP_TABLE, .index = 2, .extra = 3 }, { .op = UAT_OP_INVALIDATE, .index = 1 },
	{ .op = UAT_OP_LOOK }, { .op = UAT_OP_SWEEP, .value = 15 },
	{ .op = UAT_OP_SWEEP, .value = 15 },
	{ .op = UAT_OP_READ, .extra = 40000 }, { .op = UAT_OP_FIND, .how = 1 },
};

static const struct fuzz_record blocks[] = {
	{ .index = 3 },
	{ .op = UAT_OP_TABLE, .index = 2, .how = 64 }, { .op = UAT_OP_INVALIDATE },
	{ .op = UAT_OP_LOOK }, { .op = UAT_OP_TLB, .extra = 8 },
	{ .op = UAT_OP_TABLE, .index = 2, .how = 64, .extra = 1 },
	{ .op = UAT_OP_INVALIDATE, .index = 2 }, { .op = UAT_OP_LOOK }, { .op = UAT_OP_FIND },
};

static const struct fuzz_record jobs[] = {
	{ .index = 15, .value = 5 },
	{ .op = UAT_OP_JOB, .index = 1 }, { .op = UAT_OP_TLB, .how = 1, .value = 77 },
	{ .op = UAT_OP_TLB, .which = 2, .how = 1, .value = 77 },
	{ .op = UAT_OP_LEAF, .extra = 50 }, { .op = UAT_OP_INVALIDATE, .index = 2 },
	{ .op = UAT_OP_TLB, .how = 1, .value = 78 },
	{ .op = UAT_OP_SWEEP, .value = 4, .extra = 20 },
	{ .op = UAT_OP_MAINTAIN, .extra = 20 }, { .op = UAT_OP_LOOK, .which = 4 },
	{ .op = UAT_OP_JOB },
};

static const struct fuzz_seed seeds[] = {
	FUZZ_SEED(looks), FUZZ_SEED(blocks), FUZZ_SEED(jobs),
};

const struct fuzz_shape fuzz_shape = {
	.ops = UAT_OP_COUNT, .favoured = UAT_OP_FAVOURED, .seeds = seeds,
	.num_seeds = sizeof(seeds) / sizeof(seeds[0]),
};

static void set_up(void)
{
	fd = memfd_create("guest", MFD_CLOEXEC);
	FUZZ_CHECK(fd >= 0 && !ftruncate(fd, RAM_SIZE));
	ram = mmap(NULL, RAM_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	FUZZ_CHECK(ram != MAP_FAILED);
}

/* The first record: with a cache, how its pages and its table of TTBs are, and seeds */
static void begin(const struct fuzz_record *r)
{
	struct vagx_uat_config config = {
		.report = fuzz_report(),
		.ttbs = RAM_BASE,
		.oas_bits = r->how & 1 ? 42 : 40,
		.poison = r->index & 2,
		.write_back = r->index & 4,
		.keep_holes = r->index & 8,
		.seed = r->value,
	};

	memset(&run, 0, sizeof(run));
	run.oas_mask = (1ULL << config.oas_bits) - 1;
	run.has_jobs = config.write_back;
	run.now = VAGX_UAT_SWEEP_NS;
	mem = vagx_mem_new();
	FUZZ_CHECK(mem);
	map_ram();
	config.mem = mem;
	make_tables();
	run.uat = vagx_uat_new(&config);
	FUZZ_CHECK(run.uat);
	vagx_tlb_init(&run.tlb, run.uat, 1, VAGX_AGENT_GPU);
	do_cache(r->index & 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_record records[FUZZ_RECORDS];
	size_t count = fuzz_records(data, size, records), i;

	if (!count)
		return 0;
	if (fd < 0)
		set_up();
	fuzz_fibers_begin(1);
	begin(&records[0]);
	for (i = 1; i < count; i++)
		do_record(&records[i]);
	vagx_written_free(run.written);
	vagx_uat_free(run.uat);
	vagx_mem_free(mem);
	fuzz_fibers_end();
	return 0;
}
