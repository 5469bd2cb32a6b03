/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Slots: numbered hardware resources that a job needs only while it runs.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_SLOT_H
#define ASAHI_SLOT_H

#include <linux/list.h>
#include <linux/types.h>

#include <agx/agx_rtkit.h>

struct dma_fence;
struct asahi_rest;
struct asahi_slot_fence;
struct asahi_slots;

/**
 * enum asahi_slot_kind - what is numbered
 * @ASAHI_SLOT_VM: contexts of the MMU
 * @ASAHI_SLOT_EVENT: event slots, each with a stamp
 * @ASAHI_SLOT_BUFFER: tiled vertex buffers that the firmware knows
 * @ASAHI_SLOT_KINDS: number of kinds
 */
enum asahi_slot_kind {
	ASAHI_SLOT_VM,
	ASAHI_SLOT_EVENT,
	ASAHI_SLOT_BUFFER,
	ASAHI_SLOT_KINDS,
};

/** ASAHI_SLOT_TABLE - slots of a kind at most */
#define ASAHI_SLOT_TABLE 128

/** ASAHI_SLOT_REQUEST - slots that one job needs at most: a VM, three events, a buffer */
#define ASAHI_SLOT_REQUEST 5

/**
 * struct asahi_slot_range - the slots of one kind
 * @first: lowest number that may be handed out
 * @count: how many
 * @kept: how many of these stay free for high priorities; less than @count
 */
struct asahi_slot_range {
	unsigned int first;
	unsigned int count;
	unsigned int kept;
};

/**
 * struct asahi_slot_client - one that owns a slot while jobs of it run
 * @kind: which kind of slot; constant
 * @slot: the slot, valid while @users is not zero; afterwards a hint only
 * @users: number of granted requests that name this client
 * @tenure: the grant that made @slot this client's; another number than before
 *	when it had to be given to others in between. Who tells the firmware
 *	something about its slot, as InitBuffer does, has to tell it again then.
 *
 * Embedded in a VM, a work queue or a buffer, and has to stay while any request names
 * it. The allocator keeps no pointer to it between requests, so it needs no
 * destruction. The lock of the struct asahi_slots protects all fields; who
 * holds a granted request may read @slot and @tenure without.
 */
struct asahi_slot_client {
	enum asahi_slot_kind kind;
	unsigned int slot;
	unsigned int users;
	u64 tenure;
};

/**
 * struct asahi_slot_asker - who asks for slots, and takes turns with all others
 * @turn: by priority: the requests that wait, in the order in which they came
 *
 * Embedded in a client, and has to stay while any request names it. The lock of the
 * struct asahi_slots protects all fields.
 */
struct asahi_slot_asker {
	struct asahi_slot_turn {
		/** @turn.link: in the list of those that wait; empty without @requests */
		struct list_head link;
		/** @turn.requests: what waits */
		struct list_head requests;
	} turn[AGX_PRIORITY_COUNT];
};

/**
 * enum asahi_slot_state - state of a request
 * @ASAHI_SLOT_IDLE: holds nothing, waits for nothing
 * @ASAHI_SLOT_WAITING: in the queue
 * @ASAHI_SLOT_GRANTED: holds all slots that it names
 */
enum asahi_slot_state {
	ASAHI_SLOT_IDLE,
	ASAHI_SLOT_WAITING,
	ASAHI_SLOT_GRANTED,
};

/**
 * struct asahi_slot_request - the slots that one job needs, all or nothing
 * @asker: who asks; constant
 * @priority: of the queue, 0, the highest, to 3; constant
 * @client: for whom; constant after asahi_slot_request_add()
 * @count: entries of @client
 * @state: protected by the lock of the struct asahi_slots
 * @link: in @asker's requests of that priority
 * @fence: signals when the request is granted; allocated in advance, because
 *	a job finds out that it has to wait where it may not allocate. NULL for one that
 *	does not wait, see asahi_slots_try()
 */
struct asahi_slot_request {
	struct asahi_slot_asker *asker;
	unsigned int priority;
	struct asahi_slot_client *client[ASAHI_SLOT_REQUEST];
	unsigned int count;
	enum asahi_slot_state state;
	struct list_head link;
	struct asahi_slot_fence *fence;
};

struct asahi_slots *asahi_slots_create(const struct asahi_slot_range range[ASAHI_SLOT_KINDS]);
void asahi_slots_destroy(struct asahi_slots *slots);

void asahi_slot_client_init(struct asahi_slot_client *client, enum asahi_slot_kind kind);

void asahi_slot_asker_init(struct asahi_slot_asker *asker);

void asahi_slot_request_init(struct asahi_slot_request *req, struct asahi_slot_asker *asker,
			     unsigned int priority);
int asahi_slot_request_prepare(struct asahi_slot_request *req);
void asahi_slot_request_fini(struct asahi_slot_request *req);
void asahi_slot_request_add(struct asahi_slot_request *req, struct asahi_slot_client *client);

bool asahi_slots_try(struct asahi_slots *slots, struct asahi_slot_request *req);
struct dma_fence *asahi_slots_acquire(struct asahi_slots *slots, struct asahi_slot_request *req);
void asahi_slots_release(struct asahi_slots *slots, struct asahi_slot_request *req);
void asahi_slots_freeze(struct asahi_slots *slots);
void asahi_slots_thaw(struct asahi_slots *slots);
unsigned int asahi_slots_waiting(struct asahi_slots *slots);

bool asahi_slots_are_frozen(struct asahi_slots *slots);
void asahi_slots_at_rest(struct asahi_slots *slots, struct asahi_rest *rest);

#endif
