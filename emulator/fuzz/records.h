/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Inputs that are lists of records of one size. The first is for the target itself, each of
 * the others is something that a guest does. records.c has libFuzzer's mutator of them, which
 * changes, copies and moves whole records, and begins with those of the target.
 */
#ifndef VAGX_FUZZ_RECORDS_H
#define VAGX_FUZZ_RECORDS_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct fuzz_record - one record; what the fields mean is up to the target and @op
 * @op: what is done
 * @which: to what
 * @field: where in it
 * @how: how @value is meant
 * @index: of whatever there are several of
 * @extra: a second number
 * @value: a number
 */
struct fuzz_record {
	uint8_t op;
	uint8_t which;
	uint16_t field;
	uint8_t how;
	uint8_t index;
	uint16_t extra;
	uint64_t value;
};

/** FUZZ_RECORDS - as many as an input of CI has */
#define FUZZ_RECORDS	64

/**
 * struct fuzz_seed - an input to begin with
 * @records: its records
 * @count: how many
 */
struct fuzz_seed {
	const struct fuzz_record *records;
	size_t count;
};

#define FUZZ_SEED(array)	{ (array), sizeof(array) / sizeof((array)[0]) }

/**
 * struct fuzz_shape - what the mutator knows of a target
 * @ops: operations are below this
 * @favoured: those below this are as many as all the others
 * @seeds: inputs to begin with
 * @num_seeds: how many
 */
struct fuzz_shape {
	unsigned int ops;
	unsigned int favoured;
	const struct fuzz_seed *seeds;
	unsigned int num_seeds;
};

/** fuzz_shape - the target's */
extern const struct fuzz_shape fuzz_shape;

/**
 * fuzz_value() - the number that a record means
 * @record: it
 * @old: what has been there
 *
 * Return: the number itself, or the old one with a bit changed or with something added, or a
 * number that is often a limit.
 */
uint64_t fuzz_value(const struct fuzz_record *record, uint64_t old);

/** fuzz_records() - take the records of an input; @out has room for FUZZ_RECORDS. Return: number */
size_t fuzz_records(const uint8_t *data, size_t size, struct fuzz_record *out);

#endif /* VAGX_FUZZ_RECORDS_H */
