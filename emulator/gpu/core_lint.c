// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * What lib/agx finds in a program without running it (agx_lint.h) is logged when the program is
 * decoded: waits that are missing, and reads after a last use. A machine gives garbage there,
 * sooner or later, and vagx the right result. The job goes on.
 *
 * Findings that the job fails with anyway are left to it. Of the code, only what has been decoded
 * is looked at: the pieces that a program was decoded from are laid out as they are in memory.
 */
#include <stdlib.h>

#include "agx_lint.h"
#include "core_internal.h"
#include "report.h"

/*
 * Bounds of what is looked at. Clients choose the code, and looking at it may take time that
 * grows faster than its size.
 */
#define LINT_INSTRUCTIONS	8192
#define LINT_BYTES		(256 * 1024)

/* Code as it is in memory, from the lowest address of a program on */
struct lint_image {
	const struct program *program;
	uint64_t va;
	size_t size;
	uint8_t *bytes;
	/* for each two bytes, whether they are known */
	uint8_t *known;
};

/* What is found: the first of it is kept */
struct lint_findings {
	unsigned int count;
	size_t offset;
	enum agx_lint_kind kind;
	char text[AGX_ISA_MAX_TEXT];
};

/* Finds the addresses of a program's code. Return: false if there is none, or too much. */
static bool lint_find_range(struct lint_image *image)
{
	const struct program *p = image->program;
	uint64_t end = 0;
	unsigned int i;

	image->va = UINT64_MAX;
	for (i = 0; i < p->num_code; i++) {
		const struct code *code = &p->code[i];

		if (code->va < image->va)
			image->va = code->va;
		if (code->va + code->length > end)
			end = code->va + code->length;
	}
	if (end <= image->va || end - image->va > LINT_BYTES)
		return false;
	image->size = end - image->va;
	return true;
}

static void lint_lay_out(struct lint_image *image)
{
	const struct program *p = image->program;
	unsigned int i;

	for (i = 0; i < p->num_code; i++) {
		const struct code *code = &p->code[i];
		size_t offset = code->va - image->va;

		memcpy(image->bytes + offset, code->bytes, code->length);
		memset(image->known + offset / 2, 1, (code->length + 1) / 2);
	}
}

static void lint_keep(void *ctx, const struct agx_lint_finding *finding)
{
	struct lint_findings *found = ctx;

	switch (finding->kind) {
	case AGX_LINT_READS_PENDING:
	case AGX_LINT_WRITES_PENDING:
	case AGX_LINT_READS_DISCARDED:
		break;
	default:
		return;
	}
	if (found->count++)
		return;
	found->offset = finding->offset;
	found->kind = finding->kind;
	agx_isa_print(finding->instr, found->text, sizeof(found->text));
}

static void lint_look(struct vagx_core *core, const struct lint_image *image)
{
	const struct program *p = image->program;
	struct lint_findings found = { 0 };
	const struct agx_lint lint = {
		.registers = p->register_halves,
		.entry = p->va - image->va,
		.known = image->known,
		.report = lint_keep,
		.ctx = &found,
	};

	if (agx_lint_code(&lint, image->bytes, image->size) <= 0 || !found.count)
		return;
	vagx_log(core->config.report, VAGX_LOG_WARNING,
		 "lint: shader at 0x%llx: 0x%llx: %s: %s (first of %u)", (unsigned long long)p->va,
		 (unsigned long long)image->va + found.offset, found.text,
		 agx_lint_text(found.kind), found.count);
}

void vagx_lint_program(struct vagx_core *core, const struct program *program)
{
	struct lint_image image = { .program = program };

	if (program->incomplete || program->count > LINT_INSTRUCTIONS || program->va % 2 ||
	    !vagx_log_enabled(core->config.report, VAGX_LOG_WARNING) || !lint_find_range(&image))
		return;
	image.bytes = calloc(1, image.size);
	image.known = calloc(1, image.size / 2 + 1);
	if (image.bytes && image.known && image.va % 2 == 0) {
		lint_lay_out(&image);
		lint_look(core, &image);
	}
	free(image.bytes);
	free(image.known);
}
