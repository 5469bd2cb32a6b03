/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Recovery: what happens when work or the firmware fails.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_RECOVERY_H
#define ASAHI_RECOVERY_H

#include <linux/types.h>
#include <linux/workqueue.h>

#include <agx/agx_rtkit.h>

struct asahi_block;
struct asahi_fault_info;

/**
 * struct asahi_failure - work that the GPU or the firmware did not complete
 * @error: what the fence of work says that did not fault, a negative errno
 * @culprit: event slot of the guilty work, or negative if the firmware does not
 *	know it
 * @fault: the fault, or NULL; tells whose work is guilty if the firmware does
 *	not
 */
struct asahi_failure {
	int error;
	int culprit;
	const struct asahi_fault_info *fault;
};

/**
 * struct asahi_verdict - what work has to answer for
 * @error: what its fence says, a negative errno
 * @guilty: its queue takes no more
 */
struct asahi_verdict {
	int error;
	bool guilty;
};

/**
 * struct asahi_recovery_queue - what is to be done about channel errors
 * @pipes: pipes whose rings the firmware is to go on with, a mask
 * @value: by pipe, the stamp value of what it has given up
 * @work: tells it so; made for the first error; has a reference to the queue while it
 *	is queued
 *
 * Part of struct asahi_queue. The timeline's lock protects @pipes, @value and the making
 * of @work.
 */
struct asahi_recovery_queue {
	unsigned int pipes;
	u32 value[AGX_PIPE_COUNT];
	struct work_struct work;
};

extern const struct asahi_block asahi_block_recovery;

struct asahi_verdict asahi_recovery_judge(const struct asahi_failure *failure,
					  unsigned int event_slot, unsigned int vm_slot);

#endif
