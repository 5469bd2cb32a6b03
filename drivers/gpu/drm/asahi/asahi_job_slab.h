/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The structures of jobs: small ones are allocated together with their commands.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_JOB_SLAB_H
#define ASAHI_JOB_SLAB_H

#include <linux/types.h>

struct asahi_job;
struct asahi_small_job;

/** ASAHI_SMALL_CMDBUF - bytes of a small buffer of commands at most */
#define ASAHI_SMALL_CMDBUF 1024

int asahi_job_slab_module_init(void);
void asahi_job_slab_module_exit(void);

struct asahi_small_job *asahi_job_slab_get(void);
void *asahi_job_slab_cmdbuf(struct asahi_small_job *small);
void asahi_job_slab_put(struct asahi_small_job *small);

struct asahi_job *asahi_job_slab_begin(struct asahi_small_job *small, unsigned int works);
void asahi_job_slab_end(struct asahi_job *job, struct asahi_small_job *small);

#endif
