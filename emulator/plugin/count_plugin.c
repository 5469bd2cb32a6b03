// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * A plugin for QEMU's TCG that counts the instructions of the guest's kernel by the block of
 * code that they are in.
 *
 *   qemu-system-aarch64 -plugin vagx-count.so,out=FILE
 *
 * A program in the guest marks the begin and the end of what is to be counted, with the hints
 * of vagx_marks.h. At each end the plugin writes a section to FILE:
 *
 *   section NUMBER
 *   ADDRESS RUNS INSTRUCTIONS
 *   ...
 *
 * ADDRESS is where a block begins, in hex; several lines may have the same. RUNS is how often
 * the block began to run, so that the runs of a function's first block are the calls of that
 * function. User space is one block, with address 0.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vagx/vagx_marks.h"

#include "qemu_api.h"

#define KERNEL		(UINT64_C(1) << 63)	/* the kernel's half of the addresses */
#define BOARD_BLOCKS	4096

#define EXPORTED	__attribute__((visibility("default")))

EXPORTED int qemu_plugin_version = QEMU_API_VERSION;

struct counts {
	uint64_t runs;
	uint64_t instructions;
};

/* A block, with its counters and what they were when the section began */
struct block {
	uint64_t address;
	struct qemu_u64 runs;
	struct qemu_u64 instructions;
	struct counts before;
};

/* Protects all that follows */
static pthread_mutex_t count_plugin_lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *count_plugin_out;
static unsigned int count_plugin_sections;
static struct block *count_plugin_blocks;
static size_t count_plugin_used;
static size_t count_plugin_room;
static struct qemu_scoreboard *count_plugin_board;

/* Counters of the next block. Their memory is never given back. */
static void count_plugin_take_counters(struct block *block)
{
	size_t number = count_plugin_used % BOARD_BLOCKS;
	size_t offset = number * sizeof(struct counts);

	if (!number)
		count_plugin_board = qemu_plugin_scoreboard_new(BOARD_BLOCKS *
								 sizeof(struct counts));
	block->runs = (struct qemu_u64){
		count_plugin_board, offset + offsetof(struct counts, runs)
	};
	block->instructions = (struct qemu_u64){
		count_plugin_board, offset + offsetof(struct counts, instructions)
	};
}

static struct block *count_plugin_add_block(uint64_t address)
{
	struct block *block;

	if (count_plugin_used == count_plugin_room) {
		count_plugin_room = count_plugin_room ? 2 * count_plugin_room : BOARD_BLOCKS;
		count_plugin_blocks = realloc(count_plugin_blocks,
					      count_plugin_room * sizeof(*count_plugin_blocks));
		if (!count_plugin_blocks)
			abort();
	}
	block = &count_plugin_blocks[count_plugin_used];
	*block = (struct block){ .address = address };
	count_plugin_take_counters(block);
	count_plugin_used++;
	return block;
}

/* Block 0 is all of user space. */
static struct block *count_plugin_block_at(uint64_t address)
{
	if (!count_plugin_used)
		count_plugin_add_block(0);
	return address & KERNEL ? count_plugin_add_block(address) : count_plugin_blocks;
}

static struct counts count_plugin_read(const struct block *block)
{
	return (struct counts){
		.runs = qemu_plugin_u64_sum(block->runs),
		.instructions = qemu_plugin_u64_sum(block->instructions),
	};
}

static void count_plugin_begin(unsigned int cpu, void *ctx)
{
	pthread_mutex_lock(&count_plugin_lock);
	for (size_t i = 0; i < count_plugin_used; i++)
		count_plugin_blocks[i].before = count_plugin_read(&count_plugin_blocks[i]);
	pthread_mutex_unlock(&count_plugin_lock);
}

static void count_plugin_end(unsigned int cpu, void *ctx)
{
	pthread_mutex_lock(&count_plugin_lock);
	fprintf(count_plugin_out, "section %u\n", count_plugin_sections++);
	for (size_t i = 0; i < count_plugin_used; i++) {
		const struct block *block = &count_plugin_blocks[i];
		struct counts now = count_plugin_read(block);

		if (now.instructions == block->before.instructions)
			continue;
		fprintf(count_plugin_out, "%" PRIx64 " %" PRIu64 " %" PRIu64 "\n", block->address,
			now.runs - block->before.runs,
			now.instructions - block->before.instructions);
	}
	fflush(count_plugin_out);
	pthread_mutex_unlock(&count_plugin_lock);
}

static void count_plugin_translated(struct qemu_tb *tb, void *ctx)
{
	size_t count = qemu_plugin_tb_n_insns(tb);
	struct block block;

	pthread_mutex_lock(&count_plugin_lock);
	block = *count_plugin_block_at(qemu_plugin_tb_vaddr(tb));
	pthread_mutex_unlock(&count_plugin_lock);

	qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, QEMU_API_ADD, block.runs, 1);
	/* Each by itself: a block that an access has left early has not run all of them. */
	for (size_t i = 0; i < count; i++) {
		struct qemu_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint32_t word = 0;

		qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(insn, QEMU_API_ADD,
								     block.instructions, 1);
		qemu_plugin_insn_data(insn, &word, sizeof(word));
		if (word == VAGX_MARK_WORD(VAGX_MARK_BEGIN))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, count_plugin_begin,
							       QEMU_API_NO_REGISTERS, NULL);
		else if (word == VAGX_MARK_WORD(VAGX_MARK_END))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, count_plugin_end,
							       QEMU_API_NO_REGISTERS, NULL);
	}
}

EXPORTED int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
	static const char option[] = "out=";

	if (argc != 1 || strncmp(argv[0], option, strlen(option))) {
		fprintf(stderr, "vagx-count: usage: -plugin vagx-count.so,out=FILE\n");
		return -1;
	}
	count_plugin_out = fopen(argv[0] + strlen(option), "w");
	if (!count_plugin_out) {
		perror(argv[0]);
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, count_plugin_translated, NULL);
	return 0;
}
