// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What is found, and how it becomes small enough to be understood.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"

/* Trials that a program is worth */
#define MAX_TRIALS	400

static int kmsg = -1;
static bool kmsg_tried;

static bool is_complaint(const char *line)
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

	if (!kmsg_tried) {
		kmsg_tried = true;
		kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (kmsg >= 0)
			lseek(kmsg, 0, SEEK_END);
	}
	if (kmsg < 0)
		return false;
	for (;;) {
		n = read(kmsg, line, sizeof(line) - 1);
		/* what was lost is no reason to stop */
		if (n < 0 && errno == EPIPE)
			continue;
		if (n <= 0)
			return complains;
		line[n] = '\0';
		complains |= is_complaint(line);
	}
}

/* Trying: a change is kept if what it makes still breaks something. */

struct minimiser {
	struct fuzz_program *program;
	bool (*broken)(const struct fuzz_program *program);
	unsigned int trials;
};

static bool still_broken(struct minimiser *m, const struct fuzz_program *program)
{
	return m->trials++ < MAX_TRIALS && m->broken(program);
}

static bool try_without(struct minimiser *m, unsigned int first, unsigned int count)
{
	struct fuzz_program *smaller = fuzz_program_clone(m->program);

	while (count--)
		fuzz_program_remove(smaller, first);
	if (still_broken(m, smaller)) {
		fuzz_program_free(m->program);
		m->program = smaller;
		return true;
	}
	fuzz_program_free(smaller);
	return false;
}

static void drop_calls(struct minimiser *m)
{
	unsigned int step, at;

	for (step = m->program->count / 2; step; step /= 2) {
		at = m->program->count;
		while (at >= step) {
			at -= step;
			try_without(m, at, step);
		}
	}
}

struct simplifier {
	struct minimiser *m;
};

/* An array is cut down from its end, bytes become shorter by half. */
static void simplify_value(struct fuzz_value *value, void *data)
{
	struct minimiser *m = ((struct simplifier *)data)->m;
	size_t bytes = value->byte_count;

	while (value->type->kind == FUZZ_ARRAY && value->type->low != value->type->high &&
	       value->count) {
		struct fuzz_value *last = value->children[--value->count];

		if (!still_broken(m, m->program)) {
			value->children[value->count++] = last;
			break;
		}
		fuzz_value_free(last);
	}
	while (value->byte_count > 8) {
		value->byte_count = (value->byte_count / 2 + 3) & ~(size_t)3;
		if (still_broken(m, m->program)) {
			bytes = value->byte_count;
		} else {
			value->byte_count = bytes;
			break;
		}
	}
}

static void simplify(struct minimiser *m)
{
	struct simplifier simplifier = { m };
	unsigned int threads = m->program->threads;
	unsigned int i;

	m->program->threads = 1;
	if (threads > 1 && !still_broken(m, m->program))
		m->program->threads = threads;
	for (i = 0; i < m->program->count; i++) {
		struct fuzz_call *call = m->program->calls[i];
		unsigned int fail = call->fail, size = call->size;

		call->fail = 0;
		if (fail && !still_broken(m, m->program))
			call->fail = fail;
		call->size = 0;
		if (size && !still_broken(m, m->program))
			call->size = size;
		fuzz_value_visit(call->arg, simplify_value, &simplifier);
	}
}

bool fuzz_minimise(struct fuzz_program *program, bool (*broken)(const struct fuzz_program *))
{
	struct minimiser m = { fuzz_program_clone(program), broken, 0 };
	struct fuzz_program old;
	bool found = still_broken(&m, m.program);

	if (found) {
		drop_calls(&m);
		simplify(&m);
	}
	old = *program;
	*program = *m.program;
	*m.program = old;
	fuzz_program_free(m.program);
	return found;
}
