// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * Hands pages of a scene's buffer to the units, from within a job and so without the firmware's
 * lock, which is taken for each page. With --no-exec it stands in for the units: vertex work
 * leaves marks in pages, and fragment work looks for them.
 */
#include <inttypes.h>

#include "fw_render.h"

#define MARK		0x7476625f6d61726bULL

static uint64_t fw_tvb_take(void *owner)
{
	struct fw_job *job = owner;
	struct vagx_firmware *fw = job->worker->fw;
	uint64_t page;

	pthread_mutex_lock(&fw->lock);
	page = fw_buffer_take(fw, job->scene);
	pthread_mutex_unlock(&fw->lock);
	return page;
}

static void fw_tvb_give(void *owner, uint64_t page)
{
	struct fw_job *job = owner;
	struct vagx_firmware *fw = job->worker->fw;

	pthread_mutex_lock(&fw->lock);
	fw_buffer_give(fw, job->scene, page);
	pthread_mutex_unlock(&fw->lock);
}

struct vagx_tvb_pages fw_tvb_pages(struct fw_job *job)
{
	return (struct vagx_tvb_pages){ .take = fw_tvb_take, .give = fw_tvb_give, .owner = job };
}

/* Writes or checks the marks of a page: one at each end, as it consists of two pages of the MMU */
static bool fw_tvb_visit(struct fw_job *job, uint64_t page, enum vagx_access access)
{
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t va = page + (i ? VAGX_TVB_PAGE_SIZE - sizeof(uint64_t) : 0);
		uint64_t *mark = vagx_uat_ptr(job->view.access->uat, job->vm_slot, va,
					      sizeof(*mark), VAGX_AGENT_GPU, access, NULL);

		if (!mark)
			return false;
		if (access == VAGX_WRITE)
			__atomic_store_n(mark, MARK ^ va ^ job->scene->va, __ATOMIC_RELAXED);
		else if (__atomic_load_n(mark, __ATOMIC_RELAXED) != (MARK ^ va ^ job->scene->va))
			return false;
	}
	return true;
}

/* Marks pages. After a partial render it goes on with the marks that are left. */
enum vagx_gpu_status fw_tvb_mark(struct fw_job *job, const struct vagx_tvb_pages *pages)
{
	while (job->marks) {
		uint64_t page = pages->take(pages->owner);

		if (!page)
			return job->scene->pages ? VAGX_GPU_OVERFLOW : VAGX_GPU_STARVED;
		if (!fw_tvb_visit(job, page, VAGX_WRITE))
			vagx_violation(fw_job_report(job), VAGX_CLAUSE_FW_BUFFER_MARK_write, page,
				       fw_structs[job->view.type].name,
				       "a page of the buffer cannot be written");
		job->marks--;
	}
	return VAGX_GPU_DONE;
}

void fw_tvb_check(struct fw_job *job, const struct vagx_tvb_pages *pages)
{
	struct vagx_firmware *fw = job->worker->fw;
	uint64_t page;

	for (;;) {
		pthread_mutex_lock(&fw->lock);
		page = fw_buffer_page(fw, job->scene, 0);
		pthread_mutex_unlock(&fw->lock);
		if (!page)
			return;
		if (!fw_tvb_visit(job, page, VAGX_READ))
			vagx_violation(fw_job_report(job), VAGX_CLAUSE_FW_BUFFER_MARK_read, page,
				       fw_structs[job->view.type].name,
				       "what vertex work has stored there is gone");
		pages->give(pages->owner, page);
	}
}
