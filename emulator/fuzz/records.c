// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The mutator of inputs that are lists of records, see records.h.
 */
#include "records.h"

#include <stdbool.h>
#include <string.h>

#include "fuzz.h"

#define RECORD	sizeof(struct fuzz_record)

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size) __attribute__((weak));
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
				 uint8_t *out, size_t max_size, unsigned int seed);

static uint64_t state;

static uint32_t below(uint32_t n)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)((state >> 32) * n >> 32);
}

static uint64_t any_value(void)
{
	return (uint64_t)below(UINT32_MAX) << 32 | below(UINT32_MAX);
}

uint64_t fuzz_value(const struct fuzz_record *record, uint64_t old)
{
	static const uint64_t limits[] = {
		0, 1, 3, 4, 0x7f, 0xff, 0x100, 0x4ff, 0x500, 0x3fff, 0x4000, 0xffff, 0x7fffffff,
		0x80000000, 0xffffffff, UINT64_MAX, 0x8000000000000000, 0xffffffffffffc000,
		0x7fffffffffffffff, 0xffffffff00000000,
	};

	switch (record->how % 8) {
	case 0:
		return old ^ 1ULL << record->value % 64;
	case 1:
		return old + (uint64_t)(int64_t)(int8_t)record->value;
	case 2:
		return limits[record->value % (sizeof(limits) / sizeof(limits[0]))];
	case 3:
		return record->value & 0xff;
	case 4:
		return old << record->value % 64;
	default:
		return record->value;
	}
}

size_t fuzz_records(const uint8_t *data, size_t size, struct fuzz_record *out)
{
	size_t count = size / RECORD;

	if (count > FUZZ_RECORDS)
		count = FUZZ_RECORDS;
	memcpy(out, data, count * RECORD);
	return count;
}

static size_t begin_anew(struct fuzz_record *records, size_t room)
{
	const struct fuzz_seed *seed = &fuzz_shape.seeds[below(fuzz_shape.num_seeds)];
	size_t count = seed->count < room ? seed->count : room;

	memcpy(records, seed->records, count * RECORD);
	return count;
}

static struct fuzz_record any_record(void)
{
	return (struct fuzz_record){
		.op = (uint8_t)below(below(2) ? fuzz_shape.favoured : fuzz_shape.ops),
		.which = (uint8_t)below(256),
		.field = (uint16_t)below(below(2) ? 65536 : 256), .how = (uint8_t)below(256),
		.index = (uint8_t)below(256), .extra = (uint16_t)below(65536),
		.value = below(2) ? below(256) : any_value(),
	};
}

static size_t insert(struct fuzz_record *records, size_t count, const struct fuzz_record *record)
{
	/* never before the first, which is the target's own */
	size_t at = 1 + below((uint32_t)count);

	memmove(records + at + 1, records + at, (count - at) * RECORD);
	records[at] = *record;
	return count + 1;
}

static size_t take_out(struct fuzz_record *records, size_t count)
{
	size_t at = 1 + below((uint32_t)count - 1);

	memmove(records + at, records + at + 1, (count - at - 1) * RECORD);
	return count - 1;
}

static void change_part(struct fuzz_record *record)
{
	struct fuzz_record other = any_record();

	switch (below(10)) {
	case 0:
		record->which = other.which;
		break;
	case 1:
		record->field = other.field;
		break;
	case 2:
		record->how = other.how;
		break;
	case 3:
		record->index = other.index;
		break;
	case 4:
		record->extra = other.extra;
		break;
	case 5:
		record->value ^= 1ULL << below(64);
		break;
	case 6:
		record->value += below(33) - 16ULL;
		break;
	default:
		record->value = other.value;
	}
}

static void change_bytes(struct fuzz_record *record)
{
	if (LLVMFuzzerMutate)
		LLVMFuzzerMutate((uint8_t *)record, RECORD, RECORD);
	else
		((uint8_t *)record)[below(RECORD)] = (uint8_t)below(256);
}

static size_t change(struct fuzz_record *records, size_t count, size_t room)
{
	struct fuzz_record record = records[below((uint32_t)count)], spare;
	size_t a = below((uint32_t)count), b = below((uint32_t)count);

	/* The first one stays where it is */
	a = a ? a : count - 1;
	b = b ? b : count - 1;

	switch (below(8)) {
	case 0:
		record = any_record();
		return count < room ? insert(records, count, &record) : count;
	case 1:
		change_part(&record);
		return count < room ? insert(records, count, &record) : count;
	case 2:
		return count > 2 ? take_out(records, count) : count;
	case 3:
		spare = records[a];
		records[a] = records[b];
		records[b] = spare;
		return count;
	case 4:
		change_bytes(&records[below((uint32_t)count)]);
		return count;
	default:
		change_part(&records[below(8) ? a : 0]);
		return count;
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	struct fuzz_record records[FUZZ_RECORDS];
	size_t room = max_size / RECORD < FUZZ_RECORDS ? max_size / RECORD : FUZZ_RECORDS;
	size_t count = fuzz_records(data, size, records);
	unsigned int changes;
	bool anew;

	if (!room)
		return size;
	state = seed;
	/* the upper half of a state counts, and it differs after a few steps only */
	for (changes = 0; changes < 4; changes++)
		below(2);
	anew = count < 2 || !below(32);
	if (anew)
		count = begin_anew(records, room);
	for (changes = anew ? below(3) : 1 + below(6); changes; changes--)
		count = change(records, count, room);
	memcpy(data, records, count * RECORD);
	return count * RECORD;
}

/* The beginning of one and the end of the other */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
				 uint8_t *out, size_t max_size, unsigned int seed)
{
	size_t head, tail;

	state = seed;
	below(2);
	head = below((uint32_t)(a_size / RECORD) + 1) * RECORD;
	tail = below((uint32_t)(b_size / RECORD) + 1) * RECORD;
	if (head > max_size)
		head = max_size / RECORD * RECORD;
	if (tail > max_size - head)
		tail = (max_size - head) / RECORD * RECORD;
	memcpy(out, a, head);
	memcpy(out + head, b + b_size / RECORD * RECORD - tail, tail);
	return head + tail;
}
