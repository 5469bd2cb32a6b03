/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * A record of the descriptors that instructions use.
 */
#ifndef VAGX_SANITIZER_DESCRIPTORS_H
#define VAGX_SANITIZER_DESCRIPTORS_H

#include <stdint.h>

#include "agx_isa.h"
#include "gpu/core.h"

struct descriptors;
struct op;
struct simdgroup;

/** struct descriptors_line - what is recorded of an instruction; zeros where there is nothing */
struct descriptors_line {
	uint8_t length;
	uint8_t code[AGX_ISA_MAX_LENGTH];
	uint8_t state[VAGX_TEXTURE_BYTES];
	uint8_t sampler[VAGX_SAMPLER_BYTES];
};

/** descriptors_new() - begin a record in a file, which is replaced. Return: NULL with errno set. */
struct descriptors *descriptors_new(const char *path);

/** descriptors_free() - end a record, or NULL */
void descriptors_free(struct descriptors *d);

/**
 * descriptors_note() - record what an instruction is going to use; from any core's thread
 * @d: record
 * @sg: simdgroup; the first active thread counts
 * @op: any instruction
 */
void descriptors_note(struct descriptors *d, struct simdgroup *sg, const struct op *op);

#endif /* VAGX_SANITIZER_DESCRIPTORS_H */
