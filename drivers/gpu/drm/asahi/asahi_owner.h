/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Owners: which queue has work in flight that uses a slot of the firmware's.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_OWNER_H
#define ASAHI_OWNER_H

#include <linux/types.h>

struct asahi_owners;
struct asahi_queue;
struct asahi_rest;

struct asahi_owners *asahi_owners_create(unsigned int count);
void asahi_owners_destroy(struct asahi_owners *owners);

void asahi_owner_set(struct asahi_owners *owners, unsigned int slot, struct asahi_queue *queue);
struct asahi_queue *asahi_owner_get(struct asahi_owners *owners, unsigned int slot);
void asahi_owners_at_rest(struct asahi_owners *owners, struct asahi_rest *rest, const char *kind);

#endif
