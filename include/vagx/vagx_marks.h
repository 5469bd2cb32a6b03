/* SPDX-License-Identifier: MIT */
/*
 * Marks by which a program in the guest tells the counting plugin of QEMU where to count: it
 * executes a hint that no processor knows, which does nothing anywhere else.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef VAGX_MARKS_H
#define VAGX_MARKS_H

/* The hints' numbers, of which AArch64 has 128 */
#define VAGX_MARK_BEGIN		126
#define VAGX_MARK_END		127

/* The instruction's word */
#define VAGX_MARK_WORD(mark)	(0xd503201fu | (mark) << 5)

#endif /* VAGX_MARKS_H */
