// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The message about a job that has failed: the fault, the mappings around its address, the words
 * there, the shader. Written by the thread that ran the job. Only the first failures are described
 * at length; the GPU's lock protects their count.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpu/gpu_internal.h"
#include "report.h"

/* Failed jobs that are described at length; later ones get a line each */
#define DESCRIBED	16
/* Words of an unknown block that are printed */
#define WORDS		8

static void fault_print_range(FILE *file, const struct vagx_uat_range *range)
{
	bool rd = vagx_pte_allows(range->pte, VAGX_AGENT_GPU, VAGX_READ);
	bool wr = vagx_pte_allows(range->pte, VAGX_AGENT_GPU, VAGX_WRITE);

	fprintf(file, "0x%" PRIx64 " to 0x%" PRIx64 " (%s%s%s)%s", range->start, range->end,
		rd ? "read" : "", rd && wr ? ", " : "", wr ? "write" : "",
		range->more ? " and more" : "");
}

/* Prints the mapping at the address, or the nearest ones below and above it */
static void fault_print_bindings(FILE *file, struct vagx_gpu *gpu,
				 const struct vagx_uat_fault *fault)
{
	struct vagx_uat_range below, above;
	bool has_below = vagx_uat_find(gpu->config.uat, fault->slot, fault->va, false, &below);
	bool has_above = vagx_uat_find(gpu->config.uat, fault->slot, fault->va, true, &above);

	if (has_above && above.start <= fault->va) {
		fputs("\n bound there: ", file);
		fault_print_range(file, &above);
		return;
	}
	if (!has_below && !has_above)
		fputs("\n nothing is bound", file);
	if (has_below) {
		fprintf(file, "\n bound 0x%" PRIx64 " bytes before: ", fault->va - below.end);
		fault_print_range(file, &below);
	}
	if (has_above) {
		fprintf(file, "\n bound 0x%" PRIx64 " bytes behind: ", above.start - fault->va);
		fault_print_range(file, &above);
	}
}

/* Prints the words at the address, which is in a stream or a record */
static void fault_print_words(FILE *file, struct vagx_gpu *gpu, const struct vagx_uat_fault *fault)
{
	struct vagx_uat_fault other;
	uint32_t word;
	unsigned int i;

	for (i = 0; i < WORDS; i++) {
		if (vagx_uat_read(gpu->config.uat, fault->slot, fault->va + i * sizeof(word), &word,
				  sizeof(word), VAGX_AGENT_GPU, &other))
			break;
		fprintf(file, "%s %08" PRIx32, i ? "" : "\n words there:", word);
	}
}

char *gpu_describe_shader(struct vagx_gpu *gpu, const struct gpu_core *core,
			  const struct vagx_launch *launch)
{
	char *text = NULL;
	size_t size;
	FILE *file;

	if (gpu->described == DESCRIBED)
		return NULL;
	file = open_memstream(&text, &size);
	if (!file)
		return NULL;
	vagx_core_describe_failure(core->core, launch, file);
	fclose(file);
	return text;
}

static bool fault_may_describe(struct vagx_gpu *gpu)
{
	bool may;

	pthread_mutex_lock(&gpu->lock);
	may = gpu->described < DESCRIBED;
	if (may)
		gpu->described++;
	pthread_mutex_unlock(&gpu->lock);
	return may;
}

void gpu_report_fault(struct vagx_job *job, const char *kind, const struct vagx_uat_fault *fault,
		      unsigned int unit)
{
	struct vagx_gpu *gpu = job->gpu;
	bool at_length = fault_may_describe(gpu);
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return;
	fprintf(file, "%s job: %s fault at 0x%" PRIx64 ", %s, context %u, unit %s", kind,
		vagx_access_name(fault->access), fault->va, vagx_fault_reason_name(fault->reason),
		fault->slot, vagx_gpu_unit_name(unit));
	if (at_length) {
		fault_print_bindings(file, gpu, fault);
		if (unit != VAGX_GPU_UNIT_USC && fault->reason == VAGX_FAULT_NO_ACCESS)
			fault_print_words(file, gpu, fault);
		if (job->description)
			fputs(job->description, file);
	}
	fclose(file);
	vagx_log(gpu->config.report, VAGX_LOG_WARNING, "%s", text);
	free(text);
}
