/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Batches: jobs that are over are freed together.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_BATCH_H
#define ASAHI_BATCH_H

#include <linux/types.h>

/* How long the first of a batch waits for others. */
#define ASAHI_BATCH_MS 100

struct asahi_batch;
struct llist_node;

struct asahi_batch *asahi_batch_create(unsigned int ms, void (*free)(struct llist_node *list));
void asahi_batch_destroy(struct asahi_batch *batch);
void asahi_batch_add(struct asahi_batch *batch, struct llist_node *node, u64 bytes);
void asahi_batch_hurry(struct asahi_batch *batch);
bool asahi_batch_is_hurrying(struct asahi_batch *batch);
bool asahi_batch_is_empty(struct asahi_batch *batch);
u64 asahi_batch_bytes(struct asahi_batch *batch);

#endif
