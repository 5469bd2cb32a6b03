// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * A plugin for QEMU's TCG that tells vagx of the guest's TLB invalidations, and of the barriers
 * that complete them.
 *
 *   qemu-system-aarch64 -plugin vagx-tlbi.so,socket=PATH[,caches=on]
 *
 * With "caches" also of pages that the guest zeroes in its caches, and cleans or invalidates
 * there (dc.h). Each block or line has a callback then; vagx hears of pages only.
 *
 * Only invalidations that the GPU's MMU hears and such barriers have a callback, so the rest of
 * the guest runs as without the plugin. A barrier is told only if its processor has issued
 * invalidations since the last one. The processor waits until vagx has answered: behind the
 * barrier, the GPU's translations are gone.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "../dc.h"
#include "../listen.h"
#include "../tlbi.h"
#include "qemu_api.h"

#define REGISTERS	31		/* x0 to x30; the number above is zero */
#define CPUS		512		/* more than QEMU's boards have */

#define PAGE_SHIFT	14
#define PAGE_LINES	((1U << PAGE_SHIFT) / VAGX_DC_LINE)
#define PAGE_WORDS	(PAGE_LINES / 64)
/*
 * Where a Linux with 47 bits of virtual addresses has all memory, and clears pages before it hands
 * them out. What is zeroed by other addresses may be so past the caches, or belongs to somebody.
 */
#define IS_LINEAR(va)	((va) >> 46 == 0x3fffe)
/* Of 64 GiB of physical addresses; memory comes when it is used */
#define PAGES		(1ULL << 22)

/**
 * struct tlbi_plugin_page - what was done to a page since vagx was told of it
 * @zeroed: vagx knows that it was zeroed
 * @cleaned: a bit for each line
 * @invalidated: a bit for each line
 */
struct tlbi_plugin_page {
	bool zeroed;
	uint64_t cleaned[PAGE_WORDS];
	uint64_t invalidated[PAGE_WORDS];
};

#define EXPORTED	__attribute__((visibility("default")))

EXPORTED int qemu_plugin_version = QEMU_API_VERSION;

static pthread_mutex_t tlbi_plugin_lock = PTHREAD_MUTEX_INITIALIZER;
static int tlbi_plugin_vagx = -1;
static struct glib_array *tlbi_plugin_value;
static struct qemu_register *tlbi_plugin_registers[REGISTERS];
static struct tlbi_plugin_page *tlbi_plugin_pages;	/* NULL: nobody wants to know */
/* Whether a processor has issued an invalidation without a barrier; each has its own */
static bool tlbi_plugin_waits[CPUS];

/* The numbers of registers are the same for all processors */
static void tlbi_plugin_find_registers(unsigned int cpu, void *ctx)
{
	struct glib_array *list = qemu_plugin_get_registers();
	const struct qemu_register_info *info = list->data;
	char name[8];

	pthread_mutex_lock(&tlbi_plugin_lock);
	for (unsigned int i = 0; i < list->len; i++) {
		for (unsigned int n = 0; n < REGISTERS; n++) {
			snprintf(name, sizeof(name), "x%u", n);
			if (!strcmp(info[i].name, name))
				tlbi_plugin_registers[n] = info[i].handle;
		}
	}
	pthread_mutex_unlock(&tlbi_plugin_lock);
	g_array_free(list, 1);
}

/* Lock held */
static uint64_t tlbi_plugin_read_register(unsigned int n)
{
	uint64_t x = 0;

	if (n >= REGISTERS || !tlbi_plugin_registers[n])
		return 0;
	g_byte_array_set_size(tlbi_plugin_value, 0);
	if (qemu_plugin_read_register(tlbi_plugin_registers[n], tlbi_plugin_value) &&
	    tlbi_plugin_value->len >= sizeof(x))
		memcpy(&x, tlbi_plugin_value->data, sizeof(x));
	return x;
}

/* Lock held */
static void tlbi_plugin_tell(const struct vagx_tlbi_message *message)
{
	char answer;

	/* A vagx that has ended has no translations */
	if (tlbi_plugin_vagx >= 0 &&
	    (send(tlbi_plugin_vagx, message, sizeof(*message), MSG_NOSIGNAL) != sizeof(*message) ||
	     recv(tlbi_plugin_vagx, &answer, 1, 0) != 1))
		tlbi_plugin_vagx = -1;
}

static void tlbi_plugin_executed(unsigned int cpu, void *ctx)
{
	uint32_t insn = (uintptr_t)ctx;
	struct vagx_tlbi_message message = { .insn = insn, .cpu = cpu };

	pthread_mutex_lock(&tlbi_plugin_lock);
	message.operand = tlbi_plugin_read_register(VAGX_TLBI_RT(insn));
	tlbi_plugin_tell(&message);
	pthread_mutex_unlock(&tlbi_plugin_lock);
	if (cpu < CPUS)
		tlbi_plugin_waits[cpu] = true;
}

static void tlbi_plugin_completed(unsigned int cpu, void *ctx)
{
	struct vagx_tlbi_message message = { .insn = (uintptr_t)ctx, .cpu = cpu };

	if (cpu < CPUS && !tlbi_plugin_waits[cpu])
		return;
	pthread_mutex_lock(&tlbi_plugin_lock);
	tlbi_plugin_tell(&message);
	pthread_mutex_unlock(&tlbi_plugin_lock);
	if (cpu < CPUS)
		tlbi_plugin_waits[cpu] = false;
}

/* Return: whether all lines of a page are there now; then it begins anew */
static bool tlbi_plugin_add_line(uint64_t *lines, uint64_t pa)
{
	unsigned int line = (unsigned int)(pa / VAGX_DC_LINE % PAGE_LINES);
	uint64_t all = ~0ULL;

	lines[line / 64] |= 1ULL << line % 64;
	for (unsigned int i = 0; i < PAGE_WORDS; i++)
		all &= lines[i];
	if (all != ~0ULL)
		return false;
	memset(lines, 0, PAGE_WORDS * sizeof(*lines));
	return true;
}

/* Lock held */
static void tlbi_plugin_tell_page(uint32_t dc, uint64_t pa)
{
	const struct vagx_tlbi_message message = {
		.insn = dc, .operand = pa >> PAGE_SHIFT << PAGE_SHIFT,
	};

	tlbi_plugin_tell(&message);
}

/* Lock held */
static void tlbi_plugin_note_zero(struct tlbi_plugin_page *page, uint64_t pa)
{
	memset(page->cleaned, 0, sizeof(page->cleaned));
	if (page->zeroed)
		return;
	page->zeroed = true;
	tlbi_plugin_tell_page(VAGX_DC_ZVA, pa);
}

/* Lock held */
static void tlbi_plugin_note_line(struct tlbi_plugin_page *page, uint32_t dc, uint64_t pa)
{
	if (dc != VAGX_DC_IVAC && page->zeroed && tlbi_plugin_add_line(page->cleaned, pa)) {
		page->zeroed = false;
		tlbi_plugin_tell_page(VAGX_DC_CVAC, pa);
	}
	if (dc != VAGX_DC_CVAC && tlbi_plugin_add_line(page->invalidated, pa))
		tlbi_plugin_tell_page(VAGX_DC_IVAC, pa);
}

static void tlbi_plugin_maintained(unsigned int cpu, void *ctx)
{
	uint32_t insn = (uintptr_t)ctx, dc = vagx_dc_of(insn);
	uint64_t va, pa;

	pthread_mutex_lock(&tlbi_plugin_lock);
	va = tlbi_plugin_read_register(insn & VAGX_DC_RT);
	if (IS_LINEAR(va) && qemu_plugin_translate_vaddr(va, &pa) && pa >> PAGE_SHIFT < PAGES) {
		struct tlbi_plugin_page *page = &tlbi_plugin_pages[pa >> PAGE_SHIFT];

		if (dc == VAGX_DC_ZVA)
			tlbi_plugin_note_zero(page, pa);
		else
			tlbi_plugin_note_line(page, dc, pa);
	}
	pthread_mutex_unlock(&tlbi_plugin_lock);
}

static void tlbi_plugin_translated(struct qemu_tb *tb, void *ctx)
{
	size_t count = qemu_plugin_tb_n_insns(tb);

	for (size_t i = 0; i < count; i++) {
		struct qemu_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint32_t word = 0;

		qemu_plugin_insn_data(insn, &word, sizeof(word));
		if (vagx_tlbi_is_heard(word))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, tlbi_plugin_executed,
							       QEMU_API_READS_REGISTERS,
							       (void *)(uintptr_t)word);
		else if (vagx_tlbi_is_barrier(word))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, tlbi_plugin_completed,
							       QEMU_API_NO_REGISTERS,
							       (void *)(uintptr_t)word);
		else if (tlbi_plugin_pages && vagx_dc_of(word))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, tlbi_plugin_maintained,
							       QEMU_API_READS_REGISTERS,
							       (void *)(uintptr_t)word);
	}
}

EXPORTED int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
	static const char option[] = "socket=";

	if (argc < 1 || argc > 2 || strncmp(argv[0], option, strlen(option)) ||
	    (argc == 2 && strcmp(argv[1], "caches=on"))) {
		fprintf(stderr,
			"vagx-tlbi: usage: -plugin vagx-tlbi.so,socket=PATH[,caches=on]\n");
		return -1;
	}
	if (argc == 2) {
		tlbi_plugin_pages = calloc(PAGES, sizeof(*tlbi_plugin_pages));
		if (!tlbi_plugin_pages)
			return -1;
	}
	tlbi_plugin_value = g_byte_array_new();
	tlbi_plugin_vagx = vagx_connect(argv[0] + strlen(option));
	if (tlbi_plugin_vagx < 0) {
		perror(argv[0]);
		return -1;
	}
	qemu_plugin_register_vcpu_init_cb(id, tlbi_plugin_find_registers, NULL);
	qemu_plugin_register_vcpu_tb_trans_cb(id, tlbi_plugin_translated, NULL);
	return 0;
}
