/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_FW_FIELDS_H
#define VAGX_FW_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../abi.h"
#include "../uat.h"

enum fw_kind { FW_KIND_U8, FW_KIND_U16, FW_KIND_U32, FW_KIND_S32, FW_KIND_U64, FW_KIND_RAW };

#define FW_STRUCT(structure, size, source) FW_S_##structure,
#define FW_FIELD(structure, field, kind, count, offset, source)
enum fw_struct_id {
#include "fields.def"
	FW_STRUCT_COUNT
};
#undef FW_STRUCT
#undef FW_FIELD

#define FW_STRUCT(structure, size, source)
#define FW_FIELD(structure, field, kind, count, offset, source) FW_##structure##_##field,
enum fw_field_id {
#include "fields.def"
	FW_FIELD_COUNT
};
#undef FW_STRUCT
#undef FW_FIELD

#define FW_ABSENT UINT32_MAX

struct fw_struct_desc {
	const char *name;
	uint32_t size[FW_ABI_COUNT];
	const char *source;
};

struct fw_field_desc {
	enum fw_struct_id structure;
	const char *name;
	enum fw_kind kind;
	uint32_t count;
	uint32_t offset[FW_ABI_COUNT];	/* FW_ABSENT where there is no such field */
	const char *source;
};

extern const struct fw_struct_desc fw_structs[FW_STRUCT_COUNT];
extern const struct fw_field_desc fw_fields[FW_FIELD_COUNT];

size_t fw_kind_size(enum fw_kind kind);
size_t fw_field_size(enum fw_field_id field);

struct vagx_report;
struct fw_cache;

/**
 * struct fw_access - how one of the firmware's threads reaches guest memory
 * @uat: the MMU; the firmware runs in context 0
 * @report: where a pointer that leads nowhere is reported
 * @cache: the coprocessor's cache of private mappings, or NULL
 * @abi: column of the table
 * @poison: look for memory that nobody has cleared
 * @failed: a translation failed: what was read since then is zero, what was
 *	written is lost, and the firmware is about to end
 *
 * A failure is remembered instead of returned, so that a walk through many
 * structures asks once, at its end.
 */
struct fw_access {
	struct vagx_uat *uat;
	struct vagx_report *report;
	struct fw_cache *cache;
	enum fw_abi abi;
	bool poison;
	bool failed;
};

/* A structure at an address of the firmware */
struct fw_view {
	struct fw_access *access;
	uint64_t va;
	enum fw_struct_id type;
};

static inline struct fw_view fw_view(struct fw_access *access, enum fw_struct_id type, uint64_t va)
{
	return (struct fw_view){ .access = access, .va = va, .type = type };
}

size_t fw_size(const struct fw_view *view);
bool fw_has(const struct fw_view *view, enum fw_field_id field);

/* Address of a field; of the structure when the ABI has no such field */
uint64_t fw_va(const struct fw_view *view, enum fw_field_id field);

/*
 * Read and write a field, or an element of an array field. Loads acquire and
 * stores release where the field is aligned, so that a ring pointer is never
 * seen before what it announces. Absent fields read as 0.
 */
uint64_t fw_get_at(const struct fw_view *view, enum fw_field_id field, unsigned int index);
void fw_set_at(const struct fw_view *view, enum fw_field_id field, unsigned int index,
	       uint64_t value);

static inline uint64_t fw_get(const struct fw_view *view, enum fw_field_id field)
{
	return fw_get_at(view, field, 0);
}

static inline void fw_set(const struct fw_view *view, enum fw_field_id field, uint64_t value)
{
	fw_set_at(view, field, 0, value);
}

/* The n-th embedded structure of a RAW field */
struct fw_view fw_sub(const struct fw_view *view, enum fw_field_id field, enum fw_struct_id type,
		      unsigned int index);

/* Bytes outside of the table */
bool fw_read(struct fw_access *access, uint64_t va, void *buf, size_t len, const char *what);
bool fw_write(struct fw_access *access, uint64_t va, const void *buf, size_t len, const char *what);
uint32_t fw_load32(struct fw_access *access, uint64_t va, const char *what);
void fw_store32(struct fw_access *access, uint64_t va, uint32_t value, const char *what);

/* An object is handed over: all of it was written, also what is read later or never */
void fw_check_poison(struct fw_access *access, uint64_t va, size_t len, const char *what);

/* Whether the firmware could do it, without reporting anything */
bool fw_mapped(struct fw_access *access, uint64_t va, size_t len, enum vagx_access kind);

#endif
