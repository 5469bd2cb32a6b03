// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * Lists of registers: what they consist of, and which word of other GPUs' structures is in which.
 */
#include "fw_registers.h"

#include <inttypes.h>

#include "../report.h"

#define NO_ROW	FW_FIELD_COUNT
#define FW_NONE	NO_ROW

static const struct {
	enum fw_register_list list;
	const char *name;
	uint32_t number;
	enum fw_field_id row;
} fw_registers_known[] = {
#define FW_REGISTER(list, name, number, row, source) \
	{ FW_REGISTERS_##list, #name, number, FW_##row },
#include "registers_g14x.def"
#undef FW_REGISTER
};

#define FW_REGISTERS_KNOWN (sizeof(fw_registers_known) / sizeof(fw_registers_known[0]))

static const char *fw_registers_list_name(enum fw_register_list list)
{
	static const char *const names[] = {
		[FW_REGISTERS_VERTEX] = "RunVertex",
		[FW_REGISTERS_FRAGMENT] = "RunFragment",
		[FW_REGISTERS_COMPUTE] = "RunCompute",
	};

	return names[list];
}

const char *fw_registers_name(enum fw_register_list list, uint32_t number)
{
	for (unsigned int i = 0; i < FW_REGISTERS_KNOWN; i++) {
		if (fw_registers_known[i].list == list && fw_registers_known[i].number == number)
			return fw_registers_known[i].name;
	}
	return NULL;
}

static unsigned int fw_registers_count_of(const struct fw_registers *registers, uint32_t number)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < registers->count; i++)
		count += registers->entry[i].number == number;
	return count;
}

/* Checks that each known register is there once and no other, and in the order of the references */
static void fw_registers_check(const struct fw_registers *registers, uint64_t at,
			       struct fw_access *access)
{
	unsigned int place = 0;
	bool ordered = true;

	for (unsigned int i = 0; i < FW_REGISTERS_KNOWN; i++) {
		uint32_t number = fw_registers_known[i].number;
		unsigned int count;

		if (fw_registers_known[i].list != registers->list)
			continue;
		count = fw_registers_count_of(registers, number);
		if (count != 1)
			vagx_violation(access->report,
				       count ? VAGX_CLAUSE_FW_REGISTER_LIST_twice :
					       VAGX_CLAUSE_FW_REGISTER_LIST_missing,
				       at, fw_registers_list_name(registers->list), "%s, %#x, is there %u times", fw_registers_known[i].name,
				       number, count);
		ordered &= place < registers->count && registers->entry[place].number == number;
		place++;
	}
	if (place != registers->count)
		vagx_violation(access->report, VAGX_CLAUSE_FW_REGISTER_LIST_count, at,
			       fw_registers_list_name(registers->list),
			       "%u registers instead of %u", registers->count, place);
	else if (!ordered)
		vagx_violation(access->report, VAGX_RULE_FW_REGISTER_ORDER, at,
			       fw_registers_list_name(registers->list),
			       "the list has another order");
}

void fw_registers_load(struct fw_registers *registers, enum fw_register_list list, uint64_t at,
		       unsigned int count, struct fw_access *access)
{
	registers->list = list;
	registers->count = count < FW_REGISTERS_MAX ? count : FW_REGISTERS_MAX;
	for (unsigned int i = 0; i < registers->count; i++) {
		struct fw_view view = fw_view(access, FW_S_RegisterDefinition, at);

		registers->entry[i].number = fw_get(&view, FW_RegisterDefinition_number);
		registers->entry[i].value = fw_get(&view, FW_RegisterDefinition_data);
		at += fw_size(&view);
	}
	if (!access->failed)
		fw_registers_check(registers, at, access);
}

uint64_t fw_registers_get(const struct fw_registers *registers, uint32_t number)
{
	for (unsigned int i = 0; i < registers->count; i++) {
		if (registers->entry[i].number == number)
			return registers->entry[i].value;
	}
	return 0;
}

uint64_t fw_registers_word(const struct fw_registers *registers, const struct fw_view *view,
			   enum fw_field_id field)
{
	if (!registers->count)
		return fw_get(view, field);
	for (unsigned int i = 0; i < FW_REGISTERS_KNOWN; i++) {
		if (fw_registers_known[i].list == registers->list &&
		    fw_registers_known[i].row == field)
			return fw_registers_get(registers, fw_registers_known[i].number);
	}
	return 0;
}
