/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_SOC_FIGURES_H
#define VAGX_SOC_FIGURES_H

#include <stddef.h>
#include <stdint.h>

#include "soc.h"

/*
 * A SoC's figures, as calibration.def and calibration.c need them: those of its
 * control loops and what is only known to differ. Fields a_, b_ and g_ are
 * unknown ones of hw-cal-a, hw-cal-b and globals.
 */

#define VAGX_CURVE_POINTS	9
#define VAGX_COEFFICIENTS	8

/* How much a performance state needs */
struct vagx_pstate_figures {
	uint32_t mhz;
	uint32_t mv;
	uint32_t weight;		/* power is voltage times this; made up */
};

struct vagx_power_zone {
	uint32_t target;
	uint32_t offset;
	uint32_t filter_tc;		/* 0: there is no zone */
};

struct vagx_soc_figures {
	const char *soc;
	const struct vagx_pstate_figures *pstates;	/* the slowest first; state 0 is off */
	unsigned int num_pstates;
	float core_leak;
	float sram_leak;
	uint32_t min_sram_mv;
	uint32_t min_aux_sram_mv;	/* 0: no performance states of CS and AFR */

	uint32_t clocks_per_period;
	float ppm_ki, ppm_kp;
	uint32_t ppm_filter_ms;
	uint32_t avg_filter_ms;
	float avg_power_ki, avg_power_kp;
	uint32_t avg_target_filter_tc;
	float fast_die0_ki, fast_die0_kp;
	uint32_t perf_boost_ce_step, perf_boost_min_util, perf_tgt_utilization;
	uint32_t perf_filter_tc2;
	float perf_ki, perf_ki2, perf_kp, perf_kp2;
	int32_t se_engagement_criteria;
	uint32_t standby_ms;
	struct vagx_power_zone zone;
	uint64_t sensors[2], sensors_alt[2];
	uint32_t sensors_present;

	int32_t a_87c;
	uint32_t a_8cc, a_e24;
	uint32_t b_454, b_4e0, b_534, b_ab8, b_abc, b_b30;
	uint16_t g_54;
	uint32_t g_hws2_24;
	float g_hws2_4[8];
	const uint8_t *g_table;
	size_t g_table_size;

	/* Tables that are in hw-cal-a and in globals */
	int32_t shared1[16];
	uint32_t shared1_a4;
	int32_t shared2[10];
	uint32_t shared2_508;
	uint32_t shared3_8;		/* 0: no such table */
	uint32_t shared3[16];

	/* Curves over the performance states; 0: none */
	uint32_t curve_t1;
	int16_t curve_t2[VAGX_CURVE_POINTS];
	uint32_t curve_t3[VAGX_CURVE_POINTS];

	/* Of each cluster */
	float coef_a[VAGX_MAX_CLUSTERS][VAGX_COEFFICIENTS];
	float coef_b[VAGX_MAX_CLUSTERS][VAGX_COEFFICIENTS];
};

const struct vagx_soc_figures *vagx_soc_figures(const struct vagx_soc *soc);

#endif
