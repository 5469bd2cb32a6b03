// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Races on device memory between simdgroups of a launch, whether it is reached by loads, stores and
 * atomics, or as texels of images and textures: happens-before as in ThreadSanitizer,
 * with a cell for each word that holds the last store and the last load. Simdgroups of one
 * threadgroup are ordered by barriers. Threadgroups are ordered by atomics only: one that has made
 * an atomic, or a load or store that is coherent, after another's access may know of that access,
 * and no race is reported. So some races are missed, but what is reported is one.
 *
 * The cells of neighbouring words are a block. Blocks are in a hash table of a fixed size, where a
 * new block replaces the one that has its place; each has a lock, since cores run on threads of
 * their own. Launches are ordered by their streams, and a block of an earlier launch is empty.
 *
 * Most simdgroups access consecutive words. So the words of a row have one cell until something
 * reaches a part of them only.
 */
#include <stdlib.h>

#include "sanitizer/reach.h"
#include "sanitizer/shadow.h"

#define DEFAULT_MEMORY	(64u << 20)

/* Simdgroup of what all simdgroups of a threadgroup do together: writes of blocks of an image */
#define ALL_SIMDGROUPS	UINT8_MAX

/* Words of a block, and of a row, which is what a simdgroup can access at once */
#define BLOCK_WORDS	256
#define ROW_WORDS	LANES
#define BLOCK_ROWS	(BLOCK_WORDS / ROW_WORDS)

/* An access. Times are compared, not added: they may wrap after 2^32 atomics. */
struct device_access {
	uint32_t group;
	uint32_t time;
	uint32_t epoch;
	uint8_t simdgroup;
	/* which bytes of the word; 0 for no access */
	uint8_t bytes;
	bool is_atomic;
};

struct device_cell {
	struct device_access store;
	struct device_access load;
};

struct device_block {
	atomic_flag lock;
	/* protected by @lock; the launch is unique among all that there were */
	uint64_t launch;
	/* address of the first word, in blocks */
	uint64_t number;
	/* rows whose words have cells of their own, as a mask */
	uint8_t split;
	/* of all words of a row that is not split, and of each word of those that are */
	struct device_cell row[BLOCK_ROWS];
	struct device_cell cell[BLOCK_WORDS];
};

/* An access of memory by a simdgroup, while it is checked */
struct device_walk {
	const struct step *step;
	bool is_store;
	struct device_access now;
	/* block that is locked, or NULL */
	struct device_block *block;
};

struct device_cells {
	struct device_block *block;
	uint64_t count;
	/* counts accesses that synchronize */
	_Atomic uint32_t time;
};

struct device_cells *device_cells_new(uint64_t memory)
{
	struct device_cells *cells = calloc(1, sizeof(*cells));

	if (!cells)
		return NULL;
	cells->count = (memory ? memory : DEFAULT_MEMORY) / sizeof(*cells->block);
	if (!cells->count)
		cells->count = 1;
	cells->block = calloc(cells->count, sizeof(*cells->block));
	if (cells->block)
		return cells;
	free(cells);
	return NULL;
}

void device_cells_free(struct device_cells *cells)
{
	if (!cells)
		return;
	free(cells->block);
	free(cells);
}

static void device_unlock(struct device_block *block)
{
	if (block)
		atomic_flag_clear_explicit(&block->lock, memory_order_release);
}

/* Locks the block of an address, instead of the one that is locked */
static void device_lock(struct device_walk *walk, uint64_t address)
{
	const struct vagx_core *core = walk->step->sg->core;
	const struct device_cells *cells = core->shadow->cells;
	uint64_t launch = core->launch->serial << 6 | core->launch->vm_slot;
	uint64_t number = address / 4 / BLOCK_WORDS;
	struct device_block *block;

	if (walk->block && walk->block->number == number)
		return;
	device_unlock(walk->block);
	block = &cells->block[(number * 0x9e3779b97f4a7c15 >> 32) % cells->count];
	while (atomic_flag_test_and_set_explicit(&block->lock, memory_order_acquire))
		;
	if (block->launch != launch || block->number != number) {
		block->launch = launch;
		block->number = number;
		block->split = 0;
		memset(block->row, 0, sizeof(block->row));
	}
	walk->block = block;
}

static bool device_is_ordered(const struct step *step, const struct device_access *before,
			      const struct device_access *now)
{
	if (before->group != now->group)
		return step->shadow->synchronized > before->time;
	return before->simdgroup == now->simdgroup || before->epoch != now->epoch;
}

static bool device_races(const struct step *step, const struct device_access *before,
			 const struct device_access *now)
{
	return before->bytes & now->bytes && !(before->is_atomic && now->is_atomic) &&
	       !device_is_ordered(step, before, now);
}

/* Keeps an access; one of the same simdgroup is added to the last one */
static void device_note(struct device_access *last, const struct device_access *now)
{
	uint8_t bytes = now->bytes;

	if (last->bytes && last->group == now->group && last->simdgroup == now->simdgroup &&
	    last->epoch == now->epoch && last->is_atomic == now->is_atomic)
		bytes |= last->bytes;
	*last = *now;
	last->bytes = bytes;
}

/* A place in the grid as one number, which is another one's seldom */
static uint32_t device_number_group(const struct vagx_core *core)
{
	return core->group[0] ^ core->group[1] << 11 ^ core->group[2] << 22;
}

/* The cell of a word, which is its own from now on; the block is the word's */
static struct device_cell *device_find_cell(struct device_block *block, uint64_t address)
{
	const unsigned int word = address / 4 % BLOCK_WORDS, row = word / ROW_WORDS;
	unsigned int i;

	if (!(block->split >> row & 1)) {
		for (i = 0; i < ROW_WORDS; i++)
			block->cell[row * ROW_WORDS + i] = block->row[row];
		block->split |= (uint8_t)(1u << row);
	}
	return &block->cell[word];
}

/* Checks and notes the access of a lane to bytes of a word. Return: false after a report. */
static bool device_access_word(struct device_walk *walk, unsigned int lane, uint64_t address)
{
	const struct step *step = walk->step;
	bool stored, loaded, is_store = walk->is_store;
	struct device_cell *cell;

	device_lock(walk, address);
	cell = device_find_cell(walk->block, address);
	stored = device_races(step, &cell->store, &walk->now);
	loaded = is_store && device_races(step, &cell->load, &walk->now);
	device_note(is_store ? &cell->store : &cell->load, &walk->now);
	if (stored || loaded)
		finding_report(step->sg, step->op, FINDING_DEVICE_RACE, 1u << lane,
			       ": address 0x%llx, which another one has %s before",
			       (unsigned long long)address, stored ? "stored" : "loaded");
	return !stored && !loaded;
}

/* Notes the access to all words of a row at once. Return: false if each has to be looked at. */
static bool device_access_row(struct device_walk *walk, uint64_t address)
{
	const unsigned int row = address / 4 % BLOCK_WORDS / ROW_WORDS;
	struct device_cell *cell;

	device_lock(walk, address);
	cell = &walk->block->row[row];
	if (walk->block->split >> row & 1 || device_races(walk->step, &cell->store, &walk->now) ||
	    (walk->is_store && device_races(walk->step, &cell->load, &walk->now)))
		return false;
	device_note(walk->is_store ? &cell->store : &cell->load, &walk->now);
	return true;
}

/*
 * Whether all threads access words, each the same number of them, which follow those of the thread
 * before. Return: how many; else 0.
 */
static unsigned int device_count_words(const struct elements *e)
{
	const unsigned int each = (unsigned int)__builtin_popcount(e->mask);
	uint64_t apart = 0;
	unsigned int i;

	if (e->lanes != ALL_LANES || e->size != 4 || e->mask & (e->mask + 1))
		return 0;
	for (i = 0; i < LANES; i++)
		apart |= e->address.v[i] ^ (e->address.v[0] + 4ull * each * i);
	return apart ? 0 : each;
}

/* The words of all threads, each of which has so many, by rows so far as that is possible */
static void device_access_words(struct device_walk *walk, const struct elements *e,
				unsigned int each)
{
	const unsigned int count = LANES * each;
	unsigned int i = 0;

	walk->now.bytes = 15;
	while (i < count) {
		const uint64_t address = e->address.v[0] + 4ull * i;

		if (address / 4 % ROW_WORDS == 0 && count - i >= ROW_WORDS &&
		    device_access_row(walk, address)) {
			i += ROW_WORDS;
		} else {
			device_access_word(walk, i / each, address);
			i++;
		}
	}
}

/* The elements of a lane: none has bytes of two words. Return: false after a report. */
static bool device_access_lane(struct device_walk *walk, const struct elements *e,
			       unsigned int lane)
{
	uint64_t address = e->address.v[lane];
	bool is_clean = true;
	unsigned int left;

	for (left = e->mask; left; left >>= 1, address += e->size) {
		if (!(left & 1))
			continue;
		walk->now.bytes = (uint8_t)(((1u << e->size) - 1) << (address & 3));
		is_clean &= device_access_word(walk, lane, address);
	}
	return is_clean;
}

/* One lane after the other. What was no race is none if the next lane does the same again. */
static void device_access_lanes(struct device_walk *walk, const struct elements *e)
{
	bool is_clean = false;
	uint64_t last = 0;
	uint32_t left;

	for (left = e->lanes; left; left &= left - 1) {
		const unsigned int lane = (unsigned int)__builtin_ctz(left);

		if (is_clean && e->address.v[lane] == last)
			continue;
		last = e->address.v[lane];
		is_clean = device_access_lane(walk, e, lane);
	}
}

/* Only threadgroups can race: what a draw leaves to the next one is not followed */
static bool device_follows(const struct vagx_core *core)
{
	return !core->vertices && !core->tile && !core->uniforms_out;
}

/* Begins an access; coherent ones are like atomics */
static void device_begin(struct device_walk *walk, const struct step *step, bool is_store)
{
	const struct vagx_core *core = step->sg->core;
	const struct op *op = step->op;

	walk->step = step;
	walk->is_store = is_store;
	walk->block = NULL;
	walk->now = (struct device_access){
		.group = device_number_group(core),
		.time = atomic_load_explicit(&core->shadow->cells->time, memory_order_relaxed),
		.epoch = core->shadow->epoch,
		.simdgroup = (uint8_t)step->sg->index,
		.is_atomic = op->opcode == AGX_OP_ATOMIC || op->mod[AGX_MOD_COHERENCY] ||
			     op->mod[AGX_MOD_COHERENT],
	};
}

static void device_end(struct device_walk *walk)
{
	const struct step *step = walk->step;

	device_unlock(walk->block);
	/* from now on the simdgroup may know what others have done */
	if (walk->now.is_atomic)
		step->shadow->synchronized =
			atomic_fetch_add(&step->sg->core->shadow->cells->time, 1) + 1;
}

void device_access(const struct step *step, const struct elements *e)
{
	const bool follows = device_follows(step->sg->core);
	const unsigned int words = follows ? device_count_words(e) : 0;
	struct device_walk walk;

	device_begin(&walk, step, e->is_store);
	if (words)
		device_access_words(&walk, e, words);
	else if (follows)
		device_access_lanes(&walk, e);
	device_end(&walk);
}

/* Checks and notes that a thread reaches texels in memory */
static void device_reach_texel(struct simdgroup *sg, const struct op *op, unsigned int lane,
			       uint64_t va, unsigned int bytes, bool is_store)
{
	const struct step step = {
		.sg = sg, .shadow = sg->core->shadow->simdgroup[sg->index], .op = op,
	};
	const uint64_t end = va + bytes;
	struct device_walk walk;
	uint64_t next;

	device_begin(&walk, &step, is_store);
	if (op->opcode == AGX_OP_IMAGE_WRITE_BLOCK)
		walk.now.simdgroup = ALL_SIMDGROUPS;
	for (; va < end; va = next) {
		next = (va | 3) + 1 < end ? (va | 3) + 1 : end;
		walk.now.bytes = (uint8_t)(((1u << (next - va)) - 1) << (va & 3));
		device_access_word(&walk, lane, va);
	}
	device_end(&walk);
}

void shadow_follow_texels(struct vagx_core *core)
{
	const bool follows = core->shadow->check && device_follows(core);

	core->follow_texel = follows ? device_reach_texel : NULL;
}
