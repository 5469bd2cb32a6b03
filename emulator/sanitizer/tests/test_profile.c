// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The profile: counts of programs whose flow is known, stalls of the model, the table, the trace,
 * and what is left out beyond its bounds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "agx_isa.h"
#include "core_fixture.h"
#include "gpu/stage.h"
#include "sanitizer/profile.h"
#include "sanitizer/sanitizer.h"

/* A profile of one core or of two, and what it has logged */
struct profiled {
	struct fixture *f;
	struct vagx_core *before;
	struct vagx_core *other;
	struct vagx_sanitizer *sanitizer;
	char *text;
	size_t size;
};

/* A line of the table */
struct line {
	double percent;
	unsigned long long runs;
	double lanes;
	double stall;
};

static void profile_begin(struct profiled *p, void **state, const char *trace)
{
	const struct vagx_sanitizer_config config = { .profile = true, .profile_trace = trace };
	struct vagx_core_config core;

	*p = (struct profiled){ .f = *state };
	fixture_log = open_memstream(&p->text, &p->size);
	assert_non_null(fixture_log);
	p->sanitizer = vagx_sanitizer_new(&config, NULL);
	assert_non_null(p->sanitizer);
	core = p->f->config;
	core.sanitizer = p->sanitizer;
	p->before = p->f->core;
	p->f->core = vagx_core_new(&core);
	p->other = vagx_core_new(&core);
	assert_non_null(p->f->core);
	assert_non_null(p->other);
}

/* Frees the cores and the sanitizer: the table is in the text */
static void profile_end(struct profiled *p)
{
	vagx_core_free(p->f->core);
	vagx_core_free(p->other);
	p->f->core = p->before;
	vagx_sanitizer_free(p->sanitizer);
	fclose(fixture_log);
	fixture_log = NULL;
}

/* Runs groups of 32 threads, of a program that is there */
static void run_groups(struct profiled *p, struct vagx_core *core, unsigned int threads,
		       unsigned int groups)
{
	static const uint32_t first[3];
	struct fixture *f = p->f;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		f->launch.grid[i] = i ? 1 : threads * groups;
		f->launch.local[i] = i ? 1 : threads;
	}
	assert_int_equal(vagx_core_run_groups(core, &f->launch, first, groups, &f->fault), 0);
}

/* The line of an instruction in the listing of the hottest shader, which is the last part */
static struct line find(const struct profiled *p, const char *instruction)
{
	const char *listing = strstr(p->text, "hottest instructions"), *at;
	struct line line = { .percent = -1 };
	char stall[16] = "";

	listing = listing ? strstr(listing, "\n   slots  simdgroups") : NULL;
	listing = listing ? strstr(listing + 1, "\n   slots  simdgroups") : NULL;
	at = listing ? strstr(listing, instruction) : NULL;
	if (!at)
		fail_msg("no \"%s\" in the listing:\n%s", instruction, p->text);
	while (*at != '\n')
		at--;
	if (sscanf(at, " %lf%% %llu %lf %15s", &line.percent, &line.runs, &line.lanes, stall) != 4)
		fail_msg("not a line of the listing: %s", at);
	line.stall = strcmp(stall, "-") ? atof(stall) : 0;
	return line;
}

static void expect(const struct profiled *p, const char *instruction, unsigned long long runs,
		   double lanes, double stall)
{
	struct line line = find(p, instruction);

	if (line.runs != runs || line.lanes != lanes || line.stall != stall)
		fail_msg("%s: %llu times, %.1f lanes, %.1f slots of stall; expected %llu, %.1f, %.1f:\n%s",
			 instruction, line.runs, line.lanes, line.stall, runs, lanes, stall, p->text);
}

static void expect_text(const struct profiled *p, const char *words)
{
	if (!strstr(p->text, words))
		fail_msg("no \"%s\" in\n%s", words, p->text);
}

#define LANE	"mov r2, thread_in_grid_x\n"

/* Ten rounds of a loop, in three groups of two simdgroups; the profile adds two cores */
static void counts(void **state)
{
	struct profiled p;

	profile_begin(&p, state, NULL);
	fixture_code(p.f, "ldimm r0l, 0\nldimm r3, 10\nagain:\niadd r4, r3, 7\nisub r3, r3, 1\n"
		     "while r3, 0, 1, ine\njmp_any again\npop_exec 1\nldimm r5, 9\nstop\n");
	run_groups(&p, p.f->core, 64, 2);
	run_groups(&p, p.other, 64, 1);
	profile_end(&p);
	expect(&p, "ldimm    r3, 10", 6, 32, 0);
	expect(&p, "iadd     r4, r3, 7", 60, 32, 0);
	expect(&p, "jmp_any", 60, 28.8, 0);
	expect(&p, "ldimm    r5, 9", 6, 32, 0);
	/* 2 before it, 4 in each of ten rounds, 3 behind it */
	expect_text(&p, "\n 270 instructions of 6 simdgroups, ");
	expect_text(&p, "\n shaders, 1:");
	free(p.text);
}

/* What has not run is counted as such, and offsets are those of the program */
static void places(void **state)
{
	struct profiled p;

	profile_begin(&p, state, NULL);
	fixture_code(p.f, "ldimm r0l, 0\njmp_any behind\nldimm r3, 1\nldimm r3, 2\nbehind:\n"
		     "ldimm r3, 3\nstop\n");
	run_groups(&p, p.f->core, 32, 1);
	profile_end(&p);
	expect_text(&p, "+0x4    jmp_any");
	expect_text(&p, "+0x16   ldimm    r3, 3");
	expect_text(&p, "...    instructions that have not run: 2\n");
	free(p.text);
}

static void divergence(void **state)
{
	struct profiled p;

	profile_begin(&p, state, NULL);
	fixture_code(p.f, "ldimm r0l, 0\n" LANE "if r2, 8, 1, ult\nldimm r3, 1\n"
		     "else 0.0, 0.0, 1, feq\nldimm r3, 2\npop_exec 1\nldimm r3, 3\nstop\n");
	run_groups(&p, p.f->core, 32, 1);
	profile_end(&p);
	expect(&p, "ldimm    r3, 1", 1, 8, 0);
	expect(&p, "ldimm    r3, 2", 1, 24, 0);
	expect(&p, "ldimm    r3, 3", 1, 32, 0);
	free(p.text);
}

/* Threads that do not exist are no divergence */
static void small_group(void **state)
{
	struct profiled p;

	profile_begin(&p, state, NULL);
	fixture_code(p.f, LANE "stop\n");
	run_groups(&p, p.f->core, 8, 1);
	profile_end(&p);
	expect(&p, "mov ", 1, 8, 0);
	expect_text(&p, "    8.0      0.0%  compute shader ");
	free(p.text);
}

/* Runs a load, so many instructions, and a wait. Return: slots of stall. */
static double stall_behind(void **state, const char *issue, unsigned int between, const char *wait)
{
	char text[8192] = LANE;
	struct profiled p;
	double stall;

	strcat(text, issue);
	while (between--)
		strcat(text, "iadd r5, r2, 1\n");
	strcat(text, wait);
	strcat(text, "stop\n");
	profile_begin(&p, state, NULL);
	fixture_code(p.f, text);
	run_groups(&p, p.f->core, 32, 1);
	profile_end(&p);
	stall = find(&p, "wait ").stall;
	free(p.text);
	return stall;
}

#define LOAD	"load r3, du0, r2, i32, x, a\n"

static void stalls(void **state)
{
	const unsigned int load = profile_models[PROFILE_LOAD].latency;

	assert_int_equal(stall_behind(state, LOAD, 0, "wait a\n"), load);
	assert_int_equal(stall_behind(state, LOAD, 30, "wait a\n"), load - 30);
	assert_int_equal(stall_behind(state, LOAD, load - 1, "wait a\n"), 1);
	assert_int_equal(stall_behind(state, LOAD, load, "wait a\n"), 0);
	assert_int_equal(stall_behind(state, LOAD, load + 7, "wait a\n"), 0);
	/* an instruction of four slots is as good as four of one */
	assert_int_equal(stall_behind(state, LOAD "imul r5, r2, r2\n", 6, "wait a\n"), load - 10);
	/* of a load in the other group, and without a load */
	assert_int_equal(stall_behind(state, LOAD, 0, "wait b\n"), 0);
	assert_int_equal(stall_behind(state, "", 0, "wait a\n"), 0);
	/* the last of two, whichever comes later */
	assert_int_equal(stall_behind(state, LOAD "load r4, du0, r2, i32, x, a\n", 0, "wait a\n"),
			 load);
	assert_int_equal(stall_behind(state, "ldimm r4, 1\natomic r6, r4, du0, r2, add, a\n" LOAD,
				      0, "wait a\n"), profile_models[PROFILE_ATOMIC].latency - 1);
	/* what nobody loads */
	assert_int_equal(stall_behind(state, "ldimm r0l, 0\nif r2, 64, 1, ugt\n" LOAD
				      "pop_exec 1\n", 0, "wait a\n"), 0);
}

/* A simdgroup's stalls are its own, and the second wait has nothing to wait for */
static void clocks(void **state)
{
	const unsigned int load = profile_models[PROFILE_LOAD].latency;
	struct profiled p;
	char words[64];

	profile_begin(&p, state, NULL);
	fixture_code(p.f, LANE LOAD "wait a\niadd r4, r2, 1\nwait a\nstop\n");
	run_groups(&p, p.f->core, 64, 3);
	profile_end(&p);
	expect(&p, "wait ", 6, 32, load);
	snprintf(words, sizeof(words), "; %u issue slots, ", 6 * (6 + load));
	expect_text(&p, words);
	expect_text(&p, "stalls by what they wait for: device load 100.0%");
	free(p.text);
}

/* Pixels wait for earlier ones from the simdgroup's beginning on */
static void pixels(void **state)
{
	struct vagx_fragments fragments = { .exists = 0xffffffff };
	struct vagx_tile tile = { .width = 32, .height = 32, .samples = 1 };
	struct profiled p;
	unsigned int i;

	profile_begin(&p, state, NULL);
	fixture_code(p.f, "ldimm r3, 1\npixwait 3, 0\npixwait 3, 0\nstop\n");
	p.f->launch.grid[0] = 32;
	memset(fragments.live, 1, sizeof(fragments.live));
	for (i = 0; i < 2; i++)
		assert_int_equal(vagx_core_run_fragments(p.f->core, &p.f->launch, &tile, &fragments,
							 &p.f->fault), 0);
	profile_end(&p);
	expect(&p, "pixwait", 2, 32, profile_models[PROFILE_PIXEL].latency - 1);
	expect_text(&p, "fragment shader ");
	free(p.text);
}

static char *read_file(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text;
	long size;

	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	rewind(file);
	text = calloc(1, size + 1);
	assert_int_equal(fread(text, 1, size, file), size);
	fclose(file);
	return text;
}

static unsigned int count_of(const char *text, const char *words)
{
	const size_t length = strlen(words);
	unsigned int count = 0;

	/* strstr() of AddressSanitizer reads all of the text each time */
	for (text = strchr(text, *words); text; text = strchr(text + 1, *words))
		count += !strncmp(text, words, length);
	return count;
}

/* Two profiles in a file are one array; launches that go on are one slice */
static void trace(void **state)
{
	char path[] = "/tmp/test-profile-XXXXXX";
	struct profiled p;
	unsigned int i;
	char *text;

	close(mkstemp(path));
	for (i = 0; i < 2; i++) {
		profile_begin(&p, state, path);
		fixture_code(p.f, LANE "iadd r3, r2, 1\nstop\n");
		run_groups(&p, p.f->core, 32, 2);
		run_groups(&p, p.f->core, 32, 3);
		p.f->launch.serial++;
		run_groups(&p, p.f->core, 32, 1);
		profile_end(&p);
		free(p.text);
	}
	text = read_file(path);
	assert_int_equal(count_of(text, "\n]\n"), 1);
	assert_int_equal(count_of(text, "[\n"), 1);
	assert_int_equal(count_of(text, "process_name"), 2);
	assert_int_equal(count_of(text, "\"name\":\"launch "), 4);
	assert_int_equal(count_of(text, "\"name\":\"compute shader "), 4);
	assert_int_equal(count_of(text, "\"ts\":0,\"dur\":15,"), 4);
	assert_int_equal(count_of(text, "\"ts\":15,\"dur\":3,"), 4);
	assert_int_equal(count_of(text, "{\"simdgroups\":5,\"instructions\":15,"
				  "\"thread instructions\":480,\"stall slots\":0}"), 4);
	free(text);
	unlink(path);
}

/* A file that is no trace stays as it was */
static void no_trace(void **state)
{
	char path[] = "/tmp/test-profile-XXXXXX";
	int fd = mkstemp(path);
	struct profiled p;
	char *text;

	assert_int_equal(write(fd, "a letter\n", 9), 9);
	close(fd);
	profile_begin(&p, state, path);
	fixture_code(p.f, "stop\n");
	run_groups(&p, p.f->core, 32, 1);
	profile_end(&p);
	expect_text(&p, path);
	text = read_file(path);
	assert_string_equal(text, "a letter\n");
	free(text);
	free(p.text);
	unlink(path);
}

/* A program of so many instructions, and others with another number */
static void put_long_code(struct fixture *f, unsigned int count, unsigned int number)
{
	struct agx_program first, one, last;
	char text[64];
	uint8_t *bytes;
	size_t size;
	unsigned int i;

	snprintf(text, sizeof(text), "ldimm r3, %u\n", 0x10000 + number);
	assert_int_equal(agx_isa_assemble(text, "first", &first, stderr), 0);
	assert_int_equal(agx_isa_assemble("ldimm r3l, 1\n", "one", &one, stderr), 0);
	assert_int_equal(agx_isa_assemble("stop\n", "last", &last, stderr), 0);
	size = first.size + count * one.size + last.size;
	bytes = malloc(size);
	memcpy(bytes, first.code, first.size);
	for (i = 0; i < count; i++)
		memcpy(bytes + first.size + i * one.size, one.code, one.size);
	memcpy(bytes + size - last.size, last.code, last.size);
	fixture_bytes(f, bytes, size);
	free(bytes);
	free(first.code);
	free(one.code);
	free(last.code);
}

#define LONG		150000
#define PROGRAMS	8

static void many_instructions(void **state)
{
	struct profiled p;
	unsigned int i;
	char words[64];

	profile_begin(&p, state, NULL);
	for (i = 0; i < PROGRAMS; i++) {
		put_long_code(p.f, LONG, i);
		run_groups(&p, p.f->core, 32, 1);
	}
	profile_end(&p);
	/* all are counted, not all are listed */
	snprintf(words, sizeof(words), "\n %d instructions of ", PROGRAMS * (LONG + 2));
	expect_text(&p, words);
	snprintf(words, sizeof(words), "\n shaders, %u:", PROFILE_OPS / LONG);
	expect_text(&p, words);
	expect_text(&p, "\n   25.0% are of shaders beyond the ");
	expect_text(&p, "\n   ...    more instructions: ");
	free(p.text);
}

static void many_launches(void **state)
{
	char path[] = "/tmp/test-profile-XXXXXX";
	struct profiled p;
	unsigned int i;
	char *text;

	close(mkstemp(path));
	profile_begin(&p, state, path);
	fixture_code(p.f, "stop\n");
	for (i = 0; i < PROFILE_SLICES + 5; i++) {
		p.f->launch.serial++;
		run_groups(&p, p.f->core, 32, 1);
	}
	profile_end(&p);
	text = read_file(path);
	assert_int_equal(count_of(text, "\"name\":\"launch "), PROFILE_SLICES);
	assert_int_equal(count_of(text, "\"name\":\"5 more slices are left out\""), 1);
	free(text);
	free(p.text);
	unlink(path);
}

/* A core without a profile has none of it */
static void off(void **state)
{
	const struct vagx_sanitizer_config none = { .profile_trace = "/nowhere" };

	(void)state;
	assert_false(vagx_sanitizer_wanted(&none));
	assert_true(vagx_sanitizer_wanted(&(struct vagx_sanitizer_config){ .profile = true }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(counts, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(places, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(divergence, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(small_group, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(stalls, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(clocks, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(pixels, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(trace, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(no_trace, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(many_instructions, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(many_launches, fixture_setup, fixture_teardown),
		cmocka_unit_test(off),
	};

	return cmocka_run_group_tests_name("profile", tests, NULL, NULL);
}
