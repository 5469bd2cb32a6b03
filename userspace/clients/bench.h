/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What the files of asahi-bench share.
 */
#ifndef CLIENT_BENCH_H
#define CLIENT_BENCH_H

#include <stdint.h>

#include "compute.h"

/** bench_now_ns() - the clock that everything is measured with */
uint64_t bench_now_ns(void);

/** bench_print() - a result, as text or as JSON */
void bench_print(const char *name, double ns);

/**
 * bench_print_many() - the result of doing the same many times
 * @name: what was done
 * @ns: all of it
 * @times: how often it was done; printed with the time of each
 */
void bench_print_many(const char *name, double ns, unsigned int times);

/** bench_failed() - say what failed. Return: @err */
int bench_failed(const char *what, int err);

/** bench_compare() - for qsort() of uint64_t */
int bench_compare(const void *a, const void *b);

/** bench_floor() - what everything is compared with: the cheapest ioctl */
int bench_floor(struct compute *ctx);

/** bench_submit_named() - what the SUBMIT of a compute command takes, of nine in ten at least */
int bench_submit_named(struct compute *ctx, const char *name);

/* Benches in bench_large.c */
int bench_large(struct compute *ctx);

/* Benches in bench_scale.c */
int bench_shapes(struct compute *ctx);
int bench_binds(struct compute *ctx);
int bench_switch(struct compute *ctx);
int bench_idle(struct compute *ctx);

/* Benches in bench_jobs.c */
int bench_flight(struct compute *ctx);
int bench_steady(struct compute *ctx);
int bench_recovery(struct compute *ctx);

/* Benches in bench_whole.c */
int bench_jobs(struct compute *ctx);
int bench_null(struct compute *ctx);

#endif /* CLIENT_BENCH_H */
