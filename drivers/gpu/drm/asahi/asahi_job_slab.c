// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The structures of jobs: small ones are allocated together with their commands.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/errno.h>
#include <linux/export.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/stddef.h>
#include <linux/string.h>

#include <kunit/visibility.h>

#include "asahi_job.h"
#include "asahi_job_slab.h"

/* Works of a small job at most: those of four commands. */
#define ASAHI_JOB_SLAB_WORKS 8

/**
 * struct asahi_small_job - memory of a job and of its commands
 * @cmdbuf: the commands as user space has written them; all that user space may write to
 * @job: the job, with ASAHI_JOB_SLAB_WORKS; unused if it has more
 */
struct asahi_small_job {
	u8 cmdbuf[ASAHI_SMALL_CMDBUF];
	struct asahi_job job;
};

static struct kmem_cache *asahi_job_slab;

/**
 * asahi_job_slab_module_init() - make the slab
 *
 * Return: 0 or -ENOMEM.
 */
int asahi_job_slab_module_init(void)
{
	const size_t size = offsetof(struct asahi_small_job, job) +
			    struct_size_t(struct asahi_job, work, ASAHI_JOB_SLAB_WORKS);
	struct kmem_cache_args args = {
		.align = __alignof__(struct asahi_small_job),
		.useroffset = offsetof(struct asahi_small_job, cmdbuf),
		.usersize = sizeof_field(struct asahi_small_job, cmdbuf),
	};

	asahi_job_slab = kmem_cache_create("asahi_small_job", size, &args, SLAB_ACCOUNT);

	return asahi_job_slab ? 0 : -ENOMEM;
}

/**
 * asahi_job_slab_module_exit() - undo asahi_job_slab_module_init()
 *
 * All jobs have been freed.
 */
void asahi_job_slab_module_exit(void)
{
	kmem_cache_destroy(asahi_job_slab);
}

/**
 * asahi_job_slab_get() - allocate memory for a small job
 *
 * Process context.
 *
 * Return: memory to which nothing was written yet, or NULL.
 */
struct asahi_small_job *asahi_job_slab_get(void)
{
	return kmem_cache_alloc(asahi_job_slab, GFP_KERNEL_ACCOUNT);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_job_slab_get);

/**
 * asahi_job_slab_cmdbuf() - where the commands of a small job go
 * @small: memory for it
 *
 * Return: ASAHI_SMALL_CMDBUF bytes of @small.
 */
void *asahi_job_slab_cmdbuf(struct asahi_small_job *small)
{
	return small->cmdbuf;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_job_slab_cmdbuf);

/**
 * asahi_job_slab_put() - undo asahi_job_slab_get()
 * @small: memory that nobody uses, or NULL
 *
 * Any context.
 */
void asahi_job_slab_put(struct asahi_small_job *small)
{
	if (small)
		kmem_cache_free(asahi_job_slab, small);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_job_slab_put);

/**
 * asahi_job_slab_begin() - allocate a job
 * @small: memory to take if it is large enough; or NULL
 * @works: how many works it has
 *
 * Process context.
 *
 * Return: a zeroed job, of which only the number of works is set, or NULL.
 */
struct asahi_job *asahi_job_slab_begin(struct asahi_small_job *small, unsigned int works)
{
	struct asahi_job *job;

	if (small && works <= ASAHI_JOB_SLAB_WORKS) {
		job = &small->job;
		memset(job, 0, struct_size(job, work, works));
	} else {
		job = kvzalloc_flex(*job, work, works, GFP_KERNEL_ACCOUNT);
	}

	if (job)
		job->num_works = works;

	return job;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_job_slab_begin);

/**
 * asahi_job_slab_end() - undo asahi_job_slab_begin()
 * @job: job that nobody uses; frees its commands, too
 * @small: as there; this and commands in it stay
 *
 * Process context.
 */
void asahi_job_slab_end(struct asahi_job *job, struct asahi_small_job *small)
{
	if (!small || job->cmdbuf != small->cmdbuf)
		kvfree(job->cmdbuf);
	if (!small || job != &small->job)
		kvfree(job);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_job_slab_end);
