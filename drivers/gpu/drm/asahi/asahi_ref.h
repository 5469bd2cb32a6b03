/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * References to queues and jobs, and the workers that free them.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_REF_H
#define ASAHI_REF_H

struct asahi_job;
struct asahi_queue;
struct work_struct;

int asahi_ref_module_init(void);
void asahi_ref_module_exit(void);
void asahi_ref_free_later(struct work_struct *work);

struct asahi_queue *asahi_queue_get(struct asahi_queue *queue);
struct asahi_queue *asahi_queue_get_unless_zero(struct asahi_queue *queue);
void asahi_queue_put(struct asahi_queue *queue);

struct asahi_job *asahi_job_get(struct asahi_job *job);
void asahi_job_put(struct asahi_job *job);

#endif
