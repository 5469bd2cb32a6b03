// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Lines of late stores: see lines.h. Runs on the thread of the core, whose lines nobody else
 * touches. Others read and write the memory meanwhile.
 */
#include "sanitizer/lines.h"

static unsigned int lines_choose(struct lines *l)
{
	l->random = l->random * 0x19660d + 0x3c6ef35f;
	return l->random >> 16;
}

static unsigned int lines_owner(const struct lines *l, unsigned int line)
{
	return l->name[line] & ((1u << LINE_OWNER_BITS) - 1);
}

/* Adds a line to those of its owner, who is of this group */
static void lines_add(struct lines *l, unsigned int line, unsigned int owner)
{
	l->name[line] = line_name(l->memory[line], l->group, owner);
	l->of[owner][line / 64] |= 1ull << line % 64;
	l->owners |= 1ull << owner;
	l->given += owner == OWNER_GROUP;
}

/* Takes a line from its owner: if that one is of an earlier group, it is not among this one's */
static void lines_remove(struct lines *l, unsigned int line)
{
	const unsigned int owner = lines_owner(l, line);

	l->of[owner][line / 64] &= ~(1ull << line % 64);
	l->given -= owner == OWNER_GROUP;
	l->name[line] = 0;
}

/* Writes two bytes of a line, or either; others may read both at once */
static void lines_write_half(uint8_t *to, const uint8_t *from, unsigned int mask)
{
	uint16_t half;

	memcpy(&half, from, sizeof(half));
	if (mask == 3)
		__atomic_store_n((uint16_t *)(void *)to, half, __ATOMIC_RELAXED);
	else if (mask)
		__atomic_store_n(to + (mask >> 1), from[mask >> 1], __ATOMIC_RELAXED);
}

static void lines_write_word(uint8_t *to, const uint8_t *from, unsigned int mask)
{
	uint32_t word;

	memcpy(&word, from, sizeof(word));
	if (mask == 15) {
		__atomic_store_n((uint32_t *)(void *)to, word, __ATOMIC_RELAXED);
	} else {
		lines_write_half(to, from, mask & 3);
		lines_write_half(to + 2, from + 2, mask >> 2);
	}
}

void line_write(struct lines *l, unsigned int line, unsigned int first, unsigned int count)
{
	unsigned int i;

	for (i = first & ~3u; i < first + count; i += 4) {
		lines_write_word(l->memory[line] + i, &l->bytes[line][i],
				 l->stored[line] >> i & 15);
		l->stored[line] &= ~(15ull << i);
	}
}

/* Writes a line of which all bytes are stored: two words at once are each written at once, too */
static void lines_write_whole(const struct lines *l, unsigned int line)
{
	uint64_t *to = (uint64_t *)(void *)l->memory[line], words[LINE / sizeof(*to)];
	unsigned int i;

	memcpy(words, l->bytes[line], sizeof(words));
	for (i = 0; i < LINE / sizeof(*to); i++)
		__atomic_store_n(&to[i], words[i], __ATOMIC_RELAXED);
}

/* The line that the group of a simdgroup's line has for the same memory, or NO_LINE */
static unsigned int lines_find_given(const struct lines *l, unsigned int line)
{
	const unsigned int owner = lines_owner(l, line);

	if (!l->given || owner == OWNER_GROUP)
		return NO_LINE;
	return line_in_set(l, line / WAYS * WAYS, l->name[line] - owner + OWNER_GROUP);
}

/* Writes a line to memory. What its group has stored there before is older, and is lost. */
static void lines_show_one(struct lines *l, unsigned int line)
{
	const unsigned int older = lines_find_given(l, line);

	if (older != NO_LINE)
		l->stored[older] &= ~l->stored[line];
	if (l->stored[line] == UINT64_MAX)
		lines_write_whole(l, line);
	else
		line_write(l, line, 0, LINE);
	lines_remove(l, line);
}

/* Gives a simdgroup's line to its group, over what that one has */
static void lines_give_one(struct lines *l, unsigned int line)
{
	const unsigned int to = lines_find_given(l, line);
	unsigned int i;

	lines_remove(l, line);
	if (to == NO_LINE) {
		l->pending[line] = 0;
		lines_add(l, line, OWNER_GROUP);
		return;
	}
	for (i = 0; i < LINE; i++)
		l->bytes[to][i] = l->stored[line] >> i & 1 ? l->bytes[line][i] : l->bytes[to][i];
	l->stored[to] |= l->stored[line];
}

/* Does something with an owner's lines, but for pending ones unless @all; the seed orders them */
static void lines_visit(struct lines *l, unsigned int owner, bool all,
			void (*visit)(struct lines *l, unsigned int line))
{
	unsigned int chosen, i, first, line;

	if (!line_owner_has_some(l, owner))
		return;
	chosen = lines_choose(l);
	first = chosen / LINE_WORDS % 64;
	for (i = 0; i < LINE_WORDS; i++) {
		const unsigned int word = (i ^ chosen) % LINE_WORDS;
		uint64_t left = l->of[owner][word];

		/* from bit @first on, then those below it */
		left = left >> first | left << (-first & 63);
		for (; left; left &= left - 1) {
			line = 64 * word + (__builtin_ctzll(left) + first) % 64;
			if (all || !l->pending[line])
				visit(l, line);
		}
	}
}

void lines_show(struct lines *l, unsigned int owner, bool all)
{
	lines_visit(l, owner, all, lines_show_one);
}

void lines_give(struct lines *l, unsigned int owner, bool all)
{
	lines_visit(l, owner, all, lines_give_one);
}

static void lines_free_way(struct lines *l, unsigned int line)
{
	if (l->name[line])
		lines_show_one(l, line);
}

unsigned int line_get(struct lines *l, uint8_t *memory, unsigned int owner)
{
	const unsigned int set = line_set(memory);
	unsigned int line = line_find(l, memory, owner);

	if (line != NO_LINE)
		return line;
	line = line_in_set(l, set, 0);
	if (line == NO_LINE)
		line = set + lines_choose(l) % WAYS;
	lines_free_way(l, line);
	/* it is far from what is written before it */
	__builtin_prefetch(memory, 1);
	l->memory[line] = memory;
	l->stored[line] = 0;
	l->pending[line] = 0;
	lines_add(l, line, owner);
	return line;
}

void lines_await(struct lines *l, unsigned int owner, unsigned int group)
{
	unsigned int word;
	uint64_t left;

	for (word = 0; word < LINE_WORDS; word++) {
		for (left = l->of[owner][word]; left; left &= left - 1)
			l->pending[64 * word + __builtin_ctzll(left)] &= (uint8_t)~(1u << group);
	}
}

void lines_settle(struct lines *l)
{
	const unsigned int chosen = lines_choose(l);
	unsigned int i;

	for (i = 0; i < LINES; i++)
		lines_free_way(l, (i ^ chosen) % LINES);
}

void lines_begin_group(struct lines *l)
{
	for (; l->owners; l->owners &= l->owners - 1)
		memset(l->of[__builtin_ctzll(l->owners)], 0, sizeof(l->of[0]));
	l->group++;
	/* a group of this number may have been there */
	if (!l->group)
		lines_settle(l);
}
