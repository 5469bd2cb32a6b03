// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tiled vertex buffers: what vertex work leaves for fragment work.
 *
 * Sources: Rust driver, buffer.rs.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/align.h>
#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include <kunit/visibility.h>

#include <drm/drm_print.h>

#include <agx/agx_rtkit.h>

#include "asahi_abi.h"
#include "asahi_client.h"
#include "asahi_device.h"
#include "asahi_fw_buffer.h"
#include "asahi_fw_workqueue.h"
#include "asahi_job.h"
#include "asahi_owner.h"
#include "asahi_queue_priv.h"
#include "asahi_tvb.h"
#include "asahi_vm.h"
#include "asahi_work.h"
#include "asahi_workqueue.h"

/**
 * DOC: Tiled vertex buffers
 *
 * Vertex work puts the primitives that it makes, sorted by tiles, into the tiled
 * vertex buffer of its queue; fragment work reads them there and gives the pages
 * back. The buffer is a number of blocks of 128 KiB, each of them four pages
 * of 32 KiB, anywhere in the VM. The firmware and the GPU find them through two
 * lists of page numbers, which are as long as they can ever become. Info tells the
 * firmware where the lists are, BlockControl how much of them is in use.
 *
 * **Size.** When there is no page left, the firmware makes room by a partial
 * render: fragment work draws the scene so far, and tiles are saved and loaded again.
 * That is slow. So the firmware's Stats count the pages that renders have used, and a
 * SUBMIT makes the buffer larger when it has less than twice of that. A large framebuffer
 * needs a larger buffer in any case. The lists only ever become longer, and
 * BlockControl follows them at once, also while renders are in flight. Info does
 * not: the firmware keeps counts of its own there while it uses the buffer.
 *
 * **Growth on request.** The firmware may ask for pages in the middle of a render.
 * Nobody has seen it do so with the settings that we use. Whatever we do, it
 * waits for an answer (see "Growth"), and so does the render's fence: nothing may be
 * allocated then. So a buffer has blocks to spare, of which the lists have the
 * numbers already. There are none while an InitBuffer may wait in the ring, as that
 * must not tell of fewer blocks than the firmware knows.
 *
 * **Slots.** The firmware knows 127 buffers at a time, by slots. A render holds
 * the slot from its turn to its end. InitBuffer, in the ring in front of the
 * vertex work, says which buffer a slot is, and how large. It is needed when the
 * buffer did not have the slot all the time since the last one, and when the
 * buffer has grown.
 *
 * **Life.** The first render makes the buffer. Nothing tells the firmware that it
 * goes away but DestroyContext for the queue, so that comes before. A buffer never
 * becomes smaller: one that is large and idle goes away, see "Trimming".
 */

/* Blocks of a new buffer. */
#define ASAHI_TVB_FIRST_BLOCKS		8u
/* Blocks that a buffer has in spare, and grows by when the firmware asks. */
#define ASAHI_TVB_SPARE_BLOCKS		10u

/* Tail pointer caches that are not worth trimming: a small framebuffer's. */
#define ASAHI_TVB_SMALL_TPC		SZ_64K

#define ASAHI_TVB_KERNEL_BUFFER		0x40

/**
 * asahi_tvb_init() - make an empty buffer
 * @tvb: zeroed buffer
 */
void asahi_tvb_init(struct asahi_tvb *tvb)
{
	mutex_init(&tvb->lock);
	asahi_slot_client_init(&tvb->slot, ASAHI_SLOT_BUFFER);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_tvb_init);

static void asahi_tpc_release(struct kref *ref)
{
	struct asahi_tpc *tpc = container_of(ref, struct asahi_tpc, refcount);

	asahi_heap_free(&tpc->memory);
	kfree(tpc);
}

/**
 * asahi_tpc_put() - drop a reference
 * @tpc: tail pointer cache, or NULL
 *
 * Process context, before the VM goes.
 */
void asahi_tpc_put(struct asahi_tpc *tpc)
{
	if (tpc)
		kref_put(&tpc->refcount, asahi_tpc_release);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_tpc_put);

/**
 * asahi_tvb_free_vm_memory() - free what is in the VM
 * @tvb: buffer without renders, whose context the firmware was told to forget
 *
 * If it did not listen, it finds nothing at these addresses any more. Process
 * context.
 */
void asahi_tvb_free_vm_memory(struct asahi_tvb *tvb)
{
	WARN_ON(tvb->scenes);

	asahi_tpc_put(tvb->tpc);
	tvb->tpc = NULL;
	for (unsigned int i = 0; i < tvb->num_blocks; i++)
		asahi_heap_free(&tvb->blocks[i]);
	kvfree(tvb->blocks);
	tvb->blocks = NULL;
	tvb->num_blocks = 0;
	tvb->ready = false;
	asahi_heap_free(&tvb->block_list);
	asahi_heap_free(&tvb->page_list);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_tvb_free_vm_memory);

/**
 * asahi_tvb_trim() - give back what a buffer has in the VM
 * @queue: queue without jobs, which gets none meanwhile, and which the firmware was
 *	told to forget
 *
 * The next render makes the buffer anew. Process context.
 */
void asahi_tvb_trim(struct asahi_queue *queue)
{
	struct asahi_tvb *tvb = &queue->tvb;

	guard(mutex)(&tvb->lock);

	/* A reset looks at these, and writes what is ready. */
	scoped_guard(spinlock_bh, &queue->timeline.lock) {
		tvb->ready = false;
		tvb->handed_over = 0;
		tvb->told = 0;
		tvb->tenure = 0;
	}

	asahi_tvb_free_vm_memory(tvb);
	WRITE_ONCE(tvb->large, false);
}

/**
 * asahi_tvb_fini() - free the rest
 * @tvb: buffer after asahi_tvb_free_vm_memory(), whose context the firmware has
 *	forgotten
 *
 * Process context.
 */
void asahi_tvb_fini(struct asahi_tvb *tvb)
{
	asahi_heap_free(&tvb->kernel_buffer);
	asahi_heap_free(&tvb->stats);
	asahi_heap_free(&tvb->counter);
	asahi_heap_free(&tvb->control);
	asahi_heap_free(&tvb->info);
	mutex_destroy(&tvb->lock);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_tvb_fini);

/**
 * asahi_tvb_bytes() - how much memory it takes in the device's heaps
 * @tvb: buffer, maybe half made
 *
 * Return: bytes; what is in the VM is charged there.
 */
s64 asahi_tvb_bytes(const struct asahi_tvb *tvb)
{
	return tvb->info.size + tvb->control.size + tvb->counter.size + tvb->stats.size +
	       tvb->kernel_buffer.size;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_tvb_bytes);

/*
 * Size
 */

/**
 * asahi_tvb_want_blocks() - how large a buffer should be
 * @used_pages: pages that any render has used, as the firmware says
 * @have: blocks that it has
 * @min_blocks: blocks that a render needs
 *
 * Any context.
 *
 * Return: blocks, not less than @have; may be more than ASAHI_TVB_MAX_BLOCKS.
 */
unsigned int asahi_tvb_want_blocks(u32 used_pages, unsigned int have, unsigned int min_blocks)
{
	u64 need = DIV_ROUND_UP_ULL(2ULL * used_pages, ASAHI_TVB_BLOCK_PAGES);
	u64 want = DIV_ROUND_UP_ULL(3ULL * used_pages, ASAHI_TVB_BLOCK_PAGES);

	need = min(need, ASAHI_TVB_MAX_BLOCKS_NOMEMLESS);
	want = min(want, ASAHI_TVB_MAX_BLOCKS_NOMEMLESS);
	min_blocks = max3(min_blocks, have, ASAHI_TVB_FIRST_BLOCKS);

	return need > have && want > min_blocks ? want : min_blocks;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_tvb_want_blocks);

/**
 * asahi_tvb_is_large() - is a buffer worth to be given back when it is idle?
 * @blocks: blocks that it has
 * @tpc_bytes: size of its tail pointer cache
 *
 * Any context.
 *
 * Return: true if it has more than a small framebuffer needs.
 */
bool asahi_tvb_is_large(unsigned int blocks, u64 tpc_bytes)
{
	return blocks > ASAHI_TVB_FIRST_BLOCKS + ASAHI_TVB_SPARE_BLOCKS ||
	       tpc_bytes > ASAHI_TVB_SMALL_TPC;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_tvb_is_large);

/**
 * asahi_tvb_is_idle() - was there no render for a while?
 * @tvb: buffer
 * @now: the time, in jiffies
 *
 * Whether there is one now is for the caller to find out. Any context.
 *
 * Return: true if not.
 */
bool asahi_tvb_is_idle(const struct asahi_tvb *tvb, unsigned long now)
{
	return time_after_eq(now, READ_ONCE(tvb->used_at) + msecs_to_jiffies(ASAHI_TVB_IDLE_MS));
}
EXPORT_SYMBOL_IF_KUNIT(asahi_tvb_is_idle);

/**
 * asahi_tvb_list_block() - put a block into the lists
 * @page_list: list of pages
 * @block_list: list of blocks
 * @index: the block's number, below ASAHI_TVB_MAX_BLOCKS
 * @va: its address
 *
 * Any context.
 */
void asahi_tvb_list_block(__le32 *page_list, struct asahi_fw_block *block_list,
			  unsigned int index, u64 va)
{
	u32 page = va >> ASAHI_TVB_PAGE_SHIFT;

	block_list[index].page = cpu_to_le32(page);
	for (unsigned int i = 0; i < ASAHI_TVB_BLOCK_PAGES; i++)
		page_list[index * ASAHI_TVB_BLOCK_PAGES + i] = cpu_to_le32(page + i);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_tvb_list_block);

static int asahi_tvb_alloc_parts(struct asahi_queue *queue)
{
	struct asahi_heap *private = queue->adev->heap[ASAHI_HEAP_PRIVATE];
	struct asahi_heap *shared = queue->adev->heap[ASAHI_HEAP_SHARED];
	struct asahi_heap *vm = asahi_vm_heap_priv(queue->vm);
	struct asahi_tvb *tvb = &queue->tvb;
	const struct {
		struct asahi_heap *heap;
		size_t size;
		struct asahi_fwbuf *buf;
	} part[] = {
		{ private, queue->adev->abi->job->tvb.info_size, &tvb->info },
		{ shared, sizeof(struct asahi_fw_block_control), &tvb->control },
		{ shared, sizeof(struct asahi_fw_buffer_counter), &tvb->counter },
		{ shared, sizeof(struct asahi_fw_buffer_stats), &tvb->stats },
		{ shared, ASAHI_TVB_KERNEL_BUFFER, &tvb->kernel_buffer },
		{ vm, ASAHI_TVB_MAX_PAGES * sizeof(__le32), &tvb->page_list },
		{ vm, ASAHI_TVB_MAX_BLOCKS * sizeof(struct asahi_fw_block), &tvb->block_list },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(part); i++) {
		size_t align = part[i].heap == vm ? ASAHI_TVB_ALIGN : ASAHI_HEAP_ALIGN;
		int ret;

		/* From a SUBMIT that has failed later on. */
		if (part[i].buf->node)
			continue;
		ret = asahi_heap_alloc(part[i].heap, part[i].size, align, part[i].buf);
		if (ret)
			return ret;
	}

	return 0;
}

/* Make it have @count blocks, of which the firmware is not told yet. */
static int asahi_tvb_alloc_blocks(struct asahi_queue *queue, unsigned int count)
{
	struct asahi_tvb *tvb = &queue->tvb;
	struct asahi_fwbuf *blocks;

	lockdep_assert_held(&tvb->lock);

	if (tvb->num_blocks >= count)
		return 0;

	blocks = kvrealloc(tvb->blocks, count * sizeof(*blocks), GFP_KERNEL_ACCOUNT);
	if (!blocks)
		return -ENOMEM;
	tvb->blocks = blocks;

	while (tvb->num_blocks < count) {
		struct asahi_fwbuf *block = &blocks[tvb->num_blocks];
		int ret;

		ret = asahi_heap_alloc(asahi_vm_heap_gpu(queue->vm), ASAHI_TVB_BLOCK_SIZE,
				       ASAHI_TVB_ALIGN, block);
		if (ret)
			return ret;

		asahi_tvb_list_block(tvb->page_list.map, tvb->block_list.map, tvb->num_blocks,
				     block->va);
		scoped_guard(spinlock_bh, &queue->timeline.lock)
			tvb->num_blocks++;
	}

	return 0;
}

/* Go back to @count blocks, or to as many as the firmware has been told of meanwhile. */
static void asahi_tvb_drop_blocks(struct asahi_queue *queue, unsigned int count)
{
	struct asahi_tvb *tvb = &queue->tvb;
	unsigned int have = tvb->num_blocks;

	lockdep_assert_held(&tvb->lock);

	scoped_guard(spinlock_bh, &queue->timeline.lock) {
		count = max(count, tvb->handed_over);
		tvb->num_blocks = count;
	}

	while (have > count)
		asahi_heap_free(&tvb->blocks[--have]);
}

/* Tell the firmware how much of the lists it may use, but for InitBuffer. */
static void asahi_tvb_hand_over(struct asahi_queue *queue, unsigned int blocks)
{
	struct asahi_tvb *tvb = &queue->tvb;
	struct asahi_fw_block_control *control = tvb->control.map;

	lockdep_assert_held(&queue->timeline.lock);

	/* asahi_tvb_resize() looks at it before it has the timeline's lock. */
	WRITE_ONCE(tvb->handed_over, blocks);

	/* The lists before the numbers that make them count. */
	dma_wmb();
	WRITE_ONCE(control->total, cpu_to_le32(blocks));
	WRITE_ONCE(control->wptr, cpu_to_le32(blocks));

	if (!tvb->scenes)
		queue->adev->abi->job->tvb.info_set_blocks(tvb->info.map, blocks);
}

static void asahi_tvb_fill_info(struct asahi_queue *queue)
{
	const struct asahi_tvb_abi *abi = &queue->adev->abi->job->tvb;
	struct asahi_tvb *tvb = &queue->tvb;
	struct asahi_fw_buffer_stats *stats = tvb->stats.map;

	lockdep_assert_held(&queue->timeline.lock);

	memset(tvb->control.map, 0, tvb->control.size);
	memset(tvb->counter.map, 0, tvb->counter.size);
	memset(tvb->kernel_buffer.map, 0, tvb->kernel_buffer.size);
	memset(tvb->stats.map, 0, tvb->stats.size);
	stats->reset = cpu_to_le32(1);
	memset(tvb->info.map, 0, tvb->info.size);
	abi->info_init(tvb->info.map, &(struct asahi_tvb_info) {
		.page_list_va = tvb->page_list.va,
		.block_list_va = tvb->block_list.va,
		.control_va = tvb->control.va,
		.counter_va = tvb->counter.va,
	});
	tvb->told = 0;
	tvb->tenure = 0;
}

/**
 * asahi_tvb_fill() - write what the firmware is to find
 * @queue: queue with nothing in flight, of which the firmware does not know
 *
 * With the timeline's lock held. Allocates nothing.
 */
void asahi_tvb_fill(struct asahi_queue *queue)
{
	if (!queue->tvb.ready)
		return;

	asahi_tvb_fill_info(queue);
	asahi_tvb_hand_over(queue, queue->tvb.handed_over);
}

static int asahi_tvb_make(struct asahi_queue *queue)
{
	struct asahi_tvb *tvb = &queue->tvb;
	s64 before = asahi_tvb_bytes(tvb);
	int ret;

	lockdep_assert_held(&tvb->lock);

	if (tvb->ready)
		return 0;

	ret = asahi_tvb_alloc_parts(queue);
	asahi_client_charge(queue->client, asahi_tvb_bytes(tvb) - before);
	if (ret)
		return ret;

	guard(spinlock_bh)(&queue->timeline.lock);
	asahi_tvb_fill_info(queue);
	tvb->ready = true;

	return 0;
}

static int asahi_tvb_resize(struct asahi_queue *queue, unsigned int min_blocks)
{
	struct asahi_tvb *tvb = &queue->tvb;
	struct asahi_fw_buffer_stats *stats = tvb->stats.map;
	unsigned int before = tvb->num_blocks;
	unsigned int want;
	int ret;

	lockdep_assert_held(&tvb->lock);

	want = asahi_tvb_want_blocks(le32_to_cpu(READ_ONCE(stats->max_pages)),
				     READ_ONCE(tvb->handed_over), min_blocks);
	WRITE_ONCE(stats->reset, cpu_to_le32(1));

	if (want > ASAHI_TVB_MAX_BLOCKS) {
		drm_dbg(&queue->adev->drm, "queue %u: a vertex buffer of %u blocks\n", queue->id,
			want);
		return -ENOMEM;
	}

	ret = asahi_tvb_alloc_blocks(queue, min(want + ASAHI_TVB_SPARE_BLOCKS,
						ASAHI_TVB_MAX_BLOCKS));
	/* Renders that fit into less than they want are split by the firmware. */
	want = min(want, tvb->num_blocks);
	if (ret && want < max(min_blocks, ASAHI_TVB_FIRST_BLOCKS)) {
		asahi_tvb_drop_blocks(queue, before);
		return ret;
	}

	guard(spinlock_bh)(&queue->timeline.lock);
	/* The firmware may have got more meanwhile. */
	if (want > tvb->handed_over)
		asahi_tvb_hand_over(queue, want);

	return 0;
}

static struct asahi_tpc *asahi_tvb_get_tpc(struct asahi_queue *queue, u64 size)
{
	struct asahi_tvb *tvb = &queue->tvb;
	struct asahi_tpc *tpc = tvb->tpc;
	int ret;

	lockdep_assert_held(&tvb->lock);

	if (!tpc || tpc->memory.size < size) {
		tpc = kzalloc_obj(*tpc, GFP_KERNEL_ACCOUNT);
		if (!tpc)
			return ERR_PTR(-ENOMEM);

		kref_init(&tpc->refcount);
		ret = asahi_heap_alloc(asahi_vm_heap_priv(queue->vm), ALIGN(size, AGX_PAGE_SIZE),
				       ASAHI_TVB_ALIGN, &tpc->memory);
		if (ret) {
			kfree(tpc);
			return ERR_PTR(ret);
		}

		/* Those who use the old one keep it. */
		asahi_tpc_put(tvb->tpc);
		tvb->tpc = tpc;
	}

	kref_get(&tpc->refcount);

	return tpc;
}

/**
 * asahi_tvb_prepare() - make a queue's buffer fit for renders
 * @queue: queue
 * @min_blocks: blocks that they need at least
 * @tpc_size: bytes of tail pointer cache that they need
 *
 * Process context, without the timeline's lock.
 *
 * Return: a reference to a tail pointer cache that they can use, or an error:
 * -ENOMEM, or what asahi_heap_alloc() says.
 */
struct asahi_tpc *asahi_tvb_prepare(struct asahi_queue *queue, unsigned int min_blocks,
				    u64 tpc_size)
{
	struct asahi_tvb *tvb = &queue->tvb;
	struct asahi_tpc *tpc;
	int ret;

	guard(mutex)(&tvb->lock);

	WRITE_ONCE(tvb->used_at, jiffies);

	ret = asahi_tvb_make(queue);
	if (ret)
		return ERR_PTR(ret);

	ret = asahi_tvb_resize(queue, min_blocks);
	tpc = ret ? ERR_PTR(ret) : asahi_tvb_get_tpc(queue, tpc_size);

	/* Also after an error, which may leave it larger than it was. */
	if (asahi_tvb_is_large(tvb->num_blocks, tvb->tpc ? tvb->tpc->memory.size : 0))
		WRITE_ONCE(tvb->large, true);

	return tpc;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_tvb_prepare);

/*
 * Execution
 */

static void asahi_tvb_push_init(struct asahi_queue *queue, const struct asahi_work *work,
				u32 vm_slot)
{
	struct asahi_fw_init_buffer *fw = work->init_buffer.map;
	struct asahi_tvb *tvb = &queue->tvb;

	if (tvb->tenure == tvb->slot.tenure && tvb->told == tvb->handed_over)
		return;

	tvb->tenure = tvb->slot.tenure;
	tvb->told = tvb->handed_over;
	tvb->older = tvb->scenes;

	fw->tag = cpu_to_le32(ASAHI_FW_CMD_INIT_BUFFER);
	fw->vm_slot = cpu_to_le32(vm_slot);
	fw->buffer_slot = cpu_to_le32(tvb->slot.slot);
	fw->block_count = cpu_to_le32(tvb->told);
	fw->buffer = cpu_to_le64(tvb->info.va);
	fw->stamp_value = cpu_to_le32(work->stamp);

	asahi_workqueue_push(&queue->pipes.wq[AGX_PIPE_VERTEX], work->init_buffer.va);
}

/**
 * asahi_tvb_push() - put into the ring what has to come before vertex work
 * @queue: queue that holds a buffer slot
 * @work: the vertex work, which has its stamp
 * @vm_slot: context of the VM
 *
 * In the critical section of fences, with the timeline's lock held. Allocates
 * nothing.
 */
void asahi_tvb_push(struct asahi_queue *queue, const struct asahi_work *work, u32 vm_slot)
{
	struct asahi_tvb *tvb = &queue->tvb;
	struct asahi_fw_buffer_counter *counter = tvb->counter.map;

	lockdep_assert_held(&queue->timeline.lock);

	asahi_tvb_push_init(queue, work, vm_slot);
	le32_add_cpu(&counter->count, 1);
	if (!tvb->scenes++)
		asahi_owner_set(queue->adev->buffer_owners, tvb->slot.slot, queue);
}

/**
 * asahi_tvb_end() - renders have ended
 * @queue: queue
 * @scenes: how many
 *
 * As asahi_tvb_push().
 */
void asahi_tvb_end(struct asahi_queue *queue, unsigned int scenes)
{
	struct asahi_tvb *tvb = &queue->tvb;

	lockdep_assert_held(&queue->timeline.lock);

	if (!WARN_ON(scenes > tvb->scenes))
		tvb->scenes -= scenes;
	if (scenes && !tvb->scenes)
		asahi_owner_set(queue->adev->buffer_owners, tvb->slot.slot, NULL);
	/* They end in their order. */
	tvb->older -= min(scenes, tvb->older);
	if (scenes)
		WRITE_ONCE(tvb->used_at, jiffies);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_tvb_end);

static void asahi_tvb_print_part(const char *name, const struct asahi_fwbuf *buf,
				 struct drm_printer *p)
{
	drm_printf(p, "  %s: %#llx\n", name, buf->va);
	drm_print_hex_dump(p, "    ", buf->map, buf->size);
}

/**
 * asahi_tvb_get_state() - keep what changes when renders retire
 * @queue: queue
 * @state: where to
 *
 * With the timeline's lock held.
 */
void asahi_tvb_get_state(const struct asahi_queue *queue, struct asahi_tvb_state *state)
{
	const struct asahi_tvb *tvb = &queue->tvb;

	lockdep_assert_held(&queue->timeline.lock);

	*state = (struct asahi_tvb_state) {
		.slot = tvb->scenes ? (int)tvb->slot.slot : -1,
		.renders = tvb->scenes,
		.blocks = tvb->num_blocks,
		.handed_over = tvb->handed_over,
		.told = tvb->told,
	};
}

/**
 * asahi_tvb_print() - print a buffer, as the firmware sees it
 * @queue: queue of a job that is kept, so that the buffer stays
 * @state: what was kept of it
 * @p: where to
 *
 * What the firmware writes by itself is as it is now, and it may have newer contents of
 * Info in its cache. Process context, where memory may be allocated.
 */
void asahi_tvb_print(struct asahi_queue *queue, const struct asahi_tvb_state *state,
		     struct drm_printer *p)
{
	struct asahi_tvb *tvb = &queue->tvb;
	const struct asahi_fw_block_control *control = tvb->control.map;
	const struct asahi_fw_buffer_stats *stats = tvb->stats.map;

	/* It keeps the lists. The timeline's lock is none to print under. */
	guard(mutex)(&tvb->lock);

	if (!tvb->ready)
		return;

	drm_puts(p, "vertex buffer:\n");
	drm_printf(p, "  slot: %d\n", state->slot);
	drm_printf(p, "  renders in flight: %u\n", state->renders);
	drm_printf(p, "  blocks: %u, handed over %u, told of %u, of %u bytes\n", state->blocks,
		   state->handed_over, state->told, ASAHI_TVB_BLOCK_SIZE);
	drm_printf(p, "  control: blocks %u, written %u\n", le32_to_cpu(control->total),
		   le32_to_cpu(control->wptr));
	drm_printf(p, "  use: %u pages at most, %u overflows\n", le32_to_cpu(stats->max_pages),
		   le32_to_cpu(stats->overflow_count));
	drm_printf(p, "  lists: pages %#llx blocks %#llx\n", tvb->page_list.va,
		   tvb->block_list.va);
	queue->adev->abi->job->tvb.info_print(tvb->info.map, p);
	asahi_tvb_print_part("info", &tvb->info, p);
	asahi_tvb_print_part("block control", &tvb->control, p);
	asahi_tvb_print_part("counter", &tvb->counter, p);
	asahi_tvb_print_part("stats", &tvb->stats, p);
}

/**
 * asahi_tvb_grow() - hand over what a buffer has in spare
 * @queue: queue
 * @slot: slot of a buffer that a render has too little of
 *
 * Process context, in the critical section of fences; allocates nothing.
 *
 * Return: how many blocks more the firmware may use now, 0 also if it may not have
 * come to the last InitBuffer; -1 if the buffer is not in use.
 */
int asahi_tvb_grow(struct asahi_queue *queue, u32 slot)
{
	struct asahi_tvb *tvb = &queue->tvb;
	unsigned int more;

	guard(spinlock_bh)(&queue->timeline.lock);

	/* The last render may have ended since the owner was looked up. */
	if (!tvb->scenes || tvb->slot.slot != slot)
		return -1;

	/* An InitBuffer in the ring would tell of fewer than the firmware has got since. */
	if (tvb->older)
		return 0;

	more = min(tvb->num_blocks - tvb->handed_over, ASAHI_TVB_SPARE_BLOCKS);
	if (more) {
		/* The answer tells of them: no InitBuffer is needed for that. */
		if (tvb->told == tvb->handed_over)
			tvb->told += more;
		asahi_tvb_hand_over(queue, tvb->handed_over + more);
	}

	return more;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_tvb_grow);
