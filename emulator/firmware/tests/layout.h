/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_FW_LAYOUT_H
#define VAGX_FW_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "../fields.h"

enum layout_kind {
	LAYOUT_IS_GROUP,
	LAYOUT_IS_SPAN,
	LAYOUT_IS_START,
	LAYOUT_IS_DRIVER,
	LAYOUT_IS_TABLE,
	LAYOUT_IS_PAD
};
enum layout_coverage { LAYOUT_PART, LAYOUT_FULL };

/* A line of layout.def, with the driver's numbers */
struct layout_item {
	enum layout_kind kind;
	const char *name;
	size_t offset;			/* driver, padding */
	size_t size;			/* driver, padding, group */
	unsigned int id;		/* table: field; group: structure */
	enum layout_coverage coverage;
};

/* The driver's structures for one ABI */
struct layout {
	const char *name;
	enum fw_abi abi;
	const struct layout_item *items;
	size_t count;
	size_t hwdata_a_size;
};

extern const struct layout layout_g13_12_3;
extern const struct layout layout_g14g_12_4;
extern const struct layout layout_g13_13_5;
extern const struct layout layout_g14g_13_5;
extern const struct layout layout_g14x_13_5;

#endif
