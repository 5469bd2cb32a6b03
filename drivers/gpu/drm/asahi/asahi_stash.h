/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Stashes: firmware memory that a queue has ready for its next jobs.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_STASH_H
#define ASAHI_STASH_H

#include <linux/spinlock.h>
#include <linux/types.h>

#include "asahi_heap.h"
#include "asahi_work.h"

struct asahi_client;

/** ASAHI_STASH_BUFFERS - buffers of the GPU that a queue keeps at most */
#define ASAHI_STASH_BUFFERS 32

/** ASAHI_STASH_IDLE_MS - how long a queue without new jobs keeps anything, at least */
#define ASAHI_STASH_IDLE_MS 5000

/** ASAHI_STASH_HURRY_MS - the same, if memory is short */
#define ASAHI_STASH_HURRY_MS 100

/**
 * struct asahi_strip - firmware memory of several jobs, which take it one after the other
 * @users: one for the queue while its next job may take from it, one for each job; protected
 *	by the lock of the stash
 * @used: how much jobs have taken; likewise
 * @size: how much there is; nothing of the GPU's
 * @ro: Run* structures
 * @private: microsequences and barriers
 * @shared: timestamps and Scene structures
 * @word: control words of scenes, which are in the kernel's half; nothing else is there,
 *	because all clients' shaders can reach it
 */
struct asahi_strip {
	unsigned int users;
	struct asahi_work_memory used;
	struct asahi_work_memory size;
	struct asahi_fwbuf ro;
	struct asahi_fwbuf private;
	struct asahi_fwbuf shared;
	struct asahi_fwbuf word;
};

/**
 * struct asahi_job_memory - firmware memory of a job
 * @strip: memory of which it has a part; NULL for none
 * @place: where its part of @strip begins; that of the GPU is all of @gpu
 * @gpu: GPU memory in the VM: preemption buffers and scenes
 */
struct asahi_job_memory {
	struct asahi_strip *strip;
	struct asahi_work_memory place;
	struct asahi_fwbuf gpu;
};

/**
 * struct asahi_stash - what a queue has ready for its next jobs
 * @heap: the device's heaps; constant, as the next two
 * @heap_gpu: heap in the queue's VM
 * @client: who is charged for strips
 *
 * Part of struct asahi_queue.
 */
struct asahi_stash {
	struct asahi_heap **heap;
	struct asahi_heap *heap_gpu;
	struct asahi_client *client;

	/** @lock: protects everything below; a leaf, taken in any context */
	spinlock_t lock;
	/** @closed: nothing is kept any more */
	bool closed;
	/** @keeps: there was a job since it was emptied, so that it will be emptied again */
	bool keeps;
	/** @strip: what the next job takes its part of, or NULL */
	struct asahi_strip *strip;
	/** @jobs: for how many jobs the next strip is made */
	unsigned int jobs;
	/** @gpu: buffers that jobs have given back, the latest last */
	struct asahi_fwbuf gpu[ASAHI_STASH_BUFFERS];
	/** @count: entries of @gpu */
	unsigned int count;
	/** @bytes: sum of their sizes */
	u64 bytes;
	/** @used_at: when a job has taken memory last, in jiffies */
	unsigned long used_at;
};

void asahi_stash_init(struct asahi_stash *stash, struct asahi_heap **heap,
		      struct asahi_heap *heap_gpu, struct asahi_client *client);
int asahi_stash_take(struct asahi_stash *stash, const struct asahi_work_memory *need,
		     struct asahi_job_memory *memory);
void asahi_stash_keep(struct asahi_stash *stash, struct asahi_job_memory *memory);
void asahi_stash_free(struct asahi_stash *stash, struct asahi_job_memory *memory);
bool asahi_stash_is_kept(const struct asahi_stash *stash);
bool asahi_stash_is_idle(const struct asahi_stash *stash, unsigned long now, unsigned int ms);
void asahi_stash_trim(struct asahi_stash *stash);
void asahi_stash_close(struct asahi_stash *stash);

#endif
