// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Inputs for the targets of what is not a client's: page tables of the mappings that clients had,
 * vertex buffers of their renders' sizes, and commands with what the driver writes into them. The
 * targets' guests have few addresses and pages; mappings get those that are like theirs.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <agx/agx_uat.h>

#include "corpus.h"
#include "firmware/fields.h"
#include "firmware_ops.h"
#include "tvb_ops.h"
#include "uat_ops.h"

/* Of a record's @how: it has the value itself */
#define VALUE		5
/* Of those of page tables: the entry is the value */
#define ENTRY		(128 | VALUE)

/* Calls a function for each line of a text, with the end cut off */
static void machine_each_line(const char *text, void (*line_fn)(void *ctx, const char *line),
			      void *ctx)
{
	char line[256];

	while (*text) {
		size_t length = strcspn(text, "\n");

		snprintf(line, sizeof(line), "%.*s", (int)(length < 255 ? length : 255), text);
		line_fn(ctx, line);
		text += length + (text[length] == '\n');
	}
}

/* Page tables */

/* Mappings of a job so far; each has four records */
struct machine_tables {
	struct corpus_list list;
	unsigned int mappings;
};

/* One of the target's addresses that is like the mapping's: by its place in each table */
static uint8_t machine_address(uint64_t va)
{
	uint64_t second = va >> AGX_UAT_L2_SHIFT & (AGX_UAT_L2_ENTRIES - 1);
	uint64_t last = va >> AGX_UAT_L3_SHIFT & (AGX_UAT_L3_ENTRIES - 1);
	unsigned int kind = !second ? 0 : second == AGX_UAT_L2_ENTRIES - 1 ? 2 : 1;

	return (uint8_t)(4 * kind + (last >= AGX_UAT_L3_ENTRIES / 2 ? 2 : 0) +
			 (va >> AGX_UAT_L1_SHIFT & 1));
}

static uint64_t machine_entry(unsigned int page, bool reads, bool writes)
{
	uint64_t prot = !writes ? AGX_PROT_GPU_SHARED_RO :
			reads ? AGX_PROT_GPU_SHARED_RW : AGX_PROT_GPU_SHARED_WO;

	return (UAT_OPS_RAM + (uint64_t)(UAT_OPS_FIRST_PAGE + page) * AGX_PAGE_SIZE) | prot |
	       AGX_PTE_TYPE | AGX_PTE_AF | AGX_PTE_NG | AGX_PTE_OS;
}

/* Maps a page, and looks it up; then takes it away, and invalidates that */
static void machine_map(struct machine_tables *t, uint64_t va, const char *access)
{
	const bool reads = strchr(access, 'r'), writes = strchr(access, 'w');
	const uint8_t which = machine_address(va), table = which % 8;

	corpus_add(&t->list, (struct fuzz_record){
		.op = UAT_OP_LEAF, .which = which, .how = ENTRY, .index = table,
		.value = machine_entry(t->mappings++, reads, writes),
	});
	corpus_add(&t->list, (struct fuzz_record){
		.op = t->mappings % 2 ? UAT_OP_LOOK : UAT_OP_TLB, .which = which,
		.how = writes ? 2 : 0,
	});
	if (t->mappings % 2)
		return;
	corpus_add(&t->list, (struct fuzz_record){
		.op = UAT_OP_LEAF, .which = which, .how = ENTRY, .index = table,
	});
	corpus_add(&t->list, (struct fuzz_record){
		.op = UAT_OP_INVALIDATE, .which = which, .index = 2, .how = 2,
	});
}

static void machine_end_tables(struct machine_tables *t)
{
	if (t->list.count > 1)
		corpus_put("uat", &t->list);
	/* with a cache */
	*t = (struct machine_tables){ .list = { .record = { { .index = 1 } }, .count = 1 } };
}

/* Vertex buffers */

/* A render of that size: the registers are fragment work's and, by the last record, vertex work's */
static void machine_render(const uint32_t size[6])
{
	static unsigned int scene;
	struct corpus_list list = { .record = { { .which = (uint8_t)(scene++ % 4) } }, .count = 1 };
	uint16_t word;

	for (word = 0; word < 6; word++)
		corpus_add(&list, (struct fuzz_record){
			.op = TVB_OP_REGISTER, .field = word, .how = VALUE, .index = word == 5,
			.value = size[word],
		});
	corpus_add(&list, (struct fuzz_record){ .op = TVB_OP_FRAGMENT, .index = 1 });
	corpus_add(&list, (struct fuzz_record){ .op = TVB_OP_WORK });
	corpus_add(&list, (struct fuzz_record){ .op = TVB_OP_FRAGMENT });
	corpus_put("tvb", &list);
}

static void machine_line(void *ctx, const char *line)
{
	struct machine_tables *t = ctx;
	uint64_t va, bytes;
	uint32_t size[6];
	char access[4];

	if (!strcmp(line, "mappings:"))
		machine_end_tables(t);
	else if (sscanf(line, "  mapping %" SCNx64 " %" SCNx64 " %3s", &va, &bytes, access) == 3)
		machine_map(t, va, access);
	else if (sscanf(line, "render: %ux%ux%u samples %u tiles %ux%u", &size[0], &size[1],
			&size[2], &size[3], &size[4], &size[5]) == 6)
		machine_render(size);
}

void corpus_put_machine(const char *capture)
{
	struct machine_tables tables = { .list = { .count = 0 } };

	machine_each_line(capture, machine_line, &tables);
	machine_end_tables(&tables);
}

/* Commands */

/* A structure of a command, by how its fields' names begin, and its place from the target's last one */
struct machine_part {
	const char *prefix;
	enum fw_struct_id type;
	uint8_t place;
};

static const struct machine_part machine_compute[] = {
	{ "RunCompute.job_meta.", FW_S_JobMeta, 6 },
	{ "RunCompute.compute_info.", FW_S_ComputeInfo, 5 },
	{ "RunCompute.compute_info2.", FW_S_ComputeInfo2, 4 },
	{ "RunCompute.encoder_params.", FW_S_EncoderParams, 3 },
	{ "RunCompute.", FW_S_RunCompute, 7 },
};

static const struct machine_part machine_vertex[] = {
	{ "RunVertex.job_meta.", FW_S_JobMeta, 10 },
	{ "RunVertex.struct_2.", FW_S_TaStruct2, 9 },
	{ "RunVertex.tiling_params.", FW_S_TilingParameters, 8 },
	{ "RunVertex.", FW_S_RunVertex, 11 },
	{ "Barrier.", FW_S_Barrier, 15 },
	{ "InitBuffer.", FW_S_InitBuffer, 14 },
	{ "BufferThing.", FW_S_BufferThing, 16 },
};

static const struct machine_part machine_fragment[] = {
	{ "RunFragment.job_meta.", FW_S_JobMeta, 4 },
	{ "RunFragment.struct_1.", FW_S_FragmentStruct1, 3 },
	{ "RunFragment.struct_2.", FW_S_FragmentStruct2, 2 },
	{ "RunFragment.", FW_S_RunFragment, 5 },
};

/* Machines of the list whose commands have no lists of registers, and the number of the target's */
static const struct {
	char letter;
	uint8_t soc;
} machine_socs[] = { { 'a', 0 }, { 'b', 2 }, { 'c', 1 }, { 'd', 2 }, { 'e', 1 } };

/* An input of some fields; when it is full, another one goes on */
struct machine_command {
	char letter;
	uint8_t soc;
	const struct machine_part *parts;
	unsigned int num_parts;
	bool is_compute;
	struct corpus_list list;
};

/* Behind the fields: the command is submitted, and what comes of it is read */
#define AFTER	4

static void machine_begin_command(struct machine_command *c)
{
	c->list = (struct corpus_list){
		.record = { { .index = c->soc, .value = FW_OPS_BOOT } }, .count = 1,
	};
	corpus_add(&c->list, (struct fuzz_record){
		.op = c->is_compute ? GUEST_OP_COMPUTE : GUEST_OP_RENDER, .how = 1,
	});
}

static void machine_end_command(struct machine_command *c)
{
	if (c->list.count <= 2)
		return;
	corpus_add(&c->list, (struct fuzz_record){
		.op = c->is_compute ? GUEST_OP_SUBMIT : GUEST_OP_SUBMIT_RENDER,
		.which = c->is_compute ? 128 + machine_compute[4].place : 0,
	});
	corpus_add(&c->list, (struct fuzz_record){ .op = GUEST_OP_WAIT, .value = 5 });
	corpus_add(&c->list, (struct fuzz_record){ .op = GUEST_OP_EVENTS });
	corpus_add(&c->list, (struct fuzz_record){ .op = GUEST_OP_WAIT, .value = 5 });
	corpus_put("firmware", &c->list);
	machine_begin_command(c);
}

/* Number of a field in its structure's rows. Return: false if there is none of that name. */
static bool machine_find_field(enum fw_struct_id type, const char *name, uint16_t *number)
{
	enum fw_field_id field;

	*number = 0;
	for (field = 0; field < FW_FIELD_COUNT; field++) {
		if (fw_fields[field].structure != type)
			continue;
		if (!strcmp(fw_fields[field].name, name))
			return true;
		++*number;
	}
	return false;
}

/* A line of the list: machines, a field, its value */
static void machine_field(void *ctx, const char *line)
{
	struct machine_command *c = ctx;
	char machines[8], path[128], value[64], *end;
	struct fuzz_record record = { .op = GUEST_OP_FIELD, .how = VALUE };
	unsigned int i = 0;

	if (sscanf(line, "%7s %127s %63s", machines, path, value) != 3 ||
	    !strchr(machines, c->letter))
		return;
	record.value = strtoull(value, &end, 0);
	while (i < c->num_parts && strncmp(path, c->parts[i].prefix, strlen(c->parts[i].prefix)))
		i++;
	if (*end || i == c->num_parts ||
	    !machine_find_field(c->parts[i].type, path + strlen(c->parts[i].prefix),
				&record.field))
		return;
	record.which = 128 + c->parts[i].place;
	corpus_add(&c->list, record);
	if (c->list.count == FUZZ_RECORDS - AFTER)
		machine_end_command(c);
}

static void machine_put_commands(struct machine_command *c, const char *golden)
{
	unsigned int i;

	for (i = 0; i < sizeof(machine_socs) / sizeof(machine_socs[0]); i++) {
		c->letter = machine_socs[i].letter;
		c->soc = machine_socs[i].soc;
		machine_begin_command(c);
		machine_each_line(golden, machine_field, c);
		machine_end_command(c);
	}
}

void corpus_put_commands(const char *golden)
{
	struct machine_command kinds[] = {
		{ .parts = machine_compute, .num_parts = 5, .is_compute = true },
		{ .parts = machine_vertex, .num_parts = 7 },
		{ .parts = machine_fragment, .num_parts = 4 },
	};
	unsigned int i;

	for (i = 0; i < 3; i++)
		machine_put_commands(&kinds[i], golden);
}
