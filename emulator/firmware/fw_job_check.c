// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * Checks that vertex, fragment and compute commands have in common, of the command and of its
 * microsequence's operations (m1n1 fw/agx/microsequence.py). A worker calls them with the lock
 * held. Each reports what is wrong and goes on; none looks at anything once an access failed.
 */
#include <inttypes.h>

#include "fw_job.h"

#define FW_ATTACHMENTS		16

struct vagx_report *fw_job_report(struct fw_job *job)
{
	return job->worker->fw->config.report;
}

void fw_job_expect_pointer(struct fw_job *job, const struct fw_view *op, enum fw_field_id field,
			   uint64_t target)
{
	uint64_t found = fw_get(op, field);

	if (fw_has(op, field) && !op->access->failed && found != target)
		vagx_violation(fw_job_report(job), VAGX_RULE_FW_MSEQ_POINTER, fw_va(op, field),
			       fw_structs[op->type].name, "%s is %#" PRIx64 " instead of %#" PRIx64,
			       fw_fields[field].name, found, target);
}

void fw_job_expect_value(struct fw_job *job, const struct fw_view *op, enum fw_field_id field,
			 uint64_t value)
{
	uint64_t found = fw_get(op, field);

	if (fw_has(op, field) && !op->access->failed && found != value)
		vagx_violation(fw_job_report(job), VAGX_RULE_FW_MSEQ_FIELD, fw_va(op, field),
			       fw_structs[op->type].name, "%s is %#" PRIx64 " instead of %#" PRIx64,
			       fw_fields[field].name, found, value);
}

void fw_job_hint_sequence(struct fw_job *job, const struct fw_view *op, enum fw_field_id field,
			  uint64_t value)
{
	uint64_t found = fw_get(op, field);

	if (fw_has(op, field) && !op->access->failed && found != value)
		vagx_violation(fw_job_report(job), VAGX_RULE_FW_COMMAND_SEQUENCE, fw_va(op, field),
			       fw_structs[op->type].name, "%s is %#" PRIx64 " instead of %#" PRIx64,
			       fw_fields[field].name, found, value);
}

void fw_job_check_restart(struct fw_job *job, const struct fw_view *op, enum fw_field_id field)
{
	int64_t restart = fw_get(op, field);

	if (op->va + restart != job->start)
		vagx_violation(fw_job_report(job), VAGX_RULE_FW_MSEQ_RESTART, op->va,
			       fw_structs[op->type].name, "%" PRId64 " leads to %#" PRIx64, restart,
			       op->va + restart);
}

void fw_job_check_attachments(struct fw_job *job, const struct fw_view *op,
			      enum fw_field_id count_field, enum fw_field_id list)
{
	uint32_t count = fw_get(op, count_field);

	if (count > FW_ATTACHMENTS) {
		vagx_violation(fw_job_report(job), VAGX_CLAUSE_FW_MSEQ_ATTACHMENT_count, op->va,
			       fw_structs[op->type].name, "%u attachments", count);
		return;
	}
	for (unsigned int i = 0; i < count; i++) {
		struct fw_view attachment = fw_sub(op, list, FW_S_Attachment, i);
		uint64_t address = fw_get(&attachment, FW_Attachment_address);
		uint32_t size = fw_get(&attachment, FW_Attachment_size);

		if (!op->access->failed && (!address || !size))
			vagx_violation(fw_job_report(job),
				       address ? VAGX_CLAUSE_FW_MSEQ_ATTACHMENT_size :
						 VAGX_CLAUSE_FW_MSEQ_ATTACHMENT_address,
				       attachment.va, "Attachment", "%u: %#x lines at %#" PRIx64, i,
				       size, address);
	}
}

void fw_job_load_registers(struct fw_job *job, enum fw_register_list list,
			   enum fw_field_id registers, enum fw_field_id addr,
			   enum fw_field_id count_field, enum fw_field_id length)
{
	uint32_t count = fw_get(&job->view, count_field);

	fw_job_expect_pointer(job, &job->view, addr, fw_va(&job->view, registers));
	fw_job_expect_value(job, &job->view, length,
			    count * fw_structs[FW_S_RegisterDefinition].size[job->worker->fw->abi]);
	fw_registers_load(&job->registers, list, fw_va(&job->view, registers), count,
			  job->view.access);
}
