// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agx_isa.h"
#include "compute.h"
#include "shaders.h"

#define CODE_BYTES	(1 << 20)
#define STREAM_BYTES	(64 << 10)
/* more than the words of any dispatch here take */
#define WORDS_BYTES	512
/* what a USC uniform word can bind at once */
#define UNIFORM_CHUNK	128
/*
 * Instructions are fetched ahead of time: what is behind a program must be
 * readable and harmless (Mesa does the same).
 */
#define TRAP_BYTES	16

#define POISON		0xa5

static int compute_failed(const char *what, int err)
{
	fprintf(stderr, "%s: %s\n", what, strerror(-err));
	return err;
}

static int compute_place_buffer(struct compute *ctx, enum asahi_heap heap,
				struct compute_buffer *buffer)
{
	int err;

	buffer->size = asahi_bo_size(buffer->bo);
	err = asahi_bo_map(buffer->bo, &buffer->map);
	if (err)
		return compute_failed("mapping a buffer", err);
	err = asahi_vm_map(ctx->vm, heap, buffer->bo,
			   DRM_ASAHI_BIND_READ | DRM_ASAHI_BIND_WRITE,
			   &buffer->addr);
	if (err)
		return compute_failed("binding a buffer", err);
	return 0;
}

/* After an error there is none. */
static int compute_new_buffer(struct compute *ctx, enum asahi_heap heap, uint64_t size,
			      struct compute_buffer *buffer)
{
	int err;

	*buffer = (struct compute_buffer){ .bo = NULL };
	err = asahi_bo_new(ctx->dev, size, ctx->setup.flags, ctx->vm,
			   &buffer->bo);
	if (err)
		return compute_failed("making a buffer", err);
	err = compute_place_buffer(ctx, heap, buffer);
	if (err) {
		asahi_bo_unref(buffer->bo);
		*buffer = (struct compute_buffer){ .bo = NULL };
	}
	return err;
}

int compute_buffer_new(struct compute *ctx, uint64_t size,
		       struct compute_buffer *buffer)
{
	return compute_new_buffer(ctx, ASAHI_HEAP_MAIN, size, buffer);
}

void compute_buffer_free(struct compute *ctx, struct compute_buffer *buffer)
{
	int err;

	if (!buffer->bo)
		return;
	err = asahi_vm_unmap(ctx->vm, buffer->bo, buffer->addr);
	if (err)
		compute_failed("unbinding a buffer", err);
	asahi_bo_unref(buffer->bo);
	*buffer = (struct compute_buffer){ .bo = NULL };
}

void compute_poison(struct compute_buffer *buffer)
{
	memset(buffer->map, POISON, buffer->size);
}

/* What belongs to one client of an opened device, which goes on errors. */
static int compute_open_device(struct compute *ctx)
{
	int err = asahi_vm_new(ctx->dev, &ctx->vm);

	if (err) {
		compute_failed("making an address space", err);
		goto err_dev;
	}
	err = asahi_queue_new(ctx->vm, ctx->setup.priority, &ctx->queue);
	if (err) {
		compute_failed("making a queue", err);
		goto err_vm;
	}
	err = compute_new_buffer(ctx, ASAHI_HEAP_USC, CODE_BYTES, &ctx->code);
	if (err)
		goto err_queue;
	return 0;

err_queue:
	asahi_queue_unref(ctx->queue);
err_vm:
	asahi_vm_unref(ctx->vm);
err_dev:
	asahi_device_unref(ctx->dev);
	return err;
}

int compute_open(struct compute *ctx, const char *node)
{
	return compute_open_with(ctx, node, &COMPUTE_SETUP_DEFAULT);
}

int compute_open_with(struct compute *ctx, const char *node, const struct compute_setup *setup)
{
	int err;

	*ctx = (struct compute){ .setup = *setup };
	err = asahi_device_open(node, &ctx->dev);
	if (err)
		return compute_failed(node ? node : "looking for a device", err);
	return compute_open_device(ctx);
}

int compute_open_beside(struct compute *ctx, const struct compute *other)
{
	*ctx = (struct compute){
		.dev = asahi_device_ref(other->dev),
		.setup = other->setup,
	};
	return compute_open_device(ctx);
}

void compute_close(struct compute *ctx)
{
	compute_buffer_free(ctx, &ctx->code);
	asahi_queue_unref(ctx->queue);
	asahi_vm_unref(ctx->vm);
	asahi_device_unref(ctx->dev);
}

void *compute_code_alloc(struct compute *ctx, size_t size, uint64_t *addr)
{
	uint64_t start = (ctx->code_used + 63) & ~UINT64_C(63);

	if (start > ctx->code.size || size > ctx->code.size - start)
		return NULL;
	ctx->code_used = start + size;
	*addr = ctx->code.addr + start;
	return (uint8_t *)ctx->code.map + start;
}

static void compute_count_operand(const struct agx_operand *o, unsigned int *registers)
{
	unsigned int end = o->value + o->count * (o->size / 16);

	if (o->type == AGX_OPERAND_REG && end > *registers)
		*registers = end;
}

/* The most register halves that any instruction names. */
static int compute_count_registers(const struct agx_program *code,
				   unsigned int *registers)
{
	struct agx_instr instr;
	size_t offset = 0;

	/* r0l is the nesting counter of the execution mask, named or not */
	*registers = 1;
	while (offset < code->size) {
		int length = agx_isa_decode(code->code + offset,
					    code->size - offset, &instr);
		unsigned int i;

		if (length < 0)
			return length;
		compute_count_operand(&instr.dst, registers);
		for (i = 0; i < AGX_ISA_MAX_SRCS; i++)
			compute_count_operand(&instr.src[i], registers);
		offset += length;
	}
	return 0;
}

static int compute_program_upload(struct compute *ctx, const struct agx_program *code,
				  struct compute_program *program)
{
	static const uint8_t trap[2] = { 0x08, 0x00 };
	uint64_t addr;
	uint8_t *map = compute_code_alloc(ctx, code->size + TRAP_BYTES, &addr);
	size_t i;

	if (!map)
		return -ENOSPC;
	memcpy(map, code->code, code->size);
	for (i = 0; i < TRAP_BYTES; i += sizeof(trap))
		memcpy(map + code->size + i, trap, sizeof(trap));
	program->code = addr - asahi_vm_usc_base(ctx->vm);
	return compute_count_registers(code, &program->registers);
}

int compute_program_load(struct compute *ctx, const char *name,
			 struct compute_program *program)
{
	const struct shader *shader = shaders;
	struct agx_program code;
	int err;

	while (shader->name && strcmp(shader->name, name))
		shader++;
	if (!shader->name)
		return compute_failed(name, -ENOENT);

	err = agx_isa_assemble(shader->text, shader->file, &code, stderr);
	if (err)
		return compute_failed(name, err);
	err = compute_program_upload(ctx, &code, program);
	free(code.code);
	return err ? compute_failed(name, err) : 0;
}

int compute_stream_new(struct compute *ctx, struct compute_stream *stream)
{
	int err;

	stream->ctx = ctx;
	stream->error = 0;
	err = compute_buffer_new(ctx, STREAM_BYTES, &stream->buffer);
	if (!err)
		agx_writer_init(&stream->writer, stream->buffer.map,
				stream->buffer.size);
	return err;
}

void compute_stream_free(struct compute_stream *stream)
{
	compute_buffer_free(stream->ctx, &stream->buffer);
}

static void compute_put_uniforms(struct compute *ctx, struct agx_writer *words,
				 const struct compute_dispatch *d, int *err)
{
	size_t offset;
	uint64_t addr;
	void *map;

	if (!d->uniform_bytes)
		return;
	map = compute_code_alloc(ctx, d->uniform_bytes, &addr);
	if (!map) {
		*err = -ENOSPC;
		return;
	}
	memcpy(map, d->uniforms, d->uniform_bytes);

	for (offset = 0; offset < d->uniform_bytes; offset += UNIFORM_CHUNK) {
		size_t bytes = d->uniform_bytes - offset;

		if (bytes > UNIFORM_CHUNK)
			bytes = UNIFORM_CHUNK;
		agx_put(words, usc_uniform, .start = offset / 2,
			.size = (bytes + 1) / 2, .buffer = addr + offset);
	}
}

static void compute_put_shared(struct agx_writer *words, unsigned int bytes)
{
	if (bytes)
		agx_put(words, usc_shared, .uses_shared_memory = true,
			.bytes_per_threadgroup = bytes);
	else
		agx_put(words, usc_shared);
}

/* Return: the offset of the shader words from the USC base, or an error. */
static int compute_put_words(struct compute *ctx, const struct compute_dispatch *d,
			     uint32_t *pipeline)
{
	struct agx_writer words;
	uint64_t addr;
	void *map = compute_code_alloc(ctx, WORDS_BYTES, &addr);
	int err = 0;

	if (!map)
		return -ENOSPC;
	agx_writer_init(&words, map, WORDS_BYTES);
	compute_put_uniforms(ctx, &words, d, &err);
	compute_put_shared(&words, d->shared_bytes);
	agx_put(&words, usc_shader, .code = d->program->code);
	agx_put(&words, usc_registers,
		.register_count = d->program->registers);
	if (d->preshader)
		agx_put(&words, usc_preshader, .code = d->preshader->code);
	else
		agx_put(&words, usc_no_preshader);

	*pipeline = addr - asahi_vm_usc_base(ctx->vm);
	return err ? err : words.error;
}

/* G14 with several clusters has launches that are longer */
static bool compute_has_long_launches(const struct compute *ctx)
{
	const struct drm_asahi_params_global *params =
		asahi_device_params(ctx->dev);

	return params->gpu_generation >= 14 && params->num_clusters_total > 1;
}

static void compute_put_launch(struct compute_stream *stream,
			       const struct compute_dispatch *d, uint32_t pipeline)
{
	struct agx_writer *w = &stream->writer;
	struct agx_cdm_launch launch = agx_cdm_launch_default();

	launch.pipeline = pipeline;
	launch.counts.uniform_registers = (d->uniform_bytes + 1) / 2;
	if (d->preshader) {
		/* it may store uniforms anywhere */
		launch.counts.uniform_registers = 512;
		launch.counts.preshader_registers = d->preshader->registers;
	}
	launch.mode = d->indirect ? AGX_CDM_MODE_INDIRECT_GLOBAL :
				    AGX_CDM_MODE_DIRECT;
	agx_writer_put(w, AGX_PACKET_cdm_launch, &launch);
	if (compute_has_long_launches(stream->ctx))
		agx_put(w, cdm_launch_g14x);
	if (d->indirect)
		agx_put(w, cdm_indirect, .address = d->indirect);
	else
		agx_put(w, cdm_global_size, .x = d->global[0],
			.y = d->global[1], .z = d->global[2]);
	agx_put(w, cdm_local_size, .x = d->local[0], .y = d->local[1],
		.z = d->local[2]);
}

void compute_stream_dispatch(struct compute_stream *stream,
			     const struct compute_dispatch *dispatch)
{
	uint32_t pipeline;

	if (stream->error)
		return;
	stream->error = compute_put_words(stream->ctx, dispatch, &pipeline);
	if (!stream->error)
		compute_put_launch(stream, dispatch, pipeline);
}

void compute_stream_barrier(struct compute_stream *stream)
{
	agx_put(&stream->writer, cdm_barrier);
}

int compute_stream_end(struct compute_stream *stream,
		       struct drm_asahi_cmd_compute *cmd)
{
	int err;

	agx_put(&stream->writer, cdm_stream_terminate);
	err = stream->error ? stream->error : stream->writer.error;
	if (err)
		return compute_failed("building a command stream", err);

	*cmd = (struct drm_asahi_cmd_compute){
		.cdm_ctrl_stream_base = stream->buffer.addr,
		.cdm_ctrl_stream_end =
			stream->buffer.addr + stream->writer.used,
	};
	return 0;
}

int compute_stream_run(struct compute_stream *stream)
{
	struct drm_asahi_cmd_compute cmd;
	struct asahi_submit *submit;
	int err;

	err = compute_stream_end(stream, &cmd);
	if (err)
		return err;
	err = asahi_submit_new(stream->ctx->queue, &submit);
	if (err)
		return compute_failed("making a submission", err);
	asahi_submit_compute(submit, &cmd, ASAHI_BARRIER_NONE);
	err = asahi_submit_run(submit, stream->ctx->setup.timeout_ns);
	asahi_submit_free(submit);
	return err;
}
