// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Complaints of the kernel, and making a program smaller that breaks something.
 *
 * Minimising tries changes and keeps those after which the program still breaks something:
 * first it drops calls, halves of the program, then quarters, down to single ones; then it
 * simplifies threads, failing allocations and sizes, shortens arrays from their ends, and
 * halves bytes of memory. It stops after MAX_TRIALS runs. The result is not the smallest,
 * but as a rule a few calls. Only the first process of the fuzzer is here.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"

/* Most runs for one program; a run takes up to 20 s */
#define MAX_TRIALS	400

static int minimise_kmsg = -1;
static bool minimise_kmsg_tried;

static bool minimise_is_complaint(const char *line)
{
	static const char *const words[] = {
		"WARNING:", "BUG:", "KASAN", "UBSAN", "KFENCE", "ODEBUG", "Oops",
		"Internal error", "Kernel panic", "refcount_t:", "list_add corruption",
		"list_del corruption", "Memory manager not clean", "possible circular locking",
		"possible recursive locking", "suspicious RCU", "inconsistent lock state",
		"scheduling while atomic", "blocked for more than",
	};
	unsigned int i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(line, words[i]))
			return true;
	return false;
}

bool fuzz_kernel_complains(void)
{
	bool complains = false;
	char line[8192];
	ssize_t n;

	if (!minimise_kmsg_tried) {
		minimise_kmsg_tried = true;
		minimise_kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (minimise_kmsg >= 0)
			lseek(minimise_kmsg, 0, SEEK_END);
	}
	if (minimise_kmsg < 0)
		return false;
	for (;;) {
		n = read(minimise_kmsg, line, sizeof(line) - 1);
		/* messages were overwritten before they were read: go on with the next */
		if (n < 0 && errno == EPIPE)
			continue;
		if (n <= 0)
			return complains;
		line[n] = '\0';
		complains |= minimise_is_complaint(line);
	}
}

/* Minimising */

struct minimiser {
	struct fuzz_program *program;
	bool (*broken)(const struct fuzz_program *program);
	unsigned int trials;
};

static bool minimise_still_broken(struct minimiser *m, const struct fuzz_program *program)
{
	return m->trials++ < MAX_TRIALS && m->broken(program);
}

/* Keeps the program without some calls if it still breaks. Return: whether it does. */
static bool minimise_try_without(struct minimiser *m, unsigned int first, unsigned int count)
{
	struct fuzz_program *smaller = fuzz_program_clone(m->program);

	while (count--)
		fuzz_program_remove(smaller, first);
	if (minimise_still_broken(m, smaller)) {
		fuzz_program_free(m->program);
		m->program = smaller;
		return true;
	}
	fuzz_program_free(smaller);
	return false;
}

static void minimise_drop_calls(struct minimiser *m)
{
	unsigned int step, at;

	for (step = m->program->count / 2; step; step /= 2) {
		at = m->program->count;
		while (at >= step) {
			at -= step;
			minimise_try_without(m, at, step);
		}
	}
}

struct simplifier {
	struct minimiser *m;
};

/* Drops elements from the end of an array, or halves bytes, as long as the program breaks. */
static void minimise_simplify_value(struct fuzz_value *value, void *data)
{
	struct minimiser *m = ((struct simplifier *)data)->m;
	size_t bytes = value->byte_count;

	while (value->type->kind == FUZZ_ARRAY && value->type->low != value->type->high &&
	       value->count) {
		struct fuzz_value *last = value->children[--value->count];

		if (!minimise_still_broken(m, m->program)) {
			value->children[value->count++] = last;
			break;
		}
		fuzz_value_free(last);
	}
	while (value->byte_count > 8) {
		value->byte_count = (value->byte_count / 2 + 3) & ~(size_t)3;
		if (minimise_still_broken(m, m->program)) {
			bytes = value->byte_count;
		} else {
			value->byte_count = bytes;
			break;
		}
	}
}

static void minimise_simplify(struct minimiser *m)
{
	struct simplifier simplifier = { m };
	unsigned int threads = m->program->threads;
	unsigned int i;

	m->program->threads = 1;
	if (threads > 1 && !minimise_still_broken(m, m->program))
		m->program->threads = threads;
	for (i = 0; i < m->program->count; i++) {
		struct fuzz_call *call = m->program->calls[i];
		unsigned int fail = call->fail, size = call->size;

		call->fail = 0;
		if (fail && !minimise_still_broken(m, m->program))
			call->fail = fail;
		call->size = 0;
		if (size && !minimise_still_broken(m, m->program))
			call->size = size;
		fuzz_value_visit(call->arg, minimise_simplify_value, &simplifier);
	}
}

bool fuzz_minimise(struct fuzz_program *program, bool (*broken)(const struct fuzz_program *))
{
	struct minimiser m = { fuzz_program_clone(program), broken, 0 };
	struct fuzz_program old;
	bool found = minimise_still_broken(&m, m.program);

	if (found) {
		minimise_drop_calls(&m);
		minimise_simplify(&m);
	}
	old = *program;
	*program = *m.program;
	*m.program = old;
	fuzz_program_free(m.program);
	return found;
}
