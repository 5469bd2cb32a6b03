// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Records the descriptors that texture and image instructions use, for the fuzzer of textures: a
 * line for each combination of instruction, texture or image, and sampler, all three as bytes. A
 * table of hashes says what has been written; it is bounded, and nothing is written beyond. Cores
 * share the file; the lock protects everything.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "gpu/texture.h"
#include "sanitizer/descriptors.h"

/* Hashes of lines; as many of them are written as half of it holds */
#define TABLE	32768

struct descriptors {
	pthread_mutex_t lock;
	FILE *file;
	uint64_t table[TABLE];
	unsigned int count;
};

struct descriptors *descriptors_new(const char *path)
{
	struct descriptors *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	pthread_mutex_init(&d->lock, NULL);
	d->file = fopen(path, "we");
	if (d->file)
		return d;
	free(d);
	return NULL;
}

void descriptors_free(struct descriptors *d)
{
	if (!d)
		return;
	fclose(d->file);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

/* Whether a line is new, and there is room for it. With the lock held. */
static bool descriptors_add(struct descriptors *d, const uint8_t *line, size_t size)
{
	uint64_t sum = 0xcbf29ce484222325;
	uint64_t at;
	size_t i;

	for (i = 0; i < size; i++)
		sum = (sum ^ line[i]) * 0x100000001b3;
	for (at = sum % TABLE; d->table[at]; at = (at + 1) % TABLE) {
		if (d->table[at] == sum)
			return false;
	}
	if (d->count == TABLE / 2)
		return false;
	d->count++;
	d->table[at] = sum;
	return true;
}

/* Reads the sampler of a lane; what cannot be read stays zeros */
static void descriptors_read_sampler(struct texture *t, unsigned int lane, uint8_t *bytes)
{
	const struct vagx_launch *launch = t->sg->core->launch;
	const struct agx_operand *o = &t->op->src[2];
	uint32_t index = texture_operand_word(t->sg, o, 0, lane);
	const void *p = NULL;

	if (o->type == AGX_OPERAND_REG && index >= TEXTURE_FIRST_OF_HEAP &&
	    index - TEXTURE_FIRST_OF_HEAP < launch->sampler_count)
		p = vagx_texture_client(t, launch->sampler_heap + 8ULL *
					(index - TEXTURE_FIRST_OF_HEAP), 8, VAGX_READ);
	else if (index < VAGX_CORE_SAMPLERS)
		p = launch->samplers[index];
	if (p)
		memcpy(bytes, p, VAGX_SAMPLER_BYTES);
}

static void descriptors_print(FILE *file, const uint8_t *bytes, size_t size)
{
	size_t i;

	fputs(" ", file);
	for (i = 0; i < size; i++)
		fprintf(file, "%02x", bytes[i]);
}

static void descriptors_write(struct descriptors *d, const struct descriptors_line *line)
{
	pthread_mutex_lock(&d->lock);
	if (descriptors_add(d, (const uint8_t *)line, sizeof(*line))) {
		fputs("descriptor", d->file);
		descriptors_print(d->file, line->code, sizeof(line->code));
		descriptors_print(d->file, line->state, sizeof(line->state));
		descriptors_print(d->file, line->sampler, sizeof(line->sampler));
		fputs("\n", d->file);
	}
	pthread_mutex_unlock(&d->lock);
}

void descriptors_note(struct descriptors *d, struct simdgroup *sg, const struct op *op)
{
	bool writes = op->opcode == AGX_OP_IMAGE_WRITE || op->opcode == AGX_OP_IMAGE_WRITE_BLOCK;
	struct texture t = { .sg = sg, .op = op, .speculative = true };
	struct descriptors_line line = { .length = op->length };
	size_t count = 0;
	const uint8_t *code;
	unsigned int lane;

	if (!sg->exec || !(writes || op->opcode == AGX_OP_SAMPLE_FLOAT ||
			   op->opcode == AGX_OP_SAMPLE_INT))
		return;
	lane = __builtin_ctz(sg->exec);
	code = vagx_core_code_at(sg->program, op->va, &count);
	if (!code || count < op->length ||
	    !vagx_texture_read_state(&t, &op->src[writes], &op->src[1 + writes], lane))
		return;
	memcpy(line.code, code, op->length);
	memcpy(line.state, t.state, sizeof(line.state));
	if (!writes)
		descriptors_read_sampler(&t, lane, line.sampler);
	descriptors_write(d, &line);
}
