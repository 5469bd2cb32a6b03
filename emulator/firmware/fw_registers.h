/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_FW_REGISTERS_H
#define VAGX_FW_REGISTERS_H

#include "fields.h"

struct vagx_report;

/* On G14S, G14C and G14D a command has a list of registers instead of structures */
#define FW_REGISTERS_MAX	128

enum fw_register_list { FW_REGISTERS_VERTEX, FW_REGISTERS_FRAGMENT, FW_REGISTERS_COMPUTE };

#define FW_REGISTER(list, name, number, row, source) FW_REGISTER_##list##_##name = number,
enum fw_register_number {
#include "registers_g14x.def"
};
#undef FW_REGISTER

struct fw_register {
	uint32_t number;
	uint64_t value;
};

/**
 * struct fw_registers - the list of a command
 * @list: which one
 * @count: registers in it; 0 where commands have structures
 * @entry: the registers, in the command's order
 */
struct fw_registers {
	enum fw_register_list list;
	unsigned int count;
	struct fw_register entry[FW_REGISTERS_MAX];
};

/**
 * fw_registers_load() - read and check a command's list
 * @registers: filled
 * @list: what it has to consist of
 * @at: address of its first register
 * @count: how many there are
 * @access: way to memory
 */
void fw_registers_load(struct fw_registers *registers, enum fw_register_list list, uint64_t at,
		       unsigned int count, struct fw_access *access);

/* The value of a register; 0 when it is not in the list */
uint64_t fw_registers_get(const struct fw_registers *registers, uint32_t number);

/**
 * fw_registers_word() - a word that some GPUs have in a register and others in a structure
 * @registers: the command's list
 * @view: the structure
 * @field: row of that structure
 */
uint64_t fw_registers_word(const struct fw_registers *registers, const struct fw_view *view,
			   enum fw_field_id field);

/* Name of a register for people, or NULL */
const char *fw_registers_name(enum fw_register_list list, uint32_t number);

#endif
