// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Jobs that must fail, for tests of what is said about them:
 *
 *   bad-jobs store|load|instruction|unsupported|packet|careless|behind
 *
 * Succeeds if the job ends with an error, as a program does that does not look. The careless one
 * and the one that reaches behind its buffer end well: only the sanitizer sees their mistakes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agx_isa.h"
#include "compute.h"

/* Where nothing is bound */
#define NOTHING		UINT64_C(0x1234560000)

struct bad_job {
	const char *name;
	/* or NULL */
	const char *text;
	/* what is behind the text */
	uint8_t bytes[4];
	/* a block of the stream that is of no known kind */
	uint32_t block;
	/* how it ends */
	int err;
	/* of a buffer that is bound, if there is one */
	unsigned int bytes_of_buffer;
};

static const struct bad_job bad_jobs[] = {
	{ .name = "store", .err = -EIO,
	  .text = "mov r2, thread_in_grid_x\nmov r3, 7\nstore r2, du0, r3, i32, x, a\nstop\n" },
	{ .name = "load", .err = -EIO,
	  .text = "mov r2, thread_in_grid_x\nload r4, du0, r2, i32, x, a\nstop\n" },
	{ .name = "instruction", .err = -EIO,
	  .text = "mov r2, 5\n", .bytes = { 0xff, 0xff, 0xff, 0xff } },
	{ .name = "unsupported", .err = -EIO, .text = "doorbell 5\nstop\n" },
	{ .name = "packet", .err = -EIO, .text = "stop\n", .block = 0xe0000000 },
	{ .name = "careless",
	  .text = "mov r2, thread_in_grid_x\niadd r3, ^r2, 1\niadd r4, r2, 1\nstop\n" },
	/* a buffer of 31 words for 32 threads */
	{ .name = "behind", .bytes_of_buffer = 124,
	  .text = "mov r2, thread_in_grid_x\nstore r2, du0, r2, i32, x, a\nstop\n" },
};

static int upload(struct compute *ctx, const struct bad_job *job, struct compute_program *program)
{
	struct agx_program code;
	int err = agx_isa_assemble(job->text, job->name, &code, stderr);
	uint64_t addr;
	uint8_t *map;

	if (err)
		return err;
	map = compute_code_alloc(ctx, code.size + sizeof(job->bytes), &addr);
	if (map) {
		memcpy(map, code.code, code.size);
		memcpy(map + code.size, job->bytes, sizeof(job->bytes));
	}
	free(code.code);
	*program = (struct compute_program){
		.code = addr - asahi_vm_usc_base(ctx->vm),
		.registers = 16,
	};
	return map ? 0 : -ENOSPC;
}

static int run(struct compute *ctx, const struct bad_job *job)
{
	struct compute_buffer buffer = { .bo = NULL };
	uint64_t address = NOTHING;
	struct compute_program program;
	const struct compute_dispatch dispatch = {
		.program = &program,
		.uniforms = &address,
		.uniform_bytes = sizeof(address),
		.global = { 32, 1, 1 },
		.local = { 32, 1, 1 },
	};
	struct compute_stream stream;
	uint32_t *block;
	int err = upload(ctx, job, &program);

	if (err)
		return err;
	if (job->bytes_of_buffer) {
		err = compute_buffer_new(ctx, job->bytes_of_buffer, &buffer);
		address = buffer.addr;
	}
	if (err)
		return err;
	err = compute_stream_new(ctx, &stream);
	if (err)
		return err;
	compute_stream_dispatch(&stream, &dispatch);
	block = (uint32_t *)stream.buffer.map;
	if (job->block)
		*block = job->block;
	err = compute_stream_run(&stream);
	compute_stream_free(&stream);
	if (buffer.bo)
		compute_buffer_free(ctx, &buffer);
	return err;
}

int main(int argc, char **argv)
{
	struct compute ctx;
	size_t i;
	int err;

	for (i = 0; i < sizeof(bad_jobs) / sizeof(bad_jobs[0]); i++)
		if (argc == 2 && !strcmp(argv[1], bad_jobs[i].name))
			break;
	if (i == sizeof(bad_jobs) / sizeof(bad_jobs[0])) {
		fputs("usage: bad-jobs store|load|instruction|unsupported|packet|careless|behind\n", stderr);
		return EXIT_FAILURE;
	}
	if (compute_open(&ctx, NULL))
		return EXIT_FAILURE;
	err = run(&ctx, &bad_jobs[i]);
	compute_close(&ctx);
	if (err == bad_jobs[i].err)
		return EXIT_SUCCESS;
	fprintf(stderr, "bad-jobs: %s has ended with %s\n", bad_jobs[i].name,
		err ? strerror(-err) : "success");
	return EXIT_FAILURE;
}
