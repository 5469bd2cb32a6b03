// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * Writes what the driver has written, field by field, with the names of the table. People read it,
 * and tests compare it with what was reviewed: so an address in the kernel's half, which differs
 * from run to run, is written as the object that it leads to, or, where that is not known, as its
 * kind of memory.
 *
 * With the firmware's lock held. The stream is locked for each structure, as other threads may
 * write to it, too.
 */
#include <inttypes.h>
#include <stdio.h>

#include "fw_buffer.h"
#include "fw_job.h"

/* Structures within structures; fields that are not listed are written as bytes */
static const struct {
	enum fw_field_id field;
	enum fw_struct_id type;
} fw_dump_embedded[] = {
	{ FW_RunCompute_compute_info, FW_S_ComputeInfo },
	{ FW_RunCompute_compute_info2, FW_S_ComputeInfo2 },
	{ FW_RunCompute_encoder_params, FW_S_EncoderParams },
	{ FW_RunCompute_job_meta, FW_S_JobMeta },
	{ FW_RunCompute_ts_pointers, FW_S_TimestampPointers },
	{ FW_RunCompute_user_ts_pointers, FW_S_TimestampPointers },
	{ FW_RunVertex_struct_2, FW_S_TaStruct2 },
	{ FW_RunVertex_tiling_params, FW_S_TilingParameters },
	{ FW_RunVertex_struct_3, FW_S_TaStruct3 },
	{ FW_RunVertex_encoder_params, FW_S_EncoderParams },
	{ FW_RunVertex_job_meta, FW_S_JobMeta },
	{ FW_RunVertex_ts_pointers, FW_S_TimestampPointers },
	{ FW_RunVertex_user_ts_pointers, FW_S_TimestampPointers },
	{ FW_RunFragment_struct_1, FW_S_FragmentStruct1 },
	{ FW_RunFragment_struct_2, FW_S_FragmentStruct2 },
	{ FW_RunFragment_struct_3, FW_S_FragmentStruct3 },
	{ FW_RunFragment_encoder_params, FW_S_EncoderParams },
	{ FW_RunFragment_job_meta, FW_S_JobMeta },
	{ FW_RunFragment_ts_pointers, FW_S_TimestampPointers },
	{ FW_RunFragment_user_ts_pointers, FW_S_TimestampPointers },
	{ FW_FragmentStruct2_clear_pipeline, FW_S_ClearPipelineBinding },
	{ FW_FragmentStruct3_unk_reload_pipeline, FW_S_ClearPipelineBinding },
	{ FW_FragmentStruct3_reload_pipeline, FW_S_ClearPipelineBinding },
	{ FW_FragmentStruct3_unk_partial_store_pipeline, FW_S_StorePipelineBinding },
	{ FW_FragmentStruct3_partial_store_pipeline, FW_S_StorePipelineBinding },
};

/* Rows of structures of one type, most of which are empty */
static const struct {
	enum fw_field_id field;
	enum fw_struct_id type;
} fw_dump_rows[] = {
	{ FW_StartCompute_attachments, FW_S_Attachment },
	{ FW_StartVertex_attachments, FW_S_Attachment },
	{ FW_StartFragment_attachments, FW_S_Attachment },
};

static const struct {
	enum fw_field_id registers, count;
	enum fw_register_list list;
} fw_dump_lists[] = {
	{ FW_RunCompute_registers, FW_RunCompute_register_count, FW_REGISTERS_COMPUTE },
	{ FW_RunVertex_registers, FW_RunVertex_register_count, FW_REGISTERS_VERTEX },
	{ FW_RunFragment_registers, FW_RunFragment_register_count, FW_REGISTERS_FRAGMENT },
};

static const struct {
	uint64_t start, end;
	const char *name;
} fw_dump_places[] = {
	{ AGX_VA_PRIVATE_START, AGX_VA_PRIVATE_END, "private" },
	{ AGX_VA_GPU_RO_START, AGX_VA_GPU_RO_END, "private, GPU reads" },
	{ AGX_VA_SHARED_START, AGX_VA_SHARED_END, "shared" },
	{ AGX_VA_SHARED_RO_START, AGX_VA_SHARED_RO_END, "shared, firmware reads" },
	{ AGX_VA_GPU_SHARED_START, AGX_VA_GPU_SHARED_END, "shared with the GPU" },
	{ AGX_VA_TIMESTAMP_START, AGX_VA_TIMESTAMP_END, "timestamps" },
};

/* A dump: where its lines go, and what addresses in them may lead to */
struct dump {
	FILE *stream;
	enum fw_abi abi;
	const struct fw_dump_place *near;
	unsigned int count;
};

/* Writes the field at an offset of a structure, or the last one before it and the distance to it */
static void fw_dump_put_field(const struct dump *dump, enum fw_struct_id type, uint32_t offset)
{
	const struct fw_field_desc *best = NULL;

	for (unsigned int i = 0; i < FW_FIELD_COUNT; i++) {
		const struct fw_field_desc *field = &fw_fields[i];
		uint32_t at = field->offset[dump->abi];

		if (field->structure == type && at != FW_ABSENT && at <= offset &&
		    (!best || at >= best->offset[dump->abi]))
			best = field;
	}
	if (!best)
		return;
	fprintf(dump->stream, ".%s", best->name);
	if (offset > best->offset[dump->abi])
		fprintf(dump->stream, "+%#x", offset - best->offset[dump->abi]);
}

static bool fw_dump_put_near(const struct dump *dump, uint64_t value)
{
	for (unsigned int i = 0; i < dump->count; i++) {
		const struct fw_dump_place *place = &dump->near[i];
		bool known = place->type < FW_STRUCT_COUNT;
		uint32_t size = known ? fw_structs[place->type].size[dump->abi] : 1;

		if (!place->va || value < place->va || value - place->va >= size)
			continue;
		fprintf(dump->stream, " -> %s", place->name);
		if (value > place->va)
			fw_dump_put_field(dump, place->type, value - place->va);
		return true;
	}
	return false;
}

/*
 * Writes the kind of memory at an address of the kernel's half; false if it has none. Of a time
 * for a client its offset in the page is written, too, as the client has chosen that.
 */
static bool fw_dump_put_kind(const struct dump *dump, uint64_t value)
{
	for (unsigned int i = 0; i < sizeof(fw_dump_places) / sizeof(fw_dump_places[0]); i++) {
		if (value < fw_dump_places[i].start || value >= fw_dump_places[i].end)
			continue;
		fprintf(dump->stream, " (%s)", fw_dump_places[i].name);
		if (fw_dump_places[i].start == AGX_VA_TIMESTAMP_START)
			fprintf(dump->stream, " + %#" PRIx64,
				(uint64_t)(value & VAGX_UAT_PAGE_MASK));
		return true;
	}
	return false;
}

static void fw_dump_put_value(const struct dump *dump, uint64_t value)
{
	if (!fw_dump_put_near(dump, value) && !fw_dump_put_kind(dump, value))
		fprintf(dump->stream, " %#" PRIx64, value);
}

/* Writes the elements of a field, equal neighbours once: most fields are "0 * 24" */
static void fw_dump_put_array(const struct dump *dump, const struct fw_view *view,
			      enum fw_field_id field)
{
	uint32_t count = fw_fields[field].count;

	for (uint32_t i = 0, n; i < count; i += n) {
		uint64_t value = fw_get_at(view, field, i);

		for (n = 1; i + n < count && fw_get_at(view, field, i + n) == value;)
			n++;
		if (fw_fields[field].kind == FW_KIND_S32)
			fprintf(dump->stream, " %" PRId64, (int64_t)value);
		else
			fw_dump_put_value(dump, value);
		if (n > 1)
			fprintf(dump->stream, " * %u", n);
	}
	fputc('\n', dump->stream);
}

static void fw_dump_put_registers(const struct dump *dump, const char *name,
				  const struct fw_view *view, unsigned int index)
{
	uint32_t count = fw_get(view, fw_dump_lists[index].count);
	uint64_t at = fw_va(view, fw_dump_lists[index].registers);

	for (uint32_t i = 0; i < count && i < FW_REGISTERS_MAX; i++) {
		struct fw_view entry = fw_view(view->access, FW_S_RegisterDefinition, at);
		uint32_t number = fw_get(&entry, FW_RegisterDefinition_number);
		const char *known = fw_registers_name(fw_dump_lists[index].list, number);

		fprintf(dump->stream, "%s.registers.%s.%x", name, known ? known : "unknown",
			number);
		fw_dump_put_value(dump, fw_get(&entry, FW_RegisterDefinition_data));
		fputc('\n', dump->stream);
		at += fw_size(&entry);
	}
}

static void fw_dump_put_struct(const struct dump *dump, const char *name,
			       const struct fw_view *view);

static bool fw_dump_is_empty(const struct fw_view *view)
{
	for (uint32_t i = 0; i < fw_size(view); i++) {
		uint8_t byte = 0;

		fw_read(view->access, view->va + i, &byte, 1, fw_structs[view->type].name);
		if (byte)
			return false;
	}
	return true;
}

static void fw_dump_put_row(const struct dump *dump, const char *name, const struct fw_view *view,
			    unsigned int index)
{
	enum fw_field_id field = fw_dump_rows[index].field;
	uint32_t count =
		fw_field_size(field) / fw_structs[fw_dump_rows[index].type].size[dump->abi];
	uint32_t empty = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct fw_view sub = fw_sub(view, field, fw_dump_rows[index].type, i);
		char inner[128];

		if (fw_dump_is_empty(&sub)) {
			empty++;
			continue;
		}
		snprintf(inner, sizeof(inner), "%s.%s.%u", name, fw_fields[field].name, i);
		fw_dump_put_struct(dump, inner, &sub);
	}
	fprintf(dump->stream, "%s.%s.empty %u\n", name, fw_fields[field].name, empty);
}

/* Writes the structures or registers within a field; false if the field has none */
static bool fw_dump_put_inner(const struct dump *dump, const char *name, const struct fw_view *view,
			      enum fw_field_id field)
{
	char inner[128];

	for (unsigned int i = 0; i < sizeof(fw_dump_lists) / sizeof(fw_dump_lists[0]); i++) {
		if (fw_dump_lists[i].registers == field) {
			fw_dump_put_registers(dump, name, view, i);
			return true;
		}
	}
	for (unsigned int i = 0; i < sizeof(fw_dump_rows) / sizeof(fw_dump_rows[0]); i++) {
		if (fw_dump_rows[i].field == field) {
			fw_dump_put_row(dump, name, view, i);
			return true;
		}
	}
	for (unsigned int i = 0; i < sizeof(fw_dump_embedded) / sizeof(fw_dump_embedded[0]); i++) {
		struct fw_view sub;

		if (fw_dump_embedded[i].field != field)
			continue;
		sub = fw_sub(view, field, fw_dump_embedded[i].type, 0);
		snprintf(inner, sizeof(inner), "%s.%s", name, fw_fields[field].name);
		fw_dump_put_struct(dump, inner, &sub);
		return true;
	}
	return false;
}

static void fw_dump_put_struct(const struct dump *dump, const char *name,
			       const struct fw_view *view)
{
	for (unsigned int field = 0; field < FW_FIELD_COUNT; field++) {
		if (fw_fields[field].structure != view->type || !fw_has(view, field) ||
		    view->access->failed || fw_dump_put_inner(dump, name, view, field))
			continue;
		fprintf(dump->stream, "%s.%s", name, fw_fields[field].name);
		fw_dump_put_array(dump, view, field);
	}
}

struct fw_dump_place fw_dump_place(enum fw_struct_id type, uint64_t va)
{
	return (struct fw_dump_place){ .va = va, .type = type, .name = fw_structs[type].name };
}

struct fw_dump_place fw_dump_place_named(const char *name, uint64_t va)
{
	return (struct fw_dump_place){ .va = va, .type = FW_STRUCT_COUNT, .name = name };
}

void fw_dump(struct vagx_firmware *fw, const char *owner, const struct fw_view *view,
	     const struct fw_dump_place *near, unsigned int count)
{
	const struct dump dump = {
		.stream = fw->config.dump,
		.abi = fw->abi,
		.near = near,
		.count = count,
	};
	char name[64];

	if (!dump.stream || view->access->failed)
		return;
	snprintf(name, sizeof(name), "%s%s%s", owner ? owner : "", owner ? ":" : "",
		 fw_structs[view->type].name);
	flockfile(dump.stream);
	fw_dump_put_struct(&dump, name, view);
	fputc('\n', dump.stream);
	fflush(dump.stream);
	funlockfile(dump.stream);
}
