/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_DRAW_H
#define VAGX_DRAW_H

#include <stdint.h>

/* What the device draws for; the firmware's purposes are smaller numbers, see fw_draw() */
enum vagx_draw {
	VAGX_DRAW_PAUSE_GAP = 0x1000,
	VAGX_DRAW_PAUSE,
	VAGX_DRAW_FAULT,
	VAGX_DRAW_WRITE_BACK,
	VAGX_DRAW_HOLE,
};

/**
 * vagx_draw() - a number out of the seed
 * @seed: of this run
 * @purpose: what it is for
 * @a: together with @b, what it depends on
 * @b: see @a
 *
 * It does not depend on what was drawn before, so it is the same in each run
 * whatever the host's threads do.
 */
uint64_t vagx_draw(uint64_t seed, unsigned int purpose, uint64_t a, uint64_t b);

#endif
