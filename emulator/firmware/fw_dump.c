// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * What the driver has written, field by field, as the table names it. For
 * people, and for tests that compare it with what was reviewed: so places in
 * the kernel's half, which no two drivers share, are told by their kind.
 */
#include <inttypes.h>
#include <stdio.h>

#include "fw_buffer.h"
#include "fw_job.h"

/* Structures within structures; what is not here is told in bytes */
static const struct {
	enum fw_field_id field;
	enum fw_struct_id type;
} embedded[] = {
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

static const struct {
	enum fw_field_id registers, count;
	enum fw_register_list list;
} lists[] = {
	{ FW_RunCompute_registers, FW_RunCompute_register_count, FW_REGISTERS_COMPUTE },
	{ FW_RunVertex_registers, FW_RunVertex_register_count, FW_REGISTERS_VERTEX },
	{ FW_RunFragment_registers, FW_RunFragment_register_count, FW_REGISTERS_FRAGMENT },
};

static const struct {
	uint64_t start, end;
	const char *name;
} places[] = {
	{ AGX_VA_PRIVATE_START, AGX_VA_PRIVATE_END, "private" },
	{ AGX_VA_GPU_RO_START, AGX_VA_GPU_RO_END, "private, GPU reads" },
	{ AGX_VA_SHARED_START, AGX_VA_SHARED_END, "shared" },
	{ AGX_VA_SHARED_RO_START, AGX_VA_SHARED_RO_END, "shared, firmware reads" },
	{ AGX_VA_GPU_SHARED_START, AGX_VA_GPU_SHARED_END, "shared with the GPU" },
	{ AGX_VA_TIMESTAMP_START, AGX_VA_TIMESTAMP_END, "timestamps" },
};

static void put_value(FILE *stream, uint64_t value)
{
	for (unsigned int i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (value >= places[i].start && value < places[i].end) {
			fprintf(stream, " (%s)", places[i].name);
			return;
		}
	}
	fprintf(stream, " %#" PRIx64, value);
}

/* Equal neighbours once: "bytes 0 * 24" is most of what there is */
static void put_array(FILE *stream, const struct fw_view *view, enum fw_field_id field)
{
	uint32_t count = fw_fields[field].count;

	for (uint32_t i = 0, n; i < count; i += n) {
		uint64_t value = fw_get_at(view, field, i);

		for (n = 1; i + n < count && fw_get_at(view, field, i + n) == value;)
			n++;
		put_value(stream, value);
		if (n > 1)
			fprintf(stream, " * %u", n);
	}
	fputc('\n', stream);
}

static void put_registers(FILE *stream, const char *name, const struct fw_view *view,
			  unsigned int index)
{
	uint32_t count = fw_get(view, lists[index].count);
	uint64_t at = fw_va(view, lists[index].registers);

	for (uint32_t i = 0; i < count && i < FW_REGISTERS_MAX; i++) {
		struct fw_view entry = fw_view(view->access, FW_S_RegisterDefinition, at);
		uint32_t number = fw_get(&entry, FW_RegisterDefinition_number);
		const char *known = fw_register_name(lists[index].list, number);

		fprintf(stream, "%s.registers.%s %#x", name, known ? known : "unknown", number);
		put_value(stream, fw_get(&entry, FW_RegisterDefinition_data));
		fputc('\n', stream);
		at += fw_size(&entry);
	}
}

static void put_struct(FILE *stream, const char *name, const struct fw_view *view);

/* What is within a field, if that is known */
static bool put_inner(FILE *stream, const char *name, const struct fw_view *view,
		      enum fw_field_id field)
{
	char inner[128];

	for (unsigned int i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		if (lists[i].registers == field) {
			put_registers(stream, name, view, i);
			return true;
		}
	}
	for (unsigned int i = 0; i < sizeof(embedded) / sizeof(embedded[0]); i++) {
		struct fw_view sub;

		if (embedded[i].field != field)
			continue;
		sub = fw_sub(view, field, embedded[i].type, 0);
		snprintf(inner, sizeof(inner), "%s.%s", name, fw_fields[field].name);
		put_struct(stream, inner, &sub);
		return true;
	}
	return false;
}

static void put_struct(FILE *stream, const char *name, const struct fw_view *view)
{
	for (unsigned int field = 0; field < FW_FIELD_COUNT; field++) {
		if (fw_fields[field].structure != view->type || !fw_has(view, field) ||
		    view->access->failed || put_inner(stream, name, view, field))
			continue;
		fprintf(stream, "%s.%s", name, fw_fields[field].name);
		put_array(stream, view, field);
	}
}

void fw_dump(struct vagx_firmware *fw, const struct fw_view *view)
{
	FILE *stream = fw->config.dump;

	if (!stream || view->access->failed)
		return;
	flockfile(stream);
	put_struct(stream, fw_structs[view->type].name, view);
	fputc('\n', stream);
	fflush(stream);
	funlockfile(stream);
}
