/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Knobs: words for the firmware that can be changed for an experiment.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_KNOBS_H
#define ASAHI_KNOBS_H

#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/types.h>

struct asahi_block;
struct drm_printer;

/**
 * enum asahi_knob_id - what can be changed
 * @ASAHI_KNOB_FLUSH_STAMPS: a word of each command; a bit for each pipe
 * @ASAHI_KNOB_UNK_290: a word of fragment commands
 * @ASAHI_KNOB_PREEMPT1: how much larger the first preemption buffer of compute commands is
 * @ASAHI_KNOB_EVENTS: when the firmware tells of the jobs of a queue
 * @ASAHI_KNOBS: number of them
 *
 * The table in asahi_knobs.c says the rest.
 */
enum asahi_knob_id {
	ASAHI_KNOB_FLUSH_STAMPS,
	ASAHI_KNOB_UNK_290,
	ASAHI_KNOB_PREEMPT1,
	ASAHI_KNOB_EVENTS,
	ASAHI_KNOBS,
};

/** ASAHI_KNOB_DEFAULT - value of a knob that nobody has turned */
#define ASAHI_KNOB_DEFAULT U64_MAX

/**
 * struct asahi_knobs - the knobs of a device
 * @value: of each one; may change at any time
 */
struct asahi_knobs {
	u64 value[ASAHI_KNOBS];
};

extern const struct asahi_block asahi_block_knobs;

/**
 * asahi_knob() - what is a knob set to?
 * @knobs: knobs of the device, or NULL
 * @id: which one
 * @otherwise: what the driver does where nobody has turned it
 *
 * Any context. The answer may be another one the next time, so a caller that needs the value
 * twice has to keep it.
 *
 * Return: the value.
 */
static inline u64 asahi_knob(const struct asahi_knobs *knobs, enum asahi_knob_id id, u64 otherwise)
{
	u64 value = knobs ? READ_ONCE(knobs->value[id]) : ASAHI_KNOB_DEFAULT;

	return value == ASAHI_KNOB_DEFAULT ? otherwise : value;
}

void asahi_knobs_init(struct asahi_knobs *knobs);
int asahi_knobs_turn(struct asahi_knobs *knobs, char *text);
void asahi_knobs_print(const struct asahi_knobs *knobs, struct drm_printer *p);

#endif
