// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The compiler: one pass over a program's instructions. It shares one arena among the programs of
 * a GPU. A program is compiled by the thread that finds that it has been used often enough.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "build.h"
#include "native.h"
#include "report.h"

/*
 * Time slices that a program is interpreted for, as compiling an instruction takes about as long
 * as interpreting it so many times
 */
#define USES_BEFORE	16
/* Instructions of the longest program that is compiled */
#define MAX_PROGRAM	32768

struct vagx_jit {
	enum vagx_jit_mode mode;
	const struct vectors *vectors;
	struct vagx_report *report;
	struct vagx_arena *arena;
	/* for perf; NULL unless it is asked for */
	FILE *map;
	/* the counters, and lines of the map */
	pthread_mutex_t lock;
	struct vagx_jit_stats stats;
};

/* Whether code can be executed on this system */
static int jit_try_arena(struct vagx_arena *arena)
{
	static const uint32_t nothing;
	struct vagx_code code;
	int err = vagx_arena_add(arena, &nothing, sizeof(nothing), &code);

	if (!err)
		vagx_arena_remove(arena, &code);
	return err;
}

/* The file by which perf knows the names of code that no file has: perf-PID.map, of the user */
static FILE *jit_open_map(void)
{
	char name[64];

	if (!getenv("VAGX_PERF_MAP"))
		return NULL;
	snprintf(name, sizeof(name), "/tmp/perf-%d.map", (int)getpid());
	return fopen(name, "wx");
}

struct vagx_jit *vagx_jit_new(const struct vagx_jit_config *config, struct vagx_report *report)
{
	const struct vectors *vectors;
	struct vagx_jit *jit;
	const char *why;
	int err;

	if (config->mode == VAGX_JIT_OFF)
		return NULL;
	vectors = vagx_host_vectors(config, &why);
	if (!vectors) {
		vagx_log(report, VAGX_LOG_INFO, "shaders are interpreted: %s", why);
		return NULL;
	}
	jit = calloc(1, sizeof(*jit));
	if (!jit)
		return NULL;
	jit->mode = config->mode;
	jit->vectors = vectors;
	jit->report = report;
	jit->arena = vagx_arena_new(config->code_size);
	err = jit->arena ? jit_try_arena(jit->arena) : -ENOMEM;
	if (err) {
		vagx_log(report, VAGX_LOG_WARNING,
			 "shaders are interpreted: no memory for code: %s", strerror(-err));
		vagx_arena_free(jit->arena);
		free(jit);
		return NULL;
	}
	jit->map = jit_open_map();
	pthread_mutex_init(&jit->lock, NULL);
	return jit;
}

void vagx_jit_free(struct vagx_jit *jit)
{
	if (!jit)
		return;
	if (jit->map)
		fclose(jit->map);
	vagx_arena_free(jit->arena);
	pthread_mutex_destroy(&jit->lock);
	free(jit);
}

void vagx_jit_get_stats(struct vagx_jit *jit, struct vagx_jit_stats *stats)
{
	if (!jit) {
		*stats = (struct vagx_jit_stats){ 0 };
		return;
	}
	pthread_mutex_lock(&jit->lock);
	*stats = jit->stats;
	pthread_mutex_unlock(&jit->lock);
}

bool vagx_jit_checks(const struct vagx_jit *jit)
{
	return jit && jit->mode == VAGX_JIT_CHECK;
}

/*
 * Marks the instructions at which a block begins: targets, what comes after a jump or C, and where
 * code of the other version can go on
 */
static void jit_find_blocks(struct build *b, uint8_t *begins)
{
	const struct program *p = b->program;
	uint32_t i;

	begins[0] = 1;
	for (i = 0; i < p->count; i++) {
		const struct op *op = &p->op[i];
		bool jumps = vagx_build_is_jump(op), changes = vagx_build_changes_exec(op);

		b->changes_exec |= changes;
		if (jumps || op->run == vagx_exec_call)
			begins[op->target] = 1;
		if (jumps || vagx_build_leaves(op) || (changes && !b->vectors->keeps_cache))
			begins[i + 1] = 1;
	}
}

/* Makes an instruction's code the place where it is entered. Between segments. */
static void jit_begin_block(struct build *b, uint32_t pc)
{
	vagx_build_forget(b);
	vagx_build_native_mode(b);
	b->entry[b->version][pc] = (uint32_t)b->code.length;
}

/* Leaves an instruction to C, which compares: where jumps may go to, code returns at once */
static void jit_skip_call(struct build *b, uint32_t pc)
{
	vagx_build_end_segment(b, pc);
	vagx_build_leave(b, pc);
	b->segment = pc + 1;
	jit_begin_block(b, pc + 1);
}

/*
 * Code for an instruction that changes nothing but registers. Where segments are loops, one that
 * looks at the votes of all lanes has its own: no lane is done when others do it again. And a
 * segment ends behind a special function, whose result takes long: the processor does other turns
 * of the loop meanwhile, if there are not too many instructions between them.
 */
static bool jit_add_lowered(struct build *b, const struct op *op, uint32_t pc)
{
	bool is_alone = vagx_build_votes(op) && !b->vectors->permute;
	bool is_last = is_alone || (!b->vectors->keeps_cache && vagx_build_is_special(op));

	if (is_alone || !vagx_build_has_room(b, op))
		vagx_build_end_segment(b, pc);
	if (is_alone)
		vagx_host_set_field(b, offsetof(struct simdgroup, votes), 0);
	vagx_build_begin(b);
	vagx_build_settle_sources(b, op);
	if (!vagx_build_lower(b, op))
		return false;
	if (is_last)
		vagx_build_end_segment(b, pc + 1);
	return true;
}

static void jit_add_instruction(struct build *b, uint32_t pc)
{
	const struct op *op = &b->program->op[pc];

	b->clock++;
	if (vagx_build_jump(b, op, pc) ||
	    (!vagx_build_leaves(op) &&
	     (vagx_build_flow(b, op, pc) || jit_add_lowered(b, op, pc)))) {
		b->native += b->version == VERSION_MASKED;
		return;
	}
	if (b->segmented)
		jit_skip_call(b, pc);
	else
		vagx_build_call(b, pc);
}

/* Code of one version */
static void jit_add_version(struct build *b, const uint8_t *begins)
{
	const struct program *p = b->program;
	uint32_t pc;

	vagx_build_forget(b);
	b->segment = 0;
	b->in_c_mode = false;
	for (pc = 0; pc < p->count && vagx_buf_reserve(&b->code, MAX_INSTRUCTION); pc++) {
		if (begins[pc]) {
			vagx_build_end_segment(b, pc);
			jit_begin_block(b, pc);
		}
		jit_add_instruction(b, pc);
	}
	if (vagx_buf_reserve(&b->code, MAX_INSTRUCTION))
		vagx_build_end_segment(b, p->count);
}

static void jit_add_replay(struct build *b, const struct fixup *fixup)
{
	b->vectors->replay(b);
	vagx_build_replay(b, fixup->pc, fixup->count);
}

/* Sets the targets of jumps, and adds the code for what is rare */
static void jit_fix_up(struct build *b)
{
	unsigned int i;

	for (i = 0; i < b->fixup_count; i++) {
		const struct fixup *f = &b->fixups[i];

		if (f->kind == FIXUP_JUMP) {
			vagx_host_set_target(b, f->at, b->entry[f->version][f->pc]);
			continue;
		}
		if (!vagx_buf_reserve(&b->code, MAX_INSTRUCTION))
			return;
		vagx_host_set_target(b, f->at, b->code.length);
		if (f->kind == FIXUP_NANS)
			b->vectors->nans(b, f);
		else if (f->kind == FIXUP_PLANES)
			b->vectors->gather(b, f);
		else
			jit_add_replay(b, f);
	}
}

/*
 * Whether there is code for full simdgroups, too. Where registers stay in vectors from segment to
 * segment they could not where code goes from one version to the other.
 */
static bool jit_has_versions(const struct build *b)
{
	return !b->changes_exec || !b->vectors->keeps_cache;
}

static bool jit_allocate_entries(struct build *b, enum version version)
{
	b->entry[version] = calloc(b->program->count + 1, sizeof(*b->entry[version]));
	return b->entry[version];
}

static bool jit_build(struct build *b)
{
	uint8_t *begins = calloc(b->program->count + 1, sizeof(*begins));

	if (!begins || !jit_allocate_entries(b, VERSION_MASKED) ||
	    !vagx_buf_reserve(&b->code, MAX_INSTRUCTION)) {
		free(begins);
		return false;
	}
	jit_find_blocks(b, begins);
	if (jit_has_versions(b) && !jit_allocate_entries(b, VERSION_FULL)) {
		free(begins);
		return false;
	}
	vagx_build_routines(b);
	for (b->version = 0; b->version < VERSIONS && b->entry[b->version]; b->version++)
		jit_add_version(b, begins);
	free(begins);
	if (!b->code.failed)
		jit_fix_up(b);
	return !b->code.failed;
}

/* Puts finished code into the arena. Return: NULL if there is no memory. */
static struct vagx_native *jit_finish(struct vagx_jit *jit, struct build *b)
{
	struct vagx_native *native = calloc(1, sizeof(*native));

	if (!native)
		return NULL;
	if (vagx_arena_add(jit->arena, b->code.bytes, b->code.length, &native->code)) {
		free(native);
		return NULL;
	}
	native->arena = jit->arena;
	native->segmented = b->segmented;
	native->of_stage = b->of_stage;
	native->stage = b->stage;
	native->memory = b->vectors->memory;
	memcpy(native->entry, b->entry, sizeof(native->entry));
	native->pool = b->pool;
	memset(b->entry, 0, sizeof(b->entry));
	b->pool = NULL;
	return native;
}

/* Processor time of this thread, in nanoseconds */
static uint64_t jit_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Counts a program whose compilation began at @start */
static void jit_account(struct vagx_jit *jit, const struct build *b,
			const struct vagx_native *native, uint64_t start)
{
	pthread_mutex_lock(&jit->lock);
	if (native) {
		jit->stats.programs++;
		jit->stats.nanoseconds += jit_time() - start;
		jit->stats.instructions += b->program->count;
		jit->stats.native += b->native;
		jit->stats.bytes += b->code.length;
	} else {
		jit->stats.refused++;
	}
	if (native && jit->map) {
		fprintf(jit->map, "%llx %zx agx 0x%llx\n",
			(unsigned long long)(uintptr_t)native->code.run, b->code.length,
			(unsigned long long)b->program->va);
		fflush(jit->map);
	}
	pthread_mutex_unlock(&jit->lock);
}

static struct vagx_native *jit_compile(struct vagx_jit *jit, const struct program *program,
				       enum stage stage)
{
	struct build b = {
		.program = program,
		.stage = stage,
		.vectors = jit->vectors,
		.segmented = jit->mode == VAGX_JIT_CHECK,
	};
	struct vagx_native *native = NULL;
	uint64_t start = jit_time();

	if (program->count <= MAX_PROGRAM && jit_build(&b))
		native = jit_finish(jit, &b);
	jit_account(jit, &b, native, start);
	free(b.code.bytes);
	free(b.entry[VERSION_FULL]);
	free(b.entry[VERSION_MASKED]);
	free(b.fixups);
	free(b.pool);
	return native;
}

static enum stage jit_stage(const struct vagx_core *core)
{
	if (!core->tile)
		return STAGE_GROUPS;
	return core->fragments ? STAGE_FRAGMENTS : STAGE_TILE;
}

const struct vagx_native *vagx_jit_enter(struct vagx_jit *jit, const struct simdgroup *sg)
{
	struct vagx_native_slot *slot = sg->program->slot;
	enum stage stage = jit_stage(sg->core);
	struct vagx_native *native;

	if (!jit)
		return NULL;
	native = atomic_load_explicit(&slot->native, memory_order_acquire);
	if (native) {
		vagx_code_see();
		return native->of_stage && native->stage != stage ? NULL : native;
	}
	/* one thread finds the number at which it has to be compiled */
	if (atomic_fetch_add_explicit(&slot->uses, 1, memory_order_relaxed) !=
	    (jit->mode == VAGX_JIT_ON ? USES_BEFORE : 0))
		return NULL;
	native = jit_compile(jit, sg->program, stage);
	atomic_store_explicit(&slot->native, native, memory_order_release);
	return native;
}

void vagx_jit_run(const struct vagx_native *native, struct simdgroup *sg,
		  struct vagx_slice *slice)
{
	const struct program *program = sg->program;

	if (native->segmented) {
		vagx_jit_check(native, sg, slice);
		return;
	}
	while (sg->state == SIMDGROUP_RUNS && slice->left > 0 && sg->program == program) {
		uint32_t offset = vagx_native_entries(native, sg)[sg->pc];
		unsigned int count = 1;

		if (offset != NO_ENTRY)
			count = vagx_native_call(native, sg, offset, slice);
		if (slice->lanes_done)
			vagx_native_replay(sg, slice, count);
		else
			interpret(sg, slice, count);
	}
}
