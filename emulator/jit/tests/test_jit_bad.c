// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Bad input to the compiler: accesses that fail have to be reported as the interpreter does, to
 * the thread and the instruction; any bytes may be called a program; programs are too long, too
 * many, or change; there is no memory for code. Each runs with the interpreter first, and then
 * in all modes of the compiler.
 *
 * VAGX_SEED gives other random programs.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>

#include <cmocka.h>

#include "agx_packets.h"
#include "chance.h"
#include "core_internal.h"
#include "gpu/format.h"
#include "jit_fixture.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
/* Of the programs below, accesses of lanes from this one on fail */
#define FIRST_FAULT	13
/* How far apart lanes' elements of @size bytes are, in elements, such that one is behind @end */
#define APART(end, size)							\
	(((unsigned int)(end) + (size) * FIRST_FAULT - 1) / ((size) * FIRST_FAULT))

static const char *const modes[] = {
	"off", "all", "check",
#ifdef __x86_64__
	"all,avx2", "check,avx2",
#endif
};

/* What a program has done */
struct outcome {
	int err;
	struct vagx_uat_fault fault;
	/* the thread, the instruction, registers */
	char text[8192];
	uint8_t data[DATA_SIZE];
	uint64_t thread_instructions;
};

/* What programs run as */
enum stage {
	STAGE_GROUP,
	STAGE_VERTICES,
	STAGE_FRAGMENTS,
	STAGE_TILE,
};

static uint8_t tile_memory[VAGX_TILE_BYTES + VAGX_TILE_SLACK];

static int run_fragments(struct fixture *f, struct vagx_tile *tile)
{
	static const struct vagx_plane planes[8] = { [1] = { 0x3f800000, 0x40000000, 0x3f000000 } };
	struct vagx_fragments fragments = { .exists = 0xfffffff0, .num_planes = COUNT(planes) };
	unsigned int i;

	for (i = 0; i < LANES; i++) {
		fragments.x[i] = (uint16_t)(i % 8);
		fragments.y[i] = (uint16_t)(i / 8);
		fragments.live[i] = i % 5 ? 1 : 0;
		fragments.planes[i / 4] = planes;
	}
	return vagx_core_run_fragments(f->core, &f->launch, tile, &fragments, &f->fault);
}

static int run_stage(struct fixture *f, enum stage stage)
{
	static uint32_t out[16 * LANES];
	struct vagx_tile tile = {
		.width = 32, .height = 32, .samples = 1, .sample_positions = 0x88,
		.memory = tile_memory,
	};
	struct vagx_vertices vertices = { .count = 20, .words = 16, .out = out };

	switch (stage) {
	case STAGE_VERTICES:
		return vagx_core_run_vertices(f->core, &f->launch, &vertices, &f->fault);
	case STAGE_FRAGMENTS:
		return run_fragments(f, &tile);
	case STAGE_TILE:
		return vagx_core_run_tile(f->core, &f->launch, &tile, &f->fault);
	default:
		return fixture_run_again(f, LANES);
	}
}

/* Runs what is there */
static void run(struct fixture *f, enum stage stage, struct outcome *outcome)
{
	struct chance c = chance_begin(7);
	struct vagx_core_stats stats;
	unsigned int i;
	FILE *file;

	memset(outcome, 0, sizeof(*outcome));
	for (i = 0; i < DATA_SIZE / 4; i++)
		fixture_words()[i] = chance_bits(&c);
	memset(tile_memory, 0x5a, sizeof(tile_memory));
	f->fault = (struct vagx_uat_fault){ 0 };
	outcome->err = run_stage(f, stage);
	outcome->fault = f->fault;
	file = fmemopen(outcome->text, sizeof(outcome->text), "w");
	assert_non_null(file);
	vagx_core_describe_failure(f->core, &f->launch, file);
	fclose(file);
	memcpy(outcome->data, fixture_data, DATA_SIZE);
	vagx_core_get_stats(f->core, &stats);
	outcome->thread_instructions = stats.thread_instructions;
}

static void compare(const struct outcome *wanted, const struct outcome *got, const char *mode,
		    const char *name)
{
	unsigned int i;

	if (got->err != wanted->err || strcmp(got->text, wanted->text))
		fail_msg("%s: %s: error %d instead of %d, and\n%s\n instead of\n%s", mode, name,
			 got->err, wanted->err, got->text, wanted->text);
	if (memcmp(&got->fault, &wanted->fault, sizeof(got->fault)))
		fail_msg("%s: %s: fault at 0x%llx, not 0x%llx", mode, name,
			 (unsigned long long)got->fault.va, (unsigned long long)wanted->fault.va);
	for (i = 0; i < DATA_SIZE; i++) {
		if (got->data[i] != wanted->data[i])
			fail_msg("%s: %s: byte 0x%x of memory is 0x%02x, not 0x%02x", mode, name, i,
				 got->data[i], wanted->data[i]);
	}
	if (!wanted->err && got->thread_instructions != wanted->thread_instructions)
		fail_msg("%s: %s: %llu instructions of threads, not %llu", mode, name,
			 (unsigned long long)got->thread_instructions,
			 (unsigned long long)wanted->thread_instructions);
}

/* Accesses that fail */

/* Registers that accesses use: r2 to r5, and r20 for addresses; native code around them */
#define BEFORE									\
	"mov r1, thread_index_in_threadgroup\nldimm r0l, 0\nu32_to_f r9, r1, rte\n"	\
	"fmul r10, r9, r9\niadd r2, r1, 3\nxor r3, r2, 85\niadd r4, r2, r3\nmov r5, r3\n"
#define AFTER	"fadd r11, r10, r9\niadd r12, r2, r3\nstop\n"

static const char *const formats[] = {
	[AGX_FORMAT_I8] = "i8", [AGX_FORMAT_I16] = "i16", [AGX_FORMAT_I32] = "i32",
	[AGX_FORMAT_F16] = "f16", [AGX_FORMAT_U8NORM] = "u8norm", [AGX_FORMAT_S8NORM] = "s8norm",
	[AGX_FORMAT_U16NORM] = "u16norm", [AGX_FORMAT_S16NORM] = "s16norm",
	[AGX_FORMAT_RGB10A2] = "rgb10a2", [AGX_FORMAT_SRGBA8] = "srgba8",
	[AGX_FORMAT_RG11B10F] = "rg11b10f", [AGX_FORMAT_RGB9E5] = "rgb9e5",
};

/* Runs a group of what is there, which has to come to its end */
static void run_well(struct fixture *f, unsigned int threads)
{
	if (fixture_run_again(f, threads))
		fail_msg("%s", vagx_core_error(f->core));
}

/* An access to try: its text, and how the simdgroup is set up for it */
struct bad_access {
	enum stage stage;
	bool in_branch;
	/* the error that it has to end with */
	int err;
	uint32_t shared_size;
	char text[512];
};

static void set_up(struct fixture *f, const struct bad_access *a)
{
	struct agx_texture t = agx_texture_default();
	struct agx_pbe pbe = agx_pbe_default();

	fixture_hole = DATA_VA + VAGX_UAT_PAGE_SIZE;
	f->launch.shared_size = a->shared_size;
	f->launch.sample_stride = 8;
	t.layout = AGX_IMAGE_LAYOUT_LINEAR;
	t.channels = AGX_CHANNELS_R32;
	t.type = AGX_TEXTURE_TYPE_FLOAT;
	t.width = t.height = 64;
	t.address = fixture_hole;
	assert_int_equal(agx_packet_pack(AGX_PACKET_texture, f->launch.textures[1], &t, NULL), 0);
	pbe.layout = AGX_IMAGE_LAYOUT_LINEAR;
	pbe.channels = AGX_CHANNELS_R32;
	pbe.type = AGX_TEXTURE_TYPE_FLOAT;
	pbe.width = pbe.height = 64;
	pbe.address = fixture_hole;
	assert_int_equal(agx_packet_pack(AGX_PACKET_pbe, f->launch.textures[2], &pbe, NULL), 0);
}

static void try_access(const struct bad_access *a)
{
	static struct outcome wanted, got;
	char text[1024];
	unsigned int i;

	snprintf(text, sizeof(text), BEFORE "%s%s%s" AFTER,
		 a->in_branch ? "if r1, 5, 1, ugt\nfadd r10, r10, r10\n" : "", a->text,
		 a->in_branch ? "pop_exec 1\n" : "");
	for (i = 0; i < COUNT(modes); i++) {
		struct fixture *f = jit_begin(modes[i]);

		set_up(f, a);
		fixture_code(f, text);
		run(f, a->stage, i ? &got : &wanted);
		if (!i && wanted.err != a->err)
			fail_msg("%s: error %d, not %d: %s", text, wanted.err, a->err,
				 vagx_core_error(f->core));
		if (i)
			compare(&wanted, &got, modes[i], text);
		jit_end(f);
	}
	fixture_hole = 0;
}

/* Tries an access for all threads, and in a branch */
static void try_both(struct bad_access *a)
{
	a->in_branch = false;
	try_access(a);
	a->in_branch = true;
	try_access(a);
}

/* The components of an access: halves, or words if @words */
static const char *components(unsigned int count, bool words)
{
	static const char *const halves[] = { "r2l", "r2l_r2h", "r2l_r2h_r3l", "r2l_r2h_r3l_r3h" };
	static const char *const whole[] = { "r2", "r2_r3", "r2_r3_r4", "r2_r3_r4_r5" };

	return words ? whole[count - 1] : halves[count - 1];
}

static void faults_of_device_memory(void **state)
{
	static const char *const masks[] = { "x", "xy", "xyz", "xyzw" };
	struct bad_access a = { .stage = STAGE_GROUP, .err = -EFAULT };
	unsigned int i, format, count, size;

	for (i = 0; i < COUNT(formats) * 4 * 2 * 2; i++) {
		bool stores = i & 1, words = i & 2;

		format = i / 16;
		count = vagx_format_is_packed(format) ? 4 : i / 4 % 4 + 1;
		if (!formats[format])
			continue;
		size = 1u << vagx_format_log2_size(format);
		/* that lane is the first one behind the page */
		snprintf(a.text, sizeof(a.text),
			 "ldimm r20, %u\nimul r20, r1, r20\n%s %s, du0, r20, %s, %s, a\n",
			 APART(VAGX_UAT_PAGE_SIZE, size),
			 stores ? "store" : "load", components(count, words),
			 formats[format], masks[count - 1]);
		try_both(&a);
	}
}

static void faults_of_shared_memory(void **state)
{
	struct bad_access a = { .stage = STAGE_GROUP, .err = -ERANGE };
	unsigned int i, format, size;

	for (i = 0; i < COUNT(formats) * 4; i++) {
		format = i / 4;
		if (!formats[format])
			continue;
		size = 1u << vagx_format_log2_size(format);
		a.shared_size = size * 4 * FIRST_FAULT;
		snprintf(a.text, sizeof(a.text), "imul r20, r1, %u\n%s %s, r20l, 0, %s, xyzw\n",
			 size * 4, i & 1 ? "lstore" : "lload", components(4, i & 2),
			 formats[format]);
		try_both(&a);
	}
}

static void faults_of_private_memory(void **state)
{
	struct bad_access a = { .stage = STAGE_GROUP, .err = -ERANGE };
	unsigned int i, format;

	for (i = 0; i < COUNT(formats) * 4; i++) {
		format = i / 4;
		if (!formats[format])
			continue;
		/* r20 bytes behind the stack pointer, up to 64 KiB */
		snprintf(a.text, sizeof(a.text),
			 "stack_adjust 4\nldimm r20, %u\nimul r20, r1, r20\n"
			 "%s %s, r20, %s, xyzw, a\nstack_adjust -4\n",
			 APART(65536, 1), i & 1 ? "stack_store" : "stack_load",
			 components(4, i & 2), formats[format]);
		try_both(&a);
	}
	snprintf(a.text, sizeof(a.text), "stack_adjust -4\n");
	try_both(&a);
}

static void faults_of_atomics(void **state)
{
	static const char *const kinds[] = {
		"add", "sub", "xchg", "cmpxchg", "umin", "imin", "umax", "imax", "and", "or", "xor",
	};
	struct bad_access a = { .stage = STAGE_GROUP };
	unsigned int i;

	for (i = 0; i < COUNT(kinds) * 4; i++) {
		const char *kind = kinds[i / 4], *dst = i & 1 ? "r6" : "_";
		const char *source = strcmp(kind, "cmpxchg") ? "r4" : "r4_r5";

		if (i & 2) {
			a.err = -ERANGE;
			a.shared_size = 4 * FIRST_FAULT;
			snprintf(a.text, sizeof(a.text), "shl r20, r1, 2\nlatomic %s, %s, r20l, 0, %s\n",
				 dst, source, kind);
		} else {
			a.err = -EFAULT;
			a.shared_size = 0;
			snprintf(a.text, sizeof(a.text),
				 "ldimm r20, %u\nimul r20, r1, r20\natomic %s, %s, du0, r20, %s, a\n",
				 APART(VAGX_UAT_PAGE_SIZE, 4), dst, source, kind);
		}
		try_both(&a);
	}
}

/* Textures, images, tiles and varyings: the first one for each is what ends in the error */
static void faults_of_stages(void **state)
{
	static const struct {
		enum stage stage;
		int err;
		const char *text;
	} accesses[] = {
		{ STAGE_GROUP, -EFAULT, "ldimm r3, 0\n"
		  "smpi r2_r3_r4_r5, ts1, ss0, r2, 0, 2d, xyzw, auto_lod, a\n" },
		{ STAGE_GROUP, -EFAULT, "ldimm r2, 0\nldimm r3, 0\n"
		  "smpf r2_r3_r4_r5, ts1, ss0, r2, 0, 2d, xyzw, auto_lod, a\n" },
		{ STAGE_GROUP, -EFAULT, "ldimm r3, 0\nimgw r2_r3_r4_r5, ts2, r2, 0, 2d\n" },
		{ STAGE_FRAGMENTS, -EFAULT, "ldimm r3, 0\n"
		  "smpi r2_r3_r4_r5, ts1, ss0, r2, 0, 2d, xyzw, auto_lod, a\n" },
		{ STAGE_FRAGMENTS, -EFAULT, "ldimm r3, 0\nimgw r2_r3_r4_r5, ts2, r2, 0, 2d\n" },
		{ STAGE_FRAGMENTS, -ERANGE, "st_tile r2_r3_r4_r5, 0, 255, 4, i32, xyzw\n" },
		{ STAGE_FRAGMENTS, -ERANGE, "ld_tile r2_r3_r4_r5, 0, 255, 4, i32, xyzw\n" },
		{ STAGE_FRAGMENTS, -ERANGE, "iter r2_r3_r4_r5, cf6\n" },
		{ STAGE_GROUP, -EILSEQ, "iter r2_r3_r4_r5, cf0\n" },
		{ STAGE_VERTICES, -ERANGE, "st_var r2, 16\n" },
		{ STAGE_VERTICES, -ERANGE, "st_var r2, r1l\n" },
		{ STAGE_GROUP, -EILSEQ, "st_var r2, 0\n" },
		{ STAGE_GROUP, -EILSEQ, "trap\n" },
	};
	struct bad_access a = { 0 };
	unsigned int i;

	for (i = 0; i < COUNT(accesses); i++) {
		a.stage = accesses[i].stage;
		a.err = accesses[i].err;
		snprintf(a.text, sizeof(a.text), "%s", accesses[i].text);
		try_both(&a);
	}
}

/* Any program */

/* The flag that ends programs when a timer has run out */
static atomic_bool *stop_flag;

static void on_alarm(int signal)
{
	(void)signal;
	atomic_store(stop_flag, true);
}

/* Has programs of a fixture end after so many milliseconds; 0: never */
static void stop_after(struct fixture *f, unsigned int ms)
{
	const struct itimerval timer = { .it_value.tv_usec = 1000 * ms };

	stop_flag = &f->stop;
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &timer, NULL);
}

/* Registers of all kinds of values, from memory that is filled with random words */
#define LOAD_REGISTERS								\
	"mov r31, thread_index_in_threadgroup\nshl r31, r31, 5\n"			\
	"load r0_r1_r2_r3, du0, r31, i32, xyzw, a\niadd r31, r31, 4\n"		\
	"load r4_r5_r6_r7, du0, r31, i32, xyzw, a\niadd r31, r31, 4\n"		\
	"load r8_r9_r10_r11, du0, r31, i32, xyzw, a\niadd r31, r31, 4\n"		\
	"load r12_r13_r14_r15, du0, r31, i32, xyzw, a\niadd r31, r31, 4\n"		\
	"load r16_r17_r18_r19, du0, r31, i32, xyzw, a\nwait a\nldimm r0l, 0\n"

/* One random program, without and with native code. Return: whether it came to an end. */
static bool try_random(unsigned int seed, enum stage stage)
{
	static struct outcome wanted, got;
	char name[32];
	unsigned int i;

	snprintf(name, sizeof(name), "program %u", seed);
	for (i = 0; i < COUNT(modes); i++) {
		struct fixture *f = jit_begin(modes[i]);

		f->launch.soft_faults = seed % 4 < 2;
		f->launch.shared_size = 256;
		f->launch.sample_stride = 8;
		fixture_of_stage = stage != STAGE_GROUP;
		fixture_prologue = LOAD_REGISTERS;
		fixture_random_code(f, seed);
		fixture_prologue = NULL;
		stop_after(f, 500);
		run(f, stage, i ? &got : &wanted);
		stop_after(f, 0);
		jit_end(f);
		/* when an endless one was stopped is a matter of chance */
		if (wanted.err == -ECANCELED || (i && got.err == -ECANCELED))
			return false;
		if (i)
			compare(&wanted, &got, modes[i], name);
	}
	return true;
}

static void any_program(void **state)
{
	struct chance c = chance_begin(3);
	unsigned int i, ended = 0, seed = chance_bits(&c) % 1000000;

	for (i = 0; i < 100; i++)
		ended += try_random(seed + i, STAGE_GROUP);
	for (; i < 150; i++)
		ended += try_random(seed + i, i % 2 ? STAGE_FRAGMENTS : STAGE_VERTICES);
	fixture_of_stage = false;
	assert_true(ended > 130);
}

/* Programs without an end */

static void endless_programs(void **state)
{
	static const char *const programs[] = {
		"again: fadd r2, r2, 1.0\njmp_any again\n",
		"ldimm r0l, 0\nif 0, 0, 2, ieq\nagain: iadd r2, r2, 1\nwhile 0, 0, 2, ieq\n"
		"jmp_any again\npop_exec 2\nstop\n",
		/* none is active */
		"ldimm r0l, 0\nif 0, 1, 1, ieq\nagain: iadd r2, r2, 1\njmp_none again\nstop\n",
		/* the link register leads back to the jump behind the call */
		"again: call next\njmp_any again\nnext: fmul r2, r2, r2\nret r1\n",
		"call next\nnext: fmul r2, r2, r2\nret r1\n",
		"ldimm r3, 0\nagain: load r2, du0, r3, i32, x, a\nwait a\njmp_any again\n",
		"again: barrier\nfadd r2, r2, 1.0\njmp_any again\n",
	};
	unsigned int i, mode;

	for (i = 0; i < COUNT(programs) * COUNT(modes); i++) {
		struct fixture *f;

		mode = i / COUNT(programs);
		f = jit_begin(modes[mode]);
		stop_after(f, 20);
		/* four simdgroups, none of which may keep the others from their time */
		assert_int_equal(fixture_run(f, programs[i % COUNT(programs)], 128), -ECANCELED);
		stop_after(f, 0);
		jit_end(f);
	}
}

/* Programs that are long */

static double processor_time(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

/* Puts so many instructions to memory, of some kinds in turn, the last one a stop */
static void put_many(struct fixture *f, const char *const *texts, unsigned int kinds,
		     unsigned int count)
{
	static uint8_t bytes[CODE_SIZE];
	struct agx_program program[8] = { 0 };
	size_t size = 0;
	unsigned int i;

	for (i = 0; i < kinds; i++)
		assert_int_equal(agx_isa_assemble(texts[i], "many", &program[i], stderr), 0);
	for (i = 0; i + 1 < count; i++) {
		const struct agx_program *p = &program[i % kinds];

		assert_true(size + p->size + 2 <= sizeof(bytes));
		memcpy(bytes + size, p->code, p->size);
		size += p->size;
	}
	memcpy(bytes + size, "\x88\x00", 2);
	fixture_bytes(f, bytes, size + 2);
	for (i = 0; i < kinds; i++)
		free(program[i].code);
}

/*
 * The longest program that is compiled takes bounded time and memory, also of instructions that
 * have long code; the longest one that can be decoded is interpreted. Both run.
 */
static void long_programs(void **state)
{
	static const char *const costly[] = {
		"ldimm r0l, 0\n", "if r2, r3, 1, flt\n", "pop_exec 1\n",
		"csel r2, r3, r4, r5, r6, flt\n", "load r7, du0, 0, i32, x, a\n",
		"ffma r8l, r9.abs, r10l.neg, r11h, sat\n", "hfma r2h, r3l, r4h, r5l, sat\n",
	};
	static const char *const shortest[] = { "wait a\n" };
	unsigned int i;

	for (i = 1; i < COUNT(modes); i++) {
		struct fixture *f = jit_begin(modes[i]);
		double start = processor_time();

		if (!f->config.jit)
			skip();
		put_many(f, costly, COUNT(costly), 32768);
		run_well(f, 32);
		assert_int_equal(jit_stats(f).programs, 1);
		/* seconds, where it needs a tenth of one; sanitizers make it slower */
		assert_true(processor_time() - start < 20);
		assert_true(jit_stats(f).bytes < 32768 * 600);
		put_many(f, shortest, 1, MAX_OPS - 16);
		run_well(f, 32);
		assert_int_equal(jit_stats(f).programs, 1);
		assert_int_equal(jit_stats(f).refused, 1);
		jit_end(f);
	}
}

/* Programs that change, and many of them */

/* A shader whose bytes change between launches, at one place after the other */
static void programs_change(void **state)
{
	static const char text[] =
		"mov r1, thread_index_in_threadgroup\nldimm r2, 0x1000\niadd r2, r2, r1\n"
		"store r2, du0, r1, i32, x, a\nstop\n";
	unsigned int i, round;

	for (i = 0; i < COUNT(modes); i++) {
		struct fixture *f = jit_begin(modes[i]);
		struct agx_program program;

		assert_int_equal(agx_isa_assemble(text, "text", &program, stderr), 0);
		for (round = 0; round < 50; round++) {
			struct agx_instr instr;
			uint8_t *at = (uint8_t *)program.code + 4, bytes[AGX_ISA_MAX_LENGTH];
			int length = agx_isa_decode(at, 8, &instr);

			assert_int_equal(instr.mod[AGX_MOD_IMM], round ? 0x1000 + round - 1 : 0x1000);
			instr.mod[AGX_MOD_IMM] = 0x1000 + round;
			assert_int_equal(agx_isa_encode(&instr, bytes), length);
			memcpy(at, bytes, (size_t)length);
			fixture_bytes(f, program.code, program.size);
			run_well(f, 64);
			assert_int_equal(fixture_words()[63], 0x1000 + round + 63);
		}
		if (f->config.jit)
			assert_int_equal(jit_stats(f).programs, 50);
		free(program.code);
		jit_end(f);
	}
}

/* A core in each of a hundred contexts, with a program of its own at the same address */
static void many_contexts(void **state)
{
	enum { CONTEXTS = 100 };
	unsigned int i, n, round;
	char text[128];

	for (i = 0; i < COUNT(modes); i++) {
		struct vagx_core *core[CONTEXTS], *own;
		struct fixture *f = jit_begin(modes[i]);

		own = f->core;
		for (n = 0; n < CONTEXTS; n++)
			core[n] = vagx_core_new(&f->config);
		for (round = 0; round < 3; round++) {
			for (n = 0; n < CONTEXTS; n++) {
				snprintf(text, sizeof(text),
					 "mov r1, thread_index_in_threadgroup\nimul r2, r1, %u\n"
					 "store r2, du0, r1, i32, x, a\nstop\n", n);
				f->core = core[n];
				f->launch.vm_slot = n;
				assert_int_equal(fixture_run(f, text, 32), 0);
				assert_int_equal(fixture_words()[31], 31 * n);
			}
		}
		if (f->config.jit)
			assert_int_equal(jit_stats(f).programs, CONTEXTS);
		for (n = 0; n < CONTEXTS; n++)
			vagx_core_free(core[n]);
		f->core = own;
		jit_end(f);
	}
}

/* When there is no more memory for code, programs are interpreted */
static void no_memory_for_code(void **state)
{
	static const char *const add[] = { "ffma r3, r2, r2, 1.0\n", "fadd r2, r3, 1.0\n" };
	static const enum vagx_jit_mode kinds[] = { VAGX_JIT_ALL, VAGX_JIT_CHECK };
	unsigned int i, n;

	for (i = 0; i < 4; i++) {
		struct vagx_jit_config config = {
			.mode = kinds[i % 2], .avx2 = i / 2, .code_size = 1 << 20,
		};
		struct fixture *f = jit_begin_config(&config);
		struct vagx_jit_stats stats;

		if (!f->config.jit)
			skip();
		for (n = 0; n < 40; n++) {
			put_many(f, add, COUNT(add), 3000 + n);
			run_well(f, 32);
		}
		stats = jit_stats(f);
		assert_true(stats.programs > 2 && stats.programs < 40);
		assert_true(stats.bytes <= 1 << 20);
		assert_int_equal(stats.refused, 40 - stats.programs);
		/* one that was compiled goes on to be */
		put_many(f, add, COUNT(add), 3000);
		run_well(f, 32);
		assert_int_equal(jit_stats(f).refused, stats.refused);
		jit_end(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(faults_of_device_memory),
		cmocka_unit_test(faults_of_shared_memory),
		cmocka_unit_test(faults_of_private_memory),
		cmocka_unit_test(faults_of_atomics),
		cmocka_unit_test(faults_of_stages),
		cmocka_unit_test(any_program),
		cmocka_unit_test(endless_programs),
		cmocka_unit_test(long_programs),
		cmocka_unit_test(programs_change),
		cmocka_unit_test(many_contexts),
		cmocka_unit_test(no_memory_for_code),
	};

	return cmocka_run_group_tests_name("jit-bad", tests, NULL, NULL);
}
