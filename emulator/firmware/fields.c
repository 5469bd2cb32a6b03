// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * The firmware's way to its structures in guest memory. fields.def is expanded into the tables
 * fw_structs[] and fw_fields[], and an access looks up the field's offset for this ABI, translates
 * its page, asks the model of the coprocessor's cache (fw_cache.c), with --poison looks for bytes
 * that nobody has written, and loads or stores. Aligned fields are loaded with acquire and stored
 * with release semantics, others are copied byte by byte.
 *
 * Each thread has a struct fw_access of its own, in which a failed translation is remembered, so
 * nothing here needs a lock.
 */
#include "fields.h"

#include <inttypes.h>
#include <string.h>

#include "../poison.h"
#include "../report.h"
#include "fw_cache.h"

#define NO FW_ABSENT
#define ALL(value) { value, value, value, value, value }
#define AT(...) { __VA_ARGS__ }

#define FW_STRUCT(structure, size, source) [FW_S_##structure] = { #structure, size, source },
#define FW_FIELD(structure, field, kind, count, offset, source)
const struct fw_struct_desc fw_structs[FW_STRUCT_COUNT] = {
#include "fields.def"
};
#undef FW_STRUCT
#undef FW_FIELD

#define FW_STRUCT(structure, size, source)
#define FW_FIELD(structure, field, kind, count, offset, source)			\
	[FW_##structure##_##field] = {						\
		FW_S_##structure, #field, FW_KIND_##kind, count, offset, source	\
	},
const struct fw_field_desc fw_fields[FW_FIELD_COUNT] = {
#include "fields.def"
};
#undef FW_STRUCT
#undef FW_FIELD

/* The firmware itself always runs in the kernel's context */
#define FW_CONTEXT 0

size_t fw_kind_size(enum fw_kind kind)
{
	switch (kind) {
	case FW_KIND_U8:
	case FW_KIND_RAW:
		return 1;
	case FW_KIND_U16:
		return 2;
	case FW_KIND_U32:
	case FW_KIND_S32:
		return 4;
	case FW_KIND_U64:
		return 8;
	}
	return 0;
}

size_t fw_field_size(enum fw_field_id field)
{
	return fw_kind_size(fw_fields[field].kind) * fw_fields[field].count;
}

size_t fw_size(const struct fw_view *view)
{
	return fw_structs[view->type].size[view->access->abi];
}

bool fw_has(const struct fw_view *view, enum fw_field_id field)
{
	return fw_fields[field].offset[view->access->abi] != FW_ABSENT;
}

uint64_t fw_va(const struct fw_view *view, enum fw_field_id field)
{
	return fw_has(view, field) ? view->va + fw_fields[field].offset[view->access->abi]
				   : view->va;
}

static void fields_fw_fail(struct fw_access *access, const struct vagx_uat_fault *fault,
			   const char *structure, const char *field)
{
	if (!access->failed)
		vagx_violation(access->report, VAGX_CLAUSE_FW_UNMAPPED_access, fault->va, structure,
			       "%s%s%s: %s", field, *field ? ": " : "",
			       vagx_access_name(fault->access),
			       vagx_fault_reason_name(fault->reason));
	access->failed = true;
}

static void fields_find_poison(struct fw_access *access, uint64_t va, const void *bytes, size_t len,
			       const char *structure, const char *field)
{
	struct vagx_poison found;

	if (vagx_poison_find(bytes, len, &found))
		vagx_violation(access->report, VAGX_RULE_FW_POISON, va + found.offset, structure,
			       "%s%sbytes %#x", field, *field ? ": " : "", found.byte);
}

/* Looks for poison around the bytes that are read, as they are rarely long enough themselves */
static void fields_find_poison_near(struct fw_access *access, uint64_t va, const void *bytes,
				    size_t len, const char *structure, const char *field)
{
	size_t before = va % VAGX_POISON_RUN, after = -(va + len) % VAGX_POISON_RUN;

	fields_find_poison(access, va - before, (const uint8_t *)bytes - before,
			   before + len + after, structure, field);
}

static void *fields_fw_ptr(struct fw_access *access, uint64_t va, size_t len, enum vagx_access kind,
			   const char *structure, const char *field, struct vagx_uat_fault *fault)
{
	void *p = vagx_uat_ptr(access->uat, FW_CONTEXT, va, len, VAGX_AGENT_FW, kind, fault);

	if (p && access->cache)
		fw_cache_touch(access->cache, access, va);
	if (p && access->cache && kind == VAGX_READ)
		fw_cache_read(access->cache, access, va, p, len, structure, field);
	if (p && access->poison && kind == VAGX_READ)
		fields_find_poison_near(access, va, p, len, structure, field);
	return p;
}

static void fields_fw_written(struct fw_access *access, uint64_t va, const void *bytes, size_t len)
{
	if (access->cache)
		fw_cache_written(access->cache, access, va, bytes, len);
}

static bool fields_fw_copy(struct fw_access *access, uint64_t va, void *buf, size_t len,
			   enum vagx_access kind, const char *structure, const char *field)
{
	uint8_t *bytes = buf;

	if (access->failed)
		return false;
	while (len) {
		size_t n = VAGX_UAT_PAGE_SIZE - (va & VAGX_UAT_PAGE_MASK);
		struct vagx_uat_fault fault;
		void *p;

		if (n > len)
			n = len;
		p = fields_fw_ptr(access, va, n, kind, structure, field, &fault);
		if (!p) {
			fields_fw_fail(access, &fault, structure, field);
			return false;
		}
		if (kind == VAGX_WRITE) {
			memcpy(p, bytes, n);
			fields_fw_written(access, va, bytes, n);
		} else {
			memcpy(bytes, p, n);
		}
		va += n;
		bytes += n;
		len -= n;
	}
	return true;
}

static bool fields_fw_aligned(uint64_t va, size_t size)
{
	return !(va & (size - 1));
}

static uint64_t fields_fw_load(struct fw_access *access, uint64_t va, size_t size,
			       const char *structure, const char *field)
{
	struct vagx_uat_fault fault;
	uint64_t value = 0;
	void *p;

	if (access->failed)
		return 0;
	if (!fields_fw_aligned(va, size)) {
		fields_fw_copy(access, va, &value, size, VAGX_READ, structure, field);
		return value;
	}
	p = fields_fw_ptr(access, va, size, VAGX_READ, structure, field, &fault);
	if (!p) {
		fields_fw_fail(access, &fault, structure, field);
		return 0;
	}
	switch (size) {
	case 1:
		return __atomic_load_n((uint8_t *)p, __ATOMIC_ACQUIRE);
	case 2:
		return __atomic_load_n((uint16_t *)p, __ATOMIC_ACQUIRE);
	case 4:
		return __atomic_load_n((uint32_t *)p, __ATOMIC_ACQUIRE);
	default:
		return __atomic_load_n((uint64_t *)p, __ATOMIC_ACQUIRE);
	}
}

static void fields_fw_store(struct fw_access *access, uint64_t va, size_t size, uint64_t value,
			    const char *structure, const char *field)
{
	struct vagx_uat_fault fault;
	void *p;

	if (access->failed)
		return;
	if (!fields_fw_aligned(va, size)) {
		fields_fw_copy(access, va, &value, size, VAGX_WRITE, structure, field);
		return;
	}
	p = fields_fw_ptr(access, va, size, VAGX_WRITE, structure, field, &fault);
	if (!p) {
		fields_fw_fail(access, &fault, structure, field);
		return;
	}
	switch (size) {
	case 1:
		__atomic_store_n((uint8_t *)p, value, __ATOMIC_RELEASE);
		break;
	case 2:
		__atomic_store_n((uint16_t *)p, value, __ATOMIC_RELEASE);
		break;
	case 4:
		__atomic_store_n((uint32_t *)p, value, __ATOMIC_RELEASE);
		break;
	default:
		__atomic_store_n((uint64_t *)p, value, __ATOMIC_RELEASE);
		break;
	}
	fields_fw_written(access, va, &value, size);
}

uint64_t fw_get_at(const struct fw_view *view, enum fw_field_id field, unsigned int index)
{
	const struct fw_field_desc *desc = &fw_fields[field];
	size_t size = fw_kind_size(desc->kind);
	uint64_t value;

	if (!fw_has(view, field))
		return 0;
	value = fields_fw_load(view->access, fw_va(view, field) + index * size, size,
			       fw_structs[desc->structure].name, desc->name);
	return desc->kind == FW_KIND_S32 ? (uint64_t)(int64_t)(int32_t)value : value;
}

void fw_set_at(const struct fw_view *view, enum fw_field_id field, unsigned int index,
	       uint64_t value)
{
	const struct fw_field_desc *desc = &fw_fields[field];
	size_t size = fw_kind_size(desc->kind);

	if (fw_has(view, field))
		fields_fw_store(view->access, fw_va(view, field) + index * size, size, value,
				fw_structs[desc->structure].name, desc->name);
}

struct fw_view fw_sub(const struct fw_view *view, enum fw_field_id field, enum fw_struct_id type,
		      unsigned int index)
{
	return fw_view(view->access, type,
		       fw_va(view, field) + index * fw_structs[type].size[view->access->abi]);
}

bool fw_read(struct fw_access *access, uint64_t va, void *buf, size_t len, const char *what)
{
	return fields_fw_copy(access, va, buf, len, VAGX_READ, what, "");
}

bool fw_write(struct fw_access *access, uint64_t va, const void *buf, size_t len, const char *what)
{
	return fields_fw_copy(access, va, (void *)buf, len, VAGX_WRITE, what, "");
}

uint32_t fw_load32(struct fw_access *access, uint64_t va, const char *what)
{
	return fields_fw_load(access, va, 4, what, "");
}

void fw_store32(struct fw_access *access, uint64_t va, uint32_t value, const char *what)
{
	fields_fw_store(access, va, 4, value, what, "");
}

void fw_check_poison(struct fw_access *access, uint64_t va, size_t len, const char *what)
{
	while (access->poison && len) {
		size_t n = VAGX_UAT_PAGE_SIZE - (va & VAGX_UAT_PAGE_MASK);
		const void *p;

		if (n > len)
			n = len;
		p = vagx_uat_ptr(access->uat, FW_CONTEXT, va, n, VAGX_AGENT_FW, VAGX_READ, NULL);
		if (p)
			fields_find_poison(access, va, p, n, what, "");
		va += n;
		len -= n;
	}
}

bool fw_mapped(struct fw_access *access, uint64_t va, size_t len, enum vagx_access kind)
{
	while (len) {
		size_t n = VAGX_UAT_PAGE_SIZE - (va & VAGX_UAT_PAGE_MASK);

		if (n > len)
			n = len;
		if (!vagx_uat_ptr(access->uat, FW_CONTEXT, va, n, VAGX_AGENT_FW, kind, NULL))
			return false;
		va += n;
		len -= n;
	}
	return true;
}
