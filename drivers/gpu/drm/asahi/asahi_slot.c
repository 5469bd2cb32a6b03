// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Slots: numbered hardware resources that a job needs only while it runs.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/bug.h>
#include <linux/cleanup.h>
#include <linux/dma-fence.h>
#include <linux/err.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include <kunit/visibility.h>

#include "asahi_rest.h"
#include "asahi_slot.h"

/**
 * DOC: Slots
 *
 * The MMU has 63 contexts for address spaces, the firmware 128 event slots and
 * 127 slots for tiled vertex buffers, but there may be any number of VMs and
 * queues. All are handed out to jobs rather than to their owners, at the last
 * moment: when all that a job depends on has happened, and the next thing it
 * would do is to run.
 *
 * * A job gets all the slots that it needs or none. Nobody holds one kind of
 *   slot while it waits for another.
 * * A job that cannot be served waits. Higher priorities are served first, as the
 *   firmware does it. Within a priority, clients take turns, a job each, so that a
 *   client with thousands of queues delays the frame of another one by a turn. The jobs
 *   of one client are served in the order in which they came. No job passes those that
 *   wait at the same or a higher priority, not even one whose owner has its slots at
 *   that moment. So a busy owner runs dry at some point and its slots go round.
 * * A few slots of each kind, enough for two jobs, stay free for the priorities HIGH and
 *   REALTIME. Without them such a job could wait up to 5 s for work of a lower
 *   priority. Any number may be the one that stays free.
 * * Slots are held from there to the job's last stamp. Running work depends on
 *   nothing but the GPU, which completes it or is made to fail it. So slots
 *   come back, whatever the clients do.
 *
 * An owner that comes back finds its former slot untouched if nobody needed it
 * in between, because those that have been free for longest are taken first.
 *
 * While the firmware is out of order nothing is handed out: jobs whose turn comes
 * wait, until it works again or is given up.
 */

/* The lower one of the priorities for which slots are kept. */
#define ASAHI_SLOT_PRIORITY_HIGH 1

/**
 * struct asahi_slot_fence - signals that a request was granted
 * @base: fence; first, because it is freed by its address
 * @granted: in a list of those to be signalled
 */
struct asahi_slot_fence {
	struct dma_fence base;
	struct list_head granted;
};

/**
 * struct asahi_slot_entry - one slot
 * @tenure: grant that made it its present or last owner's; 0 at first
 * @released: when it was released, in grants and releases
 * @busy: has an owner with users
 */
struct asahi_slot_entry {
	u64 tenure;
	u64 released;
	bool busy;
};

/**
 * struct asahi_slot_table - all slots of one kind
 * @range: which there are
 * @free: how many of them are not busy
 * @entry: state of each, from @range's first
 */
struct asahi_slot_table {
	struct asahi_slot_range range;
	unsigned int free;
	struct asahi_slot_entry entry[ASAHI_SLOT_TABLE];
};

/**
 * struct asahi_slots - allocator of all kinds of slots
 * @clock: counts grants and releases
 * @waiting: by priority: turns of those who wait; the first one is next
 * @num_waiting: requests that wait; read without the lock, too
 * @frozen: nothing is handed out
 * @table: the slots
 */
struct asahi_slots {
	/**
	 * @lock: protects all fields, clients and the state of requests. Taken
	 * where fences are signalled, in bottom halves too: nothing allocates under it.
	 */
	spinlock_t lock;
	u64 clock;
	struct list_head waiting[AGX_PRIORITY_COUNT];
	unsigned int num_waiting;
	bool frozen;
	struct asahi_slot_table table[ASAHI_SLOT_KINDS];
};

static const char *asahi_slot_fence_driver(struct dma_fence *fence)
{
	return "asahi";
}

static const char *asahi_slot_fence_timeline(struct dma_fence *fence)
{
	return "slot";
}

static const struct dma_fence_ops asahi_slot_fence_ops = {
	.get_driver_name = asahi_slot_fence_driver,
	.get_timeline_name = asahi_slot_fence_timeline,
};

/**
 * asahi_slots_create() - make an allocator
 * @range: which slots of each kind there are
 *
 * Process context.
 *
 * Return: the allocator with all slots free; ERR_PTR(-EINVAL) for a range that
 * is too large, or empty for low priorities; ERR_PTR(-ENOMEM).
 */
struct asahi_slots *asahi_slots_create(const struct asahi_slot_range range[ASAHI_SLOT_KINDS])
{
	struct asahi_slots *slots;

	for (unsigned int i = 0; i < ASAHI_SLOT_KINDS; i++)
		if (range[i].count <= range[i].kept || range[i].count > ASAHI_SLOT_TABLE)
			return ERR_PTR(-EINVAL);

	slots = kzalloc_obj(*slots);
	if (!slots)
		return ERR_PTR(-ENOMEM);

	spin_lock_init(&slots->lock);
	for (unsigned int i = 0; i < AGX_PRIORITY_COUNT; i++)
		INIT_LIST_HEAD(&slots->waiting[i]);
	for (unsigned int i = 0; i < ASAHI_SLOT_KINDS; i++) {
		slots->table[i].range = range[i];
		slots->table[i].free = range[i].count;
	}

	return slots;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_slots_create);

/**
 * asahi_slots_destroy() - free an allocator
 * @slots: allocator of which nobody holds a slot or waits for one; or NULL
 *
 * Process context.
 */
void asahi_slots_destroy(struct asahi_slots *slots)
{
	if (!slots)
		return;

	WARN_ON(slots->num_waiting);
	for (unsigned int i = 0; i < ASAHI_SLOT_KINDS; i++)
		WARN_ON(slots->table[i].free != slots->table[i].range.count);

	kfree(slots);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_slots_destroy);

/**
 * asahi_slot_client_init() - initialise an owner of slots
 * @client: owner
 * @kind: which kind of slot it needs
 */
void asahi_slot_client_init(struct asahi_slot_client *client, enum asahi_slot_kind kind)
{
	*client = (struct asahi_slot_client) { .kind = kind };
}
EXPORT_SYMBOL_IF_KUNIT(asahi_slot_client_init);

/**
 * asahi_slot_asker_init() - initialise somebody who asks for slots
 * @asker: client
 */
void asahi_slot_asker_init(struct asahi_slot_asker *asker)
{
	for (unsigned int i = 0; i < AGX_PRIORITY_COUNT; i++) {
		INIT_LIST_HEAD(&asker->turn[i].link);
		INIT_LIST_HEAD(&asker->turn[i].requests);
	}
}
EXPORT_SYMBOL_IF_KUNIT(asahi_slot_asker_init);

/**
 * asahi_slot_request_init() - initialise a request
 * @req: request
 * @asker: who asks; must stay until the request is freed
 * @priority: of the queue, 0, the highest, to 3
 *
 * Any context; allocates nothing.
 */
void asahi_slot_request_init(struct asahi_slot_request *req, struct asahi_slot_asker *asker,
			     unsigned int priority)
{
	*req = (struct asahi_slot_request) {
		.state = ASAHI_SLOT_IDLE,
		.asker = asker,
		.priority = priority,
	};
	INIT_LIST_HEAD(&req->link);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_slot_request_init);

/**
 * asahi_slot_request_prepare() - let a request wait if it has to
 * @req: request that was not used yet
 *
 * Has to come before asahi_slots_acquire(). Process context; the only step that allocates.
 *
 * Return: 0 or -ENOMEM.
 */
int asahi_slot_request_prepare(struct asahi_slot_request *req)
{
	req->fence = kzalloc_obj(*req->fence, GFP_KERNEL_ACCOUNT);
	if (!req->fence)
		return -ENOMEM;

	INIT_LIST_HEAD(&req->fence->granted);
	dma_fence_init(&req->fence->base, &asahi_slot_fence_ops, NULL,
		       dma_fence_context_alloc(1), 1);

	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_slot_request_prepare);

/**
 * asahi_slot_request_fini() - free a request
 * @req: request that has been released, was never used, or was never
 *	initialised and is zeroed
 *
 * Any context.
 */
void asahi_slot_request_fini(struct asahi_slot_request *req)
{
	WARN_ON(req->state != ASAHI_SLOT_IDLE);
	if (req->fence)
		dma_fence_put(&req->fence->base);
	req->fence = NULL;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_slot_request_fini);

/**
 * asahi_slot_request_add() - name one more slot that is needed
 * @req: request that was not used yet
 * @client: for whom; must stay until the request is released
 */
void asahi_slot_request_add(struct asahi_slot_request *req, struct asahi_slot_client *client)
{
	if (WARN_ON(req->count == ASAHI_SLOT_REQUEST))
		return;

	req->client[req->count++] = client;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_slot_request_add);

/* How many slots are free for a priority. */
static unsigned int asahi_slots_left(const struct asahi_slot_table *table, unsigned int priority)
{
	unsigned int kept = priority > ASAHI_SLOT_PRIORITY_HIGH ? table->range.kept : 0;

	return table->free > kept ? table->free - kept : 0;
}

static bool asahi_slots_fit(struct asahi_slots *slots, const struct asahi_slot_request *req)
{
	unsigned int need[ASAHI_SLOT_KINDS] = {};

	lockdep_assert_held(&slots->lock);

	for (unsigned int i = 0; i < req->count; i++) {
		const struct asahi_slot_client *client = req->client[i];
		unsigned int left = asahi_slots_left(&slots->table[client->kind], req->priority);

		if (!client->users && ++need[client->kind] > left)
			return false;
	}

	return true;
}

static void asahi_slots_take(struct asahi_slots *slots, struct asahi_slot_client *client)
{
	struct asahi_slot_table *table = &slots->table[client->kind];
	struct asahi_slot_entry *entry, *best = NULL;

	lockdep_assert_held(&slots->lock);

	if (client->users++)
		return;

	table->free--;

	if (client->tenure) {
		entry = &table->entry[client->slot - table->range.first];
		if (!entry->busy && entry->tenure == client->tenure) {
			entry->busy = true;
			return;
		}
	}

	for (unsigned int i = 0; i < table->range.count; i++) {
		entry = &table->entry[i];
		if (!entry->busy && (!best || entry->released < best->released))
			best = entry;
	}

	best->busy = true;
	best->tenure = ++slots->clock;
	client->tenure = best->tenure;
	client->slot = table->range.first + (best - table->entry);
}

static void asahi_slots_give(struct asahi_slots *slots, struct asahi_slot_client *client)
{
	struct asahi_slot_table *table = &slots->table[client->kind];
	struct asahi_slot_entry *entry = &table->entry[client->slot - table->range.first];

	lockdep_assert_held(&slots->lock);

	if (--client->users)
		return;

	table->free++;
	entry->busy = false;
	entry->released = ++slots->clock;
}

static bool asahi_slots_grant(struct asahi_slots *slots, struct asahi_slot_request *req)
{
	lockdep_assert_held(&slots->lock);

	if (!asahi_slots_fit(slots, req))
		return false;

	for (unsigned int i = 0; i < req->count; i++)
		asahi_slots_take(slots, req->client[i]);
	req->state = ASAHI_SLOT_GRANTED;

	return true;
}

/* Does anybody wait who comes before a new request of this priority? */
static bool asahi_slots_crowded(struct asahi_slots *slots, unsigned int priority)
{
	lockdep_assert_held(&slots->lock);

	for (unsigned int i = 0; i <= priority; i++)
		if (!list_empty(&slots->waiting[i]))
			return true;

	return false;
}

static void asahi_slots_enqueue(struct asahi_slots *slots, struct asahi_slot_request *req)
{
	struct asahi_slot_turn *turn = &req->asker->turn[req->priority];

	lockdep_assert_held(&slots->lock);

	req->state = ASAHI_SLOT_WAITING;
	if (list_empty(&turn->requests))
		list_add_tail(&turn->link, &slots->waiting[req->priority]);
	list_add_tail(&req->link, &turn->requests);
	WRITE_ONCE(slots->num_waiting, slots->num_waiting + 1);
}

static void asahi_slots_dequeue(struct asahi_slots *slots, struct asahi_slot_request *req)
{
	struct asahi_slot_turn *turn = &req->asker->turn[req->priority];

	lockdep_assert_held(&slots->lock);

	list_del_init(&req->link);
	if (list_empty(&turn->requests))
		list_del_init(&turn->link);
	WRITE_ONCE(slots->num_waiting, slots->num_waiting - 1);
}

/* Whose turn it is, or NULL if nobody waits. */
static struct asahi_slot_turn *asahi_slots_next_turn(struct asahi_slots *slots)
{
	struct asahi_slot_turn *turn;

	lockdep_assert_held(&slots->lock);

	for (unsigned int i = 0; i < AGX_PRIORITY_COUNT; i++) {
		turn = list_first_entry_or_null(&slots->waiting[i], struct asahi_slot_turn, link);
		if (turn)
			return turn;
	}

	return NULL;
}

/* Get the slots of a request that comes now, unless others come before it. */
static bool asahi_slots_grant_new(struct asahi_slots *slots, struct asahi_slot_request *req)
{
	lockdep_assert_held(&slots->lock);

	return !slots->frozen && !asahi_slots_crowded(slots, req->priority) &&
	       asahi_slots_grant(slots, req);
}

/**
 * asahi_slots_try() - get the slots of a request, or nothing
 * @slots: allocator
 * @req: idle request
 *
 * Passes nobody who waits. Any context but hard interrupts; allocates nothing.
 *
 * Return: true if @req holds its slots now; otherwise it is as before.
 */
bool asahi_slots_try(struct asahi_slots *slots, struct asahi_slot_request *req)
{
	guard(spinlock_bh)(&slots->lock);

	return asahi_slots_grant_new(slots, req);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_slots_try);

/**
 * asahi_slots_acquire() - get the slots of a request, or something to wait for
 * @slots: allocator
 * @req: prepared request
 *
 * May be called again, to ask whether a request that had to wait was granted.
 * Any context but hard interrupts; allocates nothing.
 *
 * Return: NULL if @req holds its slots now; otherwise a reference to a fence
 * that signals when it does.
 */
struct dma_fence *asahi_slots_acquire(struct asahi_slots *slots, struct asahi_slot_request *req)
{
	guard(spinlock_bh)(&slots->lock);

	if (req->state == ASAHI_SLOT_GRANTED)
		return NULL;

	if (req->state == ASAHI_SLOT_IDLE) {
		if (asahi_slots_grant_new(slots, req))
			return NULL;

		asahi_slots_enqueue(slots, req);
	}

	return dma_fence_get(&req->fence->base);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_slots_acquire);

/* Grant what can be granted; the fences are to be signalled without the lock. */
static void asahi_slots_serve(struct asahi_slots *slots, struct list_head *granted)
{
	struct asahi_slot_request *next;
	struct asahi_slot_turn *turn;

	lockdep_assert_held(&slots->lock);

	if (slots->frozen)
		return;

	while ((turn = asahi_slots_next_turn(slots))) {
		next = list_first_entry(&turn->requests, struct asahi_slot_request, link);
		if (!asahi_slots_grant(slots, next))
			break;

		/* All others come before the next one of the same client. */
		list_move_tail(&turn->link, &slots->waiting[next->priority]);
		asahi_slots_dequeue(slots, next);
		/* Its owner may be gone by the time that the lock is. */
		dma_fence_get(&next->fence->base);
		list_add_tail(&next->fence->granted, granted);
	}
}

static void asahi_slots_signal(struct list_head *granted)
{
	struct asahi_slot_fence *fence, *n;

	list_for_each_entry_safe(fence, n, granted, granted) {
		list_del_init(&fence->granted);
		dma_fence_signal(&fence->base);
		dma_fence_put(&fence->base);
	}
}

/**
 * asahi_slots_release() - give the slots of a request back, or stop waiting
 * @slots: allocator
 * @req: request in any state, afterwards idle
 *
 * Those who wait are served. A fence that @req waited with is not signalled:
 * whoever gives up does not look at it any more. Any context but hard interrupts;
 * allocates nothing; signals fences.
 */
void asahi_slots_release(struct asahi_slots *slots, struct asahi_slot_request *req)
{
	LIST_HEAD(granted);

	spin_lock_bh(&slots->lock);

	if (req->state == ASAHI_SLOT_WAITING) {
		asahi_slots_dequeue(slots, req);
	} else if (req->state == ASAHI_SLOT_GRANTED) {
		for (unsigned int i = 0; i < req->count; i++)
			asahi_slots_give(slots, req->client[i]);
	}
	req->state = ASAHI_SLOT_IDLE;
	asahi_slots_serve(slots, &granted);

	spin_unlock_bh(&slots->lock);

	asahi_slots_signal(&granted);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_slots_release);

/**
 * asahi_slots_freeze() - hand nothing out any more
 * @slots: allocator
 *
 * New requests have to wait; granted ones keep their slots. Any context but hard
 * interrupts; allocates nothing.
 */
void asahi_slots_freeze(struct asahi_slots *slots)
{
	guard(spinlock_bh)(&slots->lock);
	slots->frozen = true;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_slots_freeze);

/**
 * asahi_slots_thaw() - undo asahi_slots_freeze()
 * @slots: allocator, frozen or not
 *
 * Those who wait are served. Any context but hard interrupts;
 * allocates nothing; signals fences.
 */
void asahi_slots_thaw(struct asahi_slots *slots)
{
	LIST_HEAD(granted);

	spin_lock_bh(&slots->lock);
	slots->frozen = false;
	asahi_slots_serve(slots, &granted);
	spin_unlock_bh(&slots->lock);

	asahi_slots_signal(&granted);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_slots_thaw);

/**
 * asahi_slots_waiting() - how many requests wait
 * @slots: allocator
 *
 * Return: a number that may be outdated when it is seen.
 */
unsigned int asahi_slots_waiting(struct asahi_slots *slots)
{
	return READ_ONCE(slots->num_waiting);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_slots_waiting);

#if IS_ENABLED(CONFIG_DRM_ASAHI_DEBUG)
/**
 * asahi_slots_are_frozen() - is nothing handed out?
 * @slots: allocator
 *
 * Return: true between asahi_slots_freeze() and asahi_slots_thaw().
 */
bool asahi_slots_are_frozen(struct asahi_slots *slots)
{
	guard(spinlock_bh)(&slots->lock);
	return slots->frozen;
}

/**
 * asahi_slots_at_rest() - say which slots are held although there are no jobs
 * @slots: allocator
 * @rest: what is known of the device
 *
 * Any context but hard interrupts.
 */
void asahi_slots_at_rest(struct asahi_slots *slots, struct asahi_rest *rest)
{
	static const char * const name[ASAHI_SLOT_KINDS] = {
		[ASAHI_SLOT_VM] = "contexts",
		[ASAHI_SLOT_EVENT] = "events",
		[ASAHI_SLOT_BUFFER] = "vertex buffers",
	};

	guard(spinlock_bh)(&slots->lock);

	asahi_rest_expect(rest, ASAHI_REST_IDLE, !slots->num_waiting,
			  "%u requests for slots wait", slots->num_waiting);
	for (unsigned int i = 0; i < ASAHI_SLOT_KINDS; i++) {
		const struct asahi_slot_table *table = &slots->table[i];

		asahi_rest_expect(rest, ASAHI_REST_IDLE, table->free == table->range.count,
				  "%u of %u %s are free", table->free, table->range.count,
				  name[i]);
	}
}
EXPORT_SYMBOL_IF_KUNIT(asahi_slots_at_rest);
#endif
