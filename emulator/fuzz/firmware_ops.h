/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Records of the target of the firmware, for it and for corpus_machine.c, which makes some of
 * what the driver has written.
 */
#ifndef VAGX_FUZZ_FIRMWARE_OPS_H
#define VAGX_FUZZ_FIRMWARE_OPS_H

/* Of the first record's @value: the firmware has booted */
#define FW_OPS_BOOT	64

/* Of a record's @op */
enum guest_op {
	GUEST_OP_FIELD,		/* number @field of place @which, element @index */
	GUEST_OP_BYTES,		/* at @field and @extra in place @which */
	GUEST_OP_POINT,		/* a field to place @index, and @extra behind it */
	GUEST_OP_RUN,		/* place @index for queue @which, by a wrong message */
	GUEST_OP_CONTROL,		/* a message of type @index, with words that are wrong */
	GUEST_OP_FAVOURED,
	GUEST_OP_DOORBELL = GUEST_OP_FAVOURED,
	GUEST_OP_MESSAGE,
	GUEST_OP_FLUSH,
	GUEST_OP_RESUME,
	GUEST_OP_UNITS,
	GUEST_OP_MEMORY,
	GUEST_OP_TABLE,		/* the entry of place @which in the page tables */
	GUEST_OP_COMPUTE,		/* one more for queue @which; @how: it is not submitted */
	GUEST_OP_SUBMIT,		/* whatever is at place @which, to compute queue @index */
	GUEST_OP_RENDER,		/* of a size that @which says; @how as above */
	GUEST_OP_SUBMIT_RENDER,	/* render @which, for the first time or again */
	GUEST_OP_WAIT,
	GUEST_OP_LIFE,
	GUEST_OP_INJECT,
	GUEST_OP_EVENTS,		/* as many as there are */
	GUEST_OP_GROW,
	GUEST_OP_COUNT
};

#endif /* VAGX_FUZZ_FIRMWARE_OPS_H */
